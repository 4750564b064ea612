"""What became of every row: a job, part of one, or set aside with a reason. Nothing is dropped uncounted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["Aside", "Oddity", "Tally"]

MOST_LISTED = 1000
"""Rows set aside that are listed one by one; all are counted."""
MOST_OF_A_KIND = 200
"""Of one kind, so that a common fault does not hide a rare one."""
MOST_LINES = 5
"""Example lines of a suspicious value."""
_LONGEST = 160


@dataclass(frozen=True, slots=True)
class Aside:
    """A row that became no job."""

    line: int
    """Line of the file (row of a sheet or of a Parquet file), from 1."""
    kind: str
    reason: str


@dataclass(slots=True)
class Oddity:
    """A suspicious value: the row was used, and somebody should look at it."""

    count: int = 0
    lines: list[int] = field(default_factory=list)
    """The first lines where it was seen."""


@dataclass(slots=True)
class Tally:
    """Counts of one import, filled on the way."""

    rows: int = 0
    """Rows with data: no header, no blank line, no comment."""
    merged: Counter[str] = field(default_factory=Counter)
    """Rows that belong to a job of another row, by kind (steps, requeues, doubles)."""
    filtered: Counter[str] = field(default_factory=Counter)
    """Jobs that the options leave out (window, teams, thinning), by kind."""
    added: Counter[str] = field(default_factory=Counter)
    """Jobs beyond one a row, by kind (tasks of pending arrays)."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Rows set aside, by kind."""
    asides: list[Aside] = field(default_factory=list)
    """Rows set aside; the first ones, bounded."""
    oddities: dict[str, Oddity] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    """What was inferred or assumed, one sentence each."""
    calendar: bool = True
    """Whether times are dates; False: they count from an unknown moment."""
    hints: Counter[str] = field(default_factory=Counter)
    """Rows set aside that another option would read, by option."""
    orphans: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Job ids of steps that did not follow their job's row -> first line and number of steps."""

    @property
    def set_aside(self) -> int:
        """Rows set aside, all of them."""
        return sum(self.kinds.values())

    def listed(self) -> list[Aside]:
        """The rows set aside that are listed, by line."""
        return sorted(self.asides, key=lambda aside: aside.line)

    def aside(self, line: int, kind: str, reason: str, count: int = 1) -> None:
        """Set rows aside; `line` is the first of them."""
        self.kinds[kind] += count
        if self.kinds[kind] <= MOST_OF_A_KIND and len(self.asides) < MOST_LISTED:
            self.asides.append(Aside(line, kind, _shortened(reason)))

    def odd(self, kind: str, lines: Iterable[int], count: int | None = None) -> None:
        """Count suspicious values; `count` where more than the lines given were seen."""
        found = list(lines)
        number = len(found) if count is None else count
        if number:
            seen = self.oddities.setdefault(kind, Oddity())
            seen.count += number
            seen.lines += found[: MOST_LINES - len(seen.lines)]

    def remark(self, text: str) -> None:
        """Add a sentence, once."""
        if text not in self.remarks:
            self.remarks.append(text)


def _shortened(text: str) -> str:
    shown = "".join(sign if sign.isprintable() else "?" for sign in text[: 4 * _LONGEST])
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
