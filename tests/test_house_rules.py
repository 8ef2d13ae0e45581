"""House rules drawn at random: valid, reproducible, every value in its turn, and playable by one batch."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pytest
from env_laws import steps_by_batch, steps_by_table_env, the_match_is_the_same
from games import times

from mitch_env import GAMES, Batch, OptionsError, TableEnv
from mitch_env.house_rules import VALUES, house_rules

every_game = pytest.mark.parametrize("name", GAMES)
#: Options without a list of usual values, and those that are drawn only if they are named.
NOT_DRAWN = {"deck", "suits", "ranks", "max_turns"}


@every_game
def test_every_value_of_every_option_occurs(name: str) -> None:
    game = GAMES[name]
    drawn = [rules.as_dict() for rules in house_rules(name, 4000, seed=1)]
    for option, values in VALUES[type(game.defaults)].items():
        found = {one[option] for one in drawn}
        if option in NOT_DRAWN:
            assert found == {getattr(game.defaults, option)}
        else:
            assert set(values) <= found <= {*values, None}, option
    assert {field.name for field in dataclasses.fields(game.defaults)} == {*VALUES[type(game.defaults)]} | (
        {"deck"} if name == "mitchell" else set()
    )


def test_options_that_go_with_all_others_are_uniform_and_independent() -> None:
    drawn = house_rules("mitch_jp", 4000, seed=3, vary=["tie_break", "column_step", "players"], hand_size=3)
    counts = Counter((one.tie_break, one.column_step, one.players) for one in drawn)
    assert len(counts) == 16
    assert all(abs(count - 250) < 80 for count in counts.values())  # 5 standard deviations
    assert {one.hand_size for one in drawn} == {3} and {one.clock for one in drawn} == {"joker"}


@every_game
def test_a_seed_draws_the_same_rules_and_another_one_others(name: str) -> None:
    assert house_rules(name, 20, seed=5) == house_rules(GAMES[name], 20, seed=5)
    assert house_rules(name, 20, seed=5) != house_rules(name, 20, seed=6)
    assert house_rules(name, 20, seed=5)[:7] == house_rules(name, 7, seed=5)


def test_values_are_drawn_from_what_is_given() -> None:
    decks = [{"brawl": 60, "change": 20}, {"stakeout": 50, "force-two": 30}]
    drawn = house_rules("mitchell", 60, seed=1, vary={"deck": decks, "players": [2, 6]}, rounds=1)
    assert {(tuple(one.deck), one.players) for one in drawn} == {(tuple(deck), n) for deck in decks for n in (2, 6)}
    assert {one.rounds for one in drawn} == {1}
    assert {one.unplayed for one in house_rules("mitchell", 30, seed=1, vary=("unplayed",))} == {"bonus", "penalty"}


def test_what_the_game_refuses_is_drawn_again() -> None:
    values = {"clock": ["ace_hand", "joker"], "closer_plays": [True, False], "players": [2, 5], "hand_size": [10, 11]}
    drawn = house_rules("mitch_jp", 300, seed=2, vary=values)
    found = {(one.clock, one.closer_plays, one.players, one.hand_size) for one in drawn}
    assert len(found) == (4 - 1) * (4 - 1)  # no ace_hand with closer_plays, no 55 cards of 52


@every_game
def test_one_batch_plays_them_all_as_single_environments_do(name: str) -> None:
    fast = {"rounds": 1} if name == "mitchell" else {"deals": 1}
    rules, seeds = house_rules(name, 9, seed=4, **fast), list(range(9))
    batch = Batch(name, options=rules, seed=seeds)
    assert len({one.players for one in rules}) > 2
    assert batch.seats == max(one.players for one in rules)
    batch.skip_silent()
    n = times(60)
    by_batch = steps_by_batch(batch, n, random.Random(1))
    for row, one in enumerate(rules):
        alone = list(steps_by_table_env(TableEnv(GAMES[name], one, seats_encoded=batch.seats), seeds[row], n))
        the_match_is_the_same(test_one_batch_plays_them_all_as_single_environments_do, alone, by_batch[row][:n])


@every_game
def test_gymnasiums_vector_environment_takes_them(name: str) -> None:
    rules = house_rules(name, 12, seed=8, **({"rounds": 1} if name == "mitchell" else {}))
    vector = gymnasium.make_vec(
        f"mitch_env/{name.title().replace('_', '')}-v0", num_envs=12, vectorization_mode="vector_entry_point", options=rules
    )
    shown, infos = vector.reset(seed=1)
    for _ in range(times(50)):
        shown, _, _, _, infos = vector.step(vector.action_space.sample())
    layout = vector.unwrapped._tables.batch.observation_layout()
    for row, one in enumerate(rules):
        players = shown[row, layout.slices["players"]]
        assert np.flatnonzero(players).tolist() == [one.players - 2]
        assert infos["seat"][row] < one.players


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"vary": ["clok"]}, "unknown option 'clok'; did you mean 'clock'?"),
        ({"vary": {"clok": ["joker"]}}, "unknown option 'clok'"),
        ({"hand_sice": 3}, "unknown option 'hand_sice'; did you mean 'hand_size'?"),
        ({"vary": ["clock"], "clock": "joker"}, "clock stands in vary and is fixed to 'joker'"),
        ({"vary": "clock"}, "vary='clock': a list of options is needed"),
        ({"vary": 3}, "vary=3"),
        ({"vary": {"clock": "joker"}}, "vary: clock: 'joker': a list of at least one value"),
        ({"vary": {"clock": []}}, "vary: clock: []: a list of at least one value"),
        (
            {"vary": {"clock": ["joker", "jocker"]}},
            "clock='jocker': 2000 draws in a row were refused, mostly since clock=",
        ),
        ({"vary": {"playoffs": [0, -1]}}, "playoffs=-1: 2000 draws in a row were refused, mostly since playoffs=-1"),
        (
            {"vary": {"take_discard": [True, False]}, "clock": "ace_hand"},
            "clock='ace_hand', take_discard=True: 2000 draws in a row were refused, mostly since take_discard=True does",
        ),
        ({"players": 5, "hand_size": 20}, "players=5, hand_size=20: 2000 draws in a row were refused"),
        ({"players": 9}, "players=9: an integer from 2 to 5 is needed"),
        ({"n": 0}, "n=0: an integer from 1"),
    ],
)
def test_an_impossible_request_says_why(settings: dict[str, Any], words: str) -> None:
    settings = {"n": 3, "seed": 1, **settings}
    with pytest.raises(OptionsError) as told:
        house_rules("mitch_jp", **settings)
    assert words in str(told.value)


def test_a_deck_needs_values_and_a_wrong_seed_is_refused() -> None:
    with pytest.raises(OptionsError, match=r"deck has no usual values: give them, vary=\{'deck': \[...\]\}"):
        house_rules("mitchell", 3, seed=1, vary=["deck"])
    with pytest.raises(ValueError, match="seed must be an integer"):
        house_rules("mitchell", 3, seed=-1)
    with pytest.raises(ValueError, match="unknown game 'mitchel'"):
        house_rules("mitchel", 3, seed=1)


def test_a_value_that_the_fixed_rules_exclude_is_left_out_unless_it_was_asked_for() -> None:
    assert {one.take_discard for one in house_rules("mitch_jp", 50, seed=1, clock="ace_hand")} == {False}
    assert {one.waiting_penalty for one in house_rules("mitch_ru", 50, seed=1, vary=["waiting_penalty"])} == {None}


def test_what_is_fixed_may_allow_what_the_tradition_does_not() -> None:
    fixed = {"scoring": "suits", "clock": "joker"}
    drawn = house_rules("mitch_ru", 50, seed=1, vary={"waiting_penalty": [True, False]}, **fixed)
    assert {one.waiting_penalty for one in drawn} == {True, False}
