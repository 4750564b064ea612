"""What the cells of a real invoice say: amounts, days and periods, in English and Chinese ways of writing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from sim.workload.imports.clock import day_of

__all__ = ["Span", "amount", "day", "folded", "halves", "span"]

_CURRENCY = re.compile(r"^(?:cny|rmb|¥|usd|us\$|\$|eur|€)|(?:cny|rmb|元|usd|eur|€)$", re.IGNORECASE)
_NUMBER = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+")
_DAY = re.compile(
    r"(?P<year>\d{4})(?:-(?P<m1>\d{1,2})-(?P<d1>\d{1,2})|/(?P<m2>\d{1,2})/(?P<d2>\d{1,2})"
    r"|\.(?P<m3>\d{1,2})\.(?P<d3>\d{1,2})|年(?P<m4>\d{1,2})月(?P<d4>\d{1,2})日?|(?P<m5>\d{2})(?P<d5>\d{2}))"
    r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_APOSTROPHE = re.compile(r"(?<=\d)['’](?=\d{3})")
_SWAPPED = str.maketrans(".,", ",.")
_MONTH = re.compile(r"(?P<year>\d{4})(?:[-/.]|年)(?P<month>\d{1,2})月?")
_BETWEEN = re.compile(r"\s*(?:~|至|到|—|–|\bto\b|\s-\s|\buntil\b|\bbis\b|\bau\b)\s*")


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


def amount(text: str, decimal: str = ".") -> Decimal:
    """`2,800.00`, `¥2,800`, `(12.50)`, `-12.5 CNY`: a decimal point, and commas, blanks or apostrophes
    between thousands. With the decimal sign `,` point and comma change places: `2.800,00`.

    Raises ValueError for anything else.
    """
    plain = unicodedata.normalize("NFKC", text).replace("−", "-").replace(" ", "")
    plain = _APOSTROPHE.sub("", plain.removeprefix("'"))
    plain = plain.translate(_SWAPPED) if decimal == "," else plain
    negative = plain.startswith("(") and plain.endswith(")")
    plain = plain[1:-1] if negative else plain
    sign = -1 if negative else 1
    plain = _CURRENCY.sub("", plain)
    if plain[:1] in ("-", "+"):  # before the currency or behind it
        sign, plain = (-sign if plain[0] == "-" else sign), _CURRENCY.sub("", plain[1:])
    if not _NUMBER.fullmatch(plain):
        shown = "2800, 2.800,00 or -12,50" if decimal == "," else "2800, 2,800.00 or -12.50"
        msg = f"an amount is a number such as {shown}"
        raise ValueError(msg)
    return sign * Decimal(plain.replace(",", ""))


def day(text: str, dates: str | None = None) -> date:
    """`2026-01-31`, `2026/1/31`, `2026年1月31日`, `20260131`, `31.01.2026`, with or without a time.

    `3/2/2026` is read where `dates` (day-first, month-first) says how, as in an import of jobs. Raises
    ValueError for anything else.
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    found = _DAY.fullmatch(plain)
    if found is None and (other := day_of(plain, dates)) is not None:
        return other
    if found is None:
        msg = "a day is written 2026-01-31, 2026/1/31, 2026年1月31日 or 31.01.2026"
        raise ValueError(msg)
    parts = {name: value for name, value in found.groupdict().items() if value is not None}
    year = int(parts.pop("year"))
    month, of_month = (int(parts[name]) for name in sorted(parts, reverse=True))
    return _date(year, month, of_month)


def span(text: str, dates: str | None = None) -> Span:
    """A month (`2026-01`, `2026年1月`) or two days with a word or dash between them, each as `day` reads it.

    Raises ValueError for anything else.
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    if found := _MONTH.fullmatch(plain):
        return Span(_date(int(found["year"]), int(found["month"]), 1), None)
    if len(ends := halves(plain)) == 2:
        start, end = day(ends[0], dates), day(ends[1], dates)
        if end < start:
            msg = "a period ends after it starts"
            raise ValueError(msg)
        return Span(start, end)
    return Span(day(plain, dates), day(plain, dates) + timedelta(days=1))


def halves(text: str) -> list[str]:
    """The two days of a period as they are written, or the text alone."""
    ends = _BETWEEN.split(text)
    if len(ends) != 2:
        half = re.fullmatch(r"(.+?\d)-(\d{4}.*|\d{1,2}\.\d{1,2}\.\d{4})", text)  # 2026/1/1-2026/1/31
        ends = [half[1], half[2]] if half else [text]
    return ends


def _date(year: int, month: int, of_month: int) -> date:
    try:
        return date(year, month, of_month)
    except ValueError:
        msg = "the calendar has no such day"
        raise ValueError(msg) from None
