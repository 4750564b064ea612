"""The jobs of one replication: made before the run, the same for every strategy.

Each class reads random streams of its own (arrivals, batch sizes, samples, epochs), so adding a
class or moving the horizon changes no job that was there before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sim.model.job import Job, JobSet, JobShape
from sim.model.job_table import JobTable, priorities, span_or_none
from sim.model.said import said
from sim.model.scenario import JobClass, Scenario
from sim.streams import Streams
from sim.units import HOUR
from sim.workload.arrivals import Clock, Ints, batch_times, clock_of
from sim.workload.demand import asked_rows
from sim.workload.distributions import draw, whole
from sim.workload.ends import OWN_END, draw_ends
from sim.workload.loops import Part, chained, closed, of_campaigns, of_people
from sim.workload.readers import TraceRow
from sim.workload.timed import timed_jobs, timed_shapes

__all__ = ["generate", "shapes_of"]

_TraceShape = tuple[int, float | None, str | None, str | None, bool, float | None]


def shapes_of(scenario: Scenario, trace: Sequence[TraceRow]) -> tuple[JobShape, ...]:
    """What jobs can look like: classes and timed classes in file order, then the trace's as they appear."""
    classes = [
        JobShape(name=c.name, job_class=c.name, gpus=c.counts, spans=c.spans, closed=closed(c))
        for c in scenario.workload.classes
    ]
    timed = [shape for one in scenario.workload.timed for shape in timed_shapes(one).values()]
    distinct = dict.fromkeys(_trace_shape(scenario, row) for row in trace)
    return (*classes, *timed, *(_named(shape) for shape in distinct))


def generate(scenario: Scenario, trace: Sequence[TraceRow], streams: Streams) -> JobSet:
    """All jobs submitted before the horizon, by time of submission; ties in file order.

    `Job.work` is samples x epochs for a class (samples whole, at least one sample in all) and the
    recorded run time in microseconds for a trace. A trace job without a limit of its own gets none:
    queues then order it by its run time, and a slower card or an interruption does not kill it.
    """
    shapes = shapes_of(scenario, trace)
    horizon = scenario.horizon_us
    classes = scenario.workload.classes
    timed, asked = scenario.workload.timed, scenario.workload.trace
    clock = clock_of(scenario) if classes or timed else None
    recorded = trace if asked is None else asked_rows(asked, trace, streams)
    rows = [row for row in recorded if row.submit_us < horizon]
    parts: list[Part] = []
    places = {shape: place for place, shape in enumerate(shapes)}
    if clock is not None:
        parts += [_class_jobs(one, place, scenario, clock, streams) for place, one in enumerate(classes)]
        parts += [timed_jobs(one, places, scenario, clock, streams) for one in timed]
    jobs, chains = chained([*parts, (_trace_jobs(scenario, rows, places), None)])
    notes = (*_notes(scenario, recorded, len(rows)), *_not_done(rows))
    return JobSet(shapes, jobs, notes, chains)


def _class_jobs(job_class: JobClass, shape: int, scenario: Scenario, clock: Clock, streams: Streams) -> Part:
    follows = None
    if job_class.loop is not None and closed(job_class):
        follows = of_people(job_class, job_class.loop, scenario, streams)
        times = np.zeros(follows.drawn, dtype=np.int64)
    else:
        name = job_class.name
        batches = batch_times(job_class, clock, scenario.horizon_us, streams.generator("arrivals", name))
        drawn = draw(job_class.jobs_a_batch, len(batches), streams.generator("batch", name))
        sizes = whole(drawn).astype(np.int64)
        times = np.repeat(batches, sizes)
        if job_class.loop is not None:
            batch = np.repeat(np.arange(len(sizes)), sizes)
            follows = of_campaigns(job_class, job_class.loop, scenario, streams, times, batch)
    table = _drawn(job_class, shape, times, streams)
    return (table, None) if follows is None else (follows.among(table, job_class.name), follows)


def _drawn(job_class: JobClass, shape: int, times: Ints, streams: Streams) -> JobTable:
    """Jobs of a class: their work, luck and ends."""
    from scipy.special import ndtri  # here: it takes long to import, and few commands draw

    name, count = job_class.name, len(times)
    samples = whole(draw(job_class.samples, count, streams.generator("samples", name)))
    epochs = draw(job_class.epochs, count, streams.generator("epochs", name))
    luck = ndtri(np.clip(streams.generator("speed", name).random(count), 1e-12, None))
    ends = draw_ends(job_class, count, streams) or ()
    zeros = np.zeros(count, dtype=np.int32)
    return JobTable(
        shape=np.full(count, shape, dtype=np.int32),
        submit_us=times,
        work=np.maximum(samples * epochs, 1.0),
        heads=(name,),
        head=zeros,
        number=np.arange(count, dtype=np.int32),
        teams=(job_class.team,),
        team=zeros,
        priority=priorities([job_class.priority] * count),
        deadline_us=np.full(count, span_or_none(job_class.deadline), dtype=np.int64),
        limit_us=np.full(count, span_or_none(job_class.limit), dtype=np.int64),
        luck=luck,
        ends={place: of_job for place, of_job in enumerate(ends) if of_job},
    )


def _trace_jobs(scenario: Scenario, rows: Sequence[TraceRow], places: Mapping[JobShape, int]) -> JobTable:
    distinct = {_trace_shape(scenario, row) for row in rows}
    of_shape = {shape: places[_named(shape)] for shape in distinct}
    return JobTable.of(
        [
            Job(
                id=number,
                name=row.name,
                shape=of_shape[_trace_shape(scenario, row)],
                submit_us=row.submit_us,
                work=float(row.runtime_us),
                team=row.team,
                priority=row.priority,
                deadline_us=row.deadline_us,
                limit_us=row.limit_us,
                ends=() if row.end is None else OWN_END[row.end],
            )
            for number, row in enumerate(rows)
        ]
    )


def _trace_shape(scenario: Scenario, row: TraceRow) -> _TraceShape:
    trace = scenario.workload.trace
    spans = row.spans if row.spans is not None else trace is None or trace.spans
    measured_on = row.runtime_gpu or (None if trace is None else trace.runtime_gpu)
    return row.gpus, row.memory_gib, row.gpu, measured_on, spans, row.demand


def _named(shape: _TraceShape) -> JobShape:
    gpus, memory_gib, gpu, runtime_gpu, spans, demand = shape
    name = f"{gpus} x {gpu or 'any card'}"
    if memory_gib is not None:
        name += f", {memory_gib:g} GiB a card"
    if runtime_gpu is not None:
        name += f", timed on {runtime_gpu}"
    if not spans and gpus > 1:
        name += ", one machine"
    if demand is not None:
        name += f", busy {100 * demand:g} %"
    return JobShape(name, None, (gpus,), memory_gib, gpu, runtime_gpu, spans, demand=demand)


def _notes(scenario: Scenario, trace: Sequence[TraceRow], within: int) -> tuple[str, ...]:
    notes = []
    workload = scenario.workload
    profiles = [one.profile for one in workload.classes] + [one.profile for one in workload.timed]
    if "office-hours" in profiles:
        notes.append(
            said(
                "Arrivals by office-hours follow the hours and weekdays of the Helios Venus cluster (China, "
                "2020)."
            )
        )
    looping = [one.name for one in workload.classes if one.loop is not None]
    looping += [one.name for one in workload.timed if one.loop is not None]
    notes += [
        said(
            "{name}: the next run is submitted when the last has been looked at, so faster fleets get more "
            "runs: compare jobs done and cost per job as well as waits.",
            name=name,
        )
        for name in looping
    ]
    asked = scenario.workload.trace
    if asked is not None and asked.scale != 1:
        notes.append(
            said(
                "Demand of the trace times {times}: jobs are left out or repeated one by one, at random.",
                times=f"{asked.scale:g}",
            )
        )
    if asked is not None and asked.shuffle:
        notes.append(said("The submission times of the trace are dealt out anew among its jobs."))
    if within < len(trace):
        late = len(trace) - within
        notes.append(
            said(
                "{late} of {jobs} trace jobs are submitted at or after the horizon: left out.",
                late=late,
                jobs=len(trace),
            )
        )
    return tuple(notes)


def _not_done(rows: Sequence[TraceRow]) -> Iterator[str]:
    """Recorded jobs that are replayed to the end that the record tells, and the card-hours that were lost."""
    lost = [row for row in rows if row.end is not None]
    if lost:
        yield said(
            "{failed} of {jobs} trace jobs are recorded as failed and {cancelled} as cancelled, "
            "{hours} card-hours: they run as long as recorded and are not done.",
            failed=sum(row.end == "failed" for row in lost),
            jobs=len(rows),
            cancelled=sum(row.end == "cancelled" for row in lost),
            hours=f"{sum(row.gpus * row.runtime_us for row in lost) / HOUR:,.1f}",
        )
