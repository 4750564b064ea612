"""`--exchange`: in which currency the answer about offers is, and at which dated rates prices are turned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from pydantic import ValidationError

from sim.catalog import Catalog
from sim.errors import InputError, Problem
from sim.model.scenario import ExchangeRate, Scenario

__all__ = ["HOME", "ExchangeOption", "Money", "money_of", "refuse_exchange"]

HOME = "CNY"
"""The currency of scenarios, into which `--exchange` turns."""

ExchangeOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--exchange",
        metavar="CODE=RATE@DATE",
        help=f"What one unit of an offer's currency is worth in {HOME}, and on which day, such as "
        "USD=7.13@2026-11-30; may be repeated. Default: offers of one currency are answered in it.",
    ),
]

_FORM = f"is written CODE=RATE@DATE, such as USD=7.13@2026-11-30: {HOME} for one, and the day of the rate"


@dataclass(frozen=True, slots=True)
class Money:
    """The currency of an answer, and what turns prices into it."""

    currency: str = HOME
    exchange: Mapping[str, ExchangeRate] | None = None
    """Currency of an offer -> its rate; None: no price is turned."""

    def of(self, scenario: Scenario) -> Scenario:
        """The scenario in this currency, with these rates. Scenarios that people write are in `HOME`; one
        that a command makes of contracts alone may be in any."""
        rates = dict(self.exchange or {})
        return scenario.model_copy(update={"currency": self.currency, "exchange": rates})


def money_of(catalog: Catalog, names: Iterable[str], settings: Sequence[str] | None) -> Money:
    """The currency in which these offers (or slices: `ID/PROFILE`) are answered.

    Offers of one currency, and no rate: that currency. Else `HOME`, at the rates of `settings`. InputError
    for a rate that cannot be read or that no offer needs, and for a currency without one. Names that the
    catalogue does not have are passed over: they are refused where they are read.
    """
    offers = [catalog.offers[name] for name in _bases(names) if name in catalog.offers]
    currencies = list(dict.fromkeys(offer.currency for offer in offers))
    rates = dict(_rate(setting) for setting in settings or ())
    if len(rates) < len(settings or ()):
        raise InputError(
            Problem("a currency has one rate", key="--exchange", value=", ".join(settings or ()))
        )
    for name in rates:
        if offers and name not in currencies:
            rule = "no offer that is asked about is priced in this currency"
            raise InputError(Problem(rule, key="--exchange", value=name, known=tuple(currencies)))
    if len(currencies) == 1 and not rates:
        return Money(currencies[0])
    missing = [name for name in currencies if name not in rates and name != HOME]
    if missing:
        rule = (
            f"the offers are priced in {' and '.join(currencies)}: give a dated rate of {missing[0]}, such "
            f"as --exchange {missing[0]}=RATE@2026-11-30 ({HOME} for one {missing[0]})"
        )
        raise InputError(Problem(rule, key="--exchange"))
    return Money(HOME, rates)


def refuse_exchange(settings: Sequence[str] | None, scenario: Path | None) -> None:
    """InputError where a rate is given beside a scenario, which states its own."""
    if settings and scenario is not None:
        rule = "a scenario states its rates itself, under exchange"
        raise InputError(Problem(rule, key="--exchange", value=", ".join(settings)))


def _bases(names: Iterable[str]) -> Iterable[str]:
    return (name.partition("/")[0] for name in names)


def _rate(setting: str) -> tuple[str, ExchangeRate]:
    name, sign, rest = (part.strip() for part in setting.partition("="))
    amount, at, day = (part.strip() for part in rest.partition("@"))
    if not (sign and at and len(name) == 3 and name.isascii() and name.isalpha() and name.isupper()):
        raise InputError(Problem(_FORM, key="--exchange", value=setting))
    if name == HOME:
        rule = f"amounts are turned into {HOME}; name another currency"
        raise InputError(Problem(rule, key="--exchange", value=setting))
    try:
        return name, ExchangeRate.model_validate({"rate": amount, "date": date.fromisoformat(day)})
    except ValidationError:
        rule = "a rate is a number above 0, at most 1,000,000"
        raise InputError(Problem(rule, key="--exchange", value=setting)) from None
    except ValueError:
        raise InputError(Problem(_FORM, key="--exchange", value=setting)) from None
