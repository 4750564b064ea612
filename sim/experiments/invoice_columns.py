"""Which column of a real invoice means what: by its header, and for looser words by its cells too."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from sim.errors import InputError, Problem
from sim.experiments.invoice_cells import amount, folded
from sim.experiments.invoice_days import start_day
from sim.experiments.invoice_words import FIELDS, LOOSE_FIELDS
from sim.workload.imports.clock import DATES

__all__ = ["check_currency", "column", "is_loose", "places_of", "unread"]

Rows = Sequence[tuple[int, Sequence[str]]]
"""Lines of the file with their cells, without the header."""

_MONEY = r"(?:in )?(cny|rmb|eur|usd|gbp|chf|€|\$|£)"
_IN_BRACKETS = re.compile(rf"\({_MONEY}\)|\[[^\]]*\]")
_BEHIND = re.compile(rf"(?<=\w) {_MONEY}$")
_CODES = {"rmb": "CNY", "€": "EUR", "$": "USD", "£": "GBP"}
HIGHEST_RATE = 30
"""Per cent: a column of tax with one number up to it in every row is a rate, not an amount."""


def places_of(
    header: Sequence[str], rows: Rows, columns: Mapping[str, str], file: str, line: int
) -> dict[str, int]:
    """Field -> position, `columns` (field -> header) first; InputError for what is missing, twice there or
    unknown."""
    names = [_header(cell) for cell in header]
    places, problems = _asked(header, names, columns, file, line)
    for field, words in FIELDS.items():
        if field in columns:
            continue
        taken = set(places.values())
        found = [place for place, name in enumerate(names) if name in words and place not in taken]
        if len(found) > 1:
            both = ", ".join(header[place].strip() for place in found)
            rule = f"several columns are read as {field}: say which with --column {field}=HEADER"
            problems.append(Problem(rule, file, line, value=both))
        elif found:
            places[field] = found[0]
    if problems:
        raise InputError(problems)
    _loosely(names, rows, places)
    if "amount" not in places and "gross" not in places:
        rule = "an invoice needs a column of amounts: name it with --column amount=HEADER"
        known = tuple(cell.strip() for cell in header)
        raise InputError(Problem(rule, file, line, known=known))
    return places


def unread(header: Sequence[str], places: Mapping[str, int]) -> tuple[str, ...]:
    """Headers of the columns that mean nothing here."""
    taken = set(places.values())
    return tuple(cell.strip() for place, cell in enumerate(header) if place not in taken and cell.strip())


def is_loose(field: str, header: str) -> bool:
    """Whether a header may mean the field or something else, as `Date` may be that of the invoice."""
    return _header(header) in LOOSE_FIELDS.get(field, ())


def check_currency(
    header: Sequence[str], places: Mapping[str, int], currency: str, file: str, line: int
) -> None:
    """InputError where the header of an amount names another currency than the ledger's."""
    for field in ("amount", "gross", "tax", "unit_price"):
        title = header[places[field]].strip() if field in places else ""
        name = folded(title)
        found = _IN_BRACKETS.search(name) or _BEHIND.search(name)
        sign = found[1] if found else None
        if sign and _CODES.get(sign, sign.upper()) != currency:
            rule = f"the ledger is in {currency}, and the invoice must be too"
            raise InputError(Problem(rule, file, line, value=title))


def column(rows: Rows, place: int) -> list[str]:
    """The cells of a column that say something."""
    return [cells[place].strip() for _, cells in rows if place < len(cells) and cells[place].strip()]


def _asked(
    header: Sequence[str], names: Sequence[str], columns: Mapping[str, str], file: str, line: int
) -> tuple[dict[str, int], list[Problem]]:
    """The columns that the user names, and what is wrong with them."""
    places: dict[str, int] = {}
    problems: list[Problem] = []
    for field, asked in columns.items():
        if field not in FIELDS:
            rule = "an invoice has no such field"
            problems.append(Problem(rule, key="--column", value=field, known=tuple(FIELDS)))
        elif _header(asked) not in names:
            known = tuple(cell.strip() for cell in header)
            problems.append(Problem("the invoice has no such column", file, line, "--column", asked, known))
        else:
            places[field] = names.index(_header(asked))
    return places, problems


def _loosely(names: Sequence[str], rows: Rows, places: dict[str, int]) -> None:
    """Adds columns with looser words to `places`: each for a field that has none, where one column alone has
    such a word and its cells can be what the field holds."""
    for field, words in LOOSE_FIELDS.items():
        if field in places or (field == "start" and places.keys() & {"period", "month"}):
            continue  # a date beside a period is that of the invoice
        taken, fits = set(places.values()), _FITS.get(field, bool)
        found = [
            place
            for place, name in enumerate(names)
            if name in words and place not in taken and fits(column(rows, place))
        ]
        if len(found) == 1:
            places[field] = found[0]


def _header(cell: str) -> str:
    """A header to compare by: `Unit_Price (CNY)` is `unit price`, `Betrag in EUR` is `betrag`."""
    name = folded(cell.removeprefix("'")).replace("_", " ").replace("：", ":")
    name = _IN_BRACKETS.sub("", name).strip(" :*")
    return _BEHIND.sub("", name).strip(" :*")


# -- What cells can be -----------------------------------------------------------------------------------


def _number(text: str) -> bool:
    return any(_reads(amount, text, sign) for sign in ".,")


def _numbers(cells: Sequence[str]) -> bool:
    return bool(cells) and all(map(_number, cells))


def _words(cells: Sequence[str]) -> bool:
    """`Position` counts the lines on one invoice, and says what they bill on another."""
    return bool(cells) and not all(map(_number, cells))


def _days(cells: Sequence[str]) -> bool:
    return bool(cells) and all(any(_reads(start_day, text, order) for order in DATES) for text in cells)


def _tax(cells: Sequence[str]) -> bool:
    rates = {str(rate) for rate in range(HIGHEST_RATE + 1)}
    return _numbers(cells) and not (len(set(cells)) == 1 and cells[0] in rates)


def _reads(reader: Callable[[str, str], object], text: str, form: str) -> bool:
    try:
        reader(text, form)
    except ValueError:
        return False
    return True


_FITS: Mapping[str, Callable[[Sequence[str]], bool]] = {
    "start": _days,
    "description": _words,
    "quantity": _numbers,
    "unit_price": _numbers,
    "tax": _tax,
}
"""Field -> whether the cells of a column can be it; other fields hold any text."""
