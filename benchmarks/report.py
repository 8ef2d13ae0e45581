"""What the figures say: ratios, the project's targets, and the file that keeps everything."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import shlex
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contenders import SETTINGS, SIZES, Setting
from benchmarks.floors import memory_name, no_op_name
from benchmarks.peers import CRAZY_EIGHTS, CRAZY_EIGHTS_IN_PLACE, LEDUC, SPARROW

#: Whose versions are written down.
PACKAGES = (
    "mitch-env", "numpy", "numba", "llvmlite", "gymnasium", "pettingzoo", "rlcard", "open_spiel", "pgx", "jax", "jaxlib",
    "torch", "stable-baselines3", "sb3-contrib", "matplotlib", "tqdm",
)  # fmt: skip

#: The peers that every contender is compared with, by the heads of their columns.
COMPARED = {"leduc": LEDUC, "crazy_eights": CRAZY_EIGHTS, "crazy_eights in place": CRAZY_EIGHTS_IN_PLACE, "sparrow": SPARROW}

#: Decisions a second of each contender in each round.
Rates = Mapping[str, Sequence[float]]
#: How often rounds are redrawn for an interval, and what lies in it.
REDRAWS, WITHIN = 2000, (0.025, 0.975)


def medians(rates: Rates) -> dict[str, float]:
    """The middle round of each contender."""
    return {name: statistics.median(values) for name, values in rates.items()}


def round_ratios(rates: Rates, name: str, other: str) -> np.ndarray | None:
    """How many times as fast one is as another in each round, where both met the same noise; None if either did not play."""
    return np.divide(rates[name], rates[other]) if name in rates and other in rates else None


def ratio(rates: Rates, name: str, other: str) -> float | None:
    """The middle one of :func:`round_ratios`."""
    found = round_ratios(rates, name, other)
    return None if found is None else float(np.median(found))


def redrawn_medians(values: np.ndarray) -> np.ndarray:
    """The medians of ``values`` (``[rounds]`` or ``[rounds, k]``) in ``REDRAWS`` redraws of the rounds (bootstrap)."""
    n = len(values)
    return np.asarray(np.median(values[np.random.default_rng(n).integers(n, size=(REDRAWS, n))], axis=1))


def floor_of(name: str) -> str | None:
    """The floor that a contender of ours stands on, if it has one."""
    for setting in SETTINGS:
        if name.startswith(f"{setting}, AEC"):
            return no_op_name(Setting("mitch_jp", 3) if setting.game == "mitch_ru" else setting)
        if name.startswith(f"{setting}, "):
            return memory_name(setting)
    return None


@dataclass(frozen=True)
class Target:
    """Something that the project wants to reach.

    Attributes:
        what: In words.
        bound: The wanted figure.
        at_least: Whether the bound is the least; otherwise it is the most.
        figure: The measured one, or None if it was not measured.
        low: Where its 95 % interval over the rounds begins; None for what is not measured in rounds.
        high: Where that ends.
        unit: What stands behind figures.
        is_goal: Whether it is a goal beyond the targets.
    """

    what: str
    bound: float
    at_least: bool
    figure: float | None
    unit: str = " x"
    is_goal: bool = False
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        """The figure with its interval, or a dash."""
        if self.figure is None:
            return "-"
        text = figure_text(self.figure) + self.unit
        return text if self.low == self.high else f"{text} ({figure_text(self.low)} to {figure_text(self.high)})"

    @property
    def is_reached(self) -> bool | None:
        """None if it was not measured."""
        if self.figure is None:
            return None
        return self.figure >= self.bound if self.at_least else self.figure < self.bound

    @property
    def may_be_missed(self) -> bool:
        """Whether the interval goes beyond the bound."""
        if self.low is None or self.high is None:
            return False
        return self.low < self.bound if self.at_least else self.high >= self.bound


def of_rounds(
    what: str, bound: float, at_least: bool, values: np.ndarray | None, unit: str = " x", is_goal: bool = False
) -> Target:
    """A target whose figure is the median of what the rounds gave, if they did."""
    if values is None:
        return Target(what, bound, at_least, None, unit, is_goal)
    low, high = np.quantile(redrawn_medians(values), WITHIN)
    return Target(what, bound, at_least, float(np.median(values)), unit, is_goal, float(low), float(high))


def flatness(rates: Rates, setting: Setting) -> Target:
    """The time a decision takes in batches of 64 to 8192 tables: the most over the least."""
    what, bound = f"{setting}, Batch of 64 to 8192: most over least time a decision", 1.5
    names = [f"{setting}, Batch of {n}" for n in SIZES if n > 1]
    if not all(name in rates for name in names):
        return Target(what, bound, False, None)
    rounds = np.log([rates[name] for name in names]).T
    rounds -= rounds.mean(1, keepdims=True)  # how fast the machine was in that round
    figure = float(np.exp(np.ptp(np.median(rounds, axis=0))))
    low, high = np.quantile(np.exp(np.ptp(redrawn_medians(rounds), axis=1)), WITHIN)
    return Target(what, bound, False, figure, low=float(low), high=float(high))


def targets(rates: Rates, starts: Mapping[str, Mapping[str, Sequence[float]]], memory: Mapping[str, int]) -> list[Target]:
    """All of them.

    Args:
        rates: What was played.
        starts: Seconds to the first step in each round, by ``warm`` or ``cold`` and game.
        memory: Bytes of a table of each engine.
    """
    jp, four = Setting("mitch_jp", 3), Setting("mitchell", 4)

    def times(what: str, name: str, other: str, bound: float, is_goal: bool = False) -> Target:
        return of_rounds(f"{name}: {what}", bound, True, round_ratios(rates, name, other), is_goal=is_goal)

    found = [
        times("of the no-op AECEnv", f"{jp}, AEC", no_op_name(jp), 0.7),
        times("leduc_holdem_v4", f"{jp}, AEC", LEDUC, 10),
        times("of the no-op AECEnv", f"{four}, AEC", no_op_name(four), 0.6),
        times("of its memory floor", f"{jp}, Batch of 1024", memory_name(jp), 0.25),
        times("crazy_eights", f"{jp}, Batch of 1024", CRAZY_EIGHTS, 35),
        times("crazy_eights", f"{four}, Batch of 1024", CRAZY_EIGHTS, 15),
        times("sparrow_mahjong", f"{four}, Batch of 1024", SPARROW, 40, is_goal=True),
    ]
    for setting in SETTINGS:
        most = f"{setting}, Batch of {SIZES[-1]}"
        found.append(times("of one thread", f"{most}, 2 threads", most, 1.7))
    found += [flatness(rates, setting) for setting in SETTINGS]
    for engine, most_bytes in (("mitch", 1024), ("mitchell", 2048)):
        found.append(Target(f"memory of a table of {engine}", most_bytes, False, memory.get(engine), " bytes"))
    for kind, most_seconds in (("warm", 1.0), ("cold", 25.0)):
        seconds = {game: np.asarray(rounds) for game, rounds in starts.get(kind, {}).items()}
        for game in dict.fromkeys(one.game for one in SETTINGS):
            what = f"Python's start to the first step, {kind}: {game}"
            found.append(of_rounds(what, most_seconds, False, seconds.get(game), " s"))
    return found


def figure_text(value: float | None) -> str:
    """A figure with three digits that count, or a dash."""
    if value is None:
        return "-"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:,.{digits}f}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns line up: the first to the left, the others to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(heads, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [cells[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))]
        return f"| {' | '.join(padded)} |"

    dashes = "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    return "\n".join([line(heads), dashes, *map(line, rows)])


def ratios_table(rates: Rates) -> str:
    """Median, range, and how many times as fast as the peers and as the own floor."""
    middle = medians(rates)
    columns = {head: peer for head, peer in COMPARED.items() if peer in rates}
    rows = []
    for name, values in rates.items():
        own = floor_of(name)
        cells = [name, f"{middle[name]:,.0f}", f"{min(values):,.0f} to {max(values):,.0f}"]
        cells += [figure_text(ratio(rates, name, peer)) for peer in columns.values()]
        rows.append([*cells, figure_text(ratio(rates, name, own) if own else None)])
    return table(["", "decisions/s", "range", *(f"x {head}" for head in columns), "x floor"], rows)


def targets_table(found: Sequence[Target]) -> str:
    """Each target, what was measured, and whether it is reached."""
    rows = []
    for one in found:
        sign = ">=" if one.at_least else "<"
        verdict = {None: "not measured", True: "reached", False: "not reached"}[one.is_reached]
        wanted = f"{sign} {one.bound:g}{one.unit}" + (" (goal)" if one.is_goal else "")
        rows.append([one.what, wanted, one.text, verdict])
    return table(["", "target", "measured (95 % interval)", ""], rows)


# --- What was measured, and on what.


def versions() -> dict[str, str]:
    """Of Python and every package that was, or could have been, measured."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    if found["mitch-env"] == "not installed":  # a checkout on the path
        found["mitch-env"] = importlib.import_module("mitch_env").__version__ + " (checkout)"
    return found


def processor() -> str:
    """The name of the processor, as well as the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def circumstances(module: str, arguments: Sequence[str] | None) -> dict[str, Any]:
    """The command, the date, the machine and the versions."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    return {
        "command": shlex.join(["python", "-m", module, *words]),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "processors": os.cpu_count(),
        "system": platform.platform(),
        "versions": versions(),
    }


def check_folder(top: argparse.ArgumentParser, folder: Path | None, draws: bool = False) -> None:
    """Ends the command before anything is measured if the results could not be written to ``folder``."""
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        top.error(f"--out {folder}: {error.strerror}; name a folder that can be made and written to")
    if draws and importlib.util.find_spec("matplotlib") is None:
        top.error('--out draws a picture, which needs matplotlib: pip install -c constraints.txt -e ".[bench]"')


def write_json(folder: Path, name: str, content: Mapping[str, Any]) -> Path:
    """Writes ``folder/name``."""
    path = folder / name
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path


def plain(known: argparse.Namespace) -> dict[str, Any]:
    """The arguments of a command, ready for JSON."""
    return {key: str(value) if isinstance(value, Path) else value for key, value in vars(known).items()}
