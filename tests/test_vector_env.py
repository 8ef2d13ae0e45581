"""The Gymnasium vector environment: the same as many single ones, stepped together."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pytest
from games import EVERY_TABLE, engine_of, some_options, times
from gymnasium.utils.env_checker import data_equivalence as is_same
from gymnasium.utils.passive_env_checker import data_shares_objects
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from scipy.stats import chisquare

from agents import View
from agents.uniform import RandomAgent
from mitch_env import GAMES, IllegalActionError, get_game, seat_tables
from mitch_env.chance import match_seeds
from mitch_env.single_agent import SingleAgentEnv
from mitch_env.vector_env import SingleAgentVectorEnv

every_game = pytest.mark.parametrize("name", GAMES)
every_table = pytest.mark.parametrize(("name", "players"), EVERY_TABLE)

#: A match of a few decisions.
TINY = {"players": 3, "suits": 1, "ranks": 5, "hand_size": 1, "clock_cards": 1, "deals": 1}
#: A match in which seat 1 is often asked nothing, since seat 0 has won before.
QUICK = {"players": 2, "hand_size": 1, "rounds": 1}


def id_of(name: str) -> str:
    """The id that Gymnasium knows a game by."""
    (found,) = (one for one, spec in gymnasium.registry.items() if spec.kwargs.get("game") == name)
    return found


def choose(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random legal action for each row."""
    chosen: np.ndarray = np.where(masks, rng.random(masks.shape), -1.0).argmax(1)
    return chosen


class Lowest(RandomAgent):
    """Plays the legal action with the lowest number, and counts how often it is asked for how much."""

    name = "lowest"

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.seats: Counter[int] = Counter()

    def reset(self, seat: int | None, rng: np.random.Generator) -> None:
        super().reset(seat, rng)
        self.asked.clear()
        self.seats.clear()

    def act_batch(self, view: View) -> np.ndarray:
        self.asked.append(len(view))
        self.seats.update(view.seat.tolist())
        lowest: np.ndarray = view.mask.argmax(1)
        return lowest


# --- The same as single environments.


def check_equal_to_single_ones(name: str, n: int, n_steps: int, **settings: Any) -> int:
    """Everything that is returned, to the bit, from Gymnasium's own vector environment of single ones; matches finished."""
    one_of = [lambda: SingleAgentEnv(name, **settings)] * n
    sync = SyncVectorEnv(one_of, autoreset_mode=AutoresetMode.SAME_STEP)
    vector = SingleAgentVectorEnv(name, n, **settings)
    assert vector.single_observation_space == sync.single_observation_space
    assert vector.observation_space == sync.observation_space
    assert vector.single_action_space == sync.single_action_space
    assert vector.action_space == sync.action_space
    seeds = list(range(50, 50 + n))
    expected, found = sync.reset(seed=seeds), vector.reset(seed=seeds)
    assert is_same(found, expected, exact=True)
    rng, n_finished = np.random.default_rng(2), 0
    for _ in range(n_steps):
        actions = choose(vector.action_masks(), rng)
        expected, found = sync.step(actions), vector.step(actions)
        for one, other in zip(found, expected, strict=True):
            assert is_same(one, other, exact=True)
        n_finished += int((found[2] | found[3]).sum())
    assert is_same(vector.reset(), sync.reset(), exact=True)
    return n_finished


@every_table
def test_each_row_is_a_single_environment(name: str, players: int) -> None:
    """Observations, rewards, ends, masks, seats, and the last of a finished match."""
    game = get_game(name)
    settings = [{}, {"reward": "outcome", "seat": players - 1}, {"opponent_pool": ["random", Lowest()], "reward": "relative"}]
    for i, options in enumerate(some_options(game, players, 3, seed=4)):
        check_equal_to_single_ones(name, 3, times(25), options=options, **settings[(i + players) % 3])
    options = game.options(engine_of(game).short, players=players)
    assert check_equal_to_single_ones(name, 4, 60, options=options, **settings[players % 3]) > 1


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("mitch_jp", {"opponents": "rule", "deals": 1}),
        ("mitch_ru", {"opponents": ["rule", "random"]}),
        ("mitch_original", {"opponent_pool": ["rule", "random"], "deals": 1}),
        ("mitchell", QUICK),
        ("mitchell", {**QUICK, "seat": 1}),
        ("mitchell", {"max_turns": 7}),
    ],
)
def test_each_row_is_a_single_environment_with_other_opponents_skipped_and_truncated_matches(
    name: str, settings: dict[str, Any]
) -> None:
    assert check_equal_to_single_ones(name, 4, 40, **settings) > 4


def test_threads_change_nothing() -> None:
    one, other = (SingleAgentVectorEnv("mitch_jp", 50, threads=threads, deals=1) for threads in (1, 3))
    assert is_same(one.reset(seed=1), other.reset(seed=1), exact=True)
    rng = np.random.default_rng(0)
    for _ in range(30):
        actions = choose(one.action_masks(), rng)
        assert is_same(one.step(actions), other.step(actions), exact=True)


def episodes_of_vector(vector: Any, n_matches: int, seed: int) -> np.ndarray:
    """Returns and lengths of so many matches, the same number from each row: float64[matches, 2]."""
    rng, n = np.random.default_rng(seed), vector.num_envs
    vector.reset(seed=seed)
    returns, lengths, rows = np.zeros(n), np.zeros(n), [[] for _ in range(n)]  # type: ignore[var-annotated]
    while min(map(len, rows)) < n_matches // n:
        _, reward, terminated, truncated, _ = vector.step(choose(vector.action_masks(), rng))
        returns += reward
        lengths += 1
        for row in np.flatnonzero(terminated | truncated):
            rows[row].append((returns[row], lengths[row]))
            returns[row] = lengths[row] = 0
    return np.array([one for row in rows for one in row[: n_matches // n]])


def episodes_of_single(env: Any, n_matches: int, seed: int) -> np.ndarray:
    """The same of one environment."""
    rng, found = np.random.default_rng(seed), []
    for i in range(n_matches):
        _, info = env.reset(seed=None if i else seed)
        total, length, is_over = 0.0, 0, False
        while not is_over:
            _, reward, terminated, truncated, info = env.step(int(choose(info["action_mask"][None], rng)[0]))
            total, length, is_over = total + reward, length + 1, terminated or truncated
        found.append((total, length))
    return np.array(found)


def agree(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Whether the means of two samples differ by less than four standard errors, for each column."""
    error = np.sqrt(one.var(0) / len(one) + other.var(0) / len(other))
    close: np.ndarray = np.abs(one.mean(0) - other.mean(0)) <= 4 * error
    return close


@pytest.mark.parametrize("opponents", ["random", "agent"])
@every_game
def test_returns_lengths_and_win_shares_agree_within_intervals(name: str, opponents: str) -> None:
    """With other seeds, and with an agent whose chance is shared by all tables; the built-in random player is such an agent."""
    n = times(500)
    short = engine_of(get_game(name)).short
    for reward in ("relative", "outcome"):  # a win pays its share: the returns that are positive are the win share
        single = SingleAgentEnv(name, reward=reward, opponents="random", **short)
        others = RandomAgent() if opponents == "agent" else "random"
        vector = SingleAgentVectorEnv(name, 50, reward=reward, opponents=others, **short)
        one, other = episodes_of_single(single, n, 1), episodes_of_vector(vector, n, 2)
        if reward == "outcome":
            one, other = np.maximum(one, 0), np.maximum(other, 0)
        assert agree(one, other).all(), (one.mean(0), other.mean(0))
        if reward == "relative":  # everybody plays alike, and the seat is drawn alike
            assert agree(other[:, :1], np.zeros((1, 1))).all(), other.mean(0)


def test_intervals_notice_a_difference() -> None:
    """The rule agent is not a random player."""
    made = [SingleAgentVectorEnv("mitch_ru", 50, opponents=one, reward="relative") for one in ("random", "rule")]
    one, other = (episodes_of_vector(vector, 500, 1) for vector in made)
    assert not agree(one, other).all()


# --- Gymnasium's contract.


@every_game
def test_gymnasium_makes_it_by_the_id_of_the_game(name: str) -> None:
    settings: dict[str, Any] = {"players": 4, "reward": "outcome", "seats_encoded": 5}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = [
            gymnasium.make_vec(id_of(name), num_envs=6, vectorization_mode="vector_entry_point", **settings),
            gymnasium.make_vec(id_of(name), num_envs=6, **settings),
        ]
        sync = gymnasium.make_vec(id_of(name), num_envs=6, vectorization_mode="sync", **settings)
    for vector in made:
        assert type(vector) is SingleAgentVectorEnv and vector.num_envs == 6
        assert vector.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
        assert vector.spec is not None and vector.spec.id == id_of(name)
        assert vector.observation_space == sync.observation_space and vector.action_space == sync.action_space
        observations, infos = vector.reset(seed=1)
        assert observations in vector.observation_space
        actions = vector.action_space.sample()
        assert actions in vector.action_space
        observations, rewards, terminated, truncated, infos = vector.step(actions)
        assert observations in vector.observation_space
        kinds = [(one.dtype, one.shape) for one in (rewards, terminated, truncated, infos["action_mask"], infos["seat"])]
        masks = (np.dtype(bool), (6, int(vector.single_action_space.n)))
        assert kinds == [(np.dtype(float), (6,)), *[(np.dtype(bool), (6,))] * 2, masks, (np.dtype(int), (6,))]
        assert np.array_equal(infos["action_mask"], vector.action_masks())
        vector.close()


@every_game
def test_what_is_returned_is_not_reused(name: str) -> None:
    vector = SingleAgentVectorEnv(name, 6, **engine_of(get_game(name)).short)
    kept = [vector.reset(seed=1)]
    for _ in range(8):
        observations, rewards, terminated, truncated, infos = vector.step(vector.action_space.sample())
        kept.append(((observations, rewards, terminated, truncated), infos))
    kept.append(vector.reset())
    pages = [copy.deepcopy(one) for one in kept]
    vector.step(vector.action_space.sample())
    assert is_same(kept, pages, exact=True)
    for i, one in enumerate(kept):
        assert not any(data_shares_objects(one[1], other[1]) for other in kept[:i])


@every_game
def test_drawn_actions_are_legal_and_every_legal_one_is_drawn(name: str) -> None:
    vector = SingleAgentVectorEnv(name, 3)
    vector.reset(seed=1)
    vector.action_space.seed(1)
    drawn = np.zeros_like(vector.action_masks())
    for _ in range(60 * int(drawn.shape[1])):
        drawn[np.arange(3), vector.action_space.sample()] = True
    assert np.array_equal(drawn, vector.action_masks())
    only = np.eye(drawn.shape[1], dtype=np.int8)[[1, 5, 0]]
    assert vector.action_space.sample(mask=tuple(only)).tolist() == [1, 5, 0]
    for space in (copy.deepcopy(vector.action_space), pickle.loads(pickle.dumps(vector.action_space))):
        assert type(space) is gymnasium.spaces.MultiDiscrete and space == vector.action_space


def test_gymnasiums_wrappers_count_every_step_of_every_match() -> None:
    vector: Any = SingleAgentVectorEnv("mitch_jp", 8, seat=0, **TINY)
    counted = gymnasium.wrappers.vector.RecordEpisodeStatistics(vector, buffer_length=10_000)
    counted.reset(seed=1)
    total, steps = np.zeros(8), 0
    for _ in range(60):
        _, reward, terminated, truncated, infos = counted.step(vector.action_space.sample())
        total += reward
        steps += 8
        assert np.array_equal(infos.get("_episode", np.zeros(8, bool)), terminated | truncated)
    assert sum(counted.return_queue) + counted.episode_returns.sum() == pytest.approx(total.sum())
    assert sum(counted.length_queue) + counted.episode_lengths.sum() == steps
    as_lists = gymnasium.wrappers.vector.DictInfoToList(vector)
    as_lists.reset(seed=1)
    while True:
        *_, terminated, truncated, infos = as_lists.step(vector.action_space.sample())
        if (terminated | truncated).any():
            break
    for row, is_over in enumerate(terminated | truncated):
        assert infos[row]["action_mask"].any() and ("final_obs" in infos[row]) == is_over


# --- Seats and opponents.


def test_an_opponent_is_asked_for_all_tables_at_once() -> None:
    """Three seats: between two decisions of the learner the others decide twice, and a few times more at some tables."""
    pool = [Lowest(), Lowest()]
    vector = SingleAgentVectorEnv("mitch_jp", 400, opponent_pool=pool, deals=1)
    vector.reset(seed=1)
    for _ in range(20):
        for one in pool:
            assert one.asked[0] > 100 and len(one.asked) <= 8, one.asked
            one.asked.clear()
        vector.step(vector.action_space.sample())


def test_seats_and_opponents_are_drawn_for_each_table_and_each_match() -> None:
    pool = [Lowest(), Lowest()]
    vector = SingleAgentVectorEnv("mitch_jp", 30, opponent_pool=pool, **TINY)
    _, infos = vector.reset(seed=1)
    seats: list[list[int]] = [[int(seat)] for seat in infos["seat"]]
    for _ in range(60):
        _, _, terminated, truncated, infos = vector.step(vector.action_space.sample())
        is_over = terminated | truncated
        if is_over.any():
            assert np.array_equal(infos["final_info"]["seat"][is_over], [seats[row][-1] for row in np.flatnonzero(is_over)])
        for row, seat in enumerate(infos["seat"].tolist()):
            if is_over[row]:
                seats[row].append(seat)
            assert seats[row][-1] == seat
    drawn = Counter(seat for row in seats for seat in row)
    assert chisquare([drawn[seat] for seat in range(3)]).pvalue > 1e-4, drawn
    shares = np.array([sum(one.asked) for one in pool])
    assert 0.4 < shares[0] / shares.sum() < 0.6


def test_tables_may_differ_in_rules_and_players() -> None:
    """Rules are options, so one network can learn many of them."""
    options = [{"players": 2}, {"players": 5, "hand_size": 3}, {"players": 3, "take_discard": True}] * 4
    opponent = Lowest()
    vector = SingleAgentVectorEnv("mitch_jp", 12, options=options, opponents=opponent)
    seats = [Counter() for _ in options]  # type: ignore[var-annotated]
    _, infos = vector.reset(seed=1)
    for _ in range(200):
        *_, infos = vector.step(vector.action_space.sample())
        for row, seat in enumerate(infos["seat"].tolist()):
            seats[row][seat] += 1
    for row, one in enumerate(options):
        assert set(seats[row]) <= set(range(one["players"]))
    assert set(opponent.seats) == set(range(5))
    with pytest.raises(ValueError, match=r"seat=2: an integer from 0 to 1"):
        SingleAgentVectorEnv("mitch_jp", 12, options=options, seat=2)
    with pytest.raises(ValueError, match=r"opponents is a list, but the tables differ in players"):
        SingleAgentVectorEnv("mitch_jp", 12, options=options, opponents=["random"] * 4)


# --- Seeds and copies.


def test_one_seed_for_all_is_that_of_a_batch_and_a_list_is_taken_as_it_is() -> None:
    one, other = SingleAgentVectorEnv("mitch_jp", 5), SingleAgentVectorEnv("mitch_jp", 5)
    assert is_same(one.reset(seed=9), other.reset(seed=match_seeds(9, 5).tolist()), exact=True)
    assert not is_same(one.reset(seed=9)[0][1:], other.reset(seed=10)[0][:-1], exact=True)


@pytest.mark.parametrize("seeds", [(3, 4), ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 7])])
@every_game
def test_the_same_seed_gives_the_same_results_whatever_was_played_before(name: str, seeds: Any) -> None:
    def played(vector: Any, seed: Any) -> list[Any]:
        first, rng = vector.reset(seed=seed), np.random.default_rng(0)
        return [first, *(vector.step(choose(vector.action_masks(), rng)) for _ in range(15)), vector.reset()]

    settings = {**engine_of(get_game(name)).short, "players": 4}
    one = SingleAgentVectorEnv(name, 6, opponents=RandomAgent(), **settings)
    other = SingleAgentVectorEnv(name, 6, opponents=RandomAgent(), **settings)
    first = played(one, seeds[0])
    assert is_same(first, played(other, seeds[0]), exact=True)
    assert is_same(first, played(one, seeds[0]), exact=True)
    assert not is_same(first, played(one, seeds[1]), exact=True)


def test_without_any_seed_matches_differ_and_follow_from_the_generator() -> None:
    one, other, third = (SingleAgentVectorEnv("mitch_jp", 4) for _ in range(3))
    one.np_random, other.np_random = np.random.default_rng(1), np.random.default_rng(1)
    assert is_same(one.reset(), other.reset(), exact=True)
    assert not is_same(one.reset()[0], third.reset()[0], exact=True)


@pytest.mark.parametrize("copy_of", [copy.deepcopy, lambda vector: pickle.loads(pickle.dumps(vector))])
@every_game
def test_a_copy_goes_on_with_the_same_matches_on_its_own(name: str, copy_of: Any) -> None:
    settings = engine_of(get_game(name)).short
    vector = SingleAgentVectorEnv(name, 5, opponent_pool=["random", RandomAgent()], **settings)
    vector.reset(seed=1)
    vector.step(vector.action_space.sample())
    twin, third = copy_of(vector), copy_of(vector)
    third.step(third.action_space.sample())
    for _ in range(10):
        actions = vector.action_space.sample()
        assert np.array_equal(actions, twin.action_space.sample())
        assert is_same(vector.step(actions), twin.step(actions), exact=True)


# --- What is refused.


@every_game
def test_one_illegal_action_refuses_the_whole_step_in_words(name: str) -> None:
    vector = SingleAgentVectorEnv(name, 4, opponents=RandomAgent())
    vector.reset(seed=1)
    before = pickle.dumps(vector._tables)
    actions = vector.action_space.sample()
    legal = int(actions[2])
    for action in (int(np.flatnonzero(~vector.action_masks()[2])[0]), -1, vector.action_masks().shape[1]):
        actions[2] = action
        with pytest.raises(IllegalActionError, match=r"^table 2, seat\d tried: .*; phase: .*; legal here: "):
            vector.step(actions)
    for wrong in (actions[:3], actions.astype(float), 3):
        with pytest.raises(ValueError, match=r"actions must be 4 integers"):
            vector.step(wrong)
    assert pickle.dumps(vector._tables) == before
    actions[2] = legal
    vector.step(actions)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"num_envs": 0}, r"n=0: an integer from 1"),
        ({"seat": 3}, r"seat=3: an integer from 0 to 2 is needed, or None to draw it"),
        ({"opponents": "rul"}, r"opponents: unknown agent 'rul': random, rule, policy:FILE"),
        ({"opponents": ["random"]}, r"opponents is a list of 1: with players=3 a list of 2 is needed"),
        ({"opponents": "random", "opponent_pool": ["random"]}, r"opponents and opponent_pool do not go together"),
        ({"threads": 0}, r"threads=0: an integer from 1"),
        ({"render_mode": "svg"}, r"render_mode='svg': allowed are"),
        ({"playerz": 3}, r"unknown option 'playerz'"),
        ({"num_envs": 3, "options": [{}] * 2}, r"n=3, but options are given for 2 tables"),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_allowed(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        gymnasium.make_vec(id_of("mitch_jp"), **{"num_envs": 2, **settings})


@pytest.mark.parametrize(("players", "why"), [((2, 3), r" \(the smallest table has 2 players\),"), ((2, 2), ",")])
def test_a_seat_that_the_smallest_table_lacks_is_refused_for_that_reason(players: tuple[int, int], why: str) -> None:
    options = [{"players": one} for one in players]
    with pytest.raises(ValueError, match=rf"seat=2: an integer from 0 to 1 is needed{why} or None to draw it"):
        SingleAgentVectorEnv("mitch_jp", 2, seat=2, options=options)


def test_what_cannot_be_reset_or_stepped_is_refused() -> None:
    vector = SingleAgentVectorEnv("mitch_jp", 3)
    assert not vector.action_masks().any()
    with pytest.raises(IllegalActionError, match=r"no match is being played: call reset\(\) first"):
        vector.step(np.zeros(3, np.int64))
    with pytest.raises(ValueError, match=r"reset_mask goes with AutoresetMode.DISABLED"):
        vector.reset(options={"reset_mask": np.array([True, False, False])})
    for seed in (-1, 1 << 64, [1, 2], [1, 2, -3]):
        with pytest.raises(ValueError, match=r"seed"):
            vector.reset(seed=seed)  # type: ignore[arg-type]


def test_options_that_leave_the_learner_nothing_to_decide_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seat_tables, "MOST_SKIPPED", 5)
    vector = SingleAgentVectorEnv("mitchell", 3, seat=1, players=2, hand_size=1, rounds=1, deck={"brawl": 3})
    with pytest.raises(ValueError, match=r"in 5 matches in a row the learner was asked nothing"):
        vector.reset(seed=1)
    monkeypatch.setattr(seat_tables, "MOST_SKIPPED", 12)
    vector = SingleAgentVectorEnv("mitchell", 4, seat=1, **QUICK)
    vector.reset(seed=1)
    vector.action_space.seed(1)
    for _ in range(600):  # more than 12 are skipped at a table, but not in a row
        vector.step(vector.action_space.sample())


# --- Rendering.


def test_every_table_is_rendered_from_its_learners_seat(capsys: pytest.CaptureFixture[str]) -> None:
    vector: Any = SingleAgentVectorEnv("mitch_jp", 3, render_mode="ansi")
    single: Any = SyncVectorEnv([lambda: SingleAgentEnv("mitch_jp", render_mode="ansi")] * 3)
    vector.reset(seed=[1, 2, 3])
    single.reset(seed=[1, 2, 3])
    assert vector.render() == single.render()
    human: Any = gymnasium.make_vec(id_of("mitch_jp"), num_envs=2, render_mode="human")
    human.reset(seed=1)
    human.step(human.action_space.sample())
    assert capsys.readouterr().out.count("your hand") == 4
    pytest.importorskip("PIL")
    picture: Any = SingleAgentVectorEnv("mitch_jp", 2, render_mode="rgb_array")
    picture.reset(seed=1)
    assert [(image.ndim, image.dtype) for image in picture.render()] == [(3, np.uint8)] * 2
