"""Wrappers of the PettingZoo environment, :class:`~mitch_env.aec.TableEnv`.

They go on each other, and on and under PettingZoo's own. ``copy.deepcopy``, ``pickle`` and ``clone`` go on with the same match;
what a wrapper has not, such as ``table``, ``record`` or ``legal_moves``, is that of the environment underneath.
(``TerminateIllegalWrapper`` writes into the table's environment: put it under ``PermutedSeats``, not around it.)
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Mapping, Sequence
from typing import Any, Self

import gymnasium
import numpy as np
from pettingzoo.utils import BaseWrapper

from ..aec import TableEnv
from ..chance import advanced, below, mix, stream
from ..copies import Snapshot
from ..layout import Layout
from ..options import OptionsError
from .frame import Frame, FramedLayout
from .potentials import Potential, Shaping, dense_potential, told_sparse

#: What a match seed is mixed with to draw who sits where; one more for each ``PermutedSeats`` underneath.
ORDER_STREAM = np.uint64(0x6D69746368000020)


class TableWrapper(BaseWrapper):
    """What the wrappers here share: they know the table underneath, and where each agent sits.

    Raises:
        TypeError: If there is no table underneath.
    """

    def __init__(self, env: Any) -> None:
        if not isinstance(getattr(env, "unwrapped", None), TableEnv):
            raise TypeError(f"{type(self).__name__} goes around an environment of mitch_env.make, got {type(env).__name__}")
        super().__init__(env)

    def seat_of(self, agent: str) -> int:
        """The seat at the table at which an agent of this environment sits."""
        return seat_of(self, agent)

    def clone(self, key: int | None = None) -> Self:
        """An independent copy in the same position, wrapped alike (``TableEnv.clone``)."""
        twin = object.__new__(type(self))
        for name, value in self.__dict__.items():
            twin.__dict__[name] = value.clone(key) if name == "env" else copy.deepcopy(value)
        return twin


def seat_of(env: Any, agent: str) -> int:
    """The seat of an agent of a wrapped environment."""
    while env is not env.unwrapped:
        if isinstance(env, PermutedSeats):
            agent = env.env.possible_agents[env.order[env.possible_agents.index(agent)]]
        env = env.env
    seat: int = env.possible_agents.index(agent)
    return seat


def flat_view(env: Any, agent: str) -> np.ndarray:
    """What an agent sees in the flat form, whatever the form and the frame of its observations."""
    table_env, seat = env.unwrapped, seat_of(env, agent)
    layout, n_actions = table_env.observation_layout(), table_env.action_space(agent).n
    out: np.ndarray = np.empty(layout.size, np.float32)
    table_env._view_one(table_env._raw, seat, out, np.empty(n_actions, np.int8))
    return out


# --- Who sits where.


class PermutedSeats(TableWrapper):
    """Agent ``player_i`` sits at seat ``order[i]``: a learner that is always ``player_0`` plays every seat.

    Everything is in the agents' names: what is stepped, observed and paid, and ``state()``, whose blocks by seat are by agent.
    What the table says in words (``describe``, ``record``) and observations, which count clockwise from the observer, know
    seats only. The deals do not depend on the order.

    Args:
        env: The environment.
        order: A seat for each agent; None draws the order anew for each match, uniformly, from a stream of its own that starts
            with the seed of the match: the same seed is the same match in the same order. ``restore`` keeps the order.

    Attributes:
        order: The seat of each agent in this match (of the environment underneath; :meth:`seat_of` tells the table's).

    Raises:
        OptionsError: If ``order`` does not name each seat once.
    """

    def __init__(self, env: Any, order: Sequence[int] | None = None) -> None:
        super().__init__(env)
        n = len(env.possible_agents)
        self.possible_agents: list[str] = list(env.possible_agents)
        self._is_drawn = order is None
        self._n_below = sum(isinstance(one, PermutedSeats) for one in wrappers_of(env))
        self._sit(tuple(range(n)) if order is None else _checked_order(order, n))

    def _sit(self, order: tuple[int, ...]) -> None:
        self.order = order
        self._inner = {agent: self.env.possible_agents[seat] for agent, seat in zip(self.possible_agents, order, strict=True)}
        self._outer = {inner: agent for agent, inner in self._inner.items()}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """A new match; who sits where is drawn with it, unless the order is fixed."""
        self.env.reset(seed=seed, options=options)
        if self._is_drawn:
            counter = stream(np.uint64(self.unwrapped._raw["seed"][0]), np.uint64(int(ORDER_STREAM) + self._n_below))
            self._sit(_drawn_order(counter, len(self.possible_agents)))

    def step(self, action: int | None) -> None:
        """Plays ``action`` for ``agent_selection``."""
        self.env.step(action)

    def observe(self, agent: str) -> Any:
        """What an agent sees."""
        return self.env.observe(self._inner[agent])

    def observation_space(self, agent: str) -> Any:
        """The space of an agent's observations."""
        return self.env.observation_space(self._inner[agent])

    def action_space(self, agent: str) -> Any:
        """The space of an agent's actions."""
        return self.env.action_space(self._inner[agent])

    @property
    def agents(self) -> list[str]:
        """The agents that have not left, in the order of ``possible_agents``."""
        there = self.env.agents
        return [agent for agent in self.possible_agents if self._inner[agent] in there]

    @property
    def agent_selection(self) -> str:
        """The agent that must answer now."""
        return self._outer[self.env.agent_selection]

    @property
    def rewards(self) -> dict[str, float]:
        """What the last step paid."""
        return self._renamed(self.env.rewards)

    @property
    def _cumulative_rewards(self) -> dict[str, float]:
        return self._renamed(self.env._cumulative_rewards)

    @property
    def terminations(self) -> dict[str, bool]:
        """Whose match is over."""
        return self._renamed(self.env.terminations)

    @property
    def truncations(self) -> dict[str, bool]:
        """Whose match hit a limit."""
        return self._renamed(self.env.truncations)

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """Nothing, for each agent."""
        return self._renamed(self.env.infos)

    @property
    def observation_spaces(self) -> dict[str, Any]:
        """The spaces of observations."""
        return self._renamed(self.env.observation_spaces)

    @property
    def action_spaces(self) -> dict[str, Any]:
        """The spaces of actions."""
        return self._renamed(self.env.action_spaces)

    def _renamed(self, by_agent: Mapping[str, Any]) -> dict[str, Any]:
        return {agent: by_agent[inner] for agent, inner in self._inner.items() if inner in by_agent}

    def state(self) -> np.ndarray:
        """The full view, its blocks by seat in the order of the agents, with the view of the first agent."""
        inner: np.ndarray = self.env.state()
        out = inner.copy()
        layout = self.unwrapped.state_layout()
        for block, where in layout:
            if block.per_seat:
                n = len(self.order) * block.size
                out[where][:n] = inner[where].reshape(layout.seats, block.size)[list(self.order)].reshape(-1)
            elif block.name == _VIEW:
                out[where] = flat_view(self, self.possible_agents[0])
        return out

    def state_layout(self) -> Layout:
        """Names, slices and meaning of the blocks of ``state()``."""
        layout = self.unwrapped.state_layout()
        blocks = []
        for block in layout.blocks:
            name = "view_of_player_0" if block.name == _VIEW else block.name
            words = block.meaning.replace("seat 0 first", "player_0 first").replace("of seat 0", "of player_0")
            blocks.append(type(block)(name, block.size, words, block.per_seat))
        return Layout(layout.version, tuple(blocks), layout.seats)


_VIEW = "view_of_seat_0"


def wrappers_of(env: Any) -> list[Any]:
    """The environment and all underneath, the outermost first."""
    found = [env]
    while found[-1] is not found[-1].unwrapped:
        found.append(found[-1].env)
    return found


def _checked_order(order: Any, n: int) -> tuple[int, ...]:
    try:
        seats = tuple(operator.index(seat) for seat in order)
    except TypeError:
        seats = ()
    if sorted(seats) != list(range(n)):
        words = f"each seat from 0 to {n - 1} once is needed, or None to draw it for each match"
        raise OptionsError(f"order={order!r:.60}: {words}")
    return seats


def _drawn_order(counter: np.uint64, n: int) -> tuple[int, ...]:
    """A uniform order (Fisher-Yates)."""
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        j = below(mix(counter), i + 1)
        counter = advanced(counter)
        order[i], order[j] = order[j], order[i]
    return tuple(order)


# --- What is seen.


class FixedFrame(TableWrapper):
    """Whoever observes, blocks by seat begin with the seat ``seat``; a block ``observer`` tells who observes.

    Works on every form of observation. Actions are as ever: other seats in them count clockwise from the actor.

    Args:
        env: The environment.
        seat: The seat that comes first.

    Raises:
        OptionsError: If there is no such seat, or observations have been changed underneath.
    """

    def __init__(self, env: Any, seat: int = 0) -> None:
        super().__init__(env)
        inner: TableEnv = self.unwrapped
        players = np.array([inner.options.players])
        space = env.observation_space(env.possible_agents[0])
        self._frame = Frame(inner._encoder, inner.game, players, seat, space["observation"])
        self._space = gymnasium.spaces.Dict({**space.spaces, "observation": self._frame.space})
        self.observation_spaces = dict.fromkeys(env.possible_agents, self._space)

    def observation_space(self, agent: str) -> Any:
        """The same space object for every agent and call."""
        return self._space

    def observe(self, agent: str) -> Any:
        """What an agent sees, in the frame."""
        seen = self.env.observe(agent)
        return {**seen, "observation": self._frame.of_one(seen["observation"], self.seat_of(agent))}

    def observation_layout(self) -> FramedLayout:
        """Names, slices and meaning of the blocks of ``observation``."""
        return self._frame.layout


# --- What is paid.


class RewardWrapper(TableWrapper):
    """Pays something else than the environment underneath: ``_payments`` says what, once a step."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """A new match."""
        self.env.reset(seed=seed, options=options)
        self._cumulative_rewards = dict.fromkeys(self.env.agents, 0.0)
        self._begin()
        self._pay(self._payments())

    def restore(self, snapshot: Snapshot) -> None:
        """Goes on from a snapshot; what was paid before it counts no more."""
        self.env.restore(snapshot)
        self.rewards = dict.fromkeys(self.env.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.env.agents, 0.0)
        self._begin()
        if not self._is_over():
            self._payments()

    def step(self, action: int | None) -> None:
        """Plays ``action`` for ``agent_selection``, and pays."""
        agent = self.env.agent_selection
        is_dead = self.env.terminations[agent] or self.env.truncations[agent]
        self.env.step(action)
        if is_dead:
            self.rewards = dict.fromkeys(self.env.agents, 0.0)
            self._cumulative_rewards = {other: self._cumulative_rewards[other] for other in self.env.agents}
            return
        self._cumulative_rewards[agent] = 0.0
        self._pay(self._payments())

    def _pay(self, payments: dict[str, float]) -> None:
        self.rewards = payments
        for agent, payment in payments.items():
            self._cumulative_rewards[agent] += payment

    def _is_over(self) -> bool:
        return any(self.env.terminations.values()) or any(self.env.truncations.values())

    def _begin(self) -> None:
        """Nothing of this match has been paid yet."""
        raise NotImplementedError

    def _payments(self) -> dict[str, float]:
        """What the step just made pays each agent."""
        raise NotImplementedError


class SparseReward(RewardWrapper):
    """All that a match pays, paid at its end."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.metadata = told_sparse(env.metadata, self.unwrapped.reward)

    def _begin(self) -> None:
        self._owed = dict.fromkeys(self.env.agents, 0.0)

    def _payments(self) -> dict[str, float]:
        for agent, reward in self.env.rewards.items():
            self._owed[agent] += reward
        return dict(self._owed) if self._is_over() else dict.fromkeys(self._owed, 0.0)


class ShapedReward(RewardWrapper):
    """Adds to an agent's rewards ``discount * phi(own observation now) - phi(own observation at its last decision)``.

    Paid when it must decide again, and at the end of the match, where ``phi`` is 0 (also if it was truncated). With the
    learner's discount this changes no optimal policy (Ng, Harada & Russell 1999). With a discount of 1 a match pays in sum what
    it pays without, less ``phi`` of the first own observation. ``metadata["reward_shaping"]`` tells what is added.

    Args:
        env: The environment.
        potentials: Functions by name, whose sum is ``phi``: flat observations ``[..., size]`` and their layout -> ``[...]``.
            They are shown what the seat sees, in the flat form and without other wrappers.
        discount: From 0 to 1.

    Raises:
        OptionsError: If an argument is not allowed.
    """

    def __init__(self, env: Any, potentials: Mapping[str, Potential], discount: float = 1.0) -> None:
        super().__init__(env)
        self._shaping = Shaping(potentials, discount, self.unwrapped.observation_layout())
        self.metadata = self._shaping.told(env.metadata, self.unwrapped.reward)

    def _begin(self) -> None:
        self._last: dict[str, float] = {}

    def _payments(self) -> dict[str, float]:
        paid = {agent: float(reward) for agent, reward in self.env.rewards.items()}
        if self._is_over():
            for agent, phi in self._last.items():
                paid[agent] -= phi
            self._last = {}
            return paid
        agent = self.env.agent_selection
        phi = float(self._shaping(flat_view(self.env, agent)))
        if agent in self._last:
            paid[agent] += self._shaping.discount * phi - self._last[agent]
        self._last[agent] = phi
        return paid


class DenseReward(ShapedReward):
    """:class:`ShapedReward` with the ready-made potential of the game: ``standing`` in Mitch, ``shed`` in Mitchell.

    Args:
        env: The environment.
        discount: From 0 to 1.
        weight: What the potential, which is in points, is multiplied with: less than 1 for ``reward="outcome"``.
    """

    def __init__(self, env: Any, discount: float = 1.0, weight: float = 1.0) -> None:
        if not isinstance(getattr(env, "unwrapped", None), TableEnv):
            raise TypeError(f"DenseReward goes around an environment of mitch_env.make, got {type(env).__name__}")
        super().__init__(env, dense_potential(env.unwrapped.game, weight), discount)
