"""Which option would read what an import has set aside or cannot replay."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from sim.errors import Problem
from sim.workload.imports.cells import Ints
from sim.workload.imports.clock import DATES, reads
from sim.workload.imports.finish import LEFT_OUT
from sim.workload.imports.settings import Settings
from sim.workload.imports.tally import Tally
from sim.workload.wording import counted

__all__ = ["hinted", "nothing_to_replay", "option_for", "remark_hints"]

_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_MANY = 5
"""An option is named where it reads more than this part of the rows: a few odd cells need none."""
_NEEDS: dict[str, str] = {
    "no time of submission": "--map submit_s=COLUMN names its column",
    "never started: no run time": "--map runtime_s=COLUMN (or start_s and end_s) names its column",
    "the number of cards is not known": "--map gpus=COLUMN names its column",
}
"""Why a job of a table cannot be replayed -> what to say of it."""


def option_for(cell: str | None, settings: Settings) -> str | None:
    """The option with which a cell that was set aside would be read; None: there is none."""
    text = (cell or "").strip()
    if settings.decimal == "." and _COMMA.fullmatch(text):
        return "--decimal ,"
    if settings.dates is not None:
        (other,) = (order for order in DATES if order != settings.dates)
        if reads(text, other):
            return f"--dates {other}"
    return None


def remark_hints(tally: Tally, codes: Ints, mapped: bool) -> None:
    """Sentences on options that would have read many rows; `codes` are those of `LEFT_OUT`, `mapped` says
    whether the format is a table whose columns can be named."""
    for option, count in tally.hints.items():
        if count * _MANY > tally.rows:
            tally.remark(f"{count:,} of {tally.rows:,} rows are set aside that {option} reads.")
    if mapped:
        for reason, count in _left_out(codes):
            if count * _MANY > len(codes) and reason in _NEEDS:
                tally.remark(f"{count:,} of {counted(len(codes))}, {reason}: {_NEEDS[reason]}.")


def nothing_to_replay(tally: Tally, codes: Ints, mapped: bool, file: str) -> Iterator[Problem]:
    """What to say of an import none of whose jobs can be replayed."""
    for reason, count in _left_out(codes):
        hint = f"; {_NEEDS[reason]}" if mapped and reason in _NEEDS else ""
        yield Problem(f"none of {tally.rows:,} rows can be replayed: {counted(count)}, {reason}{hint}", file)
    yield from hinted(tally, file)


def hinted(tally: Tally, file: str) -> Iterator[Problem]:
    """The options that read rows which were set aside, those that read most first."""
    for option, count in tally.hints.most_common():
        yield Problem(
            f"{count:,} of {tally.rows:,} rows are set aside that this option reads", file, key=option
        )


def _left_out(codes: Ints) -> Iterator[tuple[str, int]]:
    """Reasons and their jobs, the most frequent first."""
    counts = np.bincount(codes, minlength=len(LEFT_OUT)).tolist()
    for code in sorted(range(1, len(LEFT_OUT)), key=lambda code: -counts[code]):
        if counts[code]:
            yield LEFT_OUT[code], counts[code]
