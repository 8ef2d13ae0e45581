"""Trains one seat with sb3-contrib's MaskablePPO against fixed opponents, many tables stepped in one call.

    pip install -c constraints.txt -e ".[train]"
    python examples/sb3_maskable_ppo.py
    python examples/sb3_maskable_ppo.py --game mitchell --players 4 --options '{"rounds": 1}' --opponents rule --save model

Before and after, the policy (its best actions) plays the same matches against random players, and against the opponents that
it trains with. The return of a match is the learner's points less the mean of everybody's; winners of a match share one win.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # spinning threads crawl on a machine that is shared

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize
from tqdm import tqdm

import mitch_env
from mitch_env.adapters.sb3 import SB3VecEnv

#: What Gymnasium calls each game.
IDS = {game: f"mitch_env/{game.title().replace('_', '')}-v0" for game in mitch_env.GAMES}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--game", default="mitch_jp", choices=IDS)
    made.add_argument("--players", type=int, default=3)
    made.add_argument("--options", type=json.loads, default={}, metavar="JSON", help="other rules by name")
    made.add_argument("--opponents", default="random", help="random, rule, policy:FILE, package.module:Class (%(default)s)")
    made.add_argument("--num-envs", type=int, default=256, help="tables (%(default)s)")
    made.add_argument("--timesteps", type=int, default=300_000, help="the learner's decisions in training (%(default)s)")
    made.add_argument("--n-steps", type=int, default=64, help="decisions at each table between updates (%(default)s)")
    made.add_argument("--matches", type=int, default=2048, help="matches of each measurement (%(default)s)")
    made.add_argument("--threads", type=int, default=2, help="threads of torch (%(default)s)")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--save", metavar="FILE", help="where to save the model")
    return made


def make_tables(args: argparse.Namespace, n: int, opponents: str, reward: str) -> VecMonitor:
    """Tables, with the episode statistics that SB3 logs and evaluates by."""
    rules = {"players": args.players, **args.options}
    return VecMonitor(SB3VecEnv(gymnasium.make_vec(IDS[args.game], num_envs=n, opponents=opponents, reward=reward, **rules)))


class Progress(BaseCallback):
    """A bar with the mean return of the last 100 matches of training."""

    def __init__(self, total: int) -> None:
        super().__init__()
        self.bar = tqdm(total=total, unit="dec", unit_scale=True, desc="training")

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.bar.update(self.num_timesteps - self.bar.n)
        if self.model.ep_info_buffer:
            self.bar.set_postfix_str(f"return {np.mean([one['r'] for one in self.model.ep_info_buffer]):+.2f}")

    def _on_training_end(self) -> None:
        self.bar.close()


def measure(model: MaskablePPO, args: argparse.Namespace, when: str) -> None:
    """Plays matches and prints what came of them; the same seed makes the same matches whatever is paid for them."""
    for opponents in dict.fromkeys(["random", args.opponents]):
        returns: dict[str, np.ndarray] = {}
        for reward in ("relative", "outcome"):
            env = make_tables(args, min(args.num_envs, args.matches), opponents, reward)
            env.seed(args.seed + 1_000_000)
            returns[reward] = np.array(evaluate_policy(model, env, args.matches, return_episode_rewards=True)[0])
        wins = np.maximum(returns["outcome"], 0.0)  # winners share +1, the others -1
        shown = [(one.mean(), 1.96 * one.std() / len(one) ** 0.5) for one in (returns["relative"], wins)]
        print(f"{when} training, against {opponents}, {len(wins)} matches (± 95 %): ", end="")
        print("return {:+.2f} ± {:.2f}, win share {:.3f} ± {:.3f}".format(*shown[0], *shown[1]), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, trains, measures again."""
    args = parser().parse_args(arguments)
    torch.set_num_threads(args.threads)
    env = VecNormalize(make_tables(args, args.num_envs, args.opponents, "relative"), norm_obs=False, gamma=1.0)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=lambda left: 1e-3 * left,
        n_steps=args.n_steps,
        batch_size=min(2048, args.n_steps * args.num_envs),
        n_epochs=4,
        gamma=1.0,  # a match is short, and its points count the same whenever they are scored
        ent_coef=0.01,
        policy_kwargs={"net_arch": [256, 256], "activation_fn": torch.nn.ReLU},
        seed=args.seed,
        device="cpu",
    )
    measure(model, args, "before")
    model.learn(args.timesteps, callback=Progress(args.timesteps))
    measure(model, args, "after")
    if args.save:
        model.save(args.save)


if __name__ == "__main__":
    main()
