"""Monthly, quarterly and annual leases: one purchase for each period begun, paid in advance.

Every period that begins before the lease ends and before the horizon ends is owed whole, whatever
part of it is used. Its cost accrues evenly over the time in which the cards are usable: from the
period's start to its end or the lease's end, whichever is first.

A contract that runs already (`started`) has its periods on the anniversaries of its own beginning.
The one that runs when the scenario starts is paid: its share of the horizon accrues, the rest of it,
before and after, is sunk. The next payment falls on the next anniversary; older periods are no lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sim.billing.periods import Period, periods
from sim.billing.rounding import round_cents, show_money
from sim.billing.terms import PeriodPrice, period_price
from sim.errors import InputError, Problem
from sim.model.contract import PLAN_MONTHS, Offer, PriceChoice
from sim.model.ledger import Charge
from sim.model.scenario import Lease, Scenario
from sim.units import Micros, format_duration, spread

__all__ = ["PrepaidLease", "lease_span", "purchases"]


@dataclass(frozen=True, slots=True)
class PrepaidLease:
    """A prepaid lease of a strategy, with its place there."""

    index: int
    lease: Lease
    offer: Offer
    key: str
    """Dotted path in the scenario, for messages."""


def lease_span(scenario: Scenario, lease: Lease, key: str) -> tuple[Micros, Micros | None]:
    """Start and end of a lease, elapsed time; InputError if it starts before the scenario."""
    start = lease.start if lease.start is not None else scenario.start
    if start < scenario.start:
        rule = f"a lease may not start before the scenario does ({scenario.start.isoformat(' ')})"
        raise InputError(Problem(rule, key=f"{key}.start", value=start.isoformat(" ")))
    end_us = None if lease.end is None else scenario.elapsed_us(lease.end)
    return scenario.elapsed_us(start), end_us


def purchases(item: PrepaidLease, scenario: Scenario, choice: PriceChoice | None) -> Iterator[Charge]:
    """The purchases of one lease within the horizon, in order of time; `id` is left at 0."""
    lease, horizon = item.lease, scenario.horizon_us
    _, end_us = lease_span(scenario, lease, item.key)
    anchor = lease.started or lease.start or scenario.start
    until = horizon if end_us is None else min(end_us, horizon)
    price = period_price(lease, item.offer, choice, item.key)
    for period in periods(scenario, anchor, PLAN_MONTHS[lease.plan], until):
        if period.end_us <= 0:
            continue
        usable_end = period.end_us if end_us is None else min(period.end_us, end_us)
        yield _purchase(item, scenario, price, period, usable_end)


def _purchase(
    item: PrepaidLease, scenario: Scenario, price: PeriodPrice, period: Period, usable_end: Micros
) -> Charge:
    horizon = scenario.horizon_us
    billed = round_cents(price.amount)
    sunk = period.start_us < 0
    before, after = max(0, -period.start_us), max(0, usable_end - horizon)
    inside = min(usable_end, horizon) - max(0, period.start_us)
    paid = "paid before the scenario" if sunk else "paid in advance"
    rule = (
        f"{item.lease.plan}, {paid} for {_day(period.start)} to {_day(period.end)}: "
        f"{price.working} = {show_money(price.amount)}"
    )
    if usable_end < period.end_us:
        end = scenario.local_time(usable_end).replace(tzinfo=None)
        rule += f"; the lease ends {_day(end)}, no refund"
    if before or after:
        whole = format_duration(before + inside + after)
        rule += f"; {format_duration(inside)} of {whole} usable in the horizon"
    if sunk:
        rule += "; the rest is sunk, nothing of it is paid or owed again"
    start = period.start.replace(tzinfo=scenario.zone)
    return Charge(
        id=0,
        provider=item.offer.provider,
        offer=item.offer.id,
        lease=f"lease {item.index}",
        plan=item.lease.plan,
        category="purchase",
        period_start=start,
        period_end=period.end.replace(tzinfo=scenario.zone),
        quantity=price.quantity,
        unit=price.unit,
        list_unit_price=price.list_unit,
        unit_price=price.unit_price,
        list_cost=price.list_cost,
        billed_cost=billed,
        accrued_cost=spread(billed, [inside, before + after])[0],
        cash_date=start,
        rule=rule,
        sunk=sunk,
    )


def _day(local: datetime) -> str:
    """A date where the time is midnight, else date and time."""
    return str(local).removesuffix(" 00:00:00")
