"""Blocks of text cells, by a plan of columns, to jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sim.errors import InputError, Problem
from sim.units import SECOND, parse_duration
from sim.workload.imports.cells import (
    BAD,
    LONGEST_US,
    NA,
    Bools,
    Ints,
    Memo,
    clock_duration,
    decimals,
    is_missing,
    micros,
    whole,
)
from sim.workload.imports.clock import LATEST, Clock, Times, is_either, settle
from sim.workload.imports.columns import LONGEST_TEXT, table
from sim.workload.imports.fields import FIELDS, UNITS
from sim.workload.imports.hints import option_for
from sim.workload.imports.mapping import Column, Plan
from sim.workload.imports.settings import Settings, zone_of
from sim.workload.imports.states import UNKNOWN, state_of
from sim.workload.imports.tally import Tally
from sim.workload.trace_rows import MOST_CARDS

__all__ = ["Block", "Mapper"]

_EPOCH = ((1e15, 1), (1e12, 1000), (1e9, SECOND))
"""Numbers from here on are moments since 1970, in microseconds, milliseconds or seconds."""
_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a table: text columns by name, and the line of each row."""

    lines: Ints
    columns: Mapping[str, pa.Array]


@dataclass(slots=True)
class Mapper:
    """Turns the blocks of one file into jobs."""

    plan: Plan
    file: str
    settings: Settings
    tally: Tally
    clock: Clock = field(init=False)
    kept: Bools = field(init=False)
    lines: Ints = field(init=False)
    spans: Memo[int] = field(default_factory=lambda: Memo(_any_duration))
    dated: bool | None = None
    """Whether moments are dates; None: not known yet."""

    def __post_init__(self) -> None:
        self.clock = Clock(zone_of(self.settings.timezone), self.settings.dates)

    def jobs(self, block: Block) -> pa.Table:
        """The jobs of a block."""
        self.lines, self.kept = block.lines, np.ones(len(block.lines), dtype=bool)
        columns: dict[str, Any] = {"line": block.lines}
        times: dict[str, Times] = {}
        for name, column in self.plan.items():
            cells = block.columns[column.name]
            kind = FIELDS[name].kind
            if kind == "moment":
                times[FIELDS[name].column] = self._moments(column, cells)
            else:
                columns[FIELDS[name].column] = _KINDS[kind](self, column, cells)
        columns |= self._course(times, columns)
        if "id" not in columns:
            columns["id"] = [f"job-{line}" for line in block.lines.tolist()]
        jobs = table(columns)
        return jobs if self.kept.all() else jobs.filter(pa.array(self.kept))

    def _course(self, times: Mapping[str, Times], columns: Mapping[str, Any]) -> dict[str, Any]:
        """Moments that belong together, and the run time where only start and end are given."""
        count = len(self.lines)
        nothing = np.full(count, NA, dtype=np.int64)
        none = Times(nothing, nothing)
        submit, start, end = (times.get(name, none) for name in ("submit", "start", "end"))
        runtime = columns.get("runtime", nothing)
        twice = settle(submit, start, end, runtime)
        self.tally.odd("a time in the hour that comes twice (clocks go back)", self.lines[twice].tolist())
        between = np.where((start.first > BAD) & (end.first > BAD), end.first - start.first, NA)
        backwards = (between != NA) & (between < 0)
        if "runtime" not in columns:
            self._refuse(backwards, "time", "ends before it starts")
            runtime = np.where(between >= 0, between, NA)
        else:
            self._compare(runtime, between)
        out = {name: one.first for name, one in times.items()}
        return {**out, "runtime": runtime}

    def _compare(self, runtime: Ints, between: Ints) -> None:
        """A run time in the wrong unit shows against start and end."""
        both = (runtime > 0) & (between > 0)
        if both.any():
            ratio = float(np.median(between[both] / runtime[both]))
            if any(abs(ratio / factor - 1) < 0.02 for factor in (60, 3600, 1000, 24, 1 / 60, 1 / 3600, 1e-3)):
                column = self.plan["runtime_s"].name
                rule = (
                    f"end - start is {ratio:,.4g} times the run time in {column!r}: its unit is another one"
                )
                raise InputError(
                    Problem(rule, self.file, int(self.lines[0]), "--unit", self.plan["runtime_s"].unit)
                )

    def _refuse(self, wrong: Bools, kind: str, rule: str, cells: pa.Array | None = None) -> None:
        for row in np.flatnonzero(wrong & self.kept).tolist():
            cell = None if cells is None else cells[row].as_py()
            found = "" if cells is None else f": {cell!r}"
            if (option := option_for(cell, self.settings)) is not None:
                self.tally.hints[option] += 1
            self.tally.aside(int(self.lines[row]), kind, rule + found)
            self.kept[row] = False

    def _numbers(self, cells: pa.Array) -> Any:
        if self.settings.decimal == ",":
            cells = pc.replace_substring(cells, ",", ".")
        return decimals(cells)

    def _moments(self, column: Column, cells: pa.Array) -> Times:
        """Dates, or numbers since 1970 (by their size), or numbers since an unknown start (in a unit)."""
        numbers = self._numbers(cells)
        is_number = np.isfinite(numbers)
        if not is_number.any():
            read = self.clock.read(cells)
            self._dated(bool((read.first > BAD).any()) or None, column.field)
            self._refuse_times(read.first == BAD, column, cells)
            return read
        size = np.median(np.abs(numbers[is_number]))
        unit = next((unit for least, unit in _EPOCH if size >= least), None)
        if unit is not None:
            word = {SECOND: "seconds", 1000: "milliseconds", 1: "microseconds"}[unit]
            self.tally.remark(f"Numbers in {column.name!r} are taken as {word} since 1970, by their size.")
            self._dated(True, column.field)
            with np.errstate(over="ignore"):
                scaled = numbers * unit
            possible = is_number & (scaled >= 0) & (scaled < LATEST)
            moments = np.rint(np.where(possible, scaled, 0)).astype(np.int64)
            moments = np.where(np.isnan(numbers), NA, np.where(possible, moments, BAD))
        else:
            self._dated(False, column.field)
            moments = micros(numbers, self._unit(column, cells, is_number))
        self._refuse(moments == BAD, "time", f"{column.name} is no time", cells)
        return Times(moments, moments)

    def _refuse_times(self, wrong: Bools, column: Column, cells: pa.Array) -> None:
        either = np.zeros(len(wrong), dtype=bool)
        if self.settings.dates is None:
            for row in np.flatnonzero(wrong).tolist():
                either[row] = is_either(cells[row].as_py() or "")
        rule = f"{column.name} does not say which number is the month (--dates day-first or month-first)"
        self._refuse(either, "time", rule, cells)
        self._refuse(wrong & ~either, "time", f"{column.name} is no time", cells)

    def _dated(self, dated: bool | None, name: str) -> None:
        if dated is None:
            return
        if self.dated is not None and dated is not self.dated:
            rule = f"some times are dates and others are numbers ({name}): they cannot be laid on one line"
            raise InputError(Problem(rule, self.file, int(self.lines[0])))
        self.dated = dated
        if not dated:
            self.tally.calendar = False
            self.tally.remark("Times are numbers: they count from an unknown moment, and have no date.")

    def _unit(self, column: Column, cells: pa.Array, is_number: Bools) -> int:
        if column.unit is not None:
            return UNITS[column.unit]
        row = int(np.flatnonzero(is_number)[0])
        rule = (
            f"the unit of the numbers in {column.name!r} is not known: say it by --unit s (or min, h, d), "
            f"or for this column by --map {column.field}={column.name}:h"
        )
        raise InputError(Problem(rule, self.file, int(self.lines[row]), column.field, cells[row].as_py()))

    def span(self, column: Column, cells: pa.Array) -> Ints:
        """Numbers in the column's unit; `2:30:00` and `2h 30min` whatever the unit."""
        numbers = self._numbers(cells)
        is_number = np.isfinite(numbers)
        lengths = micros(numbers, self._unit(column, cells, is_number)) if is_number.any() else None
        lengths = np.full(len(cells), BAD, dtype=np.int64) if lengths is None else lengths
        rest = np.flatnonzero(~is_number)
        if len(rest):
            words = ["" if word is None else word for word in cells.take(pa.array(rest)).to_pylist()]
            lengths[rest] = self.spans.column(words)
        if column.field in {"limit_s", "deadline_s"}:
            self.tally.odd(
                f"{column.name} cannot be read, taken as none", self.lines[lengths == BAD].tolist()
            )
            return np.where(lengths > 0, lengths, NA)
        self._refuse(lengths == BAD, "duration", f"{column.name} is no duration of at least 0", cells)
        return lengths

    def cards(self, column: Column, cells: pa.Array) -> Ints:
        """Whole cards, at least 0."""
        counts = whole(self._numbers(cells), 10**12)
        wrong = (counts != NA) & ((counts < 0) | (counts > MOST_CARDS))
        rule = f"{column.name} is no whole number of cards up to {MOST_CARDS:,}"
        self._refuse(wrong, "cards", rule, cells)
        return np.where(wrong, NA, counts)

    def count(self, column: Column, cells: pa.Array) -> Ints:
        """Whole numbers."""
        counts = whole(self._numbers(cells))
        self.tally.odd(f"{column.name} is no whole number, left out", self.lines[counts == BAD].tolist())
        return counts

    def decimal(self, column: Column, cells: pa.Array) -> Any:
        """Numbers above 0, scaled."""
        with np.errstate(over="ignore"):
            values = self._numbers(cells) * column.scale
        wrong = np.isinf(values) | (values < 0) | (values > 1e6)
        self.tally.odd(f"{column.name} cannot be read, left out", self.lines[wrong].tolist())
        return np.where(wrong | (values == 0), np.nan, values)

    def state(self, column: Column, cells: pa.Array) -> list[str | None]:
        """States in the words of the normal form."""
        words = pc.fill_null(cells, "").to_pylist()
        known = Memo(state_of).column(words)
        strange = [line for line, state in zip(self.lines.tolist(), known, strict=True) if state is None]
        self.tally.odd(f"a word in {column.name} that is no known state", strange)
        return [
            None if not word.strip() else state or UNKNOWN for word, state in zip(words, known, strict=True)
        ]

    def truth(self, column: Column, cells: pa.Array) -> list[bool | None]:
        """true or false, yes or no, 1 or 0."""
        words = [(word or "").strip().lower() for word in cells.to_pylist()]
        strange = [line for line, w in zip(self.lines.tolist(), words, strict=True) if w and w not in _TRUTHS]
        self.tally.odd(f"{column.name} is neither true nor false, left out", strange)
        return [_TRUTHS.get(word) for word in words]


def _plain(cells: pa.Array) -> pa.Array:
    """Text as it stands (cut where it is endless), without the apostrophe that exports put before what
    looks like a formula."""
    plain = pc.utf8_slice_codeunits(pc.utf8_trim_whitespace(cells), 0, LONGEST_TEXT)
    quoted = pc.match_substring_regex(plain, "^'[=+\\-@\t\r\n']")
    plain = pc.if_else(quoted, pc.utf8_slice_codeunits(plain, 1), plain)
    return pc.if_else(pc.equal(plain, ""), pa.scalar(None, pa.string()), plain)


_KINDS: Mapping[str, Callable[[Mapper, Column, pa.Array], Any]] = {
    "span": Mapper.span,
    "cards": Mapper.cards,
    "count": Mapper.count,
    "decimal": Mapper.decimal,
    "text": lambda _mapper, _column, cells: _plain(cells),
    "state": Mapper.state,
    "truth": Mapper.truth,
}
"""Kind of a field -> reader of a column; moments are read together."""


def _any_duration(cell: str) -> int:
    """`2:30:00`, `2h 30min`, or nothing."""
    if is_missing(cell):
        return NA
    length = clock_duration(cell)
    if length == BAD:
        try:
            length = parse_duration(cell)
        except ValueError:
            return BAD
    return length if length <= LONGEST_US else BAD
