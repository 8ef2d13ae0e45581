"""What the option classes of all games share: checks that speak, and reading options given by name."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

O = TypeVar("O")  # noqa: E741 - an options class


class OptionsError(ValueError):
    """An option has an unknown name, a value that is not allowed, or a value that does not go with another."""


def check_int(name: str, value: Any, low: int, high: int) -> int:
    """``value`` as an int between ``low`` and ``high``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise OptionsError(f"{name}={value!r}: an integer from {low} to {high} is needed")
    return int(value)


def check_bool(name: str, value: Any) -> bool:
    """``value`` as a bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise OptionsError(f"{name}={value!r}: true or false is needed")
    return bool(value)


def check_choice(name: str, value: Any, allowed: Sequence[str]) -> str:
    """``value`` as one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise OptionsError(f"{name}={value!r}: allowed are {', '.join(map(repr, allowed))}")
    return value


def unknown_name(kind: str, name: Any, known: Sequence[str]) -> str:
    """A sentence about a name that is not known, with the nearest one that is."""
    near = difflib.get_close_matches(str(name), known, 1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return f"unknown {kind} {name!r}{hint} Known are: {', '.join(known)}"


def replaced(options: O, changes: Mapping[str, Any]) -> O:
    """``options`` with changes by name.

    Raises:
        OptionsError: If a name is unknown or a value is not allowed.
    """
    known = [field.name for field in dataclasses.fields(options)]  # type: ignore[arg-type]
    for name in changes:
        if name not in known:
            raise OptionsError(unknown_name("option", name, known))
    return dataclasses.replace(options, **changes)  # type: ignore[type-var]
