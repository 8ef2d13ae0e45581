"""Laws that hold at every moment of every match of every game.

A match is driven by a :class:`Plain` or :class:`Compiled` driver and, if wanted, followed by the game's independent referee.
Each law is a function of a :class:`Match` that raises :class:`LawBroken` under its own name; it takes what rules it is given,
so that planted faults can show that it can fail.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numba
import numpy as np
from games import engine_of

from mitch_env import Game
from mitch_env.chance import POLICY_STREAM, advanced, below, mix, stream
from mitch_env.game import NOBODY, PHASE_DEAL, PHASE_OVER, Rules, Table
from mitch_env.jit import kernel, kernel_view
from mitch_env.kernels import CREW_ROW, kernels_of

#: Numbers that are no action of any game.
NO_ACTIONS = (-1, -2, -52, -(1 << 31), -(1 << 63), 1 << 16, 1 << 31, (1 << 32) + 1, 1 << 62, (1 << 63) - 1)


class LawBroken(AssertionError):
    """A law does not hold; the text begins with its name."""


def hold(is_so: Any, law: Callable[..., Any], words: Any) -> None:
    """Raises unless the law holds."""
    if not is_so:
        raise LawBroken(f"{law.__name__}: {words}")


class Plain:
    """One table, driven by direct calls of the rules: plain Python, as under a debugger."""

    def __init__(self, game: Game, tables: np.recarray) -> None:
        self.rules, self.tables = game.rules, tables
        self.table: Table = tables[0]
        self.fields = tables.view(np.ndarray)  # the same memory; reading a field of it is quick
        seats = int(self.table.seats_encoded)
        self.n_actions = self.rules.n_actions(seats)
        self.size = self.rules.layout(seats).size
        self.state_size = self.rules.state_layout(seats).size

    def start(self) -> None:
        self.rules.start_match(self.table)

    def shuffle(self) -> None:
        self.rules.shuffle_deal(self.table)

    def open(self) -> None:
        self.rules.open_deal(self.table)

    def play(self, action: int) -> None:
        self.rules.apply_action(self.table, action)

    def legal_among(self, actions: Sequence[int]) -> list[int]:
        """Those that ``is_legal`` allows."""
        return [action for action in actions if self.rules.is_legal(self.table, action)]

    def mask(self) -> np.ndarray:
        """uint8; a mark that stays would be an entry that is not written."""
        mask = np.full(self.n_actions, 255, np.uint8)
        self.rules.legal_actions(self.table, mask)
        return mask

    def pick(self, counter: np.uint64) -> int:
        return int(self.rules.pick_legal(self.table, mix(counter)))

    def view(self, seat: int) -> np.ndarray:
        """float32; NaN where nothing is written."""
        out = np.full(self.size, np.nan, np.float32)
        self.rules.observe(self.table, seat, out)
        return out

    def state(self) -> np.ndarray:
        out = np.full(self.state_size, np.nan, np.float32)
        self.rules.write_state(self.table, out)
        return out

    def redeal(self, seat: int, key: int) -> None:
        self.rules.redeal_hidden(self.table, seat, np.uint64(key))


@functools.cache
def _legality(rules: Rules) -> Any:
    """``(tables, actions, out)``: whether each action is legal at ``tables[0]``, by the compiled rule."""
    is_legal = rules.is_legal

    def legality(tables: Any, actions: Any, out: Any) -> None:
        for i in range(actions.shape[0]):
            out[i] = is_legal(tables[0], actions[i])

    tables = numba.from_dtype(rules.table_dtype)[::1]
    signature = numba.types.void(tables, numba.types.int64[::1], numba.types.uint8[::1])
    return kernel(legality, signature, f"{rules.name} legality")


class Compiled(Plain):
    """The same through the compiled kernels."""

    def __init__(self, game: Game, tables: np.recarray) -> None:
        super().__init__(game, tables)
        self.kernels, self.raw = kernels_of(game.rules), kernel_view(tables)
        self._row, self._one, self._alone = np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(CREW_ROW, np.int64)

    def start(self) -> None:
        self.kernels.start_one(self.raw)

    def shuffle(self) -> None:
        self.kernels.shuffle_one(self.raw)

    def open(self) -> None:
        self.kernels.open_one(self.raw)

    def play(self, action: int) -> None:
        self.kernels.step_one(self.raw, action)

    def legal_among(self, actions: Sequence[int]) -> list[int]:
        are_legal = np.zeros(len(actions), np.uint8)
        _legality(self.kernels.rules)(self.raw, np.array(actions, np.int64), are_legal)
        return [action for action, one in zip(actions, are_legal, strict=True) if one]

    def mask(self) -> np.ndarray:
        mask = np.full((1, self.n_actions), 255, np.uint8)
        view, actor = np.zeros((1, self.size), np.float32), np.zeros(1, np.int8)
        self.kernels.view_rows(self.raw, self._row, 0, 1, view, mask, actor)
        return mask[0]

    def pick(self, counter: np.uint64) -> int:
        self.kernels.pick_rows(self.raw, self._row, 0, 1, self._alone, 0, np.array([counter], np.uint64), self._one)
        return int(self._one[0])

    def view(self, seat: int) -> np.ndarray:
        out, mask = np.full(self.size, np.nan, np.float32), np.zeros(self.n_actions, np.int8)
        self.kernels.view_one(self.raw, seat, out, mask)
        return out

    def state(self) -> np.ndarray:
        out = np.full(self.state_size, np.nan, np.float32)
        self.kernels.state_one(self.raw, out)
        return out

    def redeal(self, seat: int, key: int) -> None:
        self.kernels.redeal(self.raw, seat, np.array([key], np.uint64))


DRIVERS: dict[str, type[Plain]] = {"plain": Plain, "compiled": Compiled}


class Match:
    """One match, followed by the referee unless it is left out.

    Attributes:
        game: Its game.
        options: Its options.
        driver: What plays it.
        table: The table.
        referee: The independent referee, or None.
        actions: What was played so far, to make the match again.
    """

    def __init__(
        self,
        game: Game,
        options: Any,
        seed: int,
        driver: type[Plain] = Compiled,
        *,
        with_referee: bool = True,
        **settings: Any,
    ) -> None:
        self.game, self.options, self.seed = game, options, seed
        self.engine = engine_of(game)
        tables = game.new_tables([options], seeds=np.array([seed], np.uint64), stop_at_deal=True, **settings)
        self.driver = driver(game, tables)
        self.table: Table = self.driver.table
        self.referee = self.engine.referee(game, options) if with_referee else None
        if self.referee is not None:  # games that shuffle their discards: the same new stock for both
            self.referee.shuffle = lambda cards: game.rules.stock_words(self.table)
        self.actions: list[int] = []

    def __repr__(self) -> str:
        return f"{self.game.name} {self.options}, seed {self.seed}, actions {self.actions}"

    @property
    def is_live(self) -> bool:
        """Whether somebody must answer now."""
        return self.table.phase not in (PHASE_DEAL, PHASE_OVER)

    def moments(self, rng: random.Random) -> Iterator[Match]:
        """Plays at random; yields at each decision, after each deal and at the end."""
        self.driver.start()
        limit = self.engine.most_decisions(self.options)
        while self.table.phase != PHASE_OVER:
            if self.table.phase == PHASE_DEAL:
                self.deal()
                continue
            hold(len(self.actions) < limit, matches_end, f"{len(self.actions)} decisions")
            yield self
            legal = np.flatnonzero(self.driver.mask() == 1).tolist()
            self.play(rng.choice(legal))
            if self.table.phase == PHASE_DEAL:
                yield self
        yield self

    def deal(self) -> None:
        """The next deal, for the referee as well."""
        self.driver.shuffle()
        words = self.game.rules.deal_words(self.table)
        dealer, seats = int(self.table.dealer), self.game.rules.taking_part(self.table)
        self.driver.open()
        self._tell(lambda: self.referee.start_deal(dealer, seats, words["hands"], words["stock"], words["revealed"]))

    def play(self, action: int) -> None:
        """One decision, for the referee as well."""
        move = self.game.rules.action_name(self.table, action) if self.referee is not None else ""
        self.actions.append(action)
        self.driver.play(action)
        self._tell(lambda: self.referee.apply(move))

    def _tell(self, what: Callable[[], None]) -> None:
        if self.referee is not None:
            try:
                what()
            except ValueError as error:
                raise LawBroken(f"the_referee_accepts_it: {error}") from None


def check_match(match: Match, laws: Sequence[Callable[[Match], None]], seed: int = 0) -> int:
    """Plays a whole match at random and checks the laws at each moment; returns the number of decisions."""
    try:
        for _ in match.moments(random.Random(seed)):
            for law in laws:
                law(match)
    except LawBroken as broken:
        raise LawBroken(f"{broken}; in {match!r}") from None
    return len(match.actions)


def random_actions_of(match: Match) -> Iterator[int]:
    """The random policy of ``Batch.random_actions``: a stream that starts with the match's seed."""
    counter = stream(np.uint64(match.seed), POLICY_STREAM)
    while True:
        yield match.driver.pick(counter)
        counter = advanced(counter)


# --- The laws.


def matches_end(match: Match) -> None:
    """A match has no more decisions than its options allow (checked while it is played)."""


def cards_in_one_place(match: Match) -> None:
    """Every card of the pack is in exactly one place."""
    wrong = match.engine.misplaced(match.table)
    hold(not wrong, cards_in_one_place, f"{'; '.join(wrong)}")


def the_actor_can_move(match: Match) -> None:
    """Whoever must answer takes part and has a legal action; between deals nobody has; every entry of the mask is written."""
    mask, table = match.driver.mask(), match.table
    hold(set(mask.tolist()) <= {0, 1}, the_actor_can_move, f"the mask holds {set(mask.tolist())}")
    if match.is_live:
        seats = match.game.rules.taking_part(table)
        hold(table.actor in seats, the_actor_can_move, f"seat{table.actor} is not among {seats}")
        hold(mask.any(), the_actor_can_move, f"seat{table.actor} has no legal action")
    else:
        hold(table.actor == NOBODY and not mask.any(), the_actor_can_move, f"seat{table.actor} may act")


def legality_is_told_the_same_in_three_ways(match: Match) -> None:
    """``is_legal``, ``legal_actions`` and ``pick_legal`` (the k-th legal action for every k) agree."""
    law, driver = legality_is_told_the_same_in_three_ways, match.driver
    legal = np.flatnonzero(driver.mask()).tolist()
    one_by_one = driver.legal_among(range(driver.n_actions))
    hold(one_by_one == legal, law, f"is_legal allows {one_by_one}, the mask {legal}")
    outside = driver.legal_among((*NO_ACTIONS, driver.n_actions))
    hold(not outside, law, f"is_legal allows {outside}")
    if not match.is_live:
        return
    if type(driver) is Plain:
        n = len(legal)
        bounds = [-(-(k << 32) // n) for k in range(n + 1)]  # the 32 high bits from bounds[k] on make the choice k
        first = [driver.rules.pick_legal(match.table, np.uint64(at << 32)) for at in bounds[:-1]]
        last = [driver.rules.pick_legal(match.table, np.uint64((at << 32) - 1)) for at in bounds[1:]]
        hold(first == legal == last, law, f"picked {first} and {last}, legal are {legal}")
    else:
        for counter in (np.uint64(len(match.actions)), np.uint64((1 << 63) + len(match.actions))):
            expected = legal[below(mix(counter), len(legal))]
            hold(driver.pick(counter) == expected, law, f"picked {driver.pick(counter)}, not {expected}")


def legal_is_what_the_referee_calls_legal(match: Match) -> None:
    """The mask is exactly the set of moves that the referee allows, and every one of them can be read back."""
    law, rules, table = legal_is_what_the_referee_calls_legal, match.game.rules, match.table
    legal = np.flatnonzero(match.driver.mask()).tolist()
    names = [rules.action_name(table, action) for action in legal]
    hold(sorted(names) == sorted(match.referee.legal()), law, f"{names}, not {match.referee.legal()}")
    hold([rules.parse_action(table, name) for name in names] == legal, law, f"{names} are read back differently")


def the_position_is_the_referees(match: Match) -> None:
    """Who must answer and where every card lies is the same as at the referee's table."""
    law, referee, table = the_position_is_the_referees, match.referee, match.table
    actor = NOBODY if referee.actor is None else referee.actor
    hold(table.actor == actor, law, f"seat{table.actor} must answer, for the referee seat{actor},")
    facts, expected = match.engine.facts(table), match.engine.referee_facts(referee)
    for name, fact in expected.items():
        if not (match.referee.deal_over and name == "dealer"):
            hold(facts[name] == fact, law, f"{name}: {facts[name]}, for the referee {fact},")


def scores_are_the_referees(match: Match) -> None:
    """Points, totals, the end of deal and match, and who deals and plays next are the same as at the referee's table."""
    law, referee, table = scores_are_the_referees, match.referee, match.table
    hold(match.is_live != referee.deal_over, law, f"the deal goes on: {match.is_live},")
    hold((table.phase == PHASE_OVER) == referee.match_over, law, f"the match is over: {referee.match_over},")
    totals = table.totals[: match.options.players].tolist()
    hold(totals == list(referee.totals), law, f"totals {totals}, not {referee.totals}")
    if match.is_live:
        return
    points, scores = table.points[: match.options.players].tolist(), referee.scores[-1]
    hold(bool(table.truncated) == (scores is None), law, f"truncated: {table.truncated}")
    hold(scores is None or points == list(scores), law, f"points {points}, not {scores}")
    if not referee.match_over:
        next_deal = int(table.dealer), match.game.rules.taking_part(table)
        hold(next_deal == referee.expected_deal(), law, f"{next_deal} deal next, not {referee.expected_deal()}")


def views_lie_in_their_space(match: Match) -> None:
    """Every entry of each seat's observation and of the state is written and lies between 0 and 1."""
    views = {f"seat{seat}": match.driver.view(seat) for seat in range(match.options.players)} | {"state": match.driver.state()}
    for name, view in views.items():
        wrong = np.flatnonzero(~((view >= 0) & (view <= 1)))
        hold(not len(wrong), views_lie_in_their_space, f"{name}: {view[wrong][:4]} at {wrong[:4]}")


#: All laws of a match that is followed by the referee.
LAWS: tuple[Callable[[Match], None], ...] = (
    cards_in_one_place,
    the_actor_can_move,
    legality_is_told_the_same_in_three_ways,
    legal_is_what_the_referee_calls_legal,
    the_position_is_the_referees,
    scores_are_the_referees,
    views_lie_in_their_space,
)
