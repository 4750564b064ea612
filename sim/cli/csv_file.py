"""A table of the user's as CSV: its lines, with the numbers that an editor shows."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from sim.errors import InputError, Problem

__all__ = ["csv_lines"]


def csv_lines(path: Path, largest: int | None = None) -> list[tuple[int, list[str]]]:
    """Line (from 1; of a row of several lines the last) and cells of each row that is not an empty line.

    InputError for a file that cannot be read, is no CSV in UTF-8 or has more than `largest` bytes.
    """
    name = str(path)
    try:
        with path.open("rb") as stream:
            data = stream.read() if largest is None else stream.read(largest + 1)
        text = data.decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(Problem("the file does not exist", name)) from None
    except IsADirectoryError:
        raise InputError(Problem("this is a folder; a CSV file is needed", name)) from None
    except UnicodeDecodeError:
        raise InputError(Problem("the file must be text in UTF-8", name)) from None
    except OSError as error:
        raise InputError(Problem(f"the file cannot be read: {error.strerror}", name)) from None
    if largest is not None and len(data) > largest:
        raise InputError(Problem(f"the file may have at most {largest // 1_000_000} MB", name))
    reader = csv.reader(io.StringIO(text, newline=None), strict=True)
    try:
        return [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise InputError(Problem(f"this is no CSV: {error}", name, reader.line_num)) from None
