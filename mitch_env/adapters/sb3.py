"""Many tables for stable-baselines3: its ``VecEnv`` on the vector environment, so that one call steps them all.

```python
>>> import gymnasium, mitch_env
>>> from mitch_env.adapters.sb3 import SB3VecEnv
>>> env = SB3VecEnv(gymnasium.make_vec("mitch_env/MitchJp-v0", num_envs=256))
>>> env.reset().shape, env.action_masks().shape
((256, 544), (256, 106))

```
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from stable_baselines3.common.vec_env import VecEnv

from ..chance import checked_seed
from ..vector_env import SingleAgentVectorEnv


class SB3VecEnv(VecEnv):
    """The tables of a :class:`~mitch_env.vector_env.SingleAgentVectorEnv`, as stable-baselines3 and sb3-contrib see them.

    What it returns is to the bit what ``DummyVecEnv`` returns for as many single environments: the info of a finished match
    has ``terminal_observation``, every info has ``TimeLimit.truncated``, ``action_mask`` and ``seat``, and ``reset_infos`` are
    those of the matches that began last. ``seed(s)`` gives table ``i`` the match seed ``s + i`` at the next ``reset``.

    ``VecMonitor`` around it adds the episode statistics that algorithms log and evaluations report. Nothing of a table can be
    set from outside, and options given to ``reset`` are ignored, as the tables' own rules are fixed when they are made.

    Args:
        envs: What ``gymnasium.make_vec`` gives for a game, with or without wrappers of Gymnasium around it.

    Raises:
        TypeError: If it is another vector environment.
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any]) -> None:
        tables = getattr(envs, "unwrapped", envs)
        if not isinstance(tables, SingleAgentVectorEnv):
            raise TypeError(
                f"envs is a {type(tables).__name__}, and a SingleAgentVectorEnv is needed: "
                'gymnasium.make_vec(id, num_envs=n, vectorization_mode="vector_entry_point")'
            )
        self.envs = envs
        self._tables = tables
        self._actions: Any = None
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
        self.metadata = envs.metadata

    @property
    def spec(self) -> Any:
        """What Gymnasium made the tables from, or None."""
        return self.envs.spec

    def action_masks(self) -> np.ndarray:
        """bool[n, actions], what the learner may do at each table; all False before the first ``reset``."""
        return self._tables.action_masks()

    def reset(self) -> Any:
        """New matches at all tables: those of the seeds, if ``seed`` was called since the last ``reset``, or the next ones."""
        seeds = None if None in self._seeds else self._seeds
        observations, infos = self.envs.reset(seed=seeds)
        self.reset_infos = self._rows(infos, range(self.num_envs))
        self._reset_seeds()
        self._reset_options()
        return observations

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Table ``i`` gets the match seed ``seed + i`` at the next ``reset``.

        Raises:
            ValueError: If one of them is no seed.
        """
        if seed is not None:
            checked_seed(checked_seed(seed) + self.num_envs - 1)
        seeds: Sequence[int | None] = super().seed(None if seed is None else int(seed))
        return seeds

    def step_async(self, actions: np.ndarray) -> None:
        """Takes the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Plays them; where a match is over the observation is the next one's already.

        Raises:
            IllegalActionError: If an action is not legal at its table, as those of algorithms that know no masks are.
        """
        observations, rewards, terminated, truncated, columns = self.envs.step(self._actions)
        dones = terminated | truncated
        infos = self._rows(columns, range(self.num_envs))
        over = np.flatnonzero(dones).tolist()
        if over:
            last = self._rows(columns["final_info"], over)
            for row, info in zip(over, last, strict=True):
                self.reset_infos[row], infos[row] = infos[row], info
                info["terminal_observation"] = columns["final_obs"][row]
        for info, is_cut in zip(infos, (truncated & ~terminated).tolist(), strict=True):
            info["TimeLimit.truncated"] = is_cut
        return observations, rewards.astype(np.float32), dones, infos

    @staticmethod
    def _rows(columns: dict[str, Any], rows: Iterable[int]) -> list[dict[str, Any]]:
        """The infos of some tables, each by itself."""
        masks, seats = columns["action_mask"], columns["seat"]
        return [{"action_mask": masks[row], "seat": int(seats[row])} for row in rows]

    # --- What is asked of each table by name.

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """``action_masks`` (bool[actions]) or ``render`` of each table."""
        methods: dict[str, Callable[[], Any]] = {"action_masks": self.action_masks, "render": self.get_images}
        if method_name not in methods:
            raise AttributeError(f"a table has no method {method_name!r} here, only {' and '.join(methods)}")
        of_all = methods[method_name]()
        return [of_all[row] for row in self._get_indices(indices)]

    def has_attr(self, attr_name: str) -> bool:
        """Whether ``env_method`` or ``get_attr`` knows it."""
        return attr_name in ("action_masks", "render") or super().has_attr(attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """``render_mode``, ``spec`` or ``seat`` (the learner's) of each table."""
        if attr_name == "seat":
            return [self.reset_infos[row].get("seat") for row in self._get_indices(indices)]
        if attr_name not in ("render_mode", "spec"):
            raise AttributeError(f"a table has no attribute {attr_name!r} here, only render_mode, spec and seat")
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Nothing can be set."""
        raise AttributeError(f"{attr_name!r} of a table cannot be set: make the tables with what they are to be")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """No table is wrapped by itself."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        """What each table renders in the tables' render mode; None for each where that is ``human`` or nothing."""
        return self.envs.render() or [None] * self.num_envs

    def close(self) -> None:
        """Closes the tables."""
        self.envs.close()
