"""A replay ends recorded jobs as the record says: failed and cancelled ones are not done."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.errors import InputError
from sim.load import load
from sim.replication import prepare, replicate
from sim.units import HOUR
from sim.workload.imports import import_jobs
from sim.workload.imports.fields import words
from sim.workload.normal import write_trace
from sim.workload.readers import parse_csv, read_trace
from sim.workload.recorded_ends import STATES

SCENARIO = """\
name: ends
start: 2026-03-01T00:00
timezone: UTC
horizon: 2d
reliability: {profile: none}
checkpoint: {every: 30min}
workload: {trace: {file: jobs.csv, runtime_gpu: A100-40G}}
strategies:
  - name: six cards
    leases: [{offer: a100-40g-custom, count: 6, plan: monthly}]
experiment: {replications: 1, seed: 1}
"""
JOBS = """\
id,submit_s,gpus,runtime_s,limit_s,state
good,0,1,14400,,completed
bad,0,1,10800,,FAILED
stopped,0,1,7200,,CANCELLED by 1000
late,0,2,3600,3600,TIMEOUT
open,0,1,1800,,running
unsaid,86400,1,3600,,
"""
"""Card-hours by pencil: done 4 + 0.5 + 1; failed 3 + 2 x 1; cancelled 2."""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    (tmp_path / "jobs.csv").write_text(JOBS)
    file = tmp_path / "ends.yaml"
    file.write_text(SCENARIO)
    return file


def test_jobs_end_as_recorded_after_their_recorded_time(scenario: Path) -> None:
    result = replicate(prepare(load(scenario)), 0, 0)
    names = [job.name for job in result.jobs.jobs]
    found = {names[job.job]: (job.state, job.end_us and job.end_us / HOUR) for job in result.log.jobs}
    assert found == {
        "good": ("done", 4),
        "bad": ("failed", 3),
        "stopped": ("cancelled", 2),
        "late": ("failed", 1),
        "open": ("done", 0.5),
        "unsaid": ("done", 25),
    }


def test_what_was_lost_is_counted_so_and_no_job_of_it_is_paid_as_done(scenario: Path) -> None:
    metrics = replicate(prepare(load(scenario)), 0, 0).metrics
    assert (metrics["jobs_done"], metrics["jobs_failed"], metrics["jobs_cancelled"]) == (3, 2, 1)
    # Failed: 3 + 2 card-hours, all of it. Cancelled at 2 h: what came after the checkpoint at 1.5 h.
    assert metrics["lost_gpu_h"] == pytest.approx(3 + 2 + 0.5)


def test_the_run_says_how_many_and_how_much(scenario: Path) -> None:
    notes = replicate(prepare(load(scenario)), 0, 0).jobs.notes
    (note,) = notes
    assert note == (
        "2 of 6 trace jobs are recorded as failed and 1 as cancelled, 7.0 card-hours: they run as long as "
        "recorded and are not done."
    )


def test_a_trace_without_such_jobs_says_nothing(scenario: Path) -> None:
    (scenario.parent / "jobs.csv").write_text("submit_s,gpus,runtime_s,state\n0,1,60,completed\n")
    assert replicate(prepare(load(scenario)), 0, 0).jobs.notes == ()


def test_an_import_carries_the_ends_into_the_replay(tmp_path: Path) -> None:
    table = "id,submit,gpus,runtime_s,state\n"
    table += "a,2026-03-02 09:00:00,1,60,COMPLETED\nb,2026-03-02 09:01:00,1,60,OUT_OF_MEMORY\n"
    table += "c,2026-03-02 09:02:00,1,60,revoked\nd,2026-03-02 09:03:00,1,60,\n"
    (tmp_path / "t.csv").write_text(table)
    found = import_jobs(tmp_path / "t.csv")
    write_trace(found.jobs, found.about, tmp_path / "t.parquet")
    rows = read_trace(tmp_path / "t.parquet")
    assert [(row.name, row.end) for row in rows] == [
        ("a", None),
        ("b", "failed"),
        ("c", "cancelled"),
        ("d", None),
    ]


@pytest.mark.parametrize(
    ("word", "end"),
    [
        ("Succeeded", None),
        ("失败", "failed"),
        ("OUT_OF_ME+", "failed"),
        ("已取消", "cancelled"),
        ("排队中", None),
    ],
)
def test_words_of_people_and_other_schedulers_are_known(word: str, end: str | None) -> None:
    (row,) = parse_csv(f"submit_s,gpus,runtime_s,state\n0,1,60,{word}\n", "t.csv")
    assert row.end == end


def test_every_state_of_an_import_has_an_end() -> None:
    assert set(words("states")) <= set(STATES)


def test_a_word_that_is_no_state_is_told_with_those_that_are() -> None:
    with pytest.raises(InputError) as raised:
        parse_csv("submit_s,gpus,runtime_s,state\n0,1,60,maybe\n", "t.csv")
    (problem,) = raised.value.problems
    assert (problem.line, problem.key, problem.value) == (2, "row 1, state", "maybe")
    assert "must be the state of a job: done, completed" in problem.rule


def test_a_stored_run_keeps_ends_and_demands(scenario: Path, fleetsim, no_charts) -> None:
    jobs = "submit_s,gpus,runtime_s,state,demand\n0,1,60,failed,0.5\n0,1,60,,\n9,1,60,cancelled,\n"
    (scenario.parent / "jobs.csv").write_text(jobs)
    done = fleetsim("compare", scenario, "--out", scenario.parent / "out")
    assert done.code == 0, done.err
    (kept,) = (scenario.parent / "out").glob("*/*/scenario.yaml")
    rows = load(kept).trace
    assert [(row.end, row.demand) for row in rows] == [("failed", 0.5), (None, None), ("cancelled", None)]
