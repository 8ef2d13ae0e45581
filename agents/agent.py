"""What an agent is, and the only thing it gets to see."""

from __future__ import annotations

import weakref
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

    Nothing leads from a view to a table but :meth:`events` and :meth:`worlds`, and these answer only while the agent is being
    asked: afterwards another seat may be to act, and what it knows is not for this one.

    Attributes:
        game: The game that is played.
        seats_encoded: How many seats observations and actions are numbered for.
        observation: float32[n, size], in the encoder that the agent names.
        mask: bool[n, actions], what is legal, in the same names.
        seat: int8[n], the seat that must act.
    """

    __slots__ = ("__weakref__", "game", "mask", "observation", "seat", "seats_encoded")

    def __init__(self, game: Game, seats_encoded: int, observation: np.ndarray, mask: np.ndarray, seat: np.ndarray) -> None:
        self.game = game
        self.seats_encoded = seats_encoded
        self.observation = observation
        self.mask = mask
        self.seat = seat

    def __len__(self) -> int:
        return len(self.seat)

    def events(self, row: int) -> list[int]:
        """The last public events at the table of a row, oldest first (``mitch_env.events``)."""
        batch, rows = _open(self)
        return recent_events(batch.tables[rows[row]])

    def worlds(self, n: int, key: int) -> np.ndarray:
        """Tables that the acting seats cannot tell from the real ones: ``[rows, n]``, drawn by ``redeal_hidden``.

        They are in the table's own names (the ``flat`` encoder), re-keyed, and hold nothing that a seat cannot know.
        """
        batch, rows = _open(self)
        return batch.worlds(rows, n, key)


#: The tables behind the views that are being answered. They are kept here so that a view does not hold them.
_TABLES: weakref.WeakKeyDictionary[View, tuple[Batch, np.ndarray]] = weakref.WeakKeyDictionary()


def _open(view: View) -> tuple[Batch, np.ndarray]:
    if view not in _TABLES:
        raise ValueError("a view tells events and worlds only while its agent is being asked for these actions")
    return _TABLES[view]


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
    """What the actors at some rows of a batch see, and a function that turns chosen actions into the batch's own names.

    The view tells events and worlds as long as the batch is not stepped; :func:`act` sees to that.
    """
    canonical = check_choice("encoder", encoder, ENCODERS) == "canonical"
    seen = batch.seen(rows, canonical)
    view = View(batch.game, batch.seats, seen.observation, seen.mask, batch.actor[rows])
    _TABLES[view] = batch, rows
    return view, lambda actions: batch.own_names(seen, actions, canonical)


def act(agent: Agent, batch: Batch, rows: np.ndarray) -> np.ndarray:
    """Asks an agent for actions at some rows of a batch, in the batch's own names.

    Raises:
        ValueError: If the answer is not one legal action for each row.
    """
    view, own_names = view_of(batch, rows, agent.encoder)
    try:
        actions: Any = np.asarray(agent.act_batch(view))
    finally:
        del _TABLES[view]
    if actions.shape != (len(rows),) or actions.dtype.kind not in "iu":
        raise ValueError(f"{agent.name}: act_batch must return {len(rows)} integers, got {actions.dtype} {actions.shape}")
    inside = (actions >= 0) & (actions < batch.n_actions)
    own = own_names(np.where(inside, actions, 0).astype(np.int64))
    wrong = np.flatnonzero(~(inside & batch.mask[rows, own]))
    if len(wrong):
        raise ValueError(_refusal(agent, batch, int(rows[wrong[0]]), int(actions[wrong[0]])))
    return own


def try_out(agent: Agent, game: str | Game, options: Any) -> None:
    """Lets an agent choose once, so that one that cannot play here is told before anything is played.

    Raises:
        ValueError: If it cannot.
    """
    batch = Batch(game, 1, options=options, seed=0)
    batch.skip_silent()
    agent.reset(None, np.random.default_rng(0))
    try:
        act(agent, batch, np.zeros(1, np.int64))
    except Exception as error:  # an agent for another game may fail in any way
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        raise ValueError(f"{agent.name} cannot play {batch.game.name} with these options: {reason}") from error


def _refusal(agent: Agent, batch: Batch, row: int, action: int) -> str:
    """What was chosen and what is legal, in the names that the agent uses."""
    labels = batch.game.rules.action_labels(batch.seats)
    tried = labels[action] if 0 <= action < len(labels) else "no action of this game"
    mask = batch.seen([row], agent.encoder == "canonical").mask[0]
    legal = ", ".join(f"{labels[one]} (action {one})" for one in np.flatnonzero(mask))
    return f"{agent.name}, seat{batch.actor[row]}, tried: {tried} (action {action}); legal here: {legal}"
