"""When to step up: the month at which to go from one fleet to another while demand grows.

Every month of the horizon is a strategy: the first fleet until then, the second from then on. Leases
that both have go on; more of the same cards is a lease that begins then; what only the first has ends
then, and owes what its contract says. A later step costs less and serves worse (assumed), so the latest
that meets the target is found by halving, and the cheapest from there on is chosen: by committed cost,
then by the part that accrues within the horizon, for a year that is paid in advance commits as much
whenever it begins.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sim.billing.periods import add_months
from sim.errors import InputError, Problem
from sim.experiments.compare import compare
from sim.experiments.comparison import Comparison
from sim.experiments.decision import MONEY, conditions
from sim.experiments.ladder import Judge, Judgement, lowest
from sim.experiments.quote import quote
from sim.experiments.runs import Places, Runs
from sim.experiments.uncertain import refuse_own_strategies
from sim.load import Question
from sim.model.experiment import Selection
from sim.model.scenario import Lease, Strategy

__all__ = ["Step", "StepUp", "step_up", "steps_of"]

Standing = Literal["meets", "misses", "unsure", "taken to meet", "taken to miss"]


@dataclass(frozen=True, slots=True)
class Step:
    """Going up at one month."""

    month: int | None
    """Months after the start, 0: at once; None: never."""
    at: datetime | None
    """Local date; None: never."""
    cost: float
    """Committed cost over the horizon, CNY: of the leases; with burst the mean where it was simulated."""
    accrued: float
    """The part of it that belongs to time within the horizon: annual leases commit beyond it."""
    standing: Standing
    """`taken to`: not simulated; follows from a neighbour."""
    replications: int
    means: tuple[float | None, ...]
    """Of the target's metrics; empty where it was not simulated."""


@dataclass(frozen=True, slots=True)
class StepUp:
    """The answer: every month, and the one to choose."""

    question: Question
    before: str
    after: str
    steps: tuple[Step, ...]
    """From never and the latest month to the earliest."""
    chosen: Step | None
    """None: not even the second fleet from the start meets the target."""
    late: Step | None
    """One month later: it saves money and misses the target, or saves none."""
    early: Step | None
    """One month earlier."""
    simulated: int
    comparison: Comparison
    """The chosen month, its neighbours, and both fleets all along."""

    def to_json(self) -> dict[str, Any]:
        """The document of `fleetsim stepup --format json`."""
        return {
            "scenario": self.question.scenario.name,
            "from": self.before,
            "to": self.after,
            "chosen": None if self.chosen is None else _step(self.chosen),
            "one_month_late_cny": _against(self.late, self.chosen),
            "one_month_early_cny": _against(self.early, self.chosen),
            "steps": [_step(step) for step in self.steps],
            "runs": self.simulated,
            "comparison": self.comparison.to_json(),
        }


def step_up(question: Question, before: str, after: str, rule: Selection, places: Places) -> StepUp:
    """Find the month. Raises InputError for strategies between which one cannot go."""
    refuse_own_strategies(question)
    asked, months = steps_of(question, before, after)
    runs = Runs.of(asked, places)
    judge = Judge(runs, conditions(asked.scenario.target), _shared(rule, len(months)))
    where = lowest(judge, range(len(months)), "months")
    money = [_money(runs, judge, place) for place in range(len(months))]
    chosen = None
    if where is not None:
        chosen = min(range(where, len(months)), key=lambda place: (*_cents(money[place]), place))
        for place in (chosen - 1, chosen + 1):
            if 0 <= place < len(months):
                judge.of(place, "months")
    steps = tuple(
        _as_step(asked, months[place], money[place], judge.found.get(place), where, place)
        for place in range(len(months))
    )
    return StepUp(
        question=question,
        before=before,
        after=after,
        steps=steps,
        chosen=None if chosen is None else steps[chosen],
        late=steps[chosen - 1] if chosen is not None and chosen > 0 else None,
        early=steps[chosen + 1] if chosen is not None and chosen + 1 < len(months) else None,
        simulated=len(runs.made),
        comparison=_compared(asked, chosen, judge, places),
    )


def steps_of(question: Question, before: str, after: str) -> tuple[Question, list[int | None]]:
    """The question with a strategy a month: never, the last month, ..., at once; and the months."""
    scenario = question.scenario
    first, second = _strategy(question, before, "--from"), _strategy(question, after, "--to")
    if before == after:
        rule = "a step goes from one strategy to another"
        raise InputError(Problem(rule, key="--from, --to", value=before))
    _refuse_other_rules(first, second)
    months: list[int | None] = []
    number = 0
    while scenario.elapsed_us(add_months(scenario.start, number)) < scenario.horizon_us:
        months.append(number)
        number += 1
    months = [None, *reversed(months)]
    strategies = tuple(_stepping(first, second, scenario.start, month) for month in months)
    changed = scenario.model_copy(update={"strategies": strategies})
    return dataclasses.replace(question, scenario=changed), months


def _strategy(question: Question, name: str, option: str) -> Strategy:
    names = tuple(strategy.name for strategy in question.scenario.strategies)
    if name not in names:
        rule = "the scenario has no strategy of this name"
        raise InputError(Problem(rule, key=option, value=name, known=names))
    strategy = question.scenario.strategies[names.index(name)]
    if any(
        lease.start or lease.end or lease.converts or lease.joins is not None for lease in strategy.leases
    ):
        rule = "a fleet to step from or to has leases of the whole horizon, without dates of their own"
        raise InputError(Problem(rule, key=option, value=name))
    return strategy


def _refuse_other_rules(first: Strategy, second: Strategy) -> None:
    alike = {"name": "", "leases": second.leases}
    if first.model_copy(update=alike) != second.model_copy(update=alike):
        rule = "both fleets need the same queue policy, placement and burst: only leases change with the step"
        raise InputError(Problem(rule, key="--from, --to", value=f"{first.name}, {second.name}"))


def _stepping(first: Strategy, second: Strategy, start: datetime, month: int | None) -> Strategy:
    if month is None:
        return first.model_copy(update={"name": f"never: {first.name}"})
    if month == 0:
        return second.model_copy(update={"name": f"at once: {second.name}"})
    at = add_months(start, month)
    leases: list[Lease] = []
    left = list(second.leases)
    for lease in first.leases:
        same = next((one for one in left if one.model_copy(update={"count": lease.count}) == lease), None)
        if same is None:
            leases.append(lease.model_copy(update={"end": at}))
            continue
        left.remove(same)
        stays, more = min(lease.count, same.count), same.count - lease.count
        leases.append(lease.model_copy(update={"count": stays}))
        if more > 0:
            leases.append(lease.model_copy(update={"count": more, "start": at}))
        elif more < 0:
            leases.append(lease.model_copy(update={"count": -more, "end": at}))
    leases += [lease.model_copy(update={"start": at}) for lease in left]
    name = f"from {at:%Y-%m-%d}: {second.name}"
    return first.model_copy(update={"name": name, "leases": tuple(leases)})


def _shared(rule: Selection, months: int) -> Selection:
    """The error shared out over the judgements of one search by halving, and the two neighbours."""
    judgements = math.ceil(math.log2(max(2, months))) + 3
    return rule.model_copy(update={"confidence": 1 - (1 - rule.confidence) / judgements})


def _money(runs: Runs, judge: Judge, place: int) -> tuple[float, float]:
    """Committed and accrued cost."""
    strategy = runs.question.scenario.strategies[place]
    judged = judge.found.get(place)
    if strategy.burst is None or judged is None:
        ledger = quote(runs.question, place).ledger
        return float(ledger.committed), float(ledger.accrued)
    samples = runs.ask([(place, number) for number in range(judged.replications)])
    committed, accrued = (
        math.fsum(sample.metrics[metric] or 0.0 for sample in samples) / len(samples)
        for metric in (MONEY, "cost_cny")
    )
    return committed, accrued


def _cents(money: tuple[float, float]) -> tuple[float, float]:
    return round(money[0], 2), round(money[1], 2)


def _against(step: Step | None, chosen: Step | None) -> dict[str, float] | None:
    """What a step costs more than the chosen one, committed and accrued; negative: it saves."""
    if step is None or chosen is None:
        return None
    return {"committed": step.cost - chosen.cost, "accrued": step.accrued - chosen.accrued}


def _as_step(
    question: Question,
    month: int | None,
    money: tuple[float, float],
    judged: Judgement | None,
    where: int | None,
    place: int,
) -> Step:
    if judged is not None:
        standing: Standing = judged.standing
    else:
        standing = "taken to meet" if where is not None and place >= where else "taken to miss"
    at = None if month is None else add_months(question.scenario.start, month)
    means = () if judged is None else judged.means
    return Step(month, at, *money, standing, 0 if judged is None else judged.replications, means)


def _compared(question: Question, chosen: int | None, judge: Judge, places: Places) -> Comparison:
    """The chosen month and its neighbours, with as many replications as the search needed for them."""
    strategies = question.scenario.strategies
    last = len(strategies) - 1
    near = [last, 0] if chosen is None else [chosen, chosen - 1, chosen + 1, 0, last]
    kept = list(dict.fromkeys(place for place in near if 0 <= place <= last))
    scenario = question.scenario.model_copy(update={"strategies": tuple(strategies[i] for i in kept)})
    judged = [judge.found[place].replications for place in kept if place in judge.found]
    return compare(
        dataclasses.replace(question, scenario=scenario),
        replications=max(scenario.experiment.replications, *judged, 0),
        workers=places.workers,
        progress=places.progress,
        vault=places.vault,
        cluster=places.cluster,
    )


def _step(step: Step) -> dict[str, Any]:
    return {
        "month": step.month,
        "at": None if step.at is None else step.at.date().isoformat(),
        "committed_cost_cny": step.cost,
        "cost_cny": step.accrued,
        "standing": step.standing,
        "replications": step.replications,
    }
