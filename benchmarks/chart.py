"""One picture of who plays how fast: bars on a logarithmic scale, with the range of the rounds."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.turns import FLOORS, OURS, PEERS

COLORS = {OURS: "#2166ac", PEERS: "#e08214", FLOORS: "#9a9a9a"}
LABELS = {OURS: "mitch-env", PEERS: "other packages", FLOORS: "floors: no game at all"}


def is_many(name: str) -> bool:
    """Whether a contender plays many tables a call."""
    words = ("Batch of", "fused", "memory floor", "tables")
    return any(word in name for word in words) and "Batch of 1" not in name.replace("Batch of 1024", "")


def human(rate: float) -> str:
    """A rate in few characters: 45.7 k, 1.73 M."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if rate >= size:
            value = rate / size
            return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"
    return f"{rate:.0f}"


def draw_chart(path: Path, rates: Mapping[str, Sequence[float]], groups: Mapping[str, str], note: str) -> None:
    """Draws ``path`` (PNG): one table a call above, many tables a call below, the fastest first.

    Args:
        path: The file.
        rates: Decisions a second of each contender in each round.
        groups: The group of each contender.
        note: What stands below the picture.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.patches import Patch

    order = sorted(rates, key=lambda name: -statistics.median(rates[name]))
    panels = {
        "One table a call, from Python": [name for name in order if not is_many(name)],
        "Many tables a call": [name for name in order if is_many(name)],
    }
    panels = {title: names for title, names in panels.items() if names}
    heights = [len(names) + 2 for names in panels.values()]
    figure, axes = plt.subplots(
        len(panels), 1, sharex=True, squeeze=False, figsize=(11, 1.4 + 0.24 * sum(heights)), layout="constrained",
        gridspec_kw={"height_ratios": heights},
    )  # fmt: skip
    for axis, (title, names) in zip(axes[:, 0], panels.items(), strict=True):
        _draw_panel(axis, title, names, rates, groups)
    every = [rate for values in rates.values() for rate in values]
    axes[-1, 0].set_xlim(min(every) / 2, max(every) * 4)
    axes[-1, 0].set_xlabel("decisions a second on one core (two where it says so), logarithmic; median and range of the rounds")
    present = [group for group in COLORS if group in set(groups.values())]
    handles = [Patch(color=COLORS[group], label=LABELS[group]) for group in present]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False)
    figure.supxlabel(note, fontsize=8, color="#555555")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _draw_panel(
    axis: Any, title: str, names: Sequence[str], rates: Mapping[str, Sequence[float]], groups: Mapping[str, str]
) -> None:
    places = range(len(names))
    middle = [statistics.median(rates[name]) for name in names]
    below = [m - min(rates[name]) for m, name in zip(middle, names, strict=True)]
    above = [max(rates[name]) - m for m, name in zip(middle, names, strict=True)]
    axis.barh(
        places, middle, color=[COLORS[groups[name]] for name in names], xerr=[below, above], height=0.72,
        error_kw={"ecolor": "black", "elinewidth": 1.1, "capsize": 2.5},
    )  # fmt: skip
    for place, name in zip(places, names, strict=True):
        axis.text(max(rates[name]) * 1.12, place, human(middle[place]), va="center", fontsize=8.5)
    axis.set_xscale("log")
    axis.set_yticks(places, names, fontsize=9)
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axis.grid(axis="x", which="major", color="#dddddd")
    axis.set_axisbelow(True)
    axis.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
