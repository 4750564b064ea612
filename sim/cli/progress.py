"""How far a comparison is: a bar on a terminal, JSON lines for a program, nothing in a pipe."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from sim.cli.console import errors, is_terminal

__all__ = ["ProgressForm", "shown_progress"]


class ProgressForm(StrEnum):
    """What is written to stderr while runs are made."""

    AUTO = "auto"
    JSON = "json"
    NONE = "none"


@contextlib.contextmanager
def shown_progress(form: ProgressForm, title: str) -> Iterator[Callable[[int, int], None] | None]:
    """A function to call with the runs done and the runs in all; None where nobody looks."""
    if form is ProgressForm.JSON:
        yield _line
    elif form is ProgressForm.AUTO and is_terminal():
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, TimeRemainingColumn(), console=errors(), transient=True) as bar:
            task = bar.add_task(title, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    else:
        yield None


def _line(done: int, total: int) -> None:
    sys.stderr.write(json.dumps({"done": done, "total": total}) + "\n")
    sys.stderr.flush()
