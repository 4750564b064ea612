"""How many units to commit: the demand of a scenario's jobs on an ample fleet, and what commitments cost.

The demand is what the jobs would use if nobody ever waited: the scenario is run with so many units of
one offer that cards are always left, and for every period (an hour, or a month of 730 h) the most units
that were busy at once are counted. That is the demand that the newsvendor (`sim.billing.finance`) reads.

The simulated optimum beside it runs the scenario with k committed units and the rest by the hour as the
burst rule orders them, with its delays, stock-outs, whole increments and queues; the number of least
mean cost, among those that serve the jobs, is the answer of the simulation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sim.errors import InputError, Problem
from sim.experiments.parallel import Progress, run_tasks
from sim.load import Question
from sim.model.lease import Lease
from sim.model.records import Attempt, RunLog
from sim.model.scenario import Burst, Strategy
from sim.replication import Prepared, prepare, replicate
from sim.units import HOUR, MONTH, Micros

__all__ = ["LARGEST_FLEET", "DemandSample", "TrialCost", "peaks", "sample_demand", "simulate_commitments"]

LARGEST_FLEET = 1024
"""Units of an ample fleet at most."""

_FIRST_FLEET = 16


@dataclass(frozen=True, slots=True)
class DemandSample:
    """Units needed, period by period, over all replications."""

    offer: str
    period_us: Micros
    fleet: int
    """Units of the ample fleet: more than were ever needed."""
    weights: tuple[int, ...]
    """Periods in which 0, 1, 2, ... units were needed."""
    mean_busy: float
    """Mean units busy over time; below the mean of the peaks."""
    replications: int
    refused: int
    """Jobs, over all replications, that no unit of the offer can hold: they are not in the demand."""

    @property
    def periods(self) -> int:
        """Periods counted."""
        return sum(self.weights)


@dataclass(frozen=True, slots=True)
class TrialCost:
    """The scenario with so many committed units, simulated."""

    committed: int
    costs: tuple[float, ...]
    """Cost of each replication, currency a mean month: accrued over the horizon."""
    waits_p95_h: tuple[float, ...]
    """95th percentile of wait of each replication that has one, hours."""
    refused: int
    """Jobs refused over all replications."""

    @property
    def mean(self) -> float:
        """Mean cost, currency a month."""
        return math.fsum(self.costs) / len(self.costs)

    @property
    def wait_p95_h(self) -> float | None:
        """Mean of the 95th percentiles of wait, hours."""
        return math.fsum(self.waits_p95_h) / len(self.waits_p95_h) if self.waits_p95_h else None


def sample_demand(
    question: Question,
    base: Strategy,
    lease: Lease,
    period_us: Micros = HOUR,
    replications: int = 5,
    seed: int | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> DemandSample:
    """Count the units needed in every period after the warm-up, on a fleet of such leases that is ample.

    Queue policy and placement are those of `base`. Raises InputError where even `LARGEST_FLEET` units are
    all busy at some time, or no period lies between the warm-up and the horizon.
    """
    scenario = question.scenario
    first, last = -(-scenario.experiment.warm_up // period_us), scenario.horizon_us // period_us
    if last <= first:
        rule = "the horizon after the warm-up must hold at least one whole period of the demand"
        raise InputError(Problem(rule, key="horizon"))
    size = question.catalog.offers[lease.offer_id].gpus_per_unit
    fleet = _FIRST_FLEET
    while True:
        ample = _with_strategy(question, _strategy(base, lease, fleet, None))
        count = partial(_counted, prepare(ample), period_us, first, last, size, seed)
        found = run_tasks(count, range(replications), workers, progress)
        most = max(int(peak.max()) for peak, _, _ in found)
        if most < fleet:
            break
        if fleet >= LARGEST_FLEET:
            rule = (
                f"the jobs need all of {LARGEST_FLEET} units at once: the demand has no end (is it stable?)"
            )
            raise InputError(Problem(rule, key="workload"))
        fleet = min(LARGEST_FLEET, fleet * 4)
    weights = np.bincount(np.concatenate([peak for peak, _, _ in found]))
    return DemandSample(
        offer=lease.offer_id,
        period_us=period_us,
        fleet=fleet,
        weights=tuple(int(weight) for weight in weights),
        mean_busy=math.fsum(busy for _, busy, _ in found) / len(found),
        replications=replications,
        refused=sum(refused for _, _, refused in found),
    )


def simulate_commitments(
    question: Question,
    base: Strategy,
    lease: Lease,
    fallback: str,
    numbers: Sequence[int],
    most: int,
    replications: int = 5,
    seed: int | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> tuple[TrialCost, ...]:
    """Run the scenario with each number of committed units, and up to `most` by the hour of `fallback`.

    Units by the hour are ordered as soon as a job waits and handed back at the end of the paid increment
    in which they fall idle, unless `base` has a burst rule: then that one with `fallback` as its offer.
    """
    strategies = tuple(
        replace_name(_strategy(base, lease, number, _burst(base, fallback, most)), f"{number} committed")
        for number in numbers
    )
    asked = replace(question, scenario=question.scenario.model_copy(update={"strategies": strategies}))
    tasks = [(place, number) for place in range(len(strategies)) for number in range(replications)]
    run = partial(_cost, prepare(asked), seed)
    found = run_tasks(run, tasks, workers, progress, probe=len(strategies))
    results = []
    for place, number in enumerate(numbers):
        mine = [outcome for task, outcome in zip(tasks, found, strict=True) if task[0] == place]
        results.append(
            TrialCost(
                committed=number,
                costs=tuple(cost for cost, _, _ in mine),
                waits_p95_h=tuple(wait for _, wait, _ in mine if wait is not None),
                refused=sum(refused for _, _, refused in mine),
            )
        )
    return tuple(results)


def peaks(
    stays: Iterable[tuple[Micros, Micros, int]], period_us: Micros, first: int, last: int
) -> NDArray[np.int64]:
    """Most cards busy at once in each of the periods `first` to `last` - 1.

    `stays` are (start, end, cards), half-open: a stay that ends as another begins is not beside it.
    """
    rows = np.array([row for row in stays if row[1] > row[0]], dtype=np.int64).reshape(-1, 3)
    times, place = np.unique(np.concatenate([rows[:, 0], rows[:, 1]]), return_inverse=True)
    change = np.bincount(place, weights=np.concatenate([rows[:, 2], -rows[:, 2]]), minlength=len(times))
    level = np.cumsum(change).round().astype(np.int64)
    starts = np.arange(first, last, dtype=np.int64) * period_us
    before = np.searchsorted(times, starts, side="right") - 1
    found = np.where(before >= 0, level[np.maximum(before, 0)] if len(level) else 0, 0).astype(np.int64)
    period = times // period_us - first
    inside = (period >= 0) & (period < last - first)
    np.maximum.at(found, period[inside], level[inside])
    return found


def replace_name(strategy: Strategy, name: str) -> Strategy:
    """The same strategy under another name."""
    return strategy.model_copy(update={"name": name})


def _counted(
    prepared: Prepared,
    period_us: Micros,
    first: int,
    last: int,
    size: int,
    seed: int | None,
    replication: int,
) -> tuple[NDArray[np.int64], float, int]:
    """Units needed by period, mean units busy, and jobs refused, of one replication."""
    log = replicate(prepared, 0, replication, seed).log
    cards = peaks(_stays(log), period_us, first, last)
    since, until = first * period_us, last * period_us
    busy = sum(max(0, min(end, until) - max(start, since)) * number for start, end, number in _stays(log))
    refused = sum(record.state == "refused" for record in log.jobs)
    return -(-cards // size), busy / (until - since) / size, refused


def _stays(log: RunLog) -> Iterable[tuple[Micros, Micros, int]]:
    stay: Attempt
    for stay in log.attempts:
        yield stay.start_us, stay.end_us, len(stay.cards)


def _cost(prepared: Prepared, seed: int | None, task: tuple[int, int]) -> tuple[float, float | None, int]:
    """Cost a month, 95th percentile of wait, and jobs refused, of one run."""
    strategy, replication = task
    result = replicate(prepared, strategy, replication, seed)
    months = prepared.question.scenario.horizon_us / MONTH
    refused = sum(record.state == "refused" for record in result.log.jobs)
    return float(result.ledger.accrued) / months, result.metrics["wait_p95_h"], refused


def _strategy(base: Strategy, lease: Lease, number: int, burst: Burst | None) -> Strategy:
    """The strategy with `number` units of the lease; cards are not shared between jobs."""
    leases = (lease.model_copy(update={"count": number}),) if number else ()
    return base.model_copy(update={"leases": leases, "burst": burst, "sharing": None})


def _burst(base: Strategy, fallback: str, most: int) -> Burst:
    name, _, profile = fallback.partition("/")
    asked = {"offer": name, "profile": profile or None, "max": most, "price": None}
    if base.burst is not None:
        return base.burst.model_copy(update=asked)
    return Burst.model_validate({**asked, "rent_when_wait_over": "0s", "release_after_idle": "0s"})


def _with_strategy(question: Question, strategy: Strategy) -> Question:
    return replace(question, scenario=question.scenario.model_copy(update={"strategies": (strategy,)}))
