"""Our own contenders: the same game through each door, and a kernel that does everything in one loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper

from benchmarks.compiled import fused_kernel
from benchmarks.turns import OURS, Contender
from mitch_env import Batch, make

#: Uniform numbers drawn beforehand that choose actions, so that no contender pays for a generator.
UNIFORM: list[float] = np.random.default_rng(0).random(1 << 16).tolist()
WRAP = len(UNIFORM) - 1


@dataclass(frozen=True)
class Setting:
    """A game with a number of players."""

    game: str
    players: int

    def __str__(self) -> str:
        return f"{self.game} {self.players}p"

    def batch(self, n: int, **settings: Any) -> Batch:
        """``n`` tables of it; the same ones for every contender."""
        batch = Batch(self.game, n, seed=1, players=self.players, **settings)
        batch.skip_silent()
        return batch


SETTINGS = (Setting("mitch_jp", 3), Setting("mitch_ru", 3), Setting("mitchell", 4), Setting("mitchell", 8))
SIZES = (1, 64, 1024, 8192)


class AecPlay:
    """Any PettingZoo environment, through ``last`` and ``step``; a finished match is followed by ``reset``.

    Attributes:
        matches: Matches that ended so far.
    """

    def __init__(self, env: Any) -> None:
        self.env = env
        self.matches = 0
        self._at = 0
        env.reset(seed=1)

    def __call__(self, decisions: int) -> int:
        env, uniform, at = self.env, UNIFORM, self._at
        last, step = env.last, env.step
        for _ in range(decisions):
            observation, _, terminated, truncated, _ = last()
            while terminated or truncated:
                self.matches += 1
                env.reset()
                observation, _, terminated, truncated, _ = last()
            legal = observation["action_mask"].nonzero()[0]
            step(legal[int(uniform[at] * len(legal))])
            at = (at + 1) & WRAP
        self._at = at
        return decisions


class BatchPlay:
    """A ``Batch``, with two calls from Python a step."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch

    def __call__(self, decisions: int) -> int:
        batch, n, played = self.batch, len(self.batch), 0
        while played < decisions:
            batch.step(batch.random_actions())
            played += n
        return played


class FusedPlay:
    """The tables of a ``Batch``, played by one kernel that also chooses; all steps in one call.

    Attributes:
        ended: int64[1], matches that ended so far.
    """

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.ended = np.zeros(1, np.int64)
        self._kernel = fused_kernel(batch.game.rules)

    def __call__(self, decisions: int) -> int:
        b = self.batch
        steps = -(-decisions // len(b))
        view = (b.observation, b._mask, b.actor)
        paid = (b.reward, b._scored, b._terminated, b._truncated)
        self._kernel(b._raw, b._policy, steps, *view, *paid, self.ended)
        return steps * len(b)


def wrapped(env: Any) -> Any:
    """In the wrappers that PettingZoo's own ``env()`` functions add."""
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(env))


def ours() -> Iterator[Contender]:
    """Every setting through every door."""
    for setting in SETTINGS:
        yield from _doors(setting)


def _doors(setting: Setting) -> Iterator[Contender]:
    def one_table() -> Any:
        return make(setting.game, players=setting.players)

    how = "env.last and env.step; the action from action_mask.nonzero() and a number drawn beforehand"
    yield Contender(f"{setting}, AEC", OURS, how, lambda: AecPlay(one_table()))
    how = "the same with AssertOutOfBoundsWrapper and OrderEnforcingWrapper, which env() leaves out since it checks by itself"
    yield Contender(f"{setting}, AEC in wrappers", OURS, how, lambda: AecPlay(wrapped(one_table())))
    how = "random_actions() and step() from Python, legality checked, observation and mask of every table"
    for n in SIZES:
        yield Contender(f"{setting}, Batch of {n}", OURS, how, lambda n=n: BatchPlay(setting.batch(n)))  # type: ignore[misc]
    n = SIZES[-1]
    two = f"{setting}, Batch of {n}, 2 threads"
    yield Contender(two, OURS, f"{how}; two cores", lambda: BatchPlay(setting.batch(n, threads=2)), cores=2)
    how = "one compiled loop over 1024 tables that also chooses; nothing is called from Python between steps"
    yield Contender(f"{setting}, fused kernel", OURS, how, lambda: FusedPlay(setting.batch(1024)))
