"""A table of Mitchell: the record, and what is read off it everywhere."""

from __future__ import annotations

from ..bits import nonzero
from ..game import FIRST_OWN_PHASE, Table, table_dtype
from ..jit import rule
from .kinds import (
    ACTIONS,
    GIVE,
    INVESTIGATIONS,
    N_KINDS,
    NOTHING,
    REACTIONS,
    Kinds,
    bit,
    function_of,
    is_investigation,
    of_function,
    of_suit,
)
from .options import MAX_CARDS, MAX_PLAYERS

#: The actor plays a card of the hand; plays or keeps the card just drawn; answers the action of the seat whose turn it is.
PHASE_PLAY, PHASE_DRAWN, PHASE_ANSWER = range(FIRST_OWN_PHASE, FIRST_OWN_PHASE + 3)

#: Where Mitchell is when he stands before nobody: the same number as NOBODY.
CENTER = -1

TABLE = table_dtype(
    MAX_PLAYERS,
    [
        # The options, as numbers (options.py); target_score is 0 for none.
        ("target_score", "i4"),
        ("rounds", "i4"),
        ("max_turns", "i4"),
        ("hand_size", "i2"),
        ("unplayed", "i1"),
        ("release_wins", "i1"),
        ("ask_everyone", "i1"),
        ("deck", "u1", (N_KINDS,)),
        # The round.
        ("turns_done", "i4"),  # M20
        ("idle_turns", "i1"),  # turns in a row in which no card was played or drawn (M13)
        ("played_out", "u1"),  # bit set of the seats that played their last card in this turn (M10)
        ("mitchell", "i1"),  # the seat that he stands before, or CENTER
        ("suit", "i1"),  # the current one, NOTHING before the first
        ("hand", "u1", (MAX_PLAYERS, N_KINDS)),  # cards of each kind
        ("n_held", "u1", (MAX_PLAYERS,)),  # cards in each hand, for all to see (M15)
        ("n_known", "u1"),
        ("known", "u2", (MAX_CARDS,)),  # what is known of other hands after gifts (memory.py); zeros behind it
        ("discards", "u1", (N_KINDS,)),  # cards of each kind on the discard pile
        ("n_discards", "i2"),
        ("top", "i1"),  # the kind that lies on top of it, NOTHING if it is empty
        ("stock", "u1", (MAX_CARDS,)),  # as it was shuffled; zeros behind it
        ("stock_next", "i2"),  # stock[stock_next:stock_size] is still face down, the next card first
        ("stock_size", "i2"),
        ("arranged", "u1", (MAX_CARDS,)),  # the stock that the next reshuffle makes, in draw order
        ("n_arranged", "i2"),  # its cards; 0: the next reshuffle is left to chance
        # The turn.
        ("drawn", "i1"),  # PHASE_DRAWN: the card just drawn, else NOTHING
        ("pending", "i1"),  # PHASE_ANSWER: the action that the seat whose turn it is has played, else NOTHING
        ("target", "i1"),  # whom it is aimed at, or where it sends Mitchell; NOBODY (CENTER) for nobody
        ("new_suit", "i1"),  # the suit that a pending change names, else NOTHING
        ("gift", "i1"),  # the card of a pending give, still in the hand of the giver (M6), else NOTHING
    ],
)


@rule
def held(s: Table, seat: int) -> Kinds:
    """The kinds in the hand of ``seat``."""
    return nonzero(s.hand[seat], N_KINDS)


@rule
def fitting(s: Table) -> Kinds:
    """The investigations that may be played now: by suit, or by the function of an uncovered one (M3)."""
    if s.suit == NOTHING:
        return INVESTIGATIONS
    if is_investigation(s.top):
        return of_suit(s.suit) | of_function(function_of(s.top))
    return of_suit(s.suit)


@rule
def playable_with(s: Table, n_cards: int) -> Kinds:
    """The kinds that may be played on the own turn from a hand of ``n_cards``, whatever they are (M11, M19)."""
    return fitting(s) | (ACTIONS if n_cards > 1 else ACTIONS & ~bit(GIVE))


@rule
def playable(s: Table, seat: int) -> Kinds:
    """The kinds in the hand of ``seat`` that could be played if it were to play now."""
    return held(s, seat) & playable_with(s, s.n_held[seat])


@rule
def gifts(s: Table, seat: int) -> Kinds:
    """The kinds that ``seat`` could give with a give of the own hand: all, but that one card itself."""
    kinds = held(s, seat)
    return kinds if s.hand[seat, GIVE] > 1 else kinds & ~bit(GIVE)


@rule
def reactions(s: Table, seat: int) -> Kinds:
    """The kinds of reactions in the hand of ``seat``."""
    return held(s, seat) & REACTIONS


@rule
def stock_left(s: Table) -> int:
    """Cards that lie face down."""
    return int(s.stock_size - s.stock_next)
