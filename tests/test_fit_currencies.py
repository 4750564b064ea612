"""Runs priced in two currencies: `fit` compares only what has one unit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.price_lists import QUOTE

HOUR = QUOTE.replace("{unit}", "hour").replace("{plans}", "{{hourly: {{multiplier: 1}}}}")
LIST = "offers:\n" + "".join(
    HOUR.format(id=name, currency=currency, price=price)
    for name, currency, price in (("rhine", "USD", 2.5), ("south", "CNY", 9), ("north", "CNY", 8))
)
SCENARIO = """\
name: a class
start: 2026-01-01
horizon: 30d
catalog: prices.yaml
exchange: {USD: {rate: 7.13, date: 2026-11-30}}
workload:
  classes: [{name: chat, model: llama-3-8b, method: lora, gpus: 1, rate: 1/day, samples: 50000, epochs: 3}]
strategies:
  - {name: one, leases: [{offer: north, count: 1, plan: hourly}]}
experiment: {replications: 2, seed: 1}
"""
JOB = ("--model", "llama-3-8b", "--method", "lora", "--gpus", "1")


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text(LIST)
    return path


def own(text: str) -> list[str]:
    """The offers of the list in the order of the text's first table."""
    names = [line.split()[0] for line in text.splitlines() if line.strip()]
    return [name for name in names if name in ("rhine", "south", "north")][:3]


def test_amounts_without_a_rate_are_not_put_in_order(prices, fleetsim):
    done = fleetsim("fit", *JOB, "--catalog", prices)
    assert done.code == 0, done.err
    found = own(done.out)
    # 2.5 is the smallest number and not the smallest sum: currencies stand one after the other.
    assert found.index("north") < found.index("south")
    assert "are not compared" in done.out


def test_a_stated_rate_makes_one_order(prices, fleetsim, tmp_path):
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(SCENARIO)
    done = fleetsim("fit", "--scenario", scenario)
    assert done.code == 0, done.err
    assert own(done.out) == ["north", "south", "rhine"]
    assert "1 USD = 7.13 CNY (2026-11-30)" in done.out
    rows = json.loads(fleetsim("fit", "--scenario", scenario, "--format", "json").out)["offers"]
    by_offer = {row["offer"]: row for row in rows}
    # 2.5 USD an hour are 17.825 CNY; the card is the same, so the run is as long as on the other offers.
    assert by_offer["rhine"]["price_per_hour"] == pytest.approx(17.825)
    assert by_offer["rhine"]["run_cost"] == pytest.approx(by_offer["north"]["run_cost"] * 17.825 / 8)
    assert by_offer["rhine"]["currency"] == "CNY"
