"""A command in a process of its own, started as the command line would, watched by threads.

The page polls; nothing here calls streamlit. A command that crashes cannot take the page down, and its
results lie in the output folder before the page hears of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = ["ChildRun", "Narrowing", "State"]

State = Literal["waiting", "running", "done", "failed", "stopped"]

LARGEST_DOCUMENT = 64 * 1024 * 1024
"""Characters of a document that are read at most; a larger one is taken for a fault."""

LARGEST_MESSAGE = 20_000
"""Characters of a message that are kept."""

GRACE_S = 5.0
"""Time for a stopped command to take half-written files away, seconds."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What is known so far of one metric of one strategy: mean and interval over the finished runs."""

    strategy: str
    metric: str
    unit: str
    mean: float | None
    low: float | None
    high: float | None
    n: int


class ChildRun:
    """One command: waiting for its turn, running, then ended with a document or a message."""

    def __init__(self, command: Sequence[str], ended: Callable[[], None] = lambda: None) -> None:
        """`ended` is called once, from a thread, when there is nothing more to wait for."""
        self.command = tuple(command)
        self.done = 0
        self.total = 0
        self.note = ""
        """What is still to be reached, in the program's words."""
        self.so_far: tuple[Narrowing, ...] = ()
        self.document: dict[str, Any] | None = None
        self.folder: str | None = None
        """Where the command wrote its results, as its document says."""
        self.message = ""
        self.state: State = "waiting"
        self._ended = ended
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self._first: tuple[float, int] | None = None
        self._last: float | None = None

    @property
    def queued(self) -> bool:
        """Whether it still waits for other commands."""
        return self.state == "waiting"

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self._over.is_set()

    @property
    def rate(self) -> float | None:
        """Runs a second since the first word of progress (kept runs come at once); None at first."""
        if self._first is None or self._last is None:
            return None
        since, done = self._first
        return (self.done - done) / (self._last - since) if self._last > since and self.done > done else None

    @property
    def left_s(self) -> float | None:
        """Seconds to the end at this rate; None where it cannot be said."""
        return None if self.rate is None or self.total <= 0 else (self.total - self.done) / self.rate

    def start(self) -> None:
        """Start the process; does nothing where it was stopped while it waited."""
        with self._lock:
            if self.state != "waiting":
                return
            self.state = "running"
        threading.Thread(target=self._work, daemon=True).start()

    def cancel(self) -> None:
        """Stop the command; what it has not written yet is not written."""
        with self._lock:
            waiting, process = self.state == "waiting", self._process
            if self.ended or self.state not in ("waiting", "running"):
                return
            self.state = "stopped"
        if waiting:
            self._finish()
        elif process is not None:
            threading.Thread(target=_stop, args=(process,), daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait at most so long; whether the command has ended."""
        return self._over.wait(seconds)

    def forget(self) -> None:
        """Let the document go; what the command wrote stays where it is."""
        self.document = None

    def _work(self) -> None:
        try:
            code, text = self._run()
        except OSError as error:
            code, text = 1, ""
            self.message = f"The command could not be started: {error.strerror}."
        with self._lock:
            if self.state == "running":
                self._take(code, text)
        self._finish()

    def _take(self, code: int, text: str) -> None:
        """What the command left: a document, or a message that says why there is none."""
        self.state = "failed"
        if code == 0:
            try:
                found = json.loads(text)
            except ValueError:
                found = None
            if isinstance(found, dict):
                self.document, self.state = found, "done"
                folder = found.get("folder")
                self.folder = "/".join(Path(folder).parts[-2:]) if isinstance(folder, str) else None
                return
            self.message = self.message or "The command ended without the document that was expected."
        elif not self.message:
            self.message = f"The command ended with code {code} and said nothing."

    def _finish(self) -> None:
        self._over.set()
        self._ended()

    def _run(self) -> tuple[int, str]:
        # The pipe to its standard input tells the child when this server is gone (see child.py).
        with subprocess.Popen(  # noqa: S603  # the command is ours, each word of it one argument
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, encoding="utf-8", errors="replace", start_new_session=True,
        ) as process:  # fmt: skip
            with self._lock:
                self._process = process
                stopped = self.state == "stopped"
            if stopped:
                _stop(process)
            listener = threading.Thread(target=self._listen, args=(process.stderr,), daemon=True)
            listener.start()
            text = "" if process.stdout is None else process.stdout.read(LARGEST_DOCUMENT)
            if len(text) == LARGEST_DOCUMENT:
                _stop(process)
            code = process.wait()
            _end_group(process)
            listener.join()
        return code, text

    def _listen(self, lines: Iterable[str]) -> None:
        """Read progress lines; everything else on stderr is the message."""
        said: list[str] = []
        for line in lines:
            try:
                progress = json.loads(line)
                self.done, self.total = int(progress["done"]), int(progress["total"])
                self.note = str(progress.get("note", ""))
                if "so_far" in progress:
                    self.so_far = tuple(Narrowing(**one) for one in progress["so_far"])
            except (ValueError, KeyError, TypeError, AttributeError):
                if sum(map(len, said)) < LARGEST_MESSAGE:
                    said.append(line)
                continue
            now = time.monotonic()
            self._first = self._first or (now, self.done)
            self._last = now
        self.message = "".join(said).strip()[:LARGEST_MESSAGE]


def _stop(process: subprocess.Popen[str]) -> None:
    """Ask the process to end, then make it."""
    with contextlib.suppress(OSError):
        process.terminate()
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(OSError):
            process.kill()
    _end_group(process)


def _end_group(process: subprocess.Popen[str]) -> None:
    """End what the command started and left behind."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
