"""Observations in the frame of one seat: whoever observes, the blocks by seat begin with the same seat."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from ..encoders import Encoder, _token_kernel, split, token_columns
from ..game import Game
from ..layout import Block, Layout
from ..options import OptionsError, check_int

OBSERVER = Block("observer", 1, "who observes, and whose hand and actions these are", per_seat=True)
#: Raised whenever what a frame does to an observation changes.
FRAME_VERSION = 1


@dataclass(frozen=True)
class FramedLayout(Layout):
    """The layout of an observation whose blocks by seat begin with one and the same seat, then go clockwise.

    Attributes:
        first_seat: The seat that comes first in every block by seat.
    """

    first_seat: int = 0

    @property
    def hash(self) -> str:
        """12 hex digits that change with the game's layout, the seat and the version of the frame."""
        text = repr(("frame", FRAME_VERSION, self.first_seat, super().hash))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


class Frame:
    """Turns observations of any form into the frame of one seat, and appends who observes.

    Attributes:
        layout: The layout afterwards.
        space: What one observation is afterwards.

    Args:
        encoder: The form of the observations, and their layout.
        game: The game.
        players: int64[n], the players of each row.
        seat: The seat that is to come first.
        space: The space of one observation as it comes, to be compared with what the encoder makes.

    Raises:
        OptionsError: If a table has no such seat, or the observations are no longer those that the encoder makes.
    """

    def __init__(self, encoder: Encoder, game: Game, players: np.ndarray, seat: int, space: gymnasium.Space[Any]) -> None:
        if space != encoder.space:
            raise OptionsError(
                f"FixedFrame takes the observations as {game.name} makes them, {encoder.space}, got {space}: "
                "put it around the environment before wrappers that change observations"
            )
        self.form = encoder.form
        before = self._before = encoder.layout
        self.seat = check_int("seat", seat, 0, int(players.min()) - 1)
        self.layout = FramedLayout(before.version, (*before.blocks, OBSERVER), before.seats, self.seat)
        self._players = players
        self._fewest = int(players.min())
        self._entries = np.stack([self._entries_of(n) for n in range(self._fewest, int(players.max()) + 1)])
        self._columns = token_columns(self.layout)
        self._starts = np.array([0, *(where.start for _, where in before)])
        self._sizes = np.array([0, *(block.size for block in before.blocks)])
        self._seat_columns = [column.name for column in game.rules.event_columns(before.seats)]
        self._most = game.rules.most_tokens(before.seats) + 1
        self.space = self._space(space)

    def _entries_of(self, players: int) -> np.ndarray:
        """int64[seats, size]: for each observer, where each entry in the new frame stands in the old one."""
        seats = self._before.seats
        index = np.tile(np.arange(self._before.size), (seats, 1))
        for observer in range(players):
            rows = np.arange(seats)
            rows[:players] = (np.arange(players) + self.seat - observer) % players
            for block, where in self._before:
                if block.per_seat:
                    index[observer, where] = index[observer, where].reshape(seats, block.size)[rows].reshape(-1)
        return index

    def __call__(self, observation: Any, observers: np.ndarray) -> Any:
        """Observations of ``n`` rows, made by ``observers`` (int[n]), in the frame: fresh arrays."""
        n = len(observers)
        flat = self._flat(observation, n)
        framed = np.zeros((n, self.layout.size), np.float32)
        size = self._before.size
        framed[:, :size] = np.take_along_axis(flat, self._entries[self._players[:n] - self._fewest, observers], 1)
        framed[np.arange(n), size + (observers - self.seat) % self._players[:n]] = 1.0
        if self.form == "flat":
            return framed
        if self.form == "dict":
            return split(self.layout, framed)
        if self.form == "history":
            return {"flat": framed, "events": self._events(observation["events"], observers)}
        tokens, amounts = np.zeros((n, self._most, 3), np.int32), np.zeros((n, self._most), np.float32)
        _token_kernel()(framed, np.arange(n), 0, n, self._columns, tokens, amounts)
        return {"tokens": tokens, "amounts": amounts}

    def of_one(self, observation: Any, observer: int, row: int = 0) -> Any:
        """One observation, of the table in row ``row``."""
        is_named = isinstance(observation, dict)
        one = {name: array[None] for name, array in observation.items()} if is_named else observation[None]
        frame = self if row == 0 and len(self._players) == 1 else self._of_row(row)
        framed = frame(one, np.array([observer]))
        return {name: array[0] for name, array in framed.items()} if is_named else framed[0]

    def _of_row(self, row: int) -> Frame:
        one = object.__new__(Frame)
        one.__dict__.update(self.__dict__, _players=self._players[row : row + 1])
        return one

    def _flat(self, observation: Any, n: int) -> np.ndarray:
        """The flat observations that say the same."""
        if self.form == "flat":
            return np.asarray(observation)
        if self.form == "history":
            return np.asarray(observation["flat"])
        if self.form == "dict":
            return np.concatenate([observation[block.name].reshape(n, -1) for block in self._before.blocks], 1)
        number, seat, entry = np.moveaxis(observation["tokens"], -1, 0)
        flat = np.zeros((n, self._before.size), np.float32)
        row, at = np.nonzero(number)
        where = self._starts[number] + seat * self._sizes[number] + entry
        flat[row, where[row, at]] = observation["amounts"][row, at]
        return flat

    def _events(self, events: np.ndarray, observers: np.ndarray) -> np.ndarray:
        """The events with their seats counted from the first seat of the frame."""
        out = events.copy()
        players, turn = self._players[: len(out), None], (observers - self.seat)[:, None]
        is_there = events[:, :, 0] > 0
        for column, name in enumerate(self._seat_columns):
            old = events[:, :, column]
            if name == "seat":
                out[:, :, column] = np.where(is_there, (old + turn) % players, 0)
            elif name == "target":  # 0: none, 1: no seat
                out[:, :, column] = np.where(old >= 2, 2 + (old - 2 + turn) % players, old)
        return out

    def _space(self, space: Any) -> gymnasium.Space[Any]:
        Box, Dict = gymnasium.spaces.Box, gymnasium.spaces.Dict
        flat = Box(0.0, 1.0, (self.layout.size,), np.float32)
        if self.form == "flat":
            return flat
        if self.form == "dict":
            named = split(self.layout, np.zeros(self.layout.size, np.float32))
            return Dict(OrderedDict((name, Box(0.0, 1.0, block.shape, np.float32)) for name, block in named.items()))
        if self.form == "history":
            return Dict(OrderedDict(flat=flat, events=space["events"]))
        most = np.array([len(self.layout.blocks), self.layout.seats - 1, self._sizes.max() - 1], np.int32)
        tokens = Box(np.zeros((self._most, 3), np.int32), np.tile(most, (self._most, 1)), dtype=np.int32)
        return Dict(OrderedDict(tokens=tokens, amounts=Box(0.0, 1.0, (self._most,), np.float32)))
