"""Phrases of a text put in place one by one, so that what lies between them stays where it is.

A group of phrases is a file of `words/*`: `working`, `ledger`, `sourced`. A hole in a phrase stands for a
figure or a word of the catalogue (`{a}` to `{d}`), a figure (`{m}`, `{n}`), a span of time (`{r}`, `{s}`)
or a date, with its time where it has one (`{t}`, `{u}`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from sim.ui.language import catalogue
from sim.ui.told import span_told

__all__ = ["phrase", "phrased"]

_FIELD = re.compile(r"\\\{(\w)\\\}")
"""A hole in a phrase, after its signs have been escaped."""

_FIGURE = r"\d[\d,.]*\d%?|\d"
_DATE = r"\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d(?:\.\d+)?)?)?"
_SPAN = r"\d+(?:d|h|min|s|ms|us)(?: \d+(?:h|min|s|ms|us))*"
_FORMS: Mapping[str, str] = {
    **dict.fromkeys("mn", _FIGURE),
    **dict.fromkeys("rs", _SPAN),
    **dict.fromkeys("tu", _DATE),
}
_SPANS = "rs"


def phrased(text: str, group: str, code: str) -> str:
    """The text with each phrase of the group in the language of this code; what no phrase gives stays."""
    return _phrases(group).sub(lambda found: _told(found, group, code), text)


def phrase(text: str, group: str, code: str) -> str | None:
    """The text in that language where it is one phrase as a whole; else None."""
    found = _phrases(group).fullmatch(text)
    return None if found is None else _told(found, group, code)


def _told(found: re.Match[str], group: str, code: str) -> str:
    key = str(found.lastgroup)
    number = key.removeprefix("p")
    values = {name[0]: value for name, value in found.groupdict().items() if name[1:] == f"_{number}"}
    shown = {name: span_told(value) if name in _SPANS else value for name, value in values.items()}
    return catalogue(code)[_keys(group)[int(number)]].format(**shown)


@lru_cache(maxsize=8)
def _keys(group: str) -> tuple[str, ...]:
    """Keys of the phrases, the longest phrase first, so that a part of it never goes before it."""
    english: Mapping[str, str] = catalogue("en")
    found = [key for key in english if key.startswith(f"{group}.")]
    return tuple(sorted(found, key=lambda key: -len(english[key])))


@lru_cache(maxsize=8)
def _phrases(group: str) -> re.Pattern[str]:
    parts = []
    for number, key in enumerate(_keys(group)):
        text = re.escape(catalogue("en")[key])
        for name in set(_FIELD.findall(text)):
            text = text.replace(rf"\{{{name}\}}", _field(name, number))
        parts.append(f"(?P<p{number}>{text})")
    return re.compile(rf"(?<![\w-])(?:{'|'.join(parts)})(?![\w-])")


def _field(name: str, number: int) -> str:
    form = _FORMS.get(name, rf"{_FIGURE}|[^\s:;,]+")
    return f"(?P<{name}_{number}>{form})"
