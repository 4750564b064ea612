"""`--burst N`: the mean of simulated bursts beside contracts, in budgets and in breakeven."""

import json
import math
from decimal import Decimal

import pytest

from sim.experiments.expected_burst import expected_burst
from sim.load import load_text
from sim.replication import prepare, replicate

# Jobs of 55 minutes run on cards of their own by the hour at 20 CNY, 24 a day (Poisson); see
# tests/test_steady_money.py. The leased card is kept out of training, so all of them do.
TEXT = """
name: Bursts
start: 2026-01-31
timezone: UTC
horizon: 90d
workload:
  timed: [{name: jobs, rate: 1/h, kinds: [{share: 1, runtime_s: 3300}]}]
reliability: {profile: none}
strategies:
  - name: a month
    leases: [{offer: a100-40g-custom, count: 1, reserve: 1, plan: monthly}]
    burst: {offer: h100-mig, max: 50, rent_when_wait_over: 0min, release_after_idle: 1min, price: 20,
            delay: {median: 1s, sigma: 0}, stock_out: {probability: 0}}
  - name: a year
    leases: [{offer: a100-40g-custom, count: 1, plan: annual}]
experiment: {replications: 2, seed: 5}
"""
DAYS = (28, 31, 30)
"""From 31 January to 28 February, to 31 March, to 30 April."""
RUNS = 8


@pytest.fixture(scope="module")
def found():
    return expected_burst(load_text(TEXT), 0, 3, RUNS)


def test_the_mean_of_each_month_is_that_of_a_poisson_number(found):
    sums = [Decimal(0)] * 3
    for charge in found.charges:
        sums[["2026-01-31", "2026-02-28", "2026-03-31"].index(f"{charge.period_start:%Y-%m-%d}")] += (
            charge.billed_cost
        )
        assert charge.billed_cost == pytest.approx(20 * charge.quantity, abs=Decimal("0.02"))
    for total, days in zip(sums, DAYS, strict=True):
        jobs = 24 * days
        assert abs(float(total) - 20 * jobs) < 4 * 20 * math.sqrt(jobs / RUNS)


def test_they_come_to_the_metric_of_the_same_runs(found):
    """Made by the waist alone over 28 + 31 + 30 days: their cost of bursts, and its interval."""
    question = load_text(TEXT, ["horizon=89d"])
    prepared = prepare(question)
    costs = [replicate(prepared, 0, n).metrics["burst_cost_cny"] for n in range(RUNS)]
    # What was paid beyond the horizon of a run for the hours then running is billed, and not accrued.
    assert found.cost.mean == pytest.approx(sum(costs) / RUNS, abs=50)
    assert float(sum(one.billed_cost for one in found.charges)) == pytest.approx(found.cost.mean, abs=0.1)
    assert found.cost.n == RUNS
    assert found.cost.low < 20 * 24 * sum(DAYS) < found.cost.high


@pytest.fixture
def file(tmp_path):
    place = tmp_path / "bursts.yaml"
    place.write_text(TEXT)
    return place


def test_a_budget_has_the_bursts_and_their_line(found, file, fleetsim):
    asked = ("budget", file, "--months", "3", "--format", "json")
    plain = json.loads(fleetsim(*asked).out)
    with_them = json.loads(fleetsim(*asked, "--burst", RUNS).out)
    assert plain["bursts"] == []
    assert any("left out" in note for note in plain["assumptions"])
    (one,) = with_them["bursts"]
    assert (one["strategy"], one["months"], one["replications"], one["seed"]) == ("a month", 3, RUNS, 5)
    assert one["cost_low"] < one["cost"] < one["cost_high"]
    assert one["cost"] == pytest.approx(found.cost.mean)
    total = float(sum(charge.billed_cost for charge in found.charges))
    for key in ("cash_so_far", "cost_so_far"):
        more = with_them["by_month"][-1][key] - plain["by_month"][-1][key]
        assert more == pytest.approx(total, abs=0.01)
    lines = {line["line"]: line for line in with_them["lines"]}
    assert set(lines) == {"a100-40g-custom monthly", "h100-mig hourly"}
    assert lines["h100-mig hourly"]["cost"] == pytest.approx(total, abs=0.01)
    assert lines["h100-mig hourly"]["card_hours"] == pytest.approx(total / 20, rel=1e-3)
    assert any("means of 8 replications (seed 5)" in note for note in with_them["assumptions"])


def test_an_early_end_leaves_out_later_bursts(found, file, fleetsim):
    """Ends after a month, two and three: 2,800 CNY for each, and the bursts until then."""
    asked = ("breakeven", "--scenario", file, "--months", "3", "--burst", RUNS, "--format", "json")
    document = json.loads(fleetsim(*asked).out)
    monthly, yearly = document["ways"]
    paid = [Decimal(0)] * 3
    for charge in found.charges:
        for number, month in enumerate(("2026-02-01", "2026-03-01", "2026-04-01")):
            if f"{charge.period_start:%Y-%m-%d}" < month:
                paid[number] += charge.billed_cost
    for number, point in enumerate(monthly["curve"]):
        assert point["cost"] == pytest.approx(2800 * (number + 1) + float(paid[number]), abs=0.01)
    assert [point["cost"] for point in yearly["curve"]] == [26_880] * 3
    # The closed form is that of the contracts: 26,880 / 2,800.
    assert document["pairs"][0]["break_even_months"] == pytest.approx(9.6)
    assert monthly["period_cost"] == 2800
    # With bursts the month costs more than the year from the second month on: 2 x 2,800 + 59 x 480 = 33,920.
    assert document["pairs"][0]["cheaper_months"] == [2, 3]
    text = fleetsim("breakeven", "--scenario", file, "--months", "3", "--burst", "2").out
    assert "Bursts of 'a month' are means of 2 replications (seed 5) over 3 months" in " ".join(text.split())


@pytest.mark.parametrize(
    "words",
    [
        ("budget", "FILE", "--strategy", "a year", "--burst", "2"),
        ("budget", "--offer", "a100-40g-custom", "--burst", "2"),
        ("breakeven", "--offer", "a100-40g-custom", "--burst", "2"),
        ("breakeven", "--scenario", "FILE", "--burst", "-1"),
    ],
)
def test_bursts_that_are_none_are_refused(file, fleetsim, words):
    done = fleetsim(*(file if word == "FILE" else word for word in words))
    assert done.code == 2
    assert "--burst" in done.err
