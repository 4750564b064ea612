"""Standard Workload Format: header comments, unknown values, lines of parts of jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.errors import InputError
from tests.import_cases import column, imported

HEADER = "; Version: 2.2\n; UnixStartTime: 1772442000\n; MaxProcs: 64\n; TimeZoneString: Asia/Shanghai\n;\n"


def line(
    job: int, submit: float = 0, wait: float = -1, run: float = 60, procs: int = 4, status: int = 1
) -> str:
    return f"{job} {submit} {wait} {run} {procs} -1 -1 {procs} -1 -1 {status} 3 -1 -1 2 -1 -1 -1"


def test_header_comments_are_read(tmp_path: Path) -> None:
    found = imported(tmp_path, HEADER + line(1, 100) + "\n" + line(2, 3700), timezone="Asia/Shanghai")
    assert found.about["origin"] == "2026-03-02T17:01:40"  # 1772442000 + 100 s, eight hours east
    assert column(found, "submit_s") == [0, 3600]
    said = " ".join(found.report.tally.remarks)
    assert "MaxProcs: 64" in said
    assert "Processors of the log are taken as cards" in said


def test_unknown_values_are_unknown(tmp_path: Path) -> None:
    found = imported(tmp_path, f"{line(1, 5)}\n{line(2, 6, run=-1)}\n{line(3, 7, procs=-1)}\n")
    assert column(found, "wait_s") == [None] * 3
    assert column(found, "team") == [None] * 3
    assert column(found, "user") == ["user-3"] * 3
    assert column(found, "limit_s") == [None] * 3
    assert column(found, "left_out") == [
        None,
        "never started: no run time",
        "the number of cards is not known",
    ]
    assert found.about["origin"] is None


def test_parts_of_a_swapped_job_are_no_jobs_of_their_own(tmp_path: Path) -> None:
    rows = [
        line(1, 0, 10, 100, status=1), line(1, 0, 10, 40, status=2), line(1, 60, 5, 60, status=3),
        line(2, 0, 10, 30, status=2), line(2, 50, 5, 20, status=4),
    ]  # fmt: skip
    found = imported(tmp_path, "\n".join(rows))
    jobs = {row["id"]: row for row in found.jobs.to_pylist()}
    assert (jobs["1"]["runtime_s"], jobs["1"]["state"]) == (100, "completed")
    assert (jobs["2"]["runtime_s"], jobs["2"]["state"]) == (
        50,
        "failed",
    )  # no line of the whole: the parts' sum
    assert found.report.tally.merged["parts of swapped jobs"] == 3


def test_wrong_lines_are_set_aside(tmp_path: Path) -> None:
    rows = [
        line(1),
        "1 2 3",
        line(2, -5),
        line(3).replace(" 60 ", " x "),
        line(4, procs=162 * 10**9),
        f"{line(5)} ; end",
    ]
    found = imported(tmp_path, "\n".join(rows), format="swf")
    kinds = [(aside.line, aside.kind) for aside in found.report.tally.asides]
    assert sorted(kinds) == [(2, "number of cells"), (3, "time"), (4, "number"), (5, "cards")]
    assert column(found, "id") == ["1", "5"]


def test_a_start_that_is_no_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="whole seconds since 1970"):
        imported(tmp_path, f"; UnixStartTime: yesterday\n{line(1)}\n")
