"""Numbers with a unit: as files write them (`4h`, `6/day`, `3%/month`, `5%`), and as number and unit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from sim.ui.question_edits import UNSET

__all__ = ["UNITS", "USUAL", "UnitForm", "as_number", "parted_unit", "written"]

UnitForm: TypeAlias = Literal["duration", "rate", "growth", "tolerance"]

UNITS: Mapping[str, tuple[str, ...]] = {
    "duration": ("s", "min", "h", "d", "w"),
    "rate": ("h", "day", "week", "month", "year"),
    "growth": ("week", "month", "year"),
    "tolerance": ("%", ""),
}
"""Units that a form offers; no unit is the unit of what the number belongs to."""

USUAL: Mapping[str, str] = {"duration": "h", "rate": "day", "growth": "month", "tolerance": "%"}
"""The unit that an empty field begins with."""

_WRITTEN: Mapping[str, tuple[re.Pattern[str], str]] = {
    "duration": (re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*([a-z]+)\s*", re.IGNORECASE), "{}{}"),
    "rate": (re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*/\s*([a-z]+)\s*", re.IGNORECASE), "{}/{}"),
    "growth": (re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*%\s*/\s*([a-z]+)\s*", re.IGNORECASE), "{}%/{}"),
    "tolerance": (re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(%?)\s*"), "{}{}"),
}
_SAME = {
    "duration": {
        **dict.fromkeys(("sec", "second", "seconds"), "s"),
        **dict.fromkeys(("mins", "minute", "minutes"), "min"),
        **dict.fromkeys(("hr", "hour", "hours"), "h"),
        **dict.fromkeys(("day", "days"), "d"),
        **dict.fromkeys(("week", "weeks"), "w"),
    },
    "rate": {"hr": "h", "hour": "h", "hours": "h", "d": "day", "days": "day", "w": "week", "weeks": "week"},
    "growth": {"w": "week", "weeks": "week"},
}
"""Other words of files for the same units."""


def parted_unit(form: str, value: Any) -> tuple[float, str] | None:
    """The number and the unit of a text such as 4h or 6/day; None where it is not one number and one unit.

    `1h 30min` and units that a form does not offer are left to be shown as text. A number below 0 keeps its
    box: the loader says what is wrong with it.
    """
    text = f"{value:.12g}" if isinstance(value, int | float) else str(value)
    found = _WRITTEN[form][0].fullmatch(text)
    if found is None:
        return None
    unit = found[2].lower()
    unit = _SAME.get(form, {}).get(unit, unit)
    return (float(found[1]), unit) if unit in UNITS[form] else None


def written(form: str, number: float, unit: str) -> Any:
    """A number and a unit as a file has them: `4h`; without a unit the number."""
    if unit == "":
        return as_number(number)
    text = f"{number:.15f}".rstrip("0").rstrip(".")
    return _WRITTEN[form][1].format(text, unit)


def as_number(value: float | None) -> Any:
    """A number as a file has it: whole where it is whole; UNSET for an empty field."""
    if value is None:
        return UNSET
    return int(value) if value == int(value) and abs(value) < 2**53 else value
