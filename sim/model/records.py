"""What happened and what it cost: flat, immutable records in which time and money meet.

Times are microseconds since the scenario's start; the horizon is half-open. Card-time is
microseconds times cards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal, NamedTuple

from sim.units import Micros

__all__ = [
    "Attempt",
    "Charge",
    "FailureRecord",
    "Invoice",
    "JobRecord",
    "JobState",
    "LeaseRecord",
    "Ledger",
    "MetricValues",
    "RunLog",
]

JobState = Literal["done", "killed", "refused", "running", "waiting", "cancelled", "failed"]
"""`running` and `waiting` are states at the horizon: such jobs are unfinished, not done. `cancelled`:
the user stopped it; `failed`: it failed by itself, not by the hardware, and was not submitted again."""

MetricValues = Mapping[str, float | None]
"""Metric name -> value; None where it is not defined (a mean wait of no jobs)."""


class JobRecord(NamedTuple):
    """The life of one job, once."""

    job: int
    state: JobState
    start_us: Micros | None
    """First start; None if it never started."""
    end_us: Micros | None
    """End of the job if done, killed, cancelled or failed; time of refusal if refused."""
    wait_us: Micros
    """All time in the queue, before the first start and after interruptions, up to the horizon."""
    gpus: int
    """Cards of the last attempt; 0 if it never started."""
    offer: str | None
    """Offer of the last attempt."""
    interruptions: int
    progress: float
    """Share of the work done and still there: 1.0 if done."""
    run_us: Micros
    """Time on cards over all attempts."""
    reason: str = ""
    """Why it was refused or killed."""
    pause_us: Micros = 0
    """Time between failures of its own and new submissions: neither waiting nor running."""
    submissions: int = 1
    redone: int = 0
    """Times that its result was found to be bad, and it was done again."""
    bad: bool = False
    """Done with a bad result that nobody found."""


class Attempt(NamedTuple):
    """One stay of a job on cards, from start to completion, interruption or horizon."""

    job: int
    offer: str
    burst: bool
    cards: tuple[int, ...]
    """Card ordinals within the pool."""
    start_us: Micros
    end_us: Micros
    ended: str
    """`done`, `killed`, `cancelled`, `failed`, `retried` (failed, to be submitted again), `bad_result`
    (to be done again), `horizon`, `lease_end`, `window_end`, `maintenance`, `preempted`, or the kind of
    failure."""
    startup_us: Micros
    """Of this stay: fetching, loading, warming up."""
    checkpoint_us: Micros
    work_us: Micros
    """Of this stay: work that still counts when the stay ends."""
    lost_us: Micros
    """Of this stay: work done and lost. start-up + checkpoints + work + lost = the whole stay."""
    voided_card_us: Micros = 0
    """Card-time of work of earlier stays that this stay's failure destroyed (disk lost)."""
    pause_us: Micros = 0
    """Retried: time from its end to the new submission."""


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """One machine from the time it is usable to the time it is gone."""

    offer: str
    lease: int
    """Position of the lease in the strategy; -1 for burst."""
    machine: int
    """Ordinal of the machine within the pool."""
    gpus: int
    start_us: Micros
    end_us: Micros | None
    """None: leased past the horizon."""
    busy_card_us: Micros
    """Card-time with a job, up to the horizon."""
    down_card_us: Micros
    """Card-time lost to failure, reset or migration while jobs could have used it, up to the horizon."""
    ordered_us: Micros | None = None
    """Burst: when it was asked for."""
    away_card_us: Micros = 0
    """Card-time outside of the lease's windows, failures there included, up to the horizon."""
    absences: tuple[tuple[Micros, Micros], ...] = ()
    """When it was outside of the lease's windows, from and until, up to the horizon."""
    reserved_card_us: Micros = 0
    """Card-time of cards kept out of training, up to the horizon.

    Busy + idle + down + away + reserved is the whole card-time of the machine."""


@dataclass(frozen=True, slots=True)
class FailureRecord:
    """One failure that hit a leased card or machine in working order."""

    at_us: Micros
    kind: str
    offer: str
    machine: int
    card: int | None
    """Card ordinal within the pool for a card's failure; None: the whole machine."""
    back_us: Micros
    """When the card or machine is usable again (may lie past the horizon)."""
    jobs: tuple[int, ...]
    """Jobs interrupted."""
    promise_kept: bool | None
    """Whether the migration met the provider's promise; None for a reset."""
    burst: bool = False
    """Whether it hit a unit rented by the hour: machines of both pools count from 0."""


@dataclass(frozen=True, slots=True)
class RunLog:
    """Everything that one run of the engine left behind."""

    horizon_us: Micros
    jobs: tuple[JobRecord, ...]
    """In order of `Job.id`: each job submitted before the horizon, once."""
    attempts: tuple[Attempt, ...]
    leases: tuple[LeaseRecord, ...]
    failures: tuple[FailureRecord, ...]
    burst_orders: int = 0
    burst_stock_outs: int = 0


@dataclass(frozen=True, slots=True)
class Charge:
    """One line of the ledger: why it exists, what it says, what it costs."""

    id: int
    provider: str
    offer: str
    lease: str
    """Label of the lease: `lease 0` or `burst`."""
    plan: str
    category: Literal["purchase", "usage"]
    """`purchase`: a prepaid period; `usage`: time by the hour."""
    period_start: datetime
    """Local time, with zone; half-open."""
    period_end: datetime
    quantity: Decimal
    unit: str
    """What `quantity` counts, such as `unit-months` or `unit-hours`."""
    list_unit_price: Decimal
    unit_price: Decimal
    """Contracted price after discounts, before rounding."""
    list_cost: Decimal
    billed_cost: Decimal
    """Whole cents; what the invoice says."""
    accrued_cost: Decimal
    """Part of `billed_cost` that belongs to usable time within the horizon, whole cents."""
    cash_date: datetime
    """When it is paid."""
    rule: str
    """The rule that made the line and its working, readable with a calculator."""
    sunk: bool = False
    """Paid before the scenario: its share of the horizon is accrued, and nothing is paid or owed again."""

    @property
    def owed_after(self) -> Decimal:
        """Part of the line that belongs to time after the horizon and cannot be recovered."""
        return Decimal("0.00") if self.sunk else self.billed_cost - self.accrued_cost


@dataclass(frozen=True, slots=True)
class Invoice:
    """The charges of one provider in one calendar month (by `cash_date`, local)."""

    provider: str
    month: str
    """`2026-01`."""
    charges: tuple[int, ...]
    total: Decimal


@dataclass(frozen=True, slots=True)
class Ledger:
    """All charges of one run, the invoices they form, and the assumptions behind them."""

    currency: str
    horizon_end: datetime
    charges: tuple[Charge, ...]
    invoices: tuple[Invoice, ...]
    assumptions: tuple[str, ...] = ()

    @property
    def accrued(self) -> Decimal:
        """Cost of the usable time within the horizon."""
        return sum((charge.accrued_cost for charge in self.charges), Decimal(0))

    @property
    def committed(self) -> Decimal:
        """Accrued cost and what stays owed after the horizon for periods begun inside it."""
        return sum((charge.accrued_cost + charge.owed_after for charge in self.charges), Decimal(0))

    @property
    def cash(self) -> Decimal:
        """What is paid within the horizon."""
        inside = (c.billed_cost for c in self.charges if c.cash_date < self.horizon_end and not c.sunk)
        return sum(inside, Decimal(0))
