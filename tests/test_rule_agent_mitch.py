"""The rule agent of Mitch: legal everywhere, blind to what is hidden, each tip at work, strong enough to measure others by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from games import EVERY_TABLE, some_options, times
from positions import short_pack

from agents.agent import Agent, act, view_of
from agents.names import make_agent
from agents.rule_mitch import MitchRuleAgent, decide
from agents.rule_mitch_sight import SIGHT, offsets
from agents.uniform import RandomAgent
from mitch_env import Batch, get_game
from mitch_env.game import Table
from mitch_env.jit import config
from mitch_env.mitch.options import JOKER, MAX_PLAYERS
from mitch_env.mitch.state import JOKER_CARD, PHASE_DRAW, PHASE_PLAY
from mitch_env.mitch.text import card_set, parse_card

MITCH_TABLES = [(name, players) for name, players in EVERY_TABLE if get_game(name).rules.name == "mitch"]
compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="needs compiled rules")


def mixed_batch(game: str, players: int, seed: int, seats_encoded: int | None = None) -> Batch:
    """Tables of every kind of rules, the tradition's own among them."""
    options = list(some_options(get_game(game), players, times(24), seed))
    return Batch(game, options=options, seed=seed, seats_encoded=seats_encoded)


def play_on(batch: Batch, agent: Agent, decisions: int) -> None:
    """Every second decision is the agent's, the others are random; every answer of the agent is checked to be legal."""
    for i in range(decisions):
        actions = batch.random_actions().copy()
        rows = np.arange(i % 2, len(batch), 2)
        actions[rows] = act(agent, batch, rows)
        batch.step(actions)


# --- What every agent owes.


@pytest.mark.parametrize(("game", "players"), MITCH_TABLES)
def test_is_legal_under_all_options_and_seats_encoded(game: str, players: int) -> None:
    for seats_encoded in {players, MAX_PLAYERS}:
        play_on(mixed_batch(game, players, 5, seats_encoded), MitchRuleAgent(), times(150))


@pytest.mark.parametrize(("game", "players"), MITCH_TABLES)
def test_same_position_same_action_alone_or_among_others_and_for_any_seats_encoded(game: str, players: int) -> None:
    agent, batch, wide = MitchRuleAgent(), mixed_batch(game, players, 6), mixed_batch(game, players, 6, MAX_PLAYERS)
    rows = np.arange(len(batch))
    for _ in range(times(30)):
        actions = act(agent, batch, rows)
        assert actions.tolist() == [int(act(MitchRuleAgent(), batch, rows[i : i + 1])[0]) for i in rows]
        assert actions.tolist() == act(agent, wide, rows).tolist()
        played = batch.random_actions().copy()
        batch.step(played)
        wide.step(played)


@pytest.mark.parametrize(("game", "players"), MITCH_TABLES)
def test_hidden_cards_do_not_change_the_action(game: str, players: int) -> None:
    agent, batch = MitchRuleAgent(), mixed_batch(game, players, 7)
    rows = np.arange(len(batch))
    redealt = 0
    for i in range(times(30)):
        actions, real = act(agent, batch, rows), batch.snapshot()
        worlds = batch.worlds(rows, 2, i)
        for k in range(2):
            batch.restore(worlds[:, k].copy())
            assert act(agent, batch, rows).tolist() == actions.tolist()
        redealt += int((worlds["hand"] != real["hand"][:, None]).any(-1).sum())
        batch.restore(real)
        batch.step(batch.random_actions())
    assert redealt > 0


@compiled_only
@pytest.mark.parametrize(("game", "players"), [("mitch_jp", 3), ("mitch_ru", 4), ("mitch_original", 2)])
def test_compiled_and_plain_python_choose_alike(game: str, players: int) -> None:
    agent, batch = MitchRuleAgent(), mixed_batch(game, players, 8)
    rows = np.arange(len(batch))
    sight = np.zeros(1, SIGHT).view(np.recarray)[0]
    for _ in range(4):
        view, _ = view_of(batch, rows, agent.encoder)
        at = offsets(view.game.rules.layout(view.seats_encoded))
        plain = [decide(view.observation[i], view.mask[i], at, sight) for i in rows]
        assert agent.act_batch(view).tolist() == plain
        for _ in range(12):
            batch.step(batch.random_actions())


# --- The tips, on hand-made positions of 3 players; seat 0 is to move.


def position(
    game: str,
    hand: str,
    columns: Sequence[str],
    *,
    discards: str = "",
    sizes: Sequence[int] = (5, 5),
    jokers: int = 0,
    aces: str = "",
    closed: bool = False,
    phase: int = PHASE_PLAY,
    **changes: Any,
) -> tuple[Batch, Table]:
    """A batch of one table that looks so to seat 0: its hand, all columns, the discards and the sizes of the other hands."""
    options = get_game(game).options(changes)
    batch = Batch(game, 1, options=options, seed=1)
    s = batch.snapshot()[0]
    s.tableau[:] = [card_set(map(parse_card, columns[seat].split())) if seat < 3 else 0 for seat in range(MAX_PLAYERS)]
    s.pile[: len(discards.split())] = [parse_card(card) for card in discards.split()]
    s.pile_size = len(discards.split())
    s.clock_up = card_set(map(parse_card, aces.split()))
    s.clock_seen = s.clock_cards if closed else jokers + len(aces.split())
    known = set(" ".join([hand, *columns, discards, aces]).split())
    unseen = [card for card in short_pack(options) if card not in known]
    unseen = np.random.default_rng(3).permutation(unseen).tolist()
    s.hand[0] = card_set(map(parse_card, hand.split()))
    for seat, size in enumerate(sizes, 1):
        s.hand[seat] = card_set(parse_card(unseen.pop()) for _ in range(size))
    stock = [parse_card(card) for card in unseen]
    stock += [JOKER_CARD] * int(s.clock_cards - s.clock_seen) if s.clock == JOKER else []
    s.stock[: len(stock)] = stock
    s.stock_next, s.stock_size = 0, len(stock)
    s.phase, s.actor, s.turn = phase, 0, 0
    s.waited = 0 if closed or columns[0] else 1
    batch.restore(np.array([s], batch.tables.dtype))
    return batch, s


def choice(game: str, hand: str, columns: Sequence[str], **facts: Any) -> str:
    """What the rule agent does there, in words."""
    batch, table = position(game, hand, columns, **facts)
    return batch.game.rules.action_name(table, int(act(MitchRuleAgent(), batch, np.array([0]))[0]))


NONE = ("", "", "")


def test_tip_1_starts_with_high_cards() -> None:
    assert choice("mitch_jp", "KS 6H 5D 6C 4C 3H", NONE, must_place=True) == "play KS"
    assert choice("mitch_jp", "KS QS JS TS 9S 8S", NONE) == "play KS"


def test_tip_2_skips_a_card_only_when_it_is_gone() -> None:
    """9H under QH shuts out J and T: it waits while they may come, and is laid when both lie among the discards."""
    assert choice("mitch_jp", "9H 8H KS KD KC QC", ("QH", "", "")) == "play KC"
    assert choice("mitch_jp", "9H 8H KS KD KC QC", ("QH", "", ""), discards="JH TH") == "play 9H"


@pytest.mark.parametrize(
    ("rival", "changes", "expected"),
    [
        ("QH JH 9H 8H 7H", {}, "discard 5H"),
        ("", {}, "play 5H"),
        ("9H", {"tie_break": "high"}, "discard 5H"),
        ("9H", {"tie_break": "low"}, "play 5H"),
    ],
)
def test_tip_3_lays_only_where_the_suit_can_be_won(rival: str, changes: dict[str, str], expected: str) -> None:
    assert choice("mitch_jp", "5H", ("", rival, ""), closed=True, sizes=(1, 0), **changes) == expected


def test_tip_3_throws_the_hopeless_away_before_it_lays() -> None:
    hand = "9S 7S 9D 7D 9C 4H"
    assert choice("mitch_jp", hand, ("", "", "KH QH JH TH 9H 8H 7H")) == "discard 4H"
    assert choice("mitch_jp", hand, ("KH QH JH TH 9H 8H 7H", "", "")) != "discard 4H"


def test_tip_4_keeps_contested_cards_for_the_end() -> None:
    """Spades can still be won or lost, hearts cannot be won: the heart goes first, then the spades are laid in order."""
    columns = ("KS QS", "JS TS 9S", "KH JH 8H 7H")
    assert choice("mitch_jp", "9H 5S 4S", columns, closed=True, sizes=(3, 3)) == "discard 9H"
    assert choice("mitch_jp", "5S 4S", columns, discards="9H", closed=True, sizes=(2, 2)) == "play 5S"


def test_tip_5_lays_before_the_clock_runs_out() -> None:
    """With waiting_penalty a hand of low cards waits while two jokers are to come, and no longer when the next one closes."""
    hand, columns = "4S 2S 4H 2H 3D 2D", ("", "KC QS QH", "KD")
    assert choice("mitch_jp", hand, columns, waiting_penalty=True).startswith("discard")
    assert choice("mitch_jp", hand, columns, waiting_penalty=True, jokers=2).startswith("play")
    assert choice("mitch_jp", hand, columns, waiting_penalty=False, jokers=2).startswith("discard")


def test_tip_6_remembers_what_can_no_longer_come() -> None:
    """Four hearts against three and five cards in hand: worth a try only if the low hearts are gone."""
    hand, columns = "JH TH 9H 4H", ("", "KH QH 7H", "")
    others = " ".join(rank + suit for suit in "SDC" for rank in "23456789")
    assert choice("mitch_jp", hand, columns, discards=others, closed=True, sizes=(8, 0)).startswith("discard")
    assert choice("mitch_jp", hand, columns, discards="8H 6H 5H 3H 2H AH", closed=True, sizes=(8, 0)) == "play JH"


def test_takes_a_discard_for_a_column_it_leads_and_draws_otherwise() -> None:
    facts: dict[str, Any] = {"take_discard": True, "phase": PHASE_DRAW}
    assert choice("mitch_jp", "9S 6S 9H 6H 8D", ("KC QC", "", ""), discards="2D JC", **facts) == "take JC"
    assert choice("mitch_jp", "9S 6S 9H 6H 8D", ("KC QC", "", ""), discards="JC 2D", **facts) == "draw"


def test_longest_starts_where_the_cards_run_on() -> None:
    """K of spades is higher, but 9 8 7 is a run; the other suits are full."""
    assert choice("mitch_ru", "KS 9S 8S 7S QH", ("2H 2D 2C", "", "")) == "play 9S"


def test_longest_closes_the_stock_when_it_leads_and_not_when_it_trails() -> None:
    hand, third = "AS QS QH QD QC", "KS KH KD KC"
    assert choice("mitch_ru", hand, ("8S 7S 6S 5H 2H 2D 2C", "TH TS TD TC", third), aces="AH AD") == "ace AS"
    trailing = choice("mitch_ru", hand, ("6S 5H 2D 2C", "TH TS 9S 8S TD TC", third), aces="AH AD")
    assert trailing.startswith("discard")


# --- Strength: one against two of the other kind, in every seat.


def mean_advantage(game: str, one: Agent, rest: Agent, deals: int) -> float:
    """Own points minus the mean of the others, over ``deals`` deals that ``one`` plays from each seat."""
    advantages = []
    for own in range(3):
        batch = Batch(game, deals, players=3, deals=1, seed=2024)
        for agent in (one, rest):
            agent.reset(None, np.random.default_rng(own))
        is_live = np.full(deals, True)
        while is_live.any():
            rows = np.flatnonzero(is_live)
            is_own = batch.actor[rows] == own
            actions = np.empty(len(rows), np.int64)
            for agent, mine in ((one, is_own), (rest, ~is_own)):
                actions[mine] = act(agent, batch, rows[mine])
            batch.step(actions, rows)
            over = rows[batch.terminated[rows]]
            points = batch.reward[over]
            advantages += (1.5 * points[:, own] - 0.5 * points.sum(1)).tolist()
            is_live[over] = False
    return float(np.mean(advantages))


@compiled_only
@pytest.mark.parametrize(("game", "least"), [("mitch_jp", 13.5), ("mitch_original", 10.0), ("mitch_ru", 0.15)])
def test_beats_two_random_players(game: str, least: float) -> None:
    assert mean_advantage(game, make_agent("rule", game), RandomAgent(), 300) > least


@compiled_only
@pytest.mark.parametrize(("game", "most"), [("mitch_jp", -9.0), ("mitch_original", -7.5), ("mitch_ru", -0.12)])
def test_a_random_player_loses_to_two(game: str, most: float) -> None:
    assert mean_advantage(game, RandomAgent(), make_agent("rule", game), 300) < most
