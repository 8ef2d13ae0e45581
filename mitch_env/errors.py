"""Errors that callers may want to catch."""

from __future__ import annotations

from .options import OptionsError


class IllegalActionError(ValueError):
    """An action that the rules do not allow at this moment; the table is as it was before."""


__all__ = ["IllegalActionError", "OptionsError"]
