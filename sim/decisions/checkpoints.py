"""How often a job should save its state: the interval at which the least time is lost.

Short intervals waste time on writing, long ones on work done again. `cost_us` is the time that one
checkpoint takes, `between_us` the mean time between two interruptions of the job (exponential).
The interval is the work between two checkpoints, without the time of writing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from sim.units import SECOND, Micros

__all__ = ["RULES", "daly", "interval", "young"]

SHORTEST: Micros = SECOND
"""Saving that costs nothing would be done all the time; this is the shortest interval taken."""


def young(cost_us: float, between_us: float) -> float:
    """J. W. Young, A first order approximation to the optimum checkpoint interval (CACM 1974)."""
    return math.sqrt(2 * cost_us * between_us)


def daly(cost_us: float, between_us: float) -> float:
    """J. T. Daly, A higher order estimate of the optimum checkpoint interval (FGCS 2006)."""
    if cost_us >= 2 * between_us:
        return between_us
    part = cost_us / (2 * between_us)
    return math.sqrt(2 * cost_us * between_us) * (1 + math.sqrt(part) / 3 + part / 9) - cost_us


RULES: Mapping[str, Callable[[float, float], float]] = {"young": young, "daly": daly}


def interval(rule: str, cost_us: Micros, rate: float) -> Micros | None:
    """Work between checkpoints by a rule of `RULES`; None: never, for nothing interrupts.

    `rate` is that of the interruptions of the job, per microsecond.
    """
    if rate <= 0:
        return None
    return max(SHORTEST, round(RULES[rule](cost_us, 1 / rate)))
