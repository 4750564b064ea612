"""How long people wait in a real browser: the limits that were promised, measured.

    .venv/bin/pytest -q -m browser tests/ui/test_browser_seconds.py

prints the seconds at its end. Limits are meant for a machine with nobody else on it.
"""

from __future__ import annotations

import re
import time

import pytest

from sim.ui.language import catalogue
from sim.ui.routes import PAGES
from tests.ui.browser import Served, Visitor, within

expect = pytest.importorskip("playwright.sync_api", reason="these tests need playwright").expect
pytestmark = pytest.mark.browser

FIRST_PROGRESS_S = 5.0
SWITCH_S = 2.0
TIMELINE_S = 3.0


def test_walking_between_pages_is_quick_and_keeps_the_address(visitor: Visitor) -> None:
    texts = catalogue("zh")
    visitor.open("question", lang="zh", question="four-to-eight")
    names = {texts[f"menu.{page.key}"]: page.key for page in PAGES}
    quickest: dict[str, float] = dict.fromkeys(names, 99.0)
    for turn in range(2):  # the first round loads what each page needs
        for name in [*list(names)[1:], next(iter(names))]:
            seconds = visitor.walk(name)
            within(SWITCH_S, f"walk to {names[name]}, turn {turn + 1}", seconds)
            quickest[name] = min(quickest[name], seconds)
            assert visitor.query("lang") == "zh"
            assert visitor.query("question") == "four-to-eight"
    slowest = max(quickest, key=quickest.__getitem__)
    assert within(SWITCH_S, f"slowest walk, to {names[slowest]}", quickest[slowest])


def test_the_first_progress_comes_soon(visitor: Visitor) -> None:
    page = visitor.page
    visitor.open("compare", question="four-to-eight", lang="en")
    seed = page.get_by_role("spinbutton", name="Seed", exact=True)
    seed.fill("77")
    seed.press("Tab")
    visitor.settled()
    page.get_by_role("button", name="Run", exact=True).click()
    clicked = time.perf_counter()
    progress = page.get_by_test_id("stProgress").get_by_text(re.compile(r"\d+ of \d+ runs"))
    expect(progress.first).to_be_visible(timeout=60_000)
    first = time.perf_counter() - clicked
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text(re.compile("What was finished before is kept")).first).to_be_visible(
        timeout=60_000
    )
    assert within(FIRST_PROGRESS_S, "from Run to the first progress", first)


def test_ten_thousand_jobs_are_drawn_in_time(visitor: Visitor, served: Served) -> None:
    page = visitor.page
    text = (served.folder / "scenarios" / "four-to-eight.yaml").read_text(encoding="utf-8")
    longer = text.replace("horizon: 365d", "horizon: 480d")
    assert longer != text
    (served.folder / "scenarios" / "longer.yaml").write_text(longer, encoding="utf-8")
    visitor.open("timeline", question="longer", lang="en")
    canvas = page.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first
    expect(canvas.first).to_be_visible(timeout=180_000)
    visitor.settled()
    # Walks before have left traces of other questions.
    traces = (served.folder / "outputs" / ".timelines").glob("*.parquet")
    trace = max(traces, key=lambda one: one.stat().st_mtime_ns)
    import pyarrow.parquet as pq

    jobs = pq.read_table(trace, columns=["job"])["job"].to_pandas().nunique()
    assert jobs > 10_000
    began = time.perf_counter()
    page.get_by_role("radio", name="whole run").or_(
        page.get_by_role("button", name="whole run")
    ).first.click()
    expect(page.get_by_text(re.compile("shows the shares of its time")).first).to_be_visible(timeout=30_000)
    visitor.settled()
    expect(canvas.first).to_be_visible(timeout=30_000)
    assert within(TIMELINE_S, f"timeline of {jobs:,} jobs, all of it", time.perf_counter() - began)
    # A fresh look, from the trace on disk.
    fresh = visitor.open("timeline", question="longer")
    expect(canvas.first).to_be_visible(timeout=30_000)
    assert within(TIMELINE_S, f"timeline of {jobs:,} jobs, opened anew", fresh)
