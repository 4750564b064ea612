"""The twin's cards: plain lists that are scanned whenever somebody asks."""

from __future__ import annotations

from sim.model.fleet import PoolSpec
from sim.model.records import LeaseRecord
from sim.units import Micros

__all__ = ["Card", "Machine", "Pool"]


class Card:
    """One card: who holds it, and whether it is broken alone (until a repair or a replacement)."""

    def __init__(self, machine: Machine, ordinal: int) -> None:
        self.machine = machine
        self.ordinal = ordinal
        self.holders: list = []
        """Jobs on it, in the order in which they came: one, or several where cards are shared."""
        self.since: Micros = 0
        """Shared cards: since when they have been on it."""
        self.cut: list | None = None
        """Its slices, where it is partitioned."""
        self.cut_at: Micros | None = None
        """When it has been partitioned so; None: nobody has begun there."""
        self.broken: object | None = None

    @property
    def holder(self):
        """The job that has it, the first of several; None: nobody."""
        return self.holders[0] if self.holders else None

    @property
    def down(self) -> bool:
        return self.broken is not None or self.machine.broken is not None

    @property
    def free(self) -> bool:
        return self.machine.leased and not self.down and self.holder is None


class Machine:
    """One machine: leased or not, broken as a whole or not, and what is on its disk."""

    def __init__(self, pool: Pool, ordinal: int, lease: int, disk_kept: bool) -> None:
        self.pool = pool
        self.ordinal = ordinal
        self.lease = lease
        self.disk_kept = disk_kept
        size = pool.spec.gpus_per_machine
        self.cards = [Card(self, ordinal * size + i) for i in range(size)]
        self.leased = False
        self.ordered = False
        self.broken: object | None = None
        self.disk = 0
        """Number of the disk that stands in it: a new one has nothing on it."""
        self.models: dict[str, Micros] = {}
        """Base models on the disk, or on their way to it, and when they are there."""
        self.since: Micros = 0
        self.asked: Micros | None = None
        self.busy: Micros = 0
        self.down: Micros = 0
        self.idle_since: object | None = None

    @property
    def idle(self) -> bool:
        return self.leased and all(card.free for card in self.cards)

    @property
    def free_cards(self) -> list[Card]:
        return [card for card in self.cards if card.free]

    def begin(self, now: Micros) -> None:
        """The lease begins with everything in working order and nothing fetched."""
        self.leased, self.broken, self.since = True, None, now
        self.busy = self.down = 0
        self.models = {}
        for card in self.cards:
            card.broken = None

    def replace_disk(self) -> None:
        self.disk += 1
        self.models = {}

    def record(self, ended: Micros | None) -> LeaseRecord:
        return LeaseRecord(
            self.pool.spec.offer, self.lease, self.ordinal, len(self.cards),
            self.since, ended, self.busy, self.down, self.asked,
        )  # fmt: skip


class Pool:
    """All machines of one offer."""

    def __init__(self, spec: PoolSpec, position: int, burst_units: int | None) -> None:
        self.spec = spec
        self.position = position
        self.burst = burst_units is not None
        self.size = spec.gpus_per_machine
        self.machines: list[Machine] = []
        if burst_units is None:
            for span in spec.leases:
                for _ in range(span.count):
                    self.machines.append(Machine(self, len(self.machines), span.lease, span.disk_kept))
        else:
            kept = spec.failures is None or spec.failures.disk_kept
            self.machines = [Machine(self, i, -1, kept) for i in range(burst_units)]

    def find(
        self,
        count: int,
        spans: bool,
        rule: str,
        shown: dict[Machine, int] | None = None,
        touched: bool = False,
    ) -> list[Card] | None:
        """Free cards for a job, or None; lower ordinals first in every tie.

        One machine: the one with the fewest free cards that suffice (`spread`: the most). Several: those
        with the most free cards first (`pack`: the fewest). `shown`: machines that show fewer free cards
        than they have. `touched`: only machines of which some card is in use.
        """
        free = {
            m: m.free_cards[: len(m.cards) if shown is None else shown.get(m, len(m.cards))]
            for m in self.machines
            if not touched or 0 < len(m.free_cards) < len(m.cards)
        }
        if not spans:
            fitting = [m for m in free if len(free[m]) >= count]
            sign = -1 if rule == "spread" else 1
            best = min(fitting, key=lambda m: (sign * len(free[m]), m.ordinal), default=None)
            return None if best is None else free[best][:count]
        sign = 1 if rule == "pack" else -1
        machines = sorted(free, key=lambda m: (sign * len(free[m]), m.ordinal))
        cards = [card for machine in machines for card in free[machine]]
        return cards[:count] if len(cards) >= count else None

    def lease_of(self, machine: Machine) -> tuple[Micros, Micros | None]:
        """From when until when the machine is there, as far as anybody knows now."""
        if self.burst:
            return machine.since, None
        return next((s.start_us, s.end_us) for s in self.spec.leases if s.lease == machine.lease)

    def machines_leased_at(self, time: Micros) -> int:
        """By the contracts, whatever happens."""
        return sum(s.count for s in self.spec.leases if s.start_us <= time and (s.end_us or time + 1) > time)
