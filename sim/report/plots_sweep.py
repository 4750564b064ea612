"""Charts of a sweep: lines with intervals over one varied key, heat maps over two."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sim.experiments.sweep import Sweep
from sim.experiments.sweep_axes import numeric
from sim.report.plots_style import (
    INK,
    LARGE_RATIO,
    draw_line,
    grid,
    look,
    name_legend,
    names,
    new_figure,
    of_user,
    png,
    proxy,
    round_ticks,
)
from sim.report.plots_sweep_maps import heat_map, recommended_map
from sim.report.plots_sweep_values import named, of_strategy, shown_metrics, titled

__all__ = ["line_chart", "render"]


def render(found: Sweep) -> dict[str, bytes]:
    """Every chart of the sweep, as PNG files by name; none for a grid of more than two keys."""
    if len(found.axes) > 2 and not found.paired:
        return {}
    charts = {}
    flat = len(found.axes) == 1 or found.paired
    for metric in shown_metrics(found):
        figure = line_chart(found, metric) if flat else heat_map(found, metric)
        charts[metric] = png(figure)
    if not flat:
        charts["recommended"] = png(recommended_map(found))
    return charts


def line_chart(found: Sweep, metric: str) -> Figure:
    """The mean of a metric in every cell, a line a strategy, with the limits of the intervals.

    A ring marks the recommended strategy of a cell.
    """
    labels = names(list(found.strategies))
    places, ticks, title = _places(found)
    figure = new_figure(9.6, max(5.2, 1.2 + 0.55 * len(labels)))
    axes = figure.add_subplot()
    means: list[float] = []
    for number in range(len(labels)):
        style = look(number)
        shown = sorted(of_strategy(found, number, metric), key=lambda row: places[row[0]])
        x = [places[i] for i, mean, _, _ in shown if mean is not None]
        y = [mean for _, mean, _, _ in shown if mean is not None]
        means += y
        draw_line(axes, x, y, number, marker="o", markersize=4)
        for i, mean, low, high in shown:
            if mean is not None and low is not None and high is not None and high > low:
                axes.errorbar(
                    places[i], mean, [[mean - low], [high - mean]], color=style.colour, capsize=3, linewidth=1
                )
            if mean is not None and found.cells[i].recommended == found.cells[i].strategies[number].name:
                axes.plot(
                    places[i], mean, "o", markersize=13, markerfacecolor="none", markeredgecolor=INK,
                    markeredgewidth=1.1,
                )  # fmt: skip
    _value_scale(axes, means)
    _limit_line(axes, found, metric)
    if ticks is not None:
        axes.set_xticks(places, ticks, rotation=0 if max(map(len, ticks)) < 12 else 20)
        for tick in axes.get_xticklabels():
            of_user(tick)
    else:
        round_ticks(axes, "x")
    of_user(axes.set_xlabel(title, color=INK))
    axes.set_ylabel(named(found, metric), color=INK)
    grid(axes)
    axes.set_title(_how(found, metric), loc="left", fontsize=10.5, color=INK)
    handles = [proxy(look(n).colour, look(n).dashes) for n in range(len(labels))]
    ring = proxy(INK, marker="o", hollow=True)
    ring.set_markersize(11)
    name_legend(figure, [*handles, ring], [*labels, "recommended"])
    return figure


def _places(found: Sweep) -> tuple[list[float], list[str] | None, str]:
    """Where the cells stand along the axis, what is written there (None: numbers), and its name."""
    key, texts = found.axes[0].key, [", ".join(cell.values) for cell in found.cells]
    if len(found.axes) == 1:
        numbers = numeric(found.axes[0].values)
        if numbers is not None:
            return numbers[0], None, f"{key} ({numbers[1]})" if numbers[1] else key
    else:
        key = ", ".join(axis.key for axis in found.axes)
    return [float(place) for place in range(len(texts))], [textwrap.fill(t, 24) for t in texts], key


def _value_scale(axes: Axes, means: Sequence[float]) -> None:
    if means and min(means) > 0 and max(means) > LARGE_RATIO * min(means):
        axes.set_yscale("log")
    elif means and min(means) >= 0:
        axes.set_ylim(bottom=0)
    round_ticks(axes, "y")


def _limit_line(axes: Axes, found: Sweep, metric: str) -> None:
    """The target's limit, unless it is varied itself."""
    limit = next((c.limit for c in found.conditions if c.metric == metric), None)
    if limit is None or any(axis.key.startswith("target") for axis in found.axes):
        return
    axes.axhline(limit, color=INK, linewidth=1, linestyle=":")
    axes.annotate(
        "target", (1, limit), xycoords=("axes fraction", "data"), xytext=(3, 0),
        textcoords="offset points", ha="left", va="center", fontsize=8, color=INK, annotation_clip=False,
    )  # fmt: skip


def _how(found: Sweep, metric: str) -> str:
    level = 100 * found.question.scenario.experiment.confidence
    return f"{titled(metric)}: mean and {level:g} % interval of {found.counted}"
