"""Peers: card games of other packages, played in the way that their pages show. Each is imported when it is made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.contenders import UNIFORM, WRAP, AecPlay
from benchmarks.turns import PEERS, Contender

LEDUC = "PettingZoo leduc_holdem_v4"
TEXAS = "PettingZoo texas_holdem_v4"
UNO = "RLCard uno"
CRAZY_EIGHTS = "OpenSpiel crazy_eights(players=4)"
CRAZY_EIGHTS_IN_PLACE = "OpenSpiel crazy_eights(players=4), Observation in place"
SPARROW = "pgx sparrow_mahjong, 1024 tables"


class UnoPlay:
    """RLCard's uno: ``step`` returns the next state with ``obs`` and ``legal_actions``.

    Attributes:
        matches: Matches that ended so far.
    """

    def __init__(self) -> None:
        import rlcard

        self.env = rlcard.make("uno", {"seed": 1})
        self.state: dict[str, Any] = self.env.reset()[0]
        self.matches = 0
        self._at = 0

    def __call__(self, decisions: int) -> int:
        env, uniform, at = self.env, UNIFORM, self._at
        for _ in range(decisions):
            legal = list(self.state["legal_actions"])
            self.state, _ = env.step(legal[int(uniform[at] * len(legal))])
            at = (at + 1) & WRAP
            if env.is_over():
                self.matches += 1
                self.state, _ = env.reset()
        self._at = at
        return decisions


class OpenSpielPlay:
    """A game of OpenSpiel from Python; chance is drawn from its outcomes.

    Attributes:
        state: The match that is being played.
        observation: float32[size], what the actor of the last decision saw.
        matches: Matches that ended so far.

    Args:
        name: The game, as ``pyspiel.load_game`` takes it.
        in_place: Whether the observation is written into one array by OpenSpiel's ``Observation`` object, instead of
            ``observation_tensor``, whose list becomes a fresh array.
    """

    def __init__(self, name: str, in_place: bool = False) -> None:
        import pyspiel

        self.game = pyspiel.load_game(name)
        self.observation = np.zeros(self.game.observation_tensor_size(), np.float32)
        self.matches = 0
        self._at = 0
        self._observer: Any = None
        if in_place:
            from open_spiel.python.observation import make_observation

            self._observer = make_observation(self.game)
            self.observation = self._observer.tensor
        self._begin()

    def __call__(self, decisions: int) -> int:
        uniform, at, observer = UNIFORM, self._at, self._observer
        for _ in range(decisions):
            state = self.state
            player = state.current_player()
            if observer is None:
                self.observation = np.asarray(state.observation_tensor(player), np.float32)
            else:
                observer.set_from(state, player)
            legal = np.asarray(state.legal_actions_mask(player)).nonzero()[0]
            state.apply_action(int(legal[int(uniform[at] * len(legal))]))
            at = (at + 1) & WRAP
            self._at = at
            if state.is_terminal():
                self.matches += 1
                self._begin()
            elif state.is_chance_node():
                self._draw_chance()
            at = self._at
        return decisions

    def _begin(self) -> None:
        self.state = self.game.new_initial_state()
        self._draw_chance()

    def _draw_chance(self) -> None:
        """Chance, until a player must decide."""
        state = self.state
        while state.is_chance_node():
            left = UNIFORM[self._at]
            self._at = (self._at + 1) & WRAP
            outcomes = state.chance_outcomes()
            chosen = outcomes[-1][0]  # rounding can leave a little of the number
            for outcome, weight in outcomes:
                left -= weight
                if left < 0.0:
                    chosen = outcome
                    break
            state.apply_action(chosen)


class PgxPlay:
    """A pgx game: many tables, one compiled call a step, which chooses, steps and begins finished matches anew.

    Attributes:
        state: The tables.
    """

    def __init__(self, name: str, n: int) -> None:
        import jax
        import jax.numpy as jnp
        import pgx
        from pgx.experimental.wrappers import auto_reset

        env = pgx.make(name)
        step_all = jax.vmap(auto_reset(env.step, env.init))

        def step(state: Any, key: Any) -> tuple[Any, Any]:
            key, draw, again = jax.random.split(key, 3)
            up_to = jnp.cumsum(state.legal_action_mask, axis=1)
            wanted = jnp.floor(jax.random.uniform(draw, (n, 1)) * up_to[:, -1:])
            action = jnp.argmax(up_to > wanted, axis=1)
            return step_all(state, action, jax.random.split(again, n)), key

        self.n = n
        self._wait = jax.block_until_ready
        self._step = jax.jit(step)
        self._key = jax.random.PRNGKey(1)
        self.state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), n))

    def __call__(self, decisions: int) -> int:
        played = 0
        while played < decisions:
            self.state, self._key = self._step(self.state, self._key)
            self._wait(self.state)
            played += self.n
        return played


def _leduc() -> AecPlay:
    from pettingzoo.classic import leduc_holdem_v4

    return AecPlay(leduc_holdem_v4.env())


def _texas() -> AecPlay:
    from pettingzoo.classic import texas_holdem_v4

    return AecPlay(texas_holdem_v4.env())


def peers() -> Iterator[Contender]:
    """All of them."""
    how = "as our AEC: env.last and env.step, with the wrappers that its env() adds"
    yield Contender(LEDUC, PEERS, how, _leduc)
    yield Contender(TEXAS, PEERS, how, _texas)
    how = (
        "env.step returns the next state: obs, an array of 4 x 4 x 15, and legal_actions, a dict that the action is chosen from"
    )
    yield Contender(UNO, PEERS, how, UnoPlay)
    how = "observation_tensor and legal_actions_mask, both lists, made arrays; apply_action; chance from chance_outcomes"
    yield Contender(CRAZY_EIGHTS, PEERS, how, lambda: OpenSpielPlay("crazy_eights(players=4)"))
    how = "the same, but its Observation object writes into one array instead of observation_tensor"
    yield Contender(CRAZY_EIGHTS_IN_PLACE, PEERS, how, lambda: OpenSpielPlay("crazy_eights(players=4)", in_place=True))
    how = "one jitted call a step of vmapped tables, awaited: an action chosen from legal_action_mask, step, auto_reset"
    yield Contender(SPARROW, PEERS, how, lambda: PgxPlay("sparrow_mahjong", 1024))
