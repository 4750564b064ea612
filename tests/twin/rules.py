"""The twin's decisions: who goes next, and where."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sim.model.job import JobShape
from sim.model.rates import RateTable, RunOption
from sim.units import SECOND, Micros
from tests.twin import partition
from tests.twin.backfill import backfill
from tests.twin.cards import Card, Pool
from tests.twin.lengths import run_time
from tests.twin.planner import Planner
from tests.twin.preempt import preempt
from tests.twin.sharing import place_beside

if TYPE_CHECKING:
    from tests.twin.life import Life
    from tests.twin.world import World

__all__ = ["Decider", "ways_of"]

Ways = list[tuple[Pool, list[RunOption]]]
Place = tuple[Pool, RunOption, list[Card]]
SPAN_PATIENCE = 1.25


def ways_of(index: int, shape: JobShape, pools: list[Pool], rates: RateTable) -> Ways:
    """Pools in the order in which they are tried (hourly last, small memory first), with options."""
    ways = []
    for pool in sorted(pools, key=lambda p: (p.burst, p.spec.memory_gib, p.position)):
        possible = [
            option
            for option in rates.options.get((index, pool.spec.offer), ())
            if (shape.spans and pool.spec.spans if option.spans else option.gpus <= pool.size)
        ]
        counts = {option.gpus for option in possible}
        wanted = [n for n in shape.gpus if n in counts] if shape.gpus else sorted(counts)[:1]
        options = [
            option
            for n in wanted
            for option in sorted((o for o in possible if o.gpus == n), key=lambda o: o.spans)
            if not impatient(option, possible) and not beaten(option, possible, wanted)
        ]
        if pool.spec.sharing is not None and pool.spec.sharing.kind == "mig":
            options = [way for option in options for way in partition.on_slices(pool.spec.sharing, option)]
        if options:
            ways.append((pool, options))
    return ways


def impatient(option: RunOption, possible: list[RunOption]) -> bool:
    """A job that one machine could hold spreads only if it is not made much slower by it."""
    local = [o for o in possible if o.gpus == option.gpus and not o.spans]
    return option.spans and any(option.us_per_work > o.us_per_work * SPAN_PATIENCE for o in local[:1])


def beaten(option: RunOption, possible: list[RunOption], wanted: list[int]) -> bool:
    """Fewer of the cards asked for run it at least as fast, no more spread out."""
    return any(
        o.gpus in wanted
        and o.gpus < option.gpus
        and o.spans <= option.spans
        and o.us_per_work <= option.us_per_work
        for o in possible
    )


class Decider:
    """One decision an instant: who goes next, each on the first place that is free."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.policy = world.plan.policy
        self.rule = world.plan.placement
        self.parameters = world.plan.parameters
        self.planner = Planner(self)
        gangs = any(o.gpus > 1 for ways in world.ways for _, options in ways for o in options)
        self.two_passes = self.rule == "whole" and gangs

    @property
    def now(self) -> Micros:
        return self.world.env.now

    def decide(self):
        if self.policy == "easy":
            yield from backfill(self)
            return
        if self.policy == "conservative":
            yield from self.planner.decide()
            return
        use = self.use_of_teams() if self.policy == "fair" else {}
        blocked: set[int] = set()
        while True:
            queue = [life for life in self.world.queue() if life.job.id not in blocked]
            life = min(queue, key=lambda life: self.key(life, use), default=None)
            if life is None:
                return
            place = self.place(life)
            if place is None and self.parameters.preempt_after_us is not None and self.policy == "priority":
                place = yield from preempt(self, life)
            if place is not None:
                self.world.start(life, place)
                yield self.world.env.timeout(0)
            elif self.policy == "sjf":
                blocked.add(life.job.id)
            else:
                return

    # --- the order of the queue -------------------------------------------------------------

    def key(self, life: Life, use: dict[str, int] | None = None) -> tuple[float, ...]:
        job = life.job
        if self.policy == "fair":
            first = min(other.turn for other in self.world.queue() if other.job.team == job.team)
            return (use or {}).get(job.team, 0), *first, *life.turn
        if self.policy == "sjf":
            return self.estimate(life), *life.turn
        if self.policy == "edf":
            deadline = float("inf") if job.deadline_us is None else job.submit_us + job.deadline_us
            return deadline, *life.turn
        if self.policy == "priority":
            aging = self.parameters.aging_us
            return -job.priority if aging is None else life.released - job.priority * aging, *life.turn
        return life.turn

    def use_of_teams(self) -> dict[str, int]:
        """Card-seconds of each team, where use counts half after each half-life."""
        half = self.parameters.half_life_us
        use: dict[str, float] = {}
        for life in self.world.lives:
            stays = [(a.start_us, a.end_us, len(a.cards)) for a in life.attempts]
            if life.stay is not None:
                stays.append((life.stay.start, self.now, len(life.stay.cards)))
            for start, end, cards in stays:
                late, soon = (math.exp2(-(self.now - time) / half) for time in (start, end))
                part = cards * (soon - late) * half / math.log(2)
                use[life.job.team] = use.get(life.job.team, 0.0) + part
        return {team: round(part / SECOND) for team, part in use.items()}

    def estimate(self, life: Life) -> Micros:
        """The time limit; without one, the expected run time on the cards that are tried first."""
        if life.job.limit_us is not None:
            return life.job.limit_us
        option = self.world.ways[life.job.shape][0][1][0]
        return option.startup_us + round(life.job.work * option.us_per_work)

    # --- where ------------------------------------------------------------------------------

    def ways(self, life: Life) -> list[tuple[Pool, RunOption]]:
        """The ways of a job in the order in which they are tried now."""
        ways = [(pool, option) for pool, options in self.world.ways[life.job.shape] for option in options]
        if self.rule != "cheapest":
            return ways
        job = life.job

        def rank(way: tuple[Pool, RunOption]) -> tuple[float, ...]:
            pool, option = way
            length = run_time(self.world, life, pool, option)
            price = pool.spec.hourly_price / pool.size * option.gpus
            if job.deadline_us is None:
                return pool.burst, 0, price * length
            in_time = length <= job.submit_us + job.deadline_us - self.now
            return (pool.burst, 0, price) if in_time else (pool.burst, 1, length)

        return sorted(ways, key=rank)

    def tries(self, life: Life) -> list[tuple[Pool, RunOption, bool]]:
        """The ways, and whether only machines in use are looked at (`whole`: so that others stay whole)."""
        if not self.two_passes:
            return [(pool, option, False) for pool, option in self.ways(life)]
        tries = []
        for burst in (False, True):
            here = [(pool, option) for pool, option in self.ways(life) if pool.burst == burst]
            tries += [(pool, option, option.gpus == 1) for pool, option in here]
            tries += [(pool, option, False) for pool, option in here if option.gpus == 1]
        return tries

    def place(self, life: Life) -> Place | None:
        tries = self.tries(life)
        for beside, hourly in ((False, False), (True, False), (False, True)):
            for pool, option, touched in tries:
                if pool.burst != hourly:
                    continue
                mig = pool.spec.sharing is not None and pool.spec.sharing.kind == "mig"
                if beside:
                    card = place_beside(pool, option)
                    if mig:
                        card = None if option.part is None else partition.beside(pool, option)
                    cards = None if card is None else [card]
                elif mig:
                    cards = partition.fresh(pool, option, self.rule, touched)
                else:
                    cards = pool.find(option.gpus, option.spans, self.rule, touched=touched)
                if cards is not None:
                    return pool, option, cards
        return None
