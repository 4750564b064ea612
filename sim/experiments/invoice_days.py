"""Days, months and periods as invoices write them: in figures and by names, in four languages."""

from __future__ import annotations

import calendar
import re
import unicodedata
from dataclasses import dataclass
from datetime import date, timedelta

from sim.experiments.invoice_cells import folded
from sim.experiments.invoice_words import MONTHS
from sim.workload.imports.clock import day_of, is_either

__all__ = [
    "CENTURY",
    "Span",
    "day",
    "end_day",
    "halves",
    "is_month",
    "short_year",
    "span",
    "start_day",
    "whole_year",
    "year_at_either_end",
]

CENTURY = 2000
"""To which the two digits of a short year are added (assumed): 2000 to 2099."""

_NAME = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY = re.compile(
    r"(?P<year>\d{4})(?:-(?P<m1>\d{1,2})-(?P<d1>\d{1,2})|/(?P<m2>\d{1,2})/(?P<d2>\d{1,2})"
    r"|\.(?P<m3>\d{1,2})\.(?P<d3>\d{1,2})|年(?P<m4>\d{1,2})月(?P<d4>\d{1,2})日?|(?P<m5>\d{2})(?P<d5>\d{2}))"
    r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_CLOCK = r"(?:[Tt ](?:上午|下午)? ?\d{1,2}:[\d:.]+(?: ?[AaPp][Mm])?)?"
_YEAR_LAST = re.compile(r"\d{1,2}(?:\.\d{1,2}\.|[/-]\d{1,2}[/-])\d{4}" + _CLOCK)
_NAMED_DAY = re.compile(
    rf"(?P<d1>\d{{1,2}})(?:st|nd|rd|th|er)?\.?[ -]*(?P<n1>{_NAME})\.?,?[ -]*(?P<y1>\d{{4}})"
    rf"|(?P<n2>{_NAME})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y2>\d{{4}})"
)
_MONTH = re.compile(
    r"(?P<y1>\d{4})(?:[-/.]|年)(?P<m1>\d{1,2})(?:月份?)?|(?P<m2>\d{1,2})[-/.](?P<y2>\d{4})"
    rf"|(?P<n3>{_NAME})\.?(?: ?[-/,] ?| )?(?P<y3>\d{{4}})|(?P<y4>\d{{4}})(?: ?[-/] ?| )?(?P<n4>{_NAME})\.?"
)
_SHORT = (
    re.compile(r"(?P<before>\d{1,2}[./-]\d{1,2}[./-])(?P<year>\d{2})" + rf"(?P<after>{_CLOCK})"),
    re.compile(r"(?P<before>)(?P<year>\d{2})(?P<after>年.+)"),
    re.compile(rf"(?P<before>\d{{1,2}}\.?[ -]*(?:{_NAME})\.?[ -]*)(?P<year>\d{{2}})(?P<after>)"),
    re.compile(rf"(?P<before>(?:{_NAME})\.?(?=[-/]| ?['’]))[-/ ]?['’]?(?P<year>\d{{2}})(?P<after>)"),
)
"""Forms with a year of two digits; `June 26` is none, for it may be a day."""
_BETWEEN = re.compile(r"\s*(?:~|至|到|—|–|\bto\b|\s-\s|\buntil\b|\bbis\b|\bau\b)\s*")
_RULE = (
    "a day is written 2026-01-31, 2026/1/31, 2026年1月31日, 31.01.2026, 31.01.26 or 31 January 2026, "
    "a month 2026-01, 01/2026, January 2026 or 2026年1月"
)
_NO_DAY = "the calendar has no such day"
_DASHED = re.compile(r"\d{2}-\d{1,2}-\d{2}" + _CLOCK)


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


def short_year(text: str) -> bool:
    """Whether the year of this day or month has two digits."""
    plain = folded(text)
    return any(form.fullmatch(plain) for form in _SHORT)


def year_at_either_end(text: str) -> bool:
    """Whether a day such as `26-06-01` may begin with its year, as well as end with it."""
    return _DASHED.fullmatch(unicodedata.normalize("NFKC", text).strip()) is not None


def whole_year(text: str) -> str:
    """The text with a year of two digits as one of four (`01.06.2026`); any other as it stands."""
    plain = folded(text)
    for form in _SHORT:
        if (found := form.fullmatch(plain)) is not None:
            return f"{found['before']}{CENTURY + int(found['year'])}{found['after']}"
    return unicodedata.normalize("NFKC", text).strip()


def day(text: str, dates: str | None = None) -> date:
    """`2026-01-31`, `2026/1/31`, `2026年1月31日`, `20260131`, `31.01.2026`, with or without a time, and
    `31 Jan 2026`.

    `3/2/2026` is read where `dates` (day-first, month-first) says how, as in an import of jobs; a year of two
    digits is one from 2000 to 2099. Raises ValueError for anything else.
    """
    plain = whole_year(text)
    if (named := _NAMED_DAY.fullmatch(folded(plain))) is not None:
        of_month, name, year = (named[f"{key}1"] or named[f"{key}2"] for key in "dny")
        return _date(int(year), MONTHS[name], int(of_month))
    found = _DAY.fullmatch(plain)
    if found is None and (other := day_of(plain, dates)) is not None:
        return other
    if found is None:
        in_doubt = dates is None and is_either(plain)
        raise ValueError(_NO_DAY if _YEAR_LAST.fullmatch(plain) and not in_doubt else _RULE)
    parts = {name: value for name, value in found.groupdict().items() if value is not None}
    year = int(parts.pop("year"))
    month, of_month = (int(parts[name]) for name in sorted(parts, reverse=True))
    return _date(year, month, of_month)


def start_day(text: str, dates: str | None = None) -> date:
    """A day, or the first one of a month. Raises ValueError for anything else."""
    return _first(text) or day(text, dates)


def end_day(text: str, dates: str | None = None) -> date:
    """A day, or the last one of a month. Raises ValueError for anything else."""
    first = _first(text)
    if first is None:
        return day(text, dates)
    return first.replace(day=calendar.monthrange(first.year, first.month)[1])


def span(text: str, dates: str | None = None) -> Span:
    """A month (`2026-01`, `01/2026`, `January 2026`, `2026年1月`), a day, or two of them with a word or dash
    between: from the first day of the one to the last of the other.

    Raises ValueError for anything else.
    """
    if (first := _first(text)) is not None:
        return Span(first, None)
    ends = halves(text)
    if len(ends) == 2:
        start, end = start_day(ends[0], dates), end_day(ends[1], dates)
        if end < start:
            msg = "a period ends after it starts"
            raise ValueError(msg)
        return Span(start, end)
    only = day(text, dates)
    if only == date.max:
        raise ValueError(_NO_DAY)  # no day comes after it
    return Span(only, only + timedelta(days=1))


def halves(text: str) -> list[str]:
    """The two days or months of a period as they are written, or the text alone.

    Where the year stands once (`01.06. - 30.06.2026`, `2026年6月1日至6月30日`), both have it.
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    if _form(plain) is not None:
        return [plain]
    ends = _BETWEEN.split(plain)
    if len(ends) == 2:
        return _both_years(*ends) or ends
    for dash in re.finditer("-", plain):  # 2026/1/1-2026/1/31
        one, two = plain[: dash.start()], plain[dash.end() :]
        if _form(one) is not None and _form(one) == _form(two):
            return [one, two]
        if (both := _both_years(one, two)) is not None and "-" not in one + two:
            return both
    return [plain]


def _both_years(one: str, two: str) -> list[str] | None:
    """Two halves of which one alone has the year, each with it; None where that is not so."""
    first, last = _form(one), _form(two)
    if (first is None) == (last is None):
        return None
    found = re.search(r"\d{4}", whole_year(two if first is None else one))
    year = found[0] if found else ""
    if first is None:
        made = [f"{one}{gap}{year}" for gap in ("", ".", "/", " ", ", ")]
        return next(([half, two] for half in made if _form(half) == (last and (last[0], False))), None)
    made = [f"{year}{gap}{two}" for gap in ("年", "-", "/", ".")]
    return next(([one, half] for half in made if _form(half) == first == ("year first", False)), None)


def _form(text: str) -> tuple[str, bool] | None:
    """Which form of one day or month the text as a whole has, and whether its year has two digits."""
    plain = whole_year(text)
    small = folded(plain)
    forms = (
        ("year first", _DAY.fullmatch(plain)),
        ("year last", _YEAR_LAST.fullmatch(plain)),
        ("month", _MONTH.fullmatch(small)),
        ("named day", _NAMED_DAY.fullmatch(small)),
    )
    return next(((name, short_year(text)) for name, found in forms if found), None)


def is_month(text: str) -> bool:
    """Whether the text names a month and no day."""
    return _MONTH.fullmatch(folded(whole_year(text))) is not None


def _first(text: str) -> date | None:
    """The first day of a month; None where the text is no month."""
    found = _MONTH.fullmatch(folded(whole_year(text)))
    if found is None:
        return None
    parts = {key[0]: value for key, value in found.groupdict().items() if value is not None}
    return _date(int(parts["y"]), MONTHS[parts["n"]] if "n" in parts else int(parts["m"]), 1)


def _date(year: int, month: int, of_month: int) -> date:
    try:
        return date(year, month, of_month)
    except ValueError:
        raise ValueError(_NO_DAY) from None
