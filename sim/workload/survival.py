"""Times of which some are only known to be longer: rates, Weibull and quantiles from censored records.

A record that was cut (still running at the end of the window) says that its time is longer than what
was seen. Left out, or taken as complete, it makes times too short: 5 failures at 1 to 5 h among 105
machines, 100 of which still run at 6 h, are a mean of 123 h and not of 3 h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

__all__ = ["Rate", "SurvivalCurve", "Weibull", "exponential_rate", "kaplan_meier", "weibull_fit"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Rate:
    """Events per unit of time, and its two-sided interval."""

    events: int
    exposure: float
    """Time under observation, all records together."""
    estimate: float | None
    """None without an event: there is a bound and no estimate."""
    low: float
    high: float


def exponential_rate(times: Floats, complete: Flags, confidence: float = 0.95) -> Rate:
    """Rate of an exponential by maximum likelihood: events / exposure, with the exact interval by the
    chi-square distribution (Garwood 1936). Times of shape (n,), above 0 in sum; raises ValueError else."""
    from scipy.stats import chi2

    exposure, events = float(times.sum()), int(complete.sum())
    if exposure <= 0:
        msg = "a rate needs some time under observation"
        raise ValueError(msg)
    tail = (1 - confidence) / 2
    low = float(chi2.ppf(tail, 2 * events)) / (2 * exposure) if events else 0.0
    high = float(chi2.ppf(1 - tail, 2 * events + 2)) / (2 * exposure)
    return Rate(events, exposure, events / exposure if events else None, low, high)


@dataclass(frozen=True, slots=True)
class Weibull:
    """P(T > t) = exp(-(t / scale) ** shape)."""

    shape: float
    scale: float


def weibull_fit(times: Floats, complete: Flags) -> Weibull | None:
    """Weibull by maximum likelihood with censored times; None without two different event times.

    The profile equation in the shape, with logarithms of times relative to the longest, so that
    no power overflows however few the events are (Lawless 2003, section 5.2).
    """
    from scipy.optimize import brentq

    if len(np.unique(times[complete])) < 2:
        return None
    top = float(times.max())
    positive = times > 0
    logs = np.log(times[positive] / top)
    mean_log = float(np.log(times[complete] / top).mean())

    def score(shape: float) -> float:
        weight = np.exp(shape * logs)
        return float((weight * logs).sum() / weight.sum()) - 1 / shape - mean_log

    high = 1.0
    while score(high) < 0 and high < 1e6:
        high *= 2
    shape = float(brentq(score, 1e-6, high, xtol=1e-12))
    events = int(complete.sum())
    scale = top * math.exp(math.log(float(np.exp(shape * logs).sum()) / events) / shape)
    return Weibull(shape, scale)


@dataclass(frozen=True, slots=True)
class SurvivalCurve:
    """Kaplan and Meier's estimate: survival just after each event time; arrays of shape (k,)."""

    times: Floats
    survival: Floats
    longest: float
    """Longest time seen, complete or not."""

    def quantiles(self, probability: Floats) -> Floats:
        """Event times at probabilities; NaN where the curve never falls so far."""
        place = np.searchsorted(1 - self.survival, probability - 1e-12, side="left")
        known = place < len(self.times)
        found = np.full(probability.shape, np.nan)
        found[known] = self.times[place[known]]
        return found


def kaplan_meier(times: Floats, complete: Flags) -> SurvivalCurve:
    """The product-limit estimate (Kaplan, Meier 1958); censored times count as longer at a tie."""
    events, counts = np.unique(times[complete], return_counts=True)
    at_risk = len(times) - np.searchsorted(np.sort(times), events, side="left")
    survival = np.cumprod(1 - counts / at_risk)
    longest = float(times.max()) if len(times) else 0.0
    return SurvivalCurve(events, np.asarray(survival, dtype=np.float64), longest)
