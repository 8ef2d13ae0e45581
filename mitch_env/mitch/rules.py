"""The rules of Mitch, on one table.

Written down in ``docs/rules_mitch.md``; letters and numbers (J3, R7) are its rulings. Top-down: a match, a deal, a turn, the
two kinds of decision. Legality is in ``actions.py``, scoring in ``scoring.py``.
"""

from __future__ import annotations

import numpy as np

from ..bits import lowest_bit, popcount
from ..chance import CHANCE_STREAM, REDEAL_STREAM, mix, shuffle, stream
from ..events import clear_events, note
from ..game import NOBODY, PHASE_DEAL, Table
from ..jit import rule
from ..rewards import clear_rewards
from ..seats import seat_after
from .actions import DISCARD, TAKE, can_take, is_ace_move
from .events import ACE_LAID, CLOCK_UP, DEALT, DISCARDED, LAID, PLAYOFF_DEALT, TOOK
from .options import ACE_DECK, ACE_HAND, ACE_STOCK, JOKER
from .scoring import finish_deal, next_taking_part
from .state import (
    ACES,
    JOKER_CARD,
    NO_CARDS,
    ONE,
    PHASE_DRAW,
    PHASE_PLAY,
    Cards,
    bit,
    is_clock_card,
    is_closed,
    pack,
    unseen,
)


@rule
def start_match(s: Table) -> None:
    """A new match from ``s.seed``: nothing is dealt yet."""
    s.rng = stream(s.seed, CHANCE_STREAM)
    s.dealer = s.players - 1  # J1
    s.turn = s.dealer
    s.regular_dealer = s.dealer
    s.taking_part = (1 << s.players) - 1
    s.deals_done = 0
    s.deals_dealt = 0
    s.playoff = 0
    s.truncated = 0
    s.actor = NOBODY
    s.phase = PHASE_DEAL
    clear_events(s)
    clear_deal(s)
    for seat in range(s.players):
        s.points[seat] = 0
        s.totals[seat] = 0
    clear_rewards(s)


# --- A deal: chance first, then the first turn.


@rule
def clear_deal(s: Table) -> None:
    """Takes all cards off the table."""
    for seat in range(s.players):
        s.hand[seat] = NO_CARDS
        s.tableau[seat] = NO_CARDS
    s.clock_up = NO_CARDS
    s.clock_seen = 0
    s.n_revealed = 0
    s.waited = 0
    s.placed = 0
    s.pile_size = 0
    s.stock_next = 0
    s.stock_size = 0
    for i in range(s.revealed.shape[0]):
        s.revealed[i] = 0
    for i in range(s.stock.shape[0]):
        s.stock[i] = 0
    for i in range(s.pile.shape[0]):
        s.pile[i] = 0


@rule
def put_in_stock(s: Table, cards: Cards) -> None:
    """Adds a set of cards to the stock, lowest first."""
    while cards != NO_CARDS:
        s.stock[s.stock_size] = lowest_bit(cards)
        s.stock_size += 1
        cards &= cards - ONE


@rule
def count_clock_card(s: Table, card: int) -> None:
    """One more clock card lies face up."""
    s.clock_seen += 1
    if card != JOKER_CARD:
        s.clock_up |= bit(card)


@rule
def turn_up(s: Table, seat: int, card: int) -> None:
    """A clock card comes to lie face up."""
    count_clock_card(s, card)
    note(s, CLOCK_UP, seat, card)


@rule
def deal_hands(s: Table) -> None:
    """Deals ``hand_size`` cards to each seat that takes part, from the left of the dealer; a revealed ace is replaced (J3)."""
    seat = s.dealer
    for _ in range(popcount(np.uint64(s.taking_part))):
        seat = next_taking_part(s, seat)
        for _ in range(s.hand_size):
            s.hand[seat] |= bit(s.stock[s.stock_next])
            s.stock_next += 1
    if s.clock == ACE_DECK:
        for _ in range(popcount(np.uint64(s.taking_part))):
            seat = next_taking_part(s, seat)
            replace_aces(s, seat)


@rule
def reveal(s: Table, ace: int) -> None:
    """An ace is turned up while dealing (J3)."""
    s.revealed[s.n_revealed] = ace
    s.n_revealed += 1
    count_clock_card(s, ace)


@rule
def replace_aces(s: Table, seat: int) -> None:
    """Turns up the aces that ``seat`` was dealt and replaces them, also those that follow the closing ace (J3, J12)."""
    while s.hand[seat] & ACES != NO_CARDS:
        ace = lowest_bit(s.hand[seat] & ACES)
        s.hand[seat] &= ~bit(ace)
        reveal(s, ace)
        s.hand[seat] |= bit(s.stock[s.stock_next])
        s.stock_next += 1


@rule
def shuffle_deal(s: Table) -> None:
    """All chance of a deal: hands, revealed aces, and the stock in the order in which it will be drawn."""
    clear_deal(s)
    cards = pack(s)
    put_in_stock(s, cards & ~ACES if s.clock == ACE_STOCK else cards)
    shuffle(s, s.stock, s.stock_size)
    deal_hands(s)
    for i in range(s.stock_next, s.stock_size):
        s.stock[i - s.stock_next] = s.stock[i]
    s.stock_size -= s.stock_next
    s.stock_next = 0
    # J2: jokers, or the aces of an ace_stock clock, are shuffled in after the deal.
    if s.clock == JOKER:
        add_jokers(s, s.clock_cards)
    elif s.clock == ACE_STOCK:
        add_some_aces(s, cards & ACES, s.clock_cards)
    if s.clock == JOKER or s.clock == ACE_STOCK:
        shuffle(s, s.stock, s.stock_size)
    for i in range(s.stock_size, s.stock.shape[0]):
        s.stock[i] = 0


@rule
def add_jokers(s: Table, n: int) -> None:
    """Adds ``n`` jokers to the stock."""
    for _ in range(n):
        s.stock[s.stock_size] = JOKER_CARD
        s.stock_size += 1


@rule
def add_some_aces(s: Table, aces: Cards, n: int) -> None:
    """Adds ``n`` of the aces to the stock, drawn at random; nobody knows which are left out."""
    size = s.stock_size
    put_in_stock(s, aces)
    shuffle(s, s.stock[size:], popcount(aces))
    s.stock_size = size + n


@rule
def open_deal(s: Table) -> None:
    """From freshly dealt cards to the first decision."""
    s.deals_dealt += 1
    if s.playoff == 0:
        note(s, DEALT, s.dealer, (s.deals_done + 1) & 0xFF)
    else:
        note(s, PLAYOFF_DEALT, s.dealer, s.playoff & 0xFF)
    for i in range(s.n_revealed):
        note(s, CLOCK_UP, s.dealer, s.revealed[i])
    s.turn = s.dealer
    advance(s)  # never the deal's end: somebody has cards, and whoever has cards decides


# --- A turn.


@rule
def next_with_cards(s: Table) -> int:
    """The next seat clockwise that has cards, NOBODY if all hands are empty."""
    for step in range(1, s.players + 1):
        seat = seat_after(s, s.turn, step)
        if s.hand[seat] != NO_CARDS:
            return int(seat)
    return NOBODY


@rule
def advance(s: Table) -> bool:
    """Passes the turn on and plays what happens by itself, up to the next decision. False if the deal is over."""
    while True:
        seat = next_with_cards(s)
        if seat == NOBODY:
            return False
        s.turn = seat
        if s.clock == ACE_HAND or is_closed(s):
            ask(s, PHASE_PLAY)
            return True
        if can_take(s, seat):
            ask(s, PHASE_DRAW)
            return True
        if draw(s):
            return True


@rule
def ask(s: Table, phase: int) -> None:
    """The seat whose turn it is must decide."""
    s.phase = phase
    s.actor = s.turn
    if not is_closed(s) and not s.placed >> s.turn & 1:
        # J6: with an empty tableau any card can start a column, so every decision with the stock open is a chance to place.
        s.waited |= 1 << s.turn


@rule
def draw(s: Table) -> bool:
    """The seat whose turn it is draws, turning up clock cards on the way. False if that closed the stock and the turn."""
    while True:
        card = s.stock[s.stock_next]
        s.stock_next += 1
        if not is_clock_card(s, card):
            s.hand[s.turn] |= bit(card)
            ask(s, PHASE_PLAY)
            return True
        turn_up(s, s.turn, card)
        if s.clock_seen >= s.clock_cards:
            if s.closer_plays != 0:
                ask(s, PHASE_PLAY)  # J5, J11: with the stock closed
                return True
            return False


@rule
def place(s: Table, seat: int, card: int) -> None:
    """Puts a card at the bottom of the own column of its suit."""
    s.tableau[seat] |= bit(card)


# --- The decisions.


@rule
def apply_draw(s: Table, action: int) -> bool:
    """``PHASE_DRAW``: draw, or take the top discard into the own tableau (J4). False if the turn is over."""
    if action != TAKE:
        return draw(s)
    s.pile_size -= 1
    card = s.pile[s.pile_size]
    s.pile[s.pile_size] = 0
    place(s, s.actor, card)
    count_placement(s, s.actor)
    note(s, TOOK, s.actor, card)
    return False


@rule
def count_placement(s: Table, seat: int) -> None:
    """J6: a placement while the stock was open is no waiting."""
    s.placed |= 1 << seat
    s.waited &= ~(1 << seat)


@rule
def apply_play(s: Table, action: int) -> None:
    """``PHASE_PLAY``: lay a card, discard it, or lay an ace on its pile, which ends the turn."""
    seat = s.actor
    card = action % DISCARD
    was_open = not is_closed(s)
    s.hand[seat] &= ~bit(card)
    if action < DISCARD:
        place(s, seat, card)
        if was_open:
            count_placement(s, seat)
        note(s, LAID, seat, card)
    elif is_ace_move(s, card):
        count_clock_card(s, card)
        note(s, ACE_LAID, seat, card)
    else:
        s.pile[s.pile_size] = card
        s.pile_size += 1
        note(s, DISCARDED, seat, card)
    if s.clock == ACE_HAND and not is_closed(s):  # R2: back to five, the closing ace excepted; R4
        s.hand[seat] |= bit(s.stock[s.stock_next])
        s.stock_next += 1


@rule
def apply_action(s: Table, action: int) -> None:
    """One decision of the actor and all that follows by itself. The action must be legal."""
    clear_rewards(s)
    if s.phase == PHASE_DRAW:
        if apply_draw(s, action):
            return
    else:
        apply_play(s, action)
    if not advance(s):
        finish_deal(s)


# --- What a seat cannot see.


@rule
def redeal_hidden(s: Table, seat: int, key: np.uint64) -> None:
    """Redraws what ``seat`` has not seen, uniformly among all worlds that agree with what it has, and re-keys chance.

    Seen are: the own hand, everything laid, discarded or turned up, hand sizes, and how many clock cards are still to come.
    Clock cards lie in the stock only; under ``ace_hand`` an unseen ace may be in any hand. Conclusions from earlier choices,
    and from cards whose place was known before, are not drawn. Who decided with the stock open is public, so the chances
    that J6 counts need no redrawing.
    """
    s.rng = stream(mix(key), REDEAL_STREAM)
    s.seed = stream(mix(key), CHANCE_STREAM)  # the true seed would give every card away, and so would the drawn stock
    n_stock = s.stock_size - s.stock_next
    n_hidden = n_stock
    for other in range(s.players):
        if other != seat:
            n_hidden += popcount(s.hand[other])
    cards = unseen(s, seat)
    markers_stay_in_stock = s.clock != JOKER and s.clock != ACE_HAND
    s.stock_next = 0
    s.stock_size = 0
    if n_hidden == 0:  # before the first deal, or when every card lies open
        for i in range(s.stock.shape[0]):
            s.stock[i] = 0
        return
    put_in_stock(s, cards & ~ACES if markers_stay_in_stock else cards)
    shuffle(s, s.stock, s.stock_size)
    n_given = 0
    for other in range(s.players):
        if other != seat:
            n_hand = popcount(s.hand[other])
            s.hand[other] = NO_CARDS
            for _ in range(n_hand):
                s.hand[other] |= bit(s.stock[n_given])
                n_given += 1
    for i in range(n_given, s.stock_size):
        s.stock[i - n_given] = s.stock[i]
    s.stock_size -= n_given
    if s.clock == JOKER:
        add_jokers(s, s.clock_cards - s.clock_seen)
    elif markers_stay_in_stock:
        add_some_aces(s, cards & ACES, n_stock - s.stock_size)
    shuffle(s, s.stock, s.stock_size)
    for i in range(s.stock_size, s.stock.shape[0]):
        s.stock[i] = 0
