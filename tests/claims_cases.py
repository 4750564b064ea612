"""What the tests of claims share: every shipped claim judged once, and a file of one claim."""

from __future__ import annotations

import functools
from dataclasses import replace
from decimal import Decimal
from typing import Any

from sim.catalog import load_catalog
from sim.claims.bench import Bench
from sim.claims.check import check_claims
from sim.claims.model import Claim
from sim.claims.read import load_claims
from sim.claims.verdict import Judged
from sim.claims.working import Step, Working

MONEY = ("price", "cost", "option", "discount", "term", "breakeven")


@functools.cache
def bench() -> Bench:
    """One bench for all tests: simulations are run once."""
    return Bench()


@functools.cache
def everything() -> dict[str, Judged]:
    """Every shipped claim by id, judged with the shipped catalogue."""
    return {one.claim.id: one for one in check_claims(load_claims(), bench())}


def with_price(offer: str, low: str, high: str | None = None) -> Bench:
    """A bench whose catalogue asks another price for one offer."""
    catalog = load_catalog()
    old = catalog.offers[offer]
    band = old.price.model_copy(update={"low": Decimal(low), "high": Decimal(high or low)})
    offers = {**catalog.offers, offer: old.model_copy(update={"price": band})}
    return Bench(catalog=replace(catalog, offers=offers))


def claim(**more: Any) -> Claim:
    """A claim with a computation `given`, whose answer the test chooses."""
    data = {"id": "one", "kind": "price", "statement": "A statement.", "computation": "given", **more}
    return Claim.model_validate(data)


def answer(low: float | None, high: float | None = None, error: float = 0.0, unit: str = "CNY") -> Working:
    """A working of one number or a range."""
    return Working(low, low if high is None else high, unit, (Step("given", "given"),), error=error)
