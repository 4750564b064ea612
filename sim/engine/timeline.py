"""The planned future of a pool: who holds how many cards of which machine from when to when.

Holds are those of running jobs, to their expected ends, and of waiting jobs with a reservation.
A hold ends with the lease or window in which it begins: what runs then is interrupted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterator, Sequence

from sim.units import Micros

__all__ = ["NEVER", "Parts", "Timeline"]

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
        self._changes: list[list[tuple[Micros, int]]] = [[] for _ in cards]
        """Instant and number of cards that become free (or, below 0, are taken) then."""
        self._holds: dict[int, tuple[Micros, Micros, Parts]] = {}
        self._total: list[tuple[Micros, int]] = []
        """The same for all machines together, with windows that open and close."""
        for spans, count in zip(windows, cards, strict=True):
            self._total += [(opens, count) for opens, _ in spans]
            self._total += [(closes, -count) for _, closes in spans if closes < NEVER]
        self._total.sort()
        self._closes = any(cards < 0 for _, cards in self._total)
        self.gained: dict[int, Micros] = {}
        """Machines on which cards have become free, and from which instant on, for who plans to note."""

    def hold(self, job: int, start_us: Micros, end_us: Micros, parts: Parts) -> None:
        """A job holds cards of these machines."""
        self._holds[job] = (start_us, end_us, parts)
        for machine, count in parts:
            until_us = self._until(machine, start_us, end_us)
            for changes in (self._changes[machine], self._total):
                insort(changes, (start_us, -count))
                insort(changes, (until_us, count))

    def release(self, job: int) -> tuple[Micros, Parts]:
        """It holds them no longer; returns when it was expected to end, and what it held."""
        start_us, end_us, parts = self._holds.pop(job)
        for machine, count in parts:
            until_us = self._until(machine, start_us, end_us)
            for changes in (self._changes[machine], self._total):
                del changes[bisect_left(changes, (start_us, -count))]
                del changes[bisect_left(changes, (until_us, count))]
        return end_us, parts

    def gain(self, parts: Parts, from_us: Micros) -> None:
        """Note that these cards are free, which were not, from an instant on."""
        for machine, _ in parts:
            self.gained[machine] = min(from_us, self.gained.get(machine, NEVER))

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

    def has_hole(
        self, count: int, length_us: Micros, now: Micros, before: Micros, machines: Collection[int] | None
    ) -> bool:
        """Whether so many cards are free from an instant before another on, for a run or until then.

        `machines`: on one of them; None: in all. A job that is planned at the other instant can only
        move forward if it is so, and its own hold has no part in it: a look that costs little.
        """
        if self._closes:
            return True  # a run may be cut short by a window that closes
        if machines is None:
            return _hole(self._total, 0, count, length_us, now, before)
        return any(_hole(self._changes[m], self._cards[m], count, length_us, now, before) for m in machines)

    # --- one machine ------------------------------------------------------------------------

    def _until(self, machine: int, start_us: Micros, end_us: Micros) -> Micros:
        """The end of a hold, or of the window in which it begins."""
        windows = self._windows[machine]
        i = bisect_right(windows, (start_us, NEVER)) - 1
        return min(end_us, windows[i][1]) if i >= 0 and start_us < windows[i][1] else end_us

    def _first(
        self, machine: int, count: int, length_us: Micros, now: Micros, before: Micros
    ) -> Micros | None:
        """The earliest start on a machine; the end of a window ends a run, but does not forbid it."""
        if count > self._cards[machine]:
            return None
        changes = self._changes[machine]
        for opens, closes in self._windows[machine]:
            at_us = max(opens, now)
            if at_us >= closes:
                continue
            if at_us >= before:
                return None
            i, free = self._from(machine, at_us)
            start_us = at_us if free >= count else None
            while i < len(changes):
                at_us = changes[i][0]
                if at_us >= closes or (start_us is not None and at_us >= start_us + length_us):
                    break
                while i < len(changes) and changes[i][0] == at_us:
                    free += changes[i][1]
                    i += 1
                if start_us is None and at_us >= before:
                    return None
                if free < count:
                    start_us = None
                elif start_us is None:
                    start_us = at_us
            if start_us is not None:
                return start_us
        return None

    def _least_free(self, machine: int, start_us: Micros, length_us: Micros) -> int:
        """Cards free on a machine all through a run that starts then; 0 outside its windows."""
        windows = self._windows[machine]
        w = bisect_right(windows, (start_us, NEVER)) - 1
        if w < 0 or start_us >= windows[w][1]:
            return 0
        end_us = min(start_us + length_us, windows[w][1])
        changes = self._changes[machine]
        i, free = self._from(machine, start_us)
        least = free
        while i < len(changes) and (at_us := changes[i][0]) < end_us:
            while i < len(changes) and changes[i][0] == at_us:
                free += changes[i][1]
                i += 1
            least = min(least, free)
        return least

    def _from(self, machine: int, at_us: Micros) -> tuple[int, int]:
        """The first change after an instant, and the cards free on a machine from the instant on."""
        changes = self._changes[machine]
        i = bisect_right(changes, (at_us, NEVER))
        free = self._cards[machine]
        for place in range(i):
            free += changes[place][1]
        return i, free

    def _instants(self, count: int, length_us: Micros, now: Micros, before: Micros) -> Iterator[Micros]:
        """Instants from now on at which cards become free and the pool as a whole has enough of them.

        Where no window closes, it must have enough all through the run.
        """
        changes = self._total
        i = bisect_right(changes, (now, NEVER))
        # What comes later than the end of a run that starts just before is of no account.
        last = bisect_left(changes, (before if self._closes else before + length_us, 0))
        times, totals = [now], [sum(cards for _, cards in changes[:i])]
        for at_us, cards in changes[i:last]:
            if at_us == times[-1]:
                totals[-1] += cards
            else:
                times.append(at_us)
                totals.append(totals[-1] + cards)
        short = -1  # the last instant known to have too few
        for k, start_us in enumerate(times):
            if start_us >= before:
                return
            if totals[k] < count or k < short:
                continue
            if not self._closes:
                end = bisect_left(times, start_us + length_us)
                short = next((j for j in range(end - 1, k, -1) if totals[j] < count), -1)
                if short > k:
                    continue
            yield start_us


def _hole(
    changes: Sequence[tuple[Micros, int]],
    cards: int,
    count: int,
    length_us: Micros,
    now: Micros,
    before: Micros,
) -> bool:
    free, start_us, since_us = cards, NEVER, now
    for at_us, change in changes:
        if at_us > since_us:  # so many cards are free from the one instant to the other
            if free < count:
                start_us = NEVER
            elif start_us == NEVER:
                start_us = since_us
            if at_us >= before:
                return start_us < before
            if at_us >= start_us + length_us:
                return True
            since_us = at_us
        free += change
    return free >= count and since_us < before
