"""Two stored runs beside each other, as `fleetsim runs diff` finds them."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import streamlit as st

from sim.errors import FleetsimError
from sim.experiments.run_diff import MetricChange, RunDiff, diff
from sim.experiments.statistics import Interval
from sim.experiments.stored import StoredRun
from sim.ui.form_words import place, shown_value
from sim.ui.language import catalogue, language, say, word
from sim.ui.metric_words import cell, confidence, difference, metric_help, metric_name
from sim.ui.question_edits import UNSET
from sim.ui.question_result import listed
from sim.ui.safe import literal
from sim.ui.told_rules import error_told

__all__ = ["key_words", "show_diff"]

SHOWN = 8
"""Metrics a strategy that are shown before one asks for all."""

FIRST = ("committed_cost_cny", "wait_p95_h", "wait_mean_h", "on_time_share", "jobs_refused", "cash_cny")
"""Metrics that are shown first."""

_STEP = re.compile(r"(\d+) \((.*)\)", re.DOTALL)


def show_diff(first: StoredRun, second: StoredRun) -> None:
    """Inputs and results that differ, the second run against the first."""
    try:
        found = diff(first, second)
    except FleetsimError as error:
        st.error(literal(error_told(error)))
        return
    _decisions(found)
    st.subheader(say("runs.inputs", number=len(found.inputs)))
    if found.inputs:
        rows = [
            {
                word("runs.input"): key_words(one.key),
                word("runs.before"): _value(one.before, one.key),
                word("runs.after"): _value(one.after, one.key),
            }
            for one in found.inputs
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
    else:
        st.caption(say("runs.same_inputs"))
    _results(found)


def _decisions(found: RunDiff) -> None:
    left, right = st.columns(2)
    for cells, name, run in ((left, "before", found.before), (right, "after", found.after)):
        decision = run.recommendation
        with cells.container(border=True):
            st.markdown(f"**{say(f'runs.{name}')}**")
            st.markdown(literal(decision.strategy or word("runs.none_recommended")))
            if decision.confidence is not None:
                st.caption(say("runs.sure", share=confidence(decision.confidence)))
    for names, key in ((found.only_before, "only_before"), (found.only_after, "only_after")):
        if names:
            st.caption(say(f"runs.{key}", names=listed(names)))


def _results(found: RunDiff) -> None:
    if len(found.only_before) == len(found.before.strategies):
        st.subheader(say("runs.results_title"))
        st.warning(say("runs.nothing_in_common"), icon=":material/compare_arrows:")
        return
    st.subheader(say("runs.results", number=len(found.results)))
    text = "runs.results_text" if found.results else "runs.same_results"
    st.caption(say(text, same=f"{found.same_metrics:,}"))
    if not found.results:
        return
    everything = len(found.results) > SHOWN and st.toggle(word("runs.all_results"), key="runs-all-results")
    chosen = [one for one in found.results if everything or one.metric in FIRST] or list(found.results)
    rows = [_row(one) for one in chosen]
    columns: dict[str, Any] = {word("runs.apart"): st.column_config.TextColumn(help=word("runs.apart_help"))}
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch", column_config=columns)


def _row(one: MetricChange) -> dict[str, str]:
    change = difference({"mean": one.change, "low": None, "high": None, "unit": one.unit})
    apart = {True: word("runs.yes"), False: word("runs.no"), None: "–"}[one.apart]
    return {
        word("runs.strategy"): one.strategy,
        word("runs.metric"): metric_name(one.metric),
        word("runs.before"): _interval(one.before, one.unit),
        word("runs.after"): _interval(one.after, one.unit),
        word("runs.change"): change,
        word("runs.apart"): apart,
        word("runs.meaning"): metric_help(one.metric),
    }


def _interval(found: Interval, unit: str) -> str:
    return cell(found.mean, found.low, found.high, unit)


def key_words(key: str) -> str:
    """An input of `fleetsim runs diff` as words: labels for keys, names of strategies as they are."""
    texts = catalogue(language())
    own = f"runs.key_{key.removeprefix('--')}"
    if own in texts:
        return texts[own]
    if key.startswith("packages."):
        return word("runs.key_package", name=key.removeprefix("packages."))
    path, _, note = key.partition(", ")
    if note == "order":
        return word("runs.key_order", what=place(_path(path), {}))
    if note == "as run":
        return word("runs.key_as_run", what=place(("experiment", path), {}))
    if note == "what the file holds":
        return word("runs.key_file", name=path)
    return place(_path(key), {})


def _path(key: str) -> tuple[str | int, ...]:
    """The steps of a dotted path; an entry with a name goes by it."""
    steps: list[str | int] = []
    for step in _split(key):
        named = _STEP.fullmatch(step)
        steps.append(named[2] if named else int(step) if step.isdigit() else step)
    return tuple(steps)


def _split(key: str) -> list[str]:
    """At dots, but not within the brackets around a name, which may hold dots and brackets."""
    parts, depth, begin = [], 0, 0
    for position, sign in enumerate(key):
        depth += (sign == "(") - (sign == ")")
        if sign == "." and depth <= 0:
            parts.append(key[begin:position])
            begin, depth = position + 1, 0
    return [*parts, key[begin:]]


def _value(value: Any, key: str) -> str:
    if value is None:
        return shown_value(UNSET)
    last = key.rpartition(".")[2]
    return shown_value(value, last) if not key.startswith(("--", "packages", "catalogue")) else str(value)
