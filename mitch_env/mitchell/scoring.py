"""Who wins a round, its points, and what follows it: the next round or the end of the match."""

from __future__ import annotations

from ..events import note
from ..game import NOBODY, PHASE_DEAL, PHASE_OVER, Table
from ..jit import rule
from ..rewards import pay_deal, pay_match
from ..seats import next_seat, seat_after
from .events import BLOCKED, CAUGHT, STOPPED, WON
from .kinds import N_INVESTIGATIONS, N_KINDS
from .options import PENALTY
from .state import CENTER

WINNER_POINTS, CAUGHT_POINTS = 200, -100
INVESTIGATION_POINTS, OTHER_CARD_POINTS = 10, 5


@rule
def round_winner(s: Table) -> int:
    """Who has won at the end of this turn, NOBODY if nobody has: the seat whose turn it was first, then clockwise (M9)."""
    for step in range(s.players):
        seat = seat_after(s, s.turn, step)
        if s.n_held[seat] == 0 and s.mitchell != seat and (s.release_wins != 0 or s.played_out >> seat & 1):  # M10
            return int(seat)
    return NOBODY


@rule
def points_of_hand(s: Table, seat: int) -> int:
    """What the cards left in a hand score (M14)."""
    points = 0
    for kind in range(N_KINDS):
        points += int(s.hand[seat, kind]) * (INVESTIGATION_POINTS if kind < N_INVESTIGATIONS else OTHER_CARD_POINTS)
    return -points if s.unplayed == PENALTY else points


@rule
def finish_won(s: Table, winner: int) -> None:
    """The round is over: ``winner`` has played all cards."""
    note(s, WON, winner, 0)
    for seat in range(s.players):
        s.points[seat] = points_of_hand(s, seat)
    if s.mitchell != CENTER:
        s.points[s.mitchell] = CAUGHT_POINTS  # M22
        note(s, CAUGHT, s.mitchell, 0)
    s.points[winner] = WINNER_POINTS
    settle(s)


@rule
def finish_blocked(s: Table) -> None:
    """The round is over without a winner: 0 for all (M13)."""
    note(s, BLOCKED, s.turn, 0)
    for seat in range(s.players):
        s.points[seat] = 0
    settle(s)


@rule
def finish_truncated(s: Table) -> None:
    """The match is over in the middle of a round, which gives no points (M20)."""
    note(s, STOPPED, s.turn, 0)
    for seat in range(s.players):
        s.points[seat] = 0
    s.truncated = 1
    end_match(s)


@rule
def end_match(s: Table) -> None:
    """Nobody has anything to decide any more."""
    s.actor = NOBODY
    s.phase = PHASE_OVER
    pay_match(s)


@rule
def settle(s: Table) -> None:
    """Adds the points of the round and sets up what comes next: ``PHASE_DEAL`` or ``PHASE_OVER`` (M24)."""
    s.deals_done += 1
    is_reached = False
    for seat in range(s.players):
        s.totals[seat] += s.points[seat]
        if s.target_score != 0 and s.totals[seat] >= s.target_score:
            is_reached = True
    pay_deal(s)
    if is_reached or s.deals_done >= s.rounds:
        end_match(s)
        return
    s.dealer = next_seat(s, s.dealer)  # M2
    s.actor = NOBODY
    s.phase = PHASE_DEAL
