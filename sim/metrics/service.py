"""Service: what the people who submit jobs saw.

Counts are of all jobs. Waits, slowdowns and the on-time share are of the jobs submitted after the
warm-up. Quantiles interpolate linearly between the ordered values (the p-quantile of n values lies
at position (n - 1) p, counted from 0). A metric of no jobs is None, never 0.
"""

from __future__ import annotations

import numpy as np

from sim.metrics.facts import Facts, Flags
from sim.model.records import JobState
from sim.units import HOUR

__all__ = [
    "bad_results",
    "count",
    "interruptions",
    "jobs_late",
    "jobs_submitted",
    "makespan_h",
    "on_time_share",
    "redone_jobs",
    "retries",
    "slowdown_mean",
    "slowdown_quantile",
    "wait_max_h",
    "wait_mean_h",
    "wait_quantile_h",
    "waits_cut",
]


def jobs_submitted(facts: Facts) -> float:
    """Jobs submitted before the horizon."""
    return float(len(facts.log.jobs))


def count(facts: Facts, *states: JobState) -> float:
    """Jobs in these states at the end of the run."""
    return float(facts.in_state(*states).sum())


def wait_mean_h(facts: Facts) -> float | None:
    """Mean wait, hours; jobs that have not started count with the wait so far."""
    waits = facts.measured_waits
    return float(waits.mean()) / HOUR if waits.size else None


def wait_quantile_h(facts: Facts, share: float) -> float | None:
    """Quantile of the wait, hours; jobs that have not started count with the wait so far."""
    waits = facts.measured_waits
    return float(np.quantile(waits, share)) / HOUR if waits.size else None


def wait_max_h(facts: Facts) -> float | None:
    """Longest wait, hours."""
    waits = facts.measured_waits
    return float(waits.max()) / HOUR if waits.size else None


def waits_cut(facts: Facts) -> float:
    """Measured jobs that still wait at the horizon: their waits are lower bounds."""
    return float((facts.measured & facts.in_state("waiting")).sum())


def slowdown_mean(facts: Facts) -> float | None:
    """Mean of (wait + run) / run over measured jobs that are done."""
    values = _slowdowns(facts)
    return float(values.mean()) if values.size else None


def slowdown_quantile(facts: Facts, share: float) -> float | None:
    """Quantile of (wait + run) / run over measured jobs that are done."""
    values = _slowdowns(facts)
    return float(np.quantile(values, share)) if values.size else None


def on_time_share(facts: Facts) -> float | None:
    """Share of measured jobs that ended by their deadline, of those whose deadline is in the run.

    Refused and killed jobs with a deadline are late; jobs that their users cancelled, or that failed by
    an error of their own, are not judged. A deadline at or after the end of the run
    cannot be judged and stays out. None where no deadline can be judged.
    """
    judged = facts.measured & _due_inside(facts)
    return float((judged & _on_time(facts)).sum() / judged.sum()) if judged.any() else None


def jobs_late(facts: Facts) -> float:
    """Jobs whose deadline passed within the run before they were done."""
    return float((_due_inside(facts) & ~_on_time(facts)).sum())


def interruptions(facts: Facts) -> float:
    """Times that a job was torn from its cards."""
    return float(facts.records.column("interruptions").sum())


def bad_results(facts: Facts) -> float:
    """Jobs done with a result that silent data corruption has spoilt, unseen."""
    return float(facts.records.column("bad").sum())


def redone_jobs(facts: Facts) -> float:
    """Times that a job's result was seen to be bad, and it was done again from the beginning."""
    return float(facts.records.column("redone").sum())


def retries(facts: Facts) -> float:
    """Times that a job which had failed by an error of its own was submitted again."""
    return float((facts.records.column("submissions") - 1).sum())


def makespan_h(facts: Facts) -> float | None:
    """From the first submission to the last end of a job that is done, hours."""
    done = facts.in_state("done")
    return float(facts.end[done].max() - facts.submit.min()) / HOUR if done.any() else None


def _slowdowns(facts: Facts) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    chosen = facts.measured & facts.in_state("done") & (facts.run > 0)
    return (facts.wait[chosen] + facts.run[chosen]) / facts.run[chosen]


def _due_inside(facts: Facts) -> Flags:
    judged = ~facts.in_state("cancelled", "failed")
    return (facts.due >= 0) & (facts.due < facts.horizon) & judged


def _on_time(facts: Facts) -> Flags:
    return facts.in_state("done") & (facts.end <= facts.due)
