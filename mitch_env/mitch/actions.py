"""The 106 actions of Mitch, the same for every preset, option and pack.

| action | meaning |
| --- | --- |
| 0 to 51 | lay that card at the bottom of the own column of its suit |
| 52 to 103 | discard that card; under ``clock="ace_hand"`` an ace is laid on the ace pile instead (R3) |
| 104 | draw from the stock (only asked for when taking is possible too, J4) |
| 105 | take the top discard straight into the own column |
"""

from __future__ import annotations

import numpy as np

from ..bits import expand, lowest_bit, popcount
from ..chance import below
from ..game import Table
from ..jit import rule
from .options import ACE_HAND
from .state import N_CARDS, N_RANKS, NO_CARDS, ONE, PHASE_DRAW, PHASE_PLAY, Cards, bit, fits, is_closed

DISCARD = N_CARDS
DRAW = 2 * N_CARDS
TAKE = DRAW + 1
N_ACTIONS = TAKE + 1


@rule
def is_ace_move(s: Table, card: int) -> bool:
    """Whether putting ``card`` down lays it on the ace pile (R3)."""
    return bool(s.clock == ACE_HAND and card % N_RANKS == 0)


@rule
def can_take(s: Table, seat: int) -> bool:
    """Whether ``seat`` could take the top discard straight into its tableau (J4)."""
    if s.take_discard == 0 or s.pile_size == 0:
        return False
    return bool(bit(s.pile[s.pile_size - 1]) & fits(s, seat) != NO_CARDS)


@rule
def layable(s: Table, seat: int) -> Cards:
    """The cards of the hand of ``seat`` that fit its columns now."""
    return s.hand[seat] & fits(s, seat)


@rule
def droppable(s: Table, seat: int, can_lay: Cards) -> Cards:
    """The cards of the hand that may be put down elsewhere, given those that can be laid (R1, J10, J11)."""
    if s.must_place != 0 and can_lay != NO_CARDS and not is_closed(s):
        return NO_CARDS
    return s.hand[seat]


@rule
def is_legal(s: Table, action: int) -> bool:
    """Whether the actor may do that now; false for every number that is no action."""
    if s.phase == PHASE_DRAW:
        return action in (DRAW, TAKE)
    if s.phase != PHASE_PLAY or action < 0 or action >= DRAW:
        return False
    can_lay = layable(s, s.actor)
    if action < DISCARD:
        return bool(bit(action) & can_lay != NO_CARDS)
    return bool(bit(action - DISCARD) & droppable(s, s.actor, can_lay) != NO_CARDS)


@rule
def legal_actions(s: Table, mask: np.ndarray) -> None:
    """Writes 1 for each legal action of the actor, 0 elsewhere, to ``mask`` (uint8[106])."""
    can_lay = NO_CARDS
    can_drop = NO_CARDS
    if s.phase == PHASE_PLAY:
        can_lay = layable(s, s.actor)
        can_drop = droppable(s, s.actor, can_lay)
    expand(can_lay, mask, 0, N_CARDS)
    expand(can_drop, mask, DISCARD, N_CARDS)
    asks = 1 if s.phase == PHASE_DRAW else 0
    mask[DRAW] = asks
    mask[TAKE] = asks


@rule
def nth_bit(cards: Cards, n: int) -> int:
    """The index of the ``n``-th lowest bit set in ``cards`` (0-based)."""
    for _ in range(n):
        cards &= cards - ONE
    return lowest_bit(cards)


@rule
def pick_legal(s: Table, bits: np.uint64) -> int:
    """A uniform legal action from 64 random bits: the ``below(bits, n)``-th of the n legal ones."""
    if s.phase == PHASE_DRAW:
        return DRAW + below(bits, 2)
    can_lay = layable(s, s.actor)
    can_drop = droppable(s, s.actor, can_lay)
    n_lay = popcount(can_lay)
    n = below(bits, n_lay + popcount(can_drop))
    if n < n_lay:
        return nth_bit(can_lay, n)
    return DISCARD + nth_bit(can_drop, n - n_lay)
