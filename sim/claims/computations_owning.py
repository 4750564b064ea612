"""Power, electricity and owning, by the room that computes what a year of owning costs."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from sim.billing.owning import HOURS_OF_YEAR, Figure, Owning, OwningCost, own
from sim.billing.owning_presets import PRESETS
from sim.claims.bench import Bench
from sim.claims.money import Hours, Rent, billed, choices, find_offer, money, sources
from sim.claims.working import Computation, Step, Working, read_inputs, shown
from sim.errors import InputError, Problem
from sim.model.base import Strict
from sim.model.hardware import Gpu
from sim.model.terms import plan_months

__all__ = ["OWNING"]

_PRICE = Decimal("0.75")
"""CNY per kWh (assumed): the articles' own figures imply 0.71 to 0.76."""


def _gpu(bench: Bench, name: str) -> Gpu:
    if name not in bench.catalog.gpus:
        rule, known = "the card is not in the catalogue", tuple(bench.catalog.gpus)
        raise InputError(Problem(rule, key="inputs.gpu", value=name, known=known))
    return bench.catalog.gpus[name]


class _RunPower(Strict):
    gpu: str
    hours: Hours
    power_price: Decimal = Field(default=_PRICE, gt=0, le=100)


def electricity_of_run(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Electricity of one run on one card at its full rated power."""
    asked = read_inputs(_RunPower, inputs)
    gpu = _gpu(bench, asked.gpu)
    kilowatts = Fraction(str(gpu.tdp_w)) / 1000
    found: list[Fraction] = []
    steps: list[Step] = []
    for hours in asked.hours:
        cost = kilowatts * Fraction(str(hours)) * Fraction(asked.power_price)
        text = f"{float(kilowatts):g} kW x {hours:g} h x {asked.power_price:f} CNY a kWh"
        steps.append(Step(text, money(cost)))
        found.append(cost)
    notes = (
        f"The card draws its rated {gpu.tdp_w:g} W all the time; host and cooling are left out.",
        f"A kWh costs {asked.power_price:f} CNY.",
    )
    sold = (f"catalogue {gpu.id}: {gpu.source}",)
    return Working(float(min(found)), float(max(found)), "CNY", tuple(steps), notes, sold)


class _Machine(Strict):
    gpu: str
    cards: int = Field(ge=1, le=10_000)
    host_kw: tuple[Decimal, Decimal] = (Decimal("0.8"), Decimal("3.3"))
    """Processors, memory, disks, fans and switches of the machine, from a frugal to a rated one, kW."""


def machine_power(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Draw of a machine at full load: its cards at their rated power and its host."""
    asked = read_inputs(_Machine, inputs)
    gpu = _gpu(bench, asked.gpu)
    cards = Fraction(str(gpu.tdp_w)) * asked.cards / 1000
    steps = [Step(f"{asked.cards} cards x {gpu.tdp_w:g} W", shown(float(cards), "kW"))]
    found = []
    for host in asked.host_kw:
        whole = cards + Fraction(host)
        steps.append(Step(f"{float(cards):g} kW + {host:f} kW of the host", shown(float(whole), "kW")))
        found.append(whole)
    low, high = asked.host_kw
    words = (
        f"The host draws {low:f} to {high:f} kW beside its cards (assumed); the upper end makes 6.5 kW of "
    )
    notes = (f"{words}eight 400 W cards, the rated power of the vendor's own machine.",)
    sold = (f"catalogue {gpu.id}: {gpu.source}",)
    return Working(float(min(found)), float(max(found)), "kW", tuple(steps), notes, sold)


class _Year(Strict):
    kw: tuple[Decimal, ...] = Field(min_length=1)
    pue: Decimal = Field(default=Decimal("1.3"), ge=1, le=5)
    load: Decimal = Field(default=Decimal(1), gt=0, le=1)
    power_price: Decimal = Field(default=_PRICE, gt=0, le=100)


def electricity_of_year(inputs: Mapping[str, Any], bench: Bench) -> Working:  # noqa: ARG001
    """Electricity of a year, by the power line of owning."""
    asked = read_inputs(_Year, inputs)
    found: list[Decimal] = []
    steps: list[Step] = []
    for kilowatts in asked.kw:
        inputs_of = Owning(
            power_kw=Figure(value=kilowatts),
            load=Figure(value=asked.load),
            pue=Figure(value=asked.pue),
            power_price=Figure(value=asked.power_price),
        )
        cost = own(inputs_of).parts["power"]
        text = (
            f"{kilowatts:f} kW x load {asked.load:f} x {HOURS_OF_YEAR:,} h x PUE {asked.pue:f} x "
            f"{asked.power_price:f} CNY a kWh"
        )
        steps.append(Step(text, money(cost, "a year")))
        found.append(cost)
    notes = (
        f"PUE {asked.pue:f}: cooling and losses of the site over the draw of the machine.",
        f"A kWh costs {asked.power_price:f} CNY.",
    )
    return Working(float(min(found)), float(max(found)), "CNY/year", tuple(steps), notes)


class _Owned(Strict):
    preset: Literal["illustration", "article-002"] = "illustration"
    rent: Rent
    capital: Decimal | None = Field(default=None, gt=0, le=10**12)
    """Purchase price of the machine, CNY; default: the preset's."""


def owning_against_rent(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """How much dearer a year of owning is than a year's rent, per cent of the rent."""
    asked = read_inputs(_Owned, inputs)
    owning = PRESETS[asked.preset]
    if asked.capital is not None:
        owning = owning.model_copy(update={"capital": Figure(value=asked.capital)})
    cost = own(owning)
    steps = _owning_steps(owning, cost)
    months = plan_months(asked.rent.plan)
    found: list[Fraction] = []
    for choice in choices(bench, asked.rent):
        bill = billed(bench, asked.rent, max(12, months), choice)
        year = Fraction(bill.total) * 12 / max(12, months)
        share = (Fraction(cost.total) / year - 1) * 100
        steps += bill.steps
        text = f"{money(cost.total)} / {money(year)} - 1"
        steps.append(Step(text, shown(float(share), "%")))
        found.append(share)
    years, worth, rate = owning.life_years.value, owning.residual.value, owning.rate.value
    bought = f"A machine bought for {money(owning.capital.value)}, used {years:f} years and worth "
    bought += f"{worth:.0%} of it then, money at {rate:.0%} a year (assumed, no market prices)."
    notes = (
        bought,
        f"Power, hosting, staff, spares and network as in the program's preset {asked.preset} (assumed).",
    )
    sold = sources(find_offer(bench, asked.rent.offer))
    return Working(float(min(found)), float(max(found)), "%", tuple(steps), notes, sold)


def _owning_steps(owning: Owning, cost: OwningCost) -> list[Step]:
    """The parts of a year of owning, each with its formula."""
    price, worth = money(owning.capital.value), money(owning.residual.value * owning.capital.value)
    grown = f"(1 + {owning.rate.value:f})^{owning.life_years.value:f}"
    formulas = {
        "capital recovery": (
            f"({price} - {worth} / {grown}) x {owning.rate.value:f} x {grown} / ({grown} - 1)"
        ),
        "power": (
            f"{owning.power_kw.value:f} kW x {owning.load.value:f} x {HOURS_OF_YEAR:,} h x "
            f"{owning.pue.value:f} x {owning.power_price.value:f} CNY"
        ),
        "spares": f"{owning.spares.value:f} x {price}",
    }
    steps = [
        Step(f"Owning, {part}: {formulas[part]}" if part in formulas else f"Owning, {part}", money(amount))
        for part, amount in cost.parts.items()
    ]
    return [*steps, Step("Owning, sum of these", money(cost.total, "a year"))]


OWNING: Mapping[str, Computation] = {
    "electricity_of_run": electricity_of_run,
    "machine_power": machine_power,
    "electricity_of_year": electricity_of_year,
    "owning_against_rent": owning_against_rent,
}
