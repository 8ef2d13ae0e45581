"""Who plays the seats that do not learn: names, agents, one for each seat, or a pool."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from .batch import Batch
from .game import NOBODY, Game
from .options import OptionsError

#: The opponent that needs no agent: any legal action, from the generator of each table.
RANDOM = "random"

_FORMS = "a name (random, rule, policy:FILE, package.module:Class) or an agent"


def _agents_package(wanted: str) -> tuple[Any, Any]:
    """``make_agent`` and ``act`` of the package ``agents``, which is imported only when an opponent needs it.

    Raises:
        ImportError: If it is not there.
    """
    try:
        from agents.agent import act
        from agents.names import make_agent
    except ImportError as error:
        raise ImportError(
            f"{wanted} needs the package 'agents' that comes with mitch-env, and it is not there ({error}); "
            "opponents='random' plays without it"
        ) from error
    return make_agent, act


class Opponents:
    """The opponents of one learning seat.

    Args:
        game: What they play.
        opponents: One opponent for all other seats (``random`` if there is no pool either), or a sequence with one for each
            other seat, clockwise from the learner.
        pool: A sequence of opponents, one of which plays all other seats of a match.
        players: The number of players at each table.

    Attributes:
        is_pool: Whether one is drawn for each match.
        choices: int64, indices of agents: those of the pool; else of who sits at each place, clockwise from the learner.

    Raises:
        ValueError: If an opponent cannot play here, or there is a wrong number of them.
        ImportError: If an opponent needs the package ``agents`` and it is not there.
    """

    def __init__(self, game: Game, opponents: Any, pool: Any, players: np.ndarray) -> None:
        self._game = game
        self._agents: list[Any] = []
        self._given: list[Any] = []
        self._act: Any = None
        self.is_pool = pool is not None
        given = _listed(opponents, pool, players)
        self.choices = np.array([self._index(where, one) for where, one in given], np.int64)

    def _index(self, where: str, given: Any) -> int:
        """The index of an opponent; who is named twice is made once."""
        for index, known in enumerate(self._given):
            if given is known or (isinstance(given, str) and isinstance(known, str) and given == known):
                return index
        self._given.append(given)
        self._agents.append(self._made(where, given))
        return len(self._agents) - 1

    def _made(self, where: str, given: Any) -> Any:
        """The agent, or None for ``random``."""
        if isinstance(given, str) and given == RANDOM:
            return None
        if not isinstance(given, str):
            if isinstance(given, type):
                raise ValueError(f"{where} is the class {given.__name__}: an object of it is needed")
            missing = [name for name in ("name", "encoder", "reset", "act_batch") if not hasattr(given, name)]
            if missing:
                raise ValueError(f"{where} is a {type(given).__name__}, which has no {missing[0]!r}: {_FORMS} is needed")
        make_agent, self._act = _agents_package(f"{where}={given!r:.60}")
        if not isinstance(given, str):
            return given
        try:
            return make_agent(given, self._game)
        except ImportError:
            raise
        except Exception as error:
            named = "" if isinstance(error, ValueError) else f"{given!r} cannot be made: "
            raise ValueError(f"{where}: {named}{_said(error)}") from error

    def try_out(self, batch: Batch) -> None:
        """Lets each agent choose once, so that one that cannot play at these tables is told now, not in the first match.

        Args:
            batch: The tables. Where all matches ask nobody anything, it goes on to one that does.

        Raises:
            ValueError: If one cannot, whatever it raises itself.
        """
        if all(agent is None for agent in self._agents):
            return
        if not np.any(batch.actor != NOBODY):
            with contextlib.suppress(OptionsError):  # nothing to choose at all: the first match says so
                batch.skip_silent()
        rows = np.flatnonzero(batch.actor != NOBODY)[:1]
        for given, agent in zip(self._given, self._agents, strict=True):
            if agent is None or not len(rows):
                continue
            try:
                agent.reset(None, np.random.default_rng(0))
                self._act(agent, batch, rows)
            except Exception as error:
                named = given if isinstance(given, str) else agent.name
                raise ValueError(f"opponent {named!r} cannot play here: {_said(error)}") from error

    def reset(self, rng: np.random.Generator) -> None:
        """New matches begin: every agent gets a generator that follows from ``rng``."""
        for agent in self._agents:
            if agent is not None:
                agent.reset(None, np.random.default_rng(rng.integers(1 << 63)))

    def act(self, batch: Batch, rows: np.ndarray, who: np.ndarray) -> np.ndarray:
        """An action for each row, from the agent with the index ``who``; each is asked once at most."""
        if len(self._agents) == 1:
            return self._act_one(0, batch, rows)
        actions = np.zeros(len(rows), np.int64)
        for index in np.unique(who):
            own = who == index
            actions[own] = self._act_one(index, batch, rows[own])
        return actions

    def _act_one(self, index: int, batch: Batch, rows: np.ndarray) -> np.ndarray:
        agent = self._agents[index]
        chosen: np.ndarray = batch.random_actions(rows) if agent is None else self._act(agent, batch, rows)
        return chosen


def _said(error: Exception) -> str:
    """What an exception says, with its kind where that belongs to it."""
    return str(error) if isinstance(error, (ValueError, OSError)) else f"{type(error).__name__}: {error}"


def _listed(opponents: Any, pool: Any, players: np.ndarray) -> list[tuple[str, Any]]:
    """What was given for each choice, and where, for messages: those of the pool, or one for each place."""
    if pool is not None:
        if opponents is not None:
            raise ValueError("opponents and opponent_pool do not go together: give one opponent or a list, or a pool")
        if not _is_list(pool) or not pool:
            raise ValueError(f"opponent_pool={pool!r:.80}: a list of at least one is needed, each {_FORMS}")
        return [(f"opponent_pool[{i}]", one) for i, one in enumerate(pool)]
    others = int(players.max()) - 1
    if not _is_list(opponents):
        return [("opponents", RANDOM if opponents is None else opponents)] * others
    if players.min() != players.max():
        raise ValueError("opponents is a list, but the tables differ in players: give one opponent, or a pool")
    if len(opponents) != others:
        raise ValueError(
            f"opponents is a list of {len(opponents)}: with players={others + 1} a list of {others} is needed, "
            "clockwise from the learner"
        )
    return [(f"opponents[{i}]", one) for i, one in enumerate(opponents)]


def _is_list(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str)
