"""The twin's cards by the hour: who orders them, when they come and when they go back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sim.model.fleet import BurstSpec
from sim.units import Micros
from tests.twin import clock
from tests.twin.cards import Machine, Pool

if TYPE_CHECKING:
    from tests.twin.life import Life
    from tests.twin.world import World

__all__ = ["Hourly"]


class Hourly:
    """One process an order, and one an idle unit."""

    def __init__(self, world: World, spec: BurstSpec, pool: Pool) -> None:
        self.world, self.env, self.spec, self.pool = world, world.env, spec, pool
        self.orders = self.stock_outs = 0

    def spare(self) -> list[Machine]:
        return [m for m in self.pool.machines if not m.leased and not m.ordered]

    def units_for(self, life: Life) -> int | None:
        for pool, options in self.world.ways[life.job.shape]:
            if pool is self.pool:
                units = [-(-option.gpus // pool.size) for option in options]
                return min((n for n in units if n <= len(pool.machines)), default=None)
        return None

    # --- ordering ---------------------------------------------------------------------------

    def watch(self, life: Life) -> None:
        """Look again when this job has waited too long."""
        self.env.process(self.look(life.queued + self.spec.rent_when_wait_over_us))

    def look(self, due: Micros):
        yield self.env.at(due, clock.OLDEST_WAITER)
        self.review()

    def poke(self) -> None:
        """After each decision: units may have come back, jobs may have gone; watch who is idle."""
        self.env.process(self.look(self.env.now))

    def review(self) -> None:
        """Order for all who have waited too long, the oldest first, once for each wait."""
        for life in sorted(self.world.queue(), key=lambda life: (life.queued, life.job.id)):
            if life.ordered_for:
                continue
            if life.queued + self.spec.rent_when_wait_over_us > self.env.now:
                return
            units, spare = self.units_for(life), self.spare()
            if units is not None and units > len(spare):
                return
            life.ordered_for = True
            if units is not None:
                self.env.process(self.order(life, life.told, spare[:units], self.orders))
                self.orders += 1
                for machine in spare[:units]:
                    machine.ordered = True

    def order(self, life: Life, wait, machines: list[Machine], number: int):
        asked, spec = self.env.now, self.spec
        random = self.world.streams.generator("burst", self.pool.spec.offer, number)
        while random.random() < spec.stock_out:
            self.stock_outs += 1
            again = self.env.now + round(random.exponential(spec.retry_mean_us))
            yield self.env.at(again, clock.LEASE_START)
            if life.told is not wait or wait.triggered:  # it waits no longer
                for machine in machines:
                    machine.ordered = False
                self.poke()
                return
        delay = round(spec.delay.median_us * float(np.exp(spec.delay.sigma * random.standard_normal())))
        yield self.env.at(self.env.now + delay, clock.LEASE_START)
        for machine in machines:
            machine.begin(self.env.now)
            machine.ordered, machine.asked = False, asked
        self.world.decider.planner.upset = True
        self.world.changed()

    # --- handing back -----------------------------------------------------------------------

    def see_who_is_idle(self) -> None:
        """Called after every event: a unit that has just become idle will go back, unless it is used."""
        for machine in self.pool.machines:
            if not machine.idle:
                machine.idle_since = None
            elif machine.idle_since is None:
                machine.idle_since = object()
                self.env.process(self.release(machine, machine.idle_since))

    def release(self, machine: Machine, since: object):
        """At the end of the paid time after the idle time, if the unit was idle without a break."""
        spec = self.spec
        wanted = max(self.env.now + spec.release_after_idle_us - machine.since, spec.minimum_us)
        paid = spec.increment_us
        while paid < wanted:
            paid += spec.increment_us
        yield self.env.at(machine.since + paid, clock.LEASE_END)
        if machine.idle_since is since:
            machine.leased = False
            self.world.decider.planner.upset = True
            self.world.leases.append(machine.record(self.env.now, self.env.now))
            self.poke()
