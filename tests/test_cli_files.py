"""What commands share when they read a table and write a file: lines, places, messages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sim.cli.charts import write_chart, write_charts
from sim.cli.console import bullets
from sim.cli.csv_file import csv_lines
from sim.cli.options import check_file, check_known
from sim.errors import InputError, RunError


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_numbered_as_an_editor_does(tmp_path: Path, end: str) -> None:
    table = tmp_path / "table.csv"
    # Lines: 1 head, 2 empty, 3 a row, 4 and 5 a row with a cell of two lines, 6 a row of empty cells.
    text = end.join(["a,b", "", "1,2", '3,"x', 'y"', ",", ""])
    table.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert csv_lines(table) == [(1, ["a", "b"]), (3, ["1", "2"]), (5, ["3", "x\ny"]), (6, ["", ""])]


def test_a_table_has_its_largest_size(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_bytes(b"1,\n" * 600_000)
    assert len(csv_lines(table, 2_000_000)) == 600_000
    table.write_bytes(b"1,\n" * 700_000)
    with pytest.raises(InputError, match=r"table\.csv: the file may have at most 2 MB"):
        csv_lines(table, 2_000_000)


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"a,b\n\xff\n", "the file must be text in UTF-8"),
        (b'a,b\n"1,2\n', r":2: this is no CSV: unexpected end of data"),
    ],
)
def test_what_is_no_table_is_told(tmp_path: Path, data: bytes, rule: str) -> None:
    (tmp_path / "table.csv").write_bytes(data)
    with pytest.raises(InputError, match=rule):
        csv_lines(tmp_path / "table.csv")


def test_a_device_may_be_written_and_a_name_that_is_too_long_not(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    tmp_path.chmod(0o500)  # no file can be made beside the pipe, and none is needed
    check_file(pipe, "--out")
    tmp_path.chmod(0o700)
    with pytest.raises(InputError, match="--out: this file cannot be written: File name too long"):
        check_file(tmp_path / ("a" * 300), "--out")


def test_any_ending_will_do_where_none_is_asked_for(tmp_path: Path) -> None:
    check_file(tmp_path / "answer", "--out")
    with pytest.raises(InputError, match=r"the ending of the file's name .*known: \.csv, \.parquet"):
        check_file(tmp_path / "answer.txt", "--out", (".csv", ".parquet"))
    assert list(tmp_path.iterdir()) == []


def test_the_known_names_are_told() -> None:
    check_known("--policy", "sjf", {"fifo": 1, "sjf": 2})
    with pytest.raises(InputError) as refused:
        check_known("--policy", "sfj", ("fifo", "sjf"), "unknown queue policy")
    (problem,) = refused.value.problems
    assert (problem.key, problem.rule) == ("--policy", "unknown queue policy")
    assert (problem.value, problem.known) == ("sfj", ("fifo", "sjf"))


def test_charts_name_the_option_that_gives_another_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunError, match=r"the chart cannot be written .*; choose another --chart FILE\.png"):
        write_chart(tmp_path / "file" / "c.png", b"x", "--chart")
    assert write_charts({"a.png": b"1", "b.png": b"2"}, tmp_path / "charts") == [
        tmp_path / "charts" / "a.png",
        tmp_path / "charts" / "b.png",
    ]
    assert (tmp_path / "charts" / "b.png").read_bytes() == b"2"


def test_a_list_without_lines_has_no_title(capsys: pytest.CaptureFixture[str]) -> None:
    bullets("Assumptions", iter(()))
    assert capsys.readouterr().out == ""
    bullets("Assumptions", iter(("one", "two")))
    assert capsys.readouterr().out == "\nAssumptions\n- one\n- two\n"
