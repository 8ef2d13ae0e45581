"""The batch: its buffers, its rows, its seeds, and what it says of wrong arguments."""

from __future__ import annotations

import copy
import math
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from batches import BUFFERS, contents, mixed, play
from games import times
from scipy.stats import chi2

from mitch_env import GAMES, Batch, IllegalActionError, OptionsError, Snapshot, make
from mitch_env.chance import match_seeds
from mitch_env.jit import config

#: Matches of which many ask nobody anything.
SILENT = {"players": 2, "deck": {"revenge": 100, "brawl": 6}, "hand_size": 1, "max_turns": 20, "rounds": 1}

# --- Shapes, dtypes, and buffers that stay where they are.


@pytest.mark.parametrize("seats", [None, 5])
@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("name", GAMES)
def test_buffers_have_the_documented_shapes_and_types(name: str, players: int, seats: int | None) -> None:
    batch = Batch(name, 3, players=players, seats_encoded=seats, seed=1)
    env = make(name, players=players, seats_encoded=seats)
    assert len(batch) == 3
    assert batch.seats == (seats or players)
    assert batch.n_actions == env.action_space("player_0").n
    expected: dict[str, tuple[Any, tuple[int, ...]]] = {
        "actor": (np.int8, (3,)),
        "observation": (np.float32, (3, env.observation_layout().size)),
        "mask": (np.bool_, (3, batch.n_actions)),
        "reward": (np.float32, (3, batch.seats)),
        "scored": (np.bool_, (3,)),
        "terminated": (np.bool_, (3,)),
        "truncated": (np.bool_, (3,)),
    }
    for _ in range(2):
        for buffer, (dtype, shape) in expected.items():
            array = getattr(batch, buffer)
            assert (array.dtype, array.shape) == (dtype, shape), buffer
            assert array.flags.c_contiguous, buffer
            assert array.flags.writeable, buffer
        actions = batch.random_actions()
        assert (actions.dtype, actions.shape) == (np.int64, (3,))
        batch.step(actions)
    assert batch.observation_layout() == env.observation_layout()
    assert isinstance(batch.tables, np.recarray)


@pytest.mark.parametrize("canonical", [False, True])
def test_no_call_moves_a_buffer(canonical: bool) -> None:
    batch = Batch("mitch_jp", 8, seed=1, canonical=canonical)
    held = {name: (id(getattr(batch, name)), getattr(batch, name).ctypes.data) for name in (*BUFFERS, "tables")}
    held["actions"] = (id(batch.random_actions()), batch.random_actions().ctypes.data)
    play(batch, 40)
    batch.step(batch.random_actions([1, 2]), rows=[1, 2])
    batch.reset()
    batch.reset(rows=[3], seed=7)
    batch.restore(batch.snapshot())
    now = {name: (id(getattr(batch, name)), getattr(batch, name).ctypes.data) for name in (*BUFFERS, "tables")}
    now["actions"] = (id(batch.random_actions()), batch.random_actions().ctypes.data)
    assert now == held


@pytest.mark.skipif(config.DISABLE_JIT, reason="plain Python makes NumPy scalars at every turn")
@pytest.mark.parametrize("canonical", [False, True])
def test_stepping_allocates_no_arrays(canonical: bool) -> None:
    """Not even one byte for each table."""
    n = 10_000
    batch = Batch("mitch_jp", n, seed=1, canonical=canonical)
    play(batch, 2)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        batch.step(batch.random_actions())
        batch.step(batch.random_actions())
        _, peak = tracemalloc.get_traced_memory()
        kept = np.zeros(n, np.int8)
        assert tracemalloc.get_traced_memory()[0] - before >= kept.nbytes  # such an array would have been noticed
    finally:
        tracemalloc.stop()
    assert peak - before < n


def test_torch_shares_the_memory() -> None:
    torch = pytest.importorskip("torch")
    batch = Batch("mitch_ru", 16, seed=1)
    tensors = {name: torch.from_numpy(getattr(batch, name)) for name in BUFFERS}
    play(batch, 30)
    for name, tensor in tensors.items():
        assert tensor.data_ptr() == getattr(batch, name).ctypes.data
        assert np.array_equal(tensor.numpy(), getattr(batch, name)), name
    assert tensors["mask"].dtype == torch.bool
    batch.step(tensors["mask"].to(torch.int8).argmax(1))  # a tensor of integers is an action vector


# --- Which table is which.


@pytest.mark.parametrize("name", GAMES)
def test_tables_may_differ_in_players_and_house_rules(name: str) -> None:
    """Each plays exactly as an environment of its own that is encoded for as many seats."""
    options = mixed(name)
    batch = Batch(name, options=options, seed=range(len(options)), reward="relative")
    assert batch.seats == 5
    envs = [make(name, one, reward="relative", seats_encoded=5) for one in options]
    for seed, env in enumerate(envs):
        env.reset(seed=seed)
    for _ in range(times(100)):
        for row, env in enumerate(envs):
            agent = env.agent_selection
            seen = env.observe(agent)
            assert agent == f"player_{batch.actor[row]}"
            assert np.array_equal(batch.observation[row], seen["observation"])
            assert np.array_equal(batch.mask[row], seen["action_mask"])
        actions = batch.random_actions().copy()
        batch.step(actions)
        for row, env in enumerate(envs):
            env.step(int(actions[row]))
            is_over = env.terminations[env.agent_selection] or env.truncations[env.agent_selection]
            assert (batch.terminated[row], batch.truncated[row]) == (is_over and not env.table.truncated, env.table.truncated)
            assert batch.reward[row, : env.options.players].tolist() == list(env.rewards.values())
            assert not batch.reward[row, env.options.players :].any()
            if is_over:
                env.reset()  # goes on with the match that the batch deals by itself


@pytest.mark.parametrize("reward", ["points", "relative", "outcome"])
def test_the_step_that_ends_a_match_pays_it_and_shows_the_next(reward: str) -> None:
    batch = Batch("mitch_jp", 4, players=3, deals=1, seed=[5, 6, 7, 8], reward=reward)
    env = make("mitch_jp", players=3, deals=1, reward=reward)
    n_ended = 0
    while n_ended < 10:
        before = batch.snapshot()
        actions = batch.random_actions().copy()
        batch.step(actions)
        for row in np.flatnonzero(batch.terminated):
            n_ended += 1
            env.restore(Snapshot(before[[row]], None))  # its last decision again
            env.step(int(actions[row]))
            assert batch.reward[row].tolist() == list(env.rewards.values())
            assert all(env.terminations.values())
            env.reset()  # the next one
            assert batch.tables[row].seed == env.table.seed != before[row].seed
            assert batch.actor[row] == 0
            assert np.array_equal(batch.observation[row], env.observe("player_0")["observation"])
            assert np.array_equal(batch.mask[row], env.observe("player_0")["action_mask"])
        assert batch.scored.tolist() == batch.terminated.tolist()  # one deal a match
        assert not batch.reward[~batch.terminated].any()
        assert not batch.truncated.any()


def test_scored_marks_the_end_of_every_deal() -> None:
    batch = Batch("mitch_jp", 8, players=2, seed=3)
    n_scored, n_ended = np.zeros(8, int), np.zeros(8, int)
    for _ in range(400):
        before = batch.tables.deals_done.copy()
        batch.step(batch.random_actions())
        goes_on = ~batch.terminated
        assert np.array_equal(batch.scored[goes_on], batch.tables.deals_done[goes_on] != before[goes_on])
        assert batch.scored[batch.terminated].all()
        assert not batch.reward[~batch.scored].any()
        n_scored += batch.scored
        n_ended += batch.terminated
    assert n_ended.min() > 1
    assert set(n_scored - 2 * n_ended) == {0, 1}  # two deals a match


def test_seeds_are_spread_from_one_or_given_one_by_one() -> None:
    spread = match_seeds(3, 6)
    assert contents(Batch("mitch_jp", 6, seed=3)) == contents(Batch("mitch_jp", 6, seed=spread))
    assert contents(Batch("mitch_jp", 6, seed=3)) == contents(Batch("mitch_jp", 6, seed=spread.tolist()))
    assert contents(Batch("mitch_jp", 6, seed=3)) != contents(Batch("mitch_jp", 6, seed=4))
    assert Batch("mitch_jp", 2, seed=(0, (1 << 64) - 1)).tables.seed.tolist() == [0, (1 << 64) - 1]
    for fresh in (Batch("mitch_jp", 2), Batch("mitch_jp", 2)):
        assert len({*fresh.tables.seed.tolist(), 0}) == 3


def test_reset_gives_new_matches_to_its_rows_alone() -> None:
    batch = Batch("mitch_jp", 5, players=2, deals=1, seed=1)
    while not batch.terminated[[1, 3]].any():
        play(batch, 1)
    before = contents(batch)
    batch.reset(rows=[], seed=4)
    assert contents(batch) == before
    others = [0, 2, 4]
    kept = {name: getattr(batch, name)[others].tobytes() for name in (*BUFFERS, "tables")}
    batch.reset(rows=[3, 1], seed=[33, 11])
    assert {name: getattr(batch, name)[others].tobytes() for name in (*BUFFERS, "tables")} == kept
    fresh = Batch("mitch_jp", 2, players=2, deals=1, seed=[33, 11])
    for _ in range(60):
        for name in BUFFERS:
            assert getattr(batch, name)[[3, 1]].tobytes() == getattr(fresh, name).tobytes(), name
        actions = fresh.random_actions()
        assert np.array_equal(batch.random_actions([3, 1]), actions)
        batch.step(actions, [3, 1])
        fresh.step(actions)
    assert {name: getattr(batch, name)[others].tobytes() for name in (*BUFFERS, "tables")} == kept
    batch.reset(seed=9)
    assert batch.observation.tobytes() == Batch("mitch_jp", 5, players=2, deals=1, seed=9).observation.tobytes()
    batch.reset()
    assert len({*batch.tables.seed.tolist(), *match_seeds(9, 5).tolist()}) == 10


def test_a_match_that_asks_nobody_anything_is_the_one_that_was_asked_for_and_can_be_skipped() -> None:
    """What is skipped to is the next match of the row that asks somebody, as after a step."""
    seeds = list(range(200))
    batch = Batch("mitchell", 200, options=SILENT, seed=seeds)
    silent = np.flatnonzero(batch.actor < 0)
    assert 20 < len(silent) < 180 and batch.tables.seed.tolist() == seeds
    expected = []
    for row in silent.tolist():
        one = Batch("mitchell", 1, options=SILENT, seed=[row])
        while one.actor[0] < 0:
            one.reset()
        expected.append(int(one.tables.seed[0]))
    others = np.flatnonzero(batch.actor >= 0)
    before = batch.snapshot(others).tobytes()
    batch.skip_silent(silent[:5])
    assert np.flatnonzero(batch.actor < 0).tolist() == silent[5:].tolist()
    batch.skip_silent()
    assert batch.actor.min() >= 0 and batch.mask.any(1).all()
    assert batch.tables.seed[silent].tolist() == expected and batch.snapshot(others).tobytes() == before
    play(batch, 30)


def test_a_step_at_a_match_that_asks_nobody_anything_names_the_way_on() -> None:
    batch = Batch("mitchell", 200, options=SILENT, seed=1)
    row = int(np.flatnonzero(batch.actor < 0)[0])
    with pytest.raises(IllegalActionError, match=rf"table {row}: .*skip_silent\(rows=\[{row}\]\) goes on"):
        batch.step(np.zeros(1, np.int64), [row])
    batch.skip_silent(rows=[row])
    batch.step(batch.random_actions([row]), [row])


def test_options_that_never_ask_anybody_anything_are_an_error() -> None:
    batch = Batch("mitchell", 3, options={**SILENT, "deck": {"revenge": 100}}, seed=1)
    assert (batch.actor == -1).all()
    with pytest.raises(OptionsError, match="table 0: in 64 matches in a row nobody was asked anything"):
        batch.skip_silent()


@pytest.mark.parametrize("rows", [[2], [4, 0], np.array([1, 3], np.int8), range(5), (0,), np.arange(5)[::-2], []])
def test_a_step_at_some_rows_leaves_the_others_alone(rows: Any) -> None:
    batch = Batch("mitch_original", 5, players=2, seed=2)
    twin = copy.deepcopy(batch)
    others = [row for row in range(5) if row not in list(rows)]
    before = {name: getattr(batch, name)[others].tobytes() for name in (*BUFFERS, "tables")}
    actions = batch.random_actions(rows)
    batch.step(actions, rows)
    assert {name: getattr(batch, name)[others].tobytes() for name in (*BUFFERS, "tables")} == before
    everywhere = twin.random_actions().copy()
    everywhere[list(rows)] = actions
    twin.step(everywhere)
    for name in (*BUFFERS, "tables"):
        assert getattr(batch, name)[list(rows)].tobytes() == getattr(twin, name)[list(rows)].tobytes(), name


# --- Copies.


def test_a_snapshot_is_a_copy_and_restore_goes_back_to_it() -> None:
    batch = Batch("mitch_jp", 6, seed=1)
    play(batch, 5)
    kept = batch.snapshot()
    before = {name: getattr(batch, name).tobytes() for name in ("tables", "actor", "observation", "mask")}
    as_bytes = kept.tobytes()
    play(batch, 20)
    assert kept.tobytes() == as_bytes
    batch.restore(kept)
    assert {name: getattr(batch, name).tobytes() for name in before} == before
    play(batch, 1)
    assert kept.tobytes() == as_bytes  # nor does the batch play on in the snapshot
    batch.restore(kept)
    kept.seed = 0
    kept.hand = 0
    assert {name: getattr(batch, name).tobytes() for name in before} == before


def test_rows_can_be_put_elsewhere() -> None:
    """One table may stand in a snapshot many times: the start of a search."""
    batch = Batch("mitch_jp", 4, seed=1)
    play(batch, 3)
    kept = batch.snapshot([2, 2, 0])
    untouched = batch.observation[0].copy()
    batch.restore(kept, rows=[1, 2, 3])
    assert batch.tables[1].tobytes() == batch.tables[2].tobytes() == kept[0].tobytes()
    assert batch.tables[3].tobytes() == batch.tables[0].tobytes()
    assert np.array_equal(batch.observation[3], untouched)
    assert np.array_equal(batch.mask[1], batch.mask[2])


@pytest.mark.parametrize("name", GAMES)
def test_redealt_worlds_look_the_same_to_the_seat_and_differ_from_each_other(name: str) -> None:
    batch = Batch(name, 6, players=3, seed=1)
    play(batch, 4)
    before = contents(batch)
    worlds = batch.redeal_hidden(seat=1, key=7, rows=[3] * 20)
    assert contents(batch) == before
    assert worlds.dtype == batch.tables.dtype
    assert len({world.tobytes() for world in worlds}) == 20
    assert batch.redeal_hidden(1, 7, [3] * 20).tobytes() == worlds.tobytes()
    assert batch.redeal_hidden(1, 8, [3] * 20).tobytes() != worlds.tobytes()
    out = np.zeros((2, batch.observation.shape[1]), np.float32)
    batch.game.rules.observe(batch.tables[3], 1, out[0])
    for world in worlds:
        batch.game.rules.observe(world, 1, out[1])
        assert np.array_equal(*out)


def test_worlds_are_made_for_the_actor_of_each_row() -> None:
    batch = Batch("mitch_jp", 5, seed=1)
    batch.step(batch.random_actions([1, 3]), [1, 3])
    worlds = batch.worlds([0, 3, 1], n=4, key=2)
    assert worlds.shape == (3, 4)
    assert len({world.tobytes() for world in worlds.ravel()}) == 12
    out = np.zeros(batch.observation.shape[1], np.float32)
    for row, some in zip([0, 3, 1], worlds, strict=True):
        for world in some:
            batch.game.rules.observe(world, int(batch.actor[row]), out)
            assert np.array_equal(out, batch.observation[row])


def test_a_snapshot_does_not_change_what_a_batch_pays() -> None:
    batch = Batch("mitch_jp", 4, deals=1, seed=1, reward="outcome")
    try:
        batch.restore(Batch("mitch_jp", 4, deals=1, seed=2, reward="points").snapshot())
    except ValueError:
        return
    while not batch.terminated.any():
        play(batch, 1)
        assert np.abs(batch.reward).max() <= 1


@pytest.mark.parametrize("canonical", [False, True])
def test_what_is_seen_can_be_asked_for_in_either_names(canonical: bool) -> None:
    """``seen`` shows what a batch of those names shows, and ``own_names`` brings a choice back."""
    own, other = Batch("mitch_jp", 6, seed=1, canonical=canonical), Batch("mitch_jp", 6, seed=1, canonical=not canonical)
    rows = [4, 0, 2]
    for _ in range(60):
        for names, shown in ((canonical, own), (not canonical, other)):
            seen = own.seen(rows, canonical=names)
            assert np.array_equal(seen.observation, shown.observation[rows])
            assert np.array_equal(seen.mask, shown.mask[rows])
            assert not np.shares_memory(seen.observation, own.observation)
        chosen = other.random_actions(rows)
        own.step(own.own_names(own.seen(rows, canonical=not canonical), chosen, not canonical), rows)
        other.step(chosen, rows)
        assert own.tables.tobytes() == other.tables.tobytes()


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize(
    "wrong",
    [np.zeros((2, 1), int), np.zeros((1, 2), int), np.zeros(3, int), np.zeros(10**6, int), [0.5, 1.0], [True, False], 0, None],
)
def test_names_are_translated_of_one_integer_a_row_only(wrong: Any, canonical: bool) -> None:
    batch = Batch("mitch_jp", 2, seed=1)
    with pytest.raises(ValueError, match="actions must be 2 integers"):
        batch.own_names(batch.seen([0, 1], canonical), wrong, canonical)


def odd_rows() -> dict[str, np.ndarray]:
    """The rows 2 and 0 in ways in which arrays can lie in memory."""
    frozen = np.array([2, 0])
    frozen.flags.writeable = False
    bent = np.zeros(17, np.uint8)[1:].view(np.int64)
    bent[:] = 2, 0
    return {
        "read-only": frozen,
        "unaligned": bent,
        "strided": np.array([2, 9, 0, 9])[::2],
        "backwards": np.array([0, 2])[::-1],
        "swapped": np.array([2, 0], ">i8"),
        "narrow": np.array([2, 0], np.uint8),
        "list": [2, 0],  # type: ignore[dict-item]
    }


@pytest.mark.parametrize("observation", ["flat", "dict", "history", "tokens"])
@pytest.mark.parametrize("how", odd_rows())
def test_rows_and_actions_may_lie_in_memory_as_they_like(how: str, observation: str) -> None:
    batch, plain = (Batch("mitch_jp", 4, seed=1, observation=observation) for _ in range(2))
    rows = odd_rows()[how]
    for _ in range(5):
        chosen = plain.random_actions([2, 0])
        assert np.array_equal(batch.random_actions(rows), chosen)
        odd = np.asarray(rows).copy() if how in ("swapped", "narrow") else np.array(chosen)
        if how in ("swapped", "narrow"):
            odd[:] = chosen
        odd.flags.writeable = how != "read-only"
        batch.step(odd, rows)
        plain.step(chosen, [2, 0])
    moment = batch.snapshot(rows)
    batch.restore(moment, rows)
    batch.reset(rows, seed=[4, 5])
    plain.reset([2, 0], seed=[4, 5])
    assert batch.tables.tobytes() == plain.tables.tobytes() and batch.mask.tobytes() == plain.mask.tobytes()
    assert batch.encoder.flat.tobytes() == plain.encoder.flat.tobytes()


def test_nobody_acts_at_a_silent_table_and_nobody_has_worlds_there() -> None:
    batch = Batch("mitchell", 60, options=SILENT | {"players": 8}, seed=list(range(60)))
    silent = np.flatnonzero(batch.actor == -1)
    assert 0 < len(silent) < 60
    actions = batch.random_actions()
    assert np.all(actions[silent] == -1) and np.all(np.delete(actions, silent) >= 0)
    with pytest.raises(ValueError, match=f"table {silent[0]}: nobody is to act"):
        batch.worlds(silent[:1], 1, 3)
    with pytest.raises(IllegalActionError, match="over and asks nobody"):
        batch.step(actions)


def test_what_is_restored_has_one_table_a_row_in_one_row() -> None:
    batch = Batch("mitch_jp", 4, seed=1)
    before = contents(batch)
    for wrong in (batch.worlds([0, 1, 2], 1, 3), batch.snapshot([0]), batch.snapshot()[0], None, np.zeros(3)):
        with pytest.raises(ValueError, match="restore needs 3 tables of mitch_jp in one row"):
            batch.restore(wrong, [0, 1, 2])
    assert contents(batch) == before


@pytest.mark.parametrize("n", [0, -1, 1.5, None, "a", [1, 2, 3], True])
def test_a_number_of_worlds_is_at_least_1(n: Any) -> None:
    with pytest.raises(OptionsError, match="n="):
        Batch("mitch_jp", 2, seed=1).worlds(None, n, 1)


def test_an_action_beyond_64_bits_is_named_as_it_is() -> None:
    batch = Batch("mitch_jp", 2, seed=1)
    with pytest.raises(IllegalActionError, match=str(2**64 - 1)):
        batch.step(np.array([2**64 - 1, 0], np.uint64))


def test_a_shallow_copy_shares_nothing_either() -> None:
    batch = Batch("mitch_jp", 3, seed=1)
    before = contents(batch)
    play(copy.copy(batch), 5)
    assert contents(batch) == before


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("canonical", [False, True])
def test_an_attribute_of_ones_own_is_not_written_to(name: str, canonical: bool) -> None:
    batch, twin = Batch(name, 6, seed=2, canonical=canonical), Batch(name, 6, seed=2, canonical=canonical)
    mine = {"reward": np.zeros(1), "actor": np.full(6, 7, np.int64), "observation": None, "mask": np.zeros(2)}
    for attribute, value in mine.items():
        setattr(batch, attribute, value)
    for _ in range(30):
        actions = twin.random_actions()
        assert np.array_equal(batch.random_actions(), actions)
        batch.step(actions)
        twin.step(actions)
    assert batch.tables.tobytes() == twin.tables.tobytes()
    assert mine["reward"] == 0 and np.all(mine["actor"] == 7) and not mine["mask"].any()


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("make_copy", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))], ids=["deepcopy", "pickle"])
def test_a_copy_has_buffers_of_its_own_and_goes_on_alike(make_copy: Any, canonical: bool) -> None:
    batch = Batch("mitch_jp", 9, seed=1, threads=2, canonical=canonical)
    play(batch, 10)
    twin = make_copy(batch)
    before = contents(batch)
    assert contents(twin) == before
    play(twin, 10)
    assert contents(batch) == before
    assert twin.mask.dtype == np.bool_
    assert not np.shares_memory(twin.mask, batch.mask)
    play(batch, 10)
    assert contents(twin) == contents(batch)


# --- Random actions.


def test_random_actions_are_legal_uniform_and_reproducible() -> None:
    n = times(20_000)
    batch = Batch("mitch_jp", n, seed=1, take_discard=True)
    start = batch.snapshot([0])
    batch.restore(np.repeat(start, n))
    legal = np.flatnonzero(batch.mask[0])
    counts = np.zeros(batch.n_actions)
    for _ in range(3):  # from later places of the streams too
        chosen = batch.random_actions()
        counts += np.bincount(chosen, minlength=batch.n_actions)
    assert counts.sum() == counts[legal].sum() == 3 * n
    expected = 3 * n / len(legal)
    assert float(((counts[legal] - expected) ** 2 / expected).sum()) < chi2.ppf(1 - 1e-6, len(legal) - 1)
    one, other = Batch("mitch_ru", 50, seed=8), Batch("mitch_ru", 50, seed=8)
    for _ in range(60):
        actions = one.random_actions()
        assert one.mask[np.arange(50), actions].all()
        assert np.array_equal(actions, other.random_actions())
        one.step(actions)
        other.step(actions)


def test_choices_of_neighbouring_tables_and_of_one_table_in_time_are_independent() -> None:
    """Two choices of one of n legal actions agree once in n times."""
    n = times(20_000)
    batch = Batch("mitch_jp", n, seed=1)
    batch.restore(np.repeat(batch.snapshot([0]), n))
    n_legal = int(batch.mask[0].sum())
    first, second = batch.random_actions().copy(), batch.random_actions().copy()
    for one, other in [(first, second), (first[1:], first[:-1]), (first[1:], second[:-1])]:
        same, p = int((one == other).sum()), 1 / n_legal
        assert abs(same - len(one) * p) < 5 * math.sqrt(len(one) * p * (1 - p))


def test_random_actions_do_not_move_chance() -> None:
    one, other = Batch("mitch_jp", 3, seed=2), Batch("mitch_jp", 3, seed=2)
    for _ in range(7):
        one.random_actions()
    assert one.tables.tobytes() == other.tables.tobytes()
    first = np.argmax(one.mask, 1)
    one.step(first)
    other.step(first)
    assert contents(one) == contents(other)


# --- What is not allowed.


@pytest.mark.parametrize("rows", [None, [2, 0, 1]])
def test_an_illegal_action_is_refused_in_words_and_nothing_is_played(rows: Any) -> None:
    batch = Batch("mitch_jp", 3, seed=1)
    before = contents(batch)
    actions = batch.random_actions(rows).copy()
    actions[1] = 104
    with pytest.raises(IllegalActionError) as caught:
        batch.step(actions, rows)
    row = 1 if rows is None else 0
    words = str(caught.value)
    assert f"table {row}, seat0 tried: draw (action 104); phase: " in words
    for action in np.flatnonzero(batch.mask[row]):
        assert batch.game.rules.action_name(batch.tables[row], int(action)) in words
    assert contents(batch) == before
    for wrong in (-1, 106, -(1 << 63), (1 << 63) - 1):
        actions[1] = wrong
        with pytest.raises(IllegalActionError, match=f"{wrong} is no action of this game"):
            batch.step(actions, rows)
    assert contents(batch) == before


@pytest.mark.parametrize(
    "actions",
    [
        None,
        3,
        [1],
        [1, 2, 3, 4],
        [[1, 2, 3]],
        [1.0, 2.0, 3.0],
        [True, False, True],
        ["a", "b", "c"],
        [1, 2, None],
        [1, 2, 1 << 70],
        {1, 2, 3},
    ],
    ids=repr,
)
def test_actions_must_be_one_integer_a_row(actions: Any) -> None:
    batch = Batch("mitch_jp", 3, seed=1)
    before = contents(batch)
    with pytest.raises(ValueError, match="actions must be 3 integers, got"):
        batch.step(actions)
    assert contents(batch) == before


@pytest.mark.parametrize("rows", [[3], [-1], [0, 3], [[0, 1]], ["a"], [None]], ids=repr)
@pytest.mark.parametrize("call", ["step", "reset", "random_actions", "snapshot", "restore", "redeal_hidden"])
def test_rows_must_be_indices_of_tables(call: str, rows: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        call_with_rows(Batch("mitch_jp", 3, seed=1), call, rows)


@pytest.mark.parametrize("rows", [[True, False, True], np.array([False, True, True]), [0.0, 1.5], [1.0], [1 << 70]], ids=repr)
@pytest.mark.parametrize("call", ["step", "reset", "random_actions", "snapshot", "restore", "redeal_hidden"])
def test_rows_that_are_no_integers_are_refused(call: str, rows: Any) -> None:
    """A mask such as ``batch.terminated`` would be read as the rows 0 and 1."""
    with pytest.raises(ValueError, match="rows must be indices"):
        call_with_rows(Batch("mitch_jp", 3, seed=1), call, rows)


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("call", ["step", "reset", "restore"])
def test_a_row_that_stands_twice_is_refused_where_rows_are_written(call: str, canonical: bool) -> None:
    """The second action would be played unchecked after the first."""
    batch = Batch("mitch_jp", 3, seed=1, canonical=canonical)
    before = contents(batch)
    actions = np.argmax(batch.mask[[1, 0, 1]], 1)  # each would be legal alone
    with pytest.raises(ValueError, match="twice"):
        call_with_rows(batch, call, [1, 0, 1], actions)
    assert contents(batch) == before


def call_with_rows(batch: Batch, call: str, rows: Any, actions: Any = None) -> None:
    m = int(np.size(rows))
    match call:
        case "step":
            batch.step(np.zeros(m, np.int64) if actions is None else actions, rows)
        case "reset":
            batch.reset(rows, seed=1)
        case "random_actions":
            batch.random_actions(rows)
        case "snapshot":
            batch.snapshot(rows)
        case "restore":
            batch.restore(batch.snapshot([0] * m), rows)
        case "redeal_hidden":
            batch.redeal_hidden(0, 1, rows)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "n, the number of tables, is needed"),
        ({"n": 0}, "n=0: an integer from 1"),
        ({"n": -3}, "n=-3: an integer"),
        ({"n": 2.0}, "n=2.0: an integer"),
        ({"n": True}, "n=True: an integer"),
        ({"n": "2"}, "n='2': an integer"),
        ({"n": 2, "options": [{}]}, "n=2, but options are given for 1 tables"),
        ({"options": []}, "options must name at least one table"),
        ({"options": [{}, 7]}, "options must be a mapping or a MitchOptions, got int"),
        ({"n": 2, "options": "players=2"}, "options must be a mapping or a MitchOptions, got str"),
        ({"options": [{}, {"player": 2}]}, "unknown option 'player'; did you mean 'players'?"),
        ({"n": 2, "players": 6}, "players=6: an integer from 2 to 5"),
        ({"n": 2, "seed": -1}, "seed must be an integer from 0"),
        ({"n": 2, "seed": 1.0}, "seed must be an integer from 0"),
        ({"n": 2, "seed": True}, "seed must be an integer from 0"),
        ({"n": 2, "seed": "7"}, "seed must be an integer from 0"),
        ({"n": 2, "seed": 1 << 64}, "seed must be an integer from 0"),
        ({"n": 2, "seed": [1]}, "seed must be one integer or one for each of the 2 tables"),
        ({"n": 2, "seed": [[1, 2]]}, "seed must be one integer or one for each of the 2 tables"),
        ({"n": 2, "seed": [1, -2]}, r"seed\[1\] must be an integer from 0"),
        ({"n": 2, "seed": [1, 2.5]}, r"seed\[0\] must be an integer|seed\[1\] must be an integer"),
        ({"n": 2, "threads": 0}, "threads=0: an integer from 1"),
        ({"n": 2, "threads": None}, "threads=None: an integer from 1"),
        ({"n": 2, "threads": 1.5}, "threads=1.5: an integer from 1"),
        ({"n": 2, "reward": "score"}, "reward='score': allowed are 'points', 'relative', 'outcome'"),
        ({"n": 2, "reward": None}, "reward=None: allowed are"),
        ({"n": 2, "seats_encoded": 2}, "seats_encoded=2: an integer from 3 to 5"),
        ({"n": 2, "seats_encoded": 6}, "seats_encoded=6: an integer from 3 to 5"),
        ({"options": [{"players": 4}, {"players": 2}], "seats_encoded": 3}, "seats_encoded=3: an integer from 4 to 5"),
    ],
)
def test_wrong_arguments_are_refused_by_name(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Batch("mitch_jp", **arguments)


def test_unknown_games_and_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown game 'whist'"):
        Batch("whist", 2)
    with pytest.raises(OptionsError, match="unknown option 'thread'"):
        Batch("mitch_jp", 2, thread=2)


def test_restore_takes_only_tables_of_the_game_as_many_as_rows() -> None:
    batch = Batch("mitch_jp", 3, players=3, seed=1)
    before = contents(batch)
    for wrong in (batch.snapshot([0]), batch.observation, None, [], 3, np.zeros(3, np.int64)):
        with pytest.raises(ValueError, match="restore needs 3 tables of mitch_jp"):
            batch.restore(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not encoded for 3 seats"):
        batch.restore(Batch("mitch_jp", 3, players=3, seats_encoded=5).snapshot())
    assert contents(batch) == before


def test_a_table_of_an_environment_goes_on_in_a_batch() -> None:
    env = make("mitch_jp", players=2, deals=2)
    env.reset(seed=1)
    batch = Batch("mitch_jp", 1, players=2, deals=2, seed=5)
    batch.restore(env.snapshot().table)
    while not batch.terminated[0]:
        batch.step(batch.random_actions())
        assert batch.actor[0] >= 0
    play(batch, 100)


@pytest.mark.parametrize(("seat", "key"), [(-1, 0), (3, 0), (0.0, 0), (True, 0), (0, -1), (0, 1.5), (0, 1 << 64), (0, None)])
def test_redeal_hidden_checks_seat_and_key(seat: Any, key: Any) -> None:
    batch = Batch("mitch_jp", 3, players=3, seed=1)
    with pytest.raises(ValueError, match=r"seat|key"):
        batch.redeal_hidden(seat, key)
