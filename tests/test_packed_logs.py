"""Jobs and records kept as columns are the same rows as before, however they are asked for."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from sim.model.job import Job, UserEnd
from sim.model.job_table import JobTable
from sim.model.logs import Attempts, AttemptWriter, JobRecords, JobWriter
from sim.model.packed import Layout
from sim.model.records import Attempt, JobRecord

RECORDS = (
    JobRecord(0, "done", 5, 17, 5, 2, "a100", 1, 1.0, 12, "", 3, 2, 1, True),
    JobRecord(1, "refused", None, 9, 0, 0, None, 0, 0.0, 0, "needs 4 cards"),
    JobRecord(2, "waiting", None, None, 2**60, 0, None, 0, 0.25, 0),
)
STAYS = (
    Attempt(0, "a100", False, (3, 4), 5, 9, "node", 1, 0, 2, 1, 7, 0),
    Attempt(0, "h100", True, (0,), 5, 17, "done", 1, 2, 9, 0),
    Attempt(2, "a100", False, (9, 1, 5), 6, 8, "retried", 0, 0, 0, 2, 0, 4),
)
JOBS = (
    Job(0, "first", 1, 0, 2.5, "red", -3, None, 7, 0.5, (UserEnd("failed", 0.5, None, 9), UserEnd("failed"))),
    Job(1, "second", 0, 3, 1e15, "", 2**70, 5, None),
    Job(2, "third", 1, 3, 1.0, "red", 0, 1 << 61, None, -1.0),
)


@pytest.mark.parametrize(
    ("table", "rows"),
    [(JobRecords.of(RECORDS), RECORDS), (Attempts.of(STAYS), STAYS), (JobTable.of(JOBS), JOBS)],
    ids=["records", "attempts", "jobs"],
)
def test_rows_come_back_as_they_were(table, rows) -> None:
    assert tuple(table) == rows
    assert len(table) == 3
    assert [table[i] for i in (0, 1, 2, -1)] == [*rows, rows[-1]]
    assert table[1:] == rows[1:]
    assert table[::-1] == rows[::-1]
    with pytest.raises(IndexError):
        table[3]
    assert table == rows
    assert rows == table
    assert table == type(table).of(list(rows))
    assert table != rows[:2]
    assert table != (*rows[:2], rows[0])
    assert pickle.loads(pickle.dumps(table)) == rows
    assert type(table).of(table) is table
    assert [list(map(type, row)) for row in table] == [list(map(type, row)) for row in rows]
    assert "third" in repr(table) or "h100" in repr(table) or "needs 4 cards" in repr(table)


def test_columns_of_records() -> None:
    table = JobRecords.of(RECORDS)
    assert table.column("wait_us").tolist() == [5, 0, 2**60]
    assert table.column("start_us").tolist() == [5, -1, -1]
    assert table.in_state("done", "waiting").tolist() == [True, False, True]
    assert table.in_state("killed").tolist() == [False] * 3
    stays = Attempts.of(STAYS)
    assert stays.column("cards").tolist() == [2, 1, 3]
    assert stays.ended("node", "retried").tolist() == [True, False, True]


def test_ids_of_records_need_not_count_from_0() -> None:
    rows = (RECORDS[1]._replace(job=7), RECORDS[0]._replace(job=9))
    assert JobRecords.of(rows) == rows
    assert JobRecords.of(()) == ()


def test_records_are_written_in_any_order_and_jobs_that_never_came_are_left_out() -> None:
    writer = JobWriter(10)
    for record in (RECORDS[2], RECORDS[0], RECORDS[1]):
        writer.put(*record)
    assert writer.table(3) == RECORDS


def test_stays_are_put_in_order_of_start_job_and_end() -> None:
    writer = AttemptWriter()
    late, later = STAYS[0]._replace(start_us=8, end_us=9), STAYS[1]._replace(start_us=8, job=1)
    for stay in (later, STAYS[2], late, STAYS[1], STAYS[0]):
        writer.add(*stay)
    assert writer.table() == (STAYS[0], STAYS[1], STAYS[2], late, later)


def test_a_span_without_end_is_as_good_as_70_000_years() -> None:
    (job,) = JobTable.of([JOBS[0]._replace(deadline_us=10**30, limit_us=10**30)])
    assert job.deadline_us == job.limit_us == 1 << 61


def test_jobs_of_several_tables_are_joined_by_time_then_by_table() -> None:
    count = 3
    zeros = np.zeros(count, dtype=np.int32)
    made = JobTable(
        shape=zeros, submit_us=np.array([0, 3, 8]), work=np.ones(count), heads=("class",), head=zeros,
        number=np.arange(count, dtype=np.int32), teams=("blue",), team=zeros,
        priority=np.zeros(count, dtype=np.int64), deadline_us=np.full(count, -1), limit_us=np.full(count, 4),
        luck=np.zeros(count), ends={1: (UserEnd("cancelled"),)},
    )  # fmt: skip
    joined = JobTable.join([made, JobTable.of(JOBS)])
    names = ["class-000000", "first", "class-000001", "second", "third", "class-000002"]
    assert [job.name for job in joined] == names
    assert [job.id for job in joined] == list(range(6))
    assert [job.submit_us for job in joined] == [0, 0, 3, 3, 3, 8]
    assert [job.team for job in joined] == ["blue", "red", "blue", "", "red", "blue"]
    assert [bool(job.ends) for job in joined] == [False, True, True, False, False, False]
    assert joined[1] == JOBS[0]._replace(id=1)
    assert joined[3] == JOBS[1]._replace(id=3)
    assert list(joined.nameless()) == [job._replace(name="") for job in joined]


def test_a_layout_has_no_gaps() -> None:
    with pytest.raises(ValueError, match="widest"):
        Layout(small="i", large="q")
    for layout in (JobRecords.layout, Attempts.layout):
        assert layout.size == layout.dtype.itemsize
