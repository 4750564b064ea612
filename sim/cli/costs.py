"""`fleetsim costs`: cash and cost by month, and who costs what."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sim.cli.console import heading, print_json, print_table, say
from sim.cli.options import FormatOption, OutputFormat, PriceOption, SeedOption, SetOption, StrategyOption
from sim.cli.options_detail import RunArgument, detail_of

if TYPE_CHECKING:
    from sim.experiments.costs import Costs

__all__ = ["costs"]

SHOWN = 30
"""Groups written out, the dearest first; all of them are in the JSON document."""


class ByChoice(StrEnum):
    """What the cost is divided by."""

    TEAM = "team"
    CLASS = "class"
    JOB = "job"
    MONTH = "month"


class ShareChoice(StrEnum):
    """Whether idle cost is put on jobs, and in which proportion."""

    NONE = "none"
    BUSY = "busy"
    USEFUL = "useful"


def costs(
    run: RunArgument,
    strategy: StrategyOption = None,
    by: Annotated[
        ByChoice, typer.Option(help="Cost by team, class of jobs or job; month: cash and cost alone.")
    ] = (ByChoice.TEAM),
    share: Annotated[
        ShareChoice,
        typer.Option(
            help="Idle cost: a line of its own, or on jobs in proportion to busy or useful card-hours."
        ),
    ] = ShareChoice.NONE,
    replication: Annotated[int, typer.Option(min=0, help="Which replication, from 0.")] = 0,
    set_: SetOption = None,
    seed: SeedOption = None,
    price: PriceOption = None,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Show cash, cost and prepaid balance by month, and the cost by team, class or job, for one run."""
    from sim.experiments.costs import costs_of

    found = costs_of(detail_of(run, strategy, price, set_, replication, seed), by.value, share.value)
    if format_ is OutputFormat.JSON:
        print_json(found.to_json())
        return
    name = found.detail.question.scenario.name
    say(f"{name}: strategy {found.detail.run.strategy}", style="bold")
    say(f"Replication {found.detail.run.replication}: one run. Amounts in {found.allocation.currency}.")
    _months(found)
    if by is ByChoice.MONTH:
        return
    _states(found)
    _groups(found, by)


def _months(found: Costs) -> None:
    heading("Cash and cost by month")
    taxed = any(month.recoverable for month in found.months)
    columns = ["Month", "Cash", *(["of it recoverable tax"] if taxed else []), "Accrued", "Prepaid balance"]
    rows = [
        [
            month.period,
            _amount(month.cash),
            *([_amount(month.recoverable)] if taxed else []),
            _amount(month.accrued),
            _amount(month.balance),
        ]
        for month in found.months
    ]
    print_table(columns, rows)


def _states(found: Costs) -> None:
    from sim.experiments.costs import STATES

    heading("What the cost went into")
    whole = found.allocation
    rows: list[tuple[str, ...]] = [
        (state, f"{card_h:,.1f} h", _amount(cost), _part(cost, whole.accrued), STATES[state])
        for state, card_h, cost in found.states
        if card_h or cost
    ]
    if found.shared_idle:
        text = f"idle, on jobs by {whole.sharing} card-hours"
        rows.append(
            ("shared idle", "", _amount(found.shared_idle), _part(found.shared_idle, whole.accrued), text)
        )
    if whole.no_cards:
        text = "time without cards, such as disks of stopped ones"
        rows.append(
            ("without cards", "", _amount(whole.no_cards), _part(whole.no_cards, whole.accrued), text)
        )
    rows.append(
        ("all", "", _amount(whole.accrued), _part(whole.accrued, whole.accrued), "accrued by the ledger")
    )
    print_table(("State", "Card-hours", "Cost", "Share", "Meaning"), rows, text=(0, 4))


def _groups(found: Costs, by: ByChoice) -> None:
    heading(f"Cost by {by.value}")
    dearest = sorted(found.groups, key=lambda group: -group.sum(lambda job: job.total))
    columns = [
        "Name",
        "Jobs",
        "Card-hours",
        "Total",
        "Average a job",
        "Lost",
        "Reloaded",
        "Marginal",
        "Opportunity",
    ]
    if found.has_penalties:
        columns.append("Penalties")
    rows = []
    for group in dearest[:SHOWN]:
        total = group.sum(lambda job: job.total)
        row = [
            group.name,
            f"{len(group.jobs):,}",
            f"{group.busy_us / 3_600_000_000:,.1f} h",
            _amount(total),
            _amount(total / len(group.jobs)),
            _amount(group.state("lost")),
            _amount(group.state("reload")),
            _amount(group.sum(lambda job: job.marginal)),
            _amount(group.opportunity),
        ]
        rows.append([*row, _amount(group.sum(lambda job: job.penalty))] if found.has_penalties else row)
    print_table(columns, rows)
    if len(dearest) > SHOWN:
        say(f"... and {len(dearest) - SHOWN:,} more; --format json has all of them.")
    say(
        "Total: card-hours held, at what they cost, and shared idle. Marginal: cards rented in bursts for "
        "these jobs, which nobody would have paid without them; standing cards cost nothing more. "
        "Opportunity: what their time on standing cards would cost by the hour, paid by nobody: "
        f"{found.alternative}."
    )
    if found.allocation.burst_unused:
        say(f"Burst cards on which no job ran cost {_amount(found.allocation.burst_unused)}.")


def _amount(amount: Decimal | None) -> str:
    return "-" if amount is None else f"{amount:,.2f}"


def _part(amount: Decimal, whole: Decimal) -> str:
    return f"{100 * amount / whole:.1f} %" if whole else "-"
