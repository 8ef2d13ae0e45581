"""The pages say what is so: their examples run, their commands parse, their links and paths lead somewhere.

In a page, ```` ```python ```` blocks with ``>>>`` are doctests that share their names down the page. A ```` ```console ````
block is run and its output compared. A ```` ```bash ```` block is not run, but each of its commands must exist and take the
arguments. A ```` ```python ```` block without ``>>>`` is not run either, but must be Python that imports what is there.
``<!-- printed by CODE -->`` before a ```` ```text ```` block is code that must print that block.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import importlib.util
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
#: Modules that a page may use in an example although a user can do without them.
EXTRAS = ("torch", "sb3_contrib", "torchrl", "pyspiel", "tianshou", "ray", "moviepy")


class Block(NamedTuple):
    """A fenced block of a page (``kind`` is its language), or hidden code (``printed by``)."""

    kind: str
    text: str
    line: int


_BLOCK = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$|^<!-- printed by\n(?P<code>.*?)^-->$", re.MULTILINE | re.DOTALL)


def blocks_of(text: str) -> Iterator[Block]:
    """The blocks of a page, in order."""
    for found in _BLOCK.finditer(text):
        kind = "printed by" if found["code"] is not None else found["kind"]
        yield Block(kind, found["text"] or found["code"] or "", text[: found.start()].count("\n") + 1)


def page(name: str) -> str:
    """The text of a page."""
    return (ROOT / name).read_text(encoding="utf-8")


def is_same(written: str, printed: str) -> bool:
    """Whether a page shows what was printed."""
    return doctest.OutputChecker().check_output(written.rstrip() + "\n", printed.rstrip() + "\n", FLAGS)


# --- Examples.


def is_used(package: str, code: str) -> bool:
    """Whether code imports a package or something of it."""
    return re.search(rf"(?:import|from) {package}\b", code) is not None


def run_examples(name: str, text: str) -> tuple[list[str], int]:
    """Runs the doctests and hidden code of a page; what failed, and how many examples were run."""
    globs: dict[str, Any] = {"__name__": "__main__"}
    failures: list[str] = []
    n_run, printed = 0, None
    for block in blocks_of(text):
        if block.kind == "printed by":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block.text, f"{name}:{block.line}", "exec"), globs)
            printed = out.getvalue()
            continue
        if block.kind == "text" and printed is not None:
            n_run += 1
            if not is_same(block.text, printed):
                failures.append(f"{name}:{block.line}: this was printed:\n{printed}")
        printed = None
        if block.kind != "python" or ">>>" not in block.text:
            continue
        if any(importlib.util.find_spec(extra) is None for extra in EXTRAS if is_used(extra, block.text)):
            continue
        test = doctest.DocTestParser().get_doctest(block.text, globs, name, str(ROOT / name), block.line)
        result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=failures.append, clear_globs=False)
        n_run += result.attempted
        globs.update(test.globs)
    return failures, n_run


@pytest.mark.parametrize("name", PAGES)
def test_the_examples_of_a_page_run_and_print_what_it_says(name: str) -> None:
    failures, _ = run_examples(name, page(name))
    assert not failures, "\n".join(failures)


def missing_imports(code: str) -> list[str]:
    """What code imports that is not there; what it imports of packages that are not installed is passed over."""
    missing = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module and importlib.util.find_spec(node.module.partition(".")[0]):
            try:
                module = importlib.import_module(node.module)
            except ModuleNotFoundError as error:
                if error.name is None or importlib.util.find_spec(error.name.partition(".")[0]):
                    raise
                continue
            missing += [f"{node.module}.{one.name}" for one in node.names if not hasattr(module, one.name)]
    return missing


@pytest.mark.parametrize("name", PAGES)
def test_code_that_is_not_run_imports_what_is_there(name: str) -> None:
    for block in blocks_of(page(name)):
        if block.kind == "python" and ">>>" not in block.text:
            assert missing_imports(block.text) == [], f"{name}:{block.line}"


def test_code_that_imports_what_is_not_there_is_noticed() -> None:
    assert missing_imports("from mitch_env import Batch, Botch") == ["mitch_env.Botch"]
    with pytest.raises(ModuleNotFoundError):
        missing_imports("from mitch_env.nothing import Batch")


def test_examples_are_found_and_a_wrong_one_fails() -> None:
    """The runner itself: what it counts, and that it does not pass what is wrong."""
    good = "```python\n>>> x = 2\n>>> x\n2\n```\n\n```python\n>>> x + 1\n3\n```\n"
    assert run_examples("good", good) == ([], 3)
    assert run_examples("bad", good.replace("3\n", "4\n"))[0]
    hidden = "<!-- printed by\nprint('a  b')\n-->\n```text\na b\n```\n"
    assert run_examples("hidden", hidden) == ([], 1)
    assert run_examples("hidden", hidden.replace("\na b", "\na c"))[0]
    assert all(run_examples(name, page(name))[1] > 0 for name in ("README.md", "docs/records.md"))


# --- Commands.

#: Where the parser of a command is; a script or module that is run some other way has none.
PARSERS = {
    "mitch_env.records": "mitch_env.record_commands",
    "agents.tournament": "agents.tournament",
    "benchmarks.throughput": "benchmarks.throughput",
    "benchmarks.deals": "benchmarks.deals",
    "benchmarks.training": "benchmarks.training",
    "benchmarks.profile": "benchmarks.profile",
    "train/ppo.py": "train.ppo",
    "train/export.py": "train.export",
}
#: Commands of other projects.
TOOLS = {"pip", "venv", "ruff", "mypy", "pytest", "git", "source"}


def bash_commands() -> list[tuple[str, str]]:
    """Every command line of a bash block, with its page."""
    found = []
    for name in PAGES:
        for block in blocks_of(page(name)):
            if block.kind == "bash":
                lines = block.text.replace("\\\n", " ").splitlines()
                found += [(name, line.strip()) for line in lines if line.strip() and not line.startswith("#")]
    return found


def check_command(line: str) -> None:
    """Fails unless what a command line names is there and takes these arguments."""
    words = shlex.split(line, comments=True)
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):  # settings such as NUMBA_DISABLE_JIT=1
        words.pop(0)
    program, *arguments = words
    program = re.sub(r"^\.venv[\w-]*/bin/", "", program)  # a tool of some virtual environment
    if program == "make":
        targets = re.findall(r"^([a-z]+):", page("Makefile"), re.MULTILINE)
        assert arguments and set(arguments) <= set(targets), f"{line}: the Makefile makes {', '.join(targets)}"
        return
    if program in ("python", "python3") and arguments[0] == "-m":
        program, arguments = arguments[1], arguments[2:]
        assert program in TOOLS or importlib.util.find_spec(program), f"{line}: there is no module {program}"
    elif program == "python":
        program, *arguments = arguments
        assert (ROOT / program).is_file(), f"{line}: there is no file {program}"
    else:
        assert program in TOOLS, f"{line}: {program} is unknown"
    if program == "pytest":
        for word in arguments:
            if word.startswith("tests/"):
                assert (ROOT / word.partition("::")[0]).exists(), f"{line}: there is no {word}"
    if program.startswith("examples/"):
        check_example(program, arguments)
        return
    if program not in PARSERS:
        assert program in TOOLS or not arguments or all(word.isdigit() for word in arguments), f"{line}: cannot be checked"
        return
    if program.startswith("train/"):
        for needed in ("torch", "sb3_contrib", "yaml"):
            pytest.importorskip(needed)
    known = importlib.import_module(PARSERS[program]).parser().parse_args(arguments)
    if getattr(known, "config", None) is not None:
        assert (ROOT / known.config).is_file(), f"{line}: there is no {known.config}"
    if getattr(known, "game", None) is not None:
        assert known.game in importlib.import_module("mitch_env").GAMES, f"{line}: there is no game {known.game}"


def check_example(program: str, arguments: list[str]) -> None:
    """An example is there and knows the arguments, by its source: its library need not be installed."""
    source = (ROOT / program).read_text(encoding="utf-8")
    for flag in [word for word in arguments if word.startswith("--")]:
        assert flag in source or f"{flag[2:].replace('-', '_')}:" in source, f"{program} has no {flag}"


@pytest.mark.parametrize(("name", "line"), bash_commands())
def test_a_command_exists_and_takes_its_arguments(name: str, line: str) -> None:
    check_command(line)


@pytest.mark.parametrize(
    "line",
    [
        "make nothing",
        "python -m mitch_env.nothing",
        "python train/nothing.py",
        ".venv-rllib/bin/python examples/nothing.py",
        "python examples/rllib_ppo.py --nothing",
        "python -m benchmarks.profile whist",
        "python -m mitch_env.records replay",
        "python -m agents.tournament --game mitch_jp --players-agents random",
        "python -m agents.tournament --game whist --agents random",
        "python -m pytest tests/test_nothing.py",
    ],
)
def test_a_command_that_does_not_exist_is_noticed(line: str) -> None:
    with pytest.raises((AssertionError, SystemExit, ModuleNotFoundError)):
        check_command(line)


def run_command(line: str) -> str:
    """What a command of a console block prints; ``> FILE`` is carried out."""
    words = shlex.split(line)
    target = None
    if ">" in words:
        target = Path(words[words.index(">") + 1])
        words = words[: words.index(">")]
    assert words[:2] == ["python", "-m"], f"{line}: only modules are run"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        importlib.import_module(PARSERS[words[2]]).main(words[3:])
    if target is None:
        return out.getvalue()
    target.write_text(out.getvalue(), encoding="utf-8")
    return ""


@pytest.mark.parametrize("name", [name for name in PAGES if "```console" in page(name)])
def test_the_commands_of_a_page_print_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks_of(page(name)):
        if block.kind != "console":
            continue
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            line, _, written = part.partition("\n")
            printed = run_command(line)
            assert is_same(written, printed), f"{name}: {line}\n{printed}"


# --- Links and paths.

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`\n]+)`")
_FOLDERS = ("mitch_env", "agents", "train", "configs", "benchmarks", "examples", "docs", "tests")
#: What looks like a path of the project: a folder, a file with its suffix, an id of PettingZoo, or a file at the top.
_PATH = re.compile(
    rf"(?:{'|'.join(_FOLDERS)})/(?:[\w./-]*/)?(?:[\w-]+\.\w+|\w+-v\d+)?|\w+\.(?:py|md|toml|cff)|constraints[\w-]*\.txt|Makefile"
)


def without_blocks(text: str) -> str:
    """A page without its fenced blocks."""
    return _BLOCK.sub("", text)


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", without_blocks(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_the_links_of_a_page_lead_somewhere(name: str) -> None:
    for link in _LINK.findall(without_blocks(page(name))):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), f"{name}: {link}"
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{name}: {link}"


def is_there(path: str) -> bool:
    """Whether a path named in a text exists: from the top, or, for a file name alone, in one of the packages."""
    if (ROOT / path).exists():
        return True
    if re.fullmatch(r"mitch_env/\w+-v\d+", path):  # an id of PettingZoo
        return path.removeprefix("mitch_env/").partition("-v")[0] in importlib.import_module("mitch_env").GAMES
    return "/" not in path and any(next((ROOT / folder).rglob(path), None) for folder in _FOLDERS)


@pytest.mark.parametrize("name", PAGES)
def test_the_paths_that_a_page_names_exist(name: str) -> None:
    named = [code for code in _CODE.findall(without_blocks(page(name))) if _PATH.fullmatch(code)]
    assert [path for path in named if not is_there(path)] == []
    if name == "README.md":
        assert len(named) > 10


def test_every_page_is_reached_from_the_readme() -> None:
    linked = {link.partition("#")[0] for link in _LINK.findall(page("README.md"))}
    assert set(PAGES) - {"README.md"} <= linked
