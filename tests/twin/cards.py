"""The twin's cards: plain lists that are scanned whenever somebody asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.model.fleet import LeaseSpan, PoolSpec
from sim.model.records import LeaseRecord
from sim.units import Micros

if TYPE_CHECKING:
    from tests.twin.life import Stay

__all__ = ["Card", "Files", "Image", "Machine", "Pool"]


class Card:
    """One card: who holds it, and whether it is broken alone (until a repair or a replacement)."""

    def __init__(self, machine: Machine, ordinal: int, *, reserved: bool) -> None:
        self.machine = machine
        self.ordinal = ordinal
        self.reserved = reserved
        """Whether no job ever gets it."""
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
        usable = self.machine.leased and self.machine.open and not self.reserved
        return usable and not self.down and self.holder is None


@dataclass(frozen=True)
class Files:
    """The newest checkpoint of a job on a disk."""

    stay: int
    """Which of its stays wrote it there, or found it there."""
    work: Micros
    found: Micros
    """Of that: what the stay found when it began, or left when it was over."""
    total: Micros
    """All of the job's work, at the speed of that stay."""
    before: Micros
    """Card-time of what was found."""
    added: tuple[Stay, Micros]
    """The stay, and the time that the rest took."""
    over: bool = False
    """Whether the stay is over and no other has begun."""

    @property
    def card_time(self) -> Micros:
        """Of all of the work. A stay on a part of a card has the mean part that it had from begin to end,
        so this can be told when it is over."""
        stay, took = self.added
        if stay.card_us is None:
            return self.before + took * len(stay.cards)
        return self.before + (took * stay.card_us // stay.length if stay.length else 0)

    def at_most(self, now: Files) -> Files:
        """As files of long ago count where the newest is `now`: work that was lost elsewhere meanwhile
        does not come back."""
        if self.stay == now.stay or self.work * now.total <= now.found * self.total:
            return self
        before = min(self.card_time, now.before)
        return Files(self.stay, now.found, now.found, now.total, before, (now.added[0], 0), over=True)


@dataclass(frozen=True)
class Image:
    """A snapshot of a data disk: checkpoints by job and edition, and base models that were there."""

    files: dict[tuple[int, int], Files]
    models: dict[str, Micros]


class Machine:
    """One machine: leased or not, broken as a whole or not, and what is on its disk."""

    def __init__(self, pool: Pool, ordinal: int, lease: int, disk_kept: bool, usable: int) -> None:
        self.pool = pool
        self.ordinal = ordinal
        self.lease = lease
        self.disk_kept = disk_kept
        size = pool.spec.gpus_per_machine
        self.cards = [Card(self, ordinal * size + i, reserved=i >= usable) for i in range(size)]
        self.usable = usable
        self.leased = False
        self.open = True
        """Whether jobs may use it: outside of the windows of its lease they may not."""
        self.ordered = False
        self.broken: object | None = None
        self.disk = 0
        """Number of the disk that stands in it."""
        self.disks_lost: set[int] = set()
        """Numbers of the disks that stayed behind; a disk of a unit that was handed back is not lost."""
        self.files: dict[tuple[int, int], Files] = {}
        """The checkpoints on the disk, where disks have snapshots."""
        self.handed_back: dict[int, dict[tuple[int, int], Files]] = {}
        """What was on the disks of units that went back to the provider: it was saved elsewhere."""
        self.image: Image | None = None
        """The last snapshot of the disk."""
        self.models: dict[str, Micros] = {}
        """Base models on the disk, or on their way to it, and when they are there."""
        self.since: Micros = 0
        self.placed: Micros = 0
        """Since when this very machine stands there."""
        self.asked: Micros | None = None
        self.busy: Micros = 0
        self.down: Micros = 0
        self.away: Micros = 0
        self.absences: list[tuple[Micros, Micros]] = []
        self.shut_at: Micros = 0
        """When its window closed, where it is not open."""
        self.idle_since: object | None = None

    @property
    def idle(self) -> bool:
        return self.leased and all(card.free for card in self.cards)

    @property
    def free_cards(self) -> list[Card]:
        return [card for card in self.cards if card.free]

    def begin(self, now: Micros) -> None:
        """The lease begins with everything in working order and nothing fetched."""
        self.leased, self.broken, self.since, self.placed = True, None, now, now
        self.open = True
        self.busy = self.down = self.away = 0
        self.absences = []
        self.models = {}
        self.handed_back[self.disk] = self.files
        self.files, self.image = {}, None
        self.disk += 1
        for card in self.cards:
            card.broken = None

    def come_of(self, disk: int) -> dict[tuple[int, int], Files]:
        """The checkpoints that came in the place of those of a lost disk, as they are now."""
        later = [number for number in self.handed_back if number > disk]
        return self.handed_back[min(later)] if later else self.files

    def lose_disk(self) -> None:
        """The disk stays behind; another comes with what the last snapshot holds, if there is one.

        Of jobs that have run elsewhere since then nothing counts.
        """
        self.disks_lost.add(self.disk)
        self.disk += 1
        image = self.image or Image({}, {})
        self.files = {
            name: files.at_most(self.files[name]) for name, files in image.files.items() if name in self.files
        }
        self.models = dict(image.models)

    def pass_time(self, passing: Micros) -> None:
        """A card with a job is busy, one without that is broken is down; outside of windows all are away."""
        for card in self.cards:
            if card.holder is not None:
                self.busy += passing
            elif card.reserved:
                continue
            elif not self.open:
                self.away += passing
            elif card.down:
                self.down += passing

    def back(self, now: Micros) -> None:
        """It has been away until now."""
        if now > self.shut_at:
            self.absences.append((self.shut_at, now))

    def record(self, now: Micros, ended: Micros | None) -> LeaseRecord:
        reserved = (now - self.since) * (len(self.cards) - self.usable)
        if not self.open:
            self.back(now)
        return LeaseRecord(
            self.pool.spec.offer, self.lease, self.ordinal, len(self.cards),
            self.since, ended, self.busy, self.down, self.asked,
            self.away, tuple(self.absences), reserved,
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
                usable = self.usable_cards(span)
                for place in range(span.count):
                    machine = Machine(self, len(self.machines), span.lease, span.disk_kept, usable[place])
                    self.machines.append(machine)
        else:
            kept = spec.failures is None or spec.failures.disk_kept
            self.machines = [Machine(self, i, -1, kept, self.size) for i in range(burst_units)]

    def usable_cards(self, span: LeaseSpan) -> list[int]:
        """Cards of each machine of a lease that jobs may use: the last ones of all are reserved."""
        cards = [machine for machine in range(span.count) for _ in range(self.size)]
        kept = cards[: len(cards) - span.reserve]
        return [kept.count(machine) for machine in range(span.count)]

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
            if not touched or 0 < len(m.free_cards) < m.usable
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

    # --- what is known of the future ----------------------------------------------------------

    def open_times(self, machine: Machine) -> list[tuple[Micros, Micros | None]]:
        """From when until when jobs may use the machine, as far as anybody knows now."""
        if self.burst:
            return [(machine.since, None)] if machine.leased else []
        span = next(s for s in self.spec.leases if s.lease == machine.lease)
        return [(span.start_us, span.end_us)] if span.windows is None else list(span.windows)

    def open_time(self, machine: Machine, time: Micros) -> tuple[Micros, Micros | None] | None:
        """The one of them that an instant lies in."""
        spans = self.open_times(machine)
        return next(((a, b) for a, b in spans if a <= time and (b is None or time < b)), None)

    def openings(self, now: Micros) -> list[Micros]:
        """When machines will come or their windows open."""
        leased = [] if self.burst else self.machines
        return [a for machine in leased for a, _ in self.open_times(machine) if a > now]

    def usable_at(self, time: Micros) -> list[int]:
        """Cards of each machine that jobs may use then by the contracts, whatever happens."""
        return [m.usable if self.open_time(m, time) else 0 for m in self.machines]
