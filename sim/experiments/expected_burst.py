"""What a strategy rents by the hour in bursts, on the mean of runs, as charges by month of the contracts.

`budget` and `breakeven` bill contracts, which are known before any run. Bursts depend on the jobs: they are
simulated over the whole time, and what was billed for them is averaged month by month. A project that ends
early has had the bursts until then.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from sim.billing.finance.budget import MEAN_CARD_HOURS
from sim.billing.grains import elapsed
from sim.billing.periods import add_months
from sim.billing.rounding import as_decimal
from sim.experiments.metric_interval import metric_interval
from sim.experiments.runs import Places, Runs
from sim.experiments.statistics import Interval
from sim.experiments.stored_replication import billed
from sim.experiments.uncertain import at_base
from sim.experiments.wording import money
from sim.load import Question
from sim.model.ledger import Charge
from sim.model.scenario import Scenario
from sim.units import HOUR, Micros, round_money

__all__ = ["ExpectedBurst", "expected_burst"]

_Group = tuple[int, str, str, bool]
"""Month of the contracts in which the cost accrues, month in which it is paid, category, recoverable."""


@dataclass(frozen=True, slots=True)
class ExpectedBurst:
    """The mean bursts of one strategy over a number of months."""

    strategy: str
    months: int
    charges: tuple[Charge, ...]
    """By month; amounts are means over the replications, whole cents, and quantities card-hours."""
    cost: Interval
    """Of what is billed for bursts over the whole time, tax that comes back left out; currency."""
    currency: str
    seed: int

    @property
    def sentence(self) -> str:
        """What was done, and how sure it is."""
        found = self.cost
        limits = ""
        if found.low is not None and found.high is not None:
            limits = f" [{money(found.low, self.currency)} to {money(found.high, self.currency)}]"
        return (
            f"Bursts of {self.strategy!r} are means of {found.n:,} replications (seed {self.seed}) over "
            f"{self.months} months: {money(found.mean, self.currency)}{limits} in all. They are as in runs "
            "of the whole time; an early end leaves out those after it."
        )


def expected_burst(question: Question, strategy: int, months: int, replications: int) -> ExpectedBurst:
    """Simulate a strategy for so many months from the scenario's start, and average its bursts.

    `strategy`: its position. Inputs that are uncertain stand at their base. InputError where a lease cannot
    be billed.
    """
    asked = _over(at_base(question), strategy, months)
    scenario = asked.scenario
    runs = Runs.of(asked, Places())
    made = runs.ask([(0, number) for number in range(replications)])
    found = [
        [one for one in billed(asked, 0, sample.billable).charges if one.lease == "burst"] for sample in made
    ]
    costs = [
        float(sum((one.billed_cost for one in charges if not one.recoverable), Decimal(0)))
        for charges in found
    ]
    return ExpectedBurst(
        strategy=scenario.strategies[0].name,
        months=months,
        charges=_means(found, scenario, months),
        cost=metric_interval("burst_cost_cny", costs, scenario.experiment.confidence),
        currency=scenario.currency,
        seed=scenario.experiment.seed,
    )


def _over(question: Question, strategy: int, months: int) -> Question:
    """The question of this strategy alone, as replications over so many months."""
    scenario = question.scenario
    end = scenario.elapsed_us(add_months(scenario.start, months))
    experiment = scenario.experiment.model_copy(
        update={"until": None, "select": None, "steady_state": None, "warm_up": 0}
    )
    changes = {"strategies": (scenario.strategies[strategy],), "horizon": end, "experiment": experiment}
    return dataclasses.replace(question, scenario=scenario.model_copy(update=changes))


def _means(runs: Sequence[Sequence[Charge]], scenario: Scenario, months: int) -> tuple[Charge, ...]:
    edges = [scenario.elapsed_us(add_months(scenario.start, number)) for number in range(months + 1)]
    groups: dict[_Group, list[Charge]] = {}
    for charge in (one for charges in runs for one in charges):
        begin = elapsed(scenario, charge.accrual[0])
        month = min(max(0, bisect_right(edges, begin) - 1), months - 1)
        key = month, f"{charge.cash_date:%Y-%m}", charge.category, charge.recoverable
        groups.setdefault(key, []).append(charge)
    return tuple(
        _mean(key, groups[key], len(runs), scenario, edges)
        for key in sorted(groups)
        if sum(one.billed_cost for one in groups[key])
    )


def _mean(
    key: _Group, charges: Sequence[Charge], runs: int, scenario: Scenario, edges: Sequence[Micros]
) -> Charge:
    """One charge for all of a month: their mean over the runs, paid at their mean moment."""
    month, _, category, recoverable = key
    example = charges[0]
    cost = round_money(as_decimal(sum((Fraction(one.billed_cost) for one in charges), Fraction(0)) / runs))
    start, end = scenario.local_time(edges[month]), scenario.local_time(edges[month + 1])
    hours = _card_hours(charges) / runs
    price = as_decimal(Fraction(cost) / hours) if hours else Decimal(0)
    return dataclasses.replace(
        example,
        period_start=start,
        period_end=end,
        accrues_from=None,
        accrues_until=None,
        quantity=as_decimal(hours),
        unit=MEAN_CARD_HOURS,
        list_unit_price=price,
        unit_price=price,
        list_cost=cost,
        billed_cost=cost,
        accrued_cost=Decimal("0.00") if recoverable else cost,
        cash_date=_mean_moment([one.cash_date for one in charges]),
        rule=f"{category} of bursts in this month, mean of {runs:,} runs",
        machine=None,
        cards=0,
        of=None,
    )


def _card_hours(charges: Iterable[Charge]) -> Fraction:
    """Card-hours that the usage lines pay for; 0 for others."""
    total = Fraction(0)
    for one in charges:
        if one.category == "usage":
            begin, end = one.accrual
            total += one.cards * Fraction((end - begin) // timedelta(microseconds=1), HOUR)
    return total


def _mean_moment(moments: Sequence[datetime]) -> datetime:
    first = min(moments)
    later = sum(((one - first) // timedelta(seconds=1) for one in moments), 0)
    return first + timedelta(seconds=later // len(moments))
