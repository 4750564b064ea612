"""Points in time as dumps write them, with and without a zone, to whole microseconds.

With a zone, local times become instants (microseconds since 1970, UTC). Without one they are taken as
they stand, as if no clock had ever changed. An hour that comes twice, when clocks go back, is read as
its first passage; `settle` moves a time to the second where the job's own times say so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import product
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sim.units import SECOND
from sim.workload.imports.cells import BAD, NA, Bools, Ints, Memo, is_missing

__all__ = ["DATES", "LATEST", "Clock", "Times", "day_of", "is_either", "reads", "settle"]

_ISO = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?$"
DATES = ("day-first", "month-first")
"""How `3/2/2026` may be meant."""
_HOURS = r"(?:[T ]+(?:(上午|下午) ?)?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?(?: ?([AaPp][Mm]))?)?"
_LOOSE = re.compile(r"(\d{4})[/.年-](\d{1,2})[/.月-](\d{1,2})日?" + _HOURS, re.ASCII)
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})" + _HOURS, re.ASCII)
_EITHER = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})" + _HOURS, re.ASCII)
_EPOCH = re.compile(r"\d{9,10}(?:\.\d{1,9})?|\d{13}|\d{16}", re.ASCII)
_ZERO = datetime(1970, 1, 1, tzinfo=UTC)
_YEARS = (1970, 2199)


@dataclass(slots=True)
class Times:
    """A column of times, microseconds; NA and BAD as in `cells`."""

    first: Ints
    second: Ints
    """The same, but for local times that come twice: their second passage."""


class Clock:
    """Reads columns of times in one zone, or in none.

    `dates`, one of `DATES`, says which number of `3/2/2026` is the day; without it such times are BAD.
    """

    def __init__(self, zone: ZoneInfo | None, dates: str | None = None) -> None:
        self.zone = zone
        self._slow: Memo[tuple[int, bool]] = Memo(partial(_read, dates=dates))

    def read(self, cells: pa.Array) -> Times:
        """Times of a column of text."""
        local = np.full(len(cells), NA, dtype=np.int64)
        good = pc.match_substring_regex(cells, _ISO).fill_null(False).to_numpy(zero_copy_only=False)
        kept, rest = np.flatnonzero(good), np.flatnonzero(~good)
        try:
            stamps = pc.cast(cells.take(pa.array(kept)), pa.timestamp("us"))
            local[kept] = pc.cast(stamps, pa.int64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:  # a month 13 among them: one by one
            kept, rest = kept[:0], np.arange(len(cells))
        instants = np.zeros(len(cells), dtype=bool)
        if len(rest):
            words = ["" if word is None else word for word in cells.take(pa.array(rest)).to_pylist()]
            found = self._slow.column(words)
            local[rest] = [value for value, _ in found]
            instants[rest] = [instant for _, instant in found]
        local[(local > BAD) & ((local < 0) | (local >= LATEST))] = BAD
        return self._placed(local, instants)

    def _placed(self, local: Ints, instants: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Times:
        """Local times in the zone, as instants; without a zone as they stand."""
        naive = np.flatnonzero((local > BAD) & ~instants)
        if self.zone is None or not len(naive):
            return Times(local, local)
        first, second = local.copy(), local.copy()
        stamps = pd.DatetimeIndex(local[naive].astype("datetime64[us]"))
        for out, is_first in ((first, True), (second, False)):
            placed = stamps.tz_localize(
                self.zone, ambiguous=np.full(len(naive), is_first), nonexistent="shift_forward"
            )
            out[naive] = placed.tz_convert("UTC").tz_localize(None).as_unit("us").asi8
        return Times(first, second)

    def local(self, micros: int) -> datetime:
        """A time without zone, as the clock on the wall shows it."""
        moment = _ZERO + timedelta(microseconds=micros)
        return moment.astimezone(self.zone or UTC).replace(tzinfo=None)


LATEST = (datetime(_YEARS[1] + 1, 1, 1, tzinfo=UTC) - _ZERO) // timedelta(microseconds=1)
"""No job is later: microseconds since 1970."""


def _read(cell: str, dates: str | None) -> tuple[int, bool]:
    """Microseconds since 1970, and whether that is an instant (else a local time)."""
    text = cell.strip()
    if is_missing(text):
        return NA, False
    if _EPOCH.fullmatch(text):
        whole, _, fraction = text.partition(".")
        size = {13: 1000, 16: 1}.get(len(whole), SECOND)
        return int(whole) * size + int(fraction.ljust(6, "0")[:6] or 0), True
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _loose(text, dates), False
    if moment.tzinfo is not None:
        try:
            return (moment - _ZERO) // timedelta(microseconds=1), True
        except OverflowError:
            return BAD, True
    return _since(moment), False


def is_either(cell: str) -> bool:
    """Whether this is a time of which only the user can say which number is the month."""
    return _EITHER.fullmatch(cell.strip()) is not None


def reads(cell: str, dates: str) -> bool:
    """Whether this is a time with two numbers before its year that this order of them reads."""
    return is_either(cell) and _loose(cell.strip(), dates) > BAD


def day_of(cell: str, dates: str | None) -> date | None:
    """The day of a time that is no ISO time, such as `31.01.2026`; `3/2/2026` only where `dates` says how.
    None for anything else."""
    value = _loose(cell.strip(), dates)
    return None if value == BAD else (_ZERO + timedelta(microseconds=value)).date()


def _loose(text: str, dates: str | None) -> int:
    """`2026/3/2 9:05`, `2026年3月2日`, `02.03.2026 09:05 PM`; `3/2/2026` only where `dates` says how."""
    if (found := _LOOSE.fullmatch(text)) is not None:
        year, month, day = (int(part) for part in found.groups()[:3])
    elif (found := _DOTTED.fullmatch(text)) is not None:
        day, month, year = (int(part) for part in found.groups()[:3])
    elif dates is not None and (found := _EITHER.fullmatch(text)) is not None:
        one, two, year = (int(part) for part in found.groups()[:3])
        day, month = (one, two) if dates == "day-first" else (two, one)
    else:
        return BAD
    before, hours, *smaller, fraction, after = found.groups()[3:]
    minute, second = (int(part or 0) for part in smaller)
    try:
        hour = _hour(int(hours or 0), {"上午": "am", "下午": "pm"}.get(before or "", (after or "").lower()))
        micro = int((fraction or "0").ljust(6, "0")[:6])
        return _since(datetime(year, month, day, hour, minute, second, micro))  # noqa: DTZ001 - local
    except ValueError:
        return BAD


def _hour(hour: int, half: str) -> int:
    """Hour of the day of a clock of twelve hours (`am`, `pm`), or of one of twenty-four (empty)."""
    if not half:
        return hour
    if not 0 <= hour <= 12 or (hour == 0 and half == "pm"):
        msg = "no hour of a clock of twelve hours"
        raise ValueError(msg)
    return hour % 12 + (12 if half == "pm" else 0)


def _since(moment: datetime) -> int:
    return (moment.replace(tzinfo=UTC) - _ZERO) // timedelta(microseconds=1)


def settle(submit: Times, start: Times, end: Times, elapsed: Ints) -> Bools:
    """Choose the passage of times that come twice, in place: in order, and End - Start = Elapsed.

    Of equals the earlier is taken. Returns which jobs had such a time.
    """
    columns = (submit, start, end)
    torn = np.zeros(len(elapsed), dtype=bool)
    for column in columns:
        torn |= column.first != column.second
    for place in np.flatnonzero(torn).tolist():
        choices = [dict.fromkeys((int(c.first[place]), int(c.second[place]))) for c in columns]
        best = min(product(*choices), key=lambda times: _fault(times, int(elapsed[place])))
        for column, value in zip(columns, best, strict=True):
            column.first[place] = value
    return torn


def _fault(times: tuple[int, ...], elapsed: int) -> tuple[int, int, int]:
    submit, start, end = times
    backwards = sum(a > b for a, b in ((submit, start), (start, end)) if a > BAD and b > BAD)
    known = start > BAD and end > BAD and elapsed > BAD
    off = abs(end - start - elapsed) if known else 0
    return backwards, off, sum(time for time in times if time > BAD)
