"""What a row of the table yields: measured lines, and those that could not be measured here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.engine.timing import Effort, Samples
from sim.model.records import RunLog

__all__ = ["Line", "Options", "Skipped", "medians", "waiting"]


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line chose."""

    effort: Effort
    accasim: str = ""
    """Interpreter of an environment with AccaSim; empty: none."""


@dataclass(frozen=True, slots=True)
class Line:
    """One measured figure: one value a round, in `unit`."""

    row: str
    case: str
    unit: str
    values: list[float]
    target: float | None = None
    """None: reported only."""
    at_least: bool = False
    """Whether the target is a floor (faster than a peer) and not a ceiling."""
    us_per_job: Mapping[str, float] = field(default_factory=dict)
    """Absolute CPU time, a side note."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that could not be measured here."""

    row: str
    case: str
    why: str


def medians(samples: Samples) -> dict[str, float]:
    """Median microseconds a job of each contender."""
    return {name: samples.median_us(name) for name in samples.us}


def waiting(log: RunLog) -> float:
    """Mean number of jobs that wait, until the last one ends."""
    end = max((record.end_us or 0 for record in log.jobs), default=0)
    return sum(record.wait_us for record in log.jobs) / max(end, 1)
