"""The rule agent of Mitchell."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from mitch_env.game import NOBODY
from mitch_env.jit import kernel_view, rule
from mitch_env.mitchell.actions import pass_at, split_action
from mitch_env.mitchell.kinds import (
    ANYWHERE,
    ANYWHERE_OF,
    CANCEL,
    CHANGE,
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
from mitch_env.mitchell.scoring import CAUGHT_POINTS, INVESTIGATION_POINTS, OTHER_CARD_POINTS, WINNER_POINTS
from mitch_env.mitchell.state import CENTER

from .agent import View
from .rule_mitchell_kernel import (
    SIGHT,
    decision_kernel,
    draw_some,
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

#: What a card of the own hand counts, and what it counts besides if it is the last one (of n cards the n-th part): an
#: investigation without function, with attract, with center, with anywhere; change, force-two, move, give; cancel, revenge.
COUNTS = np.array([0.9, 1.0, 0.9, 0.8, 0.8, 1.0, 1.0, 0.7, 0.8, 0.9])
LAST = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
#: How likely the suit is the same after a turn.
KEEP = 0.95
#: What a suit more in the hand counts, and having nothing to play.
SUIT = 0.5
STUCK = 0.2
#: What a card in another hand counts, and a card that will be drawn.
EACH = 1.0
DRAWN = 1.0
#: How likely Mitchell stands where he stood after a turn.
STAYS = 0.7
#: How much he hinders: with cards to get rid of him, without; another seat.
HINDERS_WITH = 0.3
HINDERS_WITHOUT = 0.9
HINDERS_OTHER = 0.8
#: What an empty hand counts that must draw and play again.
EMPTY = 1.5
#: Who is caught otherwise.
ELSEWHERE = 0.6
#: The share of reactions among unknown cards that is held and used.
REACTS = 0.6
#: The share of the cards now in hand that is left at the end of the round.
CARDS_LEFT = 0.7
#: How likely a hand of 1, 2, ... 7 cards has two or one less, as many, one or two more at the next own turn. Measured.
CHANGES = np.array([
    [0.00, 0.85, 0.03, 0.07, 0.05],
    [0.04, 0.20, 0.38, 0.21, 0.17],
    [0.02, 0.32, 0.36, 0.18, 0.12],
    [0.04, 0.40, 0.32, 0.15, 0.09],
    [0.05, 0.44, 0.31, 0.13, 0.07],
    [0.07, 0.49, 0.27, 0.11, 0.06],
    [0.10, 0.51, 0.22, 0.12, 0.05],
])
ROUNDS = 30
LARGEST = 20


def chances_done(changes: np.ndarray) -> np.ndarray:
    """The chance that a hand of so many cards was empty after so many own turns."""
    done = np.zeros((LARGEST + 3, ROUNDS + 1))
    done[0] = 1.0
    for t in range(1, ROUNDS + 1):
        for n in range(1, LARGEST + 1):
            chances = changes[min(n, len(changes)) - 1]
            for change, chance in zip(range(-2, 3), chances, strict=True):
                done[n, t] += chance * done[max(0, n + change), t - 1]
    done[0, 0] = 0.0
    return done


DONE = chances_done(CHANGES)


# --- How long it takes.


@rule
def is_suit_held(s: Any, suit: int) -> bool:
    """Whether the own hand would hold an investigation of a suit."""
    return bool(s.hand[3 * suit] + s.hand[3 * suit + 1] + s.hand[3 * suit + 2] + s.hand[ANYWHERE_OF + suit] > 0)


@rule
def group_of(kind: int) -> int:
    """The place of a kind in COUNTS."""
    return function_of(kind) if kind < N_INVESTIGATIONS else kind - N_INVESTIGATIONS + ANYWHERE + 1


@rule
def own_turns(s: Any) -> float:
    """Turns to play the own hand."""
    n = s.n_held[0]
    turns = s.unknown * DRAWN
    n_actions = 0
    for kind in range(N_KINDS):
        if s.hand[kind] > 0:
            turns += s.hand[kind] * (COUNTS[group_of(kind)] + LAST[group_of(kind)] / n)
            if CHANGE <= kind < GIVE or (kind == GIVE and n > 1):
                n_actions += s.hand[kind]
    keeps = 1.0
    for _ in range((-1 - s.turn) % s.players):
        keeps *= KEEP
    fits = 0.0
    for suit in range(N_SUITS):
        if is_suit_held(s, suit):
            comes = (1.0 - keeps) / N_SUITS
            if s.suit == suit:
                comes += keeps
            elif s.suit == NOTHING:
                comes = 1.0 / N_SUITS
            turns += SUIT * (1.0 - comes)
            fits += comes
    if n_actions == 0:
        turns += STUCK * (1.0 - fits)
    return float(turns)


@rule
def n_movers(s: Any) -> int:
    """Cards in the own hand that can take Mitchell away."""
    n = s.hand[MOVE]
    for suit in range(N_SUITS):
        n += s.hand[ANYWHERE_OF + suit] + s.hand[3 * suit + TO_CENTER]
    return int(n)


@rule
def counts_of(s: Any, seat: int) -> float:
    """How many cards a hand is as good as."""
    n = s.n_held[seat]
    if n == 0:
        return 0.0 if s.release_wins != 0 else EMPTY
    return own_turns(s) if seat == 0 else n * EACH


@rule
def hindrance(s: Any, seat: int) -> float:
    """How much Mitchell hinders a seat that he stands before."""
    if seat != 0:
        return HINDERS_OTHER
    return HINDERS_WITHOUT if n_movers(s) == 0 else HINDERS_WITH


@rule
def done_by(s: Any, cards: float, t: int) -> float:
    """The chance that a hand is empty after so many own turns."""
    low = int(cards)
    rest = cards - low
    return DONE[low, t] + rest * (DONE[low + 1, t] - DONE[low, t])


@rule
def race(s: Any) -> None:
    """The chance of each seat to be the first, and to be caught."""
    for seat in range(s.players):
        s.cards[seat] = min(max(0.0, counts_of(s, seat)), LARGEST)
        s.first[seat] = 0.0
        s.done[seat] = 0.0
    alive = 1.0
    stay = 1.0
    stayed = 0.0
    caught = 0.0
    for t in range(1, ROUNDS + 1):
        for step in range(s.players):
            seat = (s.turn + 1 + step) % s.players
            stay *= STAYS
            done = done_by(s, s.cards[seat], t)
            wins = alive * (done - s.done[seat]) / max(1e-9, 1.0 - s.done[seat])
            s.done[seat] = done
            if seat == s.mitchell:
                wins *= 1.0 - stay * hindrance(s, seat)
            else:
                caught += wins * stay
            s.first[seat] += wins
            alive -= wins
            stayed += wins * stay
        if alive < 0.02:
            break
    for seat in range(s.players):
        s.first[seat] += alive / s.players
        s.caught[seat] = (1.0 - stayed) * (1.0 - s.first[seat]) / (s.players - 1 + ELSEWHERE)
    if s.mitchell != CENTER:
        s.caught[s.mitchell] += caught


# --- What a position is worth.


@rule
def cards_left(s: Any, seat: int) -> float:
    """What the cards of a hand would score now."""
    if seat != 0:
        return float(s.points_sign * s.n_held[seat] * s.points_each)
    points = s.unknown * s.points_each
    for kind in range(N_KINDS):
        points += s.hand[kind] * (INVESTIGATION_POINTS if is_investigation(kind) else OTHER_CARD_POINTS)
    return float(s.points_sign * points)


@rule
def final_worth(s: Any, first: int) -> float:
    """The own points less the mean of the others', if ``first`` wins now."""
    worth = 0.0
    for seat in range(s.players):
        if seat == first:
            points = 1.0 * WINNER_POINTS
        elif seat == s.mitchell:
            points = 1.0 * CAUGHT_POINTS
        else:
            points = cards_left(s, seat)
        worth += points if seat == 0 else -points / (s.players - 1)
    return float(worth)


@rule
def worth(s: Any) -> float:
    """What can be expected of the round."""
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
    """What the action is worth while the seats from ``step`` on are asked."""
    first = first_asked(s)
    total = 0.0
    nobody = 1.0
    for i in range(step, s.players):
        seat = (first + i) % s.players
        if seat != s.turn and s.reactions > 0.0:
            none = 1.0
            for _ in range(s.n_held_seen[seat]):
                none *= 1.0 - REACTS * s.reactions
            reacts = nobody * (1.0 - none)
            nobody *= none
            if s.cancels > 0.0:
                total += reacts * s.cancels * worth_if(s, seat, CANCEL)
            if s.cancels < 1.0:
                total += reacts * (1.0 - s.cancels) * worth_if(s, seat, REVENGE)
    return total + nobody * worth_if(s, NOBODY, NOTHING)


@rule
def worth_playing(s: Any, kind: int, word: int, gift: int) -> float:
    """What it is worth to play a card."""
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
    """The card that is hardest to play away."""
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
            turns = own_turns(s) if s.n_held[0] > 0 else 0.0
            if turns < best:
                best, gift = turns, kind
    return gift


@rule
def answer(s: Any, mask: np.ndarray, last: int) -> int:
    """Cancel, revenge or decline."""
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
    seats = (mask.shape[0] - 3) // 33
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


@functools.cache
def _decisions() -> Any:
    return decision_kernel(decide)


class MitchellRuleAgent:
    """Makes the move that is worth most; no chance, no memory."""

    name = "rule"
    encoder = "canonical"  # so that equal moves are told apart by what is seen, not by the names of suits

    def __init__(self) -> None:
        self._sight = np.zeros(1, SIGHT).view(np.recarray)

    def reset(self, seat: int | None, rng: np.random.Generator) -> None:
        """Nothing to set up: the agent keeps nothing and draws nothing."""

    def act_batch(self, view: View) -> np.ndarray:
        """A move for each row."""
        at = offsets(view.game.rules.layout(view.seats_encoded))
        observation = np.ascontiguousarray(view.observation, np.float32)
        mask = np.ascontiguousarray(view.mask).view(np.uint8)
        actions = np.empty(len(view), np.int64)
        _decisions()(observation, mask, at, kernel_view(self._sight), actions)
        return actions
