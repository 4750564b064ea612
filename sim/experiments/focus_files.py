"""The FOCUS export as a file: CSV or Parquet, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Context, Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sim.billing.focus_columns import COLUMNS, Kind
from sim.billing.focus_names import Row, Value
from sim.billing.shares import PLACES
from sim.experiments.files import FORMULA_SIGNS, QUOTED
from sim.whole_file import whole_file

__all__ = ["ENDINGS", "focus_csv", "focus_table", "write_focus"]

ENDINGS = (".csv", ".parquet")

PRODUCTS = frozenset({"ListCost", "ContractedCost"})
"""Products of a price and a quantity: they have twice the places, and more where doubles need them."""

WIDE = 28
"""Places of the products in Parquet: with these, digits of a double survive down to 1e-10."""

EXACT = Context(prec=60)


def write_focus(rows: Iterable[Row], path: Path) -> int:
    """Write the rows to a file whose ending says how; returns their number.

    Raises RunError where the file cannot be written, and then leaves what was there.
    """
    found = list(rows)
    with whole_file(path, "the export", "choose another -o FILE") as draft:
        if path.suffix.lower() == ".parquet":
            pq.write_table(focus_table(found), draft)
        else:
            draft.write_text(focus_csv(found), encoding="utf-8", newline="")
    return len(found)


def focus_csv(rows: Iterable[Row]) -> str:
    """The rows as CSV: UTF-8, commas, one line end a row, empty cells where there is no value.

    Numbers have a decimal point and at least eight places, for the official validator takes a column of
    whole numbers for integers. Text that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    lines = [",".join(column.name for column in COLUMNS)]
    lines += [",".join(_cell(row[column.name]) for column in COLUMNS) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def focus_table(rows: Sequence[Row]) -> pa.Table:
    """The rows as a table: decimals as such, times in UTC, text as it is."""
    arrays, fields = [], []
    for column in COLUMNS:
        kind = _kind(column.name, column.kind)
        values: list[object] = [row[column.name] for row in rows]
        if pa.types.is_decimal(kind):
            step = Decimal(1).scaleb(-kind.scale)
            values = [
                value.quantize(step, context=EXACT) if isinstance(value, Decimal) else None
                for value in values
            ]
        arrays.append(pa.array(values, type=kind))
        fields.append(pa.field(column.name, kind))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _kind(name: str, kind: Kind) -> pa.DataType:
    if kind == "decimal":
        return pa.decimal128(38, WIDE if name in PRODUCTS else PLACES)
    return pa.timestamp("s", tz="UTC") if kind == "time" else pa.string()


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%SZ}"
    if value.startswith(FORMULA_SIGNS):
        value = f"'{value}"
    if QUOTED.search(value):
        value = '"' + value.replace('"', '""') + '"'
    return value


def _number(value: Decimal) -> str:
    whole, _, places = f"{value:f}".partition(".")
    return f"{whole}.{places.rstrip('0').ljust(PLACES, '0')}"
