"""Dumps of sacct: columns in any order, rows that belong together, rows that are torn, clocks that change."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from sim.errors import InputError
from sim.workload.imports.cells import BAD, memory_gib, strings
from sim.workload.imports.clock import Clock
from sim.workload.imports.states import state_of
from tests.import_cases import HEADER, column, hours, imported, sacct_row

A, B = "2026-05-04T09:00:00", "2026-05-04T10:00:00"


def dump(*rows: str, header: str = HEADER) -> str:
    return "\n".join([header, *rows, ""])


def test_columns_in_any_order_with_and_without_a_trailing_pipe(tmp_path: Path) -> None:
    plain = imported(tmp_path, "AllocTRES|End|Start|JobID|State\ngres/gpu=2|" + f"{B}|{A}|7|COMPLETED\n")
    piped = imported(tmp_path, f"JobID|State|Start|End|AllocTRES|\n7|COMPLETED|{A}|{B}|gres/gpu=2|\n")
    assert plain.jobs.equals(piped.jobs)
    assert (column(plain, "gpus"), hours(plain)) == ([2], {"7": 1})
    # No Submit: the start stands for it, and no wait is made up.
    assert (column(plain, "submit_s"), column(plain, "wait_s")) == ([0], [None])
    assert "no time of submission; the start stands for it" in plain.report.tally.oddities


def test_a_dump_without_a_header_needs_the_names_of_its_columns(tmp_path: Path) -> None:
    row = f"7|COMPLETED|{A}|{A}|{B}|01:00:00|gres/gpu=2"
    names = ("JobID", "State", "Submit", "Start", "End", "Elapsed", "AllocTRES")
    assert hours(imported(tmp_path, row, columns=names)) == {"7": 1}
    assert hours(imported(tmp_path, f"{row}|", columns=names)) == {"7": 1}
    with pytest.raises(InputError, match="--columns"):
        imported(tmp_path, row)


@pytest.mark.parametrize("sign", [";", "\t", ","])
def test_a_dump_that_went_through_a_spreadsheet(tmp_path: Path, sign: str) -> None:
    cells = ["7", f'soup{sign}salad "x"', "COMPLETED", A, A, B, "01:00:00", "cpu=8,gres/gpu=2,mem=4G"]
    header = ["JobID", "JobName", "State", "Submit", "Start", "End", "Elapsed", "AllocTRES"]
    out = io.StringIO()
    writer = csv.writer(out, delimiter=sign, lineterminator="\r\n")
    writer.writerows([header, cells, [f"{cells[0]}.batch", *cells[1:]]])
    found = imported(tmp_path, out.getvalue())
    assert (found.report.format, found.report.tally.merged["steps"]) == ("sacct", 1)
    assert (column(found, "gpus"), hours(found)) == ([2], {"7": 1})


def test_units_of_the_raw_columns(tmp_path: Path) -> None:
    header = "JobIDRaw|State|Submit|Start|ElapsedRaw|TimelimitRaw|AllocTRES"
    found = imported(tmp_path, dump(f"7|COMPLETED|{A}|{A}|5400|120|gres/gpu=1", header=header))
    assert (column(found, "runtime_s"), column(found, "limit_s")) == ([5400], [7200])


def test_a_pipe_inside_a_name_is_put_together_again(tmp_path: Path) -> None:
    header = "JobID|JobName|State|Submit|Start|End|Elapsed|AllocTRES"
    found = imported(
        tmp_path,
        dump(
            f"1|a|b|c|COMPLETED|{A}|{A}|{B}|01:00:00|gres/gpu=1",
            f"2|plain|COMPLETED|{A}|{A}|{B}|01:00:00|gres/gpu=1",
            f"3|short|COMPLETED|{A}|{A}",
            header=header,
        ),
    )
    assert hours(found) == {"1": 1, "2": 1}
    assert found.report.tally.oddities["a pipe inside a text, put together again"].lines == [2]
    (aside,) = found.report.tally.asides
    assert (aside.line, aside.kind) == (4, "number of cells")
    assert aside.reason.startswith("5 cells where the dump has 8")


def test_a_requeued_job_is_one_job(tmp_path: Path) -> None:
    found = imported(
        tmp_path,
        dump(
            sacct_row(
                "5", "2026-05-04T09:10:00", "2026-05-04T10:10:00", "01:00:00", state="NODE_FAIL", submit=A
            ),
            sacct_row(
                "5", "2026-05-04T11:00:00", "2026-05-04T13:00:00", "02:00:00", submit="2026-05-04T10:10:00"
            ),
        ),
    )
    (job,) = found.jobs.to_pylist()
    assert (job["submit_s"], job["wait_s"], job["runtime_s"]) == (0, 600, 7200)
    assert (job["attempts"], job["lost_s"], job["state"]) == (2, 3600, "completed")
    assert (found.report.card_hours, found.report.lost_card_hours) == (3, 1)
    assert found.report.tally.merged["earlier attempts of requeued jobs"] == 1


def test_the_same_run_in_two_dumps_is_one_run_and_the_later_word_counts(tmp_path: Path) -> None:
    running = sacct_row("5", A, "Unknown", "00:20:00", state="RUNNING")
    ended = sacct_row("5", A, B, "01:00:00")
    for rows in ((running, ended), (ended, running), (running, ended, ended)):
        found = imported(tmp_path, dump(*rows))
        (job,) = found.jobs.to_pylist()
        assert (job["runtime_s"], job["state"], job["censored"], job["lost_s"]) == (
            3600,
            "completed",
            None,
            None,
        )
        assert found.report.tally.merged["rows of a job seen again"] == len(rows) - 1


def test_a_pending_range_and_tasks_of_it_that_ran_are_the_same_jobs(tmp_path: Path) -> None:
    pending = sacct_row("9_[0-2]", "Unknown", "Unknown", "00:00:00", state="PENDING", submit=A)
    found = imported(tmp_path, dump(pending, sacct_row("9_0", A, B, "01:00:00")))
    assert sorted(column(found, "id")) == ["9_0", "9_1", "9_2"]
    assert found.report.states == {"pending": 2, "completed": 1}
    tally = found.report.tally
    assert (tally.rows, tally.added["tasks of pending arrays"], tally.merged["rows of a job seen again"]) == (
        2,
        2,
        1,
    )


def test_a_requeued_job_that_waits_again_is_not_complete(tmp_path: Path) -> None:
    found = imported(
        tmp_path,
        dump(
            sacct_row("5", A, B, "01:00:00", state="NODE_FAIL"),
            sacct_row("5", "Unknown", "Unknown", "00:00:00", state="PENDING", submit=B),
        ),
    )
    assert column(found, "censored") == ["waits to run again"]


def test_an_id_used_again_by_another_user_is_another_job(tmp_path: Path) -> None:
    rows = (sacct_row("5", A, B, "01:00:00"), sacct_row("5", B, "2026-05-04T11:00:00", "01:00:00", user="u2"))
    assert imported(tmp_path, dump(*rows)).report.jobs == 2


def test_clusters_number_their_jobs_on_their_own(tmp_path: Path) -> None:
    header = f"Cluster|{HEADER}"
    rows = (f"north|{sacct_row('5', A, B, '01:00:00')}", f"south|{sacct_row('5', A, B, '01:00:00')}")
    assert column(imported(tmp_path, dump(*rows, header=header)), "id") == ["north:5", "south:5"]


def test_steps_whose_job_is_not_in_the_dump_are_set_aside(tmp_path: Path) -> None:
    rows = [sacct_row("5", A, B, "01:00:00"), sacct_row("5.batch", A, B, "01:00:00")]
    rows += [sacct_row(f"6.{step}", A, B, "01:00:00") for step in range(3)]
    rows += [sacct_row("5.extern", A, B, "01:00:00")]
    tally = imported(tmp_path, dump(*rows)).report.tally
    assert (tally.rows, tally.merged["steps"], tally.set_aside) == (6, 2, 3)
    assert [(aside.line, aside.kind) for aside in tally.asides] == [(4, "step without its job")]


def test_a_job_cancelled_in_the_queue_never_started(tmp_path: Path) -> None:
    rows = (
        sacct_row("1", "Unknown", B, "00:00:00", state="CANCELLED by 1000", submit=A),
        sacct_row("2", B, B, "00:00:00", state="CANCELLED", submit=A),  # newer Slurm: Start = End
        sacct_row("3", A, A, "00:00:00"),
    )
    found = imported(tmp_path, dump(*rows))
    assert column(found, "left_out") == ["never started: no run time"] * 2 + ["ran for 0 s"]
    assert column(found, "start_s")[:2] == [None, None]


@pytest.mark.parametrize(
    ("cell", "state"),
    [
        ("COMPLETED", "completed"), ("CANCELLED by 1000", "cancelled"), ("CANCELLED+", "cancelled"),
        ("OUT_OF_ME+", "out_of_memory"), ("CD", "completed"), ("TIMEOUT", "timeout"),
        ("DEADLINE", "timeout"),
        ("NODE_FAIL", "node_fail"), ("BOOT_FAIL", "node_fail"), ("PREEMPTED", "preempted"),
        ("REVOKED", "cancelled"), ("REQUEUED", "requeued"), ("COMPLETING", "running"),
        ("RESIZING", "running"),
        ("SUSPENDED", "suspended"), ("PENDING", "pending"), ("gpu", None), ("C+", None),
    ],
)  # fmt: skip
def test_states(cell: str, state: str | None) -> None:
    assert state_of(cell) == state


@pytest.mark.parametrize(
    ("cell", "gib", "of"),
    [
        ("64G", 64, ""),
        ("4000Mc", 4000 / 1024, "c"),
        ("16000Mn", 15.625, "n"),
        ("312.50G", 312.5, ""),
        ("1T", 1024, ""),
    ],
)
def test_memory(cell: str, gib: float, of: str) -> None:
    assert memory_gib(cell) == (gib, of)


def test_old_gres_are_read_and_requests_are_for_each_node(tmp_path: Path) -> None:
    header = "JobID|State|Submit|Start|End|Elapsed|NNodes|ReqGRES|AllocGRES"
    rows = (
        f"1|COMPLETED|{A}|{A}|{B}|01:00:00|1|gpu:4|gpu:4",
        f"2|PENDING|{A}|Unknown|Unknown|00:00:00|2|gpu:v100:4|",
        f"3|COMPLETED|{A}|{A}|{B}|01:00:00|1||",
    )
    assert column(imported(tmp_path, dump(*rows, header=header)), "gpus") == [4, 8, 0]


def test_values_that_cannot_be_are_set_aside_with_their_line(tmp_path: Path) -> None:
    rows = (
        sacct_row("1", A, B, "01:00:00"),
        sacct_row("x1", A, B, "01:00:00"),
        sacct_row("3", "2026-13-04T09:00:00", B, "01:00:00"),
        sacct_row("4", A, B, "999999-00:00:00"),
        sacct_row("5", A, B, "01:00:00", tres="gres/gpu=100001"),
        sacct_row("6_[0-4000000]", A, B, "01:00:00"),
    )
    found = imported(tmp_path, dump(*rows))
    kinds = sorted((aside.line, aside.kind) for aside in found.report.tally.asides)
    assert kinds == [(3, "job id"), (4, "time"), (5, "duration"), (6, "cards"), (7, "too many tasks")]
    assert found.report.jobs == 1


def test_headers_again_and_blank_lines_are_no_rows(tmp_path: Path) -> None:
    row = sacct_row("1", A, B, "01:00:00")
    found = imported(tmp_path, f"\n{HEADER}\n{row}\n\n{HEADER}\n{row.replace('1|', '2|', 1)}\n\n")
    assert (found.report.tally.rows, found.report.jobs, found.report.tally.set_aside) == (2, 2, 0)
    assert column(found, "line") == [3, 6]


def test_the_table_for_people_is_refused_with_the_way_out(tmp_path: Path) -> None:
    text = (
        "       JobID    JobName  State \n------------ ---------- ------ \n           1       bash COMPL+ \n"
    )
    with pytest.raises(InputError, match="sacct -P"):
        imported(tmp_path, text)


class TestClock:
    """Berlin puts its clocks back on 2026-10-25: 02:00 to 03:00 comes twice, first as UTC+2."""

    def test_an_hour_that_comes_twice_is_told_apart_by_the_time_run(self, tmp_path: Path) -> None:
        rows = (
            # 02:30 (first) to 02:30 (second) is an hour; to 02:40 of the first passage ten minutes.
            sacct_row(
                "1", "2026-10-25T02:30:00", "2026-10-25T02:30:00", "01:00:00", submit="2026-10-25T01:00:00"
            ),
            sacct_row(
                "2", "2026-10-25T02:30:00", "2026-10-25T02:40:00", "00:10:00", submit="2026-10-25T01:00:00"
            ),
            # submitted at 02:50 (first), started at 02:10 (second): a wait of 20 minutes
            sacct_row(
                "3", "2026-10-25T02:10:00", "2026-10-25T04:00:00", "01:50:00", submit="2026-10-25T02:50:00"
            ),
        )
        found = imported(tmp_path, dump(*rows), timezone="Europe/Berlin")
        jobs = {row["id"]: row for row in found.jobs.to_pylist()}
        assert jobs["1"]["end_s"] - jobs["1"]["start_s"] == 3600
        assert jobs["2"]["end_s"] - jobs["2"]["start_s"] == 600
        assert jobs["3"]["wait_s"] == 20 * 60
        assert [jobs[name]["wait_s"] for name in ("1", "2")] == [90 * 60, 90 * 60]
        kinds = found.report.tally.oddities
        assert kinds["a time in the hour that comes twice (clocks go back)"].count == 3
        assert not any("below 0" in kind for kind in kinds)

    def test_the_lines_that_are_shown_are_those_of_the_hour(self, tmp_path: Path) -> None:
        night = sacct_row(
            "2", "2026-10-25T02:30:00", "2026-10-25T02:40:00", "00:10:00", submit="2026-10-25T01:00:00"
        )
        rows = (sacct_row("1", A, B, "01:00:00"), night)
        found = imported(tmp_path, dump(*rows), timezone="Europe/Berlin")
        odd = found.report.tally.oddities["a time in the hour that comes twice (clocks go back)"]
        assert (odd.count, odd.lines) == (1, [3])  # after the header and an ordinary job

    def test_without_a_zone_the_clock_change_is_told(self, tmp_path: Path) -> None:
        rows = (
            sacct_row("1", "2026-10-25T01:00:00", "2026-10-25T04:00:00", "04:00:00"),
            sacct_row(
                "2", "2026-10-25T02:10:00", "2026-10-25T04:00:00", "01:50:00", submit="2026-10-25T02:50:00"
            ),
        )
        kinds = imported(tmp_path, dump(*rows)).report.tally.oddities
        assert kinds["end - start is an hour off the time run: a clock change, or suspended"].lines == [2]
        assert kinds["a wait below 0: started before it was submitted"].lines == [3]

    def test_with_a_zone_lengths_are_elapsed_time(self, tmp_path: Path) -> None:
        row = sacct_row("1", "2026-10-25T01:00:00", "2026-10-25T04:00:00", "").replace(
            "||UNLIMITED", "||UNLIMITED"
        )
        assert hours(imported(tmp_path, dump(row), timezone="Europe/Berlin")) == {"1": 4}
        assert hours(imported(tmp_path, dump(row))) == {"1": 3}

    def test_ways_to_write_a_time(self) -> None:
        same = ["2026-05-04T09:00:00", "2026-05-04 09:00:00.000", "2026-05-04T07:00:00Z", "2026/5/4 9:00"]
        same += [
            "2026-05-04T15:00:00+08:00",
            "1777878000",
            "1777878000000",
            "2026年5月4日 9:00",
            "04.05.2026 09:00",
        ]
        found = Clock(ZoneInfo("Europe/Berlin")).read(strings(same)).first
        assert set(found.tolist()) == {1_777_878_000_000_000}
        # Month and day cannot be told apart, a day that is none, years nobody has a job in.
        wrong = Clock(None).read(
            strings(["3/2/2026 10:00", "2026-02-30T00:00:00", "9999-12-31T00:00:00", "x"])
        )
        assert set(wrong.first.tolist()) == {BAD}
