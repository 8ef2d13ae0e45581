"""The emblems of Mitchell's cards, drawn as the shapes of ``mitch_env.drawing`` are."""

from __future__ import annotations

import math

from ..drawing import SHAPES, Point
from .kinds import N_INVESTIGATIONS, suit_of


def _circle(x: float, y: float, radius: float) -> list[Point]:
    steps = [math.tau * step / 48 for step in range(48)]
    return [(x + radius * math.cos(t), y + radius * math.sin(t)) for t in steps]


def _box(left: float, top: float, right: float, bottom: float) -> list[Point]:
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


_CAR_BODY: list[Point] = [
    (0.0, 0.5), (0.2, 0.46), (0.34, 0.24), (0.72, 0.24), (0.84, 0.46), (1.0, 0.52), (1.0, 0.74), (0.0, 0.74)
]  # fmt: skip
_BOLT: list[Point] = [(0.58, 0.0), (0.18, 0.56), (0.46, 0.56), (0.36, 1.0), (0.82, 0.38), (0.52, 0.38), (0.72, 0.0)]

SHAPES.update(
    {
        "binoculars": [
            _circle(0.25, 0.66, 0.25),
            _circle(0.75, 0.66, 0.25),
            [(0.16, 0.2), (0.4, 0.2), (0.5, 0.6), (0.0, 0.6)],
            [(0.6, 0.2), (0.84, 0.2), (1.0, 0.6), (0.5, 0.6)],
            _box(0.36, 0.4, 0.64, 0.6),
        ],
        "car": [_CAR_BODY, _circle(0.24, 0.76, 0.15), _circle(0.76, 0.76, 0.15)],
        "magnifier": [_circle(0.38, 0.38, 0.36), [(0.56, 0.68), (0.68, 0.56), (1.0, 0.88), (0.88, 1.0)]],
        "mug": [
            _box(0.08, 0.18, 0.68, 0.98),
            _box(0.68, 0.34, 0.94, 0.44),
            _box(0.84, 0.34, 0.94, 0.78),
            _box(0.68, 0.68, 0.94, 0.78),
            *[_circle(x, 0.16, 0.15) for x in (0.18, 0.38, 0.58)],
        ],
        "swap": [
            [(0.0, 0.3), (0.34, 0.04), (0.34, 0.2), (1.0, 0.2), (1.0, 0.4), (0.34, 0.4), (0.34, 0.56)],
            [(1.0, 0.7), (0.66, 0.44), (0.66, 0.6), (0.0, 0.6), (0.0, 0.8), (0.66, 0.8), (0.66, 0.96)],
        ],
        "two cards": [_box(0.04, 0.14, 0.46, 0.74), _box(0.54, 0.26, 0.96, 0.86)],
        "parcel": [
            _box(0.06, 0.42, 0.46, 0.96),
            _box(0.54, 0.42, 0.94, 0.96),
            _box(0.0, 0.24, 1.0, 0.36),
            _circle(0.5, 0.12, 0.1),
        ],
        "cross": [
            [(0.0, 0.16), (0.16, 0.0), (1.0, 0.84), (0.84, 1.0)],
            [(0.84, 0.0), (1.0, 0.16), (0.16, 1.0), (0.0, 0.84)],
        ],
        "bolt": [_BOLT],
    }
)

_OF_SUIT = ("binoculars", "car", "sun", "magnifier", "mug")
#: The shape of each kind of card.
EMBLEMS = (
    *(_OF_SUIT[suit_of(kind)] for kind in range(N_INVESTIGATIONS)),
    *("swap", "two cards", "pointer", "parcel", "cross", "bolt"),
)
