"""A game as a ``MultiAgentEnv`` for RLlib (the new API stack), as its action-masking module wants it.

```python
config = (
    PPOConfig()
    .environment(RLlibEnv, env_config={"game": "mitch_jp", "players": 3, "reward": "relative"})
    .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
    .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **kwargs: "shared")
)
```

``examples/rllib_ppo.py`` is the whole program. ``ray[rllib]`` pins a version of Gymnasium, so it has an environment of its own:
``pip install -c constraints-rllib.txt -e . "ray[rllib]" torch``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import torch
from pettingzoo.utils import BaseWrapper
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModule
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv

from .. import TableEnv, make
from ..game import NOBODY
from ..kernels import MOST_SILENT
from ..options import OptionsError
from ..single_agent import LegalActions


class MaskedObservations(BaseWrapper[str, dict[str, np.ndarray], int]):
    """RLlib's names: ``{"observations": float32[size], "action_mask": float32[actions]}``."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        own = env.observation_space(env.possible_agents[0])
        mask = gymnasium.spaces.Box(0.0, 1.0, own["action_mask"].shape, np.float32)
        self._space = gymnasium.spaces.Dict({"action_mask": mask, "observations": own["observation"]})

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """The same space object for every agent and call."""
        return self._space

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What a seat sees; the mask is all zero for a seat that is not to act."""
        own = self.env.observe(agent)
        assert own is not None
        return {"action_mask": own["action_mask"].astype(np.float32), "observations": own["observation"]}


def _legal(env: TableEnv, agent: str) -> np.ndarray:
    """bool[actions], what an agent may do now."""
    return env.observe(agent)["action_mask"] > 0


class RLlibEnv(PettingZooEnv):
    """RLlib's own ``PettingZooEnv``: at each step the one seat that must answer has an observation, and all at the end.

    A seat is paid what it has earned since it acted last, with its next observation. RLlib forgets what a seat is paid before
    its first decision, and all that is paid to a seat that decides nothing; with the default options neither happens.

    The seats' action spaces draw legal actions, so RLlib's checks and ``sample(random_actions=True)`` work.

    Args:
        config: RLlib's ``env_config``: ``game``, options by name, and the settings of :func:`mitch_env.make`.

    Raises:
        ValueError: If there is no ``game``, or an option or a setting is not allowed.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        settings = dict(config)
        if "game" not in settings:
            raise ValueError("env_config needs the game: {'game': 'mitch_jp', ...}")
        env = make(**settings)
        super().__init__(MaskedObservations(env))
        self.render_mode = env.render_mode
        self.metadata = env.metadata
        self.agents = list(env.possible_agents)  # RLlib has them from a set, in an order that differs from run to run
        self.possible_agents = list(env.possible_agents)
        n_actions = env.game.rules.n_actions(int(env.table.seats_encoded))
        for agent in env.possible_agents:
            self.action_spaces[agent] = LegalActions(n_actions, partial(_legal, env, agent))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """A new match. One in which nobody is asked anything is skipped."""
        for _ in range(MOST_SILENT):
            observations, infos = super().reset(seed=seed, options=options)
            if self.env.unwrapped.table.actor != NOBODY:
                return observations, infos
            seed = None
        raise OptionsError(f"in {MOST_SILENT} matches in a row nobody was asked anything: other options are needed")

    def render(self) -> Any:
        """As the game renders it. (RLlib's own passes a mode to ``render``, which no environment takes any more.)"""
        return self.env.render()


class RandomLegalRLModule(RLModule):
    """An opponent that plays at random what is legal. (RLlib's ``RandomRLModule`` knows nothing of masks.)

    It learns nothing: leave it out of ``policies_to_train``.
    """

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return {Columns.ACTIONS: torch.multinomial(batch[Columns.OBS]["action_mask"], 1).squeeze(1)}

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """There is nothing to compile."""
