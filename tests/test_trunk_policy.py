"""The policy's masked arithmetic against sb3-contrib's, and that it never chooses what is not legal."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete
from sb3_contrib.common.maskable.distributions import MaskableCategorical
from scipy.stats import chisquare

from train.trunk_policy import TrunkPolicy, entropy_of, masked_log_softmax, sample

torch.set_num_threads(1)

INPUTS, ACTIONS = 30, 12
#: The smallest and the largest numbers that a uniform draw can be, some between, and 1, to which rounding may take it.
UNIFORMS = [0.0, 1e-45, 2.0**-24, 0.5, 1 - 2.0**-23, 1 - 2.0**-24, float(np.nextafter(np.float32(1), np.float32(0))), 1.0]


def policy(seed: int = 0, **settings: Any) -> TrunkPolicy:
    """A policy with random weights, in all layers of size 1."""
    torch.manual_seed(seed)
    made = TrunkPolicy(Box(0.0, 1.0, (INPUTS,), np.float32), Discrete(ACTIONS), lambda left: 1e-3, **{"width": 16, **settings})
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(torch.randn(parameter.shape) / parameter.shape[-1] ** 0.5)
    return made


def some_masks(n: int, seed: int) -> torch.Tensor:
    """bool[n, ACTIONS]; the first rows have a single legal action each, one row has all."""
    rng = np.random.default_rng(seed)
    masks = rng.random((n, ACTIONS)) < rng.random((n, 1))
    masks[np.arange(n), rng.integers(0, ACTIONS, n)] = True
    masks[:ACTIONS] = np.eye(ACTIONS, dtype=np.bool_)
    masks[ACTIONS] = True
    return torch.from_numpy(masks)


def some_logits(n: int, seed: int, size: float) -> torch.Tensor:
    """Half of the rows spread evenly, half of plus or minus ``size`` only."""
    rng = np.random.default_rng(seed)
    logits = rng.uniform(-size, size, (n, ACTIONS))
    logits[n // 2 :] = np.where(rng.random((n - n // 2, ACTIONS)) < 0.5, size, -size)
    return torch.from_numpy(logits.astype(np.float32))


@pytest.mark.parametrize("size", [0.01, 3.0, 50.0])
def test_masked_arithmetic_equals_sb3_contribs(size: float) -> None:
    logits, masks = some_logits(400, 1, size), some_masks(400, 2)
    theirs = MaskableCategorical(logits=logits, masks=masks, validate_args=False)
    ours = masked_log_softmax(logits, masks)
    assert torch.allclose(ours[masks], theirs.logits[masks], atol=1e-5, rtol=1e-5)
    assert torch.all(ours[~masks] == -torch.inf)
    assert torch.allclose(ours.exp().sum(1), torch.ones(400), atol=1e-5)
    assert torch.allclose(entropy_of(ours, masks), theirs.entropy(), atol=1e-5)
    assert torch.all(entropy_of(ours, masks)[:ACTIONS] == 0), "a single legal action"
    assert entropy_of(masked_log_softmax(torch.zeros(1, ACTIONS), masks[-1:]), masks[-1:]).item() == pytest.approx(
        np.log(masks[-1].sum().item()), abs=1e-6
    )


def test_gradients_equal_sb3_contribs_and_are_finite() -> None:
    masks = some_masks(200, 3)
    actions = masks.float().multinomial(1).squeeze(1)
    gradients = []
    for ours in (True, False):
        logits = some_logits(200, 4, 20.0).requires_grad_()
        if ours:
            log_probs = masked_log_softmax(logits, masks)
            chosen, entropy = log_probs.gather(1, actions[:, None]).squeeze(1), entropy_of(log_probs, masks)
        else:
            theirs = MaskableCategorical(logits=logits, masks=masks, validate_args=False)
            chosen, entropy = theirs.log_prob(actions), theirs.entropy()
        (chosen.sum() + 0.3 * entropy.sum()).backward()
        gradients.append(logits.grad)
    assert torch.all(torch.isfinite(gradients[0])) and torch.allclose(*gradients, atol=1e-5)
    assert torch.all(gradients[0][~masks] == 0)


# --- Sampling.


@pytest.mark.parametrize("uniform", UNIFORMS)
@pytest.mark.parametrize("size", [0.1, 5.0, 50.0])
def test_no_draw_is_illegal(uniform: float, size: float) -> None:
    logits, masks = some_logits(3000, 5, size), some_masks(3000, 6)
    actions = sample(masked_log_softmax(logits, masks), masks, torch.full((3000,), uniform))
    assert torch.all(masks.gather(1, actions[:, None]))


def test_no_draw_is_illegal_in_any_mask_of_four_actions() -> None:
    masks = torch.tensor([mask for mask in itertools.product([False, True], repeat=4) if any(mask)])
    for values in itertools.product([-50.0, 0.0, 50.0], repeat=4):
        log_probs = masked_log_softmax(torch.tensor(values).expand(len(masks), 4), masks)
        for uniform in UNIFORMS:
            actions = sample(log_probs, masks, torch.full((len(masks),), uniform))
            assert torch.all(masks.gather(1, actions[:, None])), (values, uniform)


def test_many_random_draws_of_many_actions_are_legal() -> None:
    """The sum of a hundred rounded probabilities is not quite 1."""
    torch.manual_seed(7)
    logits, masks = 3 * torch.randn(20_000, 106), torch.rand(20_000, 106) < 0.3
    masks[:, 53] = True
    for uniform in (torch.rand(20_000), torch.full((20_000,), UNIFORMS[-2])):
        actions = sample(masked_log_softmax(logits, masks), masks, uniform)
        assert torch.all(masks.gather(1, actions[:, None]))


def test_draws_are_as_frequent_as_their_probabilities() -> None:
    torch.manual_seed(8)
    logits = torch.tensor([[0.0, 1.0, -2.0, 0.5, 3.0, -1.0]])
    mask = torch.tensor([[True, True, True, False, True, False]])
    n = 40_000
    log_probs = masked_log_softmax(logits, mask)
    actions = sample(log_probs.expand(n, 6), mask.expand(n, 6), torch.rand(n))
    counts = torch.bincount(actions, minlength=6)
    assert counts[3] == counts[5] == 0
    legal = mask[0].numpy()
    expected = log_probs.exp()[0].numpy()[legal].astype(np.float64)
    assert chisquare(counts.numpy()[legal], n * expected / expected.sum()).pvalue > 1e-3


def test_each_draw_is_the_inverse_of_the_cumulative_distribution() -> None:
    mask = torch.tensor([[True, False, True, True]])
    log_probs = masked_log_softmax(torch.log(torch.tensor([[0.25, 9.0, 0.25, 0.5]])), mask)
    drawn = [int(sample(log_probs, mask, torch.tensor([uniform]))) for uniform in (0, 0.2, 0.26, 0.49, 0.51, 0.99)]
    assert drawn == [0, 0, 2, 2, 3, 3]


# --- The policy.


def test_forward_and_evaluation_agree_with_the_distribution() -> None:
    made, masks = policy(), some_masks(300, 9)
    observation = torch.rand(300, INPUTS)
    with torch.no_grad():
        hidden = observation
        for layer in made.trunk:
            hidden = layer(hidden)
        theirs = MaskableCategorical(logits=made.action_net(hidden), masks=masks, validate_args=False)
        actions, values, log_probs = made(observation, action_masks=masks.numpy())
        assert (actions.shape, values.shape, log_probs.shape) == ((300,), (300, 1), (300,))
        assert torch.all(masks.gather(1, actions[:, None]))
        assert torch.allclose(log_probs, theirs.log_prob(actions), atol=1e-5)
        assert torch.equal(values, made.predict_values(observation))
        # The buffer keeps masks as float32.
        again, chosen, entropy = made.evaluate_actions(observation, actions.float(), masks.float())
        assert torch.equal(again, values) and torch.allclose(chosen, log_probs, atol=1e-6)
        assert torch.allclose(entropy, theirs.entropy(), atol=1e-5)
        best = made(observation, deterministic=True, action_masks=masks.numpy())[0]
        assert torch.equal(best, theirs.logits.argmax(1))
        unmasked = made.evaluate_actions(observation, actions)[1]
        assert torch.allclose(unmasked, torch.log_softmax(made.action_net(hidden), 1)[torch.arange(300), actions], atol=1e-5)


def test_predict_is_deterministic_if_asked_and_legal_in_any_case() -> None:
    made, masks = policy(), some_masks(64, 10).numpy()
    observation = np.random.default_rng(0).random((64, INPUTS), np.float32)
    best = [made.predict(observation, deterministic=True, action_masks=masks)[0] for _ in range(3)]
    assert np.array_equal(best[0], best[1]) and np.array_equal(best[0], best[2])
    drawn = [made.predict(observation, action_masks=masks)[0] for _ in range(3)]
    assert not np.array_equal(drawn[0], drawn[1])
    for actions in best + drawn:
        assert np.all(masks[np.arange(64), actions])
    one, _ = made.predict(observation[40], deterministic=True, action_masks=masks[40])
    assert one == best[0][40]


def test_a_saved_policy_loads_back_equal(tmp_path: Path) -> None:
    made = policy(width=24, depth=3)
    made.save(tmp_path / "policy")
    loaded = TrunkPolicy.load(tmp_path / "policy")
    assert (loaded.width, loaded.depth) == (24, 3)
    state, again = made.state_dict(), loaded.state_dict()
    assert state.keys() == again.keys() and all(torch.equal(state[name], again[name]) for name in state)
    assert loaded.optimizer.defaults["eps"] == made.optimizer.defaults["eps"] == 1e-5
    observation, masks = torch.rand(5, INPUTS), some_masks(20, 11)[-5:]
    chosen = [one(observation, deterministic=True, action_masks=masks)[0] for one in (made, loaded)]
    assert torch.equal(*chosen)


@pytest.mark.parametrize(("width", "depth"), [(5, 1), (16, 2), (8, 4)])
def test_weights_are_copies_with_the_names_of_the_policy_files(width: int, depth: int) -> None:
    made = policy(width=width, depth=depth)
    weights = made.weights()
    names = [f"trunk.{i}" for i in range(depth)] + ["policy", "value"]
    assert set(weights) == {f"{name}.{part}" for name in names for part in ("weight", "bias")}
    assert weights["trunk.0.weight"].shape == (width, INPUTS) and weights["policy.bias"].shape == (ACTIONS,)
    assert all(array.dtype == np.float32 for array in weights.values())
    hidden = np.random.default_rng(1).random((7, INPUTS), np.float32)
    with torch.no_grad():
        expected = made.action_net(made.trunk(torch.from_numpy(hidden))).numpy()
    for i in range(depth):
        hidden = np.maximum(hidden @ weights[f"trunk.{i}.weight"].T + weights[f"trunk.{i}.bias"], 0)
    assert np.allclose(hidden @ weights["policy.weight"].T + weights["policy.bias"], expected, atol=1e-5)
    before = {name: array.copy() for name, array in weights.items()}
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(1.0)
    assert all(np.array_equal(weights[name], before[name]) for name in weights)
    assert not np.array_equal(made.weights()["value.bias"], before["value.bias"])


def test_a_new_policy_is_nearly_uniform() -> None:
    """A small gain in the last layer: the first games are random ones."""
    torch.manual_seed(0)
    made = TrunkPolicy(Box(0.0, 1.0, (INPUTS,), np.float32), Discrete(ACTIONS), lambda left: 1e-3)
    masks = torch.ones(50, ACTIONS, dtype=torch.bool)
    entropy = made.evaluate_actions(torch.rand(50, INPUTS), torch.zeros(50), masks)[2]
    assert torch.all(entropy > 0.999 * np.log(ACTIONS))
