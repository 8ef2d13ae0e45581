"""The rules of Mitchell, on one table.

Written down in ``docs/rules_mitchell.md``; the numbers (M7, M13) are its rulings. Top-down: a match, a round, a turn, the three
kinds of decision. What is legal stands in ``actions.py``, the reaction window in ``window.py``, how cards move in ``cards.py``,
scoring in ``scoring.py``.
"""

from __future__ import annotations

from ..chance import CHANCE_STREAM, stream
from ..events import clear_events, note
from ..game import NOBODY, PHASE_DEAL, Table
from ..jit import rule
from ..rewards import clear_rewards
from ..seats import next_seat, seat_after
from .actions import TO_THE_CENTER, pass_at, split_action
from .cards import clear_table, draw, lay
from .events import DEALT, DREW, KEPT, PLAYED
from .kinds import (
    ANYWHERE,
    ATTRACT,
    CANCEL,
    CHANGE,
    FORCE_TWO,
    N_KINDS,
    NO_KINDS,
    NOTHING,
    TO_CENTER,
    WITH_ANYWHERE,
    bit,
    function_of,
    is_investigation,
    suit_of,
)
from .scoring import finish_blocked, finish_truncated, finish_won, round_winner
from .state import CENTER, PHASE_DRAWN, PHASE_PLAY, playable, playable_with
from .window import answer, open_window


@rule
def start_match(s: Table) -> None:
    """A new match from ``s.seed``: nothing is dealt yet."""
    clear_table(s)
    s.rng = stream(s.seed, CHANCE_STREAM)
    s.dealer = s.players - 1  # M2: seat 0 starts
    s.turn = 0
    s.deals_done = 0
    s.deals_dealt = 0
    s.truncated = 0
    clear_events(s)
    s.actor = NOBODY
    s.phase = PHASE_DEAL
    for seat in range(s.players):
        s.points[seat] = 0
        s.totals[seat] = 0
    clear_rewards(s)


@rule
def open_deal(s: Table) -> None:
    """From freshly dealt cards to the first decision, or to the end of a round that has none."""
    s.deals_dealt += 1
    note(s, DEALT, s.dealer, s.deals_dealt & 0xFF)
    s.turn = next_seat(s, s.dealer)
    run_turns(s)


# --- A turn.


@rule
def run_turns(s: Table) -> None:
    """Begins turns until somebody must decide or the round is over."""
    while not begin_turn(s):
        if not end_turn(s):
            return


@rule
def begin_turn(s: Table) -> bool:
    """The seat whose turn it is must play, or draws by itself (M11, M26). False if the turn ended by itself."""
    seat = s.turn
    s.played_out = 0
    if playable(s, seat) != NO_KINDS:
        s.phase = PHASE_PLAY
        s.actor = seat
        return True
    kind = draw(s, seat)
    if kind == NOTHING:
        s.idle_turns += 1
        note(s, DREW, seat, 0)
        note(s, KEPT, seat, 0)
        return False
    s.idle_turns = 0
    note(s, DREW, seat, 1)
    if playable_with(s, s.n_held[seat]) & bit(kind) != NO_KINDS:
        s.drawn = kind
        s.phase = PHASE_DRAWN
        s.actor = seat
        return True
    note(s, KEPT, seat, 0)
    return False


@rule
def end_turn(s: Table) -> bool:
    """Winner, blocked, truncated, in this order (M20); else the turn passes on. False if the round is over."""
    s.turns_done += 1
    winner = round_winner(s)
    if winner != NOBODY:
        finish_won(s, winner)
    elif s.idle_turns >= s.players:  # M13
        finish_blocked(s)
    elif s.turns_done >= s.max_turns:
        finish_truncated(s)
    else:
        s.turn = next_seat(s, s.turn)
        return True
    return False


# --- The decisions.


@rule
def apply_action(s: Table, action: int) -> None:
    """One decision of the actor and all that follows by itself. The action must be legal."""
    clear_rewards(s)
    if s.phase == PHASE_PLAY:
        is_turn_over = apply_play(s, action)
    elif s.phase == PHASE_DRAWN:
        is_turn_over = apply_drawn(s, action)
    else:
        is_turn_over = apply_answer(s, action)
    if is_turn_over and end_turn(s):
        run_turns(s)


@rule
def apply_play(s: Table, action: int) -> bool:
    """``PHASE_PLAY``: a card of the hand. True if the turn is over."""
    seats = int(s.seats_encoded)
    kind, word, gift = split_action(seats, action)
    if kind == CHANGE:
        place, told = NOBODY, word
    else:
        place = CENTER if word == TO_THE_CENTER else seat_after(s, s.turn, word)
        has_target = kind >= FORCE_TWO or bit(kind) & WITH_ANYWHERE != NO_KINDS
        told = place + 1 if has_target else 0
    s.idle_turns = 0
    note(s, PLAYED, s.turn, kind + N_KINDS * told)
    lay(s, s.turn, kind)
    if is_investigation(kind):
        investigate(s, kind, place)
        return True
    return open_window(s, kind, place, word if kind == CHANGE else NOTHING, gift)


@rule
def investigate(s: Table, kind: int, place: int) -> None:
    """An investigation sets the suit, and its function always happens."""
    s.suit = suit_of(kind)
    function = function_of(kind)
    if function == ATTRACT:
        s.mitchell = s.turn
    elif function == TO_CENTER:
        s.mitchell = CENTER
    elif function == ANYWHERE:
        s.mitchell = place


@rule
def apply_drawn(s: Table, action: int) -> bool:
    """``PHASE_DRAWN``: the card just drawn, or pass (M26). True if the turn is over."""
    s.drawn = NOTHING
    if action == pass_at(s.seats_encoded):
        note(s, KEPT, s.turn, 0)
        return True
    return apply_play(s, action)


@rule
def apply_answer(s: Table, action: int) -> bool:
    """``PHASE_ANSWER``: cancel, revenge or decline. True if the turn is over."""
    which = action - pass_at(s.seats_encoded) - 1
    return answer(s, CANCEL + which if which < 2 else NOTHING)
