"""Charts of the finance commands: break-even, how many cards to commit, owning beside renting."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from sim.billing.finance.analysis import Analysis
from sim.billing.finance.breakeven import HOURS_OF_MONTH
from sim.billing.finance.commitment import Commitment
from sim.billing.owning import Owning, OwningCost
from sim.report.plots_style import (
    INK,
    PALETTE,
    draw_line,
    grid,
    look,
    name_legend,
    names,
    new_figure,
    of_user,
    proxy,
    round_ticks,
)

__all__ = ["breakeven_chart", "commitment_chart", "owning_chart"]

_WIDTH, _LINES = 95, 6
"""Signs in a line of a title, and lines."""


def breakeven_chart(analysis: Analysis, currency: str) -> Figure:
    """What each way costs if it ends after so many months; and by hours used, where one is by the hour."""
    figure = new_figure(10.5, 8.4 if analysis.uses else 5.0)
    panels = figure.subplots(2 if analysis.uses else 1, 1, squeeze=False)[:, 0]
    labels = names([way.name for way in analysis.ways])
    spoken = {way.name: " ".join(label.split()) for way, label in zip(analysis.ways, labels, strict=True)}
    _ends_panel(panels[0], analysis, spoken, currency)
    if analysis.uses:
        _use_panel(panels[1], analysis, spoken, currency)
    handles = [proxy(look(number).colour, look(number).dashes) for number in range(len(labels))]
    name_legend(figure, handles, labels)
    return figure


def _ends_panel(axes: Axes, analysis: Analysis, spoken: Mapping[str, str], currency: str) -> None:
    months = list(range(1, analysis.months + 1))
    for number, way in enumerate(analysis.ways):
        _dotted(axes, months, [float(found.cost) for found in way.outcomes], number, marker=len(months) <= 36)
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.set_xlim(0.5, analysis.months + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(12, integer=True))
    said = ["Paid in all if everything ends after so many months, refunds taken off"]
    for pair in analysis.pairs:
        if pair.cheaper_from is not None and pair.cheaper_from > 1:
            axes.axvline(pair.cheaper_from - 0.5, color=INK, linewidth=1, linestyle=":")
            other, first = spoken[pair.other], spoken[pair.first]
            said.append(f"from month {pair.cheaper_from} on: {other} costs less than {first}")
    _title(axes, *said)
    axes.set_xlabel("month of end", color=INK)
    axes.set_ylabel(currency, color=INK)
    round_ticks(axes, "y")
    grid(axes)


def _use_panel(axes: Axes, analysis: Analysis, spoken: Mapping[str, str], currency: str) -> None:
    hours = np.array([0.0, float(HOURS_OF_MONTH)])
    for number, way in enumerate(analysis.ways):
        if way.plan is not None:
            _dotted(axes, hours, np.full(2, float(way.plan.monthly)), number)
        elif way.hour is not None:
            _dotted(axes, hours, float(way.hour) * way.units * hours, number)
    axes.set_ylim(bottom=0)
    axes.set_xlim(0, float(HOURS_OF_MONTH))
    said = ["Cost of a month by hours used of each unit, whole periods used"]
    for use in (use for use in analysis.uses if use.share <= 1):
        axes.axvline(float(use.hours), color=INK, linewidth=1, linestyle=":")
        prepaid, hourly = spoken[use.prepaid], spoken[use.hourly]
        said.append(f"from {float(use.hours):,.1f} h on: {prepaid} costs less than {hourly}")
    _title(axes, *said)
    axes.set_xlabel("hours used a month (h, of 730)", color=INK)
    axes.set_ylabel(f"{currency} a month", color=INK)
    round_ticks(axes, "y")
    grid(axes)


def commitment_chart(
    found: Commitment,
    shares: Sequence[float],
    trials: Sequence[tuple[int, float]],
    unit: str,
    currency: str,
) -> Figure:
    """How often so many units are needed, and what a month costs by the number committed.

    `trials` are simulated numbers with their mean cost; costs are per month.
    """
    figure = new_figure(9.5, 7.6)
    top, bottom = figure.subplots(2, 1, sharex=True)
    last = max([k for k, share in enumerate(shares) if share > 1e-5] + [found.newsvendor + 1])
    top.bar(range(len(shares[: last + 1])), [100 * share for share in shares[: last + 1]], color=PALETTE[5])
    top.set_ylabel("share of the time (%)", color=INK)
    _title(top, f"How many {unit} are needed")
    costs = [float(cost) for cost in found.costs[: last + 1]]
    best = found.newsvendor
    _dotted(bottom, range(len(costs)), costs, 0, marker=True)
    handles, labels = [proxy(look(0).colour)], ["newsvendor"]
    if trials:
        numbers, means = zip(*trials, strict=True)
        _dotted(bottom, numbers, means, 1, marker=True)
        handles.append(proxy(look(1).colour, look(1).dashes))
        labels.append("simulated")
    bottom.axvline(best, color=INK, linewidth=1, linestyle=":")
    bottom.set_ylim(0, 1.08 * max([*costs, *(mean for _, mean in trials)]))
    _title(
        bottom,
        f"Cost of a month by {unit} committed; dotted: {best} committed, {costs[best]:,.0f} {currency}",
    )
    bottom.set_xlabel(unit, color=INK)
    bottom.set_ylabel(f"{currency} a month", color=INK)
    bottom.xaxis.set_major_locator(MaxNLocator(12, integer=True))
    round_ticks(bottom, "y")
    bottom.legend(handles, labels, frameon=False, fontsize=8.5, loc="lower right")
    for axes in (top, bottom):
        grid(axes)
    return figure


Rented = tuple[str, Decimal, Decimal | None, Decimal]
"""Name, currency a year, currency per card-hour where it is paid by use, useful card-hours a year."""


def owning_chart(cost: OwningCost, inputs: Owning, rents: Sequence[Rented]) -> Figure:
    """Parts of a year of owning beside rents, and the useful card-hour by utilisation."""
    figure = new_figure(10.5, 7.2 + 0.45 * len(rents))
    top, bottom = figure.subplots(2, 1, height_ratios=[1.2 + 0.6 * len(rents), 4.2])
    left = 0.0
    for number, (name, amount) in enumerate(cost.parts.items()):
        top.barh(0, float(amount), left=left, color=PALETTE[number % len(PALETTE)], label=name)
        left += float(amount)
    for row, rented in enumerate(rents, start=1):
        top.barh(row, float(rented[1]), color="#b8b8b8")
    labels = ["owning", *names([rented[0] for rented in rents])]
    top.set_yticks(range(len(labels)), labels)
    for row, total in enumerate([float(cost.total), *(float(rented[1]) for rented in rents)]):
        top.annotate(
            f"{total:,.0f}", (total, row), xytext=(4, 0), textcoords="offset points", va="center",
            fontsize=8.5, color=INK,
        )  # fmt: skip
    top.invert_yaxis()
    top.margins(x=0.14)
    _title(top, "Cost of a year")
    top.set_xlabel(f"{inputs.currency} a year", color=INK)
    round_ticks(top, "x")
    figure.legend(
        *top.get_legend_handles_labels(), loc="outside upper center", ncols=6, frameon=False, fontsize=8.5
    )
    _hour_panel(bottom, cost, inputs, rents)
    for axes in (top, bottom):
        grid(axes)
    return figure


def _hour_panel(axes: Axes, cost: OwningCost, inputs: Owning, rents: Sequence[Rented]) -> None:
    """Cost of a useful card-hour if the cards were used so much; what is fixed is spread over the hours."""
    use = float(inputs.utilisation.value)
    shares = np.linspace(min(0.1, use), 1.0, 91)
    _dotted(axes, 100 * shares, float(cost.useful_hour) * use / shares, 0)
    for number, (_, year, hour, hours) in enumerate(rents, start=1):
        fixed = float(year / hours) * use / shares
        _dotted(axes, 100 * shares, fixed if hour is None else np.full(len(shares), float(hour)), number)
    axes.axvline(100 * use, color=INK, linewidth=1, linestyle=":")
    axes.set_xlim(100 * shares[0], 100)
    axes.set_ylim(bottom=0)
    _title(axes, f"Cost of a useful card-hour by utilisation; dotted: {100 * use:g} % as asked for")
    axes.set_xlabel("utilisation (% of the time in working order)", color=INK)
    axes.set_ylabel(f"{inputs.currency} per useful card-hour", color=INK)
    handles = [proxy(look(number).colour, look(number).dashes) for number in range(len(rents) + 1)]
    labels = ["owning", *names([rented[0] for rented in rents])]
    axes.legend(handles, labels, frameon=False, fontsize=8.5, loc="upper right")
    round_ticks(axes, "y")


def _dotted(axes: Axes, x: ArrayLike, y: ArrayLike, number: int, marker: bool = False) -> None:
    """A line, with a dot at each point if asked for."""
    draw_line(axes, x, y, number, marker="o" if marker else "None", markersize=4)


def _title(axes: Axes, *lines: str) -> None:
    """What is drawn, and below it what there is to see: no words lie on the lines."""
    shown = [part for line in lines for part in textwrap.wrap(line, _WIDTH)]
    if len(shown) > _LINES:
        shown = [*shown[: _LINES - 1], "and more: see the tables"]
    of_user(axes.set_title("\n".join(shown), loc="left", fontsize=10, color=INK))
