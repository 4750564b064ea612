"""`fleetsim budget`: what contracts cost month by month, and why the actual cost differs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sim.billing.finance.budget import BudgetLine, budget_lines, monthly_table, variance
from sim.billing.finance.outcomes import Billed, Way, billed_until
from sim.catalog import load_catalog
from sim.cli.breakeven_ways import START, offer_ways, rekeyed, strategy_ways
from sim.cli.budget_actual import read_actual
from sim.cli.budget_text import Budgeted, as_json, print_budget
from sim.cli.console import print_json
from sim.cli.finance_bursts import BurstOption, burst_notes, bursts_json, with_bursts
from sim.cli.finance_exchange import ExchangeOption, refuse_exchange
from sim.cli.finance_options import read_refund
from sim.cli.options import (
    CatalogOption,
    FormatOption,
    OutputFormat,
    PriceOption,
    SetOption,
    StrategyOption,
    price_choice,
    read_question,
    refuse_catalog,
    strategy_number,
)
from sim.errors import InputError, Problem
from sim.experiments.knobs_turns import months_of

if TYPE_CHECKING:
    from sim.experiments.expected_burst import ExpectedBurst

__all__ = ["budget"]

LONGEST = 120
"""Months of a budget."""


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
            min=1, max=LONGEST, help="Months of the budget; default: the scenario's horizon, 12 for an offer."
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
    own: CatalogOption = None,
    exchange: ExchangeOption = None,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Budget of contracts by month (cash, cost, prepaid balance), and actual against it.

    The difference is split into volume, mix and rate. Nothing is simulated, but bursts where --burst asks.
    """
    _refuse_mixture(offer, scenario, strategy, set_)
    refuse_catalog(own, scenario)
    refuse_exchange(exchange, scenario)
    rule = None if refund is None else read_refund(refund)
    question, key = None, None
    if scenario is not None:
        _refuse_run(scenario)
        question = read_question(scenario, set_, price)
        name = question.scenario.strategies[strategy_number(question, strategy)].name
        ways = strategy_ways(question, name, rule)
        length = months or min(LONGEST, math.ceil(months_of(question.scenario) - 1e-6))
    else:
        key, level = "--plan", price_choice(price)
        ways = offer_ways(load_catalog(own), offer or "", count, plan, start, rule, None, level, exchange)
        length = months or 12
    if len(ways) > 1:
        raise InputError(Problem("one plan has a budget, not several", key="--plan", value=plan))
    real = None if actual is None else read_actual(actual)
    (way,), bursts = with_bursts(ways, question, length, burst)
    budgeted = _budgeted(way, _billed(way, length, key), length, real, bursts)
    if format_ is OutputFormat.JSON:
        print_json({**as_json(budgeted), "bursts": bursts_json(bursts)})
        return
    print_budget(budgeted)


def _refuse_mixture(
    offer: str | None, scenario: Path | None, strategy: str | None, changes: Sequence[str] | None
) -> None:
    """InputError unless an offer or a scenario is budgeted, with the options that belong to it."""
    if (offer is None) == (scenario is None):
        raise InputError(Problem("give either an offer or a scenario", key="--offer"))
    if scenario is None and (strategy is not None or changes):
        raise InputError(Problem("is for a scenario", key="--set" if changes else "--strategy"))


def _refuse_run(scenario: Path) -> None:
    """InputError for a folder, such as of a run."""
    if scenario.is_dir():
        rule = "is a folder: a budget is made of a scenario file; fleetsim costs shows the cost of a run"
        raise InputError(Problem(rule, str(scenario)))


def _billed(way: Way, months: int, key: str | None) -> Billed:
    """The bill of so many months; InputError at the option `key`, None: where billing finds it."""
    try:
        billed = billed_until(way, months)
    except InputError as error:
        raise (error if key is None else rekeyed(error, key)) from None
    if billed is None:
        raise InputError(Problem("no lease begins within these months", key="--months", value=months))
    return billed


def _budgeted(
    way: Way,
    billed: Billed,
    months: int,
    real: Sequence[BudgetLine] | None,
    bursts: Sequence[ExpectedBurst],
) -> Budgeted:
    lines = budget_lines(billed.ledger)
    return Budgeted(
        name=way.name,
        since=f"{way.scenario.start:%Y-%m-%d}",
        months=months,
        currency=billed.ledger.currency,
        rows=monthly_table(billed.ledger, billed.scenario),
        lines=lines,
        actual=real,
        variance=None if real is None else variance(lines, real),
        notes=_notes(way, billed, bursts),
    )


def _notes(way: Way, billed: Billed, bursts: Sequence[ExpectedBurst]) -> list[str]:
    notes = [
        "Cost accrues evenly over usable time; the cost by month is the budget line.",
        "Everything ends with the last month.",
        *burst_notes([way], bursts),
    ]
    if any(lease.plan == "hourly" for lease in way.strategy.leases):
        notes.append("Cards by the hour are rented all the time.")
    return [*notes, *billed.ledger.assumptions]
