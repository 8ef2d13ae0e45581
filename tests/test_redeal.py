"""``redeal_hidden`` of Mitch by exhaustion: on miniatures it hits exactly the possible worlds, each as often as the others."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest
from games import ENGINES
from laws import Compiled, Match, Plain, hold
from reference.mitch import JOKER, pack
from scipy.stats import chisquare

from mitch_env import GAMES
from mitch_env.chance import match_seeds
from mitch_env.jit import config, kernel_view
from mitch_env.kernels import kernels_of

#: The hand of each seat but the observer's, and the stock in the order in which it is drawn.
World: TypeAlias = tuple[tuple[frozenset[str], ...], tuple[str, ...]]
Redeal: TypeAlias = Callable[[np.recarray, int, np.ndarray], None]

#: The least chance of a false alarm: a p-value below it says that the worlds are not equally likely. The keys are fixed.
LEAST_P = 1e-4

MINIATURES: dict[str, tuple[str, dict[str, Any]]] = {
    "joker": ("mitch_jp", {"players": 2, "suits": 1, "ranks": 7, "hand_size": 2, "clock_cards": 1}),
    "two jokers": ("mitch_jp", {"players": 2, "suits": 2, "ranks": 4, "hand_size": 2, "clock_cards": 2}),
    "joker, three players": ("mitch_jp", {"players": 3, "suits": 2, "ranks": 4, "hand_size": 2, "clock_cards": 1}),
    "joker, house rules": (
        "mitch_jp",
        {"players": 3, "suits": 1, "ranks": 6, "hand_size": 1, "clock_cards": 1, "take_discard": True, "closer_plays": True},
    ),
    "ace_stock": (
        "mitch_jp",
        {"players": 2, "clock": "ace_stock", "suits": 3, "ranks": 3, "hand_size": 2, "clock_cards": 2, "closer_plays": True},
    ),
    "ace_stock, one of four": (
        "mitch_jp",
        {"players": 2, "clock": "ace_stock", "suits": 4, "ranks": 2, "hand_size": 1, "clock_cards": 1},
    ),
    "ace_deck": ("mitch_original", {"players": 2, "suits": 2, "ranks": 4, "hand_size": 2, "clock_cards": 2}),
    "ace_deck, closed early": ("mitch_original", {"players": 3, "suits": 3, "ranks": 3, "hand_size": 1, "clock_cards": 1}),
    "ace_hand": ("mitch_ru", {"players": 2, "suits": 2, "ranks": 4, "hand_size": 2, "clock_cards": 1}),
    "ace_hand, three players": ("mitch_ru", {"players": 3, "suits": 2, "ranks": 4, "hand_size": 2, "clock_cards": 2}),
}


def possible_worlds(referee: Any, seat: int) -> set[World]:
    """All worlds that agree with what ``seat`` has seen, from the rules of the game and the referee's table."""
    options, others = referee.options, [other for other in range(referee.n_players) if other != seat]
    laid = {card for other in range(referee.n_players) for cards in referee.columns(other).values() for card in cards}
    seen = {*referee.hand(seat), *laid, *referee.discards, *referee.clock_pile}
    unseen = [card for card in pack(options) if card not in seen]
    clock = options["clock"]
    aces = [card for card in unseen if card[0] == "A" and clock in ("ace_stock", "ace_deck")]
    free = [card for card in unseen if card not in aces]
    sizes = [len(referee.hand(other)) for other in others]
    n_markers = referee.stock_left - (len(free) - sum(sizes))
    markers: list[Sequence[str]]
    if clock == "joker":
        assert n_markers == options["clock_cards"] - referee.clock_seen
        markers = [[JOKER] * n_markers]
    else:  # ace_stock: nobody knows which aces are unused
        markers = list(itertools.combinations(aces, n_markers))
    worlds = set()
    for hands in _hands(free, sizes):
        rest = [card for card in free if not any(card in hand for hand in hands)]
        for chosen in markers:
            worlds |= {(hands, stock) for stock in itertools.permutations([*rest, *chosen])}
    return worlds


def _hands(cards: Sequence[str], sizes: Sequence[int]) -> Iterator[tuple[frozenset[str], ...]]:
    """All ways to deal hands of these sizes."""
    if not sizes:
        yield ()
        return
    for hand in itertools.combinations(cards, sizes[0]):
        for others in _hands([card for card in cards if card not in hand], sizes[1:]):
            yield (frozenset(hand), *others)


def world_of(table: Any, seat: int) -> World:
    """The world that a table is, for the observer ``seat``."""
    facts = ENGINES["mitch"].facts(table)
    hands = tuple(frozenset(hand) for other, hand in enumerate(facts["hands"]) if other != seat)
    return hands, tuple(facts["stock"])


def redealt_worlds(redeal: Redeal, tables: np.recarray, seat: int, n: int, key: int) -> Counter[World]:
    """How often each world comes up among ``n`` redealt ones."""
    many = np.repeat(tables, n).view(np.recarray)
    redeal(many, seat, match_seeds(key, n))
    hidden = np.concatenate([many.hand.view(np.uint8).reshape(n, -1), many.stock.view(np.uint8).reshape(n, -1)], 1)
    _, first, counts = np.unique(hidden, axis=0, return_index=True, return_counts=True)
    found: Counter[World] = Counter()
    for i, count in zip(first.tolist(), counts.tolist(), strict=True):
        found[world_of(many[i], seat)] += count
    return found


def every_possible_world_is_equally_likely(
    redeal: Redeal, match: Match, seat: int, worlds: set[World], n_each: int, key: int
) -> None:
    """The worlds that come up are exactly the possible ones, and a chi-square test finds no difference in their numbers."""
    law = every_possible_world_is_equally_likely
    hold(world_of(match.table, seat) in worlds, law, f"the real world is none of the {len(worlds)} possible ones")
    found = redealt_worlds(redeal, match.driver.tables, seat, n_each * len(worlds), key)
    impossible, missing = found.keys() - worlds, worlds - found.keys()
    hold(not impossible, law, f"{len(impossible)} impossible worlds, such as {next(iter(impossible), None)}")
    hold(not missing, law, f"{len(missing)} of {len(worlds)} worlds never come up, such as {next(iter(missing), None)}")
    if len(worlds) > 1:
        p = float(chisquare(list(found.values())).pvalue)
        hold(p > LEAST_P, law, f"{len(worlds)} worlds, p = {p:.1e}: {found.most_common(2)}")


def compiled_redeal(tables: np.recarray, seat: int, keys: np.ndarray) -> None:
    kernels_of(GAMES["mitch_jp"].rules).redeal(kernel_view(tables), seat, keys)


def positions(name: str, n_matches: int, driver: type[Plain] = Compiled) -> Iterator[tuple[Match, int, set[World]]]:
    """Positions of a miniature that differ in how much is hidden where, with an observer and its possible worlds."""
    preset, changes = MINIATURES[name]
    game = GAMES[preset]
    shapes = set()
    for seed in range(n_matches):
        match = Match(game, game.options(changes, deals=1, playoffs=None), seed, driver)
        for _ in match.moments(random.Random(seed)):
            referee = match.referee
            for seat in range(match.options.players):
                sizes = [len(referee.hand(other)) for other in range(referee.n_players) if other != seat]
                shape = (*sizes, referee.stock_left, referee.clock_seen, len(referee.hand(seat)), referee.closed)
                if shape not in shapes and match.is_live and referee.stock_left < 7:
                    shapes.add(shape)
                    yield match, seat, possible_worlds(referee, seat)


@pytest.mark.parametrize("name", MINIATURES)
def test_redealing_hits_exactly_the_possible_worlds_equally_often(name: str) -> None:
    """At the first decision, in mid-deal, after the stock is closed, and when one world only is possible."""
    n_positions, numbers, moments = 0, set(), set()
    for match, seat, worlds in positions(name, 30):
        if len(worlds) <= (60 if config.DISABLE_JIT else 800) and n_positions < 25:
            every_possible_world_is_equally_likely(compiled_redeal, match, seat, worlds, 40, n_positions)
            n_positions += 1
            numbers.add(len(worlds))
            moments.add("first" if not match.actions else "closed" if match.referee.closed else "open")
    assert n_positions >= 8 and max(numbers) > 20
    assert moments >= {"open", "closed"}, moments


def test_every_kind_of_clock_has_its_miniature() -> None:
    clocks = {GAMES[preset].options(changes).clock for preset, changes in MINIATURES.values()}
    assert clocks == {"joker", "ace_stock", "ace_deck", "ace_hand"}


def test_an_unseen_ace_may_be_in_any_hand_under_ace_hand_only() -> None:
    held = {}
    for name in ("ace_stock", "ace_deck", "ace_hand"):
        match, seat, worlds = next(positions(name, 1))
        found = redealt_worlds(compiled_redeal, match.driver.tables, seat, 400, 1)
        assert found.keys() <= worlds
        held[name] = any(card[0] == "A" for hands, _ in found for hand in hands for card in hand)
    assert held == {"ace_stock": False, "ace_deck": False, "ace_hand": True}


def test_which_aces_are_unused_is_redrawn() -> None:
    match, seat, _ = next(positions("ace_stock, one of four", 1))
    found = redealt_worlds(compiled_redeal, match.driver.tables, seat, 2000, 2)
    aces = Counter(card for (_, stock), count in found.items() for card in stock for _ in range(count) if card[0] == "A")
    assert sorted(aces) == ["AC", "AD", "AH", "AS"]
    assert chisquare(list(aces.values())).pvalue > LEAST_P


def test_later_chance_follows_from_the_key_alone() -> None:
    """Two worlds by the same key go on with the same next deal, two keys with different ones, none with the real one."""
    game = GAMES["mitch_jp"]
    match = Match(game, game.options(players=2, deals=2), 5, Compiled)
    next(match.moments(random.Random(5)))

    def next_deal(tables: np.recarray) -> str:
        twin = Compiled(game, tables.copy())
        while twin.table.deals_done == 0:
            twin.play(int(np.flatnonzero(twin.mask())[0]))
        twin.shuffle()
        return str(game.rules.deal_words(twin.table)["hands"])

    worlds = match.driver.tables.copy().repeat(3).view(np.recarray)
    compiled_redeal(worlds, 0, np.array([1, 1, 2], np.uint64))
    deals = [next_deal(tables) for tables in (match.driver.tables, worlds[:1], worlds[1:2], worlds[2:])]
    assert deals[1] == deals[2] and len(set(deals)) == 3
