"""Money against wait of the options that a search ran to compare, and which of them nothing beats in both."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from sim.ui.amounts import number
from sim.ui.chart_series import Drawn, limit_line
from sim.ui.charts import PALETTE, show_chart
from sim.ui.language import say, word

__all__ = ["pareto_frame", "show_pareto"]

KINDS = ("chosen", "front", "beaten")
"""What an option is there, in the order of the legend."""


def show_pareto(document: Mapping[str, Any], names: Mapping[str, str]) -> None:
    """Draw the section, if there is anything to draw; `names` says what an option is called on the page."""
    frame = pareto_frame(document, names)
    if frame.empty:
        return
    st.subheader(say("sensitivity.pareto"))
    st.caption(say("sensitivity.pareto_note"))
    if document["pareto"]:
        front = word("sensitivity.name_gap").join(names[one] for one in document["pareto"])
        st.markdown(say("sensitivity.front", names=front))
    headings = {
        "name": word("sensitivity.option"),
        "cost": word("sensitivity.axis_cost"),
        "wait": word("sensitivity.axis_wait"),
        "low": word("steps.low"),
        "high": word("steps.high"),
        "kind": word("sensitivity.result"),
    }
    limit = next((one for one in document["comparison"]["target"] if one["metric"] == "wait_p95_h"), None)
    chart = _chart(frame, headings, None if limit is None else limit["limit"])
    show_chart(chart, "pareto", frame.rename(columns=headings), word("sensitivity.pareto"))


def pareto_frame(
    document: Mapping[str, Any], names: Mapping[str, str] = MappingProxyType({})
) -> pd.DataFrame:
    """Money and wait of the options that were run to compare, and which of them nothing beats in both.

    `names` says what an option is called on the page.
    """
    best = set(document["pareto"])
    chosen = (document["recommendation"] or {}).get("strategy")
    rows = []
    for one in document["comparison"]["strategies"]:
        cost, wait = one["metrics"]["committed_cost_cny"], one["metrics"]["wait_p95_h"]
        if cost["mean"] is None or wait["mean"] is None:
            continue
        kind = "chosen" if one["name"] == chosen else "front" if one["name"] in best else "beaten"
        rows.append(
            {
                "name": names.get(one["name"], one["name"]),
                "cost": cost["mean"],
                "wait": wait["mean"],
                "low": wait["low"],
                "high": wait["high"],
                "kind": word(f"sensitivity.kind_{kind}"),
            }
        )
    return pd.DataFrame(rows)


def _chart(frame: pd.DataFrame, headings: Mapping[str, str], limit_h: float | None) -> Drawn:
    """A mark an option with the interval of its wait, and the limit of the target, h."""
    kinds = [word(f"sensitivity.kind_{kind}") for kind in KINDS]
    tips = [
        alt.Tooltip("name:N", title=headings["name"]),
        alt.Tooltip("cost:Q", title=headings["cost"], format=",.0f"),
        alt.Tooltip("wait:Q", title=headings["wait"], format=",.2f"),
        alt.Tooltip("kind:N", title=headings["kind"]),
    ]
    axis = alt.Axis(format=",.0f", labelOverlap=True)
    x = alt.X("cost:Q", title=headings["cost"], scale=alt.Scale(zero=False), axis=axis)
    base = alt.Chart(frame).encode(x=x, tooltip=tips)
    bars = base.mark_rule(color="#7F7F7F").encode(y=alt.Y("low:Q", title=headings["wait"]), y2="high:Q")
    points = base.mark_point(filled=True, size=130, opacity=1).encode(
        y=alt.Y("wait:Q", title=headings["wait"]),
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=kinds, range=[PALETTE[1], PALETTE[0], PALETTE[7]]),
            legend=alt.Legend(orient="top", title=None, labelLimit=0),
        ),
        shape=alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=["diamond", "circle", "cross"])),
    )
    layers: list[alt.Chart] = [bars, points]
    if limit_h is not None:
        layers += limit_line(limit_h, word("steps.limit", hours=number(limit_h, 1)))
    return alt.layer(*layers).properties(height=340)
