"""The files that `fleetsim run` writes when asked: the trace of events and the Gantt chart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from sim.cli.charts import write_chart
from sim.cli.options import check_file
from sim.load import Question
from sim.replication import RunResult

if TYPE_CHECKING:
    from sim.experiments.events import Events

__all__ = ["EventsOption", "GanttOption", "check_run_files", "write_run_files"]

EventsOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.parquet|.csv",
        help="Write every change of state of each card and job, in order of time; see docs/events.md.",
    ),
]
GanttOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE.png", help="Draw what each card did over time, with the jobs on it."),
]


def check_run_files(question: Question, events: Path | None, gantt: Path | None) -> None:
    """InputError if one of the files cannot be written: asked before the run."""
    scenario, folder = question.scenario, question.folder or Path()
    named = [scenario.workload.trace.file] if scenario.workload.trace is not None else []
    inputs = [folder / name for name in (*named, scenario.performance)]
    if events is not None:
        check_file(events, "--events", (".parquet", ".csv"), inputs)
    if gantt is not None:
        check_file(gantt, "--gantt", (".png",), inputs)


def write_run_files(
    question: Question, result: RunResult, events: Path | None, gantt: Path | None
) -> list[str]:
    """Write what was asked for; returns a sentence a file."""
    if events is None and gantt is None:
        return []
    from sim.experiments.events import Events, write_events

    trace, told = Events(result, question.scenario), []
    if events is not None:
        write_events(trace, events)
        told.append(f"{events} holds the trace of events: {len(trace):,} rows.")
    if gantt is not None:
        title = f"{question.scenario.name}: {result.strategy}, replication {result.replication}"
        _draw(trace, title, f"{question.scenario.start:%Y-%m-%d}", gantt)
        told.append(f"{gantt} shows what each card did over time.")
    return told


def _draw(trace: Events, title: str, since: str, path: Path) -> None:
    from sim.report.plots_gantt import GANTT_COLUMNS, gantt
    from sim.report.plots_style import png

    picture = png(gantt(trace.table(GANTT_COLUMNS).to_pandas(), title, since))
    write_chart(path, picture, "--gantt")
