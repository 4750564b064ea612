"""What a workbook's tables are made of, and where they stand, for the formulas that lead to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, TypeAlias

from openpyxl.utils import get_column_letter

__all__ = ["FORMATS", "WIDTHS", "Cell", "Column", "Formula", "Kind", "Part", "Table"]

Kind = Literal["text", "long", "money", "number", "share", "count", "day", "month", "time"]

FORMATS: Mapping[Kind, str] = {
    "text": "@",
    "long": "@",
    "money": "#,##0.00",
    "number": "#,##0.######",
    "share": "0.0%",
    "count": "0",
    "day": "yyyy-mm-dd",
    "month": "yyyy-mm",
    "time": "yyyy-mm-dd hh:mm",
}
WIDTHS: Mapping[Kind, int] = {
    "text": 22, "long": 90, "money": 17, "number": 15, "share": 15,
    "count": 9, "day": 12, "month": 10, "time": 17,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula, without `=`, and its value, which a reader that does not calculate shows."""

    text: str
    value: Decimal | int


Cell: TypeAlias = str | int | float | Decimal | date | datetime | Formula | None


@dataclass(frozen=True, slots=True)
class Column:
    """Head of a column and what stands in it."""

    title: str
    kind: Kind = "text"
    total: bool = False
    """Whether its sum stands above the head, as a formula."""


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of a table on one sheet."""

    sheet: str
    total_row: int
    first: int
    last: int
    """`first` - 1 where there are no rows."""


@dataclass(frozen=True, slots=True)
class Table:
    """Where the rows of a table stand in the book, for the formulas of others."""

    title: str
    columns: tuple[Column, ...]
    rows: int
    said: int
    """Lines above it."""
    parts: tuple[Part, ...]

    def cell(self, row: int, column: str) -> str:
        """Place of a cell by the number of its row in the table, from 0."""
        for part in self.parts:
            count = part.last - part.first + 1
            if row < count:
                return f"{_quoted(part.sheet)}!${self._letter(column)}${part.first + row}"
            row -= count
        msg = f"{self.title} has no row {row}"
        raise IndexError(msg)

    def sum_where(self, column: str, **criteria: str) -> str:
        """Sum of a column over the rows whose other columns equal these cells, all of numbers or dates.

        The names of the criteria are titles with `_` for spaces. Texts are no criteria: a text that
        begins with < or holds * would be read as a rule.
        """
        return "+".join(
            f"SUMIFS({self._range(part, column)}"
            + "".join(f",{self._range(part, key.replace('_', ' '))},{cell}" for key, cell in criteria.items())
            + ")"
            for part in self.parts
        )

    def _range(self, part: Part, column: str) -> str:
        letter = self._letter(column)
        return f"{_quoted(part.sheet)}!${letter}${part.first}:${letter}${max(part.first, part.last)}"

    def _letter(self, column: str) -> str:
        return get_column_letter([one.title for one in self.columns].index(column) + 1)


def _quoted(sheet: str) -> str:
    return "'" + sheet.replace("'", "''") + "'"
