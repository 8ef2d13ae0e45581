"""What a seat of Mitch sees, read back from one row of observations, and what may still come of it.

Compiled like the rules: plain ``@rule`` functions. Chances are sums and products only, so that
compiled and plain Python agree to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mitch_env.bits import lowest_bit, popcount
from mitch_env.jit import rule
from mitch_env.layout import Layout
from mitch_env.mitch.options import ACE_DECK, ACE_HAND, ANY_LOWER, JOKER, MAX_PLAYERS
from mitch_env.mitch.state import ACES, MAX_STOCK, N_CARDS, N_RANKS, NO_CARDS, ONE, SUIT_BITS, Cards, bit

from .rule_agent import flag, index_of_one

N_SUITS = 4
#: Lengths of a column, 0 to 13, and one more so that "shorter than k + 1" can be looked up for every k.
N_LENGTHS = N_RANKS + 2

#: Under ``ace_hand``: how much later than it would come from the stock an ace comes to lie on its pile. Measured.
ACES_ARE_HELD = 1.4

#: What a seat sees, seats counted clockwise from it. Fields that a table has too are called the same; sets of cards likewise.
SIGHT = np.dtype(
    [
        ("hand", "u8"),  # of the observer
        ("usable", "u8"),  # the same without aces that can only be laid on the ace pile
        ("hidden", "u8"),  # cards unseen that can lie in a column
        ("tableau", "u8", (MAX_PLAYERS,)),
        ("hand_sizes", "f8", (MAX_PLAYERS,)),
        ("draws", "f8", (MAX_PLAYERS,)),  # cards that each seat can expect to draw before the stock closes
        ("stock_left", "f8"),
        ("n_hidden", "f8"),
        ("players", "i8"),
        ("taking_part", "i8"),
        ("top", "i8"),  # the top discard, -1 if there is none
        ("clock_left", "i8"),  # clock cards that still close the stock
        ("markers", "i8"),  # clock cards that may still come to lie face up
        ("closed", "i8"),
        ("drawing", "i8"),  # whether the decision is to draw or to take
        ("waited", "i8"),  # whether the observer placed nothing so far although it could (J6)
        ("hand_size", "i8"),
        ("suits", "i8"),
        ("ranks", "i8"),
        ("clock", "i8"),
        ("column_step", "i8"),
        ("take_discard", "i8"),
        ("scoring", "i8"),
        ("lost_column_penalty", "i8"),
        ("tie_break", "i8"),
        ("shortest_double", "i8"),
        ("waiting_penalty", "i8"),
        # What may come: the chance that a final column is shorter than k.
        ("below", "f8", (N_SUITS, MAX_PLAYERS, N_LENGTHS)),
        ("best_below", "f8", (MAX_PLAYERS, N_LENGTHS)),  # of the longest column in any suit
        ("swing", "f8", (N_SUITS,)),  # what the others lose, on average, when the observer wins the suit
        # Working space.
        ("lengths", "f8", (N_LENGTHS,)),
        ("trial", "f8", (N_LENGTHS,)),
    ],
    align=True,
)

#: The blocks of the observation that are read, in the order of the offsets.
_BLOCKS = (
    "hand",
    "unseen",
    "top_discard",
    "tableau",
    "hand_size",
    "taking_part",
    "waited",
    "clock_left",
    "stock",
    "phase",
    "players",
    "clock",
    "rules",
    "sizes",
)
(
    _HAND,
    _UNSEEN,
    _TOP,
    _TABLEAU,
    _HAND_SIZE,
    _TAKING_PART,
    _WAITED,
    _CLOCK_LEFT,
    _STOCK,
    _PHASE,
    _PLAYERS,
    _CLOCK,
    _RULES,
    _SIZES,
) = range(len(_BLOCKS))


def offsets(layout: Layout) -> np.ndarray:
    """Where the blocks that are read begin (int64), for :func:`read_sight`."""
    slices = layout.slices
    return np.array([slices[block].start for block in _BLOCKS], np.int64)


# --- Reading an observation.


@rule
def read_sight(seen: np.ndarray, at: np.ndarray, s: Any) -> None:
    """Fills ``s``, one record of :data:`SIGHT`, from one observation; ``at`` are its :func:`offsets`."""
    _read_options(seen, at, s)
    _read_cards(seen, at, s)
    s.clock_left = index_of_one(seen, at[_CLOCK_LEFT], 5)
    s.stock_left = _number(seen[at[_STOCK]], MAX_STOCK)
    s.closed = flag(seen[at[_STOCK] + 1])
    s.drawing = flag(seen[at[_PHASE]])
    s.waited = flag(seen[at[_WAITED]])
    s.markers = s.clock_left
    if s.clock == ACE_DECK or s.clock == ACE_HAND:
        s.markers = popcount((_card_set(seen, at[_UNSEEN]) | s.hand) & ACES)


@rule
def _read_options(seen: np.ndarray, at: np.ndarray, s: Any) -> None:
    k = at[_RULES]
    s.column_step = flag(seen[k])
    s.take_discard = flag(seen[k + 2])
    s.scoring = flag(seen[k + 4])
    s.lost_column_penalty = flag(seen[k + 5])
    s.tie_break = flag(seen[k + 6])
    s.shortest_double = flag(seen[k + 7])
    s.waiting_penalty = flag(seen[k + 8])
    k = at[_SIZES]
    s.hand_size = _number(seen[k], N_CARDS)
    s.suits = _number(seen[k + 1], N_SUITS)
    s.ranks = _number(seen[k + 2], N_RANKS)
    s.players = index_of_one(seen, at[_PLAYERS], MAX_PLAYERS - 1) + 2
    s.clock = index_of_one(seen, at[_CLOCK], 4)


@rule
def _read_cards(seen: np.ndarray, at: np.ndarray, s: Any) -> None:
    s.hand = _card_set(seen, at[_HAND])
    s.hidden = _card_set(seen, at[_UNSEEN])
    s.usable = s.hand
    if s.clock != JOKER:  # aces are markers and never lie in a column
        s.hidden &= ~ACES
        s.usable &= ~ACES
    s.n_hidden = popcount(s.hidden)
    s.top = index_of_one(seen, at[_TOP], N_RANKS)
    if s.top >= 0:
        s.top += N_RANKS * index_of_one(seen, at[_TOP] + N_RANKS, N_SUITS)
    s.taking_part = 0
    for seat in range(s.players):
        s.tableau[seat] = _card_set(seen, at[_TABLEAU] + N_CARDS * seat)
        s.hand_sizes[seat] = _number(seen[at[_HAND_SIZE] + seat], s.hand_size + 1)
        s.taking_part |= flag(seen[at[_TAKING_PART] + seat]) << seat


@rule
def _card_set(seen: np.ndarray, start: int) -> Cards:
    cards = NO_CARDS
    for card in range(N_CARDS):
        if seen[start + card] > 0.5:
            cards |= bit(card)
    return cards


@rule
def _number(entry: float, scale: int) -> int:
    """The integer that was divided by ``scale``."""
    return int(float(entry) * scale + 0.5)


# --- Columns as 13 bits of one suit.


@rule
def ranks_of(cards: Cards, suit: int) -> Cards:
    """The ranks of one suit in a set of cards."""
    return cards >> np.uint64(N_RANKS * suit) & SUIT_BITS


@rule
def room_below(s: Any, column: Cards) -> Cards:
    """The ranks that may still come somewhere below a column."""
    return bit(s.ranks if column == NO_CARDS else lowest_bit(column)) - ONE


# --- What may come.


@rule
def expect_draws(s: Any) -> None:
    """How many cards each seat can expect to draw, from the stock and the clock cards that are still to come."""
    total = 0.0
    if s.closed == 0:
        # The k-th of m markers in n cards comes at place k (n + 1) / (m + 1) on average.
        total = s.clock_left * (s.stock_left + 1.0) / (s.markers + 1.0)
        if s.clock == ACE_HAND:  # and is then held for a while
            total = min(total * ACES_ARE_HELD, s.stock_left)
        else:
            total -= s.clock_left
    n = popcount(np.uint64(s.taking_part))
    first = 0 if s.drawing != 0 else 1
    for step in range(s.players):
        seat = (first + step) % s.players
        s.draws[seat] = 0.0
        if s.taking_part >> seat & 1 and total > 0.0:
            s.draws[seat] = max(0.0, (total - step + 0.5 * (n - 1)) / n)


@rule
def write_lengths(s: Any, column: Cards, held: Cards, hidden: Cards, cards: float, out: np.ndarray) -> None:
    """The chance of each final length of a column whose owner lays all that fits: what is ``held`` now, and what comes if
    ``cards`` of all unseen cards do; ``hidden`` are the unseen ones of the suit."""
    for k in range(N_LENGTHS):
        out[k] = 0.0
    if s.column_step == ANY_LOWER:
        room = room_below(s, column)
        sure = popcount(column) + popcount(held & room)
        write_counts(sure, popcount(hidden & room), cards, s.n_hidden, out)
    elif column != NO_CARDS:
        _write_run(s, popcount(column), lowest_bit(column) - 1, held, hidden, cards, out)
    else:
        start = best_start(s, held, hidden, cards)
        _write_run(s, 0, start, held, hidden, cards, out)


@rule
def write_counts(sure: int, possible: int, cards: float, n: float, out: np.ndarray) -> None:
    """The chance that 0, 1, ... of ``possible`` cards are among ``cards`` out of ``n``, written from ``out[sure]`` on."""
    out[sure] = 1.0
    for i in range(possible):
        for k in range(i, -1, -1):
            comes = out[sure + k] * min(1.0, max(0.0, (cards - k) / max(1.0, n - i)))
            out[sure + k + 1] += comes
            out[sure + k] -= comes


@rule
def _write_run(s: Any, length: int, rank: int, held: Cards, hidden: Cards, cards: float, out: np.ndarray) -> None:
    """The same under ``next_lower`` for a column of ``length`` that goes on with ``rank``: every card must come."""
    chance = 1.0
    n = s.n_hidden
    while rank >= 0 and chance > 0.0:
        comes = 0.0
        if held & bit(rank) != NO_CARDS:
            comes = 1.0
        elif hidden & bit(rank) != NO_CARDS:
            comes = min(1.0, max(0.0, cards / max(1.0, n)))
            cards -= 1.0
            n -= 1.0
        out[length] += chance * (1.0 - comes)
        chance *= comes
        length += 1
        rank -= 1
    out[length] += chance


@rule
def best_start(s: Any, held: Cards, hidden: Cards, cards: float) -> int:
    """The rank from which a new column can be expected to run longest under ``next_lower``; -1 if no card is left."""
    best = 0.0
    start = -1
    for rank in range(s.ranks):
        if (held | hidden) & bit(rank) != NO_CARDS:
            for k in range(N_LENGTHS):
                s.trial[k] = 0.0
            _write_run(s, 0, rank, held, hidden, cards, s.trial)
            mean = mean_length(s.trial)
            if mean >= best:
                best = mean
                start = rank
    return start


@rule
def mean_length(lengths: np.ndarray) -> float:
    """The mean of a distribution of lengths."""
    mean = 0.0
    for k in range(1, N_LENGTHS):
        mean += k * lengths[k]
    return mean


@rule
def sum_up(lengths: np.ndarray, out: np.ndarray) -> None:
    """From the chance of each length to the chance of being shorter than it; ``out`` may be the same array."""
    total = 0.0
    for k in range(N_LENGTHS):
        here = lengths[k]
        out[k] = total
        total += here
