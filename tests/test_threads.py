"""Batches on several threads: the same results, no thread left behind, and callers who are interrupted or refused."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from batches import contents, mixed, play
from games import times

from mitch_env import Batch, IllegalActionError, crew
from mitch_env import batch as batch_module
from mitch_env.jit import config
from mitch_env.kernels import BLOCK, CREW_ROW, END, NEXT, VERDICT


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("threads", [2, 3, 7])
def test_threads_write_the_same_bytes(threads: int, canonical: bool) -> None:
    options = mixed("mitch_jp", 21)
    one = Batch("mitch_jp", options=options, seed=4, canonical=canonical)
    many = Batch("mitch_jp", options=options, seed=4, canonical=canonical, threads=threads)
    for step in range(times(120)):
        rows = None if step % 3 else np.arange(step % 5, 21, 1 + step % 2)
        actions = one.random_actions(rows)
        assert np.array_equal(actions, many.random_actions(rows))
        one.step(actions, rows)
        many.step(actions, rows)
        assert contents(one) == contents(many)


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_one_illegal_action_stops_every_thread(threads: int, canonical: bool) -> None:
    batch = Batch("mitch_jp", 40, seed=1, threads=threads, canonical=canonical)
    play(batch, 20)
    before = contents(batch)
    for row in (0, 19, 39):
        for _ in range(20):
            actions = batch.random_actions().copy()
            actions[[row, 39]] = 105 if not batch.mask[row, 105] else -1, actions[39] if row != 39 else -1
            with pytest.raises(IllegalActionError, match=f"table {row}"):
                batch.step(actions)
            batch.restore(batch.snapshot())
    assert contents(batch)["tables"] == before["tables"]
    batch.step(batch.random_actions())


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_threads_that_take_blocks_write_the_same_bytes(threads: int) -> None:
    """More rows than one block for each, and some rows only."""
    n = 7 * BLOCK * threads + 5
    one, many = (Batch("mitchell", n, seed=4, threads=each) for each in (1, threads))
    for step in range(times(60)):
        rows = None if step % 3 else np.arange(step % 5, n, 1 + step % 2)
        actions = one.random_actions(rows)
        assert np.array_equal(actions, many.random_actions(rows))
        one.step(actions, rows)
        many.step(actions, rows)
        assert contents(one) == contents(many)


@pytest.mark.parametrize("worker", [0, 1, 2])
def test_a_thread_that_is_done_does_what_others_have_not_begun(worker: int) -> None:
    """One of three threads, whose others never come: it chooses and plays all that they have not taken."""
    n = 6 * BLOCK + 10
    batch, twin = Batch("mitch_jp", n, seed=1), Batch("mitch_jp", n, seed=1)
    cuts = np.array([0, BLOCK + 3, 4 * BLOCK, n])
    taken_by_others = np.zeros(n, bool)
    taken_by_others[cuts[1] : cuts[1] + BLOCK] = True
    rows = np.flatnonzero(~taken_by_others)

    def flags() -> np.ndarray:
        crew = np.zeros(3 * CREW_ROW, np.int64)
        crew[NEXT::CREW_ROW], crew[END::CREW_ROW] = cuts[:-1], cuts[1:]
        crew[CREW_ROW + NEXT] += BLOCK  # the second one has taken a block
        return crew

    actions = np.full(n, -7)
    lo, hi = int(cuts[worker]), int(cuts[worker + 1])
    batch._pick_range(batch._all_rows, actions, flags(), worker, lo, hi)
    assert np.array_equal(actions == -7, taken_by_others)
    assert np.array_equal(actions[rows], twin.random_actions(rows))
    assert batch._step_range(batch._all_rows, actions, False, flags(), worker, lo, hi) < 0
    twin.step(actions[rows], rows)
    assert contents(batch) == contents(twin)
    left = flags()
    left[NEXT::CREW_ROW] = cuts[1:]
    before = contents(batch)
    assert batch._step_range(batch._all_rows, actions, False, left, worker, lo, hi) < 0, "nothing is left to do"
    assert contents(batch) == before and not left[VERDICT::CREW_ROW].any()


def test_whether_a_step_checks_is_the_same_for_all_its_threads() -> None:
    """Whoever changes ``check`` meanwhile changes the next step; a thread that checks would wait for one that does not."""
    batch, seen = Batch("mitch_jp", 40, seed=1, threads=3), set()
    step_range = batch._step_range

    def looks(where: Any, actions: Any, checks: bool, *rest: Any) -> int:
        seen.add(checks)
        batch.check = not batch.check
        return step_range(where, actions, checks, *rest)

    batch._step_range = looks  # type: ignore[method-assign]
    for _ in range(10):
        seen.clear()
        play(batch, 1)
        assert len(seen) == 1


def test_few_rows_are_done_by_the_calling_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """To wake up another one would take longer."""
    monkeypatch.undo()  # what conftest sets
    assert batch_module.FEWEST_ROWS > 2
    batch = Batch("mitch_jp", 2 * batch_module.FEWEST_ROWS - 1, seed=1, threads=2)
    play(batch, 3)
    assert not crew_threads(batch)
    batch = Batch("mitch_jp", 2 * batch_module.FEWEST_ROWS, seed=1, threads=2)
    play(batch, 1)
    assert len(crew_threads(batch)) == 1


def crew_threads(batch: Batch | None = None) -> set[int]:
    """The threads of crews that are alive, or those of one batch (a thread may have the number of one that has ended)."""
    alive = {one: frame for one, frame in sys._current_frames().items() if frame.f_code is crew._serve.__code__}
    if batch is None:
        return set(alive)
    return {one for one, frame in alive.items() if any(frame.f_locals["inbox"] is inbox for inbox in batch._crew._inboxes)}


def wait_until_ended(threads: set[int]) -> None:
    for _ in range(2000):
        if not threads & crew_threads():
            return
        time.sleep(0.005)
    raise AssertionError("they are still there")


def test_threads_end_with_their_batch() -> None:
    batch = Batch("mitch_jp", 40, seed=1, threads=5)
    play(batch, 2)
    started = crew_threads(batch)
    assert len(started) == 4
    is_there = weakref.ref(batch)
    gc.collect()
    gc.disable()  # nothing holds itself in a circle
    try:
        play(batch, 3)
        del batch
        wait_until_ended(started)
        assert is_there() is None
    finally:
        gc.enable()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    batch, plain = Batch("mitch_jp", 40, seed=1, threads=3), Batch("mitch_jp", 40, seed=1)
    play(batch, 2)
    play(plain, 4)
    child = os.fork()
    if child == 0:
        play(batch, 2)
        os._exit(0 if batch.tables.tobytes() == plain.tables.tobytes() else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_row_that_stands_twice_gets_two_actions_on_any_number_of_threads() -> None:
    one, many = (Batch("mitch_jp", 50, seed=1, threads=threads) for threads in (1, 4))
    rows = [3] * 4000 + [7, 3]
    for _ in range(3):
        assert np.array_equal(one.random_actions(rows), many.random_actions(rows))
    assert np.array_equal(one.random_actions(), many.random_actions())


# --- Interrupts. Whoever catches one may go on with the batch.


compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="plain Python can be interrupted in the middle of a rule")


class Interrupt(BaseException):
    """Stands for ``KeyboardInterrupt``, which pytest would take for itself."""


def is_interrupted(call: Callable[[], Any], moment: int) -> bool:
    """Calls, and raises ``Interrupt`` in this thread before the ``moment``-th instruction that it runs of ``mitch_env``."""
    left = moment

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if not frame.f_globals.get("__name__", "").startswith("mitch_env"):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left < 0:
                raise Interrupt  # and nothing more is traced
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except Interrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@compiled_only
@pytest.mark.parametrize("observation", ["flat", "tokens"])
@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_step_interrupted_at_any_moment_is_played_or_not(threads: int, canonical: bool, observation: str) -> None:
    settings: dict[str, Any] = {"options": mixed("mitch_jp", 24), "seed": 1, "canonical": canonical, "observation": observation}
    batch, twin = Batch("mitch_jp", threads=threads, **settings), Batch("mitch_jp", **settings)
    outcomes = set()
    play(batch, 1)  # what compiles has compiled
    play(twin, 1)
    for moment in itertools.count():
        actions = batch.random_actions().copy()
        batch.restore(batch.snapshot())
        twin.restore(batch.snapshot())
        paid = batch.reward.copy()
        was_interrupted = is_interrupted(lambda actions=actions: batch.step(actions), moment)
        is_played = batch.tables.tobytes() != twin.tables.tobytes()
        if is_played:
            twin.step(actions)
            paid = twin.reward
        assert batch.tables.tobytes() == twin.tables.tobytes() and np.array_equal(batch.reward, paid)
        assert batch.encoder.flat.tobytes() == twin.encoder.flat.tobytes() and np.array_equal(batch.mask, twin.mask)
        if observation == "tokens":
            assert np.array_equal(batch.observation["tokens"], twin.observation["tokens"])
        outcomes.add((was_interrupted, is_played))
        if not was_interrupted:
            break
    assert outcomes == {(True, False), (True, True), (False, True)}


@compiled_only
@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("call", ["reset", "restore", "random_actions"])
def test_what_else_is_interrupted_at_any_moment_is_done_or_not(call: str, canonical: bool) -> None:
    """And what is seen is what lies on the tables."""
    batch, twin = (Batch("mitchell", 24, seed=1, threads=threads, canonical=canonical) for threads in (3, 1))
    rows = np.array([3, 17, 4, 11, 12, 0, 23])
    saved = batch.snapshot(rows)
    play(batch, 3)
    calls: dict[str, Callable[[], Any]] = {
        "reset": lambda: batch.reset(rows, seed=moment),
        "restore": lambda: batch.restore(saved, rows),
        "random_actions": batch.random_actions,
    }
    for moment in itertools.count():
        was_interrupted = is_interrupted(calls[call], moment)
        twin.restore(batch.snapshot())
        for name in ("observation", "mask", "actor"):
            assert np.array_equal(getattr(batch, name), getattr(twin, name)), name
        if not was_interrupted:
            break
        actions = batch.random_actions()
        batch.step(actions)
        twin.step(actions)
        assert batch.tables.tobytes() == twin.tables.tobytes()
    assert moment > 100


@compiled_only
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
@pytest.mark.parametrize("what", ["once", "twice", "handler", "handler unchecked"])
def test_signals_at_any_time_leave_nobody_at_work(what: str) -> None:
    """In a process of its own: pytest is not made for them."""
    command = [sys.executable, str(Path(__file__).with_name("interrupts.py")), what]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout.startswith("fine"), done.stderr


# --- Failures.


def test_a_thread_that_cannot_be_started_is_told_and_the_next_step_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    start = crew.start_new_thread
    for failing in (0, 1, 2):
        batch, twin = (Batch("mitch_jp", 40, seed=1, threads=threads) for threads in (4, 1))
        play(batch, 1)
        play(twin, 1)
        batch._crew = crew.Crew(3)  # without threads before it needs them
        gc.collect()
        alive, before, left = crew_threads(), contents(batch), failing

        def fails(*what: Any) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise RuntimeError("can't start new thread")
            start(*what)

        actions = twin.random_actions().copy()
        monkeypatch.setattr(crew, "start_new_thread", fails)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            batch.step(actions)
        assert contents(batch) == before
        monkeypatch.setattr(crew, "start_new_thread", start)
        wait_until_ended(crew_threads() - alive)
        batch.step(actions)
        twin.step(actions)
        assert contents(batch) == contents(twin)


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_what_fails_in_a_thread_is_raised_and_the_batch_goes_on(failing: int, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = Batch("mitch_jp", 40, seed=1, threads=3)
    play(batch, 2)
    before, actions = contents(batch), batch.random_actions().copy()
    step_range = Batch._step_range

    def fails(self: Batch, where: Any, actions: Any, checks: bool, crew: Any, worker: int, lo: int, hi: int) -> int:
        if worker == failing:
            raise MemoryError(f"in thread {failing}")
        return step_range(self, where, actions, checks, crew, worker, lo, hi)

    monkeypatch.setattr(Batch, "_step_range", fails)
    with pytest.raises(MemoryError, match=f"in thread {failing}"):
        batch.step(actions)
    monkeypatch.setattr(Batch, "_step_range", step_range)
    assert contents(batch) == before
    batch.step(actions)
    play(batch, 2)


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_two_threads_may_step_rows_of_their_own(n_threads: int, canonical: bool) -> None:
    batch, twin = (Batch("mitch_jp", 80, seed=1, threads=threads, canonical=canonical) for threads in (n_threads, 1))
    halves = np.arange(40), np.arange(40, 80)
    failed: list[BaseException] = []

    def steps(rows: np.ndarray) -> None:
        try:
            for _ in range(200):
                batch.step(batch.random_actions(rows), rows)
                with pytest.raises(IllegalActionError):
                    batch.step(np.full(40, -1), rows)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=steps, args=(rows,), daemon=True) for rows in halves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads) and not failed
    for rows in halves:
        for _ in range(200):
            twin.step(twin.random_actions(rows), rows)
    assert contents(batch) == contents(twin)


LATE = """
import atexit, threading
atexit.register(lambda: "first" in globals() and late())  # before anything else is registered
from mitch_env import Batch
batch, twin = Batch("mitch_jp", 40, seed=1, threads=3), Batch("mitch_jp", 40, seed=1)
def play():
    batch.step(batch.random_actions())
    twin.step(twin.random_actions())
def late():
    for _ in range(5):
        play()
    print("played", batch.tables.tobytes() == twin.tables.tobytes(), flush=True)
def after_the_main_thread():
    threading.main_thread().join()
    late()
play()  # nothing can be imported any more at the very end
class Late:
    __del__ = lambda self, late=late: late()
"""


@pytest.mark.parametrize(
    "when", ["first = True", "atexit.register(late)", "threading.Thread(target=after_the_main_thread).start()", "kept = Late()"]
)
def test_a_batch_can_be_stepped_when_the_program_ends(when: str) -> None:
    done = subprocess.run([sys.executable, "-c", LATE + when], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "played True\n"), done.stderr


@pytest.mark.parametrize("name", ["threads", "canonical"])
def test_what_a_batch_was_made_for_cannot_be_changed(name: str) -> None:
    batch = Batch("mitch_jp", 4, seed=1)
    with pytest.raises(AttributeError, match=name):
        setattr(batch, name, 2)
    assert getattr(batch, name) == {"threads": 1, "canonical": False}[name]
