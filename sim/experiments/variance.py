"""Why a line of a real invoice differs from the ledger: price, quantity, rounding, or not explained.

With unit price P and quantity Q on both sides: price = (P invoice - P ledger) x Q invoice; quantity =
(Q invoice - Q ledger) x P ledger. What is left is rounding where it is at most half a cent for each
amount that was rounded, and unexplained where it is more. The four sum to the difference, to the cent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import log

from sim.experiments.reconcile_match import Match
from sim.model.contract import Offer
from sim.model.ledger import Charge
from sim.model.terms import plan_months
from sim.units import CENT, round_money

__all__ = ["Variance", "variance"]

ZERO = Decimal("0.00")
RATES = (Decimal("0.06"), Decimal("0.13"), Decimal("0.09"), Decimal("0.03"), Decimal("0.01"))
"""Rates of value-added tax in China; a difference of exactly one of them is pointed out."""


@dataclass(frozen=True, slots=True)
class Variance:
    """Invoice minus ledger, and its causes; whole cents."""

    invoice: Decimal
    ledger: Decimal
    price: Decimal = ZERO
    quantity: Decimal = ZERO
    rounding: Decimal = ZERO
    unexplained: Decimal = ZERO
    notes: tuple[str, ...] = ()

    @property
    def difference(self) -> Decimal:
        """Invoice minus ledger."""
        return self.invoice - self.ledger


@dataclass(frozen=True, slots=True)
class _Sides:
    """Quantity and unit price of both sides, in the ledger's unit."""

    quantity: Fraction
    price: Fraction
    own_quantity: Fraction
    own_price: Fraction
    notes: tuple[str, ...] = ()


def variance(match: Match, offers: Mapping[str, Offer]) -> Variance:
    """The difference of a match and its causes."""
    invoice = sum((line.amount for line in match.lines), ZERO)
    ledger = sum((charge.billed_cost for charge in match.charges), ZERO)
    difference, allowed = invoice - ledger, CENT / 2 * (len(match.lines) + len(match.charges))
    if difference == 0:
        return Variance(invoice, ledger)
    notes = _tax_note(invoice, ledger)
    sides = _sides(match, invoice, offers, small=abs(difference) <= allowed)
    if sides is None:
        return _with_rest(invoice, ledger, ZERO, ZERO, allowed, notes)
    price = _cents((sides.price - sides.own_price) * sides.quantity)
    quantity = _cents((sides.quantity - sides.own_quantity) * sides.own_price)
    if price or quantity:
        allowed += CENT  # both were rounded here
    return _with_rest(invoice, ledger, price, quantity, allowed, (*sides.notes, *notes))


def _with_rest(
    invoice: Decimal,
    ledger: Decimal,
    price: Decimal,
    quantity: Decimal,
    allowed: Decimal,
    notes: tuple[str, ...],
) -> Variance:
    rest = invoice - ledger - price - quantity
    small = abs(rest) <= allowed
    rounding, unexplained = (rest, ZERO) if small else (ZERO, rest)
    return Variance(invoice, ledger, price, quantity, rounding, unexplained, notes)


def _sides(match: Match, invoice: Decimal, offers: Mapping[str, Offer], small: bool) -> _Sides | None:
    """Both sides; None where the invoice states neither quantity nor price, or the ledger mixes units.

    `small`: the difference is within rounding, so that no price or quantity is worked out from it.
    """
    own = _own(match.charges)
    if own is None:
        return None
    own_quantity, own_price = own
    quantities = [line.quantity for line in match.lines if line.quantity is not None]
    prices = [line.unit_price for line in match.lines if line.unit_price is not None]
    all_quantities, all_prices = len(quantities) == len(match.lines), len(prices) == len(match.lines)
    if not (all_quantities or all_prices) or (small and not (all_quantities and all_prices)):
        return None
    if all_quantities and all_prices:
        quantity = Fraction(sum(quantities))
        if not quantity:
            return None
        price = sum((Fraction(q) * Fraction(p) for q, p in zip(quantities, prices, strict=True)), Fraction(0))
        price /= quantity
    elif all_quantities:
        quantity = Fraction(sum(quantities))
        if not quantity:
            return None
        price = Fraction(invoice) / quantity
    else:
        price = Fraction(sum(prices)) / len(prices)
        if not price:
            return None
        quantity = Fraction(invoice) / price
    factor = _factor(match.charges, offers, (quantity, price), own)
    notes = () if factor == 1 else (f"The invoice counts in units of {factor} {match.charges[0].unit}.",)
    quantity, price = quantity * factor, price / factor
    # A price or quantity that was only printed with fewer places is the ledger's own.
    if len(prices) == 1 and factor == 1 and all_prices:
        price = own_price if _printed(own_price, prices[0]) else price
    if len(quantities) == 1 and factor == 1 and all_quantities:
        quantity = own_quantity if _printed(own_quantity, quantities[0]) else quantity
    return _Sides(quantity, price, own_quantity, own_price, notes)


def _own(charges: Sequence[Charge]) -> tuple[Fraction, Fraction] | None:
    """Quantity and mean unit price of the ledger, exact where its lines are only rounded from it."""
    quantity = sum((Fraction(charge.quantity) for charge in charges), Fraction(0))
    if len({charge.unit for charge in charges}) > 1 or quantity == 0:
        return None
    billed = sum((Fraction(charge.billed_cost) for charge in charges), Fraction(0))
    exact = sum((Fraction(one.unit_price) * Fraction(one.quantity) for one in charges), Fraction(0))
    close = abs(exact - billed) <= Fraction(CENT) * len(charges)
    return quantity, (exact if close else billed) / quantity


def _factor(
    charges: Sequence[Charge],
    offers: Mapping[str, Offer],
    stated: tuple[Fraction, Fraction],
    own: tuple[Fraction, Fraction],
) -> Fraction:
    """How many of the ledger's units one unit of the invoice is: 12 for a card by the year, 1/8 for a
    card of an 8-card machine; 1 where that explains prices and quantities best."""
    if min(*stated, *own) <= 0:
        return Fraction(1)
    months = {max(1, plan_months(charge.plan)) if charge.unit == "unit-months" else 1 for charge in charges}
    cards = {offers[charge.offer].gpus_per_unit if charge.offer in offers else 1 for charge in charges}
    possible = [Fraction(1), *(Fraction(m, c) for m in sorted({1, *months}) for c in sorted({1, *cards}))]

    def far(factor: Fraction) -> float:
        quantity, price = stated[0] * factor / own[0], stated[1] / factor / own[1]
        return abs(log(quantity)) + abs(log(price))

    return min(possible, key=far)


def _printed(exact: Fraction, shown: Decimal) -> bool:
    """Whether a number is what another is when it is rounded to as many places."""
    exponent = shown.as_tuple().exponent
    places = Fraction(1, 2) * Fraction(10) ** (exponent if isinstance(exponent, int) else 0)
    return abs(exact - Fraction(shown)) <= places


def _cents(amount: Fraction) -> Decimal:
    """Rounded to the cent, halves away from zero."""
    return round_money(Decimal(amount.numerator) / Decimal(amount.denominator))


def _tax_note(invoice: Decimal, ledger: Decimal) -> tuple[str, ...]:
    for rate in RATES:
        share = f"{(100 * rate).normalize():f} %"
        if invoice == round_money(ledger * (1 + rate)):
            return (f"The invoice is {share} higher: value-added tax on top of the ledger's price?",)
        if ledger == round_money(invoice * (1 + rate)):
            return (f"The ledger is {share} higher: is the invoice without value-added tax?",)
    return ()
