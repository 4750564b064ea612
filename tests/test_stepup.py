"""When to step up: leases and money of each month by pencil, and the month that trying all finds."""

import json

import pytest

from sim.errors import InputError
from sim.experiments.compare import compare
from sim.experiments.quote import quote
from sim.experiments.runs import Places
from sim.experiments.stepup import step_up, steps_of
from sim.load import load_text
from sim.model.experiment import Selection

YEAR = """
name: Four, then eight
start: 2026-01-01
horizon: 365d
workload:
  classes: [{name: lora, model: qwen-7b, method: lora, samples: 40000, rate: 1/day}]
target: {wait_p95: 4h}
strategies:
  - {name: four, leases: [{offer: a100-40g-custom, count: 4, plan: annual}]}
  - name: more by the month
    leases:
      - {offer: a100-40g-custom, count: 4, plan: annual}
      - {offer: a100-40g-custom, count: 4, plan: monthly}
  - {name: eight, leases: [{offer: a100-40g-custom, count: 8, plan: annual}]}
  - {name: two, leases: [{offer: a100-40g-custom, count: 2, plan: annual}]}
  - {name: machine, leases: [{offer: a100-40g-8x, count: 1, plan: monthly}]}
  - {name: easy, policy: easy, leases: [{offer: a100-40g-custom, count: 8, plan: annual}]}
  - {name: dated, leases: [{offer: a100-40g-custom, count: 8, plan: annual, start: 2026-03-01}]}
"""

GROWING = """
name: Growing
start: 2026-01-01
horizon: 120d
workload:
  classes:
    - {name: lora, model: qwen-7b, method: lora, seq_len: 1024, mean_tokens: 300,
       samples: {lognormal: {median: 40000, sigma: 0.5}}, rate: 8/day}
  growth: 35%/month
target: {wait_p95: 6h}
strategies:
  - {name: two, leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]}
  - {name: four, leases: [{offer: a100-40g-custom, count: 5, plan: monthly}]}
experiment: {replications: 8, seed: 3}
"""


def leases(before, after, month):
    asked, months = steps_of(load_text(YEAR), before, after)
    strategy = asked.scenario.strategies[months.index(month)]
    return [
        (one.offer, one.count, one.plan, one.start and f"{one.start:%m-%d}", one.end and f"{one.end:%m-%d}")
        for one in strategy.leases
    ]


CARD = "a100-40g-custom"


@pytest.mark.parametrize(
    ("before", "after", "month", "expected"),
    [
        ("four", "eight", None, [(CARD, 4, "annual", None, None)]),
        ("four", "eight", 0, [(CARD, 8, "annual", None, None)]),
        ("four", "eight", 3, [(CARD, 4, "annual", None, None), (CARD, 4, "annual", "04-01", None)]),
        ("four", "two", 2, [(CARD, 2, "annual", None, None), (CARD, 2, "annual", None, "03-01")]),
        (
            "four", "more by the month", 6,
            [(CARD, 4, "annual", None, None), (CARD, 4, "monthly", "07-01", None)],
        ),
        (
            "four", "machine", 1,
            [(CARD, 4, "annual", None, "02-01"), ("a100-40g-8x", 1, "monthly", "02-01", None)],
        ),
    ],
)  # fmt: skip
def test_leases_of_a_step(before, after, month, expected):
    assert leases(before, after, month) == expected


def test_every_month_of_the_horizon_is_a_step():
    _, months = steps_of(load_text(YEAR), "four", "eight")
    assert months == [None, *range(11, -1, -1)]


@pytest.mark.parametrize(("month", "cost"), [(3, 208_320), (6, 174_720), (None, 107_520), (0, 241_920)])
def test_cards_added_by_the_month_cost_what_the_pencil_says(month, cost):
    # 4 x 26,880 a year, and 4 x 2,800 for each month from the step on.
    asked, months = steps_of(load_text(YEAR), "four", "more by the month")
    assert quote(asked, months.index(month)).ledger.committed == cost


def test_the_month_that_trying_all_finds():
    asked, months = steps_of(load_text(GROWING), "two", "four")
    all_of_them = compare(asked)
    meets = [result.meets_target for result in all_of_them.strategies]
    assert meets == sorted(meets)  # a later step serves no better
    best = all_of_them.recommendation.strategy
    found = step_up(load_text(GROWING), "two", "four", Selection(target_zone="20%", most=20), Places())
    names = [strategy.name for strategy in asked.scenario.strategies]
    assert names[months.index(found.chosen.month)] == best
    assert found.comparison.strategies[0].name == best
    assert found.late is None or found.late.cost <= found.chosen.cost
    assert found.early is None or found.early.cost >= found.chosen.cost
    assert [step.month for step in found.steps] == months
    json.dumps(found.to_json(), allow_nan=False)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("five", "eight", "--from: the scenario has no strategy of this name"),
        ("four", "nine", "--to: the scenario has no strategy of this name"),
        ("four", "easy", "--from, --to: both fleets need the same queue policy"),
        ("four", "dated", "--to: a fleet to step from or to has leases of the whole horizon"),
    ],
)
def test_fleets_between_which_one_cannot_go(before, after, message):
    with pytest.raises(InputError, match=message):
        steps_of(load_text(YEAR), before, after)


@pytest.mark.usefixtures("no_charts")
def test_the_command(fleetsim, tmp_path):
    file = tmp_path / "growing.yaml"
    file.write_text(GROWING)
    options = ("--set", "experiment.select={target_zone: 20%}", "--most", "20", "--jobs", "1")
    done = fleetsim("stepup", file, *options, "--out", tmp_path / "out")
    assert done.code == 0
    assert "When to step up" in done.out
    assert "A month later costs" in done.out or "Do not step up" in done.out
    (folder,) = (tmp_path / "out").glob("growing/*")
    rows = (folder / "steps.csv").read_text().splitlines()
    assert rows[0].startswith("month,at,committed_cost,accrued_cost,target,replications")
    assert len(rows) == 1 + 5
    refused = fleetsim("stepup", file, "--from", "three", "--out", tmp_path / "out2")
    assert refused.code == 2
    assert not (tmp_path / "out2").exists()
