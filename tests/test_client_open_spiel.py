"""The games in OpenSpiel: its conformance tests, the engine's matches in the tree, what a seat knows, two of its algorithms."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python.algorithms import (  # noqa: E402
    exploitability,
    external_sampling_mccfr,
    generate_playthrough,
    ismcts,
    mcts,
)

from mitch_env import GAMES, OptionsError  # noqa: E402
from mitch_env.adapters import open_spiel as adapter  # noqa: E402
from mitch_env.adapters.explicit_chance import Play  # noqa: E402
from mitch_env.chance import match_seeds  # noqa: E402
from mitch_env.game import PHASE_DEAL, PHASE_OVER  # noqa: E402
from mitch_env.jit import kernel_view  # noqa: E402
from mitch_env.kernels import kernels_of  # noqa: E402
from mitch_env.rewards import REWARDS  # noqa: E402

FOLDER = Path(__file__).parent / "golden"

#: Miniatures, the second small enough to be solved.
JP_SMALL = {"players": 2, "deals": 1, "suits": 1, "ranks": 5, "hand_size": 2, "clock_cards": 1}
JP_TINY = JP_SMALL | {"ranks": 4, "hand_size": 1}
SHORT_DECK = "brawl:4;brawl+anywhere:2;stakeout:3;stakeout+attract:2;change:2;force-two:3;move:2;give:3;cancel:2;revenge:2"
QUICK = {"rounds": 1, "deck": SHORT_DECK, "hand_size": 2, "max_turns": 60}


def game_string(name: str, **params: Any) -> str:
    """``python_mitch_jp(players=2)``."""
    return f"python_{name}({','.join(f'{key}={value}' for key, value in params.items())})"


def load(name: str, **params: Any) -> Any:
    return pyspiel.load_game(game_string(name, **params))


def random_match(state: Any, rng: random.Random) -> Iterator[Any]:
    """The states of a random match, the same object each time."""
    yield state
    while not state.is_terminal():
        if state.is_chance_node():
            actions, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(actions, weights)[0])
        else:
            state.apply_action(rng.choice(state.legal_actions()))
        yield state


# --- Parameters.


@pytest.mark.parametrize("name", GAMES)
def test_every_game_is_registered_and_its_parameters_are_its_options(name: str) -> None:
    assert f"python_{name}" in pyspiel.registered_names()
    game = pyspiel.load_game(f"python_{name}")
    assert game.setting.options == GAMES[name].defaults
    assert set(game.get_parameters()) == {*GAMES[name].defaults.as_dict(), "reward"}
    kind = game.get_type()
    assert (kind.min_num_players, kind.max_num_players) == (2, GAMES[name].rules.max_seats)
    assert kind.chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    assert kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION


def test_parameters_become_options() -> None:
    params = {"players": 4, "deals": 2, "clock": "ace_stock", "take_discard": True, "suits": 3, "ranks": 9}
    assert load("mitch_jp", **params).setting.options == GAMES["mitch_jp"].options(**params)
    assert load("mitch_jp", deals=0).setting.options.deals == "players"
    assert load("mitch_ru", scoring="suits").setting.options == GAMES["mitch_ru"].options(scoring="suits")
    assert load("mitchell", target_score=0).setting.options.target_score is None
    deck = load("mitchell", players=2, hand_size=1, deck="brawl:3;brawl+attract:2;give:1").setting.options.deck
    assert deck == {"brawl": 3, "brawl+attract": 2, "give": 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("python_mitch_jp(player=3)", "Unknown parameter 'player'"),
        ("python_mitch_jp(deals=players)", "Wrong type for parameter deals"),
        ("python_mitch_jp(players=6)", "players=6: an integer from 2 to 5 is needed"),
        ("python_mitch_jp(clock=jokers)", "clock='jokers': allowed are 'joker'"),
        ("python_mitch_ru(take_discard=True)", "take_discard=True does not go with clock='ace_hand'"),
        ("python_mitch_jp(reward=money)", "reward='money': allowed are 'points'"),
        ("python_mitchell(players=9)", "players=9: an integer from 2 to 8 is needed"),
        ("python_mitchell(deck=brawl)", "entries such as brawl:6"),
        ("python_mitchell(deck=brawl:6;brawn:2)", "unknown kind of card in deck 'brawn'; did you mean 'brawl'"),
    ],
)
def test_a_bad_parameter_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises((OptionsError, pyspiel.SpielError)) as error:
        pyspiel.load_game(text)
    assert words in str(error.value)


@pytest.mark.parametrize("reward", REWARDS)
def test_points_are_general_sum_and_the_other_rewards_zero_sum(reward: str) -> None:
    kind = load("mitch_jp", reward=reward).get_type()
    assert (kind.utility == pyspiel.GameType.Utility.ZERO_SUM) == (reward != "points")
    assert (kind.reward_model == pyspiel.GameType.RewardModel.TERMINAL) == (reward == "outcome")
    assert load("mitch_jp", reward=reward, deals=1).get_type().reward_model == pyspiel.GameType.RewardModel.TERMINAL
    assert load("mitchell", reward=reward, rounds=1).get_type().reward_model == pyspiel.GameType.RewardModel.TERMINAL


def test_the_package_does_not_import_open_spiel() -> None:
    code = "import sys, mitch_env, mitch_env.adapters; sys.exit('pyspiel' in sys.modules or 'open_spiel' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- OpenSpiel's conformance tests.

HOUSE_RULES = {"clock": "ace_stock", "take_discard": True, "closer_plays": True, "must_place": True, "waiting_penalty": True}
CONFORMING: dict[str, list[dict[str, Any]]] = {
    "mitch_jp": [
        {"players": 2, "deals": 1},
        {"players": 3, "deals": 2, "hand_size": 3, "suits": 3, "ranks": 6, "reward": "relative"},
        {"players": 4, "deals": 1, "hand_size": 2, "shortest_double": True, "tie_break": "low"} | HOUSE_RULES,
        {"players": 5, "deals": 2, "hand_size": 1, "suits": 2, "ranks": 6, "reward": "outcome"},
    ],
    "mitch_ru": [
        {"players": 2, "hand_size": 2, "suits": 2, "ranks": 4, "clock_cards": 2, "deals": 2},
        {"players": 3},
        {"players": 4, "hand_size": 2, "suits": 3, "ranks": 5, "playoffs": 2, "reward": "outcome"},
        {"players": 5, "hand_size": 1, "suits": 3, "ranks": 3, "reward": "relative", "must_place": False},
    ],
    "mitch_original": [
        {"players": 2, "deals": 1, "hand_size": 3, "suits": 2, "ranks": 5, "clock_cards": 2},
        {"players": 3, "deals": 1, "reward": "relative"},
        {"players": 4, "deals": 1, "hand_size": 3, "ranks": 5},
        {"players": 5, "deals": 1, "hand_size": 4, "ranks": 7, "scoring": "longest", "playoffs": 1},
    ],
    "mitchell": [
        {"players": 2, "reward": "relative", "rounds": 2} | {key: QUICK[key] for key in ("deck", "hand_size", "max_turns")},
        {"players": 3, "ask_everyone": True} | QUICK,
        {"players": 4, "unplayed": "penalty", "release_wins": False} | QUICK | {"max_turns": 9},
        {"players": 5, "rounds": 1},
        *({"players": players, "rounds": 1, "hand_size": 2, "reward": "outcome"} for players in (6, 7, 8)),
    ],
}


@pytest.mark.parametrize(("name", "params"), [(name, params) for name, many in CONFORMING.items() for params in many])
def test_random_matches_conform(name: str, params: dict[str, Any]) -> None:
    """Legal actions, masks, strings, clones, serialisation, rewards and returns, bounds and lengths, on the way."""
    game = load(name, **params)
    pyspiel.random_sim_test(game, num_sims=2 if len(params) > 3 else 1, serialize=True, verbose=False)
    *_, end = random_match(game.new_initial_state(), random.Random(1))
    assert sum(one.player == pyspiel.PlayerId.CHANCE for one in end.full_history()) <= game.max_chance_nodes_in_history()


def test_all_numbers_of_players_conform() -> None:
    for name, many in CONFORMING.items():
        assert {params["players"] for params in many} == set(range(2, GAMES[name].rules.max_seats + 1))


def test_copies_go_on_with_the_same_match() -> None:
    game = load("mitchell", players=3, **QUICK)
    for state in random_match(game.new_initial_state(), random.Random(3)):
        copies = [state.clone(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))]
        copies.append(pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))[1])
        before = str(state), state.history(), [state.information_state_string(seat) for seat in range(3)]
        for one in copies:
            assert (str(one), one.history(), [one.information_state_string(seat) for seat in range(3)]) == before
            if not state.is_terminal():
                one.apply_action(one.legal_actions()[-1])
        assert before == (str(state), state.history(), [state.information_state_string(seat) for seat in range(3)])
    assert str(pickle.loads(pickle.dumps(game))) == str(game)


# --- Every match of the engine is a path of the tree.


def dealt_cards(play: Play, table: Any) -> list[int]:
    """The cards that chance must name, in its order, to deal what the engine has dealt; none may be revealed."""
    players, is_mitch = int(table.players), play.setting.game.rules.name == "mitch"
    first = int(table.dealer) + 1 if is_mitch else 0
    hands = [play.setting.engine.cards(table.hand[(first + i) % players]) for i in range(players)]
    clock_aces = []
    if is_mitch and play.setting.options.clock == "ace_stock":
        clock_aces = sorted(card for card in table.stock[: table.stock_size].tolist() if card % 13 == 0)
    return [card for hand in hands for card in sorted(hand)] + clock_aces


STEERED: list[tuple[str, dict[str, Any], str]] = [
    ("mitch_jp", {"players": 3, "deals": 2}, "points"),
    ("mitch_jp", {"players": 4, "deals": 1, "hand_size": 2} | HOUSE_RULES, "relative"),
    ("mitch_ru", {"players": 3, "deals": 2}, "outcome"),
    ("mitch_ru", {"players": 4, "suits": 2, "ranks": 5, "hand_size": 2, "clock_cards": 2}, "points"),
    ("mitch_original", {"players": 2, "deals": 1, "hand_size": 3}, "points"),
    ("mitchell", {"players": 4, "rounds": 2, "hand_size": 4}, "relative"),
    ("mitchell", {"players": 3, "ask_everyone": True} | {**QUICK, "rounds": 3}, "points"),
]


@pytest.mark.parametrize(("name", "options", "reward"), STEERED)
def test_the_tree_plays_what_the_engine_plays(name: str, options: dict[str, Any], reward: str) -> None:
    """Chance is steered to what the engine shuffled: then actor, observations, legal actions, rewards are the engine's."""
    n_reshuffles = sum(follow(name, options, reward, int(seed)) for seed in match_seeds(5, 4))
    assert (n_reshuffles > 0) == (name == "mitchell")


def follow(name: str, options: dict[str, Any], reward: str, seed: int) -> int:
    """One match; returns how often it was shuffled again. Ends early where aces are revealed: their order is no one path."""
    game = load(name, reward=reward, **options)
    state, n = game.new_initial_state(), game.num_players()
    kernels = kernels_of(game.setting.game.rules)
    tables = game.setting.game.new_tables(
        [game.setting.options], seeds=np.array([seed], np.uint64), reward=reward, stop_at_deal=True
    )
    table, raw, rng, n_reshuffles = tables[0], kernel_view(tables), random.Random(seed), 0
    kernels.start_one(raw)
    paid = np.zeros(n)
    while table.phase != PHASE_OVER:
        if table.phase == PHASE_DEAL:
            kernels.shuffle_one(raw)
            if "n_revealed" in table.dtype.names and table.n_revealed:
                return n_reshuffles
            steer(state, dealt_cards(state.play, table), until_dealt=True)
            coming = table.stock[: table.stock_size].tolist()
            kernels.open_one(raw)
        else:
            action = rng.choice(state.legal_actions())
            coming = table.stock[table.stock_next : table.stock_size].tolist()
            n_before = int(table.reshuffles)
            assert state.action_to_string(state.current_player(), action) == game.setting.game.rules.action_name(table, action)
            state.apply_action(action)
            kernels.step_one(raw, action)
            if table.reshuffles != n_before:
                n_reshuffles += 1
                coming += table.stock[: table.stock_size].tolist()
        steer(state, coming)
        if table.phase == PHASE_DEAL:
            continue
        paid += table.reward[:n]
        assert state.current_player() == (int(table.actor) if table.phase != PHASE_OVER else pyspiel.PlayerId.TERMINAL)
        assert state.returns() == pytest.approx(paid.tolist(), abs=1e-4)
        assert state.rewards() == pytest.approx(table.reward[:n].tolist(), abs=1e-4)
        size, n_actions = game.observation_tensor_shape()[0], game.num_distinct_actions()
        for seat in range(n):
            seen, mask = np.zeros(size, np.float32), np.zeros(n_actions, np.int8)
            kernels.view_one(raw, seat, seen, mask)
            assert state.observation_tensor(seat) == seen.tolist()
            assert state.legal_actions(seat) == np.flatnonzero(mask).tolist()
    assert state.is_terminal()
    return n_reshuffles


def steer(state: Any, cards: Sequence[int], until_dealt: bool = False) -> None:
    """Chance names these cards, where it has a choice."""
    while state.is_chance_node() and (state.play.step is None) == until_dealt:
        state.apply_action(cards[len(state.play.given)])


# --- What a seat knows.


@pytest.mark.parametrize("name", GAMES)
def test_nothing_is_forgotten(name: str) -> None:
    """What a seat knew at a decision, and what it did then, begins all that it knows later."""
    params = {"players": 3} | (QUICK if name == "mitchell" else {"deals": 2, "hand_size": 3, "clock_cards": 2})
    shown: dict[str, Any] = {}
    for seed in range(3):
        known: dict[int, str] = {}
        for state in random_match(load(name, **params).new_initial_state(), random.Random(seed)):
            seat = state.current_player()
            if seat >= 0:
                now = state.information_state_string(seat)
                assert now.startswith(known.get(seat, "")) and now != known.get(seat)
                sight = seat, state.observation_tensor(seat), state.legal_actions()
                assert shown.setdefault(now, sight) == sight
                known[seat] = now
        for seat, words in known.items():
            assert state.information_state_string(seat).startswith(words)
            moves = [one for one in state.information_state_string(seat).split("; ") if one.startswith("> ")]
            assert len(moves) == sum(one.player == seat for one in state.full_history())


def steered_by_names(params: dict[str, Any], names: Sequence[str], moves: Sequence[str]) -> Any:
    """A state of Mitchell after chance and players have done, in turn, what is asked for."""
    state, coming, doing = load("mitchell", **params).new_initial_state(), list(names), list(moves)
    while coming or doing:
        if state.is_chance_node():
            wanted = coming.pop(0)
        elif doing:
            wanted = doing.pop(0)
        else:
            break
        words = {
            state.action_to_string(action).removeprefix("deal ").removeprefix("draw "): action
            for action in state.legal_actions()
        }
        state.apply_action(words[wanted])
    return state


def test_a_pass_and_a_turn_that_ended_by_itself_look_the_same() -> None:
    """M28: seat 1 draws a card that fits and keeps it, or draws one that does not fit."""
    params = {"players": 2, "hand_size": 2, "rounds": 1, "deck": "brawl:5;stakeout:5"}
    deal = ["brawl", "stakeout", "stakeout"]  # no kind comes after brawl: seat 0 gets two
    kept = steered_by_names(params, [*deal, "brawl"], ["brawl", "pass"])
    unfit = steered_by_names(params, [*deal, "stakeout"], ["brawl"])
    assert kept.current_player() == unfit.current_player() == 0
    assert kept.information_state_string(0) == unfit.information_state_string(0)
    assert kept.information_state_string(1) != unfit.information_state_string(1)


def test_a_decline_is_not_seen() -> None:
    """M8: seat 2 is asked, after seat 1 has declined or was not asked."""
    params = {"players": 3, "hand_size": 2, "rounds": 1, "deck": "brawl:6;change:2;cancel:3"}
    declined = steered_by_names(params, ["brawl", "change", "brawl", "cancel", "brawl", "cancel"], ["change brawl", "decline"])
    unasked = steered_by_names(params, ["brawl", "change", "brawl", "brawl", "brawl", "cancel"], ["change brawl"])
    assert declined.current_player() == unasked.current_player() == 2
    for seat in (0, 2):
        assert declined.information_state_string(seat) == unasked.information_state_string(seat)
    assert declined.information_state_string(1) != unasked.information_state_string(1)


def test_a_gift_is_seen_by_giver_and_receiver_only() -> None:
    params = {"players": 3, "hand_size": 2, "rounds": 1, "deck": "brawl:4;stakeout:4;give:2"}
    state = steered_by_names(params, ["stakeout", "give", "brawl", "brawl", "stakeout", "brawl"], ["give seat1 stakeout"])
    assert [("+ stakeout" in state.information_state_string(seat).split("; ")) for seat in range(3)] == [False, True, False]
    assert "> give seat1 stakeout" in state.information_state_string(0)
    assert "give seat1 stakeout" not in state.information_state_string(1) + state.information_state_string(2)


# --- Resampling.


@pytest.mark.parametrize("name", GAMES)
def test_a_resampled_state_is_the_same_to_its_seat_and_can_be_played_on(name: str) -> None:
    params = {"players": 3} | (QUICK if name == "mitchell" else {"deals": 2, "hand_size": 3})
    game, rng = load(name, **params), random.Random(1)
    n_other = 0
    for moment, state in enumerate(random_match(game.new_initial_state(), random.Random(7))):
        if moment % 3 and not state.is_terminal():
            continue
        if state.is_chance_node():
            with pytest.raises(ValueError, match="not at a chance node"):
                state.resample_from_infostate(0, rng.random)
            continue
        for seat in range(3):
            before = str(state)
            world = state.resample_from_infostate(seat, rng.random)
            assert str(state) == before
            assert world.information_state_string(seat) == state.information_state_string(seat)
            assert world.observation_tensor(seat) == state.observation_tensor(seat)
            assert world.current_player() == state.current_player()
            assert world.returns() == state.returns() and world.history() == []
            n_other += world.play.hands() != state.play.hands()
            for other in {0, 1, 2} - {seat}:
                words = world.information_state_string(other).split("; ")
                assert words[-1] == f"holds {' '.join(world.play.hands()[other])}"
                assert not any(one.startswith(("+ ", "> ")) for one in words)
            if seat == state.current_player():
                assert world.legal_actions() == state.legal_actions()
            for _ in random_match(world, rng):
                pass
            assert world.is_terminal() and world.is_chance_node() is False
    assert n_other > 5


def test_later_chance_of_resampled_worlds_is_independent() -> None:
    """The same world goes on in different ways: what will be drawn is not in it."""
    states = random_match(load("mitch_jp", players=2, deals=1).new_initial_state(), random.Random(2))
    state = next(state for state in states if state.current_player() >= 0)
    world = state.resample_from_infostate(0, random.Random(1).random)
    world.apply_action(world.legal_actions()[0])
    assert world.is_chance_node() and len(world.chance_outcomes()) > 30


# --- Algorithms.


@pytest.mark.parametrize("name", GAMES)
def test_is_mcts_plays_every_game(name: str) -> None:
    params = QUICK | {"max_turns": 8} if name == "mitchell" else {"deals": 1, "hand_size": 2, "ranks": 5, "clock_cards": 2}
    game = load(name, players=3, reward="relative", **params)
    random_state, rng = np.random.RandomState(3), random.Random(3)
    evaluator = mcts.RandomRolloutEvaluator(1, random_state)
    bot = ismcts.ISMCTSBot(game=game, evaluator=evaluator, uct_c=2.0, max_simulations=6, random_state=random_state)
    bot.set_resampler(lambda state, player: state.resample_from_infostate(player, random_state.random_sample))
    state, n_searched = game.new_initial_state(), 0
    while not state.is_terminal():
        if state.is_chance_node():
            actions, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(actions, weights)[0])
        elif state.current_player() == 0:
            action = bot.step(state)
            assert action in state.legal_actions()
            n_searched += len(state.legal_actions()) > 1
            state.apply_action(action)
        else:
            state.apply_action(rng.choice(state.legal_actions()))
    assert n_searched > 0


def test_mccfr_comes_nearer_to_equilibrium() -> None:
    game = load("mitch_jp", reward="relative", **JP_TINY | {"ranks": 3})
    np.random.seed(1)  # noqa: NPY002 - the solver draws from the global generator
    solver = external_sampling_mccfr.ExternalSamplingSolver(game)
    start = exploitability.nash_conv(game, solver.average_policy())
    for _ in range(150):
        solver.iteration()
    assert exploitability.nash_conv(game, solver.average_policy()) < 0.25 * start


# --- Playthroughs.

PLAYTHROUGHS = {
    "open_spiel_mitch_jp": (game_string("mitch_jp", **JP_SMALL, take_discard=True, reward="relative"), 3),
    "open_spiel_mitchell": (
        game_string(
            "mitchell", players=2, rounds=1, hand_size=2, deck="brawl:3;stakeout+attract:2;cancel:2;revenge:1;give:2;move:2"
        ),
        5,
    ),
}


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_the_playthrough_is_as_it_is_written(name: str, update_golden: bool) -> None:
    """OpenSpiel's own format; observations are left out, since they are the environment's."""
    text, seed = PLAYTHROUGHS[name]
    lines = generate_playthrough.playthrough(text, [], seed=seed).splitlines()
    assert any(line.startswith("ObservationTensor(0)") for line in lines)
    kept = [line for line in lines if not line.startswith("Observation") and line.strip(" ◯◉")]
    path = FOLDER / f"{name}.txt"
    if update_golden:
        path.write_text("\n".join(kept) + "\n", encoding="utf-8")
        pytest.skip(f"{path.name} is rewritten")
    assert kept == path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", GAMES)
def test_a_playthrough_of_every_game_can_be_made(name: str) -> None:
    text = game_string(name, players=2, **({"rounds": 1, "max_turns": 30} if name == "mitchell" else {"deals": 1}))
    assert "IsTerminal() = True" in generate_playthrough.playthrough(text, [], seed=1)


def test_the_adapter_knows_every_engine() -> None:
    """A new game needs its cards and limits in ``explicit_chance.py`` and a class in ``open_spiel.py``."""
    kinds = [one for one in adapter.CardGame.__subclasses__() if one.__module__ == adapter.__name__]
    assert {kind.game.name for kind in kinds} == set(GAMES)


def test_an_action_that_is_not_possible_is_refused_and_changes_nothing() -> None:
    game = pyspiel.load_game("python_mitch_jp(players=2,deals=1,suits=2,ranks=4,hand_size=2,clock_cards=1)")
    state = game.new_initial_state()
    rng = np.random.default_rng(1)
    while not state.is_terminal():
        possible = [one for one, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions()
        before = str(state), state.history()
        for wrong in (-5, 10**6, next(one for one in range(200) if one not in possible)):
            with pytest.raises((ValueError, pyspiel.SpielError), match="not possible"):
                state.apply_action(wrong)
        assert str(state) == before[0]
        state = state.child(int(rng.choice(possible)))
    with pytest.raises((ValueError, pyspiel.SpielError), match="over"):
        state.apply_action(0)


@pytest.mark.parametrize("player", [2, -1, 10**9])
def test_a_stranger_observes_nothing(player: int) -> None:
    game = pyspiel.load_game("python_mitch_jp(players=2)")
    with pytest.raises(ValueError, match="0 to 1"):
        game.make_py_observer().set_from(game.new_initial_state(), player)
