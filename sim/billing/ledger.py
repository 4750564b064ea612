"""The ledger of one run: what each lease and each burst rental costs, and when it is paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from sim.billing.assumptions import assumptions
from sim.billing.checks import contract_problems, lease_key
from sim.billing.hourly import HourlyPrice, hourly_price, usage_charges
from sim.billing.invoices import invoices
from sim.billing.prepaid import PrepaidLease, lease_span, purchases
from sim.errors import InputError
from sim.model.contract import Offer, PriceChoice
from sim.model.ledger import Charge, Ledger
from sim.model.records import LeaseRecord
from sim.model.scenario import Scenario, Strategy

__all__ = ["bill"]

_BURST = -1


def bill(
    leases: Sequence[LeaseRecord],
    scenario: Scenario,
    strategy: Strategy,
    offers: Mapping[str, Offer],
    price: PriceChoice | None = None,
) -> Ledger:
    """Bill one run.

    Prepaid leases are billed from the strategy: their contracts do not depend on what happened.
    Cards by the hour, leased or burst, are billed from the records of the run. `price` replaces the
    words low, mid and high of the scenario and the default, never a number. Leases that begin at
    or after the end of the horizon cost nothing. Raises InputError with every lease that its offer
    does not allow, or that starts before the scenario.
    """
    problems = contract_problems(scenario, strategy, offers, price)
    if problems:
        raise InputError(problems)
    prepaid, hourly = _contracts(scenario, strategy, offers, price)

    lines: list[Charge] = []
    for item in prepaid:
        lines += purchases(item, scenario, price)
    rentals = [(hourly[record.lease][0], record) for record in leases if record.lease in hourly]
    lines += usage_charges(rentals, scenario)

    charges = tuple(replace(charge, id=number) for number, charge in enumerate(lines))
    return Ledger(
        currency=scenario.currency,
        horizon_end=scenario.local_time(scenario.horizon_us),
        charges=charges,
        invoices=invoices(charges),
        assumptions=assumptions(prepaid, hourly.values(), price),
    )


def _contracts(
    scenario: Scenario, strategy: Strategy, offers: Mapping[str, Offer], choice: PriceChoice | None
) -> tuple[list[PrepaidLease], dict[int, tuple[HourlyPrice, PriceChoice | Decimal | None]]]:
    """Prepaid leases, and by position (-1: burst) the prices by the hour with the price asked for."""
    prepaid: list[PrepaidLease] = []
    hourly: dict[int, tuple[HourlyPrice, PriceChoice | Decimal | None]] = {}
    for index, lease in enumerate(strategy.leases):
        key, offer = lease_key(strategy, index), offers[lease.offer_id]
        if lease_span(scenario, lease, key)[0] >= scenario.horizon_us:
            continue
        if lease.plan == "hourly":
            terms = hourly_price(f"lease {index}", offer, lease.price, choice, f"{key}.plan")
            hourly[index] = terms, lease.price
        else:
            prepaid.append(PrepaidLease(index, lease, offer, key))
    if strategy.burst is not None:
        burst, key = strategy.burst, f"strategies.{strategy.name}.burst.offer"
        terms = hourly_price("burst", offers[burst.offer_id], burst.price, choice, key)
        hourly[_BURST] = terms, burst.price
    return prepaid, hourly
