"""Solves a miniature of Japanese Mitch with OpenSpiel's external-sampling MCCFR and prints how far it is from equilibrium.

Two players, one suit, a few cards, one joker. ``NashConv`` is what both players together could still win by a best response to
the average policy: 0 in equilibrium. With ``reward=relative`` the game is zero sum, so that MCCFR is known to get there. The
average policy then plays against random moves, in both seats.

    pip install -c constraints.txt -e ".[train,clients]"
    python examples/open_spiel_mccfr.py
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms import exploitability, external_sampling_mccfr
from open_spiel.python.policy import Policy, UniformRandomPolicy

import mitch_env.adapters.open_spiel  # noqa: F401 - makes the games known to OpenSpiel

MINIATURE = "python_mitch_jp(players=2,deals=1,suits=1,ranks={ranks},hand_size=1,clock_cards=1,reward=relative)"


def play(game: Any, policies: list[Policy], rng: np.random.Generator) -> list[float]:
    """One match; returns what each seat was paid."""
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            actions, chances = zip(*state.chance_outcomes(), strict=True)
        else:
            actions, chances = zip(*policies[state.current_player()].action_probabilities(state).items(), strict=True)
        state.apply_action(int(rng.choice(actions, p=chances)))
    return list(state.returns())


def against_random(game: Any, policy: Policy, n_matches: int, rng: np.random.Generator) -> str:
    """What a policy is paid against random moves, a seat each for half of the matches."""
    other = UniformRandomPolicy(game)
    paid = []
    for match in range(n_matches):
        seat = match % 2
        paid.append(play(game, [policy, other] if seat == 0 else [other, policy], rng)[seat])
    half_width = 1.96 * float(np.std(paid)) / len(paid) ** 0.5
    return f"{np.mean(paid):+.2f} ± {half_width:.2f} a match against random ({n_matches} matches)"


def main() -> None:
    """Solves, shows the progress, and plays."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=1000, help="passes over the tree, each for both players")
    parser.add_argument("--ranks", type=int, default=4, help="cards in the pack (the tree grows fast)")
    parser.add_argument("--reports", type=int, default=5, help="how often NashConv is computed on the way")
    parser.add_argument("--matches", type=int, default=400, help="matches against random moves")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    np.random.seed(args.seed)  # noqa: NPY002 - the solver draws from numpy's global generator
    game = pyspiel.load_game(MINIATURE.format(ranks=args.ranks))
    solver = external_sampling_mccfr.ExternalSamplingSolver(game)
    print(f"{game}\n{'iterations':>10}  NashConv")
    print(f"{0:>10}  {exploitability.nash_conv(game, solver.average_policy()):.4f}", flush=True)
    every = max(1, args.iterations // args.reports)
    for iteration in range(1, args.iterations + 1):
        solver.iteration()
        if iteration % every == 0:
            print(f"{iteration:>10}  {exploitability.nash_conv(game, solver.average_policy()):.4f}", flush=True)
    rng = np.random.default_rng(args.seed)
    print("random policy ", against_random(game, UniformRandomPolicy(game), args.matches, rng))
    print("average policy", against_random(game, solver.average_policy(), args.matches, rng))


if __name__ == "__main__":
    main()
