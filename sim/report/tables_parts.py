"""Text tables of a comparison beside its figures: several strategies at once, luck and doubt about inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sim.experiments.comparison import Comparison, Difference
from sim.experiments.comparison_parts import Split
from sim.experiments.statistics import Interval
from sim.experiments.wording import DASH, limits, plain, share, sureness, value

__all__ = [
    "at_once_rows",
    "at_once_tables",
    "bold_rule",
    "doubt_columns",
    "doubt_rows",
    "doubt_tables",
    "how_sure",
    "metric_title",
    "new_table",
    "no_chance",
    "shown_figures",
    "signed",
    "two_lines",
]

INPUTS = ("input", "distribution", "in the file", "replication 0")


def at_once_tables(comparison: Comparison) -> Iterator[RenderableType]:
    """Each strategy against the best of the others; with two strategies the differences say it already."""
    columns, rows = at_once_rows(comparison)
    if not rows:
        return
    yield from _headed("Several strategies at once", f"By {comparison.at_once_rule}.")
    table = new_table("", columns[1:])
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    yield table


def at_once_rows(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Headings, and a row a strategy: in each metric its mean less the best of the others, and what that
    makes it; no rows with fewer than three strategies."""
    metrics = list(dict.fromkeys(one.metric for one in comparison.at_once))
    if len(comparison.strategies) < 3 or not metrics:
        return [], []
    found = {(one.strategy, one.metric): one for one in comparison.at_once}
    columns = ["strategy"]
    for metric in metrics:
        columns += [f"{HEADINGS.get(metric, metric)},\nless the best other", "so it is"]
    rows = []
    for name in dict.fromkeys(one.strategy for one in comparison.at_once):
        row = [plain(name)]
        for metric in metrics:
            one = found[name, metric]
            row += [two_lines(one.interval, comparison.info(metric).unit, "+"), one.standing]
        rows.append(row)
    return columns, rows


def doubt_tables(comparison: Comparison) -> Iterator[RenderableType]:
    """The uncertain inputs, and a table a metric: luck and doubt apart; nothing where all is known."""
    doubt = comparison.doubt
    if doubt is None:
        return
    table = new_table("Uncertain inputs, drawn once a replication", INPUTS[1:], INPUTS[0])
    for one in doubt.inputs:
        cells = (one.key, one.distribution, one.base or DASH, one.first)
        table.add_row(*(Text(plain(cell)) for cell in cells))
    yield table
    told = f"Luck averages out with more replications; doubt about inputs does not. From {doubt.method}."
    yield from _headed("Luck and doubt about inputs", told)
    for metric in dict.fromkeys(split.metric for split in doubt.splits):
        table = new_table(metric_title(comparison, metric), doubt_columns(comparison)[1:])
        for row in doubt_rows(comparison, metric):
            table.add_row(*(Text(cell) for cell in row))
        yield table


def _headed(title: str, told: str) -> Iterator[RenderableType]:
    yield Text(f"\n{title}", style="bold")
    yield Text(told, style="dim")


def doubt_columns(comparison: Comparison) -> tuple[str, ...]:
    """Headings of the table of luck and doubt."""
    level = f"{100 * comparison.question.scenario.experiment.confidence:g} %"
    return ("strategy", "mean", "5 % to 95 %", "spread by luck", "by inputs", f"inputs' part [{level}]")


def doubt_rows(comparison: Comparison, metric: str) -> list[tuple[str, ...]]:
    """One row a strategy and one a difference: mean, range, standard deviations, part of the variance."""
    doubt = comparison.doubt
    unit = comparison.info(metric).unit
    return [
        (
            plain(split.strategy)
            if split.less is None
            else f"{plain(split.strategy)} less {plain(split.less)}",
            value(split.mean, unit),
            f"{value(split.low, unit)} to {value(split.high, unit)}",
            value(split.parts.luck, unit),
            value(split.parts.inputs, unit),
            _part(split),
        )
        for split in (() if doubt is None else doubt.splits)
        if split.metric == metric
    ]


def _part(split: Split) -> str:
    found = split.parts
    if found.share is None:
        return "nothing varies"
    interval = Interval(found.share, found.low, found.high, found.pairs)
    return " ".join(filter(None, (share(found.share), limits(interval, "share"))))


def how_sure(comparison: Comparison) -> str:
    """How sure the recommendation is, as one sentence."""
    found = comparison.recommendation
    if found.confidence is None:
        return f"How sure that is cannot be said: it {found.confidence_method}."
    return f"Confidence {sureness(found.confidence)}: the {found.confidence_method}."


def shown_figures(comparison: Comparison) -> str:
    """What the cells of a table hold: `mean of 30 replications [95 % interval]`, or those of one run."""
    level = f"{100 * comparison.question.scenario.experiment.confidence:g} %"
    several = f"mean of {comparison.counted} [{level} interval]"
    return several if comparison.replications > 1 else comparison.counted


def signed(comparison: Comparison, difference: Difference) -> str:
    """A difference with its sign and its limits."""
    unit = comparison.info(difference.metric).unit
    text = two_lines(difference.interval, unit, "+")
    # a share that grows from 10 % to 13 % grows by 3 percentage points
    return text.replace(" %", " pp") if unit == "share" else text


def metric_title(comparison: Comparison, metric: str) -> str:
    """A metric as the heading of a table."""
    return comparison.info(metric).description.partition(";")[0] or metric


def bold_rule(comparison: Comparison) -> str:
    """What bold says in the table of differences."""
    level = f"{100 * comparison.question.scenario.experiment.confidence:g} %"
    if len(comparison.strategies) < 3:
        return f"no chance, at {level}"
    return f"no chance, at {level} for all strategies at once, by Holm's rule"


def no_chance(comparison: Comparison, difference: Difference) -> bool:
    """Whether a difference is shown as real: by Holm's rule over all strategies of the table."""
    level = comparison.question.scenario.experiment.confidence
    return difference.p_holm is not None and difference.p_holm <= 1 - level


HEADINGS = {
    "committed_cost_cny": "committed",
    "cost_with_penalties_cny": "with penalties",
    "wait_p95_h": "wait, p95",
}
"""Metric -> heading of its columns."""


def two_lines(interval: Interval, unit: str, plus: str = "") -> str:
    """The mean, and below it the limits where there are any."""
    text = (plus if (interval.mean or 0.0) > 0 else "") + value(interval.mean, unit)
    return "\n".join(filter(None, (text, limits(interval, unit))))


def new_table(title: str, columns: Iterable[str], first: str = "strategy") -> Table:
    """An empty table whose first column names the row."""
    table = Table(
        box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", show_edge=False, pad_edge=False,
    )  # fmt: skip
    if title:
        table.title = Text(f"\n{title}")
    table.add_column(first, overflow="fold")
    for heading in columns:
        table.add_column(heading, justify="right")
    return table
