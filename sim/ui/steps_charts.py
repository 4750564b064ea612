"""Charts of the page `steps`: the wait by month of the step, the money by month of the year."""

from __future__ import annotations

from decimal import Decimal

import altair as alt
import pandas as pd
import streamlit as st

from sim.billing.accrual import AFTER, cash_and_cost
from sim.load import Question
from sim.ui.amounts import number
from sim.ui.chart_series import Drawn, headed, limit_line, line_chart
from sim.ui.charts import PALETTE, show_chart
from sim.ui.language import say, word
from sim.ui.steps_answers import Grid
from sim.ui.steps_grid import Choice, Spec, ledger_of_choice, when

__all__ = ["money_chart", "wait_chart"]


def wait_chart(question: Question, spec: Spec, choice: Choice, grid: Grid, limit_h: float | None) -> None:
    """The 95th percentile of wait by month of the step, with intervals, the target and the chosen month."""
    st.subheader(say("steps.wait_title"))
    rows = []
    stays = choice.size == spec.count
    for place in [*([] if stays else spec.months), None]:
        size = spec.count if place is None else choice.size
        point = grid.at(spec, choice.growth, size, place or 0)
        if point is None or point.mean("wait_p95_h") is None:
            continue
        low, high = point.limits("wait_p95_h")
        met = point.mean("target_met_share")
        rows.append(
            {
                "x": word("steps.never") if place is None else f"{when(question, place):%Y-%m}",
                "wait": point.mean("wait_p95_h"),
                "low": low,
                "high": high,
                "met": None if met is None else 100 * met,
                "chosen": word("steps.chosen") if place == choice.month or stays else word("steps.other"),
            }
        )
    frame = pd.DataFrame(rows)
    if frame.empty:
        return
    headings = {
        "x": word("steps.axis_step"),
        "wait": word("steps.axis_wait"),
        "low": word("steps.low"),
        "high": word("steps.high"),
        "met": word("steps.axis_met"),
    }
    st.caption(say("steps.wait_note", limit="–" if limit_h is None else number(limit_h, 1)))
    show_chart(
        _waits(frame, headings, limit_h), "wait-by-step", headed(frame, headings), word("steps.wait_title")
    )


def _waits(frame: pd.DataFrame, headings: dict[str, str], limit_h: float | None) -> Drawn:
    tips = [alt.Tooltip("x:O", title=headings["x"])] + [
        alt.Tooltip(f"{key}:Q", title=headings[key], format=",.1f") for key in ("wait", "low", "high", "met")
    ]
    x = alt.X("x:O", sort=None, title=headings["x"], axis=alt.Axis(labelAngle=-45, labelOverlap=True))
    base = alt.Chart(frame).encode(x=x, tooltip=tips)
    y = alt.Y("low:Q", title=headings["wait"])
    bars = base.mark_rule(color="#7F7F7F", strokeWidth=2).encode(y=y, y2="high:Q")
    names = [word("steps.chosen"), word("steps.other")]
    points = base.mark_point(filled=True, size=110, opacity=1).encode(
        y=alt.Y("wait:Q", title=headings["wait"]),
        color=alt.Color(
            "chosen:N",
            scale=alt.Scale(domain=names, range=[PALETTE[1], PALETTE[0]]),
            legend=alt.Legend(orient="top", title=None, labelLimit=0),
        ),
        shape=alt.Shape("chosen:N", scale=alt.Scale(domain=names, range=["diamond", "circle"])),
    )
    layers: list[alt.Chart] = [bars, points]
    if limit_h is not None:
        layers += limit_line(limit_h, word("steps.limit", hours=number(limit_h, 1)), "wait")
    return alt.layer(*layers).properties(height=320)


def money_chart(question: Question, spec: Spec, choice: Choice) -> None:
    """What has been paid, or what it has cost, so far: no step, the step, and all cards from the start."""
    st.subheader(say("steps.money_title"))
    view = st.segmented_control(
        word("steps.basis"),
        ("cash", "cost"),
        default="cash",
        required=True,
        key="steps_basis",
        format_func=lambda one: word(f"finance.basis_{one}"),
        help=word("finance.basis_help"),
        persist_state="session",
    )
    ways = {
        word("steps.way_stay"): Choice(spec.count, 0, choice.growth, choice.first_plan, choice.added_plan)
    }
    if choice.size != spec.count:
        ways[word("steps.way_step", month=f"{when(question, choice.month):%Y-%m}")] = choice
        if choice.month:
            ways[word("steps.way_start")] = Choice(
                choice.size, 0, choice.growth, choice.first_plan, choice.added_plan
            )
    rows = []
    for name, way in ways.items():
        so_far = Decimal(0)
        for month in cash_and_cost(ledger_of_choice(question, spec, way), question.scenario):
            value = month.cash if view == "cash" else month.accrued
            if month.period == AFTER and not value:
                continue
            so_far += value
            label = word("finance.after") if month.period == AFTER else month.period
            rows.append({"x": label, "series": name, "y": float(so_far)})
    frame = pd.DataFrame(rows)
    headings = {
        "x": word("finance.axis_month"),
        "series": word("steps.way"),
        "y": word(f"finance.axis_{view}_so_far"),
    }
    mark = (
        (f"{when(question, choice.month):%Y-%m}", word("steps.mark"))
        if choice.size != spec.count and choice.month
        else None
    )
    chart = line_chart(frame, headings, step=view == "cash", mark=mark)
    show_chart(chart, f"step-{view}", headed(frame, headings), word("steps.money_title"))
