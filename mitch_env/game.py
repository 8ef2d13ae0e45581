"""What a game supplies.

A game is a table (a NumPy structured dtype), functions on a table (``rules``), and words. Everything else in this package
(`aec`, `batch`, `records`, rendering) works on any :class:`Game`. To add one: write a folder beside ``mitch/`` that makes a
``Rules``, and register a ``Game`` for each preset in ``registry.py``; CONTRIBUTING.md walks through it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from .events import RING
from .layout import Column, Layout
from .options import OptionsError, check_choice, check_int, replaced
from .rewards import REWARDS

#: One game in progress: an ``np.record`` (in kernels a numba record). Its fields are the game's ``table_dtype``.
Table: TypeAlias = Any

NOBODY = -1

#: Phases that every game has; a game's own phases count on from ``FIRST_OWN_PHASE``.
PHASE_DEAL, PHASE_OVER, FIRST_OWN_PHASE = 0, 1, 2


def table_dtype(max_seats: int, own_fields: Sequence[tuple[Any, ...]]) -> np.dtype:
    """The dtype of a game's tables: the fields that every table has, and the game's own.

    The widest fields come first and the rest is filled up by a field of zeros, so that there are no undefined bytes: two
    tables are equal if their ``tobytes()`` are.
    """
    common: list[tuple[Any, ...]] = [
        ("players", "i1"),
        ("seats_encoded", "i1"),  # observations and actions are numbered for this many seats
        ("reward_kind", "i1"),  # rewards.POINTS, RELATIVE or OUTCOME
        ("stop_at_deal", "i1"),  # 1: wait in PHASE_DEAL before each deal, so that it can be recorded or arranged
        ("phase", "i1"),
        ("actor", "i1"),  # the seat that must answer now, NOBODY between deals and after the match
        ("turn", "i1"),  # the seat whose turn it is
        ("dealer", "i1"),
        ("truncated", "i1"),
        ("seed", "u8"),  # of this match
        ("rng", "u8"),  # the generator's counter
        ("deals_done", "i4"),  # deals of this match that are scored (a tie that a play-off follows is not yet)
        ("deals_dealt", "i4"),  # deals of this match, the current one included
        ("reshuffles", "i4"),  # times in this deal that the discards became a new stock
        ("points", "i4", (max_seats,)),  # of the last scored deal
        ("totals", "i4", (max_seats,)),
        ("reward", "f4", (max_seats,)),  # of the last step
        ("n_events", "i4"),
        ("events", "i4", (RING,)),
    ]
    fields = sorted([*common, *own_fields], key=lambda one: -np.dtype(one[1]).itemsize)
    size = np.dtype(fields).itemsize
    return np.dtype([*fields, ("filler", "i1", (-size % 8,))] if size % 8 else fields, align=True)


class GameOptions(Protocol):
    """What an options class offers: a frozen dataclass that is validated when it is made."""

    players: int

    def table_fields(self) -> dict[str, Any]:
        """The value of each option as it stands in a table."""

    def as_dict(self) -> dict[str, Any]:
        """Every option with its value, ready for JSON; ``None`` where it does not apply."""


@dataclass(frozen=True, eq=False)
class Rules:
    """The functions of a game on one table. All but the words are ``@rule`` functions: compiled kernels call them too.

    Attributes:
        name: Of the engine, for messages.
        table_dtype: The fields of a table; made by :func:`table_dtype`.
        max_seats: The most seats that a table can have.
        start_match: ``(s)``: a new match from ``s.seed``, left in ``PHASE_DEAL``.
        shuffle_deal: ``(s)``: all chance of the next deal; still ``PHASE_DEAL``.
        open_deal: ``(s)``: from there to the first decision, or to the end of a deal that has none.
        apply_action: ``(s, action)``: one decision and all that follows by itself, to the next decision or the deal's end.
            Trusts its caller: the action must be legal.
        is_legal: ``(s, action) -> bool``, for any integer.
        legal_actions: ``(s, mask)``: writes 1 (legal) or 0 to each entry of a uint8 array.
        pick_legal: ``(s, bits) -> action``: a uniform legal action from 64 random bits.
        observe: ``(s, seat, out)``: writes every entry of a float32 array.
        write_state: ``(s, out)``: the same for a full view (all hands, the stock).
        redeal_hidden: ``(s, seat, key)``: redraws what ``seat`` cannot know, consistent with what it has seen; re-keys chance.
        layout: ``seats -> Layout`` of the observation.
        state_layout: ``seats -> Layout`` of the full view.
        most_tokens: ``seats -> int``: the most entries of an observation that can differ from 0 at once.
        write_event: ``(s, event, seat, code, out)``: a public event as ``seat`` counts seats, in the names of ``code`` (below
            0: the table's own), to an int32 array with one entry for each of ``event_columns``.
        event_columns: ``seats -> tuple[Column, ...]``: what ``write_event`` writes.
        event_kinds: What each kind of event is, in words; the first of these columns is 1 + its index.
        action_labels: ``seats -> list[str]``: what each action means, other seats named relative to the actor.
        action_name: ``(table, action) -> str``, in the notation of the records.
        parse_action: ``(table, text) -> int``; ``ValueError`` with a sentence if it is no move.
        phase_name: ``(table) -> str``.
        describe: ``(table, seat) -> str``: the table as a person at ``seat`` sees it.
        event_text: ``(table, event) -> str``.
        deal_words: ``(table) -> dict``: ``hands``, ``stock`` and ``revealed`` of a freshly shuffled deal.
        arrange_deal: ``(table, words)``: the reverse, instead of ``shuffle_deal``; ``ValueError`` if it cannot be.
        stock_words: ``(table) -> list[str]``: the last reshuffled stock, in the order in which it is drawn.
        arrange_reshuffle: ``(table, cards)``: fixes the next reshuffle.
        taking_part: ``(table) -> list[int]``: the seats that play the current deal.
        canonical: ``(s, seat) -> int``: a renaming (of suits, say) under which positions that ``seat`` sees as equal but for
            names look the same; from what ``seat`` sees alone.
        relabel: ``(s, code, out)``: makes ``out``, a copy of ``s``, look to ``observe`` and ``legal_actions`` as ``s`` renamed.
        rename_action: ``(code, action) -> action``.
        inverse: ``(code) -> code`` of the renaming that undoes it.
        renamings: ``(seats, suits) -> tuple[int, ...]``: the codes of all renamings for a number of encoded seats and a pack of
            so many suits (None: all that there are), the one that changes nothing first.
        renamed_entries: ``(seats, code) -> int64[size]``: where each entry of a renamed observation stands in the original one.
        draw_table: ``(table, seat) -> image``: a picture (needs the extra ``render``).
    """

    name: str
    table_dtype: np.dtype
    max_seats: int
    start_match: Callable[[Table], None]
    shuffle_deal: Callable[[Table], None]
    open_deal: Callable[[Table], None]
    apply_action: Callable[[Table, int], None]
    is_legal: Callable[[Table, int], bool]
    legal_actions: Callable[[Table, np.ndarray], None]
    pick_legal: Callable[[Table, np.uint64], int]
    observe: Callable[[Table, int, np.ndarray], None]
    write_state: Callable[[Table, np.ndarray], None]
    redeal_hidden: Callable[[Table, int, np.uint64], None]
    layout: Callable[[int], Layout]
    state_layout: Callable[[int], Layout]
    most_tokens: Callable[[int], int]
    write_event: Callable[[Table, int, int, int, np.ndarray], None]
    event_columns: Callable[[int], tuple[Column, ...]]
    event_kinds: tuple[str, ...]
    action_labels: Callable[[int], list[str]]
    action_name: Callable[[Table, int], str]
    parse_action: Callable[[Table, str], int]
    phase_name: Callable[[Table], str]
    describe: Callable[[Table, int | None], str]
    event_text: Callable[[Table, int], str]
    deal_words: Callable[[Table], dict[str, Any]]
    arrange_deal: Callable[[Table, Mapping[str, Any]], None]
    stock_words: Callable[[Table], list[str]]
    arrange_reshuffle: Callable[[Table, Sequence[str]], None]
    taking_part: Callable[[Table], list[int]]
    canonical: Callable[[Table, int], int]
    relabel: Callable[[Table, int, Table], None]
    rename_action: Callable[[int, int], int]
    inverse: Callable[[int], int]
    renamings: Callable[[int, int | None], tuple[int, ...]]
    renamed_entries: Callable[[int, int], np.ndarray]
    draw_table: Callable[[Table, int | None], Any]

    def n_actions(self, seats: int) -> int:
        """How many actions there are for a number of encoded seats."""
        return len(self.action_labels(seats))

    def action_hash(self, seats: int) -> str:
        """12 hex digits that change with the number, order or meaning of the actions."""
        return hashlib.sha256("\n".join(self.action_labels(seats)).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Game:
    """A named game: rules with the options of one tradition.

    Attributes:
        name: As commands, records and ``mitch_env.make`` know it, such as ``mitch_jp``.
        env_name: As PettingZoo knows it, such as ``mitch_jp_v0``.
        rules: The functions.
        defaults: The options of the tradition.
    """

    name: str
    env_name: str
    rules: Rules
    defaults: Any

    def options(self, options: Any = None, **changes: Any) -> Any:
        """The game's options with changes by name, from a mapping, keywords, or an options object (taken as it is).

        Raises:
            OptionsError: If a name is unknown or a value is not allowed.
        """
        if options is not None and not isinstance(options, (Mapping, type(self.defaults))):
            kind = type(self.defaults).__name__
            raise OptionsError(f"options must be a mapping or a {kind}, got {type(options).__name__}")
        base = options if isinstance(options, type(self.defaults)) else replaced(self.defaults, options or {})
        return replaced(base, changes)

    def new_tables(
        self,
        options: Sequence[Any],
        *,
        seeds: np.ndarray,
        reward: str = "points",
        seats_encoded: int | None = None,
        stop_at_deal: bool = False,
    ) -> np.recarray:
        """One table for each of ``options``, each at the start of the match of its seed, before the first deal.

        Args:
            options: Options objects, one for each table.
            seeds: uint64, one for each table.
            reward: ``points``, ``relative`` or ``outcome``.
            seats_encoded: Seats that observations and actions are numbered for; at least the players of every table, by
                default the most players of any.
            stop_at_deal: Whether the tables wait before each deal.
        """
        check_choice("reward", reward, REWARDS)
        most = max(one.players for one in options)
        encoded = most if seats_encoded is None else check_int("seats_encoded", seats_encoded, most, self.rules.max_seats)
        tables = np.zeros(len(options), self.rules.table_dtype).view(np.recarray)
        tables.seats_encoded = encoded
        tables.reward_kind = REWARDS.index(reward)
        tables.stop_at_deal = stop_at_deal
        tables.seed = seeds
        same = all(one is options[0] for one in options)
        for rows, one in [(slice(None), options[0])] if same else [(slice(i, i + 1), one) for i, one in enumerate(options)]:
            for field, value in one.table_fields().items():
                tables[field][rows] = value
        return tables

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        from .registry import get_game

        return get_game, (self.name,)


def legal_moves(game: Game, table: Table) -> list[str]:
    """All legal moves of the actor, in words."""
    mask = np.zeros(game.rules.n_actions(int(table.seats_encoded)), np.uint8)
    game.rules.legal_actions(table, mask)
    return [game.rules.action_name(table, int(action)) for action in np.flatnonzero(mask)]
