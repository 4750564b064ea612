"""Runs that are submitted after looking at the last: pencil cases, same jobs everywhere, bad input."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from sim.experiments.sample import summarise
from sim.experiments.search import work_asked
from sim.experiments.vault import Vault, engine_key
from sim.experiments.vault_logs import log_bytes, log_of
from sim.load import Question, load_text
from sim.model.chains import Hours
from sim.replication import RunResult, prepare, replicate
from sim.streams import Streams
from sim.units import HOUR
from sim.workload import generate
from tests.load_helpers import SMALL, fault

HEAD = """\
name: loop
start: 2026-01-05  # a Monday
horizon: {horizon}
reliability: {{profile: none}}
strategies:
  - name: one
    leases: [{{offer: a100-40g-custom, count: {cards}, plan: monthly}}]
  - name: nine
    leases: [{{offer: a100-40g-custom, count: 9, plan: monthly}}]
workload:
  timed:
"""
HOUR_LONG = "    kinds: [{share: 1, runtime_s: 3600}]\n"
LAB = """\
  - name: lab
    loop: {people: 4, think_s: {lognormal: {median: 2400, sigma: 1}}}
    kinds: [{share: 1, runtime_s: {exponential: {mean: 3600}}}]
"""


def asked(timed: str, horizon: str = "3d", cards: int = 1) -> Question:
    return load_text(HEAD.format(horizon=horizon, cards=cards) + timed)


def played(timed: str, horizon: str = "3d", cards: int = 1, strategy: int = 0) -> RunResult:
    return replicate(prepare(asked(timed, horizon, cards)), strategy, 0)


def submits(run: RunResult) -> list[float]:
    """Hours, in order."""
    return [job.submit_us / HOUR for job in run.jobs.jobs]


def states(run: RunResult) -> list[str]:
    return [job.state for job in run.log.jobs]


# --- pencil cases ---------------------------------------------------------------------------------


def test_one_person_submits_a_run_after_each_time_to_think() -> None:
    # thinks 2 h, runs 1 h, thinks 2 h ...
    run = played("  - name: lab\n    loop: {people: 1, think_s: 7200}\n" + HOUR_LONG, "12h")
    assert submits(run) == [2, 5, 8, 11]
    assert states(run) == ["done", "done", "done", "running"]
    assert run.metrics["jobs_submitted"] == 4
    assert [job.name for job in run.jobs.jobs] == [f"lab-1-00000{n}" for n in range(4)]


def test_two_people_and_one_card() -> None:
    # both come at 2; the second waits 1 h; then 1 h apart: at 5 and 6, 8 and 9
    run = played("  - name: lab\n    loop: {people: 2, think_s: 7200}\n" + HOUR_LONG, "10h")
    assert submits(run) == [2, 2, 5, 6, 8, 9]
    assert [job.wait_us / HOUR for job in run.log.jobs] == [0, 1, 0, 0, 0, 0]
    assert [job.name for job in run.jobs.jobs][2:4] == ["lab-1-000001", "lab-2-000001"]


def test_campaigns_of_people_with_a_pause_between() -> None:
    # pause 10 h, two runs with half an hour between, pause 10 h after the end of the second
    loop = "loop: {people: 1, think_s: 1800, runs: 2, pause_s: 36000}"
    assert submits(played(f"  - name: lab\n    {loop}\n{HOUR_LONG}", "26h")) == [10, 11.5, 22.5, 24]


def test_a_campaign_begins_on_its_day_and_runs_follow_one_another() -> None:
    timed = "  - name: sweep\n    at: [2026-01-05T09:00]\n    loop: {think_s: 600, runs: 3}\n" + HOUR_LONG
    run = played(timed)
    assert submits(run) == pytest.approx([9, 9 + 7 / 6, 9 + 7 / 3], abs=1e-9)
    assert [job.name for job in run.jobs.jobs] == [f"sweep-1-00000{n}" for n in range(3)]
    assert not any(shape.closed for shape in run.jobs.shapes)


def test_nobody_thinks_outside_of_the_hours_of_work() -> None:
    # Mon 9:00 + 30 min; ends 10:30, +30 min; ... the run of 17:00 ends at closing time: Tuesday 9:30
    loop = 'loop: {people: 1, think_s: 1800, hours: "mon-fri 09:00-18:00"}'
    got = submits(played(f"  - name: lab\n    {loop}\n{HOUR_LONG}", "2d"))
    assert got == [9.5, 11, 12.5, 14, 15.5, 17, 33.5, 35, 36.5, 38, 39.5, 41]


def test_a_weekend_passes_without_a_thought() -> None:
    # Friday 2026-01-09 17:30: the run ends at 18:30, Monday 9:00 + 20 min is hour 7 x 24 + 9 1/3
    timed = (
        '  - name: sweep\n    at: [2026-01-09T17:30]\n    loop: {think_s: 1200, runs: 2, hours: "mon-fri '
        '09:00-18:00"}\n'
    )
    assert submits(played(timed + HOUR_LONG, "14d")) == pytest.approx([4 * 24 + 17.5, 177 + 1 / 3])


def test_hours_count_open_time_and_are_half_open() -> None:
    hours = Hours([(10, 20), (30, 40)])
    assert hours.total_us == 20
    assert hours.open_until(np.array([0, 10, 15, 20, 25, 30, 40, 99])).tolist() == [
        0,
        0,
        5,
        10,
        10,
        10,
        20,
        20,
    ]
    assert [hours.later(at, think, 99) for at, think in [(0, 0), (12, 3), (12, 8), (12, 17), (25, 0)]] == [
        *(10, 15, 30, 39, 30)
    ]
    assert [hours.later(*pair, 99) for pair in [(12, 18), (40, 0), (12, 99)]] == [99, 99, 99]
    assert Hours([]).later(5, 0, 99) == 99


def test_a_run_that_fails_is_submitted_again_before_the_next_one() -> None:
    # fails at once, at 2 and an hour later; the next run is submitted 2 h after the second failure
    timed = (
        "  - name: lab\n    loop: {people: 1, think_s: 7200}\n    restart: 0s\n"
        "    ends: {failed: 1, early: 1, within: 0s, retried: 1, retries: 1, pause: 1h, sigma: 0}\n"
    )
    run = played(timed + HOUR_LONG, "9h")
    assert submits(run) == [2, 5, 8]
    assert states(run)[:2] == ["failed", "failed"]
    assert run.metrics["retries"] == 2  # the third would come at the end of the horizon


def test_a_refused_run_is_looked_at_like_any_other() -> None:
    timed = "  - name: lab\n    loop: {people: 1, think_s: 7200}\n    spans: false\n"
    run = played(timed + "    kinds: [{share: 1, gpus: 16, runtime_s: 3600}]\n", "7h")
    assert submits(run) == [2, 4, 6]
    assert run.metrics["jobs_refused"] == 3


def test_rate_counts_the_runs_of_campaigns() -> None:
    """Campaigns of 4 runs on average, 12 a day: a compound Poisson number of runs."""
    loop = "loop: {think_s: 60, runs: {geometric: {mean: 4}}}"
    run = played(f"  - name: sweep\n    rate: 48/day\n    {loop}\n{HOUR_LONG}", "200d", 200)
    spread = math.sqrt(12 * 200 * (4 * 4 + 4 * 3))  # E[S^2] = 2 x 16 - 4
    assert abs(len(run.jobs.jobs) - 48 * 200) < 4 * spread
    assert run.metrics["wait_max_h"] == 0


def test_modelled_classes_loop_as_well() -> None:
    text = SMALL.replace(
        "rate: 2/day", "loop: {people: 2, think_s: 3600}\n      epochs: {uniform: {low: 1, high: 3}}"
    )
    run = replicate(prepare(load_text(text)), 0, 0)
    ends = {run.jobs.jobs[one.job].name: one.end_us for one in run.log.jobs}
    names = [job.name for job in run.jobs.jobs]
    assert names[:2] == ["bot-1-000000", "bot-2-000000"]
    assert len(names) > 100
    for job in run.jobs.jobs[2:]:
        head, number = job.name.rsplit("-", 1)
        assert job.submit_us - ends[f"{head}-{int(number) - 1:06d}"] == HOUR
        assert 1000 <= job.work <= 3000


# --- the same people for every strategy -----------------------------------------------------------


def test_a_person_makes_the_same_runs_on_every_fleet() -> None:
    few, many = (played(LAB, "10d", strategy=strategy) for strategy in (0, 1))
    work = [{job.name: job.work for job in run.jobs.jobs} for run in (few, many)]
    assert len(work[1]) > len(work[0]) > 50
    assert work[0].items() <= work[1].items()
    gaps = []
    for run in (few, many):
        ends = {run.jobs.jobs[one.job].name: one.end_us for one in run.log.jobs}
        begins = {job.name: job.submit_us for job in run.jobs.jobs}
        gaps.append(
            {f"lab-1-{n:06d}": begins[f"lab-1-{n + 1:06d}"] - ends[f"lab-1-{n:06d}"] for n in range(12)}
        )
    assert gaps[0] == gaps[1]


def test_a_longer_horizon_and_another_class_change_no_run() -> None:
    short = played(LAB, "5d")
    other = "  - name: others\n    rate: 1/day\n" + HOUR_LONG
    long = played(other + LAB, "9d", cards=9)
    known = {job.name: job.work for job in long.jobs.jobs}
    assert len(short.jobs.jobs) > 20
    assert all(known[job.name] == job.work for job in short.jobs.jobs)


def test_ids_are_in_order_of_submission_and_the_log_names_the_draws() -> None:
    question = asked(LAB, "10d")
    drawn = generate(question.scenario, question.trace, Streams(42, 0))
    run = replicate(prepare(question), 0, 0)
    assert submits(run) == sorted(submits(run))
    assert [record.job for record in run.log.jobs] == list(range(len(run.jobs.jobs)))
    found = run.log.submissions
    assert found is not None
    for job, number in zip(run.jobs.jobs, found.jobs, strict=True):
        assert drawn.jobs[number].name == job.name
        assert drawn.jobs[number].submit_us <= job.submit_us
    assert [job.id for job in drawn.independent] == [0, 1, 2, 3]


def test_a_kept_run_is_read_back_whole(tmp_path: Path) -> None:
    prepared = prepare(asked(LAB, "10d"))
    run = replicate(prepared, 0, 0)
    assert log_of(log_bytes(run.log)) == run.log
    key, vault = engine_key(prepared, 0, 42), Vault(tmp_path)
    vault.write(key, summarise(run, prepared.question.scenario))
    sample = vault.read(prepared, key, 0, 0)
    assert sample is not None
    assert sample.metrics == run.metrics
    assert sample.detail is not None
    assert sample.detail.jobs == run.jobs


def test_an_open_workload_has_no_chains() -> None:
    run = played("  - name: open\n    rate: 9/day\n" + HOUR_LONG)
    assert run.log.submissions is None
    assert run.jobs.chains is None


def test_a_search_counts_on_the_first_runs_alone() -> None:
    prepared = prepare(asked("  - name: lab\n    loop: {people: 3, think_s: 60}\n" + HOUR_LONG))
    assert work_asked(prepared, "a100-40g-custom") == pytest.approx(3 * HOUR)


# --- people are no overload -----------------------------------------------------------------------

CROWD = "  - name: lab\n    loop: {people: 40, think_s: 60}\n" + HOUR_LONG


def test_people_who_wait_are_no_overload() -> None:
    run = played(CROWD)
    assert run.metrics["busy_share"] > 0.99
    assert run.metrics["queue_mean"] == pytest.approx(39, abs=0.2)
    assert run.metrics["wait_p95_h"] > 30
    assert run.metrics["backlog_h"] == 0
    assert run.metrics["overloaded"] == 0


def test_the_same_load_from_outside_is_one() -> None:
    run = played("  - name: open\n    rate: 30/day\n" + HOUR_LONG)
    assert run.metrics["overloaded"] == 1
    both = played(CROWD + "  - name: open\n    rate: 30/day\n" + HOUR_LONG)
    assert both.metrics["overloaded"] == 1
    waits = [job for job in both.log.jobs if job.state == "waiting"]
    of_people = sum(both.jobs.shapes[both.jobs.jobs[job.job].shape].closed for job in waits)
    assert of_people == 40 - 1 or of_people == 40
    assert both.metrics["backlog_h"] == len(waits) - of_people


# --- bad input ------------------------------------------------------------------------------------

ONE = HEAD.format(horizon="3d", cards=1) + "  - name: lab\n    loop: {people: 1, think_s: 60}\n" + HOUR_LONG


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("people: 1, ", "", "a loop needs people, or the runs of campaigns"),
        ("people: 1, ", "runs: 5, ", "either a rate, such as 6/day"),
        ("people: 1", "people: 0", "at least 1"),
        ("think_s: 60", "think_s: 0", "above 0"),
        ("think_s: 60", "think_s: 60, runs: 5", "need both runs and pause_s"),
        ("think_s: 60", "think_s: 60, pause_s: 5", "need both runs and pause_s"),
        ("think_s: 60", "think_s: 60, hours: 9-5", "a window is two times of the day"),
        ("name: lab", "name: lab\n    rate: 1/day", "either a rate, such as 6/day"),
        ("name: lab", "name: lab\n    batch_size: 3", "jobs do not arrive together"),
        ("name: lab", "name: lab\n    profile: office-hours", "hours of work"),
        ("name: lab", "name: lab\n    gap_s: 30", "not by gap_s"),
        ("name: lab", "name: lab\n    busy: {day: 1}", "people in a loop have none"),
        ("name: lab", "name: lab\n    since: 2026-01-06", "people in a loop have none"),
        ("people: 1, think_s: 60", "people: 90000, think_s: 60", "3.89e+08 jobs; at most 2,000,000"),
        ("people: 1, think_s: 60", 'people: 1, think_s: 60, hours: "sat 10:00-11:00"', "no job can arrive"),
    ],
)
def test_what_a_loop_refuses(old: str, new: str, rule: str) -> None:
    assert ONE.count(old) == 1
    assert rule in fault(ONE.replace(old, new)).rule


def test_a_campaign_before_the_start_is_said() -> None:
    text = ONE.replace("    loop: {people: 1, think_s: 60}\n", "    at: [2026-01-05, 2025-12-31T09:00]\n")
    found = fault(text)
    assert (found.key, found.line) == ("workload.timed.0.at.1", 13)
    assert "before the start of the scenario, 2026-01-05 00:00" in found.rule
    assert str(found.value).startswith("2025-12-31")


def test_times_to_think_of_many_years_end_a_person_and_never_overflow() -> None:
    thinks = "{choice: {values: [1, 1.0e15], weights: [30, 1]}}"
    run = played(f"  - name: lab\n    loop: {{people: 300, think_s: {thinks}}}\n{HOUR_LONG}", "10d", 300)
    assert 300 < len(run.jobs.jobs) < 300 * 100
    assert all(0 < job.submit_us < 10 * 24 * HOUR for job in run.jobs.jobs)
    timed = f"  - name: s\n    rate: 900/day\n    loop: {{runs: 40, think_s: {thinks}}}\n{HOUR_LONG}"
    run = played(timed, "10d", 300)
    assert all(0 < job.submit_us < 10 * 24 * HOUR for job in run.jobs.jobs)


def test_the_example_of_the_documentation_runs() -> None:
    text = (Path(__file__).parents[1] / "docs" / "workloads-fit.md").read_text("utf-8")
    block = text.split("may have a `loop`:\n\n", 1)[1].split("\n\n", 1)[0]
    question = load_text(HEAD.format(horizon="90d", cards=4) + block.replace("\n    ", "\n  ")[2:] + "\n")
    run = replicate(prepare(question), 0, 0)
    names = {job.name.rsplit("-", 1)[0] for job in run.jobs.jobs}
    assert names == {"lab-1", "lab-2", "lab-3", "lab-4", "lab-5", "sweep-1"}
    assert sum(job.name.startswith("sweep") for job in run.jobs.jobs) == 20
