"""TorchRL takes the environments as they are: ``PettingZooWrapper(env, use_mask=True)``."""

from __future__ import annotations

import argparse
import importlib.util
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import mitch_env
from mitch_env import GAMES

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

from tensordict import TensorDictBase  # noqa: E402 - only where TorchRL is installed
from tensordict.nn import TensorDictModule  # noqa: E402
from torchrl.envs import (  # noqa: E402
    ActionMask,
    MarlGroupMapType,
    PettingZooWrapper,
    RewardSum,
    SerialEnv,
    TransformedEnv,
    check_env_specs,
)
from torchrl.modules import MaskedCategorical  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version:UserWarning")

ONE_GROUP = MarlGroupMapType.ALL_IN_ONE_GROUP
TABLES = [(name, players) for name, game in GAMES.items() for players in (2, game.rules.max_seats)]
every_game = pytest.mark.parametrize("name", GAMES)
every_table = pytest.mark.parametrize(("name", "players"), TABLES)
every_grouping = pytest.mark.parametrize("grouping", [None, ONE_GROUP], ids=["a group for each seat", "one group"])


def short(name: str) -> dict[str, Any]:
    """Options for a match of one deal."""
    return {"rounds": 1, "hand_size": 3} if name == "mitchell" else {"deals": 1}


def wrapped(name: str, players: int = 3, grouping: Any = ONE_GROUP, **settings: Any) -> PettingZooWrapper:
    env = mitch_env.make(name, players=players, reward="relative", **short(name))
    return PettingZooWrapper(env, use_mask=True, group_map=grouping, **settings)


def by_seat(data: TensorDictBase, key: Any, players: int) -> torch.Tensor:
    """[steps, seats, ...], whatever the groups are."""
    if "agents" in data.keys():  # noqa: SIM118 - a TensorDict iterates over its rows
        return data["agents"][key]
    return torch.cat([data[f"player_{seat}"][key] for seat in range(players)], dim=1)


def drawn_by_mask() -> TensorDictModule:
    """A policy: every seat draws from its mask."""
    return TensorDictModule(
        lambda mask: MaskedCategorical(logits=torch.zeros(mask.shape), mask=mask).sample(),
        in_keys=[("agents", "action_mask")],
        out_keys=[("agents", "action")],
    )


@pytest.fixture(scope="module")
def example() -> ModuleType:
    """``examples/torchrl_ppo.py``."""
    path = Path(__file__).parents[1] / "examples" / "torchrl_ppo.py"
    spec = importlib.util.spec_from_file_location("torchrl_ppo", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@every_grouping
@every_table
def test_torchrl_finds_its_specs_kept(name: str, players: int, grouping: Any) -> None:
    check_env_specs(wrapped(name, players, grouping, return_state=True))


@every_grouping
@every_table
def test_a_rollout_is_the_match_that_its_actions_make(name: str, players: int, grouping: Any) -> None:
    """Who is to act, what every seat sees, the masks, the rewards and the end are the game's."""
    env = wrapped(name, players, grouping)
    env.set_seed(5)
    torch.manual_seed(7)
    rollout = env.rollout(5000)
    actor, action = by_seat(rollout, "mask", players), by_seat(rollout, "action", players)
    seen, mask = by_seat(rollout, ("observation", "observation"), players), by_seat(rollout, "action_mask", players)
    assert (actor.sum(1) == 1).all()

    game = mitch_env.make(name, players=players, reward="relative", **short(name))
    game.reset(seed=5)
    game.reset()  # set_seed begins a match, rollout the next one
    reward = np.zeros((len(rollout), players), np.float32)
    for step in range(len(rollout)):
        seat = int(actor[step].nonzero())
        assert game.agent_selection == f"player_{seat}"
        for other, agent in enumerate(game.possible_agents):
            assert (seen[step, other].numpy() == game.observe(agent)["observation"]).all()
        legal = game.observe(game.agent_selection)["action_mask"]
        assert (mask[step, seat].numpy() == legal).all() and legal[action[step, seat]]
        game.step(int(action[step, seat]))
        reward[step] = list(game.rewards.values())
    assert all(game.terminations.values()) and reward.any()
    assert (by_seat(rollout["next"], "reward", players).squeeze(-1).numpy() == reward).all()
    for key in ("done", "terminated"):
        assert by_seat(rollout["next"], key, players).squeeze(-1).all(1).tolist() == [False] * (len(rollout) - 1) + [True]
        assert rollout["next", key].squeeze(-1).tolist() == [False] * (len(rollout) - 1) + [True]


@every_game
def test_a_seed_makes_the_same_matches_and_another_one_others(name: str) -> None:
    def played(seed: int) -> list[list[int]]:
        env = wrapped(name)
        env.set_seed(seed)
        torch.manual_seed(1)
        return env.rollout(300, break_when_any_done=False)["agents", "action"].tolist()

    assert played(3) == played(3) != played(4)


@every_game
def test_a_policy_that_reads_the_masks_plays_several_tables(name: str) -> None:
    """``SerialEnv``, beyond the ends of matches; an illegal action would raise an error."""
    tables = SerialEnv(2, lambda: wrapped(name))
    tables.set_seed(1)
    torch.manual_seed(1)
    data = tables.rollout(500, drawn_by_mask(), break_when_any_done=False)
    chosen = data["agents", "action_mask"].gather(-1, data["agents", "action"].unsqueeze(-1)).squeeze(-1)
    assert chosen.all() and (data["agents", "mask"].sum(-1) == 1).all()
    assert (data["next", "done"].squeeze(-1).sum(1) >= 2).all()


@every_game
def test_random_actions_of_a_transformed_table_are_masked_by_action_mask(name: str) -> None:
    """The mask that the wrapper sets is in its own action spec only; ``ActionMask`` sets it in that of the whole."""
    sums = RewardSum(in_keys=[("agents", "reward")], reset_keys=["_reset"])
    env = TransformedEnv(wrapped(name), sums)
    env.append_transform(ActionMask(action_key=("agents", "action"), mask_key=("agents", "action_mask")))
    env.set_seed(1)
    torch.manual_seed(1)
    data = env.rollout(300, break_when_any_done=False)
    done = data["next", "done"].squeeze(-1)
    ends = [-1, *done.nonzero().squeeze(-1).tolist()]
    assert len(ends) > 1
    for begin, end in pairwise(ends):
        paid = data["next", "agents", "reward"][begin + 1 : end + 1].sum(0)
        assert torch.allclose(data["next", "agents", "episode_reward"][end], paid, atol=1e-4)


@every_game
def test_the_example_follows_each_seat(name: str, example: ModuleType) -> None:
    """All that a seat is paid after its first decision in a match is in its chain; ``next`` is its own next decision."""
    env = wrapped(name)
    env.set_seed(2)
    torch.manual_seed(2)
    window = env.rollout(400, break_when_any_done=False)
    for seat in range(3):
        chain = example.own_decisions(window, seat)
        own = window["agents"][:, seat]
        at = own["mask"].nonzero().squeeze(-1).tolist()
        done = window["next", "done"].squeeze(-1)
        assert len(at) - 1 <= len(chain) <= len(at)
        for i in range(len(chain)):
            until = at[i + 1] if i + 1 < len(at) else len(window)
            paid = window["next", "agents", "reward"][at[i] : until, seat].sum()
            assert abs(chain["next", "agents", "reward"][i] - paid) < 1e-3
            assert bool(chain["next", "agents", "done"][i]) == bool(done[at[i] : until].any())
            assert (chain["agents", "action"][i] == own["action"][at[i]]).all()
            if until < len(window):
                seen = chain["next", "agents", "observation", "observation"][i]
                assert (seen == own["observation", "observation"][until]).all()
        assert chain["next", "agents", "done"].any() and chain["next", "agents", "reward"].any()


@every_game
def test_the_example_learns_from_legal_decisions(name: str, example: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """One update moves the policy, away from finite log-probabilities of legal actions."""
    monkeypatch.setattr(example, "tqdm", lambda **_: argparse.Namespace(update=id, set_postfix=lambda **_: None, close=bool))
    chains = []
    follow = example.own_decisions
    monkeypatch.setattr(example, "own_decisions", lambda window, seat: chains.append(follow(window, seat)) or chains[-1])
    settings = {"steps": 150, "window": 150, "epochs": 1, "entropy": 0.01, "lmbda": 0.95, "learning_rate": 1e-3}
    args = argparse.Namespace(game=name, players=3, seed=1, matches=1, **settings)
    env = example.make_wrapped(args)
    actor = example.make_actor(env)
    before = [weight.detach().clone() for weight in actor.parameters()]
    example.train(args, actor, env)
    decisions = torch.cat(chains)["agents"]
    assert len(decisions) > 140 and decisions["mask"].all() and decisions["log_prob"].isfinite().all()
    assert decisions["action_mask"].gather(-1, decisions["action"].unsqueeze(-1)).all()
    after = list(actor.parameters())
    assert all(weight.isfinite().all() for weight in after)
    assert any((weight != old).any() for weight, old in zip(after, before, strict=True))
