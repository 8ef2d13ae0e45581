"""Files that are there whole or not at all."""

from __future__ import annotations

from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file (text as UTF-8) in place of what was there: at no moment does it hold a part."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
    unfinished.replace(path)
