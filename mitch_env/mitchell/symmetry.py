"""The names of the suits do not matter: an exact symmetry of Mitchell, used to show equal positions as equal.

A renaming is an integer: three bits for each suit, the new suit of suit 0 lowest, and above them the number of encoded seats,
on which the numbers of the actions depend. The deck is renamed with the rest, so that it may have other cards of each suit.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..game import Table
from ..jit import rule
from ..options import check_int
from .actions import change_at, force_two_at, give_at, pass_at
from .kinds import ANYWHERE_OF, N_INVESTIGATIONS, N_KINDS, N_SUITS, NOTHING, suit_of
from .memory import kind_of, sort
from .observation import layout
from .options import MAX_PLAYERS

_SUIT_BITS, _SUIT_MASK = 3, 7
_SEATS_AT = _SUIT_BITS * N_SUITS
#: The blocks of an observation with an entry for each kind; and those that begin with one for each suit.
_BY_KIND = ("playable", "drawn", "discards", "unseen", "known", "deck")
_BY_SUIT = ("suit", "action_suit")


@rule
def canonical(s: Table, seat: int) -> int:
    """The renaming that sorts the suits by what ``seat`` sees of them: the current one first, then the one that a change names,
    then most cards in the own hand, then these cards, then most discards, then most in the deck. Suits that look alike in all
    that keep their order, so it depends on nothing hidden."""
    code = int(s.seats_encoded) << _SEATS_AT
    for suit in range(N_SUITS):
        rank = 0
        key = _suit_key(s, seat, suit)
        for other in range(N_SUITS):
            other_key = _suit_key(s, seat, other)
            if other_key > key or (other_key == key and other < suit):
                rank += 1
        code |= rank << _SUIT_BITS * suit
    return code


@rule
def _suit_key(s: Table, seat: int, suit: int) -> int:
    held = 0
    cards = 0
    discarded = 0
    in_deck = 0
    for i in range(4):
        kind = 3 * suit + i if i < 3 else ANYWHERE_OF + suit
        held += int(s.hand[seat, kind])
        cards = cards << 8 | int(s.hand[seat, kind])
        discarded += int(s.discards[kind])
        in_deck += int(s.deck[kind])
    named = (2 if s.suit == suit else 0) | (1 if s.new_suit == suit else 0)
    return named << 56 | held << 48 | cards << 16 | discarded << 8 | in_deck


@rule
def new_suit_of(code: int, suit: int) -> int:
    """The new name of a suit."""
    return code >> _SUIT_BITS * suit & _SUIT_MASK


@rule
def renamed_kind(code: int, kind: int) -> int:
    """A kind with its suit renamed; NOTHING, actions and reactions stay as they are."""
    if kind < 0 or kind >= N_INVESTIGATIONS:
        return kind
    suit = new_suit_of(code, suit_of(kind))
    return 3 * suit + kind % 3 if kind < ANYWHERE_OF else ANYWHERE_OF + suit


@rule
def _rename_counts(code: int, counts: Any, out: Any) -> None:
    for kind in range(N_INVESTIGATIONS):
        out[renamed_kind(code, kind)] = counts[kind]


@rule
def relabel(s: Table, code: int, out: Table) -> None:
    """Makes ``out``, a copy of ``s``, show what ``s`` would show with its suits renamed: all that ``observe`` and
    ``legal_actions`` read. The stock and the events keep their names."""
    _rename_counts(code, s.deck, out.deck)
    _rename_counts(code, s.discards, out.discards)
    for seat in range(s.players):
        _rename_counts(code, s.hand[seat], out.hand[seat])
    for i in range(s.n_known):
        kind = kind_of(s.known[i])
        out.known[i] = int(s.known[i]) - kind + renamed_kind(code, kind)
    sort(out)
    out.top = renamed_kind(code, int(s.top))
    out.drawn = renamed_kind(code, int(s.drawn))
    out.gift = renamed_kind(code, int(s.gift))
    if s.suit != NOTHING:
        out.suit = new_suit_of(code, int(s.suit))
    if s.new_suit != NOTHING:
        out.new_suit = new_suit_of(code, int(s.new_suit))


@rule
def rename_action(code: int, action: int) -> int:
    """An action with its suit, or the suit of its gift, renamed; numbers that are no such action stay as they are."""
    seats = code >> _SEATS_AT
    if action < 0 or seats < 2 or seats > MAX_PLAYERS:
        return action
    if action < ANYWHERE_OF:
        return renamed_kind(code, action)
    if action < change_at(seats):
        rest = action - ANYWHERE_OF
        return ANYWHERE_OF + new_suit_of(code, rest // (seats + 1)) * (seats + 1) + rest % (seats + 1)
    if action < force_two_at(seats):
        return change_at(seats) + new_suit_of(code, action - change_at(seats))
    rest = action - give_at(seats)
    if rest < 0 or action >= pass_at(seats):
        return action
    return give_at(seats) + rest // N_KINDS * N_KINDS + renamed_kind(code, rest % N_KINDS)


@rule
def inverse(code: int) -> int:
    """The renaming that undoes ``code``."""
    back = code >> _SEATS_AT << _SEATS_AT
    for suit in range(N_SUITS):
        back |= suit << _SUIT_BITS * new_suit_of(code, suit)
    return back


# --- All renamings, and what each does to an observation.


def renamings(seats: int, suits: int | None = None) -> tuple[int, ...]:
    """The codes of all renamings for a number of encoded seats, the one that changes nothing first.

    Raises:
        OptionsError: If ``suits`` is another number than 5: every deck has them all.
    """
    if suits is not None:
        check_int("suits", suits, N_SUITS, N_SUITS)
    orders = itertools.permutations(range(N_SUITS))
    return tuple(sum(new << _SUIT_BITS * suit for suit, new in enumerate(order)) | seats << _SEATS_AT for order in orders)


def renamed_entries(seats: int, code: int) -> np.ndarray:
    """int64[size]: entry ``j`` of an observation with its suits renamed is entry ``index[j]`` of the original one."""
    here, back = layout(seats), inverse(code)
    kinds = [renamed_kind(back, kind) for kind in range(N_KINDS)]
    suits = [new_suit_of(back, suit) for suit in range(N_SUITS)]
    index = np.arange(here.size)
    for block, where in here:
        entries = index[where].reshape(-1, block.size)
        if block.name in _BY_KIND:
            entries[:] = entries[:, kinds]
        elif block.name in _BY_SUIT:
            entries[:, :N_SUITS] = entries[:, suits]
    return index
