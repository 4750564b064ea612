"""The interval of a metric over replications: Wilson's for shares of runs, else Student's, where it can lie.

Student's interval of a few skewed values may reach below 0 where no value can. The true mean is not there, so
what lies outside of the possible is cut off: the rest covers the mean as often as the whole did.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from sim.experiments.statistics import Interval, mean_interval, wilson_interval
from sim.metrics import METRICS

__all__ = ["SHARES_OF_RUNS", "bounds_of", "metric_interval", "within"]

SHARES_OF_RUNS = frozenset({"target_met_share", "overloaded"})
"""Metrics that are 0 or 1 in one run; their interval is that of a share."""

_NEVER_OWED_BACK = frozenset({"burst_cost_cny", "penalty_cny"})
"""Amounts of money that no credit makes negative."""


def metric_interval(metric: str, values: Sequence[float | None], confidence: float = 0.95) -> Interval:
    """Interval of the mean of a metric over replications, in its unit."""
    if metric in SHARES_OF_RUNS:
        return wilson_interval(values, confidence)
    return within(mean_interval(values, confidence), *bounds_of(metric))


def bounds_of(metric: str) -> tuple[float, float]:
    """The least and the most that a metric can be; infinite where nothing is known."""
    unit = METRICS[metric].unit if metric in METRICS else None
    if unit is None or ("CNY" in unit and metric not in _NEVER_OWED_BACK):
        return -math.inf, math.inf
    return 0.0, 1.0 if unit == "share" else math.inf


def within(interval: Interval, least: float, most: float) -> Interval:
    """The interval without what lies outside of these bounds."""
    if interval.low is None or interval.high is None:
        return interval
    low, high = max(interval.low, least), min(interval.high, most)
    return dataclasses.replace(interval, low=low, high=high)
