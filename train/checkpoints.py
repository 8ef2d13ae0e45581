"""Checkpoints that survive an interruption at any moment: a folder gets its name only when it is complete."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.save_util import load_from_zip_file

from train.files import write_whole

#: Complete checkpoints that are kept.
_KEPT = 2


def latest_checkpoint(run: Path) -> Path | None:
    """The folder of the latest complete checkpoint of a run."""
    folders = sorted(path for path in (run / "checkpoints").glob("[0-9]*") if path.is_dir())
    return folders[-1] if folders else None


def save_checkpoint(run: Path, model: Any, snapshots: list[dict[str, np.ndarray]], progress: dict[str, Any]) -> Path:
    """Saves the model (weights and optimizer), the opponents' snapshots and the counters.

    The tables are not saved: a resumed run deals new matches.

    Args:
        run: The run's folder.
        model: The MaskablePPO; its env is a TableVecEnv.
        snapshots: Weights of earlier policies, oldest first.
        progress: Counters, ready for JSON.
    """
    final = run / "checkpoints" / f"{model.num_timesteps:012d}"
    if final.exists():  # nothing has been learnt since, but time has passed; what else is there belongs together and stays
        write_whole(final / "progress.json", json.dumps(load_progress(final) | {"seconds": progress["seconds"]}))
        return final
    unfinished = run / "checkpoints" / "unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    model.save(unfinished / "model.zip", exclude=["rollout_buffer_kwargs", "rollout_buffer_class"])
    for number, weights in enumerate(snapshots):
        np.savez(unfinished / f"snapshot_{number:03d}.npz", **weights)
    (unfinished / "progress.json").write_text(json.dumps(progress))
    unfinished.rename(final)
    for stale in sorted(path for path in (run / "checkpoints").glob("[0-9]*"))[:-_KEPT]:
        shutil.rmtree(stale, ignore_errors=True)
    return final


def load_snapshots(checkpoint: Path) -> list[dict[str, np.ndarray]]:
    """The opponents' snapshots of a checkpoint, oldest first."""
    return [dict(np.load(path)) for path in sorted(checkpoint.glob("snapshot_*.npz"))]


def load_progress(checkpoint: Path) -> dict[str, Any]:
    """The counters of a checkpoint."""
    progress: dict[str, Any] = json.loads((checkpoint / "progress.json").read_text())
    return progress


def check_checkpoint(checkpoint: Path) -> dict[str, Any]:
    """The counters of a checkpoint, all of which can be read.

    Raises:
        ValueError: If a file is missing or damaged.
    """
    try:
        progress = load_progress(checkpoint)
        if not isinstance(progress["decisions"], int) or not isinstance(progress["seconds"], (int, float)):
            raise ValueError("progress.json lacks numbers")
        load_snapshots(checkpoint)
        _, parameters, _ = load_from_zip_file(checkpoint / "model.zip", device="cpu")
        if not {"policy", "policy.optimizer"} <= parameters.keys():
            raise ValueError("model.zip lacks the policy or the optimizer")
    except Exception as error:  # whatever zipfile, json, numpy and torch raise
        raise ValueError(f"{checkpoint} is damaged: {error}; without this folder the one before it is taken") from error
    return progress
