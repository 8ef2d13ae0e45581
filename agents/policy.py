"""Exported policies: weights and all that is needed to use them rightly, in one ``.safetensors`` file, run with numpy alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mitch_env import Game, get_game
from mitch_env.options import OptionsError, check_choice, unknown_name

from .agent import ENCODERS, View
from .safetensors_file import PolicyFileError, read_safetensors

FORMAT = "mitch-policy"
VERSION = 1

#: Metadata that is written as JSON in the file.
_JSON_KEYS = ("options", "architecture", "training", "versions", "evaluation")
#: Metadata that is written as a number from 0.
_INT_KEYS = ("seats_encoded", "layout_version", "decisions", "seed")


def _relu(x: np.ndarray) -> np.ndarray:
    positive: np.ndarray = np.maximum(x, 0.0)
    return positive


_ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"relu": _relu, "tanh": np.tanh}


@dataclass(frozen=True)
class PolicyCard:
    """What a policy file says of itself.

    Attributes:
        game: The name of the game.
        options: The options that it was trained with, every one with its value.
        seats_encoded: Seats that observations and actions are numbered for.
        encoder: ``flat`` or ``canonical``.
        layout_version: Of the observation.
        layout_hash: Of the observation's blocks.
        action_hash: Of the action table.
        architecture: ``{"kind": "mlp", "inputs": n, "trunk": [widths], "activation": "relu" or "tanh", "actions": n}``.
        training: The resolved configuration of the run.
        decisions: How many decisions it was trained on.
        seed: Of the run.
        versions: Of the libraries.
        evaluation: What was measured, with intervals.
    """

    game: str
    options: dict[str, Any]
    seats_encoded: int
    encoder: str
    layout_version: int
    layout_hash: str
    action_hash: str
    architecture: dict[str, Any]
    training: dict[str, Any] = field(default_factory=dict)
    decisions: int = 0
    seed: int = 0
    versions: dict[str, str] = field(default_factory=dict)
    evaluation: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        game: Game,
        options: Any,
        seats_encoded: int,
        encoder: str,
        trunk: list[int],
        activation: str = "relu",
        **rest: Any,
    ) -> PolicyCard:
        """The card of a policy for a game as it is now."""
        layout = game.rules.layout(seats_encoded)
        architecture = {
            "kind": "mlp",
            "inputs": layout.size,
            "trunk": trunk,
            "activation": activation,
            "actions": game.rules.n_actions(seats_encoded),
        }
        return cls(
            game=game.name,
            options=options.as_dict(),
            seats_encoded=seats_encoded,
            encoder=encoder,
            layout_version=layout.version,
            layout_hash=layout.hash,
            action_hash=game.rules.action_hash(seats_encoded),
            architecture=architecture,
            **rest,
        )

    def to_metadata(self) -> dict[str, str]:
        """The card as texts, for the header of the file."""
        values = {**self.__dict__, "format": FORMAT, "format_version": VERSION}
        return {key: json.dumps(value) if key in _JSON_KEYS else str(value) for key, value in values.items()}

    @classmethod
    def from_metadata(cls, metadata: dict[str, str], where: str) -> PolicyCard:
        """The reverse.

        Raises:
            PolicyFileError: If something is missing or of the wrong kind.
        """
        if metadata.get("format") != FORMAT or metadata.get("format_version") != str(VERSION):
            found = f"{metadata.get('format')!r} version {metadata.get('format_version')!r}"
            raise PolicyFileError(f"{where}: the format is {found}, {FORMAT!r} version '{VERSION}' is needed")
        values: dict[str, Any] = {}
        for key in cls.__dataclass_fields__:
            if key not in metadata:
                raise PolicyFileError(f"{where}: the metadata has no {key!r}")
            try:
                values[key] = _read_value(key, metadata[key])
            except (ValueError, RecursionError):
                raise PolicyFileError(f"{where}: the metadata's {key!r} cannot be {metadata[key]!r:.60}") from None
        return cls(**values)


def _read_value(key: str, text: str) -> Any:
    if key in _JSON_KEYS:
        value = json.loads(text)
        if not isinstance(value, dict):
            raise ValueError
        return value
    if key not in _INT_KEYS:
        return text
    if not (text.isascii() and text.isdigit()):
        raise ValueError
    return int(text)


class PolicyAgent:
    """Plays an exported policy.

    Args:
        card: What the policy is for.
        weights: ``trunk.<i>.weight`` [out, in] and ``trunk.<i>.bias``, ``policy.weight`` and ``policy.bias`` (float32), and
            ``value.weight``, ``value.bias`` if there is a value head.
        game: What it is to play.
        name: As results name it.
        sample: Draw from the probabilities instead of taking the best action.

    Raises:
        PolicyFileError: If the policy is not for this game as it is now, or the weights are not as the card says.
    """

    def __init__(
        self, card: PolicyCard, weights: dict[str, np.ndarray], game: Game, name: str = "policy", sample: bool = False
    ) -> None:
        self.name = name
        self.card = card
        self.weights = weights
        self.game = game
        self.sample = sample
        self._check_game()
        self._check_weights()
        self.encoder = card.encoder

    @classmethod
    def load(cls, path: str | Path, game: str | Game | None = None, sample: bool = False) -> PolicyAgent:
        """A policy from a file.

        Args:
            path: The ``.safetensors`` file.
            game: What it is to play; by default the game that it was trained on.
            sample: Draw from the probabilities instead of taking the best action.

        Raises:
            PolicyFileError: If the file is damaged or not for this game.
            OSError: If it cannot be read.
        """
        weights, metadata, data_hash = read_safetensors(path)
        card = PolicyCard.from_metadata(metadata, str(path))
        if metadata.get("weights_hash") != data_hash:
            raise PolicyFileError(
                f"{path}: the weights hash to {data_hash[:12]}, the metadata says {str(metadata.get('weights_hash'))[:12]}"
            )
        if not isinstance(sample, bool):
            raise PolicyFileError(f"sample={sample!r}: true or false is needed")
        try:
            played = get_game(card.game if game is None else game)
        except ValueError as error:
            raise PolicyFileError(f"{path}: {error}") from None
        where = Path(path)
        stem = where.resolve().parent.name if where.stem == "policy" else where.stem  # runs/NAME/policy.safetensors
        try:
            return cls(card, weights, played, f"policy:{stem}{'?sample=true' if sample else ''}", sample)
        except PolicyFileError as error:
            raise PolicyFileError(f"{path}: {error}") from None

    def _check_game(self) -> None:
        card, rules = self.card, self.game.rules
        if card.game != self.game.name:
            raise PolicyFileError(f"the policy plays {card.game}, it was asked to play {self.game.name}")
        if not 2 <= card.seats_encoded <= rules.max_seats:
            raise PolicyFileError(f"seats_encoded={card.seats_encoded}: 2 to {rules.max_seats} are allowed")
        try:
            options = self.game.options(card.options)
            check_choice("encoder", card.encoder, ENCODERS)
        except OptionsError as error:
            raise PolicyFileError(f"the policy was trained with options that are not allowed here: {error}") from None
        if options.players > card.seats_encoded:
            raise PolicyFileError(f"the policy was trained with players={options.players}, seats_encoded={card.seats_encoded}")
        layout = rules.layout(card.seats_encoded)
        here = {
            "layout_version": layout.version,
            "layout_hash": layout.hash,
            "action_hash": rules.action_hash(card.seats_encoded),
        }
        for key, value in here.items():
            if getattr(card, key) != value:
                raise PolicyFileError(f"{key}: the policy has {getattr(card, key)}, this version of the game has {value}")

    def _check_weights(self) -> None:
        shape = self.card.architecture
        for key, known in [("kind", ["mlp"]), ("activation", list(_ACTIVATIONS))]:
            if shape.get(key) not in known:
                raise PolicyFileError(f"architecture {key} is {shape.get(key)!r}, known are {', '.join(known)}")
        inputs = self.game.rules.layout(self.card.seats_encoded).size
        actions = self.game.rules.n_actions(self.card.seats_encoded)
        for key, size in [("inputs", inputs), ("actions", actions)]:
            if shape.get(key) != size:
                raise PolicyFileError(f"architecture {key} is {shape.get(key)!r:.60}, this game has {size}")
        trunk = shape.get("trunk")
        if not isinstance(trunk, list) or not all(type(width) is int and 0 < width <= 1 << 16 for width in trunk):
            raise PolicyFileError(f"architecture trunk is {trunk!r:.60}, a list of widths is needed")
        expected: dict[str, tuple[int, ...]] = {}
        for i, width in enumerate(trunk):
            expected |= {f"trunk.{i}.weight": (width, inputs), f"trunk.{i}.bias": (width,)}
            inputs = width
        expected |= {"policy.weight": (actions, inputs), "policy.bias": (actions,)}
        allowed = expected | {"value.weight": (1, inputs), "value.bias": (1,)}
        for name in expected.keys() - self.weights.keys():
            raise PolicyFileError(f"tensor {name!r} of shape {expected[name]} is missing")
        for name, array in self.weights.items():
            if name not in allowed:
                raise PolicyFileError(unknown_name("tensor", name, list(allowed)))
            if array.shape != allowed[name] or array.dtype != np.float32:
                raise PolicyFileError(
                    f"tensor {name!r} is {array.dtype} {array.shape}, the architecture needs float32 {allowed[name]}"
                )
        self._layers = [(self.weights[f"trunk.{i}.weight"].T, self.weights[f"trunk.{i}.bias"]) for i in range(len(trunk))]
        self._head = (self.weights["policy.weight"].T, self.weights["policy.bias"])

    def reset(self, seat: int | None, rng: np.random.Generator) -> None:
        """Takes the generator, which only ``sample=True`` uses."""
        self._rng = rng

    def logits(self, observation: np.ndarray) -> np.ndarray:
        """Unmasked logits float32[n, actions] of observations float32[n, inputs] in the policy's encoder."""
        hidden = observation
        activate = _ACTIVATIONS[self.card.architecture["activation"]]
        for weight, bias in self._layers:
            hidden = activate(hidden @ weight + bias)
        weight, bias = self._head
        result: np.ndarray = hidden @ weight + bias
        return result

    def act_batch(self, view: View) -> np.ndarray:
        """The best legal action for each row, or one drawn from the probabilities."""
        if view.seats_encoded != self.card.seats_encoded:
            raise PolicyFileError(
                f"{self.name} was trained with seats_encoded={self.card.seats_encoded}, here it is {view.seats_encoded}"
            )
        logits = np.where(view.mask, self.logits(view.observation), -np.inf)
        if self.sample:
            logits = logits + self._rng.gumbel(size=logits.shape)  # the largest is then a draw from the softmax
        best: np.ndarray = np.argmax(logits, 1)
        return best
