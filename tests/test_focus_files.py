"""The FOCUS export as a file: numbers stay numbers, text stays text, and nothing is half written."""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sim.billing.focus import focus_rows
from sim.billing.focus_columns import COLUMNS
from sim.errors import RunError
from sim.experiments.focus_files import focus_csv, focus_table, write_focus
from tests.billing_cases import OFFERS
from tests.money_cases import at, charge, job_set, ledger, log, machine, scenario, stay

D = Decimal
NAMES = ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "'quoted", "plain, with a comma"]
NUMBERS = [column.name for column in COLUMNS if column.kind == "decimal"]


def rows_of():
    """A month at 720.00, of which 12.50 come back, and a job for each of the names, an hour each."""
    asked = scenario("2026-06-01", "30d")
    bought = charge(asked, "720.00", 0, 720, cards=1)
    back = charge(
        asked,
        "-12.50",
        0,
        720,
        number=1,
        category="refund",
        of=0,
        price="12.50",
        paid=at(asked, "2026-06-09"),
    )
    run = log(720, [stay(n, [0], n, n + 1) for n in range(len(NAMES))], [machine()])
    jobs = job_set(len(NAMES), teams=NAMES)
    jobs = type(jobs)(jobs.shapes, tuple(job._replace(name=NAMES[job.id]) for job in jobs.jobs))
    return [*focus_rows(ledger(asked, bought, back), run, jobs, asked, "s", OFFERS)]


def test_formulas_are_text_and_amounts_are_numbers() -> None:
    """Known fault 29: names of jobs and teams that begin with = + - @, a tab or a return."""
    text = focus_csv(rows_of())
    table = list(csv.reader(io.StringIO(text, newline="")))
    head, body = table[0], table[1:]
    for row in body:
        for name, cell in zip(head, row, strict=True):
            if name in NUMBERS:
                assert re.fullmatch(r"-?\d+\.\d{8,}|", cell), (name, cell)
            else:
                assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")), (name, cell)
    again = {row[head.index("x_Job")] for row in body} - {""}
    assert {name[1:] if name[:1] == "'" and name[1:2] in "=+-@\t\r" else name for name in again} == set(NAMES)
    amounts = [D(row[head.index("BilledCost")]) for row in body]
    assert D("-12.5") in amounts
    assert sum(amounts) == D("707.50")
    assert sum(D(row[head.index("EffectiveCost")]) for row in body) == D("707.50")


def test_tags_are_json_whatever_the_name() -> None:
    tags = [json.loads(str(row["Tags"])) for row in rows_of() if row["Tags"]]
    assert [tag["job"] for tag in tags] == NAMES


def test_parquet_has_decimals_times_and_text_as_it_is() -> None:
    rows = rows_of()
    table = focus_table(rows)
    assert str(table.schema.field("EffectiveCost").type) == "decimal128(38, 8)"
    assert str(table.schema.field("ChargePeriodStart").type) == "timestamp[s, tz=UTC]"
    assert table.column("x_Job").to_pylist() == [row["x_Job"] for row in rows]
    assert sum(table.column("EffectiveCost").to_pylist()) == D("707.5")
    for row, cost in zip(rows, table.column("ListCost").to_pylist(), strict=True):
        assert cost == row["ListCost"]


def lines(place: Path) -> int:
    with place.open(encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.reader(file))


def test_the_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    place = tmp_path / "new" / "costs.csv"
    assert write_focus(rows_of(), place) == len(rows_of()) == lines(place) - 1
    assert sorted(path.name for path in place.parent.iterdir()) == ["costs.csv"]
    blocked = tmp_path / "file"
    blocked.write_text("x", encoding="utf-8")
    with pytest.raises(RunError, match="choose another -o FILE"):
        write_focus(rows_of(), blocked / "costs.csv")


SCENARIO = """
name: small
start: 2026-01-01
horizon: 40d
workload:
  classes:
    - {name: bot, model: qwen-7b, method: lora, samples: 20000, rate: 2/day, deadline: 12h, team: a}
strategies:
  - name: one card
    leases: [{offer: a100-40g-custom, plan: monthly}]
experiment: {replications: 2}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    place = tmp_path / "small.yaml"
    place.write_text(SCENARIO, encoding="utf-8")
    return place


@pytest.mark.usefixtures("no_charts")
def test_command_from_a_scenario_and_from_its_results(small, tmp_path, fleetsim) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    document = json.loads(fleetsim("focus", small, "-o", first, "--grain", "month", "--format", "json").out)
    assert document["rows"] == lines(first) - 1
    # Two whole months from 1 January are paid; 40 of 31 + 28 days pass: 2,800 + 2,800 x 9 / 28.
    assert (document["cash_cny"], document["accrued_cny"]) == (5600.0, 3700.0)
    done = fleetsim("compare", small, "--out", tmp_path / "out", "--jobs", 1, "--format", "json")
    folder = json.loads(done.out)["folder"]
    assert fleetsim("focus", folder, "-o", second, "--grain", "month").code == 0
    assert second.read_bytes() == first.read_bytes()
    parquet = tmp_path / "third.parquet"
    assert fleetsim("focus", small, "-o", parquet, "--grain", "month").code == 0
    assert pq.read_table(parquet).num_rows == document["rows"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "costs.xlsx"], "known: .csv, .parquet"),
        (["-o", "costs.csv", "--strategy", "two"], "known: one card"),
        (["-o", "costs.csv", "--grain", "week"], "'week' is not one of"),
    ],
)
def test_command_refuses(small, tmp_path, monkeypatch, fleetsim, arguments, message) -> None:
    monkeypatch.chdir(tmp_path)
    done = fleetsim("focus", small, *arguments)
    assert done.code == 2
    assert message in done.err.replace("\n", " ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.yaml"]


def test_costs_by_team_sum_to_the_ledger(small, fleetsim) -> None:
    for by in ("team", "class", "job", "month"):
        done = fleetsim("costs", small, "--by", by, "--share", "busy", "--format", "json")
        document = json.loads(done.out)
        jobs = sum(D(str(group["total_cny"])) for group in document["groups"])
        states = document["states"]
        unused = sum(D(str(states[state]["cost_cny"])) for state in ("idle", "down", "away", "reserved"))
        assert (
            jobs + unused + D(str(document["without_cards_cny"])) == D(str(document["accrued_cny"])) == 3700
        )
        assert [month["cash_cny"] for month in document["months"]] == [2800.0, 2800.0, 0.0]
        assert [month["prepaid_balance_cny"] for month in document["months"]] == [0.0, 1900.0, 0.0]


def test_costs_as_text_have_a_unit_and_every_part(small, fleetsim) -> None:
    text = fleetsim("costs", small).out
    for part in ("Amounts in CNY", "2,800.00", "Prepaid balance", "idle", "Average a job", "Marginal"):
        assert part in text
    assert "Penalties" not in text
    assert "Penalties" in fleetsim("costs", small, "--set", "target.late_cost=5").out


@pytest.mark.usefixtures("no_charts")
def test_results_in_a_folder_are_as_they_are(small, tmp_path, fleetsim) -> None:
    done = fleetsim("compare", small, "--out", tmp_path / "out", "--jobs", 1, "--format", "json")
    folder = json.loads(done.out)["folder"]
    done = fleetsim("costs", folder, "--seed", 0, "--set", "horizon=9d")
    assert done.code == 2
    assert "--seed" in done.err
    assert "--set" in done.err
    assert "use rebill" in done.err
