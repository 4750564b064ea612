"""A recommendation: the cheapest fleet that meets the target, why every other lost, and what is near.

The search (`sim.experiments.search`) chooses; then the chosen fleet and its neighbours are compared with
the replications of the scenario, so that what the reader sees are ordinary intervals on common jobs.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sim.experiments.candidates import Candidate, Space, candidates
from sim.experiments.compare import compare
from sim.experiments.comparison import Comparison
from sim.experiments.decision import MONEY, WAIT, conditions, pareto_front
from sim.experiments.knobs import with_demand
from sim.experiments.ladder import Judge
from sim.experiments.runs import Places, Runs
from sim.experiments.search import Found, Option, Search
from sim.experiments.statistics import Interval
from sim.experiments.uncertain import refuse_own_strategies
from sim.load import Question
from sim.model.experiment import Selection

__all__ = ["Advice", "Headroom", "Marginal", "recommend_fleet"]

MOST_DEMAND = 4.0
DEMAND_STEP = 0.025
"""How finely the headroom is found, as a share of today's demand."""
RIVALS = 4
"""Fleets besides the neighbours that are compared with the chosen one."""


@dataclass(frozen=True, slots=True)
class Marginal:
    """What one more card (or unit) of the same kind changes."""

    strategy: str
    cost: Interval
    """Difference in committed cost, CNY."""
    wait_p95_h: Interval
    """Difference in the 95th percentile of wait, hours."""


@dataclass(frozen=True, slots=True)
class Headroom:
    """How much more demand the chosen fleet bears."""

    meets: float
    """Largest demand, as a multiple of today's, at which it was seen to meet the target."""
    misses: float | None
    """Smallest at which it was seen to miss it; None: it meets it up to `MOST_DEMAND` times."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The recommendation."""

    question: Question
    """As it was asked."""
    space: Space
    rule: Selection
    found: Found
    comparison: Comparison
    """The chosen fleet, its neighbours and its nearest rivals; the chosen one first."""
    marginal: Marginal | None
    headroom: Headroom | None
    pareto: tuple[str, ...]
    """Simulated candidates that no other beats in money and wait."""

    def to_json(self) -> dict[str, Any]:
        """The document of `fleetsim recommend --format json`."""
        found, winner = self.found, self.found.winner
        return {
            "scenario": self.question.scenario.name,
            "recommendation": None if winner is None else _candidate(winner),
            "sure": found.sure,
            "confidence": self.rule.confidence,
            "runs": {"simulated": found.simulated, "brute_force": found.brute},
            "options": [_option(option) for option in found.options],
            "pareto": list(self.pareto),
            "marginal": None
            if self.marginal is None
            else {
                "strategy": self.marginal.strategy,
                "committed_cost_cny": _limits(self.marginal.cost),
                "wait_p95_h": _limits(self.marginal.wait_p95_h),
            },
            "headroom": None if self.headroom is None else dataclasses.asdict(self.headroom),
            "comparison": self.comparison.to_json(),
        }


def recommend_fleet(question: Question, space: Space, rule: Selection, places: Places) -> Advice:
    """Search the space, compare what is near, and find the headroom.

    Raises InputError for a space without candidates.
    """
    refuse_own_strategies(question)
    asked, options = candidates(question, space)
    runs = Runs.of(asked, places)
    found = Search(runs, options, rule).run()
    near = _near(found)
    strategies = tuple(asked.scenario.strategies[one.position] for one in near)
    scenario = asked.scenario.model_copy(update={"strategies": strategies})
    compared = dataclasses.replace(asked, scenario=scenario)
    comparison = compare(
        compared,
        replications=_replications(asked, found, near),
        workers=places.workers,
        progress=places.progress,
        vault=places.vault,
        cluster=places.cluster,
    )
    winner = found.winner
    return Advice(
        question=question,
        space=space,
        rule=rule,
        found=found,
        comparison=comparison,
        marginal=None if winner is None else _marginal(comparison, winner, near),
        headroom=None if winner is None else _headroom(compared, rule, places),
        pareto=_pareto(found, runs),
    )


def _near(found: Found) -> list[Candidate]:
    """The chosen fleet, one unit more and one less, and the rivals that lost by least; or the nearest."""
    by_cost = sorted(found.options, key=lambda option: (option.cost or 0.0, option.candidate.position))
    simulated = [option for option in by_cost if option.replications]
    winner = found.winner
    if winner is None:
        # Nothing meets the target: those that come nearest are the largest of their ladders.
        return [option.candidate for option in simulated[-RIVALS:]] or [by_cost[-1].candidate]
    alike = [
        option.candidate
        for option in found.options
        if (option.candidate.offer, option.candidate.plan, option.candidate.policy, option.candidate.burst)
        == (winner.offer, winner.plan, winner.policy, winner.burst)
        and abs(_step(found, option.candidate) - _step(found, winner)) == 1
        and option.status != "does not fit"
    ]
    others = [
        option.candidate
        for option in sorted(simulated, key=lambda option: abs((option.cost or 0.0) - float(winner.cost)))
        if option.candidate.fleet != winner.fleet and option.candidate not in alike
    ]
    return [winner, *alike, *others[:RIVALS]]


def _replications(asked: Question, found: Found, near: Sequence[Candidate]) -> int:
    """As many as the scenario asks for, or as the search needed to judge those that are compared."""
    judged = [option.replications for option in found.options if option.candidate in near]
    return max(asked.scenario.experiment.replications, *judged)


def _step(found: Found, one: Candidate) -> int:
    """Place of a candidate among the sizes of its offer."""
    sizes = sorted({o.candidate.units for o in found.options if o.candidate.offer == one.offer})
    return sizes.index(one.units)


def _marginal(comparison: Comparison, winner: Candidate, near: Sequence[Candidate]) -> Marginal | None:
    larger = [
        one
        for one in near
        if (one.offer, one.policy, one.plan, one.burst)
        == (winner.offer, winner.policy, winner.plan, winner.burst)
        and one.units > winner.units
    ]
    if not larger:
        return None
    name = min(larger, key=lambda one: one.units).name
    found = {d.metric: d.interval for d in comparison.differences if d.strategy == name}
    return Marginal(name, found[MONEY], found[WAIT])


def _headroom(question: Question, rule: Selection, places: Places) -> Headroom | None:
    """Halving between today's demand and several times as much, for the first strategy of the question."""
    scenario = question.scenario.model_copy(update={"strategies": question.scenario.strategies[:1]})
    alone = dataclasses.replace(question, scenario=scenario)
    asked = conditions(scenario.target)

    def meets(factor: float) -> bool:
        # Demand is turned after uncertain inputs are drawn, which may be rates themselves.
        runs = Runs.of(alone, places, turn=partial(with_demand, factor=factor))
        return Judge(runs, asked, rule).of(0, f"demand x {factor:.2f}").meets

    low, high = 1.0, 1.0
    while meets(high):
        low, high = high, high * math.sqrt(2)
        if high > MOST_DEMAND:
            return Headroom(round(low, 3), None)
    if high == 1.0:
        return None  # it was chosen by a means that does not hold here: say nothing
    while high - low > DEMAND_STEP * low:
        middle = (low + high) / 2
        if meets(middle):
            low = middle
        else:
            high = middle
    return Headroom(round(low, 3), round(high, 3))


def _pareto(found: Found, runs: Runs) -> tuple[str, ...]:
    points: list[tuple[float, float] | None] = []
    simulated = [option for option in found.options if option.replications]
    for option in simulated:
        place = option.candidate.position
        samples = runs.ask([(place, number) for number in range(option.replications)])
        waits = [w for sample in samples if (w := sample.metrics.get(WAIT)) is not None]
        refused = math.fsum(sample.metrics.get("jobs_refused") or 0.0 for sample in samples)
        known = waits and option.cost is not None and refused == 0
        points.append((option.cost or 0.0, math.fsum(waits) / len(waits)) if known else None)
    marks = pareto_front(points)
    return tuple(option.candidate.name for option, mark in zip(simulated, marks, strict=True) if mark)


def _candidate(one: Candidate) -> dict[str, Any]:
    return {
        "strategy": one.name,
        "offer": one.offer,
        "units": one.units,
        "cards": one.cards,
        "plan": one.plan,
        "policy": one.policy,
        "burst": one.burst,
    }


def _option(option: Option) -> dict[str, Any]:
    return {
        **_candidate(option.candidate),
        "status": option.status,
        "reason": option.reason,
        "replications": option.replications,
        "committed_cost_cny": option.cost,
    }


def _limits(interval: Interval) -> dict[str, float | int | None]:
    return {"mean": interval.mean, "low": interval.low, "high": interval.high, "n": interval.n}
