"""A rollout buffer that links each decision to the same seat's next decision at the same table.

Seats act in turn, so the next row of a table belongs to somebody else: neither its reward nor its value says anything about
the decision before. Here a decision earns all that its seat is paid until that seat decides again, and its advantage
continues with that next decision. A segment ends where a deal is scored (or, for outcome rewards, with the match). At the
window's end the seat that must act next is bootstrapped with its value; the last decisions of the other seats have no
successor yet and are left out, and so is every decision with a single legal action.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples

from train.table_vec_env import TableVecEnv


def seat_advantages(
    actor: np.ndarray,
    paid: np.ndarray,
    scored: np.ndarray,
    values: np.ndarray,
    next_actor: np.ndarray,
    next_values: np.ndarray,
    gamma: float,
    lam: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Generalised advantage estimates (Schulman et al. 2016, eq. 16), each seat's decisions being a chain of its own.

    Args:
        actor: int[T, n], who decided.
        paid: float[T, n, seats], what each seat was paid by the step.
        scored: bool[T, n], whether the segment ended with the step.
        values: float[T, n], the deciding seat's value before the step.
        next_actor: int[n], who must decide after the window.
        next_values: float[n], that seat's value.
        gamma: Discount for each of a seat's own decisions.
        lam: Lambda.

    Returns:
        advantages float32[T, n], and bool[T, n]: whether the decision's successor (or its segment's end) is known.
    """
    steps, n, seats = paid.shape
    rows = np.arange(n)
    next_value = np.zeros((n, seats), np.float64)
    next_advantage = np.zeros((n, seats), np.float64)
    earned = np.zeros((n, seats), np.float64)
    is_known = np.zeros((n, seats), np.bool_)
    next_value[rows, next_actor] = next_values
    is_known[rows, next_actor] = True
    advantages = np.zeros((steps, n), np.float32)
    complete = np.zeros((steps, n), np.bool_)
    for t in range(steps - 1, -1, -1):
        ended = scored[t]
        next_value[ended] = 0.0
        next_advantage[ended] = 0.0
        earned[ended] = 0.0
        is_known[ended] = True
        earned += paid[t]
        own = (rows, actor[t])
        known = is_known[own]
        advantage = earned[own] + gamma * (next_value[own] + lam * next_advantage[own]) - values[t]
        advantage[~known] = 0.0
        advantages[t] = advantage
        complete[t] = known
        next_value[own] = values[t]
        next_advantage[own] = advantage
        earned[own] = 0.0
        is_known[own] = True
    return advantages, complete


#: What SB3 samples from.
_STORED = ("observations", "actions", "values", "log_probs", "advantages", "returns", "action_masks")


class SeatRolloutBuffer(MaskableRolloutBuffer):
    """The buffer for :class:`~train.table_vec_env.TableVecEnv`.

    Given to MaskablePPO as ``rollout_buffer_class``, with ``rollout_buffer_kwargs={"env": env, "seed": seed}``.

    Attributes:
        usable: bool[T, n] (after ``compute_returns_and_advantage``), the decisions that are learnt from.
    """

    def __init__(self, *args: Any, env: TableVecEnv, seed: int = 0, **kwargs: Any) -> None:
        self.env = env
        self._rng = np.random.default_rng(np.random.SeedSequence((seed, 3)))
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        """Empties the buffer; the arrays are allocated once and written over."""
        shape = (self.buffer_size, self.n_envs)
        if hasattr(self, "actor"):
            for name in _STORED:
                array = getattr(self, name)
                setattr(self, name, array.reshape(*shape, *array.shape[1 if self.generator_ready else 2 :]))
            self.pos, self.full, self.generator_ready = 0, False, False
            return
        self.actor = np.zeros(shape, np.int8)
        self.paid = np.zeros((*shape, self.env.batch.seats), np.float32)
        self.scored = np.zeros(shape, np.bool_)
        self.taught = np.zeros(shape, np.int64)
        super().reset()

    def add(self, *args: Any, **kwargs: Any) -> None:
        """Stores a step, and what the tables say happened in it."""
        self.actor[self.pos] = self.env.actor
        self.paid[self.pos] = self.env.paid
        self.scored[self.pos] = self.env.scored
        self.taught[self.pos] = self.env.taught
        super().add(*args, **kwargs)

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: np.ndarray) -> None:
        """Links decisions seat by seat (:func:`seat_advantages`); ``dones`` is not needed."""
        self.advantages, complete = seat_advantages(
            self.actor,
            self.paid,
            self.scored,
            self.values,
            self.env.batch.actor,
            last_values.cpu().numpy().flatten(),
            self.gamma,
            self.gae_lambda,
        )
        self.returns = self.advantages + self.values
        self.usable = complete & (self.action_masks.sum(2) > 1)

    def explained_variance(self) -> float:
        """The share of the variance of the usable decisions' returns that their values explain."""
        values, returns = (array.reshape(self.usable.shape)[self.usable] for array in (self.values, self.returns))
        spread = np.var(returns)
        return float("nan") if spread == 0 else float(1 - np.var(returns - values) / spread)

    def get(self, batch_size: int | None = None) -> Iterator[MaskableRolloutBufferSamples]:  # type: ignore[override]
        """The usable decisions in random order, in batches of nearly equal size, none larger than ``batch_size``."""
        for part in self._parts(batch_size):
            yield self._get_samples(part)

    def batches(self, batch_size: int) -> Iterator[tuple[MaskableRolloutBufferSamples, torch.Tensor | None]]:
        """The same, each with what the teacher would have done (int64), or None if nobody was asked."""
        is_taught = self.env.teacher is not None
        taught = self.taught.flatten()
        for part in self._parts(batch_size):
            yield self._get_samples(part), torch.from_numpy(taught[part]) if is_taught else None

    def _parts(self, batch_size: int | None) -> list[np.ndarray]:
        if not self.generator_ready:
            for name in _STORED:  # one row for each decision, without copying; SB3's order of rows would need copies
                array = getattr(self, name)
                setattr(self, name, array.reshape(-1, *array.shape[2:]))
            self.generator_ready = True
        chosen = self._rng.permutation(np.flatnonzero(self.usable))
        if len(chosen) < 2:  # PPO divides by a batch's standard deviation, which one decision has not; two equal ones have 0
            chosen = np.resize(chosen if len(chosen) else [0], 2)
        n_batches = 1 if batch_size is None else max(1, -(-len(chosen) // batch_size))
        return np.array_split(chosen, n_batches)
