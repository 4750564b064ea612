"""The page `workload`: upload recorded jobs, see what is in them, learn a model, use either."""

from __future__ import annotations

import streamlit as st

from sim.ui.language import say, word
from sim.ui.safe import literal
from sim.ui.workload_charts import arrivals_chart, draw, load_chart, run_times_chart, widths_chart
from sim.ui.workload_files import ADDRESS, Stored, step, stored
from sim.ui.workload_form import show_form
from sim.ui.workload_model import show_model
from sim.ui.workload_report import show_report
from sim.ui.workload_use import offer_replay
from sim.ui.workload_wrong import show_refused

__all__ = ["show"]


def show() -> None:
    """Draw the page."""
    st.title(say("workload.title"))
    asked = str(st.query_params.get(ADDRESS, ""))
    record = stored(asked) if asked else None
    if asked and record is None:
        st.warning(say("workload.gone"), icon=":material/link_off:")
    show_form(record)
    if record is None:
        st.caption(say("workload.first"))
        return
    st.subheader(literal(record.name))
    report = step(
        record,
        "import",
        word("workload.importing"),
        "workload", "import", record.file, "-o", record.jobs, "--format", "json", *record.options,
        at_once=True,
        refused=show_refused,
    )  # fmt: skip
    if report is None:
        return
    show_report(report)
    if not report["jobs"]:
        st.warning(say("workload.no_jobs"), icon=":material/report:")
        return
    offer_replay(record, report)
    _charts(record)
    show_model(record)


def _charts(record: Stored) -> None:
    """What the recorded jobs look like."""
    st.subheader(say("workload.looks"))
    found = step(
        record,
        "show",
        word("workload.describing"),
        "workload", "show", record.jobs, "--format", "json",
        at_once=True,
    )  # fmt: skip
    if found is None:
        return
    if found["submissions_by_hour"]:
        draw("workload-arrivals", arrivals_chart(found))
    else:
        st.info(say("workload.no_dates"), icon=":material/calendar_month:")
    draw("workload-run-times", run_times_chart(found))
    draw("workload-widths", widths_chart(found))
    if found["load"]["day"]:
        draw("workload-load", load_chart(found))
