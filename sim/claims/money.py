"""What rents cost, by the catalogue and the real ledger, with the lines that lead there."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from sim.catalog.slices import slice_offer, slices_sold
from sim.claims.bench import Bench
from sim.claims.working import Step, Working
from sim.errors import InputError, Problem
from sim.experiments.quote import Asked, Quote, asked_question, quote
from sim.model.base import LARGEST_AMOUNT, Strict
from sim.model.contract import Offer, PriceChoice
from sim.model.ledger import Ledger
from sim.model.terms import Plan, RefundRule, plan_months
from sim.units import from_hours

__all__ = [
    "MONTH_HOURS",
    "START",
    "Amounts",
    "Bill",
    "Hours",
    "Rent",
    "billed",
    "billed_hours",
    "choices",
    "find_offer",
    "in_yuan",
    "money",
    "plain_rent",
    "ranged",
    "rent_a_month",
    "sources",
]

CURRENCY = "CNY"
"""Of all statements."""
START = "2026-01-01"
"""First day of every contract (assumed): a year without a 29 February."""
MONTH_HOURS = 720
"""Hours of a month, as the articles count: 30 days."""


def _list(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else (value,)


Hours = Annotated[
    tuple[Annotated[float, Field(gt=0, le=744)], ...], BeforeValidator(_list), Field(min_length=1)
]
"""One number of hours or several; all of them are computed."""
Price = Annotated[Decimal, Field(gt=0, le=LARGEST_AMOUNT)]
Factor = Annotated[Decimal, Field(gt=0, le=1)]


class Rent(Strict):
    """Cards under a contract."""

    offer: str
    """Id of the catalogue; of a slice as h100-mig/1g.10gb."""
    count: int = Field(default=1, ge=1, le=1_000_000)
    """Units of the offer."""
    plan: Plan = "monthly"
    price: PriceChoice | None = None
    """End of a published range of prices; default: both ends, and a range as the answer."""
    list_price: Price | None = None
    """Another list price of a unit, as a seller says it; default: the catalogue's."""
    discount: Factor | None = None
    """Another factor of the plan on the list price; default: the catalogue's."""
    options: tuple[str, ...] = ()
    repeat_purchase: bool = False
    refund: RefundRule | None = None


@dataclass(frozen=True, slots=True)
class Bill:
    """What a rent costs, and the ledger's lines as a calculator would repeat them."""

    total: Decimal
    steps: tuple[Step, ...]
    assumptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Amounts:
    """The same amount at both ends of a range of prices; equal for one price."""

    low: Fraction
    high: Fraction
    steps: tuple[Step, ...]
    assumptions: tuple[str, ...]


def money(amount: Decimal | Fraction, per: str = "") -> str:
    """`2,800.00 CNY a month`: to the cent, small amounts to a hundredth of it where they need it."""
    exact = Fraction(amount)
    digits = 2 if abs(exact) >= 100 or exact * 100 == round(exact * 100) else 4
    return f"{float(exact):,.{digits}f} CNY{f' {per}' if per else ''}"


def find_offer(bench: Bench, name: str, key: str = "inputs.offer") -> Offer:
    """An offer of the catalogue, or a slice of it. InputError with the known names."""
    base, _, profile = name.partition("/")
    offers = bench.catalog.offers
    if base not in offers:
        rule = "the offer is not in the catalogue"
        raise InputError(Problem(rule, key=key, value=name, known=tuple(offers)))
    if not profile:
        return offers[base]
    sold = slices_sold(offers[base], bench.catalog.mig_profiles)
    if profile not in sold:
        rule = f"{base} is not sold in this MIG profile"
        raise InputError(Problem(rule, key=key, value=profile, known=tuple(sold)))
    return slice_offer(offers[base], sold[profile])


def in_yuan(offer: Offer, key: str = "inputs.offer") -> Offer:
    """The same offer. InputError where its prices are in another currency: statements are checked in CNY."""
    if offer.currency != CURRENCY:
        rule = f"{offer.id} is priced in {offer.currency}, statements are checked in {CURRENCY}"
        raise InputError(Problem(rule, key=key, value=offer.currency))
    return offer


def sources(*offers: Offer) -> tuple[str, ...]:
    """Where the prices of offers come from."""
    return tuple(dict.fromkeys(f"catalogue {o.id} ({o.status}, read {o.date}): {o.source}" for o in offers))


def choices(bench: Bench, rent: Rent) -> tuple[PriceChoice, ...]:
    """The ends of the published price to compute: one where it is one price, or one is asked for."""
    offer = find_offer(bench, rent.offer)
    if rent.list_price is None:
        in_yuan(offer)
    if rent.price is not None:
        return (rent.price,)
    if rent.list_price is not None or offer.price.low == offer.price.high:
        return ("low",)
    return ("low", "high")


def billed(bench: Bench, rent: Rent, months: int, choice: PriceChoice, terms: Sequence[str] = ()) -> Bill:
    """Everything that is paid if the cards are rented for so many months and then given up."""

    def make() -> Bill:
        return _bill(_quoted(bench, rent, months, choice, terms).ledger)

    return bench.once(("billed", rent.model_dump_json(), months, choice, tuple(terms)), make)


def billed_hours(bench: Bench, rent: Rent, hours: float, choice: PriceChoice) -> Bill:
    """What one rental by the hour costs that lasts so many hours."""

    def make() -> Bill:
        asked = _question(bench, rent, 1, choice, ())
        scenario = asked.scenario
        strategy = scenario.strategies[0]
        lease = strategy.leases[0].model_copy(
            update={"end": scenario.local_time(from_hours(hours)).replace(tzinfo=None)}
        )
        changed = scenario.model_copy(
            update={"strategies": (strategy.model_copy(update={"leases": (lease,)}),)}
        )
        return _bill(quote(dataclasses.replace(asked, scenario=changed), 0).ledger)

    return bench.once(("hours", rent.model_dump_json(), hours, choice), make)


def rent_a_month(bench: Bench, rent: Rent, month_hours: int = MONTH_HOURS) -> Amounts:
    """CNY a month if whole periods are used: one period's bill over its months, or hours of a month."""
    offer = find_offer(bench, rent.offer)
    hourly = offer.price.unit == "hour"
    found: list[Fraction] = []
    steps: list[Step] = []
    assumptions: list[str] = []
    for choice in choices(bench, rent):
        if hourly:
            price = rent.list_price or offer.price.pick(choice)
            amount = Fraction(price) * month_hours * rent.count
            text = f"{rent.offer}: {_units(rent.count)}{money(price)} an hour x {month_hours} h"
            assumptions.append(f"A month is counted as {month_hours} h (30 days), all of them rented.")
        else:
            months = plan_months(rent.plan)
            bill = billed(bench, rent, months, choice)
            amount = Fraction(bill.total) / months
            steps += bill.steps
            assumptions += bill.assumptions
            text = f"{rent.offer}, {rent.plan}: {money(bill.total)} / {months} months"
        if hourly or plan_months(rent.plan) > 1:
            steps.append(Step(text, money(amount, "a month")))
        found.append(amount)
    return Amounts(min(found), max(found), tuple(steps), tuple(dict.fromkeys(assumptions)))


def plain_rent(asked: Rent) -> Rent:
    """The rent alone, without the keys that a computation adds: what bills are kept under."""
    return Rent.model_validate({name: getattr(asked, name) for name in Rent.model_fields})


def ranged(
    found: Sequence[Fraction],
    unit: str,
    steps: Iterable[Step],
    notes: Iterable[str],
    bench: Bench,
    offer: str,
) -> Working:
    """A working of all amounts that were found: from the least to the most."""
    low, high = float(min(found)), float(max(found))
    kept, said = tuple(dict.fromkeys(steps)), tuple(dict.fromkeys(notes))
    return Working(low, high, unit, kept, said, sources(find_offer(bench, offer)))


def _units(count: int) -> str:
    return "" if count == 1 else f"{count} x "


def _quoted(bench: Bench, rent: Rent, months: int, choice: PriceChoice, terms: Sequence[str]) -> Quote:
    return quote(_question(bench, rent, months, choice, terms), 0)


def _question(bench: Bench, rent: Rent, months: int, choice: PriceChoice, terms: Sequence[str]) -> Any:
    find_offer(bench, rent.offer)
    agreed = list(terms)
    if rent.discount is not None:
        agreed.append(f"discounts.{rent.plan}={rent.discount}")
    if rent.refund is not None:
        agreed.append(f"refund.rule={rent.refund}")
    asked = Asked(
        rent.offer,
        rent.count,
        rent.plan,
        START,
        months,
        rent.options,
        rent.repeat_purchase,
        tuple(agreed),
        None if rent.list_price is None else str(rent.list_price),
    )
    try:
        return asked_question(asked, choice, bench.catalog)
    except InputError as error:
        raise InputError(_as_input(problem) for problem in error.problems) from None


def _as_input(problem: Problem) -> Problem:
    """A problem of an option of `quote` at the key of a statement that stands for it."""
    name = (problem.key or "").removeprefix("--").replace("-", "_")
    key = {"option": "options", "term": "discount"}.get(name.split(" ")[0], name)
    return dataclasses.replace(problem, key=f"inputs.{key}" if key else "inputs")


def _bill(ledger: Ledger) -> Bill:
    """The ledger's paid lines, equal ones together: twelve equal months are one step."""
    lines: dict[str, list[Decimal]] = {}
    for charge in ledger.charges:
        if not charge.sunk:
            # The rule is the plan and its dates, a colon, and the sum; dates would keep months apart.
            head, _, formula = charge.rule.partition(": ")
            text = f"{charge.offer}, {head.split(',')[0]}: {formula.partition(' = ')[0] or head}"
            lines.setdefault(text, []).append(charge.billed_cost)
    steps = [
        Step(text if len(costs) == 1 else f"{text}, {len(costs)} times", money(sum(costs, Decimal(0))))
        for text, costs in lines.items()
    ]
    total = sum((charge.billed_cost for charge in ledger.charges if not charge.sunk), Decimal("0.00"))
    return Bill(total, tuple(steps), _short(ledger.assumptions))


def _short(assumptions: Iterable[str]) -> tuple[str, ...]:
    """What is assumed, without what the source states and what nobody asked for."""
    plain = ("as the source states", "no reduction for repeat purchase")
    kept = (text for text in assumptions if not any(words in text for words in plain))
    return tuple(dict.fromkeys(text.replace("as the scenario says", "as stated") for text in kept))
