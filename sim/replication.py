"""The waist: one run, the whole flow on one page.

`prepare` asks physics and reads contracts once for a question; `replicate` makes one run of one
strategy from it: jobs, what happens, what it costs, what it means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sim import engine
from sim.billing import bill
from sim.catalog import Catalog, failure_model
from sim.load import Question
from sim.metrics import measure
from sim.model.contract import Offer
from sim.model.fleet import (
    BurstSpec,
    CheckpointSpec,
    FleetPlan,
    ForcedFailure,
    LeaseSpan,
    LogNormal,
    PoolSpec,
)
from sim.model.job import JobSet, JobShape
from sim.model.rates import RateTable
from sim.model.records import Ledger, RunLog
from sim.model.scenario import Burst, Lease, Scenario, Strategy
from sim.physics import rate_table
from sim.streams import Streams
from sim.units import SECOND
from sim.workload import generate, shapes_of

__all__ = ["Prepared", "RunResult", "fleet_plan", "prepare", "replicate", "used_offers"]


@dataclass(frozen=True)
class Prepared:
    """A question with what does not change from run to run: rates and one fleet plan a strategy."""

    question: Question
    shapes: tuple[JobShape, ...]
    rates: RateTable
    plans: tuple[FleetPlan, ...]

    @cached_property
    def offers(self) -> Mapping[str, Offer]:
        """The offers that any strategy uses."""
        return used_offers(self.question)


@dataclass(frozen=True, slots=True)
class RunResult:
    """One replication of one strategy."""

    strategy: str
    replication: int
    jobs: JobSet
    log: RunLog
    ledger: Ledger
    metrics: dict[str, float | None]


def prepare(question: Question) -> Prepared:
    """Ask physics once: which shapes run on which offers, and how fast."""
    scenario, catalog = question.scenario, question.catalog
    shapes = shapes_of(scenario, question.trace)
    offers = tuple(used_offers(question).values())
    beside = {"performance": question.performance_source}
    return Prepared(
        question=question,
        shapes=shapes,
        rates=rate_table(scenario.model_copy(update=beside), shapes, offers, catalog),
        plans=tuple(fleet_plan(scenario, strategy, catalog) for strategy in scenario.strategies),
    )


def replicate(prepared: Prepared, strategy: int, replication: int, seed: int | None = None) -> RunResult:
    """One run. The same arguments give the same result, to the byte, in any process.

    `strategy` is the position in the scenario, `replication` counts from 0, `seed` defaults to the
    scenario's own. Jobs and failures depend on seed and replication alone, not on the strategy.
    """
    question = prepared.question
    scenario = question.scenario
    chosen = scenario.strategies[strategy]
    streams = Streams(scenario.experiment.seed if seed is None else seed, replication)

    jobs = generate(scenario, question.trace, streams)
    log = engine.run(prepared.plans[strategy], jobs, prepared.rates, streams)
    ledger = bill(log.leases, scenario, chosen, prepared.offers, question.price)
    metrics = measure(log, ledger, jobs, scenario, scenario.target)

    return RunResult(chosen.name, replication, jobs, log, ledger, metrics)


def used_offers(question: Question) -> dict[str, Offer]:
    """The offers that any strategy of the question uses, in order of first mention."""
    names: dict[str, None] = {}
    for strategy in question.scenario.strategies:
        names.update(dict.fromkeys(lease.offer for lease in strategy.leases))
        if strategy.burst is not None:
            names[strategy.burst.offer] = None
    return {name: question.catalog.offers[name] for name in names}


def fleet_plan(scenario: Scenario, strategy: Strategy, catalog: Catalog) -> FleetPlan:
    """What the engine reads about a strategy: cards and times, no price."""
    by_offer: dict[str, list[tuple[int, Lease]]] = {}
    for position, lease in enumerate(strategy.leases):
        by_offer.setdefault(lease.offer, []).append((position, lease))
    pools: list[PoolSpec] = []
    for offer_id, leases in by_offer.items():
        pools += _pools(scenario, catalog.offers[offer_id], leases, catalog, pools)
    checkpoint = scenario.checkpoint
    return FleetPlan(
        pools=tuple(pools),
        burst=None if strategy.burst is None else _burst(scenario, strategy.burst, catalog),
        policy=strategy.policy,
        horizon_us=scenario.horizon_us,
        checkpoint=CheckpointSpec(None if checkpoint.every == "never" else checkpoint.every, checkpoint.cost),
        forced=tuple(
            ForcedFailure(event.at, event.kind, event.offer, event.machine, event.card, event.down)
            for event in scenario.reliability.events
        ),
    )


def _pools(
    scenario: Scenario,
    offer: Offer,
    leases: Sequence[tuple[int, Lease]],
    catalog: Catalog,
    earlier: Sequence[PoolSpec],
) -> list[PoolSpec]:
    """The one pool of an offer; none if all its leases begin at or after the horizon."""
    spans = tuple(
        span for position, lease in leases if (span := _lease_span(scenario, position, lease)) is not None
    )
    if not spans:
        return []
    gpu = catalog.gpus[offer.gpu]
    alike = [pool for pool in earlier if pool.card_kind == gpu.id]
    machines = [sum(span.count for span in pool.leases) for pool in alike]
    pool = PoolSpec(
        offer=offer.id,
        gpus_per_machine=offer.gpus_per_unit,
        memory_gib=gpu.memory_gib,
        card_kind=gpu.id,
        spans=offer.form not in ("mig", "public"),
        leases=spans,
        failures=failure_model(scenario.reliability, offer, catalog, scenario.reliability.data_disk),
        first_card=sum(n * pool.gpus_per_machine for n, pool in zip(machines, alike, strict=True)),
        first_machine=sum(machines),
    )
    return [pool]


def _lease_span(scenario: Scenario, position: int, lease: Lease) -> LeaseSpan | None:
    start_us = 0 if lease.start is None else scenario.elapsed_us(lease.start)
    if start_us >= scenario.horizon_us:
        return None
    return LeaseSpan(
        lease=position,
        count=lease.count,
        start_us=start_us,
        end_us=None if lease.end is None else scenario.elapsed_us(lease.end),
        disk_kept=(lease.data_disk or scenario.reliability.data_disk) == "kept",
    )


def _burst(scenario: Scenario, burst: Burst, catalog: Catalog) -> BurstSpec:
    offer = catalog.offers[burst.offer]
    gpu = catalog.gpus[offer.gpu]
    terms = offer.plans["hourly"]
    pool = PoolSpec(
        offer=offer.id,
        gpus_per_machine=offer.gpus_per_unit,
        memory_gib=gpu.memory_gib,
        # A key of its own: hourly cards do not share the misfortune of leased ones.
        card_kind=f"hourly {gpu.id}",
        spans=False,
        leases=(),
        failures=failure_model(scenario.reliability, offer, catalog, scenario.reliability.data_disk),
    )
    return BurstSpec(
        pool=pool,
        max_units=burst.max,
        rent_when_wait_over_us=burst.rent_when_wait_over,
        release_after_idle_us=burst.release_after_idle,
        increment_us=terms.increment_s * SECOND,
        minimum_us=terms.minimum_s * SECOND,
        delay=LogNormal(burst.delay.median, burst.delay.sigma),
        stock_out=burst.stock_out.probability,
        retry_mean_us=burst.stock_out.retry_mean,
    )
