"""A match with its chance taken apart: the chances are exact, what a seat knows is complete, resampled worlds fit it."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from mitch_env import GAMES
from mitch_env.adapters.explicit_chance import Play, Setting, some_of
from mitch_env.game import NOBODY, PHASE_DEAL, PHASE_OVER
from mitch_env.jit import kernel_view
from mitch_env.kernels import kernels_of

#: The miniature whose tree ``test_tree_counts.py`` counts, and a smaller one.
JP_SMALL = {"players": 2, "deals": 1, "suits": 1, "ranks": 5, "hand_size": 2, "clock_cards": 1}
JP_TINY = JP_SMALL | {"ranks": 4, "hand_size": 1}


def play_of(name: str, reward: str = "points", **options: Any) -> Play:
    """A new match."""
    return Play.start(Setting(GAMES[name], GAMES[name].options(**options), reward))


def outcomes(play: Play) -> list[int]:
    """What can be done next, by chance or by the actor."""
    return sorted(play.ways) if play.ways is not None else play.legal() if play.actor != NOBODY else []


def children(play: Play) -> Iterator[tuple[int, Play]]:
    for outcome in outcomes(play):
        child = play.copy()
        child.apply(outcome)
        yield outcome, child


def tree(play: Play, reach: float = 1.0) -> Iterator[tuple[Play, float]]:
    """All positions below, each with the chance that chance lets it happen."""
    yield play, reach
    total = sum(play.ways.values()) if play.ways is not None else 1
    for outcome, child in children(play):
        yield from tree(child, reach * (play.ways[outcome] / total if play.ways is not None else 1.0))


def observed(play: Play, seat: int) -> bytes:
    size, n_actions = play.setting.layout.size, play.setting.n_actions
    seen, mask = np.zeros(size, np.float32), np.zeros(n_actions, np.int8)
    kernels_of(play.setting.game.rules).view_one(kernel_view(play.tables), seat, seen, mask)
    return seen.tobytes() + mask.tobytes()


# --- Chance is exact.


def results(make: Callable[[], Generator[Any, int, Any]], given: tuple[int, ...] = ()) -> Iterator[tuple[Any, float]]:
    """What a generator that asks for cards can return, each time with the chance of the path."""
    dealer = make()
    try:
        ways = next(dealer)
        for card in given:
            ways = dealer.send(card)
    except StopIteration as end:
        yield end.value, 1.0
        return
    for card, n in ways.items():
        for result, chance in results(make, (*given, card)):
            yield result, chance * n / sum(ways.values())


def test_a_hand_is_dealt_with_the_chance_it_has() -> None:
    """All hands of 3 from A A B B B C: one path each, and the product along it is hypergeometric."""
    pool = Counter({1: 2, 4: 3, 5: 1})
    dealt = [(tuple(hand), chance) for hand, chance in results(lambda: some_of(pool.copy(), 3))]
    expected = Counter(itertools.combinations(sorted(pool.elements()), 3))
    assert len(dealt) == len(expected)
    assert dict(dealt) == pytest.approx({hand: n / expected.total() for hand, n in expected.items()})


def test_shown_aces_are_replaced_as_often_as_in_all_shuffles() -> None:
    """J3, J12: the deal of ``ace_deck``, in which a replacement can be an ace as well."""
    play = play_of("mitch_original", **JP_SMALL | {"suits": 2, "ranks": 4})
    expected: Counter[tuple[Any, ...]] = Counter()
    for (hands, _, revealed), count in all_deals(play.setting.options).items():
        expected[hands, revealed] += count
    chances: Counter[tuple[Any, ...]] = Counter()
    for words, chance in results(lambda: play.setting.engine.deal(play.table)):
        hands = tuple(tuple(sorted(hand)) for hand in play.words(words["hands"]))
        chances[hands, tuple(play.words(words["revealed"]))] += chance
    assert chances == pytest.approx({one: count / expected.total() for one, count in expected.items()})
    assert {len(revealed) for _, revealed in expected} == {0, 1, 2}


def all_deals(options: Any) -> Counter[tuple[Any, ...]]:
    """Every deal of Mitch (hands, stock, revealed), as often as there are shuffles that make it: the dealing written again."""
    pack = [rank + suit for suit in "SHDC"[: options.suits] for rank in "A23456789TJQK"[: options.ranks]]
    aces = [card for card in pack if card[0] == "A"]
    deals: Counter[tuple[Any, ...]] = Counter()
    for order in itertools.permutations(pack if options.clock != "ace_stock" else sorted(set(pack) - set(aces))):
        cards = list(order)
        hands = [[cards.pop(0) for _ in range(options.hand_size)] for _ in range(options.players)]
        revealed: list[str] = []
        for hand in hands if options.clock == "ace_deck" else []:
            while found := [card for card in pack if card in hand and card in aces]:
                revealed.append(found[0])
                hand[hand.index(found[0])] = cards.pop(0)
        markers = {
            "joker": [["JK"] * options.clock_cards],
            "ace_stock": list(itertools.combinations(aces, options.clock_cards)),
        }
        dealt = tuple(tuple(sorted(hand)) for hand in hands)
        for chosen in markers.get(options.clock, [[]]):
            stocks = itertools.permutations([*cards, *chosen]) if chosen else [cards]
            deals.update((dealt, tuple(stock), tuple(revealed)) for stock in stocks)
    return deals


def engine_value(rules: Any, table: Any) -> np.ndarray:
    """What uniform random play expects from here, on the plain rules; a reshuffle is the mean of all its orders."""
    if table.phase in (PHASE_DEAL, PHASE_OVER):
        return table.totals[: table.players].astype(float)
    mask = np.zeros(rules.n_actions(int(table.seats_encoded)), np.uint8)
    rules.legal_actions(table, mask)
    return np.mean([stepped_value(rules, table, int(action)) for action in np.flatnonzero(mask)], 0)


def stepped_value(rules: Any, table: Any, action: int) -> np.ndarray:
    after = copied(table)
    rules.apply_action(after, action)
    if after.reshuffles == table.reshuffles:
        return engine_value(rules, after)
    values = []
    for order in itertools.permutations(after.stock[: after.stock_size].tolist()):
        after = copied(table)
        after.arranged[: len(order)] = order
        after.n_arranged = len(order)
        rules.apply_action(after, action)
        values.append(engine_value(rules, after))
    return np.mean(values, 0)


def copied(table: Any) -> Any:
    return np.array([table], table.dtype).view(np.recarray)[0]


def tree_value(play: Play) -> np.ndarray:
    """What uniform random play expects from here, in the tree."""
    if play.ways is None and play.actor == NOBODY:
        return np.array(play.earned())
    weights = [play.ways[outcome] for outcome in outcomes(play)] if play.ways is not None else None
    return np.average([tree_value(child) for _, child in children(play)], axis=0, weights=weights)


EXACT: dict[str, tuple[str, dict[str, Any]]] = {
    "joker": ("mitch_jp", JP_TINY | {"waiting_penalty": True}),
    "two jokers": ("mitch_jp", JP_TINY | {"ranks": 3, "clock_cards": 2, "take_discard": True}),
    "ace_stock": ("mitch_jp", JP_TINY | {"clock": "ace_stock", "suits": 3, "ranks": 2, "closer_plays": True}),
    "ace_deck": ("mitch_original", JP_TINY | {"suits": 2, "ranks": 3}),
    "ace_hand": ("mitch_ru", JP_TINY | {"suits": 2, "ranks": 3, "playoffs": 0, "clock_cards": 2}),
}


@pytest.mark.parametrize("name", EXACT)
def test_random_play_expects_the_same_in_the_tree_as_over_all_shuffles(name: str) -> None:
    game, options = GAMES[EXACT[name][0]], EXACT[name][1]
    deals = all_deals(game.options(**options))
    expected = np.zeros(2)
    for (hands, stock, revealed), count in deals.items():
        table = game.new_tables([game.options(**options)], seeds=np.zeros(1, np.uint64), stop_at_deal=True)[0]
        game.rules.start_match(table)
        game.rules.arrange_deal(table, {"hands": hands, "stock": stock, "revealed": revealed})
        game.rules.open_deal(table)
        expected += engine_value(game.rules, table) * count / deals.total()
    assert tree_value(play_of(game.name, **options)) == pytest.approx(expected)
    assert np.ptp(expected) > 0.01


def test_random_play_of_mitchell_expects_the_same_in_the_tree_as_over_all_shuffles() -> None:
    """With cards of one kind, a forced draw, and a stock that is shuffled again."""
    game = GAMES["mitchell"]
    deck = {"brawl": 2, "brawl+attract": 1, "force-two": 1, "revenge": 1}
    options = game.options(players=2, hand_size=1, rounds=1, max_turns=4, deck=deck)
    cards = [kind for kind, n in deck.items() for _ in range(n)]
    deals = Counter(itertools.permutations(cards))
    expected, n_reshuffled = np.zeros(2), 0
    for order, count in deals.items():
        table = game.new_tables([options], seeds=np.zeros(1, np.uint64), stop_at_deal=True)[0]
        game.rules.start_match(table)
        game.rules.arrange_deal(table, {"hands": [order[:1], order[1:2]], "stock": order[2:]})
        game.rules.open_deal(table)
        expected += engine_value(game.rules, table) * count / deals.total()
    play = play_of("mitchell", players=2, hand_size=1, rounds=1, max_turns=4, deck=deck)
    n_reshuffled = sum(int(one.table.reshuffles) for one, _ in tree(play))
    assert tree_value(play) == pytest.approx(expected)
    assert n_reshuffled > 0 and np.ptp(expected) > 0.01


def test_the_tree_of_the_miniature_is_as_large_as_counted() -> None:
    """8,910 decisions and 8,610 ends, as in ``test_tree_counts.py``; its extreme points are the bounds of utility."""
    n_decisions, n_ends, points = 0, 0, set()
    for play, _ in tree(play_of("mitch_jp", **JP_SMALL)):
        n_decisions += play.actor != NOBODY
        if play.ways is None and play.actor == NOBODY:
            n_ends += 1
            points |= set(play.earned())
    assert (n_decisions, n_ends) == (8_910, 8_610)
    low, high, most_decisions, _ = play.setting.engine.limits(play.setting.options)
    assert (min(points), max(points), most_decisions) == (low, high, 5)


# --- What a seat knows.


@pytest.mark.parametrize("name", EXACT)
def test_who_knows_the_same_sees_the_same(name: str) -> None:
    """Over a whole tree: one information state is one observation and one set of legal actions, of one seat."""
    shown: dict[str, tuple[int, bytes]] = {}
    n_decisions = 0
    for play, _ in tree(play_of(EXACT[name][0], **EXACT[name][1])):
        if play.actor != NOBODY:
            n_decisions += 1
            sight = play.actor, observed(play, play.actor)
            assert shown.setdefault(play.known_to(play.actor), sight) == sight
    assert 10 < len(shown) < n_decisions


@pytest.mark.parametrize(
    ("name", "options", "is_exact"),
    [
        ("mitch_jp", JP_TINY, True),
        ("mitch_jp", JP_TINY | {"take_discard": True, "closer_plays": True}, True),
        ("mitch_ru", EXACT["ace_hand"][1] | {"must_place": False}, True),
        ("mitch_ru", EXACT["ace_hand"][1], False),
    ],
    ids=["jp", "house rules", "free", "forced"],
)
def test_resampled_worlds_are_those_of_the_information_state(name: str, options: dict[str, Any], is_exact: bool) -> None:
    """As often as chance makes them; where moves are forced, at least those, since ``redeal_hidden`` draws no conclusions."""
    worlds: dict[str, Counter[str]] = defaultdict(Counter)
    examples: dict[str, Play] = {}
    for play, reach in tree(play_of(name, **options)):
        if play.actor != NOBODY:
            known = play.known_to(play.actor)
            worlds[known][world_of(play)] += reach  # type: ignore[assignment]
            examples[known] = play
    many = sorted((known for known in worlds if len(worlds[known]) > 1), key=lambda known: (known.count(";"), known))
    tried = many[:: max(1, len(many) // 16)]
    assert len(tried) >= 8 and any("> " in known for known in tried)
    for known in tried:
        play, n = examples[known], 60 * len(worlds[known])
        found = Counter(world_of(play.redealt(play.actor, key)) for key in range(n))
        assert found.keys() >= worlds[known].keys()
        if is_exact:
            assert found.keys() == worlds[known].keys()
            total = sum(worlds[known].values())
            expected = [worlds[known][world] / total * n for world in found]
            assert chisquare(list(found.values()), expected).pvalue > 1e-4


def world_of(play: Play) -> str:
    return f"{play.hands()} {sorted(play.table.stock[play.table.stock_next : play.table.stock_size].tolist())}"
