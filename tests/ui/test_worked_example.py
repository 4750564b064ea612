"""The stored result of the worked example is what the program would compute today."""

from __future__ import annotations

import csv
import importlib.metadata
import json
from pathlib import Path

import pytest

from sim.experiments.store import id_of
from sim.load import load
from sim.replication import prepare, replicate
from sim.ui.question_store import FIRST, shipped
from sim.ui.shown import WORKED

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "scenarios" / f"{FIRST}.yaml"
AGAIN = "make it anew: python -m sim.ui.worked_example"


def test_it_belongs_to_the_shipped_scenario_catalogue_and_version() -> None:
    question = load(SHIPPED)
    made = json.loads((WORKED / "made.json").read_text())
    version = importlib.metadata.version("fleetsim")
    assert made["run"] == id_of(question, question.scenario.strategies[0].name, version), AGAIN


def test_a_folder_without_scenarios_has_the_one_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert list(shipped()) == [FIRST]
    assert shipped()[FIRST].read_bytes() == SHIPPED.read_bytes()


@pytest.mark.parametrize(("strategy", "replication"), [(3, 7), (4, 0)])
def test_a_replication_made_anew_has_the_stored_figures(strategy: int, replication: int) -> None:
    question = load(SHIPPED)
    run = replicate(prepare(question), strategy, replication)
    name = question.scenario.strategies[strategy].name
    with (WORKED / "replications.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["strategy"] == name]
    stored = rows[replication]
    assert int(stored["replication"]) == replication
    found = run.metrics
    for metric in ("committed_cost_cny", "wait_p95_h", "jobs_done", "lost_gpu_h", "on_time_share"):
        assert found[metric] == pytest.approx(float(stored[metric]), rel=1e-12), (metric, AGAIN)


def test_the_document_is_the_mean_of_the_stored_replications() -> None:
    document = json.loads((WORKED / "comparison.json").read_text())
    with (WORKED / "replications.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for strategy in document["strategies"]:
        waits = [float(row["wait_p95_h"]) for row in rows if row["strategy"] == strategy["name"]]
        assert len(waits) == document["replications"]
        assert strategy["metrics"]["wait_p95_h"]["mean"] == pytest.approx(sum(waits) / len(waits))
