"""The 26 kinds of cards of Mitchell, their names, and sets of them.

Cards of one kind are interchangeable (M1), so a card is its kind: 3 x suit + function for the investigations without a
function, with attract and with center; 15 + suit for those that send Mitchell anywhere; then the actions and the reactions. In
this order a kind below 15 is also the action of playing it. A set of kinds is a uint64 with bit ``kind`` set.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..jit import rule

SUITS = ("stakeout", "car-chase", "brawl", "crime-scene", "off-duty")
N_SUITS = len(SUITS)

#: Functions of investigations. ATTRACT and TO_CENTER are also kind % 3 of the kinds below ANYWHERE_OF.
PLAIN, ATTRACT, TO_CENTER, ANYWHERE = range(4)
FUNCTIONS = ("", "+attract", "+center", "+anywhere")

#: The first kind that sends Mitchell anywhere; the first action; the kinds from there on.
ANYWHERE_OF = 3 * N_SUITS
N_INVESTIGATIONS = ANYWHERE_OF + N_SUITS
CHANGE, FORCE_TWO, MOVE, GIVE, CANCEL, REVENGE = range(N_INVESTIGATIONS, N_INVESTIGATIONS + 6)
N_KINDS = REVENGE + 1
NOTHING = -1

KIND_NAMES = (
    *(suit + function for suit in SUITS for function in FUNCTIONS[:ANYWHERE]),
    *(suit + FUNCTIONS[ANYWHERE] for suit in SUITS),
    *("change", "force-two", "move", "give", "cancel", "revenge"),
)
#: All kinds as people sort them: suit by suit, then the actions, then the reactions.
IN_ORDER = (
    *(kind for suit in range(N_SUITS) for kind in (3 * suit, 3 * suit + 1, ANYWHERE_OF + suit, 3 * suit + 2)),
    *range(N_INVESTIGATIONS, N_KINDS),
)

#: A set of kinds, an np.uint64 (Any to the type checker, since it comes out of compiled rules).
Kinds: TypeAlias = Any

NO_KINDS = np.uint64(0)
ONE = np.uint64(1)
INVESTIGATIONS = np.uint64((1 << N_INVESTIGATIONS) - 1)
#: The investigations whose play needs no more words: all but those that send Mitchell anywhere.
ONE_WAY = np.uint64((1 << ANYWHERE_OF) - 1)
#: All kinds with each function.
WITH_ATTRACT = np.uint64(sum(1 << 3 * suit + ATTRACT for suit in range(N_SUITS)))
WITH_CENTER = np.uint64(sum(1 << 3 * suit + TO_CENTER for suit in range(N_SUITS)))
WITH_ANYWHERE = INVESTIGATIONS & ~ONE_WAY
ACTIONS = np.uint64(1 << CHANGE | 1 << FORCE_TWO | 1 << MOVE | 1 << GIVE)
REACTIONS = np.uint64(1 << CANCEL | 1 << REVENGE)
_ONE_WAY_OF_SUIT = np.uint64(0b111)


@rule
def bit(kind: int) -> Kinds:
    """The set of one kind."""
    return ONE << np.uint64(kind)


@rule
def suit_of(kind: int) -> int:
    """The suit of an investigation, ``NOTHING`` for other cards."""
    if kind < ANYWHERE_OF:
        return kind // 3
    return kind - ANYWHERE_OF if kind < N_INVESTIGATIONS else NOTHING


@rule
def function_of(kind: int) -> int:
    """The function of an investigation: PLAIN, ATTRACT, TO_CENTER or ANYWHERE."""
    return kind % 3 if kind < ANYWHERE_OF else ANYWHERE


@rule
def of_suit(suit: int) -> Kinds:
    """The investigations of one suit."""
    return _ONE_WAY_OF_SUIT << np.uint64(3 * suit) | bit(ANYWHERE_OF + suit)


@rule
def of_function(function: int) -> Kinds:
    """The investigations with one function; the empty set for PLAIN, which is none."""
    if function == ATTRACT:
        return WITH_ATTRACT
    if function == TO_CENTER:
        return WITH_CENTER
    return WITH_ANYWHERE if function == ANYWHERE else NO_KINDS


@rule
def is_investigation(kind: int) -> bool:
    """Whether a card is an investigation; false for ``NOTHING``."""
    return bool(0 <= kind < N_INVESTIGATIONS)
