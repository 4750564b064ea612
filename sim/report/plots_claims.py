"""Chart of verdicts on claims: how many of each, by article and by kind."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from sim.claims.model import KINDS, Article
from sim.claims.verdict import VERDICTS, Judged
from sim.report.plots_style import INK, grid, new_figure, of_user

__all__ = ["VERDICT_COLOURS", "claims_chart"]

VERDICT_COLOURS: Mapping[str, str] = {
    "holds": "#009E73",
    "holds only if": "#56B4E9",
    "wrong": "#D55E00",
    "contradicts": "#CC79A7",
    "cannot be checked": "#b0b0b0",
}
"""Okabe and Ito, as in the other charts."""
_HATCHES = {"wrong": "//", "contradicts": "xx"}
"""Told apart without colours too."""
_TITLE = 42


def claims_chart(judged: Sequence[Judged], articles: Mapping[str, Article]) -> Figure:
    """Two panels of stacked bars; the number of claims is written in every part that has room."""
    by_article = _counts([(one.claim.article, one.verdict) for one in judged])
    kinds = sorted(judged, key=lambda one: KINDS.index(one.claim.kind))
    by_kind = _counts([(one.claim.kind, one.verdict) for one in kinds])
    heights = (len(by_article) + 1, len(by_kind) + 1)
    figure = new_figure(10.5, 1.6 + 0.34 * sum(heights))
    panels = figure.subplots(2, 1, gridspec_kw={"height_ratios": heights})
    names = {key: _short(articles[key].title.en if key in articles else key) for key in by_article}
    _bars(panels[0], {names[key]: row for key, row in by_article.items()}, "by article")
    _bars(panels[1], by_kind, "by kind")
    panels[1].set_xlabel("claims", color=INK)
    shown = [name for name in VERDICTS if any(one.verdict == name for one in judged)]
    handles = [
        Patch(facecolor=VERDICT_COLOURS[name], hatch=_HATCHES.get(name), edgecolor="white") for name in shown
    ]
    figure.legend(handles, shown, loc="outside upper center", ncols=len(shown), frameon=False, fontsize=9)
    return figure


def _counts(pairs: Sequence[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """Group -> verdict -> number, groups in the order of their first claim."""
    found: dict[str, dict[str, int]] = {}
    for group, verdict in pairs:
        row = found.setdefault(group, dict.fromkeys(VERDICTS, 0))
        row[verdict] += 1
    return found


def _short(title: str) -> str:
    """At most two lines, so that the bars keep their room."""
    lines = textwrap.wrap(title, _TITLE)
    return "\n".join(lines if len(lines) <= 2 else [lines[0], f"{lines[1]}…"])


def _bars(axes: Axes, rows: Mapping[str, Mapping[str, int]], title: str) -> None:
    positions = list(range(len(rows)))
    left = [0] * len(rows)
    widest = max(sum(row.values()) for row in rows.values())
    for verdict in VERDICTS:
        numbers = [row[verdict] for row in rows.values()]
        axes.barh(
            positions, numbers, left=left, color=VERDICT_COLOURS[verdict], hatch=_HATCHES.get(verdict),
            edgecolor="white", linewidth=0.6, height=0.72,
        )  # fmt: skip
        for place, number in enumerate(numbers):
            if number >= 0.012 * widest:
                axes.text(
                    left[place] + number / 2, place, str(number), ha="center", va="center", fontsize=8,
                    color="black",
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.75},
                )  # fmt: skip
        left = [before + number for before, number in zip(left, numbers, strict=True)]
    axes.set_yticks(positions, list(rows))
    for label in axes.get_yticklabels():
        of_user(label)
    axes.invert_yaxis()
    axes.set_title(title, loc="left", fontsize=9.5, color=INK)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(0, widest * 1.02)
    grid(axes)
