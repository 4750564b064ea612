"""The carried table of measurements as cases: what was published, with its sources."""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from sim.catalog import load_catalog
from sim.physics.cases import Cases, Flags, Floats, cases_of
from sim.physics.row_cells import MisreadError, number, text
from sim.physics.rows import read_row

__all__ = ["Measurements", "carried", "measurements", "read_table"]


@dataclass(frozen=True, slots=True)
class Measurements:
    """Readable rows of a table; arrays of shape (n,)."""

    rows: tuple[Mapping[str, Any], ...]
    cases: Cases
    memory_gib: Floats
    """NaN where not measured."""
    tokens_per_s: Floats
    """Over all cards; NaN where not measured."""
    traced: Flags
    allocated: Flags
    capacity_gib: Floats
    """NaN where no card is named."""
    for_memory: Flags
    """Rows complete enough to fit and score memory."""
    for_speed: Flags
    unread_rows: tuple[tuple[int, str], ...]
    """Position in the table and reason of each row of which nothing can be said."""

    def take(self, rows: Flags) -> Measurements:
        """The rows of a mask."""
        return Measurements(
            tuple(row for row, taken in zip(self.rows, rows, strict=True) if taken),
            self.cases.take(rows),
            self.memory_gib[rows],
            self.tokens_per_s[rows],
            self.traced[rows],
            self.allocated[rows],
            self.capacity_gib[rows],
            self.for_memory[rows],
            self.for_speed[rows],
            self.unread_rows,
        )

    def column(self, name: str) -> list[str]:
        """A column of the table as text."""
        return [text(row, name) for row in self.rows]


def read_table(rows: Sequence[Mapping[str, Any]]) -> Measurements:
    """The readable rows; the others stand in `unread_rows` with the reason."""
    catalog = load_catalog()
    read, kept, unread = [], [], []
    for position, row in enumerate(rows):
        try:
            read.append(read_row(row, catalog))
            kept.append(row)
        except MisreadError as error:
            unread.append((position, str(error)))

    def cells(key: str) -> Floats:
        found = [number(row, key) for row in kept]
        return np.array([np.nan if value is None else value for value in found], dtype=float)

    capacity = [np.nan if row.capacity_gib is None else row.capacity_gib for row in read]
    return Measurements(
        rows=tuple(kept),
        cases=cases_of([row.case for row in read]),
        memory_gib=cells("peak_mem_gib"),
        tokens_per_s=cells("tokens_per_s_total"),
        traced=np.array([row.traced for row in read], dtype=bool),
        allocated=np.array([row.allocated for row in read], dtype=bool),
        capacity_gib=np.array(capacity, dtype=float),
        for_memory=cells("fit_mem") == 1,
        for_speed=cells("fit_thr") == 1,
        unread_rows=tuple(unread),
    )


def carried(name: str) -> list[dict[str, Any]]:
    """Rows of a carried table, `measurements.csv` or `traced_memory.csv`, every cell as text."""
    with resources.files("sim.physics").joinpath("facts", name).open("r", encoding="utf-8") as file:
        return [dict(row) for row in csv.DictReader(file)]  # not pandas, which takes long to import


@functools.cache
def measurements() -> Measurements:
    """The published rows that the program carries."""
    return read_table(carried("measurements.csv"))
