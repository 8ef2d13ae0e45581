"""Renaming the suits of what was seen and done: an exact symmetry, for data augmentation.

The deals are shuffled, so playing under other names changes nothing in distribution. What gains is learning from data that was
collected: each position stands for as many as there are renamings (24 in Mitch, 120 in Mitchell). In a PPO minibatch:

```python
suits = SuitRenamings("mitch_jp", seats_encoded=3)
rng = np.random.default_rng(seed)
...
which = rng.integers(suits.n, size=len(minibatch))                    # a renaming for each row
observation = suits.rename_observations(minibatch.observation, which)
mask = suits.rename_masks(minibatch.mask, which)
action = suits.rename_actions(minibatch.action, which)                # log-probabilities, returns, values stay as they are
```
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .game import Game
from .options import check_int
from .registry import get_game


class SuitRenamings:
    """All renamings of the suits of a game, as index arrays.

    A renaming is a number from 0 to ``n`` - 1; number 0 changes nothing. Every method takes arrays of any leading shape and
    numbers ``which`` that go with it (of the same shape, or of one that NumPy spreads over it), and returns a fresh array.

    Attributes:
        n: How many renamings there are.
        codes: int64[n], each as ``game.rules.relabel`` and ``rename_action`` take it.
        entries: int64[n, size], where each entry of a renamed observation stands in the original one.
        new_actions: int64[n, actions], the new number of each action.
        old_actions: int64[n, actions], the reverse: what each new number was.
        inverse: int64[n], the number of the renaming that undoes each.

    Args:
        game: The game or its name.
        seats_encoded: Seats that observations and actions are numbered for.
        suits: How many suits the pack has, in Mitch (its option ``suits``): only these are renamed. By default all.

    Raises:
        OptionsError: If an argument is not allowed.
    """

    def __init__(self, game: str | Game, seats_encoded: int, suits: int | None = None) -> None:
        self.game = get_game(game)
        rules = self.game.rules
        seats = self.seats = check_int("seats_encoded", seats_encoded, 2, rules.max_seats)
        codes = rules.renamings(seats, suits)
        self.n = len(codes)
        self.codes = np.array(codes, np.int64)
        self.entries = np.stack([rules.renamed_entries(seats, code) for code in codes])
        actions = range(rules.n_actions(seats))
        self.new_actions = np.array([[rules.rename_action(code, action) for action in actions] for code in codes], np.int64)
        self.old_actions = np.argsort(self.new_actions, axis=1)
        self.inverse = np.array([codes.index(rules.inverse(code)) for code in codes], np.int64)

    def rename_observations(self, observations: np.ndarray, which: Any) -> np.ndarray:
        """Flat observations ``[..., size]`` with their suits renamed."""
        return _gathered("observations", observations, self.entries, which)

    def rename_masks(self, masks: np.ndarray, which: Any) -> np.ndarray:
        """Masks ``[..., actions]`` (or whatever else stands by actions, such as logits) with their suits renamed."""
        return _gathered("masks", masks, self.old_actions, which)

    def rename_actions(self, actions: Any, which: Any) -> np.ndarray:
        """Actions ``[...]`` under their new names."""
        return _looked_up(actions, self.new_actions, which)

    def original_actions(self, actions: Any, which: Any) -> np.ndarray:
        """Actions ``[...]`` that were chosen under the new names, under the original ones."""
        return _looked_up(actions, self.old_actions, which)


def _gathered(name: str, values: np.ndarray, index: np.ndarray, which: Any) -> np.ndarray:
    given = np.asarray(values)
    if given.ndim == 0 or given.shape[-1] != index.shape[1]:
        raise ValueError(f"{name} have the shape {given.shape}: [..., {index.shape[1]}] is needed, flat as in the layout")
    where = index[_checked("which", which, len(index))]
    leading = np.broadcast_shapes(given.shape[:-1], where.shape[:-1])
    size = (index.shape[1],)
    return np.take_along_axis(np.broadcast_to(given, leading + size), np.broadcast_to(where, leading + size), -1)


def _looked_up(actions: Any, names: np.ndarray, which: Any) -> np.ndarray:
    n, n_actions = names.shape
    return np.asarray(names[_checked("which", which, n), _checked("actions", actions, n_actions)])


def _checked(name: str, numbers: Any, n: int) -> np.ndarray:
    """Integers from 0 to ``n`` - 1; a negative one would count from the end without a word."""
    given = np.asarray(numbers)
    if given.dtype.kind not in "iu" or (given.size and not 0 <= given.min() <= given.max() < n):
        raise ValueError(f"{name} must be integers from 0 to {n - 1}, got {str(numbers)[:80]}")
    return given
