"""Prices: what a plan makes of an offer's list price, options and the repeat-purchase reduction.

Rules (source: the price pages in the source articles; where they are silent, the rule is a
parameter of the offer and is listed among the ledger's assumptions):

- list price: the low end, middle or high end of the published range, or the lease's own number;
- a plan multiplies the list price (annual 0.80 or 0.85, quarterly 0.95), never the options;
- the reduction for repeat purchase is an amount per card and month, taken after the plan's
  discount or before it, with or without the first card of the lease.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sim.billing.rounding import as_decimal, show_money, show_number
from sim.errors import InputError, Problem
from sim.model.contract import PLAN_MONTHS, Offer, Plan, PlanTerms, PriceChoice
from sim.model.scenario import Lease

__all__ = [
    "PeriodPrice",
    "find_offer",
    "find_plan",
    "list_price",
    "options_price",
    "period_price",
]


@dataclass(frozen=True, slots=True)
class PeriodPrice:
    """What one prepaid period of a lease costs, for all its units together."""

    quantity: Decimal
    unit: str
    """What `quantity` counts: `unit-months`, or `unit-years` for offers priced by the year."""
    list_unit: Decimal
    """List price with options, currency per `unit`."""
    amount: Fraction
    """After discount and reduction, exact."""
    working: str
    """The sum in words and figures, without its result."""

    @property
    def list_cost(self) -> Decimal:
        """List price times quantity."""
        return self.list_unit * self.quantity

    @property
    def unit_price(self) -> Decimal:
        """Mean contracted price per `unit`; a first card without reduction makes it a true mean."""
        return as_decimal(self.amount / Fraction(self.quantity))


def find_offer(offers: Mapping[str, Offer], name: str, key: str) -> Offer:
    """The offer of this id; InputError with the known ids."""
    if name not in offers:
        rule = "an offer must be one of the catalogue"
        raise InputError(Problem(rule, key=key, value=name, known=tuple(sorted(offers))))
    return offers[name]


def find_plan(offer: Offer, plan: Plan, key: str) -> PlanTerms:
    """The terms of this plan; InputError if the offer is not sold so or its price has another unit."""
    if plan not in offer.plans:
        rule = f"the offer {offer.id} is not sold under this plan"
        raise InputError(Problem(rule, key=key, value=plan, known=tuple(offer.plans)))
    if (plan == "hourly") != (offer.price.unit == "hour"):
        rule = f"the offer {offer.id} is priced by the {offer.price.unit}, which this plan cannot bill"
        raise InputError(Problem(rule, key=key, value=plan))
    return offer.plans[plan]


def list_price(offer: Offer, price: PriceChoice | Decimal | None, choice: PriceChoice | None) -> Decimal:
    """List price of one unit, currency per unit of time of the offer.

    A number in the scenario stands. Otherwise `choice` (from the command line) goes before the
    word in the scenario, and the middle of the range is the default.
    """
    if isinstance(price, Decimal):
        return price
    return offer.price.pick(choice or price or "mid")


def options_price(offer: Offer, options: tuple[str, ...], key: str) -> Decimal:
    """Price of the options of one unit, currency per month; InputError for an unknown option."""
    for option in options:
        if option not in offer.options:
            rule = f"the offer {offer.id} has no such option"
            raise InputError(Problem(rule, key=key, value=option, known=tuple(offer.options)))
    return sum((offer.options[option].per_month for option in options), Decimal(0))


def period_price(lease: Lease, offer: Offer, choice: PriceChoice | None, key: str) -> PeriodPrice:
    """Price of one period of a prepaid lease; `key` is the lease's place in the scenario.

    Raises InputError for a plan, option or reduction that the offer does not have, and for a
    reduction that leaves nothing to pay.
    """
    terms = find_plan(offer, lease.plan, f"{key}.plan")
    months = PLAN_MONTHS[lease.plan]
    months_per_price = 12 if offer.price.unit == "year" else 1
    listed = list_price(offer, lease.price, choice)
    options = options_price(offer, lease.options, f"{key}.options")

    span = Fraction(months, months_per_price)
    list_part = Fraction(listed) * lease.count * span
    reduction, reduction_text = _reduction(lease, offer, months, f"{key}.repeat_purchase")
    multiplier = Fraction(terms.multiplier)
    before = offer.repeat_purchase is not None and offer.repeat_purchase.order == "before_discount"
    discounted = (list_part - reduction) * multiplier if before else list_part * multiplier - reduction
    if discounted <= 0:
        rule = "the reduction for repeat purchase must leave something to pay"
        raise InputError(Problem(rule, key=f"{key}.repeat_purchase", value=str(reduction)))

    units = _count(lease.count, "unit")
    discount_text = "" if terms.multiplier == 1 else f" x {terms.multiplier} {lease.plan}"
    listed_text = f"{units} x {_span_text(months, months_per_price)} x {show_money(listed)} list"
    if before and reduction:
        working = f"({listed_text} - {reduction_text}){discount_text}"
    else:
        working = f"{listed_text}{discount_text}" + (f" - {reduction_text}" if reduction else "")
    if options:
        working += f" + {units} x {_count(months, 'month')} x {show_money(options)} options"
    return PeriodPrice(
        quantity=as_decimal(lease.count * span),
        unit="unit-years" if months_per_price == 12 else "unit-months",
        list_unit=listed + options * months_per_price,
        amount=discounted + Fraction(options) * lease.count * months,
        working=working,
    )


def _reduction(lease: Lease, offer: Offer, months: int, key: str) -> tuple[Fraction, str]:
    """The reduction for buying again over one period of the whole lease, and its working."""
    if not lease.repeat_purchase:
        return Fraction(0), ""
    repeat = offer.repeat_purchase
    if repeat is None:
        rule = f"the offer {offer.id} has no reduction for repeat purchase"
        raise InputError(Problem(rule, key=key, value=True))
    cards = lease.count * offer.gpus_per_unit - (0 if repeat.first_card else 1)
    text = f"{_count(cards, 'card')} x {_count(months, 'month')} x {show_money(repeat.per_card_month)}"
    return Fraction(repeat.per_card_month) * cards * months, f"{text} repeat purchase"


def _span_text(months: int, months_per_price: int) -> str:
    if months_per_price == 1:
        return _count(months, "month")
    years = Fraction(months, 12)
    return "1 year" if years == 1 else f"{show_number(years)} years"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"
