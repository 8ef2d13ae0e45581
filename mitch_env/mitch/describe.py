"""The table of Mitch as text: what a person at one seat sees, and each public event in words."""

from __future__ import annotations

import textwrap

import numpy as np

from ..events import recent_events, split_event
from ..game import NOBODY, PHASE_DEAL, PHASE_OVER, Table
from ..rewards import is_winner
from .actions import DRAW, N_ACTIONS, legal_actions
from .events import ACE_LAID, CLOCK_UP, DEALT, DISCARDED, LAID, PLAYOFF_DEALT, TOOK
from .options import ACE_HAND, JOKER, LONGEST
from .scoring import column_worth, leader, score_suits
from .state import ACES, JOKER_CARD, N_RANKS, column, is_closed
from .text import RANKS, action_name, card_name, cards_of

SYMBOLS = "♠♥♦♣"
CROWN = "♛"
#: Events that are told, and discards that are listed.
N_TOLD, N_LISTED = 8, 10
_WIDTH = 96
_LABEL_WIDTH = 11
#: Up to this many players a column has room for spaces between its ranks.
_SPACED_PLAYERS = 3

_VERBS = {
    LAID: "lays {card}",
    DISCARDED: "discards {card}",
    TOOK: "takes {card}",
    ACE_LAID: "lays the ace {card} on the pile",
    CLOCK_UP: "turns up {card}",
}


def describe(table: Table, seat: int | None) -> str:
    """The table as text of at most 96 columns, as a person at ``seat`` sees it; with None, what everybody can see."""
    parts = [_head(table), _middle(table), _grid(table, seat)]
    if seat is not None and table.phase != PHASE_OVER:
        parts.append(_own_hand(table, seat))
    parts.append(_outlook(table, seat))
    told = [event_text(table, event) for event in recent_events(table, N_TOLD)]
    if told:
        parts.append("\n".join(["Last moves", *(f"  {words}" for words in told)]))
    return "\n\n".join(part for part in parts if part)


def event_text(table: Table, event: int) -> str:
    """A public event in words, such as ``seat1 lays 9H``.

    Raises:
        ValueError: If Mitch has no such event.
    """
    kind, seat, detail = split_event(event)
    if kind == DEALT:
        started = int(table.deals_done) + 1
        number = started - (started - detail) % 256  # the event holds the number modulo 256
        return f"deal {number}, dealt by seat{seat}"
    if kind == PLAYOFF_DEALT:
        return f"play-off, dealt by seat{seat}"
    if kind not in _VERBS:
        raise ValueError(f"event {event}: kind {kind} is no event of Mitch, 0 to {PLAYOFF_DEALT} are")
    return f"seat{seat} {_VERBS[kind].format(card=card_name(detail))}"


# --- What both the text and the picture tell.


def is_crowned(table: Table, seat: int, suit: int) -> bool:
    """Whether the column is the best now: of its suit, or with ``scoring="longest"`` of all."""
    if table.scoring != LONGEST:
        return bool(leader(table, suit) == seat)
    best = max(column_worth(table, other, any_suit) for other in range(table.players) for any_suit in range(table.suits))
    return bool(best > 0 and column_worth(table, seat, suit) == best)


def ranks_down(table: Table, seat: int, suit: int) -> str:
    """The ranks of a column from its top to its bottom, such as ``KT94``."""
    ranks = int(column(table, seat, suit))
    return "".join(RANKS[rank] for rank in reversed(range(N_RANKS)) if ranks >> rank & 1)


def clock_cards_up(table: Table) -> list[int]:
    """The clock cards that lie face up, with ``clock="ace_hand"`` the ace pile."""
    return [JOKER_CARD] * int(table.clock_seen) if table.clock == JOKER else cards_of(table.clock_up & ACES)


def stock_left(table: Table) -> int:
    """The cards that lie face down in the stock; 0 before the first deal."""
    return int(table.stock_size - table.stock_next) if table.deals_dealt else 0


def clock_text(table: Table) -> str:
    """What the clock says."""
    if table.deals_dealt == 0:
        return "nothing is dealt yet"
    if not is_closed(table):
        left = int(table.clock_cards - table.clock_seen)
        card = "joker" if table.clock == JOKER else "ace"
        return f"open: the next {card} closes it" if left == 1 else f"open: {left} more {card}s close it"
    if table.clock_seen >= table.clock_cards:
        return "closed"
    return "closed: used up"


def deal_text(table: Table) -> str:
    """Which deal is played, such as ``deal 2 of 3, play-off 1``."""
    if table.phase == PHASE_OVER:
        return f"the match is over after {_counted(table.deals, 'deal')}"
    words = f"deal {table.deals_done + 1} of {table.deals}"
    return f"{words}, play-off {table.playoff} of at most {table.playoffs}" if table.playoff else words


def points_now(table: Table) -> list[int]:
    """What each seat would get if the deal ended now (``scoring="suits"``); after a deal, what it got."""
    ended = table.copy()
    ended.points[:] = 0
    score_suits(ended)
    return [int(points) for points in ended.points[: table.players]]


def result_text(table: Table) -> str:
    """Who won a match that is over."""
    winners = [seat for seat in range(table.players) if is_winner(table, seat)]
    names = _listed([f"seat{seat}" for seat in winners])
    points = _counted(int(table.totals[winners[0]]), "point")
    return f"{names} wins with {points}" if len(winners) == 1 else f"{names} share the win with {points}"


# --- The parts of the text.


def _head(table: Table) -> str:
    head = f"Mitch · {deal_text(table)}"
    if table.phase == PHASE_OVER:
        return head
    return f"{head} · {'waiting for the deal of' if table.phase == PHASE_DEAL else 'dealt by'} seat{table.dealer}"


def _middle(table: Table) -> str:
    """Stock, clock and discards."""
    up = " ".join(map(card_name, clock_cards_up(table)))
    pile = [card_name(table.pile[i]) for i in reversed(range(table.pile_size))]
    shown = " ".join(pile[:N_LISTED]) + (" …" if len(pile) > N_LISTED else "")
    lines = [
        ("stock", f"{_counted(stock_left(table), 'card')}, {clock_text(table)}"),
        ("ace pile" if table.clock == ACE_HAND else "clock", up or "-"),
        ("discards", f"{shown}  ({len(pile)}, the last one first)" if pile else "-"),
    ]
    return "\n".join(f"{label:<{_LABEL_WIDTH}}{words}" for label, words in lines)


def _grid(table: Table, seat: int | None) -> str:
    """A column of the grid for each player: names, counts, and the tableau, one suit a line."""
    players = range(table.players)
    rows = [("", [_name(table, other, seat) for other in players]), ("", [_marks(table, other) for other in players])]
    rows.append(("hand", [_counted(int(table.hand[other]).bit_count(), "card") for other in players]))
    rows.append(("total", [str(table.totals[other]) for other in players]))
    if table.deals_done and (table.actor != NOBODY or table.scoring == LONGEST):
        rows.append(("last deal", [f"{table.points[other]:+d}" for other in players]))
    if table.scoring != LONGEST:
        rows.append(("this deal", [f"{points:+d}" for points in points_now(table)]))
    if table.waiting_penalty:
        rows.append(("waiting", ["laid nothing yet" if table.waited >> other & 1 else "" for other in players]))
    suits = range(table.suits)
    rows += [(f"    {SYMBOLS[suit]}", [_column_text(table, other, suit) for other in players]) for suit in suits]
    width = (2 * N_RANKS - 1 if table.players <= _SPACED_PLAYERS else N_RANKS) + len(f" {CROWN}")
    lines = [f"{label:<{_LABEL_WIDTH}}" + "  ".join(f"{cell:<{width}}" for cell in cells) for label, cells in rows]
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _name(table: Table, seat: int, viewer: int | None) -> str:
    turn = "▶ " if seat == table.actor else ""
    return f"{turn}seat{seat}{' (you)' if seat == viewer else ''}"


def _marks(table: Table, seat: int) -> str:
    """What is special about a seat now."""
    if table.phase == PHASE_OVER:
        return "winner" if is_winner(table, seat) else ""
    marks = {"to move": seat == table.actor, "dealer": seat == table.dealer, "sits out": not table.taking_part >> seat & 1}
    return ", ".join(mark for mark, is_so in marks.items() if is_so)


def _column_text(table: Table, seat: int, suit: int) -> str:
    ranks = ranks_down(table, seat, suit)
    if not ranks:
        return "-"
    spaced = " ".join(ranks) if table.players <= _SPACED_PLAYERS else ranks
    return f"{spaced} {CROWN}" if is_crowned(table, seat, suit) else spaced


def _own_hand(table: Table, seat: int) -> str:
    suits = []
    for suit in range(table.suits):
        ranks = [RANKS[card % N_RANKS] for card in reversed(cards_of(table.hand[seat])) if card // N_RANKS == suit]
        if ranks:
            suits.append(f"{SYMBOLS[suit]} {' '.join(ranks)}")
    return _wrapped("your hand", "   ".join(suits) or "no cards")


def _outlook(table: Table, seat: int | None) -> str:
    """What comes next: the moves of ``seat`` if it is to move, else whom everybody waits for; or who won."""
    if table.phase == PHASE_OVER:
        return f"{result_text(table)}."
    if table.actor == NOBODY:
        return ""
    if seat != table.actor:
        return f"seat{table.actor} is to move."
    mask = np.zeros(N_ACTIONS, np.uint8)
    legal_actions(table, mask)
    return "\n".join(["Your turn", *_moves(table, [int(action) for action in np.flatnonzero(mask)])])


def _moves(table: Table, actions: list[int]) -> list[str]:
    """Legal moves in the notation of the records, one line for each verb."""
    verbs: dict[str, list[str]] = {}
    for action in sorted(actions, key=lambda a: (a // N_RANKS, a if a >= DRAW else -a)):  # ranks down, as in the hand
        verb, _, card = action_name(table, action).partition(" ")
        verbs.setdefault(verb, []).append(card)
    return [_wrapped(f"  {verb}", " ".join(cards)) for verb, cards in verbs.items()]


def _wrapped(label: str, words: str) -> str:
    lines = textwrap.wrap(words, _WIDTH - _LABEL_WIDTH)
    return (
        "\n".join([f"{label:<{_LABEL_WIDTH}}{lines[0]}", *(" " * _LABEL_WIDTH + line for line in lines[1:])])
        if lines
        else label
    )


def _counted(n: int, thing: str) -> str:
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
