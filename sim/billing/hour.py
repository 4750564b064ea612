"""What an hour of a rented unit costs, whatever its plan: a plain number to compare offers by.

Months are 365 / 12 days long here. Nothing is billed by this number.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sim.billing.hourly import hourly_price
from sim.billing.terms import period_price
from sim.model.contract import PLAN_MONTHS, Offer, PriceChoice
from sim.model.scenario import Burst, Lease

__all__ = ["burst_hour", "leases_hour"]

_HOURS_PER_MONTH = Fraction(365 * 24, 12)


def leases_hour(leases: Sequence[tuple[int, Lease]], offer: Offer, choice: PriceChoice | None) -> float:
    """Mean price of an hour of one unit over these leases of an offer, with options and reductions.

    `leases` are (position in the strategy, lease).
    """
    units = sum(lease.count for _, lease in leases)
    total = sum((_hour(lease, offer, choice, f"leases.{i}") for i, lease in leases), Fraction(0))
    return float(total / units)


def burst_hour(burst: Burst, offer: Offer, choice: PriceChoice | None) -> float:
    """Price of an hour of one unit rented in a burst."""
    price = hourly_price("burst", offer, burst.price, choice, "burst.offer")
    return float(price.listed * price.terms.multiplier)


def _hour(lease: Lease, offer: Offer, choice: PriceChoice | None, key: str) -> Fraction:
    """Price of an hour of all units of a lease."""
    if lease.plan == "hourly":
        price = hourly_price(key, offer, lease.price, choice, f"{key}.plan")
        return Fraction(price.listed) * Fraction(price.terms.multiplier) * lease.count
    months = PLAN_MONTHS[lease.plan]
    return period_price(lease, offer, choice, key).amount / (months * _HOURS_PER_MONTH)
