"""How rows become a table: the type of every column is stated, so that no rows have it too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pandas as pd

__all__ = ["CENTS", "RUN", "Columns", "Kind", "frame_of", "table_of"]

Kind = Literal["text", "int", "float", "bool", "decimal"]
Columns = Sequence[tuple[str, Kind]]

DTYPES = {"text": "str", "int": "Int64", "float": "float64", "bool": "boolean", "decimal": "object"}

CENTS = frozenset({"billed_cost", "accrued_cost", "before_cost", "owed_after", "total"})
"""Columns of whole cents; other decimals (prices before rounding, quantities) have more places."""

RUN: Columns = (("strategy", "text"), ("replication", "int"))


def table_of(columns: Columns, rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """Rows as a table whose types follow from the kinds of the columns alone."""
    return frame_of({name: DTYPES[kind] for name, kind in columns}, rows)


def frame_of(types: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """The same from pandas' own types by column."""
    return pd.DataFrame(
        {
            name: pd.Series([row[position] for row in rows], dtype=kind)
            for position, (name, kind) in enumerate(types.items())
        }
    )
