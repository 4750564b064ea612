"""What a card would cost by the hour instead: the price behind opportunity cost. Nobody pays it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sim.billing.contracts import burst_contract, lease_contract
from sim.billing.finance.breakeven import HOURS_OF_MONTH
from sim.billing.hourprice import HOURS_A_MONTH, hour_price
from sim.billing.rounding import show_money
from sim.model.contract import Offer, PriceChoice
from sim.model.scenario import Scenario, Strategy

__all__ = ["Alternative", "hourly_alternative"]


@dataclass(frozen=True, slots=True)
class Alternative:
    """Price of a card-hour by the offer of the card that stands there now."""

    prices: Mapping[str, Fraction]
    """Offer -> currency of the scenario per card and hour."""
    sentence: str
    """Where the price comes from, for people."""


def hourly_alternative(
    scenario: Scenario, strategy: Strategy, offers: Mapping[str, Offer], choice: PriceChoice | None = None
) -> Alternative:
    """The burst offer's price for every card where the strategy has burst; otherwise each offer's own.

    An offer that is not sold by the hour counts at the hourly price that its contract states or falls back
    to. Where it has none, nobody sells such an hour: a 730th of the monthly list price stands in, the hours
    of a mean month, as everywhere in finance. Cards are taken as equal: a faster one would need fewer hours.
    """
    own = dict.fromkeys(lease.offer_id for lease in strategy.leases)
    burst = burst_contract(scenario, strategy, offers, choice)
    if burst is not None:
        price = hour_price(burst, scenario.start, scenario.start, fallen_back=False, key=burst.key)
        card = price.listed * Fraction(price.multiplier) / burst.offer.gpus_per_unit
        return Alternative(
            dict.fromkeys(own, card),
            f"the burst offer {burst.offer.id} at {show_money(card)} {scenario.currency} a card-hour, "
            "whatever the card",
        )
    prices: dict[str, Fraction] = {}
    for index, lease in enumerate(strategy.leases):
        contract = lease_contract(scenario, strategy, index, offers, choice)
        begins = contract.begins or scenario.start
        month_h = HOURS_A_MONTH if contract.terms.expiry == "hourly" else int(HOURS_OF_MONTH)
        price = hour_price(contract, begins, begins, fallen_back=True, key=contract.key, month_h=month_h)
        prices.setdefault(
            lease.offer_id, price.listed * Fraction(price.multiplier) / contract.offer.gpus_per_unit
        )
    shown = "; ".join(f"{name} {show_money(price)}" for name, price in prices.items())
    return Alternative(
        prices,
        f"each offer's own hourly price, {scenario.currency} a card-hour ({shown}); where it is not "
        f"sold by the hour, a month's list price over {HOURS_OF_MONTH} hours stands in",
    )
