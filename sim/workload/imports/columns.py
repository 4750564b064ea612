"""The table of jobs in the making: Arrow columns with times in microseconds; some may be absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sim.workload.imports.cells import BAD, NA, Floats, Ints

__all__ = ["LONGEST_TEXT", "RAW", "changed", "codes", "floats", "ints", "joined", "table", "texts"]

LONGEST_TEXT = 1000
"""Signs of a name of a job, team, ... at most; longer ones are cut."""

_TIME, _TEXT = pa.int64(), pa.dictionary(pa.int32(), pa.string())

RAW: Mapping[str, pa.DataType] = {
    "line": pa.int64(),
    "id": pa.string(),
    "submit": _TIME,
    "start": _TIME,
    "end": _TIME,
    "wait": _TIME,
    "runtime": _TIME,
    "lost": _TIME,
    "limit": _TIME,
    "deadline": _TIME,
    "attempts": pa.int32(),
    "gpus": pa.int32(),
    "priority": pa.int64(),
    "memory_gib": pa.float64(),
    "host_memory_gib": pa.float64(),
    "card_share": pa.float64(),
    "demand": pa.float64(),
    "state": _TEXT,
    "censored": _TEXT,
    "team": _TEXT,
    "user": _TEXT,
    "name": _TEXT,
    "queue": _TEXT,
    "card": _TEXT,
    "gpu": _TEXT,
    "runtime_gpu": _TEXT,
    "spans": pa.bool_(),
}
"""Columns of the table in the making. Times are microseconds: moments since 1970 (or since an unknown
start), the others lengths. `runtime` is of the last attempt, `lost` of those before it."""


def table(columns: Mapping[str, Any]) -> pa.Table:
    """A table of these columns: numpy columns with NA, BAD or NaN become null; lists of text as they are."""
    arrays = {name: _array(values, RAW[name]) for name, values in columns.items()}
    return pa.table(arrays)


def _array(values: Any, kind: pa.DataType) -> pa.Array:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values if values.type == kind else pc.cast(values, kind)
    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        return pa.array(np.where(values <= BAD, 0, values), mask=values <= BAD).cast(kind)
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        return pa.array(values, mask=~np.isfinite(values)).cast(kind)
    if pa.types.is_dictionary(kind):
        return pa.array(values, type=pa.string()).dictionary_encode()
    return pa.array(values, type=kind)


def joined(pieces: list[pa.Table]) -> pa.Table:
    """All pieces as one table with one dictionary a column; `pieces` is emptied on the way."""
    whole = pa.concat_tables(pieces).unify_dictionaries()
    pieces.clear()
    made: dict[str, Any] = {}
    for name in whole.column_names:  # one by one, so that only one of them stands there twice
        made[name] = whole.column(name).combine_chunks()
        whole = whole.drop_columns([name])
    pa.default_memory_pool().release_unused()
    return pa.table(made)


def ints(jobs: pa.Table, name: str) -> Ints:
    """A column of whole numbers with NA for null; NA throughout where it is absent."""
    if name not in jobs.column_names:
        return np.full(len(jobs), NA, dtype=np.int64)
    column = jobs.column(name).cast(pa.int64())
    return np.array(pc.fill_null(column, NA).to_numpy(), dtype=np.int64)


def floats(jobs: pa.Table, name: str) -> Floats:
    """A column of decimals with NaN for null."""
    if name not in jobs.column_names:
        return np.full(len(jobs), np.nan)
    return np.asarray(pc.fill_null(jobs.column(name), np.nan).to_numpy(), dtype=np.float64)


def codes(jobs: pa.Table, name: str) -> Ints:
    """A column of text as numbers, the same for the same text; -1 for null."""
    if name not in jobs.column_names or not len(jobs):
        return np.full(len(jobs), -1, dtype=np.int64)
    return _codes(_encoded(jobs, name))


def texts(jobs: pa.Table, name: str) -> tuple[Ints, list[str]]:
    """A column of text with few values: `codes`, and the texts that they stand for."""
    if name not in jobs.column_names or not len(jobs):
        return np.full(len(jobs), -1, dtype=np.int64), []
    encoded = _encoded(jobs, name)
    return _codes(encoded), encoded.dictionary.to_pylist()


def _encoded(jobs: pa.Table, name: str) -> pa.DictionaryArray:
    column = jobs.column(name)
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    return whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()


def _codes(encoded: pa.DictionaryArray) -> Ints:
    filled = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    return np.asarray(filled, dtype=np.int64)


def changed(jobs: pa.Table, columns: Mapping[str, Any]) -> pa.Table:
    """The table with these columns in the place of its own, or added."""
    for name, values in columns.items():
        column = _array(values, RAW[name])
        place = jobs.schema.get_field_index(name)
        jobs = jobs.append_column(name, column) if place < 0 else jobs.set_column(place, name, column)
    return jobs
