"""Break-evens by the finance room: how long, how many hours, how many runs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from sim.billing.finance.breakeven import PlanCost, term_break_even, use_break_even
from sim.claims.bench import Bench
from sim.claims.money import (
    MONTH_HOURS,
    Factor,
    Hours,
    Price,
    Rent,
    billed,
    choices,
    find_offer,
    money,
    rent_a_month,
    sources,
)
from sim.claims.working import Computation, Step, Working, read_inputs, shown
from sim.errors import InputError, Problem
from sim.model.base import Strict
from sim.model.contract import PriceChoice
from sim.model.terms import Plan, plan_months

__all__ = ["FINANCE"]

_WEEKS = Fraction(52, 12)
"""Weeks of a month."""
_NO_REFUND = "A period that has begun is owed whole: no refund (the sellers state no refund rule)."


class _Term(Strict):
    offers: tuple[str, ...] = Field(min_length=1)
    plan: Plan = "annual"
    than: Plan = "monthly"
    discount: Factor | None = None
    """Another factor of `plan` on the list price; default: the catalogue's."""


def months_to_break_even(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Months that cards must be kept for a longer plan to be the cheaper one, over several offers."""
    asked = read_inputs(_Term, inputs)
    found: list[Fraction] = []
    steps: list[Step] = []
    offers = [find_offer(bench, name, "inputs.offers") for name in asked.offers]
    for offer in offers:
        costs = []
        for plan, factor in ((asked.plan, asked.discount), (asked.than, None)):
            if plan_months(plan) == 0:
                rule = "a plan of months is needed; hours are the business of hours_to_break_even"
                raise InputError(Problem(rule, key="inputs.plan", value=plan))
            rent = Rent(offer=offer.id, plan=plan, price="low", discount=factor)
            bill = billed(bench, rent, plan_months(plan), "low")
            steps += bill.steps
            costs.append(PlanCost(plan, plan_months(plan), Fraction(bill.total)))
        even = term_break_even(costs[0], costs[1])
        if even is None:
            rule = "two plans of different length are compared"
            raise InputError(Problem(rule, key="inputs.than", value=asked.than))
        longer, shorter = sorted(costs, key=lambda cost: -cost.months)
        text = f"{offer.id}: {money(longer.amount)} / {money(shorter.monthly, 'a month')}"
        steps.append(Step(text, shown(float(even.months), "months")))
        found.append(even.months)
    low, high = float(min(found)), float(max(found))
    return Working(low, high, "months", tuple(dict.fromkeys(steps)), (_NO_REFUND,), sources(*offers))


class _Use(Strict):
    prepaid: Rent
    hourly: str
    """Offer by the hour."""
    price: PriceChoice | None = None
    hour_price: Price | None = None
    """Another price of an hour; default: the catalogue's."""
    speed: float = Field(default=1.0, gt=0)
    """How many hours of the prepaid card an hour of the other is worth."""
    shown_as: Literal["h/month", "% of a month"] = "h/month"
    month_hours: int = Field(default=MONTH_HOURS, ge=1, le=744)


def hours_to_break_even(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Hours a month beyond which a prepaid card is cheaper than one by the hour."""
    asked = read_inputs(_Use, inputs)
    found, steps, notes = _hours(asked, bench)
    if asked.shown_as == "% of a month":
        for hours in sorted(set(found)):
            share = hours / asked.month_hours * 100
            text = f"{shown(float(hours), 'h')} / {asked.month_hours} h"
            steps.append(Step(text, shown(float(share), "% of a month")))
        found = [hours / asked.month_hours * 100 for hours in found]
    sold = sources(find_offer(bench, asked.prepaid.offer), find_offer(bench, asked.hourly, "inputs.hourly"))
    return Working(float(min(found)), float(max(found)), asked.shown_as, tuple(steps), notes, sold)


def _hours(asked: _Use, bench: Bench) -> tuple[list[Fraction], list[Step], tuple[str, ...]]:
    offer = find_offer(bench, asked.hourly, "inputs.hourly")
    if offer.price.unit != "hour":
        rule = f"{offer.id} is not sold by the hour"
        known = tuple(o.id for o in bench.catalog.offers.values() if o.price.unit == "hour")
        raise InputError(Problem(rule, key="inputs.hourly", value=asked.hourly, known=known))
    month = rent_a_month(bench, asked.prepaid)
    steps = list(month.steps)
    ends: tuple[Fraction, ...] = (Fraction(asked.hour_price),) if asked.hour_price else ()
    if not ends:
        picks = choices(bench, Rent(offer=offer.id, plan="hourly", price=asked.price))
        ends = tuple(Fraction(offer.price.pick(choice)) for choice in picks)
    speed = Fraction(str(asked.speed))
    found: list[Fraction] = []
    for rent in sorted({month.low, month.high}):
        for price in ends:
            even = use_break_even(PlanCost("prepaid", 1, rent), offer.id, price)
            hours = even.hours * speed
            text = f"{money(rent, 'a month')} / {money(price, 'an hour')}"
            text += f" x {asked.speed:g} as fast" if asked.speed != 1 else ""
            steps.append(Step(text, shown(float(hours), "h/month")))
            found.append(hours)
    notes = list(month.assumptions)
    if asked.speed == 1:
        notes.append("An hour of one card is taken to be worth an hour of the other, whatever their speed.")
    return found, steps, tuple(dict.fromkeys(notes))


class _RunsEven(_Use):
    hours_per_run: Hours


def runs_to_break_even(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Runs a week beyond which a prepaid card is cheaper than one by the hour."""
    asked = read_inputs(_RunsEven, inputs)
    hours, steps, notes = _hours(asked, bench)
    found: list[Fraction] = []
    for month in hours:
        for run in asked.hours_per_run:
            runs = month / (Fraction(str(run)) * _WEEKS)
            text = f"{shown(float(month), 'h/month')} / ({run:g} h a run x 52 / 12 weeks a month)"
            steps.append(Step(text, shown(float(runs), "runs/week")))
            found.append(runs)
    sold = sources(find_offer(bench, asked.prepaid.offer), find_offer(bench, asked.hourly, "inputs.hourly"))
    return Working(float(min(found)), float(max(found)), "runs/week", tuple(steps), notes, sold)


FINANCE: Mapping[str, Computation] = {
    "months_to_break_even": months_to_break_even,
    "hours_to_break_even": hours_to_break_even,
    "runs_to_break_even": runs_to_break_even,
}
