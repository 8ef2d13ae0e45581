"""Every seat learns from its own rewards: the links between decisions, checked against matches that are played again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from games import EVERY_TABLE
from gymnasium.spaces import Box, Discrete

from agents.uniform import RandomAgent
from mitch_env import Batch, TableEnv, get_game
from mitch_env.chance import match_seeds
from mitch_env.game import NOBODY, PHASE_OVER
from mitch_env.rewards import REWARDS
from train.rollouts import SeatRolloutBuffer, seat_advantages
from train.table_vec_env import TableVecEnv

torch.set_num_threads(1)


@dataclass
class Decision:
    """One decision at one table, as a replay shows it.

    Attributes:
        seat: Who decided.
        n_legal: How many actions were legal.
        paid: What each seat was paid before the next decision.
        ended: Whether a segment ended: a deal was scored, or (outcome) the match ended.
        step: Which step of the window it was; None if an opponent decided.
    """

    seat: int
    n_legal: int
    paid: list[float]
    ended: bool
    step: int | None


def some_deals(game_name: str, players: int, deals: int) -> dict[str, Any]:
    """Options for a number of players and deals, whatever the game calls a deal."""
    defaults = get_game(game_name).defaults
    name = next(name for name in ("deals", "rounds") if hasattr(defaults, name))
    return {"players": players, name: deals}


def steps_of_a_match(game_name: str, options: dict[str, Any]) -> int:
    """As many steps as the longest of some random matches has."""
    batch = Batch(game_name, 16, options=options, seed=3)
    over, steps = np.zeros(16, np.bool_), 0
    while not over.all():
        batch.step(batch.random_actions())
        over |= batch.terminated | batch.truncated
        steps += 1
    return steps


class Played:
    """A window of random play: the environment, the buffer, and every decision of every table in the table's own names."""

    def __init__(self, env: TableVecEnv, window: int, seed: int, gamma: float = 1.0, lam: float = 1.0) -> None:
        self.env, self.window = env, window
        self.actions: list[list[tuple[int, int | None]]] = [[] for _ in range(env.num_envs)]
        self._step: int | None = None
        self._spy_on_steps()
        rng = np.random.default_rng(seed)
        space = Discrete(env.batch.n_actions)
        box = Box(0.0, 1.0, (env.batch.observation.shape[1],), np.float32)
        self.buffer = SeatRolloutBuffer(window, box, space, "cpu", lam, gamma, env.num_envs, env=env, seed=seed)
        observation = env.reset()
        starts = np.ones(env.num_envs, np.bool_)
        for self._step in range(window):
            masks = env.batch.mask.copy()
            actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
            values = torch.from_numpy(rng.normal(size=env.num_envs).astype(np.float32))
            after, reward, done, _ = env.step(actions)
            self.buffer.add(observation, actions.reshape(-1, 1), reward, starts, values, values, action_masks=masks)
            observation, starts = after, done
        self.next_seats = env.batch.actor.copy()
        self.next_values = rng.normal(size=env.num_envs).astype(np.float32)
        self.buffer.compute_returns_and_advantage(torch.from_numpy(self.next_values).reshape(-1, 1), starts)

    def _spy_on_steps(self) -> None:
        """Notes each action that is played, in the table's own names, and whose it was."""
        batch = self.env.batch
        play = batch.step

        def step(actions: Any, rows: Any = None) -> None:
            where = np.arange(len(batch)) if rows is None else np.asarray(rows)
            own = np.array(actions, np.int64)
            if batch.canonical:
                batch._kernels.rename_rows(batch._code, where, own, True, own)
            for row, action in zip(where.tolist(), own.tolist(), strict=True):
                self.actions[row].append((action, self._step if rows is None else None))
            play(actions, rows)

        batch.step = step  # type: ignore[method-assign]

    def replay(self, row: int, options: Any, seed: int, reward: str) -> list[Decision]:
        """The decisions of one table, from an environment of its own."""
        twin = TableEnv(self.env.batch.game, options, reward=reward, seats_encoded=self.env.batch.seats)
        twin.reset(seed=seed)
        decisions = []
        for action, step in self.actions[row]:
            while twin.table.actor == NOBODY:
                twin.reset()
            seat, before = int(twin.table.actor), int(twin.table.deals_done)
            n_legal = int(twin.observe(twin.agent_selection)["action_mask"].sum())
            twin.step(action)
            over = bool(twin.table.phase == PHASE_OVER)
            ended = over if reward == "outcome" else over or int(twin.table.deals_done) != before
            decisions.append(Decision(seat, n_legal, [twin.rewards[agent] for agent in twin.possible_agents], ended, step))
        return decisions


def play(
    game_name: str, options: Any, n: int, window: int, *, reward: str, self_play: float, canonical: bool = False, **chain: float
) -> tuple[Played, list[list[Decision]]]:
    """Plays a window at ``n`` tables and replays it; ``options`` is one mapping or a list of them."""
    game, seed = get_game(game_name), 17
    rules = [game.options(one) for one in options] if isinstance(options, list) else game.options(options)
    env = TableVecEnv(
        game, rules, n, seed=seed, reward=reward, canonical=canonical, self_play=self_play, opponents=[RandomAgent()]
    )
    played = Played(env, window, seed, **chain)
    seeds = match_seeds(seed, n).tolist()
    each = rules if isinstance(rules, list) else [rules] * n
    return played, [played.replay(row, each[row], seeds[row], reward) for row in range(n)]


def learnt(decisions: Sequence[Decision]) -> dict[int, int]:
    """Where in the list the decision of each step of the window is."""
    return {one.step: at for at, one in enumerate(decisions) if one.step is not None}


def rewards_to_the_end(decisions: Sequence[Decision], at: int) -> float | None:
    """What the seat of a decision is paid from it to the end of its segment, None if that is not reached."""
    total = 0.0
    for one in decisions[at:]:
        total += one.paid[decisions[at].seat]
        if one.ended:
            return total
    return None


def check_returns(played: Played, tables: list[list[Decision]]) -> int:
    """With gamma = lambda = 1: every return whose segment ends in the window is the seat's rewards until then."""
    n_checked = 0
    returns = played.buffer.advantages + played.buffer.values
    usable = played.buffer.usable
    for row, decisions in enumerate(tables):
        for step, at in learnt(decisions).items():
            expected = rewards_to_the_end(decisions, at)
            if expected is None:
                continue
            assert returns[step, row] == pytest.approx(expected, abs=1e-4), (row, step, decisions[at])
            assert usable[step, row] == (decisions[at].n_legal > 1)
            n_checked += 1
    return n_checked


@pytest.mark.parametrize("self_play", [1.0, 0.5])
@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_every_decision_earns_what_its_seat_is_paid_to_the_segments_end(
    name: str, players: int, reward: str, self_play: float
) -> None:
    options = some_deals(name, players, 2)
    played, tables = play(name, options, 2, steps_of_a_match(name, options) + 10, reward=reward, self_play=self_play)
    assert check_returns(played, tables) > 0
    learners = {(row, one.seat) for row, decisions in enumerate(tables) for one in decisions if one.step is not None}
    everybody = {(1, seat) for seat in range(players)}
    assert everybody <= learners, "a seat of a self-play table learns nothing"
    if self_play == 1.0:
        assert all(one.step is not None for decisions in tables for one in decisions)
    else:
        assert sum(one.step is None for one in tables[0]) > 0
        assert all(one.step is not None for one in tables[1])


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("name", sorted({name for name, _ in EVERY_TABLE}))
def test_tables_of_different_sizes_learn_side_by_side(name: str, canonical: bool) -> None:
    """Observations are numbered for the largest table; the others have seats that nobody sits in."""
    counts = [players for game, players in EVERY_TABLE if game == name]
    options = [some_deals(name, players, 1) for players in counts] * 2
    window = steps_of_a_match(name, options[-1]) + 10
    played, tables = play(name, options, len(options), window, reward="relative", self_play=0.5, canonical=canonical)
    assert played.env.batch.seats == max(counts)
    assert check_returns(played, tables) >= len(counts)


def test_a_play_off_belongs_to_the_deal_that_it_settles() -> None:
    """R7: a tie pays nothing and ends nothing; who lost the play-off, or sat out, is paid for the deal all the same."""
    options = {"players": 3, "suits": 2, "ranks": 3, "hand_size": 1, "clock_cards": 1, "deals": 2}
    seen = 0
    for reward in ("points", "relative"):
        played, tables = play("mitch_ru", options, 6, 120, reward=reward, self_play=0.5)
        check_returns(played, tables)
        twin = TableEnv(get_game("mitch_ru"), options, reward=reward)
        for row, seed in enumerate(match_seeds(17, 6).tolist()):
            twin.reset(seed=seed)
            for at, (action, step) in enumerate(played.actions[row]):
                in_playoff = twin.table.playoff > 0
                twin.step(action)
                if in_playoff and step is not None and rewards_to_the_end(tables[row], at) is not None:
                    first = at
                    while first > 0 and not tables[row][first - 1].ended:
                        first -= 1
                    own = [one.seat for one in tables[row][first:at]]
                    seen += tables[row][at].seat in own and len(set(own)) == 3
                if twin.table.phase == PHASE_OVER:
                    twin.reset()
    assert seen > 10


# --- The slow reference for any gamma and lambda.


def slow_advantages(
    decisions: Sequence[Decision],
    values: dict[int, float],
    next_seat: int,
    next_value: float,
    gamma: float,
    lam: float,
) -> dict[int, float]:
    """Step -> advantage of the decisions whose continuation is known: one seat after the other, from the definition."""
    known: dict[int, float] = {}
    for at in reversed(range(len(decisions))):
        own = decisions[at]
        if own.step is None:
            continue
        earned, later, after = 0.0, None, 0.0
        for j in range(at, len(decisions)):
            earned += decisions[j].paid[own.seat]
            if decisions[j].ended:
                break
            if j + 1 < len(decisions) and decisions[j + 1].seat == own.seat:
                later = decisions[j + 1].step
                assert later is not None, "within a segment a seat is either the learner's or not"
                after = values[later]
                break
        else:
            if next_seat != own.seat:
                continue
            after = next_value
        delta = earned + gamma * after - values[own.step]
        known[own.step] = delta + gamma * lam * (known.get(later, 0.0) if later is not None else 0.0)
    return known


@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 1.0), (0.9, 0.95), (1.0, 0.0), (0.5, 1.0), (0.0, 0.7)])
@pytest.mark.parametrize(("name", "players"), [(name, players) for name, players in EVERY_TABLE if players in (2, 4)])
def test_advantages_equal_a_slow_reference(name: str, players: int, gamma: float, lam: float) -> None:
    options = some_deals(name, players, 1)
    window = steps_of_a_match(name, options) + 10
    played, tables = play(name, options, 2, window, reward="points", self_play=0.5, canonical=True, gamma=gamma, lam=lam)
    usable = played.buffer.usable
    left_out = 0
    for row, decisions in enumerate(tables):
        values = dict(enumerate(played.buffer.values[:, row].tolist()))
        expected = slow_advantages(decisions, values, int(played.next_seats[row]), float(played.next_values[row]), gamma, lam)
        for step, at in learnt(decisions).items():
            if step in expected:
                assert played.buffer.advantages[step, row] == pytest.approx(expected[step], abs=1e-4), (row, step)
                assert usable[step, row] == (decisions[at].n_legal > 1)
            else:
                assert not usable[step, row]
                assert played.buffer.returns[step, row] == played.buffer.values[step, row]
                left_out += 1
    assert left_out <= players - 1, "only the last decision of each seat but the next can have no continuation"


def random_window(rng: np.random.Generator, steps: int, n: int, seats: int) -> dict[str, np.ndarray]:
    """Arguments of ``seat_advantages`` of no particular game; a seat may decide several times in a row."""
    return {
        "actor": rng.integers(0, seats, (steps, n)).astype(np.int8),
        "paid": rng.normal(size=(steps, n, seats)).astype(np.float32),
        "scored": rng.random((steps, n)) < 0.15,
        "values": rng.normal(size=(steps, n)).astype(np.float32),
        "next_actor": rng.integers(0, seats, n).astype(np.int8),
        "next_values": rng.normal(size=n).astype(np.float32),
    }


@pytest.mark.parametrize("seed", range(12))
def test_seat_advantages_equal_the_slow_reference_on_random_windows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps, n, seats = int(rng.integers(1, 40)), int(rng.integers(1, 5)), int(rng.integers(2, 6))
    gamma, lam = rng.choice([0.0, 0.3, 0.99, 1.0], 2)
    window = random_window(rng, steps, n, seats)
    before = {name: array.copy() for name, array in window.items()}
    advantages, complete = seat_advantages(**window, gamma=gamma, lam=lam)
    assert all(np.array_equal(window[name], before[name]) for name in window), "the inputs are left alone"
    assert advantages.dtype == np.float32 and complete.dtype == np.bool_
    for row in range(n):
        decisions = [
            Decision(int(window["actor"][t, row]), 2, window["paid"][t, row].tolist(), bool(window["scored"][t, row]), t)
            for t in range(steps)
        ]
        values = dict(enumerate(window["values"][:, row].tolist()))
        expected = slow_advantages(
            decisions, values, int(window["next_actor"][row]), float(window["next_values"][row]), gamma, lam
        )
        assert set(np.flatnonzero(complete[:, row]).tolist()) == set(expected)
        for t in range(steps):
            assert advantages[t, row] == pytest.approx(expected.get(t, 0.0), abs=1e-4)


def test_three_decisions_by_hand() -> None:
    """Seats 0, 1, 0 decide; then seat 1 must. gamma = 0.5, lambda = 0.5."""
    advantages, complete = seat_advantages(
        actor=np.array([[0], [1], [0]], np.int8),
        paid=np.array([[[1, 2]], [[4, 8]], [[16, 32]]], np.float32),
        scored=np.zeros((3, 1), np.bool_),
        values=np.array([[0.5], [0.25], [0.125]], np.float32),
        next_actor=np.array([1], np.int8),
        next_values=np.array([10.0], np.float32),
        gamma=0.5,
        lam=0.5,
    )
    # Seat 0: 1 + 4, then its own next value halved. Seat 1: 8 + 32, then the value after the window halved.
    assert advantages[:, 0].tolist() == [5 + 0.5 * 0.125 - 0.5, 40 + 0.5 * 10 - 0.25, 0.0]
    assert complete[:, 0].tolist() == [True, True, False]


# --- The samples.


def test_each_usable_decision_is_sampled_once_an_epoch() -> None:
    played, _ = play("mitch_jp", some_deals("mitch_jp", 3, 1), 3, 40, reward="relative", self_play=1.0)
    buffer = played.buffer
    n_usable = int(buffer.usable.sum())
    flat = buffer.values.flatten()
    masks = buffer.action_masks.reshape(-1, buffer.mask_dims)
    advantages = buffer.advantages.flatten()
    for batch_size in (None, 7, 16, 10_000):
        parts = list(buffer.get(batch_size))
        values = np.concatenate([part.old_values.numpy() for part in parts])
        assert sorted(values.tolist()) == sorted(flat[buffer.usable.flatten()].tolist())
        sizes = [len(part.old_values) for part in parts]
        assert sum(sizes) == n_usable and max(sizes) <= (batch_size or n_usable) and max(sizes) - min(sizes) <= 1
        for part in parts:
            assert torch.all(part.action_masks.sum(1) > 1)
            where = [int(np.flatnonzero(flat == value)[0]) for value in part.old_values.numpy()]
            assert np.array_equal(part.action_masks.numpy(), masks[where])
            assert np.array_equal(part.advantages.numpy(), advantages[where])
            assert np.allclose(part.returns.numpy(), (flat + advantages)[where], atol=1e-6)
    again = np.concatenate([part.old_values.numpy() for part in buffer.get(16)])
    assert again.tolist() != values.tolist(), "the order is drawn anew"


@pytest.mark.parametrize("n_usable", [0, 1, 3])
def test_no_batch_is_too_small_to_normalise(n_usable: int) -> None:
    """PPO divides by the standard deviation of a batch's advantages: of one decision it is not a number."""
    played, _ = play("mitch_jp", some_deals("mitch_jp", 3, 1), 1, 20, reward="relative", self_play=1.0)
    usable = np.flatnonzero(played.buffer.usable)
    played.buffer.usable[:] = False
    played.buffer.usable.flat[usable[:n_usable]] = True
    for size in (4, 5, 4096):
        assert all(len(part.advantages) >= 2 for part in played.buffer.get(size))


def test_explained_variance_is_that_of_the_usable_decisions() -> None:
    played, _ = play("mitch_jp", some_deals("mitch_jp", 3, 1), 3, 60, reward="points", self_play=1.0)
    buffer = played.buffer
    flat_returns = buffer.returns[buffer.usable]
    flat_values = buffer.values[buffer.usable]
    expected = 1 - np.var(flat_returns - flat_values) / np.var(flat_returns)
    assert buffer.explained_variance() == pytest.approx(expected, rel=1e-4)
    list(buffer.get(32))
    assert buffer.explained_variance() == pytest.approx(expected, rel=1e-4)
