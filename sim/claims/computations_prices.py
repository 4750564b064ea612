"""Plain facts and prices, matched with the catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from sim.catalog.slices import slice_offer, slices_sold
from sim.claims.bench import Bench
from sim.claims.money import (
    MONTH_HOURS,
    Amounts,
    Price,
    Rent,
    billed,
    choices,
    find_offer,
    in_yuan,
    money,
    rent_a_month,
    sources,
)
from sim.claims.working import Computation, Step, Working, read_inputs, shown
from sim.errors import InputError, Problem
from sim.model.base import Strict
from sim.model.contract import PriceChoice
from sim.model.terms import Plan, plan_months

__all__ = ["PRICES"]


class _ListPrice(Strict):
    offer: str
    count: int = Field(default=1, ge=1, le=1_000_000)
    price: PriceChoice | None = None
    per: Literal["month", "hour"] = "month"
    month_hours: int = Field(default=MONTH_HOURS, ge=1, le=744)


def list_price(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """List price of units, a month or an hour: the catalogue's, over the hours of a month if need be."""
    asked = read_inputs(_ListPrice, inputs)
    offer = find_offer(bench, asked.offer)
    found: list[Fraction] = []
    steps: list[Step] = []
    assumptions: tuple[str, ...] = ()
    for choice in choices(bench, Rent(offer=asked.offer, price=asked.price)):
        price = offer.price.pick(choice)
        text = f"Catalogue {offer.id}: {money(price)} a {offer.price.unit} and unit"
        if offer.price.low != offer.price.high:
            text += f" ({choice} end)"
        amount = Fraction(price) * asked.count
        if asked.count > 1:
            text += f" x {asked.count} units"
        if offer.price.unit != asked.per:
            by_hour = asked.per == "hour"
            amount = amount / asked.month_hours if by_hour else amount * asked.month_hours
            text += f" {'/' if by_hour else 'x'} {asked.month_hours} h"
            assumptions = (f"A month is counted as {asked.month_hours} h (30 days).",)
        steps.append(Step(text, money(amount, f"a{'n' if asked.per == 'hour' else ''} {asked.per}")))
        found.append(amount)
    unit = "CNY/month" if asked.per == "month" else "CNY/h"
    return Working(float(min(found)), float(max(found)), unit, tuple(steps), assumptions, sources(offer))


class _Ladder(Strict):
    offers: tuple[str, ...] = Field(min_length=1)


def price_ladder(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Monthly list prices of several offers: from the lowest of all to the highest."""
    asked = read_inputs(_Ladder, inputs)
    offers = [find_offer(bench, name, "inputs.offers") for name in asked.offers]
    ends = [(rent_a_month(bench, Rent(offer=offer.id)), offer) for offer in offers]
    steps = [Step(f"Catalogue {offer.id}", _band(amounts)) for amounts, offer in ends]
    low, high = min(a.low for a, _ in ends), max(a.high for a, _ in ends)
    steps.append(Step("Lowest to highest", f"{money(low)} to {money(high, 'a month')}"))
    return Working(float(low), float(high), "CNY/month", tuple(steps), (), sources(*offers))


def _band(amounts: Amounts) -> str:
    if amounts.low == amounts.high:
        return money(amounts.low, "a month")
    return f"{money(amounts.low)} to {money(amounts.high, 'a month')}"


class _Two(Strict):
    of: Rent
    over: Rent
    of_price: Price | None = None
    """Another list price of a unit of `of`."""
    over_price: Price | None = None
    same_end: bool = False
    """Compare low with low and high with high only, instead of every end with every other."""


class _Ratio(_Two):
    shown_as: Literal["x", "%"] = "x"
    per: Literal["unit", "card"] = "unit"


def price_ratio(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """One rent over another, both a month: as a factor, or in per cent of the other."""
    asked = read_inputs(_Ratio, inputs)
    one, two, steps, notes = _both(asked, bench)
    cards = Fraction(1)
    if asked.per == "card":
        cards = Fraction(_cards(bench, asked.of), _cards(bench, asked.over))
        text = f"Cards: {_cards(bench, asked.of)} and {_cards(bench, asked.over)}"
        steps.append(Step(text, f"a card's rent is compared, / {shown(float(cards))}"))
    found: list[Fraction] = []
    factor = 100 if asked.shown_as == "%" else 1
    for above, below in _pairs(one, two, asked.same_end):
        ratio = above / below / cards * factor
        steps.append(Step(f"{money(above)} / {money(below)}", shown(float(ratio), asked.shown_as)))
        found.append(ratio)
    sold = sources(find_offer(bench, asked.of.offer), find_offer(bench, asked.over.offer))
    return Working(float(min(found)), float(max(found)), asked.shown_as, tuple(steps), notes, sold)


def _cards(bench: Bench, rent: Rent) -> int:
    return rent.count * find_offer(bench, rent.offer).gpus_per_unit


def price_difference(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """One rent less another, both a month."""
    asked = read_inputs(_Two, inputs)
    one, two, steps, notes = _both(asked, bench)
    found: list[Fraction] = []
    for above, below in _pairs(one, two, asked.same_end):
        steps.append(Step(f"{money(above)} - {money(below)}", money(above - below, "a month")))
        found.append(above - below)
    sold = sources(find_offer(bench, asked.of.offer), find_offer(bench, asked.over.offer))
    return Working(float(min(found)), float(max(found)), "CNY/month", tuple(steps), notes, sold)


def _both(asked: _Two, bench: Bench) -> tuple[list[Fraction], list[Fraction], list[Step], tuple[str, ...]]:
    rents = []
    for rent, price in ((asked.of, asked.of_price), (asked.over, asked.over_price)):
        changed = rent if price is None else rent.model_copy(update={"list_price": price})
        rents.append(rent_a_month(bench, changed))
    one, two = rents
    steps = [*one.steps, *(step for step in two.steps if step not in one.steps)]
    notes = tuple(dict.fromkeys((*one.assumptions, *two.assumptions)))
    return _ends(one), _ends(two), steps, notes


def _ends(amounts: Amounts) -> list[Fraction]:
    return [amounts.low] if amounts.low == amounts.high else [amounts.low, amounts.high]


def _pairs(
    one: Sequence[Fraction], two: Sequence[Fraction], same_end: bool
) -> list[tuple[Fraction, Fraction]]:
    if same_end and len(one) == len(two):
        return list(zip(one, two, strict=True))
    return [(above, below) for above in one for below in two]


class _Option(Strict):
    offer: str
    option: str


def option_price(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """What an option adds to a month's rent."""
    asked = read_inputs(_Option, inputs)
    offer = find_offer(bench, asked.offer)
    if asked.option not in offer.options:
        rule = f"no such option is sold with {offer.id}"
        known = tuple(offer.options)
        raise InputError(Problem(rule, key="inputs.option", value=asked.option, known=known))
    option = offer.options[asked.option]
    with_it = rent_a_month(bench, Rent(offer=offer.id, options=(asked.option,)))
    without = rent_a_month(bench, Rent(offer=offer.id))
    low, high = with_it.low - without.low, with_it.high - without.high
    steps = (
        Step(f"Bill of a month with {asked.option} ({option.description})", money(with_it.low)),
        Step("Bill of a month without", money(without.low)),
        Step(f"{money(with_it.low)} - {money(without.low)}", money(low, "a month")),
    )
    return Working(float(low), float(high), "CNY/month", steps, (), sources(offer))


class _OneOffer(Strict):
    offer: str


def repeat_reduction(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """What buying again takes off a month's rent of one card, by the bills with it and without."""
    offer = find_offer(bench, read_inputs(_OneOffer, inputs).offer)
    if offer.repeat_purchase is None:
        step = Step(f"Catalogue {offer.id}", "no reduction for buying again")
        return Working(0.0, 0.0, "CNY/month", (step,), (), sources(offer))
    count = 1
    without = rent_a_month(bench, Rent(offer=offer.id, count=count))
    with_it = rent_a_month(bench, Rent(offer=offer.id, count=count, repeat_purchase=True))
    cards = count * offer.gpus_per_unit
    saved = (without.low - with_it.low) / cards
    text = f"({money(without.low)} - {money(with_it.low)}) / {cards} cards"
    if cards == 1:
        text = f"{money(without.low)} - {money(with_it.low)}"
    steps = (*without.steps, *with_it.steps, Step(text, money(saved, "a month and card")))
    return Working(float(saved), float(saved), "CNY/month", steps, with_it.assumptions, sources(offer))


class _Discount(Strict):
    offers: tuple[str, ...] = Field(min_length=1)
    plan: Plan
    shown_as: Literal["% of list", "% off"] = "% of list"


def discount(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """What a plan costs in per cent of the list price, or off it: one period's bill over its list."""
    asked = read_inputs(_Discount, inputs)
    found: list[Fraction] = []
    steps: list[Step] = []
    offers = [find_offer(bench, name, "inputs.offers") for name in asked.offers]
    assumed: list[str] = []
    months = plan_months(asked.plan)
    for offer in offers:
        if asked.plan not in offer.plans:
            rule, known = f"{offer.id} is not sold under this plan", tuple(offer.plans)
            raise InputError(Problem(rule, key="inputs.plan", value=asked.plan, known=known))
        listed = in_yuan(offer).price.low * months
        paid = billed(bench, Rent(offer=offer.id, plan=asked.plan), months, "low").total
        share = Fraction(paid) / Fraction(listed) * 100
        value = share if asked.shown_as == "% of list" else 100 - share
        text = f"{offer.id}: {money(paid)} / ({money(offer.price.low)} x {months} months)"
        if asked.shown_as == "% off":
            text = f"1 - {text}"
        steps.append(Step(text, shown(float(value), asked.shown_as)))
        found.append(value)
        if offer.plans[asked.plan].assumed:
            assumed.append(
                f"{offer.id}: the discount is assumed in the catalogue; its source does not state it."
            )
    return Working(
        float(min(found)), float(max(found)), asked.shown_as, tuple(steps), tuple(assumed), sources(*offers)
    )


class _Slice(Strict):
    offer: str
    slices: int = Field(ge=1, le=7)
    price: PriceChoice | None = None
    month_hours: int = Field(default=MONTH_HOURS, ge=1, le=744)


def slice_price(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """A month of a MIG slice of so many of the card's seven compute slices."""
    asked = read_inputs(_Slice, inputs)
    offer = find_offer(bench, asked.offer)
    sold = slices_sold(offer, bench.catalog.mig_profiles)
    fitting = [profile for profile in sold.values() if profile.compute_slices == asked.slices]
    if not fitting:
        rule, known = (
            "no slice of this size is sold",
            tuple(sorted({str(p.compute_slices) for p in sold.values()})),
        )
        raise InputError(Problem(rule, key="inputs.slices", value=asked.slices, known=known))
    part = slice_offer(offer, fitting[0])
    found: list[Fraction] = []
    steps: list[Step] = []
    for choice in choices(bench, Rent(offer=asked.offer, price=asked.price)):
        amount = Fraction(part.price.pick(choice)) * asked.month_hours
        text = (
            f"{fitting[0].profile}: {money(offer.price.pick(choice))} an hour of the whole card x "
            f"{asked.slices}/7 = {part.price.pick(choice):f} CNY; x {asked.month_hours} h"
        )
        steps.append(Step(text, money(amount, "a month")))
        found.append(amount)
    assumptions = (
        "A slice costs the card's price times its compute slices over seven; no seller names a price.",
        f"A month is counted as {asked.month_hours} h (30 days).",
    )
    return Working(
        float(min(found)), float(max(found)), "CNY/month", tuple(steps), assumptions, sources(offer)
    )


PRICES: Mapping[str, Computation] = {
    "list_price": list_price,
    "price_ladder": price_ladder,
    "price_ratio": price_ratio,
    "price_difference": price_difference,
    "option_price": option_price,
    "repeat_reduction": repeat_reduction,
    "discount": discount,
    "slice_price": slice_price,
}
