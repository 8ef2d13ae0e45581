"""Makes docs/speed.md, its picture and the table of the README from what the benchmarks have written.

    python -m benchmarks.throughput --cold --out runs/speed
    python -m benchmarks.training --game mitch_jp --out runs/speed
    python -m benchmarks.training --game mitchell --out runs/speed
    python -m benchmarks.profile mitch_jp --out runs/speed
    python -m benchmarks.profile mitchell --out runs/speed
    python -m benchmarks.page runs/speed

The files are kept in docs/measured, every round of every contender in them. Run it only for files of one machine.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.chart import draw_chart
from benchmarks.peers import CRAZY_EIGHTS, LEDUC, SPARROW
from benchmarks.profile import Cost, costs_table
from benchmarks.training import training_table
from benchmarks.turns import PEERS, ROOT, Played

MEASURED, PAGE, PICTURE, README = (
    ROOT / place for place in ("docs/measured", "docs/speed.md", "docs/images/throughput.png", "README.md")
)
#: The table of the README stands between these.
BEGIN, END = "<!-- made by benchmarks/page.py -->", "<!-- end -->"
#: The rows of the README besides those of the peers.
SHOWN = (
    "mitch_jp 3p, AEC", "mitch_jp 3p, Batch of 64", "mitch_jp 3p, Batch of 1024", "mitch_jp 3p, Batch of 8192, 2 threads",
    "mitch_ru 3p, AEC", "mitch_ru 3p, Batch of 1024", "mitchell 4p, AEC", "mitchell 4p, Batch of 1024",
    "mitchell 8p, AEC", "mitchell 8p, Batch of 1024", "no-op AECEnv as mitch_jp 3p", "memory floor of mitch_jp 3p",
)  # fmt: skip

SPEED = """\
# Speed

Decisions a second of uniform random legal play, with observation and mask of the acting seat built at each decision, on one
core, next to other packages and to two floors: one run, medians of {rounds} rounds and their range. A ratio is the median of
those within each round, where both met the same noise. Training and the parts of a step, below, are runs of their own. Only
ratios mean anything elsewhere. `python -m benchmarks.page docs/measured` makes this page from the files in
[measured](measured), which hold every round.

{command}

{about}

![Decisions a second of mitch-env, other packages and floors, on a logarithmic scale](images/throughput.png)

{ratios}

`x floor` is the share of the no-op AECEnv for AEC rows (mitch_ru has the spaces of mitch_jp), of the memory floor of the game
for the others. At each step the no-op AECEnv adds up the rewards of all agents, as PettingZoo's own environments do; ours does
it when something is paid, so with many players it can be the faster one.

{hows}

## Aims

{targets}

{not_reached}

Cold starts are one measurement each. The AEC path is held against an environment without a game (what PettingZoo's protocol
alone costs), the batch against a loop that only writes as many bytes. The intervals (bootstrap) are those of the rounds of this
run. Another run, with other processes, can differ by more even on this machine: with the same code of the environment, two runs
of one day had 0.93 (0.92 to 0.94) and 0.88 (0.87 to 0.90) for mitchell 4p, AEC. Two threads need two processors that nobody
else uses, so their ratios vary most.

## Training

Decisions that reach a gradient a second, at equal width, depth and epochs, medians of {training_rounds} windows. `collected`
counts all that the learner took; ours leaves out those with one legal action. Shares of the time: `engine` is the environment,
with the opponents' moves in the Gymnasium view, `inference` the policy while collecting, `update` the epochs.

{trainings}

{training_hows}

## Where the time of a step goes

A part is done again, or left out, in the same play; the difference is what it costs. Instructions are counted by callgrind
for a processor without the widest vectors. What the parts leave of a step is the loop around them and waiting for memory. A
step of a `Batch` is a second measurement, with two kernels called from Python. Runs in which the two disagreed, or that were
plainly slow, were made again: the machine was busy then.

{profiles}
"""
OF_README = """\
Medians of {rounds} rounds on one core (two where it says so). [docs/speed.md](docs/speed.md) has the command, every row,
ranges, versions, what is aimed at, training, and where the time of a step goes."""

Measured = Mapping[str, Any]


def played(found: Measured) -> Played:
    """What a file says that was played."""
    return Played({name: row["rounds"] for name, row in found["contenders"].items()}, {}, found["missing"], found["pinned_to"])


def about(found: Measured) -> str:
    """The command and the machine."""
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    cores = f"{found['processor']}, {found['processors']} cores"
    return f"- Processor: {cores}; {found['date'][:10]}.\n- Versions: {versions}."


def command(found: Measured) -> str:
    """The command that measured, with the folder that the pages name."""
    words = found["command"].split()
    if "--out" in words:
        words[words.index("--out") + 1] = "runs/speed"
    return f"```bash\n{' '.join(words)}\n```"


def targets(found: Measured) -> list[report.Target]:
    """As they were when it was measured."""
    return [report.Target(**{key: value for key, value in one.items() if key != "is_reached"}) for one in found["targets"]]


def not_reached(speed: Measured) -> str:
    """A line for each target that is missed, or a sentence for all; and which of the others are close."""
    found = targets(speed)
    missed = [one for one in found if not one.is_reached]
    close = [one for one in found if one.is_reached and one.may_be_missed]
    parts = ["Not reached:\n\n" + "\n".join(f"- {one.what}: {one.text}" for one in missed) if missed else "All are reached."]
    if close:
        names = "\n".join(f"- {one.what}" for one in close)
        parts.append(f"Reached, but by so little that the interval holds the target:\n\n{names}")
    return "\n\n".join(parts)


def n_rounds(found: Measured) -> int:
    """How often each contender played."""
    rounds: list[Any] = next(iter(found["contenders"].values()))["rounds"]
    return len(rounds)


def hows(contenders: Mapping[str, Mapping[str, Any]]) -> str:
    """How everybody plays: once for those who do so alike."""
    names: dict[str, list[str]] = {}
    for name, row in contenders.items():
        names.setdefault(row["how"], []).append(name)
    return "\n".join(f"- {them[0]}{' and the like' if len(them) > 1 else ''}: {how}." for how, them in names.items())


def training_part(found: Measured) -> str:
    """What one run of benchmarks.training says."""
    return f"{command(found)}\n\n{training_table(played(found))}"


def profile_part(found: Measured) -> str:
    """What one run of benchmarks.profile says."""
    cost = [Cost(**one) for one in found["costs"]]
    instructions = [Cost(**one) for one in found["instructions"]]
    table = costs_table(cost, found["plain"], instructions, found["plain_instructions"])
    calls = [[name, f"{one:.1f}"] for name, one in found["batch_calls"].items()]
    calls.append(["all of a step", f"{sum(found['batch_calls'].values()):.1f}"])
    happened = [[name, f"{value:.4f}"] for name, value in found["happenings"].items()]
    tables = [table, report.table(["a decision of a Batch", "ns"], calls), report.table(["a decision", "on average"], happened)]
    return "\n\n".join([f"{found['setting']}:", command(found), *tables])


def speed_page(speed: Measured, trainings: Sequence[Measured], profiles: Sequence[Measured]) -> str:
    """docs/speed.md."""
    return SPEED.format(
        rounds=n_rounds(speed),
        command=command(speed),
        about=about(speed),
        ratios=report.ratios_table(played(speed).rates()),
        hows=hows(speed["contenders"]),
        targets=report.targets_table(targets(speed)),
        not_reached=not_reached(speed),
        training_rounds=n_rounds(trainings[0]),
        trainings="\n\n".join(training_part(one) for one in trainings),
        training_hows=hows(trainings[0]["contenders"]),
        profiles="\n\n".join(profile_part(one) for one in profiles),
    )


def readme_part(speed: Measured) -> str:
    """The table of the README, and the seconds to the first step."""
    rates = played(speed).rates()
    middle = report.medians(rates)
    peers = {"x leduc_holdem": LEDUC, "x crazy_eights": CRAZY_EIGHTS, "x sparrow_mahjong": SPARROW}
    rows = [
        [name, f"{rate:,.0f}", *(report.figure_text(report.ratio(rates, name, peer)) for peer in peers.values())]
        for name, rate in middle.items()
        if name in SHOWN or speed["contenders"][name]["group"] == PEERS
    ]
    table = report.table(["contender", "decisions/s", *peers], rows)
    warm, cold = (list(report.medians(speed["first_step_s"][kind]).values()) for kind in ("warm", "cold"))
    starts = (
        f"From starting Python to the first step it took {min(warm):.2f} to {max(warm):.2f} s, by game, with compiled code in\n"
        f"the cache, and {min(cold):.0f} to {max(cold):.0f} s without."
    )
    head = OF_README.format(rounds=n_rounds(speed))
    return f"{head}\n\n{table}\n\n{starts}"


def read(folder: Path) -> tuple[Measured, list[Measured], list[Measured]]:
    """Throughput, trainings and profiles of a folder, the latter by name.

    Raises:
        FileNotFoundError: If one is missing.
    """
    trainings, profiles = (sorted(folder.glob(f"{kind}_*.json")) for kind in ("training", "profile"))
    wanted = {
        "throughput.json": [folder / "throughput.json"],
        "training_GAME.json": trainings,
        "profile_GAME_Np.json": profiles,
    }
    for name, found in wanted.items():
        if not found or not found[0].exists():
            raise FileNotFoundError(f"{folder} has no {name}; --help names the commands that write it")
    speed, *others = (
        json.loads(path.read_text(encoding="utf-8")) for path in (folder / "throughput.json", *trainings, *profiles)
    )
    return speed, others[: len(trainings)], others[len(trainings) :]


def with_part(text: str, part: str) -> str:
    """A page with what stands between the two marks replaced."""
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no {BEGIN} with an {END} behind it")
    return f"{head}{BEGIN}\n\n{part}\n\n{END}{tail}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Keeps the files, and writes the pages."""
    top = argparse.ArgumentParser(
        prog="python -m benchmarks.page", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("folder", type=Path, help="what the benchmarks wrote: their --out")
    folder = top.parse_args(arguments).folder
    try:
        speed, trainings, profiles = read(folder)
        if speed["missing"] or "cold" not in speed["first_step_s"]:
            raise ValueError(
                f"throughput.json is not of a whole run with --cold; missing: {speed['missing'] or 'the cold starts'}"
            )
    except (OSError, ValueError) as error:
        top.error(str(error))
    texts = {
        PAGE: speed_page(speed, trainings, profiles),
        README: with_part(README.read_text(encoding="utf-8"), readme_part(speed)),
    }
    if folder.resolve() != MEASURED:
        shutil.rmtree(MEASURED, ignore_errors=True)
        MEASURED.mkdir(parents=True)
        for path in sorted(folder.glob("*.json")):
            found = json.loads(path.read_text(encoding="utf-8"))
            found.pop("system", None)
            report.write_json(MEASURED, path.name, found)
    note = f"{speed['processor']}, {n_rounds(speed)} rounds of {speed['settings']['seconds']:g} s each"
    draw_chart(PICTURE, played(speed).rates(), {name: row["group"] for name, row in speed["contenders"].items()}, note)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    print(f"written: {PAGE}, {PICTURE}, {README}, {MEASURED}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
