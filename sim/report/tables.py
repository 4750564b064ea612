"""A comparison as text for a terminal: the decision first, then what it rests on. Fits 100 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sim.experiments.comparison import Comparison, StrategyResult
from sim.experiments.frames import (
    attempts_frame,
    failures_frame,
    invoices_frame,
    jobs_frame,
    leases_frame,
    ledger_frame,
)
from sim.experiments.statistics import Interval
from sim.experiments.wording import DASH, limits, plain, sureness, value

__all__ = [
    "attempts_frame",
    "comparison_tables",
    "decision",
    "difference_table",
    "failures_frame",
    "invoices_frame",
    "jobs_frame",
    "leases_frame",
    "ledger_frame",
    "remarks",
    "render",
]

Cell = Callable[[Comparison, StrategyResult], str]


def render(comparison: Comparison) -> RenderableType:
    """Everything, ready for `Console.print`."""
    return Group(
        decision(comparison),
        *comparison_tables(comparison),
        *([difference_table(comparison)] if comparison.differences else []),
        *remarks(comparison),
    )


def decision(comparison: Comparison) -> Text:
    """The recommendation in one sentence, and how sure it is."""
    found = comparison.recommendation
    sentence = f"{found.reason[:1].upper()}{found.reason[1:]}"
    style = "bold green" if found.strategy is not None else "bold yellow"
    sure = (
        f"How sure that is cannot be said: it {found.confidence_method}."
        if found.confidence is None
        else f"Confidence {sureness(found.confidence)}: the {found.confidence_method}."
    )
    return Text.assemble((sentence, style), "\n", (sure, "dim"))


def comparison_tables(comparison: Comparison) -> list[RenderableType]:
    """What decides, the money, the service: a row a strategy, in the order of the file."""
    level = f"{100 * comparison.question.scenario.experiment.confidence:g} %"
    several = f"mean of {comparison.number} replications [{level} interval]"
    shown = several if comparison.replications > 1 else "one replication"
    tables: list[RenderableType] = []
    for title, columns in TABLES.items():
        table = _table(f"{title}: {shown}", columns)
        for result in comparison.strategies:
            style = "bold" if result.name == comparison.recommendation.strategy else ""
            cells = (Text(cell(comparison, result)) for cell in columns.values())
            table.add_row(Text(plain(result.name)), *cells, style=style)
        tables.append(table)
    return tables


def difference_table(comparison: Comparison) -> Table:
    """Each strategy minus the baseline, pair by pair; the interval tells whether it may be chance."""
    title = (
        f"Difference to {plain(comparison.baseline)}, on the same jobs and failures (pp: percentage points)"
    )
    table = _table(title, DIFFERENCES.values())
    found: dict[str, dict[str, Interval]] = {}
    for difference in comparison.differences:
        found.setdefault(difference.strategy, {})[difference.metric] = difference.interval
    for name, intervals in found.items():
        cells = [_signed(intervals.get(metric), comparison.info(metric).unit) for metric in DIFFERENCES]
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


def _table(title: str, columns: Iterable[str]) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, title=Text(f"\n{title}"), title_justify="left", title_style="bold",
        show_edge=False, pad_edge=False,
    )  # fmt: skip
    table.add_column("strategy", overflow="fold")
    for heading in columns:
        table.add_column(heading, justify="right")
    return table


def _metric(name: str) -> Cell:
    def cell(comparison: Comparison, result: StrategyResult) -> str:
        interval = result.metrics.get(name)
        return DASH if interval is None else _two_lines(interval, comparison.info(name).unit)

    return cell


def _mean(name: str) -> Cell:
    return lambda comparison, result: value(result.mean(name), comparison.info(name).unit)


def _two_lines(interval: Interval, unit: str, plus: str = "") -> str:
    """The mean, and below it the limits where there are any."""
    text = (plus if (interval.mean or 0.0) > 0 else "") + value(interval.mean, unit)
    return "\n".join(filter(None, (text, limits(interval, unit))))


def _signed(interval: Interval | None, unit: str) -> Text:
    """A difference with its sign and limits; bold where the limits exclude 0."""
    if interval is None:
        return Text(DASH)
    sure = interval.low is not None and interval.high is not None and not interval.low <= 0 <= interval.high
    text = _two_lines(interval, unit, "+")
    if unit == "share":  # a share that grows from 10 % to 13 % grows by 3 percentage points
        text = text.replace(" %", " pp")
    return Text(text, style="bold" if sure else "")


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
