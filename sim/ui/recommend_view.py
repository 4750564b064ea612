"""The cheapest fleet by `recommend`: options considered, the chosen one marked, why the others lost."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from sim.ui.amounts import hours, money, number, share
from sim.ui.charts import PALETTE, show_chart
from sim.ui.finance_plans import sentence_gap
from sim.ui.language import say, word
from sim.ui.names import fleet_name
from sim.ui.recommend_form import ask_space
from sim.ui.state import Draft
from sim.ui.study_form import origin, result_of, start_button
from sim.ui.told import told

__all__ = ["options_frame", "pareto_frame", "show_recommendation"]

OPTION_WIDTH, WHY_WIDTH = 280, 400
"""Pixels: left to itself the table gives all room to the names and cuts the reasons."""

MARKS = {"chosen": "★", "dearer": "¥", "too slow": "…", "does not fit": "×", "too small": "×", "unsure": "?"}


def show_recommendation(draft: Draft) -> None:
    """Draw the part of the page."""
    found = result_of(draft, "recommend", "recommendation")
    words = ask_space(draft, found is None)
    title = word("sensitivity.title_recommend", name=draft.question.scenario.name)
    start_button("recommend", title, words, word("sensitivity.search"), "sensitivity.no_search", found)
    if found is None:
        return
    document = found.document
    names = {option["strategy"]: fleet_name(option, draft.question.catalog) for option in document["options"]}
    _sentence(document, names)
    _near(document)
    _pareto(document, names)
    _options(document, names)
    st.caption(origin(found))


def _sentence(document: Mapping[str, Any], names: Mapping[str, str]) -> None:
    chosen = document["recommendation"]
    if chosen is None:
        st.warning(say("sensitivity.none_meets"), icon=":material/report:")
        return
    metrics = document["comparison"]["strategies"][0]["metrics"]
    wait = metrics["wait_p95_h"]["mean"]
    text = say(
        "sensitivity.rent",
        name=names[chosen["strategy"]],
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
            # The text begins with a word in Chinese, so the sign is told apart here.
            delta_color="green" if wait is not None and wait < 0 else "red",
            delta_arrow="down" if wait is not None and wait < 0 else "up",
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


def _pareto(document: Mapping[str, Any], names: Mapping[str, str]) -> None:
    frame = pareto_frame(document, names)
    if frame.empty:
        return
    st.subheader(say("sensitivity.pareto"))
    st.caption(say("sensitivity.pareto_note"))
    if document["pareto"]:
        st.markdown(
            say(
                "sensitivity.front",
                names=word("sensitivity.name_gap").join(names[one] for one in document["pareto"]),
            )
        )
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


def options_frame(
    document: Mapping[str, Any], names: Mapping[str, str] = MappingProxyType({})
) -> pd.DataFrame:
    """Every option: the chosen one, then those that were run, then the others, nearest in money first.

    `names` says what an option is called on the page.
    """
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
                word("sensitivity.option"): names.get(option["strategy"], option["strategy"]),
                word("sensitivity.cards_column"): option["cards"],
                word("sensitivity.committed"): money(option["committed_cost_cny"]),
                word("sensitivity.result"): word(f"sensitivity.status_{option['status'].replace(' ', '_')}"),
                word("sensitivity.why"): told(option["reason"], names),
                word("sensitivity.runs_column"): number(option["replications"])
                if option["replications"]
                else "–",
            }
            for option in sorted(document["options"], key=rank)
        ]
    )


def _options(document: Mapping[str, Any], names: Mapping[str, str]) -> None:
    st.subheader(say("sensitivity.considered", options=number(len(document["options"]))))
    frame = options_frame(document, names)
    result = word("sensitivity.result")
    picked = st.multiselect(
        word("sensitivity.only"),
        list(dict.fromkeys(frame[result])),
        key="recommend_only",
        placeholder=word("form.choose"),
        persist_state="session",
    )
    shown = frame[frame[result].isin(picked)] if picked else frame
    st.dataframe(
        shown,
        hide_index=True,
        width="stretch",
        column_config={
            word("sensitivity.option"): st.column_config.Column(width=OPTION_WIDTH),
            word("sensitivity.why"): st.column_config.Column(width=WHY_WIDTH),
        },
    )
    st.caption(say("sensitivity.considered_note"))
