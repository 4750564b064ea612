"""What returns when a paid period is left before its end.

Rules and sources: `sim/model/terms.py`. The price is the one that was paid, whatever the list says on the
day on which the cards go. Nothing more returns than was paid, less what was returned before.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sim.billing.contracts import Contract
from sim.billing.proration import months_used, share_used
from sim.billing.rounding import show_money
from sim.billing.segments import Stretch, in_grace
from sim.billing.terms import PeriodPrice, find_plan, longest_plan, period_price
from sim.model.scenario import Scenario
from sim.model.terms import Refund

__all__ = ["Returned", "refund_amount", "refund_of"]


@dataclass(frozen=True, slots=True)
class Returned:
    """What returns of a paid period, exact, before the fee."""

    amount: Fraction
    working: str


def refund_amount(
    rule: Refund,
    paid: Fraction,
    used: Fraction,
    *,
    listed: Fraction | None = None,
    consumed: Fraction | None = None,
    returned_before: Fraction = Fraction(0),
) -> Fraction:
    """Amount that returns of `paid` after the share `used` of the period, at least 0.

    `listed` is the list price of the whole period (deposit-less-discounts), `consumed` what the time used
    costs by itself (re-rate). Money that came back before is taken off.
    """
    if rule.rule == "none":
        due = Fraction(0)
    elif rule.rule == "re-rate":
        due = paid - (paid * used if consumed is None else consumed)
    elif rule.rule == "deposit-less-discounts":
        received = ((paid if listed is None else listed) - paid) * used
        due = paid * (1 - used) - received
    else:
        due = paid * (1 - used)
    return max(Fraction(0), min(due, paid) - returned_before)


def refund_of(
    contract: Contract,
    scenario: Scenario,
    stretch: Stretch,
    price: PeriodPrice,
    listed: Decimal,
    billed: Decimal,
) -> Returned | None:
    """What returns of a period that is left early; None where nothing does."""
    lease, rule, left, end = contract.lease, contract.terms.refund, stretch.left, stretch.end
    if lease is None or left is None or end is None:
        return None
    paid = Fraction(billed)
    if in_grace(contract.terms, stretch.signed, left):
        text = f"left within {rule.grace_days} days of {_day(stretch.signed)}, all of it returns"
        return Returned(paid, text)
    if rule.rule == "none":
        return None
    start_us = scenario.elapsed_us(stretch.start)
    elapsed = scenario.elapsed_us(left) - start_us, scenario.elapsed_us(end) - start_us
    basis = contract.terms.month
    used, share, unit = share_used(stretch.start, end, left, elapsed, basis, rule)
    if rule.rule == "re-rate":
        consumed = _consumed(contract, stretch, listed)
        amount = refund_amount(rule, paid, used, consumed=consumed.amount)
        working = f"{show_money(paid)} paid - {consumed.working} used"
    elif rule.rule == "deposit-less-discounts":
        whole = price.list_amount
        amount = refund_amount(rule, paid, used, listed=whole)
        working = (
            f"{show_money(paid)} paid x (1 - {share} {unit}) - ({show_money(whole)} list - "
            f"{show_money(paid)}) x {share} discount received"
        )
    else:
        amount = refund_amount(rule, paid, used)
        working = f"{show_money(paid)} paid x (1 - {share} {unit})"
    return Returned(amount, f"{rule.rule}: {working} = {show_money(amount)}") if amount else None


def _consumed(contract: Contract, stretch: Stretch, listed: Decimal) -> PeriodPrice:
    """The time used at the list price of the period and the discount that the months used would have had."""
    lease, left = contract.lease, stretch.left
    assert lease is not None  # noqa: S101 - both hold wherever a period is left
    assert left is not None  # noqa: S101
    months = months_used(stretch.start, left, contract.terms.month, contract.terms.refund.part)
    plan = longest_plan(contract.offer, int(months.value)) if contract.terms.refund.matched else None
    factor = Decimal(1), ""
    if plan is not None and not stretch.at_list:
        factor = find_plan(contract.offer, contract.terms, plan, contract.key).multiplier, plan
    return period_price(lease, contract.offer, contract.terms, listed, months, factor, contract.key)


def _day(local: object) -> str:
    """A date where the time is midnight, else date and time."""
    return str(local).removesuffix(" 00:00:00")
