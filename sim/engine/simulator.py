"""One run: jobs, fleet, failures and decisions on one clock, from the start to the horizon."""

from __future__ import annotations

import gc
import heapq
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from sim.engine.breakdowns import Breakdowns
from sim.engine.burst import Burst
from sim.engine.clock import Clock, Moment, Order
from sim.engine.dispatcher import Dispatcher
from sim.engine.execution import Executor, Run, Stay
from sim.engine.failures import draw_events, forced_events, in_order
from sim.engine.fleet import Machine, Pool
from sim.engine.leases import Leases
from sim.engine.pools import leased_pool
from sim.engine.saves import kept_share, lost_since
from sim.model.chains import Chains, Submissions
from sim.model.fleet import FleetPlan, LeaseSpan
from sim.model.job import Job, JobSet
from sim.model.job_table import JobTable
from sim.model.logs import JobWriter
from sim.model.rates import RateTable
from sim.model.records import LeaseRecord, RunLog
from sim.streams import Streams
from sim.units import Micros

__all__ = ["run"]


def run(plan: FleetPlan, jobs: JobSet, rates: RateTable, streams: Streams) -> RunLog:
    """Simulate one strategy on these jobs; the same arguments give the same log.

    `jobs` must be sorted by `submit_us` with ids 0, 1, 2, ...; jobs submitted at or after the
    horizon were never submitted. With `jobs.chains` this is so for those before `chains.first`; the
    others come when another has ended, and the log counts all by its `submissions`.
    """
    with _without_cyclic_gc():
        if jobs.chains is not None:
            return _Chained(plan, jobs, jobs.chains, rates, streams).run()
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
        self._horizon_us = plan.horizon_us
        self._alive: dict[int, Run] = {}
        """Jobs that have come and are not over. Those that are over stand in the records alone."""
        self._arrivals = jobs.jobs.nameless() if isinstance(jobs.jobs, JobTable) else iter(jobs.jobs)
        self._arrived = 0
        self._gone: dict[int, Micros] = {}
        """Card-time that jobs lost with a disk after their last stays."""
        self._records = JobWriter(len(jobs.jobs))
        self._put = self._records.put
        self.executor = Executor(
            self.env, plan.checkpoint, plan.horizon_us,
            on_freed=self._freed, on_again=self._again, finds=self._finds, on_ended=self._ended,
        )  # fmt: skip
        self._streams = streams
        self.pools = [leased_pool(spec, _machines(spec.leases)) for spec in plan.pools]
        if plan.burst is not None:
            self.pools.append(Pool(plan.burst.pool, plan.burst.max_units, burst=True))
        self.executor.keeps_history = any(pool.has_snapshots for pool in self.pools)
        self.dispatcher = Dispatcher(self.env, plan, self.pools, jobs.shapes, rates, self.executor)
        self._submit = self.dispatcher.submit
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
        self.env.play(horizon, self._arriving())
        running = [run_ for run_ in self._alive.values() if run_.stay is not None]
        self.executor.cut(running, horizon)
        for held in running:
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
        return log

    # --- arrivals ---------------------------------------------------------------------------

    def _arriving(self) -> Iterator[Micros]:
        """Times of the submissions, at last the horizon; to ask for the next lets the one before happen."""
        alive, submit = self._alive, self._submit
        for job in self._arrivals:
            yield job.submit_us
            alive[job.id] = arrived = Run(job)
            self._arrived += 1
            submit(arrived)
        yield self._horizon_us

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
        draw = self._streams.generator("bad result", self._drawn_as(run_), run_.redone).random()
        return model is not None and draw < model.found

    def _drawn_as(self, run_: Run) -> int:
        """The number of a job among those that were drawn, the same in every strategy."""
        return run_.job.id

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
        for unfinished in tuple(self._alive.values()):
            self._write(unfinished)
        self.executor.attempts.void(self._gone)
        return RunLog(
            horizon_us=self.plan.horizon_us,
            jobs=self._records.table(self._arrived),
            attempts=self.executor.attempts.table(),
            leases=tuple(leases),
            failures=tuple(failures),
            burst_orders=self.burst.orders if self.burst else 0,
            burst_stock_outs=self.burst.stock_outs if self.burst else 0,
            submissions=self._submissions(),
        )

    def _submissions(self) -> Submissions | None:
        return None

    def _write(self, r: Run) -> None:
        """The record of a job that is over, or that the horizon cuts."""
        del self._alive[r.id]
        state = r.state
        waited, progress, bad = r.wait_us, 1.0, False
        if state == "done":
            bad = r.bad_us is not None
        else:
            progress = kept_share(r)
            if r.stay is None and (gone := lost_since(r)):
                self._gone[r.id] = gone
            if state == "waiting":
                waited += self._horizon_us - r.queued_us
        self._put(
            r.id, state, r.first_start_us, r.end_us, waited, r.gpus, r.offer, r.interruptions, progress,
            r.run_us, r.reason, r.pause_us, r.submissions, r.redone, bad,
        )  # fmt: skip

    _ended = _write
    """What else happens when a job is over: nothing."""


class _Chained(_Simulator):
    """A run in which the ends of jobs release others. Jobs are numbered anew, as they are submitted."""

    def __init__(
        self, plan: FleetPlan, jobs: JobSet, chains: Chains, rates: RateTable, streams: Streams
    ) -> None:
        super().__init__(plan, jobs, rates, streams)
        self._arrivals = islice(self._arrivals, chains.first)
        self._jobs, self._chains = jobs.jobs, chains
        self._drawn, self._times = array("q"), array("q")
        """Number and time of the jobs that have come."""
        self._due: list[tuple[Micros, int]] = []
        """Time and number of those that will come; at one instant they come by number."""

    def _arriving(self) -> Iterator[Micros]:
        for job in self._arrivals:
            yield job.submit_us
            self._come(job)
        yield self._horizon_us

    def _come(self, job: Job) -> None:
        now = self.executor.now
        self._drawn.append(job.id)
        self._times.append(now)
        arrived = Run(job._replace(id=self._arrived, submit_us=now))
        self._alive[self._arrived] = arrived
        self._arrived += 1
        self._submit(arrived)

    def _ended(self, run_: Run) -> None:
        self._write(run_)
        drawn, horizon = self._drawn_as(run_), self._horizon_us
        following = int(self._chains.following[drawn])
        if following >= 0:
            at_us = self._chains.release_us(drawn, run_.job.shape, self.executor.now, horizon)
            if at_us < horizon:
                heapq.heappush(self._due, (at_us, following))
                Moment(self.env, at_us, Order.ARRIVAL, self._released)

    def _released(self, _: Moment) -> None:
        self._come(self._jobs[heapq.heappop(self._due)[1]])

    def _drawn_as(self, run_: Run) -> int:
        return self._drawn[run_.job.id]

    def _submissions(self) -> Submissions:
        return Submissions(self._drawn, self._times)


def _machines(leases: Sequence[LeaseSpan]) -> int:
    return sum(span.count for span in leases)
