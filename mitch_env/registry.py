"""The games, by name."""

from __future__ import annotations

from .game import Game
from .mitch.presets import MITCH_JP, MITCH_ORIGINAL, MITCH_RU
from .mitchell.presets import MITCHELL
from .options import unknown_name

GAMES: dict[str, Game] = {game.name: game for game in (MITCH_JP, MITCH_RU, MITCH_ORIGINAL, MITCHELL)}


def get_game(name: str | Game) -> Game:
    """The game of that name (a :class:`Game` is returned as it is).

    Raises:
        ValueError: If there is no such game.
    """
    if isinstance(name, Game):
        return name
    if not isinstance(name, str) or name not in GAMES:
        raise ValueError(unknown_name("game", name, list(GAMES)))
    return GAMES[name]
