"""The stored answer to the question in hand: one sentence, how sure it is, money against wait."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import streamlit as st

from sim.ui.address import walking
from sim.ui.amounts import money
from sim.ui.cautions import show_too_short, too_short
from sim.ui.charts import show_chart
from sim.ui.compare_charts import money_against_wait, money_metric
from sim.ui.compare_form import KIND, MOST_REPLICATIONS, compare_words
from sim.ui.finance_plans import sentence_gap
from sim.ui.jobs import OUT
from sim.ui.language import question_name, say, word
from sim.ui.metric_words import confidence, figure
from sim.ui.routes import PAGES, script
from sim.ui.safe import literal
from sim.ui.shown import Shown, run_of
from sim.ui.state import Draft
from sim.ui.target_words import why_not
from sim.ui.told import told
from sim.ui.watch import ask

__all__ = ["decision_words", "go_to", "listed", "show_result"]


def show_result(draft: Draft) -> None:
    """The stored answer to exactly this question, or what to press to have one."""
    found = run_of(draft)
    if found is None:
        st.info(say("question.not_yet"), icon=":material/hourglass_empty:")
        if st.button(word("question.compute"), type="primary", key="question-compute"):
            _compute(draft)
            go_to("compare")
        return
    _answer(found)
    if st.button(
        word("question.see_all"), type="primary", icon=":material/arrow_forward:", key="question-see-all"
    ):
        stored = found.folder.is_relative_to(OUT)  # the worked example's tables are not
        go_to("compare", **({"run": found.name} if stored else {}))


def _compute(draft: Draft) -> None:
    """Ask for the comparison as the question says; more runs than the page makes are left to its form."""
    scenario = draft.question.scenario
    experiment = scenario.experiment
    if experiment.replications <= MOST_REPLICATIONS:
        words = compare_words(
            draft.file,
            replications=experiment.replications,
            seed=experiment.seed,
            price=None,
            baseline=scenario.strategies[0].name,
        )
        ask(KIND, question_name(scenario.name), *words)


def go_to(page: str, **parts: str) -> None:
    """Walk to another page of the menu; the address goes along, with these parts put into it.

    An empty part is taken out of it.
    """
    first = page == PAGES[0].key
    target = st.Page(script(page), url_path="home" if first else page, default=first)
    st.switch_page(target, query_params={name: text for name, text in {**walking(), **parts}.items() if text})


def _answer(found: Shown) -> None:
    document = found.document
    sentence, sure = decision_words(document), document["recommendation"]["confidence"]
    left, right = st.columns((4, 1), vertical_alignment="center")
    with left:
        if document["recommendation"]["strategy"] is None:
            st.warning(sentence, icon=":material/report:")
            st.markdown(literal(told(document["recommendation"]["reason"])))
        elif too_short(document):
            st.warning(sentence, icon=":material/help:")
        else:
            st.success(sentence, icon=":material/check_circle:")
    with right:
        st.metric(word("question.confidence"), confidence(sure), help=say("question.confidence_means"))
    show_too_short(document)
    st.caption(
        say(
            "question.stored",
            number=document["replications"],
            seed=document["seed"],
            version=document["version"],
        )
    )
    chart, frame = money_against_wait(document)
    show_chart(chart, "money-and-wait", frame, word("question.chart_alt"))


def decision_words(document: Mapping[str, Any]) -> str:
    """The decision as a sentence of the page's language, safe as Markdown."""
    chosen = document["recommendation"]["strategy"]
    lines = {strategy["name"]: strategy["metrics"] for strategy in document["strategies"]}
    reasons = {strategy["name"]: why_not(strategy) for strategy in document["strategies"]}
    if chosen is None:
        return say("question.decision_none")
    # A question without a target still asks that no job is refused and that the queue is stable.
    asked = any(line["metric"] not in ("jobs_refused", "overloaded") for line in document["target"])
    own = lines[chosen]
    told = {
        "strategy": chosen,
        "cost": money(own["committed_cost_cny"]["mean"]),
        "wait": figure(own["wait_p95_h"]["mean"], "h"),
    }
    ranked = money_metric(document)
    cheaper = [name for name, metrics in lines.items() if metrics[ranked]["mean"] < own[ranked]["mean"]]
    text = say("question.decision" if asked else "question.decision_cheapest", **told)
    if cheaper:
        text += sentence_gap() + say("question.decision_cheaper", strategies=listed(cheaper, reasons))
    return text


def listed(names: Sequence[str], reasons: Mapping[str, str] = MappingProxyType({})) -> str:
    """Names in quotes, for they may hold commas themselves; each with its reason where there is one."""
    found = [
        word("question.quoted_why", name=name, why=why)
        if (why := reasons.get(name, ""))
        else word("question.quoted", name=name)
        for name in names
    ]
    return functools.reduce(lambda first, next_: word("question.and", first=first, next=next_), found)
