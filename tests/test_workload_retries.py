"""Failed jobs that are submitted again: learned from names, drawn before the run, released by the fleet."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sim.load import load_text
from sim.replication import prepare, replicate
from sim.streams import Streams
from sim.units import HOUR, SECOND
from sim.workload import generate
from sim.workload.fit import fit_workload
from sim.workload.fit_retries import fit_retries
from sim.workload.fit_text import remarks, scenario_text
from sim.workload.imports import Settings, import_jobs
from sim.workload.normal import open_trace, write_trace
from sim.workload.record import Record, record_of
from sim.workload.record_file import record_from
from tests.load_helpers import fault

START = datetime(2026, 3, 2)
DAY = 86_400


def record(rows: list[tuple[float, float, str, str]], user: str = "u") -> Record:
    """Jobs of one card from (submit s, run s, state, name); nobody waited."""
    frame = pd.DataFrame(rows, columns=["submit_s", "runtime_s", "state", "name"])
    return record_of(frame.assign(gpus=1, wait_s=0.0, user=user), START)


# --- pencil: which job repeats which --------------------------------------------------------------


def test_the_next_of_the_name_within_a_day_repeats_a_failure() -> None:
    rows = []
    for n in range(30):  # one name a day; fails after 100 s, comes again 60 s later and is done
        first = n * 3 * DAY
        rows += [(first, 100, "failed", f"run-{n}"), (first + 160, 500, "done", f"run-{n}")]
        rows += [(first + 200, 50, "done", f"other-{n}")]
    rows += [(200 * DAY, 10, "failed", "lonely"), (201 * DAY + 11, 10, "done", "lonely")]
    found = fit_retries(record(rows))
    assert found is not None
    assert found.failed == 31
    assert found.followed == pytest.approx(30 / 31)  # the lonely one came a day and a second later
    assert found.followed_done == 0
    assert found.most == 1
    assert found.pause_s.tolist() == [60.0] * 30
    assert found.again.sum() == 30


def test_a_chain_of_failures_is_counted_as_one() -> None:
    rows = []
    for n in range(25):
        first = n * 2 * DAY
        rows += [(first + 1000 * k, 100, "failed", f"run-{n}") for k in range(3)]
        rows += [(first + 3000, 100, "done", f"run-{n}"), (first + 5000, 100, "done", f"once-{n}")]
    found = fit_retries(record(rows))
    assert found is not None
    assert (found.failed, found.followed, found.most) == (75, 1.0, 3)
    assert set(found.pause_s.tolist()) == {900.0}


def test_a_name_for_all_sorts_of_runs_teaches_nothing() -> None:
    draws = np.random.default_rng(4)
    states = draws.choice(["done", "failed"], 400)
    rows = [(float(n * 3600), 600.0, str(state), "train.py") for n, state in enumerate(states)]
    found = fit_retries(record(rows))
    assert found is not None
    assert found.followed == pytest.approx(1, abs=0.01)
    assert (found.most, int(found.again.sum())) == (0, 0)


def test_without_names_or_failures_nothing_is_said() -> None:
    rows = [(n * 1000.0, 60.0, "failed", "") for n in range(50)]
    assert fit_retries(record(rows)) is None
    assert "Retries are not learned: the jobs have no names" in " ".join(remarks(fit_workload(record(rows))))
    few = [(n * 1000.0, 60.0, "failed" if n < 5 else "done", f"r{n}") for n in range(50)]
    assert fit_retries(record(few)) is None
    assert "fewer than 20" in " ".join(remarks(fit_workload(record(few))))


# --- learned as planted ---------------------------------------------------------------------------


def planted(days: int, seed: int) -> Record:
    """First submissions at random; a fifth fail, 70 % of these come again after 5 min, at most 3 times."""
    draws = np.random.default_rng(seed)
    rows = []
    for n, submit in enumerate(np.sort(draws.uniform(0, days * DAY, days * 40)).tolist()):
        time = submit
        for _ in range(4):
            run = float(draws.exponential(900)) + 1
            failed = draws.random() < 0.2
            rows.append((time, run, "failed" if failed else "done", f"r{n}"))
            if not failed or draws.random() > 0.7:
                break
            time += run + float(draws.lognormal(np.log(300), 0.3))
    return record(sorted(rows))


def test_fit_finds_what_was_planted_and_the_model_makes_as_many_jobs() -> None:
    seen = planted(100, 1)
    found = fit_workload(seen, by_team=False)
    (one,) = found.classes
    again = one.timed.again
    assert again is not None
    failed = int((seen.columns.state == "failed").sum())
    assert abs(again.share - 0.7) < 3 * np.sqrt(0.7 * 0.3 / failed) + 0.01  # the fourth is never followed
    assert again.most == 3
    assert one.arrivals.per_day == pytest.approx(40, rel=0.05)
    question = load_text(scenario_text(found, "planted"), ["horizon=100d"])
    jobs = generate(question.scenario, (), Streams(1, 0))
    assert jobs.chains is not None
    assert len(jobs.jobs) == pytest.approx(len(seen), rel=0.08)
    repeats = len(jobs.jobs) - jobs.chains.first
    assert repeats == pytest.approx(len(seen) - 100 * 40, rel=0.25)
    text = " ".join(remarks(found))
    assert "taken as retries (again), after a median of 5" in text


# --- in the engine --------------------------------------------------------------------------------

WORLD = """\
name: again
start: 2026-01-05
horizon: 10d
reliability: {profile: none}
workload:
  timed:
    - name: lab
      at: [2026-01-05T01:00]
      kinds: [{share: 1, runtime_s: 3600, state: failed}]
      again: {share: 1, pause_s: 1800, most: 2}
strategies:
  - {name: s, leases: [{offer: a100-40g-custom, count: 1, plan: monthly}]}
"""


def test_a_failed_job_comes_again_after_its_pause() -> None:
    run = replicate(prepare(load_text(WORLD)), 0, 0)
    assert [job.submit_us / HOUR for job in run.jobs.jobs] == [1, 2.5, 4]
    assert [job.state for job in run.log.jobs] == ["failed"] * 3
    assert run.metrics["jobs_failed"] == 3
    # Two at once on one card: the second waits, and comes again later for it.
    two = replicate(
        prepare(
            load_text(
                WORLD.replace("pause_s", "most: 1, pause_s")
                .replace(", most: 2", "")
                .replace("      kinds", "      batch_size: 2\n      kinds")
            )
        ),
        0,
        0,
    )
    assert [job.submit_us / HOUR for job in two.jobs.jobs] == [1, 1, 2.5, 3.5]


def test_repeats_are_as_wide_as_the_job_that_failed() -> None:
    kinds = (
        "[{share: 3, gpus: 2, runtime_s: 60, state: failed}, {share: 1, gpus: 2, runtime_s: 90}, "
        "{share: 2, gpus: 1, runtime_s: 30, state: failed}, {share: 2, gpus: 1, runtime_s: 45}]"
    )
    text = WORLD.replace("      at: [2026-01-05T01:00]\n", "      rate: 2000/day\n").replace(
        "[{share: 1, runtime_s: 3600, state: failed}]", kinds
    )
    jobs = generate(load_text(text).scenario, (), Streams(3, 0))
    chains = jobs.chains
    assert chains is not None
    rows = list(jobs.jobs)
    follows = [(rows[a], rows[b]) for a, b in enumerate(chains.following.tolist()) if b >= 0]
    assert len(follows) > 5000
    assert all(jobs.shapes[a.shape] == jobs.shapes[b.shape] for a, b in follows)
    assert {a.work / SECOND for a, _ in follows} == {60, 30}  # only failed ones are repeated
    two_cards = [b.work / SECOND for _, b in follows if jobs.shapes[b.shape].gpus == (2,)]
    assert np.mean(np.array(two_cards) == 60) == pytest.approx(0.75, abs=0.02)


def test_again_needs_failures() -> None:
    assert "kinds with the state failed" in fault(WORLD.replace(", state: failed", "")).rule
    looped = WORLD.replace("at: [2026-01-05T01:00]", "loop: {people: 1, think_s: 60}")
    assert "no loop" in fault(looped).rule


# --- from a dump ----------------------------------------------------------------------------------


def test_retries_are_learned_from_the_names_of_a_dump(tmp_path: Path) -> None:
    def row(job: int, begin: datetime, minutes: int, state: str, name: str) -> str:
        end = begin + timedelta(minutes=minutes)
        times = "|".join(f"{time:%Y-%m-%dT%H:%M:%S}" for time in (begin, begin, end))
        return f"{job}|{name}|u1|{state}|{times}|{minutes * 60}|cpu=8,gres/gpu=1"

    lines = ["JobID|JobName|User|State|Submit|Start|End|ElapsedRaw|AllocTRES"]
    for n in range(40):
        begin = START + timedelta(days=n)
        lines.append(row(3 * n + 1, begin, 30, "FAILED", f"lora-{n}"))
        lines.append(row(3 * n + 2, begin + timedelta(minutes=40), 90, "COMPLETED", f"lora-{n}"))
        lines.append(row(3 * n + 3, begin + timedelta(minutes=50), 90, "COMPLETED", f"eval-{n}"))
    (tmp_path / "dump.psv").write_text("\n".join(lines) + "\n")
    found = import_jobs(tmp_path / "dump.psv")
    assert found.jobs.column("name").to_pylist()[:3] == ["lora-0", "lora-0", "eval-0"]
    write_trace(found.jobs, found.about, tmp_path / "jobs.parquet")
    with open_trace(tmp_path / "jobs.parquet") as trace:
        seen = record_from(trace.table(), trace.about, "jobs.parquet")
    (one,) = fit_workload(seen, by_team=False).classes
    again = one.timed.again
    assert again is not None
    assert (again.share, again.most, again.pause_s) == (1, 1, 600)
    assert one.jobs == 80


def test_ids_that_come_again_are_names_where_there_are_no_others(tmp_path: Path) -> None:
    rows = "".join(f"run-{n},{n * DAY},600,1,failed\nrun-{n},{n * DAY + 900},600,1,done\n" for n in range(25))
    (tmp_path / "jobs.csv").write_text("job,submit_s,runtime_s,gpus,state\n" + rows)
    found = import_jobs(tmp_path / "jobs.csv", Settings())
    seen = record_from(found.jobs, found.about, "jobs.csv")
    retries = fit_retries(seen)
    assert retries is not None
    assert (retries.failed, retries.followed, retries.most) == (25, 1.0, 1)
    assert set(retries.pause_s.tolist()) == {300.0}
