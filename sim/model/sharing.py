"""Several jobs on one card: what the engine reads about it, and the preset of how much they slow down.

Shares of a card and speeds are fractions of what a job has when it is alone on the card (1.0).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sim.model.job import JobShape
from sim.units import SECOND, Micros

__all__ = [
    "DEMAND",
    "LEFT_BY",
    "MOST_JOBS",
    "PER_JOB",
    "POINTS",
    "RECONFIGURE",
    "SLICES",
    "SLICE_GAIN",
    "SharingKind",
    "SharingSpec",
    "SliceSpec",
    "SpeedCurve",
]

SharingKind = Literal["time-slicing", "mps", "mig"]

DEMAND = 0.9
"""Busy share of a card by one LoRA job of 7 to 13 billion parameters alone on it: 0.85 to 0.98 (assumed)."""
POINTS = ((0.0, 0.99), (0.5, 0.99), (0.8, 0.94), (1.0, 0.88))
"""Combined demand and speed, straight lines between: Lucid's 1,388 measured pairs of training jobs."""
LEFT_BY: Mapping[SharingKind, float] = {"time-slicing": 0.92, "mps": 0.97}
"""Part of a card that is left to jobs which together ask for more than all of it (assumed from Lucid)."""
PER_JOB = 0.02
"""Speed lost with every job above two (assumed)."""
SLICES = 7
"""Compute slices of a card in MIG."""
SLICE_GAIN = 1.05
"""Speed of a slice against its share of the compute slices, at most that of the card (assumed)."""
RECONFIGURE: Micros = 30 * SECOND
"""Time to partition an idle card anew: 10 to 60 seconds (assumed)."""
MOST_JOBS = 48
"""Jobs on one card at most, as MPS has it."""


@dataclass(frozen=True, slots=True)
class SpeedCurve:
    """How fast jobs run together on one card; `sim.decisions.sharing.shared_speed` reads it."""

    points: tuple[tuple[Fraction, Fraction], ...]
    """(combined demand, speed), rising in demand; straight lines between. The last one ends at the
    demand from which on the card is divided."""
    beyond: Fraction
    """Above the last point each job has this part of the card divided by the combined demand."""
    per_job: Fraction
    """Speed lost with every job above two."""

    @classmethod
    def of(cls, points: Sequence[tuple[float, float]], beyond: float, per_job: float) -> SpeedCurve:
        """From decimal numbers, taken exactly as they are written."""
        exact = tuple((Fraction(str(demand)), Fraction(str(speed))) for demand, speed in points)
        return cls(exact, Fraction(str(beyond)), Fraction(str(per_job)))


@dataclass(frozen=True, slots=True)
class SliceSpec:
    """One MIG profile of a card, by the vendor's listing."""

    name: str
    memory_gib: float
    """Memory that jobs can use, GiB."""
    compute: int
    """Compute slices, of `SLICES`."""
    memory: int
    """Memory slices, of eight."""
    most: int
    """Instances of this profile on one card at most."""
    alone: bool = False
    """Whether one card has at most one instance of all profiles that are so (`+me`)."""


@dataclass(frozen=True, slots=True)
class SharingSpec:
    """How the cards of one pool are shared."""

    kind: SharingKind
    jobs: int
    """Jobs on one card at most."""
    usable_gib: float
    """Memory of a card that jobs can use together, GiB."""
    curve: SpeedCurve
    """Read by `time-slicing` and `mps`."""
    demand: Fraction = Fraction(str(DEMAND))
    """Busy share of the card by a job that is alone on it, where nothing else is said."""
    demands: Mapping[str, Fraction] | None = None
    """The same by class of jobs; None: no class has a value of its own."""
    recorded: Fraction | None = None
    """The same for recorded jobs whose row has no demand of its own."""
    slices: tuple[SliceSpec, ...] = ()
    """`mig`: the profiles of the card."""
    slice_gain: Fraction = Fraction(str(SLICE_GAIN))
    reconfigure_us: Micros = RECONFIGURE
    """`mig`: time to partition an idle card anew."""

    def demand_of(self, shape: JobShape) -> Fraction:
        """Busy share of a job of this shape alone on a card."""
        if shape.demand is not None:
            return Fraction(str(shape.demand))
        if shape.job_class is None:
            return self.demand if self.recorded is None else self.recorded
        return (self.demands or {}).get(shape.job_class, self.demand)
