"""A contract: one lease, or burst, with everything that its bill reads.

Terms are taken from the nearest place that states them: the lease, the scenario, the offer, the default.
Prices are in the scenario's currency.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sim.billing.exchange import lease_at, offer_at, rate_of, terms_at
from sim.billing.rounding import show_money
from sim.billing.terms import find_offer
from sim.errors import InputError, Problem
from sim.model.contract import Offer, PriceChoice
from sim.model.lease import Lease
from sim.model.scenario import ExchangeRate, Scenario, Strategy
from sim.model.terms import ContractTerms

__all__ = ["BURST", "Contract", "burst_contract", "lease_contract", "lease_key", "terms_of"]

BURST = -1
"""Position of burst rentals in the records of a run."""


@dataclass(frozen=True, slots=True)
class Contract:
    """A lease of a strategy, or its burst rule, as it is billed."""

    index: int
    """Position of the lease in the strategy; -1 for burst."""
    offer: Offer
    terms: ContractTerms
    key: str
    """Dotted path in the scenario, for messages."""
    lease: Lease | None
    """None for burst."""
    price: PriceChoice | Decimal | None
    """What the scenario asks for."""
    choice: PriceChoice | None
    """The command line's choice, which goes before a word of the scenario."""
    rate: ExchangeRate | None = None
    """At which prices were turned into the scenario's currency."""
    foreign: str = ""
    """The currency they were turned from."""

    @property
    def label(self) -> str:
        """`lease 0` or `burst`, as the lines of the ledger say."""
        return "burst" if self.lease is None else f"lease {self.index}"

    @property
    def begins(self) -> datetime | None:
        """When the contract of the lease began or begins, local; None: with the scenario."""
        return None if self.lease is None else self.lease.started or self.lease.start

    def list_price(self, begins: datetime, signed: datetime) -> Decimal:
        """List price of one unit for time that begins then, currency per unit of time of the offer.

        `signed` is when the contract began, whose price a locked price is. A number in the scenario
        stands whatever the offer's prices do. Otherwise the command line's choice goes before the word in
        the scenario, and the middle of the range is the default.
        """
        for change in reversed(() if self.lease is None else self.lease.prices):
            if change.since <= begins:
                return change.price
        if isinstance(self.price, Decimal):
            return self.price
        day = (signed if self.terms.price_locked else begins).date()
        band = self.offer.price
        for later in self.offer.price_changes:
            if later.since <= day:
                band = band.model_copy(update={"low": later.low, "high": later.high})
        return band.pick(self.choice or self.price or "mid")

    @property
    def price_times(self) -> tuple[datetime, ...]:
        """Local times from which time by the hour may have another price."""
        times = [] if self.lease is None else [change.since for change in self.lease.prices]
        if not self.terms.price_locked and not isinstance(self.price, Decimal):
            times += [
                datetime.combine(change.since, datetime.min.time()) for change in self.offer.price_changes
            ]
        return tuple(sorted(times))

    def note(self, listed: Decimal) -> str:
        """What a line adds about its list price where that was in another currency."""
        if self.rate is None:
            return ""
        original = f"{show_money(listed / self.rate.rate)} {self.foreign}"
        worth = f"{show_money(listed)} {self.offer.currency}"
        return f"; {original} x {self.rate.rate} = {worth} list, rate of {self.rate.date}"


def lease_key(strategy: Strategy, index: int) -> str:
    """The place of a lease in the scenario, as a dotted path."""
    return f"strategies.{strategy.name}.leases.{index}"


def terms_of(scenario: Scenario, offer: Offer, lease: Lease | None) -> ContractTerms:
    """The terms of a lease, or of burst: each from the nearest place that states it."""
    common = scenario.terms.over(offer.terms)
    return common if lease is None else lease.terms.over(common)


def lease_contract(
    scenario: Scenario,
    strategy: Strategy,
    index: int,
    offers: Mapping[str, Offer],
    choice: PriceChoice | None,
) -> Contract:
    """The contract of a lease; InputError for an unknown offer or a currency without a rate."""
    lease, key = strategy.leases[index], lease_key(strategy, index)
    offer = find_offer(offers, lease.offer_id, f"{key}.offer")
    terms = terms_of(scenario, offer, lease)
    rate = _rate(scenario, offer, f"{key}.offer")
    if rate is not None:
        lease, terms = lease_at(lease, rate.rate), terms_at(terms, rate.rate)
    sold = offer if rate is None else offer_at(offer, rate.rate, scenario.currency)
    foreign = "" if rate is None else offer.currency
    return Contract(index, sold, terms, key, lease, lease.price, choice, rate, foreign)


def burst_contract(
    scenario: Scenario, strategy: Strategy, offers: Mapping[str, Offer], choice: PriceChoice | None
) -> Contract | None:
    """The contract of the burst rule; None without one."""
    if strategy.burst is None:
        return None
    key = f"strategies.{strategy.name}.burst.offer"
    offer = find_offer(offers, strategy.burst.offer_id, key)
    rate, terms, price = _rate(scenario, offer, key), terms_of(scenario, offer, None), strategy.burst.price
    if rate is None:
        return Contract(BURST, offer, terms, key, None, price, choice)
    sold = offer_at(offer, rate.rate, scenario.currency)
    price = price * rate.rate if isinstance(price, Decimal) else price
    return Contract(BURST, sold, terms_at(terms, rate.rate), key, None, price, choice, rate, offer.currency)


def _rate(scenario: Scenario, offer: Offer, key: str) -> ExchangeRate | None:
    try:
        return rate_of(scenario, offer)
    except KeyError:
        rule = (
            f"{offer.id} is priced in {offer.currency}: the scenario needs a dated rate, such as "
            f"exchange: {{{offer.currency}: {{rate: 7.1, date: 2026-11-30}}}}"
        )
        raise InputError(Problem(rule, key=key, value=offer.id)) from None
