"""The README's table of client libraries and docs/clients.md: the versions are the tested ones, the files are there.

That the examples reach what the page says is measured by hand; that they run, in ``test_examples.py``.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README, CLIENTS = (ROOT / "README.md").read_text(encoding="utf-8"), (ROOT / "docs/clients.md").read_text(encoding="utf-8")
#: The packages whose version a row gives.
PACKAGES = {
    "PettingZoo": ["pettingzoo"],
    "SuperSuit": ["supersuit"],
    "stable-baselines3, sb3-contrib": ["stable-baselines3", "sb3-contrib"],
    "CleanRL style (torch)": ["torch"],
    "TorchRL": ["torchrl"],
    "Tianshou": ["tianshou"],
    "RLlib (ray)": ["ray"],
    "OpenSpiel": ["open-spiel"],
}
NOT_SUPPORTED = {"AgileRL"}
#: What `import mitch_env` must not import: everything that only some users have or need.
OPTIONAL = (
    "torch",
    "stable_baselines3",
    "sb3_contrib",
    "torchrl",
    "tianshou",
    "ray",
    "pyspiel",
    "supersuit",
    "matplotlib",
    "tqdm",
    "pettingzoo.classic",
    "mitch_env.adapters",
    "mitch_env.wrappers",
)


def rows() -> dict[str, list[str]]:
    """The table: for each client its version, example, what works, what does not."""
    table = re.search(r"^\| client \|.*\n\|[- |]*\n((?:\|.*\n)+)", README, re.MULTILINE)
    assert table, "README.md has no table of clients"
    found = {}
    for line in table[1].splitlines():
        client, *cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        found[re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", client)] = cells
    return found


def pins(name: str) -> dict[str, str]:
    """The versions of a file of constraints, by package."""
    lines = (ROOT / name).read_text(encoding="utf-8").split()
    return {package.lower().replace("_", "-"): version for package, _, version in (line.partition("==") for line in lines)}


def test_every_client_of_the_table_is_known_here() -> None:
    assert set(rows()) == set(PACKAGES) | NOT_SUPPORTED
    assert all(len(cells) == 4 for cells in rows().values())


@pytest.mark.parametrize("client", PACKAGES)
def test_the_version_of_a_client_is_the_tested_one(client: str) -> None:
    tested = pins("constraints-rllib.txt") if client == "RLlib (ray)" else pins("constraints.txt")
    assert {rows()[client][0]} == {tested[package] for package in PACKAGES[client]}


def test_the_versions_on_the_page_are_the_tested_ones() -> None:
    """In the first sentences of each section."""
    heads = dict(re.findall(r"^## (.+)\n\n((?:.+\n)+)", CLIENTS, re.MULTILINE))
    assert set(heads) == {re.split(r", | \(", client)[0] for client in rows()}
    for client, cells in rows().items():
        if client != "CleanRL style (torch)":
            assert cells[0] in heads[re.split(r", | \(", client)[0]]
    assert f"tensordict {pins('constraints.txt')['tensordict']}" in heads["TorchRL"]
    assert f"Gymnasium {pins('constraints-rllib.txt')['gymnasium']}" in heads["RLlib"]
    assert pins("constraints.txt")["gymnasium"].startswith("1.4.") and "beside Gymnasium 1.4" in heads["RLlib"]


@pytest.mark.parametrize("client", sorted(NOT_SUPPORTED))
def test_what_is_not_supported_has_a_reason_and_no_example(client: str) -> None:
    _, example, works, reason = rows()[client]
    assert (example, works) == ("-", "not supported") and len(reason) > 10
    assert client.lower() not in pins("constraints.txt")


def test_every_example_but_the_demo_belongs_to_a_client_and_is_on_the_page() -> None:
    named = [name for cells in rows().values() for name in re.findall(r"`(examples/\w+\.py)`", cells[1])]
    there = [f"examples/{path.name}" for path in (ROOT / "examples").glob("*.py") if path.name != "demo.py"]
    assert sorted(named) == sorted(there)
    assert [name for name in there if name not in CLIENTS] == []


def test_every_adapter_is_on_the_page() -> None:
    adapters = [path.name for path in (ROOT / "mitch_env/adapters").glob("*.py") if path.name != "__init__.py"]
    assert len(adapters) > 3
    assert [name for name in adapters if f"`mitch_env/adapters/{name}`" not in CLIENTS] == []


def imported_by(code: str) -> set[str]:
    """The optional modules that are loaded in a fresh process after ``code``."""
    ask = f"{code}\nimport sys; print(*(name for name in {OPTIONAL} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


def test_importing_the_package_imports_nothing_that_is_optional() -> None:
    assert imported_by("import mitch_env") == set()
    assert imported_by("import mitch_env.adapters, mitch_env.wrappers") == {"mitch_env.adapters", "mitch_env.wrappers"}
