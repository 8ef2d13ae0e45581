"""The options of Mitchell: what is refused and how, and where they stand."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from mitch_env.mitchell.kinds import KIND_NAMES
from mitch_env.mitchell.options import MitchellOptions
from mitch_env.mitchell.presets import MITCHELL
from mitch_env.options import OptionsError


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("players", 1, "players=1: an integer from 2 to 8"),
        ("players", 9, "players=9: an integer from 2 to 8"),
        ("players", True, "players=True: an integer from 2 to 8"),
        ("target_score", 0, "target_score=0: an integer from 1 to .*, or none"),
        ("target_score", 10.0, "target_score=10.0: an integer from 1 to .*, or none"),
        ("rounds", 0, "rounds=0: an integer from 1 to 800000"),
        ("rounds", None, "rounds=None: an integer from 1"),
        ("hand_size", 0, "hand_size=0: an integer from 1 to 127"),
        ("hand_size", 27, r"deck has 108 cards: with players=4 and hand_size=27 allowed are 109 .* to 255"),
        ("max_turns", 0, "max_turns=0: an integer from 1"),
        ("unplayed", "none", "unplayed='none': allowed are 'bonus', 'penalty'"),
        ("release_wins", 1, "release_wins=1: true or false"),
        ("ask_everyone", None, "ask_everyone=None: true or false"),
        ("deck", None, "deck=None: counts by kind"),
        ("deck", {"brawl": 256}, "deck: brawl=256: an integer from 0 to 255"),
        ("deck", {"brawl": 200, "give": 56}, "deck has 256 cards: .* allowed are 29 .* to 255"),
        ("deck", {"brawl": 28}, "deck has 28 cards: .* allowed are 29"),
        ("deck", {"brawl": 99, "brawls": 1}, "unknown kind of card in deck 'brawls'; did you mean 'brawl'"),
        ("deck", {"brawl": -1, "give": 99}, "deck: brawl=-1"),
        ("hands", 3, "unknown option 'hands'; did you mean 'hand_size'"),
    ],
)
def test_what_is_not_allowed_is_refused_with_name_value_and_range(name: str, value: Any, words: str) -> None:
    with pytest.raises(OptionsError, match=f"^{words}"):
        MITCHELL.options({name: value})


def test_deck_is_kept_in_one_order_without_zeros() -> None:
    options = MitchellOptions(players=2, hand_size=2, deck={"give": 0, "revenge": 2, "brawl": np.int64(3)})
    assert list(options.as_dict()["deck"].items()) == [("brawl", 3), ("revenge", 2)]
    assert options == MitchellOptions(players=2, hand_size=2, deck={"brawl": 3, "revenge": 2})


def test_options_survive_words_copies_and_changes() -> None:
    options = MitchellOptions(players=3, target_score=None, deck={"brawl": 30, "cancel": 2}, hand_size=3)
    assert MITCHELL.options(options.as_dict()) == options
    assert pickle.loads(pickle.dumps(options)) == copy.deepcopy(options) == options
    assert hash(copy.deepcopy(options)) == hash(options)
    assert MITCHELL.options(options, rounds=2).deck == {"brawl": 30, "cancel": 2}


def test_options_stand_in_the_table() -> None:
    changes: dict[str, Any] = {
        "players": 5, "target_score": None, "rounds": 3, "hand_size": 2, "unplayed": "penalty", "release_wins": False,
        "ask_everyone": True, "max_turns": 70, "deck": {"brawl": 200, "give": 55},
    }  # fmt: skip
    table = MITCHELL.new_tables([MITCHELL.options(changes)], seeds=np.array([1], np.uint64))[0]
    assert [int(table[name]) for name in changes if name != "deck"] == [5, 0, 3, 2, 1, 0, 1, 70]
    assert {KIND_NAMES[kind]: int(n) for kind, n in enumerate(table.deck) if n} == changes["deck"]
