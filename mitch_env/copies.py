"""What a copy of a table environment consists of: snapshots, which are checked before they are played on, and spaces."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from .game import FIRST_OWN_PHASE, NOBODY, PHASE_OVER, Game, Table
from .log import DealLog
from .tables import bytes_of, described, opaque_bytes


@dataclass(frozen=True)
class Snapshot:
    """A table at one moment, as ``TableEnv.snapshot`` returns it and ``restore`` takes it.

    Attributes:
        table: One row of the game's table dtype.
        log: What was dealt and played so far, or None for a table that was not played (a redealt one).
    """

    table: np.recarray
    log: tuple[DealLog, ...] | None


@functools.cache
def _bytes_of_rules(dtype: np.dtype, options: Any) -> np.ndarray:
    """Where a table says by which rules it is played."""
    return bytes_of(dtype, ["players", "seats_encoded", *options.table_fields()])


def check_snapshot(snapshot: Any, game: Game, options: Any, tables: np.ndarray) -> None:
    """Whether an environment may go on from a snapshot.

    Args:
        snapshot: What somebody gave.
        game: The game of the environment.
        options: Its rules.
        tables: Its table, one row.

    Raises:
        ValueError: If it is no snapshot of a match by these rules.
    """
    if not isinstance(snapshot, Snapshot) or not hasattr(snapshot, "table") or not hasattr(snapshot, "log"):
        raise ValueError(f"restore takes what snapshot() or redeal_hidden() returned, got {type(snapshot).__name__}")
    table, log = snapshot.table, snapshot.log
    if type(table) not in (np.ndarray, np.recarray) or table.dtype != tables.dtype or table.shape != (1,):
        raise ValueError(
            f"the table of the snapshot must be one table of {game.name}, an array of shape (1,) as snapshot() and "
            f"redeal_hidden() make it; got {described(table)}"
        )
    if log is not None and not _is_log(log, table.dtype):
        raise ValueError("the log of the snapshot must be None or the deals that snapshot() has put there")
    fixed = _bytes_of_rules(tables.dtype, options)
    if np.any(opaque_bytes(table)[fixed] != opaque_bytes(tables)[fixed]):
        raise ValueError(_other_rules(table[0], options, tables[0]))
    s = table[0]
    asks = s.phase >= FIRST_OWN_PHASE and 0 <= s.actor < s.players
    if not asks and not (s.phase == PHASE_OVER and s.actor == NOBODY):
        raise ValueError("the table of the snapshot is neither over nor asks a seat anything: it is not from a match")


def _is_log(log: Any, dtype: np.dtype) -> bool:
    return isinstance(log, tuple) and bool(log) and all(_is_deal(deal, dtype) for deal in log)


def _is_deal(deal: Any, dtype: np.dtype) -> bool:
    return (
        isinstance(deal, DealLog)
        and isinstance(deal.table, bytes)
        and len(deal.table) == dtype.itemsize
        and isinstance(deal.actions, list)
        and all(isinstance(action, int) for action in deal.actions)
    )


def _other_rules(table: Table, options: Any, own: Table) -> str:
    """How the rules of a table differ from those of the environment with the table ``own``."""
    if table.players != own.players or table.seats_encoded != own.seats_encoded:
        return (
            f"the snapshot has {table.players} players, encoded as {table.seats_encoded}; "
            f"this environment has {own.players}, encoded as {own.seats_encoded}"
        )
    rules = options.table_fields().items()
    field, value = next((field, value) for field, value in rules if not np.array_equal(table[field], value))
    return f"the snapshot was played by other rules: {field} is {table[field]}, here {value}"


def own_spaces(spaces: Mapping[str, Any]) -> dict[str, Any]:
    """Copies of the spaces with generators of their own; what never changes of them is shared."""
    made: dict[int, Any] = {}

    def own(space: Any) -> Any:
        if id(space) not in made:
            twin = made[id(space)] = copy.copy(space)
            twin._np_random = copy.deepcopy(space._np_random)
            if isinstance(space, gymnasium.spaces.Dict):
                twin.spaces = type(space.spaces)((name, own(one)) for name, one in space.spaces.items())
        return made[id(space)]

    def copied_one(value: Any) -> Any:
        return {agent: own(space) for agent, space in value.items()} if isinstance(value, dict) else own(value)

    return {name: copied_one(value) for name, value in spaces.items()}
