"""Failures on the timeline: which cards they hit, leased ones or ones rented by the hour, and their marks."""

from __future__ import annotations

from dataclasses import dataclass

import altair as alt
import pandas as pd

from sim.ui.language import word

__all__ = ["failure_marks", "failure_names", "failures_on_cards"]

TIME = "%Y-%m-%d %H:%M"


@dataclass(frozen=True, slots=True)
class Mark:
    """How failures of one kind of card are drawn: told apart by shape, colour and rim."""

    shape: str
    colour: str
    rim: str


MARKS = {
    False: Mark("triangle-down", "#9467BD", "#FFFFFF"),
    True: Mark("diamond", "#F0E442", "#000000"),
}
"""Of leased cards, and of cards rented by the hour. No state of a card has these colours, and both are seen
on light and on dark."""

SIZE = 110
LIFT_PX = -9
"""Marks stand in the upper part of a row, above the bar of what was hit."""


def failures_on_cards(events: pd.DataFrame, pieces: pd.DataFrame) -> pd.DataFrame:
    """Failures at the cards that were there to be hit; that of a whole machine at each of its cards.

    Columns: row, hourly, at_us, cause, back_us. `pieces` are the stretches of all cards. The trace of events
    names offer and number of what broke, and leased cards and cards by the hour count from 0 each. Where both
    were there under one number, that one is taken which is down with this cause from then on; where this
    does not tell (no time was lost), the failure stands at both.
    """
    broken = events.loc[
        events["state"] == "broken", ["time_us", "cause", "offer", "machine", "card", "back_us"]
    ]
    broken = broken.rename(columns={"time_us": "at_us"}).reset_index(names="failure")
    columns = ["offer", "machine", "card", "hourly", "row", "time_us", "end_us"]
    one = broken[broken["card"].notna()].drop(columns="machine")
    all_ = broken[broken["card"].isna()].drop(columns="card")
    found = pd.concat(
        [
            one.merge(pieces[columns], on=["offer", "card"], how="inner"),
            all_.merge(pieces[columns], on=["offer", "machine"], how="inner"),
        ],
        ignore_index=True,
    )
    there = (found["time_us"] <= found["at_us"]) & (found["at_us"] <= found["end_us"])
    found = found[there].drop_duplicates(["failure", "row"])
    return _told_apart(found, pieces)[["row", "hourly", "at_us", "cause", "back_us"]]


def _told_apart(found: pd.DataFrame, pieces: pd.DataFrame) -> pd.DataFrame:
    """Of failures at leased and hourly cards alike: the one kind that is down from then on, if one is."""
    both = found.groupby("failure")["hourly"].transform("nunique") > 1
    if not both.any():
        return found
    down = pieces.loc[pieces["state"] == "down", ["row", "cause", "time_us", "end_us"]]
    seen = found[both].drop(columns=["time_us", "end_us"]).merge(down, on=["row", "cause"], how="inner")
    seen = seen[(seen["time_us"] < seen["back_us"]) & (seen["end_us"] > seen["at_us"])]
    kinds = seen.groupby("failure")["hourly"].agg(["nunique", "first"])
    sure = kinds.loc[kinds["nunique"] == 1, "first"]
    hit = found["failure"].map(sure)
    return found[hit.isna() | (hit == found["hourly"])]


def failure_names() -> dict[bool, str]:
    """What a failure is called, by whether it hit a card rented by the hour."""
    return {hourly: word(f"timeline.failure_{'hourly' if hourly else 'leased'}") for hourly in MARKS}


def failure_marks(frame: pd.DataFrame, y: alt.Y) -> list[alt.Chart]:
    """Marks of failures, with a legend of the kinds of card that failed.

    `frame`: card, begin (local time), hourly, cause, back (how long, with its unit), kind (its name).
    """
    present = [hourly for hourly in MARKS if (frame["hourly"] == hourly).any()]
    names = failure_names()
    domain = [names[hourly] for hourly in present]
    legend = alt.Legend(
        title=None,
        orient="bottom",
        columns=alt.ExprRef("width < 420 ? 1 : 2"),
        labelLimit=320,
        symbolSize=SIZE,
        symbolStrokeWidth=0,
        labelFontSize=12,
        rowPadding=4,
    )
    shape = alt.Shape(
        "kind:N", scale=alt.Scale(domain=domain, range=[MARKS[one].shape for one in present]), legend=legend
    )
    fill = alt.Fill(
        "kind:N", scale=alt.Scale(domain=domain, range=[MARKS[one].colour for one in present]), legend=legend
    )
    tooltip = [
        alt.Tooltip("cause:N", title=word("timeline.tip_failure")),
        alt.Tooltip("kind:N", title=word("timeline.tip_hit")),
        alt.Tooltip("begin:T", title=word("timeline.tip_at"), format=TIME),
        alt.Tooltip("back:N", title=word("timeline.tip_away")),
        alt.Tooltip("card:N", title=word("timeline.tip_card")),
    ]
    return [
        alt.Chart(frame[frame["hourly"] == hourly])
        .mark_point(size=SIZE, stroke=MARKS[hourly].rim, strokeWidth=1, yOffset=LIFT_PX, opacity=1, clip=True)
        .encode(x=alt.X("begin:T"), y=y, shape=shape, fill=fill, tooltip=tooltip)
        for hourly in present
    ]
