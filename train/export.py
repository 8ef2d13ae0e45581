"""Exports a policy: one ``.safetensors`` file that ``agents`` plays with numpy alone, and the same as ONNX.

Run ``python train/export.py --help``.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `python train/export.py` finds the packages beside it

import numpy as np
from safetensors.numpy import save as save_tensors

import mitch_env
from agents.agent import ENCODERS
from agents.policy import PolicyAgent, PolicyCard
from agents.safetensors_file import PolicyFileError
from mitch_env import get_game
from mitch_env.options import check_choice
from mitch_env.record_commands import parse_options
from train.files import write_whole

_LIBRARIES = ("numpy", "torch", "stable-baselines3", "sb3-contrib")


def versions() -> dict[str, str]:
    """The versions of what made a policy."""
    found = {"python": platform.python_version(), "mitch-env": mitch_env.__version__}
    for name in _LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def write_policy(path: Path, card: PolicyCard, weights: dict[str, np.ndarray]) -> None:
    """Writes a policy file; it is checked as a reader would before it gets its name.

    Raises:
        PolicyFileError: If a reader would refuse it.
    """
    plain = save_tensors(weights)
    data = plain[8 + int.from_bytes(plain[:8], "little") :]
    metadata = card.to_metadata() | {"weights_hash": hashlib.sha256(data).hexdigest()}
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_bytes(save_tensors(weights, metadata))
    try:
        PolicyAgent.load(unfinished)
    except PolicyFileError:
        unfinished.unlink()
        raise
    unfinished.replace(path)


def write_onnx(path: Path, card: PolicyCard, weights: dict[str, np.ndarray]) -> None:
    """Writes the policy as ONNX: ``observation`` float32[n, inputs] to ``logits`` float32[n, actions], same metadata."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    shape = card.architecture
    activation = {"relu": "Relu", "tanh": "Tanh"}[shape["activation"]]
    nodes, tensors, flow = [], [], "observation"
    names = [f"trunk.{i}" for i in range(len(shape["trunk"]))] + ["policy"]
    for name in names:
        tensors += [numpy_helper.from_array(weights[f"{name}.{part}"], f"{name}.{part}") for part in ("weight", "bias")]
        out = "logits" if name == "policy" else f"{name}.sum"
        nodes.append(helper.make_node("Gemm", [flow, f"{name}.weight", f"{name}.bias"], [out], transB=1))
        if name != "policy":
            flow = f"{name}.out"
            nodes.append(helper.make_node(activation, [out], [flow]))
    graph = helper.make_graph(
        nodes,
        card.game,
        [helper.make_tensor_value_info("observation", TensorProto.FLOAT, ["n", shape["inputs"]])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", shape["actions"]])],
        tensors,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9, producer_name="mitch-env")
    helper.set_model_props(model, card.to_metadata())
    onnx.checker.check_model(model)
    write_whole(path, model.SerializeToString())


def weights_of_sb3(state: dict[str, Any]) -> tuple[dict[str, np.ndarray], list[int]]:
    """Weights by the names of the policy files, and the trunk's widths, from the state of an SB3 MlpPolicy.

    Takes ``MaskableActorCriticPolicy`` (the policy's own layers; its separate value layers are not exported) and
    :class:`train.trunk_policy.TrunkPolicy`.

    Raises:
        PolicyFileError: If the state is of another architecture.
    """
    prefix = "trunk." if any(name.startswith("trunk.") for name in state) else "mlp_extractor.policy_net."
    layers = sorted({int(name.removeprefix(prefix).split(".")[0]) for name in state if name.startswith(prefix)})
    if not layers or "action_net.weight" not in state:
        raise PolicyFileError("the zip holds no MlpPolicy of sb3-contrib's MaskablePPO: layers or action_net are missing")
    sources = {f"trunk.{i}": f"{prefix}{layer}" for i, layer in enumerate(layers)} | {"policy": "action_net"}
    if prefix == "trunk.":
        sources["value"] = "value_net"
    weights = {
        f"{name}.{part}": np.ascontiguousarray(state[f"{source}.{part}"].detach().cpu().numpy(), np.float32)
        for name, source in sources.items()
        for part in ("weight", "bias")
    }
    return weights, [len(weights[f"trunk.{i}.bias"]) for i in range(len(layers))]


def load_sb3(path: Path) -> tuple[dict[str, np.ndarray], list[int], str, int, int]:
    """Weights, trunk, activation, decisions and seed of an SB3 zip. It is unpickled: only for files that you trust."""
    from sb3_contrib import MaskablePPO

    from train.trunk_policy import TrunkPolicy

    path.stat()  # a missing file is told by its own name
    try:
        model = MaskablePPO.load(path, device="cpu")
    except Exception as error:  # whatever unpickling raises
        raise PolicyFileError(f"{path}: no zip of sb3-contrib's MaskablePPO: {error}") from error
    weights, trunk = weights_of_sb3(model.policy.state_dict())
    kind = "relu" if isinstance(model.policy, TrunkPolicy) else model.policy.activation_fn.__name__.lower()
    if kind not in ("relu", "tanh"):
        raise PolicyFileError(f"activation {kind!r}: only relu and tanh can be exported")
    return weights, trunk, kind, int(model.num_timesteps), int(model.seed or 0)


def export_run(run: Path, out: Path | None) -> list[Path]:
    """Exports the latest checkpoint of a run."""
    from train.checkpoints import latest_checkpoint
    from train.config import load_config

    config = load_config(run / "config.yaml")
    checkpoint = latest_checkpoint(run)
    if checkpoint is None:
        raise PolicyFileError(f"{run}: there is no checkpoint to export")
    game, options = get_game(config.game), config.rules()
    weights, trunk, kind, decisions, _ = load_sb3(checkpoint / "model.zip")
    card = PolicyCard.of(
        game,
        options,
        options.players,
        config.encoder,
        trunk,
        activation=kind,
        training=config.__dict__,
        decisions=decisions,
        seed=config.seed,
        versions=versions(),
        evaluation=_evaluation(run, decisions),
    )
    return write_both(out or run / "policy.safetensors", card, weights)


def _evaluation(run: Path, decisions: int) -> dict[str, Any]:
    """What was measured after so many decisions; nothing if that was another policy of the run."""
    path = run / "evaluation.json"
    measured: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return measured if measured.pop("decisions", None) == decisions else {}


def write_both(path: Path, card: PolicyCard, weights: dict[str, np.ndarray]) -> list[Path]:
    """Writes ``path`` and the ``.onnx`` beside it."""
    if path.suffix != ".safetensors":
        raise PolicyFileError(f"{path}: a name that ends in .safetensors is needed")
    write_policy(path, card, weights)
    write_onnx(path.with_suffix(".onnx"), card, weights)
    return [path, path.with_suffix(".onnx")]


def export_sb3(arguments: argparse.Namespace) -> list[Path]:
    """Exports a zip that a user trained with MaskablePPO on one of our environments."""
    print(
        f"warning: {arguments.from_sb3} is unpickled, which can run any code: only do this with files that you trust",
        file=sys.stderr,
    )
    if arguments.game is None or arguments.out is None:
        raise PolicyFileError("--from-sb3 needs --game and --out as well (and --options, --encoder as it was trained)")
    game = get_game(arguments.game)
    options = game.options(parse_options(arguments.options))
    check_choice("encoder", arguments.encoder, ENCODERS)
    weights, trunk, kind, decisions, seed = load_sb3(Path(arguments.from_sb3))
    card = PolicyCard.of(
        game,
        options,
        options.players if arguments.seats_encoded is None else arguments.seats_encoded,
        arguments.encoder,
        trunk,
        activation=kind,
        decisions=decisions,
        seed=seed,
        versions=versions(),
    )
    return write_both(arguments.out, card, weights)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python train/export.py", description=(__doc__ or "").split("\n\n")[0])
    source = top.add_mutually_exclusive_group(required=True)
    source.add_argument("--run", type=Path, help="a folder runs/NAME: its latest checkpoint is exported")
    source.add_argument("--from-sb3", metavar="ZIP", help="a zip of your own from MaskablePPO.save (it is unpickled)")
    top.add_argument("--out", type=Path, help="the .safetensors file; for --run by default policy.safetensors in the run")
    top.add_argument("--game", help="for --from-sb3: what it was trained on")
    top.add_argument("--options", nargs="+", action="extend", default=[], help="for --from-sb3: its rules, JSON or key=value")
    top.add_argument("--encoder", default="flat", help="for --from-sb3: flat (the default) or canonical")
    top.add_argument("--seats-encoded", type=int, help="for --from-sb3: if it was set in training")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Exports; wrong input is a sentence on stderr and exit status 2."""
    known = parser().parse_args(arguments)
    try:
        written = export_run(known.run, known.out) if known.run is not None else export_sb3(known)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"written: {', '.join(map(str, written))}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
