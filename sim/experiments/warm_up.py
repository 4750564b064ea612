"""How long the start-up phase of a run lasts: MSER-5, the marginal standard error rule on means of five.

A run begins with an empty queue, so its first waits are too short. The rule cuts so many of the
first observations that the standard error of the mean of the rest is least: while what is cut is
start-up, cutting brings the rest closer together; after that it only leaves fewer of them.

White, Cobb and Spratt, "A comparison of five steady-state truncation heuristics for simulation",
Winter Simulation Conference 2000; White, "An effective truncation heuristic for bias reduction in
simulation output", Simulation 69 (1997).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.model.job_table import JobTable
from sim.model.logs import JobRecords
from sim.model.said import said
from sim.replication import RunResult
from sim.units import DAY, Micros, format_duration

__all__ = ["BATCH", "FEWEST_BATCHES", "mser5", "start_up_us", "too_short"]

BATCH = 5
"""Observations whose mean counts as one: what the five in MSER-5 stands for."""
FEWEST_BATCHES = 20
"""With fewer means nothing is said (assumed)."""


def mser5(series: Sequence[float] | npt.NDArray[np.float64]) -> int | None:
    """How many of the first observations to cut, a multiple of five.

    `series`: observations of one run in order of time, in any unit. None where the rule gives no
    answer: fewer than a hundred observations, or the least error at half of the series, beyond which
    the rule is not to be trusted (the series has not settled).
    """
    values = np.asarray(series, dtype=np.float64)
    count = values.size // BATCH
    if count < FEWEST_BATCHES:
        return None
    means = values[: count * BATCH].reshape(count, BATCH).mean(axis=1)
    means = means - means.mean()  # a shift changes no error, and keeps the squares small
    left = np.arange(count, 0, -1)
    sums = means[::-1].cumsum()[::-1]
    squares = (means**2)[::-1].cumsum()[::-1]
    errors = (np.maximum(squares - sums**2 / left, 0.0) / left**2)[: count // 2 + 1]
    # Rounding must not choose among equals: the shortest cut that is as good as the best.
    cut = int(np.flatnonzero(errors <= errors.min() + 1e-12 * errors[0])[0])
    return None if cut == count // 2 else cut * BATCH


def start_up_us(run: RunResult) -> Micros | None:
    """Time from the start of a run to the end of its start-up phase, by the waits of its jobs.

    Jobs that were not refused, in order of submission; those that wait at the end count with their
    wait so far. None where the rule gives no answer.
    """
    records, jobs = JobRecords.of(run.log.jobs), JobTable.of(run.jobs.jobs)
    kept = ~records.in_state("refused")
    cut = mser5(records.column("wait_us")[kept].astype(np.float64))
    if cut is None:
        return None
    return int(jobs.submit_us[records.column("job")[kept][cut]]) if cut else 0


def too_short(estimates: Sequence[Micros | None], warm_up_us: Micros) -> str | None:
    """What to say where the runs of a strategy take longer to start up than the warm-up lasts.

    `estimates`: `start_up_us` of each run. Said of the median, and only where the rule has an answer
    for more than half of the runs: in a single run one busy day looks like a start-up phase.
    """
    known = sorted(estimate for estimate in estimates if estimate is not None)
    if 2 * len(known) <= len(estimates):
        return None
    middle = known[(len(known) - 1) // 2]
    if middle <= warm_up_us:
        return None
    return said(
        "the start-up phase seems to last about {days} days (MSER-5 on the waits, median of {runs} runs); "
        "experiment.warm_up is {span}",
        days=f"{middle / DAY:,.1f}",
        runs=len(estimates),
        span=format_duration(warm_up_us),
    )
