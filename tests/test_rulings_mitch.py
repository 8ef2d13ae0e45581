"""The rulebook of Mitch on the engine, ruling by ruling: positions in words, expectations worked out by hand.

Each position is played by the plain rules and by the compiled kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pytest
from positions import Position, cards, moves, short_pack

import mitch_env
from mitch_env.mitch.rules import clear_deal, deal_hands
from mitch_env.mitch.text import card_name, cards_of, parse_card

MakePosition: TypeAlias = Callable[..., Position]


@pytest.fixture(params=["plain", "compiled"])
def mitch(request: pytest.FixtureRequest) -> MakePosition:
    return partial(Position, compiled=request.param == "compiled")


HANDS = ["KS 7H 9D 4C AS", "QD 9C 6D 3H 8S", "KH JH 5C 2S TD"]
NO_ACES = ["KS 7H 9D 4C 3S", *HANDS[1:]]
#: A stock that the first turn closes.
CLOSING = "JK JK JK"
#: The games of three of the clocks, with the options that make them so.
JOKER: tuple[str, dict[str, Any]] = ("mitch_jp", {})
ACE_STOCK: tuple[str, dict[str, Any]] = ("mitch_jp", {"clock": "ace_stock"})
ACE_DECK: tuple[str, dict[str, Any]] = ("mitch_original", {})

#: One suit of five ranks, one card in each of two hands, one joker: deals that the eye can follow.
TINY: dict[str, Any] = {"players": 2, "deals": 1, "hand_size": 1, "clock_cards": 1, "suits": 1, "ranks": 5}


def scores_of(mitch: MakePosition, hands: list[str], plans: list[str], **changes: Any) -> list[int]:
    """The scores of a jp deal that is closed by seat0's first draw, with these cards laid and all others discarded."""
    position = mitch("mitch_jp", deals=1, **changes).deal(hands, CLOSING)
    position.play_out(*plans)
    assert position.match_over and position.totals == position.scores
    return position.scores


def test_every_ruling_has_a_test() -> None:
    names = list(globals())
    for ruling in [*(f"J{n}" for n in range(1, 13)), *(f"R{n}" for n in range(1, 10))]:
        assert any(name.startswith(f"test_{ruling}_") for name in names), ruling


# --- Common to all.


def test_ranks_go_from_the_ace_up_to_the_king(mitch: MakePosition) -> None:
    """From low to high: A 2 3 4 5 6 7 8 9 T J Q K."""
    spades, hearts = (" ".join(f"{rank}{suit}" for rank in "A23456789TJQK") for suit in "SH")
    position = mitch("mitch_jp", players=2, suits=2, hand_size=13, clock_cards=1).deal([spades, hearts], "JK")
    position.play("1 play QH", "0 discard 2S")
    assert position.legal == moves("play JH TH 9H 8H 7H 6H 5H 4H 3H 2H AH", "discard KH JH TH 9H 8H 7H 6H 5H 4H 3H 2H AH")
    position.play("1 play TH", "0 discard 3S")
    assert "play 9H" in position.legal and "play JH" not in position.legal
    position.play("1 play 2H", "0 discard 4S")
    assert moves("play AH") == {move for move in position.legal if move.startswith("play")}


def test_a_tableau_has_one_column_for_each_suit(mitch: MakePosition) -> None:
    """At most one column a suit: a card too high for it cannot start a second one, another suit can."""
    position = mitch("mitch_jp").deal(HANDS, CLOSING).play("1 play 6D", "2 play JH", "0 discard AS")
    assert position.legal == moves("play 9C 3H 8S", "discard QD 9C 3H 8S")
    position.play("1 play 9C", "2 play 5C", "0 discard KS", "1 play 3H", "2 play 2S", "0 discard 4C", "1 play 8S", "2 play TD")
    assert position.columns(1) == "8S 3H 6D 9C" and position.columns(2) == "2S JH TD 5C"
    position.play("0 discard 7H")
    assert position.legal == {"discard QD"}
    position.play("1 discard QD")
    assert position.legal == {"discard KH"}


@pytest.mark.parametrize("step", ["any_lower", "next_lower"])
def test_a_column_starts_with_any_card(mitch: MakePosition, step: str) -> None:
    """Every card may start a column, with jokers as the clock an ace too."""
    position = mitch("mitch_jp", column_step=step).deal(HANDS, "7C")
    assert position.legal == moves("play KS 7H 9D 4C AS 7C", "discard KS 7H 9D 4C AS 7C")


def test_an_ace_never_starts_a_column_under_an_ace_clock(mitch: MakePosition) -> None:
    """Aces are markers only: under ace_hand they go to the ace pile, under the other two clocks no hand ever holds one."""
    position = mitch("mitch_ru", must_place=False).deal(["AS AH 2H 9D KC", *HANDS[1:]])
    assert position.legal == moves("play 2H 9D KC", "discard 2H 9D KC", "ace AS AH")
    for game, changes in (ACE_STOCK, ACE_DECK):
        drawn = mitch(game, **changes).deal(NO_ACES, "AS AH 7C")
        assert drawn.hand(0) == cards("KS 7H 9D 4C 3S 7C") and drawn.aces_up == cards("AS AH")
        with pytest.raises(ValueError, match="ace is in a hand"):
            mitch(game, **changes).deal(HANDS)


def test_2_is_the_lowest_rank_of_a_column_under_an_ace_clock(mitch: MakePosition) -> None:
    """Nothing goes below a 2, and an ace that is there is still laid on the ace pile."""
    position = mitch("mitch_ru", must_place=False, clock_cards=1).deal(["AH 3D 2D AD KC", *HANDS[1:2], "KH JH 5C 2S TD"])
    position.play("0 ace AH", "1 discard 9C", "2 discard KH", "0 play 3D", "1 discard 3H", "2 discard JH")
    assert position.legal == moves("play 2D KC", "discard 2D KC", "ace AD")
    position.play("0 play 2D", "1 discard 8S", "2 discard 5C")
    assert position.legal == moves("play KC", "discard KC", "ace AD")


@pytest.mark.parametrize(("order", "last_fits"), [("QD 9D 6D", True), ("QD 6D 9D", False)])
def test_any_lower_allows_gaps_but_a_skipped_card_is_lost(mitch: MakePosition, order: str, last_fits: bool) -> None:
    """The source's example: diamonds Q 9 6 can be laid, Q 6 9 cannot."""
    first, second, last = order.split()
    position = mitch("mitch_jp").deal(["KS 7H 9C 4C AS", "QD 9D 6D 3H 8S", HANDS[2]], CLOSING)
    position.play(f"1 play {first}", "2 discard KH", "0 discard KS", f"1 play {second}", "2 discard JH", "0 discard 7H")
    assert (f"play {last}" in position.legal) == last_fits
    assert f"discard {last}" in position.legal


def test_next_lower_takes_exactly_one_rank_lower(mitch: MakePosition) -> None:
    """Under a queen only the jack, under the jack only the ten."""
    hands = ["KS 7H 9C 4C AS", "QD JD TD 9D KD", HANDS[2].replace("TD", "TC")]
    position = mitch("mitch_jp", column_step="next_lower").deal(hands, CLOSING)
    position.play("1 play QD", "2 discard KH", "0 discard KS")
    assert position.legal == moves("play JD", "discard JD TD 9D KD")
    position.play("1 play JD", "2 discard JH", "0 discard 7H")
    assert position.legal == moves("play TD", "discard TD 9D KD")


def test_next_lower_ends_with_the_ace_under_jokers(mitch: MakePosition) -> None:
    """2, then A, then nothing."""
    position = mitch("mitch_jp", **{**TINY, "hand_size": 2}, column_step="next_lower").deal(["5S 4S", "2S AS"], "JK")
    position.play("1 play 2S", "0 discard 5S")
    assert position.legal == moves("play AS", "discard AS")
    position.play("1 play AS", "0 play 4S")
    assert position.columns(1) == "2S AS" and position.scores == [-1, 4]


@pytest.mark.parametrize("game", ["mitch_jp", "mitch_ru", "mitch_original"])
def test_what_lies_in_a_tableau_or_a_discard_pile_stays_there(mitch: MakePosition, game: str) -> None:
    """Tableaus and the pile only grow; a deal ends when all hands are empty and the stock is closed."""
    position = mitch(game, deals=1, playoffs=0 if game == "mitch_ru" else None)
    rng = np.random.default_rng(5)
    for _ in range(2):
        position.lay_out(position.shuffle(int(rng.integers(1 << 30))))
        laid, pile = [0] * 3, ""
        while not position.deal_over:
            assert any(position.hand_sizes)
            legal = sorted(position.legal)
            assert not {move.split()[-1] for move in legal} & {*pile.split(), *position.columns(position.actor).split()}
            position.play(f"{position.actor} {legal[rng.integers(len(legal))]}")
            for seat in range(3):
                assert laid[seat] & ~int(position.table.tableau[seat]) == 0
                laid[seat] = int(position.table.tableau[seat])
            assert position.discards.startswith(pile)
            pile = position.discards
        assert position.closed and position.hand_sizes == [0, 0, 0]


def test_discards_are_face_up_and_gone(mitch: MakePosition) -> None:
    """Everybody sees a discard, and nobody can use it again."""
    position = mitch("mitch_jp").deal(HANDS, "7C 6C 8C").play("0 discard KS")
    assert position.discards == "KS" and position.actor == 1
    assert not any("KS" in move for move in position.legal)
    for seat in range(3):
        seen = position.sees(seat, "discards")
        assert seen[parse_card("KS")] == 1.0 and sum(seen) == 1.0


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_J1_the_last_seat_deals_first_and_the_deal_moves_clockwise(mitch: MakePosition, players: int) -> None:
    """Seat0 acts first in the first deal; each deal the seat left of the dealer begins, and play goes clockwise."""
    position = mitch("mitch_jp", players=players, hand_size=1, clock_cards=1)
    hands = ["2S", "3S", "4S", "5S", "6S"][:players]
    for first in range(players):
        assert position.dealt_to == ((first - 1) % players, list(range(players))) and not position.match_over
        position.deal(hands, "2H JK")
        # The first seat draws 2H; the next one draws the joker and is passed over; then each hand holds one card.
        assert position.play_out(*[""] * players) == [first] + [(first + 2 + turn) % players for turn in range(players)]
    assert position.match_over


def test_J1_holds_for_the_environment() -> None:
    """After a reset the dealer is the last seat and seat0 is to act."""
    for players in (2, 5):
        env = mitch_env.make("mitch_ru", players=players)
        env.reset(seed=4)
        assert env.table.dealer == players - 1 and env.agent_selection == "player_0"


@pytest.mark.parametrize(("deals", "n"), [("players", 2), (1, 1), (3, 3)])
def test_a_match_has_the_agreed_number_of_deals(mitch: MakePosition, deals: int | str, n: int) -> None:
    """As many deals as players, or a fixed number."""
    position = mitch("mitch_jp", **{**TINY, "deals": deals})
    for number in range(1, n + 1):
        position.deal(["5S", "4S"], "JK").play_out("", "")
        assert position.match_over == (number == n)


# --- Japanese.


def test_the_hands_are_dealt_from_52_cards_before_the_jokers_are_shuffled_in(mitch: MakePosition) -> None:
    """5 cards each; a dealt hand never holds a joker."""
    words = mitch("mitch_jp").shuffle(1)
    assert [len(hand) for hand in words["hands"]] == [5, 5, 5] and len(words["stock"]) == 40
    dealt = [card for hand in words["hands"] for card in hand] + words["stock"]
    assert sorted(dealt) == sorted([*short_pack(mitch_env.get_game("mitch_jp").options()), "JK", "JK", "JK"])
    with pytest.raises(ValueError, match="joker lies in the stock only"):
        mitch("mitch_jp").deal(["JK 7H 9D 4C AS", *HANDS[1:]])


@pytest.mark.parametrize(("clock", "n_stock"), [("joker", 40), ("ace_stock", 36)])
def test_J2_markers_are_shuffled_in_after_the_deal(mitch: MakePosition, clock: str, n_stock: int) -> None:
    """Never in a hand, three in the stock, and at any place of it: the first and the last as well."""
    markers = {"joker": cards("JK"), "ace_stock": cards("AS AH AD AC")}[clock]
    position = mitch("mitch_jp", clock=clock)
    places: set[int] = set()
    for seed in range(150):
        words = position.shuffle(seed)
        found = [place for place, card in enumerate(words["stock"]) if card in markers]
        assert len(found) == 3 and len(words["stock"]) == n_stock
        assert all(len(hand) == 5 and not markers & set(hand) for hand in words["hands"])
        places.update(found)
    assert places == set(range(n_stock))


def test_J2_the_stock_of_a_record_is_the_order_in_which_it_is_drawn() -> None:
    """The written stock is the one after the jokers were shuffled in: hands grow by its cards, one by one."""
    env = mitch_env.make("mitch_jp", players=2)
    env.reset(seed=9)
    deal = env.record()["deals"][0]
    ordinary = iter([card for card in deal["stock"] if card != "JK"])
    known = [set(hand) for hand in deal["hands"]]
    for _ in range(12):
        seat = int(env.table.actor)
        known[seat].add(next(ordinary))
        assert set(map(card_name, cards_of(env.table.hand[seat]))) == known[seat]
        discard = env.legal_moves()[-1]
        known[seat].remove(discard.split()[1])
        env.step(env.parse_action(discard))


def test_a_turn_is_a_draw_and_then_one_card_laid_or_discarded(mitch: MakePosition) -> None:
    """While the stock is open: draw one, then lay or discard one of six, the drawn card too."""
    position = mitch("mitch_jp").deal(HANDS, "7C 2H 6C")
    assert position.hand(0) == cards("KS 7H 9D 4C AS 7C")
    position.play("0 discard 7C")
    assert position.discards == "7C" and position.hand_sizes == [5, 6, 5] and "2H" in position.hand(1)
    position.play("1 play 2H")
    assert position.columns(1) == "2H" and position.hand_sizes == [5, 5, 6] and "6C" in position.hand(2)


def test_a_drawn_joker_is_laid_aside_and_another_card_is_drawn(mitch: MakePosition) -> None:
    """Jokers lie face up beside the stock, never in a hand or a tableau."""
    position = mitch("mitch_jp").deal(HANDS, "JK 7C JK 6C")
    assert position.hand(0) == cards("KS 7H 9D 4C AS 7C") and position.clock_seen == 1
    position.play("0 discard 7C")
    assert position.hand(1) == cards("QD 9C 6D 3H 8S 6C") and position.clock_seen == 2 and not position.closed
    with pytest.raises(ValueError, match="joker"):
        position.rules.parse_action(position.table, "play JK")


def test_the_third_joker_closes_the_stock_and_passes_the_turn(mitch: MakePosition) -> None:
    """Who drew it neither lays nor discards; five rounds from the hands follow, without drawing."""
    position = mitch("mitch_jp", deals=1).deal(HANDS, "7C JK JK 6C JK 8C").play("0 discard 7C")
    assert position.actor == 1 and not position.closed
    position.play("1 discard 6C")
    assert position.closed and position.actor == 0 and position.hand_sizes == [5, 5, 5]
    left = position.stock
    assert left[0] == "8C" and len(left) == 40 - 5
    assert position.play_out("", "", "") == [0, 1, 2] * 5
    assert position.stock == left and position.match_over


@pytest.mark.parametrize("jokers", [1, 2, 3, 4])
def test_local_rule_the_number_of_jokers(mitch: MakePosition, jokers: int) -> None:
    """With 2 or 4 jokers the last of them closes the stock."""
    position = mitch("mitch_jp", clock_cards=jokers).deal(HANDS, "JK " * (jokers - 1) + "7C JK")
    assert not position.closed and position.actor == 0 and position.clock_seen == jokers - 1
    position.play("0 discard 7C")
    assert position.closed and position.actor == 2


def test_local_rule_hands_of_three(mitch: MakePosition) -> None:
    """3 cards are dealt to each, so three rounds follow the last joker."""
    position = mitch("mitch_jp", hand_size=3).deal(["KS 7H 9D", "QD 9C 6D", "KH JH 5C"], CLOSING)
    assert position.play_out("", "", "") == [1, 2, 0] * 3
    assert [len(hand) for hand in mitch("mitch_jp", hand_size=3).shuffle(2)["hands"]] == [3, 3, 3]


HEARTS = ["KH JH 9H 5H 2S", "QH TH 8H 3S 4S", "7H 5S 6S 7S 8S"], ["KH JH 9H 5H", "QH TH 8H", "7H"]
CLUBS = ["KC 9C 5C 2S 3S", "QC JC 3C 4S 5S", "6S 7S 8S 9S TS"], ["KC 9C 5C", "QC JC 3C", ""]


def test_the_longest_column_wins_4_and_the_others_lose_a_point_a_card(mitch: MakePosition) -> None:
    """The source's example: hearts of 4, 3 and 1 cards."""
    assert scores_of(mitch, *HEARTS) == [4, -3, -1]


def test_of_equal_columns_the_one_with_the_higher_bottom_card_wins(mitch: MakePosition) -> None:
    """The source's example: clubs K 9 5 against Q J 3."""
    assert scores_of(mitch, *CLUBS) == [4, -3, 0]


def test_a_suit_that_nobody_laid_scores_nothing(mitch: MakePosition) -> None:
    """Neither points nor losses without columns; four suits are four contests."""
    assert scores_of(mitch, HANDS, ["", "", ""]) == [0, 0, 0]
    # S: KS (0) beats 8S. H: KH JH (2) beats 7H. D: 9D beats 6D. C: nobody.
    assert scores_of(mitch, HANDS, ["KS 7H 9D", "8S 6D", "KH JH"]) == [4 - 1 + 4, -1 - 1, 4]


def test_the_highest_total_of_all_deals_wins(mitch: MakePosition) -> None:
    """The source's example: after three deals 11 beats 6 and 2."""
    position = mitch("mitch_jp")
    hands = ["KS QS JS 9H 2C", "KH QH TS 9S 3C", "TH KD 8S 4C 5C"]
    for plans, scores in [
        (["KS QS", "KH", "TH"], [4, 4, -1]),  # S to seat0; H: K before T
        (["KS QS JS", "TS 9S", "KD"], [4, -2, 4]),  # S: 3 cards against 2; D to seat2
        (["KS QS 9H", "KH QH", "8S"], [4 - 1, 4, -1]),  # S: 2 against 1; H: 2 against 1
    ]:
        position.deal(hands, CLOSING).play_out(*plans)
        assert position.scores == scores
    assert position.match_over and position.totals == [11, 6, 2] and position.winners == [0]


def test_equal_totals_share_the_win(mitch: MakePosition) -> None:
    """Two seats with 4 points each both win."""
    position = mitch("mitch_jp", deals=1).deal(HANDS, CLOSING)
    position.play_out("KS", "", "KH")
    assert position.totals == [4, 0, 4] and position.winners == [0, 2]


def test_ace_stock_takes_the_aces_out_and_leaves_the_rest_unused(mitch: MakePosition) -> None:
    """48 cards are dealt, three aces come into the stock, the fourth is nowhere; drawn ones count like jokers."""
    position = mitch("mitch_jp", clock="ace_stock")
    words = position.shuffle(3)
    assert len(words["stock"]) == 48 - 15 + 3 and not any(card[0] == "A" for hand in words["hands"] for card in hand)
    position = mitch("mitch_jp", clock="ace_stock").deal(NO_ACES, "AS AD 7C AH 6C").play("0 discard 7C")
    assert position.closed and position.aces_up == cards("AS AD AH") and position.actor == 2
    assert position.hand_sizes == [5, 5, 5] and "AC" not in position.stock
    for stock, named in [("AS AD", "2 aces, it needs 3"), ("AS AD AH AC", "4 aces, it needs 3")]:
        rest = [card for card in short_pack(position.options) if card[0] != "A" and card not in " ".join(NO_ACES)]
        words = {"hands": [hand.split() for hand in NO_ACES], "stock": stock.split() + rest}
        with pytest.raises(ValueError, match=named):
            mitch("mitch_jp", clock="ace_stock").lay_out(words)


def test_ace_stock_may_leave_out_any_of_the_aces(mitch: MakePosition) -> None:
    """Which aces are shuffled in is chance."""
    position = mitch("mitch_jp", clock="ace_stock", clock_cards=1)
    assert {card for seed in range(60) for card in position.shuffle(seed)["stock"] if card[0] == "A"} == cards("AS AH AD AC")


def dealt_from(position: Position, pack: str) -> Position:
    """Deals (replacing aces) and opens a deal from a pack in this order."""
    clear_deal(position.table)
    numbers = [parse_card(card) for card in pack.split()]
    position.table.stock[: len(numbers)] = numbers
    position.table.stock_size = len(numbers)
    deal_hands(position.table)
    return position.lay_out(position.rules.deal_words(position.table))


DEALT_ACES = "AH 3S 4S 5S 6S  7S 8S 9S TS JS  AS QS KS 2H 3H"


def rest_of_pack(text: str) -> str:
    options = mitch_env.get_game("mitch_original").options()
    return " ".join(card for card in short_pack(options) if card not in text.split())


def test_J3_dealt_aces_are_turned_up_and_replaced_seat_by_seat(mitch: MakePosition) -> None:
    """Seat0, left of the dealer, gets AD for AH, which is turned up and replaced too; then seat2's AS: it closes the stock."""
    pack = f"{DEALT_ACES} AD 4H 5H"
    position = dealt_from(mitch("mitch_original", deals=1), f"{pack} {rest_of_pack(pack)}")
    assert position.rules.deal_words(position.table)["revealed"] == ["AH", "AD", "AS"]
    assert position.hand(0) == cards("3S 4S 5S 6S 4H") and position.hand(2) == cards("QS KS 2H 3H 5H")
    assert position.closed and position.actor == 0 and position.hand_sizes == [5, 5, 5]
    assert position.play_out("", "", "") == [0, 1, 2] * 5


def test_J3_begins_left_of_the_dealer(mitch: MakePosition) -> None:
    """When seat0 deals, seat1 is dealt first and turns up first."""
    position = mitch("mitch_original").deal(NO_ACES, revealed="AS AH AD")
    position.play_out("", "", "")
    pack = f"{DEALT_ACES} AD 4H 5H"
    dealt_from(position, f"{pack} {rest_of_pack(pack)}")
    assert position.dealt_to[0] == 0 and position.actor == 1
    assert position.hand(1) == cards("3S 4S 5S 6S 4H") and position.hand(0) == cards("QS KS 2H 3H 5H")


def test_J3_begins_left_of_the_dealer_in_a_play_off_too(mitch: MakePosition) -> None:
    """Seats 0 and 1 tie, seat0 deals: seat1 is dealt the first five cards and gets the first replacement, seat2 nothing."""
    position = mitch("mitch_original", scoring="longest", deals=1)
    position.deal(["TH 9H 2S 3S 5C", "TD 9D 8C 3C 5S", "TC 9C 7D 2C 2D"], revealed="AS AH AD")
    position.play_out("TH 9H", "TD 9D", "TC")
    assert position.dealt_to == (0, [0, 1])
    pack = "AH 3S 4S 5S 6S  AS 8S 9S TS JS  4H 5H"
    words = position.rules.deal_words(dealt_from(position, f"{pack} {rest_of_pack(pack)}").table)
    assert words["revealed"] == ["AH", "AS"] and words["hands"][2] == []
    assert set(words["hands"][1]) >= cards("3S 4S 5S 6S 4H") and set(words["hands"][0]) == cards("8S 9S TS JS 5H")


def test_J3_aces_turned_up_while_dealing_count_for_the_clock(mitch: MakePosition) -> None:
    """Two were dealt, so the first ace that is drawn closes the stock, like a joker."""
    position = mitch("mitch_original").deal(NO_ACES, "7C AC", revealed="AS AH")
    assert position.clock_seen == 2 and not position.closed and position.hand_sizes == [6, 5, 5]
    position.play("0 discard 7C")
    assert position.closed and position.actor == 2 and position.aces_up == cards("AS AH AC")


def test_J3_shuffled_hands_are_full_and_without_aces(mitch: MakePosition) -> None:
    """The stock holds the aces that were not turned up, and all 52 cards are there."""
    position = mitch("mitch_original")
    revealed = set()
    for seed in range(60):
        words = position.shuffle(seed)
        assert all(len(hand) == 5 and not any(card[0] == "A" for card in hand) for hand in words["hands"])
        assert len({*words["stock"], *words["revealed"]}) == 52 - 15
        revealed.add(len(words["revealed"]))
    assert {0, 1, 2} <= revealed


def test_J4_the_top_discard_may_be_taken_instead_of_drawing(mitch: MakePosition) -> None:
    """It is laid at once, the hand stays as it is, the turn ends; seat2 finds an empty pile, so its draw happens by itself."""
    position = mitch("mitch_jp", take_discard=True).deal(HANDS, "7C 6C").play("0 discard 9D")
    assert position.actor == 1 and position.legal == moves("draw", "take 9D") and position.hand(1) == cards(HANDS[1])
    position.play("1 take 9D")
    assert position.columns(1) == "9D" and position.hand(1) == cards(HANDS[1]) and position.discards == ""
    assert position.actor == 2 and position.hand(2) == cards(HANDS[2] + " 6C")


def test_J4_drawing_leaves_the_discard_where_it_is(mitch: MakePosition) -> None:
    """After `draw` the turn is as always."""
    position = mitch("mitch_jp", take_discard=True).deal(HANDS, "7C 6C").play("0 discard 9D", "1 draw")
    assert position.discards == "9D" and position.hand(1) == cards(HANDS[1] + " 6C")
    assert position.legal == moves("play QD 9C 6D 3H 8S 6C", "discard QD 9C 6D 3H 8S 6C")


def test_J4_a_taken_card_leaves_the_pile(mitch: MakePosition) -> None:
    """Then the card below it is the top discard."""
    position = mitch("mitch_jp", take_discard=True).deal(HANDS, "7C 6C 8C")
    position.play("0 discard 9D", "1 draw", "1 discard 9C", "2 take 9C")
    assert position.discards == "9D" and position.actor == 0 and position.legal == moves("draw", "take 9D")


def test_J4_only_the_top_discard_and_only_if_it_fits(mitch: MakePosition) -> None:
    """KH does not go below 7H, so seat0 is not asked; QD below KH cannot be taken."""
    position = mitch("mitch_jp", take_discard=True).deal(HANDS, "7C 6C 8C TC")
    position.play("0 play 7H", "1 discard QD", "2 draw", "2 discard KH")
    assert position.discards == "QD KH" and position.actor == 0 and "TC" in position.hand(0)
    assert not moves("draw", "take QD", "take KH") & position.legal
    with pytest.raises(ValueError, match="only the top discard"):
        position.rules.parse_action(position.table, "take QD")


def test_J4_under_next_lower_it_must_be_the_next_rank(mitch: MakePosition) -> None:
    """Seat1 with a queen of diamonds may take the jack, not the ten."""
    position = mitch("mitch_jp", take_discard=True, column_step="next_lower").deal(HANDS, "JD 6C 8C 5D")
    position.play("0 play 9D", "1 play QD", "2 discard TD")
    assert position.legal == moves("play KS 7H 4C AS JD 5D", "discard KS 7H 4C AS JD 5D") - {"play JD", "play 5D"}
    position.play("0 discard JD")
    assert position.actor == 1 and position.legal == moves("draw", "take JD")
    position.play("1 take JD")
    assert position.columns(1) == "QD JD" and position.discards == "TD"


def test_J4_nothing_is_taken_from_a_closed_stock(mitch: MakePosition) -> None:
    """Seat1 draws the last joker instead of taking; nobody may take after that."""
    position = mitch("mitch_jp", take_discard=True).deal(HANDS, "7C JK JK JK").play("0 discard 9D", "1 draw")
    assert position.closed and position.actor == 2 and position.discards == "9D"
    assert position.legal == moves("play KH JH 5C 2S TD", "discard KH JH 5C 2S TD")


@pytest.mark.parametrize(
    ("clock", "top"), [(JOKER, CLOSING), (ACE_STOCK, "AS AH AD"), (ACE_DECK, "AD AS AH")], ids=["joker", "stock", "deck"]
)
def test_J5_the_closer_still_plays_from_its_five_cards(
    mitch: MakePosition, clock: tuple[str, dict[str, Any]], top: str
) -> None:
    """No card is drawn; the others have one card more from then on, and the empty hand is skipped in the end."""
    game, changes = clock
    position = mitch(game, closer_plays=True, **changes).deal(NO_ACES, top)
    assert position.closed and position.actor == 0 and position.hand(0) == cards(NO_ACES[0])
    position.play("0 play KS")
    assert position.hand_sizes == [4, 5, 5]
    assert position.play_out("", "", "") == [1, 2, 0] * 4 + [1, 2]


def test_J5_a_closer_with_one_card_is_skipped_afterwards(mitch: MakePosition) -> None:
    """Hands of one card: the closer lays it, the two others follow, and the deal is over."""
    position = mitch("mitch_jp", **{**TINY, "players": 3}, closer_plays=True).deal(["5S", "4S", "3S"], "JK")
    position.play("0 play 5S", "1 play 4S", "2 play 3S")
    assert position.match_over and position.scores == [4, -1, -1]


WAITING: dict[str, Any] = {
    "players": 3, "deals": 1, "hand_size": 1, "clock_cards": 1, "suits": 2, "waiting_penalty": True,
}  # fmt: skip


def test_J6_who_could_lay_while_the_stock_was_open_and_never_did_loses_10(mitch: MakePosition) -> None:
    """Seat0 waits and lays KS too late; seat1 laid in time; seat2 drew the joker and had no chance."""
    position = mitch("mitch_jp", **WAITING).deal(["KS", "QH", "JS"], "2S 3H JK")
    position.play("0 discard 2S", "1 play QH", "0 play KS", "1 discard 3H", "2 discard JS")
    assert position.scores == [4 - 10, 4, 0]


def test_J6_one_placement_in_time_is_enough(mitch: MakePosition) -> None:
    """Seat0 lays 5S at its second chance; seat2, who beats it with JS, laid after the close only."""
    position = mitch("mitch_jp", **WAITING).deal(["KS", "QH", "JS"], "2S 3H 4S 5S 6S JK")
    position.play("0 discard 2S", "1 play QH", "2 discard 4S", "0 play 5S", "1 discard 6S")
    position.play("0 discard KS", "1 play 3H", "2 play JS")
    assert position.scores == [-1, 4, 4 - 10]


def test_J6_taking_a_discard_is_placing(mitch: MakePosition) -> None:
    """Seat1 took 3S while the stock was open; seat0 laid 5S too late."""
    position = mitch("mitch_jp", **TINY, waiting_penalty=True, take_discard=True).deal(["5S", "4S"], "3S JK")
    position.play("0 discard 3S", "1 take 3S", "1 discard 4S", "0 play 5S")
    assert position.scores == [4 - 10, -1]


def test_J6_without_the_option_waiting_costs_nothing(mitch: MakePosition) -> None:
    """The same deal as the first, unpunished."""
    position = mitch("mitch_jp", **WAITING | {"waiting_penalty": False}).deal(["KS", "QH", "JS"], "2S 3H JK")
    position.play("0 discard 2S", "1 play QH", "0 play KS", "1 discard 3H", "2 discard JS")
    assert position.scores == [4, 4, 0]


@pytest.mark.parametrize(
    ("plans", "scores"),
    [
        # Won: S (3 cards), H (1), D (2), C (2): hearts count double.
        (["KS QS JS KH", "TS KD QD KC QC"], [4 + 8, -1 + 4 + 4]),
        # Won: S (3), D (2), C (2): both of the shortest count double.
        (["KS QS JS", "KD QD KC QC"], [4, 8 + 8]),
        # Seat1's lost spade of one card is no column that won.
        (["KS QS JS", "TS KD QD"], [4, -1 + 8]),
        (["KS", ""], [8, 0]),
        (["", ""], [0, 0]),
    ],
)
def test_J7_the_shortest_columns_that_won_count_double(mitch: MakePosition, plans: list[str], scores: list[int]) -> None:
    """8 points for the shortest winning column; each of them, if several are equally short."""
    hands = ["KS QS JS KH 2D", "TS KD QD KC QC"]
    assert scores_of(mitch, hands, plans, players=2, shortest_double=True) == scores


def test_J7_without_the_option_every_suit_counts_4(mitch: MakePosition) -> None:
    """The first of those deals in single points."""
    hands = ["KS QS JS KH 2D", "TS KD QD KC QC"]
    assert scores_of(mitch, hands, ["KS QS JS KH", "TS KD QD KC QC"], players=2) == [8, 7]


def test_J8_tie_break_low_lets_the_lower_bottom_card_win(mitch: MakePosition) -> None:
    """Clubs Q J 3 beat K 9 5; a longer column still beats any shorter one."""
    assert scores_of(mitch, *CLUBS, tie_break="low") == [-3, 4, 0]
    assert scores_of(mitch, *HEARTS, tie_break="low") == [4, -3, -1]


def test_J8_tie_break_low_holds_for_the_longest_column_too(mitch: MakePosition) -> None:
    """Q J 3 wins the deal under scoring="longest"."""
    assert scores_of(mitch, *CLUBS, tie_break="low", scoring="longest") == [0, 1, 0]
    assert scores_of(mitch, *CLUBS, tie_break="high", scoring="longest") == [1, 0, 0]


def test_J9_without_the_penalty_lost_columns_cost_nothing(mitch: MakePosition) -> None:
    """Hearts of 4, 3 and 1 cards: 4, 0, 0."""
    assert scores_of(mitch, *HEARTS, lost_column_penalty=False) == [4, 0, 0]


BOUND: dict[str, Any] = {**TINY, "suits": 2, "must_place": True, "take_discard": True}


def test_J10_the_choice_to_draw_or_take_is_free_under_must_place(mitch: MakePosition) -> None:
    """Seat1 may draw though it could take 2S below its 3S; after the draw it must lay 4H, since it can."""
    position = mitch("mitch_jp", **BOUND).deal(["AS", "5S"], "2S 3S 4S 4H JK")
    assert position.legal == moves("play AS 2S")
    position.play("0 play AS", "1 play 3S")
    assert position.legal == moves("discard 2S 4S")
    position.play("0 discard 2S")
    assert position.legal == moves("draw", "take 2S")
    position.play("1 draw")
    assert position.hand(1) == cards("5S 4H") and position.legal == moves("play 4H")


def test_J10_a_take_may_start_a_new_column(mitch: MakePosition) -> None:
    """Seat1 has hearts only and takes 2S beside them."""
    position = mitch("mitch_jp", **BOUND).deal(["AS", "5S"], "2S 3H 4S JK")
    position.play("0 play AS", "1 play 3H", "0 discard 2S")
    assert position.legal == moves("draw", "take 2S")
    position.play("1 take 2S")
    assert position.columns(1) == "2S 3H" and position.hand(1) == cards("5S")


def test_J11_the_closer_is_free_under_must_place(mitch: MakePosition) -> None:
    """The stock is closed when it decides, so it may discard."""
    position = mitch("mitch_jp", must_place=True, closer_plays=True).deal(HANDS, CLOSING)
    assert position.legal == moves("play KS 7H 9D 4C AS", "discard KS 7H 9D 4C AS")


def test_J11_the_closers_decision_is_no_chance_to_place(mitch: MakePosition) -> None:
    """Seat0's only decision came with the stock closed: no penalty for discarding."""
    position = mitch("mitch_jp", **TINY, closer_plays=True, waiting_penalty=True).deal(["5S", "4S"], "JK")
    position.play("0 discard 5S", "1 play 4S")
    assert position.scores == [0, 4]


def test_J11_the_closers_placement_does_not_save_it(mitch: MakePosition) -> None:
    """Seat0 declined while the stock was open and lays 3S as the closer only."""
    position = mitch("mitch_jp", **TINY, closer_plays=True, waiting_penalty=True).deal(["5S", "4S"], "3S 2S JK")
    position.play("0 discard 5S", "1 play 4S", "0 play 3S", "1 play 2S")
    assert position.scores == [-1 - 10, 4]


@pytest.mark.parametrize("closer_plays", [False, True])
def test_J11_to_draw_instead_of_taking_was_a_chance(mitch: MakePosition, closer_plays: bool) -> None:
    """Seat1 could have taken 3S, drew the joker, and is punished like seat0; laying 4S as the closer is too late."""
    position = mitch("mitch_jp", **TINY, take_discard=True, waiting_penalty=True, closer_plays=closer_plays)
    position.deal(["5S", "4S"], "3S JK").play("0 discard 3S", "1 draw")
    position.play(*(["1 play 4S", "0 play 5S"] if closer_plays else ["0 play 5S", "1 play 4S"]))
    assert position.scores == [4 - 10, -1 - 10]


def test_J12_replacements_go_on_after_the_closing_ace(mitch: MakePosition) -> None:
    """With clock_cards=2 all four dealt aces are turned up; no hand keeps one, and every hand is full."""
    pack = f"{DEALT_ACES} AD AC 4H 5H"
    position = dealt_from(mitch("mitch_original", clock_cards=2), f"{pack} {rest_of_pack(pack)}")
    assert position.rules.deal_words(position.table)["revealed"] == ["AH", "AD", "AC", "AS"]
    assert position.clock_seen == 4 and position.closed and position.actor == 0
    assert position.hand(0) == cards("3S 4S 5S 6S 4H") and position.hand(2) == cards("QS KS 2H 3H 5H")


def test_J12_a_closed_start_leaves_no_closer(mitch: MakePosition) -> None:
    """Nobody turned up the last ace in a turn, so closer_plays changes nothing: 5 cards each, seat0 begins."""
    position = mitch("mitch_original", clock_cards=1, closer_plays=True, must_place=True, deals=1)
    position.deal(NO_ACES, revealed="AD AH")
    assert position.closed and position.actor == 0 and position.hand_sizes == [5, 5, 5]
    assert "discard KS" in position.legal and position.play_out("", "", "") == [0, 1, 2] * 5


# --- Russian.

RU_HANDS = ["KS QS 9H 4C 2D", "QD JD 9C 3H 8S", "AS AH KH 5C TD"]
#: Two hands of two cards from twelve.
RU_SMALL: dict[str, Any] = {"players": 2, "hand_size": 2, "clock_cards": 2, "suits": 2, "ranks": 6}
#: Four cards, all dealt: there is no stock.
NO_STOCK: dict[str, Any] = {"players": 2, "hand_size": 2, "clock_cards": 1, "suits": 1, "ranks": 4}


def test_5_of_52_cards_are_dealt_to_each_and_aces_stay_in_the_hands(mitch: MakePosition) -> None:
    """The rest is the stock; dealt aces are not turned up."""
    position = mitch("mitch_ru")
    in_hand = False
    for seed in range(20):
        words = position.shuffle(seed)
        assert [len(hand) for hand in words["hands"]] == [5, 5, 5] and len(set(words["stock"])) == 37
        assert words["revealed"] == [] and "JK" not in words["stock"]
        in_hand |= any(card[0] == "A" for hand in words["hands"] for card in hand)
    assert in_hand


def test_stage_1_is_one_card_laid_and_then_one_drawn(mitch: MakePosition) -> None:
    """Nothing is drawn before the move; after it the hand is back to five."""
    position = mitch("mitch_ru").deal(RU_HANDS, "7C 7D 7S")
    assert position.hand_sizes == [5, 5, 5] and position.legal == moves("play KS QS 9H 4C 2D")
    position.play("0 play KS")
    assert position.hand(0) == cards("QS 9H 4C 2D 7C") and position.columns(0) == "KS"
    assert position.actor == 1 and position.hand(1) == cards(RU_HANDS[1])
    position.play("1 play QD", "2 play 5C")
    assert position.hand(1) == cards("JD 9C 3H 8S 7D") and position.hand(2) == cards("AS AH KH TD 7S")


def test_stage_1_who_cannot_lay_discards_or_lays_an_ace_and_draws(mitch: MakePosition) -> None:
    """3S does not go below 5S: discard it, or lay the ace."""
    position = mitch("mitch_ru", **RU_SMALL).deal(["5S AS", "4H 3H"], "3S 6H 2S")
    position.play("0 play 5S", "1 play 4H")
    assert position.legal == moves("discard 3S", "ace AS")
    position.play("0 discard 3S")
    assert position.hand(0) == cards("AS 2S") and position.discards == "3S"


def test_an_ace_lies_face_up_on_the_ace_pile(mitch: MakePosition) -> None:
    """Everybody sees it there; it is neither in a tableau nor among the discards."""
    position = mitch("mitch_ru", must_place=False).deal(["AD QS 9H 4C 2D", *RU_HANDS[1:]], "7C").play("0 ace AD")
    assert position.aces_up == cards("AD") and position.columns(0) == "" and position.discards == ""
    assert all(position.sees(seat, "clock_aces") == [0.0, 0.0, 1.0, 0.0] for seat in range(3))


def test_the_third_ace_begins_stage_2(mitch: MakePosition) -> None:
    """Who lays it does not draw; afterwards nobody does, until the hands are empty."""
    position = mitch("mitch_ru", must_place=False, playoffs=0).deal(["AD QS 9H 4C 2D", *RU_HANDS[1:]], "7C 7D 7S 6S")
    position.play("0 ace AD", "1 discard QD", "2 ace AS", "0 discard 7C", "1 discard 7D")
    assert not position.closed and position.hand_sizes == [5, 5, 5]
    position.play("2 ace AH")
    assert position.closed and position.hand_sizes == [5, 5, 4]
    left = position.stock
    assert position.play_out("", "", "") == [0, 1, 2] * 4 + [0, 1]
    assert position.stock == left


def ru_scores(mitch: MakePosition, hands: list[str], plans: list[str], **changes: Any) -> list[int]:
    """The scores of a ru deal that seat0 closes with AS, with these cards laid and all others put down otherwise."""
    position = mitch("mitch_ru", must_place=False, clock_cards=1, **changes).deal(hands).play("0 ace AS")
    position.play_out(*plans)
    return position.scores


def test_the_longest_column_of_any_suit_wins(mitch: MakePosition) -> None:
    """Three cards of one suit beat three cards in two columns, however high."""
    hands = ["AS KH QH KC 2S", "JD TD 9D 3S 4S", "8H 7H 6C 5S 6S"]
    assert ru_scores(mitch, hands, ["KH QH KC", "JD TD 9D", "8H 7H 6C"]) == [0, 1, 0]


def test_of_equally_long_columns_the_higher_bottom_card_wins(mitch: MakePosition) -> None:
    """The queen below the king beats the ten below the jack; the top card does not count."""
    hands = ["AS KH QH KC 2S", "JD TD 9D 3S 4S", "8H 7H 6C 5S 6S"]
    assert ru_scores(mitch, hands, ["KH QH", "JD TD", "8H 7H"]) == [1, 0, 0]


EQUAL = ["AS TH 9H 2S 3S", "TD 9D 8C 3C 5S", "TC 9C 7D 2C 2D"], ["TH 9H", "TD 9D", "TC"]


def test_equal_columns_of_two_seats_lead_to_a_play_off_among_them(mitch: MakePosition) -> None:
    """Length and bottom card are equal: seats 0 and 1 play another deal, seat2 looks on."""
    position = mitch("mitch_ru", must_place=False, clock_cards=1).deal(EQUAL[0]).play("0 ace AS")
    position.play_out(*EQUAL[1])
    assert position.scores == [0, 0, 0] and not position.match_over
    assert position.dealt_to == (0, [0, 1])  # the last dealer was seat2
    assert [len(hand) for hand in position.shuffle()["hands"]] == [5, 5, 0]


def test_R1_who_can_lay_must_lay_while_the_stock_is_open(mitch: MakePosition) -> None:
    """With any placement only placements are legal."""
    position = mitch("mitch_ru").deal(["AD QS 9H 4C 2D", *RU_HANDS[1:]])
    assert position.legal == moves("play QS 9H 4C 2D")


def test_R1_with_must_place_off_the_choice_is_free(mitch: MakePosition) -> None:
    """A player may discard or lay an ace instead."""
    position = mitch("mitch_ru", must_place=False).deal(["AD QS 9H 4C 2D", *RU_HANDS[1:]])
    assert position.legal == moves("play QS 9H 4C 2D", "discard QS 9H 4C 2D", "ace AD")


@pytest.mark.parametrize("must_place", [True, False])
def test_R1_in_stage_2_the_choice_is_free_in_both_cases(mitch: MakePosition, must_place: bool) -> None:
    """After the closing ace, discards are as legal as placements."""
    position = mitch("mitch_ru", **RU_SMALL | {"clock_cards": 1}, must_place=must_place).deal(["AH AS", "4H 3H"])
    position.play("0 ace AS")
    assert position.closed and position.legal == moves("play 4H 3H", "discard 4H 3H")


def test_R1_must_place_binds_under_the_other_clocks_as_well(mitch: MakePosition) -> None:
    """A jp turn with must_place: only placements while the stock is open, free choice after the last joker."""
    position = mitch("mitch_jp", must_place=True).deal(HANDS, "7C JK JK JK")
    assert position.legal == moves("play KS 7H 9D 4C AS 7C")
    position.play("0 play KS")
    assert position.closed and "discard KH" in position.legal


def test_R2_laying_an_ace_is_the_whole_move_and_a_draw_follows(mitch: MakePosition) -> None:
    """The turn passes; the hand is full again, but for the one who closes the stock."""
    position = mitch("mitch_ru", **RU_SMALL).deal(["AH AS", "4H 3H"], "6S 2H 4S")
    position.play("0 ace AH")
    assert position.hand(0) == cards("AS 6S") and position.actor == 1 and not position.closed
    position.play("1 play 4H", "0 play 6S", "1 play 3H")
    assert position.hand_sizes == [2, 2]
    position.play("0 ace AS")
    assert position.closed and position.hand_sizes == [1, 2]


def test_R2_the_closing_seat_is_skipped_when_its_hand_is_empty(mitch: MakePosition) -> None:
    """It has one card less than the others in the last round."""
    position = mitch("mitch_ru", **RU_SMALL | {"clock_cards": 1}).deal(["AH AS", "4H 3H"])
    position.play("0 ace AS", "1 play 4H", "0 ace AH", "1 play 3H")
    assert position.match_over and position.scores == [0, 1]


def test_R3_an_ace_is_never_discarded_nor_laid_in_a_column(mitch: MakePosition) -> None:
    """The only move for an ace is `ace AS`, even when nothing else is in the hand."""
    position = mitch("mitch_ru", **RU_SMALL).deal(["AH AS", "4H 3H"])
    assert position.legal == moves("ace AH AS")
    with pytest.raises(ValueError, match="ace pile"):
        position.rules.parse_action(position.table, "discard AS")
    assert not position.rules.is_legal(position.table, position.rules.parse_action(position.table, "play AS"))


def test_R4_without_a_stock_stage_2_begins_with_the_first_turn(mitch: MakePosition) -> None:
    """All four cards are dealt: must_place does not bind, and no ace needs to be laid."""
    position = mitch("mitch_ru", **NO_STOCK, playoffs=0).deal(["4S 2S", "3S AS"])
    assert position.closed and position.clock_seen == 0
    assert position.legal == moves("play 4S 2S", "discard 4S 2S")
    position.play("0 discard 2S", "1 ace AS", "0 play 4S", "1 play 3S")
    assert position.match_over and position.scores == [1, 0]


def test_R4_an_empty_stock_counts_as_closed_from_the_next_turn(mitch: MakePosition) -> None:
    """Seat0 must lay and draws the last card; from seat1's turn on the choice is free and nobody draws."""
    position = mitch("mitch_ru", **NO_STOCK | {"ranks": 5, "playoffs": 0}).deal(["4S 2S", "3S AS"])
    assert not position.closed and position.legal == moves("play 4S 2S")
    position.play("0 play 4S")
    assert position.closed and position.hand(0) == cards("2S 5S") and position.stock == []
    assert position.legal == moves("play 3S", "discard 3S", "ace AS")
    position.play("1 ace AS")
    assert position.hand(1) == cards("3S")
    position.play("0 discard 2S", "1 play 3S", "0 discard 5S")
    assert position.match_over and position.scores == [1, 0]


def test_R5_aces_left_in_stage_2_are_laid_as_a_move_without_effect(mitch: MakePosition) -> None:
    """The stock is closed already; seat1's ace goes to the pile, and the turn passes."""
    position = mitch("mitch_ru", **RU_SMALL | {"clock_cards": 1}, must_place=False).deal(["AH 6S", "AS 5S"], "2H")
    position.play("0 ace AH")
    assert position.legal == moves("play 5S", "discard 5S", "ace AS")
    position.play("1 ace AS")
    assert position.clock_seen == 2 and position.aces_up == cards("AH AS") and position.discards == ""
    assert position.hand(1) == cards("5S") and position.stock[0] == "2H" and position.actor == 0
    position.play("0 play 6S", "1 play 5S")
    assert position.match_over and position.scores == [1, 0]


def test_R6_without_any_column_all_who_took_part_are_tied(mitch: MakePosition) -> None:
    """Both share the deal, or play it off."""
    position = mitch("mitch_ru", **NO_STOCK, playoffs=0).deal(["4S 2S", "3S AS"])
    position.play_out("", "")
    assert position.scores == [1, 1] and position.winners == [0, 1] and position.match_over
    position = mitch("mitch_ru", **NO_STOCK, playoffs=1).deal(["4S 2S", "3S AS"])
    position.play_out("", "")
    assert position.scores == [0, 0] and position.dealt_to == (0, [0, 1]) and not position.match_over


#: Four seats with a card each and no stock: the holders of 2S and 2H tie.
FOUR: dict[str, Any] = {"players": 4, "hand_size": 1, "clock_cards": 2, "suits": 2, "ranks": 2}
FOUR_HANDS = ["AS", "2S", "AH", "2H"]


def test_R6_a_play_off_without_columns_ties_only_its_own_seats(mitch: MakePosition) -> None:
    """Seats 1 and 3 play off and lay nothing: they share, the others get nothing."""
    position = mitch("mitch_ru", **FOUR, playoffs=1).deal(FOUR_HANDS)
    position.play_out("", "2S", "", "2H")
    position.deal(["", "AS", "", "AH"], "2S 2H").play_out("", "", "", "")
    assert position.match_over and position.scores == [0, 1, 0, 1]


def test_R7_the_next_tied_seat_deals_and_the_others_are_skipped(mitch: MakePosition) -> None:
    """Dealer seat3 is followed by the tied seat1, then seat3; in each play-off the other tied seat begins."""
    position = mitch("mitch_ru", **FOUR, playoffs=2).deal(FOUR_HANDS)
    assert position.play_out("", "2S", "", "2H") == [0, 1, 2, 3]
    for dealer, first in [(1, 3), (3, 1)]:
        assert position.dealt_to == (dealer, [1, 3]) and not position.match_over
        position.deal(["", "2S", "", "2H"], "AS AH")
        assert position.sees(1, "taking_part") == [1.0, 0.0, 1.0, 0.0] and position.hand_sizes == [0, 1, 0, 1]
        # The stock is open: each lays its 2, draws an ace, and lays it.
        assert position.play_out("", "2S", "", "2H") == [first, 4 - first] * 2
    assert position.match_over and position.scores == [0, 1, 0, 1]


def test_R7_a_seat_that_sits_out_is_dealt_nothing(mitch: MakePosition) -> None:
    """Only the tied seats get cards, whatever way the deal is made."""
    position = mitch("mitch_ru", **FOUR).deal(FOUR_HANDS)
    position.play_out("", "2S", "", "2H")
    for hands in (FOUR_HANDS, ["", "2S", "", ""]):
        with pytest.raises(ValueError, match="cards"):
            position.deal(hands)
    assert [len(hand) for hand in position.shuffle()["hands"]] == [0, 1, 0, 1]


def test_R7_the_limit_counts_anew_and_the_regular_dealer_goes_on(mitch: MakePosition) -> None:
    """With two deals: a play-off by seat1 in between, then seat0 deals the second; its tie has a play-off again."""
    position = mitch("mitch_ru", **FOUR, deals=2, playoffs=1).deal(FOUR_HANDS)
    position.play_out("", "2S", "", "2H")
    position.deal(["", "2S", "", "2H"], "AS AH").play_out("", "2S", "", "2H")
    assert position.scores == [0, 1, 0, 1]
    assert position.dealt_to == (0, [0, 1, 2, 3]) and not position.match_over
    position.deal(FOUR_HANDS)
    assert position.actor == 1
    position.play_out("", "2S", "", "2H")
    assert position.scores == [0, 0, 0, 0] and position.totals == [0, 1, 0, 1]
    assert position.dealt_to == (1, [1, 3])
    position.deal(["", "2S", "", "AS"], "2H AH").play_out("", "2S", "", "")
    assert position.scores == [0, 1, 0, 0]
    assert position.match_over and position.totals == [0, 2, 0, 1] and position.winners == [1]


def test_R7_a_play_off_may_leave_fewer_seats_tied(mitch: MakePosition) -> None:
    """Three tie, then two of them; each time the next tied seat deals."""
    position = mitch("mitch_ru", players=3, hand_size=1, clock_cards=1, suits=3, ranks=2).deal(["2S", "2H", "2D"])
    position.play_out("2S", "2H", "2D")
    assert position.dealt_to == (0, [0, 1, 2])
    position.deal(["AS", "2H", "2D"], "AH AD 2S").play_out("", "2H", "2D")
    assert position.dealt_to == (1, [1, 2])
    position.deal(["", "AH", "2D"], "2H 2S AS AD")
    assert position.actor == 2
    position.play_out("", "", "2D")
    assert position.scores == [0, 0, 1] and position.match_over


def test_R8_one_point_for_the_winner_or_for_each_that_shares(mitch: MakePosition) -> None:
    """With no play-off left, equal columns get 1 point each; two equal columns of one seat are one winner."""
    assert ru_scores(mitch, *EQUAL, playoffs=0) == [1, 1, 0]
    assert ru_scores(mitch, ["AS TH TD 2S 3S", *RU_HANDS[1:2], "8H 7H 6C 5S 6S"], ["TH TD", "3H", "8H"], playoffs=9) == [
        1,
        0,
        0,
    ]


def test_R8_totals_add_up_the_points_of_all_deals(mitch: MakePosition) -> None:
    """Two deals for seat1, one for seat0: seat1 has the highest total."""
    position = mitch("mitch_ru", **NO_STOCK | {"playoffs": 0}, deals=3)
    for plans, scores in [(["4S", ""], [1, 0]), (["", "3S"], [0, 1]), (["2S", "3S"], [0, 1])]:
        position.deal(["4S 2S", "3S AS"]).play_out(*plans)
        assert position.scores == scores
    assert position.match_over and position.totals == [1, 2] and position.winners == [1]


@pytest.mark.parametrize(
    ("clock", "top"), [(JOKER, CLOSING), (ACE_STOCK, "AS AH AD"), (ACE_DECK, "AD AS AH")], ids=["joker", "stock", "deck"]
)
def test_R9_longest_goes_with_any_clock(mitch: MakePosition, clock: tuple[str, dict[str, Any]], top: str) -> None:
    """K 9 5 of clubs against Q J 3 and a single nine: 1 point for seat0."""
    game, changes = clock
    position = mitch(game, scoring="longest", deals=1, **changes).deal(CLUBS[0], top)
    position.play_out("KC 9C 5C", "QC JC 3C", "9S")
    assert position.scores == [1, 0, 0]


def test_R9_suits_goes_with_aces_in_the_hands(mitch: MakePosition) -> None:
    """Spades: 5 before 4, one card each; hearts: two cards alone."""
    small = RU_SMALL | {"hand_size": 3, "clock_cards": 1}
    position = mitch("mitch_ru", scoring="suits", must_place=False, **small).deal(["AS 5S 3S", "4S 4H 3H"])
    position.play("0 ace AS").play_out("5S", "4S 4H 3H")
    assert position.scores == [4, -1 + 4] and position.winners == [0]


# --- Miniatures.


def test_a_miniature_has_the_first_suits_the_lowest_ranks_and_the_same_actions(mitch: MakePosition) -> None:
    """The pack of 2 suits and 3 ranks is AS 2S 3S AH 2H 3H; an action has the same number as in the full game."""
    small, full = mitch("mitch_jp", players=2, suits=2, ranks=3, hand_size=2, clock_cards=1), mitch("mitch_jp")
    words = small.shuffle(5)
    dealt = {card for hand in words["hands"] for card in hand} | {*words["stock"]}
    assert dealt == cards("AS 2S 3S AH 2H 3H JK")
    assert small.rules.n_actions(2) == full.rules.n_actions(3) == 106
    for move in ("play 3H", "discard 3H"):
        assert small.rules.parse_action(small.table, move) == full.rules.parse_action(full.table, move)
