"""When jobs arrive: a Poisson process of batches whose rate follows the hour, the weekday and growth.

The rate is constant over each quarter of an hour, because every change of daylight time falls on
one. Unit exponentials are laid end to end and read back through the cumulative rate, so a longer
horizon adds arrivals at the end and moves none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, TypeAlias

import numpy as np

from sim.model.scenario import ArrivalProfile, JobClass, Scenario
from sim.model.timed import TimedClass
from sim.units import DAY, HOUR, MINUTE, Micros, parse_growth, parse_rate
from sim.workload.distributions import Floats, mean_whole
from sim.workload.holidays import days_off

__all__ = [
    "PROFILES",
    "Arriving",
    "Clock",
    "Ints",
    "batch_times",
    "begun",
    "clock_of",
    "expected_jobs",
    "make_clock",
    "profile_of",
]

Arriving: TypeAlias = JobClass | TimedClass
"""What arrives by itself: it has a rate, a profile and a batch size."""

Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_CELL = 15 * MINUTE
"""Time over which the rate is constant."""
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
    """Mean growth factor of each quarter, less on holidays."""
    local: Ints
    """Local time of the beginning of each quarter, microseconds since 1970."""

    @property
    def day(self) -> Ints:
        """Local days since 1970."""
        return np.asarray(self.local // DAY)


def clock_of(scenario: Scenario) -> Clock:
    """The quarters of an hour of a scenario."""
    clock = make_clock(scenario.start_instant, scenario.horizon_us, scenario.zone)
    growth, weekday = clock.growth, clock.weekday
    if scenario.workload.growth is not None:
        growth = _growth(clock.edges, parse_growth(scenario.workload.growth))
    if scenario.workload.holidays is not None:
        weekday, factor = days_off(scenario.workload.holidays, clock.day)
        growth = growth * factor
    return replace(clock, growth=growth, weekday=weekday)


def make_clock(begin: datetime, length_us: Micros, zone: tzinfo) -> Clock:
    """The quarters of an hour from an instant on, without growth and holidays; at least one."""
    start = (begin - _EPOCH) // timedelta(microseconds=1)
    first = start - start % _CELL
    count = max(1, -(-(start + length_us - first) // _CELL))
    utc = first + _CELL * np.arange(count + 1, dtype=np.int64)
    local = utc[:-1] + _offsets(zone, utc[:-1])
    day = local // DAY
    weekday = (day + 3) % 7  # 1 January 1970 was a Thursday
    return Clock(np.maximum(utc - start, 0), local % DAY // HOUR, weekday, np.ones(count), local)


def _offsets(zone: tzinfo, utc: Ints) -> Ints:
    """Local time minus UTC, microseconds; looked up once a day, and by the quarter where it changes."""
    day = DAY // _CELL

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


def profile_of(arriving: Arriving) -> ArrivalProfile:
    """The profile of a class, by name or as written."""
    given = arriving.profile
    return given if isinstance(given, ArrivalProfile) else PROFILES[given]


def _factor(profile: ArrivalProfile, clock: Clock) -> Floats:
    """Factor of each quarter of an hour; its mean over a week is 1."""
    if profile.week is not None:
        week = np.array(profile.week, dtype=float)
        return np.asarray((week / week.mean())[24 * clock.weekday + clock.hour])
    hourly, weekly = np.array(profile.hourly, dtype=float), np.array(profile.weekly, dtype=float)
    return np.asarray((hourly / hourly.mean())[clock.hour] * (weekly / weekly.mean())[clock.weekday])


def _cumulative(arriving: Arriving, clock: Clock, busy: Floats | None = None) -> Floats:
    """Expected number of batches before each edge; `busy` are further factors of the quarters."""
    if arriving.rate is None:
        return np.searchsorted(_campaigns(arriving.at or (), clock), clock.edges).astype(np.float64)
    factor = _factor(profile_of(arriving), clock) * clock.growth
    if busy is not None:
        factor = factor * busy
    if isinstance(arriving, TimedClass) and arriving.since is not None:
        factor = np.where(begun(clock, arriving.since), factor, 0.0)
    rate = parse_rate(arriving.rate) / mean_whole(arriving.jobs_a_batch)
    return np.concatenate(([0.0], np.cumsum(rate * factor * np.diff(clock.edges))))


def begun(clock: Clock, since: datetime) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Quarters of an hour whose hour is not before a local time."""
    return np.asarray(clock.local >= _micros(since) // HOUR * HOUR)


def _micros(local: datetime) -> Micros:
    """A local time as microseconds since 1970."""
    return (local.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


def _campaigns(times: Sequence[datetime], clock: Clock) -> Ints:
    """Elapsed times of local times within the clock, ascending; of an hour that comes twice, the first;
    a time that a change of daylight time skips stands at its end."""
    found = []
    for time in sorted(_micros(one) for one in times):
        after = np.flatnonzero(clock.local + _CELL > time)
        if not len(after) or time < clock.local[0]:
            continue
        cell = int(after[0])
        begin = int(clock.edges[cell + 1]) - _CELL  # the first quarter may have begun before the start
        found.append(begin + max(0, time - int(clock.local[cell])))
    return np.array([one for one in found if one >= 0], dtype=np.int64)


def expected_jobs(arriving: Arriving, clock: Clock) -> float:
    """Expected number of jobs of a class over the horizon (to the end of its last quarter of an hour)."""
    return float(_cumulative(arriving, clock)[-1]) * mean_whole(arriving.jobs_a_batch)


def batch_times(
    arriving: Arriving,
    clock: Clock,
    horizon_us: int,
    generator: np.random.Generator,
    busy: Floats | None = None,
) -> Ints:
    """Elapsed times of the batches of a class before the horizon, ascending, microseconds.

    `busy` are random factors of the quarters of an hour, shape (n,); None: all 1.
    """
    if arriving.rate is None:
        times = _campaigns(arriving.at or (), clock)
        return np.asarray(times[times < horizon_us])
    cumulative = _cumulative(arriving, clock, busy)
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
