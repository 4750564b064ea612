"""Showing what a comparison found, from its document and its folder."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from sim.experiments.wording import sureness, value
from sim.ui.texts import literal

__all__ = ["show_results", "stored_document"]

COLUMNS: Mapping[str, str] = {
    "committed_cost_cny": "Committed cost",
    "cost_per_job_cny": "Cost a job",
    "wait_p95_h": "Wait, 95th percentile",
    "wait_mean_h": "Wait, mean",
    "on_time_share": "On time",
    "jobs_refused": "Refused",
    "busy_share": "Cards busy",
    "lost_gpu_h": "Lost card-hours",
}
"""Metrics of the table, with their headings."""

RUN_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
"""A folder of results inside the output folder: scenario and run id."""

LARGEST_DOWNLOAD = 50 * 1024 * 1024


def stored_document(out: Path, name: str) -> dict[str, Any] | None:
    """The document of a stored run by its name below the output folder; None where there is none."""
    file = out / name / "comparison.json"
    if RUN_NAME.fullmatch(name) is None or not file.is_file():
        return None
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return {**document, "folder": str(file.parent)} if isinstance(document, dict) else None


def show_results(document: Mapping[str, Any]) -> None:
    """Decision, comparison, charts, warnings, assumptions and downloads."""
    _decision(document["recommendation"])
    st.caption(
        literal(f"{document['replications']} replications a strategy, seed {document['seed']}. ")
        + "Every strategy meets the same jobs and the same failures."
    )
    st.subheader("Comparison")
    level = f"{100 * document['confidence_level']:g} %"
    st.caption(f"Mean over the replications, with its {level} interval.")
    st.dataframe([_row(strategy) for strategy in document["strategies"]], hide_index=True)
    if document["differences"]:
        st.subheader("Against " + literal(document["baseline"]))
        st.dataframe(_difference_rows(document), hide_index=True)
    for warning in document["warnings"]:
        about = f"{warning['strategy']}: " if warning["strategy"] else ""
        st.warning(literal(about + warning["text"]))
    folder = Path(document["folder"])
    _charts(folder)
    with st.expander("Assumptions and notes"):
        for text in (*document["assumptions"], *document["notes"]):
            st.markdown(f"- {literal(text)}")
    _downloads(folder)


def _decision(recommendation: Mapping[str, Any]) -> None:
    st.subheader("Decision")
    reason = str(recommendation["reason"])
    sentence = literal(f"{reason[0].upper()}{reason[1:]}")
    if recommendation["strategy"] is None:
        st.warning(sentence)
    else:
        st.success(sentence)
    confidence = recommendation["confidence"]
    shown = "not known" if confidence is None else sureness(confidence)
    st.metric("Confidence in this decision", shown, help=literal(recommendation["confidence_method"]))


def _row(strategy: Mapping[str, Any]) -> dict[str, str]:
    metrics = strategy["metrics"]
    cells = {title: _cell(metrics[name]) for name, title in COLUMNS.items() if name in metrics}
    status = {"Target": strategy["target"]["status"], "Pareto": "yes" if strategy["pareto"] else "no"}
    return {"Strategy": strategy["name"], **status, **cells}


def _difference_rows(document: Mapping[str, Any]) -> list[dict[str, str]]:
    rows: dict[str, dict[str, str]] = {}
    for difference in document["differences"]:
        title = COLUMNS.get(difference["metric"])
        if title is not None:
            row = rows.setdefault(difference["strategy"], {"Strategy": difference["strategy"]})
            row[title] = _cell(difference)
    return list(rows.values())


def _cell(limits: Mapping[str, Any]) -> str:
    mean, low, high = (limits[key] for key in ("mean", "low", "high"))
    unit = "" if limits["unit"] == "GPU-h" else str(limits["unit"]).partition("/")[0]  # the heading says it
    text = value(mean, unit)
    return (
        text
        if low is None or high is None or low == high
        else f"{text} [{value(low, unit)}, {value(high, unit)}]"
    )


def _charts(folder: Path) -> None:
    charts = sorted(folder.rglob("*.png"))
    if charts:
        st.subheader("Charts")
    for chart in charts:
        st.image(chart.read_bytes(), caption=literal(chart.stem.replace("_", " ").replace("-", " ")))


def _downloads(folder: Path) -> None:
    st.subheader("Files")
    st.caption(literal(f"All of them lie in {folder}."))
    for file in sorted([*folder.glob("comparison.json"), *folder.glob("*.csv")]):
        if file.stat().st_size <= LARGEST_DOWNLOAD:
            st.download_button(file.name, file.read_bytes(), file_name=file.name, on_click="ignore")
