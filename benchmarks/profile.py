"""Where the time of a batched step goes: choosing, checking, rules, dealing anew, observation, mask.

    python -m benchmarks.profile mitch_jp --players 3
    python -m benchmarks.profile mitchell --rounds 9 --no-instructions

One compiled loop plays random decisions at many tables, as a Batch does, and is told how often to do each part. Done again, a
part gets the same table as before, so the play is the same decision for decision and the extra work is that part alone, on real
positions: the difference to the plain run, over decisions and repetitions, is what the part costs. Rules and dealing change the
table, which is put back before each repetition; that copy is measured by itself and taken off. Parts that nothing else needs
are left out as well: the two figures differ where a processor does parts at the same time.

Runs of all kinds take turns on one core; the figures are medians over the rounds. Where Valgrind is installed, callgrind counts
the instructions of the same runs, which do not wander with the machine (but belong to a Haswell: a processor with wider vectors
needs fewer for the observation). Below stands what the calls of a real Batch take, and how often deals and matches end.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks import callgrind, report
from benchmarks.compiled import CHECK, COPY, MASK, OBSERVATION, RULES, repeating_kernel
from benchmarks.contenders import Setting
from benchmarks.turns import on_one_core
from mitch_env import GAMES, Batch, get_game
from mitch_env.jit import kernel_view

PARTS = ("random choice", "check of legality", "rules", "dealing anew", "observation", "mask", "copy of a table")
#: How often each part is done in a plain run.
PLAIN: tuple[int, ...] = (1, 1, 1, 1, 1, 1, 0)
#: Parts that can be left out without changing the play.
SPARE = (CHECK, OBSERVATION, MASK)
#: How many times more a part is done.
AGAIN = 3
#: Decisions at each table before anything is counted, so that the tables stand anywhere in their matches.
WARM_UP = 200
#: Steps of each run whose instructions are counted.
COUNTED_STEPS = 40


def variants() -> dict[str, tuple[int, ...]]:
    """How often each part is done in each kind of run, by name."""
    found: dict[str, tuple[int, ...]] = {"plain": PLAIN}
    for part, name in enumerate(PARTS):
        found[f"{name}, again"] = (*PLAIN[:part], PLAIN[part] + AGAIN, *PLAIN[part + 1 :])
    for part in SPARE:
        found[f"{PARTS[part]}, left out"] = (*PLAIN[:part], 0, *PLAIN[part + 1 :])
    return found


class Repeating:
    """The kernel with everything that it needs; each run starts from the same tables.

    Attributes:
        batch: The tables as they stand after the last run.
        counts: int64[2], legal choices and tables dealt anew in the last run.
        decisions: Decisions of a run.
    """

    def __init__(self, batch: Batch, steps: int) -> None:
        for _ in range(WARM_UP):
            batch.step(batch.random_actions())
        self.batch, self._steps = batch, steps
        self.decisions = steps * len(batch)
        self.counts = np.zeros(2, np.int64)
        self._begin = (batch.tables.copy(), batch._policy.copy())
        self._kept = kernel_view(np.zeros(4, batch.tables.dtype).view(np.recarray))
        self._kernel = repeating_kernel(batch.game.rules)

    def rewind(self) -> None:
        """Back to the first tables."""
        self.batch.tables[:], self.batch._policy[:] = self._begin
        self.counts[:] = 0

    def run(self, times: Sequence[int]) -> None:
        """Plays on from where the tables stand."""
        b = self.batch
        outputs = (b._actions, b.observation, b._mask, self.counts)
        self._kernel(b._raw, b._policy, self._steps, np.array(times, np.int64), self._kept, *outputs)


def measure(repeating: Repeating, rounds: int) -> dict[str, list[float]]:
    """Nanoseconds a decision of each kind of run in each round."""
    found: dict[str, list[float]] = {name: [] for name in variants()}
    for _ in tqdm(range(rounds), unit="round", disable=not sys.stderr.isatty()):
        for name, times in variants().items():
            repeating.rewind()
            begun = time.perf_counter_ns()
            repeating.run(times)
            found[name].append((time.perf_counter_ns() - begun) / repeating.decisions)
    return found


@dataclass(frozen=True)
class Cost:
    """What a part costs a decision.

    Attributes:
        part: Its name.
        again: By doing it again.
        left_out: By leaving it out, or None where that changes the play.
    """

    part: str
    again: float
    left_out: float | None


def costs(runs: Mapping[str, Sequence[float]]) -> list[Cost]:
    """The cost of each part from runs of all kinds, round by round; the copies that came with repetitions are taken off."""

    def middle(one: str, other: str) -> float:
        return statistics.median(a - b for a, b in zip(runs[one], runs[other], strict=True))

    copy = middle(f"{PARTS[COPY]}, again", "plain") / AGAIN
    found = []
    for part, name in enumerate(PARTS):
        again = middle(f"{name}, again", "plain") / AGAIN - (copy if part == RULES else 0.0)
        found.append(Cost(name, again, middle("plain", f"{name}, left out") if part in SPARE else None))
    return found


def costs_table(found: Sequence[Cost], plain: float, instructions: Sequence[Cost], plain_instructions: float | None) -> str:
    """Nanoseconds, shares of a plain step, and instructions if they were counted (with the count of a plain step)."""
    rows = []
    for at, one in enumerate(found):
        cells = [one.part, f"{one.again:.1f}", "-" if one.left_out is None else f"{one.left_out:.1f}"]
        cells.append(f"{100 * one.again / plain:.0f} %")
        rows.append([*cells, *([f"{instructions[at].again:.0f}"] if instructions else [])])
    tail = [f"{plain_instructions:.0f}"] if plain_instructions is not None else []
    rows.append(["all of a step, a copy included", f"{plain:.1f}", "-", "100 %", *tail])
    return report.table(["a decision", "ns, again", "ns, left out", "share", *(["instructions"] if tail else [])], rows)


# --- A real Batch: what its calls take, and what happens.


def batch_calls(batch: Batch, steps: int) -> dict[str, float]:
    """Nanoseconds a decision of each kernel that a step of a Batch calls, and of the Python around them."""
    spent: dict[str, int] = {}

    def clocked(name: str, inner: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any) -> Any:
            begun = time.perf_counter_ns()
            answer = inner(*args)
            spent[name] += time.perf_counter_ns() - begun
            return answer

        return timed

    inner = batch._kernels

    class Clocked:
        def __init__(self) -> None:
            for name in ("pick_rows", "step_rows"):
                spent[name] = 0
                setattr(self, name, clocked(name, getattr(inner, name)))

    batch._kernels = Clocked()  # type: ignore[assignment]
    begun = time.perf_counter_ns()
    for _ in range(steps):
        batch.step(batch.random_actions())
    whole = time.perf_counter_ns() - begun
    batch._kernels = inner
    decisions = steps * len(batch)
    return {name: one / decisions for name, one in spent.items()} | {"Python": (whole - sum(spent.values())) / decisions}


def happenings(batch: Batch, steps: int) -> dict[str, float]:
    """How often things happen a decision, counted on random play."""
    decisions = steps * len(batch)
    counted = dict.fromkeys(
        ("deals scored", "matches ended", "reshuffles", "forced decisions", "legal actions", "entries of the observation"), 0.0
    )
    for _ in range(steps):
        legal = batch.mask.sum(1)
        reshuffles = batch.tables.reshuffles.copy()
        counted["legal actions"] += float(legal.sum())
        counted["forced decisions"] += float((legal == 1).sum())
        counted["entries of the observation"] += float(np.count_nonzero(batch.observation))
        batch.step(batch.random_actions())
        counted["deals scored"] += float(batch.scored.sum())
        counted["matches ended"] += float((batch.terminated | batch.truncated).sum())
        counted["reshuffles"] += float((batch.tables.reshuffles > reshuffles).sum())
    return {name: value / decisions for name, value in counted.items()}


def counted_costs(setting: Setting, tables: int) -> tuple[list[Cost], float]:
    """The costs in instructions, and those of a plain step."""
    found = callgrind.counts(
        "benchmarks.profile", [setting.game, "--players", str(setting.players), "--tables", str(tables), "--count"]
    )
    decisions = COUNTED_STEPS * tables
    runs = {name: [found[name] / decisions] for name in variants()}
    return costs(runs), runs["plain"][0]


def count_here(repeating: Repeating) -> None:
    """The runs under callgrind."""
    counter = callgrind.Counter()
    repeating.run(PLAIN)  # what a first call does besides is not to be counted
    for name, times in variants().items():
        repeating.rewind()
        counter.count(name, functools.partial(repeating.run, times))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="python -m benchmarks.profile", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("game", choices=sorted(GAMES), help="the game")
    top.add_argument("--players", type=int, help="players (default: the game's)")
    top.add_argument("--tables", type=int, default=1024, help="tables (default: 1024)")
    top.add_argument("--steps", type=int, default=50, help="decisions at each table in a run (default: 50)")
    top.add_argument("--rounds", type=int, default=31, help="runs of each kind (default: 31)")
    top.add_argument("--out", type=Path, metavar="FOLDER", help="a folder for profile_GAME_PLAYERSp.json")
    top.add_argument("--no-instructions", action="store_true", help="do not count instructions, which takes a minute or two")
    top.add_argument("--count", action="store_true", help=argparse.SUPPRESS)  # the runs under callgrind
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints."""
    top = parser()
    known = top.parse_args(arguments)
    if min(known.tables, known.steps, known.rounds) < 1:
        top.error("--tables, --steps and --rounds must be 1 or more")
    report.check_folder(top, known.out)
    setting = Setting(known.game, known.players or get_game(known.game).defaults.players)
    try:
        repeating = Repeating(setting.batch(known.tables), COUNTED_STEPS if known.count else known.steps)
    except ValueError as error:
        top.error(str(error))
    if known.count:
        count_here(repeating)
        return 0
    with on_one_core():
        runs = measure(repeating, known.rounds)
        calls = batch_calls(setting.batch(known.tables), known.steps * known.rounds)
    silent = "--no-instructions" if known.no_instructions else callgrind.why_not()
    instructions, plain = ([], None) if silent else counted_costs(setting, min(known.tables, 64))
    rounds = f"{known.rounds} round{'s' if known.rounds > 1 else ''}"
    print(f"{setting}, {known.tables} tables, {rounds} of {repeating.decisions:,} decisions\n")
    print(costs_table(costs(runs), statistics.median(runs["plain"]), instructions, plain))
    print(f"\ninstructions: {silent or 'counted by callgrind, compiled for a Haswell, 64 tables at most'}")
    print(f"dealt anew: {repeating.counts[1] / repeating.decisions:.4f} times a decision\n")
    rows = [[name, f"{one:.1f}"] for name, one in (calls | {"all of a step": sum(calls.values())}).items()]
    print(report.table(["a decision of a Batch", "ns"], rows))
    print()
    happened = happenings(setting.batch(known.tables), WARM_UP)
    print(report.table(["a decision", "on average"], [[name, f"{value:.4f}"] for name, value in happened.items()]))
    if known.out is not None:
        about = report.circumstances("benchmarks.profile", arguments) | {"settings": report.plain(known)}
        found = {
            "setting": str(setting),
            "costs": [asdict(one) for one in costs(runs)],
            "plain": statistics.median(runs["plain"]),
            "instructions": [asdict(one) for one in instructions],
            "plain_instructions": plain,
            "batch_calls": calls,
            "happenings": happened,
        }
        name = f"profile_{setting.game}_{setting.players}p.json"
        print(f"\nwritten: {report.write_json(known.out, name, about | found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
