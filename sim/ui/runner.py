"""A comparison in a process of its own, started as the command line would, watched by a thread.

The page polls; nothing here calls streamlit. A run that crashes cannot take the page down, and the
results lie in the output folder before the page hears of them.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["ChildRun", "compare_command"]

RUNS_AT_ONCE = 2
"""Comparisons that one page server works on at a time; others queue."""


def compare_command(
    file: Path, out: Path, replications: int, seed: int, price: str | None, baseline: str | None = None
) -> list[str]:
    """The command that the page runs, argument by argument."""
    command = [sys.executable, "-m", "sim", "compare", str(file), "--format", "json", "--progress", "json"]
    command += ["--out", str(out), "--replications", str(replications), "--seed", str(seed)]
    if price is not None:
        command += ["--price", price]
    if baseline is not None:
        command += ["--baseline", baseline]
    return command


class ChildRun:
    """One run: queued, running, then ended with a document or a message."""

    def __init__(self, command: Sequence[str], gate: threading.Semaphore) -> None:
        self.command = tuple(command)
        self.done = 0
        self.total = 0
        self.document: dict[str, Any] | None = None
        self.message = ""
        self._gate = gate
        self._process: subprocess.Popen[str] | None = None
        self._cancelled = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    @property
    def queued(self) -> bool:
        """Whether it still waits for other runs."""
        return self._process is None and self._thread.is_alive()

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to wait for."""
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """End the run; what it has not written yet is not written."""
        self._cancelled.set()
        if self._process is not None:
            with contextlib.suppress(OSError):
                self._process.terminate()

    def wait(self, seconds: float) -> bool:
        """Wait at most so long; whether the run has ended."""
        self._thread.join(seconds)
        return self.ended

    def _work(self) -> None:
        with self._gate:
            if not self._cancelled.is_set():
                self._run()
        if self._cancelled.is_set():
            self.document, self.message = None, "Stopped."

    def _run(self) -> None:
        with subprocess.Popen(  # noqa: S603  # the command is ours, the file name is one argument
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, encoding="utf-8", errors="replace",
        ) as process:  # fmt: skip
            self._process = process
            atexit.register(self.cancel)
            listener = threading.Thread(target=self._listen, args=(process.stderr,), daemon=True)
            listener.start()
            text = "" if process.stdout is None else process.stdout.read()
            code = process.wait()
            listener.join()
            atexit.unregister(self.cancel)
        if code == 0:
            self.document = json.loads(text)
        elif not self.message:
            self.message = f"The run ended with code {code} and said nothing."

    def _listen(self, lines: Iterable[str]) -> None:
        """Read progress lines; everything else on stderr is the message."""
        said = []
        for line in lines:
            try:
                progress = json.loads(line)
                self.done, self.total = int(progress["done"]), int(progress["total"])
            except (ValueError, KeyError, TypeError):
                said.append(line)
        self.message = "".join(said).strip()
