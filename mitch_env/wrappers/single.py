"""Wrappers of the Gymnasium environment, :class:`~mitch_env.single_agent.SingleAgentEnv`.

They go on each other, and on and under Gymnasium's own; ``get_wrapper_attr("action_masks")`` finds the masks through them.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from ..errors import IllegalActionError
from ..options import OptionsError
from ..rewards import REWARDS
from ..single_agent import DrawnAction, LegalActions, SingleAgentEnv
from ..suits import SuitRenamings
from ..tables import with_own_arrays
from .frame import Frame, FramedLayout
from .potentials import Potential, Shaping, dense_potential, told_sparse


class SeatWrapper(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """What the wrappers here share: they know the table underneath.

    Raises:
        TypeError: If there is none.
    """

    def __init__(self, env: Any, **settings: Any) -> None:
        check_unwrapped(self, env, SingleAgentEnv)
        RecordConstructorArgs.__init__(self, **settings)
        gymnasium.Wrapper.__init__(self, env)
        self._tables = env.unwrapped._tables

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_tables"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(with_own_arrays(state))
        self._tables = self.env.unwrapped._tables  # type: ignore[attr-defined]


def check_unwrapped(wrapper: Any, env: Any, needed: type) -> None:
    """Refuses to wrap what has no environment of this package underneath.

    Raises:
        TypeError: If so.
    """
    if not isinstance(getattr(env, "unwrapped", None), needed):
        raise TypeError(f"{type(wrapper).__name__} goes around a {needed.__name__} of mitch_env, got {env!r:.80}")


def reward_of(tables: Any) -> str:
    """What the tables pay: ``points``, ``relative`` or ``outcome``."""
    return REWARDS[tables.batch._reward_kind]


def check_flat(env_space: Any, tables: Any) -> None:
    """Suits are renamed in flat observations as the game makes them.

    Raises:
        OptionsError: If they are not.
    """
    encoder = tables.batch.encoder
    if encoder.form != "flat":
        raise OptionsError(f"RandomSuits needs flat observations, not observation={encoder.form!r}: make the env with 'flat'")
    if env_space != encoder.space:
        raise OptionsError(
            f"RandomSuits takes the observations as the game makes them, {encoder.space}, got {env_space}: "
            "put it around the environment before wrappers that change observations"
        )


class RandomSuits(SeatWrapper):
    """The learner sees and plays under names of the suits that are drawn anew for each match.

    Observations, masks (``info["action_mask"]`` and ``action_masks()``) and actions are under the new names. The renaming is
    drawn from ``np_random``, so the seed of ``reset`` decides it too. Only suits of the pack are renamed.

    Attributes:
        renamings: All renamings (:class:`~mitch_env.suits.SuitRenamings`).
        which: The number of the one in use.

    Raises:
        OptionsError: If the observations are not flat, or were changed underneath.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        check_flat(env.observation_space, self._tables)
        batch = self._tables.batch
        self.renamings = SuitRenamings(batch.game, batch.seats, getattr(batch.options[0], "suits", None))
        self.which = 0
        self.action_space = LegalActions(batch.n_actions, self.action_masks)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A new match under new names."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.which = int(self.np_random.integers(self.renamings.n))
        return self._renamed(observation, info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Plays an action that is named as the learner sees the suits.

        Raises:
            IllegalActionError: If it is not legal now; nothing has changed then.
        """
        try:
            observation, reward, terminated, truncated, info = self.env.step(self._original(action))
        except IllegalActionError as error:
            raise IllegalActionError(f"{error}; in the table's own names, not those that the learner sees") from None
        observation, info = self._renamed(observation, info)
        return observation, reward, terminated, truncated, info

    def action_masks(self) -> np.ndarray:
        """bool[actions], what the learner may do, under the new names."""
        return self.renamings.rename_masks(self.env.get_wrapper_attr("action_masks")(), self.which)

    def _renamed(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        seen = self.renamings.rename_observations(observation, self.which)
        return seen, {**info, "action_mask": self.renamings.rename_masks(info["action_mask"], self.which)}

    def _original(self, action: Any) -> Any:
        """The action in the table's own names; what is no action stays, to be refused."""
        names = self.renamings.old_actions[self.which]
        try:
            number = operator.index(action)
        except TypeError:
            return action
        if isinstance(action, (bool, np.bool_)) or not 0 <= number < len(names):
            return action
        return DrawnAction(names[number]) if isinstance(action, DrawnAction) else int(names[number])

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.action_space = LegalActions(self._tables.batch.n_actions, self.action_masks, self.action_space._np_random)


class FixedFrame(SeatWrapper):
    """Wherever the learner sits, blocks by seat begin with the seat ``seat``; a block ``observer`` tells where it sits.

    Works on every form of observation. Actions are as ever: other seats in them count clockwise from the actor.

    Args:
        env: The environment.
        seat: The seat that comes first.

    Raises:
        OptionsError: If there is no such seat, or observations have been changed underneath.
    """

    def __init__(self, env: Any, seat: int = 0) -> None:
        super().__init__(env, seat=seat)
        batch = self._tables.batch
        self._frame = Frame(batch.encoder, batch.game, self._tables._players, seat, env.observation_space)
        self.observation_space = self._frame.space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A new match."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._frame.of_one(observation, info["seat"]), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """The learner plays ``action``, then the others."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._frame.of_one(observation, info["seat"]), reward, terminated, truncated, info

    def observation_layout(self) -> FramedLayout:
        """Names, slices and meaning of the blocks of the observation."""
        return self._frame.layout


class SparseReward(SeatWrapper):
    """All that a match pays the learner, paid at its end."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.metadata = told_sparse(env.metadata, reward_of(self._tables))
        self._owed = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A new match."""
        self._owed = 0.0
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """The learner plays ``action``, then the others."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._owed += float(reward)
        return observation, self._owed if terminated or truncated else 0.0, terminated, truncated, info


class ShapedReward(SeatWrapper):
    """Adds ``discount * phi(next observation) - phi(last observation)`` to each reward; at the end of a match ``phi`` is 0.

    As :class:`mitch_env.wrappers.aec.ShapedReward`, for the learner.

    Args:
        env: The environment.
        potentials: Functions by name, whose sum is ``phi``: flat observations ``[..., size]`` and their layout -> ``[...]``.
            They are shown what the learner's seat sees, in the flat form and without other wrappers.
        discount: From 0 to 1.

    Raises:
        OptionsError: If an argument is not allowed.
    """

    def __init__(self, env: Any, potentials: Mapping[str, Potential], discount: float = 1.0) -> None:
        super().__init__(env, potentials=potentials, discount=discount)
        self._shaping = Shaping(potentials, discount, self._tables.batch.encoder.layout)
        self.metadata = self._shaping.told(env.metadata, reward_of(self._tables))
        self._last = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A new match."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._last = self._phi()
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """The learner plays ``action``, then the others."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        phi = 0.0 if terminated or truncated else self._phi()
        paid = float(reward) + self._shaping.discount * phi - self._last
        self._last = phi
        return observation, paid, terminated, truncated, info

    def _phi(self) -> float:
        return float(self._shaping(self._tables.batch.encoder.flat[0].copy()))


class DenseReward(ShapedReward):
    """:class:`ShapedReward` with the ready-made potential of the game: ``standing`` in Mitch, ``shed`` in Mitchell.

    Args:
        env: The environment.
        discount: From 0 to 1.
        weight: What the potential, which is in points, is multiplied with: less than 1 for ``reward="outcome"``.
    """

    def __init__(self, env: Any, discount: float = 1.0, weight: float = 1.0) -> None:
        check_unwrapped(self, env, SingleAgentEnv)
        RecordConstructorArgs.__init__(self, discount=discount, weight=weight)  # the first one counts
        super().__init__(env, dense_potential(env.unwrapped._tables.batch.game, weight), discount)
