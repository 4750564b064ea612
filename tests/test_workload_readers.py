"""Traces: exact times, every encoding that is met, and each fault at its row."""

from __future__ import annotations

import codecs

import pytest

from sim.errors import InputError
from sim.workload.readers import COLUMNS, parse_csv, read_trace

GOOD = "submit_s,gpus,runtime_s\n0,1,60\n"


def problems(text: str):
    with pytest.raises(InputError) as raised:
        parse_csv(text, "t.csv")
    return raised.value.problems


def test_times_are_exact_and_columns_in_any_order():
    text = "gpus,runtime_s,submit_s,id,memory_gib,team,deadline_s,priority,gpu,limit_s\n"
    text += "8,1340.6,22159.6,A,39.5,nlp,86400,-2,A100-40G,1e4\n"
    (row,) = parse_csv(text, "t.csv")
    assert (row.submit_us, row.runtime_us, row.submit_us + row.runtime_us) == (
        22_159_600_000,
        1_340_600_000,
        23_500_200_000,
    )
    assert (row.name, row.gpus, row.memory_gib, row.team) == ("A", 8, 39.5, "nlp")
    assert (row.deadline_us, row.priority, row.gpu, row.limit_us) == (
        86_400_000_000,
        -2,
        "A100-40G",
        10_000_000_000,
    )
    assert (row.row, row.line) == (1, 2)


def test_rows_are_sorted_by_submission_and_ties_keep_their_place():
    rows = parse_csv("submit_s,gpus,runtime_s,id\n5,1,1,a\n0,1,1,b\n5,1,1,c\n", "t.csv")
    assert [(row.name, row.row, row.line) for row in rows] == [("b", 2, 3), ("a", 1, 2), ("c", 3, 4)]


def test_blank_lines_empty_cells_and_missing_ids():
    rows = parse_csv("submit_s, gpus ,runtime_s,team,id\n\n0,1,60,,\n\n 1 ,2.0,60,x,y\n", "t.csv")
    assert [(row.name, row.line, row.gpus, row.team) for row in rows] == [
        ("trace-000001", 3, 1, ""),
        ("y", 5, 2, "x"),
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "gb18030"])
def test_files_of_every_office_are_read_alike(tmp_path, encoding, newline):
    text = newline.join(["submit_s,gpus,runtime_s,team", "0,4,9000,客服组", ""])
    data = text.encode(encoding)
    file = tmp_path / "t.csv"
    file.write_bytes(codecs.BOM_UTF16_LE + data if encoding == "utf-16-le" else data)
    (row,) = read_trace(file)
    assert (row.gpus, row.runtime_us, row.team) == (4, 9_000_000_000, "客服组")


@pytest.mark.parametrize(
    ("column", "cell", "rule"),
    [
        ("runtime_s", "abc", "finite number"),
        ("runtime_s", "nan", "finite number"),
        ("runtime_s", "inf", "finite number"),
        ("runtime_s", "1_000", "finite number"),
        ("runtime_s", "", "finite number"),
        ("runtime_s", "0", "above 0"),
        ("runtime_s", "-3", "at least 0"),
        ("submit_s", "-1", "at least 0"),
        ("submit_s", "1e99", "at least 0"),
        ("gpus", "0", "at least 1"),
        ("gpus", "1.5", "whole number"),
        ("gpus", "-2", "at least 1"),
        ("memory_gib", "0", "above 0"),
        ("priority", "1.5", "whole number"),
        ("deadline_s", "0", "above 0"),
        ("limit_s", "x", "finite number"),
        ("spans", "maybe", "true or false"),
    ],
)
def test_a_bad_cell_is_told_with_its_row_and_column(column, cell, rule):
    cells = {"submit_s": "0", "gpus": "1", "runtime_s": "60", column: cell}
    text = f"{','.join(cells)}\n{'0,1,60' + ',' * (len(cells) - 3)}\n{','.join(cells.values())}\n"
    (problem,) = problems(text)
    assert (problem.file, problem.line, problem.key) == ("t.csv", 3, f"row 2, {column}")
    assert rule in problem.rule
    assert problem.value == cell


@pytest.mark.parametrize("text", ["", "\n\n", "submit_s,gpus,runtime_s\n", "submit_s,gpus,runtime_s\n\n\n"])
def test_an_empty_trace_is_refused(text):
    (problem,) = problems(text)
    assert "empty" in problem.rule


def test_unknown_missing_and_double_columns_are_told_with_the_known_names():
    unknown, missing = problems("submit_s,gpu_count,runtime_s\n0,1,60\n")
    assert (unknown.value, unknown.known, unknown.line) == ("gpu_count", tuple(COLUMNS), 1)
    assert "gpus is missing" in missing.rule
    assert "only once" in problems("submit_s,gpus,gpus,runtime_s\n0,1,1,60\n")[0].rule
    assert "commas" in problems("submit_s;gpus;runtime_s\n0;1;60\n")[0].rule


def test_double_ids_and_short_rows():
    double = problems("id,submit_s,gpus,runtime_s\na,0,1,60\nb,0,1,60\na,0,1,60\n")[0]
    assert (double.line, double.value) == (4, "a")
    assert "line 2" in double.rule
    short = problems(GOOD + "0,1\n")[0]
    assert (short.line, short.key, short.value) == (3, "row 2", 2)


def test_broken_quotes_are_told_with_their_line():
    problem = problems(GOOD + '"0,1,60\n')[-1]
    assert (problem.line, problem.file) == (3, "t.csv")
    assert "CSV" in problem.rule


def test_many_problems_are_cut_and_counted():
    found = problems(GOOD + "0,0,60\n" * 33)
    assert len(found) == 21
    assert found[-1].rule.startswith("and 13 more")


def test_files_that_are_not_there_or_of_another_kind(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_trace(tmp_path / "none.csv")
    with pytest.raises(InputError, match=r"known: \.csv"):
        read_trace(tmp_path / "none.xlsx")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xff\xff\x81")
    with pytest.raises(InputError, match="UTF-8"):
        read_trace(tmp_path / "bytes.csv")
