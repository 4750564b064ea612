"""What late and refused jobs cost, where the scenario says so. No part of any invoice.

A class of jobs says it with `late_cost`, `late_cost_per_hour` and `refused_cost`; what it leaves out
stands under `target`, which also holds for timed classes and recorded jobs. A job is late as in the
metric `jobs_late`: its deadline passed within the run before it was done. It costs `late_cost` once and
`late_cost_per_hour` for the time from the deadline to its end, or to the horizon if it is not done by
then: the sum is a lower bound there. Jobs that their users cancelled, or that failed by an error of
their own, are not judged. A refused job costs `refused_cost`; where only `late_cost` is given, a
refused job with a deadline costs that, for it is late for certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sim.billing.shares import PLACES, in_cents, money
from sim.model.job import Job, JobSet
from sim.model.records import JobRecord, RunLog
from sim.model.scenario import JobClass, Scenario, Target
from sim.units import HOUR, Micros

__all__ = ["Penalty", "has_penalties", "penalties"]


@dataclass(frozen=True, slots=True)
class Penalty:
    """What one job costs beyond the cards."""

    cost: Decimal
    """Whole cents, currency of the scenario."""
    late_us: Micros
    """Time past the deadline, up to the horizon; 0 for a refused job."""
    reason: str
    """`late`, `late, not done`, `refused`."""


@dataclass(frozen=True, slots=True)
class _Prices:
    late: Decimal | None
    per_hour: Decimal | None
    refused: Decimal | None


def has_penalties(scenario: Scenario) -> bool:
    """Whether the scenario gives late or refused jobs a cost above 0."""
    places = [scenario.target, *scenario.workload.classes]
    return any(place.late_cost or place.late_cost_per_hour or place.refused_cost for place in places if place)


def penalties(log: RunLog, jobs: JobSet, scenario: Scenario) -> dict[int, Penalty]:
    """The penalty of each job that has one above 0, by job; empty where the scenario gives no cost."""
    if not has_penalties(scenario):
        return {}
    prices = _prices(scenario)
    usual = prices[None]
    found: dict[int, Penalty] = {}
    for record in log.jobs:
        job = jobs.jobs[record.job]
        price = prices.get(jobs.shapes[job.shape].job_class, usual)
        penalty = _penalty(record, job, price, log.horizon_us)
        if penalty is not None and penalty.cost:
            found[job.id] = penalty
    return found


def _prices(scenario: Scenario) -> Mapping[str | None, _Prices]:
    """By class; None: what stands under `target`."""
    usual = _of(scenario.target, _Prices(None, None, None))
    return {None: usual, **{one.name: _of(one, usual) for one in scenario.workload.classes}}


def _of(place: Target | JobClass | None, usual: _Prices) -> _Prices:
    if place is None:
        return usual
    return _Prices(
        usual.late if place.late_cost is None else place.late_cost,
        usual.per_hour if place.late_cost_per_hour is None else place.late_cost_per_hour,
        usual.refused if place.refused_cost is None else place.refused_cost,
    )


def _penalty(record: JobRecord, job: Job, price: _Prices, horizon_us: Micros) -> Penalty | None:
    if record.state == "refused":
        cost = price.refused
        if cost is None and job.deadline_us is not None:
            cost = price.late
        return Penalty(_cents(Fraction(cost or 0)), 0, "refused")
    if record.state in ("cancelled", "failed") or job.deadline_us is None:
        return None
    due_us = job.submit_us + job.deadline_us
    on_time = record.state == "done" and record.end_us is not None and record.end_us <= due_us
    if on_time or due_us >= horizon_us:
        return None
    done = record.state == "done" and record.end_us is not None
    until_us = min(record.end_us, horizon_us) if done and record.end_us is not None else horizon_us
    exact = Fraction(price.late or 0) + Fraction(price.per_hour or 0) * (until_us - due_us) / HOUR
    return Penalty(_cents(exact), until_us - due_us, "late" if done else "late, not done")


def _cents(exact: Fraction) -> Decimal:
    return money(in_cents([round(exact * 10**PLACES)])[0])
