"""CSV and TSV: a header, quoted cells, the separating sign told by the header."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sized
from typing import Any

import numpy as np
import pyarrow as pa

from sim.errors import InputError, Problem
from sim.workload.imports.cells import strings
from sim.workload.imports.mapped import Block, Mapper
from sim.workload.imports.mapping import Plan, plan_for
from sim.workload.imports.settings import Settings
from sim.workload.imports.source import Source
from sim.workload.imports.tally import Tally

__all__ = ["MOST_COLUMNS", "Gathered", "check_columns", "read_csv", "read_tsv", "separator_of"]

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "pipes"}
ROWS = 40_000
"""Rows of a block, at most."""
SIGNS = 16 * 2**20
"""Signs of a block's cells, at most: rows of a megabyte make short blocks."""
MOST_COLUMNS = 1000
"""Columns of a table, at most."""


def separator_of(line: str) -> str:
    """The sign that parts the cells of a header: the one that stands most often outside of quotes."""
    bare = "".join(piece for place, piece in enumerate(line.split('"')) if place % 2 == 0)
    return max(SEPARATORS, key=bare.count)


def read_csv(source: Source, settings: Settings, tally: Tally) -> Iterator[pa.Table]:
    """Jobs of a table whose cells are parted by commas, semicolons, tabs or pipes."""
    header = next((line for line in source.head() if line.strip()), "")
    separator = separator_of(header)
    if separator != ",":
        tally.remark(f"Cells are parted by {SEPARATORS[separator]}.")
    return _read(source, settings, tally, separator)


def read_tsv(source: Source, settings: Settings, tally: Tally) -> Iterator[pa.Table]:
    """Jobs of a table whose cells are parted by tabs."""
    return _read(source, settings, tally, "\t")


def _read(source: Source, settings: Settings, tally: Tally, separator: str) -> Iterator[pa.Table]:
    rows = _records(source, separator, tally)
    line, header = next(rows, (0, []))
    columns = tuple(cell.strip() for cell in header)
    while columns and columns[-1] == "":
        columns = columns[:-1]
    if not columns:
        raise InputError(Problem("the table is empty: it has no header", source.name))
    check_columns(columns, source)
    plan = plan_for(columns, source.name, line, settings, tally)
    mapper = Mapper(plan, source.name, settings, tally)
    gathered = Gathered(columns, plan, tally)
    for number, cells in rows:
        gathered.add(number, cells)
        if gathered.full:
            yield mapper.jobs(gathered.block())
    if len(gathered):
        yield mapper.jobs(gathered.block())


def check_columns(columns: Sized, source: Source) -> None:
    """InputError where a table has far too many columns."""
    if len(columns) > MOST_COLUMNS:
        rule = f"a table of jobs has at most {MOST_COLUMNS:,} columns"
        raise InputError(Problem(rule, source.name, 1, value=len(columns)))


def _records(source: Source, separator: str, tally: Tally) -> Iterator[tuple[int, list[str]]]:
    """Records with their first lines; one that is broken is set aside."""
    reader = csv.reader(_lines(source), delimiter=separator, strict=True)
    before = 0
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            tally.rows += 1
            tally.aside(before + 1, "quotation marks", f"this is not valid CSV: {error}")
            before = reader.line_num
            continue
        line, before = before + 1, reader.line_num
        if cells and any(map(str.strip, cells)):
            yield line, cells


def _lines(source: Source) -> Iterator[str]:
    for _, lines in source.lines():
        for line in lines:
            yield f"{line}\n"


class Gathered:
    """Rows of a table while they are gathered to a block; only the columns of the plan are kept."""

    def __init__(self, columns: tuple[str, ...], plan: Plan, tally: Tally) -> None:
        self._width, self._tally = len(columns), tally
        names = dict.fromkeys(column.name for column in plan.values())
        self._places = {name: columns.index(name) for name in names}
        self._rows: list[list[Any]] = []
        self._lines: list[int] = []
        self._signs = 0

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def full(self) -> bool:
        """Whether it is time to make a block."""
        return len(self._rows) >= ROWS or self._signs > SIGNS

    def add(self, line: int, cells: list[Any]) -> None:
        """Take a row, or set it aside; empty cells past the header are nothing."""
        self._tally.rows += 1
        if len(cells) != self._width and (len(cells) < self._width or any(cells[self._width :])):
            shown = ",".join(map(str, cells))
            reason = f"{len(cells)} cells where the header has {self._width}: {shown}"
            self._tally.aside(line, "number of cells", reason)
            return
        kept = [cells[place] for place in self._places.values()]
        self._signs += sum(len(cell) for cell in kept if cell is not None)
        self._rows.append(kept)
        self._lines.append(line)

    def block(self) -> Block:
        """The rows gathered so far; the next block begins empty."""
        columns = {
            name: strings([row[place] for row in self._rows]) for place, name in enumerate(self._places)
        }
        block = Block(np.array(self._lines, dtype=np.int64), columns)
        self._rows, self._lines, self._signs = [], [], 0
        return block
