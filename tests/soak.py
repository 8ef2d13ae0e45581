"""Many random matches over random options, followed by the independent referees.

    python tests/soak.py --matches 20000 --seed 1 [--game mitch_ru]

Matches are played in turn through ``TableEnv`` and through ``Batch``. The first deviation is printed with its cause and a
record that reproduces it, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import traceback
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from env_laws import play_batch, play_table_env, record_of_actions, the_referee_agrees
from games import engine_of, player_counts

import mitch_env.batch
from mitch_env import GAMES, Batch, Game, TableEnv

#: Tables that a batch plays side by side.
N_ROWS = 64


def random_options(game: Game, rng: random.Random) -> Any:
    """The tradition's own options now and then, random ones most of the time, with any number of players."""
    players = rng.choice(list(player_counts(game)))
    return game.options(players=players) if rng.random() < 0.1 else engine_of(game).random_options(game, rng, players)


class Deviation(Exception):
    """A match went otherwise than the referee says; what makes it again is in its arguments."""

    def __init__(
        self, error: Exception, game: Game, options: Any, seed: int, actions: Sequence[int], seats: int, via: str
    ) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.error, self.game, self.options, self.seed, self.actions, self.seats, self.via = (
            error,
            game,
            options,
            seed,
            actions,
            seats,
            via,
        )

    def report(self) -> str:
        """The cause, and all that is needed to see it again."""
        lines = ["".join(traceback.format_exception(self.error)), f"deviation: {self}", f"played through {self.via}"]
        lines.append(f"game {self.game.name}, seed {self.seed}, options {json.dumps(self.options.as_dict())}")
        lines.append(f"actions {list(self.actions)}")
        try:
            record = record_of_actions(self.game, self.options, self.seed, self.actions, seats=self.seats, legal=True)
            lines.append(f"record {json.dumps(record, separators=(',', ':'))}")
        except Exception as error:  # the fault may be in the very code that writes records
            lines.append(f"no record can be written: {type(error).__name__}: {error}")
        return "\n".join(lines)


def soak_table_env(game: Game, rng: random.Random) -> int:
    """One match in a table environment."""
    options, seed = random_options(game, rng), rng.getrandbits(64)
    env = TableEnv(game, options, seats_encoded=rng.randint(options.players, game.rules.max_seats))
    try:
        decisions = list(play_table_env(env, seed, rng))
        the_referee_agrees(game, options, env.record(), decisions)
    except Exception as error:
        log = env.snapshot().log or ()
        actions = [action for deal in log for action in deal.actions]
        raise Deviation(error, game, options, seed, actions, int(env.table.seats_encoded), "TableEnv") from error
    return 1


def soak_batch(game: Game, rng: random.Random, n: int) -> int:
    """One match at each of ``n`` tables of a batch with mixed options."""
    options = [random_options(game, rng) for _ in range(n)]
    seeds = [rng.getrandbits(64) for _ in range(n)]
    batch = Batch(game, options=options, seed=seeds, threads=rng.choice([1, 2]))
    seeds = batch.tables.seed.tolist()  # where nobody is asked anything in a match, the batch has gone on to the next one
    played: list[list[int]] = [[] for _ in range(n)]
    row = 0
    try:
        for row, actions, decisions in play_batch(batch, rng, played):
            record = record_of_actions(game, options[row], seeds[row], actions, seats=batch.seats)
            the_referee_agrees(game, options[row], record, decisions)
    except Exception as error:
        raise Deviation(error, game, options[row], seeds[row], played[row], batch.seats, "Batch") from error
    return n


def soak(games: Sequence[Game], n_matches: int, seed: int) -> Iterator[int]:
    """Plays matches of the games in turn, half of them in batches; yields how many are done."""
    done = 0
    for turn in count():
        for game in games:
            rng = random.Random(f"{seed} {game.name} {turn}")
            n_batch = min(N_ROWS, (n_matches - done) // 2)
            for _ in range(max(1, n_batch)):
                if done < n_matches:
                    done += soak_table_env(game, rng)
                    yield done
            if n_batch:
                done += soak_batch(game, rng, n_batch)
                yield done
            if done >= n_matches:
                return


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; 1 if there was a deviation."""
    parser = argparse.ArgumentParser(description="Random matches over random options against the independent referees.")
    parser.add_argument("--matches", type=int, default=2000, help="how many (default 2000)")
    parser.add_argument("--seed", type=int, default=1, help="all options, seeds and choices follow from it (default 1)")
    parser.add_argument("--game", choices=list(GAMES), help="one game only (default: all of them in turn)")
    known = parser.parse_args(arguments)
    games = [GAMES[known.game]] if known.game else list(GAMES.values())
    told = 0
    try:
        for done in soak(games, known.matches, known.seed):
            if done >= told + max(100, known.matches // 50):
                told = done
                print(f"{done} of {known.matches} matches agree", file=sys.stderr, flush=True)
    except Deviation as deviation:
        print(deviation.report())
        return 1
    print(f"{known.matches} matches of {', '.join(game.name for game in games)} agree with the referees")
    return 0


if __name__ == "__main__":
    mitch_env.batch.FEWEST_ROWS = 2  # a batch has few tables here, and its threads are meant to share them
    raise SystemExit(main())
