"""What the leases of a pool will give over time: known from the start, failures apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from sim.model.fleet import PoolSpec
from sim.units import Micros

__all__ = ["Capacity", "capacity_steps", "last_time_with"]


@dataclass(frozen=True, slots=True)
class Capacity:
    """What jobs may use of a pool from an instant on, until the next step."""

    at_us: Micros
    machines: int
    """Machines with at least one usable card."""
    cards: int
    """Cards on all of them; reserved cards are left out."""
    widest: int
    """Cards of the machine that has most."""


def capacity_steps(spec: PoolSpec) -> list[Capacity]:
    """The usable cards of a pool over time: one step wherever a lease or a window begins or ends."""
    changes: dict[Micros, Counter[int]] = {}
    for span in spec.leases:
        sizes = Counter(size for size in span.usable_cards(spec.gpus_per_machine) if size)
        for start_us, end_us in span.usable:
            changes.setdefault(start_us, Counter()).update(sizes)
            if end_us is not None:
                changes.setdefault(end_us, Counter()).subtract(sizes)
    steps: list[Capacity] = []
    have: Counter[int] = Counter()
    for at_us in sorted(changes):
        have.update(changes[at_us])
        machines, cards = sum(have.values()), sum(size * count for size, count in have.items())
        steps.append(Capacity(at_us, machines, cards, max((s for s in have if have[s]), default=0)))
    return steps


def last_time_with(spec: PoolSpec, enough: Callable[[Capacity], bool]) -> Micros | None:
    """Instant until which the pool will at some time have enough; -1 never, None always."""
    steps = capacity_steps(spec)
    last: Micros | None = -1
    for step, following in pairwise([*steps, None]):
        if step is not None and enough(step):
            last = None if following is None else following.at_us
    return last
