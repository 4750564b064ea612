"""`finance`, `steps` and `sensitivity` in a real browser: both languages, three widths, the trial tasks."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import openpyxl
import pytest

from tests.ui.browser import Served, Visitor, crowding
from tests.ui.study_cases import SMALL

if TYPE_CHECKING:
    from playwright.sync_api import Browser

expect = pytest.importorskip("playwright.sync_api", reason="these tests need playwright").expect
pytestmark = pytest.mark.browser

PLACES = ("finance", "steps", "sensitivity")


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_each_page_is_drawn_whole_in_both_languages(browser: Browser, served: Served, width: int) -> None:
    visitor = Visitor.of(browser, served.url, width)
    for place in PLACES:
        for lang in ("en", "zh"):
            visitor.open(place, question="four-to-eight", lang=lang)
            expect(visitor.page.get_by_test_id("stVegaLiteChart").first).to_be_visible(timeout=60_000)
            assert visitor.boxes() == [], (place, lang)
            over = visitor.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert over <= 0, (place, lang, width)
    visitor.leave()


def test_which_is_cheaper_annual_or_monthly(visitor: Visitor) -> None:
    visitor.open("finance", question="four-to-eight")
    told = visitor.page.get_by_test_id("stAlert").first
    expect(told).to_contain_text("annual is the cheapest, at 107,520 CNY")
    expect(told).to_contain_text("kept 10 months or longer")


def test_four_to_eight_in_june_moves_with_the_slider(visitor: Visitor) -> None:
    visitor.open("steps", question="four-to-eight")
    told = visitor.page.get_by_test_id("stAlert").first
    expect(told).to_contain_text("Going from 4 to 8 cards in 2026-06")
    expect(told).to_contain_text("170,559 CNY")
    expect(told).to_contain_text("95 of 100 jobs wait less than")
    month = visitor.page.get_by_role("slider", name=re.compile("The others come in"))
    month.focus()
    began = time.perf_counter()
    month.press("ArrowLeft")
    expect(told).to_contain_text("179,691 CNY", timeout=20_000)
    assert time.perf_counter() - began < 1.0 * crowding() + 0.5  # half a second is the browser's own delay


def test_files_for_finance_open(visitor: Visitor, served: Served, tmp_path: Path) -> None:
    (served.folder / "scenarios" / "small.yaml").write_text(SMALL, encoding="utf-8")
    command = [sys.executable, "-m", "sim", "compare", "scenarios/small.yaml", "--jobs", "1"]
    subprocess.run(command, cwd=served.folder, check=True, stdout=subprocess.DEVNULL)
    visitor.open("finance", question="small")
    visitor.page.get_by_text("Files for finance", exact=True).click()
    visitor.settled()
    found = {}
    for name, ending in (("workbook", ".xlsx"), ("FOCUS file", ".csv")):
        visitor.page.get_by_role("button", name=f"Make the {name}").click()
        button = visitor.page.get_by_role("button", name=f"Download the {name}")
        expect(button).to_be_visible(timeout=120_000)
        found[name] = visitor.saved(button.click, tmp_path / f"file{ending}")
    assert len(openpyxl.load_workbook(found["workbook"]).sheetnames) > 4
    rows = list(csv.DictReader(found["FOCUS file"].read_text(encoding="utf-8").splitlines()))
    assert rows
    assert "EffectiveCost" in rows[0]


def test_a_chart_is_saved_as_a_picture_with_chinese_signs(visitor: Visitor, tmp_path: Path) -> None:
    visitor.page.set_viewport_size({"width": 1280, "height": 2400})  # the menu opens below its button
    visitor.open("finance", question="four-to-eight", lang="zh")
    visitor.page.get_by_role("button", name="保存图表").first.click()
    place = visitor.saved(
        visitor.page.get_by_role("button", name="SVG", exact=True).first.click, tmp_path / "chart.svg"
    )
    assert "月付" in place.read_text(encoding="utf-8")
    place = visitor.saved(
        visitor.page.get_by_role("button", name="CSV", exact=True).first.click, tmp_path / "chart.csv"
    )
    assert place.read_text(encoding="utf-8-sig").startswith("在第几个月后结束,")


def test_a_study_goes_on_over_a_refresh(visitor: Visitor) -> None:
    visitor.open("sensitivity", question="small")
    visitor.page.get_by_role("button", name="Find the cheapest fleet").click()
    expect(visitor.page).to_have_url(re.compile(r"[?&]job="), timeout=60_000)  # the server has taken it
    visitor.page.reload()
    visitor.settled()
    expect(visitor.page.get_by_text("Options considered").first).to_be_visible(timeout=240_000)
    expect(visitor.page.get_by_test_id("stAlert").first).to_contain_text("Rent")
