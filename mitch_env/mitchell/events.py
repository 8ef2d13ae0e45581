"""Kinds of public events of Mitchell (``mitch_env.events``), and what their detail says.

Never a decline, never which card was given, and the end of a turn after a draw is the same event whether the drawn card could
be played or not (M28).
"""

from __future__ import annotations

import numpy as np

from ..game import Table
from ..jit import rule
from ..layout import Column
from .kinds import ANYWHERE, CHANGE, N_KINDS, N_SUITS, function_of
from .state import CENTER
from .symmetry import new_suit_of, renamed_kind

#: DEALT: the dealer; the number of the round modulo 256.
#: PLAYED: a card on the own turn; kind + N_KINDS x word. The word is a suit for change; for a card with a target 1 + seat, or 0
#: for the center.
#: REACTED: the kind of the reaction.
#: DREW: how many cards, by itself or forced.
#: KEPT: nothing was played in this turn.
#: RESHUFFLED: nothing.
#: WON, CAUGHT: the end of a round. BLOCKED, STOPPED: its end without points (M13, M20), by the seat whose turn it was.
DEALT, PLAYED, REACTED, DREW, KEPT, RESHUFFLED, WON, CAUGHT, BLOCKED, STOPPED = range(10)

#: What each kind is, in order.
KINDS = (
    "deals",
    "plays a card on the own turn",
    "reacts",
    "draws",
    "has played nothing in this turn",
    "shuffles the discards",
    "wins the round",
    "is caught by Mitchell",
    "ends the round without points: nobody can play or draw",
    "ends the match: there were too many turns",
)


def columns(seats: int) -> tuple[Column, ...]:
    """What ``write_event`` writes, for a number of encoded seats."""
    return (
        Column("event", len(KINDS), "what happened; 0: nothing yet"),
        Column("seat", seats - 1, "who did it, clockwise from the observer"),
        Column("card", N_KINDS, "1 + the kind of the card that is played; 0: none"),
        Column("suit", N_SUITS, "1 + the suit that a change names; 0: none"),
        Column("target", 1 + seats, "1: the center; 2 + the seat that a card is aimed at, clockwise from the observer"),
        Column("number", 255, "cards drawn; for a round its number, modulo 256"),
    )


@rule
def write_event(s: Table, event: int, seat: int, code: int, out: np.ndarray) -> None:
    """One event as ``seat`` counts seats, its suits renamed by ``code`` unless that is below 0."""
    kind, detail = int(event) >> 16, int(event) & 0xFF
    for i in range(6):
        out[i] = 0
    out[0] = 1 + kind
    out[1] = ((int(event) >> 8 & 0xFF) - seat) % s.players
    if kind in (DEALT, DREW):
        out[5] = detail
    if kind not in (PLAYED, REACTED):
        return
    card, word = detail % N_KINDS, detail // N_KINDS
    out[2] = 1 + (card if code < 0 else renamed_kind(code, card))
    if card == CHANGE:
        out[3] = 1 + (word if code < 0 else new_suit_of(code, word))
    elif kind == PLAYED and (card > CHANGE or function_of(card) == ANYWHERE):
        out[4] = 1 if word - 1 == CENTER else 2 + (word - 1 - seat) % s.players
