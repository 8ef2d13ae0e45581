"""Renaming suits is an exact symmetry: what is seen, allowed and played under other names is the same game."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from games import EVERY_TABLE, some_options, times

from mitch_env import GAMES, Batch, Game, OptionsError
from mitch_env.game import NOBODY, Table
from mitch_env.jit import kernel_view
from mitch_env.kernels import kernels_of
from mitch_env.mitch.state import JOKER_CARD
from mitch_env.mitch.symmetry import renamed_card
from mitch_env.mitchell.symmetry import renamed_kind
from mitch_env.suits import SuitRenamings


def suits_of(game: Game, table: Table) -> int | None:
    return int(table.suits) if game.rules.name == "mitch" else None


def midgame(game: Game, players: int, n: int, seed: int) -> Iterator[np.recarray]:
    """Tables (one row each) somewhere in random matches by random options, some encoded for more seats than play."""
    rng = random.Random(seed)
    options = list(some_options(game, players, max(2, n // 4), seed))
    for seats in (players, rng.randint(players, game.rules.max_seats)):
        batch = Batch(game, options=options, seed=seed, seats_encoded=seats)
        for _ in range(-(-n // (2 * len(options)))):
            batch.skip_silent()
            for _ in range(rng.randint(1, 12)):
                batch.step(batch.random_actions())
            for row in range(len(batch)):
                yield batch.snapshot([row])


def view(game: Game, tables: np.recarray, seat: int) -> tuple[np.ndarray, np.ndarray]:
    seats = int(tables[0].seats_encoded)
    seen = np.full(game.rules.layout(seats).size, np.nan, np.float32)
    mask = np.full(game.rules.n_actions(seats), 9, np.int8)
    kernels_of(game.rules).view_one(kernel_view(tables), seat, seen, mask)
    return seen, mask


def fully_renamed(game: Game, tables: np.recarray, code: int) -> np.recarray:
    """The whole table under other names, its hidden stock included, which ``relabel`` leaves as it is."""
    renamed = tables.copy()
    game.rules.relabel(tables[0], code, renamed[0])
    rename_stock(game, tables[0], code, renamed[0])
    return renamed


def rename_stock(game: Game, table: Table, code: int, out: Table) -> None:
    name = renamed_kind if game.rules.name == "mitchell" else renamed_unless_joker
    out.stock[: table.stock_size] = [name(code, int(card)) for card in table.stock[: table.stock_size]]


def renamed_unless_joker(code: int, card: int) -> int:
    return card if card == JOKER_CARD else renamed_card(card, code)


def some_codes(game: Game, table: Table, rng: random.Random, n: int = 3) -> list[tuple[SuitRenamings, int]]:
    suits = renamings_of(game, int(table.seats_encoded), suits_of(game, table))
    return [(suits, rng.randrange(suits.n)) for _ in range(n)]


_MADE: dict[Any, SuitRenamings] = {}


def renamings_of(game: Game, seats: int, suits: int | None = None) -> SuitRenamings:
    """Made once for all tests."""
    key = game.rules.name, seats, suits
    if key not in _MADE:
        _MADE[key] = SuitRenamings(game, seats, suits)
    return _MADE[key]


@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_a_renamed_table_shows_every_seat_the_renamed_observation_and_mask(name: str, players: int) -> None:
    game, rng = GAMES[name], random.Random(players)
    n_changed = 0
    for tables in midgame(game, players, times(40), players):
        for suits, which in some_codes(game, tables[0], rng):
            renamed = fully_renamed(game, tables, int(suits.codes[which]))
            for seat in range(players):
                seen, mask = view(game, tables, seat)
                expected, expected_mask = view(game, renamed, seat)
                assert suits.rename_observations(seen, which).tobytes() == expected.tobytes()
                assert suits.rename_masks(mask, which).tobytes() == expected_mask.tobytes()
                n_changed += expected.tobytes() != seen.tobytes()
    assert n_changed > times(40)


@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_playing_under_other_names_leads_to_the_renamed_table(name: str, players: int) -> None:
    """A whole deal is played on a completely renamed table, by renamed actions; all seats see the same, renamed."""
    game, rng = GAMES[name], random.Random(10 * players)
    n_decisions = n_ended = 0
    for number, tables in enumerate(midgame(game, players, times(12), 30 + players)):
        tables.stop_at_deal = 1
        suits, which = some_codes(game, tables[0], rng, 1)[0]
        renamed = fully_renamed(game, tables, int(suits.codes[which]))
        done = int(tables[0].deals_done)
        while tables[0].actor != NOBODY and n_decisions < 150 * (number + 1):
            legal = np.flatnonzero(view(game, tables, int(tables[0].actor))[1])
            play_both(game, tables, renamed, suits, which, int(rng.choice(legal.tolist())))
            n_decisions += 1
            for seat in range(players):
                seen, mask = view(game, tables, seat)
                other, other_mask = view(game, renamed, seat)
                assert suits.rename_observations(seen, which).tobytes() == other.tobytes()
                assert suits.rename_masks(mask, which).tobytes() == other_mask.tobytes()
        for field in ("actor", "phase", "points", "totals", "reward", "dealer", "deals_done", "n_events"):
            assert np.array_equal(tables[field], renamed[field]), field
        n_ended += int(tables[0].deals_done) > done
    assert n_decisions > times(100)
    assert n_ended > 0


def play_both(game: Game, tables: np.recarray, renamed: np.recarray, suits: SuitRenamings, which: int, action: int) -> None:
    """One action here, and the renamed one there; a reshuffle there comes out as it did here, renamed."""
    step = kernels_of(game.rules).step_one
    if game.rules.name == "mitchell":
        twin = tables.copy()
        step(kernel_view(twin), action)
        # (It is drawn from the shuffled kinds in order, so that chance alone would not bring the same about.)
        if twin[0].reshuffles != tables[0].reshuffles:
            n, code = int(twin[0].stock_size), int(suits.codes[which])
            renamed[0].arranged[:n] = [renamed_kind(code, int(kind)) for kind in twin[0].stock[:n]]
            renamed[0].n_arranged = n
            renamed[0].rng = twin[0].rng
    step(kernel_view(tables), action)
    step(kernel_view(renamed), int(suits.rename_actions(action, which)))


@pytest.mark.parametrize(("name", "seats", "pack"), [("mitch_jp", 3, None), ("mitch_ru", 5, 3), ("mitchell", 2, None)])
def test_renamings_are_a_group(name: str, seats: int, pack: int | None) -> None:
    suits = SuitRenamings(name, seats, pack)
    rng = np.random.default_rng(1)
    size, n_actions = suits.entries.shape[1], suits.new_actions.shape[1]
    assert suits.n == len(set(suits.codes.tolist())) == {None: 24, 3: 6}[pack] * (5 if name == "mitchell" else 1)
    seen, actions = rng.random((suits.n, size), np.float32), rng.integers(n_actions, size=suits.n)
    every = np.arange(suits.n)
    # The identity is number 0.
    assert np.array_equal(suits.rename_observations(seen, 0), seen)
    assert np.array_equal(suits.rename_actions(actions, 0), actions)
    # Each has an inverse, on observations, masks and actions alike.
    back = suits.inverse
    assert np.array_equal(back[back], every)
    assert np.array_equal(suits.rename_observations(suits.rename_observations(seen, every), back), seen)
    assert np.array_equal(suits.rename_actions(suits.rename_actions(actions, every), back), actions)
    assert np.array_equal(suits.original_actions(suits.rename_actions(actions, every), every), actions)
    masks = rng.random((suits.n, n_actions)) < 0.3
    assert np.array_equal(suits.rename_masks(suits.rename_masks(masks, every), back), masks)
    # One after the other is one of them, the same one for observations and actions.
    both_entries = {suits.entries[i].tobytes(): i for i in every.tolist()}
    both_actions = {suits.new_actions[i].tobytes(): i for i in every.tolist()}
    assert len(both_entries) == len(both_actions) == suits.n
    for first, then in rng.integers(suits.n, size=(50, 2)).tolist():
        at = both_entries[suits.entries[first][suits.entries[then]].tobytes()]
        assert at == both_actions[suits.new_actions[then][suits.new_actions[first]].tobytes()]
        twice = suits.rename_observations(suits.rename_observations(seen, first), then)
        assert np.array_equal(twice, suits.rename_observations(seen, at))
    # What was masked stays with its action.
    renamed = suits.rename_masks(masks, every)
    assert np.array_equal(renamed[every, suits.rename_actions(actions, every)], masks[every, actions])


@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_canonical_names_are_one_of_the_renamings(name: str, players: int) -> None:
    game, numbers = GAMES[name], set()
    for tables in midgame(game, players, times(60), 50 + players):
        table = tables[0]
        suits = renamings_of(game, int(table.seats_encoded), suits_of(game, table))
        for seat in range(players):
            numbers.add(suits.codes.tolist().index(game.rules.canonical(table, seat)))
    assert len(numbers) > 3


def test_arrays_of_any_leading_shape_are_renamed_into_fresh_ones() -> None:
    suits, rng = SuitRenamings("mitch_jp", 3), np.random.default_rng(2)
    seen, masks = rng.random((4, 5, 544), np.float32), rng.random((4, 5, 106)) < 0.5
    actions, which = rng.integers(106, size=(4, 5)), rng.integers(24, size=(4, 5))
    for one in ((0, 0), (3, 4)):
        assert np.array_equal(suits.rename_observations(seen, which)[one], suits.rename_observations(seen[one], which[one]))
        assert np.array_equal(suits.rename_masks(masks, which)[one], suits.rename_masks(masks[one], which[one]))
        assert suits.rename_actions(actions, which)[one] == suits.rename_actions(actions[one], which[one])
    by_row = suits.rename_observations(seen, which[:, :1])
    assert np.array_equal(by_row[2, 3], suits.rename_observations(seen[2, 3], which[2, 0]))
    all_of_one = suits.rename_observations(seen[0, 0], np.arange(24))
    assert all_of_one.shape == (24, 544) and np.array_equal(all_of_one[0], seen[0, 0])
    same = suits.rename_observations(seen, 0)
    assert np.array_equal(same, seen) and not np.shares_memory(same, seen)
    assert suits.rename_masks(masks, which).dtype == bool and same.dtype == np.float32
    assert suits.rename_observations(seen[:0], which[:0]).shape == (0, 5, 544)


def test_only_the_suits_of_the_pack_are_renamed() -> None:
    suits = SuitRenamings("mitch_ru", 4, suits=2)
    assert suits.n == 2
    assert suits.new_actions[1, :26].tolist() == [*range(13, 26), *range(13)]
    assert suits.new_actions[1, 26:52].tolist() == list(range(26, 52))
    assert SuitRenamings("mitchell", 3).n == SuitRenamings("mitchell", 3, suits=5).n == 120
    for name, wrong in [("mitch_jp", 0), ("mitch_jp", 5), ("mitchell", 4), ("mitch_jp", "4")]:
        with pytest.raises(OptionsError, match=f"suits={wrong!r}: an integer from"):
            SuitRenamings(name, 3, suits=wrong)
    with pytest.raises(OptionsError, match="seats_encoded=6: an integer from 2 to 5"):
        SuitRenamings("mitch_jp", 6)


@pytest.mark.parametrize("wrong", [-1, 106, 0.5, [3, 106]])
def test_what_is_no_action_or_no_renaming_is_refused(wrong: Any) -> None:
    suits = SuitRenamings("mitch_jp", 3)
    with pytest.raises(ValueError, match="actions must be integers from 0 to 105"):
        suits.rename_actions(wrong, 1)
    with pytest.raises(ValueError, match="which must be integers from 0 to 23"):
        suits.original_actions(3, wrong)
    with pytest.raises(ValueError, match=r"observations have the shape \(3, 500\): \[..., 544\] is needed"):
        suits.rename_observations(np.zeros((3, 500), np.float32), 1)


def test_every_block_that_speaks_of_suits_is_renamed() -> None:
    """A suit that is a name of its own in no block would be left behind; only these say nothing of suits."""
    without = {
        "mitch": "hand_size total turn dealer taking_part waited clock_seen clock_left stock phase match players clock "
        "clock_cards rules sizes",
        "mitchell": "top action center hand_size mitchell target turn total decision stock round players rules sizes",
    }
    for name in ("mitch_jp", "mitchell"):
        suits = SuitRenamings(name, 3)
        for block, where in suits.game.rules.layout(3):
            is_renamed = (suits.entries[:, where] != np.arange(where.start, where.stop)).any()
            assert is_renamed == (block.name not in without[suits.game.rules.name].split()), block.name
