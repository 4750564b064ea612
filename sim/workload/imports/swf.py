"""Standard Workload Format 2.2: eighteen numbers a line, -1 for what is not known, comments after `;`.

Source: the format's definition in the Parallel Workloads Archive (Feitelson). Processors are read as
cards, which a log of GPU jobs means by them; a log of CPU jobs says nothing of cards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from sim.errors import InputError, Problem
from sim.units import SECOND
from sim.workload.imports.cells import BAD, NA, Bools, Floats, Ints, decimals, micros, strings, whole
from sim.workload.imports.columns import table
from sim.workload.imports.settings import Settings
from sim.workload.imports.source import Source
from sim.workload.imports.tally import Tally
from sim.workload.trace_rows import MOST_CARDS

__all__ = ["FIELDS", "SwfHeader", "header_of", "read_swf"]

FIELDS = (
    *("job", "submit", "wait", "runtime", "allocated", "cpu_time", "used_memory", "requested", "limit"),
    *(
        "requested_memory",
        "status",
        "user",
        "group",
        "application",
        "queue",
        "partition",
        "preceding",
        "think",
    ),
)
"""The fields of a line, in order."""

_CHECKED = ("job", "submit", "wait", "runtime", "allocated", "requested", "limit", "status")
"""Fields without which a line says nothing of a job: what is no number there is told."""
_NAMED = ("user", "queue")
"""Fields whose numbers become names, beside that of the team. The others are not read."""

STATUS = {
    0: "failed",
    1: "completed",
    5: "cancelled",
    2: "partial",
    3: "partial completed",
    4: "partial failed",
}
"""Final states by their number; the partial ones are lines of a part of a job, swapped out and in again."""
_COMMENT = re.compile(r"^\s*;\s*([A-Za-z ]+?)\s*:\s*(.*?)\s*$")
_MOST_COMMENTS = 500

SwfHeader = Mapping[str, str]
"""Header comments by name, such as UnixStartTime and MaxProcs."""


def header_of(source: Source) -> SwfHeader:
    """The header comments at the beginning of a log; a name that comes again keeps its first value."""
    found: dict[str, str] = {}
    for line in source.head(_MOST_COMMENTS):
        if line.strip() and not line.lstrip().startswith(";"):
            break
        comment = _COMMENT.match(line)
        if comment is not None:
            found.setdefault(comment[1], comment[2])
    return found


def read_swf(source: Source, settings: Settings, tally: Tally) -> Iterator[pa.Table]:
    """Jobs of a log, block by block."""
    header = header_of(source)
    origin = _origin(header, source)
    _say(header, origin, settings, tally)
    team = _team_field(settings)
    for first, lines in source.lines():
        cells, numbers = [], []
        for number, line in enumerate(lines, start=first):
            values = (line.partition(";")[0] if ";" in line else line).split()
            if not values:
                continue
            tally.rows += 1
            if len(values) == len(FIELDS):
                cells.append(values)
                numbers.append(number)
            else:
                reason = f"{len(values)} numbers where SWF has {len(FIELDS)}: {line.strip()}"
                tally.aside(number, "number of cells", reason)
        if cells:
            yield _jobs(cells, numbers, origin, team, tally)


def _say(header: SwfHeader, origin: int | None, settings: Settings, tally: Tally) -> None:
    tally.remark("Processors of the log are taken as cards; a log of CPU jobs says nothing of cards.")
    for name in ("MaxProcs", "MaxNodes", "Computer", "MaxJobs"):
        if name in header:
            tally.remark(f"The header says {name}: {header[name]}.")
    if origin is None:
        tally.calendar = False
        tally.remark("The header has no UnixStartTime: times count from an unknown moment.")
    zone = header.get("TimeZoneString", "").strip().lstrip(":")
    if settings.timezone is None and zone:
        tally.remark(
            f"The header says TimeZoneString: {zone}; use --timezone for local hours, else they are UTC."
        )


def _origin(header: SwfHeader, source: Source) -> int | None:
    """The moment from which the log counts, microseconds since 1970; None where it is not said."""
    text = header.get("UnixStartTime")
    if text is None or text in {"-1", "0"}:
        return None
    if not re.fullmatch(r"\d{1,10}", text):
        raise InputError(Problem("UnixStartTime is whole seconds since 1970", source.name, value=text))
    return int(text) * SECOND


def _team_field(settings: Settings) -> str:
    if settings.team is None:
        return "group"
    known = ("user", "group", "application", "queue", "partition")
    if settings.team.lower() not in known:
        raise InputError(
            Problem("SWF has no such field", key="--team-column", value=settings.team, known=known)
        )
    return settings.team.lower()


def _jobs(
    cells: list[list[str]], numbers: list[int], origin: int | None, team: str, tally: Tally
) -> pa.Table:
    columns = {
        name: decimals(strings(values))
        for name, values in zip(FIELDS, zip(*cells, strict=True), strict=True)
        if name in _CHECKED or name in _NAMED or name == team
    }
    lines = np.array(numbers, dtype=np.int64)
    kept = np.ones(len(lines), dtype=bool)

    def refuse(wrong: Bools, kind: str, rule: str, name: str) -> None:
        place = FIELDS.index(name)
        for row in np.flatnonzero(wrong & kept).tolist():
            tally.aside(numbers[row], kind, f"{rule}: {cells[row][place]!r}")
            kept[row] = False

    for name in _CHECKED:
        refuse(np.isinf(columns[name]), "number", f"field {name} is no number", name)
    job, status = whole(columns["job"]), whole(columns["status"])
    refuse(job <= BAD, "job id", "the job number is no whole number", "job")
    submit = micros(columns["submit"], SECOND)
    refuse(submit <= BAD, "time", "the submit time is no time of at least 0 s", "submit")
    times = {name: _known(columns[name]) for name in ("wait", "runtime", "limit")}
    for name, values in times.items():
        refuse(values == BAD, "duration", f"{name} is no duration", name)
    gpus = whole(np.where(columns["allocated"] > 0, columns["allocated"], columns["requested"]), 10**12)
    gpus = np.where(gpus == -1, NA, gpus)
    impossible = (gpus != NA) & ((gpus < 0) | (gpus > MOST_CARDS))
    refuse(impossible, "cards", "no possible number of processors", "allocated")
    gpus = np.where(impossible, NA, gpus)
    made = _table(columns, job, status, submit, times, gpus, lines, origin, team)
    return made.filter(pa.array(kept))


def _table(
    columns: Mapping[str, Floats], job: Ints, status: Ints, submit: Ints, times: Mapping[str, Ints],
    gpus: Ints, lines: Ints, origin: int | None, team: str,
) -> pa.Table:  # fmt: skip
    moved = submit + (origin or 0)
    wait, runtime = times["wait"], times["runtime"]
    start = np.where(wait > BAD, moved + wait, NA)
    states = [STATUS.get(code, "unknown") for code in status.tolist()]
    runtime = np.where((status == 5) & (runtime == 0), NA, runtime)
    out: dict[str, Any] = {
        "line": lines,
        "id": [str(number) for number in job.tolist()],
        "submit": moved,
        "start": np.where(runtime > BAD, start, NA),
        "end": np.where((start > BAD) & (runtime > BAD), start + runtime, NA),
        "wait": wait,
        "runtime": runtime,
        "limit": np.where(times["limit"] > 0, times["limit"], NA),
        "gpus": gpus,
        "state": states,
    }
    for name, field in (("team", team), ("user", "user"), ("queue", "queue")):
        out[name] = _names(field, whole(columns[field]))
    return table(out)


def _names(field: str, numbers: Ints) -> pa.Array:
    """`user-7` for the number 7; null where it is not known. Few numbers stand in many lines."""
    known, places = np.unique(numbers, return_inverse=True)
    words = [None if number < 0 else f"{field}-{number}" for number in known.tolist()]
    return strings(words).take(pa.array(places))


def _known(values: Floats) -> Ints:
    """Seconds to microseconds; -1 is not known."""
    return np.where(values == -1, NA, micros(values, SECOND))
