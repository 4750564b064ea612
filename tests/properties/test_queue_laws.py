"""Laws of the queue that hold job by job, whatever the jobs: more cards, other units, no failures."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest
from hypothesis import strategies as st

from sim.engine import run
from sim.model.fleet import FleetPlan, LeaseSpan, PolicyParameters
from sim.model.job import Job, JobSet, JobShape
from sim.model.rates import RateTable, RunOption
from sim.model.records import Attempt, LeaseRecord, RunLog
from sim.streams import Streams
from sim.units import MINUTE, Micros
from tests.build import option, plan, pool, rates
from tests.properties.laws_kit import few_or_many, tried
from tests.properties.test_engine_invariants import worlds
from tests.twin.worlds import Case, cases

World = tuple[FleetPlan, JobSet, RateTable, int]


@st.composite
def one_card_jobs(draw: st.DrawFn) -> JobSet:
    """Up to forty jobs of one card, in bunches and apart."""
    rows = draw(st.lists(st.tuples(st.integers(0, 600), st.integers(1, 500)), min_size=1, max_size=40))
    jobs = tuple(
        Job(n, f"job-{n}", 0, submit * MINUTE, float(length * MINUTE))
        for n, (submit, length) in enumerate(sorted(rows))
    )
    return JobSet((JobShape("trace", None, (1,)),), jobs)


def more_cards_never_more_wait(jobs: JobSet, cards: int, more: int, startup: int, hours: int) -> None:
    """FIFO, one card a job, no failures: with more cards no job starts later (Kiefer and Wolfowitz)."""
    table = rates(option(startup_us=startup * MINUTE))
    few, many = (run(plan(pool(n), hours=hours), jobs, table, Streams(1)) for n in (cards, cards + more))
    never = few.horizon_us
    for before, after in zip(few.jobs, many.jobs, strict=True):
        assert before.job == after.job
        assert (never if after.start_us is None else after.start_us) <= (
            never if before.start_us is None else before.start_us
        )
        assert after.wait_us <= before.wait_us


@few_or_many(60, 2000)
def test_more_cards_never_more_wait(examples: int) -> None:
    small = st.integers(1, 5)
    tried(
        more_cards_never_more_wait,
        examples,
        one_card_jobs(),
        small,
        small,
        st.integers(0, 5),
        st.integers(1, 60),
    )


def unbroken(world: World, ends: bool) -> World:
    """The world without failures, and without leases that end under a job."""
    before, jobs, table, seed = world
    pools = tuple(
        dataclasses.replace(
            one,
            failures=None,
            leases=tuple(dataclasses.replace(s, end_us=s.end_us if ends else None) for s in one.leases),
        )
        for one in before.pools
    )
    burst = before.burst
    if burst is not None:
        burst = dataclasses.replace(burst, pool=dataclasses.replace(burst.pool, failures=None))
    return dataclasses.replace(before, pools=pools, burst=burst, forced=()), jobs, table, seed


def no_failures_no_lost_work(world: World) -> None:
    made, jobs, table, seed = unbroken(world, ends=False)
    log = run(made, jobs, table, Streams(seed))
    assert log.failures == ()
    assert [stay.lost_us + stay.voided_card_us for stay in log.attempts] == [0] * len(log.attempts)
    assert len({stay.job for stay in log.attempts}) == len(log.attempts)  # nobody stops and starts again
    assert {stay.ended for stay in log.attempts} <= {"done", "killed", "horizon"}
    assert all(lease.down_card_us == 0 for lease in log.leases)


@few_or_many(60, 2000)
def test_no_failures_no_lost_work(examples: int) -> None:
    tried(no_failures_no_lost_work, examples, worlds())


def clocks_never_go_back(case: Case) -> None:
    """Whatever happens, and whatever is switched on: every pair of times stands in its order."""
    log = run(case.plan, case.jobs, case.rates, Streams(case.seed))
    horizon = log.horizon_us
    submitted = {job.id: job.submit_us for job in case.jobs.jobs}
    for record in log.jobs:
        moments = [submitted[record.job], record.start_us, record.end_us]
        told = [moment for moment in moments if moment is not None]
        assert told == sorted(told)
        assert told[-1] <= horizon
    stays: dict[int, list[Attempt]] = {}
    for stay in log.attempts:
        assert submitted[stay.job] <= stay.start_us <= stay.end_us <= horizon
        stays.setdefault(stay.job, []).append(stay)
    for mine in stays.values():
        assert all(one.end_us + one.pause_us <= other.start_us for one, other in pairwise(mine))
    assert all(failure.at_us <= failure.back_us for failure in log.failures)
    for lease in log.leases:
        assert 0 <= lease.start_us <= (horizon if lease.end_us is None else lease.end_us)
        assert all(start < end for start, end in lease.absences)


@few_or_many(60, 2000)
def test_clocks_never_go_back(examples: int) -> None:
    policies = ("fifo", "priority", "edf", "fair", "sjf", "easy", "conservative")
    tried(clocks_never_go_back, examples, cases(policies, ("best-fit", "spread"), more=True))


def longer_by(factor: int, world: World) -> World:
    """The same world with every time so many times as long: nothing else changes but the unit."""
    before, jobs, table, seed = world
    parameters = before.parameters
    scaled = dataclasses.replace(
        before,
        pools=tuple(
            dataclasses.replace(one, leases=tuple(_lease(factor, span) for span in one.leases))
            for one in before.pools
        ),
        horizon_us=before.horizon_us * factor,
        checkpoint=dataclasses.replace(
            before.checkpoint, every_us=_times(factor, before.checkpoint.every_us)
        ),
        parameters=PolicyParameters(
            aging_us=_times(factor, parameters.aging_us),
            half_life_us=parameters.half_life_us * factor,
            look_ahead=parameters.look_ahead,
            preempt_after_us=_times(factor, parameters.preempt_after_us),
        ),
    )
    slower = tuple(
        job._replace(
            submit_us=job.submit_us * factor,
            work=job.work * factor,
            deadline_us=_times(factor, job.deadline_us),
            limit_us=_times(factor, job.limit_us),
        )
        for job in jobs.jobs
    )
    options = {pair: tuple(_option(factor, one) for one in ways) for pair, ways in table.options.items()}
    return scaled, dataclasses.replace(jobs, jobs=slower), RateTable(options=options), seed


def _times(factor: int, value: Micros | None) -> Micros | None:
    return None if value is None else value * factor


def _lease(factor: int, span: LeaseSpan) -> LeaseSpan:
    return dataclasses.replace(span, start_us=span.start_us * factor, end_us=_times(factor, span.end_us))


def _option(factor: int, way: RunOption) -> RunOption:
    return dataclasses.replace(
        way,
        startup_us=way.startup_us * factor,
        restart_us=way.restart_us * factor,
        checkpoint_us=way.checkpoint_us * factor,
        stage_us=way.stage_us * factor,
    )


def only_the_unit_changes(world: World, factor: int) -> None:
    made = unbroken(world, ends=True)
    made = (dataclasses.replace(made[0], burst=None), *made[1:])  # its delays are drawn, and rounded
    short, long = (run(p, j, r, Streams(s)) for p, j, r, s in (made, longer_by(factor, made)))
    assert told(long, 1) == told(short, factor)


def told(log: RunLog, factor: int) -> list[object]:
    """What happened, with times in other units."""
    times = ("submit_us", "start_us", "end_us", "wait_us", "run_us", "pause_us")
    jobs = [
        (job.job, job.state, job.progress, *(_times(factor, getattr(job, name, None)) for name in times))
        for job in log.jobs
    ]
    parts = ("start_us", "end_us", "startup_us", "checkpoint_us", "work_us", "lost_us")
    stays = [
        (stay.job, stay.cards, stay.ended, *(getattr(stay, name) * factor for name in parts))
        for stay in log.attempts
    ]
    return [jobs, stays, [_card_time(lease, factor) for lease in log.leases]]


def _card_time(lease: LeaseRecord, factor: int) -> tuple[object, ...]:
    return lease.lease, lease.machine, lease.busy_card_us * factor, lease.start_us * factor


@few_or_many(60, 2000)
def test_other_units_change_nothing_else(examples: int) -> None:
    tried(only_the_unit_changes, examples, worlds(), st.sampled_from([2, 3, 10]))


def test_a_law_that_does_not_hold_is_refused() -> None:
    """Fewer cards in the place of more: the first law must be found broken, or it says nothing."""
    with pytest.raises(AssertionError):
        tried(lambda jobs: more_cards_never_more_wait(jobs, 3, -2, 0, 60), 60, one_card_jobs())
