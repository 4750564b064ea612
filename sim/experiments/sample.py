"""What is kept of one replication: its metrics, a few numbers for charts, and a mark of its luck."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np

from sim.experiments.billable import Billable, billable_of
from sim.experiments.statistics import quantiles
from sim.experiments.warm_up import start_up_us
from sim.model.failures import PLANNED
from sim.model.scenario import Scenario
from sim.replication import RunResult
from sim.units import Micros, hours

__all__ = ["CHART_RUNS", "WAIT_GRID", "Sample", "finite", "summarise"]

WAIT_GRID: tuple[float, ...] = tuple(float(share) for share in np.linspace(0.0, 1.0, 201))
"""Shares at which the quantiles of the wait are kept, for charts."""

MARKED = 200
"""Jobs and failures that go into the mark; as many tell two replications apart."""

CHART_RUNS = 100
"""Replications whose quantiles are kept; a chart gains nothing from more."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One strategy in one replication."""

    strategy: str
    replication: int
    metrics: Mapping[str, float | None]
    waits_h: tuple[float | None, ...]
    """Quantiles at `WAIT_GRID`; empty from replication `CHART_RUNS` on."""
    refusals: Mapping[tuple[str, str], int]
    """(class, reason) -> jobs."""
    draws: tuple[str, str]
    """Marks of the random jobs and of the random failures; empty where there were none."""
    start_up_us: Micros | None
    """How long the start-up phase seems to last; None where the run is too short to say."""
    billable: Billable
    """What a new price or contract needs of the run."""
    detail: RunResult | None
    """The whole run; of replication 0 only."""


def summarise(run: RunResult, scenario: Scenario) -> Sample:
    """Keep what a comparison needs of a run, so that job lists need not travel between processes."""
    return Sample(
        strategy=run.strategy,
        replication=run.replication,
        metrics={name: finite(value) for name, value in run.metrics.items()},
        waits_h=_waits(run, scenario) if run.replication < CHART_RUNS else (),
        refusals=_refusals(run),
        draws=_draws(run, scenario),
        start_up_us=start_up_us(run),
        billable=billable_of(run, scenario),
        detail=run if run.replication == 0 else None,
    )


def finite(value: float | None) -> float | None:
    """The value, or None where it is not a finite number."""
    return None if value is None or not math.isfinite(value) else float(value)


def _waits(run: RunResult, scenario: Scenario) -> tuple[float | None, ...]:
    """Quantiles of the wait of the jobs that were not refused, submitted after the warm-up."""
    warm_up = scenario.experiment.warm_up
    waits = [
        hours(record.wait_us)
        for record in run.log.jobs
        if record.state != "refused" and run.jobs.jobs[record.job].submit_us >= warm_up
    ]
    return tuple(quantiles(waits, WAIT_GRID))


def _refusals(run: RunResult) -> dict[tuple[str, str], int]:
    found = Counter(
        (run.jobs.shapes[run.jobs.jobs[record.job].shape].name, record.reason)
        for record in run.log.jobs
        if record.state == "refused"
    )
    return dict(found)


def _draws(run: RunResult, scenario: Scenario) -> tuple[str, str]:
    """Digests of the first random jobs and of the first failures that nobody asked for."""
    forced = {(event.at, event.kind, event.offer) for event in scenario.reliability.events}
    jobs = (job for job in run.jobs.jobs if run.jobs.shapes[job.shape].job_class is not None)
    failures = (
        failure
        for failure in run.log.failures
        if failure.kind != PLANNED and (failure.at_us, failure.kind, failure.offer) not in forced
    )
    return (
        _digest((job.submit_us, job.work) for job in islice(jobs, MARKED)),
        _digest((failure.at_us, failure.kind, failure.machine) for failure in islice(failures, MARKED)),
    )


def _digest(events: Iterable[tuple[object, ...]]) -> str:
    found = list(events)
    return hashlib.blake2b(repr(found).encode(), digest_size=16).hexdigest() if found else ""
