"""Signals at any time while a batch with several threads is stepped, in a process of its own: ``python interrupts.py once``.

The calling thread may then also be waiting for the others in C, where nothing but a real signal comes.
"""

from __future__ import annotations

import random
import signal
import sys
from collections.abc import Callable
from typing import Any

from mitch_env import Batch


class Interrupt(BaseException):
    """Stands for ``KeyboardInterrupt``."""


class Timer:
    """Calls a handler in the main thread a random time after ``start``, and perhaps once more soon after.

    Attributes:
        left: How often it is still called; 0 stops it at once.
    """

    def __init__(self, handler: Callable[[], Any]) -> None:
        self._rng, self._handler, self.left = random.Random(1), handler, 0

    def _on_signal(self, *_: Any) -> None:
        if self.left:
            self.left -= 1
            self._handler()

    def __enter__(self) -> Timer:
        self._before = signal.signal(signal.SIGALRM, self._on_signal)
        return self

    def start(self, again: float = 0.0) -> None:
        self.left = 2 if again else 1
        signal.setitimer(signal.ITIMER_REAL, self._rng.uniform(1e-5, 3e-3), again)

    def __exit__(self, *_: Any) -> None:
        self.left = 0
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before)


def interrupt() -> None:
    raise Interrupt


def interrupted(again: float) -> int:
    """How often steps were interrupted; each time the batch was as it should be, and went on."""
    batch, twin = Batch("mitch_jp", 4000, seed=1, threads=3), Batch("mitch_jp", 4000, seed=1)
    n_interrupts = 0
    with Timer(interrupt) as timer:
        for _ in range(300):
            actions = batch.random_actions().copy()
            try:
                timer.start(again)
                for _ in range(50):
                    batch.step(actions)
                    actions = batch.random_actions()
            except Interrupt:
                n_interrupts += 1
            timer.left = 0
            twin.restore(batch.snapshot())
            assert batch.tables.tobytes() == twin.tables.tobytes()
            assert again or batch.mask.tobytes() == twin.mask.tobytes()
            batch.restore(batch.snapshot())
            assert batch.mask.tobytes() == twin.mask.tobytes()
            actions = batch.random_actions()
            batch.step(actions)
            twin.step(actions)
            assert batch.tables.tobytes() == twin.tables.tobytes()
    return n_interrupts


def refused(check: bool) -> int:
    """How often a handler that uses the batch in its middle was refused; a checked step was played everywhere or nowhere."""
    batch, twin = Batch("mitch_jp", 4000, seed=1, threads=3, check=check), Batch("mitch_jp", 4000, seed=1)
    n_refused = 0
    with Timer(lambda: batch.random_actions([1, 2, 3, 4, 5, 6])) as timer:
        for round_ in range(300):
            actions = batch.random_actions().copy()
            twin.restore(batch.snapshot())
            is_refused = False
            try:
                timer.start()
                batch.step(actions)
            except RuntimeError as error:
                assert "a signal handler cannot use" in str(error)
                is_refused = True
            timer.left = 0
            n_refused += is_refused
            if not is_refused or (check and batch.tables.tobytes() != twin.tables.tobytes()):
                twin.step(actions)
            if check or not is_refused:
                assert batch.tables.tobytes() == twin.tables.tobytes()
            batch.reset(seed=round_)
    return n_refused


if __name__ == "__main__":
    kinds: dict[str, Callable[[], int]] = {
        "once": lambda: interrupted(0.0),
        "twice": lambda: interrupted(2e-4),
        "handler": lambda: refused(True),
        "handler unchecked": lambda: refused(False),
    }
    found = kinds[sys.argv[1]]()
    assert found, "it never happened, which tells nothing"
    print("fine:", found)
