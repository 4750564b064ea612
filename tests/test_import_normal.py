"""The normal form: what is written, that it reads back as the same jobs, and others' files as traces."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sim.errors import InputError, RunError
from sim.load import load
from sim.workload.imports import Settings, import_jobs
from sim.workload.normal import EXTRAS, SCHEMA, open_trace, write_trace
from sim.workload.readers import COLUMNS, TraceRow, read_trace
from tests.conftest import TWO_JOBS
from tests.import_cases import imported

TRACE = """\
id,submit_s,gpus,runtime_s,memory_gib,team,deadline_s,priority,gpu,limit_s,spans,runtime_gpu,demand
a,22159.6,8,1340.6,39.5,nlp,86400,-2,A100-40G,10000,false,A100-40G,0.9
b,0.000001,1,0.1,,,,,,,,,
c,5,2,86400.123456,80,客服组,,3,,172800,true,H100-80G,
"""


def without_places(rows: tuple[TraceRow, ...]) -> list[tuple[object, ...]]:
    """The rows without where they stood in their file."""
    names = [name for name in TraceRow.__slots__ if name not in {"row", "line"}]
    return [tuple(getattr(row, name) for name in names) for row in rows]


def test_a_trace_and_its_parquet_are_the_same_jobs_to_the_microsecond(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TRACE, encoding="utf-8")
    found = import_jobs(tmp_path / "t.csv")
    write_trace(found.jobs, found.about, tmp_path / "t.parquet")
    plain, back = read_trace(tmp_path / "t.csv"), read_trace(tmp_path / "t.parquet")
    # Second 0 of the normal form is the first submission, 1 microsecond after that of the CSV.
    moved = [(name, submit - 1, *rest) for name, submit, *rest in without_places(plain)]
    assert without_places(back) == moved
    assert [row.priority for row in back] == [0, 3, -2]


def test_columns_have_fixed_types_and_the_file_says_where_it_comes_from(tmp_path: Path) -> None:
    found = imported(tmp_path, "submit,gpus,runtime_s\n2026-03-02 09:00:00,1,60\n", "t.csv", timezone="UTC")
    write_trace(found.jobs, found.about, tmp_path / "t.parquet")
    assert pq.read_schema(tmp_path / "t.parquet").remove_metadata() == SCHEMA
    assert SCHEMA.names[: len(COLUMNS)] == [
        *("submit_s", "gpus", "runtime_s", "id", "memory_gib", "team"),
        *("deadline_s", "priority", "gpu", "limit_s", "spans", "runtime_gpu", "demand", "state"),
    ]
    assert set(SCHEMA.names) == {*COLUMNS, *EXTRAS}
    with open_trace(tmp_path / "t.parquet") as trace:
        assert trace.about["origin"] == "2026-03-02T09:00:00"
        assert (trace.about["timezone"], trace.about["source"]) == ("UTC", "t.csv")
        assert (trace.about["rows_read"], trace.about["jobs"], trace.about["set_aside"]) == (1, 1, 0)


def test_an_import_of_an_import_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TRACE.replace("0.000001", "0"), encoding="utf-8")
    first = import_jobs(tmp_path / "t.csv")
    write_trace(first.jobs, first.about, tmp_path / "a.parquet")
    again = import_jobs(tmp_path / "a.parquet")
    write_trace(again.jobs, again.about, tmp_path / "b.parquet")
    a, b = (pd.read_parquet(tmp_path / name).drop(columns="line") for name in ("a.parquet", "b.parquet"))
    pd.testing.assert_frame_equal(a, b, check_categorical=False)


def test_the_same_import_gives_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TRACE, encoding="utf-8")
    for name in ("a.parquet", "b.parquet"):
        found = import_jobs(tmp_path / "t.csv", Settings(thicken=2.5, shuffle=True, seed=5))
        write_trace(found.jobs, found.about, tmp_path / name)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_jobs_that_cannot_be_replayed_are_kept_and_passed_over(tmp_path: Path) -> None:
    text = "id,submit_s,gpus,runtime_s\na,0,1,60\nb,1,0,60\nc,2,1,\nd,3,1,0\n"
    found = imported(tmp_path, text, "t.csv")
    write_trace(found.jobs, found.about, tmp_path / "t.parquet")
    assert pq.read_metadata(tmp_path / "t.parquet").num_rows == 4
    assert [row.name for row in read_trace(tmp_path / "t.parquet")] == ["a"]


def test_a_scenario_replays_parquet_as_it_replays_csv(tmp_path: Path) -> None:
    (tmp_path / "two.csv").write_text("id,submit_s,gpus,runtime_s\na,0,1,3600\nb,0,1,3600\n")
    (tmp_path / "csv.yaml").write_text(TWO_JOBS)
    (tmp_path / "parquet.yaml").write_text(TWO_JOBS.replace("two.csv", "two.parquet"))
    found = import_jobs(tmp_path / "two.csv")
    write_trace(found.jobs, found.about, tmp_path / "two.parquet")
    plain, packed = load(tmp_path / "csv.yaml"), load(tmp_path / "parquet.yaml")
    assert without_places(plain.trace) == without_places(packed.trace)
    (tmp_path / "wrong.yaml").write_text(TWO_JOBS.replace("two.csv", "too.parquet"))
    with pytest.raises(InputError, match=r"known: two\.csv, two\.parquet"):
        load(tmp_path / "wrong.yaml")


def test_an_unknown_card_in_parquet_is_told_with_its_row(tmp_path: Path) -> None:
    table = pa.table({"submit_s": [0.0], "gpus": [1], "runtime_s": [60.0], "gpu": ["A200"]})
    pq.write_table(table, tmp_path / "two.parquet")
    (tmp_path / "q.yaml").write_text(TWO_JOBS.replace("two.csv", "two.parquet"))
    with pytest.raises(InputError, match="row 1, gpu: unknown card"):
        load(tmp_path / "q.yaml")


@pytest.mark.parametrize(
    ("columns", "row", "rule"),
    [
        ({"runtime_s": [60.0, 0.0]}, 2, "above 0 s"),
        ({"runtime_s": [60.0, None]}, 2, "above 0 s"),
        ({"submit_s": [-1.0, 0.0]}, 1, "at least 0 s"),
        ({"submit_s": [float("nan"), 0.0]}, 1, "at least 0 s"),
        ({"submit_s": ["x", "y"]}, 1, "at least 0 s"),
        ({"gpus": [1.5, 1.0]}, 1, "whole number of cards"),
        ({"gpus": [1, 0]}, 2, "whole number of cards"),
        ({"memory_gib": [0.0, 1.0]}, 1, "number of GiB above 0"),
        ({"demand": [0.5, 1.5]}, 2, "at most 1"),
        ({"limit_s": [None, -5.0]}, 2, "above 0 s"),
        ({"priority": [0.5, 1.0]}, 1, "whole number"),
        ({"spans": ["yes", "no"]}, 1, "true or false"),
        ({"id": ["a", "a"]}, 2, "id of its own"),
        ({"team": [[1], [2]]}, 1, "must be a text"),
    ],
)
def test_wrong_values_of_others_files_are_told_with_their_row(
    tmp_path: Path, columns: dict[str, list[object]], row: int, rule: str
) -> None:
    good = {"submit_s": [0, 1], "gpus": [1, 2], "runtime_s": [60, 60]}
    pq.write_table(pa.table({**good, **columns}), tmp_path / "t.parquet")
    with pytest.raises(InputError) as raised:
        read_trace(tmp_path / "t.parquet")
    assert raised.value.problems[0].line == row
    assert rule in raised.value.problems[0].rule


def test_others_files_need_the_columns_of_a_trace(tmp_path: Path) -> None:
    pq.write_table(pa.table({"submit_s": [0], "gpus": [1], "run": [60]}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="runtime_s is missing"):
        read_trace(tmp_path / "t.parquet")
    pq.write_table(pa.table({"submit_s": [7], "gpus": [1], "runtime_s": [60]}), tmp_path / "t.parquet")
    (job,) = read_trace(tmp_path / "t.parquet")
    assert (job.name, job.submit_us, job.runtime_us) == ("trace-000001", 7_000_000, 60_000_000)
    (tmp_path / "t.parquet").write_bytes(b"PAR1 is no table")
    with pytest.raises(InputError, match="as Parquet"):
        read_trace(tmp_path / "t.parquet")


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    found = imported(tmp_path, "submit_s,gpus,runtime_s\n0,1,60\n", "t.csv")
    target = tmp_path / "folder.parquet"
    target.mkdir()
    (target / "old").write_text("old")
    with pytest.raises(RunError, match="choose another"):
        write_trace(found.jobs, found.about, target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.parquet", "t.csv"]
