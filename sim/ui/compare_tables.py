"""The comparison as tables: key figures, differences to any baseline, every metric in words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import streamlit as st

from sim.experiments.statistics import paired_difference
from sim.experiments.stored_folder import csv_rows
from sim.ui.compare_charts import money_metric
from sim.ui.language import say, word
from sim.ui.metric_words import difference, metric_help, metric_name, of_limits
from sim.ui.target_words import status_words

__all__ = ["all_metrics", "difference_rows", "differences", "kept_replications", "key_figures"]

Replications: TypeAlias = dict[str, dict[str, list[float | None]]]

KEY = (
    "wait_p95_h",
    "wait_mean_h",
    "on_time_share",
    "jobs_refused",
    "cost_per_job_cny",
    "cash_cny",
    "busy_share",
    "lost_gpu_h",
)
"""Metrics of the first table, after the one of money that ranks."""


def key_metrics(document: Mapping[str, Any]) -> list[str]:
    """The metrics of the first tables that the document has."""
    return [name for name in (money_metric(document), *KEY) if name in document["metrics"]]


def key_figures(document: Mapping[str, Any]) -> None:
    """A row a strategy: does it meet the target, is it on the front, the figures that decide."""
    names = key_metrics(document)
    rows = [
        {
            word("compare.strategy"): one["name"],
            word("compare.target"): status_words(one),
            word("compare.front"): word("compare.yes" if one["pareto"] else "compare.no"),
            **{metric_name(name): of_limits(one["metrics"][name]) for name in names},
        }
        for one in document["strategies"]
    ]
    columns: dict[str, Any] = {
        metric_name(name): st.column_config.TextColumn(help=metric_help(name)) for name in names
    }
    columns[word("compare.strategy")] = st.column_config.TextColumn(pinned=True)
    columns[word("compare.front")] = st.column_config.TextColumn(help=word("compare.front_help"))
    columns[word("compare.target")] = st.column_config.TextColumn(help=word("compare.target_help"))
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch", column_config=columns)


def differences(document: Mapping[str, Any], folder: Path) -> None:
    """Against a baseline that can be switched: from the replications that the run kept, nothing is run."""
    names = [one["name"] for one in document["strategies"]]
    if len(names) < 2:
        return
    st.subheader(say("compare.differences"))
    stored = _replications(folder)
    own = str(document["baseline"])
    baseline = own
    if stored is not None:
        picked = st.selectbox(
            word("compare.against"),
            names,
            names.index(own),
            key=f"compare-against-{own}-{names}",
            persist_state="session",
            help=word("compare.against_help"),
        )
        baseline = picked or own
    rows = difference_rows(document, stored, baseline)
    st.caption(
        say("compare.differences_text", baseline=baseline, level=f"{100 * document['confidence_level']:g}")
    )
    shown = key_metrics(document)
    table = [
        {
            word("compare.strategy"): strategy,
            **{metric_name(name): difference(found[name]) for name in shown if name in found},
        }
        for strategy, found in rows.items()
    ]
    columns: dict[str, Any] = {
        metric_name(name): st.column_config.TextColumn(help=metric_help(name)) for name in shown
    }
    columns[word("compare.strategy")] = st.column_config.TextColumn(pinned=True)
    st.dataframe(pd.DataFrame(table), hide_index=True, width="stretch", column_config=columns)


def difference_rows(
    document: Mapping[str, Any], replications: Replications | None, baseline: str
) -> dict[str, dict[str, dict[str, Any]]]:
    """Strategy -> metric -> mean, low, high, n and unit of its difference to the baseline.

    The document's own where it has that baseline, else worked out from the kept replications as
    `fleetsim compare --baseline` does: paired by replication.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {}
    if replications is None or baseline == document["baseline"]:
        for one in document["differences"]:
            found.setdefault(one["strategy"], {})[one["metric"]] = dict(one)
        return found
    level = float(document["confidence_level"])
    base = replications[baseline]
    for one in document["strategies"]:
        if one["name"] == baseline:
            continue
        own = replications[one["name"]]
        for metric, info in document["metrics"].items():
            pair = paired_difference(own[metric], base[metric], level)
            found.setdefault(one["name"], {})[metric] = {
                "mean": pair.mean,
                "low": pair.low,
                "high": pair.high,
                "n": pair.n,
                "unit": info["unit"],
            }
    return found


def all_metrics(document: Mapping[str, Any]) -> None:
    """Every metric of every strategy, with what it means."""
    rows = [
        {
            word("compare.metric"): metric_name(name),
            **{one["name"]: of_limits(one["metrics"][name]) for one in document["strategies"]},
            word("compare.better"): word(f"compare.better_{info.get('better') or 'none'}"),
            word("compare.meaning"): metric_help(name) or info.get("description", ""),
        }
        for name, info in document["metrics"].items()
    ]
    columns = {word("compare.metric"): st.column_config.TextColumn(pinned=True)}
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch", column_config=columns)


def _replications(folder: Path) -> Replications | None:
    file = folder / "replications.csv"
    return kept_replications(str(file), file.stat().st_mtime_ns) if file.is_file() else None


@st.cache_data(max_entries=8, show_spinner=False)
def kept_replications(file: str, stamp: int) -> Replications:  # noqa: ARG001  # part of the key
    """Strategy -> metric -> its value in every replication, from `replications.csv`."""
    found: Replications = {}
    for row in csv_rows(Path(file).read_text(encoding="utf-8")):
        values = found.setdefault(row["strategy"], {})
        for metric, cell_ in row.items():
            if metric not in ("strategy", "replication"):
                values.setdefault(metric, []).append(float(cell_) if cell_ else None)
    return found
