"""What committed card-hours would cost by the hour: the price that savings are held against.

A lease whose own offer can be rented by the hour under its terms, or whose contract falls back to hours, has
that price. Most offers by the month have none, and the price of another offer is not taken unasked: its
cards differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from sim.billing.contracts import Contract, lease_contract
from sim.billing.hourprice import hour_price
from sim.billing.rounding import as_decimal, show_money
from sim.billing.terms import find_plan
from sim.errors import InputError
from sim.model.contract import Offer, PriceChoice
from sim.model.said import said
from sim.model.scenario import Scenario, Strategy

__all__ = ["Asked", "OnDemand", "on_demand_prices"]

Asked: TypeAlias = Decimal | Mapping[str, Decimal] | None
"""Price on demand that somebody asks for: currency of the scenario per card-hour, as it would be a cost. One
for all, or by id of offer."""


@dataclass(frozen=True, slots=True)
class OnDemand:
    """Price of a card-hour by lease (`lease 0`), as a cost: without tax that comes back, with other tax."""

    prices: Mapping[str, Fraction | None]
    """None: the lease's offer cannot be rented by the hour."""
    sentence: str
    """Where the prices come from, or why there are none; for people."""

    def cost(self, hours: Mapping[str, Decimal]) -> Decimal | None:
        """Cost of so many card-hours by lease; None where a lease with hours has no price."""
        total = Fraction(0)
        for lease, number in hours.items():
            price = self.prices.get(lease)
            if number and price is None:
                return None
            total += Fraction(number) * (price or 0)
        return as_decimal(total)


def on_demand_prices(
    scenario: Scenario,
    strategy: Strategy,
    offers: Mapping[str, Offer],
    choice: PriceChoice | None = None,
    asked: Asked = None,
) -> OnDemand:
    """The price by the hour of every lease: the one that is asked for, else its offer's own if it has one.

    `asked`: one price for all, or by id of offer; an offer without has its own. InputError as for any bill.
    """
    leases = [f"lease {index}" for index in range(len(strategy.leases))]
    if isinstance(asked, Decimal):
        price = f"{show_money(asked)} {scenario.currency} a card-hour, as asked for"
        return OnDemand(dict.fromkeys(leases, Fraction(asked)), f"Committed hours on demand: {price}")
    prices: dict[str, Fraction | None] = {}
    shown, missing = dict[str, None](), dict[str, None]()
    for index, label in enumerate(leases):
        contract = lease_contract(scenario, strategy, index, offers, choice)
        told = (asked or {}).get(contract.offer.id)
        prices[label] = price_of = _own(contract, scenario) if told is None else Fraction(told)
        if strategy.leases[index].plan == "hourly" and not strategy.leases[index].converts:
            continue  # it has no committed hours
        if price_of is None:
            missing[contract.offer.id] = None
        else:
            text = f"{contract.offer.id} {show_money(price_of)}{'' if told is None else ' as asked for'}"
            shown[text] = None
    return OnDemand(prices, _told(shown, missing, scenario.currency))


def _told(shown: Iterable[str], missing: Iterable[str], currency: str) -> str:
    """Which prices were taken, and what has none."""
    found, none = "; ".join(shown), ", ".join(missing)
    texts = []
    if found:
        text = said(
            "Committed hours on demand, {currency} a card-hour: {names}", currency=currency, names=found
        )
        texts.append(text)
    if none:
        texts.append(
            said("No price on demand to compare with: {names} cannot be rented by the hour", names=none)
        )
    return ". ".join(texts) or said("Nothing is committed: all hours are by the hour already")


def _own(contract: Contract, scenario: Scenario) -> Fraction | None:
    """Price of a card-hour of the lease's own offer by the hour, as a cost; None where it is not sold so."""
    falls_back = contract.terms.expiry == "hourly" and contract.offer.price.unit != "hour"
    if not falls_back:
        try:
            find_plan(contract.offer, contract.terms, "hourly", contract.key)
        except InputError:
            return None
    begins = contract.begins or scenario.start
    price = hour_price(contract, begins, begins, fallen_back=falls_back, key=contract.key)
    card = price.listed * Fraction(price.multiplier) / contract.offer.gpus_per_unit
    tax = contract.terms.tax
    if tax is None or tax.included != tax.creditable:
        return card
    rate = 1 + Fraction(tax.rate)
    return card / rate if tax.included else card * rate
