"""The notation of Mitch: words for every card and move, both ways, and errors that speak."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from positions import Position

from mitch_env.mitch.actions import DISCARD, DRAW, N_ACTIONS, TAKE
from mitch_env.mitch.text import card_name, parse_card

HANDS = ["KS 7H 9D 4C AS", "QD 9C 6D 3H 8S", "KH JH 5C 2S TD"]
VERBS = {"play", "discard", "ace", "take", "draw"}
GAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "jp": ("mitch_jp", {"deals": 1}),
    "ru": ("mitch_ru", {"playoffs": 1}),
    "original": ("mitch_original", {"deals": 1}),
    "jp take_discard": ("mitch_jp", {"take_discard": True, "closer_plays": True, "players": 4, "deals": 1}),
    "original next_lower": ("mitch_original", {"take_discard": True, "must_place": True, "column_step": "next_lower"}),
    "ace_stock": ("mitch_jp", {"clock": "ace_stock", "players": 2, "hand_size": 3}),
    "ru free": ("mitch_ru", {"must_place": False, "column_step": "any_lower", "scoring": "suits", "players": 5}),
    "miniature": ("mitch_jp", {"players": 2, "hand_size": 2, "suits": 2, "ranks": 3, "clock_cards": 1, "take_discard": True}),
}


def random_positions(name: str, seed: int, n_matches: int) -> Iterator[Position]:
    """Every decision of some random matches; the position is played on in place."""
    game, options = GAMES[name]
    rng = np.random.default_rng(seed)
    for _ in range(n_matches):
        position = Position(game, compiled=True, **options)
        words = position.shuffle(int(rng.integers(1 << 30)))
        while not position.match_over:
            position.lay_out(words)
            while not position.deal_over:
                yield position
                position.apply(position.rules.pick_legal(position.table, rng.integers(1 << 64, dtype=np.uint64)))
            if not position.match_over:
                words = position.shuffle()


@pytest.mark.parametrize("name", GAMES)
def test_every_action_of_every_random_state_survives_the_round_trip(name: str) -> None:
    verbs = set()
    for position in random_positions(name, seed=3, n_matches=3):
        table, rules = position.table, position.rules
        mask = np.full(N_ACTIONS, 9, np.uint8)
        rules.legal_actions(table, mask)
        assert [rules.is_legal(table, action) for action in range(-2, N_ACTIONS + 2)] == [0, 0, *mask, 0, 0]
        words = [rules.action_name(table, int(action)) for action in np.flatnonzero(mask)]
        assert len(set(words)) == len(words)
        assert [rules.parse_action(table, move) for move in words] == list(np.flatnonzero(mask))
        verbs |= {move.split()[0] for move in words}
    expected = {"play", "discard"} | ({"ace"} if name.startswith("ru") else set())
    assert verbs == expected | ({"draw", "take"} if GAMES[name][1].get("take_discard") else set())


@pytest.mark.parametrize("name", GAMES)
def test_actions_that_are_not_legal_survive_it_too(name: str) -> None:
    """A move can be named and parsed wherever it means something; only `take` needs a discard."""
    for step, position in enumerate(random_positions(name, seed=4, n_matches=1)):
        if step % 5:
            continue
        table = position.table
        for action in range(N_ACTIONS):
            if action == TAKE and not position.discards:
                assert position.rules.action_name(table, action) == "take"
            else:
                move = position.rules.action_name(table, action)
                assert move.split()[0] in VERBS and position.rules.parse_action(table, move) == action


def test_each_card_has_a_name_of_its_own_that_parses() -> None:
    names = [rank + suit for suit in "SHDC" for rank in "A23456789TJQK"]
    assert list(map(card_name, range(53))) == [*names, "JK"]
    assert [parse_card(card_name(card)) for card in range(53)] == list(range(53))


@pytest.mark.parametrize(
    ("action", "move"),
    [(0, "play AS"), (12, "play KS"), (13 + 8, "play 9H"), (51, "play KC"), (DISCARD + 21, "discard 9H"), (DRAW, "draw")],
)
def test_the_numbers_of_the_actions(action: int, move: str) -> None:
    position = Position("mitch_jp").deal(HANDS)
    assert position.rules.action_name(position.table, action) == move
    assert position.rules.parse_action(position.table, move) == action


def test_take_names_the_top_discard() -> None:
    position = Position("mitch_jp", take_discard=True).deal(HANDS, "7C").play("0 discard 9D")
    assert position.rules.action_name(position.table, TAKE) == "take 9D"
    assert position.rules.parse_action(position.table, "take 9D") == TAKE


def test_aces_have_a_verb_of_their_own_only_under_ace_hand() -> None:
    russian, japanese = Position("mitch_ru").deal(HANDS), Position("mitch_jp").deal(HANDS)
    assert russian.rules.action_name(russian.table, DISCARD) == "ace AS"
    assert russian.rules.action_name(russian.table, DISCARD + 1) == "discard 2S"
    assert japanese.rules.action_name(japanese.table, DISCARD) == "discard AS"
    assert russian.rules.parse_action(russian.table, "ace AC") == DISCARD + 39


# --- Errors.


@pytest.mark.parametrize(
    "text", ["", "9h", "H9", "10H", "9", "9HH", " 9H", "9H ", "JOKER", "jk", "1S", None, 9, ("9H",)], ids=repr
)
def test_what_is_no_card_is_told_how_cards_are_written(text: Any) -> None:
    with pytest.raises(ValueError) as caught:
        parse_card(text)
    sentence = str(caught.value)
    assert repr(text) in sentence and "A 2 3 4 5 6 7 8 9 T J Q K" in sentence and "S H D C" in sentence and "JK" in sentence


@pytest.mark.parametrize("text", ["", "pass", "lay 9H", "PLAY 9H", "9H", "drawn", " play 9H", "draw 9H", "play_9H"], ids=repr)
def test_an_unknown_verb_is_told_the_moves_that_there_are(text: str) -> None:
    position = Position("mitch_jp").deal(HANDS)
    with pytest.raises(ValueError) as caught:
        position.rules.parse_action(position.table, text)
    sentence = str(caught.value)
    assert repr(text) in sentence and all(verb in sentence for verb in VERBS)


@pytest.mark.parametrize("text", [None, 5, ["play 9H"], b"play 9H"], ids=repr)
def test_a_move_must_be_text(text: Any) -> None:
    position = Position("mitch_jp").deal(HANDS)
    with pytest.raises(ValueError, match="a move is text such as 'play 9H', got") as caught:
        position.rules.parse_action(position.table, text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("verb", ["play", "discard", "ace", "take"])
@pytest.mark.parametrize("card", ["", "9X", "9h", "9H 8H"])
def test_a_move_with_what_is_no_card_names_it(verb: str, card: str) -> None:
    position = Position("mitch_jp").deal(HANDS)
    with pytest.raises(ValueError, match=f"'{card}' is no card"):
        position.rules.parse_action(position.table, f"{verb} {card}")


@pytest.mark.parametrize("verb", ["play", "discard", "ace", "take"])
def test_a_joker_is_never_moved(verb: str) -> None:
    position = Position("mitch_jp").deal(HANDS)
    with pytest.raises(ValueError, match=f"'{verb} JK' is no move: a joker is never in a hand"):
        position.rules.parse_action(position.table, f"{verb} JK")


@pytest.mark.parametrize(
    ("game", "move", "says"),
    [
        ("mitch_ru", "discard AS", "'ace AS'"),
        ("mitch_ru", "ace 2S", "only aces"),
        ("mitch_jp", "ace AS", "clock='ace_hand'"),
        ("mitch_original", "ace AS", "clock='ace_hand'"),
        ("mitch_jp", "take 9D", "that is none"),
    ],
)
def test_a_verb_that_does_not_go_with_the_card_says_why(game: str, move: str, says: str) -> None:
    position = Position(game).deal([HANDS[0].replace("AS", "3S"), *HANDS[1:]])
    with pytest.raises(ValueError) as caught:
        position.rules.parse_action(position.table, move)
    assert repr(move) in str(caught.value) and says in str(caught.value)


def test_only_the_top_discard_can_be_taken_and_it_is_named() -> None:
    position = Position("mitch_jp", take_discard=True).deal(HANDS, "7C").play("0 discard 9D")
    with pytest.raises(ValueError, match="'take KH': only the top discard can be taken, and that is 9D"):
        position.rules.parse_action(position.table, "take KH")


def test_draw_with_a_space_after_it_is_no_move() -> None:
    position = Position("mitch_jp").deal(HANDS)
    with pytest.raises(ValueError):
        position.rules.parse_action(position.table, "draw ")


@pytest.mark.parametrize("action", [-1, N_ACTIONS, 10**9])
def test_a_number_that_is_no_action_has_no_name(action: int) -> None:
    position = Position("mitch_jp").deal(HANDS)
    with pytest.raises(ValueError, match=f"{action} is no action: 0 to 105 are"):
        position.rules.action_name(position.table, action)


def test_every_action_has_a_label_whatever_the_number_of_seats() -> None:
    rules = Position("mitch_jp").rules
    assert all(rules.action_labels(seats) == rules.action_labels(2) for seats in range(2, 6))
    labels = rules.action_labels(2)
    assert len(labels) == len(set(labels)) == N_ACTIONS
    assert (labels[0], labels[DISCARD], labels[DRAW], labels[TAKE]) == ("play AS", "discard or ace AS", "draw", "take")
