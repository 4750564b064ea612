"""Memory of one card by part, as stacked bars against what the card can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd
import streamlit as st

from sim.report.fit_answers import FitAnswer
from sim.ui.charts import NARROW, PALETTE, show_chart
from sim.ui.language import say, word

__all__ = ["memory_chart", "memory_frame"]

GROUPS: Mapping[str, tuple[str, ...]] = {
    "weights": ("weights", "quantisation"),
    "state": ("adapters", "gradients", "optimizer"),
    "activations": ("activations", "recomputed"),
    "logits": ("logits",),
    "gathered": ("gathered",),
    "pool": ("fragmentation", "context"),
}
"""The eleven parts of memory in six that a person can tell apart."""

DARK = "datum.sign <= '4'"
"""Parts whose colour is dark enough for white signs."""

NAMED_FROM = 0.05
"""Share of the widest bar from which a part has its number written on it."""


def memory_chart(answers: Sequence[FitAnswer]) -> None:
    """Draw it, one bar for each kind and number of cards, fitting ones first."""
    st.subheader(say("fit.memory"))
    frame = memory_frame(answers)
    if frame.empty:
        st.info(say("fit.no_parts"))
        return
    st.caption(say("fit.memory_note"))
    show_chart(_chart(frame), "memory", frame, word("fit.memory_alt"))


def memory_frame(answers: Sequence[FitAnswer]) -> pd.DataFrame:
    """Long table of the chart: bar, part, GiB from and to, capacity, whether it fits."""
    rows: list[dict[str, object]] = []
    seen: set[str] = set()
    ordered = sorted(answers, key=lambda a: (not a.row.fits, a.row.gpus or 0, a.row.usable_gib or 0.0))
    for answer in ordered:
        row = answer.row
        label = f"{row.gpu} × {row.gpus}"
        if row.parts is None or label in seen:
            continue
        seen.add(label)
        begin = 0.0
        for place, (name, parts) in enumerate(GROUPS.items(), start=1):
            size = sum(getattr(row.parts, part) for part in parts)
            rows.append(
                {
                    "card": f"{'✓' if row.fits else '✗'} {label}",
                    "part": f"{place} {word(f'fit.group_{name}')}",
                    "sign": str(place),
                    "from_gib": begin,
                    "to_gib": begin + size,
                    "gib": size,
                    "usable_gib": row.usable_gib,
                    "total_gib": row.total_gib,
                }
            )
            begin += size
    return pd.DataFrame(rows)


def _chart(frame: pd.DataFrame) -> alt.LayerChart | alt.FacetChart:
    order = list(dict.fromkeys(frame["card"]))
    parts = list(dict.fromkeys(frame["part"]))
    # No label of an axis may be cut, and a bar needs a line of its own.
    y = alt.Y("card:N", sort=order, title=None, axis=alt.Axis(labelLimit=220))
    x = alt.X("from_gib:Q", title=word("fit.axis_gib"), stack=None)
    tips = [
        alt.Tooltip("card:N", title=word("fit.tip_card")),
        alt.Tooltip("part:N", title=word("fit.tip_part")),
        alt.Tooltip("gib:Q", title=word("fit.tip_gib"), format=",.1f"),
        alt.Tooltip("total_gib:Q", title=word("fit.tip_total"), format=",.1f"),
        alt.Tooltip("usable_gib:Q", title=word("fit.tip_usable"), format=",.1f"),
    ]
    colour = alt.Color(
        "part:N",
        scale=alt.Scale(domain=parts, range=list(PALETTE[: len(parts)])),
        legend=alt.Legend(title=word("fit.legend"), orient="top", columns=alt.ExprRef(NARROW), labelLimit=0),
    )
    bars = (
        alt.Chart(frame)
        .mark_bar(height={"band": 0.62})
        .encode(y=y, x=x, x2="to_gib:Q", color=colour, tooltip=tips)
    )
    wide = frame.assign(middle_gib=(frame["from_gib"] + frame["to_gib"]) / 2)
    wide = wide[wide["gib"] > NAMED_FROM * frame["to_gib"].max()]
    numbers = (
        alt.Chart(wide)
        .mark_text(fontSize=11)
        .encode(
            y=y,
            x="middle_gib:Q",
            text="sign:N",
            color=alt.condition(DARK, alt.value("white"), alt.value("black")),
        )
    )
    capacity = frame.drop_duplicates("card")
    marks = (
        alt.Chart(capacity)
        .mark_tick(thickness=3, color="#8a8a8a", height={"band": 0.9})
        .encode(y=y, x="usable_gib:Q", tooltip=[tips[0], tips[4]])
    )
    return alt.layer(bars, numbers, marks).properties(height=alt.Step(34))
