"""Queue policies: who runs next.

A policy is a sort key and a rule for what happens when the first job does not fit now: `wait`
holds all behind it, `skip` lets jobs of other shapes pass, `backfill` lets those pass that do not
delay it, `plan` those that delay no job with a reservation. To add one, write its key function and
add a row to `POLICIES`; loader, schema and command line read the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from sim.decisions.views import QueuedJob
from sim.model.fleet import PolicyParameters
from sim.units import SECOND

__all__ = ["POLICIES", "Policy", "least_used"]

SortKey = tuple[float | int, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """The order of the queue (`key`, smallest first) and what a job that does not fit now does."""

    summary: str
    key: Callable[[QueuedJob, PolicyParameters], SortKey]
    when_blocked: Literal["wait", "skip", "backfill", "plan"]
    parameters: tuple[str, ...] = ()
    """Keys of a strategy that this policy reads and others refuse."""
    by_team: bool = False
    """Whether teams take turns (`least_used`); the key then orders the jobs of one team."""


def first_come(job: QueuedJob, _: PolicyParameters) -> SortKey:
    """Order of submission."""
    return (job.released_us, job.id)


def shortest(job: QueuedJob, _: PolicyParameters) -> SortKey:
    """Shortest time limit (or expected run time) first."""
    return (job.estimate_us, job.released_us, job.id)


def most_urgent(job: QueuedJob, parameters: PolicyParameters) -> SortKey:
    """Largest priority first, then order of submission.

    With aging, a job gains one step for each `aging_us` since its submission, in proportion. All
    jobs gain alike, so their order never changes while they wait and can be a fixed key.
    """
    if parameters.aging_us is not None:
        return (job.released_us - job.priority * parameters.aging_us, job.released_us, job.id)
    return (-job.priority, job.released_us, job.id)


def earliest_deadline(job: QueuedJob, _: PolicyParameters) -> SortKey:
    """Earliest deadline first; jobs without a deadline last."""
    deadline = float("inf") if job.deadline_at_us is None else job.deadline_at_us
    return (deadline, job.released_us, job.id)


def least_used(use_card_us: float, first_job: int) -> SortKey:
    """Order of teams under fair share: least decayed use first, then the oldest first job.

    Use is compared in whole card-seconds, so that the noise of floating point decides nothing.
    """
    return (round(use_card_us / SECOND), first_job)


POLICIES: Mapping[str, Policy] = {
    "fifo": Policy("first come first served; the first holds all behind it", first_come, "wait"),
    "sjf": Policy("shortest first; skips what does not fit now", shortest, "skip"),
    "priority": Policy(
        "largest priority first; the first holds all behind it",
        most_urgent,
        "wait",
        ("aging", "preempt", "preempt_after"),
    ),
    "edf": Policy("earliest deadline first; the first holds all behind it", earliest_deadline, "wait"),
    "fair": Policy(
        "the team with the least recent use first; its first job holds all behind it",
        first_come,
        "wait",
        ("half_life",),
        by_team=True,
    ),
    "easy": Policy(
        "first come first served; others pass if they do not delay the first", first_come, "backfill"
    ),
    "conservative": Policy(
        "first come first served; others pass if they delay no reservation",
        first_come,
        "plan",
        ("look_ahead",),
    ),
}
"""The known queue policies by the name a scenario uses."""
