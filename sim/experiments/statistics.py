"""Means, intervals and quantiles over replications. None means "not defined" and is never a number.

Every function leaves out values that are None, NaN or infinite and says how many were left, so that
nothing that is not a number reaches a table or a JSON document. Intervals are two-sided.

Sources: Student's interval and the paired difference, Law, Simulation Modeling and Analysis (5th ed.),
sections 4.5 and 10.2; Wilson's interval of a share, Wilson (1927), JASA 22, 209-212; quantiles by
linear interpolation, Hyndman and Fan (1996), definition 7.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from sim.model.said import said

__all__ = [
    "NEEDS_TWO",
    "Interval",
    "defined",
    "mean_interval",
    "paired_difference",
    "quantiles",
    "wilson_interval",
]

NEEDS_TWO = said("needs 2 or more replications")
"""Why an interval has no limits."""

Values = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the limits of its interval, in the unit of the values."""

    mean: float | None
    """None where no value is defined."""
    low: float | None
    high: float | None
    n: int
    """Values that are defined."""
    reason: str | None = None
    """Why there are no limits; None where there are."""

    def straddles(self, limit: float) -> bool:
        """Whether the limit lies strictly inside the interval."""
        return self.low is not None and self.high is not None and self.low < limit < self.high


def defined(values: Values) -> list[float]:
    """The values that are finite numbers, in their order."""
    return [float(value) for value in values if value is not None and math.isfinite(value)]


def mean_interval(values: Values, confidence: float = 0.95) -> Interval:
    """Student's interval of the mean: mean +- t(n - 1) s / sqrt(n), s with n - 1 below the line."""
    numbers = defined(values)
    few = _too_few(numbers)
    if few is not None:
        return few
    n, mean = len(numbers), _mean(numbers)
    variance = math.fsum((value - mean) ** 2 for value in numbers) / (n - 1)
    half = float(stdtrit(n - 1, 0.5 + confidence / 2)) * math.sqrt(variance / n)
    return Interval(mean, mean - half, mean + half, n)


def paired_difference(values: Values, baseline: Values, confidence: float = 0.95) -> Interval:
    """Interval of the mean of `values - baseline`, pair by pair.

    The pairs are the replications, which share their jobs and failures, so the interval is narrower
    than that of two separate samples. A pair with an undefined side is left out.

    Raises ValueError if the two are not of one length.
    """
    return mean_interval(
        [
            None if value is None or base is None else value - base
            for value, base in zip(values, baseline, strict=True)
        ],
        confidence,
    )


def wilson_interval(outcomes: Values, confidence: float = 0.95) -> Interval:
    """Wilson's interval of a share, from outcomes of 0 and 1; never outside [0, 1]."""
    numbers = defined(outcomes)
    few = _too_few(numbers)
    if few is not None:
        return few
    n, share = len(numbers), _mean(numbers)
    z2 = float(ndtri(0.5 + confidence / 2)) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    # The formula gives 0 and 1 exactly there but for the last bits of floating point.
    low = 0.0 if share == 0 else max(0.0, centre - half)
    high = 1.0 if share == 1 else min(1.0, centre + half)
    return Interval(share, low, high, n)


def quantiles(values: Values, shares: Sequence[float]) -> list[float | None]:
    """Quantiles at these shares (0 to 1) by linear interpolation; None where there are no values."""
    numbers = defined(values)
    if not numbers:
        return [None] * len(shares)
    return [float(value) for value in np.quantile(numbers, shares, method="linear")]


def _too_few(numbers: list[float]) -> Interval | None:
    if len(numbers) >= 2:
        return None
    return Interval(numbers[0] if numbers else None, None, None, len(numbers), NEEDS_TWO)


def _mean(numbers: list[float]) -> float:
    # Equal values have exactly their own mean: sums would put it off by the last bit.
    if min(numbers) == max(numbers):
        return numbers[0]
    return math.fsum(numbers) / len(numbers)
