"""Pieces of a drawn table that any card game can use: felt, cards, crowns, frames, words.

Pillow is imported when something is drawn. Boxes are ``(left, top, right, bottom)`` in pixels, colours are RGB or RGBA. Shapes
are painted large and scaled down, so that their edges are smooth, and kept as sprites.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

Colour: TypeAlias = tuple[int, ...]
Box: TypeAlias = tuple[int, int, int, int]
Point: TypeAlias = tuple[float, float]

INK, RED, PAPER = (33, 37, 41), (200, 32, 46), (252, 250, 244)
GOLD, CREAM, DIM = (250, 204, 72), (240, 240, 226), (158, 190, 168)
GREEN, BACK_BLUE = (24, 98, 60), (40, 78, 134)

#: How much larger than shown a sprite is painted.
_SCALE = 4
#: The gap between words, in sizes of the font, whose own is narrow.
_SPACE = 0.32


def require_pillow() -> None:
    """Checks that pictures can be drawn.

    Raises:
        ImportError: If Pillow is not installed.
    """
    try:
        import PIL.Image  # noqa: F401  # only whether it is there
    except ImportError as error:
        raise ImportError('rgb_array needs Pillow: pip install "mitch-env[render]"') from error


# --- The surface.


@functools.lru_cache(maxsize=8)
def _felt(width: int, height: int) -> Image:
    from PIL import Image

    x = np.linspace(-1.0, 1.0, width)[None, :]
    y = np.linspace(-1.0, 1.0, height)[:, None]
    light = 1.1 - 0.34 * np.minimum(1.0, (x * x + y * y) / 2.0)
    grain = np.random.Generator(np.random.PCG64(0)).normal(0.0, 0.018, (height, width))
    shade = np.clip((light + grain)[:, :, None] * np.array(GREEN, float), 0, 255)
    return Image.fromarray(shade.astype(np.uint8))


def felt(width: int, height: int) -> Image:
    """A new picture: green felt, darker to the edges."""
    return _felt(width, height).copy()


def to_array(picture: Image) -> np.ndarray:
    """The picture as uint8[height, width, 3]."""
    return np.array(picture, np.uint8)


def paste(picture: Image, sprite: Image, at: tuple[int, int]) -> None:
    """Lays a sprite on the picture with its left upper corner at ``at``."""
    picture.paste(sprite, at, sprite)


# --- Words.


@functools.lru_cache(maxsize=64)
def _font(size: int) -> FreeTypeFont:
    from PIL import ImageFont
    from PIL.ImageFont import FreeTypeFont

    font = ImageFont.load_default(size=size)
    if not isinstance(font, FreeTypeFont):
        raise ImportError("rgb_array needs a Pillow that was built with FreeType")
    return font


def label(
    picture: Image,
    at: tuple[float, float],
    words: str,
    size: int = 15,
    colour: Colour = CREAM,
    *,
    anchor: str = "ls",
    room: float = math.inf,
    bold: bool = False,
) -> None:
    """Writes a line.

    Args:
        picture: To write on.
        at: Where the anchor lies.
        words: One line.
        size: Of the font, in pixels; made smaller (down to 9) if the line would be wider than ``room``.
        colour: Of the letters.
        anchor: Its place on the line: ``l``, ``m`` or ``r``, then ``s`` (on the baseline) or ``m`` (in the middle).
        room: The width that there is, in pixels.
        bold: Whether the letters are thicker.
    """
    from PIL import ImageDraw

    while size > 9 and _line_width(words, size) > room:
        size -= 1
    x = at[0] - {"l": 0.0, "m": 0.5, "r": 1.0}[anchor[0]] * _line_width(words, size)
    brush, font = ImageDraw.Draw(picture), _font(size)
    for word in words.split(" "):
        brush.text((x, at[1]), word, colour, font, f"l{anchor[1]}", stroke_width=0.4 if bold else 0)
        x += font.getlength(word) + _SPACE * size


def _line_width(words: str, size: int) -> float:
    parts = words.split(" ")
    return sum(map(_font(size).getlength, parts)) + _SPACE * size * (len(parts) - 1)


# --- Shapes in a unit square.


def _heart(turned: bool) -> list[Point]:
    points = []
    for step in range(72):
        t = math.tau * step / 72
        x = math.sin(t) ** 3
        y = (13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)) / 17
        points.append((0.5 + 0.46 * x, 0.46 + (0.44 if turned else -0.46) * y))
    return points


def _circle(x: float, y: float, radius: float) -> list[Point]:
    steps = [math.tau * step / 48 for step in range(48)]
    return [(x + radius * math.cos(t), y + radius * math.sin(t)) for t in steps]


def _star(points: int, inner: float) -> list[Point]:
    radii = [0.5 if step % 2 == 0 else inner for step in range(2 * points)]
    angles = [math.pi * step / points - math.pi / 2 for step in range(2 * points)]
    return [(0.5 + r * math.cos(t), 0.5 + r * math.sin(t)) for r, t in zip(radii, angles, strict=True)]


_STEM: list[Point] = [(0.46, 0.5), (0.54, 0.5), (0.56, 0.8), (0.68, 0.97), (0.32, 0.97), (0.44, 0.8)]
_CROWN_POINTS: list[Point] = [
    (0.1, 0.84), (0.02, 0.28), (0.27, 0.52), (0.5, 0.12), (0.73, 0.52), (0.98, 0.28), (0.9, 0.84)
]  # fmt: skip

#: Shapes by name: polygons that are filled, in a unit square.
SHAPES: dict[str, list[list[Point]]] = {
    "spade": [[(x, y - 0.04) for x, y in _heart(turned=True)], _STEM],
    "heart": [_heart(turned=False)],
    "diamond": [[(0.5, 0.0), (0.9, 0.5), (0.5, 1.0), (0.1, 0.5)]],
    "club": [_circle(0.5, 0.24, 0.22), _circle(0.25, 0.58, 0.22), _circle(0.75, 0.58, 0.22), _circle(0.5, 0.5, 0.14), _STEM],
    "star": [_star(5, 0.2)],
    "sun": [_star(12, 0.32)],
    "crown": [_CROWN_POINTS, _circle(0.04, 0.27, 0.05), _circle(0.5, 0.12, 0.06), _circle(0.96, 0.27, 0.05)],
    "pointer": [[(0.1, 0.05), (0.9, 0.5), (0.1, 0.95)]],
    "disc": [_circle(0.5, 0.5, 0.5)],
}


def _fill(brush: ImageDraw, shape: str, box: tuple[float, float, float, float], colour: Colour) -> None:
    left, top, right, bottom = box
    for polygon in SHAPES[shape]:
        brush.polygon([(left + x * (right - left), top + y * (bottom - top)) for x, y in polygon], fill=colour)


def _sprite(width: int, height: int, paint: Callable[[ImageDraw, int], None]) -> Image:
    """Paints at ``_SCALE`` times the size and scales down."""
    from PIL import Image, ImageDraw

    large = Image.new("RGBA", (width * _SCALE, height * _SCALE))
    paint(ImageDraw.Draw(large), _SCALE)
    return large.resize((width, height), Image.Resampling.LANCZOS)


@functools.lru_cache(maxsize=256)
def shape(name: str, width: int, height: int, colour: Colour) -> Image:
    """A filled shape of ``SHAPES``."""
    return _sprite(width, height, lambda brush, k: _fill(brush, name, (0, 0, width * k - 1, height * k - 1), colour))


# --- Cards.


def card_height(width: int) -> int:
    """The height of a card of that width."""
    return round(1.4 * width)


def corner_size(width: int) -> int:
    """How much of a card of that width must stay free of the next one, so that its corner can be read."""
    return round(0.36 * width)


def _card_outline(brush: ImageDraw, width: int, k: int, fill: Colour) -> None:
    box = (0, 0, width * k - 1, card_height(width) * k - 1)
    brush.rounded_rectangle(box, radius=width * k // 9, fill=fill, outline=(90, 90, 84), width=k)


@functools.lru_cache(maxsize=512)
def card_face(width: int, corner: str, emblem: str, colour: Colour = INK, *, in_row: bool = False) -> Image:
    """An open card.

    Args:
        width: In pixels.
        corner: A few letters for the left upper corner.
        emblem: The shape of ``SHAPES`` that is drawn small at the corner, and large.
        colour: Of letters and emblem.
        in_row: Whether the small emblem is below the letters, for cards that overlap in a row, instead of beside them, for
            cards that overlap in a column.
    """

    def paint(brush: ImageDraw, k: int) -> None:
        w, h = width * k, card_height(width) * k
        _card_outline(brush, width, k, PAPER)
        font = _font(round(0.36 * w))
        if in_row and font.getlength(corner) > 0.3 * w:
            font = _font(round(0.36 * w * 0.3 * w / font.getlength(corner)))
        brush.text((0.09 * w, 0.19 * w), corner, colour, font, "lm", stroke_width=0.012 * w)
        size = 0.25 * w
        left, top = (0.08 * w, 0.38 * w) if in_row else (0.17 * w + font.getlength(corner), 0.065 * w)
        _fill(brush, emblem, (left, top, left + size, top + size), colour)
        x, size = (0.67 * w, 0.42 * w) if in_row else (0.5 * w, 0.52 * w)
        _fill(brush, emblem, (x - size / 2, 0.66 * h - size / 2, x + size / 2, 0.66 * h + size / 2), colour)

    return _sprite(width, card_height(width), paint)


@functools.lru_cache(maxsize=64)
def card_back(width: int, colour: Colour = BACK_BLUE) -> Image:
    """A card that lies face down."""

    def paint(brush: ImageDraw, k: int) -> None:
        w, h = width * k, card_height(width) * k
        _card_outline(brush, width, k, PAPER)
        inset = max(2 * k, w // 14)
        brush.rounded_rectangle((inset, inset, w - inset - 1, h - inset - 1), radius=w // 14, fill=colour)
        if width < 24:
            return
        light = tuple(min(255, part + 58) for part in colour)
        brush.rounded_rectangle((2 * inset, 2 * inset, w - 2 * inset, h - 2 * inset), radius=w // 20, outline=light, width=k)
        for rise in (0.3, 0.5, 0.7):
            size = 0.1 * w
            _fill(brush, "diamond", (w / 2 - size, rise * h - size, w / 2 + size, rise * h + size), light)

    return _sprite(width, card_height(width), paint)


@functools.lru_cache(maxsize=64)
def card_place(width: int, emblem: str) -> Image:
    """An empty place for cards, with a faint emblem."""

    def paint(brush: ImageDraw, k: int) -> None:
        w, h = width * k, card_height(width) * k
        faint = (255, 255, 255, 46)
        brush.rounded_rectangle((k, k, w - k, h - k), radius=w // 9, fill=(0, 0, 0, 26), outline=faint, width=k)
        _fill(brush, emblem, (0.3 * w, 0.5 * h - 0.2 * w, 0.7 * w, 0.5 * h + 0.2 * w), faint)

    return _sprite(width, card_height(width), paint)


def lay_row(picture: Image, cards: Sequence[Image], at: tuple[int, int], room: int, step: int) -> None:
    """Lays cards side by side, closer together than ``step`` if they need more than ``room``."""
    width = cards[0].width if cards else 0
    fitting = (room - width) / max(1, len(cards) - 1)
    for i, card in enumerate(cards):
        paste(picture, card, (at[0] + round(i * min(step, fitting)), at[1]))


def lay_column(picture: Image, cards: Sequence[Image], at: tuple[int, int], room: int, step: int) -> None:
    """Lays cards one below the other, closer together than ``step`` if they need more than ``room``."""
    height = cards[0].height if cards else 0
    fitting = (room - height) / max(1, len(cards) - 1)
    for i, card in enumerate(cards):
        paste(picture, card, (at[0], at[1] + round(i * min(step, fitting))))


# --- A player's frame.


@functools.lru_cache(maxsize=64)
def _frame(width: int, height: int, outline: Colour, thick: int, fill: Colour) -> Image:
    def paint(brush: ImageDraw, k: int) -> None:
        box = (0, 0, width * k - 1, height * k - 1)
        brush.rounded_rectangle(box, radius=10 * k, fill=fill, outline=outline, width=thick * k)

    return _sprite(width, height, paint)


def frame(picture: Image, box: Box, *, lit: bool = False, fill: Colour = (0, 0, 0, 52)) -> None:
    """A darker area with round corners; ``lit`` puts a golden line around it."""
    outline, thick = (GOLD, 3) if lit else ((255, 255, 255, 40), 1)
    paste(picture, _frame(box[2] - box[0], box[3] - box[1], outline, thick, fill), box[:2])
