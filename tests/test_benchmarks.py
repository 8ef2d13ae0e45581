"""The benchmarks: everybody plays legally what it says it plays, in turns. No time is tested."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test

pytest.importorskip("tqdm", reason="the benchmarks need the extra train")

from benchmarks import chart, floors, peers, report, throughput, turns
from benchmarks.contenders import SETTINGS, SIZES, UNIFORM, AecPlay, BatchPlay, FusedPlay, Setting, wrapped
from mitch_env import Batch, make

JP, FOUR = Setting("mitch_jp", 3), Setting("mitchell", 4)


# --- Ours.


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_fused_kernel_plays_what_a_batch_plays(setting: Setting) -> None:
    """Same seeds, same matches: every buffer, table and the number of matches, decision for decision."""
    fused, twin = FusedPlay(setting.batch(40)), setting.batch(40)
    ended = 0
    for calls in (1, 3, 2000):
        assert fused(40 * calls) == 40 * calls
        for _ in range(calls):
            twin.step(twin.random_actions())
            ended += int((twin.terminated | twin.truncated).sum())
        assert fused.ended[0] == ended
        for name in ("actor", "observation", "mask", "reward", "scored", "terminated", "truncated", "_policy"):
            assert np.array_equal(getattr(fused.batch, name), getattr(twin, name)), name
        assert fused.batch.tables.tobytes() == twin.tables.tobytes()
    assert ended > 10


@pytest.mark.parametrize("wrap", [lambda env: env, wrapped], ids=["raw", "wrapped"])
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_aec_play_is_the_match_that_a_batch_plays_with_the_same_choices(setting: Setting, wrap: Callable[[Any], Any]) -> None:
    play = AecPlay(wrap(make(setting.game, players=setting.players)))
    batch = Batch(setting.game, 1, seed=[1], players=setting.players)
    batch.skip_silent()
    table = play.env.unwrapped.table
    ended = 0
    for at in range(6000 if setting.game == "mitchell" else 600):
        assert play(1) == 1
        legal = batch.mask[0].nonzero()[0]
        batch.step([legal[int(UNIFORM[at] * len(legal))]])
        ended += bool(batch.terminated[0] or batch.truncated[0])
        if batch.terminated[0] or batch.truncated[0]:  # AEC begins the next match with the next decision
            assert list(play.env.rewards.values()) == batch.reward[0].tolist()
        else:
            assert table.seed == batch.tables[0].seed and table.rng == batch.tables[0].rng
            assert table.actor == batch.actor[0] and table.totals.tolist() == batch.tables[0].totals.tolist()
    assert ended - play.matches in (0, 1) and play.matches >= 1


def test_one_call_goes_on_where_the_last_one_stopped() -> None:
    """Played in pieces it is the same play."""
    whole, pieces = (AecPlay(make("mitch_jp")) for _ in range(2))
    whole(300)
    for n in (1, 7, 92, 200):
        pieces(n)
    assert whole.matches == pieces.matches and whole.env.table.tobytes() == pieces.env.table.tobytes()


@pytest.mark.parametrize("threads", [1, 2])
def test_batch_play_plays_at_least_as_many_decisions_as_asked(threads: int) -> None:
    play, twin = BatchPlay(JP.batch(64, threads=threads)), JP.batch(64)
    assert [play(n) for n in (1, 64, 65)] == [64, 64, 128]
    for _ in range(4):
        twin.step(twin.random_actions())
    assert play.batch.tables.tobytes() == twin.tables.tobytes()


# --- Floors.


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_environment_without_a_game_keeps_the_protocol(setting: Setting, capsys: pytest.CaptureFixture[str]) -> None:
    api_test(floors.no_op_like(setting), num_cycles=300)
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_environment_without_a_game_has_the_spaces_of_the_game(setting: Setting) -> None:
    empty, env = floors.no_op_like(setting), make(setting.game, players=setting.players)
    assert empty.possible_agents == env.possible_agents
    for agent in env.possible_agents:
        assert empty.observation_space(agent) == env.observation_space(agent)
        assert empty.action_space(agent) == env.action_space(agent)
    empty.reset()
    one, two = empty.observe("player_0"), empty.observe("player_0")
    assert all(one[name] is not two[name] for name in one)
    assert one["observation"].dtype == np.float32 and one["action_mask"].dtype == np.int8


def test_the_environment_without_a_game_ends_after_43_decisions_and_pays() -> None:
    env = floors.no_op_like(JP)
    play = AecPlay(env)
    play(43)
    assert play.matches == 0 and all(env.terminations.values()) and list(env.rewards.values()) == [2.0, -1.0, -1.0]
    assert env.last()[1] == env.rewards[env.agent_selection]
    play(43 * 4 + 1)
    assert play.matches == 5 and not any(env.terminations.values())


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_memory_floor_writes_every_byte_and_as_many_entries_as_real_play(setting: Setting) -> None:
    play = floors.MemoryFloor(setting, 50)
    twin = setting.batch(50)
    assert (play.observation.shape, play.observation.dtype) == (twin.observation.shape, twin.observation.dtype)
    assert (play.mask.shape, play.mask.itemsize) == (twin.mask.shape, twin.mask.itemsize)
    play.observation[:], play.mask[:] = 7.0, 7
    assert play(51) == 100
    assert set(np.unique(play.observation)) == {0.0, 1.0} and set(np.unique(play.mask)) == {0, 1}
    entries, legal = [], []
    for _ in range(200):
        twin.step(twin.random_actions())
        entries.append(np.count_nonzero(twin.observation) / 50)
        legal.append(np.count_nonzero(twin.mask) / 50)
    facts = play.facts
    assert (play.observation != 0).sum(1).tolist() == [facts["observation_entries"]] * 50
    assert (play.mask != 0).sum(1).tolist() == [facts["mask_entries"]] * 50
    assert facts["bytes"] == twin.observation[0].nbytes + twin.mask[0].nbytes
    assert facts["observation_entries"] == pytest.approx(np.mean(entries), rel=0.05)
    assert facts["mask_entries"] == pytest.approx(np.mean(legal), abs=1.0)


# --- Peers.


class Watched:
    """A PettingZoo environment that refuses illegal actions by itself."""

    def __init__(self, env: Any) -> None:
        self.env, self.steps = env, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)

    def step(self, action: Any) -> None:
        assert self.env.observe(self.env.agent_selection)["action_mask"][action] == 1
        self.steps += 1
        self.env.step(action)


@pytest.mark.parametrize("name", ["leduc_holdem_v4", "texas_holdem_v4"])
def test_pettingzoo_peers_play_legally(name: str) -> None:
    pytest.importorskip("rlcard")
    pytest.importorskip("pygame")
    module = pytest.importorskip(f"pettingzoo.classic.{name}")
    env = Watched(module.env())
    play = AecPlay(env)
    assert play(120) == 120 and env.steps == 120
    assert 120 / 20 < play.matches < 120


def test_uno_plays_legally() -> None:
    pytest.importorskip("rlcard")
    play = peers.UnoPlay()
    inner, steps = play.env.step, []

    def step(action: int) -> Any:
        steps.append(action in play.env._get_legal_actions())
        return inner(action)

    play.env.step = step
    assert play(600) == 600 and steps == [True] * 600 and play.matches >= 1
    assert play.state["obs"].shape == (4, 4, 15) and len(play.state["legal_actions"]) >= 1


@pytest.mark.parametrize("in_place", [False, True])
def test_open_spiel_plays_legally_and_sees_what_the_actor_sees(in_place: bool) -> None:
    pytest.importorskip("pyspiel")
    play = peers.OpenSpielPlay("crazy_eights(players=4)", in_place)
    for _ in range(400):
        before = play.state
        assert not before.is_terminal() and not before.is_chance_node()
        seen, legal, history = before.observation_tensor(), before.legal_actions(), len(before.full_history())
        assert play(1) == 1
        assert before.full_history()[history].action in legal
        assert np.array_equal(play.observation, np.asarray(seen, np.float32))
    assert play.matches >= 2


def test_chance_in_open_spiel_is_drawn_by_its_weights() -> None:
    """The dealer, and the first card, of many matches: 4 and 52 outcomes of equal weight."""
    pytest.importorskip("pyspiel")
    play = peers.OpenSpielPlay("crazy_eights(players=4)")
    drawn = []
    for _ in range(1000):
        play._begin()
        drawn.append([one.action for one in play.state.full_history()[:2]])
    dealers, cards = np.array(drawn).T
    assert np.unique(dealers, return_counts=True)[1].min() > 200 and len(np.unique(dealers)) == 4
    assert np.unique(cards, return_counts=True)[1].min() > 5 and len(np.unique(cards)) == 52


def test_both_ways_through_open_spiel_play_the_same() -> None:
    pytest.importorskip("pyspiel")
    one, two = (peers.OpenSpielPlay("crazy_eights(players=4)", in_place) for in_place in (False, True))
    one(150), two(150)
    assert str(one.state) == str(two.state) and one.matches == two.matches


def test_pgx_plays_legally_and_begins_anew() -> None:
    pytest.importorskip("pgx")
    play = peers.PgxPlay("sparrow_mahjong", 8)
    ended = 0
    for _ in range(60):
        assert play(8) == 8
        rewards = np.asarray(play.state.rewards)
        assert rewards.max() <= 1.0  # an illegal action pays the others 2 each
        ended += int(np.asarray(play.state.terminated).sum())
        assert np.asarray(play.state._step_count).max() <= 30
    assert ended > 8


def test_every_contender_is_named_once_and_says_how_it_plays() -> None:
    every = list(chain(throughput.ours(), throughput.peers(), throughput.floors()))
    assert len({one.name for one in every}) == len(every) == len(throughput.contenders())
    assert all(one.how and one.group in chart.COLORS for one in every)
    for setting in SETTINGS:
        for n in SIZES:
            assert f"{setting}, Batch of {n}" in throughput.contenders()
    assert {name for name, one in throughput.contenders().items() if one.cores == 2} == {
        f"{setting}, Batch of 8192, 2 threads" for setting in SETTINGS
    }
    for name in throughput.contenders():
        floor = report.floor_of(name)
        assert floor is None or floor in throughput.contenders()
    assert set(report.COMPARED.values()) <= set(throughput.contenders())


@pytest.mark.parametrize("name", [name for name, one in throughput.contenders().items() if one.group != turns.PEERS])
def test_every_contender_of_ours_and_every_floor_gets_ready_and_plays(name: str) -> None:
    if "8192" in name:
        pytest.skip("as the smaller ones, only longer")
    play_round, _ = throughput.start(name, {})
    counted = play_round(0.002)
    assert counted["decisions"] >= 1 and counted["seconds"] >= 0.002


# --- Turns.


def test_children_play_in_turns_and_a_missing_one_is_named() -> None:
    """In processes of their own, pinned; who is missing does not stop the others."""
    every = throughput.contenders()
    ghost = dataclasses.replace(every[peers.UNO], name="nobody knows this")
    played = turns.take_turns("benchmarks.throughput", [every[f"{JP}, AEC"], ghost], 2, 0.01)
    assert list(played.rounds) == [f"{JP}, AEC"] and len(played.rounds[f"{JP}, AEC"]) == 2
    assert "KeyError" in played.missing["nobody knows this"]
    assert all(one["decisions"] > 0 and one["seconds"] >= 0.01 for one in played.rounds[f"{JP}, AEC"])


def test_a_peer_that_is_not_installed_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyspiel.py").write_text("raise ImportError('No module named pyspiel')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert throughput.main(["--only", peers.CRAZY_EIGHTS, "--rounds", "1", "--seconds", "0.01"]) == 0
    out = capsys.readouterr().out
    assert f"missing: {peers.CRAZY_EIGHTS}: No module named pyspiel; `pip install" in out


def test_a_child_that_dies_is_named_and_the_rounds_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    every = throughput.contenders()
    name = floors.no_op_name(JP)
    inner, seen = turns.Child.play, []

    def play(child: turns.Child, seconds: float) -> dict[str, float]:
        seen.append(child)
        if len(seen) == 4:  # the other way round in the second round
            child._process.kill()
            child._process.wait()
        return inner(child, seconds)

    monkeypatch.setattr(turns.Child, "play", play)
    two = [every[name], every[floors.no_op_name(FOUR)]]
    played = turns.take_turns("benchmarks.throughput", two, 3, 0.01)
    assert list(played.rounds) == [floors.no_op_name(FOUR)] and len(played.rounds[floors.no_op_name(FOUR)]) == 3
    assert played.missing[name] == "its process was ended by signal 9"


def test_contenders_that_need_more_cores_than_there_are_do_not_play(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "pick_cores", lambda n: [0])
    name = f"{JP}, Batch of 8192, 2 threads"
    played = turns.take_turns("benchmarks.throughput", [throughput.contenders()[name]], 1, 0.01)
    assert played.missing == {name: "it needs 2 cores, and this process may use 1"} and not played.rounds


def test_clocked_counts_all_decisions() -> None:
    asked: list[int] = []

    def play(decisions: int) -> int:
        asked.append(decisions)
        return decisions + 1

    counted = turns.clocked(play, 0.01)
    assert counted["decisions"] == sum(asked) + len(asked) and asked[0] == 1 and max(asked) > 1
