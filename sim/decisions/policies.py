"""Queue policies: who runs next.

A policy is a sort key and a rule for what happens when the first job does not fit now: `wait`
holds all behind it, `skip` lets jobs of other shapes pass. To add one, write its key function and
add a row to `POLICIES`; loader, schema and command line read the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from sim.decisions.views import QueuedJob

__all__ = ["POLICIES", "Policy"]

SortKey = tuple[float | int, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """The order of the queue (`key`, smallest first) and what a job that does not fit now does."""

    summary: str
    key: Callable[[QueuedJob], SortKey]
    when_blocked: Literal["wait", "skip"]


def first_come(job: QueuedJob) -> SortKey:
    """Order of submission."""
    return (job.submit_us, job.id)


def shortest(job: QueuedJob) -> SortKey:
    """Shortest time limit (or expected run time) first."""
    return (job.estimate_us, job.submit_us, job.id)


def most_urgent(job: QueuedJob) -> SortKey:
    """Largest priority first, then order of submission."""
    return (-job.priority, job.submit_us, job.id)


def earliest_deadline(job: QueuedJob) -> SortKey:
    """Earliest deadline first; jobs without a deadline last."""
    deadline = float("inf") if job.deadline_at_us is None else job.deadline_at_us
    return (deadline, job.submit_us, job.id)


POLICIES: Mapping[str, Policy] = {
    "fifo": Policy("first come first served; the first holds all behind it", first_come, "wait"),
    "sjf": Policy("shortest first; skips what does not fit now", shortest, "skip"),
    "priority": Policy("largest priority first; the first holds all behind it", most_urgent, "wait"),
    "edf": Policy("earliest deadline first; the first holds all behind it", earliest_deadline, "wait"),
}
"""The known queue policies by the name a scenario uses."""
