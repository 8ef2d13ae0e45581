"""Moves of Mitchell in words: every action has its own, they can be read back, and what is no move is told why."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from mitchell_positions import new_match, play, position

from mitch_env.game import NOBODY, Table
from mitch_env.mitchell.actions import n_actions
from mitch_env.mitchell.kinds import KIND_NAMES
from mitch_env.mitchell.options import MitchellOptions
from mitch_env.mitchell.presets import MITCHELL, RULES
from mitch_env.mitchell.text import action_labels, action_name, arrange_reshuffle, parse_action, phase_name, stock_words


def table_for(players: int, seats: int, actor: int) -> Table:
    table = MITCHELL.new_tables([MitchellOptions(players=players)], seeds=np.array([1], np.uint64), seats_encoded=seats)[0]
    RULES.start_match(table)
    table.actor = actor
    return table


@pytest.mark.parametrize("seats", range(2, 9))
def test_there_are_33_n_and_3_actions_and_each_has_a_label_of_its_own(seats: int) -> None:
    labels = action_labels(seats)
    assert len(labels) == len(set(labels)) == n_actions(seats) == RULES.n_actions(seats) == 33 * seats + 3
    verbs = Counter(label.partition(" ")[0] for label in labels)
    assert verbs["give"] == 26 * (seats - 1)
    assert verbs["force-two"] == seats - 1
    assert verbs["move"] == verbs["brawl+anywhere"] == seats + 1
    assert verbs["change"] == 5
    assert labels[-4:] == ["pass", "cancel", "revenge", "decline"]
    assert labels[:15] == list(KIND_NAMES[:15])


def test_places_are_counted_clockwise_from_the_actor() -> None:
    labels = action_labels(4)
    table = table_for(4, 4, 3)
    for label, name in [
        ("force-two +1", "force-two seat0"),
        ("move self", "move seat3"),
        ("move center", "move center"),
        ("brawl+anywhere +3", "brawl+anywhere seat2"),
        ("give +2 brawl+attract", "give seat1 brawl+attract"),
        ("change off-duty", "change off-duty"),
    ]:
        assert action_name(table, labels.index(label)) == name
        assert parse_action(table, name) == labels.index(label)


@pytest.mark.parametrize(("players", "seats"), [(2, 2), (3, 3), (8, 8), (2, 8), (5, 7)])
def test_every_move_can_be_read_back_and_no_seat_is_named_that_nobody_sits_on(players: int, seats: int) -> None:
    for actor in (*range(players), NOBODY):
        table = table_for(players, seats, actor)
        names = [action_name(table, action) for action in range(n_actions(seats))]
        assert len(set(names)) == len(names)
        empty = [f"seat{seat}" for seat in range(players, seats)]
        for action, name in enumerate(names):
            if any(word in empty for word in name.split()):
                with pytest.raises(ValueError, match="cannot be named here"):
                    parse_action(table, name)
                assert not RULES.is_legal(table, action)
            else:
                assert parse_action(table, name) == action


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("play brawl", "'play brawl' is no move: the name of a card comes first, or it is pass, cancel, revenge, decline"),
        ("", "'' is no move"),
        ("brawl seat1", "'brawl' is needed"),
        ("brawl+anywhere", r"'brawl\+anywhere center\|seatN' is needed"),
        ("change", "'change SUIT' is needed"),
        ("change fist", "'fist' is no suit, stakeout, car-chase, brawl, crime-scene, off-duty are"),
        ("force-two", "'force-two seatN' is needed"),
        ("force-two center", "'center' cannot be named here, seat0, seat2 can"),
        ("force-two seat1", "'seat1' cannot be named here, seat0, seat2 can"),
        ("move seat3", "'seat3' cannot be named here, seat0, seat1, seat2, center can"),
        ("give seat0", "'give seatN CARD' is needed"),
        ("give seat0 fist", "'fist' is no card: a suit"),
        ("cancel seat0", "'cancel' stands alone"),
        ("pass ", "'pass' stands alone"),
        (7, "a move is text such as 'give seat1 brawl', got 7"),
    ],
)
def test_what_is_no_move_is_told_why(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_action(table_for(3, 3, 1), text)


@pytest.mark.parametrize("action", [-1, 102, 1 << 40])
def test_a_number_that_is_no_action_has_no_name(action: int) -> None:
    with pytest.raises(ValueError, match="is no action: 0 to 101 are"):
        action_name(table_for(3, 3, 0), action)


def test_phases_are_told() -> None:
    table = new_match(["brawl", "brawl", "brawl"], "brawl")
    assert phase_name(table) == "waiting for the deal"
    table = position(["give brawl brawl", "cancel", "off-duty"], "off-duty car-chase off-duty", suit="brawl")
    assert phase_name(table) == "playing a card"
    play(table, "0 give seat2 brawl")
    assert phase_name(table) == "answering seat0's give seat2"  # not which card (M6)
    table = position(["off-duty", "brawl brawl"], "brawl", suit="brawl")
    assert phase_name(table) == "playing or keeping the card just drawn"
    play(table, "0 brawl", "1 brawl")
    table = position(["brawl", "brawl"], "brawl")
    play(table, "0 brawl")
    assert phase_name(table) == "the match is over"


def test_the_last_stock_is_told_also_when_cards_are_drawn_from_it() -> None:
    table = position(["off-duty brawl", "off-duty brawl"], "off-duty car-chase give", suit="brawl")
    assert stock_words(table) == ["off-duty", "car-chase", "give"]
    play(table, "0 brawl", "1 brawl")
    assert table.stock_next > 0
    assert stock_words(table) == ["off-duty", "car-chase", "give"]


def test_an_arranged_reshuffle_is_forgotten_with_the_next_deal() -> None:
    table = new_match(["brawl", "brawl"], "brawl brawl", rounds=3)
    arrange_reshuffle(table, ["brawl", "brawl"])
    RULES.shuffle_deal(table)
    assert table.n_arranged == 0
    assert not table.arranged.any()
