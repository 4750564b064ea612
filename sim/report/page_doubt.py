"""Parts of a page beside the figures: several strategies at once, luck and doubt about inputs."""

from __future__ import annotations

from sim.experiments.comparison import Comparison
from sim.experiments.wording import DASH, plain
from sim.report.page_html import Html, element, join, lines, table
from sim.report.tables_parts import (
    INPUTS,
    at_once_rows,
    doubt_columns,
    doubt_rows,
    metric_title,
)

__all__ = ["at_once", "doubt"]


def at_once(comparison: Comparison) -> Html:
    """Each strategy against the best of the others; nothing with fewer than three."""
    columns, rows = at_once_rows(comparison)
    if not rows:
        return Html()
    texts = range(0, len(columns), 2)
    told = f"Intervals that hold together, by {comparison.at_once_rule}."
    shown = [[row[0], *map(lines, row[1:])] for row in rows]
    return join(
        (element("p", told), table("Each strategy less the best of the others", columns, shown, texts=texts))
    )


def doubt(comparison: Comparison) -> Html:
    """The uncertain inputs and what they make unsure; nothing where all is known."""
    found = comparison.doubt
    if found is None:
        return Html()
    inputs = table(
        "Uncertain inputs, drawn once a replication, the same for all strategies",
        [*INPUTS, "source"],
        [
            [plain(one.key), plain(one.distribution), plain(one.base or DASH), plain(one.first),
             plain(one.source or "assumed")]
            for one in found.inputs
        ],
        texts=(0, 1, 4),
    )  # fmt: skip
    told = (
        f"Luck averages out with more replications; doubt about inputs does not. From {found.method}. The "
        "range is that of the replications; spreads are standard deviations."
    )
    tables = [
        table(
            metric_title(comparison, metric), doubt_columns(comparison),
            doubt_rows(comparison, metric),
        )
        for metric in dict.fromkeys(split.metric for split in found.splits)
    ]  # fmt: skip
    return join((inputs, element("p", told), *tables))
