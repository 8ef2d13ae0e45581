"""Potentials: how good a position is for the seat that sees it, for shaping rewards.

A potential takes flat observations ``[..., size]`` and their layout, and returns ``[...]``. It knows nothing but what its seat
sees. The ready-made ones are 0 at the first own decision of a match, whatever others have done before, so that shaping with
them changes no sum of rewards over a match (with a discount of 1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..encoders import split
from ..game import Game
from ..layout import Layout
from ..mitch.scoring import SUIT_POINTS
from ..mitch.state import N_RANKS
from ..mitchell.scoring import WINNER_POINTS
from ..options import OptionsError

#: Observations ``[..., size]`` and their layout -> ``[...]``.
Potential: TypeAlias = Callable[[np.ndarray, Layout], Any]

#: Where options stand in Mitch's block ``rules``.
_LONGEST, _LOST_COLUMN_PENALTY, _TIE_BREAK_IS_LOW, _SHORTEST_DOUBLE = 4, 5, 6, 7


def standing(observations: np.ndarray, layout: Layout) -> np.ndarray:
    """Mitch: the points that the deal would pay the seat if it ended now.

    Exact for ``scoring="suits"`` but for ``waiting_penalty``, which is left out (it threatens from the first decision on).
    For ``scoring="longest"`` 1 while the seat has the longest column of all, ties included.
    """
    blocks = split(layout, np.asarray(observations))
    length = np.rint(blocks["length"] * N_RANKS)  # [..., seats, suits], the observer first
    leads = blocks["leads"] > 0.5
    rules = blocks["rules"] > 0.5
    shortest = np.where(leads, length, N_RANKS + 1).min((-1, -2))[..., None]
    own, wins = length[..., 0, :], leads[..., 0, :]
    is_double = rules[..., _SHORTEST_DOUBLE, None] & (own == shortest)
    won = np.where(wins, SUIT_POINTS * (1 + is_double), 0.0).sum(-1)
    lost = np.where(rules[..., _LOST_COLUMN_PENALTY, None] & ~wins, own, 0.0).sum(-1)
    points: np.ndarray = np.where(rules[..., _LONGEST], _has_longest(length, blocks["bottom"], rules), won - lost)
    return points


def _has_longest(length: np.ndarray, bottom: np.ndarray, rules: np.ndarray) -> np.ndarray:
    """Whether no column of another seat is worth more than the best own one (J8)."""
    rank = np.rint(bottom * N_RANKS)
    tie_break = np.where(rules[..., _TIE_BREAK_IS_LOW, None, None], N_RANKS + 1 - rank, rank)
    worth = np.where(length > 0, length * (N_RANKS + 2) + tie_break, 0.0).max(-1)  # [..., seats]
    best: np.ndarray = (worth[..., 0] > 0) & (worth[..., 0] >= worth.max(-1))
    return best


def shed(observations: np.ndarray, layout: Layout) -> np.ndarray:
    """Mitchell: the winner's 200 points, in equal parts for each card that the own hand has less than it was dealt.

    The hand is the one thing that a player works on all the time and that decides the round. Cards beyond those that were
    dealt count no further: a match begins at 0 for every seat, also for one that was made to draw before its first decision.
    """
    blocks = split(layout, np.asarray(observations))
    dealt = _count(blocks["sizes"][..., 0])
    size = blocks["hand_size"][..., 0, :]
    held = np.where(size[..., 3] > 0, _count(size[..., 3]), 0.0)
    share: np.ndarray = np.maximum(0.0, dealt - held) / np.maximum(1.0, dealt)
    return WINNER_POINTS * share


def _count(share: np.ndarray) -> np.ndarray:
    """``n`` from ``n / (7 + n)``."""
    n: np.ndarray = np.rint(7.0 * share / (1.0 - share))
    return n


@dataclass(frozen=True)
class Weighted:
    """A potential times a number.

    Attributes:
        potential: The potential.
        weight: The number.
    """

    potential: Potential
    weight: float

    def __call__(self, observations: np.ndarray, layout: Layout) -> Any:
        return self.weight * self.potential(observations, layout)


#: The ready-made potential of each engine, by the name of its rules.
DENSE: dict[str, Potential] = {"mitch": standing, "mitchell": shed}


def dense_potential(game: Game, weight: float = 1.0) -> dict[str, Potential]:
    """The ready-made potential of a game, by its name.

    Raises:
        OptionsError: If the game has none.
    """
    engine = game.rules.name
    if engine not in DENSE:
        raise OptionsError(f"{engine} has no ready-made potential (those that have: {', '.join(DENSE)}): use ShapedReward")
    potential = DENSE[engine]
    name = potential.__name__
    return {name: potential} if weight == 1.0 else {f"{weight:g} x {name}": Weighted(potential, weight)}


class Shaping:
    """Named potentials with a discount: Ng, Harada & Russell, "Policy invariance under reward transformations", ICML 1999.

    Attributes:
        discount: What the next potential is multiplied with.
        names: The names of the potentials.

    Args:
        potentials: Potentials by name; their sum counts.
        discount: From 0 to 1; for the guarantee the one that the learner uses.
        layout: Of the flat observations.

    Raises:
        OptionsError: If an argument is not allowed.
    """

    def __init__(self, potentials: Mapping[str, Potential], discount: float, layout: Layout) -> None:
        if not isinstance(potentials, Mapping) or not potentials:
            raise OptionsError(f"potentials={potentials!r:.80}: functions by name are needed, such as {{'standing': standing}}")
        for name, potential in potentials.items():
            if not isinstance(name, str) or not callable(potential):
                raise OptionsError(f"potentials: {name!r:.40}: {potential!r:.40} is no function with a name")
        if isinstance(discount, bool) or not isinstance(discount, (int, float)) or not 0.0 <= discount <= 1.0:
            raise OptionsError(f"discount={discount!r}: a number from 0 to 1 is needed")
        self.discount = float(discount)
        self._potentials = dict(potentials)
        self._layout = layout

    @property
    def names(self) -> list[str]:
        """The names of the potentials."""
        return list(self._potentials)

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        """The potential of flat observations ``[..., size]``: float64[...].

        Raises:
            ValueError: If a potential does not return a finite number for each.
        """
        total = np.zeros(observations.shape[:-1])
        for name, potential in self._potentials.items():
            value = np.asarray(potential(observations, self._layout), np.float64)
            if value.shape != total.shape or not np.isfinite(value).all():
                raise ValueError(
                    f"potential {name!r} gave {str(value)[:60]} of shape {value.shape} for observations of shape "
                    f"{observations.shape}: a finite number for each, shape {total.shape}, is needed"
                )
            total += value
        return total

    def told(self, metadata: Mapping[str, Any], reward: str) -> dict[str, Any]:
        """``metadata`` of an environment that pays ``reward``, with what is added to it."""
        hooks = [{"potential": name, "discount": self.discount} for name in self.names]
        paid = " + ".join([metadata.get("reward", reward), *self.names])
        return {**metadata, "reward": paid, "reward_shaping": [*metadata.get("reward_shaping", []), *hooks]}


def told_sparse(metadata: Mapping[str, Any], reward: str) -> dict[str, Any]:
    """``metadata`` of an environment that pays ``reward``, if all of it is paid at the end."""
    return {**metadata, "reward": f"{metadata.get('reward', reward)}, all at the match's end"}
