"""What leases cost that are simply there from start to end: the ledger's own code, without a simulation.

Burst is left out: what it rents depends on the jobs.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from itertools import groupby
from typing import Any

from sim.billing import bill
from sim.billing.contracts import terms_of
from sim.billing.periods import period_edge
from sim.catalog import Catalog, load_catalog
from sim.errors import InputError, Problem
from sim.experiments.standing import standing_records
from sim.load import Question, load_text
from sim.model.contract import PriceChoice
from sim.model.ledger import Charge, Ledger
from sim.model.scenario import ExchangeRate
from sim.replication import fleet_plan, used_offers

__all__ = ["Asked", "Quote", "asked_question", "charge_document", "keys_in", "quote"]

NAME = "quote"
RENT = ("purchase", "usage", "storage")
"""Categories of charges that have a list price of their own."""
_BURST = (
    "Burst is not in this quote: what it rents depends on the jobs; simulate the strategy to see it "
    "(fleetsim run or compare)."
)
_DOWN = "Cards by the hour are taken as there from start to end; a simulation bills the same leases alike."


@dataclass(frozen=True, slots=True)
class Asked:
    """One lease to be quoted, as the options of the command line say it."""

    offer: str
    """Id of an offer, or of a slice of it: `h100-mig/3g.40gb`."""
    count: int
    plan: str
    start: str
    """Local date or time."""
    months: int
    """Months of the contract in which the cards are used; the lease ends with them."""
    options: tuple[str, ...] = ()
    repeat_purchase: bool = False
    terms: tuple[str, ...] = ()
    """`KEY=VALUE` settings of the contract terms, such as `refund.rule=pro-rata`."""
    list_price: str | None = None
    timezone: str | None = None
    currency: str = "CNY"
    """Of the answer: the offer's own, or the one that `exchange` turns it into."""
    exchange: Mapping[str, ExchangeRate] = field(default_factory=dict)
    """Currency -> its dated rate, `currency` for one."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A strategy's leases and what they cost."""

    question: Question
    strategy: str
    ledger: Ledger
    notes: tuple[str, ...]

    @property
    def by_month(self) -> tuple[tuple[str, Decimal], ...]:
        """What is paid in each calendar month, local time; months without a payment are left out."""
        paid = sorted((f"{charge.cash_date:%Y-%m}", charge.billed_cost) for charge in _paid(self.ledger))
        return tuple(
            (month, sum((cost for _, cost in costs), Decimal("0.00")))
            for month, costs in groupby(paid, key=lambda pair: pair[0])
        )

    def to_json(self) -> dict[str, Any]:
        """The document of `fleetsim quote --format json`; keys of amounts end with the ledger's currency."""
        ledger, scenario = self.ledger, self.question.scenario
        document = {
            "scenario": scenario.name,
            "strategy": self.strategy,
            "leases": [
                {
                    "offer": lease.offer_id,
                    "count": lease.count,
                    "plan": lease.plan,
                    "start": (lease.start or scenario.start).isoformat(),
                    "end": None if lease.end is None else lease.end.isoformat(),
                }
                for lease in scenario.strategy(self.strategy).leases
            ],
            "start": scenario.local_time(0).isoformat(),
            "end": ledger.horizon_end.isoformat(),
            "timezone": scenario.timezone,
            "currency": ledger.currency,
            "price": self.question.price,
            "cash_cny": float(ledger.cash),
            "accrued_cny": float(ledger.accrued),
            "committed_cny": float(ledger.committed),
            "owed_after_cny": float(ledger.committed - ledger.accrued),
            "list_cny": float(
                sum((one.list_cost for one in ledger.charges if one.category in RENT), Decimal(0))
            ),
            "cash_by_month": [{"month": month, "paid_cny": float(paid)} for month, paid in self.by_month],
            "charges": [charge_document(charge) for charge in ledger.charges],
            "invoices": [
                {
                    "provider": invoice.provider,
                    "month": invoice.month,
                    "charges": list(invoice.charges),
                    "total_cny": float(invoice.total),
                }
                for invoice in ledger.invoices
            ],
            "assumptions": list(ledger.assumptions),
            "notes": list(self.notes),
        }
        return keys_in(ledger.currency, document)


def keys_in(currency: str, document: dict[str, Any]) -> dict[str, Any]:
    """A document whose keys of amounts end with `_cny`, with this currency in their place: `_usd`."""
    if currency == "CNY":
        return document
    renamed: dict[str, Any] = _renamed(document, f"_{currency.lower()}")
    return renamed


def _renamed(part: Any, ending: str) -> Any:
    """A document with `_cny` at the end of its keys replaced by this ending."""
    if isinstance(part, list):
        return [_renamed(one, ending) for one in part]
    if not isinstance(part, dict):
        return part
    names = {key: f"{key.removesuffix('_cny')}{ending}" if key.endswith("_cny") else key for key in part}
    return {names[key]: _renamed(value, ending) for key, value in part.items()}


def _paid(ledger: Ledger) -> Iterator[Charge]:
    return (charge for charge in ledger.charges if not charge.sunk)


def charge_document(charge: Charge) -> dict[str, Any]:
    """A charge as JSON: times with their offset, money and quantities as numbers."""
    return {
        "id": charge.id,
        "provider": charge.provider,
        "offer": charge.offer,
        "lease": charge.lease,
        "plan": charge.plan,
        "category": charge.category,
        "period_start": charge.period_start.isoformat(),
        "period_end": charge.period_end.isoformat(),
        "quantity": float(charge.quantity),
        "unit": charge.unit,
        "list_unit_price_cny": float(charge.list_unit_price),
        "unit_price_cny": float(charge.unit_price),
        "list_cny": float(charge.list_cost),
        "billed_cny": float(charge.billed_cost),
        "accrued_cny": float(charge.accrued_cost),
        "owed_after_cny": float(charge.owed_after),
        "paid": charge.cash_date.isoformat(),
        "of": charge.of,
        "recoverable": charge.recoverable,
        "sunk": charge.sunk,
        "rule": charge.rule,
    }


def quote(question: Question, strategy: int) -> Quote:
    """What the leases of a strategy, by its position, cost over the scenario's horizon.

    Raises InputError with every lease that cannot be billed.
    """
    scenario = question.scenario
    chosen = scenario.strategies[strategy]
    leases_only = chosen.model_copy(update={"burst": None})
    plan = fleet_plan(scenario, leases_only, question.catalog, question.price)
    ledger = bill(standing_records(plan), scenario, leases_only, used_offers(question), question.price)
    notes = [_BURST] if chosen.burst is not None else []
    if any(lease.plan == "hourly" for lease in chosen.leases):
        notes.append(_DOWN)
    return Quote(question, chosen.name, ledger, tuple(notes))


def asked_question(
    asked: Asked, price: PriceChoice | None = None, catalog: Catalog | None = None
) -> Question:
    """The question of one strategy with the lease that was asked for, from its start to its end.

    The horizon reaches past the end of the lease and past the last payment, so that all of it is seen.
    Raises InputError whose keys are the options of the command.
    """
    catalog = load_catalog() if catalog is None else catalog
    settings = [f"strategies.0.leases.0.terms.{term}" for term in asked.terms]
    try:
        question = load_text(json.dumps(_document(asked, catalog)), settings, catalog, name="")
        money = {"currency": asked.currency, "exchange": dict(asked.exchange)}
        scenario = question.scenario.model_copy(update=money)
        return _long_enough(dataclasses.replace(question, scenario=scenario, price=price), asked.months)
    except InputError as error:
        raise InputError(_as_option(problem) for problem in error.problems) from None


def _document(asked: Asked, catalog: Catalog) -> dict[str, Any]:
    """A scenario of one lease; its one class of jobs is there for the form alone and never simulated."""
    offer, _, profile = asked.offer.partition("/")
    lease: dict[str, Any] = {"offer": offer, "count": asked.count, "plan": asked.plan}
    if profile:
        lease["profile"] = profile
    if asked.options:
        lease["options"] = list(asked.options)
    if asked.repeat_purchase:
        lease["repeat_purchase"] = True
    if asked.list_price is not None:
        lease["price"] = _number(asked.list_price)
    # A scenario is in CNY, so that another currency stands with a rate until the answer's own is put in.
    foreign = {asked.currency, *asked.exchange} - {"CNY"}
    jobs = {"name": "none", "model": next(iter(catalog.models)), "method": "lora", "samples": 1}
    return {
        "name": "Quote",
        "start": asked.start,
        "horizon": "1d",
        "exchange": {name: {"rate": 1, "date": "2026-01-01"} for name in sorted(foreign)},
        **({} if asked.timezone is None else {"timezone": asked.timezone}),
        "workload": {"classes": [{**jobs, "rate": "1/year"}]},
        "strategies": [{"name": NAME, "leases": [lease]}],
    }


def _number(text: str) -> int | float | str:
    """A price as YAML reads it; what is no number is left for the loader to refuse."""
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value


def _long_enough(question: Question, months: int) -> Question:
    """The lease with its end, and a horizon after all payments."""
    scenario = question.scenario
    lease = scenario.strategies[0].leases[0]
    offer = question.catalog.offers[lease.offer_id]
    basis = "calendar" if lease.plan == "hourly" else terms_of(scenario, offer, lease).month
    end = period_edge(scenario.start, months, basis)
    ended = scenario.strategies[0].model_copy(update={"leases": (lease.model_copy(update={"end": end}),)})
    last = end
    for _ in range(2):  # a second time where the first has shown a payment after the end
        changes = {"strategies": (ended,), "horizon": last + timedelta(days=1)}
        longer = dataclasses.replace(question, scenario=scenario.model_copy(update=changes))
        paid = [line.cash_date.replace(tzinfo=None) for line in quote(longer, 0).ledger.charges]
        last = max([end, *paid])
    return longer


_OPTIONS: dict[str, str] = {
    "offer": "--offer",
    "profile": "--offer",
    "count": "--count",
    "plan": "--plan",
    "price": "--list-price",
    "options": "--option",
    "repeat_purchase": "--repeat-purchase",
    "start": "--start",
    "end": "--months",
    "horizon": "--months",
    "timezone": "--timezone",
}
"""Key of the scenario or of its lease -> option of the command."""


def _as_option(problem: Problem) -> Problem:
    """The problem with the option in place of the key, for the user wrote no scenario."""
    key = problem.key or ""
    for place in (f"strategies.{NAME}.leases.0.", "strategies.0.leases.0."):
        key = key.removeprefix(place)
    head, _, rest = key.partition(".")
    option = f"--term {rest}" if head == "terms" else _OPTIONS.get(head, key)
    return dataclasses.replace(problem, file=None, line=None, key=option or None)
