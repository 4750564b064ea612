"""Stops of cards by the hour: when they are away, and what their disks cost meanwhile.

Sources: Alibaba and Tencent (vCPU, memory and GPU stop, disks and addresses go on, capacity is not kept;
never for a subscription); RunPod (a stopped pod's volume goes on).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from fractions import Fraction

from sim.billing.contracts import Contract
from sim.billing.periods import add_months
from sim.billing.proration import months_between
from sim.billing.rounding import as_decimal, round_cents, show_money
from sim.model.ledger import Charge
from sim.model.scenario import Scenario
from sim.units import SECOND, Micros

__all__ = ["disk_charges", "pieces", "stopped_times", "unbilled_times"]


def stopped_times(scenario: Scenario, contract: Contract) -> tuple[tuple[Micros, Micros], ...]:
    """When the cards are away, elapsed time: from each stop to when they are back, in order and apart."""
    if contract.lease is None:
        return ()
    stop = contract.terms.stop
    wait = stop.restart_s * SECOND if stop.restart == "ordered" else 0
    found: list[tuple[Micros, Micros]] = []
    for pause in contract.lease.stopped:
        begin, back = scenario.elapsed_us(pause.since), scenario.elapsed_us(pause.until) + wait
        if found and begin <= found[-1][1]:  # stopped again before they are back
            begin = found.pop()[0]
        found.append((begin, back))
    return tuple(found)


def unbilled_times(scenario: Scenario, contract: Contract) -> tuple[tuple[Micros, Micros], ...]:
    """Times in which compute is not billed: the stops, unless the terms let compute go on."""
    return stopped_times(scenario, contract) if contract.terms.stop.compute == "stops" else ()


def disk_charges(scenario: Scenario, contract: Contract, end_us: Micros | None) -> Iterator[Charge]:
    """One line a stop and calendar month for the disks of all units; `end_us` is the end of the lease.

    A line is paid at the last instant of its month, of the stop, or of the horizon. `id` is left at 0.
    """
    lease, stop = contract.lease, contract.terms.stop
    if lease is None or not stop.disk_per_month or stop.compute != "stops":
        return
    last = scenario.horizon_us if end_us is None else min(end_us, scenario.horizon_us)
    for begin_us, back_us in stopped_times(scenario, contract):
        begin, back = (_local(scenario, min(moment, last)) for moment in (begin_us, back_us))
        while begin < back:
            first = begin.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
            until = min(back, add_months(first, 1))
            yield _disk(scenario, contract, lease.count, begin, until)
            begin = until


def _local(scenario: Scenario, moment: Micros) -> datetime:
    return scenario.local_time(moment).replace(tzinfo=None, fold=0)


def _disk(scenario: Scenario, contract: Contract, count: int, begin: datetime, until: datetime) -> Charge:
    price = contract.terms.stop.disk_per_month
    months = months_between(begin, until, contract.terms.month)
    amount = Fraction(price) * count * months.value
    billed = round_cents(amount)
    units = "1 unit" if count == 1 else f"{count:,} units"
    start, end = (moment.replace(tzinfo=scenario.zone) for moment in (begin, until))
    return Charge(
        id=0,
        provider=contract.offer.provider,
        offer=contract.offer.id,
        lease=contract.label,
        plan="hourly",
        category="storage",
        period_start=start,
        period_end=end,
        quantity=as_decimal(count * months.value),
        unit="unit-months",
        list_unit_price=price,
        unit_price=price,
        list_cost=as_decimal(amount),
        billed_cost=billed,
        accrued_cost=billed,
        cash_date=scenario.local_time(scenario.elapsed_us(until) - 1)
        + timedelta(days=max(0, contract.terms.pay_shift_days)),
        rule=(
            f"disks of stopped cards: {units} x ({months.working}) months x {show_money(price)} a month "
            f"= {show_money(amount)}"
        ),
        accrues_from=start,
        accrues_until=end,
    )


def pieces(
    start: Micros, end: Micros | None, gaps: Sequence[tuple[Micros, Micros]]
) -> Iterator[tuple[Micros, Micros | None]]:
    """A time without its gaps, which are in order and apart."""
    for begin, back in gaps:
        if back <= start:
            continue
        if end is not None and begin >= end:
            break
        if begin > start:
            yield start, begin
        start = max(start, back)
    if end is None or start < end:
        yield start, end
