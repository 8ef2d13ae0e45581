"""The options of Mitch: the presets are the table of the rulebook, and what makes no sense is refused in words."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from typing import Any

import numpy as np
import pytest

import mitch_env
from mitch_env import Batch, OptionsError, get_game
from mitch_env.mitch.options import MitchOptions

COMMON: dict[str, Any] = {"players": 3, "hand_size": 5, "clock_cards": 3, "tie_break": "high", "suits": 4, "ranks": 13}
COMMON |= {"take_discard": False, "closer_plays": False}
OF_SUITS: dict[str, Any] = {
    "scoring": "suits",
    "lost_column_penalty": True,
    "shortest_double": False,
    "waiting_penalty": False,
    "playoffs": None,
}
OF_LONGEST: dict[str, Any] = {
    "scoring": "longest",
    "lost_column_penalty": None,
    "shortest_double": None,
    "waiting_penalty": None,
    "playoffs": 10,
}
#: The table of the rulebook; None stands for "-".
TABLE: dict[str, dict[str, Any]] = {
    "mitch_jp": COMMON | OF_SUITS | {"deals": "players", "clock": "joker", "column_step": "any_lower", "must_place": False},
    "mitch_ru": COMMON | OF_LONGEST | {"deals": 1, "clock": "ace_hand", "column_step": "next_lower", "must_place": True},
    "mitch_original": COMMON
    | OF_SUITS
    | {"deals": "players", "clock": "ace_deck", "column_step": "any_lower", "must_place": False},
}
PRESETS = list(TABLE)
INTEGERS = {"players": (2, 5), "hand_size": (1, 52), "clock_cards": (1, 4), "suits": (1, 4), "ranks": (2, 13)}
FLAGS = ["must_place", "take_discard", "closer_plays", "lost_column_penalty", "shortest_double", "waiting_penalty"]
WORDS = {
    "clock": ["joker", "ace_stock", "ace_deck", "ace_hand"],
    "column_step": ["any_lower", "next_lower"],
    "scoring": ["suits", "longest"],
    "tie_break": ["high", "low"],
}


def refusal(game: str, **changes: Any) -> str:
    """The sentence that refuses these options."""
    with pytest.raises(OptionsError) as caught:
        get_game(game).options(**changes)
    return str(caught.value)


def is_accepted(changes: dict[str, Any]) -> bool:
    """Whether these options can be made."""
    try:
        get_game("mitch_jp").options(**changes)
    except OptionsError:
        return False
    return True


def names_value(sentence: str, name: str, value: Any) -> bool:
    """Whether a sentence says which option has which value."""
    return f"{name}={value!r}" in sentence


@pytest.mark.parametrize("game", PRESETS)
def test_the_presets_are_the_table_of_the_rulebook(game: str) -> None:
    assert get_game(game).options().as_dict() == TABLE[game]


def test_the_options_of_the_class_are_those_of_the_table() -> None:
    names = {field.name for field in dataclasses.fields(MitchOptions)}
    assert all(set(row) == names for row in TABLE.values())
    assert MitchOptions().as_dict() == TABLE["mitch_jp"]


# --- Single values.


@pytest.mark.parametrize("name", INTEGERS)
def test_an_integer_out_of_range_is_refused_with_the_range(name: str) -> None:
    low, high = INTEGERS[name]
    for value in (low - 1, high + 1, -3, 10**20):
        sentence = refusal("mitch_jp", **{name: value})
        assert names_value(sentence, name, value) and f"from {low} to {high}" in sentence


@pytest.mark.parametrize("name", [*INTEGERS, "deals", "playoffs"])
@pytest.mark.parametrize("value", [True, False, 3.0, "3", [3], np.True_, np.float32(3)], ids=repr)
def test_what_is_no_integer_is_refused(name: str, value: Any) -> None:
    sentence = refusal("mitch_ru", **{name: value})
    assert names_value(sentence, name, value) and "integer from" in sentence


@pytest.mark.parametrize("name", [*INTEGERS, "deals", *FLAGS[:3], *WORDS])
def test_none_is_refused_where_an_option_always_applies(name: str) -> None:
    assert names_value(refusal("mitch_jp", **{name: None}), name, None)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_numpy_integers_are_taken_as_integers(dtype: Any) -> None:
    changes = {"players": 4, "deals": 2, "hand_size": 3, "clock_cards": 2, "suits": 3, "ranks": 9, "playoffs": 1}
    options = get_game("mitch_ru").options(**{name: dtype(value) for name, value in changes.items()})
    assert all(type(getattr(options, name)) is int and getattr(options, name) == value for name, value in changes.items())
    assert options == get_game("mitch_ru").options(**changes)


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("value", [0, 1, "true", "", 1.0], ids=repr)
def test_what_is_no_bool_is_refused(name: str, value: Any) -> None:
    sentence = refusal("mitch_jp", **{name: value})
    assert names_value(sentence, name, value) and "true or false" in sentence


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("value", [np.True_, np.False_], ids=repr)
def test_numpy_bools_are_taken_as_bools(name: str, value: np.bool_) -> None:
    assert getattr(get_game("mitch_jp").options(**{name: value}), name) is bool(value)


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("value", ["Joker", "", "any", 0, True, ["joker"]], ids=repr)
def test_an_unknown_word_is_refused_with_the_words_that_are_allowed(name: str, value: Any) -> None:
    sentence = refusal("mitch_jp", **{name: value})
    assert names_value(sentence, name, value) and all(repr(word) in sentence for word in WORDS[name])


@pytest.mark.parametrize("name", WORDS)
def test_every_word_is_accepted(name: str) -> None:
    for word in WORDS[name]:
        assert getattr(get_game("mitch_jp").options(**{name: word}), name) == word


@pytest.mark.parametrize("value", ["many", "", "3"])
def test_deals_is_players_or_a_number(value: str) -> None:
    sentence = refusal("mitch_jp", deals=value)
    assert names_value(sentence, "deals", value) and "'players' or an integer from 1" in sentence


@pytest.mark.parametrize(("name", "value", "low"), [("deals", 0, 1), ("deals", -1, 1), ("playoffs", -1, 0)])
def test_deals_start_at_1_and_playoffs_at_0(name: str, value: int, low: int) -> None:
    sentence = refusal("mitch_ru", **{name: value})
    assert names_value(sentence, name, value) and f"from {low} " in sentence
    assert getattr(get_game("mitch_ru").options(**{name: low}), name) == low


def test_a_refused_number_of_deals_says_that_players_is_allowed_too() -> None:
    assert "'players'" in refusal("mitch_jp", deals=0)


@pytest.mark.parametrize("players", range(2, 6))
def test_deals_players_means_as_many_as_players(players: int) -> None:
    options = get_game("mitch_jp").options(players=players)
    assert options.deals == "players" and options.n_deals == players
    assert get_game("mitch_jp").options(players=players, deals=7).n_deals == 7


# --- Combinations.


@pytest.mark.parametrize("name", ["take_discard", "closer_plays", "waiting_penalty"])
@pytest.mark.parametrize("scoring", ["suits", "longest"])
def test_flags_that_need_a_draw_before_the_move_are_refused_with_ace_hand(name: str, scoring: str) -> None:
    for game, changes in (("mitch_ru", {"scoring": scoring}), ("mitch_jp", {"scoring": scoring, "clock": "ace_hand"})):
        sentence = refusal(game, **changes, **{name: True})
        assert names_value(sentence, name, True) and "clock='ace_hand'" in sentence
        assert f"{name}=False" in sentence and all(word in sentence for word in ("joker", "ace_stock", "ace_deck"))
        get_game(game).options(**changes, **{name: False})


@pytest.mark.parametrize("name", ["shortest_double", "waiting_penalty"])
@pytest.mark.parametrize("clock", ["joker", "ace_stock", "ace_deck"])
def test_flags_about_suits_are_refused_with_longest(name: str, clock: str) -> None:
    sentence = refusal("mitch_jp", scoring="longest", clock=clock, **{name: True})
    assert names_value(sentence, name, True) and "scoring='longest'" in sentence
    assert f"{name}=False" in sentence and "scoring='suits'" in sentence
    assert getattr(get_game("mitch_jp").options(scoring="longest", clock=clock, **{name: False}), name) is None


def test_shortest_double_goes_with_ace_hand_and_suits() -> None:
    assert get_game("mitch_ru").options(scoring="suits", shortest_double=True).shortest_double is True


@pytest.mark.parametrize("clock", ["ace_stock", "ace_deck", "ace_hand"])
@pytest.mark.parametrize(("suits", "clock_cards"), [(1, 2), (2, 3), (3, 4), (2, 4)])
def test_an_ace_clock_cannot_count_further_than_the_aces_of_the_pack(clock: str, suits: int, clock_cards: int) -> None:
    changes = {"clock": clock, "suits": suits, "hand_size": 2, "players": 2}
    sentence = refusal("mitch_jp", **changes, clock_cards=clock_cards)
    assert names_value(sentence, "clock_cards", clock_cards) and f"suits={suits}" in sentence and f"1 to {suits}" in sentence
    get_game("mitch_jp").options(**changes, clock_cards=suits)


@pytest.mark.parametrize("suits", [1, 2, 3, 4])
def test_jokers_may_be_more_than_the_suits(suits: int) -> None:
    assert get_game("mitch_jp").options(suits=suits, hand_size=2, clock_cards=4).clock_cards == 4


@pytest.mark.parametrize(
    ("clock", "players", "suits", "ranks", "most"),
    [
        ("joker", 2, 2, 4, 4),  # 8 cards
        ("ace_hand", 2, 2, 4, 4),
        ("ace_stock", 2, 2, 4, 3),  # 6 cards that are no aces
        ("ace_deck", 2, 2, 4, 3),
        ("joker", 5, 4, 13, 10),  # 52 cards
        ("ace_hand", 5, 4, 13, 10),
        ("ace_stock", 5, 4, 13, 9),  # 48 cards
        ("ace_deck", 5, 4, 13, 9),
        ("joker", 4, 3, 5, 3),  # 15 cards
        ("ace_deck", 4, 3, 5, 3),  # 12 cards
    ],
)
def test_a_pack_too_small_for_the_deal_is_refused(clock: str, players: int, suits: int, ranks: int, most: int) -> None:
    changes = {"clock": clock, "players": players, "suits": suits, "ranks": ranks, "clock_cards": 1}
    assert get_game("mitch_jp").options(**changes, hand_size=most).hand_size == most
    sentence = refusal("mitch_jp", **changes, hand_size=most + 1)
    assert names_value(sentence, "hand_size", most + 1) and f"at most {most}" in sentence
    for name in ("players", "suits", "ranks"):
        assert names_value(sentence, name, changes[name])


@pytest.mark.parametrize("clock", WORDS["clock"])
def test_a_pack_dealt_to_the_last_card_can_be_played(clock: str) -> None:
    """With as many cards as can be dealt the match still begins, and ends, with every hand emptied."""
    no_aces = clock in ("ace_stock", "ace_deck")
    env = mitch_env.make("mitch_jp", clock=clock, clock_cards=2, players=2, suits=2, ranks=4, hand_size=3 if no_aces else 4)
    env.reset(seed=3)
    while not all(env.terminations.values()):
        env.step(env.parse_action(env.legal_moves()[0]))
    assert len(env.record()["deals"]) == 2


def test_exactly_the_senseless_flags_are_refused() -> None:
    """All clocks, scorings and flags: those of the rulebook's list are refused, and no others."""
    flags = ["take_discard", "closer_plays", "waiting_penalty", "shortest_double"]
    for clock, scoring, values in itertools.product(
        WORDS["clock"], WORDS["scoring"], itertools.product([False, True], repeat=4)
    ):
        changes = {"clock": clock, "scoring": scoring, **dict(zip(flags, values, strict=True))}
        take, closer, waiting, double = values
        makes_sense = not (clock == "ace_hand" and (take or closer or waiting)) and not (
            scoring == "longest" and (double or waiting)
        )
        assert is_accepted(changes) == makes_sense, changes


def test_exactly_the_packs_that_are_too_small_are_refused() -> None:
    """All small packs: more cards to deal than there are (without aces, if they cannot be dealt), or too few aces."""
    sizes = itertools.product(WORDS["clock"], (1, 2, 3, 4), (2, 3, 5, 13), (2, 3, 4, 5), (1, 2, 5, 13), (1, 2, 3, 4))
    for clock, suits, ranks, players, hand_size, clock_cards in sizes:
        can_be_dealt = suits * (ranks - 1 if clock in ("ace_stock", "ace_deck") else ranks)
        fits = players * hand_size <= can_be_dealt and (clock == "joker" or clock_cards <= suits)
        changes = {"clock": clock, "suits": suits, "ranks": ranks, "players": players}
        changes |= {"hand_size": hand_size, "clock_cards": clock_cards}
        assert is_accepted(changes) == fits, changes


# --- What does not apply.


@pytest.mark.parametrize("value", [True, False, None])
def test_lost_column_penalty_has_no_effect_with_longest(value: bool | None) -> None:
    assert get_game("mitch_ru").options(lost_column_penalty=value) == get_game("mitch_ru").options()


@pytest.mark.parametrize("value", [0, 3, None])
def test_playoffs_have_no_effect_with_suits(value: int | None) -> None:
    assert get_game("mitch_jp").options(playoffs=value) == get_game("mitch_jp").options()


def test_options_that_come_to_apply_have_their_defaults() -> None:
    russian = get_game("mitch_ru").options(scoring="suits")
    assert russian.lost_column_penalty is True and russian.shortest_double is False and russian.waiting_penalty is False
    assert russian.playoffs is None
    japanese = get_game("mitch_jp").options(scoring="longest")
    assert japanese.playoffs == 10 and japanese.lost_column_penalty is None
    assert japanese.shortest_double is None and japanese.waiting_penalty is None


@pytest.mark.parametrize("name", ["lost_column_penalty", "shortest_double", "waiting_penalty"])
def test_none_means_the_default_where_the_option_applies(name: str) -> None:
    assert getattr(get_game("mitch_jp").options(**{name: None}), name) is TABLE["mitch_jp"][name]
    assert get_game("mitch_ru").options(playoffs=None).playoffs == 10


def test_options_survive_a_change_of_scoring_there_and_back() -> None:
    game = get_game("mitch_jp")
    assert game.options(game.options(scoring="longest"), scoring="suits") == game.options()


# --- Names.


@pytest.mark.parametrize(
    ("name", "meant"),
    [("player", "players"), ("hand", "hand_size"), ("take_discards", "take_discard"), ("scorin", "scoring"), ("rank", "ranks")],
)
def test_an_unknown_name_suggests_the_nearest(name: str, meant: str) -> None:
    unknown: dict[str, Any] = {name: 3}
    for attempt in (
        lambda: get_game("mitch_jp").options(unknown),
        lambda: get_game("mitch_jp").options(**unknown),
        lambda: mitch_env.make("mitch_jp", **unknown),
        lambda: Batch("mitch_jp", 2, **unknown),
    ):
        with pytest.raises(OptionsError, match=f"unknown option '{name}'; did you mean '{meant}'"):
            attempt()


def test_a_name_like_none_lists_those_that_are_known() -> None:
    sentence = refusal("mitch_jp", zzz=1)
    assert "'zzz'" in sentence and "did you mean" not in sentence
    assert all(re.search(rf"\b{name}\b", sentence) for name in TABLE["mitch_jp"])


def test_the_list_of_known_names_is_a_sentence_of_its_own() -> None:
    assert re.match(r"unknown option 'zzz'[.;:] ", refusal("mitch_jp", zzz=1))


def test_a_name_that_is_no_text_is_unknown() -> None:
    with pytest.raises(OptionsError, match="unknown option 3"):
        get_game("mitch_jp").options({3: 4})


@pytest.mark.parametrize("options", [5, "players=3", [("players", 3)]], ids=repr)
def test_options_that_are_no_mapping_are_refused(options: Any) -> None:
    with pytest.raises(OptionsError, match=f"mapping or a MitchOptions, got {type(options).__name__}"):
        get_game("mitch_jp").options(options)


def test_options_are_a_mapping_or_keywords_or_both_or_an_object() -> None:
    game = get_game("mitch_jp")
    expected = MitchOptions(players=4, deals=2)
    assert game.options({"players": 4, "deals": 2}) == expected
    assert game.options({"players": 4}, deals=2) == expected
    assert game.options(MitchOptions(players=4), deals=2) == expected
    assert game.options(expected) == expected


# --- The object.


def test_options_are_frozen_and_comparable() -> None:
    options = get_game("mitch_jp").options(players=4)
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.players = 5
    assert options.players == 4 and len({options, get_game("mitch_jp").options(players=4)}) == 1
    assert options != get_game("mitch_jp").options()


def test_a_refused_change_leaves_the_defaults_of_the_game_as_they_are() -> None:
    refusal("mitch_jp", players=9)
    assert get_game("mitch_jp").options().as_dict() == TABLE["mitch_jp"]


@pytest.mark.parametrize("game", PRESETS)
def test_a_record_holds_every_option_with_its_value(game: str) -> None:
    env = mitch_env.make(game, players=np.int64(2), hand_size=3, deals=2)
    env.reset(seed=1)
    written = json.loads(json.dumps(env.record()["options"]))
    assert written == TABLE[game] | {"players": 2, "hand_size": 3, "deals": 2}
    assert get_game(game).options(written) == env.options


@pytest.mark.parametrize("game", PRESETS)
def test_a_table_holds_every_option_as_a_number(game: str) -> None:
    options = get_game(game).options(players=4)
    table = get_game(game).new_tables([options], seeds=np.zeros(1, np.uint64))[0]
    assert set(options.table_fields()) == set(TABLE[game]) <= set(table.dtype.names)
    for name, value in options.as_dict().items():
        number = WORDS[name].index(value) if name in WORDS else options.n_deals if name == "deals" else int(value or 0)
        assert table[name] == number, name
