"""How far a comparison is: a bar on a terminal, JSON lines for a program, nothing in a pipe."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from enum import StrEnum
from typing import Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from sim.cli.console import errors, is_terminal

__all__ = ["ProgressForm", "shown_progress"]


class ProgressForm(StrEnum):
    """What is written to stderr while runs are made."""

    AUTO = "auto"
    JSON = "json"
    NONE = "none"


class Report(Protocol):
    """How progress is told."""

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """`done` of `total` runs; `note`: what is still to be reached."""


@contextlib.contextmanager
def shown_progress(form: ProgressForm, title: str) -> Iterator[Report | None]:
    """A function to call with the runs done and the runs in all, and what is still to be reached; None
    where nobody looks."""
    if form is ProgressForm.JSON:
        yield _line
    elif form is ProgressForm.AUTO and is_terminal():
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, TimeRemainingColumn(), console=errors(), transient=True) as bar:
            task = bar.add_task(title, total=None)

            def show(done: int, total: int, note: str = "") -> None:
                text = f"{title}, {note}" if note else title
                bar.update(task, completed=done, total=total, description=text)

            yield show
    else:
        yield None


def _line(done: int, total: int, note: str = "") -> None:
    document = {"done": done, "total": total, **({"note": note} if note else {})}
    sys.stderr.write(json.dumps(document) + "\n")
    sys.stderr.flush()
