"""What a lease may ask for: checks against its offer and against the scenario around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sim.billing.checks import lease_faults
from sim.billing.contracts import terms_of
from sim.billing.terms import find_plan
from sim.catalog import Catalog
from sim.catalog.slices import slice_offer, slices_sold
from sim.errors import InputError, Problem
from sim.load_errors import located
from sim.load_tree import Node, Path
from sim.model.contract import Offer
from sim.model.scenario import Burst, Lease, Scenario, Strategy

__all__ = [
    "as_written",
    "burst_problems",
    "lease_problems",
    "slice_problems",
    "with_slices",
]

Found = Iterator[Problem]


def with_slices(catalog: Catalog, scenario: Scenario) -> Catalog:
    """The catalogue and, beside its offers, the MIG slices that the strategies rent (`OFFER/PROFILE`)."""
    slices: dict[str, Offer] = {}
    for strategy in scenario.strategies:
        rentals: list[Lease | Burst] = [*strategy.leases]
        rentals += [] if strategy.burst is None else [strategy.burst]
        for rental in rentals:
            offer = catalog.offers.get(rental.offer)
            sold = {} if offer is None else slices_sold(offer, catalog.mig_profiles)
            if offer is not None and rental.profile in sold:
                slices[rental.offer_id] = slice_offer(offer, sold[rental.profile])
    return replace(catalog, offers={**catalog.offers, **slices}) if slices else catalog


def slice_problems(tree: Node, catalog: Catalog, path: Path, rental: Lease | Burst) -> Found:
    """A MIG profile that the offer is not sold in."""
    if rental.profile is None:
        return
    sold = slices_sold(catalog.offers[rental.offer], catalog.mig_profiles)
    if rental.profile not in sold:
        rule = f"{rental.offer} is not sold in this MIG profile"
        if not sold:
            rule = f"{rental.offer} is not sold in parts of a card"
        yield located(tree, (*path, "profile"), rule, rental.profile, tuple(sold))


def lease_problems(scenario: Scenario, tree: Node, catalog: Catalog, path: Path, lease: Lease) -> Found:
    """Plan, options, profile and times that the offer or the scenario does not allow."""
    yield from slice_problems(tree, catalog, path, lease)
    offer = catalog.offers[lease.offer]
    yield from _plans(scenario, tree, path, lease, offer)
    yield from _currency(scenario, tree, path, offer)
    yield from _contradictions(scenario, tree, catalog, path, scenario.strategies[int(path[1])])
    for number, option in enumerate(lease.options):
        at = (*path, "options", number)
        if option not in offer.options:
            has = "unknown option of" if offer.options else "no options are sold with"
            yield located(tree, at, f"{has} {offer.id}", option, offer.options)
        elif option in lease.options[:number]:
            yield located(tree, at, "an option is taken once", option)
    cards = lease.count * offer.gpus_per_unit
    if lease.reserve is not None and lease.reserve > cards:
        rule = f"a lease keeps back at most the cards it has, {cards}"
        yield located(tree, (*path, "reserve"), rule, lease.reserve)
    if lease.started is not None and lease.started > scenario.start:
        rule = f"a contract that already runs began before the scenario, {scenario.start:%Y-%m-%d %H:%M}"
        yield as_written(tree, (*path, "started"), rule)
    if lease.start is not None and lease.start < scenario.start:
        rule = f"a lease may not start before the scenario does, {scenario.start:%Y-%m-%d %H:%M}"
        yield as_written(tree, (*path, "start"), rule)
    if lease.start is None and lease.end is not None and lease.end <= scenario.start:
        rule = f"a lease must end after it starts, here with the scenario, {scenario.start:%Y-%m-%d %H:%M}"
        yield as_written(tree, (*path, "end"), rule)


def _plans(scenario: Scenario, tree: Node, path: Path, lease: Lease, offer: Offer) -> Found:
    """Plans that the offer is not sold under."""
    terms = terms_of(scenario, offer, lease)
    places: list[tuple[Path, str]] = [((*path, "plan"), lease.plan)]
    places += [((*path, "converts", n, "plan"), change.plan) for n, change in enumerate(lease.converts)]
    for place, plan in places:
        try:
            find_plan(offer, terms, plan, "")
        except InputError:
            rule = f"{offer.id} is not rented under this plan"
            yield located(tree, place, rule, plan, offer.plans)


def _contradictions(
    scenario: Scenario, tree: Node, catalog: Catalog, path: Path, strategy: Strategy
) -> Found:
    """Keys of a lease that contradict each other or the leases before it."""
    for fault in lease_faults(scenario, strategy, int(path[-1]), catalog.offers):
        at: Path = (*path, *fault.path)
        if fault.known:
            yield located(tree, at, fault.rule, fault.value, fault.known)
        else:
            yield as_written(tree, at, fault.rule)


def burst_problems(scenario: Scenario, tree: Node, catalog: Catalog, path: Path, burst: Burst) -> Found:
    """A profile that the offer of the burst is not sold in, and a currency without a rate."""
    yield from slice_problems(tree, catalog, path, burst)
    yield from _currency(scenario, tree, path, catalog.offers[burst.offer])


def _currency(scenario: Scenario, tree: Node, path: Path, offer: Offer) -> Found:
    if offer.currency != scenario.currency and offer.currency not in scenario.exchange:
        rule = (
            f"{offer.id} is priced in {offer.currency}: the scenario needs a dated rate under exchange, "
            f"such as {{{offer.currency}: {{rate: 7.1, date: 2026-11-30}}}}"
        )
        yield located(tree, (*path, "offer"), rule, offer.id)


def as_written(tree: Node, path: Path, rule: str) -> Problem:
    """A problem that shows the value as it stands in the file, if it is one value."""
    node = tree.find(path)
    shown = None if node is None or isinstance(node.value, dict | list) else node.value
    return located(tree, path, rule, shown)
