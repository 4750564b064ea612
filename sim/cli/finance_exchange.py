"""`--exchange`: in which currency the answer about offers is, and at which dated rates prices are turned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from pydantic import ValidationError

from sim.billing.exchange import turned
from sim.catalog import Catalog
from sim.errors import InputError, Problem
from sim.model.scenario import ExchangeRate, Scenario

__all__ = ["HOME", "ExchangeOption", "Money", "money_of", "refuse_exchange", "with_rates"]

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

_STATED = "a scenario states its rates itself, under exchange"
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

    def turned(self, catalog: Catalog, names: Iterable[str]) -> tuple[str, ...]:
        """A sentence for each of these offers whose prices are turned: at which dated rate."""
        offers = (catalog.offers[name] for name in dict.fromkeys(_bases(names)))
        return tuple(
            self.turned_one(offer.id, offer.currency) for offer in offers if offer.currency != self.currency
        )

    def turned_one(self, name: str, currency: str) -> str:
        """The sentence for something that is priced in another currency."""
        return turned(name, currency, self.currency, (self.exchange or {})[currency])


def money_of(
    catalog: Catalog, names: Iterable[str], settings: Sequence[str] | None, own: str | None = None
) -> Money:
    """The currency in which these offers (or slices: `ID/PROFILE`) are answered; `own`: the currency of what
    one owns, which is held against them.

    One currency, and no rate: that currency. Else `HOME`, at the rates of `settings`. InputError for a rate
    that cannot be read or that no offer needs, and for a currency without one. Names that the catalogue
    does not have are passed over: they are refused where they are read.
    """
    currencies = _currencies(catalog, names, own)
    rates = _rates(settings, currencies)
    if len(currencies) == 1 and not rates:
        return Money(currencies[0])
    _refuse_missing(currencies, rates, "the offers are" if own is None else "owning and rents are")
    return Money(HOME, rates)


def with_rates(
    scenario: Scenario, catalog: Catalog, names: Iterable[str], settings: Sequence[str] | None
) -> Scenario:
    """The scenario with the rates that these offers need beside those that it states.

    InputError as `money_of`, and for a currency of which the scenario states a rate itself.
    """
    currencies = _currencies(catalog, names)
    rates = _rates(settings, currencies)
    for name in rates:
        if name in scenario.exchange:
            raise InputError(Problem(_STATED, key="--exchange", value=name))
    both = {**scenario.exchange, **rates}
    _refuse_missing(currencies, both, "the offers are")
    return scenario.model_copy(update={"exchange": both}) if rates else scenario


def refuse_exchange(settings: Sequence[str] | None, scenario: Path | None) -> None:
    """InputError where a rate is given beside a scenario, which states its own."""
    if settings and scenario is not None:
        raise InputError(Problem(_STATED, key="--exchange", value=", ".join(settings)))


def _bases(names: Iterable[str]) -> Iterable[str]:
    return (name.partition("/")[0] for name in names)


def _currencies(catalog: Catalog, names: Iterable[str], own: str | None = None) -> list[str]:
    """Currencies of the offers that the catalogue has, each once, and of what one owns."""
    found = [catalog.offers[name].currency for name in _bases(names) if name in catalog.offers]
    return list(dict.fromkeys(found if own is None else [*found, own]))


def _rates(settings: Sequence[str] | None, currencies: Sequence[str]) -> dict[str, ExchangeRate]:
    """Currency -> its rate, of the option; `currencies` are those that may need one."""
    rates = dict(_rate(setting) for setting in settings or ())
    if len(rates) < len(settings or ()):
        raise InputError(
            Problem("a currency has one rate", key="--exchange", value=", ".join(settings or ()))
        )
    for name in rates:
        if currencies and name not in currencies:
            rule = "no offer that is asked about is priced in this currency"
            raise InputError(Problem(rule, key="--exchange", value=name, known=tuple(currencies)))
    return rates


def _refuse_missing(currencies: Sequence[str], rates: Mapping[str, ExchangeRate], what: str) -> None:
    """InputError for a currency that is turned into `HOME` and has no rate."""
    missing = [name for name in currencies if name not in rates and name != HOME]
    if missing:
        rule = (
            f"{what} priced in {' and '.join(currencies)}: give a dated rate of {missing[0]}, such "
            f"as --exchange {missing[0]}=RATE@2026-11-30 ({HOME} for one {missing[0]})"
        )
        raise InputError(Problem(rule, key="--exchange"))


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
