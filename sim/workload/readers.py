"""Job traces: recorded jobs with their run times, read from a file.

Each wrong cell is one problem with file, line, column, rule and value.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.errors import InputError, Problem
from sim.workload.trace_rows import COLUMNS, REQUIRED, TraceRow, column_problems, shortened
from sim.workload.western import WESTERN, is_western

__all__ = ["COLUMNS", "FORMATS", "TraceRow", "csv_records", "parse_csv", "read_trace"]


_IMPORT = "run `fleetsim workload import FILE -o jobs.parquet` on any other table, and name jobs.parquet"


def read_trace(path: Path) -> tuple[TraceRow, ...]:
    """Read a trace; the ending of the file's name decides the format.

    Raises InputError with every problem found (the first 20, and the number of the others).
    """
    parse = FORMATS.get(path.suffix.lower())
    if parse is None:
        rule = f"the ending of a trace file says its format; {_IMPORT}"
        raise InputError(Problem(rule, file=str(path), value=path.suffix, known=tuple(FORMATS)))
    return parse(path)


def _read_parquet(path: Path) -> tuple[TraceRow, ...]:
    from sim.workload.readers_parquet import read_parquet  # here: pyarrow takes long to import

    return read_parquet(path)


def _read_csv(path: Path) -> tuple[TraceRow, ...]:
    try:
        data = path.read_bytes()
    except OSError as error:
        rule = f"the trace cannot be read: {error.strerror or error}"
        raise InputError(Problem(rule, file=str(path))) from None
    return parse_csv(_text(data, str(path)), str(path))


def _text(data: bytes, file: str) -> str:
    """By byte order mark, else UTF-8, else GB18030 or cp1252 (Chinese and Western Excels' own)."""
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ["utf-16"] if marked else ["utf-8-sig", WESTERN if is_western([data]) else "gb18030"]:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InputError(Problem("a trace is text in UTF-8 (or UTF-16, GB18030 or cp1252)", file=file))


def parse_csv(text: str, file: str) -> tuple[TraceRow, ...]:
    """Rows of a CSV text with a header; `file` is named in the problems."""
    problems: list[Problem] = []
    lines = csv_records(text, file, problems)
    header = next(lines, None)
    if header is None:
        raise InputError(problems or [Problem("the trace is empty: it has no header", file=file)])
    columns = _columns(header[1], file, header[0])
    rows: list[TraceRow] = []
    seen: dict[str, int] = {}
    for number, (line, cells) in enumerate(lines, start=1):
        before = len(problems)
        values = _values(columns, cells, _Place(file, line, number), problems)
        name = values.get("name") or f"trace-{number:06d}"
        first = seen.setdefault(name, line)
        if first != line:
            rule = f"every job needs an id of its own; the one in line {first} has this id too"
            problems.append(Problem(rule, file, line, f"row {number}, id", name))
        if len(problems) == before:
            rows.append(TraceRow(**{**values, "row": number, "line": line, "name": name}))
    if problems:
        raise InputError(shortened(problems, file))
    if not rows:
        raise InputError(Problem("the trace is empty: it has a header and no jobs", file=file))
    return tuple(sorted(rows, key=lambda row: row.submit_us))


@dataclass(frozen=True, slots=True)
class _Place:
    file: str
    line: int
    row: int

    def problem(self, rule: str, column: str | None, value: object) -> Problem:
        key = f"row {self.row}" + ("" if column is None else f", {column}")
        return Problem(rule, self.file, self.line, key, value)


def csv_records(
    text: str, file: str, problems: list[Problem], separator: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Lines with their cells; blank lines are passed over; a broken line is a problem and the last one."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    before = 0
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.append(Problem(f"this is not valid CSV: {error}", file, before + 1))
            return
        line, before = before + 1, reader.line_num
        if any(cell.strip() for cell in cells):
            yield line, cells


def _columns(header: Sequence[str], file: str, line: int) -> list[str]:
    names = [cell.strip() for cell in header]
    if len(names) == 1 and (";" in names[0] or "\t" in names[0]):
        rule = f"the columns of a trace are parted by commas; {_IMPORT}"
        raise InputError(Problem(rule, file, line, value=names[0]))
    problems = column_problems(names, file, line)
    if len(set(REQUIRED) - set(names)) > 1:  # one may be a slip of the pen
        problems.append(Problem(f"this is no trace yet; {_IMPORT}", file, line))
    if problems:
        raise InputError(problems)
    return names


def _values(columns: list[str], cells: list[str], place: _Place, problems: list[Problem]) -> dict[str, Any]:
    """Fields of a TraceRow; what is wrong is added to `problems`."""
    if len(cells) != len(columns):
        rule = f"a row has as many cells as the header, {len(columns)}"
        problems.append(place.problem(rule, None, len(cells)))
        return {}
    values: dict[str, Any] = {}
    for column, cell in zip(columns, cells, strict=True):
        text = cell.strip()
        if not text and column not in REQUIRED:
            continue
        field, read = COLUMNS[column]
        try:
            values[field] = read(text)
        except ValueError as error:
            problems.append(place.problem(str(error), column, text))
    return values


FORMATS: Mapping[str, Callable[[Path], tuple[TraceRow, ...]]] = {".csv": _read_csv, ".parquet": _read_parquet}
"""Ending of the file's name -> its reader; a new format is a function and a row here."""
