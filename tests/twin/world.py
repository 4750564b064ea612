"""The slow twin of the engine: one process a job, a machine, a lease and the hourly cards.

Written from the rules of the simulation and the docstrings of the model, with plain lists that are
searched anew each time, to be compared with the engine job by job. Only random draws are shared.
"""

from __future__ import annotations

from sim.model.fleet import FleetPlan
from sim.model.job import JobSet
from sim.model.rates import RateTable
from sim.model.records import LeaseRecord, RunLog
from sim.streams import Streams
from sim.units import Micros
from tests.twin import clock
from tests.twin.cards import Card, Pool
from tests.twin.hourly import Hourly
from tests.twin.leases import lease
from tests.twin.lengths import expected_end, interval
from tests.twin.life import Cut, Life, Stay
from tests.twin.misfortune import Misfortune
from tests.twin.rules import Decider, ways_of
from tests.twin.sharing import place_beside

__all__ = ["World", "simulate"]


def simulate(plan: FleetPlan, jobs: JobSet, rates: RateTable, streams: Streams) -> RunLog:
    """The same arguments and the same kind of answer as the engine; reasons are left empty."""
    return World(plan, jobs, rates, streams).run()


class World:
    def __init__(self, plan: FleetPlan, jobs: JobSet, rates: RateTable, streams: Streams) -> None:
        self.env = clock.Clock()
        self.plan, self.jobs, self.rates, self.streams = plan, jobs, rates, streams
        self.pools = [Pool(spec, i, None) for i, spec in enumerate(plan.pools)]
        if plan.burst is not None:
            self.pools.append(Pool(plan.burst.pool, len(self.pools), plan.burst.max_units))
        self.machines = [machine for pool in self.pools for machine in pool.machines]
        self.ways = [ways_of(i, shape, self.pools, rates) for i, shape in enumerate(jobs.shapes)]
        self.leases: list[LeaseRecord] = []
        self.deciding = False
        self.lives = [Life(self, job) for job in jobs.jobs if job.submit_us < plan.horizon_us]
        self.decider = Decider(self)
        self.hourly: Hourly | None = None if plan.burst is None else Hourly(self, plan.burst, self.pools[-1])
        for pool in self.pools:
            for span in pool.spec.leases:
                machines = [machine for machine in pool.machines if machine.lease == span.lease]
                self.env.process(lease(self, span, machines))
        self.misfortunes = [Misfortune(self, pool) for pool in self.pools]

    def run(self) -> RunLog:
        end = self.env.process(self.horizon())
        while not end.processed:
            passing = self.env.peek() - self.env.now
            if passing:
                self.add_up(passing)
            self.env.step()
            if self.hourly is not None:
                self.hourly.see_who_is_idle()
        failures = [record for misfortune in self.misfortunes for record in misfortune.records]
        return RunLog(
            self.plan.horizon_us,
            tuple(life.record(self.plan.horizon_us) for life in self.lives),
            tuple(
                sorted((a for life in self.lives for a in life.attempts), key=lambda a: (a.start_us, a.job))
            ),
            tuple(sorted(self.leases, key=lambda r: (r.start_us, r.lease, r.offer, r.machine))),
            tuple(sorted(failures, key=lambda f: (f.at_us, f.offer, f.machine, f.card or 0))),
            self.hourly.orders if self.hourly else 0,
            self.hourly.stock_outs if self.hourly else 0,
        )

    def add_up(self, passing: Micros) -> None:
        for machine in self.machines:
            if machine.leased:
                machine.pass_time(passing)

    def horizon(self):
        """All that runs is cut before anything else happens at that instant."""
        yield self.env.at(self.plan.horizon_us, clock.HORIZON)
        for life in self.lives:
            if life.stay is not None:
                life.process.interrupt(Cut())
        yield self.env.timeout(0)
        for machine in self.machines:
            if machine.leased:
                ends = [s.end_us for s in machine.pool.spec.leases if s.lease == machine.lease]
                planned = self.plan.horizon_us in ends
                end = self.plan.horizon_us
                self.leases.append(machine.record(end, end if planned else None))

    # --- the queue --------------------------------------------------------------------------

    def could_ever_hold(self, shape: int, now: Micros) -> bool:
        """Whether some card of the strategy, leased now, later or by the hour, could hold the shape."""
        for pool, options in self.ways[shape]:
            offers = [[pool.size] * len(pool.machines)]
            if not pool.burst:
                offers = [pool.usable_at(time) for time in (now, *pool.openings(now))]
            for option in options:
                for cards in offers:
                    if option.gpus <= (sum(cards) if option.spans or pool.burst else max(cards, default=0)):
                        return True
        return False

    def queue(self) -> list[Life]:
        return [life for life in self.lives if life.told is not None and not life.told.triggered]

    def joined(self, life: Life) -> None:
        """A job has begun to wait."""
        if any(other.turn > life.turn for other in self.queue()):
            self.decider.planner.upset = True
        self.changed()
        if self.hourly is not None:
            self.hourly.watch(life)

    def left(self, life: Life) -> None:
        """A job is leaving its cards."""
        if self.env.now < expected_end(life):
            self.decider.planner.early = True

    def changed(self) -> None:
        """Something has changed: decide once this instant's other events are over."""
        if not self.deciding:
            self.deciding = True
            self.env.process(self.decide())

    def decide(self):
        yield self.env.at(self.env.now, clock.DECISION)
        self.deciding = False
        yield from self.decider.decide()
        if self.hourly is not None:
            self.hourly.poke()

    def start(self, life: Life, place: tuple[Pool, object, list[Card]]) -> None:
        """The decision: this job takes these cards now."""
        for card in place[2]:
            assert card.free or place[1].part is not None or card is place_beside(place[0], place[1])
            card.holders.append(life)
        life.told.succeed(place)
        ripe = self.plan.parameters.preempt_after_us
        if ripe is not None:  # it may then have to go for a more urgent job
            self.env.process(self.decide_at(self.env.now + ripe))

    def decide_at(self, time: Micros):
        yield self.env.at(time, clock.ARRIVAL)
        self.changed()

    # --- checkpoints ------------------------------------------------------------------------

    def checkpoint_every(self, stay: Stay) -> Micros | None:
        machines = {card.machine for card in stay.cards}
        lease = stay.cards[0].machine.lease
        cost, cards = self.checkpoint_cost(stay), len(stay.cards)
        return interval(self.plan.checkpoint, cost, stay.pool, lease, cards, len(machines))

    def checkpoint_cost(self, stay: Stay) -> Micros:
        cost = self.plan.checkpoint.cost_us
        return stay.option.checkpoint_us if cost is None else cost
