"""What a game is like to play, measured: decisions, forced ones, length, how deals end, what each seat scores.

    python -m benchmarks.deals --game mitchell
    python -m benchmarks.deals --game mitch_jp --agents random rule --deals 5000

A row is one agent in every seat at one number of players. Matches of one deal (a round of Mitchell); every deal is played to
its end, so that long ones count as often as short ones. After ± stand half widths of 95 % intervals.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

from agents import make_agent
from agents.agent import act
from agents.tournament import rated_options
from mitch_env import GAMES, Batch, Game, get_game
from mitch_env.chance import checked_seed


@dataclass
class Deals:
    """What was counted, one entry for each deal.

    Attributes:
        decisions: int64[n].
        forced: int64[n], decisions with a single legal action.
        turns: int64[n], turns up to the one that ended the deal, those without a decision included; 0 where a game does not
            count them.
        points: float64[n, players].
        truncated: bool[n].
    """

    decisions: np.ndarray
    forced: np.ndarray
    turns: np.ndarray
    points: np.ndarray
    truncated: np.ndarray


def play_deals(game: Game, options: Any, agent_name: str, n: int, seed: int) -> Deals:
    """Plays ``n`` matches of one deal with the same agent in every seat."""
    agent = make_agent(agent_name, game)
    agent.reset(None, np.random.default_rng(seed))
    batch = Batch(game, n, options=options, seed=seed, check=False)
    deals = Deals(*(np.zeros(n, np.int64) for _ in range(3)), np.zeros((n, options.players)), np.zeros(n, np.bool_))
    counts_turns = "turns_done" in batch.tables.dtype.names
    silent = np.flatnonzero(batch.actor < 0)  # these asked nobody anything and are over already
    deals.points[silent] = batch.tables.totals[silent, : options.players]
    deals.truncated[silent] = batch.tables.truncated[silent]
    if counts_turns:
        deals.turns[silent] = batch.tables.turns_done[silent]
    rows = np.flatnonzero(batch.actor >= 0)
    while len(rows):
        deals.decisions[rows] += 1
        deals.forced[rows] += batch.mask[rows].sum(1) == 1
        if counts_turns:
            deals.turns[rows] = batch.tables.turns_done[rows] + 1
        batch.step(act(agent, batch, rows), rows)
        deals.points[rows] += batch.reward[rows]
        deals.truncated[rows] = batch.truncated[rows]
        rows = rows[~(batch.terminated[rows] | batch.truncated[rows])]
    return deals


def spread(values: np.ndarray) -> str:
    """A mean and the half width of its interval."""
    half = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    digits = 1 if half >= 0.1 else 2
    return f"{values.mean():.{digits}f} ± {half:.{digits}f}"


def endings(game: Game, deals: Deals) -> str:
    """How the deals of Mitchell ended; for the other games, how often somebody had most points alone."""
    points = deals.points
    if game.rules.name != "mitchell":
        return f"one best seat {100 * ((points == points.max(1, keepdims=True)).sum(1) == 1).mean():.1f} %"
    won = (points == 200).any(1)
    caught = won & (points == -100).any(1)
    blocked = ~won & ~deals.truncated
    parts = [("won, somebody caught", caught), ("won, nobody caught", won & ~caught), ("blocked", blocked)]
    parts.append(("truncated", deals.truncated))
    return ", ".join(f"{name} {100 * one.mean():.1f} %" for name, one in parts if one.any())


def row(game: Game, players: int, agent: str, deals: Deals) -> str:
    """A line of the table."""
    seats = ", ".join(f"{deals.points[:, seat].mean():+.1f}" for seat in range(players))
    worst = max(1.96 * deals.points[:, seat].std(ddof=1) / np.sqrt(len(deals.points)) for seat in range(players))
    forced = f"{100 * deals.forced.sum() / max(deals.decisions.sum(), 1):.1f} %"
    turns = spread(deals.turns) if deals.turns.any() else "as many"
    cells = [str(players), agent, spread(deals.decisions), forced, turns, endings(game, deals), f"{seats} (± {worst:.1f})"]
    return "| " + " | ".join(cells) + " |"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="python -m benchmarks.deals", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--game", choices=sorted(GAMES), default="mitchell", help="the game (default: mitchell)")
    top.add_argument("--agents", nargs="+", default=["random", "rule"], help="agents by name (default: random rule)")
    top.add_argument("--players", nargs="+", type=int, help="numbers of players (default: all)")
    top.add_argument("--deals", type=int, default=4000, help="deals for each row (default: 4000)")
    top.add_argument("--seed", type=int, default=1, help="of the matches and the agents (default: 1)")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit status."""
    top = parser()
    given = top.parse_args(arguments)
    if given.deals < 2:
        top.error("--deals: 2 or more are needed for an interval")
    game = get_game(given.game)
    try:
        checked_seed(given.seed, "--seed")
    except ValueError as error:
        top.error(str(error))
    counts = dict.fromkeys(given.players or range(2, game.rules.max_seats + 1))
    agents = dict.fromkeys(given.agents)
    print("| players | agents | decisions | one legal action | turns | how deals end | points by seat |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    jobs = [(players, agent) for players in counts for agent in agents]
    for players, agent in tqdm(jobs, unit="row", disable=not sys.stderr.isatty()):
        try:
            deals = play_deals(game, rated_options(game, {"players": players}), agent, given.deals, given.seed)
        except (ValueError, OSError) as error:
            top.error(f"--agents {agent}: {error}" if isinstance(error, OSError) else str(error))
        tqdm.write(row(game, players, agent, deals))
    return 0


if __name__ == "__main__":
    sys.exit(main())
