"""Kinds of public events of Mitch (``mitch_env.events``), and how an observation tells them.

Never what was drawn: a card that goes into a hand is seen by its holder alone.
"""

from __future__ import annotations

import numpy as np

from ..game import Table
from ..jit import rule
from ..layout import Column
from .state import JOKER_CARD
from .symmetry import renamed_card

#: The detail is a card; for DEALT and PLAYOFF_DEALT the number of the deal or play-off modulo 256.
DEALT, LAID, DISCARDED, TOOK, ACE_LAID, CLOCK_UP, PLAYOFF_DEALT = range(7)

#: What each kind is, in order.
KINDS = (
    "deals",
    "lays a card",
    "discards a card",
    "takes the top discard into the own column",
    "lays an ace on the ace pile",
    "turns up a clock card",
    "deals a play-off",
)


def columns(seats: int) -> tuple[Column, ...]:
    """What ``write_event`` writes, for a number of encoded seats."""
    return (
        Column("event", len(KINDS), "what happened; 0: nothing yet"),
        Column("seat", seats - 1, "who did it, clockwise from the observer"),
        Column("card", 1 + JOKER_CARD, "1 + the card, suit x 13 + rank; 53: a joker; 0: none"),
        Column("number", 255, "for a deal or play-off its number, modulo 256"),
    )


@rule
def write_event(s: Table, event: int, seat: int, code: int, out: np.ndarray) -> None:
    """One event as ``seat`` counts seats, its suit renamed by ``code`` unless that is below 0."""
    kind, detail = int(event) >> 16, int(event) & 0xFF
    out[0] = 1 + kind
    out[1] = ((int(event) >> 8 & 0xFF) - seat) % s.players
    out[2] = 0
    out[3] = 0
    if kind in (DEALT, PLAYOFF_DEALT):
        out[3] = detail
    elif detail == JOKER_CARD or code < 0:
        out[2] = 1 + detail
    else:
        out[2] = 1 + renamed_card(detail, code)
