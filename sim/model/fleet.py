"""What the engine reads about a strategy: pools of cards, their leases, failures and burst.

Nothing here knows a price, so that a change of price or contract never needs a new run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sim.units import Micros

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
    "PoolSpec",
]

FailureKind = str
"""`gpu_reset` stops the job on one card; `gpu_fatal`, `node` and `network` stop the whole machine."""

FORCED_KINDS: tuple[FailureKind, ...] = ("gpu_reset", "gpu_fatal", "node", "network")


@dataclass(frozen=True, slots=True)
class LogNormal:
    """A log-normal time: `median_us` and the standard deviation `sigma` of its logarithm."""

    median_us: Micros
    sigma: float
    cap_us: Micros | None = None


@dataclass(frozen=True, slots=True)
class FailureModel:
    """Failures of one pool. Mean times between failures are of one card or one machine."""

    mtbf_us: Mapping[FailureKind, Micros]
    """Mean time between failures: of a card for `gpu_*`, of a machine for `node` and `network`."""
    detect_us: tuple[Micros, Micros]
    """Time to notice, uniform."""
    reset: LogNormal
    """Time that a card is away for a reset."""
    migration_us: tuple[Micros, Micros]
    """Time to a machine in working order when the provider keeps the promise, uniform."""
    migration_kept: float
    """Probability that the promise is kept."""
    migration_late: LogNormal
    """Time when it is not."""
    disk_kept: bool
    """Whether the data disk (checkpoints, base models) moves with the machine."""


@dataclass(frozen=True, slots=True)
class ForcedFailure:
    """A failure at a known time, beside the random ones."""

    at_us: Micros
    kind: FailureKind
    offer: str
    machine: int
    """Ordinal of the machine in its pool, from 0."""
    card: int = 0
    """Card within the machine, from 0."""
    down_us: Micros | None = None
    """From the event until the card or machine is usable again; None: drawn as for any other."""


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
class CheckpointSpec:
    """When jobs save their state."""

    every_us: Micros | None
    """Work between checkpoints; None: never."""
    cost_us: Micros | None = None
    """Time one takes; None: as physics says for the shape."""


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
