"""Faults of other tools in what they write: formulas, lost rows, NaN, quantiles that differ between files.

Numbers are those of the project's list of known faults; rows that stand in other files are found through
docs/known-faults.md.
"""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from rich.console import Console

from sim import load
from sim.experiments.compare import compare
from sim.experiments.comparison import Comparison
from sim.experiments.files import csv_text
from sim.experiments.statistics import NEEDS_TWO
from sim.experiments.store import save
from sim.report.tables import TABLES, render
from sim.report.workbook_file import MOST_ROWS, Book
from sim.report.workbook_table import Column
from sim.workload.readers import parse_csv
from tests.import_cases import column, imported

NAMES = ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1"]
SIGNS = ("=", "+", "-", "@", "\t", "\r")
AMOUNT = Decimal("-12.50")


# 29: names beginning with = + - @ become formulas in exported sheets


def named() -> pd.DataFrame:
    """A row for each name, with a head that looks like a formula too, and a refund beside it."""
    return pd.DataFrame(
        {
            "id": pd.Series(NAMES, dtype="str"),
            "=head": pd.Series(["x"] * len(NAMES), dtype="str"),
            "billed_cost": pd.Series([AMOUNT] * len(NAMES), dtype=object),
            "submit_s": range(len(NAMES)),
            "gpus": [1] * len(NAMES),
            "runtime_s": [60] * len(NAMES),
        }
    )


def test_29_no_cell_of_a_csv_is_a_formula_and_the_refund_stays_a_number(tmp_path: Path) -> None:
    text = csv_text(named())
    head, *body = csv.reader(io.StringIO(text, newline=""))
    assert head[:2] == ["id", "'=head"]
    assert [row[0] for row in body] == [f"'{name}" for name in NAMES]
    assert {row[2] for row in body} == {"-12.50"}
    assert sum(Decimal(row[2]) for row in body) == -75
    # Read back as an import, names are what they were; a carriage return reads as the end of a line.
    found = column(imported(tmp_path, text, "jobs.csv"), "id")
    assert found == [name.replace("\r", "\n") for name in NAMES]
    # As the trace of a scenario they are the same to the sign.
    trace = csv_text(named()[["id", "submit_s", "gpus", "runtime_s"]])
    assert [row.name for row in parse_csv(trace, "jobs.csv")] == NAMES


def test_29_no_cell_of_a_workbook_is_a_formula_and_the_refund_stays_a_number(tmp_path: Path) -> None:
    path, book = tmp_path / "book.xlsx", Book()
    columns = [Column("=name"), Column("amount", "money", total=True)]
    book.add(book.place("Table", columns, len(NAMES)), [(name, AMOUNT) for name in NAMES])
    book.save(path)
    sheet = openpyxl.load_workbook(path)["Table"]
    rows = list(sheet.iter_rows(min_row=4))
    assert [cell.data_type for cell in rows[0]] == ["s", "s"]
    assert rows[0][0].value == "'=name"
    for name, (text, amount) in zip(NAMES, rows[1:], strict=True):
        # XML has no carriage return of its own: it reads as the end of a line.
        assert (text.data_type, text.value) == ("s", "'" + name.replace("\r", "\n"))
        assert (amount.data_type, amount.value) == ("n", -12.5)
    # What calculates is the sum alone, and its value is kept beside it.
    assert [cell.data_type for cell in sheet[3]] == ["s", "f"]
    assert openpyxl.load_workbook(path, data_only=True)["Table"]["B3"].value == -75
    # What happens without care: pandas with the same engine makes a formula of the first name.
    pd.DataFrame({"name": NAMES[:1]}).to_excel(tmp_path / "naive.xlsx", index=False)
    assert openpyxl.load_workbook(tmp_path / "naive.xlsx").active["A2"].data_type == "f"


# 33: an Excel export drops rows past 1,048,576


@pytest.mark.parametrize("rows", [1_048_575, 1_048_576, 1_048_577])
def test_33_the_sheets_of_a_million_records_hold_them_all(rows: int) -> None:
    # Where they stand is planned before anything is written; that they are there, tests/test_workbook.py
    # reads back from the written files (10,485.75, 10,485.76 and 10,485.77), which takes minutes.
    table = Book().place("Ledger", [Column("amount", "money", total=True)], rows)
    counts = [part.last - part.first + 1 for part in table.parts]
    assert sum(counts) == rows
    assert len(counts) == 2
    assert max(part.last for part in table.parts) <= MOST_ROWS < 1_048_576
    assert table.cell(rows - 1, "amount") == f"'Ledger 2'!$A${table.parts[1].last}"
    with pytest.raises(IndexError):
        table.cell(rows, "amount")


# 35 and 48: one replication, no finished job; quantiles alike in every output

TRACE = """
name: Waits
start: 2026-01-01
timezone: UTC
horizon: 20d
workload: {{trace: {{file: jobs.csv}}}}
reliability: {{profile: none}}
strategies:
  - {{name: one card, leases: [{{offer: a100-40g-custom, count: 1, plan: monthly, start: "{begins}"}}]}}
experiment: {{replications: 1, seed: 1}}
"""


def answered(folder: Path, runs_s: list[int], *, begins: str = "2026-01-01", submit_s: int = 0) -> Comparison:
    """Twenty days of one card from `begins` on; jobs of these run times, all submitted at one moment."""
    rows = "".join(f"{submit_s},1,{run},job-{number}\n" for number, run in enumerate(runs_s))
    (folder / "jobs.csv").write_text(f"submit_s,gpus,runtime_s,id\n{rows}", encoding="utf-8")
    (folder / "scenario.yaml").write_text(TRACE.format(begins=begins), encoding="utf-8")
    return compare(load(folder / "scenario.yaml"))


def no_nan(name: str) -> None:
    raise AssertionError(name)


def outputs(found: Comparison, folder: Path) -> tuple[dict[str, Any], dict[str, dict[str, str]], str]:
    """The document read by a reader that rejects NaN, the rows of comparison.csv by metric, and the text."""
    place = save(found, folder / "out")
    document = json.loads((place / "comparison.json").read_text("utf-8"), parse_constant=no_nan)
    rows = csv.DictReader(io.StringIO((place / "comparison.csv").read_text("utf-8")))
    console = Console(file=io.StringIO(), width=200)
    console.print(render(found))
    assert isinstance(console.file, io.StringIO)
    return document, {row["metric"]: row for row in rows}, console.file.getvalue()


def test_35_one_replication_has_a_mean_and_no_limits_in_any_output(tmp_path: Path) -> None:
    # Six jobs of 2 h, one after the other, wait 0, 2, 4, 6, 8 and 10 h: 5.0 h on average.
    found = answered(tmp_path, [7200] * 6)
    document, table, text = outputs(found, tmp_path)
    (strategy,) = document["strategies"]
    wait = strategy["metrics"]["wait_mean_h"]
    assert (wait["mean"], wait["low"], wait["high"], wait["n"]) == (5.0, None, None, 1)
    assert wait["reason"] == NEEDS_TWO == "needs 2 or more replications"
    row = table["wait_mean_h"]
    assert (row["mean"], row["low"], row["high"], row["n"]) == ("5.0", "", "", "1")
    assert "nan" not in text.lower()


def test_35_the_wait_of_no_job_at_all_is_null_and_not_0(tmp_path: Path) -> None:
    # The only job comes at the end of the 20 days, which is no more part of them.
    found = answered(tmp_path, [3600], submit_s=20 * 86_400)
    document, table, text = outputs(found, tmp_path)
    metrics = document["strategies"][0]["metrics"]
    assert (metrics["jobs_submitted"]["mean"], metrics["jobs_done"]["mean"]) == (0, 0)
    for name in ("wait_mean_h", "wait_p95_h", "slowdown_p95", "on_time_share", "cost_per_job_cny"):
        assert metrics[name]["mean"] is None, name
        assert table[name]["mean"] == "", name
    assert "nan" not in text.lower()
    cells = {name: cell(found, found.strategies[0]) for name, cell in TABLES["Service"].items()}
    assert (cells["wait, mean"], cells["jobs done"]) == ("-", "0")


@pytest.mark.parametrize(
    ("runs_s", "begins", "expected", "shown"),
    [
        ([3600] * 100, "2026-01-01T01:00", (50.5, 95.05, 99.01), "95.0 h"),  # waits 1, 2, ... 100 h
        ([36_000] * 3, "2026-01-01T10:00", (20.0, 29.0, 29.8), "29.0 h"),  # waits 10, 20, 30 h
    ],
)
def test_48_quantiles_are_one_definition_in_every_output(
    tmp_path: Path, runs_s: list[int], begins: str, expected: tuple[float, float, float], shown: str
) -> None:
    # Linear interpolation, definition 7 of Hyndman and Fan; nearest rank would give 50, 95, 99 and 30.
    document, table, text = outputs(answered(tmp_path, runs_s, begins=begins), tmp_path)
    metrics = document["strategies"][0]["metrics"]
    names = ("wait_p50_h", "wait_p95_h", "wait_p99_h")
    assert [metrics[name]["mean"] for name in names] == pytest.approx(expected)
    assert [float(table[name]["mean"]) for name in names] == pytest.approx(expected)
    assert shown in text  # p95, the only one that the terminal shows, to a tenth of an hour
