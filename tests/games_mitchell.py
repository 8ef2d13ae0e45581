"""What the laws need to know of the Mitchell engine; ``games.py`` makes an ``Engine`` of ``PIECES``."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
from reference import mitchell as referee_of_mitchell

from mitch_env import Game, OptionsError
from mitch_env.game import FIRST_OWN_PHASE, NOBODY, Table
from mitch_env.mitchell.memory import known_counts
from mitch_env.mitchell.text import action_name, parse_action

_SUITS = referee_of_mitchell.SUITS
#: In the order of the table's fields.
_KINDS = [suit + end for suit in _SUITS for end in ("", "+attract", "+center")] + [suit + "+anywhere" for suit in _SUITS]
_KINDS += [*referee_of_mitchell.ACTIONS, *referee_of_mitchell.REACTIONS]
_GIVE = _KINDS.index("give")
_PLAY, _DRAWN, _ANSWER = range(FIRST_OWN_PHASE, FIRST_OWN_PHASE + 3)


def random_options(game: Game, rng: random.Random, players: int) -> Any:
    """Small decks, so that stocks run out and rounds are blocked, and all house rules."""
    pool = rng.choice([_KINDS, _KINDS, rng.sample(_KINDS, 8), [*_KINDS[20:], "brawl", "brawl+attract"]])
    while True:
        hand_size = rng.choice([2, 3, 5, 7])
        n_cards = players * hand_size + 1 + rng.choice([1, 4, 12, 30])
        drawn: dict[str, Any] = {
            "target_score": rng.choice([None, 50, 400]),
            "unplayed": rng.choice(["bonus", "penalty"]),
            "release_wins": rng.random() < 0.5,
            "ask_everyone": rng.random() < 0.5,
            "max_turns": rng.choice([30, 60, 80]),
        }
        changes = {name: value for name, value in drawn.items() if rng.random() < 0.7}
        deck = dict(Counter(rng.choice(pool) for _ in range(n_cards)))
        if not set(deck) - set(referee_of_mitchell.REACTIONS):
            continue  # nobody would ever have anything to decide
        limits = {"max_turns": 80, "rounds": rng.choice([1, 1, 2, 3])}
        try:
            return game.options(limits | changes, players=players, hand_size=hand_size, deck=deck)
        except OptionsError:
            continue


def most_decisions(options: Any) -> int:
    """In each turn a card, and an answer of each opponent."""
    return int(options.rounds * options.max_turns * options.players)


def referee(game: Game, options: Any) -> Any:
    return referee_of_mitchell.Referee(referee_of_mitchell.full_options(**options.as_dict()))


def _names(counts: Any) -> list[str]:
    return sorted(_KINDS[kind] for kind in range(len(_KINDS)) for _ in range(int(counts[kind])))


def _kind_name(kind: int) -> str | None:
    return None if kind < 0 else _KINDS[kind]


def facts(table: Table) -> dict[str, Any]:
    seats = range(table.players)
    asks = table.phase == _ANSWER
    place = "center" if table.target < 0 else int(table.target)
    return {
        "hands": [_names(table.hand[seat]) for seat in seats],
        "hand sizes": table.n_held[: table.players].tolist(),
        "stock": [_KINDS[kind] for kind in table.stock[table.stock_next : table.stock_size].tolist()],
        "discards": _names(table.discards),
        "number of discards": int(table.n_discards),
        "top": _kind_name(int(table.top)),
        "suit": None if table.suit < 0 else _SUITS[table.suit],
        "mitchell": "center" if table.mitchell < 0 else int(table.mitchell),
        "turn": int(table.turn),
        "turns": int(table.turns_done),
        "drawn": _kind_name(int(table.drawn)),
        "action": _kind_name(int(table.pending)),
        "target": place if asks and _KINDS[table.pending] != "change" else None,
        "named suit": None if table.new_suit < 0 else _SUITS[table.new_suit],
        "gift": _kind_name(int(table.gift)),
        "known": [[_names(known_counts(table)[seat, other]) for other in seats if other != seat] for seat in seats],
        "totals": table.totals[: table.players].tolist(),
    }


def referee_facts(referee: Any) -> dict[str, Any]:
    window = referee.pending or {"action": None, "target": None, "suit": None, "card": None}
    known = [referee.known(seat) for seat in referee.seats]
    return {
        "hands": [referee.hand(seat) for seat in referee.seats],
        "hand sizes": referee.hand_sizes(),
        "stock": referee.stock,
        "discards": sorted(referee.discards),
        "number of discards": len(referee.discards),
        "top": referee.top,
        "suit": referee.suit,
        "mitchell": referee.mitchell,
        "turn": referee.turn,
        "turns": referee.n_turns,
        "drawn": referee.drawn,
        "action": window["action"],
        "target": window["target"],
        "named suit": window["suit"],
        "gift": window["card"],
        "known": [[sorted(known[seat][other].elements()) for other in known[seat]] for seat in referee.seats],
        "totals": referee.totals,
    }


def misplaced(table: Table) -> list[str]:
    stock = np.bincount(table.stock[table.stock_next : table.stock_size], minlength=len(_KINDS))
    lying = table.hand.sum(0, dtype=int) + table.discards + stock
    sentences = [
        f"there are {lying[kind]} of {_KINDS[kind]} instead of {table.deck[kind]}"
        for kind in range(len(_KINDS))
        if lying[kind] != table.deck[kind] and table.deals_dealt
    ]
    for seat in range(table.players):
        over = (known_counts(table)[seat] > table.hand).any(1)
        sentences += [f"seat{seat} knows more of seat{other}'s hand than there is" for other in np.flatnonzero(over)]
    return sentences


def swap_hidden(table: Table, seat: int, rng: random.Random, swaps: int) -> None:
    """What must be where it is for the position to be legal stays: a needed card of the actor, a drawn card, a known card."""
    others = [other for other in range(table.players) if other != seat]
    kept = {other: known_counts(table)[seat, other].astype(int) for other in others}
    hands = {other: table.hand[other].astype(int) - kept[other] for other in others}
    actor = int(table.actor)
    if actor in others:
        kind = _needed(table, actor)
        if kind != NOBODY and kept[actor][kind] == 0:
            hands[actor][kind] -= 1
            kept[actor][kind] += 1
    slots: list[tuple[Any, int]] = [(other, kind) for other in others for kind in np.repeat(range(len(_KINDS)), hands[other])]
    slots += [("stock", int(kind)) for kind in table.stock[table.stock_next : table.stock_size]]
    in_hand = [i for i, (place, _) in enumerate(slots) if place != "stock"]
    done, tries = 0, 0
    while done < swaps and tries < 20 * swaps and len(slots) > 1:
        tries += 1
        i = rng.choice(in_hand) if in_hand and rng.random() < 0.7 else rng.randrange(len(slots))
        j = rng.randrange(len(slots))
        (here, one), (there, other_card) = slots[i], slots[j]
        if one != other_card and (here != there or here == "stock"):
            slots[i], slots[j] = (here, other_card), (there, one)
            done += 1
    for other in others:
        mine = [kind for place, kind in slots if place == other]
        table.hand[other] = kept[other] + np.bincount(np.array(mine, int), minlength=len(_KINDS))
    table.stock[table.stock_next : table.stock_size] = [kind for place, kind in slots if place == "stock"]
    if table.gift >= 0 and table.turn != seat:
        table.gift = rng.choice(np.flatnonzero(table.hand[table.turn]).tolist())
    for other in others:
        if rng.random() < 0.5:
            left = [one for one in table.known[: table.n_known].tolist() if one >> 8 != other or one >> 5 & 7 not in others]
            table.known[:] = 0
            table.known[: len(left)] = left
            table.n_known = len(left)
    # Neither what was drawn before, nor what others know of each other, nor the match's number is to be seen.
    table.stock[: table.stock_next] = rng.choices(range(len(_KINDS)), k=int(table.stock_next))
    table.seed = np.uint64(rng.getrandbits(64))


def _needed(table: Table, actor: int) -> int:
    """A card without which the actor would have nothing to decide, NOBODY if it would."""
    if table.phase == _DRAWN:
        return int(table.drawn)
    if table.phase == _ANSWER:
        reactions = [kind for kind in (_KINDS.index("cancel"), _KINDS.index("revenge")) if table.hand[actor, kind]]
        return NOBODY if table.ask_everyone else reactions[0]
    if table.phase != _PLAY:
        return NOBODY
    mask = np.zeros(33 * int(table.seats_encoded) + 3, np.uint8)
    from mitch_env.mitchell.presets import RULES

    RULES.legal_actions(table, mask)
    return _KINDS.index(action_name(table, int(np.flatnonzero(mask)[0])).partition(" ")[0])


def shown(fields: Any, seat: int) -> Any:
    """The own hand, and what hidden cards make public: who drew, what was said, and the points of a round."""
    names = ("n_held", "n_events", "stock_next", "stock_size", "points", "totals")
    return fields["hand"][seat].tobytes(), *(fields[name].tobytes() for name in names)


def quiet(table: Table) -> int:
    """A decline, or passing after a draw (M28)."""
    if table.phase == _ANSWER:
        return parse_action(table, "decline")
    return parse_action(table, "pass") if table.phase == _DRAWN else NOBODY


PIECES: dict[str, Any] = {
    "short": {"rounds": 1, "hand_size": 2},
    "random_options": random_options,
    "most_decisions": most_decisions,
    "referee": referee,
    "facts": facts,
    "referee_facts": referee_facts,
    "misplaced": misplaced,
    "swap_hidden": swap_hidden,
    "shown": shown,
    "quiet": quiet,
}
