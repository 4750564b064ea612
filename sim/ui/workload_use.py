"""From a record to the question in hand: its jobs as a replay, or the workload learned from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import streamlit as st

from sim.errors import FleetsimError, InputError, Problem
from sim.ui.amounts import number
from sim.ui.boxes import whole_box
from sim.ui.language import say, word
from sim.ui.question_edits import Tree, yaml_text
from sim.ui.question_result import go_to
from sim.ui.question_store import keep_uploaded, named_files, start_tree
from sim.ui.safe import literal
from sim.ui.state import Hand, hand, open_question
from sim.ui.told_rules import problem_told
from sim.ui.workload_files import Stored
from sim.units import DAY, parse_duration

__all__ = ["modelled", "offer_model", "offer_replay", "replayed"]

YEAR_DAYS, MOST_DAYS = 365, 36_500
"""Days that a model is simulated for, unless said otherwise, and at most."""

LONGEST_NAME = 200
"""Signs of a name that a scenario takes."""

_FROM_THE_FIRST_DAY, _WITHOUT_DATES = " (from the first day)", " (without its dates)"
"""What is added to the name of a strategy whose leases lose the day on which they begin, or other dates."""

_FILE = "jobs.parquet"
_OWN_TIMES = ("start", "end", "started", "prices", "converts", "stopped")
"""Keys of a lease that hold dates, which mean nothing on the days of another record."""


def offer_replay(record: Stored, report: Mapping[str, Any]) -> None:
    """A button that puts the recorded jobs into the question in hand."""
    if not report["replayable"] or not record.jobs.is_file():
        return
    if st.button(word("workload.use_replay"), icon=":material/replay:", key="workload-use-replay"):
        _take(lambda tree: replayed(tree, report, record.name), lambda: {_FILE: record.jobs.read_bytes()})
    tree = hand().tree
    st.caption(say("workload.use_replay_how", question=_title(hand()), days=number(_record_days(report))))
    moved = [
        _name_of(_without_dates(one)) for one in tree.get("strategies", ()) if _without_dates(one) != one
    ]
    if moved:
        st.caption(say("workload.use_replay_moved", names=word("workload.name_gap").join(moved)))


def replayed(tree: Tree, report: Mapping[str, Any], source: str) -> Tree:
    """The question with the recorded jobs in place of its own, on the days of the record.

    Strategies keep their cards and plans; dates of leases, and failures at known times, are left out,
    for they lie on other days, and a strategy that had such dates says so in its name. The horizon is a
    day longer than the record at least.
    """
    made: Tree = {**tree, "name": f"Replay of {source}"[:LONGEST_NAME], "horizon": f"{_record_days(report)}d"}
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


def _record_days(report: Mapping[str, Any]) -> int:
    return max(1, math.ceil(float(report["span"]["days"] or 0)) + 1)


def _without_dates(strategy: Any) -> Any:
    """The strategy with leases that hold no dates, and with a name that is true of it then."""
    leases = strategy.get("leases") if isinstance(strategy, dict) else None
    if not isinstance(leases, list):
        return strategy
    kept = [{key: value for key, value in lease.items() if key not in _OWN_TIMES} for lease in leases]
    if kept == leases:
        return strategy
    later = any("start" in lease for lease in leases)
    mark = _FROM_THE_FIRST_DAY if later else _WITHOUT_DATES
    return {**strategy, "name": f"{_name_of(strategy)[: LONGEST_NAME - len(mark)]}{mark}", "leases": kept}


def _name_of(strategy: Mapping[str, Any]) -> str:
    return str(strategy.get("name", ""))


def modelled(tree: Tree, learned: Any, source: str, days: int) -> Tree:
    """The question with the learned workload in place of its own jobs, over so many days."""
    return {**tree, "name": f"Model of {source}"[:LONGEST_NAME], "horizon": f"{days}d", "workload": learned}


def offer_model(record: Stored) -> None:
    """A button that puts the learned classes into the question in hand, and the file to take along."""
    if not record.model.is_file():
        return
    days = _ask_days(hand().tree)
    with st.container(horizontal=True):
        use = st.button(
            word("workload.use_model"),
            icon=":material/input:",
            key="workload-use-model",
            disabled=days is None,
        )
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
    if days is not None:
        values = {"question": _title(hand()), "days": number(days), "source": record.name}
        st.caption(say("workload.use_model_how", **values))
    if use and days is not None:
        _take(lambda tree: modelled(tree, start_tree(record.model)["workload"], record.name, days), dict)


def _take(make: Callable[[Tree], Tree], beside: Callable[[], Mapping[str, bytes]]) -> None:
    """Keep what is made of the question in hand as one of its own, and walk to it; or say why not.

    `beside` reads the files that the new jobs need.
    """
    found = hand()
    try:
        tree = make(found.tree)
        files = {
            name: (found.file.parent / name).read_bytes()
            for name in named_files({**tree, "workload": {}}, found.file.parent)
        }
        made = {**files, **beside(), "scenario.yaml": yaml_text(tree).encode()}
        name = keep_uploaded("scenario.yaml", made)
    except (FleetsimError, OSError) as error:
        _refused(error)
        return
    open_question(name)
    go_to("question")


def _ask_days(tree: Tree) -> int | None:
    """Days to simulate with the model: those of the question where they are a year or more, else a year."""
    try:
        own = parse_duration(str(tree.get("horizon", ""))) // DAY
    except ValueError:
        own = 0
    default = max(YEAR_DAYS, own)
    return whole_box(
        word("workload.model_days"),
        1,
        MOST_DAYS,
        default,
        key=f"workload-model-days-{default}",
        about=word("workload.model_days_help"),
    )


def _title(found: Hand) -> str:
    return str(found.tree.get("name", found.name))


def _refused(error: Exception) -> None:
    problems = error.problems if isinstance(error, InputError) else (Problem(str(error)),)
    st.error(say("workload.refused"), icon=":material/error:")
    for problem in problems[:10]:
        st.markdown(f"- {literal(problem_told(problem))}")
