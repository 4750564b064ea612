"""The ledger of one run: what each lease and each burst rental costs, and when it is paid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sim.billing.assumptions import assumptions
from sim.billing.checks import contract_problems
from sim.billing.contracts import BURST, Contract, burst_contract, lease_contract
from sim.billing.hourly import Rental, usage_charges
from sim.billing.hourprice import Increments, increments
from sim.billing.invoices import invoices
from sim.billing.prepaid import lease_start, purchases, walk_of
from sim.billing.segments import Stretch
from sim.billing.stops import disk_charges, pieces, unbilled_times
from sim.billing.tax import with_tax
from sim.errors import InputError
from sim.model.contract import Offer, PriceChoice
from sim.model.ledger import Charge, Ledger
from sim.model.records import LeaseRecord
from sim.model.scenario import Scenario, Strategy
from sim.units import Micros

__all__ = ["bill"]


def bill(
    leases: Sequence[LeaseRecord],
    scenario: Scenario,
    strategy: Strategy,
    offers: Mapping[str, Offer],
    price: PriceChoice | None = None,
) -> Ledger:
    """Bill one run.

    Prepaid periods are billed from the strategy: their contracts do not depend on what happened.
    Cards by the hour, leased or burst, are billed from the records of the run. `price` replaces the
    words low, mid and high of the scenario and the default, never a number. Leases that begin at
    or after the end of the horizon cost nothing. Raises InputError with every lease that its offer
    does not allow, or that starts before the scenario.
    """
    problems = contract_problems(scenario, strategy, offers, price)
    if problems:
        raise InputError(problems)
    places = range(len(strategy.leases))
    contracts = {place: lease_contract(scenario, strategy, place, offers, price) for place in places}
    burst = burst_contract(scenario, strategy, offers, price)

    lines: list[Charge] = []
    walks: dict[int, tuple[Stretch, ...]] = {}
    for contract in contracts.values():
        if _begins_inside(scenario, contract):
            walks[contract.index] = walk = walk_of(scenario, contracts, contract.index)
            _take(lines, purchases(scenario, contract, walk))
            lines += disk_charges(scenario, contract, _end_us(scenario, contract))
    numbered = [replace(charge, id=number) for number, charge in enumerate(lines)]
    rentals = _rentals(scenario, contracts, walks, burst, leases)
    numbered += usage_charges(rentals, scenario, first_id=len(numbered))
    parties = [*contracts.values()] if burst is None else [*contracts.values(), burst]
    taxes = {party.label: party.terms.tax for party in parties if party.terms.tax is not None}
    charges = tuple(with_tax(numbered, taxes) if taxes else numbered)
    return Ledger(
        currency=scenario.currency,
        horizon_end=scenario.local_time(scenario.horizon_us),
        charges=charges,
        invoices=invoices(charges),
        assumptions=assumptions(scenario, contracts, walks, burst),
    )


def _begins_inside(scenario: Scenario, contract: Contract) -> bool:
    assert contract.lease is not None  # noqa: S101 - not called with burst
    return lease_start(scenario, contract.lease, contract.key) < scenario.horizon_us


def _end_us(scenario: Scenario, contract: Contract) -> Micros | None:
    end = None if contract.lease is None else contract.lease.end
    return None if end is None else scenario.elapsed_us(end)


def _take(lines: list[Charge], groups: Iterator[tuple[Charge, ...]]) -> None:
    """Add groups of lines: the first of a group is what the others belong to."""
    for group in groups:
        place = len(lines)
        lines.append(group[0])
        lines += [replace(line, of=place) for line in group[1:]]


def _rentals(
    scenario: Scenario,
    contracts: Mapping[int, Contract],
    walks: Mapping[int, Sequence[Stretch]],
    burst: Contract | None,
    records: Sequence[LeaseRecord],
) -> Iterator[Rental]:
    """The times in which machines are rented by the hour: the records of the run, cut to them."""
    hours: dict[int, tuple[Contract, Increments, list[Stretch], tuple[tuple[Micros, Micros], ...]]] = {}
    bursts = None if burst is None else increments(burst)
    for record in records:
        if record.lease == BURST:
            if burst is not None and bursts is not None:
                yield Rental(burst, bursts, record.machine, record.start_us, record.end_us)
            continue
        if record.lease not in hours:
            contract = contracts[record.lease]
            stretches = [stretch for stretch in walks.get(record.lease, ()) if stretch.plan == "hourly"]
            gaps = unbilled_times(scenario, contract) if stretches else ()
            hours[record.lease] = contract, increments(contract), stretches, gaps
        yield from _pieces_of(scenario, record, *hours[record.lease])


def _pieces_of(
    scenario: Scenario,
    record: LeaseRecord,
    contract: Contract,
    counted: Increments,
    stretches: Sequence[Stretch],
    gaps: tuple[tuple[Micros, Micros], ...],
) -> Iterator[Rental]:
    """The parts of a leased machine's record that lie in times by the hour, without its stops."""
    for stretch in stretches:
        start = max(record.start_us, scenario.elapsed_us(stretch.usable_from))
        until = None if stretch.end is None else scenario.elapsed_us(stretch.end)
        ends = [end for end in (record.end_us, until) if end is not None]
        end = min(ends, default=None)
        if end is not None and end < start:
            continue
        backs = {back for _, back in gaps}
        for begin, stop in pieces(start, end, gaps):
            yield Rental(
                contract=contract,
                counted=counted,
                machine=record.machine,
                start_us=begin,
                end_us=stop,
                signed=stretch.signed,
                fallen_back=contract.offer.price.unit != "hour" and stretch.why.endswith("contract ended"),
                new=begin == record.start_us or begin in backs,
            )
