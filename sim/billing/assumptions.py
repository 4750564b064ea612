"""The assumptions behind a ledger, as sentences: only those that touch what was billed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

from sim.billing.hourly import HourlyPrice
from sim.billing.prepaid import PrepaidLease
from sim.billing.rounding import show_money
from sim.model.contract import Offer, PriceChoice
from sim.units import SECOND, format_duration

__all__ = ["assumptions"]

_MONTHS = (
    "A billing month runs from one calendar anniversary of the lease's start to the next, local time; "
    "prepaid periods are paid on their first day."
)
_NO_REFUND = (
    "No refund: a prepaid period is owed whole once it has begun, and its cost is spread evenly over the "
    "time in which its cards are usable."
)
_A = {"hour": "an hour", "month": "a month", "year": "a year"}
_WHERE = {"low": "the low end", "mid": "the middle", "high": "the high end"}


def assumptions(
    prepaid: Iterable[PrepaidLease],
    hourly: Iterable[tuple[HourlyPrice, PriceChoice | Decimal | None]],
    choice: PriceChoice | None,
) -> tuple[str, ...]:
    """Sentences without repetition, in the order of the leases; `hourly` carries the price asked for."""
    found: list[str] = []
    leases = tuple(prepaid)
    for item in leases:
        lease = item.lease
        found += _price(item.offer, lease.price, choice)
        found += _prepaid(item)
    for rental, price in hourly:
        found += _price(rental.offer, price, choice)
        found.append(_increments(rental))
    if leases:
        found += [_MONTHS, _NO_REFUND]
        for item in leases:
            if item.lease.started is not None:
                found.append(_running(item))
        if any(item.lease.end is None for item in leases):
            found.append("A lease without an end renews unchanged, at the same price, at each anniversary.")
    if found:
        found.append("Prices are taken as published: no VAT line is added or taken out.")
    return tuple(dict.fromkeys(found))


def _price(offer: Offer, price: PriceChoice | Decimal | None, choice: PriceChoice | None) -> Iterator[str]:
    band = offer.price
    if "/" in offer.gpu and not isinstance(price, Decimal):
        yield f"{offer.id}: {offer.assumptions[0]}"
    if isinstance(price, Decimal):
        yield (
            f"{offer.id}: list price {show_money(price)} {offer.currency} {_A[band.unit]} and unit, as the "
            f"scenario says (published: {_range(offer)})."
        )
    elif band.low != band.high:
        word = choice or price or "mid"
        yield (
            f"{offer.id}: list price {show_money(band.pick(word))} {offer.currency} {_A[band.unit]} and "
            f"unit, {_WHERE[word]} of the published range {_range(offer)}."
        )


def _range(offer: Offer) -> str:
    low, high = show_money(offer.price.low), show_money(offer.price.high)
    return low if low == high else f"{low} to {high}"


def _prepaid(item: PrepaidLease) -> Iterator[str]:
    lease, offer = item.lease, item.offer
    terms, repeat = offer.plans[lease.plan], offer.repeat_purchase
    if terms.multiplier != 1 or terms.assumed:
        basis = "assumed, the source does not state it" if terms.assumed else "as the source states"
        yield f"{offer.id}: {lease.plan} plan at {terms.multiplier} of the list price ({basis})."
    if lease.options and terms.multiplier != 1:
        yield f"{offer.id}: options are not discounted by the plan (assumed, the dearer reading)."
    if lease.repeat_purchase and repeat is not None:
        order = "after" if repeat.order == "after_discount" else "before"
        first = "the first card included" if repeat.first_card else "but for the first card of the lease"
        yield (
            f"{offer.id}: {show_money(repeat.per_card_month)} {offer.currency} a month off each card for "
            f"repeat purchase, taken {order} the discount, {first} (assumed)."
        )
    elif repeat is not None:
        yield f"{offer.id}: no reduction for repeat purchase, because the lease does not ask for it."


def _running(item: PrepaidLease) -> str:
    return (
        f"lease {item.index}: the contract runs since {item.lease.started:%Y-%m-%d}, at the same price "
        "(assumed); the period that runs at the start is paid: its share of the horizon is accrued, and "
        "nothing of it is paid or owed again."
    )


def _increments(rental: HourlyPrice) -> str:
    step = format_duration(rental.terms.increment_s * SECOND)
    least = format_duration(rental.terms.minimum_s * SECOND)
    return (
        f"{rental.offer.id}: billed in whole increments of {step}, at least {least} a rental, from usable to "
        "handed back, down time included; paid when handed back and at month ends. The hours on one "
        "invoice are rounded to the cent together, so "
        "that they sum to their exact total."
    )
