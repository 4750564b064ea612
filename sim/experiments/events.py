"""The trace of events of one run: one row a change of state of a card or a job, in order of time.

Everything is worked out from the records of the run, so a run without a trace costs nothing more. A
piece of the trace at a time becomes a table; docs/events.md says what the columns and states mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from sim.experiments.clock import Clock
from sim.experiments.event_cards import card_rows
from sim.experiments.event_jobs import Stays, job_rows, pool_key
from sim.experiments.event_rows import (
    ENDS_JOB,
    ENDS_STAY,
    NO_LEASE,
    STATES,
    Flags,
    Ints,
    Rows,
    Texts,
    in_order,
    ints,
)
from sim.experiments.files import csv_text
from sim.model.scenario import Scenario
from sim.replication import RunResult
from sim.whole_file import whole_file

__all__ = ["SCHEMA", "Events", "write_events"]

SCHEMA = pa.schema(
    [
        pa.field("time_us", pa.int64(), nullable=False),
        pa.field("time", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("state", pa.string(), nullable=False),
        ("cause", pa.string()),
        ("job", pa.int64()),
        ("name", pa.string()),
        ("class", pa.string()),
        ("team", pa.string()),
        ("gpus", pa.int64()),
        ("offer", pa.string()),
        ("lease", pa.string()),
        ("machine", pa.int64()),
        ("card", pa.int64()),
        ("startup_us", pa.int64()),
        ("checkpoint_us", pa.int64()),
        ("work_us", pa.int64()),
        ("lost_us", pa.int64()),
        ("voided_card_us", pa.int64()),
        ("back_us", pa.int64()),
        ("progress", pa.float64()),
        ("deadline_us", pa.int64()),
    ]
)
"""The columns of a trace, the same for every run."""

PIECE = 1 << 16
"""Rows that become texts at a time, and rows of a group of the Parquet file."""

_ENDS_STAY = np.array([s.name in ENDS_STAY for s in STATES])
_ENDS_JOB = np.array([s.name in ENDS_JOB for s in STATES])
_BROKEN = np.array([s.name == "broken" for s in STATES])
_SUBMITTED = np.array([s.name == "submitted" for s in STATES])


class Events:
    """The trace of one run. `rows` holds it as numbers; tables are made from it piece by piece."""

    def __init__(self, result: RunResult, scenario: Scenario) -> None:
        self._result = result
        self._scenario = scenario
        self._texts, self._pools = Texts(), Texts()
        log = result.log
        for key in sorted({pool_key(lease.offer, burst=lease.lease < 0) for lease in log.leases}):
            self._pools.code(key)  # cards are numbered in the order of the offers' names
        stays = Stays(log, self._texts, self._pools)
        parts = job_rows(log, result.jobs, stays, self._texts)
        parts += card_rows(log, stays, self._texts, self._pools, len(log.jobs))
        self.rows: Rows = in_order(parts)

    def __len__(self) -> int:
        return len(self.rows)

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The trace, or some of its columns, in memory."""
        names = SCHEMA.names if columns is None else list(columns)
        schema = pa.schema([SCHEMA.field(name) for name in names])
        return pa.Table.from_batches(self.pieces(names), schema=schema)

    def pieces(self, columns: Sequence[str] = tuple(SCHEMA.names)) -> Iterator[pa.RecordBatch]:
        """The trace as a row of short tables."""
        schema = pa.schema([SCHEMA.field(name) for name in columns])
        for first in range(0, len(self.rows), PIECE):
            part = slice(first, first + PIECE)
            yield pa.RecordBatch.from_arrays([_COLUMNS[name](self, part) for name in columns], schema=schema)

    # --- what columns are made of -------------------------------------------------------------

    @cached_property
    def clock(self) -> Clock:
        """Local times."""
        return Clock(self._scenario, self._result.log.horizon_us)

    @cached_property
    def of_stays(self) -> dict[str, Ints]:
        """What a stay on cards was spent on, and its number of cards, in the order of the log."""
        stays = self._result.log.attempts
        names = ("startup_us", "checkpoint_us", "work_us", "lost_us", "voided_card_us")
        spent = {name: ints(getattr(stay, name) for stay in stays) for name in names}
        return {**spent, "gpus": ints(len(stay.cards) for stay in stays)}

    @cached_property
    def back(self) -> Ints:
        """When what failed works again, in the order of the log."""
        return ints(failure.back_us for failure in self._result.log.failures)

    @cached_property
    def of_jobs(self) -> dict[str, Any]:
        """Columns of the jobs that a trace repeats, in the order of the log."""
        log, jobs = self._result.log, self._result.jobs
        found = [jobs.jobs[record.job] for record in log.jobs]
        return {
            "job": ints(job.id for job in found),
            "name": pa.array([job.name for job in found], pa.string()),
            "class": pa.array([shape.name for shape in jobs.shapes], pa.string()),
            "shape": ints(job.shape for job in found),
            "team": pa.array([job.team for job in found], pa.string()),
            "deadline_us": ints(-1 if job.deadline_us is None else job.deadline_us for job in found),
            "progress": np.fromiter((record.progress for record in log.jobs), dtype=np.float64),
        }

    @cached_property
    def fixed_texts(self) -> dict[str, Any]:
        """The texts behind codes."""
        pools = [key.split("\n")[0] for key in self._pools.all]
        leases = max((lease.lease for lease in self._result.log.leases), default=-1) + 2
        return {
            "kind": pa.array([state.kind for state in STATES]),
            "state": pa.array([state.name for state in STATES]),
            "cause": pa.array(self._texts.all, pa.string()),
            "offer": pa.array(pools, pa.string()),
            "lease": pa.array(["burst", *(f"lease {number}" for number in range(leases - 1))]),
        }


def _numbers(values: Any, present: Flags) -> pa.Array:
    return pa.array(np.asarray(values), mask=~present)


def _taken(texts: pa.Array, codes: Any, present: Flags) -> pa.Array:
    places = pa.array(np.asarray(codes, dtype=np.int64), mask=~present)
    return texts.take(places) if len(texts) else pa.nulls(len(places), pa.string())


def _time(events: Events, part: slice) -> pa.Array:
    return events.clock.texts(events.rows.time[part])


def _text(name: str, column: str, shift: int = 0, empty: int = -1) -> Callable[[Events, slice], pa.Array]:
    """A column of texts behind the codes of a column of numbers."""

    def made(events: Events, part: slice) -> pa.Array:
        codes = getattr(events.rows, column)[part]
        return _taken(events.fixed_texts[name], codes + shift, codes != empty)

    return made


def _number(column: str) -> Callable[[Events, slice], pa.Array]:
    """A column of numbers as it is; -1 is empty."""

    def made(events: Events, part: slice) -> pa.Array:
        values = getattr(events.rows, column)[part]
        return _numbers(values.astype(np.int64), values >= 0)

    return made


def _of_job(name: str, states: Flags | None = None) -> Callable[[Events, slice], pa.Array]:
    """What is known of the row's job, on rows of some states."""

    def made(events: Events, part: slice) -> pa.Array:
        job = events.rows.job[part]
        present = job >= 0 if states is None else (job >= 0) & states[events.rows.state[part]]
        place = np.where(present, job, 0)
        known = events.of_jobs
        if name == "class":
            return _taken(known["class"], known["shape"][place] if len(known["shape"]) else place, present)
        if isinstance(known[name], pa.Array):
            return _taken(known[name], place, present)
        values = known[name][place] if len(known[name]) else np.zeros(len(place), known[name].dtype)
        return _numbers(values, present & (values >= 0))

    return made


def _of_stay(name: str, states: Flags = _ENDS_STAY) -> Callable[[Events, slice], pa.Array]:
    """What is known of the stay on cards, on rows of some states."""

    def made(events: Events, part: slice) -> pa.Array:
        stay, values = events.rows.stay[part], events.of_stays[name]
        present = (stay >= 0) & states[events.rows.state[part]]
        place = np.where(present, stay, 0)
        return _numbers(values[place] if len(values) else place.astype(np.int64), present)

    return made


def _back(events: Events, part: slice) -> pa.Array:
    present = _BROKEN[events.rows.state[part]]
    place = np.where(present, events.rows.stay[part], 0)
    return _numbers(events.back[place] if len(events.back) else place.astype(np.int64), present)


_COLUMNS: dict[str, Callable[[Events, slice], pa.Array]] = {
    "time_us": _number("time"),
    "time": _time,
    "kind": _text("kind", "state"),
    "state": _text("state", "state"),
    "cause": _text("cause", "cause"),
    "job": _of_job("job"),
    "name": _of_job("name"),
    "class": _of_job("class"),
    "team": _of_job("team"),
    "gpus": _of_stay("gpus", ~_BROKEN),
    "offer": _text("offer", "pool"),
    "lease": _text("lease", "lease", 1, NO_LEASE),
    "machine": _number("machine"),
    "card": _number("card"),
    "startup_us": _of_stay("startup_us"),
    "checkpoint_us": _of_stay("checkpoint_us"),
    "work_us": _of_stay("work_us"),
    "lost_us": _of_stay("lost_us"),
    "voided_card_us": _of_stay("voided_card_us"),
    "back_us": _back,
    "progress": _of_job("progress", _ENDS_JOB),
    "deadline_us": _of_job("deadline_us", _SUBMITTED),
}


def write_events(events: Events, path: Path) -> None:
    """Write a trace whole or not at all, as Parquet or CSV by the ending of the name.

    The same run gives the same bytes. Raises RunError where the file cannot be written.
    """
    write = _write_csv if path.suffix.lower() == ".csv" else _write_parquet
    with whole_file(path, "the events", "free some space or choose another --events FILE") as draft:
        write(events, draft)


def _write_parquet(events: Events, path: Path) -> None:
    with pq.ParquetWriter(path, SCHEMA) as writer:
        for piece in events.pieces():
            writer.write_batch(piece)


def _write_csv(events: Events, path: Path) -> None:
    kinds = {pa.int64(): pd.Int64Dtype(), pa.string(): pd.StringDtype()}
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(csv_text(SCHEMA.empty_table().to_pandas()))
        for piece in events.pieces():
            text = csv_text(piece.to_pandas(types_mapper=kinds.get))
            file.write(text[text.index("\n") + 1 :])
