"""What `fleetsim budget` says: tables for people, one document for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sim.billing.finance.budget import BudgetLine, MonthRow, Variance
from sim.billing.rounding import as_decimal
from sim.cli.console import bullets, heading, print_table, say
from sim.cli.finance_text import cents
from sim.units import round_money
from sim.workload.wording import counted

__all__ = ["Budgeted", "as_json", "print_budget"]


@dataclass(frozen=True, slots=True)
class Budgeted:
    """A budget, and what it cost where that is known."""

    name: str
    """Of the strategy or plan."""
    since: str
    """Its first day, ISO 8601."""
    months: int
    currency: str
    rows: Sequence[MonthRow]
    lines: Sequence[BudgetLine]
    actual: Sequence[BudgetLine] | None
    """None: nobody said what it cost."""
    variance: Variance | None
    """None: the same."""
    notes: Sequence[str]


def print_budget(budget: Budgeted) -> None:
    """The budget by month and line, the actual cost beside it, and what it assumes."""
    unit = budget.currency
    say(f"{budget.name}: {counted(budget.months, 'month')} from {budget.since}", style="bold")
    heading(f"By calendar month, {unit}")
    print_table(
        ("Month", "Cash", "Cash so far", "Cost", "Cost so far", "Prepaid"),
        [
            (row.month, *map(cents, (row.cash, row.cash_so_far, row.cost, row.cost_so_far, row.prepaid)))
            for row in budget.rows
        ],
    )
    heading("Lines")
    print_table(
        ("Line", "Card-hours", f"A card-hour, {unit}", f"Cost, {unit}"),
        [
            (one.name, f"{one.quantity:,.1f}", f"{as_decimal(Fraction(one.price)):,.4f}", cents(one.amount))
            for one in budget.lines
        ],
    )
    if budget.actual is not None and budget.variance is not None:
        _print_variance(budget.lines, budget.actual, budget.variance, unit)
    bullets("Assumptions", budget.notes)


def _print_variance(
    lines: Sequence[BudgetLine], real: Sequence[BudgetLine], found: Variance, unit: str
) -> None:
    heading(f"Actual against budget, {unit}")
    rows = [
        (
            name,
            cents(Decimal(0) if planned is None else planned.amount),
            cents(Decimal(0) if actual is None else actual.amount),
            cents(_amount(actual) - _amount(planned)),
            cents(_rate(planned, actual)),
        )
        for name, planned, actual in _side_by_side(lines, real)
    ]
    total = ("all", cents(found.budget), cents(found.actual), cents(found.total), cents(found.rate))
    print_table(("Line", "Budget", "Actual", "Difference", "of it rate"), [*rows, total])
    side = "above" if found.total >= 0 else "below"
    say(
        f"{cents(abs(found.total))} {unit} {side} budget: volume {cents(found.volume)}, mix "
        f"{cents(found.mix)}, rate {cents(found.rate)} (above 0 is dearer)."
    )


def _side_by_side(
    lines: Sequence[BudgetLine], real: Sequence[BudgetLine]
) -> list[tuple[str, BudgetLine | None, BudgetLine | None]]:
    planned, actual = ({one.name: one for one in side} for side in (lines, real))
    return [(name, planned.get(name), actual.get(name)) for name in dict.fromkeys([*planned, *actual])]


def _amount(line: BudgetLine | None) -> Decimal:
    return Decimal(0) if line is None else line.amount


def _rate(planned: BudgetLine | None, actual: BudgetLine | None) -> Decimal:
    """Actual units at the difference of prices; 0 for a line on one side only."""
    if planned is None or actual is None:
        return Decimal(0)
    return as_decimal(Fraction(actual.quantity) * (Fraction(actual.price) - Fraction(planned.price)))


def as_json(budget: Budgeted) -> dict[str, Any]:
    """The document of `--format json`; money in `currency`."""
    found = budget.variance
    return {
        "name": budget.name,
        "currency": budget.currency,
        "months": budget.months,
        "by_month": [
            {
                "month": row.month,
                "cash": float(row.cash),
                "cash_so_far": float(row.cash_so_far),
                "cost": float(row.cost),
                "cost_so_far": float(row.cost_so_far),
                "prepaid": float(row.prepaid),
                "paid": {category: float(amount) for category, amount in row.paid.items()},
            }
            for row in budget.rows
        ],
        "lines": [_line_json(one) for one in budget.lines],
        "actual": None if budget.actual is None else [_line_json(one) for one in budget.actual],
        "variance": None
        if found is None
        else {
            name: float(round_money(getattr(found, name)))
            for name in ("budget", "actual", "total", "volume", "mix", "rate")
        },
        "assumptions": list(budget.notes),
    }


def _line_json(line: BudgetLine) -> dict[str, Any]:
    return {
        "line": line.name,
        "card_hours": float(line.quantity),
        "card_hour_price": float(line.price),
        "cost": float(round_money(line.amount)),
    }
