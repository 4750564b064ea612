"""Cards by the hour, leased or rented in a burst: whole increments, at least the minimum.

One rental is one machine from usable to gone, or to the horizon if it goes on. Time waiting for an
order is not billed, time down is. Increments are counted from the start of the rental in elapsed
time, and an increment is owed as soon as it begins. A charge holds the increments of one rental
that begin in one calendar month (local time). It is settled at the last instant of that month or
of the rental, whichever is first, and at the latest at the last instant of the horizon: hours are
paid as they are used.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sim.billing.periods import month_edges
from sim.billing.rounding import apportion, as_decimal, show_money, show_number
from sim.billing.terms import find_plan, list_price
from sim.errors import InputError, Problem
from sim.model.contract import Offer, PlanTerms, PriceChoice
from sim.model.ledger import Charge
from sim.model.records import LeaseRecord
from sim.model.scenario import Scenario
from sim.units import SECOND, Micros, format_duration, spread

__all__ = ["HourlyPrice", "hourly_price", "refuse_monthly_terms", "usage_charges"]


@dataclass(frozen=True, slots=True)
class HourlyPrice:
    """Price and increments of one offer by the hour, as one lease or the burst rule asks for it."""

    label: str
    """`lease 0` or `burst`."""
    offer: Offer
    listed: Decimal
    """Currency per unit and hour."""
    terms: PlanTerms


@dataclass(frozen=True, slots=True)
class _Part:
    """Increments of one rental that begin in one calendar month."""

    price: HourlyPrice
    machine: int
    count: int
    start_us: Micros
    used_us: Micros
    """Time used of it, up to the horizon."""
    open_us: Micros
    """Time of it that lies after the horizon and can still be used."""
    settled_us: Micros

    @property
    def hours(self) -> Fraction:
        return Fraction(self.count * self.price.terms.increment_s, 3600)

    @property
    def amount(self) -> Fraction:
        return self.hours * Fraction(self.price.listed) * Fraction(self.price.terms.multiplier)


def hourly_price(
    label: str, offer: Offer, price: PriceChoice | Decimal | None, choice: PriceChoice | None, key: str
) -> HourlyPrice:
    """Price by the hour; InputError if the offer is not sold by the hour."""
    terms = find_plan(offer, "hourly", key)
    return HourlyPrice(label, offer, list_price(offer, price, choice), terms)


def refuse_monthly_terms(options: tuple[str, ...], repeat_purchase: bool, key: str) -> None:
    """InputError if a lease by the hour asks for what is only priced by the month."""
    if options:
        rule = "options are priced by the month and cannot be added to a lease by the hour"
        raise InputError(Problem(rule, key=f"{key}.options", value=", ".join(options)))
    if repeat_purchase:
        rule = "the reduction for repeat purchase is by the month and not for a lease by the hour"
        raise InputError(Problem(rule, key=f"{key}.repeat_purchase", value=True))


def usage_charges(rentals: Iterable[tuple[HourlyPrice, LeaseRecord]], scenario: Scenario) -> Iterator[Charge]:
    """One charge per rental and calendar month; `id` is left at 0.

    The charges that one provider settles in one month are rounded together, so that they sum to
    their exact total, rounded once.
    """
    edges = month_edges(scenario)
    parts = [part for price, record in rentals for part in _parts(price, record, scenario.horizon_us, edges)]
    by_invoice: dict[tuple[str, int], list[int]] = {}
    for position, part in enumerate(parts):
        group = part.price.offer.provider, bisect_right(edges, part.settled_us)
        by_invoice.setdefault(group, []).append(position)
    billed: dict[int, Decimal] = {}
    for positions in by_invoice.values():
        billed.update(zip(positions, apportion([parts[i].amount for i in positions]), strict=True))
    for position, part in enumerate(parts):
        yield _charge(part, billed[position], scenario)


def _parts(
    price: HourlyPrice, record: LeaseRecord, horizon: Micros, edges: Sequence[Micros]
) -> Iterator[_Part]:
    """Cut a rental where its increments begin in another month."""
    start, increment = record.start_us, price.terms.increment_s * SECOND
    if start >= horizon:
        return
    leaves = record.end_us if record.end_us is not None and record.end_us < horizon else None
    stop = horizon if leaves is None else leaves
    total = _ceil(max(stop - start, price.terms.minimum_s * SECOND), increment)
    first = 0
    for edge in [*edges[bisect_right(edges, start) :], None]:
        last = total if edge is None else min(total, _ceil(edge - start, increment))
        if last > first:
            begins, ends = start + first * increment, start + last * increment
            # A rental known to end after the horizon is usable until then; an open one to the full.
            usable = ends if record.end_us is None else min(ends, record.end_us)
            yield _Part(
                price=price,
                machine=record.machine,
                count=last - first,
                start_us=begins,
                used_us=max(0, min(usable, horizon) - begins),
                open_us=max(0, usable - max(begins, horizon)),
                settled_us=min(stop, horizon if edge is None else edge) - 1,
            )
        first = last


def _charge(part: _Part, billed: Decimal, scenario: Scenario) -> Charge:
    price, increment = part.price, part.price.terms.increment_s * SECOND
    multiplier = price.terms.multiplier
    discount = "" if multiplier == 1 else f" x {multiplier} hourly"
    rule = (
        f"machine {part.machine}: {format_duration(part.used_us)} used, {part.count:,} x "
        f"{format_duration(increment)} begun = {show_number(part.hours)} h x {show_money(price.listed)} list"
        f"{discount} = {show_money(part.amount)}, on the invoice {show_money(billed)}"
    )
    return Charge(
        id=0,
        provider=price.offer.provider,
        offer=price.offer.id,
        lease=price.label,
        plan="hourly",
        category="usage",
        period_start=scenario.local_time(part.start_us),
        period_end=scenario.local_time(part.start_us + part.count * increment),
        quantity=as_decimal(part.hours),
        unit="unit-hours",
        list_unit_price=price.listed,
        unit_price=price.listed * multiplier,
        list_cost=as_decimal(part.hours * Fraction(price.listed)),
        billed_cost=billed,
        accrued_cost=spread(billed, [part.used_us, part.open_us])[0],
        cash_date=scenario.local_time(part.settled_us),
        rule=rule,
    )


def _ceil(time: Micros, step: Micros) -> int:
    return -(-time // step)
