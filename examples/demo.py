"""Plays a match of Japanese Mitch between random players and shows it move by move.

Run ``python examples/demo.py``; a seed as the first argument gives another match.
"""

from __future__ import annotations

import sys

import mitch_env


def main(seed: int) -> None:
    """Shows the table before every tenth decision, the last moves in words, and the end."""
    env = mitch_env.make("mitch_jp", players=3, deals=1, render_mode="ansi")
    env.reset(seed=seed)
    env.action_space("player_0").seed(seed)
    decision = 0
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        if decision % 10 == 0:
            print(f"\n===== before decision {decision + 1}\n{env.render()}")
        env.step(env.action_space(agent).sample(observation["action_mask"]))
        decision += 1
    print(f"\n===== the end, after {decision} decisions\n{env.render()}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
