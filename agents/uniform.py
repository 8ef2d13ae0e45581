"""The agent that plays any legal action."""

from __future__ import annotations

import numpy as np

from .agent import View


class RandomAgent:
    """Uniform over the legal actions."""

    name = "random"
    encoder = "flat"

    def reset(self, seat: int | None, rng: np.random.Generator) -> None:
        """Takes the generator."""
        self._rng = rng

    def act_batch(self, view: View) -> np.ndarray:
        """A uniform legal action for each row."""
        rank = (self._rng.random(len(view)) * view.mask.sum(1)).astype(np.int64)
        chosen: np.ndarray = np.argmax(np.cumsum(view.mask, 1) > rank[:, None], 1)
        return chosen
