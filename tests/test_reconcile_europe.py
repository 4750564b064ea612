"""Invoices as they are written in Europe: headers, decimal commas, days; what reads in two ways is asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sim.errors import InputError
from sim.experiments.invoice_cells import amount
from sim.experiments.invoice_days import day
from sim.experiments.invoice_file import read_invoice
from tests.conftest import Outcome

Command = Callable[..., Outcome]
SCENARIO = """\
name: Four nodes for two months
start: 2026-06-01
horizon: 2026-08-01
workload: {classes: [{name: a, model: qwen-7b, method: lora, samples: 1000, rate: 1/day}]}
reliability: {profile: none}
strategies:
  - {name: four, leases: [{offer: a100-40g-custom, count: 4, plan: monthly, price: 1180}]}
experiment: {replications: 2, seed: 1}
"""
"""4 x 1,180 = 4,720 on the first of June and of July."""

ENGLISH = """\
Date,Position,Invoice no.,Qty,Unit price,Amount
2026-06-01,A100 40G custom node,4711,5,1180.00,5900.00
2026-06-01,Setup fee,4711,1,250.00,250.00
2026-07-01,A100 40G custom node,4711,4,1180.00,4720.00
"""
GERMAN = """\
Datum;Position;Beleg;Menge;Einzelpreis (CNY);Betrag in CNY
01.06.2026;A100 40G custom node;4711;5;1.180,00;5.900,00
01.06.2026;Einrichtungsgebühr;4711;1;250,00;250,00
01.07.2026;A100 40G custom node;4711;4;1.180,00;4.720,00
Summe;;;;;10.870,00
"""
FRENCH = """\
Date;Désignation;Quantité;Prix unitaire HT;Montant HT
01/06/2026;A100 40G custom node;5;1 180,00;5 900,00
15/06/2026;Frais de mise en service;1;250,00;250,00
01/07/2026;A100 40G custom node;4;1 180,00;4 720,00
"""
CHINESE = """\
日期,名称,数量,单价,金额
2026年6月1日,A100 40G custom node,5,1180.00,5900.00
2026年6月1日,开通手续费,1,250.00,250.00
2026年7月1日,A100 40G custom node,4,1180.00,4720.00
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "four.yaml"
    path.write_text(SCENARIO)
    return path


def document(done: Outcome) -> dict[str, Any]:
    assert (done.code, done.err) == (0, ""), done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


@pytest.mark.parametrize("text", [ENGLISH, GERMAN, FRENCH, CHINESE], ids=["en", "de", "fr", "zh"])
def test_one_card_too_many_and_a_fee(
    text: str, invoiced: Callable[[str], Path], scenario: Path, fleetsim: Command
) -> None:
    found = document(fleetsim("reconcile", invoiced(text), "--scenario", scenario, "--format", "json"))
    # By hand: 5,900 + 250 + 4,720 against 2 x 4,720: one card too many, and a fee that nobody agreed.
    causes = {name: value for name, value in found["totals"].items() if value}
    assert causes == {
        "invoice_cny": 10_870, "ledger_cny": 9_440, "difference_cny": 1_430, "quantity_cny": 1_180,
        "extra_cny": 250,
    }  # fmt: skip
    assert [(line["category"], line["amount_cny"]) for line in found["extra"]] == [("fee", 250)]
    assert found["missing"] == []


def test_what_was_found_is_said(invoiced: Callable[[str], Path], scenario: Path, fleetsim: Command) -> None:
    done = fleetsim("reconcile", invoiced(GERMAN), "--scenario", scenario)
    assert "Numbers are read with a decimal comma" in done.out
    done = fleetsim("reconcile", invoiced(FRENCH), "--scenario", scenario)
    assert "Days such as 01/06/2026 are read day-first" in done.out


def test_the_encoding_of_a_western_spreadsheet(tmp_path: Path, scenario: Path, fleetsim: Command) -> None:
    path = tmp_path / "invoice.csv"
    path.write_bytes(GERMAN.replace("Beleg", "Währung").replace(";4711;", ";CNY;").encode("cp1252"))
    found = document(fleetsim("reconcile", path, "--scenario", scenario, "--format", "json"))
    assert found["totals"]["quantity_cny"] == 1_180
    assert found["columns"]["currency"] == "Währung"
    assert [line["text"] for line in found["extra"]] == ["Einrichtungsgebühr"]
    assert "The file is taken as cp1252, by its letters." in found["notes"]


def test_columns_that_are_not_read_are_told_first_where_lines_have_no_partner(
    invoiced: Callable[[str], Path], scenario: Path, fleetsim: Command
) -> None:
    text = "Wann,Posten,Invoice no.,Amount\n2026-06-01,custom node,4711,4720\n2026-06-01,more,4711,5\n"
    done = fleetsim("reconcile", invoiced(text), "--scenario", scenario)
    assert done.code == 0, done.err
    told = " ".join(done.out.split())
    assert told.index("columns are not read: Wann, Posten, Invoice no. (name") < told.index("Lines that")
    assert told.count("Invoice no.") == 1
    # Where every line has its partner, it is a note at the end, with one stop.
    both = "Amount,Month,Invoice no.\n4720,2026-06,1\n4720,2026-07,1\n"
    done = fleetsim("reconcile", invoiced(both), "--scenario", scenario)
    assert done.out.rstrip().endswith("Columns that are not read: Invoice no.")


def test_words_that_stand_nowhere_are_told(
    invoiced: Callable[[str], Path], scenario: Path, fleetsim: Command
) -> None:
    asked = ("reconcile", invoiced(ENGLISH), "--scenario", scenario, "--format", "json")
    notes = document(fleetsim(*asked, "--item", "A800=a100-40g-custom"))["notes"]
    assert "No line of the invoice has the words 'A800', which --item gives a meaning." in notes
    notes = document(fleetsim(*asked, "--item", "custom NODE=a100-40g-custom"))["notes"]
    assert not any("--item" in note for note in notes)


def test_the_help_names_the_fields(fleetsim: Command) -> None:
    done = fleetsim("reconcile", "--help")
    for field in ("period", "start", "description", "unit_price", "amount", "gross"):
        assert field in done.out


@pytest.mark.parametrize("header", ["Betrag in EUR", "Betrag (€)", "Amount USD"])
def test_a_header_in_another_currency_is_refused(
    header: str, invoiced: Callable[[str], Path], scenario: Path, fleetsim: Command
) -> None:
    done = fleetsim("reconcile", invoiced(f"Datum;{header}\n01.06.2026;4720,00\n"), "--scenario", scenario)
    assert (done.code, done.out) == (2, "")
    assert "the ledger is in CNY, and the invoice must be too" in done.err
    assert header in done.err


# -- Columns by looser words -----------------------------------------------------------------------------


def columns(path: Path, **options: Any) -> dict[str, str]:
    return dict(read_invoice(path, **options).columns)


def test_a_position_that_counts_is_no_description(invoiced: Callable[[str], Path]) -> None:
    text = "Position,Beschreibung,Betrag\n1,a,5.5\n2,b,6.5\n"
    assert columns(invoiced(text)) == {"description": "Beschreibung", "amount": "Betrag"}
    assert columns(invoiced("Position,Betrag\n1,5.5\n2,6.5\n")) == {"amount": "Betrag"}


def test_a_date_beside_a_period_is_that_of_the_invoice(invoiced: Callable[[str], Path]) -> None:
    text = "Date,Billing period,Amount\n2026-07-05,2026-06,5.5\n"
    assert columns(invoiced(text)) == {"period": "Billing period", "amount": "Amount"}
    assert columns(invoiced("Date,Amount\nsoon,5.5\n")) == {"amount": "Amount"}


def test_a_rate_of_tax_is_no_tax(invoiced: Callable[[str], Path]) -> None:
    assert "tax" not in columns(invoiced("Betrag,MwSt\n100.50,19 %\n200.25,19 %\n"))
    assert "tax" not in columns(invoiced("Betrag,MwSt\n100.50,19\n200.25,19\n"))
    found = read_invoice(invoiced("Betrag,MwSt\n100.00,19.00\n200.00,38.00\n"))
    assert [line.amount for line in found.lines] == [100, 19, 200, 38]


def test_a_quantity_with_words_is_left_out(invoiced: Callable[[str], Path]) -> None:
    assert "quantity" not in columns(invoiced("Menge,Betrag\n5 Stk,5.5\n1 Stk,6.5\n"))


ARREARS = SCENARIO.replace("price: 1180", "price: 1180, terms: {payment: arrears}")
"""The same 4,720, paid when each month is over."""


def test_a_date_of_the_invoice_is_told_from_that_of_what_it_bills(
    invoiced: Callable[[str], Path], scenario: Path, fleetsim: Command
) -> None:
    scenario.write_text(ARREARS.replace("horizon: 2026-08-01", "horizon: 2026-08-02"))
    item = "A100 40G custom node"
    text = f"Datum;Position;Betrag\n05.07.2026;{item};4.720,00\n05.08.2026;{item};4.700,00\n"
    asked = (
        "reconcile",
        invoiced(text),
        "--scenario",
        scenario,
        "--until",
        "2026-08",
        "--format",
        "json",
    )
    found = document(fleetsim(*asked))
    # By hand: June is billed on 5 July and agrees, July on 5 August and is 20 short.
    assert [(one["rows"], one["difference_cny"]) for one in found["lines"][:2]] == [([1], 0), ([2], -20)]
    assert found["extra"] == []
    assert any("are taken as those of the invoice" in note for note in found["notes"])
    found = document(fleetsim(*asked, "--column", "start=Datum"))
    assert [line["amount_cny"] for line in found["extra"]] == [4_700]


def test_a_line_billed_twice_is_not_that_of_another_month(
    invoiced: Callable[[str], Path], scenario: Path, fleetsim: Command
) -> None:
    item = "A100 40G custom node"
    text = f"Date,Position,Amount\n2026-07-01,{item},4720.00\n2026-07-01,{item},4720.00\n"
    found = document(fleetsim("reconcile", invoiced(text), "--scenario", scenario, "--format", "json"))
    # Paid in advance: July stands twice, June is not there; the sums alone would agree.
    assert found["totals"]["difference_cny"] == 0
    assert (found["totals"]["extra_cny"], found["totals"]["missing_cny"]) == (4_720, -4_720)


# -- Decimal signs and orders of days --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.234,56", "1234.56"), ("5.900,00 €", "5900"), ("EUR -12,5", "-12.5"), ("1 180,00", "1180"),
        ("1.234", "1234"), ("1234,5", "1234.5"), ("1,234.56", None), ("1234.56", None), ("0.625", None),
    ],
)  # fmt: skip
def test_amounts_with_a_decimal_comma(text: str, value: str | None) -> None:
    if value is None:
        with pytest.raises(ValueError, match=r"2\.800,00"):
            amount(text, ",")
    else:
        assert amount(text, ",") == Decimal(value)


def test_thousands_of_every_kind_with_a_decimal_point() -> None:
    for text in ("1,234.56", "1'234.56", "1\u2019234.56", "1 234.56", "1\u202f234.56", "1234.56"):
        assert amount(text) == Decimal("1234.56")
    with pytest.raises(ValueError, match="amount"):
        amount("0,625")  # no thousands begin with 0


def test_a_column_follows_the_others_and_doubt_is_asked_about(invoiced: Callable[[str], Path]) -> None:
    path = invoiced('quantity;unit price;amount\n2;1.180;"2.360,00"\n')
    (line,) = read_invoice(path).lines
    assert (line.unit_price, line.amount) == (1180, 2360)
    path = invoiced("quantity;unit price;amount\n2;1.180;2360\n")
    with pytest.raises(InputError, match=r"--decimal \. or --decimal , does \(found '1\.180'\)"):
        read_invoice(path)
    assert read_invoice(path, decimal=",").lines[0].unit_price == 1180
    assert read_invoice(path, decimal=".").lines[0].unit_price == Decimal("1.18")
    path = invoiced("amount,unit price\n2.5,1.180\n")  # the amount has a decimal point and reads no other way
    assert read_invoice(path).lines[0].unit_price == Decimal("1.18")


def test_days_of_which_nothing_says_the_month_are_asked_about(
    invoiced: Callable[[str], Path], scenario: Path, fleetsim: Command
) -> None:
    path = invoiced("Date,Amount\n01/06/2026,4720\n01/07/2026,4720\n")
    done = fleetsim("reconcile", path, "--scenario", scenario)
    assert (done.code, done.out) == (2, "")
    assert "--dates day-first or --dates month-first does (found '01/06/2026')" in done.err
    asked = ("reconcile", path, "--scenario", scenario, "--format", "json")
    assert document(fleetsim(*asked, "--dates", "day-first"))["agrees"]
    # Month first these are 6 and 7 January, before the ledger begins.
    assert not document(fleetsim(*asked, "--dates", "month-first"))["agrees"]
    assert day("3/2/2026", "day-first").isoformat() == "2026-02-03"
    assert day("3/2/2026", "month-first").isoformat() == "2026-03-02"


def test_a_sign_that_is_none_is_refused(
    invoiced: Callable[[str], Path], scenario: Path, fleetsim: Command
) -> None:
    done = fleetsim("reconcile", invoiced(ENGLISH), "--scenario", scenario, "--decimal", ";")
    assert (done.code, done.out) == (2, "")
    assert "the decimal sign is a point or a comma" in done.err
