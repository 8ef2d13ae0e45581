"""What a seat of Mitchell sees, read back from one row of observations, how a move would change it, and how long hands last.

Compiled like the rules: plain ``@rule`` functions. Seats are counted clockwise from the observer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mitch_env.game import NOBODY
from mitch_env.jit import rule
from mitch_env.layout import Layout
from mitch_env.mitchell.kinds import (
    ANYWHERE,
    ATTRACT,
    CANCEL,
    CHANGE,
    FORCE_TWO,
    GIVE,
    MOVE,
    N_KINDS,
    N_SUITS,
    NOTHING,
    REVENGE,
    TO_CENTER,
    function_of,
    is_investigation,
    suit_of,
)
from mitch_env.mitchell.options import MAX_PLAYERS
from mitch_env.mitchell.scoring import CAUGHT_POINTS, INVESTIGATION_POINTS, OTHER_CARD_POINTS, WINNER_POINTS
from mitch_env.mitchell.state import CENTER

from .rule_agent import flag, index_of_one

#: What a seat sees, and what becomes of it when a move is tried. Fields that a table has too are called the same.
SIGHT = np.dtype(
    [
        # As it is seen.
        ("hand_seen", "i8", (N_KINDS,)),
        ("n_held_seen", "i8", (MAX_PLAYERS,)),
        ("mitchell_seen", "i8"),
        ("suit_seen", "i8"),
        ("drawable_seen", "i8"),  # cards that can be drawn before nothing is left (M12)
        # As it would be.
        ("hand", "i8", (N_KINDS,)),
        ("unknown", "i8"),  # cards of the own hand that would come from the stock, or from a giver
        ("n_held", "i8", (MAX_PLAYERS,)),
        ("mitchell", "i8"),
        ("suit", "i8"),
        ("drawable", "i8"),
        ("played_out", "i8"),  # the bit set of the seats that would play their last card in this turn (M10)
        # What is played, or waits for answers.
        ("turn", "i8"),
        ("kind", "i8"),
        ("target", "i8"),
        ("new_suit", "i8"),
        ("gift", "i8"),
        ("answering", "i8"),  # whether the decision is an answer
        # What the unseen cards are, on average.
        ("reactions", "f8"),  # the share of reactions among them
        ("cancels", "f8"),  # the share of cancels among these
        ("points_each", "f8"),  # what one scores when it is left
        # The rules.
        ("seats", "i8"),  # that actions are numbered for
        ("players", "i8"),
        ("release_wins", "i8"),
        ("points_sign", "f8"),  # -1 if cards left cost points
        # Working space.
        ("none", "f8", (MAX_PLAYERS,)),  # the chance that a seat plays no reaction
        ("unanswered", "f8"),  # the chance that no opponent does
        ("count", "f8", (MAX_PLAYERS,)),  # of each hand
        ("done", "f8", (MAX_PLAYERS,)),  # the chance that it is empty by now
        ("first", "f8", (MAX_PLAYERS,)),  # the chance to win the round
        ("caught", "f8", (MAX_PLAYERS,)),  # the chance to have Mitchell then
    ],
    align=True,
)

#: How likely a hand of 1, 2, ... 7 or more cards has two or one less, as many, one or two more after the next own turn.
#: Measured in rounds that the agent played.
CHANGES = np.array(
    [
        [0.000, 0.300, 0.220, 0.360, 0.120],
        [0.025, 0.320, 0.260, 0.300, 0.095],
        [0.040, 0.385, 0.245, 0.260, 0.070],
        [0.055, 0.430, 0.230, 0.235, 0.050],
        [0.080, 0.450, 0.230, 0.210, 0.030],
        [0.100, 0.455, 0.215, 0.200, 0.030],
        [0.130, 0.490, 0.190, 0.175, 0.015],
    ]
)
#: Own turns to look ahead, and the largest hand that is told apart.
AHEAD = 30
LARGEST = 20

#: The blocks of the observation that are read, in the order of the offsets.
_BLOCKS = (
    *("discards", "unseen", "suit", "action", "action_suit", "known", "hand_size", "mitchell"),
    *("target", "turn", "decision", "stock", "players", "rules", "deck"),
)
_DISCARDS, _UNSEEN, _SUIT, _ACTION, _ACTION_SUIT, _KNOWN, _HAND_SIZE, _MITCHELL = range(8)
_TARGET, _TURN, _DECISION, _STOCK, _PLAYERS, _RULES, _DECK, _SEATS = range(8, 16)


def offsets(layout: Layout) -> np.ndarray:
    """Where the blocks that are read begin, then the number of encoded seats (int64), for :func:`read_sight`."""
    slices = layout.slices
    return np.array([*(slices[block].start for block in _BLOCKS), layout.seats], np.int64)


# --- Reading an observation.


@rule
def read_sight(seen: np.ndarray, at: np.ndarray, s: Any) -> None:
    """Fills ``s``, one record of :data:`SIGHT`, from one observation; ``at`` are its :func:`offsets`."""
    s.seats = at[_SEATS]
    s.players = index_of_one(seen, at[_PLAYERS], MAX_PLAYERS - 1) + 2
    s.points_sign = -1.0 if seen[at[_RULES]] > 0.5 else 1.0
    s.release_wins = flag(seen[at[_RULES] + 1])
    s.suit_seen = index_of_one(seen, at[_SUIT], N_SUITS)
    s.mitchell_seen = index_of_one(seen, at[_MITCHELL], s.players)
    s.turn = index_of_one(seen, at[_TURN], s.players)
    s.answering = flag(seen[at[_DECISION] + 2])
    for seat in range(s.players):
        s.n_held_seen[seat] = _count(seen[at[_HAND_SIZE] + 4 * seat + 3], 7.0)
    _read_cards(seen, at, s)
    action = index_of_one(seen, at[_ACTION], 4)
    s.kind = NOTHING if action < 0 else CHANGE + action
    s.target = index_of_one(seen, at[_TARGET], s.players)
    s.new_suit = index_of_one(seen, at[_ACTION_SUIT], N_SUITS)
    s.gift = NOTHING


@rule
def _read_cards(seen: np.ndarray, at: np.ndarray, s: Any) -> None:
    """The own hand, how many cards can be drawn, and what those are that have not been seen."""
    n_deck = 0
    n_discards = 0
    n_unseen = 0
    n_cancels = 0
    n_reactions = 0
    points = 0
    for kind in range(N_KINDS):
        in_deck = _count(seen[at[_DECK] + kind], 6.0)
        unseen = int(float(seen[at[_UNSEEN] + kind]) * in_deck + 0.5)
        s.hand_seen[kind] = _count(seen[at[_KNOWN] + kind], 1.0)
        n_deck += in_deck
        n_discards += int(float(seen[at[_DISCARDS] + kind]) * in_deck + 0.5)
        n_unseen += unseen
        points += unseen * (INVESTIGATION_POINTS if is_investigation(kind) else OTHER_CARD_POINTS)
        if kind >= CANCEL:
            n_reactions += unseen
        if kind == CANCEL:
            n_cancels += unseen
    s.drawable_seen = int(float(seen[at[_STOCK]]) * n_deck + 0.5) + n_discards - 1
    s.reactions = n_reactions / max(1, n_unseen)
    s.cancels = n_cancels / max(1, n_reactions)
    s.points_each = points / max(1, n_unseen)


@rule
def _count(entry: float, half: float) -> int:
    """The n of n / (half + n)."""
    share = float(entry)
    return int(half * share / (1.0 - share) + 0.5)


# --- What a move would change.


@rule
def start_over(s: Any) -> None:
    """Nothing has been tried yet: all is as it is seen."""
    for kind in range(N_KINDS):
        s.hand[kind] = s.hand_seen[kind]
    for seat in range(s.players):
        s.n_held[seat] = s.n_held_seen[seat]
    s.unknown = 0
    s.mitchell = s.mitchell_seen
    s.suit = s.suit_seen
    s.drawable = s.drawable_seen
    s.played_out = 0
    if s.answering != 0 and s.n_held[s.turn] == 0:
        s.played_out = 1 << s.turn


@rule
def lay(s: Any, seat: int, kind: int) -> None:
    """``seat`` plays a card."""
    if seat == 0:
        s.hand[kind] -= 1
    s.n_held[seat] -= 1
    s.drawable += 1
    if s.n_held[seat] == 0:
        s.played_out |= 1 << seat


@rule
def investigate(s: Any, kind: int, place: int) -> None:
    """The observer plays an investigation."""
    lay(s, 0, kind)
    s.suit = suit_of(kind)
    function = function_of(kind)
    if function == ATTRACT:
        s.mitchell = 0
    elif function == TO_CENTER:
        s.mitchell = CENTER
    elif function == ANYWHERE:
        s.mitchell = place


@rule
def draw_some(s: Any, seat: int, n: int) -> None:
    """``seat`` draws ``n`` cards, or as many as there are."""
    n = min(n, max(0, s.drawable))
    s.drawable -= n
    s.n_held[seat] += n
    if seat == 0:
        s.unknown += n


@rule
def take_effect(s: Any) -> None:
    """What the action of ``s.turn`` does."""
    if s.kind == CHANGE:
        s.suit = s.new_suit
    elif s.kind == FORCE_TWO:
        draw_some(s, s.target, 2)
    elif s.kind == MOVE:
        s.mitchell = s.target
    elif s.kind == GIVE:
        s.n_held[s.turn] -= 1
        s.n_held[s.target] += 1
        if s.turn == 0:
            s.hand[s.gift] -= 1
        elif s.target == 0:
            s.unknown += 1
        s.mitchell = s.turn


@rule
def resolve(s: Any, reactor: int, reaction: int) -> None:
    """The whole turn in which ``s.turn`` has played the action: the answer, its effect, the draw that the answer forces."""
    start_over(s)
    if s.turn == 0:
        lay(s, 0, s.kind)
    if reactor != NOBODY:
        lay(s, reactor, reaction)
    if reaction != CANCEL:
        take_effect(s)
    if reaction == CANCEL:
        draw_some(s, s.turn, 1)
    elif reaction == REVENGE:
        draw_some(s, s.turn, 2)


@rule
def first_asked(s: Any) -> int:
    """Who is asked first for a reaction: who is affected, else who has Mitchell, else the next clockwise."""
    if s.kind != CHANGE and s.target != CENTER and s.target != s.turn:
        return int(s.target)
    if s.mitchell_seen != CENTER and s.mitchell_seen != s.turn:
        return int(s.mitchell_seen)
    return int((s.turn + 1) % s.players)


@rule
def winner(s: Any) -> int:
    """Who would have won at the end of the turn, NOBODY if nobody (M9, M10)."""
    for step in range(s.players):
        seat = (s.turn + step) % s.players
        if s.n_held[seat] == 0 and s.mitchell != seat and (s.release_wins != 0 or s.played_out >> seat & 1):
            return int(seat)
    return NOBODY


@rule
def cards_left(s: Any, seat: int) -> float:
    """What the cards of a hand would score now (M14)."""
    if seat != 0:
        return float(s.points_sign * s.n_held[seat] * s.points_each)
    points = s.unknown * s.points_each
    for kind in range(N_KINDS):
        points += s.hand[kind] * (INVESTIGATION_POINTS if is_investigation(kind) else OTHER_CARD_POINTS)
    return float(s.points_sign * points)


@rule
def final_worth(s: Any, first: int) -> float:
    """The own points less the mean of the others', if ``first`` has won."""
    worth = 0.0
    for seat in range(s.players):
        if seat == first:
            points = 1.0 * WINNER_POINTS
        elif seat == s.mitchell:
            points = 1.0 * CAUGHT_POINTS  # M22
        else:
            points = cards_left(s, seat)
        worth += points if seat == 0 else -points / (s.players - 1)
    return float(worth)


# --- How long hands last.


def chances_done(changes: np.ndarray) -> np.ndarray:
    """``[n, t]``: the chance that a hand of ``n`` cards has been empty by the ``t``-th own turn."""
    done = np.zeros((LARGEST + 3, AHEAD + 1))
    done[0] = 1.0
    for t in range(1, AHEAD + 1):
        for n in range(1, LARGEST + 1):
            for change, chance in zip(range(-2, 3), changes[min(n, len(changes)) - 1], strict=True):
                done[n, t] += chance * done[max(0, n + change), t - 1]
    done[0, 0] = 0.0
    return done


DONE = chances_done(CHANGES)


@rule
def done_by(count: float, t: int) -> float:
    """The chance that a hand with this count has been empty by the ``t``-th own turn."""
    below = int(count)
    return float(DONE[below, t] + (count - below) * (DONE[below + 1, t] - DONE[below, t]))
