"""The engine and its slow twin agree job by job where jobs share cards and slow each other."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.engine import run
from sim.model.job import UserEnd
from sim.model.records import Attempt, RunLog
from sim.streams import Streams
from tests.build import changed, job_set, plan
from tests.properties.test_twin import PLACEMENTS, QUIET, comparable
from tests.sharing_cases import needing, shared, sharing
from tests.theory.laws import jobs_are_conserved, littles_law
from tests.twin.sharing_worlds import partitioned_cases, shared_cases, with_snapshots, with_user_ends
from tests.twin.world import simulate
from tests.twin.worlds import Case

Worlds = Callable[..., st.SearchStrategy[Case]]

POLICIES = ("fifo", "sjf", "priority", "edf")


def agree(case: Case) -> None:
    log = run(case.plan, case.jobs, case.rates, Streams(case.seed))
    slow = simulate(case.plan, case.jobs, case.rates, Streams(case.seed))
    engine, twin = comparable(log), comparable(slow)
    for part, rows in twin.items():
        for mine, theirs in zip(engine[part], rows, strict=False):
            assert mine == theirs, part
        assert len(engine[part]) == len(rows), part
    littles_law(log, case.jobs)
    jobs_are_conserved(log, case.jobs)


@settings(QUIET, max_examples=100)
@given(shared_cases(POLICIES, PLACEMENTS))
def test_engine_and_twin_agree(case: Case) -> None:
    agree(case)


@settings(QUIET, max_examples=100)
@given(partitioned_cases(POLICIES, PLACEMENTS))
def test_they_agree_on_partitioned_cards(case: Case) -> None:
    agree(case)


@settings(QUIET, max_examples=60)
@given(with_user_ends(shared_cases(POLICIES, PLACEMENTS)))
def test_they_agree_on_ends_by_users(case: Case) -> None:
    agree(case)


@settings(QUIET, max_examples=40)
@given(with_user_ends(partitioned_cases(POLICIES, PLACEMENTS)))
def test_they_agree_on_ends_by_users_of_slices(case: Case) -> None:
    agree(case)


@settings(QUIET, max_examples=60)
@given(with_snapshots(shared_cases(POLICIES, PLACEMENTS, more=True)))
def test_they_agree_on_snapshots_and_every_kind_of_misfortune(case: Case) -> None:
    agree(case)


@settings(QUIET, max_examples=40)
@given(with_snapshots(partitioned_cases(POLICIES, PLACEMENTS, more=True)))
def test_they_agree_on_snapshots_of_slices(case: Case) -> None:
    agree(case)


@pytest.mark.long
@settings(QUIET, max_examples=5_000)
@given(with_snapshots(shared_cases(POLICIES, PLACEMENTS, more=True)))
def test_they_agree_on_many_snapshots(case: Case) -> None:
    agree(case)


@pytest.mark.long
@settings(QUIET, max_examples=5_000)
@given(with_snapshots(partitioned_cases(POLICIES, PLACEMENTS, more=True)))
def test_they_agree_on_many_snapshots_of_slices(case: Case) -> None:
    agree(case)


@pytest.mark.long
@settings(QUIET, max_examples=5_000)
@given(with_user_ends(shared_cases(POLICIES, PLACEMENTS)))
def test_they_agree_on_many_ends_by_users(case: Case) -> None:
    agree(case)


@pytest.mark.long
@settings(QUIET, max_examples=5_000)
@given(partitioned_cases(POLICIES, PLACEMENTS))
def test_they_agree_on_many_partitioned_cards(case: Case) -> None:
    agree(case)


@pytest.mark.long
@settings(QUIET, max_examples=5_000)
@given(shared_cases(POLICIES, PLACEMENTS))
def test_engine_and_twin_agree_on_many(case: Case) -> None:
    agree(case)


def test_the_cases_are_worth_comparing() -> None:
    """Of a fixed sample: cards with two and with three jobs, slowed, struck, killed, cut and moved."""
    seen: set[str] = set()

    @settings(QUIET, max_examples=300, derandomize=True, database=None)
    @given(shared_cases(POLICIES, PLACEMENTS))
    def look(case: Case) -> None:
        log = run(case.plan, case.jobs, case.rates, Streams(case.seed))
        for stay in log.attempts:
            others = beside(log, stay)
            if stay.card_us is not None and others:
                seen.add(f"{min(others + 1, 3)} jobs")
                seen.add(stay.ended)
                seen.update(["checkpoints"] if stay.checkpoint_us else [])
                seen.update(["lost"] if stay.lost_us else [])

    look()
    wanted = {"2 jobs", "3 jobs", "done", "killed", "horizon", "lease_end", "gpu_reset", "node"}
    wanted |= {"checkpoints", "lost"}
    assert wanted <= seen, wanted - seen


@pytest.mark.parametrize("worlds", [shared_cases, partitioned_cases])
def test_snapshots_bring_back_work_of_jobs_beside_others(worlds: Worlds) -> None:
    """Of a fixed sample: a job beside others kept some of its work when its machine lost the disk."""
    kept = 0

    @settings(QUIET, max_examples=80, derandomize=True, database=None)
    @given(with_snapshots(worlds(POLICIES, PLACEMENTS, more=True)))
    def look(case: Case) -> None:
        nonlocal kept
        log = run(case.plan, case.jobs, case.rates, Streams(case.seed))
        moved = [stay for stay in log.attempts if stay.ended in ("node", "network", "gpu_fatal", "switch")]
        kept += sum(bool(stay.work_us) and stay.card_us is not None for stay in moved)

    look()
    assert kept > 2


def test_a_job_that_ends_at_once_has_its_place_until_the_decision_is_over() -> None:
    """Four jobs for two cards in one decision: 0 and 1 have one each, 2 comes beside 0, and 3 beside 1,
    although 0 fails before it has done anything: its end comes after the decision."""
    jobs = changed(job_set([(0, 10)] * 4), 0, ends=(UserEnd("failed", 0.0),))
    case = Case(plan(shared(2, sharing(2))), jobs, needing(), 1)
    agree(case)
    log = run(case.plan, case.jobs, case.rates, Streams(1))
    assert {stay.job: stay.cards for stay in log.attempts} == {0: (0,), 1: (1,), 2: (0,), 3: (1,)}


def test_users_end_jobs_beside_others() -> None:
    seen: set[str] = set()

    @settings(QUIET, max_examples=200, derandomize=True, database=None)
    @given(with_user_ends(shared_cases(POLICIES, PLACEMENTS)))
    def look(case: Case) -> None:
        log = run(case.plan, case.jobs, case.rates, Streams(case.seed))
        seen.update(stay.ended for stay in log.attempts if stay.card_us is not None and beside(log, stay))

    look()
    wanted = {"cancelled", "failed", "retried"}
    assert wanted <= seen, wanted - seen


def beside(log: RunLog, stay: Attempt) -> int:
    """Other stays on the same card at the middle of this one."""
    middle = (stay.start_us + stay.end_us) / 2
    return sum(
        other is not stay
        and (other.offer, other.cards) == (stay.offer, stay.cards)
        and other.start_us <= middle < other.end_us
        for other in log.attempts
    )
