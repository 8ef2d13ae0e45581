"""What the wrappers pay: at the end, or shaped by potentials, and what the ready-made potentials say."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from games import EVERY_TABLE, some_options, times
from wrapped import decisions, every_game, every_table, first_feature, gym, gym_vec, is_over, short

from mitch_env import GAMES, Batch, OptionsError, make
from mitch_env.encoders import OBSERVATIONS
from mitch_env.mitch.describe import points_now
from mitch_env.wrappers import (
    DenseReward,
    FixedFrame,
    PermutedSeats,
    ShapedReward,
    SparseReward,
    shed,
    standing,
)

# --- What is paid.


def played_aec(env: Any, seed: int) -> dict[str, list[float]]:
    """What ``last`` and the end of a random match pay each agent, and what each step pays, as one."""
    by_last: dict[str, list[float]] = {agent: [] for agent in env.possible_agents}
    by_step = dict.fromkeys(env.possible_agents, 0.0)
    env.reset(seed=seed)
    by_step = {agent: by_step[agent] + reward for agent, reward in env.rewards.items()}
    rng = np.random.default_rng(seed)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        assert type(reward) is float
        by_last[agent].append(reward)
        if terminated or truncated:
            env.step(None)
            continue
        env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        by_step = {other: by_step[other] + reward for other, reward in env.rewards.items()}
    assert {agent: pytest.approx(sum(paid), abs=1e-6) for agent, paid in by_last.items()} == by_step
    return by_last


@pytest.mark.parametrize("reward", ["points", "relative", "outcome"])
@every_table
def test_dense_rewards_sum_to_the_returns_of_every_seat(name: str, players: int, reward: str) -> None:
    n_dense = 0
    options = list(some_options(GAMES[name], players, 4, players))
    for seed, one in enumerate(options[1:] if name == "mitchell" else options):
        plain = played_aec(make(name, options=one, reward=reward), seed)
        dense = played_aec(DenseReward(make(name, options=one, reward=reward)), seed)
        sparse = played_aec(SparseReward(make(name, options=one, reward=reward)), seed)
        for agent, paid in plain.items():
            assert len(dense[agent]) == len(sparse[agent]) == len(paid)
            assert sum(dense[agent]) == pytest.approx(sum(paid), abs=1e-3)
            assert sparse[agent][:-1] == [0.0] * (len(paid) - 1)
            assert sparse[agent][-1] == pytest.approx(sum(paid), abs=1e-3)
            n_dense += np.count_nonzero(dense[agent]) > np.count_nonzero(paid)
    assert n_dense > 0


@pytest.mark.parametrize("discount", [1.0, 0.9, 0.0])
@pytest.mark.parametrize("name", ["mitch_jp", "mitchell"])
def test_shaping_is_the_formula(name: str, discount: float) -> None:
    """discount x phi(next own observation) - phi(last own one), 0 after the end; by hand from what is seen."""
    plain = make(name, **short(name))
    layout, seen, rewards = plain.observation_layout(), {}, {}
    paid: dict[str, list[float]] = {agent: [] for agent in plain.possible_agents}
    plain.reset(seed=3)
    rng = np.random.default_rng(3)
    for agent in plain.agent_iter():
        observation, reward, terminated, truncated, _ = plain.last()
        phi = 0.0 if terminated or truncated else float(first_feature(observation["observation"], layout))
        shaped = discount * phi - seen[agent] if agent in seen else 0.0
        paid[agent].append(reward + shaped)
        seen[agent] = phi
        if terminated or truncated:
            plain.step(None)
            continue
        plain.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    env = ShapedReward(make(name, **short(name)), {"first": first_feature}, discount)
    rewards = played_aec(env, 3)
    assert rewards == {agent: pytest.approx(list_of, abs=1e-5) for agent, list_of in paid.items()}


@pytest.mark.parametrize("wrapper", [lambda env: env, PermutedSeats, lambda env: PermutedSeats(FixedFrame(env), [1, 2, 0])])
@pytest.mark.parametrize("form", OBSERVATIONS)
def test_shaping_does_not_depend_on_the_form_the_frame_or_the_names(form: str, wrapper: Any) -> None:
    name = "mitch_jp"
    plain = played_aec(ShapedReward(make(name, **short(name)), {"first": first_feature}, 0.9), 2)
    inside = wrapper(ShapedReward(make(name, observation=form, **short(name)), {"first": first_feature}, 0.9))
    outside = ShapedReward(wrapper(make(name, observation=form, **short(name))), {"first": first_feature}, 0.9)
    for env in (inside, outside):
        paid = played_aec(env, 2)
        for agent in env.possible_agents:
            assert paid[agent] == pytest.approx(plain[f"player_{env.seat_of(agent)}"], abs=1e-9)


@every_game
def test_the_learners_dense_rewards_sum_to_its_return(name: str) -> None:
    plain, env, sparse = gym(name, **short(name)), DenseReward(gym(name, **short(name))), SparseReward(gym(name, **short(name)))
    env.action_space.seed(2)
    n_dense = 0
    for seed in range(8):
        for one in (plain, env, sparse):
            one.reset(seed=seed)
        paid: list[tuple[float, ...]] = []
        over = False
        while not over:
            action = env.action_space.sample()
            steps = [one.step(action) for one in (plain, env, sparse)]
            paid.append(tuple(step[1] for step in steps))
            over = steps[0][2] or steps[0][3]
        without, dense, at_end = np.array(paid).T
        assert dense.sum() == pytest.approx(without.sum(), abs=1e-3)
        assert at_end[-1] == pytest.approx(without.sum(), abs=1e-3) and not at_end[:-1].any()
        n_dense += np.count_nonzero(dense) > np.count_nonzero(without)
    assert n_dense > 4


@every_game
def test_dense_rewards_of_many_tables_sum_to_the_returns_match_by_match(name: str) -> None:
    plain, many = gym_vec(name, 4, **short(name)), DenseReward(gym_vec(name, 4, **short(name)))
    plain.reset(seed=1)
    many.reset(seed=1)
    many.action_space.seed(1)
    owed, n_ended = np.zeros(4), 0
    for _ in range(times(300)):
        actions = many.action_space.sample()
        _, reward, terminated, truncated, _ = plain.step(actions)
        _, paid, *_ = many.step(actions)
        owed += paid - reward
        over = terminated | truncated
        assert np.allclose(owed[over], 0.0, atol=1e-3)
        n_ended += int(over.sum())
    assert n_ended > 4


@pytest.mark.parametrize(("name", "players"), [table for table in EVERY_TABLE if table[0] != "mitchell"])
def test_standing_is_what_the_deal_would_pay_now(name: str, players: int) -> None:
    """The table's own scoring says the same, for every option but those that the docstring leaves out."""
    options = [one for one in some_options(GAMES[name], players, 60, 3) if one.scoring == "suits" and not one.waiting_penalty]
    options += [GAMES[name].options(players=players, scoring="suits", lost_column_penalty=one) for one in (True, False)]
    batch = Batch(name, options=options, seed=1, seats_encoded=5)
    layout, found = batch.observation_layout(), set()
    for _ in range(times(60)):
        batch.step(batch.random_actions())
        now = standing(batch.observation, layout)
        for row in range(0, len(batch), 3):
            points = points_now(batch.tables[row])[batch.actor[row]]
            assert now[row] == points
            found.add(points)
    assert len(found) > 5 and min(found) < 0 < max(found)
    assert standing(batch.observation.reshape(1, -1, layout.size), layout).shape == (1, len(batch))


def test_standing_of_the_longest_column_is_who_would_win() -> None:
    for tie_break in ("high", "low"):
        batch = Batch("mitch_ru", 60, players=4, seed=2, playoffs=0, tie_break=tie_break)
        layout, found = batch.observation_layout(), Counter()
        for _ in range(times(60)):
            batch.step(batch.random_actions())
            now = standing(batch.observation, layout)
            for row in range(0, len(batch), 4):
                table, actor = batch.tables[row], int(batch.actor[row])
                worth = [max((longest(table, seat, suit, tie_break) for suit in range(4)), default=(0, 0)) for seat in range(4)]
                assert now[row] == (worth[actor] == max(worth) != (0, 0))
                found[float(now[row])] += 1
        assert min(found[0.0], found[1.0]) > 10


def longest(table: Any, seat: int, suit: int, tie_break: str) -> tuple[int, int]:
    ranks = [rank for rank in range(13) if int(table.tableau[seat]) >> 13 * suit + rank & 1]
    return (len(ranks), min(ranks) if tie_break == "high" else -min(ranks)) if ranks else (0, 0)


def test_shed_grows_by_a_part_of_the_win_with_every_card_less_than_dealt() -> None:
    rules = {"players": 3, "hand_size": 5, "rounds": 1}
    batch = Batch("mitchell", 40, seed=2, **rules)
    layout, found = batch.observation_layout(), set()
    for _ in range(times(40)):
        held = batch.tables.n_held[np.arange(40), batch.actor].astype(int)
        phi = shed(batch.observation, layout)
        assert phi.tolist() == pytest.approx([200 * max(0, 5 - n) / 5 for n in held])
        found |= set(held.tolist())
        batch.step(batch.random_actions())
    assert found > {1, 2, 3, 4, 5, 6, 7}


def test_the_metadata_names_what_is_paid_and_nothing_is_shaped_unless_asked() -> None:
    for plain in (make("mitch_jp"), gym("mitch_jp"), gym_vec("mitch_jp", 2)):
        before = dict(plain.metadata)
        assert "reward_shaping" not in before and "reward" not in before
        env = ShapedReward(DenseReward(plain, 0.9, weight=0.1), {"mine": first_feature}, 0.99)
        assert env.metadata["reward"] == "points + 0.1 x standing + mine"
        assert env.metadata["reward_shaping"] == [
            {"potential": "0.1 x standing", "discount": 0.9},
            {"potential": "mine", "discount": 0.99},
        ]
        assert SparseReward(env).metadata["reward"] == "points + 0.1 x standing + mine, all at the match's end"
        assert plain.metadata == before and {name: env.metadata[name] for name in before} == before
    assert DenseReward(make("mitchell", reward="outcome")).metadata["reward"] == "outcome + shed"


def test_restore_begins_to_pay_anew() -> None:
    for wrapper in (SparseReward, DenseReward):
        env = wrapper(make("mitch_jp"))
        for number, _ in enumerate(decisions(env, 1)):
            if number == 20:
                break
        snapshot = env.snapshot()
        runs = []
        for _ in range(2):
            env.restore(snapshot)
            assert set(env.rewards.values()) == set(env._cumulative_rewards.values()) == {0.0}
            rng, paid = np.random.default_rng(4), dict.fromkeys(env.agents, 0.0)
            while not is_over(env):
                env.step(int(rng.choice(np.flatnonzero(env.last()[0]["action_mask"]))))
                paid = {agent: paid[agent] + reward for agent, reward in env.rewards.items()}
            runs.append(paid)
        assert runs[0] == runs[1] and any(runs[0].values())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"potentials": {}}, "functions by name are needed"),
        ({"potentials": [standing]}, "functions by name are needed"),
        ({"potentials": {"standing": 3}}, "'standing': '?3'? is no function"),
        ({"potentials": {"a": standing}, "discount": 1.5}, "discount=1.5: a number from 0 to 1"),
        ({"potentials": {"a": standing}, "discount": True}, "discount=True"),
    ],
)
@pytest.mark.parametrize("kind", ["table", "one", "many"])
def test_wrong_shaping_is_refused(settings: dict[str, Any], words: str, kind: str) -> None:
    env = {"table": make("mitch_jp"), "one": gym("mitch_jp"), "many": gym_vec("mitch_jp", 2)}[kind]
    with pytest.raises(OptionsError, match=words):
        ShapedReward(env, **settings)


def test_a_potential_that_gives_no_number_for_each_is_named() -> None:
    def of_no_shape(flat: np.ndarray, layout: Any) -> Any:
        return np.zeros((3, 2))

    def not_finite(flat: np.ndarray, layout: Any) -> Any:
        return np.nan + flat[..., 0]

    for wrong in (of_no_shape, not_finite):
        for env in (make("mitch_jp"), gym("mitch_jp"), gym_vec("mitch_jp", 2)):
            with pytest.raises(ValueError, match="potential 'crooked' gave"):
                ShapedReward(env, {"crooked": wrong}).reset(seed=1)
    with pytest.raises(ValueError, match=r"potential 'crooked' gave 1\.0 of shape"):
        ShapedReward(gym_vec("mitch_jp", 2), {"crooked": lambda flat, layout: 1.0}).reset(seed=1)
