"""What an hour of an offer costs on average, so that offers sold by hour, month and year stand in one row.

An average hour is a figure for comparing, never a line of a bill: a month is paid whole, used or not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from sim.billing.rounding import show_factor
from sim.model.contract import Offer, Plan, PriceChoice
from sim.model.rates import RateTable, RunOption

__all__ = ["HOURS_OF", "CheapestFit", "HourlyPrice", "average_hour", "cheapest_fit", "hourly_cost"]

HOURS_OF = {"hour": 1, "month": 730, "year": 8760}
"""Hours in the unit of a list price: 365 days of 24 hours, and a twelfth of them."""


@dataclass(frozen=True, slots=True)
class HourlyPrice:
    """Price of one unit of an offer for an hour, and how it was worked out."""

    amount: Decimal
    """Currency per unit of the offer and hour."""
    working: str


@dataclass(frozen=True, slots=True)
class CheapestFit:
    """The offer that holds a shape of jobs for the least money an hour."""

    offer: Offer
    option: RunOption
    per_hour: Decimal
    """Currency an hour for all units that the job takes."""


def average_hour(
    offer: Offer, choice: PriceChoice | None = None, plan: Plan | None = None
) -> HourlyPrice | None:
    """Average hour of one unit at list price, or under a plan; None if the offer is not sold so."""
    unit = offer.price.unit
    amount, working = (
        offer.price.pick(choice or "mid"),
        f"list price {'an' if unit == 'hour' else 'a'} {unit}",
    )
    if plan is not None:
        if plan not in offer.plans or (plan == "hourly") != (unit == "hour"):
            return None
        multiplier = offer.plans[plan].multiplier
        amount, working = amount * multiplier, f"{working} x {show_factor(multiplier)} ({plan})"
    if HOURS_OF[unit] > 1:
        working += f" / {HOURS_OF[unit]} h"
    return HourlyPrice(amount / HOURS_OF[unit], working)


def hourly_cost(offer: Offer, gpus: int, price: HourlyPrice) -> Decimal:
    """Currency an hour for a job of so many cards: whole units, since nobody rents half a machine."""
    return price.amount * -(-gpus // offer.gpus_per_unit)


def cheapest_fit(
    rates: RateTable, shape: int, offers: Iterable[Offer], choice: PriceChoice | None = None
) -> CheapestFit | None:
    """The cheapest way to hold the shape at list prices, ties to the first offer; None if nothing does."""
    fits = [
        CheapestFit(offer, option, hourly_cost(offer, option.gpus, price))
        for offer in offers
        for option in rates.options.get((shape, offer.id), ())
        if (price := average_hour(offer, choice)) is not None
    ]
    return min(fits, key=lambda fit: fit.per_hour, default=None)
