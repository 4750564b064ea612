"""Owning the cards instead of renting them: what a year costs, and what a useful card-hour costs.

A year of owning = capital recovery + power + hosting + staff + spares + network:

- capital recovery = (K - R / (1 + r)^n) x r (1 + r)^n / ((1 + r)^n - 1), with the price K, the residual
  value R after n years and the effective annual rate r; (K - R) / n where r is 0;
- power = kW x load x 8,760 h x PUE x price of a kWh;
- spares = a share of the price, each year.

The depreciation view replaces the first line by straight-line depreciation (K - R) / n: what the books
show, without the cost of the money. Useful hours = cards x 8,760 x (1 - downtime) x utilisation.
Source: capital recovery factor, any textbook of engineering economics (Park, chapter 3). Every input is
a figure with a source, or is shown as assumed; the defaults are illustrations, not market prices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from sim.model.base import Strict
from sim.model.currencies import checked

__all__ = [
    "HOURS_OF_YEAR",
    "Figure",
    "Owning",
    "OwningCost",
    "YearRow",
    "books",
    "capital_for",
    "in_currency",
    "own",
    "payback_months",
    "recovery_factor",
    "useful_hours",
]

HOURS_OF_YEAR = 8760


class Figure(Strict):
    """A number and where it comes from."""

    value: Decimal
    source: str = ""
    """Quote, bill, data sheet; empty: assumed."""

    @property
    def assumed(self) -> bool:
        """Whether nobody has said where it comes from."""
        return not self.source.strip()


def _from_number(value: Any) -> Any:
    return value if isinstance(value, Mapping | Figure) else {"value": value}


def _bounded(rule: str, low: Decimal | int, high: Decimal | int, open_low: bool = False) -> AfterValidator:
    def check(figure: Figure) -> Figure:
        if not low <= figure.value <= high or (open_low and figure.value == low):
            raise ValueError(rule)
        return figure

    return AfterValidator(check)


_PLAIN = BeforeValidator(_from_number)
_MOST = 10**12
_Money = Annotated[Figure, _PLAIN, _bounded("must be an amount of at least 0", 0, _MOST)]
_Price = Annotated[Figure, _PLAIN, _bounded("must be an amount above 0", 0, _MOST, open_low=True)]
_Share = Annotated[Figure, _PLAIN, _bounded("must be a share from 0 to 1, such as 0.2", 0, 1)]
_Use = Annotated[Figure, _PLAIN, _bounded("must be a share above 0, at most 1", 0, 1, open_low=True)]
_Part = Annotated[
    Figure, _PLAIN, _bounded("must be a share of at least 0 and below 1", 0, Decimal("0.999999"))
]


def _assumed(value: str) -> Figure:
    return Figure(value=Decimal(value))


class Owning(Strict):
    """Inputs of owning: each a number, or `{value: 800000, source: quote of 3 March}`."""

    name: str = "own machine"
    currency: Annotated[str, AfterValidator(checked)] = "CNY"
    """Of every amount here; code of ISO 4217."""
    cards: int = Field(default=8, ge=1, le=1_000_000)
    """Cards of all machines together."""
    capital: _Price = _assumed("800000")
    """Price of everything that is bought, currency."""
    capital_tax: _Part = _assumed("0")
    """Value-added tax contained in `capital`, as a rate (China, goods: 0.13)."""
    tax_creditable: bool = False
    """Whether that tax comes back; then it is no cost."""
    life_years: Annotated[
        Figure, _PLAIN, _bounded("must be a number of years above 0, at most 30", 0, 30, open_low=True)
    ] = _assumed("4")
    residual: _Share = _assumed("0.2")
    """Value after `life_years`, as a share of `capital`."""
    rate: Annotated[
        Figure, _PLAIN, _bounded("must be an effective annual rate from 0 to 1, such as 0.08", 0, 1)
    ] = _assumed("0.08")
    power_kw: _Money = _assumed("6.5")
    """Draw of everything at full load, kW."""
    load: _Share = _assumed("0.7")
    """Mean draw over full draw."""
    pue: Annotated[Figure, _PLAIN, _bounded("power usage effectiveness is 1 to 5", 1, 5)] = _assumed("1.4")
    """Power of the site over power of the machines."""
    power_price: _Money = _assumed("0.75")
    """Currency per kWh."""
    hosting: _Money = _assumed("30000")
    """Racks and space, currency a year."""
    staff: _Money = _assumed("60000")
    """People who keep it running, currency a year."""
    spares: _Share = _assumed("0.03")
    """Spare parts a year, as a share of `capital`."""
    network: _Money = _assumed("20000")
    """Public network, currency a year."""
    downtime: _Part = _assumed("0.01")
    """Share of the time in which the cards are broken or waiting for parts."""
    utilisation: _Use = _assumed("0.6")
    """Share of the time in working order in which the cards do useful work."""


@dataclass(frozen=True, slots=True)
class OwningCost:
    """A year of owning, currency a year."""

    parts: Mapping[str, Decimal]
    """Capital recovery, power, hosting, staff, spares, network."""
    total: Decimal
    depreciation: Decimal
    """Straight line: what the books show in the place of capital recovery."""
    book_total: Decimal
    """The year with depreciation instead of capital recovery."""
    useful_hours: Decimal
    """Card-hours a year."""
    useful_hour: Decimal
    """Currency per useful card-hour."""


@dataclass(frozen=True, slots=True)
class YearRow:
    """One year in the books."""

    year: int
    opening: Decimal
    """Book value at its beginning."""
    depreciation: Decimal
    closing: Decimal
    running: Decimal
    """Power, hosting, staff, spares and network of the year; of its part where life ends within it."""


def in_currency(inputs: Owning, currency: str, rate: Decimal) -> Owning:
    """The inputs with every amount of money in the other currency, at `rate` of it for one; sources stay."""
    money = ("capital", "power_price", "hosting", "staff", "network")
    figures: dict[str, Figure] = {name: getattr(inputs, name) for name in money}
    turned = {
        name: figure.model_copy(update={"value": figure.value * rate}) for name, figure in figures.items()
    }
    return inputs.model_copy(update={**turned, "currency": currency})


def recovery_factor(rate: Decimal, years: Decimal) -> Decimal:
    """r (1 + r)^n / ((1 + r)^n - 1): the yearly payment that 1 is worth; 1 / n where r is 0."""
    with localcontext(prec=34):
        if rate == 0:
            return 1 / years
        grown = ((1 + rate).ln() * years).exp()
        return rate * grown / (grown - 1)


def own(inputs: Owning) -> OwningCost:
    """What a year of owning costs, not rounded."""
    with localcontext(prec=34):
        capital, residual = _net_capital(inputs), inputs.residual.value * _net_capital(inputs)
        rate, years = inputs.rate.value, inputs.life_years.value
        later = residual * (-(1 + rate).ln() * years).exp()
        running = _running(inputs)
        parts = {"capital recovery": (capital - later) * recovery_factor(rate, years), **running}
        total = sum(parts.values(), Decimal(0))
        depreciation = (capital - residual) / years
        hours = useful_hours(inputs.cards, inputs.downtime.value, inputs.utilisation.value)
        return OwningCost(
            parts=parts,
            total=total,
            depreciation=depreciation,
            book_total=depreciation + sum(running.values(), Decimal(0)),
            useful_hours=hours,
            useful_hour=total / hours,
        )


def useful_hours(cards: int, downtime: Decimal, utilisation: Decimal) -> Decimal:
    """Card-hours a year in which useful work is done."""
    return cards * HOURS_OF_YEAR * (1 - downtime) * utilisation


def books(inputs: Owning) -> tuple[YearRow, ...]:
    """Straight-line depreciation year by year, and the running costs beside it."""
    capital = _net_capital(inputs)
    left_years, book = inputs.life_years.value, capital
    rows: list[YearRow] = []
    yearly = (capital - inputs.residual.value * capital) / left_years
    running = sum(_running(inputs).values(), Decimal(0))
    while left_years > 0:
        part = min(Decimal(1), left_years)
        rows.append(YearRow(len(rows) + 1, book, yearly * part, book - yearly * part, running * part))
        book -= yearly * part
        left_years -= part
    return tuple(rows)


def capital_for(inputs: Owning, rent: Decimal) -> Decimal | None:
    """Price at which a year of owning costs as much as this year's rent; None where it costs more at 0."""
    free = own(inputs.model_copy(update={"capital": Figure(value=Decimal(0))})).total
    one = own(inputs.model_copy(update={"capital": Figure(value=Decimal(1))})).total - free
    price = (rent - free) / one
    return price if price >= 0 else None


def payback_months(inputs: Owning, rent: Decimal) -> Decimal | None:
    """Months after which owning has cost less cash than renting, resale left out; None where never.

    K / (rent a month - running costs a month).
    """
    saved = (rent - sum(_running(inputs).values(), Decimal(0))) / 12
    return _net_capital(inputs) / saved if saved > 0 else None


def _net_capital(inputs: Owning) -> Decimal:
    price = inputs.capital.value
    return price / (1 + inputs.capital_tax.value) if inputs.tax_creditable else price


def _running(inputs: Owning) -> dict[str, Decimal]:
    """Costs of a year besides capital."""
    kilowatts = inputs.power_kw.value * inputs.load.value * inputs.pue.value
    return {
        "power": kilowatts * HOURS_OF_YEAR * inputs.power_price.value,
        "hosting": inputs.hosting.value,
        "staff": inputs.staff.value,
        "spares": inputs.spares.value * _net_capital(inputs),
        "network": inputs.network.value,
    }
