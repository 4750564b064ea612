"""The worker process: one case in a process of its own, so that memory is clean and a crash is alone."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError

from sim.measure.outcome import OUTCOME, Failed, Order, Outcome

__all__ = ["CASE", "PROBE", "ask_worker", "run_case"]

CASE = "case"
"""Verb of the worker: measure the case of an order."""

PROBE = "probe"
"""Verb of the worker: say what card there is."""

_TAIL_LINES = 3
_TAIL_CHARS = 400


def run_case(order: Order) -> Outcome:
    """Measure one case in a process of its own, which is gone, with its memory, when this returns.

    Never raises for what happens to the case: a crash comes back as `Failed`, with its last words.
    """
    answer, words = ask_worker(CASE, order)
    if answer is None:
        return Failed(message=words)
    try:
        return OUTCOME.validate_json(answer)
    except ValidationError as error:
        return Failed(message=f"the worker's answer cannot be read: {error.errors()[0]['msg']}")


def ask_worker(verb: str, order: BaseModel | None = None) -> tuple[bytes | None, str]:
    """Start a worker and wait for it: its answer, and why there is none where it is None."""
    with tempfile.TemporaryDirectory(prefix="fleetsim-measure-") as name:
        folder = Path(name)
        answer, log = folder / "answer.json", folder / "log.txt"
        files = [answer]
        if order is not None:
            files.append(folder / "order.json")
            files[1].write_text(order.model_dump_json(), encoding="utf-8")
        with log.open("wb") as words:
            code = _wait(_command(verb, files), words.fileno())
        if code == 0 and answer.exists():
            return answer.read_bytes(), ""
        return None, _last_words(code, log.read_text(encoding="utf-8", errors="replace"))


def _command(verb: str, files: Sequence[Path]) -> list[str]:
    return [sys.executable, "-m", "sim.measure.worker", verb, *map(str, files)]


def _wait(command: list[str], log: int) -> int:
    # The worker ends when its standard input does: it must not outlive this process and hold the
    # card while the next one measures. What libraries print goes to the log, never to our output.
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log) as process:  # noqa: S603
        try:
            return process.wait()
        except BaseException:
            process.kill()
            raise


def _last_words(code: int, log: str) -> str:
    if code < 0:
        how = f"ended by signal {-code}"
        if code == -9:
            how += " (often the system, where the machine's own memory is full)"
    else:
        how = f"ended with code {code}"
    lines = [" ".join(line.split()) for line in log.splitlines() if line.strip()]
    tail = " | ".join(lines[-_TAIL_LINES:])[-_TAIL_CHARS:]
    return f"{how}: {tail}" if tail else how
