"""`fleetsim workload show`: recorded jobs as tables and charts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim.cli.charts import write_charts
from sim.cli.console import heading, print_json, print_table, say
from sim.cli.options import FormatOption, OutputFormat, check_folder
from sim.errors import InputError, Problem
from sim.workload.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from sim.workload.describe import Description

__all__ = ["show"]

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_BAR = 40
_PERIODS = 12


def show(
    file: Annotated[
        Path,
        typer.Argument(metavar="JOBS.parquet", help="Jobs of an import; or a dump or table, imported first."),
    ],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FOLDER", help="Where to draw charts as PNG.")
    ] = None,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Show recorded jobs: arrivals by hour and weekday, run times, widths and load over time."""
    if out is not None:
        if out.exists() and not out.is_dir():
            raise InputError(Problem("charts need a folder; this is a file", key="-o", value=str(out)))
        check_folder(out)
    from sim.cli.workload_record import jobs_of  # here: pandas takes long to import
    from sim.workload.describe import describe

    jobs, about = jobs_of(file)
    found = describe(jobs, about)
    written = [] if out is None else _draw(found, jobs, out)
    if format_ is OutputFormat.JSON:
        print_json({"file": str(file), **_document(found), "charts": [str(path) for path in written]})
        return
    _tables(found, file)
    for path in written:
        say(f"{path}")


def _draw(found: Description, jobs: pa.Table, folder: Path) -> list[Path]:
    from sim.report.plots_workload import render_workload

    return write_charts(render_workload(found, jobs), folder)


def _tables(found: Description, file: Path) -> None:
    fit = "all" if found.replayable == found.jobs else f"{found.replayable:,}"
    since = "" if found.origin is None else f", from {found.origin:%Y-%m-%d %H:%M:%S}"
    say(f"{file}: {counted(found.jobs)}, {fit} fit for a replay, over {found.days:,.1f} days{since}.")
    if found.by_hour:
        heading("Submissions by hour, local time")
        most = max(mean for _, mean in found.by_hour) or 1
        rows = [
            (f"{hour:02d}:00", f"{count:,}", f"{mean:,.2f}", "#" * round(_BAR * mean / most))
            for hour, (count, mean) in enumerate(found.by_hour)
        ]
        print_table(("Hour", "Jobs", "Jobs an hour,\nmean of all days", ""), rows, text=(0, 3))
        heading("Submissions by weekday")
        days = zip(_WEEKDAYS, found.by_weekday, strict=True)
        print_table(("Day", "Jobs", "Jobs a day,\nmean"), [(d, f"{n:,}", f"{m:,.1f}") for d, (n, m) in days])
    else:
        say("The trace has no dates: arrivals by hour and weekday are not known.")
    heading("Run times, h")
    print_table(("Width", "Jobs", "Mean", *_quantile_names()), _summaries(found.run_times.items()))
    if found.censored:
        say(f"{counted(found.censored)} with a run time that is not complete left out of this table.")
    if found.waits is not None:
        heading("Recorded waits, h")
        print_table(("", "Jobs", "Mean", *_quantile_names()), _summaries([("all", found.waits)]))
    heading("Widths")
    total = sum(hours for _, hours in found.widths.values()) or 1.0
    widths = [
        (
            f"{width:,}",
            f"{count:,}",
            f"{100 * count / found.jobs:.1f} %",
            f"{hours:,.1f}",
            f"{100 * hours / total:.1f} %",
        )
        for width, (count, hours) in found.widths.items()
    ]
    print_table(("Cards", "Jobs", "of jobs", "Card-hours", "of card-hours"), widths, text=())
    _load(found)


def _load(found: Description) -> None:
    if not len(found.load):
        return
    import numpy as np

    heading("Load over time, cards")
    rows = []
    for piece in np.array_split(np.arange(len(found.load)), min(_PERIODS, len(found.load))):
        part = found.load.iloc[piece]
        busy = (
            () if found.assumed_start else (f"{part['busy'].mean():,.1f}", f"{part['busy_peak'].max():,.1f}")
        )
        rows.append(
            (
                f"{part['from_day'].iloc[0]:,.1f}",
                *busy,
                f"{part['asked'].mean():,.1f}",
                f"{part['asked_peak'].max():,.1f}",
            )
        )
    busy = () if found.assumed_start else ("Busy,\nmean", "Busy,\npeak")
    print_table(("From day", *busy, "Without waits,\nmean", "Without waits,\npeak"), rows, text=())
    if found.suspended and not found.assumed_start:
        say(f"{counted(found.suspended)} suspended for a while: that use is spread from start to end.")
    if found.assumed_start:
        say("No starts are recorded: the load is that of jobs that run as they are submitted.")


def _quantile_names() -> tuple[str, ...]:
    from sim.workload.describe import QUANTILES

    return tuple("Median" if q == 0.5 else f"{100 * q:g} %" for q in QUANTILES)


def _summaries(items: Iterable[tuple[str, tuple[int, tuple[float, ...], float]]]) -> list[tuple[str, ...]]:
    return [
        (name, f"{count:,}", _hours(mean), *map(_hours, quantiles))
        for name, (count, quantiles, mean) in items
    ]


def _hours(value: float) -> str:
    return f"{value:,.3f}" if abs(value) < 1 else f"{value:,.2f}"


def _document(found: Description) -> dict[str, Any]:
    from sim.workload.describe import QUANTILES

    def summary(values: tuple[int, tuple[float, ...], float]) -> dict[str, Any]:
        count, quantiles, mean = values
        named = {f"q{100 * q:g}_h": value for q, value in zip(QUANTILES, quantiles, strict=True)}
        return {"jobs": count, "mean_h": mean, **named}

    return {
        "jobs": found.jobs,
        "replayable": found.replayable,
        "origin": None if found.origin is None else found.origin.isoformat(),
        "days": found.days,
        "submissions_by_hour": [{"jobs": count, "mean_a_day": mean} for count, mean in found.by_hour],
        "submissions_by_weekday": [{"jobs": count, "mean_a_day": mean} for count, mean in found.by_weekday],
        "run_times": {name: summary(values) for name, values in found.run_times.items()},
        "run_times_not_complete": found.censored,
        "waits": None if found.waits is None else summary(found.waits),
        "widths": {
            str(width): {"jobs": n, "card_hours": hours} for width, (n, hours) in found.widths.items()
        },
        "load": {name: found.load[name].tolist() for name in found.load.columns},
        "load_assumes_no_waits": found.assumed_start,
        "suspended": found.suspended,
    }
