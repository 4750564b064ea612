"""What a comparison found: nouns, and the JSON document that others rely on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sim.experiments.billable import Billable
from sim.experiments.comparison_parts import AtOnce, InputDoubt, Steady
from sim.experiments.statistics import Interval
from sim.load import Question
from sim.replication import RunResult

__all__ = [
    "Caution",
    "Comparison",
    "Condition",
    "Difference",
    "MetricInfo",
    "Recommendation",
    "Refusal",
    "Status",
    "StrategyResult",
    "Verdict",
    "Wall",
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


@dataclass(frozen=True, slots=True)
class Condition:
    """One line of a target: the mean of a metric is at most (or at least) a limit."""

    name: str
    """Key in the scenario's `target`, or `stable queue`."""
    metric: str
    limit: float
    unit: str
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a strategy stands to one condition."""

    condition: Condition
    interval: Interval
    meets: bool
    """By the mean over the replications."""
    status: Status


@dataclass(frozen=True, slots=True)
class Refusal:
    """Jobs of one class refused for one reason."""

    job_class: str
    reason: str
    jobs: float
    """Mean number over the replications."""


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


@dataclass(frozen=True, slots=True)
class Caution:
    """Something that the reader must know before using the numbers."""

    kind: str
    strategy: str | None
    """Whom it concerns; None: all."""
    text: str
    """A sentence without the strategy's name."""


@dataclass(frozen=True, slots=True)
class Wall:
    """Times on the clock of the machine; never part of a result."""

    started: str
    finished: str
    seconds: float
    workers: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A question, answered for all its strategies on the same jobs and failures."""

    question: Question
    """As it was run: with the replications and the seed that were asked for."""
    version: str
    replications: int
    seed: int
    baseline: str
    strategies: tuple[StrategyResult, ...]
    differences: tuple[Difference, ...]
    recommendation: Recommendation
    metrics: tuple[MetricInfo, ...]
    conditions: tuple[Condition, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    warnings: tuple[Caution, ...]
    details: Mapping[str, RunResult] = field(repr=False)
    """Strategy -> its replication 0, with all jobs, failures and charges."""
    billables: Mapping[str, tuple[Billable, ...]] = field(repr=False)
    """Strategy -> what a new price needs of each replication."""
    wall: Wall = field(compare=False)
    at_once: tuple[AtOnce, ...] = ()
    """Every strategy against the best of the others, all held together."""
    at_once_rule: str = ""
    """What holds them, in words."""
    doubt: InputDoubt | None = None
    """Luck and doubt about inputs; None where every input is known."""
    steady: Steady | None = None
    """How the steady state of one long run was read; None for replications."""

    @property
    def counted(self) -> str:
        """What the intervals are over: `20 replications`, or `20 batches of one run`."""
        if self.steady is not None:
            return f"{self.replications:,} batches of one run"
        return "one replication" if self.replications == 1 else f"{self.number} replications"

    @property
    def number(self) -> str:
        """Replications of a strategy in words: `20`, or `10 to 35` where their numbers differ."""
        made = [
            max((sum(one is not None for one in values) for values in result.values.values()), default=0)
            for result in self.strategies
        ]
        least, most = min(made, default=0), self.replications
        return f"{most:,}" if least in (0, most) else f"{least:,} to {most:,}"

    def info(self, metric: str) -> MetricInfo:
        """Unit and description of a metric; of an unknown one, its name alone."""
        return next((info for info in self.metrics if info.name == metric), MetricInfo(metric, ""))

    def result(self, strategy: str) -> StrategyResult:
        """The result of the strategy of this name; KeyError if there is none."""
        return {result.name: result for result in self.strategies}[strategy]

    def to_json(self) -> dict[str, Any]:
        """The document of `fleetsim compare --format json`; nothing in it is NaN or infinite."""
        scenario = self.question.scenario
        horizon_us = scenario.horizon_us
        return {
            "scenario": scenario.name,
            "seed": self.seed,
            "replications": self.replications,
            "strategies": [_strategy(self, result) for result in self.strategies],
            "differences": [
                {
                    "strategy": difference.strategy,
                    "baseline": difference.baseline,
                    "metric": difference.metric,
                    **_limits(difference.interval),
                    "unit": self.info(difference.metric).unit,
                    "p_value": _number(difference.p_value),
                    "p_holm": _number(difference.p_holm),
                }
                for difference in self.differences
            ],
            "at_once": {
                "rule": self.at_once_rule or None,
                "strategies": [one.to_json(self.info(one.metric).unit) for one in self.at_once],
            },
            "uncertain": None
            if self.doubt is None
            else self.doubt.to_json({info.name: info.unit for info in self.metrics}),
            "steady_state": None if self.steady is None else self.steady.to_json(),
            "recommendation": {
                "strategy": self.recommendation.strategy,
                "reason": self.recommendation.reason,
                "confidence": _number(self.recommendation.confidence),
                "confidence_method": self.recommendation.confidence_method,
                "nearest": self.recommendation.nearest,
            },
            "baseline": self.baseline,
            "confidence_level": scenario.experiment.confidence,
            "start": scenario.local_time(0).isoformat(),
            "end": scenario.local_time(horizon_us).isoformat(),
            "timezone": scenario.timezone,
            "horizon_h": horizon_us / 3_600_000_000,
            "currency": scenario.currency,
            "price": self.question.price,
            "target": [_condition(condition) for condition in self.conditions],
            "metrics": {
                info.name: {"unit": info.unit, "description": info.description, "better": info.better}
                for info in self.metrics
            },
            "warnings": [
                {"kind": warning.kind, "strategy": warning.strategy, "text": warning.text}
                for warning in self.warnings
            ],
            "notes": list(self.notes),
            "assumptions": list(self.assumptions),
            "version": self.version,
        }


def _strategy(comparison: Comparison, result: StrategyResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "metrics": {
            name: {**_limits(interval), "unit": comparison.info(name).unit}
            for name, interval in result.metrics.items()
        },
        "meets_target": result.meets_target,
        "pareto": result.pareto,
        "pareto_note": result.pareto_note or None,
        "target": {
            "status": result.status,
            "lines": [
                {
                    **_condition(verdict.condition),
                    **_limits(verdict.interval),
                    "meets": verdict.meets,
                    "status": verdict.status,
                }
                for verdict in result.verdicts
            ],
        },
        "refused": [
            {"job_class": refusal.job_class, "reason": refusal.reason, "jobs": _number(refusal.jobs)}
            for refusal in result.refusals
        ],
    }


def _condition(condition: Condition) -> dict[str, Any]:
    return {
        "name": condition.name,
        "metric": condition.metric,
        "rule": "at least" if condition.at_least else "at most",
        "limit": _number(condition.limit),
        "unit": condition.unit,
    }


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
