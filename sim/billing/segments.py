"""A lease over time: paid periods and times by the hour, one after the other, under the plans that run.

`timeline` walks from the beginning of a contract: a period follows a period, a conversion changes the
plan, and the terms say what follows when a period ends and the lease goes on (`expiry`). Bills and the
engine read the same walk, so they cannot disagree about when cards go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sim.billing.contracts import Contract
from sim.billing.periods import period_edge
from sim.billing.proration import Months, months_between
from sim.model.lease import Conversion, Lease
from sim.model.scenario import Scenario
from sim.model.terms import ContractTerms, Plan, plan_months
from sim.units import Micros

__all__ = ["Stretch", "in_grace", "joined_period", "timeline"]

_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Stretch:
    """One piece of a lease: a paid period, or a time by the hour. Local times, half-open."""

    plan: Plan
    start: datetime
    end: datetime | None
    """End of the paid period; of a time by the hour: its own, or None while it goes on."""
    usable_from: datetime
    """When its cards come; before `start` where billing begins at the next full hour."""
    left: datetime | None
    """When a paid period is left before its end: the lease ends, or its plan changes; else None."""
    signed: datetime
    """When the contract under this plan began."""
    anchor: datetime
    """From where the periods of the contract are counted."""
    number: int = 0
    """Of the period, from the anchor."""
    renewals: int = 0
    """Times that this contract was renewed before."""
    at_list: bool = False
    """Renewed without the plan's discount."""
    months: Months | None = None
    """Of a period that a lease joins in its middle; None: the plan's months."""
    why: str = ""
    """What made it follow, where it is not the beginning or a plain renewal."""
    last: bool = False
    """The lease ends with it."""

    @property
    def until(self) -> datetime | None:
        """When its cards go or its successor takes over; None while it goes on."""
        return self.end if self.left is None else self.left


def _leaves_at_once(terms: ContractTerms, signed: datetime, at: datetime) -> bool:
    """Whether a paid period may be left in its middle for a longer plan, as something returns for it."""
    return terms.refund.rule != "none" or in_grace(terms, signed, at)


def in_grace(terms: ContractTerms, signed: datetime, at: datetime) -> bool:
    """Whether a contract is left within the days in which everything returns."""
    days = terms.refund.grace_days
    return days > 0 and at <= signed + timedelta(days=days)


def timeline(
    scenario: Scenario, contracts: Mapping[int, Contract], index: int, until_us: Micros
) -> Iterator[Stretch]:
    """The pieces of a lease that begin before `until_us`, from the beginning of its contract on."""
    contract = contracts[index]
    lease, terms = contract.lease, contract.terms
    if lease is None:
        return
    ahead = list(lease.converts)
    state = _beginning(scenario, contracts, contract, lease)
    while (lease.end is None or state.start < lease.end) and scenario.elapsed_us(state.start) < until_us:
        while ahead and ahead[0].at <= state.start:
            state = _converted(state, ahead.pop(0))
        by_hour = state.plan == "hourly"
        state = _hours(state, ahead, lease) if by_hour else _period(state, ahead, lease, terms)
        yield state
        if state.last or state.until is None:
            return
        state = _next(state, ahead, terms)


def _beginning(
    scenario: Scenario, contracts: Mapping[int, Contract], contract: Contract, lease: Lease
) -> Stretch:
    """The first piece, its end still open."""
    begins = contract.begins or scenario.start
    start = begins
    if contract.terms.begins == "next-hour" and begins != begins.replace(minute=0, second=0, microsecond=0):
        start = begins.replace(minute=0, second=0, microsecond=0) + _HOUR
    first = Stretch(lease.plan, start, None, begins, None, start, start)
    running = joined_period(scenario, contracts, contract, lease)
    if running is None or running.end is None or running.start == start:
        return first
    months = months_between(start, running.end, contract.terms.month)
    why = f"to the end of the running period of lease {lease.joins}"
    return replace(first, anchor=running.anchor, number=running.number, months=months, why=why)


def joined_period(
    scenario: Scenario, contracts: Mapping[int, Contract], contract: Contract, lease: Lease
) -> Stretch | None:
    """The period of the earlier lease in whose middle a co-termed lease begins; None if there is none."""
    if lease.joins is None or contract.terms.added != "co-term" or lease.joins >= contract.index:
        return None
    begins = contract.begins or scenario.start
    for stretch in timeline(scenario, contracts, lease.joins, scenario.elapsed_us(begins) + 1):
        if stretch.start <= begins and (stretch.until is None or begins < stretch.until):
            return None if stretch.plan == "hourly" else stretch
    return None


def _converted(state: Stretch, change: Conversion) -> Stretch:
    """The first piece under the new plan, where the old one is left."""
    at = state.start
    why = f"converted from {state.plan}"
    return Stretch(change.plan, at, None, state.usable_from, None, at, at, why=why)


def _hours(state: Stretch, ahead: Sequence[Conversion], lease: Lease) -> Stretch:
    """Time by the hour: to the next conversion or the end of the lease."""
    ends = [change.at for change in ahead[:1]] + ([lease.end] if lease.end is not None else [])
    until = min(ends, default=None)
    return replace(state, end=until, last=until is not None and until == lease.end)


def _period(state: Stretch, ahead: Sequence[Conversion], lease: Lease, terms: ContractTerms) -> Stretch:
    """A paid period, with the time at which it is left where that lies before its end."""
    months = plan_months(state.plan)
    end = period_edge(state.anchor, (state.number + 1) * months, terms.month)
    left = lease.end if lease.end is not None and lease.end < end else None
    if ahead and ahead[0].at < min(end, left or end) and _leaves_at_once(terms, state.signed, ahead[0].at):
        return replace(state, end=end, left=ahead[0].at)
    over = lease.end is not None and lease.end <= end
    converts = bool(ahead) and ahead[0].at <= end
    return replace(state, end=end, left=left, last=over or (terms.expiry == "end" and not converts))


def _next(state: Stretch, ahead: Sequence[Conversion], terms: ContractTerms) -> Stretch:
    """The piece that follows, its end still open."""
    at = state.until
    assert at is not None  # noqa: S101 - the walk is over where a piece has no end
    begun = replace(state, start=at, usable_from=at, end=None, left=None, months=None, why="")
    if state.left is not None or (ahead and ahead[0].at <= at) or state.plan == "hourly":
        return begun  # a conversion is due
    if terms.expiry == "hourly":
        why = f"the {state.plan} contract ended"
        return Stretch("hourly", at, None, at, None, at, at, why=why)
    at_list = terms.expiry == "renew-at-list"
    return replace(begun, number=state.number + 1, renewals=state.renewals + 1, at_list=at_list)
