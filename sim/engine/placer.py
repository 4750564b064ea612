"""Which cards a job may take, in which order: the ways of every shape under a placement rule.

Jobs of one shape have the same ways, so whether one fits now is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from sim.decisions.placement import PLACEMENTS, best_fit, cheapest_first, worthwhile
from sim.decisions.strategies import units_needed
from sim.decisions.views import PoolView, WayView
from sim.engine.capacity import Capacity, last_time_with
from sim.engine.execution import Executor, Run
from sim.engine.fleet import Card, Pool
from sim.engine.lengths import run_time
from sim.engine.sharing_pools import DividedPool, SharedPool
from sim.model.fleet import FleetPlan
from sim.model.job import JobShape
from sim.model.rates import RateTable, RunOption
from sim.units import Micros

__all__ = ["Placer", "SharingPlacer", "Spot", "Way", "Ways"]

Ways = list[tuple[Pool, tuple[RunOption, ...]]]
Way = tuple[Pool, RunOption, bool]
"""A pool, a way to run there, and whether only machines that are already in use are looked at."""
Spot = tuple[Pool, RunOption, list[Card]]


class Placer:
    """Finds cards for jobs. Options of one pool are tried in the order of `worthwhile`."""

    def __init__(
        self,
        plan: FleetPlan,
        pools: Sequence[Pool],
        shapes: Sequence[JobShape],
        rates: RateTable,
        executor: Executor,
    ) -> None:
        self.rule = PLACEMENTS[plan.placement]
        self._by_price = self.rule.by_price
        self.executor = executor
        for pool in pools:
            self._set_up(pool)
        views = [PoolView(i, pool.spec.memory_gib, pool.burst) for i, pool in enumerate(pools)]
        order = [pools[i] for i in best_fit(views)]
        self.ways = [_ways(index, shape, order, rates) for index, shape in enumerate(shapes)]
        self.last_chance = [_last_chance(ways, plan) for ways in self.ways]
        """A shape's instant from which no card of the strategy could hold it; -1 always, None never."""
        gangs = any(o.gpus > 1 for ways in self.ways for _, options in ways for o in options)
        split = self.rule.keep_whole and gangs
        self._tries = [_in_two_passes(ways) if split else _in_turn(ways) for ways in self.ways]

    def _set_up(self, pool: Pool) -> None:
        """Tell a pool how cards are looked for."""
        pool.emptiest_machine = self.rule.emptiest_machine
        pool.fill_gaps = self.rule.fill_gaps

    def tries_of(self, shape: int) -> Sequence[Way]:
        """The ways of a shape, in an order that need not be the one of each of its jobs."""
        return self._tries[shape]

    def tries(self, run: Run) -> Sequence[Way]:
        """The ways of a job in the order in which they are tried now."""
        ways = self._tries[run.shape]
        if not self._by_price or len(ways) < 2:
            return ways
        job = run.job
        left = None if job.deadline_us is None else job.submit_us + job.deadline_us - self.executor.now
        views = [
            WayView(
                pool.spec.hourly_price / pool.size * option.gpus,
                run_time(run, pool, option, self.executor.checkpoint),
                pool.burst,
            )
            for pool, option, _ in ways
        ]
        return [ways[i] for i in cheapest_first(views, left)]

    def find(self, run: Run) -> Spot | None:
        """Take the first cards that the job can have now; None if it fits nowhere."""
        tries = self.tries(run) if self._by_price else self._tries[run.shape]
        for pool, option, touched in tries:
            if option.gpus <= pool.free:
                cards = pool.take(option.gpus, option.spans, touched)
                if cards is not None:
                    return pool, option, cards
        return None


class SharingPlacer(Placer):
    """Finds cards where some are shared: free ones, then places beside other jobs, then hourly cards."""

    def _set_up(self, pool: Pool) -> None:
        super()._set_up(pool)
        if isinstance(pool, DividedPool):
            pool.on_pace = self.executor.pacer.plan

    def find(self, run: Run) -> Spot | None:
        """Take the first cards, or the first place on a card, that the job can have now."""
        tries = self.tries(run)
        leased = [way for way in tries if not way[0].burst]
        for pool, option, touched in leased:
            if isinstance(pool, SharedPool):
                cards = pool.fresh(option, touched=touched)
            else:
                cards = pool.take(option.gpus, spans=option.spans, touched=touched)
            if cards is not None:
                return pool, option, cards
        for pool, option, _ in leased:
            if isinstance(pool, SharedPool) and (cards := pool.join(option)) is not None:
                return pool, option, cards
        for pool, option, touched in tries:
            if pool.burst:
                cards = pool.take(option.gpus, spans=option.spans, touched=touched)
                if cards is not None:
                    return pool, option, cards
        return None


def _in_turn(ways: Ways) -> list[Way]:
    return [(pool, option, False) for pool, options in ways for option in options]


def _in_two_passes(ways: Ways) -> list[Way]:
    """One-card ways on machines in use before any on unused ones; leased cards before hourly ones."""
    tries: list[Way] = []
    for hourly in (False, True):
        mine = [way for way in _in_turn(ways) if way[0].burst == hourly]
        tries += [(pool, option, option.gpus == 1) for pool, option, _ in mine]
        tries += [(pool, option, False) for pool, option, _ in mine if option.gpus == 1]
    return tries


def _ways(index: int, shape: JobShape, pools: Sequence[Pool], rates: RateTable) -> Ways:
    """Pools and options of a shape in the order in which they are tried."""
    ways: Ways = []
    for pool in pools:
        offered = rates.options.get((index, pool.spec.offer), ())
        allowed = [option for option in offered if _possible(option, pool, shape)]
        options = worthwhile(allowed, shape.gpus, pool.size)
        if pool.shares and isinstance(pool, SharedPool):
            options = pool.ways(options, shape)
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
    if pool.burst:
        most = plan.burst.max_units if plan.burst else 0
        return None if units_needed(option, pool.size) <= most else -1
    return last_time_with(pool.spec, lambda have: _enough(option, have))


def _enough(option: RunOption, have: Capacity) -> bool:
    return option.gpus <= (have.cards if option.spans else have.widest)
