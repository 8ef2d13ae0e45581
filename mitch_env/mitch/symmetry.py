"""The names of the suits do not matter: an exact symmetry of Mitch, used to show equal positions as equal.

A renaming is a small integer: two bits for each suit, the new suit of suit 0 lowest.
"""

from __future__ import annotations

import itertools

import numpy as np

from ..bits import popcount
from ..game import Table
from ..jit import rule
from ..options import check_int
from ..seats import next_seat
from .actions import DRAW
from .observation import layout
from .state import N_CARDS, N_RANKS, NO_CARDS, SUIT_BITS, Cards, column

_N_SUITS = 4
IDENTITY = 0 | 1 << 2 | 2 << 4 | 3 << 6
#: The blocks of an observation with an entry for each card, and for each suit.
_BY_CARD = ("hand", "layable", "discards", "unseen", "skips", "tableau")
_BY_SUIT = ("clock_aces", "bottom", "length", "reach", "leads")


@rule
def canonical(s: Table, seat: int) -> int:
    """The renaming that sorts the suits by what ``seat`` sees of them: longest own column first, then most cards held, then
    the cards themselves. Suits that look alike in all that keep their order, so it depends on nothing hidden."""
    code = IDENTITY
    for suit in range(s.suits):
        rank = 0
        key = _suit_key(s, seat, suit)
        for other in range(s.suits):
            other_key = _suit_key(s, seat, other)
            if other_key > key or (other_key == key and other < suit):
                rank += 1
        code = code & ~(3 << 2 * suit) | rank << 2 * suit
    return code


@rule
def _suit_key(s: Table, seat: int, suit: int) -> int:
    own = column(s, seat, suit)
    held = s.hand[seat] >> _shift(suit) & SUIT_BITS
    left = column(s, next_seat(s, seat), suit)
    key = popcount(own) << 4 | popcount(held)
    return key << 39 | int(own) << 26 | int(held) << 13 | int(left)


@rule
def _shift(suit: int) -> Cards:
    return np.uint64(N_RANKS * suit)


@rule
def renamed_set(cards: Cards, code: int) -> Cards:
    """A set of cards with its suits renamed."""
    renamed = NO_CARDS
    for suit in range(_N_SUITS):
        renamed |= (cards >> _shift(suit) & SUIT_BITS) << _shift(code >> 2 * suit & 3)
    return renamed


@rule
def relabel(s: Table, code: int, out: Table) -> None:
    """Makes ``out``, a copy of ``s``, show what ``s`` would show with its suits renamed: all that ``observe`` and
    ``legal_actions`` read. The stock and the events keep their names."""
    for seat in range(s.players):
        out.hand[seat] = renamed_set(s.hand[seat], code)
        out.tableau[seat] = renamed_set(s.tableau[seat], code)
    out.clock_up = renamed_set(s.clock_up, code)
    for i in range(s.pile_size):
        out.pile[i] = renamed_card(int(s.pile[i]), code)


@rule
def renamed_card(card: int, code: int) -> int:
    return N_RANKS * (code >> 2 * (card // N_RANKS) & 3) + card % N_RANKS


@rule
def rename_action(code: int, action: int) -> int:
    """An action with its card renamed; numbers that are no such action stay as they are."""
    if action < 0 or action >= DRAW:
        return action
    return action - action % N_CARDS + renamed_card(action % N_CARDS, code)


@rule
def inverse(code: int) -> int:
    """The renaming that undoes ``code``."""
    back = 0
    for suit in range(_N_SUITS):
        back |= suit << 2 * (code >> 2 * suit & 3)
    return back


# --- The renamings of a pack, and what each does to an observation.


def renamings(seats: int, suits: int | None = None) -> tuple[int, ...]:
    """The codes of all renamings of the first ``suits`` suits, those of the pack; ``IDENTITY`` first.

    Raises:
        OptionsError: If no pack has so many suits.
    """
    n = _N_SUITS if suits is None else check_int("suits", suits, 1, _N_SUITS)
    orders = (itertools.chain(order, range(n, _N_SUITS)) for order in itertools.permutations(range(n)))
    return tuple(sum(new << 2 * suit for suit, new in enumerate(order)) for order in orders)


def renamed_entries(seats: int, code: int) -> np.ndarray:
    """int64[size]: entry ``j`` of an observation with its suits renamed is entry ``index[j]`` of the original one."""
    here, back = layout(seats), inverse(code)
    cards = [renamed_card(card, back) for card in range(N_CARDS)]
    suits = [back >> 2 * suit & 3 for suit in range(_N_SUITS)]
    index = np.arange(here.size)
    for block, where in here:
        entries = index[where].reshape(-1, block.size)
        if block.name in _BY_CARD:
            entries[:] = entries[:, cards]
        elif block.name in _BY_SUIT:
            entries[:] = entries[:, suits]
        elif block.name == "top_discard":
            entries[:, N_RANKS:] = entries[:, N_RANKS:][:, suits]
    return index
