"""What a way to rent costs if it ends after so many months: billed, not estimated.

The strategy's leases are cut at that month and go through `bill`, the one door to what is owed, with
all rules of their contracts: steps of periods, refunds, joined terms, taxes. Cards by the hour need no
simulation here: each unit is rented for the same number of hours from the beginning of every month, or
all the time. Burst rentals depend on the jobs: they are left out, unless their mean is given month by month.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from sim.billing.finance.presentvalue import CashFlow, Convention, net_present_value
from sim.billing.ledger import bill
from sim.billing.periods import add_months
from sim.billing.terms import find_offer
from sim.model.contract import Offer, PriceChoice
from sim.model.ledger import Charge, Ledger
from sim.model.records import LeaseRecord
from sim.model.scenario import Lease, Scenario, Strategy
from sim.units import HOUR, YEAR, Micros

__all__ = ["Billed", "Outcome", "Way", "billed_until", "outcome", "outcomes"]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to rent, to be compared with others."""

    name: str
    scenario: Scenario
    """Gives start, time zone and currency."""
    strategy: Strategy
    offers: Mapping[str, Offer]
    price: PriceChoice | None = None
    hours: Fraction | None = None
    """Hours a month in which each unit by the hour is rented; None: all the time."""
    bursts: tuple[Charge, ...] = ()
    """Mean bursts, each charge within one month of the contracts; those that begin before the end count."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A way to rent that ended after some months."""

    months: int
    end: datetime
    """Local time."""
    payments: tuple[CashFlow, ...]
    """In order of time; what comes back is below 0. Input tax that is recovered is left out."""
    cost: Decimal
    """Sum of the payments: whole cents."""

    def value(self, rate: Decimal, since: datetime, convention: Convention = "months") -> Decimal:
        """Present value of the payments at `since`, not rounded."""
        return net_present_value(self.payments, rate, since, convention)


@dataclass(frozen=True, slots=True)
class Billed:
    """A ledger, and the scenario that it answers."""

    ledger: Ledger
    scenario: Scenario


def outcomes(way: Way, months: Sequence[int]) -> tuple[Outcome, ...]:
    """One outcome for each month of end, in that order; InputError as `bill` raises it."""
    return tuple(outcome(way, number) for number in months)


def outcome(way: Way, months: int) -> Outcome:
    """What is paid and comes back if everything ends `months` months after the scenario's start."""
    end = add_months(way.scenario.start, months)
    billed = billed_until(way, months)
    charges = () if billed is None else billed.ledger.charges
    paid = [
        CashFlow(charge.cash_date.replace(tzinfo=None), charge.billed_cost)
        for charge in charges
        if not charge.sunk and not charge.recoverable
    ]
    payments = tuple(sorted(paid, key=lambda flow: flow.at))
    return Outcome(months, end, payments, sum((flow.amount for flow in payments), Decimal("0.00")))


def billed_until(way: Way, months: int) -> Billed | None:
    """The bill of the way with all leases cut at that month; None where none has begun by then."""
    scenario = way.scenario
    end = add_months(scenario.start, months)
    leases = tuple(
        lease.model_copy(update={"end": end if lease.end is None else min(lease.end, end)})
        for lease in way.strategy.leases
        if (lease.start or scenario.start) < end
    )
    if not leases:
        return None
    strategy = way.strategy.model_copy(update={"leases": leases, "burst": None})
    # Everything ends inside the horizon, so that nothing is cut by it.
    horizon = scenario.elapsed_us(end) + YEAR
    asked = scenario.model_copy(update={"strategies": (strategy,), "horizon": horizon, "target": None})
    records = [record for place, lease in enumerate(leases) for record in _records(way, place, lease)]
    ledger = bill(records, asked, strategy, way.offers, way.price)
    return Billed(_with_bursts(ledger, way, scenario.elapsed_us(end)), asked)


def _with_bursts(ledger: Ledger, way: Way, end_us: Micros) -> Ledger:
    """The ledger and the mean bursts until the end, as charges that are on no invoice."""
    until = way.scenario.local_time(end_us)
    kept = [one for one in way.bursts if one.period_start < until]
    numbered = (replace(one, id=place) for place, one in enumerate(kept, len(ledger.charges)))
    return replace(ledger, charges=(*ledger.charges, *numbered)) if kept else ledger


def _records(way: Way, place: int, lease: Lease) -> Iterator[LeaseRecord]:
    """Rentals of a lease by the hour: one a unit, or one a unit and month."""
    if lease.plan != "hourly" or lease.end is None:
        return
    offer = find_offer(way.offers, lease.offer_id, f"strategies.{way.name}.leases.{place}.offer")
    for begin, end in _spans(way, lease.start or way.scenario.start, lease.end):
        for machine in range(lease.count):
            yield LeaseRecord(
                offer=offer.id,
                lease=place,
                machine=machine,
                gpus=offer.gpus_per_unit,
                start_us=begin,
                end_us=end,
                busy_card_us=0,
                down_card_us=0,
            )


def _spans(way: Way, start: datetime, end: datetime) -> Iterator[tuple[Micros, Micros]]:
    elapsed = way.scenario.elapsed_us
    if way.hours is None:
        yield elapsed(start), elapsed(end)
        return
    used, number = round(way.hours * HOUR), 0
    while used and (begin := add_months(start, number)) < end:
        until = min(end, add_months(start, number + 1))
        yield elapsed(begin), min(elapsed(begin) + used, elapsed(until))
        number += 1
