"""The actions of Mitchell and which are legal: 33 N + 3 for N encoded seats, other seats relative to the actor.

| count | meaning |
| --- | --- |
| 15 | play an investigation: for each suit without a function, with attract, with center |
| 5 (N + 1) | for each suit: play the one that moves Mitchell anywhere: to the center, to oneself, to the next seats clockwise |
| 5 | change to each suit |
| N - 1 | force-two on each other seat |
| N + 1 | move Mitchell to the center, to oneself, to the next seats clockwise |
| 26 (N - 1) | give to each other seat each kind of card |
| 4 | pass, cancel, revenge, decline |

Seats that nobody sits on (N may be more than the players) are never legal.
"""

from __future__ import annotations

import numpy as np

from ..bits import expand, lowest_bit, popcount
from ..chance import below
from ..game import Table
from ..jit import rule
from .kinds import (
    ANYWHERE_OF,
    CANCEL,
    CHANGE,
    FORCE_TWO,
    GIVE,
    MOVE,
    N_KINDS,
    N_SUITS,
    NO_KINDS,
    NOTHING,
    ONE,
    ONE_WAY,
    WITH_ANYWHERE,
    Kinds,
    bit,
)
from .state import PHASE_ANSWER, PHASE_DRAWN, PHASE_PLAY, gifts, playable, reactions

#: The relative place of the center; the actor is 0, the next seat clockwise 1.
TO_THE_CENTER = -1


@rule
def n_actions(seats: int) -> int:
    """The number of actions for a number of encoded seats."""
    return 33 * int(seats) + 3


@rule
def change_at(seats: int) -> int:
    """Where the changes start; the investigations that move Mitchell anywhere start at ANYWHERE_OF."""
    return ANYWHERE_OF + N_SUITS * (int(seats) + 1)


@rule
def force_two_at(seats: int) -> int:
    """Where the force-twos start."""
    return change_at(seats) + N_SUITS


@rule
def move_at(seats: int) -> int:
    """Where the moves start."""
    return force_two_at(seats) + int(seats) - 1


@rule
def give_at(seats: int) -> int:
    """Where the gives start."""
    return move_at(seats) + int(seats) + 1


@rule
def pass_at(seats: int) -> int:
    """The pass; cancel, revenge and decline follow."""
    return give_at(seats) + N_KINDS * (int(seats) - 1)


@rule
def split_action(seats: int, action: int) -> tuple[int, int, int]:
    """Kind, word and gift of an action by which a card is played on the own turn.

    The word is a suit for change; for a card with a target its place relative to the actor, TO_THE_CENTER for the center.
    What does not apply is 0, and NOTHING for the gift.
    """
    if action < ANYWHERE_OF:
        return action, 0, NOTHING
    if action < change_at(seats):
        rest = action - ANYWHERE_OF
        return ANYWHERE_OF + rest // (seats + 1), rest % (seats + 1) - 1, NOTHING
    if action < force_two_at(seats):
        return CHANGE, action - change_at(seats), NOTHING
    if action < move_at(seats):
        return FORCE_TWO, action - force_two_at(seats) + 1, NOTHING
    if action < give_at(seats):
        return MOVE, action - move_at(seats) - 1, NOTHING
    rest = action - give_at(seats)
    return GIVE, rest // N_KINDS + 1, rest % N_KINDS


# --- What is legal.


@rule
def turn_cards(s: Table) -> Kinds:
    """The kinds that the actor may play on its turn: any that can be played, or only the one just drawn (M26)."""
    if s.phase == PHASE_PLAY:
        return playable(s, s.actor)
    return bit(s.drawn) if s.phase == PHASE_DRAWN else NO_KINDS


@rule
def is_legal(s: Table, action: int) -> bool:
    """Whether the actor may do that now; false for every number that is no action."""
    seats = int(s.seats_encoded)
    last = pass_at(seats)
    if action < 0 or action >= n_actions(seats):
        return False
    if s.phase == PHASE_ANSWER:
        if action <= last + 2:
            return bool(action > last and s.hand[s.actor, CANCEL + action - last - 1] > 0)
        return True
    if action >= last:
        return bool(action == last and s.phase == PHASE_DRAWN)
    kind, word, gift = split_action(seats, action)
    if turn_cards(s) & bit(kind) == NO_KINDS or (kind != CHANGE and word >= s.players):
        return False
    return bool(gift == NOTHING or gifts(s, s.actor) & bit(gift) != NO_KINDS)


@rule
def legal_actions(s: Table, mask: np.ndarray) -> None:
    """Writes 1 for each legal action of the actor, 0 elsewhere, to ``mask`` (8 bits wide, one entry an action)."""
    seats = int(s.seats_encoded)
    cards = turn_cards(s)
    expand(cards, mask, 0, ANYWHERE_OF)
    rest = mask[ANYWHERE_OF:]
    for i in range(rest.shape[0]):
        rest[i] = 0
    if s.phase == PHASE_ANSWER:
        expand(reactions(s, s.actor) >> np.uint64(CANCEL), mask, pass_at(seats) + 1, 2)
        mask[pass_at(seats) + 3] = 1
        return
    n_places = s.players + 1
    for suit in range(N_SUITS):
        if cards & bit(ANYWHERE_OF + suit) != NO_KINDS:
            _allow(mask, ANYWHERE_OF + suit * (seats + 1), n_places)
    if cards & bit(CHANGE) != NO_KINDS:
        _allow(mask, change_at(seats), N_SUITS)
    if cards & bit(FORCE_TWO) != NO_KINDS:
        _allow(mask, force_two_at(seats), s.players - 1)
    if cards & bit(MOVE) != NO_KINDS:
        _allow(mask, move_at(seats), n_places)
    if cards & bit(GIVE) != NO_KINDS:
        can_give = gifts(s, s.actor)
        for other in range(s.players - 1):
            expand(can_give, mask, give_at(seats) + N_KINDS * other, N_KINDS)
    mask[pass_at(seats)] = 1 if s.phase == PHASE_DRAWN else 0


@rule
def _allow(mask: np.ndarray, start: int, n: int) -> None:
    for i in range(start, start + n):
        mask[i] = 1


# --- A random choice.


@rule
def nth_kind(kinds: Kinds, n: int) -> int:
    """The ``n``-th lowest kind of a set (0-based)."""
    for _ in range(n):
        kinds &= kinds - ONE
    return lowest_bit(kinds)


@rule
def pick_legal(s: Table, bits: np.uint64) -> int:
    """A uniform legal action from 64 random bits: the ``below(bits, n)``-th of the n legal ones."""
    if s.phase == PHASE_ANSWER:
        return _pick_answer(s, bits)
    seats, others, n_places = int(s.seats_encoded), int(s.players) - 1, int(s.players) + 1
    cards = turn_cards(s)
    can_give = gifts(s, s.actor) if cards & bit(GIVE) != NO_KINDS else NO_KINDS
    n_one_way = popcount(cards & ONE_WAY)
    n_anywhere = popcount(cards & WITH_ANYWHERE) * n_places
    n_change = N_SUITS if cards & bit(CHANGE) != NO_KINDS else 0
    n_force_two = others if cards & bit(FORCE_TWO) != NO_KINDS else 0
    n_move = n_places if cards & bit(MOVE) != NO_KINDS else 0
    n_give = others * popcount(can_give)
    n_pass = 1 if s.phase == PHASE_DRAWN else 0
    n = below(bits, n_one_way + n_anywhere + n_change + n_force_two + n_move + n_give + n_pass)
    if n < n_one_way:
        return nth_kind(cards & ONE_WAY, n)
    n -= n_one_way
    if n < n_anywhere:
        suit = nth_kind(cards & WITH_ANYWHERE, n // n_places) - ANYWHERE_OF
        return ANYWHERE_OF + suit * (seats + 1) + n % n_places
    n -= n_anywhere
    if n < n_change:
        return change_at(seats) + n
    n -= n_change
    if n < n_force_two:
        return force_two_at(seats) + n
    n -= n_force_two
    if n < n_move:
        return move_at(seats) + n
    n -= n_move
    if n < n_give:
        n_kinds = popcount(can_give)
        return give_at(seats) + N_KINDS * (n // n_kinds) + nth_kind(can_give, n % n_kinds)
    return pass_at(seats)


@rule
def _pick_answer(s: Table, bits: np.uint64) -> int:
    cards = reactions(s, s.actor)
    n_cards = popcount(cards)
    n = below(bits, n_cards + 1)
    if n < n_cards:
        return pass_at(s.seats_encoded) + 1 + nth_kind(cards, n) - CANCEL
    return pass_at(s.seats_encoded) + 3
