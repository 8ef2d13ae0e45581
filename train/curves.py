"""The curves of a run: lines of JSON while it trains, and a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from train.files import write_whole


def append_point(path: Path, point: dict[str, Any]) -> None:
    """Adds a line."""
    with path.open("a") as file:
        file.write(json.dumps(point) + "\n")


def read_points(path: Path) -> list[dict[str, Any]]:
    """All points; a last line that was cut off by a kill is left out."""
    points = []
    for line in path.read_text().split("\n") if path.exists() else []:
        try:
            points.append(json.loads(line))
        except ValueError:
            continue
    return points


def forget_after(path: Path, decisions: int) -> None:
    """Removes the points that a resumed run will make again."""
    kept = [point for point in read_points(path) if point["decisions"] <= decisions]
    write_whole(path, "".join(json.dumps(point) + "\n" for point in kept))


def draw_curves(points: list[dict[str, Any]], path: Path, title: str) -> None:
    """Draws the score against the fixed opponents, the entropy, the length of deals and the speed over decisions."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 7), layout="constrained", sharex=True)
    scores = [point for point in points if "scores" in point]
    for name in scores[-1]["scores"] if scores else []:
        rows = [(point["decisions"] / 1e6, *point["scores"][name]) for point in scores if name in point["scores"]]
        x, middle, low, high = zip(*rows, strict=True)
        axes[0, 0].plot(x, middle, marker="o", markersize=3, label=f"one policy among {name}")
        axes[0, 0].fill_between(x, low, high, alpha=0.2)
    axes[0, 0].axhline(0, color="grey", linewidth=0.8)
    axes[0, 0].set_ylabel("points minus the mean of the others")
    axes[0, 0].set_title("score with 95 % interval", fontsize=10)
    if scores and scores[-1]["scores"]:
        axes[0, 0].legend(fontsize=8)
    panels = [
        (axes[0, 1], "entropy", "nats", "entropy of the policy"),
        (axes[1, 0], "deal_length", "decisions", "length of a deal"),
        (axes[1, 1], "decisions_per_second", "decisions / s", "speed of training"),
    ]
    for panel, key, unit, name in panels:
        rows = [(point["decisions"] / 1e6, point[key]) for point in points if key in point]
        if rows:
            panel.plot(*zip(*rows, strict=True), linewidth=1)
            panel.set_ylim(top=1.08 * max(value for _, value in rows) or 1.0)
        panel.set_ylabel(unit)
        panel.set_title(name, fontsize=10)
        panel.set_ylim(bottom=0)
    for panel in axes[1]:
        panel.set_xlabel("million decisions")
    figure.suptitle(title, fontsize=11)
    figure.savefig(path, dpi=120)
    plt.close(figure)
