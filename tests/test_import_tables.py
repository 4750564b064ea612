"""Tables of jobs: maps, presets, units, separators, workbooks, Parquet, JSON lines."""

from __future__ import annotations

import gzip
import json
from datetime import datetime, timedelta
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sim.errors import InputError
from sim.workload.imports import Settings, import_jobs
from sim.workload.imports.fields import base_and_unit
from tests.import_cases import column, imported

DAYS = "Submitted,Took,Cards,Who\n2026-03-02 09:00:00,90,2,nlp\n2026-03-02 10:00:00,30,1,vision\n"
MAP = {"submit_s": "Submitted", "runtime_s": "Took", "gpus": "Cards", "team": "Who"}


@pytest.mark.parametrize(
    ("unit", "factor"), [("s", 1), ("min", 60), ("h", 3600), ("d", 86400), ("ms", 0.001)]
)
def test_a_map_with_a_stated_unit(tmp_path: Path, unit: str, factor: float) -> None:
    found = imported(tmp_path, DAYS, "t.csv", mapping=MAP, unit=unit)
    assert column(found, "submit_s") == [0, 3600]
    assert column(found, "runtime_s") == [90 * factor, 30 * factor]
    assert (column(found, "gpus"), column(found, "team")) == ([2, 1], ["nlp", "vision"])
    of_column = imported(tmp_path, DAYS, "t.csv", mapping={**MAP, "runtime_s": f"Took:{unit}"}, unit="h")
    assert column(of_column, "runtime_s") == column(found, "runtime_s")


def test_a_number_without_a_known_unit_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--unit s") as raised:
        imported(tmp_path, DAYS, "t.csv", mapping=MAP)
    (problem,) = raised.value.problems
    assert (problem.line, problem.key, problem.value) == (2, "runtime_s", "90")


@pytest.mark.parametrize(
    ("name", "base", "unit"),
    [
        ("duration_s", "duration", "s"),
        ("Run time (min)", "runtime", "min"),
        ("run time hours", "runtime", "h"),
        ("hours", "hours", "h"),
        ("运行时长(小时)", "运行时长", "h"),
        ("时长（分钟）", "时长", "min"),
        ("小时", "小时", "h"),
        ("Took", "took", None),
        ("gpus", "gpus", None),
        ("status", "status", None),
    ],
)
def test_units_in_names_of_columns(name: str, base: str, unit: str | None) -> None:
    assert base_and_unit(name) == (base, unit)


def test_a_unit_in_the_name_is_told_and_a_contradiction_refused(tmp_path: Path) -> None:
    text = DAYS.replace("Took", "Took (min)")
    mapping = {**MAP, "runtime_s": "Took (min)"}
    found = imported(tmp_path, text, "t.csv", mapping=mapping)
    assert column(found, "runtime_s") == [5400, 1800]
    assert "Numbers in 'Took (min)' are taken as min, by the column's name." in found.report.tally.remarks
    with pytest.raises(InputError, match="says min and --unit says h"):
        imported(tmp_path, text, "t.csv", mapping=mapping, unit="h")


def test_a_run_time_in_the_wrong_unit_shows_against_start_and_end(tmp_path: Path) -> None:
    text = "start,end,runtime,gpus\n2026-03-02 09:00:00,2026-03-02 11:00:00,2,1\n"
    assert column(imported(tmp_path, text, "t.csv", unit="h"), "runtime_s") == [7200]
    with pytest.raises(InputError, match="3,600 times the run time"):
        imported(tmp_path, text, "t.csv", unit="s")


def test_clock_texts_and_words_need_no_unit(tmp_path: Path) -> None:
    text = "submit,duration,gpus\n2026-03-02,1:30:00,1\n2026-03-02,2h 30min,1\n2026-03-02,1-00:00:00,1\n"
    assert column(imported(tmp_path, text, "t.csv"), "runtime_s") == [5400, 9000, 86400]


def test_names_of_columns_are_understood_and_told(tmp_path: Path) -> None:
    text = "提交时间;GPU数;运行时长(小时);部门\n2026/3/2 9:00;4;2.5;客服\n"
    found = imported(tmp_path, text.encode("gb18030"), "t.csv")
    assert (column(found, "gpus"), column(found, "runtime_s"), column(found, "team")) == (
        [4],
        [9000],
        ["客服"],
    )
    assert found.about["origin"] == "2026-03-02T09:00:00"
    said = " ".join(found.report.tally.remarks)
    assert "Cells are parted by semicolons." in said
    assert "gpus from 'GPU数'" in said
    assert "'运行时长(小时)' are taken as h" in said


def test_a_map_of_one_field_leaves_the_others_to_the_names_of_their_columns(tmp_path: Path) -> None:
    rows = "Job;Asked for;Ran (h);Cards;Team\nft-1;2026-03-02 09:00:00;1.5;2;nlp\n"
    found = imported(tmp_path, rows, "t.csv", mapping={"submit_s": "Asked for", "runtime_s": "Ran (h)"})
    assert (column(found, "runtime_s"), column(found, "gpus")) == ([5400], [2])
    assert (column(found, "team"), column(found, "id")) == (["nlp"], ["ft-1"])
    # a map in a file is the whole word
    (tmp_path / "map.yaml").write_text("columns: {submit_s: Asked for, runtime_s: Ran (h), gpus: Cards}\n")
    whole = imported(tmp_path, rows, "t.csv", map_file=tmp_path / "map.yaml")
    assert "team" not in whole.jobs.column_names


def test_german_headers_need_no_map(tmp_path: Path) -> None:
    rows = "Auftrag;Eingereicht;Dauer (h);Anzahl GPUs;Abteilung\nft-1;2026-03-02 09:00:00;1,5;2;nlp\n"
    found = imported(tmp_path, rows, "t.csv", decimal=",")
    assert (column(found, "runtime_s"), column(found, "gpus")) == ([5400], [2])
    assert column(found, "team") == ["nlp"]


def test_a_decimal_comma_is_never_guessed(tmp_path: Path) -> None:
    text = "submit_s;gpus;runtime_s\n0;1;2,5\n10;1;3\n"
    found = imported(tmp_path, text, "t.csv")
    assert [(a.line, a.kind) for a in found.report.tally.asides] == [(2, "duration")]
    assert column(imported(tmp_path, text, "t.csv", decimal=","), "runtime_s") == [2.5, 3]


def test_numbers_since_1970_are_known_by_their_size(tmp_path: Path) -> None:
    for moment, word in (("1772442000", "seconds"), ("1772442000000", "milliseconds")):
        found = imported(
            tmp_path, f"submit,gpus,runtime_s\n{moment},1,60\n", "t.csv", timezone="Asia/Shanghai"
        )
        assert found.about["origin"] == "2026-03-02T17:00:00"
        assert any(f"taken as {word} since 1970" in remark for remark in found.report.tally.remarks)


def test_numbers_that_are_no_moment_are_set_aside(tmp_path: Path) -> None:
    rows = "1772442000,1,60\n1772442060,1,60\n1772442120,1,60\n1e30,1,60\n-5,1,60\n1e300,1,60\n"
    found = imported(tmp_path, f"submit,gpus,runtime_s\n{rows}", "t.csv")
    assert [(a.line, a.kind) for a in found.report.tally.listed()] == [(5, "time"), (6, "time"), (7, "time")]
    assert column(found, "submit_s") == [0, 60, 120]


def test_dates_and_numbers_do_not_mix(tmp_path: Path) -> None:
    text = "submit,start,gpus,runtime_s\n2026-03-02,5,1,60\n"
    with pytest.raises(InputError, match="cannot be laid on one line"):
        imported(tmp_path, text, "t.csv", unit="s")


EITHER = """\
Submitted,Run time (h),GPUs
05/06/2026 10:05,1,1
6-6-2026 9:05 PM,2,1
07/06/2026 12:30:15 am,2,1
"""


@pytest.mark.parametrize(
    ("order", "origin", "seconds"),
    [
        # 5, 6 and 7 June: 35 h on, then 3 h 25 min 15 s
        ("day-first", "2026-06-05T10:05:00", [0, 126_000, 138_315]),
        # 6 May, 6 June and 6 July: 31 days and 11 h on, then 29 days, 3 h, 25 min and 15 s
        ("month-first", "2026-05-06T10:05:00", [0, 2_718_000, 5_235_915]),
    ],
)
def test_dates_whose_order_the_user_tells(
    tmp_path: Path, order: str, origin: str, seconds: list[int]
) -> None:
    found = imported(tmp_path, EITHER, "t.csv", timezone="Asia/Shanghai", dates=order)
    assert found.about["origin"] == origin
    assert column(found, "submit_s") == seconds


def test_dates_whose_order_nobody_tells_are_set_aside_with_the_remedy(tmp_path: Path) -> None:
    found = imported(tmp_path, EITHER + "2026-06-05,1,1\nsoon,1,1\n", "t.csv")
    asides = found.report.tally.asides
    assert [aside.line for aside in asides] == [2, 3, 4, 6]
    assert ["--dates day-first or month-first" in aside.reason for aside in asides] == [True] * 3 + [False]


def test_a_thirteenth_month_is_set_aside_whatever_the_order(tmp_path: Path) -> None:
    moments = ["1/2/2026", "1/13/2026", "1/2/2026 13:00 PM", "1/2/2026 0:10 PM"]
    rows = "".join(f"{moment},1,1\n" for moment in moments)
    found = imported(tmp_path, f"Submitted,Run time (h),GPUs\n{rows}", "t.csv", dates="day-first")
    assert [(a.line, a.kind) for a in found.report.tally.asides] == [(3, "time"), (4, "time"), (5, "time")]


def test_the_two_halves_of_a_chinese_day(tmp_path: Path) -> None:
    moments = ["2026/6/5 上午 9:05", "2026年6月5日 下午9:05", "2026/6/5 上午12:05"]
    rows = "".join(f"{moment},1,1\n" for moment in moments)
    found = imported(tmp_path, f"提交时间,时长(小时),卡数\n{rows}", "t.csv")
    assert found.about["origin"] == "2026-06-05T00:05:00"
    assert sorted(column(found, "submit_s")) == [0, 9 * 3600, 21 * 3600]


def test_a_preset_by_name_and_by_its_header(tmp_path: Path) -> None:
    text = "submit_time,duration_s,num_gpus,vc\n2017-09-04 10:30:41,60,8,a\n"
    named, known = imported(tmp_path, text, preset="philly"), imported(tmp_path, text)
    assert named.jobs.equals(known.jobs)
    assert any("CC-BY-4.0" in remark for remark in named.report.tally.remarks)
    with pytest.raises(InputError, match="known: philly, openb"):
        imported(tmp_path, text, preset="filly")
    with pytest.raises(InputError, match="no such column for gpus"):
        imported(tmp_path, text.replace("num_gpus", "n"), preset="philly")


def test_a_map_in_yaml(tmp_path: Path) -> None:
    file = tmp_path / "map.yaml"
    file.write_text(
        "columns:\n  submit_s: Submitted\n  gpus: Cards\n  runtime_s: {column: Took, unit: min}\n"
    )
    assert column(imported(tmp_path, DAYS, "t.csv", map_file=file), "runtime_s") == [5400, 1800]
    for text, rule in (
        ("columns: {gpu_count: Cards}", "unknown field"),
        ("columns: {gpus: Kards}", "no such column"),
        ("columns: {runtime_s: {column: Took, unit: week}}", "unknown unit"),
        ("columns: {runtime_s: {colum: Took}}", "name of a column"),
        ("colums: {}", "has the key columns"),
        ("a: [", "cannot be read"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=rule):
            imported(tmp_path, DAYS, "t.csv", map_file=file)


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("2026-03-02,60,1.5,a", "cards"),
        ("2026-03-02,60,-1,a", "cards"),
        ("2026-03-02,60,100001,a", "cards"),
        ("2026-03-02,-5,1,a", "duration"),
        ("2026-03-02,1e300,1,a", "duration"),
        ("2026-03-02,soon,1,a", "duration"),
        ("yesterday,60,1,a", "time"),
        ("2026-03-02,60,1", "number of cells"),
        ("2026-03-02,60,1,a,b", "number of cells"),
        ('2026-03-02,60,1,"a" b', "quotation marks"),
    ],
)
def test_a_wrong_row_is_set_aside_with_its_line_or_an_error(tmp_path: Path, row: str, kind: str) -> None:
    text = f"{DAYS}{row}\n2026-03-03,60,1,a\n"
    found = imported(tmp_path, text, "t.csv", mapping=MAP, unit="s")
    (aside,) = found.report.tally.asides
    assert (aside.line, aside.kind) == (4, kind)
    assert (found.report.tally.rows, found.report.jobs) == (4, 3)
    with pytest.raises(InputError) as raised:
        imported(tmp_path, text, "t.csv", mapping=MAP, unit="s", strict=True)
    assert [problem.line for problem in raised.value.problems] == [4]


def test_ids_that_come_again_are_numbered_and_doubles_counted(tmp_path: Path) -> None:
    text = "id,submit_s,gpus,runtime_s\nsweep,0,1,60\nsweep,0,1,60\nsweep,5,1,60\n,9,1,60\nsweep#2,9,1,60\n"
    found = imported(tmp_path, text, "t.csv")
    assert column(found, "id") == ["sweep", "sweep#3", "job-5", "sweep#2"]
    assert found.report.tally.merged == {"doubles (every cell the same, and the id)": 1}
    # Without ids two equal rows are two jobs: trials are submitted in batches.
    assert imported(tmp_path, "submit_s,gpus,runtime_s\n0,1,60\n0,1,60\n", "t.csv").report.jobs == 2


def test_cells_with_line_ends_inside_keep_the_lines_right(tmp_path: Path) -> None:
    text = 'submit_s,gpus,runtime_s,team\n0,1,60,"two\nlines"\n1,0.5,60,x\n'
    found = imported(tmp_path, text, "t.csv")
    assert column(found, "team") == ["two\nlines"]
    assert found.report.tally.asides[0].line == 4


def test_tabs_gzip_and_json_lines_are_the_same_table(tmp_path: Path) -> None:
    plain = imported(tmp_path, DAYS, "t.csv", mapping=MAP, unit="s")
    tabs = imported(tmp_path, DAYS.replace(",", "\t"), "t.tsv", mapping=MAP, unit="s")
    packed = imported(tmp_path, gzip.compress(DAYS.encode()), "t.csv.gz", mapping=MAP, unit="s")
    names, *rows = (line.split(",") for line in DAYS.split())
    names, *rows = [line.split(",") for line in DAYS.splitlines()]
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    objects = imported(tmp_path, "\n".join(lines), "t.jsonl", mapping=MAP, unit="s")
    assert [one.report.format for one in (plain, tabs, packed, objects)] == ["csv", "tsv", "csv", "jsonl"]
    for other in (tabs, packed, objects):
        assert other.jobs.drop_columns(["line", "id"]).equals(plain.jobs.drop_columns(["line", "id"]))


def test_keys_that_come_late_in_json_lines_are_told(tmp_path: Path) -> None:
    early = [f'{{"id": "{n}", "cards": 1, "seconds": 60, "at": {n}}}' for n in range(250)]
    late = '{"id": "x", "cards": 1, "seconds": 60, "at": 300, "team": "red", "note": "late"}'
    mapping = {"id": "id", "gpus": "cards", "runtime_s": "seconds", "submit_s": "at"}
    found = imported(tmp_path, "\n".join([*early, late]), "t.jsonl", mapping=mapping, unit="s")
    assert found.report.jobs == 251
    (kind,) = (kind for kind in found.report.tally.oddities if "left out" in kind)
    assert found.report.tally.oddities[kind].lines == [251]
    assert any("'team', 'note'" in text for text in found.report.tally.remarks)


def test_json_lines_with_objects_inside_and_lines_that_are_none(tmp_path: Path) -> None:
    good = {"job": {"gpus": 2}, "submit_s": 5, "runtime_s": 60.5, "id": "a"}
    text = "\n".join([json.dumps(good), '{"id": NaN}', "[1]", '{"id"', "", json.dumps({**good, "id": "b"})])
    mapping = {"gpus": "job.gpus", "submit_s": "submit_s", "runtime_s": "runtime_s", "id": "id"}
    found = imported(tmp_path, text, "t.jsonl", mapping=mapping)
    assert (column(found, "gpus"), column(found, "runtime_s")) == ([2, 2], [60.5, 60.5])
    assert [(a.line, a.kind) for a in found.report.tally.asides] == [(2, "JSON"), (3, "JSON"), (4, "JSON")]
    with pytest.raises(InputError, match="one object a line"):
        imported(tmp_path, "[{}, {}]", "t.json")


def test_a_workbook_is_known_whatever_its_name(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["submitted", "hours", "gpus"])
    book.active.append([datetime(2026, 6, 5, 9), 1.5, 2])
    book.save(tmp_path / "book.xlsx")
    found = import_jobs((tmp_path / "book.xlsx").rename(tmp_path / "jobs of June"))
    assert (column(found, "runtime_s"), column(found, "gpus")) == ([5400], [2])


def test_a_workbook_with_dates_lengths_and_an_empty_row(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["任务名称", "提交时间", "GPU数", "时长", "小时", "状态"])
    sheet.append(["a", datetime(2026, 3, 2, 9), 4, timedelta(hours=26), None, "完成"])
    sheet.append([None] * 6)
    sheet.append(["b", datetime(2026, 3, 2, 10, 30), 1.0, timedelta(minutes=90), None, "失败"])
    sheet.append(["c", datetime(2026, 3, 2, 11), "many", timedelta(minutes=90), None, None])
    book.create_sheet("other").append(["x"])
    file = tmp_path / "jobs.xlsx"
    book.save(file)
    found = import_jobs(file)
    assert (column(found, "id"), column(found, "submit_s")) == (["a", "b"], [0, 5400])
    assert (column(found, "runtime_s"), column(found, "state")) == (
        [26 * 3600, 5400],
        ["completed", "failed"],
    )
    assert [(a.line, a.kind) for a in found.report.tally.asides] == [(5, "cards")]
    assert any("'Sheet'" in remark for remark in found.report.tally.remarks)
    with pytest.raises(InputError, match="known: Sheet, other"):
        import_jobs(file, Settings(sheet="Jobs"))


def test_others_parquet_files(tmp_path: Path) -> None:
    table = pa.table(
        {
            "submit_time": pa.array([datetime(2026, 3, 2, 9), datetime(2026, 3, 2, 10)], pa.timestamp("ns")),
            "duration": pa.array([timedelta(minutes=1), timedelta(hours=30)], pa.duration("ms")),
            "num_gpus": pa.array([1, 8], pa.int8()),
            "vc": pa.array(["a", None]).dictionary_encode(),
            "notes": pa.array([[1], []]),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    found = import_jobs(tmp_path / "t.parquet")
    assert (column(found, "submit_s"), column(found, "runtime_s")) == ([0, 3600], [60, 108_000])
    assert (column(found, "gpus"), column(found, "team")) == ([1, 8], ["a", None])
    mapping = {"submit_s": "submit_time", "runtime_s": "duration", "gpus": "notes"}
    with pytest.raises(InputError, match="no lists"):
        import_jobs(tmp_path / "t.parquet", Settings(mapping=mapping))


def test_a_format_said_by_name_must_fit_the_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="which is not a Parquet file"):
        imported(tmp_path, DAYS, format="parquet")
    with pytest.raises(InputError, match="no format is recognised"):
        imported(tmp_path, "hello\nworld\n")
