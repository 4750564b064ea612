"""Bills and savings: every amount is what the real ledger bills."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from sim.claims.bench import Bench
from sim.claims.money import (
    Bill,
    Rent,
    billed,
    choices,
    money,
    plain_rent,
    ranged,
)
from sim.claims.working import Computation, Step, Working, read_inputs, shown
from sim.model.base import Strict
from sim.model.terms import Plan, plan_months

__all__ = ["LEDGER"]

Months = Field(default=12, ge=1, le=120)
_PER = {"whole": "CNY", "month": "CNY/month", "year": "CNY/year"}


class _Bill(Rent):
    months: int = Months
    per: Literal["whole", "month", "year"] = "whole"


def bill_of(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """What is paid for cards that are rented so many months and then given up."""
    asked = read_inputs(_Bill, inputs)
    found: list[Fraction] = []
    steps: list[Step] = []
    notes: list[str] = []
    for choice in choices(bench, asked):
        bill = billed(bench, plain_rent(asked), asked.months, choice)
        steps += bill.steps
        notes += bill.assumptions
        amount = Fraction(bill.total)
        if asked.per != "whole":
            amount = amount / asked.months * (12 if asked.per == "year" else 1)
        if (asked.per == "month" and asked.months > 1) or (asked.per == "year" and asked.months != 12):
            times = " x 12 months" if asked.per == "year" else ""
            text = f"{money(bill.total)} / {asked.months} months{times}"
            steps.append(Step(text, money(amount, f"a {asked.per}")))
        found.append(amount)
    return ranged(found, _PER[asked.per], steps, notes, bench, asked.offer)


class _Saving(Rent):
    than: Plan = "monthly"
    """The plan that is compared with."""
    months: int = Months
    per: Literal["year", "month", "whole", "%", "months"] = "whole"
    """`%`: of the other plan's bill; `months`: in months' rent of the other plan."""


def saving(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """What a plan saves against another over the same months, both billed."""
    asked = read_inputs(_Saving, inputs)
    found: list[Fraction] = []
    steps: list[Step] = []
    notes: list[str] = []
    for choice in choices(bench, asked):
        mine = billed(bench, plain_rent(asked), asked.months, choice)
        plain = plain_rent(asked).model_copy(update={"plan": asked.than, "discount": None})
        other = billed(bench, plain, asked.months, choice)
        steps += [*other.steps, *mine.steps]
        notes += [*mine.assumptions, *other.assumptions]
        saved = Fraction(other.total) - Fraction(mine.total)
        steps.append(Step(f"{money(other.total)} - {money(mine.total)}", money(saved)))
        amount, step = _saved(asked, saved, other)
        steps += step
        found.append(amount)
    unit = {"year": "CNY/year", "month": "CNY/month", "whole": "CNY"}.get(asked.per, asked.per)
    return ranged(found, unit, steps, notes, bench, asked.offer)


def _saved(asked: _Saving, saved: Fraction, other: Bill) -> tuple[Fraction, list[Step]]:
    """The saving as it is asked for, and the line that makes it so."""
    whole = Fraction(other.total)
    if asked.per == "%":
        share = saved / whole * 100
        return share, [Step(f"{money(saved)} / {money(whole)}", shown(float(share), "%"))]
    if asked.per == "months":
        month = whole / asked.months
        text = f"{money(saved)} / ({money(whole)} / {asked.months} months)"
        return saved / month, [Step(text, shown(float(saved / month), "months"))]
    if asked.per == "whole" or (asked.per == "year" and asked.months == 12):
        return saved, []
    amount = saved / asked.months * (12 if asked.per == "year" else 1)
    text = f"{money(saved)} / {asked.months} months{' x 12' if asked.per == 'year' else ''}"
    return amount, [Step(text, money(amount, f"a {asked.per}"))]


class _MonthsSaved(Strict):
    offers: tuple[str, ...] = Field(min_length=1)
    plan: Plan = "annual"
    than: Plan = "monthly"
    months: int = Months


def months_saved(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Months' rent that a plan saves, over several offers: from the least to the most."""
    asked = read_inputs(_MonthsSaved, inputs)
    parts = [
        saving(
            {
                "offer": name,
                "plan": asked.plan,
                "than": asked.than,
                "months": asked.months,
                "per": "months",
                "price": "low",
            },
            bench,
        )
        for name in asked.offers
    ]
    ends = [part.low for part in parts if part.low is not None]
    steps = tuple(step for part in parts for step in part.steps)
    notes = dict.fromkeys(note for part in parts for note in part.assumptions)
    sold = dict.fromkeys(source for part in parts for source in part.sources)
    return Working(min(ends), max(ends), "months", steps, tuple(notes), tuple(sold))


class _Repeat(Rent):
    orders: tuple[Literal["after_discount", "before_discount"], ...] = ("after_discount", "before_discount")
    first_card: tuple[bool, ...] = (True, False)


def bill_with_repeat(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """A month's share of a bill with the reduction for buying again, over every reading of its order."""
    asked = read_inputs(_Repeat, inputs)
    rent = plain_rent(asked).model_copy(update={"repeat_purchase": True})
    months = max(1, plan_months(rent.plan))
    found: list[Fraction] = []
    steps: list[Step] = []
    notes: list[str] = []
    for order in asked.orders:
        for first in asked.first_card:
            terms = (f"repeat_order={order}", f"repeat_first_card={'true' if first else 'false'}")
            for choice in choices(bench, rent):
                bill = billed(bench, rent, months, choice, terms)
                amount = Fraction(bill.total) / months
                cards = "all cards" if first else "all but the first card"
                text = f"Taken {order.replace('_', ' the ')}, {cards}: {money(bill.total)} / {months} months"
                steps += [*bill.steps, Step(text, money(amount, "a month"))]
                found.append(amount)
    notes.append("The articles do not say in which order reductions are taken, nor whether for every card.")
    return ranged(found, "CNY/month", steps, notes, bench, asked.offer)


LEDGER: Mapping[str, Computation] = {
    "bill": bill_of,
    "saving": saving,
    "months_saved": months_saved,
    "bill_with_repeat": bill_with_repeat,
}
