"""The tables in the environments' cards and in the pages say what the code says; a card is the docstring of its module.

``pytest --update-golden`` rewrites the observation tables of the cards.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import itertools
import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from test_docs import ROOT, page, run_examples

import mitch_env
from agents import make_agent
from agents.agent import ENCODERS, Agent, View
from agents.names import _FORMS as FORMS
from agents.policy import FORMAT as POLICY_FORMAT
from agents.policy import VERSION as POLICY_VERSION
from agents.policy import PolicyCard
from mitch_env import Batch, Game, OptionsError, TableEnv, get_game, records
from mitch_env.aec import RENDER_MODES
from mitch_env.encoders import OBSERVATIONS, Encoder
from mitch_env.mitch.options import MitchOptions
from mitch_env.rewards import REWARDS

MITCH = [name for name, game in mitch_env.GAMES.items() if game.rules.name == "mitch"]
HEADINGS = [
    "Usage",
    "Rules",
    "Arguments",
    "Action space",
    "Observation space",
    "Rewards",
    "Starting state",
    "Episode end",
    "Version history",
]
RULEBOOK = "docs/rules_mitch.md"


class Table(NamedTuple):
    """A Markdown table: its column names and its rows, backticks kept."""

    header: list[str]
    rows: list[list[str]]

    def column(self, name: str) -> list[str]:
        """The cells of a column, without backticks."""
        return [row[self.header.index(name)].strip("`") for row in self.rows]


def tables_of(text: str) -> list[Table]:
    """All tables of a text."""
    found = re.findall(r"^(\|.*\|)\n\|[-| ]+\|\n((?:\|.*\|(?:\n|\Z))*)", text, re.MULTILINE)
    return [Table(_cells(head), [_cells(row) for row in rows.splitlines()]) for head, rows in found]


def _cells(row: str) -> list[str]:
    return row.removeprefix("| ").removesuffix(" |").split(" | ")


def table_with(text: str, *header: str) -> Table:
    """The only table of a text with these columns."""
    found = [one for one in tables_of(text) if one.header == list(header)]
    assert len(found) == 1, f"{len(found)} tables have the columns {header}"
    return found[0]


def module_of(name: str) -> Any:
    """The module of an environment."""
    return importlib.import_module(f"mitch_env.{mitch_env.GAMES[name].env_name}")


def card_of(name: str) -> str:
    """The card of an environment."""
    return inspect.cleandoc(module_of(name).__doc__)


def section_of(text: str, heading: str) -> str:
    """What stands under a heading of the second or third level."""
    parts = re.split(r"^#{2,3} (.*)$", text, flags=re.MULTILINE)
    return parts[parts.index(heading) + 1]


# --- Cards.


@pytest.mark.parametrize("name", mitch_env.GAMES)
def test_a_card_has_the_headings_of_all_cards(name: str) -> None:
    assert re.findall(r"^## (.*)$", card_of(name), re.MULTILINE) == HEADINGS


@pytest.mark.parametrize("name", mitch_env.GAMES)
def test_the_usage_of_a_card_runs(name: str) -> None:
    failures, n_run = run_examples(name, card_of(name) + "\n")
    assert n_run > 3
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("name", mitch_env.GAMES)
def test_a_module_makes_the_environment_of_its_card(name: str) -> None:
    module = module_of(name)
    env = module.env(players=2)
    assert type(env) is TableEnv and env.game is get_game(name) and env.options.players == 2
    assert module.raw_env is module.env and module.__all__ == ["env", "raw_env"]


@pytest.mark.parametrize("name", MITCH)
def test_the_actions_of_a_card_are_those_of_the_game(name: str) -> None:
    game = get_game(name)
    section = section_of(card_of(name), "Action space")
    n_actions = game.rules.n_actions(3)
    assert f"`Discrete({n_actions})`" in section and f"int8[{n_actions}]" in section
    env = mitch_env.make(game)
    env.reset(seed=1)
    covered: list[int] = []
    for numbers, moves, _ in table_with(section, "action", "move", "meaning").rows:
        low, _, high = numbers.partition(" to ")
        actions = range(int(low), int(high or low) + 1)
        covered += actions
        verbs = {env.action_name(action).partition(" ")[0] for action in actions}
        assert verbs == set(moves.replace("`", "").split(", ")), numbers
    assert covered == list(range(n_actions))


@pytest.mark.parametrize("name", mitch_env.GAMES)
def test_the_observation_of_a_card_is_the_layout(name: str, update_golden: bool) -> None:
    layout = mitch_env.make(name).observation_layout()
    assert layout.seats == get_game(name).defaults.players
    if update_golden:
        path = Path(module_of(name).__file__)
        old = path.read_text(encoding="utf-8")
        new = re.sub(r"\| block \| entries \|.*?\n\n", lambda _: layout.markdown() + "\n\n", old, count=1, flags=re.DOTALL)
        new = re.sub(r"float32\[\d+\] for \d+ seats", f"float32[{layout.size}] for {layout.seats} seats", new)
        path.write_text(new, encoding="utf-8")
        return
    section = section_of(card_of(name), "Observation space")
    assert layout.markdown() in section, "run pytest tests/test_cards.py --update-golden"
    assert f"float32[{layout.size}] for {layout.seats} seats, in [0, 1]; version {layout.version}." in section


def forms_of(name: str) -> str:
    """The table of the forms of observation."""
    game = get_game(name)
    seats = game.defaults.players
    shape = {form: Encoder(form, game, seats, 1).space for form in OBSERVATIONS}
    events, tokens = shape["history"]["events"].shape, shape["tokens"]["tokens"].shape
    size, first = shape["flat"].shape[0], game.rules.layout(seats).blocks[0].name
    rows = [
        "| form | content |",
        "| --- | --- |",
        f"| `flat` | float32[{size}]: the blocks above, one after another |",
        f"| `dict` | the same blocks by name: float32[entries], or float32[{seats}, entries] for those by seat |",
        f"| `history` | `flat`, and `events`: int32[{events[0]}, {events[1]}], "
        "the last public events, oldest first, after rows of 0 |",
        f"| `tokens` | each entry of `flat` that is not 0: `tokens`, int32[{tokens[0]}, {tokens[1]}]: "
        f"its block (1 is `{first}`; 0: no token), seat and entry in the block; "
        f"`amounts`, float32[{tokens[0]}]: what stands there |",
    ]
    return "\n".join(rows)


def events_of(name: str) -> str:
    """The tables of the columns and kinds of events."""
    game = get_game(name)
    columns = ["| column | values | meaning |", "| --- | --- | --- |"]
    written = game.rules.event_columns(game.defaults.players)
    columns += [f"| `{one.name}` | 0 to {one.most} | {one.meaning} |" for one in written]
    kinds = ["| event | who |", "| --- | --- |"]
    kinds += [f"| {number} | {words} |" for number, words in enumerate(game.rules.event_kinds, 1)]
    return "\n".join(columns) + "\n\n" + "\n".join(kinds)


@pytest.mark.parametrize("name", mitch_env.GAMES)
def test_the_forms_and_events_of_a_card_are_those_of_the_encoders(name: str, update_golden: bool) -> None:
    if update_golden:
        path = Path(module_of(name).__file__)
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"\| form \| content \|.*?\n\n", lambda _: forms_of(name) + "\n\n", text, count=1, flags=re.DOTALL)
        text = re.sub(r"\| column \| values .*?(?=\n\n## )", lambda _: events_of(name), text, count=1, flags=re.DOTALL)
        path.write_text(text, encoding="utf-8")
        return
    card = card_of(name)
    assert forms_of(name) in section_of(card, "Forms"), "run pytest tests/test_cards.py --update-golden"
    assert events_of(name) in section_of(card, "Events"), "run pytest tests/test_cards.py --update-golden"


@pytest.mark.parametrize("name", mitch_env.GAMES)
def test_the_settings_of_a_card_are_those_of_the_environment(name: str) -> None:
    table = table_with(card_of(name), "setting", "values", "default", "meaning")
    parameters = inspect.signature(TableEnv.__init__).parameters.values()
    settings = {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}
    assert table.column("setting") == list(settings)
    for setting, values, default, _ in table.rows:
        words = tuple(re.findall(r"`(\w+)`", values))
        assert words == {"`reward`": REWARDS, "`observation`": OBSERVATIONS, "`render_mode`": RENDER_MODES}.get(setting, ())
        written = {"-": None, "players": None}.get(default, default.strip("`"))
        assert written == settings[setting.strip("`")]
    most = get_game(name).rules.max_seats
    assert table.column("values")[table.column("setting").index("seats_encoded")] == f"players to {most}"


@pytest.mark.parametrize("name", mitch_env.GAMES)
def test_the_version_history_of_a_card_ends_with_its_version(name: str) -> None:
    version = get_game(name).env_name.rpartition("_")[2]
    entries = re.findall(r"^- (v\d+): ", section_of(card_of(name), "Version history"), re.MULTILINE)
    assert entries and entries[0] == version and len(set(entries)) == len(entries)


# --- Options.


def value_of(cell: str) -> Any:
    """A default as a table writes it."""
    text = cell.strip("`")
    return {"-": None, "true": True, "false": False}[text] if text in ("-", "true", "false") else _number_or_word(text)


def _number_or_word(text: str) -> Any:
    return int(text) if text.isdigit() else text


def values_of(cell: str) -> tuple[list[Any], list[Any]]:
    """Values that a table's cell allows, and values that it rules out, both up to the edge."""
    allowed: list[Any] = []
    refused: list[Any] = ["no such word"]
    for part in cell.split(", "):
        if part.startswith("`"):
            allowed.append(value_of(part))
        elif part.endswith(" or more"):
            low = int(part.removesuffix(" or more"))
            allowed += [low, low + 9]
            refused.append(low - 1)
        else:
            low, high = map(int, part.split(" to "))
            allowed += [low, high]
            refused += [low - 1, high + 1]
    return allowed, refused


#: Options beside which each option can have all its values.
SMALL: dict[str, Any] = {"players": 2, "deals": 1, "hand_size": 1, "clock": "joker", "clock_cards": 1, "scoring": "suits"}


def refusal(game: Game, option: str, value: Any) -> str | None:
    """Why an option cannot have a value; None if it can."""
    beside = SMALL | ({"scoring": "longest"} if option == "playoffs" else {})
    try:
        options = game.options(**beside | {option: value})
    except OptionsError as error:
        return str(error)
    assert options.as_dict()[option] == value
    return None


def check_options(table: Table, defaults: dict[str, str]) -> None:
    """Names, values, and the default of each game (column by game)."""
    assert table.column("option") == [field.name for field in dataclasses.fields(MitchOptions)]
    for name, column in defaults.items():
        game = get_game(name)
        written = dict(zip(table.column("option"), map(value_of, table.column(column)), strict=True))
        assert written == game.options().as_dict(), name
        for option, cell in zip(table.column("option"), [row[table.header.index("values")] for row in table.rows], strict=True):
            allowed, refused = values_of(cell)
            assert [value for value in allowed if refusal(game, option, value)] == [], option
            assert [value for value in refused if not refusal(game, option, value)] == [], option
            known = re.findall(r"'(\w+)'", (refusal(game, option, "no such word") or "").partition("allowed are")[2])
            assert not known or known == allowed, option


@pytest.mark.parametrize("name", MITCH)
def test_the_options_of_a_card_are_those_of_the_game(name: str) -> None:
    check_options(table_with(card_of(name), "option", "values", "default", "meaning"), {name: "default"})


def test_the_options_of_the_rulebook_are_those_of_the_games() -> None:
    table = table_with(page(RULEBOOK), "option", "values", "jp", "ru", "original", "meaning")
    check_options(table, {"mitch_jp": "jp", "mitch_ru": "ru", "mitch_original": "original"})


def test_cards_and_rulebook_explain_options_in_the_same_words() -> None:
    meanings = {tuple(table_with(card_of(name), "option", "values", "default", "meaning").column("meaning")) for name in MITCH}
    meanings.add(tuple(table_with(page(RULEBOOK), "option", "values", "jp", "ru", "original", "meaning").column("meaning")))
    assert len(meanings) == 1


def test_the_rulebook_lists_exactly_the_pairs_that_are_refused() -> None:
    table = table_with(page(RULEBOOK), "option", "does not go with")
    written = {frozenset((option.strip("`"), other.strip("`"))) for option, other in table.rows}
    options = table_with(page(RULEBOOK), "option", "values", "jp", "ru", "original", "meaning")
    choices = {row[0].strip("`"): values_of(row[1])[0] for row in options.rows if re.fullmatch(r"(`\w+`, )+`\w+`", row[1])}
    refused = set()
    for (one, its_values), (other, other_values) in itertools.combinations(choices.items(), 2):
        for first, second in itertools.product(its_values, other_values):
            try:
                get_game("mitch_jp").options(**SMALL | {one: first, other: second})
            except OptionsError:
                refused.add(frozenset(f"{name}={value_text(value)}" for name, value in ((one, first), (other, second))))
    assert written == refused


def value_text(value: Any) -> str:
    """A value as ``option=value`` writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_the_local_rules_of_the_rulebook_are_options() -> None:
    for cell in table_with(page(RULEBOOK), "local rule", "option").column("option"):
        for pair in cell.replace("`", "").split(", "):
            option, _, value = pair.partition("=")
            assert refusal(get_game("mitch_jp"), option, value_of(value)) is None, pair


# --- Rulings.

_RULING = re.compile(r"\b[JR]\d+\b")


def rulings_defined() -> list[str]:
    """The rulings of the rulebook, in order."""
    return table_with(page(RULEBOOK), "ruling", "what is so").column("ruling")


def test_the_rulebook_has_the_rulings_in_order() -> None:
    assert rulings_defined() == [f"J{n}" for n in range(1, 13)] + [f"R{n}" for n in range(1, 10)]


def test_every_ruling_that_is_cited_is_in_the_rulebook() -> None:
    files = [
        *(ROOT / "mitch_env" / "mitch").glob("*.py"),
        *(ROOT / "mitch_env").glob("mitch_*_v0.py"),
        *(ROOT / "docs").glob("*.md"),
    ]
    cited = {ruling for path in files for ruling in _RULING.findall(path.read_text(encoding="utf-8"))}
    assert len(cited) > 15
    assert cited <= set(rulings_defined())


# --- Records.


def test_the_fields_of_a_record_are_those_of_the_page() -> None:
    env = mitch_env.make("mitch_jp", players=2, deals=1)
    env.reset(seed=1)
    env.step(env.parse_action(env.legal_moves()[0]))
    record = env.record(legal=True)
    text = page("docs/records.md")
    shown = [("The match", record), ("A deal", record["deals"][0]), ("A move", record["deals"][0]["moves"][0])]
    for heading, fields in shown:
        assert table_with(section_of(text, heading), "field", "content").column("field") == list(fields)
    head = dict(table_with(section_of(text, "The match"), "field", "content").rows)
    assert head["`format`"] == f"`{records.FORMAT}`" and head["`version`"] == str(records.VERSION)


def test_the_moves_of_the_page_are_those_of_the_notation() -> None:
    written = {move.partition(" ")[0] for move in table_with(page("docs/records.md"), "move", "when", "meaning").column("move")}
    verbs = set()
    for name in MITCH:
        env = mitch_env.make(name)
        verbs |= {env.action_name(action).partition(" ")[0] for action in range(get_game(name).rules.n_actions(3))}
    assert written == verbs


# --- The README's tables of the API.


def test_the_buffers_of_the_readme_are_those_of_a_batch() -> None:
    batch = Batch("mitch_jp", 7, players=2)
    sizes = {"n": 7, "size": batch.observation.shape[1], "actions": batch.n_actions, "seats": batch.seats}
    documented = set()
    for names, kind, _ in table_with(page("README.md"), "buffer", "type", "content").rows:
        dtype, _, shape = kind.removesuffix("]").partition("[")
        for name in names.replace("`", "").split(", "):
            documented.add(name)
            buffer = getattr(batch, name)
            assert buffer.dtype == np.dtype(dtype), name
            assert buffer.shape == tuple(sizes[one] for one in shape.split(", ")), name
    public = {name for name, value in vars(batch).items() if isinstance(value, np.ndarray) and not name.startswith("_")}
    assert documented == public - {"tables"}


def test_the_rewards_of_the_readme_are_all_there_are() -> None:
    assert tuple(table_with(page("README.md"), "`reward`", "paid").column("`reward`")) == REWARDS


def test_the_readme_has_a_section_for_each_game() -> None:
    assert set(re.findall(r"^### `(\w+)`", page("README.md"), re.MULTILINE)) == set(mitch_env.GAMES)


# --- Agents and training.


def test_the_agent_and_its_view_have_the_parts_of_the_page() -> None:
    agent, view = [one for one in tables_of(page("docs/training.md")) if one.header == ["part", "meaning"]]
    names = {cell.partition("(")[0] for cell in agent.column("part")}
    assert names == set(Agent.__annotations__) | {name for name in vars(Agent) if name in ("reset", "act_batch")}
    public = {name for name in (*View.__slots__, *vars(View)) if not name.startswith("_")}
    assert {cell.partition("(")[0] for cell in view.column("part")} == public
    assert all(f"`{encoder}`" in agent.rows[1][1] for encoder in ENCODERS)


def test_the_agents_of_the_readme_can_be_made() -> None:
    names = table_with(page("README.md"), "name", "agent").column("name")
    assert [name for name in names if name.isalpha()] == ["random", "rule"]
    for name in names:
        if name.isalpha():
            assert make_agent(name, "mitch_jp").name == name
        else:
            assert name in FORMS


def test_the_metadata_of_a_policy_are_those_of_the_page() -> None:
    table = table_with(page("docs/training.md"), "metadata", "content")
    fields = [field.name for field in dataclasses.fields(PolicyCard)]
    assert table.column("metadata") == ["format", "format_version", "weights_hash", *fields]
    assert table.column("content")[:2] == [POLICY_FORMAT, str(POLICY_VERSION)]


def test_every_metric_that_is_logged_is_explained() -> None:
    trainer = ast.parse(page("train/ppo.py"))
    functions = {node.name: node for node in ast.walk(trainer) if isinstance(node, ast.FunctionDef)}
    written = set()
    for name, holder in [("_log_window", ast.Assign), ("evaluate", ast.Call)]:
        for node in ast.walk(functions[name]):
            if isinstance(node, holder):
                for one in ast.walk(node):
                    if isinstance(one, ast.Dict):
                        written |= {key.value for key in one.keys if isinstance(key, ast.Constant)}
    explained = [
        row[0].strip("`") for one in tables_of(page("docs/training.md")) if one.header == ["key", "meaning"] for row in one.rows
    ]
    assert {"entropy", "scores"} <= written
    assert written == {key for key in explained if not key.startswith("train/")}


def test_the_keys_of_a_config_have_the_defaults_of_the_page() -> None:
    pytest.importorskip("yaml")
    from train.config import TrainConfig

    config = TrainConfig()
    for key, default, _ in table_with(page("docs/training.md"), "key", "default", "meaning").rows:
        assert str(getattr(config, key.strip("`"))) == default, key


# --- Versions.


def test_all_places_name_the_same_version() -> None:
    project = tomllib.loads(page("pyproject.toml"))["project"]
    assert project["version"] == mitch_env.__version__
    assert re.search(rf"^version: {re.escape(mitch_env.__version__)}$", page("CITATION.cff"), re.MULTILINE)
    released = re.findall(r"^## \[([^\]]+)\]", page("CHANGELOG.md"), re.MULTILINE)
    assert released and released[0] == mitch_env.__version__


def test_the_citation_has_what_the_format_requires() -> None:
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load(page("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["cff-version"] == "1.2.0" and citation["type"] == "software"
    assert all(author.keys() & {"name", "family-names"} for author in citation["authors"])
    project = tomllib.loads(page("pyproject.toml"))["project"]
    assert citation["license"] == project["license"] and citation["title"].startswith(project["name"])
