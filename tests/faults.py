"""Faults to plant in the engine of Mitch, each with the law that must notice it: cards, moves, the course of play, scoring.

A fault replaces functions of the engine wherever they are used; it is run as plain Python only. What is seen, redealt and
left to chance is in ``faults_seen``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

import mitch_env.chance
import mitch_env.mitch.actions
import mitch_env.mitch.describe
import mitch_env.mitch.observation
import mitch_env.mitch.rules
import mitch_env.mitch.scoring
import mitch_env.mitch.state
import mitch_env.rewards
from mitch_env.mitch.actions import DRAW, N_ACTIONS, TAKE
from mitch_env.mitch.options import LONGEST
from mitch_env.mitch.state import NO_CARDS, bit


def _sound(module: ModuleType) -> SimpleNamespace:
    """A module as it is before anything in it is replaced."""
    return SimpleNamespace(**vars(module))


chance, rewards = _sound(mitch_env.chance), _sound(mitch_env.rewards)
actions, describe, observation = map(_sound, (mitch_env.mitch.actions, mitch_env.mitch.describe, mitch_env.mitch.observation))
rules, scoring, state = map(_sound, (mitch_env.mitch.rules, mitch_env.mitch.scoring, mitch_env.mitch.state))


@dataclass(frozen=True)
class Fault:
    """A fault.

    Attributes:
        name: What is wrong then, in words.
        law: The name of the law that must notice it.
        planted: The functions that are replaced, and by what.
    """

    name: str
    law: str
    planted: dict[Callable[..., Any], Callable[..., Any]]


FAULTS: list[Fault] = []


def fault(law: str, original: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds a fault that is named after the function that replaces ``original``."""

    def add(replacement: Callable[..., Any]) -> Callable[..., Any]:
        FAULTS.append(Fault(replacement.__name__.replace("_", " "), law, {original: replacement}))
        return replacement

    return add


# --- Cards.


@fault("cards_in_one_place", rules.place)
def a_card_that_is_laid_stays_in_the_hand(s: Any, seat: int, card: int) -> None:
    rules.place(s, seat, card)
    s.hand[seat] |= bit(card)


@fault("cards_in_one_place", rules.apply_draw)
def a_discard_that_is_taken_stays_on_the_pile(s: Any, action: int) -> bool:
    size, top = int(s.pile_size), int(s.pile[s.pile_size - 1])
    goes_on = rules.apply_draw(s, action)
    if action == TAKE:
        s.pile[size - 1] = top
        s.pile_size = size
    return goes_on


@fault("cards_in_one_place", rules.add_some_aces)
def one_ace_too_many_is_in_the_stock(s: Any, aces: Any, n: int) -> None:
    rules.add_some_aces(s, aces, n + 1)


@fault("cards_in_one_place", rules.count_clock_card)
def a_clock_card_vanishes(s: Any, card: int) -> None:
    rules.count_clock_card(s, card)
    s.clock_seen -= card == state.JOKER_CARD
    s.clock_up &= ~state.ACES


# --- Who acts, and what is legal.


@fault("the_actor_can_move", actions.droppable)
def who_cannot_place_may_not_discard_either(s: Any, seat: int, can_lay: Any) -> Any:
    return NO_CARDS if s.must_place else actions.droppable(s, seat, can_lay)


@fault("the_actor_can_move", rules.next_with_cards)
def a_seat_without_cards_is_asked(s: Any) -> int:
    return -1 if rules.next_with_cards(s) == -1 else (int(s.turn) + 1) % int(s.players)


@fault("the_actor_can_move", actions.legal_actions)
def an_entry_of_the_mask_is_not_written(s: Any, mask: Any) -> None:
    before = mask[DRAW]
    actions.legal_actions(s, mask)
    mask[DRAW] = before


@fault("the_actor_can_move", scoring.finish_deal)
def somebody_may_act_after_the_deal(s: Any) -> None:
    scoring.finish_deal(s)
    s.actor = 0


@fault("legality_is_told_the_same_in_three_ways", actions.is_legal)
def a_number_past_the_last_action_is_legal(s: Any, action: int) -> bool:
    return action == N_ACTIONS or actions.is_legal(s, action)


@fault("legality_is_told_the_same_in_three_ways", actions.is_legal)
def a_negative_number_wraps_around(s: Any, action: int) -> bool:
    return actions.is_legal(s, action + N_ACTIONS if action < 0 else action)


@fault("legality_is_told_the_same_in_three_ways", actions.is_legal)
def huge_numbers_are_cut_off(s: Any, action: int) -> bool:
    return actions.is_legal(s, action & 0xFFFF)


@fault("legality_is_told_the_same_in_three_ways", actions.pick_legal)
def the_last_legal_action_is_never_picked(s: Any, bits: Any) -> int:
    mask = np.zeros(N_ACTIONS, np.uint8)
    actions.legal_actions(s, mask)
    legal = np.flatnonzero(mask).tolist()
    return int(legal[chance.below(bits, max(1, len(legal) - 1))])


@fault("legality_is_told_the_same_in_three_ways", actions.legal_actions)
def the_mask_forgets_taking(s: Any, mask: Any) -> None:
    actions.legal_actions(s, mask)
    mask[TAKE] = 0


@fault("legal_is_what_the_referee_calls_legal", state.fits)
def a_higher_card_may_be_laid(s: Any, seat: int) -> Any:
    return state.fits(s, seat) | state.bit(s.ranks - 1)


@fault("legal_is_what_the_referee_calls_legal", state.fits)
def gaps_are_always_allowed(s: Any, seat: int) -> Any:
    step, s.column_step = s.column_step, 0
    allowed = state.fits(s, seat)
    s.column_step = step
    return allowed


@fault("legal_is_what_the_referee_calls_legal", actions.droppable)
def must_place_is_forgotten(s: Any, seat: int, can_lay: Any) -> Any:
    return s.hand[seat]


@fault("legal_is_what_the_referee_calls_legal", actions.droppable)
def must_place_binds_with_the_stock_closed(s: Any, seat: int, can_lay: Any) -> Any:
    return NO_CARDS if s.must_place != 0 and can_lay != NO_CARDS else s.hand[seat]


@fault("legal_is_what_the_referee_calls_legal", state.lowest_rank)
def an_ace_may_be_laid_under_an_ace_clock(s: Any) -> int:
    return 0


# --- The course of a deal.


@fault("the_position_is_the_referees", actions.can_take)
def the_top_discard_is_never_offered(s: Any, seat: int) -> bool:
    return False


@fault("the_referee_accepts_it", rules.start_match)
def the_first_seat_deals_first(s: Any) -> None:
    rules.start_match(s)
    s.dealer = s.regular_dealer = 0


@fault("the_position_is_the_referees", rules.draw)
def the_closer_always_plays(s: Any) -> bool:
    closer_plays, s.closer_plays = s.closer_plays, 1
    goes_on = rules.draw(s)
    s.closer_plays = closer_plays
    return goes_on


@fault("the_position_is_the_referees", state.is_closed)
def an_empty_stock_only_closes(s: Any) -> bool:
    return bool(s.stock_next >= s.stock_size)


@fault("the_position_is_the_referees", rules.next_with_cards)
def play_goes_counter_clockwise(s: Any) -> int:
    for step in range(1, int(s.players) + 1):
        seat = (int(s.turn) - step) % int(s.players)
        if s.hand[seat] != NO_CARDS:
            return seat
    return -1


@fault("the_referee_accepts_it", rules.replace_aces)
def dealt_aces_stay_in_the_hand(s: Any, seat: int) -> None:
    pass


@fault("the_referee_accepts_it", rules.replace_aces)
def no_ace_is_replaced_after_the_closing_one(s: Any, seat: int) -> None:
    if not state.is_closed(s):
        rules.replace_aces(s, seat)


@fault("the_referee_accepts_it", scoring.next_taking_part)
def who_sits_out_is_dealt_in(s: Any, seat: int) -> int:
    return (int(seat) + 1) % int(s.players)


@fault("matches_end", scoring.finish_deal)
def deals_are_not_counted(s: Any) -> None:
    scoring.finish_deal(s)
    s.phase = rules.PHASE_DEAL
    s.deals_done = 0


# --- Scoring and rewards.


@fault("scores_are_the_referees", scoring.column_worth)
def the_tie_break_is_reversed(s: Any, seat: int, suit: int) -> int:
    tie_break, s.tie_break = s.tie_break, 1 - s.tie_break
    worth = scoring.column_worth(s, seat, suit)
    s.tie_break = tie_break
    return worth


@fault("scores_are_the_referees", rules.count_placement)
def a_placement_is_still_waiting(s: Any, seat: int) -> None:
    s.placed |= 1 << seat


@fault("scores_are_the_referees", scoring.longest_seats)
def a_tie_is_won_by_the_first_seat(s: Any) -> int:
    seats = scoring.longest_seats(s)
    return seats & -seats


@fault("scores_are_the_referees", scoring.finish_deal)
def the_same_seat_deals_again(s: Any) -> None:
    scoring.finish_deal(s)
    if s.playoff == 0 and s.phase == rules.PHASE_DEAL:
        s.dealer = s.regular_dealer = s.players - 1


@fault("scores_are_the_referees", scoring.score_suits)
def a_lost_column_costs_one_point(s: Any) -> None:
    scoring.score_suits(s)
    for suit in range(s.suits):
        for seat in range(s.players):
            length = int(state.column(s, seat, suit)).bit_count()
            if length and seat != scoring.leader(s, suit) and s.lost_column_penalty:
                s.points[seat] += length - 1


@fault("scores_are_the_referees", scoring.score_suits)
def nothing_counts_double(s: Any) -> None:
    doubled, s.shortest_double = s.shortest_double, 0
    scoring.score_suits(s)
    s.shortest_double = doubled


@fault("rewards_add_up", rewards.pay_deal)
def the_mean_is_taken_over_all_chairs(s: Any) -> None:
    if s.reward_kind != rewards.OUTCOME:
        mean = sum(s.points[: s.players].tolist()) / len(s.points) if s.reward_kind == rewards.RELATIVE else 0
        s.reward[: s.players] += s.points[: s.players] - np.float32(mean)


@fault("rewards_add_up", rewards.pay_match)
def every_winner_gets_a_whole_point(s: Any) -> None:
    if s.reward_kind == rewards.OUTCOME:
        for seat in range(s.players):
            s.reward[seat] += 1 if rewards.is_winner(s, seat) else -1


@fault("rewards_add_up", rewards.pay_deal)
def an_outcome_is_paid_with_each_deal(s: Any) -> None:
    rewards.pay_deal(s)
    if s.reward_kind == rewards.OUTCOME and s.scoring != LONGEST:
        s.reward[: s.players] += s.points[: s.players]


@fault("the_referee_agrees", rewards.clear_rewards)
def rewards_are_paid_again(s: Any) -> None:
    if s.deals_dealt == 0:
        rewards.clear_rewards(s)
