"""What the engine reads about a strategy: pools of cards, their leases, failures and burst.

Nothing here knows a price, so that a change of price or contract never needs a new run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sim.model.failures import (
    FORCED_KINDS,
    CheckpointSpec,
    FailureKind,
    FailureModel,
    ForcedFailure,
    LogNormal,
)
from sim.model.sharing import SharingSpec
from sim.units import DAY, Micros

__all__ = [
    "FORCED_KINDS",
    "BurstSpec",
    "CheckpointSpec",
    "FailureKind",
    "FailureModel",
    "FleetPlan",
    "ForcedFailure",
    "LeaseSpan",
    "LogNormal",
    "PolicyParameters",
    "PoolSpec",
]


@dataclass(frozen=True, slots=True)
class LeaseSpan:
    """`count` machines that come at `start_us` and go at `end_us` (None: stay past the horizon)."""

    lease: int
    """Position of the lease in the strategy, from 0."""
    count: int
    start_us: Micros
    end_us: Micros | None
    disk_kept: bool = True
    """Whether the data disk moves along when one of these machines is replaced."""
    failures: FailureModel | Literal["pool"] | None = "pool"
    """How these machines fail; `pool`: as all others of the pool. None: they do not."""
    reserve: int = 0
    """Cards that no job ever gets: the last cards of the last machines."""
    windows: tuple[tuple[Micros, Micros], ...] | None = None
    """Times in which jobs may use the cards, in order, apart, within the lease; None: always. They
    reach past the horizon, so that a job knows whether another window is to come."""

    @property
    def usable(self) -> tuple[tuple[Micros, Micros | None], ...]:
        """Times in which jobs may use the cards, half-open; an end of None lies past the horizon."""
        return ((self.start_us, self.end_us),) if self.windows is None else self.windows

    def usable_cards(self, gpus_per_machine: int) -> tuple[int, ...]:
        """Cards of each machine that jobs may use, in order: all but the reserved ones."""
        left = self.count * gpus_per_machine - self.reserve
        return tuple(max(0, min(gpus_per_machine, left - i * gpus_per_machine)) for i in range(self.count))


@dataclass(frozen=True, slots=True)
class PoolSpec:
    """All leased units of one offer."""

    offer: str
    gpus_per_machine: int
    memory_gib: float
    """Nominal memory of a card, GiB; decides best fit."""
    card_kind: str
    """Card id; failure draws are keyed by it."""
    spans: bool
    """Whether a job may use cards of several machines."""
    leases: tuple[LeaseSpan, ...]
    failures: FailureModel | None
    first_card: int = 0
    """Cards of this kind in earlier pools of the strategy; failure draws count on from there."""
    first_machine: int = 0
    """The same for machines."""
    hourly_price: float = 0.0
    """Price of an hour of one unit under its contract; read by the placement `cheapest` alone, as a
    plain number: a change of price changes runs under that rule and no others."""
    site: str = ""
    """Where the machines stand; events of the site are keyed by it."""
    sharing: SharingSpec | None = None
    """How several jobs share one of its cards; None: a card has one job."""

    def failures_by_machine(self, machines: int) -> Iterator[tuple[FailureModel, range]]:
        """The failure models of the pool, each with the ordinals of the machines that follow it."""
        first = 0
        for span in self.leases:
            model = self.failures if span.failures == "pool" else span.failures
            if model is not None and span.count:
                yield model, range(first, first + span.count)
            first += span.count
        if self.failures is not None and first < machines:
            yield self.failures, range(first, machines)

    def failures_of(self, lease: int) -> FailureModel | None:
        """How the machines of a lease, by its position in the strategy, fail."""
        for span in self.leases:
            if span.lease == lease and span.failures != "pool":
                return span.failures
        return self.failures


@dataclass(frozen=True, slots=True)
class BurstSpec:
    """Cards rented by the hour when the oldest job has waited too long."""

    pool: PoolSpec
    """Its `leases` are empty."""
    max_units: int
    rent_when_wait_over_us: Micros
    release_after_idle_us: Micros
    increment_us: Micros
    minimum_us: Micros
    delay: LogNormal
    """From order to usable."""
    stock_out: float
    """Probability that an order finds nothing; it is then tried again."""
    retry_mean_us: Micros
    """Mean time between tries, exponential."""


@dataclass(frozen=True, slots=True)
class PolicyParameters:
    """What a queue policy and preemption may be told; each policy reads only its own."""

    aging_us: Micros | None = None
    """`priority`: wait that is worth one step of priority; None: no aging."""
    half_life_us: Micros = 7 * DAY
    """`fair`: time in which past use counts half (assumed: a week)."""
    look_ahead: int = 100
    """`conservative`: waiting jobs that have a reservation (assumed)."""
    preempt_after_us: Micros | None = None
    """`priority`: time that a job runs before it may be preempted; None: no preemption."""


@dataclass(frozen=True, slots=True)
class FleetPlan:
    """Everything that the engine reads about one strategy."""

    pools: tuple[PoolSpec, ...]
    burst: BurstSpec | None
    policy: str
    """Key in the table of queue policies."""
    horizon_us: Micros
    checkpoint: CheckpointSpec
    forced: tuple[ForcedFailure, ...] = ()
    parameters: PolicyParameters = PolicyParameters()
    placement: str = "best-fit"
    """Key in the table of placement rules."""
