"""The configuration of a training run: one dataclass, filled from a YAML file and ``key=value`` on the command line."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

import yaml

from agents.agent import ENCODERS
from mitch_env import get_game
from mitch_env.options import unknown_name
from mitch_env.rewards import REWARDS
from train.files import write_whole


class ConfigError(ValueError):
    """A key is unknown, or a value is of the wrong kind or out of range."""


def _key(default: Any, doc: str) -> Any:
    """A field with its line for ``--help``."""
    if isinstance(default, (list, dict)):
        return field(default_factory=lambda: type(default)(default), metadata={"doc": doc})
    return field(default=default, metadata={"doc": doc})


def between(ends: Sequence[float], done: float) -> float:
    """The value between ``ends`` when the share ``done`` of the way is gone; the last window may go beyond its end."""
    done = min(max(done, 0.0), 1.0)
    return ends[0] * (1 - done) + ends[1] * done


@dataclass
class TrainConfig:
    """Every key of a configuration. ``python train/ppo.py --help`` prints them with their defaults."""

    game: str = _key("mitch_jp", "the game to learn")
    options: dict[str, Any] = _key({}, "its rules: options.players=4 changes one, options={rounds: 1} replaces them all")
    name: str = _key("", "name of the run's folder under runs/; by default that of the config file")
    seed: int = _key(1, "everything random in the run follows from it")
    decisions: int = _key(10_000_000, "the learner's decisions in the run, forced ones included; rounded up to whole windows")
    max_minutes: float = _key(0.0, "stop training after so many minutes even if decisions are left; 0 for never")
    tables: int = _key(512, "tables played side by side")
    window: int = _key(128, "steps at each table between updates; the last decision of each seat but the next is left out")
    batch_size: int = _key(4096, "decisions in a gradient step")
    epochs: int = _key(2, "passes over the decisions of a window")
    learning_rate: list[float] = _key([1e-3, 1e-4], "Adam's step size at the start and the end of PPO, linear between")
    entropy: list[float] = _key([0.03, 0.005], "weight of the entropy bonus at the start and the end of PPO, linear between")
    clip: float = _key(0.2, "PPO's clip range")
    gamma: float = _key(1.0, "discount for each of a seat's own decisions")
    lam: float = _key(0.95, "lambda of generalised advantage estimation")
    value_weight: float = _key(0.5, "weight of the value loss")
    max_grad_norm: float = _key(0.5, "gradients are scaled down to this norm")
    width: int = _key(256, "units in each layer of the trunk that policy and value share")
    depth: int = _key(2, "layers of the trunk")
    encoder: str = _key("canonical", "flat, or canonical (suits renamed by what the seat sees)")
    reward: str = _key("relative", "points, relative or outcome")
    reward_scale: float = _key(8.0, "rewards are divided by it")
    self_play: float = _key(0.8, "share of the tables at which every seat learns; at the others one seat does")
    opponents: list[str] = _key(["rule", "snapshots"], "who sits at those others: agents by name, or earlier snapshots")
    teacher: str = _key("", "an agent by name that the policy imitates at first; none if empty")
    teacher_decisions: int = _key(4_000_000, "decisions in which the policy imitates the teacher and follows no rewards yet")
    teacher_learning_rate: list[float] = _key([2e-3, 3e-4], "Adam's step size in that part, linear between start and end")
    snapshot_every: int = _key(1_000_000, "decisions between snapshots of the policy as an opponent")
    snapshots_kept: int = _key(8, "how many snapshots play, the latest ones")
    evaluate_every: int = _key(1_000_000, "decisions between evaluations against fixed opponents")
    evaluate_against: list[str] = _key(["random", "rule"], "the fixed opponents")
    evaluate_blocks: int = _key(100, "match seeds of an evaluation, each played in every seat")
    checkpoint_every: int = _key(
        1_000_000, "decisions between checkpoints; a kill loses no more than these and the window under way"
    )
    final_blocks: int = _key(500, "match seeds of each pair in the tournament at the end; 0 for no tournament")
    threads: int = _key(2, "threads that step tables and multiply matrices")

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for one in dataclasses.fields(self):
            setattr(self, one.name, _checked(one.name, getattr(self, one.name), hints[one.name]))
        for name, low, high in _RANGES:
            if not low <= getattr(self, name) <= high:
                raise ConfigError(f"{name}={getattr(self, name)}: {low} to {high} are allowed")
        for name in ("learning_rate", "teacher_learning_rate", "entropy"):
            pair = getattr(self, name)
            if len(pair) != 2 or not all(0 <= value <= 1 for value in pair):
                raise ConfigError(f"{name}={pair}: two numbers from 0 to 1 are needed, at the start and at the end")
        for name, allowed in [("encoder", ENCODERS), ("reward", REWARDS)]:
            if getattr(self, name) not in allowed:
                raise ConfigError(f"{name}={getattr(self, name)!r}: allowed are {', '.join(allowed)}")
        if not re.fullmatch(r"(\w[\w .+=-]*)?", self.name):
            raise ConfigError(f"name={self.name!r}: letters, digits and . + - _ = are allowed: it names a folder in --runs")
        if self.final_blocks == 1:
            raise ConfigError("final_blocks=1: 2 or more are needed for an interval; 0 for no tournament")
        if len(set(self.evaluate_against)) < len(self.evaluate_against):
            raise ConfigError(f"evaluate_against={self.evaluate_against}: each opponent once")
        if self.self_play < 1 and not self.opponents:
            raise ConfigError(f"self_play={self.self_play}: opponents are needed unless all tables are self-play (1)")
        self.rules()

    def imitating_share(self) -> float:
        """The share of the run in which a teacher is imitated; 0 without a teacher."""
        return min(1.0, self.teacher_decisions / self.decisions) if self.teacher else 0.0

    def learning_rate_at(self, done: float) -> float:
        """Adam's step size when the share ``done`` of the run is done."""
        share = self.imitating_share()
        if done < share:
            return between(self.teacher_learning_rate, done / share)
        return between(self.learning_rate, self.ppo_done(done))

    def ppo_done(self, done: float) -> float:
        """The share of the run's PPO part that is done when the share ``done`` of the whole is."""
        share = self.imitating_share()
        return 1.0 if share >= 1 else (done - share) / (1 - share)

    def rules(self) -> Any:
        """The options object of the game.

        Raises:
            ConfigError: If the game or an option is wrong.
        """
        try:
            return get_game(self.game).options(self.options)
        except ValueError as error:
            raise ConfigError(str(error)) from None


_RANGES: list[tuple[str, float, float]] = [
    ("seed", 0, (1 << 32) - 1),
    ("decisions", 1, 10**13),
    ("max_minutes", 0, 10**6),
    ("tables", 1, 1 << 20),
    ("window", 2, 1 << 16),
    ("batch_size", 4, 1 << 24),
    ("epochs", 1, 1000),
    ("clip", 1e-3, 10),
    ("gamma", 0, 1),
    ("lam", 0, 1),
    ("value_weight", 0, 1000),
    ("max_grad_norm", 1e-6, 1e6),
    ("width", 1, 1 << 14),
    ("depth", 1, 64),
    ("reward_scale", 1e-6, 1e6),
    ("self_play", 0, 1),
    ("teacher_decisions", 0, 10**13),
    ("snapshot_every", 1, 10**13),
    ("snapshots_kept", 1, 1000),
    ("evaluate_every", 1, 10**13),
    ("evaluate_blocks", 2, 10**7),
    ("checkpoint_every", 1, 10**13),
    ("final_blocks", 0, 10**7),
    ("threads", 1, 1024),
]


_PLAIN_POWER = re.compile(r"[0-9]+(\.[0-9]+)?e[+-]?[0-9]+")
_KIND_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    str: "text",
    list[float]: "a list of numbers",
    list[str]: "a list of texts",
}


def _checked(name: str, value: Any, kind: Any) -> Any:
    """``value`` as ``kind``; whole numbers pass as floats, and floats like 1e7 as whole numbers."""
    if kind in (int, float) and isinstance(value, str) and _PLAIN_POWER.fullmatch(value):
        value = float(value)  # YAML takes 1e6 for text
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300
    if kind is float and is_number:
        return float(value)
    if kind is int and is_number and value == int(value):
        return int(value)
    if kind is str and (isinstance(value, str) or value is None):
        return value or ""  # YAML takes nothing at all for null
    if kind == dict[str, Any] and value is None:
        return {}
    if kind == dict[str, Any] and isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return dict(value)
    if kind in (list[float], list[str]) and isinstance(value, (list, tuple)):
        inner = float if kind == list[float] else str
        return [_checked(name, one, inner) for one in value]
    raise ConfigError(f"{name}={value!r}: {_KIND_WORDS.get(kind, 'an object with names')} is needed")


def load_config(path: str | Path | None, overrides: Sequence[str] = ()) -> TrainConfig:
    """The configuration from a YAML file, changed by ``key=value`` texts (``options.players=4`` for what is nested).

    Raises:
        ConfigError: If something is wrong, with the key and what is allowed.
        OSError: If the file cannot be read.
    """
    values: dict[str, Any] = {}
    if path is not None:
        try:
            values = _yaml(Path(path).read_text(encoding="utf-8"), str(path)) or {}
        except UnicodeDecodeError:
            raise ConfigError(f"{path}: no text") from None
        if not isinstance(values, dict):
            raise ConfigError(f"{path}: keys and values are needed, got {type(values).__name__}")
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals:
            raise ConfigError(f"{text!r}: key=value is needed")
        outer, dot, inner = key.partition(".")
        if dot:
            holder = values.setdefault(outer, {})
            if outer != "options" or not isinstance(holder, dict):
                raise ConfigError(f"{key}: only options have keys of their own, such as options.players")
            holder[inner] = _yaml(value, text)
        else:
            values[key] = _yaml(value, text)
    known = [one.name for one in dataclasses.fields(TrainConfig)]
    for key in values:
        if key not in known:
            raise ConfigError(unknown_name("key", key, known))
    if not values.get("name"):
        values["name"] = Path(path).stem if path is not None else "run"
    return TrainConfig(**values)


class _KeysOnce(yaml.SafeLoader):
    """YAML in which a key may stand only once: PyYAML would silently take the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key in [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key.value!r} stands twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _yaml(text: str, where: str) -> Any:
    try:
        return yaml.load(text, _KeysOnce)
    except yaml.YAMLError as error:
        raise ConfigError(f"{where}: no YAML: {' '.join(str(error).split())}") from None


def save_config(config: TrainConfig, path: Path) -> None:
    """Writes every key with its value."""
    write_whole(path, yaml.safe_dump(dataclasses.asdict(config), sort_keys=False))


def keys_help() -> str:
    """All keys with defaults and meaning, for ``--help``."""
    rows = []
    for one in dataclasses.fields(TrainConfig):
        default = one.default if one.default is not dataclasses.MISSING else one.default_factory()  # type: ignore[misc]
        rows.append(f"  {one.name:<21} {one.metadata['doc']} (default: {default!r})")
    return "keys of a config, on the command line as key=value:\n" + "\n".join(rows)
