"""Tables of measured runs, as the commands read and write them."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.cli.csv_file import csv_lines
from sim.cli.options import check_file
from sim.errors import InputError, Problem
from sim.physics.constants import Constants, constants_for
from sim.physics.rows import NEEDED
from sim.whole_file import write_whole

__all__ = ["RowTable", "check_answer", "read_rows", "row_constants", "write_answer"]


@dataclass(frozen=True, slots=True)
class RowTable:
    """Rows of a file, every cell as text."""

    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]


def read_rows(path: Path) -> RowTable:
    """Read a CSV table in the columns of measurements; InputError where it is none or lacks a column."""
    name, lines = str(path), csv_lines(path)
    if not lines:
        raise InputError(Problem("the file is empty; it needs a line of column names", name))
    head, names = lines[0]
    columns = tuple(cell.strip() for cell in names)
    other = next((sign for sign in (";", "\t") if len(columns) == 1 and sign in columns[0]), None)
    if other is not None:
        rule = f"cells must be separated by commas; this table has {_SIGNS[other]}"
        raise InputError(Problem(rule, name, head))
    problems = [
        Problem(f"a column is missing: {column!r}", name, head, column, None, columns)
        for column in NEEDED
        if column not in columns
    ]
    problems += [
        Problem("a column stands twice", name, head, column, column)
        for column in sorted({column for column in columns if columns.count(column) > 1})
    ]
    if problems:
        raise InputError(problems)
    return RowTable(columns, tuple(_row(columns, cells, name, line) for line, cells in lines[1:]))


_SIGNS = {";": "semicolons", "\t": "tabs"}


def row_constants(performance: str) -> Constants:
    """The constants that answer rows: `measured`, or a calibration file; InputError for anything else."""
    if performance == "vendor":
        rule = "the articles say nothing of single runs: take measured, or the path of a calibration file"
        raise InputError(Problem(rule, key="--performance", value=performance))
    return constants_for(performance)


def check_answer(out: Path, rows: Path) -> None:
    """InputError if the answer cannot be written, or would be over the table that it is made from."""
    same = False
    with contextlib.suppress(OSError):
        same = out.samefile(rows)
    if same:
        rule = "the answer would replace the table that it is made from: name another file"
        raise InputError(Problem(rule, key="--out", value=str(out)))
    check_file(out, "--out")


def write_answer(out: Path, text: str) -> None:
    """Write the answer whole or not at all; RunError where the disk does not take it."""
    write_whole(out, text.encode("utf-8"), "the answer", "choose another --out FILE")


def _row(columns: tuple[str, ...], cells: list[str], file: str, line: int) -> dict[str, Any]:
    if len(cells) > len(columns):
        rule = f"the row has {len(cells)} cells, the table has {len(columns)} columns"
        raise InputError(Problem(rule, file, line))
    filled = cells + [""] * (len(columns) - len(cells))
    return dict(zip(columns, filled, strict=True))
