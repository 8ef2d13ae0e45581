"""The rule agent of Mitch: six tips for players as arithmetic.

1. Start columns with high cards. 2. Do not skip cards in between. 3. Do not lay where the suit cannot be won. 4. Keep the cards
of contested suits for the end. 5. Watch the clock. 6. Remember the discards and the columns of the others.

A move changes one suit (an ace on the ace pile: the clock). The agent asks what the deal is worth before and after each legal
move, and takes the move that gains most or loses least. Tips 5 and 6 say what may still come: how many cards each seat will
draw and which can come at all. From that follow the chances of each final length of each column; a card that is skipped cannot
come, and a high start leaves room, which is tips 1 and 2. Tips 3 and 4 are how the worth of a suit is made of those chances.

It decides from the observation alone: one record, :data:`~agents.rule_mitch_sight.SIGHT`, holds all that it knows. The
constants are tuned by measurement, against itself and against random play, with 3 players.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mitch_env.bits import lowest_bit, popcount
from mitch_env.jit import rule
from mitch_env.mitch.actions import DISCARD, DRAW, TAKE
from mitch_env.mitch.options import ACE_HAND, HIGH, LONGEST
from mitch_env.mitch.scoring import SUIT_POINTS, WAITING_POINTS
from mitch_env.mitch.state import N_RANKS, NO_CARDS, Cards, bit

from .rule_agent import RuleAgent
from .rule_mitch_sight import (
    N_LENGTHS,
    SIGHT,
    expect_draws,
    mean_length,
    offsets,
    ranks_of,
    read_sight,
    room_below,
    sum_up,
    write_counts,
    write_lengths,
)

#: Of the cards that fit and will come to a player with the stock open, the share that comes in time to be laid.
IN_TIME = 0.75
#: Of the cards that a contested column is still to get, the share that is lost with it; the rest is discarded in time.
LAID_IN_VAIN = 0.3
#: How likely the tie-break goes as the bottom cards lie now. Half, if the rival has no column yet.
TIE_AS_IT_STANDS = 0.95
#: What laying gains besides with the stock open (others see it and keep away), and costs when it is closed (others see it).
SHOW_STRENGTH = 0.03
SHOW_LATE = 0.02
#: ``take_discard``: what a drawn card is worth, and what it costs to leave the next player a card for its column.
DRAW_WORTH = 1.0
GIFT = 0.25
#: ``shortest_double``: the share of won suits that count double (aiming at short columns did not pay).
DOUBLED = 0.3
#: ``longest``: what a card more is worth in chances to win, beyond those counted.
LENGTH_WORTH = 0.01
#: ``longest``: what a taken card must add to the chance to win.
TAKE_CHANCE = 0.02


# --- Tip 6: remember the discards and the columns of the others.


@rule
def cards_in_time(s: Any, seat: int) -> float:
    """How many unseen cards a rival can put to use; at the end it has kept what it needs (tip 5: draws follow the clock)."""
    if s.closed != 0:
        return float(s.hand_sizes[seat])
    return float(IN_TIME * (s.hand_sizes[seat] + s.draws[seat]))


@rule
def expect_rivals(s: Any) -> None:
    """What the columns of the rivals may come to: only cards that are neither laid, discarded nor in the own hand can come."""
    for suit in range(s.suits):
        hidden = ranks_of(s.hidden, suit)
        longest = 0.0
        nobody = 1.0
        for seat in range(1, s.players):
            write_lengths(s, ranks_of(s.tableau[seat], suit), NO_CARDS, hidden, cards_in_time(s, seat), s.lengths)
            longest = max(longest, mean_length(s.lengths))
            sum_up(s.lengths, s.below[suit, seat])
            nobody *= s.below[suit, seat, 1]
        # A rival that would win the suit gets no points and loses its column instead.
        s.swing[suit] = (1.0 - nobody) * (SUIT_POINTS + longest) / (s.players - 1)


@rule
def write_own_lengths(s: Any, suit: int, column: Cards, held: Cards, out: np.ndarray) -> None:
    """The chance of each final length of the own column: the cards held are sure, of those that are drawn some come in time."""
    write_lengths(s, column, held, ranks_of(s.hidden, suit), IN_TIME * s.draws[0], out)


# --- Tips 3 and 4: what a suit is worth.


@rule
def wins_tie(s: Any, suit: int, seat: int, bottom: int) -> float:
    """The chance that a column that ends at ``bottom`` beats an equally long one of ``seat``."""
    column = ranks_of(s.tableau[seat], suit)
    if column == NO_CARDS:
        return 0.5
    is_better = bottom > lowest_bit(column) if s.tie_break == HIGH else bottom < lowest_bit(column)
    return TIE_AS_IT_STANDS if is_better else 1.0 - TIE_AS_IT_STANDS


@rule
def wins_suit(s: Any, suit: int, length: int, bottom: int) -> float:
    """The chance that no rival's column beats one of ``length`` that ends at ``bottom``."""
    if length == 0:
        return 0.0
    chance = 1.0
    for seat in range(1, s.players):
        shorter = s.below[suit, seat, length]
        chance *= shorter + wins_tie(s, suit, seat, bottom) * (s.below[suit, seat, length + 1] - shorter)
    return float(chance)


@rule
def suit_worth(s: Any, suit: int, column: Cards, held: Cards) -> float:
    """Expected points from a suit, less what the others get, with this column and these cards in hand.

    Points if it is won, the cards laid if it is lost (tip 3). Cards in the hand can still be discarded, so of them only a part
    is lost: that is why contested cards wait while there are others to throw away (tip 4).
    """
    laid = popcount(column)
    penalty = 1.0 if s.lost_column_penalty != 0 else 0.0
    cards = column | held & room_below(s, column)
    bottom = lowest_bit(cards) if cards != NO_CARDS else 0
    gain = SUIT_POINTS + s.swing[suit]
    if s.shortest_double != 0:
        gain += DOUBLED * SUIT_POINTS
    write_own_lengths(s, suit, column, held, s.lengths)
    points = 0.0
    for length in range(N_LENGTHS - 1):
        if s.lengths[length] > 0.0:
            loss = penalty * (laid + LAID_IN_VAIN * (length - laid))
            points += s.lengths[length] * (wins_suit(s, suit, length, bottom) * (gain + loss) - loss)
    return float(points)


# --- ``longest``: one column decides.


@rule
def expect_longest(s: Any) -> None:
    """What the longest column of each rival may come to, and the own columns as they are."""
    for suit in range(s.suits):
        write_own_lengths(s, suit, ranks_of(s.tableau[0], suit), ranks_of(s.usable, suit), s.lengths)
        sum_up(s.lengths, s.below[suit, 0])
    for seat in range(1, s.players):
        for length in range(N_LENGTHS):
            chance = 1.0
            for suit in range(s.suits):
                chance *= s.below[suit, seat, length]
            s.best_below[seat, length] = chance


@rule
def all_below(s: Any, suit: int, length: int) -> float:
    """The chance that all own columns stay shorter than ``length``, that of ``suit`` as ``lengths`` has it."""
    chance = 1.0
    for other in range(s.suits):
        chance *= s.lengths[length] if other == suit else s.below[other, 0, length]
    return chance


@rule
def longest_worth(s: Any, suit: int, column: Cards, held: Cards) -> float:
    """The chance that the longest own column is the longest of all, if that suit has this column and these cards in hand."""
    write_own_lengths(s, suit, column, held, s.lengths)
    sum_up(s.lengths, s.lengths)
    worth = 0.0
    shorter = all_below(s, suit, 1)
    for length in range(1, N_LENGTHS - 1):
        up_to = all_below(s, suit, length + 1)
        chance = up_to - shorter
        shorter = up_to
        wins = 1.0
        for seat in range(1, s.players):
            wins *= 0.5 * (s.best_below[seat, length] + s.best_below[seat, length + 1])  # of equally long ones half
        worth += chance * (wins + LENGTH_WORTH * length)
    return worth


# --- What a move gains.


@rule
def expect(s: Any) -> None:
    """What may come, from the cards and the clock."""
    expect_draws(s)
    expect_rivals(s)
    if s.scoring == LONGEST:
        expect_longest(s)


@rule
def worth(s: Any, suit: int, column: Cards, held: Cards) -> float:
    """What the deal is worth if one suit has this column and these cards in hand; other suits may be left out of it."""
    if s.scoring == LONGEST:
        return longest_worth(s, suit, column, held)
    return suit_worth(s, suit, column, held)


@rule
def whole_worth(s: Any) -> float:
    """What the deal is worth as it stands, all suits taken together."""
    total = 0.0
    for suit in range(1 if s.scoring == LONGEST else s.suits):
        total += worth(s, suit, ranks_of(s.tableau[0], suit), ranks_of(s.usable, suit))
    return total


@rule
def closes_first(s: Any) -> float:
    """The chance that the stock closes before the next own decision (tip 5)."""
    for k in range(N_LENGTHS):
        s.trial[k] = 0.0
    write_counts(0, s.markers, s.players + s.clock_left - 1.0, s.stock_left, s.trial)
    chance = 0.0
    for k in range(s.clock_left, N_LENGTHS):
        chance += s.trial[k]
    return chance


@rule
def showing(s: Any) -> float:
    """What laying a card gains or loses beyond its column: others see it, and it is no waiting (J6)."""
    if s.scoring == LONGEST:
        return 0.0
    if s.closed != 0:
        return -SHOW_LATE  # tip 4: later, others have shown more
    gain = SHOW_STRENGTH
    if s.waiting_penalty != 0 and s.waited != 0:
        gain += WAITING_POINTS * closes_first(s)
    return gain


@rule
def leaving(s: Any, suit: int, rank: int) -> float:
    """What it costs to leave a card on top of the discards, where the next player may take it."""
    if s.take_discard == 0 or s.closed != 0 or s.scoring == LONGEST:
        return 0.0
    column = ranks_of(s.tableau[1], suit)
    if bit(rank) & room_below(s, column) == NO_CARDS:
        return 0.0
    return GIFT if column != NO_CARDS else 0.5 * GIFT


@rule
def ace_gain(s: Any) -> float:
    """What an ace on the ace pile gains: it brings the end nearer, which helps who leads."""
    if s.closed != 0:
        return 0.0
    before = whole_worth(s)
    s.clock_left -= 1
    s.markers -= 1
    s.closed = 1 if s.clock_left <= 0 else 0
    expect(s)
    after = whole_worth(s)
    s.clock_left += 1
    s.markers += 1
    s.closed = 0
    expect(s)
    return after - before


@rule
def take_or_draw(s: Any) -> int:
    """``take_discard``: a card for sure against a card from the stock."""
    suit = s.top // N_RANKS
    column = ranks_of(s.tableau[0], suit)
    held = ranks_of(s.usable, suit)
    gain = worth(s, suit, column | bit(s.top % N_RANKS), held) - worth(s, suit, column, held)
    enough = TAKE_CHANCE if s.scoring == LONGEST else DRAW_WORTH - showing(s)
    return TAKE if gain > enough else DRAW


@rule
def dropping(s: Any, suit: int, rank: int, before: float) -> float:
    """What it gains, or mostly loses, to put a card of the hand down without laying it."""
    if s.clock == ACE_HAND and rank == 0:
        return ace_gain(s)
    rest = ranks_of(s.usable, suit) & ~bit(rank)
    return worth(s, suit, ranks_of(s.tableau[0], suit), rest) - before - leaving(s, suit, rank)


@rule
def laying(s: Any, suit: int, rank: int, before: float) -> float:
    """What it gains to lay a card, given what the deal was worth before."""
    column = ranks_of(s.tableau[0], suit) | bit(rank)
    return worth(s, suit, column, ranks_of(s.usable, suit) & ~bit(rank)) - before


@rule
def decide(seen: np.ndarray, mask: np.ndarray, at: np.ndarray, s: Any) -> int:
    """The legal move that gains most. ``at`` are the offsets of the observation's blocks, ``s`` is working space."""
    read_sight(seen, at, s)
    expect(s)
    if s.drawing != 0:
        return take_or_draw(s)
    best = -np.inf
    action = -1
    shown = showing(s)
    for suit in range(s.suits):
        if ranks_of(s.hand, suit) == NO_CARDS:
            continue
        before = worth(s, suit, ranks_of(s.tableau[0], suit), ranks_of(s.usable, suit))
        for rank in range(N_RANKS):
            card = N_RANKS * suit + rank
            if mask[card]:
                gain = laying(s, suit, rank, before) + shown
                if gain > best:
                    best, action = gain, card
            if mask[DISCARD + card]:
                gain = dropping(s, suit, rank, before)
                if gain > best:
                    best, action = gain, DISCARD + card
    return action


# --- The agent.


class MitchRuleAgent(RuleAgent):
    """Takes the move that the six tips speak for."""

    def __init__(self) -> None:
        super().__init__("mitch", decide, SIGHT, offsets)
