"""Records: the format, what replays and what does not, and the verdict of the independent referee on damaged records."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from reference.mitch import check_record

import mitch_env
from mitch_env.records import log_of_match, options_of, record_of, replay

#: Every preset, every house rule, every clock and every number of players.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("mitch_jp", {}),
    ("mitch_jp", {"players": 2, "closer_plays": True}),
    ("mitch_jp", {"players": 4, "take_discard": True, "waiting_penalty": True, "shortest_double": True}),
    ("mitch_jp", {"players": 5, "clock": "ace_stock", "clock_cards": 2, "hand_size": 3, "lost_column_penalty": False}),
    (
        "mitch_jp",
        {"clock": "ace_deck", "clock_cards": 4, "must_place": True, "column_step": "next_lower", "take_discard": True},
    ),
    ("mitch_jp", {"scoring": "longest", "playoffs": 3, "hand_size": 3, "tie_break": "low", "deals": 2}),
    ("mitch_ru", {}),
    ("mitch_ru", {"players": 2, "deals": 3}),
    ("mitch_ru", {"players": 5, "must_place": False, "scoring": "suits"}),
    ("mitch_original", {}),
    ("mitch_original", {"players": 4, "closer_plays": True, "tie_break": "low", "clock_cards": 2}),
]
#: Miniatures, small enough to damage in every place: each preset, each clock, taking, and a play-off.
MINIATURES: dict[str, tuple[str, dict[str, Any], int]] = {
    "jp": ("mitch_jp", {"players": 2, "deals": 1, "suits": 2, "ranks": 3, "hand_size": 2, "clock_cards": 1}, 1),
    "jp-take": (
        "mitch_jp",
        {"players": 2, "deals": 1, "suits": 2, "ranks": 4, "hand_size": 1, "clock_cards": 2, "take_discard": True},
        8,
    ),
    "jp-ace-stock": (
        "mitch_jp",
        {"players": 2, "deals": 1, "suits": 2, "ranks": 4, "hand_size": 1, "clock": "ace_stock", "clock_cards": 1},
        3,
    ),
    "original": ("mitch_original", {"players": 2, "deals": 2, "suits": 2, "ranks": 4, "hand_size": 1, "clock_cards": 2}, 16),
    "ru-playoff": ("mitch_ru", {"players": 3, "suits": 2, "ranks": 4, "hand_size": 1, "clock_cards": 2, "playoffs": 2}, 48),
}


def random_record(name: str, options: dict[str, Any], seed: int, *, legal: bool = False) -> dict[str, Any]:
    """The record of a match of random players."""
    env = mitch_env.make(name, options)
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    while not all(env.terminations.values()):
        env.step(int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]))))
    return env.record(legal=legal)


def miniature(name: str, *, legal: bool = True) -> dict[str, Any]:
    game, options, seed = MINIATURES[name]
    return random_record(game, options, seed, legal=legal)


# --- Good records.


@pytest.mark.parametrize("legal", [False, True])
@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_random_matches_replay_and_the_referee_agrees(name: str, options: dict[str, Any], legal: bool) -> None:
    for seed in range(3):
        record = json.loads(json.dumps(random_record(name, options, seed, legal=legal)))
        assert replay(record) == []
        assert check_record(record) == []


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_a_record_has_exactly_the_fields_of_the_format(name: str, options: dict[str, Any]) -> None:
    record = random_record(name, options, 1)
    assert list(record) == [
        "format", "version", "game", "options", "seed", "agents", "deals", "totals", "winners", "truncated",
    ]  # fmt: skip
    assert (record["format"], record["version"], record["game"]) == ("mitch-record", 1, name)
    assert record["options"] == mitch_env.get_game(name).options(options).as_dict()
    assert record["seed"] == 1
    assert record["agents"] == ["unknown"] * record["options"]["players"]
    for deal in record["deals"]:
        assert list(deal) == ["dealer", "seats", "hands", "stock", "revealed", "reshuffles", "moves", "scores"]
        assert deal["reshuffles"] == []
        for seat, hand in enumerate(deal["hands"]):
            assert len(hand) == (record["options"]["hand_size"] if seat in deal["seats"] else 0)
        assert all(list(move) == ["seat", "move"] for move in deal["moves"])
    assert record["totals"] == [sum(points) for points in zip(*(deal["scores"] for deal in record["deals"]), strict=True)]
    assert record["winners"] == [seat for seat, total in enumerate(record["totals"]) if total == max(record["totals"])]
    assert record["truncated"] is False


def test_the_miniatures_hold_what_the_damage_should_meet() -> None:
    """The tests below would say less if these records had no play-off, no revealed ace, no taken discard."""
    assert any(len(deal["seats"]) == 2 for deal in miniature("ru-playoff")["deals"])
    assert any(deal["revealed"] for deal in miniature("original")["deals"])
    moves = [move["move"] for deal in miniature("jp-take")["deals"] for move in deal["moves"]]
    assert "draw" in moves
    assert any(move.startswith("take") for move in moves)
    assert any(move["move"].startswith("ace") for deal in miniature("ru-playoff")["deals"] for move in deal["moves"])


def test_legal_moves_are_those_of_the_decision_and_hold_the_move() -> None:
    with_legal = random_record("mitch_jp", {"take_discard": True}, 4, legal=True)
    env = mitch_env.make("mitch_jp", take_discard=True)
    env.reset(seed=4)
    for deal in with_legal["deals"]:
        for move in deal["moves"]:
            assert list(move) == ["seat", "move", "legal"]
            assert sorted(move["legal"]) == sorted(env.legal_moves())
            assert env.agent_selection == f"player_{move['seat']}"
            env.step(env.parse_action(move["move"]))
    for deal in with_legal["deals"]:
        for move in deal["moves"]:
            del move["legal"]
    assert with_legal == random_record("mitch_jp", {"take_discard": True}, 4)


def test_agents_are_named_and_checked() -> None:
    env = mitch_env.make("mitch_jp")
    env.reset(seed=1)
    assert env.record(["a", "b", "c"])["agents"] == ["a", "b", "c"]
    for wrong in (["a", "b"], ["a", "b", "c", "d"], ["a", "b", 3], "abc"):
        with pytest.raises(ValueError, match="agents must be 3 names"):
            env.record(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_the_seed_of_a_record_deals_the_match_again_in_env_and_batch(name: str, options: dict[str, Any]) -> None:
    record = random_record(name, options, 123)
    env = mitch_env.make(name, options)
    env.reset(seed=record["seed"])
    batch = mitch_env.Batch(name, 2, options=options, seed=[5, record["seed"]])
    for deal in record["deals"]:
        for move in deal["moves"]:
            assert batch.actor[1] == env.table.actor == move["seat"]
            action = env.parse_action(move["move"])
            env.step(action)
            batch.step([action], rows=[1])
    assert env.record() == record
    assert batch.terminated[1]


def test_chance_does_not_depend_on_what_is_played() -> None:
    """Two matches of one seed have the same first deal, and the same later ones whatever is played before."""
    logs = []
    for choose in (min, max):
        env = mitch_env.make("mitch_jp")
        env.reset(seed=9)
        while not all(env.terminations.values()):
            env.step(int(choose(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]))))
        logs.append(env.record())
    assert logs[0]["deals"][0]["moves"] != logs[1]["deals"][0]["moves"]
    for one, other in zip(logs[0]["deals"], logs[1]["deals"], strict=True):
        assert (one["hands"], one["stock"]) == (other["hands"], other["stock"])


# --- Records of what is not a whole match, or not this one.


def test_a_match_in_progress_has_a_record_that_says_so() -> None:
    env = mitch_env.make("mitch_jp")
    env.reset(seed=2)
    for _ in range(4):
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
    record = env.record(legal=True)
    assert len(record["deals"][0]["moves"]) == 4
    assert record["deals"][0]["scores"] is None
    assert (record["totals"], record["winners"], record["truncated"]) == ([0, 0, 0], [], False)
    assert replay(record) == ["deal 1: the deal is not over after 4 moves: seat1 must answer"]
    assert check_record(record)


def test_the_record_goes_on_after_restore_and_clone() -> None:
    env = mitch_env.make("mitch_jp", deals=2)
    env.reset(seed=2)
    for _ in range(3):
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
    before, snapshot, twin = env.record(), env.snapshot(), env.clone()
    while not all(env.terminations.values()):
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[-1]))
    whole = env.record()
    assert env.snapshot().log is not None
    env.restore(snapshot)
    assert env.record() == before == twin.record()
    for one in (env, twin):
        while not all(one.terminations.values()):
            one.step(int(np.flatnonzero(one.observe(one.agent_selection)["action_mask"])[-1]))
        assert one.record() == whole
    assert replay(whole) == []


def test_a_clone_with_a_key_has_no_seed_that_makes_its_match() -> None:
    env = mitch_env.make("mitch_jp", deals=2)
    env.reset(seed=2)
    twin = env.clone(key=77)
    assert twin.record()["seed"] == 2  # up to here the seed still makes it
    while not all(twin.terminations.values()):
        twin.step(int(np.flatnonzero(twin.observe(twin.agent_selection)["action_mask"])[0]))
    record = twin.record()
    assert record["seed"] is None
    assert replay(record) == check_record(record) == []


def test_what_was_not_played_from_its_deal_has_no_record() -> None:
    env = mitch_env.make("mitch_jp")
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        env.record()
    env.reset(seed=1)
    env.restore(env.redeal_hidden(0, key=3))
    with pytest.raises(ValueError, match="not played from its deal"):
        env.record()
    env.reset()
    assert env.record()["deals"]


def test_a_log_of_actions_refuses_an_illegal_one_by_place() -> None:
    game = mitch_env.get_game("mitch_jp")
    with pytest.raises(ValueError, match="action 104 is illegal in deal 1 after 0 moves"):
        log_of_match(game, game.options(), 1, [104])


def test_a_record_does_not_share_anything_with_the_env() -> None:
    env = mitch_env.make("mitch_jp")
    env.reset(seed=1)
    record = env.record()
    kept = copy.deepcopy(record)
    record["options"]["players"] = 9
    record["deals"][0]["hands"][0].clear()
    assert env.record() == kept


# --- Deviations are named by deal and move.


def test_a_deviation_is_told_with_deal_and_move() -> None:
    record = random_record("mitch_jp", {}, 3, legal=True)
    record["deals"][1]["moves"][2]["legal"].append("play KS")
    record["deals"][1]["scores"] = [0, 0, 0]
    record["totals"] = [1, 2, 3]
    problems = replay(record)
    assert problems[0] == "deal 2, move 3: legal moves differ: written but not legal ['play KS']"
    assert problems[1].startswith("deal 2: scores written as [0, 0, 0], played as [")
    assert problems[2].startswith("totals written as [1, 2, 3], played as [")
    assert len(problems) == 3


def test_an_impossible_move_says_what_is_legal() -> None:
    record = random_record("mitch_jp", {}, 3)
    record["deals"][0]["moves"][1]["move"] = "draw"
    (problem,) = replay(record)
    assert problem.startswith("deal 1, move 2: seat1 may not 'draw'; legal here: play ")


def test_a_move_written_twice_among_the_legal_ones_is_a_deviation() -> None:
    record = miniature("jp")
    legal = record["deals"][0]["moves"][0]["legal"]
    legal.append(legal[0])
    assert replay(record) == [f"deal 1, move 1: legal moves differ: written more than once [{legal[0]!r}]"]


@pytest.mark.parametrize("remove", ["delete", "null"])
@pytest.mark.parametrize("name", sorted(MINIATURES))
def test_only_options_that_do_not_apply_may_be_left_out_or_null(name: str, remove: str) -> None:
    record = miniature(name)
    game = mitch_env.get_game(record["game"])
    whole = dict(record["options"])
    idle = {option for option, value in whole.items() if value is None}
    if whole["clock"] == "ace_hand":
        idle |= {"take_discard", "closer_plays"}  # could only be false
    for option in whole:
        record["options"] = dict(whole)
        if remove == "delete":
            del record["options"][option]
        else:
            record["options"][option] = None
        assert bool(replay(record)) == (option not in idle), option
        if option in idle:
            assert options_of(game, record["options"]).as_dict() == whole


# --- Every kind of damage in every place.

WRONG: list[Any] = [
    None, True, False, -1, 0, 1, 10**30, 1.0, math.nan, "", "JK", "AS", "2S", "play AS", "draw",
    [], [[]], ["AS"], [0], {}, {"players": 2},
]  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every holder and key of a JSON value."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    for key in keys:
        yield value, key
        yield from places(value[key])


def damages(holder: Any, key: Any) -> Iterator[str]:
    """Does one damage after the other at ``holder[key]``, undoing each before the next."""
    kept = copy.copy(holder)

    def put_back() -> None:
        if isinstance(holder, dict):
            holder.clear()
            holder.update(kept)
        else:
            holder[:] = kept

    for wrong in WRONG:
        if type(wrong) is not type(kept[key]) or wrong != kept[key]:
            holder[key] = wrong
            yield f"{key!r} = {wrong!r}"
            put_back()
    del holder[key]
    yield f"{key!r} deleted"
    put_back()
    if isinstance(holder, dict):
        holder["extra"] = 1
        yield "an extra key"
        put_back()
        return
    holder.insert(key, kept[key])
    yield f"{key!r} doubled"
    put_back()
    if key + 1 < len(holder) and kept[key] != kept[key + 1]:
        holder[key], holder[key + 1] = kept[key + 1], kept[key]
        yield f"{key!r} swapped with the next"
        put_back()


def is_allowed_difference(record: dict[str, Any]) -> bool:
    """Where replay is stricter than the referee, on purpose.

    The referee compares ``legal`` as sets, so that a move may stand there twice; and it knows no bound for ``deals`` and
    ``playoffs``, where the engine's tables hold numbers up to a million.
    """
    options = record["options"]
    if any(isinstance(options.get(name), int) and options[name] > 1_000_000 for name in ("deals", "playoffs")):
        return True
    moves = [move for deal in record["deals"] for move in deal["moves"]]
    return any(len(set(move.get("legal", []))) != len(move.get("legal", [])) for move in moves)


def check_damaged(record: dict[str, Any], what: str) -> bool:
    """Both judges look at a damaged record; True if there is a problem."""
    problems = replay(record)
    assert all(isinstance(one, str) and one and "\n" not in one for one in problems), what
    referee_finds = check_record(record)
    if bool(problems) != bool(referee_finds):
        assert problems, f"{what}: only the referee finds: {referee_finds}"
        assert is_allowed_difference(record), f"{what}: only replay finds: {problems}"
    return bool(problems)


@pytest.mark.parametrize("name", sorted(MINIATURES))
def test_replay_and_referee_agree_on_every_damage_of_a_miniature(name: str) -> None:
    record = miniature(name)
    whole = copy.deepcopy(record)
    found = [
        check_damaged(record, f"{what} of {holder!s:.60}") for holder, key in places(record) for what in damages(holder, key)
    ]
    assert record == whole  # every damage was undone
    assert replay(record) == []
    assert len(found) > 1500
    assert 0.9 < sum(found) / len(found) < 1.0  # names of agents, unknown keys and some swaps change nothing


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_replay_and_referee_agree_on_damage_of_a_full_match(name: str, options: dict[str, Any]) -> None:
    """A sample of all damages; swaps of stock and hands among them, whose consequences show moves later."""
    record = random_record(name, options, 11, legal=True)
    rng = random.Random(f"{name} {options}")
    everywhere = list(places(record))
    for holder, key in rng.sample(everywhere, 6):
        for what in damages(holder, key):
            if rng.random() < 0.2:
                check_damaged(record, what)
    for deal in record["deals"]:
        stock = deal["stock"]
        for _ in range(4):
            i, j = rng.randrange(len(stock)), rng.randrange(len(stock))
            stock[i], stock[j] = stock[j], stock[i]
            check_damaged(record, f"stock {i} and {j} swapped")
            stock[i], stock[j] = stock[j], stock[i]
    assert replay(record) == []


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


ODD_VALUES: dict[str, Any] = {
    "a number of 6000 digits": 10**6000,
    "a negative one": -(10**6000),
    "lists without end": nested(100_000),
    "an object with lists without end": {"a": nested(100_000)},
    "a long text": "x" * 100_000,
    "bytes": b"AS",
    "a set": {1, 2},
    "an object of Python": object(),
}


@pytest.mark.parametrize("what", ODD_VALUES)
def test_replay_answers_with_sentences_whatever_a_value_is(what: str) -> None:
    """Values that JSON text could not even bring: Python cannot print the first ones."""
    wrong, record = ODD_VALUES[what], miniature("jp")
    assert replay(wrong)
    for holder, key in places(record):
        kept, holder[key] = holder[key], wrong
        problems = replay(record)
        assert all(isinstance(one, str) and len(one) < 1200 for one in problems)
        assert problems or key == "seed" or holder is record["agents"], (key, wrong)
        holder[key] = kept
    assert replay(record) == []


@pytest.mark.parametrize("wrong", [None, 3, "text", [], [1], {}, True, math.nan])
def test_what_is_no_record_at_all_gets_a_sentence(wrong: Any) -> None:
    (problem,) = replay(wrong)
    assert problem.startswith("the record ")


def test_record_of_a_log_is_the_record_of_the_env() -> None:
    game = mitch_env.get_game("mitch_ru")
    record = random_record("mitch_ru", {}, 5, legal=True)
    env = mitch_env.make("mitch_ru")
    env.reset(seed=5)
    actions = []
    for deal in record["deals"]:
        for move in deal["moves"]:
            actions.append(env.parse_action(move["move"]))
            env.step(actions[-1])
    assert record_of(game, game.options(), log_of_match(game, game.options(), 5, actions), legal=True) == record
