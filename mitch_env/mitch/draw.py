"""The table of Mitch as a picture, as ``render_mode="rgb_array"`` returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import drawing
from ..drawing import CREAM, DIM, GOLD, INK, RED, Box, label, paste
from ..events import recent_events
from ..game import NOBODY, PHASE_OVER, Table
from ..rewards import is_winner
from .describe import (
    clock_cards_up,
    clock_text,
    deal_text,
    event_text,
    is_crowned,
    points_now,
    result_text,
    stock_left,
)
from .options import ACE_HAND, LONGEST
from .state import JOKER_CARD, N_RANKS, column
from .text import RANKS, cards_of

if TYPE_CHECKING:
    from PIL.Image import Image

HEIGHT = 704
#: Width by the number of players; multiples of 16, which video encoders like.
WIDTHS = {2: 960, 3: 960, 4: 960, 5: 1120}

_EMBLEMS = ("spade", "heart", "diamond", "club")
_PURPLE = (112, 62, 148)
_MARGIN, _GAP = 12, 8
_PLAYERS_TOP, _PLAYERS_BOTTOM = 40, 436
_MOVES_WIDTH = 236
_N_TOLD = 10
_N_FANNED = 9


def draw_table(table: Table, seat: int | None) -> np.ndarray:
    """The table as a person at ``seat`` sees it; with None, what everybody can see.

    Returns:
        uint8[704, width, 3]; the width is 960, for five players 1120.

    Raises:
        ImportError: If Pillow is missing.
    """
    drawing.require_pillow()
    width = WIDTHS[int(table.players)]
    picture = drawing.felt(width, HEIGHT)
    _draw_head(picture, table)
    for other, box in enumerate(_player_boxes(int(table.players), width)):
        _draw_player(picture, table, other, box, is_viewer=other == seat)
    moves_left = width - _MARGIN - _MOVES_WIDTH
    _draw_middle(picture, table, (_MARGIN, 444, moves_left - _GAP, 566))
    _draw_moves(picture, table, (moves_left, 444, width - _MARGIN, HEIGHT - _MARGIN))
    _draw_near_side(picture, table, seat, (_MARGIN, 574, moves_left - _GAP, HEIGHT - _MARGIN))
    return drawing.to_array(picture)


def _player_boxes(players: int, width: int) -> list[Box]:
    lefts = [_MARGIN + i * (width - 2 * _MARGIN + _GAP) // players for i in range(players + 1)]
    return [(lefts[i], _PLAYERS_TOP, lefts[i + 1] - _GAP, _PLAYERS_BOTTOM) for i in range(players)]


def _face(card: int, width: int, *, in_row: bool) -> Image:
    if card == JOKER_CARD:
        return drawing.card_face(width, "JK", "sun", _PURPLE, in_row=in_row)
    suit, rank = card // N_RANKS, RANKS[card % N_RANKS]
    corner = "10" if rank == "T" else rank
    return drawing.card_face(width, corner, _EMBLEMS[suit], RED if suit in (1, 2) else INK, in_row=in_row)


def _draw_head(picture: Image, table: Table) -> None:
    label(picture, (_MARGIN + 4, 27), "Mitch", 20, GOLD, bold=True)
    label(picture, (_MARGIN + 76, 27), deal_text(table), 16)
    if table.phase == PHASE_OVER:
        state = ""
    elif table.actor == NOBODY:
        state = f"waiting for the deal of seat{table.dealer}"
    else:
        state = f"seat{table.actor} is to move"
    label(picture, (picture.width - _MARGIN - 4, 27), state, 16, anchor="rs")


# --- A player.


def _draw_player(picture: Image, table: Table, seat: int, box: Box, *, is_viewer: bool) -> None:
    left, top, right, bottom = box
    is_over = table.phase == PHASE_OVER
    won = is_over and is_winner(table, seat)
    is_out = not is_over and not table.taking_part >> seat & 1
    drawing.frame(picture, box, lit=seat == table.actor or won, fill=(0, 0, 0, 92 if is_out else 52))
    x = left + 12
    if seat == table.actor:
        paste(picture, drawing.shape("pointer", 12, 14, GOLD), (x, top + 14))
        x += 18
    colour = GOLD if seat == table.actor or won else DIM if is_out else CREAM
    label(picture, (x, top + 28), f"seat{seat}{' (you)' if is_viewer else ''}", 19, colour, room=right - x - 70, bold=True)
    label(picture, (right - 12, top + 29), str(table.totals[seat]), 24, colour, anchor="rs", bold=True)
    _draw_hand_size(picture, table, seat, (left + 12, top + 38, right - 12, top + 62))
    _draw_columns(picture, table, seat, (left + 8, top + 70, right - 8, bottom - 8))


def _draw_hand_size(picture: Image, table: Table, seat: int, box: Box) -> None:
    """The hand as backs of cards, then what is special about the seat; the points of this deal to the right."""
    left, top, right, bottom = box
    is_over = table.phase == PHASE_OVER
    n = int(table.hand[seat]).bit_count()
    if n:
        drawing.lay_row(picture, [drawing.card_back(16)] * n, (left, top), 66, 9)
        label(picture, (left + min(66, 16 + 9 * (n - 1)) + 6, bottom - 7), str(n), 15)
    elif not is_over:
        words = "no cards" if table.taking_part >> seat & 1 else "sits out"
        label(picture, (left, bottom - 7), words, 14, DIM)
    if is_over and is_winner(table, seat):
        label(picture, (left, bottom - 7), "winner", 15, GOLD)
    if seat == table.dealer and not is_over:
        paste(picture, drawing.shape("disc", 20, 20, CREAM), (left + 106, top + 1))
        label(picture, (left + 116, top + 11), "D", 14, INK, anchor="mm", bold=True)
    if table.scoring != LONGEST:
        label(picture, (right, bottom - 7), f"deal {points_now(table)[seat]:+d}", 14, DIM, anchor="rs")


def _draw_columns(picture: Image, table: Table, seat: int, box: Box) -> None:
    left, top, right, bottom = box
    each = (right - left) / int(table.suits)
    width = min(54, (right - left) // 4 - 4)
    crown_height = 16
    for suit in range(table.suits):
        x = round(left + each * (suit + 0.5) - width / 2)
        y = top + crown_height + 4
        ranks = cards_of(column(table, seat, suit))
        if not ranks:
            paste(picture, drawing.card_place(width, _EMBLEMS[suit]), (x, y))
            continue
        faces = [_face(N_RANKS * suit + rank, width, in_row=False) for rank in reversed(ranks)]
        drawing.lay_column(picture, faces, (x, y), bottom - y, drawing.corner_size(width) + 5)
        if is_crowned(table, seat, suit):
            paste(picture, drawing.shape("crown", 24, crown_height, GOLD), (x + (width - 24) // 2, top))


# --- The middle of the table.


def _draw_middle(picture: Image, table: Table, box: Box) -> None:
    """Stock, clock cards and discards side by side."""
    left, top, right, _ = box
    width, y = 58, top + 6
    words_y = y + drawing.card_height(width) + 18
    n = stock_left(table)
    clock_left, pile_left = left + 176, left + 430
    for layer in range(min(4, (n + 9) // 10)):
        paste(picture, drawing.card_back(width), (left + 4 + 3 * layer, y - layer))
    if n == 0:
        paste(picture, drawing.card_place(width, "disc"), (left + 4, y))
    label(picture, (left + 80, y + 46), str(n), 22, bold=True)
    label(picture, (left + 4, words_y), "stock", 14, DIM)
    up = [_face(card, width, in_row=True) for card in clock_cards_up(table)]
    missing = max(0, int(table.clock_cards) - len(up))
    drawing.lay_row(picture, up + [drawing.card_place(width, "sun")] * missing, (clock_left, y), 240, width + 4)
    name = "ace pile" if table.clock == ACE_HAND else "clock"
    label(picture, (clock_left, words_y), f"{name}, {clock_text(table)}", 14, DIM, room=246)
    pile = [int(table.pile[i]) for i in range(table.pile_size)]
    if pile:
        fan = [_face(card, width, in_row=True) for card in pile[-_N_FANNED:]]
        drawing.lay_row(picture, fan, (pile_left, y), right - pile_left, 26)
    else:
        paste(picture, drawing.card_place(width, "disc"), (pile_left, y))
    words = f"{len(pile)} discarded, the last one on top" if pile else "nothing is discarded yet"
    label(picture, (pile_left, words_y), words, 14, DIM, room=right - pile_left)


def _draw_moves(picture: Image, table: Table, box: Box) -> None:
    """The last moves in words, the latest one at the bottom."""
    left, top, right, _ = box
    drawing.frame(picture, box)
    label(picture, (left + 12, top + 22), "last moves", 14, DIM)
    told = [event_text(table, event) for event in recent_events(table, _N_TOLD)]
    for i, words in enumerate(told):
        colour = CREAM if i == len(told) - 1 else DIM
        label(picture, (left + 12, top + 44 + 20 * i), words, 14, colour, room=right - left - 24)


def _draw_near_side(picture: Image, table: Table, seat: int | None, box: Box) -> None:
    """The open hand of ``seat``; after the match, who won."""
    left, top, right, bottom = box
    drawing.frame(picture, box)
    middle = ((left + right) // 2, (top + bottom) // 2)
    if table.phase == PHASE_OVER:
        label(picture, middle, result_text(table), 28, GOLD, anchor="mm", room=right - left - 130, bold=True)
        for x in (left + 16, right - 16 - 42):
            paste(picture, drawing.shape("crown", 42, 28, GOLD), (x, middle[1] - 16))
    elif seat is None:
        label(picture, middle, "all hands are closed", 15, DIM, anchor="mm")
    else:
        width = 72
        cards = [card for suit in range(4) for card in reversed(cards_of(table.hand[seat])) if card // N_RANKS == suit]
        faces = [_face(card, width, in_row=True) for card in cards]
        label(picture, (left + 14, middle[1]), "your hand", 15, DIM, anchor="lm")
        drawing.lay_row(picture, faces, (left + 100, top + 8), right - left - 114, width + 6)
        if not faces:
            label(picture, (left + 100, middle[1]), "no cards", 15, CREAM, anchor="lm")
