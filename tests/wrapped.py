"""What the tests of the wrappers share: environments of every kind, short matches, random play."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from games import EVERY_TABLE

from mitch_env import GAMES

every_game = pytest.mark.parametrize("name", GAMES)
every_table = pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
copies = pytest.mark.parametrize("copy_of", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))], ids=["deep", "saved"])
IDS = {name: f"mitch_env/{name.title().replace('_', '')}-v0" for name in GAMES}


def short(name: str) -> dict[str, Any]:
    """Options of a match of some rounds that ends soon."""
    return {"rounds": 2, "max_turns": 60} if name == "mitchell" else {"deals": 2}


def first_feature(flat: np.ndarray, layout: Any) -> np.ndarray:
    """A potential that differs at nearly every observation, and is not 0 at the first one."""
    return flat[..., layout.slices["hand" if "hand" in layout.slices else "known"]].sum(-1) + flat.sum(-1) / 7


def decisions(env: Any, seed: int | None = 0, choices: int = 0) -> Iterator[str]:
    """Plays a random match to its end; yields the agent before each decision."""
    rng = np.random.default_rng(choices)
    env.reset(seed=seed)
    while not is_over(env):
        agent = env.agent_selection
        yield agent
        env.step(int(rng.choice(np.flatnonzero(env.observe(agent)["action_mask"]))))


def is_over(env: Any) -> bool:
    return any(env.terminations.values()) or any(env.truncations.values())


def bytes_of(value: Any) -> Any:
    return {name: array.tobytes() for name, array in value.items()} if isinstance(value, dict) else value.tobytes()


def row_of(value: Any, row: int) -> Any:
    return {name: array[row] for name, array in value.items()} if isinstance(value, dict) else value[row]


def gym(name: str, **settings: Any) -> Any:
    return gymnasium.make(IDS[name], **settings)


def gym_vec(name: str, n: int, **settings: Any) -> Any:
    return gymnasium.make_vec(IDS[name], num_envs=n, vectorization_mode="vector_entry_point", **settings)
