"""Offers that the question in hand can rent: the shipped ones, and those of a price list beside it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import streamlit as st

from sim.billing.terms import find_plan
from sim.catalog import Catalog, load_catalog
from sim.catalog.slices import slice_offer, slices_sold
from sim.errors import FleetsimError, InputError
from sim.model.contract import Offer
from sim.ui.question_edits import UNSET, KeyPath, Tree, value_at
from sim.ui.question_store import named_files
from sim.ui.state import stamp_of

__all__ = ["UNKNOWN_OFFER", "factor_of", "known_offers", "offer_of", "own_offers"]

UNKNOWN_OFFER = "unknown offer"
"""The loader's rule for an offer that stands in no price list."""


def known_offers(tree: Tree, home: Path) -> Catalog:
    """The catalogue as the question reads it; the shipped one where its own list cannot be read.

    `home` is the folder of the question; no file outside of it is opened.
    """
    name = tree.get("catalog")
    if not isinstance(name, str):
        return load_catalog()
    try:
        named_files({"catalog": name}, home)
        return _with_own(str(home / name), stamp_of(home / name))
    except FleetsimError:
        return load_catalog()  # what is wrong with the list is told at its field


@st.cache_resource(max_entries=8, show_spinner=False)
def _with_own(file: str, stamp: object) -> Catalog:  # noqa: ARG001  # part of the key
    return load_catalog(Path(file))


def own_offers(tree: Tree, home: Path) -> Mapping[str, Offer]:
    """Offers of the question's own price list by their ids."""
    shipped = load_catalog().offers
    return {
        name: offer for name, offer in known_offers(tree, home).offers.items() if shipped.get(name) != offer
    }


def offer_of(tree: Tree, home: Path, path: KeyPath) -> Offer | None:
    """The offer that the lease or burst rents in which a place lies; a slice of it where it names one."""
    rental = _rental(tree, path)
    name, profile = rental.get("offer"), rental.get("profile")
    catalog = known_offers(tree, home)
    offer = catalog.offers.get(name) if isinstance(name, str) else None
    if offer is None or not isinstance(profile, str):
        return offer
    sold = slices_sold(offer, catalog.mig_profiles)
    return slice_offer(offer, sold[profile]) if profile in sold else None


def factor_of(tree: Tree, offer: Offer, path: KeyPath) -> tuple[str, Decimal] | None:
    """The plan of the lease around a place, and the factor that it puts on the list price.

    From the nearest terms that state one: the lease's, the question's, the offer's. None for burst.
    """
    rental = _rental(tree, path)
    plan = rental.get("plan")
    if not isinstance(plan, str):
        return None
    for stated in (rental, tree):
        factor = value_at(stated, ("terms", "discounts", plan))
        if isinstance(factor, int | float) and not isinstance(factor, bool):
            return plan, Decimal(str(factor))
    try:
        return plan, find_plan(offer, offer.terms, plan, "").multiplier
    except (InputError, ValueError):
        return None  # what is wrong with the plan is told at its field


def _rental(tree: Tree, path: KeyPath) -> Tree:
    """The nearest mapping around a place that names an offer; empty where there is none."""
    around = (value_at(tree, path[:end]) for end in range(len(path) - 1, 0, -1))
    return next((one for one in around if one is not UNSET and isinstance(one, dict) and "offer" in one), {})
