"""The page in a real browser: a server from an empty folder, Debian's chromium, and a visitor who watches.

A visitor notes every request and every error of the page. Tests end with `visitor.leave()`, or use the
fixture `visitor`, which does: no request may have left this machine, and no script may have failed.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import pytest

from sim.ui.routes import PAGES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page

__all__ = [
    "CHROMIUM",
    "FLAGS",
    "SECONDS",
    "Served",
    "Visitor",
    "browser",
    "chromium",
    "crowding",
    "served",
    "visitor",
    "within",
]

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
"""The page after a script has run to its end."""

STILL = """([idle, still]) => {
  if (!window.watchedForStillness) {
    window.watchedForStillness = true;
    window.lastMoved = performance.now();
    const moved = () => { window.lastMoved = performance.now(); };
    new MutationObserver(moved).observe(document.body, {childList: true, subtree: true});
  }
  if (!document.querySelector(idle) || document.querySelector('[data-stale="true"]'))
    window.lastMoved = performance.now();
  return performance.now() - window.lastMoved >= still;
}"""
"""Whether no script has run, and nothing came or went, for some milliseconds.

A script that has ended is not yet a page that is drawn: for a moment a box that moved stands twice, at its
old place and at the new one, and a locator that means one finds two.
"""

STILL_MS = 150

BOXES = """() => {
  const canvas = document.createElement('canvas'); canvas.width = canvas.height = 40;
  const pen = canvas.getContext('2d', {willReadFrequently: true});
  const font = '24px ' + getComputedStyle(document.querySelector('[data-testid="stApp"]')).fontFamily;
  const drawn = sign => {
    pen.clearRect(0, 0, 40, 40); pen.font = font; pen.textBaseline = 'top'; pen.fillText(sign, 2, 2);
    return pen.getImageData(0, 0, 40, 40).data.join();
  };
  const box = drawn('\\u0378'), empty = drawn(' ');
  const signs = [...new Set(document.body.innerText)].filter(sign => sign.codePointAt(0) > 0xa0);
  return signs.filter(sign => [box, sign.trim() ? empty : box].includes(drawn(sign)));
}"""
"""Signs of the page that no font on the machine or of the page can draw."""


def crowding() -> float:
    """How much longer work takes here than on a machine with nobody else: wall time over time at work.

    Limits of seconds are meant for a machine of one's own; tests multiply them by this, 1 or more.
    """
    began, worked = time.perf_counter(), time.process_time()
    while time.process_time() - worked < 0.4:
        sum(range(10_000))
    return max(1.0, (time.perf_counter() - began) / (time.process_time() - worked))


SECONDS: list[tuple[str, float, float, float]] = []
"""What was measured, seconds, the limit, and the crowding then; `conftest` prints them at the end."""


def within(limit_s: float, what: str, seconds: float) -> bool:
    """Whether something took no longer than its limit, on a machine as crowded as this one; notes both."""
    crowd = crowding()
    SECONDS.append((what, seconds, limit_s, crowd))
    return seconds < limit_s * crowd


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the browser; without one the test is skipped, but never in CI."""
    if CHROMIUM is None and os.environ.get("CI") != "true":
        pytest.skip("no chromium on this machine")
    assert CHROMIUM is not None, "CI needs chromium"
    return CHROMIUM


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One chromium for the tests of a file."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield found
        found.close()


@dataclass
class Served:
    """A running page."""

    url: str
    folder: Path
    """In which it was started: scenarios/, outputs/."""
    process: subprocess.Popen[bytes]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page served by `fleetsim app` from a folder with the shipped scenarios."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(ROOT / "scenarios", folder / "scenarios")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "sim", "app", "--port", str(port)]
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(f"{url}/_stcore/health", server, folder / "server.log")
            yield Served(url, folder, server)
        finally:
            server.terminate()
            server.wait(20)


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(240):
        assert server.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.25)
    pytest.fail(f"the page did not start: {log.read_text()}")


@dataclass
class Visitor:
    """One person with a browser window of their own."""

    url: str
    context: BrowserContext
    page: Page
    asked: list[str] = field(default_factory=list)
    """Every request."""
    errors: list[str] = field(default_factory=list)
    """Errors of scripts in the page."""

    @classmethod
    def of(cls, browser: Browser, url: str, width: int = 1280, **options: Any) -> Visitor:
        """A window of this width, with nothing kept from other ones."""
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        page = context.new_page()
        found = cls(url, context, page)
        page.on("request", lambda request: found.asked.append(request.url))
        page.on("pageerror", lambda error: found.errors.append(str(error)))
        return found

    def open(self, place: str = "", timeout_s: float = 90, **query: str) -> float:
        """Go to a page by its address and wait until it is drawn; seconds."""
        began = time.perf_counter()
        path = "" if place == PAGES[0].key else place  # the first page has no name in the address
        self.page.goto(f"{self.url}/{path}?{urlencode(query)}")
        seconds = self._drawn(began, timeout_s)
        self.settled(timeout_s)
        return seconds

    def walk(self, name: str, timeout_s: float = 60) -> float:
        """Click a page in the menu and wait until it is drawn; seconds."""
        began = time.perf_counter()
        link = self.menu(name)
        link.hover()  # the page mends an address when it is pointed at
        place = link.evaluate("one => one.pathname")
        link.click()
        self.page.wait_for_url(lambda url: urlsplit(url).path == place, timeout=1000 * timeout_s)
        seconds = self._drawn(began, timeout_s)
        self.settled(timeout_s)
        return seconds

    def menu(self, name: str) -> Locator:
        """The link to a page in the menu."""
        return self.page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True)

    def back(self, timeout_s: float = 60) -> None:
        """Press Back, and wait until the page is drawn."""
        self.page.go_back()
        self.page.wait_for_timeout(300)  # until the browser has asked for the page
        self.settled(timeout_s)

    def fill(self, box: Locator, text: str, press: str = "Tab", timeout_s: float = 60) -> None:
        """Type into a box of the question; wait until the address holds the edit and the page is still."""
        before = self.page.url
        box.fill(text)
        box.press(press)
        self.page.wait_for_url(lambda url: url != before, timeout=1000 * timeout_s)
        self.settled(timeout_s)

    def settled(self, timeout_s: float = 60) -> None:
        """Wait until the page is drawn and nothing on it moves, and see that nothing went wrong."""
        self._drawn(0, timeout_s)
        self.page.wait_for_function(STILL, arg=[IDLE, STILL_MS], timeout=1000 * timeout_s)
        assert self.page.get_by_test_id("stException").count() == 0, self.page.inner_text("body")

    def _drawn(self, began: float, timeout_s: float) -> float:
        """Wait until the script of the page has run to its end; seconds since `began`, of `perf_counter`."""
        self.page.locator("h1").first.wait_for(timeout=1000 * timeout_s)
        self.page.locator(IDLE).wait_for(timeout=1000 * timeout_s)
        return time.perf_counter() - began

    def query(self, name: str) -> str | None:
        """A part of the address."""
        match = re.search(rf"[?&]{name}=([^&]*)", self.page.url)
        return match[1] if match else None

    def boxes(self) -> list[str]:
        """Signs on the page that are drawn as boxes or not at all."""
        found: list[str] = self.page.evaluate(BOXES)
        return found

    def saved(self, click: Callable[[], None], to: Path) -> Path:
        """The file that a click downloads."""
        with self.page.expect_download(timeout=120_000) as waiting:
            click()
        waiting.value.save_as(to)
        return to

    def leave(self) -> None:
        """Close the window. No request may have left this machine, and no script failed."""
        hosts = {urlsplit(url).hostname for url in self.asked if not url.startswith(("data:", "blob:"))}
        assert hosts <= {"127.0.0.1"}, [url for url in self.asked if "127.0.0.1" not in url[:20]]
        assert self.errors == []
        self.context.close()


@pytest.fixture
def visitor(browser: Browser, served: Served) -> Iterator[Visitor]:
    """A window of 1280 px."""
    found = Visitor.of(browser, served.url)
    yield found
    found.leave()
