"""The ways to rent that `fleetsim breakeven` compares: plans of offers, or strategies of a scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pydantic import ValidationError

from sim.billing.finance.outcomes import Way
from sim.catalog import Catalog
from sim.catalog.slices import slices_sold
from sim.cli.finance_exchange import money_of
from sim.cli.finance_options import split_names
from sim.cli.options import check_known
from sim.errors import InputError, Problem
from sim.load import Question
from sim.load_leases import with_slices
from sim.model.contract import Offer, PriceChoice
from sim.model.lease import Lease
from sim.model.scenario import Scenario
from sim.model.terms import ContractTerms, Plan, Refund, plan_months
from sim.replication import used_offers

__all__ = [
    "START",
    "lease_keys",
    "offer_ways",
    "plain_scenario",
    "read_plan",
    "rekeyed",
    "strategy_ways",
    "whole_months",
]

START = "2026-01-01"
"""First day where none is asked for (assumed): a year without a 29 February."""


def offer_ways(
    catalog: Catalog,
    offer: str,
    count: int,
    plans: str,
    start: str,
    refund: Refund | None,
    hours: Decimal | None,
    price: PriceChoice | None,
    exchange: Sequence[str] | None = None,
) -> list[Way]:
    """One way a plan: `monthly,annual`, or of another offer `h100-mig:hourly`; `exchange` has the dated rates
    where offers are in several currencies. InputError as usual."""
    asked = [read_plan(part.strip(), offer, catalog, "--plans") for part in plans.split(",")]
    if len(set(asked)) < len(asked):
        raise InputError(Problem("each plan is named once", key="--plans", value=plans))
    one_offer = len({name for name, _ in asked}) == 1
    labels = [plan if one_offer else f"{name} {plan}" for name, plan in asked]
    strategies = [
        {"name": label, "leases": [lease_keys(name, count, plan)]}
        for label, (name, plan) in zip(labels, asked, strict=True)
    ]
    money = money_of(catalog, [name for name, _ in asked], exchange)
    scenario = money.of(plain_scenario(strategies, start))
    offers = with_slices(catalog, scenario).offers
    used = None if hours is None else Fraction(hours)
    return _ways(scenario, labels, offers, refund, used, price)


def strategy_ways(question: Question, names: str | None, refund: Refund | None) -> list[Way]:
    """One way a strategy; default: all of the scenario."""
    known = [strategy.name for strategy in question.scenario.strategies]
    asked = known if names is None else split_names(names, known, "--strategies")
    if len(set(asked)) < len(asked):
        rule = "each strategy is named once"
        raise InputError(Problem(rule, key="--strategies", value=names, known=tuple(known)))
    return _ways(question.scenario, asked, used_offers(question), refund, None, question.price)


def plain_scenario(strategies: Sequence[Mapping[str, Any]], start: str) -> Scenario:
    """A scenario of contracts only: nothing is simulated, so its jobs are never asked for."""
    try:
        return Scenario.model_validate(
            {
                "name": "contracts",
                "start": start,
                "horizon": "365d",
                "workload": {"trace": {"file": "none.csv"}},
                "strategies": list(strategies),
            }
        )
    except ValidationError as error:
        item = error.errors()[0]
        key = "--start" if item["loc"][:1] == ("start",) else "--plans"
        rule = str(item["msg"]).removeprefix("Value error, ")
        raise InputError(Problem(rule, key=key, value=item["input"])) from None


def whole_months(ways: Sequence[Way]) -> int:
    """The longest paid period of all leases, at least a year: the time to compare over by default."""
    return max([12, *(plan_months(lease.plan) for way in ways for lease in way.strategy.leases)])


def read_plan(text: str, offer: str, catalog: Catalog, option: str) -> tuple[str, Plan]:
    """Offer and plan of `OFFER:PLAN`, or of `PLAN` and the offer that is meant; InputError otherwise."""
    before, colon, plan = text.rpartition(":")
    name = before if colon else offer
    if not name:
        raise InputError(Problem("is written OFFER:PLAN, such as a100-40g-8x:annual", key=option, value=text))
    base, _, profile = name.partition("/")
    key = option if colon else "--offer"
    if base not in catalog.offers:
        rule = "the offer is not in the catalogue"
        raise InputError(Problem(rule, key=key, value=name, known=tuple(catalog.offers)))
    sold = slices_sold(catalog.offers[base], catalog.mig_profiles)
    if profile:
        check_known(key, profile, sold, f"{base} is not sold in this MIG profile")
    try:
        plan_months(plan)
    except ValueError as error:
        raise InputError(Problem(str(error), key=option, value=plan)) from None
    return name, plan


def lease_keys(name: str, count: int, plan: str) -> dict[str, Any]:
    """The keys of a lease of an offer or slice (`OFFER/PROFILE`), as a scenario has them."""
    offer, _, profile = name.partition("/")
    return {"offer": offer, "count": count, "plan": plan, **({"profile": profile} if profile else {})}


def _ways(
    scenario: Scenario,
    names: Sequence[str],
    offers: Mapping[str, Offer],
    refund: Refund | None,
    hours: Fraction | None,
    price: PriceChoice | None,
) -> list[Way]:
    ways = []
    for name in names:
        strategy = scenario.strategy(name)
        if not strategy.leases:
            rule = "a strategy of burst rentals alone has no contract to compare; burst needs a simulation"
            raise InputError(Problem(rule, key="--strategies", value=name))
        if refund is not None:
            leases = tuple(_with_refund(lease, refund) for lease in strategy.leases)
            strategy = strategy.model_copy(update={"leases": leases})
        ways.append(Way(name, scenario, strategy, offers, price, hours))
    return ways


def _with_refund(lease: Lease, refund: Refund) -> Lease:
    return lease.model_copy(update={"terms": ContractTerms(refund=refund).over(lease.terms)})


def rekeyed(error: InputError, key: str) -> InputError:
    """The same problems at an option: places in a scenario that nobody wrote would help nobody."""
    return InputError(replace(problem, key=key) for problem in error.problems)
