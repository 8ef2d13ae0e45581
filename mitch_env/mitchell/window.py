"""The reaction window: opponents of the player of an action are asked, one after the other, until one reacts.

It is open while ``s.pending`` holds the action; its player is ``s.turn``, whoever must answer is ``s.actor``. Who has declined,
and who was not asked, follows from ``s.actor`` and is nobody else's business (M8).
"""

from __future__ import annotations

from ..events import note
from ..game import NOBODY, Table
from ..jit import rule
from ..seats import next_seat, seat_after
from .cards import draw_some, hand_over, lay
from .events import REACTED
from .kinds import CANCEL, CHANGE, FORCE_TWO, GIVE, MOVE, NO_KINDS, NOTHING, REVENGE
from .state import CENTER, PHASE_ANSWER, reactions


@rule
def affected(s: Table) -> int:
    """The opponent immediately affected by the pending action, NOBODY if there is none (M4)."""
    return int(s.target) if s.target != s.turn else NOBODY


@rule
def first_asked(s: Table) -> int:
    """Who is asked first: who is affected; else who has Mitchell, before the effect (M23); else the next clockwise (M5)."""
    seat = affected(s)
    if seat != NOBODY:
        return seat
    if s.mitchell != CENTER and s.mitchell != s.turn:
        return int(s.mitchell)
    return next_seat(s, s.turn)


@rule
def is_asked(s: Table, seat: int) -> bool:
    """Whether an opponent is asked when its turn to answer comes, instead of declining by itself (M8, M23)."""
    return bool(s.ask_everyone != 0 or reactions(s, seat) != NO_KINDS)


@rule
def ask_from(s: Table, step: int) -> bool:
    """Asks the first who is to be asked, from ``step`` seats after the first on, clockwise. False if nobody is left."""
    first = first_asked(s)
    for i in range(step, s.players):
        seat = seat_after(s, first, i)
        if seat != s.turn and is_asked(s, seat):
            s.phase = PHASE_ANSWER
            s.actor = seat
            return True
    return False


@rule
def open_window(s: Table, action: int, target: int, new_suit: int, gift: int) -> bool:
    """The seat whose turn it is has laid an action card: asks for answers. False if nobody is asked."""
    s.pending = action
    s.target = target
    s.new_suit = new_suit
    s.gift = gift
    return ask_from(s, 0)


@rule
def answer(s: Table, reaction: int) -> bool:
    """The actor plays a reaction, or declines (NOTHING). True if somebody else is asked then."""
    if reaction == NOTHING:
        step = int(s.actor) - first_asked(s)
        return ask_from(s, (step if step >= 0 else step + int(s.players)) + 1)
    note(s, REACTED, s.actor, reaction)
    lay(s, s.actor, reaction)
    return False


@rule
def close_window(s: Table, reaction: int) -> None:
    """Nobody is asked any more: first the effect of the action, then the draw that the reaction forces (M7, M16)."""
    if reaction != CANCEL:
        take_effect(s)
    s.pending = NOTHING
    s.target = NOBODY
    s.new_suit = NOTHING
    s.gift = NOTHING
    n_forced = 1 if reaction == CANCEL else 2 if reaction == REVENGE else 0
    if n_forced > 0:
        draw_some(s, s.turn, n_forced)


@rule
def take_effect(s: Table) -> None:
    """What the pending action does if it is not cancelled (M21)."""
    if s.pending == CHANGE:
        s.suit = s.new_suit
    elif s.pending == FORCE_TWO:
        draw_some(s, s.target, 2)
    elif s.pending == MOVE:
        s.mitchell = s.target
    elif s.pending == GIVE:
        hand_over(s, s.turn, s.target, s.gift)
        s.mitchell = s.turn
