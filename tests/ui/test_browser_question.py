"""Question and workload in a real browser: edit, link, uploads good and bad, download, both languages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sim.load import load
from sim.ui.language import catalogue
from tests.conftest import TWO_JOBS
from tests.ui.browser import Served, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

expect = pytest.importorskip("playwright.sync_api", reason="these tests need playwright").expect
pytestmark = pytest.mark.browser

TRACE = "id,submit_s,gpus,runtime_s\na,0,1,3600\nb,0,1,3600\n"
SLOW = 60_000
"""Milliseconds that a loaded machine may take."""


def _own(name: str) -> re.Pattern[str]:
    """What a question of one's own is called in the list: its name, and when it was kept."""
    return re.compile(rf"^{re.escape(name)} \(own, \d{{4}}-\d\d-\d\d \d\d:\d\d\)$")


@pytest.mark.parametrize(
    ("lang", "answer"), [("en", "Rent '6 custom cards, annual'"), ("zh", "建议租用“6 custom cards, annual”")]
)
@pytest.mark.parametrize("width", [390, 1920])
def test_a_first_visitor_has_the_answer(
    browser: Browser, served: Served, lang: str, answer: str, width: int
) -> None:
    visitor = Visitor.of(browser, served.url, width)
    visitor.open(lang=lang)
    page = visitor.page
    expect(page.get_by_test_id("stAlert").first).to_contain_text(answer, timeout=SLOW)
    expect(page.get_by_test_id("stMetricValue").first).to_contain_text("%", timeout=SLOW)
    expect(page.get_by_test_id("stVegaLiteChart").first).to_be_visible(timeout=SLOW)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out"
    assert visitor.boxes() == []
    visitor.leave()


def test_an_edit_stands_in_the_link_and_survives_refresh_and_page_change(
    browser: Browser, served: Served
) -> None:
    visitor = Visitor.of(browser, served.url)
    page = visitor.page
    units = page.get_by_role("spinbutton", name="Units").first
    visitor.open(question="replay", lang="en")
    expect(units).to_have_value("4", timeout=SLOW)
    visitor.fill(units, "9")
    assert visitor.query("edits")
    link = page.url
    page.reload()
    expect(units).to_have_value("9", timeout=SLOW)
    visitor.walk("Workload")
    expect(page.get_by_role("heading", name="What jobs do you have?").first).to_be_visible(timeout=SLOW)
    visitor.walk("Question")
    expect(units).to_have_value("9", timeout=SLOW)
    # What is downloaded loads again to the question with the edit.
    button = page.get_by_role("button", name="Download as YAML")
    found = load(visitor.saved(button.click, served.folder / "scenarios" / "again.yaml"))
    assert found.scenario.strategies[0].leases[0].count == 9
    assert len(found.trace) == 368
    (served.folder / "scenarios" / "again.yaml").unlink()
    visitor.leave()
    other = Visitor.of(browser, served.url)  # somebody else opens the link
    other.page.goto(link)
    units = other.page.get_by_role("spinbutton", name="Units").first
    expect(units).to_have_value("9", timeout=SLOW)
    other.page.get_by_role("button", name="Undo all changes").click()
    expect(units).to_have_value("4", timeout=SLOW)
    other.page.wait_for_function("!location.search.includes('edits=')", timeout=SLOW)
    other.leave()


def test_a_mistake_is_told_at_its_field(visitor: Visitor) -> None:
    page = visitor.page
    visitor.open(lang="en")
    units = page.get_by_role("spinbutton", name="Units").first
    expect(units).to_have_value("4", timeout=SLOW)
    visitor.fill(units, "0")
    expect(page.get_by_text("Must be at least 1.", exact=True).first).to_be_visible(timeout=SLOW)
    visitor.fill(units, "4")
    expect(page.get_by_test_id("stAlert").first).to_contain_text("Rent '6 custom cards", timeout=SLOW)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("1e9", "A strategy may rent at most 10,000 units."),
        ("1000000000000000000", "A strategy may rent at most 10,000 units."),
        ("2.7", "Must be a whole number."),
        ("-5", "Must be at least 1."),
        ("1,000", ""),
    ],
)
def test_what_is_typed_is_taken_or_refused_at_the_field(visitor: Visitor, typed: str, told: str) -> None:
    page = visitor.page
    visitor.open(lang="en")
    units = page.get_by_role("spinbutton", name="Units").first
    expect(units).to_have_value("4", timeout=SLOW)
    units.click()
    page.keyboard.press("Control+a")
    page.keyboard.type(typed)
    page.keyboard.press("Tab")
    page.wait_for_function("location.search.includes('edits=')", timeout=SLOW)
    visitor.settled()
    if told:
        expect(page.get_by_text(told, exact=True).first).to_be_visible(timeout=SLOW)
    else:
        expect(units).to_have_value("1000", timeout=SLOW)


def test_addresses_in_texts_of_users_are_no_links(visitor: Visitor) -> None:
    page = visitor.page
    visitor.open(lang="en")
    name = page.get_by_role("textbox", name="Name", exact=True)
    visitor.fill(name, "http://a.example www.b.example c@d.example", "Enter")
    visitor.walk("Timeline")  # says the name of the question and of the strategy
    links = page.get_by_test_id("stMain").locator("a[href]")
    found = [one.get_attribute("href") or "" for one in links.all()]
    assert [href for href in found if not href.startswith("#")] == []


def test_a_renamed_strategy_can_be_renamed_again(visitor: Visitor) -> None:
    # A select box sends back the label that it shows: one that showed the old name broke the page.
    page = visitor.page
    visitor.open(lang="en")
    name = page.get_by_role("textbox", name="Name", exact=True)
    box = page.get_by_role("combobox", name="Strategy", exact=True)
    for text in ("<b>four</b> *cards*", "four again"):
        expect(name.first).to_be_visible(timeout=SLOW)
        visitor.fill(name, text, "Enter")
        expect(box.first).to_have_value(text, timeout=SLOW)
        expect(page.get_by_test_id("stException")).to_have_count(0)
    visitor.leave()


def test_choices_speak_the_language_that_was_switched_to(visitor: Visitor) -> None:
    # The label of the language before would come back as a question that no machine has.
    page = visitor.page
    visitor.open(question="probe-then-scale", lang="en")
    box = page.get_by_test_id("stSelectbox").first.locator("input")
    expect(box.first).to_have_value(catalogue("en")["shipped.probe-then-scale"], timeout=SLOW)
    page.get_by_role("radio", name="中文").or_(page.get_by_role("button", name="中文")).first.click()
    expect(box.first).to_have_value(catalogue("zh")["shipped.probe-then-scale"], timeout=SLOW)
    visitor.settled()
    page.get_by_text(catalogue("zh")["question.part_target"], exact=True).click()
    expect(page.get_by_text(catalogue("zh")["question.target_how"]).first).to_be_visible(timeout=SLOW)
    assert visitor.query("question") == "probe-then-scale"
    visitor.leave()


def test_the_first_page_is_found_by_its_name(visitor: Visitor) -> None:
    visitor.open("question", lang="zh", question="replay")
    page = visitor.page
    box = page.get_by_test_id("stSelectbox").first.locator("input")
    expect(box.first).to_have_value(catalogue("zh")["shipped.replay"], timeout=SLOW)
    expect(page.get_by_text("Page not found")).to_have_count(0)
    visitor.leave()


def _attach(visitor: Visitor, place: int, file: Path) -> None:
    """Give a file to one of the upload boxes, and wait until the page has it."""
    visitor.page.locator("input[type=file]").nth(place).set_input_files(str(file))
    expect(visitor.page.get_by_text(file.name).first).to_be_visible(timeout=SLOW)
    visitor.page.wait_for_timeout(700)
    visitor.settled()


def test_uploads_of_questions_good_and_bad(visitor: Visitor, served: Served, tmp_path: Path) -> None:
    page = visitor.page
    (tmp_path / "bad.yaml").write_text(TWO_JOBS.replace("count: 1", "count: -1"))
    (tmp_path / "good.yaml").write_text(TWO_JOBS)
    (tmp_path / "two.csv").write_text(TRACE)
    visitor.open(lang="en")
    page.get_by_text("Use a file of my own").click()
    _attach(visitor, 1, tmp_path / "two.csv")
    _attach(visitor, 0, tmp_path / "bad.yaml")
    take = page.get_by_role("button", name="Check and open")
    take.click()
    told = "bad.yaml:11: strategies.0.leases.0.count: must be at least 1"
    expect(page.get_by_text(told).first).to_be_visible(timeout=SLOW)
    before = set(served.folder.glob("outputs/.questions/own-*"))
    _attach(visitor, 0, tmp_path / "good.yaml")
    take.click()
    page.wait_for_function("location.search.includes('question=own-')", timeout=SLOW)
    page.reload()
    visitor.settled()
    picked = page.get_by_role("combobox", name="Question")
    expect(picked.first).to_have_value(_own("Two jobs, one card"), timeout=SLOW)
    after = set(served.folder.glob("outputs/.questions/own-*"))
    assert [one.name for one in after - before] == [visitor.query("question")]


def test_uploads_of_records_good_and_bad(visitor: Visitor, served: Served, tmp_path: Path) -> None:
    page = visitor.page
    (tmp_path / "notes.txt").write_text("dear diary\nnothing happened\n")
    visitor.open("workload", question="replay", lang="en")
    _attach(visitor, 0, tmp_path / "notes.txt")
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_test_id("stAlert").first).to_contain_text("notes.txt:1", timeout=SLOW)
    page.get_by_text("Upload recorded jobs").click()
    _attach(visitor, 0, served.folder / "scenarios" / "traces" / "sample.csv")
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("heading", name="What the jobs look like").first).to_be_visible(timeout=2 * SLOW)
    expect(page.get_by_test_id("stMetricValue").nth(1)).to_have_text("368", timeout=SLOW)
    expect(page.get_by_text("How wide jobs are").first).to_be_visible(timeout=2 * SLOW)
    page.reload()
    page.get_by_role("button", name="Use these jobs in the question").click(timeout=SLOW)
    expect(page.get_by_role("heading", name="Which fleet, for which jobs?").first).to_be_visible(timeout=SLOW)
    page.wait_for_function("location.search.includes('question=own-')", timeout=SLOW)
    picked = page.get_by_role("combobox", name="Question")
    expect(picked.first).to_have_value(_own("Replay of sample.csv"), timeout=SLOW)
