"""Records of Mitchell: the same bytes from both environments, replayed by the engine and by the referee; damage is told."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest
from reference.mitchell import check_record

from mitch_env import get_game
from mitch_env.chance import match_seeds
from mitch_env.record_commands import match_text, play_via_aec, play_via_batch
from mitch_env.records import replay

TINY = {"brawl": 3, "cancel": 2, "change": 2, "force-two": 4, "give": 3, "off-duty+anywhere": 2, "move": 2}
CASES: list[dict[str, Any]] = [{"players": players, "rounds": 1, "ask_everyone": players % 2 == 0} for players in range(2, 9)]
CASES += [
    {"players": 3, "rounds": 4, "hand_size": 4, "deck": TINY, "release_wins": False, "unplayed": "penalty", "max_turns": 200},
    {"players": 5, "rounds": 3, "hand_size": 2, "deck": TINY, "target_score": None, "max_turns": 60},
    {"players": 2, "rounds": 9, "hand_size": 1, "deck": {"give": 2, "revenge": 2, "brawl+attract": 1}, "target_score": 30},
    {"players": 2, "rounds": 3, "hand_size": 1, "deck": {"cancel": 3, "revenge": 2}},  # nobody ever decides anything
    {"players": 8, "max_turns": 30},
]


def records(options: dict[str, Any], n: int = 6, legal: bool = True) -> list[dict[str, Any]]:
    game = get_game("mitchell")
    return list(play_via_aec(game, game.options(options), match_seeds(3, n), legal))


@pytest.mark.parametrize("options", CASES, ids=lambda options: f"{options['players']}-{len(options)}")
def test_records_are_the_same_from_both_environments_and_replay(options: dict[str, Any]) -> None:
    game = get_game("mitchell")
    by_env = records(options)
    by_batch = list(play_via_batch(game, game.options(options), match_seeds(3, 6), True))
    assert [json.dumps(record) for record in by_env] == [json.dumps(record) for record in by_batch]
    for record in by_env:
        read = json.loads(json.dumps(record))
        assert replay(read) == []
        assert check_record(read) == []


def with_reshuffles() -> dict[str, Any]:
    """A record in which discards are shuffled again more than once."""
    return next(record for record in records(CASES[7], 20) if any(len(deal["reshuffles"]) > 1 for deal in record["deals"]))


def damaged(record: dict[str, Any], how: str) -> dict[str, Any]:
    broken = copy.deepcopy(record)
    reshuffles = next(deal["reshuffles"] for deal in broken["deals"] if len(deal["reshuffles"]) > 1)
    if how == "another card":
        reshuffles[1][0] = next(card for card in TINY if card != reshuffles[1][0])
    elif how == "a card too few":
        reshuffles[1].pop()
    elif how == "too few":
        reshuffles.pop()
    elif how == "too many":
        reshuffles.append(["brawl"])
    elif how == "no card":
        reshuffles[0] = []
    elif how == "an unknown card":
        reshuffles[0][0] = "fist"
    elif how == "more than there are":
        reshuffles[0][:] = ["cancel"] * 3
    return broken


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("another card", "reshuffle 2 is not an order of the cards that were shuffled here"),
        ("a card too few", "reshuffle 2 is not an order of the cards that were shuffled here"),
        ("too few", "a reshuffle happened here that the record does not have"),
        ("too many", "reshuffles written as"),
        ("no card", "a reshuffle without cards"),
        ("an unknown card", "'fist' is no card"),
        ("more than there are", "a reshuffle has 3 of cancel, the deck has 2"),
    ],
)
def test_M12_a_wrong_reshuffle_is_told(how: str, words: str) -> None:
    record = with_reshuffles()
    assert replay(record) == []
    problems = replay(damaged(record, how))
    assert any(words in problem for problem in problems), problems
    assert check_record(damaged(record, how))


def test_M20_a_truncated_match_has_no_scores_for_its_last_round() -> None:
    record = records({"players": 3, "max_turns": 20, "rounds": 5, "hand_size": 6}, 1)[0]
    assert record["truncated"] is True
    assert record["deals"][-1]["scores"] is None
    assert record["totals"] == [0, 0, 0]
    for damage in ({"truncated": False}, {"totals": [0, 0, 5]}, {"winners": [1]}):
        assert replay(record | damage)


def test_a_deck_is_written_in_one_order_without_zeros() -> None:
    record = records({"players": 2, "rounds": 1, "hand_size": 1, "deck": {"give": 0, "cancel": 1, "brawl": 9}}, 1)[0]
    assert list(record["options"]["deck"].items()) == [("brawl", 9), ("cancel", 1)]
    assert replay(record | {"options": record["options"] | {"deck": {"cancel": 1, "brawl": 9, "move": 0}}}) == []
    assert replay(record | {"options": record["options"] | {"deck": {"cancel": 2, "brawl": 8}}})


def test_a_match_can_be_shown() -> None:
    for record in [*records(CASES[7], 2), *records(CASES[10], 1)]:
        lines = "\n".join(match_text(record)).splitlines()
        assert lines[0].startswith(f"mitchell, seed {record['seed']}: seat0 random")
        assert max(map(len, lines)) < 400
        assert sum(line.startswith("=== Deal ") for line in lines) == len(record["deals"])


def test_the_seed_makes_the_match_again_whatever_was_played_before() -> None:
    game = get_game("mitchell")
    seeds = match_seeds(3, 6)
    (alone,) = play_via_aec(game, game.options(CASES[7]), seeds[4:5], False)
    assert alone == records(CASES[7], legal=False)[4]
    assert np.unique(seeds).size == 6
