"""How well a learned workload repeats the record it is held against: counts, run times, cards, load.

The classes are drawn many times over the same days; the mean over the draws stands beside the record,
with the range in which nine of ten draws lie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sim.model.timed import TimedClass, TimedKind
from sim.model.values import Distribution
from sim.streams import Streams
from sim.units import SECOND
from sim.workload.arrivals import Clock, Ints, expected_jobs
from sim.workload.distributions import at_least
from sim.workload.fit_arrivals import dispersion
from sim.workload.record import Record
from sim.workload.timed import draw_timed

__all__ = ["QUANTILES", "Line", "Sample", "busy_cards", "draws_for", "goodness", "sample_of", "sampled"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

QUANTILES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
_RANGE = (0.05, 0.95)
"""Quantiles of the draws between which nine of ten lie."""
_SLOTS = {"10 min": 600.0, "1 h": 3600.0, "1 d": 86400.0}
"""Widths of the slots in which the dispersion of arrivals is told, seconds."""
_JOBS_IN_ALL = 6_000_000
"""Jobs that all draws together have, within the bounds below."""
_FEWEST_DRAWS, _MOST_DRAWS = 20, 1000


@dataclass(frozen=True, slots=True)
class Sample:
    """Jobs of a record or of one draw, by time of submission; arrays of shape (n,), seconds."""

    submit_s: Floats
    gpus: Ints
    runtime_s: Floats


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of the record and of the model."""

    topic: str
    """`jobs`, `run time`, `cards`, `dispersion` or `load`."""
    at: str
    """Such as `hour 7`, `95 %` or `10 min`."""
    unit: str
    record: float
    model: float
    """Mean over the draws; of run times and cards, the quantile and the share that the model asks for."""
    low: float
    high: float
    """Nine of ten draws lie between."""
    error: float
    """Standard error of the model's mean over the draws."""

    @property
    def off(self) -> float | None:
        """How far the model is off, relative to the record; None where that is 0."""
        return self.model / self.record - 1 if self.record else None


def sample_of(record: Record) -> Sample:
    """The jobs of a record."""
    return Sample(record.submit_s, record.gpus, record.runtime_s)


def sampled(
    classes: Sequence[TimedClass], clock: Clock, length_s: float, seed: int, draws: int
) -> Iterator[Sample]:
    """Draws of the classes over the time of a record, each by its own replication of the seed."""
    cards = [np.array([kind.gpus for kind in one.kinds]) for one in classes]
    for replication in range(draws):
        streams = Streams(seed, replication)
        drawn = [draw_timed(one, clock, round(length_s * SECOND), streams) for one in classes]
        submit = np.concatenate([one.submit_us for one in drawn]) / SECOND
        gpus = np.concatenate([count[one.kind] for count, one in zip(cards, drawn, strict=True)])
        runtime = np.concatenate([one.runtime_us for one in drawn]) / SECOND
        order = np.argsort(submit, kind="stable")
        yield Sample(submit[order], gpus[order], runtime[order])


def draws_for(jobs: int) -> int:
    """Draws that show the mean of a workload of so many jobs."""
    return min(max(_JOBS_IN_ALL // max(jobs, 1), _FEWEST_DRAWS), _MOST_DRAWS)


def goodness(
    record: Record, classes: Sequence[TimedClass], *, seed: int = 42, draws: int | None = None
) -> tuple[Line, ...]:
    """All figures of the record and of the classes."""
    clock, length = record.clock, record.length_s
    counts = draws_for(len(record)) if draws is None else draws
    widths = np.unique(record.gpus)
    mine = _figures(sample_of(record), clock, length, widths)
    theirs: dict[tuple[str, str], list[float]] = {key: [] for key in mine}
    for sample in sampled(classes, clock, length, seed, counts):
        for key, value in _figures(sample, clock, length, widths).items():
            theirs[key].append(value)
    known = {**_quantiles(classes, clock), **_shares(classes, widths, clock)}
    return tuple(_line(key, mine[key], np.array(theirs[key]), known.get(key)) for key in mine)


def _line(key: tuple[str, str], record: float, draws: Floats, known: float | None) -> Line:
    met = draws[~np.isnan(draws)]
    mean = float(met.mean()) if len(met) else math.nan
    low, high = (float(x) for x in np.quantile(met, _RANGE)) if len(met) else (math.nan, math.nan)
    error = float(met.std(ddof=1) / math.sqrt(len(met))) if len(met) > 1 else math.nan
    return Line(*key, _UNITS[key[0]], record, mean if known is None else known, low, high, error)


_UNITS: Mapping[str, str] = {
    "jobs": "jobs",
    "run time": "s",
    "cards": "share of jobs",
    "dispersion": "variance / mean",
    "load": "cards busy",
}

_Figures = dict[tuple[str, str], float]


def _figures(sample: Sample, clock: Clock, length_s: float, widths: Ints) -> _Figures:
    found: _Figures = {}
    for part in _PARTS:
        found.update(part(sample, clock, length_s, widths))
    return found


def _hours(sample: Sample, clock: Clock, _: float, __: Ints) -> _Figures:
    micros = np.rint(sample.submit_s * SECOND)
    cell = np.clip(np.searchsorted(clock.edges, micros, side="right") - 1, 0, len(clock.hour) - 1)
    counts = np.bincount(clock.hour[cell], minlength=24)
    found = {("jobs", f"hour {hour}"): float(count) for hour, count in enumerate(counts)}
    return {("jobs", "in all"): float(len(micros)), **found}


def _run_times(sample: Sample, *_: object) -> _Figures:
    if not len(sample.runtime_s):
        return {("run time", _percent(q)): math.nan for q in QUANTILES}
    values = np.quantile(sample.runtime_s, QUANTILES)
    return {("run time", _percent(q)): float(v) for q, v in zip(QUANTILES, values, strict=True)}


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _cards(sample: Sample, _: Clock, __: float, widths: Ints) -> _Figures:
    jobs = max(len(sample.gpus), 1)
    return {("cards", f"{n} cards"): float((sample.gpus == n).sum()) / jobs for n in widths.tolist()}


def _dispersions(sample: Sample, _: Clock, length_s: float, __: Ints) -> _Figures:
    return {
        ("dispersion", name): dispersion(sample.submit_s, length_s, width) for name, width in _SLOTS.items()
    }


def _loads(sample: Sample, clock: Clock, length_s: float, _: Ints) -> _Figures:
    """Cards busy by hour of the day, were there always one free."""
    edges = np.minimum(clock.edges / SECOND, length_s)
    spent = np.diff(_spent(sample, edges))
    hours = np.bincount(clock.hour, spent, 24)
    time = np.bincount(clock.hour, np.diff(edges), 24)
    busy = np.divide(hours, time, out=np.zeros(24), where=time > 0)
    found = {("load", f"hour {hour}"): float(value) for hour, value in enumerate(busy)}
    return {("load", "on average"): float(spent.sum() / length_s), **found}


def _spent(sample: Sample, times: Floats) -> Floats:
    """Card-seconds used before each time."""

    def after(marks: Floats, gpus: Ints) -> Floats:
        order = np.argsort(marks)
        cards = np.concatenate(([0.0], np.cumsum(gpus[order])))
        moments = np.concatenate(([0.0], np.cumsum(gpus[order] * marks[order])))
        place = np.searchsorted(marks[order], times, side="right")
        return np.asarray(cards[place] * times - moments[place])

    return after(sample.submit_s, sample.gpus) - after(sample.submit_s + sample.runtime_s, sample.gpus)


def busy_cards(sample: Sample, length_s: float, parts: int) -> tuple[float, ...]:
    """Cards busy in equal parts of the time, were there always one free."""
    edges = np.linspace(0, length_s, parts + 1)
    return tuple(float(cards) for cards in np.diff(_spent(sample, edges)) / np.diff(edges))


_PARTS: Sequence[Callable[..., _Figures]] = (_hours, _run_times, _cards, _dispersions, _loads)
"""A new figure is a function, a row here and a unit in `_UNITS`."""


def _weights(classes: Sequence[TimedClass], clock: Clock) -> Iterator[tuple[float, TimedKind]]:
    """Share of every kind in the jobs of all classes."""
    jobs = [expected_jobs(one, clock) for one in classes]
    for mine, one in zip(jobs, classes, strict=True):
        whole = math.fsum(kind.share for kind in one.kinds)
        for kind in one.kinds:
            yield mine / math.fsum(jobs) * kind.share / whole, kind


def _shares(classes: Sequence[TimedClass], widths: Ints, clock: Clock) -> _Figures:
    """Shares of jobs by cards that the classes ask for."""
    found = dict.fromkeys(widths.tolist(), 0.0)
    for share, kind in _weights(classes, clock):
        if kind.gpus in found:
            found[kind.gpus] += share
    return {("cards", f"{gpus} cards"): share for gpus, share in found.items()}


_LOGS = np.linspace(-8.0, 25.0, 33 * 400 + 1)
"""Logarithms of seconds, in steps of a quarter of a per cent."""


def _quantiles(classes: Sequence[TimedClass], clock: Clock) -> _Figures:
    """Quantiles of the run times that the classes ask for, right to a quarter of a per cent."""
    values, above = np.exp(_LOGS), np.zeros(len(_LOGS))
    for share, kind in _weights(classes, clock):
        time = kind.runtime_s
        above += share * (at_least(time, values) if isinstance(time, Distribution) else values <= time)
    place = np.searchsorted(1 - above, np.array(QUANTILES), side="right")
    found = values[np.clip(place, 0, len(values) - 1)]
    return {("run time", _percent(q)): float(v) for q, v in zip(QUANTILES, found, strict=True)}
