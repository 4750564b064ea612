"""Charts of several series over months: lines with marks, bars side by side, told apart not by colour alone.

Frames are long tables with the columns `x`, `y` and `series`; `headings` names them as people read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import altair as alt
import pandas as pd

from sim.ui.charts import DASHES, NARROW, PALETTE, SHAPES

__all__ = ["Drawn", "bar_chart", "headed", "level_bars", "limit_line", "line_chart", "scales"]

Drawn: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart
"""What altair gives back of a chart or of layers."""

HEIGHT, A_LINE = 320, 14
"""Height of a chart of few series, and what each more adds: on a telephone each has a line of the legend."""


def scales(names: Sequence[str]) -> tuple[alt.Color, alt.StrokeDash, alt.Shape]:
    """Colour, dash and shape of each series, with one legend above the chart."""
    legend = alt.Legend(orient="top", title=None, labelLimit=0, columns=alt.ExprRef(NARROW))
    domain = list(names)
    return (
        alt.Color("series:N", scale=alt.Scale(domain=domain, range=_cycled(PALETTE, domain)), legend=legend),
        alt.StrokeDash(
            "series:N", scale=alt.Scale(domain=domain, range=_cycled(DASHES, domain)), legend=None
        ),
        alt.Shape("series:N", scale=alt.Scale(domain=domain, range=_cycled(SHAPES, domain)), legend=legend),
    )


def line_chart(
    frame: pd.DataFrame,
    headings: Mapping[str, str],
    *,
    step: bool = False,
    kind: str = "O",
    mark: tuple[object, str] | None = None,
) -> Drawn:
    """A line with marks for each series; `step`: a value holds until the next one; `mark`: a line at an x."""
    names = list(dict.fromkeys(frame["series"]))
    colour, dash, shape = scales(names)
    base = alt.Chart(frame).encode(
        x=_x(headings["x"], kind),
        y=alt.Y("y:Q", title=headings["y"], axis=alt.Axis(format=",.0f")),
        tooltip=_tips(headings, kind),
    )
    # The legend is the marks' alone: a dash would cut up their outlines.
    plain = alt.Color("series:N", scale=alt.Scale(domain=names, range=_cycled(PALETTE, names)), legend=None)
    line = base.mark_line(interpolate="step-after" if step else "linear", strokeWidth=2)
    points = base.mark_point(size=60, filled=True, opacity=1).encode(color=colour, shape=shape)
    layers = [line.encode(color=plain, strokeDash=dash), points]
    if mark is not None:
        here = alt.Chart(pd.DataFrame({"x": [mark[0]], "what": [mark[1]]}))
        rule = here.mark_rule(color="#7F7F7F", strokeDash=[3, 3], strokeWidth=2)
        layers.append(rule.encode(x=alt.X(f"x:{kind}"), tooltip=alt.Tooltip("what:N", title=" ")))
    drawn: Drawn = (
        alt.layer(*layers)
        .properties(height=_height(names))
        .resolve_legend(color="independent", shape="independent", strokeDash="independent")
    )
    return drawn


def bar_chart(frame: pd.DataFrame, headings: Mapping[str, str]) -> Drawn:
    """Bars side by side for each series and x; below the line where money comes back."""
    names = list(dict.fromkeys(frame["series"]))
    colour, _, _ = scales(names)
    bars = alt.Chart(frame).mark_bar()
    found = bars.encode(
        x=_x(headings["x"], "O"),
        xOffset=alt.XOffset("series:N", scale=alt.Scale(domain=names)),
        y=alt.Y("y:Q", title=headings["y"], axis=alt.Axis(format=",.0f")),
        color=colour,
        tooltip=_tips(headings, "O"),
    )
    return alt.layer(found).properties(height=_height(names))


def limit_line(limit: float, what: str, value: str = "y") -> tuple[alt.Chart, alt.Chart]:
    """A limit across a chart, and its name at the right end; `value` is the column of the y axis."""
    line = alt.Chart(pd.DataFrame({value: [limit], "what": [what]}))
    rule = line.mark_rule(color=PALETTE[2], strokeDash=[6, 3], strokeWidth=2)
    text = line.mark_text(align="right", baseline="bottom", dy=-3, color=PALETTE[2], fontSize=12)
    return (
        rule.encode(y=f"{value}:Q", tooltip=alt.Tooltip("what:N", title=" ")),
        text.encode(y=f"{value}:Q", x=alt.value("width"), text="what:N"),
    )


def headed(frame: pd.DataFrame, headings: Mapping[str, str]) -> pd.DataFrame:
    """The table as people read it: its columns in the order of the headings."""
    return frame[list(headings)].rename(columns=dict(headings))


def _height(names: Sequence[str]) -> int:
    return HEIGHT + A_LINE * max(0, len(names) - 2)


def _x(title: str, kind: str) -> alt.X:
    if kind == "Q":  # whole months
        return alt.X("x:Q", title=title, axis=alt.Axis(format="d", tickMinStep=1))
    return alt.X("x:O", title=title, sort=None, axis=alt.Axis(labelAngle=-45, labelOverlap=True))


def _tips(headings: Mapping[str, str], kind: str) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("series:N", title=headings["series"]),
        alt.Tooltip(f"x:{kind}", title=headings["x"]),
        alt.Tooltip("y:Q", title=headings["y"], format=",.2f"),
    ]


def _cycled(marks: Sequence[Any], domain: Sequence[str]) -> list[Any]:
    return [marks[place % len(marks)] for place in range(len(domain))]


def level_bars(frame: pd.DataFrame, headings: Mapping[str, str], digits: int = 0) -> alt.Chart:
    """Horizontal bars of one colour, a row each: columns `who` and `y`, in the order of the table."""
    chart: alt.Chart = (
        alt.Chart(frame)
        .mark_bar(color=PALETTE[0])
        .encode(
            x=alt.X("y:Q", title=headings["y"], axis=alt.Axis(format=",.0f", labelOverlap=True)),
            y=alt.Y("who:N", title=None, sort=None, axis=alt.Axis(labelLimit=220)),
            tooltip=[
                alt.Tooltip("who:N", title=headings["who"]),
                alt.Tooltip("y:Q", title=headings["y"], format=f",.{digits}f"),
            ],
        )
        .properties(height=alt.Step(34))
    )
    return chart
