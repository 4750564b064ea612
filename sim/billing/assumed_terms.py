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
            yield text if len(by_text) == 1 else f"{_named(labels)}: {text[0].lower()}{text[1:]}"


def _named(labels: Sequence[str]) -> str:
    more = len(labels) - _MOST_NAMED
    return ", ".join(labels[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


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
        day = "first day" if terms.payment == "advance" else "end"
        when = f"{abs(shift)} days {'after' if shift > 0 else 'before'} their {day}"
        return f"Prepaid periods are paid {when} ({basis})."
    if terms.payment == "advance":
        return said("Prepaid periods are paid on their first day ({basis}).", basis=basis)
    return said("Prepaid periods are paid at their end ({basis}).", basis=basis)


def _begins(item: Seen) -> str:
    begins = item.contract.begins
    if item.terms.begins == "next-hour":
        return f"Billing begins at the next full hour after the cards come ({_STATED})."
    off_the_hour = begins is not None and (begins.minute, begins.second, begins.microsecond) != (0, 0, 0)
    return (
        f"Billing begins at once, also within an hour ({_basis(item.terms, 'begins')})."
        if off_the_hour
        else ""
    )


def _refund(item: Seen) -> str:
    refund = item.terms.refund
    if not item.prepaid:
        return ""
    grace = f" All returns within {refund.grace_days} days of the beginning." if refund.grace_days else ""
    basis = _basis(item.terms, "refund.rule")
    if refund.rule == "none":
        none = said(
            "No refund: a prepaid period is owed whole once it has begun, and its cost is spread evenly over "
            "the time in which its cards are usable ({basis}).",
            basis=basis,
        )
        return f"{none}{grace}"
    what = {
        "pro-rata": "the unused share of what was paid returns",
        "re-rate": "what was paid returns, less the time used at list price"
        + (" and the discount of the months used" if refund.matched else ""),
        "deposit-less-discounts": "the unused share of what was paid returns, less the discount received",
    }[refund.rule]
    part = "exactly" if refund.part == "exact" else f"in begun {refund.part}s"
    counted = _basis(item.terms, "refund.part")
    fee = f"{show_number(refund.fee * 100)} % of it are kept as a fee" if refund.fee else "without a fee"
    kept = _basis(item.terms, "refund.fee")
    return (
        f"A prepaid period left early: {what} ({basis}); used time is counted {part} ({counted}), {fee} "
        f"({kept}); refund and period are spread over the time in which the cards are usable.{grace}"
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
    price = "at the same price"
    if terms.renewal_change:
        price = f"at a price that changes by {show_number(terms.renewal_change * 100)} % each time"
    if terms.expiry == "renew-at-list":
        return f"A prepaid contract that ends renews without the plan's discount, {price} ({basis})."
    if terms.renewal_change:
        return f"A lease without an end renews {price}, at each anniversary ({basis})."
    return said(
        "A lease without an end renews unchanged, at the same price, at each anniversary ({basis}).",
        basis=basis,
    )


def _fallback(item: Seen) -> str:
    price, offer = item.terms.hourly_price, item.contract.offer
    if not item.fell_back:
        if "hourly" not in item.plans or offer.price.unit == "hour" or price is None:
            return ""
        return f"{offer.id}: {show_money(price)} {offer.currency} a unit and hour by the hour ({_STATED})."
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
        return (
            f"Added cards are billed in proportion to the end of the running period, then with it ({basis})."
        )
    return f"Added cards have a term of their own ({basis})."


def _converted(item: Seen) -> str:
    if item.contract.lease is None or not item.contract.lease.converts:
        return ""
    if item.terms.refund.rule == "none":
        return (
            "A change to a longer plan takes effect when the paid period ends: nothing returns for its rest."
        )
    return "A change to a longer plan takes effect at once, with the refund of what it leaves."


def _stopped(item: Seen) -> str:
    contract, stop = item.contract, item.terms.stop
    if contract.lease is None or not contract.lease.stopped:
        return ""
    compute = "is not billed" if stop.compute == "stops" else "is billed on"
    back = f"the cards are kept ({_basis(item.terms, 'stop.restart')})"
    if stop.restart == "ordered":
        wait = format_duration(stop.restart_s * SECOND)
        back = f"they are back {wait} after it ({_basis(item.terms, 'stop.restart_s')})"
    disk = f"disks cost {show_money(stop.disk_per_month)} {contract.offer.currency} a unit and month"
    return (
        f"While cards are stopped, compute {compute} ({_basis(item.terms, 'stop.compute')}), {disk} "
        f"({_basis(item.terms, 'stop.disk_per_month')}), and {back}."
    )


def _tax(item: Seen) -> str:
    tax = item.terms.tax
    if tax is None:
        return said("Prices are taken as published: no VAT line is added or taken out (assumed).")
    where = "contained in published prices" if tax.included else "on top of published prices"
    back = "comes back as input tax and is no cost" if tax.creditable else "does not come back"
    return (
        f"VAT of {show_number(tax.rate * 100)} % is {where} ({_basis(item.terms, 'tax.included')}) and "
        f"{back} ({_basis(item.terms, 'tax.creditable')})."
    )


def _running(item: Seen) -> str:
    contract = item.contract
    if contract.lease is None or contract.lease.started is None:
        return ""
    return (
        f"{contract.label}: the contract runs since {contract.lease.started:%Y-%m-%d}, at the same price "
        "(assumed); what was paid of it before the scenario is sunk: its share of the horizon is accrued, "
        "and nothing of it is paid or owed again."
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
