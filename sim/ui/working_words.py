"""The working of a claim in the page's language: its steps, and what they take for granted.

A step is a calculation with its name before it, so phrases are put in place one by one and the figures stay
where they are. Phrases stand in `words/*/working.yaml`; `{a}` in one is a figure or a word of the catalogue,
`{m}` and `{n}` are figures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from sim.ui.language import catalogue, language
from sim.ui.told import read, told, with_units

__all__ = ["assumed", "worked"]

_FIELD = re.compile(r"\\\{(\w)\\\}")
"""A value in a phrase, after its signs have been escaped."""

_FIGURE = r"\d[\d,.]*\d%?|\d"


def worked(text: str) -> str:
    """A step, or what comes out of it, in the page's language; what no phrase gives stays."""
    return text if language() == "en" else with_units(_phrases().sub(_in_language, text))


def assumed(text: str) -> str:
    """What a verdict takes for granted, in the page's language; what the file's author says stays."""
    if language() == "en" or read(text) is not None:
        return told(text)
    found = _phrases().fullmatch(text)
    return text if found is None else _in_language(found)


def _in_language(found: re.Match[str]) -> str:
    key = str(found.lastgroup)
    number = key.removeprefix("p")
    values = {name[0]: value for name, value in found.groupdict().items() if name[1:] == f"_{number}"}
    return catalogue(language())[_keys()[int(number)]].format(**values)


@lru_cache(maxsize=1)
def _keys() -> tuple[str, ...]:
    """Keys of the phrases, the longest phrase first, so that a part of it never goes before it."""
    english: Mapping[str, str] = catalogue("en")
    found = [key for key in english if key.startswith("working.")]
    return tuple(sorted(found, key=lambda key: -len(english[key])))


@lru_cache(maxsize=1)
def _phrases() -> re.Pattern[str]:
    parts = []
    for number, key in enumerate(_keys()):
        phrase = re.escape(catalogue("en")[key])
        for name in set(_FIELD.findall(phrase)):
            phrase = phrase.replace(rf"\{{{name}\}}", _field(name, number))
        parts.append(f"(?P<p{number}>{phrase})")
    return re.compile(rf"(?<![\w-])(?:{'|'.join(parts)})(?![\w-])")


def _field(name: str, number: int) -> str:
    form = _FIGURE if name in "mn" else rf"{_FIGURE}|[^\s:;,]+"
    return f"(?P<{name}_{number}>{form})"
