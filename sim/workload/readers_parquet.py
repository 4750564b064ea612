"""Traces in Parquet: the normal form of an import, or anyone's file with the columns of a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sim.errors import InputError, Problem
from sim.workload.normal import EXTRAS, micros_of, open_trace
from sim.workload.recorded_ends import lost_end
from sim.workload.trace_rows import (
    CARDS_RULE,
    COLUMNS,
    GIB_RULE,
    MOST_CARDS,
    MOST_GIB,
    SHARE_RULE,
    STATE_RULE,
    TraceRow,
    column_problems,
    shortened,
)

__all__ = ["read_parquet"]

_MOST_ROWS = 10_000_000
"""Jobs of a trace at most."""
_Checked = tuple[list[Any], Any, str]
"""Values, which of them are wrong, and the rule."""


def read_parquet(path: Path) -> tuple[TraceRow, ...]:
    """Rows of a trace by submission; jobs that the import found not fit for a replay are passed over.

    A row's line in messages is its number in the file. Raises InputError with every problem found.
    """
    file = str(path)
    with open_trace(path) as trace:
        if trace.rows > _MOST_ROWS:
            rule = f"a trace has at most {_MOST_ROWS:,} jobs"
            raise InputError(Problem(rule, file, value=trace.rows))
        problems = column_problems(trace.columns, file, None, EXTRAS)
        if problems:
            raise InputError(problems)
        table = trace.table((*COLUMNS, "left_out"))
    numbers = np.arange(1, len(table) + 1)
    if "left_out" in table.column_names:
        fit = pc.is_null(table.column("left_out")).combine_chunks()
        table, numbers = table.filter(fit), numbers[fit.to_numpy(zero_copy_only=False)]
    if not len(table):
        raise InputError(Problem("the trace is empty: it has no job that can be replayed", file))
    return _rows(table, numbers.tolist(), file)


def _rows(table: pa.Table, numbers: list[int], file: str) -> tuple[TraceRow, ...]:
    problems: list[Problem] = []
    fields: dict[str, list[Any]] = {}
    for name, (field, _) in COLUMNS.items():
        if name not in table.column_names:
            continue
        column = table.column(name)
        values, wrong, rule = _KINDS[name](column)
        for place in np.flatnonzero(wrong).tolist():
            key = f"row {numbers[place]}, {name}"
            problems.append(Problem(rule, file, numbers[place], key, column[place].as_py()))
        fields[field] = values
    names = fields.get("name", [None] * len(numbers))
    fields["name"] = [name or f"trace-{number:06d}" for name, number in zip(names, numbers, strict=True)]
    problems += _doubles(fields["name"], numbers, file)
    if problems:
        raise InputError(shortened(problems, file))
    fields |= {"row": numbers, "line": numbers}
    keys = tuple(fields)
    rows = (TraceRow(**dict(zip(keys, cells, strict=True))) for cells in zip(*fields.values(), strict=True))
    return tuple(sorted(rows, key=lambda row: row.submit_us))


def _doubles(names: Sequence[str], numbers: Sequence[int], file: str) -> list[Problem]:
    if len(set(names)) == len(names):
        return []
    seen: dict[str, int] = {}
    problems = []
    for name, number in zip(names, numbers, strict=True):
        first = seen.setdefault(name, number)
        if first != number:
            rule = f"every job needs an id of its own; the one in row {first} has this id too"
            problems.append(Problem(rule, file, number, f"row {number}, id", name))
    return problems


def _number(column: pa.ChunkedArray) -> Any:
    """A column as decimals; NaN for null, and throughout where it holds no numbers."""
    try:
        return pc.fill_null(pc.cast(column, pa.float64(), safe=False), np.nan).to_numpy()
    except pa.ArrowException:
        return np.full(len(column), np.inf)


def _time(least: int, needed: bool) -> Callable[[pa.ChunkedArray], _Checked]:
    rule = (
        "must be a time of at least 0 s (and below 3,000 years)" if least == 0 else "must be a time above 0 s"
    )

    def read(column: pa.ChunkedArray) -> _Checked:
        missing = pc.is_null(column).to_numpy()
        try:
            micros, wrong = micros_of(column)
        except pa.ArrowException:
            micros, wrong = np.zeros(len(column), dtype=np.int64), np.ones(len(column), dtype=bool)
        wrong = (wrong | (micros < least)) & (~missing | needed)
        if not missing.any():
            return micros.tolist(), wrong, rule
        return (
            [None if no else value for no, value in zip(missing.tolist(), micros.tolist(), strict=True)],
            wrong,
            rule,
        )

    return read


def _whole(low: int, high: int, default: int | None, rule: str) -> Callable[[pa.ChunkedArray], _Checked]:
    def read(column: pa.ChunkedArray) -> _Checked:
        values = _number(column)
        missing = pc.is_null(column).to_numpy()
        with np.errstate(invalid="ignore"):
            wrong = ~((values >= low) & (values <= high) & (values == np.floor(values)))
        wrong &= ~missing | (default is None)
        whole = np.where(wrong | missing, default or 0, values).astype(np.int64)
        return whole.tolist(), wrong, rule

    return read


def _above_zero(most: float, rule: str) -> Callable[[pa.ChunkedArray], _Checked]:
    def read(column: pa.ChunkedArray) -> _Checked:
        values = _number(column)
        missing = pc.is_null(column).to_numpy()
        wrong = ~((values > 0) & (values <= most)) & ~missing
        return (
            [None if no else v for no, v in zip(missing.tolist(), values.tolist(), strict=True)],
            wrong,
            rule,
        )

    return read


def _text(default: str | None) -> Callable[[pa.ChunkedArray], _Checked]:
    def read(column: pa.ChunkedArray) -> _Checked:
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        nothing = np.zeros(len(column), dtype=bool)
        if pa.types.is_null(kind):
            return [default] * len(column), nothing, ""
        if pa.types.is_nested(kind) or pa.types.is_binary(kind):
            return [default] * len(column), ~nothing, "must be a text"
        texts = column.cast(pa.string()).to_pylist()
        return [text or default for text in texts], nothing, ""

    return read


def _truth(column: pa.ChunkedArray) -> _Checked:
    nothing = np.zeros(len(column), dtype=bool)
    if pa.types.is_boolean(column.type) or pa.types.is_null(column.type):
        return column.to_pylist(), nothing, ""
    return [None] * len(column), ~nothing, "must be true or false"


def _state(column: pa.ChunkedArray) -> _Checked:
    """How jobs ended; each word is looked up once."""
    texts, wrong, rule = _text("")(column)
    ends: dict[str, str | None] = {}
    strange = set()
    for word in dict.fromkeys(texts):
        try:
            ends[word] = lost_end(word)
        except ValueError:
            strange.add(word)
    if strange:
        wrong = wrong | np.array([word in strange for word in texts], dtype=bool)
    return [ends.get(word) for word in texts], wrong, rule or STATE_RULE


_KINDS: Mapping[str, Callable[[pa.ChunkedArray], _Checked]] = {
    "submit_s": _time(0, needed=True),
    "gpus": _whole(1, MOST_CARDS, None, CARDS_RULE),
    "runtime_s": _time(1, needed=True),
    "id": _text(None),
    "memory_gib": _above_zero(MOST_GIB, GIB_RULE),
    "team": _text(""),
    "deadline_s": _time(1, needed=False),
    "priority": _whole(-(10**9), 10**9, 0, "must be a whole number"),
    "gpu": _text(None),
    "limit_s": _time(1, needed=False),
    "spans": _truth,
    "runtime_gpu": _text(None),
    "demand": _above_zero(1.0, SHARE_RULE),
    "state": _state,
}
"""Column of a trace -> reader of a whole column."""
