"""Waiting jobs of one shape: the first, in order of submission, that is short enough.

Jobs have places in order of their ids. A tree holds a length a place and, level by level above it,
the least of every 16 below, so that a change or a search costs a few steps however long the queue.
"""

from __future__ import annotations

from bisect import bisect_left

from sim.engine.execution import Run
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
        self._jobs: list[int] = []
        self._runs: list[Run | None] = []
        self._lengths: list[Micros] = []
        self._above: list[list[Micros]] = [[] for _ in _STEPS]

    def add(self, run: Run, length_us: Micros) -> None:
        """Add a job; one that was here before takes its old place."""
        job = run.job.id
        place = bisect_left(self._jobs, job)
        if place == len(self._jobs):
            self._jobs.append(job)
            self._runs.append(None)
            self._lengths.append(NEVER)
            for level, step in zip(self._above, _STEPS, strict=True):
                if place % step == 0:
                    level.append(NEVER)
        self._runs[place] = run
        self.waiting += 1
        self._set(place, length_us)

    def drop(self, run: Run) -> None:
        """Take a job out; its place stays."""
        place = bisect_left(self._jobs, run.job.id)
        self._runs[place] = None
        self.waiting -= 1
        self._set(place, NEVER)

    def first(self, at_most_us: Micros, after: int = -1) -> Run | None:
        """The first job with an id above `after` that is expected to run at most so long."""
        place, end = bisect_left(self._jobs, after + 1), len(self._jobs)
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
