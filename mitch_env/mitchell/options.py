"""The options of Mitchell.

The numbers in the code (M1, M13) are the rulings of the rulebook, ``docs/rules_mitchell.md``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..options import OptionsError, check_bool, check_choice, check_int, unknown_name
from .kinds import FUNCTIONS, IN_ORDER, KIND_NAMES, N_INVESTIGATIONS, N_KINDS, SUITS

UNPLAYED = ("bonus", "penalty")
BONUS, PENALTY = range(2)

MAX_PLAYERS = 8
MAX_CARDS = 255
#: Nobody scores more than 2540 in a round, so that totals of so many rounds fit 32 bits.
_MOST_ROUNDS = 800_000
_MOST_COUNTED = 2_000_000_000


def _default_deck() -> dict[str, int]:
    """M1: for each suit 6 plain and 2 with each function, 8 of each action and reaction."""
    investigations = {suit + function: 2 if function else 6 for suit in SUITS for function in FUNCTIONS}
    return investigations | dict.fromkeys(KIND_NAMES[N_INVESTIGATIONS:], 8)


@dataclass(frozen=True)
class MitchellOptions:
    """What can be agreed on before a match.

    Attributes:
        players: 2 to 8.
        target_score: The match ends with the round in which somebody has so many points; None: only ``rounds`` ends it.
        rounds: The most rounds; 1 is the quick game.
        hand_size: Cards dealt to each player, from 1.
        deck: How many cards of each kind there are, by name (``brawl``, ``brawl+attract``, ``change``, ...); kinds that are
            not named count 0. At most 255 cards, at least ``players x hand_size + 1``. Kept in a fixed order without the
            kinds that count 0.
        unplayed: What the losers' cards are: ``bonus`` (points for each, as the text says) or ``penalty`` (M14).
        release_wins: Whether having Mitchell taken away with an empty hand wins (M10).
        ask_everyone: Whether all opponents are asked for a reaction, not only those who have one (M8).
        max_turns: Turns in a round before the match is truncated (M20).

    Raises:
        OptionsError: If a value is not allowed, alone or with the others.
    """

    players: int = 4
    target_score: int | None = 1000
    rounds: int = 100
    hand_size: int = 7
    deck: Mapping[str, int] = field(default_factory=_default_deck, hash=False)
    unplayed: str = "bonus"
    release_wins: bool = True
    ask_everyone: bool = False
    max_turns: int = 10_000

    def __post_init__(self) -> None:
        for name, high in [("rounds", _MOST_ROUNDS), ("hand_size", MAX_CARDS // 2), ("max_turns", _MOST_COUNTED)]:
            self._set(name, check_int(name, getattr(self, name), 1, high))
        self._set("players", check_int("players", self.players, 2, MAX_PLAYERS))
        if self.target_score is not None:
            self._set("target_score", _checked_target(self.target_score))
        check_choice("unplayed", self.unplayed, UNPLAYED)
        for name in ("release_wins", "ask_everyone"):
            self._set(name, check_bool(name, getattr(self, name)))
        self._set("deck", _checked_deck(self.deck))
        n_cards, n_needed = sum(self.deck.values()), self.players * self.hand_size + 1
        if not n_needed <= n_cards <= MAX_CARDS:
            raise OptionsError(
                f"deck has {n_cards} cards: with players={self.players} and hand_size={self.hand_size} "
                f"allowed are {n_needed} (players x hand_size + 1) to {MAX_CARDS}"
            )

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def as_dict(self) -> dict[str, Any]:
        """Every option with its value, ready for JSON."""
        return dataclasses.asdict(self)

    def table_fields(self) -> dict[str, Any]:
        """The value of each option as it stands in a table."""
        counts = np.array([self.deck.get(KIND_NAMES[kind], 0) for kind in range(N_KINDS)], np.uint8)
        return self.as_dict() | {
            "target_score": self.target_score or 0,
            "deck": counts,
            "unplayed": UNPLAYED.index(self.unplayed),
        }


def _checked_target(value: Any) -> int:
    try:
        return check_int("target_score", value, 1, _MOST_COUNTED)
    except OptionsError as error:
        raise OptionsError(f"{error}, or none") from None


def _checked_deck(deck: Any) -> dict[str, int]:
    """The counts in a fixed order, without zeros."""
    if not isinstance(deck, Mapping):
        raise OptionsError(f"deck={deck!r:.60}: counts by kind such as {{'brawl': 6, 'change': 8}} are needed")
    for name in deck:
        if name not in KIND_NAMES:
            raise OptionsError(unknown_name("kind of card in deck", name, [KIND_NAMES[kind] for kind in IN_ORDER]))
    counts = {name: check_int(f"deck: {name}", count, 0, MAX_CARDS) for name, count in deck.items()}
    return {KIND_NAMES[kind]: counts[KIND_NAMES[kind]] for kind in IN_ORDER if counts.get(KIND_NAMES[kind])}
