"""What the cells of a real invoice say: amounts, days and periods, in English and Chinese ways of writing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

__all__ = ["Span", "amount", "day", "folded", "span"]

_CURRENCY = re.compile(r"^(?:cny|rmb|¥|usd|us\$|\$|eur|€)|(?:cny|rmb|元|usd|eur|€)$", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+")
_DAY = re.compile(
    r"(?P<year>\d{4})(?:-(?P<m1>\d{1,2})-(?P<d1>\d{1,2})|/(?P<m2>\d{1,2})/(?P<d2>\d{1,2})"
    r"|\.(?P<m3>\d{1,2})\.(?P<d3>\d{1,2})|年(?P<m4>\d{1,2})月(?P<d4>\d{1,2})日?|(?P<m5>\d{2})(?P<d5>\d{2}))"
    r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_MONTH = re.compile(r"(?P<year>\d{4})(?:[-/.]|年)(?P<month>\d{1,2})月?")
_BETWEEN = re.compile(r"\s*(?:~|至|到|—|–|\bto\b|\s-\s|\buntil\b)\s*")


@dataclass(frozen=True, slots=True)
class Span:
    """A period as an invoice writes it."""

    start: date
    end: date | None
    """As written: many invoices name the last day, others the day after it. None: a whole month."""

    @property
    def month(self) -> str:
        """Month of the start, `2026-01`."""
        return f"{self.start:%Y-%m}"

    @property
    def whole_month(self) -> bool:
        """Whether only a month is known."""
        return self.end is None


def folded(text: str) -> str:
    """Text to compare by: full-width signs as usual ones, lower case, one space between words."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def amount(text: str) -> Decimal:
    """`2,800.00`, `¥2,800`, `(12.50)`, `-12.5 CNY`: a decimal point, and commas between thousands.

    Raises ValueError for anything else, decimal commas included: they cannot be told from thousands.
    """
    plain = unicodedata.normalize("NFKC", text).replace("−", "-").replace(" ", "")
    plain = plain.removeprefix("'")
    negative = plain.startswith("(") and plain.endswith(")")
    plain = plain[1:-1] if negative else plain
    sign = -1 if negative else 1
    plain = _CURRENCY.sub("", plain)
    if plain[:1] in ("-", "+"):  # before the currency or behind it
        sign, plain = (-sign if plain[0] == "-" else sign), _CURRENCY.sub("", plain[1:])
    if not _NUMBER.fullmatch(plain):
        msg = "an amount is a number such as 2800, 2,800.00 or -12.50"
        raise ValueError(msg)
    return sign * Decimal(plain.replace(",", ""))


def day(text: str) -> date:
    """`2026-01-31`, `2026/1/31`, `2026年1月31日`, `20260131`, with or without a time. Raises ValueError."""
    found = _DAY.fullmatch(unicodedata.normalize("NFKC", text).strip())
    if found is None:
        msg = "a day is written 2026-01-31, 2026/1/31 or 2026年1月31日"
        raise ValueError(msg)
    parts = {name: value for name, value in found.groupdict().items() if value is not None}
    year = int(parts.pop("year"))
    month, of_month = (int(parts[name]) for name in sorted(parts, reverse=True))
    return _date(year, month, of_month)


def span(text: str) -> Span:
    """A month (`2026-01`, `2026年1月`) or two days with a word or dash between them. Raises ValueError."""
    plain = unicodedata.normalize("NFKC", text).strip()
    if found := _MONTH.fullmatch(plain):
        return Span(_date(int(found["year"]), int(found["month"]), 1), None)
    ends = _BETWEEN.split(plain)
    if len(ends) != 2:
        half = re.fullmatch(r"(.+?\d)-(\d{4}.*)", plain)  # 2026/1/1-2026/1/31
        ends = [half[1], half[2]] if half else ends
    if len(ends) == 2:
        start, end = day(ends[0]), day(ends[1])
        if end < start:
            msg = "a period ends after it starts"
            raise ValueError(msg)
        return Span(start, end)
    return Span(day(plain), day(plain) + timedelta(days=1))


def _date(year: int, month: int, of_month: int) -> date:
    try:
        return date(year, month, of_month)
    except ValueError:
        msg = "the calendar has no such day"
        raise ValueError(msg) from None
