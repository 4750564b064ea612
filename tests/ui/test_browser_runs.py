"""Long work in a real browser: to the end, stopped, refreshed in mid run, two people at once, files."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import openpyxl
import pytest

from tests.ui.browser import Served, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

expect = pytest.importorskip("playwright.sync_api", reason="these tests need playwright").expect
pytestmark = pytest.mark.browser

LONG = 2000
"""Replications of a run that nobody waits for."""


def _ask(visitor: Visitor, replications: int, seed: int) -> None:
    """Fill in the settings and press Run."""
    for label, value in (("Replications", replications), ("Seed", seed)):
        box = visitor.page.get_by_role("spinbutton", name=label, exact=True)
        box.fill(str(value))
        box.press("Tab")
    visitor.page.get_by_role("button", name="Run", exact=True).click()


def test_from_a_question_to_its_decision_and_its_files(visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.page
    visitor.open("compare", question="four-to-eight")
    # The worked example is there before anything is run.
    expect(page.get_by_role("heading", name="Decision").first).to_be_visible(timeout=30_000)
    _ask(visitor, 2, 11)
    expect(page.get_by_text(re.compile("2 replications a strategy, seed 11")).first).to_be_visible(
        timeout=240_000
    )
    visitor.settled()
    told = page.get_by_test_id("stAlert").first
    expect(told).to_contain_text("Rent")
    expect(told).to_contain_text("CNY")
    run = visitor.query("run")
    assert run is not None
    assert visitor.query("job") is None
    # The address holds the run: a fresh look at it shows the same result.
    sentence = told.inner_text()
    page.reload()
    visitor.settled()
    expect(page.get_by_text(re.compile("2 replications a strategy, seed 11")).first).to_be_visible(
        timeout=60_000
    )
    assert page.get_by_test_id("stAlert").first.inner_text() == sentence
    files = {
        name: visitor.saved(page.get_by_role("button", name=re.compile(name)).first.click, tmp_path / name)
        for name in ("Report", "Workbook", "Comparison", "Whole folder")
    }
    html = files["Report"].read_text(encoding="utf-8")
    assert html[:15].lower() == "<!doctype html>"
    assert "6 custom cards, annual" in html
    book = openpyxl.load_workbook(io.BytesIO(files["Workbook"].read_bytes()), read_only=True)
    assert len(book.sheetnames) > 3
    assert (
        files["Comparison"].read_text(encoding="utf-8").startswith("strategy,metric,mean,low,high,n,unit\n")
    )
    assert files["Whole folder"].read_bytes()[:2] == b"PK"
    # Somebody with another question in hand opens the run, and has its question in hand.
    visitor.open("runs", question="replay", run=unquote(run))
    page.get_by_test_id("stBaseButton-primary").first.click()
    page.wait_for_function("location.pathname.endsWith('/compare')", timeout=60_000)
    visitor.settled()
    assert visitor.query("question") == "four-to-eight"
    assert visitor.query("edits") is None
    assert visitor.query("run") == run
    assert page.get_by_text("The question in hand is another one now").count() == 0


def test_a_refresh_in_mid_run_loses_nothing_and_stop_ends_it(visitor: Visitor, served: Served) -> None:
    page = visitor.page
    visitor.open("compare", question="four-to-eight")
    _ask(visitor, LONG, 12)
    progress = page.get_by_test_id("stProgress")
    expect(progress.get_by_text(re.compile(r"\d+ of 12,000 runs")).first).to_be_visible(timeout=60_000)
    job = visitor.query("job")
    assert job
    page.reload()
    expect(progress.get_by_text(re.compile(r"\d+ of 12,000 runs")).first).to_be_visible(timeout=60_000)
    assert visitor.query("job") == job
    # The intervals are shown while they narrow.
    expect(page.get_by_text(re.compile("narrow as more are done")).first).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text(re.compile("stopped. What was finished before is kept")).first).to_be_visible(
        timeout=60_000
    )
    visitor.settled()
    # Nothing half-written is left, and what was finished is kept for the next run.
    left = [one.name for one in (served.folder / "outputs").rglob(".*-*") if one.is_dir()]
    assert left == []
    assert any((served.folder / "outputs" / ".replications").rglob("*.json"))


def test_two_people_and_a_queue(browser: Browser, served: Served) -> None:
    people = [Visitor.of(browser, served.url) for _ in range(3)]
    for number, one in enumerate(people):
        one.open("compare", question="four-to-eight")
        _ask(one, LONG, 20 + number)
    first, second, third = (one.page.get_by_test_id("stProgress") for one in people)
    for progress in (first, second):
        expect(progress.get_by_text(re.compile(r"\d+ of 12,000 runs")).first).to_be_visible(timeout=90_000)
    expect(third.get_by_text(re.compile("waiting for its turn")).first).to_be_visible(timeout=30_000)
    # Somebody else's link shows the same command, and the page stays quick while two of them run.
    guest = Visitor.of(browser, served.url)
    job = people[0].query("job")
    assert job is not None
    guest.open("compare", job=job)
    expect(guest.page.get_by_test_id("stProgress").first).to_be_visible(timeout=30_000)
    guest.page.get_by_role("button", name="Stop", exact=True).click()
    expect(third.get_by_text(re.compile(r"\d+ of 12,000 runs")).first).to_be_visible(timeout=90_000)
    for one in people[1:]:
        one.page.get_by_role("button", name="Stop", exact=True).click()
        expect(one.page.get_by_text(re.compile("What was finished before is kept")).first).to_be_visible(
            timeout=60_000
        )
    for one in (*people, guest):
        one.leave()
