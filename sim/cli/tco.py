"""`fleetsim tco`: what owning the cards costs a year and a useful card-hour, beside renting them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sim.billing.owning import own
from sim.catalog import load_catalog
from sim.cli.breakeven_ways import START
from sim.cli.charts import ChartOption, write_chart
from sim.cli.console import print_json, say
from sim.cli.finance_exchange import ExchangeOption
from sim.cli.finance_options import read_share
from sim.cli.options import (
    CatalogOption,
    FormatOption,
    OutputFormat,
    PriceOption,
    check_file,
    price_choice,
)
from sim.cli.tco_inputs import read_inputs, read_rents
from sim.cli.tco_text import as_json, print_tco
from sim.errors import InputError, Problem

__all__ = ["tco"]


def tco(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="YAML with the key owning; see docs/finance.md.")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Inputs below the file's: illustration (default) or article-002."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change an input, such as capital=1000000; repeat."),
    ] = None,
    rent: Annotated[
        str, typer.Option(metavar="OFFER:PLAN", help="What is rented instead; several with commas.")
    ] = "a100-40g-8x:annual",
    rent_downtime: Annotated[
        str, typer.Option(metavar="SHARE", help="Share of the time in which rented cards are down.")
    ] = "0",
    start: Annotated[str, typer.Option(metavar="DATE", help="First day of the rents.")] = START,
    price: PriceOption = None,
    catalog: CatalogOption = None,
    exchange: ExchangeOption = None,
    out: ChartOption = None,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Own or rent? A year of owning in parts, its books, and what a useful card-hour costs either way.

    Every input is a number, or {value, source}; what has no source is shown as assumed.
    """
    if out is not None:
        check_file(out, "--out", (".png",), [] if file is None else [file])
    inputs, name = read_inputs(file, preset, set_ or ())
    downtime = read_share(rent_downtime, "--rent-downtime")
    if downtime >= 1:
        raise InputError(Problem("must be below 1", key="--rent-downtime", value=rent_downtime))
    beside = read_rents(load_catalog(catalog), rent, inputs, downtime, start, price_choice(price), exchange)
    inputs = beside.inputs
    cost = own(inputs)
    if out is not None:
        from sim.report.plots_finance import owning_chart
        from sim.report.plots_style import png

        lines = [(one.name, one.year, one.hour, one.useful_hours) for one in beside.rents]
        write_chart(out, png(owning_chart(cost, inputs, lines)))
    if format_ is OutputFormat.JSON:
        document = as_json(beside, name, cost, downtime)
        print_json({**document, "chart": None if out is None else str(out)})
        return
    print_tco(beside, name, cost, downtime)
    if out is not None:
        say(f"{out} shows it.")
