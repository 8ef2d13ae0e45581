"""Makes a game from PettingZoo's registry, runs PettingZoo's own checks on it, and films a match.

    pip install -c constraints.txt -e ".[render]"
    python examples/pettingzoo_checks.py --game mitch_jp

The film needs moviepy 2.2 (``pip install "moviepy>=2.2.1"``), which brings a pillow below 12:

    python examples/pettingzoo_checks.py --game mitchell --film films
"""

from __future__ import annotations

import argparse
import io
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pettingzoo
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.utils import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import RecordVideo

import mitch_env

#: PettingZoo warns of every observation that is a Dict, and of every mask of an agent that is not to act.
EXPECTED = (
    "Observation space for each agent probably",
    "Observation is not a NumPy array",
    "Action mask numpy array is all zeros",
)


def play(env: Any, seed: int) -> dict[str, float]:
    """Plays a random match and returns what each agent was paid."""
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        paid[agent] += reward
        over = terminated or truncated
        env.step(None if over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    return paid


def play_parallel(env: Any, seed: int) -> dict[str, float]:
    """The same in the parallel form, where the one agent with a legal action acts in each step."""
    observations, _ = env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        legal = {agent: np.flatnonzero(one["action_mask"]) for agent, one in observations.items()}
        actions = {agent: int(rng.choice(one)) for agent, one in legal.items() if len(one)}
        observations, rewards, _, _, _ = env.step(actions)
        for agent, reward in rewards.items():
            paid[agent] += reward
    return paid


def check(env_id: str, cycles: int, **settings: Any) -> None:
    """PettingZoo's tests, each of which raises or warns of what is wrong."""

    def make(**more: Any) -> Any:
        return pettingzoo.make("aec", env_id, **settings, **more)

    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):  # the render mode human prints every table
        # PettingZoo warns of every observation that is a Dict, and of every mask of an agent that is not to act.
        for message in (
            "Observation space for each agent probably",
            "Observation is not a NumPy array",
            "Action mask numpy array",
        ):
            warnings.filterwarnings("ignore", message)
        api_test(make(), num_cycles=cycles)
        seed_test(make, num_cycles=cycles)
        parallel_api_test(turn_based_aec_to_parallel(make()), num_cycles=cycles)
        render_test(lambda render_mode: make(render_mode=render_mode))
    print(f"{env_id}: passed api_test, seed_test, parallel_api_test and render_test")


def film(env: Any, folder: Path, seed: int) -> Path:
    """Plays a random match and records it: a picture before each decision, and at the end."""
    recorded = RecordVideo(env, str(folder), episode_trigger=lambda episode: True, name_prefix=env.unwrapped.game.name)
    play(recorded, seed)
    recorded.close()
    return max(folder.glob("*.mp4"), key=lambda path: path.stat().st_mtime)


def main() -> None:
    """Checks one game and plays one match in both forms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", choices=mitch_env.GAMES, default="mitch_jp")
    parser.add_argument("--players", type=int, default=3)
    parser.add_argument("--cycles", type=int, default=500, help="steps of each check")
    parser.add_argument("--film", type=Path, metavar="FOLDER", help="where to write a film of one short match")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()

    env_id = f"mitch_env/{args.game}-v0"
    check(env_id, args.cycles, players=args.players)
    env = pettingzoo.make("aec", env_id, players=args.players)
    print(f"match {args.seed}, decision by decision: {play(env, args.seed)}")
    print(f"match {args.seed}, in the parallel form: {play_parallel(turn_based_aec_to_parallel(env), args.seed)}")
    if args.film:
        short = {"rounds": 1} if args.game == "mitchell" else {"deals": 1}
        env = pettingzoo.make("aec", env_id, players=args.players, render_mode="rgb_array", **short)
        print(f"film: {film(env, args.film, args.seed)}")


if __name__ == "__main__":
    main()
