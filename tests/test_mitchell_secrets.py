"""What a seat of Mitchell cannot see does not reach it: other hands, the stock, gifts between others, who is being asked.

A pair are two tables that look the same to one seat, X, and differ in cards that X has not seen. Pairs are played with the same
public moves, through compiled kernels, as long as both tables allow it.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from mitchell_positions import play, position

from mitch_env import Batch, TableEnv
from mitch_env.copies import Snapshot
from mitch_env.events import recent_events
from mitch_env.game import NOBODY
from mitch_env.jit import kernel_view
from mitch_env.kernels import kernels_of
from mitch_env.mitchell.actions import give_at, n_actions, pass_at
from mitch_env.mitchell.describe import describe
from mitch_env.mitchell.kinds import CANCEL, GIVE, N_KINDS, REVENGE
from mitch_env.mitchell.memory import known_counts
from mitch_env.mitchell.presets import MITCHELL, RULES
from mitch_env.mitchell.state import PHASE_ANSWER, PHASE_DRAWN, PHASE_PLAY, playable
from mitch_env.mitchell.text import phase_name
from mitch_env.mitchell.window import first_asked

N_PAIRS = 1000
N_STEPS = 11
#: More actions and reactions than usual, so that windows and gifts are frequent.
DECK = dict.fromkeys(RULES.action_labels(2)[:15], 2) | {"brawl+anywhere": 2, "off-duty+anywhere": 2}
DECK |= dict.fromkeys(("change", "force-two", "move", "give"), 12) | {"cancel": 9, "revenge": 9}
KERNELS = kernels_of(RULES)

for_every_table = pytest.mark.parametrize(
    ("players", "ask_everyone"), list(itertools.product(range(2, 9), (False, True))), ids=lambda value: str(int(value))
)


@functools.cache
def positions(players: int, ask_everyone: bool) -> np.recarray:
    """Tables in the middle of random rounds, each at another depth. To be copied."""
    n = 2 * N_PAIRS
    rng = np.random.default_rng(players)
    batch = Batch(MITCHELL, n, seed=players, deck=DECK, players=players, ask_everyone=ask_everyone, hand_size=6)
    depth = rng.integers(0, 40, n)
    for step in range(40):
        rows = np.flatnonzero(depth > step)
        batch.step(batch.random_actions(rows), rows)
    assert (batch.tables.actor >= 0).all()
    return batch.tables


def one_table(table: Any) -> np.recarray:
    """A copy of a table, as an array of one."""
    copied = np.zeros(1, table.dtype).view(np.recarray)
    copied[0] = table
    return copied


def views(tables: np.recarray) -> np.ndarray:
    """What each seat sees of a table."""
    players = int(tables.players[0])
    out = np.zeros((players, RULES.layout(players).size), np.float32)
    mask = np.zeros(n_actions(players), np.int8)
    for seat in range(players):
        KERNELS.view_one(kernel_view(tables), seat, out[seat], mask)
    return out


def public(table: Any) -> tuple[Any, ...]:
    """What lies open on the table and was said; read off the record, not off the observation."""
    names = ("turn", "mitchell", "suit", "top", "pending", "target", "new_suit", "turns_done", "deals_dealt", "n_events")
    arrays = ("discards", "n_held", "totals", "events")
    left = int(table.stock_size - table.stock_next)
    return (left, *(int(table[name]) for name in names), *(table[name].tobytes() for name in arrays))


def loose_cards(table: Any, holder: int, seat: int) -> np.ndarray:
    """The cards of a hand that ``seat`` has not located; a gift that is on offer stays where it is."""
    cards = table.hand[holder].astype(int) - known_counts(table)[seat, holder]
    if table.pending == GIVE and table.turn == holder and cards[table.gift] > 0:
        cards[table.gift] -= 1
    return cards


def exchange_hidden(table: Any, seat: int, rng: np.random.Generator) -> None:
    """Exchanges cards that ``seat`` has not seen, between other hands, or one of them and the lower half of the stock."""
    others = [other for other in range(table.players) if other != seat]
    left = int(table.stock_size - table.stock_next)
    for _ in range(8):
        giver, other = int(rng.choice(others)), int(rng.choice([*others, NOBODY]))
        mine = loose_cards(table, giver, seat)
        if giver == other or not mine.any():
            continue
        kind = int(rng.choice(np.flatnonzero(mine)))
        if other != NOBODY:
            theirs = loose_cards(table, other, seat)
            if not theirs.any():
                continue
            back = int(rng.choice(np.flatnonzero(theirs)))
            table.hand[other, back] -= 1
            table.hand[other, kind] += 1
        elif left >= 2:
            at = int(rng.integers(table.stock_next + left // 2, table.stock_size))
            back = int(table.stock[at])
            table.stock[at] = kind
        else:
            continue
        table.hand[giver, kind] -= 1
        table.hand[giver, back] += 1


# --- (1) The same public moves look the same.


class Pair:
    """Two environments at a decision of X that look the same to it."""

    def __init__(self, envs: tuple[TableEnv, TableEnv], table: Any, rng: np.random.Generator) -> None:
        self.envs, self.rng = envs, rng
        self.seat = int(table.actor)
        self.agent = envs[0].possible_agents[self.seat]
        for env in envs:
            env.restore(Snapshot(one_table(table), None))
        exchange_hidden(envs[1].table, self.seat, rng)
        self.n_compared = self.n_hidden = 0

    def play(self) -> None:
        round_number = self.envs[0].table.deals_dealt
        for _ in range(N_STEPS):
            a, b = (env.table for env in self.envs)
            if round_number != a.deals_dealt or a.actor == NOBODY or round_number != b.deals_dealt or b.actor == NOBODY:
                return  # scoring shows the hands
            is_asked_in_both = (a.actor == self.seat) == (b.actor == self.seat)
            if is_asked_in_both and public(a) == public(b) and np.array_equal(a.hand[self.seat], b.hand[self.seat]):
                self.compare()
            if not self.step():
                return

    def compare(self) -> None:
        a, b = self.envs
        if a.table.actor == self.seat:
            assert b.table.actor == self.seat
            (seen_a, *rest_a), (seen_b, *rest_b) = a.last(), b.last()
            assert rest_a == rest_b  # reward, terminated, truncated, info
        else:
            seen_a, seen_b = a.observe(self.agent), b.observe(self.agent)
        assert seen_a is not None
        assert seen_b is not None
        assert np.array_equal(seen_a["observation"], seen_b["observation"])
        assert np.array_equal(seen_a["action_mask"], seen_b["action_mask"])
        self.n_compared += 1
        self.n_hidden += not np.array_equal(a.table.hand, b.table.hand)

    def step(self) -> bool:
        """One more move in both tables, or one that the other table's player made without being asked. False: no such."""
        a, b = (env.table for env in self.envs)
        if (a.actor, a.phase, a.turns_done) == (b.actor, b.phase, b.turns_done):
            return self.step_both()
        behind = min(self.envs, key=lambda env: self.progress(env.table))
        answer = {PHASE_ANSWER: 3, PHASE_DRAWN: 0}.get(int(behind.table.phase))  # decline, pass
        if answer is None or behind.table.actor == self.seat:
            return False
        behind.step(pass_at(behind.table.seats_encoded) + answer)
        return True

    @staticmethod
    def progress(table: Any) -> tuple[int, int]:
        """Turns, and in a window how far the asking has come."""
        asked = (int(table.actor) - first_asked(table)) % int(table.players)
        return int(table.turns_done), asked if table.phase == PHASE_ANSWER else 0

    def step_both(self) -> bool:
        masks = [env.observe(env.agent_selection)["action_mask"] for env in self.envs]
        common = np.flatnonzero(masks[0] & masks[1])
        if len(common) == 0:
            return False
        action = int(self.rng.choice(common))
        self.envs[0].step(action)
        self.envs[1].step(self.with_other_gift(action, masks[1]))
        return True

    def with_other_gift(self, action: int, mask: np.ndarray) -> int:
        """A give between two others may be another card in the other table."""
        table = self.envs[1].table
        start = give_at(table.seats_encoded)
        if not start <= action < pass_at(table.seats_encoded) or table.actor == self.seat:
            return action
        first = start + (action - start) // N_KINDS * N_KINDS
        if (table.actor + (action - start) // N_KINDS + 1) % table.players == self.seat:
            return action
        return first + int(self.rng.choice(np.flatnonzero(mask[first : first + N_KINDS])))


@for_every_table
def test_same_public_moves_look_the_same_to_who_cannot_see_the_difference(players: int, ask_everyone: bool) -> None:
    settings = {"players": players, "deck": DECK, "ask_everyone": ask_everyone, "hand_size": 6}
    envs = (TableEnv(MITCHELL, settings), TableEnv(MITCHELL, settings))
    rng = np.random.default_rng(1)
    n_compared = n_hidden = 0
    for table in positions(players, ask_everyone)[:N_PAIRS]:
        pair = Pair(envs, table, rng)
        pair.play()
        assert pair.n_compared > 0
        n_compared += pair.n_compared
        n_hidden += pair.n_hidden
    assert n_compared > 3 * N_PAIRS
    assert n_hidden > 0.8 * n_compared


# --- (2) redeal_hidden.


@for_every_table
def test_a_redealt_world_looks_the_same_and_is_legal(players: int, ask_everyone: bool) -> None:
    """The world depends on what the seat sees and on the key alone: made from another such world, it is the same."""
    tables = positions(players, ask_everyone)[:N_PAIRS]
    keys = np.arange(1, N_PAIRS + 1, dtype=np.uint64)
    mask = np.zeros(n_actions(players), np.int8)
    seen, again = np.zeros((2, RULES.layout(players).size), np.float32)
    for seat in range(players):
        worlds, others = tables.copy(), tables.copy()
        KERNELS.redeal(kernel_view(worlds), seat, keys)
        KERNELS.redeal(kernel_view(others), seat, keys + np.uint64(N_PAIRS))
        assert np.mean((worlds.hand != tables.hand).any((1, 2))) > 0.9
        assert not (worlds.seed == tables.seed).any()
        assert np.array_equal(worlds.hand.sum(2), tables.n_held)
        for i in range(seat, N_PAIRS, 1 if players < 4 else players // 2):
            KERNELS.view_one(kernel_view(tables[i : i + 1]), seat, seen, mask)
            KERNELS.view_one(kernel_view(worlds[i : i + 1]), seat, again, mask)
            assert np.array_equal(seen, again)
            actor = int(worlds[i].actor)
            KERNELS.view_one(kernel_view(worlds[i : i + 1]), actor, again, mask)
            assert mask.sum() >= (1 if ask_everyone or worlds[i].phase != PHASE_ANSWER else 2)
        drawn = worlds[worlds.phase == PHASE_DRAWN]
        assert (drawn.hand[np.arange(len(drawn)), drawn.actor, drawn.drawn] > 0).all()
        giving = worlds[worlds.pending == GIVE]
        assert (giving.hand[np.arange(len(giving)), giving.turn, giving.gift] > 0).all()
        KERNELS.redeal(kernel_view(others), seat, keys)
        assert others.tobytes() == worlds.tobytes()


def redealt(table: Any, seat: int, n: int = 40_000) -> np.recarray:
    worlds = np.zeros(n, table.dtype).view(np.recarray)
    worlds[:] = table
    KERNELS.redeal(kernel_view(worlds), seat, np.arange(n, dtype=np.uint64))
    return worlds


def compare_frequencies(seen: Counter[Any], expected: Counter[Any]) -> None:
    """Chi-square against exact chances; the bound is far beyond what chance makes likely."""
    assert set(seen) == set(expected)
    total, n = sum(expected.values()), sum(seen.values())
    chi2 = sum((seen[world] - n * weight / total) ** 2 / (n * weight / total) for world, weight in expected.items())
    degrees = len(expected) - 1
    assert chi2 < degrees + 6 * (2 * degrees) ** 0.5 + 10


def name(kind: int) -> str:
    from mitch_env.mitchell.kinds import KIND_NAMES

    return KIND_NAMES[kind]


@pytest.mark.parametrize("case", ["play", "drawn", "answer", "ask", "give"])
def test_redealt_worlds_are_uniform(case: str) -> None:
    """Against all arrangements of the hidden cards, each card by itself, that keep the position legal."""
    if case == "play":
        table = position(["brawl give", "brawl off-duty", "stakeout cancel"], "brawl cancel move", turn=1, suit="brawl")
    elif case == "drawn":
        table = position(["brawl", "off-duty cancel", "stakeout"], "brawl cancel brawl move", turn=1, suit="brawl")
    elif case in ("answer", "ask"):
        hands = ["change brawl brawl", "cancel off-duty", "brawl brawl"]
        table = position(hands, "revenge cancel brawl", suit="brawl", ask_everyone=case == "ask")
        play(table, "0 change brawl")
    else:
        table = position(["cancel", "give brawl off-duty off-duty", "revenge"], "brawl move", turn=1, suit="brawl")
        play(table, "1 give seat2 brawl")
    seen: Counter[Any] = Counter()
    for world in redealt(table, 0):
        hands = [tuple(np.repeat(np.arange(N_KINDS), world.hand[seat])) for seat in (1, 2)]
        stock = tuple(world.stock[world.stock_next : world.stock_size])
        seen[*hands, stock, int(world.drawn), int(world.gift)] += 1
    compare_frequencies(seen, all_worlds(table))


def all_worlds(table: Any) -> Counter[Any]:
    """Every arrangement of the cards that seat 0 cannot see, with a weight for those that look alike."""
    stock = [int(kind) for kind in table.stock[table.stock_next : table.stock_size]]
    cards = [kind for seat in (1, 2) for kind in np.repeat(np.arange(N_KINDS), table.hand[seat]).tolist()] + stock
    n1, n2 = int(table.n_held[1]), int(table.n_held[2])
    worlds: Counter[Any] = Counter()
    for order in itertools.permutations(cards):
        world = table.copy()
        hands = [order[:n1], order[n1 : n1 + n2]]
        for seat, hand in enumerate(hands, 1):
            world.hand[seat] = np.bincount(hand, minlength=N_KINDS)
        mine = hands[table.actor - 1]
        if table.phase == PHASE_PLAY and not playable(world, 1):
            continue
        if table.phase == PHASE_ANSWER and not table.ask_everyone and not {CANCEL, REVENGE} & set(mine):
            continue
        drawn = int(mine[0]) if table.phase == PHASE_DRAWN else NOBODY  # the one that came last: any fixed place
        if drawn != NOBODY and not int(playable(world, 1)) >> drawn & 1:
            continue
        gifts = hands[0] if table.pending == GIVE else [NOBODY]
        for gift in gifts:
            worlds[tuple(sorted(hands[0])), tuple(sorted(hands[1])), order[n1 + n2 :], drawn, int(gift)] += 1
    return worlds


def test_a_redealt_world_keeps_what_gifts_have_shown() -> None:
    table = position(["give brawl off-duty", "stakeout stakeout", "give car-chase brawl"], "move " * 9, suit="brawl")
    play(table, "0 give seat1 off-duty")
    assert int(known_counts(table)[0, 1].sum()) == 1
    for world in redealt(table, 0, 500):
        assert world.hand[1].sum() == 4  # it has drawn a move
        assert (world.hand[1] >= known_counts(table)[0, 1]).all()
        assert not known_counts(world)[1].any()
        assert not known_counts(world)[2].any()


def test_a_redealt_world_tells_nothing_of_gifts_between_others() -> None:
    """What another seat knows of the own hand from its gifts is no secret; of a third hand it is one."""
    hands = ["brawl brawl brawl", "give give brawl+center off-duty car-chase", "brawl brawl brawl"]
    table = position(hands, "stakeout " * 9, turn=1, suit="brawl")
    play(table, "1 give seat2 car-chase", "2 brawl", "0 brawl", "1 give seat0 off-duty")
    assert known_counts(table)[1, 2].sum() == known_counts(table)[1, 0].sum() == 1
    for world in redealt(table, 0, 50):
        assert not known_counts(world)[1, 2].any()
        assert np.array_equal(known_counts(world)[1, 0], known_counts(table)[1, 0])


# --- (3) A gift is seen by giver and receiver only, once it has changed hands.


@for_every_table
def test_a_gift_is_seen_by_giver_and_receiver_only(players: int, ask_everyone: bool) -> None:
    n_waiting = n_given = 0
    layout = RULES.layout(players)
    for table in positions(players, ask_everyone):
        start = give_at(players)
        mask = np.zeros(n_actions(players), np.uint8)
        if table.phase not in (PHASE_PLAY, PHASE_DRAWN) or table.hand[table.actor, GIVE] == 0:
            continue
        RULES.legal_actions(table, mask)
        gifts = np.flatnonzero(mask[start : start + N_KINDS])
        if len(gifts) < 2:
            continue
        giver, receiver = int(table.actor), int(table.actor + 1) % players
        pair = (one_table(table), one_table(table))
        for tables, gift in zip(pair, gifts[[0, -1]], strict=True):
            KERNELS.step_one(kernel_view(tables), start + gift)
        while pair[0][0].phase == PHASE_ANSWER and pair[0][0].turns_done == table.turns_done:
            assert np.array_equal(views(pair[0]), views(pair[1]))  # not even the receiver: it may never come (M6)
            n_waiting += 1
            for tables in pair:
                KERNELS.step_one(kernel_view(tables), pass_at(players) + 3)
        if public(pair[0][0]) != public(pair[1][0]):
            continue  # with the gift the receiver, who is next, can play or not
        seen = [views(tables) for tables in pair]
        for seat in range(players):
            differs = {block.name for block, at in layout if not np.array_equal(seen[0][seat][at], seen[1][seat][at])}
            assert ("known" in differs) == (seat in (giver, receiver))
            assert seat in (giver, receiver) or not differs
        n_given += 1
    assert n_given >= 100
    assert n_waiting >= 100


# --- (4) While others are asked nothing changes.


@for_every_table
def test_nothing_changes_for_anybody_while_others_are_being_asked(players: int, ask_everyone: bool) -> None:
    n_asked = 0
    decision = RULES.layout(players).slices["decision"]
    for i, table in enumerate(positions(players, ask_everyone)):
        if table.phase != PHASE_ANSWER:
            continue
        tables = one_table(table)
        while tables[0].phase == PHASE_ANSWER and tables[0].turns_done == table.turns_done:
            before, was_asked = views(tables), int(tables[0].actor)
            told = [describe(tables[0], seat) for seat in (None, *range(players))] if i % 100 == 0 else []
            said = (phase_name(tables[0]), recent_events(tables[0]))
            assert before[:, decision].sum() == before[was_asked, decision][2] == 1
            KERNELS.step_one(kernel_view(tables), pass_at(players) + 3)
            if tables[0].phase != PHASE_ANSWER or tables[0].turns_done != table.turns_done:
                break
            after, now_asked = views(tables), int(tables[0].actor)
            for seat in (was_asked, now_asked):
                before[seat, decision] = after[seat, decision] = 0
            assert np.array_equal(before, after)
            assert said == (phase_name(tables[0]), recent_events(tables[0]))
            for seat in (None, *range(players)) if told else ():
                if seat not in (was_asked, now_asked):
                    assert describe(tables[0], seat) == told[0 if seat is None else seat + 1]
            n_asked += 1
    assert n_asked >= (0 if players == 2 else 100)


# --- (5) With ask_everyone the number of steps gives nothing away.


@pytest.mark.parametrize("players", range(2, 9))
def test_with_ask_everyone_the_answers_take_as_many_steps_whatever_the_hands_are(players: int) -> None:
    rng = np.random.default_rng(3)
    n_windows = 0
    for table in positions(players, True):
        if table.phase != PHASE_ANSWER:
            continue
        other = one_table(table)
        exchange_hidden(other[0], int(table.turn), rng)
        asked = [seats_asked(one_table(table)), seats_asked(other)]
        first = (int(table.actor) - first_asked(table)) % players
        turn = (int(table.turn) - first_asked(table)) % players
        expected = [step for step in range(first, players) if step != turn]
        assert asked[0] == asked[1] == [(first_asked(table) + step) % players for step in expected]
        n_windows += 1
    assert n_windows >= 400


def seats_asked(tables: np.recarray) -> list[int]:
    """Who is asked if nobody reacts."""
    seats: list[int] = []
    turns_done = int(tables[0].turns_done)
    while tables[0].phase == PHASE_ANSWER and tables[0].turns_done == turns_done:
        seats.append(int(tables[0].actor))
        KERNELS.step_one(kernel_view(tables), pass_at(tables[0].seats_encoded) + 3)
    return seats
