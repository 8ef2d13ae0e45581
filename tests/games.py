"""What the laws need to know of each engine: one :class:`Engine` for each, under the name of its rules.

A game that is registered later needs an entry in ``ENGINES`` and nothing else. Cards are words here ("9H", "JK"), and nothing
of the engine's own bit operations is used to read a table.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from games_mitchell import PIECES as MITCHELL
from reference import mitch as referee_of_mitch

from mitch_env import GAMES, Game, OptionsError
from mitch_env.game import NOBODY, Table
from mitch_env.jit import config


@dataclass(frozen=True)
class Engine:
    """The pieces that differ from game to game.

    Attributes:
        short: Options that make a match as short as can be, by name.
        random_options: ``(game, rng, players)``: any valid options, such that a match takes some hundred decisions at most.
        most_decisions: ``(options)``: more decisions than a match can have.
        referee: ``(game, options)``: an independent referee, with ``expected_deal``, ``start_deal``, ``legal``, ``apply``,
            ``actor``, ``deal_over``, ``match_over``, ``scores``, ``totals`` and ``winners`` as in ``reference/``.
        facts: ``(table)``: the whole position in words, by name, among them ``hands`` (lists by seat) and ``stock`` (a list);
            ``referee_facts`` says the same of a referee.
        referee_facts: ``(referee)``.
        misplaced: ``(table)``: a sentence for each card that does not lie in exactly one place.
        swap_hidden: ``(table, seat, rng, swaps)``: exchanges so many pairs of cards that ``seat`` cannot see, in place, and
            changes what else it cannot see.
        shown: ``(fields, seat)``: what chance has shown to ``seat``: its hand, and cards that are turned up from the stock.
        quiet: ``(table)``: the action that nobody can tell from not being asked (a decline), ``NOBODY`` if there is none.
    """

    short: dict[str, Any]
    random_options: Callable[[Game, random.Random, int], Any]
    most_decisions: Callable[[Any], int]
    referee: Callable[[Game, Any], Any]
    facts: Callable[[Table], dict[str, Any]]
    referee_facts: Callable[[Any], dict[str, Any]]
    misplaced: Callable[[Table], list[str]]
    swap_hidden: Callable[[Table, int, random.Random, int], None]
    shown: Callable[[Any, int], Any]
    quiet: Callable[[Table], int]


def engine_of(game: Game) -> Engine:
    """The entry of a game's engine; a planted fault has a rules name such as ``mitch fault 7``."""
    return ENGINES[game.rules.name.partition(" ")[0]]


def player_counts(game: Game) -> range:
    """Every number of players that the game allows."""
    return range(2, game.rules.max_seats + 1)


#: Every game with every number of players, for ``pytest.mark.parametrize``.
EVERY_TABLE = [(name, players) for name, game in GAMES.items() for players in player_counts(game)]


def some_options(game: Game, players: int, n: int, seed: int) -> Iterator[Any]:
    """The tradition's own options, then ``n`` - 1 random ones."""
    rng = random.Random(f"{game.name} {players} {seed}")
    yield game.options(players=players)
    for _ in range(n - 1):
        yield engine_of(game).random_options(game, rng, players)


def times(n: int) -> int:
    """``n`` repetitions, or a few when kernels are not compiled (``NUMBA_DISABLE_JIT=1``)."""
    return max(2, n // 25) if config.DISABLE_JIT else n


# --- Mitch.

_RANKS, _SUITS = referee_of_mitch.RANKS, referee_of_mitch.SUITS
_CARDS = [rank + suit for suit in _SUITS for rank in _RANKS] + [referee_of_mitch.JOKER]
_CLOCKS = ("joker", "ace_stock", "ace_deck", "ace_hand")


def _random_mitch(game: Game, rng: random.Random, players: int) -> Any:
    """The tradition with about half of its options drawn anew."""
    while True:
        suits, ranks = rng.choice([(4, 13), (4, 13), (rng.randint(1, 4), rng.randint(2, 13))])
        drawn: dict[str, Any] = {
            "deals": rng.choice([1, 1, 2, "players"]),
            "hand_size": rng.choice([1, 2, 3, 5, 7, suits * ranks // players]),
            "clock": rng.choice(_CLOCKS),
            "clock_cards": rng.randint(1, 4),
            "column_step": rng.choice(["any_lower", "next_lower"]),
            "must_place": rng.random() < 0.5,
            "take_discard": rng.random() < 0.5,
            "closer_plays": rng.random() < 0.5,
            "scoring": rng.choice(["suits", "longest"]),
            "lost_column_penalty": rng.random() < 0.7,
            "tie_break": rng.choice(["high", "low"]),
            "shortest_double": rng.random() < 0.5,
            "waiting_penalty": rng.random() < 0.5,
            "playoffs": rng.randint(0, 3),
        }
        changes = {name: value for name, value in drawn.items() if rng.random() < 0.5}
        try:
            return game.options(changes, players=players, suits=suits, ranks=ranks)
        except OptionsError:
            continue


def _most_mitch_decisions(options: Any) -> int:
    """A card is decided on once, and before that perhaps whether to draw it."""
    return 2 * 56 * options.n_deals * (1 + (options.playoffs or 0))


def _mitch_referee(game: Game, options: Any) -> Any:
    return referee_of_mitch.Referee(referee_of_mitch.full_options(game.name, **options.as_dict()))


def _names(cards: np.uint64) -> list[str]:
    word = int(cards)
    return [name for i, name in enumerate(_CARDS) if word >> i & 1]


def _columns(cards: np.uint64) -> dict[str, list[str]]:
    """suit -> cards from top to bottom: a column descends, so the set tells its order."""
    names = _names(cards)[::-1]
    return {suit: [name for name in names if name[1] == suit] for suit in _SUITS if any(name[1] == suit for name in names)}


def _stock(table: Table) -> list[str]:
    return [_CARDS[card] for card in table.stock[table.stock_next : table.stock_size].tolist()]


def _pile(table: Table) -> list[str]:
    return [_CARDS[card] for card in table.pile[: table.pile_size].tolist()]


def _clock_pile(table: Table) -> list[str]:
    if _CLOCKS[table.clock] == "joker":
        return [referee_of_mitch.JOKER] * int(table.clock_seen)
    return _names(table.clock_up)


def _mitch_facts(table: Table) -> dict[str, Any]:
    seats = range(table.players)
    return {
        "hands": [_names(table.hand[seat]) for seat in seats],
        "columns": [_columns(table.tableau[seat]) for seat in seats],
        "stock": _stock(table),
        "discards": _pile(table),
        "clock pile": _clock_pile(table),
        "clock seen": int(table.clock_seen),
        "dealer": int(table.dealer),
        "totals": table.totals[: table.players].tolist(),
    }


def _mitch_referee_facts(referee: Any) -> dict[str, Any]:
    return {
        "hands": [sorted(hand, key=_CARDS.index) for hand in referee.hands],
        "columns": [referee.columns(seat) for seat in range(referee.n_players)],
        "stock": referee.stock,
        "discards": referee.discards,
        "clock pile": sorted(referee.clock_pile, key=_CARDS.index),
        "clock seen": referee.clock_seen,
        "dealer": referee.dealer,
        "totals": referee.totals,
    }


def _mitch_misplaced(table: Table) -> list[str]:
    places = [_names(cards) for cards in [*table.hand, *table.tableau]] + [_stock(table), _pile(table), _clock_pile(table)]
    lying = Counter(card for cards in places for card in cards)
    clock = _CLOCKS[table.clock]
    expected = Counter(rank + suit for suit in _SUITS[: table.suits] for rank in _RANKS[: table.ranks])
    if clock == "joker":
        expected[referee_of_mitch.JOKER] = int(table.clock_cards)
    sentences: list[str] = []
    if clock == "ace_stock":
        aces = sum(lying["A" + suit] for suit in _SUITS)
        if aces != table.clock_cards:
            sentences.append(f"{aces} aces are in play, {table.clock_cards} must be: the rest is unused")
        for suit in _SUITS[: table.suits]:
            expected["A" + suit] = min(1, lying["A" + suit])
    return sentences + [
        f"{card} lies in {lying[card]} places instead of {expected[card]}"
        for card in sorted(lying | expected)
        if lying[card] != expected[card]
    ]


def _swap_hidden_mitch(table: Table, seat: int, rng: random.Random, swaps: int) -> None:
    others = [other for other in range(table.players) if other != seat]
    hands: list[tuple[Any, str]] = []
    slots: list[tuple[Any, str]] = [(other, card) for other in others for card in _names(table.hand[other])]
    slots += [("stock", card) for card in _stock(table)]
    clock = _CLOCKS[table.clock]
    if clock == "ace_stock":
        in_play = {card for _, card in slots} | set(_clock_pile(table))
        slots += [("unused", "A" + suit) for suit in _SUITS[: table.suits] if "A" + suit not in in_play]

    def can_lie(card: str, place: Any) -> bool:
        is_marker = card == referee_of_mitch.JOKER or (card[0] == "A" and clock in ("ace_stock", "ace_deck"))
        return place in ("stock", "unused") if is_marker else place != "unused"

    if rng.random() < 0.3:  # exchanged in the stock only: such a difference can stay hidden to the deal's end
        hands = [slot for slot in slots if slot[0] in others]
        slots = [slot for slot in slots if slot[0] not in others]
    held = [i for i, (place, _) in enumerate(slots) if place not in ("stock", "unused")]
    done, tries = 0, 0
    while done < swaps and tries < 20 * swaps and len(slots) > 1:
        tries += 1
        i = rng.choice(held) if held and rng.random() < 0.7 else rng.randrange(len(slots))
        j = rng.randrange(len(slots))
        (here, one), (there, other_card) = slots[i], slots[j]
        if (here != there or (here == "stock" and i != j)) and can_lie(one, there) and can_lie(other_card, here):
            slots[i], slots[j] = (here, other_card), (there, one)
            done += 1
    slots += hands
    for other in others:
        table.hand[other] = np.uint64(sum(1 << _CARDS.index(card) for place, card in slots if place == other))
    table.stock[table.stock_next : table.stock_size] = [_CARDS.index(card) for place, card in slots if place == "stock"]
    # What was drawn before, and by whom, and the number that the match follows from are not to be seen either.
    drawn = table.stock[: table.stock_next].tolist()
    hidden = [card for card in drawn if can_lie(_CARDS[card], 0)]
    shuffled = iter(rng.sample(hidden, len(hidden)))
    table.stock[: table.stock_next] = [next(shuffled) if card in hidden else card for card in drawn]
    table.seed = np.uint64(rng.getrandbits(64))


def _shown_by_mitch(table: Any, seat: int) -> Any:
    """The own hand, and the clock cards that came from the stock, in order."""
    markers = ("JK", "AS", "AH", "AD", "AC") if _CLOCKS[table["clock"]] in ("ace_stock", "ace_deck") else ("JK",)
    drawn = [_CARDS[card] for card in table["stock"][: table["stock_next"]].tolist()]
    return table["hand"][seat], table["clock_up"], [card if card in markers else "" for card in drawn]


ENGINES: dict[str, Engine] = {
    "mitch": Engine(
        short={"deals": 1},
        random_options=_random_mitch,
        most_decisions=_most_mitch_decisions,
        referee=_mitch_referee,
        facts=_mitch_facts,
        referee_facts=_mitch_referee_facts,
        misplaced=_mitch_misplaced,
        swap_hidden=_swap_hidden_mitch,
        shown=_shown_by_mitch,
        quiet=lambda table: NOBODY,
    ),
    "mitchell": Engine(**MITCHELL),
}
