"""Exported policies: the same in torch, numpy and ONNX, complete, played without torch, and refused if anything is wrong."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from sb3_contrib import MaskablePPO
from scipy.stats import chisquare
from torch import nn

from agents import make_agent
from agents.agent import act, view_of
from agents.policy import PolicyAgent, PolicyCard
from agents.safetensors_file import PolicyFileError, read_safetensors
from mitch_env import GAMES, Batch, get_game
from train import export
from train.export import versions, write_both, write_policy
from train.trunk_policy import TrunkPolicy

torch.set_num_threads(1)

#: Sizes of mitch_jp with 3 seats.
INPUTS, ACTIONS = get_game("mitch_jp").rules.layout(3).size, get_game("mitch_jp").rules.n_actions(3)


def trunk_policy(game: str, seats: int, **settings: Any) -> TrunkPolicy:
    """A policy for a game, with random weights of size 1."""
    rules = get_game(game).rules
    torch.manual_seed(3)
    box = gymnasium.spaces.Box(0.0, 1.0, (rules.layout(seats).size,), np.float32)
    made = TrunkPolicy(box, gymnasium.spaces.Discrete(rules.n_actions(seats)), lambda left: 1e-3, **settings)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(torch.randn(parameter.shape) / parameter.shape[-1] ** 0.5)
    return made


def card_of(game: str, seats: int, trunk: list[int], encoder: str = "flat", **rest: Any) -> PolicyCard:
    """The card of a policy for that many seats."""
    return PolicyCard.of(get_game(game), get_game(game).options(players=seats), seats, encoder, trunk, **rest)


def observations(game: str, seats: int, n: int = 1000, canonical: bool = False) -> np.ndarray:
    """What is seen in real matches, at moments all through them."""
    batch = Batch(game, 50, players=seats, seed=8, canonical=canonical)
    seen = []
    for _ in range(n // 50):
        seen.append(batch.observation.copy())
        for _ in range(3):
            batch.step(batch.random_actions())
    return np.concatenate(seen)


def onnx_logits(path: Path, seen: np.ndarray) -> tuple[np.ndarray, dict[str, str]]:
    """Logits and metadata from onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(["logits"], {"observation": seen})[0], session.get_modelmeta().custom_metadata_map


# --- The same everywhere.


@pytest.mark.parametrize("encoder", ["flat", "canonical"])
@pytest.mark.parametrize("game", GAMES)
def test_torch_numpy_and_onnx_give_the_same_logits(game: str, encoder: str, tmp_path: Path) -> None:
    policy = trunk_policy(game, 3, width=48, depth=2)
    files = write_both(tmp_path / "own.safetensors", card_of(game, 3, [48, 48], encoder), policy.weights())
    assert files == [tmp_path / "own.safetensors", tmp_path / "own.onnx"] and not (tmp_path / "own.unfinished").exists()
    seen = observations(game, 3, canonical=encoder == "canonical")
    assert len(seen) == 1000
    agent = PolicyAgent.load(files[0])
    with torch.no_grad():
        expected = policy.action_net(policy.trunk(torch.from_numpy(seen))).numpy()
    assert expected.std() > 0.1
    assert np.abs(agent.logits(seen) - expected).max() < 1e-4
    assert np.abs(onnx_logits(files[1], seen)[0] - expected).max() < 1e-4
    assert (agent.name, agent.encoder) == ("policy:own", encoder)
    onnx.checker.check_model(onnx.load(files[1]), full_check=True)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("trunk", [[], [7], [9, 5, 3]])
def test_trunks_of_any_depth_with_either_activation(activation: str, trunk: list[int], tmp_path: Path) -> None:
    card, rng, weights = card_of("mitch_jp", 2, trunk, activation=activation), np.random.default_rng(0), {}
    widths = [card.architecture["inputs"], *trunk]
    for i, (inputs, width) in enumerate(zip(widths, trunk, strict=False)):
        weights |= {f"trunk.{i}.weight": rng.normal(size=(width, inputs)), f"trunk.{i}.bias": rng.normal(size=width)}
    weights |= {"policy.weight": rng.normal(size=(106, widths[-1])), "policy.bias": rng.normal(size=106)}
    files = write_both(tmp_path / "a.safetensors", card, {name: array.astype(np.float32) for name, array in weights.items()})
    seen = observations("mitch_jp", 2, 100)
    hidden = seen.astype(np.float64)
    for i in range(len(trunk)):
        hidden = hidden @ weights[f"trunk.{i}.weight"].T + weights[f"trunk.{i}.bias"]
        hidden = np.tanh(hidden) if activation == "tanh" else np.where(hidden > 0, hidden, 0)
    expected = hidden @ weights["policy.weight"].T + weights["policy.bias"]
    assert np.allclose(PolicyAgent.load(files[0]).logits(seen), expected, atol=1e-3, rtol=1e-4)
    assert np.allclose(onnx_logits(files[1], seen)[0], expected, atol=1e-3, rtol=1e-4)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small policy for mitch_jp with 3 seats."""
    path = tmp_path_factory.mktemp("policy") / "small.safetensors"
    card = card_of(
        "mitch_jp",
        3,
        [4, 4],
        "canonical",
        training={"decisions": 5, "learning_rate": [1e-3, 1e-4]},
        decisions=12345,
        seed=9,
        versions=versions(),
        evaluation={"random": {"margin": 1.5, "low": 1.0, "high": 2.0}},
    )
    write_both(path, card, trunk_policy("mitch_jp", 3, width=4, depth=2).weights())
    return path


def test_the_metadata_is_complete_and_the_same_in_onnx(small: Path) -> None:
    _, metadata, data_hash = read_safetensors(small)
    game = get_game("mitch_jp")
    layout = game.rules.layout(3)
    assert metadata["format"] == "mitch-policy" and metadata["format_version"] == "1"
    assert metadata["game"] == "mitch_jp" and metadata["encoder"] == "canonical" and metadata["seats_encoded"] == "3"
    assert json.loads(metadata["options"]) == game.options(players=3).as_dict()
    assert (metadata["layout_version"], metadata["layout_hash"]) == (str(layout.version), layout.hash)
    assert metadata["action_hash"] == game.rules.action_hash(3)
    assert json.loads(metadata["architecture"]) == {
        "kind": "mlp",
        "inputs": layout.size,
        "trunk": [4, 4],
        "activation": "relu",
        "actions": 106,
    }
    assert json.loads(metadata["training"]) == {"decisions": 5, "learning_rate": [1e-3, 1e-4]}
    assert (metadata["decisions"], metadata["seed"]) == ("12345", "9")
    found = json.loads(metadata["versions"])
    assert set(found) == {"python", "mitch-env", "numpy", "torch", "stable-baselines3", "sb3-contrib"}
    assert found["numpy"] == np.__version__ and found["torch"].startswith(torch.__version__.split("+")[0])
    assert "not installed" not in found.values()
    assert json.loads(metadata["evaluation"]) == {"random": {"margin": 1.5, "low": 1.0, "high": 2.0}}
    assert metadata["weights_hash"] == data_hash
    in_onnx = onnx_logits(small.with_suffix(".onnx"), observations("mitch_jp", 3, 50))[1]
    assert in_onnx == {key: value for key, value in metadata.items() if key != "weights_hash"}
    assert PolicyAgent.load(small).card == PolicyCard.from_metadata(in_onnx, "onnx")


def test_other_readers_read_the_file(small: Path) -> None:
    from safetensors.numpy import load_file

    theirs, ours = load_file(small), read_safetensors(small)[0]
    assert theirs.keys() == ours.keys() and all(np.array_equal(theirs[name], ours[name]) for name in ours)


# --- Played.


def test_the_best_legal_action_is_played(small: Path) -> None:
    agent = make_agent(f"policy:{small}", "mitch_jp")
    agent.reset(None, np.random.default_rng(0))
    assert isinstance(agent, PolicyAgent) and agent.name == "policy:small"
    batch = Batch("mitch_jp", 200, players=3, seed=2)
    for _ in range(12):
        view, own_names = view_of(batch, np.arange(200), "canonical")
        logits = agent.logits(view.observation)
        logits[~view.mask] = -np.inf
        actions = act(agent, batch, np.arange(200))
        assert np.array_equal(actions, own_names(logits.argmax(1)))
        assert np.array_equal(actions, act(agent, batch, np.arange(200)))
        batch.step(actions)


def test_sampling_draws_from_the_probabilities(small: Path) -> None:
    agent = make_agent(f"policy:{small}?sample=true", "mitch_jp")
    assert isinstance(agent, PolicyAgent) and agent.name == "policy:small?sample=true", "it can play against its best actions"
    batch = Batch("mitch_jp", 20_000, players=3, seed=np.full(20_000, 5))
    chosen = []
    for seed in (1, 1, 2):
        agent.reset(None, np.random.default_rng(seed))
        chosen.append(act(agent, batch, np.arange(20_000)))
    assert np.array_equal(chosen[0], chosen[1]) and not np.array_equal(chosen[0], chosen[2])
    view, own_names = view_of(batch, np.arange(1), "canonical")
    legal = np.flatnonzero(view.mask[0])
    odds = np.exp(agent.logits(view.observation)[0, legal].astype(np.float64))
    own = [int(own_names(np.array([action]))[0]) for action in legal]
    counts = np.bincount(chosen[0], minlength=106)
    assert counts.sum() == counts[own].sum()
    assert chisquare(counts[own], 20_000 * odds / odds.sum()).pvalue > 1e-3


def test_a_folder_names_the_policy_that_it_holds(small: Path, tmp_path: Path) -> None:
    run = tmp_path / "my_run"
    run.mkdir()
    (run / "policy.safetensors").write_bytes(small.read_bytes())
    assert PolicyAgent.load(run / "policy.safetensors").name == "policy:my_run"


def test_a_policy_for_three_seats_does_not_play_with_four(small: Path) -> None:
    agent = make_agent(f"policy:{small}", "mitch_jp")
    with pytest.raises(PolicyFileError, match=r"policy:small was trained with seats_encoded=3, here it is 4"):
        act(agent, Batch("mitch_jp", 2, players=4, seed=1), np.arange(2))


def test_it_loads_and_plays_without_torch(small: Path) -> None:
    script = f"""
import sys
for name in ("torch", "safetensors", "stable_baselines3", "sb3_contrib", "onnx", "onnxruntime", "yaml", "matplotlib", "tqdm"):
    sys.modules[name] = None
import numpy as np
from agents import make_agent
from agents.play import play_matches
from mitch_env import get_game
game = get_game("mitch_jp")
agents = [make_agent("policy:{small}", game), make_agent("random", game)]
seating = np.array([[0, 1, 1], [1, 0, 1]])
totals = play_matches(game, game.options(deals=1), agents, seating, np.array([1, 2], np.uint64), rng=np.random.default_rng(1))
assert totals.shape == (2, 3)
assert not any(name.split(".")[0] == "train" for name in sys.modules)
print("played")
"""
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "played", done.stderr


# --- Damage.


def parts(path: Path) -> tuple[dict[str, Any], bytes]:
    """Header and data of a file."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def whole(header: Any, data: bytes, rehash: bool = True) -> bytes:
    """The bytes of a file; the hash of the data is made right unless it is what is wrong."""
    if rehash and isinstance(header, dict) and isinstance(header.get("__metadata__"), dict):
        header["__metadata__"]["weights_hash"] = hashlib.sha256(data).hexdigest()
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def refusal(path: Path, content: bytes, game: str | None = "mitch_jp") -> str:
    """The sentence with which a file is refused."""
    path.write_bytes(content)
    with pytest.raises(PolicyFileError) as refused:
        PolicyAgent.load(path, game)
    assert str(path) in str(refused.value), f"{refused.value}: which file?"
    return str(refused.value)


def test_the_helpers_leave_a_good_file_good(small: Path, tmp_path: Path) -> None:
    header, data = parts(small)
    (tmp_path / "a.safetensors").write_bytes(whole(header, data))
    assert PolicyAgent.load(tmp_path / "a.safetensors").card == PolicyAgent.load(small).card
    without_value = [name for name in header if name.startswith("value")]
    weights, _, _ = read_safetensors(small)
    for name in without_value:
        del weights[name]
    write_policy(tmp_path / "b.safetensors", PolicyAgent.load(small).card, weights)
    assert set(PolicyAgent.load(tmp_path / "b.safetensors").weights) == set(weights), "the value head may be left out"


def test_a_file_cut_off_anywhere_is_refused(small: Path, tmp_path: Path) -> None:
    content = small.read_bytes()
    lengths = [*range(24), *range(24, len(content), 149), *range(len(content) - 20, len(content))]
    for length in lengths:
        words = refusal(tmp_path / "cut.safetensors", content[:length])
        assert "bytes" in words or "its range is" in words, words
    assert "belong to no tensor" in refusal(tmp_path / "cut.safetensors", content + b"\0")


def test_a_flipped_bit_in_the_weights_is_refused(small: Path, tmp_path: Path) -> None:
    content, rng = small.read_bytes(), np.random.default_rng(0)
    start = len(content) - len(parts(small)[1])
    for at in rng.integers(start, len(content), 60):
        damaged = bytearray(content)
        damaged[at] ^= 1 << int(rng.integers(8))
        words = refusal(tmp_path / "flipped.safetensors", bytes(damaged))
        assert "the weights hash to" in words or "not finite" in words


def test_no_change_of_the_header_leads_to_another_error(small: Path, tmp_path: Path) -> None:
    """Bytes overwritten at random: a policy file error, or a file that is as good as before."""
    content, rng, path = small.read_bytes(), np.random.default_rng(1), tmp_path / "fuzzed.safetensors"
    end = len(content) - len(parts(small)[1])
    n_refused = 0
    for _ in range(400):
        damaged = bytearray(content)
        for at in rng.integers(0, end, rng.integers(1, 4)):
            damaged[at] = rng.choice([rng.integers(256), *b'"{}[]:,0-9eN\\'])
        path.write_bytes(damaged)
        try:
            agent = PolicyAgent.load(path)
        except PolicyFileError:
            n_refused += 1
        else:
            assert agent.card.game == "mitch_jp" and agent.logits(np.zeros((1, INPUTS), np.float32)).shape == (1, ACTIONS)
    assert n_refused > 200


Change = Callable[[dict[str, Any]], Any]


def tensor(name: str, **changes: Any) -> Change:
    """Changes the header's entry of a tensor."""
    return lambda header: header[name].update(changes)


def rename(old: str, new: str) -> Change:
    """Gives a tensor another name."""
    return lambda header: header.update({new: header.pop(old)})


def meta(**changes: Any) -> Change:
    """Changes metadata; None takes it out."""

    def change(header: dict[str, Any]) -> None:
        for key, value in changes.items():
            if value is None:
                del header["__metadata__"][key]
            else:
                header["__metadata__"][key] = value

    return change


def inside(key: str, **changes: Any) -> Change:
    """Changes what stands in a metadata entry that is JSON."""

    def change(header: dict[str, Any]) -> None:
        header["__metadata__"][key] = json.dumps(json.loads(header["__metadata__"][key]) | changes)

    return change


DAMAGES: list[tuple[Change, str]] = [
    # Tensors.
    (tensor("policy.bias", dtype="F16"), r"'policy.bias' has dtype 'F16'; allowed are F32, F64, I64"),
    (tensor("policy.bias", dtype=7), r"'policy.bias' has dtype 7"),
    (tensor("policy.bias", dtype="F64"), r"'policy.bias' of shape \(106,\) needs 848 bytes, its range is"),
    (tensor("policy.bias", dtype="F64", shape=[53]), r"'policy.bias' is float64 \(53,\), .* needs float32 \(106,\)"),
    (tensor("policy.bias", shape=[107]), r"'policy.bias' of shape \(107,\) needs 428 bytes"),
    (tensor("policy.bias", shape=[2, 53]), r"'policy.bias' is float32 \(2, 53\), .* needs float32 \(106,\)"),
    (tensor("policy.weight", shape=[4, 106]), r"'policy.weight' is float32 \(4, 106\), .* needs float32 \(106, 4\)"),
    (tensor("policy.bias", shape=[-106]), r"'policy.bias' has shape \[-106\]"),
    (tensor("policy.bias", shape=[106.0]), r"'policy.bias' has shape \[106.0\]"),
    (tensor("policy.bias", shape=["106"]), r"'policy.bias' has shape"),
    (tensor("policy.bias", shape=[True, 106]), r"'policy.bias' has shape"),
    (tensor("policy.bias", shape=106), r"'policy.bias' has shape 106"),
    (tensor("policy.bias", shape=None), r"'policy.bias' has shape None"),
    (tensor("policy.bias", shape=[1, 1, 1, 1, 106]), r"'policy.bias' has shape"),
    (tensor("policy.bias", shape=[1 << 62, 1 << 62]), r"'policy.bias' of shape .* needs"),
    (tensor("policy.bias", shape=[0]), r"'policy.bias' of shape \(0,\) needs 0 bytes"),
    (tensor("policy.bias", data_offsets=[0]), r"'policy.bias' has shape .* and data_offsets \[0\]"),
    (tensor("policy.bias", data_offsets=[0, 1, 2]), r"data_offsets \[0, 1, 2\]"),
    (tensor("policy.bias", data_offsets=[424, 0]), r"'policy.bias' .* range is 424 to 0"),
    (tensor("policy.bias", data_offsets=[-424, 0]), r"data_offsets \[-424, 0\]"),
    (tensor("policy.bias", data_offsets=[1 << 70, (1 << 70) + 424]), r"'policy.bias' .* range is"),
    (tensor("policy.bias", data_offsets={"from": 0}), r"data_offsets"),
    (lambda header: header["policy.bias"].pop("dtype"), r"'policy.bias' needs dtype, shape and data_offsets"),
    (lambda header: header.update({"policy.bias": 3}), r"'policy.bias' needs dtype, shape and data_offsets"),
    (lambda header: header.pop("policy.bias"), r"bytes? |belong to no tensor"),
    (rename("policy.bias", "policy.bais"), r"tensor 'policy.bias' of shape \(106,\) is missing"),
    (rename("value.bias", "valve.bias"), r"unknown tensor 'valve.bias'; did you mean 'value.bias'\?"),
    (rename("value.bias", "trunk.2.bias"), r"unknown tensor 'trunk.2.bias'"),
    (rename("trunk.1.weight", "trunk.2.weight"), r"'trunk.1.weight' of shape \(4, 4\) is missing"),
    (lambda header: header.update({"value.bias": dict(header["policy.bias"])}), r"begins at byte \d+, the one before it ends"),
    # What it is for.
    (meta(game="mitch_ru"), r"the policy plays mitch_ru, it was asked to play mitch_jp"),
    (meta(layout_version="77"), r"layout_version: the policy has 77, this version of the game has \d+"),
    (meta(layout_hash="0123456789ab"), r"layout_hash: the policy has 0123456789ab, .* has [0-9a-f]{12}"),
    (meta(action_hash="0123456789ab"), r"action_hash: the policy has 0123456789ab, .* has [0-9a-f]{12}"),
    (meta(seats_encoded="4"), r"layout_hash: the policy has [0-9a-f]{12}, .* has [0-9a-f]{12}"),
    (meta(seats_encoded="2"), r"players=3, seats_encoded=2"),
    (meta(seats_encoded="9"), r"seats_encoded=9: 2 to \d are allowed"),
    (meta(encoder="flatt"), r"encoder='flatt': allowed are 'flat', 'canonical'"),
    (inside("options", players=77), r"options that are not allowed here: players=77"),
    (inside("options", colour="red"), r"unknown option 'colour'"),
    (inside("options", clock={"a": 1}), r"clock=\{'a': 1\}"),
    (inside("architecture", kind="transformer"), r"architecture kind is 'transformer', known are mlp"),
    (inside("architecture", kind=["mlp"]), r"architecture kind is \['mlp'\]"),
    (inside("architecture", activation="gelu"), r"architecture activation is 'gelu', known are relu, tanh"),
    (inside("architecture", trunk=[4, "4"]), r"architecture trunk is \[4, '4'\]"),
    (inside("architecture", trunk=[4, -4]), r"architecture trunk is"),
    (inside("architecture", trunk={"0": 4}), r"architecture trunk is"),
    (inside("architecture", trunk=[4, 5]), r"is float32 \(.*\), the architecture needs float32 \(.*\)"),
    (inside("architecture", trunk=[4, 4, 4]), r"tensor 'trunk.2.(weight|bias)' of shape .* is missing"),
    (inside("architecture", inputs=5), rf"architecture inputs is 5, this game has {INPUTS}"),
    (inside("architecture", actions=5), r"architecture actions is 5, this game has 106"),
    # Metadata.
    (meta(format="other"), r"the format is 'other' version '1', 'mitch-policy' version '1' is needed"),
    (meta(format=None), r"the format is None"),
    (meta(format_version="2"), r"'mitch-policy' version '2', 'mitch-policy' version '1' is needed"),
    (meta(decisions="many"), r"'decisions' cannot be 'many'"),
    (meta(decisions="-5"), r"'decisions' cannot be '-5'"),
    (meta(seed="1.5"), r"'seed' cannot be '1.5'"),
    (meta(seats_encoded=""), r"'seats_encoded' cannot be ''"),
    (meta(layout_version="9" * 5000), r"'layout_version' cannot be"),
    (meta(options="{"), r"'options' cannot be '\{'"),
    (meta(options="[1]"), r"'options' cannot be '\[1\]'"),
    (meta(architecture="3"), r"'architecture' cannot be '3'"),
    (meta(training="[" * 100_000), r"'training' cannot be"),
    (lambda header: header["__metadata__"].update(decisions=5), r"__metadata__ must hold texts"),
    (lambda header: header.update(__metadata__=["a"]), r"__metadata__ must hold texts"),
    (lambda header: header.update(__metadata__=None), r"__metadata__ must hold texts"),
    (lambda header: header.pop("__metadata__"), r"the format is None"),
]


@pytest.mark.parametrize(("change", "words"), DAMAGES, ids=[words for _, words in DAMAGES])
def test_a_wrong_header_is_refused_in_words(change: Change, words: str, small: Path, tmp_path: Path) -> None:
    header, data = parts(small)
    change(header)
    assert re.search(words, refusal(tmp_path / "a.safetensors", whole(header, data)))


@pytest.mark.parametrize("key", [name for name in PolicyCard.__dataclass_fields__ if name != "format"])
def test_no_metadata_may_be_missing(key: str, small: Path, tmp_path: Path) -> None:
    header, data = parts(small)
    del header["__metadata__"][key]
    assert f"the metadata has no {key!r}" in refusal(tmp_path / "a.safetensors", whole(header, data))


def test_a_wrong_hash_of_the_weights_names_both(small: Path, tmp_path: Path) -> None:
    header, data = parts(small)
    right = header["__metadata__"]["weights_hash"]
    header["__metadata__"]["weights_hash"] = "f" * 64
    words = refusal(tmp_path / "a.safetensors", whole(header, data, rehash=False))
    assert right[:12] in words and "f" * 12 in words
    del header["__metadata__"]["weights_hash"]
    assert "metadata says None" in refusal(tmp_path / "a.safetensors", whole(header, data, rehash=False))


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        ([(0, 8), (8, 16)], ""),
        ([(8, 16), (0, 8)], ""),
        ([(0, 8), (4, 12)], "'b' begins at byte 4, the one before it ends at 8"),
        ([(0, 8), (0, 8)], "'b' begins at byte 0, the one before it ends at 8"),
        ([(0, 8), (12, 20)], "'b' begins at byte 12, the one before it ends at 8"),
        ([(4, 12), (12, 20)], "'a' begins at byte 4, the one before it ends at 0"),
    ],
)
def test_tensors_lie_side_by_side_without_gap_or_overlap(ranges: list[tuple[int, int]], words: str, tmp_path: Path) -> None:
    entries = {name: {"dtype": "F32", "shape": [2], "data_offsets": one} for name, one in zip("ab", ranges, strict=True)}
    data = np.arange(max(stop for _, stop in ranges) // 4, dtype=np.float32).tobytes()
    (tmp_path / "a.safetensors").write_bytes(whole(entries, data))
    if not words:
        tensors, metadata, _ = read_safetensors(tmp_path / "a.safetensors")
        assert metadata == {} and [tensors[name][0] for name in "ab"] == [start // 4 for start, _ in ranges]
    else:
        with pytest.raises(PolicyFileError, match=words):
            read_safetensors(tmp_path / "a.safetensors")


def test_weights_of_another_precision_are_refused(small: Path, tmp_path: Path) -> None:
    weights, _, _ = read_safetensors(small)
    weights["policy.bias"] = weights["policy.bias"].astype(np.float64)
    with pytest.raises(PolicyFileError, match=r"'policy.bias' is float64 \(106,\), the architecture needs float32 \(106,\)"):
        write_policy(tmp_path / "b.safetensors", PolicyAgent.load(small).card, weights)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_refused(number: float, small: Path, tmp_path: Path) -> None:
    header, data = parts(small)
    start, _ = header["trunk.1.weight"]["data_offsets"]
    damaged = data[:start] + np.float32(number).tobytes() + data[start + 4 :]
    assert "'trunk.1.weight' holds numbers that are not finite" in refusal(tmp_path / "a.safetensors", whole(header, damaged))
    weights, _, _ = read_safetensors(small)
    weights["policy.bias"] = np.full(106, number, np.float32)
    with pytest.raises(PolicyFileError, match="not finite"):
        write_policy(tmp_path / "b.safetensors", PolicyAgent.load(small).card, weights)
    assert not list(tmp_path.glob("b.*")), "nothing is left behind"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "0 bytes are no policy"),
        (b"1234567", "7 bytes are no policy"),
        ((1 << 63).to_bytes(8, "little") + b"{}", f"the header claims {1 << 63} bytes, the file has 2"),
        ((3).to_bytes(8, "little") + b"{}", "the header claims 3 bytes, the file has 2"),
        ((2 << 20).to_bytes(8, "little") + b" " * (2 << 20), "the header claims 2097152 bytes"),
        ((0).to_bytes(8, "little"), "the header is no JSON"),
        (whole(b"not JSON", b""), "the header is no JSON"),
        (whole(b"\xff\xfe{}", b""), "the header is no JSON"),
        (whole(b"[" * 100_000, b""), "the header is no JSON"),
        (whole(b"[1, 2]", b""), "the header must be an object, got list"),
        (whole(b"null", b""), "the header must be an object, got NoneType"),
        (whole(b"{}", b""), "the format is None"),
        (whole(b"{}", b"abcd"), "4 bytes belong to no tensor"),
        (b"PK\x03\x04" + b"\0" * 100, "the header claims"),
    ],
)
def test_what_is_no_policy_at_all_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    assert words in refusal(tmp_path / "a.safetensors", content)


def test_a_policy_for_a_game_that_is_not_known_here_and_a_wrong_sample_are_refused(small: Path, tmp_path: Path) -> None:
    header, data = parts(small)
    header["__metadata__"]["game"] = "mitch_pj"
    assert "unknown game 'mitch_pj'" in refusal(tmp_path / "a.safetensors", whole(header, data), None)
    with pytest.raises(PolicyFileError, match="sample=3: true or false"):
        make_agent(f"policy:{small}?sample=3", "mitch_jp")
    with pytest.raises(PolicyFileError, match="plays mitch_jp, it was asked to play mitch_ru"):
        make_agent(f"policy:{small}", "mitch_ru")
    with pytest.raises(OSError, match="nowhere"):
        PolicyAgent.load(tmp_path / "nowhere.safetensors")


# --- Exporting what stable-baselines3 saved.


class Alone(gymnasium.Env[np.ndarray, int]):
    """mitch_jp for a single learner that plays every seat, as a user may wrap it."""

    def __init__(self) -> None:
        self.batch = Batch("mitch_jp", 1, seed=1, deals=1)
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (INPUTS,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(106)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        return self.batch.observation[0].copy(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.batch.step([int(action)])
        return self.batch.observation[0].copy(), float(self.batch.reward[0, 0]), bool(self.batch.terminated[0]), False, {}

    def action_masks(self) -> np.ndarray:
        return self.batch.mask[0].copy()


def saved(path: Path, **policy: Any) -> MaskablePPO:
    """A stock MaskablePPO, trained a little and saved."""
    model = MaskablePPO("MlpPolicy", Alone(), n_steps=32, batch_size=32, n_epochs=1, seed=4, policy_kwargs=policy, device="cpu")
    model.learn(32)
    model.save(path)
    return model


@pytest.mark.parametrize(
    ("policy", "activation", "trunk"),
    [
        ({}, "tanh", [64, 64]),
        ({"activation_fn": nn.ReLU, "net_arch": {"pi": [24, 16, 8], "vf": [5]}}, "relu", [24, 16, 8]),
    ],
)
def test_a_stock_policy_of_ones_own_is_exported(
    policy: dict[str, Any], activation: str, trunk: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = saved(tmp_path / "own.zip", **policy)
    out = tmp_path / "own.safetensors"
    status = export.main(
        ["--from-sb3", str(tmp_path / "own.zip"), "--game", "mitch_jp", "--options", "deals=1", "--out", str(out)]
    )
    said = capsys.readouterr()
    assert status == 0 and "own.onnx" in said.out
    assert "own.zip is unpickled, which can run any code: only do this with files that you trust" in said.err
    agent, seen = PolicyAgent.load(out), observations("mitch_jp", 3)
    assert agent.card.architecture["activation"] == activation and agent.card.architecture["trunk"] == trunk
    assert (agent.card.decisions, agent.card.seed, agent.card.encoder) == (32, 4, "flat")
    assert agent.card.options["deals"] == 1 and agent.card.versions == versions()
    with torch.no_grad():
        stock: Any = model.policy
        expected = stock.action_net(stock.mlp_extractor.forward_actor(torch.from_numpy(seen))).numpy()
    assert expected.std() > 1e-3
    assert np.abs(agent.logits(seen) - expected).max() < 1e-4
    assert np.abs(onnx_logits(out.with_suffix(".onnx"), seen)[0] - expected).max() < 1e-4
    batch = Batch("mitch_jp", 10, deals=1, seed=1)
    masks = batch.mask.copy()
    theirs, _ = model.predict(batch.observation, deterministic=True, action_masks=masks)
    assert np.array_equal(act(agent, batch, np.arange(10)), theirs)


def test_what_cannot_be_exported_is_refused_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import zipfile

    from stable_baselines3 import PPO

    saved(tmp_path / "own.zip")
    saved(tmp_path / "elu.zip", activation_fn=nn.ELU)
    PPO("MlpPolicy", Alone(), n_steps=8, batch_size=8, device="cpu").save(tmp_path / "ppo.zip")
    (tmp_path / "text.zip").write_text("hello")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        other.writestr("readme", "hello")
    good = ["--game", "mitch_jp", "--out", str(tmp_path / "out.safetensors")]
    cases: list[tuple[str, list[str], str]] = [
        ("elu.zip", good, "activation 'elu': only relu and tanh can be exported"),
        ("ppo.zip", good, "ppo.zip: no zip of sb3-contrib's MaskablePPO"),
        ("text.zip", good, "text.zip: no zip of sb3-contrib's MaskablePPO"),
        ("other.zip", good, "other.zip: no zip of sb3-contrib's MaskablePPO"),
        ("missing.zip", good, "missing.zip"),
        ("own.zip", ["--game", "mitch_jp"], "--from-sb3 needs --game and --out"),
        ("own.zip", ["--game", "mitch_pj", *good[2:]], "unknown game 'mitch_pj'"),
        ("own.zip", [*good, "--options", "players=77"], "players=77"),
        ("own.zip", [*good, "--options", "players=4"], f"'trunk.0.weight' is float32 (64, {INPUTS}), the architecture needs"),
        ("own.zip", [*good, "--encoder", "flatt"], "encoder='flatt': allowed are"),
        ("own.zip", [*good, "--seats-encoded", "77"], "seats_encoded=77"),
        ("own.zip", ["--game", "mitch_jp", "--out", str(tmp_path / "out.bin")], "a name that ends in .safetensors"),
    ]
    for name, arguments, words in cases:
        assert export.main(["--from-sb3", str(tmp_path / name), *arguments]) == 2
        said = capsys.readouterr()
        error = said.err.splitlines()[-1]
        assert error.startswith("error: ") and words in error, f"{name} {arguments}: {said.err}"
    assert not list(tmp_path.glob("out.*"))
    assert export.main(["--run", str(tmp_path / "nowhere")]) == 2 and "nowhere" in capsys.readouterr().err
