"""Many runs of one question: every strategy on the same jobs and failures, and what follows from them."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sim.errors import InputError, Problem, RunError
from sim.experiments.assumptions import cautions, scenario_assumptions
from sim.experiments.comparison import (
    Caution,
    Comparison,
    Condition,
    Difference,
    MetricInfo,
    Refusal,
    StrategyResult,
    Wall,
)
from sim.experiments.decision import (
    MONEY,
    WAIT,
    Candidate,
    conditions,
    judge,
    overall,
    pareto_front,
    recommend,
)
from sim.experiments.parallel import Progress, run_tasks
from sim.experiments.sample import Sample, summarise
from sim.experiments.statistics import Interval, mean_interval, paired_difference, wilson_interval
from sim.load import Question
from sim.metrics import METRICS
from sim.replication import RunResult, prepare, replicate, used_offers

__all__ = ["SHARES_OF_RUNS", "Comparison", "Flow", "compare"]

SHARES_OF_RUNS = frozenset({"target_met_share", "overloaded"})
"""Metrics that are 0 or 1 in one run; their interval is that of a share."""


@dataclass(frozen=True, slots=True)
class Flow:
    """How one run is made: the seam at which tests put runs made by hand."""

    prepare: Callable[[Question], Any]
    replicate: Callable[[Any, int, int, int | None], RunResult]


def compare(
    question: Question,
    replications: int | None = None,
    seed: int | None = None,
    baseline: str | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    flow: Flow | None = None,
) -> Comparison:
    """Simulate every strategy of the question and say which to rent.

    `replications` and `seed` default to the scenario's, `baseline` to its first strategy. The result
    is the same for any number of `workers`; `progress` is called with the runs done and in all.

    Raises InputError for a number out of range or an unknown baseline, RunError if the replications
    of a random scenario turn out alike or a worker process dies.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    question = _as_asked(question, replications, seed)
    experiment = question.scenario.experiment
    base = _baseline(question, baseline)
    flow = flow or Flow(prepare, replicate)
    prepared = flow.prepare(question)
    samples = _simulate(prepared, question, workers, progress, flow)
    _refuse_equal_draws(samples)
    asked = conditions(question.scenario.target)
    results = _pareto(
        [_summary(runs, asked, experiment.confidence) for runs in samples], _allowed_refusals(asked)
    )
    details = {runs[0].strategy: runs[0].detail for runs in samples if runs[0].detail is not None}
    warnings = (
        *cautions(results, question.scenario),
        *_no_spread(results, experiment.replications),
    )
    return Comparison(
        question=question,
        version=importlib.metadata.version("fleetsim"),
        replications=experiment.replications,
        seed=experiment.seed,
        baseline=base,
        strategies=results,
        differences=_differences(results, base, experiment.confidence),
        recommendation=recommend(
            [Candidate(r.name, r.values, r.metrics, r.verdicts) for r in results],
            experiment.seed,
            question.scenario.currency,
        ),
        metrics=_infos(results),
        conditions=asked,
        assumptions=_assumptions(question, asked, details),
        notes=_distinct([*prepared.rates.notes, *(n for run in details.values() for n in run.jobs.notes)]),
        warnings=warnings,
        details=details,
        wall=Wall(
            started.isoformat(timespec="seconds"),
            datetime.now(UTC).isoformat(timespec="seconds"),
            round(time.perf_counter() - clock, 3),
            workers,
        ),
    )


def _as_asked(question: Question, replications: int | None, seed: int | None) -> Question:
    """The question with the replications and the seed asked for, so that it says what was run."""
    changes = {
        key: asked for key, asked in (("replications", replications), ("seed", seed)) if asked is not None
    }
    for key, least in (("replications", 1), ("seed", 0)):
        if changes.get(key, least) < least:
            raise InputError(Problem(f"{key} must be {least} or more", None, None, f"--{key}", changes[key]))
    experiment = question.scenario.experiment.model_copy(update=changes)
    scenario = question.scenario.model_copy(update={"experiment": experiment})
    return dataclasses.replace(question, scenario=scenario)


def _baseline(question: Question, baseline: str | None) -> str:
    names = tuple(strategy.name for strategy in question.scenario.strategies)
    if baseline is not None and baseline not in names:
        rule = "the baseline is the name of a strategy of the scenario"
        file = None if question.path is None else str(question.path)
        raise InputError(Problem(rule, file, None, "--baseline", baseline, names))
    return baseline or names[0]


def _simulate(
    prepared: Any, question: Question, workers: int, progress: Progress | None, flow: Flow
) -> list[list[Sample]]:
    """All runs, strategy by strategy. They are made replication by replication, so that the first
    `len(strategies)` of them, which are timed, are like the rest."""
    experiment = question.scenario.experiment
    strategies = range(len(question.scenario.strategies))
    tasks = [(strategy, number) for number in range(experiment.replications) for strategy in strategies]
    run = partial(_one, flow.replicate, prepared, question)
    samples = run_tasks(run, tasks, workers, progress, probe=len(strategies))
    return [samples[strategy :: len(strategies)] for strategy in strategies]


def _one(
    replicate: Callable[[Any, int, int, int | None], RunResult],
    prepared: Any,
    question: Question,
    task: tuple[int, int],
) -> Sample:
    strategy, number = task
    scenario = question.scenario
    return summarise(replicate(prepared, strategy, number, scenario.experiment.seed), scenario)


def _refuse_equal_draws(samples: Sequence[Sequence[Sample]]) -> None:
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


def _no_spread(results: Sequence[StrategyResult], replications: int) -> Iterable[Caution]:
    spread = any(len(set(values)) > 1 for result in results for values in result.values.values())
    if replications > 1 and not spread:
        text = f"all {replications} replications gave the same figures: nothing in this question varies"
        yield Caution("no spread", None, text)


def _summary(runs: Sequence[Sample], asked: Sequence[Condition], confidence: float) -> StrategyResult:
    names = list(dict.fromkeys(name for run in runs for name in run.metrics))
    values = {name: tuple(run.metrics.get(name) for run in runs) for name in names}
    metrics = {name: _interval(name, numbers, confidence) for name, numbers in values.items()}
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


def _interval(metric: str, values: Sequence[float | None], confidence: float) -> Interval:
    return (wilson_interval if metric in SHARES_OF_RUNS else mean_interval)(values, confidence)


def _pareto(results: Sequence[StrategyResult], refused: float) -> tuple[StrategyResult, ...]:
    """Mark the strategies that no other beats in both money and wait.

    Refusing jobs shortens the queue of the rest, so a strategy that refuses more than the target
    allows takes no part.
    """
    points, notes = [], []
    for result in results:
        money, wait = result.mean(MONEY), result.mean(WAIT)
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


def _differences(
    results: Sequence[StrategyResult], baseline: str, confidence: float
) -> tuple[Difference, ...]:
    base = next(result for result in results if result.name == baseline)
    return tuple(
        Difference(result.name, baseline, name, paired_difference(values, base.values[name], confidence))
        for result in results
        if result is not base
        for name, values in result.values.items()
        if name in base.values
    )


def _infos(results: Sequence[StrategyResult]) -> tuple[MetricInfo, ...]:
    names = dict.fromkeys(name for result in results for name in result.values)
    return tuple(
        MetricInfo(name, METRICS[name].unit, METRICS[name].description, METRICS[name].better)
        if name in METRICS
        else MetricInfo(name, "")
        for name in names
    )


def _assumptions(
    question: Question, asked: Sequence[Condition], details: Mapping[str, RunResult]
) -> tuple[str, ...]:
    return _distinct(
        [
            *(line for run in details.values() for line in run.ledger.assumptions),
            *scenario_assumptions(question.scenario, asked, tuple(used_offers(question).values())),
        ]
    )


def _distinct(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))
