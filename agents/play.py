"""Playing matches between agents, many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mitch_env import Batch, Game

from .agent import Agent, act

#: Matches that are played side by side.
_TABLES = 2048


def play_matches(
    game: Game,
    options: Any,
    agents: Sequence[Agent],
    seating: np.ndarray,
    seeds: np.ndarray,
    *,
    rng: np.random.Generator,
    progress: Callable[[int], None] | None = None,
) -> np.ndarray:
    """Plays one match for each seed and returns the final scores.

    All decisions of one agent at one moment are asked for in one call.

    Args:
        game: The game.
        options: Its options object.
        agents: The agents.
        seating: int[n, players], which of the agents sits where in each match.
        seeds: uint64[n], the match seeds.
        rng: The chance of the agents; each gets a generator of its own.
        progress: Called with the number of matches that have just ended.

    Returns:
        float64[n, players], the match totals.
    """
    n, players = seating.shape
    totals = np.zeros((n, players))
    for agent, own in zip(agents, rng.spawn(len(agents)), strict=True):
        agent.reset(None, own)
    for start in range(0, n, _TABLES):
        chunk = slice(start, min(start + _TABLES, n))
        totals[chunk] = _play_chunk(game, options, agents, seating[chunk], seeds[chunk], progress)
    return totals


def _play_chunk(
    game: Game,
    options: Any,
    agents: Sequence[Agent],
    seating: np.ndarray,
    seeds: np.ndarray,
    progress: Callable[[int], None] | None,
) -> np.ndarray:
    n, players = seating.shape
    batch = Batch(game, n, options=options, seed=seeds, reward="points")
    totals: np.ndarray = batch.tables.totals[:, :players].astype(np.float64)  # not 0 if the first deals asked nobody anything
    rows = np.flatnonzero(batch.actor >= 0)
    actions = np.zeros(n, np.int64)
    while len(rows):
        who = seating[rows, batch.actor[rows]]
        for index in np.unique(who):
            own = rows[who == index]
            actions[own] = act(agents[index], batch, own)
        batch.step(actions[rows], rows)
        totals[rows] += batch.reward[rows]
        is_over = batch.terminated[rows] | batch.truncated[rows]
        if progress is not None and is_over.any():
            progress(int(is_over.sum()))
        rows = rows[~is_over]
    return totals
