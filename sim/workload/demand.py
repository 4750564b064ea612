"""Another demand from the same record: a window of it, some teams, fewer or more jobs, shuffled times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sim.errors import InputError, Problem
from sim.model.work import Trace
from sim.streams import Streams
from sim.units import DAY, WEEK, Micros
from sim.workload.readers import TraceRow

__all__ = ["asked_rows"]

_Placed = list[tuple[int, TraceRow]]
"""Rows with their places in the whole trace: random numbers go by place, whatever else is left out."""


def asked_rows(trace: Trace, rows: Sequence[TraceRow], streams: Streams) -> Sequence[TraceRow]:
    """The rows of one replication, by time of submission.

    `rows` are those of the whole trace, by submission. A larger `scale` keeps all jobs of a smaller one.
    Raises InputError where a team that is asked for has no job.
    """
    if trace.as_recorded:
        return rows
    placed = _windowed(trace, rows)
    if trace.scale != 1 and placed:
        placed = _scaled(trace.scale, placed, len(rows), _span(trace, placed), streams)
    found = [row for _, row in placed]
    if trace.shuffle and found:
        order = streams.generator("trace", "shuffle").permutation(len(found)).tolist()
        times = [row.submit_us for row in found]
        found = [replace(row, submit_us=times[place]) for row, place in zip(found, order, strict=True)]
        found.sort(key=lambda row: row.submit_us)
    return found


def _windowed(trace: Trace, rows: Sequence[TraceRow]) -> _Placed:
    """The rows of the window and the teams; times count from `since`."""
    if trace.teams is not None:
        known = dict.fromkeys(row.team for row in rows)
        wrong = [team for team in trace.teams if team not in known]
        if wrong:
            rule = "no job of the trace belongs to this team"
            raise InputError(
                Problem(rule, key="workload.trace.teams", value=team, known=tuple(known)) for team in wrong
            )
    since, until = trace.since, trace.until
    return [
        (place, replace(row, submit_us=row.submit_us - since) if since else row)
        for place, row in enumerate(rows)
        if since <= row.submit_us
        and (until is None or row.submit_us < until)
        and (trace.teams is None or row.team in trace.teams)
    ]


def _span(trace: Trace, placed: _Placed) -> Micros:
    """Length of the record in which copies move: that of the window, or to the last submission."""
    if trace.until is not None:
        return trace.until - trace.since
    return placed[-1][1].submit_us + 1


def _scaled(scale: float, placed: _Placed, count: int, span: Micros, streams: Streams) -> _Placed:
    """Every job `scale` times on average: some left out, or all once and some as often again."""
    chance = streams.generator("trace", "scale").random(count).tolist()
    copies = streams.generator("trace", "copies").random((count, int(scale) + 1)) if scale > 1 else None
    found: _Placed = []
    for place, row in placed:
        times = int(scale) + int(chance[place] < scale - int(scale))
        found += [(place, row)] if times else []
        if copies is not None:
            for copy in range(1, times):
                moved = _moved(row.submit_us, span, float(copies[place, copy]))
                found.append((place, replace(row, name=f"{row.name}+{copy}", submit_us=moved)))
    return sorted(found, key=lambda one: one[1].submit_us)


def _moved(submit: Micros, span: Micros, lot: float) -> Micros:
    """The same hour and weekday of another week of the record; of another day where it is shorter than
    two weeks; any time of it where it is shorter than two days. The week or day is drawn by `lot`."""
    for step in (WEEK, DAY):
        whole = span // step
        if whole >= 2:
            at, within = divmod(submit, step)
            if at >= whole:  # in the rest behind the last whole week or day: any whole one
                return int(lot * whole) * step + within
            other = int(lot * (whole - 1))
            return (other + (other >= at)) * step + within
    return int(lot * span)
