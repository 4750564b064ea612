"""The error tree.

FleetsimError                base of all errors that this program raises on purpose
├── InputError               the user's file, option or value is wrong: exit code 2
└── RunError                 a run cannot go on (full disk, unwritable folder): exit code 1
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["FleetsimError", "InputError", "Problem", "RunError"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in the input, with the place where it stands.

    `rule` is a sentence that says what holds; `value` what was found; `known` the names that
    would have been right. `file`, `line` (from 1) and `key` (dotted path) may be unknown.
    """

    rule: str
    file: str | None = None
    line: int | None = None
    key: str | None = None
    value: object = None
    known: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}"
        parts = [part for part in (place, self.key) if part]
        text = ": ".join([*parts, self.rule])
        if self.value is not None:
            text += f" (found {_shown(self.value)})"
        if self.known:
            near = _near(str(self.value), self.known)
            hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
            text += f"; {hint}known: {', '.join(self.known)}"
        return text


def _near(value: str, known: tuple[str, ...]) -> list[str]:
    """Up to three names: that go on as the value begins, else that look most like it, and those that do
    nearly as much."""
    longer = [name for name in known if value and name.startswith(value)]
    if longer:
        return longer[:3]
    near = difflib.get_close_matches(value, known, n=3)
    alike = [difflib.SequenceMatcher(a=name, b=value).ratio() for name in near]
    return [name for name, ratio in zip(near, alike, strict=True) if ratio >= alike[0] - _NEARLY]


_NEARLY = 0.05
"""How much less alike (of 1) a name may look than the one that looks most like a value."""


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python writes no whole number of more than some thousand digits
        text = "a number of thousands of digits"
    return text if len(text) <= 80 else f"{text[:77]}..."


class FleetsimError(Exception):
    """Base of all errors raised on purpose; `exit_code` is what the command line returns."""

    exit_code = 1


class InputError(FleetsimError):
    """The input is wrong. Holds every problem that was found, not just the first."""

    exit_code = 2

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__(str(self))

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return str(self.problems[0])
        lines = [f"{len(self.problems)} problems:"]
        return "\n".join([*lines, *(f"  - {problem}" for problem in self.problems)])


class RunError(FleetsimError):
    """A run cannot go on for a reason outside the input; the message says what to do."""
