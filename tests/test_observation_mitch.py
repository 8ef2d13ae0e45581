"""Every block of what a seat of Mitch sees, and of the state, worked out anew from the referee's table and compared exactly."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from games import EVERY_TABLE, some_options, times
from laws import Compiled, Match, Plain, check_match, hold
from reference.mitch import JOKER, RANKS, SUITS, pack

from mitch_env import GAMES
from mitch_env.layout import Block, Layout
from mitch_env.mitch import observation

MITCH = [(name, players) for name, players in EVERY_TABLE if name.startswith("mitch_")]
CARDS = [rank + suit for suit in SUITS for rank in RANKS]


def many_hot(names: Any, universe: Any = CARDS) -> list[float]:
    return [float(one in names) for one in universe]


def one_hot(n: int, low: int, high: int) -> list[float]:
    return [float(n == one) for one in range(low, high + 1)]


class Expected:
    """What ``seat`` must see at a referee's table; one method for each block, under its name.

    Args:
        referee: The referee, in a deal.
        seat: The observer.
        seats: The seats that are encoded.
        waited: The seats that have decided with the stock open and placed nothing while it was.
    """

    def __init__(self, referee: Any, seat: int, seats: int, waited: set[int]) -> None:
        self.referee, self.seat, self.waiting = referee, seat, waited
        self.options = referee.options
        n = referee.n_players
        self.seen_from_here = [(seat + r) % n for r in range(n)]
        self.n_padding = seats - n

    def each_seat(self, entries: Callable[[int], list[float]], size: int) -> list[float]:
        """The observer's entries first, then clockwise, then zeros for seats that nobody sits on."""
        known = [entry for other in self.seen_from_here for entry in entries(other)]
        return known + [0.0] * (size * self.n_padding)

    def each_suit(self, entry: Callable[[list[str]], float], seat: int) -> list[float]:
        """``entry`` of each column of a seat, 0 for no column."""
        columns = self.referee.columns(seat)
        return [entry(columns[suit]) if suit in columns else 0.0 for suit in SUITS]

    def fitting(self, seat: int) -> list[str]:
        """The cards of the pack that could be laid by ``seat`` now, whoever holds them."""
        columns = self.referee.columns(seat)
        found = []
        for card in pack(self.options):
            rank = RANKS.index(card[0])
            if card[0] == "A" and self.options["clock"] != "joker":
                continue
            if card[1] in columns:
                below = RANKS.index(columns[card[1]][-1][0]) - rank
                if below < 1 or (self.options["column_step"] == "next_lower" and below > 1):
                    continue
            found.append(card)
        return found

    def unseen_cards(self) -> list[str]:
        referee = self.referee
        laid = [card for seat in range(referee.n_players) for column in referee.columns(seat).values() for card in column]
        seen = {*referee.hand(self.seat), *referee.discards, *referee.clock_pile, *laid}
        return [card for card in pack(self.options) if card not in seen]

    def hand(self) -> list[float]:
        return many_hot(self.referee.hand(self.seat))

    def layable(self) -> list[float]:
        return many_hot(set(self.referee.hand(self.seat)) & set(self.fitting(self.seat)))

    def discards(self) -> list[float]:
        return many_hot(self.referee.discards)

    def unseen(self) -> list[float]:
        return many_hot(self.unseen_cards())

    def top_discard(self) -> list[float]:
        top = self.referee.discards[-1] if self.referee.discards else "  "
        return many_hot(top[0], RANKS) + many_hot(top[1], SUITS)

    def skips(self) -> list[float]:
        """For each layable card: own and unseen cards that fit now and are higher, / 12."""
        fitting = self.fitting(self.seat)
        could_come = {*self.referee.hand(self.seat), *self.unseen_cards()} & set(fitting)
        entries = []
        for card in CARDS:
            higher = [one for one in could_come if one[1] == card[1] and RANKS.index(one[0]) > RANKS.index(card[0])]
            entries.append(len(higher) / 12 if card in self.referee.hand(self.seat) and card in fitting else 0.0)
        return entries

    def clock_aces(self) -> list[float]:
        return many_hot(self.referee.clock_pile, ["A" + suit for suit in SUITS])

    def tableau(self) -> list[float]:
        columns = self.referee.columns
        return self.each_seat(lambda other: many_hot(list(itertools.chain(*columns(other).values()))), 52)

    def bottom(self) -> list[float]:
        return self.each_seat(lambda other: self.each_suit(lambda cards: (RANKS.index(cards[-1][0]) + 1) / 13, other), 4)

    def length(self) -> list[float]:
        return self.each_seat(lambda other: self.each_suit(lambda cards: len(cards) / 13, other), 4)

    def reach(self) -> list[float]:
        unseen = set(self.unseen_cards())

        def entries(other: int) -> list[float]:
            coming = unseen & set(self.fitting(other))
            return [sum(card[1] == suit for card in coming) / 13 for suit in SUITS]

        return self.each_seat(entries, 4)

    def leads(self) -> list[float]:
        leaders = self.referee.leaders()
        return self.each_seat(lambda other: [float(leaders.get(suit) == other) for suit in SUITS], 4)

    def hand_size(self) -> list[float]:
        return self.each_seat(lambda other: [len(self.referee.hand(other)) / (self.options["hand_size"] + 1)], 1)

    def total(self) -> list[float]:
        totals = self.referee.totals
        return self.each_seat(lambda other: [0.5 + 0.5 * totals[other] / (20 + abs(totals[other]))], 1)

    def turn(self) -> list[float]:
        return self.each_seat(lambda other: [float(other == self.referee.actor)], 1)

    def dealer(self) -> list[float]:
        return self.each_seat(lambda other: [float(other == self.referee.dealer)], 1)

    def taking_part(self) -> list[float]:
        return self.each_seat(lambda other: [float(other in self.referee.seats)], 1)

    def waited(self) -> list[float]:
        return self.each_seat(lambda other: [float(other in self.waiting)], 1)

    def clock_seen(self) -> list[float]:
        return one_hot(self.referee.clock_seen, 0, 4)

    def clock_left(self) -> list[float]:
        return one_hot(max(0, self.options["clock_cards"] - self.referee.clock_seen), 0, 4)

    def stock(self) -> list[float]:
        return [self.referee.stock_left / 56, float(self.referee.closed)]

    def phase(self) -> list[float]:
        asks_draw = self.referee.asks_draw_or_take
        return [float(asks_draw), float(not asks_draw)]

    def match(self) -> list[float]:
        referee = self.referee
        after = referee.n_regular_deals - referee.regular_deals_dealt
        left = (self.options["playoffs"] or 0) - referee.playoffs_dealt
        return [1 / (1 + after), float(referee.playoffs_dealt > 0), 1 / (1 + left)]

    def players(self) -> list[float]:
        return one_hot(self.options["players"], 2, 5)

    def clock(self) -> list[float]:
        return many_hot([self.options["clock"]], ["joker", "ace_stock", "ace_deck", "ace_hand"])

    def clock_cards(self) -> list[float]:
        return one_hot(self.options["clock_cards"], 1, 4)

    def rules(self) -> list[float]:
        options = self.options
        flags = [options["column_step"] == "next_lower", options["must_place"], options["take_discard"]]
        flags += [options["closer_plays"], options["scoring"] == "longest", options["lost_column_penalty"]]
        flags += [options["tie_break"] == "low", options["shortest_double"], options["waiting_penalty"]]
        return [float(flag or 0) for flag in flags]

    def sizes(self) -> list[float]:
        return [self.options["hand_size"] / 52, self.options["suits"] / 4, self.options["ranks"] / 13]

    # The state.

    def hands(self) -> list[float]:
        rows = [many_hot(self.referee.hand(seat)) for seat in range(self.referee.n_players)]
        return list(itertools.chain(*rows)) + [0.0] * (52 * self.n_padding)

    def stock_order(self) -> list[float]:
        numbers = [([*CARDS, JOKER].index(card) + 1) / 53 for card in self.referee.stock]
        return numbers + [0.0] * (56 - len(numbers))


class Waiting:
    """Follows a match: who has decided with the stock open and placed nothing while it was."""

    def __init__(self) -> None:
        self.seats: set[int] = set()
        self.placed: set[int] = set()
        self.deal: tuple[int, int] | None = None

    def look(self, match: Match) -> None:
        """Before each decision."""
        referee = match.referee
        if (referee.regular_deals_dealt, referee.playoffs_dealt) != self.deal:
            self.deal = referee.regular_deals_dealt, referee.playoffs_dealt
            self.seats, self.placed = set(), set()
        self.placed |= {seat for seat in referee.seats if referee.has_placed[seat]}
        if not referee.closed:
            self.seats.add(referee.actor)
        self.seats -= self.placed


def every_block_is_right(match: Match, waiting: Waiting | None = None) -> None:
    """The observation of every seat, and the state, block by block."""
    law, driver = every_block_is_right, match.driver
    seats = int(match.table.seats_encoded)
    layout, state_layout = match.game.rules.layout(seats), match.game.rules.state_layout(seats)

    def compare(view: np.ndarray, layout: Layout, expected: Expected) -> None:
        for block, where in layout:
            if block.name != "view_of_seat_0":
                right = np.array(getattr(expected, block.name)(), np.float32)
                found = view[where]
                words = f"{block.name} of seat{expected.seat}: {found[found != right]} instead of {right[found != right]}"
                hold(found.tobytes() == right.tobytes(), law, words)

    waited = waiting.seats if waiting else set()
    for seat in range(match.options.players):
        compare(driver.view(seat), layout, Expected(match.referee, seat, seats, waited))
    state = driver.state()
    compare(state, state_layout, Expected(match.referee, 0, seats, waited))
    hold(state[state_layout.slices["view_of_seat_0"]].tobytes() == driver.view(0).tobytes(), law, "the view in the state")


def check_blocks(match: Match, seed: int, every: int = 1) -> None:
    """Plays a match and checks every block at every ``every``-th decision."""
    waiting = Waiting()

    def look(match: Match) -> None:
        if match.is_live:
            waiting.look(match)
            if len(match.actions) % every == 0:
                every_block_is_right(match, waiting)

    check_match(match, [look], seed)


@pytest.mark.parametrize(("name", "players"), MITCH)
def test_every_block_of_the_observation_and_the_state_is_right(name: str, players: int) -> None:
    game = GAMES[name]
    for seed, options in enumerate(some_options(game, players, times(7), 30)):
        encoded = players + seed % (game.rules.max_seats - players + 1)
        check_blocks(Match(game, options, seed, Compiled, seats_encoded=encoded), seed, every=3)


@pytest.mark.parametrize("name", sorted({name for name, _ in MITCH}))
def test_every_block_is_right_by_the_plain_rules(name: str) -> None:
    game = GAMES[name]
    check_blocks(Match(game, game.options(players=4, deals=2), 1, Plain, seats_encoded=5), 1, every=12)


def test_the_blocks_follow_each_other_without_gaps() -> None:
    for seats in range(2, 6):
        for layout in (observation.layout(seats), observation.state_layout(seats)):
            stop = 0
            for block, where in layout:
                assert where.start == stop
                stop = where.stop
                assert stop - where.start == block.size * (seats if block.per_seat else 1)
            assert stop == layout.size
            assert list(layout.slices) == [block.name for block in layout.blocks]
            assert len(layout.slices) == len(layout.blocks), "two blocks have one name"


def test_every_block_has_its_size() -> None:
    once = {"hand": 52, "layable": 52, "discards": 52, "unseen": 52, "top_discard": 17, "skips": 52, "clock_aces": 4}
    once |= {"clock_seen": 5, "clock_left": 5, "stock": 2, "phase": 2, "match": 3, "players": 4, "clock": 4}
    once |= {"clock_cards": 4, "rules": 9, "sizes": 3}
    per_seat = {"tableau": 52, "bottom": 4, "length": 4, "reach": 4, "leads": 4, "hand_size": 1, "total": 1, "turn": 1}
    per_seat |= {"dealer": 1, "taking_part": 1, "waited": 1}
    assert {block.name: block.size for block in observation.BLOCKS if not block.per_seat} == once
    assert {block.name: block.size for block in observation.BLOCKS if block.per_seat} == per_seat
    for seats in range(2, 6):
        size = sum(once.values()) + seats * sum(per_seat.values())
        assert observation.layout(seats).size == size
        assert observation.state_layout(seats).size == 52 * seats + 56 + size


def test_the_hash_names_version_blocks_and_seats() -> None:
    layouts = [observation.layout(seats) for seats in range(2, 6)]
    layouts.append(Layout(observation.VERSION + 1, observation.BLOCKS, 3))
    layouts.append(Layout(observation.VERSION, observation.BLOCKS[::-1], 3))
    layouts.append(Layout(observation.VERSION, (*observation.BLOCKS, Block("more", 1, "")), 3))
    assert len({layout.hash for layout in layouts}) == len(layouts)
    assert observation.layout(3).hash == observation.layout(3).hash


def test_the_documented_table_names_every_block_where_it_stands() -> None:
    layout = observation.layout(4)
    lines = layout.markdown().splitlines()[2:]
    assert len(lines) == len(layout.blocks)
    for line, (block, where) in zip(lines, layout, strict=True):
        name, entries, at, meaning = (cell.strip() for cell in line.strip("|").split("|"))
        assert name == f"`{block.name}`" and meaning == block.meaning and meaning
        assert at == f"{where.start} to {where.stop - 1}"
        assert eval(entries.replace("x", "*")) == where.stop - where.start


def test_padding_is_zero_and_the_observer_comes_first() -> None:
    game = GAMES["mitch_jp"]
    match = Match(game, game.options(players=3), 2, Compiled, seats_encoded=5, with_referee=False)
    for _ in itertools.islice(match.moments(random.Random(2)), 20):
        pass
    layout = game.rules.layout(5)
    views = [match.driver.view(seat) for seat in range(3)]
    for block, where in layout:
        if block.per_seat:
            rows = [view[where].reshape(5, block.size) for view in views]
            assert not any(row[3:].any() for row in rows), block.name
            if block.name != "reach":  # the unseen cards differ from seat to seat
                for seat in range(3):
                    assert rows[seat][:3].tolist() == np.roll(rows[0][:3], -seat, axis=0).tolist(), block.name
