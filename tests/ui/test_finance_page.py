"""The page `finance`: its figures are those of the command line, or of a pencil where one can do it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import openpyxl
import pytest

from sim.cli import main
from sim.ui.finance_files import FILES
from tests.ui.study_cases import amount, asked, finish, make_home, page, texts

TWO = "2 × A100 40G custom node"


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(make_home(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def run_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the comparison was run."""
    home = make_home(tmp_path_factory.mktemp("finance"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        with pytest.raises(SystemExit):
            main(["compare", "scenarios/small.yaml", "--jobs", "1"])
    return home


@pytest.fixture
def run(run_home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The run's name."""
    monkeypatch.chdir(run_home)
    place = next(run_home.glob("outputs/*/*/comparison.json"))
    return f"{place.parent.parent.name}/{place.parent.name}"


def test_annual_against_monthly_by_pencil_and_command(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = page("finance").run()
    assert not found.exception
    # two cards for 12 months: 2 x 12 x 2,800, and 0.80 of it; equal at 12 x 0.80 = 9.6 months
    said = texts(found)
    assert f"{TWO}, 12 months: annual is the cheapest, at 53,760 CNY" in said
    assert "13,440 CNY (20.0 %) less than monthly (67,200 CNY)" in said
    assert "once the cards are kept 10 months or longer" in said
    assert "break even at 9.6 months" in said
    words = ("breakeven", "--offer", "a100-40g-custom", "--count", "2", "--plans", "monthly,annual")
    told = asked(capsys, *words)
    table = found.dataframe[0].value
    for row, way in zip(table.to_dict("records"), told["ways"], strict=True):
        assert row["Plan"] == way["name"]
        assert amount(row["Paid over 12 months"]) == way["cost"]
        assert amount(row["Worth today"]) == pytest.approx(way["present_value"], abs=0.005)
        assert amount(row["A card-hour rented"]) == pytest.approx(way["effective_hour"], abs=0.005)
    pair = told["pairs"][0]
    assert amount(table["Saving, worth today"][1]) == pytest.approx(pair["npv_saving"], abs=0.005)
    assert table["Return on paying ahead"][1] == f"{100 * pair['irr_yearly']:.1f} % a year"
    assert table["Cheaper if kept from month"][1] == str(pair["cheaper_from_month"])


def test_an_early_end_and_a_refund_change_the_answer(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = page("finance", finance_end="months", finance_chance_months=90.0).run()
    found.multiselect(key="finance_end_in_12").set_value([3]).run()
    assert not found.exception
    # 0.9 x 3 x 5,600 + 0.1 x 67,200 = 21,840 against 53,760
    risk = found.dataframe[1].value
    assert list(risk["Expected cost"]) == ["21,840.00 CNY", "53,760.00 CNY"]
    assert "monthly has the least expected cost: 21,840 CNY" in texts(found)
    found = page("finance", finance_end="hazard").run()
    words = ("breakeven", "--offer", "a100-40g-custom", "--count", "2", "--end-hazard", "5%")
    ways = asked(capsys, *words)["downside"]["ways"]
    for row in found.dataframe[1].value.to_dict("records"):
        assert amount(row["Expected cost"]) == pytest.approx(ways[row["Plan"]]["expected_cost"], abs=0.005)
    found.selectbox(key="finance_refund").select("pro-rata").run()
    assert "annual is cheaper than monthly whenever the project ends" in texts(found)


def test_plans_months_and_rate_can_be_changed(small: Path) -> None:
    found = page("finance").run()
    found.slider(key="finance_months_12").set_value(6)
    found.number_input(key="finance_rate").set_value(0.0)
    found.multiselect(key=f"finance_plans_{TWO}").set_value(["monthly", "quarterly", "annual"])
    found.selectbox(key="finance_end").select("none").run()
    assert not found.exception
    table = found.dataframe[0].value
    # 6 months: 33,600; quarterly 2 x 2 x 3 x 2,800 x 0.95; a whole year is owed under the annual plan
    assert list(table["Paid over 6 months"]) == ["33,600.00 CNY", "31,920.00 CNY", "53,760.00 CNY"]
    assert list(table["Worth today"]) == list(table["Paid over 6 months"])
    found.multiselect(key=f"finance_plans_{TWO}").set_value(["annual"]).run()
    assert "Pick two plans" in texts(found)
    found.multiselect(key=f"finance_plans_{TWO}").set_value(["monthly", "annual"]).run()
    found.segmented_control(key="finance_ways_view").set_value("cost").run()
    assert not found.exception
    assert "Accrual: each payment spread" in texts(found)


def test_a_link_of_a_deleted_run_says_so(run: str) -> None:
    found = page("finance")
    found.query_params["run"] = f"{run.split('/')[0]}/0123456789ab"
    found.run()
    assert not found.exception
    assert found.warning[0].value.startswith("The link names a result that is not on this machine")
    found.query_params["run"] = run
    assert not found.run().warning


def test_a_quote_stands_in_until_there_is_a_run(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = page("finance", finance_part="books", finance_strategy="three cards, monthly").run()
    assert not found.exception
    told = asked(capsys, "quote", "--scenario", "scenarios/small.yaml", "--strategy", "three cards, monthly")
    totals = found.dataframe[0].value.set_index("Strategy").loc["three cards, monthly"]
    for column, key in (
        ("Cash", "cash_cny"),
        ("Accrued cost", "accrued_cny"),
        ("Committed", "committed_cny"),
    ):
        assert amount(totals[column]) == told[key]
    ledger = found.dataframe[3].value
    assert list(ledger["Billed (CNY)"]) == [line["billed_cny"] for line in told["charges"]]
    assert "what its leases cost, billed as in a run" in texts(found)


def test_the_ledger_of_a_run_can_be_filtered(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    state = {"finance_part": "books", "finance_strategy": "three cards, monthly"}
    found = page("finance", **state)
    found.query_params["run"] = run
    found.run()
    assert not found.exception
    assert "from a finished run" in texts(found)
    told = asked(capsys, "costs", f"outputs/{run}", "--strategy", "three cards, monthly")
    months = found.dataframe[1].value
    for row, month in zip(months.to_dict("records"), told["months"], strict=False):
        assert amount(row["Cash"]) == month["cash_cny"]
        assert amount(row["Accrued cost"]) == month["accrued_cny"]
        assert amount(row["Prepaid at the end"]) == month["prepaid_balance_cny"]
    whole = len(found.dataframe[3].value)
    found.text_input(key="finance_search").set_value("for 2026-02-01").run()
    assert 0 < len(found.dataframe[3].value) < whole
    found.multiselect(key="finance_only_three cards, monthly").set_value(["prepaid period"])
    found.segmented_control(key="finance_basis").set_value("cost").run()
    assert not found.exception


def test_cost_by_team_is_that_of_the_command_and_is_kept(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = page("finance", finance_part="teams")
    found.query_params["run"] = run
    found.run()
    found.button(key="finance_ask_costs").click().run()
    finish("costs")
    again = page("finance", finance_part="teams")
    again.query_params["run"] = run
    again.query_params["job"] = found.query_params["job"]
    again.run()
    fresh = page("finance", finance_part="teams")  # another tab: the answer was kept
    fresh.query_params["run"] = run
    fresh.run()
    told = asked(capsys, "costs", f"outputs/{run}", "--strategy", "two cards, annual")
    for one in (again, fresh):
        assert not one.exception
        table = one.dataframe[0].value
        assert list(table["Team"]) == [group["name"] for group in told["groups"]]
        assert amount(table["Total"][0]) == pytest.approx(told["groups"][0]["total_cny"], abs=0.005)
        coverage = told["indicators"]["commitment_coverage"]["value"]
        assert one.metric[0].value == f"{100 * coverage:.1f} %"
        assert amount(one.metric[2].value) == pytest.approx(told["indicators"]["waste"]["value"], abs=0.005)


def test_how_many_to_commit_is_that_of_the_command(run: str) -> None:
    found = page("finance", finance_part="teams")
    found.query_params["run"] = run
    found.run()
    found.button(key="finance_ask_commit").click().run()
    words = finish("commit")
    assert words[:2] == ("commit", "scenarios/small.yaml")
    again = page("finance", finance_part="teams")
    again.query_params["run"] = run
    again.query_params["job"] = found.query_params["job"]
    again.run()
    assert not again.exception
    kept = [json.loads(file.read_text()) for file in Path("outputs/.views").glob("*.json")]
    told = next(one for one in kept if "newsvendor" in one)
    assert f"Commit {told['newsvendor']} of a100-40g-custom annual" in texts(again)


def test_owning_is_that_of_the_command(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = page("finance", finance_part="owning").run()
    assert not found.exception
    found.number_input(key="finance_own_capital_illustration").set_value(1_000_000.0)
    found.number_input(key="finance_own_utilisation_illustration").set_value(50.0)
    found.number_input(key="finance_own_cards_illustration").set_value(4).run()
    changes = ("--set", "capital=1000000", "--set", "utilisation=0.5", "--set", "cards=4")
    told = asked(capsys, "tco", "--rent", "a100-40g-custom:annual", *changes)
    assert f"Owning costs {told['total']:,.0f} CNY a year" in texts(found)
    assert f"{told['rents'][0]['year']:,.0f} CNY a year" in texts(found)
    assert amount(found.metric[0].value) == pytest.approx(told["useful_hour"], abs=0.005)
    assert "Price of the machines (CNY): 1,000,000 (entered here)" in texts(found)
    found.selectbox(key="finance_preset").select("article-002").run()
    assert not found.exception
    assert "article 002 section 5 trap 5" in texts(found)


def test_workbook_and_focus_are_made_by_the_commands_and_open(run: str) -> None:
    found = page("finance", finance_part="files")
    found.query_params["run"] = run
    found.run()
    found.button(key="finance_make_workbook").click().run()
    finish("workbook")
    found.button(key="finance_make_focus").click().run()
    finish("focus")
    found.run()
    assert not found.exception
    book = openpyxl.load_workbook(next(FILES.glob("*.xlsx")))
    assert len(book.sheetnames) > 4
    rows = list(csv.DictReader(next(FILES.glob("*.csv")).read_text(encoding="utf-8").splitlines()))
    total = sum(float(row["EffectiveCost"]) for row in rows)
    document = json.loads(Path("outputs", run, "comparison.json").read_text())
    assert total == pytest.approx(document["strategies"][0]["metrics"]["cost_cny"]["mean"], abs=0.01)


@pytest.mark.parametrize("part", ["ways", "books", "teams", "owning", "files"])
def test_every_part_in_chinese(small: Path, part: str) -> None:
    found = page("finance", "zh", finance_part=part).run()
    assert not found.exception
    assert "财务" in texts(found)
    assert not found.error


ABROAD = """\
offers:
  - {id: a100-40g-custom, name: A100 abroad, provider: us, gpu: A100-40G, gpus_per_unit: 1, form: node,
     wan_mbps: 100, disk_read_gb_s: 0.5, link: none, network: 10gbe, currency: USD,
     price: {unit: month, low: 400, high: 400},
     plans: {monthly: {multiplier: 1}, annual: {multiplier: 0.80}},
     status: official, source: a letter, date: 2026-11-30}
"""


@pytest.mark.parametrize(
    ("lang", "caption", "total"),
    [
        ("en", "Prices in USD are turned into CNY at 7.1, the rate of 2026-11-30", "54,528 CNY"),
        ("zh", "以 USD 报价的价格按 2026年11月30日 的汇率 7.1 折算成人民币", "54,528 元"),
    ],
)
def test_prices_in_another_currency_are_said_to_be_turned(
    small: Path, lang: str, caption: str, total: str
) -> None:
    """Two cards a year at 400 USD: 2 x 12 x 400 x 0.8 = 7,680 USD, at 7.1 54,528 CNY."""
    (small / "scenarios" / "abroad.yaml").write_text(ABROAD, encoding="utf-8")
    file = small / "scenarios" / "small.yaml"
    extra = "catalog: abroad.yaml\nexchange: {USD: {rate: 7.1, date: 2026-11-30}}\n"
    file.write_text(file.read_text(encoding="utf-8") + extra, encoding="utf-8")
    found = page("finance", lang).run()
    assert not found.exception
    said = texts(found)
    assert caption in said
    assert total in said
    assert "A100 abroad" in said
