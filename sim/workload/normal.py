"""The normal form of recorded jobs: a Parquet file with the columns of a trace and what else was recorded.

Times are seconds in float64, which below 285 years holds every microsecond. A job that cannot be replayed
(it never started, asks for no card, ...) keeps its row, with the reason in `left_out`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sim.errors import InputError, Problem
from sim.units import SECOND
from sim.whole_file import whole_file
from sim.workload.trace_rows import MOST_SECONDS

__all__ = ["EXTRAS", "SCHEMA", "TraceFile", "open_trace", "write_trace"]

_TEXT = pa.dictionary(pa.int32(), pa.string())

SCHEMA = pa.schema(
    [
        ("submit_s", pa.float64()),
        ("gpus", pa.int64()),
        ("runtime_s", pa.float64()),
        ("id", pa.string()),
        ("memory_gib", pa.float64()),
        ("team", _TEXT),
        ("deadline_s", pa.float64()),
        ("priority", pa.int64()),
        ("gpu", _TEXT),
        ("limit_s", pa.float64()),
        ("spans", pa.bool_()),
        ("runtime_gpu", _TEXT),
        ("demand", pa.float64()),
        ("state", _TEXT),
        ("wait_s", pa.float64()),
        ("start_s", pa.float64()),
        ("end_s", pa.float64()),
        ("censored", _TEXT),
        ("attempts", pa.int64()),
        ("lost_s", pa.float64()),
        ("user", _TEXT),
        ("name", _TEXT),
        ("queue", _TEXT),
        ("card", _TEXT),
        ("card_share", pa.float64()),
        ("host_memory_gib", pa.float64()),
        ("line", pa.int64()),
        ("left_out", _TEXT),
    ]
)
"""Columns of the normal form; `docs/workloads.md` says what each means."""

EXTRAS = tuple(SCHEMA.names[SCHEMA.names.index("wait_s") :])
"""Columns beyond those of a trace."""

_KEY = b"fleetsim.trace"
_ROWS = 200_000
"""Rows written at a time."""


class TraceFile:
    """A Parquet file of recorded jobs, open for reading."""

    def __init__(self, path: Path, file: Any) -> None:
        self.path, self._file = path, file
        self.columns: tuple[str, ...] = tuple(file.schema_arrow.names)
        self.rows: int = file.metadata.num_rows
        self.about: Mapping[str, Any] = _about(file)
        """What the import said: origin, timezone, rows_read, remarks ...; empty for others' files."""

    def table(self, columns: tuple[str, ...] | None = None) -> pa.Table:
        """The columns that are there, of all rows; InputError where the file is damaged."""
        wanted = [name for name in self.columns if columns is None or name in columns]
        try:
            return self._file.read(columns=wanted)
        except (pa.ArrowException, OSError) as error:
            raise _damaged(self.path, error) from None


@contextlib.contextmanager
def open_trace(path: Path) -> Iterator[TraceFile]:
    """Open a Parquet file; InputError where it is none or cannot be read."""
    try:
        file = pq.ParquetFile(path)
    except FileNotFoundError:
        raise InputError(Problem("the file does not exist", str(path))) from None
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, error) from None
    try:
        yield TraceFile(path, file)
    finally:
        file.close()


def _damaged(path: Path, error: Exception) -> InputError:
    what = " ".join(str(error).split())[:160]
    return InputError(Problem(f"the trace cannot be read as Parquet: {what}", str(path)))


def _about(file: Any) -> Mapping[str, Any]:
    text = (file.schema_arrow.metadata or {}).get(_KEY)
    if text is None:
        return {}
    try:
        loaded = json.loads(text)
    except ValueError:
        return {}
    return loaded if isinstance(loaded, dict) else {}


def write_trace(jobs: pa.Table, about: Mapping[str, Any], path: Path) -> None:
    """Write jobs in the columns of `SCHEMA`, in the order of the rows, whole or not at all.

    Columns that `jobs` lacks are empty. Raises RunError where the file cannot be written.
    """
    text = json.dumps(about, ensure_ascii=False, allow_nan=False, sort_keys=True)
    schema = SCHEMA.with_metadata({_KEY: text.encode()})
    with (
        whole_file(path, "the jobs", "choose another -o FILE") as draft,
        pq.ParquetWriter(draft, schema, compression="zstd") as writer,
    ):
        for first in range(0, max(len(jobs), 1), _ROWS):
            piece = jobs.slice(first, _ROWS)
            columns = [_column(piece, field) for field in schema]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=_ROWS)


def _column(jobs: pa.Table, field: pa.Field) -> Any:
    if field.name not in jobs.column_names:
        return pa.nulls(len(jobs), field.type)
    return jobs.column(field.name).cast(field.type)


def micros_of(column: pa.ChunkedArray) -> tuple[Any, Any]:
    """Seconds of a column as whole microseconds, and which of them are no time (null, NaN, endless).

    Whole numbers and decimals are taken exactly, floats to the nearest microsecond.
    """
    values = pc.fill_null(pc.cast(column, pa.float64(), safe=False), np.nan).to_numpy()
    wrong = ~np.isfinite(values) | (np.abs(values) > MOST_SECONDS)
    return np.rint(np.where(wrong, 0.0, values) * SECOND).astype(np.int64), wrong
