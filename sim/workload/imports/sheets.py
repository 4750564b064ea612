"""Excel workbooks (.xlsx) and Parquet files as tables of jobs."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sim.errors import InputError, Problem
from sim.workload.imports.columns import LONGEST_TEXT
from sim.workload.imports.delimited import MOST_COLUMNS, ROWS, Gathered
from sim.workload.imports.mapped import Block, Mapper
from sim.workload.imports.mapping import plan_for
from sim.workload.imports.settings import Settings
from sim.workload.imports.source import Source
from sim.workload.imports.tally import Tally
from sim.workload.imports.workbook_parts import BROKEN, workbook_parts

__all__ = ["read_excel", "read_parquet"]

MOST_UNPACKED = 2**30
"""Bytes of an unpacked workbook at most; a full sheet of a million rows has some 300 MB."""
MOST_STRINGS = 200 * 2**20
"""Bytes of the texts of a workbook, which stand in memory as a whole."""
MOST_CELL = 2**12
"""Bytes of a cell of a Parquet file, on average, at most."""
MOST_ROWS = 100_000_000
"""Rows of a Parquet file at most."""


def read_excel(source: Source, settings: Settings, tally: Tally) -> Iterator[pa.Table]:
    """Jobs of a sheet: the one that is named, else the first."""
    _check_size(source)
    rows = _rows(source, settings, tally)
    line, header = next(((n, row) for n, row in rows if any(row)), (1, []))
    columns = tuple((cell or "").strip() for cell in header)
    while columns and columns[-1] == "":
        columns = columns[:-1]
    if not columns:
        raise InputError(Problem("the workbook has no sheet with a table", source.name))
    plan = plan_for(columns, source.name, line, settings, tally)
    mapper, gathered = Mapper(plan, source.name, settings, tally), Gathered(columns, plan, tally)
    for number, cells in rows:
        if not any(cells):
            continue
        gathered.add(number, cells + [None] * (len(columns) - len(cells)))
        if gathered.full:
            yield mapper.jobs(gathered.block())
    if len(gathered):
        yield mapper.jobs(gathered.block())


def _check_size(source: Source) -> None:
    parts = workbook_parts(source.path, source.name)
    strings = sum(part.file_size for part in parts if "sharedstrings" in part.filename.lower())
    if sum(part.file_size for part in parts) > MOST_UNPACKED or strings > MOST_STRINGS:
        raise InputError(Problem("the workbook is too large: save the sheet as CSV", source.name))


def _rows(source: Source, settings: Settings, tally: Tally) -> Iterator[tuple[int, list[str | None]]]:
    """Rows of the sheet as text, with their numbers."""
    import openpyxl  # here: it takes long to import, and few files are workbooks
    from openpyxl.utils.exceptions import InvalidFileException

    number, book, file = 0, None, None
    try:
        file = source.path.open("rb")  # by its path openpyxl refuses a workbook of another ending
        with _quiet():
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        sheet = _sheet(book, source, settings, tally)
        if (sheet.max_column or 0) > MOST_COLUMNS:
            tally.remark(f"Only the first {MOST_COLUMNS:,} columns of the sheet are read.")
        cells = iter(sheet.iter_rows(values_only=True, max_col=min(sheet.max_column or 1, MOST_COLUMNS)))
        while True:
            with _quiet():
                rows = list(islice(cells, 1000))
            if not rows:
                return
            for row in rows:
                number += 1
                if any(cell is not None for cell in row):
                    yield number, [_text(cell) for cell in row]
    except (*BROKEN, InvalidFileException) as error:
        what = f"{type(error).__name__} {error}"[:200]
        rule = f"the workbook cannot be read on: {what}"
        raise InputError(Problem(rule, source.name, number or None)) from None
    finally:
        if book is not None:
            book.close()
        if file is not None:
            file.close()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Warnings of styles and extensions are of no interest here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _sheet(book: Any, source: Source, settings: Settings, tally: Tally) -> Any:
    names = tuple(book.sheetnames)
    if settings.sheet is not None and settings.sheet not in names:
        rule = "the workbook has no such sheet"
        raise InputError(Problem(rule, source.name, None, "--sheet", settings.sheet, names))
    name = settings.sheet or names[0]
    if len(names) > 1 and settings.sheet is None:
        tally.remark(f"Only the first sheet is read, {name!r}; another one is named by --sheet.")
    return book[name]


def _text(cell: Any) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, timedelta):
        return f"00:{cell.total_seconds():.6f}"
    if isinstance(cell, datetime | date):
        return cell.isoformat(sep=" ") if isinstance(cell, datetime) else cell.isoformat()
    if isinstance(cell, time):
        return cell.isoformat(timespec="seconds")
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return str(cell)


def read_parquet(source: Source, settings: Settings, tally: Tally) -> Iterator[pa.Table]:
    """Jobs of a Parquet file; only the columns of the plan are read, a block at a time."""
    try:
        with pq.ParquetFile(source.path) as file:
            schema = file.schema_arrow
        # texts stay numbers with a dictionary: a long one that comes a million times is held once
        coded = [field.name for field in schema if pa.types.is_string(field.type)]
        with pq.ParquetFile(source.path, read_dictionary=coded) as file:
            plan = plan_for(tuple(schema.names), source.name, None, settings, tally)
            mapper = Mapper(plan, source.name, settings, tally)
            wanted = list(dict.fromkeys(column.name for column in plan.values()))
            _check_cells(file.metadata, wanted, source)
            row = 1
            for batch in file.iter_batches(batch_size=ROWS, columns=wanted):
                tally.rows += len(batch)
                cells = {name: _as_text(batch.column(name), name, source) for name in wanted}
                yield mapper.jobs(Block(np.arange(row, row + len(batch), dtype=np.int64), cells))
                row += len(batch)
    except (pa.ArrowException, OSError) as error:
        what = " ".join(str(error).split())[:200]
        raise InputError(Problem(f"the Parquet file is damaged: {what}", source.name)) from None


def _check_cells(metadata: Any, wanted: list[str], source: Source) -> None:
    """InputError for more rows than anyone has, and for cells that are no cells of a table of jobs."""
    if metadata.num_rows > MOST_ROWS:
        raise InputError(Problem(f"a table of jobs has at most {MOST_ROWS:,} rows", source.name))
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            chunk = group.column(place)
            if chunk.path_in_schema in wanted and chunk.total_uncompressed_size > MOST_CELL * max(
                chunk.num_values, 1000
            ):
                rule = f"cells of this column have more than {MOST_CELL:,} bytes"
                raise InputError(Problem(rule, source.name, None, chunk.path_in_schema))


def _as_text(column: pa.Array, name: str, source: Source) -> pa.Array:
    kind = column.type
    if pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type):
        short = pc.utf8_slice_codeunits(column.dictionary, 0, LONGEST_TEXT)
        return pa.DictionaryArray.from_arrays(column.indices, short).cast(pa.string())
    if pa.types.is_timestamp(kind):
        column = pc.cast(column, pa.timestamp("us", kind.tz), safe=False)
    elif pa.types.is_duration(kind):
        lengths = pc.cast(pc.cast(column, pa.duration("us"), safe=False), pa.int64())
        column = pc.binary_join_element_wise("00:", pc.cast(pc.divide(lengths, 1e6), pa.string()), "")
    if pa.types.is_nested(kind):
        raise InputError(
            Problem("a column of a table of jobs holds no lists", source.name, None, name, str(kind))
        )
    return pc.cast(column, pa.string())
