"""A sweep on disk, and as text: the recommended strategy of every cell."""

from __future__ import annotations

from pathlib import Path

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sim.experiments.decision import WAIT
from sim.experiments.statistics import Interval
from sim.experiments.sweep import CellResult, Sweep
from sim.experiments.sweep_store import save_sweep
from sim.experiments.wording import DASH, limits, plain, sureness, value
from sim.report.plots_sweep import render

__all__ = ["cells_table", "save"]

LONGEST_HEADING = 18
"""Signs of a varied key on one line of the table."""


def save(found: Sweep, out: Path = Path("outputs")) -> Path:
    """Write the sweep with its charts below `out`; returns its folder. RunError where that fails."""
    return save_sweep(found, out, render(found))


def cells_table(found: Sweep, most: int) -> RenderableType:
    """The first `most` cells: what is recommended, its cost and wait, and how sure that is."""
    level = f"{100 * found.question.scenario.experiment.confidence:g} %"
    table = Table(
        box=box.SIMPLE_HEAD, title=Text(f"\nRecommended in each cell: mean [{level} interval]"),
        title_justify="left", title_style="bold", show_edge=False, pad_edge=False,
    )  # fmt: skip
    for axis in found.axes:
        table.add_column(Text(_broken(plain(axis.key))), overflow="fold")
    table.add_column("recommended", overflow="fold")
    for heading in ("cost", "wait p95", "confidence"):
        table.add_column(heading, justify="right")
    for cell in found.cells[:most]:
        name, style = _decided(cell)
        own = next((one for one in cell.strategies if one.name == (cell.recommended or cell.nearest)), None)
        metrics = {} if own is None else own.metrics
        table.add_row(
            *(Text(plain(text)) for text in cell.values),
            Text(name, style=style),
            Text(_two_lines(metrics.get(found.money), found.info(found.money).unit)),
            Text(_two_lines(metrics.get(WAIT), "h")),
            Text(DASH if cell.confidence is None else sureness(cell.confidence)),
        )
    return table


def _broken(key: str) -> str:
    """A long key on lines that end with a dot, so that it stays readable in a narrow column."""
    lines = [""]
    for part in key.split("."):
        piece = part if lines == [""] else f".{part}"
        if len(lines[-1]) + len(piece) > LONGEST_HEADING and lines[-1]:
            lines[-1] += "."
            piece = part
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


def _decided(cell: CellResult) -> tuple[str, str]:
    if cell.recommended is not None:
        return plain(cell.recommended), "bold green"
    return f"none; nearest: {plain(cell.nearest or DASH)}", "yellow"


def _two_lines(interval: Interval | None, unit: str) -> str:
    if interval is None:
        return DASH
    return "\n".join(filter(None, (value(interval.mean, unit), limits(interval, unit))))
