"""The report of an import: what was read, what became of it, what to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from sim.ui.amounts import UNKNOWN, number
from sim.ui.language import say, word
from sim.ui.safe import literal
from sim.ui.told_rules import rule_told
from sim.ui.workload_wrong import in_form

__all__ = ["show_report"]

_ROWS = 500
"""Rows of a table that are shown; the command line tells all."""


def show_report(report: Mapping[str, Any]) -> None:
    """Figures, what was set aside with line and reason, what is in it, what was assumed."""
    figures = st.columns(4)
    aside = report["set_aside_count"]
    for column, (name, value) in zip(
        figures,
        (
            ("workload.rows", number(report["rows_read"])),
            ("workload.jobs", number(report["jobs"])),
            ("workload.fit_for_replay", number(report["replayable"])),
            ("workload.aside", number(aside)),
        ),
        strict=True,
    ):
        column.metric(word(name), value)
    st.caption(say("workload.accounted", format=report["format"]))
    _accounts(report)
    if report["set_aside"]:
        with st.expander(word("workload.aside_rows", number=number(aside)), icon=":material/rule:"):
            st.dataframe(
                [
                    {
                        word("workload.line"): str(one["line"]),
                        word("workload.kind"): rule_told(one["kind"]),
                        word("workload.reason"): in_form(rule_told(one["reason"])),
                    }
                    for one in report["set_aside"][:_ROWS]
                ],
                hide_index=True,
            )
    _counts("workload.left_out", _told(report["left_out_of_replays"]), word("workload.reason"))
    with st.expander(word("workload.contents"), icon=":material/table_rows:"):
        _contents(report)
    if report["suspicious"]:
        with st.expander(word("workload.suspicious"), icon=":material/warning:"):
            st.dataframe(
                [
                    {
                        word("workload.what"): in_form(rule_told(kind)),
                        word("workload.rows"): number(one["count"]),
                        word("workload.lines"): ", ".join(map(str, one["lines"])),
                    }
                    for kind, one in report["suspicious"].items()
                ],
                hide_index=True,
            )
    for remark in report["remarks"]:
        st.markdown(f"- {literal(in_form(rule_told(remark)))}")


def _accounts(report: Mapping[str, Any]) -> None:
    """What rows became that are neither a job nor set aside."""
    rows = [
        {word("workload.what"): rule_told(kind), word("workload.rows"): f"{sign}{number(count)}"}
        for part, sign in (("merged", "-"), ("added", "+"), ("filtered", "-"))
        for kind, count in report[part].items()
    ]
    if rows:
        st.dataframe(rows, hide_index=True)


def _contents(report: Mapping[str, Any]) -> None:
    span = report["span"]
    rows = [
        ("workload.first_submit", _moment(span["first_submit"])),
        ("workload.last_submit", _moment(span["last_submit"])),
        ("workload.last_end", _moment(span["last_end"])),
        ("workload.days", UNKNOWN if span["days"] is None else number(span["days"], 1)),
        ("workload.card_hours", number(report["card_hours"], 1)),
    ]
    st.dataframe(
        [{word("workload.what"): word(name), word("workload.value"): value} for name, value in rows],
        hide_index=True,
    )
    for title, key in (
        ("workload.by_cards", "jobs_by_cards"),
        ("workload.by_card", "jobs_by_kind_of_card"),
        ("workload.by_team", "jobs_by_team"),
    ):
        _counts(title, report[key], word(title))
    for title, key in (("workload.by_state", "jobs_by_state"), ("workload.by_censored", "censored")):
        _counts(title, _told(report[key]), word(title))
    for gap in report["gaps"]:
        st.caption(say("workload.gap", since=gap["from"], until=gap["until"], hours=number(gap["hours"], 1)))


def _told(counts: Mapping[str, int]) -> dict[str, int]:
    """Counts by words of the program, which stand in the page's language; names of users stay."""
    return {rule_told(name): count for name, count in counts.items()}


def _moment(value: object) -> str:
    if value is None:
        return UNKNOWN
    return word("workload.second", number=number(value)) if isinstance(value, float) else str(value)


def _counts(title: str, counts: Mapping[str, int], heading: str) -> None:
    if not counts:
        return
    st.markdown(f"**{literal(word(title))}**")
    ordered = sorted(counts.items(), key=lambda item: -item[1])[:_ROWS]
    rows = [{heading: name or UNKNOWN, word("workload.jobs"): number(count)} for name, count in ordered]
    st.dataframe(rows, hide_index=True)
