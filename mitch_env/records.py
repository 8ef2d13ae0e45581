"""Game records: one JSON object a line for each match, with all chance outcomes and all decisions.

The format is described in ``docs/records.md``. A record is made from a log (the table after each deal's chance, and the
actions that followed) and checked by laying out its deals and playing its moves again.

Commands::

    python -m mitch_env.records generate --game mitch_jp --matches 200 --seed 7 > matches.jsonl
    python -m mitch_env.records replay matches.jsonl
    python -m mitch_env.records show matches.jsonl --match 3
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .game import PHASE_DEAL, PHASE_OVER, Game, Table, legal_moves
from .jit import kernel_view
from .kernels import ILLEGAL, kernels_of
from .log import DealLog
from .options import OptionsError
from .registry import get_game
from .rewards import is_winner

FORMAT = "mitch-record"
VERSION = 1


def log_of_match(
    game: Game, options: Any, seed: int, actions: Sequence[int], *, seats_encoded: int | None = None
) -> list[DealLog]:
    """The log of the match that a seed deals, played by ``actions``, numbered for ``seats_encoded`` (by default the players).

    Raises:
        ValueError: If an action is illegal when its turn comes.
    """
    kernels = kernels_of(game.rules)
    seeds = np.array([seed], np.uint64)
    tables = game.new_tables([options], seeds=seeds, seats_encoded=seats_encoded, stop_at_deal=True)
    raw, table = kernel_view(tables), tables[0]
    kernels.start_one(raw)
    log: list[DealLog] = []
    remaining = iter(actions)
    while table.phase != PHASE_OVER:
        if table.phase == PHASE_DEAL:
            kernels.shuffle_one(raw)
            log.append(DealLog(tables.tobytes()))
            kernels.open_one(raw)
            continue
        action = next(remaining, None)
        if action is None:
            break
        if kernels.step_one(raw, int(action)) == ILLEGAL:
            raise ValueError(f"action {action} is illegal in deal {len(log)} after {len(log[-1].actions)} moves")
        log[-1].actions.append(int(action))
    return log


def record_of(
    game: Game, options: Any, log: Sequence[DealLog], *, agents: Sequence[str] | None = None, legal: bool = False
) -> dict[str, Any]:
    """The record of a match from its log.

    Args:
        game: The game.
        options: Its options object.
        log: One entry for each deal.
        agents: Names of the players; by default ``unknown``.
        legal: Whether each move comes with all moves that were legal.
    """
    players = options.players
    names = ["unknown"] * players if agents is None else list(agents)
    if isinstance(agents, str) or len(names) != players or not all(isinstance(name, str) for name in names):
        raise ValueError(f"agents must be {players} names, one for each seat, got {agents!r}")
    deals = []
    table: Table = None
    for deal in log:
        table, entry = _record_deal(game, deal, legal)
        deals.append(entry)
    seeds = {int(np.frombuffer(deal.table, game.rules.table_dtype)["seed"][0]) for deal in log}
    is_over = table.phase == PHASE_OVER
    return {
        "format": FORMAT,
        "version": VERSION,
        "game": game.name,
        "options": options.as_dict(),
        "seed": seeds.pop() if len(seeds) == 1 else None,
        "agents": names,
        "deals": deals,
        "totals": [int(table.totals[seat]) for seat in range(players)],
        "winners": winners(table) if is_over else [],
        "truncated": bool(table.truncated),
    }


def winners(table: Table) -> list[int]:
    """The seats with the highest total."""
    return [seat for seat in range(table.players) if is_winner(table, seat)]


def deal_scores(table: Table) -> list[int] | None:
    """The points of the deal that has just ended; None if it has not, or was truncated."""
    if table.phase not in (PHASE_DEAL, PHASE_OVER) or table.truncated:
        return None
    return [int(table.points[seat]) for seat in range(table.players)]


def _record_deal(game: Game, deal: DealLog, legal: bool) -> tuple[Table, dict[str, Any]]:
    rules, kernels = game.rules, kernels_of(game.rules)
    tables = np.frombuffer(bytearray(deal.table), rules.table_dtype).view(np.recarray)
    raw, table = kernel_view(tables), tables[0]
    entry = {"dealer": int(table.dealer), "seats": rules.taking_part(table), **rules.deal_words(table)}
    moves: list[dict[str, Any]] = []
    reshuffles: list[list[str]] = []
    kernels.open_one(raw)
    for action in deal.actions:
        if table.reshuffles > len(reshuffles):
            reshuffles.append(rules.stock_words(table))
        move: dict[str, Any] = {"seat": int(table.actor), "move": rules.action_name(table, action)}
        if legal:
            move["legal"] = legal_moves(game, table)
        moves.append(move)
        kernels.step_one(raw, action)
    if table.reshuffles > len(reshuffles):
        reshuffles.append(rules.stock_words(table))
    return table, {**entry, "reshuffles": reshuffles, "moves": moves, "scores": deal_scores(table)}


# --- Checking a record by playing it again.


class _Impossible(Exception):
    """The replay of a record cannot go on."""


_KIND_NAMES = {int: "an integer", str: "text", list: "a list", dict: "an object", bool: "true or false"}


def _shown(value: Any, most: int = 60) -> str:
    """The beginning of a value as Python writes it, for a sentence; never an error, whatever the value."""
    try:
        return f"{value!r:.{most}}"
    except (ValueError, RecursionError):
        return "an endless number" if isinstance(value, int) else "something nested without end"


def _need(holder: Any, key: str, kind: type, what: str) -> Any:
    """``holder[key]`` if it is of that kind."""
    if not isinstance(holder, dict):
        raise _Impossible(f"{what} must be an object, got {_shown(holder)}")
    if key not in holder:
        raise _Impossible(f"{what} has no {key!r}")
    value = holder[key]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _Impossible(f"{key!r} must be {_KIND_NAMES[kind]}, got {_shown(value)}")
    return value


def _int_list(holder: Any, key: str, what: str) -> list[int]:
    values = _need(holder, key, list, what)
    if not all(type(value) is int for value in values):
        raise _Impossible(f"{key!r} must be a list of integers, got {_shown(values)}")
    return list(values)


def _word_list(value: Any, what: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise _Impossible(f"{what} must be a list of texts, got {_shown(value)}")
    return value


def _is_allowed(game: Game, options: Any, name: str, value: Any) -> bool:
    """Whether an option could have that value beside the others."""
    try:
        game.options(options, **{name: value})
    except OptionsError:
        return False
    return True


def options_of(game: Game, given: dict[str, Any]) -> Any:
    """The options that a record names; null stands for one that is left out, unless null is a value of its own.

    Raises:
        ValueError: If an option is unknown or a value is not allowed.
    """
    known = game.defaults.as_dict()
    idle = {name for name in known if name in given and given[name] is None and not _is_allowed(game, None, name, None)}
    return game.options({name: value for name, value in given.items() if name not in idle})


def _left_out(game: Game, options: Any, given: dict[str, Any]) -> list[str]:
    """The options that apply and are not in the record. A flag that could not be true beside the others does not apply."""
    return [
        name
        for name, value in options.as_dict().items()
        if value is not None and given.get(name) is None and (value is not False or _is_allowed(game, options, name, True))
    ]


class _Replay:
    """Plays one record; ``problems`` are sentences with deal and move number."""

    def __init__(self, record: Any) -> None:
        self.record = record
        self.problems: list[str] = []
        self.where = ""

    def note(self, sentence: str) -> None:
        self.problems.append(f"{self.where}{sentence:.1000}")  # an error may quote a value of any length

    def compare(self, what: str, written: Any, played: Any) -> None:
        if written != played:
            self.note(f"{what} written as {_shown(written, 80)}, played as {_shown(played, 80)}")

    def run(self) -> list[str]:
        try:
            self.play_match()
        except _Impossible as stop:
            self.note(str(stop))
        return self.problems

    def play_match(self) -> None:
        record = self.record
        self.check_head()
        deals = _need(record, "deals", list, "the record")
        game, table = self.game, self.table
        kernels_of(game.rules).start_one(self.raw)
        for number, deal in enumerate(deals, 1):
            self.where = f"deal {number}: "
            if table.phase == PHASE_OVER:
                raise _Impossible(f"the match was over after {number - 1} deals, but there are {len(deals)}")
            self.play_deal(number, deal)
        self.where = ""
        if table.phase != PHASE_OVER:
            raise _Impossible(f"the match is not over after {len(deals)} deals")
        totals = [int(table.totals[seat]) for seat in range(table.players)]
        self.compare("totals", _int_list(record, "totals", "the record"), totals)
        self.compare("winners", _int_list(record, "winners", "the record"), winners(table))
        self.compare("truncated", _need(record, "truncated", bool, "the record"), bool(table.truncated))

    def check_head(self) -> None:
        record = self.record
        if _need(record, "format", str, "the record") != FORMAT:
            raise _Impossible(f"the format is {_shown(record['format'])}, not {FORMAT!r}")
        if _need(record, "version", int, "the record") != VERSION:
            raise _Impossible(f"version {_shown(record['version'])} is not known, only {VERSION} is")
        given = _need(record, "options", dict, "the record")
        try:
            self.game = get_game(_need(record, "game", str, "the record"))
            options = options_of(self.game, given)
        except RecursionError:
            raise _Impossible("an option is something nested without end") from None
        except ValueError as error:
            raise _Impossible(str(error)) from None
        left_out = _left_out(self.game, options, given)
        if left_out:
            self.note(f"options are missing: {', '.join(left_out)}")
        if "seed" not in record or (record["seed"] is not None and type(record["seed"]) is not int):
            self.note("'seed' must be an integer, or null if no seed makes this match again")
        agents = _word_list(_need(record, "agents", list, "the record"), "'agents'")
        if len(agents) != options.players:
            self.note(f"{len(agents)} agents are named, there are {options.players} seats")
        self.tables = self.game.new_tables([options], seeds=np.zeros(1, np.uint64), stop_at_deal=True)
        self.raw, self.table = kernel_view(self.tables), self.tables[0]

    def play_deal(self, number: int, deal: Any) -> None:
        rules, kernels, table = self.game.rules, kernels_of(self.game.rules), self.table
        self.compare("dealer", _need(deal, "dealer", int, "the deal"), int(table.dealer))
        self.compare("seats", _int_list(deal, "seats", "the deal"), rules.taking_part(table))
        hands = [_word_list(hand, "a hand") for hand in _need(deal, "hands", list, "the deal")]
        stock = _word_list(_need(deal, "stock", list, "the deal"), "'stock'")
        revealed = _word_list(_need(deal, "revealed", list, "the deal"), "'revealed'")
        self.reshuffles = [_word_list(one, "a reshuffle") for one in _need(deal, "reshuffles", list, "the deal")]
        moves = _need(deal, "moves", list, "the deal")
        try:
            rules.arrange_deal(table, {"hands": hands, "stock": stock, "revealed": revealed})
        except ValueError as error:
            raise _Impossible(str(error)) from None
        self.arrange_reshuffle()
        kernels.open_one(self.raw)
        for index, move in enumerate(moves, 1):
            self.where = f"deal {number}, move {index}: "
            if table.phase in (PHASE_DEAL, PHASE_OVER):
                raise _Impossible(f"the deal was over after {index - 1} moves, but there are {len(moves)}")
            self.play_move(move)
        self.where = f"deal {number}: "
        if table.phase not in (PHASE_DEAL, PHASE_OVER):
            raise _Impossible(f"the deal is not over after {len(moves)} moves: seat{table.actor} must answer")
        self.compare("reshuffles", len(self.reshuffles), int(table.reshuffles))
        scores = deal.get("scores") if deal.get("scores") is None else _int_list(deal, "scores", "the deal")
        self.compare("scores", scores, deal_scores(table))

    def note_legal(self, written: list[str], allowed: list[str]) -> None:
        differences = {
            "written but not legal": sorted(set(written) - set(allowed)),
            "legal but not written": sorted(set(allowed) - set(written)),
            "written more than once": sorted({move for move in written if written.count(move) > 1}),
        }
        self.note("legal moves differ: " + "; ".join(f"{what} {_shown(moves)}" for what, moves in differences.items() if moves))

    def arrange_reshuffle(self) -> None:
        """Fixes the next reshuffle before a move can need it."""
        done = int(self.table.reshuffles)
        if done < len(self.reshuffles):
            try:
                self.game.rules.arrange_reshuffle(self.table, self.reshuffles[done])
            except ValueError as error:
                raise _Impossible(str(error)) from None

    def play_move(self, move: Any) -> None:
        rules, table = self.game.rules, self.table
        self.compare("seat", _need(move, "seat", int, "the move"), int(table.actor))
        text = _need(move, "move", str, "the move")
        allowed = legal_moves(self.game, table)
        if "legal" in move:
            written = _word_list(move["legal"], "'legal'")
            if sorted(written) != sorted(allowed):
                self.note_legal(written, allowed)
        if text not in allowed:
            try:
                rules.parse_action(table, text)
            except ValueError as error:
                raise _Impossible(str(error)) from None
            raise _Impossible(f"seat{table.actor} may not {text!r}; legal here: {', '.join(allowed)}")
        done = int(table.reshuffles)
        kernels_of(rules).step_one(self.raw, rules.parse_action(table, text))
        if table.reshuffles != done:
            if done >= len(self.reshuffles):
                raise _Impossible("a reshuffle happened here that the record does not have")
            if rules.stock_words(table) != self.reshuffles[done]:
                raise _Impossible(f"reshuffle {done + 1} is not an order of the cards that were shuffled here")
            self.arrange_reshuffle()


def replay(record: Any) -> list[str]:
    """Plays a record again and returns one sentence for each deviation, with deal and move number; none if all is right."""
    return _Replay(record).run()


if __name__ == "__main__":
    from .record_commands import main

    raise SystemExit(main())
