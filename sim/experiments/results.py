"""Replications become results: intervals of every metric, the target's verdicts, and who is on the front."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence

from sim.experiments.comparison import Condition, MetricInfo, Refusal, StrategyResult
from sim.experiments.decision import WAIT, judge, overall, pareto_front
from sim.experiments.metric_interval import metric_interval
from sim.experiments.sample import Sample
from sim.experiments.statistics import Interval
from sim.metrics import METRICS

__all__ = ["metric_infos", "results_of"]


def results_of(
    samples: Sequence[Sequence[Sample]],
    most: int,
    asked: Sequence[Condition],
    confidence: float,
    refusals: Mapping[str, tuple[Refusal, ...]] | None,
    ranking: str,
) -> tuple[StrategyResult, ...]:
    """Every strategy over its replications, of which it has `most` at most, held against the target.

    `asked` are the lines of the target, `refusals` those that take the place of the samples' own, and
    `ranking` is the metric of the money.
    """
    summaries = [_summary(runs, most, asked, confidence) for runs in samples]
    if refusals is not None:
        summaries = [dataclasses.replace(one, refusals=refusals[one.name]) for one in summaries]
    return _pareto(summaries, _allowed_refusals(asked), ranking)


def metric_infos(results: Sequence[StrategyResult]) -> tuple[MetricInfo, ...]:
    """What the metrics of the results are called, counted in and worth, in their order."""
    names = dict.fromkeys(name for result in results for name in result.values)
    return tuple(
        MetricInfo(name, METRICS[name].unit, METRICS[name].description, METRICS[name].better)
        if name in METRICS
        else MetricInfo(name, "")
        for name in names
    )


def _summary(
    runs: Sequence[Sample], most: int, asked: Sequence[Condition], confidence: float
) -> StrategyResult:
    """`most`: replications of the strategy that has most of them; the others have no values there."""
    names = list(dict.fromkeys(name for run in runs for name in run.metrics))
    none = (None,) * (most - len(runs))
    values = {name: (*(run.metrics.get(name) for run in runs), *none) for name in names}
    metrics = {name: metric_interval(name, numbers, confidence) for name, numbers in values.items()}
    undefined = Interval(None, None, None, 0)
    verdicts = tuple(judge(condition, metrics.get(condition.metric, undefined)) for condition in asked)
    refused: Counter[tuple[str, str]] = Counter()
    for run in runs:
        refused.update(run.refusals)
    return StrategyResult(
        name=runs[0].strategy,
        metrics=metrics,
        values=values,
        meets_target=all(verdict.meets for verdict in verdicts),
        status=overall(verdicts),
        verdicts=verdicts,
        pareto=False,
        pareto_note="",
        refusals=tuple(Refusal(*key, jobs / len(runs)) for key, jobs in refused.items()),
        wait_quantiles_h=tuple(run.waits_h for run in runs if run.waits_h),
    )


def _pareto(results: Sequence[StrategyResult], refused: float, ranking: str) -> tuple[StrategyResult, ...]:
    """Mark the strategies that no other beats in both money and wait.

    Refusing jobs shortens the queue of the rest, so a strategy that refuses more than the target
    allows takes no part.
    """
    points, notes = [], []
    for result in results:
        money, wait = result.mean(ranking), result.mean(WAIT)
        note = ""
        if (result.mean("jobs_refused") or 0.0) > refused:
            note = "refuses jobs, so its wait cannot be compared"
        elif money is None or wait is None:
            note = "has no wait to compare"
        points.append((money, wait) if money is not None and wait is not None and not note else None)
        notes.append(note)
    return tuple(
        dataclasses.replace(result, pareto=mark, pareto_note=note)
        for result, mark, note in zip(results, pareto_front(points), notes, strict=True)
    )


def _allowed_refusals(asked: Sequence[Condition]) -> float:
    return next(condition.limit for condition in asked if condition.metric == "jobs_refused")
