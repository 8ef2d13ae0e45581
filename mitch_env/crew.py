"""Threads that share the work of one call, which the caller may leave at any moment.

A caller who is interrupted (Ctrl-C, a signal) may go on with what was interrupted. Python's executors then still hold what was
handed out, run it later beside what comes next, and may be left with a lock that nobody opens again. Here nothing of a call is
going on once the call has been left, and the caller takes no lock that an interrupt could leave closed.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

#: Who has a part of a job: a thread that works on it, or nobody ever.
_BEGUN, _DROPPED = "begun", "dropped"


class _Job:
    """Work in parts, one for each thread; the caller's is part 0.

    All that several threads change here is changed by single operations of dictionaries and queues.
    """

    def __init__(self, work: Callable[[int], Any], n_parts: int, give_up: Callable[[], None]) -> None:
        self.work, self.n_parts, self.give_up = work, n_parts, give_up
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
    """Threads of one process that do parts of jobs. They end when nobody has the crew any more.

    Args:
        n: How many there are, the caller not included.

    Attributes:
        process: The process that they live in; a forked one has none of them.

    Raises:
        RuntimeError: If a thread cannot be started; none is left then.
    """

    def __init__(self, n: int) -> None:
        self.process = os.getpid()
        self._in_use = threading.RLock()  # whoever holds it by an interrupt at a bad moment can go on
        self._job: _Job | None = None
        self._inboxes: list[SimpleQueue[_Job | None]] = [SimpleQueue() for _ in range(n)]
        weakref.finalize(self, _dismiss, self._inboxes)
        for part, inbox in enumerate(self._inboxes, 1):
            threading.Thread(target=_serve, args=(inbox, part), name=f"mitch_env_{part}", daemon=True).start()

    def run(self, work: Callable[[int], Any], n_parts: int, give_up: Callable[[], None]) -> Any:
        """``work(part)`` for each part at once: 0 in the calling thread, the others in one thread each.

        Only one call at a time; others wait for it. If an exception is raised in one part, or in the calling thread from
        outside, it comes out of here after all threads have ended their parts.

        Args:
            work: What to do.
            n_parts: Above 1, and at most one more than there are threads.
            give_up: Makes parts end that wait for others; called when one of these may not have begun, or has failed.

        Returns:
            What ``work(0)`` returned.
        """
        with self._in_use:
            self._drop_unfinished()
            job = self._job = _Job(work, n_parts, give_up)
            try:
                for inbox in self._inboxes[: n_parts - 1]:
                    inbox.put(job)
                answer = work(0)
                job.wait()
            except BaseException:
                self._drop_unfinished()
                raise
            self._job = None
        if job.errors:
            raise job.errors[0]
        return answer

    def _drop_unfinished(self) -> None:
        """Sees that nobody works on the last job, if it was left by an exception (even this may be interrupted)."""
        if self._job is not None:
            self._job.drop()
            self._job = None


def _serve(inbox: SimpleQueue[_Job | None], part: int) -> None:
    while True:
        job = inbox.get()
        if job is None:
            return
        job.do(part)
        del job  # and with it what the work is done on, while waiting for the next


def _dismiss(inboxes: list[SimpleQueue[_Job | None]]) -> None:
    for inbox in inboxes:
        inbox.put(None)
