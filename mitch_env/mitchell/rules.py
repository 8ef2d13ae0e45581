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
from .scoring import finish_round, round_winner
from .state import CENTER, PHASE_ANSWER, PHASE_DRAWN, PHASE_PLAY, playable, playable_with
from .window import answer, close_window, open_window


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
    if not begin_turn(s):
        end_turns(s)


# --- A turn.


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
    if winner != NOBODY or s.idle_turns >= s.players or s.turns_done >= s.max_turns:  # M13
        finish_round(s, winner)
        return False
    s.turn = next_seat(s, s.turn)
    return True


@rule
def end_turns(s: Table) -> None:
    """Ends the turn, and those after it that end by themselves, until somebody must decide or the round is over."""
    goes_on = True
    while goes_on:
        goes_on = end_turn(s) and not begin_turn(s)


# --- The decisions. What is large is called in one place only, since kernels take in whatever they call.


@rule
def apply_action(s: Table, action: int) -> None:
    """One decision of the actor and all that follows by itself. The action must be legal."""
    clear_rewards(s)
    reaction = NOTHING
    if s.phase == PHASE_ANSWER:
        reaction = reaction_of(s, action)
        is_asking = answer(s, reaction)
    elif s.phase == PHASE_DRAWN and action == pass_at(s.seats_encoded):  # M26
        s.drawn = NOTHING
        note(s, KEPT, s.turn, 0)
        is_asking = False
    else:
        s.drawn = NOTHING
        is_asking = apply_play(s, action)
    if not is_asking:
        if s.pending != NOTHING:
            close_window(s, reaction)
        end_turns(s)


@rule
def apply_play(s: Table, action: int) -> bool:
    """``PHASE_PLAY`` or ``PHASE_DRAWN``: a card of the hand. True if somebody is asked for an answer to it."""
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
        return False
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
def reaction_of(s: Table, action: int) -> int:
    """The reaction that an action of ``PHASE_ANSWER`` plays: cancel or revenge, or NOTHING if it declines."""
    which = action - pass_at(s.seats_encoded) - 1
    return CANCEL + which if which < 2 else NOTHING
