"""Tianshou 2 plays the environments as they are; ``mitch_env.adapters.tianshou`` makes it learn along each seat's decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mitch_env
from mitch_env import GAMES

torch = pytest.importorskip("torch")
pytest.importorskip("tianshou")

from tianshou.algorithm.algorithm_base import OffPolicyAlgorithm  # noqa: E402 - only where Tianshou is installed
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy  # noqa: E402
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm  # noqa: E402
from tianshou.algorithm.optim import AdamOptimizerFactory  # noqa: E402
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm  # noqa: E402
from tianshou.data import Collector, ReplayBuffer, VectorReplayBuffer  # noqa: E402
from tianshou.env import DummyVectorEnv, PettingZooEnv  # noqa: E402
from tianshou.utils.net.common import Net  # noqa: E402
from tianshou.utils.torch_utils import policy_within_training_step  # noqa: E402

from mitch_env.adapters.tianshou import SeatDQN, seat_links  # noqa: E402

TABLES = [(name, players) for name, game in GAMES.items() for players in (2, 3, game.rules.max_seats)]
every_game = pytest.mark.parametrize("name", GAMES)
every_table = pytest.mark.parametrize(("name", "players"), TABLES)


def make(name: str, players: int) -> mitch_env.TableEnv:
    """A match of one deal."""
    short: dict[str, Any] = {"rounds": 1, "hand_size": 3} if name == "mitchell" else {"deals": 1}
    return mitch_env.make(name, players=players, reward="relative", **short)


def make_learner(env: PettingZooEnv, **settings: Any) -> SeatDQN:
    net = Net(state_shape=env.observation_space["observation"].shape, action_shape=env.action_space.n, hidden_sizes=[16])
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space)
    return SeatDQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), **settings)


def random_seats(env: PettingZooEnv) -> list[OffPolicyAlgorithm]:
    return [MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space) for _ in env.agents]


def collector_of(name: str, players: int, seats: list[OffPolicyAlgorithm], tables: int = 2, **settings: Any) -> Collector[Any]:
    """Table i is seeded with 10 + i; what is played is the match after that."""
    np.random.seed(1)  # noqa: NPY002 - Tianshou draws from NumPy's global generator
    torch.manual_seed(1)
    envs = DummyVectorEnv([lambda: PettingZooEnv(make(name, players)) for _ in range(tables)])
    envs.seed([10 + table for table in range(tables)])
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=seats, env=PettingZooEnv(make(name, players)))
    collector = Collector(algorithm, envs, VectorReplayBuffer(4000 * tables, tables), **settings)
    collector.reset()
    return collector


def rows_of(buffer: ReplayBuffer) -> np.ndarray:
    """Every row in use, oldest first."""
    return np.asarray(buffer.sample_indices(0))


@every_table
def test_what_the_collector_returns_is_what_the_game_pays(name: str, players: int) -> None:
    """Rows, masks, rewards for each agent and returns, replayed with the game alone."""
    env = PettingZooEnv(make(name, players))
    collector = collector_of(name, players, random_seats(env))
    stats = collector.collect(n_episode=2)
    buffer, returns = collector.buffer, []
    for table, rows in enumerate(np.split(rows_of(buffer), np.flatnonzero(buffer.done[rows_of(buffer)])[:-1] + 1)):
        game = make(name, players)
        game.reset(seed=10 + table)
        game.reset()
        total = np.zeros(players)
        for row in rows:
            seen = game.observe(game.agent_selection)
            assert buffer.obs.agent_id[row] == game.agent_selection
            assert (buffer.obs.obs[row] == seen["observation"]).all()
            assert (buffer.obs.mask[row] == seen["action_mask"]).all() and seen["action_mask"][buffer.act[row]]
            game.step(int(buffer.act[row]))
            assert buffer.rew[row].tolist() == list(game.rewards.values())
            assert bool(buffer.terminated[row]) == all(game.terminations.values())
            total += list(game.rewards.values())
        assert buffer.done[rows[-1]] and total.any()
        returns.append(total.tolist())
    assert len(returns) == 2
    assert sorted(stats.returns.tolist()) == sorted(returns)


@every_game
def test_a_seed_makes_the_same_matches(name: str) -> None:
    env = PettingZooEnv(make(name, 3))
    once, again = (collector_of(name, 3, random_seats(env)) for _ in range(2))
    for collector in (once, again):
        np.random.seed(3)  # noqa: NPY002
        collector.collect(n_step=200)
    assert (once.buffer.act == again.buffer.act).all() and (once.buffer.rew == again.buffer.rew).all()
    assert (once.buffer.obs.obs == again.buffer.obs.obs).all()


@every_game
def test_a_network_that_explores_plays_legal_moves_only(name: str) -> None:
    """The one network in all seats; eps_inference is what a collector explores by, and eps_training is not."""
    env = PettingZooEnv(make(name, 3))
    learner = make_learner(env)
    collector = collector_of(name, 3, [learner] * 3, exploration_noise=True)
    buffer = collector.buffer

    def n_explored() -> int:
        collector.reset_buffer()
        with policy_within_training_step(collector.policy):
            collector.collect(n_step=200)
        rows = rows_of(buffer)
        assert buffer.obs.mask[rows, buffer.act[rows]].all()
        with torch.no_grad():
            best = learner.policy(buffer[rows]).act
        return int((best != buffer.act[rows]).sum())

    learner.policy.set_eps_training(1.0)
    assert n_explored() == 0
    learner.policy.set_eps_inference(0.5)
    assert 20 < n_explored() < 180


@every_table
def test_links_go_to_the_same_seats_next_decision(name: str, players: int) -> None:
    """Row by row: what a seat is paid up to there, what it sees then, and where the buffer ends before."""
    env = PettingZooEnv(make(name, players))
    collector = collector_of(name, players, random_seats(env), tables=1)
    collector.collect(n_episode=2)
    collector.collect(n_step=3)
    buffer, rewards = collector.buffer, collector.buffer.rew.copy()
    rows = rows_of(buffer).tolist()
    paid_elsewhere = False
    for seat, agent in enumerate(env.agents):
        own = [row for row in rows if buffer.obs.agent_id[row] == agent]
        buffer._meta.rew = rewards[:, seat]  # as the dispatcher of MultiAgentOffPolicyAlgorithm does
        last, reward, is_whole = seat_links(buffer, np.array(own))
        for i, row in enumerate(own):
            span = [row]
            while not buffer.done[span[-1]] and span[-1] + 1 in rows and buffer.obs.agent_id[span[-1] + 1] != agent:
                span.append(span[-1] + 1)
            decides_next = bool(buffer.obs_next.agent_id[span[-1]] == agent)
            assert is_whole[i] == (bool(buffer.done[span[-1]]) or decides_next)
            assert last[i] == span[-1]
            assert reward[i] == pytest.approx(rewards[span, seat].sum(), abs=1e-5)
            paid_elsewhere |= bool(rewards[span[1:], seat].any())
    assert paid_elsewhere


@every_game
def test_a_target_is_what_a_seat_is_paid_and_its_own_next_value(name: str) -> None:
    """Through the library's dispatcher, with every row as the batch."""
    env = PettingZooEnv(make(name, 3))
    learner = make_learner(env, gamma=0.9)
    collector = collector_of(name, 3, [learner] * 3, exploration_noise=True)
    learner.policy.set_eps_inference(1.0)
    collector.collect(n_step=300)
    buffer = collector.buffer
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[learner] * 3, env=env)
    rows, rewards = rows_of(buffer), buffer.rew.copy()
    targets = algorithm._preprocess_batch(buffer[rows], buffer, rows)
    assert (buffer.rew == rewards).all()
    for seat, agent in enumerate(env.agents):
        own = rows[buffer.obs.agent_id[rows] == agent]
        known = targets[agent]
        assert (known.obs.agent_id == agent).all() and len(own) - 2 <= len(known) <= len(own)
        position = 0
        for row in own:
            end = row
            while not buffer.done[end] and buffer.obs_next.agent_id[end] != agent and end + 1 in rows:
                end += 1
            if not buffer.done[end] and buffer.obs_next.agent_id[end] != agent:
                continue
            expected = rewards[row : end + 1, seat].sum()
            if not buffer.done[end]:
                seen = buffer.obs_next[[end]]
                q = learner.policy.model(seen.obs)[0].detach().numpy()[0]
                expected += 0.9 * q[seen.mask[0]].max()
            assert known.returns[position, 0] == pytest.approx(expected, abs=1e-3)
            position += 1
        assert position == len(known)


@every_game
@pytest.mark.parametrize("seats_learnt", [1, 3])
def test_an_update_changes_the_learner(name: str, seats_learnt: int) -> None:
    env = PettingZooEnv(make(name, 3))
    learner = make_learner(env, target_update_freq=1000)
    seats: list[OffPolicyAlgorithm] = [learner] * seats_learnt + random_seats(env)[seats_learnt:]
    collector = collector_of(name, 3, seats, exploration_noise=True)
    collector.collect(n_step=200)
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=seats, env=env)
    before = [weight.detach().clone() for weight in learner.policy.model.parameters()]
    with policy_within_training_step(algorithm.policy):
        losses = algorithm.update(collector.buffer, 64).get_loss_stats_dict()
    assert [f"player_{seat}/loss" in losses for seat in range(3)] == [seat < seats_learnt for seat in range(3)]
    assert all(np.isfinite(loss) for loss in losses.values())
    assert any((new != old).any() for new, old in zip(learner.policy.model.parameters(), before, strict=True))


def test_only_returns_to_the_next_decision_are_supported() -> None:
    with pytest.raises(ValueError, match="n_step_return_horizon=3: only 1"):
        make_learner(PettingZooEnv(make("mitch_jp", 2)), n_step_return_horizon=3)


def test_a_decision_without_a_known_successor_is_not_learnt_from() -> None:
    """Two seats have decided once; the first, the learner, has not been asked again."""
    env = PettingZooEnv(make("mitch_jp", 3))
    learner = make_learner(env)
    seats: list[OffPolicyAlgorithm] = [learner, *random_seats(env)[1:]]
    collector = collector_of("mitch_jp", 3, seats, tables=1)
    collector.collect(n_step=2)
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=seats, env=env)
    before = [weight.detach().clone() for weight in learner.policy.model.parameters()]
    with policy_within_training_step(algorithm.policy):
        assert algorithm.update(collector.buffer, 0).get_loss_stats_dict() == {}
    assert all((new == old).all() for new, old in zip(learner.policy.model.parameters(), before, strict=True))
