"""Faults of other tools at the import of workloads, by their numbers in the list of known faults."""

from __future__ import annotations

import codecs
from datetime import datetime
from pathlib import Path

import pytest

from sim.workload.describe import describe
from sim.workload.imports.cells import BAD, NA, clock_duration
from sim.workload.imports.jobids import tasks_of
from sim.workload.imports.tres import cards_of
from tests.import_cases import HEADER, column, hours, imported, sacct_row


def test_16_hours_outside_of_the_window_are_cut_off_and_marked(tmp_path: Path) -> None:
    rows = [
        sacct_row("1", "2025-01-31T22:00:00", "2025-02-01T03:00:00", "05:00:00", 8),
        sacct_row("2", "2025-02-01T23:00:00", "2025-02-02T05:00:00", "06:00:00", 2),
        sacct_row("3", "2025-02-01T10:00:00", "2025-02-01T11:00:00", "01:00:00", 1),
        sacct_row("4", "2025-01-30T10:00:00", "2025-02-01T00:00:00", "1-14:00:00", 1),
    ]
    window = {"since": datetime(2025, 2, 1), "until": datetime(2025, 2, 2)}
    found = imported(tmp_path, "\n".join([HEADER, *rows]), **window)
    assert hours(found) == {"1": 3, "2": 1, "3": 1}
    assert dict(zip(column(found, "id"), column(found, "censored"), strict=True)) == {
        "1": "window",
        "2": "window",
        "3": None,
    }
    assert found.report.card_hours == 3 * 8 + 1 * 2 + 1
    assert found.report.tally.filtered == {"jobs outside of the window": 1}
    # Cut run times are none of complete jobs: only job 3 has one, of 1 h.
    count, quantiles, mean = describe(found.jobs, found.about).run_times["all"]
    assert (count, mean, set(quantiles)) == (1, 1.0, {1.0})


@pytest.mark.parametrize(
    ("cell", "seconds"),
    [
        ("1-02:03:04", 93784),
        ("02:03:04", 7384),
        ("03:04.500", 184.5),
        ("00:00:00", 0),
        ("4-00:00:00", 345600),
        ("451-06:00:24", 38988024),
        ("31:09.458", 1869.458),
        ("2-03", 2 * 86400 + 3 * 3600),
        ("", None),
        ("UNLIMITED", None),
        ("Partition_Limit", None),
    ],
)
def test_17_durations_with_days_fractions_and_words(cell: str, seconds: float | None) -> None:
    assert clock_duration(cell) == (NA if seconds is None else seconds * 1_000_000)


def test_17_what_is_no_duration_is_told_and_no_limit_keeps_the_row(tmp_path: Path) -> None:
    assert clock_duration("soon") == BAD
    start, end = "2026-05-04T09:00:00", "2026-05-04T10:00:00"
    rows = [
        sacct_row("1", start, end, "01:00:00", limit="UNLIMITED"),
        sacct_row("2", start, end, "01:00:00", limit="Partition_Limit"),
        sacct_row("3", start, end, "an hour"),
    ]
    found = imported(tmp_path, "\n".join([HEADER, *rows]))
    assert column(found, "limit_s") == [None, None]
    (aside,) = found.report.tally.asides
    assert (aside.line, aside.kind) == (4, "duration")
    assert "'an hour'" in aside.reason


@pytest.mark.parametrize(
    ("text", "count", "kind"),
    [
        ("cpu=10,mem=100G,node=1,billing=10,gres/gpu=1,gres/gpu:a100=1", 1, "a100"),
        ("gres/gpu:v100=4", 4, "v100"),
        ("gres/gpu=3,gres/gpu:a100=2,gres/gpu:h100=1", 3, "2 a100 + 1 h100"),
        ("gpu:v100:4", 4, "v100"),
        ("gpu:4", 4, ""),
        ("cpu=4", 0, ""),
        ("gres/gpu:1g.10gb=1", 1, "1g.10gb"),
        ("gres/gpu:h100-80=1", 1, "h100-80"),
        ("gpu:a100:2(IDX:0,3),craynetwork:1", 2, "a100"),
        ("gres/gpumem=30G,gres/gpuutil=50", 0, ""),
        ("gpu", 1, ""),
    ],
)
def test_20_typed_and_untyped_cards_are_the_same_cards(text: str, count: int, kind: str) -> None:
    cards = cards_of(text)
    assert (cards.count, cards.kind, cards.fault) == (count, kind, "")


def test_20_texts_that_say_nothing_or_too_much() -> None:
    assert cards_of("").count is None
    assert cards_of("1=8,2=65536,1001=2").count is None  # which number is a card is not said
    assert cards_of("gres/gpu=999999999999").fault.startswith("bad")
    assert cards_of("gres/gpu:a100=2,gres/gpu=1").fault


def test_22_suspended_time_is_no_use(tmp_path: Path) -> None:
    day = "2026-05-04T"
    rows = [
        sacct_row("A", f"{day}00:00:00", f"{day}10:00:00", "06:00:00", 8).replace("A|", "1|", 1),
        sacct_row("2", f"{day}03:00:00", f"{day}07:00:00", "04:00:00", 8),
    ]
    found = imported(tmp_path, "\n".join([HEADER, *rows]))
    assert hours(found) == {"1": 6, "2": 4}
    assert found.report.card_hours == 80  # of 8 cards over 10 h: 100 %, not 140 %
    odd = found.report.tally.oddities["suspended: end - start is longer than the time run"]
    assert (odd.count, odd.lines) == (1, [2])
    assert describe(found.jobs, found.about).suspended == 1


def test_23_a_pending_range_is_as_many_jobs_and_steps_are_none(tmp_path: Path) -> None:
    start, end = "2026-05-04T09:00:00", "2026-05-04T10:00:00"
    rows = [
        sacct_row("900_[3-9%2]", "Unknown", "Unknown", "00:00:00", state="PENDING", submit=start),
        sacct_row("900_0", start, end, "01:00:00"),
        *[sacct_row(f"900_0.{step}", start, end, "01:00:00") for step in ("batch", "extern", "0")],
        sacct_row("900_1", start, end, "01:00:00"),
        sacct_row("900_2", start, "Unknown", "00:30:00", state="RUNNING"),
    ]
    found = imported(tmp_path, "\n".join([HEADER, *rows]))
    report = found.report
    assert report.jobs == 10
    assert report.states == {"pending": 7, "completed": 2, "running": 1}
    assert sorted(column(found, "id")) == [f"900_{task}" for task in range(10)]
    done = [
        n * t / 3600
        for n, t, s in zip(
            column(found, "gpus"), column(found, "runtime_s"), column(found, "state"), strict=True
        )
        if s == "completed"
    ]
    assert sum(done) == 2  # card-hours; with steps it would be 5
    assert (
        report.tally.oddities[
            "pending tasks of an array of which at most 2 may run at once: not simulated"
        ].count
        == 7
    )
    assert report.tally.merged["steps"] == 3
    assert report.censored == {"running": 1}


def test_23_ranges_of_tasks() -> None:
    def tasks(text: str) -> list[int]:
        found = tasks_of(text)
        assert found is not None
        return found.tasks()

    assert tasks("901_[0-999]") == list(range(1000))
    assert tasks("902_[1,3,5-9:2]") == [1, 3, 5, 7, 9]
    assert tasks("900_[1,1-2]") == [1, 2]
    assert tasks("900_3") == []
    cut = tasks_of("900_[1,2,...]")
    assert cut is not None
    assert cut.cut
    assert cut.tasks() == [1, 2]
    for wrong in ("900_[9-3]", "900_[0-99999999]", "900_[1-3:0]", "x", "", "900.batch", "900_[a]"):
        assert tasks_of(wrong) is None, wrong


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["gb18030", "utf-8", "utf-8-sig", "utf-16-le"])
def test_25_tables_of_every_office_are_read_alike(tmp_path: Path, encoding: str, newline: str) -> None:
    text = newline.join(["任务名称,GPU数量,运行时长(小时)", "客服微调,4,2.5", ""])
    data = text.encode(encoding)
    found = imported(tmp_path, codecs.BOM_UTF16_LE + data if encoding == "utf-16-le" else data, "t.csv")
    assert column(found, "id") == ["客服微调"]
    assert column(found, "gpus") == [4]
    assert hours(found) == {"客服微调": 2.5}
    assert found.report.card_hours == 10
    assert found.report.left_out == {"no time of submission": 1}


def test_25_the_last_column_keeps_no_carriage_return_and_utf8_goes_before_gb18030(tmp_path: Path) -> None:
    text = "submit_s,gpus,runtime_s,team\r\n0,1,60,客服组\r\n"
    assert column(imported(tmp_path, text), "team") == ["客服组"]
    assert "客服组".encode().decode("gb18030", errors="replace") != "客服组"


def test_29_names_that_look_like_formulas_come_back_from_an_export(tmp_path: Path) -> None:
    names = ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "'=x"]
    rows = "".join(f"{place},1,60,'{name}\n" for place, name in enumerate(names))
    assert column(imported(tmp_path, f"submit_s,gpus,runtime_s,id\n{rows}"), "id") == names
