"""Decisions a second of uniform random legal play, ours next to peers and floors, in one run.

    python -m benchmarks.throughput
    python -m benchmarks.throughput --only "mitch_jp 3p" OpenSpiel --rounds 3 --out runs/speed

At every decision each contender builds what the acting seat observes and which actions are legal, picks a legal action
uniformly, and steps; how each does that stands below the table. Each has a process of its own, pinned to one and the same core
(the contenders with two threads: to two), with one thread in every library. They take turns, many times over, those who are
compared next to each other, so that a machine that slows down slows both. The figure is the median round, with the range; a
ratio is the median of those within each round, and the project's aims have a 95 % interval from redrawing the rounds
(bootstrap). Only ratios mean anything elsewhere. Many short rounds tell more than a few long ones: what else a machine does
often lasts for seconds.

A peer that is not installed is named as missing (`pip install -c constraints.txt -e ".[bench]"` installs them all). The first
run compiles for some minutes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks import report
from benchmarks.chart import draw_chart
from benchmarks.contenders import SETTINGS, Setting, ours
from benchmarks.floors import floors, memory_name, no_op_name
from benchmarks.peers import CRAZY_EIGHTS, LEDUC, SPARROW, peers
from benchmarks.turns import OURS, ROOT, Contender, Played, Round, child_environment, clocked, on_one_core, take_turns
from mitch_env import get_game

FIRST_STEP = """\
import sys, mitch_env
env = mitch_env.make(sys.argv[1])
env.reset(seed=1)
env.step(int(env.last()[0]["action_mask"].argmax()))
print("stepped", flush=True)
"""
#: Seconds that a contender plays before a round counts: caches and clock rates come back from the others' turns.
WARM_UP = 0.02


def contenders() -> dict[str, Contender]:
    """All of them, by name."""
    return {one.name: one for one in chain(ours(), peers(), floors())}


def in_order_of_play(chosen: Iterable[Contender]) -> list[Contender]:
    """Peers and floors right behind those of ours that they are compared with first."""
    jp, four = Setting("mitch_jp", 3), Setting("mitchell", 4)
    behind = {LEDUC: f"{jp}, AEC", CRAZY_EIGHTS: f"{jp}, Batch of 1024", SPARROW: f"{four}, Batch of 1024"}
    behind |= {no_op_name(setting): f"{setting}, AEC" for setting in SETTINGS}
    behind |= {memory_name(setting): f"{setting}, Batch of 1024" for setting in SETTINGS}
    order: list[Contender] = []
    for one in chosen:
        names = [other.name for other in order]
        at = names.index(behind[one.name]) + 1 if behind.get(one.name) in names else len(order)
        order.insert(at, one)
    return order


def start(name: str, settings: dict[str, Any]) -> tuple[Round, dict[str, Any]]:
    """What a child process plays, and what there is to say about it."""
    play = contenders()[name].make()
    play(1)  # whatever compiles at the first step
    return partial(warm_round, play), getattr(play, "facts", {})


def warm_round(play: Any, seconds: float) -> dict[str, float]:
    """A round, after a short one that does not count."""
    clocked(play, min(WARM_UP, seconds))
    return clocked(play, seconds)


def first_step(game: str, cache: str | None = None) -> float:
    """Seconds from starting Python to the first step of a game, with one thread on one core."""
    environment = child_environment(1) | ({} if cache is None else {"MITCH_ENV_CACHE": cache})
    command = [sys.executable, "-c", FIRST_STEP, game]
    with on_one_core():
        begun = time.perf_counter()
        with subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None and child.stderr is not None
            if child.stdout.readline() == "stepped\n":
                return time.perf_counter() - begun
            raise RuntimeError(f"the process that was to make the first step of {game} did not:\n{child.stderr.read()}")


def measure_starts(rounds: int, cold: bool) -> dict[str, dict[str, list[float]]]:
    """Seconds to the first step in each round, by ``warm`` (compiled code in the cache) or ``cold`` (none: once), and game."""
    games = list(dict.fromkeys(one.game for one in SETTINGS))
    for game in games:
        first_step(game)  # fills the cache
    found: dict[str, dict[str, list[float]]] = {"warm": {game: [] for game in games}}
    for _ in tqdm(range(rounds), desc="first steps", unit="round", disable=not sys.stderr.isatty()):
        for game in games:
            found["warm"][game].append(first_step(game))
    if cold:
        found["cold"] = {}
        for game in games:
            with tempfile.TemporaryDirectory() as empty:
                found["cold"][game] = [first_step(game, empty)]
    return found


def summary(played: Played, starts: dict[str, dict[str, list[float]]]) -> dict[str, Any]:
    """Everything that was measured, ready for JSON."""
    rates = played.rates()
    middle = report.medians(rates)
    memory = {rules.name: rules.table_dtype.itemsize for rules in (get_game(one.game).rules for one in SETTINGS)}
    rows = {
        name: {
            "group": one.group,
            "how": one.how,
            "cores": one.cores,
            "median": middle[name],
            "facts": played.facts[name],
            "rounds": played.rounds[name],
        }
        for name, one in contenders().items()
        if name in middle
    }
    found = report.targets(rates, starts, memory)
    return {
        "pinned_to": played.cores,
        "contenders": rows,
        "missing": played.missing,
        "first_step_s": starts,
        "table_bytes": memory,
        "targets": [asdict(one) | {"is_reached": one.is_reached} for one in found],
    }


def print_report(played: Played, found: dict[str, Any]) -> None:
    """Both tables, how everybody plays, and who is missing."""
    if played.rounds:
        print(report.ratios_table(played.rates()))
        print("\nx floor: of the no-op AECEnv for AEC rows, of the memory floor of the game for the others\n")
    known = [report.Target(**{key: one[key] for key in one if key != "is_reached"}) for one in found["targets"]]
    measured = [one for one in known if one.figure is not None]
    print(report.targets_table(measured))
    if len(measured) < len(known):
        print(f"\nNot measured in this run: {len(known) - len(measured)} of {len(known)} targets.")
    print()
    for how in dict.fromkeys(row["how"] for row in found["contenders"].values()):
        names = [name for name, row in found["contenders"].items() if row["how"] == how]
        print(f"{names[0]}{' and the like' if len(names) > 1 else ''}: {how}.")
    if not played.cores:
        print("Processes cannot be pinned to a core here: expect wider ranges.")
    for name, why in played.missing.items():
        print(f"missing: {name}: {why}")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="python -m benchmarks.throughput", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--only", nargs="+", metavar="PART", help="contenders whose name contains one of these")
    top.add_argument("--rounds", type=int, default=31, help="how often each contender plays (default: 31)")
    top.add_argument("--seconds", type=float, default=0.12, help="how long each time (default: 0.12)")
    top.add_argument("--cold", action="store_true", help="also time a first step with an empty cache (a minute or two)")
    top.add_argument("--out", type=Path, metavar="FOLDER", help="a folder for throughput.json and throughput.png")
    top.add_argument("--list", action="store_true", help="only name all contenders")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints the tables, writes JSON and PNG if asked; 1 if a contender of ours could not play."""
    top = parser()
    known = top.parse_args(arguments)
    if known.list:
        print("\n".join(contenders()))
        return 0
    chosen = [one for one in contenders().values() if not known.only or any(part in one.name for part in known.only)]
    if not chosen:
        top.error(f"--only {' '.join(known.only)}: no contender's name contains that; --list names them all")
    if known.rounds < 1 or not 0 < known.seconds < 3600:
        top.error("--rounds must be 1 or more, --seconds more than 0 and less than 3600")
    report.check_folder(top, known.out, draws=True)
    starts = measure_starts(known.rounds, known.cold) if known.cold or not known.only else {}
    played = take_turns("benchmarks.throughput", in_order_of_play(chosen), known.rounds, known.seconds)
    played.rounds = {one.name: played.rounds[one.name] for one in chosen if one.name in played.rounds}
    found = summary(played, starts)
    print_report(played, found)
    if known.out is not None:
        about = report.circumstances("benchmarks.throughput", arguments)
        path = report.write_json(known.out, "throughput.json", about | {"settings": report.plain(known)} | found)
        print(f"\nwritten: {path}")
        if played.rounds:
            groups = {name: row["group"] for name, row in found["contenders"].items()}
            note = f"{about['processor']}, {len(next(iter(played.rounds.values())))} rounds of {known.seconds:g} s each"
            draw_chart(known.out / "throughput.png", played.rates(), groups, note)
            print(f"written: {known.out / 'throughput.png'}")
    return int(any(one.group == OURS and one.name in played.missing for one in chosen))


if __name__ == "__main__":
    sys.exit(main())
