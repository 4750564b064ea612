"""How the time of a card is shared out among the jobs on it, from the records of a run.

The record of a stay on a shared card says its part of the card's time as a whole. Jobs that divide a card
in time have equal parts of each moment; a job on a slice has the same part all the time. Which of the two
it is follows from the whole parts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sim.model.records import Attempt
from sim.units import Micros

__all__ = ["Held", "held_of"]


@dataclass(frozen=True, slots=True)
class Held:
    """Card-time that a stay has had of one card up to any moment: straight lines between points."""

    times: tuple[Micros, ...]
    totals: tuple[Micros, ...]

    def until(self, moment: Micros) -> Micros:
        """Card-time up to a moment, rounded down; 0 before the stay, all of it after."""
        place = bisect_right(self.times, moment) - 1
        if place < 0:
            return 0
        if place + 1 == len(self.times):
            return self.totals[-1]
        start, end = self.times[place : place + 2]
        before, after = self.totals[place : place + 2]
        return before + (after - before) * (moment - start) // (end - start)


def held_of(attempts: Sequence[Attempt]) -> list[Held]:
    """For each stay, what it had of each of its cards."""
    found = [_steady(stay) for stay in attempts]
    together: dict[tuple[str, bool, int], list[int]] = defaultdict(list)
    for position, stay in enumerate(attempts):
        if stay.card_us is not None and stay.end_us > stay.start_us:
            together[stay.offer, stay.burst, stay.cards[0]].append(position)
    for positions in together.values():
        equal = _equal({position: attempts[position] for position in positions})
        if all(abs(equal[p].totals[-1] - _whole(attempts[p])) <= len(positions) ** 2 for p in positions):
            for position in positions:
                found[position] = equal[position]
    return found


def _whole(stay: Attempt) -> Micros:
    return stay.end_us - stay.start_us if stay.card_us is None else stay.card_us


def _steady(stay: Attempt) -> Held:
    """The same part of each card all the time."""
    if stay.end_us <= stay.start_us:
        return Held((stay.start_us,), (0,))
    return Held((stay.start_us, stay.end_us), (0, _whole(stay)))


def _equal(stays: Mapping[int, Attempt]) -> dict[int, Held]:
    """Equal parts of each moment, in the order in which the stays came; what is left over to the first."""
    moments = sorted({moment for stay in stays.values() for moment in (stay.start_us, stay.end_us)})
    points: dict[int, list[tuple[Micros, Micros]]] = {
        position: [(stay.start_us, 0)] for position, stay in stays.items()
    }
    there: list[int] = []
    coming = sorted(stays, key=lambda position: (stays[position].start_us, position))
    last = moments[0]
    for moment in moments:
        each, over = divmod(moment - last, len(there)) if there else (0, 0)
        for place, position in enumerate(there):
            points[position].append((moment, points[position][-1][1] + each + (place < over)))
        there = [position for position in there if stays[position].end_us > moment]
        while coming and stays[coming[0]].start_us <= moment:
            there.append(coming.pop(0))
        last = moment
    return {
        position: Held(tuple(time for time, _ in its), tuple(total for _, total in its))
        for position, its in points.items()
    }
