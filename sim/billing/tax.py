"""Value-added tax: a line of its own for each charge.

Where published prices contain it, a charge is split into net, price / (1 + rate), rounded, and tax, the
rest, so that both sum to the published price exactly. Where it comes on top, it is price x rate, rounded.
The lines by the hour of one invoice are rounded together, as the lines themselves are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from sim.billing.rounding import apportion, round_cents, show_money, show_number
from sim.model.ledger import Charge
from sim.model.terms import Tax

__all__ = ["net_and_tax", "with_tax"]


def net_and_tax(amount: Decimal, tax: Tax) -> tuple[Decimal, Decimal]:
    """An amount of whole cents as net and tax; of a refund both are negative."""
    size, sign = abs(amount), -1 if amount < 0 else 1
    if tax.included:
        net = round_cents(Fraction(size) / (1 + Fraction(tax.rate)))
        return sign * net, sign * (size - net)
    return amount, sign * round_cents(Fraction(size) * Fraction(tax.rate))


def with_tax(charges: Sequence[Charge], taxes: Mapping[str, Tax]) -> list[Charge]:
    """The charges and, after them, a tax line for each whose lease is taxed (`taxes`, by its label).

    Charges are numbered by their place already. Where prices contain the tax, their own figures become net.
    """
    due = {charge.id: taxes[charge.lease] for charge in charges if charge.lease in taxes}
    together = _by_invoice([charge for charge in charges if charge.id in due], due)
    lines, added = list(charges), []
    for place, charge in enumerate(charges):
        tax = due.get(charge.id)
        if tax is None:
            continue
        amount = together.get(charge.id)
        if amount is None:
            amount = net_and_tax(charge.billed_cost, tax)[1]
        lines[place] = net = _net(charge, tax, amount)
        added.append(_tax_line(charge, net, tax, amount))
    first = len(lines)
    return lines + [replace(line, id=first + number) for number, line in enumerate(added)]


def _by_invoice(charges: Sequence[Charge], due: Mapping[int, Tax]) -> dict[int, Decimal]:
    """The tax of lines by the hour, rounded together where they stand on one invoice at one rate."""
    groups: dict[tuple[str, int, int, Tax], list[Charge]] = {}
    for charge in charges:
        if charge.category == "usage":
            month = charge.cash_date.year, charge.cash_date.month
            groups.setdefault((charge.provider, *month, due[charge.id]), []).append(charge)
    found: dict[int, Decimal] = {}
    for (*_, tax), lines in groups.items():
        rate = Fraction(tax.rate)
        share = rate / (1 + rate) if tax.included else rate
        amounts = apportion([Fraction(line.billed_cost) * share for line in lines])
        found.update(zip((line.id for line in lines), amounts, strict=True))
    return found


def _net(charge: Charge, tax: Tax, amount: Decimal) -> Charge:
    """The charge without the tax that its price contains."""
    if not tax.included:
        return charge
    factor, net = 1 + tax.rate, charge.billed_cost - amount
    shown = f"{show_money(charge.billed_cost)} / {show_number(factor)} = {show_money(net)} net of tax"
    accrued, before = _split(charge, net)
    return replace(
        charge,
        list_unit_price=charge.list_unit_price / factor,
        unit_price=charge.unit_price / factor,
        list_cost=charge.list_cost / factor,
        billed_cost=net,
        accrued_cost=accrued,
        before_cost=before,
        rule=f"{charge.rule}; {shown}",
    )


def _split(charge: Charge, amount: Decimal) -> tuple[Decimal, Decimal]:
    """The parts of an amount in the horizon and before the scenario, as those of the charge."""
    accrued = _share(charge, charge.accrued_cost, amount)
    if charge.accrued_cost + charge.before_cost == charge.billed_cost and charge.before_cost:
        return accrued, amount - accrued
    return accrued, _share(charge, charge.before_cost, amount)


def _share(charge: Charge, part: Decimal, amount: Decimal) -> Decimal:
    """The share of an amount that `part` is of the charge, whole cents."""
    if not charge.billed_cost or not part:
        return Decimal("0.00")
    exact = Fraction(amount) * Fraction(part) / Fraction(charge.billed_cost)
    return round_cents(exact) if exact >= 0 else -round_cents(-exact)


def _tax_line(charge: Charge, net: Charge, tax: Tax, amount: Decimal) -> Charge:
    kind = "contained in the price" if tax.included else "on top of the price"
    back = ", comes back as input tax" if tax.creditable else ""
    accrued, before = Decimal("0.00"), Decimal("0.00")
    if tax.included and not tax.creditable:
        accrued, before = charge.accrued_cost - net.accrued_cost, charge.before_cost - net.before_cost
    elif not tax.creditable:
        accrued, before = _split(charge, amount)
    return replace(
        charge,
        category="tax",
        quantity=net.billed_cost,
        unit="net price",
        list_unit_price=tax.rate,
        unit_price=tax.rate,
        list_cost=net.list_cost * tax.rate,
        billed_cost=amount,
        accrued_cost=accrued,
        before_cost=before,
        rule=(
            f"tax of charge {charge.id}, {kind}{back}: {show_money(net.billed_cost)} x {tax.rate} "
            f"= {show_money(amount)}"
        ),
        cards=0,
        of=charge.id,
        recoverable=tax.creditable,
    )
