"""From a record to the question in hand: its jobs as a replay, or the workload learned from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import streamlit as st

from sim.errors import FleetsimError, InputError
from sim.ui.language import say, word
from sim.ui.question_edits import Tree, yaml_text
from sim.ui.question_result import go_to
from sim.ui.question_store import keep_uploaded, named_files, start_tree
from sim.ui.safe import literal
from sim.ui.state import Hand, hand, open_question, put_tree
from sim.ui.workload_files import Stored

__all__ = ["offer_model", "offer_replay", "replayed"]

_FILE = "jobs.parquet"
_OWN_TIMES = ("start", "end", "started", "prices", "converts", "stopped")
"""Keys of a lease that hold dates, which mean nothing on the days of another record."""


def offer_replay(record: Stored, report: Mapping[str, Any]) -> None:
    """A button that puts the recorded jobs into the question in hand."""
    if not report["replayable"] or not record.jobs.is_file():
        return
    if st.button(word("workload.use_replay"), icon=":material/replay:", key="workload-use-replay"):
        found = hand()
        try:
            files = {
                name: (found.file.parent / name).read_bytes()
                for name in named_files({**found.tree, "workload": {}}, found.file.parent)
            }
            tree = replayed(found.tree, report, record.name)
            name = keep_uploaded(
                "scenario.yaml",
                {**files, _FILE: record.jobs.read_bytes(), "scenario.yaml": yaml_text(tree).encode()},
            )
        except (FleetsimError, OSError) as error:
            _refused(error)
            return
        open_question(name)
        go_to("question")
    st.caption(say("workload.use_replay_how", question=_title(hand())))


def replayed(tree: Tree, report: Mapping[str, Any], source: str) -> Tree:
    """The question with the recorded jobs in place of its own, on the days of the record.

    Strategies keep their cards and plans; dates of leases, and failures at known times, are left out,
    for they lie on other days. The horizon is a day longer than the record at least.
    """
    days = max(1, math.ceil(float(report["span"]["days"] or 0)) + 1)
    made: Tree = {**tree, "name": f"Replay of {source}"[:200], "horizon": f"{days}d"}
    if report.get("origin"):
        made["start"] = datetime.fromisoformat(str(report["origin"])).replace(tzinfo=None).isoformat()
    made["workload"] = {"trace": {"file": _FILE}}
    made["strategies"] = [_without_dates(strategy) for strategy in tree.get("strategies", ())]
    experiment = {key: value for key, value in (tree.get("experiment") or {}).items() if key != "warm_up"}
    if experiment:
        made["experiment"] = experiment
    reliability = {key: value for key, value in (tree.get("reliability") or {}).items() if key != "events"}
    if reliability:
        made["reliability"] = reliability
    return made


def _without_dates(strategy: Any) -> Any:
    leases = strategy.get("leases") if isinstance(strategy, dict) else None
    if not isinstance(leases, list):
        return strategy
    kept = [{key: value for key, value in lease.items() if key not in _OWN_TIMES} for lease in leases]
    return {**strategy, "leases": kept}


def offer_model(record: Stored) -> None:
    """A button that puts the learned classes into the question in hand, and the file to take along."""
    if not record.model.is_file():
        return
    with st.container(horizontal=True):
        use = st.button(word("workload.use_model"), icon=":material/input:", key="workload-use-model")
        st.download_button(
            word("workload.download_model"),
            record.model.read_bytes(),
            "workload.yaml",
            "application/yaml",
            icon=":material/download:",
            key="workload-download-model",
            on_click="ignore",
        )
        st.download_button(
            word("workload.download_jobs"),
            record.jobs.read_bytes(),
            _FILE,
            icon=":material/download:",
            key="workload-download-jobs",
            on_click="ignore",
        )
    st.caption(say("workload.use_model_how", question=_title(hand())))
    if use:
        try:
            learned = start_tree(record.model)["workload"]
        except InputError as error:
            _refused(error)
            return
        put_tree({**hand().tree, "workload": learned})
        go_to("question")


def _title(found: Hand) -> str:
    return str(found.tree.get("name", found.name))


def _refused(error: Exception) -> None:
    problems = error.problems if isinstance(error, InputError) else (error,)
    st.error(say("workload.refused"), icon=":material/error:")
    for problem in problems[:10]:
        st.markdown(f"- {literal(problem)}")
