"""The page in a real browser, from question to decision, with no request that leaves the machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytestmark = pytest.mark.browser

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


@pytest.fixture
def chromium() -> str:
    """Path of the browser; without one the test is skipped, but never in CI."""
    if CHROMIUM is None and os.environ.get("CI") != "true":
        pytest.skip("no chromium on this machine")
    assert CHROMIUM is not None, "CI needs chromium"
    return CHROMIUM


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The page served by `fleetsim app` from a folder with the shipped scenarios."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "sim", "app", "--port", str(port)]
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(f"{url}/_stcore/health", server, tmp_path / "server.log")
            yield url
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


def test_from_a_shipped_question_to_its_decision(address: str, chromium: str) -> None:
    from playwright.sync_api import expect, sync_playwright

    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        expect(page.get_by_role("heading", name="Which GPU fleet should be rented?")).to_be_visible(
            timeout=60_000
        )
        choice = page.get_by_role("combobox").first
        choice.click()
        choice.fill("four to eight")
        page.get_by_role("option", name="four to eight").first.click()
        expect(page.get_by_role("heading", name="Four cards or eight?")).to_be_visible(timeout=30_000)
        replications = page.get_by_role("spinbutton", name="Replications")
        replications.fill("2")
        replications.press("Tab")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_role("heading", name="Decision")).to_be_visible(timeout=240_000)
        decision = page.get_by_test_id("stAlert").first
        expect(decision).to_contain_text("the target")
        expect(decision).to_contain_text("CNY committed")
        expect(page.get_by_test_id("stMetricValue").first).to_contain_text("%")
        expect(page.get_by_role("img").first).to_be_visible(timeout=30_000)
        assert page.get_by_test_id("stException").count() == 0
        # The address holds the run: a fresh look at it shows the same result.
        page.reload()
        expect(page.get_by_role("heading", name="Decision")).to_be_visible(timeout=60_000)
        browser.close()
    hosts = {urlsplit(url).hostname for url in asked if not url.startswith(("data:", "blob:"))}
    assert hosts == {"127.0.0.1"}
