"""Stable-baselines3 and sb3-contrib on the single environment, on SB3's vectors of it, and on the adapter."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from games import engine_of
from gymnasium.utils.env_checker import data_equivalence as is_same

from mitch_env import GAMES, IllegalActionError, get_game
from mitch_env.single_agent import SingleAgentEnv
from mitch_env.vector_env import SingleAgentVectorEnv

sb3_contrib = pytest.importorskip("sb3_contrib")

import torch  # noqa: E402
from sb3_contrib import MaskablePPO  # noqa: E402
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback  # noqa: E402
from sb3_contrib.common.maskable.evaluation import evaluate_policy  # noqa: E402
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported  # noqa: E402
from stable_baselines3 import PPO  # noqa: E402
from stable_baselines3.common.env_checker import check_env  # noqa: E402
from stable_baselines3.common.env_util import make_vec_env  # noqa: E402
from stable_baselines3.common.monitor import Monitor  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecMonitor, VecNormalize  # noqa: E402

from examples import sb3_maskable_ppo  # noqa: E402
from mitch_env.adapters.sb3 import SB3VecEnv  # noqa: E402

torch.set_num_threads(1)

every_game = pytest.mark.parametrize("name", GAMES)
IDS = sb3_maskable_ppo.IDS


def short(name: str) -> dict[str, Any]:
    """Options that make matches of a game short."""
    return {"players": 3, **engine_of(get_game(name)).short}


def tables(name: str, n: int, **settings: Any) -> SB3VecEnv:
    """The adapter on tables with short matches."""
    return SB3VecEnv(gymnasium.make_vec(IDS[name], num_envs=n, **{**short(name), **settings}))


def singles(name: str, n: int, **settings: Any) -> DummyVecEnv:
    """SB3's own vector of single environments."""
    return DummyVecEnv([lambda: gymnasium.make(IDS[name], **{**short(name), **settings})] * n)


def make(kind: str, name: str, n: int = 3, **settings: Any) -> Any:
    """An environment of each kind that MaskablePPO takes."""
    if kind == "single":
        return gymnasium.make(IDS[name], **{**short(name), **settings})
    if kind == "make_vec_env":
        return make_vec_env(IDS[name], n, seed=5, env_kwargs={**short(name), **settings})
    return VecMonitor(tables(name, n, **settings))


def learner(env: Any, **settings: Any) -> MaskablePPO:
    """A small MaskablePPO."""
    return MaskablePPO(
        "MlpPolicy", env, **{"n_steps": 16, "batch_size": 16, "n_epochs": 1, "seed": 1, "device": "cpu", **settings}
    )


def choose(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random legal action for each row."""
    chosen: np.ndarray = np.where(masks, rng.random(masks.shape), -1.0).argmax(1)
    return chosen


def weights(model: MaskablePPO) -> torch.Tensor:
    """All parameters in one vector."""
    return torch.cat([one.detach().flatten() for one in model.policy.parameters()])


# --- The adapter is SB3's vector of single environments.


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *((name, {}) for name in GAMES),
        ("mitch_ru", {"opponents": "rule", "reward": "relative"}),
        ("mitchell", {"max_turns": 7, "reward": "relative"}),
        ("mitchell", {"players": 2, "hand_size": 1, "rounds": 1, "seat": 1}),
    ],
)
def test_all_that_it_returns_is_what_a_dummy_vec_env_returns(name: str, settings: dict[str, Any]) -> None:
    """To the bit: observations, rewards, ends, infos with the last observation and truncation, and the masks asked for."""
    found, expected = tables(name, 4, **settings), singles(name, 4, **settings)
    assert found.observation_space == expected.observation_space and found.action_space == expected.action_space
    rng, ends = np.random.default_rng(2), {True: 0, False: 0}
    for seed in (50, None, 7):
        if seed is not None:
            assert found.seed(seed) == expected.seed(seed)
        assert is_same(found.reset(), expected.reset(), exact=True)
        for _ in range(40):
            assert is_same(found.reset_infos, expected.reset_infos, exact=True)
            assert found.get_attr("seat") == [info["seat"] for info in expected.reset_infos]
            masks = get_action_masks(found)
            assert np.array_equal(masks, get_action_masks(expected)) and np.array_equal(masks, found.action_masks())
            actions = choose(masks, rng)
            one, other = found.step(actions), expected.step(actions)
            for left, right in zip(one, other, strict=True):
                assert is_same(left, right, exact=True)
            for row in np.flatnonzero(one[2]):
                ends[one[3][row]["TimeLimit.truncated"]] += 1
                assert not np.array_equal(one[3][row]["terminal_observation"], one[0][row])
    assert ends[False] > 10 and (ends[True] > 10) == ("max_turns" in settings)


def test_some_tables_can_be_asked() -> None:
    env = tables("mitch_jp", 5)
    env.reset()
    masks = env.action_masks()
    assert np.array_equal(np.stack(env.env_method("action_masks", indices=[3, 1])), masks[[3, 1]])
    assert np.array_equal(np.stack(env.env_method("action_masks", indices=2)), masks[[2]])
    assert env.get_attr("seat", indices=[0]) == [env.reset_infos[0]["seat"]]
    assert env.env_is_wrapped(Monitor) == [False] * 5 and env.env_is_wrapped(Monitor, indices=[1]) == [False]


def test_what_a_table_has_not_is_refused() -> None:
    env = tables("mitch_jp", 2)
    assert is_masking_supported(env) and not env.has_attr("envs")
    with pytest.raises(AttributeError, match=r"no method 'reset' here, only action_masks and render"):
        env.env_method("reset")
    with pytest.raises(AttributeError, match=r"no attribute 'table' here, only render_mode, spec and seat"):
        env.get_attr("table")
    with pytest.raises(AttributeError, match=r"'seat' of a table cannot be set"):
        env.set_attr("seat", 1)


def test_another_vector_environment_is_refused() -> None:
    with pytest.raises(TypeError, match=r"envs is a SyncVectorEnv, and a SingleAgentVectorEnv is needed: gymnasium.make_vec"):
        SB3VecEnv(gymnasium.make_vec(IDS["mitch_jp"], num_envs=2, vectorization_mode="sync"))


def test_an_algorithm_without_masks_is_told_that_its_action_is_illegal() -> None:
    with pytest.raises(IllegalActionError, match=r"table \d, seat\d tried: .*; legal here: "):
        PPO("MlpPolicy", tables("mitch_jp", 4), n_steps=64, seed=1, device="cpu").learn(256)


def test_tables_are_rendered() -> None:
    env = tables("mitch_jp", 3, render_mode="ansi")
    env.seed(1)
    env.reset()
    single = SingleAgentEnv("mitch_jp", render_mode="ansi", **short("mitch_jp"))
    single.reset(seed=3)
    assert env.env_method("render", indices=[2]) == [single.render()]
    assert tables("mitch_jp", 2).render_mode is None
    pytest.importorskip("PIL")
    env = tables("mitch_jp", 3, render_mode="rgb_array")
    env.reset()
    image, tiles = env.get_images()[0], env.render()
    assert tiles is not None and tiles.shape == (2 * image.shape[0], 2 * image.shape[1], 3)
    assert np.array_equal(tiles[: image.shape[0], : image.shape[1]], image)


def test_episode_statistics_are_those_of_the_game(tmp_path: Path) -> None:
    env = VecMonitor(tables("mitch_ru", 4, reward="relative"), str(tmp_path / "log"))
    env.seed(1)
    env.reset()
    rng, paid, steps, found = np.random.default_rng(0), np.zeros(4), np.zeros(4), 0
    for _ in range(60):
        _, rewards, dones, infos = env.step(choose(env.unwrapped.action_masks(), rng))
        paid, steps = paid + rewards, steps + 1
        for row in np.flatnonzero(dones):
            assert infos[row]["episode"]["r"] == pytest.approx(paid[row]) and infos[row]["episode"]["l"] == steps[row]
            paid[row] = steps[row] = 0
            found += 1
        assert all("episode" not in infos[row] for row in np.flatnonzero(~dones))
    assert found > 4
    env.close()
    assert IDS["mitch_ru"] in (tmp_path / "log.monitor.csv").read_text().splitlines()[0]


class Described(SingleAgentVectorEnv):
    """Tables with a Dict observation: the flat one in two parts."""

    CUT = 100

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        size = self.single_observation_space.shape[0]
        sizes = {"first": self.CUT, "rest": size - self.CUT}
        box = gymnasium.spaces.Box
        self.single_observation_space = gymnasium.spaces.Dict({key: box(0.0, 1.0, (n,)) for key, n in sizes.items()})
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, self.num_envs)

    def parts(self, flat: np.ndarray) -> dict[str, np.ndarray]:
        return {"first": flat[..., : self.CUT], "rest": flat[..., self.CUT :]}

    def reset(self, **settings: Any) -> Any:
        observations, infos = super().reset(**settings)
        return self.parts(observations), infos

    def step(self, actions: Any) -> Any:
        observations, *others, infos = super().step(actions)
        for row in np.flatnonzero(infos.get("_final_obs", [])):
            infos["final_obs"][row] = self.parts(infos["final_obs"][row])
        return self.parts(observations), *others, infos


@every_game
def test_observations_may_be_dicts(name: str) -> None:
    env, flat = SB3VecEnv(Described(name, 3, **short(name))), tables(name, 3)
    env.seed(4), flat.seed(4)
    seen, expected, rng, n_over = env.reset(), flat.reset(), np.random.default_rng(0), 0
    for _ in range(60):
        assert np.array_equal(np.concatenate([seen["first"], seen["rest"]], 1), expected)
        actions = choose(env.action_masks(), rng)
        seen, _, dones, infos = env.step(actions)
        expected, *_, expected_infos = flat.step(actions)
        for row in np.flatnonzero(dones):
            last = infos[row]["terminal_observation"]
            together = np.concatenate([last["first"], last["rest"]])
            assert np.array_equal(together, expected_infos[row]["terminal_observation"])
            n_over += 1
    assert n_over > 3
    settings = {"max_turns": 7} if name == "mitchell" else {}  # truncated: the value of a dict is asked for
    env = VecMonitor(SB3VecEnv(Described(name, 3, **short(name), **settings)))
    model = MaskablePPO("MultiInputPolicy", env, n_steps=32, batch_size=32, n_epochs=1, seed=1, device="cpu")
    model.learn(192)
    returns, _ = evaluate_policy(model, env, 6, return_episode_rewards=True)
    assert len(returns) == 6


# --- MaskablePPO.


@pytest.mark.parametrize("kind", ["single", "make_vec_env", "tables"])
@every_game
def test_maskable_ppo_learns_from_legal_actions_only(name: str, kind: str) -> None:
    model = learner(make(kind, name))
    before = weights(model)
    for _ in range(2):
        model.learn(model.n_steps * model.n_envs, reset_num_timesteps=False)
        buffer = model.rollout_buffer  # its rows are decisions by now, in one order for all of these
        masks, actions = buffer.action_masks.astype(bool), buffer.actions.astype(int).ravel()
        assert len(actions) == 16 * (1 if kind == "single" else 3)
        assert masks[np.arange(len(actions)), actions].all()
        assert 0 < masks.sum() < masks.size
    assert not torch.equal(before, weights(model))


def test_the_same_seed_learns_the_same_from_tables_as_from_single_environments() -> None:
    """The adapter changes nothing in what is learnt; another seed does."""

    def learnt(env: VecEnv, seed: int) -> torch.Tensor:
        return weights(learner(env, seed=seed).learn(160))

    first = learnt(tables("mitch_jp", 4), 1)
    assert torch.equal(first, learnt(tables("mitch_jp", 4), 1))
    assert torch.equal(first, learnt(singles("mitch_jp", 4), 1))
    assert not torch.equal(first, learnt(tables("mitch_jp", 4), 2))


def test_rewards_can_be_normalised() -> None:
    env, plain = VecNormalize(VecMonitor(tables("mitch_jp", 4)), norm_obs=False), tables("mitch_jp", 4)
    env.seed(1), plain.seed(1)
    assert np.array_equal(env.reset(), plain.reset())
    rng = np.random.default_rng(0)
    for _ in range(60):
        actions = choose(get_action_masks(env), rng)
        observations, rewards, *_ = env.step(actions)
        expected, paid, *_ = plain.step(actions)
        assert np.array_equal(observations, expected) and np.array_equal(env.get_original_reward(), paid)
        assert np.array_equal(rewards, env.normalize_reward(paid)) and (rewards != paid).any() == paid.any()
    model = learner(env).learn(64)
    masks = model.rollout_buffer.action_masks.astype(bool)
    assert masks[np.arange(64), model.rollout_buffer.actions.astype(int).ravel()].all()


def by_hand(model: MaskablePPO, name: str, seed: int, n: int, each: int, **settings: Any) -> list[float]:
    """The returns of so many matches at each of ``n`` single environments, played by the model's best actions."""
    returns = []
    for i in range(n):
        env = SingleAgentEnv(name, **{**short(name), **settings})
        for match in range(each):
            observation, info = env.reset(seed=None if match else seed + i)
            total, is_over = 0.0, False
            while not is_over:
                action, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
                observation, reward, terminated, truncated, info = env.step(action)
                total, is_over = total + reward, terminated or truncated
            returns.append(total)
    return returns


@pytest.mark.parametrize("reward", ["points", "relative", "outcome"])
@every_game
def test_evaluate_policy_finds_the_mean_return_that_is_found_by_hand(name: str, reward: str) -> None:
    model = learner(make("single", name))
    expected = by_hand(model, name, 30, 3, 2, reward=reward)
    assert len(set(expected)) > 1
    for env in (tables(name, 3, reward=reward), singles(name, 3, reward=reward)):
        for monitored in (env, VecMonitor(env)):
            monitored.seed(30)
            returns, _ = evaluate_policy(model, monitored, 6, return_episode_rewards=True, warn=False)
            assert sorted(returns) == pytest.approx(sorted(expected), abs=1e-4)
            monitored.seed(30)
            assert evaluate_policy(model, monitored, 6, warn=False)[0] == pytest.approx(np.mean(expected), abs=1e-4)
    single = Monitor(gymnasium.make(IDS[name], **{**short(name), "reward": reward}))
    single.reset(seed=30)  # the evaluation goes on to the match that follows
    one = SingleAgentEnv(name, **{**short(name), "reward": reward})
    one.reset(seed=30)
    observation, info = one.reset()
    total, is_over = 0.0, False
    while not is_over:
        action, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
        observation, paid, terminated, truncated, info = one.step(action)
        total, is_over = total + paid, terminated or truncated
    assert evaluate_policy(model, single, 1)[0] == pytest.approx(total, abs=1e-4)


def test_the_evaluation_callback_reports_and_keeps_the_best_model(tmp_path: Path) -> None:
    env = VecMonitor(tables("mitch_jp", 4))
    env.seed(30)
    callback = MaskableEvalCallback(
        env, eval_freq=16, n_eval_episodes=8, log_path=str(tmp_path), best_model_save_path=str(tmp_path), verbose=0
    )
    learner(make("tables", "mitch_jp", 4)).learn(64, callback=callback)
    (found,) = np.load(tmp_path / "evaluations.npz")["results"]
    best = MaskablePPO.load(tmp_path / "best_model.zip", device="cpu")
    assert sorted(found) == pytest.approx(sorted(by_hand(best, "mitch_jp", 30, 4, 2)))
    assert callback.best_mean_reward == pytest.approx(np.mean(found))


@every_game
def test_a_saved_model_plays_the_same_and_learns_on(name: str, tmp_path: Path) -> None:
    model = learner(make("tables", name)).learn(48)
    model.save(tmp_path / "model.zip")
    env = make("tables", name, 5)
    again = MaskablePPO.load(tmp_path / "model.zip", env=env, device="cpu")
    observations, masks = env.reset(), get_action_masks(env)
    for deterministic in (True, False):
        chosen = []
        for one in (model, again):
            torch.manual_seed(3)
            chosen.append(one.predict(observations, action_masks=masks, deterministic=deterministic)[0])
        assert np.array_equal(*chosen) and masks[np.arange(5), chosen[0]].all()
    again.learn(80, reset_num_timesteps=False)
    assert again.num_timesteps == 48 + 80 and not torch.equal(weights(model), weights(again))


@every_game
def test_the_checker_finds_nothing_behind_a_monitor(name: str) -> None:
    check_env(Monitor(gymnasium.make(IDS[name], **short(name))), warn=True)


# --- The example.

_MEASURED = (
    r"^(before|after) training, against (\w+), (\d+) matches \(± 95 %\): "
    r"return ([+-]\d+\.\d\d) ± .*, win share (0\.\d+)"
)


@every_game
def test_the_maskable_ppo_example_runs_and_its_seed_reproduces_it(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--game", name, "--opponents", "rule", "--num-envs", "8", "--n-steps", "32", "--timesteps", "512"]
    words += ["--matches", "16", "--threads", "1", "--options", json.dumps(engine_of(get_game(name)).short)]
    runs = []
    for seed in ("1", "1", "2"):
        sb3_maskable_ppo.main([*words, "--seed", seed, "--save", str(tmp_path / seed)])
        printed = re.findall(_MEASURED, capsys.readouterr().out, re.MULTILINE)
        assert [one[:3] for one in printed] == [
            (when, against, "16") for when in ("before", "after") for against in ("random", "rule")
        ]
        runs.append(printed)
    assert runs[0] == runs[1] != runs[2]
    model = MaskablePPO.load(tmp_path / "1.zip", device="cpu")
    again = by_hand(model, name, 1_000_001, 8, 2, opponents="random", reward="relative")
    assert float(runs[1][2][3]) == pytest.approx(np.mean(again), abs=0.006)


@pytest.mark.parametrize("seed", [-5, 2**64 - 1, 1.5, True])
def test_a_wrong_seed_is_refused_at_once(seed: Any) -> None:
    tables = SB3VecEnv(gymnasium.make_vec("mitch_env/MitchJp-v0", num_envs=2, vectorization_mode="vector_entry_point"))
    with pytest.raises(ValueError, match="integer from 0 to"):
        tables.seed(seed)
    tables.reset()
    with pytest.raises(TypeError, match="a SingleAgentVectorEnv is needed"):
        SB3VecEnv(None)  # type: ignore[arg-type]
