"""What a rule may see. Nothing here can be changed by the one who looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sim.units import Micros

__all__ = ["PoolView", "QueuedJob", "WayView"]


class QueuedJob(Protocol):
    """A job in the queue, as a queue policy sees it: the engine's own record of it, to be read only."""

    @property
    def id(self) -> int:
        """Order of submission."""

    @property
    def released_us(self) -> Micros:
        """When it was submitted; again, where it failed by itself before."""

    @property
    def estimate_us(self) -> Micros:
        """The user's time limit; where there is none, the expected run time."""

    @property
    def priority(self) -> int:
        """Larger is more urgent."""

    @property
    def deadline_at_us(self) -> Micros | None:
        """Instant by which the job should have ended."""


@dataclass(frozen=True, slots=True)
class PoolView:
    """A pool of like cards, as a placement rule sees it."""

    index: int
    """Position in the strategy's file order; the burst pool comes last."""
    memory_gib: float
    """Nominal memory of a card, GiB."""
    burst: bool
    """Paid by the hour only while used."""


@dataclass(frozen=True, slots=True)
class WayView:
    """One way to run a job, as a placement rule that knows prices sees it."""

    hourly_price: float
    """Price of an hour on all cards of this way, in the scenario's currency."""
    expected_us: Micros
    """Expected run time this way."""
    burst: bool
    """On cards paid by the hour only while used."""
