"""What every case is held to: an answer or a located message, within 5 s of processor time and 1 GB."""

from __future__ import annotations

import contextlib
import resource
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from sim.errors import InputError

__all__ = ["bounded", "judged", "located"]

SECONDS = 5.0
BYTES = 2**30
PAGE = resource.getpagesize()


class TooSlowError(BaseException):
    """More than `SECONDS` of processor time; no `except Exception` of the program may swallow it."""


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """The block may take 5 s of this process and 1 GB more than it has now."""
    if threading.current_thread() is not threading.main_thread():  # signals reach the main thread alone
        yield
        return

    def late(number: int, frame: FrameType | None) -> None:
        msg = f"more than {SECONDS:g} s"
        raise TooSlowError(msg)

    before = signal.signal(signal.SIGPROF, late)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    if (statm := Path("/proc/self/statm")).is_file():
        size = int(statm.read_text().split()[0]) * PAGE
        resource.setrlimit(resource.RLIMIT_AS, (size + BYTES, limits[1]))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, limits)
        signal.signal(signal.SIGPROF, before)


def judged(call: Callable[[], Any], case: object) -> str:
    """`answered` or `refused`; AssertionError, with the case, for anything else."""
    try:
        with bounded():
            call()
    except InputError as error:
        located(error, case)
        return "refused"
    except (Exception, TooSlowError) as error:
        msg = f"{type(error).__name__}: {error}\n--- the case:\n{case}"
        raise AssertionError(msg) from error
    return "answered"


def located(error: InputError, case: object) -> None:
    """Every problem says where it is, and is short enough to read."""
    assert error.problems, case
    for problem in error.problems:
        assert problem.file or problem.key, (str(problem), case)
        assert problem.rule.strip(), case
        assert len(problem.rule) < 2000, (problem.rule[:300], case)
    text = str(error)
    assert "Traceback" not in text
    text.encode("utf-8", "backslashreplace")
