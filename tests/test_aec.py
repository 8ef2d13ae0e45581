"""The AEC contract: what PettingZoo's own tests ask, and what a client may count on beyond them."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from games import times
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.test.state_test import test_state_space as check_state_space
from pettingzoo.utils import BaseWrapper, turn_based_aec_to_parallel, wrappers

import mitch_env
from mitch_env import GAMES, Batch, IllegalActionError, OptionsError, Snapshot, TableEnv, make
from mitch_env.log import DealLog

REWARDS = ("points", "relative", "outcome")
EVERY_TABLE = [(name, players) for name in GAMES for players in range(2, 6)]
every_game = pytest.mark.parametrize("name", GAMES)
every_table = pytest.mark.parametrize(("name", "players"), EVERY_TABLE)


def started(name: str = "mitch_jp", seed: int = 1, **settings: Any) -> TableEnv:
    env = make(name, **settings)
    env.reset(seed=seed)
    return env


def decisions(env: TableEnv, seed: int = 0) -> Iterator[str]:
    """Plays a random match to its end; yields the agent before each decision."""
    rng = np.random.default_rng(seed)
    while not (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
        yield env.agent_selection
        env.step(int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]))))


def played_out(env: TableEnv, seed: int = 0) -> TableEnv:
    for _ in decisions(env, seed):
        pass
    return env


# --- PettingZoo's own tests. Warnings are errors: they name what a client stumbles over.


@pytest.mark.parametrize("seats", [None, 5])
@pytest.mark.parametrize("reward", REWARDS)
@every_table
def test_pettingzoo_api_test(
    name: str, players: int, reward: str, seats: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # PettingZoo warns of every Dict observation and knows only its own games by name.
        warnings.filterwarnings("ignore", "Observation space for each agent probably should be")
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")
        # It looks at the mask of agents that are not to act, which is all zero on purpose.
        warnings.filterwarnings("ignore", "Action mask numpy array is all zeros")
        api_test(make(name, players=players, reward=reward, seats_encoded=seats), num_cycles=times(60))
    assert "Passed API test" in capsys.readouterr().out


@every_table
def test_pettingzoo_seed_test(name: str, players: int) -> None:
    seed_test(lambda: make(name, players=players), num_cycles=10)


@every_table
def test_pettingzoo_parallel_test(name: str, players: int) -> None:
    """Each step of the parallel form is one decision. (PettingZoo's parallel seed test plays without masks.)"""
    parallel_api_test(turn_based_aec_to_parallel(make(name, players=players)), num_cycles=times(40))


@every_game
def test_pettingzoo_render_test(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("PIL")
    render_test(lambda render_mode: make(name, render_mode=render_mode))
    assert capsys.readouterr().out  # the mode human has printed


@every_game
def test_pettingzoo_state_space_test(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_state_space(started(name))


@every_game
def test_pettingzoo_makes_it_by_name(name: str) -> None:
    env = pettingzoo.make("aec", f"mitch_env/{name}-v0", players=4, reward="outcome")
    assert type(env.unwrapped) is TableEnv
    assert env.unwrapped.game is GAMES[name]
    assert env.unwrapped.options.players == 4
    env.reset(seed=3)
    own = started(name, 3, players=4)
    for key, value in own.observe("player_0").items():
        assert np.array_equal(env.observe("player_0")[key], value)


# --- The contract, sentence by sentence.


@every_game
def test_env_is_the_table_itself_without_wrappers(name: str) -> None:
    module = getattr(__import__(f"mitch_env.{name}_v0"), f"{name}_v0")
    for made in (module.env(players=2), module.raw_env(players=2), make(name, players=2)):
        assert type(made) is TableEnv
        assert made.unwrapped is made
        assert made.metadata["name"] == f"{name}_v0"
        assert made.metadata["is_parallelizable"] is False, "all agents acting at once is no form of these games"
        assert made.metadata["render_modes"] == ["ansi", "human", "rgb_array"]
        assert str(made) == f"{name}_v0"


def test_observe_returns_observation_and_mask_for_every_agent_at_any_time(name: str = "mitch_jp") -> None:
    env = make(name)
    check_views(env, actor=None)
    env.reset(seed=1)
    for agent in decisions(env):
        check_views(env, agent)
    check_views(env, actor=None)
    while env.agents:
        env.step(None)  # type: ignore[arg-type]
        check_views(env, actor=None)


def check_views(env: TableEnv, actor: str | None) -> None:
    for agent in env.possible_agents:
        one, other = env.observe(agent), env.observe(agent)
        assert list(one) == ["observation", "action_mask"]
        assert env.observation_space(agent).contains(one)
        assert (one["observation"].dtype, one["observation"].ndim) == (np.float32, 1)
        assert one["action_mask"].dtype == np.int8
        assert one["action_mask"].any() == (agent == actor)
        for key in one:
            assert not np.shares_memory(one[key], other[key])
            assert np.array_equal(one[key], other[key])
            assert one[key].flags.writeable
        one["observation"][:] = 7  # a client's array: what it does with it is nobody's business
        one["action_mask"][:] = 7
        assert np.array_equal(env.observe(agent)["observation"], other["observation"])
    assert env.observe(env.possible_agents[0])["action_mask"].sum() == (len(env.legal_moves()) if actor == "player_0" else 0)


@pytest.mark.parametrize("seats", [None, 5])
@every_table
def test_all_seats_have_the_same_space_objects(name: str, players: int, seats: int | None) -> None:
    env = make(name, players=players, seats_encoded=seats)
    assert env.possible_agents == [f"player_{seat}" for seat in range(players)]
    assert env.max_num_agents == players
    spaces = {id(env.observation_space(agent)) for agent in env.possible_agents for _ in range(2)}
    actions = {id(env.action_space(agent)) for agent in env.possible_agents for _ in range(2)}
    assert len(spaces) == len(actions) == 1
    space, action_space = env.observation_space("player_0"), env.action_space("player_0")
    assert isinstance(space, gymnasium.spaces.Dict)
    assert list(space) == ["observation", "action_mask"]
    box, mask = space["observation"], space["action_mask"]
    assert isinstance(box, gymnasium.spaces.Box)
    assert (box.dtype, box.shape, box.low.min(), box.high.max()) == (np.float32, (env.observation_layout().size,), 0.0, 1.0)
    assert isinstance(action_space, gymnasium.spaces.Discrete)
    assert (mask.dtype, mask.shape) == (np.int8, (action_space.n,))
    assert action_space.start == 0
    assert action_space.n < 1000
    wide = make(name, players=players, seats_encoded=seats or players)
    assert wide.observation_space("player_1") == space
    assert env.observation_spaces["player_1"] is space
    assert env.action_spaces["player_1"] is action_space
    env.reset(seed=1)
    assert env.observation_space("player_0") is space


@pytest.mark.parametrize("reward", REWARDS)
@every_table
def test_nobody_leaves_before_the_end_and_all_end_in_one_step(name: str, players: int, reward: str) -> None:
    env = started(name, players=players, reward=reward)
    everybody = list(env.possible_agents)
    paid = dict.fromkeys(everybody, 0.0)
    for agent in decisions(env):
        assert env.agents == everybody
        assert agent == everybody[env.table.actor]
        assert env.terminations == env.truncations == dict.fromkeys(everybody, False)
        assert env.infos == {agent: {} for agent in everybody}
        check_types(env)
        add_rewards(env, paid)
    add_rewards(env, paid)
    check_types(env)
    assert env.agents == everybody
    assert env.terminations == dict.fromkeys(everybody, True)
    assert env.truncations == dict.fromkeys(everybody, False)
    assert paid == expected_sums(env, reward)


def check_types(env: TableEnv) -> None:
    for agent in env.agents:
        assert type(env.terminations[agent]) is type(env.truncations[agent]) is bool
        assert type(env.rewards[agent]) is float
    _, reward, terminated, truncated, info = env.last(observe=False)
    assert (type(reward), type(terminated), type(truncated), info) == (float, bool, bool, {})


def add_rewards(env: TableEnv, paid: dict[str, float]) -> None:
    """``rewards`` are those of the last step."""
    for agent, reward in env.rewards.items():
        paid[agent] += reward


def expected_sums(env: TableEnv, reward: str) -> Any:
    """From the record's totals and winners alone."""
    record = env.record()
    totals, winners = record["totals"], record["winners"]
    n = len(totals)
    if reward == "points":
        sums = [float(total) for total in totals]
    elif reward == "relative":
        sums = [total - sum(totals) / n for total in totals]
    elif len(winners) == n:
        sums = [0.0] * n
    else:
        sums = [1 / len(winners) if seat in winners else -1 / (n - len(winners)) for seat in range(n)]
    return {f"player_{seat}": pytest.approx(one, abs=1e-4) for seat, one in enumerate(sums)}


def test_outcome_rewards_of_shared_wins_and_of_a_tie() -> None:
    """Winners share +1, losers share -1; nobody gets anything when all tie."""
    seen = set()
    for seed in range(times(400)):
        env = played_out(started(seed=seed, players=3, hand_size=1, deals=1, clock_cards=1, reward="outcome"), seed)
        record = env.record()
        winners = record["winners"]
        seen.add(len(winners))
        for seat, agent in enumerate(env.possible_agents):
            share = {3: 0.0, 2: 0.5 if seat in winners else -1.0, 1: 1.0 if seat in winners else -0.5}[len(winners)]
            assert env.rewards[agent] == share
    assert seen == {1, 2, 3} or times(400) < 400


@every_game
def test_cumulative_rewards_add_up_since_the_agent_acted_last(name: str) -> None:
    """What ``last()`` shows: the sum over the steps since, zero after the own step."""
    env = started(name, players=3, reward="relative", **{"rounds" if name == "mitchell" else "deals": 3})
    since = dict.fromkeys(env.possible_agents, 0.0)
    rng = np.random.default_rng(1)
    while not env.terminations[env.agent_selection]:
        agent = env.agent_selection
        assert env.last(observe=False)[1] == pytest.approx(since[agent], abs=1e-5)
        since[agent] = 0.0
        env.step(int(rng.choice(np.flatnonzero(env.observe(agent)["action_mask"]))))
        add_rewards(env, since)
    assert any(since.values())
    for _ in range(3):
        assert env.last(observe=False)[1] == pytest.approx(since[env.agent_selection], abs=1e-5)
        env.step(None)  # type: ignore[arg-type]


# --- Reset, steps, the end.


def test_reset_ignores_unknown_options_and_takes_any_seed() -> None:
    env = make("mitch_jp")
    env.reset(seed=5, options={"players": 5, "nonsense": object()})
    assert env.num_agents == 3
    assert env.record() == started(seed=5).record()
    for seed in (0, (1 << 64) - 1, np.int64(7), np.uint64(1 << 63)):
        env.reset(seed=seed)  # type: ignore[arg-type]
        assert env.record()["seed"] == int(seed)
    for wrong in (-1, 1 << 64, 1.0, "7", True, [3]):
        with pytest.raises(ValueError, match="seed must be an integer from 0"):
            env.reset(seed=wrong)  # type: ignore[arg-type]


def test_reset_without_a_seed_goes_on_to_another_match_that_follows_from_the_first() -> None:
    env, twin = started(seed=5), started(seed=5)
    seeds = []
    for one in (env, twin):
        seeds.append([])
        for _ in range(5):
            one.reset()
            seeds[-1].append(one.record()["seed"])
    assert seeds[0] == seeds[1]
    assert len({5, *seeds[0]}) == 6
    first, second = make("mitch_jp"), make("mitch_jp")
    first.reset()
    second.reset()
    assert first.record()["seed"] != second.record()["seed"]


def test_reset_in_the_middle_forgets_everything() -> None:
    env = started(seed=1)
    for number, _ in enumerate(decisions(env)):
        if number == 25:
            break
    env.reset(seed=2)
    fresh = started(seed=2)
    assert env.record() == fresh.record()
    assert (env.rewards, env.agents, env.agent_selection) == (fresh.rewards, fresh.agents, fresh.agent_selection)
    assert env._cumulative_rewards == dict.fromkeys(env.agents, 0.0)


def test_dead_agents_step_with_none_only_and_then_leave() -> None:
    env = played_out(started(players=4, reward="outcome"))
    left = list(env.possible_agents)
    final = dict(env._cumulative_rewards)
    for agent in env.agent_iter(max_iter=10):
        observation, reward, terminated, truncated, _ = env.last()
        assert (terminated, truncated, reward) == (True, False, final[agent])
        assert observation is not None
        assert not observation["action_mask"].any()
        with pytest.raises(ValueError, match="only valid action is None"):
            env.step(0)
        env.step(None)  # type: ignore[arg-type]
        left.remove(agent)
        assert env.agents == left
    assert left == []
    assert list(env.agent_iter()) == []
    env.reset(seed=1)
    assert env.num_agents == 4


def test_agent_iter_plays_a_match_as_the_documentation_of_pettingzoo_shows_it() -> None:
    env = make("mitch_ru", players=4)
    env.reset(seed=42)
    n_dead = 0
    for agent in env.agent_iter():
        observation, _, termination, truncation, _ = env.last()
        if termination or truncation:
            action = None
            n_dead += 1
        else:
            assert observation is not None
            action = env.action_space(agent).sample(observation["action_mask"])
        env.step(action)  # type: ignore[arg-type]
    assert n_dead == 4
    env.close()


def test_last_without_observing() -> None:
    env = started()
    assert env.last(observe=False) == (None, 0.0, False, False, {})
    observation, *others = env.last()
    assert others == [0.0, False, False, {}]
    assert np.array_equal(observation["observation"], env.observe("player_0")["observation"])  # type: ignore[index]


@pytest.mark.parametrize(
    "wrong",
    [104, 105, -1, 106, 1 << 40, 1 << 70, -(1 << 63), 3.0, float("nan"), "play 9H", None, [3], np.array([3]), np.float32(3)],
    ids=repr,
)
def test_an_illegal_action_says_what_was_tried_by_whom_when_and_what_is_legal(wrong: Any) -> None:
    env = started()
    before, rewards = env.snapshot(), dict(env.rewards)
    with pytest.raises(IllegalActionError) as caught:
        env.step(wrong)
    words = str(caught.value)
    named = {104: "draw (action 104)", 105: "take (action 105)"}.get(wrong) if isinstance(wrong, int) else None
    assert words.startswith(
        f"seat0 tried: {named or f'{wrong!r} is no action of this game'}; phase: laying or discarding a card; "
    )
    assert words.endswith("legal here: " + ", ".join(env.legal_moves()))
    assert isinstance(caught.value, ValueError)
    assert env.snapshot().table.tobytes() == before.table.tobytes()
    assert (env.rewards, env.agent_selection, env.record()["deals"][0]["moves"]) == (rewards, "player_0", [])


@every_game
def test_the_wrapper_that_ends_a_match_at_an_illegal_action_works(name: str, caplog: pytest.LogCaptureFixture) -> None:
    env = wrappers.TerminateIllegalWrapper(make(name, players=3), illegal_reward=-5)
    for seed in range(2):
        env.reset(seed=seed)
        env.step(-1 % env.action_space("player_0").n)
        assert [env.last()[1]] + [0.0] * 2 == list(env.rewards.values()) == [-5.0, 0.0, 0.0]
        for _ in env.agent_iter(max_iter=3):
            env.step(None)  # type: ignore[arg-type]
        assert env.agents == []
    assert "Illegal move" in caplog.text


def test_integers_of_every_kind_are_actions() -> None:
    for kind in (int, np.int64, np.int8, np.uint8, np.uint64, np.array):
        env = started()
        action = env.parse_action(env.legal_moves()[0])
        env.step(kind(action))  # type: ignore[arg-type]
        assert env.agent_selection == "player_1"


def test_a_move_in_words_is_the_action_it_names() -> None:
    env = started(take_discard=True)
    for agent in decisions(env):
        legal = np.flatnonzero(env.observe(agent)["action_mask"])
        assert env.legal_moves() == [env.action_name(int(action)) for action in legal]
        assert [env.parse_action(move) for move in env.legal_moves()] == legal.tolist()
    with pytest.raises(ValueError, match="is no move"):
        env.parse_action("fly 9H")
    with pytest.raises(ValueError, match="9999 is no action"):
        env.action_name(9999)


@pytest.mark.parametrize("call", ["step", "last"])
def test_use_before_reset_says_so(call: str) -> None:
    env = make("mitch_jp")
    with pytest.raises(Exception, match=r"reset\(\)"):
        env.step(0) if call == "step" else env.last()


def test_what_can_be_asked_before_reset() -> None:
    env = make("mitch_jp", render_mode="ansi")
    assert (env.agents, env.num_agents, list(env.agent_iter()), env.legal_moves()) == ([], 0, [], [])
    assert env.state_space.contains(env.state())
    assert isinstance(env.render(), str)
    env.close()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"players": 9}, "players=9: an integer from 2 to 5"),
        ({"player": 3}, "unknown option 'player'; did you mean 'players'?"),
        ({"options": 3}, "options must be a mapping or a MitchOptions, got int"),
        ({"options": {"players": 3.0}}, "players=3.0: an integer"),
        ({"reward": "win"}, "reward='win': allowed are 'points', 'relative', 'outcome'"),
        ({"reward": 1}, "reward=1: allowed are"),
        ({"seats_encoded": 2}, "seats_encoded=2: an integer from 3 to 5"),
        ({"seats_encoded": 4.0}, "seats_encoded=4.0: an integer"),
        ({"render_mode": "text"}, "render_mode='text': allowed are 'ansi', 'human', 'rgb_array'"),
        ({"render_seat": 3}, "render_seat=3: an integer from 0 to 2"),
        ({"render_seat": -1}, "render_seat=-1: an integer from 0 to 2"),
    ],
)
def test_wrong_settings_are_refused_by_name(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(OptionsError, match=sentence.replace("?", r"\?")):
        make("mitch_jp", **settings)


# --- The full state.


@every_table
def test_state_shows_all_hands_and_the_stock(name: str, players: int) -> None:
    env = started(name, players=players, seats_encoded=5)
    assert env.state_space is env.state_space
    assert env.state_space.shape == (env.state_layout().size,)
    for agent in decisions(env):
        state = env.state()
        assert env.state_space.contains(state)
        assert not np.shares_memory(state, env.state())
        other = env.snapshot()
        world = env.redeal_hidden(env.possible_agents.index(agent), key=3)
        env.restore(world)
        hidden = world.table.tobytes() != other.table.tobytes() and env.table.hand.tolist() != other.table[0].hand.tolist()
        assert not hidden or not np.array_equal(env.state(), state)
        env.restore(other)
        assert np.array_equal(env.state(), state)


# --- Rendering.


def test_render_modes(capsys: pytest.CaptureFixture[str]) -> None:
    env = started(render_mode="ansi")
    text = env.render()
    assert isinstance(text, str)
    assert capsys.readouterr().out == ""
    env = started(render_mode="human")
    capsys.readouterr()
    assert env.render() is None
    assert capsys.readouterr().out == text + "\n"
    env.step(env.parse_action(env.legal_moves()[0]))
    assert len(capsys.readouterr().out) > 100  # every step prints by itself
    played_out(env)
    assert "wins" in capsys.readouterr().out
    silent = started()
    with pytest.warns(UserWarning, match="render_mode"):
        assert silent.render() is None
    assert capsys.readouterr().out == ""


def test_pictures_are_arrays() -> None:
    pytest.importorskip("PIL")
    env = started(render_mode="rgb_array")
    first = env.render()
    assert isinstance(first, np.ndarray)
    assert (first.dtype, first.ndim, first.shape[2]) == (np.uint8, 3, 3)
    env.step(env.parse_action(env.legal_moves()[0]))
    assert not np.array_equal(first, env.render())


def test_a_table_is_rendered_from_one_seat_or_for_whoever_is_to_act() -> None:
    env, fixed = started(render_mode="ansi"), started(render_mode="ansi", render_seat=2)
    for agent in decisions(env):
        seat = env.possible_agents.index(agent)
        assert env.render() == env.game.rules.describe(env.table, seat)
        fixed.restore(env.snapshot())
        assert fixed.render() == env.game.rules.describe(env.table, 2)
    assert env.render() == env.game.rules.describe(env.table, None)


# --- Copies, snapshots, other worlds.


WRAPPERS = {
    "none": lambda env: env,
    "base": BaseWrapper,
    "order": wrappers.OrderEnforcingWrapper,
    "bounds": lambda env: wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env)),
    "illegal": lambda env: wrappers.TerminateIllegalWrapper(env, illegal_reward=-1),
}


@pytest.mark.parametrize("how", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))], ids=["deepcopy", "pickle"])
@pytest.mark.parametrize("wrapper", WRAPPERS)
@every_game
def test_copies_go_on_with_the_same_match(name: str, wrapper: str, how: Any) -> None:
    env = WRAPPERS[wrapper](make(name, reward="relative"))
    env.reset(seed=1)
    for number, agent in enumerate(env.agent_iter()):
        observation, _, terminated, _, _ = env.last()
        if terminated:
            env.step(None)
            continue
        action = int(np.flatnonzero(observation["action_mask"])[number % 2 - 1])
        if number in (0, 7, 30):
            twin = how(env)
            assert twin.unwrapped.table.tobytes() == env.unwrapped.table.tobytes()
            assert twin.unwrapped.record() == env.unwrapped.record()
            before = env.unwrapped.table.tobytes()
            twin.step(action)
            assert env.unwrapped.table.tobytes() == before  # nothing is shared
            assert twin.unwrapped.observation_space(agent) == env.unwrapped.observation_space(agent)
            env.step(action)
            assert twin.unwrapped.table.tobytes() == env.unwrapped.table.tobytes()
            assert twin.unwrapped._cumulative_rewards == env.unwrapped._cumulative_rewards
            env = twin
            break
        env.step(action)


@every_game
def test_whoever_has_the_table_sees_what_is_changed_on_it(name: str) -> None:
    env = make(name)
    env.reset(seed=1)
    table = env.table
    env.step(int(env.last()[0]["action_mask"].nonzero()[0][0]))
    table.totals[env.possible_agents.index(env.agent_selection)] += 20
    first, second = (env.observe(env.agent_selection)["observation"] for _ in range(2))
    assert np.array_equal(first, second) and np.array_equal(env.last()[0]["observation"], second)


@pytest.mark.parametrize("how", [copy.deepcopy, TableEnv.clone], ids=["deepcopy", "clone"])
@every_game
def test_a_copy_draws_from_spaces_of_its_own(name: str, how: Any) -> None:
    env, plain = make(name), make(name)
    for one in (env, plain):
        one.action_space("player_0").seed(3)
        one.observation_space("player_0")["action_mask"].seed(3)
    twin = how(env)
    assert twin.action_space("player_1") is twin.action_space("player_0")
    for _ in range(5):
        twin.action_space("player_0").sample()
        twin.observation_space("player_0").sample()
    twin.metadata["name"] = "another"
    twin.possible_agents.append("nobody")
    actions = [[one.action_space("player_0").sample() for _ in range(5)] for one in (env, plain)]
    assert actions[0] == actions[1]
    masks = [one.observation_space("player_0")["action_mask"].sample() for one in (env, plain)]
    assert np.array_equal(*masks)
    assert env.metadata == plain.metadata and env.possible_agents == plain.possible_agents


def odd_snapshots() -> dict[str, Any]:
    """What somebody may take for a snapshot of mitch_jp."""
    batch = Batch("mitch_jp", 2, seed=1)
    good = make("mitch_jp")
    good.reset(seed=2)
    moment = good.snapshot()
    silent = moment.table.copy()
    silent["phase"], silent["actor"] = 0, 0
    nobody = moment.table.copy()
    nobody["actor"] = -1
    return {
        "two tables": Snapshot(batch.snapshot(), None),
        "no table": Snapshot(batch.snapshot([]), None),
        "two axes": Snapshot(batch.worlds([1], 1, 3), None),
        "a record": Snapshot(good.table, None),
        "none": Snapshot(None, None),  # type: ignore[arg-type]
        "bytes": Snapshot(b"", None),  # type: ignore[arg-type]
        "another game": Snapshot(Batch("mitchell", 1, seed=1).snapshot(), None),
        "a wrong log": Snapshot(moment.table, (1,)),  # type: ignore[arg-type]
        "a number for a log": Snapshot(moment.table, 3),  # type: ignore[arg-type]
        "an empty log": Snapshot(moment.table, ()),
        "a log that is used up": Snapshot(moment.table, (deal for deal in moment.log or ())),  # type: ignore[arg-type]
        "a log without deals": Snapshot(moment.table, (DealLog(None, None),)),  # type: ignore[arg-type]
        "a log of another game": Snapshot(moment.table, (DealLog(b"x", [1, 2]),)),
        "a masked table": Snapshot(np.ma.array(moment.table), None),  # type: ignore[arg-type]
        "an unfinished one": object.__new__(Snapshot),
        "a table without a match": Snapshot(silent, None),
        "a table without an actor": Snapshot(nobody, None),
        "no snapshot": moment.table,
    }


@pytest.mark.parametrize("which", odd_snapshots())
def test_what_is_no_snapshot_is_refused_and_changes_nothing(which: str) -> None:
    env = make("mitch_jp")
    env.reset(seed=1)
    before = env.table.tobytes(), env.agent_selection, env.record()
    with pytest.raises(ValueError, match="snapshot"):
        env.restore(odd_snapshots()[which])
    assert (env.table.tobytes(), env.agent_selection, env.record()) == before


def test_there_is_nothing_to_keep_before_the_first_match() -> None:
    env = make("mitch_jp")
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        env.snapshot()
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        env.redeal_hidden(0, 1)


@every_game
def test_truth_values_are_no_actions_and_strangers_no_agents(name: str) -> None:
    env = make(name)
    env.reset(seed=1)
    for wrong in (True, False, np.True_):
        with pytest.raises(IllegalActionError, match="legal here"):
            env.step(wrong)
    with pytest.raises(KeyError, match="player_0"):
        env.observe("nobody")


@every_game
def test_restore_brings_back_the_position_in_this_or_another_env(name: str) -> None:
    few = {"rounds": 1} if name == "mitchell" else {}
    env, other = started(name, players=3, **few), make(name, players=3, **few)
    kept = [(env.snapshot(), env.record(), env.legal_moves()) for _ in decisions(env)]
    kept.append((env.snapshot(), env.record(), []))
    for snapshot, record, legal in [kept[-1], kept[0], *kept[5::7], kept[-1]]:
        for one in (env, other):
            one.restore(snapshot)
            assert one.record() == record
            assert one.legal_moves() == legal
            assert one.agents == one.possible_agents
            assert all(one.terminations.values()) == (not legal)
            assert one._cumulative_rewards == dict.fromkeys(one.agents, 0.0)
            if legal:
                assert one.agent_selection == f"player_{one.table.actor}"
                assert one.last(observe=False)[2:4] == (False, False)
    other.restore(kept[3][0])
    played_out(other)
    assert kept[3][0].table.tobytes() != other.table.tobytes()
    assert env.record() == kept[-1][1]


def test_restore_refuses_what_does_not_fit() -> None:
    env = started()
    for wrong in (
        None,
        env.table,
        env.snapshot().table,
        {},
        started(players=2).snapshot(),
        started(seats_encoded=5).snapshot(),
    ):
        with pytest.raises(ValueError, match=r"restore takes|the snapshot has"):
            env.restore(wrong)  # type: ignore[arg-type]


def test_a_snapshot_of_other_rules_is_refused_or_recorded_as_it_was_played() -> None:
    from mitch_env.records import replay

    env = make("mitch_jp")
    try:
        env.restore(started("mitch_ru").snapshot())
    except ValueError:
        return
    assert replay(played_out(env).record()) == []


def test_a_snapshot_does_not_change_what_an_environment_pays() -> None:
    env = make("mitch_jp", reward="outcome")
    try:
        env.restore(started(reward="points").snapshot())
    except ValueError:
        return
    played_out(env)
    assert set(env.rewards.values()) <= {-1.0, -0.5, 0.0, 0.5, 1.0}


@every_table
def test_a_redealt_world_looks_the_same_to_its_seat_and_can_be_played(name: str, players: int) -> None:
    env, world = started(name, players=players), make(name, players=players)
    for number, agent in enumerate(decisions(env)):
        if number % 6:
            continue
        seat = env.possible_agents.index(agent)
        before = env.table.tobytes()
        snapshot = env.redeal_hidden(seat, key=number)
        assert env.table.tobytes() == before
        assert snapshot.table.tobytes() == env.redeal_hidden(seat, key=number).table.tobytes()
        world.restore(snapshot)
        for key, value in env.observe(agent).items():
            assert np.array_equal(world.observe(agent)[key], value)
        played_out(world)
    for seat, key in [(players, 0), (-1, 0), (0, -1), (0, 1.5)]:
        with pytest.raises(ValueError, match=r"seat=|key must"):
            env.redeal_hidden(seat, key)  # type: ignore[arg-type]


def test_a_clone_with_a_key_deals_otherwise_later() -> None:
    env = started(deals=2)
    plain, one, same, other = env.clone(), env.clone(key=1), env.clone(key=1), env.clone(key=2)
    for twin in (plain, one, same, other):
        assert twin.record()["deals"] == env.record()["deals"]
        played_out(twin)
    played_out(env)
    second = [twin.record()["deals"][1]["hands"] for twin in (env, plain, one, same, other)]
    assert second[0] == second[1]
    assert second[2] == second[3]
    assert len({str(hands) for hands in second}) == 3


@pytest.mark.parametrize("seats", [None, 5])
@every_table
def test_the_layout_describes_the_whole_observation(name: str, players: int, seats: int | None) -> None:
    env = started(name, players=players, seats_encoded=seats)
    for layout, vector in (
        (env.observation_layout(), env.observe("player_0")["observation"]),
        (env.state_layout(), env.state()),
    ):
        assert layout.seats == (seats or players)
        assert layout.size == len(vector)
        ends = [0]
        for block, where in layout:
            assert where.start == ends[-1]
            assert block.meaning
            ends.append(where.stop)
        assert ends[-1] == len(vector)
        assert list(layout.slices) == [block.name for block, _ in layout]


def test_the_package_names_what_a_user_needs() -> None:
    for name in mitch_env.__all__:
        assert hasattr(mitch_env, name)
