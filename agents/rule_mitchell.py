"""The rule agent of Mitchell: what a sensible player weighs, as arithmetic.

It tries each legal move on what it sees, asks what the round is worth then, and makes the move that is worth most.

1. Hands are counted. The own one counts less than it has cards if they are of few suits, if the current one is among them, and
   if some can be played at any time; more if they must wait for others or will be answered.
2. The counts are a race. Turn by turn: the chance of each seat to be the first without cards. Mitchell hinders whom he stands
   before, and catches him if another is first.
3. The race is points: 200 for the first, minus 100 for who is caught, the cards left for the others; the own points less the
   mean of the others'.

An action is tried with each answer that may follow, an answer of the own as well; what will be drawn counts as unknown cards.
All else follows from the race: to shed cards and keep those that go together, to put Mitchell before who is nearly done and
be rid of him in time, to force and to give where it hurts most, to react at the right moment.

It decides from the observation alone: one record, :data:`~agents.rule_mitchell_sight.SIGHT`, holds all that it knows. It does
not remember what others could not play, and looks at one round, not at the match. The constants are fitted to how rounds with
2 to 8 players ended that it played against itself, with some weaker players among them, and checked one by one in duels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mitch_env.game import NOBODY
from mitch_env.jit import rule
from mitch_env.mitchell.actions import pass_at, split_action
from mitch_env.mitchell.kinds import (
    ANYWHERE,
    ANYWHERE_OF,
    CANCEL,
    CHANGE,
    FORCE_TWO,
    GIVE,
    MOVE,
    N_INVESTIGATIONS,
    N_KINDS,
    N_SUITS,
    NOTHING,
    REVENGE,
    TO_CENTER,
    function_of,
    is_investigation,
)
from mitch_env.mitchell.scoring import CAUGHT_POINTS, WINNER_POINTS
from mitch_env.mitchell.state import CENTER

from .rule_agent import RuleAgent
from .rule_mitchell_sight import (
    AHEAD,
    LARGEST,
    SIGHT,
    cards_left,
    done_by,
    final_worth,
    first_asked,
    investigate,
    lay,
    offsets,
    read_sight,
    resolve,
    start_over,
    take_effect,
    winner,
)

#: What a card of the own hand counts, where one in another hand is a card: an investigation without function, with attract,
#: with center, with anywhere; change, force-two, move, give (which plays two cards); cancel, revenge.
COUNTS = np.array([0.67, 0.9, 0.45, 0.25, 0.1, 0.27, 0.27, -0.9, 0.1, 0.35])
#: What some count besides in a hand of n cards, divided by n: a give cannot be played as the last card; a reaction must wait
#: for an action, less long the more opponents there are.
LAST_GIVE = 2.4
LAST_REACTION = 1.1
#: What an action counts besides if somebody is sure to react to it.
ANSWERED = 0.45
#: What each suit in the hand counts besides if it is not the current one when the turn comes, and each further card of it: so
#: little, in duels, that it only decides between suits that are equal otherwise.
SUIT = 0.82
MORE_OF_SUIT = 0.03
#: What a hand counts besides if nothing in it can be played when the turn comes.
STUCK = 0.38
#: How likely the suit is the same after the turn of another seat.
KEEP = 0.87
#: What a card in another hand counts, and one that will be drawn.
EACH = 0.89
DRAWN = 1.0
#: What an empty hand counts that waits for Mitchell to leave; without ``release_wins`` it must draw and play again (M10).
RELEASE = 0.5
EMPTY = 1.5
#: How likely Mitchell stands after a turn where he stood before it; if not, how likely he is in the center, as many seats.
STAYS = 0.6
CENTERED = 0.8
#: How likely he keeps a seat from being done that has no cards left but him: the own one with cards to send him away or
#: without, another one.
HINDERS_WITH = 0.3
HINDERS_WITHOUT = 0.7
HINDERS_OTHER = 0.7
#: How many of the reactions in other hands are played when there is an occasion.
REACTS = 0.8
#: The share of the cards now in a hand that will be left at the end of the round.
CARDS_LEFT = 0.4
#: Smaller chances are not looked into.
RARE = 0.02


# --- What hands count.


@rule
def expect_answers(s: Any) -> None:
    """How likely each opponent has no reaction to play."""
    s.unanswered = 1.0
    for seat in range(1, s.players):
        s.none[seat] = 1.0
        for _ in range(s.n_held_seen[seat]):
            s.none[seat] *= 1.0 - REACTS * s.reactions
        s.unanswered *= s.none[seat]


@rule
def group_of(kind: int) -> int:
    """The place of a kind in ``COUNTS``."""
    return function_of(kind) if kind < N_INVESTIGATIONS else ANYWHERE + 1 + kind - N_INVESTIGATIONS


@rule
def count_card(s: Any, kind: int) -> float:
    """What one card of the own hand counts."""
    last = 0.0
    count = COUNTS[group_of(kind)]
    if kind >= CANCEL:
        last = LAST_REACTION / (s.players - 1)
    elif kind >= CHANGE:
        count += ANSWERED * (1.0 - s.unanswered)
        last = LAST_GIVE if kind == GIVE else 0.0
    return float(count + last / s.n_held[0])


@rule
def suit_comes(s: Any, suit: int) -> float:
    """The chance that a suit is the current one at the next own turn."""
    if s.suit == NOTHING:
        return 1.0 / N_SUITS
    keeps = 1.0
    for _ in range((-1 - s.turn) % s.players):
        keeps *= KEEP
    return float((1.0 - keeps) / N_SUITS + (keeps if s.suit == suit else 0.0))


@rule
def count_own(s: Any) -> float:
    """What the own hand counts."""
    count = DRAWN * s.unknown
    for kind in range(N_KINDS):
        if s.hand[kind] > 0:
            count += s.hand[kind] * count_card(s, kind)
    fits = 0.0
    for suit in range(N_SUITS):
        n = s.hand[3 * suit] + s.hand[3 * suit + 1] + s.hand[3 * suit + 2] + s.hand[ANYWHERE_OF + suit]
        if n > 0:
            comes = suit_comes(s, suit)
            count += (SUIT + MORE_OF_SUIT * (n - 1)) * (1.0 - comes)
            fits += comes
    n_actions = s.hand[CHANGE] + s.hand[FORCE_TWO] + s.hand[MOVE]
    if n_actions == 0 and (s.hand[GIVE] == 0 or s.n_held[0] == 1):
        count += STUCK * (1.0 - fits)
    return float(count)


@rule
def count_hand(s: Any, seat: int) -> float:
    """What a hand counts."""
    if s.n_held[seat] == 0:
        return RELEASE if s.release_wins != 0 else EMPTY
    count = count_own(s) if seat == 0 else EACH * s.n_held[seat]
    return float(min(max(0.0, count), LARGEST))


# --- The race to be the first without cards and without Mitchell.


@rule
def hindrance(s: Any, seat: int) -> float:
    """How much Mitchell hinders a seat before which he stands."""
    if seat != 0:
        return HINDERS_OTHER
    n_movers = s.hand[MOVE]
    for suit in range(N_SUITS):
        n_movers += s.hand[3 * suit + TO_CENTER] + s.hand[ANYWHERE_OF + suit]
    return HINDERS_WITH if n_movers > 0 else HINDERS_WITHOUT


@rule
def race(s: Any) -> None:
    """The chance of each seat to be the first, and to be caught: turn by turn, from the seat after the one whose turn it is."""
    for seat in range(s.players):
        s.count[seat] = count_hand(s, seat)
        s.first[seat] = 0.0
        s.done[seat] = 0.0
    going_on = 1.0
    stays = 1.0
    stayed = 0.0  # the chance that the round ended and Mitchell had not moved
    caught = 0.0  # and that a loser had him then
    for t in range(1, AHEAD + 1):
        for step in range(s.players):
            seat = (s.turn + 1 + step) % s.players
            stays *= STAYS
            done = done_by(s.count[seat], t)
            wins = going_on * (done - s.done[seat]) / max(1e-9, 1.0 - s.done[seat])
            s.done[seat] = done
            if seat == s.mitchell:
                wins *= 1.0 - stays * hindrance(s, seat)
            else:
                caught += wins * stays
            s.first[seat] += wins
            stayed += wins * stays
            going_on -= wins
        if going_on < RARE:
            break
    for seat in range(s.players):
        s.first[seat] += going_on / s.players
        s.caught[seat] = (1.0 - stayed) * (1.0 - s.first[seat]) / (s.players - 1 + CENTERED)
    if s.mitchell != CENTER:
        s.caught[s.mitchell] += caught


# --- What a position is worth.


@rule
def worth(s: Any) -> float:
    """The own points less the mean of the others' that can be expected at the end of a turn."""
    first = winner(s)
    if first != NOBODY:
        return final_worth(s, first)
    race(s)
    total = 0.0
    for seat in range(s.players):
        wins, caught = s.first[seat], s.caught[seat]
        points = wins * WINNER_POINTS + caught * CAUGHT_POINTS
        points += (1.0 - wins - caught) * CARDS_LEFT * cards_left(s, seat)
        total += points if seat == 0 else -points / (s.players - 1)
    return float(total)


# --- What a move is worth.


@rule
def worth_if(s: Any, reactor: int, reaction: int) -> float:
    """What the action is worth if that is the answer."""
    resolve(s, reactor, reaction)
    return worth(s)


@rule
def worth_asking(s: Any, step: int) -> float:
    """What the action is worth while opponents are being asked, from the ``step``-th one on."""
    first = first_asked(s)
    total = 0.0
    nobody = 1.0
    for i in range(step, s.players):
        seat = (first + i) % s.players
        if seat == s.turn or s.none[seat] == 1.0 or nobody < RARE:
            continue
        reacts = nobody * (1.0 - s.none[seat])
        nobody *= s.none[seat]
        if s.cancels > 0.0:
            total += reacts * s.cancels * worth_if(s, seat, CANCEL)
        if s.cancels < 1.0:
            total += reacts * (1.0 - s.cancels) * worth_if(s, seat, REVENGE)
    return total + nobody * worth_if(s, NOBODY, NOTHING)


@rule
def worth_playing(s: Any, kind: int, word: int, gift: int) -> float:
    """What it is worth to play a card; word and gift as ``split_action`` has them."""
    if is_investigation(kind):
        start_over(s)
        investigate(s, kind, word)
        return worth(s)
    s.kind = kind
    s.target = word
    s.new_suit = word
    s.gift = gift
    return worth_asking(s, 0)


@rule
def best_gift(s: Any, mask: np.ndarray, start: int) -> int:
    """The card without which the rest of the own hand counts least."""
    best = np.inf
    gift = NOTHING
    s.kind = GIVE
    s.target = 1
    for kind in range(N_KINDS):
        if mask[start + kind]:
            s.gift = kind
            start_over(s)
            lay(s, 0, GIVE)
            take_effect(s)
            count = count_hand(s, 0)
            if count < best:
                best, gift = count, kind
    return gift


@rule
def answer(s: Any, mask: np.ndarray, last: int) -> int:
    """Cancel, revenge or decline; ``last`` is the number of the pass, which these follow."""
    action = last + 3
    best = worth_asking(s, (-first_asked(s)) % s.players + 1)
    for i in range(2):
        if mask[last + 1 + i]:
            gain = worth_if(s, 0, CANCEL + i)
            if gain > best:
                best, action = gain, last + 1 + i
    return action


@rule
def decide(seen: np.ndarray, mask: np.ndarray, at: np.ndarray, s: Any) -> int:
    """The legal move that is worth most. ``at`` are the offsets of the observation's blocks, ``s`` is working space."""
    read_sight(seen, at, s)
    expect_answers(s)
    seats = s.seats
    last = pass_at(seats)
    if s.answering != 0:
        return answer(s, mask, last)
    best = -np.inf
    action = last
    if mask[last]:
        start_over(s)
        best = worth(s)
    given = NOTHING
    for move in range(last):
        if mask[move]:
            kind, word, gift = split_action(seats, move)
            if kind == GIVE:
                if given == NOTHING:
                    given = best_gift(s, mask, move - gift)
                if gift != given:
                    continue
            gain = worth_playing(s, kind, word, gift)
            if gain > best:
                best, action = gain, move
    return action


# --- The agent.


class MitchellRuleAgent(RuleAgent):
    """Makes the move that is worth most."""

    def __init__(self) -> None:
        super().__init__("mitchell", decide, SIGHT, offsets)
