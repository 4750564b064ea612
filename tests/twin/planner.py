"""The twin's conservative backfill: each waiting job has a planned place, and none delays another's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.model.rates import RunOption
from sim.units import Micros
from tests.twin.cards import Machine, Pool
from tests.twin.lengths import expected_end, expected_length

if TYPE_CHECKING:
    from tests.twin.life import Life
    from tests.twin.rules import Decider

__all__ = ["Planner"]


@dataclass
class Plan:
    """Where and when a job is to run; `start` None: nobody knows when."""

    life: Life
    start: Micros | None
    end: Micros = 0
    pool: Pool | None = None
    option: RunOption | None = None
    cards: tuple[tuple[Machine, int], ...] = ()


class Planner:
    def __init__(self, decider: Decider) -> None:
        self.decider = decider
        self.world = decider.world
        self.plans: list[Plan] = []
        self.upset = False
        """Something happened that makes all plans void."""
        self.early = False
        """A job has left its cards before its expected end."""

    @property
    def now(self) -> Micros:
        return self.world.env.now

    def decide(self):
        queue = self.world.queue()
        self.plans = [plan for plan in self.plans if plan.life in queue]
        running = [life for life in self.world.lives if life.stay is not None]
        late = any(expected_end(life) <= self.now for life in running)
        passed = any(plan.start is not None and plan.start < self.now for plan in self.plans)
        if self.upset or late or passed:
            self.plans = []
        elif self.early:
            self.improve()
        self.upset = self.early = False
        while True:
            self.make_plans()
            due = [plan for plan in self.plans if plan.start == self.now]
            for plan in sorted(due, key=lambda plan: plan.life.turn):
                cards = [card for machine, n in plan.cards for card in machine.free_cards[:n]]
                self.world.start(plan.life, (plan.pool, plan.option, cards))
                self.plans.remove(plan)
                yield self.world.env.timeout(0)
                if expected_end(plan.life) < plan.end:
                    self.early = True  # for the next decision
                if expected_end(plan.life) > plan.end:
                    self.upset = True  # bad luck may add a checkpoint
            if not due:
                return

    def improve(self) -> None:
        """Move plans to earlier places, in the order of the queue, until none can move."""
        moved = True
        while moved:
            moved = False
            for plan in sorted(self.plans, key=lambda plan: plan.life.turn):
                if plan.start == self.now:
                    continue
                self.plans.remove(plan)
                better = self.earliest(plan.life)
                sooner = better.start is not None and (plan.start is None or better.start < plan.start)
                self.plans.append(better if sooner else plan)
                moved = moved or sooner

    def make_plans(self) -> None:
        planned = [plan.life for plan in self.plans]
        for life in sorted(self.world.queue(), key=lambda life: life.turn):
            if life not in planned and len(self.plans) < self.decider.parameters.look_ahead:
                self.plans.append(self.earliest(life))

    # --- when and where ---------------------------------------------------------------------

    def earliest(self, life: Life) -> Plan:
        best = Plan(life, None)
        for pool, option in self.decider.ways(life):
            length = expected_length(self.world, life, pool, option)
            for time in self.instants(pool):
                if best.start is not None and time >= best.start:
                    break
                cards = self.place(pool, option, time, length)
                if cards is not None:
                    best = Plan(life, time, time + length, pool, option, cards)
                    break
        return best

    def place(
        self, pool: Pool, option: RunOption, time: Micros, length: Micros
    ) -> tuple[tuple[Machine, int], ...] | None:
        free = {machine: self.free_during(machine, time, time + length) for machine in pool.machines}
        rule = self.decider.rule
        if not option.spans:
            fitting = [m for m in pool.machines if free[m] >= option.gpus]
            sign = -1 if rule == "spread" else 1
            best = min(fitting, key=lambda m: (sign * free[m], m.ordinal), default=None)
            return None if best is None else ((best, option.gpus),)
        if sum(free.values()) < option.gpus:
            return None
        sign = 1 if rule == "pack" else -1
        left, cards = option.gpus, []
        for machine in sorted(pool.machines, key=lambda m: (sign * free[m], m.ordinal)):
            take = min(left, free[machine])
            if take:
                cards.append((machine, take))
                left -= take
        return tuple(cards)

    def instants(self, pool: Pool) -> list[Micros]:
        """Now, and whenever cards become free or a lease begins."""
        times = {self.now, *pool.openings(self.now)}
        times |= {end for machine in pool.machines for _, end, _ in self.holds(machine)}
        return sorted(time for time in times if time >= self.now)

    def holds(self, machine: Machine) -> list[tuple[Micros, Micros, int]]:
        """(from, until, cards in working order) of running jobs and of plans on one machine."""
        found = []
        for life in self.world.lives:
            if life.stay is not None:
                cards = sum(card.machine is machine and not card.down for card in life.stay.cards)
                found.append((life.stay.start, max(expected_end(life), self.now + 1), cards))
        timed = [plan for plan in self.plans if plan.start is not None]
        found += [(plan.start, plan.end, dict(plan.cards).get(machine, 0)) for plan in timed]
        return [(a, self.cut(machine, a, b), n) for a, b, n in found if n]

    def cut(self, machine: Machine, start: Micros, end: Micros) -> Micros:
        """Whoever runs as a window or lease ends has to leave."""
        there = machine.pool.open_time(machine, start)
        return end if there is None or there[1] is None else min(end, there[1])

    def free_during(self, machine: Machine, begin: Micros, end: Micros) -> int:
        """The least number of free cards from begin to end, or to the end of the lease."""
        there = machine.pool.open_time(machine, begin)
        if there is None:
            return 0
        end = self.cut(machine, begin, end)
        working = machine.usable
        if machine.leased:
            working = sum(not card.down and not card.reserved for card in machine.cards)
        holds = self.holds(machine)
        times = {begin, *(first for first, _, _ in holds if begin < first < end)}
        return min(working - sum(n for a, b, n in holds if a <= time < b) for time in times)
