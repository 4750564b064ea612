"""The waist: one run, the whole flow on one page.

`prepare` asks physics and reads contracts once for a question; `replicate` makes one run of one
strategy from it: jobs, what happens, what it costs, what it means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sim import engine
from sim.billing import bill
from sim.billing.contracts import terms_of
from sim.billing.hour import burst_hour, leases_hours
from sim.billing.usable import Usable, usable_times
from sim.catalog import Catalog, failure_model
from sim.catalog.sharing import sharing_spec
from sim.decisions.placement import PLACEMENTS
from sim.load import Question
from sim.metrics import measure
from sim.model.contract import Offer, PriceChoice
from sim.model.fleet import (
    BurstSpec,
    CheckpointSpec,
    FleetPlan,
    ForcedFailure,
    LeaseSpan,
    LogNormal,
    PolicyParameters,
    PoolSpec,
)
from sim.model.job import JobSet, JobShape
from sim.model.job_table import as_submitted
from sim.model.ledger import Ledger
from sim.model.rates import RateTable
from sim.model.records import RunLog
from sim.model.scenario import Burst, Checkpoint, Lease, Scenario, Strategy
from sim.model.windows import open_times
from sim.physics import rate_table
from sim.streams import Streams
from sim.units import DAY, HOUR, SECOND, Micros
from sim.workload import generate, shapes_of

__all__ = ["Prepared", "RunResult", "fleet_plan", "prepare", "replicate", "used_offers"]


PREEMPT_AFTER = 2 * HOUR
"""Time that a job runs before it may be preempted, where the strategy does not say (assumed)."""


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
        plans=tuple(
            fleet_plan(scenario, strategy, catalog, question.price) for strategy in scenario.strategies
        ),
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
    jobs = as_submitted(jobs, log.submissions)
    ledger = bill(log.leases, scenario, chosen, prepared.offers, question.price)
    metrics = measure(log, ledger, jobs, scenario, scenario.target)

    return RunResult(chosen.name, replication, jobs, log, ledger, metrics)


def used_offers(question: Question) -> dict[str, Offer]:
    """The offers that any strategy of the question uses, in order of first mention."""
    names: dict[str, None] = {}
    for strategy in question.scenario.strategies:
        names.update(dict.fromkeys(lease.offer_id for lease in strategy.leases))
        if strategy.burst is not None:
            names[strategy.burst.offer_id] = None
    return {name: question.catalog.offers[name] for name in names}


def fleet_plan(
    scenario: Scenario, strategy: Strategy, catalog: Catalog, price: PriceChoice | None = None
) -> FleetPlan:
    """What the engine reads about a strategy: cards and times; prices where placement asks for them.

    `price` is the command line's choice of low, mid or high.
    """
    by_offer: dict[str, list[tuple[int, Lease]]] = {}
    for position, lease in enumerate(strategy.leases):
        by_offer.setdefault(lease.offer_id, []).append((position, lease))
    lives = usable_times(scenario, strategy, catalog.offers)
    pools: list[PoolSpec] = []
    for offer_id, leases in by_offer.items():
        pools += _pools(scenario, catalog.offers[offer_id], leases, lives, catalog, pools)
    if strategy.sharing is not None:
        asked = strategy.sharing
        specs = [sharing_spec(scenario, asked, catalog.offers[pool.offer], catalog) for pool in pools]
        pools = [replace(pool, sharing=spec) for pool, spec in zip(pools, specs, strict=True)]
    burst = None if strategy.burst is None else _burst(scenario, strategy.burst, catalog)
    if PLACEMENTS[strategy.placement].by_price:
        hour = leases_hours(scenario, strategy, catalog.offers, price)
        pools = [replace(pool, hourly_price=hour[pool.offer]) for pool in pools]
        if burst is not None:
            hourly = burst_hour(scenario, strategy, catalog.offers, price)
            burst = replace(burst, pool=replace(burst.pool, hourly_price=hourly))
    return FleetPlan(
        pools=tuple(pools),
        burst=burst,
        policy=strategy.policy,
        parameters=_policy_parameters(strategy),
        placement=strategy.placement,
        horizon_us=scenario.horizon_us,
        checkpoint=_checkpoint(scenario.checkpoint),
        forced=tuple(
            ForcedFailure(event.at, event.kind, event.offer, event.machine, event.card, event.down)
            for event in scenario.reliability.events
        ),
    )


def _policy_parameters(strategy: Strategy) -> PolicyParameters:
    usual = PolicyParameters()
    ripe = PREEMPT_AFTER if strategy.preempt_after is None else strategy.preempt_after
    return PolicyParameters(
        aging_us=strategy.aging,
        half_life_us=strategy.half_life or usual.half_life_us,
        look_ahead=strategy.look_ahead or usual.look_ahead,
        preempt_after_us=ripe if strategy.preempt else None,
    )


def _checkpoint(asked: Checkpoint) -> CheckpointSpec:
    if asked.every == "young" or asked.every == "daly":
        return CheckpointSpec(None, asked.cost, asked.every)
    return CheckpointSpec(None if asked.every == "never" else asked.every, asked.cost)


def _pools(
    scenario: Scenario,
    offer: Offer,
    leases: Sequence[tuple[int, Lease]],
    lives: Mapping[int, Usable],
    catalog: Catalog,
    earlier: Sequence[PoolSpec],
) -> list[PoolSpec]:
    """The one pool of an offer; none if all its leases begin at or after the horizon."""
    spans = tuple(
        _lease_span(scenario, position, lease, lives[position], offer, catalog)
        for position, lease in leases
        if position in lives
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
        spans=offer.one_site,
        leases=spans,
        failures=failure_model(scenario.reliability, offer, catalog, scenario.reliability.data_disk),
        first_card=sum(n * pool.gpus_per_machine for n, pool in zip(machines, alike, strict=True)),
        first_machine=sum(machines),
        site=f"{offer.provider} {offer.site}".strip(),
    )
    return [pool]


def _lease_span(
    scenario: Scenario, position: int, lease: Lease, life: Usable, offer: Offer, catalog: Catalog
) -> LeaseSpan:
    start_us, end_us = life.start_us, life.end_us
    windows = None if lease.available is None else _windows(scenario, lease.available, start_us, end_us)
    reliability = scenario.reliability
    disk = lease.data_disk or reliability.data_disk
    own = lease.reliability
    return LeaseSpan(
        lease=position,
        count=lease.count,
        start_us=start_us,
        end_us=end_us,
        disk_kept=disk == "kept",
        failures="pool" if own is None else failure_model(reliability, offer, catalog, disk, own),
        reserve=lease.reserve or 0,
        windows=life.times(windows, _ahead_us(scenario)),
    )


def _windows(
    scenario: Scenario, windows: Sequence[str], start_us: Micros, end_us: Micros | None
) -> tuple[tuple[Micros, Micros], ...]:
    """Open times of a lease."""
    until_us = _ahead_us(scenario)
    if end_us is not None:
        until_us = min(until_us, end_us)
    return open_times(windows, start_us, until_us, scenario.local_time, scenario.elapsed_us)


def _ahead_us(scenario: Scenario) -> Micros:
    """How far open times are looked at: a week beyond the horizon shows what would come after it."""
    return scenario.horizon_us + 8 * DAY


def _burst(scenario: Scenario, burst: Burst, catalog: Catalog) -> BurstSpec:
    offer = catalog.offers[burst.offer_id]
    gpu = catalog.gpus[offer.gpu]
    terms, agreed = offer.plans["hourly"], terms_of(scenario, offer, None)
    pool = PoolSpec(
        offer=offer.id,
        gpus_per_machine=offer.gpus_per_unit,
        memory_gib=gpu.memory_gib,
        # A key of its own: hourly cards do not share the misfortune of leased ones.
        card_kind=f"hourly {gpu.id}",
        spans=offer.one_site,
        leases=(),
        failures=failure_model(scenario.reliability, offer, catalog, scenario.reliability.data_disk),
        site=f"{offer.provider} {offer.site}".strip(),
    )
    return BurstSpec(
        pool=pool,
        max_units=burst.max,
        rent_when_wait_over_us=burst.rent_when_wait_over,
        release_after_idle_us=burst.release_after_idle,
        increment_us=(agreed.increment_s or terms.increment_s) * SECOND,
        minimum_us=(terms.minimum_s if agreed.minimum_s is None else agreed.minimum_s) * SECOND,
        delay=LogNormal(burst.delay.median, burst.delay.sigma),
        stock_out=burst.stock_out.probability,
        retry_mean_us=burst.stock_out.retry_mean,
    )
