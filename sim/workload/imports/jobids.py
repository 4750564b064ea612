"""Slurm's job ids: `900`, `900_3`, `900_[3-9%2]`, `900+1`, and the steps `900.batch`, `900_3.0`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain

__all__ = ["MOST_TASKS", "ONE_JOB", "JobId", "tasks_of"]

MOST_TASKS = 4_000_001
"""Tasks of one array at most: Slurm's own limit of MaxArraySize."""

_ID = re.compile(r"\d{1,10}(?:\+\d{1,5})?(?:_(?:\d{1,7}|\[([0-9,:\-%. ]{1,100000})\]))?", re.ASCII)
_RANGE = re.compile(r"(\d{1,7})(?:-(\d{1,7})(?::(\d{1,7}))?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class JobId:
    """One id of a row."""

    ranges: tuple[range, ...] | None = None
    """Tasks of a pending array; None for a row that is one job."""
    at_once: int | None = None
    """How many tasks of the range may run at once."""
    cut: bool = False
    """Whether the list of tasks ends in `...`, as sacct writes long ones."""

    @property
    def most(self) -> int:
        """Number of tasks, at most (more than there are where ranges overlap)."""
        return sum(map(len, self.ranges or ()))

    def tasks(self) -> list[int]:
        """The tasks, each once."""
        return list(dict.fromkeys(chain.from_iterable(self.ranges or ())))


ONE_JOB = JobId()
"""The id of a row that is one job."""


def tasks_of(text: str) -> JobId | None:
    """The id of a row that is no step; None for what is no job id.

    `902_[1,3,5-9:2]` is the tasks 1, 3, 5, 7 and 9; `%2` lets two of them run at once.
    """
    if text.isdigit() and text.isascii() and len(text) <= 10:
        return ONE_JOB
    found = _ID.fullmatch(text)
    if found is None:
        return None
    if found[1] is None:
        return ONE_JOB
    listed, _, limit = found[1].partition("%")
    if limit and not limit.isdigit():
        return None
    cut = listed.endswith("...")
    ranges: list[range] = []
    for part in listed.removesuffix("...").rstrip(",-: ").split(","):
        span = _RANGE.fullmatch(part.strip())
        if span is None:
            return None
        first, last = int(span[1]), int(span[2] or span[1])
        if last < first or last >= MOST_TASKS or span[3] == "0":
            return None
        ranges.append(range(first, last + 1, int(span[3] or 1)))
    return JobId(tuple(ranges), int(limit) if limit else None, cut)
