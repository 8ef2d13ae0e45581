"""Scoring of a deal, and what follows it: the next deal, a play-off, or the end of the match."""

from __future__ import annotations

from ..bits import lowest_bit, popcount
from ..game import NOBODY, PHASE_DEAL, PHASE_OVER, Table
from ..jit import rule
from ..rewards import pay_deal, pay_match
from ..seats import next_seat, seat_after
from .options import HIGH, LONGEST
from .state import N_RANKS, NO_CARDS, column

SUIT_POINTS = 4
WAITING_POINTS = 10


@rule
def column_worth(s: Table, seat: int, suit: int) -> int:
    """Orders columns: the longer one is worth more, then the bottom card decides (J8); 0 for no column."""
    ranks = column(s, seat, suit)
    if ranks == NO_CARDS:
        return 0
    bottom = lowest_bit(ranks)
    return popcount(ranks) * 16 + (bottom if s.tie_break == HIGH else N_RANKS - bottom)


@rule
def leader(s: Table, suit: int) -> int:
    """The seat whose column of ``suit`` is worth most now, NOBODY if nobody has one."""
    best = 0
    seat_of_best = NOBODY
    for seat in range(s.players):
        worth = column_worth(s, seat, suit)
        if worth > best:
            best = worth
            seat_of_best = seat
    return seat_of_best


@rule
def score_suits(s: Table) -> None:
    """``scoring="suits"``: points for won suits, less lost columns and waiting (J6 to J9)."""
    shortest = N_RANKS + 1
    for suit in range(s.suits):
        winner = leader(s, suit)
        if winner != NOBODY:
            shortest = min(shortest, popcount(column(s, winner, suit)))
    for suit in range(s.suits):
        winner = leader(s, suit)
        for seat in range(s.players):
            length = popcount(column(s, seat, suit))
            if seat == winner:
                doubled = s.shortest_double != 0 and length == shortest
                s.points[seat] += 2 * SUIT_POINTS if doubled else SUIT_POINTS
            elif s.lost_column_penalty != 0:
                s.points[seat] -= length
    if s.waiting_penalty != 0:
        for seat in range(s.players):
            if s.waited >> seat & 1:
                s.points[seat] -= WAITING_POINTS


@rule
def longest_seats(s: Table) -> int:
    """``scoring="longest"``: bit set of the seats with the best column of any suit; without columns all who took part (R6)."""
    best = 0
    seats = int(s.taking_part)
    for seat in range(s.players):
        for suit in range(s.suits):
            worth = column_worth(s, seat, suit)
            if worth > best:
                best = worth
                seats = 1 << seat
            elif worth == best and best > 0:
                seats |= 1 << seat
    return seats


@rule
def next_taking_part(s: Table, seat: int) -> int:
    """The next seat clockwise after ``seat`` that takes part in the deal."""
    for step in range(1, s.players + 1):
        other = seat_after(s, seat, step)
        if s.taking_part >> other & 1:
            return int(other)
    return seat


@rule
def finish_deal(s: Table) -> None:
    """Scores the deal, pays, and sets up what comes next: ``PHASE_DEAL`` or ``PHASE_OVER``."""
    for seat in range(s.players):
        s.points[seat] = 0
    s.actor = NOBODY
    tied = 0
    if s.scoring == LONGEST:
        tied = longest_seats(s)
        if tied & (tied - 1) and s.playoff < s.playoffs:  # R7: a tie that a play-off follows gives 0 to all (R8)
            s.playoff += 1
            s.taking_part = tied
            s.dealer = next_taking_part(s, s.dealer)
            s.phase = PHASE_DEAL
            pay_deal(s)
            return
        for seat in range(s.players):
            if tied >> seat & 1:
                s.points[seat] = 1
    else:
        score_suits(s)
    for seat in range(s.players):
        s.totals[seat] += s.points[seat]
    pay_deal(s)
    s.deals_done += 1
    if s.deals_done >= s.deals:
        s.phase = PHASE_OVER
        pay_match(s)
        return
    s.regular_dealer = next_seat(s, s.regular_dealer)
    s.dealer = s.regular_dealer
    s.playoff = 0
    s.taking_part = (1 << s.players) - 1
    s.phase = PHASE_DEAL
