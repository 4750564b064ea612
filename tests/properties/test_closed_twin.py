"""Closed loops: the engine and its slow twin agree job by job, and so does what metrics are given."""

from __future__ import annotations

import dataclasses

import numpy as np
from hypothesis import HealthCheck, given, settings

from sim.engine import run
from sim.model.chains import Chains, Hours
from sim.model.job import JobSet
from sim.model.job_table import JobTable, as_submitted
from sim.streams import Streams
from tests.properties.test_twin import PLACEMENTS, SKIPPING, STRICT, comparable
from tests.theory.laws import check_laws
from tests.twin.chained import Links, chained_cases, simulate_chained
from tests.twin.worlds import Case

QUIET = settings(deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)


def chained(jobs: JobSet, links: Links) -> JobSet:
    """The jobs with the links as the engine reads them."""
    number = len(jobs.jobs)
    following, think = np.full(number, -1, dtype=np.int32), np.zeros(number, dtype=np.int64)
    for job, (after, time) in links.after.items():
        following[job], think[job] = after, time
    hours = {} if links.hours is None else dict.fromkeys(range(len(jobs.shapes)), Hours(links.hours))
    return dataclasses.replace(
        jobs, jobs=JobTable.of(jobs.jobs), chains=Chains(links.first, following, think, hours)
    )


def agree(world: tuple[Case, Links]) -> None:
    case, links = world
    jobs = chained(case.jobs, links)
    log = run(case.plan, jobs, case.rates, Streams(case.seed))
    slow = simulate_chained(case.plan, case.jobs, case.rates, Streams(case.seed), links)
    assert log.submissions == slow.submissions
    engine, twin = comparable(log), comparable(slow)
    for part, rows in twin.items():
        assert tuple(engine[part]) == tuple(rows), part
    submitted = as_submitted(jobs, log.submissions)
    check_laws(log, submitted)
    for job, record in zip(submitted.jobs, log.jobs, strict=True):
        drawn = case.jobs.jobs[log.submissions.jobs[job.id]]
        assert job == drawn._replace(id=record.job, submit_us=job.submit_us)


@settings(QUIET, max_examples=60)
@given(chained_cases(STRICT, PLACEMENTS))
def test_strict_queues(world: tuple[Case, Links]) -> None:
    agree(world)


@settings(QUIET, max_examples=60)
@given(chained_cases(SKIPPING, PLACEMENTS))
def test_queues_that_let_others_pass(world: tuple[Case, Links]) -> None:
    agree(world)
