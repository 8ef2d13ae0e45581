"""Kinds of public events of Mitchell (``mitch_env.events``), and what their detail says.

Never a decline, never which card was given, and the end of a turn after a draw is the same event whether the drawn card could
be played or not (M28).
"""

from __future__ import annotations

#: DEALT: the dealer; the number of the round modulo 256.
#: PLAYED: a card on the own turn; kind + N_KINDS x word. The word is a suit for change; for a card with a target 1 + seat, or 0
#: for the center.
#: REACTED: the kind of the reaction.
#: DREW: how many cards, by itself or forced.
#: KEPT: nothing was played in this turn.
#: RESHUFFLED: nothing.
#: WON, CAUGHT: the end of a round. BLOCKED, STOPPED: its end without points (M13, M20), by the seat whose turn it was.
DEALT, PLAYED, REACTED, DREW, KEPT, RESHUFFLED, WON, CAUGHT, BLOCKED, STOPPED = range(10)
