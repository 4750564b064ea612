"""Rows of a sacct dump: which column stands where, and rows whose texts hold the separating sign."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sim.errors import InputError, Problem
from sim.workload.imports.cells import BAD, clock_duration, is_missing
from sim.workload.imports.delimited import separator_of
from sim.workload.imports.jobids import tasks_of
from sim.workload.imports.settings import Settings
from sim.workload.imports.source import Source
from sim.workload.imports.states import state_of
from sim.workload.imports.tally import Tally

__all__ = ["KNOWN", "Layout", "Rows", "cells_of", "layout_of", "names_of", "rows_of"]

FREE_TEXTS = (
    "jobname",
    "comment",
    "admincomment",
    "systemcomment",
    "submitline",
    "workdir",
    "wckey",
    "extra",
)
"""Columns in which a user may write a pipe; the first that makes sense of a row is taken."""
_TIMES = ("submit", "eligible", "start", "end")
_SPANS = ("elapsed", "timelimit", "totalcpu", "suspended")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|\d{9,10}", re.ASCII)

KNOWN = frozenset(
    {
        *FREE_TEXTS,
        *_TIMES,
        *_SPANS,
        "jobid",
        "jobidraw",
        "user",
        "uid",
        "group",
        "gid",
        "account",
        "partition",
    }
    | {"cluster", "qos", "state", "exitcode", "derivedexitcode", "elapsedraw", "timelimitraw", "reqtres"}
    | {"alloctres", "reqgres", "allocgres", "nnodes", "allocnodes", "reqnodes", "nodelist", "reqmem", "ncpus"}
    | {"alloccpus", "reqcpus", "priority", "reason", "reservation", "ntasks", "maxrss", "averss", "cputime"}
    | {"cputimeraw", "tresusageintot", "tresusageinave", "tresusageinmax", "flags", "constraints", "planned"}
    | {"reserved", "maxvmsize", "usercpu", "systemcpu", "consumedenergy", "planned", "restarts", "licenses"}
)
"""Columns of sacct by which its header is recognised."""


@dataclass(frozen=True)
class Layout:
    """Columns of a dump, in order, in small letters."""

    columns: tuple[str, ...]
    trailing: bool
    """Whether every row ends in a separator (`sacct -p`)."""
    separator: str
    """`|`, or the sign of a table that somebody made of a dump, whose cells may be quoted."""
    header: str | None
    """The header's line; the same line again (dumps laid end to end) is no row."""

    @property
    def width(self) -> int:
        """Cells of a row."""
        return len(self.columns) + self.trailing

    @cached_property
    def checks(self) -> tuple[tuple[int, Callable[[str], bool]], ...]:
        """Columns of which it can be said whether a cell may stand in them."""
        return tuple((at, _CHECKS[name]) for at, name in enumerate(self.columns) if name in _CHECKS)

    def find(self, *names: str) -> int | None:
        """Place of the first of these columns that is there."""
        return next((self.columns.index(name) for name in names if name in self.columns), None)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one block, each with as many cells as the layout, and their lines."""

    cells: list[list[str]]
    lines: list[int]


def cells_of(line: str, separator: str) -> list[str]:
    """The cells of a line: sacct itself quotes nothing, tables made of its dumps do."""
    if separator == "|":
        return line.split("|")
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return [line]


def names_of(line: str, separator: str = "|") -> tuple[str, ...]:
    """Names of columns of a header: small letters, without the widths of `JobName%30`."""
    cells = [cell.strip().lower().partition("%")[0] for cell in cells_of(line, separator)] or [""]
    return tuple(cells[:-1] if cells[-1] == "" else cells)


def layout_of(source: Source, settings: Settings) -> Layout:
    """The layout of a dump, from its header or the names that the user gives.

    Raises InputError where there is neither, or where a job could not be told from another.
    """
    first = next((line for line in source.head() if line.strip()), "")
    separator = "|" if "|" in first else separator_of(first)
    found = names_of(first, separator)
    is_header = ("jobid" in found or "jobidraw" in found) and not first[:1].isdigit()
    if settings.columns and not is_header:
        columns = tuple(name.strip().lower().partition("%")[0] for name in settings.columns)
        layout = Layout(columns, len(cells_of(first, separator)) == len(columns) + 1, separator, None)
    elif is_header:
        layout = Layout(found, first.endswith(separator), separator, first)
    else:
        rule = "the dump has no header with JobID: name its columns, as in --columns JobID,State,Submit,..."
        raise InputError(Problem(rule, source.name, 1, value=first))
    _check(layout, source, settings)
    return layout


def _check(layout: Layout, source: Source, settings: Settings) -> None:
    where = "--columns" if layout.header is None else None
    twice = sorted({name for name in layout.columns if layout.columns.count(name) > 1})
    problems = [Problem("this column stands twice", source.name, 1, where, name) for name in twice]
    if layout.find("jobid", "jobidraw") is None:
        problems.append(Problem("the column JobID is missing", source.name, 1, where))
    if settings.team is not None and settings.team.lower() not in layout.columns:
        rule = "the dump has no such column"
        problems.append(Problem(rule, source.name, 1, "--team-column", settings.team, layout.columns))
    if problems:
        raise InputError(problems)


class Steps:
    """Steps among the rows: counted with their jobs, whose resources they repeat."""

    def __init__(self, tally: Tally) -> None:
        self._tally, self._last = tally, ""

    def others(self, names: Sequence[str], numbers: Sequence[int]) -> list[int]:
        """Places of the rows that are no steps; `names` are their job ids."""
        kept: list[int] = []
        steps = 0
        for place, name in enumerate(names):
            if "." not in name:
                kept.append(place)
                self._last = name
                continue
            steps += 1
            base = name[:40].partition(".")[0]
            if base != self._last:  # steps follow their job's row, else the job may not be here at all
                line, count = self._tally.orphans.get(base, (numbers[place], 0))
                self._tally.orphans[base] = line, count + 1
        self._tally.merged["steps"] += steps
        return kept


def rows_of(source: Source, layout: Layout, tally: Tally) -> Iterator[Rows]:
    """Rows of jobs block by block, without steps; blank lines and headers laid in between are passed over."""
    width, steps, ident = layout.width, Steps(tally), layout.find("jobid", "jobidraw") or 0
    early = ident == 0 and layout.separator == "|"
    last, number = "", 0
    for first, block in source.lines():
        last, number = block[-1], first + len(block) - 1
        lines, numbers = block, list(range(first, first + len(block)))
        if early:  # most rows are steps: they need not be taken apart
            kept = steps.others([line[: line.find("|")] for line in lines], numbers)
            tally.rows += len(lines) - len(kept)
            lines, numbers = [lines[place] for place in kept], [numbers[place] for place in kept]
        cells = [cells_of(line, layout.separator) for line in lines]
        if all(len(row) == width for row in cells) and layout.header not in lines:
            tally.rows += len(cells)
            rows = Rows(cells, numbers)
        else:
            rows = _picked(cells, lines, numbers, layout, tally)
        if not early:
            kept = steps.others([row[ident].strip() for row in rows.cells], rows.lines)
            rows = Rows([rows.cells[place] for place in kept], [rows.lines[place] for place in kept])
        yield rows
    if last.strip() and len(cells_of(last, layout.separator)) < width:
        tally.remark(f"The last line ({number:,}) is short: the dump may have been cut off.")


def _picked(
    cells: list[list[str]], lines: list[str], numbers: Sequence[int], layout: Layout, tally: Tally
) -> Rows:
    """Rows of a block of which some are blank, a header again, or too long or short."""
    out, width = Rows([], []), layout.width
    for pieces, line, number in zip(cells, lines, numbers, strict=True):
        if not line.strip():
            continue
        if line == layout.header:
            if number > 1:
                tally.remark("Headers stand between the rows as well: dumps laid end to end.")
            continue
        tally.rows += 1
        row = pieces if len(pieces) == width else _repaired(pieces, layout)
        if row is None:
            reason = f"{len(pieces)} cells where the dump has {width}: {line}"
            tally.aside(number, "number of cells", reason)
            continue
        if row is not pieces:
            tally.odd("a pipe inside a text, put together again", [number])
        out.cells.append(row)
        out.lines.append(number)
    return out


def _repaired(row: list[str], layout: Layout) -> list[str] | None:
    """The row with the pieces of a torn text put together; None where no way makes sense."""
    row = row[:-1] if layout.trailing and row[-1] == "" else row
    extra = len(row) - len(layout.columns)
    if not 0 < extra <= 50:
        return None
    for name in FREE_TEXTS:
        place = layout.find(name)
        if place is None:
            continue
        whole = [
            *row[:place],
            layout.separator.join(row[place : place + extra + 1]),
            *row[place + extra + 1 :],
        ]
        if all(check(whole[at]) for at, check in layout.checks):
            return [*whole, ""] if layout.trailing else whole
    return None


def _is_time(cell: str) -> bool:
    return _STAMP.match(cell) is not None or is_missing(cell)


def _is_span(cell: str) -> bool:
    return clock_duration(cell) != BAD


def _is_id(cell: str) -> bool:
    return tasks_of(cell.partition(".")[0]) is not None


def _is_count(cell: str) -> bool:
    return not cell or cell.isdigit() or is_missing(cell)


def _is_tres(cell: str) -> bool:
    return not cell or "=" in cell


_CHECKS: Mapping[str, Callable[[str], bool]] = {
    **dict.fromkeys(_TIMES, _is_time),
    **dict.fromkeys(("jobid", "jobidraw"), _is_id),
    "state": lambda cell: state_of(cell) is not None,
    **dict.fromkeys(_SPANS, _is_span),
    **dict.fromkeys(("elapsedraw", "timelimitraw", "nnodes", "alloccpus", "ncpus"), _is_count),
    **dict.fromkeys(("alloctres", "reqtres"), _is_tres),
}
"""Column -> whether a cell may stand in it."""
