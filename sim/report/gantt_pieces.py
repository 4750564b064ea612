"""What each card did in one run, from its trace of events: stretches of cards, stays of jobs on them.

The charts of a run, as a file and on the page, draw these; `docs/events.md` says what the states mean.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

__all__ = ["GANTT_COLUMNS", "HALF", "card_pieces", "in_lanes", "stays_of"]

GANTT_COLUMNS = ("time_us", "kind", "state", "job", "class", "offer", "lease", "card", "lost_us")
"""Columns of the trace of events that are read."""

HALF = 0.42
"""Half the height of a bar; rows are 1 apart."""


def card_pieces(events: pd.DataFrame) -> pd.DataFrame:
    """State, begin and end of every stretch of every card, and its row in a chart of all of them."""
    cards = events[(events["kind"] == "card") & (events["state"] != "broken")]
    cards = cards.assign(hourly=cards["lease"] == "burst")
    place = ["offer", "hourly", "card"]
    cards = cards.sort_values(place, kind="stable")
    own = cards.groupby(place)
    return cards.assign(end_us=own["time_us"].shift(-1), row=own.ngroup())


def stays_of(events: pd.DataFrame) -> pd.DataFrame:
    """Job and start of every stay on cards, when its start-up was over, and from when its work was lost."""
    jobs = events[(events["kind"] == "job") & events["job"].notna()]
    jobs = jobs.sort_values("job", kind="stable")[["job", "time_us", "state", "lost_us"]]
    number = (jobs["state"] == "started").cumsum()
    starts = jobs[jobs["state"] == "started"].assign(stay=number)
    works = jobs[jobs["state"] == "running"].assign(stay=number).set_index("stay")["time_us"]
    ends = jobs[jobs["lost_us"].notna()].assign(stay=number).set_index("stay")
    at_end = starts["stay"].map(ends["time_us"])
    return pd.DataFrame(
        {
            "job": starts["job"],
            "time_us": starts["time_us"],
            "works_us": starts["stay"].map(works).fillna(at_end),
            "lost_from_us": at_end - starts["stay"].map(ends["lost_us"]),
            "ends_us": at_end,
        }
    )


def in_lanes(stays: pd.DataFrame) -> pd.DataFrame:
    """Stays with half the height of their bars; those that share a card side by side in its row.

    On a shared card the trace has a row whenever a job comes or leaves others behind: what is not the
    begin of a stay is left out, and a stay ends when its job leaves.
    """
    shared = stays["ends_us"].isna() | (stays["ends_us"] != stays["end_us"])
    if not shared.any():
        return stays.assign(half=HALF)
    stays = stays[stays["ends_us"].notna()]
    stays = stays.assign(end_us=stays["ends_us"]).sort_values(["row", "time_us"], kind="stable")
    lanes: list[int] = []
    ends: dict[int, list[float]] = {}
    """Row -> when the last stay of each of its lanes ends."""
    for row, begin, end in zip(stays["row"], stays["time_us"], stays["end_us"], strict=True):
        own = ends.setdefault(row, [])
        lane = next((n for n, until in enumerate(own) if until <= begin), len(own))
        own[lane : lane + 1] = [end]
        lanes.append(lane)
    half = HALF / stays["row"].map({row: len(own) for row, own in ends.items()})
    return stays.assign(half=half, row=stays["row"] - HALF + half * (2 * np.array(lanes) + 1))
