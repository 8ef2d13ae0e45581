"""Copies of tables, byte by byte: NumPy copies records field by field, which takes tens of times as long."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

Tables = TypeVar("Tables", bound=np.ndarray)


@functools.cache
def _opaque(size: int) -> np.dtype:
    return np.dtype((np.void, size))


def opaque(tables: np.ndarray) -> np.ndarray:
    """The same memory, with one item without fields for each table."""
    return tables.view(np.ndarray).view(_opaque(tables.itemsize))


def opaque_bytes(tables: np.ndarray) -> np.ndarray:
    """The same memory as bytes, of tables that lie in one piece."""
    return tables.view(np.ndarray).view(np.uint8)


def bytes_of(dtype: np.dtype, fields: Iterable[str]) -> np.ndarray:
    """Where the bytes of some fields stand in a table, as an index array."""
    places = [dtype.fields[name][:2] for name in fields] if dtype.fields else []
    return np.concatenate([np.arange(at, at + field.itemsize) for field, at in places])


def _as_before(copy: np.ndarray, tables: Tables) -> Tables:
    again: Tables = copy.view(tables.dtype).view(type(tables))
    return again


def copied(tables: Tables) -> Tables:
    """A copy of all tables."""
    return _as_before(opaque(tables).copy(), tables)


def taken(tables: Tables, rows: Any) -> Tables:
    """Copies of some tables: ``tables[rows]`` for an array of indices."""
    return _as_before(opaque(tables)[rows], tables)


def repeated(tables: Tables, n: int) -> Tables:
    """Each table ``n`` times."""
    return _as_before(np.repeat(opaque(tables), n), tables)


def with_own_arrays(state: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes with all arrays copied, for ``__setstate__``.

    An array that was unpickled may lie in memory of somebody else, which may even be read-only: kernels would write there.
    """

    def own(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        return copied(value) if value.dtype.fields else value.copy()

    return {name: own(value) for name, value in state.items()}


def put(tables: np.ndarray, rows: Any, source: np.ndarray) -> None:
    """``tables[rows] = source``, for tables of the same kind."""
    opaque(tables)[rows] = opaque(source)


def described(given: Any) -> str:
    """What somebody gave instead of tables, for messages."""
    if not isinstance(given, np.ndarray):
        return f"a {type(given).__name__}"
    return f"{'tables' if given.dtype.fields else given.dtype} of shape {given.shape}"
