"""A match with its chance taken apart: card by card, with the exact number of ways to each.

The engines shuffle a whole deal at once; a game tree wants to know what can happen next and how likely it is. ``open_spiel.py``
says how the cards come. Nothing here depends on OpenSpiel.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Any, TypeAlias

import numpy as np

from ..events import RING, recent_events
from ..game import NOBODY, PHASE_DEAL, PHASE_OVER, Game, Table
from ..jit import kernel_view
from ..kernels import kernels_of
from ..mitch.options import ACE_DECK, ACE_STOCK, JOKER
from ..mitch.scoring import SUIT_POINTS, WAITING_POINTS, next_taking_part
from ..mitch.state import JOKER_CARD, N_RANKS, pack
from ..mitch.text import CARD_NAMES, cards_of
from ..mitchell.kinds import KIND_NAMES, N_INVESTIGATIONS
from ..mitchell.scoring import CAUGHT_POINTS, INVESTIGATION_POINTS, OTHER_CARD_POINTS, WINNER_POINTS
from ..tables import copied

#: What chance may do: in how many ways each card can be the next. One way is as likely as another.
Ways: TypeAlias = Mapping[int, int]
#: Asks for cards, one after the other, and returns the deal as the records have it, with numbers for cards.
Deal: TypeAlias = Generator[Ways, int, dict[str, Any]]


# --- Dealing, for each engine.


def some_of(pool: Counter[int], n: int) -> Generator[Ways, int, list[int]]:
    """Takes ``n`` cards out of a pool, lowest first: hands are sets, so each has one order in which it is dealt."""
    chosen: list[int] = []
    for left in range(n, 0, -1):
        last = chosen[-1] if chosen else NOBODY
        n_taken, n_last = chosen.count(last), pool[last]
        n_above = sum(count for card, count in pool.items() if card > last)
        more = sum(comb(n_last, n_taken + i) * comb(n_above, left - i) for i in range(1, min(left, n_last - n_taken) + 1))
        ways = {last: more} if more else {}
        for card in sorted(card for card in pool if card > last):
            as_lowest = comb(n_above, left) - comb(n_above - pool[card], left)
            n_above -= pool[card]
            if as_lowest:
                ways[card] = comb(n_last, n_taken) * as_lowest
        chosen.append((yield ways))
    pool.subtract(chosen)
    return chosen


def deal_mitch(s: Table) -> Deal:
    """A deal of Mitch: hands, shown aces (J3), and the stock in any order (J2)."""
    whole = cards_of(pack(s))
    pool = Counter(card for card in whole if card % N_RANKS or s.clock != ACE_STOCK)
    hands: list[list[int]] = [[] for _ in range(s.players)]
    seats, revealed = [next_taking_part(s, s.dealer)], []
    for _ in range(int(s.taking_part).bit_count() - 1):
        seats.append(next_taking_part(s, seats[-1]))
    for seat in seats:
        hands[seat] = yield from some_of(pool, int(s.hand_size))
    for seat in seats if s.clock == ACE_DECK else []:
        while aces := [card for card in hands[seat] if card % N_RANKS == 0]:
            revealed.append(min(aces))
            hands[seat].remove(revealed[-1])
            hands[seat].append((yield +pool))
            pool[hands[seat][-1]] -= 1
    if s.clock == JOKER:
        pool[JOKER_CARD] = int(s.clock_cards)
    elif s.clock == ACE_STOCK:
        pool.update((yield from some_of(Counter(card for card in whole if card % N_RANKS == 0), int(s.clock_cards))))
    return {"hands": hands, "stock": sorted(pool.elements()), "revealed": revealed}


def deal_mitchell(s: Table) -> Deal:
    """A deal of Mitchell: hands, and the stock in any order."""
    pool = Counter(counted(s.deck))
    hands: list[list[int]] = []
    while len(hands) < s.players:
        hands += [(yield from some_of(pool, int(s.hand_size)))]
    return {"hands": hands, "stock": sorted(pool.elements()), "revealed": []}


def counted(counts: np.ndarray) -> list[int]:
    """Each kind as often as it counts."""
    return [kind for kind, n in enumerate(counts.tolist()) for _ in range(n)]


# --- Limits, for each engine.


def limits_of_mitch(options: Any) -> tuple[int, int, int, int]:
    """The lowest and the highest total of a match, the most decisions, the most chance nodes.

    A column that does not win its suit is at most as long as the winner's: half of the ranks. Every card leaves a hand once;
    with ``take_discard``, each card drawn or taken is one more decision.
    """
    n_cards = options.suits * (options.ranks - (options.clock in ("ace_stock", "ace_deck")))
    n_stock = n_cards + options.clock_cards if options.clock != "ace_hand" else n_cards
    n_decisions = n_cards + (n_stock + n_cards if options.take_discard else 0)
    n_dealt = options.n_deals * (1 + (options.playoffs or 0))
    low, high = 0, 1
    if options.scoring == "suits":
        high = options.suits * SUIT_POINTS * (2 if options.shortest_double else 1)
        column = options.ranks - (options.clock != "joker")
        low -= options.suits * (column // 2) if options.lost_column_penalty else 0
        low -= WAITING_POINTS if options.waiting_penalty else 0
    n_chance = options.suits * options.ranks + options.clock_cards
    return low * options.n_deals, high * options.n_deals, n_decisions * n_dealt, n_chance * n_dealt


def limits_of_mitchell(options: Any) -> tuple[int, int, int, int]:
    """As :func:`limits_of_mitch`. In a turn one card is drawn by itself, two by a force-two and two by its revenge."""
    investigations = set(KIND_NAMES[:N_INVESTIGATIONS])
    worth = sum(
        count * (INVESTIGATION_POINTS if name in investigations else OTHER_CARD_POINTS) for name, count in options.deck.items()
    )
    is_penalty = options.unplayed == "penalty"
    low, high = min(CAUGHT_POINTS, -worth * is_penalty), max(WINNER_POINTS, worth * (not is_penalty))
    most = high * options.rounds
    if options.target_score is not None:  # nobody has it before the last round
        most = min(most, options.target_score - 1 + high)
    n_turns = options.rounds * options.max_turns
    return low * options.rounds, most, n_turns * options.players, 5 * n_turns + options.rounds * sum(options.deck.values())


@dataclass(frozen=True)
class Engine:
    """What this page must know of an engine's cards."""

    names: Sequence[str]
    cards: Callable[[Any], list[int]]
    deal: Callable[[Table], Deal]
    limits: Callable[[Any], tuple[int, int, int, int]]


ENGINES = {
    "mitch": Engine(CARD_NAMES, cards_of, deal_mitch, limits_of_mitch),
    "mitchell": Engine(KIND_NAMES, counted, deal_mitchell, limits_of_mitchell),
}


# --- A match.


@dataclass(frozen=True)
class Setting:
    """The rules of a match, shared by all its states."""

    game: Game
    options: Any
    reward: str

    @functools.cached_property
    def engine(self) -> Engine:
        return ENGINES[self.game.rules.name]

    @functools.cached_property
    def kernels(self) -> Any:
        return kernels_of(self.game.rules)

    @functools.cached_property
    def layout(self) -> Any:
        return self.game.rules.layout(self.options.players)

    @functools.cached_property
    def n_actions(self) -> int:
        return self.game.rules.n_actions(self.options.players)

    def __reduce__(self) -> tuple[Any, ...]:
        return Setting, (self.game, self.options, self.reward)


OPEN_DEAL = -1


@dataclass
class Play:
    """A match with its chance taken apart.

    Attributes:
        setting: The rules.
        tables: One table, as it was when it last came to rest; never written to. What is not drawn of its stock is sorted.
        seen: Who saw what, in order: a seat or NOBODY for everybody, and words.
        step: What is being played while chance decides: an action, OPEN_DEAL, or None.
        given: The cards that chance has decided since the table was at rest.
        ways: What it may decide next; None at rest.
        paid: What each seat had been paid when the last decision was taken.
        actor: The seat that must decide; NOBODY at a chance node and when the match is over.
    """

    setting: Setting
    tables: np.recarray
    seen: list[tuple[int, str]] = field(default_factory=list)
    step: int | None = None
    given: list[int] = field(default_factory=list)
    ways: Ways | None = None
    paid: list[float] = field(default_factory=list)
    actor: int = NOBODY

    @classmethod
    def start(cls, setting: Setting) -> Play:
        """A new match."""
        tables = setting.game.new_tables([setting.options], seeds=np.zeros(1, np.uint64), stop_at_deal=True)
        setting.kernels.start_one(kernel_view(tables))
        play = cls(setting, tables)
        play.paid = play.earned()
        play.go_on()
        return play

    def copy(self) -> Play:
        """An independent match in the same position."""
        twin = object.__new__(Play)
        twin.__dict__ = self.__dict__ | {"seen": self.seen.copy(), "given": self.given.copy()}
        return twin

    def __deepcopy__(self, memo: Any) -> Play:
        return self.copy()

    @property
    def table(self) -> Table:
        return self.tables[0]

    def legal(self) -> list[int]:
        """The actions of the seat that must decide, ascending."""
        observation, mask = np.empty(self.setting.layout.size, np.float32), np.empty(self.setting.n_actions, np.int8)
        self.setting.kernels.view_one(kernel_view(self.tables), self.actor, observation, mask)
        actions: list[int] = np.flatnonzero(mask).tolist()
        return actions

    def apply(self, action: int) -> None:
        """A decision, or an outcome of chance."""
        if self.ways is None:
            self.seen.append((self.actor, f"> {self.setting.game.rules.action_name(self.table, action)}"))
            self.paid = self.earned()
            self.step = action
        else:
            self.given.append(action)
        self.go_on()

    def go_on(self) -> None:
        """Plays until chance has a choice or the table is at rest."""
        self.ways, self.actor = None, NOBODY
        while self.step is not None or entry(self.tables, "phase") == PHASE_DEAL:
            ways = self._deal() if self.step is None else self._play()
            if len(ways) > 1:
                self.ways = ways
                return
            self.given.extend(ways)
        self.actor = int(entry(self.tables, "actor"))

    def _deal(self) -> Ways:
        """What the deal needs to know next; empty when it lies on the table."""
        deal = self.setting.engine.deal(self.table)
        try:
            ways = next(deal)
            for card in self.given:
                ways = deal.send(card)
            return ways
        except StopIteration as end:
            words = {name: self.words(cards) for name, cards in end.value.items()}
        self.tables = copied(self.tables)
        self.setting.game.rules.arrange_deal(self.table, words)
        self.step, self.given = OPEN_DEAL, []
        return {}

    def words(self, cards: Sequence[Any]) -> list[Any]:
        names = self.setting.engine.names
        return [self.words(card) if isinstance(card, list) else names[card] for card in cards]

    def _play(self) -> Ways:
        """What the step needs to know next; empty when it is done and the table is at rest."""
        old, given = self.tables, self.given
        at = int(entry(old, "stock_next"))
        stock: list[int] = entry(old, "stock")[at : entry(old, "stock_size")].tolist()
        new = self._tried(at, stock, [])
        new_stock: list[int] = []
        if entry(new, "reshuffles") != entry(old, "reshuffles"):  # what the new stock consists of is known only now
            new_stock = entry(new, "stock")[: entry(new, "stock_size")].tolist()
            new = self._tried(at, stock, new_stock)
            at = -len(stock)
        n_drawn = int(entry(new, "stock_next")) - at
        if n_drawn > len(given):
            if len(given) < len(stock):
                return Counter(stock) - Counter(given)
            return Counter(new_stock) - Counter(given[len(stock) :])
        entry(new, "stock")[entry(new, "stock_next") : entry(new, "stock_size")].sort()
        self._rest(new)
        return {}

    def _tried(self, at: int, stock: list[int], new_stock: list[int]) -> np.recarray:
        """The table after the step if the cards come that are given, and the others in any order."""
        tables = copied(self.tables)
        entry(tables, "stock")[at : at + len(stock)] = ordered(stock, self.given[: len(stock)])
        if new_stock:
            self.setting.game.rules.arrange_reshuffle(tables[0], self.words(ordered(new_stock, self.given[len(stock) :])))
        if self.step == OPEN_DEAL:
            self.setting.kernels.open_one(kernel_view(tables))
        else:
            self.setting.kernels.step_one(kernel_view(tables), self.step)
        return tables

    def _rest(self, new: np.recarray) -> None:
        """The table is at rest: everybody sees what has happened, and the cards that came into the own hand."""
        engine, n = self.setting.engine, self.setting.options.players
        old = self.tables
        n_events = int(entry(new, "n_events") - entry(old, "n_events"))
        if n_events > RING:  # turns that ended by themselves: whose they were follows from their number
            self.seen.append((NOBODY, f"{n_events - RING} events"))
        event_text = self.setting.game.rules.event_text
        self.seen += [(NOBODY, event_text(new[0], event)) for event in recent_events(new[0], n_events)]
        hands, is_dealt = entry(new, "hand"), self.step == OPEN_DEAL
        for seat, before in enumerate(entry(old, "hand")[:n]):
            if is_dealt or before.tobytes() != hands[seat].tobytes():
                came = Counter(engine.cards(hands[seat])) - Counter([] if is_dealt else engine.cards(before))
                if came:
                    self.seen.append((seat, f"+ {' '.join(self.words(sorted(came.elements())))}"))
        if entry(new, "deals_done") != entry(old, "deals_done"):
            self.seen.append((NOBODY, "points " + " ".join(map(str, entry(new, "points")[:n].tolist()))))
        self.tables, self.step, self.given = new, None, []

    def earned(self) -> list[float]:
        """What each seat has been paid so far."""
        n = self.setting.options.players
        totals: list[int] = entry(self.tables, "totals")[:n].tolist()
        if self.setting.reward == "points":
            return [float(total) for total in totals]
        if self.setting.reward == "relative":
            return [(n * total - sum(totals)) / n for total in totals]
        n_best = totals.count(max(totals))
        if self.table.phase != PHASE_OVER or n_best == n:
            return [0.0] * n
        return [1.0 / n_best if total == max(totals) else -1.0 / (n - n_best) for total in totals]

    def hands(self) -> list[list[str]]:
        """The cards that each seat holds."""
        rows = entry(self.tables, "hand")[: self.setting.options.players]
        return [self.words(self.setting.engine.cards(row)) for row in rows]

    def known_to(self, seat: int) -> str:
        """All that a seat has seen, in order."""
        return "; ".join([f"seat{seat}", *(words for who, words in self.seen if who in (NOBODY, seat))])

    def redealt(self, seat: int, key: int) -> Play:
        """A world that ``seat`` cannot tell from this one; what the others remember of it is public, and what they hold."""
        if self.ways is not None:
            raise ValueError("a state can be resampled at a decision or at the end, not at a chance node")
        tables = copied(self.tables)
        self.setting.kernels.redeal(kernel_view(tables), seat, np.array([key], np.uint64))
        s = tables[0]
        s.seed, s.rng = self.table.seed, self.table.rng  # neither is used here
        s.stock[s.stock_next : s.stock_size].sort()
        seen = [one for one in self.seen if one[0] in (NOBODY, seat)]
        world = self.copy()
        world.tables, world.seen = tables, seen
        seen += [(other, f"holds {' '.join(hand)}") for other, hand in enumerate(world.hands()) if other != seat]
        return world


def entry(tables: np.recarray, name: str) -> Any:
    """A field of the one table; several times faster than as an attribute of a record."""
    return tables.view(np.ndarray)[name][0]


def ordered(cards: list[int], first: list[int]) -> list[int]:
    """Cards with some of them first."""
    return first + sorted((Counter(cards) - Counter(first)).elements())
