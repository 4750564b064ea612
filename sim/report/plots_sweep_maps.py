"""Heat maps of a sweep over two varied keys: a metric by strategy, and the recommended strategy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from sim.experiments.sweep import Sweep
from sim.experiments.wording import sureness
from sim.report.plots_style import (
    INK,
    LARGE_RATIO,
    PALETTE,
    name_legend,
    names,
    new_figure,
    of_user,
    round_ticks,
)
from sim.report.plots_sweep_values import named, of_strategy, titled

__all__ = ["heat_map", "recommended_map"]

WRITTEN_CELLS = 12
"""Longest side of a heat map whose cells carry their numbers."""

SHADES = 1000
"""Largest value over the smallest that has a colour of its own on a logarithmic scale; the rest share it."""

COLUMNS = 3
"""Panels of a heat map side by side."""

NONE_COLOUR = "#e8e8e8"

Floats = NDArray[np.float64]


def heat_map(found: Sweep, metric: str) -> Figure:
    """The mean of a metric over two varied keys: the first down, the second across, a panel a strategy."""
    down, across = found.axes
    labels = names(list(found.strategies))
    grids = [_grid(found, number, metric) for number in range(len(labels))]
    figure, panels = _panels(found, len(labels))
    scale = _colour_scale(grids)
    for number, (axes, cells) in enumerate(zip(panels, grids, strict=True)):
        image = axes.imshow(cells, norm=scale, cmap="viridis", aspect="auto")
        of_user(axes.set_title(" ".join(labels[number].split("\n")), loc="left", fontsize=9, color=INK))
        _grid_ticks(axes, down.values, across.values)
        if max(cells.shape) <= WRITTEN_CELLS:
            _write_cells(axes, cells, scale)
        _mark_recommended(axes, found, number)
    bar = figure.colorbar(image, ax=panels, shrink=0.9, pad=0.02)
    bar.set_label(named(found, metric), color=INK)
    round_ticks(bar.ax, "y")
    _grid_names(figure, found)
    title = f"{titled(metric)}: mean of {found.counted}; framed: recommended there"
    figure.suptitle(title, x=0.01, ha="left", fontsize=10.5, color=INK)
    return figure


def recommended_map(found: Sweep) -> Figure:
    """Which strategy is recommended in each cell of two varied keys."""
    down, across = found.axes
    labels = names(list(found.strategies))
    shape = (len(down.values), len(across.values))
    chosen = np.array([_chosen(found, i) for i in range(len(found.cells))], dtype=float).reshape(shape)
    colours = [NONE_COLOUR, *(PALETTE[n % len(PALETTE)] for n in range(len(labels)))]
    figure = new_figure(4.6 + 0.55 * min(shape[1], 16) + 2.4, 1.6 + 0.42 * max(4, min(shape[0], 20)))
    axes = figure.add_subplot()
    edges = np.arange(-1.5, len(labels) + 0.5)
    axes.imshow(
        chosen, cmap=ListedColormap(colours), norm=BoundaryNorm(list(edges), len(colours)), aspect="auto"
    )
    _grid_ticks(axes, down.values, across.values)
    if max(shape) <= 2 * WRITTEN_CELLS:
        for i, j in np.ndindex(*shape):
            cell = found.cells[i * shape[1] + j]
            place = int(chosen[i, j])
            text = f"{place + 1}{_sure(cell.confidence)}" if place >= 0 else "none"
            colour = "white" if place >= 0 else INK
            axes.text(j, i, text, ha="center", va="center", fontsize=7.5, color=colour)
    of_user(axes.set_ylabel(down.key, color=INK, fontsize=9))
    of_user(axes.set_xlabel(across.key, color=INK, fontsize=9))
    axes.set_title(
        "Recommended strategy (its number) and the confidence", loc="left", fontsize=10.5, color=INK
    )
    used = [n for n in range(-1, len(labels)) if (chosen == n).any()]
    name_legend(
        figure,
        [Patch(facecolor=colours[n + 1], edgecolor="#b0b0b0") for n in used],
        [f"{n + 1}  {labels[n]}" if n >= 0 else "none meets the target" for n in used],
    )
    return figure


def _grid(found: Sweep, number: int, metric: str) -> Floats:
    shape = (len(found.axes[0].values), len(found.axes[1].values))
    values = [np.nan] * len(found.cells)
    for place, mean, _, _ in of_strategy(found, number, metric):
        values[place] = np.nan if mean is None else mean
    return np.array(values, dtype=float).reshape(shape)


def _panels(found: Sweep, count: int) -> tuple[Figure, list[Axes]]:
    columns = min(COLUMNS, count)
    rows = -(-count // columns)
    down, across = (len(axis.values) for axis in found.axes)
    width = 1.2 + 0.62 * min(max(across, 4), 16)
    height = 0.9 + 0.34 * min(max(down, 4), 20)
    figure = new_figure(1.8 + columns * width, 1.0 + rows * height)
    panels = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for spare in panels[count:]:
        spare.set_axis_off()
    return figure, panels[:count]


def _colour_scale(grids: Sequence[Floats]) -> Normalize:
    values = np.concatenate([cells.ravel() for cells in grids])
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    if low == high:
        return Normalize(low - 0.5, high + 0.5)
    least = max(float(values[values > 0].min()), high / SHADES) if low >= 0 else low
    if low >= 0 and high > LARGE_RATIO * least:
        return LogNorm(least, high, clip=True)
    return Normalize(low, high)


def _grid_ticks(axes: Axes, down: Sequence[str], across: Sequence[str]) -> None:
    axes.set_yticks(range(len(down)), down)
    axes.set_xticks(range(len(across)), across, rotation=0 if max(map(len, across)) < 8 else 30)
    axes.tick_params(colors=INK, labelsize=8, length=0)
    for tick in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        of_user(tick)
    for side in axes.spines.values():
        side.set_visible(False)


def _grid_names(figure: Figure, found: Sweep) -> None:
    down, across = found.axes
    of_user(figure.supylabel(down.key, color=INK, fontsize=9))
    of_user(figure.supxlabel(across.key, color=INK, fontsize=9))


def _write_cells(axes: Axes, cells: Floats, scale: Normalize) -> None:
    for i, j in np.ndindex(*cells.shape):
        number = float(cells[i, j])
        if np.isfinite(number):
            dark = float(scale(number)) < 0.6
            axes.text(
                j, i, _short(number), ha="center", va="center", fontsize=6.8, color="white" if dark else INK
            )


def _short(number: float) -> str:
    """At most five signs: 14k, 1.3M, 12, 0.45; two decimal places at most."""
    for size, sign in ((1e6, "M"), (1e3, "k")):
        if abs(number) >= 10 * size or (sign == "M" and abs(number) >= size):
            return f"{number / size:.3g}{sign}"
    return f"{round(number, 2):.3g}" if abs(number) < 1000 else f"{number:,.0f}"


def _sure(confidence: float | None) -> str:
    if confidence is None:
        return ""
    return "\n" + sureness(confidence).replace("above ", ">")


def _mark_recommended(axes: Axes, found: Sweep, number: int) -> None:
    across = len(found.axes[1].values)
    for place in range(len(found.cells)):
        if _chosen(found, place) == number:
            row, column = divmod(place, across)
            left, right, top, bottom = column - 0.46, column + 0.46, row - 0.44, row + 0.44
            axes.plot(
                [left, right, right, left, left], [top, top, bottom, bottom, top], color="#D55E00",
                linewidth=1.6,
            )  # fmt: skip


def _chosen(found: Sweep, place: int) -> int:
    """Position of the recommended strategy of a cell; -1 where none meets the target."""
    cell = found.cells[place]
    own = [one.name for one in cell.strategies]
    return -1 if cell.recommended is None else own.index(cell.recommended)
