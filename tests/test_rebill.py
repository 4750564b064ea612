"""A stored run under new prices: the same bytes as a new comparison, and no new simulation."""

from __future__ import annotations

import dataclasses
import json
import shutil

import pytest

from sim import replication
from sim.errors import InputError
from sim.experiments import store
from sim.experiments.compare import compare
from sim.experiments.rebill import rebill, save
from sim.experiments.stored import open_run
from sim.load import load, load_text
from sim.metrics import METRICS
from sim.report.save import save as save_with_charts
from tests.test_store import SMALL, TRACE

MIXED = """\
name: Mixed
start: 2026-01-30
horizon: 60d
workload:
  classes:
    - {name: bot, model: qwen-7b, method: lora, mean_tokens: 220, samples: 20000, rate: 12/day, deadline: 6h}
reliability: {profile: datacentre}
target: {wait_p95: 5h, on_time: 0.9}
strategies:
  - name: one card and hours
    leases: [{offer: a100-40g-custom, count: 1, plan: monthly}]
    burst: {offer: h100-mig, max: 2, rent_when_wait_over: 30min}
  - name: three cards
    leases:
      - {offer: a100-40g-custom, count: 2, plan: monthly}
      - {offer: a100-40g-custom, count: 1, plan: monthly, start: 2026-02-15, end: 2026-03-20}
  - name: by price
    placement: cheapest
    leases:
      - {offer: a100-40g-custom, count: 1, plan: monthly}
      - {offer: a100-40g-cloud, count: 1, plan: monthly}
experiment: {replications: 3, seed: 5}
"""

CHANGES = {
    "another plan": ["strategies.1.leases.0.plan=annual"],
    "a price of one's own": ["strategies.0.leases.0.price=2500.5", "strategies.1.leases.1.price=3000"],
    "burst at another price": ["strategies.0.burst.price=high"],
    "options and reductions": [
        "strategies.1.leases.0.options=[cpu16, ram128]",
        "strategies.1.leases.0.repeat_purchase=true",
        "strategies.1.leases.0.plan=quarterly",
    ],
    "a contract that runs": ["strategies.1.leases.0.started=2025-07-31", "strategies.1.leases.0.plan=annual"],
    "contract terms": [
        "terms.tax.rate=0.06",
        "strategies.1.leases.1.terms.refund.rule=pro-rata",
        "strategies.1.leases.0.terms.payment=arrears",
    ],
    "by the hour": ["strategies.1.leases.1.plan=hourly", "strategies.1.leases.1.terms.hourly_price=5.25"],
    "another confidence": ["experiment.confidence=0.8"],
}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """The scenario's file and the folder of its run, with charts."""
    home = tmp_path_factory.mktemp("rebill")
    file = home / "mixed.yaml"
    file.write_text(MIXED)
    return file, save_with_charts(compare(load(file)), home / "outputs")


def charts(comparison):
    from sim.report.plots import cumulative_money, money_against_wait
    from sim.report.plots_style import png

    return {
        "money-against-wait": png(money_against_wait(comparison)),
        "cumulative-money": png(cumulative_money(comparison)),
    }


def contents(folder):
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.name != "manifest.json"
    }


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_every_file_is_that_of_a_new_comparison(mixed, tmp_path, changes, monkeypatch):
    file, folder = mixed
    drawn = changes == CHANGES["another plan"]
    fresh = (save_with_charts if drawn else store.save)(compare(load(file, changes)), tmp_path / "fresh")

    def refuse(*_: object) -> None:
        msg = "rebill may not simulate"
        raise AssertionError(msg)

    monkeypatch.setattr(replication.engine, "run", refuse)
    again = rebill(open_run(folder), changes)
    saved = save(again, tmp_path / "again", charts(again.comparison) if drawn else {})
    assert saved.name == fresh.name != folder.name
    files = contents(saved)
    assert {name: data for name, data in files.items() if drawn or "charts/" not in name} == contents(fresh)
    manifest = json.loads((saved / "manifest.json").read_text())
    assert manifest["rebilled_from"] == folder.name
    assert manifest["changes"] == changes
    # What was written can be opened and billed once more, back to where it came from.
    assert open_run(saved).strategies == open_run(folder).strategies


def test_a_run_with_a_trace_carries_it_along(tmp_path):
    (tmp_path / "jobs.csv").write_text(TRACE)
    (tmp_path / "small.yaml").write_text(SMALL)
    changes = ["strategies.1.leases.0.price=2000"]
    folder = store.save(compare(load(tmp_path / "small.yaml")), tmp_path / "a")
    fresh = store.save(compare(load(tmp_path / "small.yaml", changes)), tmp_path / "b")
    saved = save(rebill(open_run(folder), changes), tmp_path / "c", {})
    assert contents(saved) == contents(fresh)
    assert b"22159.6,1,0.5,second" in (saved / "trace.csv").read_bytes()


def test_another_end_of_the_price_range(mixed, tmp_path):
    file, _ = mixed
    changes = ["strategies.2.placement=best-fit"]
    low = dataclasses.replace(load(file, changes), price="low")
    fresh = store.save(compare(low), tmp_path / "fresh")
    middle = compare(load(file, changes))
    again = rebill(open_run(store.save(middle, tmp_path / "mid")), (), "low")
    assert contents(save(again, tmp_path / "again", {})) == contents(fresh)
    # 16.67 for 25 CNY an hour of burst: the mid price is 20.835.
    name = "burst_cost_cny"
    before, after = (one.strategies[0].metrics[name].mean for one in (middle, again.comparison))
    assert after == pytest.approx(before * 16.67 / 20.835, abs=0.02)


def test_every_metric_of_money_follows(mixed):
    file, folder = mixed
    changes = [f"strategies.{number}.leases.0.price=4000" for number in (0, 1)]
    again, fresh = rebill(open_run(folder), changes).comparison, compare(load(file, changes))
    money = [name for name, metric in METRICS.items() if "CNY" in metric.unit]
    assert len(money) >= 8
    for old, new in zip(again.strategies, fresh.strategies, strict=True):
        for name in METRICS:
            assert old.values[name] == new.values[name], name
    # Two cards and one over 60 days from 30 January, 4,000 for two of them: January, February and
    # March begin, with 28 February and 30 March as anniversaries.
    assert again.result("three cards").metrics["cash_cny"].mean == pytest.approx(3 * 2 * 4000 + 2 * 2800)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        (["strategies.1.leases.0.count=3"], "strategies.1.leases.0.count"),
        (["strategies.1.leases.1.start=2026-02-20"], "strategies.1.leases.1.start"),
        (["strategies.1.leases.0.offer=a100-40g-cloud"], "strategies.1.leases.0.offer"),
        (["strategies.0.policy=sjf"], "strategies.0.policy"),
        (["strategies.0.burst.max=3"], "strategies.0.burst.max"),
        (["horizon=90d"], "horizon"),
        (["target.wait_p95=1h"], "target.wait_p95"),
        (["experiment.seed=6"], "experiment.seed"),
        (["experiment.replications=4"], "experiment.replications"),
        (["workload.classes.0.rate=20/day"], "workload.classes.0.rate"),
        (["strategies.0.name=other"], "strategies.0.name"),
        (["strategies.1.leases.0.terms.expiry=end"], "strategies.1.leases.0.terms.expiry"),
        (["strategies.1.leases.0.plan=annual", "reliability.profile=none"], "reliability.profile"),
        (
            ["strategies.1.leases.0.plan=annual", "strategies.1.leases.0.count=1"],
            "strategies.1.leases.0.count",
        ),
    ],
)
def test_what_the_simulation_read_is_refused_with_its_key(mixed, changes, key):
    with pytest.raises(InputError) as told:
        rebill(open_run(mixed[1]), changes)
    (problem,) = told.value.problems
    assert problem.key == key
    assert "use fleetsim compare" in problem.rule


def test_a_placement_by_price_is_refused(mixed):
    with pytest.raises(InputError, match=r"leases\.1\.price: the placement rule of 'by price' reads prices"):
        rebill(open_run(mixed[1]), ["strategies.2.leases.1.price=9000"])


TWO = MIXED[: MIXED.index("  - name: by price")] + "experiment: {replications: 2, seed: 5, RULE}\n"


@pytest.mark.parametrize(
    ("rule", "key"),
    [
        ("select: {confidence: 0.8, cost_zone: 5%, first: 3, most: 4}", "experiment.select"),
        ("until: {half_width: {cost_per_job_cny: 90%}, most: 3}", "experiment.until"),
        ("until: {half_width: {wait_p95_h: 90%}, most: 3}", None),
    ],
)
def test_a_number_of_runs_that_was_chosen_by_prices_is_refused(tmp_path, rule, key):
    text = TWO.replace("RULE", rule)
    changes = ["strategies.1.leases.0.price=3000"]
    folder = store.save(compare(load_text(text)), tmp_path / "a")
    if key is None:  # waits do not depend on prices: the rule would choose the same
        fresh = store.save(compare(load_text(text, changes)), tmp_path / "b")
        assert contents(save(rebill(open_run(folder), changes), tmp_path / "c", {})) == contents(fresh)
    else:
        with pytest.raises(InputError, match=rf"{key}: the number of replications was chosen"):
            rebill(open_run(folder), changes)


def test_nothing_to_change_is_said(mixed):
    with pytest.raises(InputError, match="change nothing"):
        rebill(open_run(mixed[1]))
    with pytest.raises(InputError, match="change nothing"):
        rebill(open_run(mixed[1]), ["strategies.1.leases.0.plan=monthly"])


def test_another_catalogue_is_refused(mixed, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(mixed[1], folder)
    place = folder / "manifest.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), "run_id": "0" * 12}))
    with pytest.raises(InputError, match="catalogue is not the one"):
        rebill(open_run(folder), ["strategies.1.leases.0.plan=annual"])


def test_the_command_shows_before_and_after(mixed, fleetsim, tmp_path):
    _, folder = mixed
    change = "strategies.1.leases.0.price=2000"
    told = fleetsim("rebill", folder, "--set", change, "--out", tmp_path)
    assert told.code == 0
    assert "Decision before" in told.out
    assert change in told.out
    told = fleetsim("rebill", folder, "--set", change, "--out", tmp_path, "--format", "json")
    document = json.loads(told.out)
    assert document["rebilled_from"] == folder.name
    before = {one["name"]: one["metrics"] for one in document["before"]["strategies"]}
    after = {one["name"]: one["metrics"] for one in document["strategies"]}
    # Three periods of two cards that cost 800 less each.
    assert after["three cards"]["cash_cny"]["mean"] == before["three cards"]["cash_cny"]["mean"] - 4800
    assert after["one card and hours"]["cash_cny"] == before["one card and hours"]["cash_cny"]


def test_a_wrong_setting_writes_nothing(mixed, fleetsim, tmp_path):
    told = fleetsim("rebill", mixed[1], "--set", "strategies.1.leases.0.plan=weekly", "--out", tmp_path)
    assert told.code == 2
    assert "strategies.1.leases.0.plan" in told.err
    assert list(tmp_path.iterdir()) == []
    told = fleetsim("rebill", tmp_path, "--set", "x=1", "--out", tmp_path)
    assert told.code == 2
    assert "not the folder of a run" in told.err


def test_the_run_id_follows_the_new_contract(mixed):
    again = rebill(open_run(mixed[1]), ["strategies.1.leases.0.price=2000"]).comparison
    assert store.run_id(again) != mixed[1].name
