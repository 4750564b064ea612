"""The slow twin of the engine: one process a job, a machine, a lease and the hourly cards.

Written from the rules of the simulation and the docstrings of the model, with plain lists that are
searched anew each time, to be compared with the engine job by job. Only random draws are shared.
"""

from __future__ import annotations

from sim.engine.failures import FailureEvent, Outage, draw_events, draw_one_outage
from sim.model.failures import KINDS, PLANNED
from sim.model.fleet import FleetPlan, LeaseSpan
from sim.model.job import JobSet
from sim.model.rates import RateTable
from sim.model.records import FailureRecord, LeaseRecord, RunLog
from sim.streams import Streams
from sim.units import Micros
from tests.twin import clock
from tests.twin.cards import Card, Machine, Pool
from tests.twin.hourly import Hourly
from tests.twin.lengths import expected_end
from tests.twin.life import Cut, Failure, Life, Moved, Stay
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
        self.failures: list[FailureRecord] = []
        self.deciding = False
        self.lives = [Life(self, job) for job in jobs.jobs if job.submit_us < plan.horizon_us]
        self.decider = Decider(self)
        self.hourly: Hourly | None = None if plan.burst is None else Hourly(self, plan.burst, self.pools[-1])
        for pool in self.pools:
            self.start_processes(pool)

    def start_processes(self, pool: Pool) -> None:
        first = 0
        for span in pool.spec.leases:
            self.env.process(self.lease(span, pool.machines[first : first + span.count]))
            first += span.count
        events = self.failure_calendar(pool)
        for machine in pool.machines:
            own = [event for event in events if event.machine == machine.ordinal]
            self.env.process(self.misfortune(machine, own))

    def run(self) -> RunLog:
        end = self.env.process(self.horizon())
        while not end.processed:
            passing = self.env.peek() - self.env.now
            if passing:
                self.add_up(passing)
            self.env.step()
            if self.hourly is not None:
                self.hourly.see_who_is_idle()
        return RunLog(
            self.plan.horizon_us,
            tuple(life.record(self.plan.horizon_us) for life in self.lives),
            tuple(
                sorted((a for life in self.lives for a in life.attempts), key=lambda a: (a.start_us, a.job))
            ),
            tuple(sorted(self.leases, key=lambda r: (r.start_us, r.lease, r.offer, r.machine))),
            tuple(sorted(self.failures, key=lambda f: (f.at_us, f.offer, f.machine, f.card or 0))),
            self.hourly.orders if self.hourly else 0,
            self.hourly.stock_outs if self.hourly else 0,
        )

    def add_up(self, passing: Micros) -> None:
        """Time passes: a card with a job is busy, one without that is broken is down."""
        for machine in self.machines:
            if machine.leased:
                for card in machine.cards:
                    if card.holder is not None:
                        machine.busy += passing
                    elif card.down:
                        machine.down += passing

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
                self.leases.append(machine.record(self.plan.horizon_us if planned else None))

    # --- the queue --------------------------------------------------------------------------

    def could_ever_hold(self, shape: int, now: Micros) -> bool:
        """Whether some card of the strategy, leased now, later or by the hour, could hold the shape."""
        for pool, options in self.ways[shape]:
            times = [now, *(s.start_us for s in pool.spec.leases if s.start_us > now)]
            for option in options:
                machines = -(-option.gpus // pool.size)
                most = max(pool.machines_leased_at(time) for time in times)
                if machines <= (len(pool.machines) if pool.burst else most):
                    return True
        return False

    def queue(self) -> list[Life]:
        return [life for life in self.lives if life.told is not None and not life.told.triggered]

    def joined(self, life: Life) -> None:
        """A job has begun to wait."""
        if any(other.job.id > life.job.id for other in self.queue()):
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

    # --- leases -----------------------------------------------------------------------------

    def lease(self, span: LeaseSpan, machines: list[Machine]):
        yield self.env.at(span.start_us, clock.LEASE_START)
        for machine in machines:
            machine.begin(self.env.now)
        self.changed()
        if span.end_us is None:
            return
        yield self.env.at(span.end_us, clock.LEASE_END)
        for machine in machines:
            machine.leased = False
        for life in self.lives:
            if life.stay is not None and any(card.machine in machines for card in life.stay.cards):
                life.process.interrupt(Moved("lease_end"))
        yield self.env.timeout(0)  # they go
        self.leases += [machine.record(self.env.now) for machine in machines]
        for machine in machines:
            for card in machine.cards:
                card.cut = None
        for life in self.queue():
            if not self.could_ever_hold(life.job.shape, self.env.now):
                life.told.succeed(None)
                self.decider.planner.upset = True
        self.changed()

    # --- failures ---------------------------------------------------------------------------

    def failure_calendar(self, pool: Pool) -> list[FailureEvent]:
        horizon = self.plan.horizon_us
        events = draw_events(pool.spec, len(pool.machines), horizon, self.streams)
        for number, forced in enumerate(self.plan.forced):
            known = forced.machine < len(pool.machines) and forced.card < pool.size
            if forced.offer == pool.spec.offer and not pool.burst and known:
                if forced.down_us is None:
                    outage = draw_one_outage(pool.spec, forced.kind, number, self.streams)
                else:
                    outage = Outage(0, forced.down_us, None)
                shared = KINDS[forced.kind].unit == "shared"  # here: of all machines of the pool
                for machine in range(len(pool.machines)) if shared else [forced.machine]:
                    events.append(FailureEvent(forced.at_us, machine, forced.card, forced.kind, outage))
        return sorted(events, key=lambda e: (e.at_us, e.machine, e.card, e.kind))

    def misfortune(self, machine: Machine, events: list[FailureEvent]):
        """The failures of one machine, in the order of the calendar."""
        for event in events:
            yield self.env.at(event.at_us, clock.FAILURE, machine.ordinal)
            self.strike(machine, event)

    def strike(self, machine: Machine, event: FailureEvent) -> None:
        card = machine.cards[event.card] if KINDS[event.kind].unit == "card" else None
        already_down = machine.broken is not None or (card is not None and card.broken is not None)
        if not machine.leased or already_down:
            return
        kind = KINDS[event.kind]
        moves = kind.moves or event.outage.replaced
        alone = kind.hits == "card" and not moves
        self.decider.planner.upset = True
        token = object()
        if alone:
            card.broken = token
        else:
            machine.broken = token
            machine.models = {name: at for name, at in machine.models.items() if at <= self.env.now}
            if moves and not machine.disk_kept:
                machine.replace_disk()
        noticed = self.env.now + event.outage.detect_us
        back = noticed + event.outage.repair_us
        hit = [c for c in machine.cards if c is card] if alone else machine.cards
        for broken in hit:
            broken.cut = None
        victims = [life for life in self.lives if any(life in c.holders for c in hit)]
        for life in victims:
            planned = event.kind == PLANNED
            life.process.interrupt(Moved(PLANNED) if planned else Failure(event.kind, noticed))
        self.env.process(self.repair(machine, card if alone else None, token, back, moves))
        self.failures.append(
            FailureRecord(
                self.env.now, event.kind, machine.pool.spec.offer, machine.ordinal,
                card.ordinal if alone else None, back, tuple(life.job.id for life in victims),
                event.outage.promise_kept, burst=machine.pool.burst,
            )
        )  # fmt: skip

    def repair(self, machine: Machine, card: Card | None, token: object, back: Micros, moves: bool):
        yield self.env.at(back, clock.REPAIR)
        if token not in (machine.broken, None if card is None else card.broken):
            return  # replaced meanwhile
        self.decider.planner.upset = True
        if card is not None:
            card.broken = None
        if card is None:
            machine.broken = None
            for each in machine.cards:
                each.broken = None if moves else each.broken
        self.changed()

    # --- checkpoints ------------------------------------------------------------------------

    def checkpoint_every(self, stay: Stay, total: Micros) -> Micros | None:
        return self.plan.checkpoint.every_us

    def checkpoint_cost(self, stay: Stay) -> Micros:
        cost = self.plan.checkpoint.cost_us
        return stay.option.checkpoint_us if cost is None else cost
