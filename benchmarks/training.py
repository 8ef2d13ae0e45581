"""Decisions trained on a second: stock MaskablePPO policies next to ours, on the same tables, at equal width and epochs.

Contenders take turns, one window (collecting and updating) each time, so that a machine that slows down slows all of them.

Run ``python -m benchmarks.training --help``.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from benchmarks.throughput import versions
from mitch_env import get_game
from train.rollouts import SeatRolloutBuffer
from train.table_vec_env import TableVecEnv
from train.trunk_policy import TrunkPolicy


class SharedTrunk(BaseFeaturesExtractor):
    """A ReLU trunk as a features extractor, which stock policies share between policy and value."""

    def __init__(self, space: Any, width: int, depth: int) -> None:
        super().__init__(space, width)
        layers: list[nn.Module] = []
        inputs = int(space.shape[0])
        for _ in range(depth):
            layers += [nn.Linear(inputs, width), nn.ReLU()]
            inputs = width
        self.trunk = nn.Sequential(*layers)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features float32[n, width]."""
        features: torch.Tensor = self.trunk(observations)
        return features


def policies(width: int, depth: int) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Policy class and arguments of each contender."""
    trunk = {"features_extractor_class": SharedTrunk, "features_extractor_kwargs": {"width": width, "depth": depth}}
    return {
        "stock MlpPolicy (two tanh networks)": ("MlpPolicy", {"net_arch": [width] * depth}),
        "stock policy with a shared ReLU trunk": ("MlpPolicy", trunk | {"net_arch": []}),
        "ours (train.trunk_policy)": (TrunkPolicy, {"width": width, "depth": depth}),
    }


class _Nothing(BaseCallback):
    def _on_step(self) -> bool:
        return True


def make_model(policy: Any, arguments: dict[str, Any], known: argparse.Namespace) -> MaskablePPO:
    """A model that is ready to collect."""
    game = get_game(known.game)
    env = TableVecEnv(game, game.options(), known.tables, seed=1, reward_scale=8.0, canonical=True, threads=known.threads)
    model = MaskablePPO(
        policy,
        env,
        policy_kwargs=arguments,
        n_steps=known.window,
        batch_size=known.batch_size,
        n_epochs=known.epochs,
        rollout_buffer_class=SeatRolloutBuffer,
        rollout_buffer_kwargs={"env": env},
        device="cpu",
        seed=1,
    )
    model.set_logger(Logger(None, []))
    model._setup_learn(1, None)
    return model


def one_window(model: MaskablePPO) -> tuple[float, float]:
    """Seconds to collect a window and to update on it."""
    callback = _Nothing()
    callback.init_callback(model)
    start = time.perf_counter()
    model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
    collected = time.perf_counter()
    model.train()
    return collected - start, time.perf_counter() - collected


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints the table, and writes JSON if asked."""
    top = argparse.ArgumentParser(prog="python -m benchmarks.training", description=(__doc__ or "").split("\n\n")[0])
    top.add_argument("--game", default="mitch_jp")
    for name, default in [("tables", 512), ("window", 32), ("batch-size", 4096), ("epochs", 2), ("width", 256), ("depth", 2)]:
        top.add_argument(f"--{name}", type=int, default=default, help=f"(default {default})")
    top.add_argument("--threads", type=int, default=1, help="for tables and torch (default 1)")
    top.add_argument("--rounds", type=int, default=5, help="windows of each contender (default 5)")
    top.add_argument("--out", type=Path, help="a JSON file for the results")
    known = top.parse_args(arguments)
    torch.set_num_threads(known.threads)
    models = {name: make_model(*pair, known) for name, pair in policies(known.width, known.depth).items()}
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for number in range(known.rounds + 1):
        for name, model in models.items():
            times = one_window(model)
            if number:  # the first round warms up
                seconds[name].append(times)
    decisions = known.tables * known.window
    rates = {name: [decisions / sum(pair) for pair in pairs] for name, pairs in seconds.items()}
    base = statistics.median(next(iter(rates.values())))
    print(f"{'':<40}{'decisions/s':>12}{'range':>20}{'ratio':>8}{'collect':>9}{'update':>9}")
    for name, values in rates.items():
        collect, update = (statistics.median(pair[i] for pair in seconds[name]) for i in (0, 1))
        middle = statistics.median(values)
        spread = f"{min(values):,.0f}-{max(values):,.0f}"
        print(f"{name:<40}{middle:>12,.0f}{spread:>20}{middle / base:>8.2f}{collect:>8.2f}s{update:>8.2f}s")
    if known.out is not None:
        settings = {key: str(value) if isinstance(value, Path) else value for key, value in vars(known).items()}
        known.out.write_text(json.dumps({"rates": rates, "settings": settings, "versions": versions()}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
