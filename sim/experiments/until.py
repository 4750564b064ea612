"""Replications until sure: how wide the intervals still are, and how many runs would do.

A study stops when the half-width of the interval of every chosen metric, and of its difference to the
baseline over shared replications, is at most the target for every strategy, or at the budget. Relative
targets are shares of the mean (of the baseline's mean for differences). Source: the sequential procedure
of Law, Simulation Modeling and Analysis (5th ed.), section 9.4.1; stopping at a random number of
replications makes intervals cover a little less than their confidence where the first ones are few.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sim.experiments.sample import Sample
from sim.experiments.statistics import Interval, mean_interval, paired_difference

__all__ = ["Precision", "Shortfall", "next_number", "shortfalls"]

GROWTH = 2.0
"""Most by which one round multiplies the replications: an early guess of the spread may be far off."""


@dataclass(frozen=True, slots=True)
class Precision:
    """The half-width asked for of one metric."""

    metric: str
    half_width: float
    """In the unit of the metric, or a share of the mean."""
    relative: bool


@dataclass(frozen=True, slots=True)
class Shortfall:
    """An interval that is still too wide."""

    metric: str
    strategy: str
    difference: bool
    half_width: float | None
    """None: the metric has no interval yet."""
    allowed: float

    def text(self) -> str:
        """The shortfall in a few words, for progress and notes."""
        what = f"{self.metric} of {self.strategy}"
        if self.difference:
            what = f"difference of {what}"
        if self.half_width is None:
            return f"{what} has no interval yet"
        return f"half-width of the {what}: {self.half_width:.4g}, wanted {self.allowed:.4g}"


def shortfalls(
    samples: Mapping[str, Sequence[Sample]],
    baseline: str,
    asked: Sequence[Precision],
    confidence: float,
) -> list[Shortfall]:
    """What is still too wide, the widest in proportion first. `samples`: replications by strategy."""
    found: list[Shortfall] = []
    for precision in asked:
        base = _values(samples[baseline], precision.metric)
        for strategy, runs in samples.items():
            values = _values(runs, precision.metric)
            own = mean_interval(values, confidence)
            found += _short(precision, strategy, own, own.mean, difference=False)
            if strategy != baseline:
                pair = paired_difference(values, base, confidence)
                mean = mean_interval(base, confidence).mean
                found += _short(precision, strategy, pair, mean, difference=True)
    return sorted(found, key=_excess, reverse=True)


def next_number(now: int, found: Sequence[Shortfall], most: int) -> int:
    """How many replications to have next: as many as the widest interval seems to need.

    The half-width shrinks with the square root of their number.
    """
    if not found or now >= most:
        return now
    worst = _excess(found[0])
    wanted = now * GROWTH if math.isinf(worst) else min(now * GROWTH, now * worst**2)
    return min(most, max(now + 1, math.ceil(wanted - 1e-9)))


def _values(runs: Sequence[Sample], metric: str) -> list[float | None]:
    return [run.metrics.get(metric) for run in runs]


def _short(
    precision: Precision, strategy: str, interval: Interval, mean: float | None, *, difference: bool
) -> list[Shortfall]:
    if interval.mean is None and interval.n == 0:
        return []  # a metric that is defined in no run cannot become narrower
    allowed = precision.half_width * (abs(mean) if precision.relative and mean is not None else 1.0)
    half = None if interval.high is None or interval.low is None else (interval.high - interval.low) / 2
    if half is not None and half <= allowed:
        return []
    return [Shortfall(precision.metric, strategy, difference, half, allowed)]


def _excess(one: Shortfall) -> float:
    if one.half_width is None or one.allowed <= 0:
        return math.inf
    return one.half_width / one.allowed
