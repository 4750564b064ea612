"""Who gets which cards when: the queue meets the fleet, once an instant, after all that happened in it."""

from __future__ import annotations

from collections.abc import Sequence

import simpy

from sim.decisions.placement import best_fit, worthwhile
from sim.decisions.policies import POLICIES
from sim.decisions.strategies import units_needed
from sim.decisions.views import PoolView
from sim.engine.burst import Burst
from sim.engine.clock import Moment, Order
from sim.engine.execution import Executor, Run
from sim.engine.fleet import Pool, capacity_steps, last_time_with
from sim.engine.queue import Queue
from sim.model.fleet import FleetPlan, PoolSpec
from sim.model.job import JobShape
from sim.model.rates import RateTable, RunOption
from sim.units import Micros

__all__ = ["Dispatcher"]


class Dispatcher:
    """Takes jobs in, refuses what no card of the strategy can ever hold, and starts the rest."""

    def __init__(
        self,
        env: simpy.Environment,
        plan: FleetPlan,
        pools: Sequence[Pool],
        shapes: Sequence[JobShape],
        rates: RateTable,
        executor: Executor,
    ) -> None:
        self.env = env
        self.executor = executor
        self.rates = rates
        self.pools = pools
        self.burst: Burst | None = None
        views = [PoolView(i, pool.spec.memory_gib, pool.burst) for i, pool in enumerate(pools)]
        order = [pools[i] for i in best_fit(views)]
        self._ways = [_ways(index, shape, order, rates) for index, shape in enumerate(shapes)]
        self._last_chance = [_last_chance(ways, plan) for ways in self._ways]
        self._queue = Queue(POLICIES[plan.policy], self._estimate)
        self._deciding = False

    # --- jobs come and go -------------------------------------------------------------------

    def submit(self, run: Run) -> None:
        """A job arrives: it is refused now, or queued."""
        last = self._last_chance[run.job.shape]
        if last is not None and run.job.submit_us >= last:
            self._refuse(run)
        else:
            self._enqueue(run)

    def requeue(self, run: Run) -> None:
        """An interrupted job waits again, with its old place in the order."""
        last = self._last_chance[run.job.shape]
        if last is not None and self.executor.now >= last:
            self._refuse(run)
        else:
            self._enqueue(run)

    def _enqueue(self, run: Run) -> None:
        is_head = self._queue.push(run)
        if self.burst is not None:
            self.burst.watch(run)
        if is_head:
            self.decide_soon()

    def lease_ended(self) -> None:
        """Refuse waiting jobs that nothing left of the strategy could hold."""
        now = self.executor.now
        last = self._last_chance
        if any(chance is not None and chance == now for chance in last):
            for run in self._queue.remove(lambda run: _over(last[run.job.shape], now)):
                self._refuse(run)

    def _refuse(self, run: Run) -> None:
        now = self.executor.now
        run.wait_us += now - run.queued_us
        run.state, run.end_us = "refused", now
        run.version += 1
        run.reason = self._why_refused(run)

    def _why_refused(self, run: Run) -> str:
        shape = run.job.shape
        if self._ways[shape] and self._last_chance[shape] != -1:
            return "the last lease that could hold it has ended"
        keys = [(shape, pool.spec.offer) for pool in self.pools]
        counts = [option.gpus for key in keys for option in self.rates.options.get(key, ())]
        if counts:
            most = max((_largest_placement(pool) for pool in self.pools), default=0)
            return f"needs {min(counts)} cards at a time; the strategy can give one job at most {most}"
        misfits = [self.rates.misfits[key] for key in keys if key in self.rates.misfits]
        nearest = min(misfits, key=lambda misfit: misfit.shortfall_gib or 0.0, default=None)
        return "fits on no card of the strategy" if nearest is None else nearest.reason

    # --- decisions --------------------------------------------------------------------------

    def decide_soon(self) -> None:
        """Decide once this instant's other events are over."""
        if not self._deciding:
            self._deciding = True
            Moment(self.env, self.executor.now, Order.DECISION, self._decide)

    def _decide(self, _: Moment) -> None:
        self._deciding = False
        if self._queue.waiting:
            self._queue.start_what_fits(self._try_start)
        if self.burst is not None:
            self.burst.set_timer()

    def _try_start(self, run: Run) -> bool:
        for pool, options in self._ways[run.job.shape]:
            for option in options:
                cards = pool.take(option.gpus, spans=option.spans)
                if cards is not None:
                    self.executor.start(run, pool, option, cards)
                    return True
        return False

    def _estimate(self, run: Run) -> Micros:
        """Expected run time on the cards that are tried first."""
        ways = self._ways[run.job.shape]
        option = ways[0][1][0]
        return option.startup_us + round(run.job.work * option.us_per_work)

    def burst_units(self, run: Run) -> int | None:
        """Hourly units that one job needs; None: the hourly offer can never hold it."""
        for pool, options in self._ways[run.job.shape]:
            if pool.burst:
                fitting = (units_needed(option, pool.size) for option in options)
                return min((units for units in fitting if units <= len(pool.machines)), default=None)
        return None


Ways = list[tuple[Pool, tuple[RunOption, ...]]]


def _ways(index: int, shape: JobShape, pools: Sequence[Pool], rates: RateTable) -> Ways:
    """Pools and options of a shape in the order in which they are tried."""
    ways: Ways = []
    for pool in pools:
        offered = rates.options.get((index, pool.spec.offer), ())
        allowed = [option for option in offered if _possible(option, pool, shape)]
        options = worthwhile(allowed, shape.gpus, pool.size)
        if options:
            ways.append((pool, options))
    return ways


def _possible(option: RunOption, pool: Pool, shape: JobShape) -> bool:
    if option.spans:
        return shape.spans and pool.spec.spans
    return option.gpus <= pool.size


def _last_chance(ways: Ways, plan: FleetPlan) -> Micros | None:
    """Instant from which no card of the strategy could hold the shape; -1 always, None never."""
    last: Micros = -1
    for pool, options in ways:
        for option in options:
            chance = _chance(option, pool, plan)
            if chance is None:
                return None
            last = max(last, chance)
    return last


def _chance(option: RunOption, pool: Pool, plan: FleetPlan) -> Micros | None:
    spec: PoolSpec = pool.spec
    if pool.burst:
        most = plan.burst.max_units if plan.burst else 0
        return None if units_needed(option, pool.size) <= most else -1
    machines = units_needed(option, pool.size) if option.spans else 1
    return last_time_with(spec, lambda have: have >= machines)


def _largest_placement(pool: Pool) -> int:
    """Cards of a pool that one job can have at one time, at most."""
    if not pool.spec.spans or pool.burst:
        return pool.size
    return pool.size * max((step.machines for step in capacity_steps(pool.spec)), default=0)


def _over(chance: Micros | None, now: Micros) -> bool:
    return chance is not None and chance <= now
