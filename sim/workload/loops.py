"""Closed loops: runs of which each is submitted some time after the end of the one before.

Think times and contents are drawn before the run, so every strategy meets the same persons; only when
a run is submitted depends on the fleet. How many of the runs drawn are submitted depends on it, too:
so many are drawn as would come if no run took any time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from sim.errors import InputError, Problem
from sim.model.chains import Chains, Hours
from sim.model.job_table import JobTable
from sim.model.loops import Loop
from sim.model.scenario import Scenario
from sim.model.timed import TimedClass
from sim.model.values import Distribution, Quantity
from sim.model.windows import open_times
from sim.model.work import JobClass
from sim.streams import Streams
from sim.units import SECOND, Micros
from sim.workload.arrivals import Ints
from sim.workload.distributions import Floats, at_quantile, draw, whole

__all__ = ["Following", "Part", "chained", "closed", "most_runs", "of_campaigns", "of_people"]

_MOST_DRAWN = 1 << 23
"""Runs drawn of one class at most, before those are left out that can never come."""
_LONGEST_S = 1e9
"""Thirty years, longer than any scenario may be: a longer time to think is as good as this one."""


@dataclass(frozen=True, slots=True)
class Following:
    """Jobs of one class, and which follow which; arrays of shape (n,)."""

    rows: Ints
    """Their numbers among the jobs whose contents are drawn, rising."""
    person: Ints
    """Or campaign, from 0."""
    number: Ints
    """Of the run of a person or campaign, from 0: each follows the one before."""
    submit_us: Ints
    """Earliest submission: when no run takes any time."""
    wait_us: Ints
    """From the end of the run before to this submission; of a first run 0."""
    hours: Hours | None
    """When that time passes; None: always."""

    @property
    def drawn(self) -> int:
        """Jobs whose contents must be drawn."""
        return int(self.rows[-1]) + 1 if len(self.rows) else 0

    def among(self, drawn: JobTable, name: str) -> JobTable:
        """These jobs out of those drawn, with the numbers of their persons or campaigns in their names."""
        persons = int(self.person.max()) + 1 if len(self.person) else 1
        return replace(
            drawn.take(self.rows),
            submit_us=self.submit_us,
            heads=tuple(f"{name}-{person + 1}" for person in range(persons)),
            head=self.person.astype(np.int32),
            number=self.number.astype(np.int32),
        )


Part: TypeAlias = tuple[JobTable, Following | None]
"""Jobs of one class; None: all come by themselves."""


def closed(one: JobClass | TimedClass) -> bool:
    """Whether the jobs of a class come from people who wait for each run."""
    return one.loop is not None and one.loop.people is not None


def of_people(one: JobClass | TimedClass, loop: Loop, scenario: Scenario, streams: Streams) -> Following:
    """The runs of the people of a class. Row k x people + p is run k of person p.

    Everybody begins with a pause, or a time to think where there are none.
    """
    people = loop.people or 0
    horizon, hours = scenario.horizon_us, _hours(loop, scenario)
    rounds, time = 64, horizon if hours is None else hours.total_us
    while True:
        waits = _waits(one.name, loop, rounds, people, streams)
        sums = np.cumsum(waits, axis=0, dtype=np.float64)  # exact up to 285 years, and never overflows
        if not time or sums[-1].min() >= time:
            break
        if rounds * people >= _MOST_DRAWN:
            rule = "the times to think are so short that too many runs would have to be drawn"
            raise InputError(Problem(rule, key=f"{one.name}: loop.think_s"))
        rounds *= 2
    passed = np.minimum(sums, horizon).astype(np.int64)
    reached = passed if hours is None else hours.when(passed, horizon)
    number, person = (place.ravel() for place in np.indices(waits.shape))
    kept = np.flatnonzero(reached.ravel() < horizon)
    return Following(kept, person[kept], number[kept], reached.ravel()[kept], waits.ravel()[kept], hours)


def _waits(name: str, loop: Loop, rounds: int, people: int, streams: Streams) -> Ints:
    """Time before each run of each person, shape (rounds, people), microseconds."""

    def drawn(quantity: Quantity, what: str) -> Floats:
        values = draw(quantity, rounds * people, streams.generator(what, name))
        return np.asarray(values.reshape(rounds, people))

    waits = drawn(loop.think_s, "think")
    if loop.runs is not None and loop.pause_s is not None:
        ends = np.cumsum(whole(drawn(loop.runs, "batch")), axis=0)
        first = np.zeros((rounds, people), dtype=np.bool_)
        first[0] = True
        campaign, person = np.nonzero(ends < rounds)
        first[ends[campaign, person].astype(np.int64), person] = True
        waits = np.where(first, drawn(loop.pause_s, "pause"), waits)
    return _micros(waits)


def of_campaigns(
    one: JobClass | TimedClass, loop: Loop, scenario: Scenario, streams: Streams, begins: Ints, batch: Ints
) -> Following:
    """The runs of campaigns that begin by themselves.

    `begins`: when the campaign of each job begins; `batch`: which it is, from 0, rising.
    """
    horizon, hours = scenario.horizon_us, _hours(loop, scenario)
    first = np.searchsorted(batch, batch)  # of the campaign of each job
    number = np.arange(len(batch)) - first
    waits = _micros(draw(loop.think_s, len(batch), streams.generator("think", one.name)))
    waits[number == 0] = 0
    passed, sums = np.cumsum(waits), np.cumsum(waits, dtype=np.float64)
    # Differences are exact though sums may wrap around, unless they are long past the horizon.
    passed = np.where(sums - sums[first] > 2 * horizon, horizon, passed - passed[first])
    if hours is None:
        reached = begins + passed
    else:  # the first run comes when its campaign begins, whatever the hour
        later = hours.when(hours.open_until(begins) + passed, horizon)
        reached = np.where(number == 0, begins, later)
    kept = np.flatnonzero(reached < horizon)
    return Following(kept, batch[kept], number[kept], reached[kept], waits[kept], hours)


def _micros(seconds: Floats) -> Ints:
    micros: Ints = np.rint(np.minimum(seconds, _LONGEST_S) * SECOND).astype(np.int64)
    return micros


def _hours(loop: Loop, scenario: Scenario) -> Hours | None:
    if loop.hours is None:
        return None
    horizon = scenario.horizon_us
    return Hours(open_times(loop.hours, 0, horizon, scenario.local_time, scenario.elapsed_us))


def chained(parts: Sequence[Part]) -> tuple[JobTable, Chains | None]:
    """All jobs as one table, and which follow which: those that come by themselves first, by time."""
    tables = [table for table, _ in parts]
    if all(follows is None for _, follows in parts):
        return JobTable.join(tables), None
    leads = [
        np.ones(len(table), dtype=np.bool_) if follows is None else follows.number == 0
        for table, follows in parts
    ]
    alone = np.concatenate(leads)
    # Those that come by themselves get the first ids, by time; the others stay class by class.
    times = np.concatenate([table.submit_us for table in tables])
    order = np.concatenate((_by_time(np.flatnonzero(alone), times), np.flatnonzero(~alone)))
    ids = np.empty(len(order), dtype=np.int64)
    ids[order] = np.arange(len(order))
    following = np.full(len(order), -1, dtype=np.int32)
    think = np.zeros(len(order), dtype=np.int64)
    hours: dict[int, Hours] = {}
    begin = 0
    for table, follows in parts:
        if follows is not None:
            turn = np.lexsort((follows.number, follows.person))
            same = follows.person[turn[1:]] == follows.person[turn[:-1]]
            before, after = turn[:-1][same], turn[1:][same]
            following[ids[begin + before]] = ids[begin + after]
            think[ids[begin + before]] = follows.wait_us[after]
            if follows.hours is not None:
                hours |= dict.fromkeys(np.unique(table.shape).tolist(), follows.hours)
        begin += len(table)
    jobs = JobTable.join(tables, by_time=False).take(order)
    return jobs, Chains(int(alone.sum()), following, think, hours)


def _by_time(rows: Ints, times: Ints) -> Ints:
    return np.asarray(rows[np.argsort(times[rows], kind="stable")])


def most_runs(loop: Loop, scenario: Scenario) -> float:
    """About how many runs of the people of a loop are drawn; infinite where nobody ever thinks."""
    hours = _hours(loop, scenario)
    mean = _mean(loop.think_s)
    if loop.runs is not None and loop.pause_s is not None:
        runs = max(1.0, _mean(loop.runs))
        mean = ((runs - 1) * mean + _mean(loop.pause_s)) / runs
    time = scenario.horizon_us if hours is None else hours.total_us
    rounds: Micros | float = time / (mean * SECOND) if mean > 0 else math.inf
    return (loop.people or 0) * rounds


def _mean(quantity: Quantity) -> float:
    """Mean of a quantity, by its quantiles."""
    if not isinstance(quantity, Distribution):
        return float(quantity)
    return float(at_quantile(quantity, (np.arange(4096) + 0.5) / 4096).mean())
