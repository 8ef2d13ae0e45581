"""What a seat cannot see never reaches it: worlds that differ in hidden cards only look the same, to the deal's end."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from games import EVERY_TABLE, engine_of, some_options, times
from laws import Compiled, Match, Plain, hold

from mitch_env import GAMES, Batch, Game, TableEnv
from mitch_env.game import NOBODY, PHASE_DEAL, PHASE_OVER

#: The fields of every table that everybody sees.
PUBLIC = ("actor", "phase", "turn", "dealer", "reward", "points", "totals", "n_events", "events", "truncated", "deals_done")
#: Pairs of worlds for every game and number of players.
N_PAIRS = 1000


class Pair:
    """Two worlds of one table that differ only in what ``seat`` cannot see.

    Args:
        game: Their game.
        tables: The one world (one row); it is copied.
        seat: The observer.
        rng: What the other world and all moves of other seats follow from.
        driver: What plays both.
    """

    def __init__(self, game: Game, tables: np.recarray, seat: int, rng: random.Random, driver: type[Plain] = Compiled) -> None:
        self.game, self.engine, self.seat, self.rng = game, engine_of(game), seat, rng
        self.one, self.other = driver(game, tables.copy()), driver(game, tables.copy())
        for world in (self.one, self.other):
            world.table.stop_at_deal = 1
        self.engine.swap_hidden(self.other.table, seat, rng, rng.choice([1, 1, 2, 4, 100]))
        self.actions: list[int] = []

    @property
    def differs(self) -> bool:
        """Whether hidden cards could be exchanged at all."""
        hidden = [[fact for name, fact in self.engine.facts(world.table).items()] for world in (self.one, self.other)]
        return hidden[0] != hidden[1]

    def is_live(self) -> bool:
        return self.one.fields["phase"][0] not in (PHASE_DEAL, PHASE_OVER)

    def check(self, with_words: bool = False) -> None:
        """All that ``seat`` gets is the same in both worlds."""
        law, worlds = a_hidden_card_is_never_seen, (self.one, self.other)

        def same(what: str, found: list[Any]) -> None:
            if found[0] != found[1]:
                hold(False, law, f"{what}: {found[0]!r:.200} and {found[1]!r:.200} after {self.actions} at {self!r}")

        one, other = (world.fields for world in worlds)
        for field in PUBLIC:
            if one[field].tobytes() != other[field].tobytes():
                same(field, [one[field].tolist(), other[field].tolist()])
        views = [world.view(self.seat) for world in worlds]
        if views[0].tobytes() != views[1].tobytes():
            differences = np.flatnonzero(views[0].view(np.uint32) != views[1].view(np.uint32)).tolist()
            same(f"observation at {differences}", [view[differences].tolist() for view in views])
        if one["actor"][0] == self.seat:
            same("mask", [world.mask().tobytes() for world in worlds])
        if with_words:
            same("names of suits", [self.game.rules.canonical(world.table, self.seat) for world in worlds])
            same("description", [self.game.rules.describe(world.table, self.seat) for world in worlds])

    def __repr__(self) -> str:
        return f"a table of {self.game.name} seen by seat{self.seat}: {self.game.rules.describe(self.one.table, None)}"

    def choose(self) -> int:
        """A move for both worlds: of the observer by what it sees, of another any that is legal in both; NOBODY if none is."""
        masks = [world.mask() for world in (self.one, self.other)]
        if self.one.fields["actor"][0] == self.seat:
            legal = np.flatnonzero(masks[0]).tolist()
            seen = hashlib.blake2b(self.one.view(self.seat).tobytes() + masks[0].tobytes(), digest_size=8)
            return int(legal[int.from_bytes(seen.digest(), "big") % len(legal)])
        common = np.flatnonzero(masks[0] & masks[1]).tolist()
        return self.rng.choice(common) if common else NOBODY

    def skip_what_nobody_notices(self) -> None:
        """Where only one world asks another seat, and it can answer as if it was not asked, it does."""
        for _ in range(64):
            one, other = self.one.fields, self.other.fields
            if not self.is_live() or (one["actor"] == other["actor"] and one["turn"] == other["turn"]):
                return
            quiet = {world: self.engine.quiet(world.table) for world in (self.one, self.other)}
            answers = [world for world in quiet if quiet[world] != NOBODY and world.table.actor != self.seat]
            if not answers:
                return
            for world in answers:
                world.play(quiet[world])

    def play(self, with_words: bool = False) -> int:
        """Plays both worlds to the deal's end, or until the rules or chance show a difference; returns the decisions played."""
        n = 0
        self.check(with_words)
        while self.is_live():
            action = self.choose()
            if action == NOBODY:
                break
            self.actions.append(action)
            for world in (self.one, self.other):
                world.play(action)
            n += 1
            self.skip_what_nobody_notices()
            shown = [self.engine.shown(world.fields[0], self.seat) for world in (self.one, self.other)]
            if shown[0] != shown[1]:
                break  # a card that was hidden came to the observer or was turned up
            self.check()
        if with_words and n and shown[0] == shown[1]:
            self.check(with_words)
        return n


def a_hidden_card_is_never_seen(pair: Pair) -> int:
    """Observation, mask, rewards and events of a seat are the same in both worlds of a pair, at every step."""
    return pair.play(with_words=pair.rng.random() < 0.04)


def positions(game: Game, players: int, n: int, seed: int) -> Iterator[np.recarray]:
    """``n`` tables (one row each) in the middle of random matches over the tradition's own and random options."""
    rng = random.Random(seed)
    options = list(some_options(game, players, max(2, n // 12), seed))
    options = [options[0] if i % 3 == 0 else options[i % len(options)] for i in range(max(2, n // 4))]
    batch = Batch(game, options=options, seed=seed)
    found = 0
    while found < n:
        for _ in range(rng.randint(1, 9)):
            batch.step(batch.random_actions())
        rows = rng.sample(range(len(batch)), min(n - found, max(1, len(batch) // 4)))
        for row in rows:
            yield batch.snapshot([row])
        found += len(rows)


@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_worlds_that_differ_in_hidden_cards_look_the_same_to_the_deals_end(name: str, players: int) -> None:
    game, rng = GAMES[name], random.Random(players)
    n_pairs = n_decisions = n_to_the_end = 0
    for tables in positions(game, players, times(N_PAIRS * 5 // 4), players):
        pair = Pair(game, tables, rng.randrange(players), rng)
        if pair.differs:
            n_decisions += a_hidden_card_is_never_seen(pair)
            n_pairs += 1
            n_to_the_end += not pair.is_live()
    assert n_pairs >= times(N_PAIRS)
    assert n_decisions > 2 * n_pairs and n_to_the_end > n_pairs // 50, "the pairs end too early to show anything"


# --- redeal_hidden.


def redealing_is_not_seen(one: Plain, game: Game, seat: int, key: int) -> None:
    """``redeal_hidden`` changes neither what the seat sees, nor its moves, nor how the table is described to it."""
    law = redealing_is_not_seen
    world = type(one)(game, one.tables.copy())
    world.redeal(seat, key)
    hold(world.view(seat).tobytes() == one.view(seat).tobytes(), law, f"the observation of seat{seat} with key {key}")
    words = [game.rules.describe(each.table, seat) for each in (one, world)]
    hold(words[0] == words[1], law, f"the description for seat{seat} with key {key}: {words[0]} and {words[1]}")
    if one.table.actor == seat:
        hold(world.mask().tolist() == one.mask().tolist(), law, f"the mask of seat{seat} with key {key}")
    for field in PUBLIC:
        hold(one.fields[field].tobytes() == world.fields[field].tobytes(), law, f"{field} with key {key}")


def a_redealt_table_is_a_whole_one(one: Plain, game: Game, seat: int, key: int) -> None:
    """After ``redeal_hidden`` every card still lies in exactly one place, and hands and stock keep their sizes."""
    law, engine = a_redealt_table_is_a_whole_one, engine_of(game)
    world = type(one)(game, one.tables.copy())
    world.redeal(seat, key)
    wrong = engine.misplaced(world.table)
    hold(not wrong, law, "; ".join(wrong))
    before, after = engine.facts(one.table), engine.facts(world.table)
    hold([len(hand) for hand in before["hands"]] == [len(hand) for hand in after["hands"]], law, "hand sizes")
    hold(len(before["stock"]) == len(after["stock"]), law, "the size of the stock")


def a_redealt_table_holds_no_trace(one: Plain, game: Game, seat: int, rng: random.Random) -> None:
    """Worlds that differ in hidden cards, seed and generator are redealt to the same bytes by the same key."""
    law, engine = a_redealt_table_holds_no_trace, engine_of(game)
    tables = one.tables.copy()
    engine.swap_hidden(tables[0], seat, rng, 100)
    tables[0].rng = np.uint64(rng.getrandbits(64))
    other = type(one)(game, tables)
    key = rng.getrandbits(64)
    worlds = [type(one)(game, each.tables.copy()) for each in (one, other)]
    for world in worlds:
        world.redeal(seat, key)
    one_table, other_table = (world.tables[0] for world in worlds)
    differ = [name for name in tables.dtype.names if one_table[name].tobytes() != other_table[name].tobytes()]
    hold(not differ, law, f"{differ} of the redealt table tell what was hidden from seat{seat}")
    hold(one_table.rng not in (one.table.rng, other.table.rng), law, "the generator is the real one")
    hold(one_table.seed not in (one.table.seed, other.table.seed), law, "the seed is the real one")


@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_redealing_is_not_seen_and_leaves_no_trace(name: str, players: int) -> None:
    game, rng = GAMES[name], random.Random(players)
    for tables in positions(game, players, times(150), 100 + players):
        seat, world = rng.randrange(players), Compiled(game, tables)
        redealing_is_not_seen(world, game, seat, rng.getrandbits(64))
        a_redealt_table_is_a_whole_one(world, game, seat, rng.getrandbits(64))
        facts = engine_of(game).facts(world.table)
        if facts["stock"] or any(hand for other, hand in enumerate(facts["hands"]) if other != seat):
            a_redealt_table_holds_no_trace(world, game, seat, rng)


@pytest.mark.parametrize("name", GAMES)
def test_redealing_between_deals_is_not_seen(name: str) -> None:
    """Before the first deal, after each deal and at the end."""
    game, rng = GAMES[name], random.Random(1)
    for seed, options in enumerate(some_options(game, 3, times(12), 50)):
        match = Match(game, options, seed, Compiled, with_referee=False)
        match.driver.start()
        redealing_is_not_seen(match.driver, game, 0, seed)
        for _ in match.moments(random.Random(seed)):
            if not match.is_live:
                redealing_is_not_seen(match.driver, game, rng.randrange(3), seed)
                a_redealt_table_is_a_whole_one(match.driver, game, rng.randrange(3), seed)


@pytest.mark.parametrize("name", GAMES)
def test_different_keys_give_different_worlds_and_the_same_key_the_same(name: str) -> None:
    game = GAMES[name]
    env = TableEnv(game)
    env.reset(seed=4)
    worlds = [env.redeal_hidden(1, key).table for key in (*range(50), *range(50))]
    assert len({world.tobytes() for world in worlds}) == 50
    assert [world.tobytes() for world in worlds[:50]] == [world.tobytes() for world in worlds[50:]]
    assert len({int(world[0].rng) for world in worlds}) == len({int(world[0].seed) for world in worlds}) == 50
    hands = Counter(str(engine_of(game).facts(world[0])["hands"][0]) for world in worlds[:50])
    assert len(hands) > 25


@pytest.mark.parametrize("name", GAMES)
def test_a_search_goes_on_from_a_redealt_world_in_both_environments(name: str) -> None:
    """``TableEnv.restore`` and ``Batch.restore`` take worlds, and their observers see what they saw."""
    game = GAMES[name]
    batch = Batch(game, 5, seed=3)
    for _ in range(6):
        batch.step(batch.random_actions())
    rows = [4, 0, 2]
    for row in rows:
        seen = batch.observation[row].tobytes(), batch.mask[row].tobytes()
        world = batch.redeal_hidden(int(batch.actor[row]), 9, [row])
        batch.restore(world, [row])
        assert (batch.observation[row].tobytes(), batch.mask[row].tobytes()) == seen
    seats = batch.actor.tolist()
    worlds = batch.worlds(None, 4, key=5)
    assert worlds.shape == (5, 4) and len({world.tobytes() for world in worlds.ravel()}) == 20
    for row, seat in enumerate(seats):
        for world in worlds[row]:
            twin = Compiled(game, np.array([world]).view(np.recarray))
            assert twin.view(seat).tobytes() == batch.observation[row].tobytes()
    env = TableEnv(game)
    env.reset(seed=3)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    before = env.last()[0]
    env.restore(env.redeal_hidden(int(env.table.actor), key=1))
    after = env.last()[0]
    assert before["observation"].tobytes() == after["observation"].tobytes()
    assert before["action_mask"].tobytes() == after["action_mask"].tobytes()
    assert env.infos == {agent: {} for agent in env.possible_agents}
