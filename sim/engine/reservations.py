"""When cards should come free: stays by their expected end, and the first time that a job would fit.

Nothing here scans the fleet: stays stand sorted by expected end, and a walk along them stops at
the first instant at which the job fits.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from sim.engine.execution import Stay
from sim.engine.fleet import Machine, Pool
from sim.engine.lengths import expected_of_stay
from sim.engine.placer import Way
from sim.model.rates import RunOption
from sim.units import Micros

__all__ = ["Board", "Reservation"]

Change = tuple[Micros, int, object]
"""Instant; 0 machines go, 1 machines come, 2 a stay ends; what it is about."""
_GO, _COME, _END = 0, 1, 2


@dataclass(slots=True)
class Reservation:
    """Cards kept for the first job of the queue from an instant on."""

    at_us: Micros
    pool: Pool
    machine: Machine | None
    """The machine of a job that stays on one; None: anywhere in the pool."""
    spare: int
    """Cards there that are free at that instant and that the job does not need."""


class Board:
    """Running stays by pool and expected end, and the comings and goings of leased machines."""

    def __init__(self, pools: Sequence[Pool]) -> None:
        self._ends: dict[Pool, list[tuple[Micros, int, Stay]]] = {pool: [] for pool in pools}
        self._end_of: dict[int, Micros] = {}
        self._leases = {pool: _lease_changes(pool) for pool in pools}

    def started(self, stay: Stay) -> None:
        """A job has got cards now."""
        end_us = stay.start_us + expected_of_stay(stay)
        job = stay.run.job.id
        self._end_of[job] = end_us
        insort(self._ends[stay.pool], (end_us, job, stay))

    def left(self, stay: Stay) -> None:
        """A job has left its cards now."""
        job = stay.run.job.id
        ends = self._ends[stay.pool]
        del ends[bisect_left(ends, (self._end_of.pop(job), job))]

    def running(self, pool: Pool) -> Iterator[tuple[Micros, Stay]]:
        """The running stays of a pool by expected end."""
        return ((end_us, stay) for end_us, _, stay in self._ends[pool])

    def end_of(self, stay: Stay) -> Micros:
        """When a running stay is expected to end."""
        return self._end_of[stay.run.job.id]

    def overdue(self, now: Micros) -> bool:
        """Whether a stay still runs that was expected to have ended by now."""
        return any(ends and ends[0][0] <= now for ends in self._ends.values())

    def next_end(self, now: Micros) -> Micros | None:
        """The next expected end after now: from then on what was expected may prove wrong."""
        later = ((ends, bisect_right(ends, (now, 1 << 62))) for ends in self._ends.values())
        return min((ends[i][0] for ends, i in later if i < len(ends)), default=None)

    def first_fit(self, ways: Sequence[Way], now: Micros) -> Reservation | None:
        """The earliest instant at which a job that does not fit now should fit; None: unknown.

        Ties go to the way that is tried first, then to the lowest machine. Cards that are down and
        hourly units that are not there yet come back at an unknown time: they count for nothing.
        """
        best: Reservation | None = None
        rank = 0
        by_pool: dict[Pool, list[tuple[int, RunOption]]] = {}
        for i, (pool, option, _) in enumerate(ways):
            by_pool.setdefault(pool, []).append((i, option))
        for pool, wanted in by_pool.items():
            found = self._first_in(pool, wanted, now, None if best is None else best.at_us)
            if found is not None and (best is None or (found[1].at_us, found[0]) < (best.at_us, rank)):
                rank, best = found
        return best

    def _first_in(
        self, pool: Pool, wanted: Sequence[tuple[int, RunOption]], now: Micros, until: Micros | None
    ) -> tuple[int, Reservation] | None:
        total = pool.free
        free: dict[Machine, int] = {}
        gone: set[Machine] = set()
        for at_us, changes in groupby(self._changes(pool, now), key=itemgetter(0)):
            if until is not None and at_us > until:
                return None
            touched: set[Machine] = set()
            for _, kind, subject in changes:
                if kind == _END:
                    assert isinstance(subject, Stay)  # noqa: S101 - one kind of change, one kind of subject
                    for card in subject.cards:
                        machine = card.machine
                        if not machine.down and not card.broken and machine not in gone:
                            free[machine] = free.get(machine, machine.free) + 1
                            total += 1
                            touched.add(machine)
                    continue
                assert isinstance(subject, range)  # noqa: S101
                for machine in pool.machines[subject.start : subject.stop]:
                    if kind == _GO:
                        total -= free.get(machine, machine.free)
                        free[machine] = 0
                        gone.add(machine)
                    elif (come := _when_opened(machine)) > 0:
                        gone.discard(machine)
                        free[machine] = come
                        total += come
                        touched.add(machine)
            found = _fits(wanted, pool, at_us, total, [(m, free[m]) for m in touched if m not in gone])
            if found is not None:
                return found
        return None

    def _changes(self, pool: Pool, now: Micros) -> Iterator[Change]:
        """All that is known of the pool's future, in order; stays past their expected end may end now."""
        leases = self._leases[pool]
        i = bisect_right(leases, (now, 9))
        for end_us, _, stay in self._ends[pool]:
            at_us = max(end_us, now)
            while i < len(leases) and leases[i][0] <= at_us:
                yield leases[i]
                i += 1
            yield at_us, _END, stay
        yield from leases[i:]


def _fits(
    wanted: Sequence[tuple[int, RunOption]],
    pool: Pool,
    at_us: Micros,
    total: int,
    machines: Sequence[tuple[Machine, int]],
) -> tuple[int, Reservation] | None:
    for rank, option in wanted:
        if option.spans:
            if total >= option.gpus:
                return rank, Reservation(at_us, pool, None, total - option.gpus)
            continue
        enough = [(m.ordinal, m, free) for m, free in machines if free >= option.gpus]
        if enough:
            _, machine, free = min(enough, key=itemgetter(0))
            return rank, Reservation(at_us, pool, machine, free - option.gpus)
    return None


def _when_opened(machine: Machine) -> int:
    """Cards that jobs may use when the machine's lease or window begins."""
    if machine.down:
        return 0
    return sum(not card.broken for card in machine.cards[: machine.usable])


def _lease_changes(pool: Pool) -> list[tuple[Micros, int, range]]:
    changes: list[tuple[Micros, int, range]] = []
    first = 0
    for span in pool.spec.leases:
        machines = range(first, first + span.count)
        first += span.count
        for start_us, end_us in span.usable:
            changes.append((start_us, _COME, machines))
            if end_us is not None:
                changes.append((end_us, _GO, machines))
    return sorted(changes, key=lambda change: (*change[:2], change[2].start))
