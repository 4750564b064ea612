"""What happened: flat, immutable records of one run.

Times are microseconds since the scenario's start; the horizon is half-open. Card-time is
microseconds times cards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from sim.model.chains import Submissions
from sim.units import Micros

__all__ = [
    "ENDS_FOR_GOOD",
    "Attempt",
    "FailureRecord",
    "JobRecord",
    "JobState",
    "LeaseRecord",
    "MetricValues",
    "RunLog",
]

JobState = Literal["done", "killed", "refused", "running", "waiting", "cancelled", "failed"]
"""`running` and `waiting` are states at the horizon: such jobs are unfinished, not done. `cancelled`:
the user stopped it; `failed`: it failed by itself, not by the hardware, and was not submitted again."""

ENDS_FOR_GOOD = ("done", "killed", "cancelled", "failed", "horizon")
"""Ends of a stay on cards after which its job does not wait again."""

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
    """Card-time of saved work that was lost with a disk: of earlier stays, found at this one; at a job's
    last stay of this one too, where the disk was lost while the job waited and it never ran again."""
    pause_us: Micros = 0
    """Retried: time from its end to the new submission."""
    card_us: Micros | None = None
    """Its part of the card's time, where it shared the card; None: it had its cards for itself."""

    @property
    def share(self) -> Fraction:
        """Part of each of its cards that it had, on average over the stay."""
        length = self.end_us - self.start_us
        return Fraction(1) if self.card_us is None or not length else Fraction(self.card_us, length)


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
    jobs: Sequence[JobRecord]
    """In order of `Job.id`: each job submitted before the horizon, once. From the engine: `JobRecords`.

    With `submissions` jobs are counted by them, as `sim.model.job_table.as_submitted` gives them."""
    attempts: Sequence[Attempt]
    """By start, then job. From the engine: `Attempts`."""
    leases: tuple[LeaseRecord, ...]
    failures: tuple[FailureRecord, ...]
    burst_orders: int = 0
    burst_stock_outs: int = 0
    submissions: Submissions | None = None
    """Which job was submitted when, where ends of jobs release others; None: as they were made."""
