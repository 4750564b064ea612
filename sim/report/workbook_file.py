"""An Excel file of tables: numbers with formats, formulas with their values, text that is no formula.

The bytes follow from the contents alone: no time of writing is in the file. Rows go to the disk as
they come, so that a million of them need little memory; what does not fit on a sheet goes on on the
next one, with a note on both.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter
from openpyxl.utils.exceptions import WorkbookAlreadySaved
from openpyxl.writer.excel import ExcelWriter

from sim.experiments.files import harmless
from sim.report.workbook_table import FORMATS, WIDTHS, Cell, Column, Formula, Part, Table
from sim.report.workbook_zip import WorkbookArchive
from sim.whole_file import whole_file

__all__ = ["MOST_ROWS", "Book"]

MOST_ROWS = 1_000_000
"""Rows of a sheet, its head included; Excel ends at 1,048,576."""

LONGEST_TEXT = 32_767
"""Signs of a cell that Excel keeps."""

NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Signs that no XML file may hold."""

FIXED = datetime(2000, 1, 1)  # noqa: DTZ001 - stands where a file format wants some time


@dataclass
class Book:
    """A workbook that is written sheet by sheet, in the order of `add`."""

    most_rows: int = MOST_ROWS
    _workbook: Workbook = field(default_factory=lambda: Workbook(write_only=True))
    _values: dict[str, dict[str, Decimal | int]] = field(default_factory=dict)
    """File of a sheet -> cell -> value of its formula."""

    def place(self, title: str, columns: Sequence[Column], rows: int, said: int = 0) -> Table:
        """Where so many rows will stand under so many lines, split over as many sheets as they need."""
        head = said + 4  # title, what is said, note of a split, totals, head of the columns
        room = self.most_rows - head
        parts = tuple(
            Part(_title(title, number), head - 1, head + 1, head + min(room, rows - number * room))
            for number in range(max(1, -(-rows // room)))
        )
        return Table(title, tuple(columns), rows, said, parts)

    def add(
        self,
        table: Table,
        rows: Sequence[Sequence[Cell]],
        said: Sequence[str | Sequence[Cell]] = (),
    ) -> None:
        """Write the sheets of a table; `said` stands above: sentences, or rows of cells."""
        if (len(rows), len(said)) != (table.rows, table.said):
            msg = f"{table.title} was planned with other rows"
            raise ValueError(msg)
        first = 0
        for part in table.parts:
            end = first + part.last - part.first + 1
            here = rows if len(table.parts) == 1 else _Slice(rows, first, end)
            note = _split_note(table, part, first + 1, end)
            self._sheet(part, table.title, table.columns, here, [*said, note])
            first = end

    @property
    def sheets(self) -> tuple[str, ...]:
        """Names of the sheets that were added."""
        return tuple(self._workbook.sheetnames)

    def save(self, path: Path) -> None:
        """Write the file, whole or not at all; RunError where that is not possible."""
        properties = self._workbook.properties
        properties.creator, properties.created, properties.modified = "fleetsim", FIXED, FIXED
        choose = "free some space or choose another -o FILE"
        try:
            with (
                whole_file(path, "the workbook", choose) as draft,
                WorkbookArchive(draft, self._values) as archive,
            ):
                ExcelWriter(self._workbook, archive).save()
        finally:
            for sheet in self._workbook.worksheets:
                with contextlib.suppress(WorkbookAlreadySaved):
                    sheet.close()  # frees its temporary file where the book could not be written

    def _sheet(
        self,
        part: Part,
        title: str,
        columns: Sequence[Column],
        rows: Sequence[Sequence[Cell]],
        said: Sequence[str | Sequence[Cell]],
    ) -> None:
        sums = [_sum(rows, position) if column.total else None for position, column in enumerate(columns)]
        sheet: Any = self._workbook.create_sheet(part.sheet)
        values = self._values.setdefault(f"xl/worksheets/sheet{len(self._workbook.worksheets)}.xml", {})
        sheet.freeze_panes = f"A{part.first}"
        for position, column in enumerate(columns, 1):
            width = max(WIDTHS[column.kind], min(30, len(column.title) + 3))
            sheet.column_dimensions[get_column_letter(position)].width = width
        bold, wrapped = Font(bold=True), Alignment(wrap_text=True, vertical="top")
        sheet.append([_styled(sheet, title, font=Font(bold=True, size=14))])
        for row_number, line in enumerate(said, 2):
            cells = [line] if isinstance(line, str) else line
            sheet.append([_plain(sheet, cell) for cell in cells])
            for position, value in enumerate(cells, 1):
                if isinstance(value, Formula):
                    values[f"{get_column_letter(position)}{row_number}"] = value.value
        sheet.append(_totals(sheet, part, columns, sums, values))
        sheet.append([_styled(sheet, column.title, font=bold, alignment=wrapped) for column in columns])
        if rows:
            last = get_column_letter(len(columns))
            sheet.auto_filter.ref = f"A{part.first - 1}:{last}{part.last}"
        reused: list[Any] = [WriteOnlyCell(sheet) for _ in columns]
        for cell, column in zip(reused, columns, strict=True):
            cell.number_format = FORMATS[column.kind]
        letters = [get_column_letter(position) for position in range(1, len(columns) + 1)]
        for number, row in enumerate(rows, part.first):
            for cell, letter, value in zip(reused, letters, row, strict=True):
                _fill(cell, value)
                if isinstance(value, Formula):
                    values[f"{letter}{number}"] = value.value
            sheet.append(reused)


def _totals(
    sheet: Any,
    part: Part,
    columns: Sequence[Column],
    sums: Sequence[Decimal | None],
    values: dict[str, Decimal | int],
) -> list[Any]:
    """The row of sums; its first cell says what it is, where that column has no sum."""
    cells: list[Any] = []
    bold, last = Font(bold=True), max(part.first, part.last)
    labelled = any(total is not None for total in sums)
    for position, (column, total) in enumerate(zip(columns, sums, strict=True), 1):
        if total is None:
            cells.append(_styled(sheet, "Total", font=bold) if position == 1 and labelled else None)
            continue
        letter = get_column_letter(position)
        cell = _styled(sheet, "", font=bold, number_format=FORMATS[column.kind])
        cell.value = f"=SUM({letter}{part.first}:{letter}{last})"
        values[f"{letter}{part.total_row}"] = total
        cells.append(cell)
    return cells


def _sum(rows: Sequence[Sequence[Cell]], position: int) -> Decimal:
    return sum((_amount(row[position]) for row in rows), Decimal(0))


def _amount(value: Cell) -> Decimal:
    if isinstance(value, Formula):
        value = value.value
    if isinstance(value, int | Decimal):
        return Decimal(value)
    if value is None:
        return Decimal(0)
    msg = f"a column with a total holds whole numbers and decimals, not {value!r}"
    raise TypeError(msg)


def _fill(cell: Any, value: Cell) -> None:
    """Put a value into a cell, text always as text."""
    if isinstance(value, str):
        cell.value = _text(value)
        cell.data_type = "s"  # also where the text looks like an error, such as #REF!
    elif isinstance(value, Formula):
        cell.value = f"={value.text}"
    elif isinstance(value, datetime):
        kept = cell.number_format  # which openpyxl replaces by its own when it sees a time
        cell.value, cell.number_format = value.replace(tzinfo=None), kept
    elif isinstance(value, date):
        kept = cell.number_format
        cell.value, cell.number_format = value, kept
    else:
        cell.value = value


def _plain(sheet: Any, value: Cell) -> Any:
    cell = WriteOnlyCell(sheet)
    if isinstance(value, Decimal | Formula):
        cell.number_format = FORMATS["money"]
    _fill(cell, value)
    return cell


def _styled(sheet: Any, text: str, **style: Any) -> Any:
    cell = WriteOnlyCell(sheet)
    _fill(cell, text)
    for name, value in style.items():
        setattr(cell, name, value)
    return cell


def _text(text: str) -> str:
    """The text without signs that XML cannot hold, no formula, cut to what a cell takes."""
    text = NOT_XML.sub("\N{REPLACEMENT CHARACTER}", harmless(text).replace("\r\n", "\n").replace("\r", "\n"))
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 3]}..."


def _title(title: str, number: int) -> str:
    return title if number == 0 else f"{title} {number + 1}"


def _split_note(table: Table, part: Part, first: int, last: int) -> str:
    if len(table.parts) == 1:
        return ""
    following = table.parts[table.parts.index(part) + 1 :]
    more = f"; they go on on the sheet {following[0].sheet}" if following else ""
    rows = f"Rows {first:,} to {last:,} of {table.rows:,}, for a sheet holds no more{more}."
    return f"{rows} The total is of this sheet alone."


class _Slice(Sequence[Sequence[Cell]]):
    """Some rows of many, without a copy of them."""

    def __init__(self, rows: Sequence[Sequence[Cell]], first: int, end: int) -> None:
        self._rows, self._range = rows, range(first, end)

    def __len__(self) -> int:
        return len(self._range)

    def __getitem__(self, place: Any) -> Any:
        return self._rows[self._range[place]]
