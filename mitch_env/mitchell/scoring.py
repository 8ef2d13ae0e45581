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
def finish_round(s: Table, winner: int) -> None:
    """The round is over: won; blocked, which gives 0 to all (M13); or cut short in its middle, and the match with it (M20)."""
    for seat in range(s.players):
        s.points[seat] = points_of_hand(s, seat) if winner != NOBODY else 0
    if winner != NOBODY:
        note(s, WON, winner, 0)
        if s.mitchell != CENTER:
            s.points[s.mitchell] = CAUGHT_POINTS  # M22
            note(s, CAUGHT, s.mitchell, 0)
        s.points[winner] = WINNER_POINTS
    elif s.idle_turns >= s.players:
        note(s, BLOCKED, s.turn, 0)
    else:
        note(s, STOPPED, s.turn, 0)
        s.truncated = 1
    s.actor = NOBODY
    if s.truncated != 0 or settle(s):
        s.phase = PHASE_OVER
        pay_match(s)
    else:
        s.dealer = next_seat(s, s.dealer)  # M2
        s.phase = PHASE_DEAL


@rule
def settle(s: Table) -> bool:
    """Adds the points of the round. True if it was the last one of the match (M24)."""
    s.deals_done += 1
    is_reached = False
    for seat in range(s.players):
        s.totals[seat] += s.points[seat]
        if s.target_score != 0 and s.totals[seat] >= s.target_score:
            is_reached = True
    pay_deal(s)
    return bool(is_reached or s.deals_done >= s.rounds)
