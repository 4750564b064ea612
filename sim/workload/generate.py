"""The jobs of one replication: made before the run, the same for every strategy.

Each class reads random streams of its own (arrivals, batch sizes, samples, epochs), so adding a
class or moving the horizon changes no job that was there before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat

import numpy as np
from scipy.special import ndtri

from sim.model.job import Job, JobSet, JobShape, UserEnd
from sim.model.scenario import JobClass, Scenario
from sim.streams import Streams
from sim.workload.arrivals import Clock, Ints, batch_times, clock_of
from sim.workload.distributions import Floats, draw, whole
from sim.workload.ends import draw_ends
from sim.workload.readers import TraceRow

__all__ = ["generate", "shapes_of"]

_TraceShape = tuple[int, float | None, str | None, str | None, bool]


def shapes_of(scenario: Scenario, trace: Sequence[TraceRow]) -> tuple[JobShape, ...]:
    """What jobs can look like: the classes in file order, then the trace's shapes as they appear."""
    classes = [
        JobShape(name=c.name, job_class=c.name, gpus=c.counts, spans=c.spans)
        for c in scenario.workload.classes
    ]
    distinct = dict.fromkeys(_trace_shape(scenario, row) for row in trace)
    return (*classes, *(_named(shape) for shape in distinct))


def generate(scenario: Scenario, trace: Sequence[TraceRow], streams: Streams) -> JobSet:
    """All jobs submitted before the horizon, by time of submission; ties in file order.

    `Job.work` is samples x epochs for a class (samples whole, at least one sample in all) and the
    recorded run time in microseconds for a trace. A trace job without a limit of its own gets none:
    queues then order it by its run time, and a slower card or an interruption does not kill it.
    """
    shapes = shapes_of(scenario, trace)
    horizon = scenario.horizon_us
    classes = scenario.workload.classes
    clock = clock_of(scenario) if classes else None
    drawn = [_draw_class(c, clock, horizon, streams) for c in classes if clock is not None]
    rows = [row for row in trace if row.submit_us < horizon]
    submitted = np.concatenate(
        [*(times for times, _, _ in drawn), np.array([row.submit_us for row in rows], dtype=np.int64)]
    )
    order = np.argsort(submitted, kind="stable")
    ids = np.empty(len(order), dtype=np.int64)
    ids[order] = np.arange(len(order))
    number = iter(ids.tolist())
    made: list[Job] = []
    for place, (job_class, (times, work, luck)) in enumerate(zip(classes, drawn, strict=True)):
        ends = draw_ends(job_class, len(times), streams)
        made += _class_jobs(job_class, place, (times, work, luck), ends, number)
    made += _trace_jobs(scenario, rows, {shape: place for place, shape in enumerate(shapes)}, number)
    jobs = tuple(made[place] for place in order.tolist())
    return JobSet(shapes=shapes, jobs=jobs, notes=_notes(scenario, trace, len(rows)))


def _draw_class(
    job_class: JobClass, clock: Clock, horizon_us: int, streams: Streams
) -> tuple[Ints, Floats, Floats]:
    """Times of submission, work and luck of the jobs of one class."""
    name = job_class.name
    batches = batch_times(job_class, clock, horizon_us, streams.generator("arrivals", name))
    sizes = whole(draw(job_class.batch_size, len(batches), streams.generator("batch", name)))
    times = np.repeat(batches, sizes.astype(np.int64))
    samples = whole(draw(job_class.samples, len(times), streams.generator("samples", name)))
    epochs = draw(job_class.epochs, len(times), streams.generator("epochs", name))
    luck = ndtri(np.clip(streams.generator("speed", name).random(len(times)), 1e-12, None))
    return times, np.maximum(samples * epochs, 1.0), luck


def _class_jobs(
    job_class: JobClass,
    shape: int,
    drawn: tuple[Ints, Floats, Floats],
    ends: Sequence[tuple[UserEnd, ...]] | None,
    ids: Iterator[int],
) -> list[Job]:
    head, team, priority = job_class.name, job_class.team, job_class.priority
    deadline, limit = job_class.deadline, job_class.limit
    each = zip(*(values.tolist() for values in drawn), ends or repeat(()), strict=False)
    return [
        Job(next(ids), f"{head}-{n:06d}", shape, submit, amount, team, priority, deadline, limit, luck, end)
        for n, (submit, amount, luck, end) in enumerate(each)
    ]


def _trace_jobs(
    scenario: Scenario, rows: Sequence[TraceRow], places: Mapping[JobShape, int], ids: Iterator[int]
) -> list[Job]:
    distinct = {_trace_shape(scenario, row) for row in rows}
    of_shape = {shape: places[_named(shape)] for shape in distinct}
    return [
        Job(
            id=next(ids),
            name=row.name,
            shape=of_shape[_trace_shape(scenario, row)],
            submit_us=row.submit_us,
            work=float(row.runtime_us),
            team=row.team,
            priority=row.priority,
            deadline_us=row.deadline_us,
            limit_us=row.limit_us,
        )
        for row in rows
    ]


def _trace_shape(scenario: Scenario, row: TraceRow) -> _TraceShape:
    trace = scenario.workload.trace
    spans = row.spans if row.spans is not None else trace is None or trace.spans
    measured_on = row.runtime_gpu or (None if trace is None else trace.runtime_gpu)
    return row.gpus, row.memory_gib, row.gpu, measured_on, spans


def _named(shape: _TraceShape) -> JobShape:
    gpus, memory_gib, gpu, runtime_gpu, spans = shape
    name = f"{gpus} x {gpu or 'any card'}"
    if memory_gib is not None:
        name += f", {memory_gib:g} GiB a card"
    if runtime_gpu is not None:
        name += f", timed on {runtime_gpu}"
    if not spans and gpus > 1:
        name += ", one machine"
    return JobShape(name, None, (gpus,), memory_gib, gpu, runtime_gpu, spans)


def _notes(scenario: Scenario, trace: Sequence[TraceRow], within: int) -> tuple[str, ...]:
    notes = []
    if any(c.profile == "office-hours" for c in scenario.workload.classes):
        notes.append(
            "Arrivals by office-hours follow the hours and weekdays of the Helios Venus cluster"
            " (China, 2020)."
        )
    if within < len(trace):
        late = len(trace) - within
        notes.append(f"{late} of {len(trace)} trace jobs are submitted at or after the horizon: left out.")
    return tuple(notes)
