"""Fixtures of the browser tests and the seconds that they measured; the page's language set to Chinese."""

import pytest

from sim.ui import language, ledger_words, names, told, told_lines, told_rules, working_words
from tests.ui.browser import SECONDS, browser, chromium, served, visitor

__all__ = ["browser", "chromium", "served", "visitor"]


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences and names are told in Chinese, without a page."""
    for module in (language, ledger_words, names, told, told_lines, told_rules, working_words):
        monkeypatch.setattr(module, "language", lambda: "zh")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how long what has a limit took, and how crowded the machine was (1: nobody else)."""
    if SECONDS:
        terminalreporter.section("seconds in the browser")
    for what, seconds, limit, crowd in SECONDS:
        terminalreporter.write_line(f"{seconds:6.2f} s of {limit:4.1f} s  crowding {crowd:4.2f}  {what}")
