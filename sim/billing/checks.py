"""What is wrong with the contracts of a strategy, before anything is billed."""

from __future__ import annotations

from collections.abc import Mapping

from sim.billing.hourly import hourly_price, refuse_monthly_terms
from sim.billing.prepaid import lease_span
from sim.billing.terms import find_offer, period_price
from sim.errors import InputError, Problem
from sim.model.contract import Offer, PriceChoice
from sim.model.scenario import Lease, Scenario, Strategy

__all__ = ["contract_problems", "lease_key"]


def lease_key(strategy: Strategy, index: int) -> str:
    """The place of a lease in the scenario, as a dotted path."""
    return f"strategies.{strategy.name}.leases.{index}"


def contract_problems(
    scenario: Scenario,
    strategy: Strategy,
    offers: Mapping[str, Offer],
    price: PriceChoice | None = None,
) -> tuple[Problem, ...]:
    """One problem for each lease, and for burst, that cannot be billed; empty if all is well.

    `price` replaces the words low, mid and high of the scenario, as in `bill`.
    """
    found: list[Problem] = []
    for index, lease in enumerate(strategy.leases):
        try:
            _check_lease(scenario, lease, offers, lease_key(strategy, index), price)
        except InputError as error:
            found += error.problems
    if strategy.burst is not None:
        key = f"strategies.{strategy.name}.burst.offer"
        try:
            offer = find_offer(offers, strategy.burst.offer_id, key)
            hourly_price("burst", offer, strategy.burst.price, price, key)
        except InputError as error:
            found += error.problems
    return tuple(found)


def _check_lease(
    scenario: Scenario, lease: Lease, offers: Mapping[str, Offer], key: str, price: PriceChoice | None
) -> None:
    offer = find_offer(offers, lease.offer_id, f"{key}.offer")
    lease_span(scenario, lease, key)
    if lease.plan == "hourly":
        refuse_monthly_terms(lease.options, lease.repeat_purchase, key)
        hourly_price("lease", offer, lease.price, price, f"{key}.plan")
    else:
        period_price(lease, offer, price, key)
