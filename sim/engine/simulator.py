"""One run: jobs, fleet, failures and decisions on one clock, from the start to the horizon."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter

from sim.engine.breakdowns import Breakdowns
from sim.engine.burst import Burst
from sim.engine.clock import Clock, Moment, Order
from sim.engine.dispatcher import Dispatcher
from sim.engine.execution import Executor, Run, Stay
from sim.engine.failures import draw_events, forced_events, in_order
from sim.engine.fleet import Machine, Pool
from sim.engine.leases import Leases
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
    """Nothing of a run is freed before its end, so collecting cycles in it only costs time.

    What the run made goes to the oldest generation at once: the first collection afterwards would
    else walk through all of it.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()
            gc.unfreeze()
            gc.enable()


class _Simulator:
    def __init__(self, plan: FleetPlan, jobs: JobSet, rates: RateTable, streams: Streams) -> None:
        self.plan = plan
        self.env = Clock()
        self.runs: list[Run] = []
        self._arrivals = iter(jobs.jobs)
        self.executor = Executor(
            self.env, plan.checkpoint, plan.horizon_us,
            on_freed=self._freed, on_again=self._again, finds=self._finds,
        )  # fmt: skip
        self._streams = streams
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
        else:
            self.executor.on_freed = self.dispatcher.freed
        self.breakdowns = [self._breakdowns(pool, streams) for pool in self.pools]
        leases = Leases(self.env, plan.horizon_us, self.executor, self.dispatcher)
        for pool in self.pools:
            if pool.burst and pool.spec.failures is not None:
                for machine in pool.machines:
                    machine.disk_kept = pool.spec.failures.disk_kept
            leases.schedule(pool)

    def run(self) -> RunLog:
        horizon = self.plan.horizon_us
        self.env.play(horizon, self._next_arrival(), self._arrive)
        self.executor.cut(horizon)
        for held in self.executor.running.values():
            if held.stay is not None:
                held.stay.pool.give_back(held.stay.cards, horizon, held.stay.start_us)
        for pool in self.pools:
            for machine in pool.machines:
                if machine.leased:
                    pool.take_away(machine, horizon, self._end_of(pool, machine))
        log = self._log()
        # Cards and machines name each other: without this they would live until the next full collection.
        for pool in self.pools:
            for machine in pool.machines:
                machine.cards.clear()
        self.executor.attempts.clear()  # the log has its own; here they would keep the run alive
        return log

    # --- arrivals ---------------------------------------------------------------------------

    def _next_arrival(self) -> Micros:
        """Time of the next submission; the horizon if there is none before."""
        self._next = next(self._arrivals, None)
        horizon = self.plan.horizon_us
        return horizon if self._next is None else min(self._next.submit_us, horizon)

    def _arrive(self) -> Micros:
        if self._next is not None:
            arrived = Run(self._next)
            self.runs.append(arrived)
            self.dispatcher.submit(arrived)
        return self._next_arrival()

    def _freed(self, stay: Stay) -> None:
        """Only where there is a burst pool; else the dispatcher is told at once."""
        if self.burst is not None and stay.pool.burst:
            for machine in {card.machine.ordinal: card.machine for card in stay.cards}.values():
                self.burst.idle(machine)
        self.dispatcher.freed(stay)

    def _again(self, run_: Run, at_us: Micros) -> None:
        """A job is to be run again from the beginning: now, for its result is bad, or when submitted."""
        if at_us == self.executor.now and run_.state == "waiting":
            self.dispatcher.requeue(run_)
        else:
            Moment(self.env, at_us, Order.ARRIVAL, self._resubmitted, run_)

    def _resubmitted(self, moment: Moment) -> None:
        run_: Run = moment.subject
        self.executor.resubmit(run_, self.executor.now)
        self.dispatcher.requeue(run_)

    def _finds(self, run_: Run, stay: Stay) -> bool:
        model = stay.pool.spec.failures_of(stay.cards[0].machine.lease)
        draw = self._streams.generator("bad result", run_.job.id, run_.redone).random()
        return model is not None and draw < model.found

    def _end_of(self, pool: Pool, machine: Machine) -> Micros | None:
        """The planned end of a lease that reaches exactly to the horizon; None for a later one."""
        spans = (span for span in pool.spec.leases if span.lease == machine.lease)
        return next((s.end_us for s in spans if s.end_us == self.plan.horizon_us), None)

    # --- failures ---------------------------------------------------------------------------

    def _breakdowns(self, pool: Pool, streams: Streams) -> Breakdowns:
        events = draw_events(pool.spec, len(pool.machines), self.plan.horizon_us, streams)
        if not pool.burst:
            events += forced_events(enumerate(self.plan.forced), pool.spec, len(pool.machines), streams)
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
        attempts = self.executor.attempts
        attempts.sort(key=attrgetter("start_us", "job", "end_us"))
        return RunLog(
            horizon_us=self.plan.horizon_us,
            jobs=tuple(self._job_records()),
            attempts=tuple(attempts),
            leases=tuple(leases),
            failures=tuple(failures),
            burst_orders=self.burst.orders if self.burst else 0,
            burst_stock_outs=self.burst.stock_outs if self.burst else 0,
        )

    def _job_records(self) -> Iterator[JobRecord]:
        """The records, in order of submission; what they are made from is let go at once."""
        runs = self.runs
        runs.reverse()
        while runs:
            yield self._job_record(runs.pop())

    def _job_record(self, r: Run) -> JobRecord:
        waited = self.plan.horizon_us - r.queued_us if r.state == "waiting" else 0
        done = r.state == "done"
        return JobRecord(
            r.job.id, r.state, r.first_start_us, r.end_us, r.wait_us + waited, r.gpus, r.offer,
            r.interruptions, 1.0 if done else r.progress, r.run_us, r.reason, r.pause_us,
            r.submissions, r.redone, done and r.bad_us is not None,
        )  # fmt: skip


def _machines(leases: Sequence[LeaseSpan]) -> int:
    return sum(span.count for span in leases)
