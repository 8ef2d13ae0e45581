"""What a seat of Mitchell sees, as float32 entries from 0 to 1, and the full view for centralised critics.

``LAYOUT`` is made of one list of blocks; ``observe`` writes them in that order. While opponents are being asked for a reaction,
nothing that the others see depends on who is being asked (M8).
"""

from __future__ import annotations

import numpy as np

from ..bits import expand
from ..game import Table
from ..jit import rule
from ..layout import Block, Layout
from ..seats import next_seat
from .kinds import CHANGE, GIVE, N_KINDS, N_SUITS, NO_KINDS, NOTHING, bit, function_of, is_investigation
from .memory import holder_of, kind_of, knower_of
from .options import MAX_CARDS, MAX_PLAYERS
from .state import CENTER, PHASE_DRAWN, PHASE_PLAY, playable, stock_left

BLOCKS = (
    Block("playable", N_KINDS, "kinds of the own hand that fit now, on an own turn"),
    Block("drawn", N_KINDS, "the card just drawn, while the observer may play it"),
    Block("discards", N_KINDS, "cards discarded since the last reshuffle / cards of the kind in the deck"),
    Block("unseen", N_KINDS, "cards in the stock or in other hands without being known / cards of the kind in the deck"),
    Block("suit", N_SUITS + 1, "the current suit; there is none yet"),
    Block(
        "top",
        6,
        "top of the discards: an investigation without function, with attract, with center, with anywhere; "
        "an action or reaction, which covers it; no discard yet",
    ),
    Block("action", 4, "the action that waits for answers, played by whose turn it is: change, force-two, move, give"),
    Block("action_suit", N_SUITS, "the suit that a waiting change names"),
    Block("center", 2, "Mitchell is in the center; a waiting move sends him there"),
    Block(
        "known",
        N_KINDS,
        "n cards as n / (1 + n): the own hand; what gifts must have left in others",
        per_seat=True,
    ),
    Block("hand_size", 4, "n cards in hand: none; one; two; n / (7 + n)", per_seat=True),
    Block("mitchell", 1, "before whom Mitchell stands", per_seat=True),
    Block("target", 1, "whom the waiting action is aimed at, or to whom it moves Mitchell", per_seat=True),
    Block("turn", 1, "whose turn it is", per_seat=True),
    Block("total", 1, "match score t as 0.5 + 0.5 t / (500 + abs(t))", per_seat=True),
    Block("decision", 3, "the observer must: play a card; play or keep the drawn card; answer the waiting action"),
    Block("stock", 2, "cards in the stock / cards in the deck; there are none"),
    Block(
        "round",
        5,
        "t turns done as t / (50 + t); turns in a row in which nobody played or drew / 8; n reshuffles as n / (1 + n); "
        "1 / (turns until the match is truncated); 1 / (rounds until it ends)",
    ),
    Block("players", MAX_PLAYERS - 1, "option players: 2 to 8"),
    Block("rules", 3, "options: unplayed is penalty; release_wins; ask_everyone"),
    Block(
        "sizes", 4, "hand_size h as h / (7 + h); whether a target_score is set; it as t / (1000 + t); cards in the deck / 255"
    ),
    Block("deck", N_KINDS, "option deck: n cards as n / (6 + n)"),
)
VERSION = 1

_ONE, _SIX = np.float32(1.0), np.float32(6.0)

STATE_BLOCKS = (
    Block("hands", N_KINDS, "n cards in each hand as n / (1 + n), seat 0 first", per_seat=True),
    Block("actor", 1, "who must decide", per_seat=True),
    Block("gift", N_KINDS, "the card of a waiting give"),
    Block("stock_order", MAX_CARDS, "(kind + 1) / 26 of each card in the stock, the next first, then 0"),
)


def layout(seats: int) -> Layout:
    """The observation for a number of encoded seats."""
    return Layout(VERSION, BLOCKS, seats)


def state_layout(seats: int) -> Layout:
    """The full view: all hands, the stock, and the observation of seat 0."""
    view = Block("view_of_seat_0", layout(seats).size, "the observation of seat 0")
    return Layout(VERSION, (*STATE_BLOCKS, view), seats)


def most_tokens(seats: int) -> int:
    """The most entries that can differ from 0 at once."""
    of_cards = N_KINDS + 1 + 2 * N_KINDS + seats * N_KINDS  # playable, drawn, discards and unseen, known
    of_center = 1 + 1 + 1 + 1 + 2  # suit, top, action, action_suit, center
    of_seats = 2 * seats + 2 + seats + 1  # hand_size; mitchell stands, one is the target; total; one has the turn
    of_round = 1 + 2 + 5  # decision, stock, round
    of_options = 1 + 3 + 4 + N_KINDS  # players, rules, sizes, deck
    return of_cards + of_center + of_seats + of_round + of_options


@rule
def observe(s: Table, seat: int, out: np.ndarray) -> None:
    """Writes what ``seat`` sees to ``out``, float32[layout.size], every entry."""
    k = expand(playable(s, seat), out, 0, N_KINDS)
    mine = s.phase == PHASE_DRAWN and seat == s.actor
    k = expand(bit(s.drawn) if mine else NO_KINDS, out, k, N_KINDS)
    rest = out[k:]
    for i in range(rest.shape[0]):
        rest[i] = 0.0
    _write_counts(s, seat, out, k)
    unseen_at = k + N_KINDS
    k = _write_center(s, out, unseen_at + N_KINDS)
    _write_held(s, seat, out, k, out.shape[0] - N_KINDS)
    _write_known(s, seat, out, unseen_at, k)
    n = int(s.seats_encoded)
    other = int(seat)
    for r in range(s.players):
        _write_seat(s, other, out, k + N_KINDS * n + 4 * r, k + (N_KINDS + 4) * n + r, n)
        other = next_seat(s, other)
    k += (N_KINDS + 8) * n
    if seat == s.actor and s.phase >= PHASE_PLAY:
        out[k + int(s.phase) - PHASE_PLAY] = 1.0
    n_deck = 0
    for kind in range(N_KINDS):
        n_deck += int(s.deck[kind])
    k = _write_round(s, out, k + 3, n_deck)
    _write_options(s, out, k, n_deck)


@rule
def _write_counts(s: Table, seat: int, out: np.ndarray, k: int) -> None:
    """The discards, and what is left of the deck for the other hands and the stock."""
    deck, hand, discards = s.deck, s.hand[seat], s.discards
    discarded, unseen = out[k : k + N_KINDS], out[k + N_KINDS : k + 2 * N_KINDS]
    for kind in range(N_KINDS):
        n = np.float32(deck[kind])
        share = _ONE / max(_ONE, n)
        discarded[kind] = np.float32(discards[kind]) * share
        unseen[kind] = (n - np.float32(hand[kind]) - np.float32(discards[kind])) * share


@rule
def _write_held(s: Table, seat: int, out: np.ndarray, k: int, deck_at: int) -> None:
    """The own hand, and the deck: in one loop, which is too long to be unrolled instead of becoming vector instructions."""
    deck, hand = s.deck, s.hand[seat]
    held, whole = out[k : k + N_KINDS], out[deck_at : deck_at + N_KINDS]
    for kind in range(N_KINDS):
        of_hand, of_deck = np.float32(hand[kind]), np.float32(deck[kind])
        held[kind] = of_hand / (of_hand + _ONE)
        whole[kind] = of_deck / (of_deck + _SIX)


@rule
def _write_center(s: Table, out: np.ndarray, k: int) -> int:
    """What lies in the middle of the table, and the action that waits for answers."""
    out[k + (N_SUITS if s.suit == NOTHING else int(s.suit))] = 1.0
    k += N_SUITS + 1
    if s.top == NOTHING:
        out[k + 5] = 1.0
    elif is_investigation(s.top):
        out[k + function_of(s.top)] = 1.0
    else:
        out[k + 4] = 1.0
    k += 6
    if s.pending != NOTHING:
        out[k + int(s.pending) - CHANGE] = 1.0
        if s.pending == CHANGE:
            out[k + 4 + int(s.new_suit)] = 1.0
        elif s.target == CENTER:
            out[k + 4 + N_SUITS + 1] = 1.0
    k += 4 + N_SUITS
    out[k] = 1.0 if s.mitchell == CENTER else 0.0
    return k + 2


@rule
def _write_known(s: Table, seat: int, out: np.ndarray, unseen_at: int, k: int) -> None:
    """The cards that ``seat`` knows in other hands, which are not unseen; equal ones stand side by side in its memory."""
    n = 0
    for i in range(s.n_known):
        one = s.known[i]
        n = n + 1 if i > 0 and s.known[i - 1] == one else 1
        if knower_of(one) == seat:
            kind, place = kind_of(one), holder_of(one) - int(seat)
            out[k + N_KINDS * (place if place >= 0 else place + int(s.players)) + kind] = np.float32(n) / (np.float32(n) + _ONE)
            left = int(s.deck[kind]) - int(s.hand[seat, kind]) - int(s.discards[kind])
            for j in range(s.n_known):
                if knower_of(s.known[j]) == seat and kind_of(s.known[j]) == kind:
                    left -= 1
            out[unseen_at + kind] = np.float32(left) * (_ONE / np.float32(max(1, int(s.deck[kind]))))


@rule
def _write_seat(s: Table, seat: int, out: np.ndarray, size_at: int, k: int, stride: int) -> None:
    """The blocks with few entries for each seat."""
    n, total = int(s.n_held[seat]), float(s.totals[seat])
    if n < 3:
        out[size_at + n] = 1.0
    out[size_at + 3] = np.float32(n / (7.0 + n))
    out[k] = 1.0 if s.mitchell == seat else 0.0
    out[k + stride] = 1.0 if s.pending != NOTHING and s.target == seat else 0.0
    out[k + 2 * stride] = 1.0 if s.turn == seat else 0.0
    out[k + 3 * stride] = np.float32(0.5 + 0.5 * total / (500.0 + abs(total)))


@rule
def _write_round(s: Table, out: np.ndarray, k: int, n_deck: int) -> int:
    out[k] = np.float32(stock_left(s) / max(1, n_deck))
    out[k + 1] = 1.0 if stock_left(s) == 0 else 0.0
    out[k + 2] = np.float32(s.turns_done / (50.0 + s.turns_done))
    out[k + 3] = np.float32(s.idle_turns / MAX_PLAYERS)
    out[k + 4] = np.float32(s.reshuffles / (1.0 + s.reshuffles))
    out[k + 5] = np.float32(1.0 / max(1, s.max_turns - s.turns_done))
    out[k + 6] = np.float32(1.0 / max(1, s.rounds - s.deals_done))
    return k + 7


@rule
def _write_options(s: Table, out: np.ndarray, k: int, n_deck: int) -> None:
    out[k + int(s.players) - 2] = 1.0
    k += MAX_PLAYERS - 1
    out[k] = s.unplayed
    out[k + 1] = s.release_wins
    out[k + 2] = s.ask_everyone
    out[k + 3] = np.float32(s.hand_size / (7.0 + s.hand_size))
    out[k + 4] = 1.0 if s.target_score != 0 else 0.0
    out[k + 5] = np.float32(s.target_score / (1000.0 + s.target_score))
    out[k + 6] = np.float32(n_deck / MAX_CARDS)


@rule
def write_state(s: Table, out: np.ndarray) -> None:
    """Writes the full view to ``out``, float32[state_layout.size], every entry."""
    n = int(s.seats_encoded)
    k = (N_KINDS + 1) * n
    for i in range(k):
        out[i] = 0.0
    for seat in range(s.players):
        for kind in range(N_KINDS):
            out[N_KINDS * seat + kind] = np.float32(s.hand[seat, kind] / (1.0 + s.hand[seat, kind]))
        out[N_KINDS * n + seat] = 1.0 if s.actor == seat else 0.0
    k = expand(bit(s.gift) if s.pending == GIVE else NO_KINDS, out, k, N_KINDS)
    for i in range(MAX_CARDS):
        at = s.stock_next + i
        out[k + i] = np.float32((s.stock[at] + 1.0) / N_KINDS) if at < s.stock_size else np.float32(0.0)
    observe(s, 0, out[k + MAX_CARDS :])
