"""Intervals beyond Student's: medians and quantiles, resamples, many at once, one long run.

All leave out values that are None, NaN or infinite, and give limits only where there is enough to
give them from (`Interval.reason` says what is missing). Two-sided, in the unit of the values.

Sources: interval of a quantile from order statistics: Conover, Practical Nonparametric Statistics (3rd
ed.), section 3.2; bootstrap with bias correction and acceleration: Efron (1987), JASA 82, 171-185, as in
`scipy.stats.bootstrap`; Bonferroni and Holm: Holm (1979), Scandinavian Journal of Statistics 6, 65-70;
comparisons with the best: Hsu (1984), Annals of Statistics 12, 1136-1144, here from paired intervals of
all pairs, which hold together by Bonferroni and need no equal variances; batch means: Law, Simulation
Modeling and Analysis (5th ed.), section 9.5.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from sim.experiments.statistics import (
    NEEDS_TWO,
    Interval,
    defined,
    mean_interval,
    paired_difference,
    quantiles,
)

__all__ = [
    "batch_means",
    "bonferroni",
    "bootstrap_interval",
    "comparisons_with_the_best",
    "holm",
    "quantile_interval",
    "variance_ratio",
]

Values = Sequence[float | None]

RESAMPLES = 2000
BATCHES = 20
"""Batches of one long run: few enough to be long, enough for an interval (Law, section 9.5.3)."""
FEWEST_A_BATCH = 10


def quantile_interval(values: Values, share: float, confidence: float = 0.95) -> Interval:
    """Interval of a quantile over replications from order statistics; no shape of distribution is assumed.

    The estimate is by linear interpolation, as everywhere. The limits are observed values; where the
    outermost ones do not enclose the quantile with this confidence there are none.
    """
    from scipy.stats import binom  # here: it takes longer to import than all else that a comparison needs

    numbers = sorted(defined(values))
    n = len(numbers)
    estimate = quantiles(numbers, [share])[0]
    tail = (1 - confidence) / 2
    # The number of values below the quantile is binomial: the limits are the values whose ranks
    # (from 1) enclose it with the confidence.
    low = int(binom.ppf(tail, n, share)) if n else 0
    high = int(binom.ppf(1 - tail, n, share)) + 1 if n else 1
    if low < 1 or high > n:
        needed = math.ceil(math.log(tail) / math.log(max(share, 1 - share))) if 0 < share < 1 else None
        more = "" if needed is None else f", about {needed:,}"
        return Interval(estimate, None, None, n, f"needs more replications{more}")
    return Interval(estimate, numbers[low - 1], numbers[high - 1], n)


def bootstrap_interval(
    values: Values, generator: np.random.Generator, confidence: float = 0.95, resamples: int = RESAMPLES
) -> Interval:
    """Interval of the mean from resamples; for skewed values, where Student's is too short on one side.

    `generator` is a named stream, so the same values give the same limits.
    """
    numbers = defined(values)
    if len(numbers) < 2 or min(numbers) == max(numbers):
        return mean_interval(numbers, confidence)
    from scipy.stats import bootstrap

    found = bootstrap(
        (np.array(numbers),), np.mean, confidence_level=confidence, n_resamples=resamples,
        method="BCa", rng=generator,
    )  # fmt: skip
    low, high = (float(limit) for limit in found.confidence_interval)
    mean = math.fsum(numbers) / len(numbers)
    if not (math.isfinite(low) and math.isfinite(high)):
        return mean_interval(numbers, confidence)
    return Interval(mean, low, high, len(numbers))


def bonferroni(confidence: float, intervals: int) -> float:
    """Confidence of each of so many intervals, that they hold all at once with the confidence asked for."""
    return 1 - (1 - confidence) / max(1, intervals)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, in order: reject those at or below the level, and all are right together."""
    count = len(p_values)
    adjusted = [0.0] * count
    most = 0.0
    for rank, position in enumerate(sorted(range(count), key=lambda i: (p_values[i], i))):
        most = max(most, min(1.0, (count - rank) * p_values[position]))
        adjusted[position] = most
    return adjusted


def comparisons_with_the_best(
    systems: Sequence[Values], confidence: float = 0.95, *, low_is_good: bool = True
) -> list[Interval]:
    """For each system: the interval of its mean less that of the best of the others, all at once.

    Below 0 throughout (for `low_is_good`): it is the best. Above 0 throughout: it is not. The systems
    share their replications, and every pair is compared over them.
    """
    count = len(systems)
    if count < 2:
        return [Interval(None, None, None, 0, "needs 2 or more strategies")] * count
    each = bonferroni(confidence, count * (count - 1) // 2)
    pairs: dict[tuple[int, int], Interval] = {}
    for i, j in combinations(range(count), 2):
        found = paired_difference(systems[i], systems[j], each)
        pairs[i, j], pairs[j, i] = found, _turned(found)
    choose = _largest if low_is_good else _smallest
    return [_outermost([pairs[i, j] for j in range(count) if j != i], choose) for i in range(count)]


def _turned(interval: Interval) -> Interval:
    def minus(value: float | None) -> float | None:
        return None if value is None else -value

    return Interval(
        minus(interval.mean), minus(interval.high), minus(interval.low), interval.n, interval.reason
    )


def _largest(values: Sequence[float]) -> float:
    return max(values)


def _smallest(values: Sequence[float]) -> float:
    return min(values)


def _outermost(intervals: Sequence[Interval], choose: Callable[[Sequence[float]], float]) -> Interval:
    """The mean less the best of others is the largest (smallest) of the differences; so are its limits."""
    means = [found.mean for found in intervals if found.mean is not None]
    lows = [found.low for found in intervals if found.low is not None]
    highs = [found.high for found in intervals if found.high is not None]
    mean = choose(means) if means else None
    n = min(found.n for found in intervals)
    if len(lows) < len(intervals) or len(highs) < len(intervals):
        return Interval(mean, None, None, n, NEEDS_TWO)
    return Interval(mean, choose(lows), choose(highs), n)


def batch_means(
    series: Sequence[float], confidence: float = 0.95, batches: int = BATCHES
) -> tuple[Interval, float | None]:
    """Interval of the mean of one long run from batches of equal length, and how alike neighbours are.

    The second figure is the correlation of neighbouring batch means (None where it is not defined);
    above about 0.2 the batches are too short, and the interval too. Values left over at the beginning
    are not used.
    """
    numbers = defined(series)
    size = len(numbers) // batches
    if size < FEWEST_A_BATCH:
        mean = math.fsum(numbers) / len(numbers) if numbers else None
        needed = batches * FEWEST_A_BATCH
        return Interval(mean, None, None, len(numbers), f"needs {needed:,} or more values"), None
    means = np.array(numbers[len(numbers) - size * batches :]).reshape(batches, size).mean(axis=1)
    found = mean_interval(means.tolist(), confidence)
    steps = means - means.mean()
    spread = float((steps**2).sum())
    alike = None if spread == 0 else float((steps[1:] * steps[:-1]).sum()) / spread
    return found, alike


def variance_ratio(values: Values, baseline: Values) -> float | None:
    """What common random numbers gain: the variance of the difference without them over that with them.

    1: nothing; 4: a quarter of the replications give the same interval. None where it is not defined.
    """
    both = [
        (float(value), float(base))
        for value, base in zip(values, baseline, strict=True)
        if value is not None and base is not None and math.isfinite(value) and math.isfinite(base)
    ]
    if len(both) < 3:
        return None
    array = np.array(both)
    paired = float((array[:, 0] - array[:, 1]).var(ddof=1))
    apart = float(array.var(axis=0, ddof=1).sum())
    return None if paired == 0 else apart / paired
