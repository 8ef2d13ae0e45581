"""Which agent beats which: one against the rest, every seating, with intervals.

For each ordered pair of agents one A plays among N - 1 B. A block is one match seed, played once with A in each seat, so that
neither the cards nor the seats favour anybody. The figure is A's points minus the mean of the others', averaged over a block;
the interval is a bootstrap over blocks. "A beats B" means that the interval lies above 0.

Run ``python -m agents.tournament --help``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mitch_env
from mitch_env import Game, get_game
from mitch_env.chance import checked_seed, match_seeds
from mitch_env.options import check_int
from mitch_env.record_commands import parse_options

from .agent import Agent, try_out
from .names import make_agent
from .play import play_matches

#: Resamples of the bootstrap.
_RESAMPLES = 2000


@dataclass(frozen=True)
class Duel:
    """One A among N - 1 B.

    Attributes:
        a: The one.
        b: The others.
        margin: A's points minus the mean of the others', mean over blocks.
        low: Lower end of the 95 % bootstrap interval.
        high: Upper end.
        win_share: A's share of the match wins (a shared win counts in parts); 1 / N if they are equally strong.
        blocks: Match seeds played, each in N seatings.
    """

    a: str
    b: str
    margin: float
    low: float
    high: float
    win_share: float
    blocks: int

    @property
    def verdict(self) -> str:
        """What the interval says."""
        if self.low > 0:
            return f"{self.a} beats {self.b}"
        return f"{self.a} loses to {self.b}" if self.high < 0 else "no difference shown"


def interval(values: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """The 95 % bootstrap percentile interval of the mean of ``values`` (Efron 1979)."""
    n = len(values)
    means = np.array([values[rng.integers(0, n, n)].mean() for _ in range(_RESAMPLES)])
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def duel(
    game: Game,
    options: Any,
    pair: tuple[Agent, Agent],
    blocks: int,
    seed: int,
    progress: Callable[[int], None] | None = None,
    names: tuple[str, str] | None = None,
) -> Duel:
    """Plays ``blocks`` seeds in every seating of one A (``pair[0]``) among N - 1 B (``pair[1]``).

    They are named as they are, or by ``names``.
    """
    players = options.players
    seeds = np.repeat(match_seeds(seed, blocks), players)
    seat_of_a = np.tile(np.arange(players), blocks)
    seating = (np.arange(players)[None, :] != seat_of_a[:, None]).astype(np.int64)
    rng = np.random.default_rng(np.random.SeedSequence((seed, 1)))
    totals = play_matches(game, options, pair, seating, seeds, rng=rng, progress=progress)
    own = totals[np.arange(len(totals)), seat_of_a]
    # own - (all - own) / (N - 1), with one division at the end, so that equal play is exactly 0.
    margins = (players * own - totals.sum(1)).reshape(blocks, players).sum(1) / (players * (players - 1))
    winners = totals == totals.max(1, keepdims=True)
    share = (winners / winners.sum(1, keepdims=True))[np.arange(len(totals)), seat_of_a]
    low, high = interval(margins, rng)
    name_a, name_b = names or (pair[0].name, pair[1].name)
    return Duel(name_a, name_b, float(margins.mean()), low, high, float(share.mean()), blocks)


def run(
    game: str | Game,
    agents: Sequence[str | Agent],
    *,
    options: Any = None,
    blocks: int = 500,
    seed: int = 0,
    progress: bool = False,
) -> list[Duel]:
    """Every ordered pair of agents against each other.

    Args:
        game: The game or its name.
        agents: At least two agents, as objects or names (:func:`agents.make_agent`).
        options: Options as a mapping or an options object; ``deals`` (or ``rounds``) is 1 unless given.
        blocks: Match seeds for each pair; each is played in every seating.
        seed: All matches follow from it.
        progress: Whether a progress bar is shown.

    Raises:
        ValueError: If an agent's name stands for nothing, it cannot play here or is given twice, or a number is out of range.
    """
    game = get_game(game)
    rules = rated_options(game, options)
    check_int("blocks", blocks, 2, 10_000_000)
    checked_seed(seed)
    if len(agents) < 2:
        raise ValueError(f"a tournament needs at least two agents, got {len(agents)}")
    for at, one in enumerate(agents):
        if any(one is other or (isinstance(one, str) and one == other) for other in agents[:at]):
            raise ValueError(f"{one if isinstance(one, str) else one.name} is given twice: each agent once")
    players = [make_agent(one, game) if isinstance(one, str) else one for one in agents]
    for player in players:
        try_out(player, game, rules)
    named = list(zip(players, _own_names([one.name for one in players]), strict=True))
    pairs = [(a, b) for a in named for b in named if a is not b]
    with _bar(len(pairs) * blocks * rules.players, progress) as update:
        return [duel(game, rules, (a, b), blocks, seed, update, (name_a, name_b)) for (a, name_a), (b, name_b) in pairs]


def _own_names(names: Sequence[str]) -> list[str]:
    """Names that tell agents apart: of equal ones the second is NAME (2), and so on."""
    own: list[str] = []
    for name in names:
        number, one = 1, name
        while one in own:
            number += 1
            one = f"{name} ({number})"
        own.append(one)
    return own


def rated_options(game: Game, options: Any) -> Any:
    """The game's options with matches of a single deal, unless the number of deals is given."""
    if options is None or isinstance(options, Mapping):
        single = {name: 1 for name in ("deals", "rounds") if hasattr(game.defaults, name)}
        return game.options({**single, **(options or {})})
    return game.options(options)


class _bar:
    """A progress bar, if tqdm is installed and one is wanted."""

    def __init__(self, total: int, wanted: bool) -> None:
        self._bar: Any = None
        if wanted:
            try:
                from tqdm import tqdm  # type: ignore[import-untyped]
            except ImportError:
                return
            self._bar = tqdm(total=total, unit="match", desc="tournament", file=sys.stderr)

    def __enter__(self) -> Callable[[int], None]:
        return (lambda n: None) if self._bar is None else self._bar.update

    def __exit__(self, *error: Any) -> None:
        if self._bar is not None:
            self._bar.close()


def table_text(duels: Sequence[Duel]) -> str:
    """The results as a table for a person."""
    width = max(len(name) for one in duels for name in (one.a, one.b))
    rows = [f"{'one':<{width}}  {'among':<{width}}  {'margin':>7}  {'95 % interval':>17}  {'wins':>5}"]
    for one in duels:
        between = f"{one.low:+.2f} to {one.high:+.2f}"
        share = f"{one.win_share:.3f}"
        rows.append(f"{one.a:<{width}}  {one.b:<{width}}  {one.margin:>+7.2f}  {between:>17}  {share:>5}  {one.verdict}")
    return "\n".join(rows)


def results(game: Game, options: Any, duels: Sequence[Duel], seed: int) -> dict[str, Any]:
    """The results with all that is needed to repeat them, ready for JSON."""
    return {
        "game": game.name,
        "options": options.as_dict(),
        "seed": seed,
        "command": shlex.join(sys.orig_argv),
        "versions": {"mitch_env": mitch_env.__version__, "numpy": np.__version__, "python": platform.python_version()},
        "duels": [asdict(one) for one in duels],
    }


def draw_matrix(duels: Sequence[Duel], path: str | Path, title: str) -> None:
    """Draws the payoff matrix: rows are the one, columns the others; needs matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    names = list(dict.fromkeys(name for one in duels for name in (one.a, one.b)))
    margins = np.full((len(names), len(names)), np.nan)
    for one in duels:
        margins[names.index(one.a), names.index(one.b)] = one.margin
    figure, axes = plt.subplots(figsize=(2.6 + 1.5 * len(names), 1.8 + 1.0 * len(names)), layout="constrained")
    top = float(np.nanmax(np.abs(margins))) or 1.0
    image = axes.imshow(margins, cmap="RdYlGn", vmin=-top, vmax=top, aspect="auto")
    axes.set_xticks(range(len(names)), names, rotation=20, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("the others being")
    axes.set_ylabel("one")
    axes.set_title(title, fontsize=10)
    for one in duels:
        text = f"{one.margin:+.2f}\n[{one.low:+.2f}, {one.high:+.2f}]"
        color = "white" if abs(one.margin) > 0.8 * top else "black"
        axes.text(names.index(one.b), names.index(one.a), text, ha="center", va="center", fontsize=9, color=color)
    figure.colorbar(image, label="points minus the mean of the others")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("the name of a folder is needed")
    return Path(text)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m agents.tournament", description=__doc__.split("\n\n")[0])
    top.add_argument("--game", required=True, help=f"one of {', '.join(mitch_env.GAMES)}")
    top.add_argument(
        "--agents", nargs="+", required=True, help="random, rule, policy:FILE, or package.module:Class?argument=value"
    )
    top.add_argument("--players", type=int, help="seats at each table (default: the game's)")
    top.add_argument(
        "--options", nargs="+", action="extend", default=[], metavar="OPTION", help="rules: a JSON object, or key=value"
    )
    top.add_argument("--blocks", type=int, default=500, help="match seeds for each pair, played in every seating (default 500)")
    top.add_argument("--seed", type=int, default=0, help="all matches follow from it (default 0)")
    top.add_argument("--out", type=_folder, help="folder for tournament.json and tournament.png")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a tournament; wrong input is a sentence on stderr and exit status 2."""
    known = parser().parse_args(arguments)
    try:
        game = get_game(known.game)
        options = parse_options(known.options) | ({} if known.players is None else {"players": known.players})
        if known.out is not None:
            if importlib.util.find_spec("matplotlib") is None:
                raise ValueError("--out draws with matplotlib, which is not there: install the extra 'train'")
            known.out.mkdir(parents=True, exist_ok=True)
        duels = run(game, known.agents, options=options, blocks=known.blocks, seed=known.seed, progress=True)
        print(table_text(duels))
        if known.out is not None:
            rules = rated_options(game, options)
            summary = results(game, rules, duels, known.seed)
            (known.out / "tournament.json").write_text(json.dumps(summary, indent=1) + "\n")
            draw_matrix(duels, known.out / "tournament.png", f"{game.name}, {rules.players} players, {known.blocks} blocks")
            print(f"written: {known.out / 'tournament.json'}, {known.out / 'tournament.png'}")
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted: nothing is written before all pairs have played", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
