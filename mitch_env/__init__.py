"""mitch-env: reinforcement-learning environments for the card games Mitch and Mitchell.

``make(game, **options)`` gives a PettingZoo environment, :class:`Batch` many tables in one call. ``gymnasium.make`` and
``gymnasium.make_vec`` know ``mitch_env/MitchJp-v0`` and so on: one learning seat, the others played by agents.
"""

from __future__ import annotations

from typing import Any

from .aec import TableEnv
from .batch import Batch
from .copies import Snapshot
from .errors import IllegalActionError, OptionsError
from .game import Game
from .registry import GAMES, get_game

__version__ = "0.1.0"
__all__ = [
    "GAMES",
    "Batch",
    "Game",
    "IllegalActionError",
    "OptionsError",
    "Snapshot",
    "TableEnv",
    "get_game",
    "make",
]


def make(game: str | Game, options: Any = None, **settings: Any) -> TableEnv:
    """The PettingZoo environment of a game.

    Args:
        game: ``mitch_jp``, ``mitch_ru``, ``mitch_original``, ``mitchell``, or a :class:`Game`.
        options: The rules as a mapping or an options object.
        **settings: Options by name, and ``reward``, ``seats_encoded``, ``observation``, ``render_mode``,
            ``render_seat`` (:class:`TableEnv`).
    """
    return TableEnv(get_game(game), options, **settings)


def _register() -> None:
    """Makes every game known to PettingZoo as ``mitch_env/mitch_jp-v0`` and so on, to Gymnasium as ``mitch_env/MitchJp-v0``."""
    import gymnasium
    from pettingzoo import aec_registry, register

    for game in GAMES.values():
        gymnasium_id = f"mitch_env/{game.name.title().replace('_', '')}-v0"
        if gymnasium_id not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id,
                entry_point="mitch_env.single_agent:SingleAgentEnv",
                vector_entry_point="mitch_env.vector_env:SingleAgentVectorEnv",
                kwargs={"game": game.name},
            )
        env_id = f"mitch_env/{game.name}-v0"
        if env_id not in aec_registry:
            register("aec", env_id, entry_point=f"mitch_env.{game.env_name}:env")


_register()
