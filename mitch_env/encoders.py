"""The forms in which an observation comes, all made from one layout.

``flat``: float32[size] in [0, 1], the layout's blocks one after another.
``dict``: the same blocks by name, float32[block] or float32[seats, block].
``history``: ``flat``, and ``events``: the last public events, int32[32, columns], oldest first, zeros before the first.
``tokens``: every entry of ``flat`` that is not 0 as one token: a card in a place, or a fact. ``tokens``, int32[most, 3]: the
number of its block in the layout (from 1; 0 where there is no token), the seat that it is about (clockwise from the observer,
0 for blocks that are not by seat), its entry in the block. ``amounts``, float32[most]: what stands there.
"""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict
from typing import Any

import gymnasium
import numba
import numpy as np
from numba import types

from .events import RING
from .game import Game, Rules
from .jit import kernel
from .layout import Layout
from .options import check_choice
from .tables import with_own_arrays

OBSERVATIONS = ("flat", "dict", "history", "tokens")
#: What is written for events in the table's own names.
NO_RENAMING = -1


class Encoder:
    """One form of observation for ``n`` tables: the arrays that hold it, and how they are filled.

    Attributes:
        form: One of :data:`OBSERVATIONS`.
        layout: The blocks of ``flat``.
        flat: float32[n, size]; whoever owns the encoder writes it, then calls :meth:`write`.
        writes: Whether there is anything for :meth:`write` to do.
        space: What one table's observation is, for Gymnasium.

    Args:
        form: One of :data:`OBSERVATIONS`.
        game: The game.
        seats: How many seats are encoded.
        n: How many tables.

    Raises:
        OptionsError: If there is no such form.
    """

    def __init__(self, form: str, game: Game, seats: int, n: int) -> None:
        self.form = check_choice("observation", form, OBSERVATIONS)
        rules = game.rules
        self.layout = rules.layout(seats)
        self.flat = np.zeros((n, self.layout.size), np.float32)
        self._events = self._tokens = self._amounts = None
        self.writes = form in ("history", "tokens")
        self._game = game
        if form == "history":
            self._events = np.zeros((n, RING, len(rules.event_columns(seats))), np.int32)
        if form == "tokens":
            most = rules.most_tokens(seats)
            self._tokens = np.zeros((n, most, 3), np.int32)
            self._amounts = np.zeros((n, most), np.float32)
            self._where = token_columns(self.layout)
        self.space = self._space(seats)

    def __deepcopy__(self, memo: dict[int, Any]) -> Encoder:
        """The same form with arrays of its own."""
        return copy.copy(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(with_own_arrays(state))

    def write(self, tables: Any, rows: np.ndarray, lo: int, hi: int, seats: np.ndarray, codes: np.ndarray) -> None:
        """Fills what is made from ``flat`` and from the tables, at the rows ``rows[lo:hi]``.

        Args:
            tables: The tables, as ``kernel_view`` gives them.
            rows: int64, indices of tables.
            lo: The first place in ``rows``.
            hi: The place behind the last.
            seats: int8[n], who sees each table; -1 for nobody, who sees nothing.
            codes: int64[n], the renaming in which each table is seen, ``NO_RENAMING`` for none.
        """
        if self.form == "history":
            _event_kernel_of(self._game.rules)(tables, rows, lo, hi, seats, codes, self._events)
        elif self.form == "tokens":
            _token_kernel()(self.flat, rows, lo, hi, self._where, self._tokens, self._amounts)

    @property
    def value(self) -> Any:
        """What stands under ``observation``: views, not copies."""
        return self._named(self.flat, self._events, self._tokens, self._amounts)

    def copied(self, row: Any = None) -> Any:
        """The same in fresh arrays, of all tables or of one."""
        arrays = (self.flat, self._events, self._tokens, self._amounts)
        where: Any = slice(None) if row is None else row
        return self._named(*(None if array is None else array[where].copy() for array in arrays))

    def _named(self, flat: Any, events: Any, tokens: Any, amounts: Any) -> Any:
        if self.form == "flat":
            return flat
        if self.form == "dict":
            return split(self.layout, flat)
        return {"flat": flat, "events": events} if self.form == "history" else {"tokens": tokens, "amounts": amounts}

    def _space(self, seats: int) -> gymnasium.spaces.Space[Any]:
        Box = gymnasium.spaces.Box
        flat = Box(0.0, 1.0, (self.layout.size,), np.float32)
        if self.form == "flat":
            return flat
        if self.form == "dict":
            named = split(self.layout, np.zeros(self.layout.size, np.float32))
            return _in_order({name: Box(0.0, 1.0, block.shape, np.float32) for name, block in named.items()})
        if self.form == "history":
            most = np.array([column.most for column in self._game.rules.event_columns(seats)], np.int32)
            events = Box(np.zeros((RING, len(most)), np.int32), np.tile(most, (RING, 1)), dtype=np.int32)
            return _in_order({"flat": flat, "events": events})
        n_tokens = self._game.rules.most_tokens(seats)
        most = np.array([len(self.layout.blocks), seats - 1, max(block.size for block in self.layout.blocks) - 1], np.int32)
        tokens = Box(np.zeros((n_tokens, 3), np.int32), np.tile(most, (n_tokens, 1)), dtype=np.int32)
        return _in_order({"tokens": tokens, "amounts": Box(0.0, 1.0, (n_tokens,), np.float32)})


def _in_order(spaces: dict[str, gymnasium.spaces.Space[Any]]) -> gymnasium.spaces.Dict:
    """A ``Dict`` space in the given order (a plain dict would be sorted)."""
    return gymnasium.spaces.Dict(OrderedDict(spaces))


def split(layout: Layout, flat: np.ndarray) -> dict[str, np.ndarray]:
    """The blocks of flat observations by name, as views: ``[..., block]``, or ``[..., seats, block]`` for those by seat."""
    shapes = {block.name: (layout.seats, block.size) if block.per_seat else (block.size,) for block in layout.blocks}
    return {block.name: flat[..., where].reshape(*flat.shape[:-1], *shapes[block.name]) for block, where in layout}


def token_columns(layout: Layout) -> np.ndarray:
    """int32[size, 3]: the columns of the token that each entry of a flat observation makes."""
    columns = np.zeros((layout.size, 3), np.int32)
    for number, (block, where) in enumerate(layout, 1):
        entries = np.arange(where.stop - where.start)
        columns[where, 0] = number
        columns[where, 1] = entries // block.size
        columns[where, 2] = entries % block.size
    return columns


@functools.cache
def _event_kernel_of(rules: Rules) -> Any:
    """``(tables, rows, lo, hi, seats, codes, out)``: the last events at each of ``rows[lo:hi]``, as ``seats[i]`` sees them."""
    write_event = rules.write_event

    def event_rows(tables: Any, rows: Any, lo: int, hi: int, seats: Any, codes: Any, out: Any) -> None:
        for k in range(lo, hi):
            i = rows[k]
            s = tables[i]
            out[i] = 0
            if seats[i] < 0:
                continue
            n = min(int(s.n_events), RING)
            for j in range(n):
                event = s.events[(s.n_events - n + j) % RING]
                write_event(s, event, seats[i], codes[i], out[i, RING - n + j])

    ints = types.int64[::1]
    tables = numba.from_dtype(rules.table_dtype)[::1]
    signature = types.void(tables, ints, types.int64, types.int64, types.int8[::1], ints, types.int32[:, :, ::1])
    return kernel(event_rows, signature, f"{rules.name} events")


@functools.cache
def _token_kernel() -> Any:
    """``(flat, rows, lo, hi, columns, tokens, amounts)``: the entries that are not 0, in the order of the layout."""

    def token_rows(flat: Any, rows: Any, lo: int, hi: int, columns: Any, tokens: Any, amounts: Any) -> None:
        most = tokens.shape[1]
        for k in range(lo, hi):
            i = rows[k]
            n = 0
            for j in range(flat.shape[1]):
                value = flat[i, j]
                if value != 0.0 and n < most:
                    for column in range(3):
                        tokens[i, n, column] = columns[j, column]
                    amounts[i, n] = value
                    n += 1
            for j in range(n, most):
                for column in range(3):
                    tokens[i, j, column] = 0
                amounts[i, j] = 0.0

    floats = types.float32[:, ::1]
    where = (types.int64[::1], types.int64, types.int64, types.int32[:, ::1])
    return kernel(token_rows, types.void(floats, *where, types.int32[:, :, ::1], floats), "observation tokens")
