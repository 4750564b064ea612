"""A real invoice as a CSV file or a workbook: which column means what, and the lines that it bills.

Files come from spreadsheets in English and Chinese: .xlsx; UTF-8 with and without a mark, UTF-16, GB18030;
commas, semicolons or tabs between the cells; sums at the foot that are no lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from sim.errors import InputError, Problem
from sim.experiments.invoice_cells import Span, amount, day, folded, span
from sim.experiments.invoice_csv import csv_rows_of
from sim.experiments.invoice_sheet import ZIP, sheet_rows
from sim.experiments.invoice_words import CATEGORY_WORDS, FIELDS, SAME_CURRENCY, SUMS

__all__ = ["BilledLine", "InvoiceFile", "read_invoice"]

LARGEST = 64 * 2**20
"""Bytes of an invoice that are read at most."""
SHOWN = 20
"""Problems that are told at most."""


@dataclass(frozen=True, slots=True)
class BilledLine:
    """One line of a real invoice; what it does not say is None or empty."""

    row: int
    """Row of the file's table, from 1."""
    line: int
    """Line of the file, or row of its sheet."""
    amount: Decimal
    """Without the tax that the row states beside it."""
    text: str = ""
    """What it bills, in its own words."""
    charge: int | None = None
    provider: str = ""
    offer: str = ""
    lease: str = ""
    category: str = ""
    """One of the ledger's, or empty: rent."""
    span: Span | None = None
    quantity: Decimal | None = None
    unit: str = ""
    unit_price: Decimal | None = None


@dataclass(frozen=True, slots=True)
class InvoiceFile:
    """All lines of the file, and what was seen beside them."""

    path: str
    lines: tuple[BilledLine, ...]
    columns: Mapping[str, str]
    """Field -> header that was read as it."""
    stated_total: Decimal | None
    """The last sum that the file states itself."""
    notes: tuple[str, ...]


def read_invoice(
    path: Path,
    columns: Mapping[str, str] | None = None,
    currency: str = "CNY",
    sheet: str | None = None,
) -> InvoiceFile:
    """Read a CSV file or an .xlsx workbook; `columns` maps fields to headers that their own words do not
    give away, `sheet` names the sheet of a workbook (default: the first).

    Raises InputError with every problem, each with its file, line and column.
    """
    shown = str(path)
    problems: list[Problem] = []
    notes: list[str] = []
    table = _rows(path, sheet, shown, problems, notes)
    header = next(table, None)
    if header is None:
        raise InputError(problems or [Problem("the invoice is empty: it has no header", shown)])
    places = _places(header[1], columns or {}, shown, header[0])
    reader = _Reader(shown, header[1], places, currency)
    lines: list[BilledLine] = []
    for row, (line, cells) in enumerate(table, 1):
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
    unread = [
        cell.strip() for place, cell in enumerate(header[1]) if place not in places.values() and cell.strip()
    ]
    notes += [f"Columns that are not read: {', '.join(unread)}."] if unread else []
    return InvoiceFile(shown, tuple(lines), found, reader.stated_total, tuple(notes))


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
    return csv_rows_of(data, shown, problems)


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


# -- Columns -------------------------------------------------------------------------------------------


def _places(header: Sequence[str], columns: Mapping[str, str], file: str, line: int) -> dict[str, int]:
    """Field -> position; InputError for what is missing, twice there or unknown."""
    names = [_header(cell) for cell in header]
    problems: list[Problem] = []
    places: dict[str, int] = {}
    for field, asked in columns.items():
        if field not in FIELDS:
            problems.append(
                Problem("an invoice has no such field", key="--column", value=field, known=tuple(FIELDS))
            )
        elif _header(asked) not in names:
            known = tuple(cell.strip() for cell in header)
            problems.append(Problem("the invoice has no such column", file, line, "--column", asked, known))
        else:
            places[field] = names.index(_header(asked))
    taken = set(places.values())
    for field, words in FIELDS.items():
        if field in columns:
            continue
        found = [place for place, name in enumerate(names) if name in words and place not in taken]
        if len(found) > 1:
            both = ", ".join(header[place].strip() for place in found)
            rule = f"several columns are read as {field}: say which with --column {field}=HEADER"
            problems.append(Problem(rule, file, line, value=both))
        elif found:
            places[field] = found[0]
    if not problems and "amount" not in places and "gross" not in places:
        rule = "an invoice needs a column of amounts: name it with --column amount=HEADER"
        known = tuple(cell.strip() for cell in header)
        problems.append(Problem(rule, file, line, known=known))
    if problems:
        raise InputError(problems)
    return places


def _header(cell: str) -> str:
    """A header to compare by: `Unit_Price (CNY)` is `unit price`."""
    name = folded(cell.removeprefix("'")).replace("_", " ").replace("：", ":")
    name = re.sub(r"\((?:cny|rmb)\)|\[[^\]]*\]", "", name)
    return name.strip(" :*")


# -- Rows ----------------------------------------------------------------------------------------------


@dataclass
class _Reader:
    """Turns rows of cells into lines."""

    file: str
    header: Sequence[str]
    places: Mapping[str, int]
    currency: str
    stated_total: Decimal | None = None

    def lines(self, row: int, line: int, cells: Sequence[str]) -> list[BilledLine]:
        """The line of a row, and its tax as a line of its own; none for a sum. InputError if it is wrong."""
        if len(cells) > len(self.header) and any(cell.strip() for cell in cells[len(self.header) :]):
            rule = f"a row has as many cells as the header, {len(self.header)}"
            raise InputError(Problem(rule, self.file, line, f"row {row}", len(cells)))
        values = {field: self._cell(cells, field) for field in self.places}
        problems: list[Problem] = []

        def read(field: str, reader: Callable[[str], Any]) -> Any:
            text = values.get(field, "")
            if not text:
                return None
            try:
                return reader(text)
            except ValueError as error:
                name = self.header[self.places[field]].strip()
                problems.append(Problem(str(error), self.file, line, f"row {row}, {name}", text))
                return None

        first = next((cell.strip() for cell in cells if cell.strip()), "")
        net, tax = _net_and_tax(read("amount", amount), read("gross", amount), read("tax", amount))
        if folded(first.removeprefix("'")).rstrip(":") in SUMS:
            if problems:
                raise InputError(problems)
            self.stated_total = None if net is None else net + (tax or 0)
            return []
        if net is None and not problems:
            name = self.header[self.places.get("amount", self.places.get("gross", 0))].strip()
            problems.append(Problem("a line needs an amount", self.file, line, f"row {row}, {name}", ""))
        found = BilledLine(
            row=row,
            line=line,
            amount=net or Decimal(0),
            text=_words(values),
            charge=read("charge", int),
            provider=values.get("provider", ""),
            offer=values.get("offer", ""),
            lease=values.get("lease", ""),
            category=_category(values),
            span=_span(read("period", span), read("start", day), read("end", day), read("month", span)),
            quantity=read("quantity", amount),
            unit=values.get("unit", ""),
            unit_price=read("unit_price", amount),
        )
        other = values.get("currency", "")
        if other and folded(other) not in (folded(self.currency), *SAME_CURRENCY.get(self.currency, ())):
            rule = f"the ledger is in {self.currency}, and the invoice must be too"
            name = self.header[self.places["currency"]].strip()
            problems.append(Problem(rule, self.file, line, f"row {row}, {name}", other))
        if problems:
            raise InputError(problems)
        if not tax:
            return [found]
        beside = replace(found, amount=tax, category="tax", quantity=None, unit_price=None, charge=None)
        return [found, replace(beside, text=f"tax on: {found.text}".strip())]

    def _cell(self, cells: Sequence[str], field: str) -> str:
        place = self.places[field]
        text = cells[place].strip() if place < len(cells) else ""
        return text[1:] if text[:1] == "'" and text[1:2] in ("=", "+", "-", "@", "'") else text


def _net_and_tax(
    net: Decimal | None, gross: Decimal | None, tax: Decimal | None
) -> tuple[Decimal | None, Decimal | None]:
    """Amount without tax, and the tax beside it; None where the row has no amount or no tax of its own."""
    if net is None and gross is None:
        return None, None
    if net is None and gross is not None:
        return gross - (tax or 0), tax
    if tax is None and gross is not None and net is not None:
        tax = gross - net
    return net, tax


def _span(period: Span | None, start: Any, end: Any, month: Span | None) -> Span | None:
    if start is not None:
        return Span(start, end)
    return period or month


def _words(values: Mapping[str, str]) -> str:
    return " ".join(values[field] for field in ("description", "offer", "lease") if values.get(field))


def _category(values: Mapping[str, str]) -> str:
    """The ledger's category that the row's own words name; empty for rent."""
    for field in ("category", "description", "offer"):
        words = folded(values.get(field, ""))
        if field == "category" and words in ("purchase", "usage"):
            return ""
        for category, pattern in CATEGORY_WORDS.items():
            if pattern.search(words):
                return category
    return ""
