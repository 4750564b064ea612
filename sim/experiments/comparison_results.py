"""What a comparison found of its strategies: nouns, and what the JSON document says of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sim.experiments.statistics import Interval

__all__ = [
    "Caution",
    "Condition",
    "Difference",
    "MetricInfo",
    "Recommendation",
    "Refusal",
    "Status",
    "StrategyResult",
    "Verdict",
]

Status = Literal["met", "missed", "unsure", "not judged"]
"""`unsure`: the interval straddles the limit; `not judged`: the metric is not defined in any run."""


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """What a metric is called, counted in and worth."""

    name: str
    unit: str
    description: str = ""
    better: Literal["low", "high"] | None = None

    def to_json(self) -> dict[str, Any]:
        """Its entry of `metrics` in the document of a comparison, which names it."""
        return {"unit": self.unit, "description": self.description, "better": self.better}


@dataclass(frozen=True, slots=True)
class Condition:
    """One line of a target: the mean of a metric is at most (or at least) a limit."""

    name: str
    """Key in the scenario's `target`, or `stable queue`."""
    metric: str
    limit: float
    unit: str
    at_least: bool = False

    def to_json(self) -> dict[str, Any]:
        """One line of `target` in the document of a comparison."""
        return {
            "name": self.name,
            "metric": self.metric,
            "rule": "at least" if self.at_least else "at most",
            "limit": _number(self.limit),
            "unit": self.unit,
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a strategy stands to one condition."""

    condition: Condition
    interval: Interval
    meets: bool
    """By the mean over the replications."""
    status: Status

    def to_json(self) -> dict[str, Any]:
        """One line of a strategy's `target` in the document of a comparison."""
        found = {"meets": self.meets, "status": self.status}
        return {**self.condition.to_json(), **_limits(self.interval), **found}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Jobs of one class refused for one reason."""

    job_class: str
    reason: str
    jobs: float
    """Mean number over the replications."""

    def to_json(self) -> dict[str, Any]:
        """One entry of a strategy's `refused` in the document of a comparison."""
        return {"job_class": self.job_class, "reason": self.reason, "jobs": _number(self.jobs)}


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """One strategy over all replications."""

    name: str
    metrics: Mapping[str, Interval]
    values: Mapping[str, tuple[float | None, ...]]
    """Metric -> its value in each replication, in order."""
    meets_target: bool
    status: Status
    verdicts: tuple[Verdict, ...]
    pareto: bool
    pareto_note: str
    """Why a strategy takes no part in the comparison of money and wait; empty if it does."""
    refusals: tuple[Refusal, ...]
    wait_quantiles_h: tuple[tuple[float | None, ...], ...]
    """Of each of the first replications: quantiles of the wait, hours, at `WAIT_GRID`."""

    def mean(self, metric: str) -> float | None:
        """Mean of a metric; None where it is not defined or not known."""
        interval = self.metrics.get(metric)
        return None if interval is None else interval.mean

    def to_json(self, unit: Callable[[str], str]) -> dict[str, Any]:
        """One entry of `strategies` in the document of a comparison; `unit` of a metric by its name."""
        return {
            "name": self.name,
            "metrics": {
                name: {**_limits(interval), "unit": unit(name)} for name, interval in self.metrics.items()
            },
            "meets_target": self.meets_target,
            "pareto": self.pareto,
            "pareto_note": self.pareto_note or None,
            "target": {"status": self.status, "lines": [verdict.to_json() for verdict in self.verdicts]},
            "refused": [refusal.to_json() for refusal in self.refusals],
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """Strategy minus baseline in one metric, over the replications they share."""

    strategy: str
    baseline: str
    metric: str
    interval: Interval
    p_value: float | None = None
    """Two-sided, of Student's paired test that there is none; None where it cannot be said."""
    p_holm: float | None = None
    """The same, corrected by Holm's rule for all strategies that are compared with the baseline."""

    def to_json(self, unit: str) -> dict[str, Any]:
        """One entry of `differences` in the document of a comparison."""
        return {
            "strategy": self.strategy,
            "baseline": self.baseline,
            "metric": self.metric,
            **_limits(self.interval),
            "unit": unit,
            "p_value": _number(self.p_value),
            "p_holm": _number(self.p_holm),
        }


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The decision, in one sentence, and how sure it is."""

    strategy: str | None
    """None: no strategy meets the target."""
    reason: str
    confidence: float | None
    """Probability, 0 to 1, that it would be decided in the same way; None with one replication."""
    confidence_method: str
    nearest: str | None
    """Where none meets the target: the strategy that comes nearest."""

    def to_json(self) -> dict[str, Any]:
        """The `recommendation` in the document of a comparison."""
        return {
            "strategy": self.strategy,
            "reason": self.reason,
            "confidence": _number(self.confidence),
            "confidence_method": self.confidence_method,
            "nearest": self.nearest,
        }


@dataclass(frozen=True, slots=True)
class Caution:
    """Something that the reader must know before using the numbers."""

    kind: str
    strategy: str | None
    """Whom it concerns; None: all."""
    text: str
    """A sentence without the strategy's name."""

    def to_json(self) -> dict[str, Any]:
        """One entry of `warnings` in the document of a comparison."""
        return {"kind": self.kind, "strategy": self.strategy, "text": self.text}


def _limits(interval: Interval) -> dict[str, Any]:
    limits: dict[str, Any] = {
        "mean": _number(interval.mean),
        "low": _number(interval.low),
        "high": _number(interval.high),
        "n": interval.n,
    }
    if interval.reason is not None:
        limits["reason"] = interval.reason
    return limits


def _number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value
