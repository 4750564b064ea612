"""Keys of a lease that contradict each other, its offer or the leases before it. One function a rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel

from sim.billing.contracts import Contract
from sim.billing.segments import joined_period, timeline
from sim.model.lease import Lease
from sim.model.scenario import Scenario
from sim.model.terms import Plan, plan_months

__all__ = ["Fault", "contradictions"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A key of a lease that cannot be, by its path within the lease."""

    path: tuple[str | int, ...]
    rule: str
    value: object = None
    known: tuple[str, ...] = ()


def contradictions(scenario: Scenario, contracts: Mapping[int, Contract], index: int) -> Iterator[Fault]:
    """Everything that cannot be about a lease; `contracts` holds it and those it joins."""
    contract = contracts[index]
    lease = contract.lease
    if lease is None:
        return
    found = [*_terms(contract, lease), *_converts(scenario, contract, lease)]
    found += [*_joins(scenario, contracts, contract, lease)]
    if not found:  # the walk below needs keys that fit together
        found += [*_stops(scenario, contract, lease), *_ended(scenario, contracts, contract, lease)]
    yield from found


def _plans(lease: Lease) -> tuple[Plan, ...]:
    return lease.plan, *(change.plan for change in lease.converts)


def _terms(contract: Contract, lease: Lease) -> Iterator[Fault]:
    """Terms stated for this lease that nothing in it can use."""
    terms, own = contract.terms, lease.terms
    prepaid = any(plan_months(plan) for plan in _plans(lease))
    by_hour = "hourly" in _plans(lease) or terms.expiry == "hourly"
    only_prepaid = ("payment", "expiry", "renewal_change", "refund", "added", "options_discounted")
    for name in only_prepaid:
        if own.states(name) and not prepaid:
            rule = f"{name} is a term of prepaid plans, and this lease is by the hour"
            yield Fault(("terms", name), rule, _shown(own, name))
    for name in ("stop", "increment_s", "minimum_s", "hourly_price"):
        if own.states(name) and not by_hour:
            rule = (
                f"{name} is a term of cards by the hour; this lease is prepaid and does not fall back to "
                "hours (expiry: hourly)"
            )
            yield Fault(("terms", name), rule, _shown(own, name))
    if own.states("hourly_price") and contract.offer.price.unit == "hour":
        rule = f"{contract.offer.id} is priced by the hour: its price is the lease's price"
        yield Fault(("terms", "hourly_price"), rule, own.hourly_price)
    if own.states("added") and lease.joins is None:
        yield Fault(("terms", "added"), "added says how a lease that joins another is billed", own.added)
    for name in ("repeat_order", "repeat_first_card"):
        if own.states(name) and not lease.repeat_purchase:
            yield Fault(("terms", name), f"{name} goes with repeat_purchase: true", getattr(own, name))
    yield from _refund(contract, lease)
    if own.states("stop.restart_s") and terms.stop.restart != "ordered":
        yield Fault(
            ("terms", "stop", "restart_s"), "restart_s goes with restart: ordered", own.stop.restart_s
        )


def _shown(terms: object, name: str) -> object:
    value = getattr(terms, name)
    return None if isinstance(value, BaseModel) else value


def _refund(contract: Contract, lease: Lease) -> Iterator[Fault]:
    """Parts of a refund rule that belong to another rule."""
    own, rule = lease.terms, contract.terms.refund.rule
    if own.states("refund.matched") and rule != "re-rate":
        yield Fault(("terms", "refund", "matched"), "matched goes with the rule re-rate", own.refund.matched)
    for name in ("part", "fee"):
        if own.states(f"refund.{name}") and rule == "none":
            text = f"{name} goes with a refund rule that returns something"
            yield Fault(("terms", "refund", name), text, getattr(own.refund, name))


def _converts(scenario: Scenario, contract: Contract, lease: Lease) -> Iterator[Fault]:
    begins = contract.begins or scenario.start
    for number, change in enumerate(lease.converts):
        at = ("converts", number, "at")
        if change.at < begins:
            yield Fault(at, f"a lease converts after it begins, {_day(begins)}", _day(change.at))
        elif lease.end is not None and change.at >= lease.end:
            yield Fault(at, f"a lease converts before it ends, {_day(lease.end)}", _day(change.at))


def _joins(
    scenario: Scenario, contracts: Mapping[int, Contract], contract: Contract, lease: Lease
) -> Iterator[Fault]:
    if lease.joins is None:
        return
    at, begins = ("joins",), contract.begins or scenario.start
    if lease.joins >= contract.index:
        earlier = tuple(str(number) for number in range(contract.index))
        yield Fault(at, "a lease joins an earlier one of its strategy", lease.joins, earlier)
        return
    other = contracts[lease.joins]
    assert other.lease is not None  # noqa: S101 - burst is no lease
    if other.offer.id != contract.offer.id:
        rule = f"a lease joins one of the same offer, and lease {lease.joins} is of {other.offer.id}"
        yield Fault(at, rule, lease.joins)
    elif not plan_months(lease.plan):
        yield Fault(at, "cards by the hour have no period that could run with another's", lease.joins)
    elif contract.terms.added == "co-term":
        running = joined_period(scenario, contracts, contract, lease)
        if running is None:
            rule = f"lease {lease.joins} has no paid period that runs on {_day(begins)}"
            yield Fault(at, rule, lease.joins)
        elif running.plan != lease.plan:
            rule = f"a co-termed lease has the plan of the one it joins, which then is {running.plan}"
            yield Fault(("plan",), rule, lease.plan)


def _stops(scenario: Scenario, contract: Contract, lease: Lease) -> Iterator[Fault]:
    begins = contract.begins or scenario.start
    until = min(
        [change.at for change in lease.converts[:1]] + ([lease.end] if lease.end else []), default=None
    )
    for number, stop in enumerate(lease.stopped):
        if stop.since < begins:
            rule = f"cards are stopped after the lease begins, {_day(begins)}"
            yield Fault(("stopped", number, "from"), rule, _day(stop.since))
        elif until is not None and stop.until > until:
            rule = f"cards by the hour are stopped while they are so, here until {_day(until)}"
            yield Fault(("stopped", number, "until"), rule, _day(stop.until))


def _ended(
    scenario: Scenario, contracts: Mapping[int, Contract], contract: Contract, lease: Lease
) -> Iterator[Fault]:
    """A contract that already runs has not ended before the scenario."""
    if lease.started is None:
        return
    for stretch in timeline(scenario, contracts, contract.index, 0):
        if stretch.last and stretch.until is not None and stretch.until <= scenario.start:
            rule = f"the contract ended {_day(stretch.until)}, before the scenario (expiry: end)"
            yield Fault(("started",), rule, _day(lease.started))


def _day(local: datetime) -> str:
    """A date where the time is midnight, else date and time."""
    return str(local).removesuffix(" 00:00:00")
