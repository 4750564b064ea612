"""The workload learned from a record, how well it repeats the record, and its way into the question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from sim.ui.amounts import number
from sim.ui.language import say, word
from sim.ui.safe import literal
from sim.ui.workload_charts import draw, goodness_chart
from sim.ui.workload_files import Stored, step
from sim.ui.workload_use import offer_model

__all__ = ["show_model"]

_TOPICS = ("jobs", "run time", "cards", "dispersion", "load")
_SHOWN = 200


def show_model(record: Stored) -> None:
    """Classes of the learned workload, remarks, goodness, and what can be done with it."""
    st.subheader(say("workload.model_title"))
    st.caption(say("workload.model_how"))
    found = step(
        record,
        "fit",
        word("workload.learn"),
        "workload", "fit", record.jobs, "-o", record.model, "--format", "json",
        at_once=False,
    )  # fmt: skip
    if found is None:
        return
    _classes(found)
    offer_model(record)
    st.markdown(f"**{say('workload.goodness')}**")
    figures = step(
        record,
        "check",
        word("workload.hold_against"),
        "workload", "check", record.jobs, "--model", record.model, "--draws", "0", "--format", "json",
        at_once=True,
    )  # fmt: skip
    if figures is not None:
        _goodness(figures)


def _classes(found: Mapping[str, Any]) -> None:
    rows = [
        {
            word("workload.class"): one["name"],
            word("workload.jobs"): number(one["jobs"]),
            word("workload.a_day"): f"{one['jobs_per_day']:,.4g}",
            word("workload.batches_of"): f"{one['jobs'] / max(1, one['batches']):,.1f}",
            word("workload.widths_of"): ", ".join(
                dict.fromkeys(str(kind["gpus"]) for kind in one["kinds"][:8])
            ),
            word("workload.forms"): "; ".join(dict.fromkeys(kind["run_times"] for kind in one["kinds"][:4])),
        }
        for one in found["classes"][:_SHOWN]
    ]
    st.dataframe(rows, hide_index=True)
    st.caption(say("workload.busy_on_average", cards=number(found["cards_busy"], 1)))
    for remark in found["remarks"]:
        st.markdown(f"- {literal(remark)}")


def _goodness(figures: Mapping[str, Any]) -> None:
    """One chart a topic: record, model, and the range of nine in ten draws."""
    known = [topic for topic in _TOPICS if any(line["topic"] == topic for line in figures["figures"])]
    topic = st.segmented_control(
        word("workload.topic"),
        known,
        default=known[0],
        required=True,
        format_func=lambda one: word(f"workload.topic_{_key(one)}"),
        key="workload-topic",
    )
    lines = [line for line in figures["figures"] if line["topic"] == topic and line["record"] is not None]
    for line in lines:
        if line["at"] in _WHOLE:
            figures_of = {name: _short(line[name]) for name in ("record", "model")}
            st.caption(say(f"workload.{_WHOLE[line['at']]}", **figures_of))
    parts = [_as_shown(line) for line in lines if line["at"] not in _WHOLE]
    if parts:
        chart = goodness_chart(parts, word(f"workload.axis_{_key(topic)}"), log=topic == "run time")
        draw(f"workload-goodness-{_key(topic).replace('_', '-')}", chart)


_WHOLE = {"in all": "in_all", "on average": "on_average"}
"""Figures of the whole record, which stand above the chart."""


def _short(value: float) -> str:
    return number(value) if abs(value) >= 100 else f"{value:.3g}"


def _key(topic: str | None) -> str:
    return str(topic).replace(" ", "_")


def _as_shown(line: Mapping[str, Any]) -> dict[str, Any]:
    """A figure at its place in the page's language; run times in hours."""
    at = str(line["at"])
    if at.startswith("hour "):
        at = word("workload.at_hour", number=at.removeprefix("hour "))
    elif at.endswith(" cards"):
        at = (
            word("workload.one_card")
            if at == "1 cards"
            else word("workload.cards", number=at.partition(" ")[0])
        )
    scale = 3600 if line["unit"] == "s" else 1
    figures = {
        name: line[name] / scale for name in ("record", "model", "low", "high") if line[name] is not None
    }
    return {"at": at, **figures}
