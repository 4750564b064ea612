"""Uncertain inputs as a scenario writes them: distributions by pencil; what is refused, with its place."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sim.errors import InputError
from sim.experiments.knobs_table import KNOBS
from sim.load import dump, load_text
from sim.load_uncertain import plain, quantile, with_values, written
from sim.model.uncertain import NAMED_INPUTS, SPEED_ERROR, Uncertain, measure

SMALL = """\
name: Small
start: 2026-01-01
timezone: UTC
horizon: 30d
workload:
  classes:
    - {name: lora, model: qwen-7b, method: lora, seq_len: 1024, samples: 20000, rate: 12/day, rank: 8}
strategies:
  - name: three
    leases: [{offer: a100-40g-custom, count: 3, plan: monthly, price: 5000}]
experiment: {replications: 4, seed: 3}
"""


def asked(text: str):
    return load_text(SMALL + text)


def known(**kind) -> Uncertain:
    return Uncertain.model_validate(kind)


@pytest.mark.parametrize(
    ("kind", "share", "value"),
    [
        ({"uniform": {"low": 2, "high": 6}}, 0.25, 3.0),
        # The density rises to 1/2 at 1, so below 1 lies 1/4; above x lies the square of 4 - x over 12.
        ({"triangular": {"low": 0, "mode": 1, "high": 4}}, 0.25, 1.0),
        ({"triangular": {"low": 0, "mode": 1, "high": 4}}, 1 / 16, 0.5),
        ({"triangular": {"low": 0, "mode": 1, "high": 4}}, 1 - 1 / 12, 3.0),
        ({"normal": {"mean": 10, "deviation": 2}}, 0.975, 10 + 2 * 1.959964),
        ({"normal": {"mean": 10, "deviation": 2, "low": 10}}, 0.5, 10 + 2 * 0.674490),
        ({"lognormal": {"median": 8, "sigma": 0.5}}, 0.975, 8 * math.exp(0.5 * 1.959964)),
        ({"lognormal": {"median": 8, "sigma": 0.5, "high": 8}}, 0.5, 8 * math.exp(-0.5 * 0.674490)),
        ({"choice": {"values": [1, 2, 4], "weights": [1, 1, 2]}}, 0.49, 2.0),
        ({"choice": {"values": [1, 2, 4], "weights": [1, 1, 2]}}, 0.51, 4.0),
    ],
)
def test_quantiles_by_pencil(kind, share, value):
    assert quantile(known(**kind), share) == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ({"triangular": {"low": 1, "mode": 1, "high": 3}}, stats.triang(0, 1, 2)),
        ({"normal": {"mean": 1, "deviation": 2, "low": 0, "high": 2}}, stats.truncnorm(-0.5, 0.5, 1, 2)),
    ],
)
def test_quantiles_as_in_scipy(kind, law):
    shares = np.linspace(0.01, 0.99, 33)
    assert [quantile(known(**kind), share) for share in shares] == pytest.approx(law.ppf(shares), rel=1e-9)


def test_the_speed_error_is_that_of_the_validation_page():
    """Nine of ten values lie within the 90th percentile of the rows whose source was left out."""
    page = (Path(__file__).parents[1] / "docs" / "validation.md").read_text("utf-8")
    _, _, speed = page.partition("## Speed")
    cells = re.search(r"^\| all \| \d+ \| [^|]+ \| [^|]+ \| ([\d.]+) / ([\d.]+) \|$", speed, re.MULTILINE)
    assert float(cells[2]) / 100 == pytest.approx(SPEED_ERROR, abs=0.01)
    law = known(validation=True)
    assert quantile(law, 0.95) == pytest.approx(1 + SPEED_ERROR, abs=2e-4)
    assert quantile(law, 0.05) == pytest.approx(1 / (1 + SPEED_ERROR), abs=2e-4)
    assert quantile(law, 0.5) == 1


def test_units_and_whole_numbers_are_written_as_the_scenario_has_them():
    rate = known(uniform={"low": "12/day", "high": "18/day"})
    assert written(rate, 15.25, "workload.classes.0.rate") == "15.25/day"
    assert written(rate, 0.00001234, "workload.classes.0.rate") == "0.00001234/day"
    count = known(uniform={"low": 1, "high": 4})
    assert written(count, 2.6, "strategies.0.leases.0.count") == 3
    assert written(count, 2.6, "demand") == 2.6
    assert measure("-2.5%/month") == (-2.5, "%/month")


def test_values_are_read_as_if_they_stood_in_the_file():
    scenario = asked("").scenario
    changed = with_values(
        scenario,
        {
            "workload.classes.0.rate": "15.5/day",
            "strategies[0].leases[0].price": 5123.45,
            "workload.classes.0.samples": 30000.0,
        },
    )
    assert (
        changed
        == load_text(
            SMALL.replace("12/day", "15.5/day").replace("5000", "5123.45").replace("20000", "30000")
        ).scenario
    )
    assert with_values(scenario, {}) == scenario
    assert plain(scenario)["workload"]["classes"][0]["rate"] == "12/day"


def test_the_names_are_those_of_the_sensitivity_study_but_for_an_early_end():
    assert list(NAMED_INPUTS) == [name for name in KNOBS if name != "end"]


def test_a_scenario_with_uncertain_inputs_is_written_and_read_again():
    scenario = asked(
        "uncertain:\n"
        "  demand: {normal: {mean: 1, deviation: 0.1, low: 0.5, high: 1.5}, source: last year}\n"
        "  workload.classes.0.rate: {uniform: {low: 10/day, high: 14/day}}\n"
        "  run_time: {validation: true}\n"
    ).scenario
    assert load_text(dump(scenario)).scenario == scenario
    assert "uncertain" not in dump(asked("").scenario)


BAD = {
    "demand: 3": ("uncertain.demand", "must be a mapping"),
    "demand: {}": ("uncertain.demand", "exactly one kind of: uniform"),
    "demand: {uniform: {low: 1, high: 2}, validation: true}": ("uncertain.demand", "exactly one kind"),
    "demand: {uniform: {low: 2, high: 1}}": ("uncertain.demand.uniform", "low < high must hold"),
    "demand: {uniform: {low: 1, hi: 2}}": ("uncertain.demand.uniform.hi", "unknown key"),
    "demand: {uniform: {low: a, high: 2}}": ("uncertain.demand.uniform.low", "a number with one unit"),
    "demand: {uniform: {low: yes, high: 2}}": ("uncertain.demand.uniform.low", "a number with one unit"),
    "demand: {uniform: {low: 0, high: 2}}": ("uncertain.demand", "demand is at least 0.01"),
    "demand: {uniform: {low: 1/day, high: 2/day}}": ("uncertain.demand", "without a unit"),
    "growth: {uniform: {low: 1, high: 2}}": ("uncertain.growth", "with the unit %/month"),
    "demand: {validation: true}": ("uncertain.demand.validation", "run_time alone"),
    "run_time: {normal: {mean: 1, deviation: 0.5}}": ("uncertain.run_time", "cut it off with low and high"),
    "price_range: {uniform: {low: 0, high: 2}}": ("uncertain.price_range", "at most 1"),
    "dmand: {uniform: {low: 1, high: 2}}": ("uncertain.dmand", "one of the known names, or a key below"),
    "target.wait_p95: {uniform: {low: 1h, high: 2h}}": ("uncertain.target.wait_p95", "a key below"),
    "experiment.seed: {uniform: {low: 1, high: 2}}": ("uncertain.experiment.seed", "a key below"),
    "workload.classes.0.rate: {uniform: {low: 1/day, high: 2/h}}": (
        "uncertain.workload.classes.0.rate.uniform",
        "one unit, and these have /day and /h",
    ),
    "workload.classes.0.rate: {normal: {mean: 5/day, deviation: 3/day}}": (
        "uncertain.workload.classes.0.rate",
        "may be drawn that is refused: a rate may not be below 0",
    ),
    "workload.classes.0.rate: {uniform: {low: 1, high: 2}}": ("uncertain.workload.classes.0.rate", "refused"),
    "workload.classes.4.rate: {uniform: {low: 1/h, high: 2/h}}": (
        "uncertain.workload.classes.4.rate",
        "the list has 1 entries",
    ),
    "workload.classes.0.rte: {uniform: {low: 1/h, high: 2/h}}": (
        "uncertain.workload.classes.0.rte",
        "the scenario has no such key",
    ),
    "workload.classes.0.rank: {uniform: {low: 8, high: 90000}}": (
        "uncertain.workload.classes.0.rank",
        "may not be above the model's hidden size",
    ),
    "strategies.0.leases.0.count: {uniform: {low: 0, high: 4}}": (
        "uncertain.strategies.0.leases.0.count",
        "must be at least 1",
    ),
    "workload.classes[0].rate: {uniform: {low: 1/h, high: 2/h}}\n"
    "  workload.classes.0.rate: {uniform: {low: 1/h, high: 2/h}}": (
        "uncertain.workload.classes[0].rate",
        "this key lies within workload.classes.0.rate",
    ),
    "growth: {uniform: {low: 1%/month, high: 2%/month}}\n"
    "  workload.growth: {uniform: {low: 1%/month, high: 2%/month}}": (
        "uncertain.workload.growth",
        "lies within growth",
    ),
}


@pytest.mark.parametrize("text", BAD)
def test_bad_inputs_are_told_with_their_place(text):
    with pytest.raises(InputError) as caught:
        asked(f"uncertain:\n  {text}\n")
    key, rule = BAD[text]
    found = [problem for problem in caught.value.problems if problem.key == key and rule in problem.rule]
    assert found, caught.value.problems
    lines = range(SMALL.count("\n") + 2, SMALL.count("\n") + 3 + text.count("\n"))
    assert found[0].line in lines
    assert found[0].file == "scenario.yaml"


def test_a_steady_state_has_no_room_for_uncertain_inputs():
    with pytest.raises(InputError, match="uncertain inputs need replications"):
        load_text(
            SMALL.replace("replications: 4", "steady_state: {}")
            + "uncertain: {demand: {uniform: {low: 1, high: 2}}}\n"
        )
