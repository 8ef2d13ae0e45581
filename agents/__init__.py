"""Agents that play the games of ``mitch_env``, their names, and tournaments between them."""

from __future__ import annotations

from .agent import ENCODERS, Agent, View
from .names import make_agent

__all__ = ["ENCODERS", "Agent", "View", "make_agent"]
