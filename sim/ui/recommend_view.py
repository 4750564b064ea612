"""The cheapest fleet by `recommend`: options considered, the chosen one marked, why the others lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from sim.ui.amounts import hours, money, number, share
from sim.ui.charts import PALETTE, show_chart
from sim.ui.finance_plans import sentence_gap
from sim.ui.language import say, word
from sim.ui.recommend_form import ask_space
from sim.ui.state import Draft
from sim.ui.study_form import busy, origin, result_of, start

__all__ = ["options_frame", "pareto_frame", "show_recommendation"]

MARKS = {"chosen": "★", "dearer": "¥", "too slow": "…", "does not fit": "×", "too small": "×", "unsure": "?"}


def show_recommendation(draft: Draft) -> None:
    """Draw the part of the page."""
    found = result_of(draft, "recommend", "recommendation")
    words = ask_space(draft, found is None)
    if not busy("recommend"):
        start(
            "recommend",
            word("sensitivity.title_recommend", name=draft.question.scenario.name),
            words,
            word("sensitivity.search"),
            found is None,
        )
        if found is None:
            st.info(say("sensitivity.no_search"), icon=":material/search:")
    if found is None:
        return
    document = found.document
    _sentence(document)
    _near(document)
    _pareto(document)
    _options(document)
    st.caption(origin(found))


def _sentence(document: Mapping[str, Any]) -> None:
    chosen = document["recommendation"]
    if chosen is None:
        st.warning(say("sensitivity.none_meets"), icon=":material/report:")
        return
    metrics = document["comparison"]["strategies"][0]["metrics"]
    wait = metrics["wait_p95_h"]["mean"]
    text = say(
        "sensitivity.rent",
        name=chosen["strategy"],
        cost=money(metrics["committed_cost_cny"]["mean"]),
        wait=hours(wait) if wait is not None else word("sensitivity.no_wait"),
    )
    sure = "sensitivity.sure" if document["sure"] else "sensitivity.in_doubt"
    st.success(
        text + sentence_gap() + say(sure, confidence=share(document["confidence"], 0)),
        icon=":material/task_alt:",
    )


def _near(document: Mapping[str, Any]) -> None:
    """A card more, room for more demand, runs saved."""
    one, two, three = st.columns(3)
    more = document["marginal"]
    if more is not None:
        wait = more["wait_p95_h"]["mean"]
        one.metric(
            word("sensitivity.marginal"),
            money(more["committed_cost_cny"]["mean"]),
            help=word("sensitivity.marginal_help"),
            delta=None if wait is None else word("sensitivity.wait_change", change=f"{wait:+,.1f}"),
            delta_color="inverse",
        )
    room = document["headroom"]
    if room is not None:
        two.metric(
            word("sensitivity.headroom"),
            word("sensitivity.times", number=f"{room['meets']:.3g}"),
            help=word("sensitivity.headroom_help"),
            delta_color="off",
            delta_arrow="off",
            delta=None
            if room["misses"] is None
            else word("sensitivity.misses_at", number=f"{room['misses']:.3g}"),
        )
    runs = document["runs"]
    saved = 1 - runs["simulated"] / runs["brute_force"] if runs["brute_force"] else None
    three.metric(
        word("sensitivity.runs"),
        number(runs["simulated"]),
        help=word("sensitivity.runs_help"),
        delta_color="off",
        delta=word("sensitivity.saved", all=number(runs["brute_force"]), part=share(saved, 0)),
        delta_arrow="off",
    )


def pareto_frame(document: Mapping[str, Any]) -> pd.DataFrame:
    """Money and wait of the options that were run to compare, and which of them nothing beats in both."""
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
                "name": one["name"],
                "cost": cost["mean"],
                "wait": wait["mean"],
                "low": wait["low"],
                "high": wait["high"],
                "kind": word(f"sensitivity.kind_{kind}"),
            }
        )
    return pd.DataFrame(rows)


def _pareto(document: Mapping[str, Any]) -> None:
    frame = pareto_frame(document)
    if frame.empty:
        return
    st.subheader(say("sensitivity.pareto"))
    st.caption(say("sensitivity.pareto_note"))
    if document["pareto"]:
        st.markdown(say("sensitivity.front", names="; ".join(document["pareto"])))
    headings = {
        "name": word("sensitivity.option"),
        "cost": word("sensitivity.axis_cost"),
        "wait": word("sensitivity.axis_wait"),
        "low": word("steps.low"),
        "high": word("steps.high"),
        "kind": word("sensitivity.result"),
    }
    kinds = [word(f"sensitivity.kind_{kind}") for kind in ("chosen", "front", "beaten")]
    tips = [
        alt.Tooltip("name:N", title=headings["name"]),
        alt.Tooltip("cost:Q", title=headings["cost"], format=",.0f"),
        alt.Tooltip("wait:Q", title=headings["wait"], format=",.2f"),
        alt.Tooltip("kind:N", title=headings["kind"]),
    ]
    x = alt.X(
        "cost:Q",
        title=headings["cost"],
        scale=alt.Scale(zero=False),
        axis=alt.Axis(format=",.0f", labelOverlap=True),
    )
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
    chart = alt.layer(bars, points).properties(height=340)
    limit = next((one for one in document["comparison"]["target"] if one["metric"] == "wait_p95_h"), None)
    if limit is not None:
        line = pd.DataFrame(
            {"y": [limit["limit"]], "what": [word("steps.limit", hours=number(limit["limit"], 1))]}
        )
        rule = (
            alt.Chart(line)
            .mark_rule(color=PALETTE[2], strokeDash=[6, 3], strokeWidth=2)
            .encode(y=alt.Y("y:Q"), tooltip=alt.Tooltip("what:N", title=" "))
        )
        text = alt.Chart(line).mark_text(
            align="right", baseline="bottom", dy=-3, color=PALETTE[2], fontSize=12
        )
        named = text.encode(y="y:Q", x=alt.value("width"), text="what:N")
        chart = alt.layer(bars, points, rule, named).properties(height=340)
    show_chart(chart, "pareto", frame.rename(columns=headings), word("sensitivity.pareto"))


def options_frame(document: Mapping[str, Any]) -> pd.DataFrame:
    """Every option: the chosen one, then those that were run, then the others, nearest in money first."""
    cost = (
        next((one["committed_cost_cny"] for one in document["options"] if one["status"] == "chosen"), None)
        or 0.0
    )

    def rank(option: Mapping[str, Any]) -> tuple[int, float]:
        first = 0 if option["status"] == "chosen" else 1 if option["replications"] else 2
        return first, abs((option["committed_cost_cny"] or 0.0) - cost)

    return pd.DataFrame(
        [
            {
                " ": MARKS.get(option["status"], ""),
                word("sensitivity.option"): option["strategy"],
                word("sensitivity.cards_column"): option["cards"],
                word("sensitivity.committed"): money(option["committed_cost_cny"]),
                word("sensitivity.result"): word(f"sensitivity.status_{option['status'].replace(' ', '_')}"),
                word("sensitivity.why"): option["reason"],
                word("sensitivity.runs_column"): number(option["replications"])
                if option["replications"]
                else "–",
            }
            for option in sorted(document["options"], key=rank)
        ]
    )


def _options(document: Mapping[str, Any]) -> None:
    st.subheader(say("sensitivity.considered", options=number(len(document["options"]))))
    frame = options_frame(document)
    result = word("sensitivity.result")
    picked = st.multiselect(
        word("sensitivity.only"),
        list(dict.fromkeys(frame[result])),
        key="recommend_only",
        persist_state="session",
    )
    shown = frame[frame[result].isin(picked)] if picked else frame
    st.dataframe(shown, hide_index=True, width="stretch")
    st.caption(say("sensitivity.considered_note"))
