"""The twin's EASY backfill: others may pass the first job if they do not delay it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.model.rates import RunOption
from sim.units import Micros
from tests.twin.cards import Machine, Pool
from tests.twin.lengths import expected_end, expected_length

if TYPE_CHECKING:
    from tests.twin.life import Life
    from tests.twin.rules import Decider, Place

__all__ = ["backfill"]


@dataclass
class Reservation:
    """When the first job is expected to start, and how many cards it leaves free there."""

    at: Micros
    pool: Pool
    machine: Machine | None
    """None: over the machines of the pool."""
    spare: int


def backfill(decider: Decider):
    world = decider.world
    while True:
        queue = sorted(world.queue(), key=lambda life: life.turn)
        place = decider.place(queue[0]) if queue else None
        if place is None:
            break
        world.start(queue[0], place)
        yield world.env.timeout(0)
    if not queue:
        return
    promise = reserve(decider, queue[0])
    for life in queue[1:]:
        place = place_beside(decider, life, promise)
        if place is not None:
            world.start(life, place)
            yield world.env.timeout(0)


def reserve(decider: Decider, head: Life) -> Reservation | None:
    """The earliest instant at which one of its ways has its cards free, as far as anybody knows."""
    world, now = decider.world, decider.now
    ends = {now}
    ends |= {max(now, expected_end(life)) for life in world.lives if life.stay is not None}
    ends |= {time for pool in world.pools for time in pool.openings(now)}
    for time in sorted(ends):
        for pool, option in decider.ways(head):
            free = {machine: free_at(decider, machine, time) for machine in pool.machines}
            if option.spans and sum(free.values()) >= option.gpus:
                return Reservation(time, pool, None, sum(free.values()) - option.gpus)
            if not option.spans:
                for machine in pool.machines:
                    if free[machine] >= option.gpus:
                        return Reservation(time, pool, machine, free[machine] - option.gpus)
    return None


def free_at(decider: Decider, machine: Machine, time: Micros) -> int:
    """Cards of a machine that will be free then, if all goes as expected and nothing is mended."""
    there = machine.pool.open_time(machine, time)
    if there is None:
        return 0
    usable = [card for card in machine.cards if not card.reserved and not card.down]
    if there[0] > decider.now:  # still to come; whoever is on it leaves before
        return len(usable) if machine.leased else machine.usable
    return sum(card.holder is None or max(decider.now, expected_end(card.holder)) <= time for card in usable)


def place_beside(decider: Decider, life: Life, promise: Reservation | None) -> Place | None:
    """Cards for a job that may pass: it ends in time, or takes only what the first leaves free."""
    for pool, option, touched in decider.tries(life):
        shown = None
        if promise is not None and not in_time(decider, life, pool, option, promise) and pool is promise.pool:
            if promise.machine is not None:
                shown = {promise.machine: promise.spare}
            elif option.gpus > promise.spare:
                continue
        cards = pool.find(option.gpus, option.spans, decider.rule, shown, touched)
        if cards is None:
            continue
        if promise is not None and not in_time(decider, life, pool, option, promise) and pool is promise.pool:
            there = [card for card in cards if promise.machine in (None, card.machine)]
            promise.spare -= len(there)
        return pool, option, cards
    return None


def in_time(decider: Decider, life: Life, pool: Pool, option: RunOption, promise: Reservation) -> bool:
    return decider.now + expected_length(decider.world, life, pool, option) <= promise.at
