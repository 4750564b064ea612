"""Rows of a real invoice: the lines that they bill, the tax beside them, and sums at the foot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Any

from sim.errors import InputError, Problem
from sim.experiments.invoice_cells import amount, folded
from sim.experiments.invoice_days import Span, end_day, span, start_day
from sim.experiments.invoice_forms import Forms
from sim.experiments.invoice_words import CATEGORY_WORDS, SAME_CURRENCY, SUMS

__all__ = ["BilledLine", "RowReader"]


@dataclass(frozen=True, slots=True)
class BilledLine:
    """One line of a real invoice; what it does not say is None or empty."""

    row: int
    """Row of the file's table, from 1."""
    line: int
    """Line of the file, or row of its sheet."""
    amount: Decimal
    """Without the tax that the row states beside it."""
    text: str = ""
    """What it bills, in its own words."""
    charge: int | None = None
    provider: str = ""
    offer: str = ""
    lease: str = ""
    category: str = ""
    """One of the ledger's, or empty: rent."""
    span: Span | None = None
    quantity: Decimal | None = None
    unit: str = ""
    unit_price: Decimal | None = None


@dataclass
class RowReader:
    """Turns rows of cells into lines."""

    file: str
    header: Sequence[str]
    places: Mapping[str, int]
    currency: str
    forms: Forms = field(default_factory=Forms)
    stated_total: Decimal | None = None

    def lines(self, row: int, line: int, cells: Sequence[str]) -> list[BilledLine]:
        """The line of a row, and its tax as a line of its own; none for a sum. InputError if it is wrong."""
        if len(cells) > len(self.header) and any(cell.strip() for cell in cells[len(self.header) :]):
            rule = f"a row has as many cells as the header, {len(self.header)}"
            raise InputError(Problem(rule, self.file, line, f"row {row}", len(cells)))
        problems: list[Problem] = []
        values = {field: self._cell(cells, field) for field in self.places}
        read = partial(self._read, values, row, line, problems)
        first = next((cell.strip() for cell in cells if cell.strip()), "")
        number = partial(self._number, read)
        net, tax = _net_and_tax(number("amount"), number("gross"), number("tax"))
        if folded(first.removeprefix("'")).rstrip(":") in SUMS:
            if problems:
                raise InputError(problems)
            self.stated_total = None if net is None else net + (tax or 0)
            return []
        if net is None and not problems:
            key = f"row {row}, {self._title('amount' if 'amount' in self.places else 'gross')}"
            problems.append(Problem("a line needs an amount", self.file, line, key, ""))
        found = BilledLine(
            row=row,
            line=line,
            amount=net or Decimal(0),
            text=_words(values),
            charge=read("charge", int),
            provider=values.get("provider", ""),
            offer=values.get("offer", ""),
            lease=values.get("lease", ""),
            category=_category(values),
            span=self._span(read),
            quantity=number("quantity"),
            unit=values.get("unit", ""),
            unit_price=number("unit_price"),
        )
        other = values.get("currency", "")
        if other and folded(other) not in (folded(self.currency), *SAME_CURRENCY.get(self.currency, ())):
            rule = f"the ledger is in {self.currency}, and the invoice must be too"
            problems.append(Problem(rule, self.file, line, f"row {row}, {self._title('currency')}", other))
        if problems:
            raise InputError(problems)
        return [found, *_tax_beside(found, tax)]

    def _read(
        self,
        values: Mapping[str, str],
        row: int,
        line: int,
        problems: list[Problem],
        field: str,
        reader: Callable[[str], Any],
    ) -> Any:
        """What a field of a row says; None where it says nothing, or what is then among the problems."""
        text = values.get(field, "")
        if not text:
            return None
        try:
            return reader(text)
        except ValueError as error:
            key = f"row {row}, {self._title(field)}"
            problems.append(Problem(str(error), self.file, line, key, text))
            return None

    def _number(self, read: Callable[[str, Callable[[str], Any]], Any], field: str) -> Any:
        """The number of a field, with the decimal sign of its column."""
        return read(field, partial(amount, decimal=self.forms.sign(field)))

    def _span(self, read: Callable[[str, Callable[[str], Any]], Any]) -> Span | None:
        """The period of a row: its first day with its end, else its period, else its month."""
        dates = self.forms.dates
        period = read("period", partial(span, dates=dates))
        start = read("start", partial(start_day, dates=dates))
        end = read("end", partial(end_day, dates=dates))
        month = read("month", partial(span, dates=dates))
        return (period or month) if start is None else Span(start, end)

    def _title(self, field: str) -> str:
        """The header of a field."""
        return self.header[self.places.get(field, 0)].strip()

    def _cell(self, cells: Sequence[str], field: str) -> str:
        place = self.places[field]
        text = cells[place].strip() if place < len(cells) else ""
        return text[1:] if text[:1] == "'" and text[1:2] in ("=", "+", "-", "@", "'") else text


def _tax_beside(found: BilledLine, tax: Decimal | None) -> Iterator[BilledLine]:
    """The tax that a row states, as a line of its own."""
    if tax:
        beside = replace(found, amount=tax, category="tax", quantity=None, unit_price=None, charge=None)
        yield replace(beside, text=f"tax on: {found.text}".strip())


def _net_and_tax(
    net: Decimal | None, gross: Decimal | None, tax: Decimal | None
) -> tuple[Decimal | None, Decimal | None]:
    """Amount without tax, and the tax beside it; None where the row has no amount or no tax of its own."""
    if net is None and gross is None:
        return None, None
    if net is None and gross is not None:
        return gross - (tax or 0), tax
    if tax is None and gross is not None and net is not None:
        tax = gross - net
    return net, tax


def _words(values: Mapping[str, str]) -> str:
    return " ".join(values[field] for field in ("description", "offer", "lease") if values.get(field))


def _category(values: Mapping[str, str]) -> str:
    """The ledger's category that the row's own words name; empty for rent."""
    for name in ("category", "description", "offer"):
        words = folded(values.get(name, ""))
        if name == "category" and words in ("purchase", "usage"):
            return ""
        for category, pattern in CATEGORY_WORDS.items():
            if pattern.search(words):
                return category
    return ""
