"""The tables as the trainer steps them: who learns, who sits in, and what is paid to whom."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import binomtest, chisquare
from stable_baselines3.common.vec_env import VecEnv

from agents import View
from agents.agent import act
from agents.uniform import RandomAgent
from mitch_env import GAMES, get_game
from mitch_env.game import PHASE_OVER
from mitch_env.rewards import REWARDS
from train.table_vec_env import TableVecEnv

torch.set_num_threads(1)

#: A match of a few decisions.
TINY = {"players": 3, "suits": 1, "ranks": 5, "hand_size": 1, "clock_cards": 1, "deals": 1}


class Counting(RandomAgent):
    """A random agent that counts its decisions."""

    def __init__(self, encoder: str = "flat") -> None:
        self.encoder = encoder
        self.decisions = 0

    def act_batch(self, view: View) -> np.ndarray:
        self.decisions += len(view)
        return super().act_batch(view)


def one_round(name: str, **changes: Any) -> Any:
    """Options of a game with matches of a single deal."""
    game = get_game(name)
    return game.options({field: 1 for field in ("deals", "rounds") if hasattr(game.defaults, field)}, **changes)


def make(name: str, n: int, options: Any = None, **settings: Any) -> TableVecEnv:
    """Tables with random opponents."""
    game = get_game(name)
    rules = one_round(name) if options is None else game.options(options)
    return TableVecEnv(game, rules, n, **{"seed": 5, "opponents": [RandomAgent()], **settings})


def choose(env: TableVecEnv, rng: np.random.Generator) -> np.ndarray:
    """A random legal action for each table."""
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in env.env_method("action_masks")[0]])


# --- Who learns.


@pytest.mark.parametrize("name", GAMES)
def test_only_the_learners_seat_decides_at_a_mixed_table_and_everybody_at_the_others(name: str) -> None:
    env, rng = make(name, 6, self_play=0.5), np.random.default_rng(0)
    env.reset()
    learners: list[Counter[int]] = [Counter() for _ in range(6)]
    finished = np.zeros(6, np.int64)
    while finished.min() < 3:
        _, _, done, _ = env.step(choose(env, rng))
        for row in range(6):
            learners[row][int(env.actor[row])] += 1
            if done[row]:
                finished[row] += 1
                everybody = int(env.batch.tables[row].players)
                assert len(learners[row]) == (1 if row < 3 else everybody), f"table {row}: {learners[row]}"
                learners[row] = Counter()


@pytest.mark.parametrize("name", GAMES)
def test_the_learners_seat_is_drawn_anew_for_each_match_and_every_seat_alike(name: str) -> None:
    env, rng = make(name, 40, self_play=0.0), np.random.default_rng(1)
    env.reset()
    seats: list[list[int]] = [[] for _ in range(40)]
    while sum(map(len, seats)) < 400:
        _, _, done, _ = env.step(choose(env, rng))
        for row in np.flatnonzero(done):
            seats[row].append(int(env.actor[row]))
    players = int(env.batch.tables[0].players)
    drawn = Counter(seat for row in seats for seat in row)
    assert chisquare([drawn[seat] for seat in range(players)]).pvalue > 1e-3, drawn
    again = [one == other for row in seats for one, other in itertools.pairwise(row)]
    assert binomtest(sum(again), len(again), 1 / players).pvalue > 1e-3, "the next seat does not depend on the last"


def test_the_opponent_is_drawn_anew_for_each_match_and_every_opponent_alike() -> None:
    """One opponent plays all other seats of a match."""
    opponents = [Counting() for _ in range(4)]
    env, rng = make("mitch_jp", 1, TINY, self_play=0.0, opponents=opponents), np.random.default_rng(1)
    env.reset()
    drawn: Counter[int] = Counter()
    here: set[int] = set()
    while drawn.total() < 300:
        before = [one.decisions for one in opponents]
        _, _, done, _ = env.step(choose(env, rng))
        if done[0]:  # what was decided in this step belongs to two matches
            drawn.update(here)
            here = set()
        else:
            here |= {i for i, one in enumerate(opponents) if one.decisions > before[i]}
            assert len(here) <= 1
    assert chisquare([drawn[i] for i in range(4)]).pvalue > 1e-3, drawn


def test_the_share_of_mixed_tables_is_what_self_play_leaves() -> None:
    for self_play, n_mixed in [(1.0, 0), (0.8, 2), (0.25, 8), (0.0, 10)]:
        env, rng = make("mitch_jp", 10, TINY, self_play=self_play), np.random.default_rng(2)
        env.reset()
        seats: list[set[int]] = [set() for _ in range(10)]
        over = np.zeros(10, np.bool_)
        while not over.all():
            _, _, done, _ = env.step(choose(env, rng))
            for row in np.flatnonzero(~over):
                seats[row].add(int(env.actor[row]))
            over |= done
        assert sum(len(one) == 1 for one in seats) == n_mixed, self_play
    with pytest.raises(ValueError, match=r"self_play=0\.5: .*opponents"):
        make("mitch_jp", 4, TINY, self_play=0.5, opponents=[])
    make("mitch_jp", 4, TINY, self_play=1.0, opponents=[])


# --- What is paid.


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("name", GAMES)
def test_what_is_paid_reaches_every_seat_scaled_whoever_acted(name: str, reward: str) -> None:
    env, rng = make(name, 12, reward=reward, reward_scale=4.0, self_play=0.5), np.random.default_rng(3)
    env.reset()
    players = int(env.batch.tables[0].players)
    paid, n_done, losers = np.zeros((12, players)), 0, 0
    while n_done < 24:
        _, own, done, _ = env.step(choose(env, rng))
        assert np.array_equal(own, env.paid[np.arange(12), env.actor])
        assert np.array_equal(env.scored, done), "matches of one deal"
        paid += env.paid
        for row in np.flatnonzero(done):
            if reward == "points":
                assert np.allclose(4 * paid[row], np.round(4 * paid[row]), atol=1e-5)
            else:
                assert paid[row].sum() == pytest.approx(0, abs=1e-3)
            if reward == "outcome":
                assert paid[row][paid[row] > 0].sum() == pytest.approx(0.25) or not paid[row].any()
            losers += int((paid[row] < 0).sum())
            paid[row] = 0
            n_done += 1
    assert reward == "points" or losers >= 24


def test_deals_and_matches_are_counted() -> None:
    options = {**TINY, "deals": 3}
    env, rng = make("mitch_jp", 5, options, self_play=0.4), np.random.default_rng(4)
    env.reset()
    n_done = n_scored = 0
    while n_done < 30:
        _, _, done, _ = env.step(choose(env, rng))
        n_done += int(done.sum())
        n_scored += int(env.scored.sum())
        assert np.all(env.scored[done]), "a match ends with a deal"
        assert env.n_matches == n_done
        assert env.n_deals >= n_scored
    assert 3 * n_done <= env.n_deals <= 3 * (n_done + 5)


def test_with_outcome_rewards_a_segment_is_a_match() -> None:
    options = {**TINY, "deals": 3}
    env, rng = make("mitch_jp", 5, options, reward="outcome", self_play=0.4), np.random.default_rng(4)
    env.reset()
    for _ in range(100):
        _, _, done, _ = env.step(choose(env, rng))
        assert np.array_equal(env.scored, done)
        assert not env.paid[~done].any()


# --- How it is stepped.


@pytest.mark.parametrize("encoder", ["flat", "canonical"])
@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("name", GAMES)
def test_opponents_play_legally_in_whatever_names_they_and_the_tables_use(name: str, canonical: bool, encoder: str) -> None:
    opponent = Counting(encoder)
    env, rng = make(name, 8, canonical=canonical, self_play=0.0, opponents=[opponent]), np.random.default_rng(6)
    play = env.batch.step
    assert not env.batch.check

    def checked(actions: Any, rows: Any = None) -> None:
        where = np.arange(8) if rows is None else rows
        assert np.all(env.batch.mask[where, actions])
        play(actions, rows)

    env.batch.step = checked  # type: ignore[method-assign]
    env.reset()
    for _ in range(60):
        env.step(choose(env, rng))
    assert opponent.decisions > 100


@pytest.mark.parametrize("changes", [{"threads": 2}, {"seed": 6}, {}])
def test_the_same_seed_gives_the_same_play_whatever_the_threads(changes: dict[str, int]) -> None:
    envs = [make("mitch_jp", 16, self_play=0.5, **more) for more in ({}, changes)]
    observations = [env.reset() for env in envs]
    same = [np.array_equal(*observations)]
    for step in range(40):
        results = [env.step(choose(env, np.random.default_rng(step))) for env in envs]
        same += [np.array_equal(one, other) for one, other in zip(results[0][:3], results[1][:3], strict=True)]
        same.append(np.array_equal(envs[0].paid, envs[1].paid))
    assert all(same) != ("seed" in changes)


def test_results_are_copies_and_reset_goes_on_with_the_matches() -> None:
    env, rng = make("mitch_jp", 4, self_play=0.5), np.random.default_rng(7)
    first = env.reset()
    kept = first.copy()
    second, _, done, infos = env.step(choose(env, rng))
    assert np.array_equal(first, kept) and not np.array_equal(first, second)
    assert isinstance(env, VecEnv) and env.num_envs == 4 and len(infos) == 4 and infos == [{}] * 4
    assert (second.dtype, done.dtype) == (np.float32, np.bool_)
    assert env.observation_space.contains(second[0]) and second.shape == (4, *env.observation_space.shape)
    before = env.batch.tables.tobytes()
    assert np.array_equal(env.reset(), second) and env.batch.tables.tobytes() == before
    assert np.array_equal(second, env.batch.observation) and not np.shares_memory(second, env.batch.observation)


def test_what_the_interface_asks_for_besides() -> None:
    env = make("mitch_jp", 4, TINY)
    masks = env.env_method("action_masks")
    assert len(masks) == 1 and masks[0].shape == (4, env.action_space.n) and masks[0].dtype == np.bool_
    assert env.has_attr("action_masks") and not env.has_attr("something")
    assert env.get_attr("render_mode") == [None] * 4 and env.env_is_wrapped(object) == [False] * 4
    for call in (lambda: env.env_method("fly"), lambda: env.get_attr("wings"), lambda: env.set_attr("wings", 2)):
        with pytest.raises(AttributeError, match=r"fly|wings"):
            call()
    env.close()


def test_no_match_that_is_over_is_left_standing() -> None:
    env, rng = make("mitch_ru", 6, {**TINY, "ranks": 4}, self_play=0.3), np.random.default_rng(8)
    env.reset()
    for _ in range(200):
        env.step(choose(env, rng))
        assert not np.any(env.batch.tables.phase == PHASE_OVER) and env.batch.actor.min() >= 0


@pytest.mark.parametrize("encoder", ["flat", "canonical"])
@pytest.mark.parametrize("canonical", [False, True])
def test_the_teacher_says_what_it_would_do_in_the_learners_place(canonical: bool, encoder: str) -> None:
    env, rng = make("mitch_jp", 8, canonical=canonical, self_play=0.5), np.random.default_rng(6)
    twin = make("mitch_jp", 8, canonical=canonical, self_play=0.5)
    env.reset(), twin.reset()

    class Last(Counting):
        def act_batch(self, view: View) -> np.ndarray:
            self.decisions += len(view)
            return view.mask.shape[1] - 1 - np.argmax(view.mask[:, ::-1], 1)

    teacher = env.teacher = Last(encoder)
    for _ in range(20):
        asked = act(teacher, env.batch, np.arange(8))
        actions = choose(env, rng)
        results = env.step(actions)
        assert np.array_equal(env.taught, asked)
        assert np.array_equal(results[0], twin.step(actions)[0]), "it changes nothing in the play"
    assert teacher.decisions == 2 * 20 * 8


# --- Opponents that come and go.


def test_of_the_snapshots_the_latest_stay_behind_the_fixed_opponents() -> None:
    fixed = [Counting(), Counting()]
    env, rng = make("mitch_jp", 6, TINY, self_play=0.0, opponents=fixed), np.random.default_rng(9)
    env.reset()
    snapshots = [Counting() for _ in range(7)]
    for number, snapshot in enumerate(snapshots, 1):
        env.add_opponent(snapshot, 3)
        assert env.opponents == fixed + snapshots[max(0, number - 3) : number]
        for _ in range(60):
            env.step(choose(env, rng))
    played = [one.decisions for one in snapshots]
    for _ in range(60):
        env.step(choose(env, rng))
    assert [one.decisions > before for one, before in zip(snapshots, played, strict=True)] == [False] * 4 + [True] * 3
    assert min(played) > 0 and all(one.decisions > 0 for one in fixed)


def test_each_fixed_opponent_is_drawn_as_often_as_all_snapshots_together() -> None:
    fixed, snapshots = [Counting(), Counting()], [Counting() for _ in range(3)]
    env, rng = make("mitch_jp", 40, TINY, self_play=0.0, opponents=fixed), np.random.default_rng(9)
    for snapshot in snapshots:
        env.add_opponent(snapshot, 3)
    env.reset()
    for one in fixed + snapshots:
        one.decisions = 0
    for _ in range(300):
        env.step(choose(env, rng))
    total = sum(one.decisions for one in fixed + snapshots)
    assert [one.decisions / total for one in fixed] == pytest.approx([1 / 3] * 2, abs=0.04)
    assert [one.decisions / total for one in snapshots] == pytest.approx([1 / 9] * 3, abs=0.04)
