"""Prepaid plans: one purchase for each period begun, and what returns of it where it is left early.

Every period that begins before the lease ends and before the horizon ends is owed whole, whatever part of
it is used. Its cost accrues evenly over the time in which the cards are usable: from the period's start
to its end, or to where the lease ends or changes its plan. What returns is a line of its own that accrues
over the same time, so that both together spread what the time really cost. A period that is paid inside
the horizon (`pay_shift_days` below 0) is a line even if it begins after it.

A contract that runs already (`started`) has its periods on the anniversaries of its own beginning. What
was paid before the scenario is sunk: its share of the horizon accrues, the rest of it, before and after,
is neither paid nor owed again. Periods that ended before the scenario are no lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from sim.billing.contracts import Contract
from sim.billing.proration import Months
from sim.billing.refunds import Returned, refund_of
from sim.billing.rounding import round_cents, show_money
from sim.billing.segments import Stretch, timeline
from sim.billing.terms import PeriodPrice, find_plan, period_price
from sim.errors import InputError, Problem
from sim.model.lease import Lease
from sim.model.ledger import Category, Charge
from sim.model.scenario import Scenario
from sim.model.terms import plan_months
from sim.units import Micros, format_duration, spread

__all__ = ["lease_start", "purchases", "stretch_price", "walk_of"]


def lease_start(scenario: Scenario, lease: Lease, key: str) -> Micros:
    """Start of a lease, elapsed time; InputError if it starts before the scenario."""
    start = lease.start if lease.start is not None else scenario.start
    if start < scenario.start:
        rule = f"a lease may not start before the scenario does ({scenario.start.isoformat(' ')})"
        raise InputError(Problem(rule, key=f"{key}.start", value=start.isoformat(" ")))
    return scenario.elapsed_us(start)


def walk_of(scenario: Scenario, contracts: Mapping[int, Contract], index: int) -> tuple[Stretch, ...]:
    """The pieces of a lease that begin, or may be paid, before the end of the horizon."""
    early = timedelta(days=max(0, -contracts[index].terms.pay_shift_days)) // timedelta(microseconds=1)
    return tuple(timeline(scenario, contracts, index, scenario.horizon_us + early))


def purchases(
    scenario: Scenario, contract: Contract, walk: Iterable[Stretch]
) -> Iterator[tuple[Charge, ...]]:
    """The paid periods of one lease, in order of time: each purchase, with what returns of it and the fee
    for that. `id` and `of` are left at 0: the lines that follow a purchase belong to it."""
    horizon = scenario.horizon_us
    for stretch in walk:
        if stretch.plan == "hourly" or stretch.until is None or scenario.elapsed_us(stretch.until) <= 0:
            continue
        paid = _pay_day(contract, stretch)
        if scenario.elapsed_us(stretch.start) < horizon or scenario.elapsed_us(paid) < horizon:
            yield _period(contract, scenario, stretch, paid)


def stretch_price(contract: Contract, stretch: Stretch) -> tuple[PeriodPrice, Decimal, str]:
    """Price of a paid period, the list price of one unit behind it, and how renewals changed that."""
    lease, terms = contract.lease, contract.terms
    assert lease is not None  # noqa: S101 - burst has no periods
    plan = find_plan(contract.offer, terms, stretch.plan, f"{contract.key}.plan")
    listed = contract.list_price(stretch.start, stretch.signed)
    note = contract.note(listed)
    agreed = any(change.since <= stretch.start for change in lease.prices)
    if stretch.renewals and terms.renewal_change and not agreed:
        factor = (1 + terms.renewal_change) ** stretch.renewals
        note += f"; list price {show_money(listed)} x {1 + terms.renewal_change} ^ {stretch.renewals} after "
        listed *= factor
        note += f"renewals = {show_money(listed)}"
    months = plan_months(stretch.plan)
    span = stretch.months or Months(Fraction(months), str(months))
    factors = (Decimal(1), "") if stretch.at_list else (plan.multiplier, stretch.plan)
    price = period_price(lease, contract.offer, terms, listed, span, factors, contract.key)
    return price, listed, note


def _pay_day(contract: Contract, stretch: Stretch) -> datetime:
    """When a period is paid, local; not before the contract under its plan begins."""
    due = stretch.until if contract.terms.payment == "arrears" else stretch.start
    assert due is not None  # noqa: S101 - a paid period has an end
    return max(due + timedelta(days=contract.terms.pay_shift_days), stretch.signed)


def _period(contract: Contract, scenario: Scenario, stretch: Stretch, paid: datetime) -> tuple[Charge, ...]:
    price, listed, note = stretch_price(contract, stretch)
    billed = round_cents(price.amount)
    due = refund_of(contract, scenario, stretch, price, listed, billed)
    purchase = _purchase(contract, scenario, stretch, price, billed, paid)
    rule = _rule(contract, scenario, stretch, price, purchase, due is not None) + note
    lines = [replace(purchase, rule=rule)]
    if due is not None:
        lines += _returned(contract, scenario, stretch, purchase, due)
    return tuple(lines)


def _purchase(
    contract: Contract,
    scenario: Scenario,
    stretch: Stretch,
    price: PeriodPrice,
    billed: Decimal,
    paid: datetime,
) -> Charge:
    lease, end, until = contract.lease, stretch.end, stretch.until
    assert lease is not None and end is not None and until is not None  # noqa: S101, PT018 - a paid period
    before, accrued = _shares(scenario, stretch, billed)
    return Charge(
        id=0,
        provider=contract.offer.provider,
        offer=contract.offer.id,
        lease=contract.label,
        plan=stretch.plan,
        category="purchase",
        period_start=stretch.start.replace(tzinfo=scenario.zone),
        period_end=end.replace(tzinfo=scenario.zone),
        quantity=price.quantity,
        unit=price.unit,
        list_unit_price=price.list_unit,
        unit_price=price.unit_price,
        list_cost=price.list_cost,
        billed_cost=billed,
        accrued_cost=accrued,
        cash_date=paid.replace(tzinfo=scenario.zone),
        rule="",
        sunk=scenario.elapsed_us(paid) < 0,
        accrues_from=stretch.usable_from.replace(tzinfo=scenario.zone),
        accrues_until=until.replace(tzinfo=scenario.zone),
        cards=lease.count * contract.offer.gpus_per_unit,
        before_cost=before,
    )


def _times(scenario: Scenario, stretch: Stretch) -> tuple[Micros, Micros, Micros]:
    """Usable time of a period before the scenario, in the horizon and after it."""
    assert stretch.until is not None  # noqa: S101 - a paid period has an end
    first, last = scenario.elapsed_us(stretch.usable_from), scenario.elapsed_us(stretch.until)
    horizon = scenario.horizon_us
    inside = max(0, min(last, horizon) - max(first, 0))
    return max(0, min(last, 0) - first), inside, max(0, last - max(first, horizon))


def _shares(scenario: Scenario, stretch: Stretch, billed: Decimal) -> tuple[Decimal, Decimal]:
    """The parts of an amount that belong to usable time before the scenario and in the horizon."""
    before, inside, after = _times(scenario, stretch)
    accrued, rest = spread(billed, [inside, before + after]) if inside else (Decimal("0.00"), billed)
    return spread(rest, [before, after])[0] if before else Decimal("0.00"), accrued


def _rule(
    contract: Contract,
    scenario: Scenario,
    stretch: Stretch,
    price: PeriodPrice,
    purchase: Charge,
    returns: bool,
) -> str:
    assert stretch.end is not None and stretch.until is not None  # noqa: S101, PT018 - a paid period
    mode = "in arrears" if contract.terms.payment == "arrears" else "in advance"
    paid = "paid before the scenario" if purchase.sunk else f"paid {mode}"
    plan = f"{stretch.plan} at list price" if stretch.at_list else stretch.plan
    rule = (
        f"{plan}, {paid} for {_day(stretch.start)} to {_day(stretch.end)}: "
        f"{price.working} = {show_money(price.amount)}"
    )
    if stretch.why:
        rule += f"; {stretch.why}"
    if stretch.left is not None:
        event = "the lease ends" if stretch.last else "left for a longer plan"
        rule += f"; {event} {_day(stretch.left)}" + ("" if returns else ", no refund")
    before, inside, after = _times(scenario, stretch)
    if before or after:
        whole = format_duration(before + inside + after)
        rule += f"; {format_duration(inside)} of {whole} usable in the horizon"
    if purchase.sunk:
        rule += "; the rest is sunk, nothing of it is paid or owed again"
    return rule


def _returned(
    contract: Contract, scenario: Scenario, stretch: Stretch, purchase: Charge, due: Returned
) -> Iterator[Charge]:
    """The refund, and the fee that the provider keeps of it; both are settled when the period is left."""
    left = stretch.left
    assert left is not None  # noqa: S101 - only then something returns
    amount = min(round_cents(due.amount), purchase.billed_cost)
    event = "the lease ends" if stretch.last else "left for a longer plan"
    rule = f"refund, {event} {_day(left)}, {due.working}"
    yield _line(scenario, stretch, purchase, left, "refund", -amount, rule)
    fee = contract.terms.refund.fee
    graced = due.working.startswith("left within")
    if fee and not graced:
        kept = round_cents(Fraction(amount) * Fraction(fee))
        rule = f"fee for the refund: {show_money(amount)} x {fee} = {show_money(kept)}"
        yield _line(scenario, stretch, purchase, left, "fee", kept, rule)


def _line(
    scenario: Scenario,
    stretch: Stretch,
    purchase: Charge,
    left: datetime,
    category: Category,
    billed: Decimal,
    rule: str,
) -> Charge:
    """A line that belongs to a purchase and accrues over the same usable time."""
    before, accrued = _shares(scenario, stretch, billed)
    return replace(
        purchase,
        category=category,
        period_start=left.replace(tzinfo=scenario.zone),
        quantity=Decimal(1),
        unit=category,
        list_unit_price=billed,
        unit_price=billed,
        list_cost=billed,
        billed_cost=billed,
        accrued_cost=accrued,
        before_cost=before,
        cash_date=left.replace(tzinfo=scenario.zone),
        rule=rule,
        sunk=scenario.elapsed_us(left) < 0,
        cards=0,
        of=0,
    )


def _day(local: datetime) -> str:
    """A date where the time is midnight, else date and time."""
    return str(local).removesuffix(" 00:00:00")
