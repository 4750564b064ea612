"""One input of a question turned to a value: prices, discounts, demand, growth, speed, failures, the end.

Most inputs stand in the scenario or the catalogue; running times and failures are what physics and the
reliability profiles make of them, so these are turned after the question is prepared (`flow_of`).
Nothing is changed in place.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

from sim.billing.periods import add_months
from sim.experiments.flow import Flow
from sim.experiments.knobs import with_demand, with_workload
from sim.load import Question
from sim.model.contract import Offer, PriceBand, PriceChange
from sim.model.failures import FailureModel
from sim.model.fleet import FleetPlan, LeaseSpan, PoolSpec
from sim.model.lease import Lease
from sim.model.rates import RunOption
from sim.model.scenario import Burst, Scenario, Strategy
from sim.model.terms import ContractTerms
from sim.replication import used_offers

__all__ = [
    "Turned",
    "end_after",
    "flow_of",
    "months_of",
    "turn_demand",
    "turn_discount",
    "turn_end",
    "turn_failures",
    "turn_growth",
    "turn_price",
    "turn_price_range",
    "turn_run_time",
]

HIGHEST, LOWEST = Decimal(1), Decimal("0.01")
"""Factors of plans on the list price stay within these."""

Termed = TypeVar("Termed", Lease, Scenario, Offer)


@dataclass(frozen=True, slots=True)
class Turned:
    """A question with some inputs turned."""

    question: Question
    run_time: float = 1.0
    """Times the predicted or recorded running time."""
    failures: float = 1.0
    """Times the rate of random failures."""


def turn_price_range(turned: Turned, place: float) -> Turned:
    """Pay list prices at this place of the published range: 0 its low end, 1 its high end.

    Prices that a lease states as a number stay as they are.
    """

    def band(low: Decimal, high: Decimal) -> Decimal:
        return low + (high - low) * _exact(place)

    return _with_offers(turned, lambda offer: _priced(offer, lambda low, high: (band(low, high),) * 2))


def turn_price(turned: Turned, factor: float) -> Turned:
    """So many times the list price of everything rented, agreed prices too. Options, fees and price
    reductions stay as they are."""
    times = _exact(factor)
    turned = _with_offers(turned, lambda offer: _priced(offer, lambda low, high: (low * times, high * times)))
    turned = _with_strategies(turned, lambda one: _dearer(one, times))
    return _with_terms(turned, lambda terms: _dearer_hour(terms, times))


def turn_discount(turned: Turned, factor: float) -> Turned:
    """So many times the discounts of plans: 20 % off becomes 10 % off with 0.5."""
    times = _exact(factor)
    turned = _with_offers(
        turned,
        lambda offer: offer.model_copy(
            update={
                "plans": {
                    name: plan.model_copy(update={"multiplier": _discounted(plan.multiplier, times)})
                    for name, plan in offer.plans.items()
                }
            }
        ),
    )

    def agreed(terms: ContractTerms) -> ContractTerms:
        found = {name: _discounted(share, times) for name, share in terms.discounts.items()}
        return terms.model_copy(update={"discounts": found})

    return _with_terms(turned, agreed)


def turn_demand(turned: Turned, factor: float) -> Turned:
    """So many times the jobs."""
    return dataclasses.replace(turned, question=with_demand(turned.question, factor))


def turn_growth(turned: Turned, percent: float) -> Turned:
    """Growth of the rates of all classes, per cent a month."""
    workload = turned.question.scenario.workload.model_copy(update={"growth": f"{percent:.6f}%/month"})
    return dataclasses.replace(turned, question=with_workload(turned.question, workload))


def turn_run_time(turned: Turned, factor: float) -> Turned:
    """So many times the running time of every job on every card."""
    return dataclasses.replace(turned, run_time=factor)


def turn_failures(turned: Turned, factor: float) -> Turned:
    """So many times the rate of random failures of cards, machines, switches and sites."""
    return dataclasses.replace(turned, failures=factor)


def turn_end(turned: Turned, months: float) -> Turned:
    """The project ends after so many calendar months: jobs and leases with it; what is owed stays."""
    scenario = turned.question.scenario
    end = end_after(scenario, months)
    horizon = scenario.elapsed_us(end)
    strategies = tuple(
        one.model_copy(update={"leases": tuple(_ended(lease, scenario, end) for lease in one.leases)})
        for one in scenario.strategies
    )
    return _with_scenario(turned, {"horizon": horizon, "strategies": strategies})


def end_after(scenario: Scenario, months: float) -> datetime:
    """Local time so many calendar months after the start, a part of a month as that part of its length."""
    whole = math.floor(months)
    first, second = add_months(scenario.start, whole), add_months(scenario.start, whole + 1)
    seconds = round((second - first).total_seconds() * (months - whole))
    return first + timedelta(seconds=seconds)


def months_of(scenario: Scenario) -> float:
    """Length of the horizon in calendar months; `end_after` gives the end again, to the second."""
    end = scenario.local_time(scenario.horizon_us).replace(tzinfo=None)
    whole = 0
    while add_months(scenario.start, whole + 1) <= end:
        whole += 1
    first, second = add_months(scenario.start, whole), add_months(scenario.start, whole + 1)
    return whole + (end - first) / (second - first)


def flow_of(turned: Turned, flow: Flow) -> Flow:
    """How runs of the turned question are made: as by `flow`, with its running times and failures."""
    if turned.run_time == 1.0 and turned.failures == 1.0:
        return flow
    return Flow(partial(_prepared, flow.prepare, turned.run_time, turned.failures), flow.replicate)


def _prepared(
    prepare: Callable[[Question], Any], run_time: float, failures: float, question: Question
) -> Any:
    prepared = prepare(question)
    options = {
        pair: tuple(_slower(option, run_time) for option in ways)
        for pair, ways in prepared.rates.options.items()
    }
    changes: dict[str, Any] = {"rates": dataclasses.replace(prepared.rates, options=options)}
    if failures != 1.0:
        changes["plans"] = tuple(_failing_plan(plan, failures) for plan in prepared.plans)
    return dataclasses.replace(prepared, **changes)


def _slower(option: RunOption, factor: float) -> RunOption:
    return dataclasses.replace(option, us_per_work=option.us_per_work * factor)


def _failing_plan(plan: FleetPlan, factor: float) -> FleetPlan:
    burst = plan.burst
    if burst is not None:
        burst = dataclasses.replace(burst, pool=_failing_pool(burst.pool, factor))
    pools = tuple(_failing_pool(pool, factor) for pool in plan.pools)
    return dataclasses.replace(plan, pools=pools, burst=burst)


def _failing_pool(pool: PoolSpec, factor: float) -> PoolSpec:
    leases = tuple(_failing_lease(span, factor) for span in pool.leases)
    model = None if pool.failures is None else _failing(pool.failures, factor)
    return dataclasses.replace(pool, leases=leases, failures=model)


def _failing_lease(span: LeaseSpan, factor: float) -> LeaseSpan:
    if span.failures is None or span.failures == "pool":
        return span
    return dataclasses.replace(span, failures=_failing(span.failures, factor))


def _failing(model: FailureModel, factor: float) -> FailureModel:
    shared = model.shared
    if shared is not None:
        shared = {
            name: dataclasses.replace(event, mean_us=max(1, round(event.mean_us / factor)))
            for name, event in shared.items()
        }
    means = {name: max(1, round(mean / factor)) for name, mean in model.mtbf_us.items()}
    return dataclasses.replace(model, mtbf_us=means, shared=shared)


def _ended(lease: Lease, scenario: Scenario, end: datetime) -> Lease:
    """The lease given up at the end of the project; one that begins later never does, so it stays."""
    if (lease.start or scenario.start) >= end:
        return lease
    return lease.model_copy(
        update={
            "end": end if lease.end is None else min(lease.end, end),
            "converts": tuple(change for change in lease.converts if change.at < end),
            "stopped": tuple(stop for stop in lease.stopped if stop.until <= end),
        }
    )


def _priced(offer: Offer, turn: Callable[[Decimal, Decimal], tuple[Decimal, ...]]) -> Offer:
    def band(price: PriceBand | PriceChange) -> Mapping[str, Decimal]:
        return dict(zip(("low", "high"), turn(price.low, price.high), strict=True))

    changes = tuple(change.model_copy(update=band(change)) for change in offer.price_changes)
    return offer.model_copy(
        update={"price": offer.price.model_copy(update=band(offer.price)), "price_changes": changes}
    )


def _dearer(strategy: Strategy, times: Decimal) -> Strategy:
    burst: Burst | None = strategy.burst
    if burst is not None and isinstance(burst.price, Decimal):
        burst = burst.model_copy(update={"price": burst.price * times})
    leases = tuple(_dearer_lease(lease, times) for lease in strategy.leases)
    return strategy.model_copy(update={"leases": leases, "burst": burst})


def _dearer_lease(lease: Lease, times: Decimal) -> Lease:
    later = tuple(one.model_copy(update={"price": one.price * times}) for one in lease.prices)
    price = lease.price * times if isinstance(lease.price, Decimal) else lease.price
    return lease.model_copy(update={"price": price, "prices": later})


def _dearer_hour(terms: ContractTerms, times: Decimal) -> ContractTerms:
    if terms.hourly_price is None:
        return terms
    return terms.model_copy(update={"hourly_price": terms.hourly_price * times})


def _discounted(multiplier: Decimal, times: Decimal) -> Decimal:
    return min(HIGHEST, max(LOWEST, 1 - (1 - multiplier) * times))


def _with_offers(turned: Turned, turn: Callable[[Offer], Offer]) -> Turned:
    catalog = turned.question.catalog
    offers = {**catalog.offers, **{name: turn(offer) for name, offer in used_offers(turned.question).items()}}
    question = dataclasses.replace(turned.question, catalog=dataclasses.replace(catalog, offers=offers))
    return dataclasses.replace(turned, question=question)


def _with_terms(turned: Turned, turn: Callable[[ContractTerms], ContractTerms]) -> Turned:
    """With other contract terms: those of the offers, of the scenario and of the leases."""

    def termed(holder: Termed) -> Termed:
        return holder.model_copy(update={"terms": turn(holder.terms)})

    turned = _with_offers(turned, termed)
    turned = _with_strategies(
        turned, lambda one: one.model_copy(update={"leases": tuple(map(termed, one.leases))})
    )
    return _with_scenario(turned, {"terms": turn(turned.question.scenario.terms)})


def _with_strategies(turned: Turned, turn: Callable[[Strategy], Strategy]) -> Turned:
    return _with_scenario(turned, {"strategies": tuple(map(turn, turned.question.scenario.strategies))})


def _with_scenario(turned: Turned, changes: Mapping[str, object]) -> Turned:
    scenario = turned.question.scenario.model_copy(update=changes)
    return dataclasses.replace(turned, question=dataclasses.replace(turned.question, scenario=scenario))


def _exact(number: float) -> Decimal:
    return Decimal(f"{number:.12g}")
