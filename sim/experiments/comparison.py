"""A question and its answer for all its strategies, and the JSON document that others rely on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sim.experiments.billable import Billable
from sim.experiments.comparison_parts import AtOnce, InputDoubt, Steady
from sim.experiments.comparison_results import (
    Caution,
    Condition,
    Difference,
    MetricInfo,
    Recommendation,
    Refusal,
    Status,
    StrategyResult,
    Verdict,
)
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


@dataclass(frozen=True, slots=True)
class Wall:
    """Times on the clock of the machine; never part of a result."""

    started: str
    finished: str
    seconds: float
    workers: int

    def to_json(self) -> dict[str, Any]:
        """Its part of a manifest."""
        return {
            "started": self.started,
            "finished": self.finished,
            "seconds": self.seconds,
            "workers": self.workers,
        }


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
        units = {info.name: info.unit for info in self.metrics}
        return {
            "scenario": scenario.name,
            "seed": self.seed,
            "replications": self.replications,
            "strategies": [result.to_json(self._unit) for result in self.strategies],
            "differences": [one.to_json(self._unit(one.metric)) for one in self.differences],
            "at_once": {
                "rule": self.at_once_rule or None,
                "strategies": [one.to_json(self._unit(one.metric)) for one in self.at_once],
            },
            "uncertain": None if self.doubt is None else self.doubt.to_json(units),
            "steady_state": None if self.steady is None else self.steady.to_json(),
            "recommendation": self.recommendation.to_json(),
            "baseline": self.baseline,
            "confidence_level": scenario.experiment.confidence,
            "start": scenario.local_time(0).isoformat(),
            "end": scenario.local_time(horizon_us).isoformat(),
            "timezone": scenario.timezone,
            "horizon_h": horizon_us / 3_600_000_000,
            "currency": scenario.currency,
            "price": self.question.price,
            "target": [condition.to_json() for condition in self.conditions],
            "metrics": {info.name: info.to_json() for info in self.metrics},
            "warnings": [warning.to_json() for warning in self.warnings],
            "notes": list(self.notes),
            "assumptions": list(self.assumptions),
            "version": self.version,
        }

    def _unit(self, metric: str) -> str:
        return self.info(metric).unit
