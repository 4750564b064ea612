"""What the loader refuses, in the page's language: rules are told; keys, values and known names stay.

Rules stand in `words/*/rules.yaml` as the code has them, `{}` for what is filled in. A test finds each of
them in the code. A rule that has none there stays English.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sim.errors import FleetsimError, InputError, Problem
from sim.ui.language import catalogue, language

__all__ = ["error_told", "problem_told", "rule_sentence", "rule_told"]

_NESTED = "{rule}"
"""A rule within a rule."""


def rule_told(rule: str) -> str:
    """A rule of the loader in the page's language."""
    if language() == "en":
        return rule
    for key, pattern in _rules():
        found = pattern.fullmatch(rule)
        if found is not None:
            return _filled(key, found)
    return rule


def rule_sentence(rule: str, where: str = "") -> str:
    """The rule as a sentence, after the place of which it is said."""
    told = rule_told(rule)
    text = f"{where}: {told}" if where else told if _begins_with_a_name(rule) else told[:1].upper() + told[1:]
    return text + catalogue(language())["form.full_stop"]


def _begins_with_a_name(rule: str) -> bool:
    """Whether the first word is a value, such as the id of an offer, which stays as it is written."""
    first = rule.partition(" ")[0].rstrip(",:;")
    if not first.replace("'", "").isalpha():
        return True
    key = next((key for key, pattern in _rules() if pattern.fullmatch(rule)), None)
    return key is not None and catalogue("en")[key].startswith("{}")


def problem_told(problem: Problem) -> str:
    """A problem with its place in the file, what was found and the known names."""
    if language() == "en":
        return str(problem)
    line = "" if problem.line is None else f":{problem.line}"
    place = ": ".join(filter(None, (f"{problem.file or ''}{line}", problem.key)))
    texts = catalogue(language())
    found = "" if problem.value is None else texts["form.found"].format(value=problem.value)
    known = texts["form.known"].format(names=", ".join(problem.known)) if problem.known else ""
    return " ".join(filter(None, (rule_sentence(problem.rule, place), found, known)))


def error_told(error: FleetsimError) -> str:
    """An error of the program; of refused input every problem, a line each."""
    if language() == "en" or not isinstance(error, InputError):
        return str(error)
    return "\n".join(map(problem_told, error.problems))


def _filled(key: str, found: re.Match[str]) -> str:
    text = catalogue(language())[key]
    nested = found.groupdict().get("rule")
    if nested is not None:
        text = text.replace(_NESTED, rule_told(nested))
    for value in found.groups() if nested is None else ():
        text = text.replace("{}", value, 1)
    return text


@lru_cache(maxsize=1)
def _rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Those with the most letters first, so that a rule without values goes before one with them."""
    found = {key: text for key, text in catalogue("en").items() if key.startswith("rules.")}
    ordered = sorted(found, key=lambda key: -len(found[key].replace("{}", "")))
    return tuple((key, _pattern(found[key])) for key in ordered)


def _pattern(text: str) -> re.Pattern[str]:
    escaped = re.escape(text).replace(re.escape(_NESTED), "(?P<rule>.+)")
    return re.compile(escaped.replace(re.escape("{}"), "(.+?)"), re.DOTALL)
