"""Which jobs are taken: windows, teams, thinning, thickening, shuffling; and what the report says of them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from sim.errors import InputError
from sim.workload.imports import Imported
from tests.import_cases import HEADER, column, imported, sacct_row

DAY = 86_400


def many(folder: Path, count: int = 2000, **settings: object) -> Imported:
    """Jobs of two teams, ten minutes apart, from Monday 2026-03-02 on."""
    rows = "".join(f"{600 * k},{1 + k % 4},{60 + k},{'ab'[k % 2]},j{k}\n" for k in range(count))
    text = f"submit_s,gpus,runtime_s,team,id\n{rows}"
    return imported(folder, text, "t.csv", **settings)


def test_jobs_without_a_recorded_start_are_taken_by_submission(tmp_path: Path) -> None:
    text = (
        "submit,gpus,runtime_s\n2026-03-01 23:00:00,1,36000\n2026-03-02 00:00:00,1,360000\n2026-03-03,1,60\n"
    )
    window = {"since": datetime(2026, 3, 2), "until": datetime(2026, 3, 3)}
    found = imported(tmp_path, text, "t.csv", **window)
    assert (column(found, "submit_s"), column(found, "runtime_s")) == ([0], [360_000])
    assert column(found, "censored") == [None]
    assert any("no recorded start" in remark for remark in found.report.tally.remarks)


def test_a_job_that_waits_over_the_windows_end_has_no_run_time(tmp_path: Path) -> None:
    row = sacct_row(
        "1", "2026-03-03T02:00:00", "2026-03-03T04:00:00", "02:00:00", submit="2026-03-02T23:00:00"
    )
    window = {"since": datetime(2026, 3, 2), "until": datetime(2026, 3, 3)}
    found = imported(tmp_path, f"{HEADER}\n{row}\n", **window)
    (job,) = found.jobs.to_pylist()
    assert (job["submit_s"], job["runtime_s"], job["start_s"]) == (23 * 3600, None, None)
    assert (job["censored"], found.report.card_hours) == ("window", 0)


def test_windows_in_a_zone(tmp_path: Path) -> None:
    row = sacct_row("1", "2026-03-02T07:00:00Z", "2026-03-02T09:00:00Z", "02:00:00")
    window = {"since": datetime(2026, 3, 2, 16), "timezone": "Asia/Shanghai"}  # 08:00 UTC
    found = imported(tmp_path, f"{HEADER}\n{row}\n", **window)
    assert (column(found, "runtime_s"), found.about["origin"]) == ([3600], "2026-03-02T16:00:00")


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"since": datetime(2026, 3, 2)}, "no date"),
        ({"teams": ("c",)}, "no job of this team"),
        ({"timezone": "Mars/Olympus"}, "no such time zone"),
    ],
)
def test_choices_that_cannot_be(tmp_path: Path, settings: dict[str, object], rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        many(tmp_path, 10, **settings)


def test_windows_that_hold_nothing(tmp_path: Path) -> None:
    text = f"{HEADER}\n{sacct_row('1', '2026-03-02T07:00:00', '2026-03-02T09:00:00', '02:00:00')}\n"
    with pytest.raises(InputError, match="no job is left"):
        imported(tmp_path, text, since=datetime(2027, 1, 1))
    with pytest.raises(InputError, match="ends before it begins"):
        imported(tmp_path, text, since=datetime(2026, 3, 3), until=datetime(2026, 3, 2))


def test_teams(tmp_path: Path) -> None:
    found = many(tmp_path, 100, teams=("b",))
    assert (set(column(found, "team")), found.report.jobs) == ({"b"}, 50)
    assert found.report.tally.filtered == {"jobs of other teams": 50}


def test_thinning_keeps_the_share_and_the_jobs_as_they_are(tmp_path: Path) -> None:
    whole, some = many(tmp_path), many(tmp_path, thin=0.7, seed=3)
    assert abs(some.report.jobs - 1400) < 4 * (2000 * 0.7 * 0.3) ** 0.5
    before = {row["id"]: row["runtime_s"] for row in whole.jobs.to_pylist()}
    assert all(before[row["id"]] == row["runtime_s"] for row in some.jobs.to_pylist())
    assert column(many(tmp_path, thin=0.7, seed=3), "id") == column(some, "id")
    assert column(many(tmp_path, thin=0.7, seed=4), "id") != column(some, "id")


def test_thickening_adds_copies_at_the_same_time_of_another_day(tmp_path: Path) -> None:
    found = many(tmp_path, thicken=1.5, seed=3)
    jobs = {row["id"]: row for row in found.jobs.to_pylist()}
    copies = [name for name in jobs if "+" in name]
    assert len(jobs) == found.report.jobs == 2000 + len(copies)
    assert abs(len(copies) - 1000) < 4 * (2000 * 0.25) ** 0.5
    for name in copies:
        first, again = jobs[name.partition("+")[0]], jobs[name]
        assert (again["gpus"], again["runtime_s"]) == (first["gpus"], first["runtime_s"])
        moved = again["submit_s"] - first["submit_s"]
        assert moved
        assert moved % DAY == 0  # 13.9 days: whole days, not weeks
    assert max(column(found, "submit_s")) == 1999 * 600  # none behind the record's end
    twice = many(tmp_path, thicken=3)
    assert twice.report.jobs == 6000
    assert len(set(column(twice, "id"))) == 6000


def test_shuffling_keeps_moments_and_jobs_and_drops_recorded_waits(tmp_path: Path) -> None:
    whole, found = many(tmp_path), many(tmp_path, shuffle=True)
    assert column(found, "submit_s") == column(whole, "submit_s")
    assert column(found, "id") != column(whole, "id")
    assert sorted(column(found, "runtime_s")) == sorted(column(whole, "runtime_s"))
    assert set(column(found, "wait_s")) == {None}


def test_gaps_spans_and_wide_jobs_are_told(tmp_path: Path) -> None:
    text = "submit,gpus,runtime_s\n2026-03-01,1,60\n2026-03-02 12:00:00,8,60\n2026-03-02 13:00:00,16,60\n"
    report = imported(tmp_path, text, "t.csv", widest=8, most=8).report
    (gap,) = report.gaps
    assert (gap["from"], gap["until"], gap["hours"]) == ("2026-03-01 00:00:00", "2026-03-02 12:00:00", 36)
    assert (report.span["first_submit"], report.span["days"]) == (
        "2026-03-01 00:00:00",
        pytest.approx(37 / 24, abs=1e-6),
    )
    kinds = report.tally.oddities
    assert kinds["wider than the largest leased machine (8 cards)"].lines == [4]
    assert kinds["wider than all cards that one job may use (8)"].lines == [4]


def test_named_cards_say_where_the_run_time_was_measured(tmp_path: Path) -> None:
    row = sacct_row("1", "2026-03-02T07:00:00", "2026-03-02T09:00:00", "02:00:00", tres="gres/gpu:A100=1")
    other = sacct_row("2", "2026-03-02T07:00:00", "2026-03-02T09:00:00", "02:00:00", tres="gres/gpu:v100=1")
    found = imported(tmp_path, f"{HEADER}\n{row}\n{other}\n", cards={"a100": "A100-40G"})
    assert column(found, "runtime_gpu") == ["A100-40G", None]
    assert any("v100" in remark and "a100," not in remark for remark in found.report.tally.remarks)


def test_rows_and_jobs_add_up(tmp_path: Path) -> None:
    start, end = "2026-03-02T07:00:00", "2026-03-02T09:00:00"
    rows = [
        sacct_row("1", start, end, "02:00:00"), sacct_row("1.0", start, end, "02:00:00"),
        sacct_row("1", end, "2026-03-02T10:00:00", "01:00:00"), sacct_row("x", start, end, "02:00:00"),
        sacct_row("2_[0-4]", "Unknown", "Unknown", "00:00:00", state="PENDING", submit=start), "torn|row",
        sacct_row("3", start, end, "02:00:00", user="u2"),
    ]  # fmt: skip
    report = imported(tmp_path, "\n".join([HEADER, *rows]), teams=("u1",)).report
    tally = report.tally
    assert (tally.rows, tally.set_aside, sum(tally.merged.values())) == (7, 2, 2)
    assert (tally.added["tasks of pending arrays"], tally.filtered["jobs of other teams"]) == (4, 1)
    assert report.jobs == 7 - 2 - 2 + 4 - 1 == 6
