"""Batches in tests: options for mixed tables, all that a batch shows, and random steps."""

from __future__ import annotations

from typing import Any

from games import some_options

from mitch_env import GAMES, Batch

BUFFERS = ("actor", "observation", "mask", "reward", "scored", "terminated", "truncated")


def mixed(name: str, n: int = 12) -> list[Any]:
    """Options of tables that differ in players and house rules."""
    game = GAMES[name]
    return [one for players in range(2, 6) for one in some_options(game, players, -(-n // 4), seed=1)][:n]


def contents(batch: Batch) -> dict[str, bytes]:
    """All that a caller can see, as bytes."""
    return {name: getattr(batch, name).tobytes() for name in (*BUFFERS, "tables")}


def play(batch: Batch, n_steps: int) -> None:
    for _ in range(n_steps):
        batch.step(batch.random_actions())
