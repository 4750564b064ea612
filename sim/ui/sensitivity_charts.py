"""Charts of a sensitivity study: the tornado, and Sobol indices with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from sim.metrics import METRICS
from sim.ui.chart_series import Drawn
from sim.ui.charts import NARROW, PALETTE
from sim.ui.language import word
from sim.ui.metric_words import metric_name, unit_of

__all__ = ["sobol_chart", "sobol_frame", "tornado_chart", "tornado_frame"]


def tornado_frame(document: Mapping[str, Any], view: str, names: Mapping[str, str]) -> pd.DataFrame:
    """One row an input and end: its value, what comes of it, who would be rented; the widest first."""
    low_key, high_key = (
        ("difference_at_low", "difference_at_high") if view == "difference" else ("at_low", "at_high")
    )
    base = document["base_difference" if view == "difference" else "base"]["mean"]
    times = 100 if METRICS[document["metric"]].unit == "share" else 1
    rows: list[dict[str, Any]] = []
    for one in document["inputs"]:
        ends = [one[low_key], one[high_key]]
        if any(end is None or end["mean"] is None for end in ends):
            continue
        spread = max(base, *(end["mean"] for end in ends)) - min(base, *(end["mean"] for end in ends))
        for end, found in zip(("low", "high"), ends, strict=True):
            decision = one[f"recommendation_at_{end}"]
            rows.append(
                {
                    "input": names[one["input"]],
                    "end": word(f"sensitivity.end_{end}"),
                    "at": one[end],
                    "value": found["mean"] * times,
                    "decision": decision or word("sensitivity.none_then"),
                    "changes": decision != document["recommendation"],
                    "spread": spread,
                }
            )
    frame = pd.DataFrame(rows)
    if frame.empty or not frame["spread"].any():
        return pd.DataFrame()
    frame = frame.sort_values("spread", ascending=False, kind="stable")
    return frame[frame["spread"] > 0].reset_index(drop=True)


def tornado_chart(frame: pd.DataFrame, base: float, metric: str, view: str) -> tuple[Drawn, dict[str, str]]:
    """Bars from the base to each end; a mark where another strategy would be rented there."""
    times = 100 if METRICS[metric].unit == "share" else 1
    headings = {
        "input": word("sensitivity.input"),
        "end": word("sensitivity.end"),
        "at": word("sensitivity.at"),
        "value": word(f"sensitivity.axis_{view}", metric=metric_name(metric), unit=unit_of(metric) or "–"),
        "decision": word("sensitivity.then"),
    }
    shown = frame.assign(
        base=base * times, turned=frame["changes"].map({True: word("sensitivity.turned"), False: ""})
    )
    layers = [_ends(shown, headings)]
    turned = shown[shown["changes"]]
    if len(turned):
        layers.append(_turned(turned, shown, headings))
    layers.append(_rule(base * times, color="#7F7F7F", strokeWidth=2))
    if view == "difference":
        layers.append(_rule(0.0, color=PALETTE[2], strokeDash=[6, 3], strokeWidth=2))
    return alt.layer(*layers).properties(height=alt.Step(20)), headings


def _ends(shown: pd.DataFrame, headings: Mapping[str, str]) -> alt.Chart:
    """Two bars an input, one for each end of its range."""
    legend = alt.Legend(orient="top", title=None, labelLimit=0, columns=alt.ExprRef(NARROW))
    scale = alt.Scale(domain=_end_names(), range=[PALETTE[5], PALETTE[0]])
    bars: alt.Chart = (
        alt.Chart(shown)
        .mark_bar()
        .encode(**_places(shown, headings), x2="base:Q", color=alt.Color("end:N", scale=scale, legend=legend))
    )
    return bars


def _turned(turned: pd.DataFrame, shown: pd.DataFrame, headings: Mapping[str, str]) -> alt.Chart:
    """A mark at each end where the decision is another one."""
    legend = alt.Legend(orient="bottom", title=None, labelLimit=0)
    marks: alt.Chart = (
        alt.Chart(turned)
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            **_places(shown, headings),
            shape=alt.Shape("turned:N", scale=alt.Scale(range=["diamond"]), legend=legend),
            color=alt.value(PALETTE[1]),
        )
    )
    return marks


def _places(shown: pd.DataFrame, headings: Mapping[str, str]) -> dict[str, Any]:
    """Where bars and marks of the tornado stand, and what is said of them."""
    order = list(dict.fromkeys(shown["input"]))
    axis = alt.Axis(format=",.0f", labelOverlap=True)
    return {
        "x": alt.X("value:Q", title=headings["value"], scale=alt.Scale(zero=False), axis=axis),
        "y": alt.Y("input:N", sort=order, title=None, axis=alt.Axis(labelLimit=200)),
        "yOffset": alt.YOffset("end:N", scale=alt.Scale(domain=_end_names())),
        "tooltip": [
            alt.Tooltip("input:N", title=headings["input"]),
            alt.Tooltip("end:N", title=headings["end"]),
            alt.Tooltip("at:Q", title=headings["at"], format=".4~g"),
            alt.Tooltip("value:Q", title=headings["value"], format=",.1f"),
            alt.Tooltip("decision:N", title=headings["decision"]),
        ],
    }


def _end_names() -> list[str]:
    return [word("sensitivity.end_low"), word("sensitivity.end_high")]


def _rule(at: float, **look: Any) -> alt.Chart:
    rule: alt.Chart = alt.Chart(pd.DataFrame({"base": [at]})).mark_rule(**look).encode(x="base:Q")
    return rule


def sobol_frame(found: Mapping[str, Any], names: Mapping[str, str]) -> pd.DataFrame:
    """First-order and total indices with their half-widths."""
    rows = [
        {
            "input": names[one["input"]],
            "kind": word(f"sensitivity.sobol_{kind}"),
            "value": one[kind],
            "low": one[kind] - one[f"{kind}_half_width"],
            "high": one[kind] + one[f"{kind}_half_width"],
        }
        for one in sorted(found["inputs"], key=lambda one: -one["total"])
        for kind in ("first", "total")
    ]
    return pd.DataFrame(rows)


def sobol_chart(frame: pd.DataFrame) -> tuple[Drawn, dict[str, str]]:
    """Bars side by side with intervals."""
    headings = {
        "input": word("sensitivity.input"),
        "kind": word("sensitivity.index"),
        "value": word("sensitivity.index_value"),
        "low": word("sensitivity.low"),
        "high": word("sensitivity.high"),
    }
    kinds = [word("sensitivity.sobol_first"), word("sensitivity.sobol_total")]
    tips = [alt.Tooltip("input:N", title=headings["input"]), alt.Tooltip("kind:N", title=headings["kind"])]
    tips += [alt.Tooltip(f"{key}:Q", title=headings[key], format=".2f") for key in ("value", "low", "high")]
    order = list(dict.fromkeys(frame["input"]))
    base = alt.Chart(frame).encode(
        y=alt.Y("input:N", sort=order, title=None, axis=alt.Axis(labelLimit=200)),
        yOffset=alt.YOffset("kind:N", scale=alt.Scale(domain=kinds)),
        tooltip=tips,
    )
    bars = base.mark_bar().encode(
        x=alt.X("value:Q", title=headings["value"]),
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=kinds, range=[PALETTE[0], PALETTE[4]]),
            legend=alt.Legend(orient="top", title=None, labelLimit=0),
        ),
    )
    whiskers = base.mark_rule(color="#7F7F7F", strokeWidth=2).encode(x="low:Q", x2="high:Q")
    return alt.layer(bars, whiskers).properties(height=alt.Step(20)), headings
