"""What a seat of Mitchell cannot see, drawn anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..chance import CHANCE_STREAM, REDEAL_STREAM, draw_below, mix, shuffle, stream
from ..game import NOBODY, Table
from ..jit import rule
from .kinds import GIVE, N_KINDS, NO_KINDS, NOTHING, REACTIONS, Kinds, bit
from .memory import forget_unseen, holder_of, kind_of, knower_of, n_known
from .state import PHASE_ANSWER, PHASE_DRAWN, PHASE_PLAY, playable_with, stock_left


@rule
def redeal_hidden(s: Table, seat: int, key: np.uint64) -> None:
    """Redraws what ``seat`` has not seen, uniformly among all worlds that agree with what it has, and re-keys chance.

    Seen are: the own hand, the discards since the last reshuffle, hand sizes, and cards given and received, as long as they
    must still be where they went. The position stays legal: who must play can, who may play a drawn card holds it, who is
    asked for a reaction has one unless everybody is asked. A pending gift that another seat chose is drawn from its hand.
    Conclusions from earlier choices and from cards that went by before a reshuffle are not drawn. The result depends on what
    ``seat`` has seen and on the key alone: what the others know of each other's gifts, it cannot know, and is forgotten.
    """
    s.rng = stream(mix(key), REDEAL_STREAM)
    s.seed = stream(mix(key), CHANCE_STREAM)  # the true seed would give every card away, and so would the drawn stock
    s.arranged[:] = 0
    s.n_arranged = 0
    n_stock = stock_left(s)
    s.stock[:] = 0
    n = collect_hidden(s, seat, s.stock)
    shuffle(s, s.stock, n)
    # The hand in which something must be comes first, so that its cards can be drawn until it is.
    at = 0
    if s.actor != NOBODY and s.actor != seat:
        at = redraw_actor(s, seat, s.stock, n)
    for other in range(s.players):
        if other != seat and other != s.actor:
            at = fill_hand(s, seat, other, s.stock, at)
    for i in range(n_stock):
        s.stock[i] = s.stock[at + i]
    s.stock[n_stock:] = 0
    s.stock_next = 0
    s.stock_size = n_stock
    forget_unseen(s, seat)
    if s.pending == GIVE and s.turn != seat:
        s.gift = random_card(s, s.turn)


@rule
def collect_hidden(s: Table, seat: int, cards: Any) -> int:
    """Writes the cards that ``seat`` has not located to ``cards``, by kind; returns how many there are."""
    n = 0
    for kind in range(N_KINDS):
        left = np.int64(s.deck[kind]) - np.int64(s.hand[seat, kind]) - np.int64(s.discards[kind])
        for i in range(s.n_known):
            if knower_of(s.known[i]) == seat and kind_of(s.known[i]) == kind:
                left -= 1
        for _ in range(left):
            cards[n] = kind
            n += 1
    return n


@rule
def n_unknown(s: Table, seat: int, other: int) -> Any:
    """How many cards in the hand of ``other`` are not known to ``seat``."""
    return np.int64(s.n_held[other]) - n_known(s, seat, other)


@rule
def fill_hand(s: Table, seat: int, other: int, cards: Any, at: int) -> Any:
    """Makes the hand of ``other`` from what ``seat`` knows of it and ``cards`` from ``at`` on; returns where it stopped."""
    stop = at + n_unknown(s, seat, other)
    s.hand[other, :] = 0
    for i in range(s.n_known):
        if knower_of(s.known[i]) == seat and holder_of(s.known[i]) == other:
            s.hand[other, kind_of(s.known[i])] += 1
    for i in range(at, stop):
        s.hand[other, cards[i]] += 1
    return stop


@rule
def needed(s: Table) -> Kinds:
    """The kinds of which the actor must hold one for its decision to be there; the empty set if it need not."""
    if s.phase == PHASE_PLAY or s.phase == PHASE_DRAWN:
        return playable_with(s, s.n_held[s.actor])
    return REACTIONS if s.phase == PHASE_ANSWER and s.ask_everyone == 0 else NO_KINDS


@rule
def redraw_actor(s: Table, seat: int, cards: Any, n: int) -> Any:
    """Makes the hand of the actor, who is another seat, from the ``n`` shuffled ``cards``; returns how many it took.

    A drawn card is drawn among those that can be played. Otherwise the unknown part of the hand is drawn again until the hand
    holds a needed card: on average that takes no more draws than there are cards, since one of them is needed.
    """
    wanted, m = needed(s), n_unknown(s, seat, s.actor)
    n_wanted = count_in(cards, 0, n, wanted)
    if s.phase == PHASE_DRAWN and n_wanted > 0:
        nth = draw_below(s, n_wanted)
        i = 0
        while nth > 0 or bit(cards[i]) & wanted == NO_KINDS:
            if bit(cards[i]) & wanted != NO_KINDS:
                nth -= 1
            i += 1
        s.drawn = cards[i]
        swap(cards, 0, i)
    elif not knows_one(s, seat, wanted) and n_wanted > 0 and m > 0:
        while count_in(cards, 0, m, wanted) == 0:
            for i in range(m):
                swap(cards, i, i + draw_below(s, n - i))
    return fill_hand(s, seat, s.actor, cards, 0)


@rule
def knows_one(s: Table, seat: int, wanted: Kinds) -> bool:
    """Whether ``seat`` knows that the actor holds one of the kinds."""
    for i in range(s.n_known):
        one = s.known[i]
        if knower_of(one) == seat and holder_of(one) == s.actor and bit(kind_of(one)) & wanted != NO_KINDS:
            return True
    return False


@rule
def count_in(cards: Any, start: int, stop: int, wanted: Kinds) -> int:
    """How many of ``cards[start:stop]`` are of the kinds."""
    n = 0
    for i in range(start, stop):
        if bit(cards[i]) & wanted != NO_KINDS:
            n += 1
    return n


@rule
def swap(cards: Any, i: int, j: int) -> None:
    """Exchanges two cards."""
    card = cards[i]
    cards[i] = cards[j]
    cards[j] = card


@rule
def random_card(s: Table, seat: int) -> int:
    """A uniform card of a hand; NOTHING if it is empty."""
    if s.n_held[seat] == 0:
        return NOTHING
    n = draw_below(s, int(s.n_held[seat]))
    kind = 0
    while n >= s.hand[seat, kind]:
        n -= int(s.hand[seat, kind])
        kind += 1
    return kind
