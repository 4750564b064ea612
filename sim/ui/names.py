"""What offers and searched fleets are called in the page's language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sim.catalog import Catalog
from sim.model.contract import Offer
from sim.ui.finance_plans import plan_name
from sim.ui.language import catalogue, language, word

__all__ = ["burst_name", "fleet_name", "fleet_names", "offer_name", "policy_name"]


def offer_name(offer: Offer) -> str:
    """An offer that comes with the program in the page's language; one of the user's as it is."""
    key = f"offers.{offer.id}"
    return word(key) if catalogue("en").get(key) == offer.name else offer.name


def policy_name(policy: str) -> str:
    """A queue policy in words; its own name where there are none."""
    words = catalogue(language())
    return words.get(f"choices.policy.{policy}", words.get(f"choices.{policy}", policy))


def fleet_names(
    options: Sequence[Mapping[str, Any]], catalog: Catalog, *, short: bool = False
) -> dict[str, str]:
    """Fleets of a search by their names in it, each put together from what it is.

    A queue policy that all have is not said, nor, where `short`, which cards come by the hour. Two that would
    be called alike keep their names of the search.
    """
    policies = {option["policy"] for option in options}
    named = {
        option["strategy"]: fleet_name(option, catalog, policy=len(policies) > 1, short=short)
        for option in options
    }
    often = Counter(named.values())
    return {own: name if often[name] == 1 else own for own, name in named.items()}


def fleet_name(
    option: Mapping[str, Any], catalog: Catalog, *, policy: bool = True, short: bool = False
) -> str:
    """A fleet of a search, put together from what it is.

    `policy`: whether its queue policy is said; `short`: which cards come by the hour is not.
    """
    burst = burst_name(option, catalog)
    return word("sensitivity.fleet_parts").join(
        (
            _units(option, catalog),
            plan_name(option["plan"]),
            *([policy_name(option["policy"])] if policy else []),
            *([word(f"sensitivity.fleet_{'hours' if short else 'burst'}", burst=burst)] if burst else []),
        )
    )


def _units(option: Mapping[str, Any], catalog: Catalog) -> str:
    offer = catalog.offers.get(option["offer"])
    name = option["offer"] if offer is None else offer_name(offer)
    return word("sensitivity.fleet", units=option["units"], offer=name)


def burst_name(option: Mapping[str, Any], catalog: Catalog) -> str:
    """Cards by the hour of a fleet: a number, if there are several such, and the offer; empty for none."""
    text = str(option["strategy"]).partition(", burst ")[2] if option["burst"] else ""
    number, _, name = text.rpartition(" ")
    offer = catalog.offers.get(name)
    return " ".join(filter(None, (number, name if offer is None else offer_name(offer))))
