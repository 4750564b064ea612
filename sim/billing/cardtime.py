"""What became of the rented card-time: cells of time and machine, each whole and exact.

A cell is one machine of one lease between two edges of time. Its card-time is divided into what jobs
made of it (start-up, checkpoints, work kept, work lost) and into what they did not (idle, down, away,
reserved); the parts sum to the whole to the microsecond (a job's part of a shared card may be a
microsecond off). Within a stay start-up comes first, then work with its checkpoints spread evenly, then
the work that its end lost. Work that a later failure destroyed is taken from the job's last earlier
stays, and there from the end.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sim.billing.downtime import Span, Where, down_times, end_of, reserved_cards, where
from sim.billing.shared import Held, held_of
from sim.model.records import Attempt, RunLog
from sim.units import Micros

__all__ = ["BUSY", "NOBODY", "Cell", "Edges", "Part", "State", "cells"]

State = Literal["useful", "checkpoint", "startup", "reload", "lost", "idle", "down", "away", "reserved"]
"""`useful`: work that was kept; `startup`: loading and warming up the first time; `reload`: the same
again, after an interruption or a failure; `lost`: work done and lost, at once or later."""

BUSY: tuple[State, ...] = ("useful", "checkpoint", "startup", "reload", "lost")
"""States in which a job holds the card."""

NOBODY = -1
"""Instead of a job, for card-time without one."""

Part: TypeAlias = tuple[int, State]
"""Whose card-time, and in which state."""

Edges: TypeAlias = Callable[[int, int], Sequence[Micros]]
"""Edges of time for a lease (-1: burst) and a machine, rising, from at most 0 to at least the horizon."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One machine between two edges, as far as it is rented there."""

    record: int
    """Position in `RunLog.leases`."""
    lease: int
    machine: int
    period: int
    """Number of the period between two edges."""
    start_us: Micros
    end_us: Micros
    leased: Micros
    """Card-time; the sum of the parts."""
    parts: dict[Part, Micros]


def cells(log: RunLog, edges: Edges) -> list[Cell]:
    """The rented card-time within the horizon, cut at the edges; by record, then time."""
    stays = _by_record(log)
    down = down_times(log)
    found: list[Cell] = []
    for position, record in enumerate(log.leases):
        end_us = end_of(record, log.horizon_us)
        if end_us <= record.start_us:
            continue
        cut = edges(record.lease, record.machine)
        reserved = reserved_cards(record, log.horizon_us)
        rows = _rows(cut, record.start_us, end_us)
        parts = [Counter[Part]() for _ in rows]
        first = rows[0][0]
        for stay in stays.get(position, ()):
            for number, start, end in _rows(cut, stay.start_us, stay.end_us):
                stay.add(parts[number - first], start, end)
        lost: tuple[tuple[State, int, Sequence[Span]], ...] = (
            ("down", 1, down.get(position, ())),
            ("away", record.gpus - reserved, record.absences),
        )
        for state, cards, spans in lost:
            for span in spans:
                for number, start, end in _rows(cut, *span):
                    parts[number - first][NOBODY, state] += cards * (end - start)
        for (number, start, end), part in zip(rows, parts, strict=True):
            if reserved:
                part[NOBODY, "reserved"] += reserved * (end - start)
            leased = record.gpus * (end - start)
            idle = leased - part.total()
            if idle < 0:  # parts of a shared card, each rounded: a microsecond too much
                part[max(part, key=lambda key: part[key])] += idle
            part[NOBODY, "idle"] = max(0, idle)
            whole = {key: value for key, value in part.items() if value}
            found.append(Cell(position, record.lease, record.machine, number, start, end, leased, whole))
    return found


def _rows(cut: Sequence[Micros], start_us: Micros, end_us: Micros) -> list[tuple[int, Micros, Micros]]:
    """The periods that a span of time touches, each with the part of the span in it."""
    rows: list[tuple[int, Micros, Micros]] = []
    number = max(0, bisect_right(cut, start_us) - 1)
    at_us = start_us
    while at_us < end_us:
        until = min(end_us, cut[number + 1]) if number + 1 < len(cut) else end_us
        rows.append((number, at_us, until))
        at_us, number = until, number + 1
    return rows


@dataclass(frozen=True, slots=True)
class _Stay:
    """The cards of one stay on one machine."""

    job: int
    again: bool
    """Whether the job had been on cards before."""
    cards: int
    held: Held
    """Of each card."""
    start_us: Micros
    works_us: Micros
    """When start-up is over."""
    loses_us: Micros
    """From here on its work is lost."""
    end_us: Micros
    checkpoint: Micros
    """Card-time of checkpoints."""
    kept: Micros
    """Card-time of work that was kept to the end of the run."""

    def add(self, parts: Counter[Part], start: Micros, end: Micros) -> None:
        """Add what happened from `start` to `end` of the stay."""
        before, after = self._until(start), self._until(end)
        for state, less, more in zip(_SPLIT, before, after, strict=True):
            if more > less:
                parts[self.job, "reload" if state == "startup" and self.again else state] += more - less

    def _until(self, moment: Micros) -> tuple[Micros, Micros, Micros, Micros]:
        """Card-time of start-up, checkpoints, work kept and work lost up to a moment."""
        startup = self._all(min(moment, self.works_us))
        works = self._all(self.works_us)
        rest = self._all(min(moment, self.loses_us)) - startup if moment > self.works_us else 0
        length = self._all(self.loses_us) - works
        checkpoint = self.checkpoint * rest // length if length else 0
        kept = min(rest - checkpoint, self.kept)
        return startup, checkpoint, kept, self._all(moment) - startup - checkpoint - kept

    def _all(self, moment: Micros) -> Micros:
        return self.cards * self.held.until(moment)


_SPLIT: tuple[State, ...] = ("startup", "checkpoint", "useful", "lost")


def _by_record(log: RunLog) -> dict[int, list[_Stay]]:
    """The stays on each record's machine, by its position in `log.leases`."""
    records: dict[Where, list[tuple[Micros, int]]] = defaultdict(list)
    sizes: dict[tuple[str, bool], int] = {}
    for position, record in enumerate(log.leases):
        records[where(record)].append((record.start_us, position))
        sizes[record.offer, record.lease < 0] = record.gpus
    for found in records.values():
        found.sort()
    stays: dict[int, list[_Stay]] = defaultdict(list)
    seen: set[int] = set()
    attempts = list(log.attempts)
    for stay, held, voided in zip(attempts, held_of(attempts), _voided(attempts), strict=True):
        again = stay.job in seen
        seen.add(stay.job)
        machines = Counter(card // sizes[stay.offer, stay.burst] for card in stay.cards)
        for machine, part in _split(stay, held, voided, again, machines):
            rented = records[stay.offer, stay.burst, machine]
            number = max(0, bisect_right(rented, (stay.start_us, len(log.leases))) - 1)
            stays[rented[number][1]].append(part)
    return stays


def _split(
    stay: Attempt, held: Held, voided: Micros, again: bool, machines: Counter[int]
) -> Iterator[tuple[int, _Stay]]:
    """A stay machine by machine; work destroyed later is divided like the cards, to the microsecond."""
    count, before = len(stay.cards), 0
    works_us = stay.start_us + stay.startup_us
    loses_us = stay.end_us - stay.lost_us
    work = held.until(loses_us) - held.until(works_us)
    length = loses_us - works_us
    checkpoint = work * stay.checkpoint_us // length if length else 0
    for machine, cards in sorted(machines.items()):
        void = voided * (before + cards) // count - voided * before // count
        before += cards
        yield (
            machine,
            _Stay(
                job=stay.job,
                again=again,
                cards=cards,
                held=held,
                start_us=stay.start_us,
                works_us=works_us,
                loses_us=loses_us,
                end_us=stay.end_us,
                checkpoint=cards * checkpoint,
                kept=max(0, cards * (work - checkpoint) - void),
            ),
        )


def _voided(attempts: Sequence[Attempt]) -> list[Micros]:
    """Card-time of each stay's work that the end of a later stay of the same job destroyed."""
    voided = [0] * len(attempts)
    earlier: dict[int, list[int]] = defaultdict(list)
    for position, stay in enumerate(attempts):
        left = stay.voided_card_us
        # Its own work last: a disk that is lost while the job waits takes that too.
        for before in (*reversed(earlier[stay.job]), position) if left else ():
            one = attempts[before]
            kept = int(one.work_us * len(one.cards) * one.share) - voided[before]
            taken = min(kept, left)
            voided[before] += taken
            left -= taken
            if not left:
                break
        earlier[stay.job].append(position)
    return voided
