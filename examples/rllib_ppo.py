"""Trains one policy for all seats of a game with RLlib's PPO, restores it, and measures it against random players.

RLlib is on its new API stack here: an env runner collects whole matches, ``ActionMaskingTorchRLModule`` gives illegal actions
no probability, and one module plays every seat. ``ray[rllib]`` pins a version of Gymnasium: give it an environment of its own.

    pip install -c constraints-rllib.txt -e . "ray[rllib]" torch
    python examples/rllib_ppo.py --game mitch_jp --iterations 40
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import ray
import torch
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModule, RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from mitch_env import GAMES, Batch
from mitch_env.adapters.rllib import RLlibEnv


def ppo_config(env_config: dict[str, Any], decisions: int, seed: int) -> PPOConfig:
    """PPO with one policy for all seats; everything runs in this process."""
    return (
        PPOConfig()
        .api_stack(enable_rl_module_and_learner=True, enable_env_runner_and_connector_v2=True)
        .environment(RLlibEnv, env_config=env_config)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8, batch_mode="complete_episodes")
        .learners(num_learners=0)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **kwargs: "shared")
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=ActionMaskingTorchRLModule,
                model_config={"head_fcnet_hiddens": [128, 128], "head_fcnet_activation": "relu"},
            )
        )
        .training(
            train_batch_size_per_learner=decisions,
            minibatch_size=min(256, decisions),
            num_epochs=4,
            lr=1e-3,
            gamma=1.0,
            entropy_coeff=0.01,
            vf_clip_param=1e6,  # of squared errors: the default cuts most of what a match pays
            grad_clip=0.5,
        )
        .debugging(seed=seed, log_level="ERROR")
    )


def best_actions(module: RLModule, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The most probable action of each row."""
    seen = {"observations": torch.from_numpy(observation), "action_mask": torch.from_numpy(mask.astype(np.float32))}
    with torch.no_grad():
        logits = module.forward_inference({"obs": seen})["action_dist_inputs"]
    return logits.argmax(1).numpy()


def against_random(module: RLModule, env_config: dict[str, Any], matches: int, seed: int) -> tuple[float, float]:
    """One seat is the module's, all others play at random: its share of wins, and its points above the table's mean."""
    settings = {name: value for name, value in env_config.items() if name != "reward"}
    batch = Batch(settings.pop("game"), matches, seed=seed, **settings)
    players = batch.reward.shape[1]
    seat = np.arange(matches) % players
    points = np.zeros((matches, players))
    rows = np.arange(matches)
    while len(rows):  # each table plays one match
        actions = batch.random_actions(rows).copy()
        mine = batch.actor[rows] == seat[rows]
        if mine.any():
            actions[mine] = best_actions(module, batch.observation[rows[mine]], batch.mask[rows[mine]])
        batch.step(actions, rows)
        points[rows] += batch.reward[rows]
        rows = rows[~(batch.terminated[rows] | batch.truncated[rows])]
    won = points == points.max(1, keepdims=True)
    share = won / won.sum(1, keepdims=True)
    own = np.arange(matches), seat
    return float(share[own].mean()), float((points[own] - points.mean(1)).mean())


def report(when: str, module: RLModule, env_config: dict[str, Any], args: argparse.Namespace) -> None:
    """Prints how the module does at one seat, with random players at the others."""
    share, points = against_random(module, env_config, args.matches, args.seed + 1)
    print(
        f"{when}: wins {share:.1%} of {args.matches} matches against random players, {points:+.2f} points a match", flush=True
    )


def main() -> None:
    """Trains, with a line every few iterations, and compares before and after."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", choices=GAMES, default="mitch_jp")
    parser.add_argument("--players", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=40, help="updates of the policy")
    parser.add_argument("--decisions", type=int, default=1000, help="decisions that are collected for each, at least")
    parser.add_argument("--matches", type=int, default=600, help="matches against random players, before and after")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="folder for the checkpoint; by default it is thrown away")
    args = parser.parse_args()

    env_config = {"game": args.game, "players": args.players, "reward": "relative"}
    env_config |= {"rounds": 1} if args.game == "mitchell" else {"deals": 1}
    torch.set_num_threads(1)  # the networks are small
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100_000_000, logging_level="error")
    algorithm = ppo_config(env_config, args.decisions, args.seed).build_algo()
    report("before", algorithm.get_module("shared"), env_config, args)
    start = time.perf_counter()
    for iteration in range(1, args.iterations + 1):
        result = algorithm.train()
        if iteration % 5 == 0 or iteration == args.iterations:
            length = result["env_runners"]["episode_len_mean"]
            entropy = float(result["learners"]["shared"]["entropy"])
            sampled = int(result["num_env_steps_sampled_lifetime"])
            seconds = time.perf_counter() - start
            print(
                f"{iteration:4} {sampled:8} decisions, {length:5.1f} a match, entropy {entropy:.2f}, {seconds:.0f} s",
                flush=True,
            )

    with tempfile.TemporaryDirectory() as scratch:
        checkpoint = algorithm.save_to_path((args.out or Path(scratch)).absolute())
        algorithm.stop()
        restored = Algorithm.from_checkpoint(checkpoint)
        report("after", restored.get_module("shared"), env_config, args)
        restored.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
