"""Compiled loops over tables, made once for each set of rules.

Two families: loops over rows for :class:`~mitch_env.batch.Batch`, and single steps for the AEC environment, the records and
agents. Both call the very same rule functions.
"""

from __future__ import annotations

import functools
from typing import Any

import numba
from numba import types

from .chance import POLICY_STREAM, advanced, mix, next_seed, stream
from .game import NOBODY, PHASE_DEAL, PHASE_OVER, Rules
from .jit import add_to_flag, direct, give_way, kernel, load_flag, prefetch, rule, store_flag

#: What ``step_one`` returns besides a seat: between deals, after the match, or an illegal action.
AT_DEAL, AT_END, ILLEGAL = -1, -2, -3
#: Matches without a decision that a batch skips before it leaves a table over.
MOST_SILENT = 64
#: What a thread has found of its actions: nothing yet, that all are legal, or (this and above) the place of one that is not.
UNKNOWN, LEGAL, FIRST_PLACE = 0, 1, 3
#: Instead of a place, when a thread could not even look.
FAILED = FIRST_PLACE - 1
#: What threads at work on the same rows tell each other: integers of 64 bits, so many for each of them (a cache line). They are
#: its verdict on its actions; and of its part of the places, the first that nobody has begun and the one behind the last.
CREW_ROW, VERDICT, NEXT, END = 8, 0, 1, 2
#: Places that a thread takes at a time, of its own part first, then of what others have not begun.
BLOCK = 64
#: A loop has the processor fetch the table that comes so many rows later.
AHEAD = 2


# --- What several loops do. They are given the rules that they call.


@rule
def _play_to_decision(s: Any, shuffle_deal: Any, open_deal: Any) -> None:
    """Deals until somebody must answer, the match is over, or the table stops at a deal."""
    while s.phase == PHASE_DEAL and s.stop_at_deal == 0:
        shuffle_deal(s)
        open_deal(s)


@rule
def _show(s: Any, i: int, observe: Any, legal_actions: Any, observation: Any, mask: Any, actor: Any) -> None:
    """Writes who acts at the table ``i`` and what that seat sees."""
    actor[i] = s.actor
    if s.actor >= 0:
        observe(s, s.actor, observation[i])
        legal_actions(s, mask[i])
    else:
        observation[i] = 0.0
        mask[i] = 0


@rule
def _verdict_of_all(tables: Any, rows: Any, lo: int, hi: int, actions: Any, crew: Any, worker: int, is_legal: Any) -> int:
    """``LEGAL`` once all threads have found their actions so; otherwise the first verdict that is another one."""
    verdict = LEGAL
    for k in range(lo, hi):
        if k + AHEAD < hi:
            prefetch(tables, rows[k + AHEAD])
        if not is_legal(tables[rows[k]], actions[k]):
            verdict = FIRST_PLACE + k
            break
    store_flag(crew, worker * CREW_ROW + VERDICT, verdict)
    for other in range(crew.shape[0] // CREW_ROW):
        found = load_flag(crew, other * CREW_ROW + VERDICT)
        waited = 0
        while found == UNKNOWN:
            waited += 1
            give_way(waited)
            found = load_flag(crew, other * CREW_ROW + VERDICT)
        if found != LEGAL:
            return found  # the parts are in order
    return LEGAL


@rule
def _next_block(crew: Any, worker: int) -> tuple[int, int]:
    """Places that nobody has begun: the first, and the one behind the last; the same if there are none."""
    workers = crew.shape[0] // CREW_ROW
    for i in range(workers):
        row = (worker + i) % workers * CREW_ROW
        end = crew[row + END]
        if load_flag(crew, row + NEXT) < end:
            begin = add_to_flag(crew, row + NEXT, BLOCK)
            if begin < end:
                return begin, min(begin + BLOCK, end)
    return 0, 0


@rule
def _first_block(crew: Any, worker: int, lo: int, hi: int) -> tuple[int, int]:
    """The whole part of a thread if parts are not shared; otherwise the first :func:`_next_block`."""
    if crew[worker * CREW_ROW + END] == 0:
        return lo, hi
    return _next_block(crew, worker)


class DirectKernels:
    """The kernels of one set of rules as :func:`~mitch_env.jit.direct` gives them, for those who own all arrays they pass."""

    def __init__(self, kernels: Kernels) -> None:
        self._kernels = kernels

    def __getattr__(self, name: str) -> Any:
        found = direct(getattr(self._kernels, name))
        setattr(self, name, found)  # so that this is called once for each
        return found


class Kernels:
    """The kernels of one set of rules; each is compiled, or taken from the cache, when first used."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.direct = DirectKernels(self)
        self._tables = numba.from_dtype(rules.table_dtype)[::1]

    @functools.cached_property
    def step_one(self) -> Any:
        """``(tables, action) -> actor``: one checked decision at ``tables[0]``, or ``AT_DEAL``, ``AT_END``, ``ILLEGAL``.

        An illegal action leaves the table untouched.
        """
        apply_action, is_legal = self.rules.apply_action, self.rules.is_legal

        def step_one(tables: Any, action: int) -> int:
            s = tables[0]
            if not is_legal(s, action):
                return ILLEGAL
            apply_action(s, action)
            if s.phase == PHASE_DEAL:
                return AT_DEAL
            if s.phase == PHASE_OVER:
                return AT_END
            return int(s.actor)

        return kernel(step_one, types.int64(self._tables, types.int64), f"{self.rules.name} step")

    @functools.cached_property
    def step_and_view(self) -> Any:
        """``(tables, action, observation, mask) -> actor``: ``step_one``; if somebody must answer, what that seat sees."""
        apply_action, is_legal = self.rules.apply_action, self.rules.is_legal
        observe, legal_actions = self.rules.observe, self.rules.legal_actions

        def step_and_view(tables: Any, action: int, observation: Any, mask: Any) -> int:
            s = tables[0]
            if not is_legal(s, action):
                return ILLEGAL
            apply_action(s, action)
            if s.actor < 0:
                return AT_END if s.phase == PHASE_OVER else AT_DEAL
            observe(s, s.actor, observation)
            legal_actions(s, mask)
            return int(s.actor)

        signature = types.int64(self._tables, types.int64, types.float32[::1], types.int8[::1])
        return kernel(step_and_view, signature, f"{self.rules.name} step and view")

    @functools.cached_property
    def start_one(self) -> Any:
        """``(tables)``: a new match from the seed of ``tables[0]``, before its first deal."""
        start_match = self.rules.start_match

        def start_one(tables: Any) -> None:
            start_match(tables[0])

        return kernel(start_one, types.void(self._tables), f"{self.rules.name} match")

    @functools.cached_property
    def follow_one(self) -> Any:
        """``(tables)``: the match that follows at ``tables[0]``, before its first deal."""
        start_match = self.rules.start_match

        def follow_one(tables: Any) -> None:
            s = tables[0]
            s.seed = next_seed(s.seed)
            start_match(s)

        return kernel(follow_one, types.void(self._tables), f"{self.rules.name} next match")

    @functools.cached_property
    def shuffle_one(self) -> Any:
        """``(tables)``: the chance of the next deal of ``tables[0]``."""
        shuffle_deal = self.rules.shuffle_deal

        def shuffle_one(tables: Any) -> None:
            shuffle_deal(tables[0])

        return kernel(shuffle_one, types.void(self._tables), f"{self.rules.name} shuffle")

    @functools.cached_property
    def open_one(self) -> Any:
        """``(tables) -> actor``: from a fresh deal to the first decision of ``tables[0]``; or ``AT_DEAL``, ``AT_END``."""
        open_deal = self.rules.open_deal

        def open_one(tables: Any) -> int:
            s = tables[0]
            open_deal(s)
            if s.actor < 0:
                return AT_END if s.phase == PHASE_OVER else AT_DEAL
            return int(s.actor)

        return kernel(open_one, types.int64(self._tables), f"{self.rules.name} deal")

    @functools.cached_property
    def view_one(self) -> Any:
        """``(tables, seat, observation, mask)``: what ``seat`` sees of ``tables[0]``; the mask is 0 unless it is to act."""
        observe, legal_actions = self.rules.observe, self.rules.legal_actions

        def view_one(tables: Any, seat: int, observation: Any, mask: Any) -> None:
            s = tables[0]
            observe(s, seat, observation)
            if seat == s.actor:
                legal_actions(s, mask)
            else:
                for i in range(mask.shape[0]):
                    mask[i] = 0

        signature = types.void(self._tables, types.int64, types.float32[::1], types.int8[::1])
        return kernel(view_one, signature, f"{self.rules.name} view")

    @functools.cached_property
    def state_one(self) -> Any:
        """``(tables, out)``: the full view of ``tables[0]``."""
        write_state = self.rules.write_state

        def state_one(tables: Any, out: Any) -> None:
            write_state(tables[0], out)

        return kernel(state_one, types.void(self._tables, types.float32[::1]), f"{self.rules.name} state")

    @functools.cached_property
    def redeal(self) -> Any:
        """``(tables, seat, keys)``: ``redeal_hidden`` for ``seat`` at each table, one key (uint64) each."""
        redeal_hidden = self.rules.redeal_hidden

        def redeal(tables: Any, seat: int, keys: Any) -> None:
            for i in range(tables.shape[0]):
                redeal_hidden(tables[i], seat, keys[i])

        return kernel(redeal, types.void(self._tables, types.int64, types.uint64[::1]), f"{self.rules.name} redeal")

    @functools.cached_property
    def reset_rows(self) -> Any:
        """``(tables, rows, policy)``: a new match from its seed at each of the rows, up to the first decision."""
        start_match, shuffle_deal, open_deal = self.rules.start_match, self.rules.shuffle_deal, self.rules.open_deal

        def reset_rows(tables: Any, rows: Any, policy: Any) -> None:
            for k in range(rows.shape[0]):
                i = rows[k]
                s = tables[i]
                start_match(s)
                _play_to_decision(s, shuffle_deal, open_deal)
                policy[i] = stream(s.seed, POLICY_STREAM)

        return kernel(
            reset_rows, types.void(self._tables, types.int64[::1], types.uint64[::1]), f"{self.rules.name} batch reset"
        )

    @functools.cached_property
    def step_rows(self) -> Any:
        """One decision at each of ``rows[lo:hi]``, and what the next actor sees while the table is at hand.

        ``(tables, rows, lo, hi, actions, crew, worker, checks, goes_on, shows, reward, scored, terminated, truncated, policy,
        observation, mask, actor) -> k``: ``actions[k]`` belongs to ``rows[k]``. Several threads may do this at once, each for
        its own part, or for blocks of all parts: ``crew`` (int64[threads * ``CREW_ROW``]) is what they have in common.

        If it ``checks``, nobody plays before all have found that all actions are legal: each writes ``LEGAL``, or
        ``FIRST_PLACE`` + the first ``k`` of its part whose action is illegal, to its ``VERDICT``, which is ``UNKNOWN`` before,
        and waits for the others. Returns the first such ``k`` of all, or -1 when it has played or another thread has failed.
        Otherwise the actions are trusted.

        If it ``goes_on``, a finished match is followed by the next one that asks anybody anything (in some games a match can
        end without a decision); after ``MOST_SILENT`` that do not, the table stays over. Otherwise it stays on the table. What
        is seen is written if it ``shows``.
        """
        apply_action, is_legal, start_match = self.rules.apply_action, self.rules.is_legal, self.rules.start_match
        shuffle_deal, open_deal = self.rules.shuffle_deal, self.rules.open_deal
        observe, legal_actions = self.rules.observe, self.rules.legal_actions

        def step_rows(
            tables: Any,
            rows: Any,
            lo: int,
            hi: int,
            actions: Any,
            crew: Any,
            worker: int,
            checks: bool,
            goes_on: bool,
            shows: bool,
            reward: Any,
            scored: Any,
            terminated: Any,
            truncated: Any,
            policy: Any,
            observation: Any,
            mask: Any,
            actor: Any,
        ) -> int:
            if checks:
                verdict = _verdict_of_all(tables, rows, lo, hi, actions, crew, worker, is_legal)
                if verdict != LEGAL:
                    return verdict - FIRST_PLACE
            k, end = _first_block(crew, worker, lo, hi)
            while k < end:
                if k + AHEAD < end:
                    prefetch(tables, rows[k + AHEAD])
                i = rows[k]
                s = tables[i]
                deals_done = s.deals_done
                apply_action(s, actions[k])
                _play_to_decision(s, shuffle_deal, open_deal)
                for seat in range(reward.shape[1]):
                    reward[i, seat] = s.reward[seat]
                is_over = s.phase == PHASE_OVER
                scored[i] = is_over or s.deals_done != deals_done
                terminated[i] = is_over and s.truncated == 0
                truncated[i] = is_over and s.truncated != 0
                tries = MOST_SILENT if goes_on else 0
                while s.phase == PHASE_OVER and tries > 0:
                    tries -= 1
                    s.seed = next_seed(s.seed)
                    start_match(s)
                    _play_to_decision(s, shuffle_deal, open_deal)
                    policy[i] = stream(s.seed, POLICY_STREAM)
                if shows:
                    _show(s, i, observe, legal_actions, observation, mask, actor)
                k += 1
                if k == end:
                    k, end = _next_block(crew, worker)
            return -1

        ints, flags, range_of = types.int64[::1], types.uint8[::1], (types.int64, types.int64)
        ends = (types.float32[:, ::1], flags, flags, flags, types.uint64[::1])
        seen = (types.float32[:, ::1], types.uint8[:, ::1], types.int8[::1])
        crew, how = (ints, types.int64), (types.boolean, types.boolean, types.boolean)
        signature = types.int64(self._tables, ints, *range_of, ints, *crew, *how, *ends, *seen)
        return kernel(step_rows, signature, f"{self.rules.name} batch step")

    @functools.cached_property
    def view_rows(self) -> Any:
        """``(tables, rows, lo, hi, observation, mask, actor)``: what the actor sees at each of ``rows[lo:hi]``."""
        observe, legal_actions = self.rules.observe, self.rules.legal_actions

        def view_rows(tables: Any, rows: Any, lo: int, hi: int, observation: Any, mask: Any, actor: Any) -> None:
            for k in range(lo, hi):
                if k + AHEAD < hi:
                    prefetch(tables, rows[k + AHEAD])
                i = rows[k]
                _show(tables[i], i, observe, legal_actions, observation, mask, actor)

        signature = types.void(
            self._tables,
            types.int64[::1],
            types.int64,
            types.int64,
            types.float32[:, ::1],
            types.uint8[:, ::1],
            types.int8[::1],
        )
        return kernel(view_rows, signature, f"{self.rules.name} batch view")

    @functools.cached_property
    def view_canonical_rows(self) -> Any:
        """``view_rows`` in canonical names: ``(tables, rows, lo, hi, scratch, code, observation, mask, actor)``.

        ``scratch`` is one table of working space; ``code[i]`` becomes the renaming that was applied at row ``i``.
        """
        observe, legal_actions = self.rules.observe, self.rules.legal_actions
        canonical, relabel = self.rules.canonical, self.rules.relabel

        def view_canonical_rows(
            tables: Any, rows: Any, lo: int, hi: int, scratch: Any, code: Any, observation: Any, mask: Any, actor: Any
        ) -> None:
            for k in range(lo, hi):
                if k + AHEAD < hi:
                    prefetch(tables, rows[k + AHEAD])
                i = rows[k]
                s = tables[i]
                actor[i] = s.actor
                if s.actor < 0:
                    observation[i] = 0.0
                    mask[i] = 0
                    continue
                code[i] = canonical(s, s.actor)
                scratch[0] = s
                renamed = scratch[0]
                relabel(s, code[i], renamed)
                observe(renamed, s.actor, observation[i])
                legal_actions(renamed, mask[i])

        signature = types.void(
            self._tables,
            types.int64[::1],
            types.int64,
            types.int64,
            self._tables,
            types.int64[::1],
            types.float32[:, ::1],
            types.uint8[:, ::1],
            types.int8[::1],
        )
        return kernel(view_canonical_rows, signature, f"{self.rules.name} batch canonical view")

    @functools.cached_property
    def rename_rows(self) -> Any:
        """``(code, rows, actions, back, out)``: each action in canonical names, or ``back`` in the table's own."""
        rename_action, inverse = self.rules.rename_action, self.rules.inverse

        def rename_rows(code: Any, rows: Any, actions: Any, back: bool, out: Any) -> None:
            for k in range(rows.shape[0]):
                one = code[rows[k]]
                out[k] = rename_action(inverse(one) if back else one, actions[k])

        ints = types.int64[::1]
        return kernel(rename_rows, types.void(ints, ints, ints, types.boolean, ints), f"{self.rules.name} renaming")

    @functools.cached_property
    def pick_rows(self) -> Any:
        """``(tables, rows, lo, hi, crew, worker, policy, out)``: a uniform legal action at each of ``rows[lo:hi]``.

        It is -1 where nobody acts. ``crew`` and ``worker`` are those of ``step_rows``.
        """
        pick_legal = self.rules.pick_legal

        def pick_rows(tables: Any, rows: Any, lo: int, hi: int, crew: Any, worker: int, policy: Any, out: Any) -> None:
            k, end = _first_block(crew, worker, lo, hi)
            while k < end:
                if k + AHEAD < end:
                    prefetch(tables, rows[k + AHEAD])
                i = rows[k]
                s = tables[i]
                out[k] = pick_legal(s, mix(policy[i])) if s.actor >= 0 else NOBODY
                policy[i] = advanced(policy[i])
                k += 1
                if k == end:
                    k, end = _next_block(crew, worker)

        ints = types.int64[::1]
        crew = (ints, types.int64)
        signature = types.void(self._tables, ints, types.int64, types.int64, *crew, types.uint64[::1], ints)
        return kernel(pick_rows, signature, f"{self.rules.name} batch random choice")


@functools.cache
def kernels_of(rules: Rules) -> Kernels:
    """The kernels of a set of rules, the same object for each call."""
    return Kernels(rules)
