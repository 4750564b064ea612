"""The planned future of a pool: who holds how many cards of which machine from when to when.

Holds are those of running jobs, to their expected ends, and of waiting jobs with a reservation.
A hold ends with the lease or window in which it begins: what runs then is interrupted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterator, Mapping, Sequence

from sim.units import Micros

__all__ = ["NEVER", "Parts", "Timeline", "Windows"]

NEVER: Micros = 1 << 62
Parts = tuple[tuple[int, int], ...]
"""(Machine, cards of it), by ordinal."""
Windows = Sequence[tuple[Micros, Micros]]
"""Times in which jobs may use a machine, in order, half-open."""


class Timeline:
    """Machines of one pool, by ordinal."""

    def __init__(self, windows: Sequence[Windows], cards: Sequence[int]) -> None:
        self._windows = windows
        self._cards = cards
        """Cards of each machine in working order, whenever it may be used."""
        self._times: list[list[Micros]] = [[0] for _ in cards]
        """For each machine the instants from which on the next number of its cards is free, windows apart."""
        self._free: list[list[int]] = [[count] for count in cards]
        self._holds: dict[int, tuple[Micros, Micros, Parts]] = {}
        self._total: list[tuple[Micros, int]] = []
        """Instant and number of cards of all machines together that become free (or, below 0, are taken)
        then, with windows that open and close."""
        for spans, count in zip(windows, cards, strict=True):
            self._total += [(opens, count) for opens, _ in spans]
            self._total += [(closes, -count) for _, closes in spans if closes < NEVER]
        self._total.sort()
        self._steps: tuple[list[Micros], list[int]] | None = None
        """The same as instants and numbers free from then on; None: to be made anew."""
        self._closes = any(cards < 0 for _, cards in self._total)

    def hold(self, job: int, start_us: Micros, end_us: Micros, parts: Parts) -> None:
        """A job holds cards of these machines."""
        self._holds[job] = (start_us, end_us, parts)
        for machine, count in parts:
            until_us = self._until(machine, start_us, end_us)
            self._add(machine, start_us, until_us, -count)
            insort(self._total, (start_us, -count))
            insort(self._total, (until_us, count))

    def release(self, job: int) -> tuple[Micros, Parts]:
        """It holds them no longer; returns when it was expected to end, and what it held."""
        start_us, end_us, parts = self._holds.pop(job)
        for machine, count in parts:
            until_us = self._until(machine, start_us, end_us)
            self._add(machine, start_us, until_us, count)
            del self._total[bisect_left(self._total, (start_us, -count))]
            del self._total[bisect_left(self._total, (until_us, count))]
        return end_us, parts

    def _add(self, machine: int, start_us: Micros, end_us: Micros, count: int) -> None:
        """So many more cards of a machine are free between two instants."""
        self._steps = None
        times, free = self._times[machine], self._free[machine]
        first, last = _cut(times, free, start_us), _cut(times, free, end_us)
        for place in range(first, last):
            free[place] += count
        for place in (last, first):  # an instant at which nothing changes is none
            if 0 < place < len(free) and free[place] == free[place - 1]:
                del times[place], free[place]

    def on_one_machine(
        self,
        count: int,
        length_us: Micros,
        now: Micros,
        before: Micros,
        *,
        emptiest: bool,
        among: Collection[int] | None = None,
    ) -> tuple[Micros, Parts] | None:
        """The earliest start before an instant of a job on one machine, and the machine.

        `among`: only these machines are looked at. Of machines that are free at the same time, the
        one with the fewest (or most) cards free all through, then the lowest.
        """
        best: tuple[Micros, int, int] | None = None
        for machine in range(len(self._cards)) if among is None else sorted(among):
            start_us = self._first(machine, count, length_us, now, before)
            if start_us is not None:
                free = self._least_free(machine, start_us, length_us)
                found = (start_us, -free if emptiest else free, machine)
                if best is None or found < best:
                    best, before = found, start_us + 1
        return None if best is None else (best[0], ((best[2], count),))

    def over_several(
        self, count: int, length_us: Micros, now: Micros, before: Micros, *, fill_gaps: bool
    ) -> tuple[Micros, Parts] | None:
        """The same for a job over several machines: those with the most (or fewest) free cards first."""
        for start_us in self._instants(count, length_us, now, before):
            free = [
                (cards if fill_gaps else -cards, machine, cards)
                for machine in range(len(self._cards))
                if (cards := self._least_free(machine, start_us, length_us)) > 0
            ]
            if sum(cards for _, _, cards in free) < count:
                continue
            parts: list[tuple[int, int]] = []
            for _, machine, cards in sorted(free):
                taken = min(cards, count)
                parts.append((machine, taken))
                count -= taken
                if count == 0:
                    break
            return start_us, tuple(parts)
        return None

    def sooner_on_one(
        self,
        count: int,
        length_us: Micros,
        now: Micros,
        before: Micros,
        until: Mapping[int, Micros],
        own: Parts,
    ) -> bool:
        """Whether a job with a hold (`own`) from an instant on could start before it on one machine.

        `until`: machines on which cards have become free, and the end of that time. It starts before
        that end: else there is nothing new. Where its own cards are, it needs others only up to the
        instant.
        """
        mine = {machine for machine, cards in own if cards >= count}
        return any(
            self._first(
                machine, count, length_us, now, min(before, until_us), before if machine in mine else NEVER
            )
            is not None
            for machine, until_us in until.items()
        )

    def sooner_over_several(
        self,
        count: int,
        length_us: Micros,
        now: Micros,
        before: Micros,
        until: Mapping[int, Micros],
        own: Parts,
    ) -> bool:
        """The same for a job over several machines."""
        if self._closes:
            return True  # a run may be cut short by a window that closes
        mine = dict(own)
        latest = min(before, max(until.values()))
        for start_us in self._instants(count, length_us, now, latest, before):
            free = 0
            for machine in range(len(self._cards)):
                free += self._least_free(machine, start_us, length_us, before, mine.get(machine, 0))
                if free >= count:
                    return True
        return False

    # --- one machine ------------------------------------------------------------------------

    def _until(self, machine: int, start_us: Micros, end_us: Micros) -> Micros:
        """The end of a hold, or of the window in which it begins."""
        windows = self._windows[machine]
        i = bisect_right(windows, (start_us, NEVER)) - 1
        return min(end_us, windows[i][1]) if i >= 0 and start_us < windows[i][1] else end_us

    def _first(
        self,
        machine: int,
        count: int,
        length_us: Micros,
        now: Micros,
        before: Micros,
        until_us: Micros = NEVER,
    ) -> Micros | None:
        """The earliest start on a machine; the end of a window ends a run, but does not forbid it.

        From `until_us` on there are cards enough.
        """
        if count > self._cards[machine]:
            return None
        for opens, closes in self._windows[machine]:
            at_us = max(opens, now)
            if at_us >= before:
                return None
            if at_us < closes:
                start_us = self._first_in(machine, count, length_us, at_us, before, min(closes, until_us))
                if start_us is not None:
                    return start_us
        return None

    def _first_in(
        self, machine: int, count: int, length_us: Micros, at_us: Micros, before: Micros, end_us: Micros
    ) -> Micros | None:
        """The same between two instants; it may run past the second."""
        times, free = self._times[machine], self._free[machine]
        after = bisect_right(times, at_us)
        start_us = at_us if free[after - 1] >= count else None
        for place in range(after, len(times)):
            at_us = times[place]
            if at_us >= end_us:
                break
            if start_us is None:
                if at_us >= before:
                    return None
                if free[place] >= count:
                    start_us = at_us
            elif at_us >= start_us + length_us:
                break
            elif free[place] < count:
                start_us = None
        return start_us

    def _least_free(
        self, machine: int, start_us: Micros, length_us: Micros, from_us: Micros = NEVER, own: int = 0
    ) -> int:
        """Cards free on a machine all through a run that starts then; 0 outside its windows.

        `own`: so many more from an instant on.
        """
        windows = self._windows[machine]
        w = bisect_right(windows, (start_us, NEVER)) - 1
        if w < 0 or start_us >= windows[w][1]:
            return 0
        end_us = min(start_us + length_us, windows[w][1])
        times, free = self._times[machine], self._free[machine]
        first = bisect_right(times, start_us) - 1
        last = max(first + 1, bisect_left(times, end_us))
        if not own or end_us <= from_us:
            return min(free[first:last])
        alone = min(free[first : max(first + 1, bisect_left(times, from_us))])
        return min(alone, own + min(free[max(first, bisect_right(times, from_us) - 1) : last]))

    def _instants(
        self, count: int, length_us: Micros, now: Micros, before: Micros, until_us: Micros = NEVER
    ) -> Iterator[Micros]:
        """Instants from now on at which cards become free and the pool as a whole has enough of them.

        Where no window closes, it must have enough all through the run, or up to `until_us`.
        """
        if self._steps is None:
            self._steps = _steps(self._total)
        times, totals = self._steps
        if now >= before:
            return
        short = -1  # the last instant known to have too few
        for k in range(max(0, bisect_right(times, now) - 1), bisect_left(times, before)):
            if totals[k] < count or k < short:
                continue
            start_us = max(now, times[k])
            if not self._closes:
                end = bisect_left(times, min(start_us + length_us, until_us))
                short = next((j for j in range(end - 1, k, -1) if totals[j] < count), -1)
                if short > k:
                    continue
            yield start_us


def _cut(times: list[Micros], free: list[int], at_us: Micros) -> int:
    """The place of an instant among those at which something may change."""
    place = bisect_left(times, at_us)
    if place == len(times) or times[place] != at_us:
        times.insert(place, at_us)
        free.insert(place, free[place - 1])
    return place


def _steps(changes: Sequence[tuple[Micros, int]]) -> tuple[list[Micros], list[int]]:
    """Instants of changes, and the sum of all changes up to each."""
    times: list[Micros] = []
    totals: list[int] = []
    total = 0
    for at_us, change in changes:
        total += change
        if times and times[-1] == at_us:
            totals[-1] = total
        else:
            times.append(at_us)
            totals.append(total)
    return times, totals
