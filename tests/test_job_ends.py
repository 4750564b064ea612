"""Ends that no hardware causes: cancelled jobs, failed jobs and their new submissions."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from sim.engine import run
from sim.errors import InputError
from sim.load import load_text
from sim.metrics import METRICS, measure
from sim.model.failures import CheckpointSpec
from sim.model.fleet import FleetPlan, ForcedFailure, LeaseSpan
from sim.model.job import JobSet, UserEnd
from sim.model.ledger import Ledger
from sim.model.records import RunLog
from sim.model.work import JobClass
from sim.replication import prepare, replicate
from sim.streams import Streams
from sim.units import HOUR, MINUTE
from sim.workload import generate
from sim.workload.ends import PRESETS, draw_ends
from tests.build import OFFER, failures, job_set, option, plan, pool, rates
from tests.load_helpers import SMALL

STREAMS = Streams(7)


def jobs_with(*ends: tuple[UserEnd, ...], hours: float = 4, **changes: object) -> JobSet:
    """Jobs of so many hours at 0, 0, ... with these ends of their submissions."""
    jobs = job_set([(0, hours)] * len(ends), **changes)
    made = [job._replace(ends=of_job) for job, of_job in zip(jobs.jobs, ends, strict=True)]
    return dataclasses.replace(jobs, jobs=tuple(made))


def stays(log: RunLog, job: int = 0) -> list[tuple[str, float, float, float, float]]:
    """(how it ended, start, end, work kept, work lost) of the stays of one job, hours."""
    return [
        (a.ended, a.start_us / HOUR, a.end_us / HOUR, a.work_us / HOUR, a.lost_us / HOUR)
        for a in log.attempts
        if a.job == job
    ]


def test_a_cancelled_job_stops_after_its_share_and_frees_its_card() -> None:
    # 4 h, cancelled after a quarter; the next job starts then. A checkpoint each 24 min keeps 0.8 h.
    jobs = jobs_with((UserEnd("cancelled", 0.25),), ())
    log = run(plan(pool(1), checkpoint=CheckpointSpec(24 * MINUTE, 0)), jobs, rates(), STREAMS)
    assert [(job.state, job.end_us) for job in log.jobs] == [("cancelled", HOUR), ("done", 5 * HOUR)]
    assert stays(log) == [("cancelled", 0, 1, pytest.approx(0.8), pytest.approx(0.2))]
    assert log.jobs[0].reason == "cancelled by its user"
    assert log.jobs[0].progress == pytest.approx(0.2)


def test_start_up_and_checkpoints_on_the_way_are_not_work() -> None:
    # 30 min start-up; after 1 h of work a checkpoint of 6 min; the job fails after 90 min of work
    jobs = jobs_with((UserEnd("failed", after_us=90 * MINUTE),))
    way = option(startup_us=30 * MINUTE)
    log = run(plan(pool(1), checkpoint=CheckpointSpec(HOUR, 6 * MINUTE)), jobs, rates(way), STREAMS)
    assert log.jobs[0].end_us == (30 + 60 + 6 + 30) * MINUTE
    (stay,) = log.attempts
    assert (stay.ended, stay.work_us, stay.lost_us, stay.checkpoint_us) == (
        "failed",
        0,
        90 * MINUTE,
        6 * MINUTE,
    )


def test_an_end_at_the_instant_of_a_checkpoint_comes_before_it() -> None:
    jobs = jobs_with((UserEnd("cancelled", 0.25),))
    log = run(plan(pool(1), checkpoint=CheckpointSpec(HOUR, 6 * MINUTE)), jobs, rates(), STREAMS)
    assert (log.jobs[0].end_us, log.attempts[0].checkpoint_us) == (HOUR, 0)


def test_a_failed_job_is_submitted_again_from_the_beginning() -> None:
    # fails 10 min into each of two submissions, an hour's pause each; the third runs its 4 h
    end = UserEnd("failed", after_us=10 * MINUTE, retry_after_us=HOUR)
    log = run(plan(pool(1)), jobs_with((end, end)), rates(), STREAMS)
    (job,) = log.jobs
    assert (job.state, job.submissions, job.interruptions) == ("done", 3, 0)
    assert job.end_us == 2 * (70 * MINUTE) + 4 * HOUR
    assert (job.pause_us, job.wait_us, job.run_us) == (2 * HOUR, 0, 4 * HOUR + 20 * MINUTE)
    assert [(a.ended, a.pause_us) for a in log.attempts] == [
        ("retried", HOUR),
        ("retried", HOUR),
        ("done", 0),
    ]


def test_a_failed_job_without_a_retry_is_given_up() -> None:
    ends = (UserEnd("failed", after_us=MINUTE, retry_after_us=HOUR), UserEnd("failed", 0.5))
    log = run(plan(pool(1)), jobs_with(ends), rates(), STREAMS)
    assert (log.jobs[0].state, log.jobs[0].end_us) == ("failed", MINUTE + HOUR + 2 * HOUR)
    assert log.jobs[0].progress == 0
    assert [a.ended for a in log.attempts] == ["retried", "failed"]


def test_a_new_submission_queues_behind_those_who_came_before_it() -> None:
    # job 0 fails at 1 min and is back at 31 min; job 1 runs to 4:01 h; job 2 goes before job 0
    end = UserEnd("failed", after_us=MINUTE, retry_after_us=30 * MINUTE)
    log = run(plan(pool(1)), jobs_with((end,), (), ()), rates(), STREAMS)
    assert [job.end_us for job in log.jobs] == [12 * HOUR + MINUTE, 4 * HOUR + MINUTE, 8 * HOUR + MINUTE]
    assert log.jobs[0].wait_us == 8 * HOUR - 30 * MINUTE


def test_a_pause_that_reaches_the_horizon_leaves_the_job_failed() -> None:
    end = UserEnd("failed", after_us=HOUR, retry_after_us=4 * HOUR)
    for hours, state in ((5, "failed"), (5.5, "running")):
        log = run(plan(pool(1), hours=hours), jobs_with((end,)), rates(), STREAMS)
        assert log.jobs[0].state == state
        assert log.attempts[0].ended == ("failed" if state == "failed" else "retried")


def test_a_new_submission_after_the_last_lease_is_refused() -> None:
    end = UserEnd("failed", after_us=HOUR, retry_after_us=4 * HOUR)
    spec = pool(1, leases=[LeaseSpan(0, 1, 0, 3 * HOUR)])
    log = run(plan(spec), jobs_with((end,)), rates(), STREAMS)
    assert (log.jobs[0].state, log.jobs[0].end_us, log.jobs[0].wait_us) == ("refused", 5 * HOUR, 0)


def test_the_time_limit_comes_first_if_it_is_shorter() -> None:
    jobs = jobs_with((UserEnd("cancelled", 0.5),), limit_us=HOUR)
    log = run(plan(pool(1)), jobs, rates(), STREAMS)
    assert (log.jobs[0].state, log.jobs[0].end_us) == ("killed", HOUR)


def test_hardware_failures_and_users_own_together() -> None:
    # Cancelled after 2.5 h of its 4: the node is away from 2.25 to 3.25 h; half an hour left.
    forced = (ForcedFailure(round(2.25 * HOUR), "node", OFFER, 0, 0, HOUR),)
    jobs = jobs_with((UserEnd("cancelled", 0.625),))
    log = run(plan(pool(1), checkpoint=CheckpointSpec(HOUR, 0), forced=forced), jobs, rates(), STREAMS)
    assert stays(log) == [("node", 0, 2.25, 2, 0.25), ("cancelled", 3.25, 3.75, 0, 0.5)]
    # A failed job loses what earlier stays had saved; nothing of it is useful.
    jobs = jobs_with((UserEnd("failed", 0.75),))
    log = run(plan(pool(1), checkpoint=CheckpointSpec(HOUR, 0), forced=forced), jobs, rates(), STREAMS)
    assert [a.voided_card_us for a in log.attempts] == [0, 2 * HOUR]
    # The failure in the instant of the end: completions come first.
    forced = (ForcedFailure(3 * HOUR, "node", OFFER, 0, 0, HOUR),)
    log = run(plan(pool(1), forced=forced), jobs, rates(), STREAMS)
    assert (log.jobs[0].state, log.failures[0].jobs) == ("failed", ())


def test_a_time_limit_counts_each_stay_by_itself() -> None:
    # 10 h of work, a limit of 6 h, a checkpoint an hour. The node is away from 5 to 6 h: the second stay
    # does the other 5 h. Without a checkpoint it would have to do 10 h, and is killed after 6.
    forced = (ForcedFailure(5 * HOUR, "node", OFFER, 0, 0, HOUR),)
    jobs = job_set([(0, 10)], limit_us=6 * HOUR)
    log = run(plan(pool(1), checkpoint=CheckpointSpec(HOUR, 0), forced=forced), jobs, rates(), STREAMS)
    assert (log.jobs[0].state, log.jobs[0].end_us, log.jobs[0].run_us) == ("done", 11 * HOUR, 10 * HOUR)
    log = run(plan(pool(1), checkpoint=CheckpointSpec(None, 0), forced=forced), jobs, rates(), STREAMS)
    assert (log.jobs[0].state, log.jobs[0].end_us) == ("killed", 12 * HOUR)


# --- what is drawn ----------------------------------------------------------------------------


def bots(**ends: object) -> JobClass:
    fields = {"name": "bot", "model": "qwen-7b", "method": "lora", "samples": 1000, "rate": "2/day"}
    return JobClass.model_validate({**fields, "ends": ends})


def binomial(found: int, count: int, share: float) -> None:
    low, high = stats.binom.interval(0.99, count, share)
    assert low <= found <= high, f"{found} of {count}, not {share}"


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_presets_give_their_shares_of_submissions(name: str) -> None:
    asked = PRESETS[name]  # type: ignore[index]
    job_class = bots().model_copy(update={"ends": name})
    drawn = draw_ends(job_class, 4000, STREAMS)
    assert drawn is not None
    first = Counter(ends[0].kind if ends else "done" for ends in drawn)
    binomial(first["cancelled"], 4000, asked.cancelled)
    binomial(first["failed"], 4000, asked.failed)
    failed = [ends[0] for ends in drawn if ends and ends[0].kind == "failed"]
    binomial(sum(end.after_us is not None for end in failed), len(failed), 0.7)
    binomial(sum(end.retry_after_us is not None for end in failed), len(failed), 0.6)
    pauses = [end.retry_after_us / MINUTE for end in failed if end.retry_after_us is not None]
    assert float(np.median(pauses)) == pytest.approx(8, rel=0.3)
    shares = [ends[0].share for ends in drawn if ends and ends[0].kind == "cancelled"]
    assert stats.kstest(shares, "uniform").pvalue > 0.005
    early = [end.after_us / (10 * MINUTE) for end in failed if end.after_us is not None]
    assert stats.kstest(early, "uniform").pvalue > 0.005


def test_the_number_of_new_submissions_is_bounded() -> None:
    drawn = draw_ends(bots(failed=1.0, retried=1.0, retries=3), 50, STREAMS)
    assert drawn is not None
    assert {len(ends) for ends in drawn} == {4}
    assert all([end.retry_after_us is None for end in ends] == [False] * 3 + [True] for ends in drawn)


def test_the_first_jobs_of_more_are_the_same_and_no_share_draws_nothing() -> None:
    few, many = (draw_ends(bots(cancelled=0.3, failed=0.3), n, STREAMS) for n in (10, 40))
    assert few is not None
    assert many is not None
    assert many[:10] == few
    assert draw_ends(bots().model_copy(update={"ends": None}), 10, STREAMS) is None


def test_ends_change_nothing_else_of_the_jobs() -> None:
    usual = load_text(SMALL)
    asked = load_text(SMALL, ("workload.classes.0.ends=philly",))
    with_ends = generate(asked.scenario, (), STREAMS).jobs
    assert any(job.ends for job in with_ends)
    bare = [job._replace(ends=()) for job in with_ends]
    assert bare == list(generate(usual.scenario, (), STREAMS).jobs)


# --- counting ---------------------------------------------------------------------------------

STATES = ("jobs_done", "jobs_killed", "jobs_refused", "jobs_cancelled", "jobs_failed", "jobs_unfinished")


@pytest.mark.parametrize("ends", ["small_team", "acme_seren", "{cancelled: 0.4, failed: 0.6, retried: 1}"])
def test_every_job_is_counted_once(ends: str) -> None:
    changes = (
        f"workload.classes.0.ends={ends}",
        "workload.classes.0.rate=30/day",
        "workload.classes.0.limit=30min",
    )
    prepared = prepare(load_text(SMALL, changes))
    for strategy in (0, 1):
        result = replicate(prepared, strategy, 0)
        metrics = result.metrics
        assert metrics["jobs_submitted"] == sum(metrics[name] or 0 for name in STATES)
        assert metrics["jobs_cancelled"]
        assert metrics["jobs_failed"]
        assert metrics["retries"] == sum(job.submissions - 1 for job in result.log.jobs)
        for job in result.log.jobs:
            end = result.log.horizon_us if job.end_us is None else job.end_us
            assert job.wait_us + job.run_us + job.pause_us == end - result.jobs.jobs[job.job].submit_us
        busy = sum(len(a.cards) * (a.end_us - a.start_us) for a in result.log.attempts)
        assert busy == sum(lease.busy_card_us for lease in result.log.leases)
        kept = sum(a.work_us * len(a.cards) - a.voided_card_us for a in result.log.attempts)
        assert metrics["useful_gpu_h"] == pytest.approx(kept / HOUR)


def measured(spec: FleetPlan, jobs: JobSet) -> dict[str, float | None]:
    """Metrics of a hand-made run, without money."""
    scenario = load_text(SMALL).scenario
    log = run(spec, jobs, rates(), STREAMS)
    end = scenario.local_time(spec.horizon_us)
    return measure(log, Ledger("CNY", end, (), ()), jobs, scenario, None)


def test_a_pause_is_no_time_in_the_queue() -> None:
    # one job, 1 h, an hour's pause, 4 h; nobody ever waits
    end = UserEnd("failed", after_us=HOUR, retry_after_us=HOUR)
    metrics = measured(plan(pool(1), hours=10), jobs_with((end,)))
    assert (metrics["queue_mean"], metrics["queue_stretch_h"], metrics["wait_mean_h"]) == (0, 0, 0)
    assert (metrics["busy_gpu_h"], metrics["useful_gpu_h"], metrics["lost_gpu_h"]) == (5, 4, 1)
    assert (metrics["jobs_done"], metrics["retries"], metrics["makespan_h"]) == (1, 1, 6)


def test_jobs_that_users_end_are_neither_late_nor_on_time() -> None:
    jobs = jobs_with((UserEnd("cancelled", 0.5),), (UserEnd("failed", 0.5),), (), (), deadline_us=5 * HOUR)
    metrics = measured(plan(pool(1), hours=20), jobs)
    # cancelled at 2 h, failed at 4 h, done at 8 h and at 12 h with a deadline of 5 h: two late, none on time
    assert (metrics["jobs_late"], metrics["on_time_share"]) == (2, 0)
    assert (metrics["jobs_cancelled"], metrics["jobs_failed"], metrics["jobs_done"]) == (1, 1, 2)


def test_redone_and_bad_results_are_counted() -> None:
    for found, bad, redone in ((0.0, 1, 0), (1.0, 0, 1)):
        forced = (ForcedFailure(HOUR, "silent_corruption", OFFER, 0),)
        metrics = measured(plan(pool(1, model=failures(found=found)), forced=forced, hours=20), jobs_with(()))
        assert (metrics["bad_results"], metrics["redone_jobs"]) == (bad, redone)
        assert (metrics["jobs_done"], metrics["lost_gpu_h"]) == (1, 4 * redone)
        assert metrics["failures"] == 0


def test_new_metrics_have_a_row() -> None:
    names = {"jobs_cancelled", "jobs_failed", "retries", "bad_results", "redone_jobs", "maintenance_gpu_h"}
    assert names <= METRICS.keys()


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ("seren", "acme_seren"),
        ("{cancelled: 0.7, failed: 0.6}", "add up to at most 1"),
        ("{cancelled: -0.1}", "at least 0"),
        ("{died: 0.1}", "unknown key"),
    ],
)
def test_wrong_ends_are_refused(ends: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        load_text(SMALL, (f"workload.classes.0.ends={ends}",))
