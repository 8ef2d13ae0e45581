"""Many tables of any game, stepped in one call."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arguments import checked_actions, checked_rows, differ, plain
from .chance import checked_seed, match_seeds, next_seed
from .crew import Crew, finish
from .encoders import NO_RENAMING, Encoder
from .errors import IllegalActionError
from .game import NOBODY, Game, legal_moves
from .jit import kernel_view
from .kernels import CREW_ROW, END, FAILED, MOST_SILENT, NEXT, UNKNOWN, VERDICT, kernels_of
from .layout import Layout
from .options import OptionsError, check_int
from .registry import get_game
from .tables import described, put, repeated, taken, with_own_arrays

#: Rows that a thread must have to do for waking it up to be worth it.
FEWEST_ROWS = 256


#: Attributes that a copy has of its own making.
_MADE_ANEW = frozenset(("observation", "mask", "scored", "terminated", "truncated", "_raw", "_alone", "_crew"))
_MADE_ANEW |= {"_kernels", "_of_a_step", "_seen"}


@dataclass(frozen=True)
class Seen:
    """What the actors of some tables see, in the names that were asked for.

    Attributes:
        observation: float32[m, size].
        mask: bool[m, actions].
        code: int64[m], the renaming of each row; :meth:`Batch.own_names` undoes it.
    """

    observation: np.ndarray
    mask: np.ndarray
    code: np.ndarray


class Batch:
    """``n`` tables of a game, each with its own seed, dealt anew by themselves when a match is over.

    All results lie in buffers that the batch owns and writes in place: no call after the first allocates memory, and
    ``torch.from_numpy`` shares it. Copy what you want to keep beyond the next ``step``.

    Attributes:
        tables: The tables (``np.recarray``), hidden cards included.
        actor: int8[n], the seat that must answer at each table; -1 where the match of a given seed asks nobody anything
            (:meth:`skip_silent` goes on from there).
        observation: What that seat sees: float32[n, size] in [0, 1], or arrays by name (``encoders``).
        mask: bool[n, actions], what it may do.
        reward: float32[n, seats], what the last ``step`` paid each seat, of the match that was played in it.
        scored: bool[n], whether the last ``step`` settled a deal (the last one of a match included).
        terminated: bool[n], whether the last ``step`` ended the match; ``observation``, ``mask`` and ``actor`` then belong
            to the next match already.
        truncated: bool[n], likewise for matches that hit a limit.

    Args:
        game: A game or its name.
        n: The number of tables; may be left out if ``options`` is a sequence.
        options: The rules: a mapping, an options object, or a sequence of ``n`` of them (tables may differ in rules and
            players).
        seed: One integer for all, or ``n`` integers (match seeds, as ``env.reset`` takes them); None draws fresh ones.
        reward: ``points``, ``relative`` or ``outcome``.
        seats_encoded: Seats that observations and actions are numbered for; by default the most players of any table.
        observation: The form: ``flat``, ``dict``, ``history`` or ``tokens`` (:mod:`mitch_env.encoders`).
        canonical: Whether ``observation``, ``mask`` and all actions are in canonical names: at each decision the suits are
            renamed from what the actor sees, so that positions that differ in names only look the same.
        threads: How many threads share the work of one call, at most: each has 256 tables or more. The interpreter lock is
            released in every call. More threads than processors make no sense.
        check: Whether ``step`` checks that every action is legal before anything is played.
        **changes: Options by name, for all tables.

    Raises:
        OptionsError: If an option is unknown or a value is not allowed.
    """

    #: Whether a finished match is followed by the next one in the same step.
    _goes_on = True

    def __init__(
        self,
        game: str | Game,
        n: int | None = None,
        *,
        options: Any = None,
        seed: int | Sequence[int] | np.ndarray | None = None,
        reward: str = "points",
        seats_encoded: int | None = None,
        observation: str = "flat",
        canonical: bool = False,
        threads: int = 1,
        check: bool = True,
        **changes: Any,
    ) -> None:
        self.game = get_game(game)
        self.options = self._options_of_tables(n, options, changes)
        n = len(self.options)
        self._threads = check_int("threads", threads, 1, 1024)
        self.check = check
        self._canonical = canonical
        self.tables = self.game.new_tables(self.options, seeds=match_seeds(seed, n), reward=reward, seats_encoded=seats_encoded)
        self._reward_kind = int(self.tables[0].reward_kind)
        self.seats = int(self.tables[0].seats_encoded)
        rules = self.game.rules
        self.actor = np.zeros(n, np.int8)
        self.encoder = Encoder(observation, self.game, self.seats, n)
        self.observation = self.encoder.value
        self._mask = np.zeros((n, rules.n_actions(self.seats)), np.uint8)
        self.mask = self._mask.view(np.bool_)
        self.reward = np.zeros((n, self.seats), np.float32)
        self._scored = np.zeros(n, np.uint8)
        self._terminated = np.zeros(n, np.uint8)
        self._truncated = np.zeros(n, np.uint8)
        self.scored = self._scored.view(np.bool_)
        self.terminated = self._terminated.view(np.bool_)
        self.truncated = self._truncated.view(np.bool_)
        self._code = np.full(n, NO_RENAMING, np.int64)
        self._scratch = kernel_view(np.zeros(self.threads, rules.table_dtype))
        self._policy = np.zeros(n, np.uint64)
        self._actions = np.zeros(n, np.int64)
        self._renamed = np.zeros(n, np.int64)
        self._all_rows = np.arange(n, dtype=np.int64)
        self._take_kernels()
        self._begin(self._all_rows, self.tables.seed.copy())

    def _options_of_tables(self, n: int | None, options: Any, changes: Mapping[str, Any]) -> list[Any]:
        if isinstance(options, Sequence) and not isinstance(options, str):
            if n is not None and n != len(options):
                raise ValueError(f"n={n}, but options are given for {len(options)} tables")
            if not options:
                raise ValueError("options must name at least one table")
            return [self.game.options(one, **changes) for one in options]
        if n is None:
            raise ValueError("n, the number of tables, is needed unless options is a sequence")
        return [self.game.options(options, **changes)] * check_int("n", n, 1, 1 << 31)

    def _take_kernels(self) -> None:
        self._raw = kernel_view(self.tables)
        self._alone = np.zeros(CREW_ROW, np.int64)  # what threads tell each other, for the calling thread if it is the only one
        self._crew = Crew(self._threads - 1)
        # Nothing looks at the types of what these are given: only arrays made here, or by the checks of actions and rows.
        self._kernels = kernels_of(self.game.rules).direct
        self._seen = (self.encoder.flat, self._mask, self.actor)
        how = (self._goes_on, not self._canonical)
        self._of_a_step = (*how, self.reward, self._scored, self._terminated, self._truncated, self._policy, *self._seen)

    def __len__(self) -> int:
        return len(self.tables)

    @property
    def threads(self) -> int:
        """How many threads share the work of one call."""
        return self._threads

    @property
    def canonical(self) -> bool:
        """Whether what is seen, and actions, are in canonical names."""
        return self._canonical

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return self._mask.shape[1]

    def observation_layout(self) -> Layout:
        """Names, slices and meaning of the blocks of ``observation``."""
        return self.encoder.layout

    def reset(self, rows: Any = None, seed: int | Sequence[int] | np.ndarray | None = None) -> None:
        """A new match at some tables, or all.

        Args:
            rows: Indices of tables; None for all.
            seed: One integer for all, or one match seed for each of them; None goes on to the match that follows at each table.

        It is that very match, even if it asks nobody anything (in some games one can end without a decision): ``actor`` is
        -1 there then, and ``tables.totals`` has its score. :meth:`skip_silent` goes on to one that asks somebody.
        """
        with self._crew.turn:
            where = self._rows_once(rows)
            seeds: Any = next_seed(self.tables.seed[where]) if seed is None else match_seeds(seed, len(where))
            self._begin(where, seeds)

    def skip_silent(self, rows: Any = None) -> None:
        """Goes on, where nobody is to act, to the next match that asks somebody something, as ``step`` does by itself.

        Right after making or ``reset`` a match may ask nobody anything; ``tables.seed`` tells which match is on a table then.

        Args:
            rows: Indices of tables; None for all.

        Raises:
            OptionsError: If the next 64 matches at a table ask nobody anything either.
        """
        where = self._rows_once(rows)
        for _ in range(MOST_SILENT):
            where = where[self.actor[where] == NOBODY]
            if not len(where):
                return
            self.reset(where)
        where = where[self.actor[where] == NOBODY]
        if len(where):
            raise OptionsError(
                f"table {where[0]}: in {MOST_SILENT} matches in a row nobody was asked anything: "
                "these options leave nothing to decide"
            )

    def step(self, actions: Any, rows: Any = None) -> None:
        """Plays one decision at each table, or at some, and writes the results into the batch's buffers.

        Args:
            actions: Integers, one for each table (or each of ``rows``).
            rows: Indices of tables, none twice; None for all. Buffers of the other tables stay as they are.

        Raises:
            IllegalActionError: If an action is not legal at its table (with ``check``); nothing has been played then.

        An exception from outside, such as that of Ctrl-C, leaves it played at all tables or at none (with ``check``).
        """
        with self._crew.turn:
            where = self._all_rows if rows is None and self._threads == 1 else self._rows_once(rows)
            n = len(where)
            chosen = checked_actions(actions, n)
            checks = bool(self.check)  # the same for all threads
            if self._canonical:
                own_names = self._renamed[:n]
                self._kernels.rename_rows(self._code, where, chosen, True, own_names)
                chosen = own_names
            try:
                if self._threads == 1:
                    first = self._step_range(where, chosen, checks, self._alone, 0, 0, n)
                else:
                    is_all = not (self._canonical or self.encoder.writes)  # that the kernel does
                    first = self._share(self._step_range, (where, chosen, checks), by_blocks=is_all)
            except BaseException:
                finish(lambda: self._view_range(where, self._alone, 0, 0, n))  # whatever was played
                raise
            if first >= 0:
                raise IllegalActionError(self._refusal(int(where[first]), int(chosen[first])))

    def random_actions(self, rows: Any = None) -> np.ndarray:
        """A uniform legal action for each table (int64), from a stream of its own that starts with each match's seed.

        With ``rows=None`` the answer lies in a buffer that the next call overwrites. A row that stands twice gets two actions.
        Where nobody is to act it is -1.
        """
        with self._crew.turn:
            where = self._rows(rows)
            out = self._actions if rows is None else np.empty(len(where), np.int64)
            if self._threads == 1 or (rows is not None and not differ(where)):  # two threads must not draw from one stream
                self._kernels.pick_rows(self._raw, where, 0, len(where), self._alone, 0, self._policy, out)
            else:
                self._share(self._pick_range, (where, out), by_blocks=True)
            if self._canonical:
                self._kernels.rename_rows(self._code, where, out, False, out)
            return out

    def seen(self, rows: Any = None, canonical: bool = False) -> Seen:
        """What the actors see at some tables, in fresh arrays; in canonical names whatever the batch itself uses."""
        where = self._rows(rows)
        if canonical == self._canonical:
            return Seen(self.encoder.flat[where], self.mask[where], self._code[where])
        m = len(where)
        tables = kernel_view(taken(self.tables, where))
        observation = np.empty((m, self.encoder.layout.size), np.float32)
        mask = np.empty((m, self.n_actions), np.uint8)
        code, actor, order = self._code[where], np.zeros(m, np.int8), np.arange(m)
        if canonical:
            scratch = kernel_view(np.zeros(1, self.tables.dtype))
            self._kernels.view_canonical_rows(tables, order, 0, m, scratch, code, observation, mask, actor)
        else:
            self._kernels.view_rows(tables, order, 0, m, observation, mask, actor)
        return Seen(observation, mask.view(np.bool_), code)

    def own_names(self, seen: Seen, actions: np.ndarray, canonical: bool) -> np.ndarray:
        """Actions chosen from ``seen(rows, canonical)``, in the names that ``step`` of this batch takes.

        Raises:
            ValueError: If they are not one integer for each row of ``seen``.
        """
        m = len(seen.code)
        chosen = checked_actions(actions, m)
        if canonical == self._canonical:
            return chosen
        out = np.empty(m, np.int64)
        self._kernels.rename_rows(plain(seen.code), np.arange(m), chosen, canonical, out)
        return out

    def snapshot(self, rows: Any = None) -> np.recarray:
        """Copies of the tables, for :meth:`restore`."""
        return taken(self.tables, self._rows(rows))

    def restore(self, snapshot: np.ndarray, rows: Any = None) -> None:
        """Puts tables back (from ``snapshot``, or worlds made by ``redeal_hidden``) and writes what is seen there."""
        where = self._rows_once(rows)
        if getattr(snapshot, "dtype", None) != self.tables.dtype or snapshot.shape != where.shape:
            raise ValueError(
                f"restore needs {len(where)} tables of {self.game.name} in one row, as snapshot() returns them, "
                f"got {described(snapshot)}"
            )
        if np.any(snapshot["seats_encoded"] != self.seats):
            raise ValueError(f"the snapshot's tables are not encoded for {self.seats} seats")
        if np.any(snapshot["actor"] == NOBODY):
            raise ValueError("a table at which nobody is to act (the match is over) cannot be restored")

        def write() -> None:
            put(self.tables, where, snapshot)
            self.tables.stop_at_deal[where] = 0
            self.tables.reward_kind[where] = self._reward_kind

        with self._crew.turn:
            self._write_and_view(where, write)

    def redeal_hidden(self, seat: int, key: int, rows: Any = None) -> np.recarray:
        """Worlds that ``seat`` cannot tell from the tables: what it has not seen is drawn anew, differently for each row."""
        worlds = self.snapshot(rows)
        check_int("seat", seat, 0, min((int(players) for players in worlds.players), default=self.seats) - 1)
        keys = match_seeds(checked_seed(key, "key"), len(worlds))
        self._kernels.redeal(kernel_view(worlds), seat, keys)
        return worlds

    def worlds(self, rows: Any, n: int, key: int) -> np.ndarray:
        """``[rows, n]`` worlds that the actors at some tables cannot tell from the real ones (``redeal_hidden``).

        Raises:
            ValueError: If nobody is to act at one of them, or an argument is not allowed.
        """
        where = self._rows(rows)
        check_int("n", n, 1, 1 << 31)
        silent = where[self.actor[where] == NOBODY]
        if len(silent):
            raise ValueError(f"table {silent[0]}: nobody is to act there, so there is nobody who could not tell worlds apart")
        worlds = repeated(taken(self.tables, where), n)
        raw = kernel_view(worlds)
        keys = match_seeds(checked_seed(key, "key"), len(worlds))
        for i, seat in enumerate(np.repeat(self.actor[where], n)):
            self._kernels.redeal(raw[i : i + 1], int(seat), keys[i : i + 1])
        return worlds.reshape(len(where), n)

    # --- Inside.

    def _rows(self, rows: Any) -> np.ndarray:
        if self._threads > 1:
            self._crew.settle()
        return self._all_rows if rows is None else checked_rows(rows, len(self))

    def _rows_once(self, rows: Any) -> np.ndarray:
        """Rows that are written to, so that none may stand twice."""
        where = self._rows(rows)
        if rows is not None and not differ(where):
            raise ValueError(f"a row stands twice in rows {str(rows)[:80]}")
        return where

    def _begin(self, where: np.ndarray, seeds: np.ndarray) -> None:
        def write() -> None:
            self.tables.seed[where] = seeds
            self._kernels.reset_rows(self._raw, where, self._policy)
            self.reward[where] = 0.0
            self._scored[where] = 0
            self._terminated[where] = 0
            self._truncated[where] = 0

        self._write_and_view(where, write)

    def _write_and_view(self, where: np.ndarray, write: Callable[[], None]) -> None:
        """Writes to tables and shows them; an interrupt comes out when both have been done."""
        try:
            write()
            self._share(self._view_range, (where,))
        except BaseException:
            finish(lambda: (write(), self._view_range(where, self._alone, 0, 0, len(where))))  # type: ignore[func-returns-value]
            raise

    # What a thread does of a call. ``crew`` is what it has in common with the others (``kernels.step_rows``).

    def _pick_range(self, where: np.ndarray, out: np.ndarray, crew: np.ndarray, worker: int, lo: int, hi: int) -> None:
        self._kernels.pick_rows(self._raw, where, lo, hi, crew, worker, self._policy, out)

    def _step_range(
        self, where: np.ndarray, actions: np.ndarray, checks: bool, crew: np.ndarray, worker: int, lo: int, hi: int
    ) -> int:
        """Returns the first place whose action is illegal, at whichever thread; below 0 if there is none."""
        first: int = self._kernels.step_rows(self._raw, where, lo, hi, actions, crew, worker, checks, *self._of_a_step)
        if first < 0 and self._canonical:
            self._view_range(where, crew, worker, lo, hi)
        elif first < 0 and self.encoder.writes:
            self.encoder.write(self._raw, where, lo, hi, self.actor, self._code)
        return first

    def _view_range(self, where: np.ndarray, crew: np.ndarray, worker: int, lo: int, hi: int) -> None:
        if self._canonical:
            scratch = self._scratch[worker : worker + 1]
            self._kernels.view_canonical_rows(self._raw, where, lo, hi, scratch, self._code, *self._seen)
        else:
            self._kernels.view_rows(self._raw, where, lo, hi, *self._seen)
        self.encoder.write(self._raw, where, lo, hi, self.actor, self._code)

    def _n_workers(self, n: int) -> int:
        """How many threads share the work on ``n`` tables. None of them runs any more when the interpreter ends."""
        return 1 if sys.is_finalizing() else max(1, min(self._threads, n // FEWEST_ROWS))

    def _share(self, work: Any, given: tuple[Any, ...], by_blocks: bool = False) -> Any:
        """``work(*given, crew, worker, lo, hi)`` for each thread: all of them together do all places of ``given[0]``.

        Args:
            work: What calls a kernel; kernels release the interpreter lock.
            given: Its first arguments.
            by_blocks: Whether ``work`` does blocks of places, so that a thread that is done helps those that are not; otherwise
                it does those from ``lo`` to ``hi``.

        Returns:
            What it returns in the calling thread.
        """
        n = len(given[0])
        workers = self._n_workers(n)
        if workers == 1:
            return work(*given, self._alone, 0, 0, n)
        cuts = [n * i // workers for i in range(workers + 1)]
        crew = np.zeros(workers * CREW_ROW, np.int64)
        if by_blocks:
            crew[NEXT::CREW_ROW], crew[END::CREW_ROW] = cuts[:-1], cuts[1:]

        def give_up() -> None:
            """A thread whose verdict is awaited may not come to one: none of them plays."""
            verdicts = crew[VERDICT::CREW_ROW]
            verdicts[verdicts == UNKNOWN] = FAILED

        return self._crew.run(lambda worker: work(*given, crew, worker, cuts[worker], cuts[worker + 1]), workers, give_up)

    def _refusal(self, row: int, action: int) -> str:
        table, rules = self.tables[row], self.game.rules
        if table.actor == NOBODY:
            return (
                f"table {row}: the match on it is over and asks nobody anything; "
                f"skip_silent(rows=[{row}]) goes on to the next one that asks somebody"
            )
        legal = ", ".join(legal_moves(self.game, table))
        known = 0 <= action < self.n_actions
        tried = f"{rules.action_name(table, action)} (action {action})" if known else f"{action} is no action of this game"
        return f"table {row}, seat{table.actor} tried: {tried}; phase: {rules.phase_name(table)}; legal here: {legal}"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _MADE_ANEW}

    def __copy__(self) -> Batch:
        """A copy never shares tables or buffers."""
        return copy.deepcopy(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(with_own_arrays(state))
        self.observation = self.encoder.value
        self.mask = self._mask.view(np.bool_)
        self.scored = self._scored.view(np.bool_)
        self.terminated = self._terminated.view(np.bool_)
        self.truncated = self._truncated.view(np.bool_)
        self._take_kernels()
