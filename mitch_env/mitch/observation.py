"""What a seat of Mitch sees, as float32 entries from 0 to 1, and the full view for centralised critics.

``LAYOUT`` is the one list of blocks; ``observe`` writes them in that order, one function a block or two.
"""

from __future__ import annotations

import numpy as np

from ..bits import expand, lowest_bit, popcount
from ..game import NOBODY, Table
from ..jit import rule
from ..layout import Block, Layout
from ..seats import next_seat
from .actions import layable
from .options import MAX_PLAYERS
from .scoring import leader
from .state import (
    MAX_STOCK,
    N_CARDS,
    N_RANKS,
    NO_CARDS,
    ONE,
    PHASE_DRAW,
    PHASE_PLAY,
    SUIT_BITS,
    Cards,
    bit,
    fits,
    is_closed,
    pile_set,
    unseen,
)

_N_SUITS = 4
#: n / 13 and n / 12: a table is read faster than a division is done.
_THIRTEENTHS = np.array([n / N_RANKS for n in range(N_RANKS + 1)], np.float32)
_BOTTOMS = np.array([*((rank + 1) / N_RANKS for rank in range(N_RANKS)), 0.0], np.float32)
#: No column: as if its bottom card were beyond the highest rank.
_BEYOND = bit(N_RANKS)
_TWELFTHS = np.array([n / 12 for n in range(N_RANKS)], np.float32)

BLOCKS = (
    Block("hand", N_CARDS, "cards of the own hand"),
    Block("layable", N_CARDS, "cards of the own hand that fit the own columns now"),
    Block("discards", N_CARDS, "cards on the discard pile"),
    Block("unseen", N_CARDS, "cards that lie in other hands, in the stock, or out of play: not seen by the observer"),
    Block("top_discard", N_RANKS + _N_SUITS, "rank, then suit, of the top discard"),
    Block("skips", N_CARDS, "for each layable card: cards of the own hand and unseen ones between it and the bottom, / 12"),
    Block("clock_aces", _N_SUITS, "suits whose ace lies face up as a clock card"),
    Block("tableau", N_CARDS, "cards laid", per_seat=True),
    Block("bottom", _N_SUITS, "for each suit: rank of the bottom card / 13 (A is 1), 0 for no column", per_seat=True),
    Block("length", _N_SUITS, "for each suit: cards in the column / 13", per_seat=True),
    Block("reach", _N_SUITS, "for each suit: unseen cards that fit the column / 13", per_seat=True),
    Block("leads", _N_SUITS, "suits in which the seat has the best column now", per_seat=True),
    Block("hand_size", 1, "cards in hand / (option hand_size + 1)", per_seat=True),
    Block("total", 1, "match score t as 0.5 + 0.5 t / (20 + abs(t))", per_seat=True),
    Block("turn", 1, "whose turn it is", per_seat=True),
    Block("dealer", 1, "who dealt", per_seat=True),
    Block("taking_part", 1, "who plays this deal (not all in a play-off)", per_seat=True),
    Block("waited", 1, "who decided, or decides now, with the stock open and has placed nothing while it was", per_seat=True),
    Block("clock_seen", 5, "clock cards face up: 0 to 4"),
    Block("clock_left", 5, "clock cards still to come until the stock closes: 0 to 4"),
    Block("stock", 2, "cards in the stock / 56; whether the stock is closed"),
    Block("phase", 2, "the decision of the seat whose turn it is: to draw or take; to lay or discard"),
    Block("match", 3, "1 / (1 + regular deals after this one); whether this is a play-off; 1 / (1 + play-offs still possible)"),
    Block("players", MAX_PLAYERS - 1, "option players: 2 to 5"),
    Block("clock", 4, "option clock: joker, ace_stock, ace_deck, ace_hand"),
    Block("clock_cards", 4, "option clock_cards: 1 to 4"),
    Block(
        "rules",
        9,
        "options: column_step is next_lower; must_place; take_discard; closer_plays; scoring is longest; "
        "lost_column_penalty; tie_break is low; shortest_double; waiting_penalty",
    ),
    Block("sizes", 3, "options: hand_size / 52; suits / 4; ranks / 13"),
)
VERSION = 1

STATE_BLOCKS = (
    Block("hands", N_CARDS, "cards of each hand, seat 0 first", per_seat=True),
    Block(
        "stock_order",
        MAX_STOCK,
        "(card + 1) / 53 of each card in the stock, the next first, then 0; 1 is a joker",
    ),
)


def layout(seats: int) -> Layout:
    """The observation for a number of encoded seats."""
    return Layout(VERSION, BLOCKS, seats)


def state_layout(seats: int) -> Layout:
    """The full view: all hands, the stock, and the observation of seat 0."""
    view = Block("view_of_seat_0", layout(seats).size, "the observation of seat 0")
    return Layout(VERSION, (*STATE_BLOCKS, view), seats)


def most_tokens(seats: int) -> int:
    """The most entries that can differ from 0 at once."""
    most_held = N_CARDS // 2 + 1  # two players share the pack, and one has drawn
    places = N_CARDS  # each card is in one place: hand, discards, unseen, clock_aces or one tableau
    of_hand = 2 * most_held  # layable, skips
    of_columns = seats * 3 * _N_SUITS + _N_SUITS  # bottom, length and reach of each; one leads in each suit
    of_seats = 4 * seats + 2  # hand_size, total, taking_part, waited; one has the turn, one has dealt
    of_deal = 2 + 1 + 1 + 2 + 1 + 3  # top_discard, clock_seen, clock_left, stock, phase, match
    of_options = 1 + 1 + 1 + 9 + 3  # players, clock, clock_cards, rules, sizes
    return places + of_hand + of_columns + of_seats + of_deal + of_options


@rule
def observe(s: Table, seat: int, out: np.ndarray) -> None:
    """Writes what ``seat`` sees to ``out``, float32[layout.size], every entry."""
    hidden = unseen(s, seat)
    n = int(s.seats_encoded)
    k = _write_cards(s, seat, hidden, out)
    other = int(seat)
    for r in range(n):
        k = expand(s.tableau[other] if r < s.players else NO_CARDS, out, k, N_CARDS)
        other = next_seat(s, other)
    rest = out[k:]
    for i in range(rest.shape[0]):
        rest[i] = 0.0
    _write_columns(s, seat, hidden, out, k)
    k += 4 * _N_SUITS * n
    other = int(seat)
    for r in range(s.players):
        _write_seat(s, other, out, k + r, n)
        other = next_seat(s, other)
    k = _write_deal(s, out, k + 6 * n)
    _write_options(s, out, k)


@rule
def _write_cards(s: Table, seat: int, hidden: Cards, out: np.ndarray) -> int:
    can_lay = layable(s, seat)
    k = expand(s.hand[seat], out, 0, N_CARDS)
    k = expand(can_lay, out, k, N_CARDS)
    k = expand(pile_set(s), out, k, N_CARDS)
    k = expand(hidden, out, k, N_CARDS)
    rest = out[k : k + N_RANKS + _N_SUITS + N_CARDS]
    for i in range(rest.shape[0]):
        rest[i] = 0.0
    if s.pile_size > 0:
        top = int(s.pile[s.pile_size - 1])
        rest[top % N_RANKS] = 1.0
        rest[N_RANKS + top // N_RANKS] = 1.0
    k += N_RANKS + _N_SUITS
    _write_skips(s, seat, can_lay, hidden, out, k)
    k += N_CARDS
    for suit in range(_N_SUITS):
        out[k + suit] = np.float32(s.clock_up >> np.uint64(N_RANKS * suit) & ONE)
    return k + _N_SUITS


@rule
def _write_skips(s: Table, seat: int, can_lay: Cards, hidden: Cards, out: np.ndarray, k: int) -> None:
    """What each layable card would shut out of its column for good: cards that fit now and are higher."""
    open_cards = fits(s, seat) & (s.hand[seat] | hidden)
    while can_lay != NO_CARDS:
        card = lowest_bit(can_lay)
        can_lay &= can_lay - ONE
        higher = open_cards >> np.uint64(card + 1) & (bit(N_RANKS - 1 - card % N_RANKS) - ONE)
        out[k + card] = _TWELFTHS[popcount(higher)]


@rule
def _write_columns(s: Table, seat: int, hidden: Cards, out: np.ndarray, k: int) -> None:
    """Bottom, length, reach and lead of the columns of all seats."""
    block = int(s.seats_encoded) * _N_SUITS
    other = int(seat)
    for at in range(k, k + _N_SUITS * int(s.players), _N_SUITS):
        laid = s.tableau[other]
        reach = fits(s, other) & hidden
        bottoms, lengths, reaches = out[at:], out[at + block :], out[at + 2 * block :]
        for suit in range(_N_SUITS):
            shift = np.uint64(N_RANKS * suit)
            ranks = laid >> shift & SUIT_BITS
            bottoms[suit] = _BOTTOMS[lowest_bit(ranks | _BEYOND)]
            lengths[suit] = _THIRTEENTHS[popcount(ranks)]
            reaches[suit] = _THIRTEENTHS[popcount(reach >> shift & SUIT_BITS)]
        other = next_seat(s, other)
    leads = out[k + 3 * block :]
    for suit in range(_N_SUITS):
        best = leader(s, suit)
        if best != NOBODY:
            place = best - int(seat)
            leads[_N_SUITS * (place if place >= 0 else place + int(s.players)) + suit] = 1.0


@rule
def _write_seat(s: Table, seat: int, out: np.ndarray, k: int, stride: int) -> None:
    """The blocks with one entry for each seat."""
    total = float(s.totals[seat])
    out[k] = np.float32(popcount(s.hand[seat]) / (s.hand_size + 1))
    out[k + stride] = np.float32(0.5 + 0.5 * total / (20.0 + abs(total)))
    out[k + 2 * stride] = 1.0 if s.turn == seat else 0.0
    out[k + 3 * stride] = 1.0 if s.dealer == seat else 0.0
    out[k + 4 * stride] = np.float32(s.taking_part >> seat & 1)
    out[k + 5 * stride] = np.float32(s.waited >> seat & 1)


@rule
def _write_deal(s: Table, out: np.ndarray, k: int) -> int:
    row = out[k:]
    row[int(s.clock_seen)] = 1.0
    row[5 + max(0, int(s.clock_cards) - int(s.clock_seen))] = 1.0
    row[10] = np.float32((s.stock_size - s.stock_next) / MAX_STOCK)
    row[11] = 1.0 if is_closed(s) else 0.0
    row[12] = 1.0 if s.phase == PHASE_DRAW else 0.0
    row[13] = 1.0 if s.phase == PHASE_PLAY else 0.0
    row[14] = np.float32(1.0 / (1.0 + max(0, s.deals - s.deals_done - 1)))
    row[15] = 1.0 if s.playoff > 0 else 0.0
    row[16] = np.float32(1.0 / (1.0 + s.playoffs - s.playoff))
    return k + 17


@rule
def _write_options(s: Table, out: np.ndarray, k: int) -> None:
    row = out[k:]
    row[int(s.players) - 2] = 1.0
    row[4 + int(s.clock)] = 1.0
    row[8 + int(s.clock_cards) - 1] = 1.0
    row[12] = s.column_step
    row[13] = s.must_place
    row[14] = s.take_discard
    row[15] = s.closer_plays
    row[16] = s.scoring
    row[17] = s.lost_column_penalty
    row[18] = s.tie_break
    row[19] = s.shortest_double
    row[20] = s.waiting_penalty
    row[21] = np.float32(s.hand_size / 52)
    row[22] = np.float32(s.suits / 4)
    row[23] = np.float32(s.ranks / 13)


@rule
def write_state(s: Table, out: np.ndarray) -> None:
    """Writes the full view to ``out``, float32[state_layout.size], every entry."""
    k = 0
    for seat in range(s.seats_encoded):
        k = expand(s.hand[seat] if seat < s.players else NO_CARDS, out, k, N_CARDS)
    for i in range(MAX_STOCK):
        at = s.stock_next + i
        out[k + i] = np.float32((s.stock[at] + 1) / 53) if at < s.stock_size else np.float32(0.0)
    observe(s, 0, out[k + MAX_STOCK :])
