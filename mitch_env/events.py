"""The last public events of a table, as small integers in a ring.

What everybody at the table can see, in the order in which it happened: never a decline, never which card was given, never
what was drawn. ``event = int(kind) << 16 | int(seat) << 8 | int(detail)``; each game names its kinds.
"""

from __future__ import annotations

from typing import Any

from .jit import rule

#: Events that a table remembers.
RING = 32


@rule
def note(s: Any, kind: int, seat: int, detail: int) -> None:
    """Appends an event to the ring of the table."""
    s.events[s.n_events % RING] = int(kind) << 16 | int(seat) << 8 | int(detail)
    s.n_events += 1


@rule
def clear_events(s: Any) -> None:
    """Forgets all events."""
    s.n_events = 0
    for i in range(RING):
        s.events[i] = 0


def split_event(event: int) -> tuple[int, int, int]:
    """Kind, seat and detail of an event."""
    return event >> 16, event >> 8 & 0xFF, event & 0xFF


def recent_events(table: Any, n: int = RING) -> list[int]:
    """The last ``n`` events (at most 32), oldest first."""
    total = int(table.n_events)
    return [int(table.events[i % RING]) for i in range(max(0, total - min(n, RING)), total)]
