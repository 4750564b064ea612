"""An invoice as an .xlsx workbook: read as its CSV would be, formulas by their values, faults by place."""

import io
import re
import zipfile
from datetime import date, datetime
from decimal import Decimal

import pytest
from openpyxl import Workbook

from sim.errors import InputError
from sim.experiments.invoice_file import read_invoice
from sim.experiments.quote import quote
from sim.experiments.reconcile import reconcile
from sim.load import load_text
from tests.test_reconcile import CATALOG, GOOD, HEAD, SCENARIO, invoice

HEADER = HEAD.strip().split(",")
ROWS = [
    ["idc10000", date(2026, 1, 1), "a100-40g-custom", 2, 2800, 5600.0],
    ["idc10000", datetime(2026, 2, 1), "a100-40g-custom", 2, 2800, 5600],
    ["idc10000", "2026-03", "a100-40g-custom", 2, "2,800.00", "¥5,600.00"],
]


@pytest.fixture
def write(tmp_path):
    """Write rows to a workbook; `{"Other": rows}` for more sheets, `values`: cell -> what a formula gave."""

    def write(rows, more=None, formats=None, values=None):
        book = Workbook()
        for row in rows:
            book.active.append(row)
        for cell, shown in (formats or {}).items():
            book.active[cell].number_format = shown
        for name, others in (more or {}).items():
            sheet = book.create_sheet(name)
            for row in others:
                sheet.append(row)
        path = tmp_path / "invoice.xlsx"
        book.save(path)
        if values:
            path.write_bytes(calculated(path.read_bytes(), values))
        return path

    return write


def calculated(data: bytes, values: dict[str, tuple[str, str]]) -> bytes:
    """The workbook as a spreadsheet leaves it: with the value of each formula, and its type."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                for cell, (kind, value) in values.items():
                    found = rf'<c r="{cell}"( s="\d+")?><f>(.*?)</f><v ?/></c>'
                    put = rf'<c r="{cell}"\1 t="{kind}"><f>\2</f><v>{value}</v></c>'
                    text, times = re.subn(found.encode(), put.encode(), text)
                    assert times == 1
            new.writestr(name, text)
    return out.getvalue()


@pytest.fixture(scope="module")
def ledger():
    return quote(load_text(SCENARIO, catalog=CATALOG), 0).ledger


def test_a_workbook_is_read_as_its_csv(write, ledger, tmp_path):
    book = read_invoice(write([HEADER, *ROWS], formats={"B2": "yyyy-mm", "B3": 'yyyy"年"m"月"'}))
    text = tmp_path / "invoice.csv"
    text.write_text(invoice(*GOOD))
    assert book.lines == read_invoice(text).lines
    assert book.notes == ()
    done = reconcile(book, ledger, CATALOG.offers)
    assert done.agrees
    assert done.totals["invoice"] == 16_800


def test_days_and_decimals_are_exact(write):
    """0.1 + 0.2 has 17 digits as a double and 15 in a spreadsheet; a day that is shown is no month."""
    rows = [["start", "end", "unit price", "amount"], [date(2026, 1, 1), date(2026, 1, 31), 1e-7, 0.1 + 0.2]]
    (line,) = read_invoice(write(rows)).lines
    assert (line.span.start, line.span.end) == (date(2026, 1, 1), date(2026, 1, 31))
    assert (line.amount, line.unit_price) == (Decimal("0.3"), Decimal("0.0000001"))


def test_rows_are_those_of_the_sheet_and_sums_are_no_lines(write):
    rows = [[], HEADER, [], ROWS[0], [None, None], ROWS[2], ["合计", None, None, None, None, 11200]]
    found = read_invoice(write(rows))
    assert [line.line for line in found.lines] == [4, 6]
    assert found.stated_total == 11_200


def test_a_formula_counts_with_the_value_that_it_was_calculated_to(write):
    rows = [HEADER, [*ROWS[0][:5], "=D2*E2"], ROWS[1]]
    found = read_invoice(write(rows, values={"F2": ("n", "5600")}))
    assert [line.amount for line in found.lines] == [5600, 5600]
    assert found.notes[0].startswith("Formulas: 1 cells of the sheet, read with the values")


def test_a_formula_without_a_value_is_refused_with_its_cell(write):
    rows = [HEADER, ROWS[0], [*ROWS[1][:5], "=D3*E3"]]
    with pytest.raises(InputError) as told:
        read_invoice(write(rows))
    problem = told.value.problems[0]
    assert (problem.line, problem.key, problem.value) == (3, "column 6", "=D3*E3")
    assert "a formula without a value" in problem.rule


def test_an_error_is_refused_with_its_cell(write):
    rows = [HEADER, [*ROWS[0][:5], "=1/0"]]
    with pytest.raises(
        InputError, match=r"invoice\.xlsx:2: column 6: a cell with an error has no value.*#DIV"
    ):
        read_invoice(write(rows, values={"F2": ("e", "#DIV/0!")}))


def test_the_first_sheet_or_the_one_that_is_named(write):
    path = write([["notes"], ["thanks"]], more={"Lines": [HEADER, *ROWS]})
    with pytest.raises(InputError, match="column of amounts"):
        read_invoice(path)
    found = read_invoice(path, sheet="Lines")
    assert len(found.lines) == 3
    assert found.notes == ()
    with pytest.raises(InputError, match=r"--sheet: the workbook has no such sheet.*known: Sheet, Lines"):
        read_invoice(path, sheet="Line")
    both = write([HEADER, *ROWS], more={"Terms": [["x"]]})
    assert read_invoice(both).notes == (
        "Only the first sheet is read, 'Sheet'; another one is named by --sheet.",
    )


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], "the invoice is empty: it has no header"),
        ([HEADER], "it has a header and no lines"),
        ([HEADER, [*ROWS[0][:5], "abc"]], ":2: row 1, amount: an amount is a number"),
        ([HEADER, [*ROWS[0][:5], True]], ":2: row 1, amount: an amount is a number"),
        ([HEADER, ROWS[0][:5]], ":2: row 1, amount: a line needs an amount"),
        ([HEADER, [*ROWS[0], 7]], ":2: row 1: a row has as many cells as the header"),
        ([["amount", "currency"], [5, "USD"]], "the ledger is in CNY"),
    ],
)
def test_faults_have_their_row_and_column(write, rows, told):
    with pytest.raises(InputError) as refused:
        read_invoice(write(rows))
    assert told in str(refused.value)


def test_what_is_no_workbook_is_refused(tmp_path, monkeypatch, write):
    whole = write([HEADER, *ROWS])
    data = whole.read_bytes()
    place = tmp_path / "broken.xlsx"
    for cut in range(4, len(data), 97):
        place.write_bytes(data[:cut])
        with pytest.raises(InputError, match="damaged"):
            read_invoice(place)
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("invoice.csv", HEAD)
    with pytest.raises(InputError, match="zip archive and no workbook"):
        read_invoice(place)
    with zipfile.ZipFile(place, "w") as archive, zipfile.ZipFile(whole) as good:
        for name in good.namelist():
            archive.writestr(name, good.read(name) if "sheet1" not in name else b"<broken")
    with pytest.raises(InputError, match="the workbook cannot be read on"):
        read_invoice(place)
    place.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(100))
    with pytest.raises(InputError, match=r"an \.xlsx workbook or a CSV text"):
        read_invoice(place)
    monkeypatch.setattr("sim.experiments.invoice_sheet.MOST_ROWS", 2)
    with pytest.raises(InputError, match="at most 2 rows"):
        read_invoice(whole)
    monkeypatch.setattr("sim.experiments.invoice_sheet.MOST_UNPACKED", 100)
    with pytest.raises(InputError, match="too large"):
        read_invoice(whole)


def test_the_command(write, fleetsim, tmp_path):
    scenario = tmp_path / "three.yaml"
    scenario.write_text(SCENARIO)
    book = write([["x"], [1]], more={"Lines": [HEADER, *ROWS]})
    told = fleetsim("reconcile", book, "--scenario", scenario, "--sheet", "Lines", "--strict")
    assert told.code == 0, told.err
    assert "lines that agree to the cent: 3" in told.out
    text = tmp_path / "invoice.csv"
    text.write_text(invoice(*GOOD))
    told = fleetsim("reconcile", text, "--scenario", scenario, "--sheet", "Lines")
    assert told.code == 2
    assert "--sheet" in told.err
    assert "Traceback" not in told.err
