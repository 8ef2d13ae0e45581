"""The games in OpenSpiel: ``import mitch_env.adapters.open_spiel`` and ``pyspiel.load_game("python_mitch_jp(players=2)")``.

``python_mitch_jp``, ``python_mitch_ru``, ``python_mitch_original`` and ``python_mitchell`` are sequential games of imperfect
information with explicit chance. Parameters are the options of the game by name, and ``reward``: ``points`` (general sum),
``relative`` or ``outcome`` (both zero sum). OpenSpiel fixes the type of a parameter, so ``deals=0`` stands for as many deals
as players, ``target_score=0`` for none, and a deck is text: ``deck=brawl:6;brawl+attract:2;change:4`` (empty: the default).

**Chance.** The hands come first, seat by seat, the cards of a hand from the lowest up: each hand is one path through the tree,
as likely as it is. Then cards that are shown and replaced (J3) and the aces of an ``ace_stock`` clock. The stock is not laid
out in advance: a card of it is drawn by a chance node when somebody draws it, from all that are left, cards of one kind
together; so are the cards of a reshuffled stock. An outcome that is the only one is no node. To find out whether a step draws,
it is played on a copy with any order of what is not drawn yet: nothing before a draw depends on the card drawn, so a step
that draws more cards than are decided stops at a chance node, and is played again with one more.

**What a seat knows.** ``observation_tensor`` is the environment's observation. ``information_state_string`` is all that the
seat has seen since the match began, in order: public events, cards that came into its hand, its own moves, points. Declines,
gifts between others, and whether a turn ended by a pass are not in it. Everybody's knowledge is brought up to date when the
table comes to rest, at a decision or the end; at a chance node it is what it was before. There is no
``information_state_tensor``: one observation does not hold the past, and a fixed number of entries does not hold a match.

**Resampling.** ``state.resample_from_infostate(player, sampler)`` is a state by ``redeal_hidden`` (see there for what is
redrawn): same information state and observation for ``player``, other cards where it cannot know. How the table came to be
is not invented: its ``history()`` starts empty, and the others remember of it what is public and what they hold. Where a move
was forced (``must_place``; who draws in Mitchell has nothing to play) and after a reshuffle in Mitchell, the world can
contradict what ``player`` could conclude from the past. Take ``open_spiel.python.algorithms.ismcts``: the C++ bot
(``pyspiel.ISMCTSBot``) cannot resample Python games and ends the process.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyspiel

from ..game import NOBODY, PHASE_DEAL, Game
from ..jit import kernel_view
from ..options import OptionsError, check_choice
from ..registry import GAMES
from ..rewards import REWARDS
from ..tables import copied
from .explicit_chance import Play, Setting

_MOST = 2**31 - 1  # OpenSpiel counts in 32 bits


class CardGame(pyspiel.Game):
    """A game of ``mitch_env`` with its options; a class for each, since OpenSpiel keeps what makes a game to the very end."""

    game: Game

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        game, params = self.game, dict(params or {})
        changes = dict(params)
        reward = check_choice("reward", changes.pop("reward", REWARDS[0]), REWARDS)
        options = options_of(game, changes)
        self.setting = Setting(game, options, reward)
        low, high, n_decisions, self._n_chance = self.setting.engine.limits(options)
        n, is_zero_sum = options.players, reward != "points"
        if reward == "relative":
            high = (n - 1) * (high - low) / n
        elif reward == "outcome":
            high = 1
        has_rewards = reward != "outcome" and getattr(options, "n_deals", None) != 1 and getattr(options, "rounds", None) != 1
        super().__init__(
            game_type(game, is_zero_sum, has_rewards),
            pyspiel.GameInfo(
                num_distinct_actions=self.setting.n_actions,
                max_chance_outcomes=len(self.setting.engine.names),
                num_players=n,
                min_utility=float(-high if is_zero_sum else low),
                max_utility=float(high),
                utility_sum=0.0 if is_zero_sum else None,
                max_game_length=min(_MOST, n_decisions),
            ),
            params,
        )
        self._start = Play.start(self.setting)

    def new_initial_state(self) -> CardState:
        """A match before anything is dealt."""
        return CardState(self, self._start.copy())

    def max_chance_nodes_in_history(self) -> int:
        """The most cards that can be dealt and drawn in a match."""
        return min(_MOST, self._n_chance)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer | None:
        """What one player sees, or (perfect recall) all that it has seen; None for other kinds of observation."""
        if params:
            raise ValueError(f"there are no observation parameters, got {params}")
        recalls = iig_obs_type is not None and iig_obs_type.perfect_recall
        single = pyspiel.PrivateInfoType.SINGLE_PLAYER
        if iig_obs_type is not None and not (iig_obs_type.public_info and iig_obs_type.private_info == single):
            return None
        return Observer(self.setting, recalls)


class CardState(pyspiel.State):
    """A match at a decision, at a chance node, or over."""

    def __init__(self, game: CardGame, play: Play) -> None:
        super().__init__(game)
        self.play = play

    def current_player(self) -> int:
        """The seat that must decide, chance, or nobody any more."""
        if self.play.ways is not None:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.is_terminal() else self.play.actor

    def is_terminal(self) -> bool:
        """Whether the match is over."""
        return self.play.ways is None and self.play.actor == NOBODY

    def _legal_actions(self, player: int) -> list[int]:
        return self.play.legal()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The cards that can come next, and how likely each is."""
        ways = self.play.ways or {}
        n = sum(ways.values())
        return [(card, ways[card] / n) for card in sorted(ways)]

    def _apply_action(self, action: int) -> None:
        if self.is_terminal():
            raise ValueError(f"action {action}: the match is over")
        possible = self.play.legal() if self.play.ways is None else sorted(self.play.ways)
        if action not in possible:
            raise ValueError(f"action {action} is not possible for player {self.current_player()} now: {possible} are")
        self.play.apply(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            verb = "deal" if self.play.step is None else "draw"
            return f"{verb} {self.play.setting.engine.names[action]}"
        table = copied(self.play.tables)[0]
        table.actor = player  # seats are named by where they are from the player
        return self.play.setting.game.rules.action_name(table, action)

    def returns(self) -> list[float]:
        """What each seat has been paid so far."""
        return self.play.earned()

    def rewards(self) -> list[float]:
        """What each seat has been paid since the last decision."""
        return [now - before for now, before in zip(self.play.earned(), self.play.paid, strict=True)]

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> CardState:
        """A state that ``player`` cannot tell from this one; ``sampler`` returns numbers from 0 to 1."""
        return CardState(self.get_game(), self.play.redealt(player, int(sampler() * 2**53)))

    def __str__(self) -> str:
        play = self.play
        parts = [play.setting.game.rules.describe(play.table, None)]
        if play.table.deals_dealt and play.table.phase != PHASE_DEAL:
            stock = play.table.stock[play.table.stock_next : play.table.stock_size].tolist()
            parts += [f"seat{seat} holds {' '.join(hand)}" for seat, hand in enumerate(play.hands())]
            parts.append(f"stock, in any order: {' '.join(play.words(stock))}")
        if play.ways is not None:
            parts.append(f"chance: {'a deal' if play.step is None else 'a draw'}, so far {' '.join(play.words(play.given))}")
        return "\n".join(parts)


class Observer:
    """Observations as OpenSpiel takes them: ``tensor`` and its named blocks ``dict``, or words."""

    def __init__(self, setting: Setting, recalls: bool) -> None:
        self._setting, self._recalls = setting, recalls
        self.tensor = None if recalls else np.zeros(setting.layout.size, np.float32)
        self.dict: dict[str, np.ndarray] = {}
        if self.tensor is not None:
            for block, where in setting.layout:
                shape = (setting.layout.seats, block.size) if block.per_seat else (block.size,)
                self.dict[block.name] = self.tensor[where].reshape(shape)

    def set_from(self, state: CardState, player: int) -> None:
        """Writes what ``player`` sees to ``tensor``."""
        players = self._setting.options.players
        if not 0 <= player < players:
            raise ValueError(f"player={player}: 0 to {players - 1} are")
        if self.tensor is not None:
            mask = np.empty(self._setting.n_actions, np.int8)
            self._setting.kernels.view_one(kernel_view(state.play.tables), player, self.tensor, mask)

    def string_from(self, state: CardState, player: int) -> str:
        """What ``player`` sees, or all that it has seen, in words."""
        return state.play.known_to(player) if self._recalls else self._setting.game.rules.describe(state.play.table, player)


# --- Parameters and registration.

#: What stands for an option that is not an int, a bool or a word, and for one that does not apply until another is changed.
_STAND_INS: dict[str, Any] = {"deals": 0, "target_score": 0, "deck": ""}
_STAND_INS |= {"lost_column_penalty": True, "shortest_double": False, "waiting_penalty": False, "playoffs": 10}


def parameters_of(game: Game) -> dict[str, Any]:
    """The parameters of a game with their defaults."""
    values = {one.name: getattr(game.defaults, one.name) for one in dataclasses.fields(game.defaults)}
    plain = {name: value for name, value in values.items() if isinstance(value, (int, str)) and value != "players"}
    return {name: plain.get(name, _STAND_INS.get(name)) for name in values} | {"reward": REWARDS[0]}


def options_of(game: Game, params: dict[str, Any]) -> Any:
    """The options that parameters stand for; ``OptionsError`` if a value is not allowed."""
    for name, meaning in (("deals", "players"), ("target_score", None)):
        if name in params and params[name] == 0:
            params[name] = meaning
    if "deck" in params:
        text = params.pop("deck")
        if text:
            params["deck"] = deck_of(text)
    return game.options(params)


def deck_of(text: str) -> dict[str, int]:
    """``brawl:6;change:4`` as counts by kind."""
    deck = {}
    for entry in text.split(";"):
        name, _, count = entry.partition(":")
        if not count.isdecimal():
            raise OptionsError(f"deck={text!r}: entries such as brawl:6, separated by semicolons, are needed, got {entry!r}")
        deck[name] = int(count)
    return deck


def game_type(game: Game, is_zero_sum: bool = False, has_rewards: bool = True) -> Any:
    """What OpenSpiel wants to know of a game before it is made."""
    kinds = pyspiel.GameType
    return kinds(
        short_name=f"python_{game.name}",
        long_name=f"Python {game.name.replace('_', ' ').title()}",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kinds.Information.IMPERFECT_INFORMATION,
        utility=kinds.Utility.ZERO_SUM if is_zero_sum else kinds.Utility.GENERAL_SUM,
        reward_model=kinds.RewardModel.REWARDS if has_rewards else kinds.RewardModel.TERMINAL,
        max_num_players=game.rules.max_seats,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=parameters_of(game),
    )


class MitchJp(CardGame):
    """``python_mitch_jp``."""

    game = GAMES["mitch_jp"]


class MitchRu(CardGame):
    """``python_mitch_ru``."""

    game = GAMES["mitch_ru"]


class MitchOriginal(CardGame):
    """``python_mitch_original``."""

    game = GAMES["mitch_original"]


class Mitchell(CardGame):
    """``python_mitchell``."""

    game = GAMES["mitchell"]


for _kind in (MitchJp, MitchRu, MitchOriginal, Mitchell):
    pyspiel.register_game(game_type(_kind.game), _kind)
