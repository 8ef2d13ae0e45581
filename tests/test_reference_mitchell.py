"""The reference referee for Mitchell, pinned ruling by ruling (M1 to M28) with positions set up by hand."""

import copy
import random
from collections import Counter

import pytest
from reference.mitchell import (
    ACTIONS,
    CENTER,
    DEFAULT_DECK,
    DEFAULTS,
    KINDS,
    REACTIONS,
    SUITS,
    Referee,
    RefereeError,
    check_record,
    count_positions_by_depth,
    full_options,
    option_problems,
)


def cards(text):
    return text.split()


def match_of(hands, stock, **changes):
    """A referee whose deck is just these cards; `hands` are strings of kinds."""
    hands = [cards(hand) for hand in hands]
    deck = dict(Counter(kind for pile in [*hands, cards(stock)] for kind in pile))
    shuffle = changes.pop("shuffle", None)
    return Referee(full_options(players=len(hands), hand_size=len(hands[0]), deck=deck, **changes), shuffle)


def deal_next(referee, hands, stock):
    referee.start_deal(*referee.expected_deal(), [cards(hand) for hand in hands], cards(stock))


def deal(hands, stock, **changes):
    """The first round, dealt, at its first decision."""
    referee = match_of(hands, stock, **changes)
    deal_next(referee, hands, stock)
    return referee


def play(referee, *lines):
    """Each line is 'seat move', e.g. '0 give seat1 brawl': the seat must be the one to decide."""
    for line in lines:
        seat, move = line.split(" ", 1)
        assert referee.actor == int(seat), line
        referee.apply(move)


def seats_asked(referee):
    """Decline to the end of the open window; the seats in the order in which they had to decide."""
    seats = []
    while referee.window is not None:
        seats.append(referee.actor)
        referee.apply("decline")
    return seats


# ---- options, deck, deal ----


def test_M1_default_deck():
    assert len(KINDS) == 26
    assert sum(DEFAULT_DECK.values()) == 108
    assert sum(DEFAULT_DECK[kind] for kind in KINDS if kind not in ACTIONS + REACTIONS) == 60
    assert sum(DEFAULT_DECK[kind] for kind in KINDS if "+" in kind) == 30
    assert [DEFAULT_DECK[kind] for kind in ACTIONS + REACTIONS] == [8] * 6
    for suit in SUITS:
        assert [DEFAULT_DECK[suit + end] for end in ("", "+attract", "+anywhere", "+center")] == [6, 2, 2, 2]


def test_M1_deck_option():
    assert option_problems(full_options()) == []
    assert option_problems(full_options(deck={"brawl": 255})) == []
    assert option_problems(full_options(players=2, hand_size=2, deck={"brawl": 5})) == []
    for deck in ({"brawl": 256}, {"brawl": 28}, {"brawl": -1, "give": 99}, {"fist": 99}, {"brawl": True}, None):
        assert option_problems(full_options(deck=deck)), deck


@pytest.mark.parametrize(
    "name, value",
    [
        ("players", 1),
        ("players", 9),
        ("players", "4"),
        ("target_score", 0),
        ("target_score", 10.0),
        ("rounds", 0),
        ("rounds", None),
        ("hand_size", 0),
        ("hand_size", 27),
        ("unplayed", "none"),
        ("release_wins", 1),
        ("ask_everyone", None),
        ("max_turns", 0),
        ("colour", "red"),
    ],
)
def test_options_out_of_range(name, value):
    problems = option_problems(full_options(**{name: value}))
    assert problems
    with pytest.raises(RefereeError):
        Referee(full_options(**{name: value}))


def test_options_must_be_complete():
    for name in DEFAULTS:
        options = full_options()
        del options[name]
        assert option_problems(options) == [f"options: {name} is missing."]


def test_M1_the_deal_is_checked_against_the_deck():
    hands, stock = [["brawl"], ["give"]], ["move"]
    good = {"dealer": 1, "seats": [0, 1], "hands": hands, "stock": stock, "revealed": []}
    for change in (
        {"dealer": 0},
        {"dealer": True},
        {"seats": [1, 0]},
        {"seats": None},
        {"hands": [["brawl"]]},
        {"hands": [["brawl"], []], "stock": ["give", "move"]},
        {"hands": [["brawl"], ["brawl"]]},
        {"hands": [["brawl"], [["give"]]]},
        {"hands": "no"},
        {"stock": []},
        {"stock": ["move", "move"]},
        {"stock": [{}]},
        {"revealed": ["give"]},
    ):
        referee = match_of(["brawl", "give"], "move")
        with pytest.raises(RefereeError):
            referee.start_deal(**{**good, **change})
        referee.start_deal(**good)  # nothing was changed by the refused one
        assert referee.actor == 0


def test_M2_each_round_starts_one_seat_further():
    hands, stock = ["brawl", "brawl", "brawl"], "give"
    referee = match_of(hands, stock, rounds=4)
    for dealer, starter in ((2, 0), (0, 1), (1, 2), (2, 0)):
        assert referee.expected_deal() == (dealer, [0, 1, 2])
        deal_next(referee, hands, stock)
        assert (referee.turn, referee.mitchell, referee.suit, referee.top) == (starter, CENTER, None, None)
        play(referee, f"{starter} brawl")
        assert referee.scores[-1] == [200 if seat == starter else 10 for seat in range(3)]
    assert referee.match_over
    assert referee.totals == [420, 230, 230]
    assert referee.winners() == [0]
    with pytest.raises(RefereeError):
        referee.expected_deal()


# ---- what fits ----


def test_legal_moves_of_every_kind_in_notation():
    referee = deal(["brawl+anywhere change force-two move give cancel", "stakeout " * 6], "off-duty")
    assert referee.legal() == sorted(
        [f"brawl+anywhere {place}" for place in ("center", "seat0", "seat1")]
        + [f"change {suit}" for suit in SUITS]
        + ["force-two seat1", "move center", "move seat0", "move seat1"]
        + [f"give seat1 {kind}" for kind in ("brawl+anywhere", "change", "force-two", "move", "cancel")]
    )


def test_what_fits_by_suit_and_by_function():
    referee = deal(["brawl brawl+center stakeout+center", "brawl brawl+attract stakeout+center"], "off-duty off-duty")
    play(referee, "0 brawl")
    assert referee.legal() == ["brawl", "brawl+attract"]
    play(referee, "1 brawl")
    assert referee.legal() == ["brawl+center"]
    play(referee, "0 brawl+center")
    assert referee.legal() == ["brawl+attract", "stakeout+center"]
    play(referee, "1 stakeout+center")
    assert referee.suit == "stakeout"
    assert referee.legal() == ["stakeout+center"]


def test_M3_an_action_covers_the_investigation():
    hands = ["brawl+center brawl", "brawl force-two", "stakeout+center brawl"]
    referee = deal(hands, "off-duty off-duty")
    play(referee, "0 brawl+center", "1 force-two seat0")
    assert (referee.top, referee.suit) == ("force-two", "brawl")
    assert referee.legal() == ["brawl"]
    referee = deal(hands, "off-duty off-duty")
    play(referee, "0 brawl+center", "1 brawl")
    assert referee.legal() == ["brawl"]


def test_M3_a_cancelled_action_covers_too():
    hands = ["brawl+center cancel brawl", "brawl brawl change", "stakeout+center brawl brawl"]
    referee = deal(hands, "off-duty off-duty")
    play(referee, "0 brawl+center", "1 change stakeout", "0 cancel")
    assert (referee.top, referee.suit) == ("cancel", "brawl")
    assert referee.legal() == ["brawl"]


def test_M19_the_first_card_may_be_an_action():
    referee = deal(["force-two brawl", "brawl+center stakeout"], "give off-duty")
    assert "force-two seat1" in referee.legal()
    play(referee, "0 force-two seat1")
    assert referee.suit is None
    assert {"brawl+center", "stakeout"} <= set(referee.legal())


def test_M21_a_cancelled_change_leaves_the_suit():
    hands = ["change brawl", "cancel stakeout"]
    referee = deal(hands, "off-duty")
    play(referee, "0 change brawl", "1 cancel")
    assert referee.suit is None
    assert referee.legal() == ["stakeout"]
    referee = deal(["stakeout cancel", "change stakeout"], "off-duty")
    play(referee, "0 stakeout", "1 change brawl", "0 cancel")
    assert referee.suit == "stakeout"


def test_change_may_name_the_current_suit():
    referee = deal(["stakeout give", "change stakeout"], "off-duty")
    play(referee, "0 stakeout", "1 change stakeout")
    assert referee.suit == "stakeout"


def test_after_a_change_only_the_suit_counts():
    referee = deal(["change give", "brawl off-duty+center"], "stakeout")
    play(referee, "0 change off-duty")
    assert referee.legal() == ["off-duty+center"]


# ---- drawing on the own turn ----


def test_M26_only_the_drawn_card_may_be_played():
    referee = deal(["give", "brawl"], "stakeout brawl")
    assert referee.drawn == "stakeout"
    assert referee.hand(0) == ["give", "stakeout"]  # with two cards in hand the give could be played
    assert referee.legal() == ["pass", "stakeout"]
    play(referee, "0 pass")
    assert (referee.actor, referee.drawn) == (1, None)


def test_M26_a_drawn_give_may_give_any_other_card():
    referee = deal(["give", "brawl"], "give brawl")
    assert referee.drawn == "give"
    assert referee.legal() == ["give seat1 give", "pass"]


def test_something_playable_must_be_played():
    referee = deal(["stakeout brawl", "stakeout brawl"], "stakeout")
    play(referee, "0 stakeout")
    assert referee.legal() == ["stakeout"]  # no pass, no draw
    with pytest.raises(RefereeError):
        referee.apply("pass")


def test_M28_pass_and_an_end_by_itself_look_the_same():
    def public(referee):
        names = ("stock_left", "discards", "suit", "mitchell", "turn", "window")
        return referee.hand_sizes(), [getattr(referee, name) for name in names]

    hands = ["stakeout cancel cancel", "brawl cancel cancel", "stakeout cancel cancel"]
    passed = deal(hands, "stakeout off-duty")
    play(passed, "0 stakeout", "1 pass")
    by_itself = deal(hands, "off-duty stakeout")
    play(by_itself, "0 stakeout")
    assert public(passed) == public(by_itself)
    assert passed.actor == by_itself.actor == 2


# ---- who is asked, in which order ----

FOUR_HANDS = ["brawl+anywhere brawl", "move give", "brawl brawl", "brawl brawl"]


def four_players(place, **changes):
    """Seat 0 puts Mitchell somewhere, then it is seat 1's turn; everybody is asked."""
    referee = deal(FOUR_HANDS, "stakeout stakeout", ask_everyone=True, **changes)
    play(referee, f"0 brawl+anywhere {place}")
    return referee


@pytest.mark.parametrize(
    "mitchell, move, order",
    [
        ("center", "move seat3", [3, 0, 2]),
        ("center", "move seat0", [0, 2, 3]),
        ("seat3", "move seat2", [2, 3, 0]),  # affected comes before the holder
        ("seat1", "move seat0", [0, 2, 3]),
        ("seat3", "give seat0 move", [0, 2, 3]),
        ("center", "give seat2 move", [2, 3, 0]),
    ],
)
def test_the_affected_player_is_asked_first(mitchell, move, order):
    referee = four_players(mitchell)
    referee.apply(move)
    assert seats_asked(referee) == order


@pytest.mark.parametrize(
    "mitchell, move, order",
    [
        ("seat3", "move center", [3, 0, 2]),
        ("seat0", "move center", [0, 2, 3]),
        ("seat3", "move seat1", [3, 0, 2]),
        ("center", "move center", [2, 3, 0]),
        ("center", "move seat1", [2, 3, 0]),
    ],
)
def test_M4_a_move_to_the_center_or_to_the_mover_affects_nobody(mitchell, move, order):
    referee = four_players(mitchell)
    referee.apply(move)
    assert seats_asked(referee) == order


@pytest.mark.parametrize("move", ["move center", "move seat1"])
def test_M5_the_mover_who_has_mitchell_is_skipped_as_first(move):
    referee = four_players("seat1")
    referee.apply(move)
    assert seats_asked(referee) == [2, 3, 0]


@pytest.mark.parametrize("mitchell, order", [("center", [2, 3, 0]), ("seat1", [2, 3, 0]), ("seat3", [3, 0, 2])])
def test_M5_order_for_a_change(mitchell, order):
    hands = ["brawl+anywhere brawl", "change brawl", "brawl brawl", "brawl brawl"]
    referee = deal(hands, "stakeout", ask_everyone=True)
    play(referee, f"0 brawl+anywhere {mitchell}", "1 change brawl")
    assert seats_asked(referee) == order


def test_force_two_asks_its_target_first():
    hands = ["force-two brawl", "brawl brawl", "brawl brawl", "brawl brawl"]
    for target, order in ((1, [1, 2, 3]), (2, [2, 3, 1]), (3, [3, 1, 2])):
        referee = deal(hands, "stakeout stakeout", ask_everyone=True)
        play(referee, f"0 force-two seat{target}")
        assert seats_asked(referee) == order


def test_M23_who_has_mitchell_before_the_effect():
    # The move takes Mitchell from seat 3, who is asked first all the same and cancels.
    referee = deal(["brawl+anywhere brawl", "move brawl", "cancel brawl", "cancel brawl"], "stakeout")
    play(referee, "0 brawl+anywhere seat3", "1 move seat1")
    assert referee.window == {"action": "move", "by": 1, "target": 1, "suit": None, "asked": []}
    play(referee, "3 cancel")
    assert (referee.mitchell, referee.hand_sizes()) == (3, [1, 2, 2, 1])


def test_M23_players_without_cards_are_asked_too():
    referee = deal(["brawl+attract", "change", "brawl"], "stakeout stakeout", ask_everyone=True)
    play(referee, "0 brawl+attract", "1 change brawl")
    assert (referee.actor, referee.hand(0), referee.legal()) == (0, [], ["decline"])
    assert seats_asked(referee) == [0, 2]


def test_M8_only_those_with_a_reaction_are_asked():
    hands = ["change stakeout", "brawl brawl", "cancel brawl", "brawl brawl", "revenge brawl"]
    referee = deal(hands, "stakeout stakeout")
    play(referee, "0 change brawl")
    assert (referee.actor, referee.window["asked"]) == (2, [1])
    assert referee.legal() == ["cancel", "decline"]
    play(referee, "2 decline")
    assert (referee.actor, referee.window["asked"]) == (4, [1, 2, 3])
    assert referee.legal() == ["decline", "revenge"]
    play(referee, "4 decline")
    assert (referee.actor, referee.suit, referee.window) == (1, "brawl", None)


def test_M8_nobody_with_a_reaction_no_decision():
    referee = deal(["change stakeout", "brawl brawl"], "stakeout")
    play(referee, "0 change brawl")
    assert (referee.actor, referee.window) == (1, None)


def test_M8_ask_everyone_asks_all_in_order():
    hands = ["change stakeout", "brawl brawl", "cancel brawl", "brawl brawl"]
    referee = deal(hands, "stakeout stakeout", ask_everyone=True)
    play(referee, "0 change brawl")
    assert (referee.actor, referee.legal()) == (1, ["decline"])
    play(referee, "1 decline")
    assert (referee.actor, referee.legal()) == (2, ["cancel", "decline"])
    play(referee, "2 cancel")  # seat 3 is not asked any more: at most one reaction for each action
    assert (referee.actor, referee.suit) == (1, None)


def test_at_most_one_reaction_and_none_to_a_reaction():
    referee = deal(["change cancel", "revenge brawl", "cancel brawl"], "stakeout stakeout")
    play(referee, "0 change brawl", "1 revenge")
    assert (referee.actor, referee.suit, referee.discards) == (1, "brawl", ["change", "revenge"])


def test_no_reaction_to_an_investigation():
    referee = deal(["brawl+attract brawl", "cancel brawl"], "stakeout")
    play(referee, "0 brawl+attract")
    assert (referee.mitchell, referee.window, referee.legal()) == (0, None, ["brawl"])


def test_M18_with_two_players_the_opponent_is_the_only_one_asked():
    for move in ("change brawl", "move center", "move seat0", "move seat1", "force-two seat1", "give seat1 brawl"):
        kind = move.split()[0]
        referee = deal([f"{kind} brawl cancel", "brawl brawl brawl"], "stakeout stakeout", ask_everyone=True)
        play(referee, f"0 {move}")
        assert seats_asked(referee) == [1]


# ---- what actions, reactions and functions do ----


def test_investigation_functions():
    referee = deal(["brawl+attract brawl", "brawl+center brawl", "brawl+anywhere brawl"], "stakeout")
    play(referee, "0 brawl+attract")
    assert referee.mitchell == 0
    play(referee, "1 brawl+center")
    assert referee.mitchell == CENTER
    assert [move for move in referee.legal() if "+" in move] == [
        f"brawl+anywhere {place}" for place in ("center", "seat0", "seat1", "seat2")
    ]
    play(referee, "2 brawl+anywhere seat2")
    assert referee.mitchell == 2


def test_move_to_where_he_already_is():
    referee = deal(["move stakeout", "move stakeout"], "brawl")
    play(referee, "0 move center")
    assert referee.mitchell == CENTER
    play(referee, "1 move seat1")
    assert referee.mitchell == 1


def test_M6_give_takes_effect_when_nobody_reacts():
    referee = deal(["give stakeout brawl", "cancel brawl brawl", "brawl brawl brawl"], "off-duty")
    play(referee, "0 give seat1 stakeout")
    assert referee.window == {"action": "give", "by": 0, "target": 1, "suit": None, "asked": []}
    assert referee.hand_sizes() == [2, 3, 3]  # the card to give is still in the giver's hand
    play(referee, "1 decline")
    assert referee.hand(0) == ["brawl"]
    assert referee.hand(1) == ["brawl", "brawl", "cancel", "stakeout"]
    assert referee.mitchell == 0
    assert referee.known(0) == {1: {"stakeout": 1}, 2: {}}
    assert referee.known(1) == {0: {}, 2: {}}
    assert referee.known(2) == {0: {}, 1: {}}


def test_M6_a_cancelled_give_leaves_the_card():
    referee = deal(["give stakeout", "cancel brawl"], "off-duty")
    play(referee, "0 give seat1 stakeout", "1 cancel")
    assert referee.hand(0) == ["off-duty", "stakeout"]
    assert referee.hand(1) == ["brawl"]
    assert referee.mitchell == CENTER
    assert referee.discards == ["give", "cancel"]
    assert referee.known(0) == {1: {}}


def test_M6_the_card_to_give_may_be_another_give():
    referee = deal(["give give", "brawl brawl"], "off-duty")
    assert referee.legal() == ["give seat1 give"]
    play(referee, "0 give seat1 give")
    assert (referee.hand(0), referee.hand(1), referee.mitchell) == ([], ["brawl", "brawl", "give"], 0)


def test_M6_revenge_on_a_give_whose_card_goes_over_before_the_draw():
    referee = deal(["give stakeout", "brawl brawl", "revenge brawl"], "off-duty car-chase move")
    play(referee, "0 give seat1 stakeout", "2 revenge")
    assert referee.hand(1) == ["brawl", "brawl", "stakeout"]
    assert referee.hand(0) == ["car-chase", "off-duty"]
    assert referee.mitchell == 0


def test_give_as_the_only_card_is_not_legal():
    referee = deal(["give", "brawl"], "cancel brawl")
    assert referee.hand(0) == ["cancel", "give"]  # drew by itself, the turn ended by itself
    assert referee.actor == 1


def test_M7_effect_before_the_draw_that_the_reaction_forces():
    referee = deal(["force-two brawl", "revenge brawl"], "stakeout off-duty car-chase move give")
    play(referee, "0 force-two seat1", "1 revenge")
    assert referee.discards == ["force-two", "revenge"]
    assert referee.hand(1) == ["brawl", "off-duty", "stakeout"]
    assert referee.hand(0) == ["brawl", "car-chase", "move"]
    assert referee.stock == ["give"]


def test_M7_a_cancelled_action_draws_one():
    referee = deal(["force-two brawl", "cancel brawl"], "stakeout off-duty")
    play(referee, "0 force-two seat1", "1 cancel")
    assert referee.discards == ["force-two", "cancel"]
    assert (referee.hand(0), referee.hand(1)) == (["brawl", "stakeout"], ["brawl"])


def test_M15_the_number_of_cards_is_public():
    referee = deal(["brawl brawl", "brawl brawl", "brawl brawl"], "stakeout")
    play(referee, "0 brawl", "1 brawl")
    assert referee.hand_sizes() == [1, 1, 2]


def test_M16_cards_drawn_through_a_reaction_wait():
    referee = deal(["change stakeout", "cancel brawl"], "brawl")
    play(referee, "0 change brawl", "1 cancel")
    assert referee.hand(0) == ["brawl", "stakeout"]
    assert (referee.actor, referee.drawn) == (1, None)
    referee = deal(["change stakeout", "revenge brawl"], "brawl brawl")
    play(referee, "0 change brawl", "1 revenge")
    assert (referee.actor, referee.drawn) == (1, None)


def test_M16_cards_of_a_force_two_wait_for_the_own_turn():
    referee = deal(["force-two cancel", "stakeout stakeout", "stakeout brawl"], "brawl move")
    play(referee, "0 force-two seat2")
    assert (referee.actor, referee.drawn) == (1, None)
    play(referee, "1 stakeout")
    assert (referee.actor, referee.drawn) == (2, None)
    assert {"stakeout", "move center"} <= set(referee.legal())


def test_M25_after_a_give_play_goes_on_clockwise():
    referee = deal(["give stakeout", "brawl brawl", "brawl brawl"], "off-duty")
    play(referee, "0 give seat2 stakeout")
    assert referee.actor == 1


# ---- the stock ----


def test_M12_reshuffle_between_the_two_cards_of_a_force_two():
    def at_the_action():
        referee = deal(["brawl brawl cancel", "force-two brawl cancel"], "stakeout")
        play(referee, "0 brawl", "1 force-two seat0")
        return referee

    referee = at_the_action()
    referee.queue_reshuffle(["brawl"])
    play(referee, "0 decline")
    assert referee.hand(0) == ["brawl", "brawl", "cancel", "stakeout"]
    assert (referee.discards, referee.stock, referee.top) == (["force-two"], [], "force-two")

    with pytest.raises(RefereeError, match="missing"):
        play(at_the_action(), "0 decline")
    for wrong in ([], ["stakeout"], ["brawl", "brawl"], ["force-two"]):
        referee = at_the_action()
        referee.queue_reshuffle(wrong)
        with pytest.raises(RefereeError, match="not an order"):
            play(referee, "0 decline")
    with pytest.raises(RefereeError):
        referee.queue_reshuffle([["brawl"]])


def test_M12_reshuffle_with_a_reaction_on_top():
    referee = deal(["force-two brawl", "revenge brawl"], "stakeout off-duty move")
    referee.queue_reshuffle(["force-two"])
    play(referee, "0 force-two seat1", "1 revenge")
    assert referee.hand(1) == ["brawl", "off-duty", "stakeout"]
    assert referee.hand(0) == ["brawl", "force-two", "move"]
    assert referee.discards == ["revenge"]


def test_M12_of_two_cards_as_many_as_there_are():
    referee = deal(["force-two brawl", "brawl brawl"], "stakeout")
    play(referee, "0 force-two seat1")
    assert referee.hand_sizes() == [1, 3]
    assert (referee.stock, referee.discards) == ([], ["force-two"])


def test_M12_no_reshuffle_before_a_card_must_be_drawn():
    referee = deal(["brawl stakeout cancel", "brawl brawl brawl"], "off-duty")
    play(referee, "0 brawl", "1 brawl")  # seat 0 draws the last card of the stock
    assert (referee.stock, referee.discards, referee.actor) == ([], ["brawl", "brawl"], 1)


def test_M12_reshuffle_on_the_own_turn_in_the_order_that_was_given():
    referee = deal(["brawl stakeout stakeout", "brawl+center change stakeout"], "off-duty")
    referee.queue_reshuffle(["brawl+center", "brawl"])
    play(referee, "0 brawl", "1 brawl+center", "1 change brawl")  # seat 0 drew the off duty in between
    assert (referee.actor, referee.drawn) == (0, "brawl+center")
    assert (referee.stock, referee.discards) == (["brawl"], ["change"])


def test_M13_blocked_without_any_decision():
    referee = deal(["revenge", "cancel"], "cancel", rounds=1)
    assert referee.deal_over and referee.match_over and not referee.truncated
    assert referee.scores == [[0, 0]]
    assert referee.winners() == [0, 1]


def test_M13_blocked_scores_nothing_for_mitchell():
    referee = deal(["brawl+attract revenge", "cancel cancel"], "cancel", rounds=2)
    play(referee, "0 brawl+attract")
    assert (referee.mitchell, referee.scores) == (0, [[0, 0]])
    assert not referee.match_over  # but it counts as a round
    assert referee.expected_deal() == (0, [0, 1])


def test_M13_needs_a_full_round_of_idle_turns_in_a_row():
    referee = deal(["revenge revenge", "cancel cancel", "brawl brawl"], "revenge")
    assert (referee.actor, referee.n_idle_turns) == (2, 1)  # seat 0 drew, seat 1 could not
    play(referee, "2 brawl", "2 brawl")  # seats 0 and 1 were idle in between: two in a row, three in all
    assert referee.scores == [[15, 10, 200]]


# ---- the end of a round ----


def test_M9_the_turn_is_not_over_before_the_draw_of_a_revenge():
    referee = deal(["brawl change", "revenge stakeout"], "car-chase off-duty off-duty brawl")
    play(referee, "0 brawl", "0 change brawl")  # seat 1 drew in between
    assert (referee.actor, referee.hand_sizes(), referee.deal_over) == (1, [0, 3], False)
    play(referee, "1 revenge")
    assert (referee.hand_sizes(), referee.scores) == ([2, 3], [])  # seat 1 drew again in its own turn


def test_M9_a_forced_draw_keeps_the_mover_from_winning():
    referee = deal(["change", "cancel", "brawl"], "stakeout off-duty")
    play(referee, "0 change brawl", "1 cancel")
    assert referee.scores == [[10, 200, 10]]


def test_M9_the_mover_comes_first():
    # Seat 1's last card releases seat 0, whose hand is empty: both qualify.
    referee = deal(["brawl+attract", "move", "brawl"], "stakeout")
    play(referee, "0 brawl+attract", "1 move center")
    assert referee.scores == [[0, 200, 10]]


def test_M9_then_clockwise():
    # Seat 0 is released, seat 2 plays its last card, seat 1 (the mover) draws two: clockwise from 1 comes 2.
    referee = deal(["brawl+attract", "move", "revenge"], "stakeout off-duty")
    play(referee, "0 brawl+attract", "1 move center", "2 revenge")
    assert referee.scores == [[0, 20, 200]]


def test_M9_a_reactor_who_gets_cards_does_not_win():
    referee = deal(["force-two", "revenge"], "stakeout off-duty give move")
    play(referee, "0 force-two seat1", "1 revenge")
    assert not referee.deal_over
    assert referee.hand_sizes() == [2, 2]


def test_M9_revenge_with_nothing_to_draw_does_not_help():
    referee = deal(["force-two", "revenge"], "stakeout")
    referee.queue_reshuffle(["force-two"])
    play(referee, "0 force-two seat1", "1 revenge")
    # seat 1 drew both cards there were, seat 0 none: its hand stayed empty
    assert referee.scores == [[200, 10 + 5]]


def test_last_card_with_mitchell_does_not_win():
    referee = deal(["brawl+attract", "brawl"], "stakeout")
    play(referee, "0 brawl+attract")
    assert not referee.deal_over
    play(referee, "1 brawl")
    assert referee.scores == [[-100, 200]]


def test_last_card_that_sends_mitchell_away_wins():
    for card in ("brawl+center", "brawl+anywhere seat1", "move seat1"):
        referee = deal(["brawl+attract " + card.split()[0], "stakeout stakeout"], "off-duty off-duty")
        play(referee, "0 brawl+attract", f"0 {card}")
        assert referee.scores[0][0] == 200
        assert referee.scores[0][1] == (30 if card == "brawl+center" else -100)


def test_a_give_that_empties_the_hand_brings_mitchell():
    referee = deal(["give stakeout", "brawl brawl"], "off-duty")
    play(referee, "0 give seat1 stakeout")
    assert (referee.hand(0), referee.mitchell, referee.deal_over) == ([], 0, False)


def test_M10_a_reaction_as_the_last_card_wins():
    for release_wins in (True, False):
        referee = deal(["change", "revenge"], "brawl brawl", release_wins=release_wins)
        play(referee, "0 change brawl", "1 revenge")
        assert referee.scores == [[20, 200]]


def test_M10_a_reaction_as_the_last_card_with_mitchell_does_not_win():
    referee = deal(["brawl change", "cancel brawl+attract", "brawl brawl"], "stakeout brawl")
    play(referee, "0 brawl", "1 brawl+attract", "2 brawl", "0 change brawl", "1 cancel")
    assert (referee.actor, referee.drawn, referee.hand(1)) == (1, "brawl", ["brawl"])  # M11: drew for the own turn
    assert (referee.mitchell, referee.scores) == (1, [])


def released(**changes):
    """Seat 0 has an empty hand and Mitchell; seat 1 takes him away."""
    referee = deal(["give stakeout", "move brawl"], "cancel off-duty", **changes)
    play(referee, "0 give seat1 stakeout", "1 move center")
    return referee


def test_M10_release_wins():
    assert released().scores == [[200, 20]]


def test_M10_without_release_wins_an_empty_hand_plays_on():
    referee = released(release_wins=False)
    # seat 0 drew the cancel, which cannot be played; seat 1 goes on
    assert (referee.scores, referee.hand(0), referee.actor) == ([], ["cancel"], 1)


def test_M10_without_release_wins_a_last_card_of_an_earlier_turn_does_not_count():
    hands = ["brawl brawl+attract", "move move", "force-two brawl"]
    lines = ["0 brawl", "1 move center", "2 force-two seat1", "0 brawl+attract", "1 move center"]
    for release_wins, scores in ((False, []), (True, [[200, 20, 10]])):
        referee = deal(hands, "stakeout off-duty", release_wins=release_wins)
        play(referee, *lines)
        assert (referee.hand(0), referee.mitchell, referee.scores) == ([], CENTER, scores)


def test_M10_without_release_wins_a_reaction_in_the_same_turn_wins():
    referee = deal(["brawl+attract revenge", "move stakeout"], "off-duty off-duty", release_wins=False)
    play(referee, "0 brawl+attract", "1 move center", "0 revenge")
    assert referee.scores == [[200, 30]]


def test_M10_without_release_wins_a_drawn_card_played_at_once_wins():
    referee = deal(["give stakeout", "move brawl"], "brawl off-duty", release_wins=False)
    play(referee, "0 give seat1 stakeout", "1 move center")
    assert (referee.actor, referee.drawn) == (0, "brawl")
    play(referee, "0 brawl")
    assert referee.scores == [[200, 20]]


def test_M11_an_empty_hand_with_mitchell_draws_and_a_give_cannot_be_played():
    referee = deal(["give stakeout", "brawl brawl"], "give off-duty off-duty")
    play(referee, "0 give seat1 stakeout", "1 brawl")
    assert referee.hand(0) == ["give"]  # drawn, not playable, turn over
    assert (referee.actor, referee.mitchell) == (1, 0)
    play(referee, "1 brawl")
    assert referee.hand(0) == ["give", "off-duty"]  # the give as only card: draw again, off duty does not fit


def test_M14_points_for_cards_left():
    hands = ["brawl brawl brawl", "stakeout+center cancel give", "off-duty revenge move"]
    stock = "brawl stakeout stakeout stakeout stakeout"
    for unplayed, sign in (("bonus", 1), ("penalty", -1)):
        referee = deal(hands, stock, unplayed=unplayed)
        play(referee, "0 brawl", "1 give seat2 stakeout+center", "2 decline", "2 move center", "1 decline", "0 brawl")
        assert referee.drawn == "brawl"
        play(referee, "1 pass", "0 brawl")
        # seat 1: cancel, brawl; seat 2: off-duty, revenge, stakeout+center and a stakeout drawn
        assert referee.scores == [[200, sign * 15, sign * 35]]


def test_M22_the_caught_scores_nothing_for_cards():
    for unplayed in ("bonus", "penalty"):
        referee = deal(["brawl+anywhere brawl", "stakeout stakeout"], "off-duty off-duty", unplayed=unplayed)
        play(referee, "0 brawl+anywhere seat1", "0 brawl")
        assert referee.scores == [[200, -100]]


# ---- the end of the match ----


def test_M17_several_reach_the_target():
    referee = match_of(["brawl", "brawl"], "cancel", target_score=205)
    deal_next(referee, ["brawl", "brawl"], "cancel")
    play(referee, "0 brawl")
    assert (referee.totals, referee.match_over) == ([200, 10], False)
    deal_next(referee, ["cancel", "brawl"], "brawl")
    play(referee, "1 brawl")
    assert (referee.totals, referee.match_over, referee.winners()) == ([205, 210], True, [1])


def test_M17_equal_totals_share_the_win():
    referee = match_of(["brawl", "brawl"], "cancel", target_score=210)
    for starter in (0, 1):
        assert not referee.match_over
        deal_next(referee, ["brawl", "brawl"], "cancel")
        play(referee, f"{starter} brawl")
    assert (referee.totals, referee.match_over, referee.winners()) == ([210, 210], True, [0, 1])


def test_M24_between_rounds_only():
    referee = deal(["brawl brawl", "brawl brawl"], "cancel", target_score=1, rounds=1)
    assert not referee.match_over
    play(referee, "0 brawl", "1 brawl")
    assert not referee.match_over
    play(referee, "0 brawl")
    assert referee.match_over


def test_M27_rounds_ends_a_match_without_target():
    assert DEFAULTS["rounds"] == 100
    referee = match_of(["brawl", "brawl"], "cancel", target_score=None, rounds=12)
    for number in range(12):
        assert not referee.match_over
        deal_next(referee, ["brawl", "brawl"], "cancel")
        play(referee, f"{number % 2} brawl")
    assert (referee.match_over, referee.totals) == (True, [1260, 1260])


def test_M27_a_penalty_match_ends_by_rounds():
    referee = match_of(["cancel", "cancel"], "cancel", unplayed="penalty")
    while not referee.match_over:
        deal_next(referee, ["cancel", "cancel"], "cancel")
    assert (len(referee.scores), referee.totals, referee.truncated) == (100, [0, 0], False)


def test_M20_truncated_the_last_round_gives_no_points():
    hands = ["brawl brawl", "brawl stakeout"]
    referee = match_of(hands, "cancel cancel", max_turns=3)
    deal_next(referee, hands, "cancel cancel")
    play(referee, "0 brawl", "1 brawl", "0 brawl")  # on the last turn that is allowed the winner comes first
    deal_next(referee, ["brawl brawl", "stakeout cancel"], "cancel brawl")
    play(referee, "1 stakeout")  # seat 0 draws, then seat 1 draws a brawl: three turns, all but one by themselves
    assert referee.truncated and referee.match_over and referee.deal_over
    assert referee.scores == [[200, 10], None]
    assert (referee.totals, referee.winners()) == ([200, 10], [0])


def test_M20_truncated_in_the_first_round_all_share():
    referee = deal(["brawl brawl", "brawl brawl"], "cancel", max_turns=1)
    play(referee, "0 brawl")
    assert (referee.scores, referee.totals, referee.winners()) == ([None], [0, 0], [0, 1])


def test_M20_blocked_comes_before_truncated():
    referee = deal(["revenge", "cancel"], "cancel", max_turns=3)
    assert (referee.scores, referee.truncated) == ([[0, 0]], False)
    referee = deal(["revenge", "cancel"], "cancel", max_turns=2)
    assert (referee.scores, referee.truncated) == ([None], True)


# ---- what seats know (M6) ----


def test_M6_known_cards_are_played_or_given_on():
    hands = ["give brawl stakeout", "give brawl brawl", "brawl brawl brawl"]
    referee = deal(hands, "off-duty off-duty")
    play(referee, "0 give seat1 stakeout")
    assert referee.known(0)[1] == {"stakeout": 1}
    unseen = copy.deepcopy(referee)
    play(unseen, "1 give seat2 brawl")  # seat 0 does not see which card it was
    assert unseen.known(0)[1] == {}
    assert unseen.known(1)[2] == {"brawl": 1}
    play(unseen, "2 brawl")
    assert unseen.known(1)[2] == {}
    seen = copy.deepcopy(referee)
    play(seen, "1 give seat0 brawl")  # seat 0 sees that it was another card
    assert seen.known(0)[1] == {"stakeout": 1}
    back = copy.deepcopy(referee)
    play(back, "1 give seat0 stakeout")
    assert back.known(0)[1] == {}
    play(referee, "1 brawl")
    assert referee.known(0)[1] == {"stakeout": 1}


def test_M6_playing_the_known_card_forgets_it():
    referee = deal(["give brawl stakeout", "brawl brawl brawl"], "off-duty stakeout")
    play(referee, "0 give seat1 stakeout", "1 stakeout")
    assert referee.hand(1) == ["brawl", "brawl", "brawl", "stakeout"]  # another one, drawn
    assert referee.known(0) == {1: {}}


# ---- the sample dialogue of the source ----

DIALOGUE_HANDS = [
    cards("car-chase force-two brawl+anywhere brawl revenge brawl+center crime-scene"),
    cards("car-chase+attract cancel stakeout revenge crime-scene+center off-duty off-duty"),
    cards("stakeout+attract change brawl off-duty stakeout car-chase car-chase"),
]
DIALOGUE_DRAWS = cards(
    "off-duty"  # Greta, whose force two is cancelled
    " stakeout car-chase"  # Cummins, for changing to brawl
    " stakeout"  # Gallano has nothing to play
    " give"  # Gallano again, this time he can play it
    " crime-scene+anywhere car-chase"  # Gallano, for the give
    " stakeout"  # Cummins, in the turn that the source forgets (M25)
    " car-chase"  # Cummins has nothing to play
    " crime-scene"  # the next card, for Cummins, where the dialogue ends
)


def test_M25_sample_dialogue():
    greta, gallano, cummins = 0, 1, 2
    rest = Counter(DEFAULT_DECK)
    rest.subtract(Counter(kind for pile in [*DIALOGUE_HANDS, DIALOGUE_DRAWS] for kind in pile))
    assert min(rest.values()) >= 0
    referee = Referee(full_options(players=3))
    referee.start_deal(2, [0, 1, 2], DIALOGUE_HANDS, DIALOGUE_DRAWS + list(rest.elements()))

    def table():
        return referee.suit, referee.mitchell, referee.hand_sizes()

    play(referee, "0 car-chase")
    assert table() == ("car-chase", CENTER, [6, 7, 7])
    play(referee, "1 car-chase+attract")
    assert table() == ("car-chase", gallano, [6, 6, 7])
    play(referee, "2 stakeout+attract")
    assert table() == ("stakeout", cummins, [6, 6, 6])
    play(referee, "0 force-two seat1", "1 cancel")
    assert table() == ("stakeout", cummins, [6, 5, 6])
    play(referee, "1 stakeout", "2 change brawl")
    # M5: Cummins has Mitchell but plays the action, so Greta is asked before Gallano; she keeps her revenge.
    play(referee, "0 decline", "1 revenge")
    assert table() == ("brawl", cummins, [6, 3, 7])
    play(referee, "0 brawl+anywhere seat1")  # Gallano draws, in vain
    assert table() == ("brawl", gallano, [5, 4, 7])
    play(referee, "2 brawl", "0 brawl")
    assert (referee.actor, referee.drawn) == (gallano, "give")
    play(referee, "1 give seat2 off-duty")
    assert referee.window["asked"] == [cummins]  # "Can't react."
    play(referee, "0 revenge")  # the missing turn of Cummins follows, he draws in vain
    assert table() == ("brawl", gallano, [3, 5, 8])
    assert referee.known(gallano)[cummins] == {"off-duty": 1}
    play(referee, "0 brawl+center")
    assert table() == ("brawl", CENTER, [2, 5, 8])
    play(referee, "1 crime-scene+center")  # Cummins draws, in vain
    assert table() == ("crime-scene", CENTER, [2, 4, 9])
    play(referee, "0 crime-scene", "1 crime-scene+anywhere seat0")
    assert (referee.actor, referee.drawn) == (cummins, "crime-scene")
    assert table() == ("crime-scene", greta, [1, 3, 10])


# ---- exact counts ----


def perft(hands, stock, depth, **changes):
    referee = match_of(hands, stock, **changes)
    return count_positions_by_depth(referee.options, [cards(hand) for hand in hands], cards(stock), depth)


def test_counts_of_miniatures():
    assert perft(["brawl", "change"], "cancel", 2) == [1, 1, 0]
    # five suits, two answers, and both end the round
    assert perft(["change", "revenge"], "brawl brawl", 3) == [1, 5, 10, 0]
    # play the drawn brawl (then blocked), or pass and have to play it one turn later
    assert perft(["revenge", "revenge"], "brawl", 3) == [1, 2, 1, 0]
    # no decision at all: blocked
    assert perft(["revenge", "revenge"], "cancel", 2) == [1, 0, 0]
    # three places for the anywhere, and only before seat 0 the round goes on: seat 1 then wins
    assert perft(["brawl+anywhere", "brawl"], "stakeout", 2) == [1, 3, 1]


def test_counts_do_not_depend_on_asking_everyone_in_a_deck_without_actions():
    hands, stock = ["brawl brawl+center", "stakeout brawl+anywhere"], "stakeout+center brawl+attract"
    assert perft(hands, stock, 5) == perft(hands, stock, 5, ask_everyone=True)


# ---- records ----


def move_entries(*lines):
    """'1 force-two seat0 | pass, force-two seat0': seat, move and, after the bar, the legal moves."""
    entries = []
    for line in lines:
        seat_and_move, _, legal = line.partition(" | ")
        seat, move = seat_and_move.split(" ", 1)
        entries.append({"seat": int(seat), "move": move})
        if legal:
            entries[-1]["legal"] = legal.split(", ")
    return entries


def hand_made_record():
    """Two rounds of two players, every card of them followed by hand."""
    options = full_options(players=2, target_score=300, rounds=2, hand_size=2, max_turns=50)
    options["deck"] = {"brawl": 3, "force-two": 1, "cancel": 2}
    first = {
        "dealer": 1,
        "seats": [0, 1],
        "hands": [["brawl", "brawl"], ["force-two", "cancel"]],
        "stock": ["brawl", "cancel"],
        "revealed": [],
        "reshuffles": [["brawl", "force-two"], ["brawl", "brawl"]],
        "moves": move_entries(
            "0 brawl | brawl",
            "1 force-two seat0 | force-two seat0",  # seat 0 draws brawl, cancel
            "0 brawl | brawl",
            "1 brawl | pass, brawl",  # drawn after the first reshuffle
            "0 brawl | brawl",
            "1 pass | force-two seat0, pass",
            "0 brawl | brawl, pass",  # drawn after the second reshuffle
            "1 force-two seat0 | force-two seat0",
            "0 cancel | decline, cancel",  # the last card; seat 1 draws a brawl
        ),
        "scores": [200, 15],
    }
    second = {
        "dealer": 0,
        "seats": [0, 1],
        "hands": [["cancel", "force-two"], ["brawl", "brawl"]],
        "stock": ["brawl", "cancel"],
        "revealed": [],
        "reshuffles": [["force-two", "brawl"]],
        "moves": move_entries(
            "1 brawl",
            "0 force-two seat1",  # seat 1 draws brawl, cancel
            "1 brawl",
            "0 force-two seat1",  # drawn after the reshuffle
            "1 cancel",  # seat 0 draws the brawl
            "1 brawl",
        ),
        "scores": [15, 200],
    }
    return {
        "format": "mitch-record",
        "version": 1,
        "game": "mitchell",
        "options": options,
        "seed": 7,
        "agents": ["random", "random"],
        "deals": [first, second],
        "totals": [215, 215],
        "winners": [0, 1],
        "truncated": False,
    }


def test_a_hand_made_record():
    assert check_record(hand_made_record()) == []


def at(record, path):
    """The container and the last key of a path such as 'deals.0.moves.2.seat'."""
    *steps, last = [int(word) if word.isdigit() else word for word in path.split(".")]
    for step in steps:
        record = record[step]
    return record, last


TAMPERED = [
    ("format", "mitch", "format must be"),
    ("version", 2, "version must be"),
    ("version", True, "version must be"),
    ("game", "mitch_jp", "game must be"),
    ("seed", "7", "seed must be"),
    ("agents", ["random"], "agents must be"),
    ("options.players", 3, "deck must have"),
    ("options.rounds", 3, "rounds are missing"),
    ("options.rounds", 1, "the match was over after 1"),
    ("options.target_score", 200, "the match was over after 1"),
    ("options.colour", "red", "unknown option"),
    ("options.unplayed", "penalty", "scores must be [200, -15]"),
    ("options.max_turns", 5, "left over"),
    ("options.hand_size", 1, "must hold 1 cards"),
    ("options.deck.give", 1, "0 of give, the deck has 1"),
    ("options.deck.brawl", 2, "3 of brawl, the deck has 2"),
    ("options.ask_everyone", True, "move 2: legal lacks 'decline'"),
    ("deals.1.dealer", 1, "dealer must be 0"),
    ("deals.0.seats", [1, 0], "seats must be"),
    ("deals.0.revealed", ["brawl"], "revealed must be"),
    ("deals.0.hands.0.0", "cancel", "2 of brawl, the deck has 3"),
    ("deals.0.stock", ["brawl"], "1 of cancel, the deck has 2"),
    ("deals.0.reshuffles.0", ["force-two", "brawl"], "deal 0: move 3"),
    ("deals.0.reshuffles.1", ["brawl"], "not an order"),
    ("deals.0.reshuffles.1", ["brawl", "force-two"], "not an order"),
    ("deals.0.reshuffles", [["brawl", "force-two"]], "one is missing"),
    ("deals.0.reshuffles", [["brawl", "force-two"], ["brawl", "brawl"], ["brawl"]], "1 left over that never happened"),
    ("deals.0.moves.2.seat", 1, "seat must be 0"),
    ("deals.0.moves.2.seat", False, "seat must be 0"),
    ("deals.0.moves.2.move", "pass", "not legal for seat0"),
    ("deals.0.moves.2.move", "brawl ", "not legal for seat0"),
    ("deals.0.moves.2.legal", ["brawl", "pass"], "legal names 'pass'"),
    ("deals.0.moves.3.legal", ["brawl"], "legal lacks 'pass'"),
    ("deals.0.moves.8.move", "revenge", "not legal for seat0"),
    ("deals.0.scores", [200, 10], "scores must be [200, 15]"),
    ("deals.0.scores", None, "scores must be [200, 15]"),
    ("deals.0.scores", [200.0, 15], "scores must be [200, 15]"),
    ("totals", [200, 215], "totals must be [215, 215]"),
    ("winners", [0], "winners must be [0, 1]"),
    ("truncated", True, "truncated must be False"),
    ("truncated", 0, "truncated must be False"),
]


@pytest.mark.parametrize("path, value, sentence", TAMPERED)
def test_a_tampered_record_is_caught(path, value, sentence):
    record = hand_made_record()
    container, last = at(record, path)
    container[last] = value
    problems = check_record(record)
    assert any(sentence in problem for problem in problems), problems


def test_moves_and_rounds_missing_or_too_many():
    record = hand_made_record()
    del record["deals"][0]["moves"][-1]
    assert check_record(record) == ["deal 0: moves are missing, the round is not over after 8."]
    record = hand_made_record()
    record["deals"][1]["moves"].append({"seat": 0, "move": "pass"})
    assert check_record(record) == ["deal 1: moves: 1 left over, the round was over after 6."]
    record = hand_made_record()
    del record["deals"][1]
    assert check_record(record) == ["deals: rounds are missing, the match is not over after 1."]
    record = hand_made_record()
    record["deals"].append(record["deals"][0])
    assert check_record(record) == ["deals: 3 rounds, but the match was over after 2."]


def test_several_problems_are_all_named():
    record = hand_made_record()
    record["game"] = "mitch"
    record["deals"][0]["moves"][0]["seat"] = 1
    record["deals"][1]["scores"] = [0, 0]
    record["winners"] = []
    assert len(check_record(record)) == 4


def all_paths(value, prefix=""):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield f"{prefix}{key}"
        yield from all_paths(item, f"{prefix}{key}.")


def test_wrong_types_and_missing_keys_never_raise():
    for record in (None, 3, "record", [], {}):
        assert check_record(record)
    may_be_left_out = ["seed", "agents"]
    fine = [("seed", None), ("seed", -1), ("agents", None), ("agents.0", "x"), ("agents.1", "x")]
    fine.append(("options.target_score", None))  # the match ends by `rounds` in any case
    for path in list(all_paths(hand_made_record())):
        for value in (None, True, -1, 2.5, "x", [], [[]], [{}], {}, {"x": [1]}):
            record = hand_made_record()
            container, last = at(record, path)
            if (path, value) in fine or container[last] == value:
                continue
            container[last] = value
            assert check_record(record), (path, value)
        record = hand_made_record()
        container, last = at(record, path)
        if isinstance(container, dict) and path not in may_be_left_out and last != "legal":
            del container[last]
            assert check_record(record), path


# ---- random play ----


def random_options(rng):
    players = rng.randint(2, 8)
    hand_size = rng.randint(1, 4)
    need = players * hand_size + 1
    kinds = rng.choice([KINDS, ACTIONS + REACTIONS + ("brawl", "brawl+attract"), (*REACTIONS, "brawl", "give", "move")])
    kinds = rng.sample(kinds, rng.randint(1, len(kinds)))
    deck = Counter(rng.choice(kinds) for _ in range(need + rng.randint(0, 8)))
    return full_options(
        players=players,
        hand_size=hand_size,
        deck=dict(deck),
        target_score=rng.choice([None, 100, 500]),
        rounds=rng.randint(1, 4),
        unplayed=rng.choice(["bonus", "penalty"]),
        release_wins=rng.choice([True, False]),
        ask_everyone=rng.choice([True, False]),
        max_turns=rng.choice([5, 60, 200]),
    )


def shuffled_deal(options, rng):
    deck = sorted(Counter(options["deck"]).elements())
    rng.shuffle(deck)
    size = options["hand_size"]
    hands = [deck[seat * size : (seat + 1) * size] for seat in range(options["players"])]
    return hands, deck[options["players"] * size :]


def check_laws(referee):
    """What holds at every decision and at the end of every round."""
    piles = [*referee.hands, referee.stock, referee.discards]
    assert Counter(kind for pile in piles for kind in pile) == Counter(referee.options["deck"])
    assert (referee.actor is None) == referee.deal_over
    assert bool(referee.legal()) != referee.deal_over
    for x in referee.seats:
        for j, kinds in referee.known(x).items():
            held = Counter(referee.hands[j])
            assert all(0 < count <= held[kind] for kind, count in kinds.items())


def events_at(referee):
    """Names of the rare things that can be seen at this point."""
    if any(not hand and referee.mitchell == seat for seat, hand in enumerate(referee.hands)):
        yield "empty hand with Mitchell"
    if any(not hand and referee.mitchell != seat for seat, hand in enumerate(referee.hands)) and not referee.deal_over:
        yield "empty hand without Mitchell plays on"
    if referee.window and referee.legal() == ["decline"]:
        yield "asked without a reaction"
    if referee.drawn == "give":
        yield "drawn give"


def random_match(options, rng, events):
    """Play a random match, count rare events, return its record."""

    def shuffle(pile):
        rng.shuffle(pile)
        events["reshuffle in an action" if referee.window else "reshuffle on a turn"] += 1
        record["deals"][-1]["reshuffles"].append(list(pile))
        return pile

    referee = Referee(options, shuffle)
    record = {"format": "mitch-record", "version": 1, "game": "mitchell", "options": options, "seed": 0, "deals": []}
    record["agents"] = ["random"] * options["players"]
    while not referee.match_over:
        dealer, seats = referee.expected_deal()
        hands, stock = shuffled_deal(options, rng)
        entry = {"dealer": dealer, "seats": seats, "hands": hands, "stock": stock, "revealed": []}
        entry.update(reshuffles=[], moves=[])
        record["deals"].append(entry)
        referee.start_deal(dealer, seats, hands, stock)
        check_laws(referee)
        while not referee.deal_over:
            events.update(events_at(referee))
            move = rng.choice(referee.legal())
            entry["moves"].append({"seat": referee.actor, "move": move, "legal": referee.legal()})
            referee.apply(move)
            check_laws(referee)
        assert referee.n_turns <= options["max_turns"]
        entry["scores"] = referee.scores[-1]
        events["truncated" if referee.truncated else "finished"] += 1
        if not referee.truncated:
            events["won" if 200 in entry["scores"] else "blocked"] += 1
            events["no decision at all"] += not entry["moves"]
            events["won by a reaction"] += bool(entry["moves"]) and entry["moves"][-1]["move"] in REACTIONS
    assert len(referee.scores) <= options["rounds"]
    record.update(totals=referee.totals, winners=referee.winners(), truncated=referee.truncated)
    return record


def test_random_matches():
    rng = random.Random(11)
    events = Counter()
    for _ in range(400):
        record = random_match(random_options(rng), rng, events)
        assert check_record(record) == []
    for name in (
        "won",
        "blocked",
        "truncated",
        "no decision at all",
        "won by a reaction",
        "reshuffle in an action",
        "reshuffle on a turn",
        "empty hand with Mitchell",
        "empty hand without Mitchell plays on",
        "asked without a reaction",
        "drawn give",
    ):
        assert events[name] > 0, (name, events)


@pytest.mark.parametrize("players", [2, 5, 8])
def test_random_matches_with_the_default_deck(players):
    rng = random.Random(players)
    events = Counter()
    record = random_match(full_options(players=players), rng, events)
    assert check_record(record) == []
    assert not record["truncated"]
    assert max(record["totals"]) >= 1000
