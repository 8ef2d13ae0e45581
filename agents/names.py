"""Agents by name."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from typing import Any

from mitch_env import Game, get_game
from mitch_env.options import unknown_name

from .agent import Agent
from .uniform import RandomAgent

_FORMS = "random, rule, policy:FILE, or package.module:Class?argument=value"


def _make_rule(game: Game) -> Agent:
    from .rule_mitch import MitchRuleAgent
    from .rule_mitchell import MitchellRuleAgent

    makers: dict[str, Callable[[], Agent]] = {"mitch": MitchRuleAgent, "mitchell": MitchellRuleAgent}
    if game.rules.name not in makers:
        raise ValueError(f"there is no rule agent for {game.name}")
    return makers[game.rules.name]()


def make_agent(name: str, game: str | Game) -> Agent:
    """The agent that a name stands for.

    Args:
        name: ``random``, ``rule``, ``policy:FILE`` (an exported policy; ``policy:FILE?sample=true`` draws from its
            probabilities instead of taking the best action), or ``package.module:Class?argument=value`` for a class of your
            own, made with those keyword arguments.
        game: What it is to play.

    Raises:
        ValueError: If the name stands for nothing, or the agent cannot play that game.
    """
    game = get_game(game)
    kind, colon, rest = name.partition(":")
    if name == "random":
        return RandomAgent()
    if name == "rule":
        return _make_rule(game)
    is_dotted = all(part.isidentifier() for part in kind.split("."))
    if not colon or not rest or not is_dotted:
        raise ValueError(f"unknown agent {name!r}: {_FORMS} is needed")
    target, _, query = rest.partition("?")
    arguments = _parse_arguments(name, query)
    if kind == "policy":
        from .policy import PolicyAgent

        for argument in arguments.keys() - {"sample"}:
            raise ValueError(f"agent {name!r}: {unknown_name('argument', argument, ['sample'])}")
        return PolicyAgent.load(target, game, **arguments)
    return _make_own(name, kind, target, arguments)


def _parse_arguments(name: str, query: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for part in filter(None, query.split("&")):
        key, equals, value = part.partition("=")
        if not equals or not key.isidentifier():
            raise ValueError(f"agent {name!r}: {part!r} is no argument=value")
        try:
            arguments[key] = json.loads(value)
        except ValueError:
            arguments[key] = value
    return arguments


def _make_own(name: str, module: str, attribute: str, arguments: dict[str, Any]) -> Agent:
    try:
        maker = getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise ValueError(f"agent {name!r}: cannot import {module!r}: {error}") from error
    except AttributeError:
        raise ValueError(f"agent {name!r}: {module!r} has no {attribute!r}") from None
    try:
        agent: Agent = maker(**arguments)
    except TypeError as error:
        raise ValueError(f"agent {name!r}: {error}") from error
    for needed in ("name", "encoder", "reset", "act_batch"):
        if not hasattr(agent, needed):
            raise ValueError(f"agent {name!r}: a {type(agent).__name__} has no {needed!r}; see agents.agent.Agent")
    return agent
