"""The table of Mitchell as text."""

from __future__ import annotations

from ..game import Table


def describe(table: Table, seat: int | None) -> str:
    """Later."""
    return ""


def event_text(table: Table, event: int) -> str:
    """Later."""
    return str(event)
