"""The table of Mitch as text and as a picture: what is told, and that nothing hidden is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mitch_env.events import note, recent_events
from mitch_env.game import PHASE_DEAL, PHASE_OVER, Table
from mitch_env.mitch import rules
from mitch_env.mitch.actions import N_ACTIONS
from mitch_env.mitch.describe import CROWN, event_text, is_crowned
from mitch_env.mitch.draw import HEIGHT, WIDTHS
from mitch_env.mitch.presets import RULES
from mitch_env.mitch.state import PHASE_DRAW
from mitch_env.mitch.text import CARD_NAMES, arrange_deal, card_set, parse_action, parse_card
from mitch_env.registry import get_game

PRESETS = ("mitch_jp", "mitch_ru", "mitch_original")
CASES: list[tuple[str, int, dict[str, Any]]] = [
    (preset, players, {"deals": 2}) for preset in PRESETS for players in range(2, 6)
]
CASES += [
    ("mitch_jp", 3, {"take_discard": True, "waiting_penalty": True, "closer_plays": True}),
    ("mitch_jp", 3, {"clock": "ace_stock", "scoring": "longest", "suits": 3}),
    ("mitch_ru", 2, {"scoring": "suits", "deals": 2}),
]


def new_table(preset: str, players: int = 3, seed: int = 1, **changes: Any) -> Table:
    game = get_game(preset)
    table = game.new_tables([game.options(players=players, **changes)], seeds=np.array([seed], np.uint64))[0]
    RULES.start_match(table)
    return table


def deal(table: Table) -> None:
    RULES.shuffle_deal(table)
    RULES.open_deal(table)


def played(table: Table, seed: int = 0) -> Iterator[Table]:
    """The table before each decision of a random match, between deals, and at the end."""
    bits = np.random.default_rng(seed)
    while True:
        yield table
        if table.phase == PHASE_OVER:
            return
        if table.phase == PHASE_DEAL:
            deal(table)
        else:
            RULES.apply_action(table, RULES.pick_legal(table, bits.integers(1 << 64, dtype=np.uint64)))


def card(name: str) -> int:
    return parse_card(name)


def cards(names: str) -> np.uint64:
    return card_set(card(name) for name in names.split())


def line_of(text: str, label: str) -> str:
    return next(line for line in text.splitlines() if line.strip().startswith(label))


@pytest.mark.parametrize(("preset", "players", "changes"), CASES)
def test_text_tells_nothing_hidden(preset: str, players: int, changes: dict[str, Any]) -> None:
    n_redrawn = 0
    for i, table in enumerate(played(new_table(preset, players, **changes))):
        if i % 11 and table.phase != PHASE_OVER:
            continue
        for_all = RULES.describe(table, None)
        for seat in range(players):
            other_world = table.copy()
            RULES.redeal_hidden(other_world, seat, np.uint64(100 * i + seat))
            assert RULES.describe(other_world, seat) == RULES.describe(table, seat)
            assert RULES.describe(other_world, None) == for_all
            n_redrawn += not np.array_equal(other_world.hand, table.hand)
    assert n_redrawn > players  # hands were really redrawn


@pytest.mark.parametrize(("preset", "players", "changes"), CASES)
def test_text_fits_a_terminal_and_does_not_touch_the_table(preset: str, players: int, changes: dict[str, Any]) -> None:
    for i, table in enumerate(played(new_table(preset, players, seed=2, **changes))):
        if i % 9 == 0 or table.phase == PHASE_OVER:
            before = table.tobytes()
            text = RULES.describe(table, i % players)
            assert table.tobytes() == before
            assert max(map(len, text.splitlines())) <= 96
            assert not any(line != line.rstrip() for line in text.splitlines())


def test_hand_and_moves_are_shown_to_their_owner_only() -> None:
    table = new_table("mitch_jp", 2)
    hands = [["KS", "9S", "3H", "TD", "2C"], ["AH", "AD", "AC", "AS", "4H"]]
    rest = [name for name in CARD_NAMES[:52] if name not in [*hands[0], *hands[1], "5C"]]
    arrange_deal(table, {"hands": hands, "stock": ["5C", "JK", "JK", "JK", *rest]})
    RULES.open_deal(table)
    own = RULES.describe(table, 0)
    assert line_of(own, "your hand").split(None, 2)[2] == "♠ K 9   ♥ 3   ♦ T   ♣ 5 2"
    assert line_of(own, "play").split() == ["play", "KS", "9S", "3H", "TD", "5C", "2C"]
    assert line_of(own, "discard  ").split() == ["discard", "KS", "9S", "3H", "TD", "5C", "2C"]
    others = RULES.describe(table, 1)
    assert line_of(others, "your hand").split(None, 2)[2] == "♠ A   ♥ 4 A   ♦ A   ♣ A"
    for text in (others, RULES.describe(table, None)):
        assert "Your turn" not in text
        assert "seat0 is to move." in text
        assert "KS" not in text
    assert "your hand" not in RULES.describe(table, None)
    assert line_of(own, "stock").split(None, 1)[1] == "44 cards, open: 3 more jokers close it"


def test_moves_of_a_large_hand_are_all_told() -> None:
    table = new_table("mitch_jp", 2, hand_size=25)
    deal(table)
    words = RULES.describe(table, 0).partition("Your turn")[2].partition("discard")[0].split()
    assert sorted(map(card, words[1:])) == [c for c in range(52) if int(table.hand[0]) >> c & 1]


def test_choice_to_draw_or_take_is_told() -> None:
    for seed in range(50):
        for table in played(new_table("mitch_jp", take_discard=True, seed=seed), seed):
            if table.phase == PHASE_DRAW:
                lines = RULES.describe(table, int(table.actor)).partition("Your turn\n")[2].splitlines()
                assert lines[0].split() == ["draw"]
                assert lines[1].split() == ["take", CARD_NAMES[table.pile[table.pile_size - 1]]]
                return
    pytest.fail("no seat was ever asked")


def crowns(table: Table) -> list[tuple[int, int]]:
    return [(seat, suit) for seat in range(table.players) for suit in range(table.suits) if is_crowned(table, seat, suit)]


def test_crown_is_on_the_longest_column_of_each_suit() -> None:
    table = new_table("mitch_jp")
    deal(table)
    assert crowns(table) == []
    table.tableau[0] = cards("KS 9S 4H 7C")
    table.tableau[1] = cards("QS JS 8S 5H")
    table.tableau[2] = cards("TS 3S 8C 2C")
    assert crowns(table) == [(1, 0), (1, 1), (2, 3)]  # 5H is higher than 4H
    text = RULES.describe(table, None)
    assert line_of(text, "♠").split("  ")[-1].count(CROWN) == 0
    assert line_of(text, "♠").count(CROWN) == 1
    assert f"Q J 8 {CROWN}" in line_of(text, "♠")
    assert f"5 {CROWN}" in line_of(text, "♥")
    assert f"8 2 {CROWN}" in line_of(text, "♣")
    assert CROWN not in line_of(text, "♦")
    assert line_of(text, "this deal").split()[2:] == ["-4", "+8", "+2"]


def test_crown_under_longest_is_on_the_best_columns_of_all() -> None:
    table = new_table("mitch_ru")
    deal(table)
    table.tableau[0] = cards("KS QS 4H")
    table.tableau[1] = cards("KD QD")
    table.tableau[2] = cards("JC TC")
    assert crowns(table) == [(0, 0), (1, 2)]
    assert RULES.describe(table, None).count(CROWN) == 2


def test_low_tie_break_moves_the_crown() -> None:
    table = new_table("mitch_jp", tie_break="low")
    deal(table)
    table.tableau[0] = cards("KS")
    table.tableau[1] = cards("QS")
    assert crowns(table) == [(1, 0)]


def test_every_event_is_told_in_words() -> None:
    table = new_table("mitch_ru")
    for kind, detail in [
        (rules.DEALT, 2),
        (rules.LAID, card("9H")),
        (rules.DISCARDED, card("KS")),
        (rules.TOOK, card("9H")),
        (rules.ACE_LAID, card("AS")),
        (rules.CLOCK_UP, card("JK")),
        (rules.PLAYOFF_DEALT, 1),
    ]:
        note(table, kind, 1, detail)
    table.deals_done = 1
    assert [event_text(table, event) for event in recent_events(table)] == [
        "deal 2, dealt by seat1",
        "seat1 lays 9H",
        "seat1 discards KS",
        "seat1 takes 9H",
        "seat1 lays the ace AS on the pile",
        "seat1 turns up JK",
        "play-off, dealt by seat1",
    ]
    with pytest.raises(ValueError, match="kind 7 is no event"):
        event_text(table, 7 << 16)


def test_deal_number_goes_on_beyond_what_an_event_holds() -> None:
    table = new_table("mitch_jp")
    table.deals_done = 513
    note(table, rules.DEALT, 0, 513 & 0xFF)
    assert event_text(table, recent_events(table)[-1]) == "deal 513, dealt by seat0"


def test_moves_in_play_become_the_last_moves() -> None:
    table = new_table("mitch_jp")
    deal(table)
    move = f"discard {CARD_NAMES[int(table.hand[0]).bit_length() - 1]}"
    RULES.apply_action(table, parse_action(table, move))
    told = RULES.describe(table, None).partition("Last moves\n")[2].split("\n")
    assert told[0].strip() == "deal 1, dealt by seat2"
    assert f"seat0 {move.replace('discard', 'discards')}" in [line.strip() for line in told]


def test_play_off_tells_who_sits_out() -> None:
    table = new_table("mitch_ru", 4)
    table.playoff = 2
    table.taking_part = 0b1010
    table.dealer = 1
    deal(table)
    text = RULES.describe(table, 0)
    assert text.startswith("Mitch · deal 1 of 1, play-off 2 of at most 10 · dealt by seat1\n")
    assert text.count("sits out") == 2
    assert "no cards" in line_of(text, "your hand")


@pytest.mark.parametrize(
    ("totals", "words"),
    [
        ([3, 12, -4], "seat1 wins with 12 points."),
        ([7, -1, 7], "seat0 and seat2 share the win with 7 points."),
        ([1, 1, 1], "seat0, seat1 and seat2 share the win with 1 point."),
    ],
)
def test_end_of_match_tells_who_won(totals: list[int], words: str) -> None:
    *_, table = played(new_table("mitch_jp"))
    table.totals[:3] = totals
    text = RULES.describe(table, 0)
    assert text.startswith("Mitch · the match is over after 3 deals\n")
    assert words in text.splitlines()
    assert line_of(text, "total").split()[1:] == [str(total) for total in totals]
    assert text.count("winner") == totals.count(max(totals))
    assert "to move" not in text


def test_table_before_the_first_deal_is_told() -> None:
    table = new_table("mitch_original", 2)
    assert "nothing is dealt yet" in RULES.describe(table, 0)
    assert "waiting for the deal of seat1" in RULES.describe(table, None)


@pytest.mark.parametrize(("preset", "players", "changes"), CASES)
def test_picture_tells_nothing_hidden(preset: str, players: int, changes: dict[str, Any]) -> None:
    pytest.importorskip("PIL")
    for i, table in enumerate(played(new_table(preset, players, seed=3, **changes))):
        if i % 60 != 10 and table.phase != PHASE_OVER:
            continue
        seat = i // 60 % players
        picture = RULES.draw_table(table, seat)
        assert picture.shape == (HEIGHT, WIDTHS[players], 3)
        assert picture.dtype == np.uint8
        other_world = table.copy()
        RULES.redeal_hidden(other_world, seat, np.uint64(i))
        assert np.array_equal(RULES.draw_table(other_world, seat), picture)
        assert np.array_equal(RULES.draw_table(other_world, None), RULES.draw_table(table, None))


def test_picture_shows_the_own_hand_and_the_crowns() -> None:
    pytest.importorskip("PIL")
    table = new_table("mitch_jp", 2)
    deal(table)
    pictures = [RULES.draw_table(table, seat) for seat in (0, 1, None)]
    assert not np.array_equal(pictures[0], pictures[1])
    assert not np.array_equal(pictures[0], pictures[2])
    table.tableau[0] = cards("KS QS")
    table.tableau[1] = cards("JS")
    led = RULES.draw_table(table, None)
    table.tableau[1] = cards("JS TS 9S")
    followed = RULES.draw_table(table, None)
    half = led.shape[1] // 2
    golden = [(np.abs(p.astype(int) - (250, 204, 72)).sum(2) < 30)[100:130] for p in (led, followed)]
    assert [int(g[:, 20 : half - 20].any()) for g in golden] == [1, 0]
    assert [int(g[:, half + 20 : -20].any()) for g in golden] == [0, 1]


def test_picture_without_pillow_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    table = new_table("mitch_jp")
    with pytest.raises(ImportError, match=r'rgb_array needs Pillow: pip install "mitch-env\[render\]"'):
        RULES.draw_table(table, 0)


def test_every_action_has_its_place_in_the_moves() -> None:
    """Each legal move that the actor reads can be parsed back, and none is missing."""
    mask = np.zeros(N_ACTIONS, np.uint8)
    for table in played(new_table("mitch_ru", 3, must_place=False)):
        if table.phase in (PHASE_DEAL, PHASE_OVER):
            continue
        RULES.legal_actions(table, mask)
        told = RULES.describe(table, int(table.actor)).partition("Your turn\n")[2].partition("\n\n")[0]
        moves = [f"{line.split()[0]} {name}" for line in told.splitlines() for name in line.split()[1:]]
        assert sorted(parse_action(table, move) for move in moves) == np.flatnonzero(mask).tolist()
