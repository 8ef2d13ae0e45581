"""The command ``python -m mitch_env.records``: generate, replay and show records."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .aec import TableEnv
from .batch import Batch
from .chance import POLICY_STREAM, advanced, below, checked_seed, match_seeds, mix, stream
from .events import recent_events, split_event
from .game import NOBODY, Game
from .jit import kernel_view
from .kernels import kernels_of
from .options import OptionsError, check_int
from .records import log_of_match, options_of, record_of, replay, winners
from .registry import GAMES, get_game
from .tables import copied

#: Tables that play side by side with ``--via batch``.
_BATCH = 256
_MOST_MATCHES = 10_000_000
_WIDTH = 96


def parse_json(text: str) -> Any:
    """JSON by the letter: no ``NaN``, and no name twice in one object.

    Raises:
        ValueError: If it is none, with the reason.
    """

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON value")

    def one_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} stands twice in one object")
        return dict(pairs)

    try:
        return json.loads(text, parse_constant=refuse, object_pairs_hook=one_object)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_options(texts: Sequence[str]) -> dict[str, Any]:
    """Options from a command line: JSON objects, or ``key=value`` with a JSON value or a plain word.

    Raises:
        OptionsError: If a text is neither.
    """
    options: dict[str, Any] = {}
    for text in texts:
        if text.lstrip().startswith("{"):
            try:
                options |= parse_json(text)
            except ValueError as error:
                raise OptionsError(f"--options {text!r:.80} is no JSON object: {error}") from None
            continue
        key, equals, value = text.partition("=")
        if not equals:
            raise OptionsError(f"--options {text!r:.80}: a JSON object or key=value is needed")
        try:
            options[key] = parse_json(value)
        except ValueError:
            options[key] = {"True": True, "False": False, "None": None}.get(value, value)
    return options


def play_via_aec(game: Game, options: Any, seeds: np.ndarray, legal: bool) -> Iterator[dict[str, Any]]:
    """Records of random matches, played through the AEC environment."""
    env = TableEnv(game, options)
    names = ["random"] * options.players
    for seed in seeds.tolist():
        env.reset(seed=seed)
        policy = stream(np.uint64(seed), POLICY_STREAM)
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated or observation is None:
                break
            choices = np.flatnonzero(observation["action_mask"])
            env.step(int(choices[below(mix(policy), len(choices))]))
            policy = advanced(policy)
        yield env.record(names, legal)


def play_via_batch(game: Game, options: Any, seeds: np.ndarray, legal: bool) -> Iterator[dict[str, Any]]:
    """The same records, played through :class:`Batch`."""
    names = ["random"] * options.players
    for start in range(0, len(seeds), _BATCH):
        chunk = seeds[start : start + _BATCH].tolist()
        batch = Batch(game, len(chunk), options=options, seed=chunk)
        played: list[list[int]] = [[] for _ in chunk]
        rows = np.flatnonzero(batch.actor >= 0)
        while len(rows):
            actions = batch.random_actions(rows)
            for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
                played[row].append(action)
            batch.step(actions, rows)
            rows = rows[~(batch.terminated[rows] | batch.truncated[rows])]
        for seed, actions_of_match in zip(chunk, played, strict=True):
            yield record_of(game, options, log_of_match(game, options, seed, actions_of_match), agents=names, legal=legal)


def generate(arguments: argparse.Namespace) -> int:
    """Writes records of random matches to stdout, one JSON object a line."""
    game = get_game(arguments.game)
    options = game.options(parse_options(arguments.options))
    n = check_int("--matches", arguments.matches, 0, _MOST_MATCHES)
    seeds = match_seeds(checked_seed(arguments.seed, "--seed"), n)
    play = play_via_aec if arguments.via == "aec" else play_via_batch
    for number, record in enumerate(play(game, options, seeds, arguments.legal), 1):
        sys.stdout.write(json.dumps(record, separators=(",", ":")) + "\n")
        if sys.stderr.isatty() and (number % 50 == 0 or number == n):
            print(f"\r{number} of {n} matches", end="\n" if number == n else "", file=sys.stderr, flush=True)
    return 0


def read_lines(path: str) -> Iterator[tuple[int, Any]]:
    """Line numbers and what stands on them: a parsed record, or a ``ValueError`` that says why it is none."""
    with contextlib.nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield number, parse_json(line.decode("utf-8"))
            except UnicodeDecodeError as error:
                yield number, ValueError(f"not UTF-8 text: {error.reason} at byte {error.start}")
            except ValueError as error:
                yield number, ValueError(f"not JSON: {error}")


def problems_of(record: Any) -> list[str]:
    """What is wrong with something that :func:`read_lines` found."""
    return [str(record)] if isinstance(record, ValueError) else replay(record)


def replay_file(arguments: argparse.Namespace) -> int:
    """Replays every record of a file; prints deviations and a summary."""
    n_ok = n_bad = 0
    for number, record in read_lines(arguments.file):
        problems = problems_of(record)
        for problem in problems:
            print(f"line {number}: {problem}")
        n_ok += not problems
        n_bad += bool(problems)
    print(f"{n_ok} records ok, {n_bad} with problems")
    return 1 if n_bad else 0


def show_file(arguments: argparse.Namespace) -> int:
    """Prints one match, or all matches, of a file."""
    status = n_matches = 0
    for n_matches, (number, record) in enumerate(read_lines(arguments.file), 1):
        if arguments.match is not None and arguments.match != n_matches:
            continue
        problems = problems_of(record)
        if problems:
            status = 1
            print(f"line {number} cannot be shown, it does not replay:")
            print("\n".join(f"  {problem}" for problem in problems))
        else:
            print("\n".join(match_text(record)))
        if arguments.match is not None:
            return status
        print()
    if arguments.match is not None:
        raise ValueError(f"--match {arguments.match}: the file has {n_matches} matches, counted from 1")
    if n_matches == 0:
        print("there is no match in the file")
    return status


# --- A match for a person to read.


class _Told(NamedTuple):
    """Something that happened to a seat, in words; in its own turn or, as a reaction might, in another's."""

    seat: int
    words: str
    in_own_turn: bool


def match_text(record: dict[str, Any]) -> Iterator[str]:
    """A match that replays, line by line."""
    game = get_game(record["game"])
    options = options_of(game, record["options"])
    tables = game.new_tables([options], seeds=np.zeros(1, np.uint64), stop_at_deal=True)
    table = tables[0]
    names = [name if name.isprintable() else repr(name) for name in record["agents"]]
    changed = {name: value for name, value in options.as_dict().items() if value != game.defaults.as_dict()[name]}
    yield f"{game.name}, seed {record['seed']}: {', '.join(f'seat{seat} {name}' for seat, name in enumerate(names))}"
    yield "options: " + (", ".join(f"{name}={json.dumps(value)}" for name, value in changed.items()) or "the defaults")
    kernels_of(game.rules).start_one(kernel_view(tables))
    for number, deal in enumerate(record["deals"], 1):
        yield f"\n=== Deal {number} of {len(record['deals'])} in this match, dealt by seat{deal['dealer']}\n"
        for seat in deal["seats"]:
            yield f"seat{seat} holds  {' '.join(deal['hands'][seat])}"
        stock = " ".join(deal["stock"]) or "empty"
        indent = " " * 13
        yield from textwrap.wrap(
            stock, _WIDTH, initial_indent="stock        ", subsequent_indent=indent, break_on_hyphens=False
        )
        game.rules.arrange_deal(table, deal)
        yield "\nround"
        yield from _turn_lines(_told(game, tables, deal), deal["dealer"], table.players)
        after = copied(tables)
        after.n_events = 0  # what happened stands above
        yield f"\n{game.rules.describe(after[0], None)}\n"
        yield f"scores: {_scores(deal['scores'])}"
    *others, last = [f"seat{seat}" for seat in winners(table)]
    result = f"{', '.join(others)} and {last} share the win" if others else f"{last} wins"
    yield f"\ntotals: {_scores(record['totals'])}; {result}"


def _told(game: Game, tables: np.recarray, deal: dict[str, Any]) -> Iterator[_Told]:
    """What happens in a deal that is laid out on the table: the public events, and who comes to hold which card."""
    rules, kernels, raw, table = game.rules, kernels_of(game.rules), kernel_view(tables), tables[0]
    players = int(table.players)
    seen = int(table.n_events)
    held = rules.deal_words(table)["hands"]
    for move in [None, *deal["moves"]]:
        if table.reshuffles < len(deal["reshuffles"]):
            rules.arrange_reshuffle(table, deal["reshuffles"][table.reshuffles])
        if move is None:
            turn = (deal["dealer"] + 1) % players
            kernels.open_one(raw)
        else:
            turn = int(table.turn)
            kernels.step_one(raw, rules.parse_action(table, move["move"]))
        # The turn has gone on by so many seats; some of them may have had a turn without a decision.
        passed = (int(table.turn) - turn) % players
        if passed == 0 and move is not None and move["seat"] == turn:
            passed = players
        for event in recent_events(table, int(table.n_events) - seen):
            seat = split_event(event)[1]
            words = rules.event_text(table, event).rstrip(".")
            if move is not None or words.startswith(f"seat{seat} "):  # the deal itself is told by the headline
                yield _Told(seat, words.removeprefix(f"seat{seat} "), (seat - turn) % players <= passed)
        now = rules.deal_words(table)["hands"]
        for seat in range(players):
            drawn = Counter(now[seat]) - Counter(held[seat])
            if drawn:
                yield _Told(seat, f"draws {' '.join(drawn.elements())}", (seat - turn) % players <= passed)
        seen, held = int(table.n_events), now


def _turn_lines(told: Iterator[_Told], dealer: int, players: int) -> Iterator[str]:
    """A line for each turn; a round, numbered at its first turn, is once around the table from the left of the dealer."""
    n_rounds, reached, line, seat = 0, players, "", NOBODY
    for one in told:
        place = (one.seat - dealer - 1) % players
        label = ""
        if one.in_own_turn:
            if place < reached:
                n_rounds += 1
                label = str(n_rounds)
            reached = place
        if one.seat == seat and not label:
            line += f", {one.words}"
            continue
        if line:
            yield line
        seat = one.seat
        line = f"{label:>4}   seat{seat}  {one.words}"
    if line:
        yield line


def _scores(scores: list[int] | None) -> str:
    if scores is None:
        return "none, the match was truncated"
    return ", ".join(f"seat{seat} {score:+d}" for seat, score in enumerate(scores))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m mitch_env.records", description="Records of matches, in JSON Lines.")
    commands = top.add_subparsers(dest="command", required=True)
    one = commands.add_parser("generate", help="play random matches and write their records to stdout")
    one.add_argument("--game", required=True, help=f"one of {', '.join(GAMES)}")
    one.add_argument("--matches", type=int, default=1, help="how many (default 1)")
    one.add_argument("--seed", type=int, default=0, help="all matches follow from it (default 0)")
    one.add_argument(
        "--options",
        nargs="+",
        action="extend",
        default=[],
        metavar="OPTION",
        help="""rules to play by: a JSON object such as '{"players": 4}', or players=4""",
    )
    one.add_argument("--legal", action="store_true", help="with all legal moves at each decision")
    one.add_argument("--via", choices=("aec", "batch"), default="aec", help="what plays them; the bytes are the same")
    one.set_defaults(run=generate)
    one = commands.add_parser("replay", help="check every record of a file by playing it again")
    one.add_argument("file", help="a file of records, - for stdin")
    one.set_defaults(run=replay_file)
    one = commands.add_parser("show", help="print matches for a person to read")
    one.add_argument("file", help="a file of records, - for stdin")
    one.add_argument("--match", type=int, help="only the K-th match of the file, counted from 1")
    one.set_defaults(run=show_file)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; wrong input is a sentence on stderr and exit status 2."""
    known = parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without suit symbols is no error
    try:
        status = int(known.run(known))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away (head, less): nothing more to say, also not when the interpreter closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print(f"error: {error.filename or known.file}: {error.strerror}", file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return status
