"""Offers in another currency in `quote`, `breakeven`, `budget`: answered in it, or turned at a dated rate."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Outcome
from tests.price_lists import QUOTE

Command = Callable[..., Outcome]
CARD = QUOTE.replace("{unit}", "month").replace(
    "{plans}", "{{monthly: {{multiplier: 1}}, annual: {{multiplier: 0.8}}}}"
)
YEAR = ("--start", "2026-01-01", "--months", 12, "--plan", "annual")
RATE = ("--exchange", "USD=7.13@2026-11-30")


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.yaml"
    cards = (("rhine", "USD", 1180), ("main", "USD", 1250), ("seine", "EUR", 900), ("north", "CNY", 2800))
    text = "".join(CARD.format(id=name, currency=code, price=price) for name, code, price in cards)
    path.write_text(f"offers:\n{text}")
    return path


def document(done: Outcome) -> dict[str, Any]:
    assert (done.code, done.err) == (0, ""), done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_a_quote_in_the_currency_of_the_offer(prices: Path, fleetsim: Command) -> None:
    asked = ("quote", "--catalog", prices, "--offer", "rhine", "--count", 4, *YEAR)
    found = document(fleetsim(*asked, "--format", "json"))
    # By hand: 4 x 12 x 1,180 x 0.8.
    assert (found["currency"], found["cash_usd"]) == ("USD", 45_312)
    assert [one["billed_usd"] for one in found["charges"]] == [45_312]
    assert not any(key.endswith("_cny") for key in (*found, *found["charges"][0], *found["invoices"][0]))
    text = fleetsim(*asked).out
    assert "Totals, USD" in text
    assert "CNY" not in text


def test_a_quote_at_a_dated_rate(prices: Path, fleetsim: Command) -> None:
    asked = ("quote", "--catalog", prices, "--offer", "rhine", "--count", 4, *YEAR, *RATE)
    found = document(fleetsim(*asked, "--format", "json"))
    assert (found["currency"], found["cash_cny"]) == ("CNY", 323_074.56)  # 45,312 x 7.13
    assert any("7.13 CNY for one, the rate of 2026-11-30" in one for one in found["assumptions"])


def test_breakeven_of_plans_in_one_currency(prices: Path, fleetsim: Command) -> None:
    found = document(fleetsim("breakeven", "--catalog", prices, "--offer", "rhine", "--format", "json"))
    assert found["currency"] == "USD"
    assert [way["cost"] for way in found["ways"]] == [14_160, 11_328]  # 12 x 1,180, and that x 0.8
    assert found["pairs"][0]["break_even_months"] == 9.6
    both = ("--offer", "rhine", "--plans", "annual,main:annual", "--format", "json")
    found = document(fleetsim("breakeven", "--catalog", prices, *both))
    assert found["currency"] == "USD"
    assert [way["cost"] for way in found["ways"]] == [11_328, 12_000]  # 12 x 1,250 x 0.8


def test_breakeven_of_offers_in_two_currencies(prices: Path, fleetsim: Command) -> None:
    asked = ("breakeven", "--catalog", prices, "--offer", "rhine", "--plans", "annual,north:annual")
    done = fleetsim(*asked)
    assert (done.code, done.out) == (2, "")
    assert "priced in USD and CNY" in done.err
    assert "--exchange USD=RATE@" in done.err
    found = document(fleetsim(*asked, *RATE, "--format", "json"))
    assert found["currency"] == "CNY"
    assert [way["cost"] for way in found["ways"]] == [80_768.64, 26_880]  # 11,328 x 7.13; 12 x 2,800 x 0.8
    assert any("the rate of 2026-11-30" in one for one in found["assumptions"])
    three = ("--plans", "annual,north:annual,seine:annual", *RATE, "--exchange", "EUR=8.25@2026-11-30")
    found = document(fleetsim(*asked[:5], *three, "--format", "json"))
    assert [way["cost"] for way in found["ways"]] == [80_768.64, 26_880, 71_280]  # 12 x 900 x 0.8 x 8.25


def test_a_budget_in_the_currency_of_the_offer(prices: Path, fleetsim: Command) -> None:
    asked = ("budget", "--catalog", prices, "--offer", "rhine", "--plan", "monthly", "--format", "json")
    found = document(fleetsim(*asked))
    assert (found["currency"], found["lines"][0]["cost"]) == ("USD", 14_160)
    found = document(fleetsim(*asked, *RATE))
    assert (found["currency"], found["lines"][0]["cost"]) == ("CNY", 100_960.80)  # 14,160 x 7.13


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        (("USD=7.13",), "CODE=RATE@DATE"),
        (("USD=7.13@soon",), "CODE=RATE@DATE"),
        (("dollar=7.13@2026-11-30",), "CODE=RATE@DATE"),
        (("USD=0@2026-11-30",), "above 0"),
        (("USD=nan@2026-11-30",), "above 0"),
        (("CNY=1@2026-11-30",), "another currency"),
        (("EUR=8@2026-11-30",), "known: USD"),
        (("USD=7@2026-11-30", "USD=7.1@2026-11-30"), "one rate"),
    ],
)
def test_rates_that_cannot_be(prices: Path, fleetsim: Command, rates: tuple[str, ...], said: str) -> None:
    options = [word for rate in rates for word in ("--exchange", rate)]
    done = fleetsim("budget", "--catalog", prices, "--offer", "rhine", *options)
    assert (done.code, done.out) == (2, "")
    assert "--exchange" in done.err
    assert said in done.err


@pytest.mark.parametrize("command", [("budget",), ("breakeven", "--scenario"), ("quote", "--scenario")])
def test_a_scenario_states_its_own_rates(two_jobs: Path, fleetsim: Command, command: tuple[str, ...]) -> None:
    done = fleetsim(*command, two_jobs, *RATE)
    assert (done.code, done.out) == (2, "")
    assert "states its rates itself" in done.err
