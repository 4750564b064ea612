"""Charts of recorded jobs: arrivals by hour and weekday, run times, widths, load over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.figure import Figure

from sim.report.plots_style import INK, grid, look, new_figure, png, round_ticks
from sim.workload.describe import WIDTHS, Description, width_name
from sim.workload.wording import counted

__all__ = ["WORKLOAD_CHARTS", "render_workload"]

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_SIZE = (9.0, 4.2)


def render_workload(found: Description, jobs: pa.Table) -> dict[str, bytes]:
    """Every chart that there are figures for, as PNG, by the name of its file."""
    charts = {name: draw(found, jobs) for name, draw in WORKLOAD_CHARTS.items()}
    return {name: png(figure) for name, figure in charts.items() if figure is not None}


def arrivals(found: Description, _jobs: pa.Table) -> Figure | None:
    """Submissions an hour and a day, by the clock on the wall."""
    if not found.by_hour:
        return None
    figure = new_figure(*_SIZE)
    left, right = figure.subplots(1, 2, width_ratios=(24, 9))
    left.bar(range(24), [mean for _, mean in found.by_hour], color=look(0).colour, width=0.85)
    left.set(
        xlabel="Hour of the day, local time",
        ylabel="Submissions an hour, mean of all days",
        xticks=range(0, 24, 3),
    )
    right.bar(range(7), [mean for _, mean in found.by_weekday], color=look(2).colour, width=0.8)
    right.set(ylabel="Submissions a day, mean", xticks=range(7))
    right.set_xticklabels(WEEKDAYS)
    for axes in (left, right):
        grid(axes)
        round_ticks(axes, "y")
    figure.suptitle("When jobs are submitted", fontsize=11, color=INK)
    return figure


def run_times(found: Description, jobs: pa.Table) -> Figure | None:
    """Share of jobs that ran at most so long, by width; only complete run times."""
    if not found.run_times:
        return None
    runtime, gpus = _column(jobs, "runtime_s") / 3600, _column(jobs, "gpus")
    whole = runtime > 0
    if "censored" in jobs.column_names:
        whole &= pc.is_null(jobs.column("censored")).to_numpy()
    figure = new_figure(*_SIZE)
    axes = figure.subplots()
    for place, (low, high) in enumerate(WIDTHS):
        values = np.sort(runtime[whole & (gpus >= low) & (gpus <= high)])
        if len(values):
            style = look(place)
            label = f"{width_name(low, high)} ({counted(len(values))})"
            shares = 100 * np.arange(len(values) + 1) / len(values)
            # from the axis up: a single run, too, is a line that one can see
            (line,) = axes.step(np.append(values[:1], values), shares, where="post", label=label)
            line.set(color=style.colour, linewidth=1.7)
            if style.dashes:
                line.set_dashes(style.dashes)
    if not axes.lines:
        return None
    axes.set_xscale("log")
    axes.set(xlabel="Run time, hours (logarithmic)", ylabel="Jobs that ran at most so long, %", ylim=(0, 101))
    axes.set_title("How long jobs run, by their number of cards", fontsize=11, color=INK)
    round_ticks(axes, "x")
    grid(axes)
    axes.legend(frameon=False, fontsize=8.5, loc="upper left")
    return figure


def widths(found: Description, _jobs: pa.Table) -> Figure | None:
    """Jobs and card-hours by the number of cards."""
    shown = {width: pair for width, pair in found.widths.items() if width > 0}
    if not shown:
        return None
    groups = [(width_name(low, high), low, high) for low, high in WIDTHS]
    count = [sum(n for width, (n, _) in shown.items() if low <= width <= high) for _, low, high in groups]
    hours = [sum(h for width, (_, h) in shown.items() if low <= width <= high) for _, low, high in groups]
    figure = new_figure(*_SIZE)
    axes = figure.subplots()
    places = np.arange(len(groups))
    for shift, values, label, colour in ((-0.2, count, "of jobs", 0), (0.2, hours, "of card-hours", 1)):
        total = sum(values) or 1
        axes.bar(
            places + shift,
            [100 * value / total for value in values],
            0.38,
            label=label,
            color=look(colour).colour,
        )
    axes.set_xticks(places)
    axes.set_xticklabels([name for name, _, _ in groups])
    axes.set(ylabel="Share, %", xlabel="Cards of a job")
    axes.set_title("How wide jobs are", fontsize=11, color=INK)
    axes.legend(frameon=False, fontsize=9)
    grid(axes)
    return figure


def load(found: Description, _jobs: pa.Table) -> Figure | None:
    """Busy cards over time, and the cards that would be busy without waiting."""
    if not len(found.load):
        return None
    figure = new_figure(*_SIZE)
    axes = figure.subplots()
    alone = "o" if len(found.load) == 1 else ""  # a line of one point would not be seen
    if not found.assumed_start:
        axes.plot(
            found.load["day"],
            found.load["busy"],
            color=look(0).colour,
            linewidth=1.4,
            marker=alone,
            label="busy, as recorded",
        )
    axes.plot(
        found.load["day"], found.load["asked"], color=look(1).colour, linewidth=1.2, linestyle="--",
        marker=alone, label="if each job ran as it was submitted",
    )  # fmt: skip
    since = "the trace's start" if found.origin is None else f"{found.origin:%Y-%m-%d %H:%M}"
    axes.set(xlabel=f"Days since {since}", ylabel="Cards, mean", ylim=(0, None))
    axes.set_title("Cards in use over time", fontsize=11, color=INK)
    round_ticks(axes, "y")
    grid(axes)
    axes.legend(frameon=False, fontsize=9)
    return figure


def _column(jobs: pa.Table, name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(pc.fill_null(pc.cast(jobs.column(name), pa.float64()), np.nan).to_numpy())


WORKLOAD_CHARTS: Mapping[str, Callable[[Description, pa.Table], Figure | None]] = {
    "arrivals.png": arrivals,
    "run-times.png": run_times,
    "widths.png": widths,
    "load.png": load,
}
"""File name -> chart; None where there is nothing to draw. A new chart is a function and a row here."""
