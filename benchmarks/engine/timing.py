"""CPU time in rounds: all contenders of a row take turns, and the bare SimPy timeout runs between them.

Absolute times swing by a factor of two or three on shared machines, ratios of neighbours in time do not.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import simpy

__all__ = ["FLOOR", "Contender", "Effort", "Samples", "cpu_seconds", "per_job", "take_turns", "timeout_us"]

FLOOR = "timeout"
PENDING = 1_000

Contender = Callable[[], float]
"""One try; returns CPU microseconds a job."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How large the rows are, and how often each is run."""

    divide: int
    """Jobs of the full size over jobs of this one."""
    rounds: int
    verdict: bool
    """Whether the sizes are those of the targets."""
    timeouts: int = 200_000

    def jobs(self, full: int) -> int:
        """Jobs of a row that has `full` at full size."""
        return max(full // self.divide, min(full, 200))


@dataclass(frozen=True, slots=True)
class Samples:
    """Microseconds a job of each contender, round by round."""

    us: Mapping[str, Sequence[float]]

    def median_us(self, name: str) -> float:
        """Median over the rounds."""
        return statistics.median(self.us[name])

    def ratios(self, name: str, base: str) -> list[float]:
        """One ratio a round."""
        return [own / other for own, other in zip(self.us[name], self.us[base], strict=True)]


def cpu_seconds(task: Callable[[], object]) -> float:
    """CPU seconds of one call; nothing made before it costs its garbage collector anything."""
    gc.collect()
    gc.freeze()
    try:
        began = time.process_time()
        kept = task()
        seconds = time.process_time() - began
        del kept
    finally:
        gc.unfreeze()
    return seconds


def per_job(task: Callable[[], object], jobs: int, repeat: int = 1) -> Contender:
    """A contender that does `task` for so many jobs; short ones are repeated within a round."""

    def once() -> float:
        return sum(cpu_seconds(task) for _ in range(repeat)) / (jobs * repeat) * 1e6

    return once


def timeout_us(timeouts: int) -> float:
    """CPU microseconds of one bare SimPy timeout while 1,000 processes are pending."""
    env = simpy.Environment()
    each = max(1, timeouts // PENDING)
    delays = np.random.default_rng(0).integers(1, 10**9, (PENDING, each)).tolist()

    def wait(times: list[int]) -> Iterator[simpy.Event]:
        for delay in times:
            yield env.timeout(delay)

    for times in delays:
        env.process(wait(times))  # type: ignore[arg-type]
    return cpu_seconds(env.run) / (each * PENDING) * 1e6


def take_turns(contenders: Mapping[str, Contender], effort: Effort) -> Samples:
    """All contenders in turn, `effort.rounds` times, with the timeout before, between and after them."""
    us: dict[str, list[float]] = {name: [] for name in (FLOOR, *contenders)}
    for _ in range(effort.rounds):
        floors = [timeout_us(effort.timeouts)]
        for name, contender in contenders.items():
            us[name].append(contender())
            floors.append(timeout_us(effort.timeouts))
        us[FLOOR].append(statistics.mean(floors))
    return Samples(us)
