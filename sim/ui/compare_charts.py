"""Money against wait, with intervals, the line of the target and the Pareto front."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from sim.ui.charts import NARROW, PALETTE, SHAPES
from sim.ui.language import word
from sim.ui.metric_words import figure, metric_name, of_limits, unit_of
from sim.ui.target_words import status_words

__all__ = ["WAIT", "money_against_wait", "money_metric"]

WAIT = "wait_p95_h"
GREY = "#7F7F7F"

ROOM = 0.06
"""Beside the outermost costs, as a part of what lies between them."""


def money_metric(document: Mapping[str, Any]) -> str:
    """The metric of money that ranks: with penalties where there are any."""
    penalties = (one["metrics"].get("penalty_cny", {}).get("mean") for one in document["strategies"])
    return "cost_with_penalties_cny" if any(penalties) else "committed_cost_cny"


def money_against_wait(document: Mapping[str, Any]) -> tuple[alt.LayerChart | alt.FacetChart, pd.DataFrame]:
    """The chart and its table. Strategies without a wait (no job ran) are left out of the chart."""
    money = money_metric(document)
    frame = _frame(document, money)
    x = alt.X(
        "x:Q",
        title=_axis(money),
        scale=_money_scale(frame),
        axis=alt.Axis(format="~s", labelFlush=False, tickCount=6),
    )
    y = alt.Y("y:Q", title=_axis(WAIT), scale=alt.Scale(domainMin=0))
    layers: list[alt.Chart] = [*_front(frame, x, y), *_limit(document, frame), *_points(frame, x, y, money)]
    chart = alt.layer(*layers).properties(height=460)
    names = {"strategy": word("compare.strategy"), "x": _axis(money), "y": _axis(WAIT)}
    for axis in ("x", "y"):
        names |= {f"{axis}_{end}": f"{names[axis]}, {word(f'compare.{end}')}" for end in ("low", "high")}
    table = frame[["strategy", "x", "x_low", "x_high", "y", "y_low", "y_high"]].rename(columns=names)
    return chart, table


def _money_scale(frame: pd.DataFrame) -> alt.Scale:
    """Room beside the outermost marks, but none below 0 where no cost is: nobody is paid for renting."""
    if frame.empty:
        return alt.Scale(zero=False)
    low, high = float(frame["x_low"].min()), float(frame["x_high"].max())
    room = ROOM * ((high - low) or abs(high) or 1.0)
    least = max(0.0, low - room) if low >= 0 else low - room
    return alt.Scale(domain=[least, high + room], nice=False)


def _axis(metric: str) -> str:
    return f"{metric_name(metric)} ({unit_of(metric)})"


def _frame(document: Mapping[str, Any], money: str) -> pd.DataFrame:
    chosen = document["recommendation"]["strategy"]
    rows = []
    for one in document["strategies"]:
        across, up = one["metrics"][money], one["metrics"][WAIT]
        if across["mean"] is None or up["mean"] is None:
            continue
        rows.append(
            {
                "strategy": one["name"],
                "x": across["mean"],
                "x_low": _end(across, "low"),
                "x_high": _end(across, "high"),
                "y": up["mean"],
                "y_low": _end(up, "low"),
                "y_high": _end(up, "high"),
                "pareto": bool(one["pareto"]),
                "chosen": one["name"] == chosen,
                "money": of_limits(across),
                "wait": of_limits(up),
                "target": status_words(one),
            }
        )
    columns = ["strategy", "x", "x_low", "x_high", "y", "y_low", "y_high", "pareto", "chosen"]
    return pd.DataFrame(rows, columns=[*columns, "money", "wait", "target"])


def _end(limits: Mapping[str, Any], end: str) -> float:
    return float(limits["mean"] if limits[end] is None else limits[end])


def _front(frame: pd.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The strategies that no other beats in both money and wait, joined by steps."""
    front = frame[frame["pareto"]]
    if len(front) < 2:
        return []
    line = alt.Chart(front).mark_line(
        interpolate="step-after", strokeDash=[3, 3], color=GREY, strokeWidth=1.5
    )
    return [line.encode(x=x, y=y, order=alt.Order("x:Q"))]


def _limit(document: Mapping[str, Any], frame: pd.DataFrame) -> list[alt.Chart]:
    """The line of the target on the wait, where the target has one."""
    limit = next((line["limit"] for line in document["target"] if line["metric"] == WAIT), None)
    if limit is None or frame.empty:
        return []
    text = word("compare.limit", limit=figure(float(limit), "h"))
    base = alt.Chart(pd.DataFrame({"y": [limit], "text": [text]}))
    rule = base.mark_rule(strokeDash=[8, 4], color=PALETTE[1], strokeWidth=2).encode(y="y:Q")
    label = base.mark_text(align="right", dx=-4, dy=-8, color=PALETTE[1]).encode(
        y="y:Q", x=alt.value("width"), text="text:N"
    )
    return [rule, label]


def _points(frame: pd.DataFrame, x: alt.X, y: alt.Y, money: str) -> list[alt.Chart]:
    names = frame["strategy"].tolist()
    domain = alt.Scale(domain=names, range=[PALETTE[n % len(PALETTE)] for n in range(len(names))])
    shapes = alt.Scale(domain=names, range=[SHAPES[n % len(SHAPES)] for n in range(len(names))])
    legend = alt.Legend(
        title=None, orient="top", columns=alt.ExprRef(NARROW), labelLimit=320, symbolLimit=len(names) + 1
    )
    colour = alt.Color("strategy:N", scale=domain, legend=legend)
    shape = alt.Shape("strategy:N", scale=shapes, legend=legend)
    tooltip = [
        alt.Tooltip("strategy:N", title=word("compare.strategy")),
        alt.Tooltip("money:N", title=word("compare.money")),
        alt.Tooltip("wait:N", title=metric_name(WAIT)),
        alt.Tooltip("target:N", title=word("compare.target")),
    ]
    base = alt.Chart(frame)
    across = base.mark_rule(strokeWidth=2, opacity=0.8).encode(
        x=alt.X("x_low:Q", title=_axis(money)), x2="x_high:Q", y=y, color=colour
    )
    up = base.mark_rule(strokeWidth=2, opacity=0.8).encode(
        x=x, y=alt.Y("y_low:Q", title=_axis(WAIT)), y2="y_high:Q", color=colour
    )
    ring = (
        base.transform_filter("datum.chosen")
        .mark_point(size=520, filled=False, strokeWidth=2, shape="circle", color=GREY)
        .encode(x=x, y=y)
    )
    marks = base.mark_point(size=150, filled=True, opacity=1).encode(
        x=x, y=y, color=colour, shape=shape, tooltip=tooltip
    )
    return [across, up, ring, marks]
