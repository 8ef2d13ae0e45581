"""One table as a Gymnasium environment: one seat learns, opponents play the others.

```python
>>> import gymnasium, mitch_env
>>> env = gymnasium.make("mitch_env/MitchJp-v0", players=3)
>>> observation, info = env.reset(seed=7)
>>> observation.shape, int(info["action_mask"].sum()), info["seat"]
((544,), 12, 2)

```
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium
import numpy as np

from .aec import RENDER_MODES
from .chance import checked_seed
from .errors import IllegalActionError
from .game import Game, Table
from .options import check_choice
from .seat_tables import SeatTables, check_changes, check_id


class DrawnAction(np.int64):
    """An action that nobody chose: :class:`LegalActions` drew it."""


class LegalActions(gymnasium.spaces.Discrete):
    """All actions of a game. ``sample()`` without a mask draws one that is legal at the moment.

    Gymnasium's and SB3's checkers, and many examples, step an environment with what its space draws and know nothing of masks.
    A copy, or a saved one, is a plain ``Discrete``.
    """

    def __init__(self, n: int, mask: Callable[[], np.ndarray], seed: int | np.random.Generator | None = None) -> None:
        super().__init__(n, seed)
        self._mask = mask

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """An action that is legal now, or as ``Discrete`` draws it: with a mask or probabilities, or while nobody is to act."""
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        legal = self._mask()
        return DrawnAction(super().sample(legal.astype(np.int8) if legal.any() else None))

    def __reduce__(self) -> tuple[Any, ...]:
        return gymnasium.spaces.Discrete, (int(self.n), self._np_random)


class SingleAgentEnv(gymnasium.Env[Any, Any]):
    """One table at which one seat learns.

    A step is the learner's decision and all that the others decide until it must decide again. Observations are
    ``float32[size]`` in [0, 1], or another form: the ``observation`` of the PettingZoo environment. ``info`` has the
    ``action_mask`` (bool[actions], what is legal; all False after the match) and ``seat`` (the learner's). A reward is all that
    the learner was paid since its last decision, in the steps of others too; what a match pays before its first decision comes
    with the first step, and the end of a match, whoever brings it about, with its last one. A match in which it decides nothing
    is skipped.

    The seed of ``reset`` is a match seed as everywhere in this package, and decides the learner's seat and the opponent that is
    drawn from a pool as well. Without a seed the match that follows is played.

    ``env.step(env.action_space.sample())`` is always allowed: the space draws from what is legal, and if the position has
    changed in between, another legal action is played. Any other action that is not legal is refused.

    Args:
        game: The game or its name.
        seat: The learner's seat, or None to draw it for each match.
        opponents: Who plays the other seats: a name as in tournaments (``random``, ``rule``, ``policy:FILE``,
            ``package.module:Class``), an agent (``agents.Agent``), or a list with one for each of them, clockwise from the
            learner. By default ``random``. An agent is used as it is, so give each environment one of its own.
        opponent_pool: Instead of ``opponents``, a list from which one is drawn for each match; it plays all other seats.
        options: The rules: a mapping or an options object.
        reward: ``points``, ``relative`` or ``outcome``.
        seats_encoded: Seats that observations and actions are numbered for; by default the players.
        observation: The form of observations: ``flat``, ``dict``, ``history`` or ``tokens`` (:mod:`mitch_env.encoders`).
        render_mode: None, ``ansi``, ``human`` or ``rgb_array``: the table as the learner's seat sees it.
        **changes: Options by name.

    Raises:
        ValueError: If an argument is not allowed.
        ImportError: If an opponent needs the package ``agents`` and it is not there.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # type: ignore[misc]

    def __init__(
        self,
        game: str | Game,
        *,
        seat: int | None = None,
        opponents: Any = None,
        opponent_pool: Any = None,
        options: Any = None,
        reward: str = "points",
        seats_encoded: int | None = None,
        observation: str = "flat",
        render_mode: str | None = None,
        **changes: Any,
    ) -> None:
        check_changes(SingleAgentEnv, game, changes)
        if render_mode is not None:
            check_choice("render_mode", render_mode, RENDER_MODES)
        self.render_mode = render_mode
        self._tables = SeatTables(
            game,
            1,
            seat=seat,
            opponents=opponents,
            opponent_pool=opponent_pool,
            options=options,
            reward=reward,
            seats_encoded=seats_encoded,
            observation=observation,
            changes=changes,
        )
        self._is_playing = False
        self._spec: Any = None
        batch = self._tables.batch
        self.observation_space = batch.encoder.space
        self.action_space = LegalActions(batch.n_actions, self.action_masks)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A new match, up to the learner's first decision.

        Args:
            seed: The match: an integer from 0 to 2**64 - 1; None goes on to the next one.
            options: Ignored; the rules are fixed when the environment is made.
        """
        seed = None if seed is None else checked_seed(seed)
        super().reset(seed=seed)
        self._is_playing = True
        self._tables.reset(None if seed is None else np.array([seed], np.uint64), self.np_random)
        if self.render_mode == "human":
            self.render()
        return self._tables.batch.encoder.copied(0), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The learner plays ``action``, then the others until it must decide again or the match is over.

        Raises:
            IllegalActionError: If the action is not legal now; nothing has changed then.
        """
        tables = self._tables
        tables.step([self._legal(action)])
        terminated, truncated = bool(tables.terminated[0]), bool(tables.truncated[0])
        self._is_playing = not (terminated or truncated)
        if self.render_mode == "human":
            self.render()
        encoder = tables.batch.encoder if self._is_playing else tables.final
        return encoder.copied(0), float(tables.reward[0]), terminated, truncated, self._info()

    def action_masks(self) -> np.ndarray:
        """bool[actions], what the learner may do; all False before the first match and after each."""
        mask: np.ndarray = self._tables.batch.mask[0] & self._is_playing
        return mask

    @property
    def spec(self) -> Any:
        """What Gymnasium made the environment from; it writes it once it has."""
        return self._spec

    @spec.setter
    def spec(self, spec: Any) -> None:
        check_id(spec, self._tables.batch.game)
        self._spec = spec

    @property
    def seat(self) -> int:
        """The learner's seat in this match."""
        return int(self._tables.seat[0])

    def render(self) -> Any:
        """The table from the learner's seat: text (``ansi``), a picture (``rgb_array``), or printed (``human``)."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode does nothing: make the env with render_mode='ansi', say")
            return None
        batch = self._tables.batch
        shown = render_table(batch.game, batch.tables[0], self.seat, self.render_mode)
        if self.render_mode != "human":
            return shown
        print(shown, flush=True)
        return None

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "seat": self.seat}

    def _legal(self, action: Any) -> int:
        """The action as an int, if it is legal."""
        if not self._is_playing:
            raise IllegalActionError("no match is being played: call reset() first")
        mask = self._tables.batch.mask[0]
        given: Any = None if isinstance(action, (bool, np.bool_)) else action
        try:
            number = operator.index(given)
        except TypeError:
            raise IllegalActionError(f"{action!r:.80} is no action: an integer from 0 to {len(mask) - 1} is needed") from None
        if 0 <= number < len(mask) and mask[number]:
            return number
        if isinstance(action, DrawnAction):
            legal = np.flatnonzero(mask)
            return int(legal[number % len(legal)])
        raise IllegalActionError(self._tables.batch._refusal(0, number).removeprefix("table 0, "))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.action_space = LegalActions(self._tables.batch.n_actions, self.action_masks, self.action_space._np_random)


def render_table(game: Game, table: Table, seat: int, mode: str) -> Any:
    """A table as ``seat`` sees it: a picture for ``rgb_array``, text for the other modes."""
    if mode == "rgb_array":
        return np.asarray(game.rules.draw_table(table, seat))
    return game.rules.describe(table, seat)
