"""Sentences of the program, said in the page's language.

The program says a sentence from a template (`sim.model.said`), and every document holds the English text.
Here the text is read back by the templates of `words/en/said.yaml`, and said by those of the language;
values that are words of the program (a plan, a line of the target, a unit) by `saidof.yaml`. Names of
users stay as they are, and so does a text that no template gives. In English nothing is changed.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from sim.ui.language import catalogue, language
from sim.ui.metric_words import metric_name

__all__ = [
    "CONDITIONS",
    "in_words",
    "lease_name",
    "read",
    "span_told",
    "split_name",
    "told",
    "unit_name",
    "with_units",
]

NAMES = frozenset({"name", "than", "offer", "gpu", "model"})
"""Values that are names: of the user's strategies and classes, of the catalogue's entries."""

CLAUSES = frozenset(
    {"back", "beside", "facts", "fee", "head", "how", "miss", "on", "price", "published", "reason", "signs"}
    | {"spread", "step"}
)
"""Values that are sentences of the program themselves."""

SURE = frozenset({"basis", "means", "metric"})
"""Values that are words of the program and of nobody else."""

CONDITIONS: Mapping[str, str] = {
    "refused": "jobs_refused",
    "stable queue": "overloaded",
    "wait_mean": "wait_mean_h",
    "wait_p95": "wait_p95_h",
    "on_time": "on_time_share",
}
"""Lines of a target as the program writes them, and the metrics that they are about."""

LISTS: Mapping[str, tuple[str, str]] = {
    "signs": ("; ", "reason"),
    "metrics": (" and ", "metric"),
    "counts": (" or ", "count"),
}
"""Values that are lists: what stands between the parts, and what a part is."""

WEAK = 6
"""Letters below which a template is only believed where the sentences in it are read as well."""

_NUMBER = r"[+-]?[\d.,]+(?:e[+-]?\d+)?"
_SPAN = re.compile(r"(\d+)(d|h|min|s|ms|us)(?= |$)")
_LEASE = re.compile(r"\blease (\d+)")
_GROWTH = re.compile(rf"({_NUMBER})(%/[a-z]+)")
_AMOUNT = re.compile(r"([+-]?[\d.,]+) ([A-Za-z/]+)")
_NUMBERS = (
    "asked", "backlog", "batches", "cards", "change", "days", "draws", "early", "has", "high", "hours",
    "jobs", "kept", "late", "left", "load", "low", "machines", "mean", "most", "needs", "run", "runs",
    "seconds", "share", "short", "steps", "stretch", "times", "tokens", "usable",
)  # fmt: skip
_AMOUNTS = ("cost", "found", "limit", "more", "owed", "part", "value", "wait")
_FORMS: Mapping[str, str] = {
    **dict.fromkeys(_NUMBERS, _NUMBER),
    **dict.fromkeys(_AMOUNTS, r"[+-]?[\d.,]+(?: [A-Za-z/%]+)?|-"),
    **dict.fromkeys(("name", "than"), r"'.+?'|.+?"),
    **dict.fromkeys(("deviation", "lower", "middle", "sigma", "upper"), r"[^,]+?"),
    "leases": r"(?:lease \d+|burst)(?:, (?:lease \d+|burst))*",
    "span": r"\d+(?:d|h|min|s|ms|us)(?: \d+(?:h|min|s|ms|us))*|no time",
    "spread": r"one of .+ \([\d.]+ %\)|[^()]+?",
}
"""How a value is written, where it is a number, an amount or a name, so that a template fits nothing else."""


@dataclass(frozen=True)
class _Template:
    key: str
    pattern: re.Pattern[str]
    letters: int
    """Of the text around the values: the more, the less it fits by chance."""


def told(text: str, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """The sentence, or several with a semicolon between them, in the page's language.

    `names` says how some names are shown there.
    """
    return text if language() == "en" else in_words(text, names)


def in_words(text: str, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """As `told`, and in English too: fleets by their names, lines of the target by those of their metrics."""
    if read(text) is None and all(read(part) is not None for part in text.split("; ")):
        return _value("signs", text, names)
    return _told(text, names) or text


def _told(text: str, names: Mapping[str, str]) -> str | None:
    found = read(text)
    if found is None:
        return None
    key, values = found
    shown = {name: _value(name, value, names) for name, value in values.items()}
    return catalogue(language())[key].format(**shown)


def _value(kind: str, text: str, names: Mapping[str, str]) -> str:
    """A value of a sentence in the page's language."""
    kind = _kind(kind)
    if kind in LISTS:
        between, one = LISTS[kind]
        return (_word("list", between) or between).join(
            _value(one, part, names) for part in text.split(between)
        )
    if kind in NAMES:
        return names.get(text.strip("'"), text)
    if kind == "leases":
        return lease_name(text)
    if kind in CLAUSES:
        return _told(_sentence(text), names) or _plain(kind, text)
    if kind == "split":
        return split_name(text)
    if kind == "metric" and language() == "en":
        return metric_name(CONDITIONS.get(text, text))
    return _plain(kind, text)


def _kind(name: str) -> str:
    """What a value is: `basis2` and `basis3` are further ones of their kind."""
    return name.rstrip("0123456789")


def _plain(kind: str, text: str) -> str:
    """An amount, a span of time, a growth or a word of the program; what is none of them stays."""
    if kind in ("span", "step") and re.fullmatch(_FORMS["span"], text) and text[0].isdigit():
        return span_told(text)
    growth = _GROWTH.fullmatch(text)
    if growth is not None:
        return f"{growth[1]}{unit_name(growth[2])}"
    amount = _AMOUNT.fullmatch(text)
    if amount is not None:
        return f"{amount[1]} {unit_name(amount[2])}"
    return _word(kind, text) or text


def span_told(text: str) -> str:
    """A span of time as the program writes it, `2h 30min`, in the page's language."""
    return _SPAN.sub(lambda one: f"{one[1]} {unit_name(one[2])}", text)


def _sentence(text: str) -> str:
    """A sentence as it is said alone: after a name and a colon it begins with a small letter."""
    large = text[:1].upper() + text[1:]
    return large if read(text) is None and read(large) is not None else text


def unit_name(unit: str) -> str:
    """A unit of the program in the page's language: `CNY/month` or `元/月`."""
    return _word("unit", unit) or unit


def lease_name(text: str) -> str:
    """A lease, or several, by their numbers in the strategy: `lease 0`, `lease 0, burst`."""
    return _LEASE.sub(lambda one: f"{unit_name('lease')} {one[1]}", text)


def with_units(text: str) -> str:
    """A text in the page's language whose amounts still have the program's units: `2,800 元/月`."""
    return (
        text if language() == "en" else _amounts_in().sub(lambda one: f"{one[1]} {unit_name(one[2])}", text)
    )


@lru_cache(maxsize=1)
def _amounts_in() -> re.Pattern[str]:
    units = sorted((unit for kind, unit in _words() if kind == "unit"), key=len, reverse=True)
    # What is followed by a factor is no unit: `4 x 2,800`, `4 x (1 + 2)`, `8 x A100-40G`.
    return re.compile(rf"(\d) ({'|'.join(map(re.escape, units))})(?![\w/]| \d|(?<=x) [A-Z(])")


def split_name(text: str) -> str:
    """How a job is divided over its cards: `tensor 4 x data parallel 2`, in the page's language."""
    if language() == "en":
        return text
    return " × ".join(map(_dimension, text.split(" x ")))


def _dimension(text: str) -> str:
    whole = _word("split", text)
    if whole is not None:
        return whole
    kind, _, number = text.rpartition(" ")
    known = _word("split", kind)
    return text if known is None else f"{known} {number}"


def _word(kind: str, text: str) -> str | None:
    """What a word of the program is called in the page's language; None where it is none."""
    key = _words().get((kind, text))
    return None if key is None else catalogue(language())[key]


@lru_cache(maxsize=1)
def _words() -> Mapping[tuple[str, str], str]:
    entries = ((key, text) for key, text in catalogue("en").items() if key.startswith("saidof."))
    return {(key.split(".")[1], text): key for key, text in entries}


@lru_cache(maxsize=1)
def _templates() -> tuple[_Template, ...]:
    """Those of the program, the least ambiguous first."""
    found = [_template(key, text) for key, text in catalogue("en").items() if key.startswith("said.")]
    return tuple(sorted(found, key=lambda one: -one.letters))


def _template(key: str, text: str) -> _Template:
    pattern, letters = "", 0
    for literal, name, _, _ in string.Formatter().parse(text):
        pattern += re.escape(literal)
        letters += sum(sign.isalpha() for sign in literal)
        if name is not None:
            pattern += f"(?P<{name}>{_form(_kind(name))})"
    return _Template(key, re.compile(pattern, re.DOTALL), letters)


def _form(kind: str) -> str:
    if kind in SURE:
        return "|".join(re.escape(text) for known, text in _words() if known == kind)
    return _FORMS.get(kind, ".+?")


@lru_cache(maxsize=4096)
def read(text: str) -> tuple[str, Mapping[str, str]] | None:
    """Key of the template that gives the text, and the values in it; None where there is none."""
    doubtful = None
    for one in _templates():
        match = one.pattern.fullmatch(text)
        if match is None:
            continue
        if all(_known(_kind(name), value) for name, value in match.groupdict().items()):
            return one.key, match.groupdict()
        if doubtful is None and one.letters >= WEAK:
            doubtful = one.key, match.groupdict()
    return doubtful


def _known(kind: str, value: str) -> bool:
    """Whether a value that is a sentence is one that the program says."""
    if kind not in CLAUSES:
        return True
    parts = value.split("; ") if kind == "signs" else [value]
    return all(read(_sentence(part)) is not None for part in parts)
