"""What `fleetsim workload fit` and `check` read: recorded jobs, and when they were recorded."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import pyarrow as pa
import typer

from sim.errors import InputError, Problem
from sim.units import SECOND, parse_duration
from sim.workload.imports import import_jobs
from sim.workload.normal import open_trace
from sim.workload.record import Record
from sim.workload.record_file import record_from

__all__ = [
    "JobsFile",
    "SinceOption",
    "StartOption",
    "TimezoneOption",
    "UntilOption",
    "read_jobs",
    "recorded_waits",
]

JobsFile: TypeAlias = Annotated[
    Path,
    typer.Argument(metavar="JOBS.parquet", help="Jobs of an import; or a dump or table, imported first."),
]
StartOption: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Local time of second 0 of the record; default: as it was imported."),
]
TimezoneOption: TypeAlias = Annotated[
    str | None, typer.Option(metavar="ZONE", help="Time zone of the record, such as Asia/Shanghai.")
]
SinceOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="DURATION", help="Only jobs submitted from this time of the record on, such as 20d."
    ),
]
UntilOption: TypeAlias = Annotated[
    str | None, typer.Option(metavar="DURATION", help="Only jobs submitted before this time, such as 90d.")
]


def read_jobs(
    file: Path, start: str | None, timezone: str | None, since: str | None, until: str | None
) -> Record:
    """The record that the options ask for; InputError with the option that is wrong."""
    jobs, about = _table(file)
    record = record_from(jobs, about, str(file), _time(start), timezone)
    if since is None and until is None:
        return record
    begin = 0.0 if since is None else _seconds("--since", since)
    return record.between(begin, None if until is None else _seconds("--until", until))


def recorded_waits(file: Path) -> dict[str, float]:
    """Recorded waits of jobs, seconds, by their ids; jobs without one are left out."""
    jobs, _ = _table(file)
    if "id" not in jobs.column_names or "wait_s" not in jobs.column_names:
        return {}
    pairs = zip(jobs.column("id").to_pylist(), jobs.column("wait_s").to_pylist(), strict=True)
    return {name: wait for name, wait in pairs if name is not None and wait is not None}


def _table(file: Path) -> tuple[pa.Table, Mapping[str, Any]]:
    """Jobs of an import as they stand; anything else is imported by its plain reading."""
    if file.suffix.lower() == ".parquet":
        with open_trace(file) as trace:
            if trace.about:
                return trace.table(), trace.about
    found = import_jobs(file)
    return found.jobs, found.about


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is not None:
        rule = "must be a local date or time without an offset, such as 2026-03-02 or 2026-03-02T08:00"
        raise InputError(Problem(rule, key="--start", value=text))
    return found


def _seconds(option: str, text: str) -> float:
    try:
        return parse_duration(text) / SECOND
    except ValueError as error:
        raise InputError(Problem(str(error), key=option, value=text)) from None
