"""What a comparison has beside its figures: several strategies at once, uncertain inputs, a steady state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from sim.ui.amounts import UNKNOWN, hours, number, share
from sim.ui.language import say, word
from sim.ui.metric_words import difference, figure, metric_name
from sim.ui.runs_diff import key_words
from sim.ui.safe import literal
from sim.ui.told import told

__all__ = ["at_once", "doubt", "steady"]

NAMED = frozenset({"price_range", "price", "discount", "demand", "growth", "run_time", "failures"})
"""Uncertain inputs with a name of their own; the others are keys of the question."""


def at_once(document: Mapping[str, Any]) -> None:
    """Each strategy against the best of the others, all at one confidence; for three of them or more."""
    found = (document.get("at_once") or {}).get("strategies") or []
    if len(document["strategies"]) < 3 or not found:
        return
    rows: dict[str, dict[str, str]] = {}
    for one in found:
        row = rows.setdefault(one["strategy"], {word("compare.strategy"): one["strategy"]})
        name = metric_name(one["metric"])
        row[word("compare.less_best", metric=name)] = difference(one)
        standing = word(f"compare.standing_{one['standing'].replace(' ', '_')}")
        row[word("compare.so_it_is", metric=name)] = standing
    with st.expander(word("compare.at_once")):
        st.caption(say("compare.at_once_text", level=f"{100 * document['confidence_level']:g}"))
        st.dataframe(pd.DataFrame(list(rows.values())), hide_index=True, width="stretch")
        st.caption(literal(told(document["at_once"]["rule"])))


def doubt(document: Mapping[str, Any]) -> None:
    """Uncertain inputs, and how much of what is not sure comes from them, how much from luck."""
    found = document.get("uncertain")
    if not found:
        return
    st.subheader(say("compare.doubt"))
    st.caption(say("compare.doubt_text"))
    inputs = [
        {
            word("compare.input"): _input(one["key"]),
            word("compare.distribution"): one["distribution"],
            word("compare.in_the_file"): one["base"] or UNKNOWN,
            word("compare.source"): one["source"] or word("compare.assumed"),
        }
        for one in found["inputs"]
    ]
    st.dataframe(pd.DataFrame(inputs), hide_index=True, width="stretch")
    splits = [
        {
            word("compare.strategy"): one["strategy"]
            if one["less"] is None
            else f"{one['strategy']} – {one['less']}",
            word("compare.metric"): metric_name(one["metric"]),
            word("compare.mean"): figure(one["mean"], one["unit"]),
            word("compare.p5"): figure(one["p5"], one["unit"]),
            word("compare.p95"): figure(one["p95"], one["unit"]),
            word("compare.of_inputs"): share(one["input_share"], 0),
        }
        for one in found["splits"]
    ]
    st.dataframe(pd.DataFrame(splits), hide_index=True, width="stretch")
    st.caption(literal(found["method"]))


def _input(key: str) -> str:
    """The name of an uncertain input: one of the named ones, or a key of the question."""
    return word(f"compare.input_{key}") if key in NAMED else key_words(key)


def steady(document: Mapping[str, Any]) -> None:
    """How a steady state was read, where that was asked for."""
    found = document.get("steady_state")
    if found:
        st.info(
            say(
                "compare.steady",
                warm_up=hours(found["warm_up_h"]),
                batches=number(found["batches"]),
                jobs=number(found["jobs_a_batch"]),
            ),
            icon=":material/linear_scale:",
        )
