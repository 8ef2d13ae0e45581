"""The example in the manner of CleanRL: its numerical pieces against slow ones, what it plays and measures, and its log."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from games import engine_of

from mitch_env import GAMES, get_game
from mitch_env.chance import match_seeds
from mitch_env.single_agent import SingleAgentEnv

torch = pytest.importorskip("torch")
pytest.importorskip("tqdm")

from examples import cleanrl_ppo  # noqa: E402

torch.set_num_threads(1)

every_game = pytest.mark.parametrize("name", GAMES)


def slow_advantages(
    rewards: Any, values: Any, dones: Any, finals: Any, next_values: Any, gamma: float, lam: float
) -> np.ndarray:
    """The sum of discounted temporal differences, written out for each decision."""
    steps, n = rewards.shape
    found = np.zeros((steps, n))
    for row in range(n):
        for start in range(steps):
            factor = 1.0
            for t in range(start, steps):
                following = next_values[row] if t + 1 == steps else values[t + 1, row]
                if dones[t, row]:
                    following = finals[t, row]
                found[start, row] += factor * (rewards[t, row] + gamma * following - values[t, row])
                if dones[t, row]:
                    break
                factor *= gamma * lam
    return found


@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 0.95), (0.9, 0.0), (0.97, 1.0)])
def test_advantages_are_sums_of_discounted_differences(gamma: float, lam: float) -> None:
    rng = np.random.default_rng(1)
    rewards, values, finals = rng.normal(size=(3, 30, 7))
    dones = rng.random((30, 7)) < 0.2
    finals *= dones & (rng.random((30, 7)) < 0.5)
    next_values = rng.normal(size=7)
    arrays = (rewards, values, dones, finals, next_values)
    found = cleanrl_ppo.advantages_of(*(torch.as_tensor(one) for one in arrays), gamma, lam)
    assert found.numpy() == pytest.approx(slow_advantages(*arrays, gamma, lam))
    if lam == 1.0:  # from the first decision to a match's end: what was paid, less what was expected
        end = int(np.flatnonzero(dones[:, 0])[0])
        paid = sum(gamma**t * rewards[t, 0] for t in range(end + 1)) + gamma ** (end + 1) * finals[end, 0]
        assert float(found[0, 0]) == pytest.approx(paid - values[0, 0])


def test_masked_probabilities_are_those_of_the_legal_actions_alone() -> None:
    rng = torch.Generator().manual_seed(1)
    logits, masks = 5 * torch.randn(50, 20, generator=rng), torch.rand(50, 20, generator=rng) < 0.3
    masks[:, 4] |= ~masks.any(1)
    masks[0] = torch.arange(20) == 7
    logits.requires_grad_()
    found = cleanrl_ppo.masked(logits, masks)
    for row in range(50):
        legal = masks[row].nonzero().flatten()
        alone = torch.distributions.Categorical(logits=logits[row, legal])
        assert torch.allclose(found.logits[row, legal], alone.logits)
        assert torch.allclose(found.entropy()[row], alone.entropy(), atol=1e-6)
    assert (found.probs[~masks] == 0).all()
    assert found.entropy()[0] == 0
    drawn = found.sample((2000,))
    assert masks.expand(2000, -1, -1).gather(2, drawn[..., None]).all()
    found.entropy().sum().backward()
    assert logits.grad is not None and logits.grad.isfinite().all() and (logits.grad[~masks] == 0).all()


def tiny(name: str, **settings: Any) -> cleanrl_ppo.Args:
    """Settings of a tiny run of the example."""
    rules = engine_of(get_game(name)).short | settings.pop("rules", {})
    small = {"num_envs": 8, "num_steps": 24, "minibatch_size": 64, "matches": 16, "width": 16, "threads": 1}
    return cleanrl_ppo.Args(game=name, options=json.dumps(rules), **{**small, **settings})


@pytest.mark.parametrize(("name", "rules"), [*((name, {}) for name in GAMES), ("mitchell", {"max_turns": 5})])
def test_a_window_holds_what_was_played(name: str, rules: dict[str, Any]) -> None:
    """Replayed on other tables: legal actions, rewards, ends, values, and those of truncated matches' last observations."""
    args = tiny(name, rules=rules)
    collector = cleanrl_ppo.Collector(args)
    agent, window = cleanrl_ppo.Agent(collector.envs, args.width), cleanrl_ppo.Window(collector.envs, args.num_steps)
    envs = cleanrl_ppo.make_tables(args, args.opponents, args.num_envs, "relative")
    observations, infos = envs.reset(seed=args.seed)
    n_cut, paid, n_over = 0, np.zeros(args.num_envs), 0
    for _ in range(2):
        next_values = collector.collect(agent, window)
        assert window.masks.gather(2, window.actions[..., None]).all()
        for t in range(args.num_steps):
            assert np.array_equal(window.observations[t], observations) and np.array_equal(
                window.masks[t], infos["action_mask"]
            )
            policy = agent.policy(window.observations[t], window.masks[t])
            assert torch.allclose(window.log_probs[t], policy.log_prob(window.actions[t]), atol=1e-5)
            assert torch.allclose(window.values[t], agent.value(torch.as_tensor(observations)), atol=1e-5)
            observations, rewards, terminated, truncated, infos = envs.step(window.actions[t].numpy())
            assert window.rewards[t].numpy() == pytest.approx(rewards / args.reward_scale, abs=1e-5)
            assert np.array_equal(window.dones[t], terminated | truncated)
            for row in range(args.num_envs):
                last = agent.value(torch.as_tensor(infos["final_obs"][row])).item() if truncated[row] else 0.0
                assert window.final_values[t, row].item() == pytest.approx(last, abs=1e-5)
            n_cut, n_over, paid = n_cut + truncated.sum(), n_over + (terminated | truncated).sum(), paid + rewards
        assert torch.allclose(next_values, agent.value(torch.as_tensor(observations)), atol=1e-5)
    assert len(collector.returns) == n_over > 5 and (n_cut > 5) == bool(rules)
    assert sum(collector.returns) + collector.running_return.sum() == pytest.approx(paid.sum(), abs=1e-3)
    assert sum(collector.lengths) + collector.running_length.sum() == 2 * window.dones.numel()


@every_game
def test_the_examples_measurement_is_the_mean_found_by_hand(name: str) -> None:
    args = tiny(name)
    envs = cleanrl_ppo.make_tables(args, "random", 1, "relative")
    agent, returns = cleanrl_ppo.Agent(envs, args.width), []
    for seed in match_seeds(args.seed + 1_000_000, args.num_envs).tolist():
        env = SingleAgentEnv(name, reward="relative", players=3, **engine_of(get_game(name)).short)
        for match in range(2):
            observation, info = env.reset(seed=None if match else seed)
            total, is_over = 0.0, False
            while not is_over:
                policy = agent.policy(torch.as_tensor(observation)[None], torch.as_tensor(info["action_mask"])[None])
                observation, reward, terminated, truncated, info = env.step(int(policy.probs.argmax()))
                total, is_over = total + reward, terminated or truncated
            returns.append(total)
    assert cleanrl_ppo.play(agent, args, "random", "relative").tolist() == pytest.approx(returns)


def test_an_update_makes_good_actions_likelier_and_values_better() -> None:
    """Advantages by hand: an action is good if its number is even."""
    args = tiny("mitch_jp", entropy_weight=0.0, gamma=0.0)
    torch.manual_seed(1)
    collector = cleanrl_ppo.Collector(args)
    agent, window = cleanrl_ppo.Agent(collector.envs, args.width), cleanrl_ppo.Window(collector.envs, args.num_steps)
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3)
    collector.collect(agent, window)
    advantages = torch.where(window.actions % 2 == 0, 1.0, -1.0)
    log = cleanrl_ppo.update(agent, optimizer, window, advantages, args)
    policy = agent.policy(window.observations, window.masks)
    moved = (policy.log_prob(window.actions) - window.log_probs).detach()
    choice = window.masks.sum(-1) > 1
    assert (moved[choice & (advantages > 0)].mean() > 0.02) and (moved[choice & (advantages < 0)].mean() < -0.02)
    assert moved[~choice].abs().max() < 1e-6 if (~choice).any() else True
    error = (agent.value(window.observations) - advantages - window.values).square().mean()
    assert error < advantages.square().mean()
    assert set(log) == {f"losses/{one}" for one in ("policy", "value", "entropy", "approx_kl", "clip_fraction")} | {
        "losses/explained_variance"
    }


def test_every_setting_has_a_help_and_every_metric_is_explained() -> None:
    text = re.sub(r"\s+", " ", cleanrl_ppo.parser().format_help())
    assert "weight of the entropy bonus (default: 0.01)" in text and "--no-anneal-lr" in text
    known = vars(cleanrl_ppo.parser().parse_args(["--num-envs", "4", "--no-anneal-lr", "--gamma", "0.5"]))
    assert cleanrl_ppo.Args(**known) == cleanrl_ppo.Args(num_envs=4, anneal_lr=False, gamma=0.5)
    assert all(f"- {metric}: " in (cleanrl_ppo.__doc__ or "") for metric in METRICS)


#: What the example logs.
METRICS = [
    *(f"charts/{one}" for one in ("return", "length", "decisions_per_second", "learning_rate")),
    *(f"losses/{one}" for one in ("policy", "value", "entropy", "approx_kl", "clip_fraction", "explained_variance")),
]

_MEASURED = (
    r"^(before|after) training, against (\w+), (\d+) matches \(± 95 %\): return ([+-]\d+\.\d\d) ± .*, win share (0\.\d+)"
)


@every_game
def test_the_cleanrl_example_runs_and_its_seed_reproduces_it(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    event_accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    words = ["--game", name, "--opponents", "rule", "--num-envs", "8", "--num-steps", "32", "--total-timesteps", "512"]
    words += ["--minibatch-size", "64", "--matches", "16", "--width", "16", "--threads", "1"]
    words += ["--options", json.dumps(engine_of(get_game(name)).short)]
    runs = []
    for seed in ("1", "1", "2"):
        files = ["--tensorboard", str(tmp_path / seed), "--save", str(tmp_path / "weights.pt")]
        agent = cleanrl_ppo.main([*words, "--seed", seed, *files])
        printed = re.findall(_MEASURED, capsys.readouterr().out, re.MULTILINE)
        assert [one[:3] for one in printed] == [
            (when, against, "16") for when in ("before", "after") for against in ("random", "rule")
        ]
        runs.append((printed, torch.nn.utils.parameters_to_vector(agent.parameters())))
    assert runs[0][0] == runs[1][0] != runs[2][0]
    assert torch.equal(runs[0][1], runs[1][1]) and not torch.equal(runs[0][1], runs[2][1])
    saved = torch.load(tmp_path / "weights.pt")
    assert all(torch.equal(saved[key], value) for key, value in agent.state_dict().items())
    events = event_accumulator.EventAccumulator(str(tmp_path / "2")).Reload()
    assert sorted(events.Tags()["scalars"]) == sorted(METRICS)
    assert [one.step for one in events.Scalars("charts/learning_rate")] == [256, 512]
    assert [one.value for one in events.Scalars("charts/learning_rate")] == pytest.approx([1e-3, 5e-4])
