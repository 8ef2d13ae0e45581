"""Tables that describe vectors: named blocks with size and meaning.

Sizes, offsets, the tables in the docs and the hash that exported policies carry are all derived from one list of blocks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """One named part of a vector.

    Attributes:
        name: The name of the block.
        size: Entries, or entries for each seat if ``per_seat``.
        meaning: What the entries say, in words.
        per_seat: Whether the block stands once for each encoded seat, the observer first, then clockwise.
    """

    name: str
    size: int
    meaning: str
    per_seat: bool = False


@dataclass(frozen=True)
class Column:
    """One column of an integer table, such as the events.

    Attributes:
        name: The name of the column.
        most: The highest number that stands in it; the lowest is 0.
        meaning: What the numbers say, in words.
    """

    name: str
    most: int
    meaning: str


@dataclass(frozen=True)
class Layout:
    """The blocks of a vector for a number of encoded seats.

    Attributes:
        version: Raised whenever a block or its meaning changes.
        blocks: In the order in which they stand in the vector.
        seats: The number of seats that are encoded.
    """

    version: int
    blocks: tuple[Block, ...]
    seats: int

    def __iter__(self) -> Iterator[tuple[Block, slice]]:
        start = 0
        for block in self.blocks:
            stop = start + block.size * (self.seats if block.per_seat else 1)
            yield block, slice(start, stop)
            start = stop

    @property
    def size(self) -> int:
        """The length of the vector."""
        return sum(block.size * (self.seats if block.per_seat else 1) for block in self.blocks)

    @property
    def slices(self) -> dict[str, slice]:
        """Where each block stands, by name."""
        return {block.name: where for block, where in self}

    @property
    def hash(self) -> str:
        """12 hex digits that change with version, blocks, order or seats."""
        text = repr((self.version, self.seats, [(b.name, b.size, b.per_seat) for b in self.blocks]))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def markdown(self) -> str:
        """The layout as a Markdown table, as the docs show it."""
        rows = ["| block | entries | at | meaning |", "| --- | --- | --- | --- |"]
        for block, where in self:
            size = f"{self.seats} x {block.size}" if block.per_seat else str(block.size)
            rows.append(f"| `{block.name}` | {size} | {where.start} to {where.stop - 1} | {block.meaning} |")
        return "\n".join(rows)
