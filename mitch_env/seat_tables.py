"""Tables at which one seat learns and opponents play the others: what both Gymnasium views step.

A step is one decision of the learner and all that follows until it must decide again. Which seat learns, and who of a pool
plays against it, follows from the match seed alone, as the deals do: the same match is the same in both views, in whatever
row it is played.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Mapping
from typing import Any

import gymnasium
import numba
import numpy as np
from numba import types

from .batch import Batch
from .chance import advanced, mix, stream
from .encoders import Encoder
from .game import NOBODY, Game, Rules
from .jit import kernel
from .opponents import Opponents
from .options import OptionsError, check_int, unknown_name
from .registry import get_game
from .tables import with_own_arrays

#: What a match seed is mixed with to draw the learner's seat and its opponent (the other streams are in ``chance.py``).
SEAT_STREAM = np.uint64(0x6D69746368000010)
#: Matches in a row in which the learner is asked nothing before that is an error.
MOST_SKIPPED = 1000

_S32 = np.uint64(32)


class SeatTables:
    """``n`` tables with a learner each.

    Attributes:
        batch: The tables. Where a match is under way the learner is to act, so ``batch.observation`` and ``batch.mask`` are
            its own; where a match is over nobody is.
        seat: int64[n], the learner's seat.
        reward: float64[n], what the last step paid the learner; with the first step of a match all that it was paid before.
        terminated: bool[n], whether the match ended in the last step.
        truncated: bool[n], likewise for matches that hit a limit.
        final: The learner's view of the finished table, where a match ended in the last step.
        final_seat: int64[n], its seat in that match.
        is_begun: Whether ``reset`` was called; before that nobody is to act.

    Args:
        game: The game or its name.
        n: How many tables.
        seat: The learner's seat, or None to draw it for each match.
        opponents: Who plays the other seats (:class:`~mitch_env.opponents.Opponents`).
        opponent_pool: The pool, instead of ``opponents``.
        options: The rules, as for :class:`~mitch_env.batch.Batch`; so are ``reward``, ``seats_encoded``, ``observation`` and
            ``threads``.
        changes: Options by name.
        autoreset: Whether a finished match is followed by the next one in the same step.

    Raises:
        ValueError: If an argument is not allowed.
    """

    def __init__(
        self,
        game: str | Game,
        n: int,
        *,
        seat: int | None = None,
        opponents: Any = None,
        opponent_pool: Any = None,
        options: Any = None,
        reward: str = "points",
        seats_encoded: int | None = None,
        observation: str = "flat",
        threads: int = 1,
        changes: Mapping[str, Any],
        autoreset: bool = False,
    ) -> None:
        settings: dict[str, Any] = {"reward": reward, "seats_encoded": seats_encoded, "threads": threads}
        self.batch = MatchBatch(game, n, options=options, seed=0, observation=observation, **settings, **changes)
        self.autoreset = autoreset
        self._players: np.ndarray = self.batch.tables.players.astype(np.int64)
        self._is_drawn = seat is None
        self.seat = np.zeros(n, np.int64)
        if seat is not None:
            self.seat[:] = _checked_seat(seat, self._players)
        self._opponents = Opponents(self.batch.game, opponents, opponent_pool, self._players)
        self._opponents.try_out(self.batch)
        #: The opponent at each place, clockwise from the learner.
        self._who = np.zeros((n, self.batch.seats - 1), np.int64)
        if not self._opponents.is_pool:
            self._who[:, : len(self._opponents.choices)] = self._opponents.choices
        self.reward = np.zeros(n)
        self.terminated = np.zeros(n, np.bool_)
        self.truncated = np.zeros(n, np.bool_)
        self.final = Encoder(observation, self.batch.game, self.batch.seats, n)
        self.final_seat = np.zeros(n, np.int64)
        self._paid = np.zeros(n)  # since the learner's last decision, or since the match began
        self._has_decided = np.zeros(n, np.bool_)
        self._n_skipped = np.zeros(n, np.int64)
        self._all_rows = np.arange(n)
        self.is_begun = False
        #: Whether every table waits for the learner or is over; not so after an opponent has raised in the middle.
        self._is_settled = True

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(with_own_arrays(state))

    def __len__(self) -> int:
        return len(self.batch)

    def reset(self, seeds: np.ndarray | None, rng: np.random.Generator) -> None:
        """New matches, up to the learner's first decision in each.

        Args:
            seeds: Match seeds; None goes on to the match that follows at each table (the first time: ``rng`` draws the seeds).
            rng: The chance of the opponents.
        """
        self._is_settled = False
        self._opponents.reset(rng)
        if seeds is None and not self.is_begun:
            seeds = rng.integers(0, 1 << 53, len(self), np.uint64)
        self.is_begun = True
        self.reward[:] = 0.0
        self.terminated[:] = False
        self.truncated[:] = False
        self._n_skipped[:] = 0
        self._begin(self._all_rows, seeds)
        self._play_others(self._all_rows)
        self._is_settled = True

    def step(self, actions: Any) -> None:
        """Plays the learner's decision at each table, and all others until it must decide again or its match is over.

        Raises:
            IllegalActionError: If an action is not legal at its table; nothing has been played then.
            gymnasium.error.ResetNeeded: If an opponent raised in the last call, so that tables wait for opponents.
        """
        if not self._is_settled:
            raise gymnasium.error.ResetNeeded("an opponent raised an error while it was to move: call reset() to go on")
        batch = self.batch
        batch.step(actions)
        self._is_settled = False
        self._has_decided[:] = True
        self._n_skipped[:] = 0
        self._paid += batch.reward[self._all_rows, self.seat]
        self.terminated[:] = False
        self.truncated[:] = False
        self._play_others(self._all_rows)
        goes_on = ~(self.terminated | self.truncated)
        self.reward[goes_on] = self._paid[goes_on]
        self._paid[goes_on] = 0.0
        self._is_settled = True

    def _play_others(self, rows: np.ndarray) -> None:
        batch = self.batch
        while True:
            over = rows[batch.actor[rows] == NOBODY]
            while len(over):
                over = self._end(over)
            actor, seat = batch.actor[rows], self.seat[rows]
            waiting = (actor != NOBODY) & (actor != seat)
            rows = rows[waiting]
            if not len(rows):
                return
            seat = seat[waiting]
            place = (actor[waiting] - seat - 1) % self._players[rows]
            batch.step(self._opponents.act(batch, rows, self._who[rows, place]), rows)
            self._paid[rows] += batch.reward[rows, seat]

    def _end(self, over: np.ndarray) -> np.ndarray:
        """Settles finished matches and begins those that follow; returns the rows at which these are over already.

        A match in which the learner was asked nothing is skipped: it has no step that could end it.
        """
        batch = self.batch
        ended = over[self._has_decided[over]]
        if len(ended):
            self.reward[ended] = self._paid[ended]
            self.terminated[ended] = batch.terminated[ended]
            self.truncated[ended] = batch.truncated[ended]
            self.final_seat[ended] = self.seat[ended]
            batch.view_seats(ended, self.seat, self.final)
        again = over if self.autoreset else over[~self._has_decided[over]]
        self._n_skipped[again] += ~self._has_decided[again]
        if len(again) and self._n_skipped[again].max() > MOST_SKIPPED:
            raise OptionsError(
                f"in {MOST_SKIPPED} matches in a row the learner was asked nothing: these options leave it nothing to decide"
            )
        if len(again):
            self._begin(again)
        over_again: np.ndarray = again[batch.actor[again] == NOBODY]
        return over_again

    def _begin(self, rows: np.ndarray, seeds: np.ndarray | None = None) -> None:
        self.batch.reset(rows, seeds)
        tables = self.batch.tables
        counter = stream(tables.seed[rows], SEAT_STREAM)
        if self._is_drawn:
            self.seat[rows] = _below(mix(counter), self._players[rows])
        if self._opponents.is_pool:
            choices = self._opponents.choices
            self._who[rows] = choices[_below(mix(advanced(counter)), np.int64(len(choices)))][:, None]
        self._paid[rows] = tables.reward[rows, self.seat[rows]]
        self._has_decided[rows] = False


def check_changes(view: type, game: str | Game, changes: Mapping[str, Any]) -> None:
    """Refuses what is neither an option of the game nor an argument of ``view``, which has its own by keyword.

    Without it, settings of :class:`~mitch_env.batch.Batch` that the views decide themselves would pass for options.

    Raises:
        OptionsError: If there is such a name.
    """
    fields = [field.name for field in dataclasses.fields(get_game(game).defaults)]
    for name in changes:
        if name not in fields:
            own = [one for one in inspect.signature(view).parameters if one not in ("game", "changes")]
            raise OptionsError(unknown_name("option", name, [*fields, *own]))


def check_id(spec: Any, game: Game) -> None:
    """Refuses an environment that Gymnasium made by the id of one game with ``game=`` another.

    Raises:
        OptionsError: If it is one.
    """
    registered = gymnasium.registry.get(getattr(spec, "id", ""))
    of_id = None if registered is None else registered.kwargs.get("game")
    if of_id is not None and get_game(of_id) != game:
        raise OptionsError(
            f"game={game.name!r}: {spec.id} is the game {get_game(of_id).name!r}; each game has an id of its own"
        )


def _checked_seat(seat: Any, players: np.ndarray) -> int:
    fewest = int(players.min())
    try:
        return check_int("seat", seat, 0, fewest - 1)
    except OptionsError as error:
        why = "" if fewest == players.max() else f" (the smallest table has {fewest} players)"
        raise OptionsError(f"{error}{why}, or None to draw it for each match") from None


def _below(bits: Any, n: Any) -> np.ndarray:
    """One of 0 to ``n`` - 1 for each 64 random bits."""
    drawn: np.ndarray = ((bits >> _S32) * n.astype(np.uint64)) >> _S32
    return drawn.astype(np.int64)


class MatchBatch(Batch):
    """A batch that leaves a finished match on the table, where it can still be looked at, until ``reset`` begins the next."""

    _goes_on = False

    def _take_kernels(self) -> None:
        super()._take_kernels()
        self._match_kernels = _match_kernels_of(self.game.rules)

    def view_seats(self, rows: np.ndarray, seats: np.ndarray, out: Encoder) -> None:
        """Writes to row ``i`` of ``out`` what ``seats[i]`` sees at each table ``i`` of ``rows``, whoever is to act."""
        self._match_kernels.view_seats(self._raw, rows, seats, out.flat)
        out.write(self._raw, rows, 0, len(rows), seats.astype(np.int8), self._code)

    def __getstate__(self) -> Mapping[str, Any]:  # type: ignore[override]
        return {name: value for name, value in super().__getstate__().items() if name != "_match_kernels"}


class _MatchKernels:
    """The kernels of :class:`MatchBatch` for one set of rules."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._tables = numba.from_dtype(rules.table_dtype)[::1]

    @functools.cached_property
    def view_seats(self) -> Any:
        """``(tables, rows, seats, out)``: ``out[i]`` becomes what ``seats[i]`` sees at table ``i``, for each of ``rows``."""
        observe = self.rules.observe

        def view_seats(tables: Any, rows: Any, seats: Any, out: Any) -> None:
            for k in range(rows.shape[0]):
                i = rows[k]
                observe(tables[i], seats[i], out[i])

        ints = types.int64[::1]
        signature = types.void(self._tables, ints, ints, types.float32[:, ::1])
        return kernel(view_seats, signature, f"{self.rules.name} seat view")


@functools.cache
def _match_kernels_of(rules: Rules) -> _MatchKernels:
    return _MatchKernels(rules)
