"""Jobs that are known by their run time alone: batches whose members resemble each other.

Batches start as a Poisson process whose rate follows the profile and random busy weeks, days and
hours (gamma factors: Whitt 1999; Avramidis, Deslauriers, L'Ecuyer 2004). Their jobs follow one
another by random gaps (Bartlett 1963, Lewis 1964). Run times keep their distribution exactly while
they resemble each other within a batch and from batch to batch: their normal scores are correlated
(Cario, Nelson 1996).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from sim.model.job import JobShape
from sim.model.job_table import JobTable, priorities, span_or_none
from sim.model.scenario import Scenario
from sim.model.timed import TimedClass
from sim.model.values import Distribution, Quantity
from sim.streams import Streams
from sim.units import SECOND
from sim.workload.arrivals import Clock, Ints, batch_times
from sim.workload.distributions import Floats, at_quantile, whole
from sim.workload.ends import OWN_END, draw_ends
from sim.workload.kinds import LEAST, ShapeKey, at_score, key_of, normal, runtimes
from sim.workload.loops import Following, Part, closed, of_campaigns, of_people
from sim.workload.repeats import Repeats, with_repeats

__all__ = ["Drawn", "draw_timed", "timed_jobs", "timed_shapes"]

_CELLS = 1 << 14
"""Points at which the sizes of batches are read to know the share of jobs in smaller ones."""
_CELLS_AN_HOUR = 4
"""Quarters of an hour, as `Clock` has them."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Jobs of one class by time of submission; arrays of shape (n,)."""

    submit_us: Ints
    kind: Ints
    """Position in the class."""
    runtime_us: Floats
    """At least one microsecond."""
    batch: Ints
    """Batch of each job, from 0."""
    repeats: Repeats | None = None
    """New submissions of failed jobs among them; None: there are none."""


def timed_shapes(one: TimedClass) -> dict[ShapeKey, JobShape]:
    """What the jobs of a class can look like, in the order of its kinds."""
    return {key: _shape(one, key) for key in dict.fromkeys(key_of(kind) for kind in one.kinds)}


def _shape(one: TimedClass, key: ShapeKey) -> JobShape:
    name = f"{one.name}, {key.gpus} card{'s' if key.gpus > 1 else ''}"
    if key.memory_gib is not None:
        name += f", {key.memory_gib:g} GiB a card"
    return JobShape(
        name, None, (key.gpus,), key.memory_gib, None, one.runtime_gpu, one.spans,
        restart_us=one.restart, closed=closed(one),
    )  # fmt: skip


def timed_jobs(
    one: TimedClass, places: Mapping[JobShape, int], scenario: Scenario, clock: Clock, streams: Streams
) -> Part:
    """The jobs of a class before the horizon; `places` are the numbers of the shapes."""
    follows = None
    if one.loop is not None and closed(one):
        follows = of_people(one, one.loop, scenario, streams)
        drawn = _of_people(one, follows.drawn, streams)
    else:
        drawn = draw_timed(one, clock, scenario.horizon_us, streams)
        if one.loop is not None:
            follows = of_campaigns(one, one.loop, scenario, streams, drawn.submit_us, drawn.batch)
        elif (found := drawn.repeats) is not None:
            rows = np.arange(len(drawn.submit_us))
            follows = Following(rows, found.first, found.turn, drawn.submit_us, found.pause_us, None)
    table = _table(one, drawn, places, streams)
    return (table, None) if follows is None else (follows.among(table, one.name), follows)


def _of_people(one: TimedClass, count: int, streams: Streams) -> Drawn:
    """Contents of so many jobs, none like another; times of submission are found elsewhere."""
    each = np.arange(count)
    kind = _kinds(one, each, count, streams)
    scores = normal(streams.generator("runtime", one.name), count)
    return Drawn(np.zeros(count, dtype=np.int64), kind, runtimes(one, kind, scores), each)


def _table(one: TimedClass, drawn: Drawn, places: Mapping[JobShape, int], streams: Streams) -> JobTable:
    count = len(drawn.submit_us)
    shapes = timed_shapes(one)
    of_kind = np.array([places[shapes[key_of(kind)]] for kind in one.kinds], dtype=np.int32)
    if one.ends is not None:
        ends = dict(enumerate(draw_ends(one, count, streams) or ()))
    else:
        own = [OWN_END.get(kind.state, ()) for kind in one.kinds]
        ends = dict(enumerate(own[kind] for kind in drawn.kind.tolist())) if any(own) else {}
    zeros = np.zeros(count, dtype=np.int32)
    return JobTable(
        shape=of_kind[drawn.kind],
        submit_us=drawn.submit_us,
        work=drawn.runtime_us,
        heads=(one.name,),
        head=zeros,
        number=np.arange(count, dtype=np.int32),
        teams=(one.team,),
        team=zeros,
        priority=priorities([one.priority] * count),
        deadline_us=np.full(count, span_or_none(one.deadline), dtype=np.int64),
        limit_us=np.full(count, span_or_none(one.limit), dtype=np.int64),
        luck=np.zeros(count),
        ends={place: of_job for place, of_job in ends.items() if of_job},
    )


def draw_timed(one: TimedClass, clock: Clock, horizon_us: int, streams: Streams) -> Drawn:
    """Draw a class. A longer horizon adds jobs at the end and changes none before."""
    name = one.name
    busy = _busy(one, clock, streams)
    starts = batch_times(one, clock, horizon_us, streams.generator("arrivals", name), busy)
    lot = _size_lots(one, clock, starts, streams)
    sizes = _sizes(one.jobs_a_batch, lot)
    batch = np.repeat(np.arange(len(starts)), sizes)
    first = np.cumsum(sizes) - sizes
    times = starts[batch] + _offsets(one, batch, first, lot, streams)
    kind = _kinds(one, batch, len(starts), streams)
    runtime = runtimes(one, kind, _scores(one, batch, lot, streams))
    repeats = None
    if one.again is not None:
        times, kind, runtime, repeats = with_repeats(one, one.again, times, kind, runtime, streams)
        batch = batch[repeats.first]
    order = np.argsort(times, kind="stable")
    order = order[times[order] < horizon_us]
    if repeats is not None:
        repeats = Repeats(repeats.first[order], repeats.turn[order], repeats.pause_us[order])
    return Drawn(times[order], kind[order], runtime[order], batch[order], repeats)


def _busy(one: TimedClass, clock: Clock, streams: Streams) -> Floats | None:
    """Factor of every quarter of an hour."""
    from scipy.special import gammaincinv  # here: it takes long to import, and few commands draw

    factor: Floats | None = None
    first = int(clock.day[0]) if len(clock.day) else 0
    hours = np.arange(len(clock.day)) // _CELLS_AN_HOUR
    blocks = {"week": (clock.day + 3) // 7 - (first + 3) // 7, "day": clock.day - first, "hour": hours}
    for level, block in blocks.items():
        spread = float(getattr(one.busy, level))
        if spread == 0 or not len(block):
            continue
        shape = 1 / spread**2
        chance = streams.generator("busy", one.name, level).random(int(block[-1]) + 1)
        values = gammaincinv(shape, chance)[block] / shape
        factor = values if factor is None else factor * values
    return factor


def _size_lots(one: TimedClass, clock: Clock, starts: Ints, streams: Streams) -> Floats:
    """Probabilities at which batch sizes are read; uniform, and correlated within a day."""
    from scipy.special import ndtr, ndtri

    lots = streams.generator("batch", one.name).random(len(starts))
    if one.alike.day == 0 or not len(starts):
        return lots
    day = clock.day[np.searchsorted(clock.edges, starts, side="right") - 1] - clock.day[0]
    own, days = ndtri(np.clip(lots, LEAST, None)), int(day[-1]) + 1
    common = normal(streams.generator("batch", one.name, "day"), days)
    mixed = ndtr(np.sqrt(one.alike.day) * common[day] + np.sqrt(1 - one.alike.day) * own)
    return np.asarray(np.minimum(mixed, np.nextafter(1.0, 0.0)))


def _sizes(size: Quantity, lot: Floats) -> Ints:
    if not isinstance(size, Distribution):
        return np.full(len(lot), int(whole(np.array([float(size)]))[0]), dtype=np.int64)
    return whole(at_quantile(size, lot)).astype(np.int64)


def _offsets(one: TimedClass, batch: Ints, first: Ints, lot: Floats, streams: Streams) -> Ints:
    """Time of each job after the first of its batch, microseconds."""
    if one.gap_s is None:
        return np.zeros(len(batch), dtype=np.int64)
    alike, name = one.alike, ("gap", one.name)
    scores = normal(streams.generator(*name), len(batch))
    if alike.gap:
        common = normal(streams.generator(*name, "batch"), len(first))
        if alike.gap_size:
            common = _with_size(alike.gap_size, one.jobs_a_batch, lot, common)
        scores = np.sqrt(alike.gap) * common[batch] + np.sqrt(1 - alike.gap) * scores
    gaps = at_score(one.gap_s, scores)
    gaps[first] = 0
    reached = np.cumsum(gaps)
    return np.rint((reached - reached[first][batch]) * SECOND).astype(np.int64)


def _kinds(one: TimedClass, batch: Ints, batches: int, streams: Streams) -> Ints:
    bounds = np.cumsum([kind.share for kind in one.kinds])
    bounds /= bounds[-1]

    def drawn(count: int, *name: str) -> Ints:
        lots = streams.generator("kind", one.name, *name).random(count)
        return np.minimum(np.searchsorted(bounds, lots, side="right"), len(bounds) - 1)

    if len(bounds) == 1:
        return np.zeros(len(batch), dtype=np.int64)
    same = streams.generator("kind", one.name, "same").random(len(batch)) < one.alike.kind
    return np.where(same, drawn(batches, "batch")[batch], drawn(len(batch)))


def _scores(one: TimedClass, batch: Ints, lot: Floats, streams: Streams) -> Floats:
    """Normal scores of run times: standard normal for a job, alike within a batch and to the next."""
    alike, name = one.alike, ("runtime", one.name)
    own = normal(streams.generator(*name), len(batch))
    if alike.runtime == 0:
        return own
    fresh = normal(streams.generator(*name, "batch"), len(lot))
    if alike.next:
        part = float(np.sqrt(1 - alike.next**2))
        steps = (part * step if i else step for i, step in enumerate(fresh.tolist()))
        fresh = np.array(list(accumulate(steps, lambda before, step: alike.next * before + step)))
    if alike.size:
        fresh = _with_size(alike.size, one.jobs_a_batch, lot, fresh)
    return np.asarray(np.sqrt(alike.runtime) * fresh[batch] + np.sqrt(1 - alike.runtime) * own)


def _with_size(part: float, size: Quantity, lot: Floats, own: Floats) -> Floats:
    """Levels of batches that are correlated with their sizes."""
    return np.asarray(part * _size_scores(size, lot) + np.sqrt(1 - part**2) * own)


def _size_scores(size: Quantity, lot: Floats) -> Floats:
    """Normal score of a batch's size among jobs: the share of all jobs that stand in smaller batches."""
    from scipy.special import ndtri

    grid = (np.arange(_CELLS) + 0.5) / _CELLS
    reached = np.concatenate(([0.0], np.cumsum(_sizes(size, grid))))
    share = np.interp(lot, np.linspace(0, 1, _CELLS + 1), reached / reached[-1])
    return np.asarray(ndtri(np.clip(share, LEAST, 1 - LEAST)))
