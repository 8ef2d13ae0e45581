"""Mitchell."""

from __future__ import annotations

from typing import Any

from .aec import TableEnv
from .registry import get_game

__all__ = ["env", "raw_env"]


def env(**settings: Any) -> TableEnv:
    """The environment; ``settings`` are options by name and those of :class:`~mitch_env.aec.TableEnv`."""
    return TableEnv(get_game("mitchell"), **settings)


raw_env = env
