"""One recorded job of a trace, and how a cell of each of its columns is read.

Times are read as decimal text, so that 22159.6 s is 22,159,600,000 microseconds and not nearly so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Literal

from sim.errors import Problem
from sim.units import SECOND, Micros
from sim.workload.recorded_ends import STATES, lost_end

__all__ = [
    "CARDS_RULE",
    "COLUMNS",
    "GIB_RULE",
    "MOST_CARDS",
    "MOST_GIB",
    "MOST_SECONDS",
    "REQUIRED",
    "SHARE_RULE",
    "STATE_RULE",
    "TraceRow",
    "column_problems",
    "shortened",
]

MOST_SECONDS = 10**11
"""Times of a trace at most, seconds: some 3,000 years."""
MOST_CARDS = 100_000
"""Cards of one job at most."""
MOST_GIB = 1e6
"""Memory of a job at most, GiB a card."""
REQUIRED = ("submit_s", "gpus", "runtime_s")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "'")
CARDS_RULE = f"must be a whole number of cards, at least 1 and at most {MOST_CARDS:,}"
GIB_RULE = "must be a number of GiB above 0"
SHARE_RULE = "must be a share above 0 and at most 1, such as 0.9"
STATE_RULE = f"must be the state of a job: {', '.join(list(STATES)[1:])}"
_MOST_PROBLEMS = 20
"""Problems of one trace that are told; of the others only the number."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One recorded job; the order of rows is by submission, ties by their place in the file."""

    row: int
    """Place among the rows of the file, from 1, without the header."""
    line: int
    """Line of the file, from 1."""
    name: str
    submit_us: Micros
    """From the scenario's start."""
    gpus: int
    runtime_us: Micros
    """With start-up, without time in the queue."""
    memory_gib: float | None = None
    """GiB a card, held against the card's nominal memory; None: fits any card."""
    team: str = ""
    deadline_us: Micros | None = None
    """Allowed time from submission to end."""
    priority: int = 0
    gpu: str | None = None
    """The card id that the job insists on."""
    limit_us: Micros | None = None
    """User's time limit; None: not given."""
    spans: bool | None = None
    """Whether the job's cards may stand in several machines; None: as the scenario says."""
    runtime_gpu: str | None = None
    """Card on which the run time was measured; None: as the scenario says."""
    demand: float | None = None
    """Busy share of a card by the job alone on it; None: as the scenario says."""
    end: Literal["cancelled", "failed"] | None = None
    """How it ended after that run time where its work was not done; None: it was done, or nobody knows."""


def column_problems(
    names: Sequence[str], file: str, line: int | None, more: Sequence[str] = ()
) -> list[Problem]:
    """Columns of a trace that are unknown, stand twice or are missing; `more` are allowed besides."""
    known = tuple(COLUMNS)
    problems = [
        Problem("unknown column", file, line, value=name, known=known)
        for name in names
        if name not in COLUMNS and name not in more
    ]
    twice = sorted({name for name in names if name in COLUMNS and names.count(name) > 1})
    problems += [Problem("a column may stand only once", file, line, value=name) for name in twice]
    problems += [
        Problem(f"the column {name} is missing", file, line, value=", ".join(names), known=known)
        for name in REQUIRED
        if name not in names
    ]
    return problems


def shortened(problems: list[Problem], file: str) -> list[Problem]:
    """The first problems, and the number of the others."""
    if len(problems) <= _MOST_PROBLEMS:
        return problems
    more = Problem(f"and {len(problems) - _MOST_PROBLEMS} more problems in this trace", file)
    return [*problems[:_MOST_PROBLEMS], more]


def _decimal(text: str) -> Decimal:
    if not _NUMBER.fullmatch(text):
        msg = "must be a finite number, such as 3600 or 22159.6"
        raise ValueError(msg)
    return Decimal(text)


def _seconds(text: str) -> Micros:
    value = _decimal(text)
    if not 0 <= value <= MOST_SECONDS:
        msg = "must be a time of at least 0 s (and below 3,000 years)"
        raise ValueError(msg)
    return int((value * SECOND).to_integral_value(ROUND_HALF_UP))


def _some_seconds(text: str) -> Micros:
    if (micros := _seconds(text)) == 0:
        msg = "must be a time above 0 s"
        raise ValueError(msg)
    return micros


def _whole(text: str) -> int:
    value = _decimal(text)
    if abs(value) > 10**9 or value != value.to_integral_value():
        msg = "must be a whole number"
        raise ValueError(msg)
    return int(value)


def _cards(text: str) -> int:
    if not 1 <= (count := _whole(text)) <= MOST_CARDS:
        msg = CARDS_RULE
        raise ValueError(msg)
    return count


def _gib(text: str) -> float:
    value = float(_decimal(text))
    if not 0 < value <= MOST_GIB:
        msg = GIB_RULE
        raise ValueError(msg)
    return value


def _busy(text: str) -> float:
    value = float(_decimal(text))
    if not 0 < value <= 1:
        msg = SHARE_RULE
        raise ValueError(msg)
    return value


def _yes_no(text: str) -> bool:
    try:
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]
    except KeyError:
        msg = "must be true or false"
        raise ValueError(msg) from None


def _text_cell(text: str) -> str:
    """A text, without the apostrophe that exports put before what looks like a formula."""
    return text[1:] if text[:1] == "'" and text[1:2] in FORMULA_STARTS else text


def _end(text: str) -> Literal["cancelled", "failed"] | None:
    try:
        return lost_end(text)
    except ValueError:
        raise ValueError(STATE_RULE) from None


COLUMNS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "submit_s": ("submit_us", _seconds),
    "gpus": ("gpus", _cards),
    "runtime_s": ("runtime_us", _some_seconds),
    "id": ("name", _text_cell),
    "memory_gib": ("memory_gib", _gib),
    "team": ("team", _text_cell),
    "deadline_s": ("deadline_us", _some_seconds),
    "priority": ("priority", _whole),
    "gpu": ("gpu", str),
    "limit_s": ("limit_us", _some_seconds),
    "spans": ("spans", _yes_no),
    "runtime_gpu": ("runtime_gpu", str),
    "demand": ("demand", _busy),
    "state": ("end", _end),
}
"""Column -> field of TraceRow and reader of a cell; a new column is a row here and a field there."""
