"""What the pages say of client libraries: versions, programs and adapters; and that nobody pays for what is not used."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from test_cards import table_with
from test_docs import ROOT, page

#: Which package each client's version is the version of.
PACKAGES = {
    "PettingZoo": "pettingzoo",
    "stable-baselines3": "stable_baselines3",
    "CleanRL style": "torch",
    "TorchRL": "torchrl",
    "Tianshou": "tianshou",
    "RLlib": "ray",
    "OpenSpiel": "open-spiel",
    "SuperSuit": "supersuit",
}
#: What importing the environments must not import.
HEAVY = (
    *("torch", "stable_baselines3", "sb3_contrib", "torchrl", "tianshou", "ray", "pyspiel", "supersuit", "matplotlib", "tqdm"),
    *("PIL", "pettingzoo.classic", "mitch_env.adapters", "mitch_env.wrappers", "mitch_env.records", "agents"),
)


def pins(name: str) -> dict[str, str]:
    """The version of each package in a constraints file."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    found = dict(line.partition("==")[::2] for line in lines if "==" in line)
    return {package.lower(): version for package, version in found.items()}


def clients() -> dict[str, tuple[str, str]]:
    """Version and programs of each client of the README's table."""
    table = table_with(page("README.md"), "client", "version", "program", "works", "does not")
    return {re.sub(r"\[(.*)\]\(.*\)", r"\1", row[0]): (row[1], row[2]) for row in table.rows}


@pytest.mark.parametrize("client", PACKAGES)
def test_the_version_of_a_client_is_the_pinned_one(client: str) -> None:
    version = clients()[client][0].rpartition(" ")[2]
    assert pins("constraints-rllib.txt" if client == "RLlib" else "constraints.txt")[PACKAGES[client]] == version
    named = {"One file of torch" if client == "CleanRL style" else client}
    section = page("docs/clients.md").partition(f"## {named.pop()}\n")[2].partition("\n## ")[0]
    assert section and (client == "CleanRL style" or version in section)


def test_every_client_has_a_program_or_says_why_not() -> None:
    for client, (_, programs) in clients().items():
        named = re.findall(r"`(examples/\w+\.py)`", programs)
        assert named or client in ("SuperSuit", "AgileRL"), client
        assert [program for program in named if not (ROOT / program).is_file()] == []
    assert "requires PettingZoo below 1.27" in page("docs/clients.md")


def test_every_adapter_is_on_the_page() -> None:
    adapters = {path.stem for path in (ROOT / "mitch_env" / "adapters").glob("*.py")} - {"__init__", "explicit_chance"}
    named = set(re.findall(r"mitch_env\.adapters\.(\w+)", page("docs/clients.md")))
    assert adapters == named == {"sb3", "tianshou", "rllib", "open_spiel"}


def test_making_an_environment_imports_no_client() -> None:
    code = "import sys, mitch_env; env = mitch_env.make('mitch_jp'); env.reset(seed=1); env.last(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "mitch_env.aec" in done.stdout.split()
    assert [name for name in HEAVY if name in done.stdout.split()] == []
