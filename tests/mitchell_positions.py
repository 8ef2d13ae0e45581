"""Positions of Mitchell laid out and played in words, for the tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from mitch_env.game import Table
from mitch_env.mitchell.kinds import KIND_NAMES, NOTHING, SUITS
from mitch_env.mitchell.options import MitchellOptions
from mitch_env.mitchell.presets import MITCHELL, RULES
from mitch_env.mitchell.state import CENTER, PHASE_ANSWER, PHASE_DRAWN
from mitch_env.mitchell.text import arrange_reshuffle, hand_of, parse_kind, place_name


def new_match(hands: Sequence[str], rest: str, **options: Any) -> Table:
    """A match of one round whose deck is just these cards; each pile is a text of names."""
    cards = [name for pile in [*hands, rest] for name in pile.split()]
    settings = {"players": len(hands), "hand_size": 1, "rounds": 1, "deck": dict(Counter(cards))} | options
    table = MITCHELL.new_tables([MitchellOptions(**settings)], seeds=np.array([1], np.uint64))[0]
    RULES.start_match(table)
    return table


def deal(table: Table, hands: Sequence[str], rest: str) -> None:
    """Deals the next round in this way and plays to its first decision."""
    RULES.arrange_deal(table, {"hands": [hand.split() for hand in hands], "stock": rest.split()})
    RULES.open_deal(table)


def position(
    hands: Sequence[str],
    rest: str,
    *,
    turn: int = 0,
    suit: str | None = None,
    mitchell: int | None = None,
    reshuffle: str = "",
    **options: Any,
) -> Table:
    """A round that begins with these hands, of any sizes, and is played to its first decision.

    Args:
        hands: By seat, texts of names.
        rest: The stock, the next card first.
        turn: Whose turn it is.
        suit: The current suit.
        mitchell: The seat that he stands before; None for the center.
        reshuffle: The stock that the first reshuffle makes.
        **options: Of the match; ``rounds`` is 1 and the deck is made of these cards unless told otherwise.
    """
    table = new_match(hands, rest, **options)
    for seat, names in enumerate(hands):
        for name in names.split():
            table.hand[seat, parse_kind(name)] += 1
            table.n_held[seat] += 1
    cards = [parse_kind(name) for name in rest.split()]
    table.stock[: len(cards)] = cards
    table.stock_size = len(cards)
    table.suit = NOTHING if suit is None else SUITS.index(suit)
    table.mitchell = CENTER if mitchell is None else mitchell
    table.dealer = (turn - 1) % table.players
    if reshuffle:
        arrange_reshuffle(table, reshuffle.split())
    RULES.open_deal(table)
    return table


def legal(table: Table) -> set[str]:
    """The legal moves of the actor."""
    mask = np.zeros(RULES.n_actions(int(table.seats_encoded)), np.uint8)
    RULES.legal_actions(table, mask)
    return {RULES.action_name(table, int(action)) for action in np.flatnonzero(mask)}


def play(table: Table, *lines: str) -> None:
    """Each line is a seat, which must be the one to decide, and its move: ``0 give seat1 brawl``."""
    for line in lines:
        seat, move = line.split(" ", 1)
        assert table.actor == int(seat), f"{line}: seat{table.actor} is to decide"
        assert move in legal(table), f"{line}: legal are {sorted(legal(table))}"
        RULES.apply_action(table, RULES.parse_action(table, move))


def asked(table: Table) -> list[int]:
    """Declines to the end of the open window; the seats in the order in which they had to decide."""
    seats: list[int] = []
    turns_done = int(table.turns_done)
    while table.phase == PHASE_ANSWER and table.turns_done == turns_done:
        seats.append(int(table.actor))
        play(table, f"{table.actor} decline")
    return seats


def hand(table: Table, seat: int) -> str:
    """The names of the cards of a hand, sorted as people do."""
    cards = hand_of(table, seat)
    assert len(cards) == table.n_held[seat]
    return " ".join(KIND_NAMES[kind] for kind in cards)


def drawn(table: Table) -> str | None:
    """The card just drawn that the actor may play."""
    return KIND_NAMES[table.drawn] if table.phase == PHASE_DRAWN else None


def discards(table: Table) -> str:
    """The names of the cards on the discard pile, sorted as text."""
    assert table.discards.sum() == table.n_discards
    return " ".join(sorted(KIND_NAMES[kind] for kind, n in enumerate(table.discards) for _ in range(n)))


def top(table: Table) -> str:
    """The top of the discard pile."""
    return KIND_NAMES[table.top]


def stock(table: Table) -> str:
    """The cards that lie face down, the next first."""
    return " ".join(KIND_NAMES[table.stock[i]] for i in range(table.stock_next, table.stock_size))


def suit(table: Table) -> str | None:
    """The current suit."""
    return None if table.suit == NOTHING else SUITS[table.suit]


def mitchell(table: Table) -> str:
    """Where Mitchell stands."""
    return place_name(int(table.mitchell))


def scores(table: Table) -> list[int]:
    """The points of the round that is over."""
    assert table.actor == -1
    return [int(points) for points in table.points[: table.players]]


def view(table: Table, seat: int) -> np.ndarray:
    """What ``seat`` sees."""
    out = np.full(RULES.layout(int(table.seats_encoded)).size, np.nan, np.float32)
    RULES.observe(table, seat, out)
    return out


def block(table: Table, seat: int, name: str) -> list[float]:
    """One block of what ``seat`` sees."""
    at = RULES.layout(int(table.seats_encoded)).slices[name]
    return [round(float(entry), 4) for entry in view(table, seat)[at]]
