"""`fleetsim focus`: one run as a file of cost and usage by the FOCUS specification."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sim.cli.console import print_json, say
from sim.cli.options import (
    FormatOption,
    OutputFormat,
    PriceOption,
    SetOption,
    StrategyOption,
    check_file,
)
from sim.cli.options_detail import ReplicationOption, RunArgument, detail_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sim.billing.focus_names import Row
    from sim.experiments.again import Detail

__all__ = ["focus"]


class GrainChoice(StrEnum):
    """Longest time of one usage row."""

    HOUR = "hour"
    DAY = "day"
    MONTH = "month"


class TaxChoice(StrEnum):
    """When tax is an effective cost."""

    ACCRUED = "accrued"
    BILLED = "billed"


def focus(
    run: RunArgument,
    out: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FILE.csv|.parquet", help="File to write.", show_default=False
        ),
    ],
    strategy: StrategyOption = None,
    grain: Annotated[
        GrainChoice, typer.Option(help="Longest time that one usage row stands for, by the local calendar.")
    ] = GrainChoice.DAY,
    tax: Annotated[
        TaxChoice,
        typer.Option(
            "--tax-effective",
            help="Effective cost of tax: accrued, with the time it belongs to (FOCUS 1.2), or as billed.",
        ),
    ] = TaxChoice.ACCRUED,
    replication: ReplicationOption = 0,
    set_: SetOption = None,
    price: PriceOption = None,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Export a run's cost and usage in the format of FOCUS 1.2, as CSV or Parquet.

    RUN is a folder of results, of which one replication is taken, or a scenario, of which one run is made.
    docs/focus.md says what stands in each column.
    """
    from sim.experiments.focus_files import ENDINGS, write_focus

    check_file(out, "-o", ENDINGS, [run] if run.is_file() else [])
    found = detail_of(run, strategy, price, set_, replication)
    number = write_focus(_rows(found, grain, tax), out)
    name, ledger = found.run.strategy, found.run.ledger
    if format_ is OutputFormat.JSON:
        from sim.experiments.quote import keys_in

        document = {
            "file": str(out),
            "focus_version": "1.2",
            "rows": number,
            "strategy": name,
            "replication": replication,
            "grain": grain.value,
            "tax_effective": tax.value,
            "currency": ledger.currency,
            "accrued_cny": float(ledger.accrued),
            "cash_cny": float(ledger.cash),
        }
        print_json(keys_in(ledger.currency, document))
        return
    say(
        f"{out} holds {number:,} rows of FOCUS 1.2 for strategy {name}, replication {replication}: usage by "
        f"the {grain.value}, {ledger.accrued:,} {ledger.currency} of accrued cost."
    )


def _rows(found: Detail, grain: GrainChoice, tax: TaxChoice) -> Iterator[Row]:
    from sim.billing.focus import focus_rows

    made, scenario = found.run, found.question.scenario
    return focus_rows(
        made.ledger, made.log, made.jobs, scenario, made.strategy, found.prepared.offers, grain.value,
        tax.value,
    )  # fmt: skip
