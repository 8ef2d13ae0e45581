"""What an agent is, and the only thing it gets to see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from mitch_env import Batch, Game
from mitch_env.events import recent_events
from mitch_env.options import check_choice

#: ``flat``: the observation as the environments give it. ``canonical``: the same after suits are renamed by what the seat
#: sees, so that positions that differ in names only look equal; actions are numbered in the same names.
ENCODERS = ("flat", "canonical")


class View:
    """What some seats that must act see, one row for each decision; rows may be at different tables and seats.

    Attributes:
        game: The game that is played.
        seats_encoded: How many seats observations and actions are numbered for.
        observation: float32[n, size], in the encoder that the agent names.
        mask: bool[n, actions], what is legal, in the same names.
        seat: int8[n], the seat that must act.
    """

    __slots__ = ("_events", "_worlds", "game", "mask", "observation", "seat", "seats_encoded")

    def __init__(
        self,
        game: Game,
        seats_encoded: int,
        observation: np.ndarray,
        mask: np.ndarray,
        seat: np.ndarray,
        events: Callable[[int], list[int]],
        worlds: Callable[[int, int], np.ndarray],
    ) -> None:
        self.game = game
        self.seats_encoded = seats_encoded
        self.observation = observation
        self.mask = mask
        self.seat = seat
        self._events = events
        self._worlds = worlds

    def __len__(self) -> int:
        return len(self.mask)

    def events(self, row: int) -> list[int]:
        """The last public events at the table of a row, oldest first (``mitch_env.events``)."""
        return self._events(row)

    def worlds(self, n: int, key: int) -> np.ndarray:
        """Tables that the acting seats cannot tell from the real ones: ``[rows, n]``, drawn by ``redeal_hidden``.

        They are in the table's own names (the ``flat`` encoder), re-keyed, and hold nothing that a seat cannot know.
        """
        return self._worlds(n, key)


class Agent(Protocol):
    """Plays any number of decisions at once.

    Attributes:
        name: As results name it.
        encoder: Which of :data:`ENCODERS` the views come in.
    """

    name: str
    encoder: str

    def reset(self, seat: int | None, rng: np.random.Generator) -> None:
        """New matches begin.

        Args:
            seat: The seat that the agent plays in all of them, or None if it differs.
            rng: The agent's only source of chance.
        """

    def act_batch(self, view: View) -> np.ndarray:
        """An action for each row of the view: int64[n]."""


def view_of(batch: Batch, rows: np.ndarray, encoder: str) -> tuple[View, Callable[[np.ndarray], np.ndarray]]:
    """What the actors at some rows of a batch see, and a function that turns chosen actions into the batch's own names."""
    canonical = check_choice("encoder", encoder, ENCODERS) == "canonical"
    seen = batch.seen(rows, canonical)
    seats = batch.actor[rows]

    def events(row: int) -> list[int]:
        return recent_events(batch.tables[rows[row]])

    def worlds(n: int, key: int) -> np.ndarray:
        return batch.worlds(rows, n, key)

    view = View(batch.game, batch.seats, seen.observation, seen.mask, seats, events, worlds)
    return view, lambda actions: batch.own_names(seen, actions, canonical)


def act(agent: Agent, batch: Batch, rows: np.ndarray) -> np.ndarray:
    """Asks an agent for actions at some rows of a batch, in the batch's own names.

    Raises:
        ValueError: If the answer is not one legal action for each row.
    """
    view, own_names = view_of(batch, rows, agent.encoder)
    actions: Any = np.asarray(agent.act_batch(view))
    if actions.shape != (len(rows),) or actions.dtype.kind not in "iu":
        raise ValueError(f"{agent.name}: act_batch must return {len(rows)} integers, got {actions.dtype} {actions.shape}")
    inside = (actions >= 0) & (actions < view.mask.shape[1])
    wrong = np.flatnonzero(~(inside & view.mask[np.arange(len(rows)), np.where(inside, actions, 0)]))
    if len(wrong):
        legal = np.flatnonzero(view.mask[wrong[0]])
        raise ValueError(f"{agent.name} chose {actions[wrong[0]]}, legal were {legal.tolist()}")
    return own_names(actions)
