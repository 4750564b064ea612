"""Cards by the hour, leased or rented in a burst: whole increments, at least the minimum.

One rental is one machine from usable to gone, stopped, under another plan, or to the horizon if it goes
on. Time waiting for an order is not billed, time down is. Increments are counted from the start of the
rental in elapsed time, and an increment is owed as soon as it begins, at the price of that moment. A
charge holds the increments of one rental that begin in one calendar month (local time) at one price. It is
settled at the last instant of that month or of the rental, whichever is first, and at the latest at the
last instant of the horizon: hours are paid as they are used.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from sim.billing.contracts import Contract
from sim.billing.hourprice import HourPrice, Increments, hour_price
from sim.billing.periods import month_edges
from sim.billing.rounding import apportion, as_decimal, show_money, show_number
from sim.model.ledger import Charge
from sim.model.scenario import Scenario
from sim.units import HOUR, SECOND, Micros, format_duration, spread

__all__ = ["Rental", "usage_charges"]


@dataclass(frozen=True, slots=True)
class Rental:
    """One machine rented by the hour without a break."""

    contract: Contract
    counted: Increments
    machine: int
    start_us: Micros
    end_us: Micros | None
    """None: it goes on past the horizon."""
    signed: datetime | None = None
    """Local time at which a leased machine's contract by the hour began; None: with the rental."""
    fallen_back: bool = False
    """A prepaid contract has become hourly."""
    new: bool = True
    """Its cards come here: billing may then begin at the next full hour."""


@dataclass(frozen=True, slots=True)
class _Sum:
    """So many increments at one price: what they are and cost, and the words for it."""

    hours: Decimal
    amount: Fraction
    list_cost: Decimal
    text: str


@dataclass(frozen=True, slots=True)
class _Rate:
    """Increments at one price; sums are worked out once for each number of them."""

    price: HourPrice
    step_s: int
    listed: Decimal
    sums: dict[int, _Sum] = field(default_factory=dict)

    def of(self, count: int) -> _Sum:
        """The sum of so many increments."""
        if count not in self.sums:
            price, hours = self.price, Fraction(count * self.step_s, 3600)
            discount = "" if price.multiplier == 1 else f" x {price.multiplier} hourly"
            listed = hours * price.listed
            amount = listed * Fraction(price.multiplier)
            text = (
                f"{count:,} x {format_duration(self.step_s * SECOND)} begun = {show_number(hours)} h x "
                f"{price.text}{discount} = {show_money(amount)}"
            )
            self.sums[count] = _Sum(as_decimal(hours), amount, as_decimal(listed), text)
        return self.sums[count]


@dataclass(frozen=True, slots=True)
class _Part:
    """Increments of one rental that begin in one calendar month and cost the same."""

    rental: Rental
    rate: _Rate
    count: int
    start_us: Micros
    used_us: Micros
    """Time used of it, up to the horizon."""
    open_us: Micros
    """Time of it that lies after the horizon and can still be used."""
    cash: datetime
    accrues_us: tuple[Micros, Micros]
    """Usable time of it; of the whole rental where a minimum outlasts the rental."""


def usage_charges(rentals: Iterable[Rental], scenario: Scenario, first_id: int = 0) -> Iterator[Charge]:
    """One charge per rental, calendar month and price, numbered from `first_id` on.

    The charges that one provider settles in one month are rounded together, so that they sum to
    their exact total, rounded once.
    """
    desk = _Desk(scenario)
    parts = [part for rental in rentals for part in desk.parts(rental)]
    by_invoice: dict[tuple[str, int, int], list[int]] = {}
    for position, part in enumerate(parts):
        group = part.rental.contract.offer.provider, part.cash.year, part.cash.month
        by_invoice.setdefault(group, []).append(position)
    billed: dict[int, Decimal] = {}
    for positions in by_invoice.values():
        amounts = [parts[i].rate.of(parts[i].count).amount for i in positions]
        billed.update(zip(positions, apportion(amounts), strict=True))
    for position, part in enumerate(parts):
        yield desk.charge(part, billed[position], first_id + position)


class _Desk:
    """Bills the rentals of one run; what they share is worked out once."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.horizon = scenario.horizon_us
        self.months = month_edges(scenario)
        self._edges: dict[int, list[Micros]] = {}
        self._one_price: dict[int, _Rate] = {}
        self._rates: dict[tuple[int, datetime, datetime, bool], _Rate] = {}
        self._times: dict[Micros, datetime] = {}

    def parts(self, rental: Rental) -> Iterator[_Part]:
        """Cut a rental where its increments begin in another month or at another price."""
        horizon, step = self.horizon, rental.counted.step_s * SECOND
        start = self._billed_from(rental)
        leaves = rental.end_us if rental.end_us is not None and rental.end_us < horizon else None
        stop = horizon if leaves is None else leaves
        over = start > stop or (start == stop and start > rental.start_us)
        if start >= horizon or over:  # the rental ends before its billing begins
            return
        total = _ceil(max(stop - start, rental.counted.minimum_s * SECOND), step)
        edges = self._edges_of(rental.contract)
        first = 0
        for edge in [*edges[bisect_right(edges, start) :], None]:
            last = total if edge is None else min(total, _ceil(edge - start, step))
            if last > first:
                yield self._part(rental, start, first, last, stop)
            if last == total:
                break
            first = last

    def _part(self, rental: Rental, start: Micros, first: int, last: int, stop: Micros) -> _Part:
        """The increments `first` to `last` of a rental that is billed from `start` on."""
        step, horizon = rental.counted.step_s * SECOND, self.horizon
        begins, ends = start + first * step, start + last * step
        usable_from = begins if first else rental.start_us
        # A rental known to end after the horizon is usable until then; an open one to the full.
        usable = ends if rental.end_us is None else min(ends, rental.end_us)
        month = bisect_right(self.months, begins)
        settled = min(stop, self.months[month] if month < len(self.months) else horizon) - 1
        return _Part(
            rental=rental,
            rate=self._rate(rental, begins),
            count=last - first,
            start_us=begins,
            used_us=max(0, min(usable, horizon) - usable_from),
            open_us=max(0, usable - max(usable_from, horizon)),
            cash=self._cash(rental.contract, settled),
            accrues_us=(usable_from, usable) if usable > usable_from else (rental.start_us, stop),
        )

    def _local(self, moment: Micros) -> datetime:
        if moment not in self._times:
            self._times[moment] = self.scenario.local_time(moment)
        return self._times[moment]

    def _edges_of(self, contract: Contract) -> list[Micros]:
        """Where months begin, and where time by the hour may have another price."""
        if contract.index not in self._edges:
            times = [self.scenario.elapsed_us(local) for local in contract.price_times]
            self._edges[contract.index] = sorted({*self.months, *times}) if times else self.months
        return self._edges[contract.index]

    def _billed_from(self, rental: Rental) -> Micros:
        """When billing begins: with the rental, or at the next full hour of the local clock."""
        if not rental.new or rental.contract.terms.begins == "at-once":
            return rental.start_us
        local = self._local(rental.start_us)
        past = ((local.minute * 60) + local.second) * SECOND + local.microsecond
        return rental.start_us + (HOUR - past if past else 0)

    def _rate(self, rental: Rental, begins_us: Micros) -> _Rate:
        contract = rental.contract
        if not rental.fallen_back and contract.index in self._one_price:
            return self._one_price[contract.index]
        begins = signed = self.scenario.start
        varies = bool(contract.offer.price_changes or contract.price_times)
        if varies:
            begins = self._local(begins_us).replace(tzinfo=None, fold=0)
            signed = rental.signed or self._local(rental.start_us).replace(tzinfo=None, fold=0)
        key = contract.index, begins, signed, rental.fallen_back
        if key not in self._rates:
            price = hour_price(contract, begins, signed, rental.fallen_back, contract.key)
            self._rates[key] = _Rate(price, rental.counted.step_s, as_decimal(price.listed))
        if not varies and not rental.fallen_back:
            self._one_price[contract.index] = self._rates[key]
        return self._rates[key]

    def _cash(self, contract: Contract, settled: Micros) -> datetime:
        """When hours are paid: as they are settled, or some days later; never before they are used."""
        shift = contract.terms.pay_shift_days
        return self._local(settled) + timedelta(days=shift) if shift > 0 else self._local(settled)

    def charge(self, part: _Part, billed: Decimal, number: int) -> Charge:
        """The line of a part."""
        rental, rate = part.rental, part.rate
        offer, total = rental.contract.offer, rate.of(part.count)
        rule = (
            f"machine {rental.machine}: {format_duration(part.used_us)} used, {total.text}, "
            f"on the invoice {show_money(billed)}{rate.price.note}"
        )
        return Charge(
            id=number,
            provider=offer.provider,
            offer=offer.id,
            lease=rental.contract.label,
            plan="hourly",
            category="usage",
            period_start=self._local(part.start_us),
            period_end=self._local(part.start_us + part.count * rate.step_s * SECOND),
            quantity=total.hours,
            unit="unit-hours",
            list_unit_price=rate.listed,
            unit_price=rate.listed * rate.price.multiplier,
            list_cost=total.list_cost,
            billed_cost=billed,
            accrued_cost=spread(billed, [part.used_us, part.open_us])[0] if part.open_us else billed,
            cash_date=part.cash,
            rule=rule,
            accrues_from=self._local(part.accrues_us[0]),
            accrues_until=self._local(part.accrues_us[1]),
            machine=rental.machine,
            cards=offer.gpus_per_unit,
        )


def _ceil(time: Micros, step: Micros) -> int:
    return -(-time // step)
