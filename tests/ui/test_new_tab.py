"""Links of the menu in a real browser: with Ctrl or Shift they open beside the page, without in its place."""

from __future__ import annotations

import pytest

from sim.ui.language import catalogue
from tests.ui.browser import Visitor

expect = pytest.importorskip("playwright.sync_api", reason="these tests need playwright").expect
pytestmark = pytest.mark.browser


def test_a_menu_link_opens_beside_the_page_with_a_key_held(visitor: Visitor) -> None:
    texts = catalogue("zh")
    visitor.open("compare", lang="zh", question="four-to-eight")
    here = visitor.page.url
    for key, name in (("Control", "fit"), ("Shift", "fit"), ("Control", "question")):  # the first has no path
        with visitor.context.expect_page() as opened:
            visitor.menu(texts[f"menu.{name}"]).click(modifiers=[key])
        expect(opened.value.locator("h1").first).to_have_text(texts[f"{name}.title"], timeout=60_000)
        assert "question=four-to-eight" in opened.value.url
        visitor.settled()
        assert visitor.page.url == here
        expect(visitor.page.locator("h1").first).to_have_text(texts["compare.title"])
    before = len(visitor.context.pages)
    visitor.walk(texts["menu.fit"])
    expect(visitor.page.locator("h1").first).to_have_text(texts["fit.title"], timeout=60_000)
    assert len(visitor.context.pages) == before
