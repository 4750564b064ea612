"""What happened and what it cost: flat, immutable records in which time and money meet.

Times are microseconds since the scenario's start; the horizon is half-open. Card-time is
microseconds times cards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

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

JobState = Literal["done", "killed", "refused", "running", "waiting"]
"""`running` and `waiting` are states at the horizon: such jobs are unfinished, not done."""

MetricValues = Mapping[str, float | None]
"""Metric name -> value; None where it is not defined (a mean wait of no jobs)."""


@dataclass(frozen=True, slots=True)
class JobRecord:
    """The life of one job, once."""

    job: int
    state: JobState
    start_us: Micros | None
    """First start; None if it never started."""
    end_us: Micros | None
    """End of the job if done or killed; time of refusal if refused."""
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


@dataclass(frozen=True, slots=True)
class Attempt:
    """One stay of a job on cards, from start to completion, interruption or horizon."""

    job: int
    offer: str
    burst: bool
    cards: tuple[int, ...]
    """Card ordinals within the pool."""
    start_us: Micros
    end_us: Micros
    ended: str
    """`done`, `killed`, `horizon`, `lease_end` or the kind of failure."""
    startup_us: Micros
    """Of this stay: fetching, loading, warming up."""
    checkpoint_us: Micros
    work_us: Micros
    """Of this stay: work that still counts when the stay ends."""
    lost_us: Micros
    """Of this stay: work done and lost. start-up + checkpoints + work + lost = the whole stay."""
    voided_card_us: Micros = 0
    """Card-time of work of earlier stays that this stay's failure destroyed (disk lost)."""


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
    """Card-time away for failure, reset or migration, up to the horizon."""
    ordered_us: Micros | None = None
    """Burst: when it was asked for."""


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

    @property
    def owed_after(self) -> Decimal:
        """Part of the line that belongs to time after the horizon and cannot be recovered."""
        return self.billed_cost - self.accrued_cost


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
        return sum((charge.billed_cost for charge in self.charges), Decimal(0))

    @property
    def cash(self) -> Decimal:
        """What is paid within the horizon."""
        inside = (c.billed_cost for c in self.charges if c.cash_date < self.horizon_end)
        return sum(inside, Decimal(0))
