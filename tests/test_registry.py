"""Names: of games, of modules, of what PettingZoo knows, and what is said of a name that nobody knows."""

from __future__ import annotations

import copy
import importlib
import pickle
import subprocess
import sys
from types import ModuleType
from typing import Any

import pettingzoo
import pytest

import mitch_env
from mitch_env import GAMES, Game, TableEnv, get_game, jit, make

every_game = pytest.mark.parametrize("name", GAMES)


def module_of(name: str) -> ModuleType:
    return importlib.import_module(f"mitch_env.{name}_v0")


def test_the_games_of_mitch_are_there() -> None:
    assert {"mitch_jp", "mitch_ru", "mitch_original"} <= set(GAMES)
    assert mitch_env.GAMES is GAMES


@every_game
def test_a_game_has_one_name_everywhere(name: str) -> None:
    game = get_game(name)
    assert (game.name, game.env_name) == (name, f"{name}_v0")
    assert get_game(game) is game
    assert make(name).game is make(game).game is game
    module = module_of(name)
    assert set(module.__all__) >= {"env", "raw_env"}
    for function in (module.env, module.raw_env):
        env = function(players=4, reward="outcome", seats_encoded=5, render_mode="ansi")
        assert type(env) is TableEnv
        assert env.game is game
        assert (env.options.players, env.reward, env.render_mode, int(env.table.seats_encoded)) == (4, "outcome", "ansi", 5)
    assert f"mitch_env/{name}-v0" in pettingzoo.aec_registry


@every_game
def test_a_game_survives_copies_as_itself(name: str) -> None:
    game = get_game(name)
    assert copy.deepcopy(game) is copy.copy(game) is pickle.loads(pickle.dumps(game)) is game


def test_options_come_as_mapping_object_or_keywords() -> None:
    game = get_game("mitch_jp")
    options = game.options(players=4, take_discard=True)
    for made in (
        make("mitch_jp", {"players": 4, "take_discard": True}),
        make("mitch_jp", options),
        make("mitch_jp", players=4, take_discard=True),
        make("mitch_jp", {"players": 2}, players=4, take_discard=True),
        make("mitch_jp", options={"players": 4, "take_discard": True}),
    ):
        assert made.options == options
    assert make("mitch_jp").options == game.defaults


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("mitch_jo", r"unknown game 'mitch_jo'; did you mean 'mitch_jp'\? Known are: mitch_jp, "),
        ("mitch_jp_v0", r"unknown game 'mitch_jp_v0'; did you mean 'mitch_jp'\? Known are: "),
        ("", "unknown game ''"),
        (None, "unknown game None"),
        (7, "unknown game 7"),
    ],
)
def test_an_unknown_game_is_told_with_the_nearest_known_one(name: Any, sentence: str) -> None:
    for look_up in (get_game, make, lambda name: mitch_env.Batch(name, 1)):
        with pytest.raises(ValueError, match=sentence):
            look_up(name)


def test_a_name_like_no_other_is_told_in_whole_sentences() -> None:
    with pytest.raises(ValueError, match=r"unknown game 'zzz'[.;:] "):
        get_game("zzz")


def test_importing_twice_registers_once() -> None:
    """A second copy of the ids would be an error or a warning of PettingZoo's."""
    code = "import importlib, mitch_env; importlib.reload(mitch_env); print(*mitch_env.GAMES)"
    done = subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == list(GAMES)


def test_an_import_compiles_nothing_says_nothing_and_brings_no_heavy_library() -> None:
    code = "import sys, mitch_env; print(*({'torch', 'PIL', 'agents', 'train', 'matplotlib'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


def test_a_first_step_brings_no_heavy_library_and_numba_has_linear_algebra_when_it_needs_it() -> None:
    pytest.importorskip("scipy")
    code = """if True:
        import sys, mitch_env, numpy, numba
        env = mitch_env.make("mitch_jp")
        env.reset(seed=1)
        env.step(int(env.last()[0]["action_mask"].argmax()))
        print(*({"torch", "PIL", "matplotlib", "pandas", "scipy.linalg"} & set(sys.modules)))
        print(numba.njit(lambda a: numpy.linalg.inv(numpy.dot(a, a)))(2.0 * numpy.eye(2))[1, 1], "scipy.linalg" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["", "0.25 True"]


def test_threads_that_load_numba_at_once_leave_it_as_it_was() -> None:
    code = """if True:
        import sys, threading, numba.np.linalg as linalg
        from mitch_env import jit
        before = linalg.ensure_blas
        print("numba.np.arraymath" in sys.modules)
        threads = [threading.Thread(target=jit._load_numba) for _ in range(6)]
        for one in threads: one.start()
        for one in threads: one.join()
        print(linalg.ensure_blas is before)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "False\nTrue\n"), done.stderr


def test_what_only_has_the_name_of_scipy_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    jit._find_scipy()
    monkeypatch.setitem(sys.modules, "scipy", ModuleType("scipy"))
    with pytest.raises(ImportError, match="not installed"):
        jit._find_scipy()


def test_the_public_names_are_there_and_documented() -> None:
    for name in mitch_env.__all__:
        public = getattr(mitch_env, name)
        assert isinstance(public, (dict, Game)) or public.__doc__
    assert mitch_env.__version__
