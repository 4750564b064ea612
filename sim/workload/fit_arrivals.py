"""When jobs arrive, learned from a record: batches, hours and weekdays, busy times, trend.

Jobs that follow one another within a short window are a batch. The window is the shortest after which
batches no longer come in clumps inside ten minutes, so that what is left is a Poisson process whose rate
follows the hour, the weekday and random busy weeks, days and hours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

import numpy as np

from sim.model.timed import ArrivalProfile, Busy
from sim.model.values import Choice, Distribution, Quantity
from sim.units import DAY, SECOND
from sim.workload.arrivals import Ints, begun
from sim.workload.record import Record

__all__ = ["WINDOWS", "ArrivalFit", "batch_window", "batches_of", "dispersion", "fit_arrivals"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

WINDOWS = (10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Seconds between two jobs of one batch at most, tried in this order."""
_CALM = 1.15
"""Variance to mean of the batches in ten minutes at which they no longer come in clumps."""
_TEN_MINUTES = 600.0
"""Seconds of a slot in which clumps are looked for."""
_SINGLE_SIZES = 20
"""Batch sizes up to which each is kept by itself ..."""
_SIZE_STEP = 1.1
"""... and the ratio from one group of larger ones to the next."""
_WEEK_HOURS = 168
_WEEK_S = 604_800
_LONGEST_LAG = 23
"""Hours of the clock after which a late job of a batch counts as this late."""
_SILENCE = 0.05
"""Share of the record, and at least a week, before its first job: then the class came in later."""
_FEWEST_WEEKS = 4
"""Weeks from which on a trend is looked for."""


@dataclass(frozen=True, slots=True)
class ArrivalFit:
    """Arrivals of one class."""

    since: datetime | None
    """The hour of its first job, where the class came in later than the record begins."""
    per_day: float
    """Jobs a day, averaged over a week."""
    profile: ArrivalProfile
    profile_form: str
    busy: Busy
    window_s: float
    batch: Ints
    """Number of the batch of each job."""
    batch_size: Quantity
    growth_month: float
    """Relative growth in a month, by a log-linear trend of the weeks."""
    growth_error: float
    """Its standard error, with the dispersion of the weeks."""


def batches_of(submit_s: Floats, window_s: float) -> Ints:
    """Number of the batch of each job; a gap longer than the window begins a new one."""
    return np.concatenate(([0], np.cumsum(np.diff(submit_s) > window_s))).astype(np.int64)


def dispersion(submit_s: Floats, length_s: float, width_s: float = _TEN_MINUTES) -> float:
    """Variance to mean of the counts in slots of this width; 1 for a Poisson process."""
    slots = max(1, math.ceil(length_s / width_s))
    counts = np.bincount(np.minimum(submit_s // width_s, slots - 1).astype(np.int64), minlength=slots)
    return float(counts.var() / counts.mean()) if counts.any() else math.nan


def batch_window(record: Record) -> float:
    """The shortest window after which batches do not come in clumps inside ten minutes; else the longest."""
    for window in WINDOWS:
        batch = batches_of(record.submit_s, window)
        starts = record.submit_s[np.flatnonzero(np.diff(batch, prepend=-1))]
        if dispersion(starts, record.length_s) <= _CALM:
            return window
    return WINDOWS[-1]


def fit_arrivals(record: Record, window: float | None = None, batch: Ints | None = None) -> ArrivalFit:
    """Learn arrivals; the record holds at least one job.

    `batch` is the number of the batch of each job, rising from 0, by this `window`; default: as found.
    """
    window = batch_window(record) if window is None else window
    batch = batches_of(record.submit_s, window) if batch is None else batch
    sizes = np.bincount(batch)
    first = np.flatnonzero(np.diff(batch, prepend=-1))
    since = _since(record)
    cell, exposure = record.cell[first], np.diff(record.clock.edges) / SECOND
    if since is not None:
        exposure = np.where(begun(record.clock, since), exposure, 0.0)
    hour_of_week = 24 * record.clock.weekday + record.clock.hour
    time: Floats = np.bincount(hour_of_week, exposure, _WEEK_HOURS).astype(np.float64)
    squared = sizes.astype(np.float64) ** 2
    squares: Floats = np.bincount(hour_of_week[cell], squared, _WEEK_HOURS).astype(np.float64)
    rate, profile, form = _profile(hour_of_week[record.cell], _lags(record, batch), time, squares)
    started = np.bincount(cell, minlength=len(exposure)).astype(float)
    expected = rate[hour_of_week] * exposure / sizes.mean()
    growth, error = _trend(record, 0.0 if since is None else float(record.submit_s[0]))
    return ArrivalFit(
        since=since,
        per_day=float(rate.mean()) * DAY / SECOND,
        profile=profile,
        profile_form=form,
        busy=_busy(record, started, expected),
        window_s=window,
        batch=batch,
        batch_size=_sizes(sizes),
        growth_month=growth,
        growth_error=error,
    )


def _since(record: Record) -> datetime | None:
    """The hour of the first job, if the record had begun a week and a twentieth of its length before."""
    first = float(record.submit_s[0])
    if first < max(_SILENCE * record.length_s, _WEEK_S):
        return None
    zone = ZoneInfo(record.zone)
    moment = record.start.replace(tzinfo=zone).astimezone(UTC) + timedelta(seconds=first)
    return moment.astimezone(zone).replace(tzinfo=None, minute=0, second=0, microsecond=0)


def _lags(record: Record, batch: Ints) -> Floats:
    """Shares of jobs that arrive 0, 1, 2, ... hours of the clock after the beginning of their batch."""
    hour = np.arange(len(record.clock.day)) // 4
    first = np.flatnonzero(np.diff(batch, prepend=-1))
    late = hour[record.cell] - hour[record.cell[first]][batch]
    return np.bincount(np.minimum(late, _LONGEST_LAG)) / len(late)


def _begun(arrived: Floats, lags: Floats) -> Floats:
    """Jobs by the hour in which their batch began, from jobs by the hour in which they arrived.

    Batches last: what arrives in one hour began partly in those before. Least squares without
    negative counts; both count round a day or a week, shape (n,).
    """
    from scipy.optimize import nnls  # here: few commands learn a workload

    spread = np.zeros((len(arrived), len(arrived)))
    for lag, share in enumerate(lags.tolist()):
        spread += share * np.eye(len(arrived))[:, (np.arange(len(arrived)) + lag) % len(arrived)].T
    begun, _ = nnls(spread.T, arrived, maxiter=50 * len(arrived))
    return np.asarray(begun * (arrived.sum() / max(begun.sum(), 1e-300)))


def _profile(hour: Ints, lags: Floats, time: Floats, squares: Floats) -> tuple[Floats, ArrivalProfile, str]:
    """Jobs a second in each hour of the week, as hours times weekdays or as 168 free numbers.

    `hour` is the hour of the week of each job. By quasi-likelihood: the Poisson deviance over the mean
    square of a batch per job (jobs come in batches, so counts vary more than Poisson), with Schwarz's
    penalty.
    """
    arrived = np.bincount(hour, minlength=_WEEK_HOURS).astype(float)
    jobs = _begun(arrived, lags)
    scale = max(float(squares.sum() / jobs.sum()), 1.0)
    by_hour = _begun(arrived.reshape(7, 24).sum(axis=0), lags)
    product = _product(jobs.reshape(7, 24).sum(axis=1), by_hour, time.reshape(7, 24)).ravel()
    free = np.divide(jobs, time, out=np.array(product), where=time > 0)
    seen = int((time > 0).sum())
    penalty = math.log(max(jobs.sum() / scale, 2.0))

    def criterion(rate: Floats, numbers: int) -> float:
        mean = rate * time
        some = (jobs > 0) & (mean > 0)
        likelihood = float((jobs[some] * np.log(mean[some])).sum() - mean.sum())
        return -2 * likelihood / scale + numbers * penalty

    if criterion(free, seen) < criterion(product, min(30, seen)):
        return free, ArrivalProfile(week=_rounded(free / free.mean())), "168 hours of the week"
    table = product.reshape(7, 24)
    hourly, weekly = table.mean(axis=0), table.mean(axis=1)
    shape = ArrivalProfile(hourly=_rounded(hourly / hourly.mean()), weekly=_rounded(weekly / weekly.mean()))
    return product, shape, "24 hours x 7 weekdays"


def _product(by_day: Floats, by_hour: Floats, time: Floats) -> Floats:
    """Maximum likelihood of rate = weekday factor x hour factor: it has the counts by weekday, shape (7,),
    and by hour, shape (24,); `time` is the time observed, shape (7, 24)."""
    hour, day = np.ones(24), np.ones(7)
    for _ in range(200):
        before = hour
        day = _ratio(by_day, time @ hour)
        hour = _ratio(by_hour, day @ time)
        if np.abs(hour - before).max() <= 1e-12 * max(float(hour.max()), 1e-300):
            break
    return np.outer(day, hour)


def _ratio(above: Floats, below: Floats) -> Floats:
    """Where nothing was observed, the mean of the others stands."""
    seen = below > 0
    found = np.divide(above, below, out=np.zeros_like(below), where=seen)
    found[~seen] = found[seen].mean() if seen.any() else 1.0
    return found


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(float(f"{value:.4g}") for value in values.tolist())


def _busy(record: Record, started: Floats, expected: Floats) -> Busy:
    """Coefficients of variation of the factors of weeks, days and hours, by moments.

    Pairs of batches of one hour share all three factors, pairs of one day but not of one hour those of
    the day and the week, and so on: the surplus of pairs over what independent batches would make is
    the product of (1 + variance) of the factors that they share.
    """
    day = record.clock.day
    blocks = ((day + 3) // 7, day, np.arange(len(day)) // 4)
    sums = [_pairs(block - block[0], started, expected) for block in blocks]
    (week, week0), (days, days0), (hours, hours0) = sums
    shared = [
        _surplus(week - days, week0 - days0),
        _surplus(days - hours, days0 - hours0),
        _surplus(hours - float(started.sum()), hours0),
    ]
    spreads, known = [], 1.0
    for surplus in shared:
        spreads.append(math.sqrt(max(surplus / known - 1, 0.0)))
        known *= 1 + spreads[-1] ** 2
    return Busy(**{name: float(f"{v:.3g}") for name, v in zip(("week", "day", "hour"), spreads, strict=True)})


def _pairs(block: Ints, started: Floats, expected: Floats) -> tuple[float, float]:
    """Sums over blocks of the squares of batches seen and of batches expected."""
    return float((np.bincount(block, started) ** 2).sum()), float((np.bincount(block, expected) ** 2).sum())


def _surplus(seen: float, independent: float) -> float:
    return seen / independent if independent > 0 else 1.0


def _sizes(sizes: Ints) -> Quantity:
    """Batch sizes as met: each up to twenty, larger ones in steps of a tenth, by their mean."""
    if sizes.max() == 1:
        return 1.0
    step = np.where(
        sizes <= _SINGLE_SIZES,
        sizes,
        _SINGLE_SIZES + 1 + np.floor(np.log(np.maximum(sizes / _SINGLE_SIZES, 1)) / math.log(_SIZE_STEP)),
    ).astype(np.int64)
    met = np.unique(step)
    values = tuple(float(round(sizes[step == one].mean())) for one in met)
    return Distribution(
        choice=Choice(values=values, weights=tuple(float((step == one).sum()) for one in met))
    )


def _trend(record: Record, begin_s: float) -> tuple[float, float]:
    """Relative growth a month (365/12 days) and its standard error, by weighted Poisson regression on days;
    the error carries the dispersion of the weeks, since days of one week are not independent."""
    submit = record.submit_s - begin_s
    weeks = max(1, math.floor((record.length_s - begin_s) / _WEEK_S))
    if weeks < _FEWEST_WEEKS:
        return math.nan, math.nan
    whole = submit < weeks * _WEEK_S
    counts = np.bincount((submit[whole] // _WEEK_S).astype(np.int64), minlength=weeks).astype(float)
    when = np.arange(weeks) - (weeks - 1) / 2
    slope, level = 0.0, math.log(max(counts.mean(), 1e-9))
    for _ in range(50):  # Newton's steps for the Poisson likelihood
        mean = np.exp(level + slope * when)
        left = counts - mean
        matrix = np.array([[mean.sum(), (mean * when).sum()], [(mean * when).sum(), (mean * when**2).sum()]])
        move = np.linalg.solve(matrix, np.array([left.sum(), (left * when).sum()]))
        move *= min(1.0, 1.0 / max(float(np.abs(move).max()), 1e-12))
        level, slope = level + float(move[0]), slope + float(move[1])
        if float(np.abs(move).max()) < 1e-10:
            break
    mean = np.exp(level + slope * when)
    spread = float((((counts - mean) ** 2) / mean).sum()) / max(weeks - 2, 1)
    error = math.sqrt(float(np.linalg.inv(matrix)[1, 1]) * max(spread, 1.0))
    months = 365 / 12 / 7
    return math.expm1(slope * months), error * months * math.exp(slope * months)
