"""When jobs arrive: a Poisson process of batches whose rate follows the hour, the weekday and growth.

The rate is constant over each quarter of an hour, because every change of daylight time falls on
one. Unit exponentials are laid end to end and read back through the cumulative rate, so a longer
horizon adds arrivals at the end and moves none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import numpy as np

from sim.model.scenario import ArrivalProfile, JobClass, Scenario
from sim.units import DAY, HOUR, MINUTE, parse_growth, parse_rate
from sim.workload.distributions import Floats, mean_whole

__all__ = ["PROFILES", "Clock", "Ints", "batch_times", "clock_of", "expected_jobs", "profile_of"]

Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_CELL = 15 * MINUTE
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_EXPONENT = 700.0
"""exp of more than this is no number."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Quarters of an hour from the start to the horizon, with the local hour and weekday of each."""

    edges: Ints
    """Elapsed microseconds, one more than there are quarters; the first is 0, and the first quarter
    may be cut short by a start at an odd minute."""
    hour: Ints
    weekday: Ints
    """0 is Monday."""
    growth: Floats
    """Mean growth factor of each quarter."""


def clock_of(scenario: Scenario) -> Clock:
    """The quarters of an hour of a scenario."""
    start = (scenario.start_instant - _EPOCH) // timedelta(microseconds=1)
    first = start - start % _CELL
    count = -(-(start + scenario.horizon_us - first) // _CELL)
    utc = first + _CELL * np.arange(count + 1, dtype=np.int64)
    local = utc[:-1] + _offsets(scenario, utc[:-1])
    edges = np.maximum(utc - start, 0)
    exponent = 0.0 if scenario.workload.growth is None else parse_growth(scenario.workload.growth)
    return Clock(
        edges=edges,
        hour=local % DAY // HOUR,
        weekday=(local // DAY + 3) % 7,  # 1 January 1970 was a Thursday
        growth=_growth(edges, exponent),
    )


def _offsets(scenario: Scenario, utc: Ints) -> Ints:
    """Local time minus UTC, microseconds; looked up once a day, and by the quarter where it changes."""
    zone, day = scenario.zone, DAY // _CELL

    def offset(micros: int) -> int:
        shift = (_EPOCH + timedelta(microseconds=micros)).astimezone(zone).utcoffset()
        return (shift or timedelta(0)) // timedelta(microseconds=1)

    offsets = np.empty(len(utc), dtype=np.int64)
    for begin in range(0, len(utc), day):
        cells = utc[begin : begin + day]
        before, after = offset(int(cells[0])), offset(int(cells[-1]))
        same = before == after
        offsets[begin : begin + day] = before if same else [offset(int(cell)) for cell in cells]
    return offsets


def _growth(edges: Ints, exponent: float) -> Floats:
    """Mean of exp(exponent x time) over each quarter."""
    if exponent == 0:
        return np.ones(len(edges) - 1)
    begin = np.minimum(exponent * edges[:-1], _LONGEST_EXPONENT)
    step = np.minimum(exponent * np.diff(edges), _LONGEST_EXPONENT)
    with np.errstate(over="ignore"):  # infinitely many jobs: the loader refuses such a scenario
        return np.asarray(np.exp(begin) * np.expm1(step) / step)


def profile_of(job_class: JobClass) -> ArrivalProfile:
    """The profile of a class, by name or as written."""
    given = job_class.profile
    return given if isinstance(given, ArrivalProfile) else PROFILES[given]


def _cumulative(job_class: JobClass, clock: Clock) -> Floats:
    """Expected number of batches before each edge."""
    profile = profile_of(job_class)
    hourly, weekly = np.array(profile.hourly, dtype=float), np.array(profile.weekly, dtype=float)
    factor = (hourly / hourly.mean())[clock.hour] * (weekly / weekly.mean())[clock.weekday] * clock.growth
    rate = parse_rate(job_class.rate) / mean_whole(job_class.batch_size)
    return np.concatenate(([0.0], np.cumsum(rate * factor * np.diff(clock.edges))))


def expected_jobs(job_class: JobClass, clock: Clock) -> float:
    """Expected number of jobs of a class over the horizon (to the end of its last quarter of an hour)."""
    return float(_cumulative(job_class, clock)[-1]) * mean_whole(job_class.batch_size)


def batch_times(job_class: JobClass, clock: Clock, horizon_us: int, generator: np.random.Generator) -> Ints:
    """Elapsed times of the batches of a class before the horizon, ascending, microseconds."""
    cumulative = _cumulative(job_class, clock)
    total = float(cumulative[-1])
    gaps = generator.standard_exponential(math.ceil(total + 6 * math.sqrt(total)) + 16)
    while gaps.sum() <= total:
        gaps = np.concatenate((gaps, generator.standard_exponential(len(gaps))))
    # one running sum over all gaps: sums of pieces would differ in the last digit with the horizon
    marks = np.cumsum(gaps)
    marks = marks[marks < total]
    cell = np.searchsorted(cumulative, marks, side="right") - 1
    width = np.diff(clock.edges)[cell]
    share = (marks - cumulative[cell]) / (cumulative[cell + 1] - cumulative[cell])
    times = clock.edges[cell] + np.minimum(np.floor(share * width), width - 1).astype(np.int64)
    return np.asarray(times[times < horizon_us])


PROFILES: Mapping[str, ArrivalProfile] = {
    "flat": ArrivalProfile(hourly=(1.0,) * 24),
    # Counts by local hour and weekday over six months of the Venus cluster (China) in the Helios
    # traces of SenseTime, 2020: a dip at lunch and dinner, work into the night, a trough at 5 to 7.
    "office-hours": ArrivalProfile(
        hourly=(
            *(0.90, 0.66, 0.60, 0.38, 0.27, 0.21, 0.19, 0.22, 0.37, 0.80, 1.29, 1.47),
            *(1.16, 1.30, 1.56, 1.66, 1.73, 1.73, 1.28, 1.31, 1.34, 1.36, 1.15, 1.04),
        ),
        weekly=(1.03, 1.07, 1.28, 1.21, 0.95, 0.68, 0.78),
    ),
}
"""Profiles by name; a new one is a row here and its name in `model.scenario.JobClass.profile`."""
