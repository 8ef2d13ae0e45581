"""The commands ``python -m mitch_env.records generate``, ``replay`` and ``show``, on good files and on damaged ones."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reference.mitch import check_record

import mitch_env
from mitch_env.chance import match_seeds
from mitch_env.record_commands import main, match_text, parse_options
from mitch_env.records import replay

COMMAND = [sys.executable, "-m", "mitch_env.records"]
#: Command lines that play every clock, every scoring and every number of players.
TABLES = [
    "--game mitch_jp",
    "--game mitch_jp --options players=4 take_discard=true",
    "--game mitch_jp --options players=2 clock=ace_stock clock_cards=2 waiting_penalty=true closer_plays=true",
    "--game mitch_ru --options players=5",
    "--game mitch_ru --options deals=2 must_place=false hand_size=3",
    "--game mitch_original --options shortest_double=true",
]

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line; exit status, stdout and stderr."""

    def run_it(*words: str | Path) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            status = main([str(word) for word in words])
        except SystemExit as stop:  # argparse
            status = int(stop.code or 0)
        out, err = capsys.readouterr()
        return status, out, "".join(line for line in err.splitlines(True) if not line.startswith("mitch_env: compiling"))

    return run_it


@pytest.fixture(scope="module")
def good() -> list[str]:
    """Three lines of a good file."""
    env = mitch_env.make("mitch_jp", players=2)
    lines = []
    for seed in range(3):
        env.reset(seed=seed)
        while not all(env.terminations.values()):
            env.step(env.parse_action(env.legal_moves()[seed % len(env.legal_moves())]))
        lines.append(json.dumps(env.record(["anna", "bruno"], legal=True)))
    return lines


def no_traceback(*texts: str) -> None:
    for text in texts:
        assert "Traceback" not in text
        assert "Error(" not in text


# --- generate


@pytest.mark.parametrize("legal", [[], ["--legal"]])
@pytest.mark.parametrize("table", TABLES)
def test_aec_and_batch_write_the_same_bytes(run: Run, table: str, legal: list[str]) -> None:
    outputs = [
        run("generate", *table.split(), "--matches", "6", "--seed", "7", *legal, "--via", via) for via in ("aec", "batch")
    ]
    assert outputs[0] == outputs[1]
    status, out, err = outputs[0]
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == 6
    for line in lines:
        record = json.loads(line)
        assert all(("legal" in move) == bool(legal) for deal in record["deals"] for move in deal["moves"])
        assert record["agents"] == ["random"] * record["options"]["players"]
        assert replay(record) == check_record(record) == []


def test_the_command_of_the_readme_writes_lines_and_nothing_else() -> None:
    """As a user runs it, in a process of its own: stdout holds JSON Lines only, whatever is said on stderr."""
    words = [
        "--game",
        "mitch_jp",
        "--matches",
        "3",
        "--seed",
        "7",
        "--options",
        '{"players": 4, "take_discard": true}',
        "--legal",
    ]
    outputs = []
    for via in ("aec", "batch"):
        done = subprocess.run([*COMMAND, "generate", *words, "--via", via], capture_output=True, check=True, timeout=300)
        outputs.append(done.stdout)
        no_traceback(done.stderr.decode())
    assert outputs[0] == outputs[1]
    assert outputs[0].endswith(b"\n")
    for line in outputs[0].splitlines():
        options = json.loads(line)["options"]
        assert (options["players"], options["take_discard"]) == (4, True)


def test_generate_is_deterministic_and_follows_from_the_seed(run: Run) -> None:
    words = ("generate", "--game", "mitch_ru", "--matches", "4")
    first = run(*words, "--seed", "3")
    assert run(*words, "--seed", "3") == first
    assert run(*words, "--seed", "4")[1] != first[1]
    assert run(*words)[1] == run(*words, "--seed", "0")[1]
    seeds = [json.loads(line)["seed"] for line in first[1].splitlines()]
    assert seeds == match_seeds(3, 4).tolist()
    assert len(set(seeds)) == 4
    assert max(seeds) < 1 << 53  # exact in every JSON reader


def test_more_matches_go_on_from_the_same_ones(run: Run) -> None:
    few = run("generate", "--game", "mitch_jp", "--matches", "2", "--seed", "1")[1]
    more = run("generate", "--game", "mitch_jp", "--matches", "5", "--seed", "1", "--via", "batch")[1]
    assert more.startswith(few)


@pytest.mark.parametrize(
    "forms",
    [
        ['{"players": 4, "take_discard": true}'],
        ["players=4", "take_discard=true"],
        ["players=4", "take_discard=True"],
        ['{"players": 4}', "take_discard=true"],
        [' {"players": 2, "take_discard": true}', "players=4"],
        ["players=4", "--options", "take_discard=true"],
    ],
)
def test_options_in_json_and_as_key_and_value(run: Run, forms: list[str]) -> None:
    """Several are put together; of two with one name the later one holds."""
    status, out, _ = run("generate", "--game", "mitch_jp", "--options", *forms)
    assert status == 0
    assert json.loads(out)["options"] == mitch_env.get_game("mitch_jp").options(players=4, take_discard=True).as_dict()


def test_words_numbers_and_nothing_as_values() -> None:
    assert parse_options(
        ["deals=players", "clock=joker", 'tie_break="low"', "players=4", "playoffs=null", "must_place=False"]
    ) == {
        "deals": "players",
        "clock": "joker",
        "tie_break": "low",
        "players": 4,
        "playoffs": None,
        "must_place": False,
    }
    assert parse_options([]) == {}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--game", "mitch_jp", "--options", "players=9"], "players=9: an integer from 2 to 5 is needed"),
        (["--game", "mitch_jp", "--options", "players=4.0"], "players=4.0: an integer"),
        (["--game", "mitch_jp", "--options", "players=NaN"], "players='NaN'"),
        (["--game", "mitch_jp", "--options", "players="], "players=''"),
        (["--game", "mitch_jp", "--options", "player=4"], "unknown option 'player'; did you mean 'players'?"),
        (["--game", "mitch_jp", "--options", "=4"], "unknown option ''"),
        (["--game", "mitch_jp", "--options", "players"], "a JSON object or key=value is needed"),
        (["--game", "mitch_jp", "--options", "[4]"], "a JSON object or key=value is needed"),
        (["--game", "mitch_jp", "--options", '{"players": 4'], "is no JSON object"),
        (["--game", "mitch_jp", "--options", '{"players": NaN}'], "NaN is no JSON value"),
        (["--game", "mitch_jp", "--options", '{"players": 4, "players": 3}'], "'players' stands twice"),
        (["--game", "mitch_jp", "--options", '{"players": ' + "[" * 50_000 + "}"], "nested too deeply"),
        (["--game", "mitch_jp", "--options", "players=" + "[" * 50_000], "players="),
        (["--game", "mitch_ru", "--options", "take_discard=true"], "take_discard=True does not go with clock='ace_hand'"),
        (["--game", "mitch"], "unknown game 'mitch'"),
        (["--game", "MITCH_JP"], "unknown game 'MITCH_JP'"),
        (["--game", ""], "unknown game ''"),
        (["--game", "mitch_jp", "--matches", "-1"], "--matches=-1: an integer from 0"),
        (["--game", "mitch_jp", "--matches", "1" + "0" * 30], "--matches=1000"),
        (["--game", "mitch_jp", "--matches", "two"], "invalid int value: 'two'"),
        (["--game", "mitch_jp", "--seed", "-1"], "--seed must be an integer from 0"),
        (["--game", "mitch_jp", "--seed", str(1 << 64)], "--seed must be an integer from 0"),
        (["--game", "mitch_jp", "--via", "magic"], "invalid choice: 'magic'"),
        ([], "required: --game"),
    ],
)
def test_wrong_command_lines_get_a_sentence_and_no_record(run: Run, words: list[str], sentence: str) -> None:
    status, out, err = run("generate", *words)
    assert (status, out) == (2, "")
    assert sentence in err
    no_traceback(err)


def test_no_matches_are_no_lines(run: Run) -> None:
    assert run("generate", "--game", "mitch_jp", "--matches", "0") == (0, "", "")


@pytest.mark.skipif(os.name == "nt", reason="pipes break otherwise there")
def test_a_reader_that_goes_away_ends_it_quietly() -> None:
    words = ["generate", "--game", "mitch_jp", "--matches", "2000", "--legal"]
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert json.loads(process.stdout.readline())["format"] == "mitch-record"
        process.stdout.close()
        err = process.stderr.read().decode()
        assert process.wait(timeout=300) == 1
    assert [line for line in err.splitlines() if not line.startswith("mitch_env: compiling")] == []


# --- replay


def test_a_good_file_replays(run: Run, good: list[str], tmp_path: Path) -> None:
    file = tmp_path / "matches.jsonl"
    file.write_text("\n".join(good) + "\n")
    assert run("replay", file) == (0, "3 records ok, 0 with problems\n", "")
    file.write_bytes("\r\n\r\n".join(good).encode())  # Windows, blank lines, no newline at the end
    assert run("replay", file) == (0, "3 records ok, 0 with problems\n", "")


def test_each_deviation_is_a_line_with_line_deal_and_move(run: Run, good: list[str], tmp_path: Path) -> None:
    second, third = json.loads(good[1]), json.loads(good[2])
    second["deals"][0]["moves"][3]["legal"].pop()
    second["deals"][1]["scores"][0] += 1
    second["winners"] = [0, 1, 2]
    third["deals"][1]["moves"][2]["seat"] = 3
    file = tmp_path / "matches.jsonl"
    file.write_text("\n".join([good[0], json.dumps(second), "", json.dumps(third)]))
    status, out, err = run("replay", file)
    lines = out.splitlines()
    assert (status, err) == (1, "")
    assert lines[0].startswith("line 2: deal 1, move 4: legal moves differ: legal but not written [")
    assert lines[1].startswith("line 2: deal 2: scores written as [")
    assert lines[2].startswith("line 2: winners written as [0, 1, 2], played as [")
    assert lines[3].startswith("line 4: deal 2, move 3: seat written as 3, played as ")
    assert lines[4:] == ["1 records ok, 2 with problems"]


def mangled(line: str, change: Callable[[dict[str, Any]], Any]) -> bytes:
    record = json.loads(line)
    change(record)
    return json.dumps(record).encode()


DAMAGES: dict[str, tuple[Callable[[str], bytes], str]] = {
    "bad JSON": (lambda line: line.replace(":", ";", 1).encode(), "line 1: not JSON: Expecting ':' delimiter"),
    "a truncated line": (lambda line: line[: len(line) // 2].encode(), "line 1: not JSON: "),
    "two records on a line": (lambda line: f"{line} {line}".encode(), "line 1: not JSON: Extra data"),
    "a word": (lambda line: b"hello", "line 1: not JSON: Expecting value"),
    "not UTF-8": (lambda line: line.replace("anna", "\xe4nna").encode("latin-1"), "line 1: not UTF-8 text: "),
    "UTF-16": (lambda line: line.encode("utf-16"), "line 1: not UTF-8 text: "),
    "a byte order mark": (lambda line: line.encode("utf-8-sig"), "line 1: not JSON: Unexpected UTF-8 BOM"),
    "zero bytes": (lambda line: b"\0" * 1000, "line 1: not JSON: "),
    "random bytes": (lambda line: bytes(range(255, 0, -1)), "line 1: not UTF-8 text: "),
    "NaN": (lambda line: line.replace('"seed": 0', '"seed": NaN').encode(), "line 1: not JSON: NaN is no JSON value"),
    "a number without end": (lambda line: line.replace('"seed": 0', '"seed": ' + "9" * 9999).encode(), "line 1: not JSON: "),
    "nested without end": (lambda line: b"[" * 100_000, "line 1: not JSON: nested too deeply"),
    "nested nearly without end": (lambda line: b"[" * 900 + b"]" * 900, "line 1: the record must be an object"),
    "a key twice": (lambda line: line.replace("{", '{"seed": 1, ', 1).encode(), "line 1: not JSON: 'seed' stands twice"),
    "a list": (lambda line: f"[{line}]".encode(), "line 1: the record must be an object, got [{"),
    "a number": (lambda line: b"7", "line 1: the record must be an object, got 7"),
    "null": (lambda line: b"null", "line 1: the record must be an object, got None"),
    "no keys": (lambda line: b"{}", "line 1: the record has no 'format'"),
    "another format": (lambda line: mangled(line, lambda r: r.update(format="pgn")), "line 1: the format is 'pgn'"),
    "a later version": (lambda line: mangled(line, lambda r: r.update(version=2)), "line 1: version 2 is not known"),
    "an unknown game": (lambda line: mangled(line, lambda r: r.update(game="whist")), "line 1: unknown game 'whist'"),
    "an unknown option": (lambda line: mangled(line, lambda r: r["options"].update(trump=1)), "line 1: unknown option 'trump'"),
    "an option out of range": (
        lambda line: mangled(line, lambda r: r["options"].update(players=6)),
        "line 1: players=6: an integer",
    ),
    "options that are a list": (
        lambda line: mangled(line, lambda r: r.update(options=[3])),
        "line 1: 'options' must be an object",
    ),
    "an unknown card": (
        lambda line: mangled(line, lambda r: r["deals"][0]["stock"].__setitem__(0, "1S")),
        "line 1: deal 1: '1S' is no card",
    ),
    "a missing card": (lambda line: mangled(line, lambda r: r["deals"][1]["stock"].pop(0)), "line 1: deal 2: missing: "),
    "a card twice": (
        lambda line: mangled(line, lambda r: r["deals"][0]["hands"][0].__setitem__(0, r["deals"][0]["hands"][0][1])),
        "line 1: deal 1: more than once: ",
    ),
    "an impossible move": (
        lambda line: mangled(line, lambda r: r["deals"][0]["moves"][0].update(move="ace AS")),
        "line 1: deal 1, move 1: 'ace AS' is no move",
    ),
    "no move at all": (
        lambda line: mangled(line, lambda r: r["deals"][0]["moves"][0].update(move="win")),
        "line 1: deal 1, move 1: 'win' is no move",
    ),
    "a deal too few": (lambda line: mangled(line, lambda r: r["deals"].pop()), "line 1: the match is not over after 1 deals"),
    "a deal too many": (
        lambda line: mangled(line, lambda r: r["deals"].append(r["deals"][0])),
        "line 1: deal 3: the match was over after 2 deals, but there are 3",
    ),
    "a move too many": (
        lambda line: mangled(line, lambda r: r["deals"][1]["moves"].append(r["deals"][1]["moves"][-1])),
        "the deal was over after ",
    ),
    "a move too few": (
        lambda line: mangled(line, lambda r: r["deals"][0]["moves"].pop()),
        "line 1: deal 1: the deal is not over",
    ),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_file_gets_sentences(run: Run, good: list[str], tmp_path: Path, what: str) -> None:
    """The good line after the damaged one is still read, and ``show`` says no more than ``replay``."""
    damage, sentence = DAMAGES[what]
    file = tmp_path / "damaged.jsonl"
    file.write_bytes(damage(good[0]) + b"\n" + good[1].encode())
    status, out, err = run("replay", file)
    assert (status, err) == (1, "")
    assert sentence in out
    assert re.search(r"^1 records ok, [1-9]\d* with problems$", out.splitlines()[-1])
    status, shown, err = run("show", file, "--match", "1")
    assert (status, err) == (1, "")
    assert shown.startswith("line 1 cannot be shown, it does not replay:\n  ")
    no_traceback(out, shown)
    assert run("show", file)[0] == 1


@pytest.mark.parametrize("command", ["replay", "show"])
def test_files_that_cannot_be_read_get_a_sentence(run: Run, tmp_path: Path, command: str) -> None:
    for path, reason in [(tmp_path / "nowhere.jsonl", "No such file"), (tmp_path, "Is a directory"), ("a\0b", "null byte")]:
        status, out, err = run(command, path)
        assert (status, out) == (2, "")
        assert err.startswith("error: ")
        assert reason in err
        no_traceback(err)
    assert run(command)[0] == 2


def test_an_empty_file_has_no_records(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "empty.jsonl"
    for content in (b"", b"\n \n\r\n"):
        file.write_bytes(content)
        assert run("replay", file) == (0, "0 records ok, 0 with problems\n", "")
        assert run("show", file) == (0, "there is no match in the file\n", "")


@pytest.mark.parametrize("command", ["replay", "show"])
def test_a_minus_reads_stdin(run: Run, good: list[str], monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(good[0].encode())))
    status, out, err = run(command, "-")
    assert (status, err) == (0, "")
    assert ("anna" if command == "show" else "1 records ok, 0 with problems") in out


# --- show


@pytest.mark.parametrize("table", TABLES)
def test_show_tells_every_move_every_draw_and_the_scores(run: Run, tmp_path: Path, table: str) -> None:
    record = json.loads(run("generate", *table.split(), "--seed", "5")[1])
    text = "\n".join(match_text(record))
    deals = text.split("=== Deal ")[1:]
    assert len(deals) == len(record["deals"])
    for number, (told, deal) in enumerate(zip(deals, record["deals"], strict=True), 1):
        assert told.startswith(f"{number} of {len(deals)} in this match, dealt by seat{deal['dealer']}")
        for seat in deal["seats"]:
            assert f"seat{seat} holds  {' '.join(deal['hands'][seat])}\n" in told
        head, _, rest = told.partition("\nround\n")
        assert head.split("stock")[1].split() == deal["stock"]
        turns, _, after = rest.partition("\n\n")
        check_turns(record, deal, turns)
        assert "scores: " + ", ".join(f"seat{seat} {score:+d}" for seat, score in enumerate(deal["scores"])) in after
    assert all(len(line) <= 110 for line in text.splitlines())
    assert text.count("totals: ") == 1
    for seat in record["winners"]:
        assert f"seat{seat}" in text.splitlines()[-1].split(";")[1]


def check_turns(record: dict[str, Any], deal: dict[str, Any], turns: str) -> None:
    """Each card moved stands on a line of its seat, in order; the drawn cards are the stock's, in order; rounds go round."""
    lines = [re.fullmatch(r" {0,4}(\d*)   seat(\d)  (.*)", line) for line in turns.splitlines()]
    assert all(lines)
    told = [(int(line[2]), words) for line in lines if line for words in line[3].split(", ")]
    moved = [(seat, words) for seat, words in told if not words.startswith(("draws", "turns up"))]
    decided = [(move["seat"], move["move"].split()[1]) for move in deal["moves"] if move["move"] != "draw"]
    assert len(moved) == len(decided)
    assert all(seat == decider and card in words for (seat, words), (decider, card) in zip(moved, decided, strict=True))
    drawn = [card for _, words in told if words.startswith("draws") for card in words.split()[1:]]
    is_marker = {"joker": "JK", "ace_hand": "no card"}.get(record["options"]["clock"], "A")
    assert drawn == [card for card in deal["stock"] if not card.startswith(is_marker)][: len(drawn)]
    assert any(words.startswith("turns up") for _, words in told) == (is_marker != "no card")
    starts = [number for number, line in enumerate(lines) if line and line[1]]
    assert [int(lines[start][1]) for start in starts] == list(range(1, len(starts) + 1))  # type: ignore[index]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        seats = [(int(line[2]) - deal["dealer"] - 1) % len(deal["hands"]) for line in lines[start:end] if line]
        assert seats == sorted(set(seats))


@pytest.mark.parametrize("seed", range(12))
def test_a_round_begins_left_of_the_dealer_also_after_a_turn_without_a_decision(run: Run, seed: int) -> None:
    """Who turns up the last joker is passed over, with two players back to the same seat."""
    record = json.loads(run("generate", "--game", "mitch_jp", "--options", "players=2", "hand_size=2", "--seed", str(seed))[1])
    for told, deal in zip("\n".join(match_text(record)).split("=== Deal ")[1:], record["deals"], strict=True):
        check_turns(record, deal, told.partition("\nround\n")[2].partition("\n\n")[0])


def test_show_prints_all_matches_or_the_kth(run: Run, good: list[str], tmp_path: Path) -> None:
    file = tmp_path / "matches.jsonl"
    file.write_text("\n\n".join(good))
    status, out, err = run("show", file)
    assert (status, err) == (0, "")
    assert out.count("seat0 anna, seat1 bruno") == 3
    for k in (1, 2, 3):
        status, one, err = run("show", file, "--match", str(k))
        assert (status, err) == (0, "")
        assert one.startswith(f"mitch_jp, seed {k - 1}: seat0 anna, seat1 bruno\noptions: players=2\n")
        assert one in out
    for k in ("0", "-1", "4"):
        status, one, err = run("show", file, "--match", k)
        assert (status, one) == (2, "")
        assert err == f"error: --match {k}: the file has 3 matches, counted from 1\n"


def test_names_cannot_play_tricks_on_the_terminal(good: list[str]) -> None:
    record = json.loads(good[0])
    record["agents"] = ["\x1b[2Jgone\n", "\ud800"]
    first = next(match_text(record))
    assert first == "mitch_jp, seed 0: seat0 '\\x1b[2Jgone\\n', seat1 '\\ud800'"


def test_show_goes_on_where_the_terminal_has_no_suit_symbols(good: list[str], tmp_path: Path) -> None:
    file = tmp_path / "matches.jsonl"
    file.write_text(good[0])
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run([*COMMAND, "show", str(file)], capture_output=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    assert b"totals: " in done.stdout
