"""The rulings of Mitchell, M1 to M28, each pinned on the engine by positions in words."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from mitchell_positions import (
    asked,
    block,
    deal,
    discards,
    drawn,
    hand,
    legal,
    mitchell,
    new_match,
    play,
    position,
    scores,
    stock,
    suit,
    top,
    view,
)

from mitch_env.events import recent_events, split_event
from mitch_env.game import PHASE_DEAL, PHASE_OVER, Table
from mitch_env.mitchell.events import BLOCKED, CAUGHT, DREW, KEPT, RESHUFFLED, STOPPED, WON
from mitch_env.mitchell.kinds import KIND_NAMES, SUITS
from mitch_env.mitchell.options import MitchellOptions
from mitch_env.mitchell.presets import MITCHELL, RULES
from mitch_env.records import winners

PLAYERS = range(2, 9)
CHANGES = {f"change {name}" for name in SUITS}


def events(table: Table, *kinds: int) -> list[tuple[int, ...]]:
    """Seat and detail of the events of some kinds (with the kind itself if there are several)."""
    split = [split_event(event) for event in recent_events(table)]
    return [event[1:] if len(kinds) == 1 else event for event in split if event[0] in kinds]


# --- Deck and deal.


def test_M1_default_deck_has_108_cards() -> None:
    deck = MitchellOptions().deck
    assert set(deck) == set(KIND_NAMES)
    assert sum(deck.values()) == 108
    for name in SUITS:
        assert [deck[name + end] for end in ("", "+attract", "+anywhere", "+center")] == [6, 2, 2, 2]
    assert {deck[name] for name in ("change", "force-two", "move", "give", "cancel", "revenge")} == {8}


@pytest.mark.parametrize("players", PLAYERS)
def test_M1_a_shuffled_deal_is_the_deck(players: int) -> None:
    options = MitchellOptions(players=players, deck={"brawl": 60, "change": 9, "cancel": 1})
    dealt = []
    for table in MITCHELL.new_tables([options] * 2, seeds=np.array([1, 2], np.uint64)):
        RULES.start_match(table)
        RULES.shuffle_deal(table)
        words = RULES.deal_words(table)
        assert [len(cards) for cards in words["hands"]] == [7] * players
        assert Counter(name for cards in [*words["hands"], words["stock"]] for name in cards) == options.deck
        dealt.append(words)
    assert dealt[0] != dealt[1]


@pytest.mark.parametrize(
    ("hands", "rest", "words"),
    [
        (["brawl", "give", "give"], "move", "3 hands are given, 2 are needed"),
        (["brawl give", ""], "move", "seat0 has 2 cards, 1 are dealt to it"),
        (["brawl", "give"], "give", "hands and stock have 0 of move, the deck has 1"),
        (["brawl", "fist"], "move", "'fist' is no card"),
    ],
)
def test_M1_a_deal_that_the_deck_does_not_have_is_refused(hands: list[str], rest: str, words: str) -> None:
    table = new_match(["brawl", "give"], "move")
    before = table.tobytes()
    with pytest.raises(ValueError, match=words):
        deal(table, hands, rest)
    assert table.tobytes() == before


@pytest.mark.parametrize("players", PLAYERS)
def test_M2_each_round_is_started_by_the_next_seat_clockwise(players: int) -> None:
    hands = ["brawl"] * players
    table = new_match(hands, "off-duty", rounds=2 * players + 1, target_score=None)
    for number in range(2 * players + 1):
        assert table.phase == PHASE_DEAL
        assert table.dealer == (number - 1) % players
        deal(table, hands, "off-duty")
        assert mitchell(table) == "center"
        assert suit(table) is None
        assert discards(table) == ""
        play(table, f"{number % players} brawl")
    assert table.phase == PHASE_OVER


@pytest.mark.parametrize("players", PLAYERS)
def test_M25_play_goes_clockwise(players: int) -> None:
    table = position(["brawl brawl brawl"] * players, "off-duty", turn=players - 1)
    for step in range(2 * players):
        play(table, f"{(players - 1 + step) % players} brawl")


# --- What fits.


def test_while_there_is_no_suit_every_investigation_fits() -> None:
    table = position(["brawl off-duty+center cancel", "brawl"], "give")
    assert suit(table) is None
    assert legal(table) == {"brawl", "off-duty+center"}
    play(table, "0 off-duty+center")
    assert suit(table) == "off-duty"


def test_investigation_fits_by_suit_or_by_the_function_on_top() -> None:
    table = position(["brawl+attract give", "brawl off-duty off-duty+attract off-duty+center"], "give")
    play(table, "0 brawl+attract")
    assert legal(table) == {"brawl", "off-duty+attract"}
    play(table, "1 off-duty+attract")
    assert suit(table) == "off-duty"


def test_investigations_without_function_do_not_match_each_other() -> None:
    table = position(["brawl give", "brawl off-duty"], "give")
    play(table, "0 brawl")
    assert legal(table) == {"brawl"}


@pytest.mark.parametrize("action", ["change brawl", "force-two seat0", "move center"])
def test_M3_an_action_covers_the_function(action: str) -> None:
    table = position(["brawl+center off-duty+center brawl", f"{action.split()[0]} off-duty off-duty"], "off-duty off-duty")
    play(table, "0 brawl+center", f"1 {action}")
    assert legal(table) == {"brawl"}


def test_M3_a_cancelled_action_and_its_reaction_cover_as_well() -> None:
    table = position(["brawl+center off-duty+center brawl cancel", "change off-duty off-duty"], "off-duty")
    play(table, "0 brawl+center", "1 change off-duty", "0 cancel")
    assert top(table) == "cancel"
    assert legal(table) == {"brawl"}


def test_M19_the_first_card_may_be_an_action_and_M21_a_cancelled_change_leaves_no_suit() -> None:
    table = position(["change brawl", "off-duty stakeout cancel"], "give give")
    assert legal(table) == {"brawl", *CHANGES}
    other = table.copy()
    play(table, "0 change stakeout", "1 decline")
    assert suit(table) == "stakeout"
    assert legal(table) == {"stakeout"}
    play(other, "0 change stakeout", "1 cancel")
    assert suit(other) is None
    assert legal(other) == {"off-duty", "stakeout"}


def test_M21_a_cancelled_change_leaves_the_suit() -> None:
    table = position(["change brawl", "off-duty brawl cancel"], "give", suit="brawl")
    play(table, "0 change off-duty", "1 cancel")
    assert suit(table) == "brawl"


def test_change_may_name_the_current_suit() -> None:
    table = position(["change brawl", "off-duty brawl"], "give", suit="brawl")
    play(table, "0 change brawl")
    assert suit(table) == "brawl"


# --- A turn.


def test_reactions_are_never_played_on_the_own_turn() -> None:
    table = position(["cancel revenge brawl", "brawl"], "give")
    assert legal(table) == {"brawl"}


def test_who_can_play_must_play() -> None:
    table = position(["brawl off-duty", "brawl"], "give", suit="brawl")
    assert legal(table) == {"brawl"}


def test_who_cannot_play_draws_by_itself_and_may_play_or_keep_the_drawn_card() -> None:
    table = position(["brawl brawl", "off-duty"], "brawl give")
    play(table, "0 brawl")
    assert drawn(table) == "brawl"
    assert table.actor == 1
    assert legal(table) == {"brawl", "pass"}
    kept = table.copy()
    play(table, "1 brawl")
    assert hand(table, 1) == "off-duty"
    play(kept, "1 pass")
    assert hand(kept, 1) == "brawl off-duty"


def test_a_turn_with_a_drawn_card_that_does_not_fit_ends_by_itself() -> None:
    table = position(["brawl brawl", "off-duty"], "car-chase give")
    play(table, "0 brawl")
    assert table.actor == 0
    assert hand(table, 1) == "car-chase off-duty"


def test_M26_after_a_draw_only_the_drawn_card_may_be_played() -> None:
    """Drawn is a give: it is the only card that may be played, though with it the others may be given."""
    table = position(["brawl", "off-duty stakeout"], "give", suit="brawl", turn=1)
    assert drawn(table) == "give"
    assert legal(table) == {"pass", "give seat0 off-duty", "give seat0 stakeout"}


def test_M26_a_card_that_the_draw_makes_playable_must_wait() -> None:
    """With a second card the give could be played; but only the card that was drawn may be."""
    table = position(["give", "brawl", "brawl"], "off-duty", suit="off-duty")
    assert drawn(table) == "off-duty"
    assert legal(table) == {"off-duty", "pass"}


def test_M28_a_pass_and_a_turn_that_ended_by_itself_look_the_same() -> None:
    passed = position(["brawl brawl", "off-duty"], "brawl car-chase")
    ended = position(["brawl brawl", "off-duty"], "car-chase brawl")
    play(passed, "0 brawl", "1 pass")
    play(ended, "0 brawl")
    assert events(passed, DREW, KEPT) == events(ended, DREW, KEPT) == [(DREW, 1, 1), (KEPT, 1, 0)]
    assert recent_events(passed) == recent_events(ended)
    assert np.array_equal(view(passed, 0), view(ended, 0))


@pytest.mark.parametrize("place", ["center", "seat0", "seat1", "seat2"])
@pytest.mark.parametrize("before", [None, 0, 1, 2])
def test_functions_of_investigations_always_happen(place: str, before: int | None) -> None:
    hands = ["brawl+anywhere brawl+attract brawl+center brawl", "cancel revenge", "cancel revenge"]
    table = position(hands, "give", mitchell=before)
    assert {f"brawl+anywhere {each}" for each in ("center", "seat0", "seat1", "seat2")} < legal(table)
    for move, after in [
        (f"brawl+anywhere {place}", place),
        ("brawl+attract", "seat0"),
        ("brawl+center", "center"),
        ("brawl", "center" if before is None else f"seat{before}"),
    ]:
        played = table.copy()
        play(played, f"0 {move}")
        assert mitchell(played) == after
        assert played.turn != 0  # nobody could react


# --- Actions and reactions.


def window(action: str, mitchell: int | None = None, players: int = 4) -> Table:
    """Seat 0 has played an action against opponents without reactions, and everybody is asked."""
    hands = [f"{action.split()[0]} off-duty off-duty", *["brawl brawl"] * (players - 1)]
    table = position(hands, "brawl " * 9, mitchell=mitchell, ask_everyone=True)
    play(table, f"0 {action}")
    return table


@pytest.mark.parametrize(
    ("action", "mitchell", "order"),
    [
        ("force-two seat2", 1, [2, 3, 1]),
        ("give seat3 off-duty", 1, [3, 1, 2]),
        ("move seat2", 1, [2, 3, 1]),
        ("change brawl", 3, [3, 1, 2]),
        ("change brawl", None, [1, 2, 3]),
    ],
)
def test_order_in_which_opponents_are_asked(action: str, mitchell: int | None, order: list[int]) -> None:
    assert asked(window(action, mitchell)) == order


@pytest.mark.parametrize("action", ["move center", "move seat0"])
@pytest.mark.parametrize(("mitchell", "order"), [(None, [1, 2, 3]), (2, [2, 3, 1]), (3, [3, 1, 2])])
def test_M4_a_move_to_the_center_or_to_the_mover_affects_nobody(action: str, mitchell: int | None, order: list[int]) -> None:
    assert asked(window(action, mitchell)) == order


@pytest.mark.parametrize("action", ["change brawl", "move center", "move seat0"])
def test_M5_who_plays_the_action_is_not_asked_first_for_having_mitchell(action: str) -> None:
    assert asked(window(action, 0)) == [1, 2, 3]


def test_M6_the_gift_is_chosen_with_the_action_and_moves_only_if_it_takes_effect() -> None:
    table = position(["give brawl off-duty", "brawl cancel", "brawl"], "give", mitchell=2)
    play(table, "0 give seat1 off-duty")
    assert hand(table, 0) == "brawl off-duty"
    assert block(table, 2, "hand_size")[4:8] == [0, 0, 1, 0.2222]  # two cards: the gift is still there
    cancelled = table.copy()
    play(table, "1 decline")
    assert (hand(table, 0), hand(table, 1)) == ("brawl", "brawl off-duty cancel")
    assert mitchell(table) == "seat0"
    play(cancelled, "1 cancel")
    assert (hand(cancelled, 0), hand(cancelled, 1)) == ("brawl off-duty give", "brawl")
    assert mitchell(cancelled) == "seat2"


def test_M6_what_a_gift_shows_is_known_until_the_card_may_be_gone() -> None:
    table = position(["give brawl off-duty brawl", "brawl brawl give", "brawl give"], "stakeout " * 9, suit="brawl")
    play(table, "0 give seat1 off-duty")
    known = [block(table, 0, "known")[26 * seat : 26 * seat + 26] for seat in (1, 2)]
    assert [sum(each) for each in known] == [0.5, 0]  # one card, as 1 / 2
    assert not any(sum(block(table, seat, "known")[26:]) for seat in (1, 2))
    kept = table.copy()
    play(table, "1 give seat2 off-duty")
    assert sum(block(table, 0, "known")[26:]) == 0  # it may have been the one
    assert sum(block(table, 1, "known")[26:52]) == 0.5
    play(kept, "1 brawl")
    assert sum(block(kept, 0, "known")[26:]) == 0.5


@pytest.mark.parametrize("held", ["give brawl", "give give", "give give brawl", "give brawl cancel"])
def test_give_gives_another_card_of_the_hand(held: str) -> None:
    table = position([held, "cancel", "cancel"], "give", suit="off-duty")
    others = held.removeprefix("give ").split()
    assert legal(table) == {f"give seat{seat} {name}" for seat in (1, 2) for name in others}


def test_give_is_not_played_as_the_only_card() -> None:
    table = position(["give", "brawl"], "off-duty brawl", suit="brawl")
    assert table.actor == 1
    assert hand(table, 0) == "off-duty give"


def test_M7_first_the_effect_then_the_draw_that_the_reaction_forces() -> None:
    table = position(["force-two brawl", "revenge brawl"], "car-chase stakeout off-duty crime-scene move", suit="brawl")
    play(table, "0 force-two seat1", "1 revenge")
    assert hand(table, 1) == "stakeout car-chase brawl"
    assert hand(table, 0) == "brawl crime-scene off-duty"
    assert discards(table) == "force-two revenge"
    assert top(table) == "revenge"


def test_cancel_has_no_effect_but_a_drawn_card() -> None:
    table = position(["force-two brawl", "cancel brawl"], "car-chase stakeout", suit="brawl")
    play(table, "0 force-two seat1", "1 cancel")
    assert (hand(table, 0), hand(table, 1)) == ("car-chase brawl", "brawl")
    assert discards(table) == "cancel force-two"


def test_at_most_one_reaction_is_played_to_an_action() -> None:
    table = position(["change brawl", *["cancel revenge brawl"] * 3], "off-duty off-duty")
    play(table, "0 change brawl", "1 decline", "2 revenge")
    assert table.actor == 1
    assert legal(table) == {"brawl"}


@pytest.mark.parametrize("held", ["cancel", "revenge", "cancel revenge", "cancel cancel", "cancel revenge change brawl"])
def test_answers_are_the_reactions_of_the_hand_or_decline(held: str) -> None:
    table = position(["change brawl", held], "off-duty off-duty")
    play(table, "0 change brawl")
    assert legal(table) == {"decline", *(name for name in ("cancel", "revenge") if name in held.split())}


def test_M8_only_opponents_with_a_reaction_are_asked() -> None:
    table = position(["change brawl brawl", "brawl", "cancel", "brawl", "revenge"], "give")
    play(table, "0 change brawl")
    assert asked(table) == [2, 4]


def test_M8_nobody_is_asked_if_nobody_has_a_reaction() -> None:
    table = position(["change brawl brawl", "brawl", "brawl"], "give")
    play(table, "0 change brawl")
    assert table.turn == 1


def test_M8_M23_with_ask_everyone_also_who_has_no_reaction_or_no_cards_can_only_decline() -> None:
    table = position(["change brawl brawl", "brawl", ""], "give", mitchell=2, ask_everyone=True)
    play(table, "0 change brawl")
    assert table.actor == 2
    assert legal(table) == {"decline"}
    assert asked(table) == [2, 1]


@pytest.mark.parametrize("mitchell", [None, 0, 1])
@pytest.mark.parametrize("action", ["change brawl", "force-two seat1", "move center", "move seat1", "give seat1 off-duty"])
def test_M18_with_two_players_the_opponent_is_the_only_one_asked(action: str, mitchell: int | None) -> None:
    assert asked(window(action, mitchell, players=2)) == [1]


@pytest.mark.parametrize("action", ["move center", "move seat0"])
def test_M23_who_has_mitchell_is_who_has_him_before_the_effect(action: str) -> None:
    table = window(action, 2)
    assert mitchell(table) == "seat2"
    assert asked(table)[0] == 2
    assert mitchell(table) == action.split()[1]


# --- Drawing.


def test_M11_a_player_with_an_empty_hand_and_mitchell_draws() -> None:
    table = position(["", "brawl brawl"], "brawl", suit="brawl", mitchell=0)
    assert drawn(table) == "brawl"
    assert legal(table) == {"brawl", "pass"}


def test_M11_a_give_drawn_to_an_empty_hand_cannot_be_played() -> None:
    table = position(["", "brawl brawl"], "give", suit="brawl", mitchell=0)
    assert table.actor == 1
    assert hand(table, 0) == "give"


def test_M12_an_empty_stock_is_made_of_the_discards_but_the_top() -> None:
    table = position(["brawl brawl brawl", "brawl+center force-two off-duty"], "give", reshuffle="brawl brawl+center")
    play(table, "0 brawl", "1 brawl+center", "0 brawl", "1 force-two seat0")
    # The give was drawn from the old stock; then brawl, brawl+center and brawl were shuffled: not what was arranged.
    assert table.reshuffles == 1
    assert discards(table) == "force-two"
    assert len(stock(table).split()) == 2


def test_M12_a_reshuffle_can_be_arranged() -> None:
    table = position(["brawl brawl brawl", "brawl+center force-two off-duty"], "give", reshuffle="brawl+center brawl brawl")
    play(table, "0 brawl", "1 brawl+center", "0 brawl", "1 force-two seat0")
    assert events(table, RESHUFFLED) == [(1, 0)]
    assert hand(table, 0) == "brawl brawl+center give"
    assert stock(table) == "brawl brawl"
    assert RULES.stock_words(table) == ["brawl+center", "brawl", "brawl"]


@pytest.mark.parametrize(("cards", "words"), [("move", "1 of move"), ("", "without cards"), ("fist", "no card")])
def test_M12_a_reshuffle_that_can_never_be_is_refused(cards: str, words: str) -> None:
    table = position(["brawl brawl", "brawl"], "give")
    with pytest.raises(ValueError, match=words):
        RULES.arrange_reshuffle(table, cards.split())


def test_M12_of_two_cards_as_many_are_drawn_as_there_are() -> None:
    table = position(["force-two brawl", "revenge brawl"], "give", suit="brawl")
    play(table, "0 force-two seat1", "1 revenge")
    # The give, then the force-two out of the discards below the revenge; for seat 0 nothing is left.
    assert hand(table, 1) == "brawl force-two give"
    assert hand(table, 0) == "brawl"
    assert events(table, DREW) == [(1, 2), (0, 0)]


def test_M12_if_there_is_nothing_to_draw_nothing_is_drawn() -> None:
    table = position(["off-duty", "brawl brawl"], "", suit="brawl")
    assert table.actor == 1
    assert hand(table, 0) == "off-duty"


def test_M16_cards_from_a_forced_draw_wait_for_the_next_turn() -> None:
    table = position(["change brawl", "revenge brawl"], "brawl move off-duty", suit="brawl")
    play(table, "0 change brawl", "1 revenge")
    assert table.turn == 1
    assert hand(table, 0) == "brawl brawl move"


# --- The end of a round.


def test_the_first_without_cards_and_without_mitchell_wins() -> None:
    table = position(["brawl", "off-duty give", "cancel brawl brawl"], "give")
    play(table, "0 brawl")
    assert scores(table) == [200, 15, 25]
    assert events(table, WON) == [(0, 0)]


def test_who_has_mitchell_does_not_win_with_the_last_card() -> None:
    table = position(["brawl", "brawl brawl"], "off-duty", mitchell=0)
    play(table, "0 brawl")
    assert table.actor == 1


def test_M9_the_round_is_won_only_when_the_turn_is_resolved() -> None:
    table = position(["change", "cancel brawl", "brawl brawl"], "off-duty give")
    play(table, "0 change brawl")
    assert table.n_held[0] == 0
    won = table.copy()
    play(table, "1 cancel")
    assert hand(table, 0) == "off-duty"
    play(won, "1 decline")
    assert scores(won)[0] == 200


def test_M9_if_two_qualify_the_seat_whose_turn_it_was_comes_first() -> None:
    table = position(["brawl+center", "", "give"], "off-duty off-duty", mitchell=1)
    play(table, "0 brawl+center")
    assert scores(table) == [200, 0, 5]


@pytest.mark.parametrize(("turn", "winner"), [(0, 1), (1, 2), (2, 0)])
def test_M9_if_two_others_qualify_the_next_clockwise_wins(turn: int, winner: int) -> None:
    """One loses Mitchell with an empty hand, the other reacts with the last card; seat 3 takes no part in it."""
    hands = ["brawl brawl"] * 4
    hands[turn] = "move brawl"
    first, second = [seat for seat in (0, 1, 2) if seat != turn]
    hands[first], hands[second] = "", "revenge"
    table = position(hands, "off-duty off-duty", turn=turn, mitchell=first)
    play(table, f"{turn} move center", f"{second} revenge")
    assert scores(table)[winner] == 200
    assert scores(table).count(200) == 1


def test_M10_a_reaction_as_the_last_card_is_playing_all_cards() -> None:
    for release_wins in (True, False):
        table = position(["change brawl", "cancel", "brawl"], "off-duty", release_wins=release_wins)
        play(table, "0 change brawl", "1 cancel")
        assert scores(table)[1] == 200


@pytest.mark.parametrize("release_wins", [True, False])
def test_M10_having_mitchell_taken_away_with_an_empty_hand_wins_if_release_wins(release_wins: bool) -> None:
    table = position(["brawl+attract brawl", "", "brawl"], "off-duty", mitchell=1, release_wins=release_wins)
    play(table, "0 brawl+attract")
    if release_wins:
        assert scores(table) == [-100, 200, 10]
    else:
        assert table.turn == 2
        assert hand(table, 1) == "off-duty"  # seat 1 had to draw


def test_M10_without_release_wins_the_last_card_counts_in_its_turn_only() -> None:
    hands = ["brawl+center brawl", "brawl+attract", "brawl brawl"]
    table = position(hands, "off-duty off-duty", suit="brawl", turn=1, release_wins=False)
    play(table, "1 brawl+attract", "2 brawl", "0 brawl+center")
    assert mitchell(table) == "center"
    assert table.actor == 2  # seat 1 has not won, and drew a card
    assert hand(table, 1) == "off-duty"


def test_M10_without_release_wins_the_last_card_played_sending_mitchell_away_wins() -> None:
    table = position(["brawl+center", "brawl"], "off-duty", mitchell=0, release_wins=False)
    play(table, "0 brawl+center")
    assert scores(table) == [200, 10]


def test_M13_the_round_ends_when_nobody_can_play_or_draw() -> None:
    table = position(["off-duty cancel", "off-duty", "give"], "", suit="brawl", mitchell=1)
    assert table.phase == PHASE_OVER
    assert scores(table) == [0, 0, 0]
    assert table.deals_done == 1
    assert events(table, BLOCKED, CAUGHT, WON) == [(BLOCKED, 2, 0)]


@pytest.mark.parametrize(("rest", "turns"), [("", 3), ("off-duty", 4)])
def test_M13_a_card_drawn_or_played_starts_the_count_anew(rest: str, turns: int) -> None:
    table = position(["off-duty", "off-duty", "brawl off-duty"], rest, suit="brawl")
    play(table, "2 brawl")
    assert table.phase == PHASE_OVER
    assert table.turns_done == 3 + 3
    table = position(["off-duty", "off-duty", "off-duty off-duty"], rest, suit="brawl")
    assert table.turns_done == turns


@pytest.mark.parametrize(("unplayed", "points"), [("bonus", [200, 50, -100]), ("penalty", [200, -50, -100])])
def test_M14_M22_cards_left_are_points_or_cost_them_and_who_is_caught_gets_minus_100(unplayed: str, points: list[int]) -> None:
    hands = ["brawl", "change force-two move give cancel revenge brawl+center off-duty+anywhere", "brawl brawl brawl"]
    table = position(hands, "off-duty", mitchell=2, unplayed=unplayed)
    play(table, "0 brawl")
    assert scores(table) == points
    assert events(table, CAUGHT) == [(2, 0)]


def test_M15_the_number_of_cards_in_each_hand_is_public() -> None:
    table = position(["brawl brawl brawl", "brawl", "brawl brawl"], "off-duty")
    for seat in range(3):
        sizes = block(table, seat, "hand_size")
        by_seat = [sizes[4 * ((other - seat) % 3) : 4 * ((other - seat) % 3) + 4] for other in range(3)]
        assert by_seat == [[0, 0, 0, 0.3], [0, 1, 0, 0.125], [0, 0, 1, 0.2222]]


# --- The match.


def play_round(table: Table, hands: list[str], rest: str, *lines: str) -> None:
    deal(table, hands, rest)
    play(table, *lines)


def test_M17_the_highest_total_wins_if_several_reach_the_target() -> None:
    hands = ["brawl", "brawl", "give"]
    table = new_match(hands, "off-duty", target_score=10, rounds=9)
    play_round(table, hands, "off-duty", "0 brawl")
    assert table.phase == PHASE_OVER
    assert list(table.totals[:3]) == [200, 10, 5]
    assert winners(table) == [0]


def test_M17_equal_totals_share_the_win() -> None:
    hands = ["brawl", "brawl"]
    table = new_match(hands, "off-duty", target_score=210, rounds=9)
    table.reward_kind = 2
    play_round(table, hands, "off-duty", "0 brawl")
    assert table.phase == PHASE_DEAL
    play_round(table, hands, "off-duty", "1 brawl")
    assert table.phase == PHASE_OVER
    assert winners(table) == [0, 1]
    assert list(table.reward[:2]) == [0, 0]


def test_M24_target_and_rounds_are_looked_at_between_rounds() -> None:
    hands = ["brawl", "brawl"]
    for settings, rounds in [({"target_score": 201}, 2), ({"target_score": None}, 3), ({"target_score": 200}, 1)]:
        table = new_match(hands, "off-duty", rounds=3, **settings)
        n = 0
        while table.phase == PHASE_DEAL:
            play_round(table, hands, "off-duty", f"{n % 2} brawl")
            n += 1
        assert n == rounds


def test_M27_a_match_has_at_most_100_rounds_by_default() -> None:
    assert MitchellOptions().rounds == 100
    table = new_match(["cancel", "cancel"], "cancel", rounds=100)
    while table.phase == PHASE_DEAL:
        RULES.shuffle_deal(table)
        RULES.open_deal(table)
    assert table.deals_done == 100
    assert list(table.totals[:2]) == [0, 0]


def test_M20_turns_without_a_decision_count_and_a_truncated_round_gives_no_points() -> None:
    table = position(["brawl brawl", "off-duty"], "off-duty give", max_turns=2)
    play(table, "0 brawl")  # seat 1 draws by itself, which is the second turn
    assert table.phase == PHASE_OVER
    assert table.truncated == 1
    assert scores(table) == [0, 0]
    assert events(table, STOPPED) == [(1, 0)]


def test_M20_totals_of_a_truncated_match_are_those_of_the_finished_rounds() -> None:
    table = new_match(["brawl", "cancel"], "cancel cancel", rounds=9, max_turns=2)
    table.reward_kind = 2  # outcome
    play_round(table, ["brawl", "cancel"], "cancel cancel", "0 brawl")
    assert list(table.totals[:2]) == [200, 5]
    play_round(table, ["cancel", "cancel"], "cancel brawl", "0 pass")
    assert (table.phase, table.truncated, table.deals_done) == (PHASE_OVER, 1, 1)
    assert list(table.totals[:2]) == [200, 5]
    assert winners(table) == [0]
    assert list(table.reward[:2]) == [1, -1]


def test_M20_winner_comes_before_blocked_and_blocked_before_truncated() -> None:
    table = position(["brawl", "brawl"], "off-duty", max_turns=1)
    play(table, "0 brawl")
    assert (table.truncated, scores(table)) == (0, [200, 10])
    table = position(["off-duty off-duty", "off-duty"], "", suit="brawl", max_turns=2)
    assert (table.truncated, events(table, BLOCKED, STOPPED)) == (0, [(BLOCKED, 1, 0)])


def test_a_match_may_have_no_decision_at_all() -> None:
    table = new_match(["cancel", "revenge"], "cancel", rounds=2)
    for _ in range(2):
        assert table.phase == PHASE_DEAL
        deal(table, ["cancel", "revenge"], "cancel")
    assert table.phase == PHASE_OVER
    assert winners(table) == [0, 1]
