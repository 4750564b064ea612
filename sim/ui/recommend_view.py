"""The cheapest fleet by `recommend`: options considered, the chosen one marked, why the others lost."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sim.load import Question
from sim.ui.amounts import hours, number, share
from sim.ui.cautions import assumed, show_cautions, show_too_short, too_short
from sim.ui.finance_plans import plan_name, sentence_gap
from sim.ui.language import question_name, say, word
from sim.ui.metric_words import figure
from sim.ui.names import burst_name, fleet_names
from sim.ui.recommend_form import ask_space
from sim.ui.recommend_pareto import show_pareto
from sim.ui.state import Draft
from sim.ui.study_form import origin, result_of, start_button
from sim.ui.told import in_words
from sim.units import HOUR

__all__ = ["options_frame", "show_recommendation"]

OPTION_WIDTH, WHY_WIDTH = 350, 400
"""Pixels: left to itself the table gives all room to the names and cuts the reasons."""

NOTICED_H = 0.05 / 60
"""Hours, three seconds: a shorter wait is written as none."""

MARKS = {"chosen": "★", "dearer": "¥", "too slow": "…", "does not fit": "×", "too small": "×", "unsure": "?"}


def show_recommendation(draft: Draft) -> None:
    """Draw the part of the page."""
    found = result_of(draft, "recommend", "recommendation")
    words = ask_space(draft, found is None)
    title = word("sensitivity.title_recommend", name=question_name(draft.question.scenario.name))
    start_button("recommend", title, words, word("sensitivity.search"), "sensitivity.no_search", found)
    if found is None:
        return
    document = found.document
    names = fleet_names(document["options"], draft.question.catalog)
    compared = document["comparison"]
    beyond = _outlasting(draft.question, document)
    _sentence(document, names, doubtful=bool(beyond) or too_short(compared))
    show_too_short(compared, names, beyond)
    show_cautions(compared, names)
    _near(document)
    short = fleet_names(document["options"], draft.question.catalog, short=True)
    show_pareto(document, short)
    _options(document, short)
    bursts = dict.fromkeys(burst_name(option, draft.question.catalog) for option in document["options"])
    if any(bursts):
        known = word("sensitivity.name_gap").join(filter(None, bursts))
        st.caption(say("sensitivity.by_the_hour", names=known))
    if "assumptions" in compared:  # the trimmed document of the worked example has none
        assumed(compared["assumptions"])
    st.caption(origin(found))


def _outlasting(question: Question, document: Mapping[str, Any]) -> str:
    """That other plans bind for longer than the time simulated: they may not even have been run."""
    from sim.experiments.outlasting import outlasting

    chosen = document["recommendation"]
    if chosen is None:
        return ""
    searched = {option["plan"] for option in document["options"]} - {chosen["plan"]}
    plans = outlasting(searched, question.scenario.horizon_us)
    if not plans:
        return ""
    return say(
        "sensitivity.plans_outlast",
        time=hours(question.scenario.horizon_us / HOUR),
        plans=word("sensitivity.comma").join(map(plan_name, plans)),
    )


def _sentence(document: Mapping[str, Any], names: Mapping[str, str], *, doubtful: bool) -> None:
    """The fleet to rent; `doubtful` where the time is too short to compare plans in."""
    chosen = document["recommendation"]
    if chosen is None:
        st.warning(say("sensitivity.none_meets"), icon=":material/report:")
        return
    metrics = document["comparison"]["strategies"][0]["metrics"]
    wait = metrics["wait_p95_h"]["mean"]
    text = say(
        "sensitivity.rent_no_wait" if _is_none(wait) else "sensitivity.rent",
        name=names[chosen["strategy"]],
        cost=figure(metrics["committed_cost_cny"]["mean"], "CNY"),
        wait=figure(wait, "h"),
    )
    sure = "sensitivity.sure" if document["sure"] else "sensitivity.in_doubt"
    text += sentence_gap() + say(sure, confidence=share(document["confidence"], 0))
    if doubtful:
        st.warning(text, icon=":material/help:")
    else:
        st.success(text, icon=":material/task_alt:")


def _is_none(wait_h: float | None) -> bool:
    """Whether a wait, or a change of it, is none that a person would notice."""
    return wait_h is None or abs(wait_h) < NOTICED_H


def _near(document: Mapping[str, Any]) -> None:
    """A card more, room for more demand, runs saved."""
    one, two, three = st.columns(3)
    more = document["marginal"]
    if more is not None:
        _marginal(one, more)
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
    saved = 1 - runs["simulated"] / runs["brute_force"] if runs["brute_force"] else 0.0
    three.metric(
        word("sensitivity.runs"),
        number(runs["simulated"]),
        help=word("sensitivity.runs_help"),
        delta_color="off",
        # Few options that are hard to tell apart take more runs than all of them alike would.
        delta=word("sensitivity.saved", all=number(runs["brute_force"]), part=share(saved, 0))
        if saved > 0
        else None,
        delta_arrow="off",
    )


def _marginal(place: DeltaGenerator, more: Mapping[str, Any]) -> None:
    """What a unit more costs, and what it does to the wait: green where it is shorter, red where longer."""
    wait = more["wait_p95_h"]["mean"]
    same = _is_none(wait)
    change = (
        word("sensitivity.wait_same")
        if same
        else word("sensitivity.wait_change", change=f"{'+' if wait > 0 else ''}{figure(wait, 'h')}")
    )
    place.metric(
        word("sensitivity.marginal"),
        figure(more["committed_cost_cny"]["mean"], "CNY"),
        help=word("sensitivity.marginal_help"),
        delta=None if wait is None else change,
        # The text begins with a word in Chinese, so the sign is told apart here.
        delta_color="off" if same else "green" if wait < 0 else "red",
        delta_arrow="off" if same else "down" if wait < 0 else "up",
    )


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
                word("sensitivity.committed"): figure(option["committed_cost_cny"], "CNY"),
                word("sensitivity.result"): word(f"sensitivity.status_{option['status'].replace(' ', '_')}"),
                word("sensitivity.why"): in_words(option["reason"], names),
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
