"""A sentence for ways to pay that are not for the same cards."""

from __future__ import annotations

from collections.abc import Iterable

from sim.catalog import Catalog
from sim.model.contract import Offer

__all__ = ["unlike_cards"]


def unlike_cards(catalog: Catalog, offers: Iterable[Offer]) -> list[str]:
    """What is said where these offers have unlike cards, of each its memory; empty where all are alike."""
    cards = list(dict.fromkeys(offer.gpu for offer in offers))
    if len(cards) < 2:
        return []
    named = ", ".join(_named(catalog, card) for card in cards)
    return [f"The cards are unlike: {named}. An hour of one is not the same work as an hour of another."]


def _named(catalog: Catalog, card: str) -> str:
    """The card, with its memory where the catalogue has it."""
    gpu = catalog.gpus.get(card)
    return card if gpu is None else f"{card} ({gpu.memory_gib:g} GiB)"
