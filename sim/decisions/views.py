"""What a rule may see. Nothing here can be changed by the one who looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sim.units import Micros

__all__ = ["PoolView", "QueuedJob", "WayView"]


class QueuedJob(NamedTuple):
    """A job in the queue, as a queue policy sees it."""

    id: int
    """Order of submission."""
    submit_us: Micros
    estimate_us: Micros
    """The user's time limit; where there is none, the expected run time."""
    priority: int
    deadline_at_us: Micros | None
    """Instant by which the job should have ended."""
    team: str


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
