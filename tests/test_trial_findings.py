"""What trials by strangers found, each with the right answer."""

import json
from decimal import Decimal

import pytest

from sim.cli.options_detail import run_folder
from sim.errors import InputError
from sim.experiments.stepup import steps_of
from sim.load import load_text
from tests.test_vault import TEXT, question


@pytest.mark.parametrize(
    "setting",
    [
        "strategies.0.leases.0.price=1e300",
        "strategies.1.burst.price=1e300",
        "strategies.0.leases.0.terms.hourly_price=1e300",
        "target.late_cost=1e300",
        "workload.classes.0.refused_cost=1e13",
        "strategies.0.leases.0.prices=[{from: 2026-01-05, price: 1e300}]",
    ],
)
def test_an_amount_beyond_all_reason_is_refused_at_its_key(setting):
    with pytest.raises(InputError) as refused:
        load_text(TEXT, [setting])
    assert "1000000000000" in str(refused.value) or "must be low, mid or high, or a price" in str(
        refused.value
    )


def test_a_step_from_a_fleet_to_itself_is_refused():
    with pytest.raises(InputError, match="--from, --to: a step goes from one strategy to another"):
        steps_of(question(), "two", "two")


def test_a_machine_that_does_not_live_to_pay_back_is_said(fleetsim):
    long = fleetsim("tco", "--set", "life_years=0.5")
    assert long.code == 0
    assert "not within" in long.out


@pytest.mark.usefixtures("no_charts")
def test_strategies_with_different_numbers_of_replications_say_so(fleetsim, tmp_path):
    file = tmp_path / "small.yaml"
    file.write_text(TEXT)
    options = ("--select", "--most", "40", "--jobs", "1", "--out", tmp_path / "out")
    text = fleetsim("compare", file, *options)
    document = json.loads(fleetsim("compare", file, *options, "--format", "json").out)
    made = [one["metrics"]["committed_cost_cny"]["n"] for one in document["strategies"]]
    shown = f"{made[0]}" if len(set(made)) == 1 else f"{min(made)} to {max(made)}"
    assert f"{shown} replications a strategy" in text.out
    assert f"mean of {shown} replications" in text.out


@pytest.mark.usefixtures("no_charts")
def test_a_choice_that_was_not_reached_is_a_warning(fleetsim, tmp_path):
    file = tmp_path / "small.yaml"
    file.write_text(TEXT.replace("wait_p95: 8h", "wait_p95: 4h"))
    options = ("--until", "wait_p95_h=0.01%", "--most", "6", "--jobs", "1", "--out", tmp_path / "out")
    document = json.loads(fleetsim("compare", file, *options, "--format", "json").out)
    assert document["warnings"][0]["kind"] == "budget"


@pytest.mark.usefixtures("no_charts")
def test_a_run_is_found_by_its_id_or_latest(fleetsim, tmp_path, monkeypatch):
    file = tmp_path / "small.yaml"
    file.write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    assert fleetsim("compare", file, "--replications", "2", "--jobs", "1").code == 0
    (folder,) = (tmp_path / "outputs" / "small").iterdir()
    for name in ("latest", folder.name, folder.name[:6]):
        assert run_folder(type(folder)(name)).resolve() == folder
        assert fleetsim("costs", name).code == 0
    assert fleetsim("workbook", "latest", "-o", "w.xlsx").code == 0
    missing = fleetsim("costs", "0123456789ab")
    assert missing.code == 2
    assert "no run of this id below outputs" in missing.err


# From 1 January: 59 days are January and February, 60 begin March.
@pytest.mark.parametrize(("horizon", "months"), [("20d", 1), ("59d", 2), ("60d", 3), ("365d", 12)])
def test_the_budget_of_a_scenario_is_as_long_as_its_horizon(fleetsim, tmp_path, horizon, months):
    file = tmp_path / "small.yaml"
    file.write_text(TEXT)
    done = fleetsim("budget", file, "--set", f"horizon={horizon}", "--format", "json")
    assert json.loads(done.out)["months"] == months


def test_without_results_a_run_by_id_is_one_message(fleetsim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = fleetsim("costs", "latest")
    assert refused.code == 2
    assert "no folder outputs with runs (found 'latest')" in " ".join(refused.err.split())


def test_a_record_of_one_job_ends_in_a_message(fleetsim, tmp_path):
    record, model = tmp_path / "one.csv", tmp_path / "model.yaml"
    record.write_text("submit_s,gpus,runtime_s\n0,1,3600\n")
    assert fleetsim("workload", "fit", record, "-o", model).code in (0, 2)
    if model.exists():
        checked = fleetsim("workload", "check", record, "--model", model)
        assert checked.code in (0, 2)
        assert "Traceback" not in checked.err


def test_money_in_reasons_has_its_unit():
    from sim.experiments.candidates import candidates, space_of
    from sim.experiments.runs import Places, Runs
    from sim.experiments.search import Search
    from sim.model.experiment import Selection

    asked = question("horizon=5d")
    searched, options = candidates(asked, space_of(asked, [1, 2], burst="as-is"))
    found = Search(Runs.of(searched, Places()), options, Selection(most=10)).run()
    for option in found.options:
        if option.status == "dearer":
            assert "CNY" in option.reason
        if option.candidate.burst and not option.replications:
            assert option.cost is None
    assert all(isinstance(option.candidate.cost, Decimal) for option in found.options)
