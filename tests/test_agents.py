"""Agents: their names, what they get to see and what not, and that what they answer is checked."""

from __future__ import annotations

import random
import types
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from games import EVERY_TABLE, engine_of
from scipy.stats import chisquare

from agents import ENCODERS, Agent, View, make_agent
from agents.agent import act, view_of
from agents.uniform import RandomAgent
from mitch_env import GAMES, Batch, Game, get_game
from mitch_env.events import recent_events
from mitch_env.kernels import kernels_of


class Own(RandomAgent):
    """An agent as a user may write one."""

    def __init__(self, name: str = "own", **arguments: Any) -> None:
        self.name = name
        self.arguments = arguments


class NoAgent:
    """Something else."""

    name = "no agent"


class Scripted(RandomAgent):
    """Answers what a function says."""

    name = "scripted"

    def __init__(self, answer: Any, encoder: str = "flat") -> None:
        self.answer = answer
        self.encoder = encoder

    def act_batch(self, view: View) -> np.ndarray:
        return self.answer(view)  # type: ignore[no-any-return]


def hashed_choice(view: View) -> np.ndarray:
    """A legal action that depends on all that is seen, and on nothing else."""
    chosen = []
    for observation, mask in zip(view.observation, view.mask, strict=True):
        legal = np.flatnonzero(mask)
        chosen.append(legal[zlib.crc32(observation.tobytes()) % len(legal)])
    return np.array(chosen)


def in_midgame(name: str, players: int, n: int, steps: int, seed: int = 1, **settings: Any) -> Batch:
    """Tables after some random decisions."""
    batch = Batch(name, n, players=players, seed=seed, **settings)
    for _ in range(steps):
        batch.step(batch.random_actions())
    return batch


# --- Names.


@pytest.mark.parametrize("game", GAMES)
def test_random_and_rule_are_names_of_agents_that_play(game: str) -> None:
    for name in ("random", "rule"):
        agent = make_agent(name, game)
        assert agent.name == name and agent.encoder in ENCODERS
        agent.reset(None, np.random.default_rng(1))
        batch = in_midgame(game, 3, 20, 10)
        rows = np.arange(20)
        assert np.all(batch.mask[rows, act(agent, batch, rows)])
        assert make_agent(name, get_game(game)).name == name


def test_a_class_of_ones_own_is_made_with_the_arguments_in_its_name() -> None:
    agent = make_agent("test_agents:Own?name=mine&depth=3&rate=0.5&quick=true&word=abc&list=[1,2]&none=null", "mitch_jp")
    assert isinstance(agent, Own) and agent.name == "mine"
    assert agent.arguments == {"depth": 3, "rate": 0.5, "quick": True, "word": "abc", "list": [1, 2], "none": None}
    assert isinstance(make_agent("agents.uniform:RandomAgent", "mitch_jp"), RandomAgent)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", r"unknown agent '': random, rule, policy:FILE, or package.module:Class"),
        ("rand", r"unknown agent 'rand': random, rule"),
        ("Random", r"unknown agent 'Random'"),
        ("policy", r"unknown agent 'policy'"),
        ("policy:", r"unknown agent 'policy:'"),
        (":Class", r"unknown agent ':Class'"),
        (".relative:Class", r"unknown agent '.relative:Class'"),
        ("a file.py:Class", r"unknown agent 'a file.py:Class'"),
        ("no_such_module:Class", r"cannot import 'no_such_module': No module named 'no_such_module'"),
        ("agents.nothing:Class", r"cannot import 'agents.nothing'"),
        ("test_agents:Nobody", r"'test_agents' has no 'Nobody'"),
        ("test_agents:NoAgent", r"a NoAgent has no 'encoder'; see agents.agent.Agent"),
        ("test_agents:__name__", r"'test_agents:__name__': .*not callable"),
        ("agents.uniform:RandomAgent?depth=3", r"RandomAgent\(\) takes no arguments"),
        ("test_agents:Own?depth", r"'depth' is no argument=value"),
        ("test_agents:Own?two words=1", r"'two words=1' is no argument=value"),
        ("test_agents:Own?=1", r"'=1' is no argument=value"),
        ("policy:x.safetensors?simple=true", r"unknown argument 'simple'; did you mean 'sample'\?"),
        ("policy:x.safetensors?path=1", r"unknown argument 'path'"),
    ],
)
def test_a_name_that_stands_for_nothing_is_refused_in_words(name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make_agent(name, "mitch_jp")


def test_an_unknown_game_and_a_missing_file_are_told() -> None:
    with pytest.raises(ValueError, match="unknown game 'mitch_pj'; did you mean 'mitch_jp'"):
        make_agent("random", "mitch_pj")
    with pytest.raises(OSError, match="missing"):
        make_agent("policy:missing.safetensors", "mitch_jp")


# --- Random play.


def test_the_random_agent_is_uniform_over_the_legal_actions_and_follows_its_generator() -> None:
    masks = np.zeros((8000, 7), np.bool_)
    masks[:, [1, 2, 5]] = True
    view = View(get_game("mitch_jp"), 3, np.zeros((8000, 1), np.float32), masks, np.zeros(8000, np.int8))
    agent, chosen = RandomAgent(), []
    for seed in (1, 1, 2):
        agent.reset(None, np.random.default_rng(seed))
        chosen.append(agent.act_batch(view))
    assert np.array_equal(chosen[0], chosen[1]) and not np.array_equal(chosen[0], chosen[2])
    counts = np.bincount(chosen[0], minlength=7)
    assert counts[[0, 3, 4, 6]].sum() == 0 and chisquare(counts[[1, 2, 5]]).pvalue > 1e-3
    for action in range(7):
        single = View(view.game, 3, view.observation[:5], np.eye(7, dtype=np.bool_)[[action] * 5], view.seat[:5])
        assert agent.act_batch(single).tolist() == [action] * 5


# --- What a view shows.


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_a_view_is_what_the_actors_of_its_rows_see(name: str, players: int, encoder: str) -> None:
    batch = in_midgame(name, players, 12, 17)
    canonical = batch.seen(None, encoder == "canonical")
    rows = np.array([7, 2, 11])
    shown: list[View] = []

    def answer(view: View) -> np.ndarray:
        shown.append(view)
        assert len(view) == 3 and view.game is batch.game and view.seats_encoded == batch.seats
        assert np.array_equal(view.seat, batch.tables.actor[rows])
        assert np.array_equal(view.observation, canonical.observation[rows])
        assert np.array_equal(view.mask, canonical.mask[rows])
        for i, row in enumerate(rows):
            assert view.events(i) == recent_events(batch.tables[row])
        return np.argmax(view.mask, 1)

    act(Scripted(answer, encoder), batch, rows)
    assert len(shown) == 1


def reachable(start: Any) -> Iterator[tuple[str, Any]]:
    """All objects that attributes, slots, items, bound methods, closures, defaults and array bases lead to, with the way."""
    seen: dict[int, Any] = {}
    todo = [("view", start)]
    while todo:
        way, one = todo.pop()
        if id(one) in seen or isinstance(one, (int, float, str, bytes, bool, type(None), types.ModuleType, type)):
            continue
        seen[id(one)] = one
        yield way, one
        if isinstance(one, dict):
            todo += [(f"{way}[{key!r}]", value) for key, value in one.items()]
        elif isinstance(one, (list, tuple, set, frozenset)):
            todo += [(f"{way}[...]", value) for value in one]
        elif isinstance(one, types.CellType):
            todo.append((f"{way}()", one.cell_contents))
        elif isinstance(one, np.ndarray):
            todo.append((f"{way}.base", one.base))
        else:
            names = ["__self__", "__closure__", "__defaults__", "__kwdefaults__", "__dict__", "__wrapped__", "__func__"]
            names += [name for name in dir(one) if not name.startswith("__")]
            names += [name for kind in type(one).__mro__ for name in getattr(kind, "__slots__", ())]
            for name in names:
                if name != "__weakref__" and (value := getattr(one, name, None)) is not None:
                    todo.append((f"{way}.{name}", value))


def holds_a_table(one: Any, game: Game) -> bool:
    """Whether something is a table, or has some."""
    return isinstance(one, Batch) or (isinstance(one, (np.ndarray, np.generic)) and one.dtype == game.rules.table_dtype)


@pytest.mark.parametrize("name", GAMES)
def test_no_way_leads_from_a_view_to_a_table(name: str) -> None:
    batch = in_midgame(name, 3, 5, 8)
    ways: list[str] = []

    def answer(view: View) -> np.ndarray:
        found = list(reachable(view))
        ways.extend(way for way, _ in found)
        assert [way for way, one in found if holds_a_table(one, batch.game)] == []
        assert not np.shares_memory(view.observation, batch.observation)
        assert not np.shares_memory(view.mask, batch.mask) and not np.shares_memory(view.seat, batch.actor)
        return np.argmax(view.mask, 1)

    for encoder in ENCODERS:
        act(Scripted(answer, encoder), batch, np.arange(5))
    assert {"view.mask", "view.worlds", "view.game.rules"} <= set(ways)


def test_the_walk_would_find_a_table() -> None:
    batch = Batch("mitch_jp", 2, seed=1)
    leaks = [types.SimpleNamespace(hidden=[batch.tables]), lambda: batch.tables, batch.step, batch.tables[0], {"a": (batch,)}]
    for leak in leaks:
        assert any(holds_a_table(one, batch.game) for _, one in reachable(leak))


def test_a_view_that_is_kept_tells_nothing_later() -> None:
    """Another seat is to act then: its worlds would show that seat's cards."""
    batch, kept = in_midgame("mitch_jp", 3, 4, 5), []

    def answer(view: View) -> np.ndarray:
        kept.append(view)
        assert view.worlds(1, 1).shape == (4, 1)
        return np.argmax(view.mask, 1)

    batch.step(act(Scripted(answer), batch, np.arange(4)))
    for ask in (lambda: kept[0].worlds(1, 1), lambda: kept[0].events(0)):
        with pytest.raises(ValueError, match="only while its agent is being asked"):
            ask()

    def fail(view: View) -> np.ndarray:
        kept.append(view)
        raise KeyError("the agent's own fault")

    with pytest.raises(KeyError):
        act(Scripted(fail), batch, np.arange(4))
    with pytest.raises(ValueError, match="only while"):
        kept[1].worlds(1, 1)


# --- Worlds.


@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_worlds_hold_no_hidden_truth(name: str, players: int) -> None:
    """Two sets of tables that differ in what the actors cannot see show the same, and give the same worlds byte by byte."""
    for steps in (0, 9, 25, 44):
        batch = in_midgame(name, players, 10, steps, seed=steps)
        twin, swapped, rng = in_midgame(name, players, 10, 0, seed=99), batch.snapshot(), random.Random(steps)
        for row in range(10):
            engine_of(batch.game).swap_hidden(swapped[row], int(batch.actor[row]), rng, 20)
        twin.restore(swapped)
        assert np.all(batch.tables.seed != twin.tables.seed)
        answers: list[list[Any]] = []

        def answer(view: View, answers: list[list[Any]] = answers) -> np.ndarray:
            events = [view.events(row) for row in range(len(view))]
            worlds = [view.worlds(3, key) for key in (0, 7, (1 << 64) - 1)]
            answers.append([view.observation, view.mask, view.seat, np.array([len(one) for one in events]), *worlds])
            answers[-1].append(np.concatenate([np.array(one, np.int64) for one in events]))
            return np.argmax(view.mask, 1)

        for encoder in ENCODERS:
            answers.clear()
            for one in (batch, twin):
                act(Scripted(answer, encoder), one, np.arange(10))
            assert all(mine.tobytes() == other.tobytes() for mine, other in zip(*answers, strict=True))


@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_worlds_look_like_the_real_table_to_their_seat_and_can_be_played(name: str, players: int) -> None:
    batch, other = in_midgame(name, players, 6, 13), Batch(name, 24, players=players, seed=1)
    before = batch.tables.tobytes()

    def answer(view: View) -> np.ndarray:
        worlds = view.worlds(4, 3)
        assert worlds.shape == (6, 4) and worlds.dtype == batch.tables.dtype
        other.restore(worlds.reshape(-1))
        assert np.array_equal(other.observation, np.repeat(view.observation, 4, 0))
        assert np.array_equal(other.mask, np.repeat(view.mask, 4, 0))
        assert len({world.tobytes() for world in worlds.reshape(-1)}) == 24
        assert not np.array_equal(view.worlds(4, 4), worlds)
        for _ in range(30):
            other.step(other.random_actions())
        worlds[:] = np.zeros((), worlds.dtype)
        return np.argmax(view.mask, 1)

    act(Scripted(answer), batch, np.arange(6))
    assert batch.tables.tobytes() == before, "worlds are copies"


# --- Wrong answers.


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_an_illegal_answer_is_refused_in_words(encoder: str, canonical: bool) -> None:
    batch = in_midgame("mitch_jp", 3, 4, 6, canonical=canonical)
    labels = batch.game.rules.action_labels(3)
    seen = batch.seen([2], encoder == "canonical").mask[0]
    illegal = int(np.flatnonzero(~seen)[0])

    def answer(view: View) -> np.ndarray:
        chosen = np.argmax(view.mask, 1)
        chosen[2] = wrong
        view.mask[:] = True  # an agent cannot make an action legal
        return chosen

    for wrong, words in [(illegal, labels[illegal]), (-1, "no action"), (106, "no action"), (1 << 62, "no action")]:
        with pytest.raises(ValueError, match=f"scripted, seat{batch.actor[2]}, tried: ") as refused:
            act(Scripted(answer, encoder), batch, np.arange(4))
        assert f"(action {wrong})" in str(refused.value) and words in str(refused.value)
        for action in np.flatnonzero(seen):
            assert f"{labels[action]} (action {action})" in str(refused.value)


@pytest.mark.parametrize(
    "answer",
    [
        lambda view: np.argmax(view.mask, 1)[:-1],
        lambda view: np.argmax(view.mask, 1)[:, None],
        lambda view: int(np.argmax(view.mask[0])),
        lambda view: np.argmax(view.mask, 1).astype(np.float64),
        lambda view: np.ones(len(view), np.bool_),
        lambda view: view.mask,
        lambda view: ["pass"] * len(view),
        lambda view: None,
    ],
)
def test_an_answer_of_another_shape_or_kind_is_refused(answer: Any) -> None:
    batch = Batch("mitch_jp", 4, seed=1)
    with pytest.raises(ValueError, match="scripted: act_batch must return 4 integers, got "):
        act(Scripted(answer), batch, np.arange(4))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_integers_of_any_width_and_lists_are_taken(dtype: type) -> None:
    batch = Batch("mitch_jp", 4, seed=1)
    expected = np.argmax(batch.mask, 1)
    assert np.array_equal(act(Scripted(lambda view: expected.astype(dtype)), batch, np.arange(4)), expected)
    assert np.array_equal(act(Scripted(lambda view: expected.tolist()), batch, np.arange(4)), expected)


def test_an_unknown_encoder_is_refused() -> None:
    with pytest.raises(ValueError, match="encoder='cononical': allowed are 'flat', 'canonical'"):
        act(Scripted(hashed_choice, "cononical"), Batch("mitch_jp", 4, seed=1), np.arange(4))


# --- The canonical encoder.


@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_masks_and_actions_map_back_from_canonical_names(name: str, players: int) -> None:
    for steps in (0, 11, 30):
        batch = in_midgame(name, players, 8, steps, seed=steps)
        rules, rows = batch.game.rules, np.arange(8)
        view, own_names = view_of(batch, rows, "canonical")
        for row in rows:
            code = rules.canonical(batch.tables[row], int(batch.actor[row]))
            renamed = [rules.rename_action(code, action) for action in range(batch.n_actions)]
            assert sorted(renamed) == list(range(batch.n_actions)), "a renaming loses no action"
            assert np.array_equal(view.mask[row][renamed], batch.mask[row])
            back = [rules.rename_action(rules.inverse(code), action) for action in renamed]
            assert back == list(range(batch.n_actions))
            twin = batch.snapshot([row])
            rules.relabel(batch.tables[row], code, twin[0])
            expected = np.zeros(batch.observation.shape[1], np.float32)
            rules.observe(twin[0], int(batch.actor[row]), expected)
            assert np.array_equal(view.observation[row], expected)
        for rank in range(3):
            chosen = np.array([np.flatnonzero(mask)[min(rank, mask.sum() - 1)] for mask in view.mask])
            assert np.all(batch.mask[rows, own_names(chosen)])


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_an_agent_plays_the_same_whatever_names_the_batch_uses(name: str, players: int, encoder: str) -> None:
    agent: Agent = Scripted(hashed_choice, encoder)
    batches = [Batch(name, 6, players=players, seed=4, canonical=canonical) for canonical in (False, True)]
    for step in range(70):
        rows = np.arange(6) if step % 3 else np.array([5, 1, 2])
        for batch in batches:
            batch.step(act(agent, batch, rows), rows)
        assert batches[0].tables.tobytes() == batches[1].tables.tobytes()


@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_the_renaming_depends_on_what_the_seat_sees_alone(name: str, players: int) -> None:
    for steps in (0, 7, 20, 41):
        batch = in_midgame(name, players, 8, steps, seed=steps + 1)
        rules = batch.game.rules
        for row, worlds in enumerate(batch.worlds(np.arange(8), 4, key=2).view(np.recarray)):
            seat = int(batch.actor[row])
            assert {rules.canonical(world, seat) for world in worlds} == {rules.canonical(batch.tables[row], seat)}


def suit_facts(table: Any, seat: int, suit: int) -> tuple[int, ...]:
    """What a seat sees of a suit of Mitch: its own column, its hand, and the column of its left neighbour."""
    of_suit = [table.tableau[seat], table.hand[seat], table.tableau[(seat + 1) % table.players]]
    return tuple(int(cards) >> 13 * suit & 0x1FFF for cards in of_suit)


@pytest.mark.parametrize(
    ("name", "players"), [(name, players) for name, players in EVERY_TABLE if get_game(name).rules.name == "mitch"]
)
def test_a_table_with_renamed_suits_looks_the_same_in_canonical_names(name: str, players: int) -> None:
    """Unless two suits are alike in the seat's own column and hand and its neighbour's column: they keep their order then."""
    rng, n_checked = np.random.default_rng(0), 0
    for steps in range(0, 50, 7):
        batch = in_midgame(name, players, 8, steps, seed=steps + 2)
        rules, kernels = batch.game.rules, kernels_of(batch.game.rules)
        twin = Batch(name, 8, players=players, seed=3)
        twin.restore(batch.snapshot())
        codes = [sum(int(new) << 2 * suit for suit, new in enumerate(rng.permutation(4))) for _ in range(8)]
        renamed = batch.snapshot()
        for row, code in enumerate(codes):
            rules.relabel(batch.tables[row], code, renamed[row])
        twin.restore(renamed)
        view, own_names = view_of(batch, np.arange(8), "canonical")
        again, twin_names = view_of(twin, np.arange(8), "canonical")
        chosen = np.argmax(view.mask, 1)
        mine, other = own_names(chosen), twin_names(chosen)
        for row, code in enumerate(codes):
            seat = int(batch.actor[row])
            facts = {suit_facts(batch.tables[row], seat, suit) for suit in range(4)}
            if len(facts) == 4:
                assert np.array_equal(view.observation[row], again.observation[row])
                assert np.array_equal(view.mask[row], again.mask[row])
                assert other[row] == rules.rename_action(code, int(mine[row]))
                n_checked += 1
            compiled = np.zeros(1, np.int64)
            kernels.rename_rows(np.array([code]), np.array([0]), mine[[row]], False, compiled)
            assert compiled[0] == rules.rename_action(code, int(mine[row]))
    assert n_checked > 20
