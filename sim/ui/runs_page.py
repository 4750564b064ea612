"""The page `runs`: the stored runs; open one, compare two, take one along, delete one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pandas as pd
import streamlit as st

from sim.errors import FleetsimError
from sim.experiments.run_list import COMPARISONS, Listed, runs_below
from sim.experiments.run_removal import delete, kept_runs, removable
from sim.ui.address import put
from sim.ui.jobs import OUT
from sim.ui.language import question_name, say, word
from sim.ui.opened import made, opened
from sim.ui.question_result import go_to
from sim.ui.run_downloads import downloads, files_zip
from sim.ui.run_question import question_parts
from sim.ui.runs_diff import show_diff
from sim.ui.safe import RUN_NAME, literal
from sim.ui.shown import take_over
from sim.ui.told_rules import error_told

__all__ = ["show"]

MOST_LISTED = 1000
"""Runs of the list; the newest of more."""


def show() -> None:
    """Draw the page."""
    st.title(say("runs.title"))
    if "runs-said" in st.session_state:
        st.success(literal(st.session_state.pop("runs-said")))
    take_over()  # else it would take the place of the run that is opened here
    named = str(st.query_params.get("run", ""))
    if named and not (RUN_NAME.fullmatch(named) and (OUT / named).is_dir()):
        st.warning(say("runs.gone"), icon=":material/link_off:")
    found = _listed()
    if not found:
        st.info(say("runs.nothing"))
        return
    _table(found)
    one, two = st.tabs([word("runs.one"), word("runs.two")], key="runs-tabs")
    with one:
        _one(found)
    with two:
        _two([run for run in found if run.kind in COMPARISONS and run.state == "whole"])
    _kept()


def _listed() -> list[Listed]:
    """The runs below the output folder whose names can stand in an address."""
    if not OUT.is_dir():
        return []
    return [run for run in runs_below(OUT) if RUN_NAME.fullmatch(_name(run))][:MOST_LISTED]


def _name(run: Listed) -> str:
    return f"{run.folder.parent.name}/{run.folder.name}"


def _table(found: Sequence[Listed]) -> None:
    rows = [
        {
            word("runs.scenario"): question_name(run.scenario),
            word("runs.kind"): _kind(run.kind),
            word("runs.finished"): _finished(run.finished),
            word("runs.replications"): run.replications,
            word("runs.recommended"): run.recommended or "–",
            word("runs.state"): _state(run),
            word("runs.id"): run.id,
        }
        for run in found
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")


def _one(found: Sequence[Listed]) -> None:
    run = _pick(found, word("runs.pick"), "runs-pick", str(st.query_params.get("run", "")))
    if run is None:
        return
    if run.state != "whole":
        st.warning(literal(_state(run)), icon=":material/warning:")
    openable = run.kind in COMPARISONS and run.state == "whole"
    if openable:
        if st.button(word("runs.open"), type="primary", icon=":material/folder_open:", key="runs-open"):
            go_to("compare", run=_name(run), **question_parts(_name(run)))
        downloads(run.folder, "runs")
    elif run.state != "damaged":
        st.download_button(
            word("downloads.folder"),
            made(lambda: files_zip(run.folder)),
            f"{run.id}.zip",
            "application/zip",
            key="runs-zip",
            icon=":material/download:",
            on_click="ignore",
        )
    _deletion(run)


def _deletion(run: Listed) -> None:
    with st.expander(word("runs.delete"), icon=":material/delete:"):
        try:
            held = removable(run.folder, OUT)
        except FleetsimError as error:
            st.error(literal(error_told(error)))
            return
        st.markdown(say("runs.delete_what", name=_name(run), files=f"{held.files:,}", size=_size(held.size)))
        sure = st.checkbox(word("runs.delete_sure"), key=f"runs-sure-{run.id}")
        if st.button(word("runs.delete_now"), disabled=not sure, key=f"runs-delete-{run.id}"):
            try:
                delete(held)
            except FleetsimError as error:
                st.error(literal(error_told(error)))
                return
            if st.query_params.get("run") == _name(run):
                put({"run": ""})
            st.session_state["runs-said"] = word("runs.deleted", name=_name(run))
            st.rerun()


def _two(found: Sequence[Listed]) -> None:
    if len(found) < 2:
        st.info(say("runs.one_only"))
        return
    left, right = st.columns(2)
    with left:
        first = _pick(found, word("runs.first"), "runs-first", _name(found[1]))
    with right:
        second = _pick(found, word("runs.second"), "runs-second", _name(found[0]))
    if first is None or second is None or first.folder == second.folder:
        st.info(say("runs.same_run"))
        return
    before, after = opened(first.folder), opened(second.folder)
    if before is not None and after is not None:
        show_diff(before, after)


def _kept() -> None:
    """Finished replications that are kept: they save time, and no result rests on them."""
    with st.expander(word("runs.kept")):
        try:
            held = kept_runs(OUT)
        except FleetsimError as error:
            st.error(literal(error_told(error)))
            return
        st.markdown(say("runs.kept_text", files=f"{held.files:,}", size=_size(held.size)))
        sure = st.checkbox(word("runs.kept_sure"), key="runs-kept-sure", disabled=not held.files)
        if st.button(word("runs.kept_delete"), disabled=not (sure and held.files), key="runs-kept-delete"):
            try:
                delete(held)
            except FleetsimError as error:
                st.error(literal(error_told(error)))
                return
            st.session_state["runs-said"] = word("runs.kept_deleted")
            st.rerun()


def _pick(found: Sequence[Listed], label: str, key: str, first: str) -> Listed | None:
    by_name = {_name(run): run for run in found}
    names = list(by_name)
    chosen = st.selectbox(
        label,
        names,
        names.index(first) if first in names else 0,
        format_func={name: _title(run) for name, run in by_name.items()}.__getitem__,
        key=key,
    )
    return by_name.get(chosen) if chosen is not None else None


def _title(run: Listed) -> str:
    return f"{question_name(run.scenario)} · {_kind(run.kind)} · {_finished(run.finished)} · {run.id}"


def _kind(kind: str) -> str:
    known = (*COMPARISONS, "sweep", "sensitivity")
    return word(f"runs.kind_{kind.replace('-', '_')}") if kind in known else kind


def _state(run: Listed) -> str:
    text = word(f"runs.state_{run.state.replace(' ', '_')}", version=run.version)
    return f"{text}: {run.problem}" if run.problem else text


def _finished(text: str) -> str:
    """The moment in the time of the server's machine, to the minute."""
    try:
        return f"{datetime.fromisoformat(text).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return "–"


def _size(size: int) -> str:
    for unit, least in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= least:
            return f"{size / least:,.1f} {unit}"
    return f"{size:,} B"
