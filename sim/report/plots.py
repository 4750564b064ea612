"""Charts of a comparison, as figures and as PNG files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sim.experiments.comparison import Comparison, StrategyResult
from sim.experiments.decision import MONEY, WAIT
from sim.experiments.statistics import Interval
from sim.report import series
from sim.report.plots_style import (
    INK,
    LARGE_RATIO,
    draw_line,
    grid,
    label_points,
    look,
    name_legend,
    names,
    new_figure,
    of_user,
    png,
    proxy,
    round_ticks,
)
from sim.units import DAY, hours

__all__ = [
    "CHARTS",
    "cumulative_money",
    "money_against_wait",
    "queue_and_cards",
    "render",
    "wait_distribution",
]

Bar = tuple[tuple[float, float], tuple[float, float]]

NAMED_POINTS = 6
"""Points that carry their names; where there are more, they carry numbers and a legend the names."""

SHORTEST_WAIT_H = 1 / 60
"""Left edge of the wait axis, hours; shorter waits count as none."""


def render(comparison: Comparison) -> dict[str, bytes]:
    """Every chart of the table at the foot, as PNG files by name."""
    return {name: png(draw(comparison)) for name, draw in CHARTS.items()}


def money_against_wait(comparison: Comparison) -> Figure:
    """Committed cost against the 95th percentile of wait, with intervals and the Pareto front."""
    results = comparison.strategies
    shown = [
        (number, result, result.metrics[MONEY], result.metrics[WAIT])
        for number, result in enumerate(results)
        if result.mean(MONEY) is not None and result.mean(WAIT) is not None
    ]
    labels = names([result.name for result in results])
    few = len(shown) <= NAMED_POINTS
    figure = new_figure(9.0 if few else 10.5, 5.6 if few else max(5.6, 0.9 + 0.2 * _lines(labels)))
    axes = figure.add_subplot()
    axes.margins(0.18)
    for number, result, money, wait in shown:
        _point(
            axes, look(number).colour, result, money, wait, result.name == comparison.recommendation.strategy
        )
    _target_line(axes, comparison)
    _wait_scale(axes, [*(wait.mean for _, _, _, wait in shown), _limit(comparison, WAIT)])
    axes.set_xlabel(f"committed cost ({comparison.question.scenario.currency})", color=INK)
    axes.set_ylabel("95th percentile of wait (h)", color=INK)
    round_ticks(axes, "x")
    grid(axes)
    level = 100 * comparison.question.scenario.experiment.confidence
    runs = f"mean and {level:g} % interval of {comparison.counted}"
    runs = runs if comparison.replications > 1 else comparison.counted
    axes.set_title(f"Money against wait: {runs}", loc="left", fontsize=11, color=INK)
    _marks_legend(axes, comparison, [result.name for _, result, _, _ in shown])
    if not few:
        name_legend(
            figure,
            [proxy(look(number).colour, marker="s") for number, *_ in shown],
            [f"{number + 1}  {labels[number]}" for number, *_ in shown],
        )
    label_points(
        axes,
        [(money.mean or 0.0, wait.mean or 0.0) for _, _, money, wait in shown],
        [labels[number] if few else str(number + 1) for number, *_ in shown],
        [bar for _, _, money, wait in shown for bar in _bars(money, wait)],
        _limit(comparison, WAIT),
    )
    return figure


def cumulative_money(comparison: Comparison) -> Figure:
    """Money accrued and money paid since the start, over time, in replication 0."""
    scenario = comparison.question.scenario
    labels = names(list(comparison.details))
    figure = new_figure(10.0, max(6.4, 0.9 + 0.2 * _lines(labels)))
    top, bottom = figure.subplots(2, 1, sharex=True)
    for number, run in enumerate(comparison.details.values()):
        accrued, paid = series.accrued_money(run, scenario), series.paid_money(run, scenario)
        draw_line(top, accrued.x, accrued.y, number)
        draw_line(bottom, paid.x, paid.y, number, drawstyle="steps-post")
    for axes, title in ((top, "accrued"), (bottom, "paid")):
        axes.set_title(f"Money {title} since the start, replication 0", loc="left", fontsize=10.5, color=INK)
        axes.set_ylabel(scenario.currency, color=INK)
        axes.set_ylim(bottom=0)
        round_ticks(axes, "y")
        grid(axes)
    _time_axis(bottom, comparison)
    name_legend(figure, _proxies(len(labels)), labels)
    return figure


def queue_and_cards(comparison: Comparison) -> Figure:
    """Queue and busy cards over time, a row a strategy, in replication 0."""
    runs = list(comparison.details.values())
    labels = names(list(comparison.details))
    figure = new_figure(10.5, 1.1 + 1.45 * len(runs))
    panels = figure.subplots(len(runs), 2, sharex=True, sharey="col", squeeze=False)
    longest = []
    for number, (run, label) in enumerate(zip(runs, labels, strict=True)):
        left, right = panels[number]
        colour = look(number).colour
        queue, busy, leased = series.queue(run), series.busy_cards(run), series.leased_cards(run)
        left.fill_between(queue.x, queue.y, step="post", color=colour, linewidth=0)
        right.fill_between(leased.x, leased.y, step="post", color="#dddddd", linewidth=0)
        right.fill_between(busy.x, busy.y, step="post", color=colour, linewidth=0)
        longest.append(float(queue.y.max()))
        of_user(left.set_title(" ".join(label.split("\n")), loc="left", fontsize=9, color=INK))
        for axes in (left, right):
            grid(axes)
        left.set_ylabel("jobs waiting\n(log above 1)", fontsize=8.5, color=INK)
        right.set_ylabel("cards", fontsize=8.5, color=INK)
    if max(longest) > 10 * max(1.0, min(longest)):
        panels[0][0].set_yscale("symlog", linthresh=1)
        round_ticks(panels[0][0], "y")
    for axes in panels[-1]:
        axes.set_ylim(bottom=0)  # last, for all panels of a column share their limits
        _time_axis(axes, comparison)
    span = hours(comparison.question.scenario.horizon_us) / series.POINTS
    figure.suptitle(
        f"Jobs waiting, and cards busy (leased: grey); replication 0, means over {span:.3g} h",
        x=0.01, ha="left", fontsize=10.5, color=INK,
    )  # fmt: skip
    return figure


def wait_distribution(comparison: Comparison) -> Figure:
    """Share of jobs that wait at most so long, over all replications."""
    results = comparison.strategies
    labels = names([result.name for result in results])
    figure = new_figure(10.0, max(5.2, 0.9 + 0.2 * _lines(labels)))
    axes = figure.add_subplot()
    limit = _limit(comparison, WAIT)
    longest, shown = limit or 1.0, []
    for number, result in enumerate(results):
        curve = series.waits(result)
        if curve is None:
            continue
        shown.append(number)
        first = max(0, int(np.searchsorted(curve.x, SHORTEST_WAIT_H, side="right")) - 1)
        x, y = np.maximum(curve.x[first:], SHORTEST_WAIT_H), 100 * curve.y[first:]
        longest = max(longest, float(x[-1]))
        # Beyond the longest wait the share stays at 100 %, to the edge of the chart.
        draw_line(axes, np.append(x, 1e9), np.append(y, 100.0), number)
    axes.set_xscale("log")
    axes.set_xlim(SHORTEST_WAIT_H, 1.5 * longest)
    axes.set_ylim(0, 102)
    axes.set_xlabel("wait (h)", color=INK)
    axes.set_ylabel("jobs that wait at most so long (%)", color=INK)
    round_ticks(axes, "x")
    grid(axes)
    axes.set_title(
        "How long jobs wait (at the left edge: not at all, or less than a minute)",
        loc="left", fontsize=11, color=INK,
    )  # fmt: skip
    if limit is not None and limit > SHORTEST_WAIT_H:
        axes.axvline(limit, color=INK, linewidth=1, linestyle=":")
        axes.axhline(95, color=INK, linewidth=1, linestyle=":")
        text = axes.annotate(
            f"target: 95 % within {limit:g} h", (limit, 0), xytext=(4, 6), textcoords="offset points",
            fontsize=8, color=INK, rotation=90, va="bottom",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
        )  # fmt: skip
        text.set_in_layout(False)
    name_legend(figure, [_proxies(len(labels))[number] for number in shown], [labels[n] for n in shown])
    return figure


def _bars(money: Interval, wait: Interval) -> list[Bar]:
    """Lines from limit to limit: one along the money, one along the wait."""
    x, y, bars = money.mean or 0.0, wait.mean or 0.0, []
    if money.low is not None and money.high is not None:
        bars.append(((max(money.low, 0.0), y), (money.high, y)))
    if wait.low is not None and wait.high is not None:
        bars.append(((x, max(wait.low, 0.0)), (x, wait.high)))
    return bars


def _point(
    axes: Axes, colour: str, result: StrategyResult, money: Interval, wait: Interval, chosen: bool
) -> None:
    """A mean with bars to its limits; the shape says whether it is on the Pareto front."""
    x, y = money.mean or 0.0, wait.mean or 0.0
    for (left, low), (right, high) in _bars(money, wait):
        marker = "|" if low == high else "_"
        axes.plot([left, right], [low, high], color=colour, linewidth=1.4, marker=marker, markersize=6)
    if chosen:
        axes.plot(x, y, "o", markersize=17, markerfacecolor="none", markeredgecolor=INK, markeredgewidth=1.2)
    axes.plot(
        x, y, "D" if result.pareto else "o", markersize=8, markeredgewidth=1.6, markeredgecolor=colour,
        markerfacecolor=colour if result.pareto else "white",
    )  # fmt: skip


def _marks_legend(axes: Axes, comparison: Comparison, shown: Sequence[str]) -> None:
    """What the shapes mean, below the axes, and who could not be drawn."""
    ring = proxy(INK, marker="o", hollow=True)
    ring.set_markersize(13)
    entries = [(proxy(INK, marker="D"), "Pareto: none is better in both")]
    if not all(result.pareto for result in comparison.strategies):
        entries.append(
            (
                proxy(INK, marker="o", hollow=True),
                "another is as good in both and better in one, or it refuses jobs",
            )
        )
    if comparison.recommendation.strategy in shown:
        entries.append((ring, "recommended"))
    figure = axes.get_figure(root=True)
    if figure is None:
        return
    missing = len(comparison.strategies) - len(shown)
    title = f"{missing} without a wait, not drawn" if missing else None
    figure.legend(
        [handle for handle, _ in entries],
        [label for _, label in entries],
        loc="outside lower center", ncols=len(entries), frameon=False, fontsize=8.5, title=title,
    )  # fmt: skip


def _target_line(axes: Axes, comparison: Comparison) -> None:
    limit = _limit(comparison, WAIT)
    if limit is None:
        return
    axes.axhline(limit, color=INK, linewidth=1, linestyle=":")
    text = axes.annotate(
        f"target: at most {limit:g} h", (1, limit), xycoords=("axes fraction", "data"), xytext=(-4, 3),
        textcoords="offset points", ha="right", fontsize=8, color=INK,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )  # fmt: skip
    text.set_in_layout(False)


def _limit(comparison: Comparison, metric: str) -> float | None:
    return next((asked.limit for asked in comparison.conditions if asked.metric == metric), None)


def _wait_scale(axes: Axes, values: Iterable[float | None]) -> None:
    """Logarithmic where values are far apart, so that none lies flat on the axis."""
    known = [value for value in values if value is not None]
    if not known or max(known) <= LARGE_RATIO * max(min(known), 0.1):
        axes.set_ylim(bottom=min(0.0, -0.04 * max(known, default=1.0)))
    elif min(known) > 0:
        axes.set_yscale("log")
    else:
        axes.set_yscale("symlog", linthresh=0.1)
        axes.set_ylim(bottom=-0.02)
    round_ticks(axes, "y")


def _proxies(number: int) -> list[Line2D]:
    return [proxy(look(position).colour, look(position).dashes) for position in range(number)]


def _time_axis(axes: Axes, comparison: Comparison) -> None:
    scenario = comparison.question.scenario
    start = scenario.local_time(0).date().isoformat()
    axes.set_xlabel(f"days since {start}", color=INK)
    axes.set_xlim(0, scenario.horizon_us / DAY)


def _lines(labels: Sequence[str]) -> int:
    return sum(label.count("\n") + 1 for label in labels) + len(labels)


CHARTS: Mapping[str, Callable[[Comparison], Figure]] = {
    "money-against-wait": money_against_wait,
    "cumulative-money": cumulative_money,
    "queue-and-cards": queue_and_cards,
    "wait-distribution": wait_distribution,
}
"""File name -> chart. To add one: a function and a row."""
