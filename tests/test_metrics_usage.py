"""Use of cards, money and stability of hand-made runs, with values worked out on paper."""

import random

import pytest

from sim.metrics import measure, overload_reasons
from sim.model.job import Job, JobSet, JobShape
from sim.model.records import Attempt, FailureRecord, JobRecord, LeaseRecord, RunLog
from sim.units import DAY, HOUR
from tests.billing_cases import BURST, lease, ledger, rental, scenario
from tests.test_metrics_service import run

TWO_CARDS = JobShape("two cards", None, (2,))


def stay(job, start, end, ended, work, lost=0.0, startup=0.0, checkpoint=0.0, voided=0.0, cards=2):
    hours = (start, end, startup, checkpoint, work, lost)
    start_us, end_us, startup_us, checkpoint_us, work_us, lost_us = (round(h * HOUR) for h in hours)
    return Attempt(
        job, "x", False, tuple(range(cards)), start_us, end_us, ended,
        startup_us, checkpoint_us, work_us, lost_us, round(voided * HOUR),
    )  # fmt: skip


def measured(log, asked, jobs, shapes=(TWO_CARDS,), records=()):
    return measure(log, ledger(asked, records), JobSet(shapes, jobs), asked, asked.target)


def test_lost_and_destroyed_work_is_not_useful():
    # Ten hours of work on two cards. The first stay keeps 4 of 5 h and loses 1; the second, after
    # half an hour in the queue, loses 2 h and with the disk the 4 h (8 card-hours) kept before.
    # The third, after an hour of repair, starts for 0.5 h and does all 10 h, with 0.25 h of checkpoints.
    stays = (
        stay(0, 0, 5, "gpu_fatal", 4, lost=1),
        stay(0, 5.5, 8, "node", 0, lost=2, startup=0.5, voided=8),
        stay(0, 9, 19.75, "done", 10, startup=0.5, checkpoint=0.25),
    )
    record = JobRecord(0, "done", 0, stays[-1].end_us, round(1.5 * HOUR), 2, "x", 2, 1.0, round(18.25 * HOUR))
    failures = tuple(
        FailureRecord(at * HOUR, kind, "x", 0, None, (at + 1) * HOUR, (0,), True)
        for at, kind in ((5, "gpu_fatal"), (8, "node"))
    )
    machine = LeaseRecord("x", 0, 0, 2, 0, None, round(36.5 * HOUR), round(3 * HOUR))
    log = RunLog(20 * HOUR, (record,), stays, (machine,), failures)
    got = measured(log, scenario([lease()], horizon="20h"), (Job(0, "a", 0, 0, 10 * HOUR),))
    expected = {
        "leased_gpu_h": 40,
        "busy_gpu_h": 36.5,
        "down_gpu_h": 3,
        "idle_gpu_h": 0.5,
        "useful_gpu_h": 20,
        "useful_share": 0.5,
        "lost_gpu_h": 14,  # 2 x (1 + 2) + 8
        "startup_gpu_h": 2,
        "checkpoint_gpu_h": 0.5,
        "failures": 2,
        "interruptions": 2,
        "wait_mean_h": 1.5,
        "slowdown_p95": 19.75 / 18.25,
        "queue_mean": 1.5 / 20,
        "queue_stretch_h": 1,
    }
    for name, value in expected.items():
        assert got[name] == pytest.approx(value), name
    # Every busy card-hour is one of four kinds.
    kinds = ("useful_gpu_h", "lost_gpu_h", "startup_gpu_h", "checkpoint_gpu_h")
    assert sum(got[kind] for kind in kinds) == pytest.approx(got["busy_gpu_h"])


def test_leased_time_is_cut_to_the_lease_and_the_horizon():
    machines = (
        LeaseRecord("x", 0, 0, 8, 0, None, 0, 0),  # 10 h x 8
        LeaseRecord("x", 1, 1, 8, 4 * HOUR, 6 * HOUR, 0, 0),  # 2 h x 8
        LeaseRecord("x", 2, 2, 8, 9 * HOUR, 15 * HOUR, 0, 0),  # 1 h x 8
        LeaseRecord("x", 3, 3, 8, 11 * HOUR, None, 0, 0),  # comes after the end
    )
    log = RunLog(10 * HOUR, (), (), machines, ())
    assert measured(log, scenario([lease()], horizon="10h"), ())["leased_gpu_h"] == 104


def test_burst_hours_and_their_cost():
    asked = scenario([lease()], burst={**BURST, "price": 20}, horizon="10h")
    records = (rental(1, 3), rental(8.5, None, 1))
    log = RunLog(10 * HOUR, (), (), records, (), burst_orders=3, burst_stock_outs=1)
    got = measured(log, asked, (), records=records)
    assert got["burst_gpu_h"] == got["leased_gpu_h"] == 3.5
    assert got["burst_cost_cny"] == 70  # 2 h and 1.5 h inside; the half hour begun is owed after
    assert got["owed_after_cny"] == pytest.approx(26880 - 30.68 + 10)
    assert got["cost_cny"] == pytest.approx(30.68 + 70)
    assert got["committed_cost_cny"] == got["cash_cny"] == 26880 + 80
    assert (got["burst_orders"], got["burst_stock_outs"]) == (3, 1)


def test_cost_per_month_is_of_mean_months():
    log = RunLog(365 * DAY, (), (), (), ())
    assert measured(log, scenario([lease()]), ())["cost_per_month_cny"] == pytest.approx(2240)


def test_the_queue_agrees_with_the_waits_whatever_happens():
    # Little's law within the run: mean queue = sum of waits / length of the run.
    rng = random.Random(5)
    horizon, jobs, records, stays = 1000.0, [], [], []
    for number in range(300):
        now = submit = rng.uniform(0, horizon)
        wait, state, tries = 0.0, "waiting", 0
        while state == "waiting" and tries < 3:
            start = now + rng.choice([0.0, rng.expovariate(0.02)])
            wait += min(start, horizon) - now
            if start >= horizon:
                break
            end = start + rng.expovariate(0.1)
            tries += 1
            if end >= horizon:
                end, state, how = horizon, "running", "horizon"
            elif rng.random() < 0.5:
                how = "node"
            else:
                state = how = "done"
            stays.append(stay(number, start, end, how, 0, lost=end - start))
            now = end
        ended = now if state == "done" else None
        if state == "waiting" and tries == 3:
            state, ended = "refused", now  # its last lease ended
        jobs.append(Job(number, "j", 0, round(submit * HOUR), 1.0))
        end_us = None if ended is None else round(ended * HOUR)
        records.append(JobRecord(number, state, None, end_us, round(wait * HOUR), 2, None, 0, 0.0, 0))
    log = RunLog(round(horizon * HOUR), tuple(records), tuple(stays), (), ())
    got = measured(log, scenario([lease()], horizon="1000h"), tuple(jobs))
    total = sum(record.wait_us for record in records) / HOUR
    assert {record.state for record in records} == {"done", "running", "waiting", "refused"}
    assert got["queue_mean"] == pytest.approx(total / horizon, rel=1e-6)


def first_come(cards, every, length, horizon, until=None):
    """Rows of `run` for jobs of one length at equal distances, first come first served."""
    free, rows = [0.0] * cards, []
    for number in range(round((until or horizon) / every)):
        submit = number * every
        card = free.index(min(free))
        start = max(submit, free[card])
        free[card] = start + length
        if start >= horizon:
            rows.append((submit, None, None, "waiting"))
        elif start + length >= horizon:
            rows.append((submit, start, None, "running"))
        else:
            rows.append((submit, start, start + length, "done"))
    return rows


def test_a_load_below_capacity_is_stable():
    got = run(first_come(2, 1.25, 2, 500), cards=2, horizon=500)
    assert (got["overloaded"], got["wait_max_h"]) == (0, 0)
    assert got["offered_load"] == pytest.approx(0.8, abs=0.01)
    assert overload_reasons(got, 500) == ()


def test_a_load_above_capacity_is_said():
    # A job of 2 h an hour on one card: capacity for half of them.
    got = run(first_come(1, 1, 2, 500), cards=1, horizon=500, asked_h=2)
    assert got["offered_load"] == pytest.approx(2, rel=0.01)
    assert got["backlog_h"] == pytest.approx(500)  # 250 jobs wait
    # The queue grows in proportion to time: 7/8 of the run against 3/8.
    assert got["queue_late"] == pytest.approx(got["queue_early"] * 7 / 3, rel=0.02)
    load, growth, stretch = overload_reasons(got, 500)
    # 500 jobs of 2 h, and again the one that still runs, for its progress is not known here: 1,002
    # card-hours on 500, which are 336.7 and 168 in a week of 168 h.
    assert load.startswith("jobs ask for 337 card-hours a week and 168 are leased (1.0 cards on average)")
    assert "where 3 cards, never idle, would carry it: that is 2.00 times the leased card-time" in load
    assert "the queue still grows" in growth
    assert "without a break" in stretch
    assert got["overloaded"] == 1
    assert got["target_met_share"] == 0


def test_work_of_waiting_jobs_counts_as_load():
    # One card for 10 h: a job of 10 h that has run for 4 h, and two of 10 h that wait.
    jobs = tuple(Job(n, "j", 0, 0, 10.0 * HOUR) for n in range(3))
    records = (
        JobRecord(0, "running", 0, None, 0, 1, "x", 0, 0.4, 4 * HOUR),
        JobRecord(1, "waiting", None, None, 10 * HOUR, 0, None, 0, 0.0, 0),
        JobRecord(2, "waiting", None, None, 10 * HOUR, 0, None, 0, 0.0, 0),
    )
    stays = (stay(0, 6, 10, "horizon", 4, cards=1),)
    machine = LeaseRecord("x", 0, 0, 1, 0, None, 4 * HOUR, 0)
    log = RunLog(10 * HOUR, records, stays, (machine,), ())
    one = JobShape("one", None, (1,))
    got = measured(log, scenario([lease()], horizon="10h"), jobs, (one,))
    assert got["offered_load"] == pytest.approx((4 + 6 + 10 + 10) / 10)
    assert got["backlog_h"] == pytest.approx(20)
    (reason, *_) = overload_reasons(got, 10)
    assert "3.00 times the leased card-time" in reason
    # 4 h run, 6 + 10 + 10 h left to run, in 10 h: shorter than a week, so over the run.
    assert "jobs ask for 30 card-hours over 10 h and 10 are leased (1.0 cards on average)" in reason
    assert "where 3 cards, never idle" in reason
    # A class of jobs, measured by what it took: work in samples, 4 card-hours for 0.4 of 1,000.
    jobs = tuple(Job(n, "j", 0, 0, 1000.0) for n in range(3))
    got = measured(log, scenario([lease()], horizon="10h"), jobs, (JobShape("c", "c", ()),))
    assert got["offered_load"] == pytest.approx(3)
    # A shape of which nothing ran: known for a trace by its record, unknown for a class.
    idle = RunLog(10 * HOUR, records[1:], (), (machine,), ())
    jobs = tuple(Job(n, "j", 0, 0, 5.0 * HOUR) for n in range(3))
    asked = scenario([lease()], horizon="10h")
    assert measured(idle, asked, jobs, (TWO_CARDS,))["backlog_h"] == pytest.approx(20)
    assert measured(idle, asked, jobs, (JobShape("c", "c", ()),))["backlog_h"] == 0


def test_a_backlog_that_lasted_long_is_said_though_it_has_cleared():
    # Twice the capacity for 200 h, then nothing; the queue is empty from 400 h on.
    for horizon in (500, 1000):
        got = run(first_come(1, 1, 2, horizon, until=200), cards=1, horizon=horizon)
        assert got["jobs_unfinished"] == 0
        assert got["offered_load"] < 1
        assert got["overloaded"] == 1
        (reason,) = overload_reasons(got, horizon)
        # From the second job's arrival at 1 h to the last job's start at 398 h.
        assert "somebody waits for 397.0 h without a break" in reason
        assert "while jobs arrive over 199.0 h" in reason


def test_a_batch_handed_in_at_once_is_not_an_overload():
    rows = [(0, 2 * n, 2 * n + 2, "done") for n in range(40)]
    assert run(rows, cards=1, horizon=1000)["overloaded"] == 0


def test_a_few_jobs_are_not_called_an_overload():
    assert run([(0, 0, 5, "done"), (1, 5, 9, "done")], cards=1)["overloaded"] == 0


def test_a_long_job_at_the_end_is_not_an_overload():
    # Three jobs run on, so more is asked for than is leased, but nobody waits (known fault 40).
    got = run([(0, 0, None, "running")] * 3, cards=3, horizon=999)
    assert got["offered_load"] == pytest.approx(2)
    assert got["overloaded"] == 0
