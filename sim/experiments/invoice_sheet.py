"""An invoice as a sheet of an .xlsx workbook: its rows as the text that a CSV file would have.

Numbers are taken with the 15 digits that a spreadsheet keeps. A formula counts with the value that the file
was last calculated to, and how many there are is said; one without a value, or with an error, is refused.
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from itertools import zip_longest
from typing import Any

from sim.errors import InputError, Problem
from sim.workload.imports.workbook_parts import BROKEN, workbook_parts

__all__ = ["ZIP", "sheet_rows"]

ZIP = b"PK\x03\x04"
"""First bytes of a workbook."""
MOST_UNPACKED = 2**28
"""Bytes of an unpacked workbook at most."""
MOST_ROWS, MOST_COLUMNS = 200_000, 256
"""Of a sheet that is an invoice."""

_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
"""Parts of a number format that are no placeholders."""


def sheet_rows(
    data: bytes, sheet: str | None, file: str, problems: list[Problem], notes: list[str]
) -> Iterator[tuple[int, list[str]]]:
    """Rows with their numbers and cells; blank rows are passed over.

    Cells that cannot be read go to `problems`, what to know beside to `notes`. InputError for a workbook that
    is damaged or too large, or has no such sheet.
    """
    _check_size(data, file)
    found, formulas = [], 0
    number = 0
    try:
        with _opened(data, values=True) as shown, _opened(data, values=False) as written:
            name = _name(tuple(shown.sheetnames), sheet, file, notes)
            rows = (book[name].iter_rows(max_col=MOST_COLUMNS) for book in (shown, written))
            for number, (cells, sources) in enumerate(zip_longest(*rows, fillvalue=()), 1):
                if number > MOST_ROWS:
                    raise InputError(Problem(f"an invoice has at most {MOST_ROWS:,} rows", file))
                texts, made = _texts(cells, sources, number, file, problems)
                formulas += made
                if any(text.strip() for text in texts):
                    found.append((number, texts))
    except BROKEN as error:
        what = " ".join(str(error).split())[:200]
        rule = f"the workbook cannot be read on: {type(error).__name__} {what}"
        raise InputError(Problem(rule, file, number or None)) from None
    if formulas:
        notes.append(
            f"Formulas: {formulas:,} cells of the sheet, read with the values that the file was last "
            "calculated to."
        )
    return iter(found)


def _check_size(data: bytes, file: str) -> None:
    if sum(part.file_size for part in workbook_parts(io.BytesIO(data), file)) > MOST_UNPACKED:
        raise InputError(Problem("the workbook is too large: save the sheet as CSV", file))


@contextlib.contextmanager
def _opened(data: bytes, values: bool) -> Iterator[Any]:
    """The workbook with the values of its formulas, or with the formulas themselves."""
    import openpyxl  # here: it takes long to import, and few invoices are workbooks

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # styles and extensions are of no interest here
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=values)
        try:
            yield book
        finally:
            book.close()


def _name(names: tuple[str, ...], asked: str | None, file: str, notes: list[str]) -> str:
    if asked is not None and asked not in names:
        raise InputError(Problem("the workbook has no such sheet", file, None, "--sheet", asked, names))
    if asked is None and len(names) > 1:
        notes.append(f"Only the first sheet is read, {names[0]!r}; another one is named by --sheet.")
    return asked or names[0]


def _texts(
    cells: Sequence[Any], sources: Sequence[Any], row: int, file: str, problems: list[Problem]
) -> tuple[list[str], int]:
    """The cells of a row as text, without blank ones at its end, and how many of them are formulas."""
    texts: list[str] = []
    formulas = 0
    for place, (cell, source) in enumerate(zip_longest(cells, sources), 1):
        made = source is not None and source.data_type == "f"
        formulas += made
        if cell is not None and cell.data_type == "e":
            rule = "a cell with an error has no value: mend it in the spreadsheet"
            problems.append(Problem(rule, file, row, f"column {place}", str(cell.value)))
        elif made and (cell is None or cell.value is None):
            rule = "a formula without a value: save the workbook in a spreadsheet, or write the value"
            problems.append(Problem(rule, file, row, f"column {place}", str(source.value)))
        texts.append("" if cell is None else _text(cell))
    while texts and not texts[-1].strip():
        texts.pop()
    return texts, formulas


def _text(cell: Any) -> str:
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, datetime | date):
        # A month is written as its first day, and shown without a day.
        shown = _QUOTED.sub("", str(cell.number_format)).lower()
        return f"{value:%Y-%m}" if "d" not in shown and value.day == 1 else f"{value:%Y-%m-%d}"
    if isinstance(value, time):
        return value.isoformat(timespec="seconds")
    if isinstance(value, float):
        return f"{Decimal(f'{value:.15g}'):f}"
    return str(value)
