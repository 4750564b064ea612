"""One run: jobs, fleet, failures and decisions on one clock, from the start to the horizon."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import simpy

from sim.engine.breakdowns import Breakdowns
from sim.engine.burst import Burst
from sim.engine.clock import Moment, Order
from sim.engine.dispatcher import Dispatcher
from sim.engine.execution import Executor, Run, Stay
from sim.engine.failures import FailureEvent, Outage, draw_events, draw_one_outage, in_order
from sim.engine.fleet import Machine, Pool
from sim.model.fleet import FleetPlan, LeaseSpan
from sim.model.job import JobSet
from sim.model.rates import RateTable
from sim.model.records import JobRecord, LeaseRecord, RunLog
from sim.streams import Streams
from sim.units import Micros

__all__ = ["run"]


def run(plan: FleetPlan, jobs: JobSet, rates: RateTable, streams: Streams) -> RunLog:
    """Simulate one strategy on these jobs; the same arguments give the same log.

    `jobs` must be sorted by `submit_us` with ids 0, 1, 2, ...; jobs submitted at or after the
    horizon were never submitted.
    """
    with _without_cyclic_gc():
        return _Simulator(plan, jobs, rates, streams).run()


@contextmanager
def _without_cyclic_gc() -> Iterator[None]:
    """Nothing of a run is freed before its end, so collecting cycles in it only costs time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Simulator:
    def __init__(self, plan: FleetPlan, jobs: JobSet, rates: RateTable, streams: Streams) -> None:
        self.plan = plan
        self.env = simpy.Environment()
        self.runs: list[Run] = []
        self._arrivals = iter(jobs.jobs)
        self.executor = Executor(self.env, plan.checkpoint, self._freed)
        self.pools = [Pool(spec, _machines(spec.leases), burst=False) for spec in plan.pools]
        if plan.burst is not None:
            self.pools.append(Pool(plan.burst.pool, plan.burst.max_units, burst=True))
        self.dispatcher = Dispatcher(self.env, plan, self.pools, jobs.shapes, rates, self.executor)
        self.burst: Burst | None = None
        if plan.burst is not None:
            self.burst = Burst(
                self.env, plan.burst, self.pools[-1], streams,
                self.dispatcher.burst_units, self.dispatcher.decide_soon,
            )  # fmt: skip
            self.dispatcher.burst = self.burst
        self.breakdowns = [self._breakdowns(pool, streams) for pool in self.pools]
        for pool in self.pools:
            if pool.burst and pool.spec.failures is not None:
                for machine in pool.machines:
                    machine.disk_kept = pool.spec.failures.disk_kept
            self._schedule_leases(pool)
        self._await_arrival()

    def run(self) -> RunLog:
        horizon = self.plan.horizon_us
        self.env.run(until=horizon)
        self.executor.cut(horizon)
        for held in self.executor.running.values():
            if held.stay is not None:
                held.stay.pool.give_back(held.stay.cards, horizon, held.stay.start_us)
        for pool in self.pools:
            for machine in pool.machines:
                if machine.leased:
                    pool.take_away(machine, horizon, self._end_of(pool, machine))
        return self._log()

    # --- arrivals ---------------------------------------------------------------------------

    def _await_arrival(self) -> None:
        job = next(self._arrivals, None)
        if job is not None and job.submit_us < self.plan.horizon_us:
            run_ = Run(job)
            Moment(self.env, job.submit_us, Order.ARRIVAL, self._arrive, run_)

    def _arrive(self, moment: Moment) -> None:
        arrived: Run = moment.subject
        self.runs.append(arrived)
        self._await_arrival()
        self.dispatcher.submit(arrived)

    def _freed(self, stay: Stay) -> None:
        if self.burst is not None and stay.pool.burst:
            for machine in {card.machine.ordinal: card.machine for card in stay.cards}.values():
                self.burst.idle(machine)
        self.dispatcher.decide_soon()

    # --- leases -----------------------------------------------------------------------------

    def _schedule_leases(self, pool: Pool) -> None:
        first = 0
        for span in pool.spec.leases:
            machines = pool.machines[first : first + span.count]
            first += span.count
            for machine in machines:
                machine.lease = span.lease
                machine.disk_kept = span.disk_kept
            if span.start_us < self.plan.horizon_us:
                Moment(self.env, span.start_us, Order.LEASE_START, self._lease_starts, (pool, machines))
                if span.end_us is not None and span.end_us < self.plan.horizon_us:
                    Moment(self.env, span.end_us, Order.LEASE_END, self._lease_ends, (pool, machines))

    def _lease_starts(self, moment: Moment) -> None:
        pool, machines = moment.subject
        for machine in machines:
            pool.bring(machine, self.executor.now)
        self.dispatcher.decide_soon()

    def _lease_ends(self, moment: Moment) -> None:
        pool, machines = moment.subject
        held = {id(card.held_by): card.held_by for m in machines for card in m.cards if card.held_by}
        leaving = sorted((r for r in held.values() if isinstance(r, Run)), key=lambda r: r.job.id)
        for machine in machines:
            pool.close(machine)
        for left in leaving:
            # A job whose failure nobody has noticed yet cannot write a checkpoint.
            failed = left.stay.failed if left.stay else None
            self.executor.interrupt(left, failed or "lease_end", saves=failed is None)
        for machine in machines:
            pool.take_away(machine, self.executor.now, self.executor.now)
        for left in leaving:
            self.dispatcher.requeue(left)
        self.dispatcher.lease_ended()
        self.dispatcher.decide_soon()

    def _end_of(self, pool: Pool, machine: Machine) -> Micros | None:
        """The planned end of a lease that reaches exactly to the horizon; None for a later one."""
        spans = (span for span in pool.spec.leases if span.lease == machine.lease)
        return next((s.end_us for s in spans if s.end_us == self.plan.horizon_us), None)

    # --- failures ---------------------------------------------------------------------------

    def _breakdowns(self, pool: Pool, streams: Streams) -> Breakdowns:
        events = draw_events(pool.spec, len(pool.machines), self.plan.horizon_us, streams)
        for number, forced in enumerate(self.plan.forced):
            known = forced.machine < len(pool.machines) and forced.card < pool.size
            if forced.offer == pool.spec.offer and known and not pool.burst:
                outage = (
                    draw_one_outage(pool.spec, forced.kind, number, streams)
                    if forced.down_us is None
                    else Outage(0, forced.down_us, None)
                )
                events.append(FailureEvent(forced.at_us, forced.machine, forced.card, forced.kind, outage))
        events = in_order(e for e in events if e.at_us < self.plan.horizon_us)
        return Breakdowns(self.env, pool, events, self.executor, self.dispatcher.requeue, self._mended(pool))

    def _mended(self, pool: Pool) -> Callable[[Machine], None]:
        def mended(machine: Machine) -> None:
            if self.burst is not None and pool.burst:
                self.burst.idle(machine)
            self.dispatcher.decide_soon()

        return mended

    # --- records ----------------------------------------------------------------------------

    def _log(self) -> RunLog:
        leases: list[LeaseRecord] = [record for pool in self.pools for record in pool.records]
        leases.sort(key=lambda lease: (lease.start_us, lease.lease, lease.offer, lease.machine))
        failures = [record for kind in self.breakdowns for record in kind.records]
        failures.sort(key=lambda failure: (failure.at_us, failure.offer, failure.machine))
        attempts = sorted(self.executor.attempts, key=lambda a: (a.start_us, a.job, a.end_us))
        return RunLog(
            horizon_us=self.plan.horizon_us,
            jobs=tuple(self._job_record(record) for record in self.runs),
            attempts=tuple(attempts),
            leases=tuple(leases),
            failures=tuple(failures),
            burst_orders=self.burst.orders if self.burst else 0,
            burst_stock_outs=self.burst.stock_outs if self.burst else 0,
        )

    def _job_record(self, r: Run) -> JobRecord:
        waited = self.plan.horizon_us - r.queued_us if r.state == "waiting" else 0
        return JobRecord(
            job=r.job.id, state=r.state, start_us=r.first_start_us, end_us=r.end_us,
            wait_us=r.wait_us + waited, gpus=r.gpus, offer=r.offer,
            interruptions=r.interruptions, progress=1.0 if r.state == "done" else r.progress,
            run_us=r.run_us, reason=r.reason,
        )  # fmt: skip


def _machines(leases: Sequence[LeaseSpan]) -> int:
    return sum(span.count for span in leases)
