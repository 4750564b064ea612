"""Corners of the metrics that a round of changed operators found untested (`docs/mutants.md`)."""

from __future__ import annotations

import pytest

from sim.metrics import measure
from sim.model.failures import PLANNED
from sim.model.job import JobSet
from sim.model.records import FailureRecord, LeaseRecord, RunLog
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
