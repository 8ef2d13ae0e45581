"""Whole matches of Mitch as readable text, compared line by line with the files in ``golden/``.

A change of the rules, of the shuffle or of the observation shows here as a diff to be read. ``pytest --update-golden``
rewrites the files.
"""

from __future__ import annotations

import random
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from positions import Position

import mitch_env
from mitch_env.events import recent_events, split_event
from mitch_env.mitch.rules import ACE_LAID, CLOCK_UP, DISCARDED, LAID, TOOK
from mitch_env.mitch.text import CARD_NAMES, card_name

FOLDER = Path(__file__).parent / "golden"
MOST_LINES, WIDTH = 300, 120

HOUSE_RULES: dict[str, Any] = {
    "players": 4,
    "deals": 2,
    "hand_size": 3,
    "clock": "ace_stock",
    "clock_cards": 2,
    "column_step": "next_lower",
    "take_discard": True,
    "closer_plays": True,
    "tie_break": "low",
    "shortest_double": True,
    "waiting_penalty": True,
}


@dataclass(frozen=True)
class Case:
    """One golden match: the moves are drawn from a generator of their own, seeded like the match."""

    game: str
    seed: int
    options: dict[str, Any] = field(default_factory=dict)


CASES = {
    "mitch_jp": Case("mitch_jp", 20),
    "mitch_ru": Case("mitch_ru", 325),
    "mitch_original": Case("mitch_original", 26),
    "mitch_house_rules": Case("mitch_jp", 110, HOUSE_RULES),
}
VERBS = {LAID: "lays", DISCARDED: "discards", TOOK: "takes", ACE_LAID: "lays the ace", CLOCK_UP: "turns up"}
#: Blocks of the observation that are shown as numbers, and as cards.
NUMBERS = ("clock_seen", "clock_left", "stock", "phase", "match", "hand_size", "total", "dealer", "taking_part", "waited")
CARDS = ("hand", "layable", "discards")


def grouped(moves: list[str]) -> str:
    """Moves with one verb each: ``play 9H KS; discard 2C``."""
    verbs: dict[str, list[str]] = {}
    for move in moves:
        verb, _, card = move.partition(" ")
        verbs.setdefault(verb, []).append(card)
    return "; ".join(f"{verb} {' '.join(names)}".strip() for verb, names in verbs.items())


def tableau(position: Position, seat: int) -> str:
    """The columns of a seat: ``S:KQ9 H:5``, or ``-``."""
    laid = position.columns(seat).split()
    columns = {suit: "".join(card[0] for card in laid if card[1] == suit) for suit in "SHDC"}
    return " ".join(f"{suit}:{ranks}" for suit, ranks in columns.items() if ranks) or "-"


def table_line(position: Position) -> str:
    """Everything that lies open, in one line."""
    clock = f"{position.clock_seen} closed" if position.closed else str(position.clock_seen)
    top = position.discards.rpartition(" ")[2] or "-"
    seats = [f"seat{seat} {tableau(position, seat)}" for seat in range(position.options.players)]
    return " | ".join([f"stock {len(position.stock)}, clock {clock}, top discard {top}", *seats])


def observation_lines(position: Position) -> Iterator[str]:
    """Some blocks of what the actor observes."""
    seat = position.actor
    for block in CARDS:
        seen = [CARD_NAMES[card] for card, entry in enumerate(position.sees(seat, block)) if entry]
        yield f"  seat{seat} sees {block}: {' '.join(seen) or '-'}"
    blocks = [f"{block} {' '.join(f'{entry:.4g}' for entry in position.sees(seat, block))}" for block in NUMBERS]
    yield from textwrap.wrap(f"  seat{seat} sees {', '.join(blocks)}", WIDTH, subsequent_indent="    ")


def deal_lines(position: Position, words: dict[str, Any], number: int) -> Iterator[str]:
    """A deal as it lies before the first turn."""
    dealer, seats = position.dealt_to
    yield ""
    yield f"deal {number}: dealer seat{dealer}, seats {' '.join(map(str, seats))}"
    for seat, hand in enumerate(words["hands"]):
        yield f"  hand of seat{seat}: {' '.join(hand) or '-'}"
    yield from textwrap.wrap(f"  stock: {' '.join(words['stock'])}", WIDTH, subsequent_indent="    ")
    yield f"  revealed: {' '.join(words['revealed']) or '-'}"


def happened(position: Position, before: int) -> str:
    """The public events since there were ``before``."""
    events = map(split_event, recent_events(position.table, int(position.table.n_events) - before))
    return ", ".join(f"seat{seat} {VERBS[kind]} {card_name(card)}" for kind, seat, card in events)


def playthrough(case: Case) -> Iterator[str]:
    """The lines of a golden file."""
    position = Position(case.game, **case.options)
    rng = random.Random(case.seed)
    actions: list[int] = []
    yield f"{case.game}, seed {case.seed}"
    options = ", ".join(f"{name} {value}" for name, value in position.options.as_dict().items())
    yield from textwrap.wrap(f"options: {options}", WIDTH, subsequent_indent="  ")
    deals = 0
    while not position.match_over:
        words = position.shuffle(None if deals else case.seed)
        deals += 1
        yield from deal_lines(position, words, deals)
        position.lay_out(words)
        yield from observation_lines(position)
        was_closed = position.closed
        while not position.deal_over:
            if position.closed and not was_closed:
                was_closed = True
                yield from observation_lines(position)
            legal = sorted(position.legal, key=lambda move: position.rules.parse_action(position.table, move))
            move = legal[int(rng.random() * len(legal))]
            actions.append(position.rules.parse_action(position.table, move))
            yield f"{len(actions):3} seat{position.actor}: {grouped(legal)}"
            before = int(position.table.n_events)
            position.apply(actions[-1])
            yield f"    > {' : '.join(filter(None, [move, happened(position, before)]))} | {table_line(position)}"
        yield f"  scores {position.scores}, totals {position.totals}"
    yield ""
    yield from record_lines(case, actions)


def record_lines(case: Case, actions: list[int]) -> Iterator[str]:
    """What the environment records of the same seed and actions."""
    env = mitch_env.make(case.game, case.options)
    env.reset(seed=case.seed)
    for action in actions:
        env.step(action)
    record = env.record(["random"] * env.options.players)
    for number, deal in enumerate(record["deals"], 1):
        yield f"record of deal {number}: dealer {deal['dealer']}, {len(deal['moves'])} moves, scores {deal['scores']}"
    yield f"record: totals {record['totals']}, winners {record['winners']}, truncated {record['truncated']}"


@pytest.mark.parametrize("name", CASES)
def test_the_match_is_played_as_it_is_written(name: str, update_golden: bool) -> None:
    path = FOLDER / f"{name}.txt"
    played = list(playthrough(CASES[name]))
    if update_golden:
        path.write_text("\n".join(played) + "\n", encoding="utf-8")
        pytest.skip(f"{path.name} is rewritten")
    written = path.read_text(encoding="utf-8").splitlines()
    assert len(written) < MOST_LINES
    for number, (line, expected) in enumerate(zip(played, written, strict=False), 1):
        assert line == expected, f"{path.name}, line {number}"
    assert len(played) == len(written), f"{path.name} has {len(written)} lines, {len(played)} were played"
