"""The options of Mitch. A tradition is a value of :class:`MitchOptions`, and so is every house rule.

The letters and numbers in the code (J3, R7) are the rulings of the rulebook, ``docs/rules_mitch.md``.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from ..options import OptionsError, check_bool, check_choice, check_int

CLOCKS = ("joker", "ace_stock", "ace_deck", "ace_hand")
JOKER, ACE_STOCK, ACE_DECK, ACE_HAND = range(4)
COLUMN_STEPS = ("any_lower", "next_lower")
ANY_LOWER, NEXT_LOWER = range(2)
SCORINGS = ("suits", "longest")
SUITS_WON, LONGEST = range(2)
TIE_BREAKS = ("high", "low")
HIGH, LOW = range(2)

MAX_PLAYERS = 5
_MANY = 1_000_000


@dataclass(frozen=True)
class MitchOptions:
    """What can be agreed on before a match. The defaults are the Japanese tradition's.

    ``None`` stands for "does not apply": ``playoffs`` unless ``scoring="longest"``; ``lost_column_penalty``,
    ``shortest_double`` and ``waiting_penalty`` unless ``scoring="suits"``. An option that comes to apply gets its default.

    Attributes:
        players: 2 to 5.
        deals: How many deals a match has: ``"players"`` (as many as players) or an integer from 1.
        hand_size: Cards dealt to each player, from 1.
        clock: The marker cards that close the stock: ``joker``; ``ace_stock`` (aces shuffled into the stock after the
            deal); ``ace_deck`` (aces stay in the pack, turned up when they come); ``ace_hand`` (aces are held and laid on a
            pile).
        clock_cards: The marker that closes the stock: 1 to 4; with jokers also how many there are.
        column_step: ``any_lower`` (gaps allowed) or ``next_lower`` (exactly one rank lower).
        must_place: While the stock is open, who can place must place (R1).
        take_discard: The top discard may be taken straight into the own tableau instead of drawing (J4).
        closer_plays: Who turns up the last clock card still plays or discards (J5).
        scoring: ``suits`` (4 points for the longest column of each suit) or ``longest`` (the longest column of all wins).
        lost_column_penalty: A column that did not win its suit costs a point a card (J9).
        tie_break: Which bottom card wins between equally long columns: ``high`` or ``low`` (J8).
        shortest_double: The shortest column that won a suit counts double (J7).
        waiting_penalty: Minus 10 for a player who could place while the stock was open and never did (J6).
        playoffs: The most play-off deals after a tie (R7).
        suits: 1 to 4, the first of S H D C.
        ranks: 2 to 13, the lowest of A 2 3 ... K.

    Raises:
        OptionsError: If a value is not allowed, alone or with the others.
    """

    players: int = 3
    deals: int | str = "players"
    hand_size: int = 5
    clock: str = "joker"
    clock_cards: int = 3
    column_step: str = "any_lower"
    must_place: bool = False
    take_discard: bool = False
    closer_plays: bool = False
    scoring: str = "suits"
    lost_column_penalty: bool | None = None
    tie_break: str = "high"
    shortest_double: bool | None = None
    waiting_penalty: bool | None = None
    playoffs: int | None = None
    suits: int = 4
    ranks: int = 13

    def __post_init__(self) -> None:
        self._set("players", check_int("players", self.players, 2, MAX_PLAYERS))
        if self.deals != "players":
            try:
                self._set("deals", check_int("deals", self.deals, 1, _MANY))
            except OptionsError:
                raise OptionsError(f"deals={self.deals!r}: 'players' or an integer from 1 to {_MANY} is needed") from None
        for name, low, high in [("hand_size", 1, 52), ("clock_cards", 1, 4), ("suits", 1, 4), ("ranks", 2, 13)]:
            self._set(name, check_int(name, getattr(self, name), low, high))
        for name, allowed in [
            ("clock", CLOCKS),
            ("column_step", COLUMN_STEPS),
            ("scoring", SCORINGS),
            ("tie_break", TIE_BREAKS),
        ]:
            check_choice(name, getattr(self, name), allowed)
        for name in ("must_place", "take_discard", "closer_plays"):
            self._set(name, check_bool(name, getattr(self, name)))
        for name in ("lost_column_penalty", "shortest_double", "waiting_penalty"):
            if getattr(self, name) is not None:
                self._set(name, check_bool(name, getattr(self, name)))
        if self.playoffs is not None:
            self._set("playoffs", check_int("playoffs", self.playoffs, 0, _MANY))
        self._check_combinations()
        self._settle_what_applies()
        self._check_pack()

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_combinations(self) -> None:
        if self.clock == "ace_hand":
            for name in ("take_discard", "closer_plays", "waiting_penalty"):
                if getattr(self, name):
                    raise OptionsError(
                        f"{name}=True does not go with clock='ace_hand', where nobody draws before playing: "
                        f"set {name}=False or another clock (joker, ace_stock, ace_deck)"
                    )
        if self.scoring == "longest":
            for name in ("shortest_double", "waiting_penalty"):
                if getattr(self, name):
                    raise OptionsError(
                        f"{name}=True does not go with scoring='longest', which gives no points for suits: "
                        f"set {name}=False or scoring='suits'"
                    )

    def _settle_what_applies(self) -> None:
        if self.scoring == "suits":
            self._set("playoffs", None)
            for name, default in [("lost_column_penalty", True), ("shortest_double", False), ("waiting_penalty", False)]:
                if getattr(self, name) is None:
                    self._set(name, default)
        else:
            for name in ("lost_column_penalty", "shortest_double", "waiting_penalty"):
                self._set(name, None)
            if self.playoffs is None:
                self._set("playoffs", 10)

    def _check_pack(self) -> None:
        if self.clock != "joker" and self.clock_cards > self.suits:
            raise OptionsError(
                f"clock_cards={self.clock_cards}: a pack of suits={self.suits} has {self.suits} aces; "
                f"with clock={self.clock!r} allowed are 1 to {self.suits}"
            )
        cards = self.suits * self.ranks
        kind = "cards"
        if self.clock in ("ace_stock", "ace_deck"):
            cards -= self.suits
            kind = "cards that are no aces"
        if self.players * self.hand_size > cards:
            most = cards // self.players
            allowed = f"allowed is at most {most}" if most else "not even one card each; allowed are more suits or ranks"
            raise OptionsError(
                f"hand_size={self.hand_size}: players={self.players} would be dealt {self.players * self.hand_size} cards, "
                f"but a pack of suits={self.suits} x ranks={self.ranks} has {cards} {kind}; "
                f"{allowed}"
            )

    def as_dict(self) -> dict[str, Any]:
        """Every option with its value, ready for JSON; ``None`` where it does not apply."""
        return dataclasses.asdict(self)

    @property
    def n_deals(self) -> int:
        """The number of regular deals of a match."""
        return self.players if isinstance(self.deals, str) else self.deals

    def table_fields(self) -> dict[str, int]:
        """The value of each option as it stands in a table."""
        numbers = {name: int(value or 0) for name, value in self.as_dict().items() if not isinstance(value, str)}
        return numbers | {
            "deals": self.n_deals,
            "clock": CLOCKS.index(self.clock),
            "column_step": COLUMN_STEPS.index(self.column_step),
            "scoring": SCORINGS.index(self.scoring),
            "tie_break": TIE_BREAKS.index(self.tie_break),
        }


JP = MitchOptions()
RU = MitchOptions(deals=1, clock="ace_hand", column_step="next_lower", must_place=True, scoring="longest")
ORIGINAL = MitchOptions(clock="ace_deck")
