"""PPO with TorchRL: self-play, one network in all seats.

Install what it needs with ``pip install -c constraints.txt -e ".[train,clients]"``, then run
``python examples/torchrl_ppo.py``. ``--help`` lists the arguments.

TorchRL's wrapper has a row for every seat at every step; ``mask`` tells who was to act. Each seat learns from its own
decisions alone, and a decision is followed by the same seat's next one, with all that it was paid in between.
Before and after, the policy plays against random players, its best action and not a drawn one: as many matches in each seat.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import torch
from tensordict import TensorDict, TensorDictBase
from tensordict.nn import TensorDictModule
from torch import nn
from torch.nn import functional
from torchrl.collectors import Collector
from torchrl.envs import EnvBase, MarlGroupMapType, PettingZooWrapper, RewardScaling, TransformedEnv
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE
from tqdm import tqdm

import mitch_env

GROUP = "agents"  # the name that ALL_IN_ONE_GROUP gives
SEEN = (GROUP, "observation", "observation")
SCALES = {"mitch_jp": 8, "mitch_ru": 1, "mitch_original": 8, "mitchell": 200}  # about what a deal decides, in points


def make_env(args: argparse.Namespace) -> mitch_env.TableEnv:
    """One table. One deal is a match; what is paid is relative to the mean over the seats."""
    short = {"rounds": 1} if args.game == "mitchell" else {"deals": 1}
    return mitch_env.make(args.game, players=args.players, reward="relative", **short)


def make_wrapped(args: argparse.Namespace) -> EnvBase:
    """The same for TorchRL, all seats in one group: tensors are [steps, seats, ...]."""
    env = PettingZooWrapper(make_env(args), use_mask=True, group_map=MarlGroupMapType.ALL_IN_ONE_GROUP)
    return TransformedEnv(env, RewardScaling(loc=0.0, scale=1 / SCALES[args.game], in_keys=[(GROUP, "reward")]))


def mlp(inputs: int, outputs: int, gain: float) -> nn.Sequential:
    """Two hidden layers; a small gain in the last one makes the first policy nearly uniform."""
    net = nn.Sequential(nn.Linear(inputs, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, outputs))
    nn.init.orthogonal_(net[-1].weight, gain)
    return net


def make_actor(env: EnvBase) -> ProbabilisticActor:
    """Draws from the legal actions only. Rows of seats that are not to act get an action too; the wrapper ignores it."""
    n_actions = env.action_spec[GROUP, "action"].space.n
    net = mlp(env.observation_spec[SEEN].shape[-1], n_actions, 0.01)
    return ProbabilisticActor(
        TensorDictModule(net, in_keys=[SEEN], out_keys=[(GROUP, "logits")]),
        in_keys={"logits": (GROUP, "logits"), "mask": (GROUP, "action_mask")},
        out_keys=[(GROUP, "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=(GROUP, "log_prob"),
    )


def evaluate(args: argparse.Namespace, actor: ProbabilisticActor) -> str:
    """The policy's mean reward as one among random players, in every seat in turn, and its share of wins."""
    env, rng = make_env(args), np.random.default_rng(args.seed)
    rewards, wins = [], []
    for match in range(args.matches * args.players):
        env.reset(seed=1_000_000 + match)
        ours = env.possible_agents[match % args.players]
        score = dict.fromkeys(env.possible_agents, 0.0)
        while not env.terminations[env.agent_selection]:
            seen = env.observe(env.agent_selection)
            action = rng.choice(np.flatnonzero(seen["action_mask"]))
            if env.agent_selection == ours:
                with torch.no_grad():
                    logits = actor[0].module(torch.from_numpy(seen["observation"]))
                action = logits.masked_fill(torch.from_numpy(seen["action_mask"] == 0), -torch.inf).argmax()
            env.step(int(action))
            score = {agent: score[agent] + env.rewards[agent] for agent in score}
        best = [agent for agent in score if score[agent] == max(score.values())]
        rewards.append(score[ours])
        wins.append((ours in best) / len(best))
    error = np.std(rewards) / np.sqrt(len(rewards))
    return (
        f"{np.mean(rewards):+.2f} points (standard error {error:.2f}), {np.mean(wins):.1%} of the wins, {len(rewards)} matches"
    )


def own_decisions(window: TensorDictBase, seat: int) -> TensorDict:
    """A seat's decisions in a window, one after another, whatever happened at the table in between.

    ``next`` holds the same seat's next decision, all that it was paid until then, and whether the match ended before. The
    last decision is left out if the match goes on: what comes of it is not known yet.
    """
    seats = window[GROUP][:, seat]
    at = seats["mask"].nonzero().squeeze(-1)
    until = torch.cat([at, torch.tensor([len(window)])])[1:]
    paid = functional.pad(window["next", GROUP, "reward"][:, seat].cumsum(0), (0, 0, 1, 0))
    ended = functional.pad(window["next", "done"].long().cumsum(0), (0, 0, 1, 0))
    done = ended[until] > ended[at]
    after = seats[until.clamp(max=len(window) - 1)].select("observation")
    after.update({"reward": paid[until] - paid[at], "done": done, "terminated": done})
    chain = TensorDict({GROUP: seats[at], "next": TensorDict({GROUP: after}, after.batch_size)}, after.batch_size)
    return chain if len(done) == 0 or done[-1] else chain[:-1]


def train(args: argparse.Namespace, actor: ProbabilisticActor, env: EnvBase) -> None:
    """Self-play: ``args.steps`` decisions of all seats."""
    critic = ValueOperator(mlp(env.observation_spec[SEEN].shape[-1], 1, 1.0), in_keys=[SEEN], out_keys=[(GROUP, "state_value")])
    loss_module = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=args.entropy, normalize_advantage=True)
    own = {key: (GROUP, key) for key in ("reward", "done", "terminated", "advantage", "value_target")}
    advantages = GAE(gamma=1.0, lmbda=args.lmbda, value_network=critic)
    advantages.set_keys(value=(GROUP, "state_value"), **own)
    loss_module.set_keys(action=(GROUP, "action"), sample_log_prob=(GROUP, "log_prob"), value=(GROUP, "state_value"), **own)
    optimizer = torch.optim.Adam(loss_module.parameters(), lr=args.learning_rate)
    env.set_seed(args.seed)
    # auto_register_policy_transforms: would add what recurrent policies need.
    collector = Collector(
        env, actor, frames_per_batch=args.window, total_frames=args.steps, auto_register_policy_transforms=False
    )
    bar = tqdm(total=args.steps, unit=" decisions")
    for window in collector:
        with torch.no_grad():
            decisions = torch.cat([advantages(own_decisions(window, seat)) for seat in range(args.players)])
        for _ in range(args.epochs):
            for rows in torch.randperm(len(decisions)).split(256):
                losses = loss_module(decisions[rows])
                loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(loss_module.parameters(), 0.5)
                optimizer.step()
        bar.update(window.numel())
        bar.set_postfix(entropy=f"{losses['entropy'].item():.2f}", value_loss=f"{losses['loss_critic'].item():.3f}")
    bar.close()
    collector.shutdown()


def main() -> None:
    """Measures, trains, and measures again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="mitch_jp", choices=list(mitch_env.GAMES))
    parser.add_argument("--players", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20_000, help="decisions of all seats to learn from")
    parser.add_argument("--window", type=int, default=1_000, help="decisions between updates")
    parser.add_argument("--epochs", type=int, default=4, help="passes over a window")
    parser.add_argument("--matches", type=int, default=200, help="matches of the measurement in each seat")
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--entropy", type=float, default=0.01)
    parser.add_argument("--lmbda", type=float, default=0.95, help="of the advantages")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    warnings.filterwarnings("ignore", message="PettingZoo in TorchRL is tested")
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)

    env = make_wrapped(args)
    actor = make_actor(env)
    print("before:", evaluate(args, actor), flush=True)
    train(args, actor, env)
    print("after: ", evaluate(args, actor))


if __name__ == "__main__":
    main()
