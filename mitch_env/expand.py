"""Sets of cards written out as vectors."""

from __future__ import annotations

import numpy as np

from .jit import rule

_NOTHING = np.uint64(0)
#: The set of each single card.
_BITS = np.array([1 << i for i in range(64)], np.uint64)


@rule
def expand(cards: np.uint64, out: np.ndarray, start: int, n: int) -> int:
    """Writes the lowest ``n`` bits of ``cards`` to ``out[start:start + n]``; returns where the next block starts.

    ``out`` is float32 (observations) or 8 bits wide (masks). Written so that the loop becomes vector instructions for both: a
    slice whose index cannot be negative, and a comparison with a table, of which many are done at once.
    """
    row = out[start : start + n]
    for i in range(n):
        row[i] = (cards & _BITS[i]) != _NOTHING
    return start + n
