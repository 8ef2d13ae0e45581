"""Words for Mitch: cards, moves and deals in the notation of the records, and the table as a person sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..game import PHASE_DEAL, PHASE_OVER, Table
from .actions import DISCARD, DRAW, N_ACTIONS, TAKE
from .options import ACE_DECK, ACE_HAND, ACE_STOCK, JOKER
from .rules import clear_deal, reveal
from .state import ACES, JOKER_CARD, N_CARDS, N_RANKS, PHASE_DRAW, PHASE_PLAY, pack

RANKS = "A23456789TJQK"
SUITS = "SHDC"
CARD_NAMES = [rank + suit for suit in SUITS for rank in RANKS] + ["JK"]
_CARD_NUMBERS = {name: card for card, name in enumerate(CARD_NAMES)}


def card_name(card: int) -> str:
    """``9H``, ``AS``, ``JK``."""
    return CARD_NAMES[card]


def parse_card(text: Any) -> int:
    """The card that a name stands for."""
    if not isinstance(text, str) or text not in _CARD_NUMBERS:
        raise ValueError(f"{text!r} is no card: a rank of {' '.join(RANKS)} and a suit of {' '.join(SUITS)} is needed, or JK")
    return _CARD_NUMBERS[text]


def cards_of(cards: int | np.uint64) -> list[int]:
    """The cards of a set, lowest first."""
    word = int(cards)
    return [card for card in range(N_CARDS) if word >> card & 1]


def card_set(cards: Iterable[int]) -> np.uint64:
    """The set of some cards."""
    return np.uint64(sum(1 << card for card in set(cards)))


def action_labels(seats: int) -> list[str]:
    """What each of the 106 actions means, whatever the number of seats."""
    cards = CARD_NAMES[:N_CARDS]
    return [f"play {card}" for card in cards] + [f"discard or ace {card}" for card in cards] + ["draw", "take"]


def action_name(table: Table, action: int) -> str:
    """The action as a move of the records; ``take`` names the top discard."""
    if not 0 <= action < N_ACTIONS:
        raise ValueError(f"{action} is no action: 0 to {N_ACTIONS - 1} are")
    if action == DRAW:
        return "draw"
    if action == TAKE:
        return f"take {card_name(table.pile[table.pile_size - 1])}" if table.pile_size else "take"
    card = card_name(action % DISCARD)
    if action < DISCARD:
        return f"play {card}"
    return f"ace {card}" if table.clock == ACE_HAND and card[0] == "A" else f"discard {card}"


def parse_action(table: Table, text: str) -> int:
    """The action that a move of the records stands for at this table; it need not be legal.

    Raises:
        ValueError: If the text is no move here, with a sentence.
    """
    if not isinstance(text, str):
        raise ValueError(f"a move is text such as 'play 9H', got {text!r}")
    verb, _, name = text.partition(" ")
    if text == "draw":
        return DRAW
    if verb not in ("play", "discard", "ace", "take"):
        raise ValueError(f"{text!r} is no move: play, discard, ace, take (each with a card) or draw is needed")
    card = parse_card(name)
    if card == JOKER_CARD:
        raise ValueError(f"{text!r} is no move: a joker is never in a hand")
    if verb == "play":
        return card
    if verb == "take":
        if table.pile_size == 0 or table.pile[table.pile_size - 1] != card:
            top = card_name(table.pile[table.pile_size - 1]) if table.pile_size else "none"
            raise ValueError(f"{text!r}: only the top discard can be taken, and that is {top}")
        return TAKE
    is_ace = table.clock == ACE_HAND and card % N_RANKS == 0
    if is_ace and verb != "ace":
        raise ValueError(f"{text!r} is no move: an ace is laid on the ace pile here, 'ace {name}'")
    if verb == "ace" and not is_ace:
        raise ValueError(f"{text!r} is no move: only aces, and only under clock='ace_hand', are laid on an ace pile")
    return DISCARD + card


def phase_name(table: Table) -> str:
    """What is being decided, in words."""
    return {
        PHASE_DEAL: "waiting for the deal",
        PHASE_OVER: "the match is over",
        PHASE_DRAW: "drawing or taking the top discard",
        PHASE_PLAY: "laying or discarding a card",
    }[int(table.phase)]


def taking_part(table: Table) -> list[int]:
    """The seats that play the current deal."""
    return [seat for seat in range(table.players) if table.taking_part >> seat & 1]


# --- Deals in words, both ways.


def stock_words(table: Table) -> list[str]:
    """The stock in the order in which it will be drawn."""
    return [card_name(table.stock[i]) for i in range(table.stock_next, table.stock_size)]


def deal_words(table: Table) -> dict[str, Any]:
    """``hands`` (by seat), ``stock`` and ``revealed`` of a deal that no one has acted on."""
    return {
        "hands": [[card_name(card) for card in cards_of(table.hand[seat])] for seat in range(table.players)],
        "stock": stock_words(table),
        "revealed": [card_name(table.revealed[i]) for i in range(table.n_revealed)],
    }


def arrange_deal(table: Table, words: Mapping[str, Any]) -> None:
    """Lays out a deal from ``hands``, ``stock`` and ``revealed`` instead of shuffling one; the table stays in ``PHASE_DEAL``.

    Raises:
        ValueError: If this cannot be a deal of this table; the table is left as it was.
    """
    hands = [[parse_card(card) for card in hand] for hand in words["hands"]]
    stock = [parse_card(card) for card in words["stock"]]
    revealed = [parse_card(card) for card in words.get("revealed", [])]
    _check_hands(table, hands)
    _check_clock(table, hands, stock, revealed)
    _check_pack(table, hands, stock, revealed)
    clear_deal(table)
    for seat, hand in enumerate(hands):
        table.hand[seat] = card_set(hand)
    table.stock[: len(stock)] = stock
    table.stock_size = len(stock)
    for ace in revealed:
        reveal(table, ace)


def _check_hands(table: Table, hands: Sequence[Sequence[int]]) -> None:
    if len(hands) != table.players:
        raise ValueError(f"{len(hands)} hands are given, {table.players} are needed, one for each seat")
    for seat, hand in enumerate(hands):
        size = table.hand_size if table.taking_part >> seat & 1 else 0
        if len(hand) != size:
            raise ValueError(f"seat{seat} has {len(hand)} cards, {size} are dealt to it")


def _check_clock(table: Table, hands: Sequence[Sequence[int]], stock: Sequence[int], revealed: Sequence[int]) -> None:
    held = [card for hand in hands for card in hand]
    if JOKER_CARD in held or JOKER_CARD in revealed:
        raise ValueError("a joker lies in the stock only")
    n_jokers = int(table.clock_cards) if table.clock == JOKER else 0
    if stock.count(JOKER_CARD) != n_jokers:
        raise ValueError(f"the stock has {stock.count(JOKER_CARD)} jokers, it needs {n_jokers}")
    if table.clock in (ACE_STOCK, ACE_DECK) and any(card % N_RANKS == 0 for card in held):
        raise ValueError("an ace is in a hand, but the aces are the clock here")
    if table.clock == ACE_STOCK:
        n_aces = sum(card % N_RANKS == 0 for card in stock)
        if n_aces != table.clock_cards:
            raise ValueError(f"the stock has {n_aces} aces, it needs {table.clock_cards}")
    if revealed and table.clock != ACE_DECK:
        raise ValueError("cards are revealed while dealing only with clock='ace_deck'")
    if any(card % N_RANKS for card in revealed):
        raise ValueError("only aces are revealed while dealing")


def _check_pack(table: Table, hands: Sequence[Sequence[int]], stock: Sequence[int], revealed: Sequence[int]) -> None:
    cards = [card for cards in [*hands, stock, revealed] for card in cards if card != JOKER_CARD]
    twice = sorted({card_name(card) for card in cards if cards.count(card) > 1})
    if twice:
        raise ValueError(f"more than once: {' '.join(twice)}")
    whole = pack(table)
    unused = ACES if table.clock == ACE_STOCK else np.uint64(0)
    missing = cards_of(whole & ~card_set(cards) & ~unused)
    if missing:
        raise ValueError(f"missing: {' '.join(map(card_name, missing))}")
    foreign = cards_of(card_set(cards) & ~whole)
    if foreign:
        raise ValueError(f"not in this pack: {' '.join(map(card_name, foreign))}")


def arrange_reshuffle(table: Table, cards: Sequence[str]) -> None:
    """Mitch never shuffles its discards.

    Raises:
        ValueError: Always.
    """
    raise ValueError("discards are never shuffled in Mitch: there is no reshuffle to arrange")
