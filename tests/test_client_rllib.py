"""RLlib on its new API stack: the games as its ``MultiAgentEnv``, masks, rewards, training, checkpoints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib.metadata import requires, version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from games import EVERY_TABLE, engine_of

ray = pytest.importorskip("ray")
torch = pytest.importorskip("torch")

from ray.rllib.algorithms.algorithm import Algorithm  # noqa: E402
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig  # noqa: E402
from ray.rllib.algorithms.ppo import PPOConfig  # noqa: E402
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule  # noqa: E402
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec  # noqa: E402
from ray.rllib.core.rl_module.rl_module import RLModule, RLModuleSpec  # noqa: E402
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner  # noqa: E402
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule  # noqa: E402
from ray.rllib.utils.pre_checks.env import check_multiagent_environments  # noqa: E402

from mitch_env import GAMES, IllegalActionError, OptionsError, make  # noqa: E402
from mitch_env.adapters.rllib import RandomLegalRLModule, RLlibEnv  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # RLlib's own: deprecations within it, an id it registers again
every_game = pytest.mark.parametrize("name", GAMES)
every_table = pytest.mark.parametrize(("name", "players"), EVERY_TABLE)

#: A match in which nobody may be asked anything.
SILENT = {"players": 2, "deck": {"revenge": 100, "brawl": 6}, "hand_size": 1, "max_turns": 20, "rounds": 1}


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    torch.set_num_threads(1)
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100_000_000, logging_level="error", log_to_driver=False)
    yield
    ray.shutdown()


class LoggedEnv(RLlibEnv):
    """Writes down what is played, and how each match ended."""

    played: ClassVar[list[tuple[str, int]]] = []
    totals: ClassVar[Counter[str]] = Counter()

    def step(self, action: dict[str, Any]) -> Any:
        self.played.extend((agent, int(one)) for agent, one in action.items())
        result = super().step(action)
        if result[2]["__all__"]:
            self.totals.update({f"player_{seat}": one for seat, one in enumerate(self.env.unwrapped.record()["totals"])})
        return result


@pytest.fixture(autouse=True)
def _fresh_log() -> None:
    LoggedEnv.played.clear()
    LoggedEnv.totals.clear()


def match_of(name: str, **settings: Any) -> dict[str, Any]:
    """The ``env_config`` of a game with one deal."""
    one_deal = {"rounds": 1} if name == "mitchell" else {"deals": 1}
    return {"game": name, "players": 3, **one_deal, **settings}


def config_of(env_config: dict[str, Any], module_class: type[RLModule] = ActionMaskingTorchRLModule, seed: int = 1) -> Any:
    """PPO as the example has it, with a second policy that plays at random."""
    shared = RLModuleSpec(module_class=module_class, model_config={"head_fcnet_hiddens": [32]})
    random = RLModuleSpec(module_class=RandomLegalRLModule)
    return (
        PPOConfig()
        .api_stack(enable_rl_module_and_learner=True, enable_env_runner_and_connector_v2=True)
        .environment(LoggedEnv, env_config=env_config)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=2, batch_mode="complete_episodes")
        .learners(num_learners=0)
        .multi_agent(
            policies={"shared", "random"},
            policy_mapping_fn=lambda agent, episode, **kwargs: "shared",
            policies_to_train=["shared"],
        )
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"shared": shared, "random": random}))
        .training(train_batch_size_per_learner=150, minibatch_size=64, num_epochs=2, lr=1e-3)
        .evaluation(
            evaluation_interval=2,
            evaluation_num_env_runners=0,
            evaluation_duration=4,
            evaluation_duration_unit="episodes",
            evaluation_config=AlgorithmConfig.overrides(
                policy_mapping_fn=lambda agent, episode, **kwargs: "shared" if agent == "player_0" else "random"
            ),
        )
        .debugging(seed=seed, log_level="ERROR")
    )


def check_masks(episodes: list[Any]) -> int:
    """Every action that was recorded was legal in the observation before it; the number of actions."""
    n_actions = 0
    for episode in episodes:
        for one in episode.agent_episodes.values():
            masks, actions = one.get_observations(slice(0, len(one)))["action_mask"], one.get_actions()
            assert len(masks) == len(actions) == len(one)
            assert all(mask[action] == 1 for mask, action in zip(masks, actions, strict=True))
            n_actions += len(actions)
    return n_actions


# --- The environment.


def test_the_version_of_gymnasium_is_the_one_that_ray_wants() -> None:
    wanted = [one for one in requires("ray") or [] if one.startswith("gymnasium") and "rllib" in one]
    assert wanted and wanted[0].startswith(f"gymnasium=={version('gymnasium')};")


@every_table
def test_rllibs_own_checks_pass(name: str, players: int) -> None:
    """They step with what the action space draws, and know nothing of masks."""
    for _ in range(3):
        check_multiagent_environments(RLlibEnv({"game": name, "players": players}))


@every_table
def test_a_match_is_the_games_own(name: str, players: int) -> None:
    settings = {"players": players, **engine_of(GAMES[name]).short}
    env, own = RLlibEnv({"game": name, **settings}), make(name, **settings)
    observations, infos = env.reset(seed=3)
    own.reset(seed=3)
    assert (env.agents, infos) == (own.agents, {})
    rng, paid, is_over = np.random.default_rng(1), Counter[str](), False
    while not is_over:
        assert list(observations) == [own.agent_selection]
        seen, expected = observations[own.agent_selection], own.observe(own.agent_selection)
        assert env.get_observation_space(own.agent_selection).contains(seen)
        assert set(seen) == {"observations", "action_mask"}
        assert seen["action_mask"].dtype == seen["observations"].dtype == np.float32
        assert np.array_equal(seen["observations"], expected["observation"])
        assert np.array_equal(seen["action_mask"], expected["action_mask"])
        action = int(rng.choice(np.flatnonzero(seen["action_mask"])))
        observations, rewards, terminateds, truncateds, _ = env.step({own.agent_selection: action})
        own.step(action)
        paid.update(rewards)
        is_over = terminateds["__all__"]
        assert is_over == all(own.terminations.values())
        assert not any(truncateds.values())
    assert set(observations) == set(own.possible_agents)
    assert [paid[agent] for agent in own.possible_agents] == own.record()["totals"]


def test_a_match_that_is_cut_off_is_truncated() -> None:
    env = RLlibEnv({"game": "mitchell", "players": 2, "max_turns": 3, "rounds": 1})
    observations, _ = env.reset(seed=1)
    for _ in range(30):
        actions = {agent: int(np.flatnonzero(one["action_mask"])[-1]) for agent, one in observations.items()}
        observations, _, terminateds, truncateds, _ = env.step(actions)
        if truncateds["__all__"]:
            break
    assert truncateds == {"player_0": True, "player_1": True, "__all__": True}
    assert not any(terminateds.values())


def test_matches_that_ask_nobody_are_skipped() -> None:
    env = RLlibEnv({"game": "mitchell", **SILENT})
    for seed in range(20):
        observations, _ = env.reset(seed=seed)
        (seen,) = observations.values()
        assert seen["action_mask"].any()
    with pytest.raises(OptionsError, match="nobody was asked anything"):
        RLlibEnv({"game": "mitchell", **SILENT, "deck": {"revenge": 100}}).reset(seed=1)


def test_wrong_settings_are_refused_when_it_is_made() -> None:
    with pytest.raises(ValueError, match="env_config needs the game"):
        RLlibEnv({"players": 3})
    with pytest.raises(OptionsError, match="unknown option 'player'"):
        RLlibEnv({"game": "mitch_jp", "player": 3})


def test_a_table_is_rendered_as_the_game_does() -> None:
    env = RLlibEnv(match_of("mitch_jp", render_mode="ansi"))
    env.reset(seed=1)
    assert env.render() == env.env.unwrapped.render()
    assert "seat0" in env.render()


# --- Episodes that RLlib's env runner collects.


@pytest.mark.parametrize("mode", ["complete_episodes", "truncate_episodes"])
@every_game
def test_actions_are_legal_and_rewards_are_the_games(name: str, mode: str) -> None:
    """Whether matches are collected whole or in pieces of seven decisions: nothing that is paid is lost."""
    config = config_of(match_of(name))
    config.env_runners(num_envs_per_env_runner=1, batch_mode=mode, rollout_fragment_length=7)
    runner = MultiAgentEnvRunner(config=config)
    n_actions, returned, episodes = 0, Counter[str](), []
    LoggedEnv.played.clear()
    LoggedEnv.totals.clear()
    while len({episode.id_ for episode in episodes if episode.is_done}) < 4:
        episodes += runner.sample()
    done = {episode.id_ for episode in episodes if episode.is_done}
    for episode in episodes:
        assert {episode.module_for(agent) for agent in episode.agent_ids} <= {"shared"}
        n_actions += check_masks([episode])
        if episode.id_ in done:
            returned.update({agent: one.get_return() for agent, one in episode.agent_episodes.items()})
    assert {agent: returned[agent] for agent in LoggedEnv.totals} == dict(LoggedEnv.totals)
    waiting = 0 if mode == "complete_episodes" else 3
    assert len(LoggedEnv.played) - waiting <= n_actions <= len(LoggedEnv.played)


@every_game
def test_no_illegal_action_however_much_the_network_wants_it(name: str) -> None:
    """All logits but one are pushed down; without the module's mask that one is played, and refused."""
    env = make(name, **{key: value for key, value in match_of(name).items() if key != "game"})
    env.reset(seed=1)
    wanted = int(np.flatnonzero(env.observe("player_0")["action_mask"] == 0)[0])

    def runner_of(module_class: type[RLModule]) -> MultiAgentEnvRunner:
        config = config_of(match_of(name), module_class)
        if module_class is DefaultPPOTorchRLModule:
            config.env_runners(env_to_module_connector=flatten)
        runner = MultiAgentEnvRunner(config=config)
        bias = list(runner.module["shared"].pi.parameters())[-1]
        with torch.no_grad():
            bias[wanted] += 1e4
        return runner

    for explore in (True, False):
        assert check_masks(runner_of(ActionMaskingTorchRLModule).sample(num_episodes=4, explore=explore)) > 20
    with pytest.raises(RuntimeError) as caught:
        runner_of(DefaultPPOTorchRLModule).sample(num_episodes=4)
    assert isinstance(caught.value.__cause__, IllegalActionError)


def flatten(env: Any, spaces: Any, device: Any) -> Any:
    from ray.rllib.connectors.env_to_module import FlattenObservations

    return FlattenObservations(multi_agent=True)


def test_the_same_seed_collects_the_same_matches() -> None:
    def matches(seed: int) -> list[tuple[str, int]]:
        runner = MultiAgentEnvRunner(config=config_of(match_of("mitch_jp"), seed=seed))
        LoggedEnv.played.clear()
        runner.sample(num_episodes=3)
        return list(LoggedEnv.played)

    assert matches(1) == matches(1) != matches(2)


@every_game
def test_random_actions_are_legal(name: str) -> None:
    runner = MultiAgentEnvRunner(config=config_of(match_of(name)))
    assert check_masks(runner.sample(num_episodes=2, random_actions=True)) > 10


# --- PPO.


@every_game
def test_ppo_trains_one_policy_for_all_seats_evaluates_and_goes_on_from_a_checkpoint(name: str, tmp_path: Path) -> None:
    algorithm = config_of(match_of(name, reward="relative")).build_algo()
    before = algorithm.learner_group.get_weights()["shared"]
    for _ in range(2):
        result = algorithm.train()
    learned = result["learners"]["shared"]
    assert all(np.isfinite(float(learned[key])) for key in ("policy_loss", "vf_loss", "entropy"))
    assert 0 < float(learned["entropy"]) < np.log(20)  # all actions alike would be log(102) or more
    returns = result["env_runners"]["agent_episode_returns_mean"]
    assert set(returns) == {"player_0", "player_1", "player_2"}
    assert sum(returns.values()) == pytest.approx(0, abs=1e-3)
    assert set(result["env_runners"]["module_episode_returns_mean"]) == {"shared"}
    after = algorithm.learner_group.get_weights()["shared"]
    assert any((before[key] != value).any() for key, value in after.items())

    evaluated = result["evaluation"]["env_runners"]
    assert evaluated["num_episodes"] == 4
    assert set(evaluated["module_episode_returns_mean"]) == {"shared", "random"}

    algorithm.save_to_path(tmp_path)
    restored = Algorithm.from_checkpoint(str(tmp_path))
    module = RLModule.from_checkpoint(str(tmp_path / "learner_group" / "learner" / "rl_module" / "shared"))
    for other in (restored.learner_group.get_weights()["shared"], module.get_state()):
        assert other.keys() == after.keys()
        assert all(np.array_equal(value, after[key]) for key, value in other.items())
    acting = restored.get_module("shared").state_dict()  # RLlib gives who plays all but the critic
    assert all(np.array_equal(acting[key], after[key]) for key in after if "actor" in key or key.startswith("pi."))
    assert restored.train()["training_iteration"] == 3
    for one in (algorithm, restored):
        one.stop()


def test_ppo_with_an_env_runner_in_another_process() -> None:
    config = config_of(match_of("mitch_ru", reward="outcome")).environment(RLlibEnv).env_runners(num_env_runners=1)
    algorithm = config.build_algo()
    result = algorithm.train()
    assert result["env_runners"]["num_env_steps_sampled"] >= 150
    assert sum(result["env_runners"]["agent_episode_returns_mean"].values()) == pytest.approx(0, abs=1e-4)
    algorithm.stop()
