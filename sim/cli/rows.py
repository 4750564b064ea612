"""Tables of measured runs, as the commands read and write them."""

from __future__ import annotations

import contextlib
import csv
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.errors import InputError, Problem
from sim.physics.constants import Constants, constants_for
from sim.physics.rows import NEEDED

__all__ = ["RowTable", "check_elsewhere", "read_rows", "row_constants", "write_text"]


@dataclass(frozen=True, slots=True)
class RowTable:
    """Rows of a file, every cell as text."""

    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]


def read_rows(path: Path) -> RowTable:
    """Read a CSV table in the columns of measurements; InputError where it is none or lacks a column."""
    name = str(path)
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise InputError(Problem("the file does not exist", name)) from None
    except IsADirectoryError:
        raise InputError(Problem("this is a folder; a CSV file is needed", name)) from None
    except UnicodeDecodeError:
        raise InputError(Problem("the file must be text in UTF-8", name)) from None
    except OSError as error:
        raise InputError(Problem(f"the file cannot be read: {error.strerror}", name)) from None
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        lines = [(reader.line_num, line) for line in reader if line]
    except csv.Error as error:
        raise InputError(Problem(f"this is no CSV: {error}", name, reader.line_num)) from None
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


def check_elsewhere(out: Path, rows: Path) -> None:
    """InputError if the answer would be written over the table that it is made from."""
    same = False
    with contextlib.suppress(OSError):
        same = out.samefile(rows)
    if same:
        rule = "the answer would replace the table that it is made from: name another file"
        raise InputError(Problem(rule, key="--out", value=str(out)))


def _row(columns: tuple[str, ...], cells: list[str], file: str, line: int) -> dict[str, Any]:
    if len(cells) > len(columns):
        rule = f"the row has {len(cells)} cells, the table has {len(columns)} columns"
        raise InputError(Problem(rule, file, line))
    filled = cells + [""] * (len(columns) - len(cells))
    return dict(zip(columns, filled, strict=True))


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; through a link, and straight into a device or a pipe.

    The draft beside it has a name of this process, so that two runs at once do not mix.
    """
    draft = None
    try:
        if path.is_dir():
            raise InputError(Problem("cannot write here: this is a folder; a file is needed", str(path)))
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8", newline="")  # a device must never be replaced by a file
            return
        place = path.resolve()
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f".{place.name}.{os.getpid()}.part")
        draft.write_text(text, encoding="utf-8", newline="")
        draft.replace(place)
    except RuntimeError:
        raise InputError(Problem("cannot write here: its links lead in a circle", str(path))) from None
    except OSError as error:
        if draft is not None:
            with contextlib.suppress(OSError):
                draft.unlink()
        raise InputError(Problem(f"cannot write here: {error.strerror}", str(path))) from None
