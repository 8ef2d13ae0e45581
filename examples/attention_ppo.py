"""PPO with masks on tokens: attention over the cards and facts of a table, in one file to be copied and changed.

    pip install -c constraints.txt -e ".[train]"
    python examples/attention_ppo.py
    python examples/attention_ppo.py --game mitchell --options '{"rounds": 1}' --opponents rule --layers 1

With `observation="tokens"` a table is a set: a row [block, seat, entry] and a value for everything that is not 0, then rows
of zeros. Each token becomes a vector; learned queries look for what they need among the tokens, and what they find goes to the
policy and to the value. `examples/cleanrl_ppo.py` learns from the flat observation, and says more about PPO itself.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # spinning threads crawl on a machine that is shared

import gymnasium
import numpy as np
import torch
from gymnasium.vector import VectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from torch import Tensor, nn
from torch.distributions import Categorical
from tqdm import tqdm

import mitch_env  # registers the games with Gymnasium

#: What Gymnasium calls each game.
IDS = {game: f"mitch_env/{game.title().replace('_', '')}-v0" for game in mitch_env.GAMES}


def option(default: Any, text: str) -> Any:
    """A setting with its help."""
    return dataclasses.field(default=default, metadata={"help": text})


@dataclass
class Args:
    """The settings; each is an option of the command line."""

    game: str = option("mitch_jp", "mitch_jp, mitch_ru, mitch_original or mitchell")
    players: int = option(3, "players at a table, the learner included")
    options: str = option("{}", "other rules by name, as JSON")
    opponents: str = option("random", "who plays the other seats: random, rule, policy:FILE or package.module:Class")
    seed: int = option(1, "of matches, weights and decisions")
    total_timesteps: int = option(65_536, "the learner's decisions in training, rounded down to whole windows, one at least")
    num_envs: int = option(128, "tables played side by side")
    num_steps: int = option(32, "decisions at each table between updates: a window")
    learning_rate: float = option(1e-3, "Adam's step size at the start; it falls to 0 along a line")
    gae_lambda: float = option(0.95, "lambda of generalised advantage estimation, without a discount: a match is short")
    update_epochs: int = option(4, "passes over the decisions of a window")
    minibatch_size: int = option(512, "decisions in a gradient step")
    clip: float = option(0.2, "by how much an update may change a decision's probability before its gradient is cut")
    entropy_weight: float = option(0.01, "weight of the entropy bonus")
    reward_scale: float = option(8.0, "rewards are divided by it, so that values are about as large as 1")
    width: int = option(64, "size of a token's vector")
    heads: int = option(4, "heads of each attention")
    queries: int = option(8, "learned queries")
    layers: int = option(0, "transformer layers among the tokens before they are asked; each costs a lot of time")
    matches: int = option(512, "matches of each measurement")
    threads: int = option(2, "threads of torch")


def make_tables(args: Args, n: int, reward: str) -> VectorEnv:
    """One seat learns at each table; a finished match is followed by the next one in the same step (SAME_STEP)."""
    settings = {"players": args.players, **json.loads(args.options), "opponents": args.opponents, "reward": reward}
    settings |= {"vectorization_mode": "vector_entry_point", "observation": "tokens"}
    return gymnasium.make_vec(IDS[args.game], num_envs=n, **settings)


class Agent(nn.Module):
    """The policy and the value, from tokens."""

    def __init__(self, envs: VectorEnv, args: Args) -> None:
        super().__init__()
        width, most = args.width, envs.single_observation_space["tokens"].high[0]
        self.tables = nn.ModuleList(nn.Embedding(int(n) + 1, width) for n in most)
        self.amount = nn.Linear(1, width)
        self.token = nn.Sequential(nn.ReLU(), nn.Linear(width, width))
        layers = [nn.TransformerEncoderLayer(width, args.heads, 2 * width, 0.0, batch_first=True) for _ in range(args.layers)]
        self.layers = nn.ModuleList(layers)
        self.queries = nn.Parameter(torch.randn(args.queries, width))
        self.ask = nn.MultiheadAttention(width, args.heads, batch_first=True)
        self.hidden = nn.Sequential(nn.Flatten(), nn.Linear(args.queries * width, 256), nn.ReLU())
        self.actor, self.critic = nn.Linear(256, int(envs.single_action_space.n)), nn.Linear(256, 1)
        nn.init.orthogonal_(self.actor.weight, 0.01)

    def forward(self, tokens: Tensor, amounts: Tensor, mask: Tensor) -> tuple[Categorical, Tensor]:
        """What the learner does, and what it may still expect to be paid (float[n]).

        Args:
            tokens: int32[n, most, 3].
            amounts: float32[n, most].
            mask: bool[n, actions], what is legal: all else has probability 0.
        """
        longest = int((tokens[..., 0] > 0).sum(1).max())  # what is cropped is padding in every row
        tokens, amounts = tokens[:, :longest], amounts[:, :longest]
        is_padding = tokens[..., 0] == 0
        vectors = self.token(
            self.amount(amounts[..., None]) + sum(table(tokens[..., i]) for i, table in enumerate(self.tables))
        )
        for layer in self.layers:
            vectors = layer(vectors, src_key_padding_mask=is_padding)
        queries = self.queries.expand(len(tokens), -1, -1)
        answers, _ = self.ask(queries, vectors, vectors, key_padding_mask=is_padding, need_weights=False)
        hidden = self.hidden(answers)
        logits = self.actor(hidden).masked_fill(~mask, torch.finfo(hidden.dtype).min)
        return Categorical(logits=logits), self.critic(hidden).squeeze(-1)


def shown(observation: dict[str, np.ndarray], mask: np.ndarray) -> list[Tensor]:
    """What the agent is given."""
    return [torch.as_tensor(one) for one in (observation["tokens"], observation["amounts"], mask)]


@torch.no_grad()
def measure(agent: Agent, args: Args, when: str) -> None:
    """Plays the most probable actions; each table plays equally many matches, as the first to end would be the short ones."""
    n, found = min(args.num_envs, args.matches), []
    for reward in ("relative", "outcome"):  # the same matches twice: points less everybody's mean; winners share +1
        envs = make_tables(args, n, reward)
        observation, infos = envs.reset(seed=args.seed + 1_000_000)
        paid: list[list[float]] = [[0.0] for _ in range(n)]
        while min(map(len, paid)) <= args.matches // n:
            policy, _ = agent(*shown(observation, infos["action_mask"]))
            observation, rewards, terminated, truncated, infos = envs.step(policy.logits.argmax(-1).numpy())
            for row in range(n):
                paid[row][-1] += rewards[row]
                paid[row] += [0.0] * int(terminated[row] | truncated[row])
        each = np.array([row[: args.matches // n] for row in paid])
        each = each if reward == "relative" else each.clip(0.0)
        found += [each.mean(), 1.96 * each.std() / each.size**0.5]
    print(f"{when} training, against {args.opponents}, {each.size} matches (± 95 %): ", end="")
    print("return {:+.2f} ± {:.2f}, win share {:.3f} ± {:.3f}".format(*found), flush=True)


@torch.no_grad()
def collect(agent: Agent, envs: VectorEnv, seen: list[Tensor], args: Args) -> tuple[list[Tensor], list[Tensor]]:
    """Plays a window. Returns what is seen after it, and its states, actions, log-probabilities, advantages, returns."""
    steps = []
    for _ in range(args.num_steps):
        policy, value = agent(*seen)
        action = policy.sample()
        observation, reward, terminated, truncated, infos = envs.step(action.numpy())
        final_value = torch.zeros(envs.num_envs)  # of the last observation of a match that was cut off; after others is nothing
        for row in np.flatnonzero(truncated):
            last = {name: array[None] for name, array in infos["final_obs"][row].items()}
            final_value[row] = agent(*shown(last, np.ones_like(infos["action_mask"][:1])))[1]
        paid, done = torch.as_tensor(reward, dtype=torch.float32), torch.as_tensor(terminated | truncated)
        steps.append((*seen, action, policy.log_prob(action), value, paid / args.reward_scale, done, final_value))
        seen = shown(observation, infos["action_mask"])
    *states, actions, log_probs, values, rewards, dones, final_values = (torch.stack(one) for one in zip(*steps, strict=True))
    advantages, advantage, next_value = torch.zeros_like(values), torch.zeros(envs.num_envs), agent(*seen)[1]
    for t in reversed(range(args.num_steps)):
        following = torch.where(dones[t], final_values[t], next_value)
        advantage = rewards[t] + following - values[t] + args.gae_lambda * advantage * ~dones[t]
        advantages[t], next_value = advantage, values[t]
    return seen, [one.flatten(0, 1) for one in (*states, actions, log_probs, advantages, advantages + values)]


def update(agent: Agent, optimizer: torch.optim.Optimizer, window: list[Tensor], args: Args) -> float:
    """Several epochs of PPO over a window; returns the mean entropy of the policy over legal actions, in nats."""
    entropies = []
    for _ in range(args.update_epochs):
        for rows in torch.randperm(len(window[0])).split(args.minibatch_size):
            *states, actions, old_log_probs, advantages, returns = (one[rows] for one in window)
            policy, values = agent(*states)
            ratio = (policy.log_prob(actions) - old_log_probs).exp()
            gain = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
            policy_loss = -torch.min(gain * ratio, gain * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
            value_loss, entropy = (values - returns).square().mean(), policy.entropy().mean()
            optimizer.zero_grad()
            (policy_loss + 0.5 * value_loss - args.entropy_weight * entropy).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
            entropies.append(entropy.item())
    return float(np.mean(entropies))


def main(arguments: Sequence[str] | None = None) -> Agent:
    """Measures, trains, measures again."""
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    for one in dataclasses.fields(Args):
        name = f"--{one.name.replace('_', '-')}"
        parser.add_argument(name, type=type(one.default), default=one.default, help=one.metadata["help"])
    args = Args(**vars(parser.parse_args(arguments)))
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    envs = RecordEpisodeStatistics(make_tables(args, args.num_envs, "relative"))
    agent = Agent(envs, args)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    measure(agent, args, "before")
    observation, infos = envs.reset(seed=args.seed)
    seen = shown(observation, infos["action_mask"])
    n_windows = max(1, args.total_timesteps // (args.num_envs * args.num_steps))
    with tqdm(total=n_windows * args.num_envs * args.num_steps, unit="dec", unit_scale=True, desc="training") as bar:
        for i in range(n_windows):
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - i / n_windows)
            seen, window = collect(agent, envs, seen, args)
            entropy = update(agent, optimizer, window, args)
            bar.update(args.num_envs * args.num_steps)
            if envs.return_queue:  # of the last 100 matches
                bar.set_postfix_str(f"return {np.mean(envs.return_queue):+.2f}, entropy {entropy:.2f}")
    measure(agent, args, "after")
    return agent


if __name__ == "__main__":
    main()
