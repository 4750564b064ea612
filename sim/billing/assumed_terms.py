"""Contract terms as sentences, each with its basis: stated, or assumed because nobody states it.

A term is told where it touches what was billed. One function a topic, one row of `_TOPICS` each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sim.billing.contracts import Contract
from sim.billing.hourprice import HOURS_A_MONTH
from sim.billing.rounding import show_money, show_number
from sim.model.said import said
from sim.model.terms import ContractTerms
from sim.units import SECOND, format_duration

__all__ = ["Seen", "term_sentences"]

_MOST_NAMED = 5
_STATED, _ASSUMED = "as the terms say", "assumed"


@dataclass(frozen=True, slots=True)
class Seen:
    """A contract, and what of it shows in the bill."""

    contract: Contract
    plans: frozenset[str]
    fell_back: bool = False
    """A prepaid contract has become hourly."""
    goes_on: bool = False
    """A paid period ends and the lease does not, or it has no end."""

    @property
    def ends(self) -> bool:
        """Whether the lease has an end of its own."""
        return self.contract.lease is not None and self.contract.lease.end is not None

    @property
    def prepaid(self) -> frozenset[str]:
        """The prepaid plans among those that were billed."""
        return self.plans - {"hourly"}

    @property
    def terms(self) -> ContractTerms:
        """The terms of the contract."""
        return self.contract.terms


def term_sentences(seen: Sequence[Seen]) -> Iterator[str]:
    """The terms behind a bill, topic by topic; leases are named where they differ."""
    for topic in _TOPICS:
        by_text: dict[str, list[str]] = {}
        for item in seen:
            text = topic(item)
            if text:
                by_text.setdefault(text, []).append(item.contract.label)
        for text, labels in by_text.items():
            yield text if len(by_text) == 1 else _named(labels, _within(text))


def _within(text: str) -> str:
    """A sentence as it stands behind a colon; a word in capitals keeps them."""
    return text if text[1].isupper() else f"{text[0].lower()}{text[1:]}"


def _named(labels: Sequence[str], reason: str) -> str:
    leases, more = ", ".join(labels[:_MOST_NAMED]), len(labels) - _MOST_NAMED
    if more > 0:
        return said("{leases} and {more} more: {reason}", leases=leases, more=f"{more:,}", reason=reason)
    return said("{leases}: {reason}", leases=leases, reason=reason)


def _basis(terms: ContractTerms, *paths: str) -> str:
    return _STATED if any(terms.states(path) for path in paths) else _ASSUMED


def _month(item: Seen) -> str:
    if not item.prepaid:
        return ""
    basis = _basis(item.terms, "month")
    if item.terms.month == "30-days":
        return said("A billing month has 30 days ({basis}).", basis=basis)
    if item.terms.month == "mean-month":
        return said("A billing month has 365 / 12 days ({basis}).", basis=basis)
    return said(
        "A billing month runs from one calendar anniversary of the contract's beginning to the next, local "
        "time ({basis}).",
        basis=basis,
    )


def _payment(item: Seen) -> str:
    terms = item.terms
    if not item.prepaid:
        return ""
    basis, shift = _basis(terms, "payment", "pay_shift_days"), terms.pay_shift_days
    if shift:
        return said(
            "Prepaid periods are paid {days} days {side} their {day} ({basis}).",
            days=abs(shift),
            side="after" if shift > 0 else "before",
            day="first day" if terms.payment == "advance" else "end",
            basis=basis,
        )
    if terms.payment == "advance":
        return said("Prepaid periods are paid on their first day ({basis}).", basis=basis)
    return said("Prepaid periods are paid at their end ({basis}).", basis=basis)


def _begins(item: Seen) -> str:
    begins = item.contract.begins
    if item.terms.begins == "next-hour":
        return said("Billing begins at the next full hour after the cards come ({basis}).", basis=_STATED)
    off_the_hour = begins is not None and (begins.minute, begins.second, begins.microsecond) != (0, 0, 0)
    if not off_the_hour:
        return ""
    basis = _basis(item.terms, "begins")
    return said("Billing begins at once, also within an hour ({basis}).", basis=basis)


def _refund(item: Seen) -> str:
    refund = item.terms.refund
    if not item.prepaid:
        return ""
    text = _no_refund(item.terms) if refund.rule == "none" else _left_early(item.terms)
    if refund.grace_days:
        return said(
            "{head} All returns within {days} days of the beginning.", head=text, days=refund.grace_days
        )
    return text


def _no_refund(terms: ContractTerms) -> str:
    return said(
        "No refund: a prepaid period is owed whole once it has begun, and its cost is spread evenly over "
        "the time in which its cards are usable ({basis}).",
        basis=_basis(terms, "refund.rule"),
    )


def _left_early(terms: ContractTerms) -> str:
    """What returns of a period that was paid, under a rule that returns anything."""
    refund = terms.refund
    what = {
        "pro-rata": "the unused share of what was paid returns",
        "re-rate": "what was paid returns, less the time used at list price"
        + (" and the discount of the months used" if refund.matched else ""),
        "deposit-less-discounts": "the unused share of what was paid returns, less the discount received",
    }[refund.rule]
    fee = said("without a fee")
    if refund.fee:
        fee = said("{share} % of it are kept as a fee", share=show_number(refund.fee * 100))
    return said(
        "A prepaid period left early: {refund} ({basis}); used time is counted {counting} ({basis2}), {fee} "
        "({basis3}); refund and period are spread over the time in which the cards are usable.",
        refund=what,
        basis=_basis(terms, "refund.rule"),
        counting="exactly" if refund.part == "exact" else f"in begun {refund.part}s",
        basis2=_basis(terms, "refund.part"),
        fee=fee,
        basis3=_basis(terms, "refund.fee"),
    )


def _expiry(item: Seen) -> str:
    terms = item.terms
    basis = _basis(terms, "expiry", "renewal_change")
    if item.prepaid and terms.expiry == "end":
        return said("A lease ends with its paid period ({basis}).", basis=basis)
    if not item.prepaid or not item.goes_on:
        return ""
    if terms.expiry == "renew" and not terms.renewal_change and item.ends:
        return ""
    if terms.expiry == "hourly":
        return said("A prepaid contract that ends goes on by the hour ({basis}).", basis=basis)
    price = said("at the same price")
    if terms.renewal_change:
        change = show_number(terms.renewal_change * 100)
        price = said("at a price that changes by {change} % each time", change=change)
    if terms.expiry == "renew-at-list":
        return said(
            "A prepaid contract that ends renews without the plan's discount, {price} ({basis}).",
            price=price,
            basis=basis,
        )
    if terms.renewal_change:
        return said(
            "A lease without an end renews {price}, at each anniversary ({basis}).", price=price, basis=basis
        )
    return said(
        "A lease without an end renews unchanged, at the same price, at each anniversary ({basis}).",
        basis=basis,
    )


def _fallback(item: Seen) -> str:
    price, offer = item.terms.hourly_price, item.contract.offer
    if not item.fell_back:
        if "hourly" not in item.plans or offer.price.unit == "hour" or price is None:
            return ""
        cost = f"{show_money(price)} {offer.currency}"
        return said(
            "{name}: {cost} a unit and hour by the hour ({basis}).", name=offer.id, cost=cost, basis=_STATED
        )
    if price is not None:
        cost = show_money(price)
        return said(
            "Time by the hour after a contract costs {cost} a unit and hour (as the terms say).", cost=cost
        )
    return said(
        "Time by the hour after a contract costs the monthly list price / {hours} h (assumed).",
        hours=HOURS_A_MONTH,
    )


def _lock(item: Seen) -> str:
    contract = item.contract
    if not contract.offer.price_changes:
        return ""
    basis = _basis(contract.terms, "price_locked")
    if contract.terms.price_locked:
        return said("A contract keeps the list price of its beginning ({basis}).", basis=basis)
    return said(
        "Each period and increment has the list price of the day on which it begins ({basis}).", basis=basis
    )


def _joined(item: Seen) -> str:
    lease = item.contract.lease
    if lease is None or lease.joins is None:
        return ""
    basis = _basis(item.terms, "added")
    if item.terms.added == "co-term":
        return said(
            "Added cards are billed in proportion to the end of the running period, then with it ({basis}).",
            basis=basis,
        )
    return said("Added cards have a term of their own ({basis}).", basis=basis)


def _converted(item: Seen) -> str:
    if item.contract.lease is None or not item.contract.lease.converts:
        return ""
    if item.terms.refund.rule == "none":
        return said(
            "A change to a longer plan takes effect when the paid period ends: nothing returns for its rest."
        )
    return said("A change to a longer plan takes effect at once, with the refund of what it leaves.")


def _stopped(item: Seen) -> str:
    contract, stop = item.contract, item.terms.stop
    if contract.lease is None or not contract.lease.stopped:
        return ""
    back = said("the cards are kept ({basis})", basis=_basis(item.terms, "stop.restart"))
    if stop.restart == "ordered":
        back = said(
            "they are back {span} after it ({basis})",
            span=format_duration(stop.restart_s * SECOND),
            basis=_basis(item.terms, "stop.restart_s"),
        )
    return said(
        "While cards are stopped, compute {compute} ({basis}), disks cost {cost} a unit and month "
        "({basis2}), and {back}.",
        compute="is not billed" if stop.compute == "stops" else "is billed on",
        basis=_basis(item.terms, "stop.compute"),
        cost=f"{show_money(stop.disk_per_month)} {contract.offer.currency}",
        basis2=_basis(item.terms, "stop.disk_per_month"),
        back=back,
    )


def _tax(item: Seen) -> str:
    tax = item.terms.tax
    if tax is None:
        return said("Prices are taken as published: no VAT line is added or taken out (assumed).")
    return said(
        "VAT of {share} % is {tax} ({basis}) and {credit} ({basis2}).",
        share=show_number(tax.rate * 100),
        tax="contained in published prices" if tax.included else "on top of published prices",
        basis=_basis(item.terms, "tax.included"),
        credit="comes back as input tax and is no cost" if tax.creditable else "does not come back",
        basis2=_basis(item.terms, "tax.creditable"),
    )


def _running(item: Seen) -> str:
    contract = item.contract
    if contract.lease is None or contract.lease.started is None:
        return ""
    return said(
        "{leases}: the contract runs since {date}, at the same price (assumed); what was paid of it before "
        "the scenario is sunk: its share of the horizon is accrued, and nothing of it is paid or owed again.",
        leases=contract.label,
        date=f"{contract.lease.started:%Y-%m-%d}",
    )


_TOPICS: Sequence[Callable[[Seen], str]] = (
    _month,
    _payment,
    _begins,
    _refund,
    _running,
    _expiry,
    _fallback,
    _lock,
    _joined,
    _converted,
    _stopped,
    _tax,
)
