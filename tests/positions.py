"""Positions of Mitch on the engine: laid out from words, played by words, read back in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mitch_env import get_game
from mitch_env.game import PHASE_DEAL, PHASE_OVER
from mitch_env.jit import kernel_view
from mitch_env.kernels import ILLEGAL, kernels_of
from mitch_env.mitch.state import is_closed
from mitch_env.mitch.text import RANKS, SUITS, card_name, cards_of
from mitch_env.records import deal_scores, winners


def cards(text: str) -> set[str]:
    """``"9H KS"`` as a set of cards."""
    return set(text.split())


def moves(*groups: str) -> set[str]:
    """Moves written as one verb with many cards: ``moves("play 9H KS", "draw")``."""
    verbs = [group.split() for group in groups]
    return {f"{verb} {name}" for verb, *names in verbs for name in names} | {verb for verb, *names in verbs if not names}


def short_pack(options: Any) -> list[str]:
    """The pack without jokers: the first suits of S H D C, the lowest ranks."""
    return [rank + suit for suit in SUITS[: options.suits] for rank in RANKS[: options.ranks]]


class Position:
    """One table of a game, at the start of a match.

    Args:
        game: ``mitch_jp``, ``mitch_ru`` or ``mitch_original``.
        compiled: Whether it is played by the compiled kernels instead of the plain rules.
        **changes: Options by name.
    """

    def __init__(self, game: str, *, compiled: bool = False, **changes: Any) -> None:
        self.game = get_game(game)
        self.options = self.game.options(**changes)
        self.rules = self.game.rules
        tables = self.game.new_tables([self.options], seeds=np.array([11], np.uint64), stop_at_deal=True)
        self.table = tables[0]
        self._raw = kernel_view(tables)
        self._kernels = kernels_of(self.rules) if compiled else None
        if self._kernels:
            self._kernels.start_one(self._raw)
        else:
            self.rules.start_match(self.table)

    # --- Layout.

    def deal(self, hands: Sequence[str], top: str = "", revealed: str = "") -> Position:
        """Lays out the next deal and plays on to the first decision.

        Args:
            hands: By seat; "" for a seat that sits out.
            top: The stock begins with these cards. All others follow, from the lowest spade on, missing clock cards last.
            revealed: The aces turned up while dealing.
        """
        stock = top.split()
        gone = {card for hand in hands for card in hand.split()} | {*stock, *revealed.split()}
        rest = [card for card in short_pack(self.options) if card not in gone]
        if self.options.clock == "joker":
            rest += ["JK"] * (self.options.clock_cards - stock.count("JK"))
        elif self.options.clock == "ace_stock":
            aces = [card for card in rest if card[0] == "A"]
            n_missing = self.options.clock_cards - sum(card[0] == "A" for card in stock)
            rest = [card for card in rest if card[0] != "A"] + aces[:n_missing]
        return self.lay_out({"hands": [hand.split() for hand in hands], "stock": stock + rest, "revealed": revealed.split()})

    def lay_out(self, words: dict[str, Any]) -> Position:
        """Lays out exactly this deal (as a record writes it) and plays on to the first decision."""
        self.rules.arrange_deal(self.table, words)
        if self._kernels:
            self._kernels.open_one(self._raw)
        else:
            self.rules.open_deal(self.table)
        return self

    def shuffle(self, seed: int | None = None) -> dict[str, Any]:
        """Shuffles the next deal (of a new match, if a seed is given), without opening it; its words, as a record has them."""
        if seed is not None:
            self.table.seed = np.uint64(seed)
            self._kernels.start_one(self._raw) if self._kernels else self.rules.start_match(self.table)
        self._kernels.shuffle_one(self._raw) if self._kernels else self.rules.shuffle_deal(self.table)
        return self.rules.deal_words(self.table)

    # --- Play.

    def play(self, *turns: str) -> Position:
        """Plays moves written as ``"0 play 9H"``: the seat that must be the actor, then its move."""
        for turn in turns:
            seat, move = turn.split(maxsplit=1)
            assert self.actor == int(seat), f"seat{self.actor} is to move, not {turn!r}"
            assert move in self.legal, f"{turn!r} is not legal, but {sorted(self.legal)}"
            self.apply(self.rules.parse_action(self.table, move))
        return self

    def apply(self, action: int) -> None:
        """Plays one legal action."""
        assert self.rules.is_legal(self.table, action)
        if self._kernels:
            assert self._kernels.step_one(self._raw, action) != ILLEGAL
        else:
            self.rules.apply_action(self.table, action)

    def play_out(self, *plans: str) -> list[int]:
        """Plays a deal to its end: by seat the cards to lay, in order; the rest is put down otherwise. Returns the actors."""
        left = [plan.split() for plan in plans]
        actors = []
        while not self.deal_over:
            seat = self.actor
            actors.append(seat)
            other = min(move for move in self.legal if not move.startswith("play")) if not left[seat] else ""
            self.play(f"{seat} {other or 'play ' + left[seat].pop(0)}")
        return actors

    # --- What lies where.

    @property
    def legal(self) -> set[str]:
        """The legal moves of the actor, in words, from the mask that clients get."""
        n = self.rules.n_actions(self.options.players)
        if self._kernels:
            signed = np.zeros(n, np.int8)
            seen = np.zeros(self.rules.layout(self.options.players).size, np.float32)
            self._kernels.view_one(self._raw, self.actor, seen, signed)
            mask = signed.astype(np.uint8)
        else:
            mask = np.full(n, 9, np.uint8)
            self.rules.legal_actions(self.table, mask)
        return {self.rules.action_name(self.table, int(action)) for action in np.flatnonzero(mask)}

    @property
    def actor(self) -> int:
        """The seat that must answer now, -1 between deals."""
        return int(self.table.actor)

    @property
    def deal_over(self) -> bool:
        """Whether no deal is being played."""
        return self.table.phase in (PHASE_DEAL, PHASE_OVER)

    @property
    def match_over(self) -> bool:
        """Whether the last deal is scored."""
        return bool(self.table.phase == PHASE_OVER)

    @property
    def closed(self) -> bool:
        """Whether the stock is closed."""
        return is_closed(self.table)

    def hand(self, seat: int) -> set[str]:
        """The cards in a hand."""
        return set(map(card_name, cards_of(self.table.hand[seat])))

    @property
    def hand_sizes(self) -> list[int]:
        """The number of cards in each hand."""
        return [len(self.hand(seat)) for seat in range(self.options.players)]

    def columns(self, seat: int) -> str:
        """The tableau of a seat, suit by suit (S H D C) and each column from top to bottom: ``"KS QS 9H"``."""
        laid = sorted(cards_of(self.table.tableau[seat]), key=lambda card: (card // 13, -card))
        return " ".join(map(card_name, laid))

    @property
    def discards(self) -> str:
        """The discard pile, the top card last."""
        return " ".join(card_name(self.table.pile[i]) for i in range(self.table.pile_size))

    @property
    def stock(self) -> list[str]:
        """The stock, the next card first."""
        return self.rules.stock_words(self.table)

    @property
    def aces_up(self) -> set[str]:
        """The aces that lie face up, as clock cards or on the ace pile."""
        return set(map(card_name, cards_of(self.table.clock_up)))

    @property
    def clock_seen(self) -> int:
        """Clock cards that lie face up."""
        return int(self.table.clock_seen)

    @property
    def dealt_to(self) -> tuple[int, list[int]]:
        """The dealer of the current or next deal and the seats that take part."""
        return int(self.table.dealer), self.rules.taking_part(self.table)

    @property
    def scores(self) -> list[int]:
        """The points of the deal that has just ended."""
        points = deal_scores(self.table)
        assert points is not None, "the deal is not over"
        return points

    @property
    def totals(self) -> list[int]:
        """The points of the match so far."""
        return [int(total) for total in self.table.totals[: self.options.players]]

    @property
    def winners(self) -> list[int]:
        """The seats with the highest total."""
        return winners(self.table)

    def sees(self, seat: int, block: str) -> list[float]:
        """The entries of one block of what a seat observes."""
        layout = self.rules.layout(self.options.players)
        out = np.full(layout.size, 9.0, np.float32)
        if self._kernels:
            self._kernels.view_one(self._raw, seat, out, np.zeros(self.rules.n_actions(self.options.players), np.int8))
        else:
            self.rules.observe(self.table, seat, out)
        return [float(entry) for entry in out[layout.slices[block]]]
