"""The cards: which are leased, free, busy, down, away or reserved. Nothing here knows a job's contents.

A pool holds the machines of one offer. Free cards are indexed by the number of free cards of
their machine, so that no event ever scans the fleet. The order in which cards are given out
depends only on which are free, never on the order in which they became so.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from sim.model.fleet import PoolSpec
from sim.model.records import LeaseRecord
from sim.units import Micros

__all__ = ["HANDED_BACK", "RESERVED", "Card", "Machine", "Pool"]

HANDED_BACK = -2
"""In place of the time of a snapshot, where a disk was not lost."""
RESERVED = "reserved"
"""Who holds a card that is kept out of training."""


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
        "absences", "away_card_us", "away_since", "busy_card_us", "cards", "disk_epoch", "disk_kept", "down",
        "down_card_us", "fetched", "free", "fresh_us", "idle_since_us", "indexed", "lease", "leased",
        "ordered_us", "ordinal", "restored", "since_us", "usable",
    )  # fmt: skip

    def __init__(self, ordinal: int, size: int, lease: int) -> None:
        self.ordinal = ordinal
        self.lease = lease
        self.usable = size
        """Cards that jobs may use, the first ones; the others are reserved."""
        self.cards = [Card(ordinal * size + i, self) for i in range(size)]
        self.leased = False
        self.down = 0
        """Token of the failure that brought it down; 0: in working order."""
        self.free = 0
        self.indexed = [True] + [False] * size
        """Whether the pool's index names it among those with so many free cards; none is never looked for."""
        self.busy_card_us = 0
        self.down_card_us = 0
        self.away_card_us = 0
        self.absences: list[tuple[Micros, Micros]] = []
        self.away_since: Micros | None = None
        """Since when its cards serve something else, outside of the lease's windows; None: inside."""
        self.disk_epoch = 0
        """Changes whenever what was on the data disk is gone."""
        self.disk_kept = True
        self.restored: list[Micros] = []
        """For each loss of the disk: the time of the snapshot that stands there now; -1: none.

        `HANDED_BACK` where the unit went back to its provider: what its disk held was saved elsewhere."""
        self.fetched: dict[str, Micros] = {}
        """Base models on the disk, and when they were there."""
        self.fresh_us: Micros = 0
        """When it was placed or last replaced."""
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
        self.shares = False
        """Whether a card may hold several jobs (`sharing_pools`)."""
        self.emptiest_machine = False
        """Placement: take the machine with the most free cards, not the fewest that suffice."""
        self.fill_gaps = False
        """Placement over several machines: those with the fewest free cards first, not the most."""
        self.changes = 0
        """Failures, repairs and hourly units so far; whoever plans ahead looks whether there were more."""
        self.records: list[LeaseRecord] = []
        self._snapshots_us = _data_snapshots(spec, machines)
        self.has_snapshots = self._snapshots_us is not None
        """Whether data disks have snapshots, so that the past of jobs matters."""
        self._by_free: list[list[int]] = [[] for _ in range(self.size + 1)]
        """By number of free cards, a heap of the machines that have or had so many."""
        rising = tuple(enumerate(self._by_free))
        self._from = [rising[count:] for count in range(self.size + 2)]
        """The part of the index that suffices for so many cards, the fewest first."""
        self._widest = rising[:0:-1]

    # --- leases -----------------------------------------------------------------------------

    def bring(self, machine: Machine, now: Micros) -> None:
        """The machine's lease begins: its cards are usable."""
        machine.leased, machine.down, machine.since_us = True, 0, now
        self.changes += self.burst
        machine.fresh_us = now
        machine.busy_card_us = machine.down_card_us = machine.away_card_us = 0
        machine.absences, machine.away_since = [], None
        machine.fetched.clear()
        for card in machine.cards:
            card.broken, card.held_by, card.down_since = 0, None, None
        for card in machine.cards[machine.usable :]:
            card.held_by = RESERVED
        self._set_free(machine, machine.usable)

    def shut(self, machine: Machine, now: Micros) -> None:
        """A window ends: the cards serve something else, and whoever runs on them must leave now."""
        for card in machine.cards:
            self._close_outage(card, now)
        machine.away_since = now
        self._set_free(machine, 0)

    def open(self, machine: Machine, now: Micros) -> None:
        """A window begins: jobs may use the cards that are in working order."""
        self._end_absence(machine, now)
        free = 0
        for card in machine.cards[: machine.usable]:
            if machine.up and not card.broken:
                free += 1
            else:
                card.down_since = now
        self._set_free(machine, free)

    def close(self, machine: Machine) -> None:
        """Nothing new starts on the machine: its lease is about to end."""
        machine.leased = False
        self._set_free(machine, 0)

    def take_away(self, machine: Machine, now: Micros, ended: Micros | None) -> None:
        """The machine's lease ends (`ended`), or the horizon cuts it (`ended` None)."""
        for card in machine.cards:
            self._close_outage(card, now)
        self._end_absence(machine, now)
        self._set_free(machine, 0)
        machine.leased = False
        self.changes += self.burst
        if self.burst:  # it may be rented again, with another disk
            machine.disk_epoch += 1
            machine.restored.append(HANDED_BACK)
        self.records.append(
            LeaseRecord(
                offer=self.spec.offer, lease=machine.lease, machine=machine.ordinal, gpus=self.size,
                start_us=machine.since_us, end_us=ended, busy_card_us=machine.busy_card_us,
                down_card_us=machine.down_card_us, ordered_us=machine.ordered_us,
                away_card_us=machine.away_card_us, absences=tuple(machine.absences),
                reserved_card_us=(now - machine.since_us) * (self.size - machine.usable),
            )
        )  # fmt: skip

    # --- placing ----------------------------------------------------------------------------

    def take(self, count: int, spans: bool, touched: bool = False) -> list[Card] | None:
        """Take free cards for one job, or None if they are not there now.

        In one machine: the machine with the fewest free cards that suffice, lowest ordinal first.
        Over several: the fullest-free machines first, so that the job touches as few as possible.
        The placement rule may turn either round. `touched`: in one machine, of which a card is in use.
        """
        if count > self.free:
            return None
        if not spans:
            if touched:
                machine = self._first_in_use(self._from[count])
            else:
                machine = self._first(self._widest if self.emptiest_machine else self._from[count])
            if machine is None or machine.free < count:
                return None
            return self._grab(machine, count)
        taken: list[Card] = []
        while len(taken) < count:
            machine = self._first(self._from[1] if self.fill_gaps else self._widest)
            if machine is None:
                msg = f"{self.spec.offer}: fewer free cards than the pool counts"
                raise RuntimeError(msg)
            taken += self._grab(machine, min(machine.free, count - len(taken)))
        return taken

    def take_from(self, parts: Sequence[tuple[int, int]]) -> list[Card] | None:
        """Take so many free cards of each of these machines (by ordinal), or none at all."""
        if any(self.machines[ordinal].free < count for ordinal, count in parts):
            return None
        return [card for ordinal, count in parts for card in self._grab(self.machines[ordinal], count)]

    def fits(self, count: int, *, spans: bool) -> bool:
        """Whether a job of so many cards could have them now."""
        return count <= self.free and (spans or self._first(self._from[count]) is not None)

    def hide(self, machine: Machine, shown: int) -> int:
        """Show at most so many free cards of a machine; gives the number hidden, for `unhide`."""
        hidden = max(0, machine.free - max(0, shown))
        if hidden:
            self._set_free(machine, machine.free - hidden)
        return hidden

    def unhide(self, machine: Machine, hidden: int) -> None:
        """Show them again."""
        if hidden:
            self._set_free(machine, machine.free + hidden)

    def give_back(self, cards: list[Card], now: Micros, started: Micros) -> None:
        """A job leaves its cards, which it held since `started`."""
        held = now - started
        machine, back = cards[0].machine, 0
        usable = machine.leased and machine.away_since is None and not machine.down
        for card in cards:
            # Cards of one machine stand together: its place in the index changes once for all of them.
            if card.machine is not machine:
                if back:
                    self._set_free(machine, machine.free + back)
                machine, back = card.machine, 0
                usable = machine.leased and machine.away_since is None and not machine.down
            card.held_by = None
            machine.busy_card_us += held
            if usable and not card.broken:
                back += 1
            elif machine.away_since is None and (machine.down or card.broken):
                card.down_since = now
        if back:
            self._set_free(machine, machine.free + back)

    # --- failures ---------------------------------------------------------------------------

    def break_card(self, card: Card, now: Micros, token: int) -> None:
        """A card fails alone; whoever runs on it holds it until the failure is noticed."""
        card.broken = token
        self.changes += 1
        if card.held_by is None and card.machine.up and card.machine.away_since is None:
            card.down_since = now
            self._set_free(card.machine, card.machine.free - 1)

    def mend_card(self, card: Card, now: Micros, token: int) -> None:
        """A card works again after the failure with this token, unless it was replaced meanwhile."""
        if card.broken != token:
            return
        card.broken = 0
        self.changes += 1
        machine = card.machine
        if machine.leased and machine.up and card.held_by is None and machine.away_since is None:
            self._close_outage(card, now)
            self._set_free(machine, machine.free + 1)

    def break_machine(self, machine: Machine, now: Micros, token: int, *, moves: bool = True) -> None:
        """A whole machine fails; jobs on it hold their cards until the failure is noticed.

        `moves`: another machine will take its place, and the disk may stay behind.
        """
        machine.down = token
        self.changes += 1
        for card in machine.cards:
            if card.held_by is None and card.down_since is None and machine.away_since is None:
                card.down_since = now
        self._set_free(machine, 0)
        # What was still on its way is broken off with the machine.
        machine.fetched = {name: at for name, at in machine.fetched.items() if at <= now}
        if moves and not machine.disk_kept:
            self._lose_disk(machine, now)

    def _lose_disk(self, machine: Machine, now: Micros) -> None:
        snapshot = -1 if self._snapshots_us is None else now - now % self._snapshots_us
        if snapshot < machine.since_us:
            snapshot = -1
        machine.disk_epoch += 1
        machine.restored.append(snapshot)
        machine.fetched = {name: at for name, at in machine.fetched.items() if at <= snapshot}

    def mend_machine(self, machine: Machine, now: Micros, token: int, *, moved: bool = True) -> None:
        """A machine in working order stands in its place; if it `moved`, cards broken before are new too."""
        if machine.down != token:
            return
        machine.down = 0
        self.changes += 1
        if not machine.leased:
            return
        if moved:
            machine.fresh_us = now
        free = 0
        for card in machine.cards:
            if card.broken and not moved:
                continue
            card.broken = 0
            self._close_outage(card, now)
            free += card.held_by is None
        self._set_free(machine, free if machine.away_since is None else 0)

    # --- the index --------------------------------------------------------------------------

    def _end_absence(self, machine: Machine, now: Micros) -> None:
        if machine.away_since is not None:
            machine.away_card_us += (now - machine.away_since) * machine.usable
            if now > machine.away_since:
                machine.absences.append((machine.away_since, now))
            machine.away_since = None

    def _close_outage(self, card: Card, now: Micros) -> None:
        if card.down_since is not None:
            card.machine.down_card_us += now - card.down_since
            card.down_since = None

    def _set_free(self, machine: Machine, free: int) -> None:
        self.free += free - machine.free
        machine.free = free
        if not machine.indexed[free]:
            machine.indexed[free] = True
            heapq.heappush(self._by_free[free], machine.ordinal)

    def _first(self, index: Sequence[tuple[int, list[int]]]) -> Machine | None:
        """Lowest machine of the first part of the index that has one; stale entries are dropped."""
        machines = self.machines
        for free, heap in index:
            while heap:
                machine = machines[heap[0]]
                if machine.free == free:
                    return machine
                heapq.heappop(heap)
                machine.indexed[free] = False
        return None

    def _first_in_use(self, index: Sequence[tuple[int, list[int]]]) -> Machine | None:
        """The same among machines of which a card is in use or down.

        One with reserved cards may be whole and yet have no more free cards than one in use; there is at
        most one a lease that has both reserved cards and others, so few are passed over.
        """
        for free, heap in index:
            if free == self.size:
                break
            passed: list[int] = []
            machine = self._first(((free, heap),))
            while machine is not None and machine.free == machine.usable:
                passed.append(heapq.heappop(heap))
                machine = self._first(((free, heap),))
            for ordinal in passed:
                heapq.heappush(heap, ordinal)
            if machine is not None:
                return machine
        return None

    def _grab(self, machine: Machine, count: int) -> list[Card]:
        """The first free cards of a machine; the job that starts on them signs for them at once."""
        cards = machine.cards
        if machine.free == len(cards):
            taken = cards[:count]
        else:
            taken = []
            for card in cards:
                if card.held_by is None and not card.broken:
                    taken.append(card)
                    if len(taken) == count:
                        break
        self._set_free(machine, machine.free - count)
        return taken


def _data_snapshots(spec: PoolSpec, machines: int) -> Micros | None:
    """Time between two snapshots of the data disk; None: there are none."""
    for model, _ in spec.failures_by_machine(machines):
        if model.snapshots is not None and model.snapshots.data:
            return model.snapshots.every_us
    return None
