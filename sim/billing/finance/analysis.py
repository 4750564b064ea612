"""Ways to rent set beside each other: closed form, billed curve, value, rate of return, downside.

The first way is the one that the others are compared with. Everything but the closed forms comes from
bills: each way is billed once for every month in which it might end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from sim.billing.finance.breakeven import (
    PlanCost,
    TermBreakEven,
    UseBreakEven,
    term_break_even,
    use_break_even,
)
from sim.billing.finance.budget import MonthRow, card_hours, monthly_table
from sim.billing.finance.downside import Downside, Ends, downside, even_probability
from sim.billing.finance.outcomes import Outcome, Way, billed_until, outcomes
from sim.billing.finance.presentvalue import Convention, Irr, irr, years_between
from sim.billing.finance.ski_rental import SkiRental, ski_rental
from sim.billing.rounding import as_decimal
from sim.model.terms import plan_months

__all__ = ["Analysis", "Pair", "WayResult", "analyse", "hour_price", "period_cost"]


@dataclass(frozen=True, slots=True)
class WayResult:
    """One way to rent over the whole time."""

    name: str
    plan: PlanCost | None
    """One period of its plan; None where it is not one prepaid lease from the beginning."""
    hour: Fraction | None
    """Currency per unit and hour where it is one lease by the hour."""
    units: int
    outcomes: tuple[Outcome, ...]
    """By month of end, from 1 to the whole time."""
    value: Decimal
    """Present value of the payments over the whole time, not rounded."""
    card_hours: Fraction
    """Card-hours that were rented."""
    table: tuple[MonthRow, ...]
    """Cash and cost by month over the whole time."""
    assumptions: tuple[str, ...]

    @property
    def cost(self) -> Decimal:
        """Paid over the whole time, whole cents."""
        return self.outcomes[-1].cost

    @property
    def effective_hour(self) -> Decimal | None:
        """Currency per card-hour rented."""
        return as_decimal(Fraction(self.cost) / self.card_hours) if self.card_hours else None


@dataclass(frozen=True, slots=True)
class Pair:
    """A way beside the first one."""

    first: str
    other: str
    term: TermBreakEven | None
    cheaper_months: tuple[int, ...]
    """Months of end in which the other way costs less, as billed."""
    cheaper_from: int | None
    """Month of end from which on it costs less, up to the whole time."""
    saving: Decimal
    """What the other way saves over the whole time; below 0: it costs more."""
    value_saving: Decimal
    """The same as present value, not rounded."""
    irr: Irr
    """Rate at which both are worth the same."""
    pays_earlier: bool
    """Whether the other way pays more at first: the rate is then what its earlier payments earn, and
    else what its later ones cost, as a loan does."""
    ski: SkiRental | None
    """When to stop renting by the shorter period if nobody knows how long the need lasts."""
    even: Mapping[int, Fraction | None]
    """Early end -> probability at which both have the same expected cost, the rest of the chance being
    the whole time."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The answer of `fleetsim breakeven`."""

    months: int
    """The whole time."""
    rate: Decimal
    convention: Convention
    ways: tuple[WayResult, ...]
    pairs: tuple[Pair, ...]
    uses: tuple[UseBreakEven, ...]
    """Hours a month, where some ways are prepaid and some by the hour."""
    downside: Downside | None


def analyse(
    ways: Sequence[Way],
    months: int,
    rate: Decimal,
    convention: Convention = "months",
    ends: Ends | None = None,
) -> Analysis:
    """Compare ways over `months`; `ends` must not lie beyond them. InputError as `bill` raises it."""
    results = tuple(_result(way, months, rate, convention) for way in ways)
    first = results[0]
    early = [] if ends is None else [month for month in ends.chances if month < months]
    costs = {way.name: {found.months: found.cost for found in way.outcomes} for way in results}
    return Analysis(
        months=months,
        rate=rate,
        convention=convention,
        ways=results,
        pairs=tuple(_pair(ways[0], first, other, rate, convention, early) for other in results[1:]),
        uses=_uses(results),
        downside=None if ends is None else downside(costs, ends),
    )


def _result(way: Way, months: int, rate: Decimal, convention: Convention) -> WayResult:
    found = outcomes(way, range(1, months + 1))
    billed = billed_until(way, months)
    leases = way.strategy.leases
    alone = leases[0] if len(leases) == 1 and leases[0].start in (None, way.scenario.start) else None
    if alone is not None and (alone.converts or alone.started is not None):
        alone = None
    hourly = alone is not None and alone.plan == "hourly"
    return WayResult(
        name=way.name,
        plan=None if alone is None or hourly else period_cost(way, plan_months(alone.plan)),
        hour=hour_price(way) if hourly else None,
        units=0 if alone is None else alone.count,
        outcomes=found,
        value=found[-1].value(rate, way.scenario.start, convention),
        card_hours=Fraction(0) if billed is None else card_hours(billed.ledger.charges),
        table=() if billed is None else monthly_table(billed.ledger, billed.scenario),
        assumptions=() if billed is None else billed.ledger.assumptions,
    )


def _pair(
    way: Way, first: WayResult, other: WayResult, rate: Decimal, convention: Convention, early: Sequence[int]
) -> Pair:
    beside = list(zip(first.outcomes, other.outcomes, strict=True))
    cheaper = tuple(one.months for one, two in beside if two.cost < one.cost)
    start = way.scenario.start
    flows = [
        (years_between(start, flow.at, convention), sign * flow.amount)
        for sign, result in ((1, first), (-1, other))
        for flow in result.outcomes[-1].payments
    ]
    months = first.outcomes[-1].months
    return Pair(
        first=first.name,
        other=other.name,
        term=None
        if first.plan is None or other.plan is None
        else term_break_even(first.plan, other.plan, rate),
        cheaper_months=cheaper,
        cheaper_from=next((m for m in cheaper if all(n in cheaper for n in range(m, months + 1))), None),
        saving=first.cost - other.cost,
        value_saving=first.value - other.value,
        irr=irr(flows),
        pays_earlier=_pays_earlier(flows),
        ski=_ski(first.plan, other.plan),
        even={
            month: even_probability(
                first.cost, first.outcomes[month - 1].cost, other.cost, other.outcomes[month - 1].cost
            )
            for month in early
        },
    )


def _ski(one: PlanCost | None, other: PlanCost | None) -> SkiRental | None:
    """Ski rental between a plan of months and one of a longer period; its unit is the shorter period."""
    if one is None or other is None or one.months == other.months:
        return None
    longer, shorter = (one, other) if one.months > other.months else (other, one)
    return ski_rental(shorter.amount, longer.amount)


def _pays_earlier(flows: Sequence[tuple[Fraction, Decimal]]) -> bool:
    """Whether the first difference in time is money that goes out."""
    by_time: dict[Fraction, Decimal] = {}
    for years, amount in flows:
        by_time[years] = by_time.get(years, Decimal(0)) + amount
    return next((by_time[years] < 0 for years in sorted(by_time) if by_time[years]), False)


def _uses(results: Sequence[WayResult]) -> tuple[UseBreakEven, ...]:
    """Break-even in hours a month of every prepaid way with every way by the hour."""
    return tuple(
        use_break_even(prepaid.plan, hourly.name, hourly.hour, hourly.units)
        for hourly in results
        for prepaid in results
        if prepaid.plan is not None and hourly.hour is not None
    )


def period_cost(way: Way, months: int) -> PlanCost | None:
    """One period of a prepaid lease, as billed: the first purchase, and the tax on it that is a cost."""
    billed = billed_until(replace(way, bursts=()), months)
    charges = () if billed is None else billed.ledger.charges
    first = next((charge for charge in charges if charge.category == "purchase"), None)
    if first is None:
        return None
    tax = (c for c in charges if c.category == "tax" and c.of == first.id and not c.recoverable)
    return PlanCost(way.name, months, Fraction(first.billed_cost + sum(charge.billed_cost for charge in tax)))


def hour_price(way: Way) -> Fraction | None:
    """Price of an hour of one unit, tax that is a cost included."""
    billed = billed_until(replace(way, bursts=()), 1)
    charges = () if billed is None else billed.ledger.charges
    used = [charge for charge in charges if charge.category == "usage"]
    net = sum((Fraction(charge.billed_cost) for charge in used), Fraction(0))
    if not net:
        return None
    tax = sum(Fraction(c.billed_cost) for c in charges if c.category == "tax" and not c.recoverable)
    return Fraction(used[0].unit_price) * (net + tax) / net
