"""Prices in another currency, turned into the scenario's at a dated rate before anything is billed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sim.model.contract import Offer, PriceChange
from sim.model.lease import Lease, LeasePrice
from sim.model.said import said
from sim.model.scenario import ExchangeRate, Scenario
from sim.model.terms import ContractTerms

__all__ = ["lease_at", "offer_at", "rate_of", "terms_at", "turned"]


def rate_of(scenario: Scenario, offer: Offer) -> ExchangeRate | None:
    """The rate at which the offer's prices are turned; None if they are in the scenario's currency.

    KeyError if a rate is needed and the scenario has none.
    """
    return None if offer.currency == scenario.currency else scenario.exchange[offer.currency]


def turned(name: str, foreign: str, currency: str, rate: ExchangeRate) -> str:
    """The assumption behind an answer in `currency` about something that is priced in another."""
    return said(
        "{name}: priced in {foreign}, turned at {rate} {currency} for one, the rate of {date}, which is "
        "assumed to hold for the whole scenario.",
        name=name,
        foreign=foreign,
        rate=rate.rate,
        currency=currency,
        date=rate.date,
    )


def offer_at(offer: Offer, rate: Decimal, currency: str) -> Offer:
    """The offer with every amount of money in the other currency."""
    band, repeat = offer.price, offer.repeat_purchase
    changes: dict[str, Any] = {
        "currency": currency,
        "price": band.model_copy(update={"low": band.low * rate, "high": band.high * rate}),
        "price_changes": tuple(_change_at(change, rate) for change in offer.price_changes),
        "options": {
            name: option.model_copy(update={"per_month": option.per_month * rate})
            for name, option in offer.options.items()
        },
    }
    if repeat is not None:
        reduction = {"per_card_month": repeat.per_card_month * rate}
        changes["repeat_purchase"] = repeat.model_copy(update=reduction)
    return offer.model_copy(update=changes)


def _change_at(change: PriceChange, rate: Decimal) -> PriceChange:
    return change.model_copy(update={"low": change.low * rate, "high": change.high * rate})


def lease_at(lease: Lease, rate: Decimal) -> Lease:
    """The lease with the prices that it names in the other currency."""
    prices = tuple(_price_at(price, rate) for price in lease.prices)
    price = lease.price * rate if isinstance(lease.price, Decimal) else lease.price
    return lease.model_copy(update={"price": price, "prices": prices})


def _price_at(price: LeasePrice, rate: Decimal) -> LeasePrice:
    return price.model_copy(update={"price": price.price * rate})


def terms_at(terms: ContractTerms, rate: Decimal) -> ContractTerms:
    """The terms with every amount of money in the other currency; what is stated stays so."""
    changes: dict[str, Any] = {}
    if terms.hourly_price is not None:
        changes["hourly_price"] = terms.hourly_price * rate
    if terms.states("stop.disk_per_month"):
        disk = {"disk_per_month": terms.stop.disk_per_month * rate}
        changes["stop"] = terms.stop.model_copy(update=disk)
    return terms.model_copy(update=changes)
