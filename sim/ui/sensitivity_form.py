"""What a sensitivity study turns and how often it runs: the form, and the command that it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sim.experiments.knobs_table import knobs_of
from sim.metrics import METRICS
from sim.ui.amounts import number
from sim.ui.boxes import whole_box
from sim.ui.language import catalogue, language, say, word
from sim.ui.metric_words import metric_name
from sim.ui.state import Draft

__all__ = ["ask_study", "input_name", "sensitivity_words", "unit_name"]


SOBOL = (0, 16, 32, 64, 128, 256)


DRAWS = (0, 20, 50, 100, 200)


LOOKED_AT = ("", "committed_cost_cny", "cost_cny", "wait_p95_h", "wait_mean_h", "on_time_share", "busy_share")
"""Metrics that a planner asks about; empty: the cost that ranks strategies."""


def input_name(name: str, title: str = "") -> str:
    """An input as people call it; the program's title where this page knows none."""
    return (
        word(f"sensitivity.input_{name}")
        if f"sensitivity.input_{name}" in catalogue(language())
        else title or name
    )


def unit_name(unit: str) -> str:
    """The unit of an input."""
    key = {"times": "times", "of the range": "range", "%/month": "growth", "months": "months"}.get(unit)
    return word(f"sensitivity.unit_{key}") if key else unit


def ask_study(draft: Draft) -> list[str]:
    """How much is turned, and how often it is run."""
    question = draft.question
    with st.expander(word("sensitivity.how"), expanded=False):
        left, right = st.columns(2)
        metric = left.selectbox(
            word("sensitivity.metric"),
            LOOKED_AT,
            key="sensitivity_metric",
            persist_state="session",
            format_func=lambda one: metric_name(one) if one else word("sensitivity.metric_default"),
        )
        runs = whole_box(
            word("sensitivity.replications"), 1, 100, 3,
            key="sensitivity_runs", place=right, about=word("sensitivity.replications_help"),
        )  # fmt: skip
        sobol = _how_many(left, "sobol", SOBOL)
        draws = _how_many(right, "draws", DRAWS)
        st.caption(say("sensitivity.ranges_note"))
        ranges: dict[str, tuple[float, float]] = {}
        for knob in knobs_of(question):
            name = input_name(knob.name, knob.title)
            one, two = st.columns(2)
            low = one.number_input(
                say("sensitivity.from", input=name, unit=unit_name(knob.unit)),
                value=float(knob.low),
                max_value=float(knob.base),
                key=f"sensitivity_low_{knob.name}_{draft.file}",
                format="%.4g",
                persist_state="session",
            )
            high = two.number_input(
                say("sensitivity.to", input=name, unit=unit_name(knob.unit)),
                value=float(knob.high),
                min_value=float(knob.base),
                key=f"sensitivity_high_{knob.name}_{draft.file}",
                format="%.4g",
                persist_state="session",
            )
            if (low, high) != (knob.low, knob.high):
                ranges[knob.name] = (low, high)
    if runs is None:
        st.stop()  # the box has said what is wrong
    return sensitivity_words(str(draft.file), metric or "", runs, sobol, draws, ranges)


def _how_many(place: DeltaGenerator, name: str, counts: Sequence[int]) -> int:
    picked = place.selectbox(
        word(f"sensitivity.{name}"),
        counts,
        key=f"sensitivity_{name}",
        help=word(f"sensitivity.{name}_help"),
        format_func=lambda one: number(one) if one else word("sensitivity.no"),
        persist_state="session",
    )
    return picked or 0


def sensitivity_words(
    file: str, metric: str, runs: int, sobol: int, draws: int, ranges: Mapping[str, tuple[float, float]]
) -> list[str]:
    """The command of a study."""
    words = ["sensitivity", file, "--replications", str(runs)]
    words += ["--metric", metric] if metric else []
    words += ["--sobol", str(sobol)] if sobol else []
    words += ["--draws", str(draws)] if draws else []
    for name, (low, high) in ranges.items():
        words += ["--range", f"{name}={low:.12g}..{high:.12g}"]
    return [*words, "--format", "json"]


assert set(LOOKED_AT[1:]) <= set(METRICS)  # noqa: S101  # a metric that goes must go here too
