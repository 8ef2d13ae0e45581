"""The table of Mitchell as text and as a picture: what is told, and that nothing hidden is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from mitchell_positions import legal, new_match, play, position

from mitch_env.events import note, recent_events
from mitch_env.game import PHASE_DEAL, PHASE_OVER, Table
from mitch_env.mitchell import events
from mitch_env.mitchell.actions import legal_actions, n_actions
from mitch_env.mitchell.describe import SUSPECTS, event_text, played_words
from mitch_env.mitchell.draw import HEIGHT, WIDTH, face
from mitch_env.mitchell.kinds import CANCEL, CHANGE, FORCE_TWO, GIVE, MOVE, N_KINDS, REVENGE
from mitch_env.mitchell.presets import MITCHELL, RULES
from mitch_env.mitchell.state import PHASE_ANSWER
from mitch_env.mitchell.text import parse_action, parse_kind

PLAYERS = range(2, 9)


def played(players: int, seed: int, n: int = 120, **changes: Any) -> Iterator[Table]:
    """The table before each decision of a random match, between deals, and at the end."""
    options = MITCHELL.options(players=players, **changes)
    table = MITCHELL.new_tables([options], seeds=np.array([seed], np.uint64))[0]
    RULES.start_match(table)
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield table
        if table.phase == PHASE_OVER:
            return
        if table.phase == PHASE_DEAL:
            RULES.shuffle_deal(table)
            RULES.open_deal(table)
        else:
            RULES.apply_action(table, RULES.pick_legal(table, rng.integers(1 << 64, dtype=np.uint64)))


def line_of(text: str, label: str) -> str:
    return next(line for line in text.splitlines() if line.strip("▶ ").startswith(label))


@pytest.mark.parametrize("players", PLAYERS)
def test_text_tells_nothing_hidden(players: int) -> None:
    n_redrawn = 0
    for i, table in enumerate(played(players, 1, ask_everyone=players % 2 == 0)):
        if i % 5 or table.phase in (PHASE_DEAL, PHASE_OVER):
            continue
        for_all = RULES.describe(table, None)
        for seat in range(players):
            world = table.copy()
            RULES.redeal_hidden(world, seat, np.uint64(100 * i + seat))
            assert RULES.describe(world, seat) == RULES.describe(table, seat)
            assert RULES.describe(world, None) == for_all
            n_redrawn += not np.array_equal(world.hand, table.hand)
    assert n_redrawn > players


@pytest.mark.parametrize("players", PLAYERS)
def test_text_fits_a_terminal_and_does_not_touch_the_table(players: int) -> None:
    for table in played(players, 2, max_turns=60):
        before = table.tobytes()
        for seat in (None, 0, players - 1):
            lines = RULES.describe(table, seat).splitlines()
            assert max(map(len, lines)) <= 96
            assert not any(line != line.rstrip() for line in lines)
        assert table.tobytes() == before


@pytest.mark.parametrize("players", [2, 5])
def test_every_legal_move_is_told_to_the_actor_and_can_be_read_back(players: int) -> None:
    for table in played(players, 3, 60):
        if table.phase in (PHASE_DEAL, PHASE_OVER):
            continue
        mask = np.zeros(n_actions(players), np.uint8)
        legal_actions(table, mask)
        text = RULES.describe(table, int(table.actor)).partition("\nLast moves")[0]
        told: list[int] = []
        beginning = ""
        heads = ("Your turn", "Your answer", "You drew")
        for line in text[max(text.find(head) for head in heads) :].strip().splitlines()[1:]:
            beginning = line[:24].strip() or beginning
            verb = "" if beginning == "one of" else f"{beginning} "
            told += [parse_action(table, verb + word) for word in line[24:].rstrip(",").split(", ")]
        assert sorted(told) == np.flatnonzero(mask).tolist()


def test_hand_and_moves_are_shown_to_their_owner_only() -> None:
    table = position(["brawl brawl+anywhere give brawl", "off-duty cancel"], "move move")
    own, other, for_all = (RULES.describe(table, seat) for seat in (0, 1, None))
    assert line_of(own, "your hand") == "your hand    brawl x2, brawl+anywhere, give"
    assert "Your turn" in own
    assert line_of(other, "your hand") == "your hand    off-duty, cancel"
    for text in (other, for_all):
        assert "Your turn" not in text
        assert "seat0 Greta is to play." in text
    assert "your hand" not in for_all
    assert line_of(own, "center").split() == ["center", "Mitchell"]
    assert line_of(own, "plot card").split() == ["plot", "card", "-"]


def test_M8_only_who_is_asked_is_told_so() -> None:
    table = position(["move brawl brawl", "off-duty", "cancel brawl", "revenge brawl"], "move move")
    play(table, "0 move seat2")
    assert table.actor == 2
    asked = RULES.describe(table, 2)
    assert "Your answer" in asked
    assert line_of(asked, "seat2").startswith("▶")
    for seat in (0, 1, 3, None):
        text = RULES.describe(table, seat)
        assert "Waiting for answers." in text
        assert line_of(text, "seat0").startswith("▶")
        assert text.count("▶") == 1
        assert line_of(text, "to answer").split(maxsplit=2)[2] == "Greta: Action, move Mitchell to Cummins."


def test_M15_one_card_is_announced_and_mitchell_is_shown_where_he_stands() -> None:
    table = position(["brawl brawl", "off-duty", "cancel"], "move move", mitchell=1)
    text = RULES.describe(table, 2)
    assert line_of(text, "seat1").endswith('Mitchell, "Mitchell!"')
    assert line_of(text, "seat2").endswith('   "Mitchell!"')
    assert line_of(text, "center").split() == ["center", "-"]


def test_M6_a_gift_is_told_to_the_giver_only() -> None:
    table = position(["give brawl off-duty", "car-chase", "stakeout"], "give give give", suit="brawl")
    play(table, "0 give seat1 off-duty")
    assert "has off-duty" in line_of(RULES.describe(table, 0), "seat1")
    for seat in (1, 2, None):
        assert "has " not in RULES.describe(table, seat)


def test_every_event_is_told_in_words() -> None:
    table = new_match(["brawl", "brawl", "brawl"], "brawl")
    table.deals_dealt = 258
    cases = [
        (events.DEALT, 2, 2, "Round 258: Greta begins."),
        (events.PLAYED, 0, parse_kind("crime-scene"), "seat0 Greta: Crime Scene."),
        (events.REACTED, 1, CANCEL, "seat1 Gallano: Reaction, cancel that and you draw one."),
        (events.REACTED, 1, REVENGE, "seat1 Gallano: Reaction, force you to draw two."),
        (events.DREW, 1, 0, "seat1 Gallano draws nothing, for nothing is left to draw."),
        (events.DREW, 1, 2, "seat1 Gallano draws two cards."),
        (events.KEPT, 2, 0, "seat2 Cummins: Go ahead, Greta."),
        (events.RESHUFFLED, 2, 0, "seat2 Cummins: The discards are shuffled."),
        (events.WON, 0, 0, "seat0 Greta wins the round."),
        (events.CAUGHT, 1, 0, "seat1 Gallano is caught by Mitchell."),
        (events.BLOCKED, 1, 0, "seat1 Gallano ends the round: nobody can play or draw."),
        (events.STOPPED, 1, 0, "seat1 Gallano ends the last turn: there have been too many."),
    ]
    for kind, seat, detail, _ in cases:
        note(table, kind, seat, detail)
    assert [event_text(table, event) for event in recent_events(table)] == [words for *_, words in cases]
    with pytest.raises(ValueError, match="kind 10 is no event"):
        event_text(table, 10 << 16)


@pytest.mark.parametrize(
    ("kind", "word", "words"),
    [
        ("brawl", 0, "Brawl"),
        ("car-chase+attract", 0, "Car Chase, attract Mitchell"),
        ("off-duty+center", 0, "Off Duty, move Mitchell to center"),
        ("brawl+anywhere", 0, "Brawl, move Mitchell anywhere... move him to the center"),
        ("brawl+anywhere", 8, "Brawl, move Mitchell anywhere... move him to Yolanda"),
        ("change", 3, "Action, change to Crime Scene"),
        ("force-two", 2, "Action, force Gallano to draw two"),
        ("move", 0, "Action, move Mitchell to the center"),
        ("move", 1, "Action, move Mitchell to Greta"),
        ("give", 3, "Action, give a card to Cummins, attract Mitchell"),
    ],
)
def test_played_cards_are_said_as_in_the_sample_dialogue(kind: str, word: int, words: str) -> None:
    assert played_words(parse_kind(kind), word) == words


@pytest.mark.parametrize("players", PLAYERS)
def test_the_event_of_a_move_says_what_was_played(players: int) -> None:
    """Whatever the seat and wherever the target: the words of the event name the same card and target as the move."""
    hands = ["brawl+anywhere change force-two move give off-duty+center"] * players
    for seat in (0, players - 1):
        table = position(hands, "brawl " * 12, turn=seat)
        for move in sorted(legal(table)):
            after = table.copy()
            play(after, f"{seat} {move}")
            split = [(event >> 16, event >> 8 & 0xFF, event & 0xFF) for event in recent_events(after)]
            kind, word = next((d % N_KINDS, d // N_KINDS) for k, s, d in split if k == events.PLAYED and s == seat)
            name, *words = move.split()
            assert kind == parse_kind(name)
            said = played_words(kind, word)
            if kind in (FORCE_TWO, GIVE, MOVE) or name == "brawl+anywhere":
                assert (SUSPECTS[int(words[0][4:])] if words[0] != "center" else "the center") in said
            elif kind == CHANGE:
                assert said.endswith(words[0].replace("-", " ").title())


def test_end_of_match_tells_who_won() -> None:
    table = position(["brawl", "off-duty give", "cancel"], "move", mitchell=2)
    play(table, "0 brawl")
    text = RULES.describe(table, 1)
    assert text.startswith("Mitchell · the match is over after 1 round\n")
    assert "seat0 Greta wins with 200 points." in text.splitlines()
    assert line_of(text, "seat0 Greta   ").split()[2:] == ["0", "200", "+200", "winner"]
    assert line_of(text, "seat2 Cummins").split()[2:] == ["1", "-100", "-100", "Mitchell"]
    assert "your hand" not in text
    table.totals[:3] = [10, 10, 10]
    assert "Greta, Gallano and Cummins share the win with 10 points." in RULES.describe(table, None)


def test_truncated_match_is_told() -> None:
    table = position(["brawl brawl", "brawl", "brawl"], "move move", max_turns=1)
    play(table, "0 brawl")
    head = RULES.describe(table, 0).splitlines()[0]
    assert head == "Mitchell · the match is over after 0 rounds, stopped after 1 turns of the next"


def test_table_before_the_first_deal_is_told() -> None:
    table = new_match(["brawl", "brawl"], "brawl")
    assert "waiting for the deal" in RULES.describe(table, 0).splitlines()[0]


# --- Pictures.


@pytest.mark.parametrize("players", PLAYERS)
def test_picture_tells_nothing_hidden(players: int) -> None:
    pytest.importorskip("PIL")
    for i, table in enumerate(played(players, 4, 60)):
        if i % 20 != 7 and table.phase not in (PHASE_OVER, PHASE_ANSWER):
            continue
        if table.phase == PHASE_ANSWER and i % 4:
            continue
        seat = i % players
        picture = RULES.draw_table(table, seat)
        assert picture.shape == (HEIGHT, WIDTH, 3)
        assert picture.dtype == np.uint8
        world = table.copy()
        RULES.redeal_hidden(world, seat, np.uint64(i))
        assert np.array_equal(RULES.draw_table(world, seat), picture)
        assert np.array_equal(RULES.draw_table(world, None), RULES.draw_table(table, None))


def test_picture_shows_the_own_hand_mitchell_and_the_plot_card() -> None:
    pytest.importorskip("PIL")
    table = position(["brawl brawl", "brawl off-duty"], "move move", mitchell=0)
    pictures = [RULES.draw_table(table, 0)]
    pictures += [RULES.draw_table(table, seat) for seat in (1, None)]
    for field, value in [("mitchell", 1), ("mitchell", -1), ("suit", 0), ("suit", 4), ("top", 3)]:
        other = table.copy()
        other[field] = value
        pictures.append(RULES.draw_table(other, 0))
    assert len({picture.tobytes() for picture in pictures}) == len(pictures)


def test_M8_picture_shows_only_to_who_is_asked_that_it_is() -> None:
    pytest.importorskip("PIL")
    table = position(["change brawl brawl", "cancel off-duty", "cancel off-duty"], "move move")
    play(table, "0 change brawl")
    before = [RULES.draw_table(table, seat) for seat in (0, 1, 2, None)]
    play(table, "1 decline")
    same = [np.array_equal(a, RULES.draw_table(table, seat)) for a, seat in zip(before, (0, 1, 2, None), strict=True)]
    assert same == [True, False, False, True]


def test_every_card_has_a_face_of_its_own() -> None:
    pytest.importorskip("PIL")
    assert len({face(kind, 72).tobytes() for kind in range(N_KINDS)}) == N_KINDS


def test_picture_without_pillow_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    table = position(["brawl", "brawl"], "move")
    with pytest.raises(ImportError, match=r'rgb_array needs Pillow: pip install "mitch-env\[render\]"'):
        RULES.draw_table(table, 0)
