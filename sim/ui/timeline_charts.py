"""The charts of one run: what each card did, how many jobs waited, how many cards were rented by the hour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import altair as alt
import pandas as pd

from sim.ui.charts import PALETTE
from sim.ui.language import word
from sim.ui.metric_words import figure
from sim.ui.timeline_data import MOST_BARS, STATES, Trace, binned, thinned
from sim.ui.timeline_failures import TIME, failure_marks, failure_names

__all__ = ["Window", "card_name", "failure_table", "gantt", "gantt_table", "steps"]

HEIGHTS: Mapping[str, float] = {
    "work": 0.86,
    "start": 0.5,
    "lost": 0.86,
    "down": 0.3,
    "free": 0.06,
    "away": 0.16,
    "reserved": 0.16,
}
"""Height of the bars of a state in a row of height 1: states differ by it, not by colour alone."""

COLOURS: Mapping[str, str] = {
    "work": PALETTE[0],
    "start": PALETTE[5],
    "lost": PALETTE[1],
    "down": PALETTE[3],
    "free": PALETTE[7],
    "away": PALETTE[6],
    "reserved": PALETTE[4],
}

ROW_PX, AXES_PX = 28, 260
"""Height of a row, and of legend and axis together: the page fits all of a chart into its height."""

MOST_STEPS = 600
"""Steps of a line that are drawn; of more the highest of each part is."""


class Window:
    """The part of a run that is drawn: hours since its start, and local times."""

    def __init__(self, start: datetime, begin: float, end: float) -> None:
        """`start` is the local time at which the run starts; its zone is left away, as on a calendar."""
        self.start = start.replace(tzinfo=None)
        self.begin, self.end = begin, end

    def time(self, hours: float) -> datetime:
        """The local time of a moment, cut to the second."""
        return (self.start + timedelta(hours=hours)).replace(microsecond=0)

    def times(self, hours: pd.Series) -> pd.Series:
        """Local times of a column."""
        found: pd.Series = pd.Timestamp(self.start) + pd.to_timedelta((hours * 3600).round(), unit="s")
        return found

    def axis(self) -> alt.X:
        """The axis of time, in figures that need no language."""
        form = "%m-%d %H:%M" if self.end - self.begin <= 96 else "%Y-%m-%d"
        domain = [_moment(self.time(self.begin)), _moment(self.time(self.end))]
        return alt.X(
            "begin:T",
            title=word("timeline.time"),
            scale=alt.Scale(domain=domain),
            axis=alt.Axis(format=form, labelAngle=-30, tickCount=8, labelOverlap=True),
        )


def card_name(card: tuple[str, bool, int]) -> str:
    """A row of the chart: offer and number, and whether it is rented by the hour."""
    offer, hourly, number = card
    return word("timeline.hourly_card" if hourly else "timeline.card", offer=offer, number=number)


def gantt_table(trace: Trace, rows: Sequence[int], window: Window) -> tuple[pd.DataFrame, float | None]:
    """The bars of a window, and the hours of one part where single bars are too many to be drawn."""
    bars = trace.bars
    inside = bars[bars["row"].isin(rows) & (bars["end"] > window.begin) & (bars["begin"] < window.end)]
    if len(inside) > MOST_BARS:
        parts = max(24, min(240, MOST_BARS // max(1, 3 * len(rows))))
        found = binned(inside, rows, window.begin, window.end, parts)
        found["label"] = [
            word(
                "timeline.share",
                share=f"{100 * share:.1f}",
                begin=f"{window.time(begin):{TIME}}",
                end=f"{window.time(end):{TIME}}",
            )
            for share, begin, end in zip(found["share"], found["part_begin"], found["part_end"], strict=True)
        ]
        part: float | None = (window.end - window.begin) / parts
        found = found.assign(job="", what="", height=1.0, offset=0.0, hours="")
    else:
        part = None
        found = inside.assign(
            begin=inside["begin"].clip(lower=window.begin), end=inside["end"].clip(upper=window.end)
        )
        found["label"] = [
            word("timeline.from_to", begin=f"{window.time(begin):{TIME}}", end=f"{window.time(end):{TIME}}")
            for begin, end in zip(inside["begin"], inside["end"], strict=True)
        ]
        found["hours"] = [figure(hours, "h") for hours in inside["end"] - inside["begin"]]
        found["job"] = [
            _job(number, name) for number, name in zip(inside["job"], inside["name"], strict=True)
        ]
        found["what"] = [
            _what(kind, team, cards)
            for kind, team, cards in zip(inside["class"], inside["team"], inside["gpus"], strict=True)
        ]
    names = {row: card_name(trace.cards[row]) for row in rows}
    found = found.assign(
        card=found["row"].map(names),
        doing=found["state"].map({state: word(f"timeline.state_{state}") for state in STATES}),
        begin=window.times(found["begin"]),
        end=window.times(found["end"]),
    )
    columns = ["card", "doing", "state", "begin", "end", "job", "what", "hours", "label", "height", "offset"]
    return found[columns].reset_index(drop=True), part


def gantt(
    trace: Trace, table: pd.DataFrame, rows: Sequence[int], window: Window
) -> alt.LayerChart | alt.FacetChart:
    """A row a card; the wheel zooms, dragging moves."""
    names = [card_name(trace.cards[row]) for row in rows]
    y = alt.Y(
        "card:N",
        sort=names,
        title=None,
        scale=alt.Scale(domain=names, paddingInner=0, paddingOuter=0),
        axis=alt.Axis(labelLimit=180, ticks=False),
    )
    layers = _state_bars(table, window.axis(), y)
    failures = failure_table(trace, rows, window)
    if len(failures):
        layers += failure_marks(failures, y)
    if not layers:
        layers = [alt.Chart(table).mark_bar().encode(x=window.axis(), y=y)]
    layers[0] = layers[0].add_params(alt.selection_interval(bind="scales", encodings=["x"]))
    return alt.layer(*layers).properties(height=AXES_PX + ROW_PX * max(2, len(names)))


def _state_bars(table: pd.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The bars of each state that occurs, a layer a state."""
    shares = not table["job"].any()  # parts of time side by side, not jobs
    present = [state for state in STATES if (table["state"] == state).any()]
    colour = _state_colours(present)
    tooltip = [
        alt.Tooltip(f"{field}:N", title=word(f"timeline.tip_{field}"))
        for field in ("doing", "job", "what", "hours", "label", "card")
    ]
    return [
        alt.Chart(table)
        .transform_filter(alt.datum.state == state)
        .mark_bar(
            height={"band": HEIGHTS[state]},
            stroke="white" if state == "work" else COLOURS[state],
            strokeWidth=0 if shares else 0.4,
            strokeDash=[2, 2] if state == "lost" else [1, 0],
            fillOpacity=0.45 if state in ("lost", "reserved") else 1,
            clip=True,
        )
        .encode(x=x, x2="end:T", y=y, color=colour, tooltip=tooltip)
        for state in present
    ]


def _state_colours(present: Sequence[str]) -> alt.Color:
    """The colour of each state, and the legend above the chart."""
    return alt.Color(
        "doing:N",
        title=None,
        scale=alt.Scale(
            domain=[word(f"timeline.state_{state}") for state in present],
            range=[COLOURS[state] for state in present],
        ),
        legend=alt.Legend(
            orient="top",
            columns=alt.ExprRef("width < 250 ? 1 : width < 420 ? 2 : 4"),
            labelLimit=180,
            labelFontSize=12,
            rowPadding=4,
            symbolStrokeWidth=0,
        ),
    )


def failure_table(trace: Trace, rows: Sequence[int], window: Window) -> pd.DataFrame:
    """The failures of a window, as `failure_marks` draws them."""
    own = trace.failures
    own = own[own["row"].isin(rows) & (own["at"] >= window.begin) & (own["at"] <= window.end)]
    return pd.DataFrame(
        {
            "card": [card_name(trace.cards[row]) for row in own["row"]],
            "begin": window.times(own["at"]),
            "hourly": own["hourly"].astype(bool),
            "cause": own["cause"],
            "back": [figure(hours, "h") for hours in own["back"] - own["at"]],
            "end": window.times(own["back"]),
            "kind": own["hourly"].astype(bool).map(failure_names()),
        }
    )


def steps(
    found: pd.DataFrame, window: Window, title: str, colour: str, dash: Sequence[int]
) -> tuple[alt.Chart | alt.LayerChart, pd.DataFrame, bool]:
    """A number over time as steps, its table, and whether it was thinned to the highest of each part."""
    thin, cut = thinned(found, window.begin, window.end, MOST_STEPS)
    table = pd.DataFrame({"begin": window.times(thin["at"]), "number": thin["number"]})
    zoom = alt.selection_interval(bind="scales", encodings=["x"])
    chart = (
        alt.Chart(table)
        .mark_area(
            interpolate="step-after",
            line={"color": colour, "strokeDash": list(dash)},
            color=colour,
            fillOpacity=0.25,
            clip=True,
        )
        .encode(
            x=window.axis(),
            y=alt.Y("number:Q", title=title, axis=alt.Axis(tickMinStep=1)),
            tooltip=[
                alt.Tooltip("begin:T", title=word("timeline.tip_at"), format=TIME),
                alt.Tooltip("number:Q", title=title, format=",.0f"),
            ],
        )
        .add_params(zoom)
        .properties(height=250)
    )
    return chart, table, cut


def _job(number: float, name: object) -> str:
    if number != number:
        return ""
    text = word("timeline.job", number=f"{int(number):,}")
    return f"{text} ({name})" if isinstance(name, str) and name else text


def _what(kind: object, team: object, cards: float) -> str:
    parts = [text for text in (kind, team) if isinstance(text, str) and text]
    if cards == cards:
        parts.append(word("timeline.cards_used", number=int(cards)))
    return ", ".join(parts)


def _moment(time: datetime) -> alt.DateTime:
    return alt.DateTime(
        year=time.year,
        month=time.month,
        date=time.day,
        hours=time.hour,
        minutes=time.minute,
        seconds=time.second,
    )
