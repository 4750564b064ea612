"""Parts of months: how much of a month lies between two times, and how much of a period was used.

Sources: Huawei, fees of changed specifications (days of each calendar month over the days of that
month); Alibaba, MongoDB (price / 30 / 24 x hours); Tencent (days / (365 / 12)); Alibaba and Tencent,
refunds (begun days count whole). Local times are wall time: a day with a change of daylight time is one
day. Hours and exact times of refunds are elapsed time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from math import ceil

from sim.billing.periods import add_months, period_edge
from sim.billing.rounding import show_number
from sim.model.terms import MonthBasis, Refund

__all__ = ["Months", "months_between", "months_used", "share_used"]

_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Months:
    """A number of months, and how it comes about."""

    value: Fraction
    working: str
    """Such as `16/30 + 8`, to be read before the word months."""


def _ratio(part: timedelta, whole: timedelta) -> Fraction:
    return Fraction(part // timedelta(microseconds=1), whole // timedelta(microseconds=1))


def months_between(start: datetime, end: datetime, basis: MonthBasis) -> Months:
    """Months from one local time to another; `end` may not lie before `start`.

    `calendar`: each calendar month counts with its share that lies between them, so that a part of
    February is over 28 or 29 days, never over 31.
    """
    if basis == "30-days":
        hours = _ratio(end - start, _HOUR)
        return Months(hours / 720, f"{show_number(hours)} h / 720 h")
    if basis == "mean-month":
        days = _ratio(end - start, _DAY)
        return Months(days * 12 / 365, f"{show_number(days)} d / (365 d / 12)")
    total, whole, parts = Fraction(0), 0, []
    for begin, stop, length in _calendar_months(start, end):
        days = _ratio(stop - begin, _DAY)
        total += days / length
        if days == length:
            whole += 1
        else:
            parts.append(f"{show_number(days)}/{length}")
    if whole or not parts:
        parts.insert(1 if len(parts) == 2 else len(parts), str(whole))
    return Months(total, " + ".join(parts))


def _calendar_months(start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime, int]]:
    """The pieces of a time in calendar months, with the days of each month."""
    begin = start
    while begin < end:
        first = begin.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        following = add_months(first, 1)
        yield begin, min(end, following), (following - first).days
        begin = following


def months_used(start: datetime, until: datetime, basis: MonthBasis, part: str) -> Months:
    """Months used of a contract: full ones from its beginning, and a part of the one begun.

    `part`: the month begun counts whole (`month`), by begun days or hours over its own length, or exactly.
    """
    full = 0
    while period_edge(start, full + 1, basis) <= until:
        full += 1
    begun = period_edge(start, full, basis)
    rest, length = until - begun, period_edge(start, full + 1, basis) - begun
    if not rest:
        return Months(Fraction(full), str(full))
    if part == "month":
        return Months(Fraction(full + 1), str(full + 1))
    step = {"day": _DAY, "hour": _HOUR}.get(part)
    used = rest if step is None else ceil(_ratio(rest, step)) * step
    share = min(Fraction(1), _ratio(used, length))
    unit = _DAY if part == "day" else _HOUR
    text = f"{show_number(_ratio(used, unit))}/{show_number(_ratio(length, unit))}"
    return Months(full + share, f"{full} + {text}" if full else text)


def share_used(
    start: datetime, end: datetime, until: datetime, elapsed: tuple[int, int], basis: MonthBasis, rule: Refund
) -> tuple[Fraction, str, str]:
    """Share of a period [start, end) used until it is left, rounded up as the rule says, its working
    (`3 / 12`) and the unit of that.

    `elapsed` is the used and the whole length of the period in elapsed microseconds.
    """
    if rule.part == "month":
        used = months_used(start, until, basis, "month").value
        whole = months_used(start, end, basis, "exact").value
        unit = "months"
    elif rule.part == "day":
        used, whole = Fraction(ceil(_ratio(until - start, _DAY))), _ratio(end - start, _DAY)
        unit = "days"
    else:
        used, whole = (Fraction(length, 3_600_000_000) for length in elapsed)
        used = Fraction(ceil(used)) if rule.part == "hour" else used
        unit = "h"
    used = min(used, whole)
    return used / whole, f"{show_number(used)} / {show_number(whole)}", unit
