"""Wrappers of the Gymnasium vector environment, :class:`~mitch_env.vector_env.SingleAgentVectorEnv`.

As those of :mod:`mitch_env.wrappers.single`, row by row. A finished match is followed by the next one in the same step
(``AutoresetMode.SAME_STEP``): what a step returns is the next match's already, ``infos["final_obs"]`` is the old one's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.vector import VectorWrapper
from gymnasium.vector.utils import batch_space

from ..errors import IllegalActionError
from ..options import OptionsError
from ..suits import SuitRenamings
from ..tables import with_own_arrays
from ..vector_env import LegalActionRows, SingleAgentVectorEnv
from .frame import Frame, FramedLayout
from .potentials import Potential, Shaping, dense_potential, told_sparse
from .single import check_flat, check_unwrapped, reward_of


class RowsWrapper(VectorWrapper[Any, Any, Any, Any, np.ndarray]):
    """What the wrappers here share: they know the tables underneath, and pass the masks on.

    Raises:
        TypeError: If there are no tables underneath.
    """

    def __init__(self, env: Any) -> None:
        check_unwrapped(self, env, SingleAgentVectorEnv)
        super().__init__(env)
        self._tables = env.unwrapped._tables

    def action_masks(self) -> np.ndarray:
        """bool[n, actions], what each learner may do."""
        below: Any = self.env
        while not hasattr(below, "action_masks"):  # a wrapper of Gymnasium's own
            below = below.env
        masks: np.ndarray = below.action_masks()
        return masks

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_tables"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(with_own_arrays(state))
        self._tables = self.env.unwrapped._tables  # type: ignore[attr-defined]


class RandomSuits(RowsWrapper):
    """Each learner sees and plays under names of the suits that are drawn anew for each match of its table.

    Attributes:
        renamings: All renamings (:class:`~mitch_env.suits.SuitRenamings`).
        which: int64[n], the number of the one in use at each table.

    Raises:
        OptionsError: If the observations are not flat or were changed underneath, or tables differ in the suits of the pack.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        check_flat(env.single_observation_space, self._tables)
        batch = self._tables.batch
        packs: set[Any] = {getattr(options, "suits", None) for options in batch.options}
        if len(packs) > 1:
            raise OptionsError(f"RandomSuits needs the same pack at all tables, got suits={sorted(packs)}")
        self.renamings = SuitRenamings(batch.game, batch.seats, packs.pop())
        self.which = np.zeros(self.num_envs, np.int64)
        self.action_space = LegalActionRows(self.num_envs, batch.n_actions, self.action_masks)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """New matches under new names."""
        observation, infos = self.env.reset(seed=seed, options=options)
        self.which = self.np_random.integers(self.renamings.n, size=self.num_envs)
        return self._renamed(observation, infos)

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Plays actions that are named as the learners see the suits."""
        try:
            observation, reward, terminated, truncated, infos = self.env.step(self._original(actions))
        except IllegalActionError as error:
            raise IllegalActionError(f"{error}; in the table's own names, not those that the learner sees") from None
        over = np.flatnonzero(terminated | truncated)
        if len(over):
            for row in over:
                final = infos["final_obs"][row]
                infos["final_obs"][row] = self.renamings.rename_observations(final, self.which[row])
            self.which = self.which.copy()
            self.which[over] = self.np_random.integers(self.renamings.n, size=len(over))
        observation, infos = self._renamed(observation, infos)
        return observation, reward, terminated, truncated, infos

    def action_masks(self) -> np.ndarray:
        """bool[n, actions], what each learner may do, under the new names."""
        return self.renamings.rename_masks(super().action_masks(), self.which)

    def _renamed(self, observation: Any, infos: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        seen = self.renamings.rename_observations(observation, self.which)
        return seen, {**infos, "action_mask": self.renamings.rename_masks(infos["action_mask"], self.which)}

    def _original(self, actions: Any) -> Any:
        """The actions in the tables' own names; what is no action stays, to be refused."""
        chosen, n_actions = np.asarray(actions), self.renamings.old_actions.shape[1]
        if chosen.shape != self.which.shape or chosen.dtype.kind not in "iu":
            return actions
        is_one = (chosen >= 0) & (chosen < n_actions)
        return np.where(is_one, self.renamings.original_actions(np.where(is_one, chosen, 0), self.which), chosen)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        n_actions, chance = self._tables.batch.n_actions, self.action_space._np_random
        self.action_space = LegalActionRows(self.num_envs, n_actions, self.action_masks, chance)


class FixedFrame(RowsWrapper):
    """Wherever a learner sits, blocks by seat begin with the seat ``seat``; a block ``observer`` tells where it sits.

    Args:
        env: The environment.
        seat: The seat that comes first, one that every table has.

    Raises:
        OptionsError: If there is no such seat, or observations have been changed underneath.
    """

    def __init__(self, env: Any, seat: int = 0) -> None:
        super().__init__(env)
        batch = self._tables.batch
        self._frame = Frame(batch.encoder, batch.game, self._tables._players, seat, env.single_observation_space)
        self.single_observation_space = self._frame.space
        self.observation_space = batch_space(self._frame.space, self.num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """New matches at all tables."""
        observation, infos = self.env.reset(seed=seed, options=options)
        return self._frame(observation, infos["seat"]), infos

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Plays an action for the learner of each table, then the others."""
        observation, reward, terminated, truncated, infos = self.env.step(actions)
        for row in np.flatnonzero(terminated | truncated):
            final, seat = infos["final_obs"][row], infos["final_info"]["seat"][row]
            infos["final_obs"][row] = self._frame.of_one(final, int(seat), int(row))
        return self._frame(observation, infos["seat"]), reward, terminated, truncated, infos

    def observation_layout(self) -> FramedLayout:
        """Names, slices and meaning of the blocks of the observations."""
        return self._frame.layout


class SparseReward(RowsWrapper):
    """All that a match pays the learner, paid at its end."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.metadata = told_sparse(env.metadata, reward_of(self._tables))
        self._owed = np.zeros(self.num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """New matches at all tables."""
        self._owed[:] = 0.0
        return self.env.reset(seed=seed, options=options)

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Plays an action for the learner of each table, then the others."""
        observation, reward, terminated, truncated, infos = self.env.step(actions)
        self._owed += reward
        is_over = terminated | truncated
        paid = np.where(is_over, self._owed, 0.0)
        self._owed[is_over] = 0.0
        return observation, paid, terminated, truncated, infos


class ShapedReward(RowsWrapper):
    """Adds ``discount * phi(next observation) - phi(last observation)`` to each reward; at the end of a match ``phi`` is 0.

    The match that follows begins with ``phi`` of its first observation.

    Args:
        env: The environment.
        potentials: Functions by name, whose sum is ``phi``: flat observations ``[..., size]`` and their layout -> ``[...]``.
            They are shown what the learners' seats see, in the flat form and without other wrappers.
        discount: From 0 to 1.

    Raises:
        OptionsError: If an argument is not allowed.
    """

    def __init__(self, env: Any, potentials: Mapping[str, Potential], discount: float = 1.0) -> None:
        super().__init__(env)
        self._shaping = Shaping(potentials, discount, self._tables.batch.encoder.layout)
        self.metadata = self._shaping.told(env.metadata, reward_of(self._tables))
        self._last = np.zeros(self.num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """New matches at all tables."""
        observation, infos = self.env.reset(seed=seed, options=options)
        self._last = self._phi()
        return observation, infos

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Plays an action for the learner of each table, then the others."""
        observation, reward, terminated, truncated, infos = self.env.step(actions)
        phi = self._phi()
        goes_on = ~(terminated | truncated)
        paid = reward + np.where(goes_on, self._shaping.discount * phi, 0.0) - self._last
        self._last = phi
        return observation, paid, terminated, truncated, infos

    def _phi(self) -> np.ndarray:
        return self._shaping(self._tables.batch.encoder.flat.copy())


class DenseReward(ShapedReward):
    """:class:`ShapedReward` with the ready-made potential of the game: ``standing`` in Mitch, ``shed`` in Mitchell.

    Args:
        env: The environment.
        discount: From 0 to 1.
        weight: What the potential, which is in points, is multiplied with: less than 1 for ``reward="outcome"``.
    """

    def __init__(self, env: Any, discount: float = 1.0, weight: float = 1.0) -> None:
        check_unwrapped(self, env, SingleAgentVectorEnv)
        super().__init__(env, dense_potential(env.unwrapped._tables.batch.game, weight), discount)
