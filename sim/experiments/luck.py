"""What replications say of luck: is it random, what common random numbers gain, how long start-up lasts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from statistics import median

from sim.errors import RunError
from sim.experiments.comparison import Caution, StrategyResult
from sim.experiments.decision import WAIT
from sim.experiments.intervals import variance_ratio
from sim.experiments.sample import Sample
from sim.experiments.warm_up import too_short
from sim.model.said import said
from sim.units import Micros

__all__ = ["WARM_UP", "luck_shared", "no_spread", "refuse_equal_draws", "short_warm_up"]

PAIRED = 30
"""Strategies whose pairs are looked at for what common random numbers gain."""

WARM_UP = "warm-up"
"""Kind of the warnings that the start-up phase outlasts the warm-up."""


def refuse_equal_draws(samples: Sequence[Sequence[Sample]]) -> None:
    """Raise RunError if random jobs or failures are the same in every replication.

    Arrivals and failures fall on a microsecond; that all of several replications agree on them means
    that they used the same random numbers, and every interval would be a lie.
    """
    for runs in samples:
        for what, marks in zip(
            ("jobs", "failures"), zip(*(run.draws for run in runs), strict=True), strict=True
        ):
            if len(runs) > 1 and marks[0] and len(set(marks)) == 1:
                msg = (
                    f"{runs[0].strategy}: the random {what} are the same in all {len(runs)} replications, so "
                    "nothing can be said about their spread; this is a fault of the program, please report it"
                )
                raise RunError(msg)


def luck_shared(samples: Sequence[Sequence[Sample]]) -> Iterable[str]:
    """What common random numbers gain, from the replications themselves."""
    waits = [[run.metrics.get(WAIT) for run in runs] for runs in samples[:PAIRED]]
    ratios = [
        ratio
        for one, other in combinations(waits, 2)
        if (ratio := variance_ratio(one[: len(other)], other[: len(one)])) is not None
    ]
    if ratios:
        yield said(
            "Common random numbers: separate runs would give differences in the 95th percentile of wait "
            "{times} times the variance (median over pairs of strategies; up to {most}).",
            times=f"{median(ratios):.2g}",
            most=f"{max(ratios):.2g}",
        )


def short_warm_up(samples: Sequence[Sequence[Sample]], warm_up: Micros) -> Iterable[Caution]:
    for runs in samples:
        text = too_short([run.start_up_us for run in runs], warm_up)
        if text is not None:
            yield Caution(WARM_UP, runs[0].strategy, text)


def no_spread(results: Sequence[StrategyResult], replications: int) -> Iterable[Caution]:
    spread = any(len(set(values)) > 1 for result in results for values in result.values.values())
    if replications > 1 and not spread:
        text = said(
            "all {runs} replications gave the same figures: nothing in this question varies",
            runs=replications,
        )
        yield Caution("no spread", None, text)
