"""PPO with masks in one file, in the manner of CleanRL: to be read from top to bottom, copied and changed.

    pip install -c constraints.txt -e ".[train]"
    python examples/cleanrl_ppo.py
    python examples/cleanrl_ppo.py --game mitchell --players 4 --options '{"rounds": 1}' --opponents rule --tensorboard runs/one

One seat learns, at `num_envs` tables that are stepped in one call; the others are played by `opponents`. Before and after the
training the policy (its most probable actions) plays the same matches against random players, and against those opponents.

What a window of training reports (to the progress bar in part, with --tensorboard all of it):

- charts/return: mean return of the matches that ended in the window: the learner's points less the mean of everybody's
- charts/length: decisions of the learner in them
- charts/decisions_per_second: the learner's decisions, over all of the training so far
- charts/learning_rate: Adam's step size
- losses/policy: the clipped surrogate, whose value says little: advantages are normalised
- losses/value: squared error of the value, of returns divided by `reward_scale`
- losses/entropy: of the policy over the legal actions, in nats; 0 where only one is legal, and low when it has made up its mind
- losses/approx_kl: how far an update moved the policy, the mean of (r - 1) - ln r; 0.01 to 0.02 is usual
- losses/clip_fraction: share of the decisions whose probability moved by more than `clip`
- losses/explained_variance: share of the variance of the returns that the values foresaw; 1 is all, 0 as good as a constant
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import itertools
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # spinning threads crawl on a machine that is shared

import gymnasium
import numpy as np
import torch
from gymnasium.vector import VectorEnv
from torch import nn
from torch.distributions import Categorical
from tqdm import tqdm

import mitch_env  # registers the games with Gymnasium

#: What Gymnasium calls each game.
IDS = {game: f"mitch_env/{game.title().replace('_', '')}-v0" for game in mitch_env.GAMES}


@dataclass
class Args:
    """The settings; each field is an option of the command line, and the text below it is its help."""

    game: str = "mitch_jp"
    """mitch_jp, mitch_ru, mitch_original or mitchell"""
    players: int = 3
    """players at a table, the learner included"""
    options: str = "{}"
    """other rules by name, as JSON"""
    opponents: str = "random"
    """who plays the other seats: random, rule, policy:FILE or package.module:Class"""
    seed: int = 1
    """of matches, weights and decisions"""
    total_timesteps: int = 500_000
    """the learner's decisions in training, rounded down to whole windows, one at least"""
    num_envs: int = 256
    """tables played side by side"""
    num_steps: int = 64
    """decisions at each table between updates: a window"""
    learning_rate: float = 1e-3
    """Adam's step size at the start"""
    anneal_lr: bool = True
    """whether the step size falls to 0 along a line"""
    gamma: float = 1.0
    """discount for each decision of the learner; a match is short, and its points count alike whenever they are scored"""
    gae_lambda: float = 0.95
    """lambda of generalised advantage estimation"""
    update_epochs: int = 4
    """passes over the decisions of a window"""
    minibatch_size: int = 2048
    """decisions in a gradient step"""
    clip: float = 0.2
    """by how much an update may change a decision's probability before its gradient is cut"""
    entropy_weight: float = 0.01
    """weight of the entropy bonus"""
    value_weight: float = 0.5
    """weight of the value loss"""
    max_grad_norm: float = 0.5
    """gradients are scaled down to this norm"""
    reward_scale: float = 8.0
    """rewards are divided by it, so that values are about as large as 1"""
    width: int = 256
    """units in each hidden layer"""
    matches: int = 2048
    """matches of each measurement"""
    threads: int = 2
    """threads of torch"""
    tensorboard: str = ""
    """folder for TensorBoard's files; none are written if empty"""
    save: str = ""
    """file for the weights; none is written if empty"""


def parser() -> argparse.ArgumentParser:
    """The command line: an option for each field of `Args`."""
    lines = ast.parse(inspect.getsource(Args)).body[0].body  # type: ignore[attr-defined]
    docs = {line.target.id: doc.value.value for line, doc in itertools.pairwise(lines) if isinstance(line, ast.AnnAssign)}
    made = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    for field in dataclasses.fields(Args):
        kind = type(field.default)
        how = {"action": argparse.BooleanOptionalAction} if kind is bool else {"type": kind}
        made.add_argument(f"--{field.name.replace('_', '-')}", default=field.default, help=docs[field.name], **how)
    return made


def make_tables(args: Args, opponents: str, n: int, reward: str) -> VectorEnv:
    """The tables of one seat each that learns; a finished match is followed by the next one in the same step (SAME_STEP)."""
    rules = {"players": args.players, **json.loads(args.options)}
    return gymnasium.make_vec(
        IDS[args.game], num_envs=n, vectorization_mode="vector_entry_point", opponents=opponents, reward=reward, **rules
    )


def masked(logits: torch.Tensor, mask: torch.Tensor) -> Categorical:
    """The distribution over the legal actions: the others have probability 0."""
    return Categorical(logits=logits.masked_fill(~mask, torch.finfo(logits.dtype).min))


def layer(n_in: int, n_out: int, gain: float = 2**0.5) -> nn.Linear:
    """A linear layer with orthogonal weights and no bias at first."""
    made = nn.Linear(n_in, n_out)
    nn.init.orthogonal_(made.weight, gain)
    nn.init.zeros_(made.bias)
    return made


class Agent(nn.Module):
    """A network for the policy and one for the value."""

    def __init__(self, envs: VectorEnv, width: int) -> None:
        super().__init__()
        size, n_actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
        self.actor = nn.Sequential(
            layer(size, width), nn.ReLU(), layer(width, width), nn.ReLU(), layer(width, n_actions, gain=0.01)
        )
        self.critic = nn.Sequential(layer(size, width), nn.ReLU(), layer(width, width), nn.ReLU(), layer(width, 1, gain=1.0))

    def value(self, observations: torch.Tensor) -> torch.Tensor:
        """What the learner may still expect to be paid: float[...]."""
        return self.critic(observations).squeeze(-1)

    def policy(self, observations: torch.Tensor, masks: torch.Tensor) -> Categorical:
        """What it does."""
        return masked(self.actor(observations), masks)


def advantages_of(
    rewards: torch.Tensor,
    values: torch.Tensor,
    dones: torch.Tensor,
    final_values: torch.Tensor,
    next_values: torch.Tensor,
    gamma: float,
    gae_lambda: float,
) -> torch.Tensor:
    """Generalised advantage estimates (Schulman et al. 2016, equation 16).

    With SAME_STEP the observation after the last step of a match belongs to the next match, so its value is not what follows
    there: nothing does if the match terminated, and if it was truncated, the value of its own last observation.

    Args:
        rewards: float[steps, n].
        values: float[steps, n], of the observations that the steps were taken from.
        dones: bool[steps, n], whether the match ended with the step.
        final_values: float[steps, n], of the last observation of a match that the step truncated; 0 elsewhere.
        next_values: float[n], of the observations after the last step.
        gamma: Discount.
        gae_lambda: Lambda.
    """
    advantages = torch.zeros_like(rewards)
    advantage = torch.zeros_like(next_values)
    for t in reversed(range(len(rewards))):
        following = torch.where(dones[t], final_values[t], next_values)
        advantage = rewards[t] + gamma * following - values[t] + gamma * gae_lambda * advantage * ~dones[t]
        advantages[t], next_values = advantage, values[t]
    return advantages


@torch.no_grad()
def play(agent: Agent, args: Args, opponents: str, reward: str) -> np.ndarray:
    """The returns of matches in which the agent plays its most probable actions: float64[matches].

    Every table plays the same number of matches: taking those that end first would favour short ones.
    """
    n = min(args.num_envs, args.matches)
    envs = make_tables(args, opponents, n, reward)
    observations, infos = envs.reset(seed=args.seed + 1_000_000)
    running, returns, each = np.zeros(n), [[] for _ in range(n)], args.matches // n  # type: ignore[var-annotated]
    while min(map(len, returns)) < each:
        policy = agent.policy(torch.as_tensor(observations), torch.as_tensor(infos["action_mask"]))
        observations, rewards, terminated, truncated, infos = envs.step(policy.logits.argmax(-1).numpy())
        running += rewards
        for row in np.flatnonzero(terminated | truncated):
            returns[row].append(running[row])
            running[row] = 0.0
    envs.close()
    return np.array([one for row in returns for one in row[:each]])


def measure(agent: Agent, args: Args, when: str) -> None:
    """Plays matches and prints what came of them; the same seed makes the same matches whatever is paid for them."""
    for opponents in dict.fromkeys(["random", args.opponents]):
        returns = play(agent, args, opponents, "relative")
        wins = np.maximum(play(agent, args, opponents, "outcome"), 0.0)  # winners share +1, the others -1
        shown = [(one.mean(), 1.96 * one.std() / len(one) ** 0.5) for one in (returns, wins)]
        print(f"{when} training, against {opponents}, {len(wins)} matches (± 95 %): ", end="")
        print("return {:+.2f} ± {:.2f}, win share {:.3f} ± {:.3f}".format(*shown[0], *shown[1]), flush=True)


class Window:
    """What the last `num_steps` decisions at each table were: tensors [steps, n, ...], written over by each window."""

    def __init__(self, envs: VectorEnv, steps: int) -> None:
        shape, n_actions = (steps, envs.num_envs), int(envs.single_action_space.n)
        self.observations = torch.zeros(*shape, envs.single_observation_space.shape[0])
        self.masks = torch.zeros(*shape, n_actions, dtype=torch.bool)
        self.actions = torch.zeros(shape, dtype=torch.long)
        self.log_probs, self.values, self.rewards, self.final_values = (torch.zeros(shape) for _ in range(4))
        self.dones = torch.zeros(shape, dtype=torch.bool)


class Collector:
    """Plays windows; the matches that are under way go on in the next one.

    Attributes:
        returns: The returns of the matches that ended since they were looked at last, as the game counts them.
        lengths: The learner's decisions in them.
    """

    def __init__(self, args: Args) -> None:
        self.envs = make_tables(args, args.opponents, args.num_envs, "relative")
        self.scale = args.reward_scale
        self.observations, self.infos = self.envs.reset(seed=args.seed)
        self.running_return, self.running_length = np.zeros(args.num_envs), np.zeros(args.num_envs, np.int64)
        self.returns: list[float] = []
        self.lengths: list[int] = []

    @torch.no_grad()
    def collect(self, agent: Agent, window: Window) -> torch.Tensor:
        """Fills a window, and returns the values of the observations after its last step: float[n]."""
        for t in range(len(window.rewards)):
            observations, masks = torch.as_tensor(self.observations), torch.as_tensor(self.infos["action_mask"])
            policy = agent.policy(observations, masks)
            actions = policy.sample()
            window.observations[t], window.masks[t], window.actions[t] = observations, masks, actions
            window.log_probs[t], window.values[t] = policy.log_prob(actions), agent.value(observations)

            self.observations, rewards, terminated, truncated, self.infos = self.envs.step(actions.numpy())
            window.rewards[t] = torch.as_tensor(rewards / self.scale)
            window.dones[t] = torch.as_tensor(terminated | truncated)
            window.final_values[t] = 0.0
            if truncated.any():
                last = np.stack(list(self.infos["final_obs"][truncated]))
                window.final_values[t, torch.as_tensor(truncated)] = agent.value(torch.as_tensor(last))
            self._count(rewards, terminated | truncated)
        return agent.value(torch.as_tensor(self.observations))

    def _count(self, rewards: np.ndarray, dones: np.ndarray) -> None:
        self.running_return += rewards
        self.running_length += 1
        self.returns += self.running_return[dones].tolist()
        self.lengths += self.running_length[dones].tolist()
        self.running_return[dones] = 0.0
        self.running_length[dones] = 0


def update(
    agent: Agent, optimizer: torch.optim.Optimizer, window: Window, advantages: torch.Tensor, args: Args
) -> dict[str, float]:
    """Several epochs of PPO (Schulman et al. 2017, equation 9) over a window; returns the means of what it logs."""
    observations, masks = window.observations.flatten(0, 1), window.masks.flatten(0, 1)
    actions, old_log_probs, advantages = window.actions.flatten(), window.log_probs.flatten(), advantages.flatten()
    returns = advantages + window.values.flatten()
    logs: list[dict[str, torch.Tensor]] = []
    for _ in range(args.update_epochs):
        for rows in torch.randperm(len(actions)).split(args.minibatch_size):
            policy = agent.policy(observations[rows], masks[rows])
            log_ratio = policy.log_prob(actions[rows]) - old_log_probs[rows]
            ratio = log_ratio.exp()
            gain = (advantages[rows] - advantages[rows].mean()) / (advantages[rows].std(correction=0) + 1e-8)
            policy_loss = -torch.min(gain * ratio, gain * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
            value_loss = (agent.value(observations[rows]) - returns[rows]).square().mean()
            entropy = policy.entropy().mean()

            optimizer.zero_grad()
            (policy_loss + args.value_weight * value_loss - args.entropy_weight * entropy).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()

            kl = (ratio - 1 - log_ratio).mean()
            cut = ((ratio - 1).abs() > args.clip).float().mean()
            log = {"policy": policy_loss, "value": value_loss, "entropy": entropy, "approx_kl": kl, "clip_fraction": cut}
            logs.append({name: value.detach() for name, value in log.items()})
    means = {f"losses/{name}": float(torch.stack([log[name] for log in logs]).mean()) for name in logs[0]}
    return means | {"losses/explained_variance": float(1 - advantages.var() / returns.var())}


def train(args: Args) -> Agent:
    """Measures, trains, measures again."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    collector = Collector(args)
    agent = Agent(collector.envs, args.width)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    window = Window(collector.envs, args.num_steps)
    writer = make_writer(args)
    measure(agent, args, "before")

    per_window = args.num_envs * args.num_steps
    n_windows = max(1, args.total_timesteps // per_window)
    started = time.monotonic()
    with tqdm(total=n_windows * per_window, unit="dec", unit_scale=True, desc="training") as bar:
        for i in range(n_windows):
            lr = args.learning_rate * (1 - i / n_windows if args.anneal_lr else 1)
            optimizer.param_groups[0]["lr"] = lr
            next_values = collector.collect(agent, window)
            advantages = advantages_of(
                window.rewards, window.values, window.dones, window.final_values, next_values, args.gamma, args.gae_lambda
            )
            log = update(agent, optimizer, window, advantages, args)
            bar.update(per_window)
            log |= {"charts/decisions_per_second": bar.n / (time.monotonic() - started), "charts/learning_rate": lr}
            if collector.returns:
                log |= {"charts/return": float(np.mean(collector.returns)), "charts/length": float(np.mean(collector.lengths))}
                collector.returns, collector.lengths = [], []
                bar.set_postfix_str(f"return {log['charts/return']:+.2f}, entropy {log['losses/entropy']:.2f}")
            for name, value in log.items() if writer else ():
                writer.add_scalar(name, value, bar.n)
    collector.envs.close()
    if writer:
        writer.close()
    measure(agent, args, "after")
    if args.save:
        torch.save(agent.state_dict(), args.save)
    return agent


def make_writer(args: Args) -> Any:
    """TensorBoard's writer, or None if it is not asked for."""
    if not args.tensorboard:
        return None
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(args.tensorboard)
    writer.add_text("settings", "\n".join(f"    {name}: {value}" for name, value in dataclasses.asdict(args).items()))
    return writer


def main(arguments: Sequence[str] | None = None) -> Agent:
    """Reads the command line and trains."""
    return train(Args(**vars(parser().parse_args(arguments))))


if __name__ == "__main__":
    main()
