"""Copies of tables, byte by byte: what NumPy's own copies of records are."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from mitch_env import GAMES, Batch, make
from mitch_env.encoders import OBSERVATIONS
from mitch_env.jit import kernel_view
from mitch_env.tables import bytes_of, copied, put, repeated, taken
from mitch_env.vector_env import SingleAgentVectorEnv

pytestmark = pytest.mark.parametrize("name", GAMES)
ROWS = np.array([4, 0, 4, 2])


def some_tables(name: str) -> np.recarray:
    batch = Batch(name, 5, seed=3)
    for _ in range(40):
        batch.step(batch.random_actions())
    return batch.tables


def assert_same(one: np.ndarray, other: np.ndarray) -> None:
    assert one.tobytes() == other.tobytes()
    assert (type(one), one.dtype, one.shape) == (type(other), other.dtype, other.shape)


@pytest.mark.parametrize("as_kernels_see_them", [False, True])
def test_copies_are_those_of_numpy(name: str, as_kernels_see_them: bool) -> None:
    tables = some_tables(name)
    if as_kernels_see_them:
        tables = kernel_view(tables)
    assert_same(copied(tables), tables.copy())
    assert_same(copied(tables[1:4:2]), tables[1:4:2].copy())
    assert_same(taken(tables, ROWS), tables[ROWS])
    assert_same(repeated(tables, 3), np.repeat(tables, 3).view(type(tables)))
    assert_same(taken(tables, ROWS[:0]), tables[ROWS[:0]])


def test_a_copy_lives_on_its_own(name: str) -> None:
    tables = some_tables(name)
    before = tables.tobytes()
    for copy in (copied(tables), taken(tables, ROWS), repeated(tables, 2)):
        copy.seed += np.uint64(1)
        copy.players = 0
    assert tables.tobytes() == before


def test_tables_are_put_where_they_belong(name: str) -> None:
    tables, source = some_tables(name), Batch(name, 3, seed=9).tables
    expected = tables.copy()
    expected[[3, 0, 1]] = source
    put(tables, np.array([3, 0, 1]), source)
    assert_same(tables, expected)
    put(tables, 2, source[:1])
    assert tables[2] == source[0]


def test_bytes_of_fields_are_theirs_alone(name: str) -> None:
    tables = some_tables(name)
    dtype = tables.dtype
    for field in dtype.names:
        changed = copied(tables)
        changed[field] = 1 + changed[field]
        differ = np.flatnonzero((changed.view(np.uint8) != tables.view(np.uint8)).reshape(5, -1).any(axis=0))
        assert set(differ) <= set(bytes_of(dtype, [field])) and len(differ), field
    assert len(bytes_of(dtype, dtype.names)) == dtype.itemsize


# --- Memory of somebody else.


def from_foreign_memory(one: Any) -> tuple[Any, list[bytes]]:
    """A copy whose arrays were unpickled from read-only memory, and that memory."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(one, protocol=5, buffer_callback=buffers.append)
    memory = [bytes(buffer.raw()) for buffer in buffers]
    return pickle.loads(data, buffers=memory), memory


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_what_was_unpickled_from_read_only_memory_plays_on_and_leaves_it_alone(name: str, observation: str) -> None:
    batch = Batch(name, 4, seed=1, observation=observation)
    twin, memory = from_foreign_memory(batch)
    before = [bytes(bytearray(one)) for one in memory]
    for _ in range(30):
        twin.step(twin.random_actions().copy())
        batch.step(batch.random_actions().copy())
    assert memory == before and twin.tables.tobytes() == batch.tables.tobytes()

    env = make(name, observation=observation)
    env.reset(seed=1)
    twin_env, memory = from_foreign_memory(env)
    before = [bytes(bytearray(one)) for one in memory]
    for one in (env, twin_env):
        for _ in range(20):
            seen, _, terminated, truncated, _ = one.last()
            if terminated or truncated:
                break
            one.step(int(seen["action_mask"].nonzero()[0][0]))
    assert memory == before and twin_env.table.tobytes() == env.table.tobytes()


def test_a_vector_environment_from_read_only_memory_plays_on(name: str) -> None:
    envs = SingleAgentVectorEnv(name, 3, observation="flat")
    envs.reset(seed=1)
    twin, memory = from_foreign_memory(envs)
    before = [bytes(bytearray(one)) for one in memory]
    for one in (envs, twin):
        for _ in range(10):
            one.step(one.action_masks().argmax(1))
    assert memory == before
    assert np.array_equal(twin.action_masks(), envs.action_masks())
