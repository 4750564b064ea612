"""What a new price or contract needs of one run: who was rented when, and what money is divided by.

It is kept of every replication, so that a stored run is billed anew without simulating it again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from sim.metrics import METRICS
from sim.metrics.facts import Facts, Flags, Numbers, Times
from sim.model.contract import Offer
from sim.model.job import JobSet
from sim.model.ledger import Ledger
from sim.model.records import JobState, LeaseRecord, RunLog
from sim.model.scenario import Scenario, Strategy
from sim.replication import RunResult
from sim.units import Micros

__all__ = [
    "MONEY_METRICS",
    "PENALTY",
    "Absences",
    "Billable",
    "Rental",
    "billable_of",
    "money_metrics",
    "record_of",
    "records_of",
]

PENALTY = "penalty_cny"
"""Money that is on no invoice: it follows from the jobs, and stays as it is when prices change."""

MONEY_METRICS: tuple[str, ...] = tuple(
    name for name, metric in METRICS.items() if "CNY" in metric.unit and name != PENALTY
)
"""Metrics that read the ledger; all others stay as they are when prices change."""

_NONE = -1
"""In place of a time that is None."""
_WIDTH = 5

Absences = tuple[tuple[Micros, Micros], ...]


@dataclass(frozen=True, slots=True)
class Rental:
    """One machine from usable to gone, as far as billing reads it; times in microseconds from the start."""

    lease: int
    """Position of the lease in the strategy; -1 for burst."""
    machine: int
    start_us: Micros
    end_us: Micros | None
    """None: leased past the horizon."""
    ordered_us: Micros | None
    absences: Absences = ()


@dataclass(frozen=True, slots=True)
class Billable:
    """One run, as far as billing and the metrics of money read it; packed, for there are many runs."""

    rows: bytes
    """Lease, machine, start, end, order of each rental as 64-bit integers; -1 is None."""
    absences: Mapping[int, Absences]
    """Row -> times outside of the lease's windows; rows without any are left out."""
    jobs: float
    """Jobs done and the completed shares of the unfinished: what `cost_per_job_cny` divides by."""
    useful_card_us: int
    """Card-time of work that was kept, microseconds."""

    def rentals(self) -> Iterator[Rental]:
        """Each machine in the order of the log."""
        numbers = array("q")
        numbers.frombytes(self.rows)
        for row, first in enumerate(range(0, len(numbers), _WIDTH)):
            lease, machine, start, end, ordered = numbers[first : first + _WIDTH]
            yield Rental(lease, machine, start, _moment(end), _moment(ordered), self.absences.get(row, ()))

    @property
    def numbers(self) -> Times:
        """The packed rows: lease, machine, start, end, order of each rental; -1 is None."""
        return np.frombuffer(self.rows, dtype=np.int64).reshape(-1, _WIDTH)

    @classmethod
    def of(cls, rentals: Sequence[Rental], jobs: float, useful_card_us: int) -> Billable:
        """Pack the rentals."""
        numbers = array("q")
        for one in rentals:
            end = _NONE if one.end_us is None else one.end_us
            ordered = _NONE if one.ordered_us is None else one.ordered_us
            numbers.extend((one.lease, one.machine, one.start_us, end, ordered))
        away = {row: one.absences for row, one in enumerate(rentals) if one.absences}
        return cls(numbers.tobytes(), away, jobs, useful_card_us)


def _moment(time: Micros) -> Micros | None:
    return None if time == _NONE else time


def billable_of(run: RunResult, scenario: Scenario) -> Billable:
    """What a run leaves for billing it again."""
    facts = Facts(run.log, run.ledger, run.jobs, scenario, None)
    unfinished = facts.progress[facts.in_state("running", "waiting")]
    return Billable.of(
        [Rental(m.lease, m.machine, m.start_us, m.end_us, m.ordered_us, m.absences) for m in run.log.leases],
        jobs=float(facts.in_state("done").sum() + unfinished.sum()),
        useful_card_us=facts.useful_total,
    )


def records_of(
    billable: Billable, strategy: Strategy, offers: Mapping[str, Offer]
) -> tuple[LeaseRecord, ...]:
    """The records of the machines as billing reads them: card-times of jobs and failures are 0."""
    return tuple(record_of(rental, strategy, offers) for rental in billable.rentals())


def record_of(rental: Rental, strategy: Strategy, offers: Mapping[str, Offer]) -> LeaseRecord:
    """The record of one machine as billing reads it."""
    if rental.lease >= 0:
        name = strategy.leases[rental.lease].offer_id
    else:
        name = "" if strategy.burst is None else strategy.burst.offer_id
    return LeaseRecord(
        offer=name,
        lease=rental.lease,
        machine=rental.machine,
        gpus=offers[name].gpus_per_unit,
        start_us=rental.start_us,
        end_us=rental.end_us,
        busy_card_us=0,
        down_card_us=0,
        ordered_us=rental.ordered_us,
        absences=rental.absences,
    )


def money_metrics(
    billable: Billable, ledger: Ledger, scenario: Scenario, penalty: float | None
) -> dict[str, float | None]:
    """The metrics of money of one run under another ledger, by the same functions as in a new run.

    `penalty` is the run's own `PENALTY`.
    """
    log = RunLog(scenario.horizon_us, (), (), (), ())
    facts = _Money(log, ledger, JobSet((), ()), scenario, None, billable, penalty)
    return {name: METRICS[name].function(facts) for name in MONEY_METRICS}


@dataclass(frozen=True)
class _Money(Facts):
    """A run without its records: one unfinished job stands for all, with their number as its progress."""

    billable: Billable
    penalties: float | None

    @property
    def penalty(self) -> Decimal | None:
        return None if self.penalties is None else Decimal(repr(self.penalties))

    @property
    def progress(self) -> Numbers:
        return np.array([self.billable.jobs])

    def in_state(self, *states: JobState) -> Flags:
        return np.array(["running" in states])

    @property
    def useful_total(self) -> int:
        return self.billable.useful_card_us
