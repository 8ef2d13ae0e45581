"""The models of the examples on tokens and histories, their training, and SB3's own models on observations by name."""

from __future__ import annotations

import json
import re
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest
from games import engine_of

from mitch_env import GAMES, get_game
from mitch_env.chance import match_seeds
from mitch_env.events import RING
from mitch_env.single_agent import SingleAgentEnv

torch = pytest.importorskip("torch")
pytest.importorskip("tqdm")

from torch import nn  # noqa: E402

from examples import attention_ppo, recurrent_ppo  # noqa: E402

torch.set_num_threads(1)

every_game = pytest.mark.parametrize("name", GAMES)
every_example = pytest.mark.parametrize("example", [attention_ppo, recurrent_ppo], ids=["attention", "recurrent"])


def tiny(example: ModuleType, name: str, **settings: Any) -> Any:
    """Settings of a tiny run of an example, with short matches."""
    rules = engine_of(get_game(name)).short | settings.pop("rules", {})
    small = {"num_envs": 8, "num_steps": 24, "minibatch_size": 64, "matches": 16, "width": 16, "threads": 1}
    return example.Args(game=name, options=json.dumps(rules), **{**small, **settings})


def agent_of(example: ModuleType, name: str, **settings: Any) -> tuple[Any, Any, Any]:
    """An agent whose outputs are not all alike, its tables, and its settings."""
    torch.manual_seed(3)
    args = tiny(example, name, **settings)
    envs = example.make_tables(args, args.num_envs, "relative")
    agent = example.Agent(envs, args)
    nn.init.orthogonal_(agent.actor.weight)
    return agent, envs, args


def positions(example: ModuleType, envs: Any, n: int = 24) -> list[Any]:
    """What is shown at the beginning of matches, in their middle and after it, one below the other."""
    observation, infos = envs.reset(seed=7)
    seen = [example.shown(observation, infos["action_mask"])]
    for _ in range(n):
        observation, _, _, _, infos = envs.step(envs.action_space.sample())
        seen.append(example.shown(observation, infos["action_mask"]))
    return [torch.cat(one) for one in zip(*seen, strict=True)]


def results(agent: Any, seen: Any) -> tuple[Any, Any]:
    """The probabilities and the values."""
    with torch.no_grad():
        policy, values = agent(*seen)
    return policy.probs, values


def same(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    return all(torch.allclose(a, b, atol=1e-5) for a, b in zip(one, other, strict=True))


# --- Tokens.


@every_game
@pytest.mark.parametrize("layers", [0, 2])
def test_padding_does_not_change_what_attention_finds(name: str, layers: int) -> None:
    """In one batch with longer rows, alone, with more padding, and whatever values stand in the padding."""
    agent, envs, _ = agent_of(attention_ppo, name, layers=layers)
    tokens, values, mask = positions(attention_ppo, envs, 6)
    together = results(agent, (tokens, values, mask))
    lengths = (tokens[..., 0] > 0).sum(1)
    assert lengths.min() < lengths.max() < tokens.shape[1]
    for row in (int(lengths.argmin()), int(lengths.argmax()), 3):
        n = int(lengths[row])
        alone = results(agent, (tokens[row : row + 1, :n], values[row : row + 1, :n], mask[row : row + 1]))
        assert same(alone, tuple(one[row : row + 1] for one in together))
    wider = nn.functional.pad(tokens, (0, 0, 0, 40)), nn.functional.pad(values, (0, 40))
    assert same(results(agent, (*wider, mask)), together)
    is_padding = tokens[..., 0] == 0
    tokens[..., 2][is_padding], values[is_padding] = 1, 9.0
    assert same(results(agent, (tokens, values, mask)), together)


@every_game
@pytest.mark.parametrize("layers", [0, 2])
def test_tokens_are_a_set(name: str, layers: int) -> None:
    """Their order says nothing; each column and the value of a token says something."""
    agent, envs, _ = agent_of(attention_ppo, name, layers=layers)
    tokens, values, mask = positions(attention_ppo, envs, 6)
    before = results(agent, (tokens, values, mask))
    shuffled = tokens.clone(), values.clone()
    for row, length in enumerate((tokens[..., 0] > 0).sum(1).tolist()):
        order = torch.randperm(length)
        shuffled[0][row, :length], shuffled[1][row, :length] = tokens[row, order], values[row, order]
    assert not torch.equal(shuffled[0], tokens)
    assert same(results(agent, (*shuffled, mask)), before)
    for column in range(3):
        changed = tokens.clone()
        changed[:, 5, column] = torch.where(changed[:, 5, column] == 1, 2, 1)
        assert not same(results(agent, (changed, values, mask)), before)
    values[:, 5] += 0.5
    assert not same(results(agent, (tokens, values, mask)), before)


# --- Histories.


@every_game
def test_the_gru_reads_the_events_and_nothing_else(name: str) -> None:
    """As a GRU that is given each table's events alone, one table at a time, with no padding."""
    agent, envs, _ = agent_of(recurrent_ppo, name)
    _, events, _ = positions(recurrent_ppo, envs)
    cell = agent.gru
    plain = nn.GRU(cell.input_size, cell.hidden_size, batch_first=True)
    plain.load_state_dict({f"{key}_l0": value for key, value in cell.state_dict().items()})
    found, lengths = agent.remembered(events), set()
    for row in range(0, len(events), 3):
        told = events[row][events[row, :, 0] > 0]
        lengths.add(len(told))
        vectors = sum(table(told[:, i]) for i, table in enumerate(agent.tables))
        assert torch.allclose(found[row], plain(vectors[None])[1][0, 0], atol=1e-5)
    assert min(lengths) < RING and len(lengths) > 5


@every_game
def test_padding_does_not_change_what_the_gru_remembers(name: str) -> None:
    agent, envs, _ = agent_of(recurrent_ppo, name)
    flat, events, mask = positions(recurrent_ppo, envs, 8)
    before = results(agent, (flat, events, mask))
    is_padding = events[..., 0] == 0
    assert is_padding.any() and not is_padding.all(1).any()
    assert same(results(agent, (flat, nn.functional.pad(events, (0, 0, 20, 0)), mask)), before)
    changed = events.clone()
    changed[..., 1:][is_padding] = 1
    assert same(results(agent, (flat, changed, mask)), before)
    assert not agent.remembered(torch.zeros_like(events)).any()


@every_game
def test_the_order_of_events_and_each_column_count(name: str) -> None:
    agent, envs, _ = agent_of(recurrent_ppo, name)
    flat, events, mask = positions(recurrent_ppo, envs)
    before = results(agent, (flat, events, mask))
    assert not same(results(agent, (flat, events.flip(1), mask)), before)
    for column in range(events.shape[2]):
        changed = events.clone()
        changed[:, -1, column] = torch.where(changed[:, -1, column] == 1, 2, 1)
        assert not same(results(agent, (flat, changed, mask)), before)
    assert not same(results(agent, (flat.roll(1, 1), events, mask)), before)


# --- Masks.


@every_example
@every_game
def test_probabilities_are_those_of_the_legal_actions_alone(example: ModuleType, name: str) -> None:
    agent, envs, _ = agent_of(example, name)
    *state, mask = positions(example, envs)
    policy, _ = agent(*state, mask)
    free, _ = agent(*state, torch.ones_like(mask))
    drawn = policy.sample((200,))
    assert mask.expand(200, -1, -1).gather(2, drawn[..., None]).all()
    assert (policy.probs[~mask] == 0).all() and not (free.probs[~mask] == 0).any()
    for row in range(0, len(mask), 5):
        legal = mask[row].nonzero().flatten()
        alone = torch.distributions.Categorical(logits=free.logits[row, legal])
        assert torch.allclose(policy.logits[row, legal], alone.logits, atol=1e-5)
        assert torch.allclose(policy.entropy()[row], alone.entropy(), atol=1e-5)
    (policy.entropy().sum() + policy.log_prob(drawn[0]).sum()).backward()
    assert all(one.grad is not None and one.grad.isfinite().all() for one in agent.actor.parameters())


@every_example
@pytest.mark.parametrize(("name", "rules"), [*((name, {}) for name in GAMES), ("mitchell", {"max_turns": 5})])
def test_a_window_holds_what_was_played(example: ModuleType, name: str, rules: dict[str, Any]) -> None:
    """Replayed on other tables: legal actions, their probabilities, and returns written out for each decision."""
    agent, envs, args = agent_of(example, name, rules=rules)
    again = example.make_tables(args, args.num_envs, "relative")
    seen, other = (example.shown(one, infos["action_mask"]) for one, infos in (envs.reset(seed=4), again.reset(seed=4)))
    after, window = example.collect(agent, envs, seen, args)
    shape = (args.num_steps, args.num_envs)
    *states, actions, log_probs, advantages, returns = (one.unflatten(0, shape) for one in window)
    assert states[-1].gather(2, actions[..., None]).all()
    values, following, rewards, dones = (torch.zeros(shape) for _ in range(4))
    n_cut = 0
    for t in range(args.num_steps):
        assert all(torch.equal(state[t], one) for state, one in zip(states, other, strict=True))
        with torch.no_grad():
            policy, values[t] = agent(*other)
        assert torch.allclose(log_probs[t], policy.log_prob(actions[t]), atol=1e-5)
        observation, reward, terminated, truncated, infos = again.step(actions[t].numpy())
        rewards[t], dones[t] = torch.as_tensor(reward / args.reward_scale), torch.as_tensor(terminated | truncated)
        other = example.shown(observation, infos["action_mask"])
        following[t] = results(agent, other)[1]
        for row in np.flatnonzero(terminated | truncated):
            last = {key: array[None] for key, array in infos["final_obs"][row].items()}
            no_mask = np.ones((1, envs.single_action_space.n), bool)
            following[t, row] = results(agent, example.shown(last, no_mask))[1][0] if truncated[row] else 0.0
            n_cut += int(truncated[row])
    assert all(torch.equal(a, b) for a, b in zip(after, other, strict=True))
    assert dones.any() and (n_cut > 5) == bool(rules)
    for row in range(args.num_envs):
        for start in range(args.num_steps):
            expected, weight = 0.0, 1.0
            for t in range(start, args.num_steps):
                expected += weight * float(rewards[t, row] + following[t, row] - values[t, row])
                weight *= args.gae_lambda
                if dones[t, row]:
                    break
            assert float(advantages[start, row]) == pytest.approx(expected, abs=1e-4)
    assert torch.allclose(returns, advantages + values, atol=1e-4)


@every_example
def test_an_update_makes_good_actions_likelier_and_values_better(example: ModuleType) -> None:
    """Advantages by hand: an action is good if its number is even."""
    agent, envs, args = agent_of(example, "mitch_jp", entropy_weight=0.0)
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3)
    observation, infos = envs.reset(seed=4)
    _, window = example.collect(agent, envs, example.shown(observation, infos["action_mask"]), args)
    *states, actions, log_probs, _, _ = window
    advantages = torch.where(actions % 2 == 0, 1.0, -1.0)
    entropy = example.update(agent, optimizer, [*states, actions, log_probs, advantages, advantages], args)
    with torch.no_grad():
        policy, values = agent(*states)
    moved, is_choice = policy.log_prob(actions) - log_probs, states[-1].sum(1) > 1
    assert moved[is_choice & (advantages > 0)].mean() > 0.02 and moved[is_choice & (advantages < 0)].mean() < -0.02
    assert (values - advantages).square().mean() < 1.0
    assert 0 < entropy < np.log(envs.single_action_space.n)


# --- The programs.

_MEASURED = (
    r"^(before|after) training, against (\w+), (\d+) matches \(± 95 %\): return ([+-]\d+\.\d\d) ± .*, win share (\d\.\d+) ±"
)


@every_example
@every_game
def test_a_measurement_is_the_mean_found_by_hand(example: ModuleType, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    agent, _, args = agent_of(example, name)
    example.measure(agent, args, "before")
    printed = re.findall(_MEASURED, capsys.readouterr().out, re.MULTILINE)
    form = "tokens" if example is attention_ppo else "history"
    found: dict[str, list[float]] = {"relative": [], "outcome": []}
    for reward, totals in found.items():
        for seed in match_seeds(args.seed + 1_000_000, args.num_envs).tolist():
            env = SingleAgentEnv(name, reward=reward, observation=form, players=3, **engine_of(get_game(name)).short)
            for match in range(2):
                observation, info = env.reset(seed=None if match else seed)
                total, is_over = 0.0, False
                while not is_over:
                    batch = {key: array[None] for key, array in observation.items()}
                    probs, _ = results(agent, example.shown(batch, info["action_mask"][None]))
                    observation, paid, terminated, truncated, info = env.step(int(probs.argmax()))
                    total, is_over = total + paid, terminated or truncated
                totals.append(total)
    returns, wins = np.mean(found["relative"]), np.maximum(found["outcome"], 0).mean()
    assert printed == [("before", "random", "16", f"{returns:+.2f}", f"{wins:.3f}")]


@every_example
@every_game
def test_an_example_runs_and_its_seed_reproduces_it(example: ModuleType, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--game", name, "--options", json.dumps(engine_of(get_game(name)).short), "--opponents", "rule"]
    words += ["--num-envs", "8", "--num-steps", "8", "--total-timesteps", "128", "--minibatch-size", "64"]
    words += ["--matches", "8", "--width", "16", "--threads", "1"]
    runs = []
    for seed in ("1", "1", "2"):
        agent = example.main([*words, "--seed", seed])
        printed = re.findall(_MEASURED, capsys.readouterr().out, re.MULTILINE)
        assert [one[:3] for one in printed] == [(when, "rule", "8") for when in ("before", "after")]
        runs.append((printed, nn.utils.parameters_to_vector(agent.parameters())))
    assert runs[0][0] == runs[1][0]
    assert torch.equal(runs[0][1], runs[1][1]) and not torch.equal(runs[0][1], runs[2][1])


# --- SB3's own models.


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("form", ["dict", "history", "tokens"])
def test_stable_baselines3_takes_observations_under_their_own_names(form: str, name: str) -> None:
    """torch.nn.ModuleDict refuses names such as "values", which it has itself."""
    sb3_contrib = pytest.importorskip("sb3_contrib")
    env = gymnasium.make(attention_ppo.IDS[name], observation=form)
    policy = sb3_contrib.MaskablePPO("MultiInputPolicy", env, device="cpu").policy
    assert list(policy.features_extractor.extractors) == list(env.observation_space.spaces)


@pytest.mark.parametrize("form", ["dict", "history", "tokens"])
@pytest.mark.parametrize("name", ["mitch_jp", "mitchell"])
def test_maskable_ppo_learns_from_an_observation_by_name(name: str, form: str) -> None:
    """Its ``MultiInputPolicy``; an illegal action would raise, and what it learned from is in the masks."""
    sb3_contrib = pytest.importorskip("sb3_contrib")
    env = gymnasium.make(attention_ppo.IDS[name], observation=form, players=3, **engine_of(get_game(name)).short)
    model = sb3_contrib.MaskablePPO("MultiInputPolicy", env, n_steps=64, batch_size=32, n_epochs=2, seed=1, device="cpu")
    before = nn.utils.parameters_to_vector(model.policy.parameters()).detach().clone()
    model.learn(128)
    learned = nn.utils.parameters_to_vector(model.policy.parameters())
    assert learned.isfinite().all() and not torch.equal(before, learned)
    buffer = model.rollout_buffer
    assert set(buffer.observations) == set(env.observation_space.spaces)
    masks = buffer.action_masks.reshape(64, -1).astype(bool)
    assert masks[np.arange(64), buffer.actions.ravel().astype(int)].all() and not masks.all()
    observation, info = env.reset(seed=3)
    for _ in range(40):
        action, _ = model.predict(observation, action_masks=info["action_mask"])
        assert info["action_mask"][action]
        observation, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            observation, info = env.reset()
