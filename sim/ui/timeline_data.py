"""One run as tables that charts draw: what each card did, who waited, which cards were rented by the hour.

All of it is read from the trace of events (`docs/events.md`), by the same functions as the chart that
`fleetsim run --gantt` writes. Times are hours since the scenario's start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.parquet as pq

from sim.report.gantt_pieces import GANTT_COLUMNS, HALF, card_pieces, in_lanes, stays_of
from sim.ui.timeline_failures import failures_on_cards

__all__ = ["MOST_BARS", "STATES", "Trace", "binned", "level", "read_trace", "thinned"]

STATES = ("work", "start", "lost", "down", "free", "away", "reserved")
"""What a card does, as the charts tell it: the first three with a job on it."""

MOST_BARS = 4000
"""Bars that one chart draws one by one; of more than these it draws shares of time."""

MICROS_H = 3.6e9

COLUMNS = (*GANTT_COLUMNS, "cause", "name", "team", "gpus", "machine", "back_us")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Trace:
    """One run; times in hours since the start."""

    cards: tuple[tuple[str, bool, int], ...]
    """Offer, whether by the hour, number: the rows of the chart."""
    bars: pd.DataFrame
    """row, height (share of a row), offset, begin, end, state, job, name, class, team, gpus."""
    failures: pd.DataFrame
    """row, hourly (whether the card is rented by the hour), at, cause, back."""
    waiting: pd.DataFrame
    """at, number: jobs that wait from then on."""
    burst: pd.DataFrame
    """at, number: cards rented by the hour from then on."""
    end_h: float
    jobs: int


def read_trace(file: Path) -> Trace:
    """The trace of a run from its Parquet file."""
    events: pd.DataFrame = pq.read_table(file, columns=list(COLUMNS)).to_pandas()
    end_h = float(events["time_us"].max() / MICROS_H) if len(events) else 0.0
    pieces = card_pieces(events)
    rows = pieces.drop_duplicates("row").sort_values("row")
    cards = tuple(
        (str(offer), bool(hourly), int(card))
        for offer, hourly, card in zip(rows["offer"], rows["hourly"], rows["card"], strict=True)
    )
    pieces = pieces[pieces["end_us"].notna()]
    bars = pd.concat([_with_jobs(events, pieces), _without_jobs(pieces)], ignore_index=True)
    failures = failures_on_cards(events, pieces)
    burst = pieces[pieces["hourly"]].groupby("row").agg(begin=("time_us", "min"), end=("end_us", "max"))
    return Trace(
        cards=cards,
        bars=bars[bars["end"] > bars["begin"]].sort_values(
            ["row", "begin"], kind="stable", ignore_index=True
        ),
        failures=failures.assign(at=_h(failures["at_us"]), back=_h(failures["back_us"])),
        waiting=level(*_queued(events)),
        burst=_burst(events) if len(burst) else level(np.array([]), np.array([])),
        end_h=end_h,
        jobs=int(events["job"].max() + 1) if events["job"].notna().any() else 0,
    )


def level(begins: Floats, ends: Floats) -> pd.DataFrame:
    """How many of these stretches (hours) go on at a time: `at`, `number` from then on; one row a moment."""
    times = np.concatenate([begins, ends])
    steps = np.concatenate([np.ones(len(begins)), -np.ones(len(ends))])
    moments, place = np.unique(times, return_inverse=True)
    change = np.bincount(place, weights=steps, minlength=len(moments)) if len(times) else np.array([])
    frame = pd.DataFrame({"at": moments, "number": np.cumsum(change)})
    return frame[frame["number"].diff().fillna(1) != 0].reset_index(drop=True)


def thinned(steps: pd.DataFrame, begin: float, end: float, most: int) -> tuple[pd.DataFrame, bool]:
    """The steps of a window, hours; of more than `most` the highest of each equal part, and True."""
    at, number = steps["at"].to_numpy(), steps["number"].to_numpy()
    before = int(np.searchsorted(at, begin, side="right")) - 1
    first = number[before] if before >= 0 else 0.0
    inside = (at > begin) & (at < end)
    last = number[np.searchsorted(at, end, side="right") - 1] if len(at) and at[0] <= end else first
    found = pd.DataFrame(
        {
            "at": np.concatenate([[begin], at[inside], [end]]),
            "number": np.concatenate([[first], number[inside], [last]]),
        }
    )
    if len(found) <= most:
        return found, False
    width = (end - begin) / most
    part = np.minimum(((found["at"] - begin) / width).astype(int), most - 1)
    highest = found.groupby(part)["number"].max()
    # A part in which nothing changes is as high as the part before it ended; one that begins high is so too.
    edges = begin + width * np.arange(most)
    standing = number[np.maximum(np.searchsorted(at, edges, side="right") - 1, 0)]
    standing = np.where(np.searchsorted(at, edges, side="right") == 0, 0.0, standing)
    top = np.maximum(standing, highest.reindex(range(most)).fillna(0).to_numpy())
    return pd.DataFrame({"at": [*edges, end], "number": [*top, last]}), True


def binned(bars: pd.DataFrame, rows: Sequence[int], begin: float, end: float, parts: int) -> pd.DataFrame:
    """Shares of time in place of single bars: a window in equal parts, each state of a card side by side.

    Columns: row, begin, end, state, share (of the part), part_begin, part_end. The parts of one card and
    one state sum to its time in the window exactly.
    """
    edges = np.linspace(begin, end, parts + 1)
    found: list[pd.DataFrame] = []
    for row in rows:
        own = bars[bars["row"] == row]
        used = np.zeros(parts)
        for state in STATES:
            of_state = own[own["state"] == state]
            if of_state.empty:
                continue
            hours = np.diff(_amount(of_state, edges))
            share = hours / (edges[1:] - edges[:-1])
            some = share > 1e-9
            left = edges[:-1] + used
            found.append(
                pd.DataFrame(
                    {
                        "row": row,
                        "begin": left[some],
                        "end": (left + hours)[some],
                        "state": state,
                        "share": share[some],
                        "part_begin": edges[:-1][some],
                        "part_end": edges[1:][some],
                    }
                )
            )
            used += hours
    columns = ["row", "begin", "end", "state", "share", "part_begin", "part_end"]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=columns)


def _amount(bars: pd.DataFrame, edges: Floats) -> Floats:
    """Hours in the stretches up to each edge; those that share a card count by their share of it."""
    begin, end = bars["begin"].to_numpy(), bars["end"].to_numpy()
    weight = bars["height"].to_numpy()
    inside = np.clip(edges[:, None], begin[None, :], end[None, :]) - begin[None, :]
    total: Floats = inside @ weight
    return total


def _with_jobs(events: pd.DataFrame, pieces: pd.DataFrame) -> pd.DataFrame:
    """Start-up, work and lost work of every stay on every card."""
    stays = pieces[pieces["state"] == "busy"].merge(stays_of(events), on=["job", "time_us"], how="left")
    stays = in_lanes(stays)
    jobs = events[events["state"] == "submitted"].drop_duplicates("job").set_index("job")
    row = np.floor(stays["row"].to_numpy(dtype=np.float64) + 0.5).astype(int)
    height = stays["half"].to_numpy(dtype=np.float64) / HALF
    common = {
        "row": row,
        "height": height,
        "offset": (stays["row"].to_numpy(dtype=np.float64) - row) / HALF,
        "job": stays["job"].to_numpy(dtype=np.float64, na_value=np.nan),
        "class": stays["class"].to_numpy(),
        **{name: stays["job"].map(jobs[name]).to_numpy() for name in ("name", "team", "gpus")},
    }
    cuts = {
        "start": ("time_us", "works_us"),
        "work": ("works_us", "lost_from_us"),
        "lost": ("lost_from_us", "end_us"),
    }
    return pd.concat(
        [
            pd.DataFrame({**common, "begin": _h(stays[a]), "end": _h(stays[b]), "state": state})
            for state, (a, b) in cuts.items()
        ],
        ignore_index=True,
    )


def _without_jobs(pieces: pd.DataFrame) -> pd.DataFrame:
    idle = pieces[pieces["state"].isin(["free", "down", "away", "reserved"])]
    return pd.DataFrame(
        {
            "row": idle["row"].to_numpy(dtype=int),
            "height": 1.0,
            "offset": 0.0,
            "begin": _h(idle["time_us"]),
            "end": _h(idle["end_us"]),
            "state": idle["state"].to_numpy(),
        }
    )


def _queued(events: pd.DataFrame) -> tuple[Floats, Floats]:
    """When jobs begin to wait and when they stop."""
    jobs = events[events["kind"] == "job"].sort_values("job", kind="stable")
    after = jobs.groupby("job")["time_us"].shift(-1)
    waits = (jobs["state"] == "queued") & after.notna()
    begins, ends = _h(jobs.loc[waits, "time_us"]), _h(after[waits])
    some = ends > begins
    return begins[some], ends[some]


def _burst(events: pd.DataFrame) -> pd.DataFrame:
    """Cards rented by the hour: each counts from `leased` to `returned` or the end."""
    own = events[(events["kind"] == "card") & (events["lease"] == "burst")]
    return level(
        _h(own.loc[own["state"] == "leased", "time_us"]),
        _h(own.loc[own["state"].isin(["returned", "kept"]), "time_us"]),
    )


def _h(micros: pd.Series) -> Floats:
    return micros.to_numpy(dtype=np.float64, na_value=np.nan) / MICROS_H
