"""One table of any game as a PettingZoo AEC environment."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from operator import index
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv

from .chance import REDEAL_STREAM, checked_seed, match_seeds, mix, stream
from .copies import Snapshot, check_snapshot, own_spaces
from .encoders import NO_RENAMING, Encoder
from .errors import IllegalActionError
from .game import NOBODY, Game, Table, legal_moves
from .jit import kernel_view
from .kernels import AT_DEAL, ILLEGAL, kernels_of
from .layout import Layout
from .log import DealLog
from .options import check_choice, check_int
from .rewards import REWARDS
from .tables import copied, put, with_own_arrays

RENDER_MODES = ("ansi", "human", "rgb_array")

#: Looked up once: an observation has fresh arrays each time.
_empty, _FLOAT, _FLAG = np.empty, np.dtype(np.float32), np.dtype(np.int8)
_FIRST = np.zeros(1, np.int64)
_OWN_NAMES = np.full(1, NO_RENAMING, np.int64)

#: Attributes that are made anew in a copy, and those that no copy changes.
_COMPILED = frozenset(("_raw", "_kernels", "_step_and_view", "_view_one", "_written", "_is_lent"))
_SHARED = frozenset(("game", "options", "_seat_of"))
_SPACES = frozenset(("state_space", "observation_spaces", "action_spaces", "_observation_space", "_action_space"))


class TableEnv(AECEnv[str, dict[str, np.ndarray], int]):
    """One table of a game, for PettingZoo.

    Order and legality are checked here, so no wrapper is needed. Observations are
    ``{"observation": float32[size] in [0, 1], "action_mask": int8[actions]}`` (``observation`` may come in other forms, see
    :mod:`mitch_env.encoders`); the mask is all zero for a seat that is not
    to act. ``agent_selection`` is always the seat that must answer now. All agents stay until the match is over and
    then terminate in the same step.

    Args:
        game: The game.
        options: Options by name, or an options object.
        reward: ``points`` (the game's own, when a deal is scored), ``relative`` (points minus the mean over the seats) or
            ``outcome`` (at the match's end).
        seats_encoded: Number of seats that observations and actions are numbered for; by default the players.
        observation: The form of observations: ``flat``, ``dict``, ``history`` or ``tokens``.
        render_mode: None, ``ansi``, ``human`` or ``rgb_array``.
        render_seat: From which seat the table is rendered: a seat, or None for whoever is to act.
        **changes: Options by name.

    Raises:
        OptionsError: If an option is unknown or a value is not allowed.
    """

    def __init__(
        self,
        game: Game,
        options: Any = None,
        *,
        reward: str = "points",
        seats_encoded: int | None = None,
        observation: str = "flat",
        render_mode: str | None = None,
        render_seat: int | None = None,
        **changes: Any,
    ) -> None:
        super().__init__()
        self.game = game
        self.options = game.options(options, **changes)
        self.reward = reward
        if render_mode is not None:
            check_choice("render_mode", render_mode, RENDER_MODES)
        self.render_mode = render_mode
        self.render_seat = None if render_seat is None else check_int("render_seat", render_seat, 0, self.options.players - 1)
        self.metadata = {
            "name": game.env_name,
            "render_modes": list(RENDER_MODES),
            "render_fps": 2,
            "is_parallelizable": False,
        }
        self._tables = game.new_tables(
            [self.options], seeds=match_seeds(None, 1), reward=reward, seats_encoded=seats_encoded, stop_at_deal=True
        )
        self._take_kernels()
        rules = game.rules
        seats = int(self._tables[0].seats_encoded)
        self._encoder = Encoder(observation, game, seats, 1)
        self._is_flat = observation == "flat"
        self._size = self._encoder.layout.size
        self._state_size = rules.state_layout(seats).size
        self._n_actions = rules.n_actions(seats)
        self.possible_agents = [f"player_{seat}" for seat in range(self.options.players)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._observation_space = gymnasium.spaces.Dict(
            OrderedDict(
                observation=self._encoder.space,
                action_mask=gymnasium.spaces.Box(0, 1, (self._n_actions,), np.int8),
            )
        )
        self._action_space: gymnasium.spaces.Space[Any] = gymnasium.spaces.Discrete(self._n_actions)
        self.observation_spaces = dict.fromkeys(self.possible_agents, self._observation_space)
        self.action_spaces = dict.fromkeys(self.possible_agents, self._action_space)
        self.state_space = gymnasium.spaces.Box(0.0, 1.0, (self._state_size,), np.float32)
        self.agents: list[str] = []
        self.agent_selection = self.possible_agents[0]
        self.infos: dict[str, dict[str, Any]] = {}
        self._has_seed = False
        self._log: list[DealLog] | None = None

    def _take_kernels(self) -> None:
        self._raw = kernel_view(self._tables)
        # Nothing looks at the types of what these are given, so it is only arrays made here.
        self._kernels = kernels_of(self.game.rules).direct
        self._step_and_view = self._kernels.step_and_view
        self._view_one = self._kernels.view_one
        #: What ``step`` has written for the seat that must answer now, until it is handed out.
        self._written: dict[str, np.ndarray] | None = None
        #: Whether somebody has the table, and may change it, so that nothing is written ahead.
        self._is_lent = False

    # --- The AEC interface.

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """The same space object for every agent and call."""
        return self._observation_space

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """The same space object for every agent and call."""
        return self._action_space

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """A new match.

        Args:
            seed: The match: an integer from 0 to 2**64 - 1 makes the same deals each time. None goes on from the last match
                (from fresh entropy the first time).
            options: Ignored; the rules are fixed when the environment is made.
        """
        if seed is not None:
            self._raw["seed"] = checked_seed(seed)
        if seed is not None or not self._has_seed:
            self._kernels.start_one(self._raw)
        else:
            self._kernels.follow_one(self._raw)
        self._has_seed = True
        self._written = None
        self._log = []
        agents = self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.infos = {agent: {} for agent in agents}
        self._rewards_are_zero = True
        self._skip_agent_selection = None
        if not self._deal():
            self._pay()
            self._end()

    def step(self, action: int | None) -> None:
        """Plays ``action`` for ``agent_selection``, and all that follows by itself.

        Raises:
            IllegalActionError: If the action is not legal now; nothing has changed then.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        try:
            number = index(action)  # type: ignore[arg-type]
        except TypeError:
            raise IllegalActionError(self._refusal(repr(action))) from None
        if number is True or number is False:
            raise IllegalActionError(self._refusal(repr(action)))
        observation, mask = _empty(self._size, _FLOAT), _empty(self._n_actions, _FLAG)
        try:
            actor = self._step_and_view(self._raw, number, observation, mask)
        except OverflowError:  # beyond the integers of 64 bits
            actor = ILLEGAL
        if actor == ILLEGAL:
            raise IllegalActionError(self._refusal(number))
        if self._log is not None:
            self._log[-1].actions.append(number)
        self._cumulative_rewards[agent] = 0.0
        if actor >= 0:
            self._written = None if self._is_lent else {"observation": observation, "action_mask": mask}
            if not self._rewards_are_zero:
                self._clear_rewards()
            self.agent_selection = self.possible_agents[actor]
        else:
            self._written = None
            is_live = actor == AT_DEAL and self._deal()
            self._pay()
            if not is_live:
                self._end()
        if self.render_mode == "human":
            self.render()

    def last(self, observe: bool = True) -> tuple[dict[str, np.ndarray] | None, float, bool, bool, dict[str, Any]]:
        """Observation, cumulative reward, terminated, truncated and info of ``agent_selection``."""
        agent = self.agent_selection
        seen = None
        if observe:
            seen = self._written
            if seen is not None and self._is_flat:
                self._written = None  # what observe() would do, which is called at every decision
            else:
                seen = self.observe(agent)
        return (
            seen,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What a seat sees, at any time, in fresh arrays."""
        seen = self._written
        if seen is not None and agent == self.agent_selection:
            self._written = None
        else:
            seat = self._seat_of.get(agent)
            if seat is None:
                raise KeyError(f"{agent!r} is no agent: {', '.join(self.possible_agents)} are")
            seen = {"observation": _empty(self._size, _FLOAT), "action_mask": _empty(self._n_actions, _FLAG)}
            self._view_one(self._raw, seat, seen["observation"], seen["action_mask"])
        return seen if self._is_flat else self._in_form(agent, seen)

    def _in_form(self, agent: str, seen: dict[str, Any]) -> dict[str, Any]:
        """A flat observation in the form that was asked for."""
        encoder = self._encoder
        encoder.flat[0] = seen["observation"]
        encoder.write(self._raw, _FIRST, 0, 1, np.array([self._seat_of[agent]], np.int8), _OWN_NAMES)
        return {"observation": encoder.copied(0), "action_mask": seen["action_mask"]}

    def state(self) -> np.ndarray:
        """The full view (all hands, the stock, the public facts) for centralised critics: float32 in [0, 1]."""
        out = np.empty(self._state_size, np.float32)
        self._kernels.state_one(self._raw, out)
        return out

    def render(self) -> str | np.ndarray | None:
        """The table as text (``ansi``), as a picture (``rgb_array``, uint8[height, width, 3]), or printed (``human``)."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode does nothing: make the env with render_mode='ansi', say")
            return None
        table = self._tables[0]
        seat = self.render_seat
        if seat is None and table.actor != NOBODY:
            seat = int(table.actor)
        if self.render_mode == "rgb_array":
            return np.asarray(self.game.rules.draw_table(table, seat))
        text = self.game.rules.describe(table, seat)
        if self.render_mode == "ansi":
            return text
        print(text, flush=True)
        return None

    def close(self) -> None:
        """Nothing is held open."""

    def __getattr__(self, name: str) -> Any:
        if name in ("rewards", "_cumulative_rewards", "terminations", "truncations"):
            raise AttributeError(f"{name} is there after reset() only: call reset() first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # --- What happens around a decision.

    def _deal(self) -> bool:
        """Deals until somebody must decide; False if the match is over."""
        actor = AT_DEAL
        while actor == AT_DEAL:
            self._kernels.shuffle_one(self._raw)
            if self._log is not None:
                self._log.append(DealLog(self._raw.tobytes()))
            actor = self._kernels.open_one(self._raw)
        if actor < 0:
            return False
        self.agent_selection = self.possible_agents[actor]
        return True

    def _pay(self) -> None:
        """Hands out what the table has paid since the last decision."""
        self.rewards.update(zip(self.possible_agents, self._raw["reward"][0].tolist(), strict=False))
        self._rewards_are_zero = False
        self._accumulate_rewards()

    def _clear_rewards(self) -> None:
        for agent in self.rewards:
            self.rewards[agent] = 0.0
        self._rewards_are_zero = True

    def _end(self) -> None:
        """All agents terminate, or are truncated, together."""
        ends = self.truncations if self._raw["truncated"][0] else self.terminations
        ends.update(dict.fromkeys(self.agents, True))
        self.agent_selection = self.agents[0]

    def _refusal(self, action: Any) -> str:
        table = self._tables[0]
        rules = self.game.rules
        known = isinstance(action, int) and 0 <= action < self._n_actions
        tried = f"{rules.action_name(table, action)} (action {action})" if known else f"{action} is no action of this game"
        legal = ", ".join(self.legal_moves())
        return f"seat{table.actor} tried: {tried}; phase: {rules.phase_name(table)}; legal here: {legal}"

    # --- Beyond PettingZoo: words, records, snapshots.

    @property
    def table(self) -> Table:
        """The table itself (an ``np.record``): everything, hidden cards included."""
        self._written = None
        self._is_lent = True
        return self._tables[0]

    def legal_moves(self) -> list[str]:
        """The legal moves of the seat that is to act, in words."""
        return legal_moves(self.game, self._tables[0])

    def action_name(self, action: int) -> str:
        """An action in words, such as ``play 9H``."""
        return self.game.rules.action_name(self._tables[0], action)

    def parse_action(self, text: str) -> int:
        """The action that words stand for now; ``ValueError`` with a sentence if they are no move."""
        return self.game.rules.parse_action(self._tables[0], text)

    def observation_layout(self) -> Layout:
        """Names, slices and meaning of the blocks of ``observation``."""
        return self._encoder.layout

    def state_layout(self) -> Layout:
        """Names, slices and meaning of the blocks of ``state()``."""
        return self.game.rules.state_layout(int(self._tables[0].seats_encoded))

    def record(self, agents: list[str] | None = None, legal: bool = False) -> dict[str, Any]:
        """What was dealt and played so far, in the record format (docs/records.md).

        Args:
            agents: The names to write for the seats; by default ``unknown`` for each.
            legal: Whether each move comes with all legal moves.

        Raises:
            ValueError: If the table was not played from its deal (``restore`` of a redealt table), or not reset yet.
        """
        if self._log is None:
            raise ValueError("there is nothing to record: the table was not played from its deal; call reset() first")
        from .records import record_of

        return record_of(self.game, self.options, self._log, agents=agents, legal=legal)

    def snapshot(self) -> Snapshot:
        """The table at this moment, for :meth:`restore`.

        Raises:
            ValueError: Before the first ``reset``.
        """
        self._check_begun("snapshot")
        log = None if self._log is None else tuple(deal.copy() for deal in self._log)
        return Snapshot(copied(self._tables), log)

    def restore(self, snapshot: Snapshot) -> None:
        """Goes on from a snapshot of this or another environment with the same rules.

        Cumulative rewards start anew at 0.

        Raises:
            ValueError: If it is no snapshot of a match by these rules; nothing has changed then.
        """
        check_snapshot(snapshot, self.game, self.options, self._tables)
        log = None if snapshot.log is None else [deal.copy() for deal in snapshot.log]
        put(self._tables, 0, snapshot.table)
        table = self._tables[0]
        table.stop_at_deal = 1
        table.reward_kind = REWARDS.index(self.reward)
        self._written = None
        self._log = log
        self._has_seed = True
        self.agents = self.possible_agents[:]
        self.rewards = {agent: float(table.reward[seat]) for agent, seat in self._seat_of.items()}
        self._rewards_are_zero = False
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        if table.actor == NOBODY:
            self._end()
        else:
            self.agent_selection = self.possible_agents[table.actor]

    def _check_begun(self, what: str) -> None:
        if not self._has_seed:
            raise ValueError(f"{what} needs a match: call reset() first")

    def clone(self, key: int | None = None) -> TableEnv:
        """An independent copy in the same position.

        Args:
            key: If given, the copy's later chance (deals, and reshuffles in Mitchell) follows from it instead of from the
                match's seed. The cards and the stock of the deal under way stay as they are; to redraw what a seat cannot
                see, restore ``redeal_hidden(seat, key)`` in the copy.
        """
        twin = object.__new__(type(self))
        twin.__setstate__(self.__getstate__())
        if key is not None:
            table = twin._tables[0]
            table.rng = stream(mix(np.uint64(checked_seed(key, "key"))), REDEAL_STREAM)
            table.seed = mix(np.uint64(table.rng))
        return twin

    def redeal_hidden(self, seat: int, key: int) -> Snapshot:
        """A world that ``seat`` cannot tell from this one: what it has not seen is drawn anew, for :meth:`restore`.

        Raises:
            ValueError: Before the first ``reset``, or if there is no such seat.
        """
        self._check_begun("redeal_hidden")
        check_int("seat", seat, 0, self.options.players - 1)
        tables = copied(self._tables)
        keys = np.array([checked_seed(key, "key")], np.uint64)
        self._kernels.redeal(kernel_view(tables), seat, keys)
        return Snapshot(tables, None)

    # --- Copies go on with the same game.

    def __getstate__(self) -> dict[str, Any]:
        import copy

        state = {name: value for name, value in self.__dict__.items() if name not in _COMPILED}
        spaces = {name: state.pop(name) for name in _SPACES}
        copies = {name: value if name in _SHARED else copy.deepcopy(value) for name, value in state.items()}
        return copies | own_spaces(spaces)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(with_own_arrays(state))
        self._take_kernels()

    def __deepcopy__(self, memo: dict[int, Any]) -> TableEnv:
        return self.clone()
