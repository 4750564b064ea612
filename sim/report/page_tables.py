"""The tables of a page: what decides, money, service, differences, and what the kind of a run adds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from sim.billing.accrual import CashPeriod, cash_and_cost
from sim.experiments.comparison import Comparison, Difference
from sim.experiments.run_read import sound_document
from sim.experiments.stored import StoredRun
from sim.experiments.wording import DASH, limits, money, plain, value
from sim.report.page_html import Html, element, join, lines, listed, table
from sim.report.tables import DIFFERENCES, TABLES
from sim.report.tables_parts import bold_rule, no_chance, shown_figures, signed

__all__ = ["comparison_tables", "difference_table", "kind_tables", "month_tables", "target_table"]

LONG = 36
"""Months above which a table is folded."""

OPTIONS = 60
"""Options of a search that are written out; all are in the run's options.csv."""


def comparison_tables(comparison: Comparison) -> list[tuple[str, Html]]:
    """Title and table of what decides, the money and the service: a row a strategy, in the file's order."""
    shown = shown_figures(comparison)
    chosen = comparison.recommendation.strategy
    marked = [place for place, one in enumerate(comparison.strategies) if one.name == chosen]
    found = []
    for title, columns in TABLES.items():
        rows = [
            [plain(one.name), *(lines(cell(comparison, one)) for cell in columns.values())]
            for one in comparison.strategies
        ]
        whole = table(f"{title}: {shown}", ["strategy", *columns], rows, marked=marked)
        found.append((title, whole))
    return found


def target_table(comparison: Comparison) -> Html:
    """How each strategy stands to each line of the target."""
    names = [f"{one.name}: {_limit(one.at_least, one.limit, one.unit)}" for one in comparison.conditions]
    rows = []
    for result in comparison.strategies:
        cells = [
            lines("\n".join(filter(None, (f"{one.status}, {value(one.interval.mean, one.condition.unit)}",
                                          limits(one.interval, one.condition.unit)))))
            for one in result.verdicts
        ]  # fmt: skip
        rows.append([plain(result.name), *cells])
    return table("Target, line by line", ["strategy", *names], rows)


def _limit(at_least: bool, limit: float, unit: str) -> str:
    return f"{'at least' if at_least else 'at most'} {value(limit, unit)}"


def difference_table(comparison: Comparison) -> Html:
    """Each strategy less the baseline; bold where it is no chance."""
    found: dict[str, dict[str, Difference]] = {}
    for difference in comparison.differences:
        found.setdefault(difference.strategy, {})[difference.metric] = difference
    rows = [
        [plain(name), *(_signed(comparison, mine.get(metric)) for metric in DIFFERENCES)]
        for name, mine in found.items()
    ]
    caption = (
        f"Difference to {plain(comparison.baseline)}, on the same jobs and failures "
        f"(pp: percentage points; bold: {bold_rule(comparison)})"
    )
    return table(caption, ["strategy", *DIFFERENCES.values()], rows)


def _signed(comparison: Comparison, difference: Difference | None) -> Html:
    if difference is None:
        return lines(DASH)
    words = lines(signed(comparison, difference))
    return element("strong", words) if no_chance(comparison, difference) else words


# -- Money by month ----------------------------------------------------------------------------------


def month_tables(run: StoredRun) -> Iterator[Html]:
    """Cash, cost and what is prepaid, by month, of every strategy's ledger (replication 0)."""
    scenario = run.question.scenario
    for name in run.strategies:
        ledger = run.ledger(name)
        months = cash_and_cost(ledger, scenario)
        whole = _months(f"{plain(name)}, {ledger.currency}", months)
        if len(months) > LONG:
            whole = element("details", element("summary", f"{plain(name)}: {len(months)} months"), whole)
        yield whole


def _months(caption: str, months: Sequence[CashPeriod]) -> Html:
    zero = Decimal(0)
    taxed = any(month.recoverable for month in months)
    columns = ["month", "paid", "accrued", "prepaid at the end"]
    rows = [
        [month.period, _amount(month.cash), _amount(month.accrued), _amount(month.balance)]
        for month in months
    ]
    paid, accrued = sum((one.cash for one in months), zero), sum((one.accrued for one in months), zero)
    rows.append(["all", _amount(paid), _amount(accrued), ""])
    if taxed:
        columns.append("of it tax that comes back")
        back = [*(one.recoverable for one in months), sum((one.recoverable for one in months), zero)]
        rows = [[*row, _amount(amount)] for row, amount in zip(rows, back, strict=True)]
    return table(caption, columns, rows, marked=[len(rows) - 1])


def _amount(amount: Decimal) -> str:
    return f"{amount:,.2f}"


# -- What the kind of a run adds ---------------------------------------------------------------------


def kind_tables(run: StoredRun) -> Iterator[tuple[str, str, Html]]:
    """Key, title and content of what only a recommendation, a step or a run billed again has."""
    files = run.manifest["files"]
    for name, part in (("recommendation.json", _options), ("stepup.json", _steps)):
        if name in files:
            document = json.loads(run.read(name))
            with sound_document(run.folder / name):
                yield part(document, run)
    if "rebilled_from" in run.manifest:
        yield _rebilled(run)


def _options(document: Mapping[str, Any], run: StoredRun) -> tuple[str, str, Html]:
    currency = run.question.scenario.currency
    options = document["options"]
    shown = sorted(options, key=lambda one: (one["status"] != "chosen", not one["replications"]))[:OPTIONS]
    rows = [
        (
            plain(one["strategy"]),
            _cost(one["committed_cost_cny"], currency),
            one["status"],
            plain(one["reason"]),
            f"{one['replications']:,}" if one["replications"] else DASH,
        )
        for one in shown
    ]
    columns = ("option", "committed", "result", "why", "replications")
    marked = [place for place, one in enumerate(shown) if one["status"] == "chosen"]
    whole = table(
        f"{len(options):,} options of the search", columns, rows, texts=(0, 2, 3), marked=marked, stacked=True
    )
    runs = document["runs"]
    told = (
        f"{runs['simulated']:,} runs were simulated; all options with as many replications each would have "
        f"taken {runs['brute_force']:,}."
    )
    rest = len(options) - len(shown)
    more = [element("p", f"{rest:,} more are in options.csv of the run.")] if rest else []
    return "options", "Options considered", join((element("p", told), whole, *more))


def _steps(document: Mapping[str, Any], run: StoredRun) -> tuple[str, str, Html]:
    currency = run.question.scenario.currency
    chosen = document["chosen"]
    rows = [
        (
            "never" if one["month"] is None else str(one["month"]),
            one["at"] or DASH,
            _cost(one["committed_cost_cny"], currency),
            _cost(one["cost_cny"], currency),
            one["standing"],
            f"{one['replications']:,}" if one["replications"] else DASH,
        )
        for one in document["steps"]
    ]
    columns = ("after months", "on", "committed", "accrued", "target", "replications")
    marked = [place for place, one in enumerate(document["steps"]) if one == chosen]
    caption = f"From {plain(document['from'])} to {plain(document['to'])}"
    whole = table(caption, columns, rows, texts=(0, 1, 4), marked=marked)
    told = "No month meets the target." if chosen is None else ""
    return "steps", "When to step up", join((element("p", told) if told else "", whole))


def _cost(amount: float | None, currency: str) -> str:
    return DASH if amount is None else money(float(amount), currency)


def _rebilled(run: StoredRun) -> tuple[str, str, Html]:
    changes = [plain(str(change)) for change in run.manifest.get("changes", ())]
    told = f"This run bills run {run.manifest['rebilled_from']} again; jobs, waits and failures are its own."
    return "billed-again", "Billed again", join((element("p", told), listed(changes) if changes else ""))
