"""What is offered, and what is not: features and whole offers compared with the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from sim.claims.bench import Bench
from sim.claims.money import Rent, find_offer, in_yuan, money, rent_a_month, sources
from sim.claims.working import Computation, Step, Working, read_inputs, shown
from sim.errors import InputError, Problem
from sim.model.base import Strict

__all__ = ["OFFERS"]


class _Whole(Strict):
    singles: Rent
    whole: Rent


def whole_is_dearer(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Whether a whole machine always costs more than single cards, at every end of their prices."""
    asked = read_inputs(_Whole, inputs)
    one, two = rent_a_month(bench, asked.singles), rent_a_month(bench, asked.whole)
    dearer = two.low > one.high
    steps = (
        *one.steps,
        *two.steps,
        Step(f"{money(two.low)} / {money(one.high)}", f"{shown(float(two.low / one.high), 'x')}, at least"),
        Step(f"{money(two.high)} / {money(one.low)}", f"{shown(float(two.high / one.low), 'x')}, at most"),
        Step("The whole machine costs more at every end of the prices", "yes" if dearer else "no"),
    )
    notes = tuple(dict.fromkeys((*one.assumptions, *two.assumptions)))
    sold = sources(find_offer(bench, asked.singles.offer), find_offer(bench, asked.whole.offer))
    return Working(None, None, "", steps, notes, sold, holds=dearer)


class _Cheapest(Strict):
    gpu: str
    cards: int = Field(ge=1)
    against: Rent


def cheapest_with_card(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Whether so many cards of one kind can be had for less than another rent, whatever is offered."""
    asked = read_inputs(_Cheapest, inputs)
    if asked.gpu not in bench.catalog.gpus:
        rule, known = "the card is not in the catalogue", tuple(bench.catalog.gpus)
        raise InputError(Problem(rule, key="inputs.gpu", value=asked.gpu, known=known))
    other = rent_a_month(bench, asked.against)
    steps: list[Step] = []
    least: tuple[Fraction, str] | None = None
    offers = [
        offer for offer in bench.catalog.offers.values() if offer.gpu == asked.gpu and offer.form != "owned"
    ]
    for offer in offers:
        units = -(-asked.cards // offer.gpus_per_unit)
        rent = rent_a_month(bench, Rent(offer=offer.id, count=units))
        text = f"{offer.id}: {units} x {offer.gpus_per_unit} cards for {asked.cards}"
        steps.append(Step(text, f"from {money(rent.low, 'a month')}"))
        if least is None or rent.low < least[0]:
            least = (rent.low, offer.id)
    steps += other.steps
    if least is None:
        steps.append(Step(f"{asked.gpu} in the catalogue", "no offer"))
        return Working(None, None, "", tuple(steps), other.assumptions, (), holds=False)
    cheaper = least[0] < other.low
    words = "cheaper" if cheaper else "dearer"
    text = f"{least[1]} against {asked.against.count} x {asked.against.offer}"
    value = f"{money(least[0])} against {money(other.low, 'a month')}: {words}"
    steps.append(Step(text, value))
    sold = sources(*offers, find_offer(bench, asked.against.offer))
    return Working(None, None, "", tuple(steps), other.assumptions, sold, holds=cheaper)


class _Has(Strict):
    offer: str
    gpu: str | None = None
    gpus_per_unit: int | None = None
    vcpu: int | None = None
    ram_gb: int | None = None
    wan_mbps: float | None = None
    disk_read_gb_s: float | None = None
    network: str | None = None
    link: str | None = None
    plans: tuple[str, ...] | None = None
    price: Decimal | None = None


def offer_has(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Whether an offer of the catalogue has these features; every one is compared."""
    asked = read_inputs(_Has, inputs)
    offer = find_offer(bench, asked.offer)
    steps: list[Step] = []
    for key in asked.model_fields_set - {"offer"}:
        wanted = getattr(asked, key)
        actual: Any = tuple(offer.plans) if key == "plans" else getattr(offer, key)
        if key == "price":
            actual, same = in_yuan(offer).price.low, offer.price.low == wanted
        else:
            same = set(wanted) <= set(actual) if key == "plans" else actual == wanted
        text = f"{key} of {offer.id} in the catalogue: {_plain(actual)}; stated: {_plain(wanted)}"
        steps.append(Step(text, "agrees" if same else "differs"))
    if not steps:
        known = tuple(name for name in _Has.model_fields if name != "offer")
        raise InputError(Problem("names at least one feature to compare", key="inputs", known=known))
    steps.sort(key=lambda step: step.text)
    agree = all(step.value == "agrees" for step in steps)
    last = Step(
        f"{len(steps)} feature{'s' * (len(steps) > 1)} of {offer.id} compared",
        "all agree" if agree else "not all agree",
    )
    return Working(None, None, "", (*steps, last), (), sources(offer), holds=agree)


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


class _Says(Strict):
    offer: str
    field: Literal["disks", "site", "notes", "name", "status"]
    text: str = Field(min_length=1)


def offer_says(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Whether the catalogue's words on an offer contain these, which the seller's page gave."""
    asked = read_inputs(_Says, inputs)
    offer = find_offer(bench, asked.offer)
    words = str(getattr(offer, asked.field))
    found = asked.text.casefold() in words.casefold()
    text = f"{asked.field} of {offer.id} in the catalogue: {words or 'nothing'}; stated: {asked.text}"
    step = Step(text, "agrees" if found else "is not there")
    return Working(None, None, "", (step,), (), sources(offer), holds=found)


class _Since(Strict):
    since: int = Field(ge=1000, le=9999)
    now: int = Field(ge=1000, le=9999)


def years_since(inputs: Mapping[str, Any], bench: Bench) -> Working:  # noqa: ARG001
    """Years from one year to another."""
    asked = read_inputs(_Since, inputs)
    years = asked.now - asked.since
    step = Step(f"{asked.now} - {asked.since}", f"{years} years")
    return Working(float(years), float(years), "years", (step,))


OFFERS: Mapping[str, Computation] = {
    "whole_is_dearer": whole_is_dearer,
    "cheapest_with_card": cheapest_with_card,
    "offer_has": offer_has,
    "offer_says": offer_says,
    "years_since": years_since,
}
