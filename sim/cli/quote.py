"""`fleetsim quote`: what leases cost, line by line, without a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sim.catalog import load_catalog
from sim.cli.console import bullets, heading, print_json, print_table, say
from sim.cli.finance_exchange import ExchangeOption, money_of, refuse_exchange
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
from sim.experiments.quote import Asked, Quote, asked_question
from sim.experiments.quote import quote as quoted
from sim.workload.wording import counted

__all__ = ["quote"]

LONGEST = 240
"""Months; a scenario covers at most 20 years."""


def quote(
    offer: Annotated[
        str | None, typer.Option(metavar="ID", help="Offer of the catalogue, or a slice of it: ID/PROFILE.")
    ] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Units of the offer; default: 1.")] = None,
    plan: Annotated[
        str | None, typer.Option(help="hourly, monthly, quarterly, annual, or another term such as 6-months.")
    ] = None,
    start: Annotated[str | None, typer.Option(metavar="DATE", help="First day, such as 2026-01-01.")] = None,
    months: Annotated[
        int | None, typer.Option(min=1, max=LONGEST, help="Months after which the lease ends.")
    ] = None,
    price: PriceOption = None,
    list_price: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="List price of a unit in place of the published one."),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Option of the offer; may be repeated.")
    ] = None,
    repeat_purchase: Annotated[
        bool, typer.Option("--repeat-purchase", help="Ask for the reduction for buying again.")
    ] = False,
    term: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Contract term, such as refund.rule=pro-rata or tax.rate=0.06; may be repeated.",
        ),
    ] = None,
    timezone: Annotated[
        str | None, typer.Option(metavar="NAME", help="IANA name; default: Asia/Shanghai.")
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Quote the leases of a strategy of this scenario instead."),
    ] = None,
    strategy: StrategyOption = None,
    own: CatalogOption = None,
    exchange: ExchangeOption = None,
    set_: SetOption = None,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Say what leases cost, line by line, with the code that bills a simulation but without one.

    Either --offer, --plan, --start and --months, or --scenario with --strategy.
    """
    lease = {
        "--offer": offer, "--count": count, "--plan": plan, "--start": start, "--months": months,
        "--list-price": list_price, "--option": option or None, "--term": term or None,
        "--repeat-purchase": repeat_purchase or None, "--timezone": timezone,
    }  # fmt: skip
    given = [name for name, value in lease.items() if value is not None]
    refuse_catalog(own, scenario)
    refuse_exchange(exchange, scenario)
    _refuse_mixture(given, scenario, strategy, set_)
    if scenario is not None:
        question = read_question(scenario, set_, price)
        found = quoted(question, strategy_number(question, strategy))
    elif offer is None or plan is None or start is None or months is None:
        rule = "a quote needs --offer, --plan, --start and --months, or --scenario FILE"
        missing = [name for name in ("--offer", "--plan", "--start", "--months") if name not in given]
        raise InputError(Problem(rule, key=missing[0]))
    else:
        catalog = load_catalog(own)
        money = money_of(catalog, [offer], exchange)
        asked = Asked(
            offer, count or 1, plan, start, months, tuple(option or ()), repeat_purchase, tuple(term or ()),
            list_price, timezone, money.currency, money.exchange or {},
        )  # fmt: skip
        found = quoted(asked_question(asked, price_choice(price), catalog), 0)
    if format_ is OutputFormat.JSON:
        print_json(found.to_json())
        return
    _print(found)


def _refuse_mixture(
    given: Sequence[str], scenario: Path | None, strategy: str | None, changes: Sequence[str] | None
) -> None:
    """InputError for options of a lease (`given`) beside a scenario, and for its options without one."""
    if scenario is not None and given:
        rule = "a quote is for a lease (--offer ...) or for a --scenario, not for both"
        raise InputError(Problem(rule, key=given[0]))
    if scenario is None and (strategy is not None or changes):
        rule = "this belongs to a --scenario, which is not given"
        raise InputError(Problem(rule, key="--set" if changes else "--strategy"))


def _print(found: Quote) -> None:
    scenario, ledger, of_file = found.question.scenario, found.ledger, found.question.path is not None
    if of_file:
        say(f"{scenario.name}: strategy {found.strategy}", style="bold")
    for lease in scenario.strategy(found.strategy).leases:
        begin, end = lease.start or scenario.start, lease.end
        until = "renewed at each anniversary" if end is None else f"to {_day(end)}"
        say(
            f"{lease.offer_id}: {counted(lease.count, 'unit')}, {lease.plan}, from {_day(begin)} {until}",
            style="bold",
        )
    heading(f"Lines, {ledger.currency}")
    rows = [
        (f"{line.cash_date:%Y-%m-%d}", f"{line.lease}, {line.category}: {line.rule}", f"{line.billed_cost:,}")
        for line in ledger.charges
    ]
    if rows:
        print_table(("Paid", "What and why", "Billed"), rows, text=(0, 1))
        heading(f"Cash by month, {ledger.currency}")
        print_table(("Month", "Paid"), [(month, f"{paid:,}") for month, paid in found.by_month], text=(0,))
    else:
        say("Nothing is billed.")
    heading(f"Totals, {ledger.currency}")
    totals = [
        ("Paid within the horizon" if of_file else "Paid", f"{ledger.cash:,.2f}"),
        ("Cost of the usable time (accrued)", f"{ledger.accrued:,.2f}"),
        ("Of it for later", f"{ledger.committed - ledger.accrued:,.2f}"),
    ]
    print_table(("Total", ledger.currency), totals, text=(0,))
    for text in found.notes:
        say(text)
    bullets("Assumptions", ledger.assumptions)


def _day(local: object) -> str:
    return str(local).removesuffix(" 00:00:00")
