"""What is wrong with the contracts of a strategy, before anything is billed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from sim.billing.contracts import Contract, burst_contract, lease_contract
from sim.billing.contradictions import Fault, contradictions
from sim.billing.hourprice import hour_price, refuse_monthly_terms
from sim.billing.prepaid import lease_start
from sim.billing.proration import Months
from sim.billing.terms import find_plan, period_price
from sim.errors import InputError, Problem
from sim.model.contract import Offer, PriceChoice
from sim.model.lease import Lease
from sim.model.scenario import Scenario, Strategy
from sim.model.terms import plan_months

__all__ = ["contract_problems", "lease_faults"]


def contract_problems(
    scenario: Scenario,
    strategy: Strategy,
    offers: Mapping[str, Offer],
    price: PriceChoice | None = None,
) -> tuple[Problem, ...]:
    """What cannot be billed: one problem at least for each such lease, and for burst; empty if all is well.

    `price` replaces the words low, mid and high of the scenario, as in `bill`.
    """
    found: list[Problem] = []
    contracts: dict[int, Contract] = {}
    for index in range(len(strategy.leases)):
        try:
            contracts[index] = lease_contract(scenario, strategy, index, offers, price)
            _check_lease(scenario, contracts[index])
        except InputError as error:
            found += error.problems
    if not found:
        for contract in contracts.values():
            for fault in contradictions(scenario, contracts, contract.index):
                key = ".".join(map(str, (contract.key, *fault.path)))
                found.append(Problem(fault.rule, key=key, value=fault.value, known=fault.known))
    try:
        burst = burst_contract(scenario, strategy, offers, price)
        if burst is not None:
            hour_price(burst, scenario.start, scenario.start, fallen_back=False, key=burst.key)
    except InputError as error:
        found += error.problems
    return tuple(found)


def lease_faults(
    scenario: Scenario, strategy: Strategy, index: int, offers: Mapping[str, Offer]
) -> Iterator[Fault]:
    """Contradictions of one lease; none where it, or a lease that it joins, cannot be billed at all."""
    contracts: dict[int, Contract] = {}
    place: int | None = index
    while place is not None and place not in contracts and place < len(strategy.leases):
        try:
            contracts[place] = lease_contract(scenario, strategy, place, offers, None)
            _check_lease(scenario, contracts[place])
        except InputError:
            return
        place = strategy.leases[place].joins
    yield from contradictions(scenario, contracts, index)


def _check_lease(scenario: Scenario, contract: Contract) -> None:
    """Prices of every plan that the lease names; InputError for the first that cannot be."""
    lease, key = contract.lease, contract.key
    assert lease is not None  # noqa: S101 - not called with burst
    lease_start(scenario, lease, key)
    _check_plan(scenario, contract, lease, lease.plan, f"{key}.plan")
    for number, change in enumerate(lease.converts):
        _check_plan(scenario, contract, lease, change.plan, f"{key}.converts.{number}.plan")


def _check_plan(scenario: Scenario, contract: Contract, lease: Lease, plan: str, place: str) -> None:
    begins = contract.begins or scenario.start
    if plan == "hourly":
        if not lease.converts:
            refuse_monthly_terms(lease.options, lease.repeat_purchase, contract.key)
        hour_price(contract, begins, begins, fallen_back=False, key=place)
        return
    months = plan_months(plan)
    factor = find_plan(contract.offer, contract.terms, plan, place).multiplier, plan
    span, listed = Months(Fraction(months), str(months)), contract.list_price(begins, begins)
    period_price(lease, contract.offer, contract.terms, listed, span, factor, contract.key)
