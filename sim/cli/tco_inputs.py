"""Inputs of `fleetsim tco`: a preset, a file laid on it, settings laid on both; and the rents beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

from sim.billing.finance.analysis import hour_price
from sim.billing.finance.outcomes import Way, outcome
from sim.billing.owning import Owning, in_currency, useful_hours
from sim.billing.owning_presets import PRESETS
from sim.billing.rounding import as_decimal
from sim.catalog import Catalog
from sim.catalog.reading import Document, read_file, read_yaml, validated
from sim.cli.breakeven_ways import lease_keys, plain_scenario, read_plan, rekeyed
from sim.cli.finance_exchange import Money, money_of
from sim.cli.unlike_cards import unlike_cards
from sim.errors import InputError, Problem
from sim.load_leases import with_slices
from sim.model.contract import PriceChoice

__all__ = ["Beside", "Rent", "read_inputs", "read_rents"]

_KEYS = ("preset", "owning")


@dataclass(frozen=True, slots=True)
class Rent:
    """One way to rent as many cards."""

    name: str
    units: int
    cards: int
    year: Decimal
    """Currency a year; by the hour: for the hours used."""
    hour: Decimal | None
    """Currency per card-hour, where it is paid by use."""
    useful_hours: Decimal
    """Card-hours a year in which the cards are in order and used."""

    @property
    def useful_hour(self) -> Decimal:
        """Currency per useful card-hour."""
        return self.year / self.useful_hours


@dataclass(frozen=True, slots=True)
class Beside:
    """Owning and renting in one currency."""

    inputs: Owning
    rents: list[Rent]
    turned: tuple[str, ...] = ()
    """A sentence for each price that was turned into it."""
    unlike: tuple[str, ...] = ()
    """A sentence where the rented cards are unlike one another."""


def read_inputs(file: Path | None, preset: str | None, settings: Sequence[str]) -> tuple[Owning, str]:
    """The inputs, and the name of the preset below them; InputError with every place that is wrong."""
    document = Document("", {}, {}) if file is None else _document(file)
    name = preset if preset is not None else document.data.get("preset", "illustration")
    if not isinstance(name, str) or name not in PRESETS:
        key, line = ("--preset", None) if preset is not None else ("preset", document.line(("preset",)))
        rule, where = "there is no such preset", None if preset is not None else document.name
        raise InputError(Problem(rule, where, line, key, name, tuple(PRESETS)))
    stated = document.data.get("owning", {})
    if not isinstance(stated, Mapping):
        rule = "must be a mapping of inputs to numbers, such as {capital: 800000}"
        raise InputError(Problem(rule, document.name, document.line(("owning",)), "owning"))
    base = PRESETS[name].model_dump()
    inputs = validated(Owning, {**base, **stated}, document, ("owning",))
    return (_with_settings(inputs, settings) if settings else inputs), name


def _document(file: Path) -> Document:
    shown = str(file)
    document = read_file(file, shown)
    problems = [
        Problem("unknown key", shown, document.line((key,)), key, key, _KEYS)
        for key in document.data
        if key not in _KEYS
    ]
    if "owning" not in document.data and not problems:
        problems.append(Problem("this key is required: the inputs of owning", shown, None, "owning"))
    if problems:
        raise InputError(problems)
    return document


def _with_settings(inputs: Owning, settings: Sequence[str]) -> Owning:
    data: dict[str, Any] = inputs.model_dump()
    for setting in settings:
        key, sign, text = setting.partition("=")
        if not sign or not key.strip():
            rule = "a setting is written KEY=VALUE, such as capital=1000000"
            raise InputError(Problem(rule, key="--set", value=setting))
        try:
            data[key.strip()] = read_yaml(f"value: {text}\n", "--set").data["value"]
        except InputError:
            raise InputError(Problem("this value cannot be read", "--set", None, key, text)) from None
    return validated(Owning, data, Document("--set", data, {}))


def read_rents(
    catalog: Catalog,
    text: str,
    inputs: Owning,
    downtime: Decimal,
    start: str,
    price: PriceChoice | None,
    exchange: Sequence[str] | None = None,
) -> Beside:
    """Rents for at least as many cards, from `OFFER:PLAN,OFFER:PLAN`, and the inputs in the same currency:
    the one of all, else turned at the dated rates of `exchange`. InputError as usual."""
    asked = [read_plan(part.strip(), "", catalog, "--rent") for part in text.split(",")]
    names = [name for name, _ in asked]
    money = money_of(catalog, names, exchange, inputs.currency)
    rents = [_rent(catalog, money, name, plan, inputs, downtime, start, price) for name, plan in asked]
    said = money.turned(catalog, names)
    unlike = tuple(unlike_cards(catalog, (catalog.offers[name.partition("/")[0]] for name in names)))
    if inputs.currency == money.currency:
        return Beside(inputs, rents, said, unlike)
    said = (money.turned_one(inputs.name, inputs.currency), *said)
    rate = (money.exchange or {})[inputs.currency].rate
    return Beside(in_currency(inputs, money.currency, rate), rents, said, unlike)


def _rent(
    catalog: Catalog,
    money: Money,
    name: str,
    plan: str,
    inputs: Owning,
    downtime: Decimal,
    start: str,
    price: PriceChoice | None,
) -> Rent:
    size = catalog.offers[name.partition("/")[0]].gpus_per_unit
    units = ceil(Fraction(inputs.cards, size))
    scenario = money.of(plain_scenario([{"name": name, "leases": [lease_keys(name, units, plan)]}], start))
    way = Way(name, scenario, scenario.strategies[0], with_slices(catalog, scenario).offers, price)
    hours = useful_hours(units * size, downtime, inputs.utilisation.value)
    try:
        if plan != "hourly":
            year, hour = outcome(way, 12).cost, None
        else:
            hour = as_decimal((hour_price(way) or Fraction(0)) / size)
            year = hour * hours
    except InputError as error:
        raise rekeyed(error, "--rent") from None
    return Rent(f"{name} {plan}", units, units * size, year, hour, hours)
