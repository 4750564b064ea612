"""Job traces: recorded jobs with their run times, read from a file.

Each wrong cell is one problem with file, line, column, rule and value. Times are read as decimal
text, so that 22159.6 s is 22,159,600,000 microseconds and not nearly so.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from sim.errors import InputError, Problem
from sim.units import SECOND, Micros

__all__ = ["COLUMNS", "FORMATS", "TraceRow", "parse_csv", "read_trace"]

_MOST_SECONDS = Decimal(10**11)
_MOST_PROBLEMS = 20
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "'")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_REQUIRED = ("submit_s", "gpus", "runtime_s")


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One recorded job; the order of rows is by submission, ties by their place in the file."""

    row: int
    """Place among the rows of the file, from 1, without the header."""
    line: int
    """Line of the file, from 1."""
    name: str
    submit_us: Micros
    """From the scenario's start."""
    gpus: int
    runtime_us: Micros
    """With start-up, without time in the queue."""
    memory_gib: float | None = None
    """GiB a card, held against the card's nominal memory; None: fits any card."""
    team: str = ""
    deadline_us: Micros | None = None
    """Allowed time from submission to end."""
    priority: int = 0
    gpu: str | None = None
    """The card id that the job insists on."""
    limit_us: Micros | None = None
    """User's time limit; None: not given."""
    spans: bool | None = None
    """Whether the job's cards may stand in several machines; None: as the scenario says."""
    runtime_gpu: str | None = None
    """Card on which the run time was measured; None: as the scenario says."""


def read_trace(path: Path) -> tuple[TraceRow, ...]:
    """Read a trace; the ending of the file's name decides the format.

    Raises InputError with every problem found (the first 20, and the number of the others).
    """
    parse = FORMATS.get(path.suffix.lower())
    if parse is None:
        rule = "the ending of a trace file says its format"
        raise InputError(Problem(rule, file=str(path), value=path.suffix, known=tuple(FORMATS)))
    try:
        data = path.read_bytes()
    except OSError as error:
        rule = f"the trace cannot be read: {error.strerror or error}"
        raise InputError(Problem(rule, file=str(path))) from None
    return parse(_text(data, str(path)), str(path))


def _text(data: bytes, file: str) -> str:
    """By byte order mark, else UTF-8, else GB18030 (a Chinese Excel's own), as such files are met."""
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ["utf-16"] if marked else ["utf-8-sig", "gb18030"]:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InputError(Problem("a trace is text in UTF-8 (or UTF-16 or GB18030)", file=file))


def parse_csv(text: str, file: str) -> tuple[TraceRow, ...]:
    """Rows of a CSV text with a header; `file` is named in the problems."""
    problems: list[Problem] = []
    lines = _records(text, file, problems)
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
        raise InputError(_shortened(problems, file))
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


def _records(text: str, file: str, problems: list[Problem]) -> Iterator[tuple[int, list[str]]]:
    """Lines with their cells; blank lines are passed over, a broken line ends the reading."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
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
        raise InputError(Problem("the columns of a trace are parted by commas", file, line, value=names[0]))
    known = tuple(COLUMNS)
    problems = [
        Problem("unknown column", file, line, value=name, known=known)
        for name in names
        if name not in COLUMNS
    ]
    twice = sorted({name for name in names if name in COLUMNS and names.count(name) > 1})
    problems += [Problem("a column may stand only once", file, line, value=name) for name in twice]
    problems += [
        Problem(f"the column {name} is missing", file, line, value=", ".join(names), known=known)
        for name in _REQUIRED
        if name not in names
    ]
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
        if not text and column not in _REQUIRED:
            continue
        field, read = COLUMNS[column]
        try:
            values[field] = read(text)
        except ValueError as error:
            problems.append(place.problem(str(error), column, text))
    return values


def _shortened(problems: list[Problem], file: str) -> list[Problem]:
    if len(problems) <= _MOST_PROBLEMS:
        return problems
    more = Problem(f"and {len(problems) - _MOST_PROBLEMS} more problems in this trace", file)
    return [*problems[:_MOST_PROBLEMS], more]


def _decimal(text: str) -> Decimal:
    if not _NUMBER.fullmatch(text):
        msg = "must be a finite number, such as 3600 or 22159.6"
        raise ValueError(msg)
    return Decimal(text)


def _seconds(text: str) -> Micros:
    value = _decimal(text)
    if not 0 <= value <= _MOST_SECONDS:
        msg = "must be a time of at least 0 s (and below 3,000 years)"
        raise ValueError(msg)
    return int((value * SECOND).to_integral_value(ROUND_HALF_UP))


def _some_seconds(text: str) -> Micros:
    if (micros := _seconds(text)) == 0:
        msg = "must be a time above 0 s"
        raise ValueError(msg)
    return micros


def _whole(text: str) -> int:
    value = _decimal(text)
    if abs(value) > 10**9 or value != value.to_integral_value():
        msg = "must be a whole number"
        raise ValueError(msg)
    return int(value)


def _cards(text: str) -> int:
    if not 1 <= (count := _whole(text)) <= 100_000:
        msg = "must be a whole number of cards, at least 1 and at most 100,000"
        raise ValueError(msg)
    return count


def _gib(text: str) -> float:
    value = float(_decimal(text))
    if not 0 < value <= 1e6:
        msg = "must be a number of GiB above 0"
        raise ValueError(msg)
    return value


def _yes_no(text: str) -> bool:
    try:
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]
    except KeyError:
        msg = "must be true or false"
        raise ValueError(msg) from None


def _text_cell(text: str) -> str:
    """A text, without the apostrophe that exports put before what looks like a formula."""
    return text[1:] if text[:1] == "'" and text[1:2] in FORMULA_STARTS else text


COLUMNS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "submit_s": ("submit_us", _seconds),
    "gpus": ("gpus", _cards),
    "runtime_s": ("runtime_us", _some_seconds),
    "id": ("name", _text_cell),
    "memory_gib": ("memory_gib", _gib),
    "team": ("team", _text_cell),
    "deadline_s": ("deadline_us", _some_seconds),
    "priority": ("priority", _whole),
    "gpu": ("gpu", str),
    "limit_s": ("limit_us", _some_seconds),
    "spans": ("spans", _yes_no),
    "runtime_gpu": ("runtime_gpu", str),
}
"""Column -> field of TraceRow and reader of a cell; a new column is a row here and a field there."""

FORMATS: Mapping[str, Callable[[str, str], tuple[TraceRow, ...]]] = {".csv": parse_csv}
"""Ending of the file's name -> reader of its text; a new format is a function and a row here."""
