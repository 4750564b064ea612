"""What must hold wherever jobs share cards, whatever the fleet, the jobs and the misfortune."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from sim.engine import run
from sim.model.records import Attempt, LeaseRecord, RunLog
from sim.model.sharing import SharingSpec
from sim.streams import Streams
from sim.units import HOUR
from tests.properties.test_twin import PLACEMENTS, QUIET
from tests.sharing_cases import A100_80G
from tests.theory.laws import jobs_are_conserved, littles_law
from tests.twin.sharing_worlds import partitioned_cases, shared_cases
from tests.twin.worlds import Case

POLICIES = ("fifo", "sjf", "priority", "edf")
APART = 400 * HOUR
"""Longer than nearly every job of the cases takes, with its failures."""


@settings(QUIET, max_examples=80)
@given(st.one_of(shared_cases(POLICIES, PLACEMENTS), partitioned_cases(POLICIES, PLACEMENTS)))
def test_time_memory_and_cards_are_conserved(case: Case) -> None:
    log = run(case.plan, case.jobs, case.rates, Streams(case.seed))
    littles_law(log, case.jobs)
    jobs_are_conserved(log, case.jobs)
    stays_add_up(log)
    work_is_never_destroyed_twice(log)
    specs = {pool.offer: pool.sharing for pool in case.plan.pools}
    for lease in log.leases:
        own = [a for a in log.attempts if (a.offer, a.burst) == (lease.offer, lease.lease == -1)]
        spec = None if lease.lease == -1 else specs[lease.offer]
        busy = 0
        for card in range(lease.machine * lease.gpus, (lease.machine + 1) * lease.gpus):
            here = [a for a in own if card in a.cards and within(a, lease, log)]
            busy += card_is_never_full_twice(here, spec, case)
        assert lease.busy_card_us == busy
        end = log.horizon_us if lease.end_us is None else lease.end_us
        assert busy + lease.down_card_us <= lease.gpus * (end - lease.start_us)


def within(stay: Attempt, lease: LeaseRecord, log: RunLog) -> bool:
    end = log.horizon_us if lease.end_us is None else lease.end_us
    return lease.start_us <= stay.start_us and stay.end_us <= end and stay.start_us < end


def stays_add_up(log: RunLog) -> None:
    ran: dict[int, int] = defaultdict(int)
    for stay in log.attempts:
        parts = (stay.startup_us, stay.checkpoint_us, stay.work_us, stay.lost_us)
        assert min(parts) >= 0
        assert sum(parts) == stay.end_us - stay.start_us
        assert 0 <= stay.share <= 1
        ran[stay.job] += stay.end_us - stay.start_us
    for job in log.jobs:
        assert job.run_us == ran[job.job]
        assert 0 <= job.progress <= 1


def work_is_never_destroyed_twice(log: RunLog) -> None:
    kept: dict[int, Fraction] = defaultdict(Fraction)
    for stay in log.attempts:
        kept[stay.job] += stay.work_us * len(stay.cards) * stay.share - stay.voided_card_us
    assert min(kept.values(), default=0) >= 0


def card_is_never_full_twice(stays: list[Attempt], spec: SharingSpec | None, case: Case) -> int:
    """Check one card at every change; returns the time in which it had a job."""
    times = sorted({time for stay in stays for time in (stay.start_us, stay.end_us)})
    busy = 0
    for begin, end in pairwise(times):
        there = [stay for stay in stays if stay.start_us <= begin < stay.end_us]
        busy += (end - begin) * bool(there)
        if len(there) > 1:
            assert spec is not None
            assert all(stay.card_us is not None for stay in there)
            assert len(there) <= spec.jobs
            needs = [case.rates.options[case.jobs.jobs[s.job].shape, s.offer][0].memory_gib for s in there]
            assert sum(needs) <= spec.usable_gib
            if spec.kind == "mig":
                slices_go_on_one_card(there, needs)
    shared = [stay for stay in stays if stay.card_us is not None]
    if spec is not None and len(shared) == len(stays):
        held = sum(stay.card_us for stay in shared)
        assert held <= busy
        assert held == busy or spec.kind == "mig"
    return busy


def slices_go_on_one_card(there: list[Attempt], needs: list[float]) -> None:
    """Even the smallest slices that hold these jobs would be a valid mix; time on each is its sevenths."""
    smallest = [min((p for p in A100_80G if p.memory_gib >= need), key=lambda p: p.memory) for need in needs]
    assert sum(part.compute for part in smallest) <= 7
    assert sum(part.memory for part in smallest) <= 8
    sevenths = [round(stay.share * 7) for stay in there if stay.end_us - stay.start_us > 1000]
    assert sum(sevenths) <= 7


@settings(QUIET, max_examples=40)
@given(shared_cases(POLICIES, PLACEMENTS))
def test_one_job_at_a_time_is_as_without_sharing(case: Case) -> None:
    """Jobs so far apart that none meets another, until the leases or the horizon end."""
    apart = tuple(job._replace(submit_us=number * APART) for number, job in enumerate(case.jobs.jobs[:4]))
    jobs = dataclasses.replace(case.jobs, jobs=apart)
    plan = dataclasses.replace(case.plan, horizon_us=4 * APART, burst=None)
    plain = dataclasses.replace(
        plan, pools=tuple(dataclasses.replace(pool, sharing=None) for pool in plan.pools)
    )
    log = run(plan, jobs, case.rates, Streams(case.seed))
    alone = run(plain, jobs, case.rates, Streams(case.seed))
    # A job may stand in the queue for long where everything is broken or nothing leased: then they meet.
    if any(a.end_us > b.start_us for a in alone.attempts for b in alone.attempts if a.job < b.job):
        return
    assert list(log.jobs) == list(alone.jobs)
    assert log.leases == alone.leases
    assert [stay._replace(card_us=None) for stay in log.attempts] == list(alone.attempts)
    assert all(stay.card_us in (None, stay.end_us - stay.start_us) for stay in log.attempts)


@settings(QUIET, max_examples=40)
@given(partitioned_cases(POLICIES, PLACEMENTS))
def test_the_same_run_twice_is_the_same(case: Case) -> None:
    first = run(case.plan, case.jobs, case.rates, Streams(case.seed))
    again = run(case.plan, case.jobs, case.rates, Streams(case.seed))
    assert first == again
