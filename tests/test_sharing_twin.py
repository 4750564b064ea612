"""The engine and its slow twin agree job by job where jobs share cards and slow each other."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from sim.engine import run
from sim.model.records import Attempt, RunLog
from sim.streams import Streams
from tests.properties.test_twin import PLACEMENTS, QUIET, comparable
from tests.theory.laws import jobs_are_conserved, littles_law
from tests.twin.sharing_worlds import partitioned_cases, shared_cases, with_user_ends
from tests.twin.world import simulate
from tests.twin.worlds import Case

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
