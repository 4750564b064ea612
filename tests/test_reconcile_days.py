"""Days with years of two digits, and months as the billed period of a line: by figures and by names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sim.catalog import load_catalog
from sim.errors import InputError
from sim.experiments.invoice_days import day, end_day, halves, span, start_day
from sim.experiments.invoice_file import read_invoice
from sim.experiments.quote import Asked, asked_question, quote
from sim.experiments.reconcile import reconcile
from tests.conftest import Outcome
from tests.price_lists import QUOTE
from tests.test_reconcile_europe import SCENARIO

Command = Callable[..., Outcome]
ITEM = "A100 40G custom node"


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """4 x 1,180 = 4,720 CNY on the first of June and of July 2026."""
    path = tmp_path / "four.yaml"
    path.write_text(SCENARIO)
    return path


def document(done: Outcome) -> dict[str, Any]:
    assert (done.code, done.err) == (0, ""), done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def shorts(header: str, june: str, july: str) -> str:
    return f"{header};item;amount\n{june};{ITEM};4720.00\n{july};{ITEM};4700.00\n"


# -- Cells -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        *("01.06.26", "1.6.26", "26年6月1日", "01-Jun-26", "1 June 26", "1. Juni 2026", "1 June 2026"),
        *("June 1, 2026", "1st June 2026", "1er juin 2026", "1 Juni 2026", "Jun. 1 2026"),
    ],
)
def test_a_day_that_reads_one_way(text: str) -> None:
    assert day(text).isoformat() == "2026-06-01"
    assert halves(text) == [text]


@pytest.mark.parametrize("text", ["6/1/26", "06-01-26", "6/1/26 12:00 AM", "6/1/2026"])
def test_a_day_that_reads_two_ways(text: str) -> None:
    assert day(text, "month-first").isoformat() == "2026-06-01"
    assert day(text, "day-first").isoformat() == "2026-01-06"
    with pytest.raises(ValueError, match="a day is written"):
        day(text)


@pytest.mark.parametrize("text", ["26-06-01", "13-06-26", "06-01-26"])
def test_a_year_of_two_digits_beside_dashes_may_stand_first(
    text: str, invoiced: Callable[[str], Path]
) -> None:
    # 1 June 2026 as ISO 8601 once wrote it, or 26 June 2001: neither is taken in silence.
    file = invoiced(f"date,item,amount\n{text},{ITEM},4720\n")
    with pytest.raises(InputError, match="the year may stand first or last; --dates day-first") as raised:
        read_invoice(file)
    assert raised.value.problems[0].value == text
    if text != "06-01-26":
        (line,) = read_invoice(file, dates="day-first").lines
        assert line.amount == 4720


def test_two_digits_are_of_this_century() -> None:
    assert [day(f"31.12.{year}").year for year in ("00", "26", "69", "70", "99")] == [
        2000, 2026, 2069, 2070, 2099,
    ]  # fmt: skip
    for text in ("31.02.26", "13/13/26"):
        with pytest.raises(ValueError, match="no such day"):
            day(text, "day-first")
    for text in ("06/26", "June 26", "260601", "1.6.226"):  # a day of a month as well, or no year
        with pytest.raises(ValueError, match="a day is written"):
            span(text, "day-first")


@pytest.mark.parametrize(
    "text",
    [
        *("06/2026", "6/2026", "06.2026", "06-2026", "2026-06", "2026/6", "2026年6月", "2026年06月份"),
        *("June 2026", "JUNE 2026", "Jun. 2026", "Jun-2026", "Jun-26", "Jun '26", "2026 June", "June, 2026"),
        *("Juni 2026", "juin 2026"),
    ],
)
def test_a_month_is_a_whole_one(text: str) -> None:
    found = span(text)
    assert (found.month, found.whole_month) == ("2026-06", True)
    assert start_day(text).isoformat() == "2026-06-01"
    assert end_day(text).isoformat() == "2026-06-30"


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("März", 3),
        ("août", 8),
        ("Dez.", 12),
        ("déc.", 12),
        ("Sept.", 9),
        ("Oktober", 10),
        ("févr.", 2),
        ("May", 5),
    ],
)
def test_names_of_months(name: str, number: int) -> None:
    assert span(f"{name} 2026").start.month == number


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("05/2026 - 06/2026", "2026-05-01", "2026-06-30"),
        ("2026-05-2026-06", "2026-05-01", "2026-06-30"),
        ("Februar 2028 bis März 2028", "2028-02-01", "2028-03-31"),
        ("2026年5月至2026年6月", "2026-05-01", "2026-06-30"),
        ("01.06.26-30.06.26", "2026-06-01", "2026-06-30"),
        ("1/6/26 to 30/6/26", "2026-06-01", "2026-06-30"),
        ("01-06-26-30-06-26", "2026-06-01", "2026-06-30"),
        ("01-06-2026", "2026-06-01", "2026-06-02"),
        # The year stands once, behind or before.
        ("01.06. - 30.06.2026", "2026-06-01", "2026-06-30"),
        ("01.06.–30.06.26", "2026-06-01", "2026-06-30"),
        ("1. Juni bis 30. Juni 2026", "2026-06-01", "2026-06-30"),
        ("Jun 1 - Jun 30, 2026", "2026-06-01", "2026-06-30"),
        ("June - July 2026", "2026-06-01", "2026-07-31"),
        ("2026年6月1日至6月30日", "2026-06-01", "2026-06-30"),
        ("2026/6/1-6/30", "2026-06-01", "2026-06-30"),
    ],
)
def test_periods(text: str, start: str, end: str) -> None:
    found = span(text, "day-first")
    assert found.end is not None
    assert (found.start.isoformat(), found.end.isoformat()) == (start, end)


def test_a_month_in_the_end_is_its_last_day() -> None:
    assert end_day("02/2028").isoformat() == "2028-02-29"
    assert end_day("Februar 2026").isoformat() == "2026-02-28"
    with pytest.raises(ValueError, match="ends after"):
        span("June 2026 - May 2026")
    for text in ("13/2026", "9999-12-31", "00.01.26", "June 31, 2026"):
        with pytest.raises(ValueError, match="no such day"):
            span(text)
    with pytest.raises(ValueError, match="a day is written"):
        span("2026-06-01-06-30", "day-first")  # no month with a day of 2030


# -- The command -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "june", "july", "note"),
    [
        ("Datum", "01.06.26", "01.07.26", "Years of two digits are 2000 to 2099: 01.06.26 is 2026-06-01."),
        ("Date", "6/1/26", "7/31/26", "Years of two digits are 2000 to 2099: 6/1/26 is 2026-06-01."),
        ("Period", "Jun-26", "Jul-26", "Years of two digits are 2000 to 2099: Jun-26 is 2026-06."),
        ("Period", "01.06.26 - 30.06.26", "01.07.26 - 31.07.26", "2099: 01.06.26 is 2026-06-01."),
        ("Period", "01.06.–30.06.26", "01.07.–31.07.26", "2099: 30.06.26 is 2026-06-30."),
        ("Period", "06/2026", "07/2026", ""),
        ("Zeitraum", "Juni 2026", "Juli 2026", ""),
        ("Month", "June 2026", "July 2026", ""),
        ("Date", "06/2026", "07/2026", ""),
        ("账期", "2026年6月", "2026年7月", ""),
    ],
)
def test_one_line_a_month(
    header: str,
    june: str,
    july: str,
    note: str,
    invoiced: Callable[[str], Path],
    scenario: Path,
    fleetsim: Command,
) -> None:
    asked = (
        "reconcile",
        invoiced(shorts(header, june, july)),
        "--scenario",
        scenario,
        "--format",
        "json",
    )
    found = document(fleetsim(*asked))
    # By hand: June agrees, July is 20 short of 4,720.
    assert [(one["rows"], one["difference_cny"]) for one in found["lines"]] == [([1], 0), ([2], -20)]
    assert (found["extra"], found["missing"]) == ([], [])
    said = [one for one in found["notes"] if "two digits" in one]
    assert len(said) == bool(note)
    assert not note or note in said[0]


def test_months_in_the_columns_of_start_and_end(
    invoiced: Callable[[str], Path], scenario: Path, fleetsim: Command
) -> None:
    text = f"von;bis;item;amount\n06/2026;06/2026;{ITEM};4720\n07/2026;07/2026;{ITEM};4700\n"
    asked = ("reconcile", invoiced(text), "--scenario", scenario, "--format", "json")
    found = document(fleetsim(*asked))
    assert [one["difference_cny"] for one in found["lines"]] == [0, -20]


def test_the_order_is_asked_for_with_two_digits_too(
    invoiced: Callable[[str], Path], scenario: Path, fleetsim: Command
) -> None:
    asked = ("reconcile", invoiced(shorts("Date", "6/1/26", "7/1/26")), "--scenario", scenario)
    done = fleetsim(*asked)
    assert (done.code, done.out) == (2, "")
    assert "--dates day-first or --dates month-first does (found '6/1/26')" in done.err
    found = document(fleetsim(*asked, "--dates", "month-first", "--format", "json"))
    assert [one["difference_cny"] for one in found["lines"]] == [0, -20]


@pytest.mark.parametrize(
    ("cell", "said"),
    [("summer", "a day is written 2026-01-31"), ("13/13/26", "no such day"), ("06/26", "a month 2026-01")],
)
def test_a_period_that_nobody_reads(
    cell: str, said: str, invoiced: Callable[[str], Path], scenario: Path, fleetsim: Command
) -> None:
    done = fleetsim("reconcile", invoiced(shorts("Period", cell, "07/2026")), "--scenario", scenario)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("invoice.csv:2: row 1, Period") == 1
    assert said in done.err
    assert f"'{cell}'" in done.err


# -- Keys of amounts -------------------------------------------------------------------------------------


def test_keys_end_with_the_currency_of_the_ledger(tmp_path: Path, invoiced: Callable[[str], Path]) -> None:
    prices = tmp_path / "prices.yaml"
    card = QUOTE.format(
        id="rhine", unit="month", price=1180, plans="{monthly: {multiplier: 1}}", currency="USD"
    )
    prices.write_text(f"offers:\n{card}")
    catalog = load_catalog(prices)
    asked = Asked("rhine", 2, "monthly", "2026-06-01", 1, currency="USD")
    ledger = quote(asked_question(asked, None, catalog), 0).ledger
    text = "period,item,quantity,unit price,amount\n06/2026,rhine,2,1190.00,2380.00\n06/2026,x,1,5.00,5.00\n"
    invoice = read_invoice(invoiced(text), currency="USD")
    found = reconcile(invoice, ledger, catalog.offers).to_json()
    # By hand: two cards, each 10 dearer than 1,180, and 5 that nobody agreed.
    totals = {name: value for name, value in found["totals"].items() if value}
    assert totals == {
        "invoice_usd": 2385, "ledger_usd": 2360, "difference_usd": 25, "price_usd": 20, "extra_usd": 5,
    }  # fmt: skip
    assert (found["currency"], found["extra"][0]["amount_usd"]) == ("USD", 5)
    assert "_cny" not in json.dumps(found)
