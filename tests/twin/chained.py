"""The twin of closed loops: a process a person, who waits for each run, thinks, and submits the next."""

from __future__ import annotations

import dataclasses
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from sim.model.chains import Submissions
from sim.model.fleet import FleetPlan
from sim.model.job import Job, JobSet, UserEnd
from sim.model.rates import RateTable
from sim.model.records import RunLog
from sim.streams import Streams
from sim.units import Micros
from tests.twin.life import Life
from tests.twin.world import World
from tests.twin.worlds import TICK, TICKS, Case, cases

__all__ = ["Links", "chained_cases", "simulate_chained"]

SUBMISSION = 8.5
"""After what is submitted again at that instant, before the decision."""

Spans = tuple[tuple[Micros, Micros], ...]


@dataclass(frozen=True)
class Links:
    """Which job comes after which, in plain words for the twin."""

    first: int
    """Jobs from here on come after another one."""
    after: dict[int, tuple[int, Micros]]
    """Job -> the next one of the same person, and the time to think."""
    hours: Spans | None
    """When people think; None: always."""


class People(World):
    def __init__(
        self, plan: FleetPlan, jobs: JobSet, rates: RateTable, streams: Streams, links: Links
    ) -> None:
        super().__init__(plan, JobSet(jobs.shapes, ()), rates, streams)
        self.all, self.links = jobs.jobs, links
        self.drawn: list[int] = []
        for job in jobs.jobs[: links.first]:
            self.env.process(self.person(job))

    def person(self, job: Job):
        time, order = job.submit_us, job.id
        while time < self.plan.horizon_us:
            yield self.env.at(time, SUBMISSION, order)
            life = Life(self, job._replace(id=len(self.lives), submit_us=time))
            self.lives.append(life)
            self.drawn.append(job.id)
            yield life.process
            if life.end is None or job.id not in self.links.after:
                return
            following, think = self.links.after[job.id]
            time = self.thought(life.end, think)
            job = self.all[following]
            order = following - len(self.all)  # whoever comes by himself comes last

    def thought(self, begin: Micros, think: Micros) -> Micros:
        """When a person has thought so long, who thinks in the hours of work alone."""
        if self.links.hours is None:
            return begin + think
        for opens, closes in self.links.hours:
            here = max(opens, begin)
            if here < closes:
                if here + think < closes:
                    return here + think
                think -= closes - here
        return self.plan.horizon_us


def simulate_chained(
    plan: FleetPlan, jobs: JobSet, rates: RateTable, streams: Streams, links: Links
) -> RunLog:
    """What the engine should make of jobs with these links."""
    world = People(plan, jobs, rates, streams, links)
    log = world.run()
    times = array("q", [life.job.submit_us for life in world.lives])
    return dataclasses.replace(log, submissions=Submissions(array("q", world.drawn), times))


@st.composite
def chained_cases(draw: st.DrawFn, policies: Sequence[str], placements: Sequence[str]) -> tuple[Case, Links]:
    """Random worlds in which some jobs come after others, however these end."""
    case = draw(cases(tuple(policies), tuple(placements)))
    ends = st.sampled_from([(), (), (UserEnd("cancelled", 0.5),), (UserEnd("failed", after_us=TICK),)])
    jobs = tuple(job._replace(ends=draw(ends)) for job in case.jobs.jobs)
    case = dataclasses.replace(case, jobs=dataclasses.replace(case.jobs, jobs=jobs))
    number = len(jobs)
    first = draw(st.integers(1, min(number, 5)))
    thinks = st.sampled_from([0, 0, TICK, 3 * TICK, 20 * TICK])
    free, after = list(range(first)), {}
    for job in range(first, number):
        place = draw(st.integers(0, len(free) - 1))
        after[free[place]] = (job, draw(thinks))
        free[place] = job
    edges = sorted(draw(st.lists(st.integers(0, TICKS), unique=True, min_size=2, max_size=8)))
    spans = tuple((a * TICK, b * TICK) for a, b in zip(edges[::2], edges[1::2], strict=False))
    return case, Links(first, after, spans if draw(st.booleans()) else None)
