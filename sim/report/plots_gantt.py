"""One run as a Gantt chart: a row a card, what it does over time, and the jobs on it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from sim.experiments.wording import plain
from sim.report.gantt_pieces import GANTT_COLUMNS, HALF, card_pieces, in_lanes, stays_of
from sim.report.plots_style import INK, PALETTE, drawable, grid, name_legend, names, new_figure, of_user
from sim.units import DAY, Micros

__all__ = ["GANTT_COLUMNS", "gantt"]

CARDS, STAYS_A_CARD = 40, 50
"""Rows of a chart, and stays of jobs on a card on average, at most: more cannot be told apart."""

DIGIT = 0.0065
"""Share of the chart's width that one digit of a job's number takes."""

LOST, OTHERS = "#b00020", "#8a8a8a"

IDLE = {
    "free": ("#e9e9e9", "card free"),
    "down": ("#4d4d4d", "card down"),
    "away": ("#dfe3f2", "not for jobs: outside of windows"),
    "reserved": ("#c3cae3", "not for jobs: reserved"),
}
"""Colour and name of what a card is without a job."""

WIDE, TITLE = 36, 110
"""Signs of a row's name and of the title at most."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """The part of a run that the chart shows."""

    cards: list[str]
    """Names of the rows."""
    all_cards: int
    end_us: Micros
    all_us: Micros


def gantt(events: pd.DataFrame, title: str, since: str) -> Figure:
    """The chart of a trace of events (`GANTT_COLUMNS` of it); `since` is the day of the start.

    Where there are more cards or jobs than a chart can show, it shows the first, and says so.
    """
    pieces, shown = _cut(card_pieces(events))
    stays = pieces[pieces["state"] == "busy"].merge(stays_of(events), on=["job", "time_us"], how="left")
    stays = in_lanes(stays)
    kinds = list(dict.fromkeys(stays["class"].tolist()))
    colours = {kind: PALETTE[n] if n < len(PALETTE) else OTHERS for n, kind in enumerate(kinds)}
    figure = new_figure(12.0, 1.6 + max(0.25 * len(shown.cards), 0.25 * (min(len(kinds), 9) + 5)))
    axes = figure.add_subplot()
    axes.set_xlim(0, max(shown.end_us, 1) / DAY)
    axes.set_ylim(max(len(shown.cards), 1) - 0.5, -0.5)
    for state, (colour, _) in IDLE.items():
        ours = pieces[pieces["state"] == state]
        _bars(axes, ours["row"], ours["time_us"], ours["end_us"], colour)
    if (stays["half"] != HALF).any():  # beside the jobs of a shared card there is room
        busy = pieces[pieces["state"] == "busy"]
        _bars(axes, busy["row"], busy["time_us"], busy["end_us"], IDLE["free"][0])
    for kind, colour in colours.items():
        ours = stays[stays["class"] == kind]
        _bars(axes, ours["row"], ours["time_us"], ours["works_us"], _pale(colour), ours["half"])
        _bars(axes, ours["row"], ours["works_us"], ours["lost_from_us"], colour, ours["half"])
        _bars(axes, ours["row"], ours["lost_from_us"], ours["end_us"], LOST, ours["half"])
    _bars(axes, stays["row"], stays["time_us"], stays["end_us"], "none", stays["half"], edge="white")
    _numbers(axes, stays, shown.end_us)
    _describe(axes, shown, title, since)
    _legend(figure, colours, set(pieces["state"].tolist()))
    return figure


# --- what is shown ---


def _cut(cards: pd.DataFrame) -> tuple[pd.DataFrame, _Shown]:
    """What the chart has room for: the first cards, up to a time."""
    rows = cards.drop_duplicates("row")
    labels = [
        _label(str(offer), hourly=bool(hourly), card=int(card))
        for offer, hourly, card in zip(rows["offer"], rows["hourly"], rows["card"], strict=True)
    ]
    end_us = all_us = int(cards["time_us"].max()) if len(cards) else 0
    cards = cards[(cards["row"] < CARDS) & cards["end_us"].notna()]
    begins = np.sort(cards.loc[cards["state"] == "busy", "time_us"].to_numpy(dtype=np.int64))
    room = STAYS_A_CARD * min(len(labels), CARDS)
    if len(begins) > room:
        end_us = int(begins[room])
    return cards[cards["time_us"] < end_us], _Shown(labels[:CARDS], len(labels), end_us, all_us)


def _label(offer: str, *, hourly: bool, card: int) -> str:
    ending = f"{' by the hour' if hourly else ''}, {card}"
    short = offer if len(offer) + len(ending) <= WIDE else f"{offer[: WIDE - len(ending) - 1]}…"
    return f"{short}{ending}"


# --- how it is drawn ---


def _bars(
    axes: Axes,
    rows: pd.Series,
    begins: pd.Series,
    ends: pd.Series,
    colour: str,
    halves: pd.Series | None = None,
    edge: str = "none",
) -> None:
    """Bars of one colour; those without a length are left out."""
    row, begin, end = (_floats(column) for column in (rows, begins, ends))
    some = end > begin
    left, right, middle = begin[some] / DAY, end[some] / DAY, row[some]
    half = HALF if halves is None else _floats(halves)[some]
    corners = [(left, middle - half), (right, middle - half), (right, middle + half), (left, middle + half)]
    boxes = np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)
    width = 0.35 if edge != "none" else 0
    axes.add_collection(
        PolyCollection(list(boxes), facecolors=colour, edgecolors=edge, linewidths=width), autolim=False
    )


def _numbers(axes: Axes, stays: pd.DataFrame, end_us: Micros) -> None:
    """The number of the job in every bar that is wide enough for it."""
    begin, end = _floats(stays["time_us"]), np.minimum(_floats(stays["end_us"]), end_us)
    jobs = stays["job"].tolist()
    for job, row, left, right in zip(jobs, stays["row"].tolist(), begin, end, strict=True):
        text = str(int(job))
        if (right - left) / max(end_us, 1) > DIGIT * (len(text) + 1):
            axes.text(
                (left + right) / 2 / DAY, row, text, fontsize=6.5, ha="center", va="center",
                color="white", clip_on=True, fontweight="bold",
            ).set_in_layout(False)  # fmt: skip


def _describe(axes: Axes, shown: _Shown, title: str, since: str) -> None:
    axes.set_yticks(range(len(shown.cards)), shown.cards)
    for label in axes.get_yticklabels():
        of_user(label)
    grid(axes)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", labelsize=7.5, length=0)
    axes.set_xlabel(f"days since {since}", color=INK, fontsize=9)
    notes = []
    if shown.all_cards > len(shown.cards):
        notes.append(f"the first {len(shown.cards)} of {shown.all_cards:,} cards")
    if shown.end_us < shown.all_us:
        notes.append(f"the first {shown.end_us / DAY:,.3g} of {shown.all_us / DAY:,.4g} days")
    note = f"shown: {' and '.join(notes)}; numbers are jobs" if notes else "numbers are jobs"
    readable = "".join(sign if drawable(sign) else "?" for sign in plain(title))
    readable = readable if len(readable) <= TITLE else f"{readable[: TITLE - 1]}…"
    of_user(axes.set_title(f"{readable}\n{note}", loc="left", fontsize=10, color=INK))


def _legend(figure: Figure, colours: Mapping[str, str], states: Collection[str]) -> None:
    named = [(kind, colour) for kind, colour in colours.items() if colour != OTHERS]
    labels = [
        names([kind])[0] if drawable(plain(kind)) else f"kind {number} (named in the trace)"
        for number, (kind, _) in enumerate(named, start=1)
    ]
    entries = [(Patch(facecolor=colour), label) for (_, colour), label in zip(named, labels, strict=True)]
    if len(named) < len(colours):
        entries.append((Patch(facecolor=OTHERS), f"{len(colours) - len(named)} other kinds"))
    entries += [
        (Patch(facecolor=_pale(PALETTE[0])), "start-up or reload (pale)"),
        (Patch(facecolor=LOST), "work lost"),
        *((Patch(facecolor=colour), label) for state, (colour, label) in IDLE.items() if state in states),
        (Patch(facecolor="white", edgecolor="#b0b0b0"), "not leased"),
    ]
    name_legend(figure, [patch for patch, _ in entries], [label for _, label in entries])


def _pale(colour: str) -> str:
    red, green, blue = (round(255 * (0.55 + 0.45 * part)) for part in to_rgb(colour))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _floats(column: pd.Series) -> npt.NDArray[np.float64]:
    return column.to_numpy(dtype=np.float64, na_value=np.nan)
