"""Preemption: a job that fits nowhere may interrupt jobs of lower priority, as few as make room.

A victim saves its state and waits again in its old place, so nothing of its work is lost. It must
have run a while, and it must stand behind in the queue: else the two would take turns for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sim.engine.clock import Moment, Order
from sim.engine.execution import Executor
from sim.engine.fleet import Machine, Pool
from sim.engine.placer import Placer, Spot
from sim.engine.stay import Run, Stay
from sim.model.rates import RunOption
from sim.units import Micros

__all__ = ["Preemption"]

Key = tuple[float | int, ...]
Ranked = tuple[int, Stay]
"""A stay that may be interrupted, and its place in the order of victims."""


@dataclass(frozen=True, slots=True)
class _Room:
    """A place that would be free without these jobs."""

    pool: Pool
    option: RunOption
    machine: Machine | None
    """None: anywhere in the pool."""
    victims: tuple[Stay, ...]
    price: tuple[int, int]
    """How many victims, and the place of the worthiest in their order."""


class Preemption:
    """Knows who runs with which priority, and makes room for a job that fits nowhere."""

    def __init__(
        self,
        executor: Executor,
        placer: Placer,
        after_us: Micros,
        key: Callable[[Run], Key],
        requeue: Callable[[Run], None],
        decide: Callable[[], None],
    ) -> None:
        self.dirty = True
        self._executor = executor
        self._placer = placer
        self._after_us = after_us
        self._key = key
        self._requeue = requeue
        self._decide = decide
        self._running: dict[int, dict[int, Stay]] = {}
        """Priority -> job -> its stay, in order of their starts."""
        self._timer_us: Micros | None = None

    def started(self, stay: Stay) -> None:
        """A job has got cards now."""
        job = stay.run.job
        self._running.setdefault(job.priority, {})[job.id] = stay

    def left(self, stay: Stay) -> None:
        """A job has left its cards now."""
        job = stay.run.job
        del self._running[job.priority][job.id]

    def make_room(self, run: Run) -> Spot | None:
        """Interrupt others so that this job can start, and take the cards; None: it cannot be done."""
        victims = list(enumerate(self._victims(run)))
        rooms = [
            room
            for pool, option, _ in self._placer.tries(run)
            if (room := _room(pool, option, [v for v in victims if v[1].pool is pool])) is not None
        ]
        if not rooms:
            return None
        room = min(rooms, key=lambda room: room.price)  # the first of equal ones
        for stay in room.victims:
            self._executor.interrupt(stay.run, "preempted", saves=True)
        count = room.option.gpus
        if room.machine is None:
            cards = room.pool.take(count, spans=True)
        else:
            cards = room.pool.take_from([(room.machine.ordinal, count)])
        for stay in room.victims:
            self._requeue(stay.run)
        return None if cards is None else (room.pool, room.option, cards)

    def _victims(self, run: Run) -> Iterator[Stay]:
        """Who may be interrupted for this job: lowest priority first, then the latest start."""
        now, key = self._executor.now, self._key(run)
        ripe_us: Micros | None = None
        for priority in sorted(p for p, stays in self._running.items() if p < run.job.priority and stays):
            stays = sorted(self._running[priority].values(), key=lambda s: (-s.start_us, -s.run.job.id))
            for stay in stays:
                if stay.failed is not None or self._key(stay.run) < key:
                    continue
                ripe = stay.start_us + self._after_us
                if ripe <= now:
                    yield stay
                elif ripe_us is None or ripe < ripe_us:
                    ripe_us = ripe
        if ripe_us is not None and (self._timer_us is None or not now < self._timer_us <= ripe_us):
            self._timer_us = ripe_us
            Moment(self._executor.env, ripe_us, Order.LEASE_START, self._ripe)

    def _ripe(self, _: Moment) -> None:
        self._timer_us = None
        self._decide()


def _room(pool: Pool, option: RunOption, victims: Sequence[Ranked]) -> _Room | None:
    """The place for a job in a pool that costs least; the lowest machine of equal ones."""
    if option.spans:
        return _cheapest(pool, option, None, victims)
    by_machine: dict[Machine, list[Ranked]] = {}
    for victim in victims:
        for machine in dict.fromkeys(card.machine for card in victim[1].cards):
            by_machine.setdefault(machine, []).append(victim)
    best: _Room | None = None
    for machine in sorted(by_machine, key=lambda machine: machine.ordinal):
        room = _cheapest(pool, option, machine, by_machine[machine])
        if room is not None and (best is None or room.price < best.price):
            best = room
    return best


def _cheapest(
    pool: Pool, option: RunOption, machine: Machine | None, victims: Sequence[Ranked]
) -> _Room | None:
    """The first victims whose cards (on this machine) are enough, without those not needed after all."""
    missing = option.gpus - (pool if machine is None else machine).free
    taken: list[tuple[Ranked, int]] = []
    for victim in victims:
        cards = sum(
            not card.broken and not card.machine.down and (machine is None or card.machine is machine)
            for card in victim[1].cards
        )
        if cards:
            taken.append((victim, cards))
            missing -= cards
            if missing <= 0:
                break
    else:
        return None
    for pair in reversed(taken.copy()):
        if pair[1] <= -missing:
            taken.remove(pair)
            missing += pair[1]
    chosen = [victim for victim, _ in taken]
    price = (len(chosen), max(rank for rank, _ in chosen))
    return _Room(pool, option, machine, tuple(stay for _, stay in chosen), price)
