"""What offers and searched fleets are called in the page's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim.catalog import Catalog
from sim.model.contract import Offer
from sim.ui.finance_plans import plan_name
from sim.ui.language import catalogue, language, word

__all__ = ["fleet_name", "offer_name", "policy_name"]


def offer_name(offer: Offer) -> str:
    """An offer that comes with the program in the page's language; one of the user's as it is."""
    key = f"offers.{offer.id}"
    return word(key) if catalogue("en").get(key) == offer.name else offer.name


def policy_name(policy: str) -> str:
    """A queue policy in words; its own name where there are none."""
    words = catalogue(language())
    return words.get(f"choices.policy.{policy}", words.get(f"choices.{policy}", policy))


def fleet_name(option: Mapping[str, Any], catalog: Catalog) -> str:
    """A fleet of a search: in English as the command line calls it, else put together from what it is."""
    if language() == "en":
        return str(option["strategy"])
    offer = catalog.offers.get(option["offer"])
    burst = str(option["strategy"]).partition(", burst ")[2] if option["burst"] else ""
    name, number = burst.rpartition(" ")[2], burst.rpartition(" ")[0]
    by_hour = catalog.offers.get(name)
    return word(
        "sensitivity.fleet_burst" if burst else "sensitivity.fleet",
        cards=option["cards"],
        offer=option["offer"] if offer is None else offer_name(offer),
        plan=plan_name(option["plan"]),
        policy=policy_name(option["policy"]),
        burst=" ".join(filter(None, (number, name if by_hour is None else offer_name(by_hour)))),
    )
