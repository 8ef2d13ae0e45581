"""The table of Mitchell as text: what a person at one seat sees, and each public event as the players say it."""

from __future__ import annotations

import textwrap

import numpy as np

from ..events import recent_events, split_event
from ..game import NOBODY, PHASE_DEAL, PHASE_OVER, Table
from ..rewards import is_winner
from .actions import legal_actions, n_actions
from .events import BLOCKED, CAUGHT, DEALT, DREW, KEPT, PLAYED, REACTED, RESHUFFLED, STOPPED, WON
from .kinds import (
    CANCEL,
    CHANGE,
    FORCE_TWO,
    GIVE,
    IN_ORDER,
    KIND_NAMES,
    MOVE,
    N_KINDS,
    NOTHING,
    SUITS,
    function_of,
    is_investigation,
    suit_of,
)
from .memory import known_counts, n_known
from .state import CENTER, PHASE_ANSWER, PHASE_DRAWN, PHASE_PLAY, stock_left
from .text import action_name

#: Who sits at each seat; it does not matter in any way who is who.
SUSPECTS = ("Greta", "Gallano", "Cummins", "Odile", "Vasco", "Nettie", "Lindqvist", "Yolanda")
SUIT_TITLES = tuple(name.replace("-", " ").title() for name in SUITS)
#: Events that are told.
N_TOLD = 8
_WIDTH = 96
_LABEL_WIDTH = 13
_FUNCTION_WORDS = ("", ", attract Mitchell", ", move Mitchell to center", ", move Mitchell anywhere... move him to {place}")
_DRAWN_WORDS = ("nothing, for nothing is left to draw", "one card", "two cards")


def describe(table: Table, seat: int | None) -> str:
    """The table as text of at most 96 columns, as a person at ``seat`` sees it; with None, what everybody can see."""
    parts = [_head(table), _middle(table), _suspects(table, seat)]
    if seat is not None and table.phase != PHASE_OVER:
        parts.append(_wrapped("your hand", counted_kinds(table.hand[seat]) or "no cards"))
    parts.append(_outlook(table, seat))
    told = [event_text(table, event) for event in recent_events(table, N_TOLD)]
    if told:
        parts.append("\n".join(["Last moves", *(f"  {words}" for words in told)]))
    return "\n\n".join(part for part in parts if part)


def event_text(table: Table, event: int) -> str:
    """A public event in words, such as ``seat0 Greta: Action, force Gallano to draw two.``

    Raises:
        ValueError: If Mitchell has no such event.
    """
    kind, seat, detail = split_event(event)
    if not DEALT <= kind <= STOPPED:
        raise ValueError(f"event {event}: kind {kind} is no event of Mitchell, 0 to {STOPPED} are")
    following = SUSPECTS[(seat + 1) % table.players]
    if kind == DEALT:
        dealt = int(table.deals_dealt)
        number = dealt - (dealt - detail) % 256  # the event holds the number modulo 256
        return f"Round {number}: {following} begins."
    if kind == PLAYED:
        words = f": {played_words(detail % N_KINDS, detail // N_KINDS)}."
    else:
        words = {
            REACTED: f": Reaction, {'cancel that and you draw one' if detail == CANCEL else 'force you to draw two'}.",
            DREW: f" draws {_DRAWN_WORDS[min(detail, 2)]}.",
            KEPT: f": Go ahead, {following}.",
            RESHUFFLED: ": The discards are shuffled.",
            WON: " wins the round.",
            CAUGHT: " is caught by Mitchell.",
            BLOCKED: " ends the round: nobody can play or draw.",
            STOPPED: " ends the last turn: there have been too many.",
        }[kind]
    return f"{suspect_name(seat)}{words}"


# --- What both the text and the picture tell.


def suspect_name(seat: int) -> str:
    """``seat0 Greta``."""
    return f"seat{seat} {SUSPECTS[seat]}"


def place_words(place: int) -> str:
    """A suspect, or the center."""
    return "the center" if place == CENTER else SUSPECTS[place]


def played_words(kind: int, word: int) -> str:
    """What is said when a card is played; ``word`` as in the event."""
    if is_investigation(kind):
        return SUIT_TITLES[suit_of(kind)] + _FUNCTION_WORDS[function_of(kind)].format(place=place_words(word - 1))
    if kind == CHANGE:
        return f"Action, change to {SUIT_TITLES[word]}"
    said = {
        FORCE_TWO: "force {place} to draw two",
        MOVE: "move Mitchell to {place}",
        GIVE: "give a card to {place}, attract Mitchell",
    }[kind]
    return f"Action, {said.format(place=place_words(word - 1))}"


def waiting_words(table: Table) -> str:
    """The action that waits for answers as its player says it; without the card to give (M6)."""
    word = table.new_suit if table.pending == CHANGE else table.target + 1
    return f"{SUSPECTS[table.turn]}: {played_words(int(table.pending), int(word))}."


def round_words(table: Table) -> str:
    """Which round is played, such as ``round 2 of at most 100, to 1000 points``."""
    if table.phase == PHASE_OVER:
        stopped = f", stopped after {table.turns_done} turns of the next" if table.truncated else ""
        return f"the match is over after {_counted(int(table.deals_done), 'round')}{stopped}"
    words = f"round {table.deals_done + 1} of at most {table.rounds}"
    return f"{words}, to {table.target_score} points" if table.target_score else words


def result_words(table: Table) -> str:
    """Who won a match that is over."""
    winners = [seat for seat in range(table.players) if is_winner(table, seat)]
    points = _counted(int(table.totals[winners[0]]), "point")
    if len(winners) == 1:
        return f"{suspect_name(winners[0])} wins with {points}"
    names = [SUSPECTS[seat] for seat in winners]
    return f"{', '.join(names[:-1])} and {names[-1]} share the win with {points}"


def whose_turn(table: Table, seat: int | None) -> int:
    """Whom everybody waits for, as far as ``seat`` may know: in a reaction window whoever plays the action (M8)."""
    if table.phase == PHASE_ANSWER and table.actor != seat:
        return int(table.turn)
    return int(table.actor)


def counted_kinds(counts: np.ndarray) -> str:
    """Cards by kind, such as ``brawl x2, change``."""
    held = [(KIND_NAMES[kind], int(counts[kind])) for kind in IN_ORDER if counts[kind]]
    return ", ".join(name if n == 1 else f"{name} x{n}" for name, n in held)


# --- The parts of the text.


def _head(table: Table) -> str:
    head = f"Mitchell · {round_words(table)}"
    if table.phase == PHASE_OVER:
        return head
    if table.phase == PHASE_DEAL:
        return f"{head} · waiting for the deal"
    return f"{head} · turn {table.turns_done + 1}"


def _middle(table: Table) -> str:
    """What lies in the center of the table, and an action that waits for answers."""
    n = int(table.n_discards)
    lines = [
        ("center", "Mitchell" if table.mitchell == CENTER else "-"),
        ("plot card", "-" if table.suit == NOTHING else SUIT_TITLES[table.suit]),
        ("discards", f"{KIND_NAMES[table.top]} on top ({_counted(n, 'card')})" if n else "-"),
        ("draw pile", _counted(stock_left(table), "card")),
    ]
    if table.phase == PHASE_ANSWER:
        lines.append(("to answer", waiting_words(table)))
    return "\n".join(f"{label:<{_LABEL_WIDTH}}{words}" for label, words in lines)


def _suspects(table: Table, viewer: int | None) -> str:
    """A line for each player: cards in hand, score, Mitchell, and what the viewer knows of the hand."""
    lines = [f"{'':24}{'cards':>6}{'total':>8}{'last round':>12}"]
    for seat in range(table.players):
        name = f"{suspect_name(seat)}{' (you)' if seat == viewer else ''}"
        pointer = "▶ " if seat == whose_turn(table, viewer) else "  "
        last = f"{table.points[seat]:+d}" if table.deals_done and not table.truncated else ""
        row = f"{pointer}{name:<22}{table.n_held[seat]:>6}{table.totals[seat]:>8}{last:>12}   "
        marks = ", ".join(_marks(table, seat, viewer))
        room = _WIDTH - len(row)
        lines.append((row + (marks if len(marks) <= room else f"{marks[: room - 3]}...")).rstrip())
    return "\n".join(lines)


def _marks(table: Table, seat: int, viewer: int | None) -> list[str]:
    """What is special about a suspect now."""
    marks = ["Mitchell"] if table.mitchell == seat else []
    if table.phase == PHASE_OVER:
        return [*marks, "winner"] if is_winner(table, seat) else marks
    if table.n_held[seat] == 1:
        marks.append('"Mitchell!"')  # M15
    if viewer is not None and seat != viewer and n_known(table, viewer, seat):
        marks.append(f"has {counted_kinds(known_counts(table)[viewer, seat])}")
    return marks


def _outlook(table: Table, seat: int | None) -> str:
    """What comes next: the moves of ``seat`` if it is to decide, else whom everybody waits for; or who won."""
    if table.phase == PHASE_OVER:
        return _wrapped("", f"{result_words(table)}.", 0)
    if table.actor == NOBODY:
        return ""
    if seat != table.actor:
        answers = table.phase == PHASE_ANSWER
        return "Waiting for answers." if answers else f"{suspect_name(int(table.turn))} is to play."
    mask = np.zeros(n_actions(table.seats_encoded), np.uint8)
    legal_actions(table, mask)
    head = {
        PHASE_PLAY: "Your turn",
        PHASE_DRAWN: f"You drew {KIND_NAMES[table.drawn]}",
        PHASE_ANSWER: "Your answer",
    }[int(table.phase)]
    return "\n".join([head, *_moves([action_name(table, int(action)) for action in np.flatnonzero(mask)])])


def _moves(moves: list[str]) -> list[str]:
    """Legal moves in the notation of the records: those of one word in a line, the others by all but their last word."""
    lines: dict[str, list[str]] = {}
    for move in moves:
        beginning, _, last = move.rpartition(" ")
        lines.setdefault(beginning, []).append(last)
    return [_wrapped(f"  {beginning or 'one of'}", ", ".join(last), 24) for beginning, last in sorted(lines.items())]


def _wrapped(label: str, words: str, width: int = _LABEL_WIDTH) -> str:
    first, *others = textwrap.wrap(words, _WIDTH - width, break_on_hyphens=False)
    return "\n".join([f"{label:<{width}}{first}", *(" " * width + line for line in others)])


def _counted(n: int, thing: str) -> str:
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"
