"""Loops that the benchmarks compile: a step that also chooses, one that repeats its parts, the least that any must write."""

from __future__ import annotations

import functools
from typing import Any

import numba
from numba import types

from mitch_env.chance import POLICY_STREAM, advanced, mix, next_seed, stream
from mitch_env.game import PHASE_DEAL, PHASE_OVER, Rules
from mitch_env.jit import kernel

#: The parts of a step, as :func:`repeating_kernel` numbers them.
CHOICE, CHECK, RULES, ANEW, OBSERVATION, MASK, COPY = range(7)

VIEW = (types.float32[:, ::1], types.uint8[:, ::1], types.int8[::1])
PAID = (types.float32[:, ::1], types.uint8[::1], types.uint8[::1], types.uint8[::1])


def tables_type(rules: Rules) -> Any:
    """The numba type of the tables of some rules."""
    return numba.from_dtype(rules.table_dtype)[::1]


@functools.cache
def fused_kernel(rules: Rules) -> Any:
    """``(tables, policy, steps, observation, mask, actor, reward, scored, terminated, truncated, ended)``.

    Plays ``steps`` random decisions at every table, in one loop: chooses, applies, deals anew where a match is over, and writes
    all that a ``Batch`` writes. ``ended[0]`` counts matches.
    """
    apply_action, pick_legal, start_match = rules.apply_action, rules.pick_legal, rules.start_match
    shuffle_deal, open_deal = rules.shuffle_deal, rules.open_deal
    observe, legal_actions = rules.observe, rules.legal_actions

    def fused(
        tables: Any,
        policy: Any,
        steps: int,
        observation: Any,
        mask: Any,
        actor: Any,
        reward: Any,
        scored: Any,
        terminated: Any,
        truncated: Any,
        ended: Any,
    ) -> None:
        for _ in range(steps):
            for i in range(tables.shape[0]):
                s = tables[i]
                action = pick_legal(s, mix(policy[i]))
                policy[i] = advanced(policy[i])
                deals_done = s.deals_done
                apply_action(s, action)
                while s.phase == PHASE_DEAL:
                    shuffle_deal(s)
                    open_deal(s)
                for seat in range(reward.shape[1]):
                    reward[i, seat] = s.reward[seat]
                is_over = s.phase == PHASE_OVER
                scored[i] = is_over or s.deals_done != deals_done
                terminated[i] = is_over and s.truncated == 0
                truncated[i] = is_over and s.truncated != 0
                ended[0] += is_over
                while s.phase == PHASE_OVER:
                    s.seed = next_seed(s.seed)
                    start_match(s)
                    while s.phase == PHASE_DEAL:
                        shuffle_deal(s)
                        open_deal(s)
                    policy[i] = stream(s.seed, POLICY_STREAM)
                actor[i] = s.actor
                observe(s, s.actor, observation[i])
                legal_actions(s, mask[i])

    signature = types.void(tables_type(rules), types.uint64[::1], types.int64, *VIEW, *PAID, types.int64[::1])
    return kernel(fused, signature, f"{rules.name} fused step")


@functools.cache
def repeating_kernel(rules: Rules) -> Any:
    """``(tables, policy, steps, times, kept, chosen, observation, mask, counts)``: plays, doing each part so many times.

    ``kept`` holds tables to put back, ``counts`` counts legal choices and tables dealt anew. Every repetition writes to memory,
    so that no compiler can leave it out.
    """
    apply_action, pick_legal, is_legal = rules.apply_action, rules.pick_legal, rules.is_legal
    start_match, shuffle_deal, open_deal = rules.start_match, rules.shuffle_deal, rules.open_deal
    observe, legal_actions = rules.observe, rules.legal_actions

    def repeating(
        tables: Any,
        policy: Any,
        steps: int,
        times: Any,
        kept: Any,
        chosen: Any,
        observation: Any,
        mask: Any,
        counts: Any,
    ) -> None:
        for _ in range(steps):
            for i in range(tables.shape[0]):
                s = tables[i]
                for _ in range(times[CHOICE]):
                    chosen[i] = pick_legal(s, mix(policy[i]))
                policy[i] = advanced(policy[i])
                for _ in range(times[CHECK]):
                    counts[0] += is_legal(s, chosen[i])
                for k in range(times[COPY]):
                    kept[2 + (k & 1)] = s
                kept[0] = s
                for k in range(times[RULES]):
                    if k > 0:
                        tables[i] = kept[0]
                    apply_action(s, chosen[i])
                if s.phase == PHASE_DEAL or s.phase == PHASE_OVER:
                    counts[1] += 1
                    kept[1] = s
                    for k in range(times[ANEW]):
                        if k > 0:
                            tables[i] = kept[1]
                        while s.phase == PHASE_DEAL or s.phase == PHASE_OVER:
                            if s.phase == PHASE_OVER:
                                s.seed = next_seed(s.seed)
                                start_match(s)
                                policy[i] = stream(s.seed, POLICY_STREAM)
                            shuffle_deal(s)
                            open_deal(s)
                for _ in range(times[OBSERVATION]):
                    observe(s, s.actor, observation[i])
                for _ in range(times[MASK]):
                    legal_actions(s, mask[i])

    tables, ints = tables_type(rules), types.int64[::1]
    signature = types.void(
        tables, types.uint64[::1], types.int64, ints, tables, ints, types.float32[:, ::1], types.uint8[:, ::1], ints
    )
    return kernel(repeating, signature, f"{rules.name} repeating step")


@functools.cache
def memory_kernel() -> Any:
    """``(observation, mask, entries, legal)``: zeroes every row, then writes 1 to the named columns of each."""

    def touch(observation: Any, mask: Any, entries: Any, legal: Any) -> None:
        for i in range(observation.shape[0]):
            observation[i] = 0.0
            for k in range(entries.shape[0]):
                observation[i, entries[k]] = 1.0
            mask[i] = 0
            for k in range(legal.shape[0]):
                mask[i, legal[k]] = 1

    columns = types.int64[::1]
    return kernel(touch, types.void(types.float32[:, ::1], types.uint8[:, ::1], columns, columns), "memory floor")
