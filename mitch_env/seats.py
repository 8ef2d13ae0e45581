"""Who sits where: seats are numbered clockwise."""

from __future__ import annotations

from typing import Any

from .jit import rule


@rule
def next_seat(s: Any, seat: int) -> int:
    """The next seat clockwise."""
    return 0 if seat + 1 == s.players else int(seat) + 1


@rule
def seat_after(s: Any, seat: int, n: int) -> int:
    """The ``n``-th seat clockwise after ``seat``, for ``n`` from 0 to the number of players."""
    after = int(seat) + int(n)
    return after if after < s.players else after - int(s.players)
