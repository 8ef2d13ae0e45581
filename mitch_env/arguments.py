"""Rows and actions as kernels, which look at no types, may be given them: integers of 64 bits in one piece, within bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import IllegalActionError

#: The one object that stands for these integers in almost all arrays.
_INT64 = np.dtype(np.int64)


def plain(numbers: np.ndarray) -> np.ndarray:
    """Integers as kernels take them: int64, in one piece, aligned and writeable."""
    made = np.ascontiguousarray(numbers, np.int64)
    flags = made.flags
    return made if flags.aligned and flags.writeable else made.copy()


def checked_rows(rows: Any, n: int) -> np.ndarray:
    """Indices of some of ``n`` tables.

    Raises:
        ValueError: If they are no list of integers from 0 to ``n - 1``.
    """
    given = np.asarray(rows)
    if given.ndim == 1 and (given.dtype.kind in "iu" or len(given) == 0):
        where = plain(given)
        # As numbers without a sign, those below 0 are the largest.
        if len(where) == 0 or where.view(np.uint64).max() < n:
            return where
    raise ValueError(f"rows must be indices from 0 to {n - 1}, got {str(rows)[:80]}")


def checked_actions(actions: Any, n: int) -> np.ndarray:
    """``n`` actions, whether they are legal or not.

    Raises:
        ValueError: If they are not ``n`` integers.
        IllegalActionError: If one is beyond the integers of 64 bits.
    """
    if type(actions) is np.ndarray and actions.dtype is _INT64 and actions.shape == (n,) and actions.flags.carray:
        return actions  # already as kernels take them
    chosen = np.asarray(actions)
    if chosen.shape != (n,) or (chosen.dtype.kind not in "iu" and n):
        raise ValueError(f"actions must be {n} integers, got {chosen.dtype} of shape {chosen.shape}")
    if chosen.dtype == np.uint64 and n and chosen.max() >= 1 << 63:
        raise IllegalActionError(f"{chosen.max()} is no action of any game: actions are integers of 64 bits with a sign")
    return plain(chosen)


def differ(rows: np.ndarray) -> bool:
    """Whether no row stands twice."""
    return bool((rows[1:] > rows[:-1]).all()) or len(np.unique(rows)) == len(rows)
