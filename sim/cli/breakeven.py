"""`fleetsim breakeven`: two or more ways to pay for the same cards, and when one overtakes the other."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sim.billing.finance.analysis import Analysis, analyse
from sim.billing.finance.outcomes import Way
from sim.billing.finance.presentvalue import CONVENTIONS, Convention
from sim.catalog import load_catalog
from sim.cli.breakeven_ends import Asked, asked_ends
from sim.cli.breakeven_json import as_json
from sim.cli.breakeven_text import print_analysis
from sim.cli.breakeven_ways import START, offer_ways, rekeyed, strategy_ways, whole_months
from sim.cli.charts import ChartOption, write_chart
from sim.cli.console import print_json, say
from sim.cli.finance_bursts import BurstOption, burst_notes, bursts_json, with_bursts
from sim.cli.finance_exchange import ExchangeOption, refuse_exchange
from sim.cli.finance_options import RateOption, read_number, read_refund, read_share
from sim.cli.finance_text import percent
from sim.cli.options import (
    CatalogOption,
    FormatOption,
    OutputFormat,
    PriceOption,
    SetOption,
    check_file,
    check_known,
    price_choice,
    read_question,
    refuse_catalog,
)
from sim.cli.unlike_cards import unlike_cards
from sim.errors import InputError, Problem

if TYPE_CHECKING:
    from sim.experiments.expected_burst import ExpectedBurst

__all__ = ["breakeven"]


def breakeven(
    offer: Annotated[str | None, typer.Option(metavar="ID", help="Offer of the catalogue.")] = None,
    count: Annotated[int, typer.Option(min=1, max=1_000_000, help="Units of the offer.")] = 1,
    plans: Annotated[
        str,
        typer.Option(metavar="PLAN,PLAN", help="Plans to compare; OFFER:PLAN for one of another offer."),
    ] = "monthly,annual",
    scenario: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Compare strategies of this scenario instead.")
    ] = None,
    strategies: Annotated[
        str | None, typer.Option(metavar="NAME,NAME", help="Its strategies; default: all.")
    ] = None,
    set_: SetOption = None,
    months: Annotated[
        int | None,
        typer.Option(min=1, max=120, help="The whole time; default: the longest paid period, at least 12."),
    ] = None,
    hours: Annotated[
        str | None,
        typer.Option(metavar="H", help="Hours a month of each unit by the hour; default: all the time."),
    ] = None,
    start: Annotated[str, typer.Option(metavar="DATE", help="First day of the contracts.")] = START,
    rate: RateOption = "8%",
    convention: Annotated[
        str, typer.Option(help="Years between dates: months (twelfths by anniversary) or actual/365.")
    ] = "months",
    refund: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="none, pro-rata, re-rate or deposit-less-discounts, with keys: re-rate,matched=false.",
        ),
    ] = None,
    end_months: Annotated[
        str | None,
        typer.Option(metavar="M,M", help="Months in which it may end early: 3,6 or 3:0.2,6:10%."),
    ] = None,
    end_probability: Annotated[
        str | None,
        typer.Option(metavar="P", help="Probability of an early end, shared by these months; default 50%."),
    ] = None,
    end_hazard: Annotated[
        str | None,
        typer.Option(
            metavar="P", help="Probability a month that it ends, in every month that it reaches: 5%."
        ),
    ] = None,
    burst: BurstOption = 0,
    price: PriceOption = None,
    own: CatalogOption = None,
    exchange: ExchangeOption = None,
    out: ChartOption = None,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """When does a longer commitment pay? Closed form, bills month by month, value, return, downside.

    Examples: fleetsim breakeven --offer a100-40g-custom --plans monthly,annual
    fleetsim breakeven --offer a100-40g-custom --plans monthly,h100-mig:hourly
    """
    if out is not None:
        check_file(out, "--out", (".png",), [] if scenario is None else [scenario])
    rule = None if refund is None else read_refund(refund)
    used = None if hours is None else _hours(hours)
    _refuse_mixture(offer, scenario, own, strategies, set_, used)
    refuse_exchange(exchange, scenario)
    question, place = None, None
    if scenario is not None:
        question = read_question(scenario, set_, price)
        catalog = question.catalog
        ways = strategy_ways(question, strategies, rule)
    else:
        place, level = "--plans", price_choice(price)
        catalog = load_catalog(own)
        ways = offer_ways(catalog, offer or "", count, plans, start, rule, used, level, exchange)
    if len(ways) < 2:
        key, value = ("--strategies", strategies) if place is None else ("--plans", plans)
        raise InputError(Problem("two ways to pay are compared, or more", key=key, value=value))
    full = whole_months(ways) if months is None else months
    asked = asked_ends(end_months, end_probability, end_hazard, full)
    ways, bursts = with_bursts(ways, question, full, burst)
    analysis = _analysis(ways, full, read_share(rate, "--rate"), convention, asked, place)
    leased = [way.offers[lease.offer_id] for way in ways for lease in way.strategy.leases]
    notes = [*unlike_cards(catalog, leased), *_notes(analysis, ways, used, bursts)]
    _show(analysis, asked, notes, bursts, ways[0].scenario.currency, out, format_)


def _refuse_mixture(
    offer: str | None,
    scenario: Path | None,
    own: Path | None,
    strategies: str | None,
    changes: Sequence[str] | None,
    hours: Decimal | None,
) -> None:
    """InputError unless an offer or a scenario is asked about, with the options that belong to it."""
    if (offer is None) == (scenario is None):
        raise InputError(Problem("give either an offer or a scenario", key="--offer"))
    refuse_catalog(own, scenario)
    if scenario is not None and hours is not None:
        raise InputError(Problem("is for --offer: strategies lease all the time", key="--hours"))
    if scenario is None and (strategies is not None or changes):
        key = "--set" if changes else "--strategies"
        raise InputError(Problem("is for strategies of a --scenario", key=key))


def _analysis(
    ways: Sequence[Way],
    months: int,
    rate: Decimal,
    convention: str,
    asked: Asked,
    place: str | None,
) -> Analysis:
    """What the finance says of the ways; InputError at the option `place`, None: where billing finds it."""
    known: dict[str, Convention] = {name: name for name in CONVENTIONS}
    check_known("--convention", convention, known)
    try:
        return analyse(ways, months, rate, known[convention], asked.ends)
    except InputError as error:
        raise (error if place is None else rekeyed(error, place)) from None


def _show(
    analysis: Analysis,
    asked: Asked,
    notes: list[str],
    bursts: Sequence[ExpectedBurst],
    currency: str,
    out: Path | None,
    format_: OutputFormat,
) -> None:
    """Draw the chart that is asked for, and print the answer."""
    if out is not None:
        from sim.report.plots_finance import breakeven_chart
        from sim.report.plots_style import png

        write_chart(out, png(breakeven_chart(analysis, currency)))
    if format_ is OutputFormat.JSON:
        document = as_json(analysis, asked, currency, notes)
        chart = None if out is None else str(out)
        print_json({**document, "bursts": bursts_json(bursts), "chart": chart})
        return
    say(" or ".join(way.name for way in analysis.ways), style="bold")
    print_analysis(analysis, asked, currency, notes)
    if out is not None:
        say(f"{out} shows it.")


def _notes(
    analysis: Analysis, ways: Sequence[Way], used: Decimal | None, bursts: Sequence[ExpectedBurst]
) -> list[str]:
    """What the answer rests on: the conventions, then what the bills assume."""
    years = (
        "payments on monthly anniversaries are twelfths of a year apart, parts of months by their days"
        if analysis.convention == "months"
        else "years between payments are days / 365"
    )
    since = f"{ways[0].scenario.start:%Y-%m-%d}"
    notes = [
        f"Present values at {since}: effective annual rate of {percent(analysis.rate)}; {years}.",
        "A month of hours is 730 h (365 x 24 / 12) in closed forms; bills count the hours that a month has.",
    ]
    if any(way.hour is not None for way in analysis.ways):
        time = "all the time" if used is None else f"{used:f} h from the beginning of every month"
        notes.append(f"Each unit by the hour is rented {time}.")
    notes += burst_notes(ways, bursts)
    for way in analysis.ways:
        notes += [note for note in way.assumptions if note not in notes]
    return notes


def _hours(text: str) -> Decimal:
    """Hours a month of each unit; a month of 31 days has 744."""
    rule = "must be a number of hours above 0, at most 744"
    value = read_number(text, "--hours", rule)
    if not 0 < value <= 744:
        raise InputError(Problem(rule, key="--hours", value=text))
    return value
