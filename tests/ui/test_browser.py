"""The whole page in a real browser: every page in both languages, the switch between them, and Back."""

from __future__ import annotations

import pytest

from sim.ui.language import LANGUAGES, catalogue
from sim.ui.routes import PAGES
from tests.ui.browser import Visitor

expect = pytest.importorskip("playwright.sync_api", reason="these tests need playwright").expect
pytestmark = pytest.mark.browser


@pytest.mark.parametrize("code", list(LANGUAGES))
def test_every_page_opens_without_a_fault_or_a_box(visitor: Visitor, code: str) -> None:
    for page in PAGES:
        visitor.open(page.key, lang=code)
        visitor.page.wait_for_timeout(300)
        assert visitor.boxes() == [], page.key
        assert visitor.page.locator("html").evaluate("one => one.scrollWidth <= window.innerWidth"), page.key
        assert visitor.query("lang") == code
        for other in PAGES:
            assert visitor.menu(catalogue(code)[f"menu.{other.key}"]).count() == 1


def test_back_undoes_an_edit_and_walks_back(visitor: Visitor) -> None:
    page = visitor.page
    visitor.open("question", lang="zh", question="four-to-eight")
    units = page.get_by_role("spinbutton", name=catalogue("zh")["fields.count"], exact=True).first
    for number in ("9", "7"):
        visitor.fill(units, number)
    visitor.walk(catalogue("zh")["menu.compare"])
    edits = visitor.query("edits")
    assert edits
    visitor.walk(catalogue("zh")["menu.finance"])
    assert visitor.query("edits") == edits
    visitor.back()
    expect(page.locator("h1").first).to_have_text(catalogue("zh")["compare.title"], timeout=60_000)
    assert visitor.query("edits") == edits
    for number in ("7", "9", "4"):
        visitor.back()
        expect(page.locator("h1").first).to_have_text(catalogue("zh")["question.title"], timeout=60_000)
        expect(units).to_have_value(number, timeout=60_000)
    assert not visitor.query("edits")
    page.go_forward()
    expect(units).to_have_value("9", timeout=60_000)
    visitor.settled()


def test_choices_hold_over_the_switch_of_the_language_and_a_walk(visitor: Visitor) -> None:
    page = visitor.page
    texts = {code: catalogue(code) for code in LANGUAGES}
    visitor.open("compare", lang="en", question="four-to-eight")
    seed = page.get_by_role("spinbutton", name=texts["en"]["compare.seed"], exact=True)
    seed.fill("77")
    seed.press("Tab")
    visitor.settled()
    for label, option in (
        (texts["en"]["compare.price"], texts["en"]["compare.price_high"]),
        (texts["en"]["compare.baseline"], "6 custom cards, annual"),
    ):
        page.get_by_role("combobox", name=label, exact=True).click()
        page.get_by_role("option", name=option, exact=True).click()
        visitor.settled()
    page.get_by_role("radio", name="中文").or_(page.get_by_role("button", name="中文")).first.click()
    expect(page.locator("h1").first).to_have_text(texts["zh"]["compare.title"], timeout=60_000)
    visitor.settled()
    for _ in range(2):
        for label, value in (
            ("price", texts["zh"]["compare.price_high"]),
            ("baseline", "6 custom cards, annual"),
        ):
            box = page.get_by_role("combobox", name=texts["zh"][f"compare.{label}"], exact=True)
            expect(box.first).to_have_value(value, timeout=60_000)
        box = page.get_by_role("spinbutton", name=texts["zh"]["compare.seed"], exact=True)
        expect(box.first).to_have_value("77", timeout=60_000)
        visitor.walk(texts["zh"]["menu.runs"])
        visitor.walk(texts["zh"]["menu.compare"])


def test_the_switch_of_the_language_keeps_the_place(visitor: Visitor) -> None:
    visitor.open("compare", lang="en")
    title = visitor.page.locator("h1").first
    assert title.inner_text() == catalogue("en")["compare.title"]
    visitor.page.get_by_role("radio", name="中文").or_(
        visitor.page.get_by_role("button", name="中文")
    ).first.click()
    title.filter(has_text=catalogue("zh")["compare.title"]).wait_for(timeout=20_000)
    visitor.settled()
    assert visitor.query("lang") == "zh"
    assert visitor.boxes() == []
