"""`fleetsim budget`: what contracts cost month by month, and why the actual cost differs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim.billing.finance.budget import BudgetLine, MonthRow, Variance, budget_lines, monthly_table, variance
from sim.billing.finance.outcomes import Billed, Way, billed_until
from sim.billing.rounding import as_decimal
from sim.catalog import load_catalog
from sim.cli.breakeven_ways import START, offer_ways, rekeyed, strategy_ways
from sim.cli.budget_actual import read_actual
from sim.cli.console import heading, print_json, print_table, say
from sim.cli.finance_bursts import BurstOption, burst_notes, bursts_json, with_bursts
from sim.cli.finance_options import price_choice, read_refund
from sim.cli.options import (
    FormatOption,
    OutputFormat,
    PriceOption,
    SetOption,
    StrategyOption,
    read_question,
    strategy_number,
)
from sim.errors import InputError, Problem
from sim.experiments.knobs_turns import months_of
from sim.units import round_money

if TYPE_CHECKING:
    from sim.experiments.expected_burst import ExpectedBurst
    from sim.load import Question

__all__ = ["budget"]


def budget(
    scenario: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Scenario with the strategy to budget.")
    ] = None,
    strategy: StrategyOption = None,
    set_: SetOption = None,
    offer: Annotated[str | None, typer.Option(metavar="ID", help="Instead: an offer.")] = None,
    count: Annotated[int, typer.Option(min=1, max=1_000_000, help="Units of the offer.")] = 1,
    plan: Annotated[str, typer.Option(help="Its plan.")] = "annual",
    start: Annotated[str, typer.Option(metavar="DATE", help="Its first day.")] = START,
    months: Annotated[
        int | None,
        typer.Option(
            min=1, max=120, help="Months of the budget; default: the scenario's horizon, 12 for an offer."
        ),
    ] = None,
    refund: Annotated[
        str | None, typer.Option(metavar="RULE", help="Refund rule where leases end early, as in breakeven.")
    ] = None,
    actual: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="What it cost: columns line, card_hours, cost."),
    ] = None,
    burst: BurstOption = 0,
    price: PriceOption = None,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Budget of contracts by month (cash, cost, prepaid balance), and actual against it.

    The difference is split into volume, mix and rate. Nothing is simulated, but bursts where --burst asks.
    """
    if (offer is None) == (scenario is None):
        raise InputError(Problem("give either an offer or a scenario", key="--offer"))
    if scenario is None and (strategy is not None or set_):
        raise InputError(Problem("is for a scenario", key="--set" if set_ else "--strategy"))
    rule = None if refund is None else read_refund(refund)
    question: Question | None = None
    if scenario is not None:
        question = read_question(scenario, set_, price)
        name = question.scenario.strategies[strategy_number(question, strategy)].name
        (way, *more), key = strategy_ways(question, name, rule), None
        length = months or min(120, math.ceil(months_of(question.scenario) - 1e-6))
    else:
        length = months or 12
        (way, *more), key = (
            offer_ways(load_catalog(), offer or "", count, plan, start, rule, None, price_choice(price)),
            "--plan",
        )
    if more:
        raise InputError(Problem("one plan has a budget, not several", key="--plan", value=plan))
    real = None if actual is None else read_actual(actual)
    (way,), bursts = with_bursts([way], question, length, burst)
    try:
        billed = billed_until(way, length)
    except InputError as error:
        raise (error if key is None else rekeyed(error, key)) from None
    if billed is None:
        raise InputError(Problem("no lease begins within these months", key="--months", value=length))
    _show(way, billed, length, real, bursts, format_)


def _show(
    way: Way,
    billed: Billed,
    months: int,
    real: Sequence[BudgetLine] | None,
    bursts: Sequence[ExpectedBurst],
    format_: OutputFormat,
) -> None:
    rows = monthly_table(billed.ledger, billed.scenario)
    lines = budget_lines(billed.ledger)
    found = None if real is None else variance(lines, real)
    notes = _notes(way, billed, bursts)
    if format_ is OutputFormat.JSON:
        document = _json(way, billed, months, rows, lines, real, found, notes)
        print_json({**document, "bursts": bursts_json(bursts)})
        return
    unit = billed.ledger.currency
    length = "1 month" if months == 1 else f"{months} months"
    say(f"{way.name}: {length} from {way.scenario.start:%Y-%m-%d}", style="bold")
    heading(f"By calendar month, {unit}")
    print_table(
        ("Month", "Cash", "Cash so far", "Cost", "Cost so far", "Prepaid"),
        [
            (row.month, *map(_money, (row.cash, row.cash_so_far, row.cost, row.cost_so_far, row.prepaid)))
            for row in rows
        ],
    )
    heading("Lines")
    print_table(
        ("Line", "Card-hours", f"A card-hour, {unit}", f"Cost, {unit}"),
        [
            (one.name, f"{one.quantity:,.1f}", f"{as_decimal(Fraction(one.price)):,.4f}", _money(one.amount))
            for one in lines
        ],
    )
    if real is not None and found is not None:
        _print_variance(lines, real, found, unit)
    heading("Assumptions")
    for note in notes:
        say(f"- {note}")


def _print_variance(
    lines: Sequence[BudgetLine], real: Sequence[BudgetLine], found: Variance, unit: str
) -> None:
    heading(f"Actual against budget, {unit}")
    rows = [
        (
            name,
            _money(Decimal(0) if planned is None else planned.amount),
            _money(Decimal(0) if actual is None else actual.amount),
            _money(_amount(actual) - _amount(planned)),
            _money(_rate(planned, actual)),
        )
        for name, planned, actual in _side_by_side(lines, real)
    ]
    total = ("all", _money(found.budget), _money(found.actual), _money(found.total), _money(found.rate))
    print_table(("Line", "Budget", "Actual", "Difference", "of it rate"), [*rows, total])
    side = "above" if found.total >= 0 else "below"
    say(
        f"{_money(abs(found.total))} {unit} {side} budget: volume {_money(found.volume)}, mix "
        f"{_money(found.mix)}, rate {_money(found.rate)} (above 0 is dearer)."
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


def _notes(way: Way, billed: Billed, bursts: Sequence[ExpectedBurst]) -> list[str]:
    notes = [
        "Cost accrues evenly over usable time; the cost by month is the budget line.",
        "Everything ends with the last month.",
        *burst_notes([way], bursts),
    ]
    if any(lease.plan == "hourly" for lease in way.strategy.leases):
        notes.append("Cards by the hour are rented all the time.")
    return [*notes, *billed.ledger.assumptions]


def _json(
    way: Way,
    billed: Billed,
    months: int,
    rows: Sequence[MonthRow],
    lines: Sequence[BudgetLine],
    real: Sequence[BudgetLine] | None,
    found: Variance | None,
    notes: list[str],
) -> dict[str, Any]:
    return {
        "name": way.name,
        "currency": billed.ledger.currency,
        "months": months,
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
            for row in rows
        ],
        "lines": [_line_json(one) for one in lines],
        "actual": None if real is None else [_line_json(one) for one in real],
        "variance": None
        if found is None
        else {
            name: float(round_money(getattr(found, name)))
            for name in ("budget", "actual", "total", "volume", "mix", "rate")
        },
        "assumptions": notes,
    }


def _line_json(line: BudgetLine) -> dict[str, Any]:
    return {
        "line": line.name,
        "card_hours": float(line.quantity),
        "card_hour_price": float(line.price),
        "cost": float(round_money(line.amount)),
    }


def _money(amount: Decimal) -> str:
    return f"{round_money(amount) + 0:,.2f}"  # a difference that rounds to 0 has no sign
