"""The service target as lines: which metric, which limit, and whether a value meets it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from sim.metrics.facts import Facts
from sim.metrics.service import count, on_time_share, wait_mean_h, wait_quantile_h
from sim.metrics.stability import overloaded
from sim.model.scenario import Target
from sim.units import HOUR

__all__ = ["TargetLine", "target_lines", "target_met"]


@dataclass(frozen=True, slots=True)
class TargetLine:
    """One demand of the target: a metric may not pass its limit (met at the limit)."""

    metric: str
    limit: float
    """In the metric's own unit."""
    better: Literal["low", "high"]

    def met(self, value: float | None) -> bool:
        """Whether a value, of one run or a mean over runs, meets the line; None has nothing to judge."""
        if value is None:
            return True
        return value <= self.limit if self.better == "low" else value >= self.limit


def target_lines(target: Target | None) -> tuple[TargetLine, ...]:
    """The lines of a target: how many jobs may be refused, and the waits and shares that it names.

    Where it names none, or there is no target, the queue must be stable. The line on `overloaded` is
    0.5, so that a mean over runs meets it if most runs are stable.
    """
    lines = [TargetLine("jobs_refused", 0.0 if target is None else float(target.refused), "low")]
    if target is not None and target.wait_mean is not None:
        lines.append(TargetLine("wait_mean_h", target.wait_mean / HOUR, "low"))
    if target is not None and target.wait_p95 is not None:
        lines.append(TargetLine("wait_p95_h", target.wait_p95 / HOUR, "low"))
    if target is not None and target.on_time is not None:
        lines.append(TargetLine("on_time_share", target.on_time, "high"))
    if len(lines) == 1:
        lines.append(TargetLine("overloaded", 0.5, "low"))
    return tuple(lines)


def target_met(facts: Facts) -> float:
    """1.0 where this run meets every line of the target, else 0.0."""
    return float(all(line.met(_VALUES[line.metric](facts)) for line in target_lines(facts.target)))


_VALUES: Mapping[str, Callable[[Facts], float | None]] = {
    "jobs_refused": lambda facts: count(facts, "refused"),
    "overloaded": overloaded,
    "wait_mean_h": wait_mean_h,
    "wait_p95_h": lambda facts: wait_quantile_h(facts, 0.95),
    "on_time_share": on_time_share,
}
