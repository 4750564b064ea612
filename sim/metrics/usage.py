"""Use of the cards: what became of the card-time that was rented.

The base of every share is usable leased card-time, burst included: from a lease's start to its end
within the horizon. Busy time is time with a job; useful time is work that was kept (no start-up, no
checkpoint, no work lost or later destroyed).
"""

from __future__ import annotations

from sim.metrics.facts import Facts
from sim.units import HOUR

__all__ = [
    "burst_gpu_h",
    "busy_gpu_h",
    "busy_share",
    "checkpoint_gpu_h",
    "down_gpu_h",
    "failures",
    "idle_gpu_h",
    "leased_gpu_h",
    "lost_gpu_h",
    "startup_gpu_h",
    "useful_gpu_h",
    "useful_share",
]


def leased_gpu_h(facts: Facts) -> float:
    """Usable leased card-hours."""
    return facts.leased_total / HOUR


def burst_gpu_h(facts: Facts) -> float:
    """Usable card-hours rented in bursts."""
    return int(facts.leased[facts.burst_machines].sum()) / HOUR


def busy_gpu_h(facts: Facts) -> float:
    """Card-hours with a job."""
    return facts.busy_total / HOUR


def down_gpu_h(facts: Facts) -> float:
    """Card-hours away for failure, reset or migration; they are paid."""
    return facts.down_total / HOUR


def idle_gpu_h(facts: Facts) -> float:
    """Card-hours in working order without a job."""
    return (facts.leased_total - facts.busy_total - facts.down_total) / HOUR


def useful_gpu_h(facts: Facts) -> float:
    """Card-hours of work that was kept."""
    return facts.useful_total / HOUR


def lost_gpu_h(facts: Facts) -> float:
    """Card-hours of work done and lost, at the failure or with a disk later."""
    return facts.lost_total / HOUR


def startup_gpu_h(facts: Facts) -> float:
    """Card-hours of fetching, loading and warming up."""
    return int(facts.stay_startup.sum()) / HOUR


def checkpoint_gpu_h(facts: Facts) -> float:
    """Card-hours of writing checkpoints."""
    return int(facts.stay_checkpoint.sum()) / HOUR


def busy_share(facts: Facts) -> float | None:
    """Busy card-hours over leased card-hours; None if nothing was leased."""
    return facts.busy_total / facts.leased_total if facts.leased_total else None


def useful_share(facts: Facts) -> float | None:
    """Useful card-hours over leased card-hours; None if nothing was leased."""
    return facts.useful_total / facts.leased_total if facts.leased_total else None


def failures(facts: Facts) -> float:
    """Failures that hit a leased card or machine in working order."""
    return float(len(facts.log.failures))
