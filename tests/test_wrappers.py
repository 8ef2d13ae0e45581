"""Every wrapper keeps to the interface of what it wraps: PettingZoo, Gymnasium, Gymnasium's vector environments."""

from __future__ import annotations

import doctest
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from games import times
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils import turn_based_aec_to_parallel, wrappers
from wrapped import bytes_of, copies, decisions, every_game, first_feature, gym, gym_vec, is_over, row_of, short

import mitch_env.wrappers
from mitch_env import GAMES, IllegalActionError, OptionsError, make
from mitch_env.wrappers import (
    DenseReward,
    FixedFrame,
    PermutedSeats,
    RandomSuits,
    ShapedReward,
    SparseReward,
    aec,
    single,
    vector,
)

# --- Every wrapper keeps to the interface that it wraps.

AEC_WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "drawn seats": PermutedSeats,
    "given seats": lambda env: PermutedSeats(env, [*range(1, len(env.possible_agents)), 0]),
    "seats twice": lambda env: PermutedSeats(PermutedSeats(env)),
    "frame": lambda env: FixedFrame(env, 1),
    "sparse": SparseReward,
    "shaped": lambda env: ShapedReward(env, {"first": first_feature}, 0.9),
    "dense": DenseReward,
    "all": lambda env: SparseReward(PermutedSeats(DenseReward(FixedFrame(PermutedSeats(wrappers.OrderEnforcingWrapper(env)))))),
}


@pytest.mark.parametrize("wrapper", AEC_WRAPPERS)
@every_game
def test_pettingzoos_own_tests_find_nothing(name: str, wrapper: str, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Observation space for each agent probably should be")
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")
        warnings.filterwarnings("ignore", "Action mask numpy array is all zeros")
        api_test(AEC_WRAPPERS[wrapper](make(name, **short(name))), num_cycles=times(80))
    assert "Passed API test" in capsys.readouterr().out
    seed_test(lambda: AEC_WRAPPERS[wrapper](make(name)), num_cycles=6)


@copies
@pytest.mark.parametrize("wrapper", AEC_WRAPPERS)
@pytest.mark.parametrize("name", ["mitch_jp", "mitchell"])
def test_a_copy_of_a_table_goes_on_alike_and_on_its_own(name: str, wrapper: str, copy_of: Any) -> None:
    env = AEC_WRAPPERS[wrapper](make(name, **short(name)))
    for number, _ in enumerate(decisions(env, 3)):
        if number == 9:
            break
    twins = [copy_of(env), env.clone(), env]
    told = []
    for twin in twins:
        rng = np.random.default_rng(1)
        seen = []
        while not is_over(twin):
            observation, reward, *_ = twin.last()
            seen.append((twin.agent_selection, bytes_of(observation["observation"]), reward, dict(twin.rewards)))
            twin.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        seen.append((twin.unwrapped.record(), dict(twin._cumulative_rewards), twin.agents))
        twin.reset()
        told.append((*seen, twin.agent_selection, twin.unwrapped.table.tobytes()))
    assert type(twins[1]) is type(env) and twins[1].unwrapped is not env.unwrapped
    assert told[0] == told[1] == told[2]


@pytest.mark.parametrize("wrapper", AEC_WRAPPERS)
def test_what_a_wrapper_has_not_is_that_of_the_table(wrapper: str) -> None:
    env = AEC_WRAPPERS[wrapper](make("mitch_jp"))
    with pytest.raises(AttributeError, match="reset"):
        _ = env.rewards
    env.reset(seed=1)
    assert env.legal_moves() == env.unwrapped.legal_moves() and env.options.players == 3
    assert env.table.tobytes() == env.unwrapped.table.tobytes()
    assert env.record()["game"] == "mitch_jp"
    with pytest.raises(IllegalActionError, match="legal here: "):
        env.step(105)
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = env.no_such_thing
    assert turn_based_aec_to_parallel(env).reset(seed=1)


GYM_WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "suits": RandomSuits,
    "frame": FixedFrame,
    "sparse": SparseReward,
    "shaped": lambda env: ShapedReward(env, {"first": first_feature}, 0.9),
    "dense": DenseReward,
    "all": lambda env: SparseReward(FixedFrame(DenseReward(env, weight=0.5))),
}


@pytest.mark.parametrize("wrapper", GYM_WRAPPERS)
@every_game
def test_gymnasiums_checker_finds_nothing(name: str, wrapper: str) -> None:
    pytest.importorskip("PIL")
    env = GYM_WRAPPERS[wrapper](gym(name, render_mode="ansi"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*is different from the unwrapped version")
        check_env(env)
    assert env.has_wrapper_attr("action_masks")
    _, info = env.reset(seed=1)
    assert np.array_equal(env.get_wrapper_attr("action_masks")(), info["action_mask"])
    again = gymnasium.make(env.spec)
    assert str(again) == str(env) and again.metadata == env.metadata
    assert bytes_of(again.reset(seed=1)[0]) == bytes_of(env.reset(seed=1)[0])


@pytest.mark.parametrize("wrapper", ["suits", "all"])
def test_maskable_ppo_finds_the_masks(wrapper: str) -> None:
    utils = pytest.importorskip("sb3_contrib.common.maskable.utils")
    from stable_baselines3.common.vec_env import DummyVecEnv

    one = GYM_WRAPPERS[wrapper](gym("mitch_jp"))
    one.reset(seed=5)
    assert utils.is_masking_supported(one)
    assert np.array_equal(utils.get_action_masks(one), one.get_wrapper_attr("action_masks")())
    many = DummyVecEnv([lambda: GYM_WRAPPERS[wrapper](gym("mitch_jp"))])
    many.seed(5)
    many.reset()
    assert utils.is_masking_supported(many)
    assert np.array_equal(utils.get_action_masks(many)[0], one.get_wrapper_attr("action_masks")())


@copies
@pytest.mark.parametrize("wrapper", GYM_WRAPPERS)
@pytest.mark.parametrize("name", ["mitch_jp", "mitchell"])
@pytest.mark.parametrize("is_vector", [False, True])
def test_a_copy_for_gymnasium_goes_on_alike_and_on_its_own(name: str, wrapper: str, copy_of: Any, is_vector: bool) -> None:
    env = GYM_WRAPPERS[wrapper](gym_vec(name, 3, **short(name)) if is_vector else gym(name, **short(name)))
    env.reset(seed=2)
    env.action_space.seed(3)
    for _ in range(4):
        env.step(env.action_space.sample())
    told = []
    for twin in (copy_of(env), env):
        seen: list[Any] = []
        for _ in range(60):
            observation, reward, terminated, truncated, info = twin.step(twin.action_space.sample())
            seen.append((bytes_of(observation), np.asarray(reward).tolist(), info["action_mask"].tobytes()))
            if not is_vector and (terminated or truncated):
                seen.append(bytes_of(twin.reset()[0]))
        told.append(seen)
    assert told[0] == told[1]


@pytest.mark.parametrize("wrapper", GYM_WRAPPERS)
@every_game
def test_each_row_of_a_vector_environment_is_a_single_one(name: str, wrapper: str) -> None:
    """From one match to the next; under the same names of suits, since these are drawn from other generators."""
    options = [GAMES[name].options(short(name), players=players) for players in (2, 4, 3)]
    many = GYM_WRAPPERS[wrapper](gym_vec(name, 3, options=options))
    ones = [GYM_WRAPPERS[wrapper](gym(name, options=one, seats_encoded=4)) for one in options]

    shown, infos = many.reset(seed=[5, 6, 7])
    firsts = [one.reset(seed=5 + row) for row, one in enumerate(ones)]
    assert many.observation_space.contains(shown) and many.single_observation_space == ones[0].observation_space
    if wrapper != "suits":
        assert [bytes_of(first[0]) for first in firsts] == [bytes_of(row_of(shown, row)) for row in range(3)]
    for row in range(3 if wrapper == "suits" else 0):
        ones[row].which = int(many.which[row])
    n_ended = 0
    many.action_space.seed(1)
    for _ in range(times(150)):
        actions = many.action_space.sample()
        shown, reward, terminated, truncated, infos = many.step(actions)
        assert np.array_equal(many.action_masks(), infos["action_mask"])
        for row, one in enumerate(ones):
            seen, paid, ended, stopped, info = one.step(actions[row])
            assert (paid, ended, stopped) == (pytest.approx(reward[row]), terminated[row], truncated[row])
            if ended or stopped:
                n_ended += 1
                assert bytes_of(infos["final_obs"][row]) == bytes_of(seen)
                assert one.observation_space.contains(seen)
                seen, info = one.reset()
                if wrapper == "suits":
                    one.which = int(many.which[row])
                    continue
            assert bytes_of(row_of(shown, row)) == bytes_of(seen)
            assert np.array_equal(infos["action_mask"][row], info["action_mask"])
    assert n_ended > 1
    assert RecordEpisodeStatistics(many).reset(seed=1)


# --- The package.


def test_the_example_in_the_package_is_right() -> None:
    assert doctest.testmod(mitch_env.wrappers) == (0, 5)


def test_a_wrapper_for_another_kind_of_environment_says_so() -> None:
    with pytest.raises(OptionsError, match="PermutedSeats is for PettingZoo environments, got a Gymnasium one"):
        PermutedSeats(gym("mitch_jp"))
    with pytest.raises(OptionsError, match="RandomSuits is for Gymnasium and vector environments, got a PettingZoo one"):
        RandomSuits(make("mitch_jp"))
    with pytest.raises(OptionsError, match="DenseReward goes around an environment, got int"):
        DenseReward(3)
    for wrapper in (single.FixedFrame, single.DenseReward, single.SparseReward):
        with pytest.raises(TypeError, match="goes around a SingleAgentEnv of mitch_env"):
            wrapper(gymnasium.make("CartPole-v1"))
    with pytest.raises(TypeError, match="goes around a SingleAgentVectorEnv of mitch_env"):
        vector.DenseReward(gymnasium.make_vec("CartPole-v1", num_envs=2))
    for other in (aec.DenseReward, aec.PermutedSeats):
        with pytest.raises(TypeError, match=r"goes around an environment of mitch_env\.make"):
            other(gym("mitch_jp"))
    with pytest.raises(OptionsError, match="before wrappers that change observations"):
        FixedFrame(FixedFrame(make("mitch_jp")))


def test_importing_the_package_does_not_import_the_wrappers() -> None:
    code = "import mitch_env, sys; print(*[name for name in sys.modules if name.startswith('mitch_env')])"
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "mitch_env.aec" in imported
    assert not [name for name in imported if "wrappers" in name or name.endswith(("suits", "house_rules"))]
