"""Many tables as a Gymnasium ``VectorEnv``: at each one seat learns, and opponents play the others in one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .aec import RENDER_MODES
from .chance import checked_seed, match_seeds
from .errors import IllegalActionError
from .game import Game
from .options import check_choice
from .seat_tables import SeatTables, check_changes, check_id
from .single_agent import render_table


class LegalActionRows(gymnasium.spaces.MultiDiscrete):
    """An action for each table. ``sample()`` without a mask draws from what is legal at the moment.

    A copy, or a saved one, is a plain ``MultiDiscrete``.
    """

    def __init__(self, n: int, n_actions: int, masks: Callable[[], np.ndarray], seed: Any = None) -> None:
        super().__init__(np.full(n, n_actions), np.int64, seed)
        self._masks = masks

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """int64[n], legal now, or as ``MultiDiscrete`` draws it: with masks or probabilities."""
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        masks = self._masks()
        return np.where(masks, self.np_random.random(masks.shape), -1.0).argmax(1)

    def __reduce__(self) -> tuple[Any, ...]:
        return gymnasium.spaces.MultiDiscrete, (self.nvec, np.int64, self._np_random)


class SingleAgentVectorEnv(VectorEnv[Any, np.ndarray, np.ndarray]):
    """``num_envs`` tables of :class:`~mitch_env.single_agent.SingleAgentEnv`, stepped in one call.

    Each row is what that environment is, with the same matches for the same match seeds. A finished match is followed by the
    next one in the same step (``AutoresetMode.SAME_STEP``): the observation is then the next match's already, and
    ``infos["final_obs"]`` and ``infos["final_info"]`` hold the last of the old one. ``infos["action_mask"]`` is
    bool[n, actions], ``infos["seat"]`` int64[n]. All arrays are fresh ones.

    Args:
        game: The game or its name.
        num_envs: How many tables.
        seat: As for ``SingleAgentEnv``; drawn for each table.
        opponents: As for ``SingleAgentEnv``; an agent is asked once a moment for all tables at which it must act.
        opponent_pool: As for ``SingleAgentEnv``; drawn for each table.
        options: The rules: a mapping, an options object, or a sequence with one for each table.
        reward: ``points``, ``relative`` or ``outcome``.
        seats_encoded: Seats that observations and actions are numbered for; by default the most players of any table.
        observation: The form of observations: ``flat``, ``dict``, ``history`` or ``tokens`` (:mod:`mitch_env.encoders`).
        render_mode: None, ``ansi``, ``human`` or ``rgb_array``.
        threads: How many threads share the work of one step.
        **changes: Options by name.

    Raises:
        ValueError: If an argument is not allowed.
        ImportError: If an opponent needs the package ``agents`` and it is not there.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        *,
        seat: int | None = None,
        opponents: Any = None,
        opponent_pool: Any = None,
        options: Any = None,
        reward: str = "points",
        seats_encoded: int | None = None,
        observation: str = "flat",
        render_mode: str | None = None,
        threads: int = 1,
        **changes: Any,
    ) -> None:
        check_changes(SingleAgentVectorEnv, game, changes)
        if render_mode is not None:
            check_choice("render_mode", render_mode, RENDER_MODES)
        self.render_mode = render_mode
        self._tables = SeatTables(
            game,
            num_envs,
            seat=seat,
            opponents=opponents,
            opponent_pool=opponent_pool,
            autoreset=True,
            options=options,
            reward=reward,
            seats_encoded=seats_encoded,
            observation=observation,
            threads=threads,
            changes=changes,
        )
        self._spec: Any = None
        self.num_envs = len(self._tables)
        n_actions = self._tables.batch.n_actions
        self.single_observation_space = self._tables.batch.encoder.space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.single_action_space = gymnasium.spaces.Discrete(n_actions)
        self.action_space = LegalActionRows(self.num_envs, n_actions, self.action_masks)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """New matches at all tables.

        Args:
            seed: One integer for all, as for ``Batch``, or one match seed for each table; None goes on to the next matches.
            options: Ignored; the rules are fixed when the environment is made.

        Raises:
            ValueError: If ``options`` asks for some tables only: they are reset by themselves.
        """
        if options is not None and "reset_mask" in options:
            raise ValueError("reset_mask goes with AutoresetMode.DISABLED; these tables begin anew by themselves (SAME_STEP)")
        seeds = None
        if seed is not None:
            seeds = match_seeds(seed, self.num_envs)
            if np.ndim(seed) == 0:
                super().reset(seed=checked_seed(seed))
            else:
                self.np_random = np.random.default_rng(seeds)
        self._tables.reset(seeds, self.np_random)
        self._show()
        return self._tables.batch.encoder.copied(), self._infos()

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Plays an action for the learner of each table, then the others until every learner must decide again.

        Raises:
            IllegalActionError: If an action is not legal at its table; nothing has been played then.
        """
        tables = self._tables
        if not tables.is_begun:
            raise IllegalActionError("no match is being played: call reset() first")
        tables.step(actions)
        self._show()
        infos = self._infos()
        is_over = tables.terminated | tables.truncated
        if is_over.any():
            infos |= self._final(is_over)
        observation = tables.batch.encoder.copied()
        return observation, tables.reward.copy(), tables.terminated.copy(), tables.truncated.copy(), infos

    @property
    def spec(self) -> Any:
        """What Gymnasium made the environment from; it writes it once it has."""
        return self._spec

    @spec.setter
    def spec(self, spec: Any) -> None:
        check_id(spec, self._tables.batch.game)
        self._spec = spec

    def action_masks(self) -> np.ndarray:
        """bool[n, actions], what each learner may do; all False before the first ``reset``."""
        return self._tables.batch.mask & self._tables.is_begun

    def render(self) -> tuple[Any, ...] | None:
        """Each table from its learner's seat: text (``ansi``), a picture (``rgb_array``), or printed (``human``)."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode does nothing: make the envs with render_mode='ansi', say")
            return None
        batch, seats = self._tables.batch, self._tables.seat
        frames = tuple(
            render_table(batch.game, table, int(seat), self.render_mode)
            for table, seat in zip(batch.tables, seats, strict=True)
        )
        if self.render_mode != "human":
            return frames
        print("\n\n".join(frames), flush=True)
        return None

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def _infos(self) -> dict[str, Any]:
        return self._by_name(self.action_masks(), self._tables.seat.copy(), np.ones(self.num_envs, np.bool_))

    def _final(self, is_over: np.ndarray) -> dict[str, Any]:
        """The last observation and info of the matches that are over, in the form of Gymnasium's own vector environments."""
        tables = self._tables
        final_obs = np.full(self.num_envs, None, object)
        for row in np.flatnonzero(is_over):
            final_obs[row] = tables.final.copied(row)
        masks, seats = np.zeros_like(tables.batch.mask), np.where(is_over, tables.final_seat, 0)
        final_info = self._by_name(masks, seats, is_over)
        return {"final_obs": final_obs, "_final_obs": is_over.copy(), "final_info": final_info, "_final_info": is_over.copy()}

    @staticmethod
    def _by_name(masks: np.ndarray, seats: np.ndarray, is_there: np.ndarray) -> dict[str, Any]:
        return {"action_mask": masks, "_action_mask": is_there, "seat": seats, "_seat": is_there.copy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        n_actions = self._tables.batch.n_actions
        self.action_space = LegalActionRows(self.num_envs, n_actions, self.action_masks, self.action_space._np_random)
