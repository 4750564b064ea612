"""The twin's leases: one process a lease, one for its windows, and one for the snapshots of a machine."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from sim.model.fleet import LeaseSpan
from sim.units import Micros
from tests.twin import clock
from tests.twin.cards import Image, Machine
from tests.twin.life import Moved

if TYPE_CHECKING:
    from tests.twin.world import World

__all__ = ["lease", "snapshots"]


def lease(world: World, span: LeaseSpan, machines: list[Machine]):
    """The machines come, and go at the end."""
    env = world.env
    yield env.at(span.start_us, clock.LEASE_START)
    for machine in machines:
        machine.begin(env.now)
        machine.open = span.windows is None
    if span.windows is not None:
        env.process(windows(world, span, machines))
    world.changed()
    if span.end_us is None:
        return
    yield env.at(span.end_us, clock.LEASE_END)
    for machine in machines:
        machine.leased = False
    yield from clear(world, machines, "lease_end")
    world.leases += [machine.record(env.now, env.now) for machine in machines]
    for machine in machines:
        for card in machine.cards:
            card.cut = None
    refuse_the_hopeless(world)
    world.changed()


def windows(world: World, span: LeaseSpan, machines: list[Machine]):
    """Jobs may use the machines in the windows alone."""
    env = world.env
    for machine in machines:
        machine.shut_at = env.now
    for opens, closes in span.windows:
        yield env.at(opens, clock.LEASE_START)
        for machine in machines:
            machine.open = True
            machine.back(env.now)
        world.changed()
        if closes == span.end_us:
            return  # the lease sees to it
        yield env.at(closes, clock.LEASE_END, 1)
        for machine in machines:
            machine.open, machine.shut_at = False, env.now
        yield from clear(world, machines, "window_end")
        refuse_the_hopeless(world)
        world.changed()


def clear(world: World, machines: list[Machine], cause: str):
    """Whoever has a card of these machines saves the work and goes."""
    for life in world.lives:
        if life.stay is not None and any(card.machine in machines for card in life.stay.cards):
            life.process.interrupt(Moved(cause))
    yield world.env.timeout(0)


def refuse_the_hopeless(world: World) -> None:
    for life in world.queue():
        if not world.could_ever_hold(life.job.shape, world.env.now):
            life.told.succeed(None)
            world.decider.planner.upset = True


def snapshots(world: World, machine: Machine, every: Micros):
    """An image of the data disk at fixed times: just before the failures of the instant, and at its end."""
    for time in range(0, world.plan.horizon_us, every):
        for phase in (clock.SNAPSHOT, clock.SNAPSHOT_AGAIN):
            yield world.env.at(time, phase)
            if machine.leased:
                here = {life for card in machine.cards for life in card.holders}
                for life in here:
                    life.write_for_snapshot()
                at_work = {life.name for life in here if life.stay is not None and life.stay.failed is None}
                there = {name: at for name, at in machine.models.items() if at <= time}
                files = {
                    name: dataclasses.replace(one, over=one.over or name not in at_work)
                    for name, one in machine.files.items()
                }
                machine.image = Image(files, there)
