"""Jobs that are submitted when another job has ended: what is drawn of them, and what became of it."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.units import Micros

__all__ = ["Chains", "Hours", "Submissions"]

Ints = npt.NDArray[np.int64]
_NEVER: Micros = 1 << 61


class Hours:
    """Open times, and the time that passes in them alone."""

    def __init__(self, times: Sequence[tuple[Micros, Micros]]) -> None:
        """`times`: half-open, in order, none touching the next."""
        pairs = np.array(times or [(_NEVER, _NEVER)], dtype=np.int64)
        self._begins, self._ends = pairs[:, 0], pairs[:, 1]
        self._passed = np.concatenate(([0], np.cumsum(self._ends - self._begins)))
        """Open time before each opening, and in all."""

    @property
    def total_us(self) -> Micros:
        """Open time in all."""
        return int(self._passed[-1])

    def open_until(self, at_us: Any) -> Ints:
        """Open time from the start to an instant, or to each of several."""
        place = np.searchsorted(self._begins, at_us, side="right") - 1
        inside = np.minimum(at_us, self._ends[place]) - self._begins[place]
        return np.where(place < 0, 0, self._passed[place] + inside)

    def when(self, open_us: Any, never_us: Micros) -> Ints:
        """First open instant before which so much open time has passed; `never_us` if there is none."""
        place = np.searchsorted(self._passed[1:], open_us, side="right")
        known = np.minimum(place, len(self._begins) - 1)
        found = self._begins[known] + (open_us - self._passed[known])
        return np.where(place < len(self._begins), found, never_us)

    def later(self, at_us: Micros, open_us: Micros, never_us: Micros) -> Micros:
        """The open instant that lies so much open time after an instant; `never_us` if there is none."""
        return int(self.when(self.open_until(at_us) + open_us, never_us))


@dataclass(frozen=True, slots=True)
class Chains:
    """Which jobs of a `JobSet` follow which. Arrays have one entry a job."""

    first: int
    """Ids from here on are submitted when another job has ended; those before at their own time.

    `submit_us` of the former is the earliest possible: when no run takes any time."""
    following: npt.NDArray[np.int32]
    """The job that is submitted when this one has ended, however it ended; -1: none."""
    think_us: Ints
    """Time from its end to that submission."""
    hours: Mapping[int, Hours]
    """By shape: when that time passes; others always."""

    def release_us(self, job: int, shape: int, end_us: Micros, never_us: Micros) -> Micros:
        """When the job after this one is submitted; `never_us` or later: it is not."""
        think = int(self.think_us[job])
        hours = self.hours.get(shape)
        return end_us + think if hours is None else hours.later(end_us, think, never_us)


@dataclass(frozen=True, slots=True)
class Submissions:
    """The jobs of a run with chains, in order of submission: that is what its log counts them by."""

    jobs: array[int]
    """Ids as drawn."""
    at_us: array[int]
