"""Messages of commands in the page's language: lines as `sim.errors.Problem` writes them, read back.

A line is `file:line: key: rule (found 'value'); did you mean 'name'? known: names`. Its rule is told by
`told_rules`; a line whose rule has no text there stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sim.ui.language import catalogue, language
from sim.ui.told_rules import found_and_known, matched, rule_sentence

__all__ = ["line_told", "message_told", "parted"]

_ERROR, _SEVERAL, _NEXT = "Error: ", re.compile(r"Error: [\d,]+ problems:\s*"), "\n  - "
_KNOWN = re.compile(r"; (?:did you mean (?P<near>[^?]+)\? )?known: (?P<known>.+)", re.DOTALL)
_FOUND = re.compile(r" \(found (?P<found>.+)\)", re.DOTALL)
_BETWEEN = ": "
_PLACE = re.compile(
    r".*\.\w{1,8}(?::\d+)?|[\w.,\[\]-]+|row \d+(?:, [\w ]+)?|--[\w-]+(?:, --[\w-]+)*", re.DOTALL
)
"""A file with its line, a key of a scenario, a row of a table, options."""
_MOST_PLACES = 3


def parted(message: str) -> list[str]:
    """What a failed command said, problem by problem."""
    several = _SEVERAL.match(message)
    if several is None:
        return [message.removeprefix(_ERROR)]
    return [one.strip() for one in f"\n  {message[several.end() :].lstrip()}".split(_NEXT) if one.strip()]


def message_told(message: str) -> str:
    """The message of a failed command, a line a problem; in English nothing is changed."""
    return message if language() == "en" else "\n".join(map(line_told, parted(message)))


def line_told(line: str) -> str:
    """One problem in the page's language, with its place, what was found and the known names."""
    if language() == "en":
        return line
    head, known, near, found = line, "", "", None
    end = _KNOWN.search(head)
    if end is not None and end.end() == len(head):
        head, known, near = head[: end.start()], end["known"], end["near"] or ""
    value = _FOUND.search(head)
    if value is not None and value.end() == len(head):
        head, found = head[: value.start()], value["found"]
    place, rule = _parts(head)
    return line if rule is None else f"{rule_sentence(rule, place)}{found_and_known(found, known, near)}"


def _parts(head: str) -> tuple[str, str | None]:
    """The place and the rule of a problem; None where no part of it is a rule of the catalogue.

    The place is as long as can be: a rule may begin with a value, which would swallow it.
    """
    places: list[str] = []
    best = ("", head if matched(head) is not None else None)
    rest = head
    while len(places) < _MOST_PLACES:
        before, between, rest = rest.partition(_BETWEEN)
        kind = _kinds().get(before)
        if not between or (kind is None and _PLACE.fullmatch(before) is None):
            break
        places.append(kind or before)
        if matched(rest) is not None:
            best = _BETWEEN.join(places), rest
    return best


def _kinds() -> Mapping[str, str]:
    """Kinds of rows that are set aside, which stand as keys, in the page's language."""
    told = catalogue(language())
    return {text: told[key] for key, text in catalogue("en").items() if key.startswith("records.kind_")}
