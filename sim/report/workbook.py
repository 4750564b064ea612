"""A stored run as a workbook for finance: what it comes to, when it is paid, and every line behind it.

Totals are formulas that lead to the lines they sum. Strategies are alternatives: each has its own
totals on the summary, and a sum over all of them is there to check a sheet by, not to pay.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from sim.billing.accrual import AFTER, CashPeriod, cash_and_cost
from sim.billing.grains import calendar_edges, elapsed
from sim.experiments.stored import StoredRun
from sim.experiments.stored_replication import ledger_of
from sim.experiments.wording import sureness
from sim.model.ledger import Charge, Ledger
from sim.report.workbook_file import MOST_ROWS, Book
from sim.report.workbook_indicators import COLUMNS, MEANINGS, Indicated, indicated
from sim.report.workbook_table import Cell, Column, Formula, Table

__all__ = ["workbook"]

BALANCE = "Prepaid at its end: what was so before, and what is paid, less tax that comes back and less cost."
ASSUMED = "What is taken where no source says it; each is a parameter of the scenario or of the offer."
ALTERNATIVES = "Strategies are alternatives: the total over all of them only checks this sheet."

LEDGER = (
    Column("strategy no", "count"), Column("strategy"), Column("charge", "count"),
    Column("invoice no", "count"), Column("period no", "count"), Column("paid on", "time"),
    Column("provider"), Column("offer"), Column("lease"),
    Column("plan"), Column("category"), Column("period from", "time"),
    Column("period until", "time"), Column("quantity", "number"), Column("unit"),
    Column("list price", "number"), Column("price", "number"),
    Column("list cost", "money", total=True), Column("billed", "money", total=True),
    Column("accrued", "money", total=True), Column("owed after", "money", total=True),
    Column("to pay", "money", total=True), Column("recoverable", "money", total=True),
    Column("of charge", "count"), Column("rule", "long"),
)  # fmt: skip
INVOICES = (
    Column("invoice no", "count"), Column("strategy no", "count"), Column("strategy"), Column("provider"),
    Column("month", "month"), Column("lines", "count"), Column("total", "money", total=True),
)  # fmt: skip
CASH = (
    Column("strategy no", "count"), Column("strategy"), Column("period no", "count"), Column("period"),
    Column("within", "count"), Column("paid", "money", total=True),
    Column("recoverable", "money", total=True), Column("accrued", "money", total=True),
    Column("prepaid at its end", "money"),
)  # fmt: skip
SUMMARY = (
    Column("strategy no", "count"), Column("strategy"), Column("billed", "money"),
    Column("invoiced", "money"), Column("invoiced less billed", "money"),
    Column("paid within", "money"), Column("accrued", "money"),
    Column("owed after", "money"), Column("committed", "money"),
    Column("committed, mean of all runs", "money"),
    Column("meets the target"), *COLUMNS,
)  # fmt: skip
COMPARISON = (
    Column("strategy"), Column("metric"), Column("unit"), Column("mean", "number"), Column("low", "number"),
    Column("high", "number"), Column("runs", "count"), Column("less the baseline", "number"),
    Column("difference, low", "number"), Column("difference, high", "number"), Column("meaning", "long"),
)  # fmt: skip
ASSUMPTIONS = (Column("strategy"), Column("assumption", "long"))

Rows = list[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class _Part:
    """One strategy: its number in the book, its ledger, and its charges' invoices and periods."""

    number: int
    name: str
    ledger: Ledger
    invoice_of: Mapping[int, int]
    """Charge -> number of its invoice in the book; what was paid before the scenario has none."""
    first_invoice: int
    period_of: Mapping[int, int]
    """Charge -> number of the row of the cash flow in which it is paid, from 1."""


def workbook(run: StoredRun, most_rows: int = MOST_ROWS, replication: int = 0) -> Book:
    """The book of a run, ready to be saved; ledgers and indicators are those of one replication.

    Raises InputError where a strategy has no such replication.
    """
    book, parts, scenario = Book(most_rows), _parts(run, replication), run.question.scenario
    ledger_rows = [_line(part, charge) for part in parts for charge in part.ledger.charges]
    ledger = book.place("Ledger", LEDGER, len(ledger_rows), 1)
    invoices = book.place("Invoices", INVOICES, sum(len(part.ledger.invoices) for part in parts), 1)
    flows = {part.number: cash_and_cost(part.ledger, scenario) for part in parts}
    cash = book.place("Cash flow", CASH, sum(len(flow) + 1 for flow in flows.values()), 2)
    about, decision, ratios = _about(run, replication), _decision(run), indicated(run, replication)
    summary = book.place("Summary", SUMMARY, len(parts), len(about))

    summed = _summary_rows(run, parts, (summary, ledger, invoices, cash), ratios)
    book.add(summary, summed, about)
    book.add(cash, _cash_rows(parts, flows, cash, ledger), [BALANCE, ALTERNATIVES])
    book.add(invoices, _invoice_rows(parts, invoices, ledger), [ALTERNATIVES])
    book.add(ledger, ledger_rows, [ALTERNATIVES])
    told = run.table("assumptions")
    texts: Rows = [
        (name or "all", text) for name, text in zip(told["strategy"], told["assumption"], strict=True)
    ]
    book.add(book.place("Assumptions", ASSUMPTIONS, len(texts), 1), texts, [ASSUMED])
    metrics = _comparison_rows(run)
    book.add(book.place("Comparison", COMPARISON, len(metrics), len(decision)), metrics, decision)
    listed = book.place("Indicators", MEANINGS, ratios.length, 1)
    book.add(listed, ratios.rows(summary, summed), [ratios.said])
    return book


def _parts(run: StoredRun, replication: int) -> list[_Part]:
    scenario = run.question.scenario
    edges, parts, invoice = calendar_edges(scenario, "month"), [], 1
    for number, name in enumerate(run.strategies, 1):
        ledger = ledger_of(run, name, replication)
        invoice_of = {
            charge: invoice + position
            for position, one in enumerate(ledger.invoices)
            for charge in one.charges
        }
        period_of = {
            charge.id: min(max(1, bisect_right(edges, elapsed(scenario, charge.cash_date))), len(edges))
            for charge in ledger.charges
        }
        parts.append(_Part(number, name, ledger, invoice_of, invoice, period_of))
        invoice += len(ledger.invoices)
    return parts


def _line(part: _Part, charge: Charge) -> Sequence[Cell]:
    to_pay = Decimal(0) if charge.sunk else charge.billed_cost
    return (
        part.number, part.name, charge.id, part.invoice_of.get(charge.id),
        None if charge.sunk else part.period_of[charge.id], charge.cash_date, charge.provider, charge.offer,
        charge.lease, charge.plan, charge.category, charge.period_start, charge.period_end, charge.quantity,
        charge.unit, charge.list_unit_price, charge.unit_price, charge.list_cost, charge.billed_cost,
        charge.accrued_cost, charge.owed_after, to_pay, to_pay if charge.recoverable else Decimal(0),
        charge.of, charge.rule,
    )  # fmt: skip


def _invoice_rows(parts: Sequence[_Part], invoices: Table, ledger: Table) -> Rows:
    rows: Rows = []
    for part in parts:
        for number, invoice in enumerate(part.ledger.invoices, part.first_invoice):
            lines = ledger.sum_where("to pay", invoice_no=invoices.cell(len(rows), "invoice no"))
            month = date.fromisoformat(f"{invoice.month}-01")
            total = Formula(lines, invoice.total)
            rows.append(
                (number, part.number, part.name, invoice.provider, month, len(invoice.charges), total)
            )
    return rows


def _cash_rows(
    parts: Sequence[_Part], flows: Mapping[int, Sequence[CashPeriod]], cash: Table, ledger: Table
) -> Rows:
    """For each strategy what was prepaid before, then each month, then all that is paid after."""
    rows: Rows = []
    for part in parts:
        zero, first = Decimal("0.00"), flows[part.number][0]
        before = first.balance - (first.cash - first.recoverable - first.accrued)
        rows.append((part.number, part.name, 0, "paid before", 0, zero, zero, zero, before))
        for period, flow in enumerate(flows[part.number], 1):
            here = len(rows)
            same = {
                "strategy_no": cash.cell(here, "strategy no"),
                "period_no": cash.cell(here, "period no"),
            }
            balance = (
                f"{cash.cell(here - 1, 'prepaid at its end')}+{cash.cell(here, 'paid')}"
                f"-{cash.cell(here, 'recoverable')}-{cash.cell(here, 'accrued')}"
            )
            rows.append(
                (
                    part.number,
                    part.name,
                    period,
                    flow.period,
                    int(flow.period != AFTER),
                    Formula(ledger.sum_where("to pay", **same), flow.cash),
                    Formula(ledger.sum_where("recoverable", **same), flow.recoverable),
                    flow.accrued,
                    Formula(balance, flow.balance),
                )
            )
    return rows


def _summary_rows(
    run: StoredRun, parts: Sequence[_Part], tables: tuple[Table, Table, Table, Table], ratios: Indicated
) -> Rows:
    summary, lines, invoices, cash = tables
    found = {one["name"]: one for one in run.document["strategies"]}
    rows: Rows = []
    for row, part in enumerate(parts):
        ledger, own = part.ledger, summary.cell(row, "strategy no")
        billed = sum((one.billed_cost for one in ledger.charges if not one.sunk), Decimal("0.00"))
        invoiced = sum((one.total for one in ledger.invoices), Decimal("0.00"))
        mean = found[part.name]["metrics"]["committed_cost_cny"]["mean"]
        difference = f"{summary.cell(row, 'invoiced')}-{summary.cell(row, 'billed')}"
        committed = f"{summary.cell(row, 'accrued')}+{summary.cell(row, 'owed after')}"
        rows.append(
            (
                part.number,
                part.name,
                Formula(lines.sum_where("to pay", strategy_no=own), billed),
                Formula(invoices.sum_where("total", strategy_no=own), invoiced),
                Formula(difference, invoiced - billed),
                Formula(cash.sum_where("paid", strategy_no=own, within="1"), ledger.cash),
                Formula(lines.sum_where("accrued", strategy_no=own), ledger.accrued),
                Formula(lines.sum_where("owed after", strategy_no=own), ledger.committed - ledger.accrued),
                Formula(committed, ledger.committed),
                mean,
                "yes" if found[part.name]["meets_target"] else "no",
                *ratios.cells(row, summary, ledger.accrued),
            )
        )
    return rows


def _about(run: StoredRun, replication: int) -> list[str | Sequence[Cell]]:
    """What the run is, above the summary."""
    document = run.document
    return [
        *_decision(run),
        f"Scenario: {document['scenario']}; run {run.manifest['run_id']} of fleetsim {document['version']}.",
        f"From {document['start']} to {document['end']} ({document['timezone']}).",
        f"Money in {document['currency']}; price ranges: {document['price'] or 'as the scenario says'}.",
        f"Ledgers are of replication {replication} of {document['replications']:,}, seed {document['seed']}.",
        "Billed: lines of the ledger. Invoiced: their invoices. Paid within: before the end of the horizon.",
        "Accrued: cost of time used. Owed after: owed for later. Committed: both. Ratios: sheet Indicators.",
    ]


def _decision(run: StoredRun) -> list[str | Sequence[Cell]]:
    found = run.document["recommendation"]
    sure = found["confidence"]
    how = f"it {found['confidence_method']}" if sure is None else f"the {found['confidence_method']}"
    return [
        f"Decision: {found['reason']}",
        f"How sure: {'not known' if sure is None else sureness(sure)}; {how}.",
    ]


def _comparison_rows(run: StoredRun) -> Rows:
    document = run.document
    less = {(one["strategy"], one["metric"]): one for one in document["differences"]}
    rows: Rows = []
    for strategy in document["strategies"]:
        for name, limits in strategy["metrics"].items():
            other = less.get((strategy["name"], name), {})
            rows.append(
                (
                    strategy["name"],
                    name,
                    limits["unit"],
                    *(limits[key] for key in ("mean", "low", "high", "n")),
                    *(other.get(key) for key in ("mean", "low", "high")),
                    document["metrics"][name]["description"],
                )
            )
    return rows
