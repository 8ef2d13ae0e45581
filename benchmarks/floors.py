"""Floors: what a decision costs at least, whatever is played.

The one is an environment without a game, which pays for PettingZoo's protocol alone; the other a loop without a game, which
writes as many bytes as a step of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import gymnasium
import numpy as np
from pettingzoo import AECEnv

from benchmarks.compiled import memory_kernel
from benchmarks.contenders import SETTINGS, AecPlay, Setting
from benchmarks.turns import FLOORS, Contender
from mitch_env import get_game

#: Decisions of a match of the environment without a game.
EPISODE = 43
#: Of its actions so many are legal.
LEGAL = 10


class NoOpEnv(AECEnv[str, dict[str, np.ndarray], int]):
    """Nothing happens, agents take turns, and the match ends after a fixed number of decisions.

    Args:
        players: Number of agents.
        size: Length of the observation.
        n_actions: Length of the mask.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "no_op_v0", "render_modes": [], "is_parallelizable": True}  # type: ignore[misc]
    render_mode = None

    def __init__(self, players: int, size: int, n_actions: int) -> None:
        super().__init__()
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        space = gymnasium.spaces.Dict(
            {
                "observation": gymnasium.spaces.Box(0.0, 1.0, (size,), np.float32),
                "action_mask": gymnasium.spaces.Box(0, 1, (n_actions,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = dict.fromkeys(self.possible_agents, gymnasium.spaces.Discrete(n_actions))
        self._size = size
        self._mask = np.zeros(n_actions, np.int8)
        self._mask[:LEGAL] = 1

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """The same space object for every agent and call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """The same space object for every agent and call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """A new match."""
        agents = self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in agents}
        self._skip_agent_selection = None
        self._steps = 0
        self.agent_selection = agents[0]

    def step(self, action: int | None) -> None:
        """The next agent's turn; at the end of the match the first agent is paid by all others."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)  # type: ignore[arg-type]
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._steps += 1
        if self._steps == EPISODE:
            for one in self.agents:
                self.rewards[one] = -1.0
                self.terminations[one] = True
            self.rewards[self.agents[0]] = len(self.agents) - 1.0
        self.agent_selection = self.agents[self._steps % len(self.agents)]
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Fresh arrays with nothing in them."""
        return {"observation": np.zeros(self._size, np.float32), "action_mask": self._mask.copy()}


def no_op_like(setting: Setting) -> NoOpEnv:
    """With the agents and spaces of a game."""
    rules = get_game(setting.game).rules
    return NoOpEnv(setting.players, rules.layout(setting.players).size, rules.n_actions(setting.players))


def mean_entries(setting: Setting, n: int = 1024, steps: int = 256, every: int = 8) -> tuple[float, float]:
    """How many entries of an observation and of a mask are not zero, on average over random play."""
    batch = setting.batch(n, check=False)
    entries, legal = [], []
    for step in range(steps):
        batch.step(batch.random_actions())
        if step % every == 0:
            entries.append(np.count_nonzero(batch.observation) / n)
            legal.append(np.count_nonzero(batch.mask) / n)
    return float(np.mean(entries)), float(np.mean(legal))


class MemoryFloor:
    """Writes what the buffers of a ``Batch`` hold, without a game: zeroes them, and scatters as many ones as on average.

    Attributes:
        facts: How many bytes and entries that is for each table, and the averages on real play.
    """

    def __init__(self, setting: Setting, n: int = 1024) -> None:
        batch = setting.batch(n)
        self.observation, self.mask = np.empty_like(batch.observation), np.empty_like(batch._mask)
        rng = np.random.default_rng(1)
        means = mean_entries(setting)
        widths = (self.observation.shape[1], self.mask.shape[1])
        columns = [
            np.sort(rng.choice(width, round(mean), replace=False)).astype(np.int64)
            for width, mean in zip(widths, means, strict=True)
        ]
        self.facts = {
            "bytes": (self.observation.nbytes + self.mask.nbytes) // n,
            "observation_entries": len(columns[0]),
            "mask_entries": len(columns[1]),
            "observation_entries_in_play": means[0],
            "mask_entries_in_play": means[1],
        }
        self._arguments = (self.observation, self.mask, *columns)
        self._kernel = memory_kernel()

    def __call__(self, decisions: int) -> int:
        played = 0
        while played < decisions:
            self._kernel(*self._arguments)
            played += len(self.observation)
        return played


def no_op_name(setting: Setting) -> str:
    """The environment without a game that has the spaces of a setting."""
    return f"no-op AECEnv as {setting}"


def memory_name(setting: Setting) -> str:
    """The loop without a game that writes what a setting does."""
    return f"memory floor of {setting}"


def floors() -> Iterator[Contender]:
    """Both floors of every setting (the two traditions of Mitch have the same spaces)."""
    how = f"env.last and env.step of an environment without a game, {EPISODE} decisions a match: PettingZoo's protocol alone"
    for setting in SETTINGS:
        if setting.game != "mitch_ru":
            yield Contender(no_op_name(setting), FLOORS, how, lambda s=setting: AecPlay(no_op_like(s)))  # type: ignore[misc]
    how = "one call a step: 1024 rows of observation and mask zeroed, as many ones scattered as ours have on average"
    for setting in SETTINGS:
        yield Contender(memory_name(setting), FLOORS, how, lambda s=setting: MemoryFloor(s))  # type: ignore[misc]
