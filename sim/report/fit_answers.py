"""Rows of `fit` with the price of an hour and of a run: what the command prints and the page draws."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from sim.billing.exchange import offer_at
from sim.catalog import Catalog
from sim.catalog.reading import Document, validated
from sim.errors import InputError, Problem
from sim.model.contract import Offer, Plan, PriceChoice
from sim.model.scenario import Scenario
from sim.model.work import JobClass
from sim.physics import FitRow, fit_job
from sim.report.hourly import HourlyPrice, average_hour, hourly_cost

__all__ = ["FitAnswer", "cheapest_first", "currencies", "fit_answers", "job_of"]


@dataclasses.dataclass(frozen=True, slots=True)
class FitAnswer:
    """One offer, with the price of an hour and of a run."""

    offer: Offer
    row: FitRow
    price: HourlyPrice | None
    per_hour: float | None
    """Currency an hour for all units that the job takes."""
    cost: float | None
    """Currency a run."""
    exchange: str | None = None
    """The dated rate at which prices in another currency were turned into this one."""

    def to_json(self) -> dict[str, Any]:
        """The entry of the JSON document of `fleetsim fit`."""
        return {
            **dataclasses.asdict(self.row),
            "shortfall_gib": self.row.shortfall_gib,
            "price_per_hour": self.per_hour,
            "price_working": None if self.price is None else self.price.working,
            "run_cost": self.cost,
            "currency": self.offer.currency,
            "exchange": self.exchange,
        }


def fit_answers(
    job: JobClass,
    catalog: Catalog,
    performance: str = "measured",
    price: PriceChoice | None = None,
    plan: Plan | None = None,
    scenario: Scenario | None = None,
) -> list[FitAnswer]:
    """The job on every offer of the catalogue, in its order; an offer has a row for each count asked for.

    `price` is the end of published ranges (default: the middle), `plan` the contract by whose price an
    hour is reckoned (default: the list price). Prices are in the currency of the `scenario` where it states
    a rate of exchange, else in the offer's own. Raises InputError for an unknown performance profile.
    """
    rows = fit_job(job, tuple(catalog.offers.values()), catalog, performance)
    return [_answer(*_sold(catalog.offers[row.offer], scenario), row, price, plan) for row in rows]


def cheapest_first(answers: Iterable[FitAnswer]) -> list[FitAnswer]:
    """What fits before what does not, then the cheapest run first, those without a price last.

    Amounts in two currencies have no order: a currency comes after the other as its offers do.
    """
    found = list(answers)
    place = {currency: number for number, currency in enumerate(currencies(found))}
    return sorted(
        found, key=lambda a: (not a.row.fits, a.cost is None, place[a.offer.currency], a.cost or 0.0)
    )


def currencies(answers: Iterable[FitAnswer]) -> tuple[str, ...]:
    """The currencies in which runs are priced, in the order of the offers."""
    return tuple(dict.fromkeys(answer.offer.currency for answer in answers))


def _sold(offer: Offer, scenario: Scenario | None) -> tuple[Offer, str | None]:
    """The offer in the scenario's currency, where it states the rate, and the rate in words."""
    if scenario is None or offer.currency not in scenario.exchange:
        return offer, None
    rate, currency = scenario.exchange[offer.currency], scenario.currency
    worth = f"1 {offer.currency} = {rate.rate.normalize():f} {currency} ({rate.date:%Y-%m-%d})"
    return offer_at(offer, rate.rate, currency), worth


def job_of(options: Mapping[str, Any], catalog: Catalog, key: str = "--{}") -> JobClass:
    """The job that options describe; InputError as for a scenario file.

    `key` says how an option is called in the message, with `{}` for its name.
    """
    if options["model"] not in catalog.models:
        rule = "the base model must be one of the catalogue"
        known = tuple(catalog.models)
        raise InputError(Problem(rule, key=key.format("model"), value=options["model"], known=known))
    data = {"name": "the job", "rate": "1/day", **options}
    return validated(JobClass, data, Document("options", data, {}))


def _answer(
    offer: Offer, exchange: str | None, row: FitRow, price: PriceChoice | None, plan: Plan | None
) -> FitAnswer:
    hour = average_hour(offer, price, plan)
    if hour is None or row.gpus is None:
        return FitAnswer(offer, row, hour, None, None, exchange)
    per_hour = float(hourly_cost(offer, row.gpus, hour))
    cost = None if row.hours is None else per_hour * row.hours
    return FitAnswer(offer, row, hour, per_hour, cost, exchange)
