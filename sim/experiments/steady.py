"""One long run and its steady state: the warm-up cut off, the rest in batches whose figures are the sample.

The warm-up is given or found by MSER-5 (`sim.experiments.warm_up`), the longest of the strategies for all of
them, so that they are measured over the same jobs. What follows is cut into batches of equally many jobs in
order of submission; jobs left over go to the warm-up. Batches long enough are next to independent, and their
figures are then a sample as replications are (batch means: Law, Simulation Modeling and Analysis, 5th ed.,
section 9.5.3). Whether they are is tested by the correlation of neighbours (Fishman, 1978, Management Science
24, 510-521).

A quantile of a batch is biased where batches differ, so the figures of the batches are set off to have the
figure of all jobs as their mean: the estimate is that of all jobs, its spread that of the batches.
Cost is cut by time (`sim.experiments.steady_money`). Other money and use of cards are those of the whole run,
of which there is one.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from sim.experiments.comparison import Caution
from sim.experiments.comparison_parts import Steady
from sim.experiments.metric_interval import SHARES_OF_RUNS
from sim.experiments.runs import Runs
from sim.experiments.sample import Sample, finite, summarise
from sim.experiments.steady_money import money_batches
from sim.metrics import METRICS
from sim.metrics.facts import Facts, Flags
from sim.model.experiment import SteadyState
from sim.model.said import said
from sim.model.scenario import Scenario
from sim.replication import RunResult
from sim.units import Micros

__all__ = ["BATCHED", "steady_state"]

BATCHED = (
    *("wait_mean_h", "wait_p50_h", "wait_p95_h", "wait_p99_h"),
    *("slowdown_mean", "slowdown_p95", "on_time_share", "target_met_share"),
)
"""Metrics that a batch of jobs has."""

FEWEST_A_BATCH = 10
"""Jobs below which a batch is too short for a quantile to mean anything (assumed)."""

ALIKE_LEVEL = 0.95
"""Confidence with which neighbouring batches must be alike before it is said."""

WAIT_MEAN, COST = "wait_mean_h", "cost_cny"


def steady_state(runs: Runs, rule: SteadyState) -> tuple[list[list[Sample]], Steady, list[Caution]]:
    """One run of every strategy, as a sample of batches; how it was read, and what to be warned of."""
    scenario = runs.question.scenario
    found = runs.ask([(strategy, 0) for strategy in range(len(scenario.strategies))])
    warm_up, warnings = _warm_up(found, rule, scenario)
    samples, jobs, alike, dear = [], [], {}, {}
    for strategy, sample in enumerate(found):
        assert sample.detail is not None  # noqa: S101 - replication 0 is kept whole
        batches, size = _batches(sample.detail, scenario, warm_up, rule.batches)
        jobs.append(size)
        alike[sample.strategy] = _neighbours([one.metrics.get(WAIT_MEAN) for one in batches])
        if size:
            money = money_batches(runs.question, strategy, sample.detail, warm_up, rule.batches)
            batches = [
                dataclasses.replace(one, metrics={**one.metrics, **row})
                for one, row in zip(batches, money, strict=True)
            ]
            dear[sample.strategy] = _neighbours([row[COST] for row in money])
        samples.append(batches)
    steady = Steady(warm_up, rule.warm_up == "auto", rule.batches, min(jobs), alike, dear)
    return samples, steady, [*warnings, *_too_short(steady), *_no_steady_state(scenario)]


def _warm_up(
    samples: Sequence[Sample], rule: SteadyState, scenario: Scenario
) -> tuple[Micros, list[Caution]]:
    if rule.warm_up != "auto":
        return rule.warm_up, []
    half = scenario.horizon_us // 2
    warnings = [
        Caution(
            "warm-up",
            sample.strategy,
            said(
                "MSER-5 finds no end of the start-up phase: the run has too few jobs or never settles; the "
                "first half is left out for all strategies, and the rest may be no steady state"
            ),
        )
        for sample in samples
        if sample.start_up_us is None
    ]
    return max(half if one.start_up_us is None else one.start_up_us for one in samples), warnings


def _batches(run: RunResult, scenario: Scenario, warm_up: Micros, batches: int) -> tuple[list[Sample], int]:
    """The batches of a run as samples, the first with all that the whole run left; and their jobs."""
    experiment = scenario.experiment.model_copy(update={"warm_up": warm_up})
    scenario = scenario.model_copy(update={"experiment": experiment})
    whole = summarise(run, scenario)
    places = np.flatnonzero(_facts(run, scenario).measured)
    size = len(places) // batches
    size = size if size >= FEWEST_A_BATCH else 0
    if size:
        places = places[len(places) - size * batches :]
    metrics = {name: finite(row.function(_stretch(run, scenario, places))) for name, row in METRICS.items()}
    found: list[dict[str, float | None]] = [{} for _ in range(batches)]
    if size:
        found = [_figures(_stretch(run, scenario, one)) for one in places.reshape(batches, size)]
    rows = _set_off(found, metrics)
    return [
        dataclasses.replace(
            whole,
            replication=number,
            metrics={**metrics, **row} if number == 0 else row,
            waits_h=whole.waits_h if number == 0 else (),
            detail=run if number == 0 else None,
        )
        for number, row in enumerate(rows)
    ], size


def _figures(facts: Facts) -> dict[str, float | None]:
    return {name: finite(METRICS[name].function(facts)) for name in BATCHED}


def _set_off(
    rows: Sequence[Mapping[str, float | None]], whole: Mapping[str, float | None]
) -> list[dict[str, float | None]]:
    """The figures of the batches with the figure of all jobs as their mean."""
    shifts: dict[str, float] = {}
    for name in BATCHED:
        known = [value for row in rows if (value := row.get(name)) is not None]
        middle = whole.get(name)
        if known and middle is not None and name not in SHARES_OF_RUNS:
            shifts[name] = middle - math.fsum(known) / len(known)
    return [
        {name: None if value is None else value + shifts.get(name, 0.0) for name, value in row.items()}
        for row in rows
    ]


@dataclass(frozen=True)
class _Stretch(Facts):
    """A run of which service metrics see some jobs alone."""

    chosen: Flags

    @property
    def measured(self) -> Flags:
        return self.chosen


def _facts(run: RunResult, scenario: Scenario) -> Facts:
    return Facts(run.log, run.ledger, run.jobs, scenario, scenario.target)


def _stretch(run: RunResult, scenario: Scenario, places: np.ndarray[Any, np.dtype[np.intp]]) -> Facts:
    chosen = np.zeros(len(run.log.jobs), dtype=np.bool_)
    chosen[places] = True
    return _Stretch(run.log, run.ledger, run.jobs, scenario, scenario.target, chosen)


def _neighbours(values: Sequence[float | None]) -> float | None:
    """Correlation of neighbouring values; None where they do not vary or are not all known."""
    known = np.array([value for value in values if value is not None])
    varied = len(known) == len(values) and len(set(known.tolist())) > 1  # not by the last bit of the mean
    steps = known - known.mean() if varied else np.zeros(0)
    spread = float((steps**2).sum())
    return None if spread == 0 else float((steps[1:] * steps[:-1]).sum()) / spread


def _too_short(steady: Steady) -> list[Caution]:
    if not steady.jobs:
        text = said(
            "after the warm-up there are fewer than {jobs} jobs, too few for {batches} batches: no figure "
            "has an interval; a longer horizon gives one",
            jobs=f"{steady.batches * FEWEST_A_BATCH:,}",
            batches=steady.batches,
        )
        return [Caution("batches", None, text)]
    batches = steady.batches
    limit = float(ndtri(ALIKE_LEVEL)) * math.sqrt((batches - 2) / (batches**2 - 1))
    return [
        Caution(
            "batches",
            name,
            said(
                "neighbouring batches are alike (correlation {part}), so the intervals of its {what} are too "
                "narrow; a longer horizon or fewer batches give fairer ones",
                part=f"{alike:.2f}",
                what=what,
            ),
        )
        for what, found in (("waits", steady.alike), ("cost", steady.alike_cost))
        for name, alike in found.items()
        if alike is not None and alike > limit
    ]


def _no_steady_state(scenario: Scenario) -> list[Caution]:
    if scenario.workload.growth is None:
        return []
    text = said(
        "demand grows by {growth}: the queue has no steady state, the figures are a mean",
        growth=scenario.workload.growth,
    )
    return [Caution("batches", None, text)]
