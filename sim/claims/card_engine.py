"""Small scenarios for statements about use, queues and failures, run by the program's own engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from sim.claims.bench import Bench
from sim.claims.working import read_inputs
from sim.load import Question
from sim.model.scenario import Scenario
from sim.replication import Prepared, RunResult, prepare, replicate

__all__ = ["START", "measured", "mean_of_runs", "once", "scenario"]

START = "2026-01-05"
"""A Monday."""


def scenario(
    bench: Bench,
    workload: Mapping[str, Any],
    strategies: Sequence[Mapping[str, Any]],
    horizon: str,
    **more: Any,
) -> Prepared:
    """A question made of parts; what it leaves out is as in a scenario file."""
    built = read_inputs(
        Scenario,
        {
            "name": "claim",
            "start": START,
            "horizon": horizon,
            "workload": workload,
            "strategies": list(strategies),
            "reliability": {"profile": "none"},
            **more,
        },
    )
    return prepare(Question(built, (), bench.catalog))


def once(prepared: Prepared, bench: Bench, strategy: int = 0) -> RunResult:
    """One run."""
    return replicate(prepared, strategy, 0, bench.seed)


def measured(prepared: Prepared, bench: Bench, metric: str, strategy: int = 0) -> list[float]:
    """A metric of as many runs as the bench asks for, those where it is not defined left out."""
    values = [
        replicate(prepared, strategy, number, bench.seed).metrics[metric]
        for number in range(bench.replications)
    ]
    return [value for value in values if value is not None]


def mean_of_runs(prepared: Prepared, bench: Bench, metric: str, strategy: int = 0) -> float:
    """The mean of it."""
    return fmean(measured(prepared, bench, metric, strategy))
