"""Contenders that take turns: each in a child process of its own, on the same core, round after round.

So all meet the same noise of the machine, and none profits from what another has left in a process (compiled code, threads,
memory). A module that measures something offers ``start(name, settings)``, which ``benchmarks/worker.py`` calls in the child.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[1]

OURS, PEERS, FLOORS = "ours", "peers", "floors"

#: Plays at least so many decisions and returns how many.
Play = Callable[[int], int]
#: Plays for about so many seconds and returns ``decisions``, ``seconds`` and what else was counted.
Round = Callable[[float], dict[str, float]]


@dataclass(frozen=True)
class Contender:
    """Somebody who plays.

    Attributes:
        name: As the tables show it.
        group: ``OURS``, ``PEERS`` or ``FLOORS``.
        how: What a decision consists of, in words.
        make: Makes it ready to play; raises if it cannot be (a library that is missing).
        cores: How many cores it may use.
    """

    name: str
    group: str
    how: str
    make: Callable[[], Any]
    cores: int = 1


def pick_cores(n: int) -> list[int]:
    """``n`` cores that this process may use, no two of them threads of one physical core; fewer if there are no more.

    Empty where processes cannot be pinned.
    """
    if not hasattr(os, "sched_getaffinity"):
        return []
    physical: dict[str, int] = {}
    for core in sorted(os.sched_getaffinity(0), reverse=True):  # the first cores serve interrupts
        siblings = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        physical.setdefault(siblings.read_text() if siblings.exists() else str(core), core)
    return list(physical.values())[:n]


@contextmanager
def on_one_core() -> Iterator[None]:
    """Pins this process, and what it starts, to the core that contenders play on."""
    cores = pick_cores(1)
    if not cores:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def child_environment(threads: int) -> dict[str, str]:
    """The environment variables of a child: libraries that start threads by themselves start that many.

    Python keeps its bytecode there, as it does for whoever installs a package.
    """
    names = ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "NUMBA")
    xla = f"--xla_cpu_multi_thread_eigen={str(threads > 1).lower()} intra_op_parallelism_threads={threads}"
    return {
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        **{f"{name}_NUM_THREADS": str(threads) for name in names},
        "XLA_FLAGS": xla,
        "JAX_PLATFORMS": "cpu",
        "OMP_WAIT_POLICY": "PASSIVE",
    }


def clocked(play: Play, seconds: float) -> dict[str, float]:
    """Plays by the clock, in chunks that are long enough for the look at the clock not to count."""
    decisions, chunk = 0, 1
    start = now = time.perf_counter()
    while now - start < seconds:
        before = now
        decisions += play(chunk)
        now = time.perf_counter()
        if now - before < min(0.01, seconds / 10):
            chunk *= 2
    return {"decisions": decisions, "seconds": now - start}


class ChildFailed(Exception):
    """A contender's process ended, or never became ready; the message says why."""


class Child:
    """The process of one contender, in this process's group.

    Attributes:
        facts: What the contender says about itself once it is ready.
    """

    def __init__(self, module: str, name: str, settings: Mapping[str, Any], cores: Sequence[int], threads: int) -> None:
        self.facts: dict[str, Any] = {}
        task = json.dumps({"module": module, "name": name, "settings": dict(settings), "cores": list(cores)})
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed in close()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", task],
            cwd=ROOT,
            env=child_environment(threads),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def wait_until_ready(self) -> None:
        """Waits for it to load and compile; ``ChildFailed`` if it cannot play."""
        answer = self._answer()
        if "missing" in answer:
            raise ChildFailed(answer["missing"])
        self.facts = answer["facts"]

    def play(self, seconds: float) -> dict[str, float]:
        """One round."""
        try:
            self._pipe(self._process.stdin).write(f"{seconds}\n")
            self._pipe(self._process.stdin).flush()
        except BrokenPipeError:
            raise ChildFailed(self._last_words()) from None
        return self._answer()

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            with suppress(BrokenPipeError):  # it may have ended with words unread
                self._pipe(pipe).close()

    def _answer(self) -> dict[str, Any]:
        line = self._pipe(self._process.stdout).readline()
        if not line:
            raise ChildFailed(self._last_words())
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        status = self._process.wait()
        if status < 0:
            return f"its process was ended by signal {-status}"
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return f"its process ended with status {status}" + (f": {lines[-1]}" if lines else "")

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe


@dataclass
class Played:
    """What came of it.

    Attributes:
        rounds: Of each contender, what each of its rounds counted.
        facts: What contenders said about themselves.
        missing: Why others did not play.
        cores: The cores that were used.
    """

    rounds: dict[str, list[dict[str, float]]]
    facts: dict[str, dict[str, Any]]
    missing: dict[str, str]
    cores: list[int]

    def rates(self) -> dict[str, list[float]]:
        """Decisions a second of each contender in each round."""
        return {name: [one["decisions"] / one["seconds"] for one in rounds] for name, rounds in self.rounds.items()}


def take_turns(
    module: str, contenders: Sequence[Contender], rounds: int, seconds: float, settings: Mapping[str, Any] | None = None
) -> Played:
    """Starts every contender, then lets each play once a round, there and back; whoever cannot play is named and left out."""
    cores = pick_cores(max((one.cores for one in contenders), default=1))
    played = Played({}, {}, {}, cores)
    children: dict[str, Child] = {}
    bar = tqdm(total=len(contenders) * (1 + rounds), unit="turn", disable=not sys.stderr.isatty())
    try:
        for one in contenders:
            bar.set_description(f"starting {one.name}")
            if cores and one.cores > len(cores):
                played.missing[one.name] = f"it needs {one.cores} cores, and this process may use {len(cores)}"
            else:
                children[one.name] = Child(module, one.name, settings or {}, cores[: one.cores], one.cores)
                _attempt(one.name, children, played, Child.wait_until_ready)
            bar.update()
        for number in range(1, rounds + 1):
            for name in list(children) if number % 2 else list(reversed(children)):  # what changes steadily changes both
                bar.set_description(f"round {number} of {rounds}: {name}")
                counted = _attempt(name, children, played, lambda child: child.play(seconds))
                if counted is not None:
                    played.rounds.setdefault(name, []).append(counted)
                bar.update()
    finally:
        bar.close()
        for child in children.values():
            child.close()
    return played


def _attempt(name: str, children: dict[str, Child], played: Played, do: Callable[[Child], Any]) -> Any:
    """Lets a child do something; one that fails is closed and named as missing, with all that it has played."""
    try:
        answer = do(children[name])
    except ChildFailed as error:
        played.missing[name] = str(error)
        played.rounds.pop(name, None)
        played.facts.pop(name, None)
        children.pop(name).close()
        return None
    played.facts[name] = children[name].facts
    return answer
