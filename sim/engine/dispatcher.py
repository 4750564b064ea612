"""Who gets which cards when: the queue meets the fleet, once an instant, after all that happened in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sim.decisions.policies import POLICIES
from sim.decisions.sharing import alone_only
from sim.decisions.strategies import units_needed
from sim.engine.backfill import EasyQueue
from sim.engine.burst import Burst
from sim.engine.capacity import capacity_steps
from sim.engine.clock import Clock
from sim.engine.conservative import ConservativeQueue
from sim.engine.execution import Executor, Run, Stay
from sim.engine.fair import FairQueue
from sim.engine.fleet import Pool
from sim.engine.placer import Placer, SharingPlacer, Spot
from sim.engine.preemption import Preemption
from sim.engine.queue import Follower, Line, Queue, Ranking, Room, SkippingQueue
from sim.model.fleet import FleetPlan, PolicyParameters
from sim.model.job import JobShape
from sim.model.rates import RateTable
from sim.model.said import said
from sim.units import Micros

__all__ = ["Dispatcher"]


class Dispatcher:
    """Takes jobs in, refuses what no card of the strategy can ever hold, and starts the rest."""

    def __init__(
        self,
        env: Clock,
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
        sharing = any(pool.shares for pool in pools)
        preempts = plan.parameters.preempt_after_us is not None
        if sharing and (why := alone_only(plan.policy, preempts=preempts)):
            raise ValueError(why)
        placer = SharingPlacer if sharing else Placer
        self._placer = placer(plan, pools, shapes, rates, executor)
        self._ways = self._placer.ways
        self._last_chance = self._placer.last_chance
        self._preemption: Preemption | None = None
        self._follow: Follower | None = None
        """Who must be told of every start and end of a stay."""
        self._queue = self._line(plan)
        self._decides: Callable[[], None] = self._decide
        if self._follow is None and not any(pool.burst for pool in pools):
            self._decides = self._decide_simply

    def _line(self, plan: FleetPlan) -> Line:
        policy, parameters = POLICIES[plan.policy], plan.parameters
        if policy.when_blocked == "backfill":
            self._follow = easy = EasyQueue(self.pools, self._placer, self._begin)
            return easy
        if policy.when_blocked == "plan":
            self._follow = careful = ConservativeQueue(
                self.pools, self._placer, self.executor, parameters.look_ahead, self._begin
            )
            return careful
        if policy.by_team:
            self._follow = fair = FairQueue(parameters.half_life_us, lambda: self.executor.now)
            return fair
        ranking = Ranking(policy, parameters, self._estimate)
        kind = SkippingQueue if policy.when_blocked == "skip" else Queue
        queue = kind(ranking, self._room(parameters))
        if parameters.preempt_after_us is not None:
            self._follow = self._preemption = Preemption(
                self.executor, self._placer, parameters.preempt_after_us,
                ranking.key, self.requeue, self._await_decision,
            )  # fmt: skip
        return queue

    def _room(self, parameters: PolicyParameters) -> Room | None:
        """How many cards a start takes at least; None where jobs make room, share cards or rent more."""
        if parameters.preempt_after_us is not None or any(p.shares or p.burst for p in self.pools):
            return None
        least = [min((o.gpus for _, options in ways for o in options), default=0) for ways in self._ways]
        return Room(self.pools, least)

    # --- jobs come and go -------------------------------------------------------------------

    def submit(self, run: Run) -> None:
        """A job arrives: it is refused now, or queued."""
        last = self._last_chance[run.shape]
        if last is not None and run.job.submit_us >= last:
            self._refuse(run)
            return
        if self._queue.push(run):
            self.env.decide = self._decides
        if self.burst is not None:
            self.burst.watch(run)

    def requeue(self, run: Run) -> None:
        """An interrupted job waits again, with its old place in the order."""
        last = self._last_chance[run.shape]
        if last is not None and self.executor.now >= last:
            self._refuse(run)
        else:
            self._enqueue(run)

    def _enqueue(self, run: Run) -> None:
        may_start = self._queue.push(run)
        if self.burst is not None:
            self.burst.watch(run)
        if may_start:
            self._await_decision()

    def lease_ended(self) -> None:
        """Refuse waiting jobs that nothing left of the strategy could hold: a lease or a window has ended."""
        now = self.executor.now
        last = self._last_chance
        if any(chance is not None and chance == now for chance in last):
            for run in self._queue.remove(lambda run: _over(last[run.shape], now)):
                self._refuse(run)

    def _refuse(self, run: Run) -> None:
        now = self.executor.now
        run.wait_us += now - run.queued_us
        run.state, run.end_us = "refused", now
        run.version += 1
        run.reason = self._why_refused(run)
        self.executor.on_ended(run)

    def _why_refused(self, run: Run) -> str:
        shape = run.shape
        if self._ways[shape] and self._last_chance[shape] != -1:
            windows = any(span.windows is not None for pool in self.pools for span in pool.spec.leases)
            if windows:
                return said("the last lease or window that could hold it has ended")
            return said("the last lease that could hold it has ended")
        keys = [(shape, pool.spec.offer) for pool in self.pools]
        counts = [option.gpus for key in keys for option in self.rates.options.get(key, ())]
        if counts:
            most = max((_largest_placement(pool) for pool in self.pools), default=0)
            return said(
                "needs {cards} cards at a time; the strategy can give one job at most {most}",
                cards=min(counts),
                most=most,
            )
        misfits = [self.rates.misfits[key] for key in keys if key in self.rates.misfits]
        nearest = min(misfits, key=lambda misfit: misfit.shortfall_gib or 0.0, default=None)
        return said("fits on no card of the strategy") if nearest is None else nearest.reason

    def freed(self, stay: Stay) -> None:
        """A job has left its cards."""
        if self._follow is not None:
            self._follow.left(stay)
            self._follow.dirty = True
        if self._queue.waiting or self.burst is not None:
            self.env.decide = self._decides

    # --- decisions --------------------------------------------------------------------------

    def decide_soon(self) -> None:
        """Cards have come or become free: decide once this instant's other events are over."""
        if self._follow is not None:
            self._follow.dirty = True
        # A job that comes into an empty queue is its head, and asks for a decision itself.
        if self._queue.waiting or self.burst is not None:
            self.env.decide = self._decides

    def _await_decision(self) -> None:
        self.env.decide = self._decides

    def _decide(self) -> None:
        if self._queue.waiting:
            self._queue.start_what_fits(self._try_start)
        if self.burst is not None:
            self.burst.set_timer()

    def _decide_simply(self) -> None:
        """What `_decide` comes to where nobody is told of starts, makes room or rents more."""
        self._queue.start_what_fits(self._start_if_it_fits)

    def _try_start(self, run: Run) -> bool:
        spot = self._placer.find(run)
        if spot is None and self._preemption is not None:
            spot = self._preemption.make_room(run)
        if spot is None:
            return False
        pool, option, cards = spot
        self.executor.start(run, pool, option, cards)
        if self._follow is not None and run.stay is not None:
            self._follow.started(run.stay)
        return True

    def _start_if_it_fits(self, run: Run) -> bool:
        spot = self._placer.find(run)
        if spot is None:
            return False
        pool, option, cards = spot
        self.executor.start(run, pool, option, cards)
        return True

    def _begin(self, run: Run, spot: Spot) -> None:
        pool, option, cards = spot
        self.executor.start(run, pool, option, cards)
        if self._follow is not None and run.stay is not None:
            self._follow.started(run.stay)

    def _estimate(self, run: Run) -> Micros:
        """Expected run time on the cards that are tried first."""
        ways = self._ways[run.shape]
        option = ways[0][1][0]
        return option.startup_us + round(run.job.work * option.us_per_work)

    def burst_units(self, run: Run) -> int | None:
        """Hourly units that one job needs; None: the hourly offer can never hold it."""
        for pool, options in self._ways[run.shape]:
            if pool.burst:
                fitting = (units_needed(option, pool.size) for option in options)
                return min((units for units in fitting if units <= len(pool.machines)), default=None)
        return None


def _largest_placement(pool: Pool) -> int:
    """Cards of a pool that one job can have at one time, at most."""
    if pool.burst:
        return pool.size
    steps = capacity_steps(pool.spec)
    return max((step.cards if pool.spec.spans else step.widest for step in steps), default=0)


def _over(chance: Micros | None, now: Micros) -> bool:
    return chance is not None and chance <= now
