"""Sets of cards written out as vectors."""

from __future__ import annotations

import numpy as np

from .jit import rule

_ONE = np.uint64(1)


@rule
def expand(cards: np.uint64, out: np.ndarray, start: int, n: int) -> int:
    """Writes the lowest ``n`` bits of ``cards`` to ``out[start:start + n]``; returns where the next block starts.

    ``out`` is float32 (observations) or 8 bits wide (masks). Written so that the loop becomes vector instructions: a slice
    whose index cannot be negative, and one shift an entry.
    """
    row = out[start : start + n]
    for i in range(n):
        row[i] = (cards >> np.uint64(i)) & _ONE
    return start + n
