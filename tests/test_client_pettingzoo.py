"""PettingZoo 1.27 and SuperSuit 3.11 around the games: what of them works, and what refuses.

What PettingZoo's own tests ask of the environment itself stands in ``test_aec.py``.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pettingzoo
import pytest
from games import EVERY_TABLE, engine_of
from pettingzoo.env_registry.exceptions import NamespaceNotFound, VersionNotFound
from pettingzoo.test import parallel_api_test
from pettingzoo.utils import aec_to_parallel, random_demo, turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import (
    CaptureStdoutWrapper,
    MultiEpisodeEnv,
    MultiEpisodeParallelEnv,
    RecordVideo,
    RecordVideoParallel,
)

from mitch_env import GAMES, IllegalActionError, TableEnv, make

every_game = pytest.mark.parametrize("name", GAMES)
every_table = pytest.mark.parametrize(("name", "players"), EVERY_TABLE)


def short(name: str, players: int = 3, **settings: Any) -> TableEnv:
    """A game whose match is one deal."""
    return make(name, players=players, **(engine_of(GAMES[name]).short | settings))


def legal(rng: np.random.Generator, mask: np.ndarray) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


def play(env: Any, seed: int = 1, reset: bool = True) -> Counter[str]:
    """A random match of whatever the environment is wrapped in; the mask comes from below. What each agent was paid."""
    if reset:
        env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    paid: Counter[str] = Counter()
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        assert env.observation_space(agent).contains(observation)
        paid[agent] += reward
        over = terminated or truncated
        env.step(None if over else legal(rng, env.unwrapped.observe(agent)["action_mask"]))
    return paid


def totals(env: TableEnv) -> dict[str, float]:
    """What the match's record says that each agent has."""
    return {f"player_{seat}": total for seat, total in enumerate(env.record()["totals"])}


# --- The registry.


@every_game
def test_registry_knows_each_game_with_and_without_its_version(name: str) -> None:
    spec = pettingzoo.spec("aec", f"mitch_env/{name}-v0")
    assert (spec.namespace, spec.name, spec.version) == ("mitch_env", name, 0)
    for known in (spec, spec.id, f"mitch_env/{name}", f"mitch_env/{name}_v0"):
        env = pettingzoo.make("aec", known, players=2, reward="relative")
        assert type(env) is TableEnv
        assert (env.game.name, env.options.players, env.reward) == (name, 2, "relative")
    with pytest.raises(VersionNotFound, match="Available version: v0"):
        pettingzoo.make("aec", f"mitch_env/{name}-v9")
    with pytest.raises(NamespaceNotFound):  # in the parallel form: turn_based_aec_to_parallel(pettingzoo.make("aec", ...))
        pettingzoo.make("parallel", spec.id)


def test_the_registry_of_a_fresh_process_lists_the_games() -> None:
    code = "import mitch_env, pettingzoo; pettingzoo.pprint_registry()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    aec, _, parallel = done.stdout.partition("Parallel environments:")
    assert [line.strip() for line in aec.splitlines() if "mitch" in line] == sorted(f"mitch_env/{name}-v0" for name in GAMES)
    assert "mitch" not in parallel


# --- The parallel form.


@every_table
def test_parallel_form_is_the_same_match(name: str, players: int) -> None:
    """Each step is the decision of the one agent whose mask is not zero; others may send anything."""
    aec, parallel = short(name, players), turn_based_aec_to_parallel(short(name, players))
    aec.reset(seed=5)
    observations, _ = parallel.reset(seed=5)
    rng, paid = np.random.default_rng(5), Counter[str]()
    while parallel.agents:
        acting = [agent for agent, one in observations.items() if one["action_mask"].any()]
        assert acting == [aec.agent_selection]
        for agent, one in observations.items():
            assert all(np.array_equal(one[key], value) for key, value in aec.observe(agent).items())
        assert np.array_equal(parallel.state(), aec.state())
        action = legal(rng, observations[acting[0]]["action_mask"])
        sent = {agent: parallel.action_space(agent).sample() for agent in parallel.agents} | {acting[0]: action}
        observations, rewards, terminations, truncations, infos = parallel.step(sent)
        aec.step(action)
        assert (rewards, terminations, truncations) == (aec.rewards, aec.terminations, aec.truncations)
        assert {infos[agent]["active_agent"] for agent in parallel.agents} <= {aec.agent_selection}
        paid.update(rewards)
    assert all(terminations.values())
    assert parallel.unwrapped.record() == aec.record()
    assert dict(paid) == totals(aec)


@every_game
def test_the_other_parallel_form_does_not_fit(name: str) -> None:
    """``aec_to_parallel`` asks all agents for actions at once, of whom one has legal ones: it is for games without turns."""
    with pytest.raises((AssertionError, IllegalActionError)):
        parallel_api_test(aec_to_parallel(make(name)), num_cycles=10)


# --- PettingZoo's wrappers and helpers.


@every_game
def test_several_matches_in_one_episode(name: str) -> None:
    one = short(name)
    expected: Counter[str] = Counter()
    for seed in (5, 6, 7):
        expected.update(play(one, seed))
    env = MultiEpisodeEnv(short(name), num_episodes=3)
    env.reset(seed=5)
    played, paid = Counter[int](), Counter[str]()
    rngs = {seed: np.random.default_rng(seed) for seed in (5, 6, 7)}
    for agent in env.agent_iter():
        observation, reward, terminated, _, _ = env.last()
        paid[agent] += reward
        seed = int(env.unwrapped.table.seed)
        played[seed] += 1
        env.step(None if terminated else legal(rngs[seed], observation["action_mask"]))
    assert list(played) == [5, 6, 7]
    assert paid == expected


@every_game
def test_several_matches_in_one_episode_of_the_parallel_form(name: str) -> None:
    env = MultiEpisodeParallelEnv(turn_based_aec_to_parallel(short(name)), num_episodes=3)
    observations, _ = env.reset(seed=5)
    rng, seeds = np.random.default_rng(1), []
    while env.agents:
        seeds.append(int(env.unwrapped.table.seed))
        actor = next(agent for agent, one in observations.items() if one["action_mask"].any())
        observations, _, terminations, truncations, _ = env.step({actor: legal(rng, observations[actor]["action_mask"])})
        assert not any(terminations.values())
    assert all(truncations.values())
    assert list(dict.fromkeys(seeds)) == [5, 6, 7]


@every_game
def test_what_a_table_prints_can_be_captured(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    env, plain = CaptureStdoutWrapper(make(name, render_mode="human")), make(name, render_mode="ansi")
    env.reset(seed=3)
    plain.reset(seed=3)
    assert env.render().rstrip() == plain.render().rstrip()  # type: ignore[union-attr]
    assert capsys.readouterr().out == ""


@every_game
def test_random_demo_plays_whole_matches(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    env = short(name)
    assert random_demo(env, render=False, episodes=1) == sum(totals(env).values())
    assert capsys.readouterr().out.startswith("Average total reward")
    assert random_demo(short(name, reward="relative"), render=False, episodes=2) == pytest.approx(0, abs=1e-3)


@every_game
def test_performance_benchmark_runs(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It plays masked actions and goes on to the next match by itself; its five seconds are a clock of steps here."""
    benchmark = importlib.import_module("pettingzoo.test.performance_benchmark")
    ticks = iter(range(10**6))
    monkeypatch.setattr(benchmark, "time", type("Clock", (), {"time": staticmethod(lambda: next(ticks) / 40)}))
    env = short(name)
    seeds: list[Any] = []
    reset = env.reset
    monkeypatch.setattr(env, "reset", lambda *args, **kwargs: (reset(*args, **kwargs), seeds.append(env.record()["seed"])))
    benchmark.performance_benchmark(env)
    assert "turns per second" in capsys.readouterr().out
    assert len(set(seeds)) == len(seeds) > 2


# --- Films.


def filmed(name: str) -> TableEnv:
    """A game of few steps: drawing and coding a picture takes its time."""
    pytest.importorskip("moviepy")
    pytest.importorskip("PIL")
    few = {"hand_size": 2} if name == "mitchell" else {"hand_size": 2, "suits": 2, "ranks": 5, "clock_cards": 2}
    return short(name, render_mode="rgb_array", **few)


def n_frames(path: Path) -> int:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    frames, _ = ffmpeg.count_frames_and_secs(str(path))
    return int(frames)


@every_game
def test_a_film_has_a_picture_for_each_step(name: str, tmp_path: Path) -> None:
    env = RecordVideo(filmed(name), str(tmp_path / "films"), lambda episode: True, name_prefix=name)
    for seed in (1, 2):
        play(env, seed)
        decisions = sum(len(deal["moves"]) for deal in env.unwrapped.record()["deals"])
    env.close()
    films = sorted((tmp_path / "films").glob("*.mp4"))
    assert [film.name for film in films] == [f"{name}-episode-0.mp4", f"{name}-episode-1.mp4"]
    assert n_frames(films[1]) == 1 + decisions + env.max_num_agents  # each agent's last step is one too
    assert env.frames_per_sec == env.metadata["render_fps"]


@every_game
def test_a_film_of_the_parallel_form(name: str, tmp_path: Path) -> None:
    parallel = turn_based_aec_to_parallel(filmed(name))
    env = RecordVideoParallel(parallel, str(tmp_path / "films"), lambda episode: True, video_length=10, name_prefix=name)
    observations, _ = env.reset(seed=1)
    rng, steps = np.random.default_rng(1), 0
    while env.agents:
        actor = next(agent for agent, one in observations.items() if one["action_mask"].any())
        observations, *_ = env.step({actor: legal(rng, observations[actor]["action_mask"])})
        steps += 1
    env.close()
    assert [n_frames(film) for film in (tmp_path / "films").glob("*.mp4")] == [min(1 + steps, 11)]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # its __del__ wants what was never made
@pytest.mark.parametrize("mode", [None, "ansi", "human"])
def test_a_film_needs_pictures(mode: str | None, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="incompatible with RecordVideo"):
        RecordVideo(make("mitch_jp", render_mode=mode), str(tmp_path))


# --- SuperSuit. The Dict observation decides: with its two parts, or with the one that remains when the mask is taken away.


def without_mask(env: Any) -> Any:
    """``observation`` alone, as a Box; who plays takes the mask from ``env.unwrapped.observe(agent)``."""
    supersuit = pytest.importorskip("supersuit")
    return supersuit.observation_lambda_v0(env, lambda one, space: one["observation"], lambda space: space["observation"])


ON_DICTS: dict[str, Callable[[Any, Any], Any]] = {
    "action_lambda_v1": lambda ss, env: ss.action_lambda_v1(env, lambda action, space: action, lambda space: space),
    "nan_noop_v0": lambda ss, env: ss.nan_noop_v0(env, 0),
    "nan_random_v0": lambda ss, env: ss.nan_random_v0(env),
    "nan_zeros_v0": lambda ss, env: ss.nan_zeros_v0(env),
    "observation_lambda_v0": lambda ss, env: ss.observation_lambda_v0(env, lambda one, space: dict(one), lambda space: space),
    "pad_action_space_v0": lambda ss, env: ss.pad_action_space_v0(env),
    "reward_lambda_v0": lambda ss, env: ss.reward_lambda_v0(env, lambda reward: reward),
}
ON_BOXES: dict[str, Callable[[Any, Any], Any]] = {
    "agent_indicator_v0": lambda ss, env: ss.agent_indicator_v0(env),
    "delay_observations_v0": lambda ss, env: ss.delay_observations_v0(env, 1),
    "dtype_v0": lambda ss, env: ss.dtype_v0(env, np.float16),
    "flatten_v0": lambda ss, env: ss.flatten_v0(env),
    "frame_stack_v1": lambda ss, env: ss.frame_stack_v1(env, 3),
    "max_observation_v0": lambda ss, env: ss.max_observation_v0(env, 2),
    "normalize_obs_v0": lambda ss, env: ss.normalize_obs_v0(env),
    "pad_observations_v0": lambda ss, env: ss.pad_observations_v0(env),
    "reshape_v0": lambda ss, env: ss.reshape_v0(env, (env.unwrapped.observation_layout().size, 1)),
}
ON_NONE: dict[str, Callable[[Any, Any], Any]] = {
    "black_death_v3": lambda ss, env: ss.black_death_v3(env),
    "clip_actions_v0": lambda ss, env: ss.clip_actions_v0(env),
    "frame_skip_v0": lambda ss, env: ss.frame_skip_v0(env, 2),
    "scale_actions_v0": lambda ss, env: ss.scale_actions_v0(env, 2),
    "sticky_actions_v0": lambda ss, env: ss.sticky_actions_v0(env, 0.5),
}


@pytest.mark.parametrize("wrapper", [*ON_DICTS, *ON_BOXES])
@every_game
def test_supersuit_wrappers_that_work(name: str, wrapper: str) -> None:
    """They change nothing of the match and its rewards; those for a Box work without the mask."""
    supersuit = pytest.importorskip("supersuit")
    plain = short(name)
    play(plain)
    env = ON_DICTS[wrapper](supersuit, short(name)) if wrapper in ON_DICTS else None
    if env is None:
        env = ON_BOXES[wrapper](supersuit, without_mask(short(name)))
    assert dict(play(env)) == totals(plain)
    assert env.unwrapped.record() == plain.record()


@pytest.mark.parametrize("wrapper", [*ON_BOXES, *ON_NONE])
def test_supersuit_wrappers_that_do_not_work_with_a_dict(wrapper: str) -> None:
    supersuit = pytest.importorskip("supersuit")

    def wrapped() -> None:
        env = (ON_BOXES | ON_NONE)[wrapper](supersuit, make("mitch_jp"))
        env.reset(seed=1)
        rng = np.random.default_rng(1)
        for agent in env.agent_iter(max_iter=60):
            observation, *_ = env.last()
            assert env.observation_space(agent).contains(observation)
            env.step(legal(rng, observation["action_mask"]))

    with pytest.raises((AssertionError, AttributeError, IllegalActionError)):
        wrapped()


@every_game
def test_supersuit_vectorizes_the_parallel_form(name: str) -> None:
    """A row for each seat of each table, masks included; a match that ends is followed by the next."""
    supersuit = pytest.importorskip("supersuit")
    parallel = turn_based_aec_to_parallel(short(name, reward="relative"))
    rows = supersuit.pettingzoo_env_to_vec_env_v1(parallel)
    env = supersuit.concat_vec_envs_v1(rows, 2, num_cpus=0, base_class="gymnasium")
    observation, _ = env.reset(seed=1)
    rng, paid, ended = np.random.default_rng(1), np.zeros(6), np.zeros(6, int)
    for _ in range(600):
        mask = observation["action_mask"]
        assert (mask.reshape(2, 3, -1).any(2).sum(1) == 1).all()
        observation, reward, terminated, _, _ = env.step(np.array([legal(rng, one) if one.any() else 0 for one in mask]))
        paid += reward
        ended += terminated
    assert ended.sum() > 3  # in the second table's match perhaps nobody can lay a card for long
    assert (ended.reshape(2, 3) == ended.reshape(2, 3)[:, :1]).all()
    assert paid.reshape(2, 3).sum(1) == pytest.approx(0, abs=1e-2)
    assert np.abs(paid).max() > 1
