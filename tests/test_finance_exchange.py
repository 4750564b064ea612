"""Offers in another currency in the commands of finance: answered in it, or turned at a dated rate."""

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


# -- Commitments -----------------------------------------------------------------------------------------


def commit(prices: Path, *more: object) -> tuple[object, ...]:
    asked = ("commit", "--demand", "uniform:0:3", "--catalog", prices, "--offer", "rhine")
    return (*asked, *more, "--format", "json")


def test_a_commitment_in_the_currency_of_the_offers(prices: Path, fleetsim: Command) -> None:
    found = document(fleetsim(*commit(prices, "--fallback", "rhine:monthly")))
    # By hand: 1,180 x 0.8 a month, and 1,180; 1 - c / p = 0.2, and F(0) = 1/4 is enough: none.
    assert (found["currency"], found["committed_month"], found["fallback_month"]) == ("USD", 944, 1180)
    assert found["newsvendor"] == 0
    assert not any("turned at" in note for note in found["assumptions"])


def test_a_commitment_at_a_dated_rate(prices: Path, fleetsim: Command) -> None:
    found = document(fleetsim(*commit(prices, "--fallback", "north:monthly", *RATE)))
    assert found["currency"] == "CNY"
    assert (found["committed_month"], found["fallback_month"]) == (6730.72, 2800)  # 944 x 7.13
    (note,) = (note for note in found["assumptions"] if "turned at" in note)
    assert note.startswith("rhine: priced in USD, turned at 7.13 CNY for one, the rate of 2026-11-30, which")
    done = fleetsim(*commit(prices, "--fallback", "north:monthly"))
    assert (done.code, done.out) == (2, "")
    assert "the offers are priced in USD and CNY" in done.err
    assert "--exchange USD=RATE@" in done.err


def test_a_commitment_of_a_scenario_at_a_dated_rate(prices: Path, two_jobs: Path, fleetsim: Command) -> None:
    own = ("--set", f"catalog={prices.name}", "--offer", "rhine", "--plan", "annual")
    runs = ("--replications", 1, "--jobs", 1, "--around", 1, "--format", "json")
    found = document(fleetsim("commit", two_jobs, *own, *RATE, *runs))
    assert found["currency"] == "CNY"
    assert (found["committed_month"], found["fallback_month"]) == (6730.72, 30 * 730)
    # The second job waits, and is given an hour of another card at 30 CNY: in a month of 720 hours.
    assert found["trials"][1]["cost"] == pytest.approx(6730.72 + 30 * 730 / 720, abs=0.01)
    assert any("rhine: priced in USD, turned at 7.13 CNY" in note for note in found["assumptions"])
    done = fleetsim("commit", two_jobs, *own, *runs)
    assert (done.code, done.out) == (2, "")
    assert "--exchange USD=RATE@" in done.err


def test_a_rate_that_the_scenario_states_is_not_given_twice(
    prices: Path, two_jobs: Path, fleetsim: Command
) -> None:
    stated = ("--set", f"catalog={prices.name}", "--set", "exchange={USD: {rate: 7, date: 2026-11-30}}")
    asked = ("commit", two_jobs, *stated, "--offer", "rhine", "--plan", "annual", "--around", 0)
    runs = ("--replications", 1, "--jobs", 1, "--format", "json")
    found = document(fleetsim(*asked, *runs))
    assert found["committed_month"] == 6608  # 944 x 7
    assert any("turned at 7 CNY for one" in note for note in found["assumptions"])
    done = fleetsim(*asked, *RATE, *runs)
    assert (done.code, done.out) == (2, "")
    assert "states its rates itself" in done.err
    done = fleetsim(*asked, "--exchange", "EUR=8@2026-11-30", *runs)
    assert (done.code, done.out) == (2, "")
    assert "no offer that is asked about is priced in this currency" in done.err


def test_a_price_list_beside_a_scenario_is_refused(prices: Path, two_jobs: Path, fleetsim: Command) -> None:
    done = fleetsim("commit", two_jobs, "--catalog", prices)
    assert (done.code, done.out) == (2, "")
    assert "a scenario names its price list itself" in done.err


# -- Owning ----------------------------------------------------------------------------------------------


def owning(prices: Path, rent: str, *more: object) -> tuple[object, ...]:
    return ("tco", "--catalog", prices, "--rent", rent, *more, "--format", "json")


def test_owning_and_renting_in_one_currency(prices: Path, fleetsim: Command) -> None:
    found = document(fleetsim(*owning(prices, "rhine:annual", "--set", "currency=USD")))
    assert found["currency"] == "USD"
    assert found["rents"][0]["year"] == 90_624  # 8 x 12 x 1,180 x 0.8
    assert found["inputs"]["capital"]["unit"] == "USD"
    text = fleetsim(*owning(prices, "rhine:annual", "--set", "currency=USD")[:-2]).out
    assert "CNY" not in text
    article = ("--preset", "article-002", "--set", "currency=USD")
    assert document(fleetsim(*owning(prices, "rhine:annual", *article)))["statements"] == []


def test_rents_that_are_turned(prices: Path, fleetsim: Command) -> None:
    found = document(fleetsim(*owning(prices, "rhine:annual,north:annual", *RATE)))
    assert found["currency"] == "CNY"
    assert [rent["year"] for rent in found["rents"]] == [646_149.12, 215_040]  # x 7.13; 8 x 12 x 2,800 x 0.8
    assert [note[:43] for note in found["assumptions"] if "turned at" in note] == [
        "rhine: priced in USD, turned at 7.13 CNY fo"
    ]
    assert round(found["total"]) == 381_880  # owning stays as it is


def test_owning_that_is_turned(prices: Path, fleetsim: Command) -> None:
    own = ("--set", "currency=USD", "--set", "capital=100000", "--set", "hosting=4000")
    found = document(fleetsim(*owning(prices, "north:annual", *own, *RATE)))
    assert (found["currency"], found["rents"][0]["year"]) == ("CNY", 215_040)
    assert found["inputs"]["capital"]["value"] == 713_000
    assert found["parts"]["hosting"] == 28_520  # 4,000 x 7.13
    assert found["parts"]["spares"] == 21_390  # 3 % of 713,000
    assert found["inputs"]["utilisation"]["value"] == 0.6
    dollars = document(fleetsim(*owning(prices, "rhine:annual", *own)))
    assert found["total"] == pytest.approx(dollars["total"] * 7.13)
    assert any(note.startswith("own machine: priced in USD, turned at") for note in found["assumptions"])


def test_owning_and_renting_without_a_rate(prices: Path, fleetsim: Command) -> None:
    for asked in (owning(prices, "rhine:annual"), owning(prices, "north:annual", "--set", "currency=USD")):
        done = fleetsim(*asked)
        assert (done.code, done.out) == (2, "")
        assert "owning and rents are priced in" in done.err
        assert "--exchange USD=RATE@" in done.err
    done = fleetsim(*owning(prices, "rhine:annual", "--set", "currency=dollars"))
    assert (done.code, done.out) == (2, "")
    assert "did you mean USD?" in done.err


# -- What is refused -------------------------------------------------------------------------------------


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
