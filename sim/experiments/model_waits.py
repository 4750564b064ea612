"""The waits that a record and the workload learned from it give on the same fleet.

A learned workload draws busy and quiet months, so its waits are held against the record twice: over all
draws, and over the draws that happen to bring as much work as the record did. How much of a wait comes
from long jobs in a cluster is shown by dealing the run times out anew among jobs of as many cards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from sim.errors import InputError, Problem
from sim.experiments.waits import WaitFigures, cards_for, wait_figures, waits_on
from sim.model.timed import TimedClass
from sim.streams import Streams
from sim.workload.goodness import Sample, busy_cards, sample_of, sampled
from sim.workload.record import Record

__all__ = ["FACTOR", "ModelWaits", "Spread", "compare_waits", "dealt_anew"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

FACTOR = 1.5
"""Mean and 95th percentile are repeated when they are within this factor of the record's."""
_LIKE = 0.1
"""Draws with a work within this part of the record's bring as much."""
_MOST_TRIES = 40
"""Draws looked at for each one that is wanted."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Waits over several draws, hours."""

    draws: int
    mean_h: float
    """Mean over the draws of the mean wait."""
    mean_median_h: float
    mean_low_h: float
    mean_high_h: float
    """Nine of ten draws have a mean wait between these two."""
    p95_h: float
    p95_median_h: float
    p95_low_h: float
    p95_high_h: float

    @classmethod
    def of(cls, figures: Sequence[WaitFigures]) -> Spread | None:
        """None without a draw."""
        if not figures:
            return None
        means, tops = [one.mean_h for one in figures], [one.p95_h for one in figures]
        figures_of = [[float(np.mean(one)), *_ranges(one)] for one in (means, tops)]
        return cls(len(figures), *figures_of[0], *figures_of[1])


def _ranges(values: Sequence[float]) -> list[float]:
    """Median, and the ends between which nine of ten values lie."""
    return [float(one) for one in np.quantile(values, [0.5, 0.05, 0.95])]


@dataclass(frozen=True, slots=True)
class ModelWaits:
    """Waits of the record and of the model on `cards` cards."""

    cards: int
    policy: str
    load: float
    """Work of the record over its time, relative to all cards."""
    quarters: tuple[float, ...]
    """Cards that the record would keep busy in each quarter of its time, were there always one free."""
    record: WaitFigures
    record_dealt: WaitFigures
    """The record with its run times dealt out anew."""
    every: Spread
    """All draws of the model."""
    like: Spread | None
    """Draws that bring as much work as the record; None: too few were met."""
    model_dealt: Spread | None
    """The same draws with run times dealt out anew."""

    @property
    def judged(self) -> Spread:
        """What is held against the record."""
        return self.like or self.every

    @property
    def factors(self) -> tuple[float | None, float | None]:
        """Model over record, of the mean and of the 95th percentile; None where the record has no wait."""
        of, by = self.judged, self.record
        return (
            of.mean_h / by.mean_h if by.mean_h > 0 else None,
            of.p95_h / by.p95_h if by.p95_h > 0 else None,
        )

    @property
    def repeated(self) -> bool:
        """Whether both are within the factor."""
        return all(one is not None and 1 / FACTOR <= one <= FACTOR for one in self.factors)

    @property
    def within_range(self) -> tuple[bool, bool]:
        """Whether the record lies where nine of ten draws lie: mean, and 95th percentile."""
        of, by = self.judged, self.record
        return of.mean_low_h <= by.mean_h <= of.mean_high_h, of.p95_low_h <= by.p95_h <= of.p95_high_h


def compare_waits(
    record: Record,
    classes: Sequence[TimedClass],
    *,
    cards: int | None = None,
    share: float = 0.65,
    policy: str = "fifo",
    draws: int = 20,
    seed: int = 42,
    progress: Callable[[], None] = lambda: None,
) -> ModelWaits:
    """Play the record and `draws` draws on `cards` cards, or on as many as the record loads to `share`."""
    sample = sample_of(record)
    widest = max(int(record.gpus.max()), *(kind.gpus for one in classes for kind in one.kinds))
    count = cards_for(record.load, share, widest) if cards is None else cards
    work = _work(sample)

    def play(one: Sample) -> WaitFigures:
        found = wait_figures(waits_on(one, count, policy))
        progress()
        return found

    every = [play(one) for one in _drawn(record, classes, seed, draws)]
    if not every:
        rule = "no draw of the model has a job in the time of the record: too few jobs to compare waits"
        raise InputError(Problem(rule, key="--model", value=len(record.gpus)))
    tries = _drawn(record, classes, seed, draws * _MOST_TRIES)
    alike = (one for one in tries if abs(_work(one) / work - 1) <= _LIKE)
    like = list(islice(alike, draws))
    streams = Streams(seed)
    return ModelWaits(
        cards=count,
        policy=policy,
        load=record.load / count,
        quarters=busy_cards(sample, record.length_s, 4),
        record=play(sample),
        record_dealt=play(dealt_anew(sample, streams)),
        every=_spread(every),
        like=Spread.of([play(one) for one in like]) if 2 * len(like) >= draws else None,
        model_dealt=Spread.of([play(dealt_anew(one, streams)) for one in like[: max(1, draws // 4)]]),
    )


def _spread(figures: Sequence[WaitFigures]) -> Spread:
    found = Spread.of(figures)
    if found is None:
        msg = "at least one draw is needed"
        raise ValueError(msg)
    return found


def _drawn(record: Record, classes: Sequence[TimedClass], seed: int, draws: int) -> Iterator[Sample]:
    return (one for one in sampled(classes, record.clock, record.length_s, seed, draws) if len(one.submit_s))


def _work(sample: Sample) -> float:
    return float((sample.gpus * sample.runtime_s).sum())


def dealt_anew(sample: Sample, streams: Streams) -> Sample:
    """The same jobs with their run times dealt out anew among jobs of as many cards."""
    seconds = sample.runtime_s.copy()
    for gpus in np.unique(sample.gpus).tolist():
        mine = np.flatnonzero(sample.gpus == gpus)
        order = streams.generator("dealt anew", gpus).permutation(len(mine))
        seconds[mine] = seconds[mine[order]]
    return replace(sample, runtime_s=seconds)
