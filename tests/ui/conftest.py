"""Fixtures of the browser tests, and the seconds that they measured."""

import pytest

from tests.ui.browser import SECONDS, browser, chromium, served, visitor

__all__ = ["browser", "chromium", "served", "visitor"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how long what has a limit took, and how crowded the machine was (1: nobody else)."""
    if SECONDS:
        terminalreporter.section("seconds in the browser")
    for what, seconds, limit, crowd in SECONDS:
        terminalreporter.write_line(f"{seconds:6.2f} s of {limit:4.1f} s  crowding {crowd:4.2f}  {what}")
