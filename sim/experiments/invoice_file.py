"""A real invoice as a CSV file or a workbook: which column means what, and the lines that it bills.

Files come from spreadsheets in English and Chinese: .xlsx; UTF-8 with and without a mark, UTF-16, GB18030;
commas, semicolons or tabs between the cells; sums at the foot that are no lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from sim.errors import InputError, Problem
from sim.experiments.invoice_columns import check_currency, is_loose, places_of, unread
from sim.experiments.invoice_csv import csv_rows_of
from sim.experiments.invoice_forms import forms_of
from sim.experiments.invoice_rows import BilledLine, RowReader
from sim.experiments.invoice_sheet import ZIP, sheet_rows

__all__ = ["BilledLine", "InvoiceFile", "read_invoice"]

LARGEST = 64 * 2**20
"""Bytes of an invoice that are read at most."""
SHOWN = 20
"""Problems that are told at most."""


@dataclass(frozen=True, slots=True)
class InvoiceFile:
    """All lines of the file, and what was seen beside them."""

    path: str
    lines: tuple[BilledLine, ...]
    columns: Mapping[str, str]
    """Field -> header that was read as it."""
    stated_total: Decimal | None
    """The last sum that the file states itself."""
    unread: tuple[str, ...]
    """Headers of the columns that are not read."""
    notes: tuple[str, ...]
    maybe_of_invoice: bool = False
    """Whether the days of the lines may be those of the invoice: their column says `Date` and no more."""

    @property
    def unread_note(self) -> str:
        """The sentence on the columns that are not read; empty where all are."""
        names = ", ".join(self.unread)
        return f"Columns that are not read: {names}{'' if names.endswith('.') else '.'}" if names else ""


def read_invoice(
    path: Path,
    columns: Mapping[str, str] | None = None,
    currency: str = "CNY",
    sheet: str | None = None,
    decimal: str | None = None,
    dates: str | None = None,
) -> InvoiceFile:
    """Read a CSV file or an .xlsx workbook; `columns` maps fields to headers that their own words do not
    give away, `sheet` names the sheet of a workbook (default: the first), `decimal` is the decimal sign of
    numbers and `dates` the order of `3/2/2026` (default: as the columns read and no other way).

    Raises InputError with every problem, each with its file, line and column.
    """
    shown = str(path)
    problems: list[Problem] = []
    notes: list[str] = []
    table = _rows(path, sheet, shown, problems, notes)
    header = next(table, None)
    if header is None:
        raise InputError(problems or [Problem("the invoice is empty: it has no header", shown)])
    rows = list(table)
    places = places_of(header[1], rows, columns or {}, shown, header[0])
    check_currency(header[1], places, currency, shown, header[0])
    forms = forms_of(rows, places, decimal, dates, shown)
    reader = RowReader(shown, header[1], places, currency, forms)
    lines: list[BilledLine] = []
    for row, (line, cells) in enumerate(rows, 1):
        try:
            lines += reader.lines(row, line, cells)
        except InputError as error:
            problems += error.problems
    if problems:
        more = len(problems) - SHOWN
        rest = [Problem(f"and {more:,} more problems", shown)] if more > 0 else []
        raise InputError([*problems[:SHOWN], *rest])
    if not lines:
        raise InputError(Problem("the invoice is empty: it has a header and no lines", shown))
    found = {field: header[1][place].strip() for field, place in places.items()}
    left = unread(header[1], places)
    notes += forms.notes
    maybe = "start" not in (columns or {}) and is_loose("start", found.get("start", ""))
    return InvoiceFile(shown, tuple(lines), found, reader.stated_total, left, tuple(notes), maybe)


# -- File ----------------------------------------------------------------------------------------------


def _rows(
    path: Path, sheet: str | None, shown: str, problems: list[Problem], notes: list[str]
) -> Iterator[tuple[int, list[str]]]:
    """Rows of the file that are not blank, with their lines; a workbook is known by its first bytes."""
    data = _bytes(path, shown)
    if data.startswith(ZIP):
        return sheet_rows(data, sheet, shown, problems, notes)
    if sheet is not None:
        rule = "a CSV file has no sheets; only an .xlsx workbook has"
        raise InputError(Problem(rule, shown, key="--sheet", value=sheet))
    return csv_rows_of(data, shown, problems, notes)


def _bytes(path: Path, shown: str) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise InputError(Problem("there is no such file", shown)) from None
    except OSError as error:
        raise InputError(Problem(f"the invoice cannot be read: {error.strerror}", shown)) from None
    if len(data) > LARGEST:
        raise InputError(Problem(f"an invoice has at most {LARGEST:,} bytes", shown))
    return data
