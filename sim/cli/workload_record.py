"""What `fleetsim workload fit` and `check` read: recorded jobs, and when they were recorded."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import typer

from sim.cli.options import check_known
from sim.decisions.policies import POLICIES
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
    "check_policy",
    "check_width",
    "jobs_of",
    "passed_over",
    "read_jobs",
    "record_in",
    "recorded_waits",
]

Jobs: TypeAlias = tuple[pa.Table, Mapping[str, Any]]
"""Jobs in the normal form, and what the import said."""
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
    return record_in(jobs_of(file), file, start, timezone, since, until)


def record_in(
    jobs: Jobs, file: Path, start: str | None, timezone: str | None, since: str | None, until: str | None
) -> Record:
    """As `read_jobs`, of jobs that are read already."""
    record = record_from(*jobs, str(file), _time(start), timezone)
    if since is None and until is None:
        return record
    begin = 0.0 if since is None else _seconds("--since", since)
    return record.between(begin, None if until is None else _seconds("--until", until))


def check_policy(name: str) -> None:
    """InputError with the known names, where there is no such queue policy."""
    check_known("--policy", name, POLICIES, "unknown queue policy")


def check_width(cards: int, widest: int) -> None:
    """InputError for a fleet of fewer cards than the widest job needs."""
    if cards < widest:
        raise InputError(Problem(f"the widest job needs {widest} cards", key="--cards", value=cards))


def recorded_waits(jobs: pa.Table) -> dict[str, float]:
    """Recorded waits of jobs, seconds, by their ids; jobs without one are left out."""
    if "id" not in jobs.column_names or "wait_s" not in jobs.column_names:
        return {}
    pairs = zip(jobs.column("id").to_pylist(), jobs.column("wait_s").to_pylist(), strict=True)
    return {name: wait for name, wait in pairs if name is not None and wait is not None}


def passed_over(jobs: pa.Table, without_run: int, played: int, beyond: str) -> dict[str, int]:
    """Reason -> rows of the file that are not played; with those played they are all rows.

    `without_run`: rows that the record has left out; `beyond`: why the others are not among the `played`.
    """
    found: dict[str, int] = {}
    if "left_out" in jobs.column_names:
        for pair in pc.value_counts(jobs.column("left_out").drop_null().cast(pa.string())).to_pylist():
            found[pair["values"]] = pair["counts"]
    found["no run time, cards or time of submission"] = without_run
    found[beyond] = max(0, len(jobs) - sum(found.values()) - played)
    return {reason: count for reason, count in found.items() if count}


def jobs_of(file: Path) -> Jobs:
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
