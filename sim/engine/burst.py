"""Cards by the hour: ordered when the oldest job has waited too long, handed back when idle.

One timer watches the oldest waiter. Each job in the queue triggers at most one order. Delay and
stock-out are drawn by the ordinal of the order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sim.decisions.strategies import release_at
from sim.engine.clock import Clock, Moment, Order
from sim.engine.execution import Run
from sim.engine.fleet import Machine, Pool
from sim.model.fleet import BurstSpec
from sim.streams import Streams
from sim.units import Micros

__all__ = ["Burst"]


@dataclass(slots=True)
class _Order:
    """An order under way: for whom, which units, and its own random numbers."""

    run: Run
    version: int
    units: list[Machine]
    asked_us: Micros
    random: np.random.Generator


class Burst:
    """The hourly pool of a strategy."""

    def __init__(
        self,
        env: Clock,
        spec: BurstSpec,
        pool: Pool,
        streams: Streams,
        units_for: Callable[[Run], int | None],
        on_change: Callable[[], None],
    ) -> None:
        self.env = env
        self.spec = spec
        self.pool = pool
        self.streams = streams
        self.units_for = units_for
        """Units that one job needs; None: the offer can never hold it."""
        self.on_change = on_change
        self.orders = 0
        self.stock_outs = 0
        self._waiters: deque[tuple[Run, int, Micros]] = deque()
        """Job, its version, and since when it waits: the oldest first, ties by job."""
        self._spare = list(reversed(pool.machines))
        """Units neither rented nor on order, the lowest ordinal last."""
        self._timer_at: Micros | None = None

    @property
    def _now(self) -> Micros:
        return self.env.now  # type: ignore[return-value]

    # --- renting ----------------------------------------------------------------------------

    def watch(self, run: Run) -> None:
        """A job has entered the queue now."""
        waiters, entry = self._waiters, (run, run.version, run.queued_us)
        place = len(waiters)
        # A job that is preempted comes back after the arrivals of the instant, which may be younger.
        while place and waiters[place - 1][2] == entry[2] and waiters[place - 1][0].job.id > run.job.id:
            place -= 1
        if place == len(waiters):
            waiters.append(entry)
        else:
            waiters.insert(place, entry)
        self.set_timer()

    def _oldest(self) -> Run | None:
        waiters = self._waiters
        while waiters and not _still_waits(*waiters[0][:2]):
            waiters.popleft()
        return waiters[0][0] if waiters else None

    def set_timer(self) -> None:
        """See to it that the oldest waiter is looked at when its time has come."""
        run = self._oldest()
        if run is None:
            return
        if self._timer_at is None:
            due = max(self._now, run.queued_us + self.spec.rent_when_wait_over_us)
            self._timer_at = due
            Moment(self.env, due, Order.OLDEST_WAITER, self._look)

    def _look(self, _: Moment) -> None:
        self._timer_at = None
        self.review()

    def review(self) -> None:
        """Order for every job that has waited too long, oldest first, as long as there are units."""
        while (run := self._oldest()) is not None:
            if run.queued_us + self.spec.rent_when_wait_over_us > self._now:
                self.set_timer()
                return
            units = self.units_for(run)
            if units is not None and units > len(self._spare):
                return  # looked at again when a unit comes back
            self._waiters.popleft()
            if units is not None:
                self._order(run, units)

    def _order(self, run: Run, units: int) -> None:
        machines = [self._spare.pop() for _ in range(units)]
        random = self.streams.generator("burst", self.pool.spec.offer, self.orders)
        self.orders += 1
        self._ask(_Order(run, run.version, machines, self._now, random))

    def _ask(self, order: _Order) -> None:
        spec = self.spec
        if order.random.random() < spec.stock_out:
            self.stock_outs += 1
            again = self._now + round(order.random.exponential(spec.retry_mean_us))
            Moment(self.env, again, Order.LEASE_START, self._ask_again, order)
            return
        delay = round(spec.delay.median_us * float(np.exp(spec.delay.sigma * order.random.standard_normal())))
        Moment(self.env, self._now + delay, Order.LEASE_START, self._usable, order)

    def _ask_again(self, moment: Moment) -> None:
        order: _Order = moment.subject
        if _still_waits(order.run, order.version):
            self._ask(order)
            return
        self._restock(order.units)  # the job has found a place meanwhile: nothing is rented

    def _usable(self, moment: Moment) -> None:
        order: _Order = moment.subject
        for machine in order.units:
            machine.ordered_us = order.asked_us
            self.pool.bring(machine, self._now)
            self.idle(machine)
        self.on_change()

    # --- handing back -----------------------------------------------------------------------

    def idle(self, machine: Machine) -> None:
        """The unit has just become idle (or usable): hand it back unless it is taken first."""
        if not machine.idle:
            return
        machine.idle_since_us = self._now
        spec = self.spec
        at_us = release_at(
            machine.since_us, self._now, spec.release_after_idle_us, spec.increment_us, spec.minimum_us
        )
        Moment(self.env, at_us, Order.LEASE_END, self._release, machine, self._now)

    def _release(self, moment: Moment) -> None:
        machine: Machine = moment.subject
        if not machine.idle or machine.idle_since_us != moment.version:
            return
        self.pool.take_away(machine, self._now, self._now)
        self._restock([machine])

    def _restock(self, machines: list[Machine]) -> None:
        self._spare = sorted([*self._spare, *machines], key=lambda machine: -machine.ordinal)
        # Jobs may be overdue for a unit: look again once this instant's decision is made.
        Moment(self.env, self._now, Order.OLDEST_WAITER, self._look)


def _still_waits(run: Run, version: int) -> bool:
    return run.state == "waiting" and run.version == version
