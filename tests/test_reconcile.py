"""A real invoice against the ledger: each difference with its cause, to the cent, by pencil."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.catalog import load_catalog
from sim.errors import InputError
from sim.experiments import store
from sim.experiments.compare import compare
from sim.experiments.invoice_cells import amount
from sim.experiments.invoice_days import day, span
from sim.experiments.invoice_file import read_invoice
from sim.experiments.quote import quote
from sim.experiments.reconcile import CAUSES, reconcile
from sim.load import load_text

CATALOG = load_catalog()

SCENARIO = """\
name: Three months
start: 2026-01-01
horizon: 2026-04-01
workload: {classes: [{name: a, model: qwen-7b, method: lora, samples: 1000, rate: 1/day}]}
reliability: {profile: none}
strategies:
  - name: two nodes
    leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]
  - name: several
    leases:
      - {offer: a100-40g-custom, count: 2, plan: monthly}
      - {offer: a100-40g-cloud, count: 1, plan: monthly}
      - {offer: a100-40g-8x, count: 1, plan: annual, start: 2026-02-01}
      - {offer: h100-mig, count: 2, plan: hourly, start: 2026-03-01, end: 2026-03-03}
experiment: {replications: 2, seed: 1}
"""
"""Two nodes: 2 x 2,800 = 5,600 CNY on the first of January, February and March."""


@pytest.fixture(scope="module")
def ledgers():
    question = load_text(SCENARIO, catalog=CATALOG)
    return {name: quote(question, number).ledger for number, name in enumerate(("two nodes", "several"))}


@pytest.fixture
def write(tmp_path):
    def write(text: str, encoding: str = "utf-8") -> Path:
        path = tmp_path / "invoice.csv"
        path.write_bytes(text.encode(encoding))
        return path

    return write


HEAD = "provider,month,offer,quantity,unit price,amount\n"
GOOD = [
    "idc10000,2026-01,a100-40g-custom,2,2800.00,5600.00",
    "idc10000,2026-02,a100-40g-custom,2,2800.00,5600.00",
    "idc10000,2026-03,a100-40g-custom,2,2800.00,5600.00",
]


def invoice(*rows: str) -> str:
    return HEAD + "".join(f"{row}\n" for row in rows)


def found(path: Path, ledger, **options):
    return reconcile(read_invoice(path), ledger, CATALOG.offers, **options)


def check(done, **expected: str) -> None:
    """Totals as expected, all others 0, and the causes sum to the difference."""
    totals = done.totals
    sums = {name: Decimal(expected.get(name, 0)) for name in CAUSES}
    assert {name: totals[name] for name in CAUSES} == sums
    assert totals["difference"] == totals["invoice"] - totals["ledger"] == sum(sums.values())
    for one in done.settled:
        v = one.variance
        assert v.price + v.quantity + v.rounding + v.unexplained == v.invoice - v.ledger


def test_an_invoice_that_agrees(ledgers, write):
    done = found(write(invoice(*GOOD)), ledgers["two nodes"])
    check(done)
    assert done.agrees
    assert done.totals["invoice"] == done.totals["ledger"] == 16_800
    assert [one.match.by for one in done.settled] == ["offer and month"] * 3
    assert [[charge.id for charge in one.match.charges] for one in done.settled] == [[0], [1], [2]]


def test_one_cent_is_rounding(ledgers, write):
    done = found(write(invoice(GOOD[0].replace("5600.00", "5600.01"), *GOOD[1:])), ledgers["two nodes"])
    check(done, rounding="0.01")
    assert done.agrees


def test_two_cents_are_not(ledgers, write):
    done = found(write(invoice(GOOD[0].replace("5600.00", "5600.02"), *GOOD[1:])), ledgers["two nodes"])
    check(done, unexplained="0.02")
    assert not done.agrees


def test_a_wrong_unit_price(ledgers, write):
    wrong = "idc10000,2026-02,a100-40g-custom,2,2850.00,5700.00"
    done = found(write(invoice(GOOD[0], wrong, GOOD[2])), ledgers["two nodes"])
    check(done, price="100.00")  # 2 x (2,850 - 2,800)


def test_a_wrong_quantity(ledgers, write):
    wrong = "idc10000,2026-02,a100-40g-custom,3,2800.00,8400.00"
    check(found(write(invoice(GOOD[0], wrong, GOOD[2])), ledgers["two nodes"]), quantity="2800.00")


def test_price_quantity_and_a_cent_together(ledgers, write):
    wrong = "idc10000,2026-02,a100-40g-custom,3,2850.00,8550.01"
    done = found(write(invoice(GOOD[0], wrong, GOOD[2])), ledgers["two nodes"])
    # 3 x 50 of price, 1 x 2,800 of quantity, and 8,550.01 - 3 x 2,850 = 0.01.
    check(done, price="150.00", quantity="2800.00", rounding="0.01")


def test_an_amount_that_is_not_price_times_quantity(ledgers, write):
    wrong = "idc10000,2026-02,a100-40g-custom,2,2800.00,5650.00"
    check(found(write(invoice(GOOD[0], wrong, GOOD[2])), ledgers["two nodes"]), unexplained="50.00")


@pytest.mark.parametrize("gone", range(3))
def test_a_month_that_is_missing(ledgers, write, gone):
    rows = [row for number, row in enumerate(GOOD) if number != gone]
    done = found(write(invoice(*rows)), ledgers["two nodes"])
    check(done, missing="-5600.00")
    assert [charge.id for charge in done.missing] == [gone]
    assert any("--from and --until" in note for note in done.notes)


def test_months_can_be_compared_alone(ledgers, write):
    done = found(write(invoice(GOOD[1])), ledgers["two nodes"], months=("2026-02", "2026-02"))
    check(done)
    assert done.totals["ledger"] == 5600


def test_an_extra_fee(ledgers, write):
    done = found(write(invoice(*GOOD, "idc10000,2026-02,setup fee,1,300,300.00")), ledgers["two nodes"])
    check(done, extra="300.00")
    assert [line.category for line in done.extra] == ["fee"]


def test_a_line_billed_twice_is_extra(ledgers, write):
    done = found(write(invoice(*GOOD, GOOD[1])), ledgers["two nodes"])
    check(done, extra="5600.00")


def test_value_added_tax_on_top(ledgers, write):
    text = "月份,产品,数量,单价,金额,税率,税额,价税合计\n" + "".join(
        f"2026年{month}月,A100 40G custom node,2,2800.00,5600.00,6%,336.00,5936.00\n" for month in (1, 2, 3)
    )
    done = found(write(text), ledgers["two nodes"])
    check(done, extra="1008.00")  # 3 x 5,600 x 0.06
    assert {line.category for line in done.extra} == {"tax"}
    assert done.totals["invoice"] == Decimal("17808.00")


def test_value_added_tax_within_the_price_is_pointed_out(ledgers, write):
    wrong = GOOD[0].replace("2800.00", "2968.00").replace("5600.00", "5936.00")
    done = found(write(invoice(wrong, *GOOD[1:])), ledgers["two nodes"])
    check(done, price="336.00")
    assert "6 % higher" in done.settled[0].variance.notes[-1]


def test_tax_lines_of_the_ledger_are_matched(write):
    terms = "terms: {tax: {rate: 0.06, included: false}}"
    text = SCENARIO.replace("count: 2, plan: monthly}", f"count: 2, plan: monthly, {terms}}}")
    ledger = quote(load_text(text, catalog=CATALOG), 0).ledger
    assert sum(charge.billed_cost for charge in ledger.charges) == Decimal("17808.00")
    rows = "month,offer,amount,tax\n" + "".join(
        f"2026-0{month},a100-40g-custom,5600.00,336.00\n" for month in (1, 2, 3)
    )
    done = found(write(rows), ledger)
    check(done)
    assert sorted(one.match.lines[0].category for one in done.settled) == ["", "", "", "tax", "tax", "tax"]


def test_several_leases_of_every_kind(ledgers, write):
    rows = [
        "lease 0,2026-01-01,2026-01-31,5600.00",
        "lease 0,2026-02-01,2026-02-28,5600.00",
        "lease 0,2026-03-01,2026-03-31,5600.00",
        "lease 1,2026-01-01,2026-01-31,2500.00",
        "lease 1,2026-02-01,2026-02-28,2500.00",
        "lease 1,2026-03-01,2026-03-31,2500.00",
        "lease 2,2026-02-01,2027-01-31,306000.00",  # 30,000 x 12 x 0.85
        "lease 3,2026-03-01,2026-03-02,2000.16",  # 2 x 48 h x 20.835
    ]
    text = "contract,start date,end date,amount\n" + "\n".join(rows) + "\n"
    done = found(write(text), ledgers["several"])
    check(done)
    assert done.agrees
    # The last line of the invoice is two machines of the ledger.
    assert [len(one.match.charges) for one in done.settled] == [1] * 7 + [2]


def test_a_lease_split_by_card(ledgers, write):
    rows = [row.replace(",2,2800.00,5600.00", ",1,2800.00,2800.00") for row in GOOD for _ in (0, 1)]
    done = found(write(invoice(*rows)), ledgers["two nodes"])
    check(done)
    assert [len(one.match.lines) for one in done.settled] == [2, 2, 2]


def test_a_card_by_the_year_is_counted_in_months(ledgers, write):
    rows = "offer,start,quantity,unit price,amount\na100-40g-8x,2026-02-01,1,307200,307200\n"
    done = found(write(rows), ledgers["several"])
    one = done.settled[0].variance
    # A year at 307,200 is 25,600 a month; the ledger has 25,500: 12 x 100.
    assert (one.price, one.quantity, one.unexplained) == (Decimal(1200), 0, 0)
    assert "units of 12 unit-months" in one.notes[0]


def test_a_price_that_was_only_printed_rounded(ledgers, write):
    # 96 h at 20.835 printed as 20.84, and an hour too many: 20.84 is not another price.
    rows = "offer,month,quantity,unit price,amount\nh100-mig,2026-03,97,20.84,2021.00\n"
    done = found(write(rows), ledgers["several"])
    one = done.settled[0].variance
    assert (one.price, one.quantity) == (0, Decimal("20.84"))
    assert abs(one.rounding) <= Decimal("0.02")
    assert one.unexplained == 0


def test_without_quantities_a_difference_is_unexplained(ledgers, write):
    rows = "month,offer,amount\n2026-01,a100-40g-custom,5700\n2026-02,a100-40g-custom,5600.01\n"
    done = found(write(rows), ledgers["two nodes"], months=("2026-01", "2026-02"))
    check(done, unexplained="100.00", rounding="0.01")


def test_only_a_quantity_or_only_a_price(ledgers, write):
    rows = "month,offer,quantity,amount\n2026-01,a100-40g-custom,2,5700\n"
    check(found(write(rows), ledgers["two nodes"], months=(None, "2026-01")), price="100.00")
    rows = "month,offer,unit price,amount\n2026-01,a100-40g-custom,2800,8400\n"
    check(found(write(rows), ledgers["two nodes"], months=(None, "2026-01")), quantity="2800.00")


def test_a_refund_meets_the_refund(write):
    text = SCENARIO.replace(
        "count: 2, plan: monthly}",
        "count: 2, plan: monthly, end: 2026-03-16, terms: {refund: {rule: pro-rata}}}",
    )
    ledger = quote(load_text(text, catalog=CATALOG), 0).ledger
    (refund,) = (charge for charge in ledger.charges if charge.category == "refund")
    # 16 of 31 days were not used: 5,600 x 16 / 31.
    assert refund.billed_cost == Decimal("-2890.32")
    rows = "month,description,amount\n" + "".join(f"2026-0{m},A100 40G custom node,5600\n" for m in (1, 2, 3))
    rows += "2026-03,退款 A100 40G custom node,(2890.32)\n"
    done = found(write(rows), ledger)
    check(done)
    rows = rows.replace("(2890.32)", "-2800.00")
    check(found(write(rows), ledger), unexplained="90.32")


def test_other_providers(ledgers, write):
    rows = "vendor,month,offer,amount\n" + "".join(
        f"深圳某公司,2026-0{month},a100-40g-custom,5600\n" for month in (1, 2, 3)
    )
    done = found(write(rows), ledgers["two nodes"])
    check(done)
    assert done.notes[0].startswith("Providers are not compared: the invoice is of 深圳某公司")
    # Where one provider is known, lines of another are not its.
    rows += "idc10000,2026-03,a100-40g-custom,5600\n"
    check(found(write(rows), ledgers["two nodes"]), extra="16800", missing="-11200")


def test_words_can_be_given_a_meaning(ledgers, write):
    rows = "month,description,amount\n2026-01,专属算力卡,5600\n2026-01,云卡,2500\n"
    done = found(
        write(rows), ledgers["several"], months=("2026-01", "2026-01"),
        items={"专属算力卡": "a100-40g-custom", "云卡": "lease 1"},
    )  # fmt: skip
    check(done)
    assert [one.match.by for one in done.settled] == ["offer and month", "lease and month"]


def test_chinese_may_touch_the_names(ledgers, write):
    rows = "账期,摘要,金额\n2026-01,租用A100 40G custom node两台,5600\n2026-01,A100 40G cloud card租金,2500\n"
    rows += "2026-01,VAT税,1\n"
    done = found(write(rows), ledgers["several"], months=("2026-01", "2026-01"))
    check(done, extra="1")
    assert [one.match.charges[0].lease for one in done.settled] == ["lease 0", "lease 1"]
    assert done.extra[0].category == "tax"


def test_one_lease_is_not_taken_for_another(ledgers, write):
    rows = "contract,amount\nlease 10,5600\nlease 1,2500\n"
    done = found(write(rows), ledgers["several"], months=("2026-01", "2026-01"))
    # The ledger has no lease 10: nothing but its amount speaks for the first line.
    assert [(one.match.by, one.match.charges[0].lease) for one in done.settled] == [
        ("amount", "lease 0"),
        ("lease", "lease 1"),
    ]


def test_the_ledger_as_it_is_stored_reconciles_with_itself(tmp_path, ledgers):
    folder = store.save(compare(load_text(SCENARIO, catalog=CATALOG)), tmp_path)
    from sim.experiments.stored import open_run

    run = open_run(folder)
    lines = (folder / "ledger.csv").read_text().splitlines()
    own = [lines[0], *(line for line in lines[1:] if line.startswith("several,"))]
    (tmp_path / "own.csv").write_text("\n".join(own) + "\n")
    done = found(tmp_path / "own.csv", run.ledger("several"))
    check(done)
    assert {one.match.by for one in done.settled} == {"number of the charge"}
    assert len(done.settled) == len(run.ledger("several").charges)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(("a100-40g-custom", "A100 40G cloud card", "lease 2", "H100", "fee", "税")),
            st.sampled_from(("2026-01", "2026-02-01", "2026-03", "2026-05", "")),
            st.none() | st.integers(-3, 60),
            st.none() | st.integers(-100, 400_000),
            st.integers(-(10**8), 10**8),
            st.none() | st.integers(0, 1000),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_nothing_is_lost_and_every_cent_has_a_cause(tmp_path_factory, rows):
    question = load_text(SCENARIO, catalog=CATALOG)
    ledger = quote(question, 1).ledger
    path = tmp_path_factory.mktemp("fuzz") / "invoice.csv"
    text = "description,period,quantity,unit price,amount,tax\n"
    for words, period, quantity, price, cents, tax in rows:
        cells = (words, period, quantity, price, Decimal(cents) / 100, tax)
        text += ",".join("" if cell is None else str(cell) for cell in cells) + "\n"
    path.write_text(text)
    done = found(path, ledger)
    totals = done.totals
    assert totals["ledger"] == sum(charge.billed_cost for charge in ledger.charges)
    assert totals["invoice"] == sum(Decimal(r[4]) / 100 + (r[5] or 0) for r in rows)
    assert totals["difference"] == sum(totals[cause] for cause in CAUSES)
    charges = [c.id for one in done.settled for c in one.match.charges] + [c.id for c in done.missing]
    assert sorted(charges) == [charge.id for charge in ledger.charges]
    lines = [id(line) for one in done.settled for line in one.match.lines] + [id(line) for line in done.extra]
    assert len(lines) == len(set(lines)) == len(done.invoice.lines)


# -- Files -------------------------------------------------------------------------------------------

CHINESE = (
    "供应商,账期,产品名称,数量,单价(元),金额(元)\n"
    'idc10000,2026年1月,A100 40G custom node,2,"2,800.00","￥5,600.00"\n'
    "idc10000,2026/2/1-2026/2/28,A100 40G custom node,2,2800,5600\n"
    "idc10000,2026年3月1日至2026年3月31日,A100 40G custom node,2,2800,5600\n"
    '合计,,,,,"16,800.00"\n'
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_chinese_files_of_every_kind(ledgers, write, encoding, ends, separator):
    text = CHINESE.replace("\n", ends)
    if separator != ",":
        text = (
            text.replace('"2,800.00"', "2800")
            .replace('"￥5,600.00"', "￥5600")
            .replace('"16,800.00"', "16800")
        )
        text = text.replace(",", separator)
    done = found(write(text, encoding), ledgers["two nodes"])
    check(done)
    assert done.invoice.stated_total == 16_800
    assert len(done.settled) == 3


def test_a_stated_total_that_is_wrong_is_said(ledgers, write):
    done = found(write(invoice(*GOOD, "Total,,,,,16900.00")), ledgers["two nodes"])
    assert any("states a total of 16,900.00, and its lines sum to 16,800.00" in note for note in done.notes)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ("the invoice is empty: it has no header",)),
        (HEAD, ("it has a header and no lines",)),
        ("month,offer\n2026-01,x\n", (":1:", "column of amounts", "known: month, offer")),
        ("amount,金额\n1,2\n", (":1:", "several columns are read as amount", "amount, 金额")),
        (HEAD + "a,2026-01,x,2,2800,abc\n", (":2: row 1, amount", "an amount is a number", "abc")),
        (HEAD + 'a,2026-01,x,2,2800,"1.234,56"\na,2026-01,x,2,2800,1.5', (":2: row 1, amount", "1.234,56")),
        (HEAD + "a,2026-13,x,2,2800,5\n", (":2: row 1, month", "no such day", "2026-13")),
        (HEAD + "a,Jan,x,2,2800,5\n", (":2: row 1, month", "Jan")),
        (HEAD + GOOD[0] + "\na,2026-01,x,two,2800,5\n", (":3: row 2, quantity", "two")),
        (HEAD + "a,2026-01,x,2,2800,\n", (":2: row 1, amount", "a line needs an amount")),
        (HEAD + "a,2026-01,x,2,2800,5,6\n", (":2: row 1", "as many cells as the header")),
        (HEAD + 'a,"2026-01,x,2\n', (":2:", "not valid CSV")),
        ("amount,currency\n5,USD\n", (":2: row 1, currency", "the ledger is in CNY", "USD")),
        ("amount,start,end\n5,2026-02-30,2026-03-01\n", (":2: row 1, start", "no such day")),
        (b"\xff\xfe\x00".decode("latin-1"), ("UTF-8, UTF-16 or GB18030",)),
        ("PK\x03\x04\x00\x00", ("the workbook is damaged",)),
    ],
)
def test_bad_files_are_told_with_their_place(write, text, told):
    path = write(text, "latin-1" if "\xff" in text else "utf-8")
    with pytest.raises(InputError) as refused:
        read_invoice(path)
    for part in (str(path), *told):
        assert part in str(refused.value)


def test_every_problem_is_told_up_to_twenty(write):
    rows = "".join(f"a,2026-01,x,2,2800,bad{n}\n" for n in range(30))
    with pytest.raises(InputError) as refused:
        read_invoice(write(HEAD + rows))
    assert len(refused.value.problems) == 21
    assert "and 10 more problems" in str(refused.value)


def test_columns_can_be_named(write):
    path = write("实付,备用\n5600,1\n")
    assert read_invoice(path, {"amount": "实付"}).lines[0].amount == 5600
    with pytest.raises(InputError, match=r"no such column.*known: 实付, 备用"):
        read_invoice(path, {"amount": "应付"})
    with pytest.raises(InputError, match=r"no such field.*known: charge, provider"):
        read_invoice(path, {"sum": "实付"})
    assert read_invoice(path, {"amount": "实付"}).unread_note == "Columns that are not read: 备用."


def test_a_file_that_is_not_there_or_too_large(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="no such file"):
        read_invoice(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="cannot be read"):
        read_invoice(tmp_path)
    monkeypatch.setattr("sim.experiments.invoice_file.LARGEST", 10)
    (tmp_path / "large.csv").write_text("amount\n1234567\n")
    with pytest.raises(InputError, match="at most 10 bytes"):
        read_invoice(tmp_path / "large.csv")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2,800.00", "2800"), ("¥2,800", "2800"), ("(12.50)", "-12.5"), ("-12.5 CNY", "-12.5"), ("−3", "-3"),
        ("￥１，２３４．５６", "1234.56"), ("-¥5", "-5"), ("¥-5", "-5"), (".5", "0.5"), ("1e3", None),
        ("1,23", None), ("NaN", None), ("", None), ("12%", None), ("--5", None), ("1 234.50", "1234.5"),
    ],
)  # fmt: skip
def test_amounts(text, value):
    if value is None:
        with pytest.raises(ValueError, match="amount"):
            amount(text)
    else:
        assert amount(text) == Decimal(value)


def test_days_and_periods():
    for text in (
        "2026-01-31",
        "2026/1/31",
        "2026.1.31",
        "2026年1月31日",
        "31.01.2026",
        "31.1.2026 10:30",
        "20260131",
        "2026-01-31T23:59:59+08:00",
    ):
        assert day(text).isoformat() == "2026-01-31"
    for text in (
        "2026-01-01 to 2026-01-31",
        "2026/1/1-2026/1/31",
        "20260101-20260131",
        "2026年1月1日至2026年1月31日",
        "01.01.2026 bis 31.01.2026",
        "01.01.2026-31.01.2026",
    ):
        assert (span(text).start.isoformat(), span(text).end.isoformat()) == ("2026-01-01", "2026-01-31")
    for text in ("2026-01", "2026/1", "2026年1月"):
        assert (span(text).month, span(text).whole_month) == ("2026-01", True)
    for text in ("31/01/2026", "31.02.2026", "2026-02-30", "", "2026", "2026-01-31 to 2026-01-01"):
        with pytest.raises(ValueError, match=r"day|ends"):
            span(text)


# -- The command -------------------------------------------------------------------------------------


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "three.yaml"
    path.write_text(SCENARIO)
    return path


def test_the_command_against_a_scenario(fleetsim, scenario, write):
    wrong = "idc10000,2026-02,a100-40g-custom,2,2850.00,5700.00"
    path = write(invoice(GOOD[0], wrong, "idc10000,2026-02,setup fee,1,300,300.00"))
    told = fleetsim("reconcile", path, "--scenario", scenario)
    assert told.code == 0, told.err
    text = " ".join(told.out.split())
    assert "Lines that differ: 1; lines that agree to the cent: 1" in text
    assert "5,700.00 5,600.00 +100.00 price +100.00" in text
    assert "On the invoice alone: 1" in text
    assert "In the ledger alone: 1" in text
    assert "of it missing -5,600.00" in text
    told = fleetsim("reconcile", path, "--scenario", scenario, "--format", "json", "--strict")
    assert told.code == 1
    document = json.loads(told.out)
    assert document["totals"] == {
        "invoice_cny": 11600, "ledger_cny": 16800, "difference_cny": -5200, "price_cny": 100,
        "quantity_cny": 0, "rounding_cny": 0, "unexplained_cny": 0, "extra_cny": 300, "missing_cny": -5600,
    }  # fmt: skip
    assert document["agrees"] is False


def test_the_command_against_a_run(fleetsim, tmp_path, write):
    folder = store.save(compare(load_text(SCENARIO, catalog=CATALOG)), tmp_path / "outputs")
    told = fleetsim(
        "reconcile", write(invoice(*GOOD)), "--run", folder, "--strategy", "two nodes", "--strict"
    )
    assert told.code == 0, told.err
    assert "strategy 'two nodes', replication 0" in told.out
    assert "--strategy NAME takes another" not in told.out
    unnamed = fleetsim("reconcile", write(invoice(*GOOD)), "--run", folder)
    assert "It is the first of 2 in the run; --strategy NAME takes another." in " ".join(unnamed.out.split())
    told = fleetsim("reconcile", write(invoice(*GOOD)), "--run", folder, "--strategy", "three", "--strict")
    assert told.code == 2
    assert "known: two nodes, several" in told.err


def test_rounding_alone_is_no_difference_in_strict_mode(fleetsim, scenario, write):
    path = write(invoice(GOOD[0].replace("5600.00", "5599.99"), *GOOD[1:]))
    assert fleetsim("reconcile", path, "--scenario", scenario, "--strict").code == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "--run"),
        (["--scenario", "SCENARIO", "--run", "x"], "one of them"),
        (["--run", "nowhere"], "no run of this id below outputs"),
        (["--run", "nowhere", "--set", "x=1"], "fleetsim rebill"),
        (["--scenario", "SCENARIO", "--from", "January"], "a month is written 2026-01"),
        (["--scenario", "SCENARIO", "--column", "amount"], "FIELD=HEADER"),
        (["--scenario", "SCENARIO", "--item", "card=a100"], "known: a100-40g-custom, lease 0"),
    ],
)
def test_wrong_options_are_one_message(fleetsim, scenario, write, options, told):
    arguments = [scenario if part == "SCENARIO" else part for part in options]
    found = fleetsim("reconcile", write(invoice(*GOOD)), *arguments)
    assert found.code == 2
    assert told in found.err
    assert found.out == ""
