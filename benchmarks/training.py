"""Decisions trained on a second: MaskablePPO as it comes, with our network, and ours, at equal width, depth and epochs.

    python -m benchmarks.training --game mitch_jp --rounds 3 --out runs/speed

A round collects a window of decisions and updates on it. Counted are the decisions that reach a gradient: ours leaves out those
with a single legal action and those whose successor is not known yet, so `collected` says how many the learner took at all.
Where the time goes is measured around the calls: `engine` is the environment (with the opponents' moves in the Gymnasium view),
`inference` the policy while collecting, `update` the epochs; the rest is bookkeeping in between.

Contenders are pinned and take turns as in benchmarks/throughput.py. Needs the extra `train`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.turns import OURS, PEERS, Contender, Played, Round, take_turns
from mitch_env import GAMES, get_game

PARTS = ("engine", "inference", "update")
#: The sizes of a run, with their defaults; the same for every contender.
SIZES = {"tables": 512, "window": 32, "batch-size": 4096, "epochs": 2, "width": 256, "depth": 2}
#: Environments of the Gymnasium view, one Python object each.
GYM_TABLES = 8

Settings = Mapping[str, Any]


def clock(seconds: dict[str, float], part: str, owner: Any, method: str) -> None:
    """Adds the time of every call of ``owner.method`` to a part."""
    inner: Callable[..., Any] = getattr(owner, method)

    def timed(*args: Any, **kwargs: Any) -> Any:
        begun = time.perf_counter()
        try:
            return inner(*args, **kwargs)
        finally:
            seconds[part] += time.perf_counter() - begun

    setattr(owner, method, timed)


class Window:
    """A model that collects a window and updates on it, by the clock.

    Attributes:
        model: The model, a MaskablePPO.
    """

    def __init__(self, model: Any) -> None:
        from stable_baselines3.common.callbacks import BaseCallback
        from stable_baselines3.common.logger import Logger

        class Nothing(BaseCallback):
            def _on_step(self) -> bool:
                return True

        self.model = model
        model.set_logger(Logger(None, []))
        model._setup_learn(1, None)
        self._callback = Nothing()
        self._callback.init_callback(model)
        self._seconds = dict.fromkeys(PARTS, 0.0)
        clock(self._seconds, "engine", model.env, "step")
        clock(self._seconds, "engine", model.env, "env_method")
        clock(self._seconds, "inference", model.policy, "forward")
        clock(self._seconds, "inference", model.policy, "predict_values")
        clock(self._seconds, "update", model, "train")

    def __call__(self, seconds: float) -> dict[str, float]:
        """One window, whatever time it takes."""
        model, parts = self.model, self._seconds
        parts.update(dict.fromkeys(PARTS, 0.0))
        begun = time.perf_counter()
        model.collect_rollouts(model.env, self._callback, model.rollout_buffer, model.n_steps)
        model.train()
        taken = time.perf_counter() - begun
        collected = model.n_steps * model.n_envs
        usable = getattr(model.rollout_buffer, "usable", None)
        trained = collected if usable is None else int(usable.sum())
        return {"decisions": trained, "collected": collected, "seconds": taken, **parts}


def gymnasium_model(settings: Settings, batch_size: int) -> Any:
    """MaskablePPO with its defaults: the Gymnasium view in a DummyVecEnv, the policy by name."""
    import gymnasium
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    name = f"mitch_env/{settings['game'].title().replace('_', '')}-v0"
    env = DummyVecEnv([partial(gymnasium.make, name)] * GYM_TABLES)
    return MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=max(2, settings["tables"] * settings["window"] // GYM_TABLES),
        batch_size=batch_size,
        n_epochs=settings["epochs"],
        policy_kwargs={"net_arch": [settings["width"]] * settings["depth"]},
        device="cpu",
        seed=1,
    )


def tables_model(settings: Settings, kind: str) -> Any:
    """A model on our tables, where every seat learns: ``stock``, ``trunk`` (stock with our network) or ``ours``."""
    from sb3_contrib import MaskablePPO

    from benchmarks.shared_trunk import SharedTrunk
    from train.rollouts import SeatRolloutBuffer
    from train.seat_ppo import SeatPPO
    from train.table_vec_env import TableVecEnv
    from train.trunk_policy import TrunkPolicy

    game, sizes = get_game(settings["game"]), {"width": settings["width"], "depth": settings["depth"]}
    policies: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "stock": (MaskablePPO, "MlpPolicy", {"net_arch": [settings["width"]] * settings["depth"]}),
        "trunk": (
            MaskablePPO,
            "MlpPolicy",
            {"features_extractor_class": SharedTrunk, "features_extractor_kwargs": sizes, "net_arch": []},
        ),
        "ours": (SeatPPO, TrunkPolicy, sizes),
    }
    algorithm, policy, arguments = policies[kind]
    env = TableVecEnv(
        game, game.options(), settings["tables"], seed=1, reward_scale=8.0, canonical=True, threads=settings["threads"]
    )
    return algorithm(
        policy,
        env,
        policy_kwargs=arguments,
        n_steps=settings["window"],
        batch_size=settings["batch_size"],
        n_epochs=settings["epochs"],
        rollout_buffer_class=SeatRolloutBuffer,
        rollout_buffer_kwargs={"env": env},
        device="cpu",
        seed=1,
    )


def contenders(settings: Settings) -> dict[str, Contender]:
    """All of them, by name; ``make`` gives a model."""
    view = f"the Gymnasium view in a DummyVecEnv of {GYM_TABLES}: one seat learns, random opponents play the others"
    tables = f"{settings['tables']} tables in one Batch, every seat learns"
    tanh = "two tanh networks (MlpPolicy)"
    rows = [
        ("MaskablePPO, Gymnasium view, batches of 64", PEERS, f"{view}; {tanh}", lambda: gymnasium_model(settings, 64)),
        (
            "MaskablePPO, Gymnasium view",
            PEERS,
            f"{view}; {tanh}, batches as large as the others'",
            lambda: gymnasium_model(settings, settings["batch_size"]),
        ),
        ("MaskablePPO, our tables", PEERS, f"{tables}; {tanh}", lambda: tables_model(settings, "stock")),
        (
            "MaskablePPO, our tables, shared ReLU trunk",
            PEERS,
            f"{tables}; one ReLU trunk under both heads in the stock policy",
            lambda: tables_model(settings, "trunk"),
        ),
        ("ours", OURS, f"{tables}; train.trunk_policy and train.seat_ppo", lambda: tables_model(settings, "ours")),
    ]
    return {name: Contender(name, group, how, make, settings["threads"]) for name, group, how, make in rows}


def start(name: str, settings: dict[str, Any]) -> tuple[Round, dict[str, Any]]:
    """What a child process plays: windows, the first of which is not counted."""
    import torch

    torch.set_num_threads(settings["threads"])
    window = Window(contenders(settings)[name].make())
    window(0.0)
    return window, {}


def shares(rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The share of the time of each part over all rounds, and what is left."""
    whole = sum(one["seconds"] for one in rounds)
    found = {part: sum(one[part] for one in rounds) / whole for part in PARTS}
    return found | {"rest": 1.0 - sum(found.values())}


def training_table(played: Played) -> str:
    """Median, range, times the first row, decisions collected, and the shares."""
    rates = played.rates()
    base = statistics.median(next(iter(rates.values())))
    rows = []
    for name, values in rates.items():
        middle = statistics.median(values)
        collected = statistics.median(one["collected"] / one["seconds"] for one in played.rounds[name])
        cells = [name, f"{middle:,.0f}", f"{min(values):,.0f} to {max(values):,.0f}", report.figure_text(middle / base)]
        parts = [f"{100 * share:.0f} %" for share in shares(played.rounds[name]).values()]
        rows.append([*cells, f"{collected:,.0f}", *parts])
    return report.table(["", "trained on/s", "range", "x first row", "collected/s", *PARTS, "rest"], rows)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="python -m benchmarks.training", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--game", choices=sorted(GAMES), default="mitch_jp", help="the game (default: mitch_jp)")
    for name, default in SIZES.items():
        top.add_argument(f"--{name}", type=int, default=default, help=f"(default: {default})")
    top.add_argument("--threads", type=int, default=1, help="threads, and cores, of each contender (default: 1)")
    top.add_argument("--rounds", type=int, default=5, help="windows of each contender (default: 5)")
    top.add_argument("--only", nargs="+", metavar="PART", help="contenders whose name contains one of these")
    top.add_argument("--out", type=Path, metavar="FOLDER", help="a folder for training_GAME.json")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints the table, writes JSON if asked; 1 if a contender could not train."""
    top = parser()
    known = top.parse_args(arguments)
    for name in (*SIZES, "threads", "rounds"):
        if getattr(known, name.replace("-", "_")) < 1:
            top.error(f"--{name} must be 1 or more")
    settings = {name.replace("-", "_"): getattr(known, name.replace("-", "_")) for name in SIZES}
    settings |= {"game": known.game, "threads": known.threads}
    every = contenders(settings)
    chosen = [one for one in every.values() if not known.only or any(part in one.name for part in known.only)]
    if not chosen:
        top.error(f"--only {' '.join(known.only)}: no contender's name contains that; there are: {'; '.join(every)}")
    report.check_folder(top, known.out)
    played = take_turns("benchmarks.training", chosen, known.rounds, 0.0, settings)
    if played.rounds:
        print(training_table(played))
        print()
    for name in played.rounds:
        print(f"{name}: {every[name].how}.")
    for name, why in played.missing.items():
        print(f"missing: {name}: {why}")
    if known.out is not None:
        rows = {
            name: {"how": every[name].how, "shares": shares(rounds), "rounds": rounds} for name, rounds in played.rounds.items()
        }
        about = report.circumstances("benchmarks.training", arguments) | {"settings": report.plain(known)}
        found = about | {"pinned_to": played.cores, "contenders": rows, "missing": played.missing}
        print(f"\nwritten: {report.write_json(known.out, f'training_{known.game}.json', found)}")
    return int(bool(played.missing))


if __name__ == "__main__":
    sys.exit(main())
