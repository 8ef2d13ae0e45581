"""Every law can fail: faults planted in the rules are noticed by the law that is named for each, and sound rules are not."""

from __future__ import annotations

import copy
import itertools
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cached_property
from typing import Any

import env_laws
import laws
import numpy as np
import pytest
from faults import Fault
from faults_seen import FAULTS
from laws import LawBroken, Match, Plain, check_match
from test_no_peeking import (
    Pair,
    a_hidden_card_is_never_seen,
    a_redealt_table_holds_no_trace,
    a_redealt_table_is_a_whole_one,
    redealing_is_not_seen,
)
from test_observation_mitch import check_blocks
from test_parity import plain_and_compiled_agree
from test_redeal import MINIATURES, every_possible_world_is_equally_likely
from test_redeal import positions as miniature_positions

from mitch_env import GAMES, Batch, Game, TableEnv
from mitch_env.jit import config
from mitch_env.kernels import Kernels, kernels_of

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="faults are planted in the plain rules beside compiled ones")

_HOUSE_RULES = {
    "take_discard": True,
    "must_place": True,
    "closer_plays": True,
    "waiting_penalty": True,
    "shortest_double": True,
}
#: Options that use every rule, with packs that are small enough for plain Python.
SMALL: list[tuple[str, dict[str, Any]]] = [
    ("mitch_jp", {"players": 3, "suits": 3, "ranks": 6, "hand_size": 3, "clock_cards": 2, "deals": 3}),
    ("mitch_jp", {"players": 2, "suits": 3, "ranks": 8, "hand_size": 3, "deals": 2, "tie_break": "low", **_HOUSE_RULES}),
    ("mitch_ru", {"players": 3, "suits": 2, "ranks": 6, "hand_size": 2, "clock_cards": 1, "deals": 2, "playoffs": 2}),
    ("mitch_original", {"players": 4, "suits": 3, "ranks": 6, "hand_size": 2, "clock_cards": 1, "must_place": True}),
    ("mitch_jp", {"players": 2, "clock": "ace_stock", "suits": 3, "ranks": 6, "hand_size": 3, "clock_cards": 2}),
]
N_SEEDS = 3

MakeGame = Callable[[str], Game]


def small_matches(make: MakeGame, **settings: Any) -> Iterator[tuple[int, Match]]:
    for seed in range(N_SEEDS):
        for name, changes in SMALL:
            game = make(name)
            yield seed, Match(game, game.options(changes), seed, Plain, **settings)


def at_each_moment(law: Callable[[Match], None], *, with_referee: bool) -> Callable[[MakeGame, Any], None]:
    def run(make: MakeGame, sample: Any) -> None:
        for seed, match in small_matches(make, with_referee=with_referee):
            check_match(match, [law], seed)

    return run


def run_parity(make: MakeGame, sample: Any) -> None:
    for seed, match in small_matches(make, with_referee=False):
        compiled = Match(GAMES[match.game.name], match.options, seed, laws.Compiled, with_referee=False)
        plain_and_compiled_agree(match, compiled, seed, every=5)


def run_blocks(make: MakeGame, sample: Any) -> None:
    for seed, match in small_matches(make):
        check_blocks(match, seed, every=4)


def in_an_env(law: Callable[..., None]) -> Callable[[MakeGame, Any], None]:
    def run(make: MakeGame, sample: Any) -> None:
        for seed, (name, changes) in enumerate(SMALL):
            law(make(name), make(name).options(changes), seed)

    return run


def follow(game: Game, options: Any, seed: int) -> None:
    env = TableEnv(game, options)
    decisions = list(env_laws.play_table_env(env, seed, random.Random(seed)))
    env_laws.the_referee_agrees(game, options, env.record(), decisions)


def refuse(game: Game, options: Any, seed: int) -> None:
    env = TableEnv(game, options)
    env.reset(seed=seed)
    env_laws.illegal_actions_are_refused(env, random.Random(seed))


def refuse_in_a_batch(game: Game, options: Any, seed: int) -> None:
    batch = Batch(game, 4, options=options, seed=seed)
    for _ in range(5):
        env_laws.a_batch_plays_all_or_nothing(batch, random.Random(seed))


def copy_it(game: Game, options: Any, seed: int) -> None:
    env = TableEnv(game, options)
    env.reset(seed=seed)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    env_laws.a_copy_goes_on_alike(env, copy.deepcopy, seed)


def play_it_everywhere(game: Game, options: Any, seed: int) -> None:
    env_laws.the_same_seed_gives_the_same_match(game, options, seed, 30, [Plain])


def play_three_matches(game: Game, options: Any, seed: int) -> None:
    env_laws.chance_is_not_moved_by_choices(game, replace(options, deals=1), seed, 3)


def in_pairs(make: MakeGame, sample: Any) -> None:
    for number, (name, tables) in enumerate(sample["tables"]):
        rng = random.Random(number)
        a_hidden_card_is_never_seen(Pair(make(name), tables, rng.randrange(int(tables[0].players)), rng, Plain))


def with_each_table(law: Callable[..., None], *, by_rng: bool = False) -> Callable[[MakeGame, Any], None]:
    def run(make: MakeGame, sample: Any) -> None:
        for number, (name, tables) in enumerate(sample["tables"]):
            game, seat = make(name), number % int(tables[0].players)
            law(Plain(game, tables.copy()), game, seat, random.Random(number) if by_rng else number)

    return run


def redeal_miniatures(make: MakeGame, sample: Any) -> None:
    for number, (match, seat, worlds) in enumerate(sample["miniatures"]):
        redeal_hidden = make(match.game.name).rules.redeal_hidden

        def redeal(tables: np.recarray, seat: int, keys: np.ndarray, redeal_hidden: Any = redeal_hidden) -> None:
            for table, key in zip(tables, keys, strict=True):
                redeal_hidden(table, seat, key)

        every_possible_world_is_equally_likely(redeal, match, seat, worlds, 15, number)


#: How each law is tried on a game. The referee is left out where the law does not need it, so that it cannot speak first.
TRIALS: dict[str, Callable[[MakeGame, Any], None]] = {
    "cards_in_one_place": at_each_moment(laws.cards_in_one_place, with_referee=False),
    "the_actor_can_move": at_each_moment(laws.the_actor_can_move, with_referee=False),
    "matches_end": at_each_moment(laws.matches_end, with_referee=False),
    "legality_is_told_the_same_in_three_ways": at_each_moment(laws.legality_is_told_the_same_in_three_ways, with_referee=False),
    "views_lie_in_their_space": at_each_moment(laws.views_lie_in_their_space, with_referee=False),
    "legal_is_what_the_referee_calls_legal": at_each_moment(laws.legal_is_what_the_referee_calls_legal, with_referee=True),
    "the_position_is_the_referees": at_each_moment(laws.the_position_is_the_referees, with_referee=True),
    "scores_are_the_referees": at_each_moment(laws.scores_are_the_referees, with_referee=True),
    "the_referee_accepts_it": at_each_moment(laws.matches_end, with_referee=True),
    "every_block_is_right": run_blocks,
    "plain_and_compiled_agree": run_parity,
    "the_referee_agrees": in_an_env(follow),
    "illegal_actions_are_refused": in_an_env(refuse),
    "a_batch_plays_all_or_nothing": in_an_env(refuse_in_a_batch),
    "the_same_seed_gives_the_same_match": in_an_env(play_it_everywhere),
    "chance_is_not_moved_by_choices": in_an_env(play_three_matches),
    "rewards_add_up": in_an_env(env_laws.rewards_add_up),
    "a_copy_goes_on_alike": in_an_env(copy_it),
    "a_hidden_card_is_never_seen": in_pairs,
    "redealing_is_not_seen": with_each_table(redealing_is_not_seen),
    "a_redealt_table_is_a_whole_one": with_each_table(a_redealt_table_is_a_whole_one),
    "a_redealt_table_holds_no_trace": with_each_table(a_redealt_table_holds_no_trace, by_rng=True),
    "every_possible_world_is_equally_likely": redeal_miniatures,
}


@pytest.fixture(scope="module")
def sample() -> dict[str, Any]:
    """Positions from the sound rules; all their kernels are made before any fault is planted."""
    kernels = kernels_of(GAMES["mitch_jp"].rules)
    for name, value in vars(Kernels).items():
        if isinstance(value, cached_property):
            getattr(kernels, name)
    tables = [(name, one) for name, changes in SMALL for one in small_positions(GAMES[name], changes)]
    miniatures = []
    for name in MINIATURES:
        found = (copy.deepcopy(one) for one in miniature_positions(name, 9, Plain) if 3 < len(one[2]) < 30)
        miniatures += list(itertools.islice(found, 3))
    return {"tables": tables, "miniatures": miniatures}


def small_positions(game: Game, changes: dict[str, Any]) -> list[np.recarray]:
    """Some tables in the middle of a match."""
    batch = Batch(game, 6, options=changes, seed=5)
    found = []
    for _ in range(3):
        for _ in range(4):
            batch.step(batch.random_actions())
        found += [batch.snapshot([row]) for row in range(6)]
    return found


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch, sample: Any) -> Callable[[Fault | None], MakeGame]:
    """Plants a fault (or none) and returns what makes a game with it, without compiled code."""

    def planted(fault: Fault | None) -> MakeGame:
        replaced: dict[str, Any] = {}
        for original, replacement in fault.planted.items() if fault else ():
            for name in [name for name in sys.modules if name.partition(".")[0] == "mitch_env"]:
                for attribute in [key for key, value in vars(sys.modules[name]).items() if value is original]:
                    monkeypatch.setattr(sys.modules[name], attribute, replacement)
            rules = GAMES["mitch_jp"].rules
            replaced |= {field.name: replacement for field in fields(rules) if getattr(rules, field.name) is original}
        faulty = replace(GAMES["mitch_jp"].rules, **replaced, name=f"mitch fault {fault and fault.name}")
        monkeypatch.setattr(config, "DISABLE_JIT", True)  # kernels that are made from here on are plain Python
        return lambda name: replace(GAMES[name], rules=faulty)

    return planted


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_noticed_by_its_law(fault: Fault, plant: Callable[[Fault], MakeGame], sample: Any) -> None:
    make = plant(fault)
    with pytest.raises(LawBroken, match=f"^{fault.law}: "):
        TRIALS[fault.law](make, sample)


@pytest.mark.parametrize("law", TRIALS)
def test_sound_rules_pass_the_same_trial(law: str, plant: Callable[[None], MakeGame], sample: Any) -> None:
    TRIALS[law](plant(None), sample)


def test_every_law_has_faults_that_it_must_notice() -> None:
    assert {fault.law for fault in FAULTS} == set(TRIALS)
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 25
