"""A record of jobs as columns: what a workload is learned from and held against."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from sim.errors import InputError, Problem
from sim.model.timed import JobEnd
from sim.units import SECOND
from sim.workload.arrivals import Clock, Ints, make_clock
from sim.workload.recorded_ends import STATES, recorded_end

__all__ = ["STATES", "Record", "record_of"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Texts: TypeAlias = np.ndarray[Any, np.dtype[np.object_]]

_NEEDED = ("submit_s", "gpus", "runtime_s")


@dataclass(frozen=True, slots=True)
class _Columns:
    submit_s: Floats
    gpus: Ints
    runtime_s: Floats
    team: Texts
    state: Texts
    """`done`, `cancelled`, `failed`; `done` for cut runs too."""
    complete: Flags
    wait_s: Floats
    """NaN where not recorded."""
    user: Texts
    name: Texts
    """Of the job, which others may have as well; empty where not recorded."""


@dataclass(frozen=True)
class Record:
    """Jobs by time of submission; arrays of shape (n,), times in seconds from the start of the record."""

    columns: _Columns
    start: datetime
    """Local time of second 0."""
    zone: str
    length_s: float
    """Time under observation."""
    left_out: int = 0
    """Rows without a run: never started, or still waiting."""

    @property
    def submit_s(self) -> Floats:
        return self.columns.submit_s

    @property
    def gpus(self) -> Ints:
        return self.columns.gpus

    @property
    def runtime_s(self) -> Floats:
        return self.columns.runtime_s

    def __len__(self) -> int:
        return len(self.columns.submit_s)

    @cached_property
    def clock(self) -> Clock:
        """Quarters of an hour of the record, with local hours and weekdays."""
        begin = self.start.replace(tzinfo=ZoneInfo(self.zone))
        return make_clock(begin, round(self.length_s * SECOND), ZoneInfo(self.zone))

    @cached_property
    def cell(self) -> Ints:
        """The quarter of an hour of each job."""
        micros = np.rint(self.submit_s * SECOND).astype(np.int64)
        found = np.searchsorted(self.clock.edges, micros, side="right") - 1
        return np.clip(found, 0, len(self.clock.day) - 1)

    @property
    def load(self) -> float:
        """Cards busy on average over the record, were there always one free."""
        return float((self.gpus * self.runtime_s).sum()) / self.length_s

    def between(self, since_s: float, until_s: float | None) -> Record:
        """The jobs submitted in a window; times count from its beginning, runs are not cut."""
        end = self.length_s if until_s is None else min(until_s, self.length_s)
        inside = (self.submit_s >= since_s) & (self.submit_s < end)
        if end <= since_s or not inside.any():
            raise InputError(Problem("no job of the record is submitted in this window"))
        zone = ZoneInfo(self.zone)
        start = self.start.replace(tzinfo=zone).astimezone(UTC) + timedelta(seconds=since_s)
        kept = self.take(inside).columns
        return Record(
            replace(kept, submit_s=kept.submit_s - since_s),
            start.astimezone(zone).replace(tzinfo=None),
            self.zone,
            end - since_s,
            self.left_out,
        )

    def take(self, rows: Flags) -> Record:
        """The jobs of a mask, over the same time."""
        cut = {name: getattr(self.columns, name)[rows] for name in _Columns.__slots__}
        return replace(self, columns=_Columns(**cut))


def record_of(
    frame: pd.DataFrame, start: datetime, zone: str = "UTC", length_s: float | None = None
) -> Record:
    """A record from a table with the columns submit_s, gpus, runtime_s and optionally team, state, wait_s,
    user, name.

    `length_s` is the time under observation; default: to the last submission. Rows without a run time
    are left out and counted. Raises InputError for a missing column, an unknown state or no job.
    """
    missing = [name for name in _NEEDED if name not in frame]
    if missing:
        rule = f"the column {missing[0]} is missing"
        raise InputError(Problem(rule, value=", ".join(map(str, frame.columns)), known=_NEEDED))
    numbers = {name: pd.to_numeric(frame[name], errors="coerce").to_numpy(float) for name in _NEEDED}
    ran = (numbers["runtime_s"] > 0) & (numbers["gpus"] >= 1) & (numbers["submit_s"] >= 0)
    order = np.flatnonzero(ran)[np.argsort(numbers["submit_s"][ran], kind="stable")]
    if not len(order):
        raise InputError(Problem("the record holds no job with a run time, cards and a time of submission"))
    states = _texts(frame, "state", order)
    ends = {text: _end(text) for text in set(states.tolist())}
    submit = numbers["submit_s"][order]
    wait = frame["wait_s"] if "wait_s" in frame else pd.Series(np.nan, index=frame.index)
    columns = _Columns(
        submit_s=submit,
        gpus=numbers["gpus"][order].astype(np.int64),
        runtime_s=numbers["runtime_s"][order],
        team=_texts(frame, "team", order),
        state=np.array([ends[text] or "done" for text in states], dtype=object),
        complete=np.array([ends[text] is not None for text in states], dtype=bool)
        & (_texts(frame, "censored", order) == ""),
        wait_s=pd.to_numeric(wait, errors="coerce").to_numpy(float)[order],
        user=_texts(frame, "user", order),
        name=_texts(frame, "name", order),
    )
    length = max(float(submit[-1]) + 1, 1.0) if length_s is None else length_s
    return Record(columns, start, zone, length, left_out=len(frame) - len(order))


def _texts(frame: pd.DataFrame, name: str, order: Ints) -> Texts:
    if name not in frame:
        return np.full(len(order), "", dtype=object)
    return frame[name].astype(object).where(frame[name].notna(), "").astype(str).to_numpy(object)[order]


def _end(text: str) -> JobEnd | None:
    try:
        return recorded_end(text)
    except ValueError as error:
        raise InputError(Problem(str(error), key="state", value=text, known=tuple(STATES)[1:])) from None
