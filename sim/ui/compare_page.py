"""The page `compare`: run the question, then read which fleet to rent, how sure that is, and why."""

from __future__ import annotations

import streamlit as st

from sim.ui.cautions import TOO_SHORT, assumed, show_cautions, show_too_short, too_short
from sim.ui.charts import show_chart
from sim.ui.compare_charts import WAIT, money_against_wait, money_metric
from sim.ui.compare_form import KIND, settings
from sim.ui.compare_more import at_once, doubt, steady
from sim.ui.compare_tables import all_metrics, differences, key_figures
from sim.ui.language import question_name, say, word
from sim.ui.metric_words import confidence, metric_help, metric_name, of_limits
from sim.ui.opened import has_tables
from sim.ui.question_result import decision_words
from sim.ui.run_downloads import downloads
from sim.ui.run_question import answers
from sim.ui.safe import literal
from sim.ui.shown import Shown, named_run, run_of
from sim.ui.state import Draft, current_draft
from sim.ui.told import told
from sim.ui.watch import watch

__all__ = ["show", "show_comparison"]


def show() -> None:
    """Draw the page."""
    st.title(say("compare.title"))
    draft = current_draft()
    st.caption(say("compare.of", name=question_name(draft.question.scenario.name)))
    settings(draft)
    job = watch(KIND)
    shown = named_run() or run_of(draft)
    if shown is None:
        if job is None or job.run.ended:
            st.info(say("compare.not_yet"), icon=":material/hourglass_empty:")
        return
    st.divider()
    _banner(draft, shown)
    show_comparison(shown)


def show_comparison(shown: Shown) -> None:
    """Everything that a stored comparison says."""
    document = shown.document
    _decision(shown)
    steady(document)
    chart, table = money_against_wait(document)
    st.subheader(say("compare.chart"))
    level = f"{100 * document['confidence_level']:g}"
    st.caption(say("compare.chart_text", level=level))
    show_chart(chart, "money-against-wait", table, word("compare.chart_alt"))
    st.subheader(say("compare.figures"))
    st.caption(say("compare.figures_text", level=level, number=document["replications"]))
    key_figures(document)
    differences(document, shown.folder)
    at_once(document)
    with st.expander(word("compare.all_metrics", number=len(document["metrics"]))):
        all_metrics(document)
    doubt(document)
    _remarks(shown)
    st.subheader(say("downloads.title"))
    downloads(shown.folder, "compare")


def _decision(shown: Shown) -> None:
    document = shown.document
    found = document["recommendation"]
    st.subheader(say("compare.decision"))
    sentence = decision_words(document)
    if found["strategy"] is None:
        st.warning(sentence, icon=":material/report:")
    elif too_short(document):
        st.warning(sentence, icon=":material/help:")
    else:
        st.success(sentence, icon=":material/check_circle:")
    show_too_short(document)
    name = found["strategy"] or found["nearest"]
    own = next((one for one in document["strategies"] if one["name"] == name), None)
    cells = st.columns(3)
    cells[0].metric(
        word("compare.confidence"),
        confidence(found["confidence"]),
        help=literal(told(found["confidence_method"])),
    )
    if own is not None:
        for place, metric in zip(cells[1:], (money_metric(document), WAIT), strict=True):
            limits = own["metrics"][metric]
            mean, gap, ends = of_limits(limits).partition(" [")
            place.metric(
                metric_name(metric),
                mean,
                delta=f"[{ends}" if gap else None,  # beside the mean it would be cut
                delta_color="off",
                delta_arrow="off",
                help=literal(metric_help(metric)),
            )
    st.caption(
        say(
            "compare.made",
            number=f"{document['replications']:,}",
            seed=document["seed"],
            version=document["version"],
            run=shown.folder.name if has_tables(shown.folder) else shown.name.rpartition("/")[2],
        )
    )
    with st.expander(word("compare.reason")):
        st.markdown(literal(told(str(found["reason"]))))


def _remarks(shown: Shown) -> None:
    document = shown.document
    if any(one["kind"] != TOO_SHORT for one in document["warnings"]):
        st.subheader(say("compare.warnings"))
        show_cautions(document)
    assumed(document["assumptions"])
    with st.expander(word("compare.notes", number=len(document["notes"]))):
        st.markdown("\n".join(f"- {literal(told(text))}" for text in document["notes"]))


# -- The question in hand against the one that was run ---------------------------------------------


def _banner(draft: Draft, shown: Shown) -> None:
    """Say so where the result shown is not that of the question in hand."""
    scenario = str(shown.document["scenario"])
    if not answers(draft.question, shown):
        st.warning(say("compare.changed", shown=question_name(scenario)), icon=":material/sync_problem:")
