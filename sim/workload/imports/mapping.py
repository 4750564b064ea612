"""Which column of a table is which field, and in which unit: presets, the user's map, or the names.

Nothing is guessed in silence: what was inferred is a remark of the import, and a number whose unit is
not known is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from sim.errors import InputError, Problem
from sim.workload.imports.fields import FIELDS, UNITS, base_and_unit, guesses
from sim.workload.imports.settings import Settings
from sim.workload.imports.tally import Tally

__all__ = ["Column", "Plan", "plan_for", "preset_names"]

_TIMED = ("moment", "span")
_LARGEST_MAP = 2**20


@dataclass(frozen=True, slots=True)
class Column:
    """Where a field comes from."""

    name: str
    unit: str | None = None
    """Unit of its numbers; None: not known, or the field is no time."""
    scale: float = 1.0
    """Factor of a decimal, such as 0.001 for thousandths."""
    field: str = ""
    """The field that it is the source of."""


Plan = Mapping[str, Column]
"""Field of the normal form -> column of the file."""


@cache
def _presets() -> Mapping[str, Any]:
    text = files("sim.workload.imports").joinpath("presets.yaml").read_text("utf-8")
    loaded: Mapping[str, Any] = YAML(typ="safe").load(text)
    return loaded


def preset_names() -> tuple[str, ...]:
    """Names of the maps that come with the program."""
    return tuple(_presets())


def plan_for(columns: tuple[str, ...], file: str, line: int | None, settings: Settings, tally: Tally) -> Plan:
    """The plan for a table with these columns, its header in `line`.

    Raises InputError for unknown fields, columns that are not there, contradicting units, and a table
    that says neither how long jobs ran nor on how many cards.
    """
    twice = sorted({name for name in columns if columns.count(name) > 1 and name})
    chosen = _chosen(columns, settings, tally)
    problems = [Problem("this column stands twice", file, line, value=name) for name in twice if name in
                {column.name for column in chosen.values()}]  # fmt: skip
    for name, column in chosen.items():
        if name not in FIELDS:
            problems.append(Problem("unknown field", key="--map", value=name, known=tuple(FIELDS)))
        elif column.name not in columns:
            rule = f"the table has no such column for {name}"
            problems.append(Problem(rule, file, line, value=column.name, known=columns[:60]))
    if problems:
        raise InputError(problems)
    plan = {
        name: replace(_with_unit(name, column, settings, tally), field=name)
        for name, column in chosen.items()
    }
    _check(plan, columns, file, line)
    used = {column.name for column in plan.values()}
    unused = [name for name in columns if name and name not in used]
    if unused:
        shown = ", ".join(repr(name) for name in unused[:12]) + (", ..." if len(unused) > 12 else "")
        tally.remark(f"Columns that were not used: {shown}.")
    return plan


def _chosen(columns: tuple[str, ...], settings: Settings, tally: Tally) -> dict[str, Column]:
    """By the user's word, else a preset whose header this is, else the names of the columns.

    A map in a file is the whole word; `--map FIELD=COLUMN` is on these fields and columns, not on the others.
    """
    chosen: dict[str, Column] = {}
    preset = settings.preset
    said = bool(settings.mapping or settings.map_file)
    if preset is None and not said:
        fitting = (name for name, data in _presets().items() if set(data["header"]) <= set(columns))
        preset = next(fitting, None)
        if preset is not None:
            tally.remark(f"The columns are those of the preset {preset}.")
    if preset is not None:
        if preset not in _presets():
            raise InputError(Problem("unknown preset", key="--preset", value=preset, known=preset_names()))
        data = _presets()[preset]
        tally.remark(f"Preset {preset}: {data['about']} (source: {data['source']}).")
        for remark in data["remarks"]:
            tally.remark(remark)
        chosen |= {name: _entry(entry) for name, entry in data["columns"].items()}
    elif settings.map_file is None:
        named = {_column(text, columns).name for text in settings.mapping.values()}
        chosen = _by_name(tuple(name for name in columns if name not in named), tally, settings.mapping)
    if settings.map_file is not None:
        chosen |= _read_map(settings.map_file)
    chosen |= {name: _column(text, columns) for name, text in settings.mapping.items()}
    if settings.team is not None:
        chosen["team"] = Column(settings.team)
    elif "team" not in chosen and "user" in chosen:
        chosen["team"] = chosen["user"]
        tally.remark("The team of a job is its user; another column is named by --team-column.")
    return chosen


def _entry(entry: Mapping[str, Any]) -> Column:
    return Column(entry["column"], entry.get("unit"), entry.get("scale", 1.0))


def _by_name(columns: tuple[str, ...], tally: Tally, said: Collection[str]) -> dict[str, Column]:
    """Columns with the names of the normal form, and for other fields columns with words for them; `said`:
    fields of which the user has said the column."""
    own = {name: Column(name, "s" if name.endswith("_s") else None) for name in columns if name in FIELDS}
    if not {"gpus", "runtime_s"} & set(own):
        own = {}  # a single `state` or `gpu` may mean anything elsewhere
    rest = tuple(name for name in columns if name not in own)
    own = {name: column for name, column in own.items() if name not in said}
    found = {name: column for name, column in guesses(rest).items() if name not in own and name not in said}
    if found:
        words = ", ".join(f"{name} from {column!r}" for name, column in found.items())
        tally.remark(f"Taken by the names of the columns: {words}. Use --map if that is wrong.")
    return {**{name: Column(column) for name, column in found.items()}, **own}


def _column(text: str, columns: tuple[str, ...]) -> Column:
    """`Duration` or `Duration:min`; a column whose name has a colon is found whole."""
    if text not in columns and ":" in text:
        name, _, unit = text.rpartition(":")
        if unit in UNITS:
            return Column(name, unit)
    return Column(text)


def _read_map(path: Path) -> dict[str, Column]:
    """A map in YAML: `columns:` with `field: column`, or `field: {column: ..., unit: ..., scale: ...}`."""
    name = str(path)
    try:
        with path.open("rb") as stream:
            text = stream.read(_LARGEST_MAP).decode("utf-8-sig")
        loaded = YAML(typ="safe").load(text)
    except (OSError, UnicodeDecodeError, YAMLError, RecursionError) as error:
        what = getattr(error, "strerror", None) or getattr(error, "problem", None) or "it is no YAML in UTF-8"
        raise InputError(Problem(f"the map cannot be read: {what}", name)) from None
    entries = loaded.get("columns") if isinstance(loaded, dict) else None
    if not isinstance(entries, dict):
        raise InputError(Problem("a map has the key columns, with a column of the file for each field", name))
    return {str(field): _mapped(entry, name, f"columns.{field}") for field, entry in entries.items()}


def _mapped(entry: Any, file: str, key: str) -> Column:
    if isinstance(entry, str):
        return Column(entry)
    if not isinstance(entry, dict) or not isinstance(entry.get("column"), str):
        raise InputError(
            Problem("must be the name of a column, or {column: ..., unit: ...}", file, None, key, entry)
        )
    unknown = [word for word in entry if word not in {"column", "unit", "scale"}]
    if unknown:
        raise InputError(Problem("unknown key", file, None, key, unknown[0], ("column", "unit", "scale")))
    unit, scale = entry.get("unit"), entry.get("scale", 1.0)
    if unit is not None and unit not in UNITS:
        raise InputError(Problem("unknown unit", file, None, f"{key}.unit", unit, tuple(UNITS)))
    if not isinstance(scale, int | float) or not 0 < scale < 1e12:
        raise InputError(Problem("must be a number above 0", file, None, f"{key}.scale", scale))
    return Column(entry["column"], unit, float(scale))


def _with_unit(name: str, column: Column, settings: Settings, tally: Tally) -> Column:
    """The unit of a time: stated for the column, else by the column's name, else by `--unit`."""
    if FIELDS[name].kind not in _TIMED or column.unit is not None:
        return column
    if settings.unit is not None and settings.unit not in UNITS:
        raise InputError(Problem("unknown unit", key="--unit", value=settings.unit, known=tuple(UNITS)))
    _, hint = base_and_unit(column.name)
    if hint is None:
        return replace(column, unit=settings.unit)
    if settings.unit is not None and settings.unit != hint and FIELDS[name].kind == "span":
        rule = (
            f"the column {column.name!r} says {hint} and --unit says {settings.unit}; "
            f"settle it for this column, as in --map {name}={column.name}:{settings.unit}"
        )
        raise InputError(Problem(rule, key="--unit", value=settings.unit))
    tally.remark(f"Numbers in {column.name!r} are taken as {hint}, by the column's name.")
    return replace(column, unit=hint)


def _check(plan: Plan, columns: Sequence[str], file: str, line: int | None) -> None:
    problems = []
    shown = f"; its columns: {', '.join(columns[:60])[:1200]}"
    if "gpus" not in plan:
        rule = "no column says how many cards a job had; name it, as in --map gpus=COLUMN"
        problems.append(Problem(rule + shown, file, line))
    if "runtime_s" not in plan and not {"start_s", "end_s"} <= set(plan):
        rule = (
            "no column says how long a job ran; name it, as in --map runtime_s=COLUMN (or start_s and end_s)"
        )
        problems.append(Problem(rule + shown, file, line))
    if problems:
        raise InputError(problems)
