"""How files are written: folders that appear whole or not at all, tables as CSV and Parquet, safe names."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import unicodedata
import uuid
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from sim.errors import RunError
from sim.experiments.columns import CENTS
from sim.whole_file import lives

__all__ = ["FORMULA_SIGNS", "csv_text", "harmless", "slug", "whole_folder", "write_csv", "write_parquet"]

SLUG_BYTES = 80
"""Longest name of a folder made from a title; file systems take 255 bytes."""

RESERVED = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}
)
"""Names that Windows keeps for devices."""

FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes a cell that begins with one of these for a formula."""

QUOTED = re.compile('[,"\n\r]')
"""Signs for which a cell stands between quotation marks."""

CSV_ROWS = 200_000
"""Rows that are turned into text at a time."""

FRACTION_PLACES = 8
"""Decimal places of prices before rounding, and of quantities, in Parquet; CSV has all their digits."""


def slug(title: str) -> str:
    """A title as the name of a folder: letters and digits of any script, joined by hyphens.

    Never empty, never `..`, never a separator, lower case, at most `SLUG_BYTES` bytes of UTF-8.
    """
    text = unicodedata.normalize("NFKC", title).lower()
    text = "".join(sign if sign.isalnum() or unicodedata.combining(sign) else "-" for sign in text)
    text = re.sub("-+", "-", text).strip("-")
    text = text.encode()[:SLUG_BYTES].decode(errors="ignore").strip("-")
    return f"scenario-{text}".strip("-") if not text or text in RESERVED else text


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder`, which takes its place when the block ends without an error.

    What stood there before is replaced. Whatever goes wrong, `folder` is as it was or complete, never
    half written. Raises RunError where the folder cannot be written or the disk is full.
    """
    fresh = folder.with_name(f".{folder.name}-{os.getpid()}-{uuid.uuid4().hex[:12]}")
    try:
        fresh.mkdir(parents=True)
        yield fresh
        _take_place(fresh, folder)
        _clear_away(folder)
    except OSError as error:
        what = error.strerror or str(error)
        msg = (
            f"the results cannot be written to {folder}: {what}; free some space or choose another --out DIR"
        )
        raise RunError(msg) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _take_place(fresh: Path, folder: Path) -> None:
    # A folder that is not empty cannot be replaced in one step: the old one steps aside first.
    old = fresh.with_name(f"{fresh.name}-old")
    had_one = folder.exists()
    if had_one:
        folder.rename(old)
    try:
        fresh.rename(folder)
    except OSError:
        if had_one:
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _clear_away(folder: Path) -> None:
    """Half-written folders of this run by programs that were killed."""
    pattern = re.compile(rf"\.{re.escape(folder.name)}-(\d+)-[0-9a-f]{{12}}(-old)?")
    with contextlib.suppress(OSError):
        for stray in folder.parent.iterdir():
            found = pattern.fullmatch(stray.name)
            if found is not None and not lives(int(found[1])):
                shutil.rmtree(stray, ignore_errors=True)


def csv_text(frame: pd.DataFrame) -> str:
    """The table as CSV: UTF-8 text, commas, one line end a row, empty cells where there is no value.

    Text that a spreadsheet would take for a formula gets an apostrophe in front; numbers stay numbers.
    To have the text back, drop an apostrophe that stands before = + - @ tab, return or an apostrophe.
    """
    columns = [[_text_cell(str(name)), *_cells(frame[name])] for name in frame.columns]
    return "".join(f"{','.join(row)}\n" for row in zip(*columns, strict=True))


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """`csv_text` into a file, some rows at a time, for the text of millions of rows needs much memory."""
    with path.open("w", encoding="utf-8", newline="") as file:
        for first in range(0, max(1, len(frame)), CSV_ROWS):
            text = csv_text(frame.iloc[first : first + CSV_ROWS])
            file.write(text if first == 0 else text.partition("\n")[2])


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """The table as Parquet; the types follow from the columns alone, never from the values."""
    arrays, fields = [], []
    for name in frame.columns:
        column = frame[name]
        kind = _arrow_type(column)
        if pa.types.is_decimal(kind):
            rounded = [None if _empty(value) else _rounded(value, kind.scale) for value in column.tolist()]
            arrays.append(pa.array(rounded, type=kind))
        else:
            arrays.append(pa.array(column, type=kind, from_pandas=True))
        fields.append(pa.field(str(name), kind))
    pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), path)


def _arrow_type(column: pd.Series) -> pa.DataType:
    if pd.api.types.is_bool_dtype(column.dtype):
        return pa.bool_()
    if pd.api.types.is_integer_dtype(column.dtype):
        return pa.int64()
    if pd.api.types.is_float_dtype(column.dtype):
        return pa.float64()
    if column.dtype == object:
        return pa.decimal128(28, _places(str(column.name)))
    return pa.string()


def _cells(column: pd.Series) -> list[str]:
    values = column.tolist()
    if column.dtype == object:
        places = _places(str(column.name))
        return ["" if _empty(value) else _decimal_cell(value, places) for value in values]
    if pd.api.types.is_bool_dtype(column.dtype):
        return ["" if _empty(value) else str(value).lower() for value in values]
    if pd.api.types.is_numeric_dtype(column.dtype):
        return ["" if _empty(value) else repr(value) for value in values]
    written = {value: "" if _empty(value) else _text_cell(value) for value in set(values)}
    return [written[value] for value in values]


def _empty(value: object) -> bool:
    """None, pandas' own NA, or NaN, which is the one value that differs from itself."""
    return value is None or value is pd.NA or value != value


def _decimal_cell(value: Decimal, places: int) -> str:
    if places != FRACTION_PLACES:
        return f"{_rounded(value, places):f}"
    # Exact, so that a ledger can be read back; a price of 2240.00 is easier to read as 2240.
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def harmless(text: str) -> str:
    """The text so that no spreadsheet takes it for a formula: with an apostrophe in front where it might.

    To have it back, drop an apostrophe that stands before = + - @ tab, return or an apostrophe.
    """
    marked = text[:1] == "'" and text[1:].startswith((*FORMULA_SIGNS, "'"))
    return f"'{text}" if marked or text.startswith(FORMULA_SIGNS) else text


def _text_cell(text: str) -> str:
    text = harmless(text)
    if QUOTED.search(text):
        text = '"' + text.replace('"', '""') + '"'
    return text


def _places(column: str) -> int:
    return 2 if column in CENTS else FRACTION_PLACES


def _rounded(value: Decimal, places: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-places))
