"""What seats know of each other's hands: cards that went there as gifts and must still be there (M6).

A table holds them as a sorted list of numbers, one for each card: who knows it, who holds it, its kind. There are never more
than there are cards in hands: each stands for a card that was given by its knower, and goes when that card goes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..game import Table
from ..jit import rule
from .kinds import N_KINDS
from .options import MAX_PLAYERS

_KNOWER, _HOLDER, _KIND_BITS = 8, 5, 31


@rule
def knower_of(one: Any) -> Any:
    """Who knows the card."""
    return np.int64(one) >> _KNOWER


@rule
def holder_of(one: Any) -> Any:
    """In whose hand it is."""
    return np.int64(one) >> _HOLDER & 7


@rule
def kind_of(one: Any) -> Any:
    """Its kind."""
    return np.int64(one) & _KIND_BITS


@rule
def learn(s: Table, knower: int, holder: int, kind: int) -> None:
    """``knower`` knows a card more of ``holder``."""
    one = int(knower) << _KNOWER | int(holder) << _HOLDER | int(kind)
    at = int(s.n_known)
    while at > 0 and s.known[at - 1] > one:
        s.known[at] = s.known[at - 1]
        at -= 1
    s.known[at] = one
    s.n_known += 1


@rule
def _remove(s: Table, at: int) -> None:
    s.n_known -= 1
    for i in range(at, s.n_known):
        s.known[i] = s.known[i + 1]
    s.known[s.n_known] = 0


@rule
def forget_laid(s: Table, holder: int, kind: int) -> None:
    """``holder`` lays a card for all to see: whoever knew one of that kind knows one less."""
    last: Any = -1
    i = 0
    while i < s.n_known:
        one = np.int64(s.known[i])
        if holder_of(one) == holder and kind_of(one) == kind and knower_of(one) != last:
            last = knower_of(one)
            _remove(s, i)
        else:
            i += 1


@rule
def forget_given(s: Table, holder: int, receiver: int, kind: int) -> None:
    """``holder`` gives a card away. Its receiver sees which; to the others it may have been any, so that of each kind that they
    knew one less must still be there."""
    last: Any = -1
    i = 0
    while i < s.n_known:
        one = np.int64(s.known[i])
        if holder_of(one) == holder and one != last and (knower_of(one) != receiver or kind_of(one) == kind):
            last = one
            _remove(s, i)
        else:
            i += 1


@rule
def forget_unseen(s: Table, seat: int) -> None:
    """Leaves what ``seat`` knows, and what the others know of its hand."""
    n = 0
    for i in range(s.n_known):
        if knower_of(s.known[i]) == seat or holder_of(s.known[i]) == seat:
            s.known[n] = s.known[i]
            n += 1
    s.known[n:] = 0
    s.n_known = n


@rule
def n_known(s: Table, knower: int, holder: int) -> int:
    """How many cards of ``holder`` a seat knows."""
    n = 0
    for i in range(s.n_known):
        if s.known[i] >> _HOLDER == int(knower) << _KNOWER - _HOLDER | int(holder):
            n += 1
    return n


@rule
def sort(s: Table) -> None:
    """Sorts the list, after its kinds were renamed."""
    for i in range(1, s.n_known):
        one = s.known[i]
        at = i
        while at > 0 and s.known[at - 1] > one:
            s.known[at] = s.known[at - 1]
            at -= 1
        s.known[at] = one


def known_counts(table: Table) -> np.ndarray:
    """uint8[8, 8, 26]: the cards of each kind that each seat knows in the hand of each other."""
    counts = np.zeros((MAX_PLAYERS, MAX_PLAYERS, N_KINDS), np.uint8)
    for one in table.known[: table.n_known]:
        counts[knower_of(one), holder_of(one), kind_of(one)] += 1
    return counts
