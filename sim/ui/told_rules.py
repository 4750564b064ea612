"""What the loader and the import refuse, in the page's language: rules are told; keys, values and names stay.

Rules stand in `words/*/rules.yaml`, those of the import and what it remarks in `words/*/records.yaml`, as
the code has them; a hole (`{}`, or `{a}` where its place in the sentence differs) stands for what is filled
in. A test finds each of them in the code, and lists those of the code that have none and stay English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from sim.errors import FleetsimError, InputError, Problem
from sim.ui.language import catalogue, language

__all__ = ["error_told", "found_and_known", "matched", "problem_told", "rule_sentence", "rule_told"]

_HOLE = re.compile(r"\{(\w*)\}")
_FORMS: Mapping[str, str] = {"f": r"[\w.-]+", "n": r"[+-]?\d[\d.,]*", "q": "'[^']*'|\"[^\"]*\""}
"""What a hole takes: a single word, a number, a quoted text; any other takes any text."""
_ENDS = ("?", "？", "。")
_RULE, _RULES, _NAMES = "rule", "rules", "names"
"""Holes that hold a rule or a phrase themselves, several with commas between them, or such names."""


def rule_told(rule: str) -> str:
    """A rule of the loader in the page's language."""
    if language() == "en":
        return rule
    told = matched(rule)
    return rule if told is None else told


def matched(rule: str) -> str | None:
    """The rule in the page's language by the catalogue; None where it has none for it."""
    found = _found(rule)
    return None if found is None else _filled(*found)


@lru_cache(maxsize=4096)
def _found(rule: str) -> tuple[str, re.Match[str]] | None:
    """The key of the rule, and what is filled in."""
    for key, begins, pattern in _rules():
        found = pattern.fullmatch(rule) if rule.startswith(begins) else None
        if found is not None:
            return key, found
    return None


def rule_sentence(rule: str, where: str = "") -> str:
    """The rule as a sentence, after the place of which it is said."""
    told = rule_told(rule)
    text = f"{where}: {told}" if where else told if _begins_with_a_name(rule) else told[:1].upper() + told[1:]
    return text if text.endswith(_ENDS) else text + catalogue(language())["form.full_stop"]


def _begins_with_a_name(rule: str) -> bool:
    """Whether the first word is a value, such as the id of an offer, which stays as it is written."""
    first = rule.partition(" ")[0].rstrip(",:;")
    if not first.replace("'", "").isalpha():
        return True
    found = _found(rule)
    return found is not None and _HOLE.match(catalogue("en")[found[0]]) is not None


def problem_told(problem: Problem) -> str:
    """A problem with its place in the file, what was found and the known names."""
    if language() == "en":
        return str(problem)
    line = "" if problem.line is None else f":{problem.line}"
    place = ": ".join(filter(None, (f"{problem.file or ''}{line}", problem.key)))
    found = None if problem.value is None else str(problem.value)
    return f"{rule_sentence(problem.rule, place)}{found_and_known(found, ', '.join(problem.known))}"


def found_and_known(found: str | None, known: str = "", near: str = "") -> str:
    """What follows a rule: what was found, which names are meant perhaps, and the known ones."""
    texts = catalogue(language())
    parts = (
        "" if found is None else texts["form.found"].format(value=found),
        texts["form.near"].format(names=near) if near else "",
        texts["form.known"].format(names=known) if known else "",
    )
    return "".join(f" {part}" for part in parts if part)


def error_told(error: FleetsimError) -> str:
    """An error of the program; of refused input every problem, a line each."""
    if language() == "en":
        return str(error)
    if not isinstance(error, InputError):
        return rule_told(str(error))
    return "\n".join(map(problem_told, error.problems))


def _filled(key: str, found: re.Match[str]) -> str:
    """The text in the page's language with what was filled in: by name, or one after the other."""
    named = found.groupdict()
    in_order = iter([value for name, value in named.items() if name.startswith("_")])

    def fill(hole: re.Match[str]) -> str:
        value = named[hole[1]] if hole[1] else next(in_order)
        kind = _kind(hole[1])
        if kind == _RULES:
            return _listed(value)
        if kind == _NAMES:
            return value.replace(", ", catalogue(language())["saidof.list.metrics"])
        return rule_told(value) if kind == _RULE else value

    return _HOLE.sub(fill, catalogue(language())[key])


def _listed(text: str) -> str:
    """Phrases with commas between them; a text with another one among them stays as it is."""
    told = [matched(part) for part in text.split(", ")]
    known = [part for part in told if part is not None]
    return catalogue(language())["saidof.list.metrics"].join(known) if len(known) == len(told) else text


def _kind(name: str) -> str:
    """`n` and `n2` are holes of one kind."""
    return name.rstrip("0123456789")


@lru_cache(maxsize=1)
def _rules() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    """Keys, what the rules begin with, and the whole of them.

    Those with the most letters first, so that a rule without values goes before one with them.
    """
    english = catalogue("en")
    found = [key for key in english if key.startswith(("rules.", "records.", "imported."))]
    ordered = sorted(found, key=lambda key: -len(_HOLE.sub("", english[key])))
    return tuple((key, _HOLE.split(english[key])[0], _pattern(english[key])) for key in ordered)


def _pattern(text: str) -> re.Pattern[str]:
    pattern, end = "", 0
    for number, hole in enumerate(_HOLE.finditer(text)):
        name = hole[1] or f"_{number}"
        pattern += f"{re.escape(text[end : hole.start()])}(?P<{name}>{_FORMS.get(_kind(name), '.+?')})"
        end = hole.end()
    return re.compile(pattern + re.escape(text[end:]), re.DOTALL)
