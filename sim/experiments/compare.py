"""Many runs of one question: every strategy on the same jobs and failures, and what follows from them."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from sim.errors import InputError, Problem
from sim.experiments.assumptions import cautions, scenario_assumptions
from sim.experiments.comparison import Caution, Comparison, Condition, Refusal, StrategyResult, Wall
from sim.experiments.comparison_parts import InputDoubt, Steady
from sim.experiments.decision import WAIT, Candidate, conditions, ranked_by, recommend
from sim.experiments.input_doubt import input_doubt
from sim.experiments.luck import luck_shared, no_spread, refuse_equal_draws, short_warm_up
from sim.experiments.metric_interval import SHARES_OF_RUNS
from sim.experiments.parallel import Progress
from sim.experiments.results import metric_infos, results_of
from sim.experiments.runs import Flow, Places, Runs
from sim.experiments.sample import Sample
from sim.experiments.several import at_once, differences, rule_of
from sim.experiments.steady import steady_state
from sim.experiments.stopping import AT_BUDGET, fixed, select, until
from sim.experiments.vault import Vault
from sim.load import Question
from sim.replication import RunResult, used_offers
from sim.workload.recorded_when import moved

__all__ = ["SHARES_OF_RUNS", "Comparison", "Flow", "clocked", "compare", "conclude", "looked_at"]


def compare(
    question: Question,
    replications: int | None = None,
    seed: int | None = None,
    baseline: str | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    flow: Flow | None = None,
    vault: Vault | None = None,
    cluster: str | None = None,
) -> Comparison:
    """Simulate every strategy of the question and say which to rent.

    `replications` and `seed` default to the scenario's, `baseline` to its first strategy. The result
    is the same for any number of `workers`, and on a `cluster` (address of a Dask scheduler); `progress`
    is called with the runs done and in all. Replications that the `vault` keeps are read, new ones kept.

    Raises InputError for a number out of range or an unknown baseline, RunError if the replications
    of a random scenario turn out alike or a worker process dies.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    question = _as_asked(question, replications, seed)
    base = _baseline(question, baseline)
    runs = Runs.of(question, Places(workers, cluster, vault, progress), flow)
    rule = question.scenario.experiment.steady_state
    steady: Steady | None = None
    warned: list[Caution] | None = None
    if rule is not None:
        samples, steady, warned = steady_state(runs, rule)
        reached = [steady.text]
    else:
        samples, reached = _simulate(runs, base)
        refuse_equal_draws(samples)
    doubt = input_doubt(runs, samples, base, looked_at(question))
    whole = [of_strategy[0].detail for of_strategy in samples]
    notes = [
        *reached,
        *(() if rule is not None else luck_shared(samples)),
        *runs.prepared.rates.notes,
        *moved(question.scenario, question.recorded),
        *(note for run in whole if run is not None for note in run.jobs.notes),
    ]
    wall = clocked(started, clock, workers)
    return conclude(question, samples, base, notes, wall, warm_up=warned, doubt=doubt, steady=steady)


def clocked(started: datetime, clock: float, workers: int) -> Wall:
    """Times on the clock of the machine, from `started` (UTC; `clock`: its `perf_counter`) to now."""
    return Wall(
        started.isoformat(timespec="seconds"),
        datetime.now(UTC).isoformat(timespec="seconds"),
        round(time.perf_counter() - clock, 3),
        workers,
    )


def conclude(
    question: Question,
    samples: Sequence[Sequence[Sample]],
    baseline: str,
    notes: Sequence[str],
    wall: Wall,
    refusals: Mapping[str, tuple[Refusal, ...]] | None = None,
    warm_up: Sequence[Caution] | None = None,
    doubt: InputDoubt | None = None,
    steady: Steady | None = None,
) -> Comparison:
    """What follows from the runs: intervals, differences, the decision and its assumptions.

    `samples` are the replications, strategy by strategy; `refusals`, by strategy, and what is said of
    the `warm_up` go before those of the samples. `doubt` and `steady` go into the answer as they are.
    """
    experiment = question.scenario.experiment
    asked = conditions(question.scenario.target)
    most = max(map(len, samples))
    ranking = ranked_by(question.scenario)
    results = results_of(samples, most, asked, experiment.confidence, refusals, ranking)
    details = {runs[0].strategy: runs[0].detail for runs in samples if runs[0].detail is not None}
    return Comparison(
        question=question,
        version=importlib.metadata.version("fleetsim"),
        replications=most,
        seed=experiment.seed,
        baseline=baseline,
        strategies=results,
        differences=differences(results, baseline, experiment.confidence),
        at_once=at_once({r.name: r.values for r in results}, (ranking, WAIT), experiment.confidence),
        at_once_rule=rule_of(len(results), experiment.confidence) if len(results) > 1 else "",
        doubt=doubt,
        steady=steady,
        recommendation=recommend(
            [Candidate(r.name, r.values, r.metrics, r.verdicts, ranking) for r in results],
            experiment.seed,
            question.scenario.currency,
            "replications" if steady is None else "batches",
        ),
        metrics=metric_infos(results),
        conditions=asked,
        assumptions=_assumptions(question, asked, details),
        notes=_distinct(notes),
        warnings=_warnings(question, samples, results, notes, warm_up),
        details=details,
        billables={
            runs[0].strategy: tuple(run.billable for run in (runs if steady is None else runs[:1]))
            for runs in samples
        },
        wall=wall,
    )


def _as_asked(question: Question, replications: int | None, seed: int | None) -> Question:
    """The question with the replications and the seed asked for, so that it says what was run."""
    changes = {
        key: asked for key, asked in (("replications", replications), ("seed", seed)) if asked is not None
    }
    for key, least in (("replications", 1), ("seed", 0)):
        if changes.get(key, least) < least:
            raise InputError(Problem(f"{key} must be {least} or more", None, None, f"--{key}", changes[key]))
    experiment = question.scenario.experiment
    if replications is not None and experiment.steady_state is not None:
        rule = "experiment.steady_state makes one run of each strategy: set its batches instead"
        raise InputError(Problem(rule, None, None, "--replications", replications))
    experiment = experiment.model_copy(update=changes)
    scenario = question.scenario.model_copy(update={"experiment": experiment})
    return dataclasses.replace(question, scenario=scenario)


def looked_at(question: Question) -> list[str]:
    """Metrics whose doubt is told apart: the cost that ranks, the wait, and what the target asks."""
    lines = [line.metric for line in conditions(question.scenario.target)]
    asked = [metric for metric in lines if metric not in ("jobs_refused", "overloaded")]
    return list(dict.fromkeys((ranked_by(question.scenario), WAIT, *asked)))


def _baseline(question: Question, baseline: str | None) -> str:
    names = tuple(strategy.name for strategy in question.scenario.strategies)
    if baseline is not None and baseline not in names:
        rule = "the baseline is the name of a strategy of the scenario"
        file = None if question.path is None else str(question.path)
        raise InputError(Problem(rule, file, None, "--baseline", baseline, names))
    return baseline or names[0]


def _simulate(runs: Runs, baseline: str) -> tuple[list[list[Sample]], list[str]]:
    """All runs, strategy by strategy, by the rule of the experiment, and what the rule says of them."""
    experiment = runs.question.scenario.experiment
    if experiment.until is not None:
        return until(runs, experiment.until, baseline)
    if experiment.select is not None:
        scenario = runs.question.scenario
        return select(runs, experiment.select, conditions(scenario.target), ranked_by(scenario))
    return fixed(runs)


def _warnings(
    question: Question,
    samples: Sequence[Sequence[Sample]],
    results: Sequence[StrategyResult],
    notes: Sequence[str],
    warm_up: Sequence[Caution] | None,
) -> tuple[Caution, ...]:
    """`warm_up`: what is said of it; None: what the samples show."""
    shown = short_warm_up(samples, question.scenario.experiment.warm_up) if warm_up is None else warm_up
    return (
        *(Caution("budget", None, note) for note in notes if note.startswith(AT_BUDGET)),
        *cautions(results, question.scenario),
        *shown,
        *no_spread(results, max(map(len, samples))),
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
