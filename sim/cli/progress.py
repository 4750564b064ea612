"""How far a comparison is: a bar on a terminal, JSON lines for a program, nothing in a pipe."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeAlias

import typer

from sim.cli.console import errors, is_terminal

if TYPE_CHECKING:
    from sim.experiments.sample import Sample
    from sim.model.scenario import Scenario

__all__ = ["ProgressForm", "ProgressOption", "shown_progress"]

EVERY_S = 0.25
"""Between two lines with intervals, seconds: nobody reads faster."""


class ProgressForm(StrEnum):
    """What is written to stderr while runs are made."""

    AUTO = "auto"
    JSON = "json"
    NONE = "none"


ProgressOption: TypeAlias = Annotated[ProgressForm, typer.Option(hidden=True)]


class Report(Protocol):
    """How progress is told."""

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """`done` of `total` runs; `note`: what is still to be reached."""


@contextlib.contextmanager
def shown_progress(
    form: ProgressForm, title: str, scenario: Scenario | None = None
) -> Iterator[Report | None]:
    """A function to call with the runs done and the runs in all, and what is still to be reached; None
    where nobody looks.

    JSON lines about the replications of one `scenario` also say what is known so far.
    """
    if form is ProgressForm.JSON:
        yield _line if scenario is None else _Narrowing(scenario)
    elif form is ProgressForm.AUTO and is_terminal():
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, TimeRemainingColumn(), console=errors(), transient=True) as bar:
            task = bar.add_task(title, total=None)

            def show(done: int, total: int, note: str = "") -> None:
                text = f"{title}, {note}" if note else title
                bar.update(task, completed=done, total=total, description=text)

            yield show
    else:
        yield None


class _Narrowing:
    """JSON lines with the intervals of money and wait over the replications that were seen."""

    def __init__(self, scenario: Scenario) -> None:
        from sim.experiments.decision import WAIT, ranked_by  # here: a help text needs no statistics

        self._metrics = (ranked_by(scenario), WAIT)
        self._confidence = scenario.experiment.confidence
        self._values: dict[str, list[list[float | None]]] = {
            strategy.name: [[], []] for strategy in scenario.strategies
        }
        self._told = -EVERY_S

    def seen(self, sample: Sample) -> None:
        """One more replication is finished."""
        for metric, values in zip(self._metrics, self._values[sample.strategy], strict=True):
            values.append(sample.metrics.get(metric))

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """A line, with the intervals where the last ones are some time ago."""
        now = time.monotonic()
        if done < total and now - self._told < EVERY_S:
            _line(done, total, note)
            return
        self._told = now
        from sim.metrics import METRICS

        rows = [
            {
                "strategy": name,
                "metric": metric,
                "unit": METRICS[metric].unit,
                **self._interval(metric, values),
            }
            for name, both in self._values.items()
            for metric, values in zip(self._metrics, both, strict=True)
        ]
        _line(done, total, note, rows)

    def _interval(self, metric: str, values: list[float | None]) -> dict[str, float | int | None]:
        from sim.experiments.metric_interval import metric_interval

        found = metric_interval(metric, values, self._confidence)
        return {"mean": found.mean, "low": found.low, "high": found.high, "n": found.n}


def _line(done: int, total: int, note: str = "", so_far: list[dict[str, Any]] | None = None) -> None:
    document: dict[str, Any] = {"done": done, "total": total, **({"note": note} if note else {})}
    if so_far is not None:
        document["so_far"] = so_far
    sys.stderr.write(json.dumps(document) + "\n")
    sys.stderr.flush()
