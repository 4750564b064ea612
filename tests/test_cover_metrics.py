"""Corners of the metrics that a round of changed operators found untested (`docs/mutants.md`)."""

from __future__ import annotations

import pytest

from sim.metrics import measure
from sim.model.failures import PLANNED
from sim.model.job import Job, JobSet, JobShape
from sim.model.records import Attempt, FailureRecord, JobRecord, LeaseRecord, RunLog
from sim.units import HOUR
from tests.billing_cases import lease, ledger, scenario
from tests.test_metrics_service import run


def measured(log):
    asked = scenario([lease()], horizon="10h")
    return measure(log, ledger(asked), JobSet((), ()), asked, asked.target)


def away(at, back, *, machine=0, burst=False, kind=PLANNED):
    return FailureRecord(at * HOUR, kind, "x", machine, None, back * HOUR, (), None, burst)


@pytest.mark.parametrize(
    ("failures", "hours"),
    [
        ([away(3, 5)], 2 * 8),
        ([away(3, 5), away(6, 7, kind="node")], 2 * 8),
        ([away(9, 12)], 1 * 8),  # up to the end of the run
        ([away(5, 8, machine=1)], 1 * 4),  # up to the end of the lease, at 6 h
        ([away(1, 2, machine=2, burst=True)], 1 * 2),
        ([away(7, 9, machine=2, burst=True)], 1 * 3),  # rented again at 7 h, with three cards, until 8 h
        ([away(3, 5), away(5, 8, machine=1)], 16 + 4),
    ],
    ids=["planned", "a failure is none", "the horizon", "the lease", "a burst", "its second rental", "two"],
)
def test_planned_work_is_counted_while_the_machine_is_rented(failures, hours) -> None:
    machines = (
        LeaseRecord("x", 0, 0, 8, 0, None, 0, 0),
        LeaseRecord("x", 1, 1, 4, 0, 6 * HOUR, 0, 0),
        LeaseRecord("x", -1, 2, 2, 0, 4 * HOUR, 0, 0),
        LeaseRecord("x", -1, 2, 3, 7 * HOUR, 8 * HOUR, 0, 0),
    )
    found = measured(RunLog(10 * HOUR, (), (), machines, tuple(failures)))
    assert found["maintenance_gpu_h"] == hours
    assert found["failures"] == sum(failure.kind != PLANNED for failure in failures)


def test_a_job_refused_as_the_run_begins_waits_for_nothing() -> None:
    """It enters the queue at 0 h and leaves it at 0 h; another waits from 2 to 5 h."""
    found = run([(0, None, 0, "refused"), (2, 5, 6, "done")])
    assert (found["queue_mean"], found["queue_stretch_h"]) == (pytest.approx(0.3), pytest.approx(3))
    alone = run([(0, None, 0, "refused")])
    assert (alone["queue_mean"], alone["queue_stretch_h"], alone["jobs_measured"]) == (0, 0, 0)


def test_a_deadline_at_submission_can_only_be_missed() -> None:
    """Due at 0 h and done at 1 h: late; without a deadline nothing is judged."""
    late, free = run([(0, 0, 1, "done", 0)]), run([(0, 0, 1, "done")])
    assert (late["jobs_late"], late["on_time_share"]) == (1, 0)
    assert (free["jobs_late"], free["on_time_share"]) == (0, None)


def test_a_job_that_comes_back_after_a_pause_waits_from_then_on() -> None:
    """On a card from 0 to 2 h, handed in again at 5 h, on a card from 7 to 8 h: it waits two hours."""
    times = ((0, 2, "retried", 3), (7, 8, "done", 0))
    stays = tuple(
        Attempt(
            0, "x", False, (0,), start * HOUR, end * HOUR, how, 0, 0, (end - start) * HOUR, 0, 0, pause * HOUR
        )
        for start, end, how, pause in times
    )
    record = JobRecord(0, "done", 0, 8 * HOUR, 2 * HOUR, 1, "x", 1, 1.0, 3 * HOUR)
    log = RunLog(10 * HOUR, (record,), stays, (LeaseRecord("x", 0, 0, 1, 0, None, 3 * HOUR, 0),), ())
    asked = scenario([lease()], horizon="10h")
    jobs = JobSet((JobShape("one", None, (1,)),), (Job(0, "a", 0, 0, 3 * HOUR),))
    found = measure(log, ledger(asked), jobs, asked, asked.target)
    assert (found["queue_mean"], found["queue_stretch_h"]) == (pytest.approx(0.2), pytest.approx(2))


def test_penalties_are_known_where_the_jobs_are() -> None:
    """Due at 2 h and done at 5 h, at 10.00 an hour: 30.00. Of a run without its jobs nobody can tell."""
    prices = {"target": {"late_cost_per_hour": 10}}
    found = run([(0, 0, 5, "done", 2)], **prices)
    assert found["penalty_cny"] == 30
    assert found["cost_with_penalties_cny"] == pytest.approx(found["committed_cost_cny"] + 30)
    log = RunLog(10 * HOUR, (), (), (), ())
    asked = scenario([lease()], horizon="10h", **prices)
    unknown = measure(log, ledger(asked), JobSet((), ()), asked, asked.target)
    assert (unknown["penalty_cny"], unknown["cost_with_penalties_cny"]) == (None, None)
    assert measured(log)["penalty_cny"] == 0


def test_shares_are_of_the_time_that_jobs_could_use() -> None:
    """Four cards for 10 h: one kept back (10 card-hours), the others away for two hours (6).

    Of the 24 to use 12 are busy and 4 down.
    """
    hours = {"busy_card_us": 12, "down_card_us": 4, "away_card_us": 6, "reserved_card_us": 10}
    record = LeaseRecord("x", 0, 0, 4, 0, None, **{name: number * HOUR for name, number in hours.items()})
    found = measured(RunLog(10 * HOUR, (), (), (record,), ()))
    expected = {
        "leased_gpu_h": 40, "busy_gpu_h": 12, "down_gpu_h": 4, "away_gpu_h": 6, "reserved_gpu_h": 10,
        "idle_gpu_h": 8, "busy_share": 0.5, "offered_load": 0.5,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == pytest.approx(expected)
