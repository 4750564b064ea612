"""What an hour of a rented unit costs, whatever its plan: a plain number to compare offers by.

Months are 365 / 12 days long here. Nothing is billed by this number.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from sim.billing.contracts import Contract, burst_contract, lease_contract
from sim.billing.hourprice import hour_price
from sim.billing.prepaid import stretch_price
from sim.billing.segments import Stretch
from sim.model.contract import Offer, PriceChoice
from sim.model.scenario import Scenario, Strategy
from sim.model.terms import plan_months

__all__ = ["burst_hour", "leases_hours"]

_HOURS_PER_MONTH = Fraction(365 * 24, 12)


def leases_hours(
    scenario: Scenario, strategy: Strategy, offers: Mapping[str, Offer], choice: PriceChoice | None
) -> dict[str, float]:
    """Mean price of an hour of one unit over the leases of each offer, with options and reductions.

    Each lease counts at the price of its beginning under its first plan.
    """
    amounts: dict[str, Fraction] = {}
    units: dict[str, int] = {}
    for index, lease in enumerate(strategy.leases):
        contract = lease_contract(scenario, strategy, index, offers, choice)
        name = lease.offer_id
        amounts[name] = amounts.get(name, Fraction(0)) + _hour(scenario, contract)
        units[name] = units.get(name, 0) + lease.count
    return {name: float(amount / units[name]) for name, amount in amounts.items()}


def burst_hour(
    scenario: Scenario, strategy: Strategy, offers: Mapping[str, Offer], choice: PriceChoice | None
) -> float:
    """Price of an hour of one unit rented in a burst; 0 without burst."""
    contract = burst_contract(scenario, strategy, offers, choice)
    if contract is None:
        return 0.0
    price = hour_price(contract, scenario.start, scenario.start, fallen_back=False, key=contract.key)
    return float(price.listed * Fraction(price.multiplier))


def _hour(scenario: Scenario, contract: Contract) -> Fraction:
    """Price of an hour of all units of a lease."""
    lease, begins = contract.lease, contract.begins or scenario.start
    assert lease is not None  # noqa: S101 - burst is no lease
    if lease.plan == "hourly":
        price = hour_price(contract, begins, begins, fallen_back=False, key=f"{contract.key}.plan")
        return price.listed * Fraction(price.multiplier) * lease.count
    first = Stretch(lease.plan, begins, None, begins, None, begins, begins)
    amount = stretch_price(contract, first)[0].amount
    return amount / (plan_months(lease.plan) * _HOURS_PER_MONTH)
