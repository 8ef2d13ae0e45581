"""The laws of every game, by the rules themselves and through both environments, over random options."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest
from env_laws import (
    a_batch_plays_all_or_nothing,
    a_copy_goes_on_alike,
    chance_is_not_moved_by_choices,
    illegal_actions_are_refused,
    play_batch,
    play_on,
    play_table_env,
    record_of_actions,
    rewards_add_up,
    steps_by_batch,
    steps_by_rules,
    the_match_is_the_same,
    the_referee_agrees,
    the_same_seed_gives_the_same_match,
)
from games import ENGINES, EVERY_TABLE, engine_of, player_counts, some_options, times
from laws import LAWS, Compiled, Match, Plain, check_match, views_lie_in_their_space
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper

from mitch_env import GAMES, Batch, TableEnv

every_table = pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
every_game = pytest.mark.parametrize("name", GAMES)


def mixed_options(name: str, n: int, seed: int = 0) -> list[Any]:
    """``n`` random options with every number of players."""
    game, rng = GAMES[name], random.Random(seed)
    counts = list(player_counts(game))
    return [engine_of(game).random_options(game, rng, counts[i % len(counts)]) for i in range(n)]


def short_options(name: str, players: int) -> Any:
    return GAMES[name].options(engine_of(GAMES[name]).short, players=players)


@every_game
def test_every_game_has_an_entry_for_the_laws(name: str) -> None:
    assert GAMES[name].rules.name in ENGINES, "add its engine to ENGINES in tests/games.py"


# --- The rules against the referee.


@every_table
def test_laws_hold_by_the_compiled_rules(name: str, players: int) -> None:
    for seed, options in enumerate(some_options(GAMES[name], players, times(8), 1)):
        check_match(Match(GAMES[name], options, seed, Compiled), LAWS, seed)


@every_table
def test_laws_hold_by_the_plain_rules(name: str, players: int) -> None:
    laws = [law for law in LAWS if law is not views_lie_in_their_space]  # test_parity.py compares what is seen
    game = GAMES[name]
    for seed, options in enumerate([short_options(name, players), mixed_options(name, players)[-1]]):
        check_match(Match(game, options, seed, Plain), laws, seed)


# --- The environments against the referee.


@every_table
def test_a_table_env_plays_as_the_referee(name: str, players: int) -> None:
    for seed, options in enumerate(some_options(GAMES[name], players, times(6), 2)):
        env = TableEnv(GAMES[name], options)
        decisions = list(play_table_env(env, seed, random.Random(seed)))
        the_referee_agrees(GAMES[name], options, env.record(), decisions)


@every_game
def test_a_batch_plays_as_the_referee(name: str) -> None:
    options = mixed_options(name, times(40))
    seeds = [7 * row for row in range(len(options))]
    finished = 0
    batch = Batch(name, options=options, seed=seeds)
    for row, actions, decisions in play_batch(batch, random.Random(4)):
        record = record_of_actions(GAMES[name], options[row], seeds[row], actions, seats=batch.seats)
        the_referee_agrees(GAMES[name], options[row], record, decisions)
        finished += 1
    assert finished == len(options)


@every_table
def test_illegal_actions_are_refused_in_words_and_change_nothing(name: str, players: int) -> None:
    options = list(some_options(GAMES[name], players, 2, 3))[-1]
    env = TableEnv(GAMES[name], options)
    env.reset(seed=players)
    illegal_actions_are_refused(env, random.Random(players))


@every_game
def test_a_batch_refuses_an_illegal_action_before_it_plays_any(name: str) -> None:
    batch = Batch(name, options=mixed_options(name, 9, seed=1), seed=1)
    rng = random.Random(1)
    for _ in range(60):
        a_batch_plays_all_or_nothing(batch, rng)


# --- The same match everywhere.


@every_table
def test_the_same_seed_gives_the_same_match_by_table_batch_and_rules(name: str, players: int) -> None:
    for seed, options in enumerate(some_options(GAMES[name], players, times(5), 5)):
        the_same_seed_gives_the_same_match(GAMES[name], options, seed, 150, [Compiled])
    the_same_seed_gives_the_same_match(GAMES[name], options, 1 << 63, 25, [Plain])


@every_game
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("some_rows", [False, True])
def test_a_match_in_a_batch_does_not_depend_on_its_row_neighbours_or_threads(name: str, threads: int, some_rows: bool) -> None:
    """Seven tables with mixed options and padded to the most seats, all at once or any subset of rows at a time."""
    game, options, seeds = GAMES[name], mixed_options(name, 7, seed=6), [5, 5, 6, 7, 8, 9, (1 << 64) - 1]
    most = game.rules.max_seats
    batch = Batch(name, options=options, seed=seeds, threads=threads, seats_encoded=most, reward="relative")
    steps = steps_by_batch(batch, 80, random.Random(threads) if some_rows else None)
    for row, (one, seed) in enumerate(zip(options, seeds, strict=True)):
        n = len(steps[row])
        expected = list(steps_by_rules(game, one, seed, n, seats_encoded=most, reward="relative"))
        the_match_is_the_same(test_a_match_in_a_batch_does_not_depend_on_its_row_neighbours_or_threads, steps[row], expected)


@every_table
def test_a_wider_encoding_shows_the_same_and_pads_with_zeros(name: str, players: int) -> None:
    """Seats beyond the players, per-seat block by block."""
    game = GAMES[name]
    layout, wide = game.rules.layout(players), game.rules.layout(game.rules.max_seats)
    for seed, options in enumerate(some_options(game, players, 3, 8)):
        narrow_steps = steps_by_rules(game, options, seed, 40)
        wide_steps = steps_by_rules(game, options, seed, 40, seats_encoded=game.rules.max_seats)
        for narrow_step, wide_step in zip(narrow_steps, wide_steps, strict=True):
            narrow_view, wide_view = np.frombuffer(narrow_step.observation, "f4"), np.frombuffer(wide_step.observation, "f4")
            for block, where in layout:
                padded = wide_view[wide.slices[block.name]]
                entries = narrow_view[where]
                assert padded[: len(entries)].tolist() == entries.tolist(), block.name
                if block.per_seat:
                    assert not padded[len(entries) :].any(), block.name


@every_game
@pytest.mark.parametrize("some_rows", [False, True])
def test_a_batch_in_canonical_names_plays_the_same_match(name: str, some_rows: bool) -> None:
    """Seats, rewards and tables are the same; masks and random actions are those of the plain batch, renamed."""
    game, options, seeds = GAMES[name], mixed_options(name, 7, seed=13), list(range(7))
    plain, canonical = (Batch(name, options=options, seed=seeds, threads=2, canonical=one) for one in (False, True))
    rng = random.Random(1)
    for _ in range(60):
        rows = rng.sample(range(7), rng.randint(1, 7)) if some_rows else None
        codes = [game.rules.canonical(table, int(table.actor)) for table in plain.tables]
        for row, code in enumerate(codes):
            renamed = [game.rules.rename_action(code, action) for action in range(plain.n_actions)]
            assert sorted(renamed) == list(range(plain.n_actions))
            assert canonical.mask[row][renamed].tolist() == plain.mask[row].tolist()
            back = game.rules.inverse(code)
            assert [game.rules.rename_action(back, action) for action in renamed] == list(range(plain.n_actions))
        actions, renamed_actions = plain.random_actions(rows).tolist(), canonical.random_actions(rows).tolist()
        where = range(7) if rows is None else rows
        assert renamed_actions == [game.rules.rename_action(codes[i], one) for i, one in zip(where, actions, strict=True)]
        plain.step(actions, rows)
        canonical.step(renamed_actions, rows)
        for buffer in ("tables", "actor", "reward", "scored", "terminated", "truncated"):
            assert getattr(plain, buffer).tobytes() == getattr(canonical, buffer).tobytes(), buffer


@every_game
def test_nothing_of_an_earlier_match_stays_in_the_table(name: str) -> None:
    """The bytes of a table are those of a table on which the match is the first one."""
    env, fresh = TableEnv(GAMES[name]), TableEnv(GAMES[name])
    for seed in range(20):
        env.reset(seed=seed)
        fresh.reset(seed=seed)
        assert env.table.tobytes() == fresh.table.tobytes()
        for _ in play_on(env, random.Random(seed)):
            pass
        fresh = TableEnv(GAMES[name])


@every_table
def test_later_matches_follow_from_the_first_seed_whatever_was_played(name: str, players: int) -> None:
    chance_is_not_moved_by_choices(GAMES[name], short_options(name, players), players, 4)


@every_game
def test_without_any_seed_matches_differ(name: str) -> None:
    stocks = []
    for _ in range(3):
        env = TableEnv(GAMES[name])
        env.reset()
        stocks.append(str(env.record()["deals"]))
    assert len(set(stocks)) == 3
    assert len({table.tobytes() for table in Batch(name, 3).tables}) == 3


# --- Rewards.


@every_table
def test_rewards_of_every_kind_add_up(name: str, players: int) -> None:
    for seed, options in enumerate(some_options(GAMES[name], players, times(6), 9)):
        rewards_add_up(GAMES[name], options, seed)


# --- Copies in mid-match.


def restored(env: Any) -> Any:
    twin = TableEnv(env.game, env.options)
    twin.restore(env.snapshot())
    return twin


COPIES = {
    "clone": lambda env: env.clone(),
    "deepcopy": copy.deepcopy,
    "copy by pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "snapshot": restored,
}
WRAPPED = {
    "order": OrderEnforcingWrapper,
    "bounds": AssertOutOfBoundsWrapper,
    "both": lambda env: OrderEnforcingWrapper(AssertOutOfBoundsWrapper(env)),
}


@every_table
@pytest.mark.parametrize("how", COPIES)
def test_a_copy_goes_on_alike(name: str, players: int, how: str) -> None:
    env = TableEnv(GAMES[name], list(some_options(GAMES[name], players, 2, 10))[-1])
    env.reset(seed=players)
    for _ in range(5):
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    a_copy_goes_on_alike(env, COPIES[how], 3)


@every_game
@pytest.mark.parametrize("wrapper", WRAPPED)
@pytest.mark.parametrize("how", ["deepcopy", "copy by pickle"])
def test_a_copy_goes_on_alike_through_wrappers(name: str, wrapper: str, how: str) -> None:
    env = WRAPPED[wrapper](TableEnv(GAMES[name]))
    env.reset(seed=2)
    for _ in range(9):
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[-1]))
    a_copy_goes_on_alike(env, COPIES[how], 5)


@every_game
def test_going_back_to_a_snapshot_plays_the_same_again(name: str) -> None:
    env = TableEnv(GAMES[name])
    env.reset(seed=3)
    for _ in range(7):
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    snapshot = env.snapshot()

    def going_back(env: TableEnv) -> TableEnv:
        twin = env.clone()
        for _ in range(4):
            twin.step(int(np.flatnonzero(twin.last()[0]["action_mask"])[-1]))
        twin.restore(snapshot)
        return twin

    a_copy_goes_on_alike(env, going_back, 6)


@every_game
@pytest.mark.parametrize("how", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))])
def test_a_copy_of_a_batch_goes_on_alike(name: str, how: Any) -> None:
    batch = Batch(name, options=mixed_options(name, 6), seed=4, threads=2)
    steps_by_batch(batch, 11)
    twin = how(batch)
    for one, other in zip(steps_by_batch(batch, 60), steps_by_batch(twin, 60), strict=True):
        the_match_is_the_same(test_a_copy_of_a_batch_goes_on_alike, one, other)


@every_game
def test_rows_of_a_batch_go_back_to_their_snapshot(name: str) -> None:
    batch = Batch(name, options=mixed_options(name, 6), seed=4)
    steps_by_batch(batch, 9)
    rows = [4, 1, 3]
    snapshot = batch.snapshot(rows)
    shown = [a[rows].tobytes() for a in (batch.observation, batch.mask, batch.actor)]
    steps_by_batch(batch, 9)
    others = batch.tables[[0, 2, 5]].tobytes()
    batch.restore(snapshot, rows)
    assert batch.tables[rows].tobytes() == snapshot.tobytes()
    assert [a[rows].tobytes() for a in (batch.observation, batch.mask, batch.actor)] == shown
    assert batch.tables[[0, 2, 5]].tobytes() == others


@every_table
def test_a_clone_with_a_key_stands_where_the_table_stands_but_deals_otherwise(name: str, players: int) -> None:
    env = TableEnv(GAMES[name], players=players)
    env.reset(seed=1)
    for _ in range(3):
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    twins = [env.clone(key=key) for key in (1, 1, 2)]
    for agent in env.possible_agents:
        for twin in twins:
            assert twin.observe(agent)["observation"].tobytes() == env.observe(agent)["observation"].tobytes()
            assert twin.observe(agent)["action_mask"].tobytes() == env.observe(agent)["action_mask"].tobytes()
    deals = []
    for one in [env, *twins]:
        one.reset()
        deals.append(str(one.record()["deals"][0]["hands"]))
    assert deals[1] == deals[2] and len(set(deals)) == 3


# --- What is shown.


@every_table
def test_what_is_seen_is_fresh_and_lies_in_its_space(name: str, players: int) -> None:
    """Also who is not to act, and after the match; infos are empty."""
    env = TableEnv(GAMES[name], list(some_options(GAMES[name], players, 2, 12))[-1], seats_encoded=GAMES[name].rules.max_seats)
    env.reset(seed=players)
    rng = random.Random(players)
    is_live = True
    while is_live:
        is_live = env.table.actor >= 0
        for agent in env.possible_agents:
            seen = env.observe(agent)
            assert env.observation_space(agent).contains(seen)
            assert seen["action_mask"].any() == (is_live and agent == env.agent_selection)
            for part, again in env.observe(agent).items():
                assert not np.shares_memory(seen[part], again)
        assert env.state_space.contains(env.state()) and not np.shares_memory(env.state(), env.state())
        assert env.infos == {agent: {} for agent in env.possible_agents} and env.last()[4] == {}
        if is_live:
            env.step(rng.choice(np.flatnonzero(env.last()[0]["action_mask"]).tolist()))


@every_game
def test_a_batch_writes_every_entry_of_its_buffers(name: str) -> None:
    """Of the rows that are played, and nothing in the others."""
    batch = Batch(name, options=mixed_options(name, 6), seed=9)
    rng = random.Random(9)
    for _ in range(60):
        rows = rng.sample(range(6), 3)
        others = [row for row in range(6) if row not in rows]
        actions = batch.random_actions(rows)
        batch.observation.fill(np.nan)
        batch.reward.fill(np.nan)
        batch.mask.view(np.uint8).fill(7)
        batch.step(actions, rows)
        assert np.isnan(batch.observation[others]).all() and np.isnan(batch.reward[others]).all()
        assert (batch.mask.view(np.uint8)[others] == 7).all()
        assert ((batch.observation[rows] >= 0) & (batch.observation[rows] <= 1)).all() and np.isfinite(batch.reward[rows]).all()
        assert (batch.mask.view(np.uint8)[rows] <= 1).all() and batch.mask[rows].any(axis=1).all()
