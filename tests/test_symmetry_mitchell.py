"""Renaming the suits of Mitchell is an exact symmetry of what is seen and allowed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mitch_env import Batch
from mitch_env.game import Table
from mitch_env.mitchell.kinds import KIND_NAMES, N_KINDS, N_SUITS, NOTHING, SUITS
from mitch_env.mitchell.presets import MITCHELL, RULES
from mitch_env.mitchell.symmetry import canonical, inverse, relabel, rename_action, renamed_kind

#: A deck with other cards of each suit.
DECK = {"stakeout": 9, "brawl+attract": 8, "brawl+center": 7, "off-duty": 6, "off-duty+anywhere": 5, "car-chase": 4}
DECK |= {"crime-scene+attract": 6, "change": 6, "force-two": 4, "move": 4, "give": 6, "cancel": 4, "revenge": 4}


def code_of(order: tuple[int, ...], seats: int) -> int:
    """The renaming that makes suit ``i`` the suit ``order[i]``."""
    return sum(new << 3 * suit for suit, new in enumerate(order)) | seats << 15


ORDERS = list(itertools.permutations(range(N_SUITS)))


def tables(players: int, n: int = 40, seats: int = 8, default_deck: bool = False) -> list[Table]:
    changes = {} if default_deck else {"deck": DECK, "hand_size": 4}
    batch = Batch(MITCHELL, n, players=players, seats_encoded=seats, seed=players, **changes)
    for step in range(30):
        rows = np.arange(n) % 30 >= step
        batch.step(batch.random_actions(np.flatnonzero(rows)), np.flatnonzero(rows))
    return list(batch.tables)


def view(table: Table, seat: int) -> np.ndarray:
    out = np.zeros(RULES.layout(int(table.seats_encoded)).size, np.float32)
    RULES.observe(table, seat, out)
    return out


def mask(table: Table) -> np.ndarray:
    out = np.zeros(RULES.n_actions(int(table.seats_encoded)), np.uint8)
    RULES.legal_actions(table, out)
    return out


def renamed_view(seen: np.ndarray, code: int, seats: int) -> np.ndarray:
    """An observation with its suits renamed, block by block."""
    out = seen.copy()
    for block, at in RULES.layout(seats):
        entries, new = seen[at], out[at]
        if block.size == N_KINDS:
            for start in range(0, len(entries), N_KINDS):
                for kind in range(N_KINDS):
                    new[start + renamed_kind(code, kind)] = entries[start + kind]
        elif block.name in ("suit", "action_suit"):
            for suit in range(N_SUITS):
                new[code >> 3 * suit & 7] = entries[suit]
    return out


def copy_renamed(table: Table, code: int) -> Table:
    out = table.copy()
    relabel(table, code, out)
    return out


@pytest.mark.parametrize("players", range(2, 9))
def test_a_renamed_table_shows_and_allows_the_same_with_other_names(players: int) -> None:
    rng = np.random.default_rng(players)
    for table in tables(players):
        code = code_of(ORDERS[rng.integers(len(ORDERS))], 8)
        renamed = copy_renamed(table, code)
        for seat in range(players):
            assert np.array_equal(view(renamed, seat), renamed_view(view(table, seat), code, 8))
        allowed = {rename_action(code, int(action)) for action in np.flatnonzero(mask(table))}
        assert allowed == set(np.flatnonzero(mask(renamed)).tolist())
        assert copy_renamed(renamed, inverse(code)).tobytes() == table.tobytes()


@pytest.mark.parametrize("seats", range(2, 9))
def test_renaming_an_action_renames_the_suits_in_its_words(seats: int) -> None:
    labels = RULES.action_labels(seats)
    for order in ORDERS[::7]:
        code = code_of(order, seats)
        for action, label in enumerate(labels):
            words = []
            for word in label.split():
                name, plus, function = word.partition("+")
                is_suit = name in SUITS and (not plus or word in KIND_NAMES)
                words.append(SUITS[order[SUITS.index(name)]] + plus + function if is_suit else word)
            assert labels[rename_action(code, action)] == " ".join(words)
            assert rename_action(inverse(code), rename_action(code, action)) == action
        for no_action in (-1, len(labels), 1 << 40):
            assert rename_action(code, no_action) == no_action


@pytest.mark.parametrize("players", [2, 5, 8])
def test_positions_that_differ_in_names_only_look_the_same_in_canonical_names(players: int) -> None:
    """Unless two suits look alike: then either may come first."""
    rng = np.random.default_rng(players)
    n_same = n = 0
    for table in tables(players):
        code = code_of(ORDERS[rng.integers(len(ORDERS))], 8)
        renamed = copy_renamed(table, code)
        for seat in range(players):
            views = [view(copy_renamed(one, canonical(one, seat)), seat) for one in (table, renamed)]
            n_same += np.array_equal(*views)
            n += 1
    assert n_same > 0.8 * n


@pytest.mark.parametrize("players", [2, 8])
def test_the_current_suit_comes_first_and_nothing_hidden_decides(players: int) -> None:
    for i, table in enumerate(tables(players, default_deck=True)):
        for seat in range(players):
            code = canonical(table, seat)
            assert sorted(code >> 3 * suit & 7 for suit in range(N_SUITS)) == list(range(N_SUITS))
            assert table.suit == NOTHING or code >> 3 * int(table.suit) & 7 == 0
            world = table.copy()
            RULES.redeal_hidden(world, seat, np.uint64(i))
            assert canonical(world, seat) == code
