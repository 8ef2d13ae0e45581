"""Decisions a second of uniform random legal play, ours next to peers, in one process on one core.

At every decision each contender builds what the acting seat observes and which actions are legal, picks a legal action
uniformly, and steps. Contenders take turns, several times over, so that a machine that slows down slows all of them; the
figure is the median, with the range.

Run ``python -m benchmarks.throughput --help``. A peer that is not installed is named as missing.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import mitch_env

#: Pre-drawn uniform numbers that choose actions, so that no contender pays for a generator.
_UNIFORM = np.random.default_rng(0).random(1 << 16)

#: One round of a contender: plays for about that many seconds and returns decisions and seconds.
Round = Callable[[float], tuple[int, float]]


def play_aec(env: Any) -> Round:
    """Any PettingZoo environment, through ``last`` and ``step``."""
    env.reset(seed=1)

    def one_round(seconds: float) -> tuple[int, float]:
        decisions = 0
        start = time.perf_counter()
        stop = start + seconds
        while time.perf_counter() < stop:
            for _ in range(200):
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.reset()
                    continue
                legal = observation["action_mask"].nonzero()[0]
                env.step(legal[int(_UNIFORM[decisions & 0xFFFF] * len(legal))])
                decisions += 1
        return decisions, time.perf_counter() - start

    return one_round


def play_batch(game: str, n: int, **options: Any) -> Round:
    """A Batch on one thread, one call a step."""
    batch = mitch_env.Batch(game, n, seed=1, **options)
    batch.step(batch.random_actions())

    def one_round(seconds: float) -> tuple[int, float]:
        decisions = 0
        start = time.perf_counter()
        while time.perf_counter() < start + seconds:
            batch.step(batch.random_actions())
            decisions += n
        return decisions, time.perf_counter() - start

    return one_round


def play_open_spiel(name: str) -> Round:
    """An OpenSpiel game from Python, with ``observation_tensor`` and ``legal_actions_mask``; chance is sampled."""
    import pyspiel

    game = pyspiel.load_game(name)
    rng = np.random.default_rng(0)

    def one_round(seconds: float) -> tuple[int, float]:
        decisions = 0
        start = time.perf_counter()
        state = game.new_initial_state()
        while time.perf_counter() < start + seconds:
            for _ in range(50):
                if state.is_terminal():
                    state = game.new_initial_state()
                if state.is_chance_node():
                    outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(int(rng.choice(outcomes, p=weights)))
                    continue
                player = state.current_player()
                np.asarray(state.observation_tensor(player), np.float32)
                legal = np.asarray(state.legal_actions_mask(player)).nonzero()[0]
                state.apply_action(int(legal[int(_UNIFORM[decisions & 0xFFFF] * len(legal))]))
                decisions += 1
        return decisions, time.perf_counter() - start

    return one_round


def _leduc() -> Round:
    from pettingzoo.classic import leduc_holdem_v4

    return play_aec(leduc_holdem_v4.env())


def contenders() -> dict[str, Callable[[], Round]]:
    """All of them, by the name that the table shows."""
    rows: dict[str, Callable[[], Round]] = {}
    for game in mitch_env.GAMES:
        rows[f"{game}, AEC"] = lambda game=game: play_aec(mitch_env.make(game))  # type: ignore[misc]
        for n in (1, 64, 1024, 8192):
            rows[f"{game}, Batch of {n}"] = lambda game=game, n=n: play_batch(game, n)  # type: ignore[misc]
    rows["PettingZoo leduc_holdem_v4"] = _leduc
    rows["OpenSpiel crazy_eights(players=4)"] = lambda: play_open_spiel("crazy_eights(players=4)")
    return rows


def measure(names: Sequence[str] | None, rounds: int, seconds: float) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Decisions a second of each contender in each round, and why others are missing."""
    ready: dict[str, Round] = {}
    missing: dict[str, str] = {}
    for name, make in contenders().items():
        if names and not any(part in name for part in names):
            continue
        try:
            ready[name] = make()
            ready[name](0.1)
        except Exception as error:  # a peer may fail to load in any way
            missing[name] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    rates: dict[str, list[float]] = {name: [] for name in ready}
    for _ in range(rounds):
        for name, play in ready.items():
            decisions, elapsed = play(seconds)
            rates[name].append(decisions / elapsed)
    return rates, missing


def warm_start() -> float:
    """Seconds from starting Python to the first step, with compiled code in the cache."""
    code = "import mitch_env; e = mitch_env.make('mitch_jp'); e.reset(seed=1); e.step(int(e.last()[0]['action_mask'].argmax()))"
    subprocess.run([sys.executable, "-c", code], check=True)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


def report(rates: dict[str, list[float]], missing: dict[str, str]) -> str:
    """A table: median, range, and ratios to the two peers."""
    medians = {name: statistics.median(values) for name, values in rates.items()}
    peers = [name for name in medians if name.startswith(("PettingZoo", "OpenSpiel"))]
    width = max(map(len, [*rates, *missing]), default=0)
    heads = "".join(f"  x {peer.split()[1].split('(')[0]:>14}" for peer in peers)
    lines = [f"{'':<{width}}  {'decisions/s':>12}  {'range':>25}{heads}"]
    for name, values in rates.items():
        spread = f"{min(values):,.0f} to {max(values):,.0f}"
        ratios = "".join(f"  {medians[name] / medians[peer]:>16.2f}" for peer in peers)
        lines.append(f"{name:<{width}}  {medians[name]:>12,.0f}  {spread:>25}{ratios}")
    return "\n".join(lines + [f"{name:<{width}}  missing: {why}" for name, why in missing.items()])


def versions() -> dict[str, str]:
    """What was measured, and on what."""
    found = {"python": platform.python_version(), "processor": platform.processor() or platform.machine()}
    for name in ("mitch-env", "numpy", "numba", "pettingzoo", "rlcard", "open_spiel"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints the table, and writes JSON if asked."""
    top = argparse.ArgumentParser(prog="python -m benchmarks.throughput", description=(__doc__ or "").split("\n\n")[0])
    top.add_argument("--only", nargs="+", metavar="PART", help="contenders whose name contains one of these")
    top.add_argument("--rounds", type=int, default=5, help="how often each contender plays (default 5)")
    top.add_argument("--seconds", type=float, default=0.5, help="how long each time (default 0.5)")
    top.add_argument("--out", type=Path, help="a JSON file for the results")
    known = top.parse_args(arguments)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rates, missing = measure(known.only, known.rounds, known.seconds)
    print(report(rates, missing))
    start = warm_start()
    print(f"warm start to the first step: {start:.2f} s")
    if known.out is not None:
        summary = {"decisions_per_second": rates, "missing": missing, "warm_start_s": start, "versions": versions()}
        known.out.write_text(json.dumps(summary, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
