"""A comparison as text for a terminal: the decision first, then what it rests on. Fits 100 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sim.experiments.comparison import Comparison, Difference, StrategyResult
from sim.experiments.wording import DASH, plain, value
from sim.report.tables_parts import (
    at_once_tables,
    bold_rule,
    doubt_tables,
    how_sure,
    new_table,
    no_chance,
    shown_figures,
    signed,
    two_lines,
)

__all__ = ["DIFFERENCES", "TABLES", "comparison_tables", "decision", "difference_table", "remarks", "render"]

Cell = Callable[[Comparison, StrategyResult], str]


def render(comparison: Comparison) -> RenderableType:
    """Everything, ready for `Console.print`."""
    return Group(
        decision(comparison),
        *comparison_tables(comparison),
        *([difference_table(comparison)] if comparison.differences else []),
        *at_once_tables(comparison),
        *doubt_tables(comparison),
        *remarks(comparison),
    )


def decision(comparison: Comparison) -> Text:
    """The recommendation in one sentence, and how sure it is."""
    found = comparison.recommendation
    sentence = f"{found.reason[:1].upper()}{found.reason[1:]}"
    style = "bold green" if found.strategy is not None else "bold yellow"
    return Text.assemble((sentence, style), "\n", (how_sure(comparison), "dim"))


def comparison_tables(comparison: Comparison) -> list[RenderableType]:
    """What decides, the money, the service: a row a strategy, in the order of the file."""
    shown = shown_figures(comparison)
    tables: list[RenderableType] = []
    for title, columns in TABLES.items():
        table = new_table(f"{title}: {shown}", columns)
        for result in comparison.strategies:
            style = "bold" if result.name == comparison.recommendation.strategy else ""
            cells = (Text(cell(comparison, result)) for cell in columns.values())
            table.add_row(Text(plain(result.name)), *cells, style=style)
        tables.append(table)
    return tables


def difference_table(comparison: Comparison) -> Table:
    """Each strategy minus the baseline, pair by pair; the interval tells whether it may be chance."""
    title = (
        f"Difference to {plain(comparison.baseline)}, on the same jobs and failures (pp: percentage points; "
        f"bold: {bold_rule(comparison)})"
    )
    table = new_table(title, DIFFERENCES.values())
    found: dict[str, dict[str, Difference]] = {}
    for difference in comparison.differences:
        found.setdefault(difference.strategy, {})[difference.metric] = difference
    for name, mine in found.items():
        cells = [_signed(comparison, mine.get(metric)) for metric in DIFFERENCES]
        table.add_row(Text(plain(name)), *cells)
    return table


def remarks(comparison: Comparison) -> list[RenderableType]:
    """Warnings, notes and assumptions, each as a list; what is empty is left out."""
    warnings = [
        warning.text if warning.strategy is None else f"{plain(warning.strategy)}: {warning.text}"
        for warning in comparison.warnings
    ]
    lists = (("Warnings", warnings), ("Notes", comparison.notes), ("Assumptions", comparison.assumptions))
    return [part for title, lines in lists if lines for part in _listed(title, lines)]


def _listed(title: str, lines: Iterable[str]) -> list[RenderableType]:
    points = Table.grid(padding=(0, 1))
    for line in lines:
        points.add_row("-", Text(plain(line)))
    return [Text(f"\n{title}", style="bold"), Padding(points, (0, 0, 0, 1))]


def _metric(name: str) -> Cell:
    def cell(comparison: Comparison, result: StrategyResult) -> str:
        interval = result.metrics.get(name)
        return DASH if interval is None else two_lines(interval, comparison.info(name).unit)

    return cell


def _mean(name: str) -> Cell:
    return lambda comparison, result: value(result.mean(name), comparison.info(name).unit)


def _signed(comparison: Comparison, difference: Difference | None) -> Text:
    """A difference with its sign and limits; bold where it is no chance."""
    if difference is None:
        return Text(DASH)
    return Text(signed(comparison, difference), style="bold" if no_chance(comparison, difference) else "")


TABLES: Mapping[str, Mapping[str, Cell]] = {
    "What decides": {
        "committed": _metric("committed_cost_cny"),
        "wait, p95": _metric("wait_p95_h"),
        "on time": _mean("on_time_share"),
        "refused": _mean("jobs_refused"),
        "target": lambda _, result: result.status,
        "Pareto": lambda _, result: "yes" if result.pareto else "no",
    },
    "Money": {
        "accrued": _metric("cost_cny"),
        "paid within": _mean("cash_cny"),
        "a month": _mean("cost_per_month_cny"),
        "a job": _mean("cost_per_job_cny"),
        "of it for later": _mean("owed_after_cny"),
    },
    "Service": {
        "wait, mean": _metric("wait_mean_h"),
        "jobs done": _mean("jobs_done"),
        "not done": _mean("jobs_unfinished"),
        "cards busy": _mean("busy_share"),
        "lost work": _mean("lost_gpu_h"),
        "target met": _mean("target_met_share"),
    },
}
"""Title -> heading -> cell. To add a column: one row here."""

DIFFERENCES: Mapping[str, str] = {
    "committed_cost_cny": "committed",
    "wait_p95_h": "wait, p95",
    "on_time_share": "on time",
    "busy_share": "cards busy",
}
"""Metric -> heading."""
