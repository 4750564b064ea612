"""The cash-flow table by month, the budget line, and why the actual cost differs from it.

Cash is what is paid in a calendar month, cost the accrued share of that month, and the prepaid balance
what has been paid and not yet accrued (`sim.billing.accrual`). The budget line is the cost by month.

Variance of actual against budget, in three parts that sum to the whole:
volume = (all actual units - all budgeted units) x mean budgeted price;
mix = what the actual units cost at budgeted prices, less all actual units at the mean budgeted price;
rate = actual units x (actual price - budgeted price).
A line that was not budgeted takes its actual price as its budgeted one: it is mix, not rate.
Source: variance analysis of cost accounting (Horngren, Datar, Rajan, chapter 14).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from decimal import Decimal
from fractions import Fraction

from sim.billing.accrual import CashPeriod, cash_and_cost
from sim.billing.grains import calendar_edges, elapsed
from sim.billing.rounding import as_decimal
from sim.model.ledger import Charge, Ledger
from sim.model.scenario import Scenario
from sim.units import HOUR

__all__ = [
    "MEAN_CARD_HOURS",
    "BudgetLine",
    "MonthRow",
    "Variance",
    "budget_lines",
    "card_hours",
    "monthly_table",
    "variance",
]

MEAN_CARD_HOURS = "card-hours, mean of runs"
"""Unit of a charge that stands for what several runs rented on the mean: its quantity is card-hours."""

_ZERO = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class MonthRow:
    """One calendar month."""

    month: str
    """`2026-01`, or `after the horizon`."""
    paid: Mapping[str, Decimal]
    """Category of the ledger -> cash of the month; what comes back is below 0."""
    cash: Decimal
    cash_so_far: Decimal
    cost: Decimal
    """Accrued in the month."""
    cost_so_far: Decimal
    prepaid: Decimal
    """Balance at the end of the month: paid and not accrued, but for tax that comes back; below 0: used and
    not yet paid."""


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """One line of a budget or of what came of it."""

    name: str
    quantity: Decimal
    price: Decimal | Fraction
    """Currency per unit of `quantity`; a fraction where the amount is what is known exactly."""

    @property
    def exact(self) -> Fraction:
        """Quantity times price, exact."""
        return Fraction(self.quantity) * Fraction(self.price)

    @property
    def amount(self) -> Decimal:
        """Quantity times price."""
        return as_decimal(self.exact)


@dataclass(frozen=True, slots=True)
class Variance:
    """Why actual differs from budget: volume + rate + mix = total, exactly but for the last digits."""

    budget: Decimal
    actual: Decimal
    volume: Decimal
    rate: Decimal
    mix: Decimal

    @property
    def total(self) -> Decimal:
        """Actual less budget: above 0 is dearer than planned."""
        return self.actual - self.budget


def monthly_table(ledger: Ledger, scenario: Scenario) -> tuple[MonthRow, ...]:
    """Cash and cost by calendar month of the scenario, up to the last month with either.

    `scenario` is the one that was billed. What lies after its horizon is one row more, if there is any.
    """
    edges = calendar_edges(scenario, "month")
    paid: list[dict[str, Decimal]] = [{} for _ in edges]
    for charge in ledger.charges:
        if not charge.sunk:
            place = bisect_right(edges, elapsed(scenario, charge.cash_date)) - 1
            month = paid[min(max(0, place), len(edges) - 1)]
            month[charge.category] = month.get(charge.category, _ZERO) + charge.billed_cost
    return tuple(_rows(cash_and_cost(ledger, scenario), paid))


def budget_lines(ledger: Ledger) -> tuple[BudgetLine, ...]:
    """One line an offer and plan: card-hours rented, and what they cost with tax, refunds and fees.

    Input tax that comes back is left out; a line without card-hours (a fee alone) counts as one unit.
    """
    hours: dict[str, Fraction] = {}
    costs: dict[str, Fraction] = {}
    for charge in (charge for charge in ledger.charges if not charge.recoverable):
        name = f"{charge.offer} {charge.plan}"
        hours[name] = hours.get(name, Fraction(0)) + card_hours([charge])
        costs[name] = costs.get(name, Fraction(0)) + Fraction(charge.billed_cost)
    return tuple(
        BudgetLine(name, as_decimal(units), costs[name] / Fraction(as_decimal(units)))
        for name, units in ((name, found or Fraction(1)) for name, found in hours.items())
    )


def card_hours(charges: Iterable[Charge]) -> Fraction:
    """Card-hours that purchases and rentals by the hour pay for."""
    total = Fraction(0)
    for charge in charges:
        if charge.unit == MEAN_CARD_HOURS:
            total += Fraction(charge.quantity)
        elif charge.category in ("purchase", "usage"):
            begin, end = (moment.astimezone(UTC) for moment in charge.accrual)
            total += charge.cards * Fraction((end - begin) // timedelta(microseconds=1), HOUR)
    return total


def variance(budget: Sequence[BudgetLine], actual: Sequence[BudgetLine]) -> Variance:
    """Volume, rate and mix; lines are matched by name, each at most once a side (ValueError)."""
    planned, real = _by_name(budget), _by_name(actual)
    planned_units = sum((Fraction(line.quantity) for line in budget), Fraction(0))
    planned_cost = sum((line.exact for line in budget), Fraction(0))
    mean = planned_cost / planned_units if planned_units else Fraction(0)
    units = sum((Fraction(line.quantity) for line in actual), Fraction(0))
    at_budget = sum(
        (Fraction(line.quantity) * Fraction(planned.get(name, line).price) for name, line in real.items()),
        Fraction(0),
    )
    cost = sum((line.exact for line in actual), Fraction(0))
    return Variance(
        budget=as_decimal(planned_cost),
        actual=as_decimal(cost),
        volume=as_decimal((units - planned_units) * mean),
        rate=as_decimal(cost - at_budget),
        mix=as_decimal(at_budget - units * mean),
    )


def _rows(periods: Sequence[CashPeriod], paid: Sequence[Mapping[str, Decimal]]) -> list[MonthRow]:
    rows: list[MonthRow] = []
    cash_so_far = cost_so_far = _ZERO
    filled = 0
    for period, by_category in zip(periods, paid, strict=True):
        cash_so_far += period.cash
        cost_so_far += period.accrued
        rows.append(
            MonthRow(
                month=period.period,
                paid=by_category,
                cash=period.cash,
                cash_so_far=cash_so_far,
                cost=period.accrued,
                cost_so_far=cost_so_far,
                prepaid=period.balance,
            )
        )
        filled = len(rows) if by_category or period.accrued else filled
    return rows[:filled]


def _by_name(lines: Sequence[BudgetLine]) -> dict[str, BudgetLine]:
    found = {line.name: line for line in lines}
    if len(found) < len(lines):
        msg = "a line of a budget has a name of its own"
        raise ValueError(msg)
    return found
