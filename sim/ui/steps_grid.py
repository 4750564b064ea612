"""The grid behind the page `steps`: more cards of a kind from some month on, at several growths of demand.

Every point is a strategy of a question that is made here, and the command `sweep` answers all of them on
the same jobs. Plans change what is paid and not when cards are there, so that money is billed exactly for
any plan; waits come from the grid, and no value between its points is offered.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sim.billing.periods import add_months
from sim.experiments.quote import quote
from sim.load import Question
from sim.model.ledger import Ledger
from sim.model.scenario import Lease, Strategy
from sim.replication import fleet_plan
from sim.ui.question_edits import Tree, yaml_text
from sim.ui.question_store import keep_edited
from sim.units import MONTH, parse_growth

__all__ = [
    "Choice",
    "Spec",
    "bases",
    "exact_file",
    "grid_file",
    "ledger_of_choice",
    "plans_alike",
    "spec_of",
    "step_file",
]

SIZES_MORE = (1, 2, 3, 4)
"""Units added to a fleet of four or more; smaller fleets have the first three, and all may be doubled."""

STEPS_OF_GROWTH = (0.0, 0.5, 1.0, 1.5, 2.0)
"""Times the growth that the question plans."""

PLAIN_GROWTH = 3.0
"""Growth that is tried where the question plans none, per cent a month."""

MOST_MONTHS = 24
REPLICATIONS = 10
"""Runs of each point."""


@dataclass(frozen=True)
class Spec:
    """What the grid spans."""

    base: str
    """The strategy that the question begins with."""
    lease: int
    """Position of the lease that grows."""
    count: int
    """Its units before the step."""
    sizes: tuple[int, ...]
    """Units after the step."""
    months: tuple[int, ...]
    """Months after the start at which the step may be; 0: from the start."""
    growths: tuple[str, ...]
    """As `workload.growth`; empty where demand is recorded and does not grow."""


@dataclass(frozen=True)
class Choice:
    """One point of the grid, and the plans under which its cards are paid."""

    size: int
    """Units after the step; the spec's own count: no step."""
    month: int
    growth: str
    first_plan: str
    added_plan: str


def bases(question: Question) -> list[str]:
    """Strategies that can grow: leases of the whole time, and no cards by the hour in bursts."""
    return [
        strategy.name
        for strategy in question.scenario.strategies
        if strategy.leases and strategy.burst is None and all(map(_plain, strategy.leases))
    ]


def _plain(lease: Lease) -> bool:
    dated = lease.start or lease.end or lease.converts or lease.joins is not None or lease.started
    return not dated and lease.plan != "hourly"


def spec_of(question: Question, base: str) -> Spec:
    """The grid of a question that begins with this strategy; its first lease grows."""
    scenario = question.scenario
    count = scenario.strategy(base).leases[0].count
    more = SIZES_MORE if count >= 4 else (1, 2, 3)
    sizes = sorted({count + one for one in more} | {2 * count})
    months: list[int] = []
    while (
        scenario.elapsed_us(add_months(scenario.start, len(months))) < scenario.horizon_us
        and len(months) < MOST_MONTHS
    ):
        months.append(len(months))
    return Spec(base, 0, count, tuple(sizes), tuple(months), _growths(question))


def _growths(question: Question) -> tuple[str, ...]:
    workload = question.scenario.workload
    if not (workload.classes or workload.timed):
        return ()
    planned = 0.0
    if workload.growth is not None:
        planned = 100 * math.expm1(parse_growth(workload.growth) * MONTH)
    step = planned if planned > 0 else PLAIN_GROWTH
    values = {round(step * times, 3) for times in STEPS_OF_GROWTH} | {round(planned, 3)}
    return tuple(f"{value:g}%/month" for value in sorted(values))


def planned_growth(question: Question, spec: Spec) -> str:
    """The growth of the grid that is the question's own."""
    workload = question.scenario.workload
    if not spec.growths:
        return ""
    planned = 0.0 if workload.growth is None else 100 * math.expm1(parse_growth(workload.growth) * MONTH)
    return f"{round(planned, 3):g}%/month"


def point_name(size: int, month: int) -> str:
    """The strategy of a point in the grid's question."""
    return f"{size} units from month {month}"


def when(question: Question, month: int) -> datetime:
    """The local time of a step."""
    return add_months(question.scenario.start, month)


def grid_file(tree: Tree, home: Path, spec: Spec, question: Question) -> Path:
    """The grid's question as a file; written where it is not there yet."""
    base = _entry(tree, spec.base)
    strategies = [{**base, "name": point_name(spec.count, 0)}]
    for size in spec.sizes:
        for month in spec.months:
            leases = _leases(base, spec, question, size, month)
            strategies.append({**base, "name": point_name(size, month), "leases": leases})
    return _kept(tree, home, strategies)


def grid_words(file: Path, spec: Spec) -> list[str]:
    """The command that computes the grid."""
    vary = f"workload.growth={','.join(spec.growths)}" if spec.growths else "experiment.confidence=0.95"
    return ["sweep", str(file), "--vary", vary, "--replications", str(REPLICATIONS), "--format", "json"]


def step_file(
    tree: Tree, home: Path, spec: Spec, question: Question, choice: Choice, names: Sequence[str]
) -> Path:
    """The question of `stepup`: from the first fleet to the whole of the second one."""
    base = _entry(tree, spec.base)
    first = _leases(base, spec, question, spec.count, 0, choice)
    second = _leases(base, spec, question, choice.size, 0, choice)
    strategies = [{**base, "name": names[0], "leases": first}, {**base, "name": names[1], "leases": second}]
    return _kept(_grown(tree, choice), home, strategies)


def exact_file(
    tree: Tree, home: Path, spec: Spec, question: Question, choice: Choice, names: Sequence[str]
) -> Path:
    """The question of an exact run: no step, the step as chosen, and the larger fleet from the start."""
    base = _entry(tree, spec.base)
    strategies = [
        {**base, "name": name, "leases": _leases(base, spec, question, size, month, choice)}
        for name, size, month in zip(
            names, (spec.count, choice.size, choice.size), (0, choice.month, 0), strict=True
        )
    ]
    if choice.month == 0:
        del strategies[2]
    if choice.size == spec.count:
        del strategies[1:]
    return _kept(_grown(tree, choice), home, strategies, own_experiment=True)


def ledger_of_choice(question: Question, spec: Spec, choice: Choice) -> Ledger:
    """What the leases of a point cost under the chosen plans; billed as in a run."""
    scenario = question.scenario
    strategy = _strategy(scenario.strategy(spec.base), spec, question, choice)
    asked = scenario.model_copy(update={"strategies": (strategy,)})
    return quote(dataclasses.replace(question, scenario=asked), 0).ledger


def plans_alike(question: Question, spec: Spec) -> list[str]:
    """Plans of the growing lease under which the same cards are there at the same times."""
    base = question.scenario.strategy(spec.base)
    lease = base.leases[spec.lease]
    offer = question.catalog.offers.get(lease.offer)
    known = [
        lease.plan,
        *(plan for plan in (offer.plans if offer else ()) if plan not in ("hourly", lease.plan)),
    ]
    own = _fleet(question, base, spec, lease.plan)
    found = [plan for plan in known if _fleet(question, base, spec, plan) == own]
    order = ("monthly", "quarterly", "annual")
    return sorted(found, key=lambda plan: order.index(plan) if plan in order else len(order))


def _fleet(question: Question, base: Strategy, spec: Spec, plan: str) -> str:
    growth = spec.growths[0] if spec.growths else ""
    choice = Choice(spec.sizes[-1], spec.months[-1], growth, plan, plan)
    strategy = _strategy(base, spec, question, choice)
    return repr(fleet_plan(question.scenario, strategy, question.catalog, question.price))


def _strategy(base: Strategy, spec: Spec, question: Question, choice: Choice) -> Strategy:
    """The base with its lease grown, as the grid's file says it."""
    lease = base.leases[spec.lease].model_copy(update={"plan": choice.first_plan})
    leases = list(base.leases)
    leases[spec.lease] = lease
    more = choice.size - spec.count
    if more > 0:
        changes: dict[str, Any] = {"plan": choice.added_plan, "count": more}
        if choice.month > 0:
            changes["start"] = when(question, choice.month)
        leases.append(lease.model_copy(update=changes))
    return base.model_copy(update={"leases": tuple(leases)})


def _entry(tree: Tree, base: str) -> dict[str, Any]:
    """A strategy as the question writes it."""
    return next(dict(one) for one in tree["strategies"] if one.get("name") == base)


def _leases(
    base: Mapping[str, Any],
    spec: Spec,
    question: Question,
    size: int,
    month: int,
    choice: Choice | None = None,
) -> list[dict[str, Any]]:
    """The leases of a point, as a file writes them: the first ones, and what is added."""
    leases = [dict(one) for one in base["leases"]]
    own = leases[spec.lease]
    if choice is not None:
        own["plan"] = choice.first_plan
    if size > spec.count:
        added = {**own, "count": size - spec.count}
        if choice is not None:
            added["plan"] = choice.added_plan
        if month > 0:
            added["start"] = when(question, month).isoformat()[:10]
        leases.append(added)
    return leases


def _grown(tree: Tree, choice: Choice) -> Tree:
    """The question at the chosen growth of demand."""
    if not choice.growth:
        return tree
    return {**tree, "workload": {**tree["workload"], "growth": choice.growth}}


def _kept(
    tree: Tree, home: Path, strategies: Sequence[Mapping[str, Any]], own_experiment: bool = False
) -> Path:
    experiment = dict(tree.get("experiment") or {})
    if not own_experiment:
        for rule in ("until", "select"):
            experiment.pop(rule, None)
    changed = {**tree, "strategies": [dict(one) for one in strategies]}
    if experiment:
        changed["experiment"] = experiment
    else:
        changed.pop("experiment", None)
    return keep_edited(yaml_text(changed), changed, home)
