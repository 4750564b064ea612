"""`fleetsim costs`: cash and cost by month, and who costs what."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sim.cli.console import heading, print_json, print_table, say
from sim.cli.finance_options import read_number
from sim.cli.options import (
    FormatOption,
    OutputFormat,
    PriceOption,
    SeedOption,
    SetOption,
    StrategyOption,
    check_known,
)
from sim.cli.options_detail import ReplicationOption, RunArgument, detail_of
from sim.errors import InputError, Problem

if TYPE_CHECKING:
    from sim.billing.finance.on_demand import Asked
    from sim.experiments.again import Detail
    from sim.experiments.costs import Costs
    from sim.experiments.indicators import Indicator

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
        ByChoice, typer.Option(help="Cost by team, class of jobs or job; month: by none of them.")
    ] = (ByChoice.TEAM),
    share: Annotated[
        ShareChoice,
        typer.Option(
            help="Idle cost: a line of its own, or on jobs in proportion to busy or useful card-hours."
        ),
    ] = ShareChoice.NONE,
    on_demand: Annotated[
        str | None,
        typer.Option(
            metavar="CNY_PER_HOUR",
            help="What a prepaid card-hour would cost by the hour, to compare with; or OFFER=PRICE,... "
            "Default: the offer's own price by the hour, where it has one.",
        ),
    ] = None,
    replication: ReplicationOption = 0,
    set_: SetOption = None,
    seed: SeedOption = None,
    price: PriceOption = None,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Show cash and cost by month, the cost by team, class or job, and indicators, for one run."""
    from sim.experiments.costs import costs_of

    detail = detail_of(run, strategy, price, set_, replication, seed)
    found = costs_of(detail, by.value, share.value, _asked(on_demand, detail))
    if format_ is OutputFormat.JSON:
        print_json(found.to_json())
        return
    name = found.detail.question.scenario.name
    say(f"{name}: strategy {found.detail.run.strategy}", style="bold")
    say(f"Replication {found.detail.run.replication}: one run. Amounts in {found.allocation.currency}.")
    _months(found)
    if by is not ByChoice.MONTH:
        _states(found)
        _groups(found, by)
    _indicators(found)


def _asked(text: str | None, detail: Detail) -> Asked:
    """`6.5` for all offers, or `a100-40g-custom=6.5,rtx3090-24g-cloud=2`; InputError otherwise."""
    if text is None or "=" not in text:
        return None if text is None else _hour(text, text)
    leases = detail.question.scenario.strategies[detail.strategy].leases
    known = tuple(dict.fromkeys(lease.offer_id for lease in leases))
    found: dict[str, Decimal] = {}
    for part in text.split(","):
        offer, _, price = (piece.strip() for piece in part.partition("="))
        check_known("--on-demand", offer, known, "the strategy leases no such offer")
        if offer in found:
            raise InputError(Problem("an offer stands once", key="--on-demand", value=text))
        found[offer] = _hour(price, text)
    return found


def _hour(text: str, whole: str) -> Decimal:
    rule = "must be a price of a card-hour above 0, such as 6.5, or OFFER=PRICE,OFFER=PRICE"
    price = read_number(text, "--on-demand", rule)
    if price <= 0:
        raise InputError(Problem(rule, key="--on-demand", value=whole))
    return price


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
    columns = ["Name", "Jobs", "Card-hours", "Total", "Average a job", "Lost", "Reloaded"]
    columns += ["Marginal", "Opportunity"]
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
        "Average cost (Total) is what the card-hours that a job held cost, with idle time as --share says; "
        "marginal cost is what nobody would have paid without the job: its part of the cards rented in "
        "bursts, and nothing for cards that stand anyway. Lost and reloaded are parts of the total. "
        "Opportunity: what the time on standing cards would cost by the hour, paid by nobody: "
        f"{found.alternative}."
    )
    if found.allocation.burst_unused:
        say(f"Burst cards on which no job ran cost {_amount(found.allocation.burst_unused)}.")


def _indicators(found: Costs) -> None:
    from sim.experiments.indicators import listed

    heading("Indicators")
    shown = listed(found.indicators)
    rows = [(one.name, _value(one), one.unit, one.meaning) for one in shown]
    print_table(("Indicator", "Value", "Unit", "Meaning"), rows, text=(0, 2, 3))
    say(f"{found.indicators.on_demand.sentence}. Time by the hour counts at its own price.")
    if any(one.value is None for one in shown):
        missing = None in found.indicators.on_demand.prices.values()
        hint = " --on-demand gives a price by the hour." if missing else ""
        say(f"-: nothing to compare with, so it is not known; it is not 0.{hint}")


def _value(one: Indicator) -> str:
    if one.value is None:
        return "-"
    if one.kind == "share":
        return f"{round(100 * one.value, 1) + 0:,.1f} %"  # a share that rounds to 0 has no sign
    return _amount(one.value)


def _amount(amount: Decimal | None) -> str:
    return "-" if amount is None else f"{amount:,.2f}"


def _part(amount: Decimal, whole: Decimal) -> str:
    return f"{100 * amount / whole:.1f} %" if whole else "-"
