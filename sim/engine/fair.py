"""Fair share: teams take turns, the one with the least recent use of cards first."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

from sim.decisions.policies import least_used
from sim.engine.stay import Run, Stay, turn
from sim.units import Micros

__all__ = ["FairQueue"]


class _TeamUse:
    """Card-time of one team, where past use counts half after each half-life."""

    __slots__ = ("at_us", "cards", "use_card_us")

    def __init__(self) -> None:
        self.use_card_us = 0.0
        self.cards = 0
        self.at_us: Micros = 0

    def advance(self, now: Micros, rate: float) -> float:
        """The use as of now; `rate` is the decay per microsecond."""
        passed = (now - self.at_us) * rate
        if passed:
            self.use_card_us = self.use_card_us * math.exp(-passed) - self.cards / rate * math.expm1(-passed)
            self.at_us = now
        return self.use_card_us


class FairQueue:
    """One heap a team; the team with the least decayed use goes first, and its first job holds all."""

    def __init__(self, half_life_us: Micros, now: Callable[[], Micros]) -> None:
        self._rate = math.log(2) / half_life_us
        self._now = now
        self.dirty = True
        self._heaps: dict[str, list[tuple[int, Run]]] = {}
        self._uses: dict[str, _TeamUse] = {}
        self.waiting = 0

    def push(self, run: Run) -> bool:
        """Add a job. Which team is first changes with time, so a decision is always due."""
        heapq.heappush(self._heaps.setdefault(run.job.team, []), (turn(run), run))
        self.waiting += 1
        return True

    def start_what_fits(self, try_start: Callable[[Run], bool]) -> None:
        """Offer the first job of the least used team until one is blocked."""
        now = self._now()
        used = {team: self._use(team).advance(now, self._rate) for team, heap in self._heaps.items() if heap}
        heads = [(least_used(use, self._heaps[team][0][0]), team) for team, use in used.items()]
        heapq.heapify(heads)
        while heads:
            team = heads[0][1]
            heap = self._heaps[team]
            if not try_start(heap[0][1]):
                return
            heapq.heappop(heap)
            self.waiting -= 1
            if heap:
                heapq.heapreplace(heads, (least_used(used[team], heap[0][0]), team))
            else:
                heapq.heappop(heads)

    def remove(self, unwanted: Callable[[Run], bool]) -> list[Run]:
        """Take out all jobs of which `unwanted` holds (rare: a lease has ended)."""
        removed = [run for heap in self._heaps.values() for _, run in heap if unwanted(run)]
        for team, heap in self._heaps.items():
            self._heaps[team] = [entry for entry in heap if not unwanted(entry[1])]
            heapq.heapify(self._heaps[team])
        self.waiting -= len(removed)
        return sorted(removed, key=lambda run: run.job.id)

    def started(self, stay: Stay) -> None:
        """A job has got cards now."""
        self._hold(stay, len(stay.cards))

    def left(self, stay: Stay) -> None:
        """A job has left its cards now."""
        self._hold(stay, -len(stay.cards))

    def _hold(self, stay: Stay, cards: int) -> None:
        use = self._use(stay.run.job.team)
        use.advance(self._now(), self._rate)
        use.cards += cards

    def _use(self, team: str) -> _TeamUse:
        return self._uses.setdefault(team, _TeamUse())
