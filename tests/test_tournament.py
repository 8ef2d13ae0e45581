"""Tournaments: every seating of every seed, margins as by hand, honest intervals, and results that can be repeated."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from games import EVERY_TABLE

from agents import View, play, tournament
from agents.play import play_matches
from agents.tournament import Duel, duel, interval, main, rated_options, run, table_text
from agents.uniform import RandomAgent
from mitch_env import GAMES, TableEnv, get_game
from mitch_env.chance import match_seeds

ROOT = Path(__file__).parents[1]


def hashed_choice(observation: np.ndarray, mask: np.ndarray, salt: int) -> int:
    """A legal action that depends on all that is seen, and on nothing else."""
    legal = np.flatnonzero(mask)
    return int(legal[zlib.crc32(observation.tobytes(), salt) % len(legal)])


class Hashing(RandomAgent):
    """Plays without chance; each salt another way."""

    def __init__(self, name: str = "hashing", salt: int = 0) -> None:
        self.name = name
        self.salt = salt

    def act_batch(self, view: View) -> np.ndarray:
        return np.array([hashed_choice(*row, self.salt) for row in zip(view.observation, view.mask, strict=True)])


class Random(RandomAgent):
    """Random play under another name."""

    def __init__(self, name: str = "other random") -> None:
        self.name = name


# --- Matches.


@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_totals_are_those_of_the_same_matches_played_one_by_one(name: str, players: int) -> None:
    game = get_game(name)
    deals = {field: 2 for field in ("deals", "rounds") if hasattr(game.defaults, field)}
    options, agents = game.options(players=players, **deals), [Hashing(salt=salt) for salt in range(3)]
    rng = np.random.default_rng(players)
    seating, seeds = rng.integers(0, 3, (5, players)), rng.integers(0, 1 << 50, 5).astype(np.uint64)
    ended: list[int] = []
    totals = play_matches(game, options, agents, seating, seeds, rng=rng, progress=ended.append)
    assert sum(ended) == 5 and totals.shape == (5, players) and totals.dtype == np.float64
    env = TableEnv(game, options)
    for row in range(5):
        env.reset(seed=int(seeds[row]))
        while env.agents and not any(env.terminations.values()) and not any(env.truncations.values()):
            seen = env.observe(env.agent_selection)
            who = seating[row, env.possible_agents.index(env.agent_selection)]
            env.step(hashed_choice(seen["observation"], seen["action_mask"], int(who)))
        assert totals[row].tolist() == env.table.totals[:players].tolist()


def test_matches_do_not_depend_on_how_many_are_played_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    game, agents = get_game("mitch_jp"), [Hashing(salt=1), Hashing(salt=2)]
    seating, seeds = np.tile([[0, 1, 1], [1, 1, 0]], (10, 1)), np.arange(20, dtype=np.uint64)
    results = []
    for tables in (2048, 7, 1):
        monkeypatch.setattr(play, "_TABLES", tables)
        results.append(play_matches(game, game.options(deals=1), agents, seating, seeds, rng=np.random.default_rng(0)))
    assert np.array_equal(results[0], results[1]) and np.array_equal(results[0], results[2])


def test_each_agent_has_chance_of_its_own() -> None:
    """What one agent draws does not change what the other draws."""
    drawn: dict[str, list[float]] = {}

    class Drawing(Random):
        def reset(self, seat: int | None, rng: np.random.Generator) -> None:
            super().reset(seat, rng)
            drawn[self.name] = rng.random(3).tolist()
            assert seat is None

    game = get_game("mitch_jp")
    for _ in range(2):
        before = dict(drawn)
        agents = [Drawing("a"), Drawing("b")]
        play_matches(
            game, game.options(deals=1), agents, np.array([[0, 1, 0]]), np.array([1], np.uint64), rng=np.random.default_rng(4)
        )
        assert drawn["a"] != drawn["b"] and before in ({}, drawn)


# --- A duel.


def test_every_seating_of_every_seed_is_played_with_the_same_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """And margins, wins and blocks are what comes out by hand."""
    asked: dict[str, Any] = {}
    # Two blocks of three seatings: the one sits in seat 0, 1, 2.
    totals = np.array([[6, 1, 3], [2, 2, 0], [0, 0, 9], [5, 5, 5], [4, -1, 1], [1, 2, -4]], np.float64)

    def fake(game: Any, options: Any, agents: Any, seating: Any, seeds: Any, **settings: Any) -> np.ndarray:
        asked.update(agents=agents, seating=seating, seeds=seeds)
        return totals

    monkeypatch.setattr(tournament, "play_matches", fake)
    pair = (Random("a"), Random("b"))
    one = duel(get_game("mitch_jp"), get_game("mitch_jp").options(players=3), pair, 2, 7)
    assert asked["agents"] == pair
    assert asked["seating"].tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]] * 2
    assert asked["seeds"].tolist() == np.repeat(match_seeds(7, 2), 3).tolist() and len(set(asked["seeds"])) == 2
    # 6 - 2, 2 - 1, 9 - 0 and 5 - 5, -1 - 2.5, -4 - 1.5.
    blocks = [(4 + 1 + 9) / 3, (0 - 3.5 - 5.5) / 3]
    assert one.margin == pytest.approx(sum(blocks) / 2)
    assert one.win_share == pytest.approx((1 + 1 / 2 + 1 + 1 / 3 + 0 + 0) / 6)
    assert (one.a, one.b, one.blocks) == ("a", "b", 2)
    # With two blocks the resampled means are either block or their mean.
    assert (one.low, one.high) == pytest.approx((min(blocks), max(blocks)))


@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_the_same_play_under_two_names_comes_out_exactly_even(name: str, players: int) -> None:
    """Each seed is played in every seating with the same cards, so neither cards nor seats favour anybody."""
    game = get_game(name)
    options = rated_options(game, {"players": players})
    one = duel(game, options, (Hashing("a"), Hashing("b")), 3, players)
    assert (one.margin, one.low, one.high) == (0, 0, 0) and one.win_share == pytest.approx(1 / players)
    assert one.verdict == "no difference shown"


@pytest.mark.parametrize("name", GAMES)
def test_with_two_players_the_other_way_round_is_the_same_with_the_sign_changed(name: str) -> None:
    there, back = run(name, [Hashing("a", 1), Hashing("b", 2)], options={"players": 2}, blocks=20, seed=3)
    assert (there.a, there.b, back.a, back.b) == ("a", "b", "b", "a")
    assert there.margin == pytest.approx(-back.margin) and there.win_share == pytest.approx(1 - back.win_share)
    assert there.low < there.high, "they do play differently"


@pytest.mark.parametrize("players", [2, 3, 5])
def test_random_play_against_itself_shows_no_difference(players: int) -> None:
    for one in run("mitch_jp", [Random("a"), Random("b")], options={"players": players}, blocks=60, seed=11):
        assert one.low < 0 < one.high and one.verdict == "no difference shown"
        assert abs(one.win_share - 1 / players) < 0.1


@pytest.mark.parametrize("name", GAMES)
def test_the_rule_agent_beats_random_play_and_not_the_other_way_round(name: str) -> None:
    rule, random = run(name, ["rule", "random"], blocks=40, seed=1)
    assert rule.verdict == "rule beats random" and random.verdict == "random loses to rule"


# --- The interval.


def test_the_interval_covers_the_true_mean_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    samples = [rng.normal(3, 2, 40) if i % 2 else 3 + rng.exponential(2, 40) - 2 for i in range(100)]
    covered = np.array([low <= 3 <= high for low, high in (interval(sample, rng) for sample in samples)])
    assert 0.86 <= covered.mean() <= 0.99


def test_the_interval_is_that_of_a_mean() -> None:
    rng = np.random.default_rng(6)
    assert interval(np.full(9, 2.5), rng) == (2.5, 2.5)
    widths = []
    for n in (50, 5000):
        values = rng.normal(size=n)
        low, high = interval(values, rng)
        assert low < values.mean() < high
        widths.append((high - low) / (2 * 1.96 * values.std() / n**0.5))
    assert widths == pytest.approx([1, 1], abs=0.1)


# --- A tournament.


def test_all_ordered_pairs_play_and_the_seed_decides_everything() -> None:
    names = ["a", "b", "c"]
    results = [
        run("mitch_jp", [Random(name) for name in names], options={"players": 4}, blocks=3, seed=seed) for seed in (5, 5, 6)
    ]
    assert [(one.a, one.b) for one in results[0]] == [(a, b) for a in names for b in names if a != b]
    assert results[0] == results[1] and results[0] != results[2]


def test_matches_have_one_deal_unless_it_is_said() -> None:
    game = get_game("mitch_jp")
    assert rated_options(game, None).deals == 1 and rated_options(game, {"players": 4}).deals == 1
    assert rated_options(game, MappingProxyType({"players": 4})).deals == 1
    assert rated_options(game, {"deals": 3}).deals == 3
    assert rated_options(game, game.options(players=4)) == game.options(players=4)
    for other in GAMES.values():
        rated = rated_options(other, {"players": 2})
        assert 1 in [getattr(rated, name) for name in ("deals", "rounds") if hasattr(rated, name)]


def test_what_cannot_be_played_is_refused_in_words() -> None:
    two, one = ["random", "test_tournament:Hashing"], Random("x")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"agents": ["random"]}, "at least two agents, got 1"),
        ({"agents": ["random", "rule", "random"]}, "random is given twice: each agent once"),
        ({"agents": [one, "random", one]}, "x is given twice: each agent once"),
        ({"agents": ["random", "agents.rule_mitchell:MitchellRuleAgent"]}, "rule cannot play mitch_jp with these options"),
        ({"blocks": 1}, "blocks=1: an integer from 2 to"),
        ({"blocks": 2.5}, "blocks=2.5"),
        ({"seed": -1}, "seed must be an integer from 0 to"),
        ({"seed": 1 << 64}, "seed must be an integer from 0 to"),
        ({"options": {"players": 99}}, "players=99"),
        ({"options": {"plyers": 3}}, "unknown option 'plyers'; did you mean 'players'"),
        ({"game": "mitch_pj"}, "unknown game 'mitch_pj'; did you mean 'mitch_jp'"),
    ]
    for changes, words in cases:
        with pytest.raises(ValueError, match=words):
            run(**{"game": "mitch_jp", "agents": two, "blocks": 2} | changes)


def test_different_agents_of_the_same_name_are_told_apart() -> None:
    duels = run("mitch_ru", [Random("x"), "rule", Random("x"), Random("x (2)")], blocks=2)
    names = ["x", "rule", "x (2)", "x (2) (2)"]
    assert [(one.a, one.b) for one in duels] == [(a, b) for a in names for b in names if a != b]


def test_the_verdict_is_what_the_interval_says() -> None:
    cases = {(0.1, 2.0): "a beats b", (-2.0, -0.1): "a loses to b", (-0.1, 0.1): "no difference shown"}
    for (low, high), words in cases.items():
        assert Duel("a", "b", (low + high) / 2, low, high, 0.5, 9).verdict == words
    for low, high in ((0.0, 1.0), (-1.0, 0.0)):
        assert Duel("a", "b", 0.5, low, high, 0.5, 9).verdict == "no difference shown", "0 itself is in the interval"


def test_the_table_says_it_all_in_columns() -> None:
    duels = [Duel("rule", "a long name", 3.14159, -1.0, 12.345, 0.51234, 9), Duel("a long name", "rule", -30.0, -31, -29, 0, 9)]
    lines = table_text(duels).splitlines()
    assert lines[0].split() == ["one", "among", "margin", "95", "%", "interval", "wins"]
    assert "+3.14" in lines[1] and "-1.00 to +12.35" in lines[1] and "0.512" in lines[1] and "no difference shown" in lines[1]
    assert "-30.00" in lines[2] and "-31.00 to -29.00" in lines[2] and lines[2].endswith("a long name loses to rule")
    ends = [lines[0].index("margin") + len("margin"), lines[1].index("+3.14") + 5, lines[2].index("-30.00") + 6]
    assert len(set(ends)) == 1, "numbers stand below each other"


# --- The command.


def test_a_folder_that_cannot_be_made_is_told_before_anything_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(tournament, "run", lambda *args, **kwargs: pytest.fail("played"))
    command = ["--game", "mitch_ru", "--agents", "random", "rule"]
    assert tournament.main([*command, "--out", str(tmp_path / "file")]) == 2
    assert "error: " in capsys.readouterr().err
    with pytest.raises(SystemExit):
        tournament.main([*command, "--out", ""])


def test_ctrl_c_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*args: Any, **kwargs: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(tournament, "run", interrupted)
    assert tournament.main(["--game", "mitch_ru", "--agents", "random", "rule"]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_the_command_prints_and_writes_the_results(tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    command = ["-m", "agents.tournament", "--game", "mitch_ru", "--agents", "random", "random"]
    in_checkout: dict[str, Any] = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": 300}
    failed = subprocess.run([sys.executable, *command, "--blocks", "3"], **in_checkout)
    assert failed.returncode == 2 and failed.stderr.splitlines()[-1].startswith("error: random is given twice")
    command[-1] = "rule"
    more = ["--players", "4", "--blocks", "3", "--seed", "12", "--options", "deals=2", '{"playoffs": 1}', "--out", str(out)]
    done = subprocess.run([sys.executable, *command, *more], **in_checkout)
    assert done.returncode == 0, done.stderr
    assert "rule" in done.stdout and "95 % interval" in done.stdout and str(out / "tournament.json") in done.stdout
    summary = json.loads((out / "tournament.json").read_text())
    assert set(summary) == {"game", "options", "seed", "command", "versions", "duels"}
    assert (summary["game"], summary["seed"]) == ("mitch_ru", 12)
    assert summary["options"] == get_game("mitch_ru").options(players=4, deals=2, playoffs=1).as_dict()
    assert "agents.tournament --game mitch_ru --agents random rule --players 4" in summary["command"]
    assert summary["versions"]["numpy"] == np.__version__ and set(summary["versions"]) == {"mitch_env", "numpy", "python"}
    options = {"players": 4, "deals": 2, "playoffs": 1}
    again = run("mitch_ru", ["random", "rule"], options=options, blocks=3, seed=12)
    assert [Duel(**one) for one in summary["duels"]] == again, "the file holds all that is needed to repeat it"
    picture = (out / "tournament.png").read_bytes()
    assert picture.startswith(b"\x89PNG\r\n") and len(picture) > 5000


def test_a_picture_of_many_duels_and_of_one(tmp_path: Path) -> None:
    pairs = [("a", "b"), ("a", "c"), ("b", "a"), ("b", "c"), ("c", "a"), ("c", "b")]
    duels = [Duel(*pair, i - 2.5, i - 3.0, i - 2.0, 0.4, 9) for i, pair in enumerate(pairs)]
    for number, some in enumerate([duels, duels[:1], [Duel("a", "b", 0.0, 0.0, 0.0, 0.5, 2)] * 2]):
        tournament.draw_matrix(some, tmp_path / f"{number}.png", "a title")
        assert (tmp_path / f"{number}.png").stat().st_size > 3000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--game", "mitch_pj"], "unknown game 'mitch_pj'; did you mean 'mitch_jp'"),
        (["--agents", "random"], "at least two agents, got 1"),
        (["--agents", "random", "rulle"], "unknown agent 'rulle'"),
        (["--agents", "random", "no_such_module:Agent"], "cannot import 'no_such_module'"),
        (["--agents", "random", "policy:missing.safetensors"], "missing.safetensors"),
        (["--blocks", "1"], "blocks=1"),
        (["--seed", "-4"], "seed must be"),
        (["--players", "99"], "players=99"),
        (["--options", "players"], "a JSON object or key=value is needed"),
        (["--options", "{players: 3}"], "is no JSON object"),
        (["--options", "colour=3"], "unknown option 'colour'"),
    ],
)
def test_wrong_input_is_a_sentence_and_status_2(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    good = ["--game", "mitch_jp", "--agents", "random", "test_tournament:Hashing", "--blocks", "2"]
    assert main([*good, *arguments]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("error: ") and words in error


def test_an_output_folder_that_is_a_file_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    arguments = ["--game", "mitch_jp", "--agents", "random", "test_tournament:Hashing", "--blocks", "2"]
    assert main([*arguments, "--out", str(tmp_path / "file")]) == 2
    assert "file" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("missing", ["--game", "--agents"])
def test_what_is_needed_is_asked_for(missing: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = {"--game": ["mitch_jp"], "--agents": ["random", "rule"]}
    del arguments[missing]
    with pytest.raises(SystemExit) as stopped:
        main([word for key, values in arguments.items() for word in (key, *values)])
    assert stopped.value.code == 2 and missing in capsys.readouterr().err
