"""A table of Mitch: the record, and the few bit operations that everything else is written in.

A card is suit x 13 + rank, suits S H D C, ranks A 2 ... K; 52 is a joker. A set of cards is a uint64 with bit ``card`` set.
A column descends, so its cards tell its order: a seat's whole tableau is one set of cards.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..game import FIRST_OWN_PHASE, Table, table_dtype
from ..jit import rule
from .options import ACE_HAND, ANY_LOWER, JOKER, MAX_PLAYERS

N_CARDS = 52
N_RANKS = 13
JOKER_CARD = 52
MAX_STOCK = N_CARDS + 4

#: The actor decides whether to draw or to take the top discard (J4); the actor lays or discards a card of the hand.
PHASE_DRAW, PHASE_PLAY = FIRST_OWN_PHASE, FIRST_OWN_PHASE + 1

TABLE = table_dtype(
    MAX_PLAYERS,
    [
        # The options, as numbers (options.py).
        ("deals", "i4"),
        ("playoffs", "i4"),
        ("hand_size", "i1"),
        ("clock", "i1"),
        ("clock_cards", "i1"),
        ("column_step", "i1"),
        ("must_place", "i1"),
        ("take_discard", "i1"),
        ("closer_plays", "i1"),
        ("scoring", "i1"),
        ("lost_column_penalty", "i1"),
        ("tie_break", "i1"),
        ("shortest_double", "i1"),
        ("waiting_penalty", "i1"),
        ("suits", "i1"),
        ("ranks", "i1"),
        # The match.
        ("playoff", "i4"),  # which play-off of the current deal this is, 0 for the deal itself (R7)
        ("regular_dealer", "i1"),  # who dealt the last regular deal
        ("taking_part", "u1"),  # bit set of the seats that are dealt in
        # The deal.
        ("hand", "u8", (MAX_PLAYERS,)),
        ("tableau", "u8", (MAX_PLAYERS,)),
        ("clock_up", "u8"),  # the aces that lie face up as clock cards
        ("clock_seen", "i1"),  # clock cards that lie face up, jokers included
        ("waited", "u1"),  # bit set of the seats that decided while the stock was open and have placed nothing since (J6)
        ("placed", "u1"),  # bit set of the seats that placed a card while the stock was open
        ("n_revealed", "i1"),
        ("revealed", "i1", (4,)),  # the aces turned up while dealing, in order (J3)
        ("stock_next", "i1"),  # stock[stock_next:stock_size] is still face down, the next card first
        ("stock_size", "i1"),
        ("stock", "i1", (MAX_STOCK,)),
        ("pile_size", "i1"),
        ("pile", "i1", (N_CARDS,)),  # the discards, the top one last
    ],
)

#: A set of cards, an np.uint64 (Any to the type checker, since it comes out of tables).
Cards: TypeAlias = Any

NO_CARDS = np.uint64(0)
ONE = np.uint64(1)
#: The ranks of one suit.
SUIT_BITS = np.uint64((1 << N_RANKS) - 1)
#: The lowest rank of each suit.
LOWEST = np.uint64(sum(1 << N_RANKS * suit for suit in range(4)))
#: The ace of each suit.
ACES = LOWEST
_TWO, _FOUR, _EIGHT = np.uint64(2), np.uint64(4), np.uint64(8)
#: All cards but the lowest one, two, four, eight of each suit: where a bit that was shifted up so far has come from its suit.
_NO_LOWEST, _NO_LOWEST_2, _NO_LOWEST_4, _NO_LOWEST_8 = (
    np.uint64(sum((0x1FFF >> n << n) << N_RANKS * suit for suit in range(4))) for n in (1, 2, 4, 8)
)


@rule
def bit(card: int) -> Cards:
    """The set that holds one card."""
    return ONE << np.uint64(card)


@rule
def column(s: Table, seat: int, suit: int) -> Cards:
    """The ranks (13 bits) in the column of ``suit`` in front of ``seat``."""
    return s.tableau[seat] >> np.uint64(N_RANKS * suit) & SUIT_BITS


@rule
def pack(s: Table) -> Cards:
    """All cards of the pack, aces included, jokers not."""
    return (bit(s.ranks) - ONE) * LOWEST & (bit(N_RANKS * s.suits) - ONE)


@rule
def lowest_rank(s: Table) -> int:
    """The lowest rank that a column can hold: with an ace clock the aces are markers only."""
    return 0 if s.clock == JOKER else 1


@rule
def is_closed(s: Table) -> bool:
    """Whether nobody draws any more: the closing clock card is up, or the stock is used up (R4)."""
    return bool(s.clock_seen >= s.clock_cards or s.stock_next >= s.stock_size)


@rule
def is_clock_card(s: Table, card: int) -> bool:
    """Whether a card from the stock is turned up as a clock card instead of going into the hand."""
    if card == JOKER_CARD:
        return True
    return bool(s.clock != JOKER and s.clock != ACE_HAND and card % N_RANKS == 0)


@rule
def pile_set(s: Table) -> Cards:
    """The discards as a set."""
    cards = NO_CARDS
    for i in range(s.pile_size):
        cards |= bit(s.pile[i])
    return cards


@rule
def fits(s: Table, seat: int) -> Cards:
    """The cards that could be laid at the bottom of the columns of ``seat`` now, whoever holds them.

    All suits at once: a set is four groups of 13 bits, and no shift may carry a bit into the next group.
    """
    laid = s.tableau[seat]
    at_or_above = laid | laid << ONE & _NO_LOWEST
    at_or_above |= at_or_above << _TWO & _NO_LOWEST_2
    at_or_above |= at_or_above << _FOUR & _NO_LOWEST_4
    at_or_above |= at_or_above << _EIGHT & _NO_LOWEST_8
    lower = ~at_or_above
    if s.column_step != ANY_LOWER:
        bottoms = at_or_above & ~(at_or_above << ONE & _NO_LOWEST)
        empty = (LOWEST & ~(at_or_above >> np.uint64(N_RANKS - 1))) * SUIT_BITS
        lower = bottoms >> ONE & ~(LOWEST << np.uint64(N_RANKS - 1)) | empty
    return lower & pack(s) & ~((bit(lowest_rank(s)) - ONE) * LOWEST)


@rule
def unseen(s: Table, seat: int) -> Cards:
    """The cards of the pack that ``seat`` has not seen where they are: in other hands, in the stock, or unused."""
    seen = s.hand[seat] | s.clock_up | pile_set(s)
    for other in range(MAX_PLAYERS):  # nobody has laid anything at a seat that is not there
        seen |= s.tableau[other]
    return pack(s) & ~seen
