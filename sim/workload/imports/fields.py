"""Fields of the normal form that a column of a table may be mapped to, and how columns are known by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from ruamel.yaml import YAML

__all__ = ["FIELDS", "UNITS", "Field", "base_and_unit", "guesses", "words"]

Kind = Literal["moment", "span", "cards", "count", "decimal", "text", "state", "truth"]

UNITS: Mapping[str, int] = {
    "us": 1,
    "ms": 1000,
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}
"""Units of time, in microseconds."""

_UNIT_WORDS: Mapping[str, str] = {
    **{name: name for name in UNITS},
    **dict.fromkeys(("sec", "secs", "second", "seconds", "秒", "秒数", "秒钟"), "s"),
    **dict.fromkeys(("mins", "minute", "minutes", "分", "分钟", "分钟数"), "min"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours", "小时", "小时数", "时"), "h"),
    **dict.fromkeys(("day", "days", "天", "天数"), "d"),
    **dict.fromkeys(("msec", "millis", "milliseconds", "毫秒"), "ms"),
}
_AFTER = re.compile(r"^(.*?)[\s_\-]*[\[(（【]\s*([^\])）】]+?)\s*[\])）】]$")
_LAST = re.compile(r"^(.*?)[\s_\-]+([A-Za-z]+)$")


@dataclass(frozen=True, slots=True)
class Field:
    """A field: the column of the table in the making, and what a cell of it is."""

    column: str
    kind: Kind


FIELDS: Mapping[str, Field] = {
    "submit_s": Field("submit", "moment"),
    "gpus": Field("gpus", "cards"),
    "runtime_s": Field("runtime", "span"),
    "id": Field("id", "text"),
    "memory_gib": Field("memory_gib", "decimal"),
    "team": Field("team", "text"),
    "deadline_s": Field("deadline", "span"),
    "priority": Field("priority", "count"),
    "gpu": Field("gpu", "text"),
    "limit_s": Field("limit", "span"),
    "spans": Field("spans", "truth"),
    "runtime_gpu": Field("runtime_gpu", "text"),
    "demand": Field("demand", "decimal"),
    "state": Field("state", "state"),
    "wait_s": Field("wait", "span"),
    "start_s": Field("start", "moment"),
    "end_s": Field("end", "moment"),
    "user": Field("user", "text"),
    "name": Field("name", "text"),
    "queue": Field("queue", "text"),
    "card": Field("card", "text"),
    "card_share": Field("card_share", "decimal"),
    "host_memory_gib": Field("host_memory_gib", "decimal"),
    "lost_s": Field("lost", "span"),
    "attempts": Field("attempts", "count"),
    "censored": Field("censored", "text"),
}
"""Name in the normal form (and in `--map`) -> field; a new one is a row here and in `columns.RAW`."""


@cache
def words(part: str) -> Mapping[str, tuple[str, ...]]:
    """The part `columns` or `states` of words.yaml."""
    text = files("sim.workload.imports").joinpath("words.yaml").read_text("utf-8")
    loaded = YAML(typ="safe").load(text)[part]
    return {name: tuple(listed) for name, listed in loaded.items()}


def base_and_unit(name: str) -> tuple[str, str | None]:
    """A column's name in small letters without signs between, and the unit that it says.

    `Duration (min)`, `duration_s`, `run time hours`, `时长(小时)` and `小时` say one.
    """
    text = name.strip().casefold()
    unit = None
    found = _AFTER.match(text) or _LAST.match(text)
    if found is not None and found[2].strip() in _UNIT_WORDS:
        text, unit = found[1], _UNIT_WORDS[found[2].strip()]
    elif text in _UNIT_WORDS:
        unit = _UNIT_WORDS[text]
    else:
        ends = (word for word in _UNIT_WORDS if not word.isascii() and text.endswith(word))
        word = max(ends, key=len, default=None)
        unit = None if word is None else _UNIT_WORDS[word]
    return re.sub(r"[\s_\-./]+", "", text), unit


def guesses(columns: tuple[str, ...]) -> dict[str, str]:
    """Field -> column whose name is a word for it; each column is used once."""
    bases = {column: base_and_unit(column)[0] for column in columns}
    found: dict[str, str] = {}
    for name, listed in words("columns").items():
        for word in listed:
            match = next((c for c in columns if bases[c] == word and c not in found.values()), None)
            if match is not None:
                found[name] = match
                break
    return found
