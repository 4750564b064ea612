"""Waits of recorded or drawn jobs on a plain fleet: so many like cards, no failures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sim import engine
from sim.model.fleet import CheckpointSpec, FleetPlan, LeaseSpan, PoolSpec
from sim.model.job import JobSet, JobShape
from sim.model.job_table import JobTable, priorities
from sim.model.rates import RateTable, RunOption
from sim.streams import Streams
from sim.units import SECOND, YEAR
from sim.workload.goodness import Sample

__all__ = ["WaitFigures", "cards_for", "wait_figures", "waits_on"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_POOL = "cards"


@dataclass(frozen=True, slots=True)
class WaitFigures:
    """Waits of all jobs of one run, hours."""

    mean_h: float
    p95_h: float
    jobs: int
    waited: float
    """Share of jobs that waited at all."""


def cards_for(load: float, share: float, widest: int) -> int:
    """Cards on which a mean of `load` busy cards is this share of the fleet, at least the widest job."""
    return max(math.ceil(load / share), widest, 1)


def waits_on(sample: Sample, cards: int, policy: str = "fifo") -> Floats:
    """Wait of each job in order of submission, hours, shape (n,); every job runs to its end.

    No job of the sample may be wider than `cards`.
    """
    widths, shape = np.unique(sample.gpus, return_inverse=True)
    count = len(sample.gpus)
    zeros, nothing = np.zeros(count, dtype=np.int32), np.full(count, -1, dtype=np.int64)
    jobs = JobTable(
        shape=shape.astype(np.int32),
        submit_us=np.rint(sample.submit_s * SECOND).astype(np.int64),
        work=np.maximum(np.rint(sample.runtime_s * SECOND), 1.0),
        heads=("job",),
        head=zeros,
        number=np.arange(count, dtype=np.int32),
        teams=("",),
        team=zeros,
        priority=priorities([0] * count),
        deadline_us=nothing,
        limit_us=nothing,
        luck=np.zeros(count),
        ends={},
    )
    shapes = tuple(JobShape(f"{n} cards", None, (n,)) for n in widths.tolist())
    options = {(place, _POOL): (_option(n),) for place, n in enumerate(widths.tolist())}
    # every job ends long before: the last submission and then all work one by one would be the worst
    horizon = round((float(sample.submit_s[-1]) + float(sample.runtime_s.sum())) * SECOND) + YEAR
    plan = FleetPlan(
        pools=(PoolSpec(_POOL, cards, 1.0, _POOL, False, (LeaseSpan(0, 1, 0, None),), None),),
        burst=None,
        policy=policy,
        horizon_us=horizon,
        checkpoint=CheckpointSpec(None),
    )
    log = engine.run(plan, JobSet(shapes, jobs), RateTable(options), Streams(0))
    return np.array([job.wait_us for job in log.jobs]) / SECOND / 3600


def _option(gpus: int) -> RunOption:
    return RunOption(gpus, False, "recorded", startup_us=0, restart_us=0, us_per_work=1.0, checkpoint_us=0)


def wait_figures(hours: Floats) -> WaitFigures:
    """Mean and 95th percentile (linear interpolation) of waits."""
    return WaitFigures(
        float(hours.mean()), float(np.quantile(hours, 0.95)), len(hours), float((hours > 0).mean())
    )
