"""Verdicts by kind of statement, as stacked bars that name themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from sim.ui.charts import NARROW, PALETTE, show_chart
from sim.ui.claims_frames import SIGNS, VERDICTS, kind_name, verdict_name
from sim.ui.language import word

__all__ = ["verdict_chart", "verdict_frame"]

COLOURS = dict(zip(VERDICTS, (PALETTE[2], PALETTE[4], PALETTE[1], PALETTE[3], "#9a9a9a"), strict=True))


def verdict_frame(document: Mapping[str, Any]) -> pd.DataFrame:
    """Statements by kind and verdict: counts, and where their bar begins and ends."""
    frame = pd.DataFrame(document["claims"])[["kind", "verdict"]].value_counts().reset_index()
    rows = []
    for kind in dict.fromkeys(claim["kind"] for claim in document["claims"]):
        begin = 0
        for verdict in VERDICTS:
            found = frame[(frame["kind"] == kind) & (frame["verdict"] == verdict)]["count"]
            count = int(found.sum())
            if count:
                rows.append(
                    (kind_name(kind), verdict_name(verdict), SIGNS[verdict], count, begin, begin + count)
                )
            begin += count
    return pd.DataFrame(rows, columns=["kind", "verdict", "sign", "statements", "from", "to"])


def verdict_chart(document: Mapping[str, Any]) -> None:
    """Draw it."""
    frame = verdict_frame(document)
    names = [verdict_name(verdict) for verdict in VERDICTS]
    kinds = list(frame.groupby("kind")["statements"].sum().sort_values(ascending=False).index)
    y = alt.Y("kind:N", sort=kinds, title=None, axis=alt.Axis(labelLimit=200))
    base = alt.Chart(frame)
    bars = base.mark_bar().encode(
        y=y,
        x=alt.X("from:Q", title=word("claims.axis")),
        x2="to:Q",
        color=alt.Color(
            "verdict:N",
            scale=alt.Scale(domain=names, range=[COLOURS[verdict] for verdict in VERDICTS]),
            legend=alt.Legend(
                title=word("claims.col_verdict"), orient="top", columns=alt.ExprRef(NARROW), labelLimit=0
            ),
        ),
        tooltip=[
            alt.Tooltip("kind:N", title=word("claims.col_kind")),
            alt.Tooltip("verdict:N", title=word("claims.col_verdict")),
            alt.Tooltip("statements:Q", title=word("claims.axis")),
        ],
    )
    middle = frame.assign(middle=(frame["from"] + frame["to"]) / 2)
    signs = alt.Chart(middle[middle["statements"] >= 2]).mark_text(fontSize=11, color="black").encode(
        y=y, x="middle:Q", text="sign:N"
    )  # fmt: skip
    show_chart(alt.layer(bars, signs).properties(height=alt.Step(28)), "verdicts", frame, word("claims.alt"))
