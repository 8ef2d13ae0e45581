"""Threads that share the work of one call, which the caller may leave at any moment.

A caller who is interrupted (Ctrl-C, a signal) may go on with what was interrupted. Python's executors then still hold what was
handed out, run it later beside what comes next, and may be left with a lock that nobody opens again. Here nothing of a call is
going on once the call has been left, and the caller takes no lock that an interrupt could leave closed.
"""

from __future__ import annotations

import os
import sys
import weakref
from _thread import start_new_thread  # one step, while Thread.start can be interrupted with a lock in hand
from collections.abc import Callable
from queue import SimpleQueue
from threading import RLock
from types import FrameType
from typing import Any

#: Who has a part of a job: a thread that works on it, or nobody ever.
_BEGUN, _DROPPED = "begun", "dropped"
#: How often something is tried that must be done although the caller is interrupted again and again.
_MOST_TRIES = 100


def finish(call: Callable[[], Any]) -> None:
    """Calls something until it has come to its end, although the caller is interrupted meanwhile.

    For what is done after an interrupt, which is raised afterwards; one that comes now is forgotten. It may begin again after
    any part of it has been done.
    """
    for _ in range(_MOST_TRIES):
        try:
            call()
            return
        except BaseException:
            continue
    call()


class _Job:
    """Work in parts, one for each thread; the caller's is part 0.

    All that several threads change here is changed by single operations of dictionaries and queues.
    """

    def __init__(self, work: Callable[[int], Any], n_parts: int, give_up: Callable[[], None], caller: FrameType) -> None:
        self.work, self.n_parts, self.give_up = work, n_parts, give_up
        self.caller: FrameType | None = caller
        self.owners: dict[int, str] = {}
        self.has_ended: dict[int, bool] = {}
        self.errors: list[BaseException] = []
        self._endings: SimpleQueue[int] = SimpleQueue()

    def do(self, part: int) -> None:
        """What a thread does, unless the job was dropped before."""
        if self.owners.setdefault(part, _BEGUN) != _BEGUN:
            return
        try:
            self.work(part)
        except BaseException as error:
            self.errors.append(error)
            self.give_up()
        finally:
            self.has_ended[part] = True
            self._endings.put(part)

    def is_under_way(self) -> bool:
        """Whether the call is still going on that made it, so that who asks was called from there."""
        frame: FrameType | None = sys._getframe()
        while frame is not None and frame is not self.caller:
            frame = frame.f_back
        return frame is not None

    def wait(self) -> None:
        """Until no thread works on it, or will."""
        for part in range(1, self.n_parts):
            while part not in self.has_ended and self.owners.get(part) != _DROPPED:
                self._endings.get()

    def drop(self) -> None:
        """No part is begun any more; those who work on one need not wait for others."""
        for part in range(1, self.n_parts):
            self.owners.setdefault(part, _DROPPED)
        self.give_up()
        self.wait()


class Crew:
    """Threads that do parts of jobs for one caller at a time. They start with the first job, and end when nobody has the crew.

    Args:
        n: How many there are, the caller not included.

    Attributes:
        turn: To be held by whoever works with what the crew works on; a thread may hold it several times, so that one whom an
            interrupt has left with it can go on.
    """

    def __init__(self, n: int) -> None:
        self._n = n
        _ALL.add(self)
        self.forget_threads()

    def forget_threads(self) -> None:
        """As new: a forked process has none of the threads, and nobody there holds the turn."""
        self.turn = RLock()
        self._job: _Job | None = None
        self._inboxes: list[SimpleQueue[Any]] = []

    def run(self, work: Callable[[int], Any], n_parts: int, give_up: Callable[[], None]) -> Any:
        """``work(part)`` for each part at once: 0 in the calling thread, the others in one thread each.

        An exception that is raised in one part, or in the calling thread from outside, comes out of here after all threads have
        ended their parts.

        Args:
            work: What to do.
            n_parts: Above 1, and at most one more than there are threads.
            give_up: Makes parts end that wait for others; called when one of these may not have begun, or has failed.

        Returns:
            What ``work(0)`` returned.

        Raises:
            RuntimeError: If a thread cannot be started, or if it is called while it is at work, by a signal handler.
        """
        with self.turn:
            self.settle()
            if not self._inboxes:
                self._start()
            job = self._job = _Job(work, n_parts, give_up, sys._getframe())
            try:
                for inbox in self._inboxes[: n_parts - 1]:
                    inbox.put(job)
                answer = work(0)
                job.wait()
            except BaseException:
                finish(self._drop)
                raise
            self._job = job.caller = None  # the frame holds the job, so that neither would go away by itself
        if job.errors:
            raise job.errors[0]
        return answer

    def settle(self) -> None:
        """Sees that nobody works on a job that was left by an exception, should even the end of that have been interrupted.

        Raises:
            RuntimeError: If a job of the calling thread is under way.
        """
        if self._job is not None:
            with self.turn:
                if self._job is not None and self._job.is_under_way():
                    raise RuntimeError("a call with several threads is under way: a signal handler cannot use what it works on")
                finish(self._drop)

    def _drop(self) -> None:
        job = self._job
        if job is not None:
            job.drop()
            self._job = job.caller = None

    def _start(self) -> None:
        inboxes: list[SimpleQueue[Any]] = [SimpleQueue() for _ in range(self._n)]
        try:
            for part, inbox in enumerate(inboxes, 1):
                # At the end something that is no job is put there, without an instruction of Python that could be interrupted.
                start_new_thread(_serve, (inbox, part, weakref.ref(self, inbox.put)))
        except BaseException:
            for inbox in inboxes:
                inbox.put(None)
            raise
        self._inboxes = inboxes


def _serve(inbox: SimpleQueue[Any], part: int, crew: weakref.ref[Crew]) -> None:
    while True:
        job = inbox.get()
        if not isinstance(job, _Job):
            return
        job.do(part)
        del job  # and with it what the work is done on, while waiting for the next


_ALL: weakref.WeakSet[Crew] = weakref.WeakSet()


def _after_fork() -> None:
    for crew in _ALL:
        crew.forget_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
