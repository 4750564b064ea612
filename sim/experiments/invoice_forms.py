"""How an invoice writes its numbers and days: as the user says, else as its columns read and no other way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from sim.errors import InputError, Problem
from sim.experiments.invoice_cells import amount
from sim.experiments.invoice_columns import Rows, column
from sim.experiments.invoice_days import (
    CENTURY,
    end_day,
    halves,
    is_month,
    short_year,
    whole_year,
    year_at_either_end,
)
from sim.workload.imports.clock import DATES, is_either, reads

__all__ = ["Forms", "forms_of"]

NUMBERS = ("amount", "gross", "tax", "quantity", "unit_price")
DAYS = ("period", "start", "end", "month")
"""Fields that hold them."""

_OPEN = "?"
"""In place of a decimal sign: the column reads with either, and to different numbers."""


@dataclass(frozen=True, slots=True)
class Forms:
    """How numbers and days are read."""

    signs: Mapping[str, str] = field(default_factory=dict)
    """Field -> its decimal sign; a point where none stands."""
    dates: str | None = None
    """Order of `3/2/2026`, one of `DATES`; None: no day is written so."""
    notes: tuple[str, ...] = ()
    """What was found, in sentences."""

    def sign(self, name: str) -> str:
        """The decimal sign of a field."""
        return self.signs.get(name, ".")


def forms_of(
    rows: Rows, places: Mapping[str, int], decimal: str | None, dates: str | None, file: str
) -> Forms:
    """The forms of a file whose fields stand at `places`. InputError where it may be read in two ways."""
    numbers = {name: column(rows, places[name]) for name in NUMBERS if name in places}
    days = [cell for name in DAYS if name in places for cell in column(rows, places[name])]
    notes: list[str] = []
    signs = dict.fromkeys(numbers, decimal) if decimal is not None else _signs(numbers, file)
    if decimal is None and "," in signs.values():
        notes.append("Numbers are read with a decimal comma, such as 1.234,56: they read no other way.")
    order = dates
    ends = [half for cell in days for half in halves(cell)]
    if dates is None and (dashed := next(filter(year_at_either_end, ends), None)) is not None:
        rule = f"the year may stand first or last; --dates {' or --dates '.join(DATES)} says that it is last"
        raise InputError(Problem(rule, file, key="--dates", value=dashed))
    either = [half for half in ends if is_either(whole_year(half))]
    if dates is None and either:
        order = _order(either, file)
        notes.append(f"Days such as {either[0]} are read {order}: all of them read no other way.")
    notes += _short_years(ends, order)
    return Forms(signs, order, tuple(notes))


def _short_years(ends: Sequence[str], order: str | None) -> Iterator[str]:
    """What a year of two digits is taken as, with the first day or month that has one."""
    for half in filter(short_year, ends):
        try:
            last = end_day(half, order)
        except ValueError:
            continue
        what = f"{last:%Y-%m}" if is_month(half) else f"{last}"
        yield f"Years of two digits are {CENTURY} to {CENTURY + 99}: {half} is {what}."
        return


def _order(either: Sequence[str], file: str) -> str:
    """The one order that reads all these days; where none does, the one that reads most."""
    read = {order: sum(reads(whole_year(cell), order) for cell in either) for order in DATES}
    if not any(read.values()):
        return DATES[0]  # each is told where it stands: the calendar has no such day
    if len(set(read.values())) == 1:
        rule = f"nothing says which number is the month; --dates {' or --dates '.join(DATES)} does"
        raise InputError(Problem(rule, file, key="--dates", value=either[0]))
    return max(read, key=lambda order: read[order])


def _signs(numbers: Mapping[str, Sequence[str]], file: str) -> dict[str, str]:
    """Decimal sign of each column; one that may be read in two ways follows the others."""
    found = {name: _sign(cells) for name, cells in numbers.items()}
    others = {sign for sign in found.values() if sign in (".", ",")}
    signs: dict[str, str] = {}
    for name, sign in found.items():
        if sign != _OPEN:
            signs[name] = sign or "."
            continue
        point = next((cell for cell in _in_doubt(numbers[name]) if "." in cell), None)
        if len(others) == 1:
            signs[name] = next(iter(others))
        elif point is None:  # 2,800: three decimals of an amount are rarer than thousands
            signs[name] = "."
        else:
            rule = "nothing says whether this has decimals or thousands; --decimal . or --decimal , does"
            raise InputError(Problem(rule, file, key="--decimal", value=point))
    return signs


def _sign(cells: Sequence[str]) -> str:
    """The sign with which a column reads; empty: with either, to the same numbers."""
    point, comma = ([_value(cell, sign) for cell in cells] for sign in ".,")
    missing = point.count(None), comma.count(None)
    if missing[0] != missing[1]:
        return "." if missing[0] < missing[1] else ","
    if point == comma:
        return ""
    return "." if None in point else _OPEN


def _in_doubt(cells: Sequence[str]) -> Iterator[str]:
    """Cells that are one number with a decimal point, and another with a decimal comma."""
    return (cell for cell in cells if _value(cell, ".") != _value(cell, ","))


def _value(cell: str, sign: str) -> Decimal | None:
    try:
        return amount(cell, sign)
    except ValueError:
        return None
