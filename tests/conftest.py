"""Options of the test run, and chance: a test draws the same numbers whenever and wherever it runs."""

from __future__ import annotations

import os
import random
import sys
import zlib

import numpy as np
import pytest

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as train/ppo.py; read when torch is imported first

_entropy = random.Random()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the files in tests/golden from what is played now")
    parser.addoption("--draws", type=int, default=0, help="other numbers for the tests that name no seed (default: 0)")


def pytest_configure(config: pytest.Config) -> None:
    """Whoever asks NumPy for a generator without a seed gets one from ``_entropy``, not from the system."""
    np.random.bit_generator.randbits = _entropy.getrandbits  # type: ignore[attr-defined] - what SeedSequence(None) calls


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Seeds all generators of the process with the test's name, before any fixture is made."""
    seed = zlib.crc32(f"{item.config.getoption('--draws')} {item.nodeid}".encode())
    _entropy.seed(seed)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - libraries may draw from it
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


@pytest.fixture(autouse=True)
def _threads_share_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests have few tables, and mean the threads that they ask for."""
    monkeypatch.setattr("mitch_env.batch.FEWEST_ROWS", 2)


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are rewritten instead of compared."""
    return bool(request.config.getoption("--update-golden"))
