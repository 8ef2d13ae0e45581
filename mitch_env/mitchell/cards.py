"""How cards move in Mitchell: dealt, drawn, shuffled again, laid on the discard pile, given; and who knows where they went."""

from __future__ import annotations

import numpy as np

from ..chance import CHANCE_STREAM, mix, shuffle, stream
from ..events import note
from ..game import Table
from ..jit import rule
from .events import DREW, RESHUFFLED
from .kinds import N_KINDS, NOTHING
from .memory import forget_given, forget_laid, learn
from .state import CENTER


@rule
def clear_table(s: Table) -> None:
    """Takes all cards off the table; Mitchell goes to the center."""
    s.hand[:] = 0
    s.n_held[:] = 0
    s.known[:] = 0
    s.n_known = 0
    s.discards[:] = 0
    s.n_discards = 0
    s.top = NOTHING
    s.stock[:] = 0
    s.stock_next = 0
    s.stock_size = 0
    s.arranged[:] = 0
    s.n_arranged = 0
    s.reshuffles = 0
    s.suit = NOTHING
    s.mitchell = CENTER
    s.drawn = NOTHING
    s.pending = NOTHING
    s.target = CENTER
    s.new_suit = NOTHING
    s.gift = NOTHING
    s.turns_done = 0
    s.idle_turns = 0
    s.played_out = 0


@rule
def shuffle_deal(s: Table) -> None:
    """All chance of a deal: the hands, and the stock in the order in which it will be drawn.

    Each round opens a stream of its own, so that its deal does not depend on the reshuffles of the rounds before it.
    """
    clear_table(s)
    s.rng = mix(stream(s.seed, CHANCE_STREAM) ^ mix(np.uint64(s.deals_dealt)))
    n = 0
    for kind in range(N_KINDS):
        for _ in range(s.deck[kind]):
            s.stock[n] = kind
            n += 1
    shuffle(s, s.stock, n)
    at = 0
    for seat in range(s.players):
        for _ in range(s.hand_size):
            s.hand[seat, s.stock[at]] += 1
            at += 1
        s.n_held[seat] = s.hand_size
    s.stock_size = n - at
    for i in range(s.stock_size):
        s.stock[i] = s.stock[at + i]
    s.stock[s.stock_size :] = 0


@rule
def draw(s: Table, seat: int) -> int:
    """``seat`` draws a card; its kind, or NOTHING if there is none to draw (M12)."""
    if s.stock_next >= s.stock_size:
        reshuffle(s)
        if s.stock_next >= s.stock_size:
            return NOTHING
    kind = int(s.stock[s.stock_next])
    s.stock_next += 1
    s.hand[seat, kind] += 1
    s.n_held[seat] += 1
    return kind


@rule
def draw_some(s: Table, seat: int, n: int) -> None:
    """``seat`` draws ``n`` cards, or as many as there are (M12)."""
    n_drawn = 0
    for _ in range(n):
        if draw(s, seat) != NOTHING:
            n_drawn += 1
    note(s, DREW, seat, n_drawn)


@rule
def reshuffle(s: Table) -> None:
    """M12: all discards but the top one become the new stock, in the arranged order if one was arranged that is possible."""
    n = int(s.n_discards) - 1
    if n <= 0:
        return
    s.discards[s.top] -= 1
    s.stock[:] = 0
    if arrangement_is_possible(s):
        for i in range(n):
            s.stock[i] = s.arranged[i]
    else:
        at = 0
        for kind in range(N_KINDS):
            for _ in range(s.discards[kind]):
                s.stock[at] = kind
                at += 1
        shuffle(s, s.stock, n)
    s.arranged[:] = 0
    s.n_arranged = 0
    s.stock_next = 0
    s.stock_size = n
    s.discards[:] = 0
    s.discards[s.top] = 1
    s.n_discards = 1
    s.reshuffles += 1
    note(s, RESHUFFLED, s.turn, 0)


@rule
def arrangement_is_possible(s: Table) -> bool:
    """Whether the arranged stock consists of exactly the cards in ``s.discards``, from which the top was taken away."""
    if s.n_arranged != s.n_discards - 1:
        return False
    for kind in range(N_KINDS):
        n = 0
        for i in range(s.n_arranged):
            if s.arranged[i] == kind:
                n += 1
        if n != s.discards[kind]:
            return False
    return True


@rule
def lay(s: Table, seat: int, kind: int) -> None:
    """A card goes from the hand onto the discard pile, for all to see."""
    s.hand[seat, kind] -= 1
    s.n_held[seat] -= 1
    s.discards[kind] += 1
    s.n_discards += 1
    s.top = kind
    if s.n_held[seat] == 0:
        s.played_out |= 1 << int(seat)
    forget_laid(s, seat, kind)


@rule
def hand_over(s: Table, giver: int, receiver: int, kind: int) -> None:
    """A gift changes hands; only giver and receiver learn which card it is (M6)."""
    s.hand[giver, kind] -= 1
    s.n_held[giver] -= 1
    s.hand[receiver, kind] += 1
    s.n_held[receiver] += 1
    forget_given(s, giver, receiver, kind)
    learn(s, giver, receiver, kind)
