"""The command ``python -m mitch_env.records``: generate, replay and show records."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .aec import TableEnv
from .batch import Batch
from .chance import POLICY_STREAM, advanced, below, checked_seed, match_seeds, mix, stream
from .events import recent_events
from .game import Game
from .jit import kernel_view
from .kernels import kernels_of
from .options import OptionsError
from .records import log_of_match, record_of, replay, winners
from .registry import GAMES, get_game

#: Tables that play side by side with ``--via batch``.
_BATCH = 256


def parse_options(texts: Sequence[str]) -> dict[str, Any]:
    """Options from a command line: JSON objects, or ``key=value`` with a JSON value or a plain word.

    Raises:
        OptionsError: If a text is neither.
    """
    options: dict[str, Any] = {}
    for text in texts:
        if text.lstrip().startswith("{"):
            try:
                options |= json.loads(text)
            except ValueError as error:
                raise OptionsError(f"--options {text!r} is no JSON object: {error}") from None
            continue
        key, equals, value = text.partition("=")
        if not equals:
            raise OptionsError(f"--options {text!r}: a JSON object or key=value is needed")
        try:
            options[key] = json.loads(value)
        except ValueError:
            options[key] = {"True": True, "False": False, "None": None}.get(value, value)
    return options


def play_via_aec(game: Game, options: Any, seeds: Sequence[int], legal: bool) -> Iterator[dict[str, Any]]:
    """Records of random matches, played through the AEC environment."""
    env = TableEnv(game, options)
    names = ["random"] * options.players
    for seed in seeds:
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


def play_via_batch(game: Game, options: Any, seeds: Sequence[int], legal: bool) -> Iterator[dict[str, Any]]:
    """The same records, played through :class:`Batch`."""
    names = ["random"] * options.players
    for start in range(0, len(seeds), _BATCH):
        chunk = [int(seed) for seed in seeds[start : start + _BATCH]]
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
    if arguments.matches < 0:
        raise ValueError(f"--matches must be 0 or more, got {arguments.matches}")
    seeds = [int(seed) for seed in match_seeds(checked_seed(arguments.seed, "--seed"), arguments.matches)]
    play = play_via_aec if arguments.via == "aec" else play_via_batch
    for number, record in enumerate(play(game, options, seeds, arguments.legal), 1):
        sys.stdout.write(json.dumps(record, separators=(",", ":")) + "\n")
        if sys.stderr.isatty() and (number % 50 == 0 or number == len(seeds)):
            end = "\n" if number == len(seeds) else ""
            print(f"\r{number} of {len(seeds)} matches", end=end, file=sys.stderr, flush=True)
    sys.stdout.flush()
    return 0


def read_lines(path: str) -> list[tuple[int, Any]]:
    """Line numbers and what stands on them: a parsed record, or a ``ValueError`` that says why it is none."""
    data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    lines: list[tuple[int, Any]] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            lines.append((number, json.loads(line.decode("utf-8"))))
        except UnicodeDecodeError as error:
            lines.append((number, ValueError(f"not UTF-8 text: {error.reason} at byte {error.start}")))
        except (ValueError, RecursionError) as error:
            lines.append((number, ValueError(f"not JSON: {error}")))
    return lines


def replay_file(arguments: argparse.Namespace) -> int:
    """Replays every record of a file; prints deviations and a summary."""
    n_ok = n_bad = 0
    for number, record in read_lines(arguments.file):
        problems = [str(record)] if isinstance(record, ValueError) else replay(record)
        for problem in problems:
            print(f"line {number}: {problem}")
        n_ok += not problems
        n_bad += bool(problems)
    print(f"{n_ok} records ok, {n_bad} with problems")
    return 1 if n_bad else 0


def show_file(arguments: argparse.Namespace) -> int:
    """Prints one match, or all matches, of a file."""
    lines = read_lines(arguments.file)
    chosen = lines if arguments.match is None else lines[arguments.match - 1 : arguments.match]
    if arguments.match is not None and (arguments.match < 1 or not chosen):
        raise ValueError(f"--match {arguments.match}: the file has {len(lines)} matches, counted from 1")
    status = 0
    for number, record in chosen:
        problems = [str(record)] if isinstance(record, ValueError) else replay(record)
        if problems:
            status = 1
            print(f"line {number} cannot be shown, it does not replay:")
            print("\n".join(f"  {problem}" for problem in problems))
        else:
            print("\n".join(match_text(record)))
    return status


def match_text(record: dict[str, Any]) -> Iterator[str]:
    """A match that replays, line by line, as a person would like to read it."""
    game = get_game(record["game"])
    options = game.options(record["options"])
    changed = {name: value for name, value in options.as_dict().items() if value != game.defaults.as_dict()[name]}
    seats = ", ".join(f"seat{seat} {name}" for seat, name in enumerate(record["agents"]))
    yield f"{game.name}, seed {record['seed']}: {seats}"
    yield "options: " + (", ".join(f"{name}={value}" for name, value in changed.items()) or "the defaults")
    kernels = kernels_of(game.rules)
    tables = game.new_tables([options], seeds=np.zeros(1, np.uint64), stop_at_deal=True)
    table = tables[0]
    kernels.start_one(kernel_view(tables))
    for number, deal in enumerate(record["deals"], 1):
        yield ""
        yield f"--- deal {number}, dealt by seat{deal['dealer']}"
        for seat in deal["seats"]:
            yield f"seat{seat} holds {' '.join(deal['hands'][seat])}"
        game.rules.arrange_deal(table, deal)
        yield from _deal_text(game, tables, deal)
        yield f"scores: {_scores(deal['scores'])}"
    yield ""
    shared = "share the win" if len(winners(table)) > 1 else "wins"
    yield f"totals: {_scores(record['totals'])}; {' and '.join(f'seat{seat}' for seat in winners(table))} {shared}"


def _deal_text(game: Game, tables: np.recarray, deal: dict[str, Any]) -> Iterator[str]:
    """What happened in a deal, a line for each public event, and the table at its end."""
    kernels, raw, table = kernels_of(game.rules), kernel_view(tables), tables[0]
    reshuffles = list(deal["reshuffles"])

    def arrange_next() -> None:
        if table.reshuffles < len(reshuffles):
            game.rules.arrange_reshuffle(table, reshuffles[table.reshuffles])

    arrange_next()
    seen = int(table.n_events)
    kernels.open_one(raw)
    for move in [None, *deal["moves"]]:
        if move is not None:
            kernels.step_one(raw, game.rules.parse_action(table, move["move"]))
            arrange_next()
        new = int(table.n_events) - seen
        seen += new
        for event in recent_events(table, new) if new else []:
            yield "  " + game.rules.event_text(table, event)
    yield game.rules.describe(table, None)


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
    try:
        return int(known.run(known))
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away (head, less): nothing more to say
        return 0
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
