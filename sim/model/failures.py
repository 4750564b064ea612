"""How cards and machines fail, as the engine reads it. Times are microseconds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sim.units import Micros

__all__ = [
    "FORCED_KINDS",
    "KINDS",
    "PLANNED",
    "SILENT",
    "CheckpointSpec",
    "FailureKind",
    "FailureModel",
    "ForcedFailure",
    "Hangs",
    "Infancy",
    "Kind",
    "Lemons",
    "LogNormal",
    "Maintenance",
    "NoSpare",
    "SharedEvents",
    "Snapshots",
    "Spares",
]

FailureKind = str
"""Name in the table `KINDS`."""

PLANNED: FailureKind = "maintenance"
"""Kind that is no failure: it is announced, and jobs save their state first."""
SILENT: FailureKind = "silent_corruption"
"""Kind that nobody notices: the job runs on, and its result is bad."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What one kind of failure is of, and whom it hits."""

    unit: Literal["card", "machine", "shared"]
    """Whose rate its mean time is: of a card, of a machine, or of something that machines share."""
    hits: Literal["card", "machine"]
    """What is away afterwards; a shared event hits each of its machines."""
    moves: bool
    """Whether another machine takes the place of the one that failed; its data disk may stay behind."""


KINDS: Mapping[FailureKind, Kind] = {
    "gpu_reset": Kind("card", "card", moves=False),
    "gpu_fatal": Kind("card", "machine", moves=True),
    "node": Kind("machine", "machine", moves=True),
    "network": Kind("machine", "machine", moves=True),
    "ecc_uncorrectable": Kind("card", "card", moves=False),
    "silent_corruption": Kind("card", "card", moves=False),
    "switch": Kind("shared", "machine", moves=False),
    "site": Kind("shared", "machine", moves=False),
    "maintenance": Kind("machine", "machine", moves=False),
}
"""A `gpu_reset` or `ecc_uncorrectable` stops the job on one card, the others stop whole machines."""

FORCED_KINDS: tuple[FailureKind, ...] = tuple(KINDS)


@dataclass(frozen=True, slots=True)
class LogNormal:
    """A log-normal time: `median_us` and the standard deviation `sigma` of its logarithm."""

    median_us: Micros
    sigma: float
    cap_us: Micros | None = None


@dataclass(frozen=True, slots=True)
class SharedEvents:
    """Events of something that several machines share: a switch, a disk store, a site."""

    mean_us: Micros
    """Mean time between two events of one switch, or of the site; exponential."""
    lasts: LogNormal
    machines: int | None = None
    """Machines on one switch, by ordinal; None: all machines of the site."""


@dataclass(frozen=True, slots=True)
class Lemons:
    """Some machines fail much more often; the mean over all machines stays as it is."""

    share: float
    """Probability that a machine is one."""
    factor: float
    """How much more often than the others."""


@dataclass(frozen=True, slots=True)
class Infancy:
    """A machine that has just been placed fails more often for a while."""

    factor: float
    """Times the usual rate, at least 1."""
    period_us: Micros


@dataclass(frozen=True, slots=True)
class Hangs:
    """Some failures show as a job that stands still, and are noticed later."""

    share: float
    detect: LogNormal
    kinds: tuple[FailureKind, ...]


@dataclass(frozen=True, slots=True)
class NoSpare:
    """With `probability`, a replacement has to wait until the provider has one."""

    probability: float
    wait: LogNormal


@dataclass(frozen=True, slots=True)
class Spares:
    """`count` spare machines of the offer; what failed is a spare again once it is repaired."""

    count: int
    repair: LogNormal


@dataclass(frozen=True, slots=True)
class Snapshots:
    """Images of disks at fixed times, counted from the start of the scenario."""

    every_us: Micros
    rollback_us: Micros
    data: bool
    """Whether they hold the data disk; else the system disk only."""


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Planned work on each machine in turn, one after the other."""

    first_us: Micros
    every_us: Micros
    lasts_us: Micros
    announced: bool
    """Jobs save their state before it begins."""
    together: int = 1
    """Machines that are away at one time."""


@dataclass(frozen=True, slots=True)
class FailureModel:
    """Failures of one pool. Mean times between failures are of one card or one machine."""

    mtbf_us: Mapping[FailureKind, Micros]
    """Mean time between failures: of a card or of a machine, as `KINDS` says."""
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
    weibull_shape: float = 1.0
    """Of the times between failures of one card or machine; 1 is exponential. The mean stays."""
    contained: float = 1.0
    """Share of uncorrectable memory errors that a reset mends; the others need another machine."""
    found: float = 0.5
    """Probability that a bad result is found when the job ends; it is then done again."""
    shared: Mapping[FailureKind, SharedEvents] | None = None
    """`switch` and `site`."""
    lemons: Lemons | None = None
    infancy: Infancy | None = None
    hangs: Hangs | None = None
    no_spare: NoSpare | None = None
    spares: Spares | None = None
    snapshots: Snapshots | None = None
    maintenance: Maintenance | None = None

    def interruptions_per_us(self, cards: int, machines: int, per_machine: int) -> float:
        """Rate at which a job on so many cards of so many machines is interrupted, per microsecond.

        Counts whatever hits any card of its machines: a fatal failure of a neighbour's card too.
        Planned maintenance and silent errors do not count. Lemons and infancy are not known.
        """
        rate = 0.0
        for name, mean_us in self.mtbf_us.items():
            kind = KINDS[name]
            if name == SILENT:
                continue
            if kind.unit == "machine":
                units: float = machines
            elif kind.hits == "machine":
                units = machines * per_machine
            else:
                others = machines * per_machine - cards
                units = cards + (others * (1 - self.contained) if name == "ecc_uncorrectable" else 0.0)
            rate += units / mean_us
        for name, event in (self.shared or {}).items():
            groups = 1 if event.machines is None else math.ceil(machines / event.machines)
            rate += (groups if name == "switch" else 1) / event.mean_us
        return rate


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
class CheckpointSpec:
    """When jobs save their state."""

    every_us: Micros | None
    """Work between checkpoints; None: never, or as `rule` says."""
    cost_us: Micros | None = None
    """Time one takes; None: as physics says for the shape."""
    rule: Literal["fixed", "young", "daly"] = "fixed"
    """`young`, `daly`: the interval follows from the time one takes and the rate of interruptions."""
