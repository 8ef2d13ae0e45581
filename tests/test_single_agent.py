"""The Gymnasium environment: one seat learns, opponents play the others."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
import warnings
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from games import EVERY_TABLE, engine_of, some_options
from gymnasium.utils.env_checker import check_env
from gymnasium.utils.env_checker import data_equivalence as is_same
from scipy.stats import chisquare

import mitch_env
from agents import View
from agents.policy import PolicyCard
from agents.rule_mitch import MitchRuleAgent
from agents.rule_mitchell import MitchellRuleAgent
from agents.uniform import RandomAgent
from mitch_env import GAMES, Batch, IllegalActionError, OptionsError, TableEnv, get_game, make, seat_tables
from mitch_env.chance import next_seed
from mitch_env.rewards import REWARDS
from mitch_env.single_agent import SingleAgentEnv
from mitch_env.vector_env import SingleAgentVectorEnv

every_game = pytest.mark.parametrize("name", GAMES)
every_table = pytest.mark.parametrize(("name", "players"), EVERY_TABLE)

#: The id of each game.
IDS = {spec.kwargs["game"]: one for one, spec in gymnasium.registry.items() if one.startswith("mitch_env/")}
#: A match of a few decisions.
TINY = {"players": 3, "suits": 1, "ranks": 5, "hand_size": 1, "clock_cards": 1, "deals": 1}
#: A match in which seat 1 is often asked nothing, since seat 0 has won before.
QUICK = {"players": 2, "hand_size": 1, "rounds": 1}
#: Matches of which the first, and many others, ask nobody anything.
SILENT = {"players": 2, "deck": {"revenge": 100, "brawl": 6}, "hand_size": 1, "max_turns": 20, "rounds": 1}


def hashed_action(observation: np.ndarray, mask: np.ndarray) -> int:
    """A legal action that depends on all that is seen, and on nothing else."""
    legal = np.flatnonzero(mask)
    return int(legal[zlib.crc32(observation.tobytes()) % len(legal)])


class Hashed(RandomAgent):
    """Plays :func:`hashed_action`, and writes down what it was asked."""

    name = "hashed"

    def __init__(self) -> None:
        self.asked: list[tuple[int, np.ndarray, np.ndarray]] = []

    def reset(self, seat: int | None, rng: np.random.Generator) -> None:
        super().reset(seat, rng)
        self.asked.clear()

    def act_batch(self, view: View) -> np.ndarray:
        rows = list(zip(view.seat.tolist(), view.observation.copy(), view.mask.copy(), strict=True))
        self.asked += rows
        return np.array([hashed_action(observation, mask) for _, observation, mask in rows])


class LeftOut:
    """What :class:`SingleAgentEnv` is to do, by hand on the PettingZoo environment: the steps of others are left out."""

    def __init__(self, env: TableEnv, seat: int) -> None:
        self.env, self.agent = env, f"player_{seat}"

    def reset(self, seed: int | None) -> tuple[np.ndarray, np.ndarray]:
        self.env.reset(seed=seed)
        self.paid = 0.0
        self.play_others()
        return self.reset(None) if self.is_over() else self.seen()

    def step(self, action: int) -> tuple[tuple[np.ndarray, np.ndarray], float, bool, bool]:
        self.play(action)
        self.play_others()
        paid, self.paid = self.paid, 0.0
        return self.seen(), paid, self.env.terminations[self.agent], self.env.truncations[self.agent]

    def play(self, action: int) -> None:
        self.env.step(action)
        self.paid += self.env.rewards[self.agent]

    def play_others(self) -> None:
        while not self.is_over() and self.env.agent_selection != self.agent:
            seen = self.env.observe(self.env.agent_selection)
            self.play(hashed_action(seen["observation"], seen["action_mask"]))

    def is_over(self) -> bool:
        return bool(self.env.terminations[self.agent] or self.env.truncations[self.agent])

    def seen(self) -> tuple[np.ndarray, np.ndarray]:
        seen = self.env.observe(self.agent)
        return seen["observation"], seen["action_mask"].astype(bool)


def is_kept(game: str, options: Any) -> bool:
    """Whether a match can be played out in a moment."""
    return game != "mitchell" or options.rounds <= 3


def play_match(env: Any, info: dict[str, Any], observation: np.ndarray) -> list[float]:
    """Plays a match to its end; the rewards of its steps."""
    rewards = []
    while True:
        observation, reward, terminated, truncated, info = env.step(hashed_action(observation, info["action_mask"]))
        rewards.append(reward)
        if terminated or truncated:
            return rewards


# --- What Gymnasium and Stable-Baselines3 ask for.


def test_every_game_has_an_id() -> None:
    assert set(IDS) == set(GAMES)
    assert (IDS["mitch_jp"], IDS["mitch_ru"]) == ("mitch_env/MitchJp-v0", "mitch_env/MitchRu-v0")
    assert (IDS["mitch_original"], IDS["mitchell"]) == ("mitch_env/MitchOriginal-v0", "mitch_env/Mitchell-v0")


@every_game
def test_gymnasium_makes_every_game_by_its_id(name: str) -> None:
    env = gymnasium.make(IDS[name], players=4, reward="outcome", seats_encoded=5)
    plain = make(name, players=4, seats_encoded=5)
    assert isinstance(env.unwrapped, SingleAgentEnv)
    assert env.observation_space == plain.observation_space("player_0")["observation"]
    assert env.action_space == plain.action_space("player_0")


@every_table
def test_gymnasiums_checker_finds_nothing(name: str, players: int, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("PIL")  # it renders in every mode
    settings = [
        {},
        {"seat": players - 1, "reward": "outcome", "seats_encoded": get_game(name).rules.max_seats},
        {"opponent_pool": ["random", RandomAgent()], "reward": "relative"},
    ][players % 3]
    env = gymnasium.make(IDS[name], players=players, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


@every_table
def test_sb3s_checker_finds_nothing(name: str, players: int) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    for options in some_options(get_game(name), players, 2, seed=1):
        env = gymnasium.make(IDS[name], options=options, render_mode="ansi")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            checker.check_env(env.unwrapped, skip_render_check=False)


@every_game
def test_maskable_ppo_learns_on_it_is_evaluated_saved_and_goes_on(name: str, tmp_path: Path) -> None:
    sb3_contrib = pytest.importorskip("sb3_contrib")
    evaluation = pytest.importorskip("sb3_contrib.common.maskable.evaluation")
    env = gymnasium.make(IDS[name], players=3, **engine_of(get_game(name)).short)
    model = sb3_contrib.MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32, n_epochs=1, seed=1, device="cpu")
    model.learn(64)
    evaluation.evaluate_policy(model, env, 2, warn=False)
    model.save(tmp_path / "model.zip")
    again = sb3_contrib.MaskablePPO.load(tmp_path / "model.zip", env=env, device="cpu")
    again.learn(32)
    observation, info = env.reset(seed=1)
    action, _ = again.predict(observation, action_masks=info["action_mask"])
    assert info["action_mask"][action]


def test_a_saved_model_does_not_hold_the_table() -> None:
    """SB3 saves the spaces with a model."""
    env = gymnasium.make(IDS["mitch_jp"], opponents=RandomAgent())
    for space in (pickle.loads(pickle.dumps(env.action_space)), copy.deepcopy(env.action_space)):
        assert type(space) is gymnasium.spaces.Discrete and space == env.action_space
    assert b"mitch_env" not in pickle.dumps(env.action_space)


@every_game
def test_a_drawn_action_is_legal_and_every_legal_one_is_drawn(name: str) -> None:
    env = gymnasium.make(IDS[name]).unwrapped
    assert env.action_space.contains(env.action_space.sample())
    env.action_space.seed(1)
    _, info = env.reset(seed=1)
    legal = set(np.flatnonzero(info["action_mask"]).tolist())
    assert {int(env.action_space.sample()) for _ in range(60 * len(legal))} == legal
    only = np.zeros(len(info["action_mask"]), np.int8)
    only[3] = 1
    assert env.action_space.sample(mask=only) == 3
    assert env.action_space.sample(probability=only.astype(float)) == 3


def test_a_drawn_action_may_be_played_after_a_reset_and_a_chosen_one_may_not() -> None:
    """The same number: once drawn from the space, once as a plain integer."""
    env = gymnasium.make(IDS["mitch_jp"]).unwrapped
    env.reset(seed=1)
    env.action_space.seed(1)
    drawn = env.action_space.sample()
    _, info = env.reset(seed=2)
    assert not info["action_mask"][drawn]
    with pytest.raises(IllegalActionError):
        env.step(int(drawn))
    twin = copy.deepcopy(env)
    assert is_same(env.step(drawn), twin.step(drawn), exact=True)


# --- Against the PettingZoo environment.


@every_table
def test_it_is_the_table_environment_with_the_steps_of_others_left_out(name: str, players: int) -> None:
    """Observations, masks, rewards and ends, the last observation of a match included."""
    game = get_game(name)
    for i, options in enumerate(some_options(game, players, 7, seed=3)):
        if not is_kept(name, options):
            continue
        seat, reward = (i + players) % players, REWARDS[i % 3]
        env = SingleAgentEnv(name, seat=seat, options=options, reward=reward, opponents=Hashed())
        expected = LeftOut(make(name, options=options, reward=reward), seat)
        for seed in (5, None):
            observation, info = env.reset(seed=seed)
            (seen, mask), is_over = expected.reset(seed), False
            for _ in range(150):
                assert np.array_equal(observation, seen) and np.array_equal(info["action_mask"], mask)
                assert info["seat"] == seat and np.array_equal(env.action_masks(), mask)
                if is_over:
                    break
                action = hashed_action(observation, mask)
                observation, paid, terminated, truncated, info = env.step(action)
                (seen, mask), *others = expected.step(action)
                assert [paid, terminated, truncated] == [pytest.approx(others[0], abs=1e-4), *others[1:]]
                is_over = terminated or truncated


@pytest.mark.parametrize("seat", [0, 1])
def test_a_match_in_which_the_learner_is_asked_nothing_is_skipped(seat: int) -> None:
    """It is followed by the next match that asks it something."""
    env = SingleAgentEnv("mitchell", seat=seat, opponents=Hashed(), **QUICK)
    expected = LeftOut(make("mitchell", **QUICK), seat)
    skipped = 0
    for seed in range(40):
        observation, info = env.reset(seed=seed)
        seen, mask = expected.reset(seed)
        skipped += int(expected.env.table.seed) != seed
        assert np.array_equal(observation, seen) and np.array_equal(info["action_mask"], mask)
        assert env.step(hashed_action(seen, mask))[1] == expected.step(hashed_action(seen, mask))[1]
    assert (skipped > 5) == (seat == 1)


def test_what_is_paid_before_the_first_decision_comes_with_the_first_step() -> None:
    """Whole rounds may be over by then."""
    rounds = {**QUICK, "rounds": 3}
    env = SingleAgentEnv("mitchell", seat=1, opponents=Hashed(), **rounds)
    expected, n_paid_before = LeftOut(make("mitchell", **rounds), 1), 0
    for seed in range(60):
        observation, info = env.reset(seed=seed)
        expected.reset(seed)
        n_paid_before += expected.paid != 0
        rewards = play_match(env, info, observation)
        assert sum(rewards) == env._tables.batch.tables.totals[0, 1]
    assert n_paid_before > 5


def test_the_others_end_a_match_after_the_learners_last_decision() -> None:
    """What they bring about comes with the learner's last step."""
    env = SingleAgentEnv("mitch_jp", seat=0, opponents=Hashed(), deals=1, reward="points")
    for seed in range(20):
        observation, info = env.reset(seed=seed)
        rewards = play_match(env, info, observation)
        assert sum(rewards) == rewards[-1]
        assert env._tables.batch.tables.totals[0, 0] == rewards[-1]


def test_a_truncated_match_says_so() -> None:
    env = SingleAgentEnv("mitchell", seat=1, max_turns=9, opponents=Hashed())
    ends = Counter()
    for seed in range(10):
        observation, info = env.reset(seed=seed)
        while True:
            observation, _, terminated, truncated, info = env.step(hashed_action(observation, info["action_mask"]))
            if terminated or truncated:
                break
        ends[terminated, truncated] += 1
        assert not info["action_mask"].any() and not env.action_masks().any()
        assert observation.any()
    assert ends[False, True] > 5 and ends[True, True] == 0


def test_options_that_leave_the_learner_nothing_to_decide_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seat_tables, "MOST_SKIPPED", 5)
    env = SingleAgentEnv("mitchell", seat=1, players=2, hand_size=1, rounds=1, deck={"brawl": 3})
    with pytest.raises(OptionsError, match=r"in 5 matches in a row the learner was asked nothing"):
        env.reset(seed=1)


# --- Seats and opponents.


@every_table
def test_the_seat_is_drawn_for_each_match_and_every_seat_alike(name: str, players: int) -> None:
    env = SingleAgentEnv(name, players=players)
    drawn = Counter(env.reset(seed=None if seed else 1)[1]["seat"] for seed in range(100 * players))
    assert chisquare([drawn[seat] for seat in range(players)]).pvalue > 1e-4, drawn
    assert set(drawn) == set(range(players))


@pytest.mark.parametrize("players", [2, 3, 5])
def test_a_list_of_opponents_sits_clockwise_from_the_learner(players: int) -> None:
    opponents = [Hashed() for _ in range(players - 1)]
    env = SingleAgentEnv("mitch_jp", players=players, opponents=opponents)
    seats = set()
    for seed in range(4 * players):
        observation, info = env.reset(seed=seed)
        play_match(env, info, observation)
        seats.add(info["seat"])
        for place, one in enumerate(opponents, 1):
            assert {seat for seat, _, _ in one.asked} == {(info["seat"] + place) % players}
            one.asked.clear()
    assert len(seats) > 1


def test_one_of_a_pool_plays_all_other_seats_of_a_match_and_each_is_drawn_alike() -> None:
    pool = [Hashed() for _ in range(3)]
    env = SingleAgentEnv("mitch_jp", opponent_pool=pool, **TINY)
    drawn: Counter[tuple[int, int]] = Counter()
    for _ in range(600):
        observation, info = env.reset(seed=None if drawn else 4)
        play_match(env, info, observation)
        (who,) = [i for i, one in enumerate(pool) if one.asked]
        drawn[who, info["seat"]] += 1
        pool[who].asked.clear()
    assert chisquare([drawn[who, seat] for who in range(3) for seat in range(3)]).pvalue > 1e-4, drawn


def test_the_same_agent_in_several_places_is_one_agent() -> None:
    one, other = Hashed(), Hashed()
    env = SingleAgentEnv("mitch_jp", seat=1, players=4, opponents=[one, other, one])
    observation, info = env.reset(seed=1)
    play_match(env, info, observation)
    assert ({seat for seat, _, _ in one.asked}, {seat for seat, _, _ in other.asked}) == ({2, 0}, {3})


@every_table
def test_an_opponent_sees_what_its_own_seat_sees(name: str, players: int) -> None:
    game = get_game(name)
    opponent = Hashed()
    options = game.options(engine_of(game).short, players=players)
    env = SingleAgentEnv(name, seat=0, opponents=opponent, options=options)
    table = make(name, options=options)
    table.reset(seed=3)
    observation, info = env.reset(seed=3)
    play_match(env, info, observation)
    while not (table.terminations["player_0"] or table.truncations["player_0"]):
        seen = table.observe(table.agent_selection)
        if table.agent_selection != "player_0":
            seat, observation, mask = opponent.asked.pop(0)
            assert table.agent_selection == f"player_{seat}"
            assert np.array_equal(observation, seen["observation"]) and np.array_equal(mask, seen["action_mask"])
        table.step(hashed_action(seen["observation"], seen["action_mask"]))
    assert not opponent.asked


def test_the_rule_agent_and_classes_play_by_name() -> None:
    for opponents in ("rule", ["rule", "agents.uniform:RandomAgent"]):
        env = gymnasium.make(IDS["mitch_ru"], opponents=opponents)
        observation, info = env.reset(seed=1)
        assert play_match(env, info, observation)


def policy_file(path: Path, game: str, players: int) -> str:
    """The name of a policy for that many players."""
    export = pytest.importorskip("train.export")
    rules = get_game(game).rules
    card = PolicyCard.of(get_game(game), get_game(game).options(players=players), players, "canonical", [])
    size, n_actions = rules.layout(players).size, rules.n_actions(players)
    weights = {
        "policy.weight": np.random.default_rng(1).normal(size=(n_actions, size)).astype(np.float32),
        "policy.bias": np.zeros(n_actions, np.float32),
    }
    export.write_policy(path, card, weights)
    return f"policy:{path}"


def test_a_policy_file_plays_and_one_for_another_number_of_players_is_refused_at_once(tmp_path: Path) -> None:
    name = policy_file(tmp_path / "p.safetensors", "mitch_jp", 3)
    env = gymnasium.make(IDS["mitch_jp"], opponents=name)
    observation, info = env.reset(seed=1)
    assert play_match(env, info, observation)
    with pytest.raises(ValueError, match=r"opponent 'policy:.*trained with seats_encoded=3, here it is 4"):
        gymnasium.make(IDS["mitch_jp"], opponents=name, players=4)
    with pytest.raises(ValueError, match=r"opponents: .*the policy plays mitch_jp, it was asked to play mitch_ru"):
        gymnasium.make(IDS["mitch_ru"], opponents=name)
    with pytest.raises(ValueError, match=r"opponents: 'policy:nowhere.safetensors' cannot be made: .*nowhere"):
        gymnasium.make(IDS["mitch_jp"], opponents="policy:nowhere.safetensors")


# --- Seeds and copies.


@every_game
def test_the_same_seed_is_the_same_match_and_another_seed_another(name: str) -> None:
    def played(seed: int, env: Any) -> list[Any]:
        observation, info = env.reset(seed=seed)
        seen = [(observation, info)]
        for _ in range(12):
            observation, reward, terminated, truncated, info = env.step(hashed_action(observation, info["action_mask"]))
            seen.append((observation, reward, terminated, truncated, info))
            if terminated or truncated:
                seen.append(env.reset())
                observation, info = seen[-1]
        return seen

    settings: dict[str, Any] = {"opponents": RandomAgent(), "players": 3}
    one, other = gymnasium.make(IDS[name], **settings), gymnasium.make(IDS[name], **settings)
    first = played(7, one)
    assert is_same(first, played(7, other), exact=True)
    assert is_same(first, played(7, one), exact=True), "what was played before does not matter"
    assert not is_same(first, played(8, one), exact=True)


@every_game
def test_a_seed_means_the_match_that_it_means_everywhere(name: str) -> None:
    env = SingleAgentEnv(name, seat=0, players=2)
    table = make(name, players=2)
    for seed in (0, 77, (1 << 64) - 1):
        table.reset(seed=seed)
        assert np.array_equal(env.reset(seed=seed)[0], table.observe("player_0")["observation"])
    env.reset(seed=5)
    env.reset()
    assert env._tables.batch.tables.seed[0] == next_seed(np.uint64(5))


def test_without_any_seed_matches_differ_and_follow_from_the_generator() -> None:
    one, other, third = (SingleAgentEnv("mitch_jp") for _ in range(3))
    one.np_random, other.np_random = np.random.default_rng(1), np.random.default_rng(1)
    assert is_same(one.reset(), other.reset(), exact=True)
    assert not is_same(one.reset()[0], third.reset()[0], exact=True)


@pytest.mark.parametrize("copy_of", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("is_wrapped", [False, True])
@every_game
def test_a_copy_goes_on_with_the_same_match_on_its_own(name: str, is_wrapped: bool, copy_of: Any) -> None:
    settings: dict[str, Any] = {"opponent_pool": ["random", RandomAgent()], "reward": "relative"}
    env: Any = gymnasium.make(IDS[name], **settings)
    env = env if is_wrapped else env.unwrapped
    env.reset(seed=3)
    env.action_space.seed(3)
    for _ in range(3):
        env.step(env.action_space.sample())
    twin, third = copy_of(env), copy_of(env)
    for _ in range(3):
        third.step(third.action_space.sample())
    for _ in range(12):
        action, same = env.action_space.sample(), twin.action_space.sample()
        assert action == same
        here, there = env.step(action), twin.step(same)
        assert is_same(here, there, exact=True)
        if here[2] or here[3]:
            assert is_same(env.reset(), twin.reset(), exact=True)


# --- What is refused.


@every_game
def test_an_illegal_action_is_refused_in_words_and_changes_nothing(name: str) -> None:
    env = gymnasium.make(IDS[name], players=3, opponents=RandomAgent()).unwrapped
    for seed in range(5):
        _, info = env.reset(seed=seed)
        before = pickle.dumps(env._tables)
        illegal = np.flatnonzero(~info["action_mask"])
        table = env._tables.batch.tables[0]
        words = env._tables.batch.game.rules.action_name(table, int(illegal[0]))
        for action in [*illegal[:20], *illegal[:3].tolist(), np.array(illegal[0]), -1, len(info["action_mask"]), 1 << 70]:
            with pytest.raises(IllegalActionError, match=rf"^seat{info['seat']} tried: .*; phase: .*; legal here: ") as caught:
                env.step(action)
            if action == illegal[0]:
                assert f"tried: {words} (action {illegal[0]})" in str(caught.value)
        for action in ("play 4S", None, 1.5, [1, 2]):
            with pytest.raises(IllegalActionError, match=r"is no action: an integer from 0 to "):
                env.step(action)
        assert pickle.dumps(env._tables) == before
        env.step(int(np.flatnonzero(info["action_mask"])[0]))


def test_a_step_before_the_first_match_or_after_one_is_refused() -> None:
    env = SingleAgentEnv("mitch_jp", **TINY)
    assert not env.action_masks().any()
    with pytest.raises(IllegalActionError, match=r"no match is being played: call reset\(\) first"):
        env.step(0)
    observation, info = env.reset(seed=1)
    play_match(env, info, observation)
    for action in (0, env.action_space.sample()):
        with pytest.raises(IllegalActionError, match=r"no match is being played: call reset\(\) first"):
            env.step(action)
    env.reset()
    env.step(env.action_space.sample())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"seat": 3}, r"seat=3: an integer from 0 to 2 is needed, or None to draw it"),
        ({"seat": -1}, r"seat=-1: an integer from 0 to 2"),
        ({"seat": "0"}, r"seat='0': an integer from 0 to 2"),
        ({"seat": True}, r"seat=True: an integer"),
        ({"players": 5, "seat": 5}, r"seat=5: an integer from 0 to 4"),
        ({"opponents": "rul"}, r"opponents: unknown agent 'rul': random, rule, policy:FILE, or package.module:Class"),
        ({"opponents": ""}, r"opponents: unknown agent ''"),
        ({"opponents": ["random"]}, r"opponents is a list of 1: with players=3 a list of 2 is needed, clockwise"),
        ({"opponents": []}, r"opponents is a list of 0: with players=3 a list of 2"),
        ({"opponents": ["random"] * 3}, r"opponents is a list of 3: with players=3 a list of 2"),
        ({"opponents": ["random", "rul"]}, r"opponents\[1\]: unknown agent 'rul'"),
        ({"opponents": 7}, r"opponents is a int, which has no 'name': a name \(random, rule, .*\) or an agent is needed"),
        ({"opponents": RandomAgent}, r"opponents is the class RandomAgent: an object of it is needed"),
        ({"opponent_pool": []}, r"opponent_pool=\[\]: a list of at least one is needed"),
        ({"opponent_pool": "random"}, r"opponent_pool='random': a list of at least one is needed"),
        ({"opponent_pool": ["random", 7]}, r"opponent_pool\[1\] is a int, which has no 'name'"),
        ({"opponents": "random", "opponent_pool": ["random"]}, r"opponents and opponent_pool do not go together"),
        ({"reward": "money"}, r"reward='money': allowed are 'points', 'relative', 'outcome'"),
        ({"render_mode": "svg"}, r"render_mode='svg': allowed are 'ansi', 'human', 'rgb_array'"),
        ({"players": 9}, r"players=9: an integer from 2 to 5 is needed"),
        ({"playerz": 3}, r"unknown option 'playerz'; did you mean 'players'\?"),
        ({"seats_encoded": 2}, r"seats_encoded=2: an integer from 3 to 5"),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_allowed(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        SingleAgentEnv("mitch_jp", **settings)


@pytest.mark.parametrize("seed", [-1, 1 << 64, 1.5, "1", True])
def test_a_wrong_seed_is_refused(seed: Any) -> None:
    env = SingleAgentEnv("mitch_jp")
    with pytest.raises(ValueError, match=r"seed must be an integer from 0 to 2\*\*64 - 1"):
        env.reset(seed=seed)


def test_an_opponent_that_answers_wrongly_is_named() -> None:
    class Wrong(RandomAgent):
        name = "wrong"

        def act_batch(self, view: View) -> np.ndarray:
            return np.flatnonzero(~view.mask[0])[:1]

    with pytest.raises(ValueError, match=r"opponent 'wrong' cannot play here: wrong, seat0, tried: .*; legal here: "):
        SingleAgentEnv("mitch_jp", seat=1, opponents=Wrong())


@pytest.mark.parametrize("place", ["opponents", "opponent_pool"])
@pytest.mark.parametrize("game", ["mitchell", "mitch_jp"])
@pytest.mark.parametrize("is_named", [True, False])
def test_an_opponent_for_another_game_is_told_when_the_environment_is_made(game: str, is_named: bool, place: str) -> None:
    """Whatever it fails with."""
    agent = MitchRuleAgent if game == "mitchell" else MitchellRuleAgent
    opponent: Any = f"{agent.__module__}:{agent.__name__}" if is_named else agent()
    given = {place: ["random", opponent]}
    words = opponent if is_named else agent().name
    with pytest.raises(ValueError, match=rf"opponent '{words}' cannot play here: \S") as refused:
        gymnasium.make(IDS[game], players=3, **given)
    assert refused.value.__cause__ is not None
    with pytest.raises(ValueError, match=rf"opponent '{words}' cannot play here: \S"):
        gymnasium.make_vec(IDS[game], num_envs=2, players=3, **given)


def test_an_opponent_is_tried_out_where_the_first_match_asks_nobody_anything() -> None:
    """Also if no row of the first matches does."""
    assert Batch("mitchell", 1, options=SILENT, seed=0).actor[0] == -1
    with pytest.raises(ValueError, match="cannot play here"):
        SingleAgentEnv("mitchell", opponents=MitchRuleAgent(), options=SILENT)


@pytest.mark.parametrize("vectorised", [False, True])
@pytest.mark.parametrize(
    "settings",
    [{"check": False}, {"canonical": True}, {"autoreset": True}, {"seed": 3}, {"n": 2}, {"changes": {}}, {"playerz": 3}],
    ids=str,
)
def test_what_is_no_documented_argument_is_an_unknown_option(settings: dict[str, Any], vectorised: bool) -> None:
    """What a batch knows besides would change what the views do."""
    (name,) = settings
    with pytest.raises(
        OptionsError, match=rf"unknown option '{name}'.* Known are: .*players.*seat, opponents, opponent_pool"
    ) as refused:
        gymnasium.make_vec(IDS["mitch_jp"], 2, **settings) if vectorised else gymnasium.make(IDS["mitch_jp"], **settings)
    assert ("threads" in str(refused.value)) == vectorised


def test_threads_are_for_many_tables() -> None:
    with pytest.raises(OptionsError, match="unknown option 'threads'"):
        SingleAgentEnv("mitch_jp", threads=2)


@pytest.mark.parametrize("mode", [None, "sync", "vector_entry_point"])
def test_an_id_makes_no_other_game(mode: str | None) -> None:
    def made(game: Any) -> Any:
        if mode is None:
            return gymnasium.make(IDS["mitch_jp"], game=game)
        return gymnasium.make_vec(IDS["mitch_jp"], 2, vectorization_mode=mode, game=game)

    for other in ("mitch_ru", get_game("mitchell")):
        with pytest.raises(OptionsError, match=r"mitch_env/MitchJp-v0 is the game 'mitch_jp'"):
            made(other)
    assert made("mitch_jp").reset(seed=1)


@pytest.mark.parametrize("action", [True, False, np.True_, np.array([3]), np.array([True]), 3.0, "3", None], ids=repr)
def test_only_an_integer_is_an_action(action: Any) -> None:
    env = SingleAgentEnv("mitch_jp")
    env.reset(seed=1)
    before = pickle.dumps(env._tables)
    with pytest.raises(IllegalActionError, match="is no action: an integer from 0 to 105 is needed"):
        env.step(action)
    assert pickle.dumps(env._tables) == before


# --- Without the package agents.


def test_random_opponents_need_no_agents_and_others_say_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("agents", "agents.agent", "agents.names"):
        monkeypatch.setitem(sys.modules, module, None)
    env = gymnasium.make(IDS["mitch_jp"], opponents=["random", "random"])
    env.reset(seed=1)
    env.step(env.action_space.sample())
    for opponents in ("rule", RandomAgent()):
        with pytest.raises(ImportError, match=r"opponents=.* needs the package 'agents' .*opponents='random' plays without it"):
            gymnasium.make(IDS["mitch_jp"], opponents=opponents)


def test_neither_the_import_nor_random_opponents_import_agents() -> None:
    code = (
        "import sys, gymnasium, mitch_env; heavy = {'agents', 'mitch_env.single_agent'};"
        "print(heavy & set(sys.modules)); env = gymnasium.make('mitch_env/MitchRu-v0'); env.reset(seed=1);"
        "print('agents' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.split()) == (0, ["set()", "False"]), done.stderr


# --- Rendering.


@every_table
def test_what_is_rendered_shows_what_the_learner_sees_and_nothing_hidden(name: str, players: int) -> None:
    """Exchanging cards that it cannot see changes nothing."""
    engine, rng = engine_of(get_game(name)), random.Random(1)
    env = SingleAgentEnv(name, players=players, render_mode="ansi")
    n_changed = 0
    for seed in range(6):
        observation, info = env.reset(seed=seed)
        for _ in range(4):
            table = env._tables.batch.tables[0]
            text, before = env.render(), table.tobytes()
            assert text == env._tables.batch.game.rules.describe(table, info["seat"])
            engine.swap_hidden(table, info["seat"], rng, 4)
            n_changed += table.tobytes() != before
            assert env.render() == text
            observation, _, terminated, truncated, info = env.step(hashed_action(observation, info["action_mask"]))
            if terminated or truncated:
                break
    assert n_changed > 10


def test_the_render_modes(capsys: pytest.CaptureFixture[str]) -> None:
    env = gymnasium.make(IDS["mitch_jp"], render_mode="human")
    env.reset(seed=1)
    env.step(env.action_space.sample())
    printed = capsys.readouterr().out
    assert env.render() is None
    assert printed.count("your hand") == 2 and capsys.readouterr().out.count("your hand") == 1
    silent = SingleAgentEnv("mitch_jp")
    silent.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert silent.render() is None
    pytest.importorskip("PIL")
    picture = SingleAgentEnv("mitch_jp", render_mode="rgb_array")
    picture.reset(seed=1)
    image = picture.render()
    assert (image.ndim, image.shape[2], image.dtype) == (3, 3, np.uint8)


def test_a_finished_match_can_still_be_looked_at() -> None:
    env = SingleAgentEnv("mitch_jp", render_mode="ansi", **TINY)
    observation, info = env.reset(seed=1)
    play_match(env, info, observation)
    assert "over" in env.render().lower()


def test_the_card_of_the_module_is_right() -> None:
    import doctest

    from mitch_env import single_agent

    assert doctest.testmod(single_agent, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0
    assert mitch_env.__doc__ and "gymnasium.make" in mitch_env.__doc__


class RaisesOnce:
    """An opponent that fails at its fifth decision."""

    name, encoder = "raises once", "flat"

    def __init__(self) -> None:
        self.n = 0

    def reset(self, seat: Any, rng: Any) -> None:
        pass

    def act_batch(self, view: Any) -> Any:
        self.n += 1
        if self.n == 5:
            raise RuntimeError("once")
        return view.mask.argmax(1)


@pytest.mark.parametrize("is_vector", [False, True])
def test_after_an_opponent_has_raised_only_reset_goes_on(is_vector: bool) -> None:
    env: Any
    if is_vector:
        env = SingleAgentVectorEnv("mitch_jp", 2, opponents=RaisesOnce(), seat=0)
    else:
        env = SingleAgentEnv("mitch_jp", opponents=RaisesOnce(), seat=0)

    def step() -> None:
        masks = env.action_masks()
        env.step(masks.argmax(1) if is_vector else int(masks.argmax()))

    env.reset(seed=1)
    with pytest.raises(RuntimeError, match="once"):
        for _ in range(10):
            step()
    for _ in range(2):
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\)"):
            step()
    env.reset(seed=1)
    for _ in range(3):
        step()
