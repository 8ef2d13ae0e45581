"""The table of Mitchell as a picture."""

from __future__ import annotations

from typing import Any

from ..game import Table


def draw_table(table: Table, seat: int | None) -> Any:
    """Later."""
    raise NotImplementedError
