"""DQN with Tianshou 2: a learner among random players, or self-play with one network in all seats.

Install what it needs with ``pip install -c constraints.txt -e ".[train,clients]"``, then run
``python examples/tianshou_dqn.py`` or ``python examples/tianshou_dqn.py --self-play``. ``--help`` lists the arguments.

At the end the learner plays, without exploring, against random players: as many matches in each seat.
"""

from __future__ import annotations

import argparse
import logging

import numpy as np
import torch
from tianshou.algorithm.algorithm_base import OffPolicyAlgorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import mitch_env
from mitch_env.adapters.tianshou import SeatDQN


def make_env(args: argparse.Namespace) -> PettingZooEnv:
    """One table. One deal is a match; what is paid is relative to the mean over the seats."""
    short = {"rounds": 1} if args.game == "mitchell" else {"deals": 1}
    return PettingZooEnv(mitch_env.make(args.game, players=args.players, reward="relative", **short))


def make_learner(args: argparse.Namespace, env: PettingZooEnv) -> SeatDQN:
    """A Q-network with a target network. Tianshou applies the masks: they are part of its observations."""
    policy = DiscreteQLearningPolicy(
        model=Net(
            state_shape=env.observation_space["observation"].shape, action_shape=env.action_space.n, hidden_sizes=[256, 256]
        ),
        action_space=env.action_space,
        observation_space=env.observation_space,
    )
    return SeatDQN(policy=policy, optim=AdamOptimizerFactory(lr=args.learning_rate), gamma=1.0, target_update_freq=500)


def evaluate(args: argparse.Namespace, learner: OffPolicyAlgorithm) -> str:
    """The learner's mean reward among random players, in every seat in turn, and its share of wins."""
    rewards, wins = [], []
    for seat in range(args.players):
        env = make_env(args)
        tables = DummyVectorEnv([lambda: make_env(args) for _ in range(min(args.tables, args.matches))])
        tables.seed([args.seed + 1_000_000 * (seat + 1) + i for i in range(len(tables))])
        seats: list[OffPolicyAlgorithm] = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space) for _ in env.agents]
        seats[seat] = learner
        buffer = VectorReplayBuffer(5_000 * len(tables), len(tables))  # holds a whole match of each table
        collector = Collector(MultiAgentOffPolicyAlgorithm(algorithms=seats, env=env), tables, buffer)
        collector.reset()
        returns = collector.collect(n_episode=args.matches).returns
        best = returns == returns.max(axis=1, keepdims=True)
        rewards.append(returns[:, seat])
        wins.append(best[:, seat] / best.sum(axis=1))
    reward = np.concatenate(rewards)
    error = reward.std() / np.sqrt(len(reward))
    return f"{reward.mean():+.2f} points (standard error {error:.2f}), {np.mean(wins):.1%} of the wins, {len(reward)} matches"


def train(args: argparse.Namespace, learner: SeatDQN) -> None:
    """Collects with exploration that fades, and learns, ``args.steps`` decisions of all seats."""
    env = make_env(args)
    tables = DummyVectorEnv([lambda: make_env(args) for _ in range(args.tables)])
    tables.seed([args.seed + i for i in range(args.tables)])
    seats: list[OffPolicyAlgorithm] = [learner] * args.players
    if not args.self_play:
        seats[1:] = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space) for _ in range(args.players - 1)]
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=seats, env=env)
    # obs_next must be stored: SeatDQN reads in it who decides next.
    buffer = VectorReplayBuffer(min(args.steps, 50_000), args.tables, random_seed=args.seed)
    collector = Collector(algorithm, tables, buffer, exploration_noise=True)
    collector.reset()

    def explore(epoch: int, step: int) -> None:
        # eps_inference, because Tianshou tells only the policy of all seats that it is being trained, not the learner's.
        learner.policy.set_eps_inference(max(0.05, 1.0 - step / (0.5 * args.steps)))

    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            training_fn=explore,
            max_epochs=args.epochs,
            epoch_num_steps=args.steps // args.epochs,
            collection_step_num_env_steps=10 * args.tables,
            batch_size=64 * args.players,
            update_step_num_gradient_steps_per_sample=0.1,
            multi_agent_return_reduction=lambda returns: returns[:, 0],  # what is shown on the way: seat 0, exploring
        )
    )


def main() -> None:
    """Measures, trains, and measures again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="mitch_jp", choices=list(mitch_env.GAMES))
    parser.add_argument("--players", type=int, default=3)
    parser.add_argument("--self-play", action="store_true", help="the learner plays, and learns from, all seats")
    parser.add_argument("--steps", type=int, default=40_000, help="decisions of all seats to learn from")
    parser.add_argument("--epochs", type=int, default=5, help="lines of progress")
    parser.add_argument("--tables", type=int, default=16, help="tables side by side")
    parser.add_argument("--matches", type=int, default=200, help="matches of the measurement in each seat")
    parser.add_argument("--learning-rate", type=float, default=5e-4)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    logging.getLogger("tianshou").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)  # noqa: NPY002 - Tianshou draws from NumPy's global generator

    learner = make_learner(args, make_env(args))
    print("before:", evaluate(args, learner), flush=True)
    train(args, learner)
    print("after: ", evaluate(args, learner))


if __name__ == "__main__":
    main()
