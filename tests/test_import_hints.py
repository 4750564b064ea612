"""An import that reads little says which option reads more; one with nothing to replay is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.errors import InputError
from sim.workload.readers import read_trace
from tests.import_cases import imported

DAYS = [f"2026-03-{day:02d} 09:00" for day in range(1, 11)]
COMMAS = "submit;gpus;hours\n" + "".join(f"{day};1;2,5\n" for day in DAYS[:9]) + f"{DAYS[9]};1;3\n"
"""Nine of ten run times have a decimal comma."""
NO_SUBMIT = "asked;gpus;hours\n" + "".join(f"{day};1;2,5\n" for day in DAYS)
SLASHED = "submit,gpus,hours\n" + "".join(f"{day}/3/2026 09:00,1,2\n" for day in range(8, 18))
"""8 to 17 March: five of ten are no dates where the month stands first."""


def refused(fleetsim, folder: Path, text: str, *options: str) -> str:
    """What the import says on standard error, in one line; it wrote nothing."""
    (folder / "t.csv").write_text(text)
    done = fleetsim("workload", "import", folder / "t.csv", "-o", folder / "jobs.parquet", *options)
    assert done.code == 2
    assert not (folder / "jobs.parquet").exists()
    assert done.out == ""
    return " ".join(done.err.split())


def test_decimal_commas_are_told_where_some_rows_can_be_read(tmp_path: Path) -> None:
    found = imported(tmp_path, COMMAS, "t.csv")
    assert found.report.jobs == 1
    assert "9 of 10 rows are set aside that --decimal , reads." in found.report.tally.remarks


def test_a_single_odd_cell_needs_no_option(tmp_path: Path) -> None:
    text = "submit;gpus;hours\n" + "".join(f"{day};1;2\n" for day in DAYS[:8]) + f"{DAYS[8]};1;2,5\n"
    remarks = imported(tmp_path, text, "t.csv").report.tally.remarks
    assert not any("--decimal" in remark for remark in remarks)  # 1 of 9


def test_nothing_to_replay_for_decimal_commas_is_an_error(fleetsim, tmp_path: Path) -> None:
    text = COMMAS.rsplit("\n", 2)[0] + "\n"
    err = refused(fleetsim, tmp_path, text)
    assert "none of 9 rows is a job" in err
    assert "--decimal ,: 9 of 9 rows are set aside that this option reads" in err


def test_nothing_to_replay_for_want_of_a_submission_names_the_map(fleetsim, tmp_path: Path) -> None:
    err = refused(fleetsim, tmp_path, NO_SUBMIT, "--decimal", ",")
    assert "none of 10 rows can be replayed: 10 jobs, no time of submission" in err
    assert "--map submit_s=COLUMN names its column" in err


def test_nothing_to_replay_names_reason_and_option(fleetsim, tmp_path: Path) -> None:
    # Nine rows with a decimal comma, and one that never ran.
    err = refused(fleetsim, tmp_path, COMMAS.replace(";1;3\n", ";1;\n"))
    assert "none of 10 rows can be replayed: 1 job, never started: no run time" in err
    assert "--decimal ,: 9 of 10 rows are set aside that this option reads" in err


def test_the_other_order_of_dates_is_told(tmp_path: Path) -> None:
    found = imported(tmp_path, SLASHED, "t.csv", dates="month-first")
    assert found.report.jobs == 5  # 8/3 to 12/3: read as days of August to December
    assert "5 of 10 rows are set aside that --dates day-first reads." in found.report.tally.remarks
    assert imported(tmp_path, SLASHED, "t.csv", dates="day-first").report.jobs == 10


def test_words_of_people_for_run_times_and_cards(tmp_path: Path) -> None:
    text = "Job,Submit date,No. of GPUs,Ran for (hrs)\na,2026-03-02 09:00,2,1.5\n"
    (row,) = imported(tmp_path, text, "t.csv").jobs.to_pylist()
    assert (row["id"], row["gpus"], row["runtime_s"], row["submit_s"]) == ("a", 2, 5400, 0)


@pytest.mark.parametrize(
    "text",
    ["Submitted;GPUs;Hours\n2026-03-02;1;2\n", "Submitted,GPUs,Hours\n2026-03-02,1,2\n"],
)
def test_a_table_named_as_a_trace_says_to_import_it_first(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match="run `fleetsim workload import FILE -o"):
        read_trace(tmp_path / "t.csv")


GERMAN = (
    "Auftrag,submit,gpus,hours,team\nPrüfung,2026-03-02 09:00,1,2,Fälle\nGröße,2026-03-02 10:00,1,2,für\n"
)


def test_western_text_is_not_read_as_chinese(tmp_path: Path) -> None:
    assert "ü" not in GERMAN.encode("cp1252").decode("gb18030")  # why a judgement is needed: it decodes
    found = imported(tmp_path, GERMAN.encode("cp1252"), "t.csv", mapping={
        "id": "Auftrag", "submit_s": "submit", "gpus": "gpus", "runtime_s": "hours:h", "team": "team",
    })  # fmt: skip
    rows = found.jobs.to_pylist()
    assert [(row["id"], row["team"]) for row in rows] == [("Prüfung", "Fälle"), ("Größe", "für")]
    assert found.report.encoding == "cp1252"
    assert any("taken as cp1252" in remark for remark in found.report.tally.remarks)


@pytest.mark.parametrize("word", ["客服组", "训练作业", "朱镕基", "组"])
def test_chinese_text_stays_chinese(tmp_path: Path, word: str) -> None:
    text = f"任务,submit,gpus,hours,team\na,2026-03-02 09:00,1,2,{word}\n"
    found = imported(tmp_path, text.encode("gb18030"), "t.csv", team="team")
    assert found.jobs.column("team").to_pylist() == [word]
    assert found.report.encoding == "gb18030"


def test_the_user_names_the_encoding(fleetsim, tmp_path: Path) -> None:
    text = "id,submit,gpus,hours,team\na,2026-03-02 09:00,1,2,Łódź\n"
    found = imported(tmp_path, text.encode("cp1250"), "t.csv", encoding="cp1250", team="team")
    assert found.jobs.column("team").to_pylist() == ["Łódź"]
    err = refused(fleetsim, tmp_path, text, "--encoding", "ebcdic")
    assert "--encoding: unknown encoding" in err
    assert "cp1252" in err  # a known one
    with pytest.raises(InputError) as raised:
        imported(tmp_path, text.encode("cp1250"), "t.csv", encoding="utf-8")
    (problem,) = raised.value.problems
    assert (problem.line, problem.key, problem.value) == (2, "--encoding", "utf-8")


def test_a_csv_trace_of_a_western_office(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes("submit_s,gpus,runtime_s,team\n0,1,60,Prüfung\n".encode("cp1252"))
    (row,) = read_trace(file)
    assert row.team == "Prüfung"
