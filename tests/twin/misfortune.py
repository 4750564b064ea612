"""The twin's failures as they happen: one process a machine, and one a repair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.engine.failures import FailureEvent
from sim.model.failures import KINDS, PLANNED, SILENT
from sim.model.records import FailureRecord
from sim.units import Micros
from tests.twin import clock
from tests.twin.calendar import calendar, model_of
from tests.twin.cards import Card, Machine, Pool
from tests.twin.leases import snapshots
from tests.twin.life import Failure, Moved

if TYPE_CHECKING:
    from tests.twin.world import World

__all__ = ["Misfortune"]


class Misfortune:
    """What happens to the machines of one pool."""

    def __init__(self, world: World, pool: Pool) -> None:
        self.world, self.env, self.pool = world, world.env, pool
        self.records: list[FailureRecord] = []
        self.spares: dict[int, list[Micros]] = {}
        """By their number, for it is of the offer: when each of the spares is there."""
        events = calendar(pool, world.plan.forced, world.plan.horizon_us, world.streams)
        for machine in pool.machines:
            own = [event for event in events if event.machine == machine.ordinal]
            self.env.process(self.live(machine, own))
            model = model_of(pool.spec, machine.lease)
            if model is not None and model.snapshots is not None and model.snapshots.data:
                self.env.process(snapshots(world, machine, model.snapshots.every_us))

    def live(self, machine: Machine, events: list[FailureEvent]):
        """The failures of one machine, in the order of the calendar."""
        for event in events:
            yield self.env.at(event.at_us, clock.FAILURE, machine.ordinal)
            self.strike(machine, event)

    def strike(self, machine: Machine, event: FailureEvent) -> None:
        now, kind = self.env.now, KINDS[event.kind]
        model = model_of(self.pool.spec, machine.lease)
        card = machine.cards[event.card] if kind.unit == "card" else None
        already_down = machine.broken is not None or (card is not None and card.broken is not None)
        if not machine.leased or already_down:
            return
        if event.infant and now - machine.placed >= model.infancy.period_us:
            return
        if event.kind == SILENT:
            for life in card.holders:
                life.corrupt()
            return
        moves = kind.moves or event.outage.replaced
        alone = kind.hits == "card" and not moves
        self.world.decider.planner.upset = True
        token = object()
        if alone:
            card.broken = token
        else:
            machine.broken = token
            machine.models = {name: at for name, at in machine.models.items() if at <= now}
            if moves and not machine.disk_kept:
                machine.lose_disk()
        noticed = now + event.outage.detect_us
        back = self.back(machine, event, noticed, moves)
        hit = [card] if alone else machine.cards
        for broken in hit:
            broken.cut = None
        victims = [life for life in self.world.lives if any(life in c.holders for c in hit)]
        announced = event.kind == PLANNED and (
            model is None or model.maintenance is None or model.maintenance.announced
        )
        for life in victims:
            life.process.interrupt(Moved(PLANNED) if announced else Failure(event.kind, noticed))
        self.env.process(self.repair(machine, card if alone else None, token, back, moves))
        self.records.append(
            FailureRecord(
                now, event.kind, self.pool.spec.offer, machine.ordinal,
                card.ordinal if alone else None, back, tuple(life.job.id for life in victims),
                event.outage.promise_kept, burst=self.pool.burst,
            )
        )  # fmt: skip

    def back(self, machine: Machine, event: FailureEvent, noticed: Micros, moves: bool) -> Micros:
        """When what failed works again: the drawn time, after a wait for a spare, and the rollback."""
        back = noticed + event.outage.repair_us
        model = model_of(self.pool.spec, machine.lease)
        if model is None or not moves or event.outage.exact:
            return back
        if model.snapshots is not None and not machine.disk_kept:
            back += model.snapshots.rollback_us
        if model.spares is not None:
            mended = noticed + event.outage.shop_us
            spares = self.spares.setdefault(model.spares.count, [0] * model.spares.count)
            if not spares:  # the very machine is mended
                return back + event.outage.shop_us
            first = min(spares)
            spares.remove(first)
            spares.append(mended)
            back += max(0, first - noticed)
        return back

    def repair(self, machine: Machine, card: Card | None, token: object, back: Micros, moves: bool):
        yield self.env.at(back, clock.REPAIR)
        if token not in (machine.broken, None if card is None else card.broken):
            return  # replaced meanwhile
        self.world.decider.planner.upset = True
        if card is not None:
            card.broken = None
        if card is None:
            machine.broken = None
            for each in machine.cards:
                each.broken = None if moves else each.broken
            if moves and machine.leased:
                machine.placed = self.env.now
        self.world.changed()
