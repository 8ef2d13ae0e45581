"""The door to numba, and chance: caches that never go stale, what is said on stderr, and numbers without bias."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest
from games import engine_of
from scipy.stats import chi2

import mitch_env
from mitch_env import GAMES, Batch, jit, make
from mitch_env.bits import expand, lowest_bit, nonzero, popcount
from mitch_env.chance import below, checked_seed, draw_below, match_seeds, mix, next_seed, shuffle, stream
from mitch_env.jit import cache_folder, config, kernel, lines_to_fetch

# --- Compiled code in processes of their own, from a copy of the package.

PROBE = """
import json, os
import numba
def settings():
    return {name: str(value) for name, value in vars(numba.core.config).items() if name.isupper()} | dict(os.environ)
before = settings()
import numpy as np, mitch_env
from mitch_env.jit import kernel_view
from mitch_env.kernels import kernels_of
game = mitch_env.get_game("mitch_jp")
tables = game.new_tables([game.options()], seeds=np.zeros(1, np.uint64), stop_at_deal=True)
start = kernels_of(game.rules).start_one
start(kernel_view(tables))
print(json.dumps({"file": mitch_env.__file__, "dealer": int(tables[0].dealer), "compiled": len(start.stats.cache_misses),
                  "settings": settings() == before}))
"""


def copy_package(folder: Path) -> Path:
    package = Path(mitch_env.__file__).parent
    shutil.copytree(package, folder / "mitch_env", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def probe(folder: Path, cache: Path, script: str = PROBE, **environment: str) -> tuple[dict[str, Any], list[str]]:
    """Compiles one small kernel of a copied package: what it found, and the lines on stderr."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    variables |= {"PYTHONPATH": str(folder), "MITCH_ENV_CACHE": str(cache), **environment}
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, env=variables, cwd=folder.parent, timeout=300
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert Path(found["file"]).parent.parent == folder
    assert found["settings"], "numba's settings and the process's environment are the user's"
    return found, done.stderr.splitlines()


def edit_first_dealer(folder: Path) -> None:
    rules = folder / "mitch_env" / "mitch" / "rules.py"
    text = rules.read_text(encoding="utf-8")
    assert "s.dealer = s.players - 1" in text
    rules.write_text(text.replace("s.dealer = s.players - 1", "s.dealer = 0"), encoding="utf-8")


def compiled_files(folder: Path) -> list[Path]:
    return [*folder.rglob("*.nbi"), *folder.rglob("*.nbc")]


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, list[str]]:
    """A copy of the package, the cache it has filled, and what it said while it did."""
    home = tmp_path_factory.mktemp("jit")
    folder, cache = copy_package(home / "here"), home / "cache"
    found, said = probe(folder, cache)
    assert (found["dealer"], found["compiled"]) == (2, 1)
    return folder, cache, said


def test_the_first_compilation_says_so_once_and_later_starts_are_silent(compiled_once: tuple[Path, Path, list[str]]) -> None:
    folder, cache, said = compiled_once
    (line,) = said
    assert line.startswith("mitch_env: compiling the rules for this machine")
    assert str(cache) in line
    found, said = probe(folder, cache)
    assert (found["dealer"], found["compiled"], said) == (2, 0, [])
    assert compiled_files(cache)
    assert not compiled_files(folder)


def test_an_edited_rule_is_compiled_anew(compiled_once: tuple[Path, Path, list[str]], tmp_path: Path) -> None:
    """The rule lies in another file than the kernel, which is all that numba would look at."""
    folder, cache, _ = compiled_once
    rules = folder / "mitch_env" / "mitch" / "rules.py"
    kept, times = rules.read_text(encoding="utf-8"), rules.stat()
    edit_first_dealer(folder)
    os.utime(rules, (times.st_atime, times.st_mtime))
    try:
        found, said = probe(folder, cache)
        assert (found["dealer"], found["compiled"], len(said)) == (0, 1, 1)
    finally:
        rules.write_text(kept, encoding="utf-8")


def test_a_rule_edited_after_the_import_is_not_taken_for_what_was_compiled(tmp_path: Path) -> None:
    """As in a notebook: imported, edited, used; the next start must not find the old code under the new sources."""
    folder, cache = copy_package(tmp_path / "here"), tmp_path / "cache"
    rules = folder / "mitch_env" / "mitch" / "rules.py"
    kept = rules.read_text(encoding="utf-8")
    edit_first_dealer(folder)
    edited = rules.read_text(encoding="utf-8")
    rules.write_text(kept, encoding="utf-8")
    (tmp_path / "edited.py").write_text(edited, encoding="utf-8")
    editing = f"import shutil; shutil.copy({str(tmp_path / 'edited.py')!r}, {str(rules)!r})"
    found, _ = probe(folder, cache, PROBE.replace("game = ", f"{editing}\ngame = ", 1))
    assert found["dealer"] == 2  # it goes on with what it has imported
    assert probe(folder, cache)[0]["dealer"] == 0


def test_the_same_sources_in_another_place_do_not_compile_in_silence(compiled_once: tuple[Path, Path, list[str]]) -> None:
    folder, cache, _ = compiled_once
    found, said = probe(copy_package(folder.parent / "elsewhere"), cache)
    assert found["compiled"] == len(said)


def test_an_unwritable_cache_folder_costs_time_only(compiled_once: tuple[Path, Path, list[str]], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = copy_package(tmp_path / "here")
    found, said = probe(folder, tmp_path / "file" / "cache")
    assert (found["dealer"], found["compiled"], len(said)) == (2, 1, 1)


def test_an_unwritable_cache_folder_does_not_bring_stale_code(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = copy_package(tmp_path / "here")
    probe(folder, tmp_path / "file" / "cache")
    edit_first_dealer(folder)
    assert probe(folder, tmp_path / "file" / "cache")[0]["dealer"] == 0


def test_it_works_where_nothing_can_be_written(tmp_path: Path) -> None:
    """As in a container with a read-only file system."""
    (tmp_path / "file").write_text("")
    folder = copy_package(tmp_path / "here")
    (folder / "mitch_env" / "__pycache__").write_text("")
    nowhere = str(tmp_path / "file" / "home")
    assert probe(folder, tmp_path / "file" / "cache", HOME=nowhere, XDG_CACHE_HOME=nowhere)[0]["dealer"] == 2


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MITCH_ENV_CACHE", str(tmp_path))
    assert cache_folder().parent == tmp_path
    assert cache_folder().name.startswith("mitch_env-")
    assert cache_folder() == cache_folder("mitch_env")
    monkeypatch.setattr(config, "BOUNDSCHECK", 1 - int(config.BOUNDSCHECK or 0))
    with_checks = cache_folder()
    monkeypatch.undo()
    monkeypatch.setenv("MITCH_ENV_CACHE", str(tmp_path))
    assert cache_folder() != with_checks  # other code
    monkeypatch.delenv("MITCH_ENV_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder().parent == tmp_path / "mitch_env"


# --- The same play without numba, and with every index checked.


def digests(canonical: bool) -> dict[str, str]:
    """Short matches of every game by every door, as digests."""
    return {name: digest_of_batch(name, canonical) + ("" if canonical else digest_of_env(name)) for name in GAMES}


def digest_of_env(name: str) -> str:
    digest = hashlib.sha256()
    env = make(name, players=4, reward="relative", **engine_of(GAMES[name]).short)
    env.reset(seed=5)
    step = 0
    while not env.terminations[env.agent_selection]:
        step += 1
        mask = env.observe(env.agent_selection)["action_mask"]
        for agent in env.possible_agents:
            digest.update(env.observe(agent)["observation"].tobytes())
        digest.update(env.state().tobytes() + mask.tobytes())
        digest.update(env.redeal_hidden(step % 4, step).table.tobytes())
        env.step(int(np.flatnonzero(mask)[step % int(mask.sum())]))
    digest.update(json.dumps([env.record(legal=True), env.rewards]).encode())
    return digest.hexdigest()


def digest_of_batch(name: str, canonical: bool) -> str:
    digest = hashlib.sha256()
    options = [{"players": players, **engine_of(GAMES[name]).short} for players in (2, 5, 3)]
    batch = Batch(name, options=options, seed=3, canonical=canonical)
    for _ in range(40):
        batch.step(batch.random_actions())
        for buffer in (batch.observation, batch.mask, batch.reward, batch.terminated, batch.actor, batch.tables):
            digest.update(buffer.tobytes())
    batch.reset(seed=1)
    batch.restore(batch.redeal_hidden(1, 9))
    digest.update(batch.observation.tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize(
    ("setting", "canonical"),
    [
        ("NUMBA_DISABLE_JIT", False),
        ("NUMBA_DISABLE_JIT", True),
        ("NUMBA_BOUNDSCHECK", False),
        ("NUMBA_BOUNDSCHECK", True),
    ],
)
def test_play_is_the_same_in_plain_python_and_with_bounds_checks(setting: str, canonical: bool) -> None:
    """Compiled code reads past an array without an error, unless it is asked to look."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    folders = os.pathsep.join([str(Path(mitch_env.__file__).parent.parent), str(Path(__file__).parent)])
    command = f"import json, test_jit; print(json.dumps(test_jit.digests({canonical})))"
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", command],
        capture_output=True,
        text=True,
        env={**variables, "PYTHONPATH": folders, setting: "1"},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == digests(canonical)


# --- Numbers.

#: The first outputs of SplitMix64 for three seeds, from the published reference code (Vigna, splitmix64.c).
SPLITMIX = {
    0: [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC, 0x1B39896A51A8749B],
    1234567: [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821],
}
GOLDEN = 0x9E3779B97F4A7C15


@pytest.mark.parametrize("seed", SPLITMIX)
def test_mix_is_splitmix64_compiled_or_not_and_warns_of_nothing(seed: int) -> None:
    compiled = numba.njit(lambda z: mix(z))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number, expected in enumerate(SPLITMIX[seed]):
            counter = np.uint64((seed + number * GOLDEN) % (1 << 64))
            assert int(mix(counter)) == int(compiled(counter)) == expected
            assert isinstance(mix(counter), np.uint64)
        assert mix(np.uint64((1 << 64) - 1)) == compiled(np.uint64((1 << 64) - 1))


def test_bits_are_counted_alike_compiled_or_not() -> None:
    count, lowest = numba.njit(lambda x: popcount(x)), numba.njit(lambda x: lowest_bit(x))
    for word in (1, 2, 3, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF, 0x0010000100000000):
        assert popcount(np.uint64(word)) == count(np.uint64(word)) == bin(word).count("1")
        assert lowest_bit(np.uint64(word)) == lowest(np.uint64(word)) == len(bin(word)) - len(bin(word).rstrip("0"))
    assert popcount(np.uint64(0)) == count(np.uint64(0)) == 0


def is_uniform(counts: Counter[Any], n: int) -> bool:
    """Chi-square at one in a million; ``n`` values are possible."""
    expected = counts.total() / n
    statistic = sum((count - expected) ** 2 for count in counts.values()) / expected + (n - len(counts)) * expected
    return len(counts) <= n and statistic < chi2.ppf(1 - 1e-6, n - 1)


@pytest.mark.parametrize("n", [16, 17, 26, 32, 33, 64])
def test_bytes_that_are_not_0_are_found_alike_compiled_or_not(n: int) -> None:
    def found(rows: Any, n: int, out: Any) -> None:
        for i in range(rows.shape[0]):
            out[i] = nonzero(rows[i], n)

    signature = numba.types.void(numba.types.uint8[:, ::1], numba.types.int64, numba.types.uint64[::1])
    rng = np.random.default_rng(n)
    rows = np.concatenate([rng.choice([0, 0, 1, 200], (50, 64)), np.zeros((1, 64)), np.full((1, 64), 255)]).astype(np.uint8)
    plain, compiled = np.zeros(len(rows), np.uint64), np.zeros(len(rows), np.uint64)
    found(rows, n, plain)
    numba.njit(signature)(found)(rows, n, compiled)
    expected = [sum(1 << i for i in np.flatnonzero(row[:n]).tolist()) for row in rows]
    assert plain.tolist() == compiled.tolist() == expected


@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 26, 32, 52, 64])
@pytest.mark.parametrize("form", [np.float32, np.uint8, np.int8])
def test_sets_are_written_out_alike_compiled_or_not(n: int, form: Any) -> None:
    def written(words: Any, out: Any, n: int, ends: Any) -> None:
        for i in range(words.shape[0]):
            ends[i] = expand(words[i], out[i], 3, n)

    entries = numba.from_dtype(np.dtype(form))[:, ::1]
    signature = numba.types.void(numba.types.uint64[::1], entries, numba.types.int64, numba.types.int64[::1])
    words = np.random.default_rng(n).integers(0, 1 << 64, 40, np.uint64)
    words[:2] = 0, (1 << 64) - 1
    expected = np.full((40, 70), 9, form)
    for i, word in enumerate(words.tolist()):
        expected[i, 3 : 3 + n] = [word >> bit & 1 for bit in range(n)]
    for run in (written, numba.njit(signature)(written)):
        out, ends = np.full((40, 70), 9, form), np.zeros(40, np.int64)
        run(words, out, n, ends)
        assert np.array_equal(out, expected) and np.all(ends == 3 + n)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_a_kernel_that_allocates_does_not_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MITCH_ENV_CACHE", str(tmp_path))

    def allocates(out: Any) -> None:
        out[:] = np.ones(3)

    with pytest.raises(numba.core.errors.NumbaError):
        kernel(allocates, numba.types.void(numba.types.float64[::1]), "test of allocation")


@pytest.mark.parametrize("name", GAMES)
def test_what_is_fetched_ahead_of_a_table_is_all_but_its_orders_of_cards(name: str) -> None:
    dtype = GAMES[name].rules.table_dtype
    fetched = set(lines_to_fetch(numba.from_dtype(dtype)))
    assert fetched <= set(range(-(-dtype.itemsize // 64)))
    for field, (form, at, *_) in dtype.fields.items():
        lines = set(range(at // 64, (at + form.itemsize - 1) // 64 + 1))
        if field in ("stock", "known", "arranged") and name == "mitchell":
            assert not lines <= fetched, field
        elif form.itemsize <= 250:
            assert lines <= fetched, field


@pytest.mark.parametrize("n", [1, 2, 3, 7, 52, 56])
def test_draw_below_is_uniform(n: int) -> None:
    table = SimpleNamespace(rng=np.uint64(17))
    counts = Counter(draw_below(table, n) for _ in range(max(1000, 60 * n)))
    assert set(counts) == set(range(n))
    assert n == 1 or is_uniform(counts, n)


def test_draw_below_has_no_bias_where_a_plain_product_has() -> None:
    """Of 3 x 2**30 values those that 3 divides would come half of the time instead of a third."""
    table = SimpleNamespace(rng=np.uint64(3))
    counts = Counter(draw_below(table, 3 << 30) % 3 for _ in range(3000))
    assert is_uniform(counts, 3)


def test_below_is_uniform_and_in_range() -> None:
    assert [below(np.uint64(bits), 5) for bits in (0, (1 << 64) - 1)] == [0, 4]
    assert is_uniform(Counter(below(mix(np.uint64(i)), 7) for i in range(7000)), 7)


def test_every_order_of_a_shuffle_is_as_likely() -> None:
    table = SimpleNamespace(rng=np.uint64(8))
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(4000):
        cards = [0, 1, 2, 3, 99]
        shuffle(table, cards, 4)
        assert cards[4] == 99
        counts[tuple(cards)] += 1
    assert is_uniform(counts, math.factorial(4))


@pytest.mark.parametrize("good", [0, 7, (1 << 64) - 1, np.int64(7), np.uint64((1 << 64) - 1), np.int8(3)])
def test_seeds_are_integers_of_64_bits(good: Any) -> None:
    assert checked_seed(good) == int(good)
    assert type(checked_seed(good)) is int


@pytest.mark.parametrize(
    "wrong", [-1, 1 << 64, 1.0, "7", None, True, np.bool_(True), np.int8(-1), [7], np.float64(3)], ids=repr
)
def test_other_seeds_are_refused_by_name(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"key must be an integer from 0 to 2\*\*64 - 1, got "):
        checked_seed(wrong, "key")


def test_match_seeds_are_spread_distinct_and_exact_in_json() -> None:
    seeds = match_seeds(7, 10_000)
    assert seeds.dtype == np.uint64
    assert len(set(seeds.tolist())) == 10_000
    assert int(seeds.max()) < 1 << 53
    assert np.array_equal(match_seeds(7, 10_000), seeds)
    assert np.array_equal(match_seeds(7, 10), seeds[:10])
    assert not np.array_equal(match_seeds(8, 10), seeds[:10])
    assert match_seeds([3, (1 << 64) - 1], 2).tolist() == [3, (1 << 64) - 1]
    assert not np.array_equal(match_seeds(None, 4), match_seeds(None, 4))


def test_streams_and_later_matches_start_elsewhere() -> None:
    seed = np.uint64(5)
    starts = [int(stream(seed, np.uint64(purpose))) for purpose in range(100)]
    assert len(set(starts)) == 100
    chain = [5]
    for _ in range(1000):
        chain.append(int(next_seed(np.uint64(chain[-1]))))
    assert len(set(chain)) == 1001
    assert max(chain) < 1 << 53


# --- Interrupts.


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="there are no signals of one's own here")
def test_an_interrupt_while_something_compiles_comes_out_when_it_has_ended() -> None:
    class Interrupt(BaseException):
        pass

    def interrupt(*_: Any) -> None:
        raise Interrupt

    done = []

    def compiles() -> None:
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGUSR1)
            time.sleep(0.02)
        done.append(threading.current_thread() is not threading.main_thread())

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(Interrupt):
            jit._apart(compiles)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert done == [True]


def test_what_does_not_compile_says_so() -> None:
    def fails() -> None:
        raise ValueError("no such type")

    with pytest.raises(ValueError, match="no such type"):
        jit._apart(fails)
    assert jit._apart(lambda: 5) == 5  # type: ignore[type-var]
