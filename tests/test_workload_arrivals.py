"""Arrivals: expected numbers in closed form, local hours across daylight time, order-free draws."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from sim.model.scenario import Scenario
from sim.streams import Streams
from sim.units import DAY, HOUR, MONTH
from sim.workload import generate, shapes_of
from sim.workload.arrivals import PROFILES, batch_times, clock_of, expected_jobs
from sim.workload.readers import parse_csv

JOB = {"name": "a", "model": "qwen-7b", "method": "lora", "samples": 1000, "rate": "6/day"}


def scenario(*classes: dict, **keys) -> Scenario:
    workload = {"classes": [{**JOB, **keys_of_class} for keys_of_class in classes or ({},)]}
    for key in ("growth", "trace"):
        if key in keys:
            workload[key] = keys.pop(key)
    given = {"name": "t", "start": "2026-01-01", "horizon": "28d", "workload": workload}
    given["strategies"] = [{"name": "s", "leases": [{"offer": "a100-40g-custom", "plan": "annual"}]}]
    return Scenario.model_validate({**given, **keys})


def expected(one: Scenario) -> float:
    return expected_jobs(one.workload.classes[0], clock_of(one))


def only_hour(hour: int) -> dict:
    return {"hourly": [1 if h == hour else 0 for h in range(24)]}


@pytest.mark.parametrize("profile", ["flat", "office-hours", only_hour(9)])
@pytest.mark.parametrize("batch", [1, 4, {"geometric": {"mean": 3}}])
def test_the_rate_counts_jobs_over_whole_weeks(profile, batch):
    one = scenario({"profile": profile, "batch_size": batch})
    assert expected(one) == pytest.approx(28 * 6)


def test_weekly_factors_move_jobs_between_days_and_add_none():
    weekend = {"hourly": [1] * 24, "weekly": [0, 0, 0, 0, 0, 2, 2]}
    assert expected(scenario({"profile": weekend})) == pytest.approx(28 * 6)
    # 5 January 2026 is a Monday: five days without a job, then a weekend with all of them
    assert expected(scenario({"profile": weekend}, start="2026-01-05", horizon="5d")) == 0
    assert expected(scenario({"profile": weekend}, start="2026-01-10", horizon="2d")) == pytest.approx(42)


def test_growth_compounds_continuously_from_the_start():
    one = scenario(horizon="365d", growth="3%/month")
    exponent = math.log(1.03) / MONTH
    integral = 6 / DAY * (math.exp(exponent * 365 * DAY) - 1) / exponent
    assert expected(one) == pytest.approx(integral)


@pytest.mark.parametrize(
    ("start", "hour", "jobs"),
    [
        ("2024-03-09", 2, 24),  # an ordinary day: all jobs of the day fall in this hour
        ("2024-03-10", 2, 0),  # the hour that New York skips
        ("2024-11-03", 1, 48),  # the hour that comes twice
    ],
)
def test_hours_are_local_across_daylight_time(start, hour, jobs):
    one = scenario(
        {"rate": "24/day", "profile": only_hour(hour)},
        start=start,
        horizon="23h",
        timezone="America/New_York",
    )
    assert expected(one) == pytest.approx(jobs)


def test_a_start_at_an_odd_minute_keeps_the_local_hours():
    one = scenario({"profile": only_hour(9)}, start="2026-01-01T08:53:20", horizon="66min 40s")
    assert expected(one) == pytest.approx(6)
    times = batch_times(one.workload.classes[0], clock_of(one), one.horizon_us, Streams(1).generator("x"))
    local = [one.local_time(int(time)) for time in times]
    assert {(time.hour, time.day) for time in local} <= {(9, 1)}


def test_counts_are_poisson():
    one = scenario({"rate": "20/day"}, horizon="1d")
    counts = [len(generate(one, (), Streams(5, k)).jobs) for k in range(2000)]
    assert np.mean(counts) == pytest.approx(20, abs=4 * math.sqrt(20 / 2000))
    assert np.var(counts) == pytest.approx(20, rel=0.15)


def test_batches_arrive_together_and_keep_the_rate():
    one = scenario({"batch_size": {"geometric": {"mean": 3}}, "rate": "30/day"}, horizon="365d")
    jobs = generate(one, (), Streams(2)).jobs
    batches = len({job.submit_us for job in jobs})
    assert len(jobs) == pytest.approx(30 * 365, rel=0.05)
    assert len(jobs) / batches == pytest.approx(3, rel=0.05)


def test_a_longer_horizon_moves_no_job():
    keys = {"profile": "office-hours", "batch_size": {"geometric": {"mean": 2}}}
    keys["samples"] = {"lognormal": {"median": 50000, "sigma": 1}}
    short, long = (
        generate(scenario(keys, horizon=horizon, growth="5%/month"), (), Streams(42)).jobs
        for horizon in ("97h 13min", "365d")
    )
    assert len(short) > 10
    assert long[: len(short)] == short
    assert long[len(short)].submit_us >= 97 * HOUR


def test_another_class_changes_no_job_of_the_first():
    both = generate(scenario({}, {"name": "b", "rate": "50/day"}), (), Streams(42)).jobs
    alone = generate(scenario({}), (), Streams(42)).jobs
    seen = [(job.name, job.submit_us, job.work) for job in both if job.shape == 0]
    assert seen == [(job.name, job.submit_us, job.work) for job in alone]


def test_jobs_are_numbered_by_submission_and_named_by_class():
    jobs = generate(scenario({}, {"name": "b"}), (), Streams(1)).jobs
    assert [job.id for job in jobs] == list(range(len(jobs)))
    assert all(left.submit_us <= right.submit_us for left, right in pairwise(jobs))
    assert [job.name for job in jobs if job.shape == 1][:2] == ["b-000000", "b-000001"]
    assert all(0 <= job.submit_us < 28 * DAY for job in jobs)


def test_seeds_and_replications_differ_and_repeat():
    one = scenario()
    first = generate(one, (), Streams(42, 0))
    assert generate(one, (), Streams(42, 0)) == first
    assert generate(one, (), Streams(42, 1)) != first
    assert generate(one, (), Streams(43, 0)) != first


def test_work_is_samples_times_epochs():
    keys = {"samples": {"choice": {"values": [0, 2.4]}}, "epochs": 3, "deadline": "24h", "limit": "2d"}
    jobs = generate(scenario({**keys, "team": "t", "priority": 7}), (), Streams(1)).jobs
    assert {job.work for job in jobs} == {3.0, 6.0}  # 0 samples become 1, 2.4 become 2
    assert {(job.deadline_us, job.limit_us, job.team, job.priority) for job in jobs} == {
        (DAY, 2 * DAY, "t", 7)
    }


def test_no_rate_no_job():
    assert generate(scenario({"rate": "0/day"}), (), Streams(1)).jobs == ()


def test_the_named_profiles_are_those_of_the_model():
    named = Scenario.model_json_schema()["$defs"]["JobClass"]["properties"]["profile"]["anyOf"][0]["enum"]
    assert set(PROFILES) == set(named)
    assert np.mean(PROFILES["office-hours"].hourly) == pytest.approx(1, abs=0.01)


CSV = """submit_s,gpus,runtime_s,memory_gib,gpu,limit_s,spans,runtime_gpu,id
10,1,60,,,,,,late
0,4,30.5,38,A100-40G,100,no,,wide
5,1,60,,,,,H100-80G,other
10,1,90,,,,,,last
100000000,1,60,,,,,,never
"""


def test_trace_jobs_keep_ids_times_and_limits():
    trace = parse_csv(CSV, "t.csv")
    one = scenario(trace={"file": "t.csv", "runtime_gpu": "A100-40G"}, horizon="1d")
    one = one.model_copy(update={"workload": one.workload.model_copy(update={"classes": ()})})
    made = generate(one, trace, Streams(1))
    assert [(job.id, job.name, job.submit_us, job.work, job.limit_us) for job in made.jobs] == [
        (0, "wide", 0, 30.5e6, 100_000_000),
        (1, "other", 5_000_000, 60e6, None),
        (2, "late", 10_000_000, 60e6, None),
        (3, "last", 10_000_000, 90e6, None),
    ]
    shapes = [(s.gpus, s.memory_gib, s.gpu, s.runtime_gpu, s.spans) for s in made.shapes]
    assert shapes == [
        ((4,), 38.0, "A100-40G", "A100-40G", False),
        ((1,), None, None, "H100-80G", True),
        ((1,), None, None, "A100-40G", True),
    ]
    assert any("1 of 5 trace jobs" in note for note in made.notes)


def test_classes_come_before_the_trace_and_win_ties():
    trace = parse_csv("submit_s,gpus,runtime_s\n0,1,60\n", "t.csv")
    one = scenario({"gpus": [4, 2]}, {"name": "b", "gpus": 1}, trace={"file": "t.csv"})
    shapes = shapes_of(one, trace)
    assert [(s.job_class, s.gpus) for s in shapes] == [("a", (4, 2)), ("b", (1,)), (None, (1,))]
    made = generate(one, trace, Streams(1))
    assert made.shapes == shapes
    assert made.jobs[0].name == "trace-000001"
