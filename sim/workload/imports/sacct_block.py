"""One block of job rows of a Slurm dump: columns by name, and the rows that are set aside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sim.workload.imports.cells import NA, Bools, Ints
from sim.workload.imports.sacct_rows import Layout
from sim.workload.imports.tally import Tally

__all__ = ["Block"]


@dataclass(slots=True)
class Block:
    """Job rows of one block; columns by name, rows that are refused."""

    layout: Layout
    rows: list[list[str]]
    lines: list[int]
    tally: Tally
    kept: Bools = field(init=False)
    columns: tuple[tuple[str, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        self.kept = np.ones(len(self.rows), dtype=bool)
        self.columns = tuple(zip(*self.rows, strict=True))  # once: rows lie far apart in memory

    @property
    def empty(self) -> list[str]:
        """A column that says nothing."""
        return [""] * len(self.rows)

    def cells(self, *names: str) -> Sequence[str] | None:
        """The cells of the first of these columns that is there."""
        place = self.layout.find(*names)
        return None if place is None else self.columns[place]

    def numbers(self, *names: str) -> Ints:
        """A column of counts; NA where it is not there or no number."""
        cells = self.cells(*names)
        if cells is None:
            return np.full(len(self.rows), NA, dtype=np.int64)
        return np.array(
            [int(cell) if cell.isdigit() and len(cell) < 10 else NA for cell in cells], dtype=np.int64
        )

    def at(self, wrong: Bools) -> list[int]:
        """Lines of the marked rows."""
        return [self.lines[place] for place in np.flatnonzero(wrong).tolist()]

    def refuse(self, wrong: Bools, kind: str, column: str, reasons: Sequence[str] | None = None) -> None:
        """Set the marked rows aside, unless they are already."""
        for place in np.flatnonzero(wrong & self.kept).tolist():
            cells: Callable[..., Any] = self.cells
            value = (cells(column.lower()) or self.empty)[place] if reasons is None else reasons[place]
            reason = f"{column} is no {kind}: {value!r}" if reasons is None else value.removeprefix("bad: ")
            self.tally.aside(self.lines[place], kind, reason)
            self.kept[place] = False
