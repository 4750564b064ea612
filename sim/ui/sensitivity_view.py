"""What the decision hangs on, by `sensitivity`: one input at a time, flips of the decision, doubt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from sim.ui.amounts import number
from sim.ui.charts import show_chart
from sim.ui.finance_plans import sentence_gap
from sim.ui.language import question_name, say, word
from sim.ui.metric_words import cell, figure, metric_name
from sim.ui.safe import literal
from sim.ui.sensitivity_charts import sobol_chart, sobol_frame, tornado_chart, tornado_frame
from sim.ui.sensitivity_form import ask_study, input_name, unit_name
from sim.ui.state import Draft
from sim.ui.study_form import origin, result_of, start_button
from sim.ui.told import told

__all__ = ["diamonds_note", "flips_frame", "show_sensitivity"]

MONEY = ("committed_cost_cny", "cost_with_penalties_cny")
"""Figures by which strategies are ranked among those that meet the target."""


def show_sensitivity(draft: Draft) -> None:
    """Draw the part of the page."""
    found = result_of(draft, "sensitivity", "sensitivity")
    words = ask_study(draft)
    title = word("sensitivity.title_sensitivity", name=question_name(draft.question.scenario.name))
    start_button("sensitivity", title, words, word("sensitivity.turn"), "sensitivity.no_study", found)
    if found is None:
        return
    document = found.document
    _decision(document)
    _tornado(document)
    _flips(document)
    _sobol(document)
    _doubt(document)
    _ranges(document)
    st.caption(origin(found))


def _decision(document: Mapping[str, Any]) -> None:
    names = {"name": document["strategy"], "value": figure(document["base"]["mean"], document["unit"])}
    if document["recommendation"] is None:
        text = say("sensitivity.nearest", **names)
    else:
        text = say("sensitivity.decision", **names)
    if document["rival"] is not None:
        text += sentence_gap() + say("sensitivity.rival", name=document["rival"])
    flipping = list(dict.fromkeys(input_name(flip["input"]) for flip in document["flips"]))
    separator = word("sensitivity.comma")
    text += sentence_gap() + (
        say("sensitivity.hangs_on", inputs=separator.join(flipping))
        if flipping
        else say("sensitivity.hangs_on_nothing")
    )
    st.success(text, icon=":material/tune:")


def _tornado(document: Mapping[str, Any]) -> None:
    st.subheader(say("sensitivity.tornado"))
    views = ("difference", "metric") if document["base_difference"] is not None else ("metric",)
    view = (
        st.segmented_control(
            word("sensitivity.look_at"),
            views,
            default=views[0],
            required=True,
            key="sensitivity_view",
            format_func=lambda one: word(f"sensitivity.view_{one}"),
            persist_state="session",
        )
        or views[0]
    )
    st.caption(
        say(
            f"sensitivity.view_{view}_note",
            name=document["strategy"],
            rival=document["rival"] or "–",
            metric=metric_name(document["metric"]),
        )
    )
    frame = tornado_frame(
        document, view, {one["input"]: input_name(one["input"], one["title"]) for one in document["inputs"]}
    )
    if frame.empty:
        st.info(say("sensitivity.nothing_moves"))
        return
    note = diamonds_note(document, frame, view)
    if note:
        st.caption(note)
    base = document["base_difference" if view == "difference" else "base"]["mean"]
    chart, headings = tornado_chart(frame, base, document["metric"], view)
    show_chart(
        chart, f"tornado-{view}", frame[list(headings)].rename(columns=headings), word("sensitivity.tornado")
    )


def diamonds_note(document: Mapping[str, Any], frame: pd.DataFrame, view: str) -> str:
    """Why another strategy is rented at the ends with a mark, where the figure drawn does not show it.

    `frame` is that of `tornado_frame`. In the difference of costs an end below 0 has the strategy of today
    still cheaper than its rival: where the rival is rented there all the same, or none, it misses the target.
    """
    turned = frame[frame["changes"]]
    names = {"name": document["strategy"], "rival": document["rival"] or "–"}
    if turned.empty:
        return ""
    if view != "difference" or document["metric"] not in MONEY:
        return say("sensitivity.diamonds", **names)
    left = turned[turned["value"] < 0]
    if left.empty:
        return ""
    sure = set(left["decision"]) <= {document["rival"], word("sensitivity.none_then")}
    return say("sensitivity.diamonds_left" if sure else "sensitivity.diamonds_left_third", **names)


def flips_frame(document: Mapping[str, Any]) -> pd.DataFrame:
    """Where the decision changes."""
    return pd.DataFrame(
        [
            {
                word("sensitivity.input"): input_name(flip["input"]),
                word("sensitivity.unit"): unit_name(flip["unit"]),
                word("sensitivity.today"): f"{flip['base']:.4g}",
                word("sensitivity.flips_at"): f"{flip['value']:.4g}",
                word("sensitivity.between"): word(
                    "sensitivity.span",
                    low=f"{min(flip['before'], flip['after']):.4g}",
                    high=f"{max(flip['before'], flip['after']):.4g}",
                ),
                word("sensitivity.then"): flip["recommendation"] or word("sensitivity.none_then"),
            }
            for flip in document["flips"]
        ]
    )


def _flips(document: Mapping[str, Any]) -> None:
    st.subheader(say("sensitivity.flips"))
    if document["flips"]:
        st.caption(say("sensitivity.flips_note"))
        st.dataframe(flips_frame(document), hide_index=True, width="stretch")
    if document["never_flips"]:
        spans = {one["input"]: one for one in document["inputs"]}
        for name in document["never_flips"]:
            one = spans[name]
            st.markdown(
                "- "
                + say(
                    "sensitivity.steady",
                    input=input_name(name, one["title"]),
                    low=f"{one['low']:.4g}",
                    high=f"{one['high']:.4g}",
                    unit=unit_name(one["unit"]),
                )
            )


def _sobol(document: Mapping[str, Any]) -> None:
    found = document["sobol"]
    if found is None:
        return
    st.subheader(say("sensitivity.sobol_title"))
    st.caption(
        say("sensitivity.sobol_note", points=number(found["points"]), samples=number(found["samples"]))
    )
    for place, one in enumerate(found["results"]):
        st.markdown(
            say(
                "sensitivity.sobol_of",
                what=one["of"],
                mean=figure(one["mean"], document["unit"]),
                deviation=figure(one["standard_deviation"], document["unit"]),
            )
        )
        if not one["inputs"]:
            st.info(say("sensitivity.nothing_moves"))
            continue
        frame = sobol_frame(one, {row["input"]: input_name(row["input"]) for row in one["inputs"]})
        chart, headings = sobol_chart(frame)
        show_chart(chart, f"sobol-{place}", frame.rename(columns=headings), word("sensitivity.sobol_title"))


def _doubt(document: Mapping[str, Any]) -> None:
    found = document["drawn_inputs"]
    if found is None:
        return
    unit = document["unit"]
    st.subheader(say("sensitivity.doubt"))
    st.caption(say("sensitivity.doubt_note", draws=number(found["draws"])))
    rows = [
        {
            word("finance.strategy"): one["strategy"],
            word("sensitivity.at_base"): cell(*_limits(one["at_base"]), unit),
            word("sensitivity.drawn"): figure(one["mean"], unit),
            word("sensitivity.nine_of_ten"): word(
                "sensitivity.span", low=figure(one["p5"], unit), high=figure(one["p95"], unit)
            ),
            word("sensitivity.by_luck"): figure(one["luck_standard_deviation"], unit),
            word("sensitivity.by_inputs"): figure(one["input_standard_deviation"], unit),
            word("sensitivity.cheapest_in"): figure(one["cheapest_share"], "share"),
        }
        for one in found["strategies"]
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")


def _limits(found: Mapping[str, Any]) -> tuple[float | None, float | None, float | None]:
    return found["mean"], found["low"], found["high"]


def _ranges(document: Mapping[str, Any]) -> None:
    with st.expander(word("sensitivity.ranges")):
        rows = [
            {
                word("sensitivity.input"): input_name(one["input"], one["title"]),
                word("sensitivity.unit"): unit_name(one["unit"]),
                word("sensitivity.low"): f"{one['low']:.4g}",
                word("sensitivity.today"): f"{one['base']:.4g}",
                word("sensitivity.high"): f"{one['high']:.4g}",
                word("sensitivity.assumed"): word(
                    "sensitivity.yes" if one["assumed"] else "sensitivity.sourced"
                ),
                word("sensitivity.why_range"): told(one["why"]),
            }
            for one in document["inputs"]
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
        _lines(document["notes"])


def _lines(lines: Sequence[str]) -> None:
    for line in lines:
        st.markdown(f"- {literal(line)}")
