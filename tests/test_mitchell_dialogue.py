"""The sample dialogue of Mitchell's rules, played as it stands there.

Greta is seat 0, Gallano seat 1, Cummins seat 2. After the give the text forgets the turn of Cummins (M25): here he has one in
which he draws a card that does not fit.
"""

from __future__ import annotations

import numpy as np
import pytest
from mitchell_positions import asked, deal, hand, mitchell, new_match, play, stock, suit

from mitch_env.events import recent_events
from mitch_env.game import Table
from mitch_env.mitchell.describe import event_text
from mitch_env.mitchell.memory import known_counts

GRETA = "car-chase force-two brawl brawl+anywhere revenge brawl+center crime-scene"
GALLANO = "car-chase+attract cancel stakeout revenge crime-scene+center off-duty off-duty+attract"
CUMMINS = "stakeout+attract change brawl off-duty off-duty stakeout car-chase"
STOCK = "off-duty off-duty car-chase stakeout give crime-scene+anywhere car-chase stakeout off-duty change revenge"


@pytest.fixture(params=[False, True], ids=["who can react is asked", "everyone is asked"])
def table(request: pytest.FixtureRequest) -> Table:
    table = new_match([GRETA, GALLANO, CUMMINS], STOCK, hand_size=7, ask_everyone=request.param)
    deal(table, [GRETA, GALLANO, CUMMINS], STOCK)
    return table


class Dialogue:
    """Plays a line of the dialogue and compares what is said, and the table after it."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.n_told = int(table.n_events)

    def __call__(self, moves: str, said: list[str], suit_after: str, mitchell_after: str) -> None:
        play(self.table, *moves.split("; "))
        new = int(self.table.n_events) - self.n_told
        self.n_told += new
        assert [event_text(self.table, event) for event in recent_events(self.table, new)] == said
        assert (suit(self.table), mitchell(self.table)) == (suit_after, mitchell_after)


def test_sample_dialogue(table: Table) -> None:
    line = Dialogue(table)
    everyone = table.ask_everyone != 0
    line("0 car-chase", ["seat0 Greta: Car Chase."], "car-chase", "center")
    line("1 car-chase+attract", ["seat1 Gallano: Car Chase, attract Mitchell."], "car-chase", "seat1")
    line("2 stakeout+attract", ["seat2 Cummins: Stakeout, attract Mitchell."], "stakeout", "seat2")
    line("0 force-two seat1", ["seat0 Greta: Action, force Gallano to draw two."], "stakeout", "seat2")
    line(
        "1 cancel",
        ["seat1 Gallano: Reaction, cancel that and you draw one.", "seat0 Greta draws one card."],
        "stakeout",
        "seat2",
    )
    line("1 stakeout", ["seat1 Gallano: Stakeout."], "stakeout", "seat2")
    line("2 change brawl", ["seat2 Cummins: Action, change to Brawl."], "stakeout", "seat2")
    # Nobody is affected, and Cummins has Mitchell himself: Greta, who is next, is asked first.
    line(
        "0 decline; 1 revenge",
        ["seat1 Gallano: Reaction, force you to draw two.", "seat2 Cummins draws two cards."],
        "brawl",
        "seat2",
    )
    line(
        "0 brawl+anywhere seat1",
        [
            "seat0 Greta: Brawl, move Mitchell anywhere... move him to Gallano.",
            "seat1 Gallano draws one card.",
            "seat1 Gallano: Go ahead, Cummins.",
        ],
        "brawl",
        "seat1",
    )
    line("2 brawl", ["seat2 Cummins: Brawl."], "brawl", "seat1")
    line("0 brawl", ["seat0 Greta: Brawl.", "seat1 Gallano draws one card."], "brawl", "seat1")
    given = "seat1 Gallano: Action, give a card to Cummins, attract Mitchell."
    line("1 give seat2 off-duty+attract", [given], "brawl", "seat1")
    assert "off-duty+attract" in hand(table, 1)
    line(  # Cummins can't react
        "2 decline; 0 revenge" if everyone else "0 revenge",
        [
            "seat0 Greta: Reaction, force you to draw two.",
            "seat1 Gallano draws two cards.",
            "seat2 Cummins draws one card.",
            "seat2 Cummins: Go ahead, Greta.",
        ],
        "brawl",
        "seat1",
    )
    assert "off-duty+attract" in hand(table, 2)
    line("0 brawl+center", ["seat0 Greta: Brawl, move Mitchell to center."], "brawl", "center")
    line(
        "1 crime-scene+center",
        [
            "seat1 Gallano: Crime Scene, move Mitchell to center.",
            "seat2 Cummins draws one card.",
            "seat2 Cummins: Go ahead, Greta.",
        ],
        "crime-scene",
        "center",
    )
    line("0 crime-scene", ["seat0 Greta: Crime Scene."], "crime-scene", "center")
    line(
        "1 crime-scene+anywhere seat0",
        [
            "seat1 Gallano: Crime Scene, move Mitchell anywhere... move him to Greta.",
            "seat2 Cummins draws one card.",
        ],
        "crime-scene",
        "seat0",
    )
    assert hand(table, 0) == "off-duty"
    assert hand(table, 1) == "stakeout car-chase off-duty"
    assert hand(table, 2) == "stakeout stakeout car-chase car-chase off-duty off-duty off-duty off-duty off-duty+attract change"
    assert stock(table) == "revenge"


def test_sample_dialogue_order_of_answers_to_the_give(table: Table) -> None:
    """First Cummins, who is affected, then Greta."""
    play(table, "0 car-chase", "1 car-chase+attract", "2 stakeout+attract", "0 force-two seat1", "1 cancel", "1 stakeout")
    play(table, "2 change brawl", "0 decline", "1 revenge", "0 brawl+anywhere seat1", "2 brawl", "0 brawl")
    play(table, "1 give seat2 off-duty+attract")
    assert asked(table) == ([2, 0] if table.ask_everyone else [0])
    assert np.count_nonzero(known_counts(table)[1, 2]) == 1
