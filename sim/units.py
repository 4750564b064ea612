"""Durations, rates, money and memory: the units of the program, read and written as people do.

Time inside the program is an integer count of microseconds (`Micros`), so that ties and month
ends are exact. Money is `Decimal` in the currency's unit, rounded once a ledger line. Memory is
GiB (2**30 bytes) per card.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal
from typing import TypeAlias

__all__ = [
    "CENT",
    "DAY",
    "GIB",
    "HOUR",
    "MINUTE",
    "MONTH",
    "SECOND",
    "WEEK",
    "YEAR",
    "Micros",
    "format_duration",
    "from_hours",
    "from_seconds",
    "hours",
    "parse_duration",
    "parse_growth",
    "parse_rate",
    "parse_tolerance",
    "round_money",
    "spread",
]

Micros: TypeAlias = int

SECOND: Micros = 1_000_000
MINUTE: Micros = 60 * SECOND
HOUR: Micros = 3600 * SECOND
DAY: Micros = 24 * HOUR
WEEK: Micros = 7 * DAY
YEAR: Micros = 365 * DAY
MONTH: Micros = YEAR // 12
"""Mean month, 365/12 days; used for rates (`3%/month`), never for contract periods."""

GIB = 2**30
CENT = Decimal("0.01")

_UNITS: dict[str, Micros] = {
    "us": 1,
    "ms": 1000,
    "s": SECOND,
    "sec": SECOND,
    "second": SECOND,
    "seconds": SECOND,
    "min": MINUTE,
    "mins": MINUTE,
    "minute": MINUTE,
    "minutes": MINUTE,
    "h": HOUR,
    "hr": HOUR,
    "hour": HOUR,
    "hours": HOUR,
    "d": DAY,
    "day": DAY,
    "days": DAY,
    "w": WEEK,
    "week": WEEK,
    "weeks": WEEK,
}
_RATE_UNITS: dict[str, Micros] = {**_UNITS, "month": MONTH, "year": YEAR}
_PIECE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*")


def parse_duration(text: str) -> Micros:
    """Read `10min`, `4h`, `365d`, `1h 30min`, `0s`. Raises ValueError with the known units."""
    position, total = 0, Decimal(0)
    lowered = text.strip().lower()
    if lowered.startswith("-") and parse_duration(lowered.lstrip("- ")) >= 0:
        msg = "a duration may not be below 0"
        raise ValueError(msg)
    while position < len(lowered):
        piece = _PIECE.match(lowered, position)
        if piece is None or piece[2] not in _UNITS:
            msg = "a duration is a number with a unit, such as 90s, 10min, 4h, 14d or 2w"
            raise ValueError(msg)
        total += Decimal(piece[1]) * _UNITS[piece[2]]
        position = piece.end()
    if not lowered:
        msg = "a duration is a number with a unit, such as 10min or 4h, and may not be empty"
        raise ValueError(msg)
    if total > 10_000 * YEAR:
        msg = "a duration may not be longer than 10,000 years"
        raise ValueError(msg)
    return int(total.to_integral_value(ROUND_HALF_UP))


def format_duration(micros: Micros) -> str:
    """Write a duration so that `parse_duration` reads the same value back, exactly."""
    if micros == 0:
        return "0s"
    parts, rest = [], micros
    for size, unit in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s"), (1000, "ms"), (1, "us")):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts)


def parse_rate(text: str) -> float:
    """Read `6/day`, `3/week`, `0.5/h`; returns events per microsecond."""
    match = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*/\s*([a-z]+)\s*", text.lower())
    if match is None or match[2] not in _RATE_UNITS:
        msg = "a rate is a number per unit of time, such as 6/day, 3/week or 0.5/h"
        raise ValueError(msg)
    if match[1].startswith("-"):
        msg = "a rate may not be below 0"
        raise ValueError(msg)
    return _finite(match[1]) / _RATE_UNITS[match[2]]


def parse_growth(text: str) -> float:
    """Read `3%/month`, `-2%/week`; returns the continuous growth exponent per microsecond.

    `3%/month` means a factor of 1.03 in each mean month (365/12 days), compounded continuously.
    """
    match = re.fullmatch(r"\s*([+-]?\d+(?:\.\d+)?)\s*%\s*/\s*([a-z]+)\s*", text.lower())
    if match is None or match[2] not in _RATE_UNITS or _finite(match[1]) <= -100:
        msg = "growth is a percentage above -100 % per unit of time, such as 3%/month or 40%/year"
        raise ValueError(msg)
    return math.log1p(float(match[1]) / 100) / _RATE_UNITS[match[2]]


def parse_tolerance(text: str) -> tuple[float, bool]:
    """A half-width or a zone: the number, and whether it is a share (`5%` is 0.05 of something).

    Raises ValueError where it is neither a number above 0 nor a percentage above 0.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", text)
    if match is None or float(match[1]) <= 0:
        msg = "a tolerance is a percentage such as 5%, or a number above 0 in the metric's own unit"
        raise ValueError(msg)
    return _finite(match[1]) / (100 if match[2] else 1), bool(match[2])


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        msg = "this number is too large"
        raise ValueError(msg)
    return number


def hours(micros: float) -> float:
    """Microseconds to hours, for tables."""
    return micros / HOUR


def from_hours(value: float) -> Micros:
    """Hours to the nearest microsecond."""
    return round(value * HOUR)


def from_seconds(value: float) -> Micros:
    """Seconds to the nearest microsecond."""
    return round(value * SECOND)


def round_money(amount: Decimal) -> Decimal:
    """Round to the cent, halves away from zero, as invoices do."""
    return amount.quantize(CENT, ROUND_HALF_UP)


def spread(amount: Decimal, weights: Sequence[int]) -> list[Decimal]:
    """Split an amount of whole cents over integer weights so that the parts sum to it exactly.

    Largest remainder: each part is rounded down to the cent and the cents left over go to the
    largest remainders, ties to the first. All weights zero: everything falls on the first part.
    """
    if not weights:
        return []
    total = sum(weights)
    if total == 0:
        return [amount, *([Decimal("0.00")] * (len(weights) - 1))]
    exact = [amount * weight / total for weight in weights]
    parts = [value.quantize(CENT, ROUND_FLOOR) for value in exact]
    left = int((amount - sum(parts, Decimal(0))) / CENT)
    order = sorted(range(len(weights)), key=lambda i: (parts[i] - exact[i], i))
    for i in order[:left]:
        parts[i] += CENT
    return parts
