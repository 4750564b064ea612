"""The workbook: numbers that are numbers, formulas that lead to the lines, texts that are no formulas."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.utils import range_boundaries

from sim.errors import RunError
from sim.experiments import store
from sim.experiments.compare import compare
from sim.experiments.stored import open_run
from sim.load import load_text
from sim.report.workbook import workbook
from sim.report.workbook_file import Book
from sim.report.workbook_table import Column, Formula
from tests.test_stored import MIXED

ORDER = ["Summary", "Cash flow", "Invoices", "Ledger", "Assumptions", "Comparison", "Indicators"]
NAMES = ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "#REF!", "'quoted", "'=x", "plain", "<5", "名前"]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A stored run and its workbook."""
    home = tmp_path_factory.mktemp("books")
    run = open_run(store.save(compare(load_text(MIXED)), home))
    workbook(run).save(home / "book.xlsx")
    return run, home / "book.xlsx"


def read(path: Path, values: bool = True) -> Any:
    return openpyxl.load_workbook(path, data_only=values)


# -- Formulas, worked out here ----------------------------------------------------------------------

RANGE = r"'(?P<sheet{0}>[^']+)'!(?P<cells{0}>\$?[A-Z]+\$?\d+(?::\$?[A-Z]+\$?\d+)?)"


class Calculator:
    """Works out the few kinds of formulas that the workbook has, from the cells that hold numbers."""

    def __init__(self, path: Path) -> None:
        self.book = read(path, values=False)

    def cells(self, sheet: str, place: str) -> Iterator[Any]:
        left, top, right, bottom = range_boundaries(place.replace("$", ""))
        for row in range(top, bottom + 1):
            for column in range(left, right + 1):
                yield self.value(sheet, self.book[sheet].cell(row, column).value)

    def value(self, sheet: str, value: Any) -> Any:
        if not (isinstance(value, str) and value.startswith("=")):
            return Decimal(str(value)) if isinstance(value, int | float) else value
        if (ratio := re.fullmatch(r"=ROUND\((1-)?([^/()]+)/([^/()]+),(\d)\)", value)) is not None:
            less, above, below, places = ratio.groups()
            share = self.term(sheet, above) / self.term(sheet, below)
            return (1 - share if less else share).quantize(Decimal(1).scaleb(-int(places)), ROUND_HALF_UP)
        text = re.sub(r"'([^']+)'!", lambda found: found[0].replace("+", "&").replace("-", "~"), value[1:])
        total = Decimal(0)
        for sign, term in re.findall(r"([+-]?)((?:SUMIFS?\([^)]*\))|[^+-]+)", text):
            total += self.term(sheet, term) * (-1 if sign == "-" else 1)
        return total

    def term(self, sheet: str, term: str) -> Decimal:
        if term.startswith("SUMIFS("):
            first, *criteria = term[7:-1].split(",")
            amounts = list(self.named(sheet, first))
            for where, equals in zip(criteria[::2], criteria[1::2], strict=True):
                wanted = Decimal(equals) if equals.isdigit() else next(self.named(sheet, equals))
                keys = list(self.named(sheet, where))
                amounts = [a if k == wanted else None for a, k in zip(amounts, keys, strict=True)]
            return sum((a for a in amounts if a is not None), Decimal(0))
        if term.startswith("SUM("):
            return sum((a for a in self.named(sheet, term[4:-1]) if a is not None), Decimal(0))
        return next(self.named(sheet, term))

    def named(self, sheet: str, text: str) -> Iterator[Any]:
        found = re.fullmatch(RANGE.format(0), text)
        return self.cells(found["sheet0"], found["cells0"]) if found else self.cells(sheet, text)


def test_the_sheets_stand_in_their_order_with_their_heads_in_view(mixed):
    book = read(mixed[1])
    assert book.sheetnames == ORDER
    for sheet in book:
        assert sheet.freeze_panes
        head = int(re.sub("[A-Z]", "", sheet.freeze_panes)) - 1
        assert sheet.cell(head, 1).value in ("strategy no", "invoice no", "strategy")
        widths = [sheet.column_dimensions[cell.column_letter].width for cell in sheet[head]]
        assert all(9 <= width <= 90 for width in widths)


def test_every_formula_comes_to_the_value_beside_it(mixed):
    calculator, values = Calculator(mixed[1]), read(mixed[1])
    checked = 0
    for sheet in calculator.book:
        for row in sheet.iter_rows():
            for cell in row:
                if isinstance(cell.value, str) and cell.value.startswith("="):
                    shown = Decimal(str(values[sheet.title][cell.coordinate].value))
                    assert calculator.value(sheet.title, cell.value) == shown, (sheet.title, cell.coordinate)
                    checked += 1
    assert checked > 30


def test_the_ledger_sheet_is_the_ledger(mixed):
    run, path = mixed
    sheet = read(path)["Ledger"]
    head = int(sheet.freeze_panes[1:]) - 1
    names = [cell.value for cell in sheet[head]]
    rows = [dict(zip(names, row, strict=True)) for row in sheet.iter_rows(head + 1, values_only=True)]
    expected = [(name, charge) for name in run.strategies for charge in run.ledger(name).charges]
    assert len(rows) == len(expected) > 5
    for row, (name, charge) in zip(rows, expected, strict=True):
        assert row["strategy"] == ("'=annual" if name == "=annual" else name)
        assert Decimal(str(row["billed"])) == charge.billed_cost
        assert Decimal(str(row["accrued"])) == charge.accrued_cost
        # Excel keeps times to the millisecond.
        assert abs(row["period from"] - charge.period_start.replace(tzinfo=None)) < timedelta(milliseconds=1)
        assert row["rule"] == charge.rule
        assert Decimal(str(row["to pay"])) == (0 if charge.sunk else charge.billed_cost)
    billed = sheet.cell(head - 1, names.index("billed") + 1)
    assert Decimal(str(billed.value)) == sum(charge.billed_cost for _, charge in expected)
    assert billed.number_format == "#,##0.00"


def test_the_summary_says_what_the_ledgers_come_to(mixed):
    run, path = mixed
    sheet = read(path)["Summary"]
    head = int(sheet.freeze_panes[1:]) - 1
    names = [cell.value for cell in sheet[head]]
    for name, row in zip(run.strategies, sheet.iter_rows(head + 1, values_only=True), strict=True):
        shown, ledger = dict(zip(names, row, strict=True)), run.ledger(name)
        assert Decimal(str(shown["accrued"])) == ledger.accrued
        assert Decimal(str(shown["committed"])) == ledger.committed
        assert Decimal(str(shown["paid within"])) == ledger.cash
        assert shown["invoiced less billed"] == 0
    first = sheet.cell(head + 2, 1).row
    # Three cards, annual since 31 July 2025 at 0.8 x 2,800 - 100 a month: all of it was paid before.
    assert sheet.cell(first, names.index("billed") + 1).value == 0
    assert run.ledger("=annual").charges[0].billed_cost == 3 * 12 * 2140


def rows_of(path: Path, title: str) -> list[dict[str, Any]]:
    sheet = read(path)[title]
    head = int(sheet.freeze_panes[1:]) - 1
    names = [cell.value for cell in sheet[head]]
    return [dict(zip(names, row, strict=True)) for row in sheet.iter_rows(head + 1, values_only=True)]


def test_the_summary_has_the_indicators(mixed):
    run, path = mixed
    row = rows_of(path, "Summary")[1]
    # Three cards for 40 days, all prepaid; what jobs held is what the machines of the run say.
    busy = sum(record.busy_card_us for record in run.leases("=annual")) / 3.6e9
    accrued = float(run.ledger("=annual").accrued)
    assert row["card-hours committed"] == 3 * 40 * 24
    assert row["card-hours used"] == row["committed card-hours used"] == pytest.approx(busy, abs=1e-5)
    assert row["commitment coverage"] == 1
    assert row["commitment utilisation"] == pytest.approx(busy / 2880, abs=1e-6)
    assert row["waste"] == pytest.approx(accrued * (1 - busy / 2880), abs=0.01)
    assert row["effective hourly rate, used"] == pytest.approx(accrued / busy, abs=1e-6)
    # 0.8 x 2,800 - 100 instead of 2,800; no price by the hour to compare with.
    saved = "effective savings rate, (contracted - effective) / contracted"
    assert row[saved] == pytest.approx(1 - 2140 / 2800, abs=1e-5)
    assert row["effective savings rate, 1 - actual / on demand"] is None
    told = {(one["strategy"], one["indicator"]): one for one in rows_of(path, "Indicators")}
    assert len(told) == 2 * 9
    assert told["'=annual", "commitment utilisation"]["value"] == row["commitment utilisation"]
    assert told["'=annual", "waste"]["value"] == row["waste"]
    assert told["'=annual", "waste"]["unit"] == "CNY"
    assert "cannot be rented by the hour" in told["'=annual", "price on demand"]["meaning"]


def test_without_the_run_the_indicators_are_left_out(mixed, tmp_path, monkeypatch):
    def changed(*_: object) -> None:
        msg = "the catalogue has changed"
        raise RunError(msg)

    monkeypatch.setattr("sim.report.workbook_indicators.again", changed)
    workbook(mixed[0]).save(tmp_path / "book.xlsx")
    row = rows_of(tmp_path / "book.xlsx", "Summary")[1]
    assert row["commitment utilisation"] is None
    assert Decimal(str(row["accrued"])) == mixed[0].ledger("=annual").accrued
    sheet = read(tmp_path / "book.xlsx")["Indicators"]
    assert sheet["A2"].value == "Indicators are left out: the catalogue has changed."
    assert rows_of(tmp_path / "book.xlsx", "Indicators") == []


def test_cash_flow_ends_with_nothing_prepaid(mixed):
    run, path = mixed
    sheet = read(path)["Cash flow"]
    head = int(sheet.freeze_panes[1:]) - 1
    rows = list(sheet.iter_rows(head + 1, values_only=True))
    for number, name in enumerate(run.strategies, 1):
        own = [row for row in rows if row[0] == number]
        assert own[0][3] == "paid before"
        assert own[-1][3] == "after the horizon"
        assert own[-1][8] == 0
        ledger = run.ledger(name)
        assert sum(Decimal(str(row[5])) for row in own if row[4]) == ledger.cash
    # 40 days from 30 January: the prepaid share of the horizon stands at the beginning, 40 of 365 days.
    opening = next(row for row in rows if row[0] == 2)
    assert opening[8] == pytest.approx(3 * 12 * 2140 * 40 / 365, abs=0.01)


# -- Texts, numbers, times ---------------------------------------------------------------------------


def save(tmp_path: Path, columns: list[Column], rows: list[Any], most_rows: int = 1000, **more: Any) -> Path:
    book, path = Book(most_rows), tmp_path / "book.xlsx"
    said = more.get("said", [])
    book.add(book.place(more.get("title", "Table"), columns, len(rows), len(said)), rows, said)
    book.save(path)
    return path


def test_texts_never_become_formulas_or_errors_and_amounts_stay_numbers(tmp_path):
    columns = [Column("=name"), Column("amount", "money", total=True)]
    path = save(tmp_path, columns, [(name, Decimal("-12.50")) for name in NAMES], said=["=said", "+too"])
    sheet = read(path, values=False)["Table"]
    texts = [cell for row in sheet.iter_rows(max_col=1) for cell in row if cell.value is not None]
    assert {cell.data_type for cell in texts} == {"s"}
    assert [cell.value for cell in texts][:3] == ["Table", "'=said", "'+too"]
    shown = [cell.value for cell in texts][-len(NAMES) :]
    assert shown[:6] == ["'=1+1", "'+1+1", "'-2+3", "'@SUM(A1)", "'\t=1", "'\n=1"]
    assert shown[6:] == ["#REF!", "'quoted", "''=x", "plain", "<5", "名前"]
    amounts = [sheet.cell(row, 2) for row in range(7, 7 + len(NAMES))]
    assert {(cell.value, cell.data_type, cell.number_format) for cell in amounts} == {
        (-12.5, "n", "#,##0.00")
    }
    assert read(path)["Table"]["B5"].value == -12.5 * len(NAMES)
    # In the file itself no text begins with a sign of formulas.
    with zipfile.ZipFile(path) as archive:
        data = archive.read("xl/worksheets/sheet1.xml").decode()
    assert not re.search(r"<t[^>]*>[=+@-]", data)
    assert re.findall("<f>(.*?)</f>", data) == ["SUM(B7:B18)"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b\x0bc\x1f", "a\ufffdb\ufffdc\ufffd"),
        ("\ud800x", "\ufffdx"),
        ("two\r\nlines\rthree", "two\nlines\nthree"),
        ("x" * 40_000, "x" * 32_764 + "..."),
        ("<&>\"'", "<&>\"'"),
        (" spaces ", " spaces "),
    ],
)
def test_any_text_can_be_written(tmp_path, text, shown):
    assert read(save(tmp_path, [Column("text")], [(text,)]))["Table"]["A5"].value == shown


def test_times_are_times_of_the_wall_and_empty_is_empty(tmp_path):
    from zoneinfo import ZoneInfo

    moment = datetime(2026, 1, 31, 23, 59, 59, tzinfo=ZoneInfo("Asia/Shanghai"))
    columns = [
        Column("at", "time"),
        Column("month", "month"),
        Column("count", "count"),
        Column("exact", "number"),
    ]
    rows = [(moment, date(2026, 1, 1), 3, Decimal("0.333333333333")), (None, None, None, None)]
    sheet = read(save(tmp_path, columns, rows))["Table"]
    assert sheet["A5"].value == datetime(2026, 1, 31, 23, 59, 59)
    assert (sheet["A5"].number_format, sheet["B5"].number_format) == ("yyyy-mm-dd hh:mm", "yyyy-mm")
    assert (sheet["B5"].value, sheet["C5"].value, sheet["D5"].value) == (
        datetime(2026, 1, 1),
        3,
        0.333333333333,
    )
    assert [cell.value for cell in sheet[6]] == [None] * 4


def test_a_total_over_something_else_than_decimals_is_a_fault_of_the_program(tmp_path):
    with pytest.raises(TypeError, match="whole numbers and decimals"):
        save(tmp_path, [Column("x", "money", total=True)], [(0.1,)])
    book = Book()
    with pytest.raises(ValueError, match="planned with other rows"):
        book.add(book.place("Table", [Column("x")], 2), [("one",)])


# -- Many rows ---------------------------------------------------------------------------------------


def sums(path: Path) -> tuple[Decimal, int, list[int]]:
    """Sum and number of the amounts in the last column, and the rows of each sheet, one by one."""
    book = openpyxl.load_workbook(path, read_only=True)
    total, count, rows = Decimal(0), 0, []
    for sheet in book:
        last = 0
        for last, row in enumerate(sheet.iter_rows(values_only=True), 1):
            if last > 4 and row[-1] is not None:
                total, count = total + Decimal(str(row[-1])), count + 1
        rows.append(last)
    book.close()
    return total, count, rows


@pytest.mark.parametrize(("rows", "sheets"), [(0, 1), (1, 1), (15, 1), (16, 2), (30, 2), (31, 3), (100, 7)])
def test_rows_beyond_a_sheet_go_on_on_the_next(tmp_path, rows, sheets):
    columns = [Column("no", "count"), Column("amount", "money", total=True)]
    data = [(number, Decimal("0.01")) for number in range(rows)]
    path = save(tmp_path, columns, data, most_rows=20, said=["said"])
    book = read(path)
    assert book.sheetnames == ["Table", *(f"Table {number}" for number in range(2, sheets + 1))]
    assert all(sheet.max_row <= 20 for sheet in book)
    numbers = [row[0] for sheet in book for row in sheet.iter_rows(6, values_only=True) if row[0] is not None]
    assert numbers == list(range(rows))
    assert sum(Decimal(str(sheet["B4"].value)) for sheet in book) == rows * Decimal("0.01")
    notes = [sheet["A3"].value for sheet in book]
    if sheets == 1:
        assert notes == [None]
    else:
        assert notes[0].startswith(
            f"Rows 1 to 15 of {rows}, for a sheet holds no more; they go on on the sheet Table 2."
        )
        assert notes[-1].startswith(
            f"Rows {15 * (sheets - 1) + 1} to {rows} of {rows}, for a sheet holds no more."
        )


def test_a_run_split_over_many_sheets_has_the_same_totals(mixed, tmp_path):
    run, path = mixed
    workbook(run, most_rows=14).save(tmp_path / "split.xlsx")
    assert len(read(tmp_path / "split.xlsx").sheetnames) > 8
    calculator = Calculator(tmp_path / "split.xlsx")
    whole = read(path)["Summary"]
    first = int(whole.freeze_panes[1:])
    sheet = calculator.book["Summary"]
    for row in range(first, first + 2):
        for column in range(3, 10):
            found = calculator.value("Summary", sheet.cell(row, column).value)
            assert found == Decimal(str(whole.cell(row, column).value))


@pytest.mark.long
@pytest.mark.parametrize("rows", [1_048_575, 1_048_576, 1_048_577])
def test_a_million_rows_are_all_there(tmp_path, rows):
    """Known fault: other tools drop what passes the end of an Excel sheet."""

    class Many:
        def __len__(self) -> int:
            return rows

        def __getitem__(self, place: int) -> tuple[int, Decimal]:
            if place >= rows:
                raise IndexError
            return place, Decimal("0.01")

    columns = [Column("no", "count"), Column("amount", "money", total=True)]
    path = save(tmp_path, columns, Many(), most_rows=1_000_000)
    total, count, sheets = sums(path)
    assert (total, count) == (rows * Decimal("0.01"), rows)
    assert len(sheets) == 2
    assert max(sheets) <= 1_000_000


# -- The file ----------------------------------------------------------------------------------------


def test_the_same_run_has_the_same_bytes_at_another_time(mixed, tmp_path, monkeypatch):
    run, path = mixed
    monkeypatch.setenv("TZ", "America/New_York")
    monkeypatch.setattr("time.time", lambda: 1.9e9)
    workbook(run).save(tmp_path / "again.xlsx")
    assert (tmp_path / "again.xlsx").read_bytes() == path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        assert {info.date_time for info in archive.infolist()} == {(2000, 1, 1, 0, 0, 0)}
        assert set(re.findall(rb"\d{4}-\d\d-\d\dT", archive.read("docProps/core.xml"))) == {b"2000-01-01T"}


def test_a_file_that_cannot_be_written_is_one_message_and_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("in the way")
    book = Book()
    book.add(book.place("Table", [Column("x")], 1), [("one",)])
    with pytest.raises(RunError, match=r"cannot be written to .*choose another"):
        book.save(tmp_path / "file" / "book.xlsx")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_command_writes_the_book(mixed, fleetsim, tmp_path):
    run, path = mixed
    told = fleetsim("workbook", run.folder, "-o", tmp_path / "new" / "book.xlsx")
    assert told.code == 0, told.err
    assert ", ".join(ORDER) in " ".join(told.out.split())
    assert (tmp_path / "new" / "book.xlsx").read_bytes() == path.read_bytes()
    told = fleetsim("workbook", run.folder, "-o", tmp_path / "book.xlsx", "--format", "json")
    assert '"sheets"' in told.out


def test_the_command_refuses_other_endings_and_other_folders(mixed, fleetsim, tmp_path):
    told = fleetsim("workbook", mixed[0].folder, "-o", tmp_path / "book.xls")
    assert told.code == 2
    assert "known: .xlsx" in told.err
    told = fleetsim("workbook", tmp_path, "-o", tmp_path / "book.xlsx")
    assert told.code == 2
    assert "not the folder of a run" in told.err
    assert list(tmp_path.iterdir()) == []


def test_a_formula_in_what_is_said_has_its_value(tmp_path):
    path = save(tmp_path, [Column("x")], [("one",)], said=[("sum", Formula("1+2", 3))])
    assert read(path)["Table"]["B2"].value == 3
