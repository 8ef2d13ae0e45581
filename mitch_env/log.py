"""What is kept of a match while it is played; ``records`` makes a record of it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class DealLog:
    """One deal of a match.

    Attributes:
        table: The bytes of the table after the deal's chance, before the first turn.
        actions: All decisions since.
    """

    table: bytes
    actions: list[int] = field(default_factory=list)

    def copy(self) -> DealLog:
        """A copy that can be played on independently."""
        return DealLog(self.table, list(self.actions))
