"""The page `fit` without a browser: its numbers are those of the command line, its form covers the job."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sim.cli import main
from sim.report.fit_answers import fit_answers, job_of
from sim.ui.fit_charts import GROUPS, memory_frame
from sim.ui.fit_work import shipped_catalog

ROOT = Path(__file__).parents[2]
SCRIPT = str(ROOT / "sim" / "ui" / "scripts" / "fit.py")


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.chdir(ROOT)
    return AppTest.from_file(SCRIPT, default_timeout=60)


def _plain(text: str) -> str:
    return text.replace("\\", "")


def test_the_numbers_are_those_of_the_command(page: AppTest, capsys: pytest.CaptureFixture[str]) -> None:
    page.run()
    assert not page.exception
    with pytest.raises(SystemExit):
        main(["fit", "--model", "codellama-34b", "--method", "qlora4", "--format", "json"])
    offers = json.loads(capsys.readouterr().out)["offers"]
    best = min((row for row in offers if row["fits"]), key=lambda row: row["run_cost"])
    said = _plain(page.success[0].value)
    assert f"{best['run_cost']:,.0f} CNY" in said
    assert f"{best['hours'] / 24:,.1f} days" in said
    table = page.dataframe[0].value
    assert len(table) == len(offers)
    assert table["A run costs"][0] == f"{best['run_cost']:,.0f} CNY"
    assert table["Needs (GiB a card)"][0] == f"{best['total_gib']:,.1f}"


def test_the_answer_names_the_kinds_of_card(page: AppTest) -> None:
    page.run()
    # The articles' own case: 34B by QLoRA needs more than the 24 GB of one RTX 3090, and less than 40 GB.
    said = _plain(page.success[0].value)
    alone, several = said.partition("One card is enough on: ")[2].split(". ", 1)
    assert "A100-40G" in alone
    assert "RTX3090" not in alone
    assert "RTX3090 × 2" in several
    page.pills(key="fit_cards").set_value([2])
    page.run()
    said = _plain(page.success[0].value)
    assert "No single card" not in said  # nobody asked about one card
    fits, misses = said.partition("It fits on: ")[2].split("It does not fit on: ")
    assert "A100-40G × 2" in fits
    assert "RTX3090 × 2" in fits
    assert "T4" in misses


def test_every_widget_changes_the_job(page: AppTest) -> None:
    page.run()
    page.selectbox(key="fit_model").select("llama-2-7b")
    page.selectbox(key="fit_method").select("full")
    page.run()
    assert not page.exception
    before = page.dataframe[0].value
    assert "fit_rank" not in [one.key for one in page.number_input]
    for key, value in (("fit_batch", 4), ("fit_sequence", 4096), ("fit_samples", 1000), ("fit_epochs", 1.0)):
        page.number_input(key=key).set_value(value)
    page.checkbox(key="fit_checkpointing").uncheck()
    page.selectbox(key="fit_optimizer").select("adamw_8bit")
    page.run()
    assert not page.exception
    job = {"model": "llama-2-7b", "method": "full", "micro_batch": 4, "seq_len": 4096, "samples": 1000,
           "epochs": 1.0, "checkpointing": False, "optimizer": "adamw_8bit"}  # fmt: skip
    catalog = shipped_catalog()
    answers = fit_answers(job_of(job, catalog), catalog)
    after = page.dataframe[0].value
    needed = sorted(f"{a.row.total_gib:,.1f}" for a in answers if a.row.total_gib is not None)
    assert sorted(cell for cell in after["Needs (GiB a card)"] if cell != "–") == needed
    assert list(after["A run costs"]) != list(before["A run costs"])


def test_what_does_not_fit_has_its_remedies(page: AppTest) -> None:
    page.run()
    page.selectbox(key="fit_method").select("full")
    page.pills(key="fit_cards").set_value([1])
    page.run()
    assert not page.exception
    assert "No" in page.warning[0].value
    assert any("Change" in table.value.columns for table in page.dataframe)


def test_a_class_of_the_question_can_be_asked_for(page: AppTest) -> None:
    page.run()
    page.segmented_control(key="fit_source").set_value("class-0")
    page.run()
    assert not page.exception
    assert page.dataframe[0].value.shape[0] >= 12


def test_in_chinese_every_heading_is(page: AppTest) -> None:
    page.query_params["lang"] = "zh"
    page.run()
    assert not page.exception
    assert "放得下" in page.title[0].value
    assert "单次费用" in page.dataframe[0].value.columns
    assert "元" in page.dataframe[0].value["单次费用"][0]


def test_the_bars_add_up_to_what_the_card_needs() -> None:
    catalog = shipped_catalog()
    job = job_of({"model": "llama-2-7b", "method": "lora", "samples": 1000}, catalog)
    answers = fit_answers(job, catalog)
    frame = memory_frame(answers)
    assert len(frame) % len(GROUPS) == 0
    sums = frame.groupby("card")["gib"].sum()
    totals = frame.groupby("card")["total_gib"].first()
    assert sums.to_dict() == pytest.approx(totals.to_dict())
    # 7 billion parameters in 16 bits: 12.55 GiB of weights.
    weights = frame[frame["sign"] == "1"]["gib"].iloc[0]
    assert weights == pytest.approx(6738415616 * 2 / 2**30, rel=0.01)


def test_a_number_that_cannot_be_is_told_at_its_box(page: AppTest) -> None:
    page.run()
    page.number_input(key="fit_batch").set_value(1e9).run()
    assert not page.exception
    assert "4,096" in _plain(page.error[0].value)
    assert not page.success  # no answer to another question than the one asked
    page.number_input(key="fit_batch").set_value(2.5).run()
    assert "whole number" in page.error[0].value
    page.number_input(key="fit_batch").set_value(2).run()
    assert page.success
    assert not page.error


def test_the_price_list_of_the_question_is_asked_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    text = (ROOT / "scenarios" / "four-to-eight.yaml").read_text(encoding="utf-8")
    own = tmp_path / "scenarios" / "own.yaml"
    own.write_text(f"{text}\ncatalog: prices/two-sellers.yaml\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    page = AppTest.from_file(SCRIPT, default_timeout=60)
    page.query_params["question"] = "own"
    page.run()
    assert not page.exception
    captions = "\n".join(_plain(str(one.value)) for one in page.caption)
    assert "Prices are those of two-sellers.yaml, the price list of this question" in captions
    offers = page.dataframe[0].value.astype(str).to_string()
    assert "seller North (example)" in offers
    page.query_params["question"] = "four-to-eight"
    page.run()
    assert "seller North" not in page.dataframe[0].value.astype(str).to_string()
    assert "the catalogue that comes with the program" in _plain(str(page.caption[1].value))
