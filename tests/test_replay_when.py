"""A replay at another time than the recorded one is told, with what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.load import load
from sim.workload.imports import Settings, import_jobs
from sim.workload.normal import write_trace
from sim.workload.recorded_when import moved

SCENARIO = """\
name: when
start: {start}
timezone: {zone}
horizon: 30d
workload: {{trace: {{file: jobs.parquet, runtime_gpu: A100-40G{more}}}}}
strategies:
  - name: a card
    leases: [{{offer: a100-40g-custom, count: 1, plan: monthly}}]
"""
JOBS = "submit,gpus,runtime_s\n2026-03-02 09:00:00,1,60\n2026-03-04 09:00:00,1,60\n"
"""From Monday 2 March 2026, nine o'clock."""


def notes(
    folder: Path,
    start: str,
    zone: str,
    recorded: str | None = "Asia/Shanghai",
    more: str = "",
    jobs: str = JOBS,
) -> list[str]:
    (folder / "t.csv").write_text(jobs)
    found = import_jobs(folder / "t.csv", Settings(timezone=recorded, unit="s"))
    write_trace(found.jobs, found.about, folder / "jobs.parquet")
    (folder / "when.yaml").write_text(SCENARIO.format(start=start, zone=zone, more=more))
    question = load(folder / "when.yaml")
    return list(moved(question.scenario, question.recorded))


@pytest.mark.parametrize("start", ["2026-03-02T09:00:00", "2026-03-02T09:00", "2026-03-02T09:00:40"])
def test_the_recorded_start_and_zone_need_no_word(tmp_path: Path, start: str) -> None:
    assert notes(tmp_path, start, "Asia/Shanghai") == []


def test_another_start_is_told_with_both_moments_and_what_to_write(tmp_path: Path) -> None:
    (note,) = notes(tmp_path, "2026-03-01T00:00", "Asia/Shanghai")
    assert note == (
        "The trace was recorded from Mon 2026-03-02 09:00:00 Asia/Shanghai on and is replayed from "
        "Sun 2026-03-01 00:00:00 Asia/Shanghai on: hours, weekdays and months of billing are not those of "
        "the record; with start: 2026-03-02T09:00:00, timezone: Asia/Shanghai they are."
    )


def test_the_same_moment_in_another_zone_has_other_hours(tmp_path: Path) -> None:
    # Nine in Shanghai is one in the morning in UTC: the same instant, another time of day.
    (note,) = notes(tmp_path, "2026-03-02T01:00", "UTC")
    assert "replayed from Mon 2026-03-02 01:00:00 UTC on" in note


def test_zones_with_one_clock_are_one(tmp_path: Path) -> None:
    assert notes(tmp_path, "2026-03-02T09:00", "Asia/Singapore") == []


def test_a_window_of_the_trace_begins_later(tmp_path: Path) -> None:
    (note,) = notes(tmp_path, "2026-03-02T09:00", "Asia/Shanghai", more=", since: 2d")
    assert "with start: 2026-03-04T09:00:00, timezone: Asia/Shanghai they are" in note
    assert notes(tmp_path, "2026-03-04T09:00", "Asia/Shanghai", more=", since: 2d") == []


def test_a_record_without_a_zone_is_held_against_the_local_start_alone(tmp_path: Path) -> None:
    assert notes(tmp_path, "2026-03-02T09:00", "Europe/Berlin", recorded=None) == []
    (note,) = notes(tmp_path, "2026-03-02T08:00", "Europe/Berlin", recorded=None)
    assert note.endswith("with start: 2026-03-02T09:00:00 they are.")


def test_a_record_without_dates_has_nothing_to_say(tmp_path: Path) -> None:
    jobs = "submit,gpus,runtime_s\n0,1,60\n90,1,60\n"
    assert notes(tmp_path, "2026-03-01", "UTC", recorded=None, jobs=jobs) == []


def test_compare_shows_it(tmp_path: Path, fleetsim) -> None:
    notes(tmp_path, "2026-03-01T00:00", "Asia/Shanghai")
    done = fleetsim("compare", tmp_path / "when.yaml", "--replications", 1, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "The trace was recorded from Mon 2026-03-02 09:00:00" in " ".join(done.out.split())
