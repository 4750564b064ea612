"""An invoice as CSV text: its encoding, what stands between its cells, and its rows."""

from __future__ import annotations

from collections.abc import Iterator

from sim.errors import InputError, Problem
from sim.workload.readers import csv_records
from sim.workload.western import WESTERN, is_western

__all__ = ["csv_rows_of"]


def csv_rows_of(
    data: bytes, file: str, problems: list[Problem], notes: list[str]
) -> Iterator[tuple[int, list[str]]]:
    """Lines with their cells; blank lines are passed over, a broken line ends the reading.

    What is broken goes to `problems`, what to know beside to `notes`. InputError for bytes that are no text.
    """
    text = _decoded(data, file, notes)
    yield from csv_records(text, file, problems, _separator(text))


def _decoded(data: bytes, file: str, notes: list[str]) -> str:
    """By byte order mark, else UTF-8, else as its bytes look: cp1252 (the Excel of Western Europe) or GB18030
    (a Chinese Excel's own)."""
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ["utf-16"] if marked else ["utf-8-sig", WESTERN, "gb18030"]:
        if encoding == WESTERN and not is_western([data]):
            continue
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            notes += [f"The file is taken as {WESTERN}, by its letters."] if encoding == WESTERN else []
            return text
    rule = (
        "an invoice is an .xlsx workbook or a CSV text in UTF-8, UTF-16 or GB18030 (or cp1252); save another "
        "spreadsheet as one of these first"
    )
    raise InputError(Problem(rule, file))


def _separator(text: str) -> str:
    """What stands most often in the first line: a comma, a semicolon or a tab."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return max((",", ";", "\t"), key=first.count)
