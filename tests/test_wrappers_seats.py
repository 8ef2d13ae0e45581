"""Who sits where, in whose frame it is seen, under which names of suits."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from games import times
from scipy.stats import chisquare
from wrapped import decisions, every_game, every_table, gym, gym_vec, is_over, row_of, short

from mitch_env import GAMES, IllegalActionError, OptionsError, make
from mitch_env.encoders import OBSERVATIONS, split
from mitch_env.wrappers import (
    FixedFrame,
    PermutedSeats,
    RandomSuits,
)

# --- Who sits where.


@every_table
def test_permuted_seats_are_the_same_match_under_other_names(name: str, players: int) -> None:
    order = np.random.default_rng(players).permutation(players).tolist()
    plain = make(name, players=players, **short(name))
    env = PermutedSeats(make(name, players=players, **short(name)), order)
    name_of = {f"player_{seat}": f"player_{agent}" for agent, seat in enumerate(order)}
    plain.reset(seed=4)
    env.reset(seed=4)
    rng = np.random.default_rng(4)
    n_decisions = 0
    for _ in range(times(80)):
        check_same_names(plain, env, name_of)
        if is_over(plain):
            break
        assert env.agent_selection == name_of[plain.agent_selection]
        assert env.seat_of(env.agent_selection) == plain.table.actor == order[int(env.agent_selection[-1])]
        action = int(rng.choice(np.flatnonzero(plain.last()[0]["action_mask"])))
        plain.step(action)
        env.step(action)
        assert env.table.tobytes() == plain.table.tobytes()
        n_decisions += 1
    assert n_decisions > 1


def check_same_names(plain: Any, env: Any, name_of: dict[str, str]) -> None:
    for attribute in ("rewards", "_cumulative_rewards", "terminations", "truncations", "infos", "observation_spaces"):
        inner, outer = getattr(plain, attribute), getattr(env, attribute)
        assert {name_of[agent]: value for agent, value in inner.items()} == outer, attribute
    assert env.agents == env.possible_agents == plain.possible_agents
    assert env.num_agents == env.max_num_agents == len(name_of)
    for inner, outer in name_of.items():
        seen, other = plain.observe(inner), env.observe(outer)
        assert {key: value.tobytes() for key, value in seen.items()} == {key: value.tobytes() for key, value in other.items()}
    last, other = plain.last(), env.last()
    assert last[0]["observation"].tobytes() == other[0]["observation"].tobytes() and last[1:] == other[1:]


@pytest.mark.parametrize("name", ["mitch_jp", "mitchell"])
def test_every_agent_is_paid_what_its_seat_is_paid(name: str) -> None:
    """Whole matches, through ``agent_iter``, to the last dead step."""
    env = PermutedSeats(make(name, reward="relative", **short(name)))
    orders = set()
    for seed in range(6):
        env.reset(seed=seed)
        orders.add(env.order)
        rng, paid, left = np.random.default_rng(seed), dict.fromkeys(env.possible_agents, 0.0), []
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            paid[agent] += reward
            if terminated or truncated:
                left.append(agent)
                env.step(None)
                assert agent not in env.agents and agent not in env.rewards
                continue
            env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        totals = env.table.totals[: len(paid)].astype(float)
        for agent in env.possible_agents:
            assert paid[agent] == pytest.approx(totals[env.seat_of(agent)] - totals.mean(), abs=1e-3)
        assert sorted(left) == env.possible_agents and env.agents == []
    assert len(orders) > 1


@pytest.mark.parametrize("depth", [1, 2])
def test_a_drawn_order_is_uniform_follows_from_the_seed_and_leaves_the_deals_alone(depth: int) -> None:
    env: Any = make("mitch_ru", players=3)
    plain = make("mitch_ru", players=3)
    for _ in range(depth):
        env = PermutedSeats(env)
    n, orders, alike = 1200, [], 0
    for seed in range(n):
        env.reset(seed=seed)
        plain.reset(seed=seed)
        assert env.table.tobytes() == plain.table.tobytes()
        orders.append(tuple(env.seat_of(agent) for agent in env.possible_agents))
        alike += depth == 2 and env.order == env.env.order
    counts = Counter(orders)
    assert set(counts) == set(itertools.permutations(range(3)))
    assert chisquare(list(counts.values())).pvalue > 1e-4
    assert alike < n / 3  # two on each other draw each on its own
    env.reset(seed=17)
    assert tuple(env.seat_of(agent) for agent in env.possible_agents) == orders[17]
    seats_of_player_0 = set()
    for _ in range(20):  # from match to match without a seed
        env.reset()
        seats_of_player_0.add(env.seat_of("player_0"))
    assert seats_of_player_0 == {0, 1, 2}


@every_table
def test_the_state_is_told_by_agent(name: str, players: int) -> None:
    seats = GAMES[name].rules.max_seats
    env = PermutedSeats(PermutedSeats(make(name, players=players, seats_encoded=seats)))
    for _ in itertools.islice(decisions(env, 8), times(20)):
        pass
    state, layout, inner = env.state(), env.state_layout(), env.unwrapped.state_layout()
    plain = env.unwrapped.state()
    assert env.unwrapped.state_space.contains(state) and layout.size == len(state) and layout.hash != inner.hash
    for block, where in layout:
        old = plain[inner.slices["view_of_seat_0" if block.name == "view_of_player_0" else block.name]]
        if block.per_seat:
            rows, expected = state[where].reshape(seats, -1), old.reshape(seats, -1)
            for agent, row in zip(env.possible_agents, rows[:players], strict=True):
                assert row.tolist() == expected[env.seat_of(agent)].tolist()
            assert not rows[players:].any()
        elif block.name == "view_of_player_0":
            assert state[where].tobytes() == env.observe("player_0")["observation"].tobytes()
        else:
            assert state[where].tobytes() == old.tobytes()
    assert "player_0 first" in layout.blocks[0].meaning


def test_an_order_that_is_none_is_refused() -> None:
    for wrong in ([0, 1], [0, 1, 1], [1, 2, 3], 3, "012", [0.0, 1.0, 2.0], [0, 1, 2, 3]):
        with pytest.raises(OptionsError, match="each seat from 0 to 2 once is needed, or None"):
            PermutedSeats(make("mitch_jp"), wrong)
    assert PermutedSeats(make("mitch_jp"), np.array([2, 0, 1])).order == (2, 0, 1)


def test_a_redealt_world_keeps_the_order() -> None:
    env = PermutedSeats(make("mitch_jp"))
    for number, _ in enumerate(decisions(env, 1)):
        if number == 5:
            break
    order, agent = env.order, env.agent_selection
    for key in range(10):
        env.restore(env.redeal_hidden(env.seat_of(agent), key))
        assert (env.order, env.agent_selection) == (order, agent)


# --- In whose frame it is seen.

#: What everybody sees alike, block by block.
PUBLIC = {
    "mitch": "discards tableau bottom length leads hand_size total turn dealer taking_part waited clock_seen clock_left stock",
    "mitchell": "discards suit top action action_suit center hand_size mitchell target turn total stock round deck",
}


@every_table
def test_in_a_fixed_frame_all_see_the_same_of_what_is_public(name: str, players: int) -> None:
    rules, seat = GAMES[name].rules, players // 2
    plain = make(name, players=players, seats_encoded=rules.max_seats, **short(name))
    env = FixedFrame(plain, seat)
    layout = env.observation_layout()
    old = plain.observation_layout()
    for agent in itertools.islice(decisions(env, 5), times(40)):
        framed = [env.observe(other)["observation"] for other in env.possible_agents]
        for observer, seen in enumerate(framed):
            assert env.observation_space(agent)["observation"].contains(seen)
            before = plain.observe(f"player_{observer}")["observation"]
            for block, where in old:
                entries = before[where].reshape(-1, block.size)
                if block.per_seat:
                    entries[:players] = np.roll(entries[:players], observer - seat, axis=0)
                assert seen[where].tobytes() == entries.tobytes(), block.name
            assert np.flatnonzero(seen[layout.slices["observer"]]).tolist() == [(observer - seat) % players]
        blocks = [split(layout, seen) for seen in framed]
        for block in PUBLIC[rules.name].split():
            assert all(np.array_equal(one[block], blocks[seat][block]) for one in blocks), block
        assert blocks[0]["turn"][(int(plain.table.turn) - seat) % players] == 1
        assert np.array_equal(env.observe(agent)["action_mask"], plain.observe(agent)["action_mask"])


def test_the_layout_of_a_frame_has_a_hash_of_its_own() -> None:
    plain = make("mitch_jp")
    layouts = [FixedFrame(make("mitch_jp"), seat).observation_layout() for seat in range(3)]
    assert len({plain.observation_layout().hash, *(layout.hash for layout in layouts)}) == 4
    assert [layout.first_seat for layout in layouts] == [0, 1, 2]
    assert layouts[1].size == plain.observation_layout().size + 3
    assert "| `observer` | 3 x 1 | 544 to 546 |" in layouts[0].markdown()
    assert FixedFrame(gym("mitch_jp"), 2).observation_layout() == layouts[2]
    assert FixedFrame(gym_vec("mitch_jp", 2), 2).observation_layout() == layouts[2]


@pytest.mark.parametrize("kind", ["table", "one", "many"])
@pytest.mark.parametrize("name", ["mitch_jp", "mitchell"])
def test_every_form_says_the_same_in_the_frame(name: str, kind: str) -> None:
    """Everything can be read back from every form; events tell seats as the blocks do."""
    shown: dict[str, list[Any]] = {}
    for form in OBSERVATIONS:
        shown[form] = list(itertools.islice(framed_observations(name, kind, form), times(60)))
    layout = FixedFrame(make(name, players=4), 1).observation_layout()
    for flat, named, history, tokens in zip(*(shown[form] for form in OBSERVATIONS), strict=True):
        assert {key: value.tolist() for key, value in split(layout, flat).items()} == {
            key: value.tolist() for key, value in named.items()
        }
        assert history["flat"].tobytes() == flat.tobytes()
        rebuilt = np.zeros_like(flat)
        for (number, seat, entry), value in zip(tokens["tokens"].tolist(), tokens["amounts"], strict=True):
            if number:
                block = layout.blocks[number - 1]
                rebuilt[layout.slices[block.name].start + seat * block.size + entry] = value
        assert rebuilt.tobytes() == flat.tobytes()


def framed_observations(name: str, kind: str, form: str) -> Iterator[Any]:
    settings = {"players": 4, "observation": form, **short(name)}
    if kind == "table":
        env = FixedFrame(make(name, **settings), 1)
        for agent in decisions(env, 3):
            seen = env.observe(agent)
            assert env.observation_space(agent).contains(seen)
            yield seen["observation"]
        return
    env = FixedFrame(gym_vec(name, 3, **settings) if kind == "many" else gym(name, **settings), 1)
    env.reset(seed=2)
    env.action_space.seed(0)
    for _ in itertools.count():
        seen, _, terminated, truncated, infos = env.step(env.action_space.sample())
        assert env.observation_space.contains(seen)
        yield row_of(seen, 1) if kind == "many" else seen
        if kind == "many":
            yield from (infos["final_obs"][row] for row in np.flatnonzero(terminated | truncated))
        elif terminated or truncated:
            yield env.reset()[0]


@every_table
def test_events_in_the_frame_are_the_same_for_all(name: str, players: int) -> None:
    env = FixedFrame(make(name, players=players, observation="history", **short(name)), players - 1)
    plain = make(name, players=players, observation="history", **short(name))
    plain.reset(seed=6)
    n_turned = 0
    for _ in itertools.islice(decisions(env, 6), times(60)):
        events = [env.observe(agent)["observation"]["events"] for agent in env.possible_agents]
        assert all(np.array_equal(one, events[0]) for one in events)
        plain.restore(env.snapshot())
        own = plain.observe(f"player_{players - 1}")["observation"]["events"]
        assert np.array_equal(own, events[0])  # the first seat of the frame sees no difference
        n_turned += not np.array_equal(plain.observe("player_0")["observation"]["events"], events[0])
    assert n_turned > 0


def test_a_frame_of_tables_that_differ_in_players() -> None:
    options = [GAMES["mitch_jp"].options(players=players) for players in (2, 5, 3)]
    many = FixedFrame(gym_vec("mitch_jp", 3, options=options, seat=1), 0)
    shown, _ = many.reset(seed=[1, 2, 3])
    for row, one in enumerate(options):
        alone, _ = FixedFrame(gym("mitch_jp", options=one, seats_encoded=5, seat=1), 0).reset(seed=row + 1)
        assert alone.tobytes() == shown[row].tobytes()
    with pytest.raises(OptionsError, match="seat=2: an integer from 0 to 1"):
        FixedFrame(gym_vec("mitch_jp", 3, options=options), 2)


# --- Under which names.


@every_game
def test_random_suits_are_the_same_match_under_other_names(name: str) -> None:
    plain, env = gym(name, **short(name)), RandomSuits(gym(name, **short(name)))
    env.action_space.seed(4)
    numbers = []
    for seed in range(12):
        seen, info = plain.reset(seed=seed)
        shown, renamed = env.reset(seed=seed)
        numbers.append(env.which)
        over = False
        while not over:
            assert shown.tobytes() == env.renamings.rename_observations(seen, env.which).tobytes()
            mask = env.renamings.rename_masks(info["action_mask"], env.which)
            assert np.array_equal(mask, renamed["action_mask"]) and np.array_equal(mask, env.action_masks())
            action = env.action_space.sample()
            assert mask[action]
            shown, paid, *over_there, renamed = env.step(action)
            action = int(env.renamings.original_actions(int(action), numbers[-1]))
            seen, reward, *over_here, info = plain.step(action)
            assert (paid, over_there) == (reward, over_here)
            over = any(over_here)
        assert shown.tobytes() == env.renamings.rename_observations(seen, env.which).tobytes()
        assert not env.action_masks().any()
    assert len(set(numbers)) > 6
    env.reset(seed=3)
    assert env.which == numbers[3]


def test_every_renaming_is_drawn_alike() -> None:
    env, many = RandomSuits(gym("mitch_jp", suits=3)), RandomSuits(gym_vec("mitch_jp", 50, suits=3))
    assert env.renamings.n == many.renamings.n == 6  # only suits of the pack
    one = Counter(int(env.reset(seed=seed)[1]["seat"] >= 0) * env.which for seed in range(600))
    rows = Counter(number for seed in range(12) for number in (many.reset(seed=seed), many.which.tolist())[1])
    for counts in (one, rows):
        assert chisquare([counts[number] for number in range(6)]).pvalue > 1e-4


def test_a_row_goes_on_under_its_names_until_its_match_ends() -> None:
    many = RandomSuits(gym_vec("mitch_ru", 8))
    many.reset(seed=1)
    many.action_space.seed(1)
    n_changed = 0
    for _ in range(200):
        before = many.which
        _, _, terminated, truncated, _ = many.step(many.action_space.sample())
        over = terminated | truncated
        assert np.array_equal(before[~over], many.which[~over])
        n_changed += int((before != many.which).sum())
    assert n_changed > 20


def test_an_illegal_action_under_other_names_is_refused_and_changes_nothing() -> None:
    env, many = RandomSuits(gym("mitch_jp")), RandomSuits(gym_vec("mitch_jp", 2))
    env.reset(seed=2)
    many.reset(seed=2)
    before = env.unwrapped._tables.batch.tables.tobytes()
    for action in [int(np.flatnonzero(~env.action_masks())[0]), -1, 106, True, None, "3", 2.0]:
        with pytest.raises(IllegalActionError):
            env.step(action)
    rows = [int(np.flatnonzero(mask)[0]) for mask in many.action_masks()]
    for wrong in ([rows[0], -1], [rows[0], 106], [rows[0], int(np.flatnonzero(~many.action_masks()[1])[0])]):
        with pytest.raises(IllegalActionError, match="table 1"):
            many.step(np.array(wrong))
    with pytest.raises(ValueError, match="actions must be 2 integers"):
        many.step(rows[:1])
    assert env.unwrapped._tables.batch.tables.tobytes() == before


def test_suits_are_renamed_in_flat_observations_only_and_where_all_have_the_same_pack() -> None:
    for form in OBSERVATIONS[1:]:
        for env in (gym("mitch_jp", observation=form), gym_vec("mitch_jp", 2, observation=form)):
            with pytest.raises(OptionsError, match=f"RandomSuits needs flat observations, not observation='{form}'"):
                RandomSuits(env)
    with pytest.raises(OptionsError, match="before wrappers that change observations"):
        RandomSuits(FixedFrame(gym("mitch_jp")))
    assert FixedFrame(RandomSuits(gym("mitch_jp"))).reset(seed=1)
    options = [GAMES["mitch_jp"].options(suits=suits) for suits in (3, 4)]
    with pytest.raises(OptionsError, match=r"same pack at all tables, got suits=\[3, 4\]"):
        RandomSuits(gym_vec("mitch_jp", 2, options=options))
