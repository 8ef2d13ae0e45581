"""The rule agent of Mitchell: legal everywhere, blind to what is hidden and to names, sensible, strong enough to measure by."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from games import some_options, times
from mitchell_positions import legal, play, position, view

from agents import rule_mitchell_sight as reading
from agents.agent import Agent, View, act, view_of
from agents.names import make_agent
from agents.play import play_matches
from agents.rule_mitchell import MitchellRuleAgent, decide
from agents.tournament import Duel, duel
from agents.uniform import RandomAgent
from mitch_env import Batch
from mitch_env.chance import match_seeds
from mitch_env.game import NOBODY, PHASE_DEAL, PHASE_OVER, Table
from mitch_env.jit import config
from mitch_env.mitchell import window
from mitch_env.mitchell.actions import change_at, give_at, move_at, pass_at, split_action
from mitch_env.mitchell.kinds import ANYWHERE_OF, CANCEL, KIND_NAMES, N_INVESTIGATIONS, N_SUITS, NOTHING, is_investigation
from mitch_env.mitchell.memory import known_counts
from mitch_env.mitchell.options import MAX_PLAYERS, MitchellOptions
from mitch_env.mitchell.presets import MITCHELL, RULES
from mitch_env.mitchell.scoring import WINNER_POINTS
from mitch_env.mitchell.state import CENTER, PHASE_ANSWER, PHASE_PLAY, stock_left

PLAYERS = range(2, MAX_PLAYERS + 1)
compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="needs compiled rules")


#: As many cards as there can be, in many kinds and in few.
LARGE_DECKS = (dict.fromkeys(KIND_NAMES, 9) | {"brawl": 30}, {"brawl": 200, "change": 20, "cancel": 35})


def mixed_batch(players: int, seed: int, seats_encoded: int | None = None) -> Batch:
    """Tables of every kind of rules, with tiny decks and large ones, and with the rules as they are."""
    options = [*some_options(MITCHELL, players, times(20), seed), *[MitchellOptions(players=players)] * 4]
    options += [MitchellOptions(players=players, hand_size=25, deck=deck) for deck in LARGE_DECKS]
    return Batch(MITCHELL, options=options, seed=seed, seats_encoded=seats_encoded)


# --- What every agent owes.


@pytest.mark.parametrize("players", PLAYERS)
def test_is_legal_under_all_options_and_seats_encoded(players: int) -> None:
    """Every second decision is the agent's, the others are random; every answer of the agent is checked."""
    for seats_encoded in {players, MAX_PLAYERS}:
        batch = mixed_batch(players, 5, seats_encoded)
        for i in range(times(150)):
            actions = batch.random_actions().copy()
            rows = np.flatnonzero((np.arange(len(batch)) + i) % 2)
            actions[rows] = act(MitchellRuleAgent(), batch, rows)
            batch.step(actions)


@compiled_only
@pytest.mark.parametrize("players", PLAYERS)
def test_whole_matches_among_itself_come_to_an_end(players: int) -> None:
    """Within the hundred rounds that a match has at most, some seat reaches the target."""
    options, n = MitchellOptions(players=players), 6
    seating = np.zeros((n, players), np.int64)
    totals = play_matches(MITCHELL, options, [MitchellRuleAgent()], seating, match_seeds(3, n), rng=np.random.default_rng(1))
    assert np.all(totals.max(1) >= options.target_score)


@pytest.mark.parametrize("players", PLAYERS)
def test_same_position_same_action_alone_or_among_others_and_for_any_seats_encoded(players: int) -> None:
    agent, batch, wide = MitchellRuleAgent(), mixed_batch(players, 6), mixed_batch(players, 6, MAX_PLAYERS)
    rows = np.arange(len(batch))
    for _ in range(times(30)):
        actions = act(agent, batch, rows)
        assert actions.tolist() == [int(act(MitchellRuleAgent(), batch, rows[i : i + 1])[0]) for i in rows]
        in_words = [RULES.action_name(table, action) for table, action in zip(batch.tables, actions, strict=True)]
        widely = act(agent, wide, rows)
        assert in_words == [RULES.action_name(table, action) for table, action in zip(wide.tables, widely, strict=True)]
        batch.step(actions)
        wide.step(widely)


@pytest.mark.parametrize("players", PLAYERS)
def test_hidden_cards_do_not_change_the_action(players: int) -> None:
    agent, batch = MitchellRuleAgent(), mixed_batch(players, 7)
    rows = np.arange(len(batch))
    redealt = 0
    for i in range(times(30)):
        actions, real = act(agent, batch, rows), batch.snapshot()
        worlds = batch.worlds(rows, 2, i)
        for k in range(2):
            batch.restore(worlds[:, k].copy())
            assert act(agent, batch, rows).tolist() == actions.tolist()
        redealt += int((worlds["hand"] != real["hand"][:, None]).any((-1, -2)).sum())
        batch.restore(real)
        batch.step(batch.random_actions())
    assert redealt > 0


@compiled_only
@pytest.mark.parametrize("players", [2, 5, 8])
def test_renaming_the_suits_renames_the_action(players: int) -> None:
    """Unless two suits look alike in all: then either may be meant. The renamings are those of other tables."""
    agent, batch, renamed = MitchellRuleAgent(), mixed_batch(players, 8), mixed_batch(players, 8)
    rows, changes = np.arange(len(batch)), change_at(batch.seats) + np.arange(N_SUITS)
    n_compared = n_changed = 0
    for i in range(times(20)):
        canonical = [RULES.canonical(table, int(table.actor)) for table in batch.tables]
        codes, twins = np.roll(canonical, i + 1).tolist(), batch.snapshot()
        for table, code, twin in zip(batch.tables, codes, twins, strict=True):
            RULES.relabel(table, code, twin)
        renamed.restore(twins)
        actions, others = act(agent, batch, rows).tolist(), act(agent, renamed, rows).tolist()
        for row, code in enumerate(codes):
            again = RULES.canonical(twins[row], int(twins[row].actor))
            ways = [RULES.rename_action(again, RULES.rename_action(code, change)) for change in changes]
            if ways == [RULES.rename_action(canonical[row], change) for change in changes]:
                assert others[row] == RULES.rename_action(code, actions[row])
                n_compared += 1
                n_changed += int(others[row] != actions[row])
        batch.step(batch.random_actions())
    assert n_compared > 5 * times(20) and n_changed > 0


@compiled_only
@pytest.mark.parametrize("players", [2, 4, 8])
def test_compiled_and_plain_python_choose_alike(players: int) -> None:
    agent, batch = MitchellRuleAgent(), mixed_batch(players, 9)
    rows = np.arange(0, len(batch), players)
    sight = np.zeros(1, reading.SIGHT).view(np.recarray)[0]
    for _ in range(4):
        view, _ = view_of(batch, rows, agent.encoder)
        at = reading.offsets(RULES.layout(view.seats_encoded))
        plain = [decide(view.observation[i], view.mask[i], at, sight) for i in range(len(rows))]
        assert agent.act_batch(view).tolist() == plain
        for _ in range(9):
            batch.step(batch.random_actions())


def test_it_has_the_name_and_keeps_nothing_from_one_match_to_the_next() -> None:
    agent = make_agent("rule", "mitchell")
    assert isinstance(agent, MitchellRuleAgent) and agent.name == "rule"
    batch = mixed_batch(4, 10)
    rows = np.arange(len(batch))
    first = act(agent, batch, rows)
    act(agent, mixed_batch(7, 11), rows)
    agent.reset(2, np.random.default_rng(3))
    assert act(agent, batch, rows).tolist() == first.tolist()


# --- What a move would change is what the engine changes.


def sight_of(table: Table, seat: int) -> Any:
    """What the agent reads from what ``seat`` sees."""
    sight = np.zeros(1, reading.SIGHT).view(np.recarray)[0]
    reading.read_sight(view(table, seat), reading.offsets(RULES.layout(int(table.seats_encoded))), sight)
    return sight


@pytest.mark.parametrize("players", PLAYERS)
def test_reads_what_the_unseen_cards_are_on_average(players: int) -> None:
    batch = mixed_batch(players, 13)
    for _ in range(times(30)):
        for table in batch.tables:
            seat = int(table.actor)
            sight = sight_of(table, seat)
            unseen = table.deck.astype(int) - table.hand[seat] - table.discards - known_counts(table)[seat].sum(0, dtype=int)
            n, n_reactions = max(1, unseen.sum()), unseen[CANCEL:].sum()
            points = 10 * unseen[:N_INVESTIGATIONS].sum() + 5 * unseen[N_INVESTIGATIONS:].sum()
            assert (sight.reactions, sight.points_each) == (n_reactions / n, points / n)
            assert sight.cancels == unseen[CANCEL] / max(1, n_reactions)
        batch.step(batch.random_actions())


def random_move(table: Table, rng: random.Random) -> tuple[int, Any, int]:
    """Makes a legal move: who made it, what that seat saw before, and the action."""
    seat, sight = int(table.actor), sight_of(table, int(table.actor))
    action = RULES.parse_action(table, rng.choice(sorted(legal(table))))
    RULES.apply_action(table, action)
    return seat, sight, action


def play_turn(table: Table, rng: random.Random) -> list[tuple[int, Any]]:
    """Plays on to the end of the turn; the seats whose move decided what happened, and what each had to expect."""
    seats, turn = int(table.seats_encoded), int(table.turn)
    expecting: list[tuple[int, Any]] = []
    reactor, reaction = NOBODY, NOTHING
    if table.phase != PHASE_ANSWER:
        seat, sight, action = random_move(table, rng)
        kind, word, gift = split_action(seats, action)
        reading.start_over(sight)
        if action == pass_at(seats):
            return [(seat, sight)]
        if is_investigation(kind):
            reading.investigate(sight, kind, word)
            return [(seat, sight)]
        sight.kind, sight.target, sight.new_suit, sight.gift = kind, word, word, gift
        expecting.append((seat, sight))
    while table.phase == PHASE_ANSWER:
        seat, sight, action = random_move(table, rng)
        if action < pass_at(seats) + 3:
            reactor, reaction = seat, CANCEL + action - pass_at(seats) - 1
        if table.phase != PHASE_ANSWER:
            expecting.append((seat, sight))
    for seat, sight in expecting:
        reading.resolve(sight, (reactor - seat) % table.players if reactor != NOBODY else NOBODY, reaction)
        assert (seat + sight.turn) % table.players == turn
    return expecting


@compiled_only
@pytest.mark.parametrize("players", PLAYERS)
def test_what_a_move_would_change_is_what_it_changes(players: int) -> None:
    """Hands, Mitchell, the suit, what can still be drawn, who wins; if the next seat has not drawn by itself already."""
    batch, rng = mixed_batch(players, 12), random.Random(players)
    n_won = n_going_on = 0
    for _ in range(times(30)):
        for table in batch.snapshot():
            turns_done = int(table.turns_done)
            if table.phase == PHASE_ANSWER:
                asked_first = reading.first_asked(sight_of(table, int(table.actor)))
                assert (table.actor + asked_first) % players == window.first_asked(table)
            for seat, sight in play_turn(table, rng):
                from_seat = [(seat + i) % players for i in range(players)]
                if table.phase == PHASE_PLAY and table.turns_done == turns_done + 1:
                    assert reading.winner(sight) == NOBODY and sight.suit == table.suit
                    assert sight.drawable == stock_left(table) + table.n_discards - 1
                    n_going_on += 1
                elif table.phase in (PHASE_DEAL, PHASE_OVER) and WINNER_POINTS in table.points[:players]:
                    assert table.points[from_seat[reading.winner(sight)]] == WINNER_POINTS
                    n_won += 1
                else:
                    continue
                assert sight.mitchell == (CENTER if table.mitchell == CENTER else from_seat.index(table.mitchell))
                assert sight.n_held[:players].tolist() == table.n_held[from_seat].tolist()
                assert sight.unknown == (table.hand[seat] - sight.hand).sum() and np.all(sight.hand <= table.hand[seat])
        batch.step(batch.random_actions())
    assert n_going_on > times(30) and n_won > 0


# --- How long hands last.


def test_larger_hands_last_longer_and_every_turn_helps() -> None:
    """And the chances after one and two turns are those that a person would add up."""
    done, (one, two) = reading.DONE[: reading.LARGEST + 1], reading.CHANGES[:2]
    assert np.allclose(reading.CHANGES.sum(1), 1.0)
    assert np.all(done[0, 1:] == 1.0) and np.all(done[:, 0] == 0.0)
    assert np.all(np.diff(done, axis=1) >= 0.0) and np.all(np.diff(done[:, -1]) <= 0.0)
    assert done[1, 1] == one[1] and done[2, 1] == two[0] and done[3, 1] == 0.0
    assert np.isclose(done[1, 2], one[1] + one[2] * done[1, 1] + one[3] * done[2, 1])


# --- Positions with a plain move.

THREE, FIVE = "brawl stakeout off-duty", "brawl stakeout off-duty crime-scene car-chase"
REST = f"{FIVE} {FIVE} {FIVE} {FIVE} change move force-two give cancel revenge"


def choice(table: Table) -> str:
    """What the rule agent does there, in words; there must be something to choose."""
    batch = Batch(MITCHELL, 1, players=int(table.players), seed=1)
    batch.restore(np.array([table], batch.tables.dtype))
    assert len(legal(table)) > 1
    return RULES.action_name(table, int(act(MitchellRuleAgent(), batch, np.array([0]))[0]))


@pytest.mark.parametrize(("unplayed", "expected"), [("bonus", "brawl+anywhere seat2"), ("penalty", "brawl+anywhere seat1")])
def test_goes_out_and_has_the_one_caught_who_loses_most_by_it(unplayed: str, expected: str) -> None:
    """Who is caught scores nothing for cards: five with a bonus, three with a penalty."""
    assert choice(position(["brawl+anywhere", THREE, FIVE], REST, suit="brawl", unplayed=unplayed)) == expected
    assert choice(position(["move", FIVE, THREE], REST, suit="brawl", mitchell=0)) in ("move seat1", "move seat2")


def test_plays_the_attract_before_the_last_card_not_as_the_last() -> None:
    assert choice(position(["brawl brawl+attract", THREE, FIVE], REST, suit="brawl")) == "brawl+attract"


def test_is_rid_of_mitchell_when_an_opponent_is_nearly_done() -> None:
    hand = "brawl brawl+center stakeout stakeout+center"
    assert choice(position([hand, "off-duty", FIVE], REST, suit="brawl", mitchell=0)) == "brawl+center"
    assert choice(position(["brawl move stakeout", "off-duty", FIVE], REST, suit="brawl", mitchell=0)) == "move seat1"


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        ("brawl+anywhere stakeout stakeout", "brawl+anywhere seat2"),
        ("force-two stakeout stakeout", "force-two seat2"),
        ("give crime-scene crime-scene", "give seat2 crime-scene"),
    ],
)
def test_aims_at_the_opponent_who_is_nearest_to_going_out(hand: str, expected: str) -> None:
    assert choice(position([hand, FIVE, "brawl", THREE], REST, suit="brawl")) == expected


@pytest.mark.parametrize(
    ("hand", "gift"),
    [("give crime-scene brawl brawl", "crime-scene"), ("give brawl brawl+attract brawl", "brawl+attract")],
)
def test_gives_what_is_hardest_to_play_away(hand: str, gift: str) -> None:
    assert choice(position([hand, FIVE, "brawl", THREE], REST, suit="off-duty")) == f"give seat2 {gift}"


def test_plays_a_give_before_it_is_the_last_card() -> None:
    assert choice(position(["give force-two brawl", FIVE, FIVE, FIVE], REST, suit="stakeout")).startswith("give")


def test_keeps_to_the_suits_that_it_has_most_of() -> None:
    strong = "crime-scene crime-scene crime-scene brawl"
    assert choice(position([f"change {strong}", FIVE, FIVE, THREE], REST, suit="stakeout")) == "change crime-scene"
    assert choice(position([strong, FIVE, FIVE], REST)) == "crime-scene"


def test_an_investigation_first_while_an_action_would_be_answered() -> None:
    """The action can be played at any time, and only once the investigation is gone it is needed."""
    assert choice(position(["brawl change off-duty", FIVE, FIVE], f"{REST} {REST}", suit="brawl")) == "brawl"


@pytest.mark.parametrize(
    ("hand", "expected"),
    [("cancel brawl brawl", "cancel"), ("revenge brawl brawl", "revenge"), ("cancel revenge brawl", "revenge")],
)
def test_does_not_let_an_opponent_go_out(hand: str, expected: str) -> None:
    """Revenge makes that opponent draw two cards, cancel only one."""
    table = position(["change", hand, THREE], REST, suit="stakeout")
    play(table, "0 change off-duty")
    assert choice(table) == expected


@pytest.mark.parametrize("reaction", ["cancel", "revenge"])
@pytest.mark.parametrize("ask_everyone", [False, True])
def test_goes_out_with_a_reaction(reaction: str, ask_everyone: bool) -> None:
    table = position(["change brawl brawl", reaction, THREE], REST, suit="stakeout", ask_everyone=ask_everyone)
    play(table, "0 change brawl")
    assert choice(table) == reaction


def test_does_not_cancel_what_helps_it() -> None:
    """Mitchell is being taken from its side to the opponent who is nearly done; revenge lets him go all the same."""
    for hand, expected in (("cancel stakeout stakeout", "decline"), ("revenge stakeout stakeout", "revenge")):
        table = position(["move brawl brawl", hand, "off-duty"], REST, suit="stakeout", mitchell=1)
        play(table, "0 move seat2")
        assert choice(table) == expected


def test_does_not_cancel_what_keeps_an_opponent_from_going_out() -> None:
    """Seat 2 has one card and is made to draw two, by a seat with many."""
    table = position([f"force-two {FIVE} {FIVE}", "cancel stakeout stakeout", "brawl"], REST, suit="stakeout")
    play(table, "0 force-two seat2")
    assert choice(table) == "decline"


def test_does_not_release_a_seat_that_only_waits_for_that() -> None:
    """Seat 2 has played its last card, and Mitchell came to it (M10)."""
    table = position(["brawl+center brawl stakeout", f"{THREE} off-duty", "brawl+attract"], REST, turn=2, suit="brawl")
    play(table, "2 brawl+attract")
    assert table.actor == 0 and choice(table) == "brawl"


def test_plays_a_drawn_card_unless_it_brings_mitchell_at_the_wrong_time() -> None:
    """Seat 1 has one card, so the round may be over before the next own turn."""
    assert choice(position(["stakeout stakeout", "brawl", THREE], f"brawl+attract {REST}", suit="brawl")) == "pass"
    assert choice(position(["stakeout stakeout", "brawl", THREE], f"brawl {REST}", suit="brawl")) == "brawl"


# --- Strength.


class Shedder:
    """Plays any card that can be played, reacts to everything, sends Mitchell to others, and gives only if it must."""

    name = "shedder"
    encoder = "flat"

    def reset(self, seat: int | None, rng: np.random.Generator) -> None:
        self._rng = rng

    def act_batch(self, view: View) -> np.ndarray:
        seats = view.seats_encoded
        likes = np.full(view.mask.shape[1], 6.0)
        likes[:ANYWHERE_OF] = 8.0
        likes[1:ANYWHERE_OF:3] = 4.0  # brings Mitchell
        for suit in range(N_SUITS):
            start = ANYWHERE_OF + suit * (seats + 1)
            likes[start : start + seats + 1] = [7.0, 1.0, *[8.0] * (seats - 1)]
        likes[move_at(seats) : give_at(seats)] = [5.0, 1.0, *[6.0] * (seats - 1)]
        likes[give_at(seats) : pass_at(seats)] = 2.0
        likes[[pass_at(seats), pass_at(seats) + 3]] = 0.5
        noise = 0.9 * self._rng.random(view.mask.shape)
        return np.argmax(np.where(view.mask, 1.0 + likes + noise, 0.0), 1)


def rounds(one: Agent, rest: Agent, players: int, blocks: int) -> Duel:
    """One against the rest in single rounds, in every seat."""
    return duel(MITCHELL, MitchellOptions(players=players, rounds=1), (one, rest), blocks, 2024)


@compiled_only
@pytest.mark.parametrize(("players", "blocks", "least"), [(2, 400, 0.88), (4, 150, 0.53), (8, 60, 0.31)])
def test_wins_more_rounds_against_random_players_than_a_shedder(players: int, blocks: int, least: float) -> None:
    rule, shedder = (rounds(one, RandomAgent(), players, blocks) for one in (MitchellRuleAgent(), Shedder()))
    assert rule.win_share > least and rule.win_share > shedder.win_share + 0.04
    assert rule.low > 0.0 and shedder.low > 0.0, "a shedder that does not beat random players measures nothing"


@compiled_only
@pytest.mark.parametrize(("players", "blocks"), [(2, 400), (4, 150), (8, 60)])
def test_beats_shedders_and_is_not_beaten_by_one(players: int, blocks: int) -> None:
    assert rounds(MitchellRuleAgent(), Shedder(), players, blocks).low > 0.0
    assert rounds(Shedder(), MitchellRuleAgent(), players, blocks).high < 0.0


@compiled_only
@pytest.mark.parametrize("changes", [{"unplayed": "penalty"}, {"release_wins": False}, {"hand_size": 3}])
def test_beats_shedders_under_house_rules(changes: dict[str, object]) -> None:
    options = MitchellOptions(rounds=1, **changes)  # type: ignore[arg-type]
    assert duel(MITCHELL, options, (MitchellRuleAgent(), Shedder()), 150, 5).low > 0.0
