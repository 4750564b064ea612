"""The page of a run in a real browser without a network: no message, no request, no sideways scrolling."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sim.cli import main
from tests.test_report_page import HOSTILE, SCENARIO
from tests.ui.browser import FLAGS

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page made by the command line, with names that would break a careless one."""
    home = tmp_path_factory.mktemp("report")
    long = "a name without a single space " + "x" * 90
    names = [json.dumps(name) for name in (*HOSTILE[:2], long)]
    (home / "scenario.yaml").write_text(SCENARIO % tuple(names))
    out = home / "outputs"
    for command in (
        ["compare", home / "scenario.yaml", "--replications", "2", "--out", out],
        ["report", "latest", "--out", out, "-o", home / "page.html"],
    ):
        with pytest.raises(SystemExit) as ending:
            main([str(word) for word in command])
        assert not ending.value.code
    shutil.rmtree(out)  # the page needs nothing but itself
    return home / "page.html"


@pytest.mark.parametrize("width", [1280, 390])
def test_it_opens_offline_and_fits_the_screen(
    report: Path, chromium: str, width: int, tmp_path: Path
) -> None:
    from playwright.sync_api import expect, sync_playwright

    told: list[str] = []
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
        page = context.new_page()
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("dialog", lambda dialog: (told.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(report.as_uri())
        expect(page.get_by_role("heading", level=1)).to_have_text('Which <b>fleet</b> & why? "now"')
        expect(page.get_by_role("heading", name="Assumptions")).to_be_visible()
        assert page.locator("img").count() == 4
        drawn = page.evaluate("[...document.images].every(one => one.complete && one.naturalWidth > 100)")
        assert drawn
        # The style is allowed by its digest: without it the decision would have no border.
        assert page.locator(".decision").evaluate("one => getComputedStyle(one).borderLeftStyle") == "solid"
        wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide[0] <= wide[1]
        page.evaluate("window.scrollTo(500, 0)")
        assert page.evaluate("window.scrollX") == 0
        page.get_by_text("scenario.yaml", exact=True).first.click()
        expect(page.get_by_text("Which <b>fleet</b>").last).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_role("link", name="Money by month").click()
        expect(page.get_by_role("heading", name="Money by month")).to_be_in_viewport()
        page.screenshot(path=tmp_path / f"page-{width}.png", full_page=True)
        browser.close()
    assert told == []
    assert [url.partition("#")[0] for url in asked if not url.startswith("data:")] == [report.as_uri()]


def test_it_fits_on_paper(report: Path, chromium: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        # A4 without its margins, at 96 dots an inch.
        page = browser.new_context(viewport={"width": 718, "height": 1000}, offline=True).new_page()
        page.emulate_media(media="print")
        page.goto(report.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 718
        # No column is squeezed so that words stand letter below letter.
        narrow = page.evaluate(
            "Math.min(...[...document.querySelectorAll('td')].map(one => one.clientWidth))"
        )
        assert narrow >= 24
        assert page.locator("nav").is_hidden()
        browser.close()
