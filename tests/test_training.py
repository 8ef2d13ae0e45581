"""Training runs, very small ones: what they write, that a seed repeats them, and that they survive interruptions."""

from __future__ import annotations

import copy
import itertools
import json
import random
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import configure
from stable_baselines3.common.save_util import load_from_zip_file

from agents import View, make_agent
from agents.agent import act
from agents.policy import PolicyAgent
from agents.tournament import Duel
from agents.uniform import RandomAgent
from mitch_env import GAMES, Batch
from train import checkpoints, export, ppo
from train.checkpoints import latest_checkpoint, load_progress, load_snapshots
from train.config import TrainConfig, between, load_config
from train.curves import append_point, draw_curves, forget_after, read_points
from train.ppo import Trainer, main

torch.set_num_threads(1)

ROOT = Path(__file__).parents[1]

#: 512 decisions a window.
TINY: dict[str, Any] = {
    "game": "mitch_jp",
    "options": {"players": 3, "deals": 1},
    "decisions": 2048,
    "tables": 32,
    "window": 16,
    "batch_size": 128,
    "width": 16,
    "depth": 1,
    "self_play": 0.5,
    "opponents": ["snapshots"],
    "snapshot_every": 512,
    "snapshots_kept": 2,
    "evaluate_every": 1024,
    "evaluate_against": ["random"],
    "evaluate_blocks": 2,
    "checkpoint_every": 512,
    "final_blocks": 0,
    "threads": 1,
}


def config_file(folder: Path, **changes: Any) -> Path:
    """A config for a tiny run."""
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY | changes))
    return path


def start(folder: Path, *words: str, status: int = 0, **changes: Any) -> Path:
    """Starts a tiny run, in this process, and returns its folder."""
    assert main(["--config", str(config_file(folder, **changes)), "--runs", str(folder / "runs"), *words]) == status
    return max((folder / "runs").iterdir(), key=lambda path: path.stat().st_mtime)


def resume(run: Path, *words: str, status: int = 0) -> None:
    """Goes on with a run in this process."""
    assert main(["--resume", str(run), *words]) == status


def decisions_of(run: Path) -> int:
    """Up to where the latest checkpoint goes."""
    checkpoint = latest_checkpoint(run)
    assert checkpoint is not None
    return int(load_progress(checkpoint)["decisions"])


def curve(run: Path) -> list[dict[str, Any]]:
    """The points of the curves without what depends on the clock."""
    clock = ("seconds", "decisions_per_second")
    return [{key: value for key, value in point.items() if key not in clock} for point in read_points(run / "curves.jsonl")]


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[int, Callable[[Trainer], None]]]:
    """What else is done when a window has been played: decisions so far -> a function of the trainer; 0 for every window."""
    plans: dict[int, Callable[[Trainer], None]] = {}
    log_window = Trainer._log_window

    def spy(trainer: Trainer) -> None:
        log_window(trainer)
        for when in (0, trainer.num_timesteps):
            if when in plans:
                plans[when](trainer)

    monkeypatch.setattr(Trainer, "_log_window", spy)
    yield plans


def interrupt(trainer: Trainer) -> None:
    """Ctrl-C."""
    raise KeyboardInterrupt


# --- A run from end to end.


@pytest.mark.parametrize("game", GAMES)
def test_a_run_writes_everything_that_it_says(game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = {"game": game, "options": {"players": 3}, "decisions": 1024, "final_blocks": 2}
    run = start(tmp_path, **changes)
    assert run == tmp_path / "runs" / "tiny"
    files = {path.name for path in run.iterdir()}
    events = {name for name in files if name.startswith("events.out.tfevents")}
    assert len(events) == 1 and files - events == {
        "config.yaml",
        "curves.jsonl",
        "curves.png",
        "checkpoints",
        "policy.safetensors",
        "policy.onnx",
        "evaluation.json",
        "tournament.json",
        "tournament.png",
    }
    assert load_config(run / "config.yaml") == TrainConfig(**TINY | changes | {"name": "tiny"})
    for picture in ("curves.png", "tournament.png"):
        assert (run / picture).read_bytes().startswith(b"\x89PNG\r\n")

    points = read_points(run / "curves.jsonl")
    windows = [point for point in points if "scores" not in point]
    assert [point["decisions"] for point in windows] == [512, 1024]
    keys = {"decisions", "seconds", "decisions_per_second", "entropy", "usable", "explained_variance"}
    assert all(keys <= set(point) and 0 < point["entropy"] < 5 and 0 < point["usable"] < 1 for point in windows)
    assert [point["decisions"] for point in points if "scores" in point] == [1024]

    evaluation = json.loads((run / "evaluation.json").read_text())
    assert evaluation.pop("decisions") == 1024
    one = Duel(**evaluation["random"])
    assert (one.a, one.b, one.blocks) == ("policy", "random", 2)
    assert points[-1]["scores"]["random"] == [one.margin, one.low, one.high]
    summary = json.loads((run / "tournament.json").read_text())
    assert [(duel["a"], duel["b"]) for duel in summary["duels"]] == [("random", "policy:tiny"), ("policy:tiny", "random")]

    agent = PolicyAgent.load(run / "policy.safetensors")
    card = agent.card
    assert (card.game, card.decisions, card.seed, card.encoder) == (game, 1024, 1, "canonical")
    assert card.evaluation == evaluation and card.architecture["trunk"] == [16]
    assert TrainConfig(**card.training) == load_config(run / "config.yaml")
    agent.reset(None, np.random.default_rng(0))
    batch = Batch(game, 20, players=3, seed=1)
    assert np.all(batch.mask[np.arange(20), act(agent, batch, np.arange(20))])
    said = capsys.readouterr().out
    assert f"{game}: 1,024 decisions, all files in {run}" in said and "policy:tiny" in said


def test_the_exported_policy_is_the_one_in_the_last_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = start(tmp_path)
    before = PolicyAgent.load(run / "policy.safetensors")
    assert export.main(["--run", str(run), "--out", str(tmp_path / "again.safetensors")]) == 0
    again = PolicyAgent.load(tmp_path / "again.safetensors")
    assert before.card == again.card and before.weights.keys() == again.weights.keys()
    assert all(np.array_equal(before.weights[name], again.weights[name]) for name in before.weights)
    (run / "policy.safetensors").unlink()
    assert export.main(["--run", str(run)]) == 0 and (run / "policy.safetensors").exists()
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "config.yaml").write_text((run / "config.yaml").read_text())
    assert export.main(["--run", str(tmp_path / "empty")]) == 2
    assert "there is no checkpoint to export" in capsys.readouterr().err


def test_the_same_seed_gives_the_same_curve_and_policy(tmp_path: Path) -> None:
    runs = [start(tmp_path), start(tmp_path), start(tmp_path, "seed=2")]
    assert curve(runs[0]) == curve(runs[1]) and curve(runs[0]) != curve(runs[2])
    weights = [PolicyAgent.load(run / "policy.safetensors").weights for run in runs]
    assert all(np.array_equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert any(not np.array_equal(weights[0][name], weights[2][name]) for name in weights[0])


def test_runs_get_new_names_instead_of_being_overwritten(tmp_path: Path) -> None:
    for number, name in enumerate(["tiny", "tiny-2", "tiny-3"]):
        kept = {path: path.read_bytes() for path in (tmp_path / "runs").rglob("*") if path.is_file()}
        assert start(tmp_path, f"seed={number}", decisions=512, evaluate_against=[]) == tmp_path / "runs" / name
        assert all(path.read_bytes() == content for path, content in kept.items())
    assert ppo.new_run("other", tmp_path / "runs") == tmp_path / "runs" / "other"


def test_without_fixed_opponents_there_is_no_evaluation(tmp_path: Path) -> None:
    run = start(tmp_path, evaluate_against=[], final_blocks=2, decisions=512)
    assert json.loads((run / "evaluation.json").read_text()) == {"decisions": 512}
    assert not (run / "tournament.json").exists() and (run / "policy.safetensors").exists()


@pytest.fixture
def _clock_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second passes whenever the trainer looks at its clock, which it does at each step."""
    monkeypatch.setattr(ppo, "time", SimpleNamespace(monotonic=itertools.count().__next__))


@pytest.mark.usefixtures("_clock_of_steps")
def test_max_minutes_stop_a_run_and_more_of_them_let_it_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also if the latest checkpoint is from before the window that is cut off: the time of that window is spent."""
    run = start(tmp_path, decisions=10**9, max_minutes=1, evaluate_against=[])
    assert decisions_of(run) == 1536, "a window takes 16 seconds and a few: the fourth was cut off"
    said = "stopped by max_minutes=1 after 1,536 of 1,000,000,000 decisions; to go on: python train/ppo.py"
    assert f"{said} --resume {run} max_minutes=0\n" in capsys.readouterr().out
    assert PolicyAgent.load(run / "policy.safetensors").card.decisions == decisions_of(run)
    assert load_progress(latest_checkpoint(run) or run)["seconds"] >= 60
    resume(run)
    assert "max_minutes=1.0 are used up: the run is only evaluated and exported" in capsys.readouterr().out
    assert decisions_of(run) == 1536
    resume(run, "max_minutes=2.5")
    assert decisions_of(run) > 1536 and load_progress(latest_checkpoint(run) or run)["seconds"] >= 150
    assert load_config(run / "config.yaml").max_minutes == 2.5, "changes stay with the run"


@pytest.mark.usefixtures("_clock_of_steps")
def test_a_checkpoint_that_is_there_already_tells_of_no_snapshot_that_it_lacks(tmp_path: Path) -> None:
    """The snapshot that is due there is taken when the run goes on, and again after a window that was cut off."""
    run = start(tmp_path, decisions=512, evaluate_against=[])
    checkpoint = latest_checkpoint(run)
    assert checkpoint is not None
    before = load_progress(checkpoint)
    assert before["done_at"]["snapshot"] == 0 and load_snapshots(checkpoint) == []
    resume(run, "decisions=100000", "window=1024", "max_minutes=1")
    after = load_progress(checkpoint)
    assert latest_checkpoint(run) == checkpoint and after["seconds"] >= 60
    assert after == before | {"seconds": after["seconds"]} and load_snapshots(checkpoint) == []


def test_a_run_of_less_than_a_window_does_not_learn_backwards(tmp_path: Path) -> None:
    """The one window goes far beyond the end of the run: the step size is that of the end, not below 0."""
    rates: list[float] = []
    step = torch.optim.Adam.step

    def spy(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        rates.extend(group["lr"] for group in optimizer.param_groups)
        return step(optimizer, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.Adam, "step", spy)
        start(tmp_path, decisions=10, evaluate_against=[], learning_rate=[1e-3, 1e-4])
    assert rates and set(rates) == {1e-4}


def test_annealing_is_linear_and_stops_at_the_end() -> None:
    assert [between([0.5, 0.1], done) for done in (0, 0.5, 1, 4)] == pytest.approx([0.5, 0.3, 0.1, 0.1])


# --- The update.


class First(RandomAgent):
    """A teacher: the first legal action."""

    def act_batch(self, view: View) -> np.ndarray:
        return np.argmax(view.mask, 1)


def test_without_a_teacher_the_update_is_that_of_sb3_contrib(monkeypatch: pytest.MonkeyPatch) -> None:
    config, states = TrainConfig(**TINY, epochs=3), []
    for kind in (ppo.SeatPPO, MaskablePPO):
        monkeypatch.setattr(ppo, "SeatPPO", kind)
        model = ppo.make_model(config, ppo.make_env(config, 1, []))
        assert type(model) is kind
        model.set_logger(configure(None, []))
        model.learn(1024)
        states.append(model.policy.state_dict())
    assert all(torch.allclose(states[0][name], states[1][name], atol=1e-6) for name in states[0])


def test_the_policy_imitates_its_teacher_at_first(
    tmp_path: Path, at: dict[int, Callable[[Trainer], None]], capsys: pytest.CaptureFixture[str]
) -> None:
    is_taught: list[bool] = []
    rates: list[float] = []
    agreement: list[float] = []

    def look(trainer: Trainer) -> None:
        model: Any = trainer.model
        assert (trainer.env.teacher is not None) == model.is_imitating
        is_taught.append(model.is_imitating)
        rates.append(trainer.config.learning_rate_at(trainer.num_timesteps / trainer.config.decisions))
        masks = model.rollout_buffer.action_masks
        agreement.append(float((model.rollout_buffer.actions[..., 0] == masks.argmax(2))[masks.sum(2) > 1].mean()))
        if trainer.env.teacher is not None:
            assert np.array_equal(model.rollout_buffer.taught, masks.argmax(2))

    at[0] = look
    changes = {"decisions": 4096, "encoder": "flat", "evaluate_against": [], "learning_rate": [1e-3, 0.0]}
    changes |= {"opponents": ["random"], "checkpoint_every": 10**9, "self_play": 1.0}
    taught = {"teacher": "test_training:First", "teacher_decisions": 3072, "teacher_learning_rate": [2e-2, 1e-2]}
    start(tmp_path, **taught, **changes)
    assert is_taught == [True] * 6 + [False] * 2
    assert "4,096 decisions (3,072 of them to imitate test_training:First), all files in" in capsys.readouterr().out
    # An update's step size is that of its window's end.
    assert rates == pytest.approx([2e-2 - 1e-2 * n / 6 for n in range(1, 6)] + [1e-3, 5e-4, 0.0])
    with_teacher = list(agreement)
    agreement.clear()
    start(tmp_path, **changes)
    assert with_teacher[6] > max(agreement) + 0.2, "without a teacher nothing leads there"


def test_imitation_follows_no_rewards() -> None:
    """The policy's logits do not depend on what was paid while it imitates, those of PPO do."""
    for imitates in (True, False):
        after = []
        for reward in ("points", "relative"):
            config = TrainConfig(**{**TINY, "opponents": ["random"], "window": 64, "reward": reward, "value_weight": 0.0})
            env = ppo.make_env(config, 1, [])
            env.teacher = First()
            model = ppo.make_model(config, env)
            model.is_imitating = imitates
            model.set_logger(configure(None, []))
            model.learn(2048)
            after.append(model.policy.state_dict()["action_net.weight"])
        assert torch.equal(after[0], after[1]) == imitates


# --- Opponents.


@pytest.mark.parametrize("opponents", [["snapshots"], ["random", "snapshots"], ["random", "snapshots", "random"], ["random"]])
def test_the_opponents_are_the_named_ones_and_the_latest_snapshots(
    opponents: list[str], tmp_path: Path, at: dict[int, Callable[[Trainer], None]]
) -> None:
    fixed = [name for name in opponents if name != "snapshots"]
    seen: list[list[str]] = []
    at[0] = lambda trainer: seen.append([one.name for one in trainer.env.opponents])
    at[1536] = interrupt
    run = start(tmp_path, status=130, opponents=opponents)
    del at[1536]
    resume(run)
    kept = ["snapshot"] * 2 if "snapshots" in opponents else []
    expected = [fixed + kept[:n] for n in (0, 1, 2)] + [fixed + kept[:n] for n in (2, 2)]
    assert seen == [one or ["random"] for one in expected], "somebody stands in until there is a snapshot"


def test_snapshots_are_frozen_copies(tmp_path: Path, at: dict[int, Callable[[Trainer], None]]) -> None:
    """Training on, dropping old ones, checkpoints and a resume leave them as they were, bit by bit."""
    kept: dict[int, dict[str, bytes]] = {}
    known: dict[int, int] = {}

    def look(trainer: Trainer) -> None:
        n_taken = trainer.num_timesteps // 512 - 1
        present = trainer.snapshots
        assert len(present) == min(n_taken, 2)
        for number, weights in zip(range(n_taken - len(present) + 1, n_taken + 1), present, strict=True):
            as_bytes = {name: array.tobytes() for name, array in weights.items()}
            assert kept.setdefault(number, as_bytes) == as_bytes, f"snapshot {number} changed"
            known[number] = known.get(number, 0) + 1
        agents: Any = trainer.env.opponents
        for agent, weights in zip(agents[-len(present) :], present, strict=False) if present else []:
            assert all(agent.weights[name].tobytes() == weights[name].tobytes() for name in weights)
        current: Any = trainer.model.policy
        is_current = [one["policy.bias"].tobytes() == current.weights()["policy.bias"].tobytes() for one in present]
        assert is_current == [False, True][-len(present) :] * bool(present), "the latest was taken after the last update"

    at[0] = look
    at[2560] = interrupt
    run = start(tmp_path, status=130, decisions=3584, evaluate_against=[])
    del at[2560]
    checkpoint = latest_checkpoint(run)
    assert checkpoint is not None and checkpoint.name == "000000002048"
    stored = load_snapshots(checkpoint)
    assert [{name: array.tobytes() for name, array in one.items()} for one in stored] == [kept[3], kept[4]]
    resume(run)
    assert len(kept) == 6 and len({one["policy.weight"] for one in kept.values()}) == 6
    assert known[3] >= 3, "a snapshot was seen before and after the resume"


# --- Going on.


def test_a_resumed_run_goes_on_from_the_latest_checkpoint(
    tmp_path: Path, at: dict[int, Callable[[Trainer], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the weights and the optimizer of the checkpoint, and no point of the curves missing or twice."""
    whole = start(tmp_path)
    at[1536] = interrupt
    run = start(tmp_path, status=130)
    del at[1536]
    assert decisions_of(run) == 1024, "the window that was cut off is lost"
    assert [point["decisions"] for point in curve(run)] == [512, 1024, 1024, 1536]
    checkpoint = latest_checkpoint(run)
    assert checkpoint is not None
    stored: Any = load_from_zip_file(checkpoint / "model.zip", device="cpu")[1]
    found: list[Any] = []
    begin = Trainer._on_training_start

    def look(trainer: Trainer) -> None:
        begin(trainer)
        found.append(copy.deepcopy(trainer.model.get_parameters()))
        assert trainer.num_timesteps == 1024 and trainer.seconds() > load_progress(checkpoint)["seconds"] > 0

    monkeypatch.setattr(Trainer, "_on_training_start", look)
    resume(run)
    assert found[0]["policy"].keys() == stored["policy"].keys()
    assert all(torch.equal(found[0]["policy"][name], stored["policy"][name]) for name in stored["policy"])
    mine, theirs = (one["policy.optimizer"]["state"] for one in (found[0], stored))
    assert mine.keys() == theirs.keys() and len(mine) == len(stored["policy"])
    for key in mine:
        assert all(torch.equal(mine[key][part], theirs[key][part]) for part in ("exp_avg", "exp_avg_sq", "step"))
    assert decisions_of(run) == decisions_of(whole) == 2048
    assert [point["decisions"] for point in curve(run)] == [point["decisions"] for point in curve(whole)]
    assert PolicyAgent.load(run / "policy.safetensors").card.decisions == 2048


def test_the_step_size_and_the_entropy_bonus_follow_their_lines_through_a_resume(
    tmp_path: Path, at: dict[int, Callable[[Trainer], None]]
) -> None:
    """In the update after ``n`` decisions: the step size of ``n``, the entropy bonus of the window's beginning."""
    used: dict[int, set[tuple[float, float]]] = {}
    step = torch.optim.Adam.step
    now: list[Trainer] = []
    at[0] = now.append

    def spy(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        model: Any = now[-1].model
        used.setdefault(model.num_timesteps, set()).add((optimizer.param_groups[0]["lr"], model.ent_coef))
        return step(optimizer, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.Adam, "step", spy)
        at[1536] = interrupt
        run = start(tmp_path, status=130, evaluate_against=[], learning_rate=[1e-2, 0], entropy=[0.08, 0.0])
        del at[1536]
        resume(run)
    for decisions in (512, 1024, 1536, 2048):
        left, left_at_begin = 1 - decisions / 2048, 1 - (decisions - 512) / 2048
        (one,) = used[decisions]
        assert one == pytest.approx((1e-2 * left, 0.08 * left_at_begin))


def test_a_finished_run_can_be_resumed_and_made_longer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = start(tmp_path, decisions=1024, evaluate_against=[])
    before = PolicyAgent.load(run / "policy.safetensors").weights
    resume(run)
    assert "decisions=1024 are used up" in capsys.readouterr().out
    again = PolicyAgent.load(run / "policy.safetensors")
    assert again.card.decisions == 1024 and all(np.array_equal(before[name], again.weights[name]) for name in before)
    resume(run, "decisions=1536")
    longer = PolicyAgent.load(run / "policy.safetensors")
    assert longer.card.decisions == 1536 and not np.array_equal(before["policy.bias"], longer.weights["policy.bias"])
    assert load_config(run / "config.yaml").decisions == 1536
    assert len(list((run / "checkpoints").iterdir())) == 2


def test_what_cannot_be_resumed_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = start(tmp_path, decisions=512, evaluate_against=[])
    kept = (run / "config.yaml").read_bytes()
    cases = [
        ("width=32", "width=32: the run was begun with 16"),
        ("name=other", "name='other': the run was begun with 'tiny'"),
        ("depth=2", "depth=2: the run was begun with 1"),
        ("encoder=flat", "encoder='flat': the run was begun with 'canonical'"),
        ("game=mitch_ru", "game='mitch_ru': the run was begun with 'mitch_jp'"),
        ("options.players=4", "players=4: the run was begun with 3"),
        ("opponents=[rulle]", "unknown agent 'rulle'"),
        ("window=0", "window=0"),
    ]
    for word, words in cases:
        resume(run, word, status=2)
        assert words in capsys.readouterr().err and (run / "config.yaml").read_bytes() == kept
    new = ppo.new_run("new", tmp_path / "runs")
    (new / "config.yaml").write_bytes(kept)
    resume(new, status=2)
    assert "there is no checkpoint to go on from; start anew with --config" in capsys.readouterr().err


def test_a_policy_for_other_seats_is_told_before_training_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = start(tmp_path, decisions=512, evaluate_against=[]) / "policy.safetensors"
    changes = {"evaluate_against": [f"policy:{policy}"], "options": {"players": 4}}
    arguments = ["--config", str(config_file(tmp_path, **changes)), "--runs", str(tmp_path / "more")]
    assert main(arguments) == 2 and "seats_encoded=3, here are players=4" in capsys.readouterr().err
    assert not (tmp_path / "more").exists()


# --- Interruptions.


@pytest.mark.parametrize("moment", ["model", "snapshot", "progress", "rename", "stale"])
def test_a_kill_while_a_checkpoint_is_written_leaves_a_complete_one(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the model, after a snapshot, before the counters, before it gets its name, and while an old one is removed."""
    places: dict[str, tuple[Any, str, bool]] = {
        "model": (ppo.SeatPPO, "save", True),
        "snapshot": (checkpoints.np, "savez", True),
        "progress": (checkpoints.json, "dumps", False),
        "rename": (Path, "rename", False),
        "stale": (checkpoints.shutil, "rmtree", False),
    }
    owner, name, is_done = places[moment]
    real, save = getattr(owner, name), Trainer.save
    is_armed: list[bool] = []

    def broken(*args: Any, **kwargs: Any) -> Any:
        if not is_armed or (moment == "stale" and args[0].name == "unfinished"):
            return real(*args, **kwargs)
        if is_done:
            real(*args, **kwargs)
        raise KeyboardInterrupt

    def arm(trainer: Trainer) -> None:
        if trainer.num_timesteps == 1536:
            is_armed.append(True)
        save(trainer)

    monkeypatch.setattr(Trainer, "save", arm)
    monkeypatch.setattr(owner, name, broken)
    run = start(tmp_path, status=130, evaluate_against=[])
    monkeypatch.undo()
    assert is_armed and decisions_of(run) == (1536 if moment == "stale" else 1024)
    checkpoint = latest_checkpoint(run)
    assert checkpoint is not None and len(load_snapshots(checkpoint)) == 2
    resume(run)
    assert decisions_of(run) == 2048
    assert sorted(path.name for path in (run / "checkpoints").iterdir()) == ["000000001536", "000000002048"]


def begin(arguments: list[str]) -> subprocess.Popen[str]:
    """A run in a process of its own."""
    command = [sys.executable, str(ROOT / "train" / "ppo.py"), *arguments]

    def heeds_ctrl_c() -> None:  # what a shell starts in the background does not
        signal.signal(signal.SIGINT, signal.default_int_handler)

    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=ROOT, preexec_fn=heeds_ctrl_c, **pipes)


def wait_for(process: subprocess.Popen[str], run: Path, decisions: int) -> None:
    """Waits until a checkpoint goes that far."""
    limit = time.monotonic() + 240
    while (checkpoint := latest_checkpoint(run)) is None or int(checkpoint.name) < decisions:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < limit
        time.sleep(0.02)


def test_a_killed_and_an_interrupted_process_leave_a_run_that_goes_on(tmp_path: Path) -> None:
    """SIGKILL, then Ctrl-C, at moments that nobody chose."""
    run, rng = tmp_path / "runs" / "tiny", random.Random()
    config = config_file(tmp_path, decisions=10**9, evaluate_every=10**9)
    process = begin(["--config", str(config), "--runs", str(tmp_path / "runs")])
    wait_for(process, run, 512)
    time.sleep(rng.random())
    process.send_signal(signal.SIGKILL)
    process.communicate()
    killed_at = decisions_of(run)

    process = begin(["--resume", str(run)])
    wait_for(process, run, killed_at + 512)
    time.sleep(rng.random())
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=120)
    assert process.returncode == 130 and f"interrupted; to go on: python train/ppo.py --resume {run}" in error
    interrupted_at = decisions_of(run)
    assert interrupted_at > killed_at

    resume(run, f"decisions={interrupted_at + 1024}")
    assert decisions_of(run) == interrupted_at + 1024
    windows = [point["decisions"] for point in read_points(run / "curves.jsonl") if "scores" not in point]
    assert windows == list(range(512, interrupted_at + 1025, 512)), "no window is missing, none stands twice"
    assert PolicyAgent.load(run / "policy.safetensors").card.decisions == interrupted_at + 1024


# --- Curves.


def test_curves_survive_a_line_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "curves.jsonl"
    assert read_points(path) == []
    for decisions in (10, 20, 30):
        append_point(path, {"decisions": decisions, "entropy": 1.5})
    with path.open("a") as file:
        file.write('{"decisions": 40, "entr')
    assert [point["decisions"] for point in read_points(path)] == [10, 20, 30]
    forget_after(path, 20)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"decisions": 10, "entropy": 1.5},
        {"decisions": 20, "entropy": 1.5},
    ]
    assert [one.name for one in tmp_path.iterdir()] == ["curves.jsonl"]


@pytest.mark.parametrize("n_scores", [0, 1, 3])
def test_curves_are_drawn_whatever_is_known(n_scores: int, tmp_path: Path) -> None:
    points: list[dict[str, Any]] = [{"decisions": 100, "entropy": 2.0}, {"decisions": 200, "deal_length": 30.0}]
    points += [{"decisions": 100 * i, "scores": {"random": [i, i - 1, i + 1]}} for i in range(n_scores)]
    draw_curves(points, tmp_path / "curves.png", "title")
    draw_curves([*points, {"decisions": 900, "scores": {}}], tmp_path / "empty.png", "title")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG\r\n")


# --- What must not be half-done.


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["evaluate_against=['']"], "unknown agent ''"),
        (["opponents=[null]"], "unknown agent ''"),
        (["opponents=['agents.rule_mitchell:MitchellRuleAgent']"], "rule cannot play mitch_jp with these options"),
        (["teacher=agents.rule_mitchell:MitchellRuleAgent"], "rule cannot play mitch_jp with these options"),
        (["name=../elsewhere"], "name='../elsewhere': letters"),
        (["name=.."], "name='..': letters"),
        (["name=/elsewhere"], "name='/elsewhere': letters"),
    ],
)
def test_what_cannot_work_is_refused_before_there_is_a_folder(
    words: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--config", str(config_file(tmp_path)), "--runs", str(tmp_path / "runs"), *words]) == 2
    assert reason in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_an_empty_teacher_is_none_and_empty_options_are_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("game: mitch_ru\noptions:\nteacher: rule\n")
    config = load_config(path, ["teacher="])
    assert config.teacher == "" and config.options == {}


def test_the_run_s_own_name_may_be_that_of_an_opponent(tmp_path: Path) -> None:
    first = start(tmp_path, decisions=512, evaluate_against=[], final_blocks=0)
    other = [f"policy:{first / 'policy.safetensors'}"]
    config = str(config_file(tmp_path, decisions=512, evaluate_against=other, final_blocks=2))
    assert main(["--config", config, "--runs", str(tmp_path / "others")]) == 0
    summary = json.loads((tmp_path / "others" / "tiny" / "tournament.json").read_text())
    assert [(one["a"], one["b"]) for one in summary["duels"]] == [
        ("policy:tiny", "policy:tiny (2)"),
        ("policy:tiny (2)", "policy:tiny"),
    ]


def test_a_run_that_is_asked_for_less_than_is_done_stays_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = start(tmp_path, decisions=1024, evaluate_against=[])
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    for words, reason in [
        (["decisions=600"], "decisions=600: 1024 are done"),
        (["decisions=9000", "max_minutes=0.00001"], "max_minutes=1e-05: they are over"),
    ]:
        resume(run, *words, status=2)
        assert reason in capsys.readouterr().err
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("damage", ["model.zip", "progress.json", "snapshot_000.npz"])
def test_a_damaged_checkpoint_is_told_and_nothing_changes(
    damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = start(tmp_path, decisions=1536, evaluate_against=[])
    checkpoint = latest_checkpoint(run)
    assert checkpoint is not None
    (checkpoint / damage).write_bytes((checkpoint / damage).read_bytes()[:-30])
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    resume(run, "decisions=4096", status=2)
    said = capsys.readouterr().err
    assert f"{checkpoint} is damaged" in said and "without this folder the one before it is taken" in said
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
    resume(tmp_path, status=2)
    assert "is no run: there is no config.yaml in it" in capsys.readouterr().err


def test_a_resumed_run_has_the_opponents_that_its_config_names_now(tmp_path: Path, at: Any) -> None:
    run = start(tmp_path, decisions=2048, evaluate_against=[], opponents=["random", "snapshots"], snapshots_kept=3)
    seen: list[list[str]] = []
    at[0] = lambda trainer: seen.append([one.name for one in trainer.env.opponents])
    resume(run, "decisions=2560", "snapshots_kept=1")
    assert seen.pop() == ["random", "snapshot"]
    resume(run, "decisions=3072", "opponents=[random]")
    assert seen.pop() == ["random"]


@pytest.mark.usefixtures("_clock_of_steps")
def test_decisions_that_were_not_learnt_from_are_not_counted(tmp_path: Path) -> None:
    run = start(tmp_path, decisions=10**6, max_minutes=0.2, evaluate_against=[])
    assert PolicyAgent.load(run / "policy.safetensors").card.decisions == 0 == decisions_of(run)


@pytest.mark.usefixtures("_clock_of_steps")
def test_the_command_to_go_on_can_be_pasted_whatever_the_folder_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    run = start(folder, decisions=10**6, max_minutes=1, evaluate_against=[])
    words = shlex.split(capsys.readouterr().out.split("to go on: python train/ppo.py ")[1].split("\n")[0])
    assert words == ["--resume", str(run), "max_minutes=0"]


def test_a_file_that_cannot_be_written_ends_a_run_with_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = start(tmp_path, decisions=512, evaluate_against=[])
    in_the_way = run / "evaluation.json.unfinished"
    in_the_way.mkdir()
    resume(run, "decisions=1024", status=1)
    said = capsys.readouterr().err
    assert str(in_the_way) in said and f"to go on from the latest checkpoint: python train/ppo.py --resume {run}\n" in said
    in_the_way.rmdir()
    resume(run)
    assert decisions_of(run) == json.loads((run / "evaluation.json").read_text())["decisions"] == 1024


def test_an_evaluation_of_other_weights_is_not_exported(tmp_path: Path, at: dict[int, Callable[[Trainer], None]]) -> None:
    run = start(tmp_path, decisions=1024)
    assert PolicyAgent.load(run / "policy.safetensors").card.evaluation.keys() == {"random"}
    assert export.main(["--run", str(run)]) == 0
    assert PolicyAgent.load(run / "policy.safetensors").card.evaluation.keys() == {"random"}
    at[2048] = interrupt
    resume(run, "decisions=4096", status=130)
    assert export.main(["--run", str(run)]) == 0
    assert PolicyAgent.load(run / "policy.safetensors").card.evaluation == {}


def test_ctrl_c_in_the_tournament_says_where_the_policy_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ppo, "final_tournament", interrupted)
    run = start(tmp_path, status=130, decisions=512, final_blocks=2)
    assert f"the policy is exported: {run / 'policy.safetensors'}" in capsys.readouterr().err


# --- Strength.


@pytest.mark.slow
def test_a_run_killed_at_half_and_resumed_is_as_strong_as_one_without_a_break(tmp_path: Path) -> None:
    changes = {
        "decisions": 600_000,
        "tables": 256,
        "window": 64,
        "batch_size": 2048,
        "width": 64,
        "depth": 2,
        "opponents": ["random", "snapshots"],
        "snapshot_every": 100_000,
        "evaluate_every": 10**9,
        "evaluate_blocks": 400,
        "checkpoint_every": 50_000,
    }
    whole = start(tmp_path, "name=whole", **changes)
    process = begin(["--config", str(config_file(tmp_path, **changes)), "--runs", str(tmp_path / "runs")])
    run = tmp_path / "runs" / "tiny"
    wait_for(process, run, 300_000)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert 300_000 <= decisions_of(run) < 600_000
    resume(run)
    scores = [Duel(**json.loads((one / "evaluation.json").read_text())["random"]) for one in (whole, run)]
    assert min(one.low for one in scores) > 2, "both have learnt to beat random play"
    assert scores[0].low < scores[1].high and scores[1].low < scores[0].high, scores
    assert make_agent(f"policy:{run / 'policy.safetensors'}", "mitch_jp").name == "policy:tiny"
