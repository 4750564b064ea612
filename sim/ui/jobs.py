"""Commands that the page runs: one queue for everybody on this server, found again after a refresh.

`submit` returns a job whose number stands in the address (`job=`); `watch` shows its progress on any page,
with a way to stop it. A command writes its results below outputs/ before the page hears of it, so a
closed tab loses nothing. The page polls; nothing in a thread calls streamlit.
"""

from __future__ import annotations

import os
import secrets
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from sim.ui.runner import ChildRun

__all__ = ["AT_ONCE", "OUT", "FullError", "Job", "Jobs", "jobs", "sim_command"]

OUT = Path("outputs")
"""Where results lie, from the folder in which the page was started; nothing else is written."""

AT_ONCE = 2
"""Commands that one server works on at a time; others wait. Short ones have as many places of their own, so
that nobody waits hours for seconds of work."""

MOST_WAITING = 30
"""Commands that may wait; more are refused, so that nobody fills the server by holding a key down."""

REMEMBERED = 40
"""Ended commands that the server still knows."""

DOCUMENTS = 12
"""Of these, how many with their documents; the others point to their folder."""

LOOKING_S = 3.0
"""Seconds after its last look at a command for which a window counts as one that follows it."""

MANY_RUNS = frozenset({"commit", "compare", "recommend", "sensitivity", "stepup", "sweep"})
"""Commands that spread their runs over processes and tell their progress."""


CHILD = (sys.executable, "-m", "sim.ui.child")


class FullError(Exception):
    """The queue takes no more for now."""


def sim_command(*words: str | Path) -> list[str]:
    """The command line of the program with these words, each of them one argument.

    Commands that make many runs get their share of the processors, for two of them may run at once, and
    tell their progress as JSON lines.
    """
    texts = [str(word) for word in words]
    if texts and texts[0] in MANY_RUNS:
        texts += ["--jobs", str(_share())] if "--jobs" not in texts else []
        texts += ["--progress", "json"] if "--progress" not in texts else []
    return [*CHILD, *texts]


def _is_short(command: Sequence[str]) -> bool:
    """Whether it is a command of the program that makes no more than one run."""
    return tuple(command[: len(CHILD)]) == CHILD and command[len(CHILD)] not in MANY_RUNS


def _share() -> int:
    """Worker processes of one command: what leaves room for the other ones."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, usable // AT_ONCE)


@dataclass(frozen=True, slots=True)
class Job:
    """One command of a page: what it is about, the process, and for which page."""

    id: str
    kind: str
    title: str
    run: ChildRun
    short: bool = False
    """Seconds of work: it makes one run or none."""
    _looks: dict[str, float] = field(default_factory=dict, compare=False, repr=False)
    """Window -> when it looked last, by the clock of `monotonic`."""

    def others(self, window: str) -> int:
        """Note that a window looks at the command now; how many other ones have done so just before."""
        now = time.monotonic()
        self._looks[window] = now
        return sum(now - when < LOOKING_S for one, when in list(self._looks.items()) if one != window)


@dataclass(slots=True)
class Jobs:
    """All commands that this server was asked to run, oldest first; some run, others wait in order."""

    at_once: int = AT_ONCE
    known: dict[str, Job] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def submit(self, kind: str, title: str, command: Sequence[str]) -> Job:
        """Start a command, or put it in the queue; one that already waits or runs is not asked for twice.

        Raises FullError where too many wait.
        """
        with self.lock:
            for job in self.known.values():
                if not job.run.ended and job.run.command == tuple(command):
                    return job
            if len(self.waiting()) >= MOST_WAITING:
                raise FullError
            name = secrets.token_urlsafe(9)
            job = Job(name, kind, title, ChildRun(command, self._next), _is_short(command))
            self.known[name] = job
            self._next()
            return job

    def get(self, name: str) -> Job | None:
        """The command of this id, as long as the server remembers it."""
        with self.lock:
            return self.known.get(name)

    def waiting(self) -> list[Job]:
        """Commands that wait for their turn, in order."""
        with self.lock:
            return [job for job in self.known.values() if job.run.state == "waiting"]

    def running(self) -> list[Job]:
        """Commands at work, the oldest first; one that was told to stop counts until it has ended."""
        with self.lock:
            return [job for job in self.known.values() if job.run.state != "waiting" and not job.run.ended]

    def place(self, job: Job) -> int:
        """How many commands wait before this one."""
        waiting = [other for other in self.waiting() if other.short == job.short]
        return waiting.index(job) if job in waiting else 0

    def _next(self) -> None:
        """Give free places to those who wait, and forget what ended long ago."""
        with self.lock:
            for short in (True, False):
                busy = sum(job.short == short for job in self.running())
                waiting = [job for job in self.waiting() if job.short == short]
                for job in waiting[: max(0, self.at_once - busy)]:
                    job.run.start()
            ended = [job for job in self.known.values() if job.run.ended]
            for job in ended[: max(0, len(ended) - DOCUMENTS)]:
                job.run.forget()
            for job in ended[: max(0, len(ended) - REMEMBERED)]:
                del self.known[job.id]


@cache
def jobs() -> Jobs:
    """The queue of this server, shared by all sessions."""
    return Jobs()
