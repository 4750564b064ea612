"""Charts of recorded jobs: arrivals, run times, widths, load over time, and a model against its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import altair as alt
import pandas as pd
import streamlit as st

from sim.ui.charts import DASHES, NARROW, PALETTE, SHAPES, show_chart
from sim.ui.language import say, word

__all__ = ["arrivals_chart", "draw", "goodness_chart", "load_chart", "run_times_chart", "widths_chart"]

Drawn: TypeAlias = tuple[
    alt.Chart | alt.LayerChart | alt.VConcatChart | alt.FacetChart, pd.DataFrame, str, str
]
"""Chart, its table, title and text for those who do not see it."""

_QUANTILES = ("q5_h", "q25_h", "q50_h", "q75_h", "q95_h")


def draw(name: str, drawn: Drawn) -> None:
    """A chart below its title; `name` is the name of its file."""
    chart, frame, title, told = drawn
    st.markdown(f"**{title}**")
    show_chart(chart, name, frame, told)


def arrivals_chart(found: Mapping[str, Any]) -> Drawn:
    """Submissions by hour of the day, beside those by weekday."""
    part, at, mean = word("workload.part"), word("workload.at"), word("workload.mean")
    days = word("workload.weekdays").split()
    rows = [
        (word("workload.by_hour"), f"{hour:02d}", one["mean_a_day"])
        for hour, one in enumerate(found["submissions_by_hour"])
    ]
    rows += [
        (word("workload.by_weekday"), day, one["mean_a_day"])
        for day, one in zip(days, found["submissions_by_weekday"], strict=True)
    ]
    frame = pd.DataFrame(rows, columns=[part, at, mean])
    charts = []
    for place, (name, axis) in enumerate(
        (("workload.by_hour", "workload.hour_axis"), ("workload.by_weekday", "workload.weekday_axis"))
    ):
        own = frame[frame[part] == word(name)]
        y = word("workload.per_hour" if place == 0 else "workload.per_day")
        charts.append(
            alt.Chart(own)
            .mark_bar(color=PALETTE[2 * place])
            .encode(
                x=alt.X(
                    at,
                    type="ordinal",
                    sort=None,
                    title=word(axis),
                    axis=alt.Axis(labelAngle=0, labelOverlap=True),
                ),
                y=alt.Y(mean, type="quantitative", title=y),
                tooltip=[
                    alt.Tooltip(at, type="nominal", title=word(axis)),
                    alt.Tooltip(mean, type="quantitative", title=y, format=",.2f"),
                ],
            )
            .properties(height=190)
        )
    return alt.vconcat(*charts), frame, say("workload.arrivals"), word("workload.arrivals_alt")


def run_times_chart(found: Mapping[str, Any]) -> Drawn:
    """Ranges of run times by the number of cards: 5 to 95, 25 to 75 of 100 jobs, the median as a mark."""
    group, jobs = word("workload.width"), word("workload.jobs")
    names = [word(f"workload.{key}") for key in _QUANTILES]
    rows = [
        {
            group: _width(name),
            jobs: one["jobs"],
            **{n: one[k] for n, k in zip(names, _QUANTILES, strict=True)},
        }
        for name, one in found["run_times"].items()
    ]
    frame = pd.DataFrame(rows, columns=[group, jobs, *names])
    base = alt.Chart(frame).encode(
        y=alt.Y(group, type="nominal", sort=None, title=None, axis=alt.Axis(labelLimit=200)),
        tooltip=[
            alt.Tooltip(group, type="nominal"),
            alt.Tooltip(jobs, type="quantitative", format=","),
            *(alt.Tooltip(name, type="quantitative", format=",.3g") for name in names),
        ],
    )
    title, log = word("workload.run_time_axis"), alt.Scale(type="log")
    thin = base.mark_rule(strokeWidth=2, color=PALETTE[0]).encode(
        x=alt.X(names[0], type="quantitative", scale=log, title=title), x2=names[4]
    )
    thick = base.mark_bar(size=16, color=PALETTE[0], opacity=0.55).encode(
        x=alt.X(names[1], type="quantitative", scale=log, title=title), x2=names[3]
    )
    mark = base.mark_point(filled=True, size=110, shape=SHAPES[3], color=PALETTE[1], opacity=1).encode(
        x=alt.X(names[2], type="quantitative", scale=log, title=title)
    )
    chart = alt.layer(thin, thick, mark).properties(height=alt.Step(44))
    return chart, frame, say("workload.run_times"), word("workload.run_times_alt")


def _width(name: str) -> str:
    """`1 card`, `3-4 cards`, `all` in the page's language."""
    number, _, kind = name.partition(" ")
    if number == "1":
        return word("workload.one_card")
    return word("workload.cards", number=number) if kind else word("workload.all")


def widths_chart(found: Mapping[str, Any]) -> Drawn:
    """Shares of the jobs, and of the card-hours, by the number of cards of a job."""
    cards, part, share = word("workload.width"), word("workload.part"), word("workload.share")
    widths = {int(width): one for width, one in found["widths"].items() if int(width) > 0}
    rows = []
    for key, name in (("jobs", "workload.of_jobs"), ("card_hours", "workload.of_card_hours")):
        total = sum(one[key] for one in widths.values()) or 1
        rows += [(str(width), word(name), 100 * one[key] / total) for width, one in sorted(widths.items())]
    frame = pd.DataFrame(rows, columns=[cards, part, share])
    names = [word("workload.of_jobs"), word("workload.of_card_hours")]
    chart = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X(
                cards,
                type="ordinal",
                sort=None,
                title=word("workload.width_axis"),
                axis=alt.Axis(labelAngle=0, labelOverlap=True),
            ),
            xOffset=alt.XOffset(part, type="nominal", sort=names),
            y=alt.Y(share, type="quantitative", title=share),
            color=alt.Color(
                part,
                type="nominal",
                scale=alt.Scale(domain=names, range=list(PALETTE[:2])),
                legend=alt.Legend(orient="bottom", title=None),
            ),
            tooltip=[
                alt.Tooltip(cards, type="nominal"),
                alt.Tooltip(part, type="nominal"),
                alt.Tooltip(share, type="quantitative", format=".1f"),
            ],
        )
        .properties(height=280)
    )
    return chart, frame, say("workload.widths"), word("workload.widths_alt")


def load_chart(found: Mapping[str, Any]) -> Drawn:
    """Mean cards over time: busy as recorded, and as they would be were there always a free card."""
    day, part, cards = word("workload.day_axis"), word("workload.part"), word("workload.cards_axis")
    load = found["load"]
    kinds = [("asked", word("workload.asked"))]
    if not found["load_assumes_no_waits"]:
        kinds.insert(0, ("busy", word("workload.busy")))
    rows = [
        (at, name, value) for key, name in kinds for at, value in zip(load["day"], load[key], strict=True)
    ]
    frame = pd.DataFrame(rows, columns=[day, part, cards])
    names = [name for _, name in kinds]
    legend = alt.Legend(orient="bottom", title=None, labelLimit=400, columns=alt.ExprRef(NARROW))
    chart = (
        alt.Chart(frame)
        .mark_line(strokeWidth=1.6)
        .encode(
            x=alt.X(day, type="quantitative", title=day),
            y=alt.Y(cards, type="quantitative", title=cards),
            color=alt.Color(
                part,
                type="nominal",
                scale=alt.Scale(domain=names, range=list(PALETTE[: len(names)])),
                legend=legend,
            ),
            strokeDash=alt.StrokeDash(
                part,
                type="nominal",
                scale=alt.Scale(domain=names, range=list(DASHES[: len(names)])),
                legend=legend,
            ),
            tooltip=[
                alt.Tooltip(part, type="nominal"),
                alt.Tooltip(day, type="quantitative", format=",.1f"),
                alt.Tooltip(cards, type="quantitative", format=",.1f"),
            ],
        )
        .properties(height=320)
    )
    return chart, frame, say("workload.load"), word("workload.load_alt")


def goodness_chart(lines: Sequence[Mapping[str, Any]], axis: str, *, log: bool = False) -> Drawn:
    """Figures of the record beside those of the model, with the range in which 9 of 10 draws lie."""
    at, record, model = word("workload.at"), word("workload.record"), word("workload.model")
    low, high, part = word("workload.draws_low"), word("workload.draws_high"), word("workload.part")
    rows = [
        {
            at: line["at"],
            **{
                name: line.get(key)
                for name, key in ((record, "record"), (model, "model"), (low, "low"), (high, "high"))
            },
        }
        for line in lines
    ]
    frame = pd.DataFrame(rows, columns=[at, record, model, low, high])
    x = alt.X(at, type="ordinal", sort=None, title=None, axis=alt.Axis(labelAngle=-45, labelOverlap=True))
    scale = alt.Scale(type="log") if log else alt.Scale(zero=True)
    tips = [
        alt.Tooltip(at, type="nominal"),
        *(alt.Tooltip(name, type="quantitative", format=",.3g") for name in (record, model, low, high)),
    ]
    bars = (
        alt.Chart(frame)
        .mark_rule(strokeWidth=6, opacity=0.35, color=PALETTE[0])
        .encode(x=x, y=alt.Y(low, type="quantitative", title=axis, scale=scale), y2=high, tooltip=tips)
    )
    names = [record, model]
    points = (
        alt.Chart(frame)
        .transform_fold([record, model], as_=[part, "value"])
        .mark_point(filled=True, size=70, opacity=1)
        .encode(
            x=x,
            y=alt.Y("value:Q", title=axis, scale=scale),
            color=alt.Color(
                f"{part}:N",
                scale=alt.Scale(domain=names, range=[PALETTE[1], PALETTE[0]]),
                legend=alt.Legend(orient="bottom", title=None),
            ),
            shape=alt.Shape(
                f"{part}:N",
                scale=alt.Scale(domain=names, range=list(SHAPES[:2])),
                legend=alt.Legend(orient="bottom", title=None),
            ),
            tooltip=tips,
        )
    )
    return alt.layer(bars, points).properties(height=320), frame, axis, word("workload.goodness_alt")
