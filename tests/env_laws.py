"""Laws of the two environments, :class:`~mitch_env.TableEnv` and :class:`~mitch_env.Batch`, whatever the game."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from games import engine_of
from laws import Compiled, LawBroken, Match, Plain, hold, random_actions_of

from mitch_env import Batch, Game, IllegalActionError, TableEnv
from mitch_env.chance import POLICY_STREAM, advanced, below, mix, next_seed, stream
from mitch_env.game import PHASE_DEAL, PHASE_OVER, Table
from mitch_env.records import log_of_match, record_of

# --- Against the referee.


@dataclass
class Decision:
    """One decision as an environment showed and paid it."""

    seat: int
    legal: list[str]
    move: str
    reward: list[float]


def play_table_env(env: TableEnv, seed: int, rng: random.Random) -> Iterator[Decision]:
    """A random match in a table environment."""
    env.reset(seed=seed)
    while not (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
        agent = env.agent_selection
        legal = np.flatnonzero(env.observe(agent)["action_mask"]).tolist()
        words = [env.action_name(action) for action in legal]
        choice = rng.randrange(len(legal))
        env.step(legal[choice])
        reward = [env.rewards[other] for other in env.possible_agents]
        yield Decision(env.possible_agents.index(agent), words, words[choice], reward)


def play_batch(
    batch: Batch, rng: random.Random, played: list[list[int]] | None = None
) -> Iterator[tuple[int, list[int], list[Decision]]]:
    """Random matches in a batch, one at each table: row, actions and decisions of each when it is over.

    Actions are added to ``played`` by row as they are played.
    """
    names = batch.game.rules.action_name
    played = [[] for _ in range(len(batch))] if played is None else played
    told: list[list[Decision]] = [[] for _ in range(len(batch))]
    rows = np.flatnonzero(batch.actor >= 0)
    while len(rows):
        actions = []
        for row in rows.tolist():
            legal = np.flatnonzero(batch.mask[row]).tolist()
            table: Table = batch.tables[row]
            action = rng.choice(legal)
            actions.append(action)
            played[row].append(action)
            words = [names(table, one) for one in legal]
            told[row].append(Decision(int(batch.actor[row]), words, names(table, action), []))
        batch.step(actions, rows)
        for row in rows.tolist():
            told[row][-1].reward = batch.reward[row, : batch.options[row].players].tolist()
        over = batch.terminated[rows] | batch.truncated[rows]
        for row in rows[over].tolist():
            yield row, played[row], told[row]
        rows = rows[~over]


def record_of_actions(
    game: Game, options: Any, seed: int, actions: Sequence[int], *, seats: int | None = None, legal: bool = False
) -> dict[str, Any]:
    """The record of the match of a seed, played by these actions, which are numbered for so many seats."""
    return record_of(game, options, log_of_match(game, options, seed, actions, seats_encoded=seats), legal=legal)


def the_referee_agrees(game: Game, options: Any, record: dict[str, Any], decisions: Sequence[Decision]) -> None:
    """Seats, legal moves and rewards (``points``) of a whole match, its scores, totals and winners are the referee's."""
    referee, law = engine_of(game).referee(game, options), the_referee_agrees
    deals, reshuffles = iter(record["deals"]), []
    referee.shuffle = lambda cards: reshuffles.pop(0)

    def deal_on() -> None:
        while referee.deal_over and not referee.match_over:
            deal = next(deals)
            reshuffles[:] = deal["reshuffles"]
            referee.start_deal(deal["dealer"], deal["seats"], deal["hands"], deal["stock"], deal["revealed"])

    try:
        deal_on()
        paid = len(referee.scores)
        for number, decision in enumerate(decisions, 1):
            where = f"decision {number}: seat{decision.seat} {decision.move}"
            hold(decision.seat == referee.actor, law, f"{where}, for the referee seat{referee.actor}")
            hold(sorted(decision.legal) == sorted(referee.legal()), law, f"{where}: {decision.legal}, not {referee.legal()}")
            referee.apply(decision.move)
            deal_on()
            expected = np.sum([points for points in referee.scores[paid:] if points] or [[0] * options.players], 0).tolist()
            paid = len(referee.scores)
            hold(decision.reward == expected, law, f"{where}: rewards {decision.reward}, not {expected}")
    except (ValueError, StopIteration) as error:
        raise LawBroken(f"{law.__name__}: {error!r}") from None
    hold(referee.match_over, law, "the referee's match is not over")
    scores = [deal["scores"] for deal in record["deals"]]
    hold(scores == referee.scores, law, f"scores {scores}, not {referee.scores}")
    hold(record["totals"] == referee.totals, law, f"totals {record['totals']}, not {referee.totals}")
    hold(record["winners"] == referee.winners(), law, f"winners {record['winners']}, not {referee.winners()}")


# --- Illegal actions.


NO_ACTIONS = [-1, 1 << 31, 1 << 64, -(1 << 63), -(1 << 70), 0.0, 1.5, np.float32(2), None, "0", b"0", "play AS", [], [1, 2], ()]
NO_ACTIONS += [{}, np.array([3, 4]), np.array([0.0])]


def illegal_actions_are_refused(env: TableEnv, rng: random.Random) -> None:
    """Every illegal action, and what is no action at all, raises ``IllegalActionError`` and changes nothing; no legal one does.

    A whole match is played, with all illegal actions tried at some decisions and a sample of them at the others.
    """
    law = illegal_actions_are_refused
    n_decisions = 0
    while not (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
        mask = env.observe(env.agent_selection)["action_mask"]
        before = env.table.tobytes(), env.agent_selection, dict(env.rewards), env.snapshot().log
        tried = [*NO_ACTIONS, len(mask), *np.flatnonzero(mask == 0)]
        for action in tried if n_decisions % 16 == 0 else rng.sample(tried, 6):
            try:
                env.step(action)
            except IllegalActionError as error:
                hold(f"seat{env.table.actor}" in str(error), law, f"{action!r} is refused with {error}")
            else:
                hold(False, law, f"{action!r} is accepted")
        after = env.table.tobytes(), env.agent_selection, env.rewards, env.snapshot().log
        hold(before == after, law, "something has changed")
        legal = np.flatnonzero(mask)
        for action in legal:
            env.clone().step(int(action))
        env.step(rng.choice(legal))
        n_decisions += 1


def a_batch_plays_all_or_nothing(batch: Batch, rng: random.Random) -> None:
    """One illegal action among legal ones is refused, and no table has been played then."""
    law = a_batch_plays_all_or_nothing
    rows = rng.sample(range(len(batch)), rng.randint(1, len(batch)))
    actions = batch.random_actions(rows)
    before = [a.tobytes() for a in (batch.tables, batch.observation, batch.mask, batch.actor, batch.reward, batch.terminated)]
    at = rng.randrange(len(rows))
    illegal = np.flatnonzero(~batch.mask[rows[at]]).tolist()
    for action in [*rng.sample(illegal, min(6, len(illegal))), -1, batch.n_actions, 1 << 40, -(1 << 63), (1 << 63) - 1]:
        wrong = actions.copy()
        wrong[at] = action
        try:
            batch.step(wrong, rows)
        except IllegalActionError as error:
            hold(f"table {rows[at]}," in str(error), law, f"{action} is refused with {error}")
        else:
            hold(False, law, f"{action} is accepted")
    for wrong in (actions.astype(float), actions.astype(str), [*actions.tolist(), 0], None, [None] * len(rows)):
        try:
            batch.step(wrong, rows)
        except ValueError:
            continue
        hold(False, law, f"{wrong!r} is accepted")
    after = [a.tobytes() for a in (batch.tables, batch.observation, batch.mask, batch.actor, batch.reward, batch.terminated)]
    hold(before == after, law, "something has changed")
    batch.step(actions, rows)


# --- The same match, however it is run.


@dataclass(frozen=True)
class Step:
    """All that one decision shows, in bytes."""

    actor: int
    action: int
    observation: bytes
    mask: bytes
    reward: list[float]
    is_scored: bool
    is_over: bool
    table: bytes


def table_bytes(table: Table) -> bytes:
    """The table, whether it waits before a deal or not."""
    twin = table.copy()
    twin.stop_at_deal = 0
    return bytes(twin.tobytes())


def steps_by_rules(
    game: Game, options: Any, seed: int, n: int, driver: type[Plain] = Compiled, **settings: Any
) -> Iterator[Step]:
    """``n`` decisions of matches that follow each other, by the rules' own functions and the random policy."""
    while True:
        match = Match(game, options, seed, driver, with_referee=False, **settings)
        one, table, policy = match.driver, match.table, random_actions_of(match)
        one.start()
        while table.phase != PHASE_OVER:
            if table.phase == PHASE_DEAL:
                match.deal()
                continue
            if n == 0:
                return
            n -= 1
            actor, action, done = int(table.actor), next(policy), int(table.deals_done)
            shown = actor, action, one.view(actor).tobytes(), one.mask().tobytes()
            match.play(action)
            while table.phase == PHASE_DEAL:
                match.deal()
            is_over = table.phase == PHASE_OVER
            is_scored = is_over or table.deals_done != done
            yield Step(*shown, table.reward[: options.players].tolist(), is_scored, is_over, table_bytes(table))
        seed = int(next_seed(np.uint64(seed)))


def steps_by_table_env(env: TableEnv, seed: int, n: int) -> Iterator[Step]:
    """The same in a table environment."""
    env.reset(seed=seed)
    while True:
        policy = stream(np.uint64(env.table.seed), POLICY_STREAM)
        while env.table.phase != PHASE_OVER:
            if n == 0:
                return
            n -= 1
            actor, seen, done = int(env.table.actor), env.last()[0], int(env.table.deals_done)
            assert seen is not None and env.agent_selection == f"player_{actor}"
            legal = np.flatnonzero(seen["action_mask"])
            action = int(legal[below(mix(policy), len(legal))])
            policy = advanced(policy)
            env.step(action)
            shown = actor, action, seen["observation"].tobytes(), seen["action_mask"].tobytes()
            reward = [env.rewards[agent] for agent in env.possible_agents]
            is_over = all(env.terminations.values()) or all(env.truncations.values())
            is_scored = is_over or env.table.deals_done != done
            yield Step(*shown, reward, is_scored, is_over, table_bytes(env.table))
        env.reset()


def steps_by_batch(batch: Batch, n: int, rng: random.Random | None = None) -> list[list[Step]]:
    """The same at each row of a batch, ``n`` decisions at least; with ``rng`` some rows at a time."""
    steps: list[list[Step]] = [[] for _ in range(len(batch))]
    while min(map(len, steps)) < n:
        rows = None if rng is None else rng.sample(range(len(batch)), rng.randint(0, len(batch)))
        actions = batch.random_actions(rows).copy()
        where = list(range(len(batch))) if rows is None else rows
        shown = [(int(batch.actor[i]), batch.observation[i].tobytes(), batch.mask[i].tobytes()) for i in where]
        batch.step(actions, rows)
        for i, action, (actor, observation, mask) in zip(where, actions.tolist(), shown, strict=True):
            is_over = bool(batch.terminated[i] | batch.truncated[i])
            reward = batch.reward[i, : batch.options[i].players].tolist()
            after = b"" if is_over else table_bytes(batch.tables[i])  # the next match has begun then
            steps[i].append(Step(actor, action, observation, mask, reward, bool(batch.scored[i]), is_over, after))
    return steps


def told(step: Step) -> str:
    """A step without its bytes."""
    return f"seat{step.actor} plays {step.action}, is paid {step.reward}, match over: {step.is_over}"


def the_match_is_the_same(law: Callable[..., Any], one: Sequence[Step], other: Sequence[Step]) -> None:
    """Step by step; what a batch's table holds after the end of a match is not compared."""
    for number, (a, b) in enumerate(zip(one, other, strict=True), 1):
        for name in ("actor", "action", "observation", "mask", "reward", "is_scored", "is_over", "table"):
            if name == "table" and b"" in (a.table, b.table):
                continue
            hold(getattr(a, name) == getattr(b, name), law, f"{name} of step {number}: {told(a)}, but {told(b)}")


def the_same_seed_gives_the_same_match(game: Game, options: Any, seed: int, n: int, drivers: Sequence[type[Plain]]) -> None:
    """In ``TableEnv``, in a batch of one, and by the plain and compiled rules: ``n`` decisions, from match to match."""
    law = the_same_seed_gives_the_same_match
    by_env = list(steps_by_table_env(TableEnv(game, options), seed, n))
    the_match_is_the_same(law, by_env, steps_by_batch(Batch(game, 1, options=options, seed=[seed]), n)[0])
    for driver in drivers:
        the_match_is_the_same(law, by_env, list(steps_by_rules(game, options, seed, n, driver)))


def chance_is_not_moved_by_choices(game: Game, options: Any, seed: int, n_matches: int) -> None:
    """Later matches without a seed differ, follow from the first seed, and do not depend on what was played before."""
    law = chance_is_not_moved_by_choices
    env = TableEnv(game, options)
    runs = [[first_deal(env, seed if number == 0 else None, choices) for number in range(n_matches)] for choices in (1, 2)]
    hold(runs[0] == runs[1], law, f"the deals of a table depend on the choices: {runs}")
    hold(len({str(deal) for deal in runs[0]}) == n_matches, law, f"two matches have the same deal: {runs[0]}")
    batch = Batch(game, 1, options=options, seed=[seed])
    rng = random.Random(3)
    seeds = []
    while len(seeds) < n_matches:
        seeds.append(int(batch.tables[0].seed))
        batch.step([rng.choice(np.flatnonzero(batch.mask[0]).tolist())])
        while not (batch.terminated[0] or batch.truncated[0]):
            batch.step([rng.choice(np.flatnonzero(batch.mask[0]).tolist())])
    deals = [first_deal(env, one, 4) for one in seeds]
    hold(deals == runs[0], law, f"a batch goes on with other deals: {deals}, not {runs[0]}")


def first_deal(env: TableEnv, seed: int | None, choices: int) -> dict[str, Any]:
    """Plays a match at random and returns its first deal in words."""
    for _ in play_table_env_from(env, seed, random.Random(choices)):
        pass
    deal = env.record()["deals"][0]
    return {name: deal[name] for name in ("dealer", "hands", "stock", "revealed")}


def play_table_env_from(env: TableEnv, seed: int | None, rng: random.Random) -> Iterator[Step]:
    """A random match, whatever the environment is wrapped in; without a seed the next one."""
    env.reset(seed=seed)
    yield from play_on(env, rng)


def play_on(env: Any, rng: random.Random) -> Iterator[Step]:
    """Plays a match on at random to its end."""
    raw = env.unwrapped
    while not (raw.terminations[env.agent_selection] or raw.truncations[env.agent_selection]):
        agent, (seen, *_) = env.agent_selection, env.last()
        legal = np.flatnonzero(seen["action_mask"]).tolist()
        action = rng.choice(legal)
        env.step(action)
        is_over = all(raw.terminations.values()) or all(raw.truncations.values())
        shown = int(agent.rpartition("_")[2]), action, seen["observation"].tobytes(), seen["action_mask"].tobytes()
        reward = [raw.rewards[other] for other in raw.possible_agents]
        yield Step(*shown, reward, bool(raw.table.deals_done), is_over, raw.table.tobytes())


# --- Rewards.


def rewards_add_up(game: Game, options: Any, seed: int) -> None:
    """``points`` sum to the totals, ``relative`` ones to 0, and ``outcome`` comes at the end: +1 shared and -1 shared."""
    law, paid = rewards_add_up, {}
    for kind in ("points", "relative", "outcome"):
        env = TableEnv(game, options, reward=kind)
        paid[kind] = np.array([step.reward for step in play_table_env_from(env, seed, random.Random(seed))])
        record = env.record()
        by_batch = Batch(game, 1, options=options, seed=[seed], reward=kind)
        for number, action in enumerate(action for deal in env.snapshot().log or () for action in deal.actions):
            by_batch.step([action])
            same = by_batch.reward[0, : options.players].tolist() == paid[kind][number].tolist()
            hold(same, law, f"{kind}: {by_batch.reward[0]} in a batch, {paid[kind][number]} at a table")
    hold(paid["points"].sum(0).tolist() == record["totals"], law, f"points {paid['points'].sum(0)}, totals {record['totals']}")
    mean = paid["points"].mean(1, keepdims=True)
    hold(np.allclose(paid["relative"], paid["points"] - mean, atol=1e-5), law, "relative is not points less their mean")
    hold(np.allclose(paid["relative"].sum(1), 0, atol=1e-3), law, f"relative sums to {paid['relative'].sum(1)}")
    hold(not paid["outcome"][:-1].any(), law, "an outcome comes before the end")
    won = [seat in record["winners"] for seat in range(options.players)]
    n_winners = sum(won)
    share = [1 / n_winners if one else -1 / (options.players - n_winners) for one in won]
    expected = np.zeros(options.players) if all(won) else np.array(share)
    hold(np.allclose(paid["outcome"][-1], expected), law, f"outcome {paid['outcome'][-1]}, winners {record['winners']}")


# --- Copies.


def a_copy_goes_on_alike(env: Any, copy_of: Callable[[Any], Any], seed: int) -> None:
    """A copy plays on with the same game, to the end and into the next match, and neither feels the other."""
    law = a_copy_goes_on_alike
    twin = copy_of(env)
    before = twin.unwrapped.table.tobytes()
    hold(before == env.unwrapped.table.tobytes(), law, "the copy is another table")
    steps = list(play_on(env, random.Random(seed)))
    hold(twin.unwrapped.table.tobytes() == before, law, "the copy moves with the original")
    the_match_is_the_same(law, steps, list(play_on(twin, random.Random(seed))))
    hold(twin.unwrapped.record() == env.unwrapped.record(), law, "the records differ")
    for one in (env, twin):
        one.reset()
    hold(twin.unwrapped.table.tobytes() == env.unwrapped.table.tobytes(), law, "the next match differs")
