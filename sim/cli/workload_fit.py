"""`fleetsim workload fit`: a workload learned from recorded jobs, as a scenario to read and change."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sim.cli.console import print_json, print_table, say
from sim.cli.options import FormatOption, OutputFormat, check_file
from sim.cli.workload_record import (
    JobsFile,
    SinceOption,
    StartOption,
    TimezoneOption,
    UntilOption,
    read_jobs,
)
from sim.whole_file import write_whole
from sim.workload.fit import ClassFit, WorkloadFit, fit_workload
from sim.workload.fit_text import remarks, scenario_text
from sim.workload.wording import counted

__all__ = ["fit_file"]


def fit_file(
    file: JobsFile,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="WORKLOAD.yaml", help="Where to write it; without it, only shown."
        ),
    ] = None,
    start: StartOption = None,
    timezone: TimezoneOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    one_class: Annotated[
        bool, typer.Option("--one-class", help="Learn all jobs together, not a class for each team.")
    ] = False,
    trend: Annotated[bool, typer.Option("--trend", help="Let the growth of the record go on.")] = False,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Learn a workload from recorded jobs: arrivals, batches, cards, run times and how jobs end."""
    if out is not None:
        check_file(out, "-o", (".yaml", ".yml"), (file,))
    record = read_jobs(file, start, timezone, since, until)
    found = fit_workload(record, by_team=not one_class)
    text = scenario_text(found, file.name, trend=trend)
    if out is not None:
        write_whole(out, text.encode("utf-8"), "the workload", "choose another -o FILE")
    if format_ is OutputFormat.JSON:
        print_json(_document(found, file, out))
        return
    say(
        f"{file}: {counted(len(record))} in {record.length_s / 86_400:.1f} days, {record.load:.1f} cards busy"
    )
    columns = ("class", "jobs", "jobs a day", "batches of", "window s", "alike", "run times")
    print_table(columns, [_row(one) for one in found.classes], text=(0, 6))
    for line in remarks(found):
        say(line)
    if out is not None:
        say(
            f"{out}: a scenario with these classes; to check it: fleetsim workload check {file} --model {out}"
        )


def _row(one: ClassFit) -> tuple[object, ...]:
    batches = int(one.arrivals.batch[-1]) + 1
    forms = dict.fromkeys(found.form for found in one.runtimes[:4])
    more = " ..." if len(one.runtimes) > 4 else ""
    return (
        one.timed.name,
        f"{one.jobs:,}",
        f"{one.arrivals.per_day:.4g}",
        f"{one.jobs / batches:.1f}",
        f"{one.arrivals.window_s:g}",
        f"{one.timed.alike.runtime:.2f}",
        "; ".join(forms) + more,
    )


def _document(found: WorkloadFit, file: Path, out: Path | None) -> dict[str, Any]:
    record = found.record
    return {
        "file": str(file),
        "jobs": len(record),
        "days": record.length_s / 86_400,
        "cards_busy": record.load,
        "left_out": record.left_out,
        "cut": int((~record.columns.complete).sum()),
        "classes": [
            {
                "name": one.timed.name,
                "jobs": one.jobs,
                "jobs_per_day": one.arrivals.per_day,
                "batches": int(one.arrivals.batch[-1]) + 1,
                "batch_window_s": one.arrivals.window_s,
                "profile": one.arrivals.profile_form,
                "busy": one.timed.busy.model_dump(),
                "alike": one.timed.alike.model_dump(),
                "retries": _retries(one),
                "kinds": [
                    {"gpus": kind.gpus, "state": kind.state, "jobs": times.jobs, "run_times": times.form}
                    for kind, times in zip(one.timed.kinds, one.runtimes, strict=True)
                ],
            }
            for one in found.classes
        ],
        "remarks": list(remarks(found)),
        "out": None if out is None else str(out),
    }


def _retries(one: ClassFit) -> dict[str, Any] | None:
    found = one.retries
    if found is None:
        return None
    pauses = sorted(found.pause_s.tolist())
    return {
        "failed": found.failed,
        "followed": found.followed,
        "done_followed": found.followed_done,
        "most": found.most,
        "median_pause_s": pauses[len(pauses) // 2] if pauses else None,
    }
