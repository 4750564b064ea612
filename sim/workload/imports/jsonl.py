"""JSON lines: one object a line; keys of objects inside are joined by a dot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from sim.errors import InputError, Problem
from sim.workload.imports.delimited import Gathered, check_columns
from sim.workload.imports.mapped import Mapper
from sim.workload.imports.mapping import plan_for
from sim.workload.imports.settings import Settings
from sim.workload.imports.source import Source
from sim.workload.imports.tally import Tally

__all__ = ["read_jsonl"]

_SHOWN_KEYS = 12
"""Keys that a remark writes out."""


def read_jsonl(source: Source, settings: Settings, tally: Tally) -> Iterator[pa.Table]:
    """Jobs of a file with one JSON object a line; a key that a line lacks is an empty cell.

    The columns are the keys of the first lines; one that comes only later is left out and told.
    """
    columns = _columns(source)
    known, late = set(columns), dict[str, None]()
    plan = plan_for(columns, source.name, 1, settings, tally)
    mapper, gathered = Mapper(plan, source.name, settings, tally), Gathered(columns, plan, tally)
    for first, lines in source.lines():
        for number, line in enumerate(lines, start=first):
            if not line.strip():
                continue
            found = _object(line)
            if isinstance(found, str):
                tally.rows += 1
                tally.aside(number, "JSON", f"{found}: {line}")
                continue
            if not known.issuperset(found):
                late |= dict.fromkeys(name for name in found if name not in known and len(late) < _SHOWN_KEYS)
                tally.odd("a key that none of the first lines has, left out", [number])
            gathered.add(number, [found.get(name) for name in columns])
            if gathered.full:
                yield mapper.jobs(gathered.block())
    if len(gathered):
        yield mapper.jobs(gathered.block())
    if late:
        shown = ", ".join(repr(name) for name in late)
        tally.remark(
            f"Keys that come late in the file and were left out: {shown}; put a line with them first."
        )


def _columns(source: Source) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for line in source.head():
        found = _object(line) if line.strip() else {}
        if not isinstance(found, str):
            names |= dict.fromkeys(found)
            check_columns(names, source)
    if not names:
        rule = "no line is a JSON object; JSON lines have one object a line (a list: jq -c '.[]' makes it so)"
        raise InputError(Problem(rule, source.name, 1))
    return tuple(names)


def _object(line: str) -> dict[str, str | None] | str:
    """The cells of one object as text; a sentence where the line is none."""
    try:
        loaded = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        return (
            f"this is no JSON ({error})" if isinstance(error, ValueError) else "the line is nested too deeply"
        )
    if not isinstance(loaded, dict):
        return "this is no JSON object"
    cells: dict[str, str | None] = {}
    for key, value in loaded.items():
        if isinstance(value, dict):
            cells |= {f"{key}.{below}": _text(deep) for below, deep in value.items()}
        else:
            cells[key] = _text(value)
    return cells


def _refuse(word: str) -> Any:
    msg = f"{word} is no number of JSON"
    raise ValueError(msg)


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)
