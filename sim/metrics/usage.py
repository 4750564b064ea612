"""Use of the cards: what became of the card-time that was rented.

Leased card-time, burst included, is that from a lease's start to its end within the horizon: busy,
idle, down, away or reserved. The base of every share is what jobs could use of it: without time
outside of a lease's windows (away) and without cards kept out of training (reserved). Busy time is
time with a job; useful time is work that was kept (no start-up, no checkpoint, no work lost or
later destroyed).
"""

from __future__ import annotations

from sim.metrics.facts import Facts
from sim.model.failures import PLANNED
from sim.model.records import LeaseRecord
from sim.units import HOUR

__all__ = [
    "away_gpu_h",
    "burst_gpu_h",
    "busy_gpu_h",
    "busy_share",
    "checkpoint_gpu_h",
    "down_gpu_h",
    "failures",
    "idle_gpu_h",
    "leased_gpu_h",
    "maintenance_gpu_h",
    "lost_gpu_h",
    "reserved_gpu_h",
    "startup_gpu_h",
    "useful_gpu_h",
    "useful_share",
]


def leased_gpu_h(facts: Facts) -> float:
    """Leased card-hours: busy + idle + down + away + reserved."""
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
    """Card-hours in working order, for jobs to use, without a job."""
    return (facts.usable_total - facts.busy_total - facts.down_total) / HOUR


def away_gpu_h(facts: Facts) -> float:
    """Card-hours outside of the windows in which a lease's cards may train; they are paid."""
    return facts.away_total / HOUR


def reserved_gpu_h(facts: Facts) -> float:
    """Card-hours of cards kept out of training; they are paid."""
    return facts.reserved_total / HOUR


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
    """Busy card-hours over usable leased card-hours; None if there were none."""
    return facts.busy_total / facts.usable_total if facts.usable_total else None


def useful_share(facts: Facts) -> float | None:
    """Useful card-hours over usable leased card-hours; None if there were none."""
    return facts.useful_total / facts.usable_total if facts.usable_total else None


def failures(facts: Facts) -> float:
    """Failures that hit a leased card or machine in working order."""
    return float(sum(record.kind != PLANNED for record in facts.log.failures))


def maintenance_gpu_h(facts: Facts) -> float:
    """Card-hours away for planned maintenance, up to the horizon or the end of the lease."""
    ends: dict[tuple[str, int, bool], list[LeaseRecord]] = {}
    for lease in facts.log.leases:
        ends.setdefault((lease.offer, lease.machine, lease.lease < 0), []).append(lease)
    total = 0
    for record in facts.log.failures:
        if record.kind == PLANNED:
            of_machine = ends[record.offer, record.machine, record.burst]
            lease = next(one for one in reversed(of_machine) if one.start_us <= record.at_us)
            gone = facts.horizon if lease.end_us is None else min(lease.end_us, facts.horizon)
            total += (min(record.back_us, gone) - record.at_us) * lease.gpus
    return total / HOUR
