"""No test has luck of its own: what it draws without a seed is the same whenever and after whatever it runs."""

from __future__ import annotations

import random

import gymnasium
import numpy as np
import pytest
from conftest import pytest_runtest_setup

import mitch_env

torch = pytest.importorskip("torch")  # before the first test: what it draws when it is imported later is not seeded


def drawn_without_a_seed() -> list[object]:
    """By an environment, a batch, a space and the generators of Python, NumPy and torch."""
    env = mitch_env.make("mitchell", players=3)
    env.reset()
    actions = mitch_env.Batch("mitch_jp", 30).random_actions()
    space = gymnasium.spaces.Discrete(1 << 40)
    numbers = [random.random(), np.random.random(), np.random.default_rng().random(), torch.rand(1).item()]  # noqa: NPY002
    return [env.last()[0]["observation"].tolist(), actions.tolist(), int(space.sample()), *numbers]


def test_a_test_draws_the_same_numbers_again(request: pytest.FixtureRequest) -> None:
    pytest_runtest_setup(request.node)
    first = drawn_without_a_seed()
    assert all(now != before for now, before in zip(drawn_without_a_seed(), first, strict=True))
    pytest_runtest_setup(request.node)
    assert drawn_without_a_seed() == first


def test_another_test_draws_others(request: pytest.FixtureRequest) -> None:
    own = np.random.default_rng().random()
    (other,) = [item for item in request.session.items if item.name == "test_a_test_draws_the_same_numbers_again"]
    pytest_runtest_setup(other)
    assert np.random.default_rng().random() != own
    pytest_runtest_setup(request.node)
    assert np.random.default_rng().random() == own
