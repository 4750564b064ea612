"""Prices: what a plan makes of a list price, options and the repeat-purchase reduction.

Rules (source: the price pages in the source articles; where they are silent, the rule is a
parameter of the offer, the scenario or the lease and is listed among the ledger's assumptions):

- a plan multiplies the list price (annual 0.80 or 0.85, quarterly 0.95), and the options only where
  the terms say so;
- a term that the offer has no factor for, such as `6-months`, has that of the longest plan that it fills;
- the reduction for repeat purchase is an amount per card and month, taken after the plan's
  discount or before it, with or without the first card of the lease.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sim.billing.proration import Months
from sim.billing.rounding import as_decimal, show_factor, show_money, show_number
from sim.errors import InputError, Problem
from sim.model.contract import Offer, PlanTerms
from sim.model.lease import Lease
from sim.model.terms import ContractTerms, Plan, plan_months

__all__ = [
    "PeriodPrice",
    "find_offer",
    "find_plan",
    "longest_plan",
    "options_price",
    "period_price",
]


@dataclass(frozen=True, slots=True)
class PeriodPrice:
    """What some months of a lease cost, for all its units together."""

    quantity: Decimal
    unit: str
    """What `quantity` counts: `unit-months`, or `unit-years` for offers priced by the year."""
    list_unit: Decimal
    """List price with options, currency per `unit`."""
    amount: Fraction
    """After discount and reduction, exact."""
    list_amount: Fraction
    """Before them, exact."""
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


def longest_plan(offer: Offer, months: int) -> Plan | None:
    """The longest prepaid plan of the offer that so many months fill; None if they fill none."""
    fits = [plan for plan in offer.plans if 0 < plan_months(plan) <= months]
    return max(fits, key=plan_months, default=None)


def find_plan(offer: Offer, terms: ContractTerms, plan: Plan, key: str) -> PlanTerms:
    """The terms of this plan; InputError if the offer is not sold so or its price has another unit.

    An offer priced by the month is rented by the hour where the terms state a price for that.
    """
    by_month = offer.price.unit != "hour"
    if plan == "hourly" and by_month and terms.hourly_price is not None:
        found = offer.plans.get(plan, PlanTerms(multiplier=Decimal(1)))
    else:
        fills = longest_plan(offer, plan_months(plan)) if plan != "hourly" else None
        if plan not in offer.plans and (fills is None or not plan.endswith(("-month", "-months"))):
            rule = f"the offer {offer.id} is not sold under this plan"
            raise InputError(Problem(rule, key=key, value=plan, known=tuple(offer.plans)))
        if (plan == "hourly") == by_month:
            rule = f"the offer {offer.id} is priced by the {offer.price.unit}, which this plan cannot bill"
            raise InputError(Problem(rule, key=key, value=plan))
        found = offer.plans[plan if plan in offer.plans or fills is None else fills]
        if plan not in offer.plans:
            found = found.model_copy(update={"assumed": True})
    if plan in terms.discounts:
        found = found.model_copy(update={"multiplier": terms.discounts[plan], "assumed": False})
    return found


def options_price(offer: Offer, options: tuple[str, ...], key: str) -> Decimal:
    """Price of the options of one unit, currency per month; InputError for an unknown option."""
    for option in options:
        if option not in offer.options:
            rule = f"the offer {offer.id} has no such option"
            raise InputError(Problem(rule, key=key, value=option, known=tuple(offer.options)))
    return sum((offer.options[option].per_month for option in options), Decimal(0))


def period_price(
    lease: Lease,
    offer: Offer,
    terms: ContractTerms,
    listed: Decimal,
    months: Months,
    factor: tuple[Decimal, str],
    key: str,
) -> PeriodPrice:
    """Price of some months of a prepaid lease at a list price; `key` is the lease's place in the scenario.

    `factor` is the plan's factor on the list price and the word that names it. Raises InputError for an
    option or reduction that the offer does not have, and for a reduction that leaves nothing to pay.
    """
    per_price = 12 if offer.price.unit == "year" else 1
    options = options_price(offer, lease.options, f"{key}.options")
    units, span = _count(lease.count, "unit"), _span(months, per_price)
    multiplier, name = Fraction(factor[0]), factor[1]

    list_part = Fraction(listed) * lease.count * months.value / per_price
    option_part = Fraction(options) * lease.count * months.value
    discounted_options = option_part if terms.options_discounted else Fraction(0)
    reduction, reduction_text, before = _reduction(lease, offer, terms, months, f"{key}.repeat_purchase")
    discounted = list_part + discounted_options - (reduction if before else 0)
    discounted = discounted * multiplier - (0 if before else reduction)
    if reduction and discounted <= 0:
        rule = "the reduction for repeat purchase must leave something to pay"
        raise InputError(Problem(rule, key=f"{key}.repeat_purchase", value=show_money(reduction)))

    times = "" if multiplier == 1 else f" x {show_factor(factor[0])} {name}"
    text = f"{units} x {span} x {show_money(listed)} list"
    option_text = f"{units} x {_count_months(months)} x {show_money(options)} options" if options else ""
    if option_text and terms.options_discounted:
        text += f" + {option_text}"
    if before and reduction:
        text = f"({text} - {reduction_text}){times}"
    elif option_text and terms.options_discounted and times:
        text = f"({text}){times}"
    else:
        text += times
    text += f" - {reduction_text}" if reduction and not before else ""
    text += f" + {option_text}" if option_text and not terms.options_discounted else ""
    return PeriodPrice(
        quantity=as_decimal(lease.count * months.value / per_price),
        unit="unit-years" if per_price == 12 else "unit-months",
        list_unit=listed + options * per_price,
        amount=discounted + option_part - discounted_options,
        list_amount=list_part + option_part,
        working=text,
    )


def _reduction(
    lease: Lease, offer: Offer, terms: ContractTerms, months: Months, key: str
) -> tuple[Fraction, str, bool]:
    """The reduction for buying again over the months, its working, and whether it precedes the discount."""
    if not lease.repeat_purchase:
        return Fraction(0), "", False
    repeat = offer.repeat_purchase
    if repeat is None:
        rule = f"the offer {offer.id} has no reduction for repeat purchase"
        raise InputError(Problem(rule, key=key, value=True))
    first = repeat.first_card if terms.repeat_first_card is None else terms.repeat_first_card
    cards = lease.count * offer.gpus_per_unit - (0 if first else 1)
    text = f"{_count(cards, 'card')} x {_count_months(months)} x {show_money(repeat.per_card_month)}"
    before = (terms.repeat_order or repeat.order) == "before_discount"
    return Fraction(repeat.per_card_month) * cards * months.value, f"{text} repeat purchase", before


def _span(months: Months, per_price: int) -> str:
    if per_price == 1:
        return _count_months(months)
    if not months.working.isdigit():
        return f"({months.working}) / 12 years"
    years = months.value / 12
    return "1 year" if years == 1 else f"{show_number(years)} years"


def _count_months(months: Months) -> str:
    if months.working.isdigit():
        return _count(int(months.working), "month")
    return f"({months.working}) months"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"
