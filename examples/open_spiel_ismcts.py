"""Plays a game with OpenSpiel's information-set Monte Carlo tree search against random moves and prints its win share.

The bot never sees the real table. For each simulation it gets a world in which the cards that it cannot know are dealt anew
(``state.resample_from_infostate``). It sits in each seat in turn. Python states are slow: a small game by default; any game and
parameters of ``mitch_env.adapters.open_spiel`` can be given.

    pip install -c constraints.txt -e ".[train,clients]"
    python examples/open_spiel_ismcts.py
    python examples/open_spiel_ismcts.py --game "python_mitchell(players=3,rounds=1)" --matches 6
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

import mitch_env.adapters.open_spiel  # noqa: F401 - makes the games known to OpenSpiel

SMALL = "python_mitch_jp(players=2,deals=1,suits=2,ranks=8,hand_size=3,clock_cards=2,reward=relative)"


def search_bot(game: Any, simulations: int, random_state: np.random.RandomState) -> ismcts.ISMCTSBot:
    """A bot whose chance is all drawn from ``random_state``."""
    bot = ismcts.ISMCTSBot(
        game=game,
        evaluator=mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=random_state),
        uct_c=float(game.max_utility() - game.min_utility()),
        max_simulations=simulations,
        random_state=random_state,
    )
    bot.set_resampler(lambda state, player: state.resample_from_infostate(player, random_state.random_sample))
    return bot


def play(game: Any, bot: ismcts.ISMCTSBot | None, seat: int, rng: np.random.Generator) -> list[float]:
    """One match with the bot (None: random moves too) at ``seat``, random moves elsewhere; what each seat was paid."""
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            actions, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(actions, p=chances)))
        elif bot is not None and state.current_player() == seat:
            state.apply_action(int(bot.step(state)))
        else:
            state.apply_action(int(rng.choice(state.legal_actions())))
    return list(state.returns())


def win_share(paid: list[float], seat: int) -> float:
    """1 for a win, a share of it for a tie."""
    best = max(paid)
    return (paid[seat] == best) / paid.count(best)


def main() -> None:
    """Plays with and without search and prints both win shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default=SMALL, help="a game of mitch_env.adapters.open_spiel")
    parser.add_argument("--matches", type=int, default=40)
    parser.add_argument("--simulations", type=int, default=60, help="for each decision of the bot")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    game = pyspiel.load_game(args.game)
    bot = search_bot(game, args.simulations, np.random.RandomState(args.seed))
    rng, started = np.random.default_rng(args.seed), time.monotonic()
    for name, player in (("random", None), ("IS-MCTS", bot)):
        shares, paid_to_bot = [], []
        for match in range(args.matches):
            seat = match % game.num_players()
            paid = play(game, player, seat, rng)
            shares.append(win_share(paid, seat))
            paid_to_bot.append(paid[seat])
            if player is not None and (match + 1) % max(1, args.matches // 4) == 0:
                print(f"  {match + 1} matches, win share {np.mean(shares):.2f}, {time.monotonic() - started:.0f} s", flush=True)
        error = 1.96 * float(np.std(shares)) / len(shares) ** 0.5
        share = f"win share {np.mean(shares):.2f} ± {error:.2f}"
        print(f"{name:>8}: {share}, {np.mean(paid_to_bot):+.2f} a match, {len(shares)} matches")


if __name__ == "__main__":
    main()
