"""`fleetsim reconcile`: a real invoice against the ledger, line by line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

from sim.cli.console import heading, print_json, print_table, say
from sim.cli.options import (
    FormatOption,
    OutputFormat,
    PriceLevel,
    PriceOption,
    SetOption,
    check_known,
    read_question,
    strategy_number,
)
from sim.cli.options_detail import ReplicationOption, run_folder
from sim.cli.workload_options import DateOrder
from sim.cli.workload_settings import decimal_sign
from sim.errors import InputError, Problem
from sim.experiments.invoice_file import read_invoice
from sim.experiments.invoice_words import FIELDS
from sim.experiments.quote import quote
from sim.experiments.reconcile import CAUSES, Reconciliation, Settled
from sim.experiments.reconcile import reconcile as held_against
from sim.model.contract import Offer
from sim.model.ledger import Ledger

__all__ = ["reconcile"]

_FIELDS = ", ".join(FIELDS)


def reconcile(
    invoice: Annotated[Path, typer.Argument(metavar="INVOICE.csv|.xlsx", help="The provider's invoice.")],
    run: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Folder of a run: the ledger of one replication.")
    ] = None,
    scenario: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Scenario whose leases are billed without a run.")
    ] = None,
    strategy: Annotated[
        str | None, typer.Option(metavar="NAME", help="Strategy whose ledger it is; default: the first.")
    ] = None,
    replication: ReplicationOption = 0,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD=HEADER",
            help=f"Which column holds a field, such as amount=实付; may be repeated. Fields: {_FIELDS}.",
        ),
    ] = None,
    decimal: Annotated[
        str | None,
        typer.Option(metavar=".|,", help="Decimal sign of numbers; default: as the columns read."),
    ] = None,
    dates: Annotated[
        DateOrder | None,
        typer.Option(help="Order of days such as 3/2/2026; default: the one in which all of them read."),
    ] = None,
    item: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT=OFFER|LEASE", help="What words of the invoice stand for; may be repeated."
        ),
    ] = None,
    sheet: Annotated[
        str | None, typer.Option(metavar="NAME", help="Sheet of a workbook; default: the first.")
    ] = None,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="MONTH", help="First month of the ledger, 2026-01.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="MONTH", help="Last month of the ledger, included.")
    ] = None,
    set_: SetOption = None,
    price: PriceOption = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with code 1 if anything but rounding differs.")
    ] = False,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Hold a real invoice against the ledger, line by line, and split each difference into its causes."""
    months = _month(from_, "--from"), _month(until, "--until")
    ledger, offers, notes = _ledger(run, scenario, strategy, replication, set_, price)
    items = _pairs(item, "--item", "TEXT=OFFER")
    known = tuple(dict.fromkeys(n for line in ledger.charges for n in (line.offer, line.lease)))
    for target in items.values():
        check_known(
            "--item", target, known, "words of an invoice stand for an offer or a lease of the ledger"
        )
    columns, sign = _pairs(column, "--column", "FIELD=HEADER"), decimal and decimal_sign(decimal)
    read = read_invoice(invoice, columns, ledger.currency, sheet, sign, dates)
    found = held_against(read, ledger, offers, months, items, notes)
    if format_ is OutputFormat.JSON:
        print_json(found.to_json())
    else:
        _print(found)
    if strict and not found.agrees:
        raise typer.Exit(1)


def _ledger(
    run: Path | None,
    scenario: Path | None,
    strategy: str | None,
    replication: int,
    set_: list[str] | None,
    price: PriceLevel | None,
) -> tuple[Ledger, Mapping[str, Offer], tuple[str, ...]]:
    """The ledger that was asked for, the offers of its charges, and what to know about it."""
    if (run is None) == (scenario is None):
        rule = "an invoice is held against a --run or against the leases of a --scenario, one of them"
        raise InputError(Problem(rule, key="--run"))
    if run is not None:
        if set_ or price is not None:
            rule = "a run is taken as it was billed; bill it again with fleetsim rebill first"
            raise InputError(Problem(rule, key="--set" if set_ else "--price"))
        from sim.experiments.stored import open_run
        from sim.experiments.stored_replication import ledger_of

        stored = open_run(run_folder(run))
        name = stored.strategies[strategy_number(stored.question, strategy)]
        note = f"The ledger is that of strategy {name!r}, replication {replication}."
        if strategy is None and len(stored.strategies) > 1:
            note += f" It is the first of {len(stored.strategies)} in the run; --strategy NAME takes another."
        return ledger_of(stored, name, replication), stored.question.catalog.offers, (note,)
    if replication:
        rule = "leases alone are billed without a run, so there are no replications: give a --run"
        raise InputError(Problem(rule, key="--replication", value=replication))
    assert scenario is not None  # noqa: S101 - one of the two is given
    question = read_question(scenario, set_, price)
    found = quote(question, strategy_number(question, strategy))
    return found.ledger, question.catalog.offers, found.notes


def _month(text: str | None, option: str) -> str | None:
    if text is not None and not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])", text):
        raise InputError(Problem("a month is written 2026-01", key=option, value=text))
    return text


def _pairs(settings: list[str] | None, option: str, form: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for setting in settings or ():
        name, sign, value = setting.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise InputError(Problem(f"this is written {form}", key=option, value=setting))
        found[name.strip()] = value.strip()
    return found


def _print(found: Reconciliation) -> None:
    say(f"{found.invoice.path} against the ledger, {found.ledger.currency}", style="bold")
    unread = found.invoice.unread if found.extra or found.missing else ()
    if unread:
        hint = "name what one of them holds with --column FIELD=HEADER"
        say(f"Lines are without a partner, and columns are not read: {', '.join(unread)} ({hint}).", "yellow")
    differing = [one for one in found.settled if one.variance.difference]
    same = len(found.settled) - len(differing)
    heading(f"Lines that differ: {len(differing):,}; lines that agree to the cent: {same:,}")
    rows = [(*_where(one), *_amounts(one)) for one in differing]
    if rows:
        print_table(("Row", "What", "Invoice", "Ledger", "Difference", "Of it"), rows, text=(0, 1, 5))
    for one in differing:
        for note in one.variance.notes:
            say(f"- row {_rows(one)}: {note}")
    heading(f"On the invoice alone: {len(found.extra):,}")
    extra = [
        (str(line.row), line.category or "rent", line.text, f"{line.amount:,.2f}") for line in found.extra
    ]
    if extra:
        print_table(("Row", "Kind", "What", "Amount"), extra, text=(0, 1, 2))
    heading(f"In the ledger alone: {len(found.missing):,}")
    missing = [
        (str(line.id), f"{line.period_start:%Y-%m-%d}", f"{line.lease}, {line.offer}: {line.rule}", line)
        for line in found.missing
    ]
    if missing:
        shown = [(*cells, f"{line.billed_cost:,}") for *cells, line in missing]
        print_table(("Charge", "From", "What", "Amount"), shown, text=(0, 1, 2))
    totals = found.totals
    heading("Totals")
    names = {"invoice": "Invoice", "ledger": "Ledger", "difference": "Invoice less ledger"}
    lines = [(names.get(name, f"  of it {name}"), f"{value:,.2f}") for name, value in totals.items()]
    print_table(("Total", found.ledger.currency), lines, text=(0,))
    for note in found.notes:
        if not (unread and note == found.invoice.unread_note):
            say(note)


def _where(one: Settled) -> tuple[str, str]:
    return _rows(one), "; ".join(dict.fromkeys(line.text for line in one.match.lines)) or one.match.by


def _rows(one: Settled) -> str:
    return ", ".join(str(line.row) for line in one.match.lines)


def _amounts(one: Settled) -> tuple[str, str, str, str]:
    found = one.variance
    causes = {cause: getattr(found, cause) for cause in CAUSES[:4]}
    named = ", ".join(f"{cause} {_signed(value)}" for cause, value in causes.items() if value)
    return f"{found.invoice:,.2f}", f"{found.ledger:,.2f}", _signed(found.difference), named


def _signed(amount: Decimal) -> str:
    return f"{amount:+,.2f}"
