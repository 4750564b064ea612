"""What an hour of a unit costs under a contract: the list price by the hour, or a month's over 720 hours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from sim.billing.contracts import Contract
from sim.billing.rounding import show_money
from sim.billing.terms import find_plan, options_price
from sim.errors import InputError, Problem

__all__ = ["HOURS_A_MONTH", "HourPrice", "Increments", "hour_price", "increments", "refuse_monthly_terms"]

HOURS_A_MONTH = 720
"""Hours in which a month's price is divided where a contract falls back to hours and states no price."""


@dataclass(frozen=True, slots=True)
class Increments:
    """How time by the hour is counted, seconds."""

    step_s: int
    minimum_s: int


@dataclass(frozen=True, slots=True)
class HourPrice:
    """Price of one unit and hour."""

    listed: Fraction
    multiplier: Decimal
    text: str
    """The list price as a line shows it, such as `2,800.00 list / 720`."""
    note: str
    """What a line adds, such as a rate of exchange."""


def increments(contract: Contract) -> Increments:
    """How time by the hour is counted: as the terms say, else the offer's hourly plan, else by hours."""
    terms, plan = contract.terms, contract.offer.plans.get("hourly")
    step = terms.increment_s or (3600 if plan is None else plan.increment_s)
    minimum = terms.minimum_s
    if minimum is None:
        minimum = 3600 if plan is None else plan.minimum_s
    return Increments(step, minimum)


def hour_price(
    contract: Contract,
    begins: datetime,
    signed: datetime,
    fallen_back: bool,
    key: str,
    month_h: int = HOURS_A_MONTH,
) -> HourPrice:
    """Price of an hour that begins then, local; `fallen_back`: a prepaid contract has become hourly.

    `month_h`: hours over which a month's price is divided where none is stated; what is billed keeps the
    default. InputError if the offer is not sold by the hour.
    """
    offer, terms = contract.offer, contract.terms
    if offer.price.unit == "hour":
        multiplier = find_plan(offer, terms, "hourly", key).multiplier
        listed = contract.list_price(begins, signed)
        return HourPrice(Fraction(listed), multiplier, f"{show_money(listed)} list", contract.note(listed))
    multiplier = terms.discounts.get("hourly", Decimal(1))
    if not fallen_back:
        multiplier = find_plan(offer, terms, "hourly", key).multiplier
    options = Decimal(0)
    if contract.lease is not None:
        options = options_price(offer, contract.lease.options, f"{contract.key}.options")
    extra = f" + {show_money(options)} options / {month_h}" if options else ""
    if terms.hourly_price is not None:
        hour = Fraction(terms.hourly_price) + Fraction(options) / month_h
        text = f"{show_money(terms.hourly_price)} list{extra}"
        return HourPrice(hour, multiplier, f"({text})" if extra else text, contract.note(terms.hourly_price))
    listed = contract.list_price(begins, signed)
    months = 12 if offer.price.unit == "year" else 1
    hour = Fraction(listed) / (months * month_h) + Fraction(options) / month_h
    text = f"{show_money(listed)} list / {months * month_h}"
    return HourPrice(hour, multiplier, f"({text}{extra})" if extra else text, contract.note(listed))


def refuse_monthly_terms(options: tuple[str, ...], repeat_purchase: bool, key: str) -> None:
    """InputError if a lease by the hour asks for what is only priced by the month."""
    if options:
        rule = "options are priced by the month and cannot be added to a lease by the hour"
        raise InputError(Problem(rule, key=f"{key}.options", value=", ".join(options)))
    if repeat_purchase:
        rule = "the reduction for repeat purchase is by the month and not for a lease by the hour"
        raise InputError(Problem(rule, key=f"{key}.repeat_purchase", value=True))
