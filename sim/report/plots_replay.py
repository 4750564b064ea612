"""Charts of a replay: recorded and simulated waits, as distributions and over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from matplotlib.figure import Figure

from sim.experiments.replay import Replay
from sim.report.plots_style import INK, draw_line, grid, new_figure, png

__all__ = ["REPLAY_CHARTS", "render_replay"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_SIZE = (9.0, 4.2)
"""Inches."""
_MOST_POINTS = 2000
"""Points of a line at most."""
_PERIODS = 60
"""Periods over time at most."""
_LEAST_H = 1 / 3600
"""Shorter waits are drawn as a second, hours."""


def render_replay(replay: Replay) -> dict[str, bytes]:
    """Every chart as PNG, by the name of its file."""
    return {name: png(draw(replay)) for name, draw in REPLAY_CHARTS.items()}


def waits(replay: Replay) -> Figure:
    """Share of jobs that waited at most so long; a wait below a second is drawn at a second."""
    figure = new_figure(*_SIZE)
    axes = figure.subplots()
    for place, (label, hours) in enumerate(_series(replay).items()):
        values = np.maximum(np.sort(hours), _LEAST_H)
        share = 100 * np.arange(1, len(values) + 1) / len(values)
        kept = np.unique(np.linspace(0, len(values) - 1, min(len(values), _MOST_POINTS)).astype(int))
        name = f"{label} ({len(values):,} jobs)"
        draw_line(axes, values[kept], share[kept], place, label=name, linewidth=1.7)
    axes.set_xscale("log")
    axes.set(xlabel="Wait, hours (logarithmic)", ylabel="Jobs that waited at most so long, %", ylim=(0, 101))
    axes.set_title("Waits: recorded and simulated", fontsize=11, color=INK)
    grid(axes)
    axes.legend(frameon=False, fontsize=8.5, loc="lower right")
    return figure


def over_time(replay: Replay) -> Figure:
    """Mean wait of the jobs submitted in each period, up to sixty periods of one length."""
    figure = new_figure(*_SIZE)
    axes = figure.subplots()
    last = max(float(replay.submit_h.max()), _LEAST_H) if len(replay.submit_h) else 1.0
    days = last / 24
    edges = np.linspace(0, last, min(_PERIODS, max(1, round(days))) + 1)
    for place, (label, hours) in enumerate(_full_series(replay).items()):
        known = ~np.isnan(hours)
        cell = np.clip(np.searchsorted(edges, replay.submit_h, side="right") - 1, 0, len(edges) - 2)
        count = np.bincount(cell[known], minlength=len(edges) - 1)
        total = np.bincount(cell[known], hours[known], len(edges) - 1)
        met = count > 0
        middle = (edges[:-1] + edges[1:]) / 48
        draw_line(axes, middle[met], total[met] / count[met], place, label=label, linewidth=1.7)
    axes.set(xlabel="Day of submission", ylabel="Mean wait, hours")
    axes.set_ylim(bottom=0)
    axes.set_title("Waits over time: recorded and simulated", fontsize=11, color=INK)
    grid(axes)
    axes.legend(frameon=False, fontsize=8.5)
    return figure


def _full_series(replay: Replay) -> dict[str, Floats]:
    found = {"simulated": replay.simulated_h}
    if replay.known:
        found = {"recorded": replay.recorded_h, **found}
    return found


def _series(replay: Replay) -> dict[str, Floats]:
    known = {name: hours[~np.isnan(hours)] for name, hours in _full_series(replay).items()}
    return {name: hours for name, hours in known.items() if len(hours)}


REPLAY_CHARTS: Mapping[str, Callable[[Replay], Figure]] = {
    "waits.png": waits,
    "waits-over-time.png": over_time,
}
"""File name -> chart; a new one is a function and a row here."""
