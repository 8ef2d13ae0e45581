"""What the rule agents share: a row of observations is read by compiled rules, which name a move for it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types

from mitch_env.jit import kernel, kernel_view, rule
from mitch_env.layout import Layout

from .agent import View

#: ``(observation, mask, offsets, sight) -> action``, compiled like the rules of the games.
Decide = Callable[[np.ndarray, np.ndarray, np.ndarray, Any], int]


class RuleAgent:
    """Plays by fixed rules from what a seat sees; no chance, no memory.

    Args:
        engine: The engine whose games it plays, for messages.
        decide: The rules.
        sight: The record that an observation is read into: all that the rules know, and working space.
        offsets: ``layout -> int64[...]``: where in an observation the rules find what they read.
    """

    name = "rule"
    encoder = "canonical"  # so that equal moves are told apart by what is seen, not by the names of suits

    def __init__(self, engine: str, decide: Decide, sight: np.dtype[Any], offsets: Callable[[Layout], np.ndarray]) -> None:
        self._engine, self._decide, self._dtype, self._offsets = engine, decide, sight, offsets
        self._sight = np.zeros(1, sight).view(np.recarray)

    def reset(self, seat: int | None, rng: np.random.Generator) -> None:
        """Nothing to set up: the agent keeps nothing and draws nothing."""

    def act_batch(self, view: View) -> np.ndarray:
        """A move for each row."""
        at = self._offsets(view.game.rules.layout(view.seats_encoded))
        observation = np.ascontiguousarray(view.observation, np.float32)
        mask = np.ascontiguousarray(view.mask).view(np.uint8)
        actions = np.empty(len(view), np.int64)
        decisions = _decision_kernel(self._engine, self._decide, self._dtype)
        decisions(observation, mask, at, kernel_view(self._sight), actions)
        return actions


@functools.cache
def _decision_kernel(engine: str, decide: Decide, sight: np.dtype[Any]) -> Any:
    """``(observation, mask, offsets, sight, out)``: ``decide`` at each row."""

    def decide_rows(observation: Any, mask: Any, at: Any, sight: Any, out: Any) -> None:
        for i in range(observation.shape[0]):
            out[i] = decide(observation[i], mask[i], at, sight[0])

    signature = types.void(
        types.float32[:, ::1],
        types.uint8[:, ::1],
        types.int64[::1],
        numba.from_dtype(sight)[::1],
        types.int64[::1],
    )
    return kernel(decide_rows, signature, f"{engine} rule agent")


# --- Reading an observation.


@rule
def index_of_one(seen: np.ndarray, start: int, n: int) -> int:
    """Which of ``n`` entries is 1; -1 if none is."""
    for i in range(n):
        if seen[start + i] > 0.5:
            return i
    return -1


@rule
def flag(entry: float) -> int:
    """The 0 or 1 of an entry."""
    return 1 if entry > 0.5 else 0
