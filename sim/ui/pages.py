"""The pages. The first: pick a question, run it, read the decision."""

from __future__ import annotations

import threading
from pathlib import Path

import streamlit as st

from sim.ui.choose import Choice, choose_question, show_question
from sim.ui.results import show_results, stored_document
from sim.ui.runner import RUNS_AT_ONCE, ChildRun, compare_command
from sim.ui.texts import literal

__all__ = ["main"]

SCENARIOS, OUT = Path("scenarios"), Path("outputs")
"""Where questions are looked for and results are kept, from the folder in which the page was started."""

PRICES = ("as the scenario says", "low", "mid", "high")


def main() -> None:
    """Route to the pages."""
    st.set_page_config(page_title="fleetsim", layout="wide")
    st.navigation([st.Page(compare_page, title="Compare fleets")], position="hidden").run()


def compare_page() -> None:
    """Which of these fleets should be rented?"""
    st.title("Which GPU fleet should be rented?")
    choice = choose_question(SCENARIOS)
    if choice is not None:
        show_question(choice.question)
        _form(choice)
    if "run" in st.session_state:
        _watch()
    _results(choice)


def _form(choice: Choice) -> None:
    experiment = choice.question.scenario.experiment
    running = "run" in st.session_state
    with st.form("settings"):
        left, middle, right = st.columns(3)
        replications = left.number_input(
            "Replications",
            1,
            1000,
            min(experiment.replications, 1000),
            help="Runs a strategy, each with its own luck.",
        )
        seed = middle.number_input("Seed", 0, 2**31 - 1, experiment.seed, help="Same seed, same numbers.")
        price = right.selectbox("Prices", PRICES, help="Which end of published price ranges is paid.")
        wanted = st.form_submit_button("Run", type="primary", disabled=running)
    if wanted and not running:
        level = None if price == PRICES[0] else price
        command = compare_command(choice.file, OUT, int(replications), int(seed), level)
        st.session_state.run = ChildRun(command, _gate())
        st.session_state.asked = str(choice.file)
        st.session_state.pop("failure", None)
        st.rerun()


@st.cache_resource
def _gate() -> threading.Semaphore:
    """Shared by all sessions of this server."""
    return threading.Semaphore(RUNS_AT_ONCE)


@st.fragment(run_every=0.5)
def _watch() -> None:
    """Progress of the run of this session; redraws the page when it has ended."""
    run: ChildRun | None = st.session_state.get("run")
    if run is None:
        return
    if run.ended:
        del st.session_state["run"]
        if run.document is None:
            st.session_state.failure = run.message
        else:
            st.session_state.document = run.document
            st.session_state.shown = st.session_state.asked
            st.query_params["run"] = "/".join(Path(run.document["folder"]).parts[-2:])
        st.rerun()
    text = "Waiting for other runs to end" if run.queued else f"{run.done} of {run.total or '?'} runs"
    st.progress(run.done / run.total if run.total else 0.0, text)
    if st.button("Stop"):
        run.cancel()


def _results(choice: Choice | None) -> None:
    if "failure" in st.session_state:
        st.error(literal(st.session_state.failure))
    if "document" not in st.session_state:
        stored = stored_document(OUT, str(st.query_params.get("run", "")))
        if stored is None:
            return
        st.session_state.document = stored
    st.divider()
    document = st.session_state.document
    shown = st.session_state.get("shown")
    if shown is not None and choice is not None and shown != str(choice.file):
        st.info(literal(f"The result below is of {document['scenario']}. Press Run for the question above."))
    else:
        st.caption(literal(f"Result of: {document['scenario']}"))
    show_results(document)
