"""Waiting jobs of one shape: the first, in order of submission, that is short enough.

Jobs have places in order of submission (`turn`). A tree holds a length a place and, level by level above it,
the least of every 16 below, so that a change or a search costs a few steps however long the queue.
"""

from __future__ import annotations

from bisect import bisect_left

from sim.engine.execution import Run
from sim.engine.stay import turn
from sim.units import Micros

__all__ = ["NEVER", "ShapeQueue"]

NEVER = 1 << 62
"""A length that is longer than any."""
_FAN = 16
_STEPS = (_FAN**3, _FAN**2, _FAN)
"""Places under one entry of the levels above the lowest, widest first."""


class ShapeQueue:
    """The waiting jobs of one shape."""

    def __init__(self) -> None:
        self.waiting = 0
        self._turns: list[int] = []
        self._runs: list[Run | None] = []
        self._lengths: list[Micros] = []
        self._above: list[list[Micros]] = [[] for _ in _STEPS]

    def add(self, run: Run, length_us: Micros) -> None:
        """Add a job; one that was here before takes its old place."""
        mine, turns = turn(run), self._turns
        place = bisect_left(turns, mine)
        if place == len(turns):
            self._add_place(mine)
        elif turns[place] != mine:  # rare: submitted again in the instant of another
            self._make_place(place, mine)
        self._runs[place] = run
        self.waiting += 1
        self._set(place, length_us)

    def _add_place(self, mine: int) -> None:
        place = len(self._turns)
        self._turns.append(mine)
        self._runs.append(None)
        self._lengths.append(NEVER)
        for level, step in zip(self._above, _STEPS, strict=True):
            if place % step == 0:
                level.append(NEVER)

    def _make_place(self, place: int, mine: int) -> None:
        """All behind it move on by one."""
        self._add_place(mine)
        self._turns.insert(place, self._turns.pop())
        self._runs.insert(place, self._runs.pop())
        self._lengths.insert(place, self._lengths.pop())
        for near in range(place, len(self._lengths), _FAN):
            self._set(near, self._lengths[near])
        self._set(len(self._lengths) - 1, self._lengths[-1])

    def drop(self, run: Run) -> None:
        """Take a job out; its place stays."""
        place = bisect_left(self._turns, turn(run))
        self._runs[place] = None
        self.waiting -= 1
        self._set(place, NEVER)

    def first(self, at_most_us: Micros, after: int = -1) -> Run | None:
        """The first job with a turn above `after` that is expected to run at most so long."""
        place, end = bisect_left(self._turns, after + 1), len(self._turns)
        lengths = self._lengths
        while place < end:
            for level, step in zip(self._above, _STEPS, strict=True):
                if place % step == 0 and level[place // step] > at_most_us:
                    place += step
                    break
            else:
                # No wider step is possible: look at the single places up to the next block.
                for near in range(place, min(end, place - place % _FAN + _FAN)):
                    if lengths[near] <= at_most_us:
                        return self._runs[near]
                place += _FAN - place % _FAN
        return None

    def all(self) -> list[Run]:
        """The waiting jobs of this shape, in order."""
        return [run for run in self._runs if run is not None]

    def _set(self, place: int, length_us: Micros) -> None:
        below = self._lengths
        below[place] = length_us
        for level in reversed(self._above):
            place //= _FAN
            level[place] = min(below[place * _FAN : (place + 1) * _FAN])
            below = level
