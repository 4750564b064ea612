"""The cards: which are leased, free, busy or down. Nothing here knows a job's contents.

A pool holds the machines of one offer. Free cards are indexed by the number of free cards of
their machine, so that no event ever scans the fleet. The order in which cards are given out
depends only on which are free, never on the order in which they became so.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sim.model.fleet import PoolSpec
from sim.model.records import LeaseRecord
from sim.units import Micros

__all__ = ["Card", "Machine", "Pool", "capacity_steps", "last_time_with"]


class Card:
    """One card. `held_by` is whoever runs on it, or None."""

    __slots__ = ("broken", "down_since", "held_by", "machine", "ordinal")

    def __init__(self, ordinal: int, machine: Machine) -> None:
        self.ordinal = ordinal
        self.machine = machine
        self.held_by: object | None = None
        self.broken = 0
        """Token of the failure that broke it; 0: in working order."""
        self.down_since: Micros | None = None


class Machine:
    """One machine: `leased` between its lease's start and end, up unless it failed."""

    __slots__ = (
        "busy_card_us", "cards", "disk_epoch", "disk_kept", "down", "down_card_us", "fetched", "free",
        "idle_since_us", "indexed", "lease", "leased", "ordered_us", "ordinal", "since_us",
    )  # fmt: skip

    def __init__(self, ordinal: int, size: int, lease: int) -> None:
        self.ordinal = ordinal
        self.lease = lease
        self.cards = [Card(ordinal * size + i, self) for i in range(size)]
        self.leased = False
        self.down = 0
        """Token of the failure that brought it down; 0: in working order."""
        self.free = 0
        self.indexed = 0
        self.busy_card_us = 0
        self.down_card_us = 0
        self.disk_epoch = 0
        """Changes whenever what was on the data disk is gone."""
        self.disk_kept = True
        self.fetched: set[str] = set()
        self.since_us: Micros = 0
        self.idle_since_us: Micros = 0
        self.ordered_us: Micros | None = None

    @property
    def up(self) -> bool:
        """In working order."""
        return not self.down

    @property
    def idle(self) -> bool:
        """Leased, up and with every card free."""
        return self.leased and self.up and self.free == len(self.cards)


class Pool:
    """All machines of one offer, leased or by the hour."""

    def __init__(self, spec: PoolSpec, machines: int, *, burst: bool) -> None:
        self.spec = spec
        self.burst = burst
        self.size = spec.gpus_per_machine
        self.machines = [Machine(i, self.size, -1) for i in range(machines)]
        self.free = 0
        self.records: list[LeaseRecord] = []
        self._by_free: list[list[int]] = [[] for _ in range(self.size + 1)]

    # --- leases -----------------------------------------------------------------------------

    def bring(self, machine: Machine, now: Micros) -> None:
        """The machine's lease begins: its cards are usable."""
        machine.leased, machine.down, machine.since_us = True, 0, now
        machine.busy_card_us = machine.down_card_us = 0
        machine.fetched.clear()
        for card in machine.cards:
            card.broken, card.held_by, card.down_since = 0, None, None
        self._set_free(machine, self.size)

    def close(self, machine: Machine) -> None:
        """Nothing new starts on the machine: its lease is about to end."""
        machine.leased = False
        self._set_free(machine, 0)

    def take_away(self, machine: Machine, now: Micros, ended: Micros | None) -> None:
        """The machine's lease ends (`ended`), or the horizon cuts it (`ended` None)."""
        for card in machine.cards:
            self._close_outage(card, now)
        self._set_free(machine, 0)
        machine.leased = False
        self.records.append(
            LeaseRecord(
                offer=self.spec.offer, lease=machine.lease, machine=machine.ordinal, gpus=self.size,
                start_us=machine.since_us, end_us=ended, busy_card_us=machine.busy_card_us,
                down_card_us=machine.down_card_us, ordered_us=machine.ordered_us,
            )
        )  # fmt: skip

    # --- placing ----------------------------------------------------------------------------

    def take(self, count: int, *, spans: bool) -> list[Card] | None:
        """Take free cards for one job, or None if they are not there now.

        In one machine: the machine with the fewest free cards that suffice, lowest ordinal first.
        Over several: the fullest-free machines first, so that the job touches as few as possible.
        """
        if count > self.free:
            return None
        if not spans:
            machine = self._tightest(count)
            return None if machine is None else self._grab(machine, count)
        taken: list[Card] = []
        while len(taken) < count:
            machine = self._freest()
            taken += self._grab(machine, min(machine.free, count - len(taken)))
        return taken

    def give_back(self, cards: list[Card], now: Micros, started: Micros) -> None:
        """A job leaves its cards, which it held since `started`."""
        for card in cards:
            machine = card.machine
            card.held_by = None
            machine.busy_card_us += now - started
            if not machine.up or card.broken:
                card.down_since = now
            elif machine.leased:
                self._set_free(machine, machine.free + 1)

    # --- failures ---------------------------------------------------------------------------

    def break_card(self, card: Card, now: Micros, token: int) -> None:
        """A card fails alone; whoever runs on it holds it until the failure is noticed."""
        card.broken = token
        if card.held_by is None and card.machine.up:
            card.down_since = now
            self._set_free(card.machine, card.machine.free - 1)

    def mend_card(self, card: Card, now: Micros, token: int) -> None:
        """A card works again after the failure with this token, unless it was replaced meanwhile."""
        if card.broken != token:
            return
        card.broken = 0
        if card.machine.leased and card.machine.up and card.held_by is None:
            self._close_outage(card, now)
            self._set_free(card.machine, card.machine.free + 1)

    def break_machine(self, machine: Machine, now: Micros, token: int) -> None:
        """A whole machine fails; jobs on it hold their cards until the failure is noticed."""
        machine.down = token
        for card in machine.cards:
            if card.held_by is None and card.down_since is None:
                card.down_since = now
        self._set_free(machine, 0)
        if not machine.disk_kept:
            machine.disk_epoch += 1
            machine.fetched.clear()

    def mend_machine(self, machine: Machine, now: Micros, token: int) -> None:
        """A machine in working order stands in its place; cards broken before are new too."""
        if machine.down != token:
            return
        machine.down = 0
        if not machine.leased:
            return
        free = 0
        for card in machine.cards:
            card.broken = 0
            self._close_outage(card, now)
            free += card.held_by is None
        self._set_free(machine, free)

    # --- the index --------------------------------------------------------------------------

    def _close_outage(self, card: Card, now: Micros) -> None:
        if card.down_since is not None:
            card.machine.down_card_us += now - card.down_since
            card.down_since = None

    def _set_free(self, machine: Machine, free: int) -> None:
        self.free += free - machine.free
        machine.free = free
        # One entry a machine and bucket at most: `indexed` is the set of buckets that name it.
        if free and not machine.indexed >> free & 1:
            machine.indexed |= 1 << free
            heapq.heappush(self._by_free[free], machine.ordinal)

    def _top(self, free: int) -> Machine | None:
        """Lowest machine with exactly this number of free cards; stale entries are dropped."""
        heap = self._by_free[free]
        while heap:
            machine = self.machines[heap[0]]
            if machine.free == free:
                return machine
            heapq.heappop(heap)
            machine.indexed &= ~(1 << free)
        return None

    def _tightest(self, count: int) -> Machine | None:
        tops = (self._top(free) for free in range(count, self.size + 1))
        return next((machine for machine in tops if machine is not None), None)

    def _freest(self) -> Machine:
        tops = (self._top(free) for free in range(self.size, 0, -1))
        return next(machine for machine in tops if machine is not None)

    def _grab(self, machine: Machine, count: int) -> list[Card]:
        free = (card for card in machine.cards if card.held_by is None and not card.broken)
        taken = [card for card, _ in zip(free, range(count), strict=False)]
        self._set_free(machine, machine.free - count)
        for card in taken:
            card.held_by = self  # until the job signs for it
        return taken


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many machines a pool has from an instant on."""

    at_us: Micros
    machines: int


def capacity_steps(spec: PoolSpec) -> list[Capacity]:
    """The number of leased machines of a pool over time, as steps in order of time."""
    changes: dict[Micros, int] = {}
    for span in spec.leases:
        changes[span.start_us] = changes.get(span.start_us, 0) + span.count
        if span.end_us is not None:
            changes[span.end_us] = changes.get(span.end_us, 0) - span.count
    steps, machines = [], 0
    for at_us in sorted(changes):
        machines += changes[at_us]
        steps.append(Capacity(at_us, machines))
    return steps


def last_time_with(spec: PoolSpec, enough: Callable[[int], bool]) -> Micros | None:
    """Instant until which the pool will at some time have enough machines; -1 never, None always."""
    last: Micros | None = -1
    steps = capacity_steps(spec)
    for step, following in _pairs(steps):
        if enough(step.machines):
            last = None if following is None else following.at_us
    return last


def _pairs(steps: list[Capacity]) -> Iterator[tuple[Capacity, Capacity | None]]:
    for i, step in enumerate(steps):
        yield step, steps[i + 1] if i + 1 < len(steps) else None
