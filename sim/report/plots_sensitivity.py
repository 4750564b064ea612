"""Charts of a sensitivity study: the tornado, and Sobol indices as bars."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from sim.experiments.sensitivity import Bar, Tornado
from sim.experiments.sensitivity_sobol import Sobol
from sim.experiments.sensitivity_store import Study
from sim.experiments.statistics import Interval
from sim.experiments.wording import plain
from sim.report.plots_style import INK, PALETTE, grid, names, new_figure, of_user, png, round_ticks

__all__ = ["render", "sobol_bars", "tornado_bars"]

LOW, HIGH = PALETTE[0], PALETTE[1]


def render(study: Study) -> dict[str, bytes]:
    """Every chart of the study, as PNG files by name."""
    charts = {"tornado": png(tornado_bars(study.tornado))}
    if study.sobol is not None and any(one.inputs for one in study.sobol.results):
        charts["sobol"] = png(sobol_bars(study.sobol))
    return charts


def tornado_bars(found: Tornado) -> Figure:
    """What each input does to the recommended strategy, and to its difference to the rival.

    Blue: the low end of the range; orange: the high end; written: the value of the input there. A diamond
    says that another strategy is recommended there.
    """
    panels = 1 if found.rival is None else 2
    figure = new_figure(6.4 + 4.9 * (panels - 1), 1.9 + 0.5 * len(found.bars))
    drawn = list(figure.subplots(1, panels, sharey=True, squeeze=False).ravel())
    own = [(bar.low, bar.high) for bar in found.bars]
    _panel(drawn[0], found, own, found.base, _short_name(found.strategy))
    if found.rival is not None and found.base_difference is not None:
        apart = [(bar.difference_low, bar.difference_high) for bar in found.bars]
        title = f"{_short_name(found.strategy)}\nless {_short_name(found.rival)}"
        _panel(drawn[1], found, apart, found.base_difference, title)
    labels = [f"{bar.knob.name}\n({bar.knob.unit})" for bar in found.bars]
    drawn[0].set_yticks(range(len(labels)), labels)
    drawn[0].invert_yaxis()
    number = found.question.scenario.experiment.replications
    figure.suptitle(
        f"One input at a time, {'one replication' if number == 1 else f'means of {number:,} replications'}",
        x=0.01, ha="left", fontsize=11, color=INK,
    )  # fmt: skip
    diamond = drawn[0].plot([], [], "D", color=INK, markersize=6)[0]
    figure.legend(
        [Patch(color=LOW), Patch(color=HIGH), diamond],
        ["low end of the range", "high end", "another strategy is recommended there"],
        loc="outside lower center", ncols=3, frameon=False, fontsize=8.5,
    )  # fmt: skip
    return figure


def sobol_bars(found: Sobol) -> Figure:
    """First-order and total index of each input with intervals, a panel a result."""
    shown = [one for one in found.results if one.inputs]
    figure = new_figure(6.2 + 4.6 * (len(shown) - 1), 2.0 + 0.5 * len(shown[0].inputs))
    panels = list(figure.subplots(1, len(shown), sharey=True, squeeze=False).ravel())
    for axes, one in zip(panels, shown, strict=True):
        rows = np.arange(len(one.inputs))
        for shift, colour, values, halves in (
            (-0.19, LOW, [i.first for i in one.inputs], [i.first_half for i in one.inputs]),
            (0.19, HIGH, [i.total for i in one.inputs], [i.total_half for i in one.inputs]),
        ):
            axes.barh(
                rows + shift, values, height=0.34, color=colour, xerr=halves,
                error_kw={"ecolor": INK, "capsize": 2.5, "elinewidth": 1},
            )  # fmt: skip
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.set_xlabel("share of the variance", color=INK)
        of_user(axes.set_title(_wrapped_title(one.of), loc="left", fontsize=9, color=INK))
        grid(axes)
        axes.grid(visible=False, axis="y")
    panels[0].set_yticks(range(len(shown[0].inputs)), [index.knob.name for index in shown[0].inputs])
    panels[0].invert_yaxis()
    level = 100 * found.confidence
    figure.suptitle(
        f"Sobol indices and {level:g} % intervals from {found.points:,} points",
        x=0.01, ha="left", fontsize=11, color=INK,
    )  # fmt: skip
    figure.legend(
        [Patch(color=LOW), Patch(color=HIGH)],
        ["first order: alone", "total: with all that it does together with others"],
        loc="outside lower center", ncols=2, frameon=False, fontsize=8.5,
    )  # fmt: skip
    return figure


def _panel(
    axes: Axes,
    found: Tornado,
    ends: Sequence[tuple[Interval | None, Interval | None]],
    base: Interval,
    title: str,
) -> None:
    middle = base.mean or 0.0
    reach = [middle]
    for row, (bar, pair) in enumerate(zip(found.bars, ends, strict=True)):
        means = [None if end is None else end.mean for end in pair]
        ends_here = [
            (mean, colour) for mean, colour in zip(means, (LOW, HIGH), strict=True) if mean is not None
        ]
        # The longer first: where both lie on one side, the shorter stays visible.
        for mean, colour in sorted(ends_here, key=lambda end: -abs(end[0] - middle)):
            reach.append(mean)
            axes.barh(row, mean - middle, left=middle, height=0.55, color=colour)
        _write_ends(axes, found, bar, row, means, middle)
    axes.axvline(middle, color=INK, linewidth=1)
    if found.base_difference is base and min(reach) < 0 < max(reach):
        axes.axvline(0, color=INK, linewidth=1, linestyle=":")
    spread = max(reach) - min(reach) or abs(middle) or 1.0
    axes.set_xlim(min(reach) - 0.22 * spread, max(reach) + 0.22 * spread)
    axes.locator_params(axis="x", nbins=5)
    round_ticks(axes, "x")
    grid(axes)
    axes.grid(visible=False, axis="y")
    metric = found.metric.removesuffix("_cny").removesuffix("_h").replace("_", " ")
    axes.set_xlabel(f"{metric} ({found.unit})", color=INK)
    of_user(axes.set_title(title, loc="left", fontsize=9, color=INK))


def _write_ends(
    axes: Axes, found: Tornado, bar: Bar, row: int, means: Sequence[float | None], middle: float
) -> None:
    """The value of the input at each end of its bar; both on one side stand in one text, the farther last."""
    knob = bar.knob
    texts: dict[bool, list[tuple[float, str]]] = {}
    for mean, value, decision in (
        (means[0], knob.low, bar.decision_low),
        (means[1], knob.high, bar.decision_high),
    ):
        if mean is None or value == knob.base or mean == middle:
            continue
        texts.setdefault(mean > middle, []).append((mean, f"{value:.3g}"))
        if decision != found.decision:
            axes.plot(mean, row, "D", color=INK, markersize=5)
    for right, entries in texts.items():
        entries.sort(key=lambda entry: abs(entry[0] - middle))
        text = ", ".join(written for _, written in (entries if right else entries[::-1]))
        axes.annotate(
            text, (entries[-1][0], row), xytext=(7 if right else -7, 0), textcoords="offset points",
            ha="left" if right else "right", va="center", fontsize=8, color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.8},
        )  # fmt: skip


def _short_name(name: str) -> str:
    return " ".join(names([plain(name)])[0].split("\n"))


def _wrapped_title(text: str) -> str:
    return "\n".join(names([text])) if len(text) < 40 else _lines(text)


def _lines(text: str) -> str:
    words, lines = plain(text).split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) > 44:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)
