"""The wheel: built, installed where the checkout is not in sight, and played from an empty folder."""

from __future__ import annotations

import email
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import mitch_env

CHECKOUT = Path(__file__).parent.parent
IN_THE_WHEEL = ("mitch_env", "agents")
#: What pip says when it does not reach an index, or finds nothing there.
_NO_INDEX = re.compile(r"No matching distribution|Could not find a version|Connection|ReadTimeout|Temporary failure")

PLAY = """
import json, sys
import numpy as np, mitch_env
env = mitch_env.make("mitch_jp", players=2, deals=1)
env.reset(seed=1)
while not env.terminations[env.agent_selection]:
    env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
print(json.dumps({"file": mitch_env.__file__, "path": sys.path, "totals": env.record()["totals"]}))
"""


def copy_of_checkout(folder: Path) -> Path:
    """All that a build could pick up, without leaving build files in the checkout."""
    folder.mkdir()
    for path in CHECKOUT.iterdir():
        if path.is_file() and not path.name.startswith("."):
            shutil.copy(path, folder)
        elif path.is_dir() and any(path.glob("*.py")):
            shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    return folder


def has_setuptools() -> bool:
    if importlib.util.find_spec("setuptools") is None:
        return False
    return int(importlib.metadata.version("setuptools").partition(".")[0]) >= 77  # as pyproject.toml asks


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    home = tmp_path_factory.mktemp("wheel")
    source = copy_of_checkout(home / "source")
    command = [sys.executable, "-m", "pip", "wheel", str(source), "--no-deps", "-w", str(home / "dist")]
    if has_setuptools():
        command += ["--no-build-isolation", "--no-index"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=home, timeout=300)
    if done.returncode and not has_setuptools() and _NO_INDEX.search(done.stderr):
        pytest.skip("setuptools is not installed, and no package index can be reached to get it from")
    assert done.returncode == 0, done.stderr
    (file,) = (home / "dist").glob("*.whl")
    return file


def test_the_wheel_holds_the_environments_and_the_agents_whole_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    assert "mitch_env/py.typed" in names
    folders = {name.partition("/")[0] for name in names}
    assert folders - {*IN_THE_WHEEL} == {f"mitch_env-{mitch_env.__version__}.dist-info"}
    for package in IN_THE_WHEEL:
        for path in (CHECKOUT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert path.relative_to(CHECKOUT).as_posix() in names


def test_its_metadata_names_what_it_needs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (file,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(file))
    assert metadata["Version"] == mitch_env.__version__
    assert metadata["License-Expression"] == "MIT"
    assert metadata["License-File"] == "LICENSE"
    assert len(str(metadata.get_payload())) > 200  # the README
    needed = [one for one in metadata.get_all("Requires-Dist", []) if "extra ==" not in one]
    assert sorted(re.split(r"[<>=]", one)[0] for one in needed) == ["gymnasium", "numba", "numpy", "pettingzoo"]


def test_it_plays_from_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    """In a virtual environment that sees the installed libraries, but not this checkout."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True, timeout=120)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", "-q", str(wheel)]
    done = subprocess.run(install, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    (installed,) = tmp_path.glob("venv/[Ll]ib/**/site-packages/mitch_env")
    libraries = {
        str(Path(str(importlib.util.find_spec(name).origin)).parent.parent) for name in ("numpy", "numba", "gymnasium")
    }  # type: ignore[union-attr]
    (installed.parent / "libraries.pth").write_text("\n".join(libraries))
    empty = tmp_path / "empty"
    empty.mkdir()
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    environment["MITCH_ENV_CACHE"] = str(tmp_path / "cache")

    def run(*words: str, text: str = "") -> str:
        done = subprocess.run(
            [str(python), *words], input=text, capture_output=True, text=True, cwd=empty, env=environment, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    played = json.loads(run("-c", PLAY))
    assert Path(played["file"]).parent == installed
    assert str(CHECKOUT) not in played["path"]
    assert played["totals"] == play_here()
    records = run("-m", "mitch_env.records", "generate", "--game", "mitch_jp", "--seed", "3")
    assert run("-m", "mitch_env.records", "replay", "-", text=records) == "1 records ok, 0 with problems\n"
    assert run("-c", "import agents; print(agents.__file__)").strip() == str(installed.parent / "agents" / "__init__.py")
    assert list(empty.iterdir()) == []


def play_here() -> list[int]:
    """What the same lines say in this checkout."""
    done = subprocess.run(
        [sys.executable, "-c", PLAY],
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        check=True,
        env={**os.environ, "PYTHONPATH": "."},
    )
    totals: list[int] = json.loads(done.stdout)["totals"]
    return totals
