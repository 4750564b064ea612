"""The import from file to jobs, on one page."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sim.errors import InputError, Problem
from sim.units import SECOND
from sim.workload.imports.cells import BAD, Ints
from sim.workload.imports.clock import Clock
from sim.workload.imports.columns import ints, joined
from sim.workload.imports.finish import LEFT_OUT, finished, left_out
from sim.workload.imports.formats import READERS, format_of
from sim.workload.imports.hints import hinted, nothing_to_replay, remark_hints
from sim.workload.imports.merge import set_orphans_aside
from sim.workload.imports.report import Report, report_of
from sim.workload.imports.settings import Settings, zone_of
from sim.workload.imports.source import Source, open_source
from sim.workload.imports.tally import Tally
from sim.workload.imports.window import instant, selected
from sim.workload.western import WESTERN

__all__ = ["Imported", "import_jobs"]


_ROWS = 250_000


@dataclass(frozen=True, slots=True)
class Imported:
    """Jobs in the columns of the normal form, by submission, and how they came about."""

    jobs: pa.Table
    about: dict[str, Any]
    """What is written into the file beside the jobs."""
    report: Report


def import_jobs(path: Path, settings: Settings | None = None) -> Imported:
    """Read a dump or log of a scheduler, or a table of jobs.

    Raises InputError where the file or an option is wrong, where no row is a job; with `strict`, where any
    row is set aside; with `replayable`, where no job can be replayed.
    """
    settings = settings or Settings()
    clock, tally = Clock(zone_of(settings.timezone)), Tally()
    source = open_source(path, settings.encoding)
    name = format_of(source, settings)
    with _without_collector():
        pieces = [piece for piece in READERS[name].read(source, settings, tally) if len(piece)]
    if not pieces:
        raise InputError(_nothing(source, tally))
    jobs = joined(pieces)
    set_orphans_aside(jobs, tally)
    if settings.strict and tally.set_aside:
        raise InputError(_strict(source, tally))
    jobs = READERS[name].merge(jobs, tally)
    jobs = _piecewise(jobs, lambda part: finished(part, settings, tally))
    jobs = selected(jobs, settings, tally)
    if not len(jobs):
        raise InputError(
            Problem("no job is left: the window, the teams or the share leave all out", source.name)
        )
    if source.encoding == WESTERN and settings.encoding is None:
        tally.remark(
            f"The text is taken as {WESTERN}: most signs beyond ASCII stand alone between letters, as in "
            "files of Western offices. Use --encoding if that is wrong."
        )
    if tally.calendar and settings.timezone is None:
        tally.remark(
            "Local times have no zone: taken as they stand, as if no clock had changed (--timezone NAME)."
        )
    codes = left_out(jobs)
    mapped = "--map" in READERS[name].options
    if settings.replayable and not (codes == 0).any():
        raise InputError(nothing_to_replay(tally, codes, mapped, source.name))
    remark_hints(tally, codes, mapped)
    report = report_of(jobs, codes, name, READERS[name].title, source.encoding, tally, clock)
    origin = _origin(jobs, settings)
    about = _about(source, name, settings, report, origin, clock)
    held = [jobs]
    del jobs  # `_normal` lets go of each column when it has been turned
    return Imported(_normal(held.pop(), codes, origin), about, report)


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Millions of lists of cells make no circles: looking for some would take a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _piecewise(jobs: pa.Table, step: Callable[[pa.Table], pa.Table]) -> pa.Table:
    """What a step makes of the jobs, some rows at a time: its arrays of all of them would fill the memory."""
    if len(jobs) <= _ROWS:
        return step(jobs)
    pieces = [step(jobs.slice(first, _ROWS)) for first in range(0, len(jobs), _ROWS)]
    return pa.concat_tables(pieces).unify_dictionaries()


def _nothing(source: Source, tally: Tally) -> list[Problem]:
    if not tally.asides:
        return [Problem("the file has no row with a job", source.name)]
    options = list(hinted(tally, source.name))
    shown = [Problem(one.reason, source.name, one.line, one.kind) for one in tally.listed()[:5]]
    return [
        Problem(f"none of {tally.rows:,} rows is a job; the first reasons follow", source.name),
        *options,
        *shown,
    ]


def _strict(source: Source, tally: Tally) -> list[Problem]:
    shown = [Problem(one.reason, source.name, one.line, one.kind) for one in tally.listed()[:20]]
    rest = tally.set_aside - len(shown)
    more = [Problem(f"and {rest:,} more rows that would be set aside", source.name)] if rest else []
    return [*shown, *more]


def _origin(jobs: pa.Table, settings: Settings) -> int:
    """Second 0 of the normal form: the window's beginning, else the first submission."""
    if settings.since is not None:
        return instant(settings.since, settings)
    submit = ints(jobs, "submit")
    known = submit[submit > BAD]
    return int(known.min()) if len(known) else 0


def _about(
    source: Source, name: str, settings: Settings, report: Report, origin: int, clock: Clock
) -> dict[str, Any]:
    tally = report.tally
    return {
        "version": 1,
        "source": source.path.name,
        "format": name,
        "origin": clock.local(origin).isoformat() if tally.calendar else None,
        "timezone": settings.timezone,
        "rows_read": tally.rows,
        "jobs": report.jobs,
        "set_aside": tally.set_aside,
        "remarks": list(tally.remarks),
    }


def _normal(jobs: pa.Table, codes: Ints, origin: int) -> pa.Table:
    """Columns of the normal form, by submission; jobs without one come last."""
    submit = ints(jobs, "submit")
    submit[submit <= BAD] = 2**62
    order = None if (submit[1:] >= submit[:-1]).all() else pa.array(np.argsort(submit, kind="stable"))
    del submit
    columns: dict[str, Any] = {}
    for name in jobs.column_names:
        if name in _MOMENTS:
            column = _seconds(ints(jobs, name), order, origin)
        elif name in _LENGTHS:
            column = _seconds(ints(jobs, name), order, 0)
        else:
            column = jobs.column(name) if order is None else jobs.column(name).take(order)
        columns[f"{name}_s" if name in (*_MOMENTS, *_LENGTHS) else name] = column
        jobs = jobs.drop_columns([name])  # millions of jobs need not stand there twice
    reasons = pa.DictionaryArray.from_arrays(
        pa.array(np.maximum(codes - 1, 0).astype(np.int32), mask=codes == 0), pa.array(LEFT_OUT[1:])
    )
    columns["left_out"] = reasons if order is None else reasons.take(order)
    return pa.table(columns)


_MOMENTS = ("submit", "start", "end")
_LENGTHS = ("wait", "runtime", "lost", "limit", "deadline")


def _seconds(micros: Ints, order: pa.Array | None, origin: int) -> pa.Array:
    unknown = micros <= BAD
    micros -= origin
    micros[unknown] = 0
    column = pa.array(micros / SECOND, mask=unknown)
    return column if order is None else column.take(order)
