"""Hand-made positions for the reference referee of Mitch: one or more for every ruling of docs/rules_mitch.md.

The scores are worked out by hand from the rule text. Hands and stocks are written in the notation of records.md.
"""

import copy
import itertools
import json
import random
from collections import Counter

import pytest
from reference.mitch import (
    ALLOWED,
    PRESETS,
    SUITS,
    Referee,
    RefereeError,
    check_record,
    count_nodes,
    count_positions_by_depth,
    full_options,
    pack,
)

# ------------------------------------------------------------------------------------------------------------------ helpers


def referee_for(game, **changes):
    return Referee(full_options(game, **changes))


def full_stock(options, hands, top, revealed):
    """`top`, then all cards that are not dealt yet (jokers that are still missing at the very end)."""
    gone = set(itertools.chain(top, revealed, *hands))
    rest = [card for card in pack(options) if card not in gone]
    if options["clock"] == "ace_stock":
        rest = [card for card in rest if card[0] != "A"]  # the top must name the aces that are used
    jokers = options["clock_cards"] - top.count("JK") if options["clock"] == "joker" else 0
    return top + rest + ["JK"] * jokers


def start(referee, hands, top="", revealed=""):
    """Starts the expected deal with these hands; the stock begins with `top` and holds all the other cards after it."""
    hands = [hand.split() for hand in hands]
    stock = full_stock(referee.options, hands, top.split(), revealed.split())
    referee.start_deal(*referee.expected_deal(), hands, stock, revealed.split())
    return referee


def play(referee, *moves):
    """Plays moves written as "0 play 9H": the seat that must be the actor, then its move."""
    for text in moves:
        seat, move = text.split(maxsplit=1)
        assert referee.actor == int(seat), f"seat{referee.actor} is to move, not {text}"
        referee.apply(move)
    return referee


def play_out(referee, *plans):
    """Plays a deal from the hands: by seat the cards to lay, in order; what is left is discarded (or laid on the ace pile)."""
    plans = [plan.split() for plan in plans]
    actors = []
    while not referee.deal_over:
        seat = referee.actor
        actors.append(seat)
        if plans[seat]:
            referee.apply("play " + plans[seat].pop(0))
        else:
            referee.apply(next(move for move in referee.legal() if not move.startswith("play")))
    return actors


# One suit, five ranks, one card in each of two hands, one joker: deals short enough to follow by eye.
TINY = {"players": 2, "deals": 1, "hand_size": 1, "clock_cards": 1, "suits": 1, "ranks": 5}


def tiny(**changes):
    return referee_for("mitch_jp", **{**TINY, **changes})


# ------------------------------------------------------------------------------------------------------------------ options


@pytest.mark.parametrize("game", PRESETS)
def test_presets_are_valid_and_complete(game):
    assert full_options(game) == PRESETS[game]
    assert list(PRESETS[game]) == list(ALLOWED)


def test_options_marked_with_a_dash_get_defaults_when_they_come_to_apply():
    russian = full_options("mitch_ru", scoring="suits")
    assert (russian["lost_column_penalty"], russian["shortest_double"], russian["waiting_penalty"]) == (True, False, False)
    assert full_options("mitch_jp", scoring="longest")["playoffs"] == 10
    assert full_options("mitch_jp")["playoffs"] is None


@pytest.mark.parametrize(
    ("game", "changes", "named"),
    [
        ("mitch_ru", {"take_discard": True}, "take_discard"),
        ("mitch_ru", {"closer_plays": True}, "closer_plays"),
        ("mitch_ru", {"scoring": "suits", "waiting_penalty": True}, "waiting_penalty"),
        ("mitch_jp", {"scoring": "longest", "shortest_double": True}, "shortest_double"),
        ("mitch_jp", {"scoring": "longest", "waiting_penalty": True}, "waiting_penalty"),
        ("mitch_original", {"suits": 2}, "clock_cards"),
        ("mitch_ru", {"suits": 2}, "clock_cards"),
        ("mitch_jp", {"suits": 1}, "hand_size"),
        ("mitch_jp", {"players": 1}, "players"),
        ("mitch_jp", {"players": 6}, "players"),
        ("mitch_jp", {"players": True}, "players"),
        ("mitch_jp", {"deals": 0}, "deals"),
        ("mitch_jp", {"deals": "many"}, "deals"),
        ("mitch_jp", {"hand_size": 0}, "hand_size"),
        ("mitch_jp", {"hand_size": None}, "hand_size"),
        ("mitch_jp", {"clock": "watch"}, "clock"),
        ("mitch_jp", {"clock": ["joker"]}, "clock"),
        ("mitch_jp", {"clock_cards": 5}, "clock_cards"),
        ("mitch_jp", {"must_place": 1}, "must_place"),
        ("mitch_jp", {"ranks": 1}, "ranks"),
        ("mitch_jp", {"suits": 5}, "suits"),
        ("mitch_jp", {"scoring": "longest", "playoffs": -1}, "playoffs"),
        ("mitch_jp", {"colour": "red"}, "colour"),
        ("mitch_xx", {}, "mitch_xx"),
    ],
)
def test_bad_options_are_refused_with_their_name(game, changes, named):
    with pytest.raises(RefereeError, match=named):
        full_options(game, **changes)


def test_options_without_effect_are_not_refused():
    full_options("mitch_jp", playoffs=3)
    full_options("mitch_ru", lost_column_penalty=True)


def test_the_pack_may_be_dealt_out_to_the_last_card_that_is_no_ace():
    full_options("mitch_original", players=2, hand_size=6, suits=3, ranks=5)
    with pytest.raises(RefereeError, match="hand_size"):
        full_options("mitch_original", players=2, hand_size=7, suits=3, ranks=5)
    full_options("mitch_ru", players=3, hand_size=5, suits=3, ranks=5)


def test_a_short_pack_has_the_first_suits_and_the_lowest_ranks():
    assert pack(full_options("mitch_jp", players=2, hand_size=2, suits=2, ranks=3)) == ["AS", "2S", "3S", "AH", "2H", "3H"]


# ----------------------------------------------------------------------------------------------------------- common to all

JP_HANDS = ["9H KS 2C 4D AS", "QD 9D 6D 3C 7S", "KH 8H 5C 2S TD"]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_J1_the_last_seat_deals_first_so_seat0_acts_first(players):
    referee = referee_for("mitch_jp", players=players, hand_size=1)
    assert referee.expected_deal() == (players - 1, list(range(players)))
    start(referee, ["2S", "3S", "4S", "5S", "6S"][:players])
    assert referee.actor == 0


def test_J1_over_three_deals_the_dealer_moves_one_seat_clockwise():
    referee = referee_for("mitch_jp")
    seen = []
    for _ in range(3):
        dealer, seats = referee.expected_deal()
        start(referee, JP_HANDS, "2H JK JK JK")
        seen.append((dealer, referee.actor, seats))
        play_out(referee, "", "", "")
    assert seen == [(2, 0, [0, 1, 2]), (0, 1, [0, 1, 2]), (1, 2, [0, 1, 2])]
    assert referee.match_over
    with pytest.raises(RefereeError, match="over"):
        referee.expected_deal()


def test_a_column_starts_anywhere_and_goes_down_with_gaps():
    """Q 9 6 of diamonds can be laid, Q 6 9 cannot: a skipped card can never be added later."""
    for order, last_is_legal in (("QD 9D 6D", True), ("QD 6D 9D", False)):
        first, second, last = order.split()
        referee = start(referee_for("mitch_jp"), JP_HANDS, "JK JK JK")
        play(referee, f"1 play {first}", "2 discard KH", "0 discard 9H", f"1 play {second}", "2 discard 8H", "0 discard KS")
        assert (f"play {last}" in referee.legal()) == last_is_legal
        assert f"discard {last}" in referee.legal()


def test_next_lower_takes_exactly_one_rank_lower_down_to_the_ace_of_a_joker_game():
    referee = start(tiny(hand_size=2, column_step="next_lower"), ["3S AS", "5S 4S"], "2S JK")
    play(referee, "0 play 3S")
    assert referee.closed and referee.actor == 0  # seat1 drew the joker
    assert referee.legal() == ["discard 2S", "discard AS", "play 2S"]
    play(referee, "0 play 2S", "1 play 4S")
    assert referee.legal() == ["discard AS", "play AS"]
    play(referee, "0 play AS")
    assert referee.legal() == ["discard 5S"]
    assert referee.columns(0) == {"S": ["3S", "2S", "AS"]}


def test_an_ace_may_start_a_column_of_a_joker_game_and_nothing_fits_below():
    referee = play(start(tiny(hand_size=2), ["3S AS", "5S 4S"], "2S JK"), "0 play AS")
    assert referee.legal() == ["discard 2S", "discard 3S"]


def test_equal_totals_share_the_win():
    referee = referee_for("mitch_jp")
    for _ in range(3):
        assert referee.winners() == []
        start(referee, JP_HANDS, "JK JK JK")
        play_out(referee, "", "", "")
    assert referee.scores == [[0, 0, 0]] * 3
    assert referee.totals == [0, 0, 0]
    assert referee.winners() == [0, 1, 2]


def test_a_move_between_deals_and_a_deal_within_a_deal_are_refused():
    referee = referee_for("mitch_jp")
    assert referee.actor is None and referee.legal() == [] and referee.deal_over and not referee.match_over
    with pytest.raises(RefereeError):
        referee.apply("draw")
    start(referee, JP_HANDS)
    with pytest.raises(RefereeError, match="still"):
        start(referee, JP_HANDS)


# ---------------------------------------------------------------------------------------------------------------- Japanese


def test_a_turn_is_a_draw_then_any_card_of_the_hand_also_the_drawn_one():
    referee = start(referee_for("mitch_jp"), JP_HANDS, "7H")
    assert sorted(referee.hand(0)) == sorted(["9H", "KS", "2C", "4D", "AS", "7H"])
    assert len(referee.legal()) == 12
    play(referee, "0 discard 7H")
    assert referee.discards == ["7H"]
    assert len(referee.hand(0)) == 5
    assert referee.actor == 1 and len(referee.hand(1)) == 6


def test_J2_the_stock_is_drawn_in_its_order_and_a_joker_is_replaced_at_once():
    referee = start(referee_for("mitch_jp"), JP_HANDS, "JK 7H JK 6H")
    assert referee.hand(0)[-1] == "7H" and referee.clock_seen == 1
    play(referee, "0 discard 7H")
    assert referee.hand(1)[-1] == "6H" and referee.clock_seen == 2
    assert not referee.closed
    assert "JK" not in referee.hand(0) + referee.hand(1)


def test_J2_a_joker_is_never_dealt_and_all_of_them_are_in_the_stock():
    referee = referee_for("mitch_jp")
    with pytest.raises(RefereeError, match="J2"):
        start(referee, ["JK KS 2C 4D AS", *JP_HANDS[1:]], "JK JK 9H")
    with pytest.raises(RefereeError, match="jokers"):
        start(referee, JP_HANDS, "JK JK JK JK")
    assert referee.expected_deal() == (2, [0, 1, 2])  # a refused deal changes nothing


def test_the_last_joker_passes_the_turn_and_five_rounds_from_the_hands_follow():
    referee = start(referee_for("mitch_jp"), JP_HANDS, "JK JK JK")
    assert referee.closed and referee.actor == 1
    assert [len(referee.hand(seat)) for seat in range(3)] == [5, 5, 5]
    assert play_out(referee, "", "", "") == [1, 2, 0] * 5
    assert referee.stock_left == 52 - 15


@pytest.mark.parametrize("jokers", [2, 4])
def test_the_number_of_jokers_is_an_option(jokers):
    referee = start(referee_for("mitch_jp", clock_cards=jokers), JP_HANDS, "JK " * jokers)
    assert referee.closed and referee.clock_seen == jokers and referee.actor == 1


HEARTS = ["KH JH 9H 5H 2S", "QH TH 8H 3S 4S", "7H 5S 6S 7S 8S"]
CLUBS = ["KC 9C 5C 2S 3S", "QC JC 3C 4S 5S", "6S 7S 8S 9S TS"]


def scores_of(hands, plans, **changes):
    referee = start(referee_for("mitch_jp", deals=1, **changes), hands, "JK JK JK")
    play_out(referee, *plans)
    assert referee.match_over and referee.totals == referee.scores[0]
    return referee.scores[0]


def test_source_example_hearts_of_4_3_and_1_cards():
    assert scores_of(HEARTS, ["KH JH 9H 5H", "QH TH 8H", "7H"]) == [4, -3, -1]


def test_source_example_clubs_K95_beats_QJ3():
    assert scores_of(CLUBS, ["KC 9C 5C", "QC JC 3C", ""]) == [4, -3, 0]


def test_leaders_follow_the_columns_while_the_deal_is_played():
    referee = start(referee_for("mitch_jp"), CLUBS, "JK JK JK")
    assert referee.leaders() == {"S": None, "H": None, "D": None, "C": None}
    play(referee, "1 play QC", "2 play 6S", "0 play KC")
    assert referee.leaders() == {"S": 2, "H": None, "D": None, "C": 0}
    play(referee, "1 play JC")
    assert referee.leaders()["C"] == 1


def test_ace_stock_counts_aces_drawn_from_the_stock_and_leaves_the_rest_unused():
    referee = referee_for("mitch_jp", clock="ace_stock")
    hands = ["9H KS 2C 4D 3S", *JP_HANDS[1:]]
    start(referee, hands, "AS AH 7H AC 6H")
    assert referee.hand(0)[-1] == "7H" and referee.clock_seen == 2 and not referee.closed
    play(referee, "0 discard 7H")
    assert referee.closed and referee.actor == 2 and len(referee.hand(1)) == 5
    assert referee.stock_left == 48 - 15 - 1


def test_J2_ace_stock_has_clock_cards_aces_in_the_stock_and_none_in_a_hand():
    referee = referee_for("mitch_jp", clock="ace_stock")
    with pytest.raises(RefereeError, match="AS"):
        start(referee, JP_HANDS, "AH AC AD")
    hands = ["9H KS 2C 4D 3S", *JP_HANDS[1:]]
    with pytest.raises(RefereeError, match="must have 3"):
        start(referee, hands, "AH AC")
    with pytest.raises(RefereeError, match="must have 3"):
        start(referee, hands, "AH AC AD AS")
    with pytest.raises(RefereeError, match="2 times"):
        start(referee, hands, "AH AH AD")


ORIGINAL_HANDS = ["9H KS 2C 4D 3S", "QD 9D 6D 3C 7S", "KH 8H 5C 2S TD"]


def test_J3_dealt_aces_count_for_the_clock_and_the_first_turn_draws_as_usual():
    referee = start(referee_for("mitch_original"), ORIGINAL_HANDS, "7H AC", revealed="AS AH")
    assert referee.clock_seen == 2 and not referee.closed
    assert referee.actor == 0 and len(referee.hand(0)) == 6
    play(referee, "0 discard 7H")
    assert referee.closed and referee.actor == 2  # seat1 drew the third ace and neither plays nor discards


def test_J3_the_closing_ace_among_the_dealt_ones_closes_the_stock_from_the_start():
    referee = start(referee_for("mitch_original"), ORIGINAL_HANDS, revealed="AS AH AC")
    assert referee.closed and referee.actor == 0
    assert [len(referee.hand(seat)) for seat in range(3)] == [5, 5, 5]
    assert play_out(referee, "", "", "") == [0, 1, 2] * 5


def test_J3_hands_are_full_and_without_aces_when_the_first_turn_begins():
    referee = referee_for("mitch_original")
    with pytest.raises(RefereeError, match="AS"):
        start(referee, ["9H KS 2C 4D AS", *ORIGINAL_HANDS[1:]])
    with pytest.raises(RefereeError, match="4 cards"):
        start(referee, ["9H KS 2C 4D", *ORIGINAL_HANDS[1:]], revealed="AS")
    with pytest.raises(RefereeError, match="no ace"):
        start(referee, ORIGINAL_HANDS, revealed="QS")
    with pytest.raises(RefereeError, match="2 times"):
        start(referee, ORIGINAL_HANDS, revealed="AS AS")
    with pytest.raises(RefereeError, match="turned up"):
        start(referee_for("mitch_jp"), ORIGINAL_HANDS, revealed="AS")


def test_J4_the_top_discard_is_taken_into_the_own_column_and_the_turn_ends():
    referee = start(referee_for("mitch_jp", take_discard=True), JP_HANDS, "7H JK 6H")
    play(referee, "0 discard 9H")
    assert referee.legal() == ["draw", "take 9H"]  # a new column may start with it (J10)
    hand = referee.hand(1)
    play(referee, "1 take 9H")
    assert referee.hand(1) == hand and referee.columns(1) == {"H": ["9H"]} and referee.discards == []
    assert referee.actor == 2 and referee.hand(2)[-1] == "6H"  # no discard is left: the draw happens by itself
    play(referee, "2 discard 6H")
    assert referee.legal() == ["draw", "take 6H"]
    play(referee, "0 draw")
    assert len(referee.hand(0)) == 6 and "discard 7H" in referee.legal()


def test_J4_the_choice_is_asked_for_only_when_the_top_discard_fits():
    referee = start(referee_for("mitch_jp", take_discard=True), JP_HANDS, "7H 6S 6H")
    play(referee, "0 play 7H", "1 discard QD", "2 draw", "2 discard KH")
    assert referee.actor == 0
    assert "draw" not in referee.legal()  # KH does not go below 7H; QD below it in the pile cannot be taken
    assert len(referee.hand(0)) == 6


def test_J4_nothing_is_taken_once_the_stock_is_closed():
    referee = start(referee_for("mitch_jp", take_discard=True), JP_HANDS, "7H JK JK JK")
    play(referee, "0 discard 9H")
    play(referee, "1 draw")
    assert referee.closed and referee.actor == 2
    assert all(move.split()[0] in ("play", "discard") for move in referee.legal())


def test_J5_the_closer_still_plays_one_card_and_the_others_have_one_more():
    referee = start(referee_for("mitch_jp", closer_plays=True), JP_HANDS, "JK JK JK")
    assert referee.closed and referee.actor == 0 and len(referee.hand(0)) == 5
    assert play_out(referee, "", "", "") == [0] + [1, 2, 0] * 4 + [1, 2]


def test_J5_with_one_card_a_hand_the_empty_closer_is_skipped():
    referee = start(tiny(players=3, closer_plays=True), ["5S", "4S", "3S"], "JK")
    play(referee, "0 play 5S", "1 play 4S", "2 play 3S")
    assert referee.deal_over and referee.scores == [[4, -1, -1]]
    referee = start(tiny(players=3, closer_plays=True), ["5S", "4S", "3S"], "2S JK")
    play(referee, "0 play 5S", "1 play 4S", "2 play 3S", "0 play 2S")
    assert referee.deal_over and referee.scores == [[4, -1, -1]]


def test_hand_size_1_without_closer_plays_ends_with_the_closer():
    referee = start(tiny(players=3), ["5S", "4S", "3S"], "JK")
    play(referee, "1 play 4S", "2 discard 3S", "0 play 5S")
    assert referee.match_over and referee.scores == [[4, -1, 0]]


def test_J6_who_could_place_while_the_stock_was_open_and_did_not_loses_10():
    """Seat0 declines once and lays 3S too late; seat1 never has a decision while the stock is open."""
    referee = start(tiny(waiting_penalty=True), ["5S", "4S"], "3S JK")
    play(referee, "0 discard 5S", "0 play 3S", "1 play 4S")
    assert referee.scores == [[-1 - 10, 4]]


def test_J6_a_placement_while_the_stock_is_open_saves():
    referee = start(tiny(waiting_penalty=True), ["5S", "4S"], "3S JK")
    play(referee, "0 play 5S", "0 discard 3S", "1 discard 4S")
    assert referee.scores == [[4, 0]]


def test_J6_taking_a_discard_is_placing():
    referee = start(tiny(waiting_penalty=True, take_discard=True), ["5S", "4S"], "3S JK")
    play(referee, "0 discard 3S", "1 take 3S", "1 discard 4S", "0 play 5S")
    assert referee.scores == [[4 - 10, -1]]


def test_J6_without_the_option_waiting_is_free():
    referee = start(tiny(), ["5S", "4S"], "3S JK")
    play(referee, "0 discard 5S", "0 play 3S", "1 play 4S")
    assert referee.scores == [[-1, 4]]


SHORT = {"players": 2, "deals": 1, "hand_size": 3, "clock_cards": 1, "suits": 2}
SHORT_HANDS = ["KS QS 2H", "KH QH JS"]


def test_J7_shortest_double_counts_each_of_equally_short_winning_columns_double():
    """Spades: 2 cards against 1; hearts: 2 cards alone. The losing column of one card does not count as the shortest."""
    referee = start(referee_for("mitch_jp", shortest_double=True, **SHORT), SHORT_HANDS, "JK")
    play_out(referee, "KS QS", "KH QH JS")
    assert referee.scores == [[8, 8 - 1]]


def test_J7_shortest_double_counts_only_the_shortest_of_different_lengths():
    referee = start(referee_for("mitch_jp", shortest_double=True, **SHORT), SHORT_HANDS, "JK")
    play_out(referee, "KS", "KH QH JS")
    assert referee.scores == [[8, 4 - 1]]


def test_J7_shortest_double_of_a_single_won_suit_and_of_none():
    referee = start(referee_for("mitch_jp", shortest_double=True, **SHORT), SHORT_HANDS, "JK")
    play_out(referee, "KS QS", "JS")
    assert referee.scores == [[8, -1]]
    referee = start(referee_for("mitch_jp", shortest_double=True, **SHORT), SHORT_HANDS, "JK")
    play_out(referee, "", "")
    assert referee.scores == [[0, 0]]


def test_J8_tie_break_low_lets_the_lower_bottom_card_win():
    assert scores_of(CLUBS, ["KC 9C 5C", "QC JC 3C", ""], tie_break="low") == [-3, 4, 0]
    assert scores_of(HEARTS, ["KH JH 9H 5H", "QH TH 8H", "7H"], tie_break="low") == [4, -3, -1]


def test_J8_tie_break_low_holds_for_leaders_and_longest_too():
    referee = start(referee_for("mitch_jp", scoring="longest", tie_break="low", deals=1), CLUBS, "JK JK JK")
    play(referee, "1 play QC", "2 discard 6S", "0 play KC")
    assert referee.leaders()["C"] == 1
    play_out(referee, "9C 5C", "JC 3C", "")
    assert referee.scores == [[0, 1, 0]]


def test_J9_without_lost_column_penalty_lost_columns_cost_nothing():
    assert scores_of(HEARTS, ["KH JH 9H 5H", "QH TH 8H", "7H"], lost_column_penalty=False) == [4, 0, 0]


MUST_AND_TAKE = {"must_place": True, "take_discard": True, "column_step": "next_lower", "suits": 2}


def test_J10_the_choice_to_draw_or_take_is_free_under_must_place():
    referee = start(tiny(**MUST_AND_TAKE), ["5S", "4S"], "3S 2S AS 5H JK")
    assert referee.legal() == ["play 3S", "play 5S"]  # must_place binds
    play(referee, "0 play 3S", "1 play 2S")
    assert referee.legal() == ["discard 5S", "discard AS"]  # nothing fits below 3S but 2S
    play(referee, "0 discard AS")
    assert referee.legal() == ["draw", "take AS"]
    play(referee, "1 draw")
    assert referee.legal() == ["play 5H"]  # after the draw must_place binds again: 4S may not be discarded
    play(referee, "1 play 5H")
    # seat0 drew the joker: closed, free
    assert referee.actor == 1 and referee.closed


def test_J10_a_take_under_must_place_may_start_a_new_column():
    referee = start(tiny(**MUST_AND_TAKE), ["5S", "4H"], "3S 3H AS 2S JK")
    play(referee, "0 play 3S", "1 play 4H", "0 discard AS")
    assert referee.legal() == ["draw", "take AS"]
    play(referee, "1 take AS")
    assert referee.columns(1) == {"H": ["4H"], "S": ["AS"]} and referee.hand(1) == ["3H"]


def test_J11_the_closer_is_free_under_must_place():
    referee = start(tiny(must_place=True, closer_plays=True), ["5S", "4S"], "JK")
    assert referee.legal() == ["discard 5S", "play 5S"]


def test_J11_the_decision_of_a_closer_is_no_chance():
    referee = start(tiny(closer_plays=True, waiting_penalty=True), ["5S", "4S"], "JK")
    play(referee, "0 discard 5S", "1 play 4S")
    assert referee.scores == [[0, 4]]


def test_J11_the_placement_of_a_closer_does_not_save():
    referee = start(tiny(closer_plays=True, waiting_penalty=True), ["5S", "4S"], "3S 2S JK")
    play(referee, "0 discard 5S", "1 play 4S", "0 play 3S", "1 play 2S")
    assert referee.scores == [[-1 - 10, 4]]


def test_J11_draw_or_take_is_a_chance_whatever_the_draw_turns_up():
    referee = start(tiny(take_discard=True, waiting_penalty=True), ["5S", "4S"], "3S JK")
    play(referee, "0 discard 3S", "1 draw", "0 play 5S", "1 discard 4S")
    assert referee.scores == [[4 - 10, -10]]


def test_J11_a_closer_by_draw_instead_of_take_still_had_that_chance():
    referee = start(tiny(take_discard=True, waiting_penalty=True, closer_plays=True), ["5S", "4S"], "3S JK")
    play(referee, "0 discard 3S", "1 draw", "1 play 4S", "0 play 5S")
    assert referee.scores == [[4 - 10, -1 - 10]]


def test_J12_more_aces_may_be_turned_up_than_close_the_stock():
    referee = start(referee_for("mitch_original", clock_cards=2), ORIGINAL_HANDS, revealed="AD AS AH AC")
    assert referee.clock_seen == 4 and referee.closed and referee.actor == 0
    assert play_out(referee, "KS 3S", "", "") == [0, 1, 2] * 5
    assert referee.scores == [[4, 0, 0]]


def test_J12_with_one_clock_card_any_dealt_ace_closes_before_the_first_turn():
    referee = start(referee_for("mitch_original", clock_cards=1, closer_plays=True), ORIGINAL_HANDS, revealed="AD")
    assert referee.closed and referee.actor == 0 and len(referee.hand(0)) == 5


# ----------------------------------------------------------------------------------------------------------------- Russian

RU = {"players": 2, "hand_size": 2, "clock_cards": 2, "suits": 2, "ranks": 6}
NO_STOCK = {"players": 2, "hand_size": 2, "clock_cards": 1, "suits": 1, "ranks": 4, "playoffs": 0}


def test_R1_while_the_stock_is_open_only_placements_are_legal_if_there_is_one():
    referee = start(referee_for("mitch_ru", **RU), ["5S AS", "4H 3H"], "3S 6H 2S")
    assert referee.legal() == ["play 5S"]
    play(referee, "0 play 5S")
    assert sorted(referee.hand(0)) == ["3S", "AS"]
    play(referee, "1 play 4H")
    assert referee.legal() == ["ace AS", "discard 3S"]  # 3S is not the next below 5S


def test_R1_without_must_place_discards_and_aces_are_always_legal():
    referee = start(referee_for("mitch_ru", must_place=False, **RU), ["5S AS", "4H 3H"])
    assert referee.legal() == ["ace AS", "discard 5S", "play 5S"]


def test_R1_in_stage_2_the_choice_is_free():
    referee = start(referee_for("mitch_ru", **{**RU, "clock_cards": 1}), ["AH AS", "4H 3H"])
    play(referee, "0 ace AS")
    assert referee.closed
    assert referee.legal() == ["discard 3H", "discard 4H", "play 3H", "play 4H"]


def test_R2_laying_an_ace_is_the_whole_move_and_is_followed_by_a_draw_but_for_the_closing_one():
    referee = start(referee_for("mitch_ru", **RU), ["AH AS", "4H 3H"], "6S 2H 5S 2S 3S 4S")
    play(referee, "0 ace AH")
    assert referee.hand(0) == ["AS", "6S"] and referee.actor == 1
    assert referee.clock_seen == 1 and not referee.closed
    play(referee, "1 play 4H", "0 play 6S", "1 play 3H", "0 play 5S", "1 play 2H")
    assert referee.hand(0) == ["AS", "3S"] and referee.stock_left == 2
    play(referee, "0 ace AS")
    assert referee.closed and referee.hand(0) == ["3S"] and referee.stock_left == 2
    play(referee, "1 discard 2S", "0 discard 3S", "1 play 4S")
    assert referee.match_over and referee.scores == [[0, 1]]  # 4H 3H 2H against 6S 5S


def test_R2_the_closing_player_has_one_card_less_and_is_skipped_at_the_end():
    referee = start(referee_for("mitch_ru", **{**RU, "clock_cards": 1}), ["AH AS", "4H 3H"])
    play(referee, "0 ace AS", "1 play 4H", "0 ace AH", "1 play 3H")
    assert referee.match_over and referee.scores == [[0, 1]]


def test_R3_an_ace_is_never_discarded_nor_played():
    referee = start(referee_for("mitch_ru", **RU), ["AH AS", "4H 3H"])
    assert referee.legal() == ["ace AH", "ace AS"]
    for move in ("discard AS", "play AS"):
        with pytest.raises(RefereeError, match="illegal"):
            referee.apply(move)


def test_R4_without_any_stock_stage_2_begins_with_the_first_turn():
    referee = start(referee_for("mitch_ru", **NO_STOCK), ["4S 2S", "3S AS"])
    assert referee.closed and referee.stock_left == 0
    assert referee.legal() == ["discard 2S", "discard 4S", "play 2S", "play 4S"]  # must_place does not bind
    play(referee, "0 discard 2S", "1 ace AS", "0 play 4S", "1 play 3S")
    assert referee.match_over and referee.scores == [[1, 0]]


def test_R4_once_the_stock_is_empty_stage_2_begins_with_the_next_turn():
    referee = start(referee_for("mitch_ru", **{**NO_STOCK, "ranks": 5}), ["4S 2S", "3S AS"])
    assert not referee.closed and referee.legal() == ["play 2S", "play 4S"]
    play(referee, "0 play 4S")
    assert referee.hand(0) == ["2S", "5S"] and referee.closed  # the last card was drawn
    assert referee.legal() == ["ace AS", "discard 3S", "play 3S"]
    play(referee, "1 discard 3S")
    assert referee.hand(1) == ["AS"]
    play(referee, "0 discard 2S", "1 ace AS", "0 discard 5S")
    assert referee.match_over and referee.scores == [[1, 0]]


def test_R5_aces_left_in_stage_2_are_laid_as_the_move_of_a_turn_without_effect():
    referee = start(referee_for("mitch_ru", must_place=False, **{**RU, "clock_cards": 1}), ["AH 6S", "AS 5S"])
    play(referee, "0 ace AH")
    assert referee.closed and referee.legal() == ["ace AS", "discard 5S", "play 5S"]
    play(referee, "1 ace AS")
    assert referee.clock_seen == 2 and referee.stock_left == 8 and referee.discards == []
    play(referee, "0 play 6S", "1 play 5S")
    assert referee.match_over and referee.scores == [[1, 0]]


def test_R6_without_a_column_all_who_took_part_are_tied():
    referee = start(referee_for("mitch_ru", **NO_STOCK), ["4S 2S", "3S AS"])
    play_out(referee, "", "")
    assert referee.match_over and referee.scores == [[1, 1]] and referee.winners() == [0, 1]
    referee = start(referee_for("mitch_ru", **{**NO_STOCK, "playoffs": 1}), ["4S 2S", "3S AS"])
    play_out(referee, "", "")
    assert referee.scores == [[0, 0]] and referee.expected_deal() == (0, [0, 1])


# Four players, four cards, no stock: the holders of the twos tie at once.
FOUR = {"players": 4, "hand_size": 1, "clock_cards": 2, "suits": 2, "ranks": 2}


def test_R7_play_offs_are_dealt_among_the_tied_and_the_next_deal_goes_on_from_the_last_regular_dealer():
    referee = referee_for("mitch_ru", deals=2, playoffs=2, **FOUR)
    start(referee, ["AS", "2S", "AH", "2H"])
    play(referee, "0 ace AS", "1 play 2S", "2 ace AH", "3 play 2H")
    assert referee.scores == [[0, 0, 0, 0]]
    # the last dealer is seat3: the next tied seat clockwise is seat1, and seat3 acts first
    assert referee.expected_deal() == (1, [1, 3])
    start(referee, ["", "2S", "", "2H"], "AS AH")
    play(referee, "3 play 2H", "1 play 2S", "3 ace AS", "1 ace AH")
    assert referee.scores == [[0, 0, 0, 0]] * 2
    assert referee.expected_deal() == (3, [1, 3])
    start(referee, ["", "2S", "", "2H"], "AS AH")
    assert referee.hand(0) == [] and referee.columns(0) == {}
    play(referee, "1 play 2S", "3 play 2H", "1 ace AS", "3 ace AH")
    assert referee.scores[-1] == [0, 1, 0, 1]  # two play-offs were the most: shared
    # the second regular deal: seat0 follows the last regular dealer seat3, all take part, the limit counts anew
    assert referee.expected_deal() == (0, [0, 1, 2, 3])
    start(referee, ["AS", "2S", "AH", "2H"])
    play(referee, "1 play 2S", "2 ace AH", "3 play 2H", "0 ace AS")
    assert referee.expected_deal() == (1, [1, 3]) and not referee.match_over
    start(referee, ["", "2S", "", "AS"], "2H AH")
    play(referee, "3 ace AS", "1 play 2S", "3 discard 2H", "1 ace AH")
    assert referee.match_over
    assert referee.scores[-1] == [0, 1, 0, 0]
    assert referee.totals == [0, 2, 0, 1] and referee.winners() == [1]


def test_R7_who_sits_out_gets_no_cards_and_everybody_tied_does():
    referee = referee_for("mitch_ru", **FOUR)
    start(referee, ["AS", "2S", "AH", "2H"])
    play(referee, "0 ace AS", "1 play 2S", "2 ace AH", "3 play 2H")
    for hands in (["AS", "2S", "AH", "2H"], ["", "2S", "", ""]):
        with pytest.raises(RefereeError, match="cards"):
            start(referee, hands)
    with pytest.raises(RefereeError, match="seats"):
        referee.start_deal(1, [0, 1, 2, 3], [[], ["2S"], [], ["2H"]], ["AS", "AH"], [])
    with pytest.raises(RefereeError, match="dealer"):
        referee.start_deal(3, [1, 3], [[], ["2S"], [], ["2H"]], ["AS", "AH"], [])


def test_R7_a_play_off_may_leave_fewer_seats_tied():
    referee = referee_for("mitch_ru", playoffs=2, players=3, hand_size=1, suits=3, ranks=2)
    start(referee, ["2S", "2H", "2D"], "AS AH AD")
    play(referee, "0 play 2S", "1 play 2H", "2 play 2D", "0 ace AS", "1 ace AH", "2 ace AD")
    assert referee.expected_deal() == (0, [0, 1, 2])
    start(referee, ["AS", "2H", "2D"], "2S AH AD")
    play(referee, "1 play 2H", "2 play 2D", "0 ace AS", "1 discard 2S", "2 ace AH", "0 ace AD")
    assert referee.expected_deal() == (1, [1, 2])
    start(referee, ["", "2H", "2D"], "2S AS AH AD")
    assert referee.actor == 2


def test_R7_without_playoffs_the_tied_share_the_win_at_once():
    referee = start(referee_for("mitch_ru", playoffs=0, **FOUR), ["AS", "2S", "AH", "2H"])
    play_out(referee, "", "2S", "", "2H")
    assert referee.match_over and referee.scores == [[0, 1, 0, 1]]


def test_R7_a_play_off_without_columns_ties_only_those_who_took_part():
    referee = referee_for("mitch_ru", playoffs=1, must_place=False, **FOUR)
    play_out(start(referee, ["AS", "2S", "AH", "2H"]), "", "2S", "", "2H")
    play_out(start(referee, ["", "AS", "", "AH"], "2S 2H"), "", "", "", "")
    assert referee.match_over and referee.scores == [[0, 0, 0, 0], [0, 1, 0, 1]]


def test_R8_the_longest_column_scores_1_and_among_equals_the_higher_bottom_card():
    hands = ["KH QH 9C 7C 2S", "JD TD 9D 3S 4S", "8H 7H 6H 5S 6S"]
    referee = start(referee_for("mitch_ru", clock="joker", deals=1), hands, "JK JK JK")
    play_out(referee, "KH QH 9C", "JD TD 9D", "8H 7H 6H")  # two columns of 2 and 1 cards do not add up
    assert referee.scores == [[0, 1, 0]]
    assert referee.totals == [0, 1, 0] and referee.winners() == [1]


def test_R8_equal_length_and_equal_bottom_cards_of_two_suits_tie():
    hands = ["TH 9H 2S 3S 4S", "TD 9D 8C 3C 5S", "8S 8H 7D 2C 2D"]
    referee = start(referee_for("mitch_ru", clock="joker", playoffs=0), hands, "JK JK JK")
    play_out(referee, "TH 9H", "TD 9D", "8S")
    assert referee.scores == [[1, 1, 0]] and referee.winners() == [0, 1]


def test_R9_longest_with_jokers_and_with_aces_in_the_stock():
    for clock, top in (("joker", "JK JK JK"), ("ace_stock", "AS AH AD"), ("ace_deck", "AS AH AD")):
        referee = start(referee_for("mitch_jp", clock=clock, scoring="longest", deals=1), CLUBS, top)
        play_out(referee, "KC 9C 5C", "QC JC 3C", "9S")
        assert referee.scores == [[1, 0, 0]]


def test_R9_suits_scoring_with_aces_in_the_hands():
    """Spades: one card each, the higher wins; hearts: two cards alone."""
    changes = {**RU, "hand_size": 3, "clock_cards": 1}
    referee = start(referee_for("mitch_ru", scoring="suits", must_place=False, **changes), ["AS 5S 3S", "4S 4H 3H"])
    play(referee, "0 ace AS", "1 play 4S", "0 play 5S", "1 play 4H", "0 discard 3S", "1 play 3H")
    assert referee.scores == [[4, 4 - 1]] and referee.winners() == [0]


# ----------------------------------------------------------------------------------------------------------- chance outcomes


@pytest.mark.parametrize(
    ("hands", "stock", "named"),
    [
        ([["5S"], ["4S"]], ["3S", "JK", "2S"], "AS is missing"),
        ([["5S"], ["4S"]], ["3S", "JK", "2S", "AS", "AS"], "2 times"),
        ([["5S"], ["5S"]], ["3S", "JK", "2S", "AS"], "2 times"),
        ([["5S"], ["4S"]], ["3S", "JK", "2S", "AS", "6S"], "not in the pack"),
        ([["5S", "4S"], []], ["3S", "JK", "2S", "AS"], "2 cards"),
        ([["5S"], ["4S"], []], ["3S", "JK", "2S", "AS"], "hands"),
        ([["5S"], ["4S"]], ["3S", "2S", "AS"], "0 jokers"),
        ([["5S"], [4]], ["3S", "JK", "2S", "AS"], "list of cards"),
        ([["5S"], ["4S"]], None, "list of cards"),
        (None, ["3S"], "hands"),
        ([["5S"], ["4S"]], ["3S", "JK", "2S", "AS", ""], "not in the pack"),
    ],
)
def test_a_deal_that_cannot_have_come_out_is_refused(hands, stock, named):
    with pytest.raises(RefereeError, match=named):
        tiny().start_deal(1, [0, 1], hands, stock)


# ----------------------------------------------------------------------------------------------------------------- counting


def test_count_of_a_deal_closed_at_once():
    """Seat1 plays or discards its card, then seat0: 1 + 2 + 4."""
    options = full_options("mitch_jp", **{**TINY, "ranks": 2})
    assert count_positions_by_depth(options, [["AS"], ["2S"]], ["JK"]) == [1, 2, 4]
    assert count_nodes(options, [["AS"], ["2S"]], ["JK"]) == 7


def test_count_of_a_deal_with_one_draw():
    """Seat0 has 4 moves; seat1 draws the joker; seat0 lays its other card unless 3S is below AS: 2 + 1 + 2 + 2; seat1 has 2."""
    options = full_options("mitch_jp", **{**TINY, "ranks": 3})
    assert count_positions_by_depth(options, [["3S"], ["2S"]], ["AS", "JK"]) == [1, 4, 7, 14]


def test_count_leaves_play_offs_and_further_deals_aside():
    options = full_options("mitch_ru", deals=2, playoffs=2, **FOUR)
    assert count_positions_by_depth(options, [["AS"], ["2S"], ["AH"], ["2H"]], []) == [1, 1, 2, 2, 4]


def test_count_over_all_deals_of_the_smallest_miniature():
    """jp, 2 players, 1 deal, 1 suit, 5 ranks, hand 2, 1 joker, all 30 x 2 deals: the decisions are the rules' "about 9,000"."""
    options = full_options("mitch_jp", **{**TINY, "hand_size": 2})
    cards = pack(options)
    n_decisions = n_ends = 0
    for first in itertools.combinations(cards, 2):
        for second in itertools.combinations([card for card in cards if card not in first], 2):
            rest = [card for card in cards if card not in first + second]
            for stock in ([*rest, "JK"], ["JK", *rest]):
                # the number of decisions to the end is the same on every path: the ends are the deepest level
                *before, ends = count_positions_by_depth(options, [list(first), list(second)], stock)
                n_decisions += sum(before)
                n_ends += ends
    assert (n_decisions, n_ends) == (8_910, 8_610)


# ------------------------------------------------------------------------------------------------------- random whole matches


def random_options(rng):
    """A game and valid options, miniatures and full packs mixed."""
    while True:
        changes = {
            "players": rng.randint(2, 5),
            "deals": rng.choice(["players", 1, 2]),
            "hand_size": rng.choice([1, 2, 3, 5]),
            "clock": rng.choice(["joker", "ace_stock", "ace_deck", "ace_hand"]),
            "clock_cards": rng.randint(1, 4),
            "column_step": rng.choice(["any_lower", "next_lower"]),
            "must_place": rng.random() < 0.5,
            "take_discard": rng.random() < 0.5,
            "closer_plays": rng.random() < 0.5,
            "scoring": rng.choice(["suits", "longest"]),
            "lost_column_penalty": rng.random() < 0.5,
            "tie_break": rng.choice(["high", "low"]),
            "shortest_double": rng.random() < 0.3,
            "waiting_penalty": rng.random() < 0.3,
            "playoffs": rng.choice([0, 1, 3]),
            "suits": rng.randint(1, 4),
            "ranks": rng.choice([2, 3, 5, 13]),
        }
        game = rng.choice(list(PRESETS))
        try:
            return game, full_options(game, **changes)
        except RefereeError:
            continue


def random_deal(rng, options, dealer, seats):
    """(hands, stock, revealed) as the rules deal them: J2 shuffles the markers in, J3 and J12 replace dealt aces."""
    cards = pack(options)
    markers = []
    if options["clock"] == "joker":
        markers = ["JK"] * options["clock_cards"]
    if options["clock"] == "ace_stock":
        aces = [card for card in cards if card[0] == "A"]
        cards = [card for card in cards if card[0] != "A"]
        markers = rng.sample(aces, options["clock_cards"])
    rng.shuffle(cards)
    hands = [[] for _ in range(options["players"])]
    for seat in seats:
        hands[seat] = [cards.pop(0) for _ in range(options["hand_size"])]
    revealed = []
    if options["clock"] == "ace_deck":
        for step in range(1, options["players"] + 1):
            hand = hands[(dealer + step) % options["players"]]
            for place in range(len(hand)):
                while hand[place][0] == "A":
                    revealed.append(hand[place])
                    hand[place] = cards.pop(0)
    stock = cards + markers
    if markers:
        rng.shuffle(stock)
    return hands, stock, revealed


def all_cards(referee):
    places = [referee.stock, referee.discard_pile, referee.clock_pile, *referee.hands]
    places += [column for tableau in referee.tableaus for column in tableau.values()]
    return Counter(itertools.chain(*places))


def assert_laws(referee, cards_at_start):
    assert all_cards(referee) == cards_at_start
    for seat in range(referee.n_players):
        for suit, column in referee.columns(seat).items():
            ranks = ["A23456789TJQK".index(card[0]) for card in column]
            assert all(card[1] == suit for card in column)
            assert ranks == sorted(set(ranks), reverse=True)
            if referee.options["clock"] != "joker":
                assert 0 not in ranks
    if not referee.deal_over:
        legal = referee.legal()
        assert legal and legal == sorted(set(legal)) and referee.actor in referee.seats


def random_record(rng, game, options, with_laws=False):
    """Plays a whole match at random and writes its record."""
    referee = Referee(options)
    deals = []
    while not referee.match_over:
        dealer, seats = referee.expected_deal()
        hands, stock, revealed = random_deal(rng, options, dealer, seats)
        referee.start_deal(dealer, seats, hands, stock, revealed)
        cards_at_start = all_cards(referee)
        moves = []
        while not referee.deal_over:
            legal = referee.legal()
            if with_laws:
                assert_laws(referee, cards_at_start)
            move = rng.choice(legal)
            moves.append({"seat": referee.actor, "move": move, "legal": rng.sample(legal, len(legal))})
            referee.apply(move)
        assert_laws(referee, cards_at_start)
        assert not any(referee.hands)
        deals.append({
            "dealer": dealer, "seats": seats, "hands": hands, "stock": stock, "revealed": revealed, "reshuffles": [],
            "moves": moves, "scores": referee.scores[-1],
        })  # fmt: skip
    record = {
        "format": "mitch-record", "version": 1, "game": game, "options": options, "seed": 7,
        "agents": ["random"] * options["players"], "deals": deals, "totals": referee.totals, "winners": referee.winners(),
        "truncated": False,
    }  # fmt: skip
    return json.loads(json.dumps(record))


@pytest.mark.parametrize("seed", range(150))
def test_random_matches_end_keep_all_cards_and_replay(seed):
    rng = random.Random(seed)
    game, options = random_options(rng)
    record = random_record(rng, game, options, with_laws=True)
    assert check_record(record) == []
    if options["scoring"] == "longest":
        regular = options["players"] if options["deals"] == "players" else options["deals"]
        assert regular <= len(record["deals"]) <= regular * (1 + options["playoffs"])
        for deal in record["deals"]:
            assert all(points in (0, 1) for points in deal["scores"])


def test_a_clone_plays_on_by_itself():
    rng = random.Random(1)
    referee = start(referee_for("mitch_jp", take_discard=True, waiting_penalty=True), JP_HANDS)
    while not referee.deal_over:
        before = copy.deepcopy(vars(referee))
        twin = referee.clone()
        twin.apply(rng.choice(twin.legal()))
        assert vars(referee) == before
        referee = twin


# ------------------------------------------------------------------------------------------------------------------ records


@pytest.fixture(scope="module")
def good_record():
    return random_record(random.Random(3), "mitch_original", full_options("mitch_original", take_discard=True, deals=2))


def test_a_good_record_has_no_problems_and_legal_may_be_left_out(good_record):
    assert check_record(good_record) == []
    record = copy.deepcopy(good_record)
    for deal in record["deals"]:
        for move in deal["moves"]:
            del move["legal"]
    record["options"].pop("playoffs")  # does not apply
    assert check_record(record) == []


def swap_first_and_last(cards):
    cards[0], cards[-1] = cards[-1], cards[0]


TAMPERINGS = {
    "format": lambda r: r.update(format="chess-record"),
    "version": lambda r: r.update(version=2),
    "version as bool": lambda r: r.update(version=True),
    "seed": lambda r: r.pop("seed"),
    "agents": lambda r: r["agents"].pop(),
    "game": lambda r: r.update(game="mitchell"),
    "no game": lambda r: r.pop("game"),
    "options": lambda r: r.update(options=[]),
    "unknown option": lambda r: r["options"].update(colour="red"),
    "option named game": lambda r: r["options"].update(game="mitch_jp"),
    "option left out": lambda r: r["options"].pop("hand_size"),
    "option null": lambda r: r["options"].update(lost_column_penalty=None),
    "option value": lambda r: r["options"].update(players=4),
    "truncated": lambda r: r.update(truncated=True),
    "no truncated": lambda r: r.pop("truncated"),
    "totals": lambda r: swap_first_and_last(r["totals"]),
    "winners": lambda r: r.update(winners=[0, 1, 2] if len(r["winners"]) < 3 else [0]),
    "no deals": lambda r: r.pop("deals"),
    "deal missing": lambda r: r["deals"].pop(),
    "deal too many": lambda r: r["deals"].append(r["deals"][0]),
    "deal null": lambda r: r["deals"].__setitem__(1, None),
    "dealer": lambda r: r["deals"][0].update(dealer=0),
    "seats": lambda r: r["deals"][0].update(seats=[0, 1]),
    "hands": lambda r: r["deals"][0]["hands"][0].pop(),
    "hand card": lambda r: r["deals"][0]["hands"][0].__setitem__(0, "9X"),
    "ace in a hand": lambda r: r["deals"][0]["hands"][0].__setitem__(0, "AS"),
    "stock": lambda r: r["deals"][1]["stock"].pop(),
    "stock order": lambda r: r["deals"][0]["stock"].reverse(),
    "revealed": lambda r: r["deals"][0].pop("revealed"),
    "reshuffles": lambda r: r["deals"][0].update(reshuffles=[["9H"]]),
    "seat of a move": lambda r: r["deals"][0]["moves"][0].update(seat=2),
    "illegal move": lambda r: r["deals"][0]["moves"][3].update(move="play AS"),
    "no move": lambda r: r["deals"][0]["moves"][3].pop("move"),
    "move not an object": lambda r: r["deals"][0]["moves"].__setitem__(3, "discard 9H"),
    "legal too small": lambda r: r["deals"][0]["moves"][0]["legal"].pop(),
    "legal too large": lambda r: r["deals"][0]["moves"][0]["legal"].append("pass"),
    "legal null": lambda r: r["deals"][0]["moves"][0].update(legal=None),
    "move missing at the end": lambda r: r["deals"][0]["moves"].pop(),
    "move left over": lambda r: r["deals"][0]["moves"].append(r["deals"][0]["moves"][-1]),
    "moves null": lambda r: r["deals"][0].update(moves=None),
    "scores": lambda r: r["deals"][0]["scores"].__setitem__(0, 99),
    "scores null": lambda r: r["deals"][0].update(scores=None),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_each_kind_of_tampering_is_caught(good_record, name):
    record = copy.deepcopy(good_record)
    TAMPERINGS[name](record)
    problems = check_record(record)
    assert problems and all(isinstance(problem, str) and problem.endswith(".") for problem in problems)


def test_problems_that_do_not_stop_the_replay_are_all_told(good_record):
    record = copy.deepcopy(good_record)
    for name in ("format", "truncated", "totals", "legal too small", "scores"):
        TAMPERINGS[name](record)
    assert len(check_record(record)) == 5


@pytest.mark.parametrize("junk", [None, 7, "text", [], [1], {}, True, float("nan")])
def test_a_record_of_a_wrong_type_is_a_sentence(junk):
    assert check_record(junk)


def test_junk_anywhere_in_a_record_is_never_a_traceback():
    rng = random.Random(5)
    options = full_options("mitch_jp", **{**TINY, "hand_size": 2, "take_discard": True})
    good = random_record(rng, "mitch_jp", options)
    junk = [None, True, -1, 10**30, 0.5, "", "AS", "play", [], [[]], [None], {}, {"seat": {}}, [{"a": 1}]]
    for _ in range(1500):
        record = copy.deepcopy(good)
        node = record
        while True:
            key = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
            if not isinstance(node[key], (dict, list)) or not node[key] or rng.random() < 0.2:
                break
            node = node[key]
        if rng.random() < 0.2:
            del node[key]
        else:
            node[key] = copy.deepcopy(rng.choice(junk))
        problems = check_record(record)
        assert all(isinstance(problem, str) for problem in problems)


def test_a_record_of_a_play_off_checks_its_seats():
    options = full_options("mitch_ru", playoffs=1, **FOUR)
    record = None
    for seed in range(50):
        record = random_record(random.Random(seed), "mitch_ru", options)
        if len(record["deals"]) == 2 and len(record["deals"][1]["seats"]) == 2:
            break
    assert check_record(record) == [] and len(record["deals"][1]["seats"]) == 2
    tampered = copy.deepcopy(record)
    tampered["deals"][1]["seats"] = [0, 1, 2, 3]
    assert any("seats" in problem for problem in check_record(tampered))
    tampered = copy.deepcopy(record)
    tampered["deals"].pop()
    assert any("missing" in problem for problem in check_record(tampered))


def test_the_suits_are_in_the_order_of_the_rules():
    assert SUITS == "SHDC"
