"""The folder of results: whole or not at all, the same bytes, safe names and safe cells."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from sim.catalog import load_catalog
from sim.errors import RunError
from sim.experiments import parallel, store
from sim.experiments.compare import compare
from sim.experiments.files import csv_text, slug, whole_folder
from sim.experiments.frames import jobs_frame
from sim.load import load, load_text
from tests import made_by_hand as hand

TABLES = (
    "comparison",
    "differences",
    "replications",
    "rates",
    "jobs",
    "attempts",
    "leases",
    "failures",
    "ledger",
    "invoices",
    "rentals",
    "divisors",
    "assumptions",
)

SMALL = """\
name: Small
start: 2026-01-01
horizon: 3d
workload:
  trace: {file: jobs.csv}
  classes:
    - {name: bot, model: qwen-7b, method: lora, mean_tokens: 220, samples: 20000, rate: 8/day}
strategies:
  - {name: one, leases: [{offer: a100-40g-custom, count: 1, plan: monthly}]}
  - {name: two, leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]}
experiment: {replications: 2, seed: 3}
"""

TRACE = "submit_s,gpus,runtime_s,id\n0,1,3600,first\n22159.6,1,0.5,second\n"


def found(**changes):
    costs = ({"committed_cost_cny": 5600.0 + n, "wait_p95_h": 1.0 + n, "jobs_refused": 0.0} for n in range(4))
    first, second, third, fourth = costs
    return hand.answer([[first, second], [third, fourth]], **changes)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    file = tmp_path / "small.yaml"
    file.write_text(SMALL)
    (tmp_path / "jobs.csv").write_text(TRACE)
    return file


def test_every_file_is_there_and_the_same_again(tmp_path):
    folder = store.save(found(), tmp_path / "a", {"money": b"a picture"})
    assert folder.parent == tmp_path / "a" / "made-by-hand"
    names = {f"{name}.{kind}" for name in TABLES for kind in ("csv", "parquet")}
    first = contents(folder)
    assert first.keys() == {*names, "scenario.yaml", "comparison.json", "manifest.json", "charts/money.png"}
    other = store.save(found(), tmp_path / "b", {"money": b"a picture"})
    assert other.name == folder.name
    second = contents(other)
    assert first.pop("manifest.json") != b""
    second.pop("manifest.json")
    assert first == second


def test_wall_times_are_in_the_manifest_alone(tmp_path):
    comparison = found()
    folder = store.save(comparison, tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {"python", "packages", "seed", "replications", "started", "finished", "seconds"} <= manifest.keys()
    day = comparison.wall.started[:10]
    for name, data in contents(folder).items():
        assert name == "manifest.json" or day.encode() not in data, name


def test_run_id_follows_what_is_read():
    ids = {
        store.run_id(found()),
        store.run_id(found(seed=8)),
        store.run_id(found(baseline="eight")),
        store.run_id(found(horizon="11d")),
        store.run_id(found(names=("four", "ten"))),
    }
    assert len(ids) == 5
    assert store.run_id(found()) in ids


def test_a_folder_of_the_same_run_is_replaced(tmp_path):
    folder = store.save(found(), tmp_path)
    (folder / "left over").write_text("from before")
    assert store.save(found(), tmp_path) == folder
    assert not (folder / "left over").exists()
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


@pytest.mark.parametrize(
    ("trouble", "told"),
    [(OSError(28, "No space left on device"), RunError), (KeyboardInterrupt(), KeyboardInterrupt)],
)
def test_a_failed_write_leaves_what_was_there(tmp_path, trouble, told):
    folder = tmp_path / "scenario" / "run"

    def write(text, trouble=None):
        with whole_folder(folder) as fresh:
            (fresh / "table").write_text(text)
            if trouble is not None:
                raise trouble

    write("old")
    with pytest.raises(told):
        write("half", trouble)
    assert contents(tmp_path) == {"scenario/run/table": b"old"}
    write("new")
    assert contents(tmp_path) == {"scenario/run/table": b"new"}


def test_an_unwritable_place_is_one_clear_message(tmp_path):
    file = tmp_path / "file"
    file.write_text("not a folder")
    with pytest.raises(RunError, match=r"cannot be written to .*--out") as refused:
        store.save(found(), file)
    assert refused.value.exit_code == 1


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Four cards or eight?", "four-cards-or-eight"),
        ("四卡还是八卡？", "四卡还是八卡"),
        ("../../etc/passwd", "etc-passwd"),
        ("..", "scenario"),
        ("???", "scenario"),
        ("a/b\\c:d*e", "a-b-c-d-e"),
        ("CON", "scenario-con"),
        ("-rf", "rf"),
        ("x\ny\x00z", "x-y-z"),
        ("字" * 200, "字" * 26),
    ],
)
def test_titles_become_safe_names(title, name):
    assert slug(title) == name


def test_cells_that_would_be_formulas_are_neutralised():
    names = ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''", "'quoted", 'a,"b"\nc', "plain"]
    frame = pd.DataFrame({"=name": pd.Series(names, dtype="str"), "amount": [-12.5] * len(names)})
    rows = list(csv.reader(csv_text(frame).splitlines(keepends=True)))
    assert rows[0] == ["'=name", "amount"]
    cells = [row[0] for row in rows[1:]]
    assert cells[:6] == [f"'{name}" for name in names[:6]]
    signs = "=+-@\t\r'"
    back = [cell[1:] if cell[:1] == "'" and cell[1:2] in signs and cell[1:] else cell for cell in cells]
    assert back == names
    assert sum(float(row[1]) for row in rows[1:]) == -12.5 * len(names)


def test_empty_cells_and_types(tmp_path):
    folder = store.save(found(), tmp_path)
    rows = read_csv(folder / "jobs.csv")
    assert len(rows) == 8
    refused = rows[3]
    assert (refused["state"], refused["start_h"], refused["start_local"]) == ("refused", "", "")
    assert refused["reason"] == "needs 3.5 GiB more"
    assert refused["team"] == "'=SUM(1)"
    waited = rows[2]
    assert (waited["strategy"], waited["replication"], waited["wait_h"]) == ("four", "0", "4.0")
    assert waited["start_local"] == "2026-01-01T05:00:00+08:00"
    schema = pq.read_schema(folder / "jobs.parquet")
    assert [str(schema.field(name).type) for name in ("job", "start_h", "offer")] == [
        "int64",
        "double",
        "string",
    ]
    assert not schema.metadata
    table = pq.read_table(folder / "jobs.parquet").to_pylist()
    assert table[3]["start_h"] is None
    assert table[3]["team"] == "=SUM(1)"


def test_ledger_keeps_its_cents_and_sums_to_the_invoices(tmp_path):
    folder = store.save(found(), tmp_path)
    lines, invoices = read_csv(folder / "ledger.csv"), read_csv(folder / "invoices.csv")
    assert [(line["strategy"], line["billed_cost"]) for line in lines] == [
        ("four", "2800.00"),
        ("eight", "5600.00"),
    ]
    # 2,800 x 10 / 31 = 903.23; 2,800 - 903.23 = 1,896.77
    assert (lines[0]["accrued_cost"], lines[0]["owed_after"]) == ("903.23", "1896.77")
    assert (lines[0]["list_unit_price"], lines[0]["cash_date"]) == ("2800", "2026-01-01T00:00:00+08:00")
    assert [invoice["total"] for invoice in invoices] == ["2800.00", "5600.00"]
    table = pq.read_table(folder / "ledger.parquet")
    assert table["billed_cost"].to_pylist() == [Decimal("2800.00"), Decimal("5600.00")]


def test_one_replication_leaves_cells_of_limits_empty(tmp_path):
    one = hand.answer([[{"wait_p95_h": None, "jobs_refused": 0.0, "committed_cost_cny": 5.0}]] * 2)
    folder = store.save(one, tmp_path)
    rows = {row["metric"]: row for row in read_csv(folder / "comparison.csv") if row["strategy"] == "four"}
    assert (rows["wait_p95_h"]["mean"], rows["wait_p95_h"]["n"], rows["wait_p95_h"]["unit"]) == ("", "0", "h")
    assert (rows["committed_cost_cny"]["mean"], rows["committed_cost_cny"]["low"]) == ("5.0", "")
    values = pq.read_table(folder / "replications.parquet").to_pylist()
    assert values[0] == {
        "strategy": "four",
        "replication": 0,
        "wait_p95_h": None,
        "jobs_refused": 0.0,
        "committed_cost_cny": 5.0,
    }
    assert "NaN" not in (folder / "comparison.json").read_text()


def test_tables_without_rows_keep_their_columns_and_types():
    scenario = hand.scenario()
    run = hand.run(scenario, 0, 0, {})
    full = jobs_frame(run, scenario)
    empty = jobs_frame(type(run)(**{**_fields(run), "log": type(run.log)(1, (), (), (), ())}), scenario)
    assert list(empty.dtypes) == list(full.dtypes)
    assert csv_text(empty).count("\n") == 1


def test_real_runs_give_the_same_bytes_from_processes_and_from_their_own_folder(small, tmp_path, monkeypatch):
    folder = store.save(compare(load(small)), tmp_path / "a")
    monkeypatch.setattr(parallel, "SERIAL_BELOW_S", -1.0)  # processes, however short the work
    again = store.save(compare(load(small), workers=2), tmp_path / "b")
    moved = store.save(compare(load(folder / "scenario.yaml")), tmp_path / "c")
    expected = contents(folder)
    expected.pop("manifest.json")
    assert b"22159.6,1,0.5,second" in expected["trace.csv"]
    for other in (again, moved):
        assert other.name == folder.name
        files = contents(other)
        files.pop("manifest.json")
        assert files == expected


def test_real_jobs_are_done_refused_or_unfinished_once(tmp_path):
    text = SMALL.replace("  trace: {file: jobs.csv}\n", "")
    comparison = compare(load_text(text, catalog=load_catalog()), replications=2)
    for result in comparison.strategies:
        for submitted, *parts in zip(
            *(
                result.values[f"jobs_{state}"]
                for state in ("submitted", "done", "refused", "killed", "unfinished")
            ),
            strict=True,
        ):
            assert submitted == sum(parts) > 0
    assert comparison.strategies[0].values != comparison.strategies[1].values


def _fields(run):
    return {
        name: getattr(run, name) for name in ("strategy", "replication", "jobs", "log", "ledger", "metrics")
    }
