"""Wrappers: each takes a PettingZoo, a Gymnasium, or a Gymnasium vector environment of this package.

```python
>>> import mitch_env
>>> from mitch_env.wrappers import DenseReward, PermutedSeats
>>> env = DenseReward(PermutedSeats(mitch_env.make("mitch_jp")))
>>> env.reset(seed=3)
>>> env.agent_selection, env.metadata["reward"]
('player_1', 'points + standing')

```

The classes are in :mod:`~mitch_env.wrappers.aec` (PettingZoo), :mod:`~mitch_env.wrappers.single` (Gymnasium) and
:mod:`~mitch_env.wrappers.vector` (Gymnasium's vector environments), under the same names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
from pettingzoo import AECEnv

from ..options import OptionsError
from . import aec, single, vector
from .potentials import Potential, shed, standing

__all__ = [
    "DenseReward",
    "FixedFrame",
    "PermutedSeats",
    "RandomSuits",
    "ShapedReward",
    "SparseReward",
    "shed",
    "standing",
]


def PermutedSeats(env: Any, order: Sequence[int] | None = None) -> Any:
    """PettingZoo: ``player_i`` sits at seat ``order[i]``, by default drawn for each match (``aec.PermutedSeats``)."""
    return _kind_of(env, "PermutedSeats")(env, order)


def RandomSuits(env: Any) -> Any:
    """Gymnasium: names of the suits that are drawn anew for each match (``single.RandomSuits``, ``vector.RandomSuits``)."""
    return _kind_of(env, "RandomSuits")(env)


def FixedFrame(env: Any, seat: int = 0) -> Any:
    """Blocks by seat begin with the seat ``seat``, whoever observes; a block ``observer`` tells who does."""
    return _kind_of(env, "FixedFrame")(env, seat)


def SparseReward(env: Any) -> Any:
    """All that a match pays, paid at its end."""
    return _kind_of(env, "SparseReward")(env)


def ShapedReward(env: Any, potentials: Mapping[str, Potential], discount: float = 1.0) -> Any:
    """Potential-based shaping: adds ``discount * phi(next own observation) - phi(last own observation)``."""
    return _kind_of(env, "ShapedReward")(env, potentials, discount)


def DenseReward(env: Any, discount: float = 1.0, weight: float = 1.0) -> Any:
    """``ShapedReward`` with the ready-made potential of the game: ``standing`` in Mitch, ``shed`` in Mitchell."""
    return _kind_of(env, "DenseReward")(env, discount, weight)


def _kind_of(env: Any, name: str) -> Any:
    """The class of that name for the kind of environment.

    Raises:
        OptionsError: If there is none.
    """
    kinds = [("PettingZoo", AECEnv, aec), ("Gymnasium", gymnasium.Env, single), ("vector", gymnasium.vector.VectorEnv, vector)]
    for words, base, module in kinds:
        if isinstance(env, base):
            if hasattr(module, name):
                return getattr(module, name)
            others = [other for other, _, one in kinds if hasattr(one, name)]
            raise OptionsError(f"{name} is for {' and '.join(others)} environments, got a {words} one: {env!r:.60}")
    raise OptionsError(f"{name} goes around an environment, got {type(env).__name__}")
