"""Tianshou 2: Q-learning along each seat's own decisions.

``tianshou.env.PettingZooEnv`` takes the environments as they are, and Tianshou's own classes play them. They do not learn
from them rightly. Tianshou keeps one row for each decision at the table, and its returns take the next row as what comes of
a decision. But that row is another seat's: what a seat is paid when somebody else ends the deal would be lost to it, and
its value would be estimated from a hand that it cannot see. :class:`SeatDQN` goes on to the same seat's next decision
instead::

    learner = SeatDQN(policy=DiscreteQLearningPolicy(...), optim=AdamOptimizerFactory(lr=1e-3))
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[learner] * players, env=PettingZooEnv(env))

Give the same learner to all seats for self-play, or ``MARLRandomDiscreteMaskedOffPolicyAlgorithm`` to some of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from tianshou.algorithm.modelfree.dqn import DQN
from tianshou.data import Batch, ReplayBuffer


def seat_links(buffer: ReplayBuffer, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """From decisions to the same seats' next ones.

    Args:
        buffer: Rows of all seats; ``rew`` is what the seat in question is paid, ``obs_next`` is stored.
        indices: int[n], rows in which that seat decides.

    Returns:
        int[n], the row after which the seat decides again, or that ends the match (``obs_next`` is what it sees then);
        float64[n], all that it is paid from its decision to that row; bool[n], False where the buffer ends before.
    """
    agent = buffer.obs.agent_id[indices]
    last = indices.copy()
    reward = buffer.rew[last].astype(np.float64)
    while True:
        is_whole = buffer.done[last] | (buffer.obs_next.agent_id[last] == agent)
        following = buffer.next(last)
        goes_on = ~is_whole & (following != last)
        if not goes_on.any():
            return last, reward, is_whole
        last[goes_on] = following[goes_on]
        reward[goes_on] += buffer.rew[last[goes_on]]


class SeatDQN(DQN[Any]):
    """DQN for a seat (or for several) of a ``MultiAgentOffPolicyAlgorithm``; ``gamma`` discounts a seat's own decisions.

    Tianshou's ``MultiAgentOffPolicyAlgorithm`` does not tell its policies that they are being trained, so
    ``eps_training`` is never used: set ``eps_inference`` to explore. It works where a collector is made with
    ``exploration_noise=True``, and nowhere else.

    Args:
        **settings: Those of :class:`tianshou.algorithm.modelfree.dqn.DQN`.

    Raises:
        ValueError: If a return over more than one of the seat's decisions is asked for.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        if self.n_step != 1:
            raise ValueError(f"n_step_return_horizon={self.n_step}: only 1, to the seat's next decision, is supported")

    def _preprocess_batch(self, batch: Any, buffer: ReplayBuffer, indices: np.ndarray) -> Any:
        """The decisions of which is known what comes next, with ``returns``: float32[n, 1]."""
        last, reward, is_whole = seat_links(buffer, indices)
        if not is_whole.any():
            return Batch()  # the dispatcher passes over it; Tianshou needs one seat with something to learn, though
        last = last[is_whole]
        with torch.no_grad():
            value = self._target_q(buffer, last).cpu().numpy()
        returns = reward[is_whole] + self.gamma * np.where(buffer.terminated[last], 0.0, value)
        known = batch[is_whole]
        known.returns = returns.astype(np.float32)[:, None]
        return known
