"""When a study has replications enough: a fixed number, narrow intervals, or a sure choice.

Each rule asks `Runs` for replications in rounds and says in a note what it reached. How many there are
depends on the numbers alone, never on where or how fast they were made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sim.errors import InputError, Problem
from sim.experiments.comparison import Condition
from sim.experiments.runs import Runs
from sim.experiments.sample import Sample
from sim.experiments.selection import ConstrainedSelection, Limit, Observation
from sim.experiments.until import Precision, next_number, shortfalls
from sim.metrics import METRICS
from sim.model.experiment import Selection, Until
from sim.model.said import said
from sim.units import parse_tolerance

__all__ = [
    "AHEAD",
    "AT_BUDGET",
    "SMALLEST_ZONES",
    "chosen",
    "fixed",
    "limits_of",
    "quantities",
    "select",
    "until",
]

Samples = list[list[Sample]]
"""Strategy by strategy, its replications in order."""

AHEAD = 5
"""Replications made at a time, so that several processes have work; the last few may not be needed."""

AT_BUDGET = "Stopped at the budget"
"""How a note begins that says that the rule was not fulfilled."""

SMALLEST_ZONES = {"jobs_refused": 0.5, "overloaded": 0.1, "on_time_share": 0.005}
"""Zones below which nobody asks: half a job, a tenth of the runs, half a per cent of the jobs (assumed)."""


def fixed(runs: Runs) -> tuple[Samples, list[str]]:
    """As many replications of every strategy as the scenario says."""
    return _first(runs, runs.question.scenario.experiment.replications), []


def until(runs: Runs, rule: Until, baseline: str) -> tuple[Samples, list[str]]:
    """Until the half-widths are reached, or the budget is spent."""
    experiment = runs.question.scenario.experiment
    for metric in rule.half_width:
        if metric not in METRICS:
            where = "experiment.until.half_width"
            raise InputError(Problem("this is no metric", key=where, value=metric, known=tuple(METRICS)))
    asked = [Precision(metric, *parse_tolerance(tolerance)) for metric, tolerance in rule.half_width.items()]
    number, note = min(experiment.replications, rule.most), ""
    while True:
        samples = _first(runs, number, note)
        by_name = {one[0].strategy: one for one in samples}
        found = shortfalls(by_name, baseline, asked, experiment.confidence)
        if not found:
            text = said(
                "Stopped at {runs} replications: every half-width asked for is reached.", runs=f"{number:,}"
            )
            return samples, [text]
        if number >= rule.most:
            text = said(
                "Stopped at the budget of {runs} replications; still too wide: {width}.",
                runs=f"{number:,}",
                width=found[0].text(),
            )
            return samples, [text]
        number, note = next_number(number, found, rule.most), found[0].text()


def select(
    runs: Runs, rule: Selection, conditions: Sequence[Condition], cost: str
) -> tuple[Samples, list[str]]:
    """Until the cheapest strategy that meets the target is known, or the budget is spent."""
    strategies = range(len(runs.question.scenario.strategies))
    procedure = chosen(runs, rule, conditions, cost, strategies)
    samples = [
        runs.ask([(strategy, number) for number in range(procedure.replications(strategy))])
        for strategy in strategies
    ]
    return samples, [_reached(procedure, rule)]


def chosen(
    runs: Runs, rule: Selection, conditions: Sequence[Condition], cost: str, strategies: Sequence[int]
) -> ConstrainedSelection:
    """Constrained selection among some strategies of the question, run to its end or its budget.

    The systems of the procedure are the positions in `strategies`.
    """
    ahead = [(strategy, n) for n in range(rule.first) for strategy in strategies]
    runs.ask(ahead)
    zone, relative = parse_tolerance(rule.cost_zone)
    if relative:
        pilot = [runs.ask([(strategy, n) for n in range(rule.first)]) for strategy in strategies]
        lowest = min(math.fsum(_cost(s, cost) for s in one) / len(one) for one in pilot)
        zone = max(zone * lowest, 0.01)
    limits = limits_of(conditions, rule)
    procedure = ConstrainedSelection(len(strategies), limits, zone, rule.confidence, rule.first)
    while procedure.wanted and max(map(procedure.replications, procedure.wanted)) < rule.most:
        tasks = [(strategies[i], procedure.replications(i)) for i in procedure.wanted]
        if any(task not in runs.made for task in tasks):
            left = f"{len(procedure.survivors)} of {len(strategies)} strategies in doubt"
            ahead = [(i, number + k) for k in range(AHEAD) for i, number in tasks if number + k < rule.most]
            runs.ask(ahead, note=left)
        found = runs.ask(tasks)
        procedure.tell(
            {
                i: Observation(_cost(sample, cost), quantities(sample, conditions))
                for i, sample in zip(procedure.wanted, found, strict=True)
            }
        )
    return procedure


def _first(runs: Runs, number: int, note: str = "") -> Samples:
    """The first replications of every strategy, made replication by replication: the first few tasks,
    which are timed, are then like the rest."""
    strategies = range(len(runs.question.scenario.strategies))
    tasks = [(strategy, replication) for replication in range(number) for strategy in strategies]
    found = runs.ask(tasks, note=note)
    return [found[strategy :: len(strategies)] for strategy in strategies]


def limits_of(conditions: Sequence[Condition], rule: Selection) -> list[Limit]:
    """The lines of a target as selection reads them, with their zones of indifference."""
    return [Limit(c.limit, _zone(c, rule.target_zone), c.at_least) for c in conditions]


def _zone(condition: Condition, tolerance: str) -> float:
    zone, relative = parse_tolerance(tolerance)
    wide = zone * abs(condition.limit) if relative else zone
    return max(wide, SMALLEST_ZONES.get(condition.metric, 1e-9))


def _cost(sample: Sample, cost: str) -> float:
    value = sample.metrics.get(cost)
    return math.inf if value is None else value


def quantities(sample: Sample, conditions: Sequence[Condition]) -> tuple[float, ...]:
    """What the target reads; a metric that is not defined in a run stands in nobody's way."""
    values = [sample.metrics.get(condition.metric) for condition in conditions]
    return tuple(
        condition.limit if value is None else value
        for condition, value in zip(conditions, values, strict=True)
    )


def _reached(procedure: ConstrainedSelection, rule: Selection) -> str:
    spent = f"{procedure.spent:,}"
    if procedure.done:
        return said(
            "Chosen by constrained selection (Andradottir and Kim, 2010) at {level} confidence: {runs} runs "
            "in all, zones of indifference {zone} in money and {zone2} in the target.",
            level=f"{rule.confidence:.0%}",
            runs=spent,
            zone=rule.cost_zone,
            zone2=rule.target_zone,
        )
    return said(
        "Stopped at the budget of {most} replications with {left} strategies in doubt; {runs} runs in all.",
        most=f"{rule.most:,}",
        left=len(procedure.survivors),
        runs=spent,
    )
