"""Every example runs through with a few updates, and its help suffices to run it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
A_WINDOW = "--total-timesteps 256 --num-envs 8 --num-steps 16 --minibatch-size 64 --matches 8 --threads 1"
#: For each example: the library that it is for, and arguments that make it short; {out} is a folder that is thrown away.
EXAMPLES = {
    "attention_ppo.py": (
        "torch",
        A_WINDOW,
    ),
    "cleanrl_ppo.py": ("torch", A_WINDOW),
    "demo.py": ("numpy", "7"),
    "open_spiel_ismcts.py": ("pyspiel", "--matches 2 --simulations 5"),
    "open_spiel_mccfr.py": ("pyspiel", "--iterations 4 --ranks 3 --reports 1 --matches 10"),
    "pettingzoo_checks.py": ("moviepy", "--game mitchell --cycles 10 --film {out}"),
    "recurrent_ppo.py": (
        "torch",
        A_WINDOW,
    ),
    "rllib_ppo.py": ("ray", "--iterations 1 --decisions 100 --matches 20"),
    "sb3_maskable_ppo.py": ("sb3_contrib", "--timesteps 512 --num-envs 8 --n-steps 32 --matches 16 --threads 1"),
    "tianshou_dqn.py": ("tianshou", "--steps 320 --epochs 1 --tables 2 --matches 2 --self-play"),
    "torchrl_ppo.py": ("torchrl", "--steps 200 --window 100 --matches 2"),
}


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A program of this checkout, from another folder."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600)


def test_every_example_is_run_here_and_named_in_the_readme() -> None:
    there = sorted(path.name for path in (ROOT / "examples").glob("*.py"))
    assert there == sorted(EXAMPLES)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in there if f"examples/{name}" not in readme] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_through(name: str, tmp_path: Path) -> None:
    library, arguments = EXAMPLES[name]
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed here")
    done = run(sys.executable, str(ROOT / "examples" / name), *arguments.format(out=tmp_path / "out").split(), cwd=tmp_path)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    assert len(done.stdout.splitlines()) > 1, "an example tells what came of it"
    assert "nan" not in done.stdout.lower().replace("finance", "")


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "demo.py"])
def test_the_help_of_an_example_explains_each_argument(name: str, tmp_path: Path) -> None:
    library, arguments = EXAMPLES[name]
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed here")
    done = run(sys.executable, str(ROOT / "examples" / name), "--help", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    for flag in [word for word in arguments.split() if word.startswith("--")] + ["--seed"]:
        assert flag in done.stdout, f"{name} --help does not name {flag}"
