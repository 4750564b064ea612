"""What single runs, parts of months, early ends and added cards cost, as the real ledger bills them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from sim.claims.bench import Bench
from sim.claims.money import (
    MONTH_HOURS,
    Hours,
    Price,
    Rent,
    billed,
    billed_hours,
    choices,
    find_offer,
    money,
    plain_rent,
    ranged,
    rent_a_month,
)
from sim.claims.working import Computation, Step, Working, read_inputs, shown
from sim.errors import InputError, Problem
from sim.model.base import Strict
from sim.model.contract import PriceChoice
from sim.model.terms import plan_months

__all__ = ["RUNS"]


class _Run(Strict):
    offer: str
    hours: Hours
    """Hours of one run; several are all computed."""
    count: int = Field(default=1, ge=1, le=1_000_000)
    price: PriceChoice | None = None
    list_price: Price | None = None
    month_hours: int = Field(default=MONTH_HOURS, ge=1, le=744)
    utilisation: float = Field(default=1.0, gt=0, le=1)
    """Share of the month in which the card works; the idle rest is paid by the runs."""


def run_cost(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Rent of one run: its hours of a month's rent, or a rental by the hour as the ledger bills it."""
    asked = read_inputs(_Run, inputs)
    return _run(asked, bench)


def _run(asked: _Run, bench: Bench) -> Working:
    offer = find_offer(bench, asked.offer)
    rent = Rent(
        offer=asked.offer,
        count=asked.count,
        plan="hourly" if offer.price.unit == "hour" else "monthly",
        price=asked.price,
        list_price=asked.list_price,
    )
    found: list[Fraction] = []
    steps: list[Step] = []
    notes: list[str] = []
    for choice in choices(bench, rent):
        for hours in asked.hours:
            if rent.plan == "hourly":
                bill = billed_hours(bench, rent, hours, choice)
                steps += bill.steps
                notes += bill.assumptions
                found.append(Fraction(bill.total))
                continue
            month = billed(bench, rent, 1, choice)
            amount = (
                Fraction(month.total) / asked.month_hours / Fraction(str(asked.utilisation)) * _exact(hours)
            )
            text = f"{offer.id}: {money(month.total)} / {asked.month_hours} h x {hours:g} h"
            if asked.utilisation != 1:
                text += f" / {asked.utilisation:g} used"
            steps.append(Step(text, money(amount)))
            found.append(amount)
            notes.append(
                f"The card works {asked.utilisation:.0%} of the month's {asked.month_hours} h; idle time is "
                "paid too, so at half the use a run costs twice as much."
            )
    return ranged(found, "CNY", steps, notes, bench, asked.offer)


class _Runs(Strict):
    of: _Run
    over: _Run


def run_cost_ratio(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """The rent of one run over that of another."""
    asked = read_inputs(_Runs, inputs)
    one, two = _run(asked.of, bench), _run(asked.over, bench)
    steps = [*one.steps, *two.steps]
    ends = []
    for above in sorted({one.low or 0.0, one.high or 0.0}):
        for below in sorted({two.low or 0.0, two.high or 0.0}):
            steps.append(Step(f"{above:,.2f} CNY / {below:,.2f} CNY", shown(above / below, "x")))
            ends.append(above / below)
    notes = tuple(dict.fromkeys((*one.assumptions, *two.assumptions)))
    sold = tuple(dict.fromkeys((*one.sources, *two.sources)))
    return Working(min(ends), max(ends), "x", tuple(steps), notes, sold)


class _Days(Rent):
    days: int = Field(ge=1, le=31)
    prorated: bool = False
    """Whether only the days are paid; the catalogue's plans are whole months."""


def part_of_month(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """What a few days cost on a monthly plan: the whole month, unless days are sold."""
    asked = read_inputs(_Days, inputs)
    found: list[Fraction] = []
    steps: list[Step] = []
    notes: list[str] = []
    for choice in choices(bench, asked):
        bill = billed(bench, plain_rent(asked), 1, choice)
        steps += bill.steps
        amount = Fraction(bill.total)
        if asked.prorated:
            amount = amount * asked.days / 30
            steps.append(Step(f"{money(bill.total)} x {asked.days} / 30 days", money(amount)))
        else:
            notes.append(f"A month is the shortest contract: {asked.days} days cost all of it.")
        notes += bill.assumptions
        found.append(amount)
    return ranged(found, "CNY/month", steps, notes, bench, asked.offer)


class _Refund(Rent):
    used: int = Field(ge=0, le=119)
    """Months used when the contract is given up."""
    rules: tuple[Literal["none", "pro-rata", "re-rate", "deposit-less-discounts"], ...] = (
        "none",
        "pro-rata",
        "re-rate",
        "deposit-less-discounts",
    )


def refund(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """What comes back when a prepaid period is given up early, over the refund rules of real providers."""
    asked = read_inputs(_Refund, inputs)
    whole = plan_months(asked.plan)
    if asked.used >= whole:
        rule = f"must be below the {whole} months of the plan"
        raise InputError(Problem(rule, key="inputs.used", value=asked.used))
    found: list[Fraction] = []
    steps: list[Step] = []
    rent = plain_rent(asked)
    for choice in choices(bench, rent):
        paid = billed(bench, rent.model_copy(update={"refund": "none"}), max(1, asked.used), choice)
        steps += paid.steps
        for rule_name in asked.rules:
            kept = billed(bench, rent.model_copy(update={"refund": rule_name}), max(1, asked.used), choice)
            back = Fraction(paid.total) - Fraction(kept.total)
            text = f"Rule {rule_name}, given up after {asked.used} months: "
            text += f"{money(paid.total)} - {money(kept.total)}"
            steps.append(Step(text, money(back)))
            found.append(back)
    notes = ["The seller states no refund rule: what comes back depends on the contract (`terms.refund`)."]
    return ranged(found, "CNY", steps, notes, bench, asked.offer)


class _Added(Rent):
    after: int = Field(ge=1, le=119)
    """Months after the beginning of the first contract."""
    rules: tuple[Literal["co-term", "monthly"], ...] = ("co-term", "monthly")


def added_card(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """A month's rent of a card that joins a running prepaid contract, over the rules for such cards."""
    asked = read_inputs(_Added, inputs)
    whole = plan_months(asked.plan)
    if asked.after >= whole:
        rule = f"must be below the {whole} months of the plan"
        raise InputError(Problem(rule, key="inputs.after", value=asked.after))
    rent, left = plain_rent(asked), whole - asked.after
    found: list[Fraction] = []
    steps: list[Step] = []
    if "co-term" in asked.rules:
        for choice in choices(bench, rent):
            bill = billed(bench, rent, whole, choice)
            share = Fraction(bill.total) * left / whole
            text = f"co-term: {money(bill.total)} x {left} / {whole} months for the rest of the term"
            steps += [*bill.steps, Step(text, money(share))]
            steps.append(Step(f"{money(share)} / {left} months", money(share / left, "a month")))
            found.append(share / left)
    if "monthly" in asked.rules:
        month = rent_a_month(bench, rent.model_copy(update={"plan": "monthly"}))
        steps += [*month.steps, Step("monthly: a plan of its own", money(month.low, "a month"))]
        found += [month.low, month.high]
    notes = ["Which rule holds is a term of the contract (`terms.added`), to be agreed."]
    return ranged(found, "CNY/month", steps, notes, bench, asked.offer)


def _exact(hours: float) -> Fraction:
    return Fraction(Decimal(str(hours)))


RUNS: Mapping[str, Computation] = {
    "run_cost": run_cost,
    "run_cost_ratio": run_cost_ratio,
    "part_of_month": part_of_month,
    "refund": refund,
    "added_card": added_card,
}
