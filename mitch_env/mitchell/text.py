"""Words for Mitchell, in the notation of the records: cards, moves and deals, both ways."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..game import NOBODY, PHASE_DEAL, PHASE_OVER, Table
from .actions import (
    TO_THE_CENTER,
    change_at,
    force_two_at,
    give_at,
    move_at,
    n_actions,
    pass_at,
    split_action,
)
from .cards import clear_table
from .kinds import (
    ANYWHERE_OF,
    CANCEL,
    CHANGE,
    FORCE_TWO,
    GIVE,
    IN_ORDER,
    KIND_NAMES,
    MOVE,
    N_KINDS,
    NOTHING,
    ONE_WAY,
    SUITS,
)
from .state import CENTER, PHASE_ANSWER, PHASE_DRAWN, PHASE_PLAY

_KIND_NUMBERS = {name: kind for kind, name in enumerate(KIND_NAMES)}
_OTHER_ANSWERS = ("pass", "cancel", "revenge", "decline")


def parse_kind(text: Any) -> int:
    """The kind of card that a name stands for."""
    if not isinstance(text, str) or text not in _KIND_NUMBERS:
        raise ValueError(
            f"{text!r} is no card: a suit ({', '.join(SUITS)}), alone or with +attract, +anywhere or +center, "
            f"or one of {', '.join(KIND_NAMES[CHANGE:])} is needed"
        )
    return _KIND_NUMBERS[text]


def hand_of(table: Table, seat: int) -> list[int]:
    """The cards of a hand, sorted as people do."""
    return [kind for kind in IN_ORDER for _ in range(table.hand[seat, kind])]


def place_name(seat: int) -> str:
    """``center`` or ``seat2``."""
    return "center" if seat == CENTER else f"seat{seat}"


# --- Moves.


def action_labels(seats: int) -> list[str]:
    """What each action means for a number of encoded seats; the others are counted clockwise from the actor: ``+1``."""
    return list(_labels(seats))


@functools.cache
def _labels(seats: int) -> tuple[str, ...]:
    places = {TO_THE_CENTER: "center", 0: "self"} | {other: f"+{other}" for other in range(1, seats)}
    return tuple(_move_words(seats, action, places) for action in range(n_actions(seats)))


def _move_words(seats: int, action: int, places: Mapping[int, str]) -> str:
    if action >= pass_at(seats):
        return _OTHER_ANSWERS[action - pass_at(seats)]
    kind, word, gift = split_action(seats, action)
    name = KIND_NAMES[kind]
    if kind == CHANGE:
        return f"{name} {SUITS[word]}"
    if kind < ANYWHERE_OF:
        return name
    return f"{name} {places[word]}" + (f" {KIND_NAMES[gift]}" if gift != NOTHING else "")


def _asked_seat(table: Table) -> int:
    """The seat that places are counted from."""
    return int(table.turn if table.actor == NOBODY else table.actor)


def action_name(table: Table, action: int) -> str:
    """The action as a move of the records, seats by their number; a seat beyond the players is one that nobody sits on."""
    seats = int(table.seats_encoded)
    if not 0 <= action < n_actions(seats):
        raise ValueError(f"{action} is no action: 0 to {n_actions(seats) - 1} are")
    me, players = _asked_seat(table), int(table.players)
    places = {r: f"seat{(me + r) % players if r < players else r}" for r in range(seats)}
    return _move_words(seats, action, places | {TO_THE_CENTER: "center"})


def parse_action(table: Table, text: str) -> int:
    """The action that a move of the records stands for at this table; it need not be legal.

    Raises:
        ValueError: If the text is no move here, with a sentence.
    """
    if not isinstance(text, str):
        raise ValueError(f"a move is text such as 'give seat1 brawl', got {text!r}")
    seats = int(table.seats_encoded)
    verb, *words = text.split(" ")
    if text in _OTHER_ANSWERS:
        return pass_at(seats) + _OTHER_ANSWERS.index(text)
    if verb in _OTHER_ANSWERS:
        raise ValueError(f"{text!r} is no move: {verb!r} stands alone")
    kind = parse_kind(verb)
    expected = _expected_words(kind)
    if len(words) != len(expected):
        raise ValueError(f"{text!r} is no move: {' '.join([verb, *expected])!r} is needed")
    if kind < ANYWHERE_OF:
        return kind
    if kind == CHANGE:
        if words[0] not in SUITS:
            raise ValueError(f"{text!r} is no move: {words[0]!r} is no suit, {', '.join(SUITS)} are")
        return change_at(seats) + SUITS.index(words[0])
    place = _parse_place(table, text, words[0], is_opponent=kind in (FORCE_TWO, GIVE))
    if kind == FORCE_TWO:
        return force_two_at(seats) + place - 1
    if kind == GIVE:
        return give_at(seats) + N_KINDS * (place - 1) + parse_kind(words[1])
    start = move_at(seats) if kind == MOVE else ANYWHERE_OF + (kind - ANYWHERE_OF) * (seats + 1)
    return start + place + 1


def _expected_words(kind: int) -> list[str]:
    if int(ONE_WAY) >> kind & 1 or kind >= CANCEL:
        return []
    if kind == CHANGE:
        return ["SUIT"]
    return {FORCE_TWO: ["seatN"], GIVE: ["seatN", "CARD"]}.get(kind, ["center|seatN"])


def _parse_place(table: Table, text: str, word: str, *, is_opponent: bool) -> int:
    """A place relative to the actor, TO_THE_CENTER for the center."""
    me, players = _asked_seat(table), int(table.players)
    if word == "center" and not is_opponent:
        return TO_THE_CENTER
    names = [f"seat{seat}" for seat in range(players)]
    if word not in names or (is_opponent and word == names[me]):
        allowed = [name for seat, name in enumerate(names) if not (is_opponent and seat == me)]
        allowed += [] if is_opponent else ["center"]
        raise ValueError(f"{text!r} is no move: {word!r} cannot be named here, {', '.join(allowed)} can")
    return (names.index(word) - me) % players


def phase_name(table: Table) -> str:
    """What is being decided, in words; only the seat that must answer is to see who that is."""
    phase = int(table.phase)
    if phase == PHASE_ANSWER:
        return f"answering seat{table.turn}'s {pending_words(table)}"
    return {
        PHASE_DEAL: "waiting for the deal",
        PHASE_OVER: "the match is over",
        PHASE_PLAY: "playing a card",
        PHASE_DRAWN: "playing or keeping the card just drawn",
    }[phase]


def pending_words(table: Table) -> str:
    """The action that waits for answers as everybody sees it, without the card to give (M6)."""
    pending = int(table.pending)
    word = SUITS[table.new_suit] if pending == CHANGE else place_name(int(table.target))
    return f"{KIND_NAMES[pending]} {word}"


def taking_part(table: Table) -> list[int]:
    """The seats that play the current round: all."""
    return list(range(table.players))


# --- Deals and reshuffles.


def stock_words(table: Table) -> list[str]:
    """The stock as it was last shuffled, in the order in which it is drawn, cards that are drawn already included."""
    return [KIND_NAMES[table.stock[i]] for i in range(table.stock_size)]


def deal_words(table: Table) -> dict[str, Any]:
    """``hands`` (by seat), ``stock`` and ``revealed`` (nothing) of a deal that no one has acted on."""
    return {
        "hands": [[KIND_NAMES[kind] for kind in hand_of(table, seat)] for seat in range(table.players)],
        "stock": stock_words(table),
        "revealed": [],
    }


def arrange_deal(table: Table, words: Mapping[str, Any]) -> None:
    """Lays out a deal from ``hands``, ``stock`` and ``revealed`` instead of shuffling one; the table stays in ``PHASE_DEAL``.

    Raises:
        ValueError: If this cannot be a deal of this table; the table is left as it was.
    """
    hands = [[parse_kind(card) for card in hand] for hand in words["hands"]]
    stock = [parse_kind(card) for card in words["stock"]]
    if words.get("revealed"):
        raise ValueError("nothing is revealed while dealing in Mitchell")
    if len(hands) != table.players:
        raise ValueError(f"{len(hands)} hands are given, {table.players} are needed, one for each seat")
    for seat, hand in enumerate(hands):
        if len(hand) != table.hand_size:
            raise ValueError(f"seat{seat} has {len(hand)} cards, {table.hand_size} are dealt to it")
    counts = Counter(kind for cards in [*hands, stock] for kind in cards)
    for kind in IN_ORDER:
        if counts[kind] != table.deck[kind]:
            raise ValueError(f"hands and stock have {counts[kind]} of {KIND_NAMES[kind]}, the deck has {table.deck[kind]}")
    clear_table(table)
    for seat, hand in enumerate(hands):
        for kind in hand:
            table.hand[seat, kind] += 1
        table.n_held[seat] = len(hand)
    table.stock[: len(stock)] = stock
    table.stock_size = len(stock)


def arrange_reshuffle(table: Table, cards: Sequence[str]) -> None:
    """Fixes the next reshuffle: ``cards`` is the new stock in draw order.

    Which cards the discards are by then is known only then (M12). If they are others, the arrangement is not used.

    Raises:
        ValueError: If the deck has not so many of a card, or no card is given.
    """
    kinds = [parse_kind(card) for card in cards]
    for kind, count in Counter(kinds).items():
        if count > table.deck[kind]:
            raise ValueError(f"a reshuffle has {count} of {KIND_NAMES[kind]}, the deck has {table.deck[kind]}")
    if not kinds:
        raise ValueError("a reshuffle without cards: discards are shuffled only if there are any below the top")
    table.arranged[:] = 0
    table.arranged[: len(kinds)] = kinds
    table.n_arranged = len(kinds)
