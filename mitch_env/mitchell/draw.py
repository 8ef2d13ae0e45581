"""The table of Mitchell as a picture, as ``render_mode="rgb_array"`` returns it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from .. import drawing
from ..drawing import CREAM, DIM, GOLD, INK, RED, Box, Colour, label, paste
from ..events import recent_events
from ..game import NOBODY, PHASE_OVER, Table
from ..rewards import is_winner
from .describe import SUIT_TITLES, SUSPECTS, event_text, result_words, round_words, waiting_words, whose_turn
from .emblems import EMBLEMS
from .kinds import CANCEL, KIND_NAMES, NOTHING, function_of, is_investigation, suit_of
from .state import CENTER, PHASE_ANSWER, stock_left
from .text import hand_of

if TYPE_CHECKING:
    from PIL.Image import Image

WIDTH, HEIGHT = 960, 704

#: Of the suits; actions and reactions are drawn in ink.
SUIT_COLOURS: tuple[Colour, ...] = ((38, 88, 168), RED, (200, 104, 16), (112, 62, 148), (28, 120, 66))
_MARGIN, _GAP = 12, 8
_PLAYERS_TOP = 40
_IN_ROW = 4
_MOVES_WIDTH = 352
_N_TOLD = 22
#: By function: attract, center, move anywhere.
_FUNCTION_LETTERS = ("", "A", "C", "M")


def draw_table(table: Table, seat: int | None) -> np.ndarray:
    """The table as a person at ``seat`` sees it; with None, what everybody can see.

    Returns:
        uint8[704, 960, 3].

    Raises:
        ImportError: If Pillow is missing.
    """
    drawing.require_pillow()
    picture = drawing.felt(WIDTH, HEIGHT)
    _draw_head(picture, table)
    boxes = _player_boxes(int(table.players))
    for other, box in enumerate(boxes):
        _draw_player(picture, table, other, box, seat)
    top = boxes[-1][3] + _GAP
    moves_left = WIDTH - _MARGIN - _MOVES_WIDTH
    _draw_middle(picture, table, (_MARGIN, top, moves_left - _GAP, 566))
    _draw_moves(picture, table, (moves_left, top, WIDTH - _MARGIN, HEIGHT - _MARGIN))
    _draw_near_side(picture, table, seat, (_MARGIN, 574, moves_left - _GAP, HEIGHT - _MARGIN))
    return drawing.to_array(picture)


def _player_boxes(players: int) -> list[Box]:
    """Up to four suspects side by side, the others below them."""
    n_columns = min(players, _IN_ROW)
    height = 148 if players <= _IN_ROW else 112
    lefts = [_MARGIN + i * (WIDTH - 2 * _MARGIN + _GAP) // n_columns for i in range(n_columns + 1)]
    boxes = []
    for seat in range(players):
        row, column = divmod(seat, n_columns)
        top = _PLAYERS_TOP + row * (height + _GAP)
        boxes.append((lefts[column], top, lefts[column + 1] - _GAP, top + height))
    return boxes


def face(kind: int, width: int) -> Image:
    """An open card: its function is the letter in the corner, its suit the emblem."""
    corner = ""
    colour: Colour = INK
    if is_investigation(kind):
        colour = SUIT_COLOURS[suit_of(kind)]
        corner = _FUNCTION_LETTERS[function_of(kind)]
    else:
        corner = "R" if kind >= CANCEL else "!"
    card = drawing.card_face(width, corner, EMBLEMS[kind], colour, in_row=True).copy()
    words = KIND_NAMES[kind].partition("+")[2] if is_investigation(kind) else KIND_NAMES[kind].replace("-", " ")
    label(card, (width / 2, card.height - 8), words, max(9, width // 6), colour, anchor="ms", room=width - 6)
    return card


def _badge(picture: Image, at: tuple[int, int], size: int) -> None:
    """Mitchell: the badge of a detective."""
    paste(picture, drawing.shape("star", size, size, GOLD), at)
    label(picture, (at[0] + size / 2, at[1] + 0.56 * size), "M", round(0.4 * size), INK, anchor="mm", bold=True)


def _draw_head(picture: Image, table: Table) -> None:
    label(picture, (_MARGIN + 4, 27), "Mitchell", 20, GOLD, bold=True)
    label(picture, (_MARGIN + 104, 27), round_words(table), 16)
    if table.phase == PHASE_OVER:
        state = ""
    elif table.actor == NOBODY:
        state = "waiting for the deal"
    elif table.phase == PHASE_ANSWER:
        state = "waiting for answers"
    else:
        state = f"seat{table.turn} {SUSPECTS[table.turn]} is to play"
    label(picture, (WIDTH - _MARGIN - 4, 27), state, 16, anchor="rs")


def _draw_player(picture: Image, table: Table, seat: int, box: Box, viewer: int | None) -> None:
    left, top, right, bottom = box
    is_due = table.phase != PHASE_OVER and seat == whose_turn(table, viewer)
    won = table.phase == PHASE_OVER and is_winner(table, seat)
    drawing.frame(picture, box, lit=is_due or won)
    x = left + 12
    if is_due:
        paste(picture, drawing.shape("pointer", 12, 14, GOLD), (x, top + 12))
        x += 18
    colour = GOLD if is_due or won else CREAM
    label(picture, (x, top + 26), SUSPECTS[seat], 19, colour, room=right - x - 66, bold=True)
    label(picture, (right - 12, top + 27), str(table.totals[seat]), 22, colour, anchor="rs", bold=True)
    words = f"seat{seat}{', you' if seat == viewer else ''}{', winner' if won else ''}"
    label(picture, (left + 12, top + 46), words, 14, DIM)
    if table.mitchell == seat:
        _badge(picture, (right - 54, bottom - 52), 44)
    n = int(table.n_held[seat])
    if n:
        room = right - left - 24 - 92
        drawing.lay_row(picture, [drawing.card_back(24)] * n, (left + 12, bottom - 46), room, 13)
        label(picture, (left + 12 + min(room, 24 + 13 * (n - 1)) + 7, bottom - 22), str(n), 16)
    else:
        label(picture, (left + 12, bottom - 22), "no cards", 14, DIM)
    if n == 1:  # M15
        label(picture, (left + 66, bottom - 22), '"Mitchell!"', 15, GOLD)


# --- The middle of the table.


def _draw_middle(picture: Image, table: Table, box: Box) -> None:
    """The draw pile, the top of the discards, the Plot card, Mitchell if he is there; an action that waits for answers."""
    left, top, right, bottom = box
    width = 74
    y = top + 14
    words_y = y + drawing.card_height(width) + 20
    n = stock_left(table)
    for layer in range(min(4, (n + 19) // 20)):
        paste(picture, drawing.card_back(width), (left + 8 + 3 * layer, y - 2 * layer))
    if n == 0:
        paste(picture, drawing.card_place(width, "disc"), (left + 8, y))
    label(picture, (left + 8, words_y), f"draw pile: {n}", 14, DIM)
    card = drawing.card_place(width, "disc") if table.top == NOTHING else face(int(table.top), width)
    paste(picture, card, (left + 116, y))
    label(picture, (left + 116, words_y), f"discards: {table.n_discards}", 14, DIM)
    _draw_plot(picture, table, (left + 230, y - 6, right - 118, words_y + 2))
    if table.mitchell == CENTER:
        _badge(picture, (right - 96, y + 8), 76)
        label(picture, (right - 58, words_y), "Mitchell", 14, DIM, anchor="ms")
    if table.phase == PHASE_ANSWER:
        label(picture, (left + 8, min(bottom - 8, words_y + 40)), waiting_words(table), 18, GOLD, room=right - left - 16)


def _draw_plot(picture: Image, table: Table, box: Box) -> None:
    """The Plot card: the five suits, a penny beside the current one."""
    left, top, right, bottom = box
    drawing.frame(picture, box, fill=(250, 246, 232, 226))
    for suit, title in enumerate(SUIT_TITLES):
        y = top + 6 + (suit + 0.5) * (bottom - top - 12) / len(SUIT_TITLES)
        is_current = suit == table.suit
        paste(picture, drawing.shape(EMBLEMS[3 * suit], 18, 18, SUIT_COLOURS[suit]), (left + 34, round(y) - 9))
        label(picture, (left + 60, y), title, 16, SUIT_COLOURS[suit], anchor="lm", room=right - left - 68, bold=is_current)
        if is_current:
            paste(picture, drawing.shape("disc", 16, 16, (178, 104, 48)), (left + 10, round(y) - 8))


def _draw_moves(picture: Image, table: Table, box: Box) -> None:
    """The last moves as the players say them, the latest one at the bottom."""
    left, top, _, bottom = box
    drawing.frame(picture, box)
    label(picture, (left + 12, top + 22), "last moves", 14, DIM)
    lines: list[tuple[str, Colour]] = []
    told = [event_text(table, event) for event in recent_events(table, _N_TOLD)]
    for i, words in enumerate(told):
        shade = CREAM if i == len(told) - 1 else DIM
        lines += [(line, shade) for line in textwrap.wrap(words, 50, subsequent_indent="    ")]
    shown = lines[-((bottom - top - 44) // 19) :]
    for i, (line, colour) in enumerate(shown):
        indent = 16 if line.startswith(" ") else 0
        label(picture, (left + 12 + indent, top + 44 + 19 * i), line.strip(), 14, colour, room=_MOVES_WIDTH - 24 - indent)


def _draw_near_side(picture: Image, table: Table, seat: int | None, box: Box) -> None:
    """The open hand of ``seat``; after the match, who won."""
    left, top, right, bottom = box
    drawing.frame(picture, box)
    middle = ((left + right) // 2, (top + bottom) // 2)
    if table.phase == PHASE_OVER:
        label(picture, middle, result_words(table), 24, GOLD, anchor="mm", room=right - left - 40, bold=True)
    elif seat is None:
        label(picture, middle, "all hands are closed", 15, DIM, anchor="mm")
    else:
        faces = [face(kind, 72) for kind in hand_of(table, seat)]
        drawing.lay_row(picture, faces, (left + 10, top + 8), right - left - 20, 76)
        if not faces:
            label(picture, middle, "you have no cards", 15, CREAM, anchor="mm")
