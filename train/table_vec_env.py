"""Tables as stable-baselines3 sees them: every seat learns, each from its own decisions and its own rewards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from agents.agent import Agent, act
from mitch_env import Batch, Game


class TableVecEnv(VecEnv):
    """One slot is one table; its observation is that of the seat that must act.

    At some tables every seat is played by the learner. At the others one seat is, and the rest are played inside ``step`` by
    opponents: one opponent a table, drawn anew for each match, and so is the learner's seat.

    What ``step`` returns as reward is that of the seat that acted, and means little: the rewards of a decision come with later
    steps. ``actor``, ``paid`` and ``scored`` say what happened, and :class:`train.rollouts.SeatRolloutBuffer` links it.

    Attributes:
        actor: int8[n], who took the decisions of the last step.
        paid: float32[n, seats], what the last step paid each seat, up to the first deal scored in it, scaled.
        scored: bool[n], whether a segment ended in the last step: a deal was scored, or (``outcome``) the match ended.
        teacher: An agent that is asked at each step what it would do in the learner's place, or None.
        taught: int64[n], what it would have done in the last step, in the names of the tables.
        n_decisions: Decisions taken so far, those of opponents included.
        n_matches: Matches finished so far.
        n_deals: Deals scored so far.

    Args:
        game: The game.
        options: Its options object.
        n: Tables.
        seed: Of matches, seats and opponents.
        reward: ``points``, ``relative`` or ``outcome``.
        reward_scale: Rewards are divided by it.
        canonical: Whether observations and actions are in canonical names.
        self_play: Share of the tables at which every seat learns.
        opponents: Who may sit at the other tables; the list may change between steps (an index is drawn for each match).
        n_fixed: How many of the opponents stay for good (by default all). Each of these is drawn as often as all the others
            together.
        threads: Threads that step tables.
    """

    def __init__(
        self,
        game: Game,
        options: Any,
        n: int,
        *,
        seed: int,
        reward: str = "relative",
        reward_scale: float = 1.0,
        canonical: bool = False,
        self_play: float = 1.0,
        opponents: Sequence[Agent] = (),
        n_fixed: int | None = None,
        threads: int = 1,
    ) -> None:
        self.batch = Batch(
            game, n, options=options, seed=seed, reward=reward, canonical=canonical, threads=threads, check=False
        )
        self.batch.skip_silent()
        self.opponents = list(opponents)
        self.n_fixed = len(self.opponents) if n_fixed is None else n_fixed
        self._rng = np.random.default_rng(np.random.SeedSequence((seed, 2)))
        for one in self.opponents:
            self.seat_opponent(one)
        self._ends_with_match = reward == "outcome"
        self._scale = np.float32(1.0 / reward_scale)
        self._n_mixed = n - round(self_play * n)
        if self._n_mixed and not self.opponents:
            raise ValueError(f"self_play={self_play}: the other tables need opponents")
        mixed = np.arange(n) < self._n_mixed
        self._learns = np.repeat(~mixed[:, None], self.batch.seats, 1)
        self._opponent = np.zeros(n, np.int64)
        self.actor = np.zeros(n, np.int8)
        self.paid = np.zeros((n, self.batch.seats), np.float32)
        self.scored = np.zeros(n, np.bool_)
        self._done = np.zeros(n, np.bool_)
        self.teacher: Agent | None = None
        self.taught = np.zeros(n, np.int64)
        self.n_decisions = 0
        self.n_matches = 0
        self.n_deals = 0
        self._infos: list[dict[str, Any]] = [{} for _ in range(n)]
        self._actions = np.zeros(n, np.int64)
        self._all_rows = np.arange(n)
        space = gymnasium.spaces.Box(0.0, 1.0, (self.batch.observation.shape[1],), np.float32)
        super().__init__(n, space, gymnasium.spaces.Discrete(self.batch.n_actions))
        self._draw_roles(np.flatnonzero(mixed))

    def add_opponent(self, agent: Agent, most: int) -> None:
        """Adds an opponent; of those behind the fixed ones only the latest ``most`` stay.

        Matches under way keep their number in the list, so some go on with a later snapshot.
        """
        self.seat_opponent(agent)
        self.opponents.append(agent)
        if len(self.opponents) > self.n_fixed + most:
            del self.opponents[self.n_fixed]

    def seat_opponent(self, agent: Agent) -> None:
        """Gives an opponent its generator."""
        agent.reset(None, np.random.default_rng(self._rng.integers(1 << 63)))

    def _draw_roles(self, rows: np.ndarray) -> None:
        """A learner's seat and an opponent for new matches at mixed tables."""
        if len(rows) == 0:
            return
        players = self.batch.tables.players[rows]
        self._learns[rows] = False
        self._learns[rows, self._rng.integers(0, players)] = True
        self._opponent[rows] = self._draw_opponents(len(rows))

    def _draw_opponents(self, n: int) -> np.ndarray:
        """Indices of opponents: each fixed one as often as all the others (snapshots) together."""
        n_kinds = self.n_fixed + (len(self.opponents) > self.n_fixed)
        kind = self._rng.integers(0, n_kinds, n)
        other = self._rng.integers(self.n_fixed, max(len(self.opponents), self.n_fixed + 1), n)
        return np.where(kind < self.n_fixed, kind, other)

    def reset(self) -> np.ndarray:
        """Observations of the seats that must act; matches that are under way go on."""
        self._let_others_play()
        return self.batch.observation.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Takes the actions of the next step."""
        self._actions[:] = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Plays the actions, then all others until a learner must act at every table."""
        batch = self.batch
        self.actor[:] = batch.actor
        if self.teacher is not None:
            self.taught[:] = act(self.teacher, batch, self._all_rows)
        batch.step(self._actions)
        self.n_decisions += self.num_envs
        np.multiply(batch.reward, self._scale, out=self.paid)
        self._done[:] = batch.terminated | batch.truncated
        self.scored[:] = self._done if self._ends_with_match else batch.scored
        self.n_deals += int(batch.scored.sum())
        self.n_matches += int(self._done.sum())
        self._draw_roles(np.flatnonzero(self._done[: self._n_mixed]))
        self._let_others_play()
        own = self.paid[np.arange(self.num_envs), self.actor]
        return batch.observation.copy(), own, self._done.copy(), self._infos

    def _let_others_play(self) -> None:
        batch = self.batch
        rows = self._waiting(np.arange(self._n_mixed))
        while len(rows):
            actions = np.zeros(len(rows), np.int64)
            who = self._opponent[rows]
            for index in np.unique(who):
                own = who == index
                actions[own] = act(self.opponents[index], batch, rows[own])
            batch.step(actions, rows)
            self.n_decisions += len(rows)
            # What is paid after a segment's end belongs to no decision of the next one yet.
            unsettled = rows[~self.scored[rows]]
            self.paid[unsettled] += batch.reward[unsettled] * self._scale
            done = batch.terminated[rows] | batch.truncated[rows]
            self.scored[rows] |= done if self._ends_with_match else batch.scored[rows]
            self._done[rows] |= done
            self.n_deals += int(batch.scored[rows].sum())
            self.n_matches += int(done.sum())
            self._draw_roles(rows[done])
            rows = self._waiting(rows)

    def _waiting(self, rows: np.ndarray) -> np.ndarray:
        """The rows at which an opponent must act."""
        waiting: np.ndarray = rows[~self._learns[rows, self.batch.actor[rows]]]
        return waiting

    # --- What the VecEnv interface asks for besides.

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """``action_masks``: a list with one matrix bool[n, actions]."""
        if method_name != "action_masks":
            raise AttributeError(f"tables have no method {method_name!r}; 'action_masks' is the only one")
        return [self.batch.mask]

    def has_attr(self, attr_name: str) -> bool:
        """Whether the tables have it: ``action_masks`` only."""
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """``render_mode`` is None for every table."""
        if attr_name != "render_mode":
            raise AttributeError(f"tables have no attribute {attr_name!r}")
        return [None] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Nothing can be set."""
        raise AttributeError(f"{attr_name!r} of a table cannot be set")

    def env_is_wrapped(self, wrapper_class: Callable[..., Any], indices: Any = None) -> list[bool]:
        """No table is wrapped."""
        return [False] * self.num_envs

    def close(self) -> None:
        """Nothing is held open."""
