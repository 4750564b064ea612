"""Cells of a dump to numbers: durations, numbers and memory, a column at a time.

A column of whole numbers is int64 with two marks: `NA` for a cell that says nothing (empty, `Unknown`,
`None assigned`, `UNLIMITED`) and `BAD` for one that cannot be read. A column of decimals is float64
with NaN and infinity in their place; no reader here returns either for a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sim.units import DAY, HOUR, MINUTE, SECOND

__all__ = [
    "BAD",
    "LONGEST_US",
    "NA",
    "Bools",
    "Floats",
    "Ints",
    "Memo",
    "clock_duration",
    "decimals",
    "is_missing",
    "memory_gib",
    "micros",
    "strings",
    "whole",
]

Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Bools: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

NA = -(2**63)
BAD = NA + 1
LONGEST_US = 9_000_000_000 * SECOND
"""Durations up to 285 years: as seconds in a float they still hold every microsecond."""

_MISSING = frozenset(
    {"", "unknown", "none", "none assigned", "n/a", "na", "nan", "nat", "null", "-", "invalid"}
    | {"unlimited", "partition_limit", "not_set", "not set", "\\n"}
)
_CLOCK = re.compile(r"(?:(\d{1,6})-)?(?:(\d{1,6}):)?(\d{1,6}):(\d{1,10})(?:\.(\d{1,9}))?", re.ASCII)
_DAYS = re.compile(r"(\d{1,6})-(\d{1,2})(?::(\d{1,2}))?", re.ASCII)
_PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$"
_MEMORY = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)([KMGTPE]?)(?:i?[bB])?([cn]?)", re.ASCII)
_GIB = {"K": 2.0**-20, "M": 2.0**-10, "": 2.0**-10, "G": 1.0, "T": 2.0**10, "P": 2.0**20, "E": 2.0**30}

Value = TypeVar("Value")


class Memo(dict[str, Value], Generic[Value]):
    """A function of a cell that remembers: most columns of a dump repeat a few values."""

    MOST = 200_000
    """Values kept; past it the memory starts anew."""
    LONGEST = 256
    """Signs of a cell that is kept; a longer one is no cell that repeats."""

    def __init__(self, read: Callable[[str], Value]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, cell: str) -> Value:
        value = self._read(cell)
        if len(cell) > self.LONGEST:
            return value
        if len(self) >= self.MOST:
            self.clear()
        self[cell] = value
        return value

    def column(self, cells: Iterable[str]) -> list[Value]:
        """The values of a column."""
        return list(map(self.__getitem__, cells))


def is_missing(cell: str) -> bool:
    """Whether a cell says that nothing is known."""
    return cell.strip().lower() in _MISSING


def clock_duration(cell: str) -> int:
    """`[DAYS-][HOURS:]MINUTES:SECONDS[.FRACTION]`, `DAYS-HOURS` or `DAYS-HOURS:MINUTES`, in microseconds.

    Minutes and seconds past 59 are allowed (`90:00`). NA for words of no limit, BAD for anything else.
    """
    if is_missing(cell):
        return NA
    found = _CLOCK.fullmatch(cell.strip())
    if found is not None:
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[:4])
        fraction = int((found[5] or "0").ljust(9, "0")[:9])
        total = days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND + (fraction + 500) // 1000
    else:
        found = _DAYS.fullmatch(cell.strip())
        if found is None:
            return BAD
        total = int(found[1]) * DAY + int(found[2]) * HOUR + int(found[3] or 0) * MINUTE
    return total if total <= LONGEST_US else BAD


def decimals(cells: pa.Array) -> Floats:
    """Numbers such as `3600`, `22159.6` or `1e4`; NaN for no value, infinity for what is none."""
    plain = pc.utf8_trim_whitespace(cells)
    good = pc.match_substring_regex(plain, _PLAIN)
    values = np.full(len(cells), np.inf)
    kept = np.flatnonzero(good.fill_null(False).to_numpy(zero_copy_only=False))
    values[kept] = pc.cast(plain.take(pa.array(kept)), pa.float64()).to_numpy(zero_copy_only=False)
    rest = np.flatnonzero(np.isinf(values))
    if len(rest):
        words = plain.take(pa.array(rest)).to_pylist()
        missing = [word is None or is_missing(word) for word in words]
        values[rest[np.array(missing, dtype=bool)]] = np.nan
    return values


def micros(values: Floats, unit_us: int, *, signed: bool = False) -> Ints:
    """Times in a unit to whole microseconds; negative (unless `signed`) and endless ones are BAD."""
    with np.errstate(over="ignore"):  # an overflow is infinity, and BAD below
        scaled = values * float(unit_us)
    wrong = ~np.isfinite(scaled) | (np.abs(scaled) > LONGEST_US)
    if not signed:
        wrong |= scaled < 0
    whole_us = np.rint(np.where(wrong, 0.0, scaled)).astype(np.int64)
    return np.where(np.isnan(values), NA, np.where(wrong, BAD, whole_us))


def whole(values: Floats, most: int = 10**9) -> Ints:
    """Whole numbers up to `most` either side of 0; BAD for others."""
    wrong = ~np.isfinite(values) | (np.abs(values) > most) | (values != np.floor(values))
    numbers = np.where(wrong, 0.0, values).astype(np.int64)
    return np.where(np.isnan(values), NA, np.where(wrong, BAD, numbers))


def memory_gib(cell: str) -> tuple[float, str]:
    """Host memory as `4000Mc`, `16000Mn`, `312.50G`, in GiB, and what it is for: `c` a core, `n` a node.

    Without a letter it is MiB, as Slurm counts. NaN for nothing known, infinity for what cannot be read.
    """
    text = cell.strip()
    if is_missing(text) or text in {"?", "0?"}:
        return np.nan, ""
    found = _MEMORY.fullmatch(text)
    if found is None:
        return np.inf, ""
    return float(found[1]) * _GIB[found[2]], found[3]


def strings(cells: Sequence[str | None]) -> pa.Array:
    """Cells as an Arrow column of text."""
    return pa.array(cells, type=pa.string())
