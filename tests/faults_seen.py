"""Faults to plant in the engine of Mitch, each with the law that must notice it: what is seen, redealing, chance, copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from faults import FAULTS, Fault, actions, chance, describe, fault, observation, rules, scoring, state

from mitch_env.events import note
from mitch_env.mitch.actions import DISCARD, DRAW
from mitch_env.mitch.state import N_RANKS, PHASE_PLAY, bit

# --- What is seen.


@fault("views_lie_in_their_space", observation.observe)
def an_entry_of_the_observation_is_not_written(s: Any, seat: int, out: Any) -> None:
    before = out[20]
    observation.observe(s, seat, out)
    out[20] = before


@fault("views_lie_in_their_space", observation.observe)
def an_entry_leaves_its_range(s: Any, seat: int, out: Any) -> None:
    observation.observe(s, seat, out)
    out[-1] = s.totals[seat] / 4


@fault("views_lie_in_their_space", observation.write_state)
def the_state_leaves_out_the_empty_part_of_the_stock(s: Any, out: Any) -> None:
    before = out.copy()
    observation.write_state(s, out)
    k = 52 * int(s.seats_encoded)
    empty = slice(k + int(s.stock_size - s.stock_next), k + state.MAX_STOCK)
    out[empty] = before[empty]


@fault("every_block_is_right", state.unseen)
def the_discards_count_as_unseen(s: Any, seat: int) -> Any:
    return state.unseen(s, seat) | state.pile_set(s)


@fault("every_block_is_right", scoring.leader)
def the_first_column_leads(s: Any, suit: int) -> int:
    return next((seat for seat in range(s.players) if state.column(s, seat, suit)), -1)


@fault("every_block_is_right", observation.observe)
def seats_are_counted_from_seat_0(s: Any, seat: int, out: Any) -> None:
    observation.observe(s, 0, out)
    own = out.copy()
    observation.observe(s, seat, out)
    where = observation.layout(int(s.seats_encoded)).slices["dealer"]
    out[where] = own[where]


@fault("a_hidden_card_is_never_seen", state.unseen)
def only_the_stock_is_unseen(s: Any, seat: int) -> Any:
    cards = state.unseen(s, seat)
    for other in range(s.players):
        cards &= ~s.hand[other]
    return cards


@fault("a_hidden_card_is_never_seen", observation.observe)
def the_next_card_of_the_stock_shows(s: Any, seat: int, out: Any) -> None:
    observation.observe(s, seat, out)
    if s.stock_next < s.stock_size:
        out[-1] = s.stock[s.stock_next] / 53


@fault("a_hidden_card_is_never_seen", observation.observe)
def the_seed_shows(s: Any, seat: int, out: Any) -> None:
    observation.observe(s, seat, out)
    out[-1] = int(s.seed) % 1000 / 1000


@fault("a_hidden_card_is_never_seen", rules.draw)
def a_drawn_card_is_told(s: Any) -> bool:
    goes_on = rules.draw(s)
    note(s, rules.CLOCK_UP, s.turn, s.stock[s.stock_next - 1])
    return goes_on


@fault("a_hidden_card_is_never_seen", scoring.finish_deal)
def a_reward_depends_on_the_rest_of_the_stock(s: Any) -> None:
    scoring.finish_deal(s)
    if s.stock_next < s.stock_size:
        s.reward[0] += s.stock[s.stock_next]


@fault("a_hidden_card_is_never_seen", actions.droppable)
def what_may_be_discarded_depends_on_other_hands(s: Any, seat: int, can_lay: Any) -> Any:
    held = s.hand[seat]
    odd = int(s.hand[(seat + 1) % s.players]) % 5 == 1
    return held & (held - np.uint64(1)) if odd and held & (held - np.uint64(1)) else held


# --- Redealing.


@fault("redealing_is_not_seen", describe.describe)
def the_description_tells_another_hand(s: Any, seat: int) -> str:
    return describe.describe(s, seat) + str(s.hand[((seat or 0) + 1) % s.players])


@fault("redealing_is_not_seen", rules.redeal_hidden)
def the_own_hand_is_redealt(s: Any, seat: int, key: Any) -> None:
    rules.redeal_hidden(s, (seat + 1) % s.players, key)


@fault("redealing_is_not_seen", rules.redeal_hidden)
def redealing_forgets_an_event(s: Any, seat: int, key: Any) -> None:
    rules.redeal_hidden(s, seat, key)
    s.n_events -= 1


@fault("a_redealt_table_is_a_whole_one", rules.redeal_hidden)
def hands_are_dealt_without_leaving_the_stock(s: Any, seat: int, key: Any) -> None:
    rules.redeal_hidden(s, seat, key)
    other = (seat + 1) % s.players
    if s.stock_next < s.stock_size and s.stock[s.stock_next] != state.JOKER_CARD:
        s.hand[other] |= bit(s.stock[s.stock_next])


def keeping(*fields: str) -> Callable[[Any, int, Any], None]:
    """Redealing that keeps the real value of some fields."""

    def redeal(s: Any, seat: int, key: Any) -> None:
        before = s.copy()
        rules.redeal_hidden(s, seat, key)
        for field in fields:
            s[field] = before[field]

    return redeal


FAULTS += [
    Fault(f"redealing keeps the {field}", "a_redealt_table_holds_no_trace", {rules.redeal_hidden: keeping(field)})
    for field in ("seed", "rng")
]


@fault("a_redealt_table_holds_no_trace", rules.redeal_hidden)
def drawn_cards_stay_at_the_end_of_the_stock(s: Any, seat: int, key: Any) -> None:
    drawn = s.stock[: s.stock_next].copy()
    rules.redeal_hidden(s, seat, key)
    s.stock[s.stock_size : s.stock_size + len(drawn)] = drawn


WORLDS = "every_possible_world_is_equally_likely"


@fault(WORLDS, rules.redeal_hidden)
def other_hands_are_not_redrawn(s: Any, seat: int, key: Any) -> None:
    hands = s.hand.copy()
    before = s.stock[s.stock_next : s.stock_size].copy()
    rules.redeal_hidden(s, seat, key)
    s.hand[:] = hands
    s.stock[: len(before)] = before
    chance.shuffle(s, s.stock, len(before))


@fault(WORLDS, rules.redeal_hidden)
def the_stock_keeps_its_order(s: Any, seat: int, key: Any) -> None:
    rules.redeal_hidden(s, seat, key)
    s.stock[: s.stock_size].sort()


@fault(WORLDS, chance.shuffle)
def no_card_stays_in_its_place(s: Any, cards: Any, n: int) -> None:
    for i in range(n - 1, 0, -1):
        j = chance.draw_below(s, i)
        cards[i], cards[j] = int(cards[j]), int(cards[i])


@fault(WORLDS, rules.redeal_hidden)
def the_same_aces_stay_unused(s: Any, seat: int, key: Any) -> None:
    aces = [card for card in s.stock[s.stock_next : s.stock_size].tolist() if card % N_RANKS == 0]
    rules.redeal_hidden(s, seat, key)
    if s.clock == 1:
        where = [i for i in range(s.stock_size) if s.stock[i] % N_RANKS == 0]
        s.stock[where] = aces


@fault(WORLDS, rules.redeal_hidden)
def an_ace_is_never_in_another_hand(s: Any, seat: int, key: Any) -> None:
    clock, s.clock = s.clock, 2 if s.clock == 3 else s.clock
    rules.redeal_hidden(s, seat, key)
    s.clock = clock


@fault(WORLDS, rules.redeal_hidden)
def an_ace_of_the_clock_may_be_in_a_hand(s: Any, seat: int, key: Any) -> None:
    clock, s.clock = s.clock, 3 if s.clock == 2 else s.clock
    rules.redeal_hidden(s, seat, key)
    s.clock = clock


# --- Chance, copies, environments.


@fault("chance_is_not_moved_by_choices", chance.next_seed)
def the_same_match_comes_again(seed: Any) -> Any:
    return seed


@fault("chance_is_not_moved_by_choices", rules.start_match)
def chance_goes_on_from_the_match_before(s: Any) -> None:
    mark = np.uint64(int(s.tableau[0]) & 0xFFFF)
    rules.start_match(s)
    s.rng ^= mark


_CALLS = [0]


@fault("a_copy_goes_on_alike", rules.apply_action)
def something_is_kept_outside_the_table(s: Any, action: int) -> None:
    _CALLS[0] += 1
    rules.apply_action(s, action)
    s.totals[0] += _CALLS[0] % 5 == 0


@fault("the_same_seed_gives_the_same_match", rules.shuffle_deal)
def the_stock_is_cut_by_another_generator(s: Any) -> None:
    _CALLS[0] += 1
    rules.shuffle_deal(s)
    s.stock[: s.stock_size] = np.roll(s.stock[: s.stock_size], _CALLS[0])


@fault("illegal_actions_are_refused", actions.is_legal)
def asking_leaves_a_mark(s: Any, action: int) -> bool:
    s.n_events += action == 3
    return actions.is_legal(s, action)


@fault("illegal_actions_are_refused", actions.is_legal)
def cards_that_nobody_holds_may_be_discarded(s: Any, action: int) -> bool:
    return (s.phase == PHASE_PLAY and DISCARD <= action < DRAW) or actions.is_legal(s, action)


@fault("a_batch_plays_all_or_nothing", actions.is_legal)
def everything_is_legal_at_a_batch(s: Any, action: int) -> bool:
    return True


@fault("plain_and_compiled_agree", chance.draw_below)
def draws_are_biased(s: Any, n: int) -> int:
    drawn = int(chance.mix(s.rng)) % n
    s.rng = chance.advanced(s.rng)
    return drawn


@fault("plain_and_compiled_agree", rules.turn_up)
def a_clock_card_is_turned_up_without_an_event(s: Any, seat: int, card: int) -> None:
    rules.count_clock_card(s, card)
