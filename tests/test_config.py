"""Configurations of training runs: what is wrong is named, and what is saved loads back."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from agents import make_agent
from mitch_env import get_game
from train import ppo
from train.config import ConfigError, TrainConfig, keys_help, load_config, save_config

CONFIGS = sorted((Path(__file__).parents[1] / "configs").glob("*.yaml"))
KEYS = [one.name for one in dataclasses.fields(TrainConfig)]


def written(tmp_path: Path, text: str) -> Path:
    """A config file."""
    path = tmp_path / "own.yaml"
    path.write_text(text)
    return path


# --- Files.


@pytest.mark.parametrize("path", CONFIGS, ids=[path.stem for path in CONFIGS])
def test_every_shipped_config_loads_and_names_agents_that_there_are(path: Path) -> None:
    config = load_config(path)
    assert config.name == path.stem
    for name in {*config.opponents, *config.evaluate_against} - {"snapshots"}:
        make_agent(name, config.game)
    defaults = TrainConfig(name=path.stem)
    for key, value in yaml.safe_load(path.read_text()).items():
        assert getattr(config, key) != getattr(defaults, key) or key in ("game", "decisions"), f"{key}: {value} is the default"


def test_a_config_says_only_what_differs_from_the_defaults(tmp_path: Path) -> None:
    path = written(tmp_path, "game: mitch_ru\noptions: {players: 4}\ndecisions: 2e6\nlearning_rate: [1e-3, 0]\nself_play: 1\n")
    config = load_config(path)
    changed = {"game", "options", "decisions", "learning_rate", "self_play", "name"}
    assert (config.game, config.options, config.decisions) == ("mitch_ru", {"players": 4}, 2_000_000)
    assert config.learning_rate == [0.001, 0.0] and config.self_play == 1.0 and config.name == "own"
    for key in set(KEYS) - changed:
        assert getattr(config, key) == getattr(TrainConfig(), key)
    assert config.rules() == get_game("mitch_ru").options(players=4)
    assert load_config(written(tmp_path, "")).game == TrainConfig().game, "an empty file"
    assert load_config(written(tmp_path, "name: other")).name == "other"
    assert load_config(None).name == "run"


def test_the_saved_config_loads_back_equal(tmp_path: Path) -> None:
    configs = [TrainConfig(name="a"), *map(load_config, CONFIGS)]
    configs.append(
        TrainConfig(
            game="mitch_original",
            options={"players": 5, "deals": "players", "closer_plays": True, "waiting_penalty": None},
            name="1e6",
            decisions=3,
            max_minutes=0.1,
            learning_rate=[1e-5, 1e-17],
            opponents=["random", "policy:a b.safetensors?sample=true", "yes", "3"],
            evaluate_against=[],
            reward_scale=1e6,
            seed=(1 << 32) - 1,
        )
    )
    for config in configs:
        save_config(config, tmp_path / "config.yaml")
        assert load_config(tmp_path / "config.yaml") == config
        assert list(yaml.safe_load((tmp_path / "config.yaml").read_text())) == KEYS, "every key with its value, in order"


def test_defaults_are_not_shared_between_configs() -> None:
    one, other = TrainConfig(), TrainConfig()
    one.options["players"] = 5
    one.opponents.append("random")
    one.learning_rate[0] = 0.5
    assert other == TrainConfig()


# --- Changes on the command line.


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("decisions=2e6", "decisions", 2_000_000),
        ("decisions=1_000", "decisions", 1000),
        ("decisions=2.5e3", "decisions", 2500),
        ("gamma=1", "gamma", 1.0),
        ("learning_rate=[1e-4, 5e-5]", "learning_rate", [1e-4, 5e-5]),
        ("opponents=[random]", "opponents", ["random"]),
        ("opponents=[]", "opponents", []),
        ("options.players=4", "options", {"deals": 1, "players": 4}),
        ("options.deals=players", "options", {"deals": "players"}),
        ("options.closer_plays=true", "options", {"deals": 1, "closer_plays": True}),
        ("options={players: 5}", "options", {"players": 5}),
        ("name=a=b", "name", "a=b"),
        ("name=", "name", "own"),
        ("options=", "options", {}),
        ("teacher=", "teacher", ""),
    ],
)
def test_keys_are_changed_on_the_command_line(text: str, key: str, value: Any, tmp_path: Path) -> None:
    path = written(tmp_path, "options: {deals: 1}\nself_play: 1.0\n")
    config = load_config(path, [text])
    assert getattr(config, key) == value and type(getattr(config, key)) is type(value)


def test_the_last_change_counts_and_several_add_up() -> None:
    config = load_config(None, ["options.players=4", "options.deals=2", "seed=1", "seed=2"])
    assert config.options == {"players": 4, "deals": 2} and config.seed == 2


# --- What is wrong.


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # Unknown keys.
        ("desicions=5", r"unknown key 'desicions'; did you mean 'decisions'\? Known are: game, options"),
        ("lr=5", r"unknown key 'lr'"),
        ("Seed=5", r"unknown key 'Seed'; did you mean 'seed'"),
        ("=5", r"unknown key ''"),
        ("decisions", r"'decisions': key=value is needed"),
        ("option.players=4", r"option.players: only options have keys of their own"),
        ("seed.x=4", r"seed.x: only options have keys of their own"),
        # Kinds.
        ("decisions=many", r"decisions='many': a whole number is needed"),
        ("decisions=2.5", r"decisions=2.5: a whole number is needed"),
        ("decisions=true", r"decisions=True: a whole number is needed"),
        ("decisions=", r"decisions=None: a whole number is needed"),
        ("decisions=[5]", r"decisions=\[5\]: a whole number is needed"),
        ("decisions=.inf", r"decisions=inf: a whole number is needed"),
        ("decisions=.nan", r"decisions=nan: a whole number is needed"),
        ("gamma=high", r"gamma='high': a number is needed"),
        ("gamma=.nan", r"gamma=nan: a number is needed"),
        ("gamma=false", r"gamma=False: a number is needed"),
        ("max_minutes=" + "9" * 400, r"max_minutes=9+: a number is needed"),
        ("game=5", r"game=5: text is needed"),
        ("name=5", r"name=5: text is needed"),
        ("opponents=rule", r"opponents='rule': a list of texts is needed"),
        ("opponents=[1]", r"opponents=1: text is needed"),
        ("learning_rate=1e-3", r"learning_rate='1e-3': a list of numbers is needed"),
        ("learning_rate=[a, b]", r"learning_rate='a': a number is needed"),
        ("options=5", r"options=5: an object with names is needed"),
        ("options={1: 2}", r"options=\{1: 2\}: an object with names is needed"),
        # Ranges.
        ("decisions=0", r"decisions=0: 1 to"),
        ("seed=-1", r"seed=-1: 0 to 4294967295"),
        ("tables=0", r"tables=0: 1 to"),
        ("window=1", r"window=1: 2 to"),
        ("batch_size=3", r"batch_size=3: 4 to"),
        ("gamma=1.01", r"gamma=1.01: 0 to 1"),
        ("lam=-0.1", r"lam=-0.1: 0 to 1"),
        ("self_play=2", r"self_play=2.0: 0 to 1"),
        ("reward_scale=0", r"reward_scale=0.0: 1e-06 to"),
        ("evaluate_blocks=1", r"evaluate_blocks=1: 2 to"),
        ("final_blocks=1", r"final_blocks=1: 2 or more .* 0 for no tournament"),
        ("learning_rate=[1e-3]", r"learning_rate=\[0.001\]: two numbers from 0 to 1 are needed, at the start and at the end"),
        ("learning_rate=[1e-3, 2]", r"learning_rate=\[0.001, 2.0\]: two numbers from 0 to 1"),
        ("entropy=[0.1, -0.1]", r"entropy=\[0.1, -0.1\]: two numbers"),
        # Choices, and what goes together.
        ("encoder=cononical", r"encoder='cononical': allowed are flat, canonical"),
        ("reward=point", r"reward='point': allowed are points, relative, outcome"),
        ("game=mitch_pj", r"unknown game 'mitch_pj'; did you mean 'mitch_jp'"),
        ("options.plyers=4", r"unknown option 'plyers'; did you mean 'players'"),
        ("options.players=77", r"players=77: an integer from 2 to 5"),
        ("options.clock=sundial", r"clock='sundial': allowed are"),
        ("opponents=[]", r"self_play=0.8: opponents are needed unless all tables are self-play"),
        ("evaluate_against=[random, random]", r"evaluate_against=\['random', 'random'\]: each opponent once"),
        ("seed=[", r"seed=\[: no YAML"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_right(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load_config(None, [text])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- a\n- b\n", r"own.yaml: keys and values are needed, got list"),
        ("just words", r"own.yaml: keys and values are needed, got str"),
        ("game: [", r"own.yaml: no YAML: "),
        ("seed: 1\nname: own\nseed: 2\n", r"own.yaml: no YAML: the key 'seed' stands twice .*line 3"),
        ("options: {players: 3, players: 4}\n", r"own.yaml: no YAML: the key 'players' stands twice"),
        ("{[1, 2]: 3, {4: 5}: 6}", r"own.yaml: no YAML: .*unhashable"),
        ("3: 4", r"unknown key 3"),
        ("windows: 4", r"unknown key 'windows'; did you mean 'window'"),
        ("options: 5", r"options.players: only options have keys"),
    ],
)
def test_a_wrong_file_is_told(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=words):
        load_config(written(tmp_path, text), ["options.players=3"])


def test_every_number_has_a_range() -> None:
    """So that no key can be set to something on which the run fails hours later."""
    for key in KEYS:
        value = getattr(TrainConfig(), key)
        if isinstance(value, (int, float)):
            with pytest.raises(ConfigError, match=rf"{key}=-1(\.0)?: "):
                load_config(None, [f"{key}=-1"])
            with pytest.raises(ConfigError, match=rf"{key}="):
                load_config(None, [f"{key}=1e200"])


# --- The command.


def test_help_documents_each_key_with_its_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        ppo.main(["--help"])
    said = capsys.readouterr().out
    assert stopped.value.code == 0 and keys_help() in said
    for one in dataclasses.fields(TrainConfig):
        line = next(line for line in keys_help().splitlines() if re.match(rf"  {one.name} ", line))
        assert len(one.metadata["doc"]) > 10 and one.metadata["doc"] in line
        assert line.endswith(f"(default: {getattr(TrainConfig(), one.name)!r})")
    for option in ("--config", "--resume", "--runs", "key=value"):
        assert option in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "either --config FILE or --resume RUN is needed"),
        (["--config", "a.yaml", "--resume", "runs/a"], "either --config FILE or --resume RUN is needed"),
        (["--config", "nowhere.yaml"], "nowhere.yaml"),
        (["--resume", "nowhere"], "nowhere"),
        (["--config", "{}", "widht=3"], "unknown key 'widht'; did you mean 'width'?"),
        (["--config", "{}", "game=mitch_pj"], "unknown game 'mitch_pj'"),
        (["--config", "{}", "opponents=[rulle]"], "unknown agent 'rulle'"),
        (["--config", "{}", "evaluate_against=[random, 'policy:nowhere.safetensors']"], "nowhere.safetensors"),
        (["--config", "{}", "evaluate_against=[snapshots]"], "unknown agent 'snapshots'"),
    ],
)
def test_wrong_input_is_a_sentence_before_anything_is_made(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, "game: mitch_jp\n")
    runs = tmp_path / "runs"
    assert ppo.main([*(str(file) if word == "{}" else word for word in arguments), "--runs", str(runs)]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("error: ") and words in error
    assert not runs.exists()
