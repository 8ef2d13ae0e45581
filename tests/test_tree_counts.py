"""Exact sizes of the decision trees of miniatures: the engine against the reference referee, depth by depth."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from positions import Position, short_pack
from reference.mitch import count_positions_by_depth, full_options

import mitch_env
from mitch_env.game import PHASE_DEAL, PHASE_OVER, Rules, Table
from mitch_env.jit import kernel_view
from mitch_env.kernels import ILLEGAL, kernels_of

#: A deal: hands, stock, revealed aces.
Deal = tuple[list[str], str, str]

JP_SMALL: dict[str, Any] = {"players": 2, "deals": 1, "hand_size": 2, "clock_cards": 1, "suits": 1, "ranks": 5}
JP_TWO_SUITS: dict[str, Any] = JP_SMALL | {"suits": 2, "ranks": 3}
RU_SMALL: dict[str, Any] = {"players": 2, "hand_size": 2, "clock_cards": 2, "suits": 2, "ranks": 4, "playoffs": 0}
ORIGINAL_SMALL: dict[str, Any] = {"players": 2, "deals": 1, "hand_size": 2, "clock_cards": 2, "suits": 2, "ranks": 5}

TREES: dict[str, tuple[str, dict[str, Any], list[Deal]]] = {
    "jp": (
        "mitch_jp",
        JP_SMALL,
        [(["5S 3S", "4S 2S"], "AS JK", ""), (["AS 2S", "3S 5S"], "4S JK", ""), (["AS 2S", "3S 5S"], "JK 4S", "")],
    ),
    "jp three players": (
        "mitch_jp",
        JP_SMALL | {"players": 3, "hand_size": 1, "ranks": 6},
        [(["5S", "3S", "4S"], "AS 6S 2S JK", ""), (["AS", "2S", "3S"], "6S JK 5S 4S", "")],
    ),
    "jp take_discard": (
        "mitch_jp",
        JP_SMALL | {"take_discard": True},
        [(["5S 3S", "4S 2S"], "AS JK", ""), (["3S 2S", "4S AS"], "5S JK", "")],
    ),
    "jp take_discard next_lower": (
        "mitch_jp",
        JP_TWO_SUITS | {"hand_size": 1, "take_discard": True, "column_step": "next_lower"},
        [(["3S", "2S"], "AS 3H AH JK 2H", ""), (["AH", "2S"], "3S 3H 2H JK AS", "")],
    ),
    "jp house rules": (
        "mitch_jp",
        JP_TWO_SUITS | {"hand_size": 1, "take_discard": True, "closer_plays": True, "must_place": True, "clock_cards": 2},
        [(["3S", "2S"], "AS JK 3H 2H JK AH", ""), (["AS", "AH"], "JK 3S 3H 2H 2S JK", "")],
    ),
    "jp two suits": ("mitch_jp", JP_TWO_SUITS, [(["3S AH", "2S 3H"], "2H JK AS", "")]),
    "jp ace_stock": (
        "mitch_jp",
        ORIGINAL_SMALL | {"clock": "ace_stock", "column_step": "next_lower"},
        [(["5S 3S", "4S 2H"], "4H AS AH 2S 5H 3H", "")],
    ),
    "ru": (
        "mitch_ru",
        RU_SMALL,
        [(["4S AS", "3H 2S"], "4H AH 3S 2H", ""), (["AS AH", "2S 3S"], "4S 4H 2H 3H", "")],
    ),
    "ru free": (
        "mitch_ru",
        RU_SMALL | {"must_place": False, "column_step": "any_lower", "clock_cards": 1},
        [(["4S AS", "3H 2S"], "4H AH 3S 2H", "")],
    ),
    "ru without a stock": (
        "mitch_ru",
        RU_SMALL | {"hand_size": 3, "ranks": 3},
        [(["3S AS 2H", "3H AH 2S"], "", "")],
    ),
    "original": (
        "mitch_original",
        ORIGINAL_SMALL,
        [(["5S 3S", "4S 2H"], "4H AS AH 2S 5H 3H", ""), (["5S 3S", "4S 2H"], "4H AH 2S 5H 3H", "AS")],
    ),
    "original closed from the start": (
        "mitch_original",
        ORIGINAL_SMALL | {"hand_size": 3, "column_step": "next_lower"},
        [(["5S 3S 4S", "2S 5H 4H"], "2H 3H", "AS AH")],
    ),
}  # fmt: skip


def count_by_depth(rules: Rules, tables: np.recarray, compiled: bool) -> list[int]:
    """How many histories of 0, 1, 2, ... decisions the deal at ``tables[0]`` has, its finished ones included."""
    counts: list[int] = []
    step = kernels_of(rules).step_one
    mask = np.zeros(rules.n_actions(int(tables[0].seats_encoded)), np.uint8)

    def count(tables: np.recarray, depth: int) -> None:
        if depth == len(counts):
            counts.append(0)
        counts[depth] += 1
        table: Table = tables[0]
        if table.phase in (PHASE_DEAL, PHASE_OVER):
            return
        rules.legal_actions(table, mask)
        for action in np.flatnonzero(mask):
            child = tables.copy()
            if compiled:
                assert step(kernel_view(child), int(action)) != ILLEGAL
            else:
                rules.apply_action(child[0], int(action))
            count(child, depth + 1)

    count(tables, 0)
    return counts


def tables_of(position: Position) -> np.recarray:
    """A copy of the position's table, as the only row."""
    return np.array([position.table], position.rules.table_dtype).view(np.recarray)


@pytest.mark.parametrize("name", TREES)
def test_trees_have_the_sizes_that_the_referee_counts(name: str) -> None:
    game, options, deals = TREES[name]
    for hands, stock, revealed in deals:
        position = Position(game, **options).deal(hands, stock, revealed)
        engine = count_by_depth(position.rules, tables_of(position), compiled=True)
        words = [[hand.split() for hand in hands], [*stock.split()], revealed.split()]
        assert engine == count_positions_by_depth(full_options(game, **options), *words)
        assert len(engine) > 4 and engine[0] == 1


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
def test_the_count_of_a_deal_worked_out_by_hand(compiled: bool) -> None:
    """Seat0 holds 3S and draws AS: 4 moves. Seat1 draws the joker. Seat0 can lay its other card but for 3S below AS.

    That makes 2 + 1 + 2 + 2 = 7 histories, and seat1 lays or discards 2S after each: 14.
    """
    position = Position("mitch_jp", **JP_SMALL | {"hand_size": 1, "ranks": 3}).deal(["3S", "2S"], "AS JK")
    assert count_by_depth(position.rules, tables_of(position), compiled) == [1, 4, 7, 14]


def test_the_smallest_miniature_has_8910_decisions_and_8610_ends() -> None:
    """jp, 2 players, 1 deal, 1 suit, 5 ranks, hand 2, 1 joker: all 30 pairs of hands with both orders of the stock."""
    options = mitch_env.get_game("mitch_jp").options(**JP_SMALL)
    pack = short_pack(options)
    n_deals = n_decisions = n_ends = 0
    for first in itertools.combinations(pack, 2):
        for second in itertools.combinations([card for card in pack if card not in first], 2):
            rest = [card for card in pack if card not in first + second]
            for stock in ([*rest, "JK"], ["JK", *rest]):
                words = {"hands": [first, second], "stock": stock, "revealed": []}
                position = Position("mitch_jp", **JP_SMALL).lay_out(words)
                # All histories of a deal have the same number of decisions: the ends are the deepest level.
                *before, ends = count_by_depth(position.rules, tables_of(position), compiled=True)
                n_deals += 1
                n_decisions += sum(before)
                n_ends += ends
    assert (n_deals, n_decisions, n_ends) == (60, 8_910, 8_610)


def test_clones_of_an_environment_count_the_same_tree() -> None:
    """The environment's own copies: clone, and snapshot with restore."""
    env = mitch_env.make("mitch_jp", **JP_SMALL | {"hand_size": 1, "take_discard": True})
    env.reset(seed=5)
    deal = env.record()["deals"][0]
    expected = count_positions_by_depth(env.options.as_dict(), deal["hands"], deal["stock"])

    def count(env: mitch_env.TableEnv, depth: int, counts: list[int], by_clone: bool) -> list[int]:
        counts.extend([0] * (depth + 1 - len(counts)))
        counts[depth] += 1
        if all(env.terminations.values()):
            return counts
        here = env.snapshot()
        for move in env.legal_moves():
            child = env.clone() if by_clone else env
            child.step(child.parse_action(move))
            count(child, depth + 1, counts, by_clone)
            env.restore(here)
        return counts

    assert count(env, 0, [], by_clone=True) == count(env, 0, [], by_clone=False) == expected
