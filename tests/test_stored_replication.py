"""`--replication K` on stored runs: workbook, FOCUS export, indicators, reconciliation of any replication."""

import csv
import json
from decimal import Decimal

import pytest
from openpyxl import load_workbook

from sim import replication
from sim.errors import InputError, RunError
from sim.experiments import store
from sim.experiments.again import again
from sim.experiments.compare import compare
from sim.experiments.stored import open_run
from sim.experiments.stored_replication import ledger_of
from sim.load import load
from sim.replication import prepare, replicate
from tests.test_rebill import MIXED
from tests.test_rebill_uncertain import UNSURE

NAME = "one card and hours"


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """The file and the folder of a run with a burst, whose replications cost different sums."""
    home = tmp_path_factory.mktemp("replications")
    file = home / "mixed.yaml"
    file.write_text(MIXED)
    return file, store.save(compare(load(file)), home / "outputs")


@pytest.fixture(scope="module")
def runs(stored):
    """Replication 2 of every strategy, made by the waist alone."""
    prepared = prepare(load(stored[0]))
    return [replicate(prepared, place, 2) for place in range(3)]


def test_the_ledger_of_a_replication_is_billed_without_a_run(stored, runs, monkeypatch):
    monkeypatch.setattr(replication.engine, "run", None)
    run = open_run(stored[1])
    for one in runs:
        found = ledger_of(run, one.strategy, 2)
        assert found.charges == one.ledger.charges
        assert found.invoices == one.ledger.invoices
        assert found.assumptions == one.ledger.assumptions
    assert ledger_of(run, NAME).charges == run.ledger(NAME).charges != ledger_of(run, NAME, 2).charges


def test_a_run_is_made_again_with_its_own_draw(tmp_path):
    file = tmp_path / "unsure.yaml"
    file.write_text(UNSURE)
    comparison = compare(load(file, ["horizon=20d"]))
    run = open_run(store.save(comparison, tmp_path / "outputs"))
    for number in (0, 2):
        found = again(run, 0, number)
        assert found.run.ledger.charges == ledger_of(run, NAME, number).charges
        cost = comparison.result(NAME).values["committed_cost_cny"][number]
        assert float(found.run.ledger.committed) == cost


def test_the_workbook_says_which_replication_it_is(stored, runs, fleetsim, tmp_path):
    book = tmp_path / "two.xlsx"
    told = fleetsim("workbook", stored[1], "-o", book, "--replication", "2", "--format", "json")
    assert json.loads(told.out)["replication"] == 2
    sheets = load_workbook(book)
    rows = [row for row in sheets["Ledger"].iter_rows(values_only=True) if row[1] == NAME]
    header = next(row for row in sheets["Ledger"].iter_rows(values_only=True) if row[0] == "strategy no")
    accrued = sum(Decimal(str(row[header.index("accrued")])) for row in rows)
    assert accrued == runs[0].ledger.accrued
    texts = [str(cell) for row in sheets["Summary"].iter_rows(values_only=True) for cell in row if cell]
    assert any("Ledgers are of replication 2 of 3, seed 5." in text for text in texts)
    texts = [str(cell) for row in sheets["Indicators"].iter_rows(values_only=True) for cell in row if cell]
    assert any(text.startswith("Replication 2. An empty value") for text in texts)
    assert " of replication 2." in " ".join(
        fleetsim("workbook", stored[1], "-o", book, "--replication", "2").out.split()
    )


def test_the_focus_export_and_the_indicators(stored, runs, fleetsim, tmp_path):
    out = tmp_path / "two.csv"
    told = fleetsim(
        "focus", stored[1], "-o", out, "--strategy", NAME, "--replication", "2", "--format", "json"
    )
    document = json.loads(told.out)
    assert (document["replication"], document["accrued_cny"]) == (2, float(runs[0].ledger.accrued))
    with out.open(encoding="utf-8", newline="") as file:
        total = sum(Decimal(row["EffectiveCost"]) for row in csv.DictReader(file))
    assert total == pytest.approx(runs[0].ledger.accrued, abs=Decimal("0.01"))
    told = fleetsim("costs", stored[1], "--strategy", NAME, "--replication", "2", "--format", "json")
    document = json.loads(told.out)
    assert document["replication"] == 2
    hour = document["indicators"]["effective_hour_used"]["value"]
    assert hour == pytest.approx(float(runs[0].ledger.accrued) / runs[0].metrics["busy_gpu_h"])


def test_an_invoice_is_held_against_a_replication(stored, runs, fleetsim, tmp_path):
    invoice = tmp_path / "invoice.csv"
    invoice.write_text(f"description,amount\na month,{runs[0].ledger.cash}\n")
    asked = ("reconcile", invoice, "--run", stored[1], "--strategy", NAME, "--replication", "2")
    told = fleetsim(*asked)
    assert f"strategy '{NAME}', replication 2." in " ".join(told.out.split())
    told = fleetsim("reconcile", invoice, "--scenario", stored[0], "--replication", "2")
    assert told.code == 2
    assert "--replication" in told.err


@pytest.mark.parametrize("command", ["workbook", "focus", "costs"])
def test_a_replication_that_was_not_made_is_refused(stored, fleetsim, tmp_path, command):
    where = {"workbook": ["-o", tmp_path / "x.xlsx"], "focus": ["-o", tmp_path / "x.csv"], "costs": []}
    told = fleetsim(command, stored[1], *where[command], "--replication", "3")
    assert told.code == 2
    assert "has 3 of strategy" in " ".join(told.err.split())
    assert "numbered from 0 to 2" in " ".join(told.err.split())
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match="--replication"):
        again(open_run(stored[1]), 0, 3)


def test_a_run_that_is_another_one_now_is_refused(stored, monkeypatch):
    """Fewer cards come when they are ordered: the ledger of replication 2 is not what was kept."""
    from sim.experiments import again as module

    run = open_run(stored[1])
    other = load(stored[0], ["strategies.0.burst.stock_out={probability: 0.9}"])
    made = module.detail
    monkeypatch.setattr(module, "detail", lambda _, place, number: made(other, place, number))
    with pytest.raises(RunError, match="cannot be repeated"):
        again(run, 0, 2)
