"""Preemption against a pencil: who is interrupted, when, and that nobody's time is lost or counted twice."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.engine import run
from sim.model.fleet import CheckpointSpec, ForcedFailure, PolicyParameters
from sim.model.job import JobSet
from sim.model.rates import RateTable
from sim.model.records import RunLog
from sim.streams import Streams
from sim.units import HOUR
from tests.build import OFFER, changed, gangs, plan, pool, starts

STREAMS = Streams(7)


def preempting(
    world: tuple[JobSet, RateTable], priorities: str, *pools: Any, after: float = 2, **changes: Any
) -> RunLog:
    """`priorities`: one digit a job."""
    jobs, table = world
    for i, digit in enumerate(priorities):
        jobs = changed(jobs, i, priority=int(digit))
    aging = changes.pop("aging_us", None)
    parameters = PolicyParameters(aging_us=aging, preempt_after_us=round(after * HOUR))
    fleet = plan(*(pools or (pool(1),)), policy="priority", parameters=parameters, **changes)
    return run(fleet, jobs, table, STREAMS)


def stays(log: RunLog, job: int) -> list[tuple[float, float, str]]:
    return [(a.start_us / HOUR, a.end_us / HOUR, a.ended) for a in log.attempts if a.job == job]


def test_active_and_waiting_time_make_up_the_turnaround() -> None:
    # known fault 42 (a): A 10 h at 0, urgent B 2 h at 4: A resumes where it stopped and ends at 12
    log = preempting(gangs((0, 10, 1), (4, 2, 1)), "01")
    assert stays(log, 0) == [(0, 4, "preempted"), (6, 12, "done")]
    assert stays(log, 1) == [(4, 6, "done")]
    a = log.jobs[0]
    assert (a.run_us, a.wait_us, a.end_us) == (10 * HOUR, 2 * HOUR, 12 * HOUR)
    assert a.interruptions == 1
    assert sum(x.lost_us for x in log.attempts) == 0
    assert log.leases[0].busy_card_us == 12 * HOUR


def test_a_job_that_begins_anew_has_lost_time_and_no_time_twice() -> None:
    # known fault 42 (b): the process dies at 4 h and nothing was saved; B goes first; A ends at 16
    forced = (ForcedFailure(4 * HOUR, "gpu_reset", OFFER, 0, 0, 0),)
    log = preempting(gangs((0, 10, 1), (4, 2, 1)), "01", forced=forced, after=100)
    a = log.jobs[0]
    assert (a.end_us, a.run_us, a.wait_us) == (16 * HOUR, 14 * HOUR, 2 * HOUR)
    assert sum(x.lost_us for x in log.attempts) == 4 * HOUR
    assert log.leases[0].busy_card_us == 16 * HOUR


def test_without_the_key_nobody_is_interrupted() -> None:
    jobs, table = gangs((0, 10, 1), (4, 2, 1))
    log = run(plan(pool(1), policy="priority"), changed(jobs, 1, priority=9), table, STREAMS)
    assert starts(log) == [0, 10]


def test_a_job_runs_its_first_two_hours_undisturbed() -> None:
    log = preempting(gangs((0, 10, 1), (1, 2, 1)), "01")
    assert stays(log, 0) == [(0, 2, "preempted"), (4, 12, "done")]
    # after it has come back it has two hours again: the next urgent job waits from 5 h to 6 h
    log = preempting(gangs((0, 10, 1), (1, 2, 1), (5, 1, 1)), "011")
    assert stays(log, 0) == [(0, 2, "preempted"), (4, 6, "preempted"), (7, 13, "done")]


def test_equal_priorities_do_not_interrupt_each_other() -> None:
    assert starts(preempting(gangs((0, 10, 1), (4, 2, 1)), "11")) == [0, 10]


def test_the_lowest_priority_goes_first_then_the_youngest() -> None:
    # three cards: priority 1 from 0 h, 0 from 1 h, 0 from 2 h; an urgent job at 5 h takes the youngest 0
    log = preempting(gangs((0, 20, 1), (1, 20, 1), (2, 20, 1), (5, 1, 1)), "1002", pool(3))
    assert [a.job for a in log.attempts if a.ended == "preempted"] == [2]
    # at 3.5 h only jobs 0 and 1 have run two hours: the lower priority of them
    log = preempting(gangs((0, 20, 1), (1, 20, 1), (2, 20, 1), (3.5, 0.1, 1)), "1002", pool(3))
    assert [a.job for a in log.attempts if a.ended == "preempted"] == [1]


def test_as_few_as_make_room() -> None:
    # Machine 0 runs four one-card jobs, machine 1 one gang of four: one victim rather than four.
    rows = ((0, 20, 1), (0, 20, 1), (0, 20, 1), (0, 20, 1), (0, 20, 4), (5, 1, 4))
    log = preempting(gangs(*rows, spans=False), "000001", pool(2, per_machine=4))
    assert [a.job for a in log.attempts if a.ended == "preempted"] == [4]
    # Two cards are wanted of a one-card job (the youngest) and a gang of two: the gang is enough.
    rows = ((0, 20, 2), (1, 20, 1), (5, 1, 2))
    log = preempting(gangs(*rows), "001", pool(3))
    assert [a.job for a in log.attempts if a.ended == "preempted"] == [0]


def test_a_job_that_is_not_big_enough_is_left_alone() -> None:
    # the urgent gang needs both cards, of which one runs a job of its own priority
    log = preempting(gangs((0, 6, 1), (0, 9, 1), (3, 1, 2)), "101", pool(2))
    assert [a.job for a in log.attempts if a.ended == "preempted"] == [1]
    assert starts(log) == [0, 0, 6]


def test_with_aging_one_who_has_waited_longer_is_not_interrupted() -> None:
    # a step of priority for each 4 h: job 1 (priority 1, at 5 h) stands behind job 0 (at 0 h)
    assert starts(preempting(gangs((0, 10, 1), (5, 2, 1)), "01", aging_us=4 * HOUR)) == [0, 10]
    assert starts(preempting(gangs((0, 10, 1), (3, 2, 1)), "01", aging_us=4 * HOUR)) == [0, 3]


def test_a_failure_that_nobody_has_noticed_is_no_room() -> None:
    # the only card is away from 3 h to 9 h: the urgent job at 4 h waits until it is back
    forced = (ForcedFailure(3 * HOUR, "gpu_reset", OFFER, 0, 0, 6 * HOUR),)
    log = preempting(gangs((0, 10, 1), (4, 1, 1)), "01", forced=forced)
    assert starts(log) == [0, 9]
    assert not [a for a in log.attempts if a.ended == "preempted"]


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(1, 12), st.sampled_from([1, 1, 2, 4]), st.integers(0, 3)),
        min_size=3, max_size=30,
    ),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([0.5, 2, 5]),
    st.sampled_from([None, 3 * HOUR]),
    st.booleans(),
)  # fmt: skip
def test_time_adds_up_and_nobody_is_interrupted_too_early(
    rows: list[tuple[int, int, int, int]], size: int, after: float, aging: int | None, spans: bool
) -> None:
    rows.sort()
    world = gangs(*[(a, b, n) for a, b, n, _ in rows], spans=spans)
    priorities = "".join(str(p) for *_, p in rows)
    fleet = pool(2, per_machine=size)
    saves = CheckpointSpec(HOUR, 0)
    log = preempting(world, priorities, fleet, after=after, aging_us=aging, checkpoint=saves)
    again = preempting(world, priorities, fleet, after=after, aging_us=aging, checkpoint=saves)
    assert log == again
    for job in log.jobs:
        mine = [a for a in log.attempts if a.job == job.job]
        assert job.state in ("done", "refused")
        if job.state == "done":
            assert job.run_us == rows[job.job][1] * HOUR
            assert job.end_us is not None
            assert job.run_us + job.wait_us == job.end_us - rows[job.job][0] * HOUR
        assert all(a.end_us - a.start_us >= after * HOUR for a in mine if a.ended == "preempted")
        assert all(first.end_us <= second.start_us for first, second in pairwise(mine))
    by_card = sorted((card, a.start_us, a.end_us) for a in log.attempts for card in a.cards)
    assert all(one[0] != two[0] or one[2] <= two[1] for one, two in pairwise(by_card))


@pytest.mark.parametrize("cause", ["preempted", "lease_end"])
def test_every_planned_cause_has_words(cause: str) -> None:
    from sim.report import explain

    assert cause in explain.ENDINGS
