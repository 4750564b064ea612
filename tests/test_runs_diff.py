"""What changed between two runs: the one key that differs, and the results that followed from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sim.experiments import store
from sim.experiments.compare import compare
from sim.experiments.run_diff import RunDiff, diff
from sim.experiments.stored import open_run
from sim.load import load
from tests.conftest import TWO_JOBS

ROWS = "id,submit_s,gpus,runtime_s\na,0,1,3600\nb,0,1,3600\n"


@pytest.fixture
def made(tmp_path):
    """A run of the scenario with one text replaced, and perhaps another trace or end of price ranges."""

    def run(old: str = "", new: str = "", rows: str = ROWS, **options) -> Path:
        (tmp_path / "two.csv").write_text(rows)
        file = tmp_path / "two.yaml"
        assert old in TWO_JOBS
        file.write_text(TWO_JOBS.replace(old, new) if old else TWO_JOBS)
        return store.save(compare(load(file), **options), tmp_path / "outputs")

    return run


def inputs(found: RunDiff) -> dict[str, tuple[object, object]]:
    return {one.key: (one.before, one.after) for one in found.inputs}


def between(first: Path, second: Path) -> RunDiff:
    return diff(open_run(first), open_run(second))


def test_a_run_and_itself(made):
    run = made()
    found = between(run, run)
    assert not found.inputs
    assert not found.results
    assert found.same_metrics == 2 * len(found.before.metrics)


def test_one_key(made):
    found = between(made(), made("count: 1, plan: annual", "count: 1, plan: monthly"))
    assert inputs(found) == {"strategies.0 (one card, annual).leases.0.plan": ("annual", "monthly")}
    changed = {one.metric: one for one in found.results}
    assert {one.strategy for one in found.results} == {"one card, annual"}
    # 26,880 for the year before, 2,800 for the month now; waits are the same.
    cash = changed["cash_cny"]
    assert (cash.before.mean, cash.after.mean, cash.change) == (26_880, 2_800, -24_080)
    assert cash.apart
    assert not {"wait_p95_h", "jobs_done", "busy_share"} & set(changed)
    # Two cards by the month cost 5,600: less than a card for a year, more than one by the month.
    decided = [run.recommendation.strategy for run in (found.before, found.after)]
    assert decided == ["two cards, monthly", "one card, annual"]


def test_a_target_that_one_strategy_misses(made):
    # On one card the second job waits an hour.
    found = between(made(), made("reliability:", "target: {wait_p95: 30min}\nreliability:"))
    assert inputs(found) == {"target": (None, {"wait_p95": "30min", "refused": 0})}
    document = found.to_json()
    (row,) = document["results"]
    assert (row["strategy"], row["metric"], row["change"]) == ("one card, annual", "target_met_share", -1.0)
    assert row["intervals_apart"] is not None


def test_what_is_not_in_the_scenario(made):
    base = made()
    found = between(base, made(rows=ROWS.replace("b,0,1,3600", "b,0,1,7200")))
    (row,) = found.inputs
    assert row.key == "workload.trace.file, what the file holds"
    assert row.before != row.after
    assert str(row.before).startswith("sha256 ")
    assert inputs(between(base, made(seed=7))) == {"experiment.seed": (1, 7)}
    found = between(base, made(replications=3, baseline="two cards, monthly"))
    assert inputs(found) == {
        "experiment.replications": (2, 3),
        "--baseline": ("one card, annual", "two cards, monthly"),
    }


def test_strategies_go_by_their_names(made):
    new = "strategies:\n  - {name: none yet, leases: [{offer: a100-40g-8x, count: 1, plan: monthly}]}"
    found = between(made(), made("strategies:", new))
    assert found.only_after == ("none yet",)
    assert found.only_before == ()
    keys = inputs(found)
    assert list(keys) == ["strategies.0 (none yet)", "--baseline"]
    assert keys["strategies.0 (none yet)"][0] is None
    back = between(made("strategies:", new), made())
    assert back.only_before == ("none yet",)
    assert {one.strategy for one in found.results} <= {"one card, annual", "two cards, monthly"}


def test_another_order_is_said(made):
    first, second = TWO_JOBS[TWO_JOBS.index("  - name: one") : TWO_JOBS.index("experiment")].split(
        "  - name: two"
    )
    found = between(made(), made(f"{first}  - name: two{second}", f"  - name: two{second}{first}"))
    assert inputs(found)["strategies, order"] == (
        "one card, annual, two cards, monthly",
        "two cards, monthly, one card, annual",
    )
    assert not found.results


def test_a_changed_catalogue_is_said(made):
    base, other = made(), made(seed=2)
    place = other / "manifest.json"
    manifest = json.loads(place.read_text())
    place.write_text(
        json.dumps({**manifest, "run_id": "0" * 12, "packages": {**manifest["packages"], "numpy": "0"}})
    )
    keys = inputs(between(base, other))
    assert keys["catalogue and program as they are now"] == ("as at the run", "changed since the run")
    assert keys["packages.numpy"] == (manifest["packages"]["numpy"], "0")


def test_the_command(made, fleetsim, tmp_path):
    first, second = made(), made("count: 1, plan: annual", "count: 1, plan: monthly")
    done = fleetsim("runs", "diff", first, second.name, "--out", tmp_path / "outputs", "--format", "json")
    assert done.code == 0, done.err
    assert json.loads(done.out) == json.loads(json.dumps(between(first, second).to_json()))
    shown = fleetsim("runs", "diff", first, second).out
    assert "strategies.0 (one card, annual).leases.0.plan" in shown
    assert "26,880 CNY" in shown
    assert "-24,080 CNY" in shown
    assert "apart" in shown
    same = fleetsim("runs", "diff", first, first).out
    assert "None." in same
    refused = fleetsim("runs", "diff", first, tmp_path)
    assert refused.code == 2
    assert "no manifest.json" in refused.err
