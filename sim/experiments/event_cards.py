"""The states of cards, worked out from a run's records: leased, free, busy, down, returned.

The engine keeps card-time alone, not the times at which a card breaks and is mended; they follow
from the failures. A machine that is replaced takes its broken cards along, so its repair mends them
too; a card that a job holds is busy, broken or not, until the job leaves it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter

import numpy as np

from sim.experiments.event_jobs import Stays, pool_key
from sim.experiments.event_rows import Flags, Ints, Part, Texts, ints
from sim.model.failures import KINDS
from sim.model.records import FailureRecord, LeaseRecord, RunLog
from sim.units import Micros

__all__ = ["card_rows"]

RETURNED, LEASED, BUSY, DOWN, AWAY, RESERVED = range(6)
"""What a stretch of a card's time is, in the order of one instant; the first two have no length."""

COLUMNS = ("card", "start", "end", "what", "about")
"""Of `_Stretches`."""


class _Cards:
    """Numbers for all cards of all pools, pool after pool."""

    def __init__(self, log: RunLog, pools: Texts) -> None:
        self.pool = pools.codes(pool_key(m.offer, burst=m.lease < 0) for m in log.leases)
        """Of each lease of a machine."""
        self.size = np.ones(len(pools.all), dtype=np.int64)
        machines = np.zeros(len(pools.all), dtype=np.int64)
        self.size[self.pool] = ints(m.gpus for m in log.leases)
        np.maximum.at(machines, self.pool, ints(m.machine + 1 for m in log.leases))
        self.first = np.concatenate([[0], np.cumsum(machines * self.size)])
        """Number of the first card of each pool; at the end the number of cards."""

    def of_machine(self, pool: int, machine: int) -> range:
        """The numbers of a machine's cards."""
        size = int(self.size[pool])
        first = int(self.first[pool]) + machine * size
        return range(first, first + size)


@dataclass(slots=True)
class _Stretches:
    """Stretches of time of cards as columns, in the order of card and time."""

    card: Ints
    start: Ints
    end: Ints
    what: Ints
    about: Ints
    """The lease, the stay on cards or the text of the cause."""

    def sort(self) -> None:
        """Put each card's stretches in order of time."""
        order = np.lexsort((self.what, self.start, self.card))
        for name in COLUMNS:
            setattr(self, name, getattr(self, name)[order])


def card_rows(log: RunLog, stays: Stays, texts: Texts, pools: Texts, first_group: int) -> list[Part]:
    """Every change of state of every card, and every failure. Groups count from `first_group`."""
    cards = _Cards(log, pools)
    held = _held(log, stays, cards)
    closed = _closed(log, cards)
    down = _down(_outages(log, cards, pools), _joined([held, closed]), texts)
    found = _joined([_lease_edges(log, cards), held, closed, down])
    # The lease of a stretch is the last one that began on its card.
    begins = np.where(found.what == LEASED, np.arange(len(found.card)), 0)
    lease = found.about[np.maximum.accumulate(begins)]
    position, machine = ints(m.lease for m in log.leases), ints(m.machine for m in log.leases)
    kept = ints(m.end_us is None for m in log.leases)[lease] == 1
    is_end = found.what == RETURNED
    gap = np.zeros(len(found.card), dtype=bool)
    gap[:-1] = (found.card[1:] == found.card[:-1]) & (found.start[1:] > found.end[:-1]) & ~is_end[:-1]

    def rows(state: str, chosen: Flags, time: Ints, after: int = 0) -> Part:
        which = np.flatnonzero(chosen)
        ours, pool, about = lease[which], cards.pool[lease[which]], found.about[which]
        return Part.of(
            state, time[which], first_group + found.card[which], 2 * which + after,
            pool=pool, lease=position[ours], machine=machine[ours],
            card=found.card[which] - cards.first[pool],
            job=stays.job[about] if state == "busy" else -1,
            stay=about if state == "busy" else -1,
            cause=about if state == "down" else -1,
        )  # fmt: skip

    return [
        rows("leased", found.what == LEASED, found.start),
        rows("returned", is_end & ~kept, found.start),
        rows("kept", is_end & kept, found.start),
        rows("busy", found.what == BUSY, found.start),
        rows("down", found.what == DOWN, found.start),
        rows("away", found.what == AWAY, found.start),
        rows("reserved", found.what == RESERVED, found.start),
        rows("free", gap, found.end, after=1),
        _failure_rows(log, texts, pools, first_group + int(cards.first[-1])),
    ]


def _failure_rows(log: RunLog, texts: Texts, pools: Texts, first_group: int) -> Part:
    """One row a failure, each in a group of its own."""
    failures = log.failures
    at = ints(failure.at_us for failure in failures)
    return Part.of(
        "broken", at, first_group + np.arange(len(at)), 0,
        pool=pools.codes(pool_key(f.offer, burst=f.burst) for f in failures),
        machine=ints(failure.machine for failure in failures),
        card=ints(-1 if failure.card is None else failure.card for failure in failures),
        cause=texts.codes(failure.kind for failure in failures), stay=np.arange(len(at)),
    )  # fmt: skip


def _lease_edges(log: RunLog, cards: _Cards) -> _Stretches:
    """Begin and end of each card's lease, the end cut at the horizon."""
    sizes = cards.size[cards.pool]
    lease = np.repeat(np.arange(len(log.leases)), sizes)
    first = cards.first[cards.pool] + ints(m.machine for m in log.leases) * sizes
    inside = np.arange(len(lease)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    card = first[lease] + inside
    start = ints(m.start_us for m in log.leases)[lease]
    end = ints(_end(m, log) for m in log.leases)[lease]
    times = np.concatenate([start, end])
    what = np.repeat(np.array([LEASED, RETURNED]), len(lease))
    return _Stretches(np.tile(card, 2), times, times, what, np.tile(lease, 2))


def _held(log: RunLog, stays: Stays, cards: _Cards) -> _Stretches:
    """The stays of jobs, card by card; a stay of no length is none of a card's states."""
    sizes = ints(len(stay.cards) for stay in log.attempts)
    stay = np.repeat(np.arange(stays.count), sizes)
    card = ints(chain.from_iterable(stay.cards for stay in log.attempts)) + cards.first[stays.pool[stay]]
    lasting = stays.end[stay] > stays.start[stay]
    stay, card = stay[lasting], card[lasting]
    what = np.full(len(stay), BUSY)
    found = _Stretches(card, stays.start[stay], stays.end[stay], what, stay)
    found.sort()
    return _one_after_another(found) if any(one.card_us is not None for one in log.attempts) else found


def _one_after_another(held: _Stretches) -> _Stretches:
    """Of cards that jobs share: a stretch for each job that comes, named by it until the next change.

    When a job leaves others behind, the stretch after it is named by the last of those that came.
    """
    rows: list[tuple[int, Micros, Micros, int, int]] = []
    order = zip(held.card.tolist(), held.start.tolist(), held.end.tolist(), held.about.tolist(), strict=True)
    for card, own in groupby(order, key=itemgetter(0)):
        there: list[tuple[Micros, int]] = []
        """End and number of the stays on the card, in the order in which they came."""
        since: Micros = 0
        for _, start, end, stay in [*own, (card, None, 0, -1)]:
            while there and (start is None or min(there)[0] <= start):
                leaves = min(there)[0]
                rows.append((card, since, leaves, BUSY, there[-1][1]))
                there, since = [one for one in there if one[0] > leaves], leaves
            if start is not None:
                if there:
                    rows.append((card, since, start, BUSY, there[-1][1]))
                there.append((end, stay))
                since = start
    return _table(rows)


def _closed(log: RunLog, cards: _Cards) -> _Stretches:
    """When cards are leased and jobs may not use them: outside of windows, and the last ones if reserved."""
    found: list[tuple[int, Micros, Micros, int, int]] = []
    for pool, lease in zip(cards.pool.tolist(), log.leases, strict=True):
        if not (lease.absences or lease.reserved_card_us):
            continue
        end_us = _end(lease, log)
        reserved = lease.reserved_card_us // (end_us - lease.start_us)
        numbers = cards.of_machine(pool, lease.machine)
        usable = numbers[: len(numbers) - reserved]
        found += [(card, start, end, AWAY, -1) for card in usable for start, end in lease.absences]
        found += [(card, lease.start_us, end_us, RESERVED, -1) for card in numbers[len(usable) :]]
    return _table(found)


def _table(found: Sequence[tuple[int, Micros, Micros, int, int]]) -> _Stretches:
    return _Stretches(*np.array(found, dtype=np.int64).reshape(len(found), 5).T)


def _down(outages: Iterator[_Outage], taken: _Stretches, texts: Texts) -> _Stretches:
    """What is left of the outages without the time in which a job holds the card, or could not have it."""
    found: list[tuple[int, Micros, Micros, int, int]] = []
    for outage in outages:
        first, last = np.searchsorted(taken.card, [outage.card, outage.card + 1])
        at_us, place = outage.at_us, int(np.searchsorted(taken.start[first:last], outage.at_us) + first)
        if place > first:
            at_us = max(at_us, int(taken.end[place - 1]))
        cause = texts.code(outage.kind)
        while at_us < outage.back_us:
            more = place < last and taken.start[place] < outage.back_us
            until = int(taken.start[place]) if more else outage.back_us
            if until > at_us:
                found.append((outage.card, at_us, until, DOWN, cause))
            at_us = int(taken.end[place]) if more else until
            place += 1
    return _table(found)


@dataclass(slots=True)
class _Outage:
    """A card out of order, whether or not a job still holds it."""

    card: int
    at_us: Micros
    back_us: Micros
    kind: str


def _outages(log: RunLog, cards: _Cards, pools: Texts) -> Iterator[_Outage]:
    """The outages of every card, within its leases; those that overlap are one, named by the first."""
    hits: dict[tuple[int, int], list[FailureRecord]] = defaultdict(list)
    for failure in log.failures:
        hits[pools.code(pool_key(failure.offer, burst=failure.burst)), failure.machine].append(failure)
    leases: dict[tuple[int, int], list[LeaseRecord]] = defaultdict(list)
    for pool, lease in zip(cards.pool.tolist(), log.leases, strict=True):
        if (pool, lease.machine) in hits:
            leases[pool, lease.machine].append(lease)
    for place, failures in hits.items():
        rented = sorted(leases[place], key=lambda lease: lease.start_us)
        of_card = _of_machine(failures, rented, cards.of_machine(*place), int(cards.first[place[0]]), log)
        for outages in of_card.values():
            yield from _merged(outages)


def _of_machine(
    failures: Sequence[FailureRecord], rented: Sequence[LeaseRecord], numbers: range, first: int, log: RunLog
) -> dict[int, list[_Outage]]:
    """The outages of each card of one machine, as they happened; each ends with its lease at the latest."""
    of_card: dict[int, list[_Outage]] = {card: [] for card in numbers}
    starts = [lease.start_us for lease in rented]
    own: dict[int, _Outage] = {}
    """The newest failure of each card alone."""
    for failure in failures:
        lease = rented[bisect_left(starts, failure.at_us) - 1]
        back_us = min(failure.back_us, _end(lease, log))
        if failure.card is not None:
            card = first + failure.card
            own[card] = _Outage(card, failure.at_us, back_us, failure.kind)
            of_card[card].append(own[card])
            continue
        # A card's failure that brings the whole machine down is one that a reset could not mend.
        moves = KINDS[failure.kind].moves or KINDS[failure.kind].hits == "card"
        for card in numbers:
            if moves and card in own:
                own[card].back_us = min(own[card].back_us, back_us)
            of_card[card].append(_Outage(card, failure.at_us, back_us, failure.kind))
    return of_card


def _merged(outages: Sequence[_Outage]) -> Iterator[_Outage]:
    current: _Outage | None = None
    for outage in outages:
        if current is not None and outage.at_us < current.back_us:
            current.back_us = max(current.back_us, outage.back_us)
            continue
        if current is not None:
            yield current
        current = outage
    if current is not None:
        yield current


def _end(lease: LeaseRecord, log: RunLog) -> Micros:
    return log.horizon_us if lease.end_us is None else min(lease.end_us, log.horizon_us)


def _joined(parts: Sequence[_Stretches]) -> _Stretches:
    found = _Stretches(*(np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS))
    found.sort()
    return found
