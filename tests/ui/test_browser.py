"""The whole page in a real browser: every page in both languages, and how fast one walks between them."""

from __future__ import annotations

import pytest

from sim.ui.language import LANGUAGES, catalogue
from sim.ui.routes import PAGES
from tests.ui.browser import Visitor, crowding

pytestmark = pytest.mark.browser

SWITCH_S = 2.0
"""Longest time from a click in the menu to the page, seconds."""


@pytest.mark.parametrize("code", list(LANGUAGES))
def test_every_page_opens_without_a_fault_or_a_box(visitor: Visitor, code: str) -> None:
    for page in PAGES:
        visitor.open(page.key, lang=code)
        visitor.page.wait_for_timeout(300)
        assert visitor.boxes() == [], page.key
        assert visitor.page.locator("html").evaluate("one => one.scrollWidth <= window.innerWidth"), page.key
        assert visitor.query("lang") == code
        menu = visitor.page.get_by_test_id("stSidebarNav")
        for other in PAGES:
            name = catalogue(code)[f"menu.{other.key}"]
            assert menu.get_by_role("link", name=name, exact=True).count() == 1


def test_walking_between_pages_is_quick_and_keeps_the_address(visitor: Visitor) -> None:
    texts = catalogue("zh")
    visitor.open("question", lang="zh", question="four-to-eight")
    names = [texts[f"menu.{page.key}"] for page in PAGES]
    slowest: dict[str, float] = dict.fromkeys(names, 99.0)
    for _ in range(2):  # the first round loads what each page needs
        for name in [*names[1:], names[0]]:
            slowest[name] = min(slowest[name], visitor.walk(name))
            assert visitor.query("lang") == "zh"
            assert visitor.query("question") == "four-to-eight"
    assert max(slowest.values()) < SWITCH_S * crowding(), slowest


def test_the_switch_of_the_language_keeps_the_place(visitor: Visitor) -> None:
    visitor.open("compare", lang="en")
    title = visitor.page.locator("h1")
    assert title.inner_text() == catalogue("en")["compare.title"]
    visitor.page.get_by_role("radio", name="中文").or_(
        visitor.page.get_by_role("button", name="中文")
    ).first.click()
    title.filter(has_text=catalogue("zh")["compare.title"]).wait_for(timeout=20_000)
    visitor.settled()
    assert visitor.query("lang") == "zh"
    assert visitor.boxes() == []
